/* The slabs that enclose two convex bodies across a unit vector n are s(n) apart; the largest s is the bodies' distance. */
#ifndef SS_GEOM_SLAB_H
#define SS_GEOM_SLAB_H

#include "core/math3.h"

/* s(n) for n of length one, extended to all n so that s(c n) = c s(n); its gradient, and minus its second derivatives. */
typedef double (*ss_slabs)(const void *context, ss_vec3 n, ss_vec3 *gradient, ss_mat3 *bend);

/* Goes uphill from *n to the next maximum on the unit sphere, to rounding, and returns s there. */
double ss_slab_maximum(ss_slabs slabs, const void *context, ss_vec3 *n);

#endif
