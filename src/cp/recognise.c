/* Friction contacts in a plain LCP, found from the numbers alone.
 *
 * Written out (Stewart & Trinkle 1996, Anitescu & Potra 1997; cp/expand.c) a contact with k directions is
 *
 *     0 <= c_n      perp  w_n                          >= 0
 *     0 <= beta_j   perp  d_j . w_t + lambda           >= 0    j = 1 .. k
 *     0 <= lambda   perp  mu c_n + room - sum beta_j   >= 0
 *
 * and a box 0 <= z <= room the same with one direction and without c_n. The row of lambda gives it away: nothing on its
 * diagonal, at most one positive entry, and negative entries exactly where its column has positive ones, with nothing else in
 * that column. Rows and columns may be scaled by positive numbers, and stand in any order.
 *
 * The directions must be those of a regular polygon in some coordinates of the plane. What does not fit stays
 * as it is. */
#include "cp/recognise.h"

#include <math.h>

/* A search for contacts. */
typedef struct search {
  const ss_cp *problem; /* dense or sparse */
  recognition *out;
  ss_cp_workspace *workspace;
  double largest;    /* |g| */
  double *size;      /* [n] largest entry of each column, rows of lambdas apart */
  double *row_size;  /* [n] of each row, that of lambda apart; set for directions */
  int *nonzeros;     /* [n] of each column; set for lambdas */
  int *lambda;       /* [n_lambdas] rows that a lambda may have */
  bool *nonnegative; /* [n] rows of that kind */
  bool *is_lambda;   /* [n] listed there */
  int n_lambdas;
  double *line[3]; /* [n] sparse problems: zero between two uses */
} search;

/* The directions of a contact that is written out as rows of an LCP.
 *
 * Direction j of k has d_j = cos(2 pi j / k) t1 + sin(2 pi j / k) t2 with any two vectors t1, t2: so have its row and its
 * column (that of lambda apart) and its entry of g. t1 is the first direction, t2 follows from the one next to a right angle,
 * number q: d_j = (cos a_j - sin a_j cos a_q / sin a_q) d_0 + (sin a_j / sin a_q) d_q. For k = 2 and 4 this says that
 * directions come in opposite pairs. Numbers are compared to `rounding`. */

static const double rounding = 1e-10; /* of the largest entry of a row or column; g: of all */

/* ---- lines of the matrix ---- */

/* Row i by its columns, the others zero. */
static const double *load(search *s, int i, int slot) {
  if (s->problem->G) return s->problem->G + (size_t)i * (size_t)s->problem->n;
  const ss_sparse *G = s->problem->sparse;
  for (int k = G->start[i]; k < G->start[i + 1]; k++) s->line[slot][G->col[k]] = G->value[k];
  return s->line[slot];
}

static void unload(search *s, int i, int slot) {
  const ss_sparse *G = s->problem->sparse;
  for (int k = G ? G->start[i] : 0; G && k < G->start[i + 1]; k++) s->line[slot][G->col[k]] = 0;
}

/* The columns that row i may have entries in: `count` of them, NULL stands for all. */
static const int *columns_of(const search *s, int i, int *count) {
  const ss_sparse *G = s->problem->sparse;
  *count = G ? G->start[i + 1] - G->start[i] : s->problem->n;
  return G ? G->col + G->start[i] : NULL;
}

static double largest_of(const double *x, int count) {
  double most[4] = {0}; /* several, because each comparison waits for the last */
  int k = 0;
  for (; k + 4 <= count; k += 4)
    for (int t = 0; t < 4; t++) most[t] = fabs(x[k + t]) > most[t] ? fabs(x[k + t]) : most[t];
  for (; k < count; k++) most[0] = fmax(most[0], fabs(x[k]));
  return fmax(fmax(most[0], most[1]), fmax(most[2], most[3]));
}

static double largest_entry(const search *s, int i, int but) {
  const ss_sparse *G = s->problem->sparse;
  const int n = s->problem->n;
  const double *row = G ? G->value + G->start[i] : s->problem->G + (size_t)i * (size_t)n;
  if (!G) return fmax(largest_of(row, but), largest_of(row + but + 1, n - but - 1));
  double largest = 0;
  for (int k = 0; k < G->start[i + 1] - G->start[i]; k++)
    if (G->col[G->start[i] + k] != but) largest = fmax(largest, fabs(row[k]));
  return largest;
}

/* |f0 x0 + f1 x1 + f2 x2| <= limit in the columns from .. to - 1 */
static bool vanishes(const double *const x[3], const double *f, int from, int to, double limit) {
  int larger = 0;
  for (int j = from; j < to; j++) larger += fabs(f[0] * x[0][j] + f[1] * x[1][j] + f[2] * x[2][j]) > limit;
  return larger == 0;
}

/* The same in the columns of the rows, `but` excepted. */
static bool vanishes_sparse(const search *s, const int *row, const double *const x[3], const double *f, int but,
                            double limit) {
  for (int t = 0; t < 3; t++) {
    int count;
    const int *col = columns_of(s, row[t], &count);
    for (int k = 0; k < count; k++)
      if (col[k] != but && !vanishes(x, f, col[k], col[k] + 1, limit)) return false;
  }
  return true;
}

/* Direction `a` is cosine times direction `b` plus sine times direction `c`, in its row and in g; places in the list. */
static bool combines(search *s, const gathering *f, int a, int b, int c, double cosine, double sine) {
  const recognition *r = s->out;
  const int row[3] = {r->direction[a], r->direction[b], r->direction[c]}, but = f->lambda;
  const double factor[3] = {r->row_scale[a], -cosine * r->row_scale[b], -sine * r->row_scale[c]};
  const double *g = s->problem->g, *x[3];
  double rest = 0, size = 0;
  for (int t = 0; t < 3; t++) {
    rest += factor[t] * g[row[t]];
    size = fmax(size, fabs(factor[t]) * s->row_size[row[t]]);
  }
  if (fabs(rest) > rounding * s->largest) return false;
  for (int t = 0; t < 3; t++) x[t] = load(s, row[t], t);
  const double limit = rounding * size;
  const bool good = s->problem->G
                        ? vanishes(x, factor, 0, but, limit) && vanishes(x, factor, but + 1, s->problem->n, limit)
                        : vanishes_sparse(s, row, x, factor, but, limit);
  for (int t = 0; t < 3; t++) unload(s, row[t], t);
  return good;
}

/* ---- their order ---- */

static void swap_directions(recognition *r, int a, int b) {
  const int direction = r->direction[a];
  const double row = r->row_scale[a], col = r->col_scale[a];
  r->direction[a] = r->direction[b];
  r->row_scale[a] = r->row_scale[b];
  r->col_scale[a] = r->col_scale[b];
  r->direction[b] = direction;
  r->row_scale[b] = row;
  r->col_scale[b] = col;
}

/* The opposite of the first one is moved to place 2; the other two must be opposite as well. */
static bool order_four(search *s, const gathering *f) {
  static const int tries[3] = {2, 1, 3}; /* around, or pair by pair */
  const int at = f->first;
  for (int t = 0; t < 3; t++)
    if (combines(s, f, at + tries[t], at, at, -1, 0)) {
      swap_directions(s->out, at + 2, at + tries[t]);
      return combines(s, f, at + 3, at + 1, at + 1, -1, 0);
    }
  return false;
}

/* d_j = cosine d_0 + sine d_q; d: the corners of the polygon. */
static void coefficients(int k, int j, const double *d, double *cosine, double *sine) {
  const double *q = d + (ptrdiff_t)2 * quarter(k);
  *sine = d[2 * j + 1] / q[1];
  *cosine = d[2 * j] - *sine * q[0];
}

static bool is_regular(search *s, const gathering *f, const double *d) {
  const int k = f->count, q = quarter(k);
  for (int j = 1; j < k; j++) {
    double cosine, sine;
    coefficients(k, j, d, &cosine, &sine);
    if (j != q && !combines(s, f, f->first + j, f->first, f->first + q, cosine, sine)) return false;
  }
  return true;
}

static double dot_rows(search *s, int a, int b, int but) {
  const recognition *r = s->out;
  const int i = r->direction[a];
  int count;
  const int *col = columns_of(s, i, &count);
  const double *x = load(s, i, 0), *y = load(s, r->direction[b], 1);
  double sum = 0;
  for (int k = 0; k < count; k++) {
    const int j = col ? col[k] : k;
    if (j != but) sum += x[j] * y[j];
  }
  unload(s, i, 0);
  unload(s, r->direction[b], 1);
  return r->row_scale[a] * r->row_scale[b] * sum;
}

/* Coordinates p_j of the rows with respect to the first and another one. A regular polygon seen in skew coordinates has
 * (2 / k) sum p p^T = A A^T, and A^-1 p_j are unit vectors at its angles, whatever the order they are listed in. */
static bool find_angles(search *s, const gathering *f, double *angle) {
  static const double flat = 1e-6;
  const int k = f->count, at = f->first;
  double x[MOST_DIRECTIONS], y[MOST_DIRECTIONS], xx = 0, xy = 0, yy = 0, b = 0, c = 0, best = 0;
  const double a = dot_rows(s, at, at, f->lambda);
  int other = 0;
  for (int j = 1; j < k; j++) {
    const double product = dot_rows(s, at, at + j, f->lambda), square = dot_rows(s, at + j, at + j, f->lambda);
    if (!(a * square - product * product > best)) continue;
    best = a * square - product * product;
    b = product;
    c = square;
    other = j;
  }
  if (!(best > flat * a * a)) return false;
  for (int j = 0; j < k; j++) {
    const double u = dot_rows(s, at, at + j, f->lambda), v = dot_rows(s, at + other, at + j, f->lambda);
    x[j] = (c * u - b * v) / best;
    y[j] = (a * v - b * u) / best;
    xx += 2 * x[j] * x[j] / k;
    xy += 2 * x[j] * y[j] / k;
    yy += 2 * y[j] * y[j] / k;
  }
  const double l = sqrt(xx), m = xy / l, p = sqrt(yy - m * m); /* A, triangular */
  for (int j = 0; j < k; j++) angle[j] = atan2((y[j] - m * x[j] / l) / p, x[j] / l);
  return p > 0;
}

/* Sorts the directions by their angles from the first one. */
static bool order_by_angles(search *s, const gathering *f) {
  const int k = f->count;
  const double turn = 8 * atan(1.0) / k;
  double angle[MOST_DIRECTIONS];
  int place[MOST_DIRECTIONS];
  bool taken[MOST_DIRECTIONS] = {false};
  if (!find_angles(s, f, angle)) return false;
  for (int j = 0; j < k; j++) {
    place[j] = ((int)lround((angle[j] - angle[0]) / turn) + 2 * k) % k;
    if (taken[place[j]]) return false;
    taken[place[j]] = true;
  }
  for (int j = 0; j < k; j++)
    while (place[j] != j) {
      const int to = place[j];
      swap_directions(s->out, f->first + j, f->first + to);
      place[j] = place[to];
      place[to] = to;
    }
  return true;
}

/* Compares the rows and g of one gathering, and puts its directions in order. */
static ss_status directions_fit(search *s, gathering *f, bool *fit, ss_error *error) {
  const int k = f->count, at = f->first;
  const bool bounded = f->normal < 0;
  f->kept_zero = bounded && f->room == 0;
  *fit = f->kept_zero || (k == 1 && bounded);
  if (*fit || k % 2 || (bounded && k > 2)) return SS_OK;
  for (int j = at; j < at + k; j++)
    s->row_size[s->out->direction[j]] = largest_entry(s, s->out->direction[j], f->lambda);
  if (k <= 4) {
    *fit = k == 2 ? combines(s, f, at + 1, at, at, -1, 0) : order_four(s, f);
    return SS_OK;
  }
  const double *d = scratch_directions(s->workspace, k);
  if (!d) return out_of_memory(error);
  *fit = is_regular(s, f, d) || (order_by_angles(s, f) && is_regular(s, f, d));
  return SS_OK;
}

/* ---- columns ---- */

/* The columns of direction j: scale x_j = cosine x_0 + sine x_q within the limit, in every row. */
typedef struct relation {
  int column;
  double scale, cosine, sine, limit;
} relation;

static ss_status relate(search *s, const gathering *f, relation *to, ss_error *error) {
  const recognition *r = s->out;
  const int k = f->count, q = k > 2 ? quarter(k) : 0;
  const double *d = k > 2 ? scratch_directions(s->workspace, k) : NULL;
  if (k > 2 && !d) return out_of_memory(error);
  for (int j = 0; j < k; j++) {
    const int column = r->direction[f->first + j];
    const double scale = r->col_scale[f->first + j], other = r->col_scale[f->first + q];
    double cosine = -1, sine = 0;
    if (d) coefficients(k, j, d, &cosine, &sine);
    const double size = scale * s->size[column] + fabs(sine) * other * s->size[r->direction[f->first + q]];
    to[j] = (relation){column, scale, cosine, sine * other, rounding * size};
  }
  return SS_OK;
}

static bool row_combines(const relation *x, int k, const double *row) {
  const int q = k > 2 ? quarter(k) : 0;
  const double a = row[x[0].column], b = row[x[q].column];
  int larger = 0;
  for (int j = 1; j < k; j++)
    larger += (fabs(x[j].scale * row[x[j].column] - x[j].cosine * a - x[j].sine * b) > x[j].limit) & (j != q);
  return larger == 0;
}

static void test(search *s, const relation *relations, int c, int i, const double *row) {
  const gathering *f = &s->out->found[c];
  if (f->count > 1 && !f->kept_zero && f->lambda != i && !row_combines(relations + f->first, f->count, row))
    recognition_drop(s->out, c);
}

/* Compares the columns of all of them, and drops those that do not fit. */
static ss_status columns_fit(search *s, ss_error *error) {
  const int n = s->problem->n;
  const ss_sparse *G = s->problem->sparse;
  relation *relations = SCRATCH(s->workspace, relation, n);
  if (!relations) return out_of_memory(error);
  for (int c = 0; c < s->out->count; c++) {
    const gathering *f = &s->out->found[c];
    const ss_status status = f->kept_zero ? SS_OK : relate(s, f, relations + f->first, error);
    if (status) return status;
  }
  for (int i = 0; i < n; i++) {
    const double *row = load(s, i, 0);
    for (int c = 0; !G && c < s->out->count; c++) test(s, relations, c, i, row);
    for (int k = G ? G->start[i] : 0, last = -1; G && k < G->start[i + 1]; k++) {
      const int c = s->out->owner[G->col[k]];
      if (c >= 0 && c != last) test(s, relations, c, i, row);
      last = c;
    }
    unload(s, i, 0);
  }
  return SS_OK;
}

static bool row_fits(const double *value, int count) {
  int positive = 0, negative = 0;
  for (int k = 0; k < count && positive < 2; k++) {
    positive += value[k] > 0;
    negative += value[k] < 0;
  }
  return positive < 2 && negative > 0;
}

static bool diagonal_vanishes(const ss_sparse *G, int i) {
  for (int k = G->start[i]; k < G->start[i + 1] && G->col[k] <= i; k++)
    if (G->col[k] == i && G->value[k] != 0) return false;
  return true;
}

static bool looks_like_lambda(const ss_cp *problem, int i) {
  const size_t n = (size_t)problem->n, at = (size_t)i * n;
  if (!(problem->g[i] >= 0)) return false;
  if (problem->G) return problem->G[at + (size_t)i] == 0 && row_fits(problem->G + at, problem->n);
  const ss_sparse *G = problem->sparse;
  return diagonal_vanishes(G, i) && row_fits(G->value + G->start[i], G->start[i + 1] - G->start[i]);
}

/* Any lambda at all? Operators are products of masses and directions and have none. */
static bool worth_a_search(const ss_cp *problem) {
  if (problem->factors) return false;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = block->first; block->kind == SS_BLOCK_NONNEGATIVE && i < block->first + block->size; i++)
      if (looks_like_lambda(problem, i)) return true;
  }
  return false;
}

/* ---- what is in the columns ---- */

static void look_at_dense_columns(search *s) {
  const int n = s->problem->n;
  for (int i = 0; i < n; i++) {
    const double *row = s->problem->G + (size_t)i * (size_t)n;
    for (int k = 0; k < s->n_lambdas; k++) s->nonzeros[s->lambda[k]] += row[s->lambda[k]] != 0;
    if (s->is_lambda[i]) continue;
    for (int j = 0; j < n; j++) {
      const double x = fabs(row[j]);
      s->size[j] = x > s->size[j] ? x : s->size[j];
    }
  }
}

static void look_at_sparse_columns(search *s) {
  const ss_sparse *G = s->problem->sparse;
  for (int i = 0; i < G->rows; i++)
    for (int k = G->start[i]; k < G->start[i + 1]; k++) {
      const int j = G->col[k];
      s->nonzeros[j] += G->value[k] != 0;
      if (!s->is_lambda[i]) s->size[j] = fmax(s->size[j], fabs(G->value[k]));
    }
}

/* ---- the lambdas ---- */

static double entry(const ss_cp *problem, int i, int j) {
  if (problem->G) return problem->G[(size_t)i * (size_t)problem->n + (size_t)j];
  const ss_sparse *G = problem->sparse;
  for (int k = G->start[i]; k < G->start[i + 1]; k++)
    if (G->col[k] == j) return G->value[k];
  return 0;
}

/* The row of a lambda: its normal, and its directions at the end of the list, with -entry as scale of their columns. */
static bool list_directions(search *s, gathering *f) {
  recognition *r = s->out;
  const ss_sparse *G = s->problem->sparse;
  const int n = s->problem->n, count = G ? G->start[f->lambda + 1] - G->start[f->lambda] : n;
  const double *value = G ? G->value + G->start[f->lambda] : s->problem->G + (size_t)f->lambda * (size_t)n;
  for (int k = 0; k < count; k++) {
    const int j = G ? G->col[G->start[f->lambda] + k] : k;
    const double x = value[k];
    if (x == 0) continue;
    if (!s->nonnegative[j] || r->owner[j] >= 0 || (x < 0 && f->count == MOST_DIRECTIONS)) return false;
    if (x > 0) {
      f->normal = j;
      f->mu = x;
      continue;
    }
    r->direction[f->first + f->count] = j;
    r->col_scale[f->first + f->count++] = -x;
  }
  return f->count > 0;
}

/* Its column: positive in the rows of its directions, zero elsewhere. */
static bool column_fits(search *s, const gathering *f) {
  recognition *r = s->out;
  if (s->nonzeros[f->lambda] != f->count) return false;
  for (int k = f->first; k < f->first + f->count; k++) {
    r->row_scale[k] = entry(s->problem, r->direction[k], f->lambda);
    if (!(r->row_scale[k] > 0)) return false;
  }
  return true;
}

/* Scales relative to those of the first direction: uniform ones change nothing. */
static void relative_scales(recognition *r, gathering *f) {
  const double row = r->row_scale[f->first], col = r->col_scale[f->first];
  for (int k = f->first; k < f->first + f->count; k++) {
    r->row_scale[k] = row / r->row_scale[k];
    r->col_scale[k] = col / r->col_scale[k];
  }
  f->mu /= col;
  f->room /= col;
  f->push = row;
}

/* ---- all together ---- */

static ss_status try_lambda(search *s, int lambda, int *listed, ss_error *error) {
  recognition *r = s->out;
  gathering f = {.lambda = lambda, .normal = -1, .first = *listed, .room = s->problem->g[lambda]};
  if (r->owner[lambda] >= 0 || !list_directions(s, &f) || !column_fits(s, &f)) return SS_OK;
  relative_scales(r, &f);
  bool fit;
  const ss_status status = directions_fit(s, &f, &fit, error);
  if (status || !fit) return status;
  r->owner[lambda] = r->count;
  for (int k = f.first; k < f.first + f.count; k++) r->owner[r->direction[k]] = r->count;
  r->found[r->count++] = f;
  *listed += f.count;
  return SS_OK;
}

void recognition_drop(recognition *r, int c) {
  gathering *f = &r->found[c];
  r->owner[f->lambda] = -1;
  for (int k = f->first; k < f->first + f->count; k++) r->owner[r->direction[k]] = -1;
  f->count = 0;
}

static ss_status create(search *s, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)s->problem->n;
  recognition *out = s->out;
  const bool sparse = !s->problem->G;
  double *memory = SCRATCH(w, double, (sparse ? 7 : 4) * n);
  out->found = SCRATCH(w, gathering, n);
  out->direction = SCRATCH(w, int, 4 * n);
  s->nonnegative = SCRATCH(w, bool, 2 * n);
  if (!memory || !out->found || !out->direction || !s->nonnegative) return out_of_memory(error);
  out->row_scale = memory;
  out->col_scale = memory + n;
  s->size = memory + 2 * n;
  s->row_size = memory + 3 * n;
  for (int k = 0; sparse && k < 3; k++) s->line[k] = memory + (size_t)(4 + k) * n;
  out->owner = out->direction + n;
  s->nonzeros = out->owner + n;
  s->lambda = s->nonzeros + n;
  s->is_lambda = s->nonnegative + n;
  for (size_t i = 0; i < n; i++) {
    s->size[i] = 0;
    s->nonzeros[i] = 0;
    out->owner[i] = -1;
    s->largest = fmax(s->largest, fabs(s->problem->g[i]));
    for (int k = 0; sparse && k < 3; k++) s->line[k][i] = 0;
  }
  for (int b = 0; b < s->problem->n_blocks; b++) {
    const ss_block *block = &s->problem->blocks[b];
    for (int i = block->first; i < block->first + block->size; i++) {
      s->nonnegative[i] = block->kind == SS_BLOCK_NONNEGATIVE;
      s->is_lambda[i] = s->nonnegative[i] && looks_like_lambda(s->problem, i);
      if (s->is_lambda[i]) s->lambda[s->n_lambdas++] = i;
    }
  }
  return SS_OK;
}

ss_status recognise(const ss_cp *problem, ss_cp_workspace *w, recognition *out, ss_error *error) {
  *out = (recognition){0};
  if (!worth_a_search(problem)) return SS_OK;
  search s = {.problem = problem, .out = out, .workspace = w};
  ss_status status = create(&s, w, error);
  if (status) return status;
  if (problem->G)
    look_at_dense_columns(&s);
  else
    look_at_sparse_columns(&s);
  int listed = 0;
  for (int k = 0; k < s.n_lambdas && !status; k++) status = try_lambda(&s, s.lambda[k], &listed, error);
  if (status || out->count == 0) return status;
  status = columns_fit(&s, error);
  for (int c = 0; c < out->count && !status; c++) { /* a normal is no direction and no lambda of another one */
    const int normal = out->found[c].normal;
    if (out->found[c].count && normal >= 0 && out->owner[normal] >= 0) recognition_drop(out, c);
  }
  return status;
}
