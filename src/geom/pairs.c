/* Which function serves which pair of shapes. */
#include "geom/pairs.h"

/* Row a, column b, a <= b. Points are spheres of radius 0; two points never meet, nor do two half-spaces. */
/* clang-format off */
#define NONE NULL
#define SPHERE &ss_pair_sphere_sphere, &ss_pair_sphere_half_space, &ss_pair_sphere_box, &ss_pair_sphere_capsule, &ss_pair_sphere_ellipsoid, &ss_pair_sphere_ellipsoid
static const ss_pair *const table[SS_SHAPE_TYPES][SS_SHAPE_TYPES] = {
  /*                point  sphere half-space box                      capsule                      ellipsoid                      ellipse */
  /* point      */ {NONE,  SPHERE},
  /* sphere     */ {NONE,  SPHERE},
  /* half-space */ {NONE,  NONE,  NONE,      &ss_pair_half_space_box, &ss_pair_half_space_capsule, &ss_pair_half_space_ellipsoid, &ss_pair_half_space_ellipsoid},
  /* box        */ {NONE,  NONE,  NONE,      &ss_pair_box_box,        &ss_pair_box_capsule,        &ss_pair_hull_ellipsoid,       &ss_pair_hull_ellipsoid},
  /* capsule    */ {NONE,  NONE,  NONE,      NONE,                    &ss_pair_capsule_capsule,    &ss_pair_capsule_ellipsoid,    &ss_pair_capsule_ellipsoid},
  /* ellipsoid  */ {NONE,  NONE,  NONE,      NONE,                    NONE,                        &ss_pair_ellipsoid_ellipsoid,  &ss_pair_ellipsoid_ellipsoid},
  /* ellipse    */ {NONE,  NONE,  NONE,      NONE,                    NONE,                        NONE,                          &ss_pair_ellipsoid_ellipsoid},
};
/* clang-format on */

const ss_pair *ss_pair_find(ss_shape_type a, ss_shape_type b, bool *swapped) {
  *swapped = a > b;
  return a > b ? table[b][a] : table[a][b];
}
