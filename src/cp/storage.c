/* Dense, sparse and factored matrices: checks, and the way from one form to another.
 *
 * Rows i and j of J A^-1 J^T meet where they touch the same body b, with J_ib A_b^-1 J_jb^T. The rows are assembled one
 * after the other in a dense accumulator; the first pass only counts. */
#include "cp/storage.h"

#include "core/wide.h"

#include "la/dense.h"
#include "la/sparse.h"

#include <limits.h>
#include <math.h>
#include <string.h>

ss_status storage_check(const ss_sparse *m, int rows, int cols, const char *what, ss_error *error) {
  if (m->rows != rows || m->cols != cols || !m->start || m->start[0] != 0)
    return ss_fail(error, SS_ERROR_INPUT, "%s: not a matrix of %d rows and %d columns", what, rows, cols);
  for (int i = 0; i < rows; i++) {
    if (m->start[i + 1] < m->start[i])
      return ss_fail(error, SS_ERROR_INPUT, "%s: row %d ends before it starts", what, i);
    for (int k = m->start[i]; k < m->start[i + 1]; k++) {
      if (m->col[k] < 0 || m->col[k] >= cols || (k > m->start[i] && m->col[k] <= m->col[k - 1]))
        return ss_fail(error, SS_ERROR_INPUT, "%s: the columns of row %d are not ascending or out of range", what, i);
      if (!isfinite(m->value[k])) return ss_fail(error, SS_ERROR_INPUT, "%s[%d, %d] is not finite", what, i, m->col[k]);
    }
  }
  return SS_OK;
}

static ss_status check_whole(const ss_cp_operator *o, ss_error *error) {
  if (o->n_bodies) return ss_fail(error, SS_ERROR_INPUT, "A is given both by blocks and as a whole");
  ss_status status = storage_check(&o->whole, o->J.cols, o->J.cols, "A", error);
  if (status) return status;
  ss_sparse_factors *f;
  status = ss_sparse_factor(&o->whole, &f, error);
  ss_sparse_free(f);
  return status;
}

ss_status storage_check_operator(const ss_cp_operator *o, int n, ss_error *error) {
  ss_status status = storage_check(&o->J, n, o->J.cols, "J", error);
  if (!status && o->R.start) status = storage_check(&o->R, n, n, "R", error);
  if (status) return status;
  if (o->whole.start) return check_whole(o, error);
  if (o->n_bodies < 0 || !o->first || o->first[0] != 0 || o->first[o->n_bodies] != o->J.cols)
    return ss_fail(error, SS_ERROR_INPUT, "the blocks of A do not cover the %d columns of J", o->J.cols);
  const double *A = o->A;
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b];
    if (size < 1 || size > SS_CP_BODY_ROWS)
      return ss_fail(error, SS_ERROR_INPUT, "block %d of A has %d rows, not 1 to %d", b, size, SS_CP_BODY_ROWS);
    double a[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS];
    int pivot[SS_CP_BODY_ROWS];
    for (int k = 0; k < size * size; k++) a[k] = A[k];
    if (!ss_dense_factor(a, size, 0, pivot)) return ss_fail(error, SS_ERROR_INPUT, "block %d of A is singular", b);
    A += (ptrdiff_t)size * size;
  }
  return SS_OK;
}

static inline double sum_of(const double *x, size_t count) {
  double sum[8] = {0}, rest = 0; /* several, because each addition waits for the last */
  size_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (size_t k = 0; k < 8; k++) sum[k] += x[i + k];
  for (; i < count; i++) rest += x[i];
  for (size_t k = 0; k < 4; k++) sum[k] += sum[k + 4];
  return rest + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

WIDE static double wide_sum_of(const double *x, size_t count) {
  enum { SUMS = 32 };
  double sum[SUMS] = {0};
  size_t i = 0;
  for (; i + SUMS <= count; i += SUMS)
    for (size_t k = 0; k < SUMS; k++) sum[k] += x[i + k];
  for (size_t k = 0; k < SUMS / 4; k++) sum[k] += sum[k + 8] + (sum[k + 16] + sum[k + 24]);
  double rest = sum_of(x + i, count - i);
  for (size_t k = 0; k < SUMS / 4; k++) rest += sum[k];
  return rest;
}

/* Whether all numbers are finite: so is their sum then, unless it leaves the range of numbers. */
static bool all_finite(const double *x, size_t count) {
  enum { MANY = 256 };
  const double sum = count < MANY ? sum_of(x, count) : wide_sum_of(x, count);
  if (0 * sum == 0) return true;
  for (size_t i = 0; i < count; i++)
    if (!(0 * x[i] == 0)) return false;
  return true;
}

static bool operator_finite(const ss_cp_operator *o, size_t n) {
  size_t count = 0;
  for (int b = 0; b < o->n_bodies; b++) {
    const size_t size = (size_t)(o->first[b + 1] - o->first[b]);
    count += size * size;
  }
  return all_finite(o->J.value, (size_t)o->J.start[n]) && all_finite(o->A, count) &&
         (!o->R.start || all_finite(o->R.value, (size_t)o->R.start[n])) &&
         (!o->whole.start || all_finite(o->whole.value, (size_t)o->whole.start[o->whole.rows]));
}

bool storage_finite(const ss_cp *problem) {
  const size_t n = (size_t)problem->n;
  return all_finite(problem->g, n) && (!problem->G || all_finite(problem->G, n * n)) &&
         (!problem->sparse || all_finite(problem->sparse->value, (size_t)problem->sparse->start[n])) &&
         (!problem->factors || operator_finite(problem->factors, n));
}

void sort_ascending(int *a, int n) {
  for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : (int)(gap / 2.2))
    for (int k = gap; k < n; k++) {
      const int item = a[k];
      int place = k;
      for (; place >= gap && a[place - gap] > item; place -= gap) a[place] = a[place - gap];
      a[place] = item;
    }
}

double largest_of(const double *x, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

ss_status sparse_transpose(const ss_sparse *a, ss_cp_workspace *w, ss_sparse *out, ss_error *error) {
  const int count = a->start[a->rows];
  int *start = SCRATCH(w, int, a->cols + 2), *col = SCRATCH(w, int, count);
  double *value = SCRATCH(w, double, count);
  if (!start || !col || !value) return out_of_memory(error);
  memset(start, 0, sizeof(int) * ((size_t)a->cols + 2));
  for (int k = 0; k < count; k++) start[a->col[k] + 2]++;
  for (int j = 2; j < a->cols + 2; j++) start[j] += start[j - 1];
  for (int i = 0; i < a->rows; i++)
    for (int k = a->start[i]; k < a->start[i + 1]; k++) {
      const int to = start[a->col[k] + 1]++;
      col[to] = i;
      value[to] = a->value[k];
    }
  *out = (ss_sparse){a->cols, a->rows, start, col, value};
  return SS_OK;
}

static ss_status rows_of_dense(const ss_cp *problem, ss_cp_workspace *w, ss_sparse *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  size_t count = 0;
  for (size_t i = 0; i < n * n; i++) count += problem->G[i] != 0;
  int *start = SCRATCH(w, int, n + 1), *col = SCRATCH(w, int, count);
  double *value = SCRATCH(w, double, count);
  if (!start || !col || !value) return out_of_memory(error);
  int k = 0;
  for (size_t i = 0; i < n; i++) {
    start[i] = k;
    for (size_t j = 0; j < n; j++) {
      const double x = problem->G[i * n + j];
      if (x == 0) continue;
      col[k] = (int)j;
      value[k++] = x;
    }
  }
  start[n] = k;
  *out = (ss_sparse){problem->n, problem->n, start, col, value};
  return SS_OK;
}

/* ---- J A^-1 J^T + R ---- */

typedef struct assembly {
  const ss_cp_operator *o;
  ss_sparse Jt;    /* m x n */
  double *inverse; /* [numbers of A] of each block */
  int *offset;     /* [m] of the block that holds this row of A, in `inverse` */
  int *body;       /* [m] that block */
  double *sum;     /* [n] accumulator of one row */
  int *found;      /* [n] its columns */
  int *mark;       /* [n] row for which a column was found last */
} assembly;

static ss_status assembly_create(assembly *a, const ss_cp_operator *o, int n, ss_cp_workspace *w, ss_error *error) {
  const int m = o->J.cols;
  *a = (assembly){.o = o};
  ss_status status = sparse_transpose(&o->J, w, &a->Jt, error);
  if (status) return status;
  size_t count = 0;
  a->offset = SCRATCH(w, int, 2 * (size_t)m + 2 * (size_t)n);
  a->sum = SCRATCH(w, double, n);
  if (!a->offset || !a->sum) return out_of_memory(error);
  a->body = a->offset + m;
  a->found = a->body + m;
  a->mark = a->found + n;
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b];
    for (int i = o->first[b]; i < o->first[b + 1]; i++) {
      a->offset[i] = (int)count;
      a->body[i] = b;
    }
    count += (size_t)size * (size_t)size;
  }
  a->inverse = SCRATCH(w, double, count);
  if (!a->inverse) return out_of_memory(error);
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b], at = a->offset[o->first[b]];
    double f[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS];
    memcpy(f, o->A + at, sizeof *f * (size_t)(size * size));
    if (!ss_dense_inverse(f, size, a->inverse + at))
      return ss_fail(error, SS_ERROR_INPUT, "block %d of A is singular", b);
  }
  for (int i = 0; i < n; i++) a->mark[i] = -1;
  return SS_OK;
}

static int add_column(assembly *a, int i, int j, int count) {
  if (a->mark[j] == i) return count;
  a->mark[j] = i;
  a->sum[j] = 0;
  a->found[count] = j;
  return count + 1;
}

/* Row i of G into a->sum; returns the number of its columns. */
static int assemble_row(assembly *a, int i, bool numbers) {
  const ss_sparse *J = &a->o->J, *R = &a->o->R;
  int count = 0;
  for (int k = J->start[i]; k < J->start[i + 1];) {
    const int b = a->body[J->col[k]], first = a->o->first[b], size = a->o->first[b + 1] - first;
    const double *inverse = a->inverse + a->offset[first];
    double x[SS_CP_BODY_ROWS] = {0}; /* J_ib A_b^-1 */
    for (; k < J->start[i + 1] && a->body[J->col[k]] == b; k++)
      for (int l = 0; numbers && l < size; l++) x[l] += J->value[k] * inverse[(J->col[k] - first) * size + l];
    for (int l = 0; l < size; l++)
      for (int e = a->Jt.start[first + l]; e < a->Jt.start[first + l + 1]; e++) {
        const int j = a->Jt.col[e];
        count = add_column(a, i, j, count);
        a->sum[j] += x[l] * a->Jt.value[e];
      }
  }
  for (int k = R->start ? R->start[i] : 0; R->start && k < R->start[i + 1]; k++) {
    count = add_column(a, i, R->col[k], count);
    a->sum[R->col[k]] += R->value[k];
  }
  return count;
}

static ss_status rows_of_operator(const ss_cp *problem, ss_cp_workspace *w, ss_sparse *out, ss_error *error) {
  const int n = problem->n;
  assembly a;
  ss_status status = assembly_create(&a, problem->factors, n, w, error);
  int *start = status ? NULL : SCRATCH(w, int, n + 1);
  if (!start) return status ? status : out_of_memory(error);
  size_t total = 0;
  for (int i = 0; i < n; i++) {
    start[i] = (int)total;
    total += (size_t)assemble_row(&a, i, false);
    if (total > INT_MAX) return ss_fail(error, SS_ERROR_UNSUPPORTED, "J A^-1 J^T has too many entries");
  }
  start[n] = (int)total;
  int *col = SCRATCH(w, int, total);
  double *value = SCRATCH(w, double, total);
  if (!col || !value) return out_of_memory(error);
  for (int i = 0; i < n; i++) a.mark[i] = -1;
  for (int i = 0; i < n; i++) {
    const int count = assemble_row(&a, i, true);
    sort_ascending(a.found, count);
    for (int k = 0; k < count; k++) {
      col[start[i] + k] = a.found[k];
      value[start[i] + k] = a.sum[a.found[k]];
    }
  }
  *out = (ss_sparse){n, n, start, col, value};
  return SS_OK;
}

ss_status storage_rows(const ss_cp *problem, ss_cp_workspace *w, ss_sparse *out, ss_error *error) {
  if (problem->sparse) {
    *out = *problem->sparse;
    return SS_OK;
  }
  ss_cp dense;
  const ss_status status = is_whole(problem) ? storage_dense(problem, w, &dense, error) : SS_OK;
  if (status) return status;
  if (is_whole(problem)) return rows_of_dense(&dense, w, out, error);
  return problem->factors ? rows_of_operator(problem, w, out, error) : rows_of_dense(problem, w, out, error);
}

static ss_status fill_dense(const ss_cp *problem, double *G, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)problem->n;
  ss_sparse rows;
  const scratch_mark mark = scratch_now(w);
  const ss_status status = storage_rows(problem, w, &rows, error);
  if (status) return status;
  memset(G, 0, sizeof *G * n * n);
  for (size_t i = 0; i < n; i++)
    for (int k = rows.start[i]; k < rows.start[i + 1]; k++) G[i * n + (size_t)rows.col[k]] = rows.value[k];
  scratch_release(w, mark);
  return SS_OK;
}

ss_status storage_dense(const ss_cp *problem, ss_cp_workspace *w, ss_cp *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = *problem;
  if (problem->G || n == 0) return SS_OK;
  if (n > SS_CP_DENSE_ROWS)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "%d rows are too many for a dense matrix", problem->n);
  double *G = SCRATCH(w, double, n *n);
  if (!G) return out_of_memory(error);
  const ss_status status = is_whole(problem) ? whole_dense(problem, G, w, error) : fill_dense(problem, G, w, error);
  if (status) return status;
  out->G = G;
  out->sparse = NULL;
  out->factors = NULL;
  return SS_OK;
}
