/* Lemke's and Keller's methods as solvers: eliminate the free rows, expand to a standard LCP, pivot, and go back. The
 * variants of Lemke's differ in the covering vector and in a regularisation of M; both choose another path where the
 * first ended on a ray. Keller's is for positive semi-definite matrices, which friction does not have. */
#include "cp/solver.h"

#include "cp/lemke.h"

typedef enum variant { PLAIN, COVERED, REGULARIZED, KELLER } variant;

static const double rank_tolerance = 1e-12;
static const double regularization = 1e-8;

/* Between 1 and 2, different for all variables, the same in every run. */
static void fill_cover(double *cover, int n) {
  for (int i = 0; i < n; i++) {
    const double x = 0.618033988749895 * (i + 1);
    cover[i] = 1 + (x - floor(x));
  }
}

static ss_status run(const ss_cp *problem, const ss_cp_options *options, variant v, double *z, ss_cp_workspace *w,
                     ss_cp_result *result, ss_error *error) {
  const bool tilted = v == COVERED || v == REGULARIZED;
  reduction r;
  lcp l;
  ss_status status = reduce_free_rows(problem, tilted ? rank_tolerance / 100 : rank_tolerance, w, &r, error);
  if (!status) status = expand_to_lcp(&r, w, &l, error);
  if (status) return status;
  double *x = SCRATCH(w, double, l.n), *rest = SCRATCH(w, double, problem->n), *cover = NULL;
  if (tilted) cover = SCRATCH(w, double, l.n);
  if (!x || !rest || (tilted && !cover)) return out_of_memory(error);
  if (cover) fill_cover(cover, l.n);
  if (v == REGULARIZED) l.damping = regularization;
  if (v == REGULARIZED)
    for (int j = 0; j < l.n; j++) l.M[(size_t)j * ((size_t)l.n + 1)] += regularization;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : 2000 + 50 * l.n;
  status = v == KELLER ? keller(&l, limit, x, NULL, w, &result->outcome, &result->iterations, error)
                       : lemke(&l, cover, limit, x, NULL, w, &result->outcome, &result->iterations, error);
  if (status) return status;
  lcp_contract(&l, &r, x, rest);
  return reduction_recover(&r, rest, z, w, error);
}

static ss_status solve_variant(const ss_cp *problem, const ss_cp_options *options, variant v, double *z,
                               ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  if (v == KELLER ? has_friction(problem) : has_disc(problem)) {
    result->outcome = SS_NOT_ADMITTED;
    return SS_OK;
  }
  return run(problem, options, v, z, w, result, error);
}

ss_status solve_lemke(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, PLAIN, z, workspace, result, error);
}

ss_status solve_lemke_covered(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, COVERED, z, workspace, result, error);
}

ss_status solve_lemke_regularized(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                  ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, REGULARIZED, z, workspace, result, error);
}

ss_status solve_keller(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                       ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, KELLER, z, workspace, result, error);
}
