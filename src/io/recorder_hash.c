/* A recorder that keeps nothing but a hash of the numbers that the others record: two runs of the same hash have recorded
 * the same, to the last bit. Times of the clock are not among them. */
#include "io/recorder.h"

#include "core/arena.h"
#include "core/words.h"
#include "io/frame_contacts.h"
#include "io/signals.h"
#include "compile/fingerprint.h"

#include <stickslip/system.h>

#include <string.h>

typedef struct hash_recorder {
  ss_recorder base;
  uint64_t hash, *out;
  ss_frame_contacts present;
  ss_applied_report *applied;
  int n_applied;
  ss_signals signals;
} hash_recorder;

static void take(hash_recorder *h, const double *numbers, size_t n) {
  h->hash = ss_hash_bytes(h->hash, numbers, sizeof *numbers * n);
}

static void take_contact(hash_recorder *h, const ss_frame_contact *c) {
  const double integers[4] = {c->body[0], c->body[1], c->state, c->friction};
  take(h, integers, 4);
  take(h, c->point, 3);
  take(h, c->normal, 3);
  take(h, c->force, 3);
}

static ss_status hash_row(ss_recorder *recorder, const ss_sim *sim, ss_error *error) {
  hash_recorder *h = (hash_recorder *)recorder;
  const ss_model *model = ss_sim_model(sim);
  const ss_state *state = ss_sim_state(sim);
  take(h, &state->t, 1);
  for (int body = 0; body < ss_model_bodies(model); body++) {
    double numbers[SS_MOTION_COLUMNS];
    const ss_motion motion = ss_sim_motion(sim, body);
    ss_motion_columns(&motion, numbers);
    take(h, numbers, SS_MOTION_COLUMNS);
  }
  for (int i = 0; ss_model_is_system(model) && i < ss_model_coordinates(model); i++) {
    take(h, &state->q[i], 1);
    take(h, &state->v[i], 1);
  }
  const ss_energy *e = &ss_sim_report(sim)->energy;
  const ss_certificate *c = &ss_sim_report(sim)->certificate;
  const double run[] = {e->kinetic,         e->potential,   e->elastic,      e->final,     e->work,
                        e->friction_loss,   e->impact_loss, e->damping_loss, e->remainder, e->stabilization,
                        c->complementarity, c->penetration, c->joint_drift};
  take(h, run, sizeof run / sizeof *run);
  (void)ss_sim_applied(sim, h->applied, h->n_applied);
  for (int i = 0; i < h->n_applied; i++) {
    const ss_vec3 f = h->applied[i].force, m = h->applied[i].torque;
    const double numbers[6] = {f.x, f.y, f.z, m.x, m.y, m.z};
    take(h, numbers, 6);
  }
  if (h->signals.n > 0) SS_TRY(ss_signals_read(&h->signals, sim, error));
  if (h->signals.n > 0) take(h, h->signals.values, (size_t)h->signals.n);
  const ss_status status = ss_frame_contacts_collect(&h->present, sim, error);
  for (int i = 0; !status && i < h->present.n; i++) take_contact(h, &h->present.contacts[i]);
  return status;
}

static ss_status hash_event(ss_recorder *recorder, const ss_sim *sim, const ss_event *event, ss_error *error) {
  hash_recorder *h = (hash_recorder *)recorder;
  const double numbers[5] = {event->t, event->kind, event->body[0], event->body[1], event->energy_created};
  take(h, numbers, 5);
  return ss_frame_contacts_event(&h->present, sim, event, error);
}

static ss_status hash_finish(ss_recorder *recorder, const ss_sim *sim, bool complete, ss_error *error) {
  (void)sim;
  (void)complete;
  (void)error;
  const hash_recorder *h = (const hash_recorder *)recorder;
  *h->out = h->hash;
  return SS_OK;
}

static void hash_release(ss_recorder *recorder) {
  hash_recorder *h = (hash_recorder *)recorder;
  ss_frame_contacts_release(&h->present);
  ss_signals_release(&h->signals);
  ss_free(h->applied);
  ss_free(h);
}

static const ss_recorder_kind hash_kind = {hash_row, hash_event, hash_finish, hash_release};

ss_status ss_recorder_open_hash(const ss_sim *sim, long every, uint64_t *hash, ss_recorder **out, ss_error *error) {
  *out = NULL;
  if (every < 1) return ss_fail(error, SS_ERROR_INPUT, "a recorder needs every >= 1, got %ld", every);
  hash_recorder *h = ss_alloc(sizeof *h);
  const int n = ss_sim_applied(sim, NULL, 0);
  ss_applied_report *applied = h ? ss_alloc(sizeof *applied * (size_t)(n + 1)) : NULL;
  if (!applied) {
    ss_free(h);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  *h = (hash_recorder){.base = {.kind = &hash_kind, .every = every},
                       .hash = ss_hash_start,
                       .out = hash,
                       .applied = applied,
                       .n_applied = n};
  const ss_status status = ss_signals_create(&h->signals, ss_sim_model(sim))
                               ? ss_recorder_start(&h->base, sim, error)
                               : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (status)
    ss_recorder_discard(&h->base);
  else
    *out = &h->base;
  return status;
}
