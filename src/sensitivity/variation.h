/* First variations of a trajectory: how it changes with its initial state, carried along step by step.
 *
 *     sim->watch.variation = a variation: the step asks it, through sim->watch.vary, about every part that it accepts and
 *     every impact, and again after the contacts' memory was written. NULL: nothing of this happens.
 *
 * A variation is a set of directions in the state: increments of positions (rotations in the body's frame), velocities,
 * deformations of patches, and of the time at which the present part begins. */
#ifndef SS_SENSITIVITY_VARIATION_H
#define SS_SENSITIVITY_VARIATION_H

#include "step/step.h"

typedef struct ss_variation {
  int n;                                         /* directions */
  double *q, *v;                                 /* [n][n_v] at the present state */
  double *t;                                     /* [n] of the present time */
  double *patch, *patch_end;                     /* [n][state.n_patch]; [n][sim.n_patch] */
  int patch_capacity, patch_end_capacity;        /* numbers */
  double *v_before, *z[2], *slack[2], *extra[2]; /* of the impact in progress */
  int phases, row_capacity;
} ss_variation;

/* Whether the simulation's scheme and options allow it; else why not. */
ss_status ss_variation_possible(const ss_sim *sim, ss_error *error);

/* n directions that vary the velocities at the present state: dv [n][n_v]. */
ss_status ss_variation_attach(ss_sim *sim, ss_variation *variation, int n, const double *dv, ss_error *error);
void ss_variation_detach(ss_sim *sim, ss_variation *variation);

/* Of an impact, phase by phase (variation_impact.c). */
ss_status ss_vary_phase(ss_sim *sim, ss_error *error);
ss_status ss_vary_impact(ss_sim *sim, ss_error *error);

#endif
