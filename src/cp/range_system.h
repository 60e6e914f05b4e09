/* The range of a dense matrix as a velocity space: its factors, and systems in it. */
#ifndef SS_CP_RANGE_SYSTEM_H
#define SS_CP_RANGE_SYSTEM_H

#include "cp/pattern.h"
#include "cp/velocity_space.h"

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
