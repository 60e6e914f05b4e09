/* Large problems without any friction, mu = 0, whose contacts were posed with tangents: z_t = 0, whatever w_t is. The tangent rows are
 * left out and the normal ones stand alone: a third of the rows and a ninth of the matrix. What solves the smaller problem within the
 * tolerance solves the whole: no entry of g that is left is larger than those that were given. Where some contacts have friction
 * this brings nothing (docs/large-problems.md). */
#include "cp/islands.h"
#include "cp/solver.h"
#include "cp/storage.h"

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
