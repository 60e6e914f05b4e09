/* The blocks' sets as an interior-point method sees them: a point inside, its scaling, and how far a step may go. */
#ifndef SS_CP_BARRIER_H
#define SS_CP_BARRIER_H

#include "cp/workspace.h"

enum { BARRIER_ROWS = SS_FRICTION_ROWS };

/* One node (large.h). A row on its own that is nonnegative is a cone of one row. The rows of a cone are in units in
 * which it is |t| <= n: z is (mu z_n, z_t), w is (w_n / mu, w_t). */
typedef struct barrier {
  enum { BARRIER_FREE, BARRIER_CONE, BARRIER_BOX, BARRIER_FIXED } kind;
  int first, size;     /* rows of the node */
  int rows;            /* of the cone; those after it are fixed at 0 */
  double unit;         /* mu, or 1 */
  double lower, upper; /* box */
  double
      *bound; /* box: multipliers of the lower and the upper bound, 0 where it is not finite; w is their difference */
  double q[2], d[2];            /* box: right sides, and the step of the multipliers that belongs to them */
  double beta, v[BARRIER_ROWS]; /* W = beta (2 v v^T - J), the scaling of Nesterov and Todd: W w = W^-1 z = lambda */
  double lambda[BARRIER_ROWS];
} barrier;

barrier barrier_create(const ss_block *block, int first, int size, double *bound);
int barrier_degree(const barrier *b); /* how many products make the gap */

/* All vectors below are of the node alone. */
void barrier_start(barrier *b, double *z, double *w);
/* From any z, and from w in u: moves them inside by `near`. */
void barrier_start_near(barrier *b, double near, double *z, double *u);
double barrier_gap(const barrier *b, const double *z, const double *w);
void barrier_scale(barrier *b, const double *z, const double *w);

void barrier_multiply(const barrier *b, double *u); /* u = W u; 0 where z is fixed */
void barrier_divide(const barrier *b, double *u);   /* u = W^-1 u; the same */

/* The right side of W dw + W^-1 dz = q, for products of the size `target`. dy: W^-1 dz of the predictor, whose second-order
 * part is taken out; NULL: none. */
void barrier_right_side(barrier *b, const double *z, double target, const double *dy, double *q);

/* dz, dw and d_bound from dy = W^-1 dz and q. */
void barrier_step(barrier *b, const double *z, const double *q, const double *dy, double *dz, double *dw,
                  double *d_bound);
/* How often `times` this step can be gone until the end of the set. */
double barrier_reach(const barrier *b, const double *z, const double *w, const double *dz, const double *dw,
                     const double *d_bound, double times);

#endif
