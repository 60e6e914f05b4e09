/* Interior points for discs, intervals, boxes, nonnegative and free rows, in the velocities.
 *
 * Coulomb's law on a disc is z in K, u = w + s e_n in the dual cone of K, z . u = 0 with De Saxce's shift s = mu |w_t|. For a given s and
 * positive semi-definite G these are the conditions of a convex problem, min z G z / 2 + (g + s) z over K, whose central path z o u = target
 * exists whether contacts are redundant or not. It is followed by the predictor and corrector of Mehrotra with the scaling W of Nesterov
 * and Todd (barrier.c). s follows w, with its derivative in E = 1 + mu e_n d^T, d = w_t / |w_t| (smoothed by the gap). With
 * w = J y + R z + g and A y = J^T z a step is
 *
 *     dz = b - T (J dy + R dz),   b = W (q - W r),   T = W W E,   r = w + s e_n - u,
 *     (A + J^T D J) dy = J^T (1 + T R)^-1 b - (A y - J^T z),   D = (1 + T R)^-1 T,
 *
 * one factorisation in the velocities (velocity_space.h), and two solutions, each refined once. s makes the problem lose its convexity, and
 * the path may have folds: a run that gets stuck at the edge is given up, and the next one keeps further away from it, or follows another
 * path. From a residual that is small, proximal steps (compliant.h) lead to the last digits: the states are right there. A given z
 * is moved away from the edge, where the method cannot turn round any more.
 *
 * Fails where the shift finds no fixed point, and at the limit. Polygons, pyramids and `extra` are not admitted. */
#include "cp/barrier.h"
#include "cp/compliant.h"
#include "cp/solver.h"

#include <math.h>
#include <string.h>

enum { DEFAULT_STEPS = 60, SQUARE = BARRIER_ROWS * BARRIER_ROWS };
static const double hard = 1e-9;  /* compliance of a free row in a step, over that of the problem */
static const double close = 1e-4; /* residual from which the states may be right */

/* How a run goes. The path may have folds, and where they are depends on how |w_t| is blurred. */
typedef struct manner {
  double edge; /* share of the way to the edge that a step may go */
  double blur;
  double near; /* the start is the given z, moved inside by so much; 0: the middle */
} manner;

static const manner manners[] = {{0.95, 1, 0.003}, {0.95, 1, 0}, {0.95, 1, 0.1},
                                 {0.7, 1, 0},      {0.9, 10, 0}, {0.9, 0, 0}};
enum { RUNS = sizeof manners / sizeof *manners };

typedef struct interior {
  compliant k;
  barrier *set;                       /* [nodes] */
  double *by_gap;                     /* [nodes] derivative of s / mu by the gap */
  double *inverse;                    /* [nodes][SQUARE] (1 + T R)^-1 */
  double *z, *u, *dz, *du;            /* [n] in the units of the cones */
  double *x, *w, *r, *q, *b, *change; /* [n] the point in the units of the problem; r, q and b in those of the cones */
  double *scaled, *predicted, *best;  /* [n] W^-1 dz; that of the predictor; the best z so far */
  double *y, *dy, *F, *rest;          /* [m] velocities, their step, A y - J^T z */
  double gap, blur;                   /* mean product; what |w_t| is blurred by, in units of it */
  double lowest;                      /* residual of best, by the judge */
} interior;

static int node_size(const interior *p, int i) { return p->k.nodes.first[i + 1] - p->k.nodes.first[i]; }

/* s, with |w_t| blurred by the gap; d in E; the derivative by the gap of s / mu. */
static double shift_of(const interior *p, const barrier *b, double *d, double *by_gap) {
  const double blur = p->blur * p->gap;
  double sum = blur * blur;
  *by_gap = 0;
  for (int i = 1; i < b->size; i++) d[i] = 0;
  if (b->kind != BARRIER_CONE || b->rows < 2) return 0;
  for (int i = 1; i < b->rows; i++) sum += p->w[b->first + i] * p->w[b->first + i];
  if (!(sum > 0)) return 0;
  for (int i = 1; i < b->rows; i++) d[i] = p->w[b->first + i] / sqrt(sum);
  *by_gap = p->blur * blur / sqrt(sum);
  return b->unit * sqrt(sum);
}

static void compute_slack(interior *p) {
  p->k.space.slack(p->k.space.user, p->y, p->w);
  for (int i = 0; i < p->k.cp.n; i++) p->w[i] += p->k.cp.g[i] + (p->k.R ? p->k.R[i] * p->x[i] : 0);
}

/* x = M^-1 for a matrix of few rows; no pivots are needed where it is 1 + T R. */
static void invert(double *M, int n, double *x) {
  for (int i = 0; i < n * n; i++) x[i] = i % (n + 1) == 0;
  for (int c = 0; c < n; c++) {
    const double pivot = 1 / M[c * n + c];
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
  invert(M, n, inverse);
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
  for (int i = 0; i < k->nodes.count; i++) {
    const barrier *b = &p->set[i];
    p->gap += barrier_gap(b, p->z + b->first, p->u + b->first);
    degree += barrier_degree(b);
    for (int j = 0; j < b->size; j++) p->x[b->first + j] = p->z[b->first + j] / (j ? 1 : b->unit);
  }
  if (degree) p->gap /= degree;
  compute_slack(p);
  k->space.collect(k->space.user, p->y, p->x, p->F);
  for (int i = 0; i < k->nodes.count; i++) {
    barrier *b = &p->set[i];
    double d[BARRIER_ROWS], T[SQUARE];
    const double s = shift_of(p, b, d, &p->by_gap[i]);
    barrier_scale(b, p->z + b->first, p->u + b->first);
    for (int j = 0; j < b->size; j++)
      p->r[b->first + j] = (j ? p->w[b->first + j] : (p->w[b->first] + s) / b->unit) - p->u[b->first + j];
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
  k->space.slack(k->space.user, p->dy, k->w);
  for (int i = 0; i < k->nodes.count; i++) {
    const int first = k->nodes.first[i], n = node_size(p, i);
    for (int j = 0; j < n; j++) {
      double sum = p->b[first + j];
      for (int m = 0; m < n; m++) sum -= k->D[first + j][m] * k->w[first + m];
      p->change[first + j] = sum;
    }
  }
}

/* dy, refined once, and the impulses that belong to it. */
static void solve(interior *p) {
  enum { PASSES = 2 };
  const compliant *k = &p->k;
  memset(p->dy, 0, sizeof(double) * (size_t)k->space.m);
  memcpy(p->change, p->b, sizeof(double) * (size_t)k->cp.n);
  for (int pass = 0; pass < PASSES; pass++) {
    k->space.collect(k->space.user, p->dy, p->change, p->rest);
    for (int i = 0; i < k->space.m; i++) p->rest[i] = -p->rest[i] - p->F[i];
    k->space.solve(k->space.user, p->rest);
    for (int i = 0; i < k->space.m; i++) p->dy[i] += p->rest[i];
    impulses_of(p);
  }
}

/* The step towards products of `target`; the share of it that reaches the edge. */
static double direction(interior *p, double target, const double *predicted) {
  double share = HUGE_VAL;
  for (int i = 0; i < p->k.nodes.count; i++) {
    barrier *b = &p->set[i];
    barrier_right_side(b, p->z + b->first, target, predicted ? predicted + b->first : NULL, p->q + b->first);
  }
  right_side(p, target);
  solve(p);
  for (int i = 0; i < p->k.nodes.count; i++) {
    barrier *b = &p->set[i];
    const int f = b->first;
    for (int j = 0; j < b->size; j++) p->scaled[f + j] = p->change[f + j] * (j ? 1 : b->unit);
    barrier_divide(b, p->scaled + f);
    share = fmin(share, barrier_step(b, p->z + f, p->u + f, p->q + f, p->scaled + f, p->dz + f, p->du + f));
  }
  return share;
}

/* One step; the share of it that was gone, negative where there is none. */
static double step(interior *p, double edge) {
  compliant *k = &p->k;
  if (!k->space.factor(k->space.user, (const double(*)[SS_FRICTION_ROWS])k->D, 1)) return -1;
  const double rest = 1 - fmin(1, direction(p, 0, NULL));
  memcpy(p->predicted, p->scaled, sizeof(double) * (size_t)k->cp.n);
  const double share = fmin(1, edge * direction(p, p->gap * rest * rest * rest, p->predicted));
  if (!(share >= 0)) return -1;
  for (int i = 0; i < k->nodes.count; i++) {
    const int f = p->set[i].first;
    barrier_move(&p->set[i], share, p->dz + f, p->du + f, p->z + f, p->u + f);
  }
  for (int i = 0; i < k->space.m; i++) p->y[i] += share * p->dy[i];
  linearise(p);
  return share;
}

/* The residual of a z of the scaled problem, which is kept where it is the best so far. */
static void keep(interior *p, const double *x) {
  compliant_finish(&p->k, x, p->k.z);
  const double residual = ss_cp_judge(p->k.original, p->k.z, p->k.w);
  if (!(residual < p->lowest)) return;
  p->lowest = residual;
  memcpy(p->best, x, sizeof(double) * (size_t)p->k.cp.n);
}

/* z and u near those of a z of the original problem, and the velocities y that belong to them. */
static bool start_near(interior *p, const double *z, double near) {
  compliant *k = &p->k;
  compliant_start(k, z);
  memcpy(p->change, k->z, sizeof(double) * (size_t)k->cp.n);
  (void)ss_cp_judge(k->original, z, p->w);
  for (int i = 0; i < k->nodes.count; i++) {
    barrier *b = &p->set[i];
    for (int j = 0; j < b->size; j++) {
      const int row = b->first + j;
      p->z[row] = p->change[row] * (j ? 1 : b->unit);
      p->u[row] = k->scale[row] / k->amplitude * p->w[row] / (j ? 1 : b->unit);
    }
    barrier_start_near(b, near, p->z + b->first, p->u + b->first);
    for (int j = 0; j < b->size; j++) p->x[b->first + j] = p->z[b->first + j] / (j ? 1 : b->unit);
  }
  memset(k->D, 0, sizeof *k->D * (size_t)k->cp.n);
  if (!k->space.factor(k->space.user, (const double(*)[SS_FRICTION_ROWS])k->D, 1)) return false;
  k->space.load(k->space.user, p->x, p->y);
  k->space.solve(k->space.user, p->y);
  return true;
}

static void start_in_the_middle(interior *p) {
  memset(p->y, 0, sizeof(double) * (size_t)p->k.space.m);
  for (int i = 0; i < p->k.nodes.count; i++) barrier_start(&p->set[i], p->z + p->set[i].first, p->u + p->set[i].first);
}

/* From the start to the goal, the limit, or no progress. */
static void follow(interior *p, manner how, const double *z, int limit, const ss_cp_options *options,
                   ss_cp_result *result) {
  enum { STUCK = 4, PATIENCE = 15 };
  static const double stuck = 0.05;
  double least = HUGE_VAL;
  p->blur = how.blur;
  if (how.near > 0 && !start_near(p, z, how.near)) return;
  if (!(how.near > 0)) start_in_the_middle(p);
  linearise(p);
  for (int i = 0, best = 0, short_steps = 0; i < limit && i - best < PATIENCE && short_steps < STUCK; i++) {
    if (p->lowest <= options->tolerance || (options->work > 0 && result->operations > options->work)) return;
    result->iterations++;
    result->operations += p->k.space.operations;
    const double share = step(p, how.edge);
    if (share < 0) return;
    short_steps = share < stuck ? short_steps + 1 : 0;
    keep(p, p->x);
    if (p->gap < least) best = i;
    least = fmin(least, p->gap);
  }
}

/* The last digits by proximal steps from the best point. */
static void finish(interior *p, const ss_cp_options *options, ss_cp_result *result) {
  enum { STEPS = 6, NEWTONS = 30 };
  static const double first = 1e-3, vain = 0.5;
  compliant *k = &p->k;
  double residual = compliant_anchor(k, p->best);
  k->eps = first * k->typical;
  k->step.newtons = 0;
  k->step.limit = NEWTONS;
  for (int i = 0; i < STEPS && p->lowest > options->tolerance && proximal_goes_on(&k->step); i++) {
    (void)compliant_newton(k, fmax(compliant_rounding(k), 0.01 * residual), true);
    const double now = compliant_anchor(k, k->step.now.z.z);
    keep(p, k->a);
    if (now > vain * residual) break;
    residual = now;
  }
  result->iterations += k->step.newtons;
  result->operations += k->step.newtons * k->space.operations;
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
      p->set[node] = barrier_create(&cp->blocks[b], p->k.nodes.first[node], node_size(p, node));
}

static ss_status interior_create(interior *p, const ss_cp *problem, const ss_cp_options *options, ss_cp_workspace *w,
                                 bool *admitted, ss_error *error) {
  enum { FEWEST = 20 }; /* steps worth beginning */
  const double most = options->work > 0 ? options->work / FEWEST : HUGE_VAL;
  const ss_status status = compliant_create(&p->k, problem, most, w, admitted, error);
  if (status || !*admitted) return status;
  const size_t n = (size_t)problem->n, m = (size_t)p->k.space.m, nodes = (size_t)p->k.nodes.count;
  p->set = SCRATCH(w, barrier, nodes + 1);
  p->inverse = SCRATCH(w, double, nodes *(SQUARE + 1) + 1);
  double *memory = SCRATCH(w, double, 13 * n + 4 * m + 1);
  if (!p->set || !p->inverse || !memory) return out_of_memory(error);
  p->by_gap = p->inverse + nodes * SQUARE;
  double **const vectors[] = {&p->z, &p->u, &p->dz,     &p->du,     &p->x,         &p->w,   &p->r,
                              &p->q, &p->b, &p->change, &p->scaled, &p->predicted, &p->best};
  double **const velocities[] = {&p->y, &p->dy, &p->F, &p->rest};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = memory + i * n;
  for (size_t i = 0; i < sizeof velocities / sizeof *velocities; i++) *velocities[i] = memory + 13 * n + i * m;
  create_sets(p);
  p->k.step.caller = options;
  p->lowest = HUGE_VAL;
  return SS_OK;
}

ss_status solve_interior_point(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                               ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  interior p;
  bool admitted;
  result->outcome = SS_NOT_ADMITTED;
  if (!is_admitted(problem)) return SS_OK;
  const ss_status status = interior_create(&p, problem, options, w, &admitted, error);
  if (!status && !admitted && options->work > 0) result->outcome = SS_LIMIT; /* with more work, perhaps */
  if (status || !admitted) return status;
  const int limit = options->iteration_limit > 0 ? options->iteration_limit : DEFAULT_STEPS;
  for (int run = 0; run < RUNS && p.lowest > options->tolerance; run++) {
    if (options->stop && options->stop(options->stop_user)) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
    if (options->work > 0 && result->operations > options->work) break;
    if (manners[run].near > 0 && !warm) continue;
    follow(&p, manners[run], z, limit, options, result);
    if (p.lowest > options->tolerance && p.lowest <= close) finish(&p, options, result);
  }
  if (p.k.step.stopped) return ss_fail(error, SS_ERROR_STOPPED, "stopped");
  if (p.lowest < HUGE_VAL) compliant_finish(&p.k, p.best, z);
  result->residual = p.lowest < HUGE_VAL ? p.lowest : -1;
  result->outcome = p.lowest <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return SS_OK;
}
