#ifndef SS_CP_WEDGED_H
#define SS_CP_WEDGED_H

#include "cp/descent.h"

/* Impulses inside the cones that are in balance among themselves, into d->anchor; the largest normal one is about one. Sites that are not
 * wedged have none, and the state SITE_OPEN. False: nothing is wedged. d->step.newtons counts the steps. */
bool find_self_stress(descent *d);

/* The impulses of the wedged contacts, zero elsewhere, that move the bodies as z does, in the proportions that the stress
 * suggests; z is zero but in wedged contacts. After find_self_stress, before anything else is done with d. */
void share_among_wedged(descent *d, const double *z, double *out);

/* Whether these impulses of the wedged contacts are inside their cones. */
bool stress_is_inside(const descent *d, const double *z);

#endif
