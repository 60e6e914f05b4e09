/* Proofs that a linear complementarity problem has no solution. */
#ifndef SS_CP_INFEASIBLE_H
#define SS_CP_INFEASIBLE_H

#include "cp/reduce.h"

/* Whether v shows that no x >= 0 has M x + q >= 0: v >= 0, M^T v <= 0, q . v < 0 (Farkas). Rounding errors below zero are taken
 * out of v. */
bool lcp_infeasible(const lcp *l, double *v, ss_cp_workspace *w);

#endif
