/* Convex shapes from points, of which there may be many more than the hull has corners: those of a mesh file.
 *
 * The points furthest along the axes are corners of the hull. As long as points are left outside of the hull of
 * those that have been found, the furthest outside each face joins them; in the end it is the hull of all, but for 1e-9 of its
 * size. Where only so many corners are wanted, the search stops there: the hull is then inside the true one. */
#include "geom/hull_build.h"
#include "geom/shape_compile.h"

static const double tolerance = 1e-9; /* of the size: points so little outside do not count */

typedef struct selection {
  const ss_vec3 *points;
  int n;
  ss_vec3 chosen[SS_MOST_HULL_POINTS];
  int count, most;
  bool overflow;
} selection;

static void choose(selection *s, int point) {
  for (int i = 0; i < s->count; i++)
    if (v3_norm(v3_sub(s->chosen[i], s->points[point])) == 0) return;
  if (s->count == s->most)
    s->overflow = true;
  else
    s->chosen[s->count++] = s->points[point];
}

static int furthest(const selection *s, ss_vec3 direction, double *distance) {
  int best = 0;
  *distance = 0; /* of point 0, from which all are seen */
  for (int i = 1; i < s->n; i++) {
    const double d = v3_dot(direction, v3_sub(s->points[i], s->points[0]));
    if (d > *distance) *distance = d, best = i;
  }
  return best;
}

/* The furthest points along the axes. */
static void choose_first(selection *s) {
  static const ss_vec3 axes[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  double d;
  for (int i = 0; i < 6 && !s->overflow; i++) choose(s, furthest(s, axes[i], &d));
}

/* The point furthest from the line through the first one along u; u zero: from that point. */
static int furthest_from_line(const selection *s, ss_vec3 u) {
  int best = 0;
  double most = 0;
  for (int i = 0; i < s->n; i++) {
    const ss_vec3 r = v3_sub(s->points[i], s->points[0]);
    const double d = v3_norm(v3_axpy(r, -v3_dot(u, r), u));
    if (d > most) most = d, best = i;
  }
  return best;
}

/* Points that do not lie in one plane, if there are any: furthest from each other, from their line, from their plane. */
static void choose_spanning(selection *s) {
  const int b = furthest_from_line(s, v3(0, 0, 0));
  ss_vec3 u;
  (void)length_and_direction(v3_sub(s->points[b], s->points[0]), v3(0, 0, 0), &u);
  const int c = furthest_from_line(s, u);
  const ss_vec3 n = v3_cross(u, v3_sub(s->points[c], s->points[0]));
  double d;
  const int corner[5] = {0, b, c, furthest(s, n, &d), furthest(s, v3_neg(n), &d)};
  for (int i = 0; i < 5; i++) choose(s, corner[i]);
}

/* The point furthest outside of each face; returns whether there was any. */
static bool choose_outside(selection *s, const struct ss_hull *hull, ss_vec3 centroid, double size) {
  const int before = s->count;
  for (int f = 0; f < hull->n_faces && !s->overflow; f++) {
    double d;
    const int point = furthest(s, hull->face[f].normal, &d);
    const double height = hull_height(hull, f, v3_sub(s->points[point], centroid));
    if (height > tolerance * size) choose(s, point);
  }
  return s->count > before || s->overflow;
}

/* Of a needle or a plate the first points may lie in a plane. */
static ss_hull_status select_corners(selection *s, bool *complete) {
  double size = 0;
  bool spans = false;
  for (int i = 0; i < s->n; i++) size = fmax(size, v3_norm(v3_sub(s->points[i], s->points[0])));
  choose_first(s);
  *complete = false;
  while (!s->overflow && !*complete) {
    ss_arena *scratch = ss_arena_create();
    if (!scratch) return SS_HULL_MEMORY;
    struct ss_hull *hull = NULL;
    ss_vec3 centroid;
    const ss_hull_status status = ss_hull_build(scratch, s->chosen, s->count, &hull, &centroid);
    if (status == SS_HULL_OK) *complete = !choose_outside(s, hull, centroid, size);
    ss_arena_destroy(scratch);
    if (status == SS_HULL_OK) continue;
    if (status != SS_HULL_FLAT || spans) return status;
    choose_spanning(s);
    spans = true;
  }
  return SS_HULL_OK;
}

static ss_status build(ss_arena *arena, const ss_shape_def *d, const ss_vec3 *points, int n, ss_shape *out,
                       ss_error *error) {
  struct ss_hull *hull = NULL;
  ss_vec3 centroid;
  switch (ss_hull_build(arena, points, n, &hull, &centroid)) {
  case SS_HULL_MEMORY:
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  case SS_HULL_FLAT:
    return ss_shape_reject(error, d, "points", "points that do not lie in one plane, nearly");
  case SS_HULL_OK:
    break;
  }
  out->local.position = pose_point(&out->local, centroid);
  out->hull = hull;
  for (int i = 0; i < hull->n_vertices; i++) out->reach = fmax(out->reach, v3_norm(hull->vertex[i]));
  return SS_OK;
}

ss_status ss_compile_convex(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  if (!d->points || d->n_points < 4) return ss_shape_reject(error, d, "points", "four points at least");
  for (int i = 0; i < d->n_points; i++)
    if (!v3_finite(d->points[i])) return ss_shape_reject(error, d, "points", "finite numbers");
  if (d->corners != 0 && (d->corners < 8 || d->corners > SS_MOST_HULL_POINTS))
    return ss_shape_reject(error, d, "corners", "8 to 200");
  const int most = d->corners ? d->corners : SS_MOST_HULL_POINTS;
  if (d->n_points <= most) return build(arena, d, d->points, d->n_points, out, error);
  selection s = {.points = d->points, .n = d->n_points, .most = most};
  bool complete = false;
  const ss_hull_status status = select_corners(&s, &complete);
  if (status == SS_HULL_MEMORY) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (status == SS_HULL_FLAT)
    return ss_shape_reject(error, d, "points",
                           "points that do not lie in one plane, nearly; where many do, `corners: 64` may find a hull");
  if (!complete && d->corners == 0)
    return ss_fail(error, SS_ERROR_INPUT,
                   "convex: the hull of these %d points has more than %d corners; `corners: 64` keeps 64 of them",
                   d->n_points, SS_MOST_HULL_POINTS);
  return build(arena, d, s.chosen, s.count, out, error);
}
