/* The frames, contacts and events of a page, as they grow. */
#include "io/page.h"

#include "core/arena.h"

#include <math.h>
#include <stdlib.h>

const char *const ss_page_energy_names[SS_PAGE_ENERGIES] = {"kinetic",   "potential",     "elastic",     "total",
                                                            "work",      "friction_loss", "impact_loss", "damping_loss",
                                                            "remainder", "stabilization"};
const char *const ss_page_residual_names[SS_PAGE_RESIDUALS] = {"complementarity", "penetration", "joint_drift"};

/* ---- budget: a page of a thousand bodies and a thousand frames stays below 30 MB ---- */

enum {
  MOST_FRAMES = 2000,
  MOST_POSES = 1010000,     /* 20 bytes each, 4/3 of that in base64 */
  MOST_VELOCITIES = 400000, /* 24 bytes each */
  PAGE_BYTES = 28000000,    /* without the viewer */
  POSE_BYTES = 27,          /* in base64 */
  VELOCITY_BYTES = 32,
  CONTACT_BYTES = 66,
  ELEMENT_BYTES = 28,
  MOST_ELEMENTS = 400000,
  LEAST_ELEMENTS = 25, /* per frame: one patch of 5 x 5 */
  MOST_CONTACTS = 150000,
  LEAST_PER_FRAME = 4,
  MOST_EVENTS = 20000
};

ss_page_budget ss_page_plan(int n_bodies, long steps) {
  const long bodies = n_bodies > 0 ? n_bodies : 1;
  const long by_poses = MOST_POSES / bodies > 2 ? MOST_POSES / bodies : 2;
  const long most = by_poses < MOST_FRAMES ? by_poses : MOST_FRAMES;
  const long every = steps / most + 1;
  const long frames = steps / every + 2;
  const bool velocity = frames * bodies <= MOST_VELOCITIES;
  const long used = frames * bodies * (POSE_BYTES + (velocity ? VELOCITY_BYTES : 0));
  const long left = (PAGE_BYTES - used) / CONTACT_BYTES;
  const long contacts = left < MOST_CONTACTS ? left : MOST_CONTACTS;
  const long per_frame = contacts / frames;
  const long spare = (PAGE_BYTES - used - contacts * CONTACT_BYTES) / ELEMENT_BYTES;
  const long elements = (spare < MOST_ELEMENTS ? spare : MOST_ELEMENTS) / frames;
  return (ss_page_budget){every, velocity, per_frame > LEAST_PER_FRAME ? per_frame : LEAST_PER_FRAME,
                          elements > LEAST_ELEMENTS ? elements : LEAST_ELEMENTS};
}

/* ---- growth ---- */

static bool grow(void **array, size_t element, long capacity) {
  void *grown = ss_realloc(*array, element * (size_t)(capacity > 0 ? capacity : 1));
  if (grown) *array = grown;
  return grown != NULL;
}

static bool grow_frames(ss_page *p, long capacity) {
  const size_t bodies = p->n_bodies > 0 ? (size_t)p->n_bodies : 1;
  const bool good = grow((void **)&p->time, sizeof *p->time, capacity) &&
                    grow((void **)&p->position, sizeof *p->position * 3 * bodies, capacity) &&
                    grow((void **)&p->orientation, sizeof *p->orientation * 4 * bodies, capacity) &&
                    grow((void **)&p->energy, sizeof *p->energy * SS_PAGE_ENERGIES, capacity) &&
                    grow((void **)&p->residual, sizeof *p->residual * SS_PAGE_RESIDUALS, capacity) &&
                    grow((void **)&p->contact_count, sizeof *p->contact_count, capacity) &&
                    grow((void **)&p->contact_first, sizeof *p->contact_first, capacity + 1) &&
                    grow((void **)&p->patch_first, sizeof *p->patch_first, capacity + 1) &&
                    grow((void **)&p->signals, sizeof *p->signals * (size_t)(p->n_signals + 1), capacity) &&
                    grow((void **)&p->applied, sizeof *p->applied * 6 * (size_t)(p->n_applied + 1), capacity);
  if (!good || !p->budget.velocity) return good;
  return grow((void **)&p->velocity, sizeof *p->velocity * 3 * bodies, capacity) &&
         grow((void **)&p->angular, sizeof *p->angular * 3 * bodies, capacity);
}

void ss_page_release(ss_page *p) {
  json_decref(p->model);
  json_decref(p->run);
  json_decref(p->certificate);
  json_decref(p->ledger);
  json_decref(p->solves);
  json_decref(p->timings);
  json_decref(p->signal_sets);
  ss_signals_release(&p->recorded);
  ss_free(p->signals);
  ss_free(p->applied);
  ss_free(p->patch_first);
  ss_free(p->patches);
  ss_free(p->elements);
  ss_free(p->time);
  ss_free(p->position);
  ss_free(p->orientation);
  ss_free(p->velocity);
  ss_free(p->angular);
  ss_free(p->energy);
  ss_free(p->residual);
  ss_free(p->contact_count);
  ss_free(p->contact_first);
  ss_free(p->contacts);
  ss_free(p->events);
  *p = (ss_page){0};
}

/* ---- frames ---- */

static int16_t quantise(double component) {
  const double scaled = round(component * 32767);
  return (int16_t)(scaled > 32767 ? 32767 : scaled < -32767 ? -32767 : scaled);
}

static void put_motion(ss_page *p, size_t at, const double *m) {
  for (int i = 0; i < 3; i++) p->position[3 * at + (size_t)i] = (float)m[i];
  for (int i = 0; i < 4; i++) p->orientation[4 * at + (size_t)i] = quantise(m[3 + i]);
  if (!p->budget.velocity) return;
  for (int i = 0; i < 3; i++) p->velocity[3 * at + (size_t)i] = (float)m[7 + i];
  for (int i = 0; i < 3; i++) p->angular[3 * at + (size_t)i] = (float)m[10 + i];
}

ss_status ss_page_add_frame(ss_page *p, double t, const double *motion, const double energy[SS_PAGE_ENERGIES],
                            const double residual[SS_PAGE_RESIDUALS], ss_error *error) {
  if (p->n_frames == p->frame_capacity) {
    const long capacity = p->frame_capacity ? 2 * p->frame_capacity : 64;
    if (!grow_frames(p, capacity)) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    p->frame_capacity = capacity;
  }
  const size_t frame = (size_t)p->n_frames++;
  p->time[frame] = t;
  for (int body = 0; body < p->n_bodies; body++)
    put_motion(p, frame * (size_t)p->n_bodies + (size_t)body, motion + (size_t)body * SS_MOTION_COLUMNS);
  for (size_t i = 0; i < SS_PAGE_ENERGIES; i++) p->energy[frame * SS_PAGE_ENERGIES + i] = (float)energy[i];
  for (size_t i = 0; i < SS_PAGE_RESIDUALS; i++) p->residual[frame * SS_PAGE_RESIDUALS + i] = (float)residual[i];
  p->contact_count[frame] = 0;
  p->contact_first[frame] = p->contact_first[frame + 1] = (uint32_t)p->n_contacts;
  p->patch_first[frame] = p->patch_first[frame + 1] = (uint32_t)p->n_patches;
  for (size_t i = 0; i < (size_t)p->n_signals; i++) p->signals[frame * (size_t)p->n_signals + i] = 0;
  for (size_t i = 0; i < 6 * (size_t)p->n_applied; i++) p->applied[frame * 6 * (size_t)p->n_applied + i] = 0;
  return SS_OK;
}

void ss_page_set_applied(ss_page *p, const double *applied) {
  const size_t n = 6 * (size_t)p->n_applied;
  for (size_t i = 0; i < n; i++) p->applied[(size_t)(p->n_frames - 1) * n + i] = (float)applied[i];
}

/* ---- outputs and joints ---- */

bool ss_page_plan_signals(ss_page *p, const ss_signal_set *sets, int n_sets, int n) {
  if (n_sets == 0) return true;
  p->signal_sets = json_array();
  for (int i = 0; p->signal_sets && i < n_sets; i++) {
    if (n > SS_PAGE_SIGNALS && sets[i].owner) break; /* outputs come first */
    json_t *set = sets[i].owner ? json_pack("{s:s, s:s, s:i}", "owner", sets[i].owner, "name", sets[i].name, "width",
                                            sets[i].width)
                                : json_pack("{s:n, s:s, s:i}", "owner", "name", sets[i].name, "width", sets[i].width);
    if (json_array_append_new(p->signal_sets, set)) return false;
    p->n_signals += sets[i].width;
  }
  return p->signal_sets != NULL;
}

void ss_page_set_signals(ss_page *p, const double *signals) {
  const size_t n = (size_t)p->n_signals;
  for (size_t i = 0; i < n; i++) p->signals[(size_t)(p->n_frames - 1) * n + i] = (float)signals[i];
}

/* ---- patches ---- */

ss_status ss_page_add_patch(ss_page *p, const ss_page_patch *patch, const ss_page_element *elements, long n,
                            ss_error *error) {
  const uint32_t first = p->patch_first[p->n_frames - 1];
  const long before = p->n_patches > (long)first ? p->n_elements - (long)p->patches[first].first : 0;
  if (before + n > p->budget.elements) {
    p->patches_cut = true;
    return SS_OK;
  }
  if (p->n_patches == p->patch_capacity) {
    const long capacity = 2 * p->n_patches + 64;
    if (!grow((void **)&p->patches, sizeof *p->patches, capacity))
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    p->patch_capacity = capacity;
  }
  if (p->n_elements + n > p->element_capacity) {
    const long capacity = 2 * (p->n_elements + n) + 64;
    if (!grow((void **)&p->elements, sizeof *p->elements, capacity))
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    p->element_capacity = capacity;
  }
  p->patches[p->n_patches] = *patch;
  p->patches[p->n_patches++].first = (uint32_t)p->n_elements;
  for (long i = 0; i < n; i++) p->elements[p->n_elements++] = elements[i];
  p->patch_first[p->n_frames] = (uint32_t)p->n_patches;
  return SS_OK;
}

/* ---- contacts and events ---- */

static double strength(const ss_frame_contact *c) {
  double square = 0;
  for (int i = 0; i < 3; i++) square += c->force[i] * c->force[i];
  return square;
}

static int by_strength(const void *a, const void *b) {
  const double x = strength(a), y = strength(b);
  return (x < y) - (x > y);
}

ss_status ss_page_add_contacts(ss_page *p, ss_frame_contact *contacts, long n, ss_error *error) {
  long kept = n;
  if (n > p->budget.per_frame) {
    qsort(contacts, (size_t)n, sizeof *contacts, by_strength);
    kept = p->budget.per_frame;
    p->contacts_cut = true;
  }
  if (p->n_contacts + kept > p->contact_capacity) {
    const long capacity = 2 * (p->n_contacts + kept) + 64;
    if (!grow((void **)&p->contacts, sizeof *p->contacts, capacity))
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    p->contact_capacity = capacity;
  }
  for (long i = 0; i < kept; i++) p->contacts[p->n_contacts++] = contacts[i];
  p->contact_count[p->n_frames - 1] = (uint32_t)n;
  p->contact_first[p->n_frames] = (uint32_t)p->n_contacts;
  return SS_OK;
}

ss_status ss_page_add_event(ss_page *p, const ss_event *event, ss_error *error) {
  p->events_total++;
  if (p->n_events == MOST_EVENTS) return SS_OK;
  if (p->n_events == p->event_capacity) {
    const long capacity = p->event_capacity ? 2 * p->event_capacity : 64;
    if (!grow((void **)&p->events, sizeof *p->events, capacity))
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    p->event_capacity = capacity;
  }
  p->events[p->n_events++] = (ss_page_event){event->t, (unsigned char)event->kind, {event->body[0], event->body[1]}};
  return SS_OK;
}
