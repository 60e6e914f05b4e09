#ifndef SS_CP_LEMKE_H
#define SS_CP_LEMKE_H

#include "cp/reduce.h"

/* Solves y = M x + q, 0 <= x perp y >= 0. `cover` is the covering vector (n positive numbers; NULL: ones). */
ss_status lemke(const lcp *l, const double *cover, int limit, double *x, ss_cp_workspace *w, ss_outcome *outcome,
                int *pivots, ss_error *error);

#endif
