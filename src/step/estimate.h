/* The error of a step, two ways (step/estimate.c). */
#ifndef SS_STEP_ESTIMATE_H
#define SS_STEP_ESTIMATE_H

#include "step/step.h"

/* Power of h in the error at the end. */
double ss_order_of(const ss_sim *sim);

/* How far positions are from whole_q, as a length; a system's coordinates count by their scales. */
double ss_distance_from_whole(const ss_sim *sim);

/* The error of the part that was accepted last, as a length. */
double ss_pair_error(const ss_sim *sim);
/* Change of velocity in the part that was accepted last. */
const double *ss_last_change(const ss_sim *sim);
/* Whether it does so for the part that was accepted last; whether it will for the next, if no impact comes first. */
bool ss_pair_tells(const ss_sim *sim);
bool ss_pair_may_tell(const ss_sim *sim);

#endif
