/* A problem by nodes: what has a state of its own (a friction block, any other single row), and the matrix in dense blocks
 * between them. The form that the solvers for large problems work on. */
#ifndef SS_CP_LARGE_H
#define SS_CP_LARGE_H

#include "cp/active.h"
#include "cp/block_lu.h"

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
} large;

/* Operations of a sweep; whether the caller's work is used up. */
double large_sweep_operations(const large *l);
bool large_spent(const large *l);

/* SS_ERROR_STOPPED where the caller wants to stop: asked between the rounds of methods that take several. */
ss_status large_goes_on(const large *l, ss_error *error);

/* Rows whose diagonal is not positive (saddle-point problems) are not admitted: *admitted is false then. */
ss_status large_create(large *l, const ss_cp *problem, const ss_sparse *G, double tolerance, ss_cp_workspace *w,
                       bool *admitted, ss_error *error);
/* Rows of each node into size [nodes], and the blocks they belong to; NULL: out of memory. */
const ss_block **large_nodes(const large *l, int *size, ss_cp_workspace *w);
void large_start(large *l, const double *z); /* x from the original z; NULL: 0 */
void large_finish(const large *l, double *z);
double large_judge(large *l, const double *x, double *w); /* residual of the scaled problem; w = G x + g */

/* Whether l->x solves the original problem, though it may not have come to the goal, which is on the safe side. `z` [n] is scratch;
 * where it does the goal is raised to what has been reached. */
bool large_done(large *l, double *z);

/* Gauss-Seidel sweeps from l->x until the goal, `limit` of them, or `patience` of them in which the residual is not halved;
 * accelerated or plain (relax.c). */
ss_status large_relax(large *l, bool accelerate, int limit, int patience, ss_cp_workspace *w, ss_error *error);

/* Plain sweeps with a long step after some of them: slower than accelerated ones, but they do not stray along valleys. */
ss_status large_stride(large *l, int limit, int patience, ss_cp_workspace *w, ss_error *error);

/* Newton steps from l->x while they improve it, at most `limit` of them, each with at most `most` operations in its
 * factorisation (large.c). *tried is false where that was too little for the first one. */
ss_status large_newton(large *l, int limit, double most, ss_cp_workspace *w, bool *tried, ss_error *error);

/* The smoothing Newton method from l->x, at most `limit` steps, the first one with this sigma (smoothing.c); nothing where its
 * factorisation takes more than `most` operations. */
ss_status large_smoothing(large *l, double sigma, int limit, double most, ss_cp_workspace *w, ss_error *error);

/* Solves the worst places of l->x, `size` nodes each and at most `most` of them, with everything else fixed (patches.c). */
ss_status large_patches(large *l, int size, int most, ss_cp_workspace *w, int *repaired, ss_error *error);

/* Linear systems of Newton's method on large problems, (own + left G) dx = b, own and left block-diagonal by nodes. */

enum { SYSTEM_SQUARE = SS_FRICTION_ROWS * SS_FRICTION_ROWS };

typedef struct node_system {
  const large *l;
  double *left, *own; /* [nodes][SYSTEM_SQUARE] rows x rows, row-major; the caller fills them */
  block_lu lu;
} node_system;

/* *affordable is false where a factorisation takes more than `most` operations. */
ss_status node_system_create(node_system *s, const large *l, double most, ss_cp_workspace *w, bool *affordable,
                             ss_error *error);

bool node_system_factor(node_system *s);                             /* false: breakdown */
bool node_system_solve(node_system *s, const double *b, double *dx); /* false where it is not finite */

#endif
