/* A large problem seen from its bodies, G = J A^-1 J^T, for sweeps. */
#ifndef SS_CP_BODY_SWEEP_H
#define SS_CP_BODY_SWEEP_H

#include "cp/large.h"

typedef struct body_space {
  const large *l;
  int bodies, m; /* bodies that occur in J, in an order of their own; their rows */
  int *first;    /* [bodies + 1] */
  double *A;     /* the blocks of A, with unit diagonal: velocities are in units of 1 / sqrt(A_ii) */
  size_t *A_at;  /* [bodies] */
  int *start;    /* [nodes + 1] */
  int *body;     /* bodies that a node touches */
  size_t *at;    /* where its block of J is: rows of the node x rows of the body, scaled as the problem is */
  double *J;     /* the blocks */
} body_space;

/* The order of a sweep, for threads to share: stages one after the other, whose pieces touch no common body. It depends on the problem alone. */
enum { SWEEP_STAGES = 4 };
typedef struct sweep_order {
  int first[SWEEP_STAGES + 1]; /* piece of each stage */
  int *start;                  /* [pieces + 1] */
  int *node;                   /* [nodes] */
} sweep_order;

/* G x + g node by node while x changes (body_sweep.c). */
typedef struct body_sweep {
  body_space s; /* its J is J L^-T, its A holds L, A = L L^T */
  double *u;    /* [m] J^T x by that J */
  double
      *W; /* the diagonal blocks of G, one after the other: in G each of them is a way of its own through the memory */
  size_t *W_at; /* [nodes] */
  sweep_order order;
  ss_threads *threads;
} body_sweep;

/* *admitted is false where the problem has no factors, or has R, or A is not symmetric and positive definite. */
ss_status body_sweep_create(body_sweep *b, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error);
void body_sweep_begin(const body_sweep *b, const double *x);
/* Calls work(user, nodes, count) for all pieces, forwards or backwards: threads share those of a stage. */
typedef void body_sweep_work(void *user, const int *nodes, int count);
void body_sweep_pieces(const body_sweep *b, bool backwards, body_sweep_work *work, void *user);
void body_sweep_row(const body_sweep *b, int p, double *q);             /* the rows of node p */
void body_sweep_move(const body_sweep *b, int p, const double *change); /* x has changed in node p */

#endif
