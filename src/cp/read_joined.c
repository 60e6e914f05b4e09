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
#include "cp/joined.h"

#include <math.h>

enum { ROLLING = 5, WITH_COPY = 6, COPY = 3 };

static int place(const joined *j, int row) {
  if (row < j->equations || j->d != ROLLING) return row;
  const int k = row - j->equations;
  return j->equations + k / ROLLING * WITH_COPY + k % ROLLING + (k % ROLLING >= COPY);
}

ss_status joined_create(tokens *t, int equations, int d, int contacts, size_t entries, joined *out, ss_error *error) {
  *out = (joined){.equations = equations, .d = d, .contacts = contacts};
  if (d != 2 && d != 3 && d != ROLLING)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "contacts of dimension %d in this form", d);
  const int n = equations + (d == ROLLING ? WITH_COPY : d) * contacts;
  out->g = SS_ARENA_ARRAY(t->arena, double, n + 1);
  if (!out->g) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return matrix_create_entries(t, n, n, entries + (d == ROLLING ? 2 * (size_t)contacts : 0), &out->A, error);
}

size_t joined_entries(const matrix *m) { return m->a ? (size_t)m->rows * (size_t)m->cols : m->count; }

static void add_entry(joined *j, const part *p, int i, int k, double x) {
  if (x == 0) return;
  const int row = p->row + (p->transposed ? k : i), col = p->col + (p->transposed ? i : k);
  (void)matrix_add(&j->A, place(j, row), place(j, col), p->factor * x);
}

void joined_add(joined *j, const part *p) {
  const matrix *m = p->m;
  for (size_t e = 0; !m->a && e < m->count; e++) add_entry(j, p, m->i[e], m->j[e], m->x[e]);
  for (int i = 0; m->a && i < m->rows; i++)
    for (int k = 0; k < m->cols; k++) add_entry(j, p, i, k, m->a[(size_t)i * (size_t)m->cols + (size_t)k]);
}

void joined_vector(joined *j, int row, int count, double factor, const double *x) {
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

ss_status file_joined(tokens *t, joined *j, const double *mu, const double *mu_rolling, ss_cp_file *out,
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
