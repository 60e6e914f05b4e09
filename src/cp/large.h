/* A problem by nodes: what has a state of its own (a friction block, any other single row), and the matrix in dense blocks
 * between them. The form that the solvers for large problems work on. */
#ifndef SS_CP_LARGE_H
#define SS_CP_LARGE_H

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

/* Large problems: the scaled problem by nodes, and what the solvers for it share. */

typedef struct large {
  const ss_cp *original;
  ss_cp cp;         /* scaled: z = scale amplitude x; its matrix is G below */
  node_matrix G;    /* with unit-size diagonal */
  double *g;        /* [n] of size one */
  double *scale;    /* [n] powers of two, one per node */
  double amplitude; /* of the right side */
  double *diagonal; /* [n] of G */
  active_set set;   /* the states; without a matrix of its own */
  int *site;        /* [nodes] of the set, -1: a free row */
  double *x, *w;    /* [n] the present point and G x + g */
  double residual;  /* of x, scaled problem */
  double *best;     /* [n] the best point so far */
  double lowest;    /* its residual */
  double goal;      /* residual at which to end */
  double tolerance; /* of the original problem */
  int iterations;
  double spent;                    /* operations so far, roughly */
  bool stalled;                    /* the method has found that it cannot go on */
  int limit;                       /* iterations that the caller allows; 0: the method's own choice */
  double factor;                   /* of over-relaxation; 0: none */
  ss_cp_order order;               /* of the sweeps */
  const struct body_sweep *bodies; /* that sweeps go through; NULL: by the rows of G */
  const ss_cp_options *options;    /* the caller's, who may want to stop */
  ss_threads *threads;
} large;

/* Operations of a sweep; whether the caller's work is used up. */
double large_sweep_operations(const large *l);
bool large_spent(const large *l);

/* SS_ERROR_STOPPED where the caller wants to stop: asked between the rounds of methods that take several. */
ss_status large_goes_on(const large *l, ss_error *error);

/* Rows whose diagonal is not positive (saddle-point problems) are not admitted: *admitted is false then. */
ss_status large_create(large *l, const ss_cp *problem, const ss_sparse *G, double tolerance, ss_cp_workspace *w,
                       bool *admitted, ss_error *error);
void large_start(large *l, const double *z);              /* x from the original z; NULL: 0 */
void large_finish(const large *l, double *z);             /* the best point as the original z */
double large_judge(large *l, const double *x, double *w); /* residual of the scaled problem; w = G x + g */

/* Gauss-Seidel sweeps from l->x until the goal, `limit` of them, or `patience` of them in which the residual is not halved;
 * accelerated or plain (relax.c). l->x is where they end then: what they lead away from is not gone back to, unless they went far off. */
ss_status large_relax(large *l, bool accelerate, int limit, int patience, ss_cp_workspace *w, ss_error *error);

#endif
