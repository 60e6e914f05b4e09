/* Contact patches (DCC section 2.2): what lies between two bodies that touch, and how a step meets it.
 *
 *     lambda = K delta + C delta'          delta: by how much the surfaces give, per element and direction (n, t, o)
 *     s      = W v+ + E^-1 (lambda - K delta),   E = h K + C      (MATH section 1)
 *
 * With impulses z = h lambda the patch is the block R = E^-1 / h of the step's problem and the offset -E^-1 K delta;
 * delta+ = delta + E^-1 (z - h K delta). */
#ifndef SS_PATCH_PATCH_H
#define SS_PATCH_PATCH_H

#include "sim/sim.h"

/* The law of one ordered pair of materials. */
struct ss_patch {
  int n_elements, n_directions, n; /* n = n_elements n_directions; component = element n_directions + direction */
  double *place;                   /* [n_elements][2] along the two tangents */
  double *K, *C;                   /* [n][n] */
  const double *K0, *C0;           /* [n][n] without the factors below; NULL: there are none */
  double factor[2];                /* K = factor[0] K0, C = factor[1] C0: at the start of the step (patch_rows.c) */
  double kept;                     /* factor[0] in the last part that was accepted; 0: none yet */
  double *friction;                /* [n_elements] coefficients; NULL: the pair's for all */
  double *delta;                   /* [n] deformations at t = 0; NULL: not given */
  int side;                        /* elements along a side */
  double spacing;
  double thickness; /* of line contact; 0: no half-plane */
  double share[2];  /* of the two surfaces in the compliance */
  double modulus;   /* E* of half-spaces: 1 / sum of (1 - nu^2) / E; 0: springs, or a matrix that is given */
  bool transport;   /* material flows through (patch_rows.c) */
  double *ghost;    /* [n_ghost n_directions][n] deformations around the patch from those in it; NULL: they are zero */
  double *ring;     /* [(side + 4)^2 n_directions] scratch: the patch with two rings around it; planar: a line */
  double h;         /* of the matrices below */
  double *flexibility; /* [n][n] E^-1 */
  double *recovery;    /* [n][n] E^-1 K */
};

/* Builds the law for two surfaces; where both are rigid, the definition's stiffness counts. `directions` is 2 in planar
 * scenes, else 3. Matrices of the definition are for a normal that points to the other body where `turned`. */
ss_status ss_patch_create(const ss_compliance_def *def, const ss_surface side[2], bool turned, int directions,
                          ss_arena *arena, ss_patch **out, ss_error *error);

/* Where component i lies in the frame of the other body, and with which sign. */
int ss_patch_turned(const ss_patch *patch, int i, double *sign);

/* Whether a surface is not rigid. */
bool ss_surface_gives(const ss_surface *side);

/* out += the influence matrix of the side (0: of a, 1: of b). */
void ss_surface_influence(const ss_patch *patch, const ss_compliance_def *def, const ss_surface *side, int which,
                          double *out);
/* out[n_directions][n] += displacements of the side at a place outside of all elements. */
void ss_surface_influence_at(const ss_patch *patch, const ss_compliance_def *def, const ss_surface *side, int which,
                             const double place[2], double *out);

/* ghost and ring, for a patch whose K is known. */
ss_status ss_patch_prepare_transport(ss_patch *patch, const ss_compliance_def *def, const ss_surface side[2],
                                     struct ss_arena *arena, ss_error *error);
/* delta[n] as it is at the elements after material has moved by `shift` (in units of the spacing, along the tangents). */
void ss_patch_shift(const ss_patch *patch, const double shift[2], double *delta);

/* K and C with these factors; needs K0. */
void ss_patch_scale(ss_patch *patch, const double factor[2]);

/* flexibility and recovery for steps of size h. */
ss_status ss_patch_prepare(ss_patch *patch, double h, ss_error *error);

/* (x - y).A (x - y); y NULL: zero. */
static inline double ss_quadratic(const double *matrix, const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double line = 0;
    for (int j = 0; j < n; j++) line += matrix[(size_t)i * (size_t)n + (size_t)j] * (x[j] - (y ? y[j] : 0));
    sum += (x[i] - (y ? y[i] : 0)) * line;
  }
  return sum;
}

/* The law of a contact's patch (pair_law.c). */
ss_status ss_patch_find_law(ss_sim *sim, ss_contact *c, ss_error *error);

#endif
