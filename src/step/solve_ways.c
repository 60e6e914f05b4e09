/* Which solver the step's problem is given to, where the choice is ours ("auto").
 *
 * The forces of the last part are a start, and mostly a good one: active sets confirm or mend it. Where they do not, it is a
 * bad one (something has begun to slide elsewhere), and sweeps or curves that begin there are slower than those from nothing: 28
 * capsules in a box, 210 rows, took 0.2 s per problem that way and 0.05 s from nothing. Large problems have their factors
 * (factors.c), and solvers that live on them; they begin with the start.
 * Up to FEW rows the ladder of "auto" does all that by itself. */
#include "step/workspace.h"

#include <math.h>
#include <string.h>

enum {
  FEW = 64,
  FACTORED_ROWS = 200, /* from which factors are worth it; below, the ladder is more exact */
  ACTIVE_POLISHED_ROWS = 300,
  POLISHED_ROWS = 600,
  POLISHING_SWEEPS = 20,
  ACTIVE_ROWS = 900, /* active sets are dense */
  ACTIVE_STEPS = 12,
  LARGE_ACTIVE_STEPS = 3, /* where there are factors */
  WARM_STEPS = 300        /* sweeps and steps, where the start may be bad */
};

static bool has_guess(const double *z, int n) {
  for (int i = 0; i < n; i++)
    if (z[i] != 0) return true;
  return false;
}

typedef struct way {
  const char *solver;
  const ss_cp *problem;
  int limit;
  bool warm, wanted;
} way;

/* One way; its z is judged with the problem as it was posed. */
static ss_status try_way(ss_sim *sim, const way *w, const ss_cp *posed, const ss_cp_options *options, double *z,
                         ss_cp_result *result, ss_error *error) {
  ss_cp_options own = *options;
  ss_cp_result found = {0};
  double largest = 0; /* an island's speeds may be small beside those of the others: units are the whole problem's */
  for (int i = 0; i < posed->n; i++) largest = fmax(largest, fabs(posed->g[i]));
  if (strcmp(w->solver, options->solver) != 0) own.tolerance *= fmin(largest, 1);
  own.solver = w->solver;
  own.iteration_limit = w->limit;
  const ss_status status = ss_cp_solve(w->problem, &own, w->warm, z, sim->cp, &found, error);
  const bool foreign = w->problem != posed && found.outcome == SS_SOLVED;
  if (status == SS_OK && foreign && !(ss_cp_judge(posed, z, NULL) <= options->tolerance)) found.outcome = SS_STALLED;
  const int iterations = result->iterations + found.iterations, fallbacks = result->fallbacks + found.fallbacks;
  *result = found;
  result->iterations = iterations;
  result->fallbacks = fallbacks;
  return status;
}

/* An answer within the tolerance, but not near rounding errors, gives and takes energy and is a bad start for the next part. It is
 * kept where this does not improve it. */
static ss_status polish(ss_sim *sim, bool by_bodies, const ss_cp *problem, const ss_cp_options *options, double *z,
                        ss_cp_result *result, ss_error *error) {
  static const double above = 1e-12;
  const way exact = by_bodies ? (way){"active-set", problem, LARGE_ACTIVE_STEPS, true, true}
                              : (way){"nsgs-newton", problem, POLISHING_SWEEPS, true, true};
  const ss_cp_result before = *result;
  const size_t bytes = sizeof *z * (size_t)problem->n;
  if (!(before.residual > above) || problem->n > (by_bodies ? ACTIVE_POLISHED_ROWS : POLISHED_ROWS)) return SS_OK;
  memcpy(sim->start_z, z, bytes);
  const ss_status status = try_way(sim, &exact, problem, options, z, result, error);
  if (status != SS_OK || (result->outcome == SS_SOLVED && result->residual < before.residual)) return status;
  memcpy(z, sim->start_z, bytes);
  const int iterations = result->iterations;
  *result = before;
  result->iterations = iterations;
  return SS_OK;
}

ss_status ss_solve_ways(ss_sim *sim, const ss_cp *problem, const int *rows, const ss_cp_options *options, double *z,
                        ss_cp_result *result, ss_error *error) {
  const int n = problem->n;
  const bool warm = has_guess(z, n);
  if (!sim->automatic || sim->iteration_limit > 0 || n <= FEW)
    return ss_cp_solve(problem, options, warm, z, sim->cp, result, error);
  ss_status status = ss_grow((void **)&sim->start_z, &sim->start_capacity, n, sizeof *z, error);
  const bool admitted = n >= FACTORED_ROWS && !sim->system && !sim->coupling.active && !sim->scheme->compliant;
  const ss_cp_operator *factors = NULL;
  if (status == SS_OK && admitted) status = ss_factor_problem(sim, rows, n, &factors, error);
  if (status != SS_OK) return status;
  const ss_cp by_bodies = {
      .n = n, .n_blocks = problem->n_blocks, .g = problem->g, .blocks = problem->blocks, .factors = factors};
  const bool many = n > ACTIVE_ROWS;
  const way ways[] = {
      {"active-set", problem, n < FACTORED_ROWS ? ACTIVE_STEPS : LARGE_ACTIVE_STEPS, true, warm && !many},
      {"large", &by_bodies, WARM_STEPS, true, warm && factors},
      {"large", &by_bodies, 0, false, factors && !(warm && sim->tentative)},
      {options->solver, problem, 0, false, !factors || (!many && !sim->tentative)}};
  memcpy(sim->start_z, z, sizeof *z * (size_t)n);
  *result = (ss_cp_result){0};
  for (size_t k = 0; k < sizeof ways / sizeof *ways && status == SS_OK; k++) {
    if (!ways[k].wanted) continue;
    if (ways[k].warm) memcpy(z, sim->start_z, sizeof *z * (size_t)n);
    status = try_way(sim, &ways[k], problem, options, z, result, error);
    if (status == SS_OK && result->outcome == SS_SOLVED)
      return polish(sim, ways[k].problem == &by_bodies, problem, options, z, result, error);
    result->fallbacks++;
  }
  return status;
}
