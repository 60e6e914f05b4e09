/* What "auto" does with large sparse problems, and the methods on it as solvers of their own.
 *
 * Contacts that are not connected through any body are problems of their own (islands), solved one by one; small ones by
 * the ordinary ladder. One island that is given by factors: accelerated sweeps (relax.c), steps of the bodies (body_newton.c) and
 * the smoothing method through the bodies (smoothing.c), in turn, with patches (patches.c) where sweeps have come far. Without factors: accelerated sweeps from the given start, Newton
 * steps if the factorisation is affordable, up to 20000 rows range-newton, and up to CONTINUED_ROWS short attempts of the
 * smoothing method, of Lemke's and of continuation. Both: then rounds of plain sweeps and of patches, the places
 * where the sweeps go round for ever (patches.c); last, where a factorisation of the whole is possible, the smoothing method and
 * interior points. Facets: more sweeps and Newton steps instead of what follows range-newton. Results do not depend on the order of the islands. Needs rows with a positive diagonal: saddle-point
 * problems (velocities as free rows) are not admitted. */
#include "cp/bodies.h"
#include "cp/dense.h"
#include "cp/islands.h"
#include "cp/large.h"
#include "cp/reduce.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

enum {
  LARGE_ROWS = 200,
  RANGE_ROWS = 900,       /* up to which a matrix is made dense whatever its rank is */
  REDUNDANT_ROWS = 20000, /* the same where its rank is low */
  RANGE_STEPS = 600,
  FEW_RANGE_STEPS = 250, /* where there is another way */
  LEMKE_VARIABLES = 1600,
  CONTINUATION_STEPS = 900,
  MORE_SWEEPS = 1500,
  PATIENCE = 200,       /* sweeps without progress */
  LITTLE_PATIENCE = 50, /* the same where there is another way */
  LONG_PATIENCE = 2000, /* plain sweeps are slow */
  LEAST_PATIENCE = 3,   /* proximal steps without progress, in the first turn */
  MOST_PATIENCE = 48,   /* in the last one */
  BODY_STEPS = 1000,
  PLAIN_ROUNDS = 3,
  PLAIN_SWEEPS = 200,
  INTERIOR_STEPS = 100,
  SMOOTHING_STEPS = 150,
  SHORT_SMOOTHING = 60, /* within which most problems that it solves are solved */
  NEWTON_STEPS = 20,
  PATH_ROWS = 600
};
static const double dense_share = 0.35;  /* of entries not zero, from which a matrix is not worth being called sparse */
static const double newton_below = 1e-3; /* residual from which the states are worth a factorisation */
static const double least_operations = 2e8, sweeps_worth = 400;
static const double few_places = 1e-4; /* residual below which patches come before many sweeps, and pay at all */
static const double last_operations = 1e9;
static const double last_resort = 3; /* times as much for a factorisation, where nothing else has helped */

bool large_wanted(const ss_cp *problem) {
  if (problem->n < LARGE_ROWS) return false;
  if (problem->factors || (problem->sparse && (has_friction(problem) || problem->n > SS_CP_DENSE_ROWS))) return true;
  const size_t count = (size_t)problem->n * (size_t)problem->n;
  size_t nonzeros = problem->sparse ? (size_t)problem->sparse->start[problem->n] : 0;
  for (size_t i = 0; problem->G && i < count; i++) nonzeros += problem->G[i] != 0;
  return (double)nonzeros < dense_share * (double)count;
}

/* ---- one island ---- */

static double sweep_operations(const large *l) { return 4.0 * (double)l->G.at[l->G.start[l->G.nodes] - 1]; }

/* Operations that a factorisation may take: as many as some hundred sweeps. */
static double affordable(const large *l) { return fmax(least_operations, sweeps_worth * sweep_operations(l)); }

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
    SWEEPS = 500,
    MOST_SWEEPS = 4000,
    ACCELERATED = 80,
    SMALLEST = 60,
    LARGEST = 400,
    FEWEST = 6,
    MOST_VAIN = 8,      /* rounds in which the residual is not halved: enough for the largest patches */
    ALL_SWEEPS = 10000, /* of all rounds */
  };
  const scratch_mark mark = scratch_now(w);
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  double *best = SCRATCH(w, double, l->cp.n), lowest = l->residual;
  if (!best) return out_of_memory(error);
  memcpy(best, l->x, bytes);
  ss_status status = SS_OK;
  for (int k = 0, left = ALL_SWEEPS, vain = 0, size = SMALLEST, sweeps = l->residual < few_places ? FEW_SWEEPS : SWEEPS;
       k < ROUNDS && !status && lowest > l->goal && vain < MOST_VAIN && left > 0; k++) {
    int repaired = 0, most = l->G.nodes / (2 * size);
    const double before = lowest;
    left -= sweeps;
    status = large_stride(l, sweeps, LONG_PATIENCE, w, error);
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
    if (vain > 1 && size < LARGEST) size += size / 2;
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

/* The smoothing method from the present point; the path begins where the residual says. */
static ss_status smooth(large *l, double most, ss_cp_workspace *w, ss_error *error) {
  return large_smoothing(l, fmin(1, 10 * l->residual), allowed(l, SMOOTHING_STEPS), most, w, error);
}

static const double much = 0.1; /* the residual over an earlier one, where a lot has been reached */

/* Residuals from which methods have failed: from near there they would do the same again. */
typedef struct failures {
  double sweeps, patches, smoothing;
} failures;

/* One attempt of the smoothing method through the bodies: a factorisation of the contacts would cost more, however few they are. Where
 * it has come far the states are nearly those of the solution, and the rest of the path, dozens of inexact steps, is a matter of a
 * few sweeps or exact steps. Where it has failed it waits until the residual is much lower. */
static ss_status smooth_once(large *l, failures *failed, ss_cp_workspace *w, ss_error *error) {
  const double before = l->residual;
  if (before > much * failed->smoothing) return SS_OK;
  l->enough = much * before;
  const ss_status status = smooth(l, 0, w, error);
  l->enough = 0;
  if (l->residual > much * before) failed->smoothing = before;
  return status;
}

/* Sweeps that have got stuck at a small residual are wrong in few places: long steps until the rest is settled, patches, and sweeps
 * that spread what has changed. l->x stays what it was where that is no better. */
static ss_status mend(large *l, ss_cp_workspace *w, ss_error *error) {
  enum { LONG_SWEEPS = 100, PATCH = 60, FEWEST = 6 };
  const scratch_mark mark = scratch_now(w);
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  const int most = l->G.nodes / (2 * PATCH);
  int repaired;
  ss_status status = large_stride(l, allowed(l, LONG_SWEEPS), LONG_PATIENCE, w, error);
  double *best = SCRATCH(w, double, l->cp.n), lowest = l->residual;
  if (!best && !status) status = out_of_memory(error);
  if (!status && l->residual > l->goal) {
    memcpy(best, l->x, bytes);
    status = large_patches(l, PATCH, most < FEWEST ? FEWEST : most, w, &repaired, error);
    if (!status) status = large_relax(l, true, allowed(l, MORE_SWEEPS), LITTLE_PATIENCE, w, error);
    if (l->residual > lowest) {
      memcpy(l->x, best, bytes);
      l->residual = large_judge(l, l->x, l->w);
    }
  }
  scratch_release(w, mark);
  return status;
}

/* Sweeps, and patches where they have got stuck at a small residual. */
static ss_status sweep_and_mend(large *l, failures *failed, ss_cp_workspace *w, ss_error *error) {
  if (l->residual >= failed->sweeps) return SS_OK;
  ss_status status = large_relax(l, true, allowed(l, MORE_SWEEPS), LITTLE_PATIENCE, w, error);
  const double swept = l->residual;
  const bool few = swept > l->goal && swept < fmin(few_places, much * failed->patches);
  if (!status && few && admits_round_sets(&l->cp)) {
    status = mend(l, w, error);
    if (l->residual > much * swept) failed->patches = swept;
  }
  failed->sweeps = l->residual;
  return status;
}

/* From l->x: sweeps, steps of the bodies, and the smoothing method in turn: where one gets stuck another one goes on. Which of them will
 * cannot be foreseen: the steps of the bodies, which get stuck least but are slow then, have little patience at first and four times
 * as much in every turn; the smoothing method comes where a turn has not brought much. Ends where the longest one has brought
 * little. */
static ss_status turn_about(large *l, ss_cp_workspace *w, ss_error *error) {
  static const double little = 0.5;
  failures failed = {HUGE_VAL, HUGE_VAL, HUGE_VAL};
  ss_status status = SS_OK;
  for (int patience = LEAST_PATIENCE; !status && l->residual > l->goal;) {
    const double before = l->residual;
    status = sweep_and_mend(l, &failed, w, error);
    const double swept = l->residual;
    if (!status && l->residual > l->goal) status = large_bodies(l, allowed(l, BODY_STEPS), patience, w, error);
    const bool slow = l->residual > l->goal && l->residual > much * swept;
    if (!status && slow) status = smooth_once(l, &failed, w, error);
    if (patience < MOST_PATIENCE)
      patience *= 4;
    else if (l->residual > little * before)
      break;
  }
  return status;
}

static ss_status through_bodies(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  body_sweep bodies;
  bool admitted;
  large_start(l, z);
  ss_status status = body_sweep_create(&bodies, l, w, &admitted, error);
  if (status) return status;
  if (admitted) l->bodies = &bodies;
  status = turn_about(l, w, error);
  l->bodies = NULL;
  scratch_release(w, mark);
  return status;
}

/* Problems so small that a factorisation costs as little as some sweeps: towers, chains and light bodies between heavy
 * ones, on which sweeps do not converge. What is left is for the ladder. */
static ss_status follow_paths(large *l, ss_cp_workspace *w, ss_error *error) {
  ss_status status = smooth(l, affordable(l), w, error);
  if (!status && l->residual > l->goal) status = large_interior(l, INTERIOR_STEPS, affordable(l), w, error);
  return status;
}

/* With discs. */
static ss_status take_turns_round(large *l, ss_cp_workspace *w, ss_error *error) {
  ss_status status = l->cp.n <= PATH_ROWS ? follow_paths(l, w, error) : patch_up(l, w, error);
  const double most = fmax(last_resort * affordable(l), last_operations);
  if (!status && l->residual > l->goal && !operator_has_bodies(l->original->factors))
    status = smooth(l, most, w, error);
  if (!status && l->residual > l->goal) status = large_interior(l, INTERIOR_STEPS / 2, most, w, error);
  return status;
}

/* With facets: no patches, no interior points. */
static ss_status take_turns_facets(large *l, ss_cp_workspace *w, ss_error *error) {
  ss_status status = SS_OK;
  for (int k = 1; k <= PLAIN_ROUNDS && !status && l->residual > l->goal; k++) {
    status = large_relax(l, false, k * PLAIN_SWEEPS, LONG_PATIENCE, w, error);
    if (!status) status = large_relax(l, true, MORE_SWEEPS, PATIENCE, w, error);
    if (!status) status = newton(l, w, error);
  }
  return status;
}

/* After the sweeps. */
static ss_status go_on(large *l, ss_cp_workspace *w, ss_error *error) {
  double *scratch = SCRATCH(w, double, l->cp.n);
  if (!scratch) return out_of_memory(error);
  if (large_done(l, scratch)) return SS_OK;
  return admits_round_sets(&l->cp) ? take_turns_round(l, w, error) : take_turns_facets(l, w, error);
}

/* The cheap beginning. */
static ss_status begin(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  const ss_status status = large_relax(l, true, MORE_SWEEPS, PATIENCE, w, error);
  return status ? status : newton(l, w, error);
}

static ss_status take_turns(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  const bool bodies = operator_has_bodies(l->original->factors);
  const ss_status status = bodies ? through_bodies(l, z, w, error) : begin(l, z, w, error);
  return status ? status : go_on(l, w, error);
}

/* From a z that `begin` has come to. */
static ss_status go_on_from(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return go_on(l, w, error);
}

/* Runs `method` on the whole problem, without looking for islands. */
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
    l.limit = options->iteration_limit;
    l.factor = method == plain ? options->relaxation : 0;
    l.order = method == plain ? options->order : SS_ORDER_GIVEN;
    status = method(&l, warm ? z : NULL, w, error);
    result->iterations = l.iterations;
    result->outcome = l.residual <= l.goal ? SS_SOLVED : l.stalled ? SS_STALLED : SS_LIMIT;
    large_finish(&l, z);
  }
  scratch_release(w, mark);
  return status;
}

static ss_status accelerated(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_relax(l, true, l->limit > 0 ? l->limit : MORE_SWEEPS, PATIENCE, w, error);
}

static ss_status plain(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_relax(l, false, l->limit > 0 ? l->limit : 10000, LONG_PATIENCE, w, error);
}

static ss_status newton_alone(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  bool tried;
  large_start(l, z);
  const ss_status status = z ? SS_OK : large_relax(l, false, 10, LONG_PATIENCE, w, error);
  return status ? status : large_newton(l, l->limit > 0 ? l->limit : 50, HUGE_VAL, w, &tried, error);
}

static ss_status admm(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_admm(l, l->limit > 0 ? l->limit : 3000, HUGE_VAL, w, error);
}

static ss_status interior(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_interior(l, l->limit > 0 ? l->limit : INTERIOR_STEPS, HUGE_VAL, w, error);
}

static ss_status smoothing(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_smoothing(l, z ? fmin(1, 3 * l->residual) : 1, l->limit > 0 ? l->limit : 200, HUGE_VAL, w, error);
}

/* In walls the factors fill up, and the range of the matrix is the better place. */
static ss_status cheap_smoothing(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  static const double worth = 250;
  (void)z;
  large_start(l, NULL);
  return large_smoothing(l, 1, allowed(l, SMOOTHING_STEPS), worth * sweep_operations(l), w, error);
}

ss_status solve_body_newton(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  result->outcome = SS_NOT_ADMITTED;
  if (!operator_has_bodies(problem->factors)) return SS_OK;
  return run(problem, options, through_bodies, warm, z, workspace, result, error);
}

ss_status solve_smoothing(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                          ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, smoothing, warm, z, workspace, result, error);
}

ss_status solve_smoothing_cheap(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, cheap_smoothing, warm, z, workspace, result, error);
}

ss_status solve_nsgs_sparse(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, plain, warm, z, workspace, result, error);
}

ss_status solve_nsgs_accelerated(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                 ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, accelerated, warm, z, workspace, result, error);
}

ss_status solve_newton_sparse(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, newton_alone, warm, z, workspace, result, error);
}

ss_status solve_admm(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                     ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  result->outcome = SS_NOT_ADMITTED;
  return admits_round_sets(problem) ? run(problem, options, admm, warm, z, workspace, result, error) : SS_OK;
}

ss_status solve_interior_point(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                               ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  result->outcome = SS_NOT_ADMITTED;
  return admits_round_sets(problem) ? run(problem, options, interior, warm, z, workspace, result, error) : SS_OK;
}

/* The methods for the matrix made dense: range-newton, which takes large sparse ones as they are, and a short attempt of the smoothing
 * method, unless the caller has tried both on the same problem (`newton_too` is false), and up to CONTINUED_ROWS attempts of Lemke's
 * method and of continuation. Leaves z as it is where none finds a solution. */
static ss_status by_range(const ss_cp *problem, const ss_cp_options *options, bool newton_too, double *z,
                          ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  const bool moderate = problem->n <= CONTINUED_ROWS;
  const int variables = lcp_variables(problem);
  const struct {
    cp_solve_function *solve;
    int limit;
    bool wanted;
  } tries[] = {{problem->n > RANGE_ROWS ? solve_redundant : solve_range_newton,
                moderate ? FEW_RANGE_STEPS : RANGE_STEPS, newton_too},
               {solve_smoothing, SHORT_SMOOTHING, newton_too && moderate && has_spatial_friction(problem)},
               {solve_lemke, variables + variables / 2, moderate && variables <= LEMKE_VARIABLES},
               {solve_continuation, CONTINUATION_STEPS, moderate && has_spatial_friction(problem)}};
  enum { TRIES = sizeof tries / sizeof *tries };
  const scratch_mark mark = scratch_now(w);
  ss_cp dense;
  double *trial = SCRATCH(w, double, problem->n);
  const bool sparse = problem->sparse && problem->n > RANGE_ROWS && !some_free(problem);
  ss_status status = !trial ? out_of_memory(error) : sparse ? SS_OK : storage_dense(problem, w, &dense, error);
  int iterations = 0;
  bool solved = false;
  for (int k = 0; k < TRIES && !status && !solved; k++) {
    if (!tries[k].wanted) continue;
    const scratch_mark inner = scratch_now(w);
    ss_cp_options own = *options;
    own.iteration_limit = tries[k].limit;
    result->iterations = 0;
    status = tries[k].solve(sparse ? problem : &dense, &own, false, trial, w, result, error);
    scratch_release(w, inner);
    iterations += result->iterations;
    solved = !status && result->outcome != SS_NOT_ADMITTED && ss_cp_judge(problem, trial, NULL) <= options->tolerance;
  }
  if (solved) memcpy(z, trial, sizeof *z * (size_t)problem->n);
  result->outcome = solved ? SS_SOLVED : SS_LIMIT;
  result->iterations = iterations;
  scratch_release(w, mark);
  return status;
}

/* Moderately large ones that sweeps do not solve go along range-newton before the rounds of patches. */
static ss_status solve_whole(const ss_cp *problem, const ss_cp_options *options, bool warm, bool newton_too, double *z,
                             ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  if (problem->n > REDUNDANT_ROWS || operator_has_bodies(problem->factors))
    return run(problem, options, take_turns, warm, z, w, result, error);
  ss_status status = run(problem, options, begin, warm, z, w, result, error);
  if (status || result->outcome == SS_SOLVED || result->outcome == SS_NOT_ADMITTED) return status;
  int iterations = result->iterations;
  status = by_range(problem, options, newton_too, z, w, result, error);
  result->iterations = iterations += result->iterations;
  if (status || result->outcome == SS_SOLVED) return status;
  status = run(problem, options, go_on_from, true, z, w, result, error);
  result->iterations += iterations;
  return status;
}

/* ---- islands ---- */

/* Solves island k and copies its z. */
static ss_status solve_island(const islands *s, int k, const ss_cp *problem, const ss_sparse *G,
                              const ss_cp_options *options, bool warm, bool newton_too, double *z, ss_cp_workspace *w,
                              ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  island i;
  ss_cp_result own = {0};
  ss_status status = island_create(&i, s, k, problem, G, z, w, error);
  if (!status && i.cp.n > ISLAND_ROWS)
    status = solve_whole(&i.cp, options, warm, newton_too, i.z, w, &own, error);
  else if (!status)
    status = ss_cp_solve(&i.cp, options, warm, i.z, w, &own, error);
  for (int m = s->start[k]; m < s->start[k + 1] && !status; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) z[r] = i.z[s->row[r]] * s->amplitude;
  result->iterations += own.iterations;
  if (own.outcome != SS_SOLVED) result->outcome = own.outcome;
  scratch_release(w, mark);
  return status;
}

/* `range_tried`: by range-newton, as a whole, which is in vain once more for the only island. */
static ss_status solve_islands(const ss_cp *problem, const ss_cp_options *options, bool warm, bool range_tried,
                               double *z, ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(workspace);
  ss_cp_options own = *options;
  own.solver = "auto";
  ss_sparse G;
  islands s = {0};
  ss_status status = storage_rows(problem, workspace, &G, error);
  if (!status) status = islands_find(&s, problem, &G, workspace, error);
  if (!status) islands_sort(&s);
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(problem->g[i]));
  s.amplitude = 1 / inverse_power(largest);
  result->outcome = SS_SOLVED;
  for (int k = 0; k < s.count && !status; k++)
    status = solve_island(&s, k, problem, &G, &own, warm, !range_tried || s.count > 1, z, workspace, result, error);
  scratch_release(workspace, mark);
  return status;
}

ss_status solve_large(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve_islands(problem, options, warm, false, z, workspace, result, error);
}

ss_status solve_large_rest(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                           ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve_islands(problem, options, warm, true, z, workspace, result, error);
}
