#include "geom/pairs.h"

double ss_edge_distance(const ss_segment *a, const ss_segment *b, ss_vec3 outward, ss_vec3 *n, double *s, double *t) {
  const double slack =
      1e-9; /* of the half lengths: where an edge passes an end, rounding does not decide about the sign */
  if (segment_perpendicular(a, b, s, t, n) && segment_contains(a, *s, -slack * a->half) &&
      segment_contains(b, *t, -slack * b->half)) {
    if (v3_dot(*n, outward) < 0) *n = v3_neg(*n);
    return v3_dot(*n, v3_sub(a->center, b->center));
  }
  segments_closest(a, b, s, t);
  ss_vec3 fallback;
  (void)length_and_direction(outward, a->axis, &fallback);
  return length_and_direction(v3_sub(segment_point(a, *s), segment_point(b, *t)), fallback, n);
}

/* Regula falsi (Illinois); bisections once three steps did not halve the interval, three times: where a slope has a kink at its root. */
double ss_rising_root(ss_slope slope, const void *context, double low, double high, double start) {
  const double width = high - low, middle = slope(context, start);
  if (fabs(middle) <= 1e-14 || !(width > 0)) return start;
  if (middle < 0)
    low = start;
  else
    high = start;
  double f_low = middle < 0 ? middle : slope(context, low), f_high = middle < 0 ? slope(context, high) : middle;
  if (f_low >= 0) return low;
  if (f_high <= 0) return high;
  int side = 0, slow = 0;
  double before = high - low; /* three steps ago */
  for (int k = 1; k <= 100 && high - low > 1e-16 * width; k++) {
    double s = low + (high - low) * f_low / (f_low - f_high);
    if (k % 3 == 0) {
      slow += high - low > before / 2;
      before = high - low;
    }
    if (slow > 2 || !(s > low) || !(s < high)) s = (low + high) / 2;
    if (!(s > low) || !(s < high)) break;
    const double f = slope(context, s);
    if (f == 0) return s;
    if (f < 0) {
      if (side == -1) f_high /= 2;
      low = s, f_low = f, side = -1;
    } else {
      if (side == 1) f_low /= 2;
      high = s, f_high = f, side = 1;
    }
  }
  return low + (high - low) * f_low / (f_low - f_high);
}
