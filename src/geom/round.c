/* Round shapes with each other: all of them are spheres about the closest points of two centres or axes.
 *
 * Distance functions to convex sets are continuously differentiable outside, and the rate of a distance is the relative
 * velocity of the two closest material points along their connection (the motion of the closest points along the
 * surfaces drops out, being orthogonal to it). That is what makes the normal the right contact Jacobian.
 *
 * Where centres coincide, an axis of the second shape serves as the normal, so that the choice turns with the scene. */
#include "geom/pairs.h"

static int sphere_sphere_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                                 double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  contact_of_spheres(pa->position, a->radius, pb->position, b->radius, quat_axis_z(pb->orientation), 0, out);
  return out->gap <= reach;
}

static void sphere_sphere_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                              uint32_t feature, ss_contact_point *out) {
  contact_of_spheres(pa->position, a->radius, pb->position, b->radius, quat_axis_z(pb->orientation), feature, out);
}

const ss_pair ss_pair_sphere_sphere = {sphere_sphere_collide, sphere_sphere_gap};
