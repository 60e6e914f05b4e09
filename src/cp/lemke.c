/* Lemke's method for  y = M x + q,  0 <= x perp y >= 0  (Cottle, Pang & Stone, section 4.4).
 *
 * An artificial variable x0 with covering vector d > 0 makes y = M x + d x0 + q >= 0 feasible; almost complementary
 * pivots then drive x0 to zero: the variable that enters is always the complement of the one that has just left. Ties
 * in the ratio test are broken lexicographically in the rows of the inverse basis (no cycling), except that x0 leaves
 * wherever it can. Ends on a solution, or on a ray: for copositive-plus M (all positive semi-definite ones) a ray means
 * that there is no solution, otherwise it proves nothing by itself (diagnose.c looks closer).
 *
 * A ray is also the beginning of other paths. Far out on it the slacks that grow along it need no artificial variable: d
 * is set to zero in their rows, and the path is followed from infinity back to where the first of them vanishes. For the
 * games of two players, M = [0 A; B^T 0] with A, B > 0 and q = -1, on which the first path always ends at once, this is the
 * method of Lemke & Howson: the ray is the only one, and the path must end on a solution. */
#include "cp/lemke.h"

#include "cp/pivots.h"

/* Whether the variable of a row is as good as zero when the entering one has come to `length`: in the units of the step, and
 * in its own, which are the smaller ones where entries are large. */
static bool vanishes(double value, double entry, double length) {
  return fabs(value - length * entry) <= tie_tolerance * fmin(fabs(entry) * (1 + length), 1 + fabs(value));
}

/* The row that leaves when the column enters; -1: none, a ray. */
static int ratio_test(const pivots *p) {
  const double *column = p->column, *value = p->value;
  double smallest = HUGE_VAL;
  for (int i = 0; i < p->n; i++)
    if (column[i] > pivot_tolerance && value[i] < smallest * column[i]) smallest = value[i] / column[i];
  if (smallest == HUGE_VAL) return -1;
  int best = -1;
  for (int i = 0; i < p->n; i++) {
    if (!(column[i] > pivot_tolerance) || !vanishes(value[i], column[i], smallest)) continue;
    if (p->basic[i] == 2 * p->n) return i;
    if (best < 0 || pivots_before(p, i, best)) best = i;
  }
  return best;
}

/* The first pivot: x0 enters, and the row with the most negative q / d leaves; of several the last, after which the others are
 * lexicographically positive. */
static int first_row(const pivots *p) {
  int best = -1;
  double smallest = 0;
  for (int i = 0; i < p->n; i++) smallest = fmin(smallest, -p->value[i] / p->column[i]);
  for (int i = 0; i < p->n && smallest < 0; i++)
    if (-p->value[i] / p->column[i] <= smallest * (1 - tie_tolerance) && (best < 0 || pivots_before(p, best, i)))
      best = i;
  return best;
}

/* The row that leaves where the column comes back from infinity: the last one to vanish as it shrinks; -1: none. */
static int last_to_vanish(const pivots *p) {
  const double *column = p->column, *value = p->value;
  double largest = 0;
  for (int i = 0; i < p->n; i++)
    if (column[i] < -pivot_tolerance) largest = fmax(largest, value[i] / column[i]);
  if (largest <= tie_tolerance) return -1;
  int best = -1;
  for (int i = 0; i < p->n; i++) {
    if (!(column[i] < -pivot_tolerance) || !vanishes(value[i], column[i], largest)) continue;
    if (p->basic[i] == 2 * p->n) return i;
    if (best < 0 || pivots_before(p, best, i)) best = i;
  }
  return best;
}

typedef struct path {
  pivots *p;
  double *cover; /* [n] */
  double *ray;   /* [n] receives the direction of the first one; may be NULL */
  int limit, pivots;
} path;

/* On the ray of variable v: takes the growing slacks out of the covering vector. Returns the row that leaves, -1: there is no
 * way back. */
static int turn_back(path *s, int v) {
  pivots *p = s->p;
  int uncovered = 0;
  for (int i = 0; i < p->n; i++) {
    const int slack = p->basic[i];
    if (slack >= p->n || s->cover[slack] == 0 || !(p->column[i] < -pivot_tolerance)) continue;
    s->cover[slack] = 0;
    uncovered++;
  }
  if (!uncovered) return -1;
  pivots_refresh(p);
  return pivots_enter(p, v) ? last_to_vanish(p) : -1;
}

/* Pivots to the end. */
static ss_outcome follow(path *s) {
  enum { TURNS = 4 };
  pivots *p = s->p;
  const int artificial = 2 * p->n;
  (void)pivots_enter(p, artificial);
  int r = first_row(p), turns = 0;
  if (r < 0) return SS_SOLVED;
  while (s->pivots < s->limit) {
    const int leaves = p->basic[r], enters = pivots_complement(p, leaves);
    const bool refresh = pivots_exchange(p, r);
    s->pivots++;
    if (leaves == artificial) return SS_SOLVED;
    if (refresh) pivots_refresh(p);
    bool outside = pivots_enter(p, enters);
    r = outside ? ratio_test(p) : -1;
    if (p->stale && !pivots_reliable(p, r)) { /* a ray, or a pivot that may be nothing but errors */
      pivots_refresh(p);
      outside = pivots_enter(p, enters);
      r = outside ? ratio_test(p) : -1;
    }
    if (!outside) return SS_STALLED; /* the basis was singular, refresh has found another */
    if (r >= 0) continue;
    if (turns == 0 && s->ray) pivots_ray(p, s->ray);
    if (turns++ < TURNS) r = turn_back(s, enters);
    if (r < 0) return SS_RAY;
  }
  return turns ? SS_RAY : SS_LIMIT;
}

ss_status lemke(const lcp *l, const double *cover, int limit, double *x, double *ray, ss_cp_workspace *w,
                ss_outcome *outcome, int *pivoted, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  path s = {.cover = SCRATCH(w, double, l->n), .ray = ray, .limit = limit};
  if (!s.cover) return out_of_memory(error);
  for (int j = 0; j < l->n; j++) s.cover[j] = cover ? cover[j] : 1;
  ss_status status = pivots_create(l, s.cover, w, &s.p, error);
  if (status) return status;
  *outcome = follow(&s);
  *pivoted = s.pivots;
  status = pivots_solution(s.p, *outcome == SS_SOLVED, x, w, error);
  scratch_release(w, mark);
  return status;
}
