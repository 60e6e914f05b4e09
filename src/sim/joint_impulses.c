/* Impulses of the joints over the last step. Where joints are redundant the solver's multipliers are one of many
 * solutions; all of them have the same J^T z, and the one of least norm is the projection of any of them on the range of
 * J: z = J y with min |J y - z|, by conjugate gradients on the normal equations (CGLS), which needs no factorisation and
 * does not mind that J^T J is singular. */
#include "sim/sim.h"

#include <string.h>

void ss_add_joint_impulses(ss_sim *sim, double fraction) {
  const ss_problem *p = &sim->trial.problem;
  for (int i = 0; i < p->n_joint; i++) sim->joints.impulse[sim->basis.row[i]] += fraction * p->z[i];
}

void ss_add_motor_impulses(ss_sim *sim, double fraction) {
  for (int i = 0; i < sim->model->n_motors; i++)
    sim->joints.motor_impulse[i] += fraction * sim->trial.problem.z[sim->trial.problem.first_motor + i];
}

typedef struct least_norm {
  const ss_model *model;
  ss_row *rows;
  double *r;     /* [rows] z - J y */
  double *jp;    /* [rows] J p */
  double *s, *p; /* [n_v] J^T r, direction */
} least_norm;

static double transposed(const least_norm *c) {
  double sum = 0;
  memset(c->s, 0, sizeof(double) * (size_t)c->model->n_v);
  for (int i = 0; i < c->model->n_joint_rows; i++) ss_row_add(c->model, &c->rows[i], c->r[i], c->s);
  for (int i = 0; i < c->model->n_v; i++) sum += c->s[i] * c->s[i];
  return sum;
}

/* What is left of r is the part of z that moves nothing. */
static void remove_range(const least_norm *c) {
  const int rows = c->model->n_joint_rows, n = c->model->n_v;
  double norm = transposed(c);
  const double enough = 1e-30 * norm;
  memcpy(c->p, c->s, sizeof(double) * (size_t)n);
  for (int iteration = 0; iteration < 4 * n + 20 && norm > enough; iteration++) {
    double square = 0;
    for (int i = 0; i < rows; i++) {
      c->jp[i] = ss_row_dot(c->model, &c->rows[i], c->p);
      square += c->jp[i] * c->jp[i];
    }
    if (!(square > 0)) return;
    const double step = norm / square;
    for (int i = 0; i < rows; i++) c->r[i] -= step * c->jp[i];
    const double next = transposed(c);
    for (int i = 0; i < n; i++) c->p[i] = c->s[i] + next / norm * c->p[i];
    norm = next;
  }
}

ss_status ss_sim_joint_impulses(const ss_sim *sim, double *impulses, ss_error *error) {
  const ss_model *model = sim->model;
  const size_t rows = (size_t)model->n_joint_rows, n = (size_t)model->n_v;
  if (rows == 0) return SS_OK;
  double *numbers = ss_alloc(sizeof(double) * (2 * rows + 2 * n));
  least_norm c = {
      model, ss_alloc(sizeof(ss_row) * rows), numbers, numbers + rows, numbers + 2 * rows, numbers + 2 * rows + n};
  const bool memory = numbers && c.rows;
  if (memory) {
    sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, c.rows, NULL);
    memcpy(c.r, sim->joints.impulse, sizeof(double) * rows);
    remove_range(&c);
    for (size_t i = 0; i < rows; i++) impulses[i] = sim->joints.impulse[i] - c.r[i];
  }
  ss_free(c.rows);
  ss_free(numbers);
  return memory ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}
