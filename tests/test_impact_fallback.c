/* An impact that has no solution: nothing is applied, and the rest of the step holds the contacts without locating anything.
 *
 * A mass rests on a wall. A piston dips onto it for an instant, faster than anything can give way: at the moment of contact the
 * wall and the piston demand velocities that contradict each other, while a step that ends after the piston has turned back has
 * its solution. A second mass falls beside them, to see what the rest of the step does to others. */
#include "step/step.h"
#include "system_runner.h"

static const double drop = 2;

static int gaps(void *user, double t, const double *q, double *phi) {
  (void)user;
  phi[0] = q[0];                                      /* the wall */
  phi[1] = 0.5 * (t - 0.5) * (t - 0.5) - 1e-4 - q[0]; /* the piston: below zero from 0.486 to 0.514 */
  phi[2] = q[1];                                      /* the floor of the other */
  return 0;
}

static int pull(void *user, double t, const double *q, const double *v, double *k) {
  (void)user, (void)t, (void)q, (void)v;
  k[0] = k[1] = -G;
  return 0;
}

static const ss_gap_def gap[3] = {{.name = "wall"}, {.name = "piston"}, {.name = "floor", .restitution = 0.5}};
static const double at_start[2] = {0, 2}, at_rest[2] = {0, 0};

static ss_system squeezed(int *n, const char *scheme) {
  ss_system s = unit_system(n, at_start, at_rest);
  s.force = pull;
  s.n_gaps = 3;
  s.gaps = gap;
  s.gap = gaps;
  s.length = 0.1;
  s.simulation.scheme = scheme;
  s.simulation.step = 0.08;
  s.simulation.duration = 0.8;
  return s;
}

/* One step goes without its impact; before and after it everything is located. */
static void test_step_goes_on(void **state) {
  (void)state;
  int n = 2, without = 0;
  const ss_system s = squeezed(&n, "trapezoidal");
  run r;
  ss_error error = {0};
  system_open(&r, &s);
  while (!ss_sim_done(r.sim)) {
    const double t = ss_sim_state(r.sim)->t;
    run_require(ss_sim_step(r.sim, &error), &error, "step");
    const double end = ss_sim_state(r.sim)->t;
    without += r.sim->step.exhausted;
    assert_int_equal(r.sim->step.exhausted, t < 0.48586 && end > 0.48586); /* where the piston arrives */
    check_near(system_q(&r)[0], 0, 1e-12, "the mass stays");
    check_near(system_v(&r)[0], 0, 1e-12, "at rest");
    if (r.n_collisions == 0) {
      check_near(system_q(&r)[1], drop - G * end * end / 2, 1e-12, "the other falls on");
      check_near(system_v(&r)[1], -G * end, 1e-12, "the other falls on");
    }
  }
  assert_int_equal(without, 1);
  assert_int_equal(ss_sim_report(r.sim)->solves.cuts, 1);
  assert_true(ss_sim_report(r.sim)->certificate.certified);
  check_below(ss_sim_report(r.sim)->certificate.complementarity, 1e-9, "complementarity");
  assert_int_equal(r.n_collisions, 1); /* that of the other mass: the piston's is none */
  check_near(r.collision_time[0], sqrt(2 * drop / G), 1e-9, "a later collision is located");
  check_near(ss_sim_report(r.sim)->energy.impact_loss, 0.75 * G * drop, 1e-6, "and booked");
  run_close(&r);
}

/* Velocities at the end of a part must obey the rates at its start, here: no part of the step has a solution. The state is that
 * before the step. */
static void test_state_before_the_step(void **state) {
  (void)state;
  static const char *const schemes[] = {"anitescu-potra", "moreau"};
  for (int k = 0; k < 2; k++) {
    int n = 2;
    const ss_system s = squeezed(&n, schemes[k]);
    run r;
    ss_error error = {0};
    ss_status status = SS_OK;
    double t = 0, q = 0, v = 0;
    system_open(&r, &s);
    while (status == SS_OK && !ss_sim_done(r.sim)) {
      t = ss_sim_state(r.sim)->t, q = system_q(&r)[1], v = system_v(&r)[1];
      status = ss_sim_step(r.sim, &error);
    }
    assert_int_equal(status, SS_ERROR_UNCERTIFIED);
    assert_non_null(strstr(error.message, "no certified step"));
    assert_true(ss_sim_state(r.sim)->t == t && system_q(&r)[1] == q && system_v(&r)[1] == v);
    check_near(t, 0.48, 1e-12, "the step before the piston's");
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_step_goes_on),
      cmocka_unit_test(test_state_before_the_step),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
