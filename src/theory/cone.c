/* Elimination of joints from the Gram matrix of an impact, and the friction sets' support functions.
 *
 * With J the rows of joints and contacts, G = J M^-1 J^T holds the inner products of their impulses in the norm of
 * kinetic energy. Pivoted Cholesky of the joint rows tells which of them are independent; what is left of the contact
 * rows, the Schur complement, holds the inner products of the contact impulses' parts across the joints (the reduced
 * friction cone, MDI (3.8)). */
#include "theory/cone.h"

#include "core/arena.h"

#include <math.h>

static const double dependent = 1e-12; /* what is left of a row's square, relative to the row */

static double *entry(double *a, int n, int i, int j) { return a + (size_t)i * (size_t)n + (size_t)j; }

/* One step: column k of the factor from pivot row p, subtracted from what is left. */
static void eliminate(ss_cone_gram *g, int k, int p) {
  const int n = g->n, m = g->n_free;
  const double root = sqrt(*entry(g->reduced, n, p, p));
  for (int i = 0; i < n; i++) *entry(g->factor, m, i, k) = *entry(g->reduced, n, i, p) / root;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) *entry(g->reduced, n, i, j) -= *entry(g->factor, m, i, k) * *entry(g->factor, m, j, k);
}

/* x from L L^T x = b in the order of elimination. */
static void solve_factor(const ss_cone_gram *g, double *x) {
  const int m = g->n_free;
  for (int k = 0; k < g->rank; k++) {
    for (int l = 0; l < k; l++) x[k] -= *entry(g->factor, m, g->pivot[k], l) * x[l];
    x[k] /= *entry(g->factor, m, g->pivot[k], k);
  }
  for (int k = g->rank - 1; k >= 0; k--) {
    for (int l = k + 1; l < g->rank; l++) x[k] -= *entry(g->factor, m, g->pivot[l], k) * x[l];
    x[k] /= *entry(g->factor, m, g->pivot[k], k);
  }
}

/* Smallest eigenvalue of the independent rows' Gram matrix by inverse iteration. */
static double softest(const ss_cone_gram *g, double *x) {
  enum { ITERATIONS = 200 };
  double value = HUGE_VAL;
  for (int k = 0; k < g->rank; k++) x[k] = 1 + 0.1 * k;
  for (int iteration = 0; g->rank && iteration < ITERATIONS; iteration++) {
    double norm = 0;
    for (int k = 0; k < g->rank; k++) norm += x[k] * x[k];
    norm = sqrt(norm);
    for (int k = 0; k < g->rank; k++) x[k] /= norm;
    solve_factor(g, x);
    double size = 0;
    for (int k = 0; k < g->rank; k++) size += x[k] * x[k];
    value = 1 / sqrt(size);
  }
  return value;
}

ss_status ss_cone_gram_create(const ss_cp *problem, ss_arena *arena, ss_cone_gram *out, ss_error *error) {
  const int n = problem->n;
  *out = (ss_cone_gram){.problem = problem, .n = n};
  for (int b = 0; b < problem->n_blocks && problem->blocks[b].kind == SS_BLOCK_FREE; b++)
    out->n_free += problem->blocks[b].size;
  const int m = out->n_free;
  out->reduced = SS_ARENA_ARRAY(arena, double, (size_t)n *(size_t)n + 1);
  out->factor = SS_ARENA_ARRAY(arena, double, (size_t)n *(size_t)m + 1);
  out->pivot = SS_ARENA_ARRAY(arena, int, m + 1);
  out->scratch = SS_ARENA_ARRAY(arena, double, m + 1);
  if (!out->reduced || !out->factor || !out->pivot || !out->scratch)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) out->reduced[i] = problem->G[i];
  for (int i = 0; i < m; i++) out->pivot[i] = i;
  for (int k = 0; k < m; k++) {
    int best = k;
    double most = 0;
    for (int i = k; i < m; i++) {
      const int row = out->pivot[i];
      const double left = *entry(out->reduced, n, row, row) / problem->G[(size_t)row * ((size_t)n + 1)];
      if (left > most) most = left, best = i;
    }
    if (!(most > dependent)) break;
    const int row = out->pivot[best];
    out->pivot[best] = out->pivot[k];
    out->pivot[k] = row;
    eliminate(out, k, row);
    out->rank++;
  }
  out->softest = softest(out, out->scratch);
  return SS_OK;
}

/* Solves with the vector in g->scratch and puts the answer at the rows it belongs to; dependent rows get zero. */
static void scatter_solution(const ss_cone_gram *g, double *z) {
  solve_factor(g, g->scratch);
  for (int k = 0; k < g->n_free; k++) z[g->pivot[k]] = k < g->rank ? g->scratch[k] : 0;
}

void ss_cone_balance(const ss_cone_gram *g, double *z) {
  for (int k = 0; k < g->rank; k++) {
    const double *row = g->problem->G + (size_t)g->pivot[k] * (size_t)g->n;
    g->scratch[k] = 0;
    for (int j = g->n_free; j < g->n; j++) g->scratch[k] -= row[j] * z[j];
  }
  scatter_solution(g, z);
}

void ss_cone_stress(const ss_cone_gram *g, double *z) {
  const int extra = g->pivot[g->rank];
  for (int k = 0; k < g->rank; k++) g->scratch[k] = -g->problem->G[(size_t)g->pivot[k] * (size_t)g->n + (size_t)extra];
  scatter_solution(g, z);
  z[extra] = 1;
}

/* ---- friction sets ---- */

static double support_axes(const ss_block *block, const double *f, double *s) {
  double sum = 0;
  for (int i = 1; i < block->size; i++) {
    s[i] = f[i] > 0 ? -block->mu : block->mu;
    sum += s[i] * f[i];
  }
  return sum;
}

static double support_ball(const ss_block *block, const double *f, double *s) {
  double norm = 0;
  for (int i = 1; i < block->size; i++) norm += f[i] * f[i];
  norm = sqrt(norm);
  for (int i = 1; i < block->size; i++) s[i] = norm > 0 ? -block->mu * f[i] / norm : 0;
  return -block->mu * norm;
}

static double support_polygon(const ss_block *block, const double *f, double *s) {
  const double turn = 8 * atan(1) / block->directions;
  const double angle = turn * round(atan2(-f[2], -f[1]) / turn);
  s[1] = block->mu * cos(angle);
  s[2] = block->mu * sin(angle);
  return s[1] * f[1] + s[2] * f[2];
}

static double support_corners(const ss_block *block, const double *f, double *s) {
  const int n = block->size - 1;
  double lowest = 0;
  for (int k = 0; k < n; k++) s[1 + k] = 0;
  for (int i = 0; i < block->directions; i++) {
    const double *corner = block->generators + (ptrdiff_t)i * n;
    double sum = 0;
    for (int k = 0; k < n; k++) sum += block->mu * corner[k] * f[1 + k];
    if (!(sum < lowest)) continue;
    lowest = sum;
    for (int k = 0; k < n; k++) s[1 + k] = block->mu * corner[k];
  }
  return lowest;
}

double ss_cone_support(const ss_block *block, const double *f, double *s) {
  s[0] = 1;
  if (block->kind != SS_BLOCK_FRICTION) return f[0];
  if (block->cone == SS_CONE_GENERATED) return f[0] + support_corners(block, f, s);
  if (block->size == 2 || block->cone == SS_CONE_PYRAMID) return f[0] + support_axes(block, f, s);
  if (block->cone == SS_CONE_QUADRATIC) return f[0] + support_ball(block, f, s);
  return f[0] + support_polygon(block, f, s);
}
