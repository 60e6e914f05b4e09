/* stewart-trinkle-implicit: exactly feasible positions, a contraction that falls with the step, a fallback. */
#include "scene_runner.h"

/* Position-level contacts and joints hold at the new position to rounding, where the plain scheme lets them go. */
static void positions_are_exactly_feasible(void **state) {
  (void)state;
  const char *const scenes[] = {"falling-rod", "double-pendulum-wall", "pendulum-chain", "four-balls"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    run r;
    run_open(&r, scenes[i], &(change){.scheme = "stewart-trinkle-implicit"});
    run_finish(&r);
    const ss_report *report = ss_sim_report(r.sim);
    check_below(report->certificate.penetration, 1e-13, scenes[i]);
    check_below(report->certificate.joint_drift, 1e-13, scenes[i]);
    assert_int_equal((int)report->solves.not_contracting, 0);
    assert_true(report->solves.outer > ss_sim_state(r.sim)->step);
    run_close(&r);
  }
  run r;
  run_open(&r, "falling-rod", &(change){.scheme = "stewart-trinkle"});
  run_finish(&r);
  assert_true(ss_sim_report(r.sim)->certificate.penetration > 1e-6);
  run_close(&r);
}

/* ST section 3.4: geometric with a factor of 1e-2 or better, depending on the step; here it falls with h. */
static void contraction_falls_with_the_step(void **state) {
  (void)state;
  double last = 1;
  for (int k = 0; k < 4; k++) {
    run r;
    run_open(&r, "double-pendulum-wall", &(change){.scheme = "stewart-trinkle-implicit", .step = ldexp(1, -5 - 2 * k)});
    run_finish(&r);
    const double contraction = ss_sim_report(r.sim)->solves.contraction;
    print_message("  h = 2^-%d: contraction %.2e\n", 5 + 2 * k, contraction);
    assert_true(contraction > 0 && contraction < last / 2);
    last = contraction;
    run_close(&r);
  }
}

/* A step far too large for the iteration: the linearised problem stands in, certified and counted. */
static void without_contraction_the_plain_scheme_stands_in(void **state) {
  (void)state;
  run r;
  run_parse(
      &r,
      "planar: xy\n"
      "bodies: [{name: rod, mass: 1, inertia: 1/12, position: [0.5, 0], velocity: [0, 15], angular_velocity: 30}]\n"
      "joints: [{type: revolute, between: [world, rod], at: [0, 0]}]\n"
      "simulation: {scheme: stewart-trinkle-implicit, step: 0.1, duration: 2}\n",
      NULL);
  run_finish(&r);
  const ss_solves *solves = &ss_sim_report(r.sim)->solves;
  print_message("  %ld of %ld parts, %ld iterations\n", solves->not_contracting, ss_sim_state(r.sim)->step,
                solves->outer);
  assert_true(solves->not_contracting > 0);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(positions_are_exactly_feasible),
      cmocka_unit_test(contraction_falls_with_the_step),
      cmocka_unit_test(without_contraction_the_plain_scheme_stands_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
