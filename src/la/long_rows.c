#include "la/rows.h"

#include "core/wide.h"

#include <stddef.h>

enum { LANES = 8 };

WIDE void ss_subtract_rows(double *A, int stride, int i, int first, int end, int from, int to) {
  double *restrict target = A + (size_t)i * (size_t)stride;
  const double *l = target;
  int k = first;
  for (; k + 4 <= end; k += 4) {
    const double a = l[k], b = l[k + 1], c = l[k + 2], d = l[k + 3];
    if (a == 0 && b == 0 && c == 0 && d == 0) continue;
    const double *restrict p = A + (size_t)k * (size_t)stride, *restrict q = p + stride, *restrict r = q + stride;
    const double *restrict s = r + stride;
    for (int j = from; j < to; j++) target[j] -= (a * p[j] + b * q[j]) + (c * r[j] + d * s[j]);
  }
  for (; k < end; k++) {
    const double a = l[k];
    const double *restrict p = A + (size_t)k * (size_t)stride;
    for (int j = from; j < to && a != 0; j++) target[j] -= a * p[j];
  }
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
