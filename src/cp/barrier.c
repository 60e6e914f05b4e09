/* Cones |t| <= n and intervals, one at a time. Cones by Nesterov & Todd (1997), formulas as in Vandenberghe, The CVXOPT
 * linear and quadratic cone program solvers (2010): J = diag(1, -1, ...), det u = u J u, u o x = (u x, u_0 x_t + x_0 u_t). */
#include "cp/barrier.h"

#include <math.h>

barrier barrier_create(const ss_block *block, int first, int size, double *bound) {
  barrier b = {.kind = BARRIER_CONE, .first = first, .size = size, .rows = size, .unit = 1, .bound = bound};
  bound[0] = bound[1] = 0;
  if (block->kind == SS_BLOCK_FREE) b.kind = BARRIER_FREE;
  if (block->kind == SS_BLOCK_BOX) {
    b.kind = block->lower < block->upper ? BARRIER_BOX : BARRIER_FIXED;
    b.lower = block->lower;
    b.upper = block->upper;
    if (isinf(b.lower) && isinf(b.upper)) b.kind = BARRIER_FREE;
  }
  if (block->kind == SS_BLOCK_FRICTION && block->mu > 0) b.unit = block->mu;
  if (block->kind == SS_BLOCK_FRICTION && !(block->mu > 0)) b.rows = 1;
  return b;
}

int barrier_degree(const barrier *b) {
  if (b->kind == BARRIER_BOX) return isfinite(b->lower) + isfinite(b->upper);
  return b->kind == BARRIER_CONE;
}

/* ---- one cone ---- */

static double tail(const double *u, int rows) {
  double sum = 0;
  for (int i = 1; i < rows; i++) sum += u[i] * u[i];
  return sqrt(sum);
}

static double det(const double *u, int rows) {
  const double t = tail(u, rows);
  return (u[0] - t) * (u[0] + t);
}

static double dot(const double *u, const double *x, int rows) {
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += u[i] * x[i];
  return sum;
}

static void scale_cone(barrier *b, const double *z, const double *w) {
  const double dz = sqrt(det(z, b->rows)), dw = sqrt(det(w, b->rows));
  const double gamma = sqrt(0.5 * (1 + dot(z, w, b->rows) / (dz * dw)));
  for (int i = 0; i < b->rows; i++) b->v[i] = (z[i] / dz + (i ? -w[i] : w[i]) / dw) / (2 * gamma);
  const double half = sqrt(2 * (b->v[0] + 1));
  b->v[0] += 1;
  for (int i = 0; i < b->rows; i++) b->v[i] /= half;
  b->beta = sqrt(dz / dw);
  for (int i = 0; i < b->rows; i++) b->lambda[i] = w[i];
  barrier_multiply(b, b->lambda);
}

/* u = W^-1 u of a cone */
static void divide(const barrier *b, double *u) {
  double along = b->v[0] * u[0];
  for (int i = 1; i < b->rows; i++) along -= b->v[i] * u[i];
  u[0] = (2 * b->v[0] * along - u[0]) / b->beta;
  for (int i = 1; i < b->rows; i++) u[i] = (u[i] - 2 * b->v[i] * along) / b->beta;
}

/* Largest share of `times` d that keeps z + share times d in the cone: the first root of det. */
static double reach(const double *z, const double *d, int rows, double times) {
  if (rows == 1) return times * d[0] < 0 ? -z[0] / (times * d[0]) : HUGE_VAL;
  const double a = times * times * det(d, rows), c = det(z, rows);
  double half = z[0] * d[0];
  for (int i = 1; i < rows; i++) half -= z[i] * d[i];
  half *= times;
  const double root = half * half - a * c;
  if (root < 0) return HUGE_VAL; /* a > 0: never leaves */
  const double to = half < 0 ? c / (-half + sqrt(root)) : a < 0 ? (-half - sqrt(root)) / a : HUGE_VAL;
  return to > 0 ? to : HUGE_VAL;
}

/* ---- nodes ---- */

void barrier_start(barrier *b, double *z, double *w) {
  for (int i = 0; i < b->size; i++) z[i] = w[i] = 0;
  if (b->kind == BARRIER_CONE) z[0] = w[0] = 1;
  if (b->kind == BARRIER_FIXED) z[0] = b->lower;
  if (b->kind != BARRIER_BOX) return;
  b->bound[0] = isfinite(b->lower);
  b->bound[1] = isfinite(b->upper);
  z[0] = !isfinite(b->upper) ? b->lower + 1 : !isfinite(b->lower) ? b->upper - 1 : 0.5 * (b->lower + b->upper);
  w[0] = b->bound[0] - b->bound[1];
}

void barrier_start_near(barrier *b, double near, double *z, double *u) {
  if (b->kind == BARRIER_CONE) {
    z[0] = fmax(z[0], tail(z, b->rows)) + near;
    u[0] = fmax(u[0], 0) + tail(u, b->rows) + near; /* De Saxce's shift */
    for (int i = b->rows; i < b->size; i++) z[i] = u[i] = 0;
  } else if (b->kind == BARRIER_BOX) {
    const double w = u[0], width = fmin(near, 0.5 * (b->upper - b->lower));
    z[0] = fmin(fmax(z[0], b->lower + width), b->upper - width);
    b->bound[0] = isfinite(b->lower) ? fmax(w, 0) + near : 0;
    b->bound[1] = isfinite(b->upper) ? fmax(-w, 0) + near : 0;
    u[0] = b->bound[0] - b->bound[1];
  } else {
    u[0] = 0;
    if (b->kind == BARRIER_FIXED) z[0] = b->lower;
  }
}

/* Distance of z from the lower and the upper bound. */
static double distance(const barrier *b, const double *z, int side) { return side ? b->upper - z[0] : z[0] - b->lower; }

double barrier_gap(const barrier *b, const double *z, const double *w) {
  if (b->kind == BARRIER_CONE) return dot(z, w, b->rows);
  double sum = 0;
  for (int s = 0; s < 2 && b->kind == BARRIER_BOX; s++)
    if (b->bound[s] > 0) sum += b->bound[s] * distance(b, z, s);
  return sum;
}

void barrier_scale(barrier *b, const double *z, const double *w) {
  if (b->kind == BARRIER_CONE) scale_cone(b, z, w);
  if (b->kind != BARRIER_BOX) return;
  double sum = 0;
  for (int s = 0; s < 2; s++)
    if (b->bound[s] > 0) sum += b->bound[s] / distance(b, z, s);
  b->beta = 1 / sqrt(sum);
}

void barrier_multiply(const barrier *b, double *u) {
  if (b->kind == BARRIER_FREE) return;
  if (b->kind == BARRIER_BOX) u[0] *= b->beta;
  if (b->kind == BARRIER_FIXED) u[0] = 0;
  if (b->kind != BARRIER_CONE) return;
  const double along = dot(b->v, u, b->rows);
  u[0] = b->beta * (2 * b->v[0] * along - u[0]);
  for (int i = 1; i < b->rows; i++) u[i] = b->beta * (2 * b->v[i] * along + u[i]);
  for (int i = b->rows; i < b->size; i++) u[i] = 0;
}

void barrier_divide(const barrier *b, double *u) {
  if (b->kind == BARRIER_CONE) divide(b, u);
  if (b->kind == BARRIER_BOX) u[0] /= b->beta;
  if (b->kind == BARRIER_FIXED) u[0] = 0;
  for (int i = b->rows; i < b->size && b->kind == BARRIER_CONE; i++) u[i] = 0;
}

/* lambda o q = target - lambda o lambda - dy o (W dw), where W dw = -lambda - dy for the predictor. */
static void right_side_of_cone(const barrier *b, double target, const double *dy, double *q) {
  const double *l = b->lambda;
  double r[BARRIER_ROWS] = {target};
  if (dy) {
    r[0] += dot(dy, l, b->rows) + dot(dy, dy, b->rows);
    for (int i = 1; i < b->rows; i++) r[i] += dy[0] * (l[i] + dy[i]) + dy[i] * (l[0] + dy[0]);
  }
  double along = 0;
  for (int i = 1; i < b->rows; i++) along += l[i] * r[i];
  q[0] = (l[0] * r[0] - along) / det(l, b->rows);
  for (int i = 1; i < b->rows; i++) q[i] = (r[i] - q[0] * l[i]) / l[0];
  for (int i = 0; i < b->rows; i++) q[i] -= l[i];
}

void barrier_right_side(barrier *b, const double *z, double target, const double *dy, double *q) {
  for (int i = 0; i < b->size; i++) q[i] = 0;
  if (b->kind == BARRIER_CONE) right_side_of_cone(b, target, dy, q);
  if (b->kind != BARRIER_BOX) return;
  const double dz = dy ? b->beta * dy[0] : 0;
  for (int s = 0; s < 2; s++)
    b->q[s] = b->bound[s] > 0 ? (target + (s ? dz : -dz) * b->d[s]) / distance(b, z, s) - b->bound[s] : 0;
  q[0] = b->beta * (b->q[0] - b->q[1]);
}

void barrier_step(barrier *b, const double *z, const double *q, const double *dy, double *dz, double *dw,
                  double *d_bound) {
  for (int i = 0; i < b->size; i++) {
    dz[i] = dy[i];
    dw[i] = b->kind == BARRIER_CONE && i < b->rows ? q[i] - dy[i] : 0;
  }
  barrier_multiply(b, dz);
  if (b->kind == BARRIER_CONE) divide(b, dw);
  for (int s = 0; s < 2; s++) {
    const bool there = b->kind == BARRIER_BOX && b->bound[s] > 0;
    d_bound[s] = b->d[s] = there ? b->q[s] + (s ? dz[0] : -dz[0]) * b->bound[s] / distance(b, z, s) : 0;
  }
  if (b->kind == BARRIER_BOX) dw[0] = d_bound[0] - d_bound[1];
}

double barrier_reach(const barrier *b, const double *z, const double *w, const double *dz, const double *dw,
                     const double *d_bound, double times) {
  if (b->kind == BARRIER_CONE) return fmin(reach(z, dz, b->rows, times), reach(w, dw, b->rows, times));
  double share = HUGE_VAL;
  for (int s = 0; s < 2 && b->kind == BARRIER_BOX; s++) {
    const double towards = times * (s ? dz[0] : -dz[0]);
    if (times * d_bound[s] < 0) share = fmin(share, -b->bound[s] / (times * d_bound[s]));
    if (towards > 0) share = fmin(share, distance(b, z, s) / towards);
  }
  return share;
}
