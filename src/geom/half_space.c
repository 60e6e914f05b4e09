/* Spheres, points, capsules and boxes against a half-space: the pairs of the inner loop.
 *
 * Features are points fixed in the moving shape: the centre (0), the capsule's two end centres (0 at -x, 1 at +x), the
 * box's corners (bit 0, 1, 2 of the feature: on the +x, +y, +z side). The gap of a point x with radius r is
 * n . (x - p) - r with the outward normal n and a surface point p: linear in x, hence smooth everywhere. */
#include "geom/pairs.h"

static int sphere_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                          ss_contact_point out[SS_PAIR_CONTACTS]) {
  (void)b;
  const ss_vec3 n = quat_axis_z(pb->orientation);
  const double height = v3_dot(n, v3_sub(pa->position, pb->position));
  out->gap = height - a->radius;
  out->normal = n;
  out->point_a = v3_axpy(pa->position, -a->radius, n);
  out->point_b = v3_axpy(pa->position, -height, n);
  out->feature = 0;
  return out->gap <= reach;
}

static void sphere_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                       ss_contact_point *out) {
  (void)feature;
  (void)sphere_collide(a, pa, b, pb, INFINITY, out);
}

const ss_pair ss_pair_sphere_half_space = {sphere_collide, sphere_gap};

/* The half-space is the first shape from here on: normals point into it, along -n. */
static void capsule_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                        ss_contact_point *out) {
  (void)a;
  const ss_vec3 n = quat_axis_z(pa->orientation);
  const ss_vec3 arm = v3_scale(feature ? b->half.x : -b->half.x, quat_axis_x(pb->orientation));
  const ss_vec3 center = v3_add(pb->position, arm);
  const double height = v3_dot(n, v3_sub(pb->position, pa->position)) + v3_dot(n, arm);
  out->gap = height - b->radius;
  out->normal = v3_neg(n);
  out->point_a = v3_axpy(center, -height, n);
  out->point_b = v3_axpy(center, -b->radius, n);
  out->feature = feature;
}

static int capsule_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                           ss_contact_point out[SS_PAIR_CONTACTS]) {
  const int ends = b->half.x > 0 ? 2 : 1; /* a capsule without length is one sphere */
  int n = 0;
  for (int end = 0; end < ends; end++) {
    capsule_gap(a, pa, b, pb, (uint32_t)end, &out[n]);
    n += out[n].gap <= reach;
  }
  return n;
}

const ss_pair ss_pair_half_space_capsule = {capsule_collide, capsule_gap};

/* What the eight corners have in common: corner height = center + (+-)rise.x (+-)rise.y (+-)rise.z. */
typedef struct box_over_plane {
  ss_mat3 axes; /* of the box */
  ss_vec3 n;    /* outward normal of the half-space */
  double center;
  ss_vec3 rise;
} box_over_plane;

static box_over_plane box_heights(const ss_pose *plane, const ss_shape *box, const ss_pose *pose) {
  box_over_plane h = {.axes = quat_matrix(pose->orientation), .n = quat_axis_z(plane->orientation)};
  const ss_vec3 slope = mat3_tmul(&h.axes, h.n);
  h.center = v3_dot(h.n, v3_sub(pose->position, plane->position));
  h.rise = v3(slope.x * box->half.x, slope.y * box->half.y, slope.z * box->half.z);
  return h;
}

static double corner_height(const box_over_plane *h, uint32_t corner) {
  const double rise = (corner & 1 ? h->rise.x : -h->rise.x) + (corner & 2 ? h->rise.y : -h->rise.y) +
                      (corner & 4 ? h->rise.z : -h->rise.z);
  return h->center + rise;
}

static void corner_contact(const box_over_plane *h, const ss_shape *box, const ss_pose *pose, uint32_t corner,
                           double height, ss_contact_point *out) {
  const ss_vec3 local = box_corner(box->half, corner);
  out->gap = height;
  out->normal = v3_neg(h->n);
  out->point_b = v3_add(pose->position, mat3_mul(&h->axes, local));
  out->point_a = v3_axpy(out->point_b, -height, h->n);
  out->feature = corner;
}

static void box_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                    ss_contact_point *out) {
  (void)a;
  const box_over_plane h = box_heights(pa, b, pb);
  corner_contact(&h, b, pb, feature, corner_height(&h, feature), out);
}

static int box_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                       ss_contact_point out[SS_PAIR_CONTACTS]) {
  (void)a;
  const ss_vec3 n = quat_axis_z(pa->orientation);
  if (v3_dot(n, v3_sub(pb->position, pa->position)) - b->reach > reach) return 0;
  const box_over_plane h = box_heights(pa, b, pb);
  int count = 0;
  for (uint32_t corner = 0; corner < 8; corner++) {
    const double height = corner_height(&h, corner);
    if (height <= reach) corner_contact(&h, b, pb, corner, height, &out[count++]);
  }
  return count;
}

const ss_pair ss_pair_half_space_box = {box_collide, box_gap};
