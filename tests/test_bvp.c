/* Boundary-value problems: conditions as written, problems with known answers, and solutions that `run` reproduces. */
#include "bvp_runner.h"

static void conditions_are_read_as_written(void **state) {
  (void)state;
  static const char text[] =
      "planar: xy\nparameters: {a: 3}\nbodies: [{name: the puck, mass: 1, inertia: 1}]\n"
      "simulation: {step: 0.1, duration: 1}\n"
      "boundary: [2*final(the puck.x) - (final(the puck.vy) + 1)/4 = a*initial(the puck.w) - 5, final(the puck.y)=0, "
      "final( the puck.angle ) = 30 deg]\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  const ss_boundary_def *b = &scene->boundary;
  assert_int_equal(b->n_conditions, 3);
  assert_int_equal(b->n_unknown, 3);
  const ss_condition_def *c = &b->conditions[0];
  assert_int_equal(c->n, 3);
  const double factors[] = {2, -0.25, -3};
  const int coordinates[] = {SS_POSITION, SS_VELOCITY + 1, SS_SPIN + 2};
  for (int i = 0; i < 3; i++) {
    check_near(c->factors[i], factors[i], 1e-14, "factor");
    assert_int_equal(c->quantities[i].coordinate, coordinates[i]);
    assert_int_equal(c->quantities[i].final, i < 2);
  }
  check_near(c->value, -5 + 0.25, 1e-14, "value");
  check_near(b->conditions[2].value, acos(-1) / 6, 1e-15, "angle");
  char name[64];
  ss_quantity_name(scene, &c->quantities[2], name, sizeof name);
  assert_string_equal(name, "the puck.wz");
  ss_scene_destroy(scene);
}

static void puck_stops_at_the_line(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-puck", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 1);
  check_below(r->solutions[0].residual, 1e-8, "conditions");
  check_near(r->solutions[0].unknown[0], sqrt(2 * 0.3 * 9.81), 1e-7, "sqrt(2 mu g x)");
  const ss_motion end = reproduce(scene, r->solutions[0].unknown);
  check_near(end.pose.position.x, 1, 1e-8, "line");
  check_near(end.velocity.x, 0, 1e-8, "stopped");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

static void puck_that_cannot(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-puck-none", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 0);
  assert_non_null(r->reason);
  assert_non_null(strstr(r->reason, "final(puck.vx) = 0.5"));
  assert_true(r->best.residual > 0.1 && r->best.residual <= 0.5);
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

static void ball_lands_and_bounces(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-throw", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_true(r->n_solutions >= 2); /* without a bounce, and with one */
  bool flies = false, bounces = false;
  for (int i = 0; i < r->n_solutions; i++) {
    const ss_bvp_solution *s = &r->solutions[i];
    check_below(s->residual, 1e-8, "conditions");
    const ss_motion end = reproduce(scene, s->unknown);
    check_near(end.pose.position.x, 2, 1e-8, "x");
    check_near(end.pose.position.y, 0.5, 1e-8, "y");
    check_near(end.pose.position.z, 0.6, 1e-8, "z");
    const double vz = s->unknown[2], g = 9.81, T = 1.2;
    const double landing = (vz + sqrt(vz * vz + 2 * g * 0.95)) / g; /* the ball's lowest point starts at 0.95 */
    flies |= fabs(vz - (-0.4 + g * T * T / 2) / T) < 1e-7;
    const double up = 0.7 * (g * landing - vz), rest = T - landing;
    bounces |= landing < T && fabs(0.05 + up * rest - g * rest * rest / 2 - 0.6) < 1e-7;
  }
  assert_true(flies);
  assert_true(bounces);
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

static void billiard_shot(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-billiard", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_true(r->n_solutions >= 1);
  const double *u = r->solutions[0].unknown;
  const ss_motion end = reproduce(scene, u);
  check_near(end.pose.position.x, 1, 1e-8, "x");
  check_near(end.pose.position.y, 0.3, 1e-8, "y");
  check_near(end.velocity.x, 0.6, 1e-8, "vx");
  check_near(end.velocity.y, 0.4, 1e-8, "vy");
  /* angular momentum about the point of contact is conserved: 5 v + 2 r w x up stays, 7 v at the end; the ball turns by
   * 0.2 per step, which costs the scheme some of it */
  check_near(5 * u[0] + 2 * 0.03 * u[3], 7 * 0.6, 5e-3, "rolling speed along x");
  check_near(5 * u[1] - 2 * 0.03 * u[2], 7 * 0.4, 5e-3, "rolling speed along y");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

static void part_ends_aligned(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-align", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_true(r->n_solutions >= 1);
  check_below(r->solutions[0].residual, 1e-8, "conditions");
  const ss_motion end = reproduce(scene, r->solutions[0].unknown);
  check_near(end.pose.position.x, 0.25, 1e-8, "goal");
  check_near(end.pose.position.y, 0.05, 1e-8, "against the wall");
  check_near(quat_log(end.pose.orientation).z, 0, 1e-8, "aligned");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

/* A cart with a damper: v(T) = exp(-d T) v(0) as the scheme computes it, so the fixed point of (27) contracts with 1 -
 * that, and (28) can be evaluated by hand. */
static void contraction_of_a_damped_cart(void **state) {
  (void)state;
  static const char text[] =
      "gravity: [0, 0, 0]\nbodies: [{name: cart, mass: 1, freedom: [x]}]\n"
      "forces: [{type: damper, between: [world, cart], anchors: [[-1, 0, 0], [0, 0, 0]], damping: 0.5}]\n"
      "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n"
      "boundary: [final(cart.vx) = 1]\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 1);
  assert_string_equal(r->solutions[0].method, "fixed-point");
  check_near(r->solutions[0].unknown[0], exp(0.5), 1e-4, "exp(d T)");
  assert_true(r->contraction.applies);
  check_near(r->contraction.observed, 1 - exp(-0.5), 1e-4, "contraction");
  check_near(r->contraction.bound, 2, 1e-12, "1 + 1/|N|");
  check_near(r->contraction.growth, exp(r->contraction.psi), 1e-12, "exp(T psi)");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

static void continuation_in_the_stiffness(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-compliant-ball", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_true(r->n_solutions >= 1);
  check_below(r->solutions[0].residual, 1e-8, "conditions");
  const ss_motion end = reproduce(scene, r->solutions[0].unknown);
  check_near(end.pose.position.z, 0.3, 1e-8, "height");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

/* Settings and options of the command line become part of the solved scene. */
static void solved_scene_keeps_what_was_set(void **state) {
  (void)state;
  static const char *const settings[] = {"line=0.7", "mu=0.25"};
  ss_scene *scene = load("bvp-puck", settings, 2);
  ss_simulation options = scene->simulation;
  options.scheme = "moreau";
  options.step = 0.005;
  options.duration = 1.6;
  options.solver = "lemke";
  ss_bvp_result *r = NULL;
  ss_error error = {0};
  run_require(ss_bvp_solve(scene, &options, settings, 2, &r, &error), &error, "bvp");
  assert_true(r->n_solutions >= 1);
  const ss_motion end = reproduce_with(scene, &options, settings, 2, r->solutions[0].unknown);
  check_near(end.pose.position.x, 0.7, 1e-8, "line");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

/* x(1) - v(0) is 0 whatever v(0) is; for velocities of 1e15 rounding makes 4 of it, which is no solution. */
static void rounding_is_no_solution(void **state) {
  (void)state;
  static const char text[] = "gravity: [0, 0, 0]\n"
                             "bodies: [{name: b, mass: 2, freedom: [x]}]\n"
                             "boundary: {conditions: [final(b.x) - initial(b.vx) = 4]}\n"
                             "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  run_require(ss_scene_parse(text, sizeof text - 1, "rounding", NULL, 0, &scene, &error), &error, "parse");
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 0);
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rounding_is_no_solution),
      cmocka_unit_test(conditions_are_read_as_written),
      cmocka_unit_test(puck_stops_at_the_line),
      cmocka_unit_test(puck_that_cannot),
      cmocka_unit_test(ball_lands_and_bounces),
      cmocka_unit_test(billiard_shot),
      cmocka_unit_test(part_ends_aligned),
      cmocka_unit_test(contraction_of_a_damped_cart),
      cmocka_unit_test(continuation_in_the_stiffness),
      cmocka_unit_test(solved_scene_keeps_what_was_set),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
