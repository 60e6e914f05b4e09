/* From a problem to an answer: units, smaller problems that it can be posed as, and the strategy.
 *
 * Every z is judged from the problem's data. "auto": what needs no solver; contacts that were written as plain rows; of large sparse
 * problems idle tangents, velocities, rows without a diagonal and islands, which are problems of their own; then the strategy (strategy.c). */
#include "cp/climb.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

enum {
  PLAIN_ROWS = 12, /* up to which a plain LCP is solved before contacts are found in it */
  FEW = 240        /* up to which methods that try everything are worth trying on it as it was given */
};

/* A solver by its name; those that need a dense matrix get one, if it is not too large. */
static ss_status run_named(climb *c, bool warm, ss_error *error) {
  bool any_form;
  const solver_row *row = find_solver(c->options->solver, &any_form);
  if (!row) return ss_fail(error, SS_ERROR_INPUT, "unknown complementarity solver '%s'", c->options->solver);
  ss_cp dense;
  const ss_cp *given = c->problem;
  ss_outcome outcome = SS_NOT_ADMITTED;
  ss_status status = SS_OK;
  if (any_form || given->G || given->n <= SS_CP_DENSE_ROWS) {
    if (!any_form && !given->G) {
      status = storage_dense(given, c->workspace, &dense, error);
      c->problem = &dense;
    }
    if (!status) status = try_row(c, row, (attempt){.from = warm ? c->start : NULL}, &outcome, error);
  }
  judge_as_given(c, given);
  if (outcome == SS_NOT_ADMITTED) c->result->outcome = outcome;
  return status;
}

/* Whether contacts are looked for in rows of an LCP: tiny ones are solved sooner. */
static bool may_hide_contacts(const ss_cp *problem, bool warm) {
  return warm || problem->n > PLAIN_ROWS || !is_tiny_lcp(problem);
}

/* Poses the problem anew where that makes it smaller or easier. *ended: what fails there fails as it was given as well. */
static ss_status pose_anew(climb *c, bool warm, bool *ended, ss_error *error) {
  const int n = c->problem->n;
  const bool large = is_large_and_sparse(c->problem);
  const struct {
    solver_row row;
    bool wanted, final;
  } ways[] = {{{"friction-form", solve_friction_form}, may_hide_contacts(c->problem, warm), n > FEW},
              {{"large", solve_frictionless}, large, true},
              {{"large", solve_without_free}, large, false},
              {{"large", solve_combined}, large, false},
              {{"large", solve_islands}, large, true}};
  ss_cp_options any = *c->options; /* the selection is made from the problem as it was given */
  climb posed = *c;
  const attempt from = {.from = warm ? c->start : NULL};
  any.any = true;
  posed.options = &any;
  *ended = false;
  for (size_t k = 0; k < sizeof ways / sizeof *ways && !*ended; k++) {
    ss_outcome outcome;
    if (!ways[k].wanted) continue;
    const ss_status status = try_row(&posed, &ways[k].row, from, &outcome, error);
    if (status) return status;
    if (outcome == SS_NOT_ADMITTED) continue;
    const bool solved = c->result->outcome == SS_SOLVED;
    if (!solved) c->result->fallbacks++;
    *ended = solved || ways[k].final || proved_impossible(c);
  }
  return SS_OK;
}

/* Nothing finite was found: the z that is returned is judged like any other. */
static void keep_zero(climb *c) {
  c->result->residual = ss_cp_judge(c->problem, c->z, NULL);
  if (c->result->residual <= c->options->tolerance) c->result->outcome = SS_SOLVED;
}

/* The last digits: a step of the active-set method with the least change of z. What it changes by more than rounding errors of the
 * compliant problem is another solution, and not taken. */
static ss_status sharpen(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *workspace,
                         ss_cp_result *result, ss_error *error) {
  static const double sharp = 2e-15, little = 1e-6;
  enum { MOST_ROWS = 600, STEPS = 3 };
  if (!problem->G || problem->n > MOST_ROWS || result->residual <= sharp || is_coarse(options)) return SS_OK;
  const scratch_mark mark = scratch_now(workspace);
  double *x = SCRATCH(workspace, double, problem->n), size = 0, change = 0;
  if (!x) return out_of_memory(error);
  memcpy(x, z, sizeof(double) * (size_t)problem->n);
  ss_cp_result own = {0};
  const ss_cp_options active = {.solver = "active-set", .tolerance = options->tolerance, .iteration_limit = STEPS};
  const ss_status status = solve_active_set(problem, &active, true, x, workspace, &own, error);
  for (int i = 0; i < problem->n; i++) {
    size = fmax(size, fabs(z[i]));
    change = fmax(change, fabs(x[i] - z[i]));
  }
  const double residual = status ? HUGE_VAL : ss_cp_judge(problem, x, NULL);
  if (residual < result->residual && change <= little * size) {
    memcpy(z, x, sizeof(double) * (size_t)problem->n);
    result->residual = residual;
  }
  scratch_release(workspace, mark);
  return status;
}

/* Up to what rounding errors of a nearly rigid problem make of it. */
static bool is_same(const double *x, const double *z, int n) {
  static const double noise = 1e-9;
  double size = 0, apart = 0;
  for (int i = 0; i < n; i++) {
    size = fmax(size, fabs(z[i]));
    apart = fmax(apart, fabs(x[i] - z[i]));
  }
  return apart <= noise * size;
}

/* The limit of vanishing compliance among the solutions, where there may be several. It is taken where it solves the problem as exactly as
 * the one that was found: contacts at the end of their friction, say, leave it few digits. */
static ss_status select(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *workspace,
                        ss_cp_result *result, ss_error *error) {
  static const double exact = 1e-13, nearly = 10;
  enum { NEWTONS = 10 }; /* from states that are right; a crowd would pay in every step for more */
  if (problem->compliance_matrix) result->selected = false; /* by the diagonal of it alone */
  result->selected = result->selected || is_determined(problem, z, workspace);
  if (result->selected) return sharpen(problem, options, z, workspace, result, error);
  if (is_large_and_sparse(problem) && (is_coarse(options) || strcmp(result->solver, "proximal-newton") == 0))
    return SS_OK;
  const scratch_mark mark = scratch_now(workspace);
  double *x = SCRATCH(workspace, double, problem->n);
  if (!x) return out_of_memory(error);
  memcpy(x, z, sizeof(double) * (size_t)problem->n);
  ss_cp_result own = *result;
  ss_cp_options bounded = *options;
  ss_status status = SS_OK;
  if (!(bounded.work > 0)) bounded.work = first_work(problem);
  if (is_large_and_sparse(problem)) bounded.iteration_limit = NEWTONS;
  if (!select_directly(problem, options, x, workspace, &own) && !problem->compliance_matrix)
    status = select_solution(problem, &bounded, x, workspace, &own, error);
  result->operations = own.operations;
  if (!status && own.selected && is_same(x, z, problem->n)) { /* and the one that was found has no noise */
    result->selected = true;
    own.selected = false;
  }
  if (!status && own.selected) status = sharpen(problem, options, x, workspace, &own, error);
  const double enough = problem->compliance_matrix ? options->tolerance / 10 : fmax(exact, nearly * result->residual);
  if (!status && own.selected && own.residual <= fmin(options->tolerance, enough)) {
    memcpy(z, x, sizeof(double) * (size_t)problem->n);
    own.solver = result->solver;
    *result = own;
    result->residual = ss_cp_judge(problem, z, NULL);
  }
  scratch_release(workspace, mark);
  return status;
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
  bool ended = false;
  ss_status status = automatic ? pose_anew(&c, warm, &ended, error) : run_named(&c, warm, error);
  if (automatic && !status && !ended) status = run_strategy(&c, warm, error);
  if (automatic && !options->any && !status && result->outcome == SS_SOLVED)
    status = select(problem, options, z, workspace, result, error);
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

static bool is_zero(const double *z, int n) {
  for (int i = 0; i < n; i++)
    if (z[i] != 0) return false;
  return true;
}

ss_status ss_cp_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const ss_cp_result nothing = {.outcome = SS_STALLED, .residual = HUGE_VAL, .solver = options->solver};
  const bool automatic = strcmp(options->solver, "auto") == 0;
  *result = nothing;
  if (has_generated(problem)) return solve_generated(problem, options, warm, z, workspace, result, error);
  if (automatic && !warm && solve_at_once(problem, options, z, workspace, result)) {
    result->selected = is_zero(z, problem->n) && !problem->compliance_offset;
    return options->any || result->selected ? SS_OK : select(problem, options, z, workspace, result, error);
  }
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
    result->residual = HUGE_VAL;  /* z is the start now, not the best so far */
    ss_cp_options any = *options; /* it has been selected in better units */
    any.any = true;
    return solve_as_given(problem, &any, automatic, true, z, workspace, result, error);
  }
  return solve_as_given(problem, options, automatic, warm, z, workspace, result, error);
}
