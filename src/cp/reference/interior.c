/* Interior-point method for discs, intervals, boxes, nonnegative and free rows, with a sparse factorisation.
 *
 * Coulomb's law on a disc is z in K, u = w + s e_n in the dual cone of K, z . u = 0 with De Saxce's shift s = mu |w_t|. For a
 * given s and positive semi-definite G these are the conditions of a convex problem, min z G z / 2 + (g + s) z over K, whose
 * central path z o u = target exists whether contacts are redundant or not. The path is followed by the predictor and
 * corrector of Mehrotra with the scaling W of Nesterov and Todd (barrier.c), one linear system
 *
 *     (W E G W + 1) dy = q - W r,   dz = W dy,   r = w + s e_n - u
 *
 * per step, whose condition does not suffer from open contacts. s follows w in every step, with its derivative in
 * E = 1 + mu e_n d^T, d = w_t / |w_t| (smoothed by the gap). E = 1, a fixed point iteration on s, stops at residuals of 1e-4 where
 * this converges. Newton steps on the states finish. Where that has not led to the goal, a second attempt
 * goes back towards the middle of the set after each short step. The start is the same always, z given or not: a point next to the edge would be a bad one.
 *
 * Fails where G is not positive semi-definite (a step with dz G dz < 0 ends it, as stalled), where the shift finds no
 * fixed point, and at the limit. Facets, pyramids and `extra` are not admitted. */
#include "cp/reference/barrier.h"
#include "cp/block_lu.h"
#include "cp/large.h"

#include <math.h>
#include <string.h>

enum { SQUARE = BARRIER_ROWS * BARRIER_ROWS };
static const double damping = 1e-9; /* on free rows, taken out again by refinement */

typedef struct interior {
  large *l;
  block_lu lu;
  barrier *set;                         /* [nodes] */
  double *left, *right;                 /* [nodes][SQUARE] W E and W, in the units of the cones */
  double *z, *u;                        /* [n] in those units */
  double *dz, *du;                      /* [n] */
  double *x, *w;                        /* [n] the point in the units of the problem, w = G x + g */
  double *r, *q;                        /* [n] */
  double *y, *predicted, *rest, *image; /* [n] */
  double *all;                          /* [n] right side of the system */
  double *zero;                         /* [n] */
  double gap;                           /* mean product */
  double share;                         /* of the last step that was taken */
  bool cautious;                        /* after a short step back to the middle of the set first */
} interior;

/* s, and d in E. */
static void shift_of(const interior *k, const barrier *b, double *d, double *s) {
  double sum = k->gap * k->gap;
  for (int i = 1; i < b->size; i++) d[i] = 0;
  *s = 0;
  if (b->kind != BARRIER_CONE || b->rows < 2) return;
  for (int i = 1; i < b->rows; i++) sum += k->w[b->first + i] * k->w[b->first + i];
  *s = b->unit * sqrt(sum);
  for (int i = 1; i < b->rows; i++) d[i] = k->w[b->first + i] / sqrt(sum);
}

/* x, w, the gap, r and the matrices of the present point. */
static void linearise(interior *k) {
  const node_matrix *G = &k->l->G;
  int degree = 0;
  k->gap = 0;
  for (int p = 0; p < G->nodes; p++) {
    barrier *b = &k->set[p];
    k->gap += barrier_gap(b, k->z + b->first, k->u + b->first);
    degree += barrier_degree(b);
    for (int i = 0; i < b->size; i++) k->x[b->first + i] = k->z[b->first + i] / (i ? 1 : b->unit);
  }
  if (degree) k->gap /= degree;
  nodes_apply(G, k->l->g, k->x, k->w);
  for (int p = 0; p < G->nodes; p++) {
    barrier *b = &k->set[p];
    double d[BARRIER_ROWS] = {0}, s, *left = k->left + (size_t)p * SQUARE, *right = k->right + (size_t)p * SQUARE;
    barrier_scale(b, k->z + b->first, k->u + b->first);
    shift_of(k, b, d, &s);
    for (int i = 0; i < b->size; i++) {
      k->r[b->first + i] = (i ? k->w[b->first + i] : (k->w[b->first] + s) / b->unit) - k->u[b->first + i];
      double column[BARRIER_ROWS] = {0}, other[BARRIER_ROWS] = {0};
      column[i] = other[i] = 1;
      column[0] = i ? d[i] : 1 / b->unit;
      barrier_multiply(b, column);
      barrier_multiply(b, other);
      for (int j = 0; j < b->size; j++) {
        left[j * b->size + i] = column[j];
        right[j * b->size + i] = other[j] / (j ? 1 : b->unit);
      }
    }
  }
}

/* c = a b */
static void product(const double *a, const double *b, int rows, int inner, int cols, double *c) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      double sum = 0;
      for (int m = 0; m < inner; m++) sum += a[i * inner + m] * b[m * cols + j];
      c[i * cols + j] = sum;
    }
}

static bool factor(interior *k) {
  const node_matrix *G = &k->l->G;
  block_lu_clear(&k->lu);
  for (int p = 0; p < G->nodes; p++)
    for (int e = G->start[p]; e < G->start[p + 1]; e++) {
      const int c = G->col[e], rows = k->set[p].size, cols = k->set[c].size;
      double half[SQUARE], *to = block_lu_entry(&k->lu, p, c);
      product(k->left + (size_t)p * SQUARE, G->value + G->at[e], rows, rows, cols, half);
      product(half, k->right + (size_t)c * SQUARE, rows, cols, cols, to);
      for (int i = 0; p == c && i < rows; i++) to[i * (rows + 1)] += k->set[p].kind == BARRIER_FREE ? damping : 1;
    }
  return block_lu_factor(&k->lu);
}

/* out = M in by nodes. */
static void by_nodes(const interior *k, const double *matrices, const double *in, double *out) {
  for (int p = 0; p < k->l->G.nodes; p++) {
    const barrier *b = &k->set[p];
    product(matrices + (size_t)p * SQUARE, in + b->first, b->size, b->size, 1, out + b->first);
  }
}

/* y from (W E G W + 1) y = q - W r, refined once. */
static void solve(interior *k, double *y) {
  const int n = k->l->cp.n;
  memcpy(k->rest, k->r, sizeof(double) * (size_t)n);
  for (int p = 0; p < k->l->G.nodes; p++) barrier_multiply(&k->set[p], k->rest + k->set[p].first);
  for (int i = 0; i < n; i++) k->all[i] = k->q[i] - k->rest[i];
  block_lu_solve(&k->lu, k->all, y);
  by_nodes(k, k->right, y, k->rest);
  nodes_apply(&k->l->G, k->zero, k->rest, k->image);
  by_nodes(k, k->left, k->image, k->rest);
  for (int p = 0; p < k->l->G.nodes; p++)
    for (int i = k->set[p].first; i < k->set[p].first + k->set[p].size; i++)
      k->rest[i] = k->all[i] - k->rest[i] - (k->set[p].kind == BARRIER_FREE ? 0 : y[i]);
  block_lu_solve(&k->lu, k->rest, k->image);
  for (int i = 0; i < n; i++) y[i] += k->image[i];
}

/* The step towards products of `target`, in y, dz and du; the share of it that reaches the edge. */
static double direction(interior *k, double target, const double *predicted, double *y) {
  for (int p = 0; p < k->l->G.nodes; p++) {
    barrier *b = &k->set[p];
    barrier_right_side(b, k->z + b->first, target, predicted ? predicted + b->first : NULL, k->q + b->first);
  }
  solve(k, y);
  double share = HUGE_VAL;
  for (int p = 0; p < k->l->G.nodes; p++) {
    barrier *b = &k->set[p];
    const int f = b->first;
    share = fmin(share, barrier_step(b, k->z + f, k->u + f, k->q + f, y + f, k->dz + f, k->du + f));
  }
  return share;
}

/* Whether dz G dz < 0 beyond rounding. */
static bool descends(interior *k) {
  for (int p = 0; p < k->l->G.nodes; p++)
    for (int i = k->set[p].first; i < k->set[p].first + k->set[p].size; i++)
      k->rest[i] = k->dz[i] / (i > k->set[p].first ? 1 : k->set[p].unit);
  nodes_apply(&k->l->G, k->zero, k->rest, k->image);
  double power = 0, square = 0;
  for (int i = 0; i < k->l->cp.n; i++) {
    power += k->rest[i] * k->image[i];
    square += k->rest[i] * k->rest[i];
  }
  return !(power >= -1e-8 * square); /* also where they are not finite */
}

static bool step(interior *k) {
  static const double short_of_edge = 0.99, short_step = 0.3, centring = 0.8;
  if (!factor(k)) return false;
  const double rest = 1 - fmin(1, direction(k, 0, NULL, k->predicted));
  const bool back = k->cautious && k->share < short_step;
  const double target = k->gap * (back ? fmax(centring, rest * rest * rest) : rest * rest * rest);
  k->share = fmin(1, short_of_edge * direction(k, target, back ? NULL : k->predicted, k->y));
  k->l->stalled = descends(k);
  if (k->l->stalled) return false;
  for (int p = 0; p < k->l->G.nodes; p++) {
    const int f = k->set[p].first;
    barrier_move(&k->set[p], k->share, k->dz + f, k->du + f, k->z + f, k->u + f);
  }
  linearise(k);
  return true;
}

/* The residual of the point; it stays in l->x where it is the best so far. */
static double keep(interior *k) {
  const double residual = large_judge(k->l, k->x, k->image);
  if (residual < k->l->residual) {
    k->l->residual = residual;
    memcpy(k->l->x, k->x, sizeof(double) * (size_t)k->l->cp.n);
  }
  return residual;
}

static ss_status prepare(interior *k, large *l, double most, ss_cp_workspace *w, bool *affordable, ss_error *error) {
  const size_t n = (size_t)l->cp.n, nodes = (size_t)l->G.nodes;
  *k = (interior){.l = l, .set = SCRATCH(w, barrier, nodes), .left = SCRATCH(w, double, 2 * SQUARE * nodes)};
  int *size = SCRATCH(w, int, nodes);
  double *memory = SCRATCH(w, double, 14 * n);
  if (!k->set || !k->left || !size || !memory) return out_of_memory(error);
  k->right = k->left + SQUARE * nodes;
  double **const vectors[] = {&k->z, &k->u, &k->dz,        &k->du,   &k->x,     &k->w,   &k->r,
                              &k->q, &k->y, &k->predicted, &k->rest, &k->image, &k->all, &k->zero};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = memory + i * n;
  memset(k->zero, 0, sizeof(double) * n);
  const ss_block **const block = large_nodes(l, size, w);
  if (!block) return out_of_memory(error);
  for (size_t p = 0; p < nodes; p++) k->set[p] = barrier_create(block[p], l->G.first[p], size[p]);
  return block_lu_analyse(&k->lu, l->G.nodes, size, l->G.start, l->G.col, most, w, affordable, error);
}

/* From the start to the goal, the limit, or no progress. */
static void follow(interior *k, bool cautious, int limit) {
  enum { PATIENCE = 25 };
  k->cautious = cautious;
  k->share = 1;
  for (int p = 0; p < k->l->G.nodes; p++) barrier_start(&k->set[p], k->z + k->set[p].first, k->u + k->set[p].first);
  linearise(k);
  double least = HUGE_VAL;
  for (int i = 0, best = 0; i < limit && i - best < PATIENCE && k->l->residual > k->l->goal && !large_spent(k->l);
       i++) {
    k->l->iterations++;
    k->l->spent += k->lu.operations;
    if (!step(k)) return;
    const double residual = keep(k);
    if (residual < least) best = i;
    least = fmin(least, residual);
  }
}

ss_status large_interior(large *l, int limit, double most, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  interior k;
  bool affordable = true, tried;
  ss_status status = prepare(&k, l, most, w, &affordable, error);
  for (int attempt = 0; attempt < 2 && !status && affordable && !l->stalled && l->residual > l->goal && !large_spent(l);
       attempt++) {
    status = large_goes_on(l, error);
    if (status) break;
    follow(&k, attempt > 0, limit);
    l->residual = large_judge(l, l->x, l->w);
    if (l->residual > l->goal) status = large_newton(l, 20, most, w, &tried, error);
  }
  scratch_release(w, mark);
  return status;
}
