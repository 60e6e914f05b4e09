/* Sparse LU of a matrix of small dense blocks with symmetric pattern. */
#ifndef SS_CP_BLOCK_LU_H
#define SS_CP_BLOCK_LU_H

#include "cp/workspace.h"

enum { BLOCK_ROWS = SS_FRICTION_ROWS };

typedef struct block_lu {
  int n, nodes;
  int *order;       /* [nodes] node at each place of the elimination */
  int *place;       /* [nodes] */
  int *size;        /* [nodes] by place */
  int *first;       /* [nodes + 1] by place: first row */
  int *upper_start; /* [nodes + 1] by place */
  int *upper;       /* places after, ascending */
  size_t *upper_at; /* where the block's numbers are in u */
  int *lower_start; /* the same for the places before; their numbers in l */
  int *lower;
  size_t *lower_at;
  double *u, *l;     /* before the factorisation the matrix, after it U and L */
  double *d;         /* [nodes][BLOCK_ROWS^2] diagonal blocks, then their LU factors */
  int *pivot;        /* [nodes][BLOCK_ROWS] */
  size_t numbers;    /* of u, and of l */
  double operations; /* of one factorisation */
  double *row;       /* [n] columns of the row that is being eliminated; zero between calls */
} block_lu;

/* Pattern: node i meets col[start[i]] .. col[start[i + 1] - 1], and they meet i. size[i]: rows of a node, 1 to BLOCK_ROWS. Without
 * numbers where the factorisation would take more than `most` operations: *affordable is false then. */
ss_status block_lu_analyse(block_lu *lu, int nodes, const int *size, const int *start, const int *col, double most,
                           ss_cp_workspace *w, bool *affordable, ss_error *error);

void block_lu_clear(block_lu *lu);                        /* the matrix becomes 0 */
double *block_lu_entry(const block_lu *lu, int i, int j); /* block of nodes i, j: size_i x size_j, row-major */
bool block_lu_factor(block_lu *lu);                       /* in place; false where a number is not finite */
int block_lu_sign(const block_lu *lu);                    /* of the determinant, after that */
void block_lu_solve(block_lu *lu, const double *b,
                    double *x); /* by node: row k of node i at start of i + k; see below */

/* Row of the vectors b and x at which node i starts: nodes stand in their own order, one after the other. */

#endif
