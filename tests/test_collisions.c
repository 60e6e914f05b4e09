/* Nothing gets through anything: starts at zero gap, hops shorter than a step, fast and thin bodies, many at once. */
#include "scene_runner.h"

static double lowest_gap(run *r, double radius) {
  double lowest = HUGE_VAL;
  while (!ss_sim_done(r->sim)) {
    run_step(r);
    lowest = fmin(lowest, run_position(r, 0).z - radius);
  }
  run_check(r);
  return lowest;
}

static const char ball_on_floor[] = "name: Ball\n"
                                    "parameters: {gap: 0, vz: 0, vx: 0, e: 0, mu: 0}\n"
                                    "materials: [{name: default, friction: mu, restitution: e}]\n"
                                    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                                    "bodies:\n"
                                    "  - {name: ball, mass: 1, position: [0, 0, 0.1 + gap], velocity: [vx, 0, vz], "
                                    "shapes: [{type: sphere, radius: 0.1}]}\n"
                                    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n";

/* A hop from the floor that is over before the step is, under every scheme. */
static void short_hop_comes_down_on_the_floor(void **state) {
  (void)state;
  const char *const speeds[] = {"vz=1e-6", "vz=0.001", "vz=0.03", "vz=0.049", "vz=0.06", "vz=0.099", "vz=0.5"};
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++)
    for (size_t i = 0; scheme_is_rigid(row->name) && i < sizeof speeds / sizeof *speeds; i++)
      for (int k = 0; k < 3; k++) {
        run r;
        const char *const gaps[] = {"gap=0", "gap=1e-17", "gap=-1e-6"};
        run_parse(&r, ball_on_floor, &(change){.scheme = row->name, .set = {speeds[i], gaps[k]}});
        const double lowest = lowest_gap(&r, 0.1);
        if (lowest < (k == 2 ? -1.001e-6 : -1e-13))
          print_error("%s %s %s: %g\n", row->name, speeds[i], gaps[k], lowest);
        check_below(-lowest, k == 2 ? 1.001e-6 : 1e-13, "depth of the ball");
        run_close(&r);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_hop_comes_down_on_the_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
