/* The price of pushing positions back onto their constraints (stabilization: anitescu-hart, and the schemes at position
 * level): offsets s = Theta/h on the right side ask for velocities that close a violation within the step, and these
 * velocities stay. The theorems bound them, s = O(h), where steps are small and the friction cone is pointed; a body
 * that turns far in one step, or rows that nearly depend on each other and contradict each other a little, would be thrown
 * away instead. Without offsets the problem cannot make the bodies faster than their free motion v + A^-1 kt. With them
 * a part is accepted where
 *
 *     sum s_i^2 / (2 alpha^2 J_i A^-1 J_i^T)  <=  share K(free)        closing each violation by itself is no violent act
 *     K(v+)  <=  K(free), or K(v+ without offsets),  + that sum         and, nearly, closing them together costs no more
 *
 * The first is met by pushing with a smaller share of the offsets, so that the violation goes in more than one step; where
 * the second fails nothing is pushed in this part. What is left of a violation shows in the certificate. */
#include "step/step.h"

/* Springs and gyroscopic forces answer to a push, too, by a little. */
static const double SLACK = 1e-3;

/* With alpha = 1 the velocity that closed a violation goes with the next step; with smaller alpha it stays, and swings. */
static double share_of(const ss_sim *sim) { return sim->trial.asked.alpha < 1 ? 1e-3 : 0.1; }

static double inverse_mass(const ss_sim *sim, int i) {
  const ss_problem *p = &sim->trial.problem;
  const ss_row *row = &p->rows[i];
  const int n = sim->model->n_v;
  double sum = 0;
  for (int k = 0; sim->system && k < n; k++) sum += row->dense[k] * p->w[i * n + k];
  return sim->system ? sum : ss_row_inverse_mass(sim->model, row);
}

/* What it costs to close each violation by itself. */
static double price(const ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  double sum = 0;
  for (int i = 0; i < p->n; i++) {
    if (p->pushed[i] == 0) continue;
    const double speed = p->pushed[i] / sim->trial.asked.alpha, inverse = inverse_mass(sim, i);
    if (inverse > 0) sum += speed * speed / (2 * inverse);
  }
  return sum;
}

bool ss_pushes(const ss_sim *sim) {
  if (!(sim->part.asked.push > 0)) return false;
  for (int i = 0; i < sim->trial.problem.n; i++)
    if (sim->trial.problem.pushed[i] != 0) return true;
  return false;
}

ss_status ss_attempt_gently(ss_sim *sim, double h, ss_error *error) {
  SS_TRY(ss_attempt(sim, h, error));
  return sim->trial.certified ? ss_push_gently(sim, error) : SS_OK;
}

ss_status ss_push_gently(ss_sim *sim, ss_error *error) {
  const double h = sim->trial.asked.h;
  double *push = &sim->part.asked.push;
  if (!ss_pushes(sim)) return SS_OK;
  for (int i = 0; i < sim->model->n_v; i++) sim->scratch.v[i] = sim->state.v[i] + sim->trial.dv_free[i];
  const double free =
      fmax(sim->mechanics->kinetic_energy(sim, sim->scratch.v), sim->mechanics->kinetic_energy(sim, sim->state.v));
  const double most = share_of(sim) * free;
  double own = price(sim);
  if (own > most) {
    *push *= sqrt(most / own);
    SS_TRY(ss_attempt(sim, h, error));
    if (!sim->trial.certified) return SS_OK;
    own = most;
  }
  const double reached = sim->mechanics->kinetic_energy(sim, sim->trial.v_end), before = *push;
  own += SLACK * free;
  if (reached <= free + own) return SS_OK;
  ss_trial_keep(sim);
  *push = 0;
  SS_TRY(ss_attempt(sim, h, error));
  if (sim->trial.certified && reached > sim->mechanics->kinetic_energy(sim, sim->trial.v_end) + own) {
    ss_trial_drop(sim);
    return SS_OK;
  }
  ss_trial_back(sim);
  *push = before;
  return SS_OK;
}
