/* Lemke's method (lemke.c) for a handful of rows without friction, from the data as they are: no scaling, no lexicographic
 * rule, nothing allocated. It takes about as long as judging its answer. Ties are broken by the larger pivot, so it may
 * cycle, and badly scaled data may lead it astray: it gives up early then, and the ladder goes on. */
#include "cp/solver.h"

#include "core/wide.h"
#include "la/rows.h"

#include <math.h>

enum { LARGEST = 40, COLUMNS = LARGEST + 4, SOME = 14, FEW = 8, FEWEST = 4 };
static const double pivot_tolerance = 1e-9;

/* Variables: y_j is j, x_j is n + j, the artificial one 2 n. x_B = rhs - T x_N, as in lemke.c. */
typedef struct tiny {
  int n, columns; /* n + 2, rounded up to a number for which the loops below are unrolled */
  int basic[LARGEST], outside[LARGEST + 1];
  double T[LARGEST][COLUMNS];
} tiny;

/* Matrices whose entries are positive in the mean take few pivots, however many rows they have. */
static bool leans_positive(const ss_cp *problem) {
  static const double share = 0.15;
  const int n = problem->n;
  double sum[4] = {0}, diagonal = 0; /* several, because each addition waits for the last */
  for (int i = 0; i + 4 <= n * n; i += 4)
    for (int k = 0; k < 4; k++) sum[k] += problem->G[i + k];
  for (int i = 0; i < n; i++) diagonal += problem->G[i * (n + 1)];
  return diagonal > 0 && (sum[0] + sum[1]) + (sum[2] + sum[3]) - diagonal > share * (n - 1) * diagonal;
}

bool is_tiny_lcp(const ss_cp *problem) {
  if (problem->n > LARGEST || (problem->n > TINY_LCP_ROWS && !problem->G)) return false;
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind != SS_BLOCK_NONNEGATIVE) return false;
  return problem->n <= TINY_LCP_ROWS || leans_positive(problem);
}

static void set_up(tiny *t, const ss_cp *problem) {
  const int n = t->n = problem->n;
  t->columns = n <= FEWEST - 2 ? FEWEST : n <= FEW - 2 ? FEW : n <= SOME - 2 ? SOME : (n + 5) & ~3;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t->T[i][j] = -problem->G[i * n + j];
    t->T[i][n] = -1;
    t->T[i][n + 1] = problem->g[i];
    for (int j = n + 2; j < t->columns; j++) t->T[i][j] = 0;
    t->basic[i] = i;
    t->outside[i] = n + i;
  }
  t->outside[n] = 2 * n;
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

/* Returns true where the artificial variable has left. */
static bool run(tiny *t, int *pivots) {
  const int n = t->n;
  int r = most_negative(t), c = n;
  for (const int most = *pivots + 3 * n; *pivots < most && r >= 0;) {
    const int leaves = t->basic[r], enters = leaves < n ? leaves + n : leaves - n;
    pivot(t, r, c);
    ++*pivots;
    if (leaves == 2 * n) return true;
    for (c = 0; t->outside[c] != enters; c++) continue;
    r = ratio_test(t, c);
  }
  return false;
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

ss_status solve_tiny_lcp(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                         ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)options, (void)warm, (void)workspace, (void)error;
  const int n = problem->n;
  tiny t;
  result->outcome = SS_SOLVED;
  bool negative = false;
  for (int i = 0; i < n; i++) negative = negative || problem->g[i] < 0;
  const bool triangular = negative && (substitute(problem, true, z) || substitute(problem, false, z));
  for (int i = 0; i < n && !triangular; i++) z[i] = 0;
  if (negative && !triangular) {
    set_up(&t, problem);
    if (!exchange_negative(&t, &result->iterations) && !run(&t, &result->iterations)) result->outcome = SS_LIMIT;
    for (int i = 0; i < n; i++)
      if (t.basic[i] >= n && t.basic[i] < 2 * n) z[t.basic[i] - n] = t.T[i][n + 1];
  }
  result->residual = ss_cp_judge(problem, z, NULL);
  return SS_OK;
}
