/* A sphere or a point and a box: the signed distance of the centre from the box's surface, in the box's frame.
 *
 * Outside it is the distance from the closest point, continuously differentiable. Inside it is minus the distance from
 * the nearest face; that has kinks where two faces are equally near, deep inside the box or, for points, at its edges.
 */
#include "geom/pairs.h"

static void sphere_box_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                           ss_contact_point *out) {
  ss_vec3 n, surface;
  const double distance = box_distance(b->half, pose_local(pb, pa->position), &n, &surface);
  out->gap = distance - a->radius;
  out->normal = quat_rotate(pb->orientation, n);
  out->point_a = v3_axpy(pa->position, -a->radius, out->normal);
  out->point_b = pose_point(pb, surface);
  out->feature = feature;
}

static int sphere_box_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                              ss_contact_point out[SS_PAIR_CONTACTS]) {
  sphere_box_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_sphere_box = {sphere_box_collide, sphere_box_gap};
