#ifndef SS_CP_LEMKE_H
#define SS_CP_LEMKE_H

#include "cp/reduce.h"

/* Both solve y = M x + q, 0 <= x perp y >= 0. Where the outcome is a ray, `ray` (n numbers, may be NULL) receives its
 * direction in x. */

/* `cover` is the covering vector (n positive numbers; NULL: ones). */
ss_status lemke(const lcp *l, const double *cover, int limit, double *x, double *ray, ss_cp_workspace *w,
                ss_outcome *outcome, int *pivots, ss_error *error);

ss_status keller(const lcp *l, int limit, double *x, double *ray, ss_cp_workspace *w, ss_outcome *outcome, int *pivots,
                 ss_error *error);

#endif
