/* One proximal step in the range of G as a system of equations, and what the methods on it share.
 *
 * With G = L U^T (velocity_space.c), the anchor a, its slack w_a = G a + g and y = U^T (z - a),
 *
 *     F(y) = y - U^T (z(x) - a),   x = a - (w_a + L y) / eps,
 *
 * z(x) a law of contact (response.c). Its derivative is 1 + U^T z' L / eps. */
#ifndef SS_CP_DESCENT_H
#define SS_CP_DESCENT_H

#include "cp/compliant.h"
#include "cp/velocity_space.h"
#include "cp/reduce.h"

typedef struct descent {
  subproblem sub;
  const ss_cp *cp; /* the one of sub */
  pattern pattern;
  range range;
  active_set set;
  proximal step; /* F = y - U^T (z - a) in y [rank] */
  double eps;
  double *anchor, *slack, *best, *drift; /* [n] a and G a + g; the best a so far; its last step */
  double *w, *x, *change, *shift, *none; /* [n]; change: z - a; none: zeros */
  double *last_x;                        /* [n] the impulses before */
  double *diagonal;                      /* [n] of a sparse matrix */
  double *K, *H, *T;                     /* [rank][rank], [rank]; K = U^T z' L; T: of its change */
  double (*D)[SS_FRICTION_ROWS];         /* [n] the z' that K has been made of */
  int *first, *last;                     /* [rank] envelope of H */
} descent;

/* The anchor is not set. `share`: of the rows, that the rank may be; not admitted where it is more, or where the symmetric part
 * of G is not positive semi-definite. */
ss_status descent_create(descent *d, const ss_cp *problem, double share, int limit, ss_cp_workspace *w, bool *admitted,
                         ss_error *error);

/* The factors of F' at this z' and d->eps into d->H; false where a pivot is zero. Counts as a Newton step. */
bool descent_factor(descent *d, double (*D)[SS_FRICTION_ROWS]);
/* Rounding errors of large z' stay in U^T z' L; this drops it, so that the next factors are made from nothing. */
void descent_forget(descent *d);
void descent_solve(const descent *d, double *x); /* F' x = x with them */

#endif
