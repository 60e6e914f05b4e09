/* Cones |t| <= n and intervals, one at a time. Cones by Nesterov & Todd (1997), formulas as in Vandenberghe, The CVXOPT
 * linear and quadratic cone program solvers (2010): J = diag(1, -1, ...), det u = u J u, u o x = (u x, u_0 x_t + x_0 u_t). */
#include "cp/barrier.h"

#include <math.h>

barrier barrier_create(const ss_block *block, int first, int size) {
  barrier b = {.kind = BARRIER_CONE, .first = first, .size = size, .rows = size, .unit = 1};
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

/* Largest share of d that keeps z + share d in the cone: the first root of det(z + share d). */
static double reach(const double *z, const double *d, int rows) {
  const double a = det(d, rows), c = det(z, rows);
  double half = z[0] * d[0];
  for (int i = 1; i < rows; i++) half -= z[i] * d[i];
  if (rows == 1) return d[0] < 0 ? -z[0] / d[0] : HUGE_VAL;
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
  b->low = isfinite(b->lower);
  b->high = isfinite(b->upper);
  z[0] = !isfinite(b->upper) ? b->lower + 1 : !isfinite(b->lower) ? b->upper - 1 : 0.5 * (b->lower + b->upper);
  w[0] = b->low - b->high;
}

void barrier_start_near(barrier *b, double near, double *z, double *u) {
  if (b->kind == BARRIER_CONE) {
    z[0] = fmax(z[0], tail(z, b->rows)) + near;
    u[0] = fmax(u[0], 0) + tail(u, b->rows) + near; /* De Saxce's shift */
    for (int i = b->rows; i < b->size; i++) z[i] = u[i] = 0;
  } else if (b->kind == BARRIER_BOX) {
    const double w = u[0], width = fmin(near, 0.5 * (b->upper - b->lower));
    z[0] = fmin(fmax(z[0], b->lower + width), b->upper - width);
    b->low = isfinite(b->lower) ? fmax(w, 0) + near : 0;
    b->high = isfinite(b->upper) ? fmax(-w, 0) + near : 0;
    u[0] = b->low - b->high;
  } else {
    u[0] = 0;
    if (b->kind == BARRIER_FIXED) z[0] = b->lower;
  }
}

static double product_low(const barrier *b, const double *z) { return b->low > 0 ? b->low * (z[0] - b->lower) : 0; }
static double product_high(const barrier *b, const double *z) { return b->high > 0 ? b->high * (b->upper - z[0]) : 0; }

double barrier_gap(const barrier *b, const double *z, const double *w) {
  if (b->kind == BARRIER_CONE) return dot(z, w, b->rows);
  return b->kind == BARRIER_BOX ? product_low(b, z) + product_high(b, z) : 0;
}

void barrier_scale(barrier *b, const double *z, const double *w) {
  if (b->kind == BARRIER_CONE) scale_cone(b, z, w);
  if (b->kind != BARRIER_BOX) return;
  const double low = b->low > 0 ? b->low / (z[0] - b->lower) : 0, high = b->high > 0 ? b->high / (b->upper - z[0]) : 0;
  b->beta = 1 / sqrt(low + high);
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
  b->q_low = b->low > 0 ? (target - dz * b->d_low) / (z[0] - b->lower) - b->low : 0;
  b->q_high = b->high > 0 ? (target + dz * b->d_high) / (b->upper - z[0]) - b->high : 0;
  q[0] = b->beta * (b->q_low - b->q_high);
}

static double step_of_box(barrier *b, const double *z, double dz) {
  b->d_low = b->low > 0 ? b->q_low - b->low * dz / (z[0] - b->lower) : 0;
  b->d_high = b->high > 0 ? b->q_high + b->high * dz / (b->upper - z[0]) : 0;
  double share = HUGE_VAL;
  if (b->d_low < 0) share = fmin(share, -b->low / b->d_low);
  if (b->d_high < 0) share = fmin(share, -b->high / b->d_high);
  if (dz < 0) share = fmin(share, (b->lower - z[0]) / dz);
  if (dz > 0) share = fmin(share, (b->upper - z[0]) / dz);
  return share;
}

double barrier_step(barrier *b, const double *z, const double *w, const double *q, const double *dy, double *dz,
                    double *dw) {
  for (int i = 0; i < b->size; i++) {
    dz[i] = dy[i];
    dw[i] = b->kind == BARRIER_CONE && i < b->rows ? q[i] - dy[i] : 0;
  }
  barrier_multiply(b, dz);
  if (b->kind == BARRIER_BOX) return step_of_box(b, z, dz[0]);
  if (b->kind != BARRIER_CONE) return HUGE_VAL;
  divide(b, dw);
  return fmin(reach(z, dz, b->rows), reach(w, dw, b->rows));
}

void barrier_move(barrier *b, double share, const double *dz, const double *dw, double *z, double *w) {
  for (int i = 0; i < b->size; i++) {
    z[i] += share * dz[i];
    w[i] += share * dw[i];
  }
  if (b->kind != BARRIER_BOX) return;
  b->low += share * b->d_low;
  b->high += share * b->d_high;
  w[0] = b->low - b->high;
}
