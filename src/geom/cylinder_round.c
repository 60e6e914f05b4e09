/* Cylinders against half-spaces, spheres (points) and capsules.
 *
 * Over a plane with outward normal n, the lowest point of the end's disc with centre x is x - r m/|m|, m the part of n across
 * the axis: features RIM, smooth but where the cylinder stands, m = 0. A standing cylinder is held by points fixed on the rim,
 * features POINT: each is a point of the cylinder, so its gap can be no less than that of RIM. A cylinder that lies has the two
 * RIMs, one that rolls on an edge has one, one that stands has RIM and POINTs.
 *
 * A capsule's axis: signed distance of its ends (END), of its line where the closest point is between them (AXIS; else of the axis' closest point), and of
 * the point nearest to each end's disc (DISC), so that parallel ones touch in the two ends of their overlap. Those are reported
 * whose normal is near that of the best separating slab; SLAB, an end and the lower end of the axis over it, where none does. */
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

/* ---- capsules ---- */

enum { END = 0, DISC = 2, AXIS = 4, SLAB = 5, CAPSULE_FEATURES = 7 };

typedef struct disc_context {
  double x, radius;
  const ss_segment *segment;
} disc_context;

/* From the closest point of the flat disc to the segment's point s. */
static ss_vec3 from_disc(const disc_context *d, double s, ss_vec3 *foot) {
  const ss_vec3 y = segment_point(d->segment, s);
  ss_vec3 out;
  const double rho = length_and_direction(v3(0, y.y, y.z), v3(0, 1, 0), &out);
  *foot = v3_axpy(v3(d->x, 0, 0), rho < d->radius ? rho : d->radius, out);
  return v3_sub(y, *foot);
}

static double disc_slope(const void *context, double s) {
  const disc_context *d = context;
  ss_vec3 foot, n;
  (void)length_and_direction(from_disc(d, s, &foot), v3(0, 0, 0), &n);
  return v3_dot(n, d->segment->axis);
}

/* A feature of the axis in the cylinder's frame: foot + distance n is the point of the axis. */
typedef struct axis_feature {
  double distance;
  ss_vec3 n, foot;
  bool valid;
} axis_feature;

static axis_feature feature_of_axis(ss_cylinder c, const ss_segment *axis, uint32_t feature) {
  axis_feature f = {.valid = true};
  const double side = feature & 1 ? 1 : -1; /* of END; of DISC and SLAB see below */
  if (feature < DISC) {
    f.distance = ss_cylinder_distance(c, segment_point(axis, side * axis->half), &f.n, &f.foot);
  } else if (feature < AXIS) {
    const disc_context d = {side * c.half, c.radius, axis};
    const double s = ss_rising_root(disc_slope, &d, -axis->half, axis->half, segment_closest(axis, v3(d.x, 0, 0)));
    f.distance = length_and_direction(from_disc(&d, s, &f.foot), v3(side, 0, 0), &f.n);
  } else if (feature == AXIS) {
    f.distance = ss_cylinder_line(c, axis->center, axis->axis, &f.n, &f.foot);
    const double s = v3_dot(axis->axis, v3_sub(v3_axpy(f.foot, f.distance, f.n), axis->center));
    f.valid = segment_contains(axis, s, 1e-9 * axis->half);
    if (!f.valid)
      f.distance = ss_cylinder_distance(c, segment_point(axis, ss_cylinder_segment(c, axis)), &f.n, &f.foot);
  } else {
    const double end = feature == SLAB ? -1 : 1;
    const ss_vec3 y = segment_point(axis, end * axis->axis.x > 0 ? -axis->half : axis->half);
    f.n = v3(end, 0, 0);
    f.distance = end * y.x - c.half;
    f.foot = v3_axpy(y, -f.distance, f.n);
  }
  return f;
}

static void contact_of_feature(const axis_feature *f, const ss_pose *pb, double radius, uint32_t feature,
                               ss_contact_point *out) {
  out->gap = f->distance - radius;
  out->normal = quat_rotate(pb->orientation, f->n);
  out->point_b = pose_point(pb, f->foot);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  out->feature = feature;
}

static ss_segment axis_seen(const ss_shape *a, const ss_pose *pa, const ss_pose *pb) {
  const ss_quat turn = quat_multiply(quat_conjugate(pb->orientation), pa->orientation);
  return (ss_segment){pose_local(pb, pa->position), quat_axis_x(turn), a->half.x};
}

static void capsule_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                        ss_contact_point *out) {
  const ss_segment axis = axis_seen(a, pa, pb);
  const axis_feature f = feature_of_axis(cylinder_of(b), &axis, feature);
  contact_of_feature(&f, pb, a->radius, feature, out);
}

/* Distance of the slabs of axis and cylinder across n. */
static double axis_separation(ss_cylinder c, const ss_segment *axis, ss_vec3 n) {
  return v3_dot(n, axis->center) - fabs(v3_dot(n, axis->axis)) * axis->half - v3_dot(n, ss_cylinder_support(c, n));
}

static int capsule_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                           ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  const ss_cylinder c = cylinder_of(b);
  const ss_segment axis = axis_seen(a, pa, pb);
  axis_feature all[CAPSULE_FEATURES];
  double best = -INFINITY;
  uint32_t chosen = SLAB;
  for (uint32_t f = CAPSULE_FEATURES; f-- > 0;) { /* slabs first */
    all[f] = feature_of_axis(c, &axis, f);
    if (!all[f].valid || (f >= DISC && f < AXIS)) continue;
    const double value = axis_separation(c, &axis, all[f].n);
    const bool holds =
        fabs(value - all[f].distance) <= 1e-9 * b->reach + 1e-14 * fabs(value); /* else others are further along n */
    if (holds && value > best) best = value, chosen = f;
  }
  int count = 0;
  bool closed = best > 0;
  for (uint32_t f = 0; f < SLAB; f++) {
    const bool disc = f / 2 == DISC / 2, single = f == END + 1 && axis.half == 0;
    if (!all[f].valid || single || v3_dot(all[f].n, all[chosen].n) < 0.9) continue;
    if (disc && best <= 0) continue; /* the axis is inside: a disc's distance has no sign */
    ss_contact_point contact;
    contact_of_feature(&all[f], pb, a->radius, f, &contact);
    bool known = false; /* the same points, seen from an end */
    for (int i = 0; i < count && f >= DISC; i++)
      known |= v3_norm(v3_sub(out[i].point_b, contact.point_b)) <= 1e-9 * b->reach &&
               contact.gap > out[i].gap - 1e-14 * b->reach;
    closed |= all[f].distance <= 1e-9 * b->reach;
    if (!known) count = contact_add(out, count, &contact, reach);
  }
  if (!closed) {
    ss_contact_point contact;
    contact_of_feature(&all[chosen], pb, a->radius, chosen, &contact);
    count = contact_add(out, count, &contact, reach);
  }
  return count;
}

const ss_pair ss_pair_capsule_cylinder = {capsule_collide, capsule_gap};
