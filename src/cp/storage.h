/* The matrix of a problem in the form that a solver needs. */
#ifndef SS_CP_STORAGE_H
#define SS_CP_STORAGE_H

#include "cp/workspace.h"

/* The matrix by its rows without zeros, from any form; arrays of a problem that is sparse already are not copied. */
ss_status storage_rows(const ss_cp *problem, ss_cp_workspace *w, ss_sparse *out, ss_error *error);

/* A copy with G dense; fails with SS_ERROR_UNSUPPORTED where that is too large. */
ss_status storage_dense(const ss_cp *problem, ss_cp_workspace *w, ss_cp *out, ss_error *error);

bool storage_finite(const ss_cp *problem); /* all numbers of the matrix and of g */

/* Checks the form of a sparse matrix: `what` names it in the message. */
ss_status storage_check(const ss_sparse *m, int rows, int cols, const char *what, ss_error *error);
ss_status cp_check_block(const ss_block *block, int b, int first, int n,
                         ss_error *error); /* block b, from row first on */
ss_status storage_check_operator(const ss_cp_operator *o, int n, ss_error *error);

/* B such that row i of the m x n matrix becomes column i. */
ss_status sparse_transpose(const ss_sparse *a, ss_cp_workspace *w, ss_sparse *out, ss_error *error);

/* (a x)_i */
static inline double sparse_dot(const ss_sparse *a, int i, const double *x) {
  double sum = 0;
  for (int k = a->start[i]; k < a->start[i + 1]; k++) sum += a->value[k] * x[a->col[k]];
  return sum;
}

#endif
