/* Second half of the discretisation: eliminating v+ = v + A^-1 (kt + J^T z) from w = J va + s + R z gives
 *
 *     w = G z + g,    G = alpha J A^-1 J^T + R,    g = J (v + alpha A^-1 kt) + s
 *
 * with va = v + alpha (v+ - v). A is block-diagonal, so that row i meets column j only where they share a body. Where
 * all rows are joints and stiff forces, and they are many, G is assembled sparse (la/sparse_lu.h). */
#include "step/workspace.h"

#include <string.h>

enum { SPARSE_FROM = 6 }; /* rows from which the sparse way is the faster one */

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

static column column_of(const ss_sim *sim, int j) {
  const ss_problem *p = &sim->problem;
  const ss_coupling *c = &sim->coupling;
  return (column){&p->rows[j], p->w + 12 * (size_t)j, c->active ? c->w + (size_t)j * (size_t)c->n : NULL};
}

void ss_fill_dense(const ss_sim *sim, double *G) {
  const ss_problem *p = &sim->problem;
  const size_t n = (size_t)p->n;
  for (int j = 0; j < p->n; j++) {
    const column w = column_of(sim, j);
    for (int i = 0; i < p->n; i++) G[(size_t)i * n + (size_t)j] = p->alpha * meet(sim, &p->rows[i], &w);
  }
  for (size_t i = 0; i < n; i++) G[i * n + i] += p->compliance[i];
}

ss_status ss_discretise_dense(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->problem;
  const size_t n = (size_t)p->n;
  if (n * n > p->G_capacity) {
    ss_free(p->G);
    p->G_capacity = n * n + n * n / 2 + 64;
    p->G = ss_alloc(sizeof(double) * p->G_capacity);
    if (!p->G) {
      p->G_capacity = 0;
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory: a problem with %d rows", p->n);
    }
  }
  ss_fill_dense(sim, p->G);
  return SS_OK;
}

/* Joints alone: only rows that share a body meet. */
static ss_status assemble_sparse(ss_sim *sim, ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_lu *lu = &sim->lu;
  ss_status status = ss_grow((void **)&sim->lu_rows, &sim->lu_capacity, p->n, sizeof *sim->lu_rows, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < p->n; i++) sim->lu_rows[i] = (ss_lu_row){{p->rows[i].body[0], p->rows[i].body[1]}};
  status = ss_lu_analyse(lu, p->n, sim->lu_rows, error);
  if (status != SS_OK) return status;
  for (int i = 0; i < p->n; i++) { /* by place: column i below the diagonal and above it */
    const int own = lu->order[i];
    const column w = column_of(sim, own);
    lu->d[i] = p->alpha * meet(sim, &p->rows[own], &w) + p->compliance[own];
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++) {
      const column other = column_of(sim, lu->order[lu->upper[k]]);
      lu->u[k] = p->alpha * meet(sim, &p->rows[own], &other);
    }
    for (int k = lu->lower_start[i]; k < lu->lower_start[i + 1]; k++) {
      const column other = column_of(sim, lu->order[lu->lower[k]]);
      lu->l[k] = p->alpha * meet(sim, &p->rows[own], &other);
    }
  }
  return SS_OK;
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
  p->alpha = alpha;
  p->sparse = n == p->n_free && n >= SPARSE_FROM && sim->automatic && !c->active;
  return p->sparse ? assemble_sparse(sim, error) : ss_discretise_dense(sim, error);
}
