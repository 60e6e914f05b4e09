/* Dense LU of large general matrices with row exchanges, row-major, by blocks of columns. */
#ifndef SS_LA_BLOCKED_LU_H
#define SS_LA_BLOCKED_LU_H

/* A (n x n, in place): L, with ones on the diagonal that are not stored, and U. row[i]: the original row at place i. Returns n, or
 * the first column without an entry above `tolerance` left, where it stops. */
int ss_blocked_lu(double *A, int n, double tolerance, int *row);

/* x, in the order of `row` on entry: x from L U x = x. */
void ss_blocked_lu_solve(const double *A, int n, double *x);

/* Columns from .. to - 1 of row i, minus those of the rows first .. end - 1 times what stands in its columns first .. end - 1. */
void ss_subtract_rows(double *A, int stride, int i, int first, int end, int from, int to);

/* target += sum of factor[k] column[k], `count` columns of n numbers. */
void ss_add_columns(double *target, const double *const *column, const double *factor, int count, int n);

/* a . b, in an order of its own. */
double ss_dot(const double *a, const double *b, int n);

#endif
