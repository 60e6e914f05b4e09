/* Wolfe's method for the point nearest to zero of a convex set (Wolfe 1976), in the norm of kinetic energy.
 *
 *     minimise |sum_j J_j^T z_j|   over  z_j in the friction cone of contact j,  sum_j weight_j z_n,j = 1
 *
 * The set is the convex hull of the points that each contact can reach alone with weight_j z_n,j = 1; a linear function is
 * minimised over it by the contacts' support functions. A few affinely independent points (the corral) are kept whose
 * hull has the nearest point x in its interior; while a point p has x . p < |x|^2 it joins them, and points that get
 * weights below zero leave. Finite for polygons; for discs it is stopped when the certain lower bound x . p / |x| is
 * within rounding of |x|, or after MOST_POINTS. Only inner products occur, and these are entries of the Gram matrix. */
#include "theory/cone.h"

#include "core/arena.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

enum { MOST_POINTS = 2000 };
static const double gap_tolerance = 1e-13; /* of x . p, relative to the largest square of a point */

/* A point of the set: the impulses of one contact, and the Gram matrix times them. */
typedef struct hull_point {
  int first, size; /* rows of contacts */
  double z[SS_FRICTION_ROWS];
  double *image; /* [rows] */
} hull_point;

typedef struct corral {
  const ss_cone_gram *gram;
  const double *weight; /* by block */
  int rows;             /* of contacts */
  int n, capacity;      /* points */
  hull_point *points;   /* [capacity] */
  double *share;        /* [capacity] weights that add up to one */
  double *affine;       /* [capacity] the same for the nearest point of the affine hull */
  double *matrix;       /* [capacity][capacity] Cholesky factor */
  int factored;         /* its rows that still hold: what comes and goes at the end leaves those before as they are */
  double *x, *gx;       /* [rows] the present point's impulses, and the Gram matrix times them */
  double largest;       /* square of a point */
} corral;

/* p . q in the norm of kinetic energy, from q's image. */
static double inner(const hull_point *p, const double *image) { return dot(p->z, image + p->first, p->size); }

/* The point with the smallest inner product with x; returns that product. */
static double lowest(const corral *c, hull_point *point) {
  const ss_cp *problem = c->gram->problem;
  double best = HUGE_VAL, s[SS_FRICTION_ROWS];
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind != SS_BLOCK_FRICTION && block->kind != SS_BLOCK_NONNEGATIVE) continue;
    const int row = block->first - c->gram->n_free;
    const double value = ss_cone_support(block, c->gx + row, s) / c->weight[b];
    if (!(value < best)) continue;
    best = value;
    point->first = row;
    point->size = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = 0; i < point->size; i++) point->z[i] = s[i] / c->weight[b];
  }
  return best;
}

/* Cholesky in place of the lower triangle, from row `from` on; false where the points are affinely dependent. */
static bool factorise(double *a, int from, int n, int stride) {
  for (int i = from; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double *at = a + (size_t)i * (size_t)stride + (size_t)j;
      const double sum = *at - dot(a + (size_t)i * (size_t)stride, a + (size_t)j * (size_t)stride, j);
      if (i > j)
        *at = sum / a[(size_t)j * ((size_t)stride + 1)];
      else if (sum > 1e-15 * *at)
        *at = sqrt(sum);
      else
        return false;
    }
  return true;
}

/* Shares of the nearest point of the affine hull: (Q + largest 1 1^T) u = 1, normalised. */
static bool affine_shares(corral *c) {
  const int n = c->n, stride = c->capacity;
  for (int i = c->factored; i < n; i++)
    for (int j = 0; j <= i; j++)
      c->matrix[(size_t)i * (size_t)stride + (size_t)j] = c->largest + inner(&c->points[i], c->points[j].image);
  if (!factorise(c->matrix, c->factored, n, stride)) return false;
  c->factored = n;
  double sum = 0;
  for (int i = 0; i < n; i++)
    c->affine[i] =
        (1 - dot(c->matrix + (size_t)i * (size_t)stride, c->affine, i)) / c->matrix[(size_t)i * ((size_t)stride + 1)];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++) c->affine[i] -= c->matrix[(size_t)k * (size_t)stride + (size_t)i] * c->affine[k];
    c->affine[i] /= c->matrix[(size_t)i * ((size_t)stride + 1)];
    sum += c->affine[i];
  }
  for (int i = 0; i < n; i++) c->affine[i] /= sum;
  return true;
}

static void drop(corral *c, int k) {
  const hull_point dropped = c->points[k]; /* its image's memory stays in use */
  c->points[k] = c->points[--c->n];
  c->points[c->n] = dropped;
  c->share[k] = c->share[c->n];
  if (c->factored > k) c->factored = k;
}

/* Moves to the nearest point of the corral's hull; points that do not take part leave. */
static void settle(corral *c) {
  while (affine_shares(c)) {
    double step = 1;
    for (int k = 0; k < c->n; k++)
      if (c->affine[k] <= 0) step = fmin(step, c->share[k] / (c->share[k] - c->affine[k]));
    for (int k = 0; k < c->n; k++) c->share[k] += step * (c->affine[k] - c->share[k]);
    if (step >= 1) return;
    const int before = c->n;
    for (int k = c->n - 1; k >= 0; k--)
      if (c->share[k] <= 1e-15) drop(c, k);
    if (c->n == before) return; /* rounding: nothing leaves, nothing can be gained */
  }
  if (c->n > 1) drop(c, c->n - 1); /* the newcomer depends on the others */
}

static void add(corral *c, const hull_point *point) {
  hull_point *p = &c->points[c->n];
  double *image = p->image;
  *p = *point;
  p->image = image;
  const int first = c->gram->n_free, n = c->gram->n;
  for (int i = 0; i < c->rows; i++)
    image[i] = dot(c->gram->reduced + (size_t)(first + i) * (size_t)n + (size_t)(first + p->first), p->z, p->size);
  const double square = inner(p, image);
  if (square > c->largest) c->largest = square, c->factored = 0;
  c->share[c->n] = c->n == 0 ? 1 : 0;
  c->n++;
}

static void combine(corral *c) {
  memset(c->x, 0, sizeof(double) * (size_t)c->rows);
  memset(c->gx, 0, sizeof(double) * (size_t)c->rows);
  for (int k = 0; k < c->n; k++) {
    const hull_point *p = &c->points[k];
    for (int i = 0; i < p->size; i++) c->x[p->first + i] += c->share[k] * p->z[i];
    for (int i = 0; i < c->rows; i++) c->gx[i] += c->share[k] * p->image[i];
  }
}

static ss_status create(corral *c, ss_arena *arena, ss_error *error) {
  const size_t rows = (size_t)c->rows, points = rows + 2;
  c->capacity = (int)points;
  c->points = SS_ARENA_ARRAY(arena, hull_point, points);
  double *images = SS_ARENA_ARRAY(arena, double, points *rows);
  c->matrix = SS_ARENA_ARRAY(arena, double, points *points);
  c->share = SS_ARENA_ARRAY(arena, double, 2 * points + 2 * rows);
  if (!c->points || !images || !c->matrix || !c->share) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (size_t k = 0; k < points; k++) c->points[k].image = images + k * rows;
  c->affine = c->share + points;
  c->x = c->affine + points;
  c->gx = c->x + rows;
  return SS_OK;
}

ss_status ss_cone_nearest(const ss_cone_gram *gram, const double *weight, ss_arena *arena, ss_nearest_point *out,
                          ss_error *error) {
  corral c = {.gram = gram, .weight = weight, .rows = gram->n - gram->n_free};
  *out = (ss_nearest_point){.z = SS_ARENA_ARRAY(arena, double, gram->n + 1), .upper = HUGE_VAL, .lower = HUGE_VAL};
  hull_point candidate = {0};
  if (!out->z) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (c.rows == 0) return SS_OK;
  const ss_status status = create(&c, arena, error);
  if (status != SS_OK) return status;
  (void)lowest(&c, &candidate);
  add(&c, &candidate);
  for (int k = 0; k < MOST_POINTS; k++) {
    settle(&c);
    combine(&c);
    const double square = fmax(dot(c.x, c.gx, c.rows), 0), product = lowest(&c, &candidate);
    out->upper = sqrt(square);
    out->lower = out->upper > 0 ? fmax(product / out->upper, 0) : 0;
    if (product >= square - gap_tolerance * c.largest || c.n == c.capacity) break;
    add(&c, &candidate);
  }
  memcpy(out->z + gram->n_free, c.x, sizeof(double) * (size_t)c.rows);
  return SS_OK;
}
