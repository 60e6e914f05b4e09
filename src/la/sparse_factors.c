/* Left-looking elimination (Gilbert & Peierls 1988): one row of A at a time is solved with the L so far, in time proportional to
 * the operations, because a search in the graph of L first finds the entries that are not zero. Rows come in an order of nested
 * dissection of the pattern of A + A^T; the pivot is the diagonal entry where that is not much smaller than the largest one,
 * so that the order's sparsity survives, and zeros on the diagonal (joints) do no harm.
 *
 * Written for the columns of B = A^T, which are the rows of A: B = L U with the pivots' order of rows, and A x = b is U^T y = b, L^T x = y. */
#include "la/sparse_factors.h"

#include "core/arena.h"
#include "la/dissect.h"

#include <math.h>

static const double singular = 1e-14;      /* pivot, in rows and columns of size one */
static const double diagonal_share = 0.05; /* of the largest entry, from which the diagonal one is taken */

typedef struct elimination {
  ss_sparse_factors *f;
  const ss_sparse *A;
  double *x;        /* [n] the row in work, zero elsewhere */
  int *found;       /* [n] its entries in an order in which they can be eliminated, from `top` on */
  int *path, *next; /* [n] of the search */
  int *mark;        /* [n] step at which a column was found last */
  int top;
  size_t l_room, u_room;
} elimination;

static ss_status no_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

static double power_below(double x) {
  int exponent;
  if (!(x > 0)) return 1;
  (void)frexp(x, &exponent);
  return ldexp(1, -exponent);
}

/* Rows, then columns, of size one. */
static void find_scales(ss_sparse_factors *f, const ss_sparse *A) {
  for (int i = 0; i < f->n; i++) {
    double largest = 0;
    for (int k = A->start[i]; k < A->start[i + 1]; k++) largest = fmax(largest, fabs(A->value[k]));
    f->row_scale[i] = power_below(largest);
    f->column_scale[i] = 0;
  }
  for (int i = 0; i < f->n; i++)
    for (int k = A->start[i]; k < A->start[i + 1]; k++) {
      double *largest = &f->column_scale[A->col[k]];
      *largest = fmax(*largest, f->row_scale[i] * fabs(A->value[k]));
    }
  for (int j = 0; j < f->n; j++) f->column_scale[j] = power_below(f->column_scale[j]);
}

/* By neighbours in A + A^T, each once. */
static ss_status find_order(elimination *e, ss_error *error) {
  const ss_sparse *A = e->A;
  const int n = e->f->n, entries = A->start[n];
  int *start = ss_alloc(sizeof *start * (2 * (size_t)n + 2 + 3 * (size_t)entries + 4 * (size_t)n));
  if (!start) return no_memory(error);
  int *by_column = start + n + 1, *rows = by_column + n + 1, *col = rows + entries, *memory = col + 2 * (size_t)entries;
  for (int k = 0; k < entries; k++) by_column[A->col[k] + 1]++;
  for (int j = 0; j < n; j++) by_column[j + 1] += by_column[j];
  for (int i = n - 1; i >= 0; i--) /* from behind, so that by_column[j + 1] becomes the start of column j */
    for (int k = A->start[i]; k < A->start[i + 1]; k++) rows[--by_column[A->col[k] + 1]] = i;
  int count = 0;
  for (int i = 0; i < n; i++) e->next[i] = -1;
  for (int i = 0; i < n; i++) {
    start[i] = count;
    for (int k = A->start[i]; k < A->start[i + 1]; k++)
      if (e->next[A->col[k]] != i) {
        e->next[A->col[k]] = i;
        col[count++] = A->col[k];
      }
    const int end = i + 1 < n ? by_column[i + 2] : entries;
    for (int k = by_column[i + 1]; k < end; k++)
      if (e->next[rows[k]] != i) {
        e->next[rows[k]] = i;
        col[count++] = rows[k];
      }
  }
  start[n] = count;
  ss_dissect(&(ss_graph){n, start, col}, e->f->order, memory);
  ss_free(start);
  return SS_OK;
}

/* Adds column c and all that L makes of it, depth first; what is finished stands before what it leads to. */
static void search(elimination *e, int c, int step) {
  const ss_sparse_factors *f = e->f;
  int depth = 0;
  e->path[0] = c;
  e->mark[c] = step;
  e->next[0] = f->place[c] < 0 ? 0 : f->l_start[f->place[c]];
  while (depth >= 0) {
    const int i = e->path[depth], at = f->place[i], end = at < 0 ? 0 : f->l_start[at + 1];
    int k = e->next[depth];
    while (k < end && e->mark[f->l_at[k]] == step) k++;
    e->next[depth] = k + 1;
    if (k < end) {
      const int j = f->l_at[k];
      e->mark[j] = step;
      e->path[++depth] = j;
      e->next[depth] = f->place[j] < 0 ? 0 : f->l_start[f->place[j]];
    } else {
      e->found[--e->top] = i;
      depth--;
    }
  }
}

static bool make_room(int **at, double **value, size_t *room, size_t needed) {
  if (needed <= *room) return true;
  const size_t more = 2 * *room + needed;
  int *grown_at = ss_realloc(*at, sizeof **at * more);
  if (grown_at) *at = grown_at;
  double *grown = ss_realloc(*value, sizeof **value * more);
  if (grown) *value = grown;
  if (grown_at && grown) *room = more;
  return grown_at && grown;
}

/* The entries of row `row` into e->x with the pivots so far eliminated. */
static void eliminate(elimination *e, int row, int step) {
  const ss_sparse_factors *f = e->f;
  const ss_sparse *A = e->A;
  e->top = f->n;
  for (int k = A->start[row]; k < A->start[row + 1]; k++)
    if (e->mark[A->col[k]] != step) search(e, A->col[k], step);
  for (int k = A->start[row]; k < A->start[row + 1]; k++)
    e->x[A->col[k]] += f->row_scale[row] * A->value[k] * f->column_scale[A->col[k]];
  for (int p = e->top; p < f->n; p++) {
    const int c = e->found[p], at = f->place[c];
    const double value = e->x[c];
    for (int k = at < 0 ? 0 : f->l_start[at]; at >= 0 && k < f->l_start[at + 1]; k++)
      e->x[f->l_at[k]] -= f->l[k] * value;
  }
}

/* The column that becomes the pivot; -1: there is none. */
static int choose_pivot(const elimination *e, int row) {
  int best = -1;
  double largest = singular;
  bool diagonal = false;
  for (int p = e->top; p < e->f->n; p++) {
    const int c = e->found[p];
    if (e->f->place[c] >= 0) continue;
    if (c == row) diagonal = true;
    if (fabs(e->x[c]) > largest) {
      largest = fabs(e->x[c]);
      best = c;
    }
  }
  return best >= 0 && diagonal && fabs(e->x[row]) >= diagonal_share * largest ? row : best;
}

static ss_status take_step(elimination *e, int step, ss_error *error) {
  ss_sparse_factors *f = e->f;
  const int row = f->order[step];
  eliminate(e, row, step);
  const int best = choose_pivot(e, row);
  if (best < 0) return ss_fail(error, SS_ERROR_INPUT, "A is singular: its row %d depends on others", row);
  const size_t count = (size_t)(f->n - e->top);
  size_t l_count = (size_t)f->l_start[step], u_count = (size_t)f->u_start[step];
  if (l_count + count > INT32_MAX || u_count + count > INT32_MAX)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "the factors of A have too many entries");
  if (!make_room(&f->l_at, &f->l, &e->l_room, l_count + count) ||
      !make_room(&f->u_at, &f->u, &e->u_room, u_count + count))
    return no_memory(error);
  const double pivot = e->x[best];
  for (int p = e->top; p < f->n; p++) {
    const int c = e->found[p];
    if (f->place[c] >= 0) {
      f->u_at[u_count] = f->place[c];
      f->u[u_count++] = e->x[c];
    } else if (c != best) {
      f->l_at[l_count] = c;
      f->l[l_count++] = e->x[c] / pivot;
    }
    e->x[c] = 0;
  }
  f->pivot[step] = pivot;
  f->place[best] = step;
  f->l_start[step + 1] = (int)l_count;
  f->u_start[step + 1] = (int)u_count;
  return SS_OK;
}

static ss_status factorise(elimination *e, ss_error *error) {
  ss_sparse_factors *f = e->f;
  const size_t n = (size_t)f->n;
  e->x = ss_alloc(sizeof *e->x * (n + 1));
  e->found = ss_alloc(sizeof *e->found * (4 * n + 1));
  if (!e->x || !e->found) return no_memory(error);
  e->path = e->found + n;
  e->next = e->path + n;
  e->mark = e->next + n;
  find_scales(f, e->A);
  ss_status status = find_order(e, error);
  for (int i = 0; i < f->n; i++) e->mark[i] = f->place[i] = -1;
  for (int step = 0; step < f->n && !status; step++) status = take_step(e, step, error);
  for (int k = 0; k < f->l_start[f->n] && !status; k++) f->l_at[k] = f->place[f->l_at[k]];
  return status;
}

ss_status ss_sparse_factors_create(ss_sparse_factors *f, const ss_sparse *A, ss_error *error) {
  const size_t n = (size_t)A->rows;
  *f = (ss_sparse_factors){.n = A->rows};
  f->order = ss_alloc(sizeof *f->order * (4 * n + 2));
  f->row_scale = ss_alloc(sizeof *f->row_scale * (4 * n + 1));
  if (!f->order || !f->row_scale) return no_memory(error);
  f->place = f->order + n;
  f->l_start = f->place + n;
  f->u_start = f->l_start + n + 1;
  f->column_scale = f->row_scale + n;
  f->pivot = f->column_scale + n;
  f->work = f->pivot + n;
  elimination e = {.f = f, .A = A};
  const ss_status status = factorise(&e, error);
  ss_free(e.x);
  ss_free(e.found);
  return status;
}

void ss_sparse_factors_release(ss_sparse_factors *f) {
  ss_free(f->order);
  ss_free(f->row_scale);
  ss_free(f->l_at);
  ss_free(f->l);
  ss_free(f->u_at);
  ss_free(f->u);
  *f = (ss_sparse_factors){0};
}

void ss_sparse_factors_solve(const ss_sparse_factors *f, double *x) {
  double *y = f->work;
  for (int k = 0; k < f->n; k++) {
    double sum = f->row_scale[f->order[k]] * x[f->order[k]];
    for (int e = f->u_start[k]; e < f->u_start[k + 1]; e++) sum -= f->u[e] * y[f->u_at[e]];
    y[k] = sum / f->pivot[k];
  }
  for (int k = f->n - 1; k >= 0; k--)
    for (int e = f->l_start[k]; e < f->l_start[k + 1]; e++) y[k] -= f->l[e] * y[f->l_at[e]];
  for (int j = 0; j < f->n; j++) x[j] = f->column_scale[j] * y[f->place[j]];
}
