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

static double meet(const ss_sim *sim, const ss_row *row, const ss_row *other, const double *w) {
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    const int body = row->body[side];
    if (body < 0) continue;
    for (int o = 0; o < 2; o++) {
      if (other->body[o] != body) continue;
      const int n = sim->model->bodies[body].n;
      for (int i = 0; i < n; i++) sum += row->j[side][i] * w[6 * o + i];
    }
  }
  return sum;
}

void ss_discretise(ss_sim *sim, double alpha) {
  ss_problem *p = &sim->problem;
  const int n = p->n;
  for (int i = 0; i < n; i++) {
    spread_row(sim, &p->rows[i], p->w + 12 * (size_t)i);
    p->g[i] = ss_row_dot(sim->model, &p->rows[i], sim->state.v) +
              alpha * ss_row_dot(sim->model, &p->rows[i], sim->dv_free) + p->offset[i];
  }
  for (int i = 0; i < n; i++) {
    double *line = p->G + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) line[j] = alpha * meet(sim, &p->rows[i], &p->rows[j], p->w + 12 * (size_t)j);
    line[i] += p->compliance[i];
  }
}
