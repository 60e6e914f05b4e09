/* Redundant joints: equations whose gradients depend on those of others, as in loops of hinges with parallel axes, or a
 * door on two hinges. On the positions where the joints hold they follow from the others; a little off them, where the
 * step linearises, they would contradict the others in the second order and lock the mechanism. So only a maximal
 * independent set of rows is posed, chosen at the start by pivoted Cholesky of J M^-1 J^T, and chosen again, as many, where
 * the mechanism has moved on and the chosen rows have become nearly dependent.
 *
 * Rows can also be dependent for an instant (a linkage stretched flat). Then the ones left out do not follow when it
 * moves on: their velocities are watched, and where they grow the set is chosen anew. Drift makes dependent rows
 * independent, so that redundant mechanisms that run for long want the stabilisation `projection`. */
#include "scheme/scheme.h"

/* Relative size of pivots, squares of what a row adds to the others: rows at an angle of 1e-5 count as dependent. */
static const double dependent = 1e-10;
/* The chosen rows have become nearly dependent: others may be the better choice now. */
static const double poor = 1e-4;

void ss_basis_pose(ss_sim *sim, bool all) {
  ss_basis *basis = &sim->basis;
  basis->n = 0;
  for (int i = 0; i < sim->model->n_joint_rows; i++)
    if (all || basis->posed[i]) basis->row[basis->n++] = i;
}

/* Pivoted Cholesky of the matrix G, scaled to a unit diagonal: the row that adds most comes next. */
static void choose(ss_basis *basis, double *G, int n, int at_most) {
  for (int i = 0; i < n; i++) basis->posed[i] = false;
  for (int i = 0; i < n; i++) {
    const double d = G[i * n + i] > 0 ? 1 / sqrt(G[i * n + i]) : 0;
    for (int j = 0; j < n; j++) G[i * n + j] *= d, G[j * n + i] *= d;
  }
  for (int rank = 0; rank < at_most; rank++) {
    int best = -1;
    for (int i = 0; i < n; i++)
      if (!basis->posed[i] && (best < 0 || G[i * n + i] > G[best * n + best])) best = i;
    if (best < 0 || !(G[best * n + best] > dependent)) return;
    basis->posed[best] = true;
    const double *pivot = G + (size_t)best * (size_t)n;
    for (int i = 0; i < n; i++) {
      if (basis->posed[i]) continue;
      const double factor = G[i * n + best] / pivot[best];
      for (int j = 0; j < n; j++) G[i * n + j] -= factor * pivot[j];
    }
  }
}

/* All joint rows at the present position, with A = M. */
static ss_status pose_joints(ss_sim *sim, ss_error *error) {
  const int contacts = sim->trial.n_contacts;
  ss_basis_pose(sim, true);
  sim->trial.n_contacts = 0;
  sim->mechanics->forces_none(sim);
  ss_status status = ss_rows_projection(sim, false, error);
  if (status == SS_OK) status = ss_discretise(sim, 1, error);
  if (status == SS_OK && !sim->system) status = ss_assemble_sparse(sim, sim->trial.problem.n, error);
  sim->trial.n_contacts = contacts;
  return status;
}

static ss_status select_rows(ss_sim *sim, int at_most, ss_error *error) {
  ss_basis *basis = &sim->basis;
  const int n = sim->model->n_joint_rows;
  ss_status status = pose_joints(sim, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < n; i++) basis->posed[i] = true;
  if (at_most < n || sim->system || ss_lu_factor(ss_problem_lu(sim), dependent) < n) {
    status = ss_discretise_dense(sim, error);
    if (status != SS_OK) return status;
    choose(basis, sim->trial.problem.G, n, at_most);
  }
  ss_basis_pose(sim, false);
  return SS_OK;
}

ss_status ss_basis_select(ss_sim *sim, ss_error *error) {
  return sim->model->n_joint_rows ? select_rows(sim, sim->model->n_joint_rows, error) : SS_OK;
}

/* |row . v| over what it would be if nothing in the sum cancelled. */
static double motion(const ss_model *model, const ss_row *row, const double *v) {
  double sum = 0, most = 0;
  for (int side = 0; side < 2; side++) {
    const ss_row_piece piece = ss_row_side(model, row, side);
    for (int k = 0; k < piece.n; k++) {
      sum += piece.j[k] * v[piece.first + k];
      most += fabs(piece.j[k] * v[piece.first + k]);
    }
  }
  return most > 0 ? fabs(sum) / most : 0;
}

ss_status ss_basis_check(ss_sim *sim, ss_error *error) {
  const ss_basis *basis = &sim->basis;
  const int rows = sim->model->n_joint_rows;
  if (basis->n == rows) return SS_OK;
  double worst[2] = {0}; /* of the rows left out, of the posed ones */
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, basis->rows, NULL);
  for (int i = 0; i < rows; i++) {
    double *of = &worst[basis->posed[i]];
    *of = fmax(*of, motion(sim->model, &basis->rows[i], sim->state.v));
  }
  if (worst[0] > 0.01 && worst[0] > 10 * worst[1]) return ss_basis_select(sim, error);
  const bool worn = (sim->trial.problem.sparse || sim->trial.problem.joined) && ss_problem_lu(sim)->smallest < poor;
  return worn ? select_rows(sim, basis->n, error) : SS_OK;
}
