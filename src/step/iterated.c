/* Schemes whose problem is posed at its own solution: an outer iteration of trials, each of them certified.
 *
 * == The end of the step ==
 *
 * stewart-trinkle-implicit (ST section 3.4): n, Phi, Theta and nu are taken at the new position, so that it is exactly
 * feasible. The problem is linearised about the latest iterate q^ = q (+) h v^,
 *
 *     0 <= n.v+ + Phi(q^)/h - n.v^  perp  c_n >= 0,      nu.v+ + Theta(q^)/h - nu.v^ = 0,
 *
 * solved, and posed again about its solution; at a fixed point v+ = v^ these say Phi(q+) >= 0 and Theta(q+) = 0. The paper
 * starts from q + h v, which may lie behind a thin obstacle; here the first problem is the one linearised at q, whose
 * solution does not. Each iteration is a certified problem of its own. Convergence is geometric with a factor that falls
 * with h; it is measured. Where changes grow, the iterate is averaged with the one before; where that does not help
 * within the limit, the problem linearised at the start stands in (plain stewart-trinkle), and is counted. It also takes
 * the very short parts that events may leave: divided by their h, rounding of the positions would become a kick.
 *
 * == The theta state ==
 *
 * The theta rule (BVP (16)): forces belong to q^theta = theta q + (1-theta) q+ and v^theta, which the solution decides.
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

enum { MOST_ITERATIONS = 40 };

/* Speed that a unit of the body's i-th coordinate gives to its outermost point: no mixture of units. */
static double speed_unit(const ss_model *model, const ss_body *body, int i) {
  if (body->coordinate[i] < 3) return 1;
  return body->reach > 0 && isfinite(body->reach) ? body->reach : model->length;
}

/* ---- the end of the step ---- */

static double *iterate_v(const ss_sim *sim) { return sim->trial.iterate_memory; }
static double *iterate_q(const ss_sim *sim) { return sim->trial.iterate_memory + sim->model->n_v; }

/* The active contacts at (t, q). */
static void place_contacts(ss_sim *sim, double t, const double *q) {
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (!c->active) continue;
    ss_contact_place place;
    sim->mechanics->place(sim, c, t, q, &place);
    c->at = place.at;
  }
}

/* q^ = q (+) h v^, and the contacts there. */
static void linearise(ss_sim *sim, double h) {
  for (int i = 0; i < sim->model->n_v; i++) sim->trial.delta[i] = iterate_v(sim)[i] - sim->state.v[i];
  sim->mechanics->advance(sim, sim->trial.delta, h, 1, iterate_q(sim));
  place_contacts(sim, sim->state.t + h, iterate_q(sim));
}

static void relinearise_at_start(ss_sim *sim) {
  sim->trial.iterate_v = sim->trial.iterate_q = NULL;
  place_contacts(sim, sim->state.t, sim->state.q);
  for (int i = 0; i < sim->trial.n_contacts; i++)
    if (sim->trial.contacts[i].active) sim->trial.contacts[i].start_gap = sim->trial.contacts[i].at.gap;
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

/* max |v+ - v^| */
static double largest_change(const ss_sim *sim) {
  const ss_model *model = sim->model;
  double change = 0;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_body *body = &model->bodies[k];
    for (int i = 0, at = body->first; i < body->n; i++, at++)
      change = fmax(change, speed_unit(model, body, i) * fabs(sim->trial.v_end[at] - iterate_v(sim)[at]));
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

ss_status ss_attempt_iterated(ss_sim *sim, ss_asked asked, ss_error *error) {
  static const double very_short = 1e-3;
  ss_solves *solves = &sim->report.solves;
  const double h = asked.h, enough = 1e-13 * (sim->part.speed_bound + sim->model->length / h);
  double last = HUGE_VAL, contraction = 0;
  bool damped = false, found = false;
  relinearise_at_start(sim); /* contacts may be where another attempt has left them */
  SS_TRY(ss_trial_solve(sim, asked, error));
  if (!sim->trial.certified || h < very_short * sim->step.h) return SS_OK;
  memcpy(iterate_v(sim), sim->trial.v_end, sizeof(double) * (size_t)sim->model->n_v);
  sim->trial.iterate_v = iterate_v(sim);
  sim->trial.iterate_q = iterate_q(sim);
  for (int k = 0; k < MOST_ITERATIONS && !found; k++) {
    linearise(sim, h);
    SS_TRY(ss_trial_solve(sim, asked, error));
    if (!sim->trial.certified) break;
    solves->outer++;
    const double change = next_iterate(sim, damped);
    found = change <= enough;
    if (k > 0 && last > 100 * enough) contraction = fmax(contraction, change / last);
    damped = damped || (k > 1 && change > last);
    last = change;
  }
  if (found && same_sides(sim)) {
    solves->contraction = fmax(solves->contraction, contraction);
    sim->trial.iterate_v = sim->trial.iterate_q = NULL;
    return SS_OK;
  }
  solves->not_contracting++;
  relinearise_at_start(sim);
  return ss_trial_solve(sim, asked, error);
}

/* ---- the theta state ---- */

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

ss_status ss_attempt_theta(ss_sim *sim, ss_asked asked, ss_error *error) {
  static const double settled = 1e-12;
  sim->trial.asked = asked;
  const bool once = !ss_theta_iterates(sim);
  double last = INFINITY;
  memset(sim->trial.delta, 0, sizeof(double) * (size_t)sim->model->n_v);
  for (int pass = 0; pass < MOST_ITERATIONS; pass++) {
    ss_theta_state(sim, asked.h, sim->trial.delta);
    SS_TRY(ss_trial_solve(sim, asked, error));
    sim->report.solves.outer++;
    if (!sim->trial.certified || once) return SS_OK;
    const double now = change(sim, asked.h);
    if (now <= settled || (now <= 1e3 * settled && now >= last)) return SS_OK; /* at rounding level */
    last = now;
  }
  sim->report.solves.unconverged++;
  sim->trial.certified = false;
  return SS_OK;
}
