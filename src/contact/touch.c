/* Contact memory: what a touching contact hands to the next step. Ordered by key. */
#include "contact/contact.h"

#include <stdlib.h>

const ss_touch *ss_touch_find(const ss_state *state, uint64_t key) {
  return ss_key_find(state->touch, state->n_touch, sizeof *state->touch, key);
}

static int by_key(const void *left, const void *right) {
  const uint64_t a = ((const ss_touch *)left)->key, b = ((const ss_touch *)right)->key;
  return (a > b) - (a < b);
}

void ss_touch_sort(ss_touch *touch, int n) {
  bool sorted = true;
  for (int i = 1; i < n && sorted; i++) sorted = touch[i - 1].key <= touch[i].key;
  if (!sorted) qsort(touch, (size_t)n, sizeof *touch, by_key);
}

/* What rests, and did in the step before, keeps all that is remembered of it: forces do not drift by rounding errors, and a step that
 * is not computed (sim/sleep.c) leaves the same behind. */
bool ss_touch_keeps(const ss_sim *sim, ss_contact *c) {
  const ss_problem *p = &sim->trial.problem;
  const int body = c->body[0] >= 0 ? c->body[0] : c->body[1];
  if (!c->rested || c->row < 0 || p->h != sim->step.h || !sim->trial.rests[body]) return false;
  for (int k = 0; k < c->n_rows; k++) c->impulse[k] = p->z[c->row + k];
  memcpy(c->moment_ratio, c->last_moment_ratio, sizeof c->moment_ratio);
  c->stuck = c->was_stuck;
  c->held = c->was_held;
  c->face = c->last_face;
  c->load = c->last_load;
  c->ratio = c->last_ratio;
  c->when = sim->state.t + p->h / 2;
  c->blur = p->blur * p->unit / p->scale[c->row];
  c->opens = false;
  return true;
}

static bool rests(const ss_sim *sim, const ss_contact *c) {
  const int body = c->body[0] >= 0 ? c->body[0] : c->body[1];
  return c->row >= 0 && sim->part.asked.h == sim->step.h && sim->trial.rests[body];
}

/* What is remembered of a contact, but for its patch. */
static void remember(ss_sim *sim, int i) {
  const ss_contact *c = &sim->trial.contacts[i];
  if (c->place < 0) return;
  sim->state.touch[c->place] =
      (ss_touch){.key = c->key,
                 .hits = c->hits,
                 .hops = c->hops,
                 .closed = c->closed,
                 .stuck = c->stuck,
                 .rests = !sim->system && !c->limit && rests(sim, c),
                 .face = c->face,
                 .patch = -1,
                 .impulse = {c->pressed.x, c->pressed.y, c->pressed.z},
                 .force = {c->force.x, c->force.y, c->force.z},
                 .moment = {c->twisted.x, c->twisted.y, c->twisted.z},
                 .held = c->held,
                 .moments = {0, c->moment_ratio[SS_MOTION_SPIN], c->moment_ratio[SS_MOTION_ROLL]},
                 .load = c->load,
                 .ratio = c->ratio,
                 .when = c->when,
                 .turn = {c->turn.x, c->turn.y, c->turn.z},
                 .grip = c->grip};
}

ss_status ss_touch_store(ss_sim *sim, ss_error *error) {
  ss_state *state = &sim->state;
  ss_status status =
      ss_grow((void **)&state->touch, &state->touch_capacity, sim->trial.n_contacts, sizeof *state->touch, error);
  if (status != SS_OK) return status;
  state->n_touch = state->n_patch = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    const bool told = c->closed || c->hits > 0 || c->hops > 0 || ss_patch_lives(sim, c);
    c->place = told ? state->n_touch++ : -1;
  }
  ss_each(sim, sim->trial.n_contacts, remember);
  for (int i = 0; i < sim->trial.n_contacts && sim->scheme->compliant; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!ss_patch_lives(sim, c)) continue;
    if ((status = ss_patch_store(sim, c, &state->touch[c->place], error)) != SS_OK) return status;
  }
  ss_touch_sort(state->touch, state->n_touch);
  return SS_OK;
}
