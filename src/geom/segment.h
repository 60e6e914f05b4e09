/* Line segments: axes of capsules and edges of boxes. */
#ifndef SS_GEOM_SEGMENT_H
#define SS_GEOM_SEGMENT_H

#include "core/math3.h"

/* Points center + s axis, |s| <= half. */
typedef struct ss_segment {
  ss_vec3 center, axis;
  double half;
} ss_segment;

/* Inline, unlike fmin and fmax, which must mind NaN. */
static inline double clamp(double x, double limit) { return x > limit ? limit : x < -limit ? -limit : x; }

static inline ss_vec3 segment_point(const ss_segment *a, double s) { return v3_axpy(a->center, s, a->axis); }

/* Parameter of the point of the segment that is closest to p. */
static inline double segment_closest(const ss_segment *a, ss_vec3 p) {
  return clamp(v3_dot(a->axis, v3_sub(p, a->center)), a->half);
}

/* The common perpendicular of the two lines: its feet s and t, and its direction w, a unit vector along
 * a->axis x b->axis. False where the lines are parallel (sine of their angle below 1e-7: the feet are lost there). */
static inline bool segment_perpendicular(const ss_segment *a, const ss_segment *b, double *s, double *t, ss_vec3 *w) {
  const ss_vec3 r = v3_sub(a->center, b->center), cross = v3_cross(a->axis, b->axis);
  const double square = v3_dot(cross, cross);
  if (!(square > 1e-14)) return false;
  /* r + s ua - t ub = k (ua x ub), times ub x (ua x ub) and ua x (ua x ub) */
  *s = -v3_dot(r, v3_cross(b->axis, cross)) / square;
  *t = -v3_dot(r, v3_cross(a->axis, cross)) / square;
  *w = v3_scale(1 / sqrt(square), cross);
  return true;
}

static inline bool segment_contains(const ss_segment *a, double s, double margin) {
  return fabs(s) <= a->half - margin;
}

/* Do lines at a distance d from each other, the axis of something round and another one, cross? At the angle t the feet of their
 * common perpendicular are uncertain by d/t^2 of the last digit, and jump from step to step; what is touching along a line
 * touches in its ends, too, and there by no more than (length t)^2/8d later. */
static inline bool segments_cross(const ss_segment *a, const ss_segment *b) {
  const ss_vec3 cross = v3_cross(a->axis, b->axis);
  return v3_dot(cross, cross) > 2e-5 * 2e-5;
}

/* Parameters of the two closest points. The squared distance is a convex quadratic of (s, t): its minimum over the
 * rectangle is the common perpendicular or lies on a side, where one of the points is an end. */
static inline void segments_closest(const ss_segment *a, const ss_segment *b, double *s, double *t) {
  ss_vec3 w;
  if (segment_perpendicular(a, b, s, t, &w) && segment_contains(a, *s, 0) && segment_contains(b, *t, 0)) return;
  double best = INFINITY;
  for (int i = 0; i < 4; i++) {
    const ss_segment *one = i < 2 ? a : b, *other = i < 2 ? b : a;
    const double end = i & 1 ? one->half : -one->half;
    const ss_vec3 p = segment_point(one, end);
    const double foot = segment_closest(other, p);
    const double distance = v3_norm(v3_sub(p, segment_point(other, foot)));
    if (i == 0 || distance < best) {
      best = distance;
      *s = i < 2 ? end : foot;
      *t = i < 2 ? foot : end;
    }
  }
}

/* Distance of two edges of solids. Where the feet of the common perpendicular are inside both, it is signed: positive
 * along `outward`, which points from b's solid into the free space towards a. Elsewhere it is the plain distance, so
 * that edges which pass beside each other never count as touching. The two agree, and so do their first derivatives,
 * where the feet pass the ends of separated edges. *n: unit, from b to a; *s, *t: the feet. */
double ss_edge_distance(const ss_segment *a, const ss_segment *b, ss_vec3 outward, ss_vec3 *n, double *s, double *t);

/* A negative distance of edges means that they have passed each other, or that one goes around the other's solid: turned by
 * half a turn about an edge, `outward` is no help. Solids that neither edge passes through are apart there: their plain
 * distance. */
static inline double edges_apart(double distance, ss_vec3 *n) {
  *n = v3_neg(*n);
  return -distance;
}

/* Where a slope that rises along [low, high] passes zero, or the end it does not reach zero before. Where it is zero (below
 * 1e-14) at `start`, that is the answer: the middle of a stretch of minima. */
typedef double (*ss_slope)(const void *context, double s);
double ss_rising_root(ss_slope slope, const void *context, double low, double high, double start);

#endif
