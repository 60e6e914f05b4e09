/* The problem of a system: rows have all coordinates, A is one block. G = alpha J A^-1 J^T + R (scheme/discretise.c). */
#include "system/system.h"
#include "la/rows.h"

#include <string.h>

/* w_i = A^-1 J_i^T */
void ss_dense_spread(ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  const int n = sim->model->n_v;
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < n; k++)
      p->w[i * n + k] = dot(sim->system->inverse + (size_t)k * (size_t)n, p->rows[i].dense, n);
}

void ss_dense_fill(const ss_sim *sim, double *G) {
  const ss_problem *p = &sim->trial.problem;
  const int n = sim->model->n_v;
  for (int i = 0; i < p->n; i++)
    for (int j = 0; j < p->n; j++)
      G[i * p->n + j] =
          p->alpha * dot(p->rows[i].dense, p->w + (size_t)j * (size_t)n, n) + (i == j ? p->compliance[i] : 0);
}

/* delta = A^-1 (kt + J^T z) */
void ss_dense_velocity_change(ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  const int n = sim->model->n_v;
  memcpy(sim->trial.delta, sim->trial.dv_free, sizeof(double) * (size_t)n);
  for (int i = 0; i < p->n; i++)
    for (int k = 0; k < n && p->z[i] != 0; k++) sim->trial.delta[k] += p->z[i] * p->w[i * n + k];
}
