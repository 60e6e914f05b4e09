/* Contacts whose rows come after equations with free unknowns (velocities, multipliers of joints) in one matrix, put together
 * from parts; contacts with rolling friction among them.
 *
 * Rolling friction has five rows per contact (normal, two tangential, two rolling) and two discs,
 *
 *     0 <= z_n perp w_n >= 0,   z_t in mu z_n D maximises -w_t . z_t,   z_m in mu_r z_n D maximises -w_m . z_m.
 *
 * A friction block has one disc. The second one gets a block of its own, with a copy of the normal impulse in front:
 *
 *     rows n t1 t2 | n' m1 m2,   w_n' = s (z_n' - z_n),   0 <= z_n' perp w_n' >= 0   gives   z_n' = z_n,
 *
 * and no other row sees z_n'. So contacts x 5 rows become contacts x 6. s is the size of W_nn, so that all speeds are alike. */
#include "problem_file/global_friction.h"

#include "cp/block_lu.h"
#include "la/dissect.h"
#include "la/dense.h"

#include <math.h>
#include <string.h>

/* Global problems M v = f + H r, w = H^T v + b with matrices by their entries, posed in the contacts alone.
 *
 * Where M falls into blocks of at most SS_CP_BODY_ROWS rows (bodies without joints), the problem is the operator H^T M^-1 H;
 * its unknowns v are sorted by blocks. Otherwise M is factored and W = H^T M^-1 H computed column by column. */

static ss_status no_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

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
    if (!ss_dense_factor(a, size, 0, pivot)) return tokens_fail(t, error, "M is singular");
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

/* The same with matrices by their entries, without joints, and without the velocities as unknowns (global_friction.c). */
static ss_status file_global_sparse(tokens *t, const global_contacts *c, ss_cp_file *out, ss_error *error) {
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

/* Equations and contacts put together. */
typedef struct joined {
  int equations, d, contacts; /* d = 5: rolling friction */
  matrix A;                   /* all rows; those of the contacts after the equations */
  double *g;
} joined;

/* `m`, or its transpose, times a factor, at a place of the whole: rows as the file counts them, d per contact. */
typedef struct part {
  const matrix *m;
  int row, col;
  double factor;
  bool transposed;
} part;

enum { ROLLING = 5, WITH_COPY = 6, COPY = 3 };

static int place(const joined *j, int row) {
  if (row < j->equations || j->d != ROLLING) return row;
  const int k = row - j->equations;
  return j->equations + k / ROLLING * WITH_COPY + k % ROLLING + (k % ROLLING >= COPY);
}

static ss_status joined_create(tokens *t, int equations, int d, int contacts, size_t entries, joined *out,
                               ss_error *error) {
  *out = (joined){.equations = equations, .d = d, .contacts = contacts};
  if (d != 2 && d != 3 && d != ROLLING)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "contacts of dimension %d in this form", d);
  const int n = equations + (d == ROLLING ? WITH_COPY : d) * contacts;
  out->g = SS_ARENA_ARRAY(t->arena, double, n + 1);
  if (!out->g) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return matrix_create_entries(t, n, n, entries + (d == ROLLING ? 2 * (size_t)contacts : 0), &out->A, error);
}

static size_t joined_entries(const matrix *m) { return m->a ? (size_t)m->rows * (size_t)m->cols : m->count; }

static void add_entry(joined *j, const part *p, int i, int k, double x) {
  if (x == 0) return;
  const int row = p->row + (p->transposed ? k : i), col = p->col + (p->transposed ? i : k);
  (void)matrix_add(&j->A, place(j, row), place(j, col), p->factor * x);
}

static void joined_add(joined *j, const part *p) {
  const matrix *m = p->m;
  for (size_t e = 0; !m->a && e < m->count; e++) add_entry(j, p, m->i[e], m->j[e], m->x[e]);
  for (int i = 0; m->a && i < m->rows; i++)
    for (int k = 0; k < m->cols; k++) add_entry(j, p, i, k, m->a[(size_t)i * (size_t)m->cols + (size_t)k]);
}

static void joined_vector(joined *j, int row, int count, double factor, const double *x) {
  for (int i = 0; i < count; i++) j->g[place(j, row + i)] = factor * x[i];
}

static double entry(const matrix *A, size_t e, int *i, int *k) {
  *i = A->a ? (int)(e / (size_t)A->cols) : A->i[e];
  *k = A->a ? (int)(e % (size_t)A->cols) : A->j[e];
  return A->a ? A->a[e] : A->x[e];
}

/* size[i]: the diagonal of the contacts' rows, and what the equations add to it, taken for themselves: the sum of
 * a_ik a_ki / a_kk. */
static ss_status diagonal_sizes(tokens *t, const joined *j, double **out, ss_error *error) {
  const matrix *A = &j->A;
  const size_t count = joined_entries(A);
  double *size = SS_ARENA_ARRAY(t->arena, double, A->rows + 1);
  double *diagonal = SS_ARENA_ARRAY(t->arena, double, A->rows + 1);
  if (!size || !diagonal) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  int i, k;
  for (size_t e = 0; e < count; e++) {
    const double x = entry(A, e, &i, &k);
    if (i == k) diagonal[i] += x;
  }
  for (size_t e = 0; e < count; e++) {
    const double x = entry(A, e, &i, &k);
    if (i >= j->equations && k < j->equations && diagonal[k] != 0) size[i] += x * x / fabs(diagonal[k]);
  }
  for (i = 0; i < A->rows; i++) size[i] += fabs(diagonal[i]);
  *out = size;
  return SS_OK;
}

static ss_status copy_normals(tokens *t, joined *j, ss_error *error) {
  double *size = NULL;
  const ss_status status = diagonal_sizes(t, j, &size, error);
  for (int c = 0; c < j->contacts && !status; c++) {
    const int normal = j->equations + WITH_COPY * c, copy = normal + COPY;
    const double s = size[normal] > 0 && isfinite(size[normal]) ? size[normal] : 1;
    (void)matrix_add(&j->A, copy, copy, s);
    (void)matrix_add(&j->A, copy, normal, -s);
  }
  return status;
}

static int fill_blocks(const joined *j, const double *mu, const double *mu_rolling, ss_block *blocks) {
  const int discs = j->d == ROLLING ? 2 : 1, rows = j->d == ROLLING ? COPY : j->d;
  int count = 0;
  if (j->equations) blocks[count++] = (ss_block){.kind = SS_BLOCK_FREE, .size = j->equations};
  for (int c = 0; c < discs * j->contacts; c++)
    blocks[count++] = (ss_block){.kind = SS_BLOCK_FRICTION,
                                 .first = j->equations + rows * c,
                                 .size = rows,
                                 .cone = SS_CONE_QUADRATIC,
                                 .mu = c % discs ? mu_rolling[c / discs] : mu[c / discs]};
  return count;
}

static ss_status file_joined(tokens *t, joined *j, const double *mu, const double *mu_rolling, ss_cp_file *out,
                             ss_error *error) {
  ss_block *blocks = SS_ARENA_ARRAY(t->arena, ss_block, 2 * (size_t)j->contacts + 1);
  ss_sparse *rows = SS_ARENA_ARRAY(t->arena, ss_sparse, 1);
  if (!blocks || !rows) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const ss_status status = j->d == ROLLING ? copy_normals(t, j, error) : SS_OK;
  if (status) return status;
  out->problem =
      (ss_cp){.n = j->A.rows, .n_blocks = fill_blocks(j, mu, mu_rolling, blocks), .g = j->g, .blocks = blocks};
  out->problem.G = j->A.a;
  if (j->A.a) return SS_OK;
  out->problem.sparse = rows;
  return matrix_rows(t, &j->A, rows, error);
}

ss_status file_rolling(tokens *t, int contacts, const matrix *W, const double *q, const double *mu,
                       const double *mu_rolling, ss_cp_file *out, ss_error *error) {
  if (W->rows != ROLLING * contacts || W->cols != W->rows)
    return tokens_fail(t, error, "the matrix does not fit the contacts");
  joined j;
  const ss_status status = joined_create(t, 0, ROLLING, contacts, joined_entries(W), &j, error);
  if (status) return status;
  joined_add(&j, &(part){W, 0, 0, 1, false});
  joined_vector(&j, 0, W->rows, 1, q);
  out->kind = "rolling-friction";
  return file_joined(t, &j, mu, mu_rolling, out, error);
}

/* V^T r + R lambda + s = 0,  u = W r + V lambda + q. */
ss_status file_mixed_friction(tokens *t, const mixed_contacts *p, ss_cp_file *out, ss_error *error) {
  const int rows = p->d * p->contacts, equations = p->R->rows;
  if (p->W->rows != rows || p->W->cols != rows || p->R->cols != equations || p->V->rows != rows ||
      p->V->cols != equations)
    return tokens_fail(t, error, "the matrices do not fit together");
  joined j;
  const size_t entries = joined_entries(p->W) + 2 * joined_entries(p->V) + joined_entries(p->R);
  const ss_status status = joined_create(t, equations, p->d, p->contacts, entries, &j, error);
  if (status) return status;
  joined_add(&j, &(part){p->R, 0, 0, 1, false});
  joined_add(&j, &(part){p->V, 0, equations, 1, true});
  joined_add(&j, &(part){p->V, equations, 0, 1, false});
  joined_add(&j, &(part){p->W, equations, equations, 1, false});
  joined_vector(&j, 0, equations, 1, p->s);
  joined_vector(&j, equations, rows, 1, p->q);
  out->kind = "friction";
  return file_joined(t, &j, p->mu, NULL, out, error);
}

/* M v = f + H r + N lambda,  N^T v + b = 0,  u = H^T v + w. */
ss_status file_global_friction(tokens *t, const global_contacts *p, ss_cp_file *out, ss_error *error) {
  const int m = p->M->rows, joints = p->N ? p->N->cols : 0, rows = p->d * p->contacts, equations = m + joints;
  if (p->M->cols != m || p->H->rows != m || p->H->cols != rows || (p->N && p->N->rows != m))
    return tokens_fail(t, error, "the matrices do not fit together");
  out->kind = p->d == ROLLING ? "global-rolling-friction" : "global-friction";
  if ((p->d == 2 || p->d == 3) && !p->N && (!p->M->a || !p->H->a)) return file_global_sparse(t, p, out, error);
  joined j;
  const size_t entries = joined_entries(p->M) + 2 * joined_entries(p->H) + (p->N ? 2 * joined_entries(p->N) : 0);
  const ss_status status = joined_create(t, equations, p->d, p->contacts, entries, &j, error);
  if (status) return status;
  joined_add(&j, &(part){p->M, 0, 0, 1, false});
  joined_add(&j, &(part){p->H, 0, equations, -1, false});
  joined_add(&j, &(part){p->H, equations, 0, 1, true});
  joined_vector(&j, 0, m, -1, p->f);
  joined_vector(&j, equations, rows, 1, p->w);
  if (p->N) {
    joined_add(&j, &(part){p->N, 0, m, -1, false});
    joined_add(&j, &(part){p->N, m, 0, 1, true});
    joined_vector(&j, m, joints, 1, p->b);
  }
  return file_joined(t, &j, p->mu, p->mu_rolling, out, error);
}
