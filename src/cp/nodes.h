/* A problem by nodes: what has a state of its own (a friction block, any other single row), and the matrix in dense blocks
 * between them. The form that the solvers for large problems work on. */
#ifndef SS_CP_NODES_H
#define SS_CP_NODES_H

#include "cp/active.h"

typedef struct node_matrix {
  int n, nodes, sizes; /* rows; nodes; the common size of all of them, or 0 */
  const int *first;    /* [nodes + 1] first row of each node */
  const int *start;    /* [nodes + 1] its blocks */
  const int *col;      /* [blocks] node, ascending */
  const size_t *at;    /* [blocks] where its numbers are; row-major */
  const double *value; /* [numbers] */
  const int *diagonal; /* [nodes] the block on the diagonal; every node has one */
  const int *node_of;  /* [n] */
} node_matrix;

/* Copies the rows, scaled by scale[i] scale[j] (NULL: not at all). */
ss_status nodes_create(const ss_cp *problem, const ss_sparse *G, const double *scale, ss_cp_workspace *w,
                       node_matrix *out, ss_error *error);

/* q = g + G z for the rows of one node. */
void nodes_row(const node_matrix *m, int node, const double *g, const double *z, double *q);

/* w = G z + g. */
void nodes_apply(const node_matrix *m, const double *g, const double *z, double *w);

#endif
