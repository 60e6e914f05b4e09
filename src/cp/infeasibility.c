/* Proofs that a problem has no solution, from the rays of Lemke's method.
 *
 * On a ray Lemke's method leaves a direction v >= 0 of the LCP, which by Farkas' lemma is a proof where M is copositive-plus (Cottle, Pang & Stone,
 * theorem 4.4.12), and may be one elsewhere. Back in the rows of the problem: y = scale C v on the contacts (the parts of v that belong to directions of
 * friction are zero in a proof), and on the free rows, which were eliminated, y_f = -G_ff^-T G_cf^T y_c: the same elimination with G^T
 * in the place of G.
 *
 * Where G is positive semi-definite and symmetric, friction cannot take part in a proof: y . G y = y . c <= 0 leaves G y = 0. So the
 * contacts without friction, whatever their cones, are asked first. The judge decides about the problem as it is given.
 *
 * Where free rows depend on each other, or a ray proves nothing, the least violation of the contacts without friction is asked for
 *, unless they have a solution.
 *
 * Fails where the problem has no solution though its inequalities do not contradict each other. */
#include "cp/solver.h"

#include "la/dense.h"
#include "cp/pivoting.h"
#include "cp/judge.h"
#include "cp/storage.h"

#include <math.h>

/* Farkas' lemma: where v >= 0, M^T v <= 0 and q . v < 0, every x >= 0 has v . (M x + q) <= q . v < 0, so that M x + q >= 0 is
 * impossible. The ray on which Lemke's method ends is such a v where M is copositive-plus (Cottle, Pang & Stone, theorem
 * 4.4.12); for other M it may be or not, so the judge is asked. */

bool lcp_infeasible(const lcp *l, double *v, ss_cp_workspace *w) {
  static const double rounding = 1e-12;
  const ss_block rows = {.kind = SS_BLOCK_NONNEGATIVE, .size = l->n};
  const ss_cp posed = {.n = l->n, .n_blocks = 1, .G = l->M, .g = l->q, .blocks = &rows};
  double largest = 0;
  for (int i = 0; i < l->n; i++) largest = fmax(largest, fabs(v[i]));
  for (int i = 0; i < l->n; i++) {
    if (!(v[i] >= -rounding * largest)) return false;
    v[i] = fmax(v[i], 0);
  }
  const scratch_mark mark = scratch_now(w);
  double *memory = SCRATCH(w, double, 4 * (size_t)l->n);
  const bool proof = memory && judge_ray(&posed, v, memory) > 0;
  scratch_release(w, mark);
  return proof;
}

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

/* y [n] is a proof that a dense problem has no solution, or 0 where its inequalities without friction do not contradict each other, up to
 * rounding: the judge of proofs decides. 0 too where it would take more than SS_CP_DENSE_ROWS rows. */
static ss_status least_violation(const ss_cp *problem, ss_cp_workspace *w, double *y, ss_error *error) {
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

static const double rank_tolerance = 1e-12;

/* y on the rows that were not eliminated, from a direction of the LCP; in the scales of the reduction. */
static void gather(const lcp *l, const double *v, int rows, double *y) {
  for (int i = 0; i < rows; i++) y[i] = 0;
  for (int j = 0; j < l->n; j++)
    for (int k = 0; k < l->size[j]; k++) y[l->first[j] + k] += l->c[2 * j + k] * fmax(v[j], 0);
}

/* What is not zero only by rounding errors would be no proof. */
static void clean(const ss_cp *problem, double *y) {
  static const double noise = 1e-13;
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(y[i]));
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = 0; i < block->size; i++) {
      double *x = y + block->first + i;
      if (fabs(*x) <= noise * largest || (block->kind == SS_BLOCK_FRICTION && i > 0)) *x = 0;
    }
  }
}

static ss_status transpose(const ss_cp *problem, ss_cp_workspace *w, ss_cp *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  double *G = SCRATCH(w, double, n *n), *g = SCRATCH(w, double, n);
  if (!G || !g) return out_of_memory(error);
  for (size_t i = 0; i < n; i++) {
    g[i] = 0;
    for (size_t j = 0; j < n; j++) G[i * n + j] = problem->G[j * n + i];
  }
  *out = *problem;
  out->G = G;
  out->g = g;
  return SS_OK;
}

/* `posed`: the problem, or a part of it that has an LCP. *solved: there is nothing to prove about it. */
static ss_status follow(const ss_cp *problem, const ss_cp *posed, ss_cp_workspace *w, double *y, double *margin,
                        bool *solved, ss_error *error) {
  reduction r, back;
  lcp l;
  ss_cp turned;
  ss_outcome outcome;
  int taken;
  *solved = false;
  ss_status status = reduce_free_rows(posed, rank_tolerance, w, &r, error);
  if (!status) status = expand_to_lcp(&r, w, &l, error);
  if (status || r.rest != r.n_free) return status;
  double *x = SCRATCH(w, double, 2 * (size_t)l.n), *rest = SCRATCH(w, double, posed->n);
  if (!x || !rest) return out_of_memory(error);
  status = lemke(&l, NULL, 2000 + 50 * l.n, x, x + l.n, w, &outcome, &taken, error);
  *solved = outcome == SS_SOLVED && r.rank == r.n_free; /* free rows left over may contradict each other */
  if (status || outcome != SS_RAY) return status;
  gather(&l, x + l.n, posed->n - r.rest, rest);
  status = transpose(posed, w, &turned, error);
  if (!status) status = reduce_free_rows(&turned, rank_tolerance, w, &back, error);
  if (status || back.rest != back.n_free) return status;
  status = reduction_recover(&back, rest, y, w, error);
  if (status) return status;
  clean(problem, y);
  *margin = ss_cp_judge_ray(problem, y);
  return SS_OK;
}

/* The contacts without friction. */
static ss_status follow_smooth(const ss_cp *problem, ss_cp_workspace *w, double *y, double *margin, ss_error *error) {
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks);
  if (!blocks) return out_of_memory(error);
  ss_cp smooth = *problem;
  smooth.blocks = blocks;
  for (int b = 0; b < problem->n_blocks; b++) {
    blocks[b] = problem->blocks[b];
    if (blocks[b].kind == SS_BLOCK_FRICTION) blocks[b].mu = 0;
  }
  bool solved;
  ss_status status = follow(problem, &smooth, w, y, margin, &solved, error);
  if (status || solved || *margin > 0) return status;
  status = least_violation(&smooth, w, y, error);
  clean(problem, y);
  if (!status) *margin = ss_cp_judge_ray(problem, y);
  return status;
}

ss_status ss_cp_find_ray(const ss_cp *problem, ss_cp_workspace *workspace, double *y, double *margin, ss_error *error) {
  *margin = 0;
  if (problem->n > SS_CP_DENSE_ROWS || problem->apply || !storage_finite(problem)) return SS_OK;
  const scratch_mark mark = scratch_now(workspace);
  ss_cp dense;
  bool solved;
  ss_status status = problem->G ? SS_OK : storage_dense(problem, workspace, &dense, error);
  if (!problem->G) problem = &dense;
  if (!status) status = follow_smooth(problem, workspace, y, margin, error);
  if (!status && *margin == 0 && has_friction(problem) && !has_disc(problem) && !has_generated(problem))
    status = follow(problem, problem, workspace, y, margin, &solved, error);
  scratch_release(workspace, mark);
  return status;
}

ss_status solve_refuted(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                        ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)options, (void)warm;
  double margin = 0, *y = SCRATCH(workspace, double, problem->n);
  if (!y) return out_of_memory(error);
  const ss_status status = follow_smooth(problem, workspace, y, &margin, error);
  for (int i = 0; i < problem->n; i++) z[i] = 0;
  result->no_solution = margin > 0;
  result->outcome = margin > 0 ? SS_RAY : SS_NOT_ADMITTED;
  return status;
}
