/* Lemke's and Keller's methods as solvers: eliminate the free rows, expand to a standard LCP, pivot, and go back. Keller's is for
 * positive semi-definite matrices, which friction does not have.
 *
 * How long a path is, is a matter of luck with matrices that are not positive semi-definite: for games of 200 x 200 and the
 * covering vectors of one problem from half of n pivots to more than 60 n. `restarted` gives one covering vector after the other
 * few pivots, by the sequence of Luby, Sinclair & Zuckerman (1993), 1 1 2 1 1 2 4 ..., and at last many to the usual one, ones. */
#include "cp/solver.h"

#include "core/wide.h"
#include "la/dense.h"
#include "cp/pivoting.h"
#include "la/rows.h"

#include <limits.h>
#include <math.h>

/* The basis as a tableau of the nonbasic columns: x_B = value - T x_N, n + 1 columns, row-major; a pivot is one pass over it.
 * Its rounding errors grow with the number of pivots: they are measured now and then, and where they are too large the tableau is
 * computed from M and q again, the best pivots first, which costs as much as n pivots. */

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

static void tableau_set_up(tableau *t) {
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

static void tableau_column(pivots *p) {
  const tableau *t = (const tableau *)p;
  const int c = -1 - p->place[p->entering];
  for (int i = 0; i < p->n; i++) p->column[i] = row_of(t, i)[c];
}

/* Entry of the inverse basis: coefficient of y_j in row i. */
static double inverse_entry(const tableau *t, int i, int j) {
  const int place = t->p.place[j];
  return place >= 0 ? place == i : row_of(t, i)[-1 - place];
}

static bool tableau_before(const pivots *p, int a, int b) {
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

static bool tableau_pivot(pivots *p, int r) {
  tableau *t = (tableau *)p;
  const bool reliable = pivots_reliable(p, r);
  exchange(t, r);
  p->stale++;
  return !reliable || (p->stale % CHECK == 0 && has_drifted(t));
}

static void tableau_refresh(pivots *p) {
  tableau *t = (tableau *)p;
  const int n = p->n;
  for (int v = 0; v <= 2 * n; v++) t->wanted[v] = p->place[v] >= 0;
  tableau_set_up(t);
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
  t->p.take_column = tableau_column;
  t->p.before = tableau_before;
  t->p.pivot = tableau_pivot;
  t->p.refresh = tableau_refresh;
  tableau_set_up(t);
  *out = &t->p;
  return SS_OK;
}

/* The basis as LU factors with updates: what a tableau of many rows wastes its time on, the columns that never enter, is not
 * computed.
 *
 * y_i is a column of the identity, so that only a kernel is factorised: the rows whose y is not basic against the x (and x0)
 * that are, m of each (Cottle, Pang & Stone, section 4.4, on large problems). A pivot multiplies the inverse by one column of an
 * identity that the entering column replaces (product form); after some tens of them the kernel is factorised again. A pivot
 * costs 2 (m n + m^2) operations and 2 n for each update, where a tableau takes 2 n^2; the factors m^3 2/3 once in a while. M is
 * held by columns, because columns are what is added up.
 *
 * The rule against cycling: q is replaced by q + epsilon p with a generic p > 0 and an infinitesimal epsilon; the values that
 * belong to p are kept beside the others and decide their ties. A tie in both would be an accident of the numbers in p. */

enum { FEWEST = 32, UPDATES = 256 };
static const double kernel_tolerance = 1e-13;

typedef struct basis {
  pivots p;
  double *M;              /* by columns */
  double *K;              /* the kernel's factors */
  double *tie;            /* [n] values of the right side p */
  double *work, *part;    /* [n] each */
  double *factor;         /* [n] */
  const double **columns; /* [n] */
  int m;                  /* order of the kernel */
  int *rows;       /* [m] those whose y was not basic when the factors were made; at the same time the places of ... */
  int *structural; /* [m] the x and x0 that were */
  int *row, *col;  /* [m] what the elimination has swapped */
  double *update;  /* [UPDATES][n] entering columns */
  int at[UPDATES]; /* and the rows that they took */
  int most;        /* of them, such that they cost as much as new factors */
} basis;

/* Minus that of the system  y - M x - d x0 = q. */
static inline double *column_of(const basis *b, int v) { return b->M + (size_t)(v - b->p.n) * (size_t)b->p.n; }

/* x from B x = x with the basis that was factorised. */
static void solve_factors(const basis *b, double *x) {
  double *u = b->work;
  const int m = b->m;
  int count = 0;
  for (int k = 0; k < m; k++) u[k] = x[b->rows[k]];
  ss_dense_solve(b->K, m, b->row, u, 1);
  for (int k = 0; k < m; k++) {
    if (u[k] == 0) continue;
    b->factor[count] = u[k];
    b->columns[count++] = column_of(b, b->structural[k]);
  }
  ss_add_columns(x, b->columns, b->factor, count, b->p.n);
  for (int k = 0; k < m; k++) x[b->rows[k]] = u[k];
}

WIDE static void basis_column(pivots *p) {
  const basis *b = (const basis *)p;
  const int n = p->n;
  for (int i = 0; i < n; i++) p->column[i] = 0;
  if (p->entering < n)
    p->column[p->entering] = 1;
  else
    for (int i = 0; i < n; i++) p->column[i] = -column_of(b, p->entering)[i];
  solve_factors(b, p->column);
  for (int k = 0; k < p->stale; k++) {
    const double *restrict update = b->update + (size_t)k * (size_t)n;
    double *restrict x = p->column;
    const int r = b->at[k];
    const double t = x[r] / update[r];
    if (t == 0) continue;
    for (int i = 0; i < n; i++) x[i] -= t * update[i];
    x[r] = t;
  }
}

static bool basis_before(const pivots *p, int a, int b) {
  const double *tie = ((const basis *)p)->tie;
  return tie[a] / p->column[a] < tie[b] / p->column[b];
}

WIDE static bool basis_pivot(pivots *p, int r) {
  basis *b = (basis *)p;
  const bool reliable = pivots_reliable(p, r);
  const double length = p->value[r] / p->column[r], tie = b->tie[r] / p->column[r];
  double *restrict update = b->update + (size_t)p->stale * (size_t)p->n;
  for (int i = 0; i < p->n; i++) {
    update[i] = p->column[i];
    p->value[i] -= length * update[i];
    b->tie[i] -= tie * update[i];
  }
  p->value[r] = length;
  b->tie[r] = tie;
  b->at[p->stale++] = r;
  p->place[p->basic[r]] = -1;
  p->place[p->entering] = r;
  p->basic[r] = p->entering;
  return !reliable || p->stale >= b->most;
}

/* Each x_j takes row j if that is free, so that the kernel has the diagonal of M on its own; the others take what is left. */
static void arrange_kernel(basis *b) {
  pivots *p = &b->p;
  const int n = p->n;
  int m = 0, late = 0, *others = b->row;
  for (int i = 0; i < n; i++) b->col[i] = p->place[i] < 0 ? i : -1; /* rows that are free */
  for (int v = n; v <= 2 * n; v++) {
    if (p->place[v] < 0) continue;
    if (v < 2 * n && b->col[v - n] >= 0) {
      b->rows[m] = v - n;
      b->structural[m++] = v;
      b->col[v - n] = -1;
    } else
      others[late++] = v;
  }
  for (int i = 0, k = 0; i < n && k < late; i++)
    if (b->col[i] >= 0) {
      b->rows[m] = i;
      b->structural[m++] = others[k++];
    }
  b->m = m;
}

/* What depends on others, at least one, leaves the basis, and the y of the rows that are left over come in. */
static void drop_dependent(basis *b, int rank) {
  for (int k = rank < b->m ? rank : b->m - 1; k < b->m; k++) {
    b->p.place[b->structural[b->col[k]]] = -1;
    b->p.place[b->rows[b->row[k]]] = 0;
  }
}

static void fill_kernel(const basis *b) {
  const int m = b->m, n = b->p.n;
  for (int k = 0; k < m; k++) {
    double *row = b->K + (size_t)k * (size_t)m;
    const double *given = b->p.l->M + (size_t)b->rows[k] * (size_t)n, *cover = column_of(b, 2 * n);
    for (int j = 0; j < m; j++) row[j] = b->structural[j] < 2 * n ? -given[b->structural[j] - n] : -cover[b->rows[k]];
  }
}

/* Where the kernel is singular, rank-revealing elimination finds out what has to leave. */
static void factorise(basis *b) {
  for (;;) {
    arrange_kernel(b);
    fill_kernel(b);
    if (ss_dense_factor(b->K, b->m, kernel_tolerance, b->row)) return;
    fill_kernel(b);
    drop_dependent(b, dense_eliminate(b->K, b->m, b->m, b->m, b->m, kernel_tolerance, b->row, b->col));
  }
}

/* What is missing in y - M x - d x0 = q, into `missing`. */
static void find_missing(const basis *b, double *missing) {
  const pivots *p = &b->p;
  for (int i = 0; i < p->n; i++) missing[i] = p->l->q[i];
  for (int i = 0; i < p->n; i++) {
    const int v = p->basic[i];
    if (v < p->n)
      missing[v] -= p->value[i];
    else
      ss_add_columns(missing, &(const double *){column_of(b, v)}, &p->value[i], 1, p->n);
  }
}

static void basis_refresh(pivots *p) {
  basis *b = (basis *)p;
  const int n = p->n;
  for (int i = 0; i < n; i++) column_of(b, 2 * n)[i] = p->cover ? p->cover[i] : 1; /* it may have changed */
  factorise(b);
  for (int i = 0; i < n; i++)
    if (p->place[i] >= 0) p->basic[p->place[i] = i] = i;
  for (int k = 0; k < b->m; k++) p->basic[p->place[b->structural[k]] = b->rows[k]] = b->structural[k];
  for (int i = 0; i < n; i++) {
    const double x = 0.618033988749895 * (i + 1);
    p->value[i] = p->l->q[i];
    b->tie[i] = 1 + (x - floor(x));
  }
  solve_factors(b, p->value);
  solve_factors(b, b->tie);
  find_missing(b, b->part);
  solve_factors(b, b->part);
  for (int i = 0; i < n; i++) p->value[i] += b->part[i];
  const double m = b->m, balanced = sqrt(2.0 / 3 * m * m * m / n);
  b->most = balanced < FEWEST ? FEWEST : balanced > UPDATES ? UPDATES : (int)balanced;
  p->stale = 0;
}

static void hold_columns(const basis *b) {
  const int n = b->p.n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) column_of(b, n + j)[i] = b->p.l->M[(size_t)i * (size_t)n + (size_t)j];
}

ss_status basis_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error) {
  const size_t n = (size_t)l->n;
  basis *b = SCRATCH(w, basis, 1);
  double *numbers = SCRATCH(w, double, (6 + UPDATES) * n);
  int *integers = SCRATCH(w, int, 7 * n + 1);
  double *M = SCRATCH(w, double, n *(n + 1)), *K = SCRATCH(w, double, n *n);
  const double **columns = SCRATCH(w, const double *, n);
  if (!b || !numbers || !integers || !M || !K || !columns) return out_of_memory(error);
  *b = (basis){.p = {.l = l, .cover = cover, .n = l->n}, .M = M, .K = K, .columns = columns};
  b->p.value = numbers;
  b->p.column = numbers + n;
  b->tie = numbers + 2 * n;
  b->work = numbers + 3 * n;
  b->part = numbers + 4 * n;
  b->factor = numbers + 5 * n;
  b->update = numbers + 6 * n;
  b->p.basic = integers;
  b->p.place = integers + n;
  b->rows = integers + 3 * n + 1;
  b->structural = b->rows + n;
  b->row = b->structural + n;
  b->col = b->row + n;
  b->p.take_column = basis_column;
  b->p.before = basis_before;
  b->p.pivot = basis_pivot;
  b->p.refresh = basis_refresh;
  hold_columns(b);
  for (int v = 0; v <= 2 * l->n; v++) b->p.place[v] = v < l->n ? v : -1;
  basis_refresh(&b->p);
  *out = &b->p;
  return SS_OK;
}

/* What both ways to keep a basis share: the choice between them, and the way back from the last basis to x. */

ss_status pivots_create(const lcp *l, const double *cover, ss_cp_workspace *w, pivots **out, ss_error *error) {
  enum { TABLEAU_ROWS = 80 };
  return l->n <= TABLEAU_ROWS ? tableau_create(l, cover, w, out, error) : basis_create(l, cover, w, out, error);
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

/* x_B from M_BB x_B = -q_B, by refinement of what the pivots have come to: one step more than needed, and more of them where the damping
 * is to be taken out (each is a proximal step). Keeps x where the basis is singular in working precision. */
static ss_status solve_basis(const lcp *l, const int *set, int m, double *x, ss_cp_workspace *w, ss_error *error) {
  enum { PASSES = 2, DAMPED_PASSES = 10 };
  double *A = SCRATCH(w, double, (size_t)m *((size_t)m + 3));
  int *pivot = SCRATCH(w, int, m);
  if (!A || !pivot) return out_of_memory(error);
  double *r = A + (size_t)m * ((size_t)m + 1), *step = r + m;
  if (basis_residual(l, set, m, x, r) <= 1e-15) return SS_OK;
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      A[(size_t)i * (size_t)m + (size_t)j] = l->M[(size_t)set[i] * (size_t)l->n + (size_t)set[j]];
  if (!ss_dense_factor(A, m, 1e-14, pivot)) return SS_OK;
  for (int pass = 0; pass < (l->damping > 0 ? DAMPED_PASSES : PASSES); pass++) {
    const double before_step = basis_residual(l, set, m, x, r);
    for (int i = 0; i < m; i++) step[i] = -r[i];
    ss_dense_solve(A, m, pivot, step, 1);
    for (int i = 0; i < m; i++) x[set[i]] += step[i];
    if (basis_residual(l, set, m, x, r) <= before_step) continue;
    for (int i = 0; i < m; i++) x[set[i]] -= step[i]; /* a nearly singular basis: back */
    break;
  }
  return SS_OK;
}

ss_status pivots_solution(const pivots *p, bool complementary, double *x, ss_cp_workspace *w, ss_error *error) {
  const int n = p->n;
  int m = 0, *set = SCRATCH(w, int, n);
  if (!set) return out_of_memory(error);
  for (int j = 0; j < n; j++) {
    const int row = p->place[n + j];
    x[j] = row >= 0 ? p->value[row] : 0;
    if (row >= 0) set[m++] = j;
  }
  return m && complementary ? solve_basis(p->l, set, m, x, w, error) : SS_OK;
}

void pivots_ray(const pivots *p, double *direction) {
  for (int j = 0; j < p->n; j++) {
    const int row = p->place[p->n + j];
    direction[j] = row >= 0 ? -p->column[row] : p->entering == p->n + j;
  }
}

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

typedef enum variant { PLAIN, KELLER, RESTARTED } variant;

static const double rank_tolerance = 1e-12;

/* Between 0.02 and 1, another vector for every k. */
static void fill_spread_cover(double *cover, int n, int k) {
  for (int i = 0; i < n; i++) {
    const double x = 0.618033988749895 * (i + 1) + 0.754877666246693 * k * (i % 97 + 1) + 0.569840290998053 * k * k;
    cover[i] = 0.02 + 0.98 * (x - floor(x));
  }
}

static int luby(int k) { /* k = 1, 2, ... */
  for (;;) {
    int power = 1;
    while (2 * power <= k) power *= 2;
    if (k == 2 * power - 1) return power;
    k -= power - 1;
  }
}

/* One problem on its way: x of the LCP, the covering vector, the ray. */
typedef struct pivoting {
  reduction r;
  lcp l;
  double *x, *rest, *cover, *ray;
} pivoting;

static ss_status set_up(const ss_cp *problem, ss_cp_workspace *w, pivoting *p, ss_error *error) {
  ss_status status = reduce_free_rows(problem, rank_tolerance, w, &p->r, error);
  if (!status) status = expand_to_lcp(&p->r, w, &p->l, error);
  if (status) return status;
  p->x = SCRATCH(w, double, 3 * (size_t)p->l.n);
  p->rest = SCRATCH(w, double, problem->n);
  if (!p->x || !p->rest) return out_of_memory(error);
  p->cover = p->x + p->l.n;
  p->ray = p->cover + p->l.n;
  return SS_OK;
}

/* Lemke's method with the covering vector of p, or with ones. */
static ss_status run_lemke(pivoting *p, bool covered, int limit, ss_cp_workspace *w, ss_cp_result *result,
                           ss_error *error) {
  int taken = 0;
  const scratch_mark mark = scratch_now(w);
  const ss_status status =
      lemke(&p->l, covered ? p->cover : NULL, limit, p->x, p->ray, w, &result->outcome, &taken, error);
  scratch_release(w, mark);
  result->iterations += taken;
  if (!status && result->outcome == SS_RAY) result->no_solution = lcp_infeasible(&p->l, p->ray, w);
  return status;
}

static ss_status restart(pivoting *p, int limit, ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  ss_status status = SS_OK;
  for (int k = 1; !status && result->iterations < limit / 5; k++) {
    fill_spread_cover(p->cover, p->l.n, k);
    const int left = limit - result->iterations, length = 50 + p->l.n * luby(k);
    status = run_lemke(p, true, length < left ? length : left, w, result, error);
    if (result->outcome == SS_SOLVED || result->no_solution) return status;
  }
  return status ? status : run_lemke(p, false, limit, w, result, error);
}

static ss_status run(const ss_cp *problem, const ss_cp_options *options, variant v, double *z, ss_cp_workspace *w,
                     ss_cp_result *result, ss_error *error) {
  pivoting p;
  result->iterations = 0;
  result->no_solution = false;
  ss_status status = set_up(problem, w, &p, error);
  if (status) return status;
  int limit = 2000 + 50 * p.l.n;
  if (options->work > 0) limit = (int)fmin(INT_MAX, 1 + options->work / ((double)p.l.n * p.l.n));
  if (options->iteration_limit > 0) limit = options->iteration_limit;
  if (v == KELLER)
    status = keller(&p.l, limit, p.x, NULL, w, &result->outcome, &result->iterations, error);
  else if (v == RESTARTED)
    status = restart(&p, limit, w, result, error);
  else
    status = run_lemke(&p, false, limit, w, result, error);
  result->operations = (double)result->iterations * p.l.n * p.l.n;
  if (status) return status;
  lcp_contract(&p.l, &p.r, p.x, p.rest);
  return reduction_recover(&p.r, p.rest, z, w, error);
}

static ss_status solve_variant(const ss_cp *problem, const ss_cp_options *options, variant v, double *z,
                               ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  if (v == KELLER ? has_friction(problem) : has_disc(problem)) {
    result->outcome = SS_NOT_ADMITTED;
    return SS_OK;
  }
  return run(problem, options, v, z, w, result, error);
}

ss_status solve_lemke(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, PLAIN, z, workspace, result, error);
}

ss_status solve_keller(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                       ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, KELLER, z, workspace, result, error);
}

ss_status solve_lemke_restarted(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  return solve_variant(problem, options, RESTARTED, z, workspace, result, error);
}
