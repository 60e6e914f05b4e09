/* stewart-trinkle-implicit (ST section 3.4): n, Phi, Theta and nu are taken at the new position, so that it is exactly
 * feasible. The problem is linearised about the latest iterate q^ = q (+) h v^,
 *
 *     0 <= n.v+ + Phi(q^)/h - n.v^  perp  c_n >= 0,      nu.v+ + Theta(q^)/h - nu.v^ = 0,
 *
 * solved, and posed again about its solution; at a fixed point v+ = v^ these say Phi(q+) >= 0 and Theta(q+) = 0. The paper
 * starts from q + h v, which may lie behind a thin obstacle; here the first problem is the one linearised at q, whose
 * solution does not. Each iteration is a certified problem of its own. Convergence is geometric with a factor that falls
 * with h; it is measured. Where changes grow, the iterate is averaged with the one before; where that does not help
 * within the limit, the problem linearised at the start stands in (plain stewart-trinkle), and is counted. It also takes
 * the very short parts that events may leave: divided by their h, rounding of the positions would become a kick. */
#include "step/step.h"

#include <string.h>

enum { MOST_ITERATIONS = 40 };

static double *iterate_v(const ss_sim *sim) { return sim->trial.iterate_memory; }
static double *iterate_q(const ss_sim *sim) { return sim->trial.iterate_memory + sim->model->n_v; }

/* q^ = q (+) h v^, and the contacts there. */
static void linearise(ss_sim *sim, double h) {
  const ss_model *model = sim->model;
  for (int i = 0; i < model->n_v; i++) sim->trial.delta[i] = iterate_v(sim)[i] - sim->state.v[i];
  sim->mechanics->advance(sim, sim->trial.delta, h, 1, iterate_q(sim));
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (!c->active) continue;
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t + h, iterate_q(sim), &place);
    c->at = place.at;
  }
}

static void relinearise_at_start(ss_sim *sim) {
  sim->trial.iterate_v = sim->trial.iterate_q = NULL;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (!c->active) continue;
    ss_contact_place place;
    sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &place);
    c->at = place.at;
    c->start_gap = c->at.gap;
  }
}

/* Whether every contact is approached from the side on which the step began: a fixed point behind a thin obstacle is
 * feasible too, but not the one that is meant. */
static bool same_sides(const ss_sim *sim) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (!c->active) continue;
    ss_contact_place start;
    sim->mechanics->place(sim, c, sim->state.t, sim->state.q, &start);
    if (v3_dot(start.at.normal, c->at.normal) <= 0) return false;
  }
  return true;
}

/* max |v+ - v^|, rotations as speeds of the body's outermost point: no mixture of units. */
static double largest_change(const ss_sim *sim) {
  const ss_model *model = sim->model;
  double change = 0;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *body = &model->bodies[k];
    const double arm = body->reach > 0 ? body->reach : model->length;
    for (int i = 0; i < body->n; i++) {
      const double unit = body->coordinate[i] < 3 ? 1 : arm;
      change = fmax(change, unit * fabs(sim->trial.v_end[body->first + i] - iterate_v(sim)[body->first + i]));
    }
  }
  for (int i = 0; sim->system && i < model->n_v; i++)
    change = fmax(change, fabs(sim->trial.v_end[i] - iterate_v(sim)[i]));
  return change;
}

/* v^ for the next iteration: v+, or the mean of both; returns the change. */
static double next_iterate(ss_sim *sim, bool damped) {
  double *v = iterate_v(sim);
  const double change = largest_change(sim);
  for (int i = 0; i < sim->model->n_v; i++) v[i] = damped ? (v[i] + sim->trial.v_end[i]) / 2 : sim->trial.v_end[i];
  return change;
}

ss_status ss_attempt_iterated(ss_sim *sim, ss_asked asked, bool *certified, ss_error *error) {
  static const double very_short = 1e-3;
  ss_solves *solves = &sim->report.solves;
  const double h = asked.h;
  const double enough = 1e-13 * (sim->part.speed_bound + sim->model->length / h);
  double last = HUGE_VAL, contraction = 0;
  bool damped = false, found = false;
  relinearise_at_start(sim); /* contacts may be where another attempt has left them */
  ss_status status = ss_trial_solve(sim, asked, certified, error);
  if (status != SS_OK || !*certified || h < very_short * sim->step.h) return status;
  memcpy(iterate_v(sim), sim->trial.v_end, sizeof(double) * (size_t)sim->model->n_v);
  sim->trial.iterate_v = iterate_v(sim);
  sim->trial.iterate_q = iterate_q(sim);
  for (int k = 0; k < MOST_ITERATIONS && !found; k++) {
    linearise(sim, h);
    status = ss_trial_solve(sim, asked, certified, error);
    if (status != SS_OK || !*certified) break;
    solves->outer++;
    const double change = next_iterate(sim, damped);
    found = change <= enough;
    if (k > 0 && last > 100 * enough) contraction = fmax(contraction, change / last);
    damped = damped || (k > 1 && change > last);
    last = change;
  }
  if (status != SS_OK) return status;
  if (found && same_sides(sim)) {
    solves->contraction = fmax(solves->contraction, contraction);
    sim->trial.iterate_v = sim->trial.iterate_q = NULL;
    return SS_OK;
  }
  solves->not_contracting++;
  relinearise_at_start(sim);
  return ss_trial_solve(sim, asked, certified, error);
}
