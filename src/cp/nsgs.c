/* Gauss-Seidel and Newton, taking turns on the contacts alone (subproblem.c).
 *
 * Sweeps find the states of the contacts, damped Newton steps on the natural map (active.c) the digits. The number of
 * sweeps between two attempts of the Newton method grows, so that hard problems are not dominated by its linear algebra.
 * "nsgs" is the sweeps alone. Ends at the iteration limit where the states never settle. */
#include "cp/solver.h"

#include "cp/subproblem.h"
#include "cp/sweep.h"

static const double rank_tolerance = 1e-12;

typedef struct mixed {
  sweeper s;
  active_set a;
  int n;
  double *w, *x, *trial, *candidate; /* [n] */
  double tolerance;
  int sweeps, newtons;
} mixed;

static double residual(const mixed *m, const double *x) { return ss_cp_judge(&m->s.problem[0], x, NULL); }

static void copy(double *to, const double *from, int n) {
  for (int i = 0; i < n; i++) to[i] = from[i];
}

/* Damped Newton steps from m->x while they improve it; returns the residual reached. */
static double newton_phase(mixed *m, int limit, double current) {
  enum { HALVINGS = 5 };
  for (int k = 0; k < limit && current > m->tolerance; k++) {
    sweeper_apply(&m->s, m->x, m->w);
    (void)active_set_guess(&m->a, m->x, m->w);
    copy(m->trial, m->x, m->n);
    m->newtons++;
    if (!active_set_solve(&m->a, m->trial, m->w)) return current;
    double reached = HUGE_VAL, length = 1;
    for (int h = 0; h < HALVINGS; h++, length /= 2) {
      for (int i = 0; i < m->n; i++) m->candidate[i] = m->x[i] + length * (m->trial[i] - m->x[i]);
      reached = residual(m, m->candidate);
      if (reached < current) break;
    }
    if (!(reached < current)) return current;
    const bool slow = reached > 0.9 * current;
    copy(m->x, m->candidate, m->n);
    current = reached;
    if (slow) return current;
  }
  return current;
}

static double sweep_phase(mixed *m, int count) {
  for (int k = 0; k < count; k++) sweep(&m->s, m->x, m->sweeps++ % 2);
  return residual(m, m->x);
}

static void keep_lowest(const mixed *m, double current, double *lowest, double *best) {
  if (!(current < *lowest)) return;
  *lowest = current;
  copy(best, m->x, m->n);
}

/* The best of all points visited ends in m->x. */
static double take_turns(mixed *m, int limit, bool warm, double *best) {
  double lowest = HUGE_VAL;
  if (warm) keep_lowest(m, newton_phase(m, 20, residual(m, m->x)), &lowest, best);
  for (int count = 5; m->sweeps + m->newtons < limit && lowest > m->tolerance; count += count / 2) {
    const double swept = sweep_phase(m, count < limit - m->sweeps ? count : limit - m->sweeps);
    keep_lowest(m, swept, &lowest, best);
    keep_lowest(m, newton_phase(m, 20, swept), &lowest, best);
  }
  copy(m->x, best, m->n);
  return lowest;
}

static ss_status mixed_create(mixed *m, const ss_cp *cp, ss_cp_workspace *w, ss_error *error) {
  m->n = cp->n;
  ss_status status = active_set_create(cp, w, &m->a, error);
  if (!status) status = sweeper_create(&m->a, w, &m->s, error);
  if (status) return status;
  m->w = SCRATCH(w, double, 4 * (size_t)cp->n);
  if (!m->w) return out_of_memory(error);
  m->x = m->w + cp->n;
  m->trial = m->x + cp->n;
  m->candidate = m->trial + cp->n;
  return SS_OK;
}

static ss_status run(const ss_cp *problem, const ss_cp_options *options, bool warm, bool newton, double *z,
                     ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  subproblem sub;
  mixed m = {.tolerance = 1e-14};
  ss_status status = subproblem_create(problem, rank_tolerance, w, &sub, error);
  if (!status) status = mixed_create(&m, &sub.cp, w, error);
  double *best = status ? NULL : SCRATCH(w, double, sub.cp.n);
  if (!best) return status ? status : out_of_memory(error);
  if (warm)
    subproblem_start(&sub, z, m.x);
  else
    for (int i = 0; i < sub.cp.n; i++) m.x[i] = 0;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : newton ? 3000 : 10000;
  double reached = HUGE_VAL;
  if (newton)
    reached = take_turns(&m, limit, warm, best);
  else
    while (m.sweeps < limit && reached > m.tolerance) reached = sweep_phase(&m, 10);
  result->iterations = m.sweeps + m.newtons;
  result->outcome = reached <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&sub, m.x, z, w, error);
}

ss_status solve_nsgs_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(workspace);
  const ss_status status = run(problem, options, warm, true, z, workspace, result, error);
  scratch_release(workspace, mark);
  return status;
}

ss_status solve_nsgs(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                     ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(workspace);
  const ss_status status = run(problem, options, warm, false, z, workspace, result, error);
  scratch_release(workspace, mark);
  return status;
}
