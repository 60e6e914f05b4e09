/* The energy ledger of a user-defined system: what its forces and its moving constraints do in a part of a step.
 *
 *     potential given   forces without potential by their power, trapezoidal; what is left over is the numerical remainder
 *     none given        all forces are work: the change of kinetic energy that constraints do not explain */
#include "system/system.h"

static double kinetic(const ss_sim *sim, double t, const double *q, const double *v) {
  const int n = sim->model->n_v;
  const double *mass = ss_spot_at(sim->system, t, q, SS_SPOT_MASS)->mass;
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += v[i] * mass[i * n + j] * v[j];
  return sum / 2;
}

/* Constraints that move by themselves: the row's velocity is J v + drive, and z times drive is theirs. */
static double driven_work(const ss_sim *sim, double fraction) {
  const ss_problem *p = &sim->trial.problem;
  double work = 0;
  for (int i = 0; i < p->n; i++) work -= fraction * p->z[i] * p->drive[i];
  return work;
}

/* Work of all constraints on the mean velocity. */
static double constraint_work(const ss_sim *sim, double fraction) {
  const ss_problem *p = &sim->trial.problem;
  double work = 0;
  for (int i = 0; i < p->n; i++)
    work += fraction * p->z[i] *
            (ss_row_dot(sim->model, &p->rows[i], sim->state.v) +
             fraction / 2 * ss_row_dot(sim->model, &p->rows[i], sim->trial.delta));
  return work;
}

void ss_system_force_work(ss_sim *sim, double h, double fraction) {
  ss_energy *e = &sim->report.energy;
  const ss_system *def = &sim->model->system->def;
  const double t = sim->state.t, tau = fraction * h;
  double *q = sim->system->path_q, *v = sim->scratch.v;
  e->work += driven_work(sim, fraction);
  if (def->potential && !def->power) return;
  sim->mechanics->advance(sim, sim->trial.delta, tau, fraction, q);
  for (int i = 0; i < def->n; i++) v[i] = sim->state.v[i] + fraction * sim->trial.delta[i];
  if (!def->potential) {
    e->work +=
        kinetic(sim, t + tau, q, v) - kinetic(sim, t, sim->state.q, sim->state.v) - constraint_work(sim, fraction);
    return;
  }
  double applied[2], damped[2];
  ss_system_power(sim->system, t, sim->state.q, sim->state.v, &applied[0], &damped[0]);
  ss_system_power(sim->system, t + tau, q, v, &applied[1], &damped[1]);
  e->work += tau * (applied[0] + applied[1]) / 2;
  e->damping_loss += tau * (damped[0] + damped[1]) / 2;
}
