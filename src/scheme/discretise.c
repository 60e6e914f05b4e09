/* Second half of the discretisation: eliminating v+ = v + A^-1 (kt + J^T z) from w = J va + s + R z gives
 *
 *     w = G z + g,    G = alpha J A^-1 J^T + R,    g = J (v + alpha A^-1 kt) + s
 *
 * with va = v + alpha (v+ - v). A is block-diagonal, so that row i meets column j only where they share a body. */
#include "step/workspace.h"

#include <string.h>

/* w_i = A^-1 J_i^T, side by side. */
static void spread_row(const ss_sim *sim, const ss_row *row, double *w) {
  for (int side = 0; side < 2; side++) {
    if (row->body[side] < 0) continue;
    const ss_body *body = &sim->model->bodies[row->body[side]];
    const double *ainv = sim->ainv + 36 * (size_t)row->body[side];
    for (int i = 0; i < body->n; i++) {
      double sum = 0;
      for (int j = 0; j < body->n; j++) sum += ainv[i * body->n + j] * row->j[side][j];
      w[6 * side + i] = sum;
    }
  }
}

/* Chains all sides of all rows that touch the same body; a side is numbered 2 row + side. */
static void chain_rows(ss_sim *sim) {
  ss_problem *p = &sim->problem;
  for (int k = 0; k < sim->model->n_bodies; k++) sim->first_row[k] = -1;
  for (int i = p->n - 1; i >= 0; i--)
    for (int side = 0; side < 2; side++) {
      const int body = p->rows[i].body[side];
      if (body < 0) continue;
      p->next_row[2 * i + side] = sim->first_row[body];
      sim->first_row[body] = 2 * i + side;
    }
}

/* Adds alpha J w to column j of G, for the part w of A^-1 J_j^T that lies on one body. */
static void add_to_column(const ss_sim *sim, int j, int body, const double *w, double alpha) {
  const ss_problem *p = &sim->problem;
  const int n = sim->model->bodies[body].n;
  for (int end = sim->first_row[body]; end >= 0; end = p->next_row[end]) {
    const double *row = p->rows[end / 2].j[end % 2];
    double sum = 0;
    for (int k = 0; k < n; k++) sum += row[k] * w[k];
    p->G[(size_t)(end / 2) * (size_t)p->n + (size_t)j] += alpha * sum;
  }
}

static void fill_column(const ss_sim *sim, int j, double alpha) {
  const ss_problem *p = &sim->problem;
  const ss_coupling *c = &sim->coupling;
  for (int side = 0; side < 2; side++) {
    const int body = p->rows[j].body[side];
    if (body < 0 || (c->active && c->offset[body] >= 0)) continue;
    add_to_column(sim, j, body, p->w + 12 * (size_t)j + (ptrdiff_t)6 * side, alpha);
  }
  if (!c->active) return;
  for (int body = 0; body < sim->model->n_bodies; body++)
    if (c->offset[body] >= 0) add_to_column(sim, j, body, c->w + (size_t)j * (size_t)c->n + c->offset[body], alpha);
}

/* Room for G, which grows with the square of the rows: problems that are solved by their structure go without. */
static ss_status reserve_matrix(ss_problem *p, ss_error *error) {
  if (p->n <= p->matrix_rows) return SS_OK;
  const int rows = p->capacity;
  ss_free(p->G);
  p->matrix_rows = 0;
  p->G = ss_alloc(sizeof(double) * (size_t)rows * (size_t)rows);
  if (!p->G) return ss_fail(error, SS_ERROR_MEMORY, "out of memory: a matrix of %d contact and joint rows", p->n);
  p->matrix_rows = rows;
  return SS_OK;
}

/* A^-1 J^T and g. */
void ss_spread(ss_sim *sim, double alpha) {
  ss_problem *p = &sim->problem;
  for (int i = 0; i < p->n; i++) {
    spread_row(sim, &p->rows[i], p->w + 12 * (size_t)i);
    p->g[i] = ss_row_dot(sim->model, &p->rows[i], sim->state.v) +
              alpha * ss_row_dot(sim->model, &p->rows[i], sim->dv_free) + p->offset[i];
  }
}

ss_status ss_discretise(ss_sim *sim, double alpha, ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_coupling *c = &sim->coupling;
  const int n = p->n;
  const ss_status reserved = reserve_matrix(p, error);
  if (reserved != SS_OK) return reserved;
  if (c->active) {
    const ss_status status = ss_grow((void **)&c->w, &c->w_capacity, n, sizeof(double) * (size_t)c->n, error);
    if (status != SS_OK) return status;
  }
  chain_rows(sim);
  memset(p->G, 0, sizeof(double) * (size_t)n * (size_t)n);
  ss_spread(sim, alpha);
  for (int i = 0; i < n; i++) {
    if (c->active) ss_couple_row(sim, &p->rows[i], c->w + (size_t)i * (size_t)c->n);
    fill_column(sim, i, alpha);
    p->G[(size_t)i * (size_t)n + (size_t)i] += p->compliance[i];
  }
  if (sim->scheme->compliant) ss_patch_stiffen(sim);
  return SS_OK;
}
