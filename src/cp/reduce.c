/* Elimination of the free rows: z_f = -G_ff^-1 (G_fc z_c + g_f), leaving the Schur complement for the contacts.
 *
 * G_ff is positive semi-definite, in general unsymmetric, and singular where joints close loops. Redundant consistent
 * rows show as zero pivots without coupling: their multiplier is 0. Zero pivots with coupling to the contacts
 * (circuits, saddle-point problems) are kept and split into a difference of two nonnegative variables by the expansion.
 * Assumes that the scaled pivots of redundant rows come out below the rank tolerance; where they do not, the
 * multipliers are those of rounding errors and the judge sees it. */
#include "cp/reduce.h"

#include "cp/dense.h"
#include "cp/storage.h"

static const double coupling_tolerance = 1e-10;
static const double noise = 0x1p-46; /* 64 units in the last place of the scaled diagonal */

static int order_rows(const ss_cp *problem, int *order) {
  int place = 0, n_free = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (int b = 0; b < problem->n_blocks; b++) {
      const ss_block *block = &problem->blocks[b];
      if (block_is_free(block) != (pass == 0)) continue;
      for (int i = 0; i < block->size; i++) order[place++] = block->first + i;
    }
    if (pass == 0) n_free = place;
  }
  return n_free;
}

/* All tangential rows of a contact get the same scale: directions stay what they are. */
static void row_scales(const ss_cp *problem, const int *order, double *scale_of_row, double *scale) {
  if (problem->G)
    dense_scales(problem->G, problem->n, problem->n, scale_of_row, scale);
  else
    for (int i = 0; i < problem->n; i++) scale_of_row[i] = inverse_root_power(sparse_diagonal(problem->sparse, i));
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION) equal_tangents(block, scale_of_row + block->first);
  }
  for (int i = 0; i < problem->n; i++) scale[i] = scale_of_row[order[i]];
}

static void load(reduction *r) {
  const ss_cp *problem = r->problem;
  const int n = problem->n;
  for (int i = 0; i < n; i++) {
    const double *row = problem->G + (size_t)r->order[i] * (size_t)n;
    double *a = r->A + (size_t)i * (size_t)r->stride;
    const double s = r->scale[i];
    for (int j = 0; j < n; j++) a[j] = s * row[r->order[j]] * r->scale[j];
    a[n] = s * problem->g[r->order[i]];
  }
}

static bool coupled(const reduction *r, int place) {
  const int n = r->problem->n;
  for (int j = r->n_free; j < n; j++)
    if (fabs(r->A[(size_t)place * (size_t)r->stride + (size_t)j]) > coupling_tolerance ||
        fabs(r->A[(size_t)j * (size_t)r->stride + (size_t)place]) > coupling_tolerance)
      return true;
  return false;
}

/* Moves the free rows that are settled (uncoupled: z = 0) before those that are kept. */
static void sort_leftovers(reduction *r) {
  const int n = r->problem->n;
  r->rest = r->rank;
  for (int p = r->rank; p < r->n_free; p++) {
    if (coupled(r, p)) continue;
    const int to = r->rest++;
    if (to == p) continue;
    double *a = r->A + (size_t)p * (size_t)r->stride, *b = r->A + (size_t)to * (size_t)r->stride;
    for (int j = 0; j <= n; j++) {
      const double x = a[j];
      a[j] = b[j];
      b[j] = x;
    }
    for (int i = 0; i < n; i++) {
      double *line = r->A + (size_t)i * (size_t)r->stride;
      const double x = line[p];
      line[p] = line[to];
      line[to] = x;
    }
    const int row = r->row[p], col = r->col[p];
    r->row[p] = r->row[to];
    r->col[p] = r->col[to];
    r->row[to] = row;
    r->col[to] = col;
  }
}

/* Entries of the Schur complement that are nothing but the elimination's rounding errors become zero: the scaling that
 * follows would blow them up to pivots (redundant contacts on few degrees of freedom). */
static void drop_noise(reduction *r) {
  const int n = r->problem->n;
  for (int i = r->rank; r->rank > 0 && i < n; i++) {
    double *row = r->A + (size_t)i * (size_t)r->stride;
    for (int j = r->rank; j < n; j++)
      if (fabs(row[j]) < noise) row[j] = 0;
  }
}

/* Everything but A. */
static ss_status prepare(const ss_cp *problem, ss_cp_workspace *w, reduction *out, ss_error *error) {
  const int n = problem->n;
  *out = (reduction){.problem = problem, .stride = n + 1};
  double *scales = SCRATCH(w, double, 2 * n);
  int *places = SCRATCH(w, int, 3 * n);
  if (!scales || !places) return out_of_memory(error);
  out->scale = scales;
  out->order = places;
  out->row = places + n;
  out->col = places + 2 * n;
  out->n_free = order_rows(problem, out->order);
  row_scales(problem, out->order, scales + n, out->scale);
  return SS_OK;
}

static ss_status eliminate(reduction *r, double tolerance, ss_cp_workspace *w, ss_error *error) {
  const int n = r->problem->n;
  r->A = SCRATCH(w, double, (size_t)n *(size_t)r->stride);
  if (!r->A) return out_of_memory(error);
  load(r);
  r->rank = dense_eliminate(r->A, n, n + 1, r->stride, r->n_free, tolerance, r->row, r->col);
  drop_noise(r);
  sort_leftovers(r);
  return SS_OK;
}

ss_status reduce_free_rows(const ss_cp *problem, double tolerance, ss_cp_workspace *w, reduction *out,
                           ss_error *error) {
  const ss_status status = prepare(problem, w, out, error);
  return status ? status : eliminate(out, tolerance, w, error);
}

ss_status reduce_if_free_rows(const ss_cp *problem, double tolerance, ss_cp_workspace *w, reduction *out,
                              ss_error *error) {
  const ss_status status = prepare(problem, w, out, error);
  return status || out->n_free == 0 ? status : eliminate(out, tolerance, w, error);
}

ss_status reduction_recover(const reduction *r, const double *z_rest, double *z, ss_cp_workspace *w, ss_error *error) {
  const int n = r->problem->n;
  const scratch_mark mark = scratch_now(w);
  double *x = SCRATCH(w, double, n);
  if (!x) return out_of_memory(error);
  for (int i = r->rank; i < r->rest; i++) x[i] = 0;
  for (int i = r->rest; i < n; i++) x[i] = z_rest[i - r->rest];
  for (int i = 0; i < r->rank; i++) {
    const double *row = r->A + (size_t)i * (size_t)r->stride;
    double sum = row[n];
    for (int j = r->rest; j < n; j++) sum += row[j] * x[j];
    x[i] = -sum;
  }
  dense_back(r->A, r->stride, r->rank, x);
  for (int i = 0; i < r->n_free; i++) z[r->order[r->col[i]]] = r->scale[r->col[i]] * x[i];
  for (int i = r->n_free; i < n; i++) z[r->order[i]] = r->scale[i] * x[i];
  scratch_release(w, mark);
  return SS_OK;
}
