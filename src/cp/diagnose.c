/* Statements about the set of solutions, each with the reason that it rests on.
 *
 *   none      the free rows contradict each other; or a v >= 0 with M^T v <= 0 and q . v < 0 shows that no x >= 0 has
 *             M x + q >= 0 (Farkas). The ray on which Lemke's method ends is such a v where M is copositive-plus
 *             (Cottle, Pang & Stone, theorem 4.4.12), for other M it may be or not: it is checked, not believed. Or every
 *             combination of states was tried.
 *   one       G is positive definite, and there is no friction; M is a P-matrix, and no free row depends on others; or every combination of states was tried.
 *   several   two solutions were found, or one that is not isolated.
 *   at least one   one was found, and nothing is known about others.
 *
 * All of them hold up to rounding. */
#include "cp/generated.h"
#include "cp/dense.h"
#include "cp/enumerate.h"
#include "cp/infeasible.h"
#include "cp/lemke.h"
#include "cp/matrix_class.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>

static const double rank_tolerance = 1e-12, proof = 1e-9;

typedef struct examination {
  const ss_cp *problem;
  double tolerance;
  int effort; /* combinations */
  ss_cp_workspace *w;
  ss_cp_diagnosis *out;
  bool has_lcp, contradiction, dependent; /* free rows that contradict or depend on each other */
} examination;

static void conclude(ss_cp_diagnosis *d, ss_solution_set set, const char *reason) {
  d->solutions = set;
  d->reason = reason;
}

static ss_status classify_matrix(examination *e, ss_error *error) {
  const size_t n = (size_t)e->problem->n;
  double *S = SCRATCH(e->w, double, n *n), *scale = SCRATCH(e->w, double, 2 * n);
  if (!S || !scale) return out_of_memory(error);
  if (n) dense_scales(e->problem->G, (int)n, (int)n, scale, scale + n);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) S[i * n + j] = scale[i] * e->problem->G[i * n + j] * scale[j];
  e->out->symmetric = matrix_symmetric(e->problem->G, (int)n);
  return matrix_definite(S, (int)n, e->w, &e->out->positive_definite, &e->out->positive_semidefinite, error);
}

/* Free rows that were not eliminated and have no part in the contacts: 0 z = g must hold. */
static void look_at_free_rows(examination *e, const reduction *r) {
  const size_t stride = (size_t)r->stride;
  double size = 0;
  for (int i = 0; i < e->problem->n; i++) size = fmax(size, fabs(r->scale[i] * e->problem->g[r->order[i]]));
  e->dependent = r->rest > r->rank;
  for (int i = r->rank; i < r->rest; i++)
    if (fabs(r->A[(size_t)i * stride + stride - 1]) > proof * size) e->contradiction = true;
}

/* Congruence with the reduced matrix and entries mu >= 0 beside it: friction leaves a semi-definite matrix copositive. */
static ss_status copositive_by_structure(examination *e, const reduction *r, ss_error *error) {
  const size_t rows = (size_t)(e->problem->n - r->rest);
  double *S = SCRATCH(e->w, double, rows *rows);
  if (!S) return out_of_memory(error);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < rows; j++)
      S[i * rows + j] = r->A[((size_t)r->rest + i) * (size_t)r->stride + (size_t)r->rest + j];
  ss_answer definite, semidefinite;
  const ss_status status = matrix_definite(S, (int)rows, e->w, &definite, &semidefinite, error);
  if (semidefinite == SS_YES) e->out->copositive = SS_YES;
  return status;
}

static ss_status classify_lcp(examination *e, const reduction *r, const lcp *l, ss_error *error) {
  ss_cp_diagnosis *d = e->out;
  d->variables = l->n;
  ss_status status = SS_OK;
  if (l->n < 31 && 1 << l->n <= e->effort) {
    status = matrix_p(l->M, l->n, e->w, &d->p, error);
    if (!status) status = matrix_copositive(l->M, l->n, e->w, &d->copositive, &d->strictly_copositive, error);
  }
  if (!status && d->copositive == SS_UNKNOWN) status = copositive_by_structure(e, r, error);
  if (d->p == SS_YES && !e->dependent && d->solutions == SS_SET_UNKNOWN) conclude(d, SS_SET_ONE, "the matrix is P");
  return status;
}

static ss_status follow_lemke(examination *e, const lcp *l, ss_error *error) {
  double *x = SCRATCH(e->w, double, 2 * (size_t)l->n);
  if (!x) return out_of_memory(error);
  int pivots;
  ss_outcome outcome;
  double *ray = x + l->n;
  const ss_status status = lemke(l, NULL, 2000 + 50 * l->n, x, ray, e->w, &outcome, &pivots, error);
  if (status) return status;
  e->out->ray = outcome == SS_RAY;
  if (e->out->ray && lcp_infeasible(l, ray, e->w))
    conclude(e->out, SS_SET_NONE, "the ray shows that the inequalities contradict each other");
  return SS_OK;
}

static ss_status examine_lcp(examination *e, ss_error *error) {
  reduction r;
  lcp l;
  ss_status status = reduce_free_rows(e->problem, rank_tolerance, e->w, &r, error);
  if (!status) look_at_free_rows(e, &r);
  if (status || !e->has_lcp) return status;
  status = expand_to_lcp(&r, e->w, &l, error);
  if (!status) status = classify_lcp(e, &r, &l, error);
  if (!status) status = follow_lemke(e, &l, error);
  if (e->contradiction) conclude(e->out, SS_SET_NONE, "the free rows contradict each other");
  return status;
}

static ss_status try_combinations(examination *e, ss_error *error) {
  enumeration all;
  ss_cp_diagnosis *d = e->out;
  const ss_status status = enumerate_solutions(e->problem, e->tolerance, e->effort, e->w, NULL, NULL, &all, error);
  if (status || all.combinations > e->effort) return status;
  d->found = all.count;
  d->continuum = all.continuum;
  d->same_w = all.same_w && all.count > 0;
  if (all.count > 1 || all.continuum)
    conclude(d, SS_SET_SEVERAL, all.continuum ? "a continuum of solutions was found" : "several were found");
  else if (all.count == 1 && d->solutions != SS_SET_ONE)
    conclude(d, all.undecided ? SS_SET_SOME : SS_SET_ONE,
             all.undecided ? "one was found; some combinations of states are undecided"
                           : "all combinations of states were tried");
  else if (all.count == 0 && !all.undecided && d->solutions == SS_SET_UNKNOWN)
    conclude(d, SS_SET_NONE, "all combinations of states were tried");
  return SS_OK;
}

/* "auto" has the last word on existence: a z that the judge accepts is a solution. */
static ss_status solve_once(examination *e, ss_error *error) {
  static const double near = 1e-6;
  double *z = SCRATCH(e->w, double, e->problem->n);
  if (!z) return out_of_memory(error);
  ss_cp_options options = ss_cp_options_default();
  options.tolerance = e->tolerance;
  ss_cp_result result;
  const ss_status status = ss_cp_solve(e->problem, &options, false, z, e->w, &result, error);
  if (!status && result.outcome == SS_SOLVED && e->out->solutions <= SS_SET_NONE)
    conclude(e->out, SS_SET_SOME, "one was found");
  else if (!status && result.no_solution && e->out->solutions == SS_SET_UNKNOWN)
    conclude(e->out, SS_SET_NONE, "a ray shows that the inequalities contradict each other");
  else if (!status && result.outcome == SS_STALLED && result.residual < near && e->out->solutions == SS_SET_UNKNOWN)
    e->out->reason = "what was found is one but for rounding errors of its large impulses";
  return status;
}

/* Everything that looks at the matrix. */
static ss_status examine(examination *e, ss_error *error) {
  ss_status status = classify_matrix(e, error);
  if (e->out->positive_definite == SS_YES && !has_friction(e->problem))
    conclude(e->out, SS_SET_ONE, "the matrix is positive definite");
  if (!status) status = examine_lcp(e, error);
  return status ? status : try_combinations(e, error);
}

ss_status ss_cp_diagnose(const ss_cp *problem, double tolerance, int effort, ss_cp_workspace *workspace,
                         ss_cp_diagnosis *out, ss_error *error) {
  *out = (ss_cp_diagnosis){.found = -1, .reason = "nothing was found, nothing was proved"};
  ss_cp dense;
  examination e = {.problem = problem, .tolerance = tolerance, .w = workspace, .out = out};
  e.effort = effort > 0 && effort < ENUMERATION_LARGEST ? effort : ENUMERATION_LARGEST;
  e.has_lcp = !has_disc(problem);
  const scratch_mark mark = scratch_now(workspace);
  const bool large = !problem->G && problem->n > SS_CP_DENSE_ROWS;
  ss_status status = problem->G || large ? SS_OK : storage_dense(problem, workspace, &dense, error);
  if (!status && !large && !has_generated(problem)) {
    e.problem = problem->G ? problem : &dense;
    status = examine(&e, error);
  }
  if (!status && out->solutions <= SS_SET_NONE) status = solve_once(&e, error);
  scratch_release(workspace, mark);
  return status;
}
