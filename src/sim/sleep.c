/* Sleep: steps that are the same as the one before are not computed.
 *
 * An island at rest (event/crowd.c) has velocities of zero, and keeps its positions and what is remembered of its contacts to the last
 * bit. Where everything that can move rests, and did in the step before, the next step has the same problem with the same, certified
 * answer: only its time is another one. Ledger, certificate and contact reports stay as they are; observers are told of every step.
 *
 * The state is the one that computed steps would lead to, bit for bit. The scene wakes with the first step for which anything is not as
 * it was: its size, positions or velocities that were set, a pull, an applied force or torque. Scenes with joints, forces or motors do
 * not rest in that sense, and so do not sleep; nor do runs with an observer of their problems, variations or weak forms. */
#include "sim/sim.h"

#include <math.h>
#include <string.h>

static bool is_watched(const ss_sim *sim) {
  bool watched = sim->watch.variation || sim->watch.weak;
  for (int i = 0; i < sim->watch.n_observers; i++) watched |= sim->watch.observers[i].problem != NULL;
  return watched;
}

static bool is_still(const ss_sim *sim) {
  for (int i = 0; i < sim->model->n_v; i++)
    if (sim->state.v[i] != 0) return false;
  return memcmp(sim->state.q, sim->saved.state.q, sizeof(double) * (size_t)sim->model->n_q) == 0;
}

/* A step of this size need not be computed. */
static bool sleeps(const ss_sim *sim, double h) {
  static const double rounding = 1e-9; /* of the step's size: ends are multiples of it */
  return sim->crowd.asleep > 0 && fabs(h - sim->crowd.asleep) <= rounding * h && sim->dealt.done &&
         !sim->inputs.pulled && !sim->inputs.has_push_force && !is_watched(sim) && is_still(sim);
}

bool ss_sleep_on(ss_sim *sim, double end) {
  ss_state *s = &sim->state;
  if (!sleeps(sim, end - s->t)) return false;
  const double middle = s->t + (end - s->t) / 2;
  for (int i = 0; i < s->n_touch; i++)
    if (s->touch[i].rests) s->touch[i].when = middle;
  sim->saved.state.t = s->t;
  s->t = end;
  sim->crowd.slept++;
  return true;
}

void ss_sleep_begin(ss_sim *sim) {
  const ss_trial *t = &sim->trial;
  bool rests =
      sim->options.sleep && !sim->system && sim->step.starts && sim->part.end == sim->step.h && t->n_active > 0;
  for (int k = 0; k < sim->model->n_bodies && rests; k++) rests = sim->model->bodies[k].n == 0 || t->rests[k];
  for (int i = 0; i < t->n_contacts && rests; i++) rests = t->contacts[i].row < 0 || t->contacts[i].rested;
  sim->crowd.asleep = rests ? sim->step.h : 0;
  sim->crowd.slept = 0;
}
