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

/* Column j of A^-1 J^T: packed per body, and its coupled part where there is one. */
typedef struct column {
  const ss_row *row;
  const double *packed, *coupled;
} column;

static double meet(const ss_sim *sim, const ss_row *row, const column *other) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    const int body = row->body[side];
    if (body < 0) continue;
    const int n = sim->model->bodies[body].n;
    const double *j = row->j[side];
    if (other->coupled && sim->coupling.offset[body] >= 0) {
      const double *w = other->coupled + sim->coupling.offset[body];
      for (int i = 0; i < n; i++) sum += j[i] * w[i];
      continue;
    }
    for (int o = 0; o < 2; o++) {
      if (other->row->body[o] != body) continue;
      const double *w = other->packed + (ptrdiff_t)6 * o;
      for (int i = 0; i < n; i++) sum += j[i] * w[i];
    }
  }
  return sum;
}

ss_status ss_discretise(ss_sim *sim, double alpha, ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_coupling *c = &sim->coupling;
  const int n = p->n;
  if (c->active) {
    const ss_status status = ss_grow((void **)&c->w, &c->w_capacity, n, sizeof(double) * (size_t)c->n, error);
    if (status != SS_OK) return status;
  }
  for (int i = 0; i < n; i++) {
    spread_row(sim, &p->rows[i], p->w + 12 * (size_t)i);
    if (c->active) ss_couple_row(sim, &p->rows[i], c->w + (size_t)i * (size_t)c->n);
    p->g[i] = ss_row_dot(sim->model, &p->rows[i], sim->state.v) +
              alpha * ss_row_dot(sim->model, &p->rows[i], sim->dv_free) + p->offset[i];
  }
  for (int j = 0; j < n; j++) {
    const column w = {&p->rows[j], p->w + 12 * (size_t)j, c->active ? c->w + (size_t)j * (size_t)c->n : NULL};
    for (int i = 0; i < n; i++) p->G[(size_t)i * (size_t)n + (size_t)j] = alpha * meet(sim, &p->rows[i], &w);
  }
  for (int i = 0; i < n; i++) p->G[(size_t)i * (size_t)n + (size_t)i] += p->compliance[i];
  for (int k = 0; k < sim->n_contacts; k++)
    if (sim->contacts[k].patch && sim->contacts[k].row >= 0) ss_patch_stiffen(sim, &sim->contacts[k]);
  return SS_OK;
}
