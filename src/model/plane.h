/* The planes of planar scenes. Positive angles turn about the positive third axis by the right-hand rule: xy about +z
 * (from x to y), xz about +y (from z to x), yz about +x (from y to z). */
#ifndef SS_MODEL_PLANE_H
#define SS_MODEL_PLANE_H

#include "core/math3.h"

#include <stickslip/scene.h>

typedef struct ss_plane {
  int axes[2]; /* indices of the plane's own coordinates, in the order in which scenes list them */
  int normal;  /* index of the axis out of the plane; -1: the scene is spatial */
  unsigned freedom;
} ss_plane;

static inline ss_plane ss_plane_of(ss_planar planar) {
  switch (planar) {
  case SS_PLANAR_XY:
    return (ss_plane){{0, 1}, 2, SS_X | SS_Y | SS_RZ};
  case SS_PLANAR_XZ:
    return (ss_plane){{0, 2}, 1, SS_X | SS_Z | SS_RY};
  case SS_PLANAR_YZ:
    return (ss_plane){{1, 2}, 0, SS_Y | SS_Z | SS_RX};
  case SS_SPATIAL:
    break;
  }
  return (ss_plane){{0, 1}, -1, SS_ALL};
}

static inline ss_vec3 ss_axis_vector(int axis) { return v3(axis == 0, axis == 1, axis == 2); }

#endif
