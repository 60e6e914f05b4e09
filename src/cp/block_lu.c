/* Up-looking LU by block rows in an order of nested dissection: row i is scattered into a dense row, the rows before it
 * that it meets are eliminated in order, and it is gathered back. Rows are exchanged inside diagonal blocks only; a pivot at
 * rounding level is replaced by a small one. Callers add enough to the diagonal for that to be harmless, and refine. */
#include "cp/block_lu.h"

#include "core/wide.h"
#include "la/dissect.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { SQUARE = BLOCK_ROWS * BLOCK_ROWS, LANES = 8, VECTORS = 2 };

/* ---- pattern ---- */

static void sort(int *a, int n) {
  for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : (int)(gap / 2.2))
    for (int k = gap; k < n; k++) {
      const int item = a[k];
      int p = k;
      for (; p >= gap && a[p - gap] > item; p -= gap) a[p] = a[p - gap];
      a[p] = item;
    }
}

/* Columns of row i of U: those of the matrix, and those of the rows whose first column is i. */
static int merge_row(const block_lu *lu, int i, const int *start, const int *col, const int *child, const int *sibling,
                     int *mark, int *out) {
  int count = 0;
  const int node = lu->order[i];
  mark[i] = i;
  for (int e = start[node]; e < start[node + 1]; e++) {
    const int j = lu->place[col[e]];
    if (j <= i || mark[j] == i) continue;
    mark[j] = i;
    out[count++] = j;
  }
  for (int c = child[i]; c >= 0; c = sibling[c])
    for (int e = lu->upper_start[c]; e < lu->upper_start[c + 1]; e++) {
      const int j = lu->upper[e];
      if (mark[j] == i) continue;
      mark[j] = i;
      out[count++] = j;
    }
  sort(out, count);
  return count;
}

typedef struct symbolic {
  int *child, *sibling, *mark, *count;
  size_t capacity;
} symbolic;

/* Doubles the list of columns; the old one stays in the scratch memory below. */
static bool make_room(block_lu *lu, symbolic *s, size_t used, size_t more, ss_cp_workspace *w) {
  if (used + more <= s->capacity) return true;
  const size_t capacity = 2 * (used + more);
  int *grown = SCRATCH(w, int, capacity);
  if (!grown) return false;
  if (used) memcpy(grown, lu->upper, sizeof(int) * used);
  lu->upper = grown;
  s->capacity = capacity;
  return true;
}

static ss_status make_upper(block_lu *lu, const int *start, const int *col, double most, ss_cp_workspace *w,
                            bool *affordable, ss_error *error) {
  const size_t n = (size_t)lu->nodes;
  symbolic s = {.child = SCRATCH(w, int, 4 * n)};
  if (!s.child) return out_of_memory(error);
  s.sibling = s.child + n;
  s.mark = s.sibling + n;
  s.count = s.mark + n;
  for (size_t i = 0; i < n; i++) s.child[i] = s.mark[i] = -1;
  size_t used = 0;
  lu->operations = 0;
  for (int i = 0; i < lu->nodes; i++) {
    if (!make_room(lu, &s, used, n, w)) return out_of_memory(error);
    lu->upper_start[i] = (int)used;
    int *row = lu->upper + used;
    const int count = merge_row(lu, i, start, col, s.child, s.sibling, s.mark, row);
    double width = 0;
    for (int k = 0; k < count; k++) width += lu->size[row[k]];
    lu->operations += 2 * lu->size[i] * width * width;
    lu->numbers += (size_t)width * (size_t)lu->size[i];
    used += (size_t)count;
    *affordable = lu->operations <= most && used < INT_MAX;
    if (!*affordable) return SS_OK;
    if (count == 0) continue;
    s.sibling[i] = s.child[row[0]];
    s.child[row[0]] = i;
  }
  lu->upper_start[lu->nodes] = (int)used;
  return SS_OK;
}

static ss_status make_lower(block_lu *lu, ss_cp_workspace *w, ss_error *error) {
  const int total = lu->upper_start[lu->nodes];
  lu->upper_at = SCRATCH(w, size_t, total);
  lu->lower = SCRATCH(w, int, total);
  lu->lower_at = SCRATCH(w, size_t, total);
  lu->u = SCRATCH(w, double, lu->numbers);
  lu->l = SCRATCH(w, double, lu->numbers);
  int *fill = SCRATCH(w, int, lu->nodes + 1);
  if (!lu->upper_at || !lu->lower || !lu->lower_at || !lu->u || !lu->l || !fill) return out_of_memory(error);
  memset(lu->lower_start, 0, sizeof(int) * ((size_t)lu->nodes + 1));
  for (int k = 0; k < total; k++) lu->lower_start[lu->upper[k] + 1]++;
  for (int i = 0; i < lu->nodes; i++) {
    lu->lower_start[i + 1] += lu->lower_start[i];
    fill[i] = lu->lower_start[i];
  }
  size_t at = 0;
  for (int i = 0; i < lu->nodes; i++)
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++) {
      const int j = lu->upper[k];
      lu->upper_at[k] = at;
      lu->lower[fill[j]++] = i; /* ascending, as i is */
      at += (size_t)lu->size[i] * (size_t)lu->size[j];
    }
  at = 0;
  for (int i = 0; i < lu->nodes; i++)
    for (int k = lu->lower_start[i]; k < lu->lower_start[i + 1]; k++) {
      lu->lower_at[k] = at;
      at += (size_t)lu->size[i] * (size_t)lu->size[lu->lower[k]];
    }
  return SS_OK;
}

ss_status block_lu_analyse(block_lu *lu, int nodes, const int *size, const int *start, const int *col, double most,
                           ss_cp_workspace *w, bool *affordable, ss_error *error) {
  const size_t n = (size_t)nodes;
  *lu = (block_lu){.nodes = nodes, .order = SCRATCH(w, int, 9 * n + 3)};
  int *memory = SCRATCH(w, int, 4 * n);
  lu->d = SCRATCH(w, double, SQUARE *n);
  if (!lu->order || !memory || !lu->d) return out_of_memory(error);
  lu->place = lu->order + n;
  lu->size = lu->place + n;
  lu->first = lu->size + n;
  lu->upper_start = lu->first + n + 1;
  lu->lower_start = lu->upper_start + n + 1;
  lu->pivot = SCRATCH(w, int, BLOCK_ROWS *n);
  if (!lu->pivot) return out_of_memory(error);
  ss_dissect(&(ss_graph){nodes, start, col}, lu->order, memory);
  for (int i = 0; i < nodes; i++) {
    lu->place[lu->order[i]] = i;
    lu->size[i] = size[lu->order[i]];
    lu->first[i] = lu->n;
    lu->n += lu->size[i];
  }
  lu->first[nodes] = lu->n;
  ss_status status = make_upper(lu, start, col, most, w, affordable, error);
  if (status || !*affordable) return status;
  status = make_lower(lu, w, error);
  lu->row = SCRATCH(w, double, LANES *(size_t)lu->n);
  if (!status && !lu->row) return out_of_memory(error);
  if (!status) memset(lu->row, 0, sizeof(double) * LANES * (size_t)lu->n);
  return status;
}

void block_lu_clear(block_lu *lu) {
  memset(lu->u, 0, sizeof(double) * lu->numbers);
  memset(lu->l, 0, sizeof(double) * lu->numbers);
  memset(lu->d, 0, sizeof(double) * SQUARE * (size_t)lu->nodes);
}

static int find(const int *list, int from, int to, int item) {
  while (from < to) {
    const int middle = from + (to - from) / 2;
    if (list[middle] < item)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

double *block_lu_entry(const block_lu *lu, int i, int j) {
  const int p = lu->place[i], q = lu->place[j];
  if (p == q) return lu->d + (size_t)p * SQUARE;
  if (p < q) return lu->u + lu->upper_at[find(lu->upper, lu->upper_start[p], lu->upper_start[p + 1], q)];
  return lu->l + lu->lower_at[find(lu->lower, lu->lower_start[p], lu->lower_start[p + 1], q)];
}

/* ---- numbers ---- */

/* LU of one diagonal block, in place. */
static void factor_block(double *a, int n, int *pivot) {
  static const double least = 1e-14; /* the matrix is scaled to unit size */
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < n; i++)
      if (fabs(a[i * n + c]) > fabs(a[best * n + c])) best = i;
    pivot[c] = best;
    for (int j = 0; best != c && j < n; j++) {
      const double keep = a[c * n + j];
      a[c * n + j] = a[best * n + j];
      a[best * n + j] = keep;
    }
    if (fabs(a[c * n + c]) < least) a[c * n + c] = a[c * n + c] < 0 ? -least : least;
    for (int i = c + 1; i < n; i++) {
      const double f = a[i * n + c] /= a[c * n + c];
      for (int j = c + 1; j < n; j++) a[i * n + j] -= f * a[c * n + j];
    }
  }
}

/* x = D^-1 x */
static void solve_block(const double *a, int n, const int *pivot, double *x) {
  for (int c = 0; c < n; c++) {
    const double keep = x[c];
    x[c] = x[pivot[c]];
    x[pivot[c]] = keep;
  }
  for (int i = 1; i < n; i++)
    for (int j = 0; j < i; j++) x[i] -= a[i * n + j] * x[j];
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= a[i * n + j] * x[j];
    x[i] /= a[i * n + i];
  }
}

/* The row that is being eliminated stands in lu->row, LANES numbers for every column: its rows side by side, so that all arithmetic is
 * on vectors of fixed length. Of factors the rows stand side by side, too, without gaps: number r of column c at c * rows + r. */
static inline ss_four *columns_of(const block_lu *lu, int j) { return (ss_four *)lu->row + VECTORS * lu->first[j]; }

/* From a block of the matrix, row-major. */
static void scatter(const block_lu *lu, int rows, int j, const double *from) {
  const int cols = lu->size[j];
  double *to = lu->row + (size_t)LANES * (size_t)lu->first[j];
  for (int r = 0; r < rows; r++)
    for (int c = 0; c < cols; c++) to[c * LANES + r] = *from++;
}

/* The columns of node j, which become zero; `to` by columns. */
static void gather(const block_lu *lu, int rows, int j, double *to) {
  double *from = lu->row + (size_t)LANES * (size_t)lu->first[j];
  for (int c = 0; c < lu->size[j]; c++, from += LANES)
    for (int r = 0; r < rows; r++) {
      *to++ = from[r];
      from[r] = 0;
    }
}

/* f = f D^-1 for all lanes of f, by columns. */
static inline void solve_block_left(const double *a, int n, const int *pivot, ss_four *f) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < j; i++)
      for (int v = 0; v < VECTORS; v++) f[VECTORS * j + v] -= f[VECTORS * i + v] * a[i * n + j];
    for (int v = 0; v < VECTORS; v++) f[VECTORS * j + v] /= a[j * n + j];
  }
  for (int j = n - 2; j >= 0; j--)
    for (int i = j + 1; i < n; i++)
      for (int v = 0; v < VECTORS; v++) f[VECTORS * j + v] -= f[VECTORS * i + v] * a[i * n + j];
  for (int c = n - 1; c >= 0; c--)
    for (int v = 0; v < VECTORS && pivot[c] != c; v++) {
      const ss_four keep = f[VECTORS * c + v];
      f[VECTORS * c + v] = f[VECTORS * pivot[c] + v];
      f[VECTORS * pivot[c] + v] = keep;
    }
}

/* Columns of a node: to_c -= sum of f_m u_cm. */
static inline void subtract_columns(ss_four *restrict to, const ss_four *restrict f, const double *restrict u,
                                    int inner, int cols) {
  for (int c = 0; c < cols; c++, to += VECTORS, u += inner) {
    ss_four low = to[0], high = to[1];
    for (int m = 0; m < inner; m++) {
      low -= f[VECTORS * m] * u[m];
      high -= f[VECTORS * m + 1] * u[m];
    }
    to[0] = low;
    to[1] = high;
  }
}

/* The row minus f times row j of U. */
static inline void eliminate(const block_lu *lu, int j, const ss_four *f) {
  const int inner = lu->size[j];
  const double *u = lu->u + (lu->upper_start[j] < lu->upper_start[j + 1] ? lu->upper_at[lu->upper_start[j]] : 0);
  for (int k = lu->upper_start[j]; k < lu->upper_start[j + 1]; k++) {
    const int cols = lu->size[lu->upper[k]];
    ss_four *to = columns_of(lu, lu->upper[k]);
    if (inner == 6 && cols == 6)
      subtract_columns(to, f, u, 6, 6);
    else if (inner == 3 && cols == 3)
      subtract_columns(to, f, u, 3, 3);
    else
      subtract_columns(to, f, u, inner, cols);
    u += (ptrdiff_t)inner * cols;
  }
}

WIDE bool block_lu_factor(block_lu *lu) {
  double finite = 0;
  for (int i = 0; i < lu->nodes; i++) {
    const int rows = lu->size[i];
    double *d = lu->d + (size_t)i * SQUARE;
    for (int k = lu->lower_start[i]; k < lu->lower_start[i + 1]; k++)
      scatter(lu, rows, lu->lower[k], lu->l + lu->lower_at[k]);
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++)
      scatter(lu, rows, lu->upper[k], lu->u + lu->upper_at[k]);
    scatter(lu, rows, i, d);
    for (int k = lu->lower_start[i]; k < lu->lower_start[i + 1]; k++) {
      const int j = lu->lower[k];
      ss_four *f = columns_of(lu, j);
      solve_block_left(lu->d + (size_t)j * SQUARE, lu->size[j], lu->pivot + (size_t)j * BLOCK_ROWS, f);
      eliminate(lu, j, f);
      gather(lu, rows, j, lu->l + lu->lower_at[k]);
    }
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++)
      gather(lu, rows, lu->upper[k], lu->u + lu->upper_at[k]);
    double *own = lu->row + (size_t)LANES * (size_t)lu->first[i];
    for (int c = 0; c < rows; c++)
      for (int r = 0; r < rows; r++) {
        d[r * rows + c] = own[c * LANES + r];
        own[c * LANES + r] = 0;
        finite += 0 * d[r * rows + c];
      }
    factor_block(d, rows, lu->pivot + (size_t)i * BLOCK_ROWS);
  }
  return finite == 0;
}

int block_lu_sign(const block_lu *lu) {
  int sign = 1;
  for (int i = 0; i < lu->nodes; i++)
    for (int k = 0, n = lu->size[i]; k < n; k++) {
      if (lu->pivot[i * BLOCK_ROWS + k] != k) sign = -sign;
      if (lu->d[(size_t)i * SQUARE + (size_t)(k * (n + 1))] < 0) sign = -sign;
    }
  return sign;
}

/* y -= A x, A by columns */
static inline void subtract_product(const double *restrict a, int rows, int cols, const double *restrict x,
                                    double *restrict y) {
  double sum[2][BLOCK_ROWS] = {{0}};
  for (int c = 0; c < cols; c++)
    for (int r = 0; r < rows; r++) sum[c % 2][r] += a[c * rows + r] * x[c];
  for (int r = 0; r < rows; r++) y[r] -= sum[0][r] + sum[1][r];
}

/* Blocks of bodies that move freely in space are what sums of fixed length are worth. */
static inline void subtract(const double *a, int rows, int cols, const double *x, double *y) {
  if (rows == 6 && cols == 6)
    subtract_product(a, 6, 6, x, y);
  else
    subtract_product(a, rows, cols, x, y);
}

/* b and x by place. */
WIDE static void solve_places(const block_lu *lu, double *x) {
  for (int i = 0; i < lu->nodes; i++)
    for (int k = lu->lower_start[i]; k < lu->lower_start[i + 1]; k++)
      subtract(lu->l + lu->lower_at[k], lu->size[i], lu->size[lu->lower[k]], x + lu->first[lu->lower[k]],
               x + lu->first[i]);
  for (int i = lu->nodes - 1; i >= 0; i--) {
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++)
      subtract(lu->u + lu->upper_at[k], lu->size[i], lu->size[lu->upper[k]], x + lu->first[lu->upper[k]],
               x + lu->first[i]);
    solve_block(lu->d + (size_t)i * SQUARE, lu->size[i], lu->pivot + (size_t)i * BLOCK_ROWS, x + lu->first[i]);
  }
}

void block_lu_solve(block_lu *lu, const double *b, double *x) {
  double *y = lu->row;
  for (int node = 0, at = 0; node < lu->nodes; node++) {
    const int p = lu->place[node];
    for (int k = 0; k < lu->size[p]; k++) y[lu->first[p] + k] = b[at++];
  }
  solve_places(lu, y);
  for (int node = 0, at = 0; node < lu->nodes; node++) {
    const int p = lu->place[node];
    for (int k = 0; k < lu->size[p]; k++) {
      x[at++] = y[lu->first[p] + k];
      y[lu->first[p] + k] = 0;
    }
  }
}
