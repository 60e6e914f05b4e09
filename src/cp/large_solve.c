/* The methods for large sparse problems as solvers: one at a time, or several in turn where one goes on from where another gets
 * stuck.
 *
 * All of them work on the problem scaled and gathered by nodes (large.c), in whatever form the matrix is given. They need rows with
 * a positive diagonal: saddle-point problems (velocities as free rows) are not admitted. */
#include "cp/body_sweep.h"
#include "cp/islands.h"
#include "cp/large.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

enum {
  MORE_SWEEPS = 1500,
  PATIENCE = 200,       /* sweeps without progress */
  LITTLE_PATIENCE = 30, /* the same where there is another way */
  LONG_PATIENCE = 2000, /* plain sweeps are slow */
  PLAIN_ROUNDS = 3,
  PLAIN_SWEEPS = 200,
  SMOOTHING_STEPS = 150,
  NEWTON_STEPS = 20
};
static const double newton_below = 1e-3; /* residual from which the states are worth a factorisation */
static const double least_operations = 2e8, sweeps_worth = 400;

/* Operations that a factorisation may take: as many as some hundred sweeps, and a part of the caller's work. */
static double affordable(const large *l) {
  enum { WORTH = 8 }; /* steps worth beginning */
  const double most = fmax(least_operations, sweeps_worth * large_sweep_operations(l));
  return l->options && l->options->work > 0 ? fmin(most, l->options->work / WORTH) : most;
}

/* `wanted` iterations, or what the caller has left of his own. */
static int allowed(const large *l, int wanted) {
  const int left = l->limit > l->iterations ? l->limit - l->iterations : 0;
  return l->limit > 0 && left < wanted ? left : wanted;
}

static ss_status newton(large *l, ss_cp_workspace *w, ss_error *error) {
  bool tried;
  if (l->residual <= l->goal || l->residual > newton_below) return SS_OK;
  return large_newton(l, allowed(l, NEWTON_STEPS), affordable(l), w, &tried, error);
}

/* Its sets must be cones or boxes that it can project on. */
static bool admits_round_sets(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const bool round_set = block->cone == SS_CONE_QUADRATIC || block->size == 2;
    if (block->kind == SS_BLOCK_FRICTION && (!round_set || block->extra > 0)) return false;
  }
  return true;
}

/* Rounds of sweeps and patches. Plain sweeps come to where only few places go round for ever, patches end that; the sweeps
 * become more, and where that does not help the patches larger. What it may cost is proportional to the size: a problem without a
 * solution ends here. */
static ss_status patch_up(large *l, ss_cp_workspace *w, ss_error *error) {
  enum {
    ROUNDS = 20,
    FEW_SWEEPS = 30,
    MOST_SWEEPS = 4000,
    ACCELERATED = 80,
    SMALLEST = 60,
    LARGEST = 400,
    FEWEST = 6,
    PARTS = 6,          /* of the whole, below which it is no patch any more */
    MOST_VAIN = 8,      /* rounds in which the residual is not halved: enough for the largest patches */
    ALL_SWEEPS = 10000, /* of all rounds */
  };
  const scratch_mark mark = scratch_now(w);
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  double *best = SCRATCH(w, double, l->cp.n), lowest = l->residual;
  if (!best) return out_of_memory(error);
  memcpy(best, l->x, bytes);
  ss_status status = SS_OK;
  for (int k = 0, left = ALL_SWEEPS, vain = 0, size = SMALLEST, sweeps = FEW_SWEEPS;
       k < ROUNDS && !status && lowest > l->goal && vain < MOST_VAIN && left > 0 && !large_spent(l); k++) {
    int repaired = 0, most = l->G.nodes / (2 * size);
    const double before = lowest;
    left -= sweeps + ACCELERATED;
    status = large_goes_on(l, error);
    if (!status) status = large_stride(l, sweeps, LONG_PATIENCE, w, error);
    if (!status) status = large_relax(l, true, ACCELERATED, PATIENCE, w, error);
    if (!status) status = newton(l, w, error);
    if (l->residual < lowest) {
      lowest = l->residual;
      memcpy(best, l->x, bytes);
    }
    if (lowest < 0.5 * before)
      vain = 0;
    else
      vain++;
    if (vain) sweeps = sweeps < MOST_SWEEPS / 3 ? 3 * sweeps : MOST_SWEEPS;
    if (vain > 1 && size < LARGEST && size < l->G.nodes / PARTS) size += size / 2;
    if (!status && lowest > l->goal)
      status = large_patches(l, size, most < FEWEST ? FEWEST : most, w, &repaired, error);
    if (l->residual < lowest) {
      lowest = l->residual;
      memcpy(best, l->x, bytes);
    }
  }
  memcpy(l->x, best, bytes);
  l->residual = large_judge(l, l->x, l->w);
  scratch_release(w, mark);
  return status;
}

/* Rounds for facets: no patches. */
static ss_status sweep_on(large *l, ss_cp_workspace *w, ss_error *error) {
  ss_status status = SS_OK;
  for (int k = 1; k <= PLAIN_ROUNDS && !status && !large_spent(l) && l->residual > l->goal; k++) {
    status = large_goes_on(l, error);
    if (!status) status = large_relax(l, false, k * PLAIN_SWEEPS, LONG_PATIENCE, w, error);
    if (!status) status = large_relax(l, true, MORE_SWEEPS, PATIENCE, w, error);
    if (!status) status = newton(l, w, error);
  }
  return status;
}

/* Accelerated sweeps solve most packings; what they leave is a matter of few places, or of other methods. */
static ss_status rounds(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  body_sweep bodies;
  bool admitted = false;
  large_start(l, z);
  ss_status status = SS_OK;
  if (operator_has_bodies(l->original->factors)) status = body_sweep_create(&bodies, l, w, &admitted, error);
  if (admitted) l->bodies = &bodies;
  if (!status) status = large_relax(l, true, MORE_SWEEPS, LITTLE_PATIENCE, w, error);
  if (!status && l->residual > l->goal)
    status = admits_round_sets(&l->cp) ? patch_up(l, w, error) : sweep_on(l, w, error);
  l->bodies = NULL;
  scratch_release(w, mark);
  return status;
}

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
    result->outcome = l.residual <= l.goal ? SS_SOLVED : l.stalled ? SS_STALLED : SS_LIMIT;
    large_finish(&l, z);
  }
  scratch_release(w, mark);
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
  if (!status) status = large_relax(l, true, l->limit > 0 ? l->limit : MORE_SWEEPS, PATIENCE, w, error);
  l->bodies = NULL;
  scratch_release(w, mark);
  return status;
}

static ss_status plain(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_relax(l, false, l->limit > 0 ? l->limit : 10000, LONG_PATIENCE, w, error);
}

static ss_status smoothing(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_smoothing(l, z ? fmin(1, 3 * l->residual) : 1, l->limit > 0 ? l->limit : SMOOTHING_STEPS, HUGE_VAL, w,
                         error);
}

ss_status solve_smoothing(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                          ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, smoothing, warm, z, workspace, result, error);
}

ss_status solve_nsgs_sparse(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, plain, warm, z, workspace, result, error);
}

ss_status solve_nsgs_accelerated(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                 ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, accelerated, warm, z, workspace, result, error);
}

ss_status solve_patches(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                        ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, rounds, warm, z, workspace, result, error);
}
