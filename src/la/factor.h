/* LU factors of general dense matrices, row-major, kept for several right sides. */
#ifndef SS_LA_FACTOR_H
#define SS_LA_FACTOR_H

#include <stdbool.h>

/* a becomes L (unit) and U with rows exchanged as pivot says (n numbers); false where it is singular. */
bool ss_dense_factor(double *a, int n, int *pivot);

/* Solves for `count` right sides b [n][count], in place. */
void ss_dense_solve(const double *a, int n, const int *pivot, double *b, int count);

#endif
