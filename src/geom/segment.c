#include "geom/pairs.h"

double ss_edge_distance(const ss_segment *a, const ss_segment *b, ss_vec3 outward, ss_vec3 *n, double *s, double *t) {
  if (segment_perpendicular(a, b, s, t, n) && segment_contains(a, *s, 0) && segment_contains(b, *t, 0)) {
    if (v3_dot(*n, outward) < 0) *n = v3_neg(*n);
    return v3_dot(*n, v3_sub(a->center, b->center));
  }
  segments_closest(a, b, s, t);
  ss_vec3 fallback;
  (void)length_and_direction(outward, a->axis, &fallback);
  return length_and_direction(v3_sub(segment_point(a, *s), segment_point(b, *t)), fallback, n);
}
