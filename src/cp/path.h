/* A curve of solutions of smoothed contact problems that ends in one of the problem itself, and its linear algebra.
 *
 *     F(z, tau) = z - P(x, sigma) = 0,   x = (1 - eps) z + eps a - (G z + g),   sigma = exp(tau),   eps = pull sigma^power
 *
 * P is Coulomb's law, smoothed (smooth_response.c). eps, a pull towards a (usually zero), bounds the impulses of contacts that press against
 * each other between bodies that cannot part; without it there need not be a solution for any sigma > 0. */
#ifndef SS_CP_PATH_H
#define SS_CP_PATH_H

#include "cp/descent.h"

typedef double path_row[SS_FRICTION_ROWS];

typedef struct path {
  descent d;
  double pull, power;
  const double *towards; /* [n] a */
  double rest;           /* 1 - eps where F' has been factored */
  response at, beside;   /* P where F has been evaluated for factors, and elsewhere */
  path_row *N, *E;       /* [n] by rows of the blocks: (1 - rest P')^-1 and that times P' */
  double *x, *F;         /* [n] of the last evaluation */
  double *tangent, *dx;  /* [n] dz / dtau; its x */
  double *step, *step_x; /* [n] Newton's step; its x */
  double *metric;        /* [n] 1 / square of the length over which P' changes */
  double *w, *q, *y;     /* [n] */
} path;

ss_status path_create(path *k, const ss_cp *problem, double share, ss_cp_workspace *w, bool *admitted,
                      ss_error *error); /* share: descent.h */

/* F and x at (z, tau), P into `out`; false where they are not finite. */
bool path_evaluate(path *k, const double *z, double tau, response *out);

/* After an evaluation into k->at: the metric, the factors of F' and the tangent. Returns the sign of the determinant of F', which
 * changes where the curve turns back in tau; 0 where there are no factors. Leaves F as it is. */
int path_linearise(path *k, const double *z, double tau);

/* From F, with the factors and the metric that are there: the shortest Newton step to the curve, `step` and what it adds to tau.
 * *most: its largest part in units of the metric. */
double path_newton(path *k, double *most);

/* Of the x of two steps. */
double path_product(const path *k, const double *a, const double *b);

#endif
