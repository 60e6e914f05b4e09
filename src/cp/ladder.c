/* The ladder that "auto" climbs with a dense matrix.
 *
 * The first z with a residual within the tolerance is taken. Where nothing solves the problem, the best z is returned with
 * the outcome of the first rung that said why. */
#include "cp/climb.h"
#include "cp/reduce.h"

#include <math.h>

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
    {{"continuation", solve_continuation}, SOME_DISCS, 300},
    {{"continuation", solve_continuation}, SOME_FLAT, 300},
    {{"range-newton", solve_range_newton}, SOME_DISCS, 0},
    {{"range-newton", solve_range_newton}, SOME_FLAT, 0},
    {{"smoothing", solve_smoothing}, ALWAYS, 150},
    {{"range-newton", solve_range_newton}, FROM_BEST, 0},
    {{"prox", solve_prox}, ALWAYS, 150},
    {{"interior-point", solve_interior_point}, ALWAYS, 0},
    {{"continuation", solve_continuation}, SOME_DISCS, 0},
    {{"continuation", solve_continuation}, SOME_FLAT, 0},
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
  MODERATE_LCP = 3000,
  PLAIN_LCP = 2000,
  LARGE_LCP = 3000
};

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
ss_status climb_ladder(climb *c, bool warm, ss_error *error) {
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
