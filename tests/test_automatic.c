/* Automatic step size: errors follow the tolerance, on smooth and on nonsmooth scenes; observers hear of accepted steps
 * only; a run goes on bit by bit; what cannot be met fails clearly. */
#include "scene_runner.h"

#include <unistd.h>

/* Largest distance of a body from where it is in a fine run. */
static double final_error(const run *r, const run *reference) {
  double largest = 0;
  for (int body = 0; body < ss_model_bodies(r->model); body++)
    largest = fmax(largest, run_distance(run_position(r, body), run_position(reference, body)));
  return largest;
}

static void run_through(run *r, const char *scene, const change *c) {
  run_open(r, scene, c);
  while (!ss_sim_done(r->sim)) run_step(r);
  assert_true(ss_sim_report(r->sim)->certificate.certified);
}

/* Over 2.5 decades of the tolerance errors fall by nearly as much, and no step is beyond what was allowed. */
static void errors_follow_the_tolerance(void **state) {
  (void)state;
  static const struct {
    const char *scene, *set[2];
    ss_estimate estimate;
  } examples[] = {
      {"double-pendulum-wall", {NULL}, SS_ESTIMATE_PAIR}, {"double-pendulum-wall", {NULL}, SS_ESTIMATE_HALVES},
      {"pendulum-slides-off", {NULL}, SS_ESTIMATE_PAIR},  {"spring-pendulum", {NULL}, SS_ESTIMATE_PAIR},
      {"torque-free-body", {NULL}, SS_ESTIMATE_PAIR},     {"rolling-disc", {NULL}, SS_ESTIMATE_HALVES},
      {"rolling-disc", {NULL}, SS_ESTIMATE_PAIR},         {"four-bar-limit", {"pull=60", "rate=3"}, SS_ESTIMATE_PAIR},
  };
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
    run reference;
    change c = {.step = ldexp(1, -15), .set = {examples[i].set[0], examples[i].set[1]}};
    run_through(&reference, examples[i].scene, &c);
    double error[2], tolerance[] = {3e-5, 1e-7};
    for (int k = 0; k < 2; k++) {
      run r;
      c.step = 0;
      c.tolerance = tolerance[k];
      c.estimate = examples[i].estimate;
      run_through(&r, examples[i].scene, &c);
      const ss_steps *steps = &ss_sim_report(r.sim)->steps;
      error[k] = strcmp(examples[i].scene, "torque-free-body") == 0
                     ? v3_norm(v3_sub(run_turn(&r, 0), run_turn(&reference, 0)))
                     : final_error(&r, &reference);
      check_below(error[k], 5 * tolerance[k] * ss_sim_options(r.sim)->duration, examples[i].scene);
      assert_true(steps->accepted > 0 && steps->largest <= ss_sim_options(r.sim)->largest_step * (1 + 1e-12));
      assert_true(ss_sim_state(r.sim)->step == steps->accepted);
      run_close(&r);
    }
    const double slope = log(error[0] / error[1]) / log(tolerance[0] / tolerance[1]);
    if (!(slope > 0.7 && slope < 1.3)) print_error("%s: errors %g, %g\n", examples[i].scene, error[0], error[1]);
    assert_true(slope > 0.7 && slope < 1.3);
    run_close(&reference);
  }
}

/* The pair tells the error that halves do, at two thirds of the problems. */
static void pair_costs_less_than_halves(void **state) {
  (void)state;
  const char *const scenes[] = {"double-pendulum-wall", "spring-pendulum", "pendulum-slides-off", "two-carts-spring"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    run reference, pair, halves;
    run_through(&reference, scenes[i], &(change){.step = ldexp(1, -14)});
    run_through(&pair, scenes[i], &(change){.tolerance = 1e-5});
    run_through(&halves, scenes[i], &(change){.tolerance = 1e-5, .estimate = SS_ESTIMATE_HALVES});
    check_below(final_error(&pair, &reference), 2 * final_error(&halves, &reference), scenes[i]);
    check_below((double)ss_sim_report(pair.sim)->solves.count, 0.75 * (double)ss_sim_report(halves.sim)->solves.count,
                scenes[i]);
    run_close(&reference);
    run_close(&pair);
    run_close(&halves);
  }
}

/* A stiff spring, a stopper and a rest: fewer steps, and fewer problems, than a fixed step needs for a larger error. */
static void fewer_steps_than_fixed(void **state) {
  (void)state;
  run reference, fixed, automatic;
  run_through(&reference, "two-carts-spring", &(change){.step = ldexp(1, -16)});
  run_through(&fixed, "two-carts-spring", &(change){.step = ldexp(1, -12)});
  run_through(&automatic, "two-carts-spring", &(change){.tolerance = 1e-4});
  assert_true(final_error(&automatic, &reference) < final_error(&fixed, &reference));
  const ss_report *a = ss_sim_report(automatic.sim), *f = ss_sim_report(fixed.sim);
  assert_true(4 * a->steps.accepted < ss_sim_state(fixed.sim)->step && a->solves.count < f->solves.count);
  run_close(&reference);
  run_close(&fixed);
  run_close(&automatic);
}

/* Parabolas and impacts are exact: all steps are as long as they may be but for the first ones, and the times are right. */
static void exact_motion_takes_the_largest_steps(void **state) {
  (void)state;
  run r;
  run_through(&r, "bouncing-ball", &(change){.tolerance = 1e-9, .duration = 1});
  assert_true(ss_sim_report(r.sim)->steps.rejected == 0);
  run fixed;
  run_through(&fixed, "bouncing-ball", &(change){.step = ldexp(1, -10), .duration = 1});
  assert_true(r.n_collisions > 0 && r.n_collisions <= fixed.n_collisions);
  for (int i = 0; i < r.n_collisions; i++) check_near(r.collision_time[i], fixed.collision_time[i], 1e-9, "collision");
  run_close(&r);
  run_close(&fixed);
}

static ss_status count_problem(void *user, const ss_sim *sim, const ss_cp *problem, const double *z, ss_error *error) {
  double *last = user;
  (void)problem, (void)z, (void)error;
  assert_true(ss_sim_state(sim)->t >= *last); /* nothing is shown twice, and nothing of a rejected step */
  *last = ss_sim_state(sim)->t;
  return SS_OK;
}

static void observers_hear_of_accepted_steps_only(void **state) {
  (void)state;
  run r;
  double last = 0;
  ss_error error = {0};
  run_open(&r, "double-pendulum-wall", &(change){.tolerance = 1e-4});
  const ss_observer watch = {.user = &last, .step = run_ignore_step, .problem = count_problem};
  run_require(ss_sim_observe(r.sim, &watch, &error), &error, "observe");
  while (!ss_sim_done(r.sim)) run_step(&r);
  const ss_report *report = ss_sim_report(r.sim);
  assert_true(report->steps.rejected > 0 && last > 2.4);
  assert_int_equal(r.n_collisions, 5);
  assert_int_equal(report->events[SS_COLLISION], 5);
  const double exact[] = {0.545229943827, 0.707571786029, 1.284071674388, 2.096669998041, 2.130553544348};
  for (int i = 0; i < 5; i++) check_near(r.collision_time[i], exact[i], 1e-4, "time of a collision");
  run_close(&r);
}

static void resumes_bit_by_bit(void **state) {
  (void)state;
  static const char file[] = BINARY_DIR "/test_automatic.state";
  const char *const scenes[] = {"double-pendulum-wall", "bounce-and-roll-wind", "two-carts-spring", "slider-crank",
                                "bennett-linkage"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    run whole, first, second;
    ss_error error = {0};
    const change c = {.tolerance = 1e-4};
    run_open(&whole, scenes[i], &c);
    run_open(&first, scenes[i], &c);
    run_open(&second, scenes[i], &c);
    for (int k = 0; k < 45; k++) run_step(&first);
    run_require(ss_checkpoint_write(first.sim, file, &error), &error, "write");
    run_require(ss_checkpoint_read(second.sim, file, &error), &error, "read");
    for (int k = 0; k < 100; k++) run_step(&whole);
    for (int k = 0; k < 55; k++) run_step(&second);
    const ss_state *s = ss_sim_state(whole.sim), *t = ss_sim_state(second.sim);
    assert_true(s->t == t->t && s->step == t->step);
    assert_memory_equal(s->q, t->q, 7 * sizeof(double) * (size_t)ss_model_bodies(whole.model));
    assert_memory_equal(s->v, t->v, sizeof(double) * (size_t)ss_model_coordinates(whole.model));
    assert_memory_equal(&ss_sim_report(whole.sim)->steps, &ss_sim_report(second.sim)->steps, sizeof(ss_steps));
    run_close(&whole);
    run_close(&first);
    run_close(&second);
  }
  (void)unlink(file);
}

/* Below rounding no step is good enough; the state stays that of the last accepted one. */
static void impossible_tolerance_fails_clearly(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_open(&r, "double-pendulum-wall", &(change){.tolerance = 1e-25});
  ss_status status = SS_OK;
  double before = 0;
  for (int k = 0; k < 100000 && status == SS_OK; k++) {
    before = ss_sim_state(r.sim)->t;
    status = ss_sim_step(r.sim, &error);
  }
  assert_int_equal(status, SS_ERROR_UNCERTIFIED);
  assert_non_null(strstr(error.message, "the tolerance 1e-25 cannot be met"));
  assert_true(ss_sim_state(r.sim)->t == before);
  assert_false(ss_sim_report(r.sim)->certificate.certified);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(errors_follow_the_tolerance),
      cmocka_unit_test(pair_costs_less_than_halves),
      cmocka_unit_test(fewer_steps_than_fixed),
      cmocka_unit_test(exact_motion_takes_the_largest_steps),
      cmocka_unit_test(observers_hear_of_accepted_steps_only),
      cmocka_unit_test(resumes_bit_by_bit),
      cmocka_unit_test(impossible_tolerance_fails_clearly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
