/* Dense LU of small general matrices, row-major. */
#ifndef SS_LA_LU_H
#define SS_LA_LU_H

#include <stdbool.h>

/* inverse = a^-1 (a is destroyed) by Gauss-Jordan with partial pivoting; false where a is singular. */
bool ss_invert(double *a, int n, double *inverse);

/* Whether the symmetric part of a is positive definite (Cholesky), with pivots of at least `least` of the diagonal;
 * scratch: n * n numbers. */
bool ss_positive_definite(const double *a, int n, double least, double *scratch);

#endif
