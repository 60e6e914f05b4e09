/* Principal pivoting in Keller's form for  y = M x + q,  0 <= x perp y >= 0  (Cottle, Pang & Stone, section 4.3; Keller
 * 1973, after Dantzig and van de Panne).
 *
 * Starts from x = 0. While some y_r is negative, its complement x_r is driven up until y_r reaches zero. A variable that
 * is not negative and would become so blocks: it leaves the basis, and its complement is driven next, so that y_r rises
 * all the time; negative ones do not block. The number of negative variables falls with every y_r that has reached
 * zero. Ties are broken lexicographically.
 *
 * Assumes a row-sufficient M (positive semi-definite, P): then a variable that can be driven without bound proves that no
 * x >= 0 has M x + q >= 0, which is the ray it reports. For other matrices it may end on a ray that proves nothing, or
 * at the iteration limit. */
#include "cp/lemke.h"

#include "cp/tableau.h"

static const double negative = -1e-12; /* below, on a right side of unit size */

static int most_negative(const tableau *t) {
  int best = -1;
  double smallest = negative;
  for (int i = 0; i < t->n; i++)
    if (tableau_value(t, i) < smallest) {
      smallest = tableau_value(t, i);
      best = i;
    }
  return best;
}

/* How far column c can be driven before row i stops it: the row of y_r where it reaches zero, the others where they
 * become negative. */
static double ratio(const tableau *t, int i, int c, bool distinguished) {
  const double entry = tableau_row(t, i)[c], value = tableau_value(t, i);
  if (distinguished) return entry < -tableau_pivot_tolerance ? value / entry : HUGE_VAL;
  return entry > tableau_pivot_tolerance && value >= negative ? fmax(value, 0) / entry : HUGE_VAL;
}

/* The row that stops column c; -1: none, a ray. `row` is that of y_r, which is preferred in a tie. */
static int blocking_row(const tableau *t, int row, int c) {
  double smallest = HUGE_VAL;
  for (int i = 0; i < t->n; i++) smallest = fmin(smallest, ratio(t, i, c, i == row));
  if (smallest == HUGE_VAL) return -1;
  const double limit = smallest + tableau_tie_tolerance * (1 + smallest);
  if (ratio(t, row, c, true) <= limit) return row;
  int best = -1;
  for (int i = 0; i < t->n; i++)
    if (i != row && ratio(t, i, c, false) <= limit && (best < 0 || tableau_before(t, i, best, c))) best = i;
  return best;
}

/* Drives y_r to zero. `column` is the one that met no resistance where that is a ray. */
static ss_outcome drive(tableau *t, int distinguished, int limit, int *pivots, int *column) {
  int driving = tableau_complement(t, distinguished);
  while (*pivots < limit) {
    int c = tableau_column(t, driving), row = t->place[distinguished];
    int r = c < 0 || row < 0 ? -1 : blocking_row(t, row, c);
    if (t->stale &&
        (c < 0 || row < 0 || !tableau_reliable(t, r, c))) { /* a ray, or a pivot that may be nothing but errors */
      tableau_refresh(t);
      c = tableau_column(t, driving);
      row = t->place[distinguished];
      r = c < 0 || row < 0 ? -1 : blocking_row(t, row, c);
    }
    *column = c;
    if (c < 0 || row < 0) return SS_STALLED; /* the basis was singular, refresh has found another */
    if (r < 0) return SS_RAY;
    const int leaves = t->basic[r];
    const bool refresh = tableau_pivot(t, r, c);
    ++*pivots;
    if (refresh) tableau_refresh(t);
    if (leaves == distinguished) return SS_SOLVED;
    driving = tableau_complement(t, leaves);
  }
  return SS_LIMIT;
}

ss_status keller(const lcp *l, int limit, double *x, double *ray, ss_cp_workspace *w, ss_outcome *outcome, int *pivots,
                 ss_error *error) {
  *pivots = 0;
  const scratch_mark mark = scratch_now(w);
  tableau t;
  ss_status status = tableau_create(l, NULL, w, &t, error);
  if (status) return status;
  int column = 0;
  *outcome = SS_SOLVED;
  for (int r = most_negative(&t); r >= 0 && *outcome == SS_SOLVED; r = most_negative(&t))
    *outcome = drive(&t, t.basic[r], limit, pivots, &column);
  if (ray && *outcome == SS_RAY) tableau_ray(&t, column, ray);
  status = tableau_solution(&t, *outcome == SS_SOLVED, x, w, error);
  scratch_release(w, mark);
  return status;
}
