/* What solvers do with vectors and rows of a matrix, many times over; where it pays in short loops of four, which compilers turn into
 * vector instructions. */
#ifndef SS_LA_ROWS_H
#define SS_LA_ROWS_H

/* In the order of the numbers. */
static inline double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* In four sums, because each addition waits for the last. */
static inline double row_dot(const double *restrict a, const double *restrict b, int n) {
  double sum[4] = {0};
  int j = 0;
  for (; j + 4 <= n; j += 4)
    for (int k = 0; k < 4; k++) sum[k] += a[j + k] * b[j + k];
  for (; j < n; j++) sum[0] += a[j] * b[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* target -= f source from column `from` on. Fours start at multiples of four, whatever `from` is: a number that was stored just now
 * is loaded fast only in the pieces in which it was stored. */
static inline void row_subtract(double *restrict target, const double *restrict source, double f, int from, int n) {
  int j = from;
  for (; j < n && j % 4; j++) target[j] -= f * source[j];
  for (; j + 4 <= n; j += 4)
    for (int k = 0; k < 4; k++) target[j + k] -= f * source[j + k];
  for (; j < n; j++) target[j] -= f * source[j];
}

/* target += sign * the sum of `count` rows of n numbers, each times its factor; in the order of the rows, by fours, which load and
 * store the target once. */
static inline void row_add_rows(double *restrict target, double sign, const double *restrict rows, int stride,
                                const double *restrict factors, int factor_stride, int count, int n) {
  int r = 0;
  for (; r + 4 <= count; r += 4, rows += 4 * (long)stride, factors += 4 * (long)factor_stride) {
    const double f0 = sign * factors[0], f1 = sign * factors[factor_stride];
    const double f2 = sign * factors[2 * (long)factor_stride], f3 = sign * factors[3 * (long)factor_stride];
    const double *a = rows, *b = a + stride, *c = b + stride, *d = c + stride;
    for (int i = 0; i < n; i++) target[i] = target[i] + f0 * a[i] + f1 * b[i] + f2 * c[i] + f3 * d[i];
  }
  for (; r < count; r++, rows += stride, factors += factor_stride) {
    const double f = sign * *factors;
    for (int i = 0; i < n; i++) target[i] += f * rows[i];
  }
}

/* For long rows, with wider vectors where the processor has them: */

/* a . b, in an order of its own. */
double ss_dot(const double *a, const double *b, int n);

/* Columns from .. to - 1 of row i, minus those of the rows first .. end - 1 times what stands in its columns first .. end - 1. */
void ss_subtract_rows(double *A, int stride, int i, int first, int end, int from, int to);

/* target += sum of factor[k] column[k], `count` columns of n numbers. */
void ss_add_columns(double *target, const double *const *column, const double *factor, int count, int n);

#endif
