/* Wedged contacts stick: they are taken for joints, and get as much stress as that needs.
 *
 * Let s be impulses inside the cones that are in balance among themselves, G s = 0 (self_stress.c), zero but in the contacts W. With
 * the rows of W as equations, w = 0, instead of cones, the problem
 *
 *     w = G z + g,   w_W = 0,   the other contacts as they are
 *
 * is smaller, and has no wedges any more: its impulses are bounded. Where z solves it, z + c s solves the problem itself for every c from
 * which on its impulses are inside the cones of W. So a pile that nothing determines is divided into one that sticks and one that is
 * determined.
 *
 * Assumes a G whose symmetric part is positive semi-definite, and wedges; else it is not admitted. It is one solution of several, usually: the
 * one with the most sticking contacts. Fails where the contacts of W cannot stick all at once (gaps that close at different times), or where the
 * strategy does not solve what is left. */
#include "cp/self_stress.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>

/* Rows of a wedged contact that stick: its normal alone where it has no friction. */
static int stuck_rows(const site *s) {
  if (s->state == SITE_OPEN) return 0;
  return s->block->kind == SS_BLOCK_FRICTION && s->block->mu > 0 ? s->block->size : 1;
}

/* The blocks of the problem with those that are wedged free; returns how many. */
static int free_wedged(const descent *d, ss_block *blocks) {
  int count = 0;
  for (int b = 0; b < d->cp->n_blocks; b++) /* joints that cannot be eliminated come first */
    if (d->cp->blocks[b].kind == SS_BLOCK_FREE) blocks[count++] = d->cp->blocks[b];
  for (int k = 0; k < d->set.n_sites; k++) {
    const site *s = &d->set.sites[k];
    const int size = s->block->kind == SS_BLOCK_FRICTION ? s->block->size : 1, stuck = stuck_rows(s);
    ss_block *block = &blocks[count++];
    *block = *s->block;
    block->first = s->row;
    block->size = stuck > 0 ? stuck : size;
    if (stuck > 0) block->kind = SS_BLOCK_FREE;
    for (int i = block->size; i < size; i++) /* tangents without friction: z = 0 */
      blocks[count++] = (ss_block){.kind = SS_BLOCK_BOX, .first = s->row + i, .size = 1};
  }
  return count;
}

/* Puts what the wedged contacts carry, which their equations do not determine, inside their cones: x += c s with twice the least c that
 * does so. False: none does. */
static bool add_stress(descent *d, const double *s, double *x) {
  static const double least = 0x1p-10, most = 0x1p30;
  const int n = d->cp->n;
  double *carried = d->shift, *shared = d->drift, *trial = d->slack;
  for (int i = 0; i < n; i++) carried[i] = 0;
  for (int k = 0; k < d->set.n_sites; k++) {
    const int row = d->set.sites[k].row;
    for (int i = row; i < row + stuck_rows(&d->set.sites[k]); i++) carried[i] = x[i];
  }
  share_among_wedged(d, carried, shared);
  for (int i = 0; i < n; i++) x[i] += shared[i] - carried[i];
  for (double c = least; c < most; c *= 2) {
    for (int i = 0; i < n; i++) trial[i] = x[i] + c * s[i];
    if (!stress_is_inside(d, trial)) continue;
    for (int i = 0; i < n; i++) x[i] += 2 * c * s[i];
    return true;
  }
  return false;
}

/* What is left when the wedged contacts stick, by "auto"; x in the units of d. */
static ss_status solve_rest(const descent *d, const ss_cp_options *options, double *x, ss_cp_workspace *w,
                            ss_cp_result *result, ss_error *error) {
  static const double rank_tolerance = 1e-12, share = 0.1; /* of the tolerance: units differ */
  ss_cp_options own = *options;
  own.solver = "auto";
  own.tolerance *= share;
  ss_cp stuck = *d->cp;
  ss_block *blocks = SCRATCH(w, ss_block, d->cp->n_blocks + d->cp->n);
  if (!blocks) return out_of_memory(error);
  stuck.blocks = blocks;
  stuck.n_blocks = free_wedged(d, blocks);
  subproblem rest;
  const ss_status status = subproblem_create(&stuck, rank_tolerance, w, &rest, error);
  if (status) return status;
  double *y = SCRATCH(w, double, rest.cp.n);
  if (!y) return out_of_memory(error);
  ss_cp_result inner;
  own.any = true;
  const ss_status solved = ss_cp_solve(&rest.cp, &own, false, y, w, &inner, error);
  if (solved) return solved;
  result->iterations = inner.iterations;
  result->operations += inner.operations;
  result->outcome = inner.outcome == SS_SOLVED ? SS_SOLVED : SS_LIMIT;
  return subproblem_recover(&rest, y, x, w, error);
}

/* Of a Newton step: the matrix of the range, and its factors. */
static double step_operations(const descent *d) {
  const double rank = d->range.rank;
  return rank * rank * (d->cp->n + rank / 3);
}

static void limit_steps(descent *d, const ss_cp_options *options) {
  enum { USUAL_LIMIT = 1000 };
  d->step.caller = options;
  d->step.limit = USUAL_LIMIT;
  if (options->work > 0) d->step.limit = (int)fmin(USUAL_LIMIT, 1 + options->work / step_operations(d));
}

ss_status solve_wedged(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                       ss_cp_result *result, ss_error *error) {
  (void)warm;
  ss_cp dense;
  descent d;
  bool admitted;
  result->outcome = SS_NOT_ADMITTED;
  if (!problem->G) {
    if (problem->n > SS_CP_DENSE_ROWS) return SS_OK;
    const ss_status made = storage_dense(problem, w, &dense, error);
    if (made) return made;
    problem = &dense;
  }
  const double rows = problem->n, work = options->work > 0 ? options->work : HUGE_VAL;
  const double share = fmin(1, sqrt(work / rows) / rows); /* the range takes n rank^2 */
  ss_status status = descent_create(&d, problem, share, 0, w, &admitted, error);
  result->operations = share * rows * rows * share * rows;
  if (!status && !admitted && share < 1) result->outcome = SS_LIMIT;
  if (status || !admitted || d.range.rank == d.cp->n) return status; /* of full rank: no impulses are in balance */
  limit_steps(&d, options);
  if (!find_self_stress(&d)) {
    result->iterations = d.step.newtons;
    result->operations += d.step.newtons * step_operations(&d);
    if (d.step.newtons >= d.step.limit) result->outcome = SS_LIMIT; /* with more work, perhaps */
    return d.step.stopped ? ss_fail(error, SS_ERROR_STOPPED, "stopped") : SS_OK;
  }
  double *stress = d.anchor, *x = d.best;
  status = solve_rest(&d, options, x, w, result, error);
  result->iterations += d.step.newtons;
  result->operations += d.step.newtons * step_operations(&d);
  if (status) return status;
  if (!add_stress(&d, stress, x)) result->outcome = SS_LIMIT;
  return subproblem_recover(&d.sub, x, z, w, error);
}
