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

#include "cp/tableau.h"

/* Whether the variable of a row is as good as zero when column c has come to `length`: in the units of the step, and in its
 * own, which are the smaller ones where entries are large. */
static bool vanishes(const tableau *t, const double *row, int c, double length) {
  const double value = row[t->n + 1], left = fabs(value - length * row[c]);
  return left <= tableau_tie_tolerance * fmin(fabs(row[c]) * (1 + length), 1 + fabs(value));
}

/* The row that leaves when column c enters; -1: none, a ray. */
static int ratio_test(const tableau *t, int c) {
  const int n = t->n;
  double smallest = HUGE_VAL;
  for (int i = 0; i < n; i++) {
    const double *row = tableau_row(t, i);
    if (row[c] > tableau_pivot_tolerance && row[n + 1] < smallest * row[c]) smallest = row[n + 1] / row[c];
  }
  if (smallest == HUGE_VAL) return -1;
  int best = -1;
  for (int i = 0; i < n; i++) {
    const double *row = tableau_row(t, i);
    if (!(row[c] > tableau_pivot_tolerance) || !vanishes(t, row, c, smallest)) continue;
    if (t->basic[i] == 2 * n) return i;
    if (best < 0 || tableau_before(t, i, best, c)) best = i;
  }
  return best;
}

/* The first pivot: x0 enters, and the row with the most negative q / d leaves; of several the last, after which the others are
 * lexicographically positive. */
static int first_row(const tableau *t) {
  const int n = t->n;
  int best = -1;
  double smallest = 0;
  for (int i = 0; i < n; i++) smallest = fmin(smallest, -tableau_value(t, i) / tableau_row(t, i)[n]);
  for (int i = 0; i < n && smallest < 0; i++)
    if (-tableau_value(t, i) / tableau_row(t, i)[n] <= smallest * (1 - tableau_tie_tolerance)) best = i;
  return best;
}

/* The row that leaves where column c comes back from infinity: the last one to vanish as it shrinks; -1: none. */
static int last_to_vanish(const tableau *t, int c) {
  const int n = t->n;
  double largest = 0;
  for (int i = 0; i < n; i++) {
    const double *row = tableau_row(t, i);
    if (row[c] < -tableau_pivot_tolerance) largest = fmax(largest, row[n + 1] / row[c]);
  }
  if (largest <= tableau_tie_tolerance) return -1;
  int best = -1;
  for (int i = 0; i < n; i++) {
    const double *row = tableau_row(t, i);
    if (!(row[c] < -tableau_pivot_tolerance) || !vanishes(t, row, c, largest)) continue;
    if (t->basic[i] == 2 * n) return i;
    if (best < 0 || tableau_before(t, best, i, c)) best = i;
  }
  return best;
}

/* On the ray of variable v: takes the growing slacks out of the covering vector. Returns the row that leaves, -1: there is no
 * way back. */
static int turn_back(tableau *t, int v, double *cover, int *column) {
  const int n = t->n;
  int uncovered = 0;
  for (int i = 0; i < n; i++) {
    const int slack = t->basic[i];
    if (slack >= n || cover[slack] == 0 || !(tableau_row(t, i)[*column] < -tableau_pivot_tolerance)) continue;
    cover[slack] = 0;
    uncovered++;
  }
  if (!uncovered) return -1;
  tableau_refresh(t);
  *column = tableau_column(t, v);
  return *column < 0 ? -1 : last_to_vanish(t, *column);
}

typedef struct path {
  tableau t;
  double *cover; /* [n] */
  double *ray;   /* [n] receives the direction of the first one; may be NULL */
  int limit, pivots;
} path;

/* Pivots to the end. */
static ss_outcome follow(path *p) {
  enum { TURNS = 4 };
  tableau *t = &p->t;
  int r = first_row(t), c = t->n, turns = 0;
  if (r < 0) return SS_SOLVED;
  while (p->pivots < p->limit) {
    const int leaves = t->basic[r];
    const bool refresh = tableau_pivot(t, r, c);
    p->pivots++;
    if (leaves == 2 * t->n) return SS_SOLVED;
    if (refresh) tableau_refresh(t);
    const int enters = tableau_complement(t, leaves);
    c = tableau_column(t, enters);
    r = c < 0 ? -1 : ratio_test(t, c);
    if (t->stale && !tableau_reliable(t, r, c)) { /* a ray, or a pivot that may be nothing but errors */
      tableau_refresh(t);
      c = tableau_column(t, enters);
      r = c < 0 ? -1 : ratio_test(t, c);
    }
    if (c < 0) return SS_STALLED; /* the basis was singular, refresh has found another */
    if (r >= 0) continue;
    if (turns == 0 && p->ray) tableau_ray(t, c, p->ray);
    if (turns++ < TURNS) r = turn_back(t, enters, p->cover, &c);
    if (r < 0) return SS_RAY;
  }
  return turns ? SS_RAY : SS_LIMIT;
}

ss_status lemke(const lcp *l, const double *cover, int limit, double *x, double *ray, ss_cp_workspace *w,
                ss_outcome *outcome, int *pivots, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  path p = {.cover = SCRATCH(w, double, l->n), .ray = ray, .limit = limit};
  if (!p.cover) return out_of_memory(error);
  for (int j = 0; j < l->n; j++) p.cover[j] = cover ? cover[j] : 1;
  ss_status status = tableau_create(l, p.cover, w, &p.t, error);
  if (status) return status;
  *outcome = follow(&p);
  *pivots = p.pivots;
  status = tableau_solution(&p.t, *outcome == SS_SOLVED, x, w, error);
  scratch_release(w, mark);
  return status;
}
