/* Linear systems of Newton's method on large problems, (own + left G) dx = b, own and left block-diagonal by nodes. */
#ifndef SS_CP_NODE_SYSTEM_H
#define SS_CP_NODE_SYSTEM_H

#include "cp/block_lu.h"
#include "cp/large.h"

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
