/* What contacts have given to the bodies over a whole step, impacts and all of its parts together: recorded impulses and
 * gravity must add up to the change of momentum. A contact may have bounced and be gone when the step ends. */
#include "step/workspace.h"

#include <stdlib.h>

static int by_key(const void *left, const void *right) {
  const ss_dealt *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* Entries of the same contact become one: impulses add, the rest is the latest. */
static void merge(ss_sim *sim) {
  if (sim->n_dealt == 0) return;
  qsort(sim->dealt, (size_t)sim->n_dealt, sizeof *sim->dealt, by_key);
  int n = 0;
  for (int i = 0; i < sim->n_dealt; i++) {
    ss_dealt *last = n ? &sim->dealt[n - 1] : NULL;
    if (!last || last->key != sim->dealt[i].key) {
      sim->dealt[n++] = sim->dealt[i];
      continue;
    }
    const ss_vec3 sum = v3_add(last->report.impulse, sim->dealt[i].report.impulse);
    *last = sim->dealt[i];
    last->report.impulse = sum;
  }
  sim->n_dealt = n;
  for (int i = 0; i < n; i++) sim->dealt[i].order = i;
}

static ss_contact_report tell(const ss_contact *c) {
  return (ss_contact_report){{c->body[0], c->body[1]},
                             v3_scale(0.5, v3_add(c->at.point_a, c->at.point_b)),
                             c->at.normal,
                             c->at.gap,
                             c->pressed,
                             c->stuck,
                             c->mu,
                             c->patch ? c->direction[1] : v3(0, 0, 0)};
}

ss_status ss_deal(ss_sim *sim, double fraction, ss_error *error) {
  const int before = sim->n_dealt;
  const ss_status status =
      ss_grow((void **)&sim->dealt, &sim->dealt_capacity, before + sim->n_contacts, sizeof *sim->dealt, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (c->row < 0 || c->limit || v3_dot(c->pressed, c->pressed) == 0) continue;
    ss_dealt *dealt = &sim->dealt[sim->n_dealt];
    *dealt = (ss_dealt){c->key, sim->n_dealt, false, tell(c)};
    dealt->report.impulse = v3_scale(fraction, c->pressed);
    sim->n_dealt++;
  }
  if (before) merge(sim);
  return SS_OK;
}

void ss_deal_more(ss_sim *sim, uint64_t key, ss_vec3 impulse) {
  for (int i = sim->n_dealt - 1; i >= 0; i--) {
    if (sim->dealt[i].key != key) continue;
    sim->dealt[i].report.impulse = v3_add(sim->dealt[i].report.impulse, impulse);
    return;
  }
}

ss_status ss_deal_also(ss_sim *sim, const ss_contact *c, ss_vec3 impulse, ss_error *error) {
  for (int i = sim->n_dealt - 1; i >= 0; i--)
    if (sim->dealt[i].key == c->key) {
      sim->dealt[i].report.impulse = v3_add(sim->dealt[i].report.impulse, impulse);
      return SS_OK;
    }
  const ss_status status =
      ss_grow((void **)&sim->dealt, &sim->dealt_capacity, sim->n_dealt + 1, sizeof *sim->dealt, error);
  if (status != SS_OK) return status;
  sim->dealt[sim->n_dealt] = (ss_dealt){c->key, sim->n_dealt, false, tell(c)};
  sim->dealt[sim->n_dealt++].report.impulse = impulse;
  return SS_OK;
}

void ss_deal_begin(ss_sim *sim) {
  sim->n_dealt = 0;
  sim->all_dealt = false;
}

/* Its entry's number after the step; -1: none. */
static int find(const ss_sim *sim, uint64_t key) {
  const ss_dealt *dealt = ss_key_find(sim->dealt, sim->n_dealt, sizeof *sim->dealt, key);
  return dealt ? (int)(dealt - sim->dealt) : -1;
}

void ss_deal_end(ss_sim *sim) {
  merge(sim);
  for (int i = 0; i < sim->n_dealt; i++) sim->dealt[i].gone = true;
  for (int i = 0; i < sim->n_contacts; i++) {
    const int dealt = sim->contacts[i].active ? find(sim, sim->contacts[i].key) : -1;
    if (dealt >= 0) sim->dealt[dealt].gone = false;
  }
  sim->all_dealt = true;
}

/* Within a step, to observers of its problems: the contacts of the problem. After it also those that are gone. */
int ss_sim_contacts(const ss_sim *sim, ss_contact_report *out, int capacity) {
  int n = 0;
  for (int i = 0; i < sim->n_contacts; i++) {
    const ss_contact *c = &sim->contacts[i];
    if (!c->active || c->limit) continue;
    const int dealt = sim->all_dealt ? find(sim, c->key) : -1;
    if (n < capacity) out[n] = tell(c);
    if (n < capacity && sim->all_dealt) out[n].impulse = dealt >= 0 ? sim->dealt[dealt].report.impulse : v3(0, 0, 0);
    n++;
  }
  for (int i = 0; sim->all_dealt && i < sim->n_dealt; i++) {
    if (!sim->dealt[i].gone) continue;
    if (n < capacity) out[n] = sim->dealt[i].report;
    n++;
  }
  return n;
}
