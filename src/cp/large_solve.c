/* Gauss-Seidel sweeps over the nodes of large sparse problems as solvers, plain and accelerated, through the bodies where these are given.
 *
 * They work on the problem scaled and gathered by nodes (large.c), in whatever form the matrix is given. They need rows with a positive
 * diagonal: saddle-point problems (velocities as free rows) are not admitted. */
#include "cp/body_sweep.h"
#include "cp/large.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 1500, MOST_PLAIN = 10000, PATIENCE = 80, LONG_PATIENCE = 2000 /* sweeps without progress */ };

/* Runs `method` on the problem. */
typedef ss_status large_method(large *l, const double *z, ss_cp_workspace *w, ss_error *error);

static large_method plain;

static ss_status run(const ss_cp *problem, const ss_cp_options *options, large_method *method, bool warm, double *z,
                     ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  ss_sparse G;
  large l;
  bool admitted = true;
  ss_status status = storage_rows(problem, w, &G, error);
  if (!status) status = large_create(&l, problem, &G, options->tolerance, w, &admitted, error);
  result->outcome = SS_NOT_ADMITTED;
  if (!status && admitted) {
    l.options = options;
    l.limit = options->iteration_limit;
    l.factor = method == plain ? options->relaxation : 0;
    l.order = method == plain ? options->order : SS_ORDER_GIVEN;
    status = method(&l, warm ? z : NULL, w, error);
    result->iterations = l.iterations;
    result->operations = l.spent;
    result->outcome = l.lowest <= l.goal ? SS_SOLVED : l.stalled ? SS_STALLED : SS_LIMIT;
    large_finish(&l, z);
  }
  scratch_release(w, mark);
  return status;
}

/* Where accelerated sweeps stagnate, plain ones lead away, more of them each time; until the work is used up, or nothing changes any more. */
static ss_status begin_again(large *l, ss_cp_workspace *w, ss_error *error) {
  enum { FEWEST = 30, MOST_VAIN = 6 };
  ss_status status = SS_OK;
  for (int vain = 0, plain = FEWEST; !status && l->lowest > l->goal && !large_spent(l) && vain < MOST_VAIN;) {
    const double before = l->lowest;
    status = large_goes_on(l, error);
    if (!status) status = large_relax(l, false, plain, LONG_PATIENCE, w, error);
    if (!status) status = large_relax(l, true, MOST_SWEEPS, PATIENCE, w, error);
    vain = l->lowest < 0.5 * before ? 0 : vain + 1;
    if (vain) plain = plain < MOST_PLAIN / 3 ? 3 * plain : MOST_PLAIN;
  }
  return status;
}

static ss_status accelerated(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  body_sweep bodies;
  bool admitted = false;
  large_start(l, z);
  ss_status status = SS_OK;
  if (operator_has_bodies(l->original->factors)) status = body_sweep_create(&bodies, l, w, &admitted, error);
  if (admitted) l->bodies = &bodies;
  if (!status) status = large_relax(l, true, l->limit > 0 ? l->limit : MOST_SWEEPS, PATIENCE, w, error);
  if (!status && l->limit == 0) status = begin_again(l, w, error);
  l->bodies = NULL;
  scratch_release(w, mark);
  return status;
}

static ss_status plain(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_relax(l, false, l->limit > 0 ? l->limit : MOST_PLAIN, LONG_PATIENCE, w, error);
}

ss_status solve_nsgs_sparse(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, plain, warm, z, workspace, result, error);
}

ss_status solve_nsgs_accelerated(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                 ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, accelerated, warm, z, workspace, result, error);
}
