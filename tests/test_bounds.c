/* Energy bounds of the papers, step by step: LIT Theorem 9.1 and the work of constraints it rests on. */
#include "scene_runner.h"

static void theorem_holds(const char *scene, const change *c) {
  run r;
  run_open(&r, scene, c);
  double largest = 0;
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    const ss_energy *e = &ss_sim_report(r.sim)->energy;
    largest = fmax(largest, fmax(e->kinetic, e->elastic));
  }
  check_below(ss_sim_report(r.sim)->energy_excess, 1e-12 * largest, scene);
  check_below(ss_sim_report(r.sim)->constraint_work, 1e-12 * largest, scene);
  run_close(&r);
}

/* For every stiffness, through impacts, joints and friction. */
static void steps_stay_below_the_bound(void **state) {
  (void)state;
  const char *const stiffness[] = {"gamma=1", "gamma=1e4", "gamma=1e8"};
  for (int i = 0; i < 3; i++) theorem_holds("two-carts-spring", &(change){.set = {stiffness[i]}});
  theorem_holds("two-carts-damper", NULL);
  theorem_holds("double-pendulum-wall", NULL);
  theorem_holds("stick-slip-block", NULL);
  theorem_holds("bounce-and-roll-wind", NULL);
}

static void not_claimed_without_its_assumptions(void **state) {
  (void)state;
  static const struct {
    const char *scene, *scheme;
  } others[] = {{"two-carts-spring", "moreau"},
                {"spring-pendulum", NULL},   /* exact Jacobian */
                {"torque-free-body", NULL}}; /* full gyroscopic Jacobian */
  for (int i = 0; i < 3; i++) {
    run r;
    run_open(&r, others[i].scene, &(change){.scheme = others[i].scheme});
    for (int k = 0; k < 5; k++) run_step(&r);
    assert_true(isnan(ss_sim_report(r.sim)->energy_excess));
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_stay_below_the_bound),
      cmocka_unit_test(not_claimed_without_its_assumptions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
