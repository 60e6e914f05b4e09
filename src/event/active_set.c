/* Active set: which contacts the step's problem must hold (MATH section 3: {j : gap_j <= 0}, not looking ahead).
 *
 *   closed in the last step        active: it carries force until it takes off
 *   gap <= 0, approaching          collides now: an impact comes before anything else; in a crowd also across a small gap
 *                                  (event/crowd.c)
 *   gap <= 0, neither              active: it has come to rest, or starts at rest
 *   gap <= 0, separating           watched: it has just bounced; active where it has done so too often in this step:
 *                                  hops that neither end nor grow (two bodies that lift each other in turn) are then
 *                                  held by the problem itself, n.va >= 0, instead of being located one by one (where it
 *                                  approaches, it collides first: with alpha = 1/2 to hold it would be to reflect it)
 *   gap > 0                        watched: its collision, if any, is located inside the step
 *
 * Zero gap means below a tolerance at rounding level, zero speed likewise; for a contact that has collided in this step
 * already, below what gravity makes or stops within a thousandth of it: bodies would hop for ever otherwise. A scheme at position level that does not
 * locate collisions holds all contacts in reach instead: Phi/h + n.v >= 0 lets them approach (ST (3)); so do the
 * compliant schemes, in which no contact collides in an instant, and the rest of a step that had too many parts. */
#include "step/step.h"

enum { MOST_HOPS = 2 };

static bool hops_on(const ss_contact *c) { return c->hops >= MOST_HOPS; }

static void note_idle(ss_sim *sim, int body) {
  const double slow = sim->step.h * sim->step.acceleration / 16;
  sim->crowd.idle[body] = ss_body_speed(sim->model, body, sim->state.v) <= slow;
}

void ss_find_idle(ss_sim *sim) { ss_each(sim, sim->model->n_bodies, note_idle); }

/* Whether a crowd's contact may rest as it is: its bodies hardly move. */
static bool is_idle(const ss_sim *sim, const ss_contact *c) {
  return sim->crowd.landing_speed > 0 && c->pair && ss_is_idle(sim, c->body[0]) && ss_is_idle(sim, c->body[1]);
}

enum { ACTIVE, HITS, SETTLES, COUNTS };

/* Decides some contacts; counts those that are active, that collide, and that are closed and collide with the start of the step. */
static void decide(void *user, int from, int to, double *counts) {
  static const double together = 1. / 16; /* of the way at the speed of landings */
  ss_sim *sim = user;
  const double gap_tolerance = ss_touch_gap(sim), speed_tolerance = sim->part.speed_tolerance;
  const bool hold_all = (sim->scheme->position_level && !ss_locates(sim, SS_EVENT_COLLISION)) || sim->step.exhausted ||
                        sim->scheme->compliant;
  for (int i = from; i < to; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    const double landing = ss_landing_speed(sim, c);
    const bool touching = c->at.gap <= gap_tolerance, near = touching || c->at.gap <= together * landing * sim->step.h;
    const bool again = c->hits > 0 || c->hops > 0;
    double gentle = again ? fmax(speed_tolerance, ss_gentle_speed(sim)) : speed_tolerance;
    if (near) gentle = fmax(gentle, landing);
    const bool hits = !hold_all && near && !c->closed && c->rate < -gentle;
    c->active = hold_all || c->closed || hops_on(c) || hits || (touching && c->rate <= gentle);
    c->touching = touching || hits;
    c->idle = is_idle(sim, c);
    counts[ACTIVE] += c->active && !c->limit; /* limits are not counted as contacts */
    counts[HITS] += hits;
    counts[SETTLES] += !hold_all && touching && c->closed && ss_settles(sim, c);
  }
}

void ss_active_set(ss_sim *sim) {
  double counts[COUNTS];
  sim->part.speed_tolerance = 1e-9 * sim->step.h * sim->step.acceleration + 1e-12 * sim->part.speed_bound;
  ss_landing_begin(sim);
  if (sim->crowd.landing_speed > 0) ss_find_idle(sim);
  ss_sums(sim, sim->trial.n_contacts, decide, sim, counts, COUNTS);
  sim->trial.n_active = (int)counts[ACTIVE];
  sim->crowd.settling = counts[HITS] == 0;
  sim->part.impact = counts[HITS] + counts[SETTLES] > 0;
}
