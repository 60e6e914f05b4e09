#include "la/factor.h"

#include <math.h>
#include <stddef.h>

static void swap_rows(double *a, int width, int i, int j) {
  double *x = a + (ptrdiff_t)i * width, *y = a + (ptrdiff_t)j * width;
  for (int k = 0; k < width; k++) {
    const double keep = x[k];
    x[k] = y[k];
    y[k] = keep;
  }
}

bool ss_dense_factor(double *a, int n, int *pivot) {
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < n; i++)
      if (fabs(a[(ptrdiff_t)i * n + c]) > fabs(a[(ptrdiff_t)best * n + c])) best = i;
    pivot[c] = best;
    if (best != c) swap_rows(a, n, c, best);
    const double *top = a + (ptrdiff_t)c * n;
    if (!(fabs(top[c]) > 0) || !isfinite(top[c])) return false;
    for (int i = c + 1; i < n; i++) {
      double *row = a + (ptrdiff_t)i * n;
      const double factor = row[c] / top[c];
      row[c] = factor;
      if (factor == 0) continue;
      for (int k = c + 1; k < n; k++) row[k] -= factor * top[k];
    }
  }
  return true;
}

static void subtract(double *b, int count, int from, int to, double factor) {
  const double *x = b + (ptrdiff_t)from * count;
  double *y = b + (ptrdiff_t)to * count;
  for (int k = 0; k < count; k++) y[k] -= factor * x[k];
}

void ss_dense_solve(const double *a, int n, const int *pivot, double *b, int count) {
  for (int i = 0; i < n; i++)
    if (pivot[i] != i) swap_rows(b, count, i, pivot[i]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) subtract(b, count, j, i, a[(ptrdiff_t)i * n + j]);
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) subtract(b, count, j, i, a[(ptrdiff_t)i * n + j]);
    for (int k = 0; k < count; k++) b[(ptrdiff_t)i * count + k] /= a[(ptrdiff_t)i * n + i];
  }
}
