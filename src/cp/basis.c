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
#include "core/wide.h"
#include "cp/dense.h"
#include "cp/pivots.h"
#include "la/blocked_lu.h"

enum { FEWEST = 32, UPDATES = 256 };
static const double rank_tolerance = 1e-13;

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
  for (int k = 0; k < m; k++) u[k] = x[b->rows[b->row[k]]];
  ss_blocked_lu_solve(b->K, m, u);
  for (int k = 0; k < m; k++) {
    if (u[k] == 0) continue;
    b->factor[count] = u[k];
    b->columns[count++] = column_of(b, b->structural[k]);
  }
  ss_add_columns(x, b->columns, b->factor, count, b->p.n);
  for (int k = 0; k < m; k++) x[b->rows[k]] = u[k];
}

WIDE static void take_column(pivots *p) {
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

static bool before(const pivots *p, int a, int b) {
  const double *tie = ((const basis *)p)->tie;
  return tie[a] / p->column[a] < tie[b] / p->column[b];
}

WIDE static bool pivot(pivots *p, int r) {
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
    if (ss_blocked_lu(b->K, b->m, rank_tolerance, b->row) == b->m) return;
    fill_kernel(b);
    drop_dependent(b, dense_eliminate(b->K, b->m, b->m, b->m, b->m, rank_tolerance, b->row, b->col));
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

static void refresh(pivots *p) {
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
  b->p.take_column = take_column;
  b->p.before = before;
  b->p.pivot = pivot;
  b->p.refresh = refresh;
  hold_columns(b);
  for (int v = 0; v <= 2 * l->n; v++) b->p.place[v] = v < l->n ? v : -1;
  refresh(&b->p);
  *out = &b->p;
  return SS_OK;
}
