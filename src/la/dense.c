/* LU by halves of the columns (Toledo 1997): the left half is factorised, applied to the right one, and what is left below is
 * the right half's problem. So nearly all operations are those of products (product.h), whatever the size. */
#include "la/dense.h"

#include "la/product.h"
#include "la/rows.h"

#include <math.h>

enum { PANEL = 16 }; /* columns or rows that are eliminated one by one */

static inline double *at(double *A, int n, int i, int j) { return A + (size_t)i * (size_t)n + j; }

static ss_view view(const double *A, int n, int i, int j) {
  return (ss_view){A + (size_t)i * (size_t)n + j, (size_t)n, 1};
}

static void swap_rows(double *A, int width, int i, int j) {
  double *restrict x = at(A, width, i, 0), *restrict y = at(A, width, j, 0);
  for (int k = 0; k < width && i != j; k++) {
    const double keep = x[k];
    x[k] = y[k];
    y[k] = keep;
  }
}

/* X = L^-1 X of `count` rows and `columns` columns, L with ones on its diagonal. */
static void solve_lower(const double *L, int n, double *X, int stride, int count, int columns) {
  if (count > PANEL) {
    const int half = count / 2;
    solve_lower(L, n, X, stride, half, columns);
    ss_add_product(at(X, stride, half, 0), stride, -1, view(L, n, half, 0), view(X, stride, 0, 0), count - half, half,
                   columns);
    solve_lower(L + (size_t)half * (size_t)(n + 1), n, at(X, stride, half, 0), stride, count - half, columns);
    return;
  }
  for (int i = 1; i < count; i++)
    row_add_rows(at(X, stride, i, 0), -1, X, stride, L + (size_t)i * (size_t)n, 1, i, columns);
}

static void solve_upper(const double *U, int n, double *X, int stride, int count, int columns) {
  if (count > PANEL) {
    const int half = count / 2;
    solve_upper(U + (size_t)half * (size_t)(n + 1), n, at(X, stride, half, 0), stride, count - half, columns);
    ss_add_product(X, stride, -1, view(U, n, 0, half), view(X, stride, half, 0), half, count - half, columns);
    solve_upper(U, n, X, stride, half, columns);
    return;
  }
  for (int i = count - 1; i >= 0; i--) {
    const double *row = U + (size_t)i * (size_t)n;
    double *x = at(X, stride, i, 0);
    row_add_rows(x, -1, at(X, stride, i + 1, 0), stride, row + i + 1, 1, count - 1 - i, columns);
    for (int j = 0; j < columns; j++) x[j] /= row[i];
  }
}

/* A, and what its rows take along when they are exchanged. */
typedef struct elimination {
  double *A, tolerance;
  int n, rows;    /* its width, and the rows that take part */
  bool exchange;  /* for the largest pivot of the column */
  int *pivot;     /* NULL: not asked for */
  double *others; /* [n][n], or NULL */
} elimination;

static void exchange_rows(const elimination *e, int k) {
  int best = k;
  for (int i = k + 1; i < e->rows; i++)
    if (fabs(*at(e->A, e->n, i, k)) > fabs(*at(e->A, e->n, best, k))) best = i;
  swap_rows(e->A, e->n, k, best);
  if (e->others) swap_rows(e->others, e->n, k, best);
  if (e->pivot) e->pivot[k] = best;
}

static bool factor_panel(const elimination *e, int first, int end) {
  const int n = e->n;
  for (int k = first; k < end; k++) {
    if (e->exchange) exchange_rows(e, k);
    const double *restrict top = at(e->A, n, k, 0);
    const double inverse = 1 / top[k];
    if (!(fabs(top[k]) > e->tolerance) || !isnormal(inverse)) return false;
    for (int i = k + 1; i < e->rows; i++) {
      double *restrict target = at(e->A, n, i, 0);
      const double l = target[k] *= inverse;
      for (int j = k + 1; j < end; j++) target[j] -= l * top[j]; /* also where l is 0: what is not finite must spread */
    }
  }
  return true;
}

/* Columns first .. end - 1, and the rows below `first`. */
static bool factor_columns(const elimination *e, int first, int end) {
  if (end - first <= PANEL) return factor_panel(e, first, end);
  const int n = e->n, half = first + (end - first) / 2;
  double *A = e->A;
  if (!factor_columns(e, first, half)) return false;
  solve_lower(at(A, n, first, first), n, at(A, n, first, half), n, half - first, end - half);
  ss_add_product(at(A, n, half, half), n, -1, view(A, n, half, first), view(A, n, first, half), e->rows - half,
                 half - first, end - half);
  return factor_columns(e, half, end);
}

bool ss_dense_factor(double *A, int n, double tolerance, int *pivot) {
  const elimination e = {.A = A, .tolerance = tolerance, .n = n, .rows = n, .exchange = true, .pivot = pivot};
  return factor_columns(&e, 0, n);
}

void ss_dense_solve(const double *A, int n, const int *pivot, double *X, int columns) {
  for (int i = 0; i < n; i++) swap_rows(X, columns, i, pivot[i]);
  if (columns != 1) {
    solve_lower(A, n, X, columns, n, columns);
    solve_upper(A, n, X, columns, n, columns);
    return;
  }
  for (int i = 1; i < n; i++) X[i] -= ss_dot(A + (size_t)i * (size_t)n, X, i);
  for (int i = n - 1; i >= 0; i--) {
    const double *row = A + (size_t)i * (size_t)n;
    X[i] = (X[i] - ss_dot(row + i + 1, X + i + 1, n - 1 - i)) / row[i];
  }
}

/* By Gauss and Jordan, without factors. */
static bool invert_small(double *A, int n, double *inverse) {
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < n; i++)
      if (fabs(*at(A, n, i, c)) > fabs(*at(A, n, best, c))) best = i;
    const double pivot = *at(A, n, best, c);
    if (!(fabs(pivot) > 0) || !isfinite(pivot)) return false;
    swap_rows(A, n, c, best);
    swap_rows(inverse, n, c, best);
    double *top = at(A, n, c, 0), *own = at(inverse, n, c, 0);
    for (int k = 0; k < n; k++) {
      top[k] *= 1 / pivot;
      own[k] *= 1 / pivot;
    }
    for (int i = 0; i < n; i++) {
      const double factor = *at(A, n, i, c);
      if (i == c) continue; /* not where the factor is 0: what is not finite must spread */
      row_subtract(at(A, n, i, 0), top, factor, 0, n);
      row_subtract(at(inverse, n, i, 0), own, factor, 0, n);
    }
  }
  return true;
}

bool ss_dense_inverse(double *A, int n, double *inverse) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) *at(inverse, n, i, j) = i == j;
  if (n <= PANEL) return invert_small(A, n, inverse);
  const elimination e = {.A = A, .n = n, .rows = n, .exchange = true, .others = inverse};
  if (!factor_columns(&e, 0, n)) return false;
  solve_lower(A, n, inverse, n, n, n);
  solve_upper(A, n, inverse, n, n, n);
  return true;
}

/* By panels of columns, so that the rest is updated once for several pivots: narrow ones where few rows are met, whose zeros pay then. */
bool envelope_factor(double *A, int n, const int *first, const int *last) {
  enum { NARROW = 8, WIDE_PANEL = 48, MANY = 64 };
  elimination e = {.A = A, .n = n};
  for (int begin = 0, end; begin < n; begin = end) {
    const bool narrow = last[begin] - begin < MANY;
    end = begin + (narrow ? NARROW : WIDE_PANEL);
    if (end > n) end = n;
    const int reach = e.rows = last[end - 1] + 1;
    for (int k = begin; k < end; k++)
      for (int j = last[k] + 1; j < reach; j++) *at(A, n, k, j) = 0;
    for (int i = begin + 1; i < reach; i++)
      for (int j = begin; j < end && j < first[i]; j++) *at(A, n, i, j) = 0;
    if (!factor_columns(&e, begin, end)) return false;
    solve_lower(at(A, n, begin, begin), n, at(A, n, begin, end), n, end - begin, reach - end);
    if (narrow)
      for (int i = end; i < reach; i++) ss_subtract_rows(A, n, i, first[i] > begin ? first[i] : begin, end, end, reach);
    else
      ss_add_product(at(A, n, end, end), n, -1, view(A, n, end, begin), view(A, n, begin, end), reach - end,
                     end - begin, reach - end);
  }
  return true;
}

void envelope_solve(const double *A, int n, const int *first, const int *last, double *x) {
  for (int i = 0; i < n; i++) x[i] -= ss_dot(A + (size_t)i * (size_t)n + first[i], x + first[i], i - first[i]);
  for (int i = n - 1; i >= 0; i--) {
    const double *row = A + (size_t)i * (size_t)n;
    x[i] = (x[i] - ss_dot(row + i + 1, x + i + 1, last[i] - i)) / row[i];
  }
}
