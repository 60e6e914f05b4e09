/* Round shapes with each other: all of them are spheres about the closest points of two centres or axes.
 *
 * Distance functions to convex sets are continuously differentiable outside, and the rate of a distance is the relative
 * velocity of the two closest material points along their connection (the motion of the closest points along the
 * surfaces drops out, being orthogonal to it). That is what makes the normal the right contact Jacobian.
 *
 * Where centres coincide, an axis of the second shape serves as the normal, so that the choice turns with the scene. */
#include "geom/pairs.h"

static void sphere_sphere_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                              uint32_t feature, ss_contact_point *out) {
  contact_of_spheres(v3_sub(pa->position, pb->position), a->radius, v3(0, 0, 0), b->radius, pb->position,
                     quat_axis_z(pb->orientation), feature, out);
}

static int sphere_sphere_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                                 double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  sphere_sphere_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_sphere_sphere = {sphere_sphere_collide, sphere_sphere_gap};

static void sphere_capsule_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                               uint32_t feature, ss_contact_point *out) {
  const ss_segment axis = capsule_axis(b, pb, pb->position);
  const ss_vec3 center = v3_sub(pa->position, pb->position);
  const ss_vec3 closest = segment_point(&axis, segment_closest(&axis, center));
  contact_of_spheres(center, a->radius, closest, b->radius, pb->position, quat_axis_z(pb->orientation), feature, out);
}

static int sphere_capsule_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                                  double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  sphere_capsule_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_sphere_capsule = {sphere_capsule_collide, sphere_capsule_gap};

/* Two capsules. Each feature is a distance that no admissible configuration makes negative:
 *
 *   CROSSING      the closest points of the two axes; reported where both are inside and the axes are not parallel
 *   END_A, END_B  an end of one axis (+ 0 at -x, + 1 at +x) and the other axis; reported where its foot is inside, or
 *                 where two ends are closest to each other (then once, as an end of a)
 *
 * so that crossed capsules touch in one point, and parallel ones in the two ends of their overlap. */
enum { CROSSING = 0, END_A = 1, END_B = 3 };

static void capsule_capsule_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                                uint32_t feature, ss_contact_point *out) {
  const ss_segment axis_a = capsule_axis(a, pa, pb->position), axis_b = capsule_axis(b, pb, pb->position);
  ss_vec3 fallback = quat_axis_z(pb->orientation);
  double s = 0, t = 0;
  if (feature == CROSSING) {
    segments_closest(&axis_a, &axis_b, &s, &t);
    (void)length_and_direction(v3_cross(axis_a.axis, axis_b.axis), fallback, &fallback);
  } else if (feature < END_B) {
    s = feature == END_A ? -axis_a.half : axis_a.half;
    t = segment_closest(&axis_b, segment_point(&axis_a, s));
  } else {
    t = feature == END_B ? -axis_b.half : axis_b.half;
    s = segment_closest(&axis_a, segment_point(&axis_b, t));
  }
  contact_of_spheres(segment_point(&axis_a, s), a->radius, segment_point(&axis_b, t), b->radius, pb->position, fallback,
                     feature, out);
}

static int capsule_capsule_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                                   double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  const ss_segment axis_a = capsule_axis(a, pa, pb->position), axis_b = capsule_axis(b, pb, pb->position);
  ss_vec3 w;
  if (v3_norm(axis_a.center) - (a->reach + b->reach) > reach) return 0;
  const double margin_a = 1e-9 * axis_a.half, margin_b = 1e-9 * axis_b.half;
  uint32_t features[5];
  int n_features = 0, n = 0;
  double s, t;
  if (segments_cross(&axis_a, &axis_b) && segment_perpendicular(&axis_a, &axis_b, &s, &t, &w) &&
      segment_contains(&axis_a, s, margin_a) && segment_contains(&axis_b, t, margin_b))
    features[n_features++] = CROSSING;
  for (uint32_t end = 0; end < (axis_a.half > 0 ? 2 : 1); end++) {
    s = end ? axis_a.half : -axis_a.half;
    t = segment_closest(&axis_b, segment_point(&axis_a, s));
    const double back = segment_closest(&axis_a, segment_point(&axis_b, t));
    if (fabs(t) < axis_b.half || fabs(back - s) <= margin_a) features[n_features++] = END_A + end;
  }
  for (uint32_t end = 0; end < (axis_b.half > 0 ? 2 : 1); end++) {
    t = end ? axis_b.half : -axis_b.half;
    s = segment_closest(&axis_a, segment_point(&axis_b, t));
    if (segment_contains(&axis_a, s, margin_a) && axis_a.half > 0) features[n_features++] = END_B + end;
  }
  for (int i = 0; i < n_features; i++) {
    capsule_capsule_gap(a, pa, b, pb, features[i], &out[n]);
    n += out[n].gap <= reach;
  }
  return n;
}

const ss_pair ss_pair_capsule_capsule = {capsule_capsule_collide, capsule_capsule_gap};
