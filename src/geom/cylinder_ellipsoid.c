/* An ellipsoid (or an ellipse of planar scenes) and a cylinder, in the ellipsoid's frame, d the signed distance from it.
 *
 * The cylinder's point with the least d is on an end, above or below the ellipsoid's support point along the axis; or on the
 * side, where the axis has its least d less the radius; or on a rim. Each gives a normal; the gap is the separation of the
 * slabs across the best of them (see ellipsoid_pairs.c), one contact with feature 0. */
#include "geom/cylinder.h"
#include "geom/ellipsoid.h"

typedef struct couple {
  ss_vec3 half; /* of the ellipsoid */
  ss_cylinder c;
  ss_vec3 center;
  ss_quat turn; /* from the cylinder's frame to the ellipsoid's */
} couple;

static ss_vec3 gradient(const void *context, ss_vec3 p) {
  ss_vec3 n, foot;
  (void)ss_ellipsoid_distance(((const couple *)context)->half, p, &n, &foot);
  return n;
}

/* Distance of the slabs; n points from the ellipsoid to the cylinder. */
static double separation(const couple *k, ss_vec3 n) {
  const ss_vec3 down = quat_rotate(quat_conjugate(k->turn), v3_neg(n));
  return v3_dot(n, k->center) - v3_dot(down, ss_cylinder_support(k->c, down)) -
         v3_dot(n, ss_ellipsoid_support(k->half, n));
}

typedef struct candidate {
  ss_vec3 n;
  double expected; /* separation, if no other point of the cylinder is further along -n */
  bool sound;
} candidate;

static candidate rim(const couple *k, int end) {
  candidate c;
  ss_vec3 p, foot;
  c.sound = ss_rim_minimum(k->c, end, k->center, k->turn, gradient, k, &p);
  c.expected = ss_ellipsoid_distance(k->half, p, &c.n, &foot);
  return c;
}

static candidate side(const couple *k) {
  const ss_segment axis = {k->center, quat_axis_x(k->turn), k->c.half};
  candidate c;
  ss_vec3 foot;
  const ss_vec3 p = segment_point(&axis, ss_ellipsoid_segment(k->half, &axis));
  c.expected = ss_ellipsoid_distance(k->half, p, &c.n, &foot) - k->c.radius;
  c.sound = fabs(v3_dot(c.n, axis.axis)) < 1e-9; /* else an end is the closest, or it is in a kink */
  return c;
}

/* An ellipse has no slabs but across its plane. */
static bool out_of_plane(const couple *k, ss_vec3 n) {
  for (int i = 0; i < 3; i++)
    if (v3_get(k->half, i) == 0 && fabs(v3_get(n, i)) > 1e-6) return true;
  return false;
}

static double best_normal(const couple *k, ss_vec3 *n) {
  const ss_vec3 along = quat_axis_x(k->turn);
  const double size = k->c.radius + k->c.half;
  const candidate all[5] = {{along, separation(k, along), !out_of_plane(k, along)},
                            {v3_neg(along), separation(k, v3_neg(along)), !out_of_plane(k, along)},
                            side(k),
                            rim(k, 0),
                            rim(k, 1)};
  double best = -INFINITY;
  for (int i = 0; i < 5; i++) {
    if (!all[i].sound) continue;
    const double value = separation(k, all[i].n);
    if (fabs(value - all[i].expected) > 1e-9 * size + 1e-14 * fabs(value) || !(value > best)) continue;
    best = value, *n = all[i].n;
  }
  if (isfinite(best)) return best;
  *n = all[2].n;
  return separation(k, *n);
}

static void ellipsoid_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                          ss_contact_point *out) {
  (void)feature;
  const couple k = {a->half, cylinder_of(b), pose_local(pa, pb->position),
                    quat_multiply(quat_conjugate(pa->orientation), pb->orientation)};
  ss_vec3 n = v3(0, 0, 1);
  out->gap = best_normal(&k, &n);
  out->normal = v3_neg(quat_rotate(pa->orientation, n));
  out->point_a = pose_point(pa, ss_ellipsoid_support(a->half, n));
  out->point_b = v3_axpy(out->point_a, -out->gap, out->normal);
  out->feature = 0;
}

static int ellipsoid_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                             ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  ellipsoid_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_ellipsoid_cylinder = {ellipsoid_collide, ellipsoid_gap};
