/* Interior points for all blocks but friction sets given by their corners, in the velocities.
 *
 * Each node's law is a product x o s = 0 of inner coordinates in symmetric cones, with linear equations between these and its z and w
 * (barrier.h). On a disc it is Coulomb's law as z in K, u = w + mu |w_t| e_n in the dual cone, z . u = 0, with De Saxce's shift, blurred by the
 * gap; on polygons Stewart and Trinkle's. For a given shift, without multipliers and with positive semi-definite G these are the conditions of a
 * convex problem, whose central path x o s = t e exists whether contacts are redundant or not. With the scaling W of Nesterov and Todd a
 * Newton step of a node is
 *
 *     W^-2 dx + ds = f,   ds = dw + r beside equations of its own,   hence   dz = b - T dw,
 *
 * and with w = J y + R z + g and A y = J^T z that of all of them
 *
 *     (A + J^T D J) dy = J^T (1 + T R)^-1 b - (A y - J^T z),   D = (1 + T R)^-1 T,
 *
 * one factorisation in the velocities (velocity_space.h), and two solutions. Errors of the factors do not stay: each step begins from the
 * residuals.
 *
 * The predictor and corrector of Mehrotra, with long steps, reach most solutions in some twenty steps. But with the shift the problem is not
 * convex, and the path turns: t has to grow for a while before it can fall further. Long steps get stuck at such a fold. Then the path is
 * followed by its arc length (Allgower & Georg 1990): along the tangent (dX/dt, 1), forwards or backwards in t so that it does not turn
 * round, in sharp bends as the sign of the determinant says, and back to the path by Newton's method at right angles to it. For large t there is
 * one point only, and while z stays bounded the path that begins there can end nowhere but at t = 0. Wherever it has come lower than long
 * steps had, these are tried again.
 *
 * From a residual that is small, proximal steps (compliant.h) lead to the last digits: the states are right there. A given z is moved away
 * from the edge, where the method cannot turn round any more.
 *
 * Fails where the path leaves to infinity (no solution, or none that is bounded), and at the limit. */
#include "cp/barrier.h"
#include "cp/compliant.h"
#include "cp/solver.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_STEPS = 1500, SQUARE = BARRIER_ROWS * BARRIER_ROWS };
static const double hard = 1e-9;  /* compliance of a free row in a step, over that of the problem */
static const double close = 1e-4; /* residual from which the states may be right */
static const double near = 1e-2;  /* what a given z is moved inside by */

/* A point, or a step: inner coordinates, velocities; one array. */
typedef struct interior_vector {
  double *x, *s, *y; /* [inner], [inner], [m] */
} interior_vector;

typedef struct interior {
  compliant k;
  barrier *set;                   /* [nodes] */
  double *inverse;                /* [nodes][SQUARE] (1 + T R)^-1 */
  size_t inner, size;             /* inner coordinates; numbers of a vector */
  interior_vector at, d;          /* the point; the last direction */
  interior_vector tangent, along; /* dX / d log t at the point; the one that the last step was made in */
  interior_vector safe, start;    /* points to go back to */
  double *z, *w, *b, *change;     /* [n] impulses and slacks; those of a step, the impulses without dw in b */
  double *r, *f, *predicted;      /* [inner] */
  double *r0, *F0;                /* [inner], [m] r and F at the begin of the path, of which t times as much is left */
  double *best;                   /* [n] the best z so far */
  double *F;                      /* [m] A y - J^T z */
  double gap;                     /* mean product, which blurs |w_t| */
  double lowest, finished;        /* residual of best, by the judge; the one that the last digits were tried from */
  int sign;                       /* of the determinants of 1 + T R */
  int limit;                      /* steps */
  double on_path;                 /* size of a Newton step that counts as being on the path */
  const ss_cp_options *options;
  ss_cp_result *result;
} interior;

static int node_size(const interior *p, int i) { return p->k.nodes.first[i + 1] - p->k.nodes.first[i]; }

static void compute_slack(interior *p) {
  p->k.space.slack(p->k.space.user, p->at.y, p->w);
  for (int i = 0; i < p->k.cp.n; i++) p->w[i] += p->k.cp.g[i] + (p->k.R ? p->k.R[i] * p->z[i] : 0);
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

/* T of one node, column by column. */
static void fill_derivative(const barrier *b, double *T) {
  static const double zeros[BARRIER_INNER];
  double dx[BARRIER_INNER], dz[BARRIER_ROWS];
  for (int j = 0; j < b->size; j++) {
    double dw[BARRIER_ROWS] = {0};
    dw[j] = -1;
    barrier_solve(b, zeros, zeros, dw, dx);
    barrier_impulses(b, dx, 0, dz);
    for (int i = 0; i < b->size; i++) T[i * b->size + j] = dz[i];
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

/* The gap, z, w, r, F, D and the scaling at the present point. */
static void linearise(interior *p) {
  const compliant *k = &p->k;
  int degree = 0;
  p->gap = 0;
  p->sign = 1;
  for (int i = 0; i < k->nodes.count; i++) {
    const barrier *b = &p->set[i];
    p->gap += barrier_gap(b, p->at.x + b->at, p->at.s + b->at);
    degree += barrier_degree(b);
    barrier_impulses(b, p->at.x + b->at, 1, p->z + b->first);
  }
  if (degree) p->gap /= degree;
  compute_slack(p);
  k->space.collect(k->space.user, p->at.y, p->z, p->F);
  for (int i = 0; i < k->nodes.count; i++) {
    barrier *b = &p->set[i];
    double T[SQUARE];
    barrier_linearise(b, p->at.x + b->at, p->at.s + b->at, p->w + b->first, p->gap, p->r + b->at);
    fill_derivative(b, T);
    eliminate_compliance(p, i, T);
  }
}

/* What is to be taken away of r for products of the size `target`, which De Saxce's shift depends on, where `left` times that at the begin of
 * the path stays. */
static void residual_towards(const interior *p, const barrier *b, double target, double left, double *r) {
  for (int i = 0; i < b->count; i++) r[i] = p->r[b->at + i] - (left > 0 ? left * p->r0[b->at + i] : 0);
  if (b->kind == BARRIER_CONE) r[0] += b->by_gap * (target - p->gap);
}

/* b = (1 + T R)^-1 (dz without dw) */
static void right_side(interior *p, double target, double left) {
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *b = &p->set[i];
    const int n = b->size;
    double dx[BARRIER_INNER], r[BARRIER_INNER], dz[BARRIER_ROWS];
    residual_towards(p, b, target, left, r);
    barrier_solve(b, p->f + b->at, r, NULL, dx);
    barrier_impulses(b, dx, 0, dz);
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int m = 0; m < n; m++) sum += p->inverse[(size_t)i * SQUARE + (size_t)(j * n + m)] * dz[m];
      p->b[b->first + j] = sum;
    }
  }
}

/* change = b - D J dy, and the change of the slacks in k.w. */
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
  for (int i = 0; k->R && i < k->cp.n; i++) k->w[i] += k->R[i] * p->change[i];
}

/* dy, and the impulses that belong to it. */
static void solve(interior *p, double left) {
  const compliant *k = &p->k;
  k->space.load(k->space.user, p->b, p->d.y);
  for (int i = 0; i < k->space.m; i++) p->d.y[i] -= p->F[i] - (left > 0 ? left * p->F0[i] : 0);
  k->space.solve(k->space.user, p->d.y);
  impulses_of(p);
}

/* p->d: the Newton step towards products of `target`; the second-order part of a predictor's W^-1 dx is taken out. */
static void direction(interior *p, double target, double left, const double *predicted) {
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *b = &p->set[i];
    barrier_right_side(b, target, predicted ? predicted + b->at : NULL, p->f + b->at);
  }
  right_side(p, target, left);
  solve(p, left);
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *b = &p->set[i];
    double r[BARRIER_INNER];
    residual_towards(p, b, target, left, r);
    barrier_solve(b, p->f + b->at, r, p->k.w + b->first, p->d.x + b->at);
    barrier_slack_step(b, p->f + b->at, p->d.x + b->at, p->d.s + b->at);
  }
}

/* How often `times` d can be gone until an edge. */
static double reach(const interior *p, const interior_vector *d, double times) {
  double share = HUGE_VAL;
  for (int i = 0; i < p->k.nodes.count; i++) {
    const int f = p->set[i].at;
    share = fmin(share, barrier_reach(&p->set[i], p->at.x + f, p->at.s + f, d->x + f, d->s + f, times));
  }
  return share;
}

static void go(interior *p, const interior_vector *d, double times) {
  for (size_t i = 0; i < p->size; i++) p->at.x[i] += times * d->x[i];
  linearise(p);
}

static void copy(const interior *p, const interior_vector *from, interior_vector *to) {
  memcpy(to->x, from->x, sizeof(double) * p->size);
}

/* The two directions and the derivatives of a step take some dozen operations for each inner coordinate. */
static bool factor(interior *p) {
  static const double own = 50;
  p->result->iterations++;
  p->result->operations += p->k.space.assembly + p->k.space.operations + own * (double)p->inner;
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

/* y = A^-1 J^T z */
static bool balance(interior *p) {
  compliant *k = &p->k;
  memset(k->D, 0, sizeof *k->D * (size_t)k->cp.n);
  if (!factor(p)) return false;
  k->space.load(k->space.user, p->z, p->at.y);
  k->space.solve(k->space.user, p->at.y);
  linearise(p);
  return true;
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
    direction(p, 0, 0, NULL);
    const double rest = 1 - fmin(1, reach(p, &p->d, 1));
    memcpy(p->predicted, p->d.x, sizeof(double) * p->inner);
    for (int i = 0; i < p->k.nodes.count; i++) barrier_divide(&p->set[i], p->predicted + p->set[i].at);
    direction(p, p->gap * rest * rest * rest, 0, p->predicted);
    const double share = fmin(1, edge * reach(p, &p->d, 1));
    if (!(share >= 0)) break;
    go(p, &p->d, share);
    keep(p, p->z);
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

/* The product of two steps in x, relative to the point, where the products are t; the largest of one contact's parts. */
static double inner(const interior *p, const double *a, const double *b, double t, double *largest) {
  double sum = 0;
  *largest = 0;
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *set = &p->set[i];
    double x[BARRIER_INNER], y[BARRIER_INNER], part = 0;
    if (set->kind == BARRIER_FREE) continue;
    memcpy(x, a + set->at, sizeof *x * (size_t)set->count);
    memcpy(y, b + set->at, sizeof *y * (size_t)set->count);
    barrier_divide(set, x);
    barrier_divide(set, y);
    for (int j = 0; j < set->count; j++) part += x[j] * y[j] / t;
    sum += part;
    *largest = fmax(*largest, sqrt(fabs(part)));
  }
  return sum;
}

/* p->d: the step to the point of the path at t; p->tangent: how that point changes, per relative change of t. */
static void directions(interior *p, double t) {
  direction(p, 0, 0, NULL);
  copy(p, &p->d, &p->tangent);
  direction(p, t, t, NULL);
  for (size_t i = 0; i < p->size; i++) p->tangent.x[i] = p->d.x[i] - p->tangent.x[i];
}

/* Newton steps to the path, at right angles to p->along. *first: size of the first step. */
static bool correct(interior *p, double *t, double *first) {
  enum { STEPS = 6 };
  static const double edge = 0.9, vain = 0.8, far = 0.5;
  double last = HUGE_VAL, before = HUGE_VAL, size;
  for (int i = 0; i < STEPS && can_go_on(p) && factor(p); i++) {
    directions(p, *t);
    (void)inner(p, p->d.x, p->d.x, *t, &size);
    if (i == 0) *first = size;
    const double change =
        -inner(p, p->along.x, p->d.x, *t, &size) / (inner(p, p->along.x, p->tangent.x, *t, &size) + p->k.nodes.count);
    if (!(fabs(change) < edge)) return false;
    for (size_t k = 0; k < p->size; k++) p->d.x[k] += change * p->tangent.x[k];
    (void)inner(p, p->d.x, p->d.x, *t, &size);
    const double share = fmin(1, edge * reach(p, &p->d, 1));
    if (share < far) return false;
    go(p, &p->d, share);
    *t *= 1 + share * change;
    if (share == 1 && size < p->on_path) return true;
    if (size > vain * before) return false;
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
  const double now = inner(p, p->tangent.x, p->tangent.x, t, &largest) + nodes,
               before = inner(p, p->along.x, p->along.x, t, &largest) + nodes,
               both = inner(p, p->tangent.x, p->along.x, t, &largest) + nodes;
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
  (void)inner(p, p->along.x, p->along.x, *t, &largest);
  for (; *length > least && can_go_on(p); *length /= 4) {
    const double by = way * fmin(fmin(*length / largest, way < 0 ? down : up), edge * reach(p, &p->along, way));
    go(p, &p->along, by);
    *t = t0 * (1 + by);
    if (correct(p, t, &first)) {
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

static bool start_in_the_middle(interior *p) {
  for (int i = 0; i < p->k.nodes.count; i++) {
    const barrier *b = &p->set[i];
    barrier_start(b, p->at.x + b->at, p->at.s + b->at);
    barrier_impulses(b, p->at.x + b->at, 1, p->z + b->first);
  }
  return balance(p);
}

/* Newton steps to the point of the central path at t = 1. */
static bool find_centre(interior *p) {
  enum { STEPS = 15 };
  static const double edge = 0.9;
  for (int i = 0; i < STEPS && can_go_on(p) && factor(p); i++) {
    double size;
    direction(p, 1, 0, NULL);
    (void)inner(p, p->d.x, p->d.x, 1, &size);
    const double share = fmin(1, edge * reach(p, &p->d, 1));
    go(p, &p->d, share);
    if (share == 1 && size < p->on_path) return true;
  }
  return false;
}

/* The point of the path at t = 1: of the central path, or, where Newton's method does not find it, the middle of the cones, with the equations'
 * residuals there. */
static bool begin_path(interior *p) {
  if (!start_in_the_middle(p)) return false;
  const bool central = find_centre(p);
  if (!central && !start_in_the_middle(p)) return false;
  memcpy(p->r0, p->r, sizeof(double) * p->inner);
  memcpy(p->F0, p->F, sizeof(double) * (size_t)p->k.space.m);
  for (size_t i = 0; central && i < p->inner; i++) p->r0[i] = 0;
  for (int i = 0; central && i < p->k.space.m; i++) p->F0[i] = 0;
  if (!factor(p)) return false;
  directions(p, 1);
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
    keep(p, p->z);
  }
}

/* ---- from a given z ---- */

/* The inner coordinates near those of a z of the original problem, and the velocities y that belong to them. */
static bool start_near(interior *p, const double *z) {
  compliant *k = &p->k;
  compliant_start(k, z);
  memcpy(p->change, k->z, sizeof(double) * (size_t)k->cp.n);
  (void)ss_cp_judge(k->original, z, p->w);
  for (int i = 0; i < k->cp.n; i++) p->w[i] *= k->scale[i] / k->amplitude;
  for (int i = 0; i < k->nodes.count; i++) {
    const barrier *b = &p->set[i];
    barrier_start_near(b, near, p->change + b->first, p->w + b->first, p->at.x + b->at, p->at.s + b->at);
    barrier_impulses(b, p->at.x + b->at, 1, p->z + b->first);
  }
  return balance(p);
}

static bool is_admitted(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind != SS_BLOCK_FRICTION) continue;
    if (block->cone == SS_CONE_GENERATED) return false;
    if (block->cone == SS_CONE_POLYHEDRAL && block->size > 2 && block->directions > MOST_DIRECTIONS) return false;
  }
  return true;
}

/* The law of each node. */
static ss_status create_sets(interior *p, ss_cp_workspace *w, ss_error *error) {
  const ss_cp *cp = &p->k.cp;
  p->set = SCRATCH(w, barrier, p->k.nodes.count + 1);
  if (!p->set) return out_of_memory(error);
  for (int b = 0, node = 0; b < cp->n_blocks; b++) {
    const ss_block *block = &cp->blocks[b];
    const bool polygon = block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_POLYHEDRAL && block->size > 2;
    const double *corners = polygon ? scratch_directions(w, block->directions) : NULL;
    if (polygon && !corners) return out_of_memory(error);
    for (; node < p->k.nodes.count && p->k.nodes.first[node] < block->first + block->size; node++) {
      barrier *set = &p->set[node];
      *set = barrier_create(block, p->k.nodes.first[node], node_size(p, node), corners);
      set->at = (int)p->inner;
      set->stiffness = hard * p->k.typical * p->k.c[set->first];
      p->inner += (size_t)set->count;
    }
  }
  double *scale = SCRATCH(w, double, 2 * p->inner + 1);
  if (!scale) return out_of_memory(error);
  for (int i = 0; i < p->k.nodes.count; i++) {
    p->set[i].scale = scale + p->set[i].at;
    p->set[i].lambda = p->set[i].scale + p->inner;
  }
  return SS_OK;
}

static ss_status interior_create(interior *p, const ss_cp *problem, const ss_cp_options *options, ss_cp_workspace *w,
                                 bool *admitted, ss_error *error) {
  enum { FEWEST = 20, VECTORS = 6, ROWS = 5, INNERS = 4 }; /* steps worth beginning; what there is memory for */
  const double most = options->work > 0 ? options->work / FEWEST : HUGE_VAL;
  ss_status status = compliant_create(&p->k, problem, most, w, admitted, error);
  if (!status && *admitted) status = create_sets(p, w, error);
  if (status || !*admitted) return status;
  const size_t n = (size_t)problem->n, m = (size_t)p->k.space.m, nodes = (size_t)p->k.nodes.count;
  interior_vector *const vectors[VECTORS] = {&p->at, &p->d, &p->tangent, &p->along, &p->safe, &p->start};
  double **const rows[ROWS] = {&p->z, &p->w, &p->b, &p->change, &p->best};
  double **const inners[INNERS] = {&p->r, &p->r0, &p->f, &p->predicted};
  p->size = 2 * p->inner + m;
  p->inverse = SCRATCH(w, double, nodes *SQUARE + 1);
  double *memory = SCRATCH(w, double, VECTORS * p->size + ROWS * n + INNERS * p->inner + 2 * m + 1);
  if (!p->inverse || !memory) return out_of_memory(error);
  for (size_t i = 0; i < VECTORS; i++, memory += p->size)
    *vectors[i] = (interior_vector){memory, memory + p->inner, memory + 2 * p->inner};
  for (size_t i = 0; i < ROWS; i++, memory += n) *rows[i] = memory;
  for (size_t i = 0; i < INNERS; i++, memory += p->inner) *inners[i] = memory;
  p->F = memory;
  p->F0 = memory + m;
  p->k.step.caller = options;
  p->lowest = p->finished = HUGE_VAL;
  p->limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_STEPS;
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
  result->operations += p.k.space.creation;
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
  const bool spent = options->work > 0 && result->operations > options->work;
  result->outcome = p.lowest <= options->tolerance ? SS_SOLVED : options->work > 0 && !spent ? SS_STALLED : SS_LIMIT;
  return SS_OK;
}
