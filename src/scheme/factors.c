/* The factors of a large problem beside its matrix: G = J A^-1 J^T + R.
 *
 * Solvers that know the bodies move all contacts of a body together, by Newton steps in as many unknowns as there are velocities
 * (cp/body_newton.c). A wall of 55 bricks on which a ball falls has 565 contacts and 336 velocities: no solver comes below 5e-8
 * from G alone, from the factors it takes 0.4 s. They are given in natural units (solve.c): d J, A/alpha, d R d. */
#include "core/words.h"
#include "la/dense.h"
#include "scheme/scheme.h"

#include <string.h>

static ss_status reserve(const ss_sim *sim, ss_factors *f, int n, ss_error *error) {
  const int bodies = sim->model->n_bodies;
  SS_TRY(SS_GROW(f->column, f->body_capacity[0], 2 * bodies + 1, error));
  SS_TRY(SS_GROW(f->A, f->body_capacity[1], 36 * bodies, error));
  SS_TRY(SS_GROW(f->start, f->row_capacity[0], 2 * n + 2, error));
  SS_TRY(SS_GROW(f->col, f->row_capacity[1], 12 * n, error));
  return SS_GROW(f->value, f->row_capacity[2], 13 * n, error);
}

void ss_factors_free(ss_factors *f) {
  ss_free(f->column);
  ss_free(f->A);
  ss_free(f->start);
  ss_free(f->col);
  ss_free(f->value);
}

/* A's block of one body, from its inverse; false: it has none. */
static bool add_block(const ss_sim *sim, int body, double *A) {
  const int n = sim->model->bodies[body].n;
  double inverse[36];
  memcpy(inverse, sim->trial.ainv + 36 * (size_t)body, sizeof(double) * (size_t)(n * n));
  if (!ss_dense_inverse(inverse, n, A)) return false;
  for (int i = 0; i < n * n; i++) A[i] /= sim->trial.problem.alpha;
  return true;
}

/* Blocks and columns of the bodies that the rows touch; returns the number of columns, or -1 where some block has no inverse. */
static int number_bodies(const ss_sim *sim, ss_factors *f, const int *rows, int n) {
  const ss_model *model = sim->model;
  int *first = f->column + model->n_bodies, count = 0, columns = 0;
  double *A = f->A;
  for (int k = 0; k < model->n_bodies; k++) f->column[k] = -1;
  for (int i = 0; i < n; i++)
    for (int side = 0; side < 2; side++) {
      const int body = sim->trial.problem.rows[rows ? rows[i] : i].body[side];
      if (body >= 0 && model->bodies[body].n > 0) f->column[body] = 0;
    }
  for (int k = 0; k < model->n_bodies; k++) {
    const int size = model->bodies[k].n;
    if (f->column[k] < 0) continue;
    if (!add_block(sim, k, A)) return -1;
    A += (ptrdiff_t)size * size;
    f->column[k] = first[count++] = columns;
    columns += size;
  }
  first[count] = columns;
  f->operator.n_bodies = count;
  f->operator.first = first;
  f->operator.A = f->A;
  return columns;
}

/* Row `row` of J times d, its columns ascending; returns where the next one starts. */
static int add_row(const ss_sim *sim, const ss_factors *f, const ss_row *row, double d, int at) {
  const int a = row->body[0], b = row->body[1];
  const int order = a >= 0 && b >= 0 && a > b;
  for (int k = 0; k < 2; k++) {
    const int side = k ^ order, body = row->body[side];
    if (body < 0 || f->column[body] < 0 || (k == 1 && a == b)) continue;
    for (int i = 0; i < sim->model->bodies[body].n; i++, at++) {
      f->col[at] = f->column[body] + i;
      f->value[at] = d * (row->j[side][i] + (a == b ? row->j[1 - side][i] : 0));
    }
  }
  return at;
}

ss_status ss_add_factors(const ss_sim *sim, ss_factors *f, const int *rows, ss_cp *problem, ss_error *error) {
  const ss_problem *p = &sim->trial.problem;
  const int n = problem->n;
  if (!problem->sparse || sim->system || sim->trial.coupling.active || sim->scheme->compliant) return SS_OK;
  const ss_status status = reserve(sim, f, n, error);
  const int columns = status == SS_OK ? number_bodies(sim, f, rows, n) : -1;
  if (columns < 0) return status;
  int *start = f->start, *diagonal = f->start + n + 1, at = 0; /* of J; starts and columns of R */
  double *R = f->value + (ptrdiff_t)12 * n;
  bool gives = false;
  for (int i = 0; i < n; i++) {
    const int r = rows ? rows[i] : i;
    start[i] = at;
    at = add_row(sim, f, &p->rows[r], p->scale[r], at);
    diagonal[i] = i;
    R[i] = p->scale[r] * p->scale[r] * p->compliance[r];
    gives |= R[i] != 0;
  }
  start[n] = at;
  diagonal[n] = n;
  f->operator.J =(ss_sparse){n, columns, start, f->col, f->value};
  f->operator.R = gives ? (ss_sparse){n, n, diagonal, diagonal, R} : (ss_sparse){0};
  problem->factors = &f->operator;
  return SS_OK;
}
