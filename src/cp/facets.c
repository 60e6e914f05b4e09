/* The quadratic cone by way of a polygon: Lemke's method solves the problem with each disc replaced by a polygon of 16,
 * 64, ... corners, of 8 where contacts are many, which cannot go astray; Gauss-Seidel with Newton, proximal steps in the range or the smoothing method take
 * it from there to the disc. For small problems: the polygon's LCP has as many variables as corners. */
#include "cp/reduce.h"
#include "cp/solver.h"

enum {
  FEW = 800,            /* corners of all contacts up to which the polygons have many from the beginning */
  MOST_VARIABLES = 1800 /* of Lemke's method on those of more contacts */
};

static void replace_discs(const ss_cp *problem, int corners, ss_block *blocks) {
  for (int b = 0; b < problem->n_blocks; b++) {
    blocks[b] = problem->blocks[b];
    if (blocks[b].kind != SS_BLOCK_FRICTION || blocks[b].cone != SS_CONE_QUADRATIC) continue;
    blocks[b].cone = SS_CONE_POLYHEDRAL;
    blocks[b].directions = corners;
  }
}

static bool has_ball(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].cone == SS_CONE_QUADRATIC && problem->blocks[b].size > 3 &&
        problem->blocks[b].kind == SS_BLOCK_FRICTION)
      return true;
  return false;
}

/* From the polygons' z to one of the discs, in z. */
static ss_status round_off(const ss_cp *problem, const ss_cp_options *options, const double *corners, double *z,
                           ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  static const struct {
    cp_solve_function *solve;
    int limit;
  } tries[] = {{solve_nsgs_newton, 0}, {solve_range_newton, 200}, {solve_smoothing, 60}};
  enum { TRIES = sizeof tries / sizeof *tries };
  ss_status status = SS_OK;
  int iterations = 0;
  result->outcome = SS_LIMIT;
  for (int k = 0; k < TRIES && !status && result->outcome != SS_SOLVED; k++) {
    const scratch_mark mark = scratch_now(w);
    ss_cp_options own = *options;
    if (tries[k].limit > 0) own.iteration_limit = tries[k].limit;
    for (int i = 0; i < problem->n; i++) z[i] = corners[i];
    status = tries[k].solve(problem, &own, true, z, w, result, error);
    iterations += result->iterations;
    scratch_release(w, mark);
  }
  result->iterations = iterations;
  return status;
}

ss_status solve_facets(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                       ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  result->outcome = SS_NOT_ADMITTED;
  if (!has_disc(problem) || has_ball(problem)) return SS_OK;
  ss_block *blocks = SCRATCH(workspace, ss_block, problem->n_blocks);
  double *start = SCRATCH(workspace, double, problem->n);
  if (!blocks || !start) return out_of_memory(error);
  ss_cp faceted = *problem;
  faceted.blocks = blocks;
  const scratch_mark mark = scratch_now(workspace);
  const bool few = 16 * problem->n_blocks <= FEW;
  ss_status status = SS_OK;
  int iterations = 0;
  for (int corners = few ? 16 : 8; !status && result->outcome != SS_SOLVED; corners *= few ? 4 : 2) {
    ss_cp_options own = *options;
    replace_discs(problem, corners, blocks);
    const int variables = lcp_variables(&faceted);
    if (few ? corners * problem->n_blocks > FEW : variables > MOST_VARIABLES) break;
    if (!few && own.iteration_limit <= 0) own.iteration_limit = 4 * variables;
    status = solve_lemke(&faceted, &own, false, start, workspace, result, error);
    scratch_release(workspace, mark);
    iterations += result->iterations;
    if (!status) status = round_off(problem, options, start, z, workspace, result, error);
    iterations += result->iterations;
    result->no_solution = false; /* of the polygons; the discs are larger */
  }
  result->iterations = iterations;
  return status;
}
