/* What a run is worth: CERTIFIED, DOUBTFUL with its reasons, exit codes, limits of time. */
#include "cli_runner.h"

#include <math.h>

/* The number of a doubt in `run --json`, 0: it is not there. */
static double doubt(const json_t *root, const char *code) {
  const json_t *list = json_object_get(json_object_get(root, "certificate"), "doubts");
  assert_true(json_is_array(list));
  size_t i;
  const json_t *entry;
  json_array_foreach(list, i, entry) {
    if (strcmp(json_string_value(json_object_get(entry, "code")), code) == 0) return number(entry, "number");
  }
  return 0;
}

static bool is_sound(const json_t *root) {
  return json_is_true(json_object_get(json_object_get(root, "certificate"), "sound"));
}

static bool is_certified(const json_t *root) {
  return json_is_true(json_object_get(json_object_get(root, "certificate"), "certified"));
}

/* A damper far beyond the explicit limit: the velocity grows by the factor 99 in each step. */
static const char blowup[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {d: 1e4}\n"
    "bodies: [{name: a, mass: 1, freedom: [x], position: [0, 0, 0], velocity: [1, 0, 0]}]\n"
    "forces: [{type: damper, between: [world, a], anchors: [[-1, 0, 0], [0, 0, 0]], damping: d}]\n"
    "simulation: {scheme: stewart-trinkle, step: 0.01, duration: 0.3}\n";

static void test_energy(void **state) {
  (void)state;
  write_text("blowup.yaml", blowup);
  char *out = expect("run blowup.yaml -o blowup.h5", 0, NULL);
  assert_non_null(strstr(out, "DOUBTFUL"));
  assert_null(strstr(out, "CERTIFIED"));
  assert_non_null(strstr(out, "energy"));
  assert_non_null(strstr(out, "smaller step"));
  free(out);
  json_t *root = expect_json("run blowup.yaml --json --strict", 1, NULL);
  assert_true(is_certified(root) && !is_sound(root));
  assert_true(doubt(root, "energy") > 1e100);
  assert_true(doubt(root, "not-finite") == 0);
  json_decref(root);
  root = expect_json("run blowup.yaml --json --strict --scheme anitescu-potra-stiff", 0, NULL);
  assert_true(is_certified(root) && is_sound(root));
  assert_int_equal(json_array_size(json_object_get(json_object_get(root, "certificate"), "doubts")), 0);
  json_decref(root);
  free(expect("view blowup.h5 -o blowup.html", 0, NULL)); /* what the file says of it arrives on the page */
  char *page = read_text("blowup.html");
  assert_non_null(strstr(page, "\"sound\":false"));
  assert_non_null(strstr(page, "\"code\":\"energy\""));
  free(page);
}

/* A stronger damper: energies overflow, positions do not yet. What is recorded ends before. */
static void test_not_finite(void **state) {
  (void)state;
  json_t *root = expect_json("run blowup.yaml --json --set d=1e9 --csv blowup.csv", 1, "not finite");
  assert_true(!is_certified(root) && !is_sound(root));
  const double t = number(json_object_get(root, "final"), "t");
  assert_true(fabs(doubt(root, "not-finite") - t - 0.01) < 1e-12);
  assert_true(number(json_object_get(root, "energy"), "final") < 1e308);
  json_decref(root);
  char *csv = read_text("blowup.csv");
  assert_null(strstr(csv, "nan"));
  assert_null(strstr(csv, "inf"));
  free(csv);
}

/* A pendulum of two links that nothing holds onto its joints. */
/* Who says that it was the force, and when. */
static void test_force_not_finite(void **state) {
  (void)state;
  write_text("pushed.yaml", "bodies: [{name: a, mass: 1, freedom: [x], position: [0, 0, 0]}]\n"
                            "forces: [{type: applied, on: a, force: ['sqrt(0.505 - t)', 0, 0]}]\n"
                            "simulation: {step: 0.01, duration: 1}\n");
  free(expect("run pushed.yaml", 1, "the force on 'a' is not finite shortly after t = 0.50"));
}

/* Numbers with which nothing can be computed are refused where they stand. */
static void test_too_large_and_too_small(void **state) {
  (void)state;
  static const char *const bodies[][2] = {
      {"mass: 1e151, freedom: [x]", "its mass 1e+151 or its inertia is too large"},
      {"mass: 1e-308, freedom: [x]", "its mass 1e-308 or its inertia is too small"},
      {"mass: 1, inertia: [1, 1, 1], velocity: [0, 1e200, 0]", "velocity"},
      {"mass: 1, inertia: [1, 1, 1], angular_velocity: [0, -1e200, 0]", "velocity"}};
  for (int i = 0; i < 4; i++) {
    char text[256];
    (void)snprintf(text, sizeof text, "bodies: [{name: a, %s}]\nsimulation: {step: 0.1, duration: 1}\n", bodies[i][0]);
    write_text("numbers.yaml", text);
    free(expect("run numbers.yaml", 2, "numbers.yaml:1:10: body 'a': its"));
    free(expect("run numbers.yaml", 2, bodies[i][1]));
  }
}

/* A body moves on by less than the last digits of where it is. */
static void test_rounding(void **state) {
  (void)state;
  write_text("far.yaml", "parameters: {where: 0}\n"
                         "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
                         "bodies: [{name: a, mass: 1, position: [where, 0, 0.1], velocity: [1, 0, 0],\n"
                         "          shapes: [{type: sphere, radius: 0.1}]}]\n"
                         "simulation: {step: 0.01, duration: 1}\n");
  for (int k = 0; k < 6; k++) {
    static const char *const where[] = {"0", "1e6", "-1e9", "1e12", "-1e14", "1e17"};
    char command[128];
    (void)snprintf(command, sizeof command, "run far.yaml --json --set where=%s", where[k]);
    json_t *root = expect_json(command, 0, NULL);
    const json_t *body = json_object_get(json_object_get(json_object_get(root, "final"), "bodies"), "a");
    const double x = json_number_value(json_array_get(json_object_get(body, "position"), 0));
    const double missed = fabs(x - strtod(where[k], NULL) - 1);
    assert_true(is_sound(root) == (k < 3));
    assert_true(k < 3 ? missed < 1e-5 : missed <= doubt(root, "rounding"));
    json_decref(root);
  }
}

static void test_joint_drift(void **state) {
  (void)state;
  write_text("drift.yaml",
             "planar: xy\n"
             "bodies:\n"
             "  - {name: a, mass: 1, position: [0.5, 0], shapes: [{type: capsule, radius: 0.05, length: 1, axis: x}]}\n"
             "joints: [{type: revolute, between: [world, a], at: [0, 0, 0]}]\n"
             "simulation: {scheme: moreau, step: 0.02, duration: 5, stabilization: none}\n");
  json_t *root = expect_json("run drift.yaml --json", 0, NULL);
  assert_true(is_certified(root) && !is_sound(root));
  assert_true(doubt(root, "joint-drift") > 0.05 * 0.1);
  assert_true(doubt(root, "joint-drift") == number(json_object_get(root, "certificate"), "joint_drift"));
  json_decref(root);
}

/* The scale of the energy does not know where the origin is, and a box at rest has one. */
static void test_rest(void **state) {
  (void)state;
  write_text("rest.yaml", "parameters: {z: 0}\n"
                          "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: z}]}\n"
                          "bodies: [{name: a, density: 1000, position: [0, 0, z + 0.05], shapes: [{type: box, size: "
                          "[0.1, 0.1, 0.1]}]}]\n"
                          "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n");
  char *out = expect("run rest.yaml --strict", 0, NULL);
  assert_non_null(strstr(out, "CERTIFIED"));
  assert_null(strstr(out, "DOUBTFUL"));
  free(out);
  free(expect("run rest.yaml --strict --set z=1e6", 0, NULL));
  /* Without gravity: what rounding errors of joints move is no motion. */
  write_text("rest.yaml",
             "gravity: [0, 0, -0]\n"
             "materials: [{name: default, friction: 0.1, restitution: 0}]\n"
             "bodies:\n"
             "  - {name: b0, mass: 0.28875200270669504, position: [-0.0054908883570620615, -0.0053019398243528389, "
             "0.017788461007786933], orientation: {rpy: [2.7627041411567888, 0.71904845922050953, "
             "-1.3386606879937468]}, velocity: [0, 0, -0], angular_velocity: [0, 0, -0], shapes: [{type: cylinder, "
             "radius: 0.0044471152519467332, length: 0.0088942305038934664, axis: x}]}\n"
             "  - {name: b1, mass: 0.29209629197429682, position: [0.0062976465469500994, -0.0062946577450439583, "
             "0.046694710145440702], orientation: {rpy: [-1.9471401075841839, 1.0173316504481114, "
             "0.37415016595456185]}, velocity: [-0, 0, 0], angular_velocity: [0, -0, -0], shapes: [{type: box, size: "
             "[0.0085115402096973113, 0.0074942063177936228, 0.010274262049604356]}]}\n"
             "joints:\n"
             "  - {type: prismatic, between: [b0, b1], at: [0, 0, 0.032241585576613815], axis: z}\n"
             "simulation:\n"
             "  scheme: stewart-trinkle-implicit\n"
             "  duration: 0.14878789573840109\n"
             "  step: 0.00070715537574436444\n"
             "  friction: {cone: polyhedral}\n"
             "  restitution: newton\n");
  free(expect("run rest.yaml --strict", 0, NULL));
}

static void test_time_limit(void **state) {
  (void)state;
  json_t *root =
      expect_json("run rest.yaml --json --duration 1e6 --time-limit 0.5 -o late.h5", 1, "time limit of 0.5 s");
  assert_true(!is_certified(root));
  assert_true(number(json_object_get(root, "final"), "t") > 0);
  assert_true(number(root, "wall_seconds") < 5);
  json_decref(root);
  assert_true(exists("late.h5"));
  refuse("run rest.yaml --time-limit 0", "--time-limit must be positive");
}

/* Two boxes that an unstable spring drives faster and faster between two walls: thousands of collisions in a step are not
 * followed for ever. */
static void test_work(void **state) {
  (void)state;
  write_text(
      "rattle.yaml",
      "gravity: [0, 0, 0]\n"
      "materials: [{name: default, restitution: 1}]\n"
      "world: {shapes: [{type: half-space, normal: [1, 0, 0], offset: -1}, {type: half-space, normal: [-1, 0, 0], "
      "offset: -1}]}\n"
      "bodies:\n"
      "  - {name: a, mass: 1, velocity: [10, 1, 0], shapes: [{type: box, size: [0.3, 0.5, 0.4]}]}\n"
      "  - {name: b, mass: 1, position: [0, 0, 2], velocity: [-10, 0, 1], angular_velocity: [1, 2, 3], "
      "shapes: [{type: box, size: [0.3, 0.5, 0.4]}]}\n"
      "forces: [{type: spring, between: [a, b], anchors: [[0, 0.2, 0], [0, 0.1, 0]], stiffness: 1e6}]\n"
      "simulation: {scheme: stewart-trinkle, step: 0.01, duration: 1, events: [collision]}\n");
  json_t *root = expect_json("run rattle.yaml --json --time-limit 60", 1, "has used up its work at t = ");
  assert_true(number(json_object_get(root, "final"), "t") > 0);
  json_decref(root);
}

/* Steps that a tolerance makes ever smaller end with what is wrong with it. */
static void test_number_of_steps(void **state) {
  (void)state;
  write_text("tight.yaml", "gravity: [0, 0, 0]\n"
                           "bodies: [{name: a, mass: 1, freedom: [x], position: [1.1, 0, 0]}]\n"
                           "forces: [{type: spring, between: [world, a], stiffness: 1e4, rest_length: 1}]\n"
                           "simulation: {scheme: moreau, tolerance: 1e-7, duration: 10}\n");
  free(expect("run tight.yaml --time-limit 60", 1, "the tolerance 1e-07 asks for more than 5000 steps"));
}

static int prepare(void **state) {
  (void)state;
  return enter_empty_directory();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_energy),
                                     cmocka_unit_test(test_not_finite),
                                     cmocka_unit_test(test_force_not_finite),
                                     cmocka_unit_test(test_too_large_and_too_small),
                                     cmocka_unit_test(test_rounding),
                                     cmocka_unit_test(test_joint_drift),
                                     cmocka_unit_test(test_rest),
                                     cmocka_unit_test(test_time_limit),
                                     cmocka_unit_test(test_work),
                                     cmocka_unit_test(test_number_of_steps)};
  return cmocka_run_group_tests(tests, prepare, remove_directory);
}
