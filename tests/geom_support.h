/* Random shapes and configurations, and what the geometry tests know about shapes on their own: support functions and
 * projections, written without the library's geometry. */
#ifndef GEOM_SUPPORT_H
#define GEOM_SUPPORT_H

#include "geom/hull.h"
#include "geom/mesh.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static inline void assert_near(double value, double expected, double tolerance) {
  if (!(fabs(value - expected) <= tolerance)) {
    print_error("%.17g is not %.17g but for %g\n", value, expected, tolerance);
    fail();
  }
}

static inline void assert_near3(ss_vec3 value, ss_vec3 expected, double tolerance) {
  assert_near(value.x, expected.x, tolerance);
  assert_near(value.y, expected.y, tolerance);
  assert_near(value.z, expected.z, tolerance);
}

static uint64_t random_state = 0x9e3779b97f4a7c15u;

static inline double uniform(double low, double high) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return low + (high - low) * ((double)(random_state >> 11) * 0x1p-53);
}

static inline ss_vec3 random_vector(double size) {
  const double x = uniform(-size, size), y = uniform(-size, size);
  return v3(x, y, uniform(-size, size));
}

static inline ss_vec3 random_direction(void) {
  for (;;) {
    const ss_vec3 v = random_vector(1);
    const double n = v3_norm(v);
    if (n > 0.1 && n <= 1) return v3_scale(1 / n, v);
  }
}

static inline ss_quat random_rotation(void) { return quat_exp(v3_scale(uniform(0, 3.14), random_direction())); }

static inline ss_pose random_pose(double size) {
  const ss_vec3 position = random_vector(size);
  return (ss_pose){position, random_rotation()};
}

/* Moves a pose by the twist (velocity of its origin, world-frame angular velocity) for a time. */
static inline ss_pose moved(ss_pose p, ss_vec3 velocity, ss_vec3 spin, double time) {
  return (ss_pose){v3_axpy(p.position, time, velocity), quat_multiply(quat_exp(v3_scale(time, spin)), p.orientation)};
}

/* A unit cube as eight points, unless the caller has others. */
static const ss_vec3 cube_points[8] = {{-.5, -.5, -.5}, {.5, -.5, -.5}, {-.5, .5, -.5}, {.5, .5, -.5},
                                       {-.5, -.5, .5},  {.5, -.5, .5},  {-.5, .5, .5},  {.5, .5, .5}};

static const double flat_heights[6] = {0};

/* Freed by the operating system. */
static inline ss_arena *geom_arena(void) {
  static ss_arena *arena;
  if (!arena) arena = ss_arena_create();
  assert_non_null(arena);
  return arena;
}

static inline ss_shape_def shape_definition(ss_shape_type type) {
  return (ss_shape_def){.type = type,
                        .pose = pose_identity(),
                        .radius = 1,
                        .length = 1,
                        .size = {1, 1, 1},
                        .semi_axes = {1, 2, type == SS_SHAPE_ELLIPSE ? 0 : 3},
                        .axis = {1, 0, 0},
                        .points = cube_points,
                        .n_points = 8,
                        .heights = flat_heights,
                        .rows = 2,
                        .columns = 3,
                        .spacing = {1, 2, 0},
                        .normal = {0, 0, 1}};
}

static inline ss_shape compiled(const ss_shape_def *definition) {
  ss_shape shape;
  ss_error error;
  assert_int_equal(ss_shape_compile(geom_arena(), definition, &shape, &error), SS_OK);
  return shape;
}

/* The surface of a convex body as a mesh: what is known about hulls holds for it. */
static inline ss_shape mesh_of_hull(const struct ss_hull *hull) {
  int triangles[3 * 64];
  ss_shape_def d = shape_definition(SS_SHAPE_MESH);
  d.points = hull->vertex;
  d.n_points = hull->n_vertices;
  d.triangles = triangles;
  for (int f = 0; f < hull->n_faces; f++)
    for (int k = 1; k + 1 < hull->face[f].count; k++) {
      const int *loop = hull->loop + hull->face[f].first;
      assert_true(d.n_triangles < 64);
      triangles[3 * d.n_triangles] = loop[0];
      triangles[3 * d.n_triangles + 1] = loop[k];
      triangles[3 * d.n_triangles++ + 2] = loop[k + 1];
    }
  return compiled(&d);
}

static inline ss_shape random_shape(ss_shape_type type) {
  if (type == SS_SHAPE_MESH) {
    const ss_shape hull = random_shape(SS_SHAPE_CONVEX);
    return mesh_of_hull(hull.hull);
  }
  ss_shape_def d = shape_definition(type);
  ss_vec3 points[12];
  if (type == SS_SHAPE_CONVEX) { /* scattered, so that its faces are triangles mostly; a prism now and then */
    const bool prism = uniform(0, 1) < 0.3;
    d.points = points;
    d.n_points = prism ? 12 : 6 + (int)uniform(0, 6.99);
    for (int i = 0; i < d.n_points; i++)
      points[i] =
          prism ? v3(0.6 * cos(i / 2 * 1.04719755119659774615), 0.6 * sin(i / 2 * 1.04719755119659774615), i % 2 - 0.5)
                : v3_scale(uniform(0.6, 1), random_direction());
  }
  d.radius = uniform(0.1, 0.6);
  d.length = uniform(0.2, 2);
  d.size = v3(uniform(0.2, 2), uniform(0.2, 2), uniform(0.2, 2));
  if (type == SS_SHAPE_ELLIPSOID) d.semi_axes = v3_scale(0.5, d.size);
  if (type == SS_SHAPE_ELLIPSE) d.semi_axes = v3(0.5 * d.size.x, 0, 0.5 * d.size.z);
  return compiled(&d);
}

static inline ss_shape box_shape(double x, double y, double z) {
  ss_shape_def d = shape_definition(SS_SHAPE_BOX);
  d.size = v3(x, y, z);
  return compiled(&d);
}

static inline ss_shape capsule_shape(double radius, double length) {
  ss_shape_def d = shape_definition(SS_SHAPE_CAPSULE);
  d.radius = radius;
  d.length = length;
  return compiled(&d);
}

/* max n . x over the shape; INFINITY for half-spaces unless n is their normal. */
static inline double support(const ss_shape *s, const ss_pose *p, ss_vec3 n) {
  const ss_vec3 local = quat_rotate(quat_conjugate(p->orientation), n);
  const double center = v3_dot(n, p->position);
  switch (s->type) {
  case SS_SHAPE_HALF_SPACE:
    return fabs(local.x) < 1e-12 && fabs(local.y) < 1e-12 && local.z > 0 ? center : (double)INFINITY;
  case SS_SHAPE_BOX:
    return center + fabs(local.x) * s->half.x + fabs(local.y) * s->half.y + fabs(local.z) * s->half.z;
  case SS_SHAPE_CONVEX: {
    double furthest = -INFINITY;
    for (int i = 0; i < s->hull->n_vertices; i++) furthest = fmax(furthest, v3_dot(local, s->hull->vertex[i]));
    return center + furthest;
  }
  case SS_SHAPE_MESH:
  case SS_SHAPE_HEIGHT_FIELD: {
    double furthest = -INFINITY;
    for (int i = 0; i < s->mesh->n_vertices; i++) furthest = fmax(furthest, v3_dot(local, s->mesh->vertex[i]));
    return center + furthest;
  }
  case SS_SHAPE_CYLINDER:
    return center + fabs(local.x) * s->half.x + hypot(local.y, local.z) * s->radius;
  case SS_SHAPE_CAPSULE:
    return center + fabs(local.x) * s->half.x + s->radius;
  case SS_SHAPE_ELLIPSOID:
  case SS_SHAPE_ELLIPSE:
    return center + v3_norm(v3(local.x * s->half.x, local.y * s->half.y, local.z * s->half.z));
  default:
    return center + s->radius;
  }
}

/* Distance of the slabs across n: a lower bound of the distance of the shapes, for every unit n. */
static inline double slab_distance(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                                   ss_vec3 n) {
  return -support(a, pa, v3_neg(n)) - support(b, pb, n);
}

static inline double clip(double x, double limit) { return x < -limit ? -limit : x > limit ? limit : x; }

/* The point of the ellipsoid sum (x_i / a_i)^2 <= 1 that is closest to y: x_i = a_i^2 y_i / (t + a_i^2), t by bisection.
 */
static inline ss_vec3 project_ellipsoid(ss_vec3 half, ss_vec3 y) {
  double low = 0, high = 1e6;
  double x[3] = {0};
  for (int k = 0; k < 200; k++) {
    const double t = k == 0 ? 0 : (low + high) / 2;
    double sum = 0;
    for (int i = 0; i < 3; i++) {
      const double a = v3_get(half, i);
      x[i] = a > 0 ? a * a * v3_get(y, i) / (t + a * a) : v3_get(y, i); /* an ellipse goes on across its plane */
      sum += a > 0 ? x[i] / a * x[i] / a : 0;
    }
    if (k == 0 && sum <= 1) break;
    if (sum > 1)
      low = t;
    else
      high = t;
  }
  return v3(x[0], x[1], x[2]);
}

/* Closest point of the convex hull of points to y, which is outside: among all their triangles. */
static inline ss_vec3 project_points(const ss_vec3 *vertex, int n, ss_vec3 y) {
  ss_vec3 best = y;
  double least = INFINITY;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k <= i && k <= j; k++) {
        const ss_vec3 a = vertex[i], u = v3_sub(vertex[j], a), v = v3_sub(vertex[k], a), d = v3_sub(y, a);
        const double uu = v3_dot(u, u), uv = v3_dot(u, v), vv = v3_dot(v, v), du = v3_dot(d, u), dv = v3_dot(d, v);
        const double det = uu * vv - uv * uv;
        double s = det > 1e-12 * uu * vv ? (vv * du - uv * dv) / det : -1;
        double t = det > 1e-12 * uu * vv ? (uu * dv - uv * du) / det : -1;
        if (s < 0 || t < 0 || s + t > 1) { /* not over the triangle: its first side */
          s = uu > 0 ? fmin(fmax(du / uu, 0), 1) : 0;
          t = 0;
        }
        const ss_vec3 x = v3_axpy(v3_axpy(a, s, u), t, v);
        const double distance = v3_norm(v3_sub(y, x));
        if (distance < least) least = distance, best = x;
      }
  return best;
}

static inline ss_vec3 project_hull(const struct ss_hull *h, ss_vec3 y) {
  bool inside = true;
  for (int i = 0; i < h->n_faces && inside; i++) inside = v3_dot(h->face[i].normal, y) <= h->face[i].offset;
  return inside ? y : project_points(h->vertex, h->n_vertices, y);
}

static inline ss_vec3 project_mesh(const struct ss_mesh *m, ss_vec3 y) {
  bool inside = true;
  for (int i = 0; i < m->n_facets && inside; i++) inside = facet_height(m, i, y) <= 0;
  return inside ? y : project_points(m->vertex, m->n_vertices, y);
}

/* The point of the shape that is closest to x. */
static inline ss_vec3 project(const ss_shape *s, const ss_pose *p, ss_vec3 x) {
  ss_vec3 y = pose_local(p, x), core = v3(0, 0, 0);
  if (s->type == SS_SHAPE_HALF_SPACE) return pose_point(p, v3(y.x, y.y, y.z < 0 ? y.z : 0));
  if (s->type == SS_SHAPE_ELLIPSOID || s->type == SS_SHAPE_ELLIPSE) return pose_point(p, project_ellipsoid(s->half, y));
  if (s->type == SS_SHAPE_CONVEX) return pose_point(p, project_hull(s->hull, y));
  if (s->type == SS_SHAPE_MESH) return pose_point(p, project_mesh(s->mesh, y));
  if (s->type == SS_SHAPE_CYLINDER) {
    const double rho = hypot(y.y, y.z), shrink = rho > s->radius ? s->radius / rho : 1;
    return pose_point(p, v3(clip(y.x, s->half.x), shrink * y.y, shrink * y.z));
  }
  if (s->type == SS_SHAPE_BOX || s->type == SS_SHAPE_CAPSULE)
    core = v3(clip(y.x, s->half.x), clip(y.y, s->half.y), clip(y.z, s->half.z));
  const ss_vec3 d = v3_sub(y, core);
  const double length = v3_norm(d);
  if (length > s->radius) y = v3_axpy(core, s->radius / length, d);
  return pose_point(p, y);
}

#endif
