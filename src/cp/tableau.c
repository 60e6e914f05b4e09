/* The tableau holds the nonbasic columns only: x_B = rhs - T x_N, n + 1 columns and the right side, row-major; a pivot
 * is one pass over it. Its rounding errors grow with the number of pivots: they are measured now and then, and where they are
 * too large the tableau is computed from M and q again, which costs as much as n pivots. The final basis is solved from the
 * data. */
#include "cp/tableau.h"

#include "cp/dense.h"

static const double small_pivot = 1e-5; /* what follows is computed from the data again */
static const double most_error = 1e-11;

static void set_up(tableau *t) {
  const int n = t->n;
  for (int i = 0; i < n; i++) {
    double *row = tableau_row(t, i);
    const double *m = t->l->M + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) row[j] = -m[j];
    row[n] = t->cover ? -t->cover[i] : -1;
    row[n + 1] = t->l->q[i];
    t->basic[i] = t->place[i] = i;
    t->outside[i] = n + i;
    t->place[n + i] = -1 - i;
  }
  t->outside[n] = 2 * n;
  t->place[2 * n] = -1 - n;
  t->stale = 0;
}

ss_status tableau_create(const lcp *l, const double *cover, ss_cp_workspace *w, tableau *out, ss_error *error) {
  const int n = l->n;
  *out = (tableau){.l = l, .cover = cover, .n = n, .stride = n + 2};
  out->T = SCRATCH(w, double, (size_t)n *(size_t)out->stride);
  int *integers = SCRATCH(w, int, 6 * (size_t)n + 3);
  out->part = SCRATCH(w, double, 2 * (size_t)n + 1);
  if (!out->T || !integers || !out->part) return out_of_memory(error);
  out->basic = integers;
  out->outside = integers + n;
  out->place = integers + 2 * n + 1;
  out->wanted = out->place + 2 * n + 1;
  set_up(out);
  return SS_OK;
}

/* Entry of the inverse basis: coefficient of y_j in row i. */
static double inverse_entry(const tableau *t, int i, int j) {
  const int place = t->place[j];
  return place >= 0 ? place == i : tableau_row(t, i)[-1 - place];
}

bool tableau_before(const tableau *t, int a, int b, int c) {
  const double pa = tableau_row(t, a)[c], pb = tableau_row(t, b)[c];
  for (int j = 0; j < t->n; j++) {
    const double difference = inverse_entry(t, a, j) / pa - inverse_entry(t, b, j) / pb;
    if (fabs(difference) > tableau_tie_tolerance) return difference < 0;
  }
  return pa > pb;
}

/* How well column c (n + 1: the right side) satisfies y = M x + d x0 (+ q), relative to its size. */
static double column_error(const tableau *t, int c) {
  const int n = t->n;
  const double sign = c > n ? 1 : -1;
  double size = 1, worst = 0;
  for (int v = 0; v <= 2 * n; v++) t->part[v] = 0;
  if (c <= n) t->part[t->outside[c]] = 1;
  for (int i = 0; i < n; i++) {
    const double value = sign * tableau_row(t, i)[c];
    t->part[t->basic[i]] = value;
    size = fmax(size, fabs(value));
  }
  for (int i = 0; i < n; i++) {
    const double *m = t->l->M + (size_t)i * (size_t)n;
    double sum = (t->cover ? t->cover[i] : 1) * t->part[2 * n] + (c > n ? t->l->q[i] : 0) - t->part[i];
    for (int j = 0; j < n; j++) sum += m[j] * t->part[n + j];
    worst = fmax(worst, fabs(sum));
  }
  return worst / size;
}

/* Looks at the right side and at one of the columns, another one every time. */
static bool has_drifted(const tableau *t) {
  const int other = (int)((size_t)t->stale * 7 % ((size_t)t->n + 1));
  return !(column_error(t, t->n + 1) <= most_error && column_error(t, other) <= most_error);
}

bool tableau_reliable(const tableau *t, int r, int c) { return r >= 0 && fabs(tableau_row(t, r)[c]) >= small_pivot; }

bool tableau_pivot(tableau *t, int r, int c) {
  const int n = t->n, columns = n + 2;
  double *restrict p = tableau_row(t, r);
  const bool small = fabs(p[c]) < small_pivot;
  const double inverse = 1 / p[c];
  for (int j = 0; j < columns; j++) p[j] *= inverse;
  p[c] = inverse;
  for (int i = 0; i < n; i++) {
    double *restrict row = tableau_row(t, i);
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
  t->stale++;
  return small || (t->stale % TABLEAU_CHECK == 0 && has_drifted(t));
}

void tableau_refresh(tableau *t) {
  const int n = t->n;
  for (int v = 0; v <= 2 * n; v++) t->wanted[v] = t->place[v] >= 0;
  set_up(t);
  for (;;) {
    int r = -1, c = -1;
    double largest = 0;
    for (int i = 0; i < n; i++) {
      if (t->wanted[t->basic[i]]) continue;
      const double *row = tableau_row(t, i);
      for (int j = 0; j <= n; j++)
        if (t->wanted[t->outside[j]] && fabs(row[j]) > largest) {
          largest = fabs(row[j]);
          r = i;
          c = j;
        }
    }
    if (r < 0) break;
    t->stale = 0; /* nothing to be checked yet */
    (void)tableau_pivot(t, r, c);
  }
  t->stale = 0;
}

static double basis_residual(const lcp *l, const int *set, int m, const double *x, double *r) {
  double worst = 0;
  for (int i = 0; i < m; i++) {
    const double *row = l->M + (size_t)set[i] * (size_t)l->n;
    double sum = l->q[set[i]] - l->damping * x[set[i]];
    for (int j = 0; j < m; j++) sum += row[set[j]] * x[set[j]];
    r[i] = sum;
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

/* x_B from M_BB x_B = -q_B, by refinement of what the tableau says: one step more than needed, and more of them where the damping
 * is to be taken out (each is a proximal step). Keeps x where the basis is singular in working precision. */
static ss_status solve_basis(const lcp *l, const int *set, int m, double *x, ss_cp_workspace *w, ss_error *error) {
  enum { PASSES = 2, DAMPED_PASSES = 10 };
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
  for (int pass = 0; pass < (l->damping > 0 ? DAMPED_PASSES : PASSES); pass++) {
    const double before_step = basis_residual(l, set, m, x, r);
    for (int i = 0; i < m; i++) step[i] = -r[row[i]];
    dense_forward(A, m, m, step);
    dense_back(A, m, m, step);
    for (int i = 0; i < m; i++) x[set[col[i]]] += step[i];
    if (basis_residual(l, set, m, x, r) <= before_step) continue;
    for (int i = 0; i < m; i++) x[set[col[i]]] -= step[i]; /* a nearly singular basis: back */
    break;
  }
  return SS_OK;
}

ss_status tableau_solution(tableau *t, bool complementary, double *x, ss_cp_workspace *w, ss_error *error) {
  const int n = t->n;
  int m = 0, *set = t->outside; /* the columns are not needed any more */
  for (int j = 0; j < n; j++) {
    const int row = t->place[n + j];
    x[j] = row >= 0 ? tableau_value(t, row) : 0;
    if (row >= 0) set[m++] = j;
  }
  return m && complementary ? solve_basis(t->l, set, m, x, w, error) : SS_OK;
}

void tableau_ray(const tableau *t, int c, double *direction) {
  for (int j = 0; j < t->n; j++) {
    const int row = t->place[t->n + j];
    direction[j] = row >= 0 ? -tableau_row(t, row)[c] : t->outside[c] == t->n + j;
  }
}
