#ifndef SS_CP_LOCAL_H
#define SS_CP_LOCAL_H

#include "cp/active.h"

/* The exact solution of one friction block: w = W z + q (W is size x size, row-major). z holds the last solution on
 * entry (it chooses the branch where there are several) and the new one afterwards; returns false, with z as it was,
 * where none was found. */
bool local_friction(const site *s, const double *W, const double *q, double *z);

#endif
