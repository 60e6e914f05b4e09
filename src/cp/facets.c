/* The quadratic cone by way of a polygon: Lemke's method solves the problem with each disc replaced by a polygon of 16,
 * 64, ... corners, which cannot go astray, and Gauss-Seidel with Newton takes it from there to the disc. For small problems:
 * the polygon's LCP has as many variables as corners.
 *
 * Before that, as nothing else has helped, it looks for a proof that there is no solution (infeasible.c). */
#include "cp/infeasible.h"
#include "cp/solver.h"

enum { LARGEST = 800 /* corners of all contacts */ };

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

ss_status solve_facets(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                       ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  result->outcome = SS_NOT_ADMITTED;
  if (!has_disc(problem)) return SS_OK;
  const ss_status searched = contacts_infeasible(problem, workspace, &result->no_solution, error);
  if (result->no_solution) result->outcome = SS_RAY;
  if (searched || result->no_solution || has_ball(problem)) return searched;
  ss_block *blocks = SCRATCH(workspace, ss_block, problem->n_blocks);
  if (!blocks) return out_of_memory(error);
  ss_cp faceted = *problem;
  faceted.blocks = blocks;
  const scratch_mark mark = scratch_now(workspace);
  ss_status status = SS_OK;
  int iterations = 0;
  for (int corners = 16; corners * problem->n_blocks <= LARGEST && !status && result->outcome != SS_SOLVED;
       corners *= 4) {
    replace_discs(problem, corners, blocks);
    status = solve_lemke(&faceted, options, false, z, workspace, result, error);
    scratch_release(workspace, mark);
    result->no_solution = false; /* of the polygons; the discs are larger */
    iterations += result->iterations;
    if (!status) status = solve_nsgs_newton(problem, options, true, z, workspace, result, error);
    scratch_release(workspace, mark);
    iterations += result->iterations;
  }
  result->iterations = iterations;
  return status;
}
