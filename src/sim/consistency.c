/* Questions about a configuration: how many independent joint equations, and whether the velocities respect them. */
#include "sim/sim.h"

/* Gram-Schmidt with the largest remaining row first; rows below a relative tolerance depend on those before. */
static int rank_of(double *a, int rows, int columns) {
  double largest = 0;
  for (int rank = 0; rank < rows; rank++) {
    int best = -1;
    double best_norm = 0;
    for (int i = rank; i < rows; i++) {
      double norm = 0;
      for (int k = 0; k < columns; k++) norm += a[i * columns + k] * a[i * columns + k];
      if (norm > best_norm) best_norm = norm, best = i;
    }
    if (rank == 0) largest = best_norm;
    if (best < 0 || best_norm <= 1e-20 * largest) return rank;
    for (int k = 0; k < columns; k++) {
      const double swap = a[rank * columns + k];
      a[rank * columns + k] = a[best * columns + k] / sqrt(best_norm);
      if (best != rank) a[best * columns + k] = swap;
    }
    for (int i = rank + 1; i < rows; i++) {
      double dot = 0;
      for (int k = 0; k < columns; k++) dot += a[i * columns + k] * a[rank * columns + k];
      for (int k = 0; k < columns; k++) a[i * columns + k] -= dot * a[rank * columns + k];
    }
  }
  return rows;
}

int ss_sim_joint_rank(const ss_sim *sim) {
  const ss_model *model = sim->model;
  const int rows = model->n_joint_rows, columns = model->n_v;
  if (rows == 0) return 0;
  ss_row *gradients = ss_alloc(sizeof *gradients * (size_t)rows);
  double *dense = ss_alloc(sizeof *dense * (size_t)rows * (size_t)columns);
  int rank = -1;
  if (gradients && dense) {
    sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, gradients, NULL);
    for (int i = 0; i < rows; i++) ss_row_add(model, &gradients[i], 1, dense + (size_t)i * (size_t)columns);
    rank = rank_of(dense, rows, columns);
  }
  ss_free(gradients);
  ss_free(dense);
  return rank;
}

double ss_sim_joint_velocity_residual(const ss_sim *sim) {
  const ss_model *model = sim->model;
  ss_row *gradients = ss_alloc(sizeof *gradients * (size_t)(model->n_joint_rows + 1));
  double *drive = ss_alloc(sizeof *drive * (size_t)(model->n_joint_rows + 1));
  double worst = gradients && drive ? 0 : NAN;
  if (gradients && drive) {
    sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, gradients, drive);
    for (int i = 0; i < model->n_joint_rows; i++)
      worst = fmax(worst, fabs(ss_row_dot(model, &gradients[i], sim->state.v) + drive[i]));
  }
  ss_free(gradients);
  ss_free(drive);
  return worst;
}
