/* Two cylinders.
 *
 *   SIDES   the closest points of the two axes, between their ends: distance less the radii; beyond an end, the distance of a
 *           point of a's side
 *   RIM     the point of an end's rim that is closest to the other cylinder: signed distance
 *   RIMS    a rim of each: largest separation of the slabs that enclose the two discs
 *   POINT   a point fixed on a rim: signed distance from the other cylinder; these hold a stack of cylinders
 *
 *   SLAB    an end and the other cylinder's lowest point over it, for cylinders that overlap deeply
 *
 * Apart, each is the distance of two points of the shapes, and the least of SIDES and RIM is the distance: the closest points
 * are on both sides, where the common perpendicular of the axes carries them, or one is on a rim. Parallel cylinders touch
 * in the rims at the ends of their overlap. Reported are the features whose normal is near that of the best separating slab. */
#include "geom/cylinder.h"
#include "geom/slab.h"

enum { SIDES = 0, RIM = 1, RIMS = 5, POINT = 9, FEATURES = POINT + 4 * SS_RIM_POINTS, SLAB = FEATURES };
static const double similar = 0.9;
static const double standing = 0.3;

/* Everything in b's frame. */
typedef struct couple {
  ss_cylinder a, b;
  ss_vec3 center; /* of a */
  ss_quat turn;   /* from a's frame */
  double size;
} couple;

static couple couple_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb) {
  return (couple){cylinder_of(a), cylinder_of(b), pose_local(pb, pa->position),
                  quat_multiply(quat_conjugate(pb->orientation), pa->orientation), fmin(a->reach, b->reach)};
}

/* A point of a, in b's frame, against b. */
static void point_of_a(const couple *c, ss_vec3 y, ss_contact_point *out) {
  out->gap = ss_cylinder_distance(c->b, y, &out->normal, &out->point_b);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
}

static ss_vec3 in_a(const couple *c, ss_vec3 p) { return quat_rotate(quat_conjugate(c->turn), v3_sub(p, c->center)); }

static void point_of_b(const couple *c, ss_vec3 y, ss_contact_point *out) {
  ss_vec3 n, foot;
  out->gap = ss_cylinder_distance(c->a, in_a(c, y), &n, &foot);
  out->normal = v3_neg(quat_rotate(c->turn, n));
  out->point_a = v3_add(c->center, quat_rotate(c->turn, foot));
  out->point_b = v3_axpy(out->point_a, -out->gap, out->normal);
}

static ss_vec3 gradient_b(const void *context, ss_vec3 p) {
  ss_vec3 n, foot;
  (void)ss_cylinder_distance(((const couple *)context)->b, p, &n, &foot);
  return n;
}

static ss_vec3 gradient_a(const void *context, ss_vec3 p) {
  const couple *c = context;
  ss_vec3 n, foot;
  (void)ss_cylinder_distance(c->a, in_a(c, p), &n, &foot);
  return quat_rotate(c->turn, n);
}

static bool sides(const couple *c, ss_contact_point *out) {
  const ss_segment a = {c->center, quat_axis_x(c->turn), c->a.half}, b = {v3(0, 0, 0), v3(1, 0, 0), c->b.half};
  ss_vec3 w;
  double s, t;
  const bool inside = segment_perpendicular(&a, &b, &s, &t, &w) && segment_contains(&a, s, 1e-9 * a.half) &&
                      segment_contains(&b, t, 1e-9 * b.half);
  segments_closest(&a, &b, &s, &t);
  ss_vec3 fallback;
  (void)length_and_direction(v3_cross(a.axis, b.axis), v3(0, 0, 1), &fallback);
  contact_of_spheres(segment_point(&a, s), c->a.radius, segment_point(&b, t), c->b.radius, v3(0, 0, 0), fallback, SIDES,
                     out);
  if (inside) return true;
  /* beyond an end: the point on a's side from which b's axis is seen */
  const ss_vec3 x = segment_point(&a, s), across = v3_axpy(out->normal, -v3_dot(out->normal, a.axis), a.axis);
  ss_vec3 away;
  (void)length_and_direction(across, fallback, &away);
  point_of_a(c, v3_axpy(x, -c->a.radius, away), out);
  return false;
}

/* Minus the two discs' support functions: across the axis a, R sqrt(|n|^2 - (a.n)^2). */
typedef struct discs {
  ss_vec3 r, axis[2];
  double radius[2];
} discs;

static double disc_slabs(const void *context, ss_vec3 n, ss_vec3 *gradient, ss_mat3 *bend) {
  const discs *d = context;
  double s = v3_dot(n, d->r);
  *gradient = d->r;
  *bend = (ss_mat3){0};
  for (int k = 0; k < 2; k++) {
    const ss_vec3 a = d->axis[k], m = v3_axpy(n, -v3_dot(a, n), a);
    const double width = fmax(v3_norm(m), 1e-12), x[3] = {m.x, m.y, m.z}, axis[3] = {a.x, a.y, a.z};
    s -= d->radius[k] * width;
    *gradient = v3_axpy(*gradient, -d->radius[k] / width, m);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        bend->m[i][j] += d->radius[k] / width * ((i == j) - axis[i] * axis[j] - x[i] * x[j] / (width * width));
  }
  return s;
}

static bool rim(const couple *c, bool of_a, int end, ss_contact_point *out) {
  ss_vec3 p;
  const bool sound = of_a ? ss_rim_minimum(c->a, end, c->center, c->turn, gradient_b, c, &p)
                          : ss_rim_minimum(c->b, end, v3(0, 0, 0), quat_identity(), gradient_a, c, &p);
  if (of_a)
    point_of_a(c, p, out);
  else
    point_of_b(c, p, out);
  return sound;
}

static void slab(const couple *c, int number, ss_contact_point *out) {
  const double side = number & 1 ? 1 : -1;
  if (number < 2) { /* an end of a, over which b is */
    out->normal = v3_scale(-side, quat_axis_x(c->turn));
    out->point_b = ss_cylinder_support(c->b, out->normal);
    out->gap = v3_dot(out->normal, v3_sub(c->center, out->point_b)) - c->a.half;
    out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
    return;
  }
  out->normal = v3(side, 0, 0);
  const ss_vec3 down = quat_rotate(quat_conjugate(c->turn), v3(-side, 0, 0));
  out->point_a = v3_add(c->center, quat_rotate(c->turn, ss_cylinder_support(c->a, down)));
  out->gap = side * out->point_a.x - c->b.half;
  out->point_b = v3_axpy(out->point_a, -out->gap, out->normal);
}

static double separation(const couple *c, ss_vec3 n) {
  const ss_vec3 down = quat_rotate(quat_conjugate(c->turn), v3_neg(n));
  return v3_dot(n, c->center) - v3_dot(down, ss_cylinder_support(c->a, down)) - v3_dot(n, ss_cylinder_support(c->b, n));
}

/* Where Newton's method starts: the best separating normal of ends, sides, and rims alone. */
static ss_vec3 first_normal(const couple *c) {
  ss_contact_point contact;
  ss_vec3 n = v3(0, 0, 1);
  double best = -INFINITY;
  for (int k = 0; k < 9; k++) {
    if (k < 4)
      slab(c, k, &contact);
    else if (k < 8)
      (void)rim(c, k < 6, k & 1, &contact);
    else
      (void)sides(c, &contact);
    const double value = separation(c, contact.normal);
    if (value > best) best = value, n = contact.normal;
  }
  return n;
}

/* Across the two rims' tangents where they are near each other: from a's point closest to b. */
static ss_vec3 across_rims(const couple *c, int end_a, int end_b, ss_vec3 otherwise) {
  ss_vec3 p, n;
  (void)ss_rim_minimum(c->a, end_a, c->center, c->turn, gradient_b, c, &p);
  const ss_vec3 axis = quat_axis_x(c->turn), arm = v3_sub(p, c->center);
  const ss_vec3 tangent_a = v3_cross(axis, arm), tangent_b = v3_cross(v3(1, 0, 0), p);
  if (!(length_and_direction(v3_cross(tangent_a, tangent_b), otherwise, &n) > 0)) return otherwise;
  const double out = (end_b ? n.x : -n.x) - (end_a ? 1 : -1) * v3_dot(axis, n);
  if (out < 0) n = v3_neg(n);
  return separation(c, n) > separation(c, otherwise) ? n : otherwise;
}

static bool rims(const couple *c, int end_a, int end_b, ss_contact_point *out) {
  const ss_vec3 axis = quat_axis_x(c->turn);
  const discs d = {
      v3_sub(v3_axpy(c->center, end_a ? c->a.half : -c->a.half, axis), v3(end_b ? c->b.half : -c->b.half, 0, 0)),
      {axis, v3(1, 0, 0)},
      {c->a.radius, c->b.radius}};
  ss_vec3 n = across_rims(c, end_a, end_b, first_normal(c)), gradient;
  ss_mat3 bend;
  out->gap = ss_slab_maximum(disc_slabs, &d, &n);
  (void)disc_slabs(&d, n, &gradient, &bend);
  const ss_vec3 slope = v3_axpy(gradient, -v3_dot(gradient, n), n);
  out->normal = n;
  out->point_b = ss_disc_support(c->b, end_b, n);
  out->point_a = v3_axpy(out->point_b, out->gap, n);
  const double towards_a = (end_b ? 1 : -1) * n.x, towards_b = -(end_a ? 1 : -1) * v3_dot(axis, n);
  return v3_norm(slope) < 1e-9 * c->size && towards_a > 1e-9 && towards_b > 1e-9 && towards_a < 1 - 1e-9 &&
         towards_b < 1 - 1e-9;
}

/* Returns whether the points belong to the shapes. */
static bool feature_contact(const couple *c, uint32_t feature, ss_contact_point *out) {
  bool valid = true;
  if (feature == SIDES) {
    valid = sides(c, out);
  } else if (feature >= SLAB) {
    slab(c, (int)(feature - SLAB), out);
  } else if (feature >= RIMS && feature < POINT) {
    valid = rims(c, (int)(feature - RIMS) & 1, (int)(feature - RIMS) >> 1, out);
  } else if (feature < POINT) {
    valid = rim(c, feature < RIM + 2, (int)(feature - RIM) & 1, out);
  } else {
    const int number = (int)(feature - POINT) % (2 * SS_RIM_POINTS), end = number / SS_RIM_POINTS;
    const int k = number % SS_RIM_POINTS;
    if (feature < POINT + 2 * SS_RIM_POINTS)
      point_of_a(c, v3_add(c->center, quat_rotate(c->turn, ss_rim_point(c->a, end, k))), out);
    else
      point_of_b(c, ss_rim_point(c->b, end, k), out);
  }
  out->feature = feature;
  return valid;
}

/* The best separating normal, and the feature that stands for it where no other is closed: an end's slab, or a rim under
 * a rim, where the distance has a kink and any normal between those of the end and the side will do. */
static double best_normal(const couple *c, ss_vec3 *n, uint32_t *feature) {
  double best = -INFINITY;
  ss_contact_point contact;
  for (uint32_t k = 0; k < 4; k++) {
    slab(c, (int)k, &contact);
    if (contact.gap > best) best = contact.gap, *n = contact.normal, *feature = SLAB + k;
  }
  for (uint32_t f = SIDES; f < POINT; f++) {
    const bool valid = feature_contact(c, f, &contact),
               kink = !valid && f != SIDES && fabs(contact.gap + 0.005 * c->size) < 0.005 * c->size;
    if (!valid && !kink) continue;
    const double value = separation(c, contact.normal), slack = (kink ? 1e-3 : 1e-9) * c->size + 1e-14 * fabs(value);
    if (fabs(value - contact.gap) > slack || !(value > best)) continue; /* other points are further along n */
    best = value, *n = contact.normal;
    if (kink) *feature = f;
  }
  return best;
}

static bool seen(const couple *c, const ss_contact_point *contacts, int n, const ss_contact_point *one) {
  for (int i = 0; i < n; i++)
    if (v3_norm(v3_sub(contacts[i].point_a, one->point_a)) <= 1e-9 * c->size &&
        v3_norm(v3_sub(contacts[i].point_b, one->point_b)) <= 1e-9 * c->size &&
        one->gap > contacts[i].gap - 1e-14 * c->size)
      return true;
  return false;
}

static int contacts_along(const couple *c, ss_vec3 n, double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  const ss_vec3 axis_a = quat_axis_x(c->turn);
  const bool stands[2] = {v3_norm(v3_cross(axis_a, n)) < standing, v3_norm(v3(0, n.y, n.z)) < standing};
  const int end[2] = {v3_dot(axis_a, n) < 0, n.x > 0}; /* the ones that face each other */
  int count = 0;
  for (uint32_t f = 0; f < FEATURES; f++) {
    if (f >= POINT) { /* whose points, of which end */
      const int whose = f >= POINT + 2 * SS_RIM_POINTS, which = (int)(f - POINT) / SS_RIM_POINTS % 2;
      if (!stands[0] || !stands[1] || which != end[whose]) continue;
    }
    ss_contact_point contact;
    if (!feature_contact(c, f, &contact) || v3_dot(contact.normal, n) < similar) continue;
    if (!seen(c, out, count, &contact)) count = contact_add(out, count, &contact, reach);
  }
  return count;
}

static void to_world(const ss_pose *pb, ss_contact_point *c) {
  c->normal = quat_rotate(pb->orientation, c->normal);
  c->point_a = pose_point(pb, c->point_a);
  c->point_b = pose_point(pb, c->point_b);
}

static int cylinders_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                             ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  const couple c = couple_make(a, pa, b, pb);
  ss_vec3 n = v3(0, 0, 1);
  uint32_t flat = SLAB;
  const double separated = best_normal(&c, &n, &flat);
  if (separated > reach) return 0;
  int count = separated > -0.1 * c.size ? contacts_along(&c, n, reach, out) : 0; /* deep: no feature makes sense */
  bool closed = separated > 0;
  for (int i = 0; i < count; i++) closed |= out[i].gap <= 1e-9 * c.size;
  if (!closed) { /* a rim of one is inside the other, by no more than they overlap; or it is deep, and a slab decides */
    ss_contact_point contact, rim_contact;
    (void)feature_contact(&c, flat, &contact);
    for (uint32_t f = RIM; f < RIMS; f++) {
      (void)feature_contact(&c, f, &rim_contact);
      if (rim_contact.gap <= 0 && rim_contact.gap > contact.gap && rim_contact.gap > -1e-3 * c.size)
        contact = rim_contact;
    }
    count = contact_add(out, count, &contact, reach);
  }
  for (int i = 0; i < count; i++) to_world(pb, &out[i]);
  return count;
}

static void cylinders_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                          ss_contact_point *out) {
  const couple c = couple_make(a, pa, b, pb);
  (void)feature_contact(&c, feature, out);
  to_world(pb, out);
}

const ss_pair ss_pair_cylinder_cylinder = {cylinders_collide, cylinders_gap};
