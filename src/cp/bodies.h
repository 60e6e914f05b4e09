/* A large problem seen from its bodies: G = J A^-1 J^T by the blocks of J, and matrices A + J^T D J between bodies. */
#ifndef SS_CP_BODIES_H
#define SS_CP_BODIES_H

#include "cp/large.h"

/* A square matrix of dense blocks between bodies, with symmetric pattern. */
typedef struct body_matrix {
  int bodies;
  const int *first; /* [bodies + 1] first row of each */
  int *start;       /* [bodies + 1] */
  int *col;         /* ascending */
  int *diagonal;    /* [bodies] */
  size_t *at;       /* where a block's numbers are; by columns */
  double *value;
  size_t numbers;
} body_matrix;

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
  body_matrix H; /* pattern of A + J^T D J */
} body_space;

/* Needs l->factors without R; *admitted is false without, or where a diagonal of A is not positive. */
ss_status body_space_create(body_space *s, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error);

void body_space_slack(const body_space *s, const double *u, double *w);                    /* w = J u + g */
void body_space_collect(const body_space *s, const double *u, const double *z, double *F); /* F = A u - J^T z */
bool body_space_velocity(const body_space *s, const double *z, double *u);                 /* A u = J^T z */
void body_space_assemble(body_space *s, double rho, const double (*D)[SS_FRICTION_ROWS]);  /* H = A + rho J^T D J */
void body_matrix_apply(const body_matrix *H, const double *x, double *y);

/* G x + g node by node while x changes (body_sweep.c). */
typedef struct body_sweep {
  body_space s; /* its J is J L^-T, its A holds L, A = L L^T */
  double *u;    /* [m] J^T x by that J */
  double
      *W; /* the diagonal blocks of G, one after the other: in G each of them is a way of its own through the memory */
  size_t *W_at; /* [nodes] */
} body_sweep;

/* *admitted is false where the body space is not, or A is not symmetric and positive definite. */
ss_status body_sweep_create(body_sweep *b, const large *l, ss_cp_workspace *w, bool *admitted, ss_error *error);
void body_sweep_begin(const body_sweep *b, const double *x);
void body_sweep_row(const body_sweep *b, int p, double *q);             /* the rows of node p */
void body_sweep_move(const body_sweep *b, int p, const double *change); /* x has changed in node p */

/* Incomplete LU factors on the pattern of a matrix (block_ilu.c): blocks of L, of U, and the inverses of the diagonal. */
typedef struct block_ilu {
  const body_matrix *H;
  double *value; /* as in H */
} block_ilu;

bool block_ilu_create(block_ilu *ilu, const body_matrix *H, ss_cp_workspace *w); /* false: out of memory */
bool block_ilu_factor(block_ilu *ilu);                                           /* false: breakdown */
void block_ilu_solve(const block_ilu *ilu, const double *b, double *x);

/* Restarted GMRES with that preconditioner (krylov.c). */
typedef struct krylov {
  int m;
  double *basis; /* [KRYLOV + 1][m] */
  double *work;  /* [2][m] */
  double *h;     /* [KRYLOV][KRYLOV + 1] */
} krylov;
enum { KRYLOV = 150 };

bool krylov_create(krylov *k, int m, ss_cp_workspace *w);
/* x from H x = b to |b - H x| <= tolerance |b|, at most `limit` steps, from x = 0; returns the steps. */
int krylov_solve(krylov *k, const body_matrix *H, const block_ilu *ilu, const double *b, double tolerance, int limit,
                 double *x);

#endif
