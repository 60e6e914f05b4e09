/* The velocity space of a dense matrix: G = L U^T, y = U^T z, A = 1. As small as the rank of G however many contacts there
 * are. U^T D L is kept from factorisation to factorisation: only what has changed in D is added. */
#include "cp/range_system.h"

#include "core/wide.h"
#include "cp/storage.h"
#include "la/dense.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

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
  enum { EACH = 20 }; /* operations of an entry besides its sum */
  const size_t stride = (size_t)r->stride;
  const int c = r->rank++;
  const double root = sqrt(d[i]), inverse = 1 / root;
  const double *Li = r->L + (size_t)i * stride, *Ui = r->U + (size_t)i * stride;
  bool symmetric = true;
  r->operations += r->n;
  load_pivot(s, i);
  for (int j = 0; j < r->n && symmetric; j++) {
    if (isnan(d[j]) || j == i) continue;
    const double in = s->row[j], out = s->column[j];
    symmetric = r->L != r->U || fabs(in - out) <= asymmetry;
    const int end = r->end[i] < r->end[j] ? r->end[i] : r->end[j];
    const int first = r->first[i] > r->first[j] ? r->first[i] : r->first[j];
    if (in == 0 && out == 0 && first >= end) continue;
    r->operations += EACH + (first < end ? end - first : 0) * (r->L == r->U ? 1 : 2);
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

enum { MOST_RANK = 3000, REFRESH = 40 };

/* The columns that the contacts connect. */
static void bound_envelope(range_system *s) {
  const int rank = s->range.rank;
  const pattern *p = &s->pattern;
  for (int k = 0; k < rank; k++) s->first[k] = s->last[k] = k;
  for (int g = 0; g < p->n; g++) {
    int first = rank, end = 0;
    for (int i = p->row[g]; i < p->row[g] + p->size[g]; i++) {
      if (s->range.first[i] < first) first = s->range.first[i];
      if (s->range.end[i] > end) end = s->range.end[i];
    }
    for (int k = first; k < end; k++) {
      if (first < s->first[k]) s->first[k] = first;
      if (end - 1 > s->last[k]) s->last[k] = end - 1;
    }
  }
}

static void count_operations(const range_system *s, velocity_space *out) {
  out->operations = out->assembly = out->solution = 0;
  for (int k = 0; k < s->range.rank; k++) {
    const double width = s->last[k] - s->first[k] + 1;
    out->operations += width * width / 4; /* half of it below the diagonal, half to the right of it */
    out->solution += width;
  }
  for (int i = 0; i < s->n; i++) {
    const double width = s->range.end[i] - s->range.first[i];
    out->assembly += width > 0 ? width * width : 0;
  }
}

static void range_slack(const void *user, const double *y, double *w) {
  const range_system *s = user;
  range_apply(&s->range, s->none, y, w);
}

static void range_load(const void *user, const double *z, double *F) {
  const range_system *s = user;
  range_collect(&s->range, z, F);
}

static void range_balance(const void *user, const double *y, const double *z, double *F) {
  const range_system *s = user;
  range_collect(&s->range, z, F);
  for (int k = 0; k < s->range.rank; k++) F[k] = y[k] - F[k];
}

/* T_i = sum of (D_ij - old D_ij) L_j for a row i of a node, in the columns first .. end - 1, which are those of the whole node;
 * false where nothing has changed. */
static bool changed_row(range_system *s, const double (*D)[SS_FRICTION_ROWS], int i, int first_row, int size, int first,
                        int end, double *T) {
  const range *r = &s->range;
  bool any = false;
  for (int j = 0; j < size; j++) {
    const double change = D[i][j] - s->D[i][j];
    if (change == 0) continue;
    s->D[i][j] = D[i][j];
    if (!any)
      for (int k = first; k < end; k++) T[k] = 0;
    any = true;
    const double *line = r->L + (size_t)(first_row + j) * (size_t)r->stride;
    for (int k = r->first[first_row + j]; k < r->end[first_row + j]; k++) T[k] += change * line[k];
  }
  return any;
}

static double entry(const range *r, int i, int column) {
  return column >= r->first[i] && column < r->end[i] ? r->U[(size_t)i * (size_t)r->stride + (size_t)column] : 0;
}

/* K += sum of U_i T_i^T over the rows of a node, up to three of them in one pass; returns whether anything has changed. */
WIDE static bool update_node(range_system *s, const double (*D)[SS_FRICTION_ROWS], int first_row, int size) {
  const range *r = &s->range;
  const size_t rank = (size_t)r->rank;
  int first = r->rank, end = 0, count = 0, rows[SS_FRICTION_ROWS];
  for (int i = first_row; i < first_row + size; i++) {
    if (r->first[i] < first) first = r->first[i];
    if (r->end[i] > end) end = r->end[i];
  }
  for (int i = first_row; i < first_row + size; i++)
    if (changed_row(s, D, i, first_row, size, first, end, s->T + (size_t)count * rank)) rows[count++] = i;
  for (int m = 0; m < count; m += 3) {
    const double *T = s->T + (size_t)m * rank, *restrict a = T, *restrict b = a + rank, *restrict c = b + rank;
    const int left = count - m;
    for (int l = first; l < end; l++) {
      double *restrict row = s->K + (size_t)l * rank;
      const double f = entry(r, rows[m], l), g = left > 1 ? entry(r, rows[m + 1], l) : 0;
      const double h = left > 2 ? entry(r, rows[m + 2], l) : 0;
      if (left > 2)
        for (int k = first; k < end; k++) row[k] += f * a[k] + g * b[k] + h * c[k];
      else if (left > 1)
        for (int k = first; k < end; k++) row[k] += f * a[k] + g * b[k];
      else
        for (int k = first; f != 0 && k < end; k++) row[k] += f * a[k];
    }
  }
  return count > 0;
}

void range_system_forget(range_system *s) {
  const size_t rank = (size_t)s->range.rank;
  memset(s->K, 0, sizeof(double) * rank * rank);
  memset(s->D, 0, sizeof *s->D * (size_t)s->n);
  s->updates = 0;
  s->largest = 0;
  s->stiffness = 0;
}

bool range_system_factor(range_system *s, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  const int rank = s->range.rank;
  bool changed = s->stiffness != stiffness;
  for (int g = 0; g < s->pattern.n; g++) changed |= update_node(s, D, s->pattern.row[g], s->pattern.size[g]);
  if (!changed) return true;
  for (int k = 0; k < rank; k++) {
    double *row = s->H + (size_t)k * (size_t)rank;
    const double *from = s->K + (size_t)k * (size_t)rank;
    for (int l = s->first[k]; l <= s->last[k]; l++) row[l] = stiffness * from[l];
    row[k] += 1;
  }
  s->stiffness = stiffness;
  return envelope_factor(s->H, rank, s->first, s->last);
}

void range_system_solve(const range_system *s, double *x) { envelope_solve(s->H, s->range.rank, s->first, s->last, x); }

static double largest_entry(const range_system *s, const double (*D)[SS_FRICTION_ROWS]) {
  double largest = 0;
  for (int g = 0; g < s->pattern.n; g++) {
    const int row = s->pattern.row[g], size = s->pattern.size[g];
    for (int i = row; i < row + size; i++)
      for (int j = 0; j < size; j++) largest = fmax(largest, fabs(D[i][j]));
  }
  return largest;
}

/* Rounding errors of entries that were much larger than the present ones are not kept. */
static bool range_factor(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  static const double much = 1e4;
  range_system *s = user;
  const double largest = largest_entry(s, D);
  if (++s->updates > REFRESH || s->largest > much * largest) range_system_forget(s);
  s->largest = fmax(s->largest, largest);
  return range_system_factor(s, D, stiffness);
}

static void range_solve(void *user, double *x) { range_system_solve(user, x); }

static int range_sign(const void *user) {
  const range_system *s = user;
  const size_t rank = (size_t)s->range.rank;
  int sign = 1;
  for (size_t k = 0; k < rank; k++)
    if (s->H[k * (rank + 1)] < 0) sign = -sign;
  return sign;
}

ss_status range_system_build(range_system *s, const ss_cp *scaled, int most, ss_cp_workspace *w, bool *admitted,
                             ss_error *error) {
  const size_t n = (size_t)scaled->n;
  *admitted = false;
  *s = (range_system){.n = scaled->n};
  ss_status status = pattern_create(scaled, w, &s->pattern, error);
  const int most_rank = most < MOST_RANK ? most : MOST_RANK;
  if (!status) status = range_create(scaled, &s->pattern, most_rank, w, &s->range, admitted, error);
  if (status || !*admitted) return status;
  const size_t rank = (size_t)s->range.rank;
  s->none = SCRATCH(w, double, n);
  s->K = SCRATCH(w, double, 2 * rank * rank + 1);
  s->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS);
  s->T = SCRATCH(w, double, SS_FRICTION_ROWS *rank + 1);
  s->first = SCRATCH(w, int, 2 * rank + 1);
  if (!s->none || !s->K || !s->D || !s->T || !s->first) return out_of_memory(error);
  s->H = s->K + rank * rank;
  s->last = s->first + rank;
  memset(s->none, 0, sizeof(double) * n);
  range_system_forget(s);
  bound_envelope(s);
  return SS_OK;
}

ss_status range_system_create(const ss_cp *scaled, const node_list *nodes, double most, ss_cp_workspace *w,
                              velocity_space *out, bool *admitted, ss_error *error) {
  (void)nodes;
  range_system *s = SCRATCH(w, range_system, 1);
  *admitted = false;
  if (!s) return out_of_memory(error);
  /* what finds the range takes n rank^2 */
  const double rank = fmin(cbrt(most), sqrt(most / (scaled->n + 1)));
  const ss_status status = range_system_build(s, scaled, (int)fmin(scaled->n, rank), w, admitted, error);
  out->creation = s->range.operations;
  if (status || !*admitted) return status;
  *out = (velocity_space){.m = s->range.rank,
                          .creation = out->creation,
                          .user = s,
                          .slack = range_slack,
                          .collect = range_balance,
                          .load = range_load,
                          .factor = range_factor,
                          .solve = range_solve,
                          .sign = range_sign};
  count_operations(s, out);
  return SS_OK;
}
