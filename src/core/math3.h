/* Vectors, quaternions, 3x3 matrices: inline, no loops. */
#ifndef SS_CORE_MATH3_H
#define SS_CORE_MATH3_H

#include <stickslip/base.h>

#include <math.h>

/* Row-major 3x3 matrix. */
typedef struct ss_mat3 {
  double m[3][3];
} ss_mat3;

static inline ss_vec3 v3(double x, double y, double z) { return (ss_vec3){x, y, z}; }
static inline ss_vec3 v3_add(ss_vec3 a, ss_vec3 b) { return v3(a.x + b.x, a.y + b.y, a.z + b.z); }
static inline ss_vec3 v3_sub(ss_vec3 a, ss_vec3 b) { return v3(a.x - b.x, a.y - b.y, a.z - b.z); }
static inline ss_vec3 v3_scale(double s, ss_vec3 a) { return v3(s * a.x, s * a.y, s * a.z); }
static inline ss_vec3 v3_neg(ss_vec3 a) { return v3(-a.x, -a.y, -a.z); }
/* a + s b */
static inline ss_vec3 v3_axpy(ss_vec3 a, double s, ss_vec3 b) {
  return v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline double v3_dot(ss_vec3 a, ss_vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double v3_norm(ss_vec3 a) { return sqrt(v3_dot(a, a)); }
static inline ss_vec3 v3_cross(ss_vec3 a, ss_vec3 b) {
  return v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double v3_get(ss_vec3 a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
static inline ss_vec3 v3_normalize(ss_vec3 a) {
  const double n = v3_norm(a);
  return n > 0 ? v3_scale(1 / n, a) : a;
}
/* A unit vector perpendicular to the unit vector n. */
static inline ss_vec3 v3_perpendicular(ss_vec3 n) {
  const ss_vec3 other = fabs(n.x) <= fabs(n.y) && fabs(n.x) <= fabs(n.z) ? v3(1, 0, 0)
                        : fabs(n.y) <= fabs(n.z)                         ? v3(0, 1, 0)
                                                                         : v3(0, 0, 1);
  return v3_normalize(v3_cross(n, other));
}

static inline ss_quat quat_identity(void) { return (ss_quat){1, 0, 0, 0}; }
static inline ss_quat quat_multiply(ss_quat a, ss_quat b) {
  return (ss_quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline ss_quat quat_conjugate(ss_quat a) { return (ss_quat){a.w, -a.x, -a.y, -a.z}; }
static inline ss_quat quat_normalize(ss_quat a) {
  const double s = 1 / sqrt(a.w * a.w + a.x * a.x + a.y * a.y + a.z * a.z);
  return (ss_quat){s * a.w, s * a.x, s * a.y, s * a.z};
}
/* Rotation by the vector r (axis times angle). */
static inline ss_quat quat_exp(ss_vec3 r) {
  const double angle2 = v3_dot(r, r);
  double c, s;         /* cos(angle / 2), sin(angle / 2) / angle */
  if (angle2 < 1e-6) { /* the series' next terms are below rounding */
    c = 1 - angle2 / 8 + angle2 * angle2 / 384;
    s = 0.5 - angle2 / 48 + angle2 * angle2 / 3840;
  } else {
    const double angle = sqrt(angle2);
    c = cos(angle / 2);
    s = sin(angle / 2) / angle;
  }
  return (ss_quat){c, s * r.x, s * r.y, s * r.z};
}
/* Inverse of quat_exp, |result| <= pi. */
static inline ss_vec3 quat_log(ss_quat q) {
  if (q.w < 0) q = (ss_quat){-q.w, -q.x, -q.y, -q.z};
  const double s = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  const double f = s > 1e-9 ? 2 * atan2(s, q.w) / s : 2 / q.w;
  return v3(f * q.x, f * q.y, f * q.z);
}
static inline ss_mat3 quat_matrix(ss_quat q) {
  const double xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
  const double xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
  const double wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
  return (ss_mat3){{{1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)},
                    {2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)},
                    {2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)}}};
}

static inline ss_vec3 mat3_mul(const ss_mat3 *a, ss_vec3 v) {
  return v3(a->m[0][0] * v.x + a->m[0][1] * v.y + a->m[0][2] * v.z,
            a->m[1][0] * v.x + a->m[1][1] * v.y + a->m[1][2] * v.z,
            a->m[2][0] * v.x + a->m[2][1] * v.y + a->m[2][2] * v.z);
}
/* transpose(a) v */
static inline ss_vec3 mat3_tmul(const ss_mat3 *a, ss_vec3 v) {
  return v3(a->m[0][0] * v.x + a->m[1][0] * v.y + a->m[2][0] * v.z,
            a->m[0][1] * v.x + a->m[1][1] * v.y + a->m[2][1] * v.z,
            a->m[0][2] * v.x + a->m[1][2] * v.y + a->m[2][2] * v.z);
}
static inline ss_mat3 mat3_matmul(const ss_mat3 *a, const ss_mat3 *b) {
  ss_mat3 c;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) c.m[i][j] = a->m[i][0] * b->m[0][j] + a->m[i][1] * b->m[1][j] + a->m[i][2] * b->m[2][j];
  return c;
}
static inline ss_vec3 mat3_column(const ss_mat3 *a, int j) { return v3(a->m[0][j], a->m[1][j], a->m[2][j]); }

static inline ss_vec3 quat_rotate(ss_quat q, ss_vec3 v) {
  const ss_vec3 u = v3(q.x, q.y, q.z);
  const ss_vec3 t = v3_scale(2, v3_cross(u, v));
  return v3_add(v3_axpy(v, q.w, t), v3_cross(u, t));
}

static inline ss_pose pose_identity(void) { return (ss_pose){{0, 0, 0}, {1, 0, 0, 0}}; }
static inline ss_vec3 pose_point(const ss_pose *p, ss_vec3 local) {
  return v3_add(p->position, quat_rotate(p->orientation, local));
}
/* local coordinates of a world point */
static inline ss_vec3 pose_local(const ss_pose *p, ss_vec3 world) {
  return quat_rotate(quat_conjugate(p->orientation), v3_sub(world, p->position));
}
/* pose of b's frame in the world, b given in a's frame */
static inline ss_pose pose_compose(const ss_pose *a, const ss_pose *b) {
  return (ss_pose){pose_point(a, b->position), quat_multiply(a->orientation, b->orientation)};
}

static inline bool v3_finite(ss_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

#endif
