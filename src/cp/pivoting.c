/* Lemke's and Keller's methods as solvers: eliminate the free rows, expand to a standard LCP, pivot, and go back. Keller's is for
 * positive semi-definite matrices, which friction does not have.
 *
 * How long a path is, is a matter of luck with matrices that are not positive semi-definite: for games of 200 x 200 and the
 * covering vectors of one problem from half of n pivots to more than 60 n. `restarted` gives one covering vector after the other
 * few pivots, by the sequence of Luby, Sinclair & Zuckerman (1993), 1 1 2 1 1 2 4 ..., and at last many to the usual one, ones. */
#include "cp/solver.h"

#include "cp/infeasible.h"
#include "cp/lemke.h"

#include <limits.h>
#include <math.h>

typedef enum variant { PLAIN, KELLER, RESTARTED } variant;

static const double rank_tolerance = 1e-12;

/* Between 0.02 and 1, another vector for every k. */
static void fill_spread_cover(double *cover, int n, int k) {
  for (int i = 0; i < n; i++) {
    const double x = 0.618033988749895 * (i + 1) + 0.754877666246693 * k * (i % 97 + 1) + 0.569840290998053 * k * k;
    cover[i] = 0.02 + 0.98 * (x - floor(x));
  }
}

static int luby(int k) { /* k = 1, 2, ... */
  for (;;) {
    int power = 1;
    while (2 * power <= k) power *= 2;
    if (k == 2 * power - 1) return power;
    k -= power - 1;
  }
}

/* One problem on its way: x of the LCP, the covering vector, the ray. */
typedef struct pivoting {
  reduction r;
  lcp l;
  double *x, *rest, *cover, *ray;
} pivoting;

static ss_status set_up(const ss_cp *problem, ss_cp_workspace *w, pivoting *p, ss_error *error) {
  ss_status status = reduce_free_rows(problem, rank_tolerance, w, &p->r, error);
  if (!status) status = expand_to_lcp(&p->r, w, &p->l, error);
  if (status) return status;
  p->x = SCRATCH(w, double, 3 * (size_t)p->l.n);
  p->rest = SCRATCH(w, double, problem->n);
  if (!p->x || !p->rest) return out_of_memory(error);
  p->cover = p->x + p->l.n;
  p->ray = p->cover + p->l.n;
  return SS_OK;
}

/* Lemke's method with the covering vector of p, or with ones. */
static ss_status follow(pivoting *p, bool covered, int limit, ss_cp_workspace *w, ss_cp_result *result,
                        ss_error *error) {
  int pivots = 0;
  const scratch_mark mark = scratch_now(w);
  const ss_status status =
      lemke(&p->l, covered ? p->cover : NULL, limit, p->x, p->ray, w, &result->outcome, &pivots, error);
  scratch_release(w, mark);
  result->iterations += pivots;
  if (!status && result->outcome == SS_RAY) result->no_solution = lcp_infeasible(&p->l, p->ray, w);
  return status;
}

static ss_status restart(pivoting *p, int limit, ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  ss_status status = SS_OK;
  for (int k = 1; !status && result->iterations < limit / 5; k++) {
    fill_spread_cover(p->cover, p->l.n, k);
    const int left = limit - result->iterations, length = 50 + p->l.n * luby(k);
    status = follow(p, true, length < left ? length : left, w, result, error);
    if (result->outcome == SS_SOLVED || result->no_solution) return status;
  }
  return status ? status : follow(p, false, limit, w, result, error);
}

static ss_status run(const ss_cp *problem, const ss_cp_options *options, variant v, double *z, ss_cp_workspace *w,
                     ss_cp_result *result, ss_error *error) {
  pivoting p;
  result->iterations = 0;
  result->no_solution = false;
  ss_status status = set_up(problem, w, &p, error);
  if (status) return status;
  int limit = 2000 + 50 * p.l.n;
  if (options->work > 0) limit = (int)fmin(INT_MAX, 1 + options->work / ((double)p.l.n * p.l.n));
  if (options->iteration_limit > 0) limit = options->iteration_limit;
  if (v == KELLER)
    status = keller(&p.l, limit, p.x, NULL, w, &result->outcome, &result->iterations, error);
  else if (v == RESTARTED)
    status = restart(&p, limit, w, result, error);
  else
    status = follow(&p, false, limit, w, result, error);
  result->operations = (double)result->iterations * p.l.n * p.l.n;
  if (status) return status;
  lcp_contract(&p.l, &p.r, p.x, p.rest);
  return reduction_recover(&p.r, p.rest, z, w, error);
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

ss_status solve_keller(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                       ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, KELLER, z, workspace, result, error);
}

ss_status solve_lemke_restarted(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, RESTARTED, z, workspace, result, error);
}
