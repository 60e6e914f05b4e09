/* Proofs that a complementarity problem has no solution. */
#ifndef SS_CP_INFEASIBLE_H
#define SS_CP_INFEASIBLE_H

#include "cp/reduce.h"

/* Whether v shows that no x >= 0 has M x + q >= 0: v >= 0, M^T v <= 0, q . v < 0 (Farkas). */
bool lcp_infeasible(const lcp *l, const double *v);

/* Whether no impulses of contacts, whatever their friction, keep all of them from closing: the same with the normal rows of a
 * problem that has only contacts (nonnegative rows and friction without `extra`; intervals, polygons, discs and balls). */
ss_status contacts_infeasible(const ss_cp *problem, ss_cp_workspace *w, bool *proved, ss_error *error);

#endif
