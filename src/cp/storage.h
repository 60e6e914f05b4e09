/* The matrix of a problem in the form that a solver needs. */
#ifndef SS_CP_STORAGE_H
#define SS_CP_STORAGE_H

#include "cp/workspace.h"

/* The matrix by its rows without zeros, from any form; arrays of a problem that is sparse already are not copied. */
ss_status storage_rows(const ss_cp *problem, ss_cp_workspace *w, ss_sparse *out, ss_error *error);

/* A copy with G dense; fails with SS_ERROR_UNSUPPORTED where that is too large. */
ss_status storage_dense(const ss_cp *problem, ss_cp_workspace *w, ss_cp *out, ss_error *error);

/* reformulation.c, for operators whose A is given as a whole: their matrix, one solution with A's factors per row, into G [n][n]; and
 * ss_cp_solve for them. */
ss_status whole_dense(const ss_cp *problem, double *G, ss_cp_workspace *w, ss_error *error);
ss_status whole_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                      ss_cp_result *result, ss_error *error);
/* Whether the velocities of the bodies determine w. */
static inline bool operator_has_bodies(const ss_cp_operator *o) { return o && !o->R.start && !o->whole.start; }

static inline bool is_whole(const ss_cp *problem) { return problem->factors && problem->factors->whole.start; }

bool storage_finite(const ss_cp *problem); /* all numbers of the matrix and of g */

/* Checks the form of a sparse matrix: `what` names it in the message. */
ss_status storage_check(const ss_sparse *m, int rows, int cols, const char *what, ss_error *error);
ss_status cp_check_block(const ss_block *block, int b, int first, int n,
                         ss_error *error); /* block b, from row first on */
ss_status storage_check_operator(const ss_cp_operator *o, int n, ss_error *error);

double largest_of(const double *x, int n); /* max |x_i| */
void sort_ascending(int *a, int n);        /* shell sort: columns of short rows */

/* B such that row i of the m x n matrix becomes column i. */
ss_status sparse_transpose(const ss_sparse *a, ss_cp_workspace *w, ss_sparse *out, ss_error *error);

static inline double sparse_diagonal(const ss_sparse *a, int i) {
  for (int k = a->start[i]; k < a->start[i + 1]; k++)
    if (a->col[k] == i) return a->value[k];
  return 0;
}

/* (a x)_i */
static inline double sparse_dot(const ss_sparse *a, int i, const double *x) {
  double sum = 0;
  for (int k = a->start[i]; k < a->start[i + 1]; k++) sum += a->value[k] * x[a->col[k]];
  return sum;
}

#endif
