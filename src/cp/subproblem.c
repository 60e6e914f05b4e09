/* The contacts alone, as a problem of their own: the reduction's Schur complement, scaled to unit size. */
#include "cp/subproblem.h"

#include "core/wide.h"
#include "cp/dense.h"

/* The place before elimination of the row i of the rest. */
static int origin(const reduction *r, int i) {
  const int place = r->rest + i;
  return place < r->n_free ? r->col[place] : place;
}

static void copy_blocks(const reduction *r, ss_block *blocks, int *count, const double *s) {
  int row = r->n_free - r->rest;
  *count = 0;
  if (row) blocks[(*count)++] = (ss_block){.kind = SS_BLOCK_FREE, .size = row};
  for (int k = 0; k < r->problem->n_blocks; k++) {
    if (block_is_free(&r->problem->blocks[k])) continue;
    ss_block *b = &blocks[(*count)++];
    *b = r->problem->blocks[k];
    b->first = row;
    if (b->kind == SS_BLOCK_BOX) {
      b->lower /= s[row];
      b->upper /= s[row];
    }
    if (b->kind == SS_BLOCK_FRICTION) {
      b->mu *= s[row] / s[row + 1];
      b->extra /= s[row];
    }
    row += b->size;
  }
}

/* Scales for the Schur complement on top of the reduction's, the same for the tangential rows of a contact. Where nothing
 * has been eliminated, the reduction's are good enough. */
static void scales(const reduction *r, const double *S, int rows, double *s, double *scratch) {
  for (int i = 0; i < rows; i++) s[i] = 1;
  if (r->rank == 0 || rows == 0) return;
  dense_scales(S, rows, r->stride, s, scratch);
  for (int i = 0; i < rows; i++) s[i] = fmin(s[i], 0x1p20); /* what has nearly vanished is noise */
  int row = r->n_free - r->rest;
  for (int k = 0; k < r->problem->n_blocks; k++) {
    const ss_block *b = &r->problem->blocks[k];
    if (block_is_free(b)) continue;
    if (b->kind == SS_BLOCK_FRICTION) equal_tangents(b, s + row);
    row += b->size;
  }
}

/* The scaled Schur complement and right side. */
static void load_rest(const reduction *r, const double *S, int rows, const double *s, double *G, double *g) {
  const size_t m = (size_t)rows;
  for (int i = 0; i < rows; i++) {
    const double *row = S + (size_t)i * (size_t)r->stride;
    for (int j = 0; j < rows; j++) G[(size_t)i * m + (size_t)j] = s[i] * row[j] * s[j];
    g[i] = s[i] * row[rows];
  }
}

/* The same where nothing was to be eliminated. */
WIDE static void load_all(const reduction *r, double *G, double *g) {
  const size_t n = (size_t)r->problem->n;
  const double *scale = r->scale;
  for (size_t i = 0; i < n; i++) {
    const double *row = r->problem->G + i * n;
    for (size_t j = 0; j < n; j++) G[i * n + j] = scale[i] * row[j] * scale[j];
    g[i] = scale[i] * r->problem->g[i];
  }
}

/* The same with a sparse matrix. */
static ss_status load_sparse(subproblem *s, double *g, ss_cp_workspace *w, ss_error *error) {
  const ss_sparse *from = s->r.problem->sparse;
  const double *scale = s->r.scale;
  double *value = SCRATCH(w, double, from->start[from->rows]);
  if (!value) return out_of_memory(error);
  for (int i = 0; i < from->rows; i++) {
    for (int k = from->start[i]; k < from->start[i + 1]; k++)
      value[k] = scale[i] * from->value[k] * scale[from->col[k]];
    g[i] = scale[i] * s->r.problem->g[i];
  }
  s->sparse = *from;
  s->sparse.value = value;
  return SS_OK;
}

ss_status subproblem_create(const ss_cp *problem, double rank_tolerance, ss_cp_workspace *w, subproblem *out,
                            ss_error *error) {
  reduction *r = &out->r;
  ss_status status = reduce_if_free_rows(problem, rank_tolerance, w, r, error);
  if (status) return status;
  const int rows = problem->n - r->rest;
  const size_t m = (size_t)rows;
  double *G = problem->G ? SCRATCH(w, double, m *m) : NULL, *numbers = SCRATCH(w, double, 4 * m);
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks + 1);
  if ((problem->G && !G) || !numbers || !blocks) return out_of_memory(error);
  double *g = numbers, *s = numbers + m, *total = numbers + 2 * m, largest = 0;
  const double *S = r->A ? r->A + (size_t)r->rest * ((size_t)r->stride + 1) : NULL;
  scales(r, S, rows, s, total);
  if (S)
    load_rest(r, S, rows, s, G, g);
  else if (G)
    load_all(r, G, g);
  else
    status = load_sparse(out, g, w, error);
  if (status) return status;
  for (int i = 0; i < rows; i++) largest = fmax(largest, fabs(g[i]));
  out->amplitude = 1 / inverse_power(largest);
  for (int i = 0; i < rows; i++) {
    g[i] /= out->amplitude;
    total[i] = r->scale[origin(r, i)] * s[i] * out->amplitude;
  }
  out->scale = s;
  out->total = total;
  out->cp = (ss_cp){.n = rows, .G = G, .g = g, .blocks = blocks, .sparse = G ? NULL : &out->sparse};
  copy_blocks(r, blocks, &out->cp.n_blocks, total);
  return SS_OK;
}

ss_status subproblem_recover(const subproblem *s, const double *x, double *z, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  double *rest = SCRATCH(w, double, s->cp.n);
  if (!rest) return out_of_memory(error);
  for (int i = 0; i < s->cp.n; i++) rest[i] = s->amplitude * s->scale[i] * x[i];
  const ss_status status = reduction_recover(&s->r, rest, z, w, error);
  scratch_release(w, mark);
  return status;
}

void subproblem_start(const subproblem *s, const double *z, double *x) {
  for (int i = 0; i < s->cp.n; i++) {
    x[i] = z[s->r.order[origin(&s->r, i)]] / s->total[i];
  }
}
