/* Saddle-point problems: M v = f + J^T r, w = J v + b with the velocities v as free rows. M is block-diagonal (bodies), and
 *
 *     G_cc - G_ce G_ee^-1 G_ec,   g_c - G_ce G_ee^-1 g_e
 *
 * is as sparse as the graph of the contacts. The rows e are free ones with something on their diagonal, whose groups (connected
 * through G_ee) are small; joints, without a diagonal, remain and get one. Gaussian elimination with row exchanges in every group;
 * one that is singular remains as it is. */
#include "cp/condense.h"

#include "cp/reduce.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include "la/dissect.h"
#include "la/factor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TOGETHER = 60 };

static void find_diagonal(const ss_cp *problem, const ss_sparse *G, double *diagonal) {
  for (int i = 0; i < problem->n; i++) {
    diagonal[i] = 0;
    for (int k = G->start[i]; k < G->start[i + 1]; k++)
      if (G->col[k] == i) diagonal[i] = G->value[k];
  }
}

/* candidate[i]: a free row with a diagonal. Returns whether there are some, and rows that need it. */
static bool find_candidates(const ss_cp *problem, const double *diagonal, bool *candidate) {
  bool some = false, needed = false;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = block->first; i < block->first + block->size; i++) {
      candidate[i] = block_is_free(block) && diagonal[i] != 0;
      some = some || candidate[i];
      needed = needed || !(diagonal[i] > 0);
    }
  }
  return some && needed;
}

/* Groups of candidates, into c->group; other rows are groups of their own. */
static ss_status find_groups(condensed *c, const ss_sparse *G, const bool *candidate, int *groups, ss_cp_workspace *w,
                             ss_error *error) {
  const int n = c->n;
  ss_sparse T; /* the pattern need not be symmetric */
  ss_status status = sparse_transpose(G, w, &T, error);
  if (status) return status;
  int *start = SCRATCH(w, int, (size_t)n + 1), *col = SCRATCH(w, int, 2 * (size_t)G->start[n]);
  int *queue = SCRATCH(w, int, n);
  if (!start || !col || !queue) return out_of_memory(error);
  int at = 0;
  for (int i = 0; i < n; i++) {
    start[i] = at;
    for (int side = 0; side < 2 && candidate[i]; side++) {
      const ss_sparse *m = side ? &T : G;
      for (int k = m->start[i]; k < m->start[i + 1]; k++)
        if (candidate[m->col[k]]) col[at++] = m->col[k];
    }
  }
  start[n] = at;
  *groups = ss_components(&(ss_graph){n, start, col}, c->group, queue);
  return SS_OK;
}

/* Groups that are candidates and small become the groups 0, 1, .. that are eliminated; the rows of others get -1. */
static int choose_groups(condensed *c, const bool *candidate, int groups, int *count, int *number) {
  int chosen = 0;
  for (int k = 0; k < groups; k++) count[k] = 0;
  for (int i = 0; i < c->n; i++) count[c->group[i]]++;
  for (int k = 0; k < groups; k++) number[k] = -1;
  for (int i = 0; i < c->n; i++) {
    const int k = c->group[i];
    if (candidate[i] && number[k] < 0 && count[k] <= MOST_TOGETHER) number[k] = chosen++;
  }
  for (int i = 0; i < c->n; i++) c->group[i] = number[c->group[i]];
  return chosen;
}

/* Members of the groups, and the places of the rows that remain. */
static void list_members(condensed *c, int groups) {
  int rows = 0;
  for (int k = 0; k <= groups; k++) c->first[k] = 0;
  for (int i = 0; i < c->n; i++) {
    const int k = c->group[i];
    c->place[i] = k < 0 ? rows++ : -1 - c->first[k + 1]++;
  }
  for (int k = 0; k < groups; k++) c->first[k + 1] += c->first[k];
  for (int i = 0; i < c->n; i++)
    if (c->group[i] >= 0) c->member[c->first[c->group[i]] + (-1 - c->place[i])] = i;
  c->cp.n = rows;
}

/* The rows that remain and that each group meets: touched, touches; returns how many numbers their X have together. */
static size_t list_touched(condensed *c, const ss_sparse *G, int groups, int *mark) {
  size_t numbers = 0;
  int count = 0;
  for (int i = 0; i < c->cp.n; i++) mark[i] = -1;
  for (int k = 0; k < groups; k++) {
    c->touched[k] = count;
    for (int m = c->first[k]; m < c->first[k + 1]; m++)
      for (int e = G->start[c->member[m]]; e < G->start[c->member[m] + 1]; e++) {
        const int place = c->place[G->col[e]];
        if (place < 0 || mark[place] == k) continue;
        mark[place] = k;
        c->touches[count++] = place;
      }
    c->at[k] = numbers;
    numbers += (size_t)(c->first[k + 1] - c->first[k]) * (size_t)(count - c->touched[k] + 1);
  }
  c->touched[groups] = count;
  return numbers;
}

/* X of group k; column[]: where a row that remains stands among those that the group meets. False where it is singular. */
static bool solve_group(condensed *c, const ss_cp *problem, const ss_sparse *G, int k, int *column) {
  const int size = c->first[k + 1] - c->first[k], others = c->touched[k + 1] - c->touched[k];
  double A[MOST_TOGETHER * MOST_TOGETHER], *x = c->x + c->at[k];
  int pivot[MOST_TOGETHER];
  memset(A, 0, sizeof *A * (size_t)(size * size));
  memset(x, 0, sizeof *x * (size_t)size * (size_t)(others + 1));
  for (int j = 0; j < others; j++) column[c->touches[c->touched[k] + j]] = j;
  for (int m = 0; m < size; m++) {
    const int row = c->member[c->first[k] + m];
    double *line = x + (size_t)m * (size_t)(others + 1);
    for (int e = G->start[row]; e < G->start[row + 1]; e++) {
      const int place = c->place[G->col[e]];
      if (place >= 0)
        line[column[place]] = G->value[e];
      else
        A[m * size + (-1 - place)] = G->value[e];
    }
    line[others] = problem->g[row];
  }
  if (!ss_dense_factor(A, size, pivot)) return false;
  ss_dense_solve(A, size, pivot, x, others + 1);
  return true;
}

typedef struct accumulator {
  double *sum;  /* [rows] of one row */
  int *found;   /* [rows] its columns */
  int *mark;    /* [rows] row for which a column was found last */
  double right; /* of that row */
  int row, count;
} accumulator;

static void add(accumulator *a, int j, double value) {
  if (a->mark[j] != a->row) {
    a->mark[j] = a->row;
    a->sum[j] = 0;
    a->found[a->count++] = j;
  }
  a->sum[j] += value;
}

/* Row i of the given matrix, which remains, without the eliminated columns. */
static void condense_row(const condensed *c, const ss_cp *problem, const ss_sparse *G, int i, accumulator *a) {
  a->row = i;
  a->count = 0;
  a->right = problem->g[i];
  for (int e = G->start[i]; e < G->start[i + 1]; e++) {
    const int place = c->place[G->col[e]];
    if (place >= 0) {
      add(a, place, G->value[e]);
      continue;
    }
    const int k = c->group[G->col[e]], others = c->touched[k + 1] - c->touched[k];
    const double *line = c->x + c->at[k] + (size_t)(-1 - place) * (size_t)(others + 1);
    for (int j = 0; j < others; j++) add(a, c->touches[c->touched[k] + j], -G->value[e] * line[j]);
    a->right -= G->value[e] * line[others];
  }
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static ss_status fill(condensed *c, const ss_cp *problem, const ss_sparse *G, double *g, ss_cp_workspace *w,
                      ss_error *error) {
  const size_t rows = (size_t)c->cp.n;
  accumulator a = {.sum = SCRATCH(w, double, rows), .found = SCRATCH(w, int, rows), .mark = SCRATCH(w, int, rows)};
  int *start = SCRATCH(w, int, rows + 1);
  if (!a.sum || !a.found || !a.mark || !start) return out_of_memory(error);
  size_t total = 0;
  for (size_t i = 0; i < rows; i++) a.mark[i] = -1;
  for (int i = 0; i < c->n; i++) {
    if (c->place[i] < 0) continue;
    condense_row(c, problem, G, i, &a);
    start[c->place[i]] = (int)total;
    g[c->place[i]] = a.right;
    total += (size_t)a.count;
    if (total > INT_MAX) return ss_fail(error, SS_ERROR_UNSUPPORTED, "too many entries without the free rows");
  }
  start[rows] = (int)total;
  int *col = SCRATCH(w, int, total);
  double *value = SCRATCH(w, double, total);
  if (!col || !value) return out_of_memory(error);
  for (size_t i = 0; i < rows; i++) a.mark[i] = -1;
  for (int i = 0, at = 0; i < c->n; i++) {
    if (c->place[i] < 0) continue;
    condense_row(c, problem, G, i, &a);
    qsort(a.found, (size_t)a.count, sizeof *a.found, ascending);
    for (int k = 0; k < a.count; k++, at++) {
      col[at] = a.found[k];
      value[at] = a.sum[a.found[k]];
    }
  }
  c->G = (ss_sparse){c->cp.n, c->cp.n, start, col, value};
  return SS_OK;
}

static int copy_blocks(const condensed *c, const ss_cp *problem, ss_block *blocks) {
  int count = 0, row = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    ss_block block = problem->blocks[b];
    int kept = 0;
    for (int i = block.first; i < block.first + block.size; i++) kept += c->place[i] >= 0;
    if (kept == 0) continue;
    block.first = row;
    block.size = kept;
    row += kept;
    blocks[count++] = block;
  }
  return count;
}

/* Everything after the choice of the groups; *worth is false where one of them is singular. */
static ss_status eliminate(condensed *c, const ss_cp *problem, const ss_sparse *G, int groups, ss_cp_workspace *w,
                           bool *worth, ss_error *error) {
  const size_t n = (size_t)c->n;
  int *integers = SCRATCH(w, int, 2 * (size_t)groups + 2 + 2 * n), *mark = NULL;
  c->touches = SCRATCH(w, int, G->start[n] + 1);
  c->at = SCRATCH(w, size_t, groups);
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks);
  double *g = SCRATCH(w, double, n);
  if (!integers || !c->touches || !c->at || !blocks || !g) return out_of_memory(error);
  c->first = integers;
  c->touched = c->first + groups + 1;
  c->member = c->touched + groups + 1;
  mark = c->member + n;
  list_members(c, groups);
  c->x = SCRATCH(w, double, list_touched(c, G, groups, mark));
  if (!c->x) return out_of_memory(error);
  for (int k = 0; k < groups; k++)
    if (!solve_group(c, problem, G, k, mark)) return SS_OK;
  const ss_status status = fill(c, problem, G, g, w, error);
  if (status) return status;
  c->cp.g = g;
  c->cp.blocks = blocks;
  c->cp.n_blocks = copy_blocks(c, problem, blocks);
  *worth = true;
  return SS_OK;
}

ss_status condense(const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w, condensed *out, bool *worth,
                   ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = (condensed){.n = problem->n};
  *worth = false;
  double *diagonal = SCRATCH(w, double, n);
  bool *candidate = SCRATCH(w, bool, n);
  if (!diagonal || !candidate) return out_of_memory(error);
  find_diagonal(problem, G, diagonal);
  if (!find_candidates(problem, diagonal, candidate)) return SS_OK;
  int *integers = SCRATCH(w, int, 4 * n), groups = 0;
  if (!integers) return out_of_memory(error);
  out->place = integers;
  out->group = integers + n;
  const ss_status status = find_groups(out, G, candidate, &groups, w, error);
  if (status) return status;
  groups = choose_groups(out, candidate, groups, integers + 2 * n, integers + 3 * n);
  return groups ? eliminate(out, problem, G, groups, w, worth, error) : SS_OK;
}

void condensed_recover(const condensed *c, const double *rest, double *z) {
  for (int i = 0; i < c->n; i++) {
    if (c->place[i] >= 0) {
      z[i] = rest[c->place[i]];
      continue;
    }
    const int k = c->group[i], others = c->touched[k + 1] - c->touched[k];
    const double *line = c->x + c->at[k] + (size_t)(-1 - c->place[i]) * (size_t)(others + 1);
    double sum = line[others];
    for (int j = 0; j < others; j++) sum += line[j] * rest[c->touches[c->touched[k] + j]];
    z[i] = -sum;
  }
}

/* `c` solved by "auto", and z of the given problem from it. */
static ss_status solve_condensed(condensed *c, const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                 ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  double *rest = SCRATCH(w, double, c->cp.n);
  if (!rest) return out_of_memory(error);
  ss_cp_options own = *options;
  const double given = 1 + largest_of(problem->g, problem->n), left = 1 + largest_of(c->cp.g, c->cp.n);
  own.solver = "auto";
  own.tolerance *= fmin(1, 0.5 * given / left); /* the judge divides by them */
  for (int i = 0; i < problem->n && warm; i++)
    if (c->place[i] >= 0) rest[c->place[i]] = z[i];
  c->cp.sparse = &c->G;
  const ss_status status = ss_cp_solve(&c->cp, &own, warm, rest, w, result, error);
  result->residual = -1; /* that of another problem */
  if (!status) condensed_recover(c, rest, z);
  return status;
}

ss_status solve_without_free(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  ss_sparse G;
  condensed c;
  bool worth = false;
  result->outcome = SS_NOT_ADMITTED;
  if (problem->factors || !some_free(problem)) return SS_OK; /* J A^-1 J^T has a diagonal */
  ss_status status = storage_rows(problem, workspace, &G, error);
  if (!status) status = condense(problem, &G, workspace, &c, &worth, error);
  return status || !worth ? status : solve_condensed(&c, problem, options, warm, z, workspace, result, error);
}
