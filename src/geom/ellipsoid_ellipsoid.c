/* Two ellipsoids (or ellipses of planar scenes).
 *
 * With r the vector between the centres, from b to a, and A = R diag(a^2) R^T for each, the slabs across the unit vector n are
 *
 *   s(n) = n.r - sqrt(n.A n) - sqrt(n.B n)
 *
 * apart, and the gap is the largest s. The contact points are the support points of -n on a and n on b.
 *
 * Start: the contact function of Perram and Wertheim, l (1-l) r.C^-1 r with C = (1-l) A + l B, is concave in l; at its
 * maximum both ellipsoids, scaled about their centres until they touch, have the normal C^-1 r. That plane separates
 * ellipsoids that are apart and is the tangent plane of those that touch. Then Newton's method for s on the unit sphere,
 * damped. Apart, every stationary point reached with s > 0 is the largest: s is concave and homogeneous. Overlapping, it is
 * the one next to the start, unique as long as the depth is small against the radii of curvature. */
#include "geom/ellipsoid.h"
#include "geom/slab.h"

typedef struct couple {
  ss_vec3 r;
  ss_mat3 a, b; /* A, B */
} couple;

/* Across an ellipse's plane any length will do, as all is symmetric to the plane: that of the longer axis. */
static ss_mat3 square_matrix(const ss_shape *s, ss_quat q) {
  const ss_mat3 r = quat_matrix(q);
  double square[3];
  for (int k = 0; k < 3; k++) {
    const double h = v3_get(s->half, k) > 0 ? v3_get(s->half, k) : s->reach;
    square[k] = h * h;
  }
  ss_mat3 m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      m.m[i][j] =
          r.m[i][0] * square[0] * r.m[j][0] + r.m[i][1] * square[1] * r.m[j][1] + r.m[i][2] * square[2] * r.m[j][2];
  return m;
}

static ss_vec3 solve3(const ss_mat3 *m, ss_vec3 f) {
  const ss_vec3 x = mat3_column(m, 0), y = mat3_column(m, 1), z = mat3_column(m, 2);
  const ss_vec3 yz = v3_cross(y, z);
  const double det = v3_dot(x, yz);
  return v3(v3_dot(f, yz) / det, v3_dot(x, v3_cross(f, z)) / det, v3_dot(x, v3_cross(y, f)) / det);
}

static ss_mat3 blend(const couple *c, double l) {
  ss_mat3 m;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m.m[i][j] = (1 - l) * c->a.m[i][j] + l * c->b.m[i][j];
  return m;
}

/* The derivative of the contact function is (1-l)^2 w.A w - l^2 w.B w with w = C^-1 r: it falls; bisection. */
static ss_vec3 first_normal(const couple *c) {
  double low = 0, high = 1;
  ss_vec3 w = c->r;
  for (int k = 0; k < 30; k++) {
    const double l = (low + high) / 2;
    const ss_mat3 m = blend(c, l);
    w = solve3(&m, c->r);
    const double da = v3_dot(w, mat3_mul(&c->a, w)), db = v3_dot(w, mat3_mul(&c->b, w));
    if ((1 - l) * (1 - l) * da > l * l * db)
      low = l;
    else
      high = l;
  }
  return w;
}

/* s, its gradient, and minus its second derivatives. */
static double slabs(const void *context, ss_vec3 n, ss_vec3 *gradient, ss_mat3 *bend) {
  const couple *c = context;
  const ss_mat3 *m[2] = {&c->a, &c->b};
  double s = v3_dot(n, c->r);
  *gradient = c->r;
  *bend = (ss_mat3){0};
  for (int k = 0; k < 2; k++) {
    const ss_vec3 mn = mat3_mul(m[k], n);
    const double width = sqrt(v3_dot(n, mn)), x[3] = {mn.x, mn.y, mn.z};
    s -= width;
    *gradient = v3_axpy(*gradient, -1 / width, mn);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) bend->m[i][j] += (m[k]->m[i][j] - x[i] * x[j] / (width * width)) / width;
  }
  return s;
}

static void ellipsoids_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                           ss_contact_point *out) {
  (void)feature;
  const couple c = {v3_sub(pa->position, pb->position), square_matrix(a, pa->orientation),
                    square_matrix(b, pb->orientation)};
  ss_vec3 n;
  const double distance = length_and_direction(c.r, quat_axis_z(pb->orientation), &n);
  const double far = 1e6 * (a->reach + b->reach);
  couple near = c;
  if (distance > far || distance == 0) near.r = v3_scale(distance > 0 ? far : 1e-9 * b->reach, n);
  (void)length_and_direction(first_normal(&near), n, &n);
  if (distance <= far) (void)ss_slab_maximum(slabs, &c, &n);
  const ss_vec3 in_a = quat_rotate(quat_conjugate(pa->orientation), v3_neg(n));
  const ss_vec3 in_b = quat_rotate(quat_conjugate(pb->orientation), n);
  const ss_vec3 xa = quat_rotate(pa->orientation, ss_ellipsoid_support(a->half, in_a));
  const ss_vec3 xb = quat_rotate(pb->orientation, ss_ellipsoid_support(b->half, in_b));
  out->gap = v3_dot(n, c.r) + v3_dot(n, v3_sub(xa, xb));
  out->normal = n;
  out->point_b = v3_add(pb->position, xb);
  out->point_a = v3_axpy(out->point_b, out->gap, n);
  out->feature = 0;
}

static int ellipsoids_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                              ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  ellipsoids_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_ellipsoid_ellipsoid = {ellipsoids_collide, ellipsoids_gap};
