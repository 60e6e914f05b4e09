/* Points and ellipsoids: signed distances, and their minima over line segments. */
#ifndef SS_GEOM_ELLIPSOID_H
#define SS_GEOM_ELLIPSOID_H

#include "geom/pairs.h"

/* Signed distance of p from the surface of the ellipsoid with these semi-axes, in its frame, with the closest surface
 * point and the outward normal there. A semi-axis 0 (an ellipse) means infinite: the distance within the plane. */
double ss_ellipsoid_distance(ss_vec3 half, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface);

/* Parameter of the segment's point with the least signed distance: the distance of a convex set is convex. */
double ss_ellipsoid_segment(ss_vec3 half, const ss_segment *segment);

/* The point of the ellipsoid that is furthest along the unit vector n. */
ss_vec3 ss_ellipsoid_support(ss_vec3 half, ss_vec3 n);

/* Does the direction lie in an ellipse's plane? False for ellipsoids. */
static inline bool ellipse_contains(ss_vec3 half, ss_vec3 direction) {
  for (int i = 0; i < 3; i++)
    if (v3_get(half, i) == 0) return fabs(v3_get(direction, i)) < 0.5;
  return false;
}

#endif
