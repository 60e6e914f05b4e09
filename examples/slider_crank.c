/* The slider-crank with clearance as a user-defined system (slider_crank.h); the same mechanism as a scene is
 * scenes/slider-crank.yaml. Prints the crank's turns and speed ten times.
 *
 *     example_slider_crank [OUT.h5 | OUT.csv] */
#include "slider_crank.h"

#include "run_system.h"

static ss_status print_crank(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)error;
  const ss_state *s = ss_sim_state(sim);
  if (s->step % 200 == 0)
    (void)printf("t = %.3f  %.6f turns  %9.4f rad/s  slider turned by %+.5f\n", s->t, s->q[0] / 6.283185307179586,
                 s->v[0], s->q[2]);
  return SS_OK;
}

int main(int argc, char **argv) {
  ss_gap_def gaps[4];
  const ss_system system = slider_crank_system(&slider_crank_of_flores, gaps);
  ss_report report;
  const ss_observer observer = {.step = print_crank};
  if (run_system(&system, &observer, argc > 1 ? argv[1] : NULL, &report)) return 1;
  (void)printf("%ld collisions, penetration %.2g m, energy %.6f J of %.6f J; %s\n", report.events[SS_COLLISION],
               report.certificate.penetration, report.energy.final, report.energy.initial,
               report.certificate.certified ? "certified" : "NOT certified");
  return report.certificate.certified ? 0 : 1;
}
