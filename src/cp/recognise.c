/* Friction contacts in a plain LCP, found from the numbers alone.
 *
 * Written out (Stewart & Trinkle 1996, Anitescu & Potra 1997; cp/expand.c) a contact with k directions is
 *
 *     0 <= c_n      perp  w_n                          >= 0
 *     0 <= beta_j   perp  d_j . w_t + lambda           >= 0    j = 1 .. k
 *     0 <= lambda   perp  mu c_n + room - sum beta_j   >= 0
 *
 * and a box 0 <= z <= room the same with one direction and without c_n. The row of lambda gives it away: nothing on its
 * diagonal, at most one positive entry, and negative entries exactly where its column has positive ones, with nothing else in
 * that column. Rows and columns may be scaled by positive numbers, and stand in any order.
 *
 * The directions must be those of a regular polygon in some coordinates of the plane (directions.c). What does not fit stays
 * as it is. */
#include "cp/directions.h"

#include <math.h>

static bool row_fits(const double *value, int count) {
  int positive = 0, negative = 0;
  for (int k = 0; k < count && positive < 2; k++) {
    positive += value[k] > 0;
    negative += value[k] < 0;
  }
  return positive < 2 && negative > 0;
}

static bool diagonal_vanishes(const ss_sparse *G, int i) {
  for (int k = G->start[i]; k < G->start[i + 1] && G->col[k] <= i; k++)
    if (G->col[k] == i && G->value[k] != 0) return false;
  return true;
}

static bool looks_like_lambda(const ss_cp *problem, int i) {
  const size_t n = (size_t)problem->n, at = (size_t)i * n;
  if (!(problem->g[i] >= 0)) return false;
  if (problem->G) return problem->G[at + (size_t)i] == 0 && row_fits(problem->G + at, problem->n);
  const ss_sparse *G = problem->sparse;
  return diagonal_vanishes(G, i) && row_fits(G->value + G->start[i], G->start[i + 1] - G->start[i]);
}

/* Any lambda at all? Operators are products of masses and directions and have none. */
static bool worth_a_search(const ss_cp *problem) {
  if (problem->factors) return false;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = block->first; block->kind == SS_BLOCK_NONNEGATIVE && i < block->first + block->size; i++)
      if (looks_like_lambda(problem, i)) return true;
  }
  return false;
}

/* ---- what is in the columns ---- */

static void look_at_dense_columns(search *s) {
  const int n = s->problem->n;
  for (int i = 0; i < n; i++) {
    const double *row = s->problem->G + (size_t)i * (size_t)n;
    for (int k = 0; k < s->n_lambdas; k++) s->nonzeros[s->lambda[k]] += row[s->lambda[k]] != 0;
    if (s->is_lambda[i]) continue;
    for (int j = 0; j < n; j++) {
      const double x = fabs(row[j]);
      s->size[j] = x > s->size[j] ? x : s->size[j];
    }
  }
}

static void look_at_sparse_columns(search *s) {
  const ss_sparse *G = s->problem->sparse;
  for (int i = 0; i < G->rows; i++)
    for (int k = G->start[i]; k < G->start[i + 1]; k++) {
      const int j = G->col[k];
      s->nonzeros[j] += G->value[k] != 0;
      if (!s->is_lambda[i]) s->size[j] = fmax(s->size[j], fabs(G->value[k]));
    }
}

/* ---- the lambdas ---- */

static double entry(const ss_cp *problem, int i, int j) {
  if (problem->G) return problem->G[(size_t)i * (size_t)problem->n + (size_t)j];
  const ss_sparse *G = problem->sparse;
  for (int k = G->start[i]; k < G->start[i + 1]; k++)
    if (G->col[k] == j) return G->value[k];
  return 0;
}

/* The row of a lambda: its normal, and its directions at the end of the list, with -entry as scale of their columns. */
static bool list_directions(search *s, gathering *f) {
  recognition *r = s->out;
  const ss_sparse *G = s->problem->sparse;
  const int n = s->problem->n, count = G ? G->start[f->lambda + 1] - G->start[f->lambda] : n;
  const double *value = G ? G->value + G->start[f->lambda] : s->problem->G + (size_t)f->lambda * (size_t)n;
  for (int k = 0; k < count; k++) {
    const int j = G ? G->col[G->start[f->lambda] + k] : k;
    const double x = value[k];
    if (x == 0) continue;
    if (!s->nonnegative[j] || r->owner[j] >= 0 || (x < 0 && f->count == MOST_DIRECTIONS)) return false;
    if (x > 0) {
      f->normal = j;
      f->mu = x;
      continue;
    }
    r->direction[f->first + f->count] = j;
    r->col_scale[f->first + f->count++] = -x;
  }
  return f->count > 0;
}

/* Its column: positive in the rows of its directions, zero elsewhere. */
static bool column_fits(search *s, const gathering *f) {
  recognition *r = s->out;
  if (s->nonzeros[f->lambda] != f->count) return false;
  for (int k = f->first; k < f->first + f->count; k++) {
    r->row_scale[k] = entry(s->problem, r->direction[k], f->lambda);
    if (!(r->row_scale[k] > 0)) return false;
  }
  return true;
}

/* Scales relative to those of the first direction: uniform ones change nothing. */
static void relative_scales(recognition *r, gathering *f) {
  const double row = r->row_scale[f->first], col = r->col_scale[f->first];
  for (int k = f->first; k < f->first + f->count; k++) {
    r->row_scale[k] = row / r->row_scale[k];
    r->col_scale[k] = col / r->col_scale[k];
  }
  f->mu /= col;
  f->room /= col;
  f->push = row;
}

/* ---- all together ---- */

static ss_status try_lambda(search *s, int lambda, int *listed, ss_error *error) {
  recognition *r = s->out;
  gathering f = {.lambda = lambda, .normal = -1, .first = *listed, .room = s->problem->g[lambda]};
  if (r->owner[lambda] >= 0 || !list_directions(s, &f) || !column_fits(s, &f)) return SS_OK;
  relative_scales(r, &f);
  bool fit;
  const ss_status status = directions_fit(s, &f, &fit, error);
  if (status || !fit) return status;
  r->owner[lambda] = r->count;
  for (int k = f.first; k < f.first + f.count; k++) r->owner[r->direction[k]] = r->count;
  r->found[r->count++] = f;
  *listed += f.count;
  return SS_OK;
}

void recognition_drop(recognition *r, int c) {
  gathering *f = &r->found[c];
  r->owner[f->lambda] = -1;
  for (int k = f->first; k < f->first + f->count; k++) r->owner[r->direction[k]] = -1;
  f->count = 0;
}

static ss_status create(search *s, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)s->problem->n;
  recognition *out = s->out;
  const bool sparse = !s->problem->G;
  double *memory = SCRATCH(w, double, (sparse ? 7 : 4) * n);
  out->found = SCRATCH(w, gathering, n);
  out->direction = SCRATCH(w, int, 4 * n);
  s->nonnegative = SCRATCH(w, bool, 2 * n);
  if (!memory || !out->found || !out->direction || !s->nonnegative) return out_of_memory(error);
  out->row_scale = memory;
  out->col_scale = memory + n;
  s->size = memory + 2 * n;
  s->row_size = memory + 3 * n;
  for (int k = 0; sparse && k < 3; k++) s->line[k] = memory + (size_t)(4 + k) * n;
  out->owner = out->direction + n;
  s->nonzeros = out->owner + n;
  s->lambda = s->nonzeros + n;
  s->is_lambda = s->nonnegative + n;
  for (size_t i = 0; i < n; i++) {
    s->size[i] = 0;
    s->nonzeros[i] = 0;
    out->owner[i] = -1;
    s->largest = fmax(s->largest, fabs(s->problem->g[i]));
    for (int k = 0; sparse && k < 3; k++) s->line[k][i] = 0;
  }
  for (int b = 0; b < s->problem->n_blocks; b++) {
    const ss_block *block = &s->problem->blocks[b];
    for (int i = block->first; i < block->first + block->size; i++) {
      s->nonnegative[i] = block->kind == SS_BLOCK_NONNEGATIVE;
      s->is_lambda[i] = s->nonnegative[i] && looks_like_lambda(s->problem, i);
      if (s->is_lambda[i]) s->lambda[s->n_lambdas++] = i;
    }
  }
  return SS_OK;
}

ss_status recognise(const ss_cp *problem, ss_cp_workspace *w, recognition *out, ss_error *error) {
  *out = (recognition){0};
  if (!worth_a_search(problem)) return SS_OK;
  search s = {.problem = problem, .out = out, .workspace = w};
  ss_status status = create(&s, w, error);
  if (status) return status;
  if (problem->G)
    look_at_dense_columns(&s);
  else
    look_at_sparse_columns(&s);
  int listed = 0;
  for (int k = 0; k < s.n_lambdas && !status; k++) status = try_lambda(&s, s.lambda[k], &listed, error);
  if (status || out->count == 0) return status;
  status = columns_fit(&s, error);
  for (int c = 0; c < out->count && !status; c++) { /* a normal is no direction and no lambda of another one */
    const int normal = out->found[c].normal;
    if (out->found[c].count && normal >= 0 && out->owner[normal] >= 0) recognition_drop(out, c);
  }
  return status;
}
