#ifndef SS_CP_SELF_STRESS_H
#define SS_CP_SELF_STRESS_H

#include "cp/descent.h"

/* Impulses that the contacts allow and that are in balance among themselves, as far as `least` demands: G z is about
 * sqrt(least), where the largest normal impulse is about one; or with `load`, a share of g, that they have to carry. Into
 * d->anchor; d->newtons counts the steps. False where there are none, nor nearly any: no contact is wedged. */
bool find_self_stress(descent *d, double least, double load);

#endif
