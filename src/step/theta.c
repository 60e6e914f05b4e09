/* The theta rule (BVP (16)): forces belong to q^theta = theta q + (1-theta) q+ and v^theta, which the solution decides.
 *
 *     M (v+ - v) = h [ f(t+h, q^theta, v^theta) + Gamma^T lambda ],   q+ = q + h v^theta
 *
 * Outer iteration: forces at the last iterate's theta state, contact problem, next iterate. Springs and dampers enter
 * linearised about the iterate, as rows with compliance (rows.c), so that for them it is Newton's method; gyroscopic and
 * applied forces are repeated substitution, which contracts for h times the spin below one. Where the velocities do not
 * settle the part is cut in half, and the report counts it as unconverged. Scenes whose forces do not depend on the
 * state need one pass; theta = 1 is explicit and needs none either. */
#include "step/step.h"

#include <string.h>

enum { MOST_PASSES = 40 };

/* An applied force depends on time alone, unless it has a moment and its body turns. */
static bool depends_on_state(const ss_model *model, const ss_force *force) {
  if (force->type != SS_FORCE_APPLIED) return true;
  const bool moment = force->torque[0] || force->torque[1] || force->torque[2];
  return model->bodies[force->body[0]].turns && (moment || v3_norm(force->anchor[0]) > 0);
}

static bool forces_depend_on_state(const ss_sim *sim) {
  const ss_model *model = sim->model;
  for (int k = 0; k < model->n_forces; k++)
    if (depends_on_state(model, &model->forces[k])) return true;
  for (int k = 0; k < model->n_bodies; k++)
    if (model->bodies[k].gyroscopic) return true;
  return false;
}

/* The theta state of the velocity change `delta`. */
void ss_theta_state(ss_sim *sim, double h, const double *delta) {
  for (int i = 0; i < sim->model->n_v; i++) {
    sim->trial.guess[i] = delta[i];
    sim->trial.theta_v[i] = sim->state.v[i] + sim->trial.asked.alpha * delta[i];
  }
  sim->mechanics->advance(sim, delta, sim->trial.asked.alpha * h, 1, sim->trial.theta_q);
}

/* Speed that a unit of the body's i-th coordinate gives to its outermost point: no mixture of units. */
static double speed_unit(const ss_model *model, const ss_body *body, int i) {
  if (body->coordinate[i] < 3) return 1;
  return body->reach > 0 && isfinite(body->reach) ? body->reach : model->length;
}

/* Velocities that forces and multipliers would give one by one: where they cancel (a part that is held at rest), the
 * rounding errors of v+ are a share of these, not of v+. */
static void gross_velocities(const ss_sim *sim, double *gross) {
  const ss_problem *p = &sim->trial.problem;
  for (int i = 0; i < sim->model->n_v; i++) gross[i] = fabs(sim->state.v[i]) + fabs(sim->trial.dv_free[i]);
  for (int i = 0; i < p->n; i++)
    for (int side = 0; side < 2; side++) {
      if (p->rows[i].body[side] < 0) continue;
      const ss_body *body = &sim->model->bodies[p->rows[i].body[side]];
      const double *w = p->w + 12 * (size_t)i + (ptrdiff_t)6 * side;
      for (int k = 0; k < body->n; k++) gross[body->first + k] += fabs(p->z[i] * w[k]);
    }
}

/* Largest change of a velocity between two passes, against the largest that the step computes with. */
static double change(const ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  double largest = 0, size = h * sim->step.acceleration;
  gross_velocities(sim, sim->scratch.v);
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *body = &model->bodies[k];
    for (int i = 0; i < body->n; i++) {
      const double unit = speed_unit(model, body, i);
      const int at = body->first + i;
      largest = fmax(largest, unit * fabs(sim->trial.delta[at] - sim->trial.guess[at]));
      size = fmax(size, unit * sim->scratch.v[at]);
    }
  }
  return size > 0 ? largest / size : 0;
}

bool ss_theta_iterates(const ss_sim *sim) { return sim->trial.asked.alpha != 0 && forces_depend_on_state(sim); }

ss_status ss_attempt_theta(ss_sim *sim, ss_asked asked, bool *certified, ss_error *error) {
  static const double settled = 1e-12;
  const double h = asked.h;
  sim->trial.asked = asked;
  const bool once = !ss_theta_iterates(sim);
  memset(sim->trial.delta, 0, sizeof(double) * (size_t)sim->model->n_v);
  ss_theta_state(sim, h, sim->trial.delta);
  double last = INFINITY;
  for (int pass = 0; pass < MOST_PASSES; pass++) {
    const ss_status status = ss_trial_solve(sim, asked, certified, error);
    sim->report.solves.outer++;
    if (status != SS_OK || !*certified || once) return status;
    const double now = change(sim, h);
    if (now <= settled || (now <= 1e3 * settled && now >= last)) return SS_OK; /* at rounding level */
    last = now;
    ss_theta_state(sim, h, sim->trial.delta);
  }
  sim->report.solves.unconverged++;
  *certified = false;
  return SS_OK;
}
