/* Narrow phase: contact points of all near pairs at the start of the step, with what is remembered of each. */
#include "step/workspace.h"

#include <string.h>

void ss_contact_remember(const ss_sim *sim, ss_contact *contact) {
  const ss_touch *touch = ss_touch_find(&sim->state, contact->key);
  if (touch) {
    contact->closed = touch->closed;
    contact->met = !touch->closed && touch->hits == 0 && touch->hops == 0 &&
                   (touch->impulse[0] != 0 || touch->impulse[1] != 0 || touch->impulse[2] != 0);
    contact->was_stuck = touch->stuck;
    contact->last_face = touch->face;
    contact->hits = touch->hits;
    contact->hops = touch->hops;
    contact->pressed_before =
        touch->closed && (touch->impulse[0] != 0 || touch->impulse[1] != 0 || touch->impulse[2] != 0) &&
        (touch->load > 0 || touch->patch >= 0 || isnan(touch->when)); /* or an impact, which has no load */
    contact->last_load = touch->load;
    contact->last_ratio = touch->ratio;
    contact->last_when = touch->when;
    contact->was_held = touch->held;
    for (int i = 0; i < SS_MOTIONS; i++) contact->last_moment_ratio[i] = touch->moments[i];
    contact->grip = touch->grip;
    contact->turn = v3(touch->turn[0], touch->turn[1], touch->turn[2]);
    contact->pressed = v3(touch->impulse[0], touch->impulse[1], touch->impulse[2]);
    if (touch->closed) contact->force = v3(touch->force[0], touch->force[1], touch->force[2]);
    contact->twisted = v3(touch->moment[0], touch->moment[1], touch->moment[2]);
  }
}

static ss_status add_contact(ss_sim *sim, const ss_candidate *candidate, const ss_contact_point *point,
                             const ss_pose body[2], ss_error *error) {
  const ss_status status =
      ss_grow((void **)&sim->contacts, &sim->contact_capacity, sim->n_contacts + 1, sizeof *sim->contacts, error);
  if (status != SS_OK) return status;
  ss_contact *contact = &sim->contacts[sim->n_contacts++];
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
  return sim->scheme->compliant ? ss_patch_attach(sim, contact, ss_touch_find(&sim->state, contact->key), error)
                                : SS_OK;
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
  ss_found *found = &sim->found;
  const size_t size = sizeof(double) * (size_t)sim->model->n_q;
  *known = found->n_pairs > 0 && found->reach == reach && memcmp(found->q, sim->state.q, size) == 0;
  if (*known) return SS_OK;
  found->n_pairs = found->n_points = 0;
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

/* The k-th candidate's points: those found before, or new ones. */
static ss_status search(ss_sim *sim, int k, const ss_candidate *candidate, const ss_pose body[2], bool known,
                        ss_found_pair *out, ss_error *error) {
  ss_found *found = &sim->found;
  const ss_shape *a = &sim->model->shapes[candidate->shape[0]], *b = &sim->model->shapes[candidate->shape[1]];
  if (known) {
    *out = found->pairs[k];
    return SS_OK;
  }
  const ss_status status = ss_grow((void **)&found->points, &found->point_capacity, found->n_points + SS_PAIR_CONTACTS,
                                   sizeof *found->points, error);
  if (status != SS_OK) return status;
  const ss_pose pa = ss_shape_pose(a, &body[0]), pb = ss_shape_pose(b, &body[1]);
  sim->looks++;
  ss_contact_point *points = found->points + found->n_points;
  const bool apart = (sim->few_pairs && sim->bounded && !ss_bounds_meet(sim, candidate->shape)) ||
                     (is_costly(a, b) && ss_shapes_are_apart(a, &pa, b, &pb, found->reach));
  int n = apart ? 0 : candidate->pair->collide(a, &pa, b, &pb, found->reach, points);
  if (sim->model->planar != SS_SPATIAL && n > 1) n = merge_across_plane(sim->model, points, n);
  *out = (ss_found_pair){{candidate->shape[0], candidate->shape[1]}, found->n_points, n};
  found->pairs[found->n_pairs++] = *out;
  found->n_points += n;
  return SS_OK;
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
  for (int i = 0; i < sim->n_contacts; i++) {
    const int *shape = sim->contacts[i].shape, *blind = sim->blind;
    const bool lost = (shape[0] == blind[0] && shape[1] == blind[1]) || (shape[0] == blind[1] && shape[1] == blind[0]);
    if (!lost) sim->contacts[kept++] = sim->contacts[i];
  }
  sim->n_contacts = kept;
}

static bool is_listed(const ss_sim *sim, uint64_t key) {
  for (int i = 0; i < sim->n_contacts; i++)
    if (sim->contacts[i].key == key) return true;
  return false;
}

/* Features of one pair that are too deep at the end, and new, as they are at the start. */
static ss_status follow_back(ss_sim *sim, const ss_candidate *candidate, const double *q_end, double deep, int *added,
                             ss_error *error) {
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
    if (points[i].gap >= -deep || is_listed(sim, ss_contact_key(candidate, points[i].feature))) continue;
    candidate->pair->gap(a, &pa, b, &pb, points[i].feature, &start);
    /* an edge that is turned away may have any gap and any normal: nothing can be held by it */
    const bool there = start.gap >= -deep && start.gap <= sim->found.reach;
    if (!there || v3_dot(start.normal, points[i].normal) < 0.9) {
      sim->overlooked |= points[i].gap < -share * fmin(a->reach, b->reach);
      continue;
    }
    const ss_status status = add_contact(sim, candidate, &start, body, error);
    if (status != SS_OK) return status;
    ++*added;
  }
  return SS_OK;
}

ss_status ss_add_features(ss_sim *sim, const double *q_end, double deep, int *added, ss_error *error) {
  const ss_candidates *list = sim->few_pairs ? &sim->all : &sim->near;
  ss_status status = SS_OK;
  sim->overlooked = false;
  *added = 0;
  for (int k = 0; k < list->n && status == SS_OK && sim->model->planar == SS_SPATIAL; k++) {
    const ss_shape *a = &sim->model->shapes[list->items[k].shape[0]], *b = &sim->model->shapes[list->items[k].shape[1]];
    const bool smooth = a->type <= SS_SHAPE_SPHERE || b->type <= SS_SHAPE_SPHERE; /* one feature that is always there */
    if (!smooth && !a->mesh && !b->mesh) status = follow_back(sim, &list->items[k], q_end, deep, added, error);
  }
  return status;
}

ss_status ss_narrow_phase(ss_sim *sim, double h, ss_error *error) {
  const ss_candidates *list = sim->few_pairs ? &sim->all : &sim->near;
  const double reach = 2 * h * sim->speed_bound + SS_NEAR * sim->model->length;
  sim->n_contacts = sim->n_patch = 0;
  if (!same_pairs(&sim->found, list)) sim->found.n_pairs = 0;
  bool known;
  ss_status status = begin_search(sim, list->n, reach, &known, error);
  for (int k = 0; status == SS_OK && k < list->n; k++) {
    const ss_candidate *candidate = &list->items[k];
    const ss_shape *shapes = sim->model->shapes;
    const ss_pose body[2] = {ss_pose_of(sim->state.q, shapes[candidate->shape[0]].body),
                             ss_pose_of(sim->state.q, shapes[candidate->shape[1]].body)};
    ss_found_pair pair;
    status = search(sim, k, candidate, body, known, &pair, error);
    for (int i = 0; status == SS_OK && i < pair.count; i++)
      status = add_contact(sim, candidate, &sim->found.points[pair.first + i], body, error);
  }
  if (status != SS_OK) sim->found.n_pairs = 0;
  if (status != SS_OK) return status;
  if (sim->blind) lose_contacts(sim);
  if (sim->scheme->compliant) ss_patch_drop_travelling(sim);
  return sim->model->n_limits ? ss_limits_append(sim, error) : SS_OK;
}
