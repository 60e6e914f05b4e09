#ifndef SS_CP_JUDGE_ZERO_H
#define SS_CP_JUDGE_ZERO_H

#include <stickslip/cp.h>

/* What ss_cp_judge says about z = 0, where w = g: no row of the matrix is looked at, so its numbers must be known to be finite. */
double judge_zero(const ss_cp *problem);

/* max of s . p over the set S of a friction block, p of its tangential rows. */
double friction_support(const ss_block *block, const double *p);

#endif
