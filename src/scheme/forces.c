/* First half of the discretisation, before any constraint: the blocks of A, the impulses kt, and A^-1 kt.
 *
 *     A  = M - alpha h F'(v)                       block by block, one per body
 *     kt = h [(1-alpha) k1(t,q,v) + alpha k1(t+h,q,v)] + h F(v) v
 *
 * F(v) v is the gyroscopic torque (I w) x w. Its Jacobian is F' = [I w]x - [w]x I. The papers keep the antisymmetric
 * part [I w]x alone, which leaves A positive definite for every h but is first-order accurate; the full Jacobian
 * restores second order and is used by schemes with alpha = 1/2 as long as the block stays positive definite.
 *
 * Springs and dampers of linearly implicit schemes are not here: they become rows with compliance (rows.c). */
#include "scheme/scheme.h"

#include <string.h>

/* Adds a force at a point of a body (centre-of-mass frame) and a torque, times the weight, in a part of size h. Where rows are
 * those of the middle of the part, the point at which it acts is too: with the point at the start, a body that turns would make
 * the method one of first order. */
static void add_wrench(const ss_sim *sim, int index, ss_vec3 anchor, const double wrench[6], double weight, double h) {
  const ss_model *model = sim->model;
  const ss_body *body = &model->bodies[index];
  const ss_pose pose = sim->scheme->rows_at_midpoint ? ss_advance_body(sim, index, NULL, h / 2, 0)
                                                     : ss_pose_of(sim->trial.force_q, index);
  const ss_vec3 direction = v3(wrench[0], wrench[1], wrench[2]);
  const ss_vec3 arm = quat_rotate(pose.orientation, anchor);
  ss_row row;
  ss_row_set(model, &row, 0, index, pose.orientation, direction,
             v3_add(v3(wrench[3], wrench[4], wrench[5]), v3_cross(arm, direction)));
  for (int i = 0; i < body->n; i++) sim->trial.applied[body->first + i] += weight * row.j[0][i];
}

static void apply_force(const ss_sim *sim, const ss_force *force, double t, double weight, double h) {
  double wrench[6];
  for (int i = 0; i < 6; i++) wrench[i] = ss_force_component(sim, force, i, t);
  add_wrench(sim, force->body[0], force->anchor[0], wrench, weight, h);
}

/* What ss_sim_apply has asked for, at the origins of the bodies' frames. */
static void apply_pushes(const ss_sim *sim, double h) {
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const double *wrench = sim->inputs.push_force + 6 * (size_t)k;
    bool any = false;
    for (int i = 0; i < 6; i++) any |= wrench[i] != 0;
    if (any) add_wrench(sim, k, v3_neg(sim->model->bodies[k].com), wrench, h, h);
  }
}

int ss_sim_applied(const ss_sim *sim, ss_applied_report *out, int capacity) {
  const double t = sim->state.t;
  int n = 0;
  for (int k = 0; k < sim->model->n_forces; k++) {
    const ss_force *force = &sim->model->forces[k];
    if (force->type != SS_FORCE_APPLIED) continue;
    if (n++ >= capacity) continue;
    const ss_pose pose = ss_pose_of(sim->state.q, force->body[0]);
    double x[6];
    for (int i = 0; i < 6; i++) {
      const ss_expression *e = i < 3 ? force->force[i] : force->torque[i - 3];
      x[i] = e ? ss_signal_value(sim, e, t) : 0;
    }
    out[n - 1] =
        (ss_applied_report){force->body[0], v3_add(pose.position, quat_rotate(pose.orientation, force->anchor[0])),
                            v3(x[0], x[1], x[2]), v3(x[3], x[4], x[5])};
  }
  return n;
}

/* The hand on a body, ss_sim_pull: a force at the state in which the part begins. */
static void apply_pull(const ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  const ss_pull *pull = &sim->inputs.pull;
  const ss_body *body = &model->bodies[pull->body];
  const ss_pose pose = ss_pose_of(sim->state.q, pull->body);
  const ss_vec3 arm = quat_rotate(pose.orientation, v3_sub(pull->point, body->com));
  ss_vec3 linear, angular;
  ss_twist_of(model, sim->state.v, pull->body, &linear, &angular);
  const ss_vec3 velocity = v3_add(linear, v3_cross(quat_rotate(pose.orientation, angular), arm));
  const ss_vec3 stretch = v3_sub(pull->target, v3_add(pose.position, arm));
  const ss_vec3 force = v3_sub(v3_scale(pull->stiffness, stretch), v3_scale(pull->damping, velocity));
  ss_row row;
  ss_row_set(model, &row, 0, pull->body, pose.orientation, force, v3_cross(arm, force));
  for (int i = 0; i < body->n; i++) sim->trial.applied[body->first + i] += h * row.j[0][i];
}

bool ss_force_is_row(const ss_sim *sim, const ss_force *force, double h, double *kappa) {
  if (force->type == SS_FORCE_APPLIED || !sim->scheme->implicit_forces) return false;
  *kappa = sim->trial.asked.alpha * h * (force->damping + sim->trial.asked.gamma * h * force->stiffness);
  return *kappa > 0;
}

bool ss_force_is_link(const ss_sim *sim, const ss_force *force, const ss_row *row) {
  const double h = sim->step.h;
  double kappa;
  if (force->stiffness == 0 || !ss_force_is_row(sim, force, h, &kappa)) return false;
  return h * (force->damping + h * force->stiffness) * ss_row_inverse_mass(sim->model, row) >= 1;
}

static void element_forces(ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    double kappa;
    if (force->type == SS_FORCE_APPLIED) {
      const double t = sim->state.t;
      const double weight = sim->scheme->theta ? 1 : sim->trial.asked.alpha;
      if (weight < 1) apply_force(sim, force, t, h * (1 - weight), h);
      apply_force(sim, force, t + h, h * weight, h);
    } else if (!ss_force_is_row(sim, force, h, &kappa)) {
      const ss_link link = ss_link_at(model, force, sim->trial.force_q, sim->state.angle, sim->trial.force_v);
      const double tension = force->stiffness * (link.length - force->rest_length) + force->damping * link.rate;
      ss_row_add(model, &link.row, -h * tension, sim->trial.kt);
    }
  }
  if (sim->inputs.pulled) apply_pull(sim, h);
  if (sim->inputs.has_push_force) apply_pushes(sim, h);
  for (int i = 0; i < model->n_v; i++) sim->trial.kt[i] += sim->trial.applied[i];
}

/* Inverse of a 3x3 matrix by cofactors; false unless its symmetric part is positive definite. */
static bool invert3(const ss_mat3 *a, ss_mat3 *inverse) {
  const double(*m)[3] = a->m;
  const double s01 = (m[0][1] + m[1][0]) / 2, s02 = (m[0][2] + m[2][0]) / 2, s12 = (m[1][2] + m[2][1]) / 2;
  const double minor = m[0][0] * m[1][1] - s01 * s01;
  const double symmetric =
      m[0][0] * (m[1][1] * m[2][2] - s12 * s12) - s01 * (s01 * m[2][2] - s12 * s02) + s02 * (s01 * s12 - m[1][1] * s02);
  const double floor = 1e-3 * m[0][0] * m[1][1] * m[2][2]; /* well away from singular */
  if (!(m[0][0] > 0) || !(minor > 0) || !(symmetric > floor)) return false;
  const ss_vec3 r0 = v3(m[0][0], m[0][1], m[0][2]), r1 = v3(m[1][0], m[1][1], m[1][2]),
                r2 = v3(m[2][0], m[2][1], m[2][2]);
  const ss_vec3 c0 = v3_cross(r1, r2), c1 = v3_cross(r2, r0), c2 = v3_cross(r0, r1);
  const double d = 1 / v3_dot(r0, c0);
  *inverse =
      (ss_mat3){{{d * c0.x, d * c1.x, d * c2.x}, {d * c0.y, d * c1.y, d * c2.y}, {d * c0.z, d * c1.z, d * c2.z}}};
  return true;
}

static ss_mat3 cross_matrix(ss_vec3 a) { return (ss_mat3){{{0, -a.z, a.y}, {a.z, 0, -a.x}, {-a.y, a.x, 0}}}; }

/* I - alpha h F' on the free rotations, identity on locked ones so that the block can be inverted as a whole. */
static ss_mat3 rotation_block(const ss_body *body, ss_vec3 w, double ah, bool full) {
  const ss_mat3 momentum = cross_matrix(mat3_mul(&body->inertia, w)), spin = cross_matrix(w);
  const ss_mat3 turned = mat3_matmul(&spin, &body->inertia);
  ss_mat3 a;
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const bool free = body->slot[3 + i] >= 0 && body->slot[3 + j] >= 0;
      a.m[i][j] = free ? body->inertia.m[i][j] - ah * (momentum.m[i][j] - (full ? turned.m[i][j] : 0)) : i == j;
    }
  return a;
}

static void gyroscopic(ss_sim *sim, int index, double h) {
  const ss_body *body = &sim->model->bodies[index];
  ss_vec3 linear, w;
  ss_twist_of(sim->model, sim->trial.force_v, index, &linear, &w);
  const ss_vec3 torque = v3_cross(mat3_mul(&body->inertia, w), w);
  for (int i = 0; i < 3; i++)
    if (body->slot[3 + i] >= 0) sim->trial.kt[body->first + body->slot[3 + i]] += h * v3_get(torque, i);
  if (sim->scheme->theta) return; /* the outer iteration does it */

  ss_mat3 a = rotation_block(body, w, sim->trial.asked.alpha * h, sim->trial.asked.alpha == 0.5), inverse;
  if (!invert3(&a, &inverse)) {
    sim->trial.definite = false;
    a = rotation_block(body, w, sim->trial.asked.alpha * h,
                       false);          /* antisymmetric F: its symmetric part is the inertia itself */
    if (!invert3(&a, &inverse)) return; /* nearly singular inertia: minv stays */
  }
  double *ainv = sim->trial.ainv + 36 * (size_t)index;
  for (int i = 0; i < body->n; i++)
    for (int j = 0; j < body->n; j++) {
      const int ci = body->coordinate[i], cj = body->coordinate[j];
      if (ci >= 3 && cj >= 3) ainv[i * body->n + j] = inverse.m[ci - 3][cj - 3];
    }
}

static void multiply_blocks(const ss_sim *sim, const double *x, double *out) {
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const ss_body *body = &sim->model->bodies[k];
    const double *ainv = sim->trial.ainv + 36 * (size_t)k, *from = x + body->first;
    for (int i = 0; i < body->n; i++) {
      double sum = 0;
      for (int j = 0; j < body->n; j++) sum += ainv[i * body->n + j] * from[j];
      out[body->first + i] = sum;
    }
  }
}

/* A = M for impulses. */
static void restore_masses(ss_sim *sim) {
  for (int k = 0; k < sim->model->n_bodies; k++)
    if (sim->model->bodies[k].gyroscopic)
      memcpy(sim->trial.ainv + 36 * (size_t)k, sim->model->bodies[k].minv, sizeof sim->model->bodies[k].minv);
}

void ss_forces(ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  const double g[3] = {model->gravity.x, model->gravity.y, model->gravity.z};
  memset(sim->trial.applied, 0, sizeof(double) * (size_t)model->n_v);
  sim->trial.definite = true;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *body = &model->bodies[k];
    for (int i = 0; i < body->n; i++)
      sim->trial.kt[body->first + i] = body->coordinate[i] < 3 ? h * body->mass * g[body->coordinate[i]] : 0;
    if (body->gyroscopic) gyroscopic(sim, k, h);
  }
  if (model->n_forces || sim->inputs.pulled || sim->inputs.has_push_force) element_forces(sim, h);
  multiply_blocks(sim, sim->trial.kt, sim->trial.dv_free);
  ss_couple(sim, h);
  if (sim->crowd.dense && !sim->trial.coupling.active) restore_masses(sim); /* event/crowd.c */
}

/* An impact: no forces, A = M. */
void ss_forces_none(ss_sim *sim) {
  sim->trial.coupling.active = false;
  memset(sim->trial.kt, 0, sizeof(double) * (size_t)sim->model->n_v);
  memset(sim->trial.applied, 0, sizeof(double) * (size_t)sim->model->n_v);
  memset(sim->trial.dv_free, 0, sizeof(double) * (size_t)sim->model->n_v);
  restore_masses(sim);
}
