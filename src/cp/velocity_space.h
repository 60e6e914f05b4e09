/* Velocities y in which a proximal step is solved, G = J A^-1 J^T: those of the bodies; coordinates of the range of a dense matrix, where
 * A = 1; or, for sparse matrices, the impulses themselves, w = G y and y = z. */
#ifndef SS_CP_VELOCITY_SPACE_H
#define SS_CP_VELOCITY_SPACE_H

#include "cp/active.h"

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

#endif
