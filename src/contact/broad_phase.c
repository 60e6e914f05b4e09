/* Broad phase: pairs of shapes that may touch within the step.
 *
 * Few pairs (most mechanisms): all of them that can collide at all, listed once; the boxes of each are compared. Many: boxes around the
 * shapes, grown by the way they can go in the step, are sorted along the axis along which the shapes lie farthest apart, and swept. Half-spaces meet everybody,
 * but those of the world along two axes what is near their surface. While the boxes stay inside those that the pairs were listed for, in later parts of a step and where bodies are at rest, the list
 * stays. */
#include "contact/sweep_and_prune.h"
#include "contact/contact.h"
#include "geom/pairs.h"

#include <stdlib.h>
#include <string.h>

enum { FEW_PAIRS = 1024, BOUNDED_FROM = 4 }; /* BOUNDED_FROM: pairs for which boxes are worth a look */
static const double HEADROOM = 0.2;

static ss_status append(ss_candidates *list, const ss_candidate *item, ss_error *error) {
  const ss_status status = ss_grow((void **)&list->items, &list->capacity, list->n + 1, sizeof *item, error);
  if (status == SS_OK) list->items[list->n++] = *item;
  return status;
}

static ss_status try_pair(ss_sim *sim, ss_candidates *list, int i, int j, ss_error *error) {
  ss_candidate candidate;
  if (!ss_candidate_make(sim->model, i < j ? i : j, i < j ? j : i, &candidate)) return SS_OK;
  return append(list, &candidate, error);
}

ss_status ss_broad_phase_prepare(ss_sim *sim, ss_error *error) {
  const int n = sim->model->n_shapes;
  sim->search.few_pairs = (long)n * (n - 1) / 2 <= FEW_PAIRS;
  if (!sim->search.few_pairs) return SS_OK;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      const ss_status status = try_pair(sim, &sim->search.all, i, j, error);
      if (status != SS_OK) return status;
    }
  return SS_OK;
}

/* How far the narrow phase looks: the way of two bodies in the step, and a little. In units of 1/256 of its power of two, so that the last
 * digits of the step's size do not make it another one. */
double ss_search_reach(const ss_sim *sim, double h) {
  const double reach = 2 * h * sim->part.speed_bound + SS_NEAR * sim->model->length;
  int exponent;
  const double mantissa = frexp(reach, &exponent);
  return isfinite(reach) ? ldexp(ceil(512 * mantissa), exponent - 9) : reach;
}

/* A floor is not near what is high above it: a half-space whose surface lies along two axes ends along the third. */
static void bound_by_surface(const ss_pose *pose, double grow, double *b) {
  static const double level = 1e-15;
  const ss_vec3 n = quat_axis_z(pose->orientation);
  for (int k = 0; k < 3; k++) {
    const double along = v3_get(n, k), at = v3_get(pose->position, k);
    if (v3_norm(v3_axpy(n, -along, v3(k == 0, k == 1, k == 2))) > level) continue;
    if (along > 0)
      b[3 + k] = at + grow;
    else
      b[k] = at - grow;
  }
}

/* low x y z, high x y z of a shape, grown by how far it can move and by half of what the narrow phase looks at
 * besides, so that its contacts do not depend on what else is listed. */
static void bound(ss_sim *sim, int i) {
  const ss_shape *shape = &sim->model->shapes[i];
  const ss_pose body = ss_pose_of(sim->state.q, shape->body), pose = ss_shape_pose(shape, &body);
  ss_vec3 low, high;
  ss_shape_bounds(shape, &pose, &low, &high);
  const double grow = sim->search.grown[shape->body < 0];
  double *b = sim->search.bounds + 6 * (size_t)i;
  b[0] = low.x - grow, b[1] = low.y - grow, b[2] = low.z - grow;
  b[3] = high.x + grow, b[4] = high.y + grow, b[5] = high.z + grow;
  if (shape->type == SS_SHAPE_HALF_SPACE && shape->body < 0) bound_by_surface(&pose, grow, b);
}

static void compute_bounds(ss_sim *sim, double h) {
  sim->search.grown[0] = ss_search_reach(sim, h) / 2;
  sim->search.grown[1] = SS_NEAR / 2 * sim->model->length;
  ss_each(sim, sim->model->n_shapes, bound);
}

/* Whether the list of an earlier search will do: it was made for larger boxes, though not for much larger ones. */
static bool list_covers(const ss_sim *sim) {
  const ss_search *s = &sim->search;
  bool inside = s->listed_for > 0 && s->listed_for <= 2 * s->grown[0];
  for (int i = 0; inside && i < sim->model->n_shapes; i++) {
    const double *b = s->bounds + 6 * (size_t)i, *listed = s->listed + 6 * (size_t)i;
    for (int k = 0; k < 3; k++) inside = inside && b[k] >= listed[k] && b[3 + k] <= listed[3 + k];
  }
  return inside;
}

static int by_shapes(const void *left, const void *right) {
  const ss_candidate *a = left, *b = right;
  if (a->shape[0] != b->shape[0]) return a->shape[0] < b->shape[0] ? -1 : 1;
  return (a->shape[1] > b->shape[1]) - (a->shape[1] < b->shape[1]);
}

static bool bounds_meet(const ss_sim *sim, const int shape[2]) {
  const double *a = sim->search.bounds + 6 * (size_t)shape[0], *b = sim->search.bounds + 6 * (size_t)shape[1];
  for (int k = 0; k < 3; k++)
    if (a[k] > b[3 + k] || b[k] > a[3 + k]) return false;
  return true;
}

/* Those of all pairs whose boxes meet. */
static ss_status choose_near(ss_sim *sim, ss_error *error) {
  ss_search *s = &sim->search;
  ss_status status = SS_OK;
  s->near.n = 0;
  for (int k = 0; k < s->all.n && status == SS_OK; k++)
    if (bounds_meet(sim, s->all.items[k].shape)) status = append(&s->near, &s->all.items[k], error);
  return status;
}

ss_status ss_broad_phase(ss_sim *sim, double h, ss_error *error) {
  sim->search.bounded = !sim->search.few_pairs || sim->search.all.n >= BOUNDED_FROM;
  if (sim->search.bounded) compute_bounds(sim, h);
  if (sim->search.few_pairs) return sim->search.bounded ? choose_near(sim, error) : SS_OK;
  if (list_covers(sim)) return SS_OK;
  for (int i = 0; i < 2; i++) sim->search.grown[i] += HEADROOM * h * sim->part.speed_bound;
  for (int i = 0; i < 6 * sim->model->n_shapes; i++) /* room for bodies that an impact makes faster */
    sim->search.bounds[i] += (i % 6 < 3 ? -HEADROOM : HEADROOM) * h * sim->part.speed_bound;
  const int n = sim->model->n_shapes;
  sim->search.axis = ss_sweep_axis(sim->search.bounds, n, sim->search.axis);
  ss_sweep_sort(sim->search.bounds, sim->search.axis, n, sim->search.order, sim->search.order + n);
  sim->search.near.n = 0;
  ss_sweep sweep = {sim->search.bounds, sim->search.order, n, sim->search.axis, 0, 0};
  for (int i, j; ss_sweep_next(&sweep, &i, &j);) {
    const ss_status status = try_pair(sim, &sim->search.near, i, j, error);
    if (status != SS_OK) return status;
  }
  if (sim->search.near.n)
    qsort(sim->search.near.items, (size_t)sim->search.near.n, sizeof *sim->search.near.items, by_shapes);
  memcpy(sim->search.listed, sim->search.bounds, sizeof(double) * 6 * (size_t)sim->model->n_shapes);
  sim->search.listed_for = sim->search.grown[0];
  return SS_OK;
}
