/* ADMM (alternating direction method of multipliers) on De Saxce's form of the problem.
 *
 *     x = argmin x G x / 2 + (g + s) x + rho |x - y + u|^2 / 2,    y = P_K(x + u),    u += x - y
 *
 * with K the product of the blocks' sets and s = mu |w_t| on the normal rows, w = -rho u, updated with every pass, which makes the fixed points those
 * of Coulomb's law (as in Boyd et al. 2011, and Acary & Cadoux 2013 for s). The linear system G + rho 1 is factored once and
 * again where rho changes (residual balancing). For fixed s and positive semi-definite symmetric G it always converges; slowly near the
 * end, so that Newton steps follow. For discs and intervals. Fails at the limit. */
#include "cp/block_lu.h"
#include "cp/large.h"

#include <math.h>
#include <string.h>

typedef struct admm {
  large *l;
  block_lu lu;
  double rho;
  double *x, *y, *u, *r; /* [n] */
} admm;

/* Nearest point of |t| <= mu n. */
static void project_cone(double *p, int size, double mu) {
  double norm = 0;
  for (int i = 1; i < size; i++) norm += p[i] * p[i];
  norm = sqrt(norm);
  if (norm <= mu * p[0]) return;
  const double n = (p[0] + mu * norm) / (1 + mu * mu);
  for (int i = 1; i < size; i++) p[i] = n > 0 ? mu * n * p[i] / norm : 0;
  p[0] = fmax(n, 0);
}

static void project(const large *l, double *y) {
  for (int b = 0; b < l->cp.n_blocks; b++) {
    const ss_block *block = &l->cp.blocks[b];
    if (block->kind == SS_BLOCK_FRICTION) {
      project_cone(y + block->first, block->size, block->mu);
      continue;
    }
    for (int i = block->first; i < block->first + block->size; i++) {
      if (block->kind == SS_BLOCK_NONNEGATIVE) y[i] = fmax(y[i], 0);
      if (block->kind == SS_BLOCK_BOX) y[i] = fmin(fmax(y[i], block->lower), block->upper);
    }
  }
}

static bool factor(admm *a) {
  const node_matrix *G = &a->l->G;
  block_lu_clear(&a->lu);
  for (int r = 0; r < G->nodes; r++)
    for (int k = G->start[r]; k < G->start[r + 1]; k++) {
      const int c = G->col[k], rows = G->first[r + 1] - G->first[r], cols = G->first[c + 1] - G->first[c];
      double *to = block_lu_entry(&a->lu, r, c);
      memcpy(to, G->value + G->at[k], sizeof *to * (size_t)(rows * cols));
      for (int i = 0; r == c && i < rows; i++) to[i * (rows + 1)] += a->rho;
    }
  return block_lu_factor(&a->lu);
}

/* One pass; the primal and dual residuals for the choice of rho. */
static void pass(admm *a, double *primal, double *dual) {
  static const double relaxation = 1.5;
  large *l = a->l;
  const int n = l->cp.n;
  for (int i = 0; i < n; i++) a->r[i] = a->rho * (a->y[i] - a->u[i]) - l->g[i];
  for (int b = 0; b < l->cp.n_blocks; b++) {
    const ss_block *block = &l->cp.blocks[b];
    if (block->kind != SS_BLOCK_FRICTION) continue;
    double slip = 0;
    for (int i = 1; i < block->size; i++) slip += a->u[block->first + i] * a->u[block->first + i];
    a->r[block->first] -= block->mu * a->rho * sqrt(slip); /* w = -rho u */
  }
  block_lu_solve(&a->lu, a->r, a->x);
  for (int i = 0; i < n; i++) a->x[i] = relaxation * a->x[i] + (1 - relaxation) * a->y[i];
  *primal = *dual = 0;
  for (int i = 0; i < n; i++) {
    a->r[i] = a->y[i];
    a->y[i] = a->x[i] + a->u[i];
  }
  project(l, a->y);
  for (int i = 0; i < n; i++) {
    a->u[i] += a->x[i] - a->y[i];
    *primal = fmax(*primal, fabs(a->x[i] - a->y[i]));
    *dual = fmax(*dual, a->rho * fabs(a->y[i] - a->r[i]));
  }
}

/* rho so that neither residual lags behind; the scaled multipliers follow. */
static bool balance(admm *a, double primal, double dual) {
  const double factor_of = primal > 10 * dual ? 4 : dual > 10 * primal ? 0.25 : 1;
  if (factor_of == 1) return true;
  a->rho *= factor_of;
  for (int i = 0; i < a->l->cp.n; i++) a->u[i] /= factor_of;
  return factor(a);
}

static void keep(admm *a) {
  const double residual = large_judge(a->l, a->y, a->l->w);
  if (!(residual < a->l->residual)) return;
  a->l->residual = residual;
  memcpy(a->l->x, a->y, sizeof(double) * (size_t)a->l->cp.n);
}

static ss_status prepare(admm *a, large *l, double most, ss_cp_workspace *w, bool *affordable, ss_error *error) {
  const size_t n = (size_t)l->cp.n;
  *a = (admm){.l = l, .rho = 0.1, .x = SCRATCH(w, double, 4 * n)};
  int *size = SCRATCH(w, int, l->G.nodes);
  if (!a->x || !size) return out_of_memory(error);
  a->y = a->x + n;
  a->u = a->y + n;
  a->r = a->u + n;
  for (int r = 0; r < l->G.nodes; r++) size[r] = l->G.first[r + 1] - l->G.first[r];
  memcpy(a->y, l->x, sizeof(double) * n);
  bool warm = false;
  for (size_t i = 0; i < n; i++) warm |= l->x[i] != 0;
  for (size_t i = 0; i < n; i++) a->u[i] = warm ? -l->w[i] / a->rho : 0;
  return block_lu_analyse(&a->lu, l->G.nodes, size, l->G.start, l->G.col, most, w, affordable, error);
}

ss_status large_admm(large *l, int limit, double most, ss_cp_workspace *w, ss_error *error) {
  enum { CHECK = 10, BALANCE = 50, LAST_BALANCE = 1000 };
  const scratch_mark mark = scratch_now(w);
  admm a;
  bool going = true, tried;
  ss_status status = prepare(&a, l, most, w, &going, error);
  going = !status && going && factor(&a);
  for (int k = 1; going && k <= limit && l->residual > l->goal; k++, l->iterations++) {
    double primal, dual;
    pass(&a, &primal, &dual);
    if (k % CHECK == 0) keep(&a);
    if (k % BALANCE == 0 && k <= LAST_BALANCE) going = balance(&a, primal, dual);
  }
  l->residual = large_judge(l, l->x, l->w);
  scratch_release(w, mark);
  return status || l->residual <= l->goal ? status : large_newton(l, 20, most, w, &tried, error);
}
