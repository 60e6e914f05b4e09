/* Symmetric dense matrices, row-major, any size. Nothing is allocated. */
#ifndef SS_LA_SYMMETRIC_H
#define SS_LA_SYMMETRIC_H

#include <stdbool.h>

/* The inverse of a symmetric positive definite matrix, in place; false (contents lost) if it is not positive definite.
 */
bool ss_spd_invert(double *a, int n);

/* Eigenvalues (ascending is not promised) and orthonormal eigenvectors (columns of v) of a symmetric matrix a; off is
 * scratch, n numbers. Householder's tridiagonal form and implicit QL; false: no convergence. */
bool ss_symmetric_eigen(const double *a, int n, double *v, double *values, double *off);

#endif
