/* Projections on the sets of the laws of contact, smoothed: differentiable for sigma > 0, the projections for sigma -> 0. */
#ifndef SS_CP_SMOOTHING_H
#define SS_CP_SMOOTHING_H

#include <stickslip/cp.h>

enum { SMOOTH_ROWS = SS_FRICTION_ROWS };

/* max(t, 0) as (t + sqrt(t^2 + 4 sigma^2)) / 2 (Chen, Harker, Kanzow & Smale), and its derivative. */
double smooth_plus(double t, double sigma);
double smooth_plus_slope(double t, double sigma);

/* On [lower, upper]; bounds may be infinite. */
double smooth_box(double t, double lower, double upper, double sigma, double *slope);

/* On the second-order cone |d_t| <= d_0 of `rows` rows; `slope` (rows x rows) may be NULL. */
void smooth_cone(const double *d, int rows, double sigma, double *p, double *slope);

/* The tangential part of a friction block: on r S, S as in stickslip/cp.h. slope: rows x rows, the derivative by d; by_radius:
 * that by r. Both may be NULL. `corners` are those of the polygon, where it is one. */
void smooth_section(const ss_block *block, const double *corners, const double *d, double r, double sigma, double *p,
                    double *slope, double *by_radius);

#endif
