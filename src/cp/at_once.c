/* What is solved by the time that others have looked at it, from nothing:
 *
 *     z = 0: contacts that separate; no row of the matrix is needed.
 *     each contact for itself (local.c): bodies that touch only what does not move.
 *     z = -a g or -a D^-1 g in the rows that are pressed, D the diagonal of G, one factor a for all of them: bodies that stand evenly
 *     on their contacts, walls on their lowest row of bricks. g is an eigenvector of G or of G D^-1 then, and the first step of
 *     conjugate gradients the last one. Row after row says its factor; the first two mostly say that they differ.
 *     A handful of rows without friction (tiny.c).
 *
 * The judge has the last word; what it does not accept goes to the strategy. */
#include "cp/at_once.h"

#include "cp/judge_inside.h"
#include "cp/local.h"
#include "cp/solver.h"
#include "cp/storage.h"
#include "cp/units.h"
#include "la/rows.h"

#include <math.h>

static const double polished = 1e-13;
static const double exact = 2e-15; /* what bodies at rest need: what is left of a speed makes them creep */

/* Contacts with friction that all separate: the most frequent of these problems. */
static bool all_separate(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind != SS_BLOCK_FRICTION || block->extra != 0 || !(problem->g[block->first] >= 0)) return false;
  }
  return true;
}

/* Whether z = 0 is the solution, up to rounding errors of g. */
static bool zero_solves(const ss_cp *problem, double *z, ss_cp_result *result) {
  static const double rounding = 1e-15;
  const double residual = all_separate(problem) ? 0 : judge_zero(problem);
  if (residual > rounding) return false;
  double largest = 0;
  for (int i = 0; i < problem->n && residual > 0; i++)
    largest = fabs(problem->g[i]) > largest ? fabs(problem->g[i]) : largest;
  cp_units units;
  if (residual > rounding * largest / (1 + largest)) return false;
  if (residual > 0 && units_needed(problem, &units))
    return false; /* in narrow boxes beside large speeds every residual is small */
  for (int i = 0; i < problem->n; i++) z[i] = 0;
  *result = (ss_cp_result){.outcome = SS_SOLVED, .residual = residual, .solver = "active-set"};
  return true;
}

/* Whether z solves the problem to rounding errors, in units in which the judge can tell. */
static bool accepted(const ss_cp *problem, const ss_cp_options *options, const double *z, ss_cp_result *result) {
  cp_units units;
  if (units_needed(problem, &units)) return false;
  *result = (ss_cp_result){.outcome = SS_SOLVED, .iterations = 1, .solver = "active-set"};
  result->residual = ss_cp_judge(problem, z, NULL);
  return result->residual <= fmin(options->tolerance, exact);
}

/* The contact of a block without the others. */
static bool solve_alone(const ss_cp *problem, const ss_block *block, double *z, ss_cp_workspace *workspace) {
  double W[SS_FRICTION_ROWS * SS_FRICTION_ROWS];
  site s;
  const double *row = problem->G + (size_t)block->first * ((size_t)problem->n + 1);
  for (int i = 0; i < block->size; i++, row += problem->n)
    for (int j = 0; j < block->size; j++) W[i * block->size + j] = row[j];
  return active_describe(block, block->first, workspace, &s) && local_friction(&s, W, problem->g + block->first, z);
}

/* Whether the contact of a block feels no other one in its normal row: a quick look that may be wrong. */
static bool stands_alone(const ss_cp *problem, const ss_block *block) {
  const int n = problem->n, end = block->first + block->size;
  const double *row = problem->G + (size_t)block->first * (size_t)n;
  for (int j = 0; j < n; j++)
    if (row[j] != 0 && (j < block->first || j >= end)) return false;
  return true;
}

/* Every contact solved as if it were the only one. Given up where the first one that is pressed feels another one. */
static bool each_for_itself_solves(const ss_cp *problem, const ss_cp_options *options, double *z,
                                   ss_cp_workspace *workspace, ss_cp_result *result) {
  bool looked = false;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const bool pressed = problem->g[block->first] < 0;
    if (block->kind != SS_BLOCK_FRICTION || block->extra > 0) return false;
    for (int i = 0; i < block->size; i++) z[block->first + i] = 0;
    if (!pressed) continue;
    if (!looked && !stands_alone(problem, block)) return false;
    looked = true;
    if (!solve_alone(problem, block, z + block->first, workspace)) return false;
  }
  return accepted(problem, options, z, result);
}

/* z of a block's rows for a = 1, divided by the diagonal or not; speeds below `noise` are none. False where it would slide, or is not
 * for this method. */
static bool press(const ss_cp *problem, const ss_block *block, double noise, bool divided, double *z) {
  const size_t next = (size_t)problem->n + 1;
  const double *g = problem->g + block->first, *d = problem->G + (size_t)block->first * next;
  const bool friction = block->kind == SS_BLOCK_FRICTION;
  if (block->kind == SS_BLOCK_BOX || block->kind == SS_BLOCK_FREE || (friction && block->extra > 0)) return false;
  double tangents = 0;
  for (int i = 0; i < block->size; i++, d += next) {
    const bool rests = !(g[friction ? 0 : i] < 0) || fabs(g[i]) <= noise;
    z[i] = rests ? 0 : divided ? -g[i] / *d : -g[i];
    if (!rests && !(*d > 0)) return false;
    if (i > 0) tangents += z[i] * z[i];
  }
  return !friction || tangents <= block->mu * block->mu * z[0] * z[0];
}

/* The factor that all rows ask for; 0: there is none. */
static double common_factor(const ss_cp *problem, const double *z) {
  static const double same = 1e-12;
  const int n = problem->n;
  double factor = 0;
  for (int i = 0; i < n; i++) {
    if (z[i] == 0) continue;
    const double own = -problem->g[i] / row_dot(problem->G + (size_t)i * (size_t)n, z, n);
    if (factor == 0) factor = own;
    if (!(own > 0 && fabs(own - factor) <= same * factor)) return 0;
  }
  return factor;
}

static bool even_load_solves(const ss_cp *problem, const ss_cp_options *options, bool divided, double *z,
                             ss_cp_result *result) {
  static const double rounding = 1e-15;
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fabs(problem->g[i]) > largest ? fabs(problem->g[i]) : largest;
  for (int b = 0; b < problem->n_blocks; b++)
    if (!press(problem, &problem->blocks[b], rounding * largest, divided, z + problem->blocks[b].first)) return false;
  const double factor = common_factor(problem, z);
  if (!(factor > 0 && factor < HUGE_VAL)) return false;
  for (int i = 0; i < problem->n; i++) z[i] *= factor;
  return accepted(problem, options, z, result);
}

/* What is not polished by pivots, the strategy does with more care. */
static bool pivots_solve(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *workspace,
                         ss_cp_result *result) {
  cp_units units;
  if (units_needed(problem, &units)) return false;
  result->residual = HUGE_VAL;
  (void)solve_tiny_lcp(problem, options, false, z, workspace, result, NULL);
  result->solver = "lemke";
  result->outcome = SS_SOLVED;
  return result->residual <= fmin(options->tolerance, polished);
}

/* No z passes the judge in rows with numbers that are not finite; where z = 0, they are looked for. */
bool solve_at_once(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *workspace,
                   ss_cp_result *result) {
  enum { SOME_ROWS = 12 }; /* fewer of a plain LCP are solved as fast as they are compared */
  if (zero_solves(problem, z, result)) return storage_finite(problem);
  if (!problem->G) return false;
  const bool tiny = is_tiny_lcp(problem);
  if (!tiny && each_for_itself_solves(problem, options, z, workspace, result)) return true;
  for (int divided = 0; (!tiny || problem->n > SOME_ROWS) && divided < 2; divided++)
    if (even_load_solves(problem, options, divided, z, result)) return true;
  return tiny && pivots_solve(problem, options, z, workspace, result);
}
