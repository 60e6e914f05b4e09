/* Stabilisation by projection, after a step: the nearest position, in the mass norm, on which the joints hold and closed
 * contacts do not overlap, then the nearest velocity that respects both there:
 *
 *     min |d|_M :  Theta(q (+) d) = 0,  Phi(q (+) d) >= 0        Gauss-Newton: d = M^-1 J^T z, 0 = J M^-1 J^T z + Theta
 *     min |u|_M :  nu . (v + u) = 0,    n . (v + u) >= 0          one linear problem
 *
 * Both are problems of the step's own kind with A = M. A contact that has been pushed apart keeps its rows: the gap of a corner
 * ends a little above zero, and without them the body would fall on behind a position that stays. The position converges quadratically from the drift of one step.
 * Where a problem has no certified solution the state stays as it is: drift is reported in the certificate anyway. What
 * the projection does to the energy is a column of the ledger. Friction is left alone. */
#include "step/step.h"

#include <string.h>

enum { MOST_ITERATIONS = 12 };

/* Residuals of all rows of the problem at the present position; the largest violation, as a length. */
static double position_residuals(ss_sim *sim, double *residual) {
  const ss_problem *p = &sim->trial.problem;
  double worst = 0;
  if (p->n_joint) ss_basis_residuals(sim, sim->state.t, sim->state.q, residual);
  for (int i = 0; i < p->n_joint; i++) worst = fmax(worst, fabs(residual[i]) * ss_row_length(sim->model, &p->rows[i]));
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const ss_contact *c = &sim->trial.contacts[i];
    if (c->row < 0) continue;
    residual[c->row] = c->at.gap;
    worst = fmax(worst, -c->at.gap * (c->limit ? ss_row_length(sim->model, &p->rows[c->row]) : 1));
  }
  return worst;
}

/* q (+) delta */
static void move(ss_sim *sim) {
  const ss_model *model = sim->model;
  sim->mechanics->shift(sim, sim->trial.delta, sim->trial.q_end);
  if (model->n_angles)
    ss_joint_angles_follow(model, sim->state.q, sim->trial.q_end, sim->trial.delta, 1, sim->state.angle);
  memcpy(sim->state.q, sim->trial.q_end, sizeof(double) * (size_t)model->n_q);
}

/* Poses the problem at the present position, with J v on the right side; moves the position until its residual is at
 * rounding level or falls no further. */
static ss_status project_position(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  double last = HUGE_VAL;
  int rows = 0;
  for (int k = 0;; k++) {
    SS_TRY(ss_rows_projection(sim, k > 0, error));
    SS_TRY(ss_discretise(sim, 1, error));
    const double worst = position_residuals(sim, p->slack);
    const bool joined = p->n > rows; /* a body that is turned out of one contact may turn into the next */
    if (worst <= 1e-13 * sim->model->length || (worst > 0.5 * last && !joined) || k == MOST_ITERATIONS) return SS_OK;
    last = worst;
    rows = p->n;
    memcpy(p->g, p->slack, sizeof(double) * (size_t)p->n);
    ss_solving how = ss_solving_usual(sim);
    how.speed = 0; /* lengths, which no speed says anything about */
    SS_TRY(ss_solve_problem(sim, how, error));
    if (!sim->trial.certified) return SS_OK;
    ss_velocity_change(sim);
    move(sim);
  }
}

/* At position level a contact closes with what is left of the approach, gap / h; the next step stops it, with the friction
 * that belongs to the blow. Stopped here, the blow would lose a part of its friction that does not vanish with h. */
static void leave_approach(const ss_sim *sim) {
  if (!sim->scheme->position_level || ss_locates(sim, SS_EVENT_COLLISION)) return;
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    const int row = sim->trial.contacts[i].row;
    if (row >= 0) sim->trial.problem.g[row] = fmax(0, sim->trial.problem.g[row]);
  }
}

/* The problem is the one that project_position has left. */
static ss_status project_velocity(ss_sim *sim, ss_error *error) {
  leave_approach(sim);
  SS_TRY(ss_solve_problem(sim, ss_solving_usual(sim), error));
  if (!sim->trial.certified) return SS_OK;
  ss_velocity_change(sim);
  for (int i = 0; i < sim->model->n_v; i++) sim->state.v[i] += sim->trial.delta[i];
  ss_add_joint_impulses(sim, 1);
  for (int i = 0; i < sim->trial.n_contacts; i++) {
    ss_contact *c = &sim->trial.contacts[i];
    if (c->row >= 0) c->pressed = v3_scale(sim->trial.problem.z[c->row], c->at.normal);
  }
  return ss_deal(sim, 1, error);
}

ss_status ss_project(ss_sim *sim, ss_error *error) {
  const double before = ss_total_energy(sim);
  sim->trial.certified = true;
  sim->mechanics->forces_none(sim);
  SS_TRY(project_position(sim, error));
  if (sim->trial.certified) SS_TRY(project_velocity(sim, error));
  sim->report.energy.stabilization += ss_total_energy(sim) - before;
  return SS_OK;
}
