/* Factorisations of dense matrices, row-major, of any size: one interface for all who need one. Nothing is allocated.
 *
 * These are kernels of our own, not LAPACK's, although OpenBLAS is up to two times faster for thousands of rows (the table is in
 * docs/large-problems.md): its bits depend on the processor and on the number of threads that it takes, which is set for the whole
 * process, for NumPy as for us; a copy of our own would make each library and program eight times as large. */
#ifndef SS_LA_DENSE_H
#define SS_LA_DENSE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- general matrices ---- */

/* A becomes L, with ones on the diagonal that are not stored, and U; rows are exchanged, row i with row pivot[i] at step i. False
 * where a column has no entry above `tolerance` left, or one that is not finite: A is neither then. */
bool ss_dense_factor(double *A, int n, double tolerance, int *pivot);

/* X = A^-1 X with the factors, X [n][columns]. */
void ss_dense_solve(const double *A, int n, const int *pivot, double *X, int columns);

/* inverse = A^-1 (A is destroyed); false where A is singular. */
bool ss_dense_inverse(double *A, int n, double *inverse);

/* LU factors without exchanges, in place, of a matrix whose pattern is symmetric: row and column i start at first[i], and no row beyond
 * last[i] reaches back to column i; `last` does not fall. Row i must be zero from first[i] to last[i] where the matrix has no entry.
 * False: a pivot is zero or not finite. */
bool envelope_factor(double *A, int n, const int *first, const int *last);

/* x from A x = x with those factors. */
void envelope_solve(const double *A, int n, const int *first, const int *last, double *x);

/* ---- matrices without full rank ---- */

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

/* ---- symmetric matrices ---- */

/* Whether the symmetric part of A is positive definite (Cholesky), with pivots of at least `least` of the diagonal;
 * scratch: n * n numbers. */
bool ss_positive_definite(const double *A, int n, double least, double *scratch);

/* The inverse of a symmetric positive definite matrix, in place; false (contents lost) if it is not positive definite. */
bool ss_spd_inverse(double *A, int n);

/* Eigenvalues (in no order) and orthonormal eigenvectors (columns of V) of a symmetric matrix A; scratch: n numbers. False: no
 * convergence, or A is not finite. */
bool ss_symmetric_eigen(const double *A, int n, double *V, double *values, double *scratch);

/* ---- least squares ---- */

/* Turns the leading `pivots` columns of a [rows][columns] into upper triangular form by reflections that act on all
 * columns. Rows from `pivots` on then are free of those columns. */
void ss_triangularise(double *a, int rows, int columns, int pivots);

/* Solves U x = b with the n x n upper triangle in the leading columns of a (rows are `columns` apart); b and x may be the same.
 * Diagonal entries of at most `smallest` times the largest one belong to directions that nothing determines: x is zero there.
 * False: there were some. */
bool ss_back_substitute(const double *a, int columns, int n, double smallest, const double *b, double *x);

#endif
