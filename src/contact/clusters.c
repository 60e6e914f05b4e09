/* Clusters: bodies that may meet within the step, none of them going farther than `way`. Their boxes, grown by it, meet; the world and
 * gaps wider than that connect nothing. Bodies that fly free of everything are one cluster, in which nothing happens.
 *
 * They depend on the present state alone: a run that is resumed has the same ones. */
#include "contact/contact.h"
#include "contact/sweep_and_prune.h"
#include "core/sets.h"

static void bound_shape(ss_sim *sim, int i) {
  const ss_shape *shape = &sim->model->shapes[i];
  const ss_pose body = ss_pose_of(sim->state.q, shape->body), pose = ss_shape_pose(shape, &body);
  ss_vec3 low, high;
  ss_shape_bounds(shape, &pose, &low, &high);
  double *b = sim->search.parts.box + 6 * (size_t)i;
  b[0] = low.x, b[1] = low.y, b[2] = low.z, b[3] = high.x, b[4] = high.y, b[5] = high.z;
}

static bool boxes_meet(const double *a, const double *b) {
  for (int k = 0; k < 3; k++)
    if (a[k] > b[3 + k] || b[k] > a[3 + k]) return false;
  return true;
}

/* Whether a body may reach the world. */
static bool is_near_world(const ss_sim *sim, int body, double way) {
  const ss_clusters *c = &sim->search.parts;
  const ss_model *m = sim->model;
  for (int s = c->first_shape[body]; s < c->first_shape[body + 1]; s++)
    for (int w = c->first_shape[m->n_bodies]; w < m->n_shapes; w++) {
      const ss_shape *world = &m->shapes[w];
      if (world->type == SS_SHAPE_HALF_SPACE) {
        const ss_pose at = ss_pose_of(sim->state.q, body), pose = ss_shape_pose(&m->shapes[s], &at);
        const ss_vec3 normal = quat_rotate(world->local.orientation, v3(0, 0, 1));
        const double height = v3_dot(normal, v3_sub(pose.position, world->local.position));
        if (!(height > m->shapes[s].reach + way)) return true;
      } else if (boxes_meet(c->box + 6 * (size_t)s, c->box + 6 * (size_t)w)) {
        return true;
      }
    }
  return false;
}

/* Numbers the sets in the order of their first bodies; those that fly have one number. */
static void number_clusters(const ss_sim *sim, ss_clusters *c, double way) {
  const int n = sim->model->n_bodies;
  int flying = -1;
  c->count = 0;
  for (int k = 0; k < n; k++) c->number[k] = -1;
  for (int k = 0; k < n; k++) c->list[ss_set_of(c->parent, k)] = 0;
  for (int k = 0; k < n; k++) c->list[ss_set_of(c->parent, k)]++; /* sizes */
  for (int k = 0; k < n; k++) {
    const int root = ss_set_of(c->parent, k);
    const bool flies = c->list[root] == 1 && !is_near_world(sim, k, way);
    int *number = flies ? &flying : &c->number[root];
    if (*number < 0) *number = c->count++;
    c->number[k] = *number; /* the root is the first of its set */
  }
  ss_sets_sort(n, c->number, c->count, c->start, c->list);
}

void ss_clusters_find(ss_sim *sim, double way) {
  ss_clusters *c = &sim->search.parts;
  const ss_model *m = sim->model;
  const int moving = c->first_shape[m->n_bodies];
  ss_each(sim, m->n_shapes, bound_shape);
  for (int i = 0; i < 6 * moving; i++) c->box[i] += i % 6 < 3 ? -way : way;
  for (int k = 0; k < m->n_bodies; k++) c->parent[k] = k;
  c->axis = ss_sweep_axis(c->box, moving, c->axis);
  ss_sweep_sort(c->box, c->axis, moving, c->order, c->order + moving);
  ss_sweep sweep = {c->box, c->order, moving, c->axis, 0, 0};
  for (int i, j; ss_sweep_next(&sweep, &i, &j);) ss_set_join(c->parent, m->shapes[i].body, m->shapes[j].body);
  number_clusters(sim, c, way);
}

ss_status ss_clusters_create(ss_sim *sim, ss_error *error) {
  const ss_model *m = sim->model;
  const int n = m->n_bodies, ns = m->n_shapes;
  ss_clusters *c = &sim->search.parts;
  const ss_room rooms[] = {SS_ROOM(c->order, 2 * ns), SS_ROOM(c->box, 6 * ns), SS_ROOM(c->first_shape, n + 1),
                           SS_ROOM(c->number, n + 1), SS_ROOM(c->list, n + 1), SS_ROOM(c->start, n + 1),
                           SS_ROOM(c->parent, n + 1)};
  const ss_status status = ss_arena_arrays(sim->arena, rooms, sizeof rooms / sizeof *rooms, error);
  if (status != SS_OK) return status;
  /* shapes are ordered by body, the world's last; of the first bodies they start at 0 */
  for (int i = ns - 1, k = n; i >= 0; i--) {
    const int body = m->shapes[i].body < 0 ? n : m->shapes[i].body;
    for (; k > body; k--) c->first_shape[k] = i + 1;
  }
  for (int i = 0; i < ns; i++) c->order[i] = i;
  return SS_OK;
}
