/* Lemke's method (lemke.c) for a handful of rows without friction, from the data as they are: no scaling, no lexicographic
 * rule, nothing allocated. It takes about as long as judging its answer. Ties are broken by the larger pivot, so it may
 * cycle, and badly scaled data may lead it astray: it gives up early then, and the ladder goes on. */
#include "cp/solver.h"

#include <math.h>

enum { LARGEST = 40, COLUMNS = LARGEST + 2 };
static const double pivot_tolerance = 1e-9;

/* Variables: y_j is j, x_j is n + j, the artificial one 2 n. x_B = rhs - T x_N, as in lemke.c. */
typedef struct tiny {
  int n, basic[LARGEST], outside[LARGEST + 1];
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
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) t->T[i][j] = -problem->G[i * n + j];
    t->T[i][n] = -1;
    t->T[i][n + 1] = problem->g[i];
    t->basic[i] = i;
    t->outside[i] = n + i;
  }
  t->outside[n] = 2 * n;
}

static void pivot(tiny *t, int r, int c) {
  const int columns = t->n + 2;
  double *p = t->T[r];
  const double inverse = 1 / p[c];
  for (int j = 0; j < columns; j++) p[j] *= inverse;
  p[c] = inverse;
  for (int i = 0; i < t->n; i++) {
    double *row = t->T[i];
    const double f = row[c];
    if (i == r || f == 0) continue;
    row[c] = 0;
    for (int j = 0; j < columns; j++) row[j] -= f * p[j];
  }
  const int leaves = t->basic[r];
  t->basic[r] = t->outside[c];
  t->outside[c] = leaves;
}

/* The row that leaves when column c enters; -1: none. */
static int ratio_test(const tiny *t, int c) {
  const int n = t->n;
  int best = -1;
  double smallest = HUGE_VAL;
  for (int i = 0; i < n; i++) {
    const double x = t->T[i][c];
    if (!(x > pivot_tolerance)) continue;
    const double ratio = t->T[i][n + 1] / x;
    const bool artificial = t->basic[i] == 2 * n;
    if (ratio < smallest || (ratio == smallest && (artificial || (t->basic[best] != 2 * n && x > t->T[best][c])))) {
      smallest = ratio;
      best = i;
    }
  }
  return best;
}

/* Returns true where the artificial variable has left. */
static bool run(tiny *t, int *pivots) {
  const int n = t->n;
  int r = 0, c = n;
  for (int i = 1; i < n; i++)
    if (t->T[i][n + 1] < t->T[r][n + 1]) r = i;
  for (*pivots = 0; *pivots < 4 * n && r >= 0;) {
    const int leaves = t->basic[r], enters = leaves < n ? leaves + n : leaves - n;
    pivot(t, r, c);
    ++*pivots;
    if (leaves == 2 * n) return true;
    for (c = 0; t->outside[c] != enters; c++) continue;
    r = ratio_test(t, c);
  }
  return false;
}

ss_status solve_tiny_lcp(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                         ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)options, (void)warm, (void)workspace, (void)error;
  const int n = problem->n;
  double least = 0;
  tiny t;
  result->outcome = SS_SOLVED;
  for (int i = 0; i < n; i++) {
    z[i] = 0;
    least = fmin(least, problem->g[i]);
  }
  if (least < 0) {
    set_up(&t, problem);
    if (!run(&t, &result->iterations)) result->outcome = SS_LIMIT;
    for (int i = 0; i < n; i++)
      if (t.basic[i] >= n && t.basic[i] < 2 * n) z[t.basic[i] - n] = t.T[i][n + 1];
  }
  result->residual = ss_cp_judge(problem, z, NULL);
  return SS_OK;
}
