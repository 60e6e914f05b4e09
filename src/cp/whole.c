/* J A^-1 J^T + R with an A that does not consist of blocks: springs between bodies, or the matrix of masses and joints.
 *
 * A is factorised once, sparsely. Up to SS_CP_DENSE_ROWS rows of J, G is computed with one solution for each of them, and
 * solved like any other matrix. Above, G would be large and not sparse: the velocities v become free rows,
 *
 *     0 = A v - J^T z,   w = J v + R z + g,
 *
 * and the methods for those go on. The answer is judged with the problem as it was given. */
#include "cp/storage.h"

#include "la/sparse_factors.h"

#include <string.h>

static const ss_sparse *R_of(const ss_cp *problem) { return problem->factors->R.start ? &problem->factors->R : NULL; }

/* Column j of J A^-1 J^T from x = A^-1 J_j^T. */
static void fill_column(const ss_sparse *J, int j, const double *x, double *G) {
  const size_t n = (size_t)J->rows;
  for (size_t i = 0; i < n; i++) G[i * n + (size_t)j] = sparse_dot(J, (int)i, x);
}

ss_status whole_dense(const ss_cp *problem, double *G, ss_cp_workspace *w, ss_error *error) {
  const ss_cp_operator *o = problem->factors;
  const scratch_mark mark = scratch_now(w);
  double *x = SCRATCH(w, double, o->J.cols + 1);
  ss_sparse_factors f;
  if (!x) return out_of_memory(error);
  const ss_status status = ss_sparse_factors_create(&f, &o->whole, error);
  for (int j = 0; j < problem->n && !status; j++) {
    memset(x, 0, sizeof *x * (size_t)o->J.cols);
    for (int k = o->J.start[j]; k < o->J.start[j + 1]; k++) x[o->J.col[k]] = o->J.value[k];
    ss_sparse_factors_solve(&f, x);
    fill_column(&o->J, j, x, G);
  }
  const ss_sparse *R = R_of(problem);
  for (int i = 0; i < problem->n && R && !status; i++)
    for (int k = R->start[i]; k < R->start[i + 1]; k++)
      G[(size_t)i * (size_t)problem->n + (size_t)R->col[k]] += R->value[k];
  ss_sparse_factors_release(&f);
  scratch_release(w, mark);
  return status;
}

/* ---- velocities as free rows ---- */

typedef struct lifted {
  ss_cp cp;
  ss_sparse G;
  double *z; /* [m + n] */
} lifted;

typedef struct row_writer {
  int *start, *col, rows, count;
  double *value;
} row_writer;

static void put_row(row_writer *r, const ss_sparse *m, int i, int shift, double factor) {
  for (int k = m->start[i]; k < m->start[i + 1]; k++) {
    r->col[r->count] = shift + m->col[k];
    r->value[r->count++] = factor * m->value[k];
  }
}

static ss_status lift(const ss_cp *problem, ss_cp_workspace *w, lifted *out, ss_error *error) {
  const ss_cp_operator *o = problem->factors;
  const ss_sparse *R = R_of(problem);
  const int n = problem->n, m = o->J.cols;
  const size_t rows = (size_t)n + (size_t)m;
  const size_t entries = (size_t)o->whole.start[m] + 2 * (size_t)o->J.start[n] + (R ? (size_t)R->start[n] : 0);
  ss_sparse Jt;
  row_writer r = {SCRATCH(w, int, rows + 1), SCRATCH(w, int, entries), 0, 0, SCRATCH(w, double, entries)};
  double *g = SCRATCH(w, double, 2 * rows);
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks + 1);
  if (!r.start || !r.col || !r.value || !g || !blocks) return out_of_memory(error);
  const ss_status status = sparse_transpose(&o->J, w, &Jt, error);
  if (status) return status;
  for (int i = 0; i < m; i++) {
    r.start[i] = r.count;
    put_row(&r, &o->whole, i, 0, 1);
    put_row(&r, &Jt, i, m, -1);
    g[i] = 0;
  }
  for (int i = 0; i < n; i++) {
    r.start[m + i] = r.count;
    put_row(&r, &o->J, i, 0, 1);
    if (R) put_row(&r, R, i, m, 1);
    g[m + i] = problem->g[i];
  }
  r.start[rows] = r.count;
  blocks[0] = (ss_block){.kind = SS_BLOCK_FREE, .first = 0, .size = m};
  for (int b = 0; b < problem->n_blocks; b++) {
    blocks[b + 1] = problem->blocks[b];
    blocks[b + 1].first += m;
  }
  out->z = g + rows;
  out->G = (ss_sparse){(int)rows, (int)rows, r.start, r.col, r.value};
  out->cp = (ss_cp){.n = (int)rows, .n_blocks = problem->n_blocks + 1, .g = g, .blocks = blocks, .sparse = &out->G};
  return SS_OK;
}

/* v = A^-1 J^T z, where z is a start. */
static ss_status start_velocities(const ss_cp_operator *o, const double *z, double *v, ss_error *error) {
  ss_sparse_factors f;
  const ss_status status = ss_sparse_factors_create(&f, &o->whole, error);
  memset(v, 0, sizeof *v * (size_t)o->J.cols);
  for (int i = 0; i < o->J.rows; i++)
    for (int k = o->J.start[i]; k < o->J.start[i + 1]; k++) v[o->J.col[k]] += o->J.value[k] * z[i];
  if (!status) ss_sparse_factors_solve(&f, v);
  ss_sparse_factors_release(&f);
  return status;
}

static ss_status solve_lifted(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  const size_t bytes = sizeof *z * (size_t)problem->n;
  const int m = problem->factors->J.cols;
  lifted l;
  ss_status status = lift(problem, w, &l, error);
  if (!status && warm) status = start_velocities(problem->factors, z, l.z, error);
  if (status) return status;
  memcpy(l.z + m, z, bytes);
  status = ss_cp_solve(&l.cp, options, warm, l.z, w, result, error);
  memcpy(z, l.z + m, bytes);
  return status;
}

ss_status whole_solve(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                      ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  ss_cp dense;
  ss_status status = SS_OK;
  if (problem->n > SS_CP_DENSE_ROWS) {
    status = solve_lifted(problem, options, warm, z, w, result, error);
  } else {
    status = storage_dense(problem, w, &dense, error);
    if (!status) status = ss_cp_solve(&dense, options, warm, z, w, result, error);
  }
  scratch_release(w, mark);
  if (status || result->outcome == SS_NOT_ADMITTED) return status;
  result->residual = ss_cp_judge(problem, z, NULL);
  if (result->residual <= options->tolerance)
    result->outcome = SS_SOLVED;
  else if (result->outcome == SS_SOLVED)
    result->outcome = SS_STALLED;
  return SS_OK;
}
