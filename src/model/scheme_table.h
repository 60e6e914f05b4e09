/* Time-stepping schemes: the (alpha, gamma) family of MATH section 1, as data. */
#ifndef SS_MODEL_SCHEME_TABLE_H
#define SS_MODEL_SCHEME_TABLE_H

#include <stickslip/scene.h>

typedef struct ss_scheme {
  const char *name;
  double alpha, gamma;     /* weight of v+ in the constraints and forces; weight of v+ in the position update */
  bool given;              /* alpha and gamma come from the user */
  bool implicit_forces;    /* springs and dampers enter the system matrix; else they are explicit */
  bool position_level;     /* normal condition Phi/h + n.v >= 0; else n.v >= 0 */
  bool rows_at_midpoint;   /* gradients of joints and contacts at q + h v/2; else at q */
  bool locates_collisions; /* by default, where nothing bounces */
  bool iterated;           /* gaps, joints and gradients at q+, by fixed-point iteration */
  bool theta;              /* BVP (16): alpha = gamma = 1 - theta, forces at the theta state by an outer iteration */
  bool compliant;          /* contacts are patches (patch/), never rigid; nothing collides in an instant */
} ss_scheme;

/* NULL: no scheme of that name. */
const ss_scheme *ss_scheme_find(const char *name);

#endif
