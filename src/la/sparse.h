/* LU factors of general sparse matrices with pivoting, kept for many right sides: SuiteSparse's KLU (Davis & Palamadai Natarajan
 * 2010), which stands behind this interface alone. One thread, plain C without processor-dependent kernels: the bits are the same
 * everywhere. Matrices made of bodies or joints have factorisations of their own (cp/block_lu.h, la/sparse_lu.h). */
#ifndef SS_LA_SPARSE_H
#define SS_LA_SPARSE_H

#include <stickslip/cp.h>

typedef struct ss_sparse_factors ss_sparse_factors;

/* Fails, with *f NULL, where A is singular in working precision (SS_ERROR_INPUT), its factors are too large
 * (SS_ERROR_UNSUPPORTED) or memory is out. */
ss_status ss_sparse_factor(const ss_sparse *A, ss_sparse_factors **f, ss_error *error);
void ss_sparse_free(ss_sparse_factors *f);

/* x from A x = x, for `count` right sides of n numbers, one after the other; four together cost hardly more than two. */
void ss_sparse_solve(ss_sparse_factors *f, double *x, int count);

#endif
