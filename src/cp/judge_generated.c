/* What the judge knows of friction sets S = conv(0, d_1 .. d_m): nearest point, support, gauge.
 *
 * The nearest point is that of least norm in the hull of the corners seen from p (Wolfe 1976): an affinely independent set of corners, the
 * corral, is kept whose affine hull has its point of least norm inside; while a corner lies below the plane through that point, it is
 * added, and corners with a weight below zero are dropped. Finite, and exact up to rounding: the affine problem is solved by orthonormal
 * edges. */
#include "cp/judge_inside.h"

#include <math.h>
#include <string.h>

enum { TANGENTS = SS_FRICTION_ROWS - 1, CORRAL = TANGENTS + 1 };

static double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Corner i as seen from p, of the set scaled by r; corner number `directions` is the origin. */
static void seen(const ss_block *block, const double *p, double r, int i, double *out) {
  const int n = block->size - 1;
  for (int k = 0; k < n; k++) out[k] = (i < block->directions ? r * block->generators[i * n + k] : 0) - p[k];
}

typedef struct corral {
  int n, count;
  int corner[CORRAL];
  double q[CORRAL][TANGENTS]; /* seen from p */
  double weight[CORRAL];
  double x[TANGENTS]; /* the point of least norm of its affine hull */
} corral;

/* Weights of the affine hull's point of least norm; false: the corners are not independent. */
static bool minimise(const corral *c, double *weight) {
  static const double flat = 1e-13;
  double edge[CORRAL][TANGENTS], r[CORRAL][CORRAL] = {{0}}, along[CORRAL];
  for (int i = 1; i < c->count; i++) {
    double size = 0;
    for (int k = 0; k < c->n; k++) edge[i][k] = c->q[i][k] - c->q[0][k];
    size = sqrt(dot(edge[i], edge[i], c->n));
    for (int pass = 0; pass < 2; pass++)
      for (int j = 1; j < i; j++) {
        const double part = dot(edge[j], edge[i], c->n);
        r[j][i] += part;
        for (int k = 0; k < c->n; k++) edge[i][k] -= part * edge[j][k];
      }
    r[i][i] = sqrt(dot(edge[i], edge[i], c->n));
    if (!(r[i][i] > flat * size)) return false;
    for (int k = 0; k < c->n; k++) edge[i][k] /= r[i][i];
    along[i] = -dot(edge[i], c->q[0], c->n);
  }
  weight[0] = 1;
  for (int i = c->count - 1; i >= 1; i--) {
    double sum = along[i];
    for (int j = i + 1; j < c->count; j++) sum -= r[i][j] * weight[j];
    weight[i] = sum / r[i][i];
    weight[0] -= weight[i];
  }
  return true;
}

static void mix(corral *c) {
  memset(c->x, 0, sizeof c->x);
  for (int i = 0; i < c->count; i++)
    for (int k = 0; k < c->n; k++) c->x[k] += c->weight[i] * c->q[i][k];
}

static void drop(corral *c, int i) {
  c->count--;
  for (; i < c->count; i++) {
    c->corner[i] = c->corner[i + 1];
    c->weight[i] = c->weight[i + 1];
    memcpy(c->q[i], c->q[i + 1], sizeof c->q[i]);
  }
}

/* From weights that are positive to those of the affine minimum, dropping corners on the way. */
static bool descend(corral *c) {
  for (;;) {
    double goal[CORRAL], length = 1;
    int leaves = -1;
    if (!minimise(c, goal)) return false;
    for (int i = 0; i < c->count; i++) {
      if (goal[i] > 0 || c->weight[i] - goal[i] <= 0) continue;
      const double reach = c->weight[i] / (c->weight[i] - goal[i]);
      if (reach <= length) {
        length = reach;
        leaves = i;
      }
    }
    for (int i = 0; i < c->count; i++) c->weight[i] += length * (goal[i] - c->weight[i]);
    if (leaves < 0) break;
    drop(c, leaves);
  }
  mix(c);
  return true;
}

void project_generated(const ss_block *block, double *p, double r) {
  enum { ROUNDS = 200 };
  static const double rounding = 0x1p-50;
  const int n = block->size - 1, origin = block->directions;
  corral c = {.n = n, .count = 1, .corner = {origin}, .weight = {1}};
  double size = 0;
  seen(block, p, r, origin, c.q[0]);
  for (int i = 0; i <= origin; i++) {
    double q[TANGENTS];
    seen(block, p, r, i, q);
    size = fmax(size, sqrt(dot(q, q, n)));
    if (dot(q, q, n) >= dot(c.q[0], c.q[0], n)) continue;
    memcpy(c.q[0], q, sizeof q);
    c.corner[0] = i;
  }
  mix(&c);
  for (int round = 0; round < ROUNDS; round++) {
    double lowest = HUGE_VAL, q[TANGENTS];
    int next = -1;
    for (int i = 0; i <= origin; i++) {
      seen(block, p, r, i, q);
      const double along = dot(c.x, q, n);
      if (along < lowest) {
        lowest = along;
        next = i;
      }
    }
    const double length = sqrt(dot(c.x, c.x, n));
    if (length <= rounding * size || length * length - lowest <= rounding * size * length || c.count > n) break;
    for (int i = 0; i < c.count; i++)
      if (c.corner[i] == next) next = -1;
    if (next < 0) break;
    const corral before = c;
    c.corner[c.count] = next;
    c.weight[c.count] = 0;
    seen(block, p, r, next, c.q[c.count++]);
    if (descend(&c)) continue;
    c = before;
    break;
  }
  for (int k = 0; k < n; k++) p[k] += c.x[k];
}

double support_generated(const ss_block *block, const double *p) {
  const int n = block->size - 1;
  double largest = 0;
  for (int i = 0; i < block->directions; i++) largest = fmax(largest, dot(block->generators + i * n, p, n));
  return largest;
}

/* The least r with p in r S: planes that separate p from r S raise r until there is none. */
double gauge_generated(const ss_block *block, const double *p) {
  enum { ROUNDS = 60 };
  const int n = block->size - 1;
  double r = 0, reach = 0;
  for (int i = 0; i < block->directions; i++)
    reach = fmax(reach, dot(block->generators + i * n, block->generators + i * n, n));
  const double length = sqrt(dot(p, p, n));
  if (length == 0) return 0;
  if (reach == 0) return HUGE_VAL;
  r = length / sqrt(reach);
  for (int round = 0; round < ROUNDS; round++) {
    double x[TANGENTS];
    memcpy(x, p, sizeof(double) * (size_t)n);
    project_generated(block, x, r);
    for (int k = 0; k < n; k++) x[k] = p[k] - x[k];
    if (sqrt(dot(x, x, n)) <= 0x1p-48 * length) return r;
    const double support = support_generated(block, x), higher = dot(x, p, n) / support;
    if (!(support > 0)) return HUGE_VAL;
    if (!(higher > r * (1 + 0x1p-50))) return r;
    r = higher;
  }
  return r;
}
