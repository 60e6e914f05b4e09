/* LU factors of general sparse matrices with pivoting, kept for many right sides. */
#ifndef SS_LA_SPARSE_FACTORS_H
#define SS_LA_SPARSE_FACTORS_H

#include <stickslip/cp.h>

typedef struct ss_sparse_factors {
  int n;
  int *order;                       /* [n] row of A that is eliminated as the k-th */
  int *place;                       /* [n] at which a column of A became the pivot */
  double *row_scale, *column_scale; /* [n] powers of two */
  int *l_start, *u_start;           /* [n + 1] */
  int *l_at, *u_at;                 /* places, after and before the step's own */
  double *l, *u;
  double *pivot; /* [n] */
  double *work;  /* [n] */
} ss_sparse_factors;

/* Fails with SS_ERROR_INPUT where A is singular in working precision. Release what was created, also after a failure. */
ss_status ss_sparse_factors_create(ss_sparse_factors *f, const ss_sparse *A, ss_error *error);
void ss_sparse_factors_release(ss_sparse_factors *f);

/* x from A x = x. */
void ss_sparse_factors_solve(const ss_sparse_factors *f, double *x);

#endif
