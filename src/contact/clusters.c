/* Clusters: bodies that may meet within the step, none of them going farther than `way`. Their boxes, grown by it, meet; the world and
 * gaps wider than that connect nothing. Bodies that fly free of everything are one cluster, in which nothing happens.
 *
 * They are found again where a box has left those that they were found for, which have some headroom, or is much smaller. */
#include "contact/contact.h"
#include "contact/sweep_and_prune.h"

static int root_of(int *parent, int k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static void bound_shape(ss_sim *sim, int i) {
  const ss_shape *shape = &sim->model->shapes[i];
  const ss_pose body = ss_pose_of(sim->state.q, shape->body), pose = ss_shape_pose(shape, &body);
  ss_vec3 low, high;
  ss_shape_bounds(shape, &pose, &low, &high);
  double *b = sim->search.parts.box + 6 * (size_t)i;
  b[0] = low.x, b[1] = low.y, b[2] = low.z, b[3] = high.x, b[4] = high.y, b[5] = high.z;
}

static bool boxes_meet(const double *a, const double *b, double grown) {
  for (int k = 0; k < 3; k++)
    if (a[k] - grown > b[3 + k] || b[k] - grown > a[3 + k]) return false;
  return true;
}

/* Whether a body may reach the world, its shapes being grown by this much. */
static bool is_near_world(const ss_sim *sim, int body, double grown) {
  const ss_clusters *c = &sim->search.parts;
  const ss_model *m = sim->model;
  for (int s = c->first_shape[body]; s < c->first_shape[body + 1]; s++)
    for (int w = c->first_shape[m->n_bodies]; w < m->n_shapes; w++) {
      const ss_shape *world = &m->shapes[w];
      if (world->type == SS_SHAPE_HALF_SPACE) {
        const ss_pose at = ss_pose_of(sim->state.q, body), pose = ss_shape_pose(&m->shapes[s], &at);
        const ss_vec3 normal = quat_rotate(world->local.orientation, v3(0, 0, 1));
        const double height = v3_dot(normal, v3_sub(pose.position, world->local.position));
        if (!(height > m->shapes[s].reach + grown)) return true;
      } else if (boxes_meet(c->box + 6 * (size_t)s, c->box + 6 * (size_t)w, grown)) {
        return true;
      }
    }
  return false;
}

/* Whether all boxes, grown by `way`, are inside those that the clusters were made for. */
static bool list_covers(const ss_sim *sim, double way) {
  const ss_clusters *c = &sim->search.parts;
  bool inside = c->listed_for > 0 && c->listed_for <= 4 * way;
  for (int i = 0; inside && i < c->first_shape[sim->model->n_bodies]; i++) {
    const double *b = c->box + 6 * (size_t)i, *listed = c->listed + 6 * (size_t)i;
    for (int k = 0; k < 3; k++) inside = inside && b[k] - way >= listed[k] && b[3 + k] + way <= listed[3 + k];
  }
  return inside;
}

/* Numbers the sets in the order of their first bodies; those that fly have one number. */
static void number_clusters(const ss_sim *sim, ss_clusters *c) {
  const int n = sim->model->n_bodies;
  int flying = -1;
  c->count = 0;
  for (int k = 0; k < n; k++) c->number[k] = -1;
  for (int k = 0; k < n; k++) c->list[root_of(c->parent, k)] = 0;
  for (int k = 0; k < n; k++) c->list[root_of(c->parent, k)]++; /* sizes */
  for (int k = 0; k < n; k++) {
    const int root = root_of(c->parent, k);
    const bool flies = c->list[root] == 1 && !is_near_world(sim, k, 2 * c->listed_for);
    int *number = flies ? &flying : &c->number[root];
    if (*number < 0) *number = c->count++;
    c->number[k] = *number; /* the root is the first of its set */
  }
  memset(c->start, 0, sizeof *c->start * ((size_t)c->count + 1));
  for (int k = 0; k < n; k++) c->start[c->number[k] + 1]++;
  for (int k = 0; k < c->count; k++) c->start[k + 1] += c->start[k];
  for (int k = 0; k < n; k++) c->list[c->start[c->number[k]]++] = k;
  for (int k = c->count; k > 0; k--) c->start[k] = c->start[k - 1];
  c->start[0] = 0;
}

void ss_clusters_find(ss_sim *sim, double way) {
  static const double headroom = 0.5;
  ss_clusters *c = &sim->search.parts;
  const ss_model *m = sim->model;
  const int moving = c->first_shape[m->n_bodies];
  ss_each(sim, m->n_shapes, bound_shape);
  if (list_covers(sim, way)) return;
  c->listed_for = way * (1 + headroom);
  for (int i = 0; i < 6 * moving; i++) c->listed[i] = c->box[i] + (i % 6 < 3 ? -c->listed_for : c->listed_for);
  for (int k = 0; k < m->n_bodies; k++) c->parent[k] = k;
  c->axis = ss_sweep_axis(c->listed, moving, c->axis);
  ss_sweep_sort(c->listed, c->axis, moving, c->order, c->order + moving);
  ss_sweep sweep = {c->listed, c->order, moving, c->axis, 0, 0};
  for (int i, j; ss_sweep_next(&sweep, &i, &j);) {
    const int a = root_of(c->parent, m->shapes[i].body), b = root_of(c->parent, m->shapes[j].body);
    c->parent[a > b ? a : b] = a > b ? b : a;
  }
  number_clusters(sim, c);
}

ss_status ss_clusters_create(ss_sim *sim, ss_error *error) {
  const ss_model *m = sim->model;
  const int n = m->n_bodies, ns = m->n_shapes;
  ss_clusters *c = &sim->search.parts;
  int **const ints[] = {&c->first_shape, &c->number, &c->list, &c->start, &c->parent};
  bool enough = (c->order = SS_ARENA_ARRAY(sim->arena, int, 2 * (size_t)ns)) != NULL;
  for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
    enough &= (*ints[i] = SS_ARENA_ARRAY(sim->arena, int, n + 1)) != NULL;
  enough &= (c->box = SS_ARENA_ARRAY(sim->arena, double, 6 * (size_t)ns)) != NULL;
  enough &= (c->listed = SS_ARENA_ARRAY(sim->arena, double, 6 * (size_t)ns)) != NULL;
  if (!enough) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = ns - 1, k = n; i >= -1; i--) { /* shapes are ordered by body, the world's last */
    const int body = i < 0 ? -1 : m->shapes[i].body < 0 ? n : m->shapes[i].body;
    for (; k > body; k--) c->first_shape[k] = i + 1;
  }
  for (int i = 0; i < ns; i++) c->order[i] = i;
  return SS_OK;
}
