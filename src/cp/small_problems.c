/* What is solved by the time that others have looked at it, from nothing:
 *
 *     z = 0: contacts that separate; no row of the matrix is needed.
 *     each contact for itself (local.c): bodies that touch only what does not move.
 *     z = -a g or -a D^-1 g in the rows that are pressed, D the diagonal of G, one factor a for all of them: bodies that stand evenly
 *     on their contacts, walls on their lowest row of bricks. g is an eigenvector of G or of G D^-1 then, and the first step of
 *     conjugate gradients the last one. Row after row says its factor; the first two mostly say that they differ.
 *     A handful of rows without friction.
 *
 * The judge has the last word; what it does not accept goes to the strategy. */
#include "cp/solver.h"

#include "core/wide.h"
#include "cp/judge.h"
#include "cp/local.h"
#include "cp/reduce.h"
#include "cp/storage.h"
#include "la/rows.h"

#include <math.h>

/* Lemke's method (pivoting.c) for a handful of rows without friction, from the data as they are: no
 * scaling, no lexicographic rule, nothing allocated. It takes about as long as judging its answer. Ties are broken by the larger pivot, so it may
 * cycle, and badly scaled data may lead it astray: it gives up early then, and the strategy goes on. */

enum { LARGEST = TINY_LCP_ROWS, COLUMNS = LARGEST + 4, SOME = 14, FEW = 8, FEWEST = 4 };
static const double pivot_tolerance = 1e-9;

/* Variables: y_j is j, x_j is n + j, the artificial one 2 n. x_B = rhs - T x_N, as in pivoting.c. */
typedef struct tiny {
  int n, columns; /* n + 2, rounded up to a number for which the loops below are unrolled */
  int basic[LARGEST], outside[LARGEST + 1];
  double T[LARGEST][COLUMNS];
} tiny;

bool is_tiny_lcp(const ss_cp *problem) {
  if (problem->n > LARGEST) return false;
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind != SS_BLOCK_NONNEGATIVE) return false;
  return true;
}

/* All but the matrix and the right side. */
static void set_up(tiny *t, int n) {
  t->n = n;
  t->columns = n <= FEWEST - 2 ? FEWEST : n <= FEW - 2 ? FEW : n <= SOME - 2 ? SOME : (n + 5) & ~3;
  for (int i = 0; i < n; i++) {
    t->T[i][n] = -1;
    for (int j = n + 2; j < t->columns; j++) t->T[i][j] = 0;
    t->basic[i] = i;
    t->outside[i] = n + i;
  }
  t->outside[n] = 2 * n;
}

static void load(tiny *t, const ss_cp *problem) {
  const int n = problem->n;
  set_up(t, n);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t->T[i][j] = -problem->G[i * n + j];
    t->T[i][n + 1] = problem->g[i];
  }
}

static inline void eliminate(tiny *t, int r, int c, int columns) {
  double *p = t->T[r];
  const double inverse = 1 / p[c];
  for (int j = 0; j < columns; j++) p[j] *= inverse;
  p[c] = inverse;
  for (int i = 0; i < t->n; i++) {
    double *row = t->T[i];
    const double f = row[c];
    if (i == r || f == 0) continue;
    row[c] = 0;
    row_subtract(row, p, f, 0, columns);
  }
}

/* From some columns on wide vectors pay. */
WIDE static void eliminate_many(tiny *t, int r, int c) { eliminate(t, r, c, t->columns & ~3); }

static void pivot(tiny *t, int r, int c) {
  if (t->columns == FEWEST)
    eliminate(t, r, c, FEWEST);
  else if (t->columns == FEW)
    eliminate(t, r, c, FEW);
  else if (t->columns == SOME)
    eliminate(t, r, c, SOME);
  else
    eliminate_many(t, r, c);
  const int leaves = t->basic[r];
  t->basic[r] = t->outside[c];
  t->outside[c] = leaves;
}

/* The row that leaves when column c enters; -1: none. */
static int ratio_test(const tiny *t, int c) {
  const int n = t->n;
  int best = -1;
  double over = 1, under = 0; /* the smallest ratio so far; none */
  for (int i = 0; i < n; i++) {
    const double x = t->T[i][c];
    if (!(x > pivot_tolerance)) continue;
    const double mine = t->T[i][n + 1] * under, its = over * x; /* the ratios times both denominators */
    const bool artificial = t->basic[i] == 2 * n;
    if (best < 0 || mine < its || (mine == its && (artificial || (t->basic[best] != 2 * n && x > under)))) {
      over = t->T[i][n + 1];
      under = x;
      best = i;
    }
  }
  return best;
}

static int most_negative(const tiny *t) {
  const int n = t->n;
  int r = 0;
  for (int i = 1; i < n; i++)
    if (t->T[i][n + 1] < t->T[r][n + 1]) r = i;
  return r;
}

/* Principal pivots on the most negative row (Bard), each row once at most: the problem that they leave is the same one with some z and
 * w exchanged. True where no row is negative any more. */
static bool exchange_negative(tiny *t, int *pivots) {
  static const double good = 1e-6; /* of the largest diagonal */
  const int n = t->n;
  double least = 0;
  for (int i = 0; i < n; i++) least = fabs(t->T[i][i]) > least ? fabs(t->T[i][i]) : least;
  for (;;) {
    const int r = most_negative(t);
    if (t->T[r][n + 1] >= 0) return true;
    if (t->basic[r] != r || !(-t->T[r][r] > good * least)) break;
    pivot(t, r, r);
    ++*pivots;
  }
  for (int i = 0; i < n; i++) t->T[i][n] = -1;
  return false;
}

/* Until the artificial variable has left, or hopes are gone. */
static void run(tiny *t, int *pivots) {
  const int n = t->n;
  int r = most_negative(t), c = n;
  for (const int most = *pivots + 3 * n; *pivots < most && r >= 0;) {
    const int leaves = t->basic[r], enters = leaves < n ? leaves + n : leaves - n;
    pivot(t, r, c);
    ++*pivots;
    if (leaves == 2 * n) return;
    for (c = 0; t->outside[c] != enters; c++) continue;
    r = ratio_test(t, c);
  }
}

/* Triangular matrices, below the diagonal or above it, need no pivots: row after row is solved for its own unknown. */
static bool substitute(const ss_cp *problem, bool below, double *z) {
  const int n = problem->n;
  for (int k = 0; k < n; k++) {
    const int i = below ? k : n - 1 - k;
    const double *row = problem->G + (size_t)i * (size_t)n;
    for (int j = below ? i + 1 : 0; j < (below ? n : i); j++)
      if (row[j] != 0) return false;
    if (!(row[i] > 0)) return false;
    double sum = problem->g[i];
    for (int j = below ? 0 : i + 1; j < (below ? i : n); j++) sum += row[j] * z[j];
    z[i] = sum < 0 ? -sum / row[i] : 0;
  }
  return true;
}

static void solve_tiny(const ss_cp *problem, double *z, ss_cp_result *result) {
  const int n = problem->n;
  tiny t;
  bool negative = false;
  for (int i = 0; i < n; i++) negative = negative || problem->g[i] < 0;
  const bool triangular = negative && (substitute(problem, true, z) || substitute(problem, false, z));
  for (int i = 0; i < n && !triangular; i++) z[i] = 0;
  if (negative && !triangular) {
    load(&t, problem);
    if (!exchange_negative(&t, &result->iterations)) run(&t, &result->iterations);
    for (int i = 0; i < n; i++)
      if (t.basic[i] >= n && t.basic[i] < 2 * n) z[t.basic[i] - n] = t.T[i][n + 1];
  }
  result->residual = ss_cp_judge(problem, z, NULL);
}

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
static bool pivots_solve(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_result *result) {
  cp_units units;
  if (units_needed(problem, &units)) return false;
  solve_tiny(problem, z, result);
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
  const bool is_tiny = is_tiny_lcp(problem);
  if (!is_tiny && each_for_itself_solves(problem, options, z, workspace, result)) return true;
  for (int divided = 0; (!is_tiny || problem->n > SOME_ROWS) && divided < 2; divided++)
    if (even_load_solves(problem, options, divided, z, result)) return true;
  return is_tiny && pivots_solve(problem, options, z, result);
}
