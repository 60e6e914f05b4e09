/* Gaussian elimination for the solvers: positive semi-definite but unsymmetric matrices, often sparse (chains) and
 * often singular (closed loops, redundant contacts).
 *
 * Pivots are taken in the given order while they are good: large (the matrix is scaled) and not much smaller than their
 * column, which keeps the sparsity of a chain (rows with a zero multiplier are skipped). Otherwise the largest diagonal
 * entry is tried, and if that fails the largest entry of all (complete pivoting), so that the rank is reliable. */
#include "la/dense.h"

#include "core/wide.h"
#include "la/rows.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static const double good_pivot = 0.1;
static const double good_ratio = 10; /* largest multiplier |l| that a diagonal pivot may cause */

static double column_maximum(const double *A, int stride, int n, int k, int c) {
  double largest = 0;
  for (int i = k; i < n; i++) {
    const double x = fabs(A[(size_t)i * (size_t)stride + (size_t)c]);
    if (x > largest) largest = x;
  }
  return largest;
}

static int choose_pivot(const double *A, int stride, int n, int k, double tolerance, int *r, int *c) {
  const size_t step = (size_t)stride + 1;
  double largest = fabs(A[(size_t)k * step]);
  *r = *c = k;
  if (largest >= good_pivot && good_ratio * largest >= column_maximum(A, stride, n, k, k)) return 1;
  for (int i = k + 1; i < n; i++) {
    const double x = fabs(A[(size_t)i * step]);
    if (x > largest) {
      largest = x;
      *r = *c = i;
    }
  }
  if (largest > tolerance && good_ratio * largest >= column_maximum(A, stride, n, k, *c)) return 1;
  for (int i = k; i < n; i++)
    for (int j = k; j < n; j++) {
      const double x = fabs(A[(size_t)i * (size_t)stride + (size_t)j]);
      if (x > largest) {
        largest = x;
        *r = i;
        *c = j;
      }
    }
  return largest > tolerance;
}

static void swap_rows(double *A, int cols, int stride, int *row, int a, int b) {
  if (a == b) return;
  double *p = A + (size_t)a * (size_t)stride, *q = A + (size_t)b * (size_t)stride;
  for (int j = 0; j < cols; j++) {
    const double x = p[j];
    p[j] = q[j];
    q[j] = x;
  }
  const int x = row[a];
  row[a] = row[b];
  row[b] = x;
}

static void swap_columns(double *A, int rows, int stride, int *col, int a, int b) {
  if (a == b) return;
  for (int i = 0; i < rows; i++) {
    double *p = A + (size_t)i * (size_t)stride;
    const double x = p[a];
    p[a] = p[b];
    p[b] = x;
  }
  const int x = col[a];
  col[a] = col[b];
  col[b] = x;
}

/* Eliminates column k from the rows below it. */
static inline void eliminate_below(double *A, int rows, int cols, int stride, int k) {
  const double *pivot_row = A + (size_t)k * (size_t)stride;
  const double inverse = 1 / pivot_row[k];
  for (int i = k + 1; i < rows; i++) {
    double *target = A + (size_t)i * (size_t)stride;
    if (target[k] == 0) continue;
    const double l = target[k] * inverse;
    target[k] = l;
    row_subtract(target, pivot_row, l, k + 1, cols);
  }
}

WIDE static void eliminate_wide(double *A, int rows, int cols, int stride, int k) {
  eliminate_below(A, rows, cols, stride, k);
}

int dense_eliminate(double *A, int rows, int cols, int stride, int n, double tolerance, int *row, int *col) {
  enum { LONG = 16 }; /* columns that wide vectors pay for */
  for (int i = 0; i < n; i++) row[i] = col[i] = i;
  for (int k = 0; k < n; k++) {
    int r, c;
    if (!choose_pivot(A, stride, n, k, tolerance, &r, &c)) return k;
    swap_rows(A, cols, stride, row, k, r);
    swap_columns(A, rows, stride, col, k, c);
    if (cols - k > LONG)
      eliminate_wide(A, rows, cols, stride, k);
    else
      eliminate_below(A, rows, cols, stride, k);
  }
  return n;
}

void dense_back(const double *A, int stride, int rank, double *x) {
  for (int i = rank - 1; i >= 0; i--) {
    const double *row = A + (size_t)i * (size_t)stride;
    double sum = x[i];
    for (int j = i + 1; j < rank; j++) sum -= row[j] * x[j];
    x[i] = sum / row[i];
  }
}

static void scaled_maxima(const double *A, int n, int stride, const double *s, double *largest) {
  for (int i = 0; i < n; i++) largest[i] = 0;
  for (int i = 0; i < n; i++) {
    const double *row = A + (size_t)i * (size_t)stride;
    double own = 0;
    for (int j = 0; j < n; j++) {
      const double x = s[i] * s[j] * fabs(row[j]);
      if (x > own) own = x;
      if (x > largest[j]) largest[j] = x;
    }
    if (own > largest[i]) largest[i] = own;
  }
}

/* Whether an entry of the scaled matrix is larger than `limit`: what is found nearly never, faster than the maxima. */
WIDE static bool exceeds(const double *A, int n, int stride, const double *s, double limit) {
  int64_t count = 0;
  for (int i = 0; i < n && count == 0; i++) {
    const double *row = A + (size_t)i * (size_t)stride;
    for (int j = 0; j < n; j++) count += s[i] * s[j] * fabs(row[j]) > limit;
  }
  return count > 0;
}

void dense_scales(const double *A, int n, int stride, double *s, double *largest) {
  enum { PASSES = 6 };
  static const double acceptable = 16;
  for (int i = 0; i < n; i++) s[i] = inverse_root_power(A[(size_t)i * ((size_t)stride + 1)]);
  for (int pass = 0; pass < PASSES && exceeds(A, n, stride, s, acceptable); pass++) {
    scaled_maxima(A, n, stride, s, largest);
    for (int i = 0; i < n; i++)
      if (largest[i] > acceptable / 4) s[i] *= inverse_root_power(largest[i]);
  }
}
