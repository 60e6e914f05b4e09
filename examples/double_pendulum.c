/* The double pendulum with a wall (double_pendulum.h): the order of the trapezoidal method in two sets of coordinates.
 * Errors are those of the bobs' positions at t = 2.5. */
#include "double_pendulum.h"

#include "run_system.h"

/* Of an event-driven integration to 1e-11. */
static const double exact[4] = {0.02194625756, -0.99975915189, 0.02385130951, -1.99975733727};

static ss_status measure(void *user, const ss_sim *sim, ss_error *error) {
  (void)error;
  const double *q = ss_sim_state(sim)->q;
  double sum = 0, angles[4] = {sin(q[0]), -cos(q[0]), sin(q[0]) + sin(q[1]), -cos(q[0]) - cos(q[1])};
  const double *x = ss_model_coordinates(ss_sim_model(sim)) == 4 ? q : angles;
  for (int i = 0; i < 4; i++) sum += (x[i] - exact[i]) * (x[i] - exact[i]);
  *(double *)user = sqrt(sum); /* the last one counts */
  return SS_OK;
}

static int study(const char *title, ss_system system) {
  double last = 0;
  (void)printf("%s\n", title);
  for (int k = 5; k <= 11; k += 2) {
    double distance = 0;
    ss_report report;
    const ss_observer observer = {.user = &distance, .step = measure};
    system.simulation.step = ldexp(1, -k);
    if (run_system(&system, &observer, NULL, &report) || !report.certificate.certified) return 1;
    (void)printf("  h = 2^-%-2d  error %.3e", k, distance);
    if (last > 0) (void)printf("  order %.2f", log2(last / distance) / 2);
    (void)printf("\n");
    last = distance;
  }
  return 0;
}

int main(void) {
  ss_gap_def gaps[2];
  double q0[4];
  ss_system system = pendulum_in_angles(0.1, gaps);
  if (study("angles, M(q) at the start of the step (LIT Theorem 3.3)", system)) return 1;
  system.mass_at_midpoint = true;
  if (study("angles, M(q) at the middle of the step", system)) return 1;
  return study("positions, constant M, rods as joints", pendulum_in_positions(0.1, gaps, q0));
}
