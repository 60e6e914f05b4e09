/* Sparse LU of a matrix of small dense blocks with symmetric pattern. */
#ifndef SS_CP_BLOCK_LU_H
#define SS_CP_BLOCK_LU_H

#include "cp/workspace.h"

enum { BLOCK_ROWS = SS_FRICTION_ROWS };

/* Of its operations to one of a sweep: 0.05 to 0.2 ns each in crowds of 1,400 and 450 rows, in sweeps 0.6 to 0.7. */
enum { BLOCK_SPEED = 4 };

/* Columns that have, below them, nonzeros in the same rows: their part of the factors is one dense panel. Rows, like columns, are
 * those of the order of elimination. */
typedef struct supernode {
  int first, width;
  const int *row;   /* [rows] below them, ascending; the same to the right of them */
  int rows, inside; /* how many; those of its subtree come first, so many */
  ptrdiff_t stride; /* of l and u */
  double *d;        /* [width][width] the diagonal block, then its LU factors, rows exchanged */
  double *l;        /* [width][stride] by columns */
  double *u;        /* [width][stride] by rows */
  double *y;        /* [rows] above the subtrees: L x, in a solution */
  int *pivot;       /* [width] row that each was exchanged with, */
  int *end;         /* [width] before the end of its node */
  int update_first; /* its updates, */
  int updates;      /* in the order of the elimination: first those from subtrees */
  int from_subtrees;
  int entry_first; /* blocks of the matrix that stand in it */
  bool finite;
} supernode;

/* Rows first .. end - 1 of supernode `from`, which are columns of the one that is updated. */
typedef struct supernode_update {
  int from, first, end;
} supernode_update;

/* Where a block of the matrix goes. */
typedef struct block_entry {
  const double *from; /* rows x cols, row-major */
  double *to;
  ptrdiff_t down, right; /* from row to row, and from column to column */
  int rows, cols;
} block_entry;

/* Rows first .. end - 1 of a supernode's diagonal block, or of its rows below. */
typedef struct lu_piece {
  int super, first, end;
} lu_piece;

/* Who does what. Subtrees of the elimination tree do not depend on each other, and are gathered to groups of some size; above them stand
 * supernodes by levels, and those of one level are shared piece by piece. */
typedef struct lu_schedule {
  int groups, *group_start, *by_group; /* supernodes of each, ascending */
  int levels, *level_start, *by_level;
  lu_piece *piece; /* of each level those of diagonal blocks, then those below: */
  int *diagonal;   /* [levels + 1] where they begin, */
  int *below;      /* [levels] */
  bool *worth_it;  /* [levels] to be shared for a solution */
  double *load;    /* [groups][n] what a group takes from the rows above, in a solution */
} lu_schedule;

typedef struct block_lu {
  int n, nodes;
  int *order; /* [nodes] node at each place of the elimination */
  int *place; /* [nodes] */
  int *size;  /* [nodes] by place */
  int *first; /* [nodes + 1] by place: first row */
  int *start; /* [nodes + 1] by node: the matrix, */
  int *col;   /* nodes, ascending */
  size_t *at; /* and where the block's numbers are */
  double *a;
  size_t numbers; /* of a */
  supernode *super;
  int supers;
  supernode_update *update;
  block_entry *entry;
  lu_schedule schedule;
  double operations; /* of one factorisation, */
  double solution;   /* and of one solution */
  double *row;       /* [n] the right side by place */
  double *room;      /* for each thread */
  ss_threads *threads;
} block_lu;

/* Pattern: node i meets col[start[i]] .. col[start[i + 1] - 1], and they meet i. size[i]: rows of a node, 1 to BLOCK_ROWS. Without
 * numbers where the factorisation would take more than `most` operations: *affordable is false then. */
ss_status block_lu_analyse(block_lu *lu, int nodes, const int *size, const int *start, const int *col, double most,
                           ss_cp_workspace *w, bool *affordable, ss_error *error);

void block_lu_clear(block_lu *lu);                        /* the matrix becomes 0 */
double *block_lu_entry(const block_lu *lu, int i, int j); /* block of nodes i, j: size_i x size_j, row-major */
bool block_lu_factor(block_lu *lu);                       /* the matrix stays; false where a number is not finite */
int block_lu_sign(const block_lu *lu);                    /* of the determinant, after that */

/* By node: row k of node i at start of i + k; nodes stand in their own order, one after the other. */
void block_lu_solve(block_lu *lu, const double *b, double *x);

#endif
