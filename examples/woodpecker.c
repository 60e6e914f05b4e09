/* The woodpecker toy as a user-defined system (woodpecker.h). Prints period and drop of every peck.
 *
 *     example_woodpecker [OUT.h5 | OUT.csv]
 *     stickslip plot OUT.h5 --y phi_M.q --y phi_S.q -o angles.svg
 *     stickslip plot OUT.h5 --x phi_S.q --y phi_S.v -o orbit.svg */
#include "woodpecker.h"

#include "run_system.h"

typedef struct pecks {
  double t, y; /* of the last one */
  long n;
} pecks;

static void note_peck(void *user, const ss_sim *sim, const ss_event *event) {
  pecks *p = user;
  if (event->kind != SS_COLLISION || event->body[0] != 0) return; /* gap 0 is the beak */
  const double y = ss_sim_state(sim)->q[0];
  if (p->n++)
    (void)printf("%4ld  t = %.6f  period %.6f s  drop %.4f mm\n", p->n, event->t, event->t - p->t, 1e3 * (p->y - y));
  p->t = event->t;
  p->y = y;
}

int main(int argc, char **argv) {
  ss_gap_def gaps[3];
  const ss_system system = woodpecker_system(&woodpecker_of_glocker, gaps);
  pecks p = {0};
  ss_report report;
  const ss_observer observer = {.user = &p, .step = ignore_step, .event = note_peck};
  if (run_system(&system, &observer, argc > 1 ? argv[1] : NULL, &report)) return 1;
  (void)printf("friction took %.4g J, impacts %.4g J; %s\n", report.energy.friction_loss, report.energy.impact_loss,
               report.certificate.certified ? "certified" : "NOT certified");
  return report.certificate.certified && p.n > 5 ? 0 : 1;
}
