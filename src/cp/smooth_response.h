#ifndef SS_CP_SMOOTH_RESPONSE_H
#define SS_CP_SMOOTH_RESPONSE_H

#include "cp/response.h"

/* Coulomb's law from x = z - w to impulses as in response.h, with max and projection smoothed (smooth_sets.h): differentiable for
 * sigma > 0, and there every contact carries something. */
void respond_smoothly(const active_set *set, const double *x, double sigma, response *out);

#endif
