/* What contacts have given to the bodies over a whole step, impacts and all of its parts together: recorded impulses and
 * gravity must add up to the change of momentum. A contact may have bounced and be gone when the step ends. */
#include "contact/contact.h"

#include <stdlib.h>

static int by_key(const void *left, const void *right) {
  const ss_dealt *a = left, *b = right;
  if (a->key != b->key) return a->key < b->key ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

/* Entries of the same contact become one: impulses add, the rest is the latest. */
static void merge(ss_sim *sim) {
  if (sim->dealt.n == 0) return;
  qsort(sim->dealt.list, (size_t)sim->dealt.n, sizeof *sim->dealt.list, by_key);
  int n = 0;
  for (int i = 0; i < sim->dealt.n; i++) {
    ss_dealt *last = n ? &sim->dealt.list[n - 1] : NULL;
    if (!last || last->key != sim->dealt.list[i].key) {
      sim->dealt.list[n++] = sim->dealt.list[i];
      continue;
    }
    const ss_vec3 sum = v3_add(last->report.impulse, sim->dealt.list[i].report.impulse);
    *last = sim->dealt.list[i];
    last->report.impulse = sum;
  }
  sim->dealt.n = n;
  for (int i = 0; i < n; i++) sim->dealt.list[i].order = i;
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
  const int before = sim->dealt.n;
  const ss_status status = ss_grow((void **)&sim->dealt.list, &sim->dealt.capacity, before + sim->trial.n_contacts,
                                   sizeof *sim->dealt.list, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0 || c->limit || v3_dot(c->pressed, c->pressed) == 0) continue;
    ss_dealt *dealt = &sim->dealt.list[sim->dealt.n];
    *dealt = (ss_dealt){.key = c->key, .order = sim->dealt.n, .report = tell(c)};
    dealt->report.impulse = v3_scale(fraction, c->pressed);
    sim->dealt.n++;
  }
  if (before) merge(sim);
  return SS_OK;
}

void ss_deal_more(ss_sim *sim, uint64_t key, ss_vec3 impulse) {
  for (int i = sim->dealt.n - 1; i >= 0; i--) {
    if (sim->dealt.list[i].key != key) continue;
    sim->dealt.list[i].report.impulse = v3_add(sim->dealt.list[i].report.impulse, impulse);
    return;
  }
}

ss_status ss_deal_also(ss_sim *sim, const ss_contact *c, ss_vec3 impulse, ss_error *error) {
  for (int i = sim->dealt.n - 1; i >= 0; i--)
    if (sim->dealt.list[i].key == c->key) {
      sim->dealt.list[i].report.impulse = v3_add(sim->dealt.list[i].report.impulse, impulse);
      return SS_OK;
    }
  const ss_status status =
      ss_grow((void **)&sim->dealt.list, &sim->dealt.capacity, sim->dealt.n + 1, sizeof *sim->dealt.list, error);
  if (status != SS_OK) return status;
  sim->dealt.list[sim->dealt.n] = (ss_dealt){.key = c->key, .order = sim->dealt.n, .report = tell(c)};
  sim->dealt.list[sim->dealt.n++].report.impulse = impulse;
  return SS_OK;
}

void ss_deal_begin(ss_sim *sim) {
  sim->dealt.n = 0;
  sim->dealt.done = false;
}

/* Its entry's number after the step; -1: none. */
static int find(const ss_sim *sim, uint64_t key) {
  const ss_dealt *dealt = ss_key_find(sim->dealt.list, sim->dealt.n, sizeof *sim->dealt.list, key);
  return dealt ? (int)(dealt - sim->dealt.list) : -1;
}

void ss_deal_end(ss_sim *sim) {
  merge(sim);
  for (int i = 0; i < sim->dealt.n; i++) sim->dealt.list[i].gone = true;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const int dealt = sim->trial.contacts[i].active ? find(sim, sim->trial.contacts[i].key) : -1;
    if (dealt >= 0) sim->dealt.list[dealt].gone = false;
  }
  sim->dealt.done = true;
}

/* Within a step, to observers of its problems: the contacts of the problem. After it also those that are gone. */
int ss_sim_contacts(const ss_sim *sim, ss_contact_report *out, int capacity) {
  int n = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!c->active || c->limit) continue;
    const int dealt = sim->dealt.done ? find(sim, c->key) : -1;
    if (n < capacity) out[n] = tell(c);
    if (n < capacity && sim->dealt.done)
      out[n].impulse = dealt >= 0 ? sim->dealt.list[dealt].report.impulse : v3(0, 0, 0);
    n++;
  }
  for (int i = 0; sim->dealt.done && i < sim->dealt.n; i++) {
    if (!sim->dealt.list[i].gone) continue;
    if (n < capacity) out[n] = sim->dealt.list[i].report;
    n++;
  }
  return n;
}
