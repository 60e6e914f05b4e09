/* Attempts of the strategy. Every z is judged from the problem's data; a z that is nearly a solution is polished by a step of
 * the active-set method, which starts from the original data. */
#include "cp/climb.h"

#include <math.h>

static const double polish_above = 1e-13; /* residuals below are at rounding level */

static void keep_if_better(climb *c, double residual, ss_outcome outcome, const char *name) {
  if (!(residual < c->result->residual)) return;
  c->result->residual = residual;
  c->result->outcome = residual <= c->options->tolerance ? SS_SOLVED : outcome;
  c->result->solver = name;
  if (c->result->outcome == SS_SOLVED) c->result->no_solution = false; /* then the proof was rounding */
  for (int i = 0; i < c->problem->n; i++) c->z[i] = c->trial[i];
}

static ss_status polish(climb *c, double residual, const solver_row *row, ss_error *error) {
  const bool ends_so = row->solve == solve_active_set || row->solve == solve_few_contacts; /* with Newton steps */
  if (is_coarse(c->options) && residual <= c->options->tolerance) return SS_OK;
  if (!c->problem->G || ends_so || !(residual > polish_above && residual < polish_below)) return SS_OK;
  if (row->solve == solve_friction_form && residual <= c->options->tolerance)
    return SS_OK; /* polished as it was posed */
  ss_cp_result own = {0};
  const ss_cp_options options = {.solver = row->name, .tolerance = c->options->tolerance, .iteration_limit = 3};
  const scratch_mark mark = scratch_now(c->workspace);
  const ss_status status = solve_active_set(c->problem, &options, true, c->trial, c->workspace, &own, error);
  scratch_release(c->workspace, mark);
  if (status) return status;
  c->result->iterations += own.iterations;
  keep_if_better(c, own.residual, SS_LIMIT, row->name);
  return SS_OK;
}

/* What an attempt took: what the method says, or as many factorisations as it has iterations, within what it was given. */
static double operations_of(const climb *c, const ss_cp_options *options, const ss_cp_result *own) {
  const double n = c->problem->n, most = options->work > 0 ? options->work : HUGE_VAL;
  return own->operations > 0 ? own->operations : fmin(own->iterations * n * n * n / 3, most);
}

ss_status try_row(climb *c, const solver_row *row, attempt a, ss_outcome *outcome, ss_error *error) {
  ss_cp_result own = {.outcome = SS_STALLED, .residual = -1};
  ss_cp_options options = *c->options;
  if (options.stop && options.stop(options.stop_user)) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
  if (options.iteration_limit <= 0) options.iteration_limit = a.limit;
  if (a.work > 0) options.work = options.work > 0 ? fmin(options.work, a.work) : a.work;
  if (options.total > 0) { /* what is left of it */
    options.total = fmax(options.total - c->result->operations, 1);
    options.work = options.work > 0 ? fmin(options.work, options.total) : options.total;
  }
  for (int i = 0; i < c->problem->n; i++) c->trial[i] = a.from ? a.from[i] : 0;
  const scratch_mark mark = scratch_now(c->workspace);
  ss_status status = row->solve(c->problem, &options, a.from != NULL, c->trial, c->workspace, &own, error);
  scratch_release(c->workspace, mark);
  *outcome = own.outcome;
  c->result->no_solution = c->result->no_solution || own.no_solution;
  c->result->iterations += own.iterations;
  c->result->operations += operations_of(c, &options, &own);
  if (status || own.outcome == SS_NOT_ADMITTED) return status;
  const double residual = own.residual >= 0 ? own.residual : ss_cp_judge(c->problem, c->trial, NULL);
  keep_if_better(c, residual, own.outcome == SS_SOLVED ? SS_STALLED : own.outcome, row->name);
  if (own.selected && residual <= c->options->tolerance) {
    c->result->selected = true;
    return SS_OK;
  }
  return polish(c, residual, row, error);
}

bool proved_impossible(climb *c) {
  if (!c->result->no_solution || c->result->residual < nearly_solved) return false;
  c->result->outcome = SS_RAY;
  return true;
}

void judge_as_given(climb *c, const ss_cp *given) {
  if (c->problem == given) return;
  c->problem = given;
  if (!(c->result->residual < HUGE_VAL)) return;
  c->result->residual = ss_cp_judge(given, c->z, NULL);
  if (c->result->outcome == SS_SOLVED && c->result->residual > c->options->tolerance) c->result->outcome = SS_STALLED;
}
