/* LIT Theorem 9.1: a step of the trapezoidal method with springs gamma_i, lengths phi_i off their rest and other forces k2
 * satisfies
 *
 *     w1.M w1 + sum gamma_i (phi_i + h/2 grad phi_i.(v+ + v))^2 <= w2.M w2 + sum gamma_i phi_i^2,
 *     w1 = v+ - h/4 M^-1 (k2(t) + k2(t+h)),     w2 = v + h/4 M^-1 (k2(t) + k2(t+h)).
 *
 * The squares of w hide kt.(v+ + v), kt = h/2 (k2(t) + k2(t+h)), so that what is computed is
 *
 *     excess = v+.M v+ - v.M v - kt.(v+ + v) + sum gamma_i [(phi_i + h/2 grad phi_i.(v+ + v))^2 - phi_i^2].
 *
 * It rests on rank-one Jacobians (LIT (9.2), (9.3)), on an antisymmetric F(v), and on joints and contacts that do no positive
 * work on v+ + v. Where Jacobians are exact or the full gyroscopic Jacobian is used, it is not claimed: NAN. */
#include "observe/observe.h"

static bool assumptions_hold(const ss_sim *sim) {
  const ss_model *model = sim->model;
  if (sim->system || sim->inputs.pulled || !sim->scheme->implicit_forces || sim->trial.asked.alpha != 0.5 ||
      sim->trial.asked.gamma != 0.5)
    return false;
  if (sim->scheme->theta || sim->scheme->position_level) return false;
  for (int k = 0; k < model->n_bodies; k++)
    if (model->bodies[k].gyroscopic) return false;
  return sim->trial.coupling.n == 0 && model->n_motors == 0 &&
         sim->options.stabilization != SS_STABILIZATION_ANITESCU_HART &&
         sim->options.stabilization != SS_STABILIZATION_PROJECTION;
}

/* kt.(v+ + v), with the impulses of gravity and applied forces: all that is in kt. */
static double work_of_forces(const ss_sim *sim) {
  double sum = 0;
  for (int i = 0; i < sim->model->n_v; i++) sum += sim->trial.kt[i] * (2 * sim->state.v[i] + sim->trial.delta[i]);
  return sum;
}

static double spring_terms(const ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  double sum = 0;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    if (force->type == SS_FORCE_APPLIED || force->stiffness == 0) continue;
    const ss_link link = ss_link_at(model, force, sim->state.q, sim->state.angle, sim->state.v);
    const double off = link.length - force->rest_length;
    const double moved = h / 2 * (2 * link.rate + ss_row_dot(model, &link.row, sim->trial.delta));
    sum += force->stiffness * moved * (2 * off + moved);
  }
  return sum;
}

void ss_bound_part(ss_sim *sim, double h) {
  double *most = &sim->report.energy_excess;
  if (!assumptions_hold(sim)) {
    *most = (double)NAN;
    return;
  }
  const double before = 2 * sim->mechanics->kinetic_energy(sim, sim->state.v);
  const double after = 2 * sim->mechanics->kinetic_energy(sim, sim->trial.v_end);
  const double excess = after - before - work_of_forces(sim) + spring_terms(sim, h);
  if (!(excess <= *most) && !isnan(*most)) *most = excess;
}
