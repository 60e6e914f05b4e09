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
 * v is below a share of g h: 1/16, doubling with every second impact that the step has had, up to 1. What is not returned then
 * are bounces that take 2 e v/(g (1-e)) <= 2 h, all of them together: with e above 1/2 the speed is lower by (1-e)/e. Where few contacts are closed or have collided in the step,
 * everything is located: single bodies come down as exactly as ever. So do runs with a tolerance or with sensitivities, and
 * bodies without gravity, which nothing drives together.
 *
 * With alpha = 1/2 a contact that is pressed and approaches is reflected, for ever. Steps of a crowd therefore begin with an
 * impact, without restitution to speak of, where closed contacts approach (ss_settles). */
#include "step/workspace.h"

enum { MANY = 16, DOUBLES_EVERY = 2 };
static const double SHARE = 1. / 16;

/* Impacts that the step has had, where it is crowded: many contacts are closed or have collided in it; -1: it is not. */
static int crowd_of(const ss_sim *sim) {
  int busy = 0;
  for (int i = 0; i < sim->n_contacts; i++) busy += sim->contacts[i].closed || sim->contacts[i].hits > 0;
  return busy < MANY ? -1 : sim->impacts;
}

void ss_landing_begin(ss_sim *sim) {
  const bool all_exact = sim->options.tolerance > 0 || sim->variation || !sim->locate_collisions;
  const int crowd = all_exact ? -1 : crowd_of(sim);
  const double share = fmin(SHARE * exp2((double)crowd / DOUBLES_EVERY), 1);
  sim->landing_speed = crowd < 0 ? 0 : share * sim->h * sim->acceleration;
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
