/* Lemke's method for  y = M x + q,  0 <= x perp y >= 0  (Cottle, Pang & Stone, section 4.4).
 *
 * An artificial variable x0 with covering vector d > 0 makes y = M x + d x0 + q >= 0 feasible; almost complementary
 * pivots then drive x0 to zero: the variable that enters is always the complement of the one that has just left. Ties
 * in the ratio test are broken lexicographically in the rows of the inverse basis (no cycling), except that x0 leaves
 * wherever it can. Ends on a solution, or on a ray: for copositive M (all friction problems without prescribed motion,
 * all positive semi-definite ones) a ray means that there is no solution, otherwise it proves nothing.
 *
 * The tableau holds the nonbasic columns only: x_B = rhs - T x_N, n + 1 columns and the right side, row-major; a pivot
 * is one pass over it. Its rounding errors grow with the number of pivots, so the final basis is solved again from M
 * and q. */
#include "cp/lemke.h"

#include "cp/dense.h"

static const double pivot_tolerance = 1e-9;
static const double tie_tolerance = 1e-10;
static const double small_pivot = 1e-5; /* what follows is computed from the data again */

/* Variables: y_j is j, x_j is n + j, x0 is 2 n. */
typedef struct tableau {
  int n, stride;
  double *T;    /* n x (n + 2): nonbasic columns, right side last */
  int *basic;   /* [n] variable of each row */
  int *outside; /* [n + 1] variable of each column */
  int *place;   /* [2 n + 1] row, or -1 - column */
  int *wanted;  /* [2 n + 1] scratch of refresh */
  int stale;    /* pivots since the tableau was computed from the data */
} tableau;

static double *row_of(const tableau *t, int i) { return t->T + (size_t)i * (size_t)t->stride; }

static void set_up(tableau *t, const lcp *l, const double *cover) {
  const int n = t->n;
  for (int i = 0; i < n; i++) {
    double *row = row_of(t, i);
    const double *m = l->M + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) row[j] = -m[j];
    row[n] = cover ? -cover[i] : -1;
    row[n + 1] = l->q[i];
    t->basic[i] = t->place[i] = i;
    t->outside[i] = n + i;
    t->place[n + i] = -1 - i;
  }
  t->outside[n] = 2 * n;
  t->place[2 * n] = -1 - n;
}

/* Entry of the inverse basis: coefficient of y_j in row i. */
static double inverse_entry(const tableau *t, int i, int j) {
  const int place = t->place[j];
  return place >= 0 ? place == i : row_of(t, i)[-1 - place];
}

/* True where row a comes before row b in the lexicographic order of (inverse basis row) / (entry of column c). */
static bool before(const tableau *t, int a, int b, int c) {
  const double pa = row_of(t, a)[c], pb = row_of(t, b)[c];
  for (int j = 0; j < t->n; j++) {
    const double difference = inverse_entry(t, a, j) / pa - inverse_entry(t, b, j) / pb;
    if (fabs(difference) > tie_tolerance) return difference < 0;
  }
  return pa > pb;
}

/* The row that leaves when column c enters; -1: none, a ray. */
static int ratio_test(const tableau *t, int c) {
  const int n = t->n;
  double smallest = HUGE_VAL;
  for (int i = 0; i < n; i++) {
    const double *row = row_of(t, i);
    if (row[c] > pivot_tolerance && row[n + 1] < smallest * row[c]) smallest = row[n + 1] / row[c];
  }
  if (smallest == HUGE_VAL) return -1;
  const double limit = smallest + tie_tolerance * (1 + fabs(smallest));
  int best = -1;
  for (int i = 0; i < n; i++) {
    const double *row = row_of(t, i);
    if (!(row[c] > pivot_tolerance) || row[n + 1] > limit * row[c]) continue;
    if (t->basic[i] == 2 * n) return i;
    if (best < 0 || before(t, i, best, c)) best = i;
  }
  return best;
}

/* The first pivot: x0 enters, and the row with the most negative q / d leaves. */
static int first_row(const tableau *t) {
  const int n = t->n;
  int best = -1;
  double smallest = 0;
  for (int i = 0; i < n; i++) {
    const double ratio = -row_of(t, i)[n + 1] / row_of(t, i)[n];
    if (ratio < smallest) {
      smallest = ratio;
      best = i;
    }
  }
  return best;
}

static void pivot(tableau *t, int r, int c) {
  const int n = t->n, columns = n + 2;
  double *restrict p = row_of(t, r);
  const double inverse = 1 / p[c];
  for (int j = 0; j < columns; j++) p[j] *= inverse;
  p[c] = inverse;
  for (int i = 0; i < n; i++) {
    double *restrict row = row_of(t, i);
    const double f = row[c];
    if (i == r || f == 0) continue;
    row[c] = 0;
    for (int j = 0; j < columns; j++) row[j] -= f * p[j];
  }
  const int leaves = t->basic[r], enters = t->outside[c];
  t->basic[r] = enters;
  t->outside[c] = leaves;
  t->place[enters] = r;
  t->place[leaves] = -1 - c;
}

static int complement(const tableau *t, int variable) { return variable < t->n ? variable + t->n : variable - t->n; }

/* Computes the tableau of the present basis again from the data, with the best pivot first: errors that many pivots in a
 * prescribed order have built up (light bodies between heavy ones) are gone. */
static void refresh(tableau *t, const lcp *l, const double *cover) {
  const int n = t->n;
  for (int v = 0; v <= 2 * n; v++) t->wanted[v] = t->place[v] >= 0;
  set_up(t, l, cover);
  t->stale = 0;
  for (;;) {
    int r = -1, c = -1;
    double largest = 0;
    for (int i = 0; i < n; i++) {
      if (t->wanted[t->basic[i]]) continue;
      const double *row = row_of(t, i);
      for (int j = 0; j <= n; j++)
        if (t->wanted[t->outside[j]] && fabs(row[j]) > largest) {
          largest = fabs(row[j]);
          r = i;
          c = j;
        }
    }
    if (r < 0) return;
    pivot(t, r, c);
  }
}

/* Pivots to the end; the right side of the last tableau is the solution. */
static ss_outcome run(tableau *t, const lcp *l, const double *cover, int limit, int *pivots) {
  enum { REFRESH = 40 };
  int r = first_row(t), c = t->n;
  if (r < 0) return SS_SOLVED;
  for (*pivots = 0; *pivots < limit;) {
    const int leaves = t->basic[r];
    const bool small = fabs(row_of(t, r)[c]) < small_pivot;
    pivot(t, r, c);
    ++*pivots;
    if (leaves == 2 * t->n) return SS_SOLVED;
    if (++t->stale >= REFRESH || small) refresh(t, l, cover);
    c = -1 - t->place[complement(t, leaves)];
    r = c < 0 ? -1 : ratio_test(t, c);
    if (r < 0 && t->stale) { /* believe in a ray only on a fresh tableau */
      refresh(t, l, cover);
      c = -1 - t->place[complement(t, leaves)];
      r = c < 0 ? -1 : ratio_test(t, c);
    }
    if (c < 0) return SS_STALLED; /* the basis was singular, refresh has found another */
    if (r < 0) return SS_RAY;
  }
  return SS_LIMIT;
}

static double basis_residual(const lcp *l, const int *set, int m, const double *x, double *r) {
  double worst = 0;
  for (int i = 0; i < m; i++) {
    const double *row = l->M + (size_t)set[i] * (size_t)l->n;
    double sum = l->q[set[i]];
    for (int j = 0; j < m; j++) sum += row[set[j]] * x[set[j]];
    r[i] = sum;
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

/* x_B from M_BB x_B = -q_B, with one step of refinement. Keeps x where the basis is singular in working precision. */
static ss_status solve_basis(const lcp *l, const int *set, int m, double *x, ss_cp_workspace *w, ss_error *error) {
  double *A = SCRATCH(w, double, (size_t)m *((size_t)m + 3));
  int *row = SCRATCH(w, int, 2 * m);
  if (!A || !row) return out_of_memory(error);
  int *col = row + m;
  double *r = A + (size_t)m * ((size_t)m + 1), *step = r + m;
  if (basis_residual(l, set, m, x, r) <= 1e-15) return SS_OK;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      A[(size_t)i * (size_t)m + (size_t)j] = l->M[(size_t)set[i] * (size_t)l->n + (size_t)set[j]];
  if (dense_eliminate(A, m, m, m, m, 1e-14, row, col) < m) return SS_OK;
  for (int pass = 0; pass < 2; pass++) { /* x is the first approximation: every pass refines it */
    const double before_step = basis_residual(l, set, m, x, r);
    for (int i = 0; i < m; i++) step[i] = -r[row[i]];
    dense_forward(A, m, m, step);
    dense_back(A, m, m, step);
    for (int i = 0; i < m; i++) x[set[col[i]]] += step[i];
    if (basis_residual(l, set, m, x, r) > before_step) /* a nearly singular basis: back */
      for (int i = 0; i < m; i++) x[set[col[i]]] -= step[i];
  }
  return SS_OK;
}

ss_status lemke(const lcp *l, const double *cover, int limit, double *x, ss_cp_workspace *w, ss_outcome *outcome,
                int *pivots, ss_error *error) {
  const int n = l->n;
  *pivots = 0;
  const scratch_mark mark = scratch_now(w);
  tableau t = {.n = n, .stride = n + 2};
  t.T = SCRATCH(w, double, (size_t)n *(size_t)t.stride);
  int *integers = SCRATCH(w, int, 7 * (size_t)n + 4);
  if (!t.T || !integers) return out_of_memory(error);
  t.basic = integers;
  t.outside = integers + n;
  t.place = integers + 2 * n + 1;
  t.wanted = t.place + 2 * n + 1;
  set_up(&t, l, cover);
  *outcome = run(&t, l, cover, limit, pivots);
  for (int j = 0; j < n; j++) x[j] = 0;
  int m = 0, *set = t.outside; /* the columns are not needed any more */
  for (int i = 0; i < n; i++) {
    const int j = t.basic[i] - n;
    if (j >= 0 && j < n) x[j] = row_of(&t, i)[n + 1];
  }
  ss_status status = SS_OK;
  if (*outcome == SS_SOLVED && *pivots) {
    for (int j = 0; j < n; j++)
      if (t.place[n + j] >= 0) set[m++] = j;
    status = solve_basis(l, set, m, x, w, error);
  }
  scratch_release(w, mark);
  return status;
}
