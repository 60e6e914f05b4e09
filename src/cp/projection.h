#ifndef SS_CP_PROJECTION_H
#define SS_CP_PROJECTION_H

#include "cp/active.h"

/* The projection P of x on the set R S of friction impulses as a slip state has it (active.h): its value, its derivative by
 * x (n x n) and by R. */
typedef struct projection {
  double P[SS_FRICTION_ROWS], by_x[SS_FRICTION_ROWS][SS_FRICTION_ROWS], by_R[SS_FRICTION_ROWS];
} projection;

projection project_on_set(const site *s, int slip, const double *x, double R);

#endif
