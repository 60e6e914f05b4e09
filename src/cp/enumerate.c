/* Enumeration: every combination of states of the contacts is tried (active.c). Exact and complete for small problems
 * up to singular systems: where a combination has a continuum of solutions, one of them is reported. */
#include "cp/solver.h"

#include "cp/active.h"

#include <math.h>

static const double largest_all = 1 << 20;  /* combinations for ss_cp_all_solutions */
static const double largest_rung = 1 << 14; /* for the solver */
static const double same_solution = 1e-7;

static double combinations(const active_set *a) {
  double count = 1;
  for (int k = 0; k < a->n_sites; k++) {
    const int states = site_end_state(&a->sites[k]) - site_first_state(&a->sites[k]);
    count *= states ? states : HUGE_VAL;
  }
  return count;
}

static void begin(active_set *a) {
  for (int k = 0; k < a->n_sites; k++) a->sites[k].state = site_first_state(&a->sites[k]);
}

/* The next combination, like an odometer; false after the last one. */
static bool advance(active_set *a) {
  for (int k = 0; k < a->n_sites; k++) {
    site *s = &a->sites[k];
    if (++s->state < site_end_state(s)) return true;
    s->state = site_first_state(s);
  }
  return false;
}

/* Solves for the present combination from z = 0 and returns the judge's residual. */
static double try_states(active_set *a, double *z) {
  const ss_cp *problem = a->problem;
  for (int i = 0; i < problem->n; i++) z[i] = 0;
  return active_set_solve(a, z, problem->g) ? ss_cp_judge(problem, z, NULL) : HUGE_VAL;
}

typedef struct solution {
  struct solution *next;
  double *z;
} solution;

static bool known(const solution *list, const double *z, int n) {
  for (; list; list = list->next) {
    double difference = 0, size = 0;
    for (int i = 0; i < n; i++) {
      difference = fmax(difference, fabs(z[i] - list->z[i]));
      size = fmax(size, fabs(z[i]));
    }
    if (difference <= same_solution * size) return true;
  }
  return false;
}

static ss_status collect(active_set *a, double tolerance, ss_cp_workspace *w, ss_cp_found found, void *user, int *count,
                         ss_error *error) {
  const int n = a->problem->n;
  solution *list = NULL;
  double *z = SCRATCH(w, double, n);
  if (!z) return out_of_memory(error);
  begin(a);
  do {
    if (try_states(a, z) > tolerance || known(list, z, n)) continue;
    solution *s = SCRATCH(w, solution, 1);
    if (!s) return out_of_memory(error);
    *s = (solution){list, z};
    list = s;
    ++*count;
    found(user, z);
    z = SCRATCH(w, double, n);
    if (!z) return out_of_memory(error);
  } while (advance(a));
  return SS_OK;
}

ss_status ss_cp_all_solutions(const ss_cp *problem, double tolerance, ss_cp_workspace *workspace, ss_cp_found found,
                              void *user, int *count, ss_error *error) {
  active_set a;
  *count = 0;
  const scratch_mark mark = scratch_now(workspace);
  ss_status status = active_set_create(problem, workspace, &a, error);
  if (!status && combinations(&a) > largest_all)
    status = ss_fail(error, SS_ERROR_UNSUPPORTED, "too large for an enumeration of all solutions");
  if (!status) status = collect(&a, tolerance, workspace, found, user, count, error);
  scratch_release(workspace, mark);
  return status;
}

ss_status solve_enumeration(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  active_set a;
  const scratch_mark mark = scratch_now(workspace);
  const ss_status status = active_set_create(problem, workspace, &a, error);
  double *trial = status ? NULL : SCRATCH(workspace, double, problem->n);
  if (!trial) return status ? status : out_of_memory(error);
  result->outcome = combinations(&a) > largest_rung ? SS_NOT_ADMITTED : SS_RAY;
  double best = HUGE_VAL;
  begin(&a);
  if (result->outcome == SS_RAY) do {
      const double residual = try_states(&a, trial);
      result->iterations++;
      if (residual < best) {
        best = residual;
        for (int i = 0; i < problem->n; i++) z[i] = trial[i];
      }
      if (residual <= options->tolerance) result->outcome = SS_SOLVED;
    } while (result->outcome == SS_RAY && advance(&a));
  scratch_release(workspace, mark);
  return SS_OK;
}
