/* Sparse LU of the joint-joint matrix: symmetric pattern, values in general not, symmetric part positive semi-definite.
 * The pattern is analysed once per mechanism (minimum degree on the joints); a chain of n links costs O(n) per step. */
#ifndef SS_LA_SPARSE_LU_H
#define SS_LA_SPARSE_LU_H

#include "core/arena.h"

#include <stickslip/base.h>

/* Two rows meet where they have a body >= 0 in common. */
typedef struct ss_lu_row {
  int body[2];
} ss_lu_row;

typedef struct ss_lu {
  ss_arena *arena; /* owns the arrays below; renewed by each analysis */
  int n;
  ss_lu_row *rows;  /* [n] what the pattern was made for */
  int *order;       /* [n] row at each place of the elimination */
  int *lower_start; /* [n + 1] */
  int *lower;       /* places before, ascending */
  int *upper_start; /* [n + 1] */
  int *upper;       /* places after, ascending */
  double *l, *u,
      *d; /* before ss_lu_factor: the matrix below, above and on the diagonal; after: L, U (D^-1 not applied), D */
  double *work;    /* [n] zero between calls */
  double smallest; /* pivot that was not zero, relative to its diagonal entry */
} ss_lu;

/* Makes the pattern for these rows, unless it is the present one. */
ss_status ss_lu_analyse(ss_lu *lu, int n, const ss_lu_row *rows, ss_error *error);
void ss_lu_free(ss_lu *lu);

/* In place. Pivots that are at most `tolerance` times their diagonal entry belong to rows that depend on others: those get the
 * solution 0. Returns the rank. */
int ss_lu_factor(ss_lu *lu, double tolerance);

/* x (by row) from A x = b (by row); they may be the same array. */
void ss_lu_solve(const ss_lu *lu, const double *b, double *x);

#endif
