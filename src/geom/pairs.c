/* Which function serves which pair of shapes. */
#include "geom/pairs.h"

/* Row a, column b, a <= b. Points are spheres of radius 0; two points never meet, nor do two half-spaces. */
/* clang-format off */
static const ss_pair *const table[SS_SHAPE_TYPES][SS_SHAPE_TYPES] = {
  /*                point  sphere                  half-space                  box                      capsule                      ellipsoid, ellipse */
  /* point      */ {NULL,  &ss_pair_sphere_sphere, &ss_pair_sphere_half_space, &ss_pair_sphere_box,     &ss_pair_sphere_capsule},
  /* sphere     */ {NULL,  &ss_pair_sphere_sphere, &ss_pair_sphere_half_space, &ss_pair_sphere_box,     &ss_pair_sphere_capsule},
  /* half-space */ {NULL,  NULL,                   NULL,                       &ss_pair_half_space_box, &ss_pair_half_space_capsule, &ss_pair_half_space_ellipsoid, &ss_pair_half_space_ellipsoid},
  /* box        */ {NULL,  NULL,                   NULL,                       &ss_pair_box_box,        &ss_pair_box_capsule},
  /* capsule    */ {NULL,  NULL,                   NULL,                       NULL,                    &ss_pair_capsule_capsule},
};
/* clang-format on */

const ss_pair *ss_pair_find(ss_shape_type a, ss_shape_type b, bool *swapped) {
  *swapped = a > b;
  return a > b ? table[b][a] : table[a][b];
}
