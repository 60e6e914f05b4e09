/* Gauss-Seidel on the contacts alone (subproblem.c), with Newton steps in between or without them. */
#include "cp/solver.h"

#include "cp/mixed.h"
#include "cp/subproblem.h"

static const double rank_tolerance = 1e-12;

static ss_status run(const ss_cp *problem, const ss_cp_options *options, bool warm, bool newton, double *z,
                     ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  subproblem sub;
  mixed m = {.tolerance = 1e-14};
  ss_status status = subproblem_create(problem, rank_tolerance, w, &sub, error);
  if (!status) status = mixed_create(&m, &sub.cp, w, error);
  if (status) return status;
  /* a Newton step costs as much as many sweeps where the problem is large */
  m.first_sweeps = 5 + (int)((double)sub.cp.n * sub.cp.n / 4000);
  if (warm)
    subproblem_start(&sub, z, m.x);
  else
    for (int i = 0; i < sub.cp.n; i++) m.x[i] = 0;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : newton ? 3000 : 10000;
  double reached = HUGE_VAL;
  if (newton)
    reached = mixed_take_turns(&m, limit, warm);
  else
    while (m.sweeps < limit && reached > m.tolerance) reached = mixed_sweep(&m, 10);
  result->iterations = m.sweeps + m.newtons;
  result->outcome = reached <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&sub, m.x, z, w, error);
}

ss_status solve_nsgs_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, warm, true, z, workspace, result, error);
}

ss_status solve_nsgs(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                     ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, warm, false, z, workspace, result, error);
}
