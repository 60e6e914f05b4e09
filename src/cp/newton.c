/* Primal-dual active sets: guess the states by the natural map, solve their linear system, repeat (active.c). A
 * semismooth Newton method without globalisation: very fast from a good start (the last step's z), and it may cycle
 * from a bad one. For polyhedral sets it ends exactly, as soon as the states repeat. */
#include "cp/solver.h"

#include "cp/active.h"

#include <math.h>

static const int default_limit = 10;
static const double rounding_level = 1e-14;

ss_status solve_active_set(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                           ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  active_set a;
  const scratch_mark mark = scratch_now(workspace);
  const ss_status status = active_set_create(problem, workspace, &a, error);
  double *w = status ? NULL : SCRATCH(workspace, double, problem->n);
  if (!w) return status ? status : out_of_memory(error);
  if (!warm)
    for (int i = 0; i < problem->n; i++) z[i] = 0;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : default_limit;
  const bool smooth = has_disc(problem); /* the disc's equations change with z even where the states do not */
  result->outcome = SS_LIMIT;
  result->residual = HUGE_VAL;
  active_apply(problem, z, w);
  for (result->iterations = 0; result->iterations < limit; result->iterations++) {
    const int changed = active_set_guess(&a, z, w);
    if (result->iterations > 0 && !changed && !smooth) break; /* nothing would change any more */
    if (!active_set_solve(&a, z, w)) {
      result->outcome = SS_STALLED;
      break;
    }
    result->residual = ss_cp_judge(problem, z, w);
    if (result->residual <= rounding_level) {
      result->iterations++;
      break;
    }
  }
  if (result->residual <= options->tolerance) result->outcome = SS_SOLVED;
  scratch_release(workspace, mark);
  return SS_OK;
}
