/* Contact patches (DCC section 2.2): what lies between two bodies that touch, and how a step meets it.
 *
 *     lambda = K delta + C delta'          delta: by how much the surfaces give, per element and direction (n, t, o)
 *     s      = W v+ + E^-1 (lambda - K delta),   E = h K + C      (MATH section 1)
 *
 * With impulses z = h lambda the patch is the block R = E^-1 / h of the step's problem and the offset -E^-1 K delta;
 * delta+ = delta + E^-1 (z - h K delta). */
#ifndef SS_PATCH_PATCH_H
#define SS_PATCH_PATCH_H

#include "core/arena.h"

#include <stickslip/scene.h>

/* The law of one ordered pair of materials. */
typedef struct ss_patch {
  int n_elements, n_directions, n; /* n = n_elements n_directions; component = element n_directions + direction */
  double *place;                   /* [n_elements][2] along the two tangents */
  double *K, *C;                   /* [n][n] */
  double h;                        /* of the matrices below */
  double *flexibility;             /* [n][n] E^-1 */
  double *recovery;                /* [n][n] E^-1 K */
} ss_patch;

/* Builds the law for an elastic body a on an elastic body b (young 0: rigid; at least one is not, or the stiffness is
 * given). `directions` is 2 in planar scenes, else 3. */
ss_status ss_patch_create(const ss_compliance_def *def, ss_elastic a, ss_elastic b, int directions, ss_arena *arena,
                          ss_patch **out, ss_error *error);

/* flexibility and recovery for steps of size h. */
ss_status ss_patch_prepare(ss_patch *patch, double h, ss_error *error);

#endif
