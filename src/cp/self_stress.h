#ifndef SS_CP_SELF_STRESS_H
#define SS_CP_SELF_STRESS_H

#include "cp/descent.h"

/* Impulses inside the cones that are in balance among themselves, into d->anchor, zero where a site is not wedged; the largest normal one
 * is about one. wedged: [sites]. Returns how many are; d->step.newtons counts the steps. */
int find_self_stress(descent *d, bool *wedged);

/* The impulses of the wedged contacts, zero elsewhere, that move the bodies as z does, in the proportions that the stress
 * suggests; z is zero but in wedged contacts. After find_self_stress, before anything else is done with d. */
void share_among_wedged(descent *d, const double *z, double *out);

/* Whether these impulses of a site are inside its cone. */
bool stress_is_inside(const site *s, const double *z);

#endif
