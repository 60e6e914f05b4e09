/* Lemke's method for  y = M x + q,  0 <= x perp y >= 0  (Cottle, Pang & Stone, section 4.4).
 *
 * An artificial variable x0 with covering vector d > 0 makes y = M x + d x0 + q >= 0 feasible; almost complementary
 * pivots then drive x0 to zero: the variable that enters is always the complement of the one that has just left. Ties
 * in the ratio test are broken lexicographically in the rows of the inverse basis (no cycling), except that x0 leaves
 * wherever it can. Ends on a solution, or on a ray: for copositive-plus M (all positive semi-definite ones) a ray means
 * that there is no solution, otherwise it proves nothing by itself (diagnose.c looks closer). */
#include "cp/lemke.h"

#include "cp/tableau.h"

/* The row that leaves when column c enters; -1: none, a ray. */
static int ratio_test(const tableau *t, int c) {
  const int n = t->n;
  double smallest = HUGE_VAL;
  for (int i = 0; i < n; i++) {
    const double *row = tableau_row(t, i);
    if (row[c] > tableau_pivot_tolerance && row[n + 1] < smallest * row[c]) smallest = row[n + 1] / row[c];
  }
  if (smallest == HUGE_VAL) return -1;
  const double limit = smallest + tableau_tie_tolerance * (1 + fabs(smallest));
  int best = -1;
  for (int i = 0; i < n; i++) {
    const double *row = tableau_row(t, i);
    if (!(row[c] > tableau_pivot_tolerance) || row[n + 1] > limit * row[c]) continue;
    if (t->basic[i] == 2 * n) return i;
    if (best < 0 || tableau_before(t, i, best, c)) best = i;
  }
  return best;
}

/* The first pivot: x0 enters, and the row with the most negative q / d leaves. */
static int first_row(const tableau *t) {
  const int n = t->n;
  int best = -1;
  double smallest = 0;
  for (int i = 0; i < n; i++) {
    const double ratio = -tableau_value(t, i) / tableau_row(t, i)[n];
    if (ratio < smallest) {
      smallest = ratio;
      best = i;
    }
  }
  return best;
}

/* Pivots to the end; `column` is the one that found no row to leave where that is a ray. */
static ss_outcome run(tableau *t, int limit, int *pivots, int *column) {
  int r = first_row(t), c = t->n;
  if (r < 0) return SS_SOLVED;
  for (*pivots = 0; *pivots < limit;) {
    const int leaves = t->basic[r];
    const bool due = tableau_pivot(t, r, c);
    ++*pivots;
    if (leaves == 2 * t->n) return SS_SOLVED;
    if (due && tableau_drifts(t)) tableau_refresh(t);
    c = tableau_column(t, tableau_complement(t, leaves));
    r = c < 0 ? -1 : ratio_test(t, c);
    if (r < 0 && t->stale) { /* believe in a ray only on a fresh tableau */
      tableau_refresh(t);
      c = tableau_column(t, tableau_complement(t, leaves));
      r = c < 0 ? -1 : ratio_test(t, c);
    }
    *column = c;
    if (c < 0) return SS_STALLED; /* the basis was singular, refresh has found another */
    if (r < 0) return SS_RAY;
  }
  return SS_LIMIT;
}

ss_status lemke(const lcp *l, const double *cover, int limit, double *x, double *ray, ss_cp_workspace *w,
                ss_outcome *outcome, int *pivots, ss_error *error) {
  *pivots = 0;
  const scratch_mark mark = scratch_now(w);
  tableau t;
  ss_status status = tableau_create(l, cover, w, &t, error);
  if (status) return status;
  int column = 0;
  *outcome = run(&t, limit, pivots, &column);
  if (ray && *outcome == SS_RAY) tableau_ray(&t, column, ray);
  status = tableau_solution(&t, *outcome == SS_SOLVED, x, w, error);
  scratch_release(w, mark);
  return status;
}
