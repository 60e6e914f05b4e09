/* Which pairs are looked at, and what of them is told.
 *
 * Shapes are kept in the order of their boxes' lower ends along x (insertion sort: they move little between two audits); pairs
 * whose boxes meet are tested. Each pair remembers a direction that parts it, or that it is exempt (collide: false); most tests
 * are one support function that way. Half-spaces and surfaces are held against every moving shape.
 *
 * What counts: a depth above TOLERANCE of the smaller shape's width, of which the search for contacts knows less than half. A
 * contact whose gap is known to be negative is the certificate's affair (penetration), not a missed one. */
#include "audit/audit.h"

#include "geom/hull.h"

static const double TOLERANCE = 1e-3, ROUNDING = 1e-11;
enum { EVERY_WAY = 200 }; /* shapes up to which the ways of every step are looked at */

/* Nanoseconds, measured (build/audit_cost). What a pair remembers does not count: a resumed run has forgotten it. */
static const double START_WORK = 30, PLACE_WORK = 40, BOXES_WORK = 3, PLANE_WORK = 40, CONVEX_WORK = 80,
                    VERTEX_WORK = 2, WAY_WORK = 12, PASSAGE_WORK = 300;

typedef struct entry {
  uint64_t key; /* the two shapes, plus one; 0: free */
  ss_vec3 axis;
  bool exempt;
} entry;

struct ss_audit {
  const ss_model *model;
  ss_probe *probes; /* [n_shapes] */
  double *widths;   /* [n_shapes] */
  bool *obstructed; /* [n_shapes] whether it moves and there is something that it could pass through */
  int *order;       /* [n_shapes] those with boxes of finite size, moving or not */
  int n_order;
  int *planes; /* [n_shapes] half-spaces */
  int n_planes;
  ss_audited_surface **surfaces; /* [n_shapes] of meshes and height fields; else NULL */
  entry *entries;
  int capacity, used; /* capacity: a power of two, or 0 */
  ss_audit_work work;
};

/* Half-spaces have no other side; points meet no points. */
static bool may_meet(const ss_audit *a, const ss_shape *shape, double width, int other) {
  const ss_shape *obstacle = &a->model->shapes[other];
  if (obstacle->body == shape->body || obstacle->type == SS_SHAPE_HALF_SPACE) return false;
  return width > 0 || a->widths[other] > 0 || obstacle->mesh;
}

static bool has_obstacle(const ss_audit *a, int i) {
  const ss_shape *shape = &a->model->shapes[i];
  if (shape->body < 0 || shape->mesh || shape->type == SS_SHAPE_HALF_SPACE) return false;
  if (a->model->n_shapes > EVERY_WAY) return true;
  for (int k = 0; k < a->model->n_shapes; k++)
    if (may_meet(a, shape, a->widths[i], k)) return true;
  return false;
}

ss_status ss_audit_create(const ss_model *model, ss_arena *arena, ss_audit **out, ss_error *error) {
  ss_audit *a = SS_ARENA_ARRAY(arena, ss_audit, 1);
  if (!a) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *out = a;
  a->model = model;
  a->probes = SS_ARENA_ARRAY(arena, ss_probe, model->n_shapes);
  a->widths = SS_ARENA_ARRAY(arena, double, model->n_shapes);
  a->obstructed = SS_ARENA_ARRAY(arena, bool, model->n_shapes);
  a->order = SS_ARENA_ARRAY(arena, int, model->n_shapes);
  a->planes = SS_ARENA_ARRAY(arena, int, model->n_shapes);
  a->surfaces = SS_ARENA_ARRAY(arena, ss_audited_surface *, model->n_shapes);
  if (!a->probes || !a->widths || !a->obstructed || !a->order || !a->planes || !a->surfaces)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < model->n_shapes; i++) {
    const ss_shape *shape = &model->shapes[i];
    a->widths[i] = ss_shape_width(shape);
    a->probes[i] = ss_probe_make(shape, &shape->local); /* of what cannot move: for good */
    if (shape->mesh && !(a->surfaces[i] = ss_surface_create(arena, shape)))
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    if (shape->type == SS_SHAPE_HALF_SPACE)
      a->planes[a->n_planes++] = i;
    else
      a->order[a->n_order++] = i;
  }
  for (int i = 0; i < model->n_shapes; i++) a->obstructed[i] = has_obstacle(a, i);
  return SS_OK;
}

void ss_audit_free(ss_audit *a) {
  if (a) ss_free(a->entries);
}

ss_audit_work ss_audit_work_of(const ss_audit *a) { return a->work; }

/* ---- what is remembered of pairs ---- */

static size_t place_of(const entry *entries, int capacity, uint64_t key) {
  size_t i = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (size_t)(capacity - 1);
  while (entries[i].key && entries[i].key != key) i = (i + 1) & (size_t)(capacity - 1);
  return i;
}

static ss_status make_room(ss_audit *a, ss_error *error) {
  if (2 * a->used < a->capacity) return SS_OK;
  const int larger = a->capacity ? 2 * a->capacity : 64;
  entry *entries = ss_alloc(sizeof *entries * (size_t)larger);
  if (!entries) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < a->capacity; i++)
    if (a->entries[i].key) entries[place_of(entries, larger, a->entries[i].key)] = a->entries[i];
  ss_free(a->entries);
  a->entries = entries;
  a->capacity = larger;
  return SS_OK;
}

static ss_status remember(ss_audit *a, int i, int j, entry **out, ss_error *error) {
  const ss_status status = make_room(a, error);
  if (status != SS_OK) return status;
  const uint64_t key = ((uint64_t)(i < j ? i : j) << 32 | (uint64_t)(i < j ? j : i)) + 1;
  *out = &a->entries[place_of(a->entries, a->capacity, key)];
  if ((*out)->key) return SS_OK;
  const ss_shape *shapes = a->model->shapes;
  a->used++;
  **out =
      (entry){.key = key, .exempt = !ss_model_law(a->model, &shapes[i < j ? i : j], &shapes[i < j ? j : i]).collide};
  return SS_OK;
}

/* ---- one pair ---- */

typedef struct inquiry {
  ss_audit *audit;
  ss_known_depth known;
  void *user;
  ss_overlap *worst;
} inquiry;

/* Of a point: infinite. */
static double width(const ss_probe *p) {
  const ss_vec3 size = v3_sub(p->high, p->low);
  const double least = fmin(size.x, fmin(size.y, size.z));
  return least > 0 ? least : p->shape->reach > 0 ? p->shape->reach : HUGE_VAL;
}

static double tolerance_of(const ss_audit *audit, const ss_probe *a, const ss_probe *b) {
  const double smaller = fmin(width(a), width(b));
  return TOLERANCE * (isfinite(smaller) ? smaller : audit->model->length) +
         ROUNDING * (v3_norm(a->center) + v3_norm(b->center));
}

/* Planar scenes: shapes side by side across the plane do not meet, however they overlap in it; nor do those that touch there. */
static bool apart_across(const ss_probe *a, const ss_probe *b, ss_vec3 normal, double tolerance) {
  if (a->shape->type == SS_SHAPE_ELLIPSE || b->shape->type == SS_SHAPE_ELLIPSE) return false;
  return v3_dot(normal, v3_sub(a->high, b->low)) <= tolerance || v3_dot(normal, v3_sub(b->high, a->low)) <= tolerance;
}

static int vertices_of(const ss_shape *shape) { return shape->type == SS_SHAPE_CONVEX ? shape->hull->n_vertices : 8; }

static ss_status look_at(const inquiry *q, int i, int j, ss_error *error) {
  ss_audit *audit = q->audit;
  const ss_probe *a = &audit->probes[i], *b = &audit->probes[j];
  if (a->shape->body == b->shape->body) return SS_OK;
  entry *e;
  const ss_status status = remember(audit, i, j, &e, error);
  if (status != SS_OK || e->exempt) return status;
  const bool planar = audit->model->planar != SS_SPATIAL;
  const ss_vec3 normal = planar ? audit->model->plane_normal : v3(0, 0, 0);
  const double tolerance = tolerance_of(audit, a, b);
  double depth;
  if (a->shape->type == SS_SHAPE_HALF_SPACE) {
    depth = ss_half_space_overlap(a, b);
    audit->work.all += PLANE_WORK + VERTEX_WORK * vertices_of(b->shape);
  } else if (a->shape->mesh || b->shape->mesh) {
    if (a->shape->mesh && b->shape->mesh) return SS_OK;
    double work = 0;
    depth = a->shape->mesh ? ss_surface_overlap(audit->surfaces[i], a, b, &work)
                           : ss_surface_overlap(audit->surfaces[j], b, a, &work);
    audit->work.all += work;
    audit->work.surfaces += work;
  } else {
    if (planar && apart_across(a, b, normal, tolerance)) return SS_OK;
    depth = ss_convex_overlap(a, b, normal, tolerance, &e->axis);
    audit->work.all += CONVEX_WORK + VERTEX_WORK * (vertices_of(a->shape) + vertices_of(b->shape));
  }
  if (!(depth > tolerance) || depth <= q->worst->depth) return SS_OK;
  if (q->known(q->user, i, j) >= depth / 2) return SS_OK;
  *q->worst = (ss_overlap){depth, {i, j}};
  return SS_OK;
}

/* ---- all pairs ---- */

static void sort(ss_audit *a) {
  for (int i = 1; i < a->n_order; i++) {
    const int shape = a->order[i];
    int k = i;
    for (; k > 0 && a->probes[a->order[k - 1]].low.x > a->probes[shape].low.x; k--) a->order[k] = a->order[k - 1];
    a->order[k] = shape;
  }
}

static bool boxes_meet(const ss_probe *a, const ss_probe *b) {
  return a->low.y <= b->high.y && b->low.y <= a->high.y && a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static bool is_above(const ss_probe *plane, const ss_probe *p) {
  return v3_dot(mat3_column(&plane->turn, 2), v3_sub(p->center, plane->center)) > p->shape->reach;
}

ss_status ss_audit_positions(ss_audit *a, const double *q, ss_known_depth known, void *user, ss_overlap *worst,
                             ss_error *error) {
  const inquiry all = {a, known, user, worst};
  ss_status status = SS_OK;
  *worst = (ss_overlap){0, {-1, -1}};
  a->work.all += START_WORK;
  for (int i = 0; i < a->model->n_shapes; i++) {
    if (a->model->shapes[i].body < 0) continue;
    a->probes[i] = ss_probe_at(&a->model->shapes[i], q);
    a->work.all += PLACE_WORK;
  }
  sort(a);
  for (int i = 0; i < a->n_order && status == SS_OK; i++) {
    const ss_probe *p = &a->probes[a->order[i]];
    for (int k = i + 1; k < a->n_order && status == SS_OK; k++) {
      const ss_probe *other = &a->probes[a->order[k]];
      if (other->low.x > p->high.x) break;
      a->work.all += BOXES_WORK;
      if (p->shape->body == other->shape->body || !boxes_meet(p, other)) continue;
      status = look_at(&all, a->order[i], a->order[k], error);
    }
    for (int k = 0; k < a->n_planes && status == SS_OK && !p->shape->mesh; k++)
      if (!is_above(&a->probes[a->planes[k]], p)) status = look_at(&all, a->planes[k], a->order[i], error);
  }
  return status;
}

/* ---- passing through ---- */

typedef struct box {
  ss_vec3 low, high;
} box;

/* Around the places at the start and the end of a step; nothing of a shape is outside in between, but for its turning. */
static box around(const ss_shape *shape, const ss_pose ends[2]) {
  const ss_vec3 p = ends[0].position, q = ends[1].position, r = v3(shape->reach, shape->reach, shape->reach);
  return (box){v3_sub(v3(fmin(p.x, q.x), fmin(p.y, q.y), fmin(p.z, q.z)), r),
               v3_add(v3(fmax(p.x, q.x), fmax(p.y, q.y), fmax(p.z, q.z)), r)};
}

static bool touch(const box *a, const box *b) {
  return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
         a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static ss_status look_between(ss_audit *audit, int i, const ss_pose way[2], int j, const ss_pose other[2],
                              ss_overlap *worst, ss_error *error) {
  const ss_shape *shapes[2] = {&audit->model->shapes[i], &audit->model->shapes[j]};
  entry *e;
  const ss_status status = remember(audit, i, j, &e, error);
  if (status != SS_OK || e->exempt) return status;
  const bool planar = audit->model->planar != SS_SPATIAL;
  const ss_pose ends[2][2] = {{way[0], way[1]}, {other[0], other[1]}};
  const ss_probe now[2] = {ss_probe_make(shapes[0], &way[1]), ss_probe_make(shapes[1], &other[1])};
  const double tolerance = tolerance_of(audit, &now[0], &now[1]);
  if (planar && apart_across(&now[0], &now[1], audit->model->plane_normal, tolerance)) return SS_OK;
  audit->work.all += PASSAGE_WORK;
  const double depth = shapes[1]->mesh
                           ? ss_surface_passage(audit->surfaces[j], other, shapes[0], way)
                           : ss_convex_passage(shapes, ends, planar ? audit->model->plane_normal : v3(0, 0, 0));
  if (depth > worst->depth) *worst = (ss_overlap){depth, {i, j}};
  return SS_OK;
}

/* Whether a glance at the way of its body tells that a shape has moved by no more than its width (see turned_at_most). */
static bool stays(const ss_shape *shape, double width, const double *before, const double *q) {
  const double *from = before + 7 * (size_t)shape->body, *to = q + 7 * (size_t)shape->body;
  double way = 0, turn = 0;
  for (int k = 0; k < 3; k++) way += (to[k] - from[k]) * (to[k] - from[k]);
  for (int k = 3; k < 7; k++) turn += (to[k] - from[k]) * (to[k] - from[k]);
  const double lever = v3_norm(shape->local.position) + shape->reach;
  return turn < 1 && sqrt(way) + 2.1 * sqrt(turn) * lever <= width;
}

/* Pairs of which one has moved by more than its width. */
ss_status ss_audit_ways(ss_audit *a, const double *before, const double *q, ss_overlap *worst, ss_error *error) {
  const ss_model *model = a->model;
  ss_status status = SS_OK;
  *worst = (ss_overlap){0, {-1, -1}};
  for (int i = 0; i < model->n_shapes && status == SS_OK; i++) {
    const ss_shape *shape = &model->shapes[i];
    if (!a->obstructed[i]) continue;
    a->work.all += WAY_WORK;
    if (stays(shape, a->widths[i], before, q)) continue;
    const ss_pose way[2] = {ss_probe_pose(shape, before), ss_probe_pose(shape, q)};
    if (!ss_may_pass(shape, a->widths[i], way)) continue;
    const box own = around(shape, way);
    a->work.all += PLACE_WORK * model->n_shapes;
    for (int j = 0; j < model->n_shapes && status == SS_OK; j++) {
      const ss_shape *other = &model->shapes[j];
      if (!may_meet(a, shape, a->widths[i], j)) continue;
      const ss_pose ends[2] = {ss_probe_pose(other, before), ss_probe_pose(other, q)};
      const box its = around(other, ends);
      const bool twice = j < i && other->body >= 0 && ss_may_pass(other, a->widths[j], ends);
      if (!twice && touch(&own, &its)) status = look_between(a, i, way, j, ends, worst, error);
    }
  }
  return status;
}

bool ss_audit_every_way(const ss_audit *a) { return a->model->n_shapes <= EVERY_WAY; }
