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

/* A solver by its name, once; those that need a dense matrix get one, if it is not too large. */
static ss_status named_next(climb *c, ss_error *error) {
  bool any_form;
  const solver_row *row = find_solver(c->options->solver, &any_form);
  if (!row) return ss_fail(error, SS_ERROR_INPUT, "unknown complementarity solver '%s'", c->options->solver);
  const bool first = !c->rounds.begun, admitted = any_form || c->problem->G || c->problem->n <= SS_CP_DENSE_ROWS;
  if (!admitted || c->now.result.outcome == SS_NOT_ADMITTED) c->result->outcome = SS_NOT_ADMITTED;
  c->now = (attempt){.row = first && admitted ? row : NULL, .options = *c->options, .from = c->warm ? c->start : NULL};
  c->rounds.begun = true;
  if (!c->now.row || any_form || c->problem->G) return SS_OK;
  const ss_status status = storage_dense(c->problem, c->workspace, &c->rounds.dense, error);
  c->problem = &c->rounds.dense;
  return status;
}

/* Whether contacts are looked for in rows of an LCP: tiny ones are solved sooner. */
static bool may_hide_contacts(const ss_cp *problem, bool warm) {
  return warm || problem->n > PLAIN_ROWS || !is_tiny_lcp(problem);
}

/* Poses the problem anew where that makes it smaller or easier. */
static const solver_row ways[] = {{"friction-form", solve_friction_form},
                                  {"large", solve_frictionless},
                                  {"large", solve_without_free},
                                  {"large", solve_combined},
                                  {"large", solve_islands}};
enum { WAYS = sizeof ways / sizeof *ways };

static bool is_wanted(const climb *c, const solver_row *way) {
  return way->solve == solve_friction_form ? may_hide_contacts(c->problem, c->warm) : is_large_and_sparse(c->problem);
}

/* What fails there fails as it was given as well. */
static bool is_final(const climb *c, const solver_row *way) {
  if (way->solve == solve_friction_form) return c->problem->n > FEW;
  return way->solve == solve_frictionless || way->solve == solve_islands;
}

/* What is tried next: the ways, then the strategy. */
static ss_status next(climb *c, ss_error *error) {
  if (!c->automatic) return named_next(c, error);
  if (c->way > 0 && c->way <= WAYS && c->now.row && c->now.result.outcome != SS_NOT_ADMITTED) {
    const bool solved = c->result->outcome == SS_SOLVED;
    if (!solved) c->result->fallbacks++;
    if (solved || is_final(c, &ways[c->way - 1]) || proved_impossible(c)) {
      c->now.row = NULL;
      return SS_OK;
    }
  }
  for (; c->way < WAYS; c->way++) {
    if (!is_wanted(c, &ways[c->way])) continue;
    c->now = (attempt){.row = &ways[c->way++], .options = *c->options, .from = c->warm ? c->start : NULL};
    c->now.options.any = true; /* the selection is made from the problem as it was given */
    return SS_OK;
  }
  c->way = WAYS + 1;
  return strategy_next(c, error);
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
  if (is_rough(problem, options)) return SS_OK;
  if (is_large_and_sparse(problem) && strcmp(result->solver, "proximal-newton") == 0) return SS_OK;
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

/* From the caller's z, which is zero until something is found. */
static ss_status begin(climb *c, ss_error *error) {
  const int n = c->given->n;
  double *start = SCRATCH(c->workspace, double, 2 * (size_t)n);
  if (!start) return out_of_memory(error);
  for (int i = 0; i < n; i++) {
    start[i] = c->warm && isfinite(c->z[i]) ? c->z[i] : 0;
    c->z[i] = 0;
  }
  c->problem = c->given;
  c->start = start;
  c->trial = start + n;
  return SS_OK;
}

/* What was found on another form of the matrix, whose sums have other rounding errors, is judged; the selection. */
static ss_status end(climb *c, ss_error *error) {
  ss_cp_result *result = c->result;
  if (c->problem != c->given && result->residual < HUGE_VAL) {
    result->residual = ss_cp_judge(c->given, c->z, NULL);
    if (result->outcome == SS_SOLVED && result->residual > c->options->tolerance) result->outcome = SS_STALLED;
  }
  c->problem = c->given;
  ss_status status = SS_OK;
  if (c->automatic && !c->options->any && result->outcome == SS_SOLVED)
    status = select(c->problem, c->options, c->z, c->workspace, result, error);
  if (!status && result->residual == HUGE_VAL && result->outcome != SS_NOT_ADMITTED) keep_zero(c);
  return status;
}

/* Units in which both z and w are of size one: the climb is in these first. */
static ss_status to_units(climb *c, const cp_units *u, ss_cp *usual, ss_error *error) {
  for (int i = 0; i < c->given->n && c->warm; i++) c->z[i] /= u->z;
  const ss_status status = units_change(c->given, *u, c->workspace, usual, error);
  if (!status) c->given = usual;
  return status;
}

/* Back. True where it is solved in both, or not to be solved; else (the last digits of large numbers) it goes on from z as it was given,
 * without a selection, which has been made in better units. */
static bool from_units(climb *c, const cp_units *u, const ss_cp *problem, ss_cp_options *any) {
  ss_cp_result *result = c->result;
  for (int i = 0; i < problem->n; i++) c->z[i] *= u->z;
  if (result->residual < nearly_solved) result->outcome = SS_SOLVED; /* as far as the units that are given can tell */
  result->residual = ss_cp_judge(problem, c->z, NULL);
  if (result->residual < HUGE_VAL && (result->outcome != SS_SOLVED || result->residual <= c->options->tolerance))
    return true;
  result->residual = HUGE_VAL; /* z is the start now, not the best so far */
  *any = *c->options;
  any->any = true;
  *c = (climb){.given = problem,
               .options = any,
               .workspace = c->workspace,
               .automatic = true,
               .warm = true,
               .z = c->z,
               .result = result};
  return false;
}

static bool is_zero(const double *z, int n) {
  for (int i = 0; i < n; i++)
    if (z[i] != 0) return false;
  return true;
}

/* What needs no climb. */
static bool is_answered(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                        ss_cp_workspace *workspace, ss_cp_result *result, ss_status *status, ss_error *error) {
  const ss_cp_result nothing = {.outcome = SS_STALLED, .residual = HUGE_VAL, .solver = options->solver};
  *result = nothing;
  *status = SS_OK;
  if (has_generated(problem)) {
    *status = solve_generated(problem, options, warm, z, workspace, result, error);
    return true;
  }
  if (strcmp(options->solver, "auto") == 0 && !warm && solve_at_once(problem, options, z, workspace, result)) {
    result->selected = is_zero(z, problem->n) && !problem->compliance_offset;
    if (!options->any && !result->selected) *status = select(problem, options, z, workspace, result, error);
    return true;
  }
  *result = nothing;
  if (problem->n > 0 && !storage_finite(problem)) {
    for (int i = 0; i < problem->n; i++) z[i] = 0;
    return true;
  }
  const bool whole = is_whole(problem) && problem->n > 0;
  if (whole) *status = whole_solve(problem, options, warm, z, workspace, result, error);
  return whole;
}

ss_status ss_cp_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  ss_status status;
  if (is_answered(problem, options, warm, z, workspace, result, &status, error)) return status;
  const scratch_mark mark = scratch_now(workspace);
  climb c = {.given = problem,
             .options = options,
             .workspace = workspace,
             .automatic = strcmp(options->solver, "auto") == 0,
             .warm = warm,
             .z = z,
             .result = result};
  cp_units units;
  ss_cp usual;
  ss_cp_options any;
  bool other_units = c.automatic && units_needed(problem, &units);
  if (other_units) status = to_units(&c, &units, &usual, error);
  for (bool settled = false; !status && !settled;) {
    status = begin(&c, error);
    while (!status) {
      status = next(&c, error);
      if (status || !c.now.row) break;
      const attempt *a = &c.now;
      const scratch_mark own = scratch_now(workspace);
      status = attempt_begin(&c, error);
      if (!status)
        status = a->row->solve(c.problem, &a->options, a->from != NULL, c.trial, workspace, &c.now.result, error);
      scratch_release(workspace, own);
      if (!status) status = attempt_end(&c, error);
    }
    if (!status) status = end(&c, error);
    settled = !other_units || status || from_units(&c, &units, problem, &any);
    other_units = false;
  }
  scratch_release(workspace, mark);
  return status;
}
