/* Interior points for discs, intervals, boxes, nonnegative and free rows, in the velocities.
 *
 * Coulomb's law on a disc is z in K, u = w + s e_n in the dual cone of K, z . u = 0 with De Saxce's shift s = mu |w_t|. For a given s and
 * positive semi-definite G these are the conditions of a convex problem, min z G z / 2 + (g + s) z over K, whose central path z o u = t e
 * exists whether contacts are redundant or not. s follows w, with its derivative in E = 1 + mu e_n d^T, d = w_t / |w_t| (smoothed by t).
 * With the scaling W of Nesterov and Todd (barrier.c), w = J y + R z + g and A y = J^T z a Newton step is
 *
 *     dz = b - T (J dy + R dz),   b = W (q - W r),   T = W W E,   r = w + s e_n - u,
 *     (A + J^T D J) dy = J^T (1 + T R)^-1 b - (A y - J^T z),   D = (1 + T R)^-1 T,
 *
 * one factorisation in the velocities (velocity_space.h), and two solutions. Errors of the factors do not stay: each step begins from the
 * residuals.
 *
 * The predictor and corrector of Mehrotra, with long steps, reach most solutions in some twenty steps. But with s the problem is not
 * convex, and the path turns: t has to grow for a while before it can fall further. Long steps get stuck at such a fold. Then the path is
 * followed by its arc length (Allgower & Georg 1990): along the tangent (dX/dt, 1), forwards or backwards in t so that it does not turn
 * round, in sharp bends as the sign of the determinant says, and back to the path by Newton's method at right angles to it. For large t there is
 * one point only, and while z stays bounded the path that begins there can end nowhere but at t = 0. Wherever it has come lower than long
 * steps had, these are tried again.
 *
 * From a residual that is small, proximal steps (compliant.h) lead to the last digits: the states are right there. A given z is moved away
 * from the edge, where the method cannot turn round any more.
 *
 * Fails where the path leaves to infinity (no solution, or none that is bounded), and at the limit. Polygons, pyramids and `extra` are not
 * admitted. */
#include "cp/barrier.h"
#include "cp/compliant.h"
#include "cp/solver.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { DEFAULT_STEPS = 2000, SQUARE = BARRIER_ROWS * BARRIER_ROWS };
static const double hard = 1e-9;  /* compliance of a free row in a step, over that of the problem */
static const double close = 1e-4; /* residual from which the states may be right */
static const double near = 1e-2;  /* what a given z is moved inside by */

/* A point, or a step: impulses and slacks in the units of the cones, velocities, multipliers of the bounds; one array. */
typedef struct interior_vector {
  double *z, *u, *y, *bound; /* [n], [n], [m], [nodes][2] */
} interior_vector;

typedef struct interior {
  compliant k;
  barrier *set;                   /* [nodes] */
  double *by_gap;                 /* [nodes] derivative of s / mu by the gap */
  double *inverse;                /* [nodes][SQUARE] (1 + T R)^-1 */
  size_t size;                    /* numbers of a vector */
  interior_vector at, d;          /* the point; the last direction */
  interior_vector tangent, along; /* dX / d log t at the point; the one that the last step was made in */
  interior_vector safe, start;    /* points to go back to */
  double *x, *w, *r, *q, *b,
      *change; /* [n] impulses and slacks in the units of the problem; r, q and b in those of the cones */
  double *scaled, *predicted, *best; /* [n] W^-1 dz; that of the predictor; the best z so far */
  double *F;                         /* [m] A y - J^T z */
  double gap;                        /* mean product, which blurs |w_t| */
  double lowest, finished;           /* residual of best, by the judge; the one that the last digits were tried from */
  int sign;                          /* of the determinants of 1 + T R */
  int limit;                         /* steps */
  double on_path;                    /* size of a Newton step that counts as being on the path */
  const ss_cp_options *options;
  ss_cp_result *result;
} interior;

static int node_size(const interior *p, int i) { return p->k.nodes.first[i + 1] - p->k.nodes.first[i]; }

/* s, with |w_t| blurred by the gap; d in E; the derivative of s / mu by the gap. */
static double shift_of(const interior *p, const barrier *b, double *d, double *by_gap) {
  double sum = p->gap * p->gap;
  *by_gap = 0;
  for (int i = 1; i < b->size; i++) d[i] = 0;
  if (b->kind != BARRIER_CONE || b->rows < 2) return 0;
  for (int i = 1; i < b->rows; i++) sum += p->w[b->first + i] * p->w[b->first + i];
  if (!(sum > 0)) return 0;
  for (int i = 1; i < b->rows; i++) d[i] = p->w[b->first + i] / sqrt(sum);
  *by_gap = p->gap / sqrt(sum);
  return b->unit * sqrt(sum);
}

static void compute_slack(interior *p) {
  p->k.space.slack(p->k.space.user, p->at.y, p->w);
  for (int i = 0; i < p->k.cp.n; i++) p->w[i] += p->k.cp.g[i] + (p->k.R ? p->k.R[i] * p->x[i] : 0);
}

/* x = M^-1 for a matrix of few rows; no pivots are needed where it is 1 + T R. Returns the sign of the determinant. */
static int invert(double *M, int n, double *x) {
  int sign = 1;
  for (int i = 0; i < n * n; i++) x[i] = i % (n + 1) == 0;
  for (int c = 0; c < n; c++) {
    const double pivot = 1 / M[c * n + c];
    if (pivot < 0) sign = -sign;
    for (int j = 0; j < n; j++) {
      M[c * n + j] *= pivot;
      x[c * n + j] *= pivot;
    }
    for (int i = 0; i < n; i++) {
      const double by = M[i * n + c];
      if (i == c || by == 0) continue;
      for (int j = 0; j < n; j++) {
        M[i * n + j] -= by * M[c * n + j];
        x[i * n + j] -= by * x[c * n + j];
      }
    }
  }
  return sign;
}

/* T of one node, in the units of the problem: column by column, d by the shift's derivative. */
static void fill_derivative(const interior *p, const barrier *b, const double *d, double *T) {
  const int n = b->size;
  for (int j = 0; j < n; j++) {
    double column[BARRIER_ROWS] = {0};
    column[j] = j ? 1 : 1 / b->unit;
    if (j) column[0] = d[j];
    if (b->kind == BARRIER_FREE) {
      column[0] = 1 / (hard * p->k.typical * p->k.c[b->first]);
    } else {
      barrier_multiply(b, column);
      barrier_multiply(b, column);
    }
    for (int i = 0; i < n; i++) T[i * n + j] = column[i] / (i ? 1 : b->unit);
  }
}

/* D and (1 + T R)^-1. */
static void eliminate_compliance(interior *p, int node, const double *T) {
  const int n = node_size(p, node), first = p->k.nodes.first[node];
  double M[SQUARE], *inverse = p->inverse + (size_t)node * SQUARE;
  for (int i = 0; i < n * n; i++) M[i] = (i % (n + 1) == 0) + (p->k.R ? T[i] * p->k.R[first + i % n] : 0);
  p->sign *= invert(M, n, inverse);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int m = 0; m < n; m++) sum += inverse[i * n + m] * T[m * n + j];
      p->k.D[first + i][j] = sum;
    }
}

/* The gap, x, w, r, F, D and the scaling at the present point. */
static void linearise(interior *p) {
  const compliant *k = &p->k;
  int degree = 0;
  p->gap = 0;
  p->sign = 1;
  for (int i = 0; i < k->nodes.count; i++) {
    const barrier *b = &p->set[i];
    p->gap += barrier_gap(b, p->at.z + b->first, p->at.u + b->first);
    degree += barrier_degree(b);
    for (int j = 0; j < b->size; j++) p->x[b->first + j] = p->at.z[b->first + j] / (j ? 1 : b->unit);
  }
  if (degree) p->gap /= degree;
  compute_slack(p);
  k->space.collect(k->space.user, p->at.y, p->x, p->F);
  for (int i = 0; i < k->nodes.count; i++) {
    barrier *b = &p->set[i];
    double d[BARRIER_ROWS], T[SQUARE];
    const double s = shift_of(p, b, d, &p->by_gap[i]);
    barrier_scale(b, p->at.z + b->first, p->at.u + b->first);
    for (int j = 0; j < b->size; j++)
      p->r[b->first + j] = (j ? p->w[b->first + j] : (p->w[b->first] + s) / b->unit) - p->at.u[b->first + j];
    fill_derivative(p, b, d, T);
    eliminate_compliance(p, i, T);
  }
}

/* b = (1 + T R)^-1 W (q - W r), in the units of the problem. */
static void right_side(interior *p, double target) {
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *b = &p->set[i];
    const int n = b->size;
    double v[BARRIER_ROWS];
    memcpy(v, p->r + b->first, sizeof *v * (size_t)n);
    v[0] += p->by_gap[i] * (target - p->gap);
    if (b->kind == BARRIER_FREE) {
      v[0] /= -hard * p->k.typical * p->k.c[b->first];
    } else {
      barrier_multiply(b, v);
      for (int j = 0; j < n; j++) v[j] = p->q[b->first + j] - v[j];
      barrier_multiply(b, v);
    }
    v[0] /= b->unit;
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int m = 0; m < n; m++) sum += p->inverse[(size_t)i * SQUARE + (size_t)(j * n + m)] * v[m];
      p->b[b->first + j] = sum;
    }
  }
}

/* change = b - D J dy, dz in the units of the problem. */
static void impulses_of(interior *p) {
  const compliant *k = &p->k;
  k->space.slack(k->space.user, p->d.y, k->w);
  for (int i = 0; i < k->nodes.count; i++) {
    const int first = k->nodes.first[i], n = node_size(p, i);
    for (int j = 0; j < n; j++) {
      double sum = p->b[first + j];
      for (int m = 0; m < n; m++) sum -= k->D[first + j][m] * k->w[first + m];
      p->change[first + j] = sum;
    }
  }
}

/* dy, and the impulses that belong to it. */
static void solve(interior *p) {
  const compliant *k = &p->k;
  k->space.load(k->space.user, p->b, p->d.y);
  for (int i = 0; i < k->space.m; i++) p->d.y[i] -= p->F[i];
  k->space.solve(k->space.user, p->d.y);
  impulses_of(p);
}

/* p->d: the Newton step towards products of `target`; the second-order part of a predictor's W^-1 dz is taken out. */
static void direction(interior *p, double target, const double *predicted) {
  for (int i = 0; i < p->k.nodes.count; i++) {
    barrier *b = &p->set[i];
    const double *dy = predicted ? predicted + b->first : NULL;
    barrier_right_side(b, p->at.z + b->first, target, dy, p->q + b->first);
  }
  right_side(p, target);
  solve(p);
  for (int i = 0; i < p->k.nodes.count; i++) {
    barrier *b = &p->set[i];
    const int f = b->first;
    for (int j = 0; j < b->size; j++) p->scaled[f + j] = p->change[f + j] * (j ? 1 : b->unit);
    barrier_divide(b, p->scaled + f);
    barrier_step(b, p->at.z + f, p->q + f, p->scaled + f, p->d.z + f, p->d.u + f, p->d.bound + (ptrdiff_t)2 * i);
  }
}

/* How often `times` d can be gone until an edge. */
static double reach(const interior *p, const interior_vector *d, double times) {
  double share = HUGE_VAL;
  for (int i = 0; i < p->k.nodes.count; i++) {
    const int f = p->set[i].first;
    share = fmin(share, barrier_reach(&p->set[i], p->at.z + f, p->at.u + f, d->z + f, d->u + f,
                                      d->bound + (ptrdiff_t)2 * i, times));
  }
  return share;
}

static void go(interior *p, const interior_vector *d, double times) {
  for (size_t i = 0; i < p->size; i++) p->at.z[i] += times * d->z[i];
  linearise(p);
}

static void copy(const interior *p, const interior_vector *from, interior_vector *to) {
  memcpy(to->z, from->z, sizeof(double) * p->size);
}

static bool factor(interior *p) {
  p->result->iterations++;
  p->result->operations += p->k.space.operations;
  return p->k.space.factor(p->k.space.user, (const double(*)[SS_FRICTION_ROWS])p->k.D, 1);
}

/* Whether another step may be made. */
static bool can_go_on(const interior *p) {
  const ss_cp_options *o = p->options;
  return p->lowest > o->tolerance && p->result->iterations < p->limit &&
         !(o->work > 0 && p->result->operations > o->work) && !(o->stop && o->stop(o->stop_user));
}

/* The residual of the point, which is kept where it is the best so far. */
static void keep(interior *p, const double *x) {
  compliant_finish(&p->k, x, p->k.z);
  const double residual = ss_cp_judge(p->k.original, p->k.z, p->k.w);
  if (!(residual < p->lowest)) return;
  p->lowest = residual;
  memcpy(p->best, x, sizeof(double) * (size_t)p->k.cp.n);
}

/* ---- long steps ---- */

/* Mehrotra's predictor and corrector, until a solution, or a fold, where steps get short or the gap stays; returns the least gap. */
static double descend(interior *p) {
  static const double edge = 0.95, stuck = 0.02, little = 0.5;
  enum { PATIENCE = 10 };
  double least = p->gap, before = HUGE_VAL;
  for (int step = 0; can_go_on(p) && factor(p); step++) {
    if (step % PATIENCE == 0) {
      if (least > little * before) break;
      before = least;
    }
    direction(p, 0, NULL);
    const double rest = 1 - fmin(1, reach(p, &p->d, 1));
    memcpy(p->predicted, p->scaled, sizeof(double) * (size_t)p->k.cp.n);
    direction(p, p->gap * rest * rest * rest, p->predicted);
    const double share = fmin(1, edge * reach(p, &p->d, 1));
    if (!(share >= 0)) break;
    go(p, &p->d, share);
    keep(p, p->x);
    least = fmin(least, p->gap);
    if (share < stuck) break;
  }
  return least;
}

/* ---- the last digits ---- */

/* The last digits by proximal steps from the best point, where it is clearly better than when they were tried last. */
static void finish(interior *p) {
  enum { STEPS = 6, NEWTONS = 30 };
  static const double first = 1e-3, vain = 0.5, clearly = 0.3;
  compliant *k = &p->k;
  if (p->lowest <= p->options->tolerance || p->lowest > fmin(close, clearly * p->finished)) return;
  p->finished = p->lowest;
  double residual = compliant_anchor(k, p->best);
  k->eps = first * k->typical;
  k->step.newtons = 0;
  k->step.limit = NEWTONS;
  for (int i = 0; i < STEPS && p->lowest > p->options->tolerance && proximal_goes_on(&k->step); i++) {
    (void)compliant_newton(k, fmax(compliant_rounding(k), 0.01 * residual), true);
    const double now = compliant_anchor(k, k->step.now.z.z);
    keep(p, k->a);
    if (now > vain * residual) break;
    residual = now;
  }
  p->result->iterations += k->step.newtons;
  p->result->operations += k->step.newtons * k->space.operations;
}

/* ---- arc length ---- */

/* The product of two steps in z, relative to the point, where the products are t; the largest of one contact's parts. */
static double inner(const interior *p, const double *a, const double *b, double t, double *largest) {
  double sum = 0;
  *largest = 0;
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *s = &p->set[i];
    double x[BARRIER_ROWS], y[BARRIER_ROWS], part = 0;
    if (s->kind == BARRIER_FREE) continue;
    memcpy(x, a + s->first, sizeof *x * (size_t)s->size);
    memcpy(y, b + s->first, sizeof *y * (size_t)s->size);
    barrier_divide(s, x);
    barrier_divide(s, y);
    for (int j = 0; j < s->size; j++) part += x[j] * y[j] / t;
    sum += part;
    *largest = fmax(*largest, sqrt(fabs(part)));
  }
  return sum;
}

/* p->d: the step to the point of the path at t; p->tangent: how that point changes, per relative change of t. */
static void directions(interior *p, double t) {
  direction(p, 0, NULL);
  copy(p, &p->d, &p->tangent);
  direction(p, t, NULL);
  for (size_t i = 0; i < p->size; i++) p->tangent.z[i] = p->d.z[i] - p->tangent.z[i];
}

/* Newton steps to the path, at right angles to p->along; or, where it is `fixed`, to its point at *t. *first: size of the first step. */
static bool correct(interior *p, bool fixed, double *t, double *first) {
  enum { STEPS = 6, FIXED_STEPS = 30 };
  static const double edge = 0.9, vain = 0.8, far = 0.5;
  double last = HUGE_VAL, before = HUGE_VAL, size, change = 0;
  for (int i = 0; i < (fixed ? FIXED_STEPS : STEPS) && can_go_on(p) && factor(p); i++) {
    directions(p, *t);
    (void)inner(p, p->d.z, p->d.z, *t, &size);
    if (i == 0) *first = size;
    if (!fixed) {
      change =
          -inner(p, p->along.z, p->d.z, *t, &size) / (inner(p, p->along.z, p->tangent.z, *t, &size) + p->k.nodes.count);
      if (!(fabs(change) < edge)) return false;
      for (size_t k = 0; k < p->size; k++) p->d.z[k] += change * p->tangent.z[k];
      (void)inner(p, p->d.z, p->d.z, *t, &size);
    }
    const double share = fmin(1, edge * reach(p, &p->d, 1));
    if (!fixed && share < far) return false;
    go(p, &p->d, share);
    *t *= 1 + share * change;
    if (share == 1 && size < p->on_path) return true;
    if (!fixed && size > vain * before) return false;
    before = last;
    last = size;
  }
  return false;
}

/* The way of t at a point where the tangent and the factors are known: that of the last step where the tangent has hardly turned, else by the
 * sign of the determinant. A path that passes a bifurcation, as those of symmetric problems do, goes on with the other sign. */
static int way_of(interior *p, double t, int last, int *parity) {
  static const double hardly = 0.5;
  const int sign = p->sign * p->k.space.sign(p->k.space.user), nodes = p->k.nodes.count;
  double largest;
  const double now = inner(p, p->tangent.z, p->tangent.z, t, &largest) + nodes,
               before = inner(p, p->along.z, p->along.z, t, &largest) + nodes,
               both = inner(p, p->tangent.z, p->along.z, t, &largest) + nodes;
  if (fabs(both) < hardly * sqrt(now * before)) return *parity * sign;
  const int way = both > 0 ? last : -last;
  *parity = way * sign;
  return way;
}

/* A step along the path from its point at *t, in the direction `way` of t; half as long until it leads back to the path. *length: its
 * size, by the contact that changes most. */
static bool advance(interior *p, int way, double *t, double *length) {
  static const double edge = 0.9, down = 0.95, up = 3, easy = 0.15, hard_to_reach = 0.5, least = 1e-6, most = 2;
  const double t0 = *t;
  double largest, first = 0;
  copy(p, &p->at, &p->safe);
  copy(p, &p->tangent, &p->along);
  (void)inner(p, p->along.z, p->along.z, *t, &largest);
  for (; *length > least && can_go_on(p); *length /= 4) {
    const double by = way * fmin(fmin(*length / largest, way < 0 ? down : up), edge * reach(p, &p->along, way));
    go(p, &p->along, by);
    *t = t0 * (1 + by);
    if (correct(p, false, t, &first)) {
      if (first < easy) *length = fmin(2 * *length, most);
      if (first > hard_to_reach) *length *= 0.7;
      return true;
    }
    copy(p, &p->safe, &p->at);
    linearise(p);
    *length = fmin(*length, fabs(by) * largest);
  }
  return false;
}

/* The point of the path at t = 1 from the middle of the cones. */
static bool begin_path(interior *p) {
  double t = 1, first;
  memset(p->at.y, 0, sizeof(double) * (size_t)p->k.space.m);
  for (int i = 0; i < p->k.nodes.count; i++)
    barrier_start(&p->set[i], p->at.z + p->set[i].first, p->at.u + p->set[i].first);
  linearise(p);
  if (!correct(p, true, &t, &first) || !factor(p)) return false;
  directions(p, t);
  copy(p, &p->tangent, &p->along);
  return true;
}

/* The path until Newton's method loses it. Long steps are tried where it has come clearly lower than they had. */
static void follow_path(interior *p) {
  static const double lower = 0.3, highest = 1e3;
  double t = 1, length = 0.5, next = HUGE_VAL;
  int way = -1, parity = 0;
  if (!begin_path(p)) return;
  while (can_go_on(p) && factor(p) && t < highest) {
    directions(p, t);
    way = way_of(p, t, way, &parity);
    if (way < 0 && t < next) {
      copy(p, &p->at, &p->start);
      next = lower * fmin(t, descend(p));
      finish(p);
      copy(p, &p->start, &p->at);
      linearise(p);
      if (!can_go_on(p) || !factor(p)) return;
      directions(p, t);
    }
    if (!advance(p, way, &t, &length)) return;
    keep(p, p->x);
  }
}

/* ---- from a given z ---- */

/* z and u near those of a z of the original problem, and the velocities y that belong to them. */
static bool start_near(interior *p, const double *z) {
  compliant *k = &p->k;
  compliant_start(k, z);
  memcpy(p->change, k->z, sizeof(double) * (size_t)k->cp.n);
  (void)ss_cp_judge(k->original, z, p->w);
  for (int i = 0; i < k->nodes.count; i++) {
    barrier *b = &p->set[i];
    for (int j = 0; j < b->size; j++) {
      const int row = b->first + j;
      p->at.z[row] = p->change[row] * (j ? 1 : b->unit);
      p->at.u[row] = k->scale[row] / k->amplitude * p->w[row] / (j ? 1 : b->unit);
    }
    barrier_start_near(b, near, p->at.z + b->first, p->at.u + b->first);
    for (int j = 0; j < b->size; j++) p->x[b->first + j] = p->at.z[b->first + j] / (j ? 1 : b->unit);
  }
  memset(k->D, 0, sizeof *k->D * (size_t)k->cp.n);
  if (!factor(p)) return false;
  k->space.load(k->space.user, p->x, p->at.y);
  k->space.solve(k->space.user, p->at.y);
  linearise(p);
  return true;
}

static bool is_admitted(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const bool round_set = block->cone == SS_CONE_QUADRATIC || block->size == 2;
    if (block->kind == SS_BLOCK_FRICTION && (!round_set || block->extra > 0)) return false;
  }
  return true;
}

/* The block of each node. */
static void create_sets(interior *p) {
  const ss_cp *cp = &p->k.cp;
  for (int b = 0, node = 0; b < cp->n_blocks; b++)
    for (; node < p->k.nodes.count && p->k.nodes.first[node] < cp->blocks[b].first + cp->blocks[b].size; node++)
      p->set[node] =
          barrier_create(&cp->blocks[b], p->k.nodes.first[node], node_size(p, node), p->at.bound + (ptrdiff_t)2 * node);
}

static ss_status interior_create(interior *p, const ss_cp *problem, const ss_cp_options *options, ss_cp_workspace *w,
                                 bool *admitted, ss_error *error) {
  enum { FEWEST = 20, VECTORS = 6, ARRAYS = 9 }; /* steps worth beginning; what there is memory for */
  const double most = options->work > 0 ? options->work / FEWEST : HUGE_VAL;
  const ss_status status = compliant_create(&p->k, problem, most, w, admitted, error);
  if (status || !*admitted) return status;
  const size_t n = (size_t)problem->n, m = (size_t)p->k.space.m, nodes = (size_t)p->k.nodes.count;
  interior_vector *const vectors[VECTORS] = {&p->at, &p->d, &p->tangent, &p->along, &p->safe, &p->start};
  double **const arrays[ARRAYS] = {&p->x, &p->w, &p->r, &p->q, &p->b, &p->change, &p->scaled, &p->predicted, &p->best};
  p->size = 2 * n + m + 2 * nodes;
  p->set = SCRATCH(w, barrier, nodes + 1);
  p->inverse = SCRATCH(w, double, nodes *(SQUARE + 1) + 1);
  double *memory = SCRATCH(w, double, VECTORS * p->size + ARRAYS * n + m + 1);
  if (!p->set || !p->inverse || !memory) return out_of_memory(error);
  p->by_gap = p->inverse + nodes * SQUARE;
  for (size_t i = 0; i < VECTORS; i++, memory += p->size)
    *vectors[i] = (interior_vector){memory, memory + n, memory + 2 * n, memory + 2 * n + m};
  for (size_t i = 0; i < ARRAYS; i++, memory += n) *arrays[i] = memory;
  p->F = memory;
  create_sets(p);
  p->k.step.caller = options;
  p->lowest = p->finished = HUGE_VAL;
  p->limit = options->iteration_limit > 0 ? options->iteration_limit : options->work > 0 ? INT_MAX : DEFAULT_STEPS;
  p->options = options;
  return SS_OK;
}

ss_status solve_interior_point(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                               ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  interior p = {.result = result};
  bool admitted;
  result->outcome = SS_NOT_ADMITTED;
  if (!is_admitted(problem)) return SS_OK;
  const ss_status status = interior_create(&p, problem, options, w, &admitted, error);
  if (!status && !admitted && options->work > 0) result->outcome = SS_LIMIT; /* with more work, perhaps */
  if (status || !admitted) return status;
  if (warm && start_near(&p, z)) {
    (void)descend(&p);
    finish(&p);
  }
  for (p.on_path = 0.1; p.on_path > 1e-4 && can_go_on(&p); p.on_path /= 10) {
    follow_path(&p);
    finish(&p);
  }
  if (options->stop && options->stop(options->stop_user)) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
  if (p.lowest < HUGE_VAL) compliant_finish(&p.k, p.best, z);
  result->residual = p.lowest < HUGE_VAL ? p.lowest : -1;
  result->outcome = p.lowest <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return SS_OK;
}
