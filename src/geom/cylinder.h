/* Cylinders in their own frame: the axis along x, the ends at x = -half and x = half. */
#ifndef SS_GEOM_CYLINDER_H
#define SS_GEOM_CYLINDER_H

#include "geom/pairs.h"

typedef struct ss_cylinder {
  double half, radius;
} ss_cylinder;

static inline ss_cylinder cylinder_of(const ss_shape *shape) { return (ss_cylinder){shape->half.x, shape->radius}; }

/* Points of the rims that are kept as contacts of their own, so that a cylinder stands: they are fixed in it. */
enum { SS_RIM_POINTS = 8 };
ss_vec3 ss_rim_point(ss_cylinder c, int end, int k);

/* Signed distance of p from the surface, with the closest surface point and the outward normal there; inside, the
 * nearer one of side and end counts. */
double ss_cylinder_distance(ss_cylinder c, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface);

/* The surfaces are the two ends, 0 and 1, and the side. Is p over one of them, but for `margin` beside it, and not out on the other
 * side of the solid? Its height there, with the surface's normal and the point below: unlike the distance it goes on into the solid
 * wherever p is. */
enum { SS_CYLINDER_SIDE = 2 };
bool ss_cylinder_over(ss_cylinder c, ss_vec3 p, int surface, double margin);
double ss_cylinder_height(ss_cylinder c, ss_vec3 p, int surface, ss_vec3 *normal, ss_vec3 *foot);

/* Signed distance of the line p + s u (u a unit vector) from the cylinder: the largest separation across it. With the
 * outward normal and the cylinder's point there. */
double ss_cylinder_line(ss_cylinder c, ss_vec3 p, ss_vec3 u, ss_vec3 *normal, ss_vec3 *foot);

/* Parameter of the segment's point with the least signed distance. */
double ss_cylinder_segment(ss_cylinder c, const ss_segment *segment);

/* Where the segment's line is at the radius, on one side (k = 0, 1) of its point nearest to the axis; false: nowhere on the
 * segment but for `margin` at its ends, or it is steep. */
bool ss_cylinder_chord(ss_cylinder c, const ss_segment *segment, int k, double margin, double *t);

/* The point of one end's disc that is furthest along n: on its rim. Where n is along the axis the whole disc is; then the
 * rim's first point. */
ss_vec3 ss_disc_support(ss_cylinder c, int end, ss_vec3 n);
ss_vec3 ss_cylinder_support(ss_cylinder c, ss_vec3 n);

/* The point of the rim of `end` (of a cylinder that is seen from another frame by `turn` and `center`) at which a convex
 * function is least, given by its gradient. False: the function has a kink there. */
typedef ss_vec3 (*ss_gradient)(const void *context, ss_vec3 p);
bool ss_rim_minimum(ss_cylinder c, int end, ss_vec3 center, ss_quat turn, ss_gradient gradient, const void *context,
                    ss_vec3 *point);

#endif
