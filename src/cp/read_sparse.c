/* Matrices of files that are too large to be dense: entries, then rows; and global problems M v = f + H r, w = H^T v + b
 * with such matrices, posed in the contacts alone.
 *
 * Where M falls into blocks of at most SS_CP_BODY_ROWS rows (bodies without joints), the problem is the operator H^T M^-1 H;
 * its unknowns v are sorted by blocks. Otherwise M is factored and W = H^T M^-1 H computed column by column. */
#include "cp/block_lu.h"
#include "cp/joined.h"

#include "la/dissect.h"
#include "la/factor.h"

#include <math.h>
#include <string.h>

static ss_status no_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

ss_status matrix_create_entries(tokens *t, int rows, int cols, size_t entries, matrix *out, ss_error *error) {
  static const size_t dense = (size_t)1 << 20, most = (size_t)1 << 28;
  if ((size_t)rows * (size_t)cols <= dense) return matrix_create(t, rows, cols, out, error);
  if (entries > most) return tokens_fail(t, error, "the matrix is too large");
  *out = (matrix){.rows = rows,
                  .cols = cols,
                  .i = SS_ARENA_ARRAY(t->arena, int, entries + 1),
                  .j = SS_ARENA_ARRAY(t->arena, int, entries + 1),
                  .x = SS_ARENA_ARRAY(t->arena, double, entries + 1),
                  .capacity = entries};
  return out->i && out->j && out->x ? SS_OK : no_memory(error);
}

bool matrix_add(matrix *m, int i, int j, double x) {
  if (i < 0 || i >= m->rows || j < 0 || j >= m->cols) return false;
  if (m->a) {
    m->a[(size_t)i * (size_t)m->cols + (size_t)j] += x;
    return true;
  }
  if (m->count == m->capacity) return false;
  m->i[m->count] = i;
  m->j[m->count] = j;
  m->x[m->count++] = x;
  return true;
}

/* The entries of a dense matrix that are not zero; one by its entries as it is. */
static ss_status entries_of(tokens *t, const matrix *m, matrix *out, ss_error *error) {
  *out = *m;
  if (!m->a) return SS_OK;
  size_t count = 0;
  for (size_t k = 0; k < (size_t)m->rows * (size_t)m->cols; k++) count += m->a[k] != 0;
  *out = (matrix){.rows = m->rows,
                  .cols = m->cols,
                  .i = SS_ARENA_ARRAY(t->arena, int, count + 1),
                  .j = SS_ARENA_ARRAY(t->arena, int, count + 1),
                  .x = SS_ARENA_ARRAY(t->arena, double, count + 1),
                  .capacity = count};
  if (!out->i || !out->j || !out->x) return no_memory(error);
  for (int i = 0; i < m->rows; i++)
    for (int j = 0; j < m->cols; j++) {
      const double x = m->a[(size_t)i * (size_t)m->cols + (size_t)j];
      if (x != 0) (void)matrix_add(out, i, j, x);
    }
  return SS_OK;
}

/* order: the entries sorted by key, equal ones in the order they had in `from` (NULL: their own). */
static void sort_entries(const int *key, int keys, const int *from, int count, int *at, int *order) {
  memset(at, 0, sizeof *at * ((size_t)keys + 1));
  for (int k = 0; k < count; k++) at[key[k] + 1]++;
  for (int k = 0; k < keys; k++) at[k + 1] += at[k];
  for (int k = 0; k < count; k++) {
    const int e = from ? from[k] : k;
    order[at[key[e]]++] = e;
  }
}

ss_status matrix_rows(tokens *t, const matrix *m, ss_sparse *out, ss_error *error) {
  const int count = (int)m->count, most = m->rows > m->cols ? m->rows : m->cols;
  int *start = SS_ARENA_ARRAY(t->arena, int, m->rows + 1), *col = SS_ARENA_ARRAY(t->arena, int, count + 1);
  double *value = SS_ARENA_ARRAY(t->arena, double, count + 1);
  int *work = ss_alloc(sizeof(int) * (2 * (size_t)count + (size_t)most + 2));
  if (!start || !col || !value || !work) {
    ss_free(work);
    return no_memory(error);
  }
  int *by_column = work, *by_row = work + count, *at = by_row + count;
  sort_entries(m->j, m->cols, NULL, count, at, by_column);
  sort_entries(m->i, m->rows, by_column, count, at, by_row);
  int used = 0;
  for (int k = 0, row = 0; k < count; k++) {
    const int e = by_row[k];
    while (row < m->i[e]) start[++row] = used;
    if (used > start[row] && col[used - 1] == m->j[e]) {
      value[used - 1] += m->x[e];
    } else {
      col[used] = m->j[e];
      value[used++] = m->x[e];
    }
  }
  const int last = count ? m->i[by_row[count - 1]] : 0;
  for (int row = last; row < m->rows; row++) start[row + 1] = used;
  ss_free(work);
  *out = (ss_sparse){m->rows, m->cols, start, col, value};
  return SS_OK;
}

/* ---- global problems ---- */

typedef struct global {
  int m, n, parts; /* velocities, rows of the contacts, blocks of M */
  ss_sparse M, J;  /* J = H^T */
  const double *f, *b;
  int *part;  /* [m] block of each velocity */
  int *place; /* [m] its place when they are sorted by blocks */
  int *first; /* [parts + 1] */
} global;

static ss_status find_parts(tokens *t, global *p, int *largest, ss_error *error) {
  const size_t m = (size_t)p->m;
  p->part = SS_ARENA_ARRAY(t->arena, int, 4 * m + 2);
  if (!p->part) return no_memory(error);
  p->place = p->part + m;
  p->first = p->place + m;
  int *queue = p->first + m + 1;
  p->parts = ss_components(&(ss_graph){p->m, p->M.start, p->M.col}, p->part, queue);
  for (int i = 0; i < p->m; i++) p->first[p->part[i] + 1]++;
  *largest = 0;
  for (int k = 0; k < p->parts; k++) {
    if (p->first[k + 1] > *largest) *largest = p->first[k + 1];
    p->first[k + 1] += p->first[k];
  }
  memcpy(queue, p->first, sizeof(int) * (size_t)p->parts);
  for (int i = 0; i < p->m; i++) p->place[i] = queue[p->part[i]]++;
  return SS_OK;
}

/* J with its columns sorted by blocks. */
static ss_status sort_columns(tokens *t, const global *p, ss_sparse *out, ss_error *error) {
  matrix sorted;
  const int count = p->J.start[p->n];
  sorted = (matrix){.rows = p->n,
                    .cols = p->m,
                    .i = SS_ARENA_ARRAY(t->arena, int, count + 1),
                    .j = SS_ARENA_ARRAY(t->arena, int, count + 1),
                    .x = SS_ARENA_ARRAY(t->arena, double, count + 1),
                    .capacity = (size_t)count};
  if (!sorted.i || !sorted.j || !sorted.x) return no_memory(error);
  for (int i = 0; i < p->n; i++)
    for (int k = p->J.start[i]; k < p->J.start[i + 1]; k++)
      (void)matrix_add(&sorted, i, p->place[p->J.col[k]], p->J.value[k]);
  return matrix_rows(t, &sorted, out, error);
}

/* The operator, and v = M^-1 f in the order of the file. */
static ss_status pose_operator(tokens *t, const global *p, ss_cp *problem, double *v, ss_error *error) {
  ss_cp_operator *o = SS_ARENA_ARRAY(t->arena, ss_cp_operator, 1);
  size_t numbers = 0;
  for (int k = 0; k < p->parts; k++) {
    const size_t size = (size_t)(p->first[k + 1] - p->first[k]);
    numbers += size * size;
  }
  double *A = SS_ARENA_ARRAY(t->arena, double, numbers + 1), *block = A;
  if (!o || !A) return no_memory(error);
  int *member = SS_ARENA_ARRAY(t->arena, int, p->m + 1); /* velocity at each place */
  if (!member) return no_memory(error);
  for (int i = 0; i < p->m; i++) member[p->place[i]] = i;
  for (int k = 0; k < p->parts; k++) {
    const int size = p->first[k + 1] - p->first[k];
    double a[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS], y[SS_CP_BODY_ROWS];
    int pivot[SS_CP_BODY_ROWS];
    for (int i = 0; i < size; i++) {
      const int from = member[p->first[k] + i];
      y[i] = p->f[from];
      for (int e = p->M.start[from]; e < p->M.start[from + 1]; e++)
        block[i * size + p->place[p->M.col[e]] - p->first[k]] = p->M.value[e];
    }
    memcpy(a, block, sizeof *a * (size_t)(size * size));
    if (!ss_dense_factor(a, size, pivot)) return tokens_fail(t, error, "M is singular");
    ss_dense_solve(a, size, pivot, y, 1);
    for (int i = 0; i < size; i++) v[member[p->first[k] + i]] = y[i];
    block += (ptrdiff_t)size * size;
  }
  *o = (ss_cp_operator){.n_bodies = p->parts, .first = p->first, .A = A};
  problem->factors = o;
  return sort_columns(t, p, &o->J, error);
}

/* The factors of M, node by node of one row. */
static ss_status factor_mass(tokens *t, const global *p, ss_cp_workspace *w, block_lu *lu, ss_error *error) {
  int *size = SCRATCH(w, int, p->m);
  bool affordable;
  if (!size) return no_memory(error);
  for (int i = 0; i < p->m; i++) size[i] = 1;
  const ss_status status = block_lu_analyse(lu, p->m, size, p->M.start, p->M.col, 1e13, w, &affordable, error);
  if (status) return status;
  if (!affordable) return ss_fail(error, SS_ERROR_UNSUPPORTED, "M is too large to be factored");
  block_lu_clear(lu);
  for (int i = 0; i < p->m; i++)
    for (int k = p->M.start[i]; k < p->M.start[i + 1]; k++) *block_lu_entry(lu, i, p->M.col[k]) = p->M.value[k];
  return block_lu_factor(lu) ? SS_OK : tokens_fail(t, error, "M cannot be factored");
}

/* The pattern of M must be symmetric for that. */
static bool symmetric_pattern(const ss_sparse *M) {
  for (int i = 0; i < M->rows; i++)
    for (int k = M->start[i]; k < M->start[i + 1]; k++) {
      const int j = M->col[k];
      int low = M->start[j], high = M->start[j + 1];
      while (low < high) {
        const int middle = low + (high - low) / 2;
        if (M->col[middle] < i)
          low = middle + 1;
        else
          high = middle;
      }
      if (low == M->start[j + 1] || M->col[low] != i) return false;
    }
  return true;
}

/* W by its columns: row i of J meets M^-1 J_j^T only where they have a block of M in common. */
static ss_status pose_matrix(tokens *t, const global *p, ss_cp *problem, double *v, ss_error *error) {
  static const size_t most = (size_t)1 << 27;
  ss_cp_workspace *w = NULL;
  block_lu lu;
  matrix W = {.rows = p->n, .cols = p->n};
  ss_sparse *G = SS_ARENA_ARRAY(t->arena, ss_sparse, 1);
  double *x = SS_ARENA_ARRAY(t->arena, double, 2 * (size_t)p->m + 2), *y = x ? x + p->m : NULL;
  if (!G || !x) return no_memory(error);
  if (!symmetric_pattern(&p->M)) return tokens_fail(t, error, "the pattern of M is not symmetric");
  ss_status status = ss_cp_workspace_create(&w, error);
  if (!status) status = factor_mass(t, p, w, &lu, error);
  if (!status) block_lu_solve(&lu, p->f, v);
  for (int j = 0; j < p->n && !status; j++) {
    memset(x, 0, sizeof *x * (size_t)p->m);
    for (int k = p->J.start[j]; k < p->J.start[j + 1]; k++) x[p->J.col[k]] = p->J.value[k];
    block_lu_solve(&lu, x, y);
    if (W.count + (size_t)p->n > W.capacity) {
      W.capacity = 2 * W.capacity + 4 * (size_t)p->n;
      int *grown_i = ss_realloc(W.i, sizeof *W.i * W.capacity), *grown_j = ss_realloc(W.j, sizeof *W.j * W.capacity);
      double *grown_x = ss_realloc(W.x, sizeof *W.x * W.capacity);
      if (grown_i) W.i = grown_i;
      if (grown_j) W.j = grown_j;
      if (grown_x) W.x = grown_x;
      if (!grown_i || !grown_j || !grown_x) status = no_memory(error);
      if (W.count > most) status = ss_fail(error, SS_ERROR_UNSUPPORTED, "H^T M^-1 H has too many entries");
    }
    for (int i = 0; i < p->n && !status; i++) {
      double sum = 0;
      for (int k = p->J.start[i]; k < p->J.start[i + 1]; k++) sum += p->J.value[k] * y[p->J.col[k]];
      if (sum != 0) (void)matrix_add(&W, i, j, sum);
    }
  }
  if (!status) status = matrix_rows(t, &W, G, error);
  problem->sparse = G;
  ss_free(W.i);
  ss_free(W.j);
  ss_free(W.x);
  ss_cp_workspace_destroy(w);
  return status;
}

static ss_status rows_of(tokens *t, const matrix *m, bool transposed, ss_sparse *out, ss_error *error) {
  matrix e;
  const ss_status status = entries_of(t, m, &e, error);
  if (status) return status;
  const matrix turned = {.rows = e.cols, .cols = e.rows, .i = e.j, .j = e.i, .x = e.x, .count = e.count};
  return matrix_rows(t, transposed ? &turned : &e, out, error);
}

ss_status file_global_sparse(tokens *t, const global_contacts *c, ss_cp_file *out, ss_error *error) {
  global p = {.m = c->M->rows, .n = c->d * c->contacts, .f = c->f, .b = c->w};
  int largest = 0;
  double *v = SS_ARENA_ARRAY(t->arena, double, p.m + 1), *g = SS_ARENA_ARRAY(t->arena, double, p.n + 1);
  ss_block *blocks = SS_ARENA_ARRAY(t->arena, ss_block, c->contacts + 1);
  if (!v || !g || !blocks) return no_memory(error);
  friction_blocks(blocks, 0, c->d, c->contacts, c->mu);
  ss_status status = rows_of(t, c->M, false, &p.M, error);
  if (!status) status = rows_of(t, c->H, true, &p.J, error);
  if (!status) status = find_parts(t, &p, &largest, error);
  out->problem = (ss_cp){.n = p.n, .g = g, .n_blocks = c->contacts, .blocks = blocks};
  if (!status)
    status = largest <= SS_CP_BODY_ROWS ? pose_operator(t, &p, &out->problem, v, error)
                                        : pose_matrix(t, &p, &out->problem, v, error);
  for (int i = 0; i < p.n && !status; i++) {
    g[i] = c->w[i];
    for (int k = p.J.start[i]; k < p.J.start[i + 1]; k++) g[i] += p.J.value[k] * v[p.J.col[k]];
  }
  return status;
}
