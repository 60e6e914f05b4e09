/* Pairs of numbers, and cones by Nesterov & Todd (1997), formulas as in Vandenberghe, The CVXOPT linear and quadratic cone program
 * solvers (2010): J = diag(1, -1, ...), det x = x J x, x o s = (x s, x_0 s_t + s_0 x_t). */
#include "cp/barrier.h"

#include <math.h>

/* ---- one cone ---- */

static double tail(const double *x, int rows) {
  double sum = 0;
  for (int i = 1; i < rows; i++) sum += x[i] * x[i];
  return sqrt(sum);
}

static double det(const double *x, int rows) {
  const double t = tail(x, rows);
  return (x[0] - t) * (x[0] + t);
}

static double dot(const double *x, const double *s, int rows) {
  double sum = 0;
  for (int i = 0; i < rows; i++) sum += x[i] * s[i];
  return sum;
}

/* x = W x */
static void cone_multiply(const barrier *b, double *x) {
  const double along = dot(b->v, x, b->rows);
  x[0] = b->beta * (2 * b->v[0] * along - x[0]);
  for (int i = 1; i < b->rows; i++) x[i] = b->beta * (2 * b->v[i] * along + x[i]);
}

/* x = W^-1 x */
static void cone_divide(const barrier *b, double *x) {
  double along = b->v[0] * x[0];
  for (int i = 1; i < b->rows; i++) along -= b->v[i] * x[i];
  x[0] = (2 * b->v[0] * along - x[0]) / b->beta;
  for (int i = 1; i < b->rows; i++) x[i] = (x[i] - 2 * b->v[i] * along) / b->beta;
}

static void scale_cone(barrier *b, const double *x, const double *s) {
  const double dx = sqrt(det(x, b->rows)), ds = sqrt(det(s, b->rows));
  const double gamma = sqrt(0.5 * (1 + dot(x, s, b->rows) / (dx * ds)));
  double *lambda = b->lambda + b->pairs;
  for (int i = 0; i < b->rows; i++) b->v[i] = (x[i] / dx + (i ? -s[i] : s[i]) / ds) / (2 * gamma);
  const double half = sqrt(2 * (b->v[0] + 1));
  b->v[0] += 1;
  for (int i = 0; i < b->rows; i++) b->v[i] /= half;
  b->beta = sqrt(dx / ds);
  for (int i = 0; i < b->rows; i++) lambda[i] = s[i];
  cone_multiply(b, lambda);
}

/* Largest share of `times` d that keeps x + share times d in the cone: the first root of det. */
static double cone_reach(const double *x, const double *d, int rows, double times) {
  if (rows == 1) return times * d[0] < 0 ? -x[0] / (times * d[0]) : HUGE_VAL;
  const double a = times * times * det(d, rows), c = det(x, rows);
  double half = x[0] * d[0];
  for (int i = 1; i < rows; i++) half -= x[i] * d[i];
  half *= times;
  const double root = half * half - a * c;
  if (root < 0) return HUGE_VAL; /* a > 0: never leaves */
  const double to = half < 0 ? c / (-half + sqrt(root)) : a < 0 ? (-half - sqrt(root)) / a : HUGE_VAL;
  return to > 0 ? to : HUGE_VAL;
}

/* l o q = target - l o l - dy o (W ds), where W ds = -l - dy for the predictor. */
static void cone_right_side(const double *l, int rows, double target, const double *dy, double *q) {
  double r[BARRIER_ROWS] = {target};
  if (dy) {
    r[0] += dot(dy, l, rows) + dot(dy, dy, rows);
    for (int i = 1; i < rows; i++) r[i] += dy[0] * (l[i] + dy[i]) + dy[i] * (l[0] + dy[0]);
  }
  double along = 0;
  for (int i = 1; i < rows; i++) along += l[i] * r[i];
  q[0] = (l[0] * r[0] - along) / det(l, rows);
  for (int i = 1; i < rows; i++) q[i] = (r[i] - q[0] * l[i]) / l[0];
  for (int i = 0; i < rows; i++) q[i] -= l[i];
}

/* ---- nodes ---- */

static void create_friction(barrier *b, const ss_block *block, const double *corners) {
  const bool round_set = block->cone == SS_CONE_QUADRATIC || block->size == 2;
  b->mu = block->mu;
  b->room = block->mu * block->extra;
  b->normal = true;
  if (!(block->mu > 0)) return;
  if (round_set && !(block->extra > 0)) {
    b->kind = BARRIER_CONE;
    b->normal = false;
    b->rows = block->size;
  } else if (round_set) {
    b->kind = BARRIER_DISC;
    b->rows = block->size;
  } else if (block->cone == SS_CONE_PYRAMID) {
    b->groups = block->size - 1;
    b->per = 2;
  } else {
    b->groups = 1;
    b->per = block->directions;
    b->corner = corners;
  }
}

static void create_box(barrier *b, const ss_block *block) {
  const bool below = isfinite(block->lower), above = isfinite(block->upper);
  b->offset = below ? block->lower : block->upper;
  if (!below && !above) {
    b->kind = BARRIER_FREE;
    b->offset = 0;
  } else if (!(block->lower < block->upper)) {
    b->kind = BARRIER_FIXED;
  } else if (below && above) {
    b->groups = b->per = 1;
    b->room = block->upper - block->lower;
  } else {
    b->normal = true;
    b->sign = below ? 1 : -1;
  }
}

barrier barrier_create(const ss_block *block, int first, int size, const double *corners) {
  barrier b = {.kind = BARRIER_PAIRS, .first = first, .size = size, .sign = 1};
  if (block->kind == SS_BLOCK_FREE) b.kind = BARRIER_FREE;
  if (block->kind == SS_BLOCK_NONNEGATIVE) b.normal = true;
  if (block->kind == SS_BLOCK_BOX) create_box(&b, block);
  if (block->kind == SS_BLOCK_FRICTION) create_friction(&b, block, corners);
  b.pairs = b.normal + b.groups * (b.per + 1);
  b.count = b.kind == BARRIER_FREE || b.kind == BARRIER_FIXED ? 1 : b.pairs + b.rows;
  return b;
}

int barrier_degree(const barrier *b) { return b->pairs + (b->rows > 0); }

static bool is_plain(const barrier *b) { return b->kind == BARRIER_FREE || b->kind == BARRIER_FIXED; }

/* Where group g begins in the inner coordinates: its directions, then the multiplier. */
static int group_at(const barrier *b, int g) { return b->normal + g * (b->per + 1); }

/* d . w for direction j of group g. */
static double along_direction(const barrier *b, int g, int j, const double *w) {
  if (b->corner) return b->corner[2 * j] * w[1] + b->corner[2 * j + 1] * w[2];
  return (j ? -1 : 1) * w[b->normal + g];
}

static void add_direction(const barrier *b, int g, int j, double beta, double *z) {
  if (b->corner) {
    z[1] += beta * b->corner[2 * j];
    z[2] += beta * b->corner[2 * j + 1];
  } else {
    z[b->normal + g] += j ? -beta : beta;
  }
}

void barrier_start(const barrier *b, double *x, double *s) {
  for (int i = 0; i < b->count; i++) x[i] = s[i] = 0;
  if (b->kind == BARRIER_FIXED) x[0] = b->offset;
  if (b->normal) x[0] = s[0] = 1;
  if (b->rows) {
    x[b->pairs] = b->normal ? b->mu + b->room : 1;
    s[b->pairs] = 1 / x[b->pairs];
  }
  for (int g = 0; g < b->groups; g++) {
    double *beta = x + group_at(b, g), *slack = s + group_at(b, g);
    const double room = (b->normal ? b->mu : 0) + b->room, part = fmin(0.5 * room, 1) / b->per;
    for (int j = 0; j < b->per; j++) {
      beta[j] = part;
      slack[j] = 1 / part;
    }
    slack[b->per] = room - part * b->per;
    beta[b->per] = 1 / slack[b->per];
  }
}

/* beta >= 0 with z = sum beta_j d_j, of the two directions beside z. */
static void decompose(const barrier *b, int g, const double *z, double *beta) {
  for (int j = 0; j < b->per; j++) beta[j] = 0;
  if (!b->corner) {
    const double along = z[b->normal + g] - b->offset;
    if (along > 0) beta[0] = along;
    if (along < 0 && b->per > 1) beta[1] = -along;
    return;
  }
  const double sector = 8 * atan(1) / b->per, angle = atan2(z[2], z[1]);
  const int i = (int)floor(angle / sector), j = (i + b->per) % b->per, next = (j + 1) % b->per;
  const double length = hypot(z[1], z[2]), from = angle - i * sector;
  beta[j] = length * sin(sector - from) / sin(sector);
  beta[next] = length * sin(from) / sin(sector);
}

static void start_group_near(const barrier *b, int g, double near, double room, const double *z, const double *w,
                             double *x, double *s) {
  const double margin = fmin(near, 0.25 * room);
  double sum = 0, least = 0;
  decompose(b, g, z, x);
  for (int j = 0; j < b->per; j++) {
    x[j] = fmax(x[j], 0);
    sum += x[j];
    least = fmin(least, along_direction(b, g, j, w));
  }
  const double share = sum > room - 2 * margin ? (room - 2 * margin) / sum : 1;
  x[b->per] = near - least;
  s[b->per] = room - share * sum - margin;
  for (int j = 0; j < b->per; j++) {
    x[j] = share * x[j] + margin / b->per;
    s[j] = along_direction(b, g, j, w) + x[b->per];
  }
}

void barrier_start_near(const barrier *b, double near, const double *z, const double *w, double *x, double *s) {
  for (int i = 0; i < b->count; i++) x[i] = s[i] = 0;
  if (is_plain(b)) x[0] = b->kind == BARRIER_FIXED ? b->offset : z[0];
  if (b->normal) {
    x[0] = fmax(b->sign * (z[0] - b->offset), 0) + near;
    s[0] = fmax(b->sign * w[0], 0) + near;
  }
  if (b->rows) {
    double *cone = x + b->pairs, *slack = s + b->pairs;
    for (int i = 1; i < b->rows; i++) {
      cone[i] = z[i];
      slack[i] = w[i];
    }
    cone[0] = fmax(b->normal ? b->mu * x[0] + b->room : b->mu * z[0], tail(cone, b->rows)) + near;
    slack[0] = (b->normal ? 0 : fmax(w[0] / b->mu, 0)) + tail(slack, b->rows) + near;
  }
  for (int g = 0; g < b->groups; g++)
    start_group_near(b, g, near, (b->normal ? b->mu * x[0] : 0) + b->room, z, w, x + group_at(b, g),
                     s + group_at(b, g));
}

void barrier_impulses(const barrier *b, const double *x, double offset, double *z) {
  for (int i = 0; i < b->size; i++) z[i] = 0;
  if (is_plain(b)) {
    z[0] = x[0];
    return;
  }
  z[0] = offset * b->offset;
  if (b->normal) z[0] += b->sign * x[0];
  if (b->kind == BARRIER_CONE) z[0] = x[0] / b->mu;
  for (int i = 1; i < b->rows; i++) z[i] = x[b->pairs + i];
  for (int g = 0; g < b->groups; g++)
    for (int j = 0; j < b->per; j++) add_direction(b, g, j, x[group_at(b, g) + j], z);
}

double barrier_gap(const barrier *b, const double *x, const double *s) { return is_plain(b) ? 0 : dot(x, s, b->count); }

/* |w_t| blurred by the gap, with its derivatives. */
static double shift(barrier *b, const double *w, double gap) {
  double sum = gap * gap;
  for (int i = 1; i < b->rows; i++) sum += w[i] * w[i];
  const double length = sqrt(sum);
  for (int i = 1; i < b->rows; i++) b->d[i] = length > 0 ? w[i] / length : 0;
  b->by_gap = length > 0 ? gap / length : 0;
  return length;
}

void barrier_linearise(barrier *b, const double *x, const double *s, const double *w, double gap, double *r) {
  if (is_plain(b)) {
    r[0] = b->kind == BARRIER_FREE ? w[0] : 0;
    return;
  }
  for (int i = 0; i < b->pairs; i++) {
    b->scale[i] = sqrt(x[i] / s[i]);
    b->lambda[i] = sqrt(x[i] * s[i]);
  }
  if (b->rows) scale_cone(b, x + b->pairs, s + b->pairs);
  if (b->normal) r[0] = b->sign * w[0] - s[0];
  for (int i = 1; i < b->rows; i++) r[b->pairs + i] = w[i] - s[b->pairs + i];
  if (b->kind == BARRIER_CONE) r[0] = w[0] / b->mu + shift(b, w, gap) - s[0];
  if (b->kind == BARRIER_DISC) r[1] = b->mu * x[0] + b->room - x[1];
  for (int g = 0; g < b->groups; g++) {
    const int at = group_at(b, g), last = at + b->per;
    r[last] = (b->normal ? b->mu * x[0] : 0) + b->room - s[last];
    for (int j = 0; j < b->per; j++) {
      r[at + j] = along_direction(b, g, j, w) + x[last] - s[at + j];
      r[last] -= x[at + j];
    }
  }
}

void barrier_divide(const barrier *b, double *x) {
  if (is_plain(b)) return;
  for (int i = 0; i < b->pairs; i++) x[i] /= b->scale[i];
  if (b->rows) cone_divide(b, x + b->pairs);
}

void barrier_right_side(const barrier *b, double target, const double *predicted, double *f) {
  for (int i = 0; i < b->count; i++) f[i] = 0;
  if (is_plain(b)) return;
  for (int i = 0; i < b->pairs; i++) cone_right_side(b->lambda + i, 1, target, predicted ? predicted + i : NULL, f + i);
  if (b->rows)
    cone_right_side(b->lambda + b->pairs, b->rows, target, predicted ? predicted + b->pairs : NULL, f + b->pairs);
  barrier_divide(b, f);
}

/* Directions beta and multiplier lambda of a group for a change dn of what they may add up to. */
static void solve_group(const barrier *b, int g, const double *f, const double *r, const double *dw, double dn,
                        double *dx) {
  const int at = group_at(b, g), last = at + b->per;
  double sum = f[last] - r[last] - dn, give = 1 / (b->scale[last] * b->scale[last]);
  for (int j = at; j < last; j++) {
    const double soft = b->scale[j] * b->scale[j];
    dx[j] = soft * (f[j] - r[j] - (dw ? along_direction(b, g, j - at, dw) : 0));
    sum += dx[j];
    give += soft;
  }
  dx[last] = sum / give;
  for (int j = at; j < last; j++) dx[j] -= b->scale[j] * b->scale[j] * dx[last];
}

/* The tangential rows of a cone whose axis is given: dx_t of (W^-2 dx)_t = right. */
static void solve_tangents(const barrier *b, const double *right, double *dx) {
  enum { MOST = BARRIER_ROWS };
  const int n = b->rows - 1;
  double M[MOST][MOST], y[MOST];
  for (int c = 0; c <= n; c++) {
    double column[MOST] = {0};
    column[c] = 1;
    cone_divide(b, column);
    cone_divide(b, column);
    for (int i = 0; i < n; i++) {
      if (c)
        M[i][c - 1] = column[i + 1];
      else
        y[i] = right[i + 1] - column[i + 1] * dx[0];
    }
  }
  for (int c = 0; c < n; c++) /* positive definite */
    for (int i = c + 1; i < n; i++) {
      const double by = M[i][c] / M[c][c];
      for (int j = c; j < n; j++) M[i][j] -= by * M[c][j];
      y[i] -= by * y[c];
    }
  for (int c = n - 1; c >= 0; c--) {
    for (int j = c + 1; j < n; j++) y[c] -= M[c][j] * dx[1 + j];
    dx[1 + c] = y[c] / M[c][c];
  }
}

static void solve_cone(const barrier *b, const double *f, const double *r, const double *dw, double *dx) {
  const int n = b->rows;
  double right[BARRIER_ROWS];
  for (int i = 0; i < n; i++) right[i] = f[i] - (b->normal && i == 0 ? 0 : r[i]) - (dw && i ? dw[i] : 0);
  if (b->normal) {
    solve_tangents(b, right, dx);
    return;
  }
  if (dw) right[0] -= dw[0] / b->mu + dot(b->d + 1, dw + 1, n - 1);
  for (int i = 0; i < n; i++) dx[i] = right[i];
  cone_multiply(b, dx);
  cone_multiply(b, dx);
}

void barrier_solve(const barrier *b, const double *f, const double *r, const double *dw, double *dx) {
  double dn = 0;
  for (int i = 0; i < b->count; i++) dx[i] = 0;
  if (b->kind == BARRIER_FREE) dx[0] = -(r[0] + (dw ? dw[0] : 0)) / b->stiffness;
  if (is_plain(b)) return;
  if (b->normal) {
    dx[0] = b->scale[0] * b->scale[0] * (f[0] - r[0] - (dw ? b->sign * dw[0] : 0));
    dn = b->mu * dx[0];
  }
  for (int g = 0; g < b->groups; g++) solve_group(b, g, f, r, dw, dn, dx);
  if (b->rows == 0) return;
  if (b->normal) dx[b->pairs] = dn + r[b->pairs];
  solve_cone(b, f + b->pairs, r + b->pairs, dw, dx + b->pairs);
}

void barrier_slack_step(const barrier *b, const double *f, const double *dx, double *ds) {
  for (int i = 0; i < b->count; i++) ds[i] = dx[i];
  barrier_divide(b, ds);
  barrier_divide(b, ds);
  for (int i = 0; i < b->count; i++) ds[i] = is_plain(b) ? 0 : f[i] - ds[i];
}

double barrier_reach(const barrier *b, const double *x, const double *s, const double *dx, const double *ds,
                     double times) {
  double share = HUGE_VAL;
  for (int i = 0; i < b->pairs; i++)
    share = fmin(share, fmin(cone_reach(x + i, dx + i, 1, times), cone_reach(s + i, ds + i, 1, times)));
  if (b->rows == 0) return share;
  const int k = b->pairs;
  return fmin(share, fmin(cone_reach(x + k, dx + k, b->rows, times), cone_reach(s + k, ds + k, b->rows, times)));
}
