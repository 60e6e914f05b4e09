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
 * The directions must be those of a regular polygon in some coordinates of the plane: rows and columns (without lambda) and g of
 * direction j are cos(2 pi j / k) times those of the first plus sin(2 pi j / k) times those of a second vector. For k = 2
 * and 4 this says that they come in opposite pairs. Numbers are compared to `rounding`; what does not fit stays as it is. */
#include "cp/recognise.h"

#include <math.h>

static const double rounding = 1e-10; /* of a row's largest entry; g: of all */
static const double half_turn = 3.14159265358979323846;
enum { MOST_DIRECTIONS = 64 };

typedef struct search {
  const ss_cp *problem;
  recognition *out;
  double largest; /* |g| */
  double *sum;    /* [n] zero between two uses */
  bool *open;     /* [n] nonnegative row */
} search;

/* Whether a row can be that of a lambda. */
static bool row_fits(const double *value, int stride_count) {
  int positive = 0, negative = 0;
  for (int k = 0; k < stride_count && positive < 2; k++) {
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

/* ---- the lambdas ---- */

/* Entry of row or column i at j. */
static double entry(const ss_sparse *m, int i, int j) {
  for (int k = m->start[i]; k < m->start[i + 1]; k++)
    if (m->col[k] == j) return m->value[k];
  return 0;
}

/* The row of a lambda: its normal, and its directions at the end of the list, with -entry as scale of their columns. */
static bool list_directions(search *s, int lambda, gathering *f) {
  recognition *r = s->out;
  const ss_sparse *rows = &r->rows;
  for (int k = rows->start[lambda]; k < rows->start[lambda + 1]; k++) {
    const int j = rows->col[k];
    const double x = rows->value[k];
    if (x == 0) continue;
    if (!s->open[j] || r->owner[j] >= 0 || (x < 0 && f->count == MOST_DIRECTIONS)) return false;
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
  int nonzero = 0;
  for (int k = r->cols.start[f->lambda]; k < r->cols.start[f->lambda + 1]; k++) nonzero += r->cols.value[k] != 0;
  if (nonzero != f->count) return false;
  for (int k = f->first; k < f->first + f->count; k++) {
    r->row_scale[k] = entry(&r->cols, f->lambda, r->direction[k]);
    if (!(r->row_scale[k] > 0)) return false;
  }
  return true;
}

/* Entries relative to those of the first direction: uniform scales change nothing. */
static void relative_scales(recognition *r, gathering *f) {
  const double row = r->row_scale[f->first], col = r->col_scale[f->first];
  for (int k = f->first; k < f->first + f->count; k++) {
    r->row_scale[k] = row / r->row_scale[k];
    r->col_scale[k] = col / r->col_scale[k];
  }
  f->mu /= col;
  f->room /= col;
}

/* ---- the directions ---- */

static double largest_entry(const ss_sparse *m, int i, int but) {
  double largest = 0;
  for (int k = m->start[i]; k < m->start[i + 1]; k++)
    if (m->col[k] != but) largest = fmax(largest, fabs(m->value[k]));
  return largest;
}

static void add_line(const ss_sparse *m, int i, double factor, double *sum) {
  if (factor == 0) return;
  for (int k = m->start[i]; k < m->start[i + 1]; k++) sum[m->col[k]] += factor * m->value[k];
}

/* The largest entry of the sum, that of lambda apart, which is set to zero again. */
static double clear_line(const ss_sparse *m, int i, int but, double *sum) {
  double largest = 0;
  for (int k = m->start[i]; k < m->start[i + 1]; k++) {
    if (m->col[k] != but) largest = fmax(largest, fabs(sum[m->col[k]]));
    sum[m->col[k]] = 0;
  }
  return largest;
}

/* Whether x line(i) = y line(j) + z line(k) but for rounding, in the row or column `but` excepted. */
static bool depends(search *s, const ss_sparse *m, const int *line, const double *factor, int but) {
  double size = 0, rest = 0;
  for (int t = 0; t < 3; t++) {
    if (factor[t] != 0) size = fmax(size, fabs(factor[t]) * largest_entry(m, line[t], but));
    add_line(m, line[t], factor[t], s->sum);
  }
  for (int t = 0; t < 3; t++)
    if (factor[t] != 0) rest = fmax(rest, clear_line(m, line[t], but, s->sum));
  return rest <= rounding * size;
}

/* Direction `a` is cos times direction `b` plus sin times direction `c`; places in the list. */
static bool combines(search *s, const gathering *f, int a, int b, int c, double cosine, double sine) {
  recognition *r = s->out;
  const int line[3] = {r->direction[a], r->direction[b], r->direction[c]};
  const double row[3] = {r->row_scale[a], -cosine * r->row_scale[b], -sine * r->row_scale[c]};
  const double col[3] = {r->col_scale[a], -cosine * r->col_scale[b], -sine * r->col_scale[c]};
  const double *g = s->problem->g;
  const double rest = row[0] * g[line[0]] + row[1] * g[line[1]] + row[2] * g[line[2]];
  return fabs(rest) <= rounding * s->largest && depends(s, &r->rows, line, row, f->lambda) &&
         depends(s, &r->cols, line, col, f->lambda);
}

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
  const int at = f->first;
  static const int tries[3] = {2, 1, 3}; /* counter-clockwise, pair by pair */
  for (int t = 0; t < 3; t++)
    if (combines(s, f, at + tries[t], at, at, -1, 0)) {
      swap_directions(s->out, at + 2, at + tries[t]);
      return combines(s, f, at + 3, at + 1, at + 1, -1, 0);
    }
  return false;
}

/* All are combinations of the first one and the one at place q, next to a right angle from it. */
static bool is_regular(search *s, const gathering *f) {
  const int k = f->count, q = quarter(k);
  const double turn = 2 * half_turn / k, sine = sin(q * turn), cosine = cos(q * turn);
  for (int j = 1; j < k; j++) {
    if (j == q) continue;
    const double along = sin(j * turn) / sine, exact = k % 4 == 0 ? 0 : along * cosine;
    if (!combines(s, f, f->first + j, f->first, f->first + q, cos(j * turn) - exact, along)) return false;
  }
  return true;
}

static double dot_rows(search *s, int a, int b, int but) {
  const recognition *r = s->out;
  double sum = 0;
  add_line(&r->rows, r->direction[a], r->row_scale[a], s->sum);
  const int j = r->direction[b];
  for (int k = r->rows.start[j]; k < r->rows.start[j + 1]; k++)
    if (r->rows.col[k] != but) sum += r->row_scale[b] * r->rows.value[k] * s->sum[r->rows.col[k]];
  (void)clear_line(&r->rows, r->direction[a], but, s->sum);
  return sum;
}

/* Coordinates p_j of the rows with respect to the first and another one. A regular polygon seen in skew coordinates has
 * (2 / k) sum p p^T = A A^T, and A^-1 p_j are unit vectors at its angles, whatever the order they are listed in. */
static bool find_angles(search *s, const gathering *f, double *angle) {
  const int k = f->count, at = f->first;
  double x[MOST_DIRECTIONS], y[MOST_DIRECTIONS], xx = 0, xy = 0, yy = 0, best = 0;
  const double a = dot_rows(s, at, at, f->lambda);
  int other = 0;
  for (int j = 1; j < k; j++) {
    const double b = dot_rows(s, at, at + j, f->lambda), c = dot_rows(s, at + j, at + j, f->lambda);
    if (a * c - b * b > best) {
      best = a * c - b * b;
      other = j;
    }
  }
  if (!(best > 1e-6 * a * a)) return false;
  const double b = dot_rows(s, at, at + other, f->lambda), c = dot_rows(s, at + other, at + other, f->lambda);
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
  double angle[MOST_DIRECTIONS];
  int place[MOST_DIRECTIONS];
  bool taken[MOST_DIRECTIONS] = {false};
  if (!find_angles(s, f, angle)) return false;
  for (int j = 0; j < k; j++) {
    place[j] = ((int)lround((angle[j] - angle[0]) * k / (2 * half_turn)) + 2 * k) % k;
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

static bool directions_fit(search *s, gathering *f) {
  const int k = f->count, at = f->first;
  const bool bounded = f->normal < 0;
  f->kept_zero = bounded && f->room == 0;
  if (f->kept_zero) return true;
  if (k == 1) return bounded;
  if (k == 2) return combines(s, f, at + 1, at, at, -1, 0);
  if (bounded || k % 2) return false;
  if (k == 4) return order_four(s, f);
  return is_regular(s, f) || (order_by_angles(s, f) && is_regular(s, f));
}

/* ---- all together ---- */

static void try_lambda(search *s, int lambda, int *listed) {
  recognition *r = s->out;
  gathering f = {.lambda = lambda, .normal = -1, .first = *listed, .room = s->problem->g[lambda]};
  if (!looks_like_lambda(s->problem, lambda) || r->owner[lambda] >= 0) return;
  if (!list_directions(s, lambda, &f) || !column_fits(s, &f)) return;
  relative_scales(r, &f);
  if (!directions_fit(s, &f)) return;
  r->owner[lambda] = r->count;
  for (int k = f.first; k < f.first + f.count; k++) r->owner[r->direction[k]] = r->count;
  r->found[r->count++] = f;
  *listed += f.count;
}

/* A normal that is a direction or the lambda of another contact is no normal. */
static bool normals_fit(const recognition *r) {
  for (int c = 0; c < r->count; c++)
    if (r->found[c].normal >= 0 && r->owner[r->found[c].normal] >= 0) return false;
  return true;
}

ss_status recognise(const ss_cp *problem, ss_cp_workspace *w, recognition *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = (recognition){0};
  if (!worth_a_search(problem)) return SS_OK;
  ss_status status = storage_rows(problem, w, &out->rows, error);
  if (!status) status = sparse_transpose(&out->rows, w, &out->cols, error);
  if (status) return status;
  search s = {problem, out, 0, SCRATCH(w, double, n), SCRATCH(w, bool, n)};
  out->found = SCRATCH(w, gathering, n);
  out->direction = SCRATCH(w, int, 2 * n);
  out->row_scale = SCRATCH(w, double, 2 * n);
  if (!s.sum || !s.open || !out->found || !out->direction || !out->row_scale) return out_of_memory(error);
  out->owner = out->direction + n;
  out->col_scale = out->row_scale + n;
  for (size_t i = 0; i < n; i++) {
    s.sum[i] = 0;
    out->owner[i] = -1;
    s.largest = fmax(s.largest, fabs(problem->g[i]));
  }
  for (int b = 0; b < problem->n_blocks; b++)
    for (int i = problem->blocks[b].first; i < problem->blocks[b].first + problem->blocks[b].size; i++)
      s.open[i] = problem->blocks[b].kind == SS_BLOCK_NONNEGATIVE;
  int listed = 0;
  for (int i = 0; i < problem->n; i++)
    if (s.open[i]) try_lambda(&s, i, &listed);
  if (!normals_fit(out)) out->count = 0;
  return SS_OK;
}
