/* Narrow phase: contact points of all near pairs at the start of the step, with what is remembered of each. */
#include "contact/contact.h"

#include <string.h>

void ss_contact_remember(const ss_sim *sim, ss_contact *contact) {
  const ss_touch *touch = ss_touch_find(&sim->state, contact->key);
  if (touch) {
    contact->pressed = v3(touch->impulse[0], touch->impulse[1], touch->impulse[2]);
    const bool gave = v3_norm(contact->pressed) > 0;
    contact->closed = touch->closed;
    contact->met = !touch->closed && touch->hits == 0 && touch->hops == 0 && gave;
    contact->was_stuck = touch->stuck;
    contact->rested = touch->rests;
    contact->last_face = touch->face;
    contact->hits = touch->hits;
    contact->hops = touch->hops;
    contact->pressed_before =
        touch->closed && gave &&
        (touch->load > 0 || touch->patch >= 0 || isnan(touch->when)); /* or an impact, which has no load */
    contact->last_load = touch->load;
    contact->last_ratio = touch->ratio;
    contact->last_when = touch->when;
    contact->was_held = touch->held;
    for (int m = SS_MOTION_SPIN; m < SS_MOTIONS; m++) contact->last_moment_ratio[m] = touch->moments[m];
    contact->grip = touch->grip;
    contact->turn = v3(touch->turn[0], touch->turn[1], touch->turn[2]);
    if (touch->closed || contact->met) contact->force = v3(touch->force[0], touch->force[1], touch->force[2]);
    contact->twisted = v3(touch->moment[0], touch->moment[1], touch->moment[2]);
  }
}

static void fill_contact(const ss_sim *sim, const ss_candidate *candidate, const ss_contact_point *point,
                         const ss_pose body[2], ss_contact *contact) {
  *contact = (ss_contact){.key = ss_contact_key(candidate, point->feature),
                          .pair = candidate->pair,
                          .at = *point,
                          .law = &candidate->law,
                          .mu = candidate->law.mu,
                          .restitution = candidate->law.restitution,
                          .row = -1};
  for (int side = 0; side < 2; side++) {
    contact->shape[side] = candidate->shape[side];
    contact->body[side] = sim->model->shapes[candidate->shape[side]].body;
  }
  contact->rate = ss_contact_rate(sim->model, contact, point, &body[0], &body[1], sim->state.v);
  ss_contact_remember(sim, contact);
}

static ss_status reserve_contacts(ss_sim *sim, int n, ss_error *error) {
  ss_trial *t = &sim->trial;
  return ss_grow((void **)&t->contacts, &t->contact_capacity, n, sizeof *t->contacts, error);
}

/* Compliant schemes: the patch of the last contact. */
static ss_status attach_patch(ss_sim *sim, ss_error *error) {
  ss_contact *c = &sim->trial.contacts[sim->trial.n_contacts - 1];
  return ss_patch_attach(sim, c, ss_touch_find(&sim->state, c->key), error);
}

static ss_status add_contact(ss_sim *sim, const ss_candidate *candidate, const ss_contact_point *point,
                             const ss_pose body[2], ss_error *error) {
  const ss_status status = reserve_contacts(sim, sim->trial.n_contacts + 1, error);
  if (status != SS_OK) return status;
  fill_contact(sim, candidate, point, body, &sim->trial.contacts[sim->trial.n_contacts++]);
  return sim->scheme->compliant ? attach_patch(sim, error) : SS_OK;
}

/* Whether two points have the same place in the plane. */
static bool same_within(const ss_model *model, ss_vec3 a, ss_vec3 b) {
  const ss_vec3 d = v3_sub(a, b);
  return v3_norm(v3_axpy(d, -v3_dot(d, model->plane_normal), model->plane_normal)) <= 1e-9 * model->length;
}

/* In a planar scene features that differ only across the plane (the two ends of a box's edge) are one contact: the first
 * of them is kept. Both points count: corners above each other have the same one on the floor. Returns how many are
 * left. */
static int merge_across_plane(const ss_model *model, ss_contact_point *points, int n) {
  int kept = 0;
  for (int i = 0; i < n; i++) {
    bool seen = false;
    for (int k = 0; k < kept && !seen; k++)
      seen = same_within(model, points[i].point_a, points[k].point_a) &&
             same_within(model, points[i].point_b, points[k].point_b) &&
             v3_norm(v3_sub(points[i].normal, points[k].normal)) <= 1e-9;
    if (!seen) points[kept++] = points[i];
  }
  return kept;
}

/* Makes room for what is going to be found here, unless that is known already. */
static ss_status begin_search(ss_sim *sim, int n_pairs, double reach, bool *known, ss_error *error) {
  ss_found *found = &sim->search.found;
  const size_t size = sizeof(double) * (size_t)sim->model->n_q;
  *known = found->n_pairs > 0 && found->reach == reach && memcmp(found->q, sim->state.q, size) == 0;
  if (*known) return SS_OK;
  found->reach = reach;
  ss_status status = ss_grow((void **)&found->q, &found->q_capacity, sim->model->n_q, sizeof *found->q, error);
  if (status == SS_OK)
    status = ss_grow((void **)&found->pairs, &found->pair_capacity, n_pairs, sizeof *found->pairs, error);
  if (status == SS_OK) memcpy(found->q, sim->state.q, size);
  return status;
}

/* Spheres and points are as fast as a look at what is around them. */
static bool is_costly(const ss_shape *a, const ss_shape *b) {
  return a->type > SS_SHAPE_HALF_SPACE && b->type > SS_SHAPE_HALF_SPACE;
}

/* ---- pairs that are set aside ----
 *
 * They are near enough for the boxes, which are grown by the largest speed of the scene, but not for their own relative speed: a
 * robot's parts stay together however fast it falls, and looking for the features of two cylinders costs as much as the rest
 * of its step.
 *
 * Points of bodies a and b approach each other by at most c = |v_a - v_b| + |w_a| R_a + |w_b| R_b, R the reach of a body's shapes
 * from its centre of mass. A pair with the distance d is set aside where d exceeds what it is expected to approach. When the part
 * has been solved c is known at both ends of its path, between which it is convex: a pair for which h c reaches d may have been overlooked,
 * and the part is solved again with all pairs. */

double ss_approach_speed(const ss_model *model, const int body[2], const double *v) {
  ss_vec3 linear[2] = {{0}};
  double turns = 0;
  for (int side = 0; side < 2; side++) {
    ss_vec3 angular;
    if (body[side] < 0) continue;
    ss_twist_of(model, v, body[side], &linear[side], &angular);
    const double turn = v3_norm(angular);
    if (turn > 0) turns += turn * model->bodies[body[side]].reach; /* what does not turn may reach to infinity */
  }
  return v3_norm(v3_sub(linear[0], linear[1])) + turns;
}

double ss_body_speed(const ss_model *model, int body, const double *v) {
  if (body < 0) return 0;
  ss_vec3 linear, angular;
  ss_twist_of(model, v, body, &linear, &angular);
  const double turn = v3_norm(angular);
  return v3_norm(linear) +
         (turn != 0 ? turn * model->bodies[body].reach : 0); /* NaN stays NaN; reaches may be infinite */
}

typedef struct speed_job {
  const ss_model *model;
  const double *v;
} speed_job;

static void find_fastest(void *user, int from, int to, double *largest) {
  const speed_job *job = user;
  for (int k = from; k < to; k++) {
    const double speed = ss_body_speed(job->model, k, job->v);
    *largest = isfinite(speed) ? fmax(*largest, speed) : HUGE_VAL; /* fmax would drop a NaN */
  }
}

double ss_largest_speed_of_bodies(const ss_sim *sim, const double *v) {
  speed_job job = {sim->model, v};
  return ss_most(sim, sim->model->n_bodies, find_fastest, &job);
}

/* No point of the two bodies goes faster against the other along the path, between whose ends this is convex. */
double ss_closing_speed_of_bodies(const ss_sim *sim, const ss_contact *c) {
  if (c->limit) return ss_limit_speed(sim, c, sim->scratch.v);
  return fmax(ss_approach_speed(sim->model, c->body, sim->state.v),
              ss_approach_speed(sim->model, c->body, sim->scratch.v));
}

/* A lower bound of the distance of two boxes that were grown by `grown` together. */
static double boxes_apart(const double *a, const double *b, double grown) {
  double apart = 0;
  for (int k = 0; k < 3; k++) apart = fmax(apart, fmax(a[k] - b[3 + k], b[k] - a[3 + k]) + grown);
  return apart;
}

/* The distance of a pair that is set aside, its shapes having these poses; 0: it is not. */
static double set_aside(const ss_sim *sim, const ss_candidate *candidate, const ss_pose shape[2], double h) {
  const ss_search *s = &sim->search;
  const ss_shape *a = &sim->model->shapes[candidate->shape[0]], *b = &sim->model->shapes[candidate->shape[1]];
  const int body[2] = {a->body, b->body};
  if (s->looks_at_all || !s->bounded) return 0;
  const double expected = 1.5 * ss_approach_speed(sim->model, body, sim->state.v) + 2 * h * sim->step.acceleration;
  const double reach = h * expected + SS_NEAR * sim->model->length;
  if (!(reach < s->found.reach)) return 0;
  double distance =
      boxes_apart(s->bounds + 6 * (size_t)candidate->shape[0], s->bounds + 6 * (size_t)candidate->shape[1],
                  s->grown[a->body < 0] + s->grown[b->body < 0]);
  if (distance <= reach) distance = fmax(distance, ss_shapes_distance(a, &shape[0], b, &shape[1]));
  return distance > reach ? distance : 0;
}

bool ss_aside_may_meet(ss_sim *sim, double h) {
  ss_found *found = &sim->search.found;
  const double share = 2 * sim->trial.asked.gamma;
  bool known = false;
  for (int k = 0; k < found->n_pairs; k++) {
    const ss_found_pair *pair = &found->pairs[k];
    if (!(pair->aside > 0)) continue;
    for (int i = 0; i < sim->model->n_v && !known; i++)
      sim->scratch.v[i] = sim->state.v[i] + share * sim->trial.delta[i];
    known = true;
    const int body[2] = {sim->model->shapes[pair->shape[0]].body, sim->model->shapes[pair->shape[1]].body};
    const double fastest =
        fmax(ss_approach_speed(sim->model, body, sim->state.v), ss_approach_speed(sim->model, body, sim->scratch.v));
    if (fastest * h < pair->aside) continue;
    sim->search.looks_at_all = true;
    found->n_pairs = 0;
    return true;
  }
  return false;
}

/* ---- on threads ---- */

enum { PAIRS_AT_A_TIME = 64 };

typedef struct search_job {
  ss_sim *sim;
  const ss_candidates *list;
  double h;
} search_job;

static void poses_of(const ss_sim *sim, const ss_candidate *candidate, ss_pose body[2]) {
  for (int side = 0; side < 2; side++)
    body[side] = ss_pose_of(sim->state.q, sim->model->shapes[candidate->shape[side]].body);
}

/* Points of some candidates, to the end of the thread's list. */
static void search_pairs(void *user, int worker, int from, int to) {
  const search_job *job = user;
  const ss_sim *sim = job->sim;
  ss_found *found = &job->sim->search.found;
  ss_found_list *list = &found->list[worker];
  for (int k = from; k < to && !list->failed; k++) {
    const ss_candidate *candidate = &job->list->items[k];
    const ss_shape *a = &sim->model->shapes[candidate->shape[0]], *b = &sim->model->shapes[candidate->shape[1]];
    list->failed = ss_grow((void **)&list->points, &list->capacity, list->n + SS_PAIR_CONTACTS, sizeof *list->points,
                           NULL) != SS_OK;
    if (list->failed) return;
    ss_pose body[2];
    poses_of(sim, candidate, body);
    const ss_pose pose[2] = {ss_shape_pose(a, &body[0]), ss_shape_pose(b, &body[1])};
    ss_contact_point *points = list->points + list->n;
    const bool costly = is_costly(a, b);
    const double aside = costly ? set_aside(sim, candidate, pose, job->h) : 0;
    const bool apart = aside > 0 || (costly && ss_shapes_are_apart(a, &pose[0], b, &pose[1], found->reach));
    int n = apart ? 0 : candidate->pair->collide(a, &pose[0], b, &pose[1], found->reach, points);
    if (sim->model->planar != SS_SPATIAL && n > 1) n = merge_across_plane(sim->model, points, n);
    found->pairs[k] = (ss_found_pair){{candidate->shape[0], candidate->shape[1]}, worker, list->n, n, aside};
    list->n += n;
  }
}

/* The points of all threads in the order of the pairs. */
static ss_status join_lists(ss_found *found, int n_pairs, int threads, ss_error *error) {
  ss_found_list *all = &found->list[threads > 1 ? SS_MOST_THREADS : 0];
  int n = 0;
  for (int k = 0; k < n_pairs; k++) n += found->pairs[k].count;
  found->n_points = n;
  if (threads > 1) {
    const ss_status status = ss_grow((void **)&all->points, &all->capacity, n, sizeof *all->points, error);
    if (status != SS_OK) return status;
    n = 0;
    for (int k = 0; k < n_pairs; k++) {
      ss_found_pair *pair = &found->pairs[k];
      const ss_contact_point *from = found->list[pair->list].points;
      if (pair->count) memcpy(all->points + n, from + pair->first, sizeof *from * (size_t)pair->count);
      pair->first = n;
      n += pair->count;
    }
  }
  found->points = all->points;
  found->n_pairs = n_pairs;
  return SS_OK;
}

static ss_status search(ss_sim *sim, const ss_candidates *list, double h, ss_error *error) {
  ss_found *found = &sim->search.found;
  const int threads = ss_threads_count(sim->threads);
  search_job job = {sim, list, h};
  for (int k = 0; k < threads; k++) found->list[k].n = 0, found->list[k].failed = false;
  ss_threads_for(sim->threads, list->n, PAIRS_AT_A_TIME, search_pairs, &job);
  sim->step.looks += list->n;
  for (int k = 0; k < threads; k++)
    if (found->list[k].failed) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return join_lists(found, list->n, threads, error);
}

/* The contacts of some candidates, each in its place. */
static void fill_contacts(void *user, int worker, int from, int to) {
  (void)worker;
  const search_job *job = user;
  const ss_found *found = &job->sim->search.found;
  for (int k = from; k < to; k++) {
    const ss_found_pair *pair = &found->pairs[k];
    ss_pose body[2];
    if (pair->count) poses_of(job->sim, &job->list->items[k], body);
    for (int i = pair->first; i < pair->first + pair->count; i++)
      fill_contact(job->sim, &job->list->items[k], &found->points[i], body, &job->sim->trial.contacts[i]);
  }
}

/* Are they the pairs of last time? */
static bool same_pairs(const ss_found *found, const ss_candidates *list) {
  if (found->n_pairs != list->n) return false;
  for (int k = 0; k < list->n; k++)
    if (memcmp(found->pairs[k].shape, list->items[k].shape, sizeof list->items[k].shape) != 0) return false;
  return true;
}

/* For tests of what notices it. */
static void lose_contacts(ss_sim *sim) {
  int kept = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const int *shape = sim->trial.contacts[i].shape, *blind = sim->search.blind;
    const bool lost = (shape[0] == blind[0] && shape[1] == blind[1]) || (shape[0] == blind[1] && shape[1] == blind[0]);
    if (!lost) sim->trial.contacts[kept++] = sim->trial.contacts[i];
  }
  sim->trial.n_contacts = kept;
}

static bool has_key(const ss_trial *t, int from, int to, uint64_t key) {
  for (int i = from; i < to; i++)
    if (t->contacts[i].key == key) return true;
  return false;
}

/* Whether candidate k has this feature already: found with it, or added since. */
static bool is_listed(const ss_sim *sim, int k, uint64_t key) {
  const ss_trial *t = &sim->trial;
  const ss_found *found = &sim->search.found;
  if (sim->search.blind) return has_key(t, 0, t->n_contacts, key);
  const int first = found->pairs[k].first;
  return has_key(t, first, first + found->pairs[k].count, key) || has_key(t, found->n_points, t->n_contacts, key);
}

/* Features of one pair that are too deep at the end, and new, as they are at the start. */
static ss_status follow_back(ss_sim *sim, const ss_candidates *list, int k, const double *q_end, double deep,
                             int *added, ss_error *error) {
  const ss_candidate *candidate = &list->items[k];
  const ss_shape *a = &sim->model->shapes[candidate->shape[0]], *b = &sim->model->shapes[candidate->shape[1]];
  static const double share = 2e-4; /* of the smaller shape: what may be left for the next step to push back */
  ss_pose body[2] = {ss_pose_of(q_end, a->body), ss_pose_of(q_end, b->body)};
  ss_pose pa = ss_shape_pose(a, &body[0]), pb = ss_shape_pose(b, &body[1]);
  ss_contact_point points[SS_PAIR_CONTACTS], start;
  if (ss_shapes_are_apart(a, &pa, b, &pb, 0)) return SS_OK;
  const int n = candidate->pair->collide(a, &pa, b, &pb, 0, points);
  body[0] = ss_pose_of(sim->state.q, a->body);
  body[1] = ss_pose_of(sim->state.q, b->body);
  pa = ss_shape_pose(a, &body[0]);
  pb = ss_shape_pose(b, &body[1]);
  for (int i = 0; i < n; i++) {
    if (points[i].gap >= -deep || is_listed(sim, k, ss_contact_key(candidate, points[i].feature))) continue;
    candidate->pair->gap(a, &pa, b, &pb, points[i].feature, &start);
    /* an edge that is turned away may have any gap and any normal: nothing can be held by it */
    const bool there = start.gap >= -deep && start.gap <= sim->search.found.reach;
    if (!there || v3_dot(start.normal, points[i].normal) < 0.9) {
      sim->crowd.overlooked |= points[i].gap < -share * fmin(a->reach, b->reach);
      continue;
    }
    const ss_status status = add_contact(sim, candidate, &start, body, error);
    if (status != SS_OK) return status;
    ++*added;
  }
  return SS_OK;
}

ss_status ss_add_features(ss_sim *sim, const double *q_end, double deep, int *added, ss_error *error) {
  const ss_candidates *list = ss_near_pairs(sim);
  ss_status status = SS_OK;
  sim->crowd.overlooked = false;
  *added = 0;
  for (int k = 0; k < list->n && status == SS_OK && sim->model->planar == SS_SPATIAL; k++) {
    const ss_shape *a = &sim->model->shapes[list->items[k].shape[0]], *b = &sim->model->shapes[list->items[k].shape[1]];
    const bool smooth = a->type <= SS_SHAPE_SPHERE || b->type <= SS_SHAPE_SPHERE; /* one feature that is always there */
    if (!smooth && !a->mesh && !b->mesh) status = follow_back(sim, list, k, q_end, deep, added, error);
  }
  return status;
}

ss_status ss_narrow_phase(ss_sim *sim, double h, ss_error *error) {
  const ss_candidates *list = ss_near_pairs(sim);
  const double reach = ss_search_reach(sim, h);
  sim->trial.n_contacts = sim->trial.n_patch = 0;
  if (!same_pairs(&sim->search.found, list)) sim->search.found.n_pairs = 0;
  bool known;
  ss_status status = begin_search(sim, list->n, reach, &known, error);
  if (status == SS_OK && !known) status = search(sim, list, h, error);
  if (status == SS_OK) status = reserve_contacts(sim, sim->search.found.n_points, error);
  if (status == SS_OK) {
    search_job job = {sim, list, h};
    ss_threads_for(sim->threads, list->n, PAIRS_AT_A_TIME, fill_contacts, &job);
    if (!sim->scheme->compliant) sim->trial.n_contacts = sim->search.found.n_points;
  }
  while (status == SS_OK && sim->trial.n_contacts < sim->search.found.n_points) {
    sim->trial.n_contacts++;
    status = attach_patch(sim, error);
  }
  if (status != SS_OK) sim->search.found.n_pairs = 0;
  if (status != SS_OK) return status;
  if (sim->search.blind) lose_contacts(sim);
  if (sim->scheme->compliant) ss_patch_drop_travelling(sim);
  return sim->model->n_limits ? ss_limits_append(sim, error) : SS_OK;
}
