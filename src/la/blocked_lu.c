/* Right-looking elimination: a panel of columns is factorised with row exchanges, then the rest is updated once for all of them,
 * so that every number that is fetched is used several times. */
#include "la/blocked_lu.h"

#include "core/wide.h"

#include <math.h>
#include <stddef.h>

enum { PANEL = 16, TILE = 256, LANES = 8 };

static inline double *row_at(double *A, int n, int i) { return A + (size_t)i * (size_t)n; }

static void swap_rows(double *A, int n, int *row, int a, int b) {
  if (a == b) return;
  double *restrict p = row_at(A, n, a), *restrict q = row_at(A, n, b);
  for (int j = 0; j < n; j++) {
    const double x = p[j];
    p[j] = q[j];
    q[j] = x;
  }
  const int keep = row[a];
  row[a] = row[b];
  row[b] = keep;
}

/* Columns k .. end - 1; returns `end`, or the column that has no pivot. */
static int factorise_panel(double *A, int n, int first, int end, double tolerance, int *row) {
  for (int k = first; k < end; k++) {
    int best = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(row_at(A, n, i)[k]) > fabs(row_at(A, n, best)[k])) best = i;
    if (!(fabs(row_at(A, n, best)[k]) > tolerance)) return k;
    swap_rows(A, n, row, k, best);
    const double *restrict pivot = row_at(A, n, k);
    const double inverse = 1 / pivot[k];
    for (int i = k + 1; i < n; i++) {
      double *restrict target = row_at(A, n, i);
      const double l = target[k] *= inverse;
      for (int j = k + 1; j < end && l != 0; j++) target[j] -= l * pivot[j];
    }
  }
  return end;
}

WIDE void ss_subtract_rows(double *A, int stride, int i, int first, int end, int from, int to) {
  double *restrict target = row_at(A, stride, i);
  const double *l = target;
  int k = first;
  for (; k + 4 <= end; k += 4) {
    const double a = l[k], b = l[k + 1], c = l[k + 2], d = l[k + 3];
    if (a == 0 && b == 0 && c == 0 && d == 0) continue;
    const double *restrict p = row_at(A, stride, k), *restrict q = p + stride, *restrict r = q + stride;
    const double *restrict s = r + stride;
    for (int j = from; j < to; j++) target[j] -= (a * p[j] + b * q[j]) + (c * r[j] + d * s[j]);
  }
  for (; k < end; k++) {
    const double a = l[k];
    const double *restrict p = row_at(A, stride, k);
    for (int j = from; j < to && a != 0; j++) target[j] -= a * p[j];
  }
}

int ss_blocked_lu(double *A, int n, double tolerance, int *row) {
  for (int i = 0; i < n; i++) row[i] = i;
  for (int first = 0; first < n; first += PANEL) {
    const int end = first + PANEL < n ? first + PANEL : n;
    const int done = factorise_panel(A, n, first, end, tolerance, row);
    if (done < end) return done;
    for (int i = first + 1; i < end; i++) ss_subtract_rows(A, n, i, first, i, end, n);
    for (int from = end; from < n; from += TILE)
      for (int i = end; i < n; i++) ss_subtract_rows(A, n, i, first, end, from, from + TILE < n ? from + TILE : n);
  }
  return n;
}

/* Several sums at a time: one addition need not wait for the last. */
WIDE double ss_dot(const double *restrict a, const double *restrict b, int n) {
  double sum[LANES] = {0};
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int k = 0; k < LANES; k++) sum[k] += a[i + k] * b[i + k];
  double rest = 0;
  for (; i < n; i++) rest += a[i] * b[i];
  return rest + (((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7])));
}

void ss_blocked_lu_solve(const double *A, int n, double *x) {
  for (int i = 1; i < n; i++) x[i] -= ss_dot(A + (size_t)i * (size_t)n, x, i);
  for (int i = n - 1; i >= 0; i--) {
    const double *row = A + (size_t)i * (size_t)n;
    x[i] = (x[i] - ss_dot(row + i + 1, x + i + 1, n - 1 - i)) / row[i];
  }
}

WIDE void ss_add_columns(double *target, const double *const *column, const double *factor, int count, int n) {
  double *restrict x = target;
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    const double *restrict p = column[k], *restrict q = column[k + 1], *restrict r = column[k + 2];
    const double *restrict s = column[k + 3];
    const double a = factor[k], b = factor[k + 1], c = factor[k + 2], d = factor[k + 3];
    for (int i = 0; i < n; i++) x[i] += (a * p[i] + b * q[i]) + (c * r[i] + d * s[i]);
  }
  for (; k < count; k++)
    for (int i = 0; i < n; i++) x[i] += factor[k] * column[k][i];
}
