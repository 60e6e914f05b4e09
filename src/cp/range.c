/* Factors of a matrix that lacks rank: contacts that outnumber the directions in which their bodies can move make a G of many
 * rows and small rank, and what is solved in its range is small however many contacts there are.
 *
 * Column by column: a pivot row i with what is left on its diagonal, d_i = G_ii - L_i . U_i, makes the columns
 *
 *     L_jc = (G_ji - L_j . U_i) / sqrt(d_i),   U_jc = (G_ij - L_i . U_j) / sqrt(d_i),   d_j -= L_jc U_jc,
 *
 * first from all rows with a good pivot, in the order given, then from the largest that is left, until nothing is. Where that leaves
 * something negative, once more with the largest only, which keeps rounding errors from growing at the price of sparsity. In a G =
 * J A^-1 J^T with definite A a row without anything left on its diagonal has nothing left at all. Assumes that noise and
 * rank are apart (the scaled d of dependent rows comes out below 1e-12). */
#include "cp/range.h"

#include "cp/storage.h"
#include "core/wide.h"
#include "la/blocked_lu.h"
#include "la/rows.h"

#include <math.h>

static const double good_pivot = 1e-3, nothing = 1e-10, asymmetry = 1e-14, indefinite = 1e-6, fill = 1e-13;
/* Given up with so many times as many pivots as may be, if it goes on as in so many rows. Of small problems heaps (0.69 to 0.77
 * pivots per row in the first 48, where 0.55 may be) are told from walls (0.38 to 0.5) before they cost as much as sweeps. */
enum { ENOUGH_ROWS = 1000, FEW_ENOUGH = 48, SMALL_ROWS = 240 };
static const double hopeless = 1.3, small_hopeless = 1.15;

static double rest(const double *l, const double *u, int first, int end, double entry) {
  return first < end ? entry - ss_dot(l + first, u + first, end - first) : entry;
}

/* Sets column c of row j. */
static void put(range *r, int j, int c, double l, double u) {
  double *L = r->L + (size_t)j * (size_t)r->stride, *U = r->U + (size_t)j * (size_t)r->stride;
  if (r->first[j] == r->n) r->first[j] = r->end[j] = c;
  for (int k = r->end[j]; k < c; k++) L[k] = U[k] = 0;
  L[c] = l;
  U[c] = u;
  r->end[j] = c + 1;
}

/* Row and column of the pivot, from a dense or a sparse G. */
typedef struct source {
  const ss_cp *problem;
  ss_sparse columns;    /* of a sparse G */
  double *row, *column; /* [n]; zero between pivots where G is sparse */
} source;

static void scatter(const ss_sparse *m, int i, bool set, double *x) {
  for (int k = m->start[i]; k < m->start[i + 1]; k++) x[m->col[k]] = set ? m->value[k] : 0;
}

static void load_pivot(source *s, int i) {
  const size_t n = (size_t)s->problem->n;
  if (s->problem->sparse) {
    scatter(s->problem->sparse, i, true, s->row);
    scatter(&s->columns, i, true, s->column);
    return;
  }
  for (size_t j = 0; j < n; j++) {
    s->row[j] = s->problem->G[(size_t)i * n + j];
    s->column[j] = s->problem->G[j * n + (size_t)i];
  }
}

static void unload_pivot(source *s, int i) {
  if (!s->problem->sparse) return;
  scatter(s->problem->sparse, i, false, s->row);
  scatter(&s->columns, i, false, s->column);
}

static double diagonal(const source *s, int i) {
  if (s->problem->sparse) return sparse_diagonal(s->problem->sparse, i);
  return s->problem->G[(size_t)i * ((size_t)s->problem->n + 1)];
}

/* The column of pivot row i. Rows that have been pivots are complete: their d is NAN. Returns false where U = L, but G turns
 * out not to be symmetric; rows that are no pivots depend on those that are. */
static bool add_column(range *r, source *s, double *d, int i) {
  const size_t stride = (size_t)r->stride;
  const int c = r->rank++;
  const double root = sqrt(d[i]), inverse = 1 / root;
  const double *Li = r->L + (size_t)i * stride, *Ui = r->U + (size_t)i * stride;
  bool symmetric = true;
  load_pivot(s, i);
  for (int j = 0; j < r->n && symmetric; j++) {
    if (isnan(d[j]) || j == i) continue;
    const double in = s->row[j], out = s->column[j];
    symmetric = r->L != r->U || fabs(in - out) <= asymmetry;
    const int end = r->end[i] < r->end[j] ? r->end[i] : r->end[j];
    const int first = r->first[i] > r->first[j] ? r->first[i] : r->first[j];
    if (in == 0 && out == 0 && first >= end) continue;
    const double l = inverse * rest(r->L + (size_t)j * stride, Ui, first, end, out);
    const double u = r->L == r->U ? l : inverse * rest(Li, r->U + (size_t)j * stride, first, end, in);
    if (fabs(l) < fill && fabs(u) < fill) continue;
    put(r, j, c, l, u);
    d[j] -= l * u;
  }
  unload_pivot(s, i);
  put(r, i, c, root, root);
  d[i] = NAN;
  return symmetric;
}

/* All columns, or one more than `most`; returns false like add_column. */
static bool add_columns(range *r, source *s, const pattern *order, double good, int most, double *d) {
  const int n = r->n, enough = n <= SMALL_ROWS ? FEW_ENOUGH : ENOUGH_ROWS;
  const double factor = n <= SMALL_ROWS ? small_hopeless : hopeless;
  r->rank = 0;
  for (int i = 0; i < n; i++) {
    r->first[i] = n;
    r->end[i] = 0;
    d[i] = diagonal(s, i);
  }
  for (int k = 0, seen = 0; k < order->n; k++) {
    for (int i = order->row[k]; i < order->row[k] + order->size[k]; i++, seen++)
      if (d[i] > good && r->rank <= most && !add_column(r, s, d, i)) return false;
    if (most < n && seen >= enough && (double)r->rank * n > factor * most * seen) r->rank = most + 1;
  }
  while (r->rank <= most) {
    int best = -1;
    for (int i = 0; i < n; i++)
      if (d[i] > (best < 0 ? nothing : d[best])) best = i;
    if (best < 0) return true;
    if (!add_column(r, s, d, best)) return false;
  }
  return true;
}

/* The factors with pivots above `good` taken as they come; admitted: nothing negative is left. */
static ss_status factorise(range *r, source *s, const pattern *order, double good, int most, double *d,
                           ss_cp_workspace *w, bool *admitted, ss_error *error) {
  const size_t n = (size_t)r->n;
  r->U = r->L;
  if (!add_columns(r, s, order, good, most, d)) {
    r->U = SCRATCH(w, double, n *(size_t)r->stride);
    if (!r->U) return out_of_memory(error);
    (void)add_columns(r, s, order, good, most, d);
  }
  *admitted = r->rank <= most;
  for (size_t i = 0; i < n; i++)
    if (d[i] < -indefinite) *admitted = false;
  return SS_OK;
}

static ss_status source_create(source *s, const ss_cp *problem, ss_cp_workspace *w, ss_error *error) {
  *s = (source){.problem = problem, .row = SCRATCH(w, double, 2 * (size_t)problem->n)};
  if (!s->row) return out_of_memory(error);
  s->column = s->row + problem->n;
  for (int i = 0; i < 2 * problem->n; i++) s->row[i] = 0;
  return problem->sparse ? sparse_transpose(problem->sparse, w, &s->columns, error) : SS_OK;
}

ss_status range_create(const ss_cp *problem, const pattern *order, int most, ss_cp_workspace *w, range *out,
                       bool *admitted, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = (range){.n = problem->n, .stride = most + 1, .first = SCRATCH(w, int, 2 * n)};
  out->L = SCRATCH(w, double, n *(size_t)out->stride);
  double *d = SCRATCH(w, double, n);
  if (!out->L || !out->first || !d) return out_of_memory(error);
  out->end = out->first + n;
  source s;
  ss_status status = source_create(&s, problem, w, error);
  if (!status) status = factorise(out, &s, order, good_pivot, most, d, w, admitted, error);
  if (status || *admitted || out->rank > most) return status;
  /* rounding errors, perhaps: best pivots only */
  return factorise(out, &s, order, HUGE_VAL, most, d, w, admitted, error);
}

WIDE void range_apply(const range *r, const double *g, const double *y, double *w) {
  for (int i = 0; i < r->n; i++) {
    const double *row = r->L + (size_t)i * (size_t)r->stride;
    const int first = r->first[i];
    w[i] = r->end[i] > first ? g[i] + row_dot(row + first, y + first, r->end[i] - first) : g[i];
  }
}

WIDE void range_collect(const range *r, const double *z, double *y) {
  for (int k = 0; k < r->rank; k++) y[k] = 0;
  for (int i = 0; i < r->n; i++) {
    if (z[i] == 0) continue;
    const double *row = r->U + (size_t)i * (size_t)r->stride;
    for (int k = r->first[i]; k < r->end[i]; k++) y[k] += row[k] * z[i];
  }
}
