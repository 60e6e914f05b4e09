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
 * (violation.c), unless they have a solution.
 *
 * Fails where the problem has no solution though its inequalities do not contradict each other. */
#include "cp/generated.h"
#include "cp/lemke.h"
#include "cp/solver.h"
#include "cp/storage.h"
#include "cp/violation.h"

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
  int pivots;
  *solved = false;
  ss_status status = reduce_free_rows(posed, rank_tolerance, w, &r, error);
  if (!status) status = expand_to_lcp(&r, w, &l, error);
  if (status || r.rest != r.n_free) return status;
  double *x = SCRATCH(w, double, 2 * (size_t)l.n), *rest = SCRATCH(w, double, posed->n);
  if (!x || !rest) return out_of_memory(error);
  status = lemke(&l, NULL, 2000 + 50 * l.n, x, x + l.n, w, &outcome, &pivots, error);
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
