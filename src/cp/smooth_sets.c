/* Intervals and balls by the smoothed max(t, 0). Polygons r S = {x: n_i . x <= r a}, a = cos(pi / k), by a barrier,
 *
 *     p = argmin |x - d|^2 / 2 - sigma^2 sum log(r a - n_i . x),
 *
 * the point of the central path that belongs to d: two equations, whose derivatives follow from those of their solution. The
 * barrier's slacks are of size sigma^2, so that sigma must be well above the square root of the rounding errors. */
#include "cp/smooth_sets.h"

#include <math.h>

double smooth_plus(double t, double sigma) {
  const double root = sqrt(t * t + 4 * sigma * sigma);
  return t > 0 ? 0.5 * (t + root) : root > 0 ? 2 * sigma * sigma / (root - t) : 0;
}

double smooth_plus_slope(double t, double sigma) {
  const double root = sqrt(t * t + 4 * sigma * sigma);
  return root > 0 ? 0.5 * (1 + t / root) : 0.5;
}

double smooth_box(double t, double lower, double upper, double sigma, double *slope) {
  double value = t;
  *slope = 1;
  if (isfinite(lower)) {
    value = lower + smooth_plus(t - lower, sigma);
    *slope = smooth_plus_slope(t - lower, sigma);
  }
  if (isfinite(upper)) {
    value -= smooth_plus(t - upper, sigma);
    *slope -= smooth_plus_slope(t - upper, sigma);
  }
  return value;
}

void smooth_cone(const double *d, int rows, double sigma, double *p, double *slope) {
  double length = 0, n[SMOOTH_ROWS] = {0};
  for (int i = 1; i < rows; i++) length += d[i] * d[i];
  length = sqrt(length);
  for (int i = 1; i < rows && length > 0; i++) n[i] = d[i] / length;
  const double low = d[0] - length, high = d[0] + length, f = smooth_plus(low, sigma), g = smooth_plus(high, sigma);
  p[0] = 0.5 * (f + g);
  for (int i = 1; i < rows; i++) p[i] = 0.5 * (g - f) * n[i];
  if (!slope) return;
  const double df = smooth_plus_slope(low, sigma), dg = smooth_plus_slope(high, sigma);
  const double b = 0.5 * (dg + df), c = 0.5 * (dg - df);
  const double a = length > 1e-12 * (sigma + fabs(d[0])) ? 0.5 * (g - f) / length : df;
  slope[0] = b;
  for (int i = 1; i < rows; i++) {
    slope[i] = slope[i * rows] = c * n[i];
    for (int j = 1; j < rows; j++) slope[i * rows + j] = (i == j ? a : 0) + (b - a) * n[i] * n[j];
  }
}

/* On [-r, r], odd in t; `by_radius` is the derivative by r. */
static double interval(double t, double r, double sigma, double *slope, double *by_radius) {
  *by_radius = smooth_plus_slope(t + r, sigma) + smooth_plus_slope(t - r, sigma) - 1;
  return smooth_box(t, -r, r, sigma, slope);
}

static void project_cube(const double *d, int rows, double r, double sigma, double *p, double *slope,
                         double *by_radius) {
  for (int i = 0; i < rows; i++) {
    double own, by;
    p[i] = interval(d[i], r, sigma, &own, &by);
    if (by_radius) by_radius[i] = by;
    for (int j = 0; slope && j < rows; j++) slope[i * rows + j] = i == j ? own : 0;
  }
}

static void project_ball(const double *d, int rows, double r, double sigma, double *p, double *slope,
                         double *by_radius) {
  double length = 0, own, by;
  for (int i = 0; i < rows; i++) length += d[i] * d[i];
  length = sqrt(length);
  const double reach = interval(length, r, sigma, &own, &by);
  const double ratio = length > 1e-12 * (sigma + r) ? reach / length : own;
  for (int i = 0; i < rows; i++) {
    p[i] = ratio * d[i];
    const double n = length > 0 ? d[i] / length : 0;
    if (by_radius) by_radius[i] = by * n;
    for (int j = 0; slope && j < rows; j++)
      slope[i * rows + j] = (i == j ? ratio : 0) + (length > 0 ? (own - ratio) * n * d[j] / length : 0);
  }
}

typedef struct polygon {
  const double *corners; /* [k + 1] pairs, on the unit circle */
  int k;
  double apothem;     /* of the one with these corners */
  double r, strength; /* sigma^2 */
} polygon;

static polygon polygon_of(const double *corners, int k, double r, double sigma) {
  const double m[2] = {(corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2};
  return (polygon){corners, k, sqrt(m[0] * m[0] + m[1] * m[1]), r, sigma * sigma};
}

static void normal_of(const polygon *g, int edge, double *n) {
  const double *a = g->corners + (size_t)2 * (size_t)edge, half = 0.5 / g->apothem;
  n[0] = half * (a[0] + a[2]);
  n[1] = half * (a[1] + a[3]);
}

static double norm2(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1]); }

/* Gradient and matrix of the function at x, and the derivative of the gradient by r; false outside. With m the middle of an
 * edge, the distance from it is (r m^2 - m x) / |m|: the lengths |m| cancel. */
static bool barrier_at(const polygon *g, const double *d, const double *x, double *gradient, double *H, double *by_r) {
  double force[2] = {0, 0}, stiffness[3] = {0, 0, 0}, by[2] = {0, 0};
  for (int e = 0; e < g->k; e++) {
    const double *a = g->corners + (size_t)2 * (size_t)e;
    const double m[2] = {(a[0] + a[2]) / 2, (a[1] + a[3]) / 2}, square = m[0] * m[0] + m[1] * m[1];
    const double slack = g->r * square - m[0] * x[0] - m[1] * x[1];
    if (!(slack > 0)) return false;
    const double inverse = 1 / slack, f[2] = {inverse * m[0], inverse * m[1]};
    for (int i = 0; i < 2; i++) {
      force[i] += f[i];
      by[i] += square * inverse * f[i];
    }
    stiffness[0] += f[0] * f[0];
    stiffness[1] += f[0] * f[1];
    stiffness[2] += f[1] * f[1];
  }
  for (int i = 0; i < 2; i++) {
    gradient[i] = x[i] - d[i] + g->strength * force[i];
    by_r[i] = -g->strength * by[i];
    H[3 * i] = 1 + g->strength * stiffness[2 * i];
  }
  H[1] = H[2] = g->strength * stiffness[1];
  return true;
}

static void solve_two(const double *H, const double *b, double *x) {
  const double determinant = H[0] * H[3] - H[1] * H[2];
  const double first = (b[0] * H[3] - b[1] * H[1]) / determinant;
  x[1] = (b[1] * H[0] - b[0] * H[2]) / determinant;
  x[0] = first;
}

/* Near the solution: the edge that d is nearest to, and the one beside it, as if either were the only one. */
static void guess(const polygon *g, const double *d, double *x) {
  double n[2], best[2] = {1, 0}, out = -HUGE_VAL;
  for (int e = 0; e < g->k; e++) {
    normal_of(g, e, n);
    if (n[0] * d[0] + n[1] * d[1] <= out) continue;
    out = n[0] * d[0] + n[1] * d[1];
    best[0] = n[0];
    best[1] = n[1];
  }
  const double a = g->apothem, sigma = sqrt(g->strength), cosine = 2 * a * a - 1, sine = 2 * a * sqrt(1 - a * a);
  const double along = best[0] * d[1] - best[1] * d[0];
  const double level = fmax(g->r * a - smooth_plus(g->r * a - out, sigma), 0), end = (g->r * a - cosine * level) / sine;
  const double beside = copysign(fmax(end - smooth_plus(end - fabs(along), sigma), 0), along);
  x[0] = best[0] * level - best[1] * beside;
  x[1] = best[1] * level + best[0] * beside;
}

/* Newton's method with steps that stay inside and lower the gradient, as far as rounding errors of the slacks allow: these are
 * multiplied by the matrix. */
static void project_polygon(const polygon *g, const double *d, double *p, double *slope, double *by_radius) {
  enum { STEPS = 60 };
  static const double rounding = 0x1p-51, shortest = 1e-12;
  double x[2], gradient[2], H[4], by_r[2], step[2], trial[2], other[2], matrix[4], by[2];
  guess(g, d, x);
  if (!barrier_at(g, d, x, gradient, H, by_r)) {
    x[0] = x[1] = 0;
    (void)barrier_at(g, d, x, gradient, H, by_r);
  }
  for (int k = 0; k < STEPS; k++) {
    const double size = norm2(gradient);
    if (size <= rounding * (norm2(d) + (H[0] + H[3]) * g->r)) break;
    solve_two(H, gradient, step);
    bool moved = false;
    for (double length = 1; length > shortest && !moved; length *= 0.5) {
      for (int i = 0; i < 2; i++) trial[i] = x[i] - length * step[i];
      moved = barrier_at(g, d, trial, other, matrix, by) && norm2(other) < size;
    }
    if (!moved) break;
    for (int i = 0; i < 2; i++) {
      x[i] = trial[i];
      gradient[i] = other[i];
      by_r[i] = by[i];
    }
    for (int i = 0; i < 4; i++) H[i] = matrix[i];
  }
  p[0] = x[0];
  p[1] = x[1];
  if (by_radius) {
    solve_two(H, by_r, by_radius);
    by_radius[0] = -by_radius[0];
    by_radius[1] = -by_radius[1];
  }
  if (!slope) return;
  const double determinant = H[0] * H[3] - H[1] * H[2];
  slope[0] = H[3] / determinant;
  slope[3] = H[0] / determinant;
  slope[1] = slope[2] = -H[1] / determinant;
}

void smooth_section(const ss_block *block, const double *corners, const double *d, double r, double sigma, double *p,
                    double *slope, double *by_radius) {
  const int rows = block->size - 1;
  if (rows == 1 || block->cone == SS_CONE_PYRAMID) {
    project_cube(d, rows, r, sigma, p, slope, by_radius);
  } else if (block->cone == SS_CONE_QUADRATIC) {
    project_ball(d, rows, r, sigma, p, slope, by_radius);
  } else {
    const polygon g = polygon_of(corners, block->directions, r, sigma);
    project_polygon(&g, d, p, slope, by_radius);
  }
}
