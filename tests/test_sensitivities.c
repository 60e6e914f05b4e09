/* Exact sensitivities against central differences of whole runs, away from transitions: flight and bounce (saltation),
 * slip that ends, rolling, joints, patches, forces of the theta rule. */
#include "scene_runner.h"

#include "bvp/bvp.h"

enum { MOST = 6 };

static ss_shooting *open_shooting(ss_scene *scene, ss_arena *arena) {
  ss_shooting *s = NULL;
  ss_error error = {0};
  run_require(ss_shooting_create(scene, NULL, arena, &s, &error), &error, "shooting");
  assert_true(s->n <= MOST && s->m <= MOST);
  return s;
}

/* Largest error relative to the largest derivative. */
static double compare(ss_scene *scene, const double *u) {
  ss_arena *arena = ss_arena_create();
  ss_shooting *s = open_shooting(scene, arena);
  double exact[MOST * MOST], plus[MOST], minus[MOST], moved[MOST], worst = 0, size = 0;
  assert_true(ss_shoot_jacobian(s, u, exact));
  for (int j = 0; j < s->n; j++) {
    const double step = 2e-6 * (1 + fabs(u[j]));
    memcpy(moved, u, sizeof(double) * (size_t)s->n);
    moved[j] = u[j] + step;
    assert_true(ss_shoot(s, moved, plus));
    moved[j] = u[j] - step;
    assert_true(ss_shoot(s, moved, minus));
    for (int i = 0; i < s->m; i++) {
      const double difference = (plus[i] - minus[i]) / (2 * step);
      worst = fmax(worst, fabs(exact[i * s->n + j] - difference));
      size = fmax(size, fabs(difference));
    }
  }
  ss_arena_destroy(arena);
  return worst / size;
}

static double compare_file(const char *name, const double *u, const char *setting) {
  char path[1024];
  ss_scene *scene = NULL;
  ss_error error = {0};
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", SOURCE_DIR, name);
  run_require(ss_scene_load(path, &setting, setting ? 1 : 0, &scene, &error), &error, name);
  const double error_found = compare(scene, u);
  print_message("%s: %.1e\n", name, error_found);
  ss_scene_destroy(scene);
  return error_found;
}

static double compare_text(const char *text, const double *u) {
  ss_scene *scene = NULL;
  ss_error error = {0};
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  const double error_found = compare(scene, u);
  print_message("%.1e\n", error_found);
  ss_scene_destroy(scene);
  return error_found;
}

static void flight_and_bounce(void **state) {
  (void)state;
  check_below(compare_file("bvp-throw", (double[]){2.2, 0.5, -7}, NULL), 1e-8, "two bounces");
  check_below(compare_file("bvp-throw", (double[]){1.8, -0.4, 2.3}, "mu=0"), 1e-8, "without friction");
  check_below(compare_file("bvp-throw", (double[]){0.3, 0.2, 2}, "mu=0.8"), 1e-8, "grips in the bounce");
}

static void slip_that_ends(void **state) {
  (void)state;
  check_below(compare_file("bvp-puck", (double[]){2.3}, NULL), 1e-8, "puck");
  check_below(compare_file("bvp-billiard", (double[]){0.95, -0.66, -101, -9.3}, NULL), 1e-6, "billiard");
  check_below(compare_file("bvp-align", (double[]){1.3}, NULL), 1e-7, "against a wall");
}

static void joints_between(void **state) {
  (void)state;
  check_below(compare_file("bvp-balance", (double[]){0.3, -0.2}, NULL), 1e-7, "two rods");
}

static void patches(void **state) {
  (void)state;
  check_below(compare_file("bvp-compliant-ball", (double[]){1, 0.4}, NULL), 1e-7, "one element");
  static const char text[] =
      "planar: xy\nmaterials: [{name: default, friction: 0.1}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
      "bodies: [{name: ball, mass: 0.1, position: [0, 0.0502], velocity: [1, 0], shapes: [{type: sphere, radius: "
      "0.05}]}]\n"
      "compliance: {young: 1e6, spacing: 1e-3, elements: 3}\n"
      "simulation: {scheme: compliant-theta, theta: 0.3, step: 1e-3, duration: 0.05}\n"
      "boundary: {unknown: [ball.vx, ball.w], conditions: [final(ball.x) = 0.15, final(ball.w) = 0]}\n";
  check_below(compare_text(text, (double[]){1, 2}), 1e-6, "three elements, theta rule");
}

static void forces_of_the_theta_rule(void **state) {
  (void)state;
  static const char text[] =
      "bodies: [{name: top, mass: 1, inertia: [1, 1.3, 1.7], angular_velocity: [1, 2, 3]}]\n"
      "forces: [{type: spring, between: [world, top], anchors: [[0, 0, 3], [0.2, 0, 0.1]], stiffness: 40, rest_length: "
      "2}, {type: damper, between: [world, top], anchors: [[2, 0, 0], [0, 0.1, 0]], damping: 0.7}]\n"
      "compliance: {young: 1e6, spacing: 1e-3}\n"
      "simulation: {scheme: compliant-theta, theta: 0.5, step: 0.01, duration: 0.5}\n"
      "boundary: {conditions: [final(top.x) = 0, final(top.y) = 0, final(top.z) = 0, final(top.rx) = 0, final(top.vy) "
      "= 0, final(top.wz) = 0]}\n";
  check_below(compare_text(text, (double[]){0.1, 0.2, -0.3, 1, 2, 3}), 1e-7, "springs, dampers, gyroscopic torque");
}

/* Newton's restitution, two bodies, a corner: others than the scenes have. */
static void other_laws(void **state) {
  (void)state;
  static const char text[] =
      "planar: xy\nmaterials: [{name: default, friction: 0.3, restitution: 0.4}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
      "bodies:\n  - {name: a, mass: 1, position: [0, 0.6], orientation: 20 deg, shapes: [{type: box, size: [0.4, "
      "0.2]}]}\n  - {name: b, mass: 2, position: [1, 0.4], velocity: [-1, 0], shapes: [{type: sphere, radius: 0.2}]}\n"
      "simulation: {scheme: trapezoidal, step: 0.01, duration: 0.5, restitution: newton}\n"
      "boundary: {unknown: [a.vx, a.vy, a.w], conditions: [final(a.x) = 0, final(a.angle) = 0, final(b.vx) = 0]}\n";
  check_below(compare_text(text, (double[]){0.7, 0.2, 1}), 1e-6, "a box that falls and is hit");
}

static void refusals(void **state) {
  (void)state;
  static const char text[] =
      "bodies: [{name: a, mass: 1, freedom: [x]}]\nsimulation: {scheme: stewart-trinkle-implicit, step: 0.1, duration: "
      "1}\nboundary: {conditions: [final(a.x) = 1], sensitivities: exact}\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  ss_bvp_result *result = NULL;
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  assert_int_equal(ss_bvp_solve(scene, NULL, NULL, 0, &result, &error), SS_ERROR_UNSUPPORTED);
  assert_non_null(strstr(error.message, "stewart-trinkle-implicit"));
  ss_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flight_and_bounce), cmocka_unit_test(slip_that_ends),           cmocka_unit_test(joints_between),
      cmocka_unit_test(patches),           cmocka_unit_test(forces_of_the_theta_rule), cmocka_unit_test(other_laws),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
