/* Gentle landings: contacts that close so slowly that locating them is worth nothing.
 *
 * In a heap that comes to rest most collisions are slower than what gravity makes of a hundredth of the step: a foot that an
 * impact elsewhere has lifted, a ball that the others let down. Each of them located would end a part, for all bodies,
 * with an impact and the rest of the step to be solved anew, dozens of times per step. Instead the part's own problem lets
 * them land. A contact with gap Phi that approaches at v = -n.v is held by n.v+ >= u, with
 *
 *     u = max(0, p),    Phi + h [(1-gamma) n.v + gamma p] = 0
 *
 * so that at the end of the part it neither approaches nor overlaps; what stays open (at most v h/2) closes in the next part.
 * Its impulse acts while n.va = (1-alpha) n.v + alpha u <= 0: it takes energy, and never gives any. Positions err by less
 * than v h.
 *
 * v is below g h/2: what is not returned then are bounces that take 2 e v/(g (1-e)) <= h, all of them together; with e above 1/2
 * the speed is lower by (1-e)/e. Where few contacts are closed or have collided in the step,
 * everything is located: single bodies come down as exactly as ever. So do runs with a tolerance or with sensitivities, and
 * bodies without gravity, which nothing drives together.
 *
 * A blow goes through a wall or a stack in dozens of collisions, microseconds one after the other, for gaps that are much smaller
 * than what landings leave open. Contacts that approach each other faster, across at most v h/16, therefore collide at once
 * (contact/active_set.c), all of them in one impact.
 *
 * With alpha = 1/2 a contact that is pressed and approaches is reflected, for ever. Steps of a crowd therefore begin with an
 * impact where closed contacts approach (ss_settles); where nothing else collides it returns nothing. */
#include "step/workspace.h"

/* Whether many contacts are closed or have collided in this step. */
static bool is_crowd(const ss_sim *sim) {
  enum { MANY = 16 };
  int busy = 0;
  for (int i = 0; i < sim->n_contacts; i++) busy += sim->contacts[i].closed || sim->contacts[i].hits > 0;
  return busy >= MANY;
}

void ss_landing_begin(ss_sim *sim) {
  static const double share = 0.5;
  const bool all_exact = sim->options.tolerance > 0 || sim->variation || !sim->locate_collisions;
  sim->landing_speed = all_exact || !is_crowd(sim) ? 0 : share * sim->h * sim->acceleration;
}

double ss_landing_speed(const ss_sim *sim, const ss_contact *c) {
  const double e = c->restitution;
  if (e >= 1 && c->hits < SS_MOST_BOUNCES) return 0;
  return sim->landing_speed * (e > 0.5 && e < 1 ? (1 - e) / e : 1);
}

bool ss_lands_gently(const ss_sim *sim, const ss_contact *c, double rate) {
  return sim->landing_speed > 0 && rate >= -ss_landing_speed(sim, c);
}

double ss_landing_offset(const ss_sim *sim, double gap, double rate, double h) {
  const double open = fmax(gap, 0) / h;
  if (rate >= 0) return open;
  const double u = sim->gamma > 0 ? fmax((-open - (1 - sim->gamma) * rate) / sim->gamma, 0) : 0;
  return fmax(-(1 - sim->alpha) * rate - sim->alpha * u, 0);
}

bool ss_settles(const ss_sim *sim, const ss_contact *c) {
  return sim->landing_speed > 0 && sim->starts && c->restitution < 1 && c->rate < -ss_gentle_speed(sim);
}

/* Those that would land after the part's end are watched as before. */
int ss_hold_landings(ss_sim *sim, double until) {
  int n = 0;
  for (int i = 0; i < sim->n_contacts; i++) {
    ss_contact *c = &sim->contacts[i];
    if (c->active || !(c->lands_at < until)) continue;
    c->active = c->lands = true;
    n++;
  }
  return n;
}
