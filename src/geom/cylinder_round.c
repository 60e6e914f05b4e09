/* Cylinders against half-spaces and spheres (points).
 *
 * Over a plane with outward normal n, the lowest point of the end's disc with centre x is x - r m/|m|, m the part of n across
 * the axis: features RIM, smooth but where the cylinder stands, m = 0. A standing cylinder is held by points fixed on the rim,
 * features POINT: each is a point of the cylinder, so its gap can be no less than that of RIM. A cylinder that lies has the two
 * RIMs, one that rolls on an edge has one, one that stands has RIM and POINTs. */
#include "geom/cylinder.h"

enum { RIM = 0, POINT = 2 };
static const double standing = 0.3; /* sine of the tilt up to which rim points count */

static void plane_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                      ss_contact_point *out) {
  (void)a;
  const ss_cylinder c = cylinder_of(b);
  const ss_vec3 n = quat_axis_z(pa->orientation);
  const ss_vec3 down = quat_rotate(quat_conjugate(pb->orientation), v3_neg(n));
  const int point = (int)feature - POINT;
  const ss_vec3 local = point < 0 ? ss_disc_support(c, (int)feature, down)
                                  : ss_rim_point(c, point / SS_RIM_POINTS, point % SS_RIM_POINTS);
  out->gap = v3_dot(n, v3_sub(pb->position, pa->position)) - v3_dot(down, local);
  out->normal = v3_neg(n);
  out->point_b = pose_point(pb, local);
  out->point_a = v3_axpy(out->point_b, -out->gap, n);
  out->feature = feature;
}

static int plane_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                         ss_contact_point out[SS_PAIR_CONTACTS]) {
  const ss_vec3 n = quat_axis_z(pa->orientation), axis = quat_axis_x(pb->orientation);
  int count = 0;
  for (int end = 0; end < 2; end++) {
    plane_gap(a, pa, b, pb, (uint32_t)(RIM + end), &out[count]);
    count += out[count].gap <= reach;
  }
  if (v3_norm(v3_cross(n, axis)) > standing) return count;
  const int end = v3_dot(n, axis) < 0;
  for (int k = 0; k < SS_RIM_POINTS; k++) {
    plane_gap(a, pa, b, pb, (uint32_t)(POINT + SS_RIM_POINTS * end + k), &out[count]);
    count += out[count].gap <= reach;
  }
  return count;
}

const ss_pair ss_pair_half_space_cylinder = {plane_collide, plane_gap};

/* A point of the other shape, in the cylinder's frame, with a radius. */
static void contact_of_point(ss_cylinder c, const ss_pose *pb, ss_vec3 p, double radius, uint32_t feature,
                             ss_contact_point *out) {
  ss_vec3 n, foot;
  out->gap = ss_cylinder_distance(c, p, &n, &foot) - radius;
  out->normal = quat_rotate(pb->orientation, n);
  out->point_b = pose_point(pb, foot);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  out->feature = feature;
}

static void sphere_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                       ss_contact_point *out) {
  contact_of_point(cylinder_of(b), pb, pose_local(pb, pa->position), a->radius, feature, out);
}

static int sphere_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                          ss_contact_point out[SS_PAIR_CONTACTS]) {
  sphere_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_sphere_cylinder = {sphere_collide, sphere_gap};
