/* Exact Jacobians of springs and dampers (the option of LIT section 9, which restores second order).
 *
 * With l the length, u its direction, g = grad l, T = k (l - l0) + d l' the tension and H the second derivative of l,
 *
 *     Kq = -k g g^T - T H - d g (H^T v)^T,     Kv = -d g g^T
 *
 * The rank-one terms are the rows of rows.c. What remains couples the two bodies and is added to A here:
 *
 *     A += alpha gamma h^2 C,   kt -= alpha h^2 C v,   C = T H + d g (H^T v)^T
 *
 * H = (1/l) J^T (1 - u u^T) J + rotational terms, with J the Jacobian of the difference of the two points. Turning by phi
 * moves a point r of the body by phi x r + phi x (phi x r)/2, and the torque belongs to the turned frame, which together
 * give (w r^T + r w^T)/2 - (w.r) 1 + [g_rot]x / 2 with w = u in the body's frame.
 *
 * Bodies that such a force touches share one dense block of A. Where that block is not positive definite (a strongly
 * compressed link), the part of the step goes on with the rank-one terms alone. */
#include "la/dense.h"
#include "scheme/scheme.h"

#include <string.h>

enum { MOST_COUPLED = 96 }; /* coordinates in the dense block that nobody has asked for */

static bool is_exact(const ss_sim *sim, const ss_force *force) {
  return force->type != SS_FORCE_APPLIED && !force->joint &&
         (force->jacobian == SS_JACOBIAN_EXACT ||
          (force->jacobian == SS_JACOBIAN_DEFAULT && sim->trial.coupling.by_default));
}

/* The coordinates of all bodies that forces with exact Jacobians touch. */
static void collect(ss_sim *sim) {
  const ss_model *model = sim->model;
  ss_coupling *c = &sim->trial.coupling;
  c->n = 0;
  for (int k = 0; k < model->n_bodies; k++) c->offset[k] = -1;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    for (int side = 0; side < 2 && is_exact(sim, force); side++) {
      const int body = force->body[side];
      if (body < 0 || c->offset[body] >= 0) continue;
      c->offset[body] = c->n;
      c->n += model->bodies[body].n;
    }
  }
}

/* Rank-one Jacobians make the method one of first order where a spring turns, which no estimate of automatic steps sees:
 * positions err by h^3 in a step all the same. */
ss_status ss_coupling_prepare(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  ss_coupling *c = &sim->trial.coupling;
  c->offset = SS_ARENA_ARRAY(sim->arena, int, model->n_bodies);
  if (!c->offset) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int k = 0; k < model->n_bodies; k++) c->offset[k] = -1;
  if (!sim->scheme->implicit_forces || sim->scheme->theta) return SS_OK;
  c->by_default = sim->options.tolerance > 0 && sim->scheme->rows_at_midpoint;
  collect(sim);
  if (c->by_default && c->n > MOST_COUPLED) {
    c->by_default = false;
    collect(sim);
  }
  if (c->n == 0) return SS_OK;
  const size_t square = (size_t)c->n * (size_t)c->n;
  c->a = SS_ARENA_ARRAY(sim->arena, double, square);
  c->inverse = SS_ARENA_ARRAY(sim->arena, double, square);
  c->vector = SS_ARENA_ARRAY(sim->arena, double, c->n);
  if (!c->a || !c->inverse || !c->vector) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return SS_OK;
}

/* The two ends of a link, in the coordinates x y z rx ry rz of each body. */
typedef struct link_ends {
  double j[2][3][6];    /* Jacobian of p_a - p_b */
  double bend[2][3][3]; /* rotational second derivative of l, on the body's three rotations */
} link_ends;

static void end_terms(const ss_sim *sim, const ss_force *force, int side, ss_vec3 u, link_ends *ends) {
  const double sign = side == 0 ? 1 : -1;
  memset(ends->j[side], 0, sizeof ends->j[side]);
  memset(ends->bend[side], 0, sizeof ends->bend[side]);
  if (force->body[side] < 0) return;
  const ss_pose pose = ss_pose_of(sim->state.q, force->body[side]);
  const ss_mat3 r = quat_matrix(pose.orientation);
  const ss_vec3 arm = force->anchor[side], w = mat3_tmul(&r, u);
  for (int axis = 0; axis < 3; axis++) {
    const ss_vec3 unit = v3(axis == 0, axis == 1, axis == 2);
    const ss_vec3 moved = mat3_mul(&r, v3_cross(unit, arm));
    for (int i = 0; i < 3; i++) {
      ends->j[side][i][axis] = sign * (i == axis);
      ends->j[side][i][3 + axis] = sign * v3_get(moved, i);
    }
  }
  const ss_vec3 torque = v3_cross(arm, w); /* g_rot */
  const double cross[3][3] = {{0, -torque.z, torque.y}, {torque.z, 0, -torque.x}, {-torque.y, torque.x, 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      ends->bend[side][i][j] = sign * ((v3_get(w, i) * v3_get(arm, j) + v3_get(arm, i) * v3_get(w, j)) / 2 -
                                       (i == j ? v3_dot(w, arm) : 0) + cross[i][j] / 2);
}

/* H restricted to coordinate a of side s and coordinate b of side t. */
static double second_derivative(const link_ends *e, ss_vec3 u, double length, int s, int a, int t, int b) {
  double along_a = 0, along_b = 0, both = 0;
  for (int i = 0; i < 3; i++) {
    along_a += v3_get(u, i) * e->j[s][i][a];
    along_b += v3_get(u, i) * e->j[t][i][b];
    both += e->j[s][i][a] * e->j[t][i][b];
  }
  double value = (both - along_a * along_b) / length;
  if (s == t && a >= 3 && b >= 3) value += e->bend[s][a - 3][b - 3];
  return value;
}

static void add_force(ss_sim *sim, const ss_force *force, double h) {
  const ss_model *model = sim->model;
  ss_coupling *c = &sim->trial.coupling;
  const ss_link link = ss_link_at(model, force, sim->state.q, sim->state.angle, sim->state.v);
  if (!(link.length > 0)) return;
  const ss_pose pa = ss_pose_of(sim->state.q, force->body[0]), pb = ss_pose_of(sim->state.q, force->body[1]);
  const ss_vec3 d = v3_sub(pose_point(&pa, force->anchor[0]), pose_point(&pb, force->anchor[1]));
  const ss_vec3 u = v3_scale(1 / link.length, d);
  const double tension = force->stiffness * (link.length - force->rest_length) + force->damping * link.rate;
  link_ends ends;
  end_terms(sim, force, 0, u, &ends);
  end_terms(sim, force, 1, u, &ends);
  double curl[2][6] = {{0}}; /* H^T v */
  for (int pass = 0; pass < 2; pass++)
    for (int s = 0; s < 2; s++)
      for (int t = 0; t < 2; t++) {
        if (force->body[s] < 0 || force->body[t] < 0) continue;
        const ss_body *bs = &model->bodies[force->body[s]], *bt = &model->bodies[force->body[t]];
        for (int i = 0; i < bs->n; i++)
          for (int j = 0; j < bt->n; j++) {
            const double value = second_derivative(&ends, u, link.length, s, bs->coordinate[i], t, bt->coordinate[j]);
            if (pass == 0) {
              curl[t][j] += value * sim->state.v[bs->first + i];
              continue;
            }
            const double entry = tension * value + force->damping * link.row.j[s][i] * curl[t][j];
            const int row = c->offset[force->body[s]] + i, column = c->offset[force->body[t]] + j;
            c->a[row * c->n + column] += sim->trial.asked.alpha * sim->trial.asked.gamma * h * h * entry;
            c->vector[row] += sim->trial.asked.alpha * h * h * entry * sim->state.v[bt->first + j];
          }
      }
}

/* The bodies' own blocks, from the inverse that ss_forces has made. */
static void add_blocks(ss_sim *sim) {
  ss_coupling *c = &sim->trial.coupling;
  for (int k = 0; k < sim->model->n_bodies; k++) {
    if (c->offset[k] < 0) continue;
    const ss_body *body = &sim->model->bodies[k];
    double block[36], inverse[36];
    memcpy(block, sim->trial.ainv + 36 * (size_t)k, sizeof block);
    (void)ss_dense_inverse(block, body->n, inverse);
    for (int i = 0; i < body->n; i++)
      for (int j = 0; j < body->n; j++) c->a[(c->offset[k] + i) * c->n + c->offset[k] + j] = inverse[i * body->n + j];
  }
}

void ss_couple(ss_sim *sim, double h) {
  ss_coupling *c = &sim->trial.coupling;
  const ss_model *model = sim->model;
  c->active = false;
  if (c->n == 0) return;
  memset(c->a, 0, sizeof(double) * (size_t)c->n * (size_t)c->n);
  memset(c->vector, 0, sizeof(double) * (size_t)c->n);
  add_blocks(sim);
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    if (is_exact(sim, force)) add_force(sim, force, h);
  }
  c->active = ss_positive_definite(c->a, c->n, 1e-6, c->inverse) && ss_dense_inverse(c->a, c->n, c->inverse);
  sim->trial.definite &= c->active;
  if (!c->active) return;
  for (int k = 0; k < model->n_bodies; k++)
    for (int i = 0; c->offset[k] >= 0 && i < model->bodies[k].n; i++)
      sim->trial.kt[model->bodies[k].first + i] -= c->vector[c->offset[k] + i];
  for (int k = 0; k < model->n_bodies; k++) {
    if (c->offset[k] < 0) continue;
    memcpy(c->vector + c->offset[k], sim->trial.kt + model->bodies[k].first,
           sizeof(double) * (size_t)model->bodies[k].n);
  }
  for (int k = 0; k < model->n_bodies; k++)
    for (int i = 0; c->offset[k] >= 0 && i < model->bodies[k].n; i++) {
      const double *line = c->inverse + (size_t)(c->offset[k] + i) * (size_t)c->n;
      double sum = 0;
      for (int j = 0; j < c->n; j++) sum += line[j] * c->vector[j];
      sim->trial.dv_free[model->bodies[k].first + i] = sum;
    }
}

/* out = the coupled part of A^-1 J^T. */
void ss_couple_row(const ss_sim *sim, const ss_row *row, double *out) {
  const ss_coupling *c = &sim->trial.coupling;

  memset(out, 0, sizeof(double) * (size_t)c->n);
  for (int side = 0; side < 2; side++) {
    const int body = row->body[side];
    if (body < 0 || c->offset[body] < 0) continue;

    for (int i = 0; i < c->n; i++) {
      const double *line = c->inverse + (size_t)i * (size_t)c->n + c->offset[body];
      for (int j = 0; j < sim->model->bodies[body].n; j++) out[i] += line[j] * row->j[side][j];
    }
  }
}
