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

/* Columns are eliminated in panels, so that the rest of the matrix is passed once per panel, not once per column. */
enum { PANEL = 8 };

static int largest_in_column(const double *a, int n, int c) {
  int best = c;
  for (int i = c + 1; i < n; i++)
    if (fabs(a[(ptrdiff_t)i * n + c]) > fabs(a[(ptrdiff_t)best * n + c])) best = i;
  return best;
}

/* Columns first .. end - 1, all rows below; whole rows are exchanged. */
static bool factor_panel(double *a, int n, int first, int end, int *pivot) {
  for (int c = first; c < end; c++) {
    pivot[c] = largest_in_column(a, n, c);
    if (pivot[c] != c) swap_rows(a, n, c, pivot[c]);
    const double *top = a + (ptrdiff_t)c * n;
    if (!(fabs(top[c]) > 0) || !isfinite(top[c])) return false;
    for (int i = c + 1; i < n; i++) {
      double *row = a + (ptrdiff_t)i * n;
      row[c] /= top[c];
      for (int k = c + 1; k < end; k++) row[k] -= row[c] * top[k];
    }
  }
  return true;
}

/* Row i minus its multiples of rows first .. end - 1, in the columns from `from` on. */
static void reduce_row(double *a, int n, int i, int first, int end, int from) {
  double *row = a + (ptrdiff_t)i * n;
  int c = first;
  for (; c + 4 <= end; c += 4) {
    const double *t = a + (ptrdiff_t)c * n, f0 = row[c], f1 = row[c + 1], f2 = row[c + 2], f3 = row[c + 3];
    for (int k = from; k < n; k++) row[k] -= f0 * t[k] + f1 * t[n + k] + f2 * t[2 * n + k] + f3 * t[3 * n + k];
  }
  for (; c < end; c++) {
    const double *t = a + (ptrdiff_t)c * n, f = row[c];
    for (int k = from; k < n; k++) row[k] -= f * t[k];
  }
}

bool ss_dense_factor(double *a, int n, int *pivot) {
  for (int first = 0; first < n; first += PANEL) {
    const int end = first + PANEL < n ? first + PANEL : n;
    if (!factor_panel(a, n, first, end, pivot)) return false;
    for (int i = first + 1; i < end; i++) reduce_row(a, n, i, first, i, end);
    for (int i = end; i < n; i++) reduce_row(a, n, i, first, end, end);
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
