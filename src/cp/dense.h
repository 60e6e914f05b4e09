/* Gaussian elimination with threshold pivoting on row-major matrices; rank-revealing, in place. */
#ifndef SS_CP_DENSE_H
#define SS_CP_DENSE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A is rows x cols with the given stride. Eliminates with pivots among the leading n rows and columns, updating all
 * rows and columns, until the largest candidate is at most `tolerance` (the caller scales A so that 1 is a good
 * pivot); returns the number of pivots taken. Rows and columns are swapped; row[i], col[i] (n numbers, set here) tell
 * which original ones stand at place i now. On return A holds L (unit, below the diagonal) and U, and the rest of the
 * matrix its Schur complement. */
int dense_eliminate(double *A, int rows, int cols, int stride, int n, double tolerance, int *row, int *col);

/* After dense_eliminate with `rank` pivots: x (rank numbers, in place) from U x = x. */
void dense_back(const double *A, int stride, int rank, double *x);

/* Scales (powers of two) that make the diagonal of S A S of size one where that keeps the other entries of size one, and
 * bound all entries in any case. For symmetric positive semi-definite A the diagonal alone decides. largest: n numbers
 * of scratch. */
void dense_scales(const double *A, int n, int stride, double *s, double *largest);

/* The power of two next to 1 / sqrt(x) for x > 0, 1 for x <= 0 and what is not finite: scaling by it rounds nothing. */
static inline double inverse_root_power(double x) {
  if (!(x > 0) || x > 1e300) return 1;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int exponent = (int)(bits >> 52) - 1023;
  bits = (uint64_t)(1023 - (exponent >> 1)) << 52;
  double s;
  memcpy(&s, &bits, sizeof s);
  return s;
}

/* The power of two next to 1 / x for x > 0, 1 otherwise. */
static inline double inverse_power(double x) {
  if (!(x > 1e-300) || x > 1e300) return 1;
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  bits = (uint64_t)(2046 - (int)(bits >> 52)) << 52;
  double s;
  memcpy(&s, &bits, sizeof s);
  return s;
}

#endif
