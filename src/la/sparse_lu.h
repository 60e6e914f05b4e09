/* Sparse LU of the joint-joint matrix: symmetric pattern, values in general not, symmetric part positive semi-definite.
 * The pattern is analysed once per mechanism (minimum degree on the joints); a chain of n links costs O(n) per step. */
#ifndef SS_LA_SPARSE_LU_H
#define SS_LA_SPARSE_LU_H

#include "core/arena.h"

#include <stdbool.h>
#include <stickslip/base.h>

/* Two rows meet where they have a body >= 0 in common. */
typedef struct ss_lu_row {
  int body[2];
} ss_lu_row;

/* Rows one after the other that have the same bodies: those of a joint. */
typedef struct ss_lu_node {
  int body[2];
  int first, size;    /* its rows */
  int place;          /* of the first one in the elimination */
  int n_near, width;  /* nodes that are eliminated later and meet it, in the end; their rows */
  int *near, *column; /* [n_near] ascending; where their columns start */
  int *target;        /* [n_near][n_near] where those of the one start in the panel of the other */
  double *panel,
      *lower; /* [size][size + width] its rows: own columns, then those of near nodes; [size][width] its columns of them */
} ss_lu_node;

typedef struct ss_lu {
  ss_arena *arena; /* owns the arrays below; renewed by each analysis */
  int n, n_nodes;
  ss_lu_row *rows;   /* [n] what the pattern was made for */
  int *order;        /* [n] row at each place of the elimination */
  ss_lu_node *nodes; /* [n_nodes] in the order of elimination */
  double *numbers;   /* of all panels: before ss_lu_factor the matrix, after it L and U */
  size_t room;
  bool symmetric;  /* whoever fills the panels says so; `lower` need not be filled then */
  double *inverse; /* [n] by place: of the pivots, 0: of a row that depends on others */
  double *work;    /* [n] */
  double smallest; /* pivot that was not zero, relative to its diagonal entry */
} ss_lu;

/* Makes the pattern for these rows, unless it is the present one. */
ss_status ss_lu_analyse(ss_lu *lu, int n, const ss_lu_row *rows, ss_error *error);
void ss_lu_free(ss_lu *lu);

void ss_lu_clear(ss_lu *lu);                        /* all entries, before they are filled */
double *ss_lu_entry(const ss_lu *lu, int i, int j); /* of rows i and j; NULL: zero for ever. Slow: for tests */

/* In place. Pivots that are at most `tolerance` times their diagonal entry belong to rows that depend on others: those get the
 * solution 0. Returns the rank. */
int ss_lu_factor(ss_lu *lu, double tolerance);

/* x (by row) from A x = b (by row); they may be the same array. */
void ss_lu_solve(const ss_lu *lu, const double *b, double *x);

/* The same for `columns` right sides, b [n][columns] (by row), in place; work: as many numbers. */
void ss_lu_solve_columns(const ss_lu *lu, int columns, double *b, double *work);

#endif
