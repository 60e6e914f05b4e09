/* The velocity space of a dense matrix: G = L U^T, y = U^T z, A = 1. As small as the rank of G however many contacts there
 * are. U^T D L is kept from factorisation to factorisation: only what has changed in D is added. */
#include "cp/velocity_space.h"

#include "core/wide.h"
#include "cp/block_lu.h"
#include "la/dense.h"
#include "cp/large.h"
#include "cp/storage.h"
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

/* The velocity space of bodies: A is their masses, H = A + stiffness J^T D J a mass matrix with a spring in every closed contact. It is regular
 * however many contacts there are, as sparse as the bodies touch each other, and factored by blocks of bodies (block_lu.c). */

enum { SQUARE = SS_FRICTION_ROWS * SS_FRICTION_ROWS };

/* Of its operations to one of a sweep: 0.1 to 0.25 ns each in crowds of 1,400 and 450 rows, in sweeps 0.6 to 0.7. */
enum { FAST = 4 };

/* A part of a body's block of A: where it goes, where it is. */
typedef struct mass_block {
  double *entry;
  const double *A;
  int stride, rows, cols;
  int row, col; /* first velocities */
} mass_block;

typedef struct body_system {
  node_list nodes;
  const double *row_scale;
  int n, pieces;      /* velocities; pieces of at most BLOCK_ROWS of them, none of which belongs to two bodies */
  int *first;         /* [pieces + 1] first velocity of each */
  int *start, *piece; /* [nodes + 1]; pieces that a node touches */
  size_t *at;         /* where the node's block of J is: rows of the node x velocities of the piece */
  double *J;          /* the blocks */
  int *piece_start;   /* [pieces + 1] the nodes that touch each piece, */
  struct touching {
    int node, slot; /* slot: where the piece stands among the node's */
  } * touching;
  size_t *pair;   /* [nodes + 1] where the node's entries begin in `entry` */
  double **entry; /* blocks of H between the pieces of a node */
  double *scale;  /* [n] unit of each velocity, about 1 / sqrt(A_ii) */
  double *A;      /* the blocks of A in these units */
  mass_block *mass;
  int n_mass;
  block_lu lu;
  double *right;                 /* [n] */
  double (*D)[SS_FRICTION_ROWS]; /* [rows] and stiffness of the factors; 0: there are none */
  double stiffness;
  ss_threads *threads;
} body_system;

/* Velocities in pieces of at most BLOCK_ROWS; returns how many, and for every velocity its piece. */
static int cut_bodies(const ss_cp_operator *o, int *first, int *piece_of) {
  int count = 0;
  for (int b = 0; b < o->n_bodies; b++)
    for (int v = o->first[b]; v < o->first[b + 1]; v++) {
      if ((v - o->first[b]) % BLOCK_ROWS == 0) first[count++] = v;
      piece_of[v] = count - 1;
    }
  first[count] = o->n_bodies ? o->first[o->n_bodies] : 0;
  return count;
}

/* Pieces that each node touches, and its rows of J by pieces. */
static ss_status list_node_rows(body_system *b, const ss_cp_operator *o, const int *piece_of, ss_cp_workspace *w,
                                ss_error *error) {
  const size_t entries = (size_t)o->J.start[o->J.rows];
  int *mark = SCRATCH(w, int, b->pieces + 1);
  b->start = SCRATCH(w, int, b->nodes.count + 1);
  b->piece = SCRATCH(w, int, entries + 1);
  b->at = SCRATCH(w, size_t, entries + 1);
  if (!mark || !b->start || !b->piece || !b->at) return out_of_memory(error);
  for (int p = 0; p < b->pieces; p++) mark[p] = -1;
  int count = 0;
  size_t numbers = 0;
  for (int p = 0; p < b->nodes.count; p++) {
    const int size = b->nodes.first[p + 1] - b->nodes.first[p];
    b->start[p] = count;
    for (int e = o->J.start[b->nodes.first[p]]; e < o->J.start[b->nodes.first[p + 1]]; e++) {
      const int piece = piece_of[o->J.col[e]];
      if (mark[piece] >= b->start[p]) continue;
      mark[piece] = count;
      b->at[count] = numbers;
      b->piece[count++] = piece;
      numbers += (size_t)size * (size_t)(b->first[piece + 1] - b->first[piece]);
    }
  }
  b->start[b->nodes.count] = count;
  b->J = SCRATCH(w, double, numbers + 1);
  if (!b->J) return out_of_memory(error);
  memset(b->J, 0, sizeof(double) * numbers);
  for (int p = 0; p < b->pieces; p++) mark[p] = -1;
  for (int p = 0; p < b->nodes.count; p++) {
    for (int t = b->start[p]; t < b->start[p + 1]; t++) mark[b->piece[t]] = t;
    for (int i = b->nodes.first[p]; i < b->nodes.first[p + 1]; i++)
      for (int e = o->J.start[i]; e < o->J.start[i + 1]; e++) {
        const int piece = piece_of[o->J.col[e]], cols = b->first[piece + 1] - b->first[piece];
        b->J[b->at[mark[piece]] + (size_t)((i - b->nodes.first[p]) * cols + o->J.col[e] - b->first[piece])] +=
            b->row_scale[i] * o->J.value[e] * b->scale[o->J.col[e]];
      }
  }
  return SS_OK;
}

/* The nodes by pieces, ascending. */
static ss_status list_touching(body_system *b, ss_cp_workspace *w, ss_error *error) {
  b->piece_start = SCRATCH(w, int, b->pieces + 2);
  b->touching = SCRATCH(w, struct touching, b->start[b->nodes.count] + 1);
  if (!b->piece_start || !b->touching) return out_of_memory(error);
  int *next = b->piece_start + 1; /* moves on to the ends, which are the starts of the next */
  memset(b->piece_start, 0, sizeof(int) * ((size_t)b->pieces + 2));
  for (int t = 0; t < b->start[b->nodes.count]; t++)
    if (b->piece[t] + 1 < b->pieces) next[b->piece[t] + 1]++;
  for (int p = 1; p < b->pieces; p++) next[p] += next[p - 1];
  for (int p = 0; p < b->nodes.count; p++)
    for (int t = b->start[p]; t < b->start[p + 1]; t++) b->touching[next[b->piece[t]]++] = (struct touching){p, t};
  return SS_OK;
}

/* Which pieces meet in H: those of a node, those of a body. */
static ss_status list_meetings(const body_system *b, const ss_cp_operator *o, const int *piece_of, int **start,
                               int **col, ss_cp_workspace *w, ss_error *error) {
  const int pieces = b->pieces;
  size_t most = (size_t)pieces * 2;
  for (int p = 0; p < b->nodes.count; p++) {
    const size_t t = (size_t)(b->start[p + 1] - b->start[p]);
    most += t * t;
  }
  int *mark = SCRATCH(w, int, pieces + 1);
  *start = SCRATCH(w, int, pieces + 1);
  *col = SCRATCH(w, int, most + 1);
  if (!mark || !*start || !*col) return out_of_memory(error);
  for (int p = 0; p < pieces; p++) mark[p] = -1;
  int count = 0, body = 0;
  for (int p = 0; p < pieces; p++) {
    while (o->first[body + 1] <= b->first[p]) body++;
    (*start)[p] = count;
    mark[p] = p;
    (*col)[count++] = p;
    for (int q = piece_of[o->first[body]]; q < pieces && b->first[q] < o->first[body + 1]; q++)
      if (mark[q] != p) mark[q] = p, (*col)[count++] = q;
    for (int e = b->piece_start[p]; e < b->piece_start[p + 1]; e++)
      for (int t = b->start[b->touching[e].node]; t < b->start[b->touching[e].node + 1]; t++)
        if (mark[b->piece[t]] != p) mark[b->piece[t]] = p, (*col)[count++] = b->piece[t];
  }
  (*start)[pieces] = count;
  return SS_OK;
}

/* Where the blocks of each node and of A stand in the factors. */
static ss_status find_entries(body_system *b, const ss_cp_operator *o, const int *piece_of, ss_cp_workspace *w,
                              ss_error *error) {
  size_t pairs = 0, count = 0;
  for (int p = 0; p < b->nodes.count; p++) {
    const size_t t = (size_t)(b->start[p + 1] - b->start[p]);
    pairs += t * t;
  }
  b->pair = SCRATCH(w, size_t, b->nodes.count + 1);
  b->entry = SCRATCH(w, double *, pairs + 1);
  b->mass = SCRATCH(w, mass_block, 4 * (size_t)b->pieces + 1); /* bodies have at most two pieces */
  b->right = SCRATCH(w, double, b->n + 1);
  b->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, (size_t)o->J.rows *SS_FRICTION_ROWS + 1);
  if (!b->pair || !b->entry || !b->mass || !b->right || !b->D) return out_of_memory(error);
  for (int p = 0; p < b->nodes.count; p++) {
    b->pair[p] = count;
    for (int s = b->start[p]; s < b->start[p + 1]; s++)
      for (int t = b->start[p]; t < b->start[p + 1]; t++)
        b->entry[count++] = block_lu_entry(&b->lu, b->piece[s], b->piece[t]);
  }
  b->pair[b->nodes.count] = count;
  const double *A = b->A;
  for (int body = 0; body < o->n_bodies; body++) {
    const int size = o->first[body + 1] - o->first[body];
    const int from = size ? piece_of[o->first[body]] : 0, to = size ? piece_of[o->first[body + 1] - 1] + 1 : 0;
    for (int s = from; s < to; s++)
      for (int t = from; t < to; t++)
        b->mass[b->n_mass++] =
            (mass_block){.entry = block_lu_entry(&b->lu, s, t),
                         .A = A + (ptrdiff_t)(b->first[s] - o->first[body]) * size + (b->first[t] - o->first[body]),
                         .stride = size,
                         .rows = b->first[s + 1] - b->first[s],
                         .cols = b->first[t + 1] - b->first[t],
                         .row = b->first[s],
                         .col = b->first[t]};
    A += (ptrdiff_t)size * size;
  }
  return SS_OK;
}

/* Units of the velocities in which the diagonal of A is of size one, and A in them; false: out of memory. */
static bool scale_bodies(body_system *b, const ss_cp_operator *o, ss_cp_workspace *w) {
  size_t numbers = 0;
  for (int body = 0; body < o->n_bodies; body++) {
    const size_t size = (size_t)(o->first[body + 1] - o->first[body]);
    numbers += size * size;
  }
  b->scale = SCRATCH(w, double, b->n + 1);
  b->A = SCRATCH(w, double, numbers + 1);
  if (!b->scale || !b->A) return false;
  const double *A = o->A;
  double *to = b->A;
  for (int body = 0; body < o->n_bodies; body++) {
    const int size = o->first[body + 1] - o->first[body];
    double *s = b->scale + o->first[body];
    for (int i = 0; i < size; i++) s[i] = inverse_root_power(A[i * size + i]);
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) *to++ = s[i] * *A++ * s[j];
  }
  return true;
}

/* Loops over nodes, or over pieces with the nodes that touch them: threads share them, and every number is added up in the order of the
 * nodes by one of them. */
enum { NODES_AT_A_TIME = 256, PIECES_AT_A_TIME = 64 };

typedef struct body_job {
  const body_system *b;
  const double *in;
  double *out, factor;
} body_job;

/* w += J u for a block of J. */
static inline void multiply(const double *J, int size, int cols, const double *u, double *w) {
  for (int i = 0; i < size; i++) {
    double sum = w[i];
    for (int c = 0; c < cols; c++) sum += J[i * cols + c] * u[c];
    w[i] = sum;
  }
}

static void slack_of_nodes(void *user, int worker, int from, int to) {
  (void)worker;
  const body_job *job = user;
  const body_system *b = job->b;
  for (int p = from; p < to; p++) {
    const int row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
    double *w = job->out + row;
    for (int i = 0; i < size; i++) w[i] = 0;
    for (int t = b->start[p]; t < b->start[p + 1]; t++) {
      const int piece = b->piece[t], cols = b->first[piece + 1] - b->first[piece];
      if (size == 3 && cols == 6)
        multiply(b->J + b->at[t], 3, 6, job->in + b->first[piece], w);
      else
        multiply(b->J + b->at[t], size, cols, job->in + b->first[piece], w);
    }
  }
}

static void body_slack(const void *user, const double *y, double *w) {
  const body_system *b = user;
  body_job job = {b, y, w, 1};
  ss_threads_for(b->threads, b->nodes.count, NODES_AT_A_TIME, slack_of_nodes, &job);
}

/* F += f J^T z for a block of J. */
static inline void multiply_across(const double *J, int size, int cols, double factor, const double *z, double *F) {
  for (int i = 0; i < size; i++) {
    const double f = factor * z[i];
    for (int c = 0; f != 0 && c < cols; c++) F[c] += J[i * cols + c] * f;
  }
}

static void load_of_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  const body_job *job = user;
  const body_system *b = job->b;
  for (int piece = from; piece < to; piece++) {
    const int cols = b->first[piece + 1] - b->first[piece];
    double *F = job->out + b->first[piece];
    for (int e = b->piece_start[piece]; e < b->piece_start[piece + 1]; e++) {
      const int p = b->touching[e].node, row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
      const double *J = b->J + b->at[b->touching[e].slot];
      if (size == 3 && cols == 6)
        multiply_across(J, 3, 6, job->factor, job->in + row, F);
      else
        multiply_across(J, size, cols, job->factor, job->in + row, F);
    }
  }
}

/* F += factor J^T z */
static void add_load(const body_system *b, double factor, const double *z, double *F) {
  body_job job = {b, z, F, factor};
  ss_threads_for(b->threads, b->pieces, PIECES_AT_A_TIME, load_of_pieces, &job);
}

static void body_load(const void *user, const double *z, double *F) {
  const body_system *b = user;
  memset(F, 0, sizeof(double) * (size_t)b->n);
  add_load(b, 1, z, F);
}

static void body_balance(const void *user, const double *y, const double *z, double *F) {
  const body_system *b = user;
  memset(F, 0, sizeof(double) * (size_t)b->n);
  for (int m = 0; m < b->n_mass; m++) {
    const mass_block *block = &b->mass[m];
    for (int i = 0; i < block->rows; i++)
      for (int j = 0; j < block->cols; j++) F[block->row + i] += block->A[i * block->stride + j] * y[block->col + j];
  }
  add_load(b, -1, z, F);
}

/* H_st += stiffness J_s^T D J_t for a node and two of its pieces. */
static inline void add_spring(const double *I, const double (*D)[SS_FRICTION_ROWS], const double *J, double stiffness,
                              int size, int rows, int cols, double *H) {
  double DJ[SQUARE];
  for (int i = 0; i < size; i++)
    for (int c = 0; c < cols; c++) {
      double sum = 0;
      for (int j = 0; j < size; j++) sum += D[i][j] * J[j * cols + c];
      DJ[i * cols + c] = stiffness * sum;
    }
  for (int l = 0; l < rows; l++)
    for (int i = 0; i < size; i++)
      for (int c = 0; c < cols; c++) H[l * cols + c] += I[i * rows + l] * DJ[i * cols + c];
}

/* The springs of the nodes that touch a piece, in its rows of H. */
WIDE static void springs_of_piece(const body_system *b, int piece) {
  const int rows = b->first[piece + 1] - b->first[piece];
  for (int e = b->piece_start[piece]; e < b->piece_start[piece + 1]; e++) {
    const int p = b->touching[e].node, row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
    const int pieces = b->start[p + 1] - b->start[p], own = b->touching[e].slot - b->start[p];
    const double(*D)[SS_FRICTION_ROWS] = (const double(*)[SS_FRICTION_ROWS])(b->D + row);
    bool any = false;
    for (int i = 0; i < size; i++)
      for (int j = 0; j < size; j++) any |= D[i][j] != 0;
    for (int t = 0; any && t < pieces; t++) {
      const int other = b->piece[b->start[p] + t], cols = b->first[other + 1] - b->first[other];
      const double *I = b->J + b->at[b->touching[e].slot], *J = b->J + b->at[b->start[p] + t];
      double *H = b->entry[b->pair[p] + (size_t)(own * pieces + t)];
      if (size == 3 && rows == 6 && cols == 6)
        add_spring(I, D, J, b->stiffness, 3, 6, 6, H);
      else
        add_spring(I, D, J, b->stiffness, size, rows, cols, H);
    }
  }
}

static void springs_of_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  for (int piece = from; piece < to; piece++) springs_of_piece(user, piece);
}

static bool body_factor(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  body_system *b = user;
  const size_t bytes = sizeof *b->D * (size_t)b->nodes.first[b->nodes.count];
  bool same = b->stiffness == stiffness;
  for (int p = 0; p < b->nodes.count && same; p++) { /* entries beyond a node's size are not set */
    const int row = b->nodes.first[p], size = b->nodes.first[p + 1] - row;
    for (int i = 0; i < size && same; i++) same = memcmp(b->D[row + i], D[row + i], sizeof(double) * (size_t)size) == 0;
  }
  if (same) return true;
  memcpy(b->D, D, bytes);
  b->stiffness = stiffness;
  block_lu_clear(&b->lu);
  for (int m = 0; m < b->n_mass; m++) {
    const mass_block *block = &b->mass[m];
    for (int i = 0; i < block->rows; i++)
      for (int j = 0; j < block->cols; j++) block->entry[i * block->cols + j] = block->A[i * block->stride + j];
  }
  ss_threads_for(b->threads, b->pieces, PIECES_AT_A_TIME, springs_of_pieces, b);
  return block_lu_factor(&b->lu);
}

static void body_solve(void *user, double *x) {
  body_system *b = user;
  memcpy(b->right, x, sizeof(double) * (size_t)b->n);
  block_lu_solve(&b->lu, b->right, x);
}

static int body_sign(const void *user) { return block_lu_sign(&((const body_system *)user)->lu); }

ss_status body_system_create(const ss_cp_operator *o, const node_list *nodes, const double *scale, double most,
                             ss_cp_workspace *w, velocity_space *out, bool *admitted, ss_error *error) {
  body_system *b = SCRATCH(w, body_system, 1);
  *admitted = false;
  if (!b) return out_of_memory(error);
  *b = (body_system){.nodes = *nodes, .row_scale = scale, .n = o->J.cols, .threads = w->threads};
  int *piece_of = SCRATCH(w, int, b->n + 1), *start, *col;
  b->first = SCRATCH(w, int, b->n + 1);
  if (!piece_of || !b->first) return out_of_memory(error);
  b->pieces = cut_bodies(o, b->first, piece_of);
  int *size = SCRATCH(w, int, b->pieces + 1);
  if (!size || !scale_bodies(b, o, w)) return out_of_memory(error);
  for (int p = 0; p < b->pieces; p++) size[p] = b->first[p + 1] - b->first[p];
  ss_status status = list_node_rows(b, o, piece_of, w, error);
  if (!status) status = list_touching(b, w, error);
  if (!status) status = list_meetings(b, o, piece_of, &start, &col, w, error);
  if (!status) status = block_lu_analyse(&b->lu, b->pieces, size, start, col, FAST * most, w, admitted, error);
  if (!status && *admitted) status = find_entries(b, o, piece_of, w, error);
  *out = (velocity_space){.m = b->n,
                          .operations = b->lu.operations / FAST,
                          .assembly = 4.0 * SS_FRICTION_ROWS * o->J.start[o->J.rows],
                          .solution = 4.0 * (double)b->lu.numbers,
                          .user = b,
                          .slack = body_slack,
                          .collect = body_balance,
                          .load = body_load,
                          .factor = body_factor,
                          .solve = body_solve,
                          .sign = body_sign};
  return status;
}

/* The impulses of a sparse matrix in place of velocities: y = z, w = G y, and the system 1 + stiffness D G by blocks of contacts. */

typedef struct sparse_system {
  node_matrix G;
  block_lu lu;
  double *none, *right; /* [n] zeros; scratch */
} sparse_system;

static void sparse_slack(const void *user, const double *y, double *w) {
  const sparse_system *s = user;
  nodes_apply(&s->G, s->none, y, w);
}

static void sparse_load(const void *user, const double *z, double *F) {
  const sparse_system *s = user;
  memcpy(F, z, sizeof *F * (size_t)s->G.n);
}

static void sparse_balance(const void *user, const double *y, const double *z, double *F) {
  const sparse_system *s = user;
  for (int i = 0; i < s->G.n; i++) F[i] = y[i] - z[i];
}

static bool sparse_factor(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  sparse_system *s = user;
  const node_matrix *G = &s->G;
  block_lu_clear(&s->lu);
  for (int p = 0; p < G->nodes; p++)
    for (int e = G->start[p]; e < G->start[p + 1]; e++) {
      const int first = G->first[p], rows = G->first[p + 1] - first, q = G->col[e],
                cols = G->first[q + 1] - G->first[q];
      const double *block = G->value + G->at[e];
      double *to = block_lu_entry(&s->lu, p, q);
      for (int i = 0; i < rows; i++)
        for (int c = 0; c < cols; c++) {
          double sum = 0;
          for (int j = 0; j < rows; j++) sum += D[first + i][j] * block[j * cols + c];
          to[i * cols + c] = stiffness * sum + (p == q && i == c);
        }
    }
  return block_lu_factor(&s->lu);
}

static void sparse_solve(void *user, double *x) {
  sparse_system *s = user;
  memcpy(s->right, x, sizeof *x * (size_t)s->G.n);
  block_lu_solve(&s->lu, s->right, x);
}

static int sparse_sign(const void *user) { return block_lu_sign(&((const sparse_system *)user)->lu); }

ss_status sparse_system_create(const ss_cp *problem, const ss_sparse *matrix, const double *scale, double most,
                               ss_cp_workspace *w, velocity_space *out, bool *admitted, ss_error *error) {
  sparse_system *s = SCRATCH(w, sparse_system, 1);
  *admitted = false;
  if (!s) return out_of_memory(error);
  *s = (sparse_system){.none = SCRATCH(w, double, 2 * (size_t)problem->n)};
  if (!s->none) return out_of_memory(error);
  s->right = s->none + problem->n;
  memset(s->none, 0, sizeof(double) * (size_t)problem->n);
  ss_status status = nodes_create(problem, matrix, scale, w, &s->G, error);
  int *size = status ? NULL : SCRATCH(w, int, s->G.nodes + 1);
  if (status) return status;
  if (!size) return out_of_memory(error);
  for (int p = 0; p < s->G.nodes; p++) size[p] = s->G.first[p + 1] - s->G.first[p];
  status = block_lu_analyse(&s->lu, s->G.nodes, size, s->G.start, s->G.col, FAST * most, w, admitted, error);
  *out = (velocity_space){.m = problem->n,
                          .operations = s->lu.operations / FAST,
                          .assembly = (double)SS_FRICTION_ROWS * matrix->start[problem->n],
                          .solution = 4.0 * (double)s->lu.numbers,
                          .user = s,
                          .slack = sparse_slack,
                          .collect = sparse_balance,
                          .load = sparse_load,
                          .factor = sparse_factor,
                          .solve = sparse_solve,
                          .sign = sparse_sign};
  return status;
}
