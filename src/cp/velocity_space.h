/* Velocities y in which a proximal step is solved, G = J A^-1 J^T: those of the bodies; coordinates of the range of a dense matrix, where
 * A = 1; or, for sparse matrices, the impulses themselves, w = G y and y = z. */
#ifndef SS_CP_VELOCITY_SPACE_H
#define SS_CP_VELOCITY_SPACE_H

#include "cp/active.h"
#include "cp/pattern.h"

typedef struct velocity_space velocity_space;
struct velocity_space {
  int m; /* velocities */
  /* Operations, counted as those of sweeps that take as long: of one factorisation, of what precedes it where all of D is new, of one
   * solution. */
  double operations, assembly, solution;
  double creation; /* what making it has taken, or trying to */
  void *user;
  void (*slack)(const void *user, const double *y, double *w);                       /* w = J y */
  void (*collect)(const void *user, const double *y, const double *z, double *F);    /* F = A y - J^T z */
  void (*load)(const void *user, const double *z, double *F);                        /* F = J^T z */
  bool (*factor)(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness); /* A + stiffness J^T D J */
  void (*solve)(void *user, double *x);                                              /* x = that^-1 x */
  int (*sign)(const void *user);                                                     /* of its determinant */
};

/* The scaled problem's nodes: a friction block, or any other single row. */
typedef struct node_list {
  int count;
  int *first; /* [count + 1] first row of each */
} node_list;

/* Not admitted where a factorisation would take more than `most` operations, or the matrix has no such form. What they take from the
 * workspace stays. */
ss_status range_system_create(const ss_cp *scaled, const node_list *nodes, double most, ss_cp_workspace *w,
                              velocity_space *out, bool *admitted, ss_error *error);
/* `scale` [n]: of the rows of the operator. */
ss_status body_system_create(const ss_cp_operator *o, const node_list *nodes, const double *scale, double most,
                             ss_cp_workspace *w, velocity_space *out, bool *admitted, ss_error *error);

/* `matrix`: the rows of the problem, not scaled. */
ss_status sparse_system_create(const ss_cp *problem, const ss_sparse *matrix, const double *scale, double most,
                               ss_cp_workspace *w, velocity_space *out, bool *admitted, ss_error *error);

/* G = L U^T, L and U with as many columns as the rank of G; U = L where G is symmetric. Row i of both is zero outside its
 * columns first[i] .. end[i] - 1. */
typedef struct range {
  int n, rank, stride;
  double *L, *U; /* [n][stride], of which the columns below the rank count */
  int *first, *end;
  double operations; /* that finding them has taken */
} range;

/* Columns come in the order of the pattern's places where the pivots are good. *admitted is false where the symmetric part
 * of G is not positive semi-definite, or the rank above `most`. G should be scaled to a diagonal of order one. */
ss_status range_create(const ss_cp *problem, const pattern *order, int most, ss_cp_workspace *w, range *out,
                       bool *admitted, ss_error *error);

void range_apply(const range *r, const double *g, const double *y, double *w); /* w = L y + g */
void range_collect(const range *r, const double *z, double *y);                /* y = U^T z */

/* Systems 1 + stiffness U^T D L in the range of G, in the envelope that the contacts span. U^T D L is kept: only what has changed in D is
 * added. */
typedef struct range_system {
  pattern pattern;
  range range;
  int n;
  double *none;                  /* [n] zeros */
  double *K, *H, *T;             /* [rank][rank], [rows of a node][rank]; K = U^T D L */
  double (*D)[SS_FRICTION_ROWS]; /* [n] what K has been made of */
  int *first, *last;             /* [rank] envelope of H */
  double stiffness;              /* of the factors in H; 0: there are none */
  int updates;                   /* of K since it was made from nothing: their rounding errors stay */
  double largest;                /* entry of D in them */
} range_system;

/* Not admitted where the rank is above `most`. */
ss_status range_system_build(range_system *s, const ss_cp *scaled, int most, ss_cp_workspace *w, bool *admitted,
                             ss_error *error);
bool range_system_factor(range_system *s, const double (*D)[SS_FRICTION_ROWS], double stiffness);
void range_system_solve(const range_system *s, double *x);
/* Drops U^T D L with the rounding errors that large D have left in it: the next factors are made from nothing. */
void range_system_forget(range_system *s);

#endif
