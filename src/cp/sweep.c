/* Nonsmooth Gauss-Seidel (Moreau, Jean): block after block is solved exactly for its own unknowns, with all others fixed.
 * Converges for positive definite problems with moderate friction, linearly, and slowly where contacts are redundant;
 * never fails badly, which makes it the source of good starts for the Newton method. */
#include "cp/sweep.h"

#include "cp/local.h"
#include "cp/ordering.h"

#include <math.h>
#include <string.h>

ss_status sweeper_create(active_set *set, ss_cp_workspace *w, sweeper *out, ss_error *error) {
  const ss_cp *problem = set->problem;
  const size_t n = (size_t)problem->n;
  *out = (sweeper){.problem = problem, .set = set, .factor = 1};
  size_t count = 0;
  for (size_t i = 0; i < n * n; i++) count += problem->G[i] != 0;
  out->start = SCRATCH(w, int, n + 1);
  out->col = SCRATCH(w, int, count);
  out->value = SCRATCH(w, double, count);
  if (!out->start || !out->col || !out->value) return out_of_memory(error);
  int k = 0;
  for (size_t i = 0; i < n; i++) {
    out->start[i] = k;
    for (size_t j = 0; j < n; j++) {
      const double x = problem->G[i * n + j];
      if (x == 0) continue;
      out->col[k] = (int)j;
      out->value[k++] = x;
    }
  }
  out->start[n] = k;
  return SS_OK;
}

/* Sites in the order in which their first rows are met. */
ss_status sweeper_order(sweeper *s, ss_cp_order kind, ss_cp_workspace *w, ss_error *error) {
  if (kind == SS_ORDER_GIVEN) return SS_OK;
  const int n = s->problem->n;
  int *rows = SCRATCH(w, int, 2 * (size_t)n), *site_of = rows ? rows + n : NULL;
  bool *seen = SCRATCH(w, bool, n);
  s->order = SCRATCH(w, int, s->set->n_sites);
  if (!rows || !seen || !s->order) return out_of_memory(error);
  order_nodes(&(ss_graph){n, s->start, s->col}, kind, rows, seen);
  for (int i = 0; i < n; i++) site_of[i] = -1;
  for (int k = 0; k < s->set->n_sites; k++) site_of[s->set->sites[k].row] = k;
  for (int k = 0, count = 0; k < n; k++)
    if (site_of[rows[k]] >= 0) s->order[count++] = site_of[rows[k]];
  return SS_OK;
}

static double row_value(const sweeper *s, int i, const double *z) {
  double sum = s->problem->g[i];
  for (int k = s->start[i]; k < s->start[i + 1]; k++) sum += s->value[k] * z[s->col[k]];
  return sum;
}

void sweeper_apply(const sweeper *s, const double *z, double *w) {
  for (int i = 0; i < s->problem->n; i++) w[i] = row_value(s, i, z);
}

static void sweep_row(const sweeper *s, const ss_block *block, int i, double *z) {
  const double d = s->problem->G[(size_t)i * ((size_t)s->problem->n + 1)];
  if (!(d > 0)) return;
  const double x = z[i] - row_value(s, i, z) / d;
  if (block->kind == SS_BLOCK_NONNEGATIVE)
    z[i] = x > 0 ? x : 0;
  else if (block->kind == SS_BLOCK_BOX)
    z[i] = x < block->lower ? block->lower : x > block->upper ? block->upper : x;
  else
    z[i] = x;
}

static void sweep_friction(const sweeper *s, const site *where, double *z) {
  const int size = where->block->size, row = where->row;
  const size_t n = (size_t)s->problem->n;
  double W[SS_FRICTION_ROWS * SS_FRICTION_ROWS], q[SS_FRICTION_ROWS];
  for (int i = 0; i < size; i++) {
    q[i] = row_value(s, row + i, z);
    for (int j = 0; j < size; j++) {
      W[i * size + j] = s->problem->G[(size_t)(row + i) * n + (size_t)(row + j)];
      q[i] -= W[i * size + j] * z[row + j];
    }
  }
  (void)local_friction(where, W, q, z + row); /* no local solution: the block keeps its impulse in this pass */
}

void sweep(const sweeper *s, double *z, bool backwards) {
  const active_set *set = s->set;
  const ss_cp *problem = s->problem;
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind == SS_BLOCK_FREE)
      for (int i = 0; i < problem->blocks[b].size; i++)
        sweep_row(s, &problem->blocks[b], problem->blocks[b].first + i, z);
  for (int k = 0; k < set->n_sites; k++) {
    const int next = backwards ? set->n_sites - 1 - k : k;
    const site *where = &set->sites[s->order ? s->order[next] : next];
    double old[SS_FRICTION_ROWS];
    const int size = where->block->kind == SS_BLOCK_FRICTION ? where->block->size : 1;
    if (s->factor != 1) memcpy(old, z + where->row, sizeof *old * (size_t)size);
    if (where->block->kind == SS_BLOCK_FRICTION)
      sweep_friction(s, where, z);
    else
      sweep_row(s, where->block, where->row, z);
    if (s->factor != 1) over_relax(where->block, s->factor, old, z + where->row);
  }
}
