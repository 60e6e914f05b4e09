/* Elimination of the free rows: z_f = -G_ff^-1 (G_fc z_c + g_f), leaving the Schur complement for the contacts.
 *
 * G_ff is positive semi-definite, in general unsymmetric, and singular where joints close loops. Redundant consistent
 * rows show as zero pivots without coupling: their multiplier is 0. Zero pivots with coupling to the contacts
 * (circuits, saddle-point problems) are kept and split into a difference of two nonnegative variables by the expansion.
 * Assumes that the scaled pivots of redundant rows come out below the rank tolerance; where they do not, the
 * multipliers are those of rounding errors and the judge sees it. */
#include "cp/reduce.h"

#include "core/wide.h"
#include "la/dense.h"
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
  dense_scales(problem->G, problem->n, problem->n, scale_of_row, scale);
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

/* Expansion of the reduced problem into a standard LCP (Stewart & Trinkle 1996, Anitescu & Potra 1997; MATH section 1).
 *
 *     friction   c_n >= 0, beta_1 .. beta_k >= 0, lambda >= 0 with  z_t = sum beta_i d_i,
 *                0 <= beta_i perp d_i . w_t + lambda >= 0,   0 <= lambda perp mu (c_n + extra) - sum beta_i >= 0
 *                pyramid: the same with two directions and a lambda of its own for each axis
 *     box        z = lower + y:  0 <= y perp w + v >= 0,  0 <= v perp upper - lower - y >= 0
 *     free row   (only those the elimination had to keep)  z = y+ - y-,  0 <= y+ perp w >= 0,  0 <= y- perp -w >= 0
 *
 * Every variable but the lambdas and v generates a direction in the rows of one block, so that M is C A C^T plus the
 * constant entries. Scaled by powers of two: unit-size diagonal, max |q| about 1. */

typedef struct builder {
  const reduction *r;
  ss_cp_workspace *w;
  lcp *l;
  double *scale;  /* [rest rows] second scaling, from the Schur complement's diagonal */
  double *line;   /* [rest rows] */
  int used;       /* variables so far */
  int *cone_from; /* [n] for a multiplier: its first and one past its last partner; 0, 0 otherwise */
  int *cone_to;
  int *normal;    /* [n] for a cone's multiplier: the variable of the normal impulse; -1 for a box's */
  double *weight; /* [n] for a cone's multiplier: mu in scaled units */
  double *room;   /* [n] constant part of what the partners may add up to: mu extra, or the width of the box */
} builder;

static bool bounded_below(const ss_block *block) { return block->lower > -HUGE_VAL; }

static int block_variables(const ss_block *block) {
  if (block_is_free(block)) return 0;
  if (block->kind == SS_BLOCK_NONNEGATIVE) return block->size;
  if (block->kind == SS_BLOCK_BOX) return bounded_below(block) && block->upper < HUGE_VAL ? 2 : 1;
  if (block->mu == 0) return 1;
  if (block->size == 2 || block->cone == SS_CONE_PYRAMID) return 1 + 3 * (block->size - 1);
  return 2 + block->directions;
}

static int generator(builder *b, int first, int size, double c0, double c1) {
  lcp *l = b->l;
  const int j = b->used++;
  l->first[j] = first;
  l->size[j] = size;
  l->c[2 * j] = c0;
  l->c[2 * j + 1] = c1;
  b->cone_from[j] = b->cone_to[j] = 0;
  return j;
}

static void multiplier(builder *b, int from, int to, int normal, double weight, double room) {
  const int j = generator(b, 0, 0, 0, 0);
  b->cone_from[j] = from;
  b->cone_to[j] = to;
  b->normal[j] = normal;
  b->weight[j] = weight;
  b->room[j] = room;
}

/* `row` is the block's first row within the rest. */
static ss_status add_friction(builder *b, const ss_block *block, int row, ss_error *error) {
  const double *s1 = b->r->scale + b->r->rest + row, *s2 = b->scale + row;
  const int normal = generator(b, row, 1, s2[0], 0);
  if (block->mu == 0) return SS_OK;
  const double t = s2[1], mu = block->mu * (s1[0] * s2[0]) / (s1[1] * s2[1]);
  const double room = block->mu * block->extra / (s1[1] * s2[1]);
  if (block->size == 2 || block->cone == SS_CONE_PYRAMID) {
    for (int axis = 1; axis < block->size; axis++) {
      const int from = generator(b, row + axis, 1, t, 0);
      generator(b, row + axis, 1, -t, 0);
      multiplier(b, from, from + 2, normal, mu, room);
    }
    return SS_OK;
  }
  const double *d = scratch_directions(b->w, block->directions);
  if (!d) return out_of_memory(error);
  const int from = b->used;
  for (int i = 0; i < block->directions; i++) generator(b, row + 1, 2, t * d[2 * i], t * d[2 * i + 1]);
  multiplier(b, from, b->used, normal, mu, room);
  return SS_OK;
}

static void add_box(builder *b, const ss_block *block, int row) {
  const double s1 = b->r->scale[b->r->rest + row], s2 = b->scale[row];
  if (!bounded_below(block)) {
    b->l->offset[row] = block->upper / s1;
    generator(b, row, 1, -s2, 0);
    return;
  }
  b->l->offset[row] = block->lower / s1;
  const int j = generator(b, row, 1, s2, 0);
  if (block->upper < HUGE_VAL) multiplier(b, j, j + 1, -1, 0, (block->upper - block->lower) / (s1 * s2));
}

static ss_status add_variables(builder *b, ss_error *error) {
  const reduction *r = b->r;
  int row = 0;
  for (; row < r->n_free - r->rest; row++) {
    generator(b, row, 1, b->scale[row], 0);
    generator(b, row, 1, -b->scale[row], 0);
  }
  for (int k = 0; k < r->problem->n_blocks; k++) {
    const ss_block *block = &r->problem->blocks[k];
    if (block_is_free(block)) continue;
    if (block->kind == SS_BLOCK_NONNEGATIVE)
      for (int i = 0; i < block->size; i++) generator(b, row + i, 1, b->scale[row + i], 0);
    else if (block->kind == SS_BLOCK_BOX)
      add_box(b, block, row);
    else {
      const ss_status status = add_friction(b, block, row, error);
      if (status) return status;
    }
    row += block->size;
  }
  return SS_OK;
}

static const double *rest_row(const reduction *r, int row) {
  return r->A + (size_t)(r->rest + row) * (size_t)r->stride + r->rest;
}

/* Scales that give the Schur complement unit size, on top of the reduction's; the same for the tangential rows of a contact. */
static void second_scales(const reduction *r, int rows, double *s, double *scratch) {
  if (rows) dense_scales(rest_row(r, 0), rows, r->stride, s, scratch);
  for (int i = 0; i < rows; i++) s[i] = fmin(s[i], 0x1p20); /* what has nearly vanished is noise */
  int row = r->n_free - r->rest;
  for (int k = 0; k < r->problem->n_blocks; k++) {
    const ss_block *block = &r->problem->blocks[k];
    if (block_is_free(block)) continue;
    if (block->kind == SS_BLOCK_FRICTION) equal_tangents(block, s + row);
    row += block->size;
  }
}

static double combine(const lcp *l, int j, const double *line) {
  const double *x = line + l->first[j];
  double sum = l->c[2 * j] * x[0];
  if (l->size[j] == 2) sum += l->c[2 * j + 1] * x[1];
  return sum;
}

static void fill_generator_row(builder *b, int a, int rows) {
  lcp *l = b->l;
  const reduction *r = b->r;
  const int first = l->first[a], two = l->size[a] == 2;
  const double *p = rest_row(r, first), *p2 = rest_row(r, first + two);
  const double c0 = l->c[2 * a], c1 = two ? l->c[2 * a + 1] : 0;
  double rhs = c0 * p[rows] + c1 * p2[rows];
  for (int j = 0; j < rows; j++) b->line[j] = c0 * p[j] + c1 * p2[j];
  for (int j = 0; j < rows; j++) rhs += b->line[j] * l->offset[j];
  l->q[a] = rhs;
  double *m = l->M + (size_t)a * (size_t)l->n;
  for (int j = 0; j < l->n; j++) m[j] = l->size[j] ? combine(l, j, b->line) : 0;
}

static void fill_multipliers(builder *b) {
  lcp *l = b->l;
  for (int a = 0; a < l->n; a++) {
    if (l->size[a]) continue;
    double *m = l->M + (size_t)a * (size_t)l->n;
    for (int j = 0; j < l->n; j++) m[j] = 0;
    for (int j = b->cone_from[a]; j < b->cone_to[a]; j++) {
      m[j] = -1;
      l->M[(size_t)j * (size_t)l->n + (size_t)a] = 1;
    }
    l->q[a] = b->room[a];
    if (b->normal[a] >= 0) m[b->normal[a]] = b->weight[a];
  }
}

static void scale_right_side(lcp *l) {
  double largest = 0;
  for (int j = 0; j < l->n; j++)
    if (l->size[j]) largest = fmax(largest, fabs(l->q[j]));
  const double s = inverse_power(largest);
  l->amplitude = 1 / s;
  for (int j = 0; j < l->n; j++) l->q[j] *= s;
}

int lcp_variables(const ss_cp *problem) {
  int n = 0;
  for (int k = 0; k < problem->n_blocks; k++) n += block_variables(&problem->blocks[k]);
  return n;
}

ss_status expand_to_lcp(const reduction *r, ss_cp_workspace *w, lcp *out, ss_error *error) {
  const int rows = r->problem->n - r->rest;
  const int n = 2 * (r->n_free - r->rest) + lcp_variables(r->problem);
  *out = (lcp){.n = n};
  out->M = SCRATCH(w, double, (size_t)n *(size_t)n);
  double *numbers = SCRATCH(w, double, 5 * (size_t)n + 3 * (size_t)rows);
  int *integers = SCRATCH(w, int, 5 * (size_t)n);
  if (!out->M || !numbers || !integers) return out_of_memory(error);
  out->q = numbers;
  out->c = numbers + n;
  out->offset = numbers + 5 * n;
  out->first = integers;
  out->size = integers + n;
  builder b = {.r = r,
               .w = w,
               .l = out,
               .weight = numbers + 3 * n,
               .room = numbers + 4 * n,
               .scale = out->offset + rows,
               .line = out->offset + 2 * rows,
               .cone_from = integers + 2 * n,
               .cone_to = integers + 3 * n,
               .normal = integers + 4 * n};
  for (int i = 0; i < rows; i++) out->offset[i] = 0;
  second_scales(r, rows, b.scale, b.line);
  const ss_status status = add_variables(&b, error);
  if (status) return status;
  for (int a = 0; a < n; a++)
    if (out->size[a]) fill_generator_row(&b, a, rows);
  fill_multipliers(&b);
  scale_right_side(out);
  return SS_OK;
}

void lcp_contract(const lcp *l, const reduction *r, const double *x, double *z_rest) {
  const int rows = r->problem->n - r->rest;
  for (int i = 0; i < rows; i++) z_rest[i] = l->offset[i];
  for (int j = 0; j < l->n; j++)
    for (int i = 0; i < l->size[j]; i++) z_rest[l->first[j] + i] += l->amplitude * l->c[2 * j + i] * x[j];
}

/* The contacts alone, as a problem of their own: the reduction's Schur complement, scaled to unit size. */

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

/* The scaled Schur complement and right side. */
static void load_rest(const reduction *r, int rows, const double *s, double *G, double *g) {
  const size_t m = (size_t)rows;
  for (int i = 0; i < rows; i++) {
    const double *row = rest_row(r, i);
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

ss_status subproblem_create(const ss_cp *problem, double rank_tolerance, ss_cp_workspace *w, subproblem *out,
                            ss_error *error) {
  reduction *r = &out->r;
  ss_status status = prepare(problem, w, r, error);
  if (!status && r->n_free) status = eliminate(r, rank_tolerance, w, error);
  if (status) return status;
  const int rows = problem->n - r->rest;
  const size_t m = (size_t)rows;
  double *G = SCRATCH(w, double, m *m), *numbers = SCRATCH(w, double, 4 * m);
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks + 1);
  if (!G || !numbers || !blocks) return out_of_memory(error);
  double *g = numbers, *s = numbers + m, *total = numbers + 2 * m, largest = 0;
  for (int i = 0; i < rows; i++) s[i] = 1; /* where nothing has been eliminated, the reduction's are good enough */
  if (r->rank > 0) second_scales(r, rows, s, total);
  if (r->A)
    load_rest(r, rows, s, G, g);
  else
    load_all(r, G, g);
  for (int i = 0; i < rows; i++) largest = fmax(largest, fabs(g[i]));
  out->amplitude = 1 / inverse_power(largest);
  for (int i = 0; i < rows; i++) {
    g[i] /= out->amplitude;
    total[i] = r->scale[origin(r, i)] * s[i] * out->amplitude;
  }
  out->scale = s;
  out->total = total;
  out->cp = (ss_cp){.n = rows, .G = G, .g = g, .blocks = blocks};
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
