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

ss_status attempt_begin(climb *c, ss_error *error) {
  attempt *a = &c->now;
  ss_cp_options *o = &a->options;
  if (o->stop && o->stop(o->stop_user)) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
  if (o->iteration_limit <= 0) o->iteration_limit = a->limit;
  if (a->work > 0) o->work = o->work > 0 ? fmin(o->work, a->work) : a->work;
  if (o->total > 0) { /* what is left of it */
    o->total = fmax(o->total - c->result->operations, 1);
    o->work = o->work > 0 ? fmin(o->work, o->total) : o->total;
  }
  for (int i = 0; i < c->problem->n; i++) c->trial[i] = a->from ? a->from[i] : 0;
  a->result = (ss_cp_result){.outcome = SS_STALLED, .residual = -1};
  return SS_OK;
}

ss_status attempt_end(climb *c, ss_error *error) {
  const ss_cp_result *own = &c->now.result;
  const solver_row *row = c->now.row;
  c->result->no_solution = c->result->no_solution || own->no_solution;
  c->result->iterations += own->iterations;
  c->result->operations += operations_of(c, &c->now.options, own);
  if (own->outcome == SS_NOT_ADMITTED) return SS_OK;
  const double residual = own->residual >= 0 ? own->residual : ss_cp_judge(c->problem, c->trial, NULL);
  keep_if_better(c, residual, own->outcome == SS_SOLVED ? SS_STALLED : own->outcome, row->name);
  if (own->selected && residual <= c->options->tolerance) {
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
