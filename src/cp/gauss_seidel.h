/* Over-relaxation and the order of the contacts in a Gauss-Seidel sweep. */
#ifndef SS_CP_GAUSS_SEIDEL_H
#define SS_CP_GAUSS_SEIDEL_H

#include "cp/workspace.h"
#include "la/dissect.h"

/* order[k]: the node that comes as the k-th; seen: [n] scratch. */
void order_nodes(const ss_graph *graph, ss_cp_order kind, int *order, bool *seen);

/* z = old + factor (z - old), kept in the set of the block or of a single row of it. */
void over_relax(const ss_block *block, double factor, const double *old, double *z);

#endif
