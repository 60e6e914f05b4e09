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
#include "cp/reduce.h"

#include "cp/dense.h"

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

/* Unit size for the Schur complement; the two tangential rows of a contact alike. */
static void second_scaling(builder *b, int rows) {
  const reduction *r = b->r;
  if (rows) dense_scales(rest_row(r, 0), rows, r->stride, b->scale, b->line);
  for (int i = 0; i < rows; i++) b->scale[i] = fmin(b->scale[i], 0x1p20); /* what has nearly vanished is noise */
  int row = r->n_free - r->rest;
  for (int k = 0; k < r->problem->n_blocks; k++) {
    const ss_block *block = &r->problem->blocks[k];
    if (block_is_free(block)) continue;
    if (block->kind == SS_BLOCK_FRICTION) equal_tangents(block, b->scale + row);
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
  second_scaling(&b, rows);
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
