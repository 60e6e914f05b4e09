/* Break-away of spin and rolling: moments of torsion and rolling resistance reach their limits, and the motions that they have held
 * begin. Located like the start of slip (event/transition.c, Release).
 *
 *     box            every moment has a limit of its own: spin and rolling begin one by one, each where its own moment reaches the limit
 *     other sets S   forces and moments have one limit together: what is held lets go at once where |z|_S = mu z_n, and the motions that
 *                    then begin are those that the loads drive
 *
 * In the second case motions begin with very different speeds: a disc that is twisted hard and pulled weakly slips a million times
 * more slowly than it spins. It slips nevertheless, from the first moment on. So once the set as a whole has let go, a motion counts as
 * held only where its speed vanishes beside the others', not beside the speeds of the scene. */
#include "step/step.h"

enum { MOMENTS = 1U << SS_MOTION_SPIN | 1U << SS_MOTION_ROLL };

static bool is_box(const ss_sim *sim, const ss_contact *c) { return ss_friction_cone(sim, c) == SS_CONE_PYRAMID; }

/* Size of a friction vector's part that belongs to each motion. */
static void sizes(const ss_contact *c, const double *x, double out[SS_MOTIONS]) {
  for (int m = 0; m < SS_MOTIONS; m++) out[m] = 0;
  for (int k = 1; k < c->n_rows; k++) out[c->motion[k]] = hypot(out[c->motion[k]], x[k]);
}

void ss_note_held(const ss_sim *sim, ss_contact *c, const double *w) {
  static const double beside = 1e-9;
  const bool presses = c->impulse[0] > 0;
  double speed[SS_MOTIONS], whole = 0;
  sizes(c, w, speed);
  for (int m = 0; m < SS_MOTIONS; m++) whole = hypot(whole, speed[m]);
  double still = fmax(1e-9 * sim->part.speed_bound, c->was_held ? c->blur : 0);
  if (!is_box(sim, c) && whole > still) still = fmax(beside * whole, c->blur);
  const unsigned motions = ss_contact_motions(c);
  c->held = 0;
  for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++) {
    if (motions >> m & 1 && (presses || c->was_held >> m & 1) && speed[m] <= still) c->held |= 1U << m;
    c->moment_ratio[m] = is_box(sim, c) ? 0 : c->ratio;
  }
  if (c->n_forces > 1) c->stuck = (presses || c->was_stuck) && speed[SS_MOTION_SLIP] <= still;
  for (int k = c->n_forces; k < c->n_rows && presses && is_box(sim, c); k++) {
    double *ratio = &c->moment_ratio[c->motion[k]];
    *ratio = fmax(*ratio, fabs(c->impulse[k]) / (c->mu * c->impulse[0]));
  }
}

bool ss_moments_let_go(const ss_contact *c, double limit) {
  if (c->was_held & ~c->held & MOMENTS) return true;
  for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++)
    if (c->was_held >> m & 1 && c->moment_ratio[m] >= limit) return true;
  return false;
}

double ss_moments_foreseen(const ss_sim *sim, const ss_contact *c, double h) {
  const bool slip_held = c->n_forces < 2 || (c->was_stuck && c->stuck), rises = c->ratio > c->last_ratio;
  const unsigned held = c->held & c->was_held;
  double first = h;
  if (!is_box(sim, c)) {
    const bool all = slip_held && held == (ss_contact_motions(c) & MOMENTS);
    return all && rises ? ss_crossing(c->last_ratio, c->last_when, c->ratio, c->when, 1, h) : h;
  }
  if (c->n_forces > 1 && slip_held && rises) first = ss_crossing(c->last_ratio, c->last_when, c->ratio, c->when, 1, h);
  for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++)
    if (held >> m & 1 && c->moment_ratio[m] > c->last_moment_ratio[m])
      first = fmin(first, ss_crossing(c->last_moment_ratio[m], c->last_when, c->moment_ratio[m], c->when, 1, h));
  return first;
}
