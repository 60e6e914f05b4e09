/* Derivatives of the conditions with respect to the unknown velocities, carried along the run (sensitivity/). */
#include "bvp/bvp.h"
#include "sensitivity/variation.h"

#include <string.h>

/* Velocity coordinates of a unit of the unknown: the scene gives velocities of the body's frame, in the world's. */
static void initial_direction(const ss_model *model, const ss_quantity *q, double *dv) {
  const ss_body *body = &model->bodies[q->body];
  const ss_quat turn = body->pose.orientation;
  ss_vec3 linear = {0, 0, 0}, angular = {0, 0, 0}, unit = {0, 0, 0};
  const int axis = (q->coordinate - SS_VELOCITY) % 3;
  *(axis == 0 ? &unit.x : axis == 1 ? &unit.y : &unit.z) = 1;
  if (q->coordinate < SS_SPIN) {
    linear = unit;
  } else {
    linear = v3_cross(unit, quat_rotate(turn, body->com));
    angular = quat_rotate(quat_conjugate(turn), unit);
  }
  for (int i = 0; i < body->n; i++) {
    const int c = body->coordinate[i];
    dv[body->first + i] = c < 3 ? v3_get(linear, c) : v3_get(angular, c - 3);
  }
}

/* Inverse of the right Jacobian: d log(R exp x) for the rotation vector phi of R. */
static ss_vec3 log_direction(ss_vec3 phi, ss_vec3 x) {
  const double angle = v3_norm(phi), square = angle * angle;
  const double b = angle > 1e-3 ? (1 - angle * sin(angle) / (2 * (1 - cos(angle)))) / square : 1.0 / 12 + square / 720;
  const ss_vec3 once = v3_cross(phi, x);
  return v3_axpy(v3_axpy(x, 0.5, once), b, v3_cross(phi, once));
}

/* d(final quantity) in a direction of the final state. */
static double final_direction(const ss_sim *sim, const ss_quantity *q, const double *dq, const double *dv) {
  const ss_model *model = sim->model;
  const ss_pose pose = ss_pose_of(sim->state.q, q->body);
  const ss_vec3 arm = quat_rotate(pose.orientation, model->bodies[q->body].com);
  ss_vec3 moved, turned, linear, angular, dlinear, dangular;
  ss_twist_of(model, dq, q->body, &moved, &turned);
  ss_twist_of(model, sim->state.v, q->body, &linear, &angular);
  ss_twist_of(model, dv, q->body, &dlinear, &dangular);
  const ss_vec3 darm = v3_cross(quat_rotate(pose.orientation, turned), arm);
  const ss_vec3 spin = quat_rotate(pose.orientation, angular);
  const ss_vec3 dspin = quat_rotate(pose.orientation, v3_add(dangular, v3_cross(turned, angular)));
  const int axis = q->coordinate % 3;
  switch (q->coordinate - axis) {
  case SS_POSITION:
    return v3_get(v3_sub(moved, darm), axis);
  case SS_ROTATION:
    return v3_get(log_direction(quat_log(pose.orientation), turned), axis);
  case SS_VELOCITY:
    return v3_get(v3_sub(dlinear, v3_add(v3_cross(dspin, arm), v3_cross(spin, darm))), axis);
  default:
    return v3_get(dspin, axis);
  }
}

static double deformation_direction(const ss_sim *sim, const ss_quantity *q, int j) {
  double sign = 1;
  const int at = ss_patch_find_deformation(sim, q->body, q->other, q->element, q->coordinate - SS_DEFORMATION, &sign);
  return at < 0 ? 0 : sign * sim->watch.variation->patch_end[(ptrdiff_t)j * sim->trial.n_patch + at];
}

static void fill(const ss_shooting *s, const ss_sim *sim, double *jacobian) {
  const int nv = sim->model->n_v;
  for (int i = 0; i < s->m; i++)
    for (int j = 0; j < s->n; j++) {
      const ss_condition_def *c = &s->boundary->conditions[i];
      const ss_quantity *u = &s->boundary->unknown[j];
      double sum = 0;
      for (int k = 0; k < c->n; k++) {
        const ss_quantity *q = &c->quantities[k];
        if (q->final && q->coordinate >= SS_DEFORMATION)
          sum += c->factors[k] * deformation_direction(sim, q, j);
        else if (q->final)
          sum += c->factors[k] * final_direction(sim, q, sim->watch.variation->q + (ptrdiff_t)j * nv,
                                                 sim->watch.variation->v + (ptrdiff_t)j * nv);
        else if (q->body == u->body && q->coordinate == u->coordinate)
          sum += c->factors[k];
      }
      jacobian[i * s->n + j] = sum;
    }
}

static ss_status follow(const ss_shooting *s, ss_sim *sim, double *jacobian, ss_error *error) {
  const int nv = sim->model->n_v;
  double *dv = ss_alloc(sizeof(double) * (size_t)s->n * (size_t)nv);
  if (!dv) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int j = 0; j < s->n; j++) initial_direction(sim->model, &s->boundary->unknown[j], dv + (ptrdiff_t)j * nv);
  ss_variation variation = {0};
  ss_status status = ss_variation_attach(sim, &variation, s->n, dv, error);
  while (status == SS_OK && !ss_sim_done(sim)) status = ss_sim_step(sim, error);
  if (status == SS_OK) fill(s, sim, jacobian);
  ss_variation_detach(sim, &variation);
  ss_free(dv);
  return status;
}

bool ss_shoot_jacobian(ss_shooting *s, const double *u, double *jacobian) {
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  memset(jacobian, 0, sizeof(double) * (size_t)s->m * (size_t)s->n);
  ss_bvp_apply(&s->scene, u);
  s->simulations++;
  ss_status status = ss_model_create(&s->scene, &model, &s->error);
  if (status == SS_OK) status = ss_sim_create(model, &s->options, &sim, &s->error);
  if (status == SS_OK) status = follow(s, sim, jacobian, &s->error);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  if (status != SS_OK && status != SS_ERROR_UNCERTIFIED && status != SS_ERROR_UNSUPPORTED) s->status = status;
  return status == SS_OK;
}

ss_status ss_jacobian_possible(const ss_shooting *s, ss_error *error) {
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_status status = ss_model_create(&s->scene, &model, error);
  if (status == SS_OK) status = ss_sim_create(model, &s->options, &sim, error);
  if (status == SS_OK) status = ss_variation_possible(sim, error);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  return status;
}
