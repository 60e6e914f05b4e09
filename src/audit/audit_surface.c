/* Meshes and height fields: points of the convex shape (its extreme points in fixed directions, its corners) are held against the
 * surface. A point is behind it where the nearest triangle has it on its inner side, straight below its face. Points that are
 * nearest to a side or a corner of the surface are left out: there the inner side is a matter of convention. */
#include "audit/audit.h"

#include "geom/hull.h"
#include "geom/mesh.h"

#include <stdlib.h>

typedef struct span {
  double low, high; /* of a triangle along the axis */
  int triangle;
} span;

struct ss_audited_surface {
  const struct ss_mesh *mesh;
  int axis; /* along which the mesh is longest */
  span *spans;
  double widest;
};

static int by_low(const void *a, const void *b) {
  const span *x = a, *y = b;
  return x->low != y->low ? (x->low < y->low ? -1 : 1) : x->triangle - y->triangle;
}

static double extent(const struct ss_mesh *mesh, int axis) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = 0; i < mesh->n_vertices; i++) {
    low = fmin(low, v3_get(mesh->vertex[i], axis));
    high = fmax(high, v3_get(mesh->vertex[i], axis));
  }
  return high - low;
}

ss_audited_surface *ss_surface_create(ss_arena *arena, const ss_shape *shape) {
  const struct ss_mesh *mesh = shape->mesh;
  ss_audited_surface *s = SS_ARENA_ARRAY(arena, ss_audited_surface, 1);
  if (s) s->spans = SS_ARENA_ARRAY(arena, span, mesh->n_triangles);
  if (!s || !s->spans) return NULL;
  s->mesh = mesh;
  for (int i = 1; i < 3; i++)
    if (extent(mesh, i) > extent(mesh, s->axis)) s->axis = i;
  for (int i = 0; i < mesh->n_triangles; i++) {
    span *own = &s->spans[i];
    *own = (span){HUGE_VAL, -HUGE_VAL, i};
    for (int k = 0; k < 3; k++) {
      const double x = v3_get(mesh->vertex[mesh->triangle[i].corner[k]], s->axis);
      own->low = fmin(own->low, x);
      own->high = fmax(own->high, x);
    }
    s->widest = fmax(s->widest, own->high - own->low);
  }
  qsort(s->spans, (size_t)mesh->n_triangles, sizeof *s->spans, by_low);
  return s;
}

/* Index of the first triangle that starts at x or beyond. */
static int first_from(const ss_audited_surface *s, double x) {
  int low = 0, high = s->mesh->n_triangles;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (s->spans[middle].low < x)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* ---- points ---- */

enum { DIRECTIONS = 26, MOST_POINTS = DIRECTIONS + 40 };

/* Nanoseconds (ss_audit_work): of a point, of a triangle that may be near, of a point and a triangle that is. */
static const double POINT_WORK = 15, TRIANGLE_WORK = 10, NEAR_WORK = 6;

typedef struct sample {
  ss_vec3 point;    /* in the surface's frame */
  double distance2; /* of the nearest triangle so far */
  double depth;     /* behind it; negative: before it, or beside its face */
} sample;

static int take_samples(const ss_probe *mesh, const ss_probe *other, sample *samples) {
  int n = 0;
  for (int i = 0; i < 27; i++) {
    if (i == 13) continue;
    const int x = i % 3 - 1, y = i / 3 % 3 - 1, z = i / 9 - 1;
    const ss_vec3 d = v3_normalize(v3(x, y, z));
    samples[n++].point = v3_axpy(ss_probe_support(other, d), other->radius, d);
  }
  const struct ss_hull *hull = other->shape->hull;
  for (int i = 0; hull && i < hull->n_vertices && n < MOST_POINTS; i++)
    samples[n++].point = v3_add(other->center, mat3_mul(&other->turn, hull->vertex[i]));
  for (int i = 0; i < 8 && other->shape->type == SS_SHAPE_BOX; i++) {
    const ss_vec3 h = other->shape->half;
    const ss_vec3 corner = v3(i & 1 ? h.x : -h.x, i & 2 ? h.y : -h.y, i & 4 ? h.z : -h.z);
    samples[n++].point = v3_add(other->center, mat3_mul(&other->turn, corner));
  }
  for (int i = 0; i < n; i++) {
    samples[i].point = mat3_tmul(&mesh->turn, v3_sub(samples[i].point, mesh->center));
    samples[i].distance2 = HUGE_VAL;
    samples[i].depth = -1;
  }
  return n;
}

static double segment_distance2(ss_vec3 p, ss_vec3 a, ss_vec3 b) {
  const ss_vec3 side = v3_sub(b, a), to = v3_sub(p, a);
  const double t = fmin(fmax(v3_dot(to, side) / v3_dot(side, side), 0), 1);
  const ss_vec3 rest = v3_axpy(to, -t, side);
  return v3_dot(rest, rest);
}

static void measure(sample *s, ss_vec3 a, ss_vec3 b, ss_vec3 c, ss_vec3 n) {
  const ss_vec3 p = s->point;
  const double height = v3_dot(n, v3_sub(p, a));
  if (height * height >= s->distance2) return; /* the triangle is no nearer than its plane */
  const bool over = v3_dot(n, v3_cross(v3_sub(b, a), v3_sub(p, a))) >= 0 &&
                    v3_dot(n, v3_cross(v3_sub(c, b), v3_sub(p, b))) >= 0 &&
                    v3_dot(n, v3_cross(v3_sub(a, c), v3_sub(p, c))) >= 0;
  const double distance2 =
      over ? height * height
           : fmin(segment_distance2(p, a, b), fmin(segment_distance2(p, b, c), segment_distance2(p, c, a)));
  if (!(distance2 < s->distance2)) return;
  s->distance2 = distance2;
  s->depth = over ? -height : -1;
}

double ss_surface_overlap(const ss_audited_surface *surface, const ss_probe *mesh, const ss_probe *other,
                          double *work) {
  const struct ss_mesh *m = surface->mesh;
  sample samples[MOST_POINTS + 8];
  const int n = take_samples(mesh, other, samples);
  const double reach = 1.5 * other->shape->reach;
  *work += POINT_WORK * n;
  const ss_vec3 center = mat3_tmul(&mesh->turn, v3_sub(other->center, mesh->center));
  const double x = v3_get(center, surface->axis);
  for (int i = first_from(surface, x - reach - surface->widest); i < m->n_triangles; i++) {
    const span *own = &surface->spans[i];
    if (own->low > x + reach) break;
    *work += TRIANGLE_WORK;
    const ss_triangle *t = &m->triangle[own->triangle];
    const ss_vec3 a = m->vertex[t->corner[0]], b = m->vertex[t->corner[1]], c = m->vertex[t->corner[2]];
    bool near = true;
    for (int k = 0; k < 3 && near; k++) {
      const double low = fmin(v3_get(a, k), fmin(v3_get(b, k), v3_get(c, k)));
      const double high = fmax(v3_get(a, k), fmax(v3_get(b, k), v3_get(c, k)));
      near = low <= v3_get(center, k) + reach && high >= v3_get(center, k) - reach;
    }
    if (!near) continue;
    const ss_vec3 normal = v3_normalize(v3_cross(v3_sub(b, a), v3_sub(c, a)));
    for (int k = 0; k < n; k++) measure(&samples[k], a, b, c, normal);
    *work += NEAR_WORK * n;
  }
  double depth = 0;
  for (int k = 0; k < n; k++) depth = fmax(depth, samples[k].depth);
  return depth;
}

/* ---- passing through ---- */

/* Share of the way from p to q at which it passes through the triangle; negative: it does not. */
static double crossing(ss_vec3 p, ss_vec3 q, ss_vec3 a, ss_vec3 b, ss_vec3 c, ss_vec3 *n) {
  *n = v3_normalize(v3_cross(v3_sub(b, a), v3_sub(c, a)));
  const double from = v3_dot(*n, v3_sub(p, a)), to = v3_dot(*n, v3_sub(q, a));
  if ((from >= 0) == (to >= 0)) return -1;
  const double share = from / (from - to);
  const ss_vec3 x = v3_axpy(p, share, v3_sub(q, p));
  const bool inside = v3_dot(*n, v3_cross(v3_sub(b, a), v3_sub(x, a))) >= 0 &&
                      v3_dot(*n, v3_cross(v3_sub(c, b), v3_sub(x, b))) >= 0 &&
                      v3_dot(*n, v3_cross(v3_sub(a, c), v3_sub(x, c))) >= 0;
  return inside ? share : -1;
}

/* The first crossing beyond a share of the way, inwards or outwards. */
static double first_crossing(const ss_audited_surface *s, ss_vec3 p, ss_vec3 q, double beyond, bool inwards,
                             ss_vec3 *normal) {
  const struct ss_mesh *m = s->mesh;
  const double low = fmin(v3_get(p, s->axis), v3_get(q, s->axis)), high = fmax(v3_get(p, s->axis), v3_get(q, s->axis));
  double first = HUGE_VAL;
  for (int i = first_from(s, low - s->widest); i < m->n_triangles && s->spans[i].low <= high; i++) {
    const ss_triangle *t = &m->triangle[s->spans[i].triangle];
    ss_vec3 n;
    const double share = crossing(p, q, m->vertex[t->corner[0]], m->vertex[t->corner[1]], m->vertex[t->corner[2]], &n);
    if (share < beyond || share >= first || (v3_dot(n, v3_sub(q, p)) < 0) != inwards) continue;
    first = share;
    *normal = n;
  }
  return first;
}

/* A way in on one side and out on the opposite one, or in for good (a surface without a back, or a solid); in and out around an
 * edge is what the chord of a path around it does. */
double ss_surface_passage(const ss_audited_surface *surface, const ss_pose mesh[2], const ss_shape *other,
                          const ss_pose ends[2]) {
  const ss_vec3 p = pose_local(&mesh[0], ends[0].position), q = pose_local(&mesh[1], ends[1].position);
  const double way = v3_norm(v3_sub(q, p)), width = ss_shape_width(other);
  if (!(way > width)) return 0;
  ss_vec3 in, out = {0, 0, 0};
  const double enters = first_crossing(surface, p, q, 0, true, &in);
  if (!(enters < HUGE_VAL)) return 0;
  const double leaves = first_crossing(surface, p, q, enters, false, &out);
  if (leaves < HUGE_VAL && v3_dot(in, out) > -0.5) return 0;
  return width > 0 ? width : way;
}
