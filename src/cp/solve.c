/* The table of solvers, and the ladder that "auto" climbs.
 *
 * Every z is judged from the problem's data. On the ladder the first z with a residual within the tolerance is taken; a
 * z that is nearly one is first polished by a step of the active-set method, which starts from the original data. Where
 * nothing solves the problem, the best z is returned with the outcome of the first rung that said why. */
#include "cp/solver.h"

#include "cp/reduce.h"
#include "cp/storage.h"
#include "cp/units.h"

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
    {"range-newton", solve_range_newton},
    {"facets", solve_facets},
    {"enumeration", solve_enumeration},
};
enum { N_ROWS = sizeof rows / sizeof *rows };

/* These take sparse matrices and operators as they are; the others get them dense, if they are not too large. */
static const solver_row any_form[] = {
    {"large", solve_large},
    {"friction-form", solve_friction_form},
    {"nsgs-sparse", solve_nsgs_sparse},
    {"nsgs-accelerated", solve_nsgs_accelerated},
    {"newton-sparse", solve_newton_sparse},
    {"admm", solve_admm},
    {"interior-point", solve_interior_point},
    {"smoothing", solve_smoothing},
    {"body-newton", solve_body_newton},
};
enum { N_ANY_FORM = sizeof any_form / sizeof *any_form };

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
    {"range-newton", "proximal steps by Newton's method in the range of the matrix, for redundant contacts; all cones"},
    {"facets", "Lemke's method on polygons in place of the discs, then nsgs-newton; small quadratic problems"},
    {"enumeration", "all combinations of contact states; small problems, not for the quadratic cone in 3D"},
    {"large", "islands of contacts one by one, each by the solvers below in turn; any matrix form; all cones"},
    {"friction-form", "contacts found in a plain LCP, posed as friction blocks and solved by the ladder"},
    {"nsgs-sparse", "Gauss-Seidel sweeps over a sparse matrix or an operator; all cones"},
    {"nsgs-accelerated", "the same with Anderson acceleration, for packings; all cones"},
    {"newton-sparse", "primal-dual active sets with a sparse factorisation; all cones"},
    {"admm", "alternating directions with a sparse factorisation, then newton-sparse; discs, intervals, boxes, LCPs"},
    {"interior-point",
     "primal-dual path following with a sparse factorisation, then newton-sparse; discs, intervals, boxes, LCPs"},
    {"smoothing", "smoothed projections, Newton steps with a sparse factorisation; all cones"},
    {"body-newton", "proximal steps by Newton's method in the velocities of the bodies, for large redundant problems "
                    "given by factors"},
    {NULL, NULL},
};

/* When a rung of the ladder is worth trying. */
typedef enum rung_condition {
  ALWAYS,
  COLD_TINY_LCP,
  FROM_START,   /* a starting guess, nothing to be guessed, or so small that a wrong guess costs nothing */
  COLD_SPATIAL, /* from nothing, and too large for FROM_START */
  SOME_DISCS,   /* rows enough for an administration of their own */
  SOME_FLAT,    /* the same without discs: other solvers are good as well */
  FEW_ROWS,
  MANY_ROWS,
  SEVERAL_ROWS, /* cold, between many and few */
  SMALL,        /* few enough LCP variables for a dense tableau to be the fastest */
  PLAIN,        /* more of them, but no friction: pivots are few, and sure */
  LARGE_PLAIN,  /* the same, where sweeps are worth a try before */
  MEDIUM,       /* still faster than many sweeps, where few have not helped */
  MODERATE,     /* slow, but sure */
  FROM_BEST     /* the best z so far is nearly one; the solver starts from it */
} rung_condition;

typedef struct rung {
  solver_row row;
  rung_condition condition;
  int limit; /* iterations; 0: the solver's own choice */
} rung;

static const rung ladder[] = {
    {{"lemke", solve_tiny_lcp}, COLD_TINY_LCP, 0},
    {{"active-set", solve_active_set}, FROM_START, 12},
    {{"nsgs", solve_weakly_coupled}, COLD_SPATIAL, 0},
    {{"lemke", solve_lemke}, SMALL, 0},
    {{"lemke-covered", solve_lemke_covered}, SMALL, 0},
    {{"lemke", solve_lemke}, PLAIN, 0},
    {{"lemke-covered", solve_lemke_covered}, PLAIN, 0},
    {{"range-newton", solve_redundant}, SOME_DISCS, 200},
    {{"range-newton", solve_redundant}, SOME_FLAT, 120},
    {{"nsgs-accelerated", solve_nsgs_accelerated}, SEVERAL_ROWS, 60},
    {{"nsgs-newton", solve_nsgs_newton}, FEW_ROWS, 40},
    {{"nsgs-newton", solve_nsgs_newton}, MANY_ROWS, 100},
    {{"lemke", solve_lemke}, LARGE_PLAIN, 0},
    {{"lemke", solve_lemke}, MEDIUM, 0},
    {{"lemke-covered", solve_lemke_covered}, MEDIUM, 0},
    {{"range-newton", solve_range_newton}, SOME_DISCS, 0},
    {{"range-newton", solve_range_newton}, SOME_FLAT, 0},
    {{"smoothing", solve_smoothing}, ALWAYS, 150},
    {{"range-newton", solve_range_newton}, FROM_BEST, 0},
    {{"prox", solve_prox}, ALWAYS, 150},
    {{"interior-point", solve_interior_point}, ALWAYS, 0},
    {{"lemke", solve_lemke}, MODERATE, 0},
    {{"lemke-covered", solve_lemke_covered}, MODERATE, 0},
    {{"prox", solve_prox}, ALWAYS, 3000},
    {{"facets", solve_facets}, ALWAYS, 0},
    {{"lemke-regularized", solve_lemke_regularized}, MODERATE, 0},
    {{"enumeration", solve_enumeration}, ALWAYS, 0},
    {{"admm", solve_admm}, ALWAYS, 0}, /* contacts that nearly repeat each other: long valleys for the others */
    {{"nsgs-newton", solve_nsgs_newton}, ALWAYS, 3000},
    {{"range-newton", solve_range_newton}, FROM_BEST, 0},
};
enum {
  N_RUNGS = sizeof ladder / sizeof *ladder,
  SOME = 24,
  SOME_MORE = 40,
  TINY = 64,
  FEW = 240,
  SMALL_LCP = 60,
  MEDIUM_LCP = 300,
  MODERATE_LCP = 700,
  PLAIN_LCP = 2000,
  LARGE_LCP = 3000,
  ACTIVE_ROWS = 1500,
  RANGE_ROWS = 900,  /* up to which sparse problems are made dense at once */
  LAST_RESORT = 1200 /* rows up to which the dense solvers come to an end in bearable time */
};

const ss_cp_solver_info *ss_cp_solvers(void) { return infos; }

bool has_disc(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_QUADRATIC && block->size > 2 && block->mu > 0)
      return true;
  }
  return false;
}

/* Contacts in the plane seldom need more than sweeps and Newton steps. */
static bool has_spatial_friction(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind == SS_BLOCK_FRICTION && problem->blocks[b].size > 2) return true;
  return false;
}

static bool only_free(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind != SS_BLOCK_FREE) return false;
  return true;
}

static const double polish_above = 1e-13; /* residuals below are at rounding level */
static const double polish_below = 1e-2;  /* residuals above say that the active set is wrong */
static const double nearly_solved =
    1e-6; /* what is missing is a matter of rounding errors and of contacts that nearly repeat each other */

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
  if (!c->problem->G || row->solve == solve_active_set || !(residual > polish_above && residual < polish_below))
    return SS_OK;
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

/* Runs one solver, from a z or from nothing (NULL); judges and polishes. */
static ss_status try_row(climb *c, const solver_row *row, int limit, const double *from, ss_outcome *outcome,
                         ss_error *error) {
  ss_cp_result own = {.outcome = SS_STALLED, .residual = -1};
  ss_cp_options options = *c->options;
  if (options.iteration_limit <= 0) options.iteration_limit = limit;
  for (int i = 0; i < c->problem->n; i++) c->trial[i] = from ? from[i] : 0;
  const scratch_mark mark = scratch_now(c->workspace);
  ss_status status = row->solve(c->problem, &options, from != NULL, c->trial, c->workspace, &own, error);
  scratch_release(c->workspace, mark);
  *outcome = own.outcome;
  c->result->iterations += own.iterations;
  if (status || own.outcome == SS_NOT_ADMITTED) return status;
  const double residual = own.residual >= 0 ? own.residual : ss_cp_judge(c->problem, c->trial, NULL);
  keep_if_better(c, residual, own.outcome == SS_SOLVED ? SS_STALLED : own.outcome, row->name);
  return polish(c, residual, row, error);
}

static bool worth_trying(const climb *c, rung_condition condition, bool warm) {
  if (condition == ALWAYS) return true;
  if (condition == FROM_BEST) return c->result->residual < polish_below;
  if (condition == COLD_TINY_LCP) return !warm && is_tiny_lcp(c->problem);
  if (condition == FROM_START) return warm || c->problem->n <= TINY || only_free(c->problem);
  if (condition == FEW_ROWS || condition == MANY_ROWS) return (condition == FEW_ROWS) == (c->problem->n <= FEW);
  if (condition == SOME_DISCS) return c->problem->n >= SOME && has_disc(c->problem);
  if (condition == SOME_FLAT)
    return c->problem->n >= SOME_MORE && !has_disc(c->problem) && has_spatial_friction(c->problem);
  if (condition == COLD_SPATIAL) return !warm && c->problem->n > TINY && has_spatial_friction(c->problem);
  if (condition == SEVERAL_ROWS) return !warm && c->problem->n > SOME_MORE && c->problem->n <= FEW;
  const int variables = lcp_variables(c->problem);
  if (condition == SMALL) return variables <= SMALL_LCP;
  const bool plain = !has_friction(c->problem);
  if (condition == PLAIN) return plain && variables > SMALL_LCP && variables <= PLAIN_LCP;
  if (condition == LARGE_PLAIN) return plain && variables > PLAIN_LCP && variables <= LARGE_LCP;
  if (condition == MEDIUM) return !plain && variables > SMALL_LCP && variables <= MEDIUM_LCP;
  return !plain && variables > MEDIUM_LCP && variables <= MODERATE_LCP;
}

/* A step's answer that is within the tolerance, but not near rounding errors, spoils the start of the next step. Sweeps
 * improve what active sets cannot: contacts on the edge between two states. */
static ss_status refine(climb *c, ss_error *error) {
  static const solver_row row = {"nsgs-newton", solve_nsgs_newton};
  static const double above = 1e-12;
  enum { LIMIT = 20, MOST_ROWS = 600 };
  if (!(c->result->residual > above) || c->problem->n > MOST_ROWS) return SS_OK;
  ss_outcome outcome;
  return try_row(c, &row, LIMIT, c->z, &outcome, error);
}

/* Whether the best z is as good as numbers of double precision can be: their last digit moves a slack by more than the
 * residual, and by much more than the tolerance (light bodies under heavy ones, mass ratios of 1e8). */
static bool at_rounding_level(const climb *c) {
  static const double epsilon = 0x1p-52, hopeless = 8;
  const size_t n = (size_t)c->problem->n;
  if (!(c->result->residual < nearly_solved)) return false;
  double largest = 0, size = 0;
  for (size_t i = 0; i < n; i++) {
    double sum = 0;
    for (size_t j = 0; j < n; j++) sum += fabs(c->problem->G[i * n + j] * c->z[j]);
    size = fmax(size, sum);
    largest = fmax(largest, fabs(c->problem->g[i]));
  }
  const double bound = epsilon * size / (1 + largest);
  return c->result->residual <= bound && hopeless * c->options->tolerance < bound;
}

/* The outcome of a failure is that of the first rung that gave a reason: a ray of Lemke's method says more than the
 * iteration limit of the others. */
static ss_status climb_ladder(climb *c, bool warm, ss_error *error) {
  ss_outcome first = SS_SOLVED;
  for (int k = 0; k < N_RUNGS; k++) {
    if (!worth_trying(c, ladder[k].condition, warm)) continue;
    ss_outcome outcome;
    const double *from = ladder[k].condition == FROM_BEST ? c->z : warm ? c->start : NULL;
    const ss_status status = try_row(c, &ladder[k].row, ladder[k].limit, from, &outcome, error);
    if (status) return status;
    if (c->result->residual <= c->options->tolerance) return warm ? refine(c, error) : SS_OK;
    if (outcome == SS_NOT_ADMITTED) continue;
    c->result->fallbacks++;
    if (at_rounding_level(c)) {
      c->result->outcome = SS_STALLED;
      return SS_OK;
    }
    if (outcome != SS_SOLVED && (first == SS_SOLVED || first == SS_LIMIT)) first = outcome;
  }
  if (first != SS_SOLVED) c->result->outcome = first;
  if (first == SS_RAY && c->result->residual < nearly_solved) c->result->outcome = SS_STALLED; /* then it was none */
  return SS_OK;
}

static const solver_row *find_row(const solver_row *table, int count, const char *name) {
  for (int k = 0; k < count; k++)
    if (strcmp(name, table[k].name) == 0) return &table[k];
  return NULL;
}

static ss_status run_named(climb *c, bool warm, ss_error *error) {
  const solver_row *row = find_row(any_form, N_ANY_FORM, c->options->solver);
  if (!row) row = find_row(rows, N_ROWS, c->options->solver);
  if (!row) return ss_fail(error, SS_ERROR_INPUT, "unknown complementarity solver '%s'", c->options->solver);
  ss_outcome outcome;
  const ss_status status = try_row(c, row, 0, warm ? c->start : NULL, &outcome, error);
  if (outcome == SS_NOT_ADMITTED) c->result->outcome = outcome;
  return status;
}

/* The way of large sparse problems, before the ladder: what is solved from its start or in the range of its matrix needs
 * no sweeps. *ended: that was all. */
static ss_status climb_large(climb *c, bool warm, bool *ended, ss_error *error) {
  static const solver_row weak = {"nsgs", solve_weakly_coupled}, redundant = {"range-newton", solve_redundant};
  static const solver_row without = {"large", solve_without_free};
  const struct {
    const solver_row *row;
    int limit;
    bool wanted;
  } tries[] = {{&weak, 0, !warm && c->problem->G && has_spatial_friction(c->problem)},
               {&rows[0], 3, warm && c->problem->G && c->problem->n <= ACTIVE_ROWS}, /* a pile at rest */
               {&without, 0, true},
               {&redundant, 300, c->problem->G && c->problem->n <= RANGE_ROWS && has_spatial_friction(c->problem)},
               {&any_form[0], 0, true}};
  enum { TRIES = sizeof tries / sizeof *tries };
  *ended = true;
  for (int k = 0; k < TRIES; k++) {
    if (!tries[k].wanted) continue;
    ss_outcome outcome;
    const ss_status status = try_row(c, tries[k].row, tries[k].limit, warm ? c->start : NULL, &outcome, error);
    if (status || c->result->outcome == SS_SOLVED) return status;
    if (outcome != SS_NOT_ADMITTED || k == TRIES - 1) c->result->fallbacks++;
  }
  *ended = c->problem->n > LAST_RESORT;
  return SS_OK;
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
  c->problem = given;
  return climbed;
}

/* Contacts that were written out as plain rows are solved as contacts. What fails there fails as an LCP as well, unless it is
 * small enough for methods that try everything. */
static ss_status climb_as_friction(climb *c, bool warm, bool *ended, ss_error *error) {
  static const solver_row row = {"friction-form", solve_friction_form};
  ss_outcome outcome;
  *ended = false;
  if (!warm && is_tiny_lcp(c->problem)) return SS_OK;
  const ss_status status = try_row(c, &row, 0, warm ? c->start : NULL, &outcome, error);
  if (status || outcome == SS_NOT_ADMITTED) return status;
  *ended = c->result->outcome == SS_SOLVED || c->problem->n > FEW;
  if (c->result->outcome != SS_SOLVED) c->result->fallbacks++;
  return SS_OK;
}

/* The problem has the form that the solver needs, or none that it could be given. */
static ss_status climb_or_run(climb *c, bool warm, ss_error *error) {
  const bool automatic = strcmp(c->options->solver, "auto") == 0;
  const bool any = automatic || find_row(any_form, N_ANY_FORM, c->options->solver);
  const ss_cp *given = c->problem;
  ss_cp dense;
  bool ended = false;
  const ss_status tried = automatic ? climb_as_friction(c, warm, &ended, error) : SS_OK;
  if (tried || ended) return tried;
  if (!given->G && (!any || (automatic && (given->n <= RANGE_ROWS || !large_wanted(given))))) {
    if (given->n > SS_CP_DENSE_ROWS) {
      c->result->outcome = SS_NOT_ADMITTED;
      return SS_OK;
    }
    const ss_status status = storage_dense(given, c->workspace, &dense, error);
    if (status) return status;
    c->problem = &dense;
  }
  const ss_status status = automatic ? climb_any(c, warm, error) : run_named(c, warm, error);
  c->problem = given;
  return status;
}

/* Nothing finite was found: the z that is returned is judged like any other. */
static void keep_zero(climb *c) {
  c->result->residual = ss_cp_judge(c->problem, c->z, NULL);
  if (c->result->residual <= c->options->tolerance) c->result->outcome = SS_SOLVED;
}

static void slacks_at_zero(const void *user, const double *z, double *w) {
  const ss_cp *problem = user;
  (void)z;
  for (int i = 0; i < problem->n; i++) w[i] = problem->g[i];
}

/* Whether z = 0 is the solution, up to rounding errors of g: contacts that separate. No row of the matrix is needed. */
static bool zero_solves(const ss_cp *problem, const double *zero, double *w, double *residual) {
  static const double rounding = 1e-15;
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(problem->g[i]));
  ss_cp light = {.n = problem->n, .n_blocks = problem->n_blocks, .g = problem->g, .blocks = problem->blocks};
  light.apply = slacks_at_zero;
  light.user = problem;
  *residual = ss_cp_judge(&light, zero, w);
  return *residual <= rounding * largest / (1 + largest);
}

static ss_status solve_as_given(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const bool automatic = strcmp(options->solver, "auto") == 0;
  const scratch_mark mark = scratch_now(workspace);
  double *memory = SCRATCH(workspace, double, 2 * (size_t)problem->n);
  if (!memory) return out_of_memory(error);
  for (int i = 0; i < problem->n; i++) {
    memory[i] = warm && isfinite(z[i]) ? z[i] : 0;
    z[i] = 0;
  }
  climb c = {problem, options, workspace, memory, z, memory + problem->n, result};
  ss_status status = SS_OK;
  if (!warm && automatic && !is_tiny_lcp(problem) && zero_solves(problem, z, memory, &result->residual)) {
    result->outcome = SS_SOLVED;
    result->solver = rows[0].name;
  } else {
    result->residual = HUGE_VAL;
    status = climb_or_run(&c, warm, error);
  }
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
  if (!status) status = solve_as_given(&usual, options, warm, z, workspace, result, error);
  for (int i = 0; i < problem->n; i++) z[i] *= u.z;
  scratch_release(workspace, mark);
  if (result->residual < nearly_solved) result->outcome = SS_SOLVED; /* as far as the units that are given can tell */
  result->residual = ss_cp_judge(problem, z, NULL);
  *settled = result->residual < HUGE_VAL && (result->outcome != SS_SOLVED || result->residual <= options->tolerance);
  return status;
}

ss_status ss_cp_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  *result = (ss_cp_result){.outcome = SS_STALLED, .residual = HUGE_VAL, .solver = options->solver};
  if (problem->n > 0 && !storage_finite(problem)) {
    for (int i = 0; i < problem->n; i++) z[i] = 0;
    return SS_OK;
  }
  cp_units units;
  bool settled = false;
  if (strcmp(options->solver, "auto") == 0 && units_needed(problem, &units)) {
    const ss_status status = solve_in_units(problem, units, options, warm, z, workspace, result, &settled, error);
    if (status || settled) return status;
    warm = true;
  }
  return solve_as_given(problem, options, warm, z, workspace, result, error);
}
