/* From a problem to an answer: units, the form of the matrix, and what "auto" tries before and beside its ladder.
 *
 * Every z is judged from the problem's data. "auto": z = 0; contacts that were written as plain rows; large sparse problems
 * their own way (large_solve.c); then the ladder of dense solvers (ladder.c). */
#include "cp/at_once.h"
#include "cp/climb.h"
#include "cp/storage.h"
#include "cp/units.h"

#include <math.h>
#include <string.h>

enum {
  FEW = 240,
  PLAIN_ROWS = 12, /* up to which a plain LCP is solved before contacts are found in it */
  ACTIVE_ROWS = 1500,
  RANGE_ROWS = 900,  /* up to which sparse problems are made dense at once */
  LAST_RESORT = 1200 /* rows up to which the dense solvers come to an end in bearable time */
};

static ss_status run_named(climb *c, bool warm, ss_error *error) {
  bool any_form;
  const solver_row *row = find_solver(c->options->solver, &any_form);
  if (!row) return ss_fail(error, SS_ERROR_INPUT, "unknown complementarity solver '%s'", c->options->solver);
  ss_outcome outcome;
  const ss_status status = try_row(c, row, 0, warm ? c->start : NULL, &outcome, error);
  if (outcome == SS_NOT_ADMITTED) c->result->outcome = outcome;
  return status;
}

/* The way of large sparse problems, before the ladder: what is solved from its start or in the range of its matrix needs
 * no sweeps. Moderate ones that are neither: some sweeps, from where they lead Newton's method in the range, and the path of
 * smoothed problems. *ended: that was all. */
static ss_status climb_large(climb *c, bool warm, bool *ended, ss_error *error) {
  static const solver_row weak = {"nsgs", solve_weakly_coupled}, redundant = {"range-newton", solve_redundant};
  static const solver_row without = {"large", solve_without_free}, active = {"active-set", solve_active_set};
  static const solver_row combined = {"large", solve_combined}, large = {"large", solve_large};
  static const solver_row sweeps = {"nsgs-accelerated", solve_nsgs_accelerated};
  static const solver_row range = {"range-newton", solve_range_newton}, smooth = {"smoothing", solve_smoothing_cheap};
  static const solver_row curve = {"continuation", solve_continuation}, rest = {"large", solve_large_rest};
  static const solver_row refuted = {"ray", solve_refuted};
  const bool moderate = c->problem->G && c->problem->n <= RANGE_ROWS && has_spatial_friction(c->problem);
  const bool anew = !warm && moderate;
  const struct {
    const solver_row *row;
    int limit;
    bool wanted, onward; /* from the best z so far */
  } tries[] = {{&weak, 0, !warm && c->problem->G && has_spatial_friction(c->problem), false},
               {&active, 3, warm && c->problem->G && c->problem->n <= ACTIVE_ROWS, false}, /* a pile at rest */
               {&without, 0, true, false},
               {&combined, 0, true, false},
               {&redundant, 300, moderate, false},
               {&sweeps, 60, anew, false},
               {&range, 200, anew, true},
               {&refuted, 0, moderate, false},
               {&curve, 100, anew, false},
               {&smooth, 90, anew, false},
               {&large, 0, true, anew}};
  enum { TRIES = sizeof tries / sizeof *tries };
  bool range_tried = false;
  *ended = true;
  for (int k = 0; k < TRIES; k++) {
    if (!tries[k].wanted) continue;
    ss_outcome outcome;
    const double *from = tries[k].onward ? c->z : warm ? c->start : NULL;
    const solver_row *row = tries[k].row == &large && range_tried ? &rest : tries[k].row;
    const ss_status status = try_row(c, row, tries[k].limit, from, &outcome, error);
    if (status || c->result->outcome == SS_SOLVED) return status;
    range_tried = range_tried || (row == &redundant && outcome != SS_NOT_ADMITTED);
    if (outcome != SS_NOT_ADMITTED || k == TRIES - 1) c->result->fallbacks++;
    if (proved_impossible(c)) return SS_OK;
  }
  *ended = c->problem->n > LAST_RESORT;
  return SS_OK;
}

/* After work on a dense copy, whose sums have other rounding errors. */
static void judge_as_given(climb *c, const ss_cp *given) {
  c->problem = given;
  if (!(c->result->residual < HUGE_VAL)) return;
  c->result->residual = ss_cp_judge(given, c->z, NULL);
  if (c->result->outcome == SS_SOLVED && c->result->residual > c->options->tolerance) c->result->outcome = SS_STALLED;
}

static ss_status climb_any(climb *c, bool warm, ss_error *error) {
  bool ended = false;
  const ss_status status = large_wanted(c->problem) ? climb_large(c, warm, &ended, error) : SS_OK;
  if (status || ended) return status;
  ss_cp dense;
  const ss_cp *given = c->problem;
  if (!given->G) {
    if (given->n > SS_CP_DENSE_ROWS) return SS_OK;
    const ss_status made = storage_dense(given, c->workspace, &dense, error);
    if (made) return made;
    c->problem = &dense;
  }
  const ss_status climbed = climb_ladder(c, warm, error);
  if (c->problem != given) judge_as_given(c, given);
  return climbed;
}

/* Contacts that were written out as plain rows are solved as contacts. What fails there fails as an LCP as well, unless it is
 * small enough for methods that try everything. */
static ss_status climb_as_friction(climb *c, bool warm, bool *ended, ss_error *error) {
  static const solver_row row = {"friction-form", solve_friction_form};
  ss_outcome outcome;
  *ended = false;
  if (!warm && c->problem->n <= PLAIN_ROWS && is_tiny_lcp(c->problem)) return SS_OK;
  const ss_status status = try_row(c, &row, 0, warm ? c->start : NULL, &outcome, error);
  if (status || outcome == SS_NOT_ADMITTED) return status;
  *ended = c->result->outcome == SS_SOLVED || c->problem->n > FEW;
  if (c->result->outcome != SS_SOLVED) c->result->fallbacks++;
  return SS_OK;
}

/* The problem has the form that the solver needs, or none that it could be given. */
static ss_status climb_or_run(climb *c, bool automatic, bool warm, ss_error *error) {
  bool any_form = true, ended = false;
  if (!automatic) (void)find_solver(c->options->solver, &any_form);
  const ss_cp *given = c->problem;
  ss_cp dense;
  const ss_status tried = automatic ? climb_as_friction(c, warm, &ended, error) : SS_OK;
  if (tried || ended) return tried;
  if (!given->G && (!any_form || (automatic && (given->n <= RANGE_ROWS || !large_wanted(given))))) {
    if (given->n > SS_CP_DENSE_ROWS) {
      c->result->outcome = SS_NOT_ADMITTED;
      return SS_OK;
    }
    const ss_status status = storage_dense(given, c->workspace, &dense, error);
    if (status) return status;
    c->problem = &dense;
  }
  const ss_status status = automatic ? climb_any(c, warm, error) : run_named(c, warm, error);
  if (c->problem != given) judge_as_given(c, given);
  return status;
}

/* Nothing finite was found: the z that is returned is judged like any other. */
static void keep_zero(climb *c) {
  c->result->residual = ss_cp_judge(c->problem, c->z, NULL);
  if (c->result->residual <= c->options->tolerance) c->result->outcome = SS_SOLVED;
}

static ss_status solve_as_given(const ss_cp *problem, const ss_cp_options *options, bool automatic, bool warm,
                                double *z, ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(workspace);
  double *memory = SCRATCH(workspace, double, 2 * (size_t)problem->n);
  if (!memory) return out_of_memory(error);
  for (int i = 0; i < problem->n; i++) {
    memory[i] = warm && isfinite(z[i]) ? z[i] : 0;
    z[i] = 0;
  }
  climb c = {problem, options, workspace, memory, z, memory + problem->n, result};
  const ss_status status = climb_or_run(&c, automatic, warm, error);
  if (!status && result->residual == HUGE_VAL && result->outcome != SS_NOT_ADMITTED) /* z is still 0 */
    keep_zero(&c);
  scratch_release(workspace, mark);
  return status;
}

/* In units in which both z and w are of size one. `settled`: solved in both, or not to be solved; else (the last digits of large
 * numbers) the caller goes on from z in the units that are given. */
static ss_status solve_in_units(const ss_cp *problem, cp_units u, const ss_cp_options *options, bool warm, double *z,
                                ss_cp_workspace *workspace, ss_cp_result *result, bool *settled, ss_error *error) {
  ss_cp usual;
  const scratch_mark mark = scratch_now(workspace);
  ss_status status = units_change(problem, u, workspace, &usual, error);
  for (int i = 0; i < problem->n && warm; i++) z[i] /= u.z;
  if (!status) status = solve_as_given(&usual, options, true, warm, z, workspace, result, error);
  for (int i = 0; i < problem->n; i++) z[i] *= u.z;
  scratch_release(workspace, mark);
  if (result->residual < nearly_solved) result->outcome = SS_SOLVED; /* as far as the units that are given can tell */
  result->residual = ss_cp_judge(problem, z, NULL);
  *settled = result->residual < HUGE_VAL && (result->outcome != SS_SOLVED || result->residual <= options->tolerance);
  return status;
}

ss_status ss_cp_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const ss_cp_result nothing = {.outcome = SS_STALLED, .residual = HUGE_VAL, .solver = options->solver};
  const bool automatic = strcmp(options->solver, "auto") == 0;
  *result = nothing;
  if (automatic && !warm && solve_at_once(problem, options, z, workspace, result)) return SS_OK;
  *result = nothing;
  if (problem->n > 0 && !storage_finite(problem)) {
    for (int i = 0; i < problem->n; i++) z[i] = 0;
    return SS_OK;
  }
  if (is_whole(problem) && problem->n > 0) return whole_solve(problem, options, warm, z, workspace, result, error);
  cp_units units;
  bool settled = false;
  if (automatic && units_needed(problem, &units)) {
    const ss_status status = solve_in_units(problem, units, options, warm, z, workspace, result, &settled, error);
    if (status || settled) return status;
    result->residual = HUGE_VAL; /* z is the start now, not the best so far */
    warm = true;
  }
  return solve_as_given(problem, options, automatic, warm, z, workspace, result, error);
}
