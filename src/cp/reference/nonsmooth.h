/* Newton's method on a nonsmooth equation F(z, G z + g) = 0, made to descend from any start. */
#ifndef SS_CP_NONSMOOTH_H
#define SS_CP_NONSMOOTH_H

#include "cp/solver.h"

/* One row of F, and its derivatives by the entries of z and w of the block that it belongs to (a single row for all
 * kinds but friction). */
typedef struct nonsmooth_row {
  double F;
  int first, size;
  double a[SS_FRICTION_ROWS], b[SS_FRICTION_ROWS]; /* by z and by w, of the rows first .. first + size - 1 */
} nonsmooth_row;

/* Fills in all rows at (z, w). */
typedef void nonsmooth_map(void *user, const ss_cp *cp, const double *z, const double *w, nonsmooth_row *rows);

/* z is the start and the result. `iterations` counts linear systems. The outcome is SS_SOLVED where the merit function has
 * come down to rounding level. */
ss_status nonsmooth_newton(const ss_cp *cp, nonsmooth_map *map, void *user, int limit, double *z, ss_cp_workspace *w,
                           ss_outcome *outcome, int *iterations, ss_error *error);

#endif
