/* The basis as a tableau of the nonbasic columns: x_B = value - T x_N, n + 1 columns, row-major; a pivot is one pass over it.
 * Its rounding errors grow with the number of pivots: they are measured now and then, and where they are too large the tableau is
 * computed from M and q again, the best pivots first, which costs as much as n pivots. */
#include "cp/pivots.h"

enum { CHECK = 40 /* pivots */ };
static const double most_error = 1e-11;

typedef struct tableau {
  pivots p;     /* place: row, or -1 - column */
  double *T;    /* n x (n + 1) */
  int *outside; /* [n + 1] variable of each column */
  int *wanted;  /* [2 n + 1] scratch of refresh */
  double *part; /* [2 n + 1] scratch of the check: the variables' parts in a column */
} tableau;

static inline double *row_of(const tableau *t, int i) { return t->T + (size_t)i * ((size_t)t->p.n + 1); }

static void set_up(tableau *t) {
  pivots *p = &t->p;
  const int n = p->n;
  for (int i = 0; i < n; i++) {
    double *row = row_of(t, i);
    const double *m = p->l->M + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) row[j] = -m[j];
    row[n] = p->cover ? -p->cover[i] : -1;
    p->value[i] = p->l->q[i];
    p->basic[i] = p->place[i] = i;
    t->outside[i] = n + i;
    p->place[n + i] = -1 - i;
  }
  t->outside[n] = 2 * n;
  p->place[2 * n] = -1 - n;
  p->stale = 0;
}

static void take_column(pivots *p) {
  const tableau *t = (const tableau *)p;
  const int c = -1 - p->place[p->entering];
  for (int i = 0; i < p->n; i++) p->column[i] = row_of(t, i)[c];
}

/* Entry of the inverse basis: coefficient of y_j in row i. */
static double inverse_entry(const tableau *t, int i, int j) {
  const int place = t->p.place[j];
  return place >= 0 ? place == i : row_of(t, i)[-1 - place];
}

static bool before(const pivots *p, int a, int b) {
  const tableau *t = (const tableau *)p;
  const double pa = p->column[a], pb = p->column[b];
  for (int j = 0; j < p->n; j++) {
    const double difference = inverse_entry(t, a, j) / pa - inverse_entry(t, b, j) / pb;
    if (fabs(difference) > tie_tolerance) return difference < 0;
  }
  return pa > pb;
}

/* How well column c (n + 1: the values) satisfies y = M x + d x0 (+ q), relative to its size. */
static double column_error(const tableau *t, int c) {
  const pivots *p = &t->p;
  const int n = p->n;
  double size = 1, worst = 0;
  for (int v = 0; v <= 2 * n; v++) t->part[v] = 0;
  if (c <= n) t->part[t->outside[c]] = 1;
  for (int i = 0; i < n; i++) {
    const double value = c > n ? p->value[i] : -row_of(t, i)[c];
    t->part[p->basic[i]] = value;
    size = fmax(size, fabs(value));
  }
  for (int i = 0; i < n; i++) {
    const double *m = p->l->M + (size_t)i * (size_t)n;
    double sum = (p->cover ? p->cover[i] : 1) * t->part[2 * n] + (c > n ? p->l->q[i] : 0) - t->part[i];
    for (int j = 0; j < n; j++) sum += m[j] * t->part[n + j];
    worst = fmax(worst, fabs(sum));
  }
  return worst / size;
}

/* Looks at the values and at one of the columns, another one every time. */
static bool has_drifted(const tableau *t) {
  const int other = (int)((size_t)t->p.stale * 7 % ((size_t)t->p.n + 1));
  return !(column_error(t, t->p.n + 1) <= most_error && column_error(t, other) <= most_error);
}

static void exchange(tableau *t, int r) {
  pivots *p = &t->p;
  const int n = p->n, c = -1 - p->place[p->entering];
  double *restrict pivot_row = row_of(t, r);
  const double inverse = 1 / pivot_row[c];
  for (int j = 0; j <= n; j++) pivot_row[j] *= inverse;
  pivot_row[c] = inverse;
  p->value[r] *= inverse;
  for (int i = 0; i < n; i++) {
    double *restrict row = row_of(t, i);
    const double f = row[c];
    if (i == r || f == 0) continue;
    row[c] = 0;
    for (int j = 0; j <= n; j++) row[j] -= f * pivot_row[j];
    p->value[i] -= f * p->value[r];
  }
  const int leaves = p->basic[r];
  p->basic[r] = p->entering;
  t->outside[c] = leaves;
  p->place[p->entering] = r;
  p->place[leaves] = -1 - c;
}

static bool pivot(pivots *p, int r) {
  tableau *t = (tableau *)p;
  const bool reliable = pivots_reliable(p, r);
  exchange(t, r);
  p->stale++;
  return !reliable || (p->stale % CHECK == 0 && has_drifted(t));
}

static void refresh(pivots *p) {
  tableau *t = (tableau *)p;
  const int n = p->n;
  for (int v = 0; v <= 2 * n; v++) t->wanted[v] = p->place[v] >= 0;
  set_up(t);
  for (;;) {
    int r = -1;
    double largest = 0;
    for (int i = 0; i < n; i++) {
      if (t->wanted[p->basic[i]]) continue;
      const double *row = row_of(t, i);
      for (int j = 0; j <= n; j++)
        if (t->wanted[t->outside[j]] && fabs(row[j]) > largest) {
          largest = fabs(row[j]);
          r = i;
          p->entering = t->outside[j];
        }
    }
    if (r < 0) break;
    exchange(t, r);
  }
}

ss_status tableau_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error) {
  const size_t n = (size_t)l->n;
  tableau *t = SCRATCH(w, tableau, 1);
  double *numbers = SCRATCH(w, double, 4 * n + 1);
  int *integers = SCRATCH(w, int, 6 * n + 3);
  double *T = SCRATCH(w, double, n *(n + 1));
  if (!t || !numbers || !integers || !T) return out_of_memory(error);
  *t = (tableau){.p = {.l = l, .cover = cover, .n = l->n}, .T = T};
  t->p.value = numbers;
  t->p.column = numbers + n;
  t->part = numbers + 2 * n;
  t->p.basic = integers;
  t->p.place = integers + n;
  t->outside = integers + 3 * n + 1;
  t->wanted = integers + 4 * n + 2;
  t->p.take_column = take_column;
  t->p.before = before;
  t->p.pivot = pivot;
  t->p.refresh = refresh;
  set_up(t);
  *out = &t->p;
  return SS_OK;
}
