/* w = G z + g of patches, G = alpha J A^-1 J^T + diag(R_p): through the velocities of the bodies, then patch by patch. */
#include "scheme/patch_newton.h"

#include <string.h>

static void add_velocity(patch_newton *k, const double *z) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->trial.problem;
  memset(k->u, 0, sizeof(double) * (size_t)sim->model->n_v);
  for (int i = 0; i < p->n; i++)
    for (int side = 0; z[i] != 0 && side < 2; side++) {
      if (p->rows[i].body[side] < 0) continue;
      const ss_body *body = &sim->model->bodies[p->rows[i].body[side]];
      const double *w = p->w + 12 * (size_t)i + (ptrdiff_t)6 * side;
      for (int j = 0; j < body->n; j++) k->u[body->first + j] += z[i] * w[j];
    }
}

/* w += R z for the patch, column by column (R is symmetric): the inner loop runs along memory. */
static void add_compliance(const patch_newton *k, const ss_contact *c, const double *z, double *w) {
  const int rows = c->n_rows, directions = c->patch->n_directions;
  const double scale = 1 / k->sim->trial.problem.h;
  for (int j = 0; j < rows * c->patch->n_elements; j++) {
    const double factor = scale * z[j];
    const double *line = c->patch->flexibility + (size_t)patch_component(c, j) * (size_t)c->patch->n;
    if (factor == 0) continue;
    if (rows == directions)
      for (int i = 0; i < c->patch->n; i++) w[i] += factor * line[i];
    else
      for (int e = 0; e < c->patch->n_elements; e++)
        for (int a = 0; a < rows; a++) w[e * rows + a] += factor * line[e * directions + a];
  }
}

void newton_apply(patch_newton *k, const double *z, double *w) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->trial.problem;
  add_velocity(k, z);
  for (int i = 0; i < p->n; i++)
    w[i] = p->g[i] + k->alpha * ss_row_dot(sim->model, &p->rows[i], k->u) + p->compliance[i] * z[i];
  for (int q = 0; q < sim->trial.n_contacts; q++)
    if (sim->trial.contacts[q].row >= 0)
      add_compliance(k, &sim->trial.contacts[q], z + sim->trial.contacts[q].row, w + sim->trial.contacts[q].row);
}

void newton_diagonal(const patch_newton *k, double *diagonal) {
  const ss_sim *sim = k->sim;
  const ss_problem *p = &sim->trial.problem;
  for (int i = 0; i < p->n; i++) {
    double sum = p->compliance[i];
    for (int side = 0; side < 2; side++) {
      const int body = p->rows[i].body[side];
      for (int j = 0; body >= 0 && j < sim->model->bodies[body].n; j++)
        sum += k->alpha * p->rows[i].j[side][j] * p->w[12 * (size_t)i + 6 * (size_t)side + (size_t)j];
    }
    diagonal[i] = sum;
  }
  for (int q = 0; q < sim->trial.n_contacts; q++) {
    const ss_contact *c = &sim->trial.contacts[q];
    for (int i = 0; c->row >= 0 && i < c->n_rows * c->patch->n_elements; i++)
      diagonal[c->row + i] += c->patch->flexibility[(size_t)patch_component(c, i) * (size_t)(c->patch->n + 1)] / p->h;
  }
}
