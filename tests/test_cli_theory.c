/* The command line on what the theory says of a scene: check, run --all-solutions, converge. */
#include "cli_runner.h"

#include <math.h>

#define SCENE(name) SOURCE_DIR "/scenes/" name ".yaml"

static const json_t *at(const json_t *object, const char *a, const char *b) {
  return json_object_get(json_object_get(object, a), b);
}

/* ---- check ---- */

static void check_finds_the_wedge(void **state) {
  (void)state;
  json_t *root = expect_json("check " SCENE("wedge") " --json", 0, NULL);
  const json_t *cone = json_object_get(root, "friction_cone");
  assert_true(json_is_false(at(cone, "reduced", "pointed")));
  assert_true(json_is_null(at(cone, "reduced", "constant")));
  const json_t *forces = json_object_get(cone, "self_balancing");
  assert_int_equal(json_array_size(forces), 2);
  double sum[3] = {0};
  for (size_t i = 0; i < 2; i++)
    for (size_t k = 0; k < 3; k++)
      sum[k] += json_number_value(json_array_get(json_object_get(json_array_get(forces, i), "force"), k));
  assert_true(fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) < 1e-6);
  json_decref(root);
  root = expect_json("check " SCENE("wedge") " --set lean=0.5 --json", 0, NULL);
  cone = json_object_get(root, "friction_cone");
  assert_true(json_is_true(at(cone, "total", "pointed")));
  assert_true(number(json_object_get(cone, "reduced"), "constant") > 1);
  assert_int_equal(json_array_size(json_object_get(cone, "self_balancing")), 0);
  assert_true(json_is_true(at(root, "system_matrix", "positive_definite")));
  json_decref(root);
  char *out = expect("check " SCENE("wedge"), 0, NULL);
  assert_non_null(strstr(out, "NOT POINTED"));
  assert_non_null(strstr(out, "forces that balance each other"));
  free(out);
}

static void check_finds_the_paradox(void **state) {
  (void)state;
  json_t *root = expect_json("check " SCENE("painleve-rod") " --json", 0, NULL);
  const json_t *contact = json_array_get(json_object_get(root, "painleve"), 0);
  assert_true(json_is_true(json_object_get(contact, "paradox")));
  assert_true(fabs(number(contact, "critical_friction") - 4. / 3) < 1e-9);
  json_decref(root);
  char *out = expect("check " SCENE("painleve-rod") " --set mu=1.3", 0, NULL);
  assert_non_null(strstr(out, "Painleve's paradox      no contact"));
  free(out);
}

/* A ball alone on a plane has normal and tangent impulses at right angles: constant 1. A hundred of them share no body: the
 * section's nearest point has a hundredth of each, distance 1/10. Patches count as the points that they touch at. */
static void check_adds_up_parts(void **state) {
  (void)state;
  json_t *root = expect_json("check " SCENE("hertz") " --json", 0, NULL);
  assert_true(fabs(json_number_value(at(json_object_get(root, "friction_cone"), "reduced", "constant")) - 1) < 1e-9);
  json_decref(root);
  root = expect_json("check " SCENE("hundred-patches") " --json", 0, NULL);
  const json_t *cone = json_object_get(root, "friction_cone");
  assert_true(fabs(json_number_value(at(cone, "reduced", "constant")) - 10) < 1e-8);
  assert_true(number(cone, "unexamined_contacts") == 0);
  json_decref(root);
}

/* A row of balls that touch each other and the plane is one part, too large to be examined: check says so. */
static void check_leaves_out_large_parts(void **state) {
  (void)state;
  enum { BALLS = 140 };
  FILE *file = fopen("row.yaml", "w");
  assert_non_null(file);
  (void)fprintf(file, "name: row\ngravity: [0, 0, -9.81]\nmaterials: [{name: default, friction: 0.5}]\n"
                      "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
                      "simulation: {step: 0.01, duration: 0.01}\nbodies:\n");
  for (int i = 0; i < BALLS; i++)
    (void)fprintf(file, "  - {name: b%d, mass: 1, position: [%d, 0, 1], shapes: [{type: sphere, radius: 1}]}\n", i,
                  2 * i);
  assert_int_equal(fclose(file), 0);
  json_t *root = expect_json("check row.yaml --json", 0, NULL);
  const json_t *cone = json_object_get(root, "friction_cone");
  assert_true(number(cone, "unexamined_contacts") == 2 * BALLS - 1);
  assert_true(json_is_null(at(cone, "reduced", "pointed")));
  json_decref(root);
}

/* ---- run --all-solutions ---- */

static void run_lists_three_solutions(void **state) {
  (void)state;
  json_t *root = expect_json("run " SCENE("painleve-three") " --all-solutions --json", 0, NULL);
  const json_t *solutions = json_object_get(root, "solutions"), *branches = json_object_get(solutions, "branches");
  assert_true(number(solutions, "most") == 3);
  assert_true(number(solutions, "first") == 0);
  assert_true(number(solutions, "not_enumerated") == 0);
  assert_int_equal(json_array_size(branches), 3);
  int applied = 0, kinds = 0;
  for (size_t i = 0; i < 3; i++) {
    const json_t *branch = json_array_get(branches, i);
    const json_t *contact = json_array_get(json_object_get(branch, "contacts"), 0);
    const char *kind = json_string_value(json_object_get(contact, "kind"));
    applied += json_is_true(json_object_get(branch, "applied"));
    kinds |= strcmp(kind, "open") == 0 ? 1 : strcmp(kind, "sticks") == 0 ? 2 : strcmp(kind, "slides") == 0 ? 4 : 8;
  }
  assert_int_equal(applied, 1);
  assert_int_equal(kinds, 7);
  json_decref(root);
  char *out = expect("run " SCENE("painleve-rod") " --all-solutions", 0, NULL);
  assert_non_null(strstr(out, "0 of them with several motions"));
  free(out);
  out = expect("run " SCENE("skate") " --all-solutions --duration 0.1", 0, NULL); /* a disc cannot be enumerated */
  assert_non_null(strstr(out, "0 problems enumerated"));
  assert_non_null(strstr(out, "could not be"));
  free(out);
}

/* ---- converge ---- */

/* MDI section 9.1: the velocities' variation is 2 eps T/h, that of the weighted velocities stays eps. */
static void converge_tells_bounded_variation(void **state) {
  (void)state;
  json_t *root = expect_json("converge " SCENE("single-joint") " --steps 2^-4:2^-7 --json", 0, NULL);
  const json_t *rows = json_object_get(root, "rows");
  for (size_t i = 0; i < 4; i++) {
    const json_t *row = json_array_get(rows, i);
    const double eps = ldexp(1, -10);
    assert_true(fabs(number(row, "velocity_variation") * number(row, "h") - 2 * eps) < 1e-15);
    assert_true(fabs(number(row, "weighted_variation") - eps) < 1e-15);
    assert_true(number(row, "kinetic_growth") == 0);
  }
  json_decref(root);
  char *out = expect("converge " SCENE("single-joint") " --steps 2^-4:2^-7", 0, NULL);
  assert_non_null(strstr(out, "velocity grows like h^-1.00, of the weighted velocity bounded"));
  free(out);
}

/* Jumps that come within a step of their time: graphs converge with first order, whatever the scheme. */
static void converge_measures_graphs(void **state) {
  (void)state;
  json_t *root = expect_json(
      "converge " SCENE("bounce-and-roll") " --steps 2^-5:2^-8 --schemes trapezoidal,moreau,stewart-trinkle --json", 0,
      NULL);
  const json_t *schemes = json_object_get(root, "schemes");
  for (size_t k = 0; k < 3; k++) {
    const json_t *rows = json_object_get(json_array_get(schemes, k), "rows");
    const double coarse = number(json_array_get(rows, 0), "graph_distance");
    const double fine = number(json_array_get(rows, 3), "graph_distance");
    assert_true(coarse < 1 && fine < coarse / 4 && fine > coarse / 32);
    for (size_t i = 0; i < 4; i++) assert_true(number(json_array_get(rows, i), "constraint_work") < 1e-12);
  }
  json_decref(root);
}

static int enter_directory(void **state) {
  (void)state;
  return enter_empty_directory();
}

/* Velocities that no joint allows are said by `run` too, once. */
/* Neighbours whose shapes meet at their joint. */
static void joined_bodies_that_touch_are_noted(void **state) {
  (void)state;
  for (int exempt = 0; exempt < 2; exempt++) {
    char text[800];
    (void)snprintf(text, sizeof text,
                   "gravity: [0, 0, 0]\n%s"
                   "bodies:\n"
                   "  - {name: upper, density: 1, position: [0, 0, 1], shapes: [{type: box, size: [1, 1, 1]}]}\n"
                   "  - {name: lower, density: 1, position: [0, 0, 0], shapes: [{type: box, size: [1, 1, 1]}]}\n"
                   "joints: [{type: revolute, between: [upper, lower], at: [0, 0, 0.5], axis: z}]\n"
                   "simulation: {scheme: moreau, step: 0.01, duration: 0.05}\n",
                   exempt ? "contacts: [{between: [upper, lower], collide: false}]\n" : "");
    write_text("hinge.yaml", text);
    const char *note = exempt ? NULL : "contacts: [{between: [upper, lower], collide: false}]";
    free(expect("check hinge.yaml", 0, note));
    free(expect("run hinge.yaml", 0, note));
  }
}

static void run_notes_start_velocities(void **state) {
  (void)state;
  for (int torn = 0; torn < 2; torn++) {
    char text[500];
    (void)snprintf(text, sizeof text,
                   "bodies: [{name: bob, mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], velocity: [%s, 0, -1],"
                   " angular_velocity: [0, 1, 0]}]\n"
                   "joints: [{type: revolute, between: [bob, world], at: [0, 0, 0], axis: y}]\n"
                   "simulation: {scheme: moreau, step: 0.01, duration: 0.1}\n",
                   torn ? "0.5" : "0");
    write_text("torn.yaml", text);
    json_t *root =
        expect_json("run torn.yaml --json", 0, torn ? "NOTE: the start velocities violate the joints by 0.5 " : NULL);
    assert_true(fabs(number(root, "start_velocity_residual") - (torn ? 0.5 : 0)) < 1e-12);
    json_decref(root);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(run_notes_start_velocities), cmocka_unit_test(joined_bodies_that_touch_are_noted),
      cmocka_unit_test(check_finds_the_wedge),      cmocka_unit_test(check_finds_the_paradox),
      cmocka_unit_test(check_adds_up_parts),        cmocka_unit_test(check_leaves_out_large_parts),
      cmocka_unit_test(run_lists_three_solutions),  cmocka_unit_test(converge_tells_bounded_variation),
      cmocka_unit_test(converge_measures_graphs),
  };
  return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}
