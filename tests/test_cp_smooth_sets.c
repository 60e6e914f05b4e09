/* Smoothed projections on polygons: they satisfy their equation to rounding errors, their derivatives are those of
 * differences, and for sigma -> 0 they are the projections. */
#include "cp_suite.h"

#include "cp/smoothing.h"

enum { MOST = 16 };

static void corners_of(int k, double *corners) {
  for (int i = 0; i <= k; i++) {
    corners[2 * i] = cos(2 * acos(-1) * i / k);
    corners[2 * i + 1] = sin(2 * acos(-1) * i / k);
  }
}

/* |x - d + sigma^2 sum n / slack| relative to the rounding errors of the slacks. */
static double equation(const double *corners, int k, const double *d, double r, double sigma, const double *x) {
  double F[2] = {x[0] - d[0], x[1] - d[1]}, stiffness = 1;
  for (int e = 0; e < k; e++) {
    const double *a = corners + 2 * e;
    double n[2] = {(a[0] + a[2]) / 2, (a[1] + a[3]) / 2};
    const double apothem = hypot(n[0], n[1]);
    n[0] /= apothem;
    n[1] /= apothem;
    const double slack = r * apothem - n[0] * x[0] - n[1] * x[1];
    assert_true(slack > 0);
    for (int i = 0; i < 2; i++) F[i] += sigma * sigma / slack * n[i];
    stiffness += sigma * sigma / slack / slack;
  }
  return hypot(F[0], F[1]) / (hypot(d[0], d[1]) + stiffness * r);
}

static double random_size(random_source *random) { return pow(10, random_between(random, -3, 3)); }

static void polygons(void **state) {
  (void)state;
  random_source random = {31};
  for (int trial = 0; trial < 4000; trial++) {
    const int k = (int[]){4, 6, 8, MOST}[trial % 4];
    double corners[2 * MOST + 2], p[2], q[2], slope[4], by_radius[2];
    corners_of(k, corners);
    const ss_block block = {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = k, .mu = 1};
    const double r = random_size(&random), sigma = pow(10, random_between(&random, -5, 0)),
                 far = r * random_size(&random);
    const double angle = trial % 3 ? random_between(&random, 0, 7) : 2 * acos(-1) * trial / k; /* or at a corner */
    const double d[2] = {far * cos(angle), far * sin(angle)};
    if (sigma * sigma < 1e-13 * r * (r + far)) continue; /* slacks of a few digits */
    smooth_section(&block, corners, d, r, sigma, p, slope, by_radius);
    assert_true(equation(corners, k, d, r, sigma, p) <= 1e-14);
    const double h = 1e-6 * fmin(sigma, r);
    for (int i = 0; i < 2 && sigma > 1e-3 * (r + far); i++) {
      const double beside[2] = {d[0] + (i == 0) * h, d[1] + (i == 1) * h};
      smooth_section(&block, corners, beside, r, sigma, q, NULL, NULL);
      for (int j = 0; j < 2; j++) assert_true(fabs((q[j] - p[j]) / h - slope[2 * j + i]) <= 1e-3);
    }
  }
}

static void limits(void **state) {
  (void)state;
  double corners[10], p[2];
  corners_of(4, corners);
  const ss_block block = {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 4, .mu = 1};
  const double inside[2] = {0.1, 0.2}, beyond_edge[2] = {2, 2}, beyond_corner[2] = {5, 0.1};
  smooth_section(&block, corners, inside, 1, 1e-6, p, NULL, NULL);
  assert_true(hypot(p[0] - 0.1, p[1] - 0.2) < 1e-10);
  smooth_section(&block, corners, beyond_edge, 1, 1e-6, p, NULL, NULL);
  assert_true(hypot(p[0] - 0.5, p[1] - 0.5) < 1e-10);
  smooth_section(&block, corners, beyond_corner, 1, 1e-6, p, NULL, NULL);
  assert_true(hypot(p[0] - 1, p[1]) < 1e-10);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(polygons), cmocka_unit_test(limits)};
  return CP_SUITE("cp_smooth_sets", tests);
}
