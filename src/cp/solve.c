/* The table of solvers, and the ladder that "auto" climbs.
 *
 * Every z is judged from the problem's data. On the ladder the first z with a residual within the tolerance is taken; a
 * z that is nearly one is first polished by a step of the active-set method, which starts from the original data. Where
 * nothing solves the problem, the best z is returned with the outcome of the first rung that said why. */
#include "cp/solver.h"

#include "cp/reduce.h"

#include <math.h>
#include <string.h>

typedef struct solver_row {
  const char *name;
  cp_solve_function *solve;
} solver_row;

static const solver_row rows[] = {
    {"active-set", solve_active_set},
    {"lemke", solve_lemke},
    {"lemke-covered", solve_lemke_covered},
    {"lemke-regularized", solve_lemke_regularized},
    {"keller", solve_keller},
    {"fischer-burmeister", solve_fischer_burmeister},
    {"alart-curnier", solve_alart_curnier},
    {"nsgs", solve_nsgs},
    {"nsgs-newton", solve_nsgs_newton},
    {"prox", solve_prox},
    {"facets", solve_facets},
    {"enumeration", solve_enumeration},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

static const ss_cp_solver_info infos[] = {
    {"auto", "the ladder: one solver after the other, until the judge accepts"},
    {"active-set", "primal-dual active sets (semismooth Newton) from the given start; all cones"},
    {"lemke", "Lemke's method with a lexicographic ratio test; not for the quadratic cone in 3D"},
    {"lemke-covered", "the same with another covering vector"},
    {"lemke-regularized", "the same with 1e-8 added to the diagonal, then polished"},
    {"keller",
     "principal pivoting (Keller, Dantzig) with a lexicographic rule; free rows, LCPs and boxes, no friction"},
    {"fischer-burmeister",
     "globalised nonsmooth Newton method on smooth merits; free rows, LCPs and boxes, no friction"},
    {"alart-curnier", "globalised nonsmooth Newton method on the natural map; all cones"},
    {"nsgs", "Gauss-Seidel sweeps over the blocks, each solved exactly; all cones"},
    {"nsgs-newton", "Gauss-Seidel sweeps and damped Newton steps in turn; all cones"},
    {"prox", "proximal point method around nsgs-newton, for redundant contacts; all cones"},
    {"facets", "Lemke's method on polygons in place of the discs, then nsgs-newton; small quadratic problems"},
    {"enumeration", "all combinations of contact states; small problems, not for the quadratic cone in 3D"},
    {NULL, NULL},
};

/* When a rung of the ladder is worth trying. */
typedef enum rung_condition {
  ALWAYS,
  FROM_START, /* a starting guess, nothing to be guessed, or so small that a wrong guess costs nothing */
  SMALL,      /* few enough LCP variables for a dense tableau to be the fastest */
  MODERATE
} rung_condition;

typedef struct rung {
  solver_row row;
  rung_condition condition;
  int limit; /* iterations; 0: the solver's own choice */
} rung;

static const rung ladder[] = {
    {{"active-set", solve_active_set}, FROM_START, 6},
    {{"lemke", solve_lemke}, SMALL, 0},
    {{"lemke-covered", solve_lemke_covered}, SMALL, 0},
    {{"nsgs-newton", solve_nsgs_newton}, ALWAYS, 100},
    {{"prox", solve_prox}, ALWAYS, 0},
    {{"lemke", solve_lemke}, MODERATE, 0},
    {{"facets", solve_facets}, ALWAYS, 0},
    {{"lemke-regularized", solve_lemke_regularized}, MODERATE, 0},
    {{"enumeration", solve_enumeration}, ALWAYS, 0},
    {{"nsgs-newton", solve_nsgs_newton}, ALWAYS, 3000},
};
enum { N_RUNGS = sizeof ladder / sizeof *ladder, TINY = 64, SMALL_LCP = 200, MODERATE_LCP = 1500 };

const ss_cp_solver_info *ss_cp_solvers(void) { return infos; }

bool has_disc(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_QUADRATIC && block->size > 2 && block->mu > 0)
      return true;
  }
  return false;
}

static bool data_finite(const ss_cp *problem) {
  double sum = 0; /* stays 0 while all numbers are finite */
  for (size_t i = 0, count = (size_t)problem->n * (size_t)problem->n; i < count; i++) sum += 0 * problem->G[i];
  for (int i = 0; i < problem->n; i++) sum += 0 * problem->g[i];
  return sum == 0;
}

static bool only_free(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind != SS_BLOCK_FREE) return false;
  return true;
}

static const double polish_above = 1e-13; /* residuals below are at rounding level */
static const double polish_below = 1e-2;  /* residuals above say that the active set is wrong */

typedef struct climb {
  const ss_cp *problem;
  const ss_cp_options *options;
  ss_cp_workspace *workspace;
  const double *start; /* z at the beginning */
  double *z;           /* the best so far: the caller's array */
  double *trial;
  ss_cp_result *result;
} climb;

static void keep_if_better(climb *c, double residual, ss_outcome outcome, const char *name) {
  if (!(residual < c->result->residual)) return;
  c->result->residual = residual;
  c->result->outcome = residual <= c->options->tolerance ? SS_SOLVED : outcome;
  c->result->solver = name;
  for (int i = 0; i < c->problem->n; i++) c->z[i] = c->trial[i];
}

static ss_status polish(climb *c, double residual, const solver_row *row, ss_error *error) {
  if (row->solve == solve_active_set || !(residual > polish_above && residual < polish_below)) return SS_OK;
  ss_cp_result own = {0};
  const ss_cp_options options = {row->name, c->options->tolerance, 3};
  const ss_status status = solve_active_set(c->problem, &options, true, c->trial, c->workspace, &own, error);
  if (status) return status;
  c->result->iterations += own.iterations;
  keep_if_better(c, own.residual, SS_LIMIT, row->name);
  return SS_OK;
}

/* Runs one solver, judges and polishes. */
static ss_status try_row(climb *c, const solver_row *row, int limit, bool warm, ss_outcome *outcome, ss_error *error) {
  ss_cp_result own = {.outcome = SS_STALLED, .residual = -1};
  ss_cp_options options = *c->options;
  if (options.iteration_limit <= 0) options.iteration_limit = limit;
  for (int i = 0; i < c->problem->n; i++) c->trial[i] = warm ? c->start[i] : 0;
  ss_status status = row->solve(c->problem, &options, warm, c->trial, c->workspace, &own, error);
  *outcome = own.outcome;
  c->result->iterations += own.iterations;
  if (status || own.outcome == SS_NOT_ADMITTED) return status;
  const double residual = own.residual >= 0 ? own.residual : ss_cp_judge(c->problem, c->trial, NULL);
  keep_if_better(c, residual, own.outcome == SS_SOLVED ? SS_STALLED : own.outcome, row->name);
  return polish(c, residual, row, error);
}

static bool worth_trying(const climb *c, rung_condition condition, bool warm) {
  if (condition == ALWAYS) return true;
  if (condition == FROM_START) return warm || c->problem->n <= TINY || only_free(c->problem);
  return lcp_variables(c->problem) <= (condition == SMALL ? SMALL_LCP : MODERATE_LCP);
}

/* The outcome of a failure is that of the first rung that gave a reason: a ray of Lemke's method says more than the
 * iteration limit of the others. */
static ss_status climb_ladder(climb *c, bool warm, ss_error *error) {
  ss_outcome first = SS_SOLVED;
  for (int k = 0; k < N_RUNGS; k++) {
    if (!worth_trying(c, ladder[k].condition, warm)) continue;
    ss_outcome outcome;
    const ss_status status = try_row(c, &ladder[k].row, ladder[k].limit, warm, &outcome, error);
    if (status || c->result->residual <= c->options->tolerance) return status;
    if (outcome == SS_NOT_ADMITTED) continue;
    c->result->fallbacks++;
    if (outcome != SS_SOLVED && (first == SS_SOLVED || first == SS_LIMIT)) first = outcome;
  }
  if (first != SS_SOLVED) c->result->outcome = first;
  return SS_OK;
}

static ss_status run_named(climb *c, bool warm, ss_error *error) {
  const char *name = c->options->solver;
  for (int k = 0; k < N_ROWS; k++) {
    if (strcmp(name, rows[k].name) != 0) continue;
    ss_outcome outcome;
    const ss_status status = try_row(c, &rows[k], 0, warm, &outcome, error);
    if (outcome == SS_NOT_ADMITTED) c->result->outcome = outcome;
    return status;
  }
  return ss_fail(error, SS_ERROR_INPUT, "unknown complementarity solver '%s'", name);
}

ss_status ss_cp_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  *result = (ss_cp_result){.outcome = SS_STALLED, .residual = HUGE_VAL, .solver = options->solver};
  if (problem->n > 0 && !data_finite(problem)) {
    for (int i = 0; i < problem->n; i++) z[i] = 0;
    return SS_OK;
  }
  const scratch_mark mark = scratch_now(workspace);
  double *memory = SCRATCH(workspace, double, 2 * (size_t)problem->n);
  if (!memory) return out_of_memory(error);
  for (int i = 0; i < problem->n; i++) {
    memory[i] = warm && isfinite(z[i]) ? z[i] : 0;
    z[i] = 0;
  }
  climb c = {problem, options, workspace, memory, z, memory + problem->n, result};
  const bool automatic = strcmp(options->solver, "auto") == 0;
  const ss_status status = automatic ? climb_ladder(&c, warm, error) : run_named(&c, warm, error);
  scratch_release(workspace, mark);
  return status;
}
