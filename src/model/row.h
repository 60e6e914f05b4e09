/* A row of the step's problem: the gradient of one scalar velocity. Of a model of bodies it has the coordinates of two of
 * them; of a user-defined system (stickslip/system.h) all coordinates, in memory that somebody else owns. */
#ifndef SS_MODEL_ROW_H
#define SS_MODEL_ROW_H

#include "model/model.h"

#include <string.h>

enum { SS_DENSE = -3 }; /* as body[0] of a row that has all coordinates; body[1] is SS_WORLD then */

typedef struct ss_row {
  int body[2]; /* SS_WORLD: that side is empty */
  union {
    double j[2][6];      /* packed like the bodies' coordinates */
    const double *dense; /* [n_v] where body[0] is SS_DENSE */
  };
} ss_row;

static inline ss_row ss_row_dense(const double *numbers) {
  return (ss_row){.body = {SS_DENSE, SS_WORLD}, .dense = numbers};
}

/* a . b; bodies in space have six coordinates, in the plane three, and compilers unroll what they know. */
static inline double ss_short_dot(const double *a, const double *b, int n) {
  if (n == 6) return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
  if (n == 3) return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* out += factor a */
static inline void ss_short_add(double *out, double factor, const double *a, int n) {
  if (n == 6) {
    for (int i = 0; i < 6; i++) out[i] += factor * a[i];
  } else if (n == 3) {
    for (int i = 0; i < 3; i++) out[i] += factor * a[i];
  } else {
    for (int i = 0; i < n; i++) out[i] += factor * a[i];
  }
}

/* w = A^-1 j, A^-1 packed [n][n], as the inverse of a body's mass: its coordinates are those of its centre of mass, so that translation
 * and rotation are apart. */
static inline void ss_body_spread(const ss_body *body, const double *ainv, const double *j, double *w) {
  if (body->n == 6) {
    for (int k = 0; k < 3; k++) {
      w[k] = ainv[7 * k] * j[k];
      w[3 + k] = ss_short_dot(ainv + (ptrdiff_t)6 * (3 + k) + 3, j + 3, 3);
    }
    return;
  }
  for (int k = 0; k < body->n; k++) w[k] = ss_short_dot(ainv + (ptrdiff_t)k * body->n, j, body->n);
}

/* Adds the gradient of direction . (velocity of the body's point at world offset r from its centre of mass)
 * plus moment . (angular velocity), both vectors in the world's frame. */
static inline void ss_row_set(const ss_model *model, ss_row *row, int side, int body, ss_quat orientation,
                              ss_vec3 direction, ss_vec3 moment) {
  row->body[side] = body;
  if (body < 0) return;
  const ss_body *b = &model->bodies[body];
  double c[6] = {direction.x, direction.y, direction.z, 0, 0, 0};
  if (b->turns) {
    const ss_vec3 local = quat_rotate(quat_conjugate(orientation), moment);
    c[3] = local.x;
    c[4] = local.y;
    c[5] = local.z;
  }
  for (int i = 0; i < b->n; i++) row->j[side][i] = c[b->coordinate[i]];
}

/* The same with the moment in the body's own frame. */
static inline void ss_row_set_local(const ss_model *model, ss_row *row, int side, int body, ss_vec3 direction,
                                    ss_vec3 moment) {
  row->body[side] = body;
  if (body < 0) return;
  const ss_body *b = &model->bodies[body];
  const double c[6] = {direction.x, direction.y, direction.z, moment.x, moment.y, moment.z};
  for (int i = 0; i < b->n; i++) row->j[side][i] = c[b->coordinate[i]];
}

/* Gradient of direction . (velocity of a's point p - velocity of b's point p'), world coordinates. */
static inline ss_row ss_row_points(const ss_model *model, int a, const ss_pose *pose_a, ss_vec3 point_a, int b,
                                   const ss_pose *pose_b, ss_vec3 point_b, ss_vec3 direction) {
  ss_row row;
  const ss_vec3 reverse = v3_neg(direction);
  ss_row_set(model, &row, 0, a, pose_a->orientation, direction, v3_cross(v3_sub(point_a, pose_a->position), direction));
  ss_row_set(model, &row, 1, b, pose_b->orientation, reverse, v3_cross(v3_sub(point_b, pose_b->position), reverse));
  return row;
}

/* Gradient of moment . (angular velocity of a - that of b), world frame. */
static inline ss_row ss_row_turn(const ss_model *model, int a, ss_quat orientation_a, int b, ss_quat orientation_b,
                                 ss_vec3 moment) {
  ss_row row;
  const ss_vec3 none = {0, 0, 0};
  ss_row_set(model, &row, 0, a, orientation_a, none, moment);
  ss_row_set(model, &row, 1, b, orientation_b, none, v3_neg(moment));
  return row;
}

static inline double ss_row_dot_side(const ss_model *model, const ss_row *row, int side, const double *v) {
  if (row->body[side] < 0) return 0;
  const ss_body *b = &model->bodies[row->body[side]];
  return ss_short_dot(row->j[side], v + b->first, b->n);
}

/* row . v */
static inline double ss_row_dot(const ss_model *model, const ss_row *row, const double *v) {
  if (row->body[0] == SS_DENSE) {
    double sum = 0;
    for (int i = 0; i < model->n_v; i++) sum += row->dense[i] * v[i];
    return sum;
  }
  return ss_row_dot_side(model, row, 0, v) + ss_row_dot_side(model, row, 1, v);
}

/* The coordinates of one side of a row: n of them, from `first` on; none where that side is empty. */
typedef struct ss_row_piece {
  const double *j;
  int first, n;
} ss_row_piece;

static inline ss_row_piece ss_row_side(const ss_model *model, const ss_row *row, int side) {
  if (row->body[side] == SS_DENSE) return (ss_row_piece){row->dense, 0, model->n_v};
  if (row->body[side] < 0) return (ss_row_piece){NULL, 0, 0};
  const ss_body *b = &model->bodies[row->body[side]];
  return (ss_row_piece){row->j[side], b->first, b->n};
}

/* out += factor row */
static inline void ss_row_add(const ss_model *model, const ss_row *row, double factor, double *out) {
  for (int side = 0; side < 2; side++) {
    const ss_row_piece piece = ss_row_side(model, row, side);
    for (int i = 0; i < piece.n; i++) out[piece.first + i] += factor * piece.j[i];
  }
}

/* Whether a row of bodies moves no point, only angles: its residual is one. */
static inline bool ss_row_only_turns(const ss_model *model, const ss_row *row) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *body = &model->bodies[row->body[side]];
    for (int i = 0; i < body->n; i++)
      if (body->coordinate[i] < 3 && row->j[side][i] != 0) return false;
  }
  return true;
}

/* row M^-1 row^T, of a row of bodies */
static inline double ss_row_inverse_mass(const ss_model *model, const ss_row *row) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *b = &model->bodies[row->body[side]];
    for (int i = 0; i < b->n; i++)
      for (int j = 0; j < b->n; j++) sum += row->j[side][i] * b->minv[i * b->n + j] * row->j[side][j];
  }
  return sum;
}

/* a M^-1 b^T of two rows of bodies, with w = M^-1 b^T packed per side like b. */
static inline double ss_row_meets(const ss_model *model, const ss_row *a, const ss_row *b, const double *w) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    const int body = a->body[side];
    for (int other = 0; other < 2 && body >= 0; other++) {
      if (b->body[other] != body) continue;
      sum += ss_short_dot(a->j[side], w + (ptrdiff_t)6 * other, model->bodies[body].n);
    }
  }
  return sum;
}

/* a M^-1 a^T with w = M^-1 a^T. */
static inline double ss_row_meets_itself(const ss_model *model, const ss_row *a, const double *w) {
  double sum = 0;
  for (int side = 0; side < 2; side++)
    if (a->body[side] >= 0) sum += ss_short_dot(a->j[side], w + (ptrdiff_t)6 * side, model->bodies[a->body[side]].n);
  return sum;
}

/* What makes a length of a row's residual: a row of bodies that only turns has an angle. */
static inline double ss_row_length(const ss_model *model, const ss_row *row) {
  if (row->body[0] == SS_DENSE) return 1;
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *b = &model->bodies[row->body[side]];
    for (int i = 0; i < b->n; i++)
      if (b->coordinate[i] < 3 && row->j[side][i] != 0) return 1;
  }
  return model->length;
}

#endif
