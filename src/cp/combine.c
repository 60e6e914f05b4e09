/* Rows without a diagonal get one: in  0 = A v - J^T z + f,  w = J v + R z + g  the free rows vanish at every solution, so that
 * multiples of them may be added to other rows. With D, the diagonal of A,
 *
 *     w = J (1 - D^-1 A) v + (R + J D^-1 J^T) z + g - J D^-1 f
 *
 * has the same solutions, and what the sparse methods need: a contact's row meets itself. Rows of joints are treated alike, with
 * the sign that makes their diagonal positive. For an A that cannot be eliminated because it connects everything (springs between
 * bodies, finite elements); bodies of their own are eliminated (condense.c). */
#include "cp/reduce.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <limits.h>

typedef struct combination {
  const ss_cp *given;
  const ss_sparse *G;
  double *diagonal; /* [n] */
  bool *free_row;   /* [n] */
  double *sum;      /* [n] accumulator of one row */
  int *mark;        /* [n] row in which a column was found last */
  int *start, *col;
  double *value, *g;
  size_t count;
} combination;

static void find_rows(combination *c) {
  for (int b = 0; b < c->given->n_blocks; b++) {
    const ss_block *block = &c->given->blocks[b];
    for (int i = block->first; i < block->first + block->size; i++) {
      c->free_row[i] = block_is_free(block);
      c->diagonal[i] = 0;
      for (int k = c->G->start[i]; k < c->G->start[i + 1]; k++)
        if (c->G->col[k] == i) c->diagonal[i] = c->G->value[k];
    }
  }
}

/* Whether column k is a free row that row i, which has no diagonal, takes a multiple of. */
static bool is_taken(const combination *c, int i, int k) {
  const int j = c->G->col[k];
  return !(c->diagonal[i] > 0) && j != i && c->free_row[j] && c->diagonal[j] > 0;
}

/* Entries that the combined rows may have; 0: no row is without a diagonal. */
static size_t count_entries(const combination *c) {
  size_t entries = 0;
  bool needed = false;
  for (int i = 0; i < c->given->n; i++) {
    entries += (size_t)(c->G->start[i + 1] - c->G->start[i]);
    for (int k = c->G->start[i]; k < c->G->start[i + 1]; k++)
      if (is_taken(c, i, k)) {
        entries += (size_t)(c->G->start[c->G->col[k] + 1] - c->G->start[c->G->col[k]]);
        needed = true;
      }
  }
  return needed ? entries : 0;
}

static void add_row(combination *c, int i, int from, double factor) {
  for (int k = c->G->start[from]; k < c->G->start[from + 1]; k++) {
    const int j = c->G->col[k];
    if (c->mark[j] != i) {
      c->mark[j] = i;
      c->sum[j] = 0;
      c->col[c->count++] = j;
    }
    c->sum[j] += factor * c->G->value[k];
  }
}

static void combine_row(combination *c, int i) {
  const size_t first = c->start[i] = (int)c->count;
  c->g[i] = c->given->g[i];
  add_row(c, i, i, 1);
  for (int k = c->G->start[i]; k < c->G->start[i + 1]; k++) {
    const int j = c->G->col[k];
    const double factor = is_taken(c, i, k) ? c->G->value[k] / c->diagonal[j] : 0;
    if (factor == 0) continue;
    add_row(c, i, j, -factor);
    c->g[i] -= factor * c->given->g[j];
  }
  const double sign = c->free_row[i] && c->mark[i] == i && c->sum[i] < 0 ? -1 : 1;
  c->g[i] *= sign;
  sort_ascending(c->col + first, (int)(c->count - first));
  for (size_t k = first; k < c->count; k++) c->value[k] = sign * c->sum[c->col[k]];
}

static ss_status combine(combination *c, const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w, bool *worth,
                         ss_error *error) {
  const size_t n = (size_t)problem->n;
  *worth = false;
  *c = (combination){.given = problem, .G = G};
  c->diagonal = SCRATCH(w, double, 3 * n);
  c->free_row = SCRATCH(w, bool, n);
  c->mark = SCRATCH(w, int, 2 * n + 1);
  if (!c->diagonal || !c->free_row || !c->mark) return out_of_memory(error);
  find_rows(c);
  const size_t entries = count_entries(c);
  if (!entries || entries > INT_MAX) return SS_OK;
  c->sum = c->diagonal + n;
  c->g = c->sum + n;
  c->start = c->mark + n;
  c->col = SCRATCH(w, int, entries);
  c->value = SCRATCH(w, double, entries);
  if (!c->col || !c->value) return out_of_memory(error);
  for (size_t i = 0; i < n; i++) c->mark[i] = -1;
  for (int i = 0; i < problem->n; i++) combine_row(c, i);
  c->start[n] = (int)c->count;
  *worth = true;
  return SS_OK;
}

ss_status solve_combined(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                         ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  ss_sparse G;
  combination c;
  bool worth = false;
  result->outcome = SS_NOT_ADMITTED;
  if (problem->factors) return SS_OK; /* J A^-1 J^T has a diagonal */
  ss_status status = storage_rows(problem, workspace, &G, error);
  if (!status) status = combine(&c, problem, &G, workspace, &worth, error);
  if (status || !worth) return status;
  const ss_sparse rows = {problem->n, problem->n, c.start, c.col, c.value};
  const ss_cp combined = {
      .n = problem->n, .n_blocks = problem->n_blocks, .g = c.g, .blocks = problem->blocks, .sparse = &rows};
  ss_cp_options own = *options;
  own.tolerance *= fmin(1, 0.5 * (1 + largest_of(problem->g, problem->n)) / (1 + largest_of(c.g, problem->n)));
  status = ss_cp_solve(&combined, &own, warm, z, workspace, result, error);
  result->residual = -1; /* that of another problem */
  return status;
}
