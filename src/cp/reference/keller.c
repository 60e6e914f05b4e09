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
#include "cp/pivoting.h"

static const double negative = -1e-12; /* below, on a right side of unit size */

static int most_negative(const pivots *p) {
  int best = -1;
  double smallest = negative;
  for (int i = 0; i < p->n; i++)
    if (p->value[i] < smallest) {
      smallest = p->value[i];
      best = i;
    }
  return best;
}

/* How far the column can be driven before row i stops it: the row of y_r where it reaches zero, the others where they
 * become negative. */
static double ratio(const pivots *p, int i, bool distinguished) {
  const double entry = p->column[i], value = p->value[i];
  if (distinguished) return entry < -pivot_tolerance ? value / entry : HUGE_VAL;
  return entry > pivot_tolerance && value >= negative ? fmax(value, 0) / entry : HUGE_VAL;
}

/* The row that stops the column; -1: none, a ray. `row` is that of y_r, which is preferred in a tie. */
static int blocking_row(const pivots *p, int row) {
  double smallest = HUGE_VAL;
  for (int i = 0; i < p->n; i++) smallest = fmin(smallest, ratio(p, i, i == row));
  if (smallest == HUGE_VAL) return -1;
  const double limit = smallest + tie_tolerance * (1 + smallest);
  if (ratio(p, row, true) <= limit) return row;
  int best = -1;
  for (int i = 0; i < p->n; i++)
    if (i != row && ratio(p, i, false) <= limit && (best < 0 || pivots_before(p, i, best))) best = i;
  return best;
}

/* Drives y_r to zero. A ray is that of the column that met no resistance, the last one taken. */
static ss_outcome drive(pivots *p, int distinguished, int limit, int *pivoted) {
  int driving = pivots_complement(p, distinguished);
  while (*pivoted < limit) {
    bool singular = p->place[distinguished] < 0 || !pivots_enter(p, driving);
    int r = singular ? -1 : blocking_row(p, p->place[distinguished]);
    if (p->stale && (singular || !pivots_reliable(p, r))) { /* a ray, or a pivot that may be nothing but errors */
      pivots_refresh(p);
      singular = p->place[distinguished] < 0 || !pivots_enter(p, driving);
      r = singular ? -1 : blocking_row(p, p->place[distinguished]);
    }
    if (singular) return SS_STALLED; /* refresh has found another basis */
    if (r < 0) return SS_RAY;
    const int leaves = p->basic[r];
    const bool refresh = pivots_exchange(p, r);
    ++*pivoted;
    if (refresh) pivots_refresh(p);
    if (leaves == distinguished) return SS_SOLVED;
    driving = pivots_complement(p, leaves);
  }
  return SS_LIMIT;
}

ss_status keller(const lcp *l, int limit, double *x, double *ray, ss_cp_workspace *w, ss_outcome *outcome, int *pivoted,
                 ss_error *error) {
  *pivoted = 0;
  const scratch_mark mark = scratch_now(w);
  pivots *p;
  ss_status status = pivots_create(l, NULL, w, &p, error);
  if (status) return status;
  *outcome = SS_SOLVED;
  for (int r = most_negative(p); r >= 0 && *outcome == SS_SOLVED; r = most_negative(p))
    *outcome = drive(p, p->basic[r], limit, pivoted);
  if (ray && *outcome == SS_RAY) pivots_ray(p, ray);
  status = pivots_solution(p, *outcome == SS_SOLVED, x, w, error);
  scratch_release(w, mark);
  return status;
}
