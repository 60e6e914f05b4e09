/* Solids for the geometry tests, known by their corners, radii and nothing else: support functions, faces and membership are
 * written here and share nothing with the library but vectors and quaternions. */
#ifndef GEOM_REFERENCE_H
#define GEOM_REFERENCE_H

#include "geom_support.h"

#include <stdlib.h>

enum { MOST_CORNERS = 16, MOST_OUTLINE = 160 };

/* In its own frame: the hull of the corners grown by `radius`; with `disc` the cylinder |x| <= half, y^2 + z^2 <= disc^2; with
 * semi.x an ellipsoid; `flat`: everything below z = 0, as far as `flat` to the sides. */
typedef struct solid {
  const char *name;
  ss_shape shape;
  ss_vec3 corner[MOST_CORNERS], plane[MOST_CORNERS]; /* plane: outward normals of the faces */
  int n_corners, n_planes;
  double radius, half, disc, flat;
  ss_vec3 semi;
  double size; /* radius of a ball that holds it; of flat ones 1 */
} solid;

/* ---- making them ---- */

static inline solid solid_box(double x, double y, double z) {
  solid s = {.name = "box", .shape = box_shape(x, y, z), .n_corners = 8, .n_planes = 6};
  for (int i = 0; i < 8; i++) s.corner[i] = v3(i & 1 ? x / 2 : -x / 2, i & 2 ? y / 2 : -y / 2, i & 4 ? z / 2 : -z / 2);
  for (int i = 0; i < 6; i++) s.plane[i] = v3((i == 0) - (i == 1), (i == 2) - (i == 3), (i == 4) - (i == 5));
  s.size = sqrt(x * x + y * y + z * z) / 2;
  return s;
}

/* A prism along z with a regular polygon of n corners, one of them at x = radius. */
static inline solid solid_prism(int n, double radius, double height) {
  solid s = {.name = "convex", .n_corners = 2 * n, .n_planes = n + 2, .size = hypot(radius, height / 2)};
  for (int i = 0; i < n; i++) {
    const double angle = 2 * 3.14159265358979323846 * i / n, side = angle + 3.14159265358979323846 / n;
    s.corner[2 * i] = v3(radius * cos(angle), radius * sin(angle), -height / 2);
    s.corner[2 * i + 1] = v3(radius * cos(angle), radius * sin(angle), height / 2);
    s.plane[i] = v3(cos(side), sin(side), 0);
  }
  s.plane[n] = v3(0, 0, 1);
  s.plane[n + 1] = v3(0, 0, -1);
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = s.corner;
  d.n_points = s.n_corners;
  s.shape = compiled(&d);
  return s;
}

static inline solid solid_mesh(solid of) {
  of.name = "mesh";
  if (of.shape.hull) {
    of.shape = mesh_of_hull(of.shape.hull);
  } else {
    ss_hull_room room;
    of.shape = mesh_of_hull(ss_hull_of(&of.shape, &room));
  }
  return of;
}

static inline solid solid_round(ss_shape_type type, double radius) {
  ss_shape_def d = shape_definition(type);
  d.radius = radius;
  return (solid){.name = type == SS_SHAPE_POINT ? "point" : "sphere",
                 .shape = compiled(&d),
                 .n_corners = 1,
                 .radius = type == SS_SHAPE_POINT ? 0 : radius,
                 .size = type == SS_SHAPE_POINT ? 1 : radius};
}

static inline solid solid_capsule(double radius, double length) {
  return (solid){.name = "capsule",
                 .shape = capsule_shape(radius, length),
                 .corner = {{-length / 2, 0, 0}, {length / 2, 0, 0}},
                 .n_corners = 2,
                 .radius = radius,
                 .size = radius + length / 2};
}

static inline solid solid_cylinder(double radius, double length) {
  ss_shape_def d = shape_definition(SS_SHAPE_CYLINDER);
  d.radius = radius;
  d.length = length;
  return (solid){
      .name = "cylinder", .shape = compiled(&d), .half = length / 2, .disc = radius, .size = hypot(radius, length / 2)};
}

static inline solid solid_ellipsoid(double x, double y, double z) {
  ss_shape_def d = shape_definition(SS_SHAPE_ELLIPSOID);
  d.semi_axes = v3(x, y, z);
  return (solid){.name = "ellipsoid", .shape = compiled(&d), .semi = {x, y, z}, .size = fmax(x, fmax(y, z))};
}

static inline solid solid_half_space(void) {
  const ss_shape_def d = shape_definition(SS_SHAPE_HALF_SPACE);
  return (solid){.name = "half-space", .shape = compiled(&d), .flat = 100, .size = 1};
}

static inline solid solid_height_field(void) {
  static const double heights[25] = {0};
  ss_shape_def d = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  d.heights = heights;
  d.rows = d.columns = 5;
  d.spacing = v3(2, 2, 0);
  return (solid){.name = "height-field", .shape = compiled(&d), .flat = 4, .size = 1};
}

/* ---- what is known about them ---- */

/* The furthest point along d, in the solid's frame; flat ones know z alone. */
static inline ss_vec3 solid_furthest(const solid *s, ss_vec3 d) {
  if (s->flat > 0) return v3(0, 0, 0);
  if (s->semi.x > 0) {
    const double width = v3_norm(v3(s->semi.x * d.x, s->semi.y * d.y, s->semi.z * d.z));
    return v3(s->semi.x * s->semi.x * d.x / width, s->semi.y * s->semi.y * d.y / width,
              s->semi.z * s->semi.z * d.z / width);
  }
  if (s->disc > 0) {
    const double across = hypot(d.y, d.z);
    return v3(d.x < 0 ? -s->half : s->half, across > 0 ? s->disc * d.y / across : s->disc,
              across > 0 ? s->disc * d.z / across : 0);
  }
  int best = 0;
  for (int i = 1; i < s->n_corners; i++)
    if (v3_dot(d, s->corner[i]) > v3_dot(d, s->corner[best])) best = i;
  return v3_axpy(s->corner[best], s->radius / v3_norm(d), d);
}

static inline double solid_support(const solid *s, const ss_pose *p, ss_vec3 n) {
  const ss_vec3 d = quat_rotate(quat_conjugate(p->orientation), n);
  if (s->flat > 0 && !(hypot(d.x, d.y) < 1e-7 && d.z > 0)) return INFINITY;
  return v3_dot(n, p->position) + v3_dot(d, solid_furthest(s, d));
}

/* How far a point is out of the solid; at most 0: it belongs to it. Where it is out by a little, a lower bound of its
 * distance that is zero only on the solid. */
static inline double solid_outside(const solid *s, const ss_pose *p, ss_vec3 x) {
  const ss_vec3 y = pose_local(p, x);
  if (s->flat > 0) return fmax(y.z, fmax(fabs(y.x), fabs(y.y)) - s->flat);
  if (s->semi.x > 0)
    return (v3_norm(v3(y.x / s->semi.x, y.y / s->semi.y, y.z / s->semi.z)) - 1) *
           fmin(s->semi.x, fmin(s->semi.y, s->semi.z));
  if (s->disc > 0) return fmax(fabs(y.x) - s->half, hypot(y.y, y.z) - s->disc);
  if (s->n_corners == 1) return v3_norm(y) - s->radius;
  if (s->n_corners == 2) return v3_norm(v3(y.x - clip(y.x, s->corner[1].x), y.y, y.z)) - s->radius;
  double most = -INFINITY;
  for (int i = 0; i < s->n_planes; i++)
    most = fmax(most, v3_dot(s->plane[i], v3_sub(y, solid_furthest(s, s->plane[i]))));
  return most;
}

/* ---- faces, seen along z ---- */

typedef struct outline {
  int n;
  double x[MOST_OUTLINE][2];
} outline;

static inline void outline_add(outline *o, double x, double y) {
  assert_true(o->n < MOST_OUTLINE);
  o->x[o->n][0] = x;
  o->x[o->n++][1] = y;
}

/* The part of the solid that is within `tilt` (a small angle) of its highest (side 1) or lowest point, as points of the world's
 * xy plane. */
static inline outline solid_face(const solid *s, const ss_pose *p, double side, double tilt) {
  outline o = {0};
  const ss_vec3 d = quat_rotate(quat_conjugate(p->orientation), v3(0, 0, side));
  ss_vec3 local[64];
  int n = 0;
  if (s->flat > 0) {
    for (int i = 0; i < 4; i++) local[n++] = v3(i & 1 ? s->flat : -s->flat, i & 2 ? s->flat : -s->flat, 0);
  } else if (s->disc > 0 && hypot(d.y, d.z) <= tilt) {
    for (int i = 0; i < 64; i++)
      local[n++] = v3(d.x < 0 ? -s->half : s->half, s->disc * cos(i * 3.14159265358979323846 / 32),
                      s->disc * sin(i * 3.14159265358979323846 / 32));
  } else if (s->disc > 0 && fabs(d.x) <= tilt) {
    for (int i = 0; i < 2; i++) {
      local[n] = solid_furthest(s, d);
      local[n++].x = i ? s->half : -s->half;
    }
  } else if (s->n_corners > 1) {
    const double top = v3_dot(d, solid_furthest(s, d)) - s->radius;
    for (int i = 0; i < s->n_corners; i++)
      if (v3_dot(d, s->corner[i]) >= top - tilt * s->size) local[n++] = v3_axpy(s->corner[i], s->radius, d);
  } else {
    local[n++] = solid_furthest(s, d);
  }
  for (int i = 0; i < n; i++) {
    const ss_vec3 x = pose_point(p, local[i]);
    outline_add(&o, x.x, x.y);
  }
  return o;
}

static inline int by_place(const void *left, const void *right) {
  const double *a = left, *b = right;
  if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
  return (a[1] > b[1]) - (a[1] < b[1]);
}

static inline double turns(const double *a, const double *b, const double *c) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Counterclockwise convex hull (Andrew's chain) of the points, each grown to a square of half width e: segments and points get
 * an area. */
static inline outline outline_grown(const outline *o, double e) {
  double x[4 * MOST_OUTLINE][2];
  int n = 0;
  for (int i = 0; i < o->n; i++)
    for (int k = 0; k < 4; k++) {
      x[n][0] = o->x[i][0] + (k & 1 ? e : -e);
      x[n++][1] = o->x[i][1] + (k & 2 ? e : -e);
    }
  qsort(x, (size_t)n, sizeof *x, by_place);
  double h[8 * MOST_OUTLINE][2];
  int m = 0;
  for (int pass = 0; pass < 2; pass++) {
    const int start = m;
    for (int i = 0; i < n; i++) {
      const double *p = x[pass ? n - 1 - i : i];
      while (m - start >= 2 && turns(h[m - 2], h[m - 1], p) <= 0) m--;
      h[m][0] = p[0];
      h[m++][1] = p[1];
    }
    m--;
  }
  outline result = {0};
  for (int i = 0; i < m; i++) outline_add(&result, h[i][0], h[i][1]);
  return result;
}

/* What two convex outlines have in common (Sutherland and Hodgman). */
static inline outline outline_common(outline a, const outline *b) {
  for (int k = 0; k < b->n; k++) {
    const double *p = b->x[k], *q = b->x[(k + 1) % b->n];
    outline next = {0};
    for (int i = 0; i < a.n; i++) {
      const double *u = a.x[i], *v = a.x[(i + 1) % a.n], du = turns(p, q, u), dv = turns(p, q, v);
      if (du >= 0) outline_add(&next, u[0], u[1]);
      if ((du < 0) != (dv < 0)) {
        const double t = du / (du - dv);
        outline_add(&next, u[0] + t * (v[0] - u[0]), u[1] + t * (v[1] - u[1]));
      }
    }
    a = next;
  }
  return a;
}

static inline double outline_support(const outline *o, double ux, double uy) {
  double most = -INFINITY;
  for (int i = 0; i < o->n; i++) most = fmax(most, ux * o->x[i][0] + uy * o->x[i][1]);
  return most;
}

#endif
