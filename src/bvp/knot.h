/* The states between the segments of multiple shooting.
 *
 * A knot is a whole state of the simulation: positions, velocities, deformations of patches, and the memory of contacts
 * (closed, stuck, impulses), which decides on which branch of the map the next segment begins. Its coordinates are
 * increments: positions in the world frame and rotations in the body's frame on the freedoms of each body, then
 * velocities, then deformations in units of the largest one. */
#ifndef SS_BVP_KNOT_H
#define SS_BVP_KNOT_H

#include "step/step.h"

/* Arrays for q, v and angles come from the arena; those of contacts grow and are freed by ss_knot_free. */
ss_status ss_knot_create(const ss_model *model, ss_arena *arena, ss_state *knot, ss_error *error);
void ss_knot_free(ss_state *knot);

/* to = from; from may be a simulation's own state. */
ss_status ss_knot_copy(const ss_model *model, const ss_state *from, ss_state *to, ss_error *error);

/* The simulation goes on from the knot, which lies at the start of the given step. */
ss_status ss_knot_install(const ss_state *knot, long step, ss_sim *sim, ss_error *error);

int ss_knot_size(const ss_model *model, const ss_state *knot); /* coordinates */

/* Moves by `factor` times the increments. */
void ss_knot_move(const ss_model *model, ss_state *knot, const double *increments, double factor);

/* Increments from the knot to `end`, in the knot's coordinates. Patches that only one of them has do not count. */
void ss_knot_difference(const ss_model *model, const ss_state *knot, const ss_state *end, double *out);

/* Takes over which contacts there are at `end`, and their memory; patches that the knot knows keep its deformations. */
ss_status ss_knot_refresh(const ss_model *model, ss_state *knot, const ss_state *end, ss_error *error);

/* Puts the knot where the joints hold as well as they do at `end` (a run drifts off them a little), in position and
 * velocity: increments of a Newton step are tangents, and a long one would tear the joints apart. */
ss_status ss_knot_retract(const ss_model *model, ss_state *knot, const ss_state *end, ss_error *error);

/* By how much coordinate j is moved for a difference quotient. */
double ss_knot_increment(const ss_model *model, const ss_state *knot, int j);

#endif
