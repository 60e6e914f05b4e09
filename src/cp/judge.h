/* What the judge knows that solvers may ask without an allocation or a product of the matrix. */
#ifndef SS_CP_JUDGE_H
#define SS_CP_JUDGE_H

#include <stickslip/cp.h>

/* What ss_cp_judge says about z = 0, where w = g: no row of the matrix is looked at, so its numbers must be known to be finite. */
double judge_zero(const ss_cp *problem);

/* ss_cp_judge_ray with memory [4 n] at hand; not for a problem given by `apply`. */
double judge_ray(const ss_cp *problem, const double *y, double *memory);

/* max of s . p over the set S of a friction block, p of its tangential rows. */
double friction_support(const ss_block *block, const double *p);

#endif
