/* Linear systems of Newton's method on large problems, (own + left G) dx = b, own and left block-diagonal by nodes. */
#ifndef SS_CP_NODE_SYSTEM_H
#define SS_CP_NODE_SYSTEM_H

#include "cp/block_lu.h"
#include "cp/bodies.h"

enum { SYSTEM_SQUARE = SS_FRICTION_ROWS * SS_FRICTION_ROWS };

typedef struct node_system {
  const large *l;
  bool through_bodies; /* or by a factorisation */
  double *left, *own;  /* [nodes][SYSTEM_SQUARE] rows x rows, row-major; the caller fills them */
  block_lu lu;
  body_space bodies;
  block_ilu ilu;
  krylov krylov;
  double *inverse;               /* [nodes][SYSTEM_SQUARE] own^-1 */
  double (*D)[SS_FRICTION_ROWS]; /* [n] own^-1 left */
  double *r, *v;                 /* [n] */
  double *right, *u;             /* [rows of the bodies] */
} node_system;

/* A factorisation where that takes at most `most` operations; else GMRES through the bodies where the problem is given by its
 * factors; else *affordable is false. */
ss_status node_system_create(node_system *s, const large *l, double most, ss_cp_workspace *w, bool *affordable,
                             ss_error *error);

bool node_system_factor(node_system *s); /* false: breakdown */
/* dx, through the bodies with |b - (own + left G) dx| of about `goal`; false where it is not finite. */
bool node_system_solve(node_system *s, const double *b, double goal, double *dx);

#endif
