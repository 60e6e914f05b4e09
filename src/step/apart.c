/* Clusters: bodies that may meet within the step. Each is simulated as if it were alone.
 *
 * No body goes farther in the step than `way`. Bodies whose boxes, grown by it, meet are of one cluster; the world and gaps wider
 * than that connect nothing. So a collision ends a part for its own cluster, and what is decided for a crowd (crowd.c), the units of its
 * problem and the speeds that tolerances are measured by are the cluster's own: what happens far away changes nothing, not a bit.
 * Bodies that fly free of everything are one cluster, in which nothing happens.
 *
 * A cluster is a model of its own: its bodies and the world's shapes, renumbered in the same order. A second simulation, `alone`, gets that
 * model, the state and the contact memory, takes the step, and gives them back. Where a body went farther than assumed, or a
 * cluster's step fails, the step is taken by all bodies together, from its start.
 *
 * A cluster sleeps where all of it was at rest in the last step (sim/sleep.c), nothing has been done to it, and the same bodies make it
 * up: it has the same problem with the same answer, and only the time of what is remembered changes. It wakes as soon as another body may
 * reach it within the step. The steps of `sleep: false` lead to the same bits.
 *
 * Scenes with joints, forces, systems, tolerances, observed problems and whatever else connects bodies beside contact are one cluster. */
#include "core/sets.h"
#include "step/step.h"

#include <stdlib.h>
#include <string.h>

typedef struct late_event {
  ss_event event;
  int order;
} late_event;

typedef struct ss_apart {
  ss_sim *alone;
  int present;            /* the cluster in hand, */
  ss_model model;         /* and what it is made of */
  int *shape, *own_shape; /* [n_shapes] its shapes in the scene; those of the scene, in it */
  int *by_cluster;        /* [2 n_touch] the contact memory by clusters; the cluster of each */
  int *touch_start;       /* [n_bodies + 1] */
  uint64_t *sleeper;      /* [n_bodies] the set of bodies with which each fell asleep; 0: it is awake */
  bool *asleep;           /* [n_bodies] of the clusters */
  long step;              /* after which they did, */
  double h;               /* its size, */
  int contacts;           /* and how many contacts it left behind */
  ss_touch *touch;        /* of the step's end */
  late_event *events;     /* of the step, told at its end in the order of time */
  int n_touch, n_events;  /* of these two */
  int touch_capacity, event_capacity, list_capacity;
  bool lost;  /* an event, for want of memory */
  double way; /* no body goes farther in the step */
  int closed; /* contacts in the scene at its start */
} ss_apart;

/* ---- sleepers ---- */

static uint64_t set_of(const ss_sim *sim, int cluster) {
  uint64_t hash = 14695981039346656037ULL;
  for (int i = sim->search.parts.start[cluster]; i < sim->search.parts.start[cluster + 1]; i++)
    hash = (hash ^ (uint64_t)(sim->search.parts.list[i] + 1)) * 1099511628211ULL;
  return hash ? hash : 1;
}

/* Called before the state is saved: what is saved is still that of the last step. */
static bool goes_on_sleeping(const ss_sim *sim, int cluster) {
  const ss_apart *c = sim->apart;
  const uint64_t set = set_of(sim, cluster);
  for (int i = sim->search.parts.start[cluster]; i < sim->search.parts.start[cluster + 1]; i++) {
    const int k = sim->search.parts.list[i];
    const ss_body *body = &sim->model->bodies[k];
    if (c->sleeper[k] != set) return false;
    for (int j = 7 * k; j < 7 * k + 7; j++)
      if (sim->state.q[j] != sim->saved.state.q[j]) return false;
    for (int j = body->first; j < body->first + body->n; j++)
      if (sim->state.v[j] != 0) return false;
  }
  return true;
}

static void find_sleepers(ss_sim *sim, double h) {
  static const double rounding = 1e-9;
  ss_apart *c = sim->apart;
  c->closed = 0;
  for (int i = 0; i < sim->state.n_touch; i++) c->closed += sim->state.touch[i].closed;
  const bool may = sim->options.sleep && sim->dealt.done && c->step == sim->state.step &&
                   fabs(h - c->h) <= rounding * h && c->closed >= SS_CROWD && c->contacts == sim->trial.n_contacts;
  for (int k = 0; k < sim->search.parts.count; k++) c->asleep[k] = may && goes_on_sleeping(sim, k);
}

/* ---- from the scene to a cluster, and back ---- */

static int cluster_of_key(const ss_sim *sim, uint64_t key) {
  int shape[2];
  ss_key_shapes(sim->model, key, shape);
  const int a = sim->model->shapes[shape[0]].body, b = sim->model->shapes[shape[1]].body;
  return sim->search.parts.number[a >= 0 ? a : b];
}

static ss_status sort_touches(ss_sim *sim, ss_error *error) {
  ss_apart *c = sim->apart;
  const int n = sim->state.n_touch;
  SS_TRY(SS_GROW(c->by_cluster, c->list_capacity, 2 * n, error));
  for (int i = 0; i < n; i++) c->by_cluster[n + i] = cluster_of_key(sim, sim->state.touch[i].key);
  ss_sets_sort(n, c->by_cluster + n, sim->search.parts.count, c->touch_start, c->by_cluster);
  return SS_OK;
}

static void add_shape(ss_apart *c, const ss_model *scene, int shape, int body) {
  const int own = c->model.n_shapes++;
  c->model.shapes[own] = scene->shapes[shape];
  c->model.shapes[own].body = body;
  c->shape[own] = shape;
  c->own_shape[shape] = own;
}

/* Its model and state. */
static ss_status enter(ss_sim *sim, int cluster, ss_error *error) {
  ss_apart *c = sim->apart;
  ss_sim *alone = c->alone;
  const ss_model *scene = sim->model;
  ss_model *m = &c->model;
  m->n_bodies = m->n_v = m->n_shapes = 0;
  for (int i = sim->search.parts.start[cluster]; i < sim->search.parts.start[cluster + 1]; i++) {
    const int k = sim->search.parts.list[i];
    ss_body *body = &m->bodies[m->n_bodies];
    *body = scene->bodies[k];
    body->first = m->n_v;
    ss_trial *trial;
    for (int j = 0; (trial = ss_trial_free(alone, j)); j++)
      memcpy(trial->ainv + 36 * (size_t)m->n_bodies, body->minv, sizeof body->minv);
    memcpy(alone->state.q + 7 * (size_t)m->n_bodies, sim->state.q + 7 * (size_t)k, 7 * sizeof(double));
    memcpy(alone->state.v + m->n_v, sim->state.v + scene->bodies[k].first, sizeof(double) * (size_t)body->n);
    for (int s = sim->search.parts.first_shape[k]; s < sim->search.parts.first_shape[k + 1]; s++)
      add_shape(c, scene, s, m->n_bodies);
    m->n_v += body->n;
    m->n_bodies++;
  }
  m->n_q = 7 * m->n_bodies;
  for (int s = sim->search.parts.first_shape[scene->n_bodies]; s < scene->n_shapes; s++)
    add_shape(c, scene, s, SS_WORLD);
  for (int i = 0; i < m->n_shapes; i++) alone->search.order[i] = i;
  alone->search.listed_for = 0;
  alone->search.found.n_pairs = 0;
  const int first = c->touch_start[cluster], n = c->touch_start[cluster + 1] - first;
  ss_state *state = &alone->state;
  SS_TRY(SS_GROW(state->touch, state->touch_capacity, n, error));
  alone->crowd.elsewhere = c->closed;
  for (int i = 0; i < n; i++) {
    state->touch[i] = sim->state.touch[c->by_cluster[first + i]];
    state->touch[i].key = ss_key_renumber(scene, m, c->own_shape, state->touch[i].key);
    alone->crowd.elsewhere -= state->touch[i].closed;
  }
  state->n_touch = n;
  state->t = sim->state.t;
  state->step = sim->state.step;
  return SS_OK;
}

static int in_scene(const ss_sim *sim, int cluster, int body) {
  return body < 0 ? body : sim->search.parts.list[sim->search.parts.start[cluster] + body];
}

static ss_status reserve_room(ss_sim *sim, ss_error *error) {
  ss_apart *c = sim->apart;
  const ss_sim *alone = c->alone;
  ss_trial *t = &sim->trial;
  ss_dealt_list *d = &sim->dealt;
  const int contacts = t->n_contacts + alone->trial.n_contacts, touches = c->n_touch + alone->state.n_touch;
  SS_TRY(SS_GROW(t->contacts, t->contact_capacity, contacts, error));
  SS_TRY(SS_GROW(d->list, d->capacity, d->n + alone->dealt.n, error));
  return SS_GROW(c->touch, c->touch_capacity, touches, error);
}

/* What has become of it. */
static ss_status leave(ss_sim *sim, int cluster, ss_error *error) {
  ss_apart *c = sim->apart;
  const ss_sim *alone = c->alone;
  const ss_model *scene = sim->model, *m = &c->model;
  SS_TRY(reserve_room(sim, error));
  const uint64_t set = alone->crowd.asleep > 0 ? set_of(sim, cluster) : 0;
  for (int i = 0; i < m->n_bodies; i++) {
    const int k = in_scene(sim, cluster, i);
    memcpy(sim->state.q + 7 * (size_t)k, alone->state.q + 7 * (size_t)i, 7 * sizeof(double));
    memcpy(sim->state.v + scene->bodies[k].first, alone->state.v + m->bodies[i].first,
           sizeof(double) * (size_t)m->bodies[i].n);
    c->sleeper[k] = set;
  }
  for (int i = 0; i < alone->trial.n_contacts; i++) {
    ss_contact *out = &sim->trial.contacts[sim->trial.n_contacts++];
    *out = alone->trial.contacts[i];
    out->key = ss_key_renumber(m, scene, c->shape, out->key);
    out->law = NULL; /* and rows: those of the cluster */
    out->row = -1;
    for (int side = 0; side < 2; side++) {
      out->shape[side] = c->shape[out->shape[side]];
      out->body[side] = in_scene(sim, cluster, out->body[side]);
    }
  }
  sim->trial.n_active += alone->trial.n_active;
  for (int i = 0; i < alone->dealt.n; i++) {
    ss_dealt *out = &sim->dealt.list[sim->dealt.n];
    *out = alone->dealt.list[i];
    out->key = ss_key_renumber(m, scene, c->shape, out->key);
    out->order = sim->dealt.n++;
    for (int side = 0; side < 2; side++) out->report.body[side] = in_scene(sim, cluster, out->report.body[side]);
  }
  for (int i = 0; i < alone->state.n_touch; i++) {
    ss_touch *out = &c->touch[c->n_touch++];
    *out = alone->state.touch[i];
    out->key = ss_key_renumber(m, scene, c->shape, out->key);
  }
  return SS_OK;
}

/* Contacts, impulses and memory of those who sleep stay; the others' are to come. */
static ss_status keep_sleepers(ss_sim *sim, double end, ss_error *error) {
  ss_apart *c = sim->apart;
  ss_trial *t = &sim->trial;
  ss_dealt_list *d = &sim->dealt;
  const double middle = sim->state.t + (end - sim->state.t) / 2;
  const int contacts = t->n_contacts, dealt = d->n;
  t->n_contacts = t->n_active = d->n = c->n_touch = 0;
  d->done = false;
  bool any = false;
  for (int k = 0; k < sim->search.parts.count; k++) any |= c->asleep[k];
  if (!any) return SS_OK;
  for (int i = 0; i < contacts; i++) {
    const ss_contact *contact = &t->contacts[i];
    if (!c->asleep[sim->search.parts.number[contact->body[0] >= 0 ? contact->body[0] : contact->body[1]]]) continue;
    t->n_active += contact->active;
    if (t->n_contacts++ < i) t->contacts[t->n_contacts - 1] = *contact;
  }
  for (int i = 0; i < dealt; i++) {
    if (d->list[i].gone || !c->asleep[cluster_of_key(sim, d->list[i].key)]) continue;
    d->list[d->n] = d->list[i];
    d->list[d->n].order = d->n;
    d->n++;
  }
  SS_TRY(SS_GROW(c->touch, c->touch_capacity, sim->state.n_touch, error));
  for (int i = 0; i < sim->state.n_touch; i++) {
    if (!c->asleep[cluster_of_key(sim, sim->state.touch[i].key)]) continue;
    c->touch[c->n_touch] = sim->state.touch[i];
    c->touch[c->n_touch++].when = middle;
  }
  return SS_OK;
}

/* ---- events ---- */

static void note_event(void *user, const ss_sim *alone, const ss_event *event) {
  (void)alone;
  ss_sim *sim = user;
  ss_apart *c = sim->apart;
  c->lost |= ss_grow((void **)&c->events, &c->event_capacity, c->n_events + 1, sizeof *c->events, NULL) != SS_OK;
  if (c->lost) return;
  late_event *late = &c->events[c->n_events];
  *late = (late_event){*event, c->n_events};
  c->n_events++;
  for (int side = 0; side < 2; side++) late->event.body[side] = in_scene(sim, c->present, event->body[side]);
}

static int by_time(const void *left, const void *right) {
  const late_event *a = left, *b = right;
  if (a->event.t != b->event.t) return a->event.t < b->event.t ? -1 : 1;
  return (a->order > b->order) - (a->order < b->order);
}

static void tell_events(ss_sim *sim) {
  ss_apart *c = sim->apart;
  if (c->n_events) qsort(c->events, (size_t)c->n_events, sizeof *c->events, by_time);
  for (int i = 0; i < c->n_events; i++)
    for (int k = 0; k < sim->watch.n_observers; k++) {
      const ss_observer *o = &sim->watch.observers[k];
      if (o->event) o->event(o->user, sim, &c->events[i].event);
    }
}

/* ---- the step ---- */

static void end_step(ss_sim *sim, double end, bool all_sleep) {
  ss_apart *c = sim->apart;
  ss_state *s = &sim->state;
  ss_touch *touch = s->touch;
  const int capacity = s->touch_capacity;
  ss_touch_sort(c->touch, c->n_touch);
  s->touch = c->touch, s->n_touch = c->n_touch, s->touch_capacity = c->touch_capacity;
  c->touch = touch, c->touch_capacity = capacity;
  c->h = end - s->t;
  c->step = s->step + 1;
  c->contacts = sim->trial.n_contacts;
  s->t = end;
  sim->report = c->alone->report;
  sim->clock = c->alone->clock;
  sim->watch.kept_quiet |= c->alone->watch.kept_quiet;
  sim->step = c->alone->step;
  sim->step.left = 0;
  sim->trial.problem.n = sim->trial.problem.n_blocks = sim->trial.problem.n_free = sim->trial.problem.first_contact = 0;
  sim->crowd.asleep = all_sleep ? c->h : 0;
  sim->crowd.slept = 0;
  tell_events(sim);
}

/* Whether each cluster took its step, none of its bodies going farther than assumed. */
static ss_status advance(ss_sim *sim, double end, bool *took, bool *collided, ss_error *error) {
  ss_apart *c = sim->apart;
  ss_sim *alone = c->alone;
  bool all_sleep = true;
  for (int k = 0; k < sim->search.parts.count; k++) {
    if (c->asleep[k]) continue;
    c->present = k;
    SS_TRY(enter(sim, k, error));
    ss_deal_begin(alone);
    const ss_status status = ss_step_advance(alone, end, collided, error);
    if (status == SS_ERROR_MEMORY || status == SS_ERROR_STOPPED) return status;
    if (status != SS_OK || !(alone->step.way <= c->way)) return SS_OK;
    ss_sleep_begin(alone);
    all_sleep &= alone->crowd.asleep > 0;
    SS_TRY(leave(sim, k, error));
  }
  if (c->lost) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *took = true;
  end_step(sim, end, all_sleep);
  return SS_OK;
}

static ss_status create(ss_sim *sim, ss_error *error) {
  const ss_model *m = sim->model;
  const int n = m->n_bodies, ns = m->n_shapes;
  ss_apart *c = SS_ARENA_ARRAY(sim->arena, ss_apart, 1);
  if (!c) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  c->model = *m;
  const ss_room rooms[] = {SS_ROOM(c->model.bodies, n), SS_ROOM(c->model.shapes, ns),   SS_ROOM(c->shape, ns),
                           SS_ROOM(c->own_shape, ns),   SS_ROOM(c->touch_start, n + 1), SS_ROOM(c->sleeper, n),
                           SS_ROOM(c->asleep, n)};
  SS_TRY(ss_arena_arrays(sim->arena, rooms, sizeof rooms / sizeof *rooms, error));
  c->step = -1;
  SS_TRY(ss_clusters_create(sim, error));
  sim->apart = c;
  return SS_OK;
}

/* The simulation of one cluster at a time, with room for all bodies. */
static ss_status create_alone(ss_sim *sim, ss_error *error) {
  ss_apart *c = sim->apart;
  SS_TRY(ss_sim_create(sim->model, &sim->options, &c->alone, error));
  c->alone->model = &c->model;
  c->alone->search.few_pairs = false;
  const ss_observer listener = {.user = sim, .event = note_event};
  return ss_sim_observe(c->alone, &listener, error);
}

static void lend(ss_sim *sim) {
  ss_sim *alone = sim->apart->alone;
  alone->options = sim->options;
  alone->chosen = sim->chosen;
  alone->chosen.divides = false;
  alone->report = sim->report;
  alone->clock = sim->clock;
  alone->watch.quiet = sim->watch.quiet;
  alone->watch.kept_quiet = false;
  alone->watch.stop = sim->watch.stop;
  alone->watch.stop_user = sim->watch.stop_user;
}

/* Nothing connects bodies beside contact, and nobody wants to see the problem as a whole. */
static bool may_divide(const ss_sim *sim) {
  if (!sim->chosen.divides) return false;
  bool watched = sim->watch.variation || sim->watch.weak || sim->search.blind;
  for (int i = 0; i < sim->watch.n_observers; i++) watched |= sim->watch.observers[i].problem != NULL;
  return !watched && !sim->step.stops_at_events && !sim->inputs.pulled && !sim->inputs.has_push_force;
}

bool ss_may_be_apart(const ss_sim *sim) {
  const ss_model *m = sim->model;
  bool plain = !sim->system && m->n_bodies > 1 && m->n_joints == 0 && m->n_forces == 0 && m->n_held == 0;
  for (int k = 0; k < m->n_bodies && plain; k++) plain = m->bodies[k].n > 0;
  for (int i = 0; i < m->n_overrides && plain; i++)
    plain = m->overrides[i].body[0] < 0 && m->overrides[i].body[1] < 0; /* bodies are renumbered */
  return plain && !sim->scheme->compliant && sim->options.tolerance == 0 &&
         sim->options.stabilization != SS_STABILIZATION_PROJECTION;
}

ss_status ss_apart_find(ss_sim *sim, double end, bool *several, ss_error *error) {
  *several = false;
  if (!may_divide(sim)) return SS_OK;
  if (!sim->apart) SS_TRY(create(sim, error));
  ss_apart *c = sim->apart;
  const double h = end - sim->state.t;
  sim->mechanics->begin_step(sim);
  c->way = h * (3 * sim->mechanics->largest_speed(sim, sim->state.v) + 4 * h * sim->step.acceleration);
  if (!isfinite(c->way)) return SS_OK;
  ss_clusters_find(sim, c->way);
  *several = sim->search.parts.count > 1;
  if (!*several) return SS_OK;
  if (!c->alone) SS_TRY(create_alone(sim, error));
  find_sleepers(sim, h);
  return SS_OK;
}

ss_status ss_apart_advance(ss_sim *sim, double end, bool *took, bool *collided, ss_error *error) {
  ss_apart *c = sim->apart;
  ss_sim *alone = c->alone;
  *took = c->lost = false;
  c->n_events = 0;
  lend(sim);
  alone->threads = sim->threads; /* lent, too */
  ss_status status = ss_islands_prepare(alone, error);
  if (status == SS_OK) status = sort_touches(sim, error);
  if (status == SS_OK) status = keep_sleepers(sim, end, error);
  if (status == SS_OK) status = advance(sim, end, took, collided, error);
  alone->threads = NULL;
  if (status != SS_OK || *took) return status;
  ss_step_restore(sim);
  *collided = false;
  return SS_OK;
}

void ss_apart_free(ss_apart *c) {
  if (!c) return;
  ss_sim_destroy(c->alone);
  ss_free(c->by_cluster);
  ss_free(c->touch);
  ss_free(c->events);
}
