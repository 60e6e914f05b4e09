/* Ellipsoids (and ellipses of planar scenes) against a half-space, and the curvature of all shapes.
 *
 * With semi-axes A = diag(a, b, c) in the frame R, the point with outward normal m is p + S m / sqrt(m.S m), S = R A^2
 * R^T: the support point. Towards the half-space m = -n, so that the gap is n.(p - o) - sqrt(n.S n): analytic, smooth,
 * and its rate is n . (velocity of the support point), because the support point's own motion along the surface is
 * orthogonal to n. */
#include "geom/pairs.h"

/* S m for a world vector m. */
static ss_vec3 stretch(const ss_shape *s, const ss_pose *pose, ss_vec3 m) {
  const ss_vec3 local = quat_rotate(quat_conjugate(pose->orientation), m);
  return quat_rotate(pose->orientation, v3(s->half.x * s->half.x * local.x, s->half.y * s->half.y * local.y,
                                           s->half.z * s->half.z * local.z));
}

static void ellipsoid_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                          ss_contact_point *out) {
  (void)a, (void)feature;
  const ss_vec3 n = quat_axis_z(pa->orientation), arm = stretch(b, pb, n);
  const double width = sqrt(fmax(v3_dot(n, arm), 0)), height = v3_dot(n, v3_sub(pb->position, pa->position));
  out->gap = height - width;
  out->normal = v3_neg(n);
  out->point_b = width > 0 ? v3_axpy(pb->position, -1 / width, arm) : pb->position;
  out->point_a = v3_axpy(out->point_b, -out->gap, n);
  out->feature = 0;
}

static int ellipsoid_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                             ss_contact_point out[SS_PAIR_CONTACTS]) {
  ellipsoid_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_half_space_ellipsoid = {ellipsoid_collide, ellipsoid_gap};

/* The ellipsoid near its point with normal m: x.S^-1 x = 1 expanded about x = S m / s, s = sqrt(m.S m), gives the depth
 * s (r.S^-1 r)/2 plus terms from the shear of the tangent plane's coordinates, which are of third order. */
static double ellipsoid_curvature(const ss_shape *s, const ss_pose *pose, ss_vec3 m, ss_vec3 r) {
  const ss_vec3 local = quat_rotate(quat_conjugate(pose->orientation), r);
  const double width = sqrt(fmax(v3_dot(m, stretch(s, pose, m)), 0));
  const double half[3] = {s->half.x, s->half.y, s->half.z}, x[3] = {local.x, local.y, local.z};
  double sum = 0;
  for (int i = 0; i < 3; i++)
    if (half[i] > 0) sum += x[i] * x[i] / (half[i] * half[i]);
  return width * sum;
}

double ss_shape_curvature(const ss_shape *shape, const ss_pose *pose, ss_vec3 normal, ss_vec3 r) {
  switch (shape->type) {
  case SS_SHAPE_SPHERE:
    return v3_dot(r, r) / shape->radius;
  case SS_SHAPE_CAPSULE: { /* round across the axis; at the ends, where the normal leaves the cylinder, all around */
    const ss_vec3 axis = quat_axis_x(pose->orientation);
    const double along = fabs(v3_dot(normal, axis)) > 1e-6 ? 0 : v3_dot(r, axis);
    return (v3_dot(r, r) - along * along) / shape->radius;
  }
  case SS_SHAPE_CYLINDER: { /* its side; ends and rims count as flat */
    const ss_vec3 axis = quat_axis_x(pose->orientation);
    const double along = v3_dot(r, axis);
    return fabs(v3_dot(normal, axis)) > 1e-6 ? 0 : (v3_dot(r, r) - along * along) / shape->radius;
  }
  case SS_SHAPE_ELLIPSOID:
  case SS_SHAPE_ELLIPSE:
    return ellipsoid_curvature(shape, pose, normal, r);
  default:
    return 0;
  }
}
