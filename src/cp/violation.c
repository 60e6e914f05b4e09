/* Proofs that a problem has no solution, from the z that violates its inequalities least.
 *
 * Where no z that the blocks allow has w = G z + g among the slacks that they allow, the smallest sum of d y^2, d > 0, by which d y + G z + g
 * is one is not zero, and y is a proof (Farkas). Its conditions are a problem of rows and boxes,
 *
 *     [ d   G ] [y]   [g]
 *     [-G^T 0 ] [z] + [0],   y, z in the ranges below,
 *
 * positive semi-definite whatever G is, with a solution always, and with one y only: Lemke's method finds it, and active sets its last digits. y . (G z + g) =
 * - d y^2 <= 0 there, and G^T y has the signs that the judge of proofs asks for.
 *
 * Contacts have no friction here: their tangential rows are left out. Fails where the inequalities do not contradict each other, or only
 * with friction; takes the time of Lemke's method on twice the rows. */
#include "cp/dense.h"
#include "cp/solver.h"
#include "cp/violation.h"

#include <math.h>

typedef struct range {
  double lower, upper;
} range;

static bool is_empty(range s) { return s.lower == s.upper; }

/* What z may be in row i of a block, and the y with y . w >= 0 for all of its w: only 0 where the range is empty. */
static void ranges_of(const ss_block *block, int i, range *z, range *y) {
  static const range nothing = {0, 0}, above = {0, HUGE_VAL}, below = {-HUGE_VAL, 0}, all = {-HUGE_VAL, HUGE_VAL};
  const bool row = block->kind == SS_BLOCK_NONNEGATIVE || (block->kind == SS_BLOCK_FRICTION && i == 0);
  *z = *y = block->kind == SS_BLOCK_FREE ? all : row ? above : nothing;
  if (block->kind != SS_BLOCK_BOX) return;
  const bool lowest = isfinite(block->lower), highest = isfinite(block->upper);
  *z = (range){block->lower, block->upper};
  *y = lowest && highest ? nothing : lowest ? above : highest ? below : all;
}

static ss_block block_of(range s, int row) {
  ss_block out = {.kind = SS_BLOCK_BOX, .first = row, .size = 1, .lower = s.lower, .upper = s.upper};
  if (s.upper == HUGE_VAL && s.lower == 0) out.kind = SS_BLOCK_NONNEGATIVE;
  if (s.upper == HUGE_VAL && s.lower == -HUGE_VAL) out.kind = SS_BLOCK_FREE;
  return out;
}

/* The rows with a y, then those with a z that is not 0. */
static int choose_rows(const ss_cp *problem, int *rows, ss_block *blocks, int *proofs) {
  int count = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int b = 0; b < problem->n_blocks; b++)
      for (int i = 0; i < problem->blocks[b].size; i++) {
        range z, y;
        ranges_of(&problem->blocks[b], i, &z, &y);
        const range s = pass ? z : y;
        if (is_empty(s) && s.lower == 0) continue;
        blocks[count] = block_of(s, count);
        rows[count++] = problem->blocks[b].first + i;
      }
    if (pass == 0) *proofs = count;
  }
  return count;
}

/* The columns of z are scaled to size one, in powers of two: small ones must come out as exactly as others. d is as large as the row. */
static void fill(const ss_cp *problem, const int *rows, int proofs, int count, double *A, double *g, ss_block *blocks) {
  const size_t n = (size_t)problem->n, width = (size_t)count;
  for (size_t k = 0; k < width * width; k++) A[k] = 0;
  for (int i = 0; i < count; i++) g[i] = i < proofs ? problem->g[rows[i]] : 0;
  for (int i = 0; i < proofs; i++) A[(size_t)i * (width + 1)] = 1;
  for (int j = proofs; j < count; j++) {
    double largest = 0;
    for (int i = 0; i < proofs; i++) largest = fmax(largest, fabs(problem->G[(size_t)rows[i] * n + (size_t)rows[j]]));
    const double scale = largest > 0 ? inverse_power(largest) : 1;
    blocks[j].lower /= scale;
    blocks[j].upper /= scale;
    for (int i = 0; i < proofs; i++) {
      const double x = scale * problem->G[(size_t)rows[i] * n + (size_t)rows[j]];
      A[(size_t)i * width + (size_t)j] = x;
      A[(size_t)j * width + (size_t)i] = -x;
    }
  }
}

ss_status least_violation(const ss_cp *problem, ss_cp_workspace *w, double *y, ss_error *error) {
  const size_t most = 2 * (size_t)problem->n;
  int *rows = SCRATCH(w, int, most), proofs = 0;
  ss_block *blocks = SCRATCH(w, ss_block, most);
  if (!rows || !blocks) return out_of_memory(error);
  const int count = choose_rows(problem, rows, blocks, &proofs);
  for (int i = 0; i < problem->n; i++) y[i] = 0;
  if (count > SS_CP_DENSE_ROWS) return SS_OK;
  double *A = SCRATCH(w, double, (size_t)count *(size_t)count), *g = SCRATCH(w, double, 2 * (size_t)count);
  if (!A || !g) return out_of_memory(error);
  double *x = g + count;
  fill(problem, rows, proofs, count, A, g, blocks);
  const ss_cp posed = {.n = count, .n_blocks = count, .G = A, .g = g, .blocks = blocks};
  const ss_cp_options options = {.solver = "lemke"}, polish = {.solver = "active-set", .iteration_limit = 3};
  ss_cp_result result = {0};
  ss_status status = solve_lemke(&posed, &options, false, x, w, &result, error);
  if (!status) status = solve_active_set(&posed, &polish, true, x, w, &result, error);
  for (int i = 0; i < proofs && !status; i++) {
    const ss_block *block = &blocks[i];
    y[rows[i]] = block->kind == SS_BLOCK_FREE ? x[i] : block->kind == SS_BLOCK_BOX ? fmin(x[i], 0) : fmax(x[i], 0);
  }
  return status;
}
