/* Saddle-point problems: M v = f + J^T r, w = J v + b with the velocities v as free rows. M is block-diagonal (bodies), and
 *
 *     G_cc - G_ce G_ee^-1 G_ec,   g_c - G_ce G_ee^-1 g_e
 *
 * is as sparse as the graph of the contacts. The rows e are free ones with something on their diagonal, whose groups (connected
 * through G_ee) are small; joints, without a diagonal, remain and get one. Gaussian elimination with row exchanges in every group;
 * one that is singular remains as it is. */
#include "cp/reduce.h"
#include "cp/solver.h"
#include "cp/storage.h"
#include "la/dissect.h"
#include "la/dense.h"
#include "la/sparse.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct condensed {
  ss_cp cp;     /* what remains, sparse */
  ss_sparse G;  /* its matrix */
  int n;        /* rows of the given problem */
  int *place;   /* [n] row in what remains; -1 - (row within its group) for those that are eliminated */
  int *group;   /* [n] group of an eliminated row */
  int *first;   /* [groups + 1] members of group k: member[first[k]] .. */
  int *member;  /* [eliminated] */
  int *touched; /* rows that remain and that the group meets: touches[touched[k]] .. */
  int *touches;
  size_t *at; /* [groups] X_k = A_kk^-1 [A_kc g_k] in x: a line of touched numbers and one for g per member */
  double *x;
} condensed;

enum { MOST_TOGETHER = 60 };

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
  if (!ss_dense_factor(A, size, 0, pivot)) return false;
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
    sort_ascending(a.found, a.count);
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

/* Velocities as free rows, in groups that are coupled with each other (the masses of one body): eliminated where rows that remain
 * have nothing on their diagonal, which the solvers of large problems need. *worth is false, and nothing else set, where there is
 * nothing to be done, or the groups are too large. */
static ss_status condense(const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w, condensed *out, bool *worth,
                          ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = (condensed){.n = problem->n};
  *worth = false;
  double *diagonal = SCRATCH(w, double, n);
  bool *candidate = SCRATCH(w, bool, n);
  if (!diagonal || !candidate) return out_of_memory(error);
  for (int i = 0; i < problem->n; i++) diagonal[i] = sparse_diagonal(G, i);
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

/* z of the given problem from that of what remains. */
static void condensed_recover(const condensed *c, const double *rest, double *z) {
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

/* Rows without a diagonal get one: in  0 = A v - J^T z + f,  w = J v + R z + g  the free rows vanish at every solution, so that
 * multiples of them may be added to other rows. With D, the diagonal of A,
 *
 *     w = J (1 - D^-1 A) v + (R + J D^-1 J^T) z + g - J D^-1 f
 *
 * has the same solutions, and what the sparse methods need: a contact's row meets itself. Rows of joints are treated alike, with
 * the sign that makes their diagonal positive. For an A that cannot be eliminated because it connects everything (springs between
 * bodies, finite elements); bodies of their own are eliminated. */

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
  int gained; /* rows that have got a diagonal */
} combination;

static void find_rows(combination *c) {
  for (int b = 0; b < c->given->n_blocks; b++) {
    const ss_block *block = &c->given->blocks[b];
    for (int i = block->first; i < block->first + block->size; i++) {
      c->free_row[i] = block_is_free(block);
      c->diagonal[i] = sparse_diagonal(c->G, i);
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
  c->gained += !(c->diagonal[i] > 0) && c->mark[i] == i && sign * c->sum[i] > 0;
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
  *worth = c->gained > 0; /* else the new problem would be posed anew without end */
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

/* Large problems without any friction, mu = 0, whose contacts were posed with tangents: z_t = 0, whatever w_t is. The tangent rows are
 * left out and the normal ones stand alone: a third of the rows and a ninth of the matrix. What solves the smaller problem within the
 * tolerance solves the whole: no entry of g that is left is larger than those that were given. Where some contacts have friction
 * this brings nothing (docs/large-problems.md). */

typedef struct selection {
  int n;
  int *to; /* [rows that are given] its number among those that are kept, -1: left out */
  double *g, *z;
  ss_block *blocks;
} selection;

static bool has_idle_tangents(const ss_block *b) { return b->kind == SS_BLOCK_FRICTION && b->mu == 0 && b->size > 1; }

static bool any_idle(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (has_idle_tangents(&problem->blocks[b])) return true;
  return false;
}

static void select_rows(selection *s, const ss_cp *problem, const double *z) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *given = &problem->blocks[b];
    const bool idle = has_idle_tangents(given);
    s->blocks[b] = idle ? (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1} : *given;
    s->blocks[b].first = s->n;
    for (int i = given->first; i < given->first + given->size; i++) {
      s->to[i] = idle && i > given->first ? -1 : s->n++;
      if (s->to[i] < 0) continue;
      s->g[s->to[i]] = problem->g[i];
      s->z[s->to[i]] = z[i];
    }
  }
}

/* The rows that are kept; of a square matrix (`square`) the columns as well. */
static ss_status select_from(const selection *s, const ss_sparse *from, bool square, ss_cp_workspace *w, ss_sparse *out,
                             ss_error *error) {
  const size_t entries = (size_t)from->start[from->rows];
  int *start = SCRATCH(w, int, s->n + 1), *col = SCRATCH(w, int, entries), count = 0;
  double *value = SCRATCH(w, double, entries);
  if (!start || !col || !value) return out_of_memory(error);
  for (int i = 0; i < from->rows; i++) {
    if (s->to[i] < 0) continue;
    start[s->to[i]] = count;
    for (int e = from->start[i]; e < from->start[i + 1]; e++) {
      const int c = square ? s->to[from->col[e]] : from->col[e];
      if (c < 0) continue;
      col[count] = c;
      value[count++] = from->value[e];
    }
  }
  start[s->n] = count;
  *out = (ss_sparse){s->n, square ? s->n : from->cols, start, col, value};
  return SS_OK;
}

ss_status solve_frictionless(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const size_t n = (size_t)problem->n;
  const bool bodies = operator_has_bodies(problem->factors), matrix = problem->sparse || problem->G || !bodies;
  ss_sparse given, rows;
  ss_cp_operator factors;
  result->outcome = SS_NOT_ADMITTED;
  if (has_friction(problem) || !any_idle(problem)) return SS_OK;
  selection s = {.to = SCRATCH(workspace, int, n), .g = SCRATCH(workspace, double, 2 * n)};
  s.blocks = SCRATCH(workspace, ss_block, problem->n_blocks);
  if (!s.to || !s.g || !s.blocks) return out_of_memory(error);
  s.z = s.g + n;
  select_rows(&s, problem, z);
  ss_cp smaller = {.n = s.n, .n_blocks = problem->n_blocks, .g = s.g, .blocks = s.blocks};
  ss_status status = matrix ? storage_rows(problem, workspace, &given, error) : SS_OK;
  if (matrix && !status) status = select_from(&s, &given, true, workspace, &rows, error);
  if (matrix) smaller.sparse = &rows;
  if (bodies && !status) {
    factors = *problem->factors;
    status = select_from(&s, &problem->factors->J, false, workspace, &factors.J, error);
    smaller.factors = &factors;
  }
  if (!status) status = ss_cp_solve(&smaller, options, warm, s.z, workspace, result, error);
  for (size_t i = 0; i < n && !status; i++) z[i] = s.to[i] < 0 ? 0 : s.z[s.to[i]];
  result->residual = -1; /* that of another problem */
  return status;
}

/* J A^-1 J^T + R with an A that does not consist of blocks: springs between bodies, or the matrix of masses and joints.
 *
 * A is factorised once, sparsely. Up to SS_CP_DENSE_ROWS rows of J, G is computed with one solution for each of them, and
 * solved like any other matrix. Above, G would be large and not sparse: the velocities v become free rows,
 *
 *     0 = A v - J^T z,   w = J v + R z + g,
 *
 * and the methods for those go on. The answer is judged with the problem as it was given. */

static const ss_sparse *R_of(const ss_cp *problem) { return problem->factors->R.start ? &problem->factors->R : NULL; }

/* Column j of J A^-1 J^T from x = A^-1 J_j^T. */
static void fill_column(const ss_sparse *J, int j, const double *x, double *G) {
  const size_t n = (size_t)J->rows;
  for (size_t i = 0; i < n; i++) G[i * n + (size_t)j] = sparse_dot(J, (int)i, x);
}

ss_status whole_dense(const ss_cp *problem, double *G, ss_cp_workspace *w, ss_error *error) {
  enum { TOGETHER = 4 };
  const ss_cp_operator *o = problem->factors;
  const size_t m = (size_t)o->J.cols;
  const scratch_mark mark = scratch_now(w);
  double *x = SCRATCH(w, double, TOGETHER *m + 1);
  if (!x) return out_of_memory(error);
  ss_sparse_factors *f;
  const ss_status status = ss_sparse_factor(&o->whole, &f, error);
  for (int first = 0, count; first < problem->n && !status; first += count) {
    count = problem->n - first < TOGETHER ? problem->n - first : TOGETHER;
    memset(x, 0, sizeof *x * (size_t)count * m);
    for (int c = 0; c < count; c++)
      for (int k = o->J.start[first + c]; k < o->J.start[first + c + 1]; k++)
        x[(size_t)c * m + (size_t)o->J.col[k]] = o->J.value[k];
    ss_sparse_solve(f, x, count);
    for (int c = 0; c < count; c++) fill_column(&o->J, first + c, x + (size_t)c * m, G);
  }
  const ss_sparse *R = R_of(problem);
  for (int i = 0; i < problem->n && R && !status; i++)
    for (int k = R->start[i]; k < R->start[i + 1]; k++)
      G[(size_t)i * (size_t)problem->n + (size_t)R->col[k]] += R->value[k];
  ss_sparse_free(f);
  scratch_release(w, mark);
  return status;
}

/* ---- velocities as free rows ---- */

typedef struct lifted {
  ss_cp cp;
  ss_sparse G;
  double *z; /* [m + n] */
} lifted;

typedef struct row_writer {
  int *start, *col, rows, count;
  double *value;
} row_writer;

static void put_row(row_writer *r, const ss_sparse *m, int i, int shift, double factor) {
  for (int k = m->start[i]; k < m->start[i + 1]; k++) {
    r->col[r->count] = shift + m->col[k];
    r->value[r->count++] = factor * m->value[k];
  }
}

static ss_status lift(const ss_cp *problem, ss_cp_workspace *w, lifted *out, ss_error *error) {
  const ss_cp_operator *o = problem->factors;
  const ss_sparse *R = R_of(problem);
  const int n = problem->n, m = o->J.cols;
  const size_t rows = (size_t)n + (size_t)m;
  const size_t entries = (size_t)o->whole.start[m] + 2 * (size_t)o->J.start[n] + (R ? (size_t)R->start[n] : 0);
  ss_sparse Jt;
  row_writer r = {SCRATCH(w, int, rows + 1), SCRATCH(w, int, entries), 0, 0, SCRATCH(w, double, entries)};
  double *g = SCRATCH(w, double, 2 * rows);
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks + 1);
  if (!r.start || !r.col || !r.value || !g || !blocks) return out_of_memory(error);
  const ss_status status = sparse_transpose(&o->J, w, &Jt, error);
  if (status) return status;
  for (int i = 0; i < m; i++) {
    r.start[i] = r.count;
    put_row(&r, &o->whole, i, 0, 1);
    put_row(&r, &Jt, i, m, -1);
    g[i] = 0;
  }
  for (int i = 0; i < n; i++) {
    r.start[m + i] = r.count;
    put_row(&r, &o->J, i, 0, 1);
    if (R) put_row(&r, R, i, m, 1);
    g[m + i] = problem->g[i];
  }
  r.start[rows] = r.count;
  blocks[0] = (ss_block){.kind = SS_BLOCK_FREE, .first = 0, .size = m};
  for (int b = 0; b < problem->n_blocks; b++) {
    blocks[b + 1] = problem->blocks[b];
    blocks[b + 1].first += m;
  }
  out->z = g + rows;
  out->G = (ss_sparse){(int)rows, (int)rows, r.start, r.col, r.value};
  out->cp = (ss_cp){.n = (int)rows, .n_blocks = problem->n_blocks + 1, .g = g, .blocks = blocks, .sparse = &out->G};
  return SS_OK;
}

/* v = A^-1 J^T z, where z is a start. */
static ss_status start_velocities(const ss_cp_operator *o, const double *z, double *v, ss_error *error) {
  ss_sparse_factors *f;
  const ss_status status = ss_sparse_factor(&o->whole, &f, error);
  memset(v, 0, sizeof *v * (size_t)o->J.cols);
  for (int i = 0; i < o->J.rows; i++)
    for (int k = o->J.start[i]; k < o->J.start[i + 1]; k++) v[o->J.col[k]] += o->J.value[k] * z[i];
  if (!status) ss_sparse_solve(f, v, 1);
  ss_sparse_free(f);
  return status;
}

static ss_status solve_lifted(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  const size_t bytes = sizeof *z * (size_t)problem->n;
  const int m = problem->factors->J.cols;
  lifted l;
  ss_status status = lift(problem, w, &l, error);
  if (!status && warm) status = start_velocities(problem->factors, z, l.z, error);
  if (status) return status;
  memcpy(l.z + m, z, bytes);
  status = ss_cp_solve(&l.cp, options, warm, l.z, w, result, error);
  memcpy(z, l.z + m, bytes);
  return status;
}

ss_status whole_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                      ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  ss_cp dense;
  ss_status status = SS_OK;
  if (problem->n > SS_CP_DENSE_ROWS) {
    status = solve_lifted(problem, options, warm, z, w, result, error);
  } else {
    status = storage_dense(problem, w, &dense, error);
    if (!status) status = ss_cp_solve(&dense, options, warm, z, w, result, error);
  }
  scratch_release(w, mark);
  if (status || result->outcome == SS_NOT_ADMITTED) return status;
  result->residual = ss_cp_judge(problem, z, NULL);
  if (result->residual <= options->tolerance)
    result->outcome = SS_SOLVED;
  else if (result->outcome == SS_SOLVED)
    result->outcome = SS_STALLED;
  return SS_OK;
}
