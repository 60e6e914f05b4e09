/* Which function serves which pair of shapes. */
#include "geom/pairs.h"

enum { POINT = SS_SHAPE_POINT, SPHERE = SS_SHAPE_SPHERE, HALF_SPACE = SS_SHAPE_HALF_SPACE, BOX = SS_SHAPE_BOX };

/* Row a, column b, a <= b. Points are spheres of radius 0; two points never meet, nor do two half-spaces. */
/* clang-format off */
static const ss_pair *const table[SS_SHAPE_TYPES][SS_SHAPE_TYPES] = {
  /*                  point  sphere                  half-space                  box                      capsule */
  [POINT]          = {NULL,  &ss_pair_sphere_sphere, &ss_pair_sphere_half_space, NULL,                    NULL},
  [SPHERE]         = {NULL,  &ss_pair_sphere_sphere, &ss_pair_sphere_half_space, NULL,                    NULL},
  [HALF_SPACE]     = {NULL,  NULL,                   NULL,                       &ss_pair_half_space_box, &ss_pair_half_space_capsule},
  [BOX]            = {NULL,  NULL,                   NULL,                       NULL,                    NULL},
};
/* clang-format on */

const ss_pair *ss_pair_find(ss_shape_type a, ss_shape_type b, bool *swapped) {
  *swapped = a > b;
  return a > b ? table[b][a] : table[a][b];
}
