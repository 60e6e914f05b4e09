/* Automatic step size where it is hard to keep its promise: methods of first order, velocities that jump unlocated, drift
 * that is pushed out, projections beside impacts, bodies at rest. */
#include "scene_runner.h"

static void finish(run *r) {
  ss_error error = {0};
  while (!ss_sim_done(r->sim)) run_require(ss_sim_step(r->sim, &error), &error, "step");
  assert_true(ss_sim_report(r->sim)->certificate.certified);
}

/* Position of the first body at the end. */
static ss_vec3 end_of(const char *text, const change *c) {
  run r;
  run_parse(&r, text, c);
  finish(&r);
  const ss_vec3 position = run_position(&r, 0);
  run_close(&r);
  return position;
}

static double error_at(const char *text, const char *scheme, double tolerance, ss_vec3 exact) {
  return run_distance(end_of(text, &(change){.scheme = scheme, .tolerance = tolerance}), exact);
}

#define SPRING(jacobian)                                                                                               \
  "planar: xy\n"                                                                                                       \
  "bodies: [{name: bob, mass: 1, freedom: [x, y], position: [sin(60 deg), -cos(60 deg)]}]\n"                           \
  "forces: [{type: spring, between: [world, bob], stiffness: 300, rest_length: 1" jacobian "}]\n"                      \
  "simulation: {scheme: trapezoidal, step: 2^-15, duration: 1}\n"

/* A spring that turns: the default Jacobian is exact with a tolerance, for the rank-one one is of first order. */
static void springs_that_turn(void **state) {
  (void)state;
  const ss_vec3 exact = end_of(SPRING(", jacobian: exact"), NULL);
  const double coarse = error_at(SPRING(""), NULL, 1e-4, exact), fine = error_at(SPRING(""), NULL, 1e-6, exact);
  check_below(coarse, 3e-4, "error at 1e-4");
  check_below(fine, coarse / 50, "error at 1e-6");
  check_below(1e-4, error_at(SPRING(", jacobian: rank-one"), NULL, 1e-6, exact), "error of rank one, if asked for");
}

/* Schemes of first order: errors of velocities count, whether or not the positions of a step are of second order. */
static void first_order_schemes_keep_it_too(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau", "anitescu-potra-stiff", "stewart-trinkle"};
  const ss_vec3 exact = end_of(SPRING(", jacobian: exact"), NULL);
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    const double coarse = error_at(SPRING(""), schemes[i], 1e-2, exact),
                 fine = error_at(SPRING(""), schemes[i], 1e-3, exact);
    check_below(fine, 2e-3, schemes[i]);
    check_below(fine, coarse / 5, schemes[i]);
  }
}

/* A force at a point of a body that turns, x'' = F/m whatever it does: x is exact, the turning of second order. */
static void applied_forces_on_bodies_that_turn(void **state) {
  (void)state;
  static const char text[] = "planar: xy\n"
                             "gravity: [0, 0, 0]\n"
                             "bodies: [{name: body, mass: 1, inertia: 0.1, shapes: [{type: sphere, radius: 0.1}]}]\n"
                             "forces: [{type: applied, on: body, force: [5*cos(t), 2, 0], at: [0, 0.5, 0]}]\n"
                             "simulation: {scheme: trapezoidal, step: 2^-6, duration: 2}\n";
  double spin[3];
  const double steps[] = {ldexp(1, -7), ldexp(1, -8), ldexp(1, -13)};
  for (int k = 0; k < 3; k++) {
    run r;
    run_parse(&r, text, &(change){.step = steps[k]});
    finish(&r);
    spin[k] = run_turn(&r, 0).z;
    run_close(&r);
  }
  check_near(log2((spin[0] - spin[2]) / (spin[1] - spin[2])), 2, 0.1, "order");
}

/* A ball that falls on a plane which no event tells of: the jump passes, and the ball is where it stopped. */
static void jumps_that_nobody_locates(void **state) {
  (void)state;
  static const char text[] = "materials: [{name: default, friction: 0.2, restitution: 0}]\n"
                             "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
                             "bodies: [{name: ball, mass: 1, position: [0, 0, 0.5], velocity: [1, 0, 0], shapes: "
                             "[{type: sphere, radius: 0.1}]}]\n"
                             "simulation: {scheme: %s, tolerance: 1e-3, duration: 1, events: [], stabilization: %s}\n";
  static const char *const cases[][2] = {{"anitescu-potra", "none"},
                                         {"anitescu-potra", "anitescu-hart"},
                                         {"stewart-trinkle", "none"},
                                         {"stewart-trinkle-implicit", "none"},
                                         {"moreau", "none"}};
  /* slip ends in the impact: 7/2 mu sqrt(2 g h) > 1; it rolls on with 5/7 of its speed */
  const double fall = sqrt(2 * 0.4 / 9.81), exact = fall + (1 - fall) * 5 / 7;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char scene[1024];
    (void)snprintf(scene, sizeof scene, text, cases[i][0], cases[i][1]);
    const ss_vec3 end = end_of(scene, NULL);
    check_near(end.z, 0.1, 2e-3, cases[i][0]);
    check_near(end.x, exact, 2e-3, cases[i][0]);
  }
}

/* Overlap that is pushed out over the largest step: no kick, whatever the steps. */
static void penetrations_are_taken_back_gently(void **state) {
  (void)state;
  static const char text[] =
      "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
      "bodies: [{name: ball, mass: 1, position: [0, 0, 0.09999], shapes: [{type: sphere, radius: 0.1}]}]\n"
      "simulation: {scheme: %s, tolerance: %g, duration: 1, stabilization: anitescu-hart}\n";
  const char *const schemes[] = {"anitescu-potra", "stewart-trinkle", "stewart-trinkle-implicit"};
  for (size_t i = 0; i < 3; i++)
    for (double tolerance = 1e-2; tolerance > 1e-5; tolerance /= 10) {
      char scene[1024];
      run r;
      (void)snprintf(scene, sizeof scene, text, schemes[i], tolerance);
      run_parse(&r, scene, NULL);
      double fastest = 0;
      while (!ss_sim_done(r.sim)) {
        run_step(&r);
        fastest = fmax(fastest, fabs(ss_sim_motion(r.sim, 0).velocity.z));
      }
      check_below(fastest, 2 * 64 * 1e-5, schemes[i]);
      check_near(run_position(&r, 0).z, 0.1, 1e-6, schemes[i]);
      run_close(&r);
    }
}

/* A projection at the end of a step that ends in a collision would stop what is about to bounce. */
static void projections_leave_impacts_alone(void **state) {
  (void)state;
  run pair, halves;
  run_open(&pair, "slider-crank", &(change){.tolerance = 1e-5, .duration = 0.04});
  run_open(&halves, "slider-crank", &(change){.tolerance = 1e-5, .duration = 0.04, .estimate = SS_ESTIMATE_HALVES});
  finish(&pair);
  finish(&halves);
  check_below(run_distance(run_position(&pair, 2), run_position(&halves, 2)), 1e-6, "the slider");
  check_below(fabs(pair.collision_time[0] - halves.collision_time[0]), 1e-6, "the first collision");
  run_close(&pair);
  run_close(&halves);
}

/* What rests takes the largest steps after the first few, and stays. */
static void rest_is_cheap(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    run r;
    run_open(&r, "table-four-legs",
             &(change){.scheme = "trapezoidal", .tolerance = k ? 1e3 : 1e-12}); /* far too loose, and very tight */
    const ss_vec3 start = run_position(&r, 0);
    finish(&r);
    check_below(run_distance(run_position(&r, 0), start), 1e-12, "the table");
    assert_true(ss_sim_report(r.sim)->steps.accepted < 80 && ss_sim_report(r.sim)->steps.rejected == 0);
    run_close(&r);
  }
}

static void twice_the_same(void **state) {
  (void)state;
  ss_vec3 end[2];
  for (int k = 0; k < 2; k++) {
    run r;
    run_open(&r, "bounce-and-roll-wind", &(change){.tolerance = 1e-5});
    finish(&r);
    end[k] = run_position(&r, 0);
    run_close(&r);
  }
  assert_memory_equal(&end[0], &end[1], sizeof end[0]);
}

static void compliant_schemes_are_refused(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_open(&r, "rolling-ellipse", NULL);
  ss_simulation options = *ss_sim_options(r.sim);
  ss_sim *sim = NULL;
  options.scheme = "compliant";
  options.tolerance = 1e-4;
  assert_int_equal(ss_sim_create(r.model, &options, &sim, &error), SS_ERROR_UNSUPPORTED);
  assert_null(sim);
  assert_non_null(strstr(error.message, "needs a fixed step"));
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(springs_that_turn),
      cmocka_unit_test(first_order_schemes_keep_it_too),
      cmocka_unit_test(applied_forces_on_bodies_that_turn),
      cmocka_unit_test(jumps_that_nobody_locates),
      cmocka_unit_test(penetrations_are_taken_back_gently),
      cmocka_unit_test(projections_leave_impacts_alone),
      cmocka_unit_test(rest_is_cheap),
      cmocka_unit_test(twice_the_same),
      cmocka_unit_test(compliant_schemes_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
