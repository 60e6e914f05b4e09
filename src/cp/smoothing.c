/* Smoothing Newton method for all sets, with a sparse factorisation or through the bodies (large.c).
 *
 * With De Saxce's shift Coulomb's law on a disc is z = P_K(z - u), u = w + mu |w_t| e_n, K the cone |z_t| <= mu z_n. In the
 * coordinates (mu z_n, z_t), (u_n / mu, w_t) K is the second-order cone, and its projection is smoothed as by Chen, Harker, Kanzow and Smale:
 *
 *     P = (t + sqrt(t^2 + 4 sigma^2)) / 2 of both eigenvalues t of z - u,   |w_t| = sqrt(w_t^2 + sigma^2) - sigma
 *
 * (Fukushima, Luo & Tseng 2002). For sigma > 0 the equations F = z - P(z - u) = 0 are differentiable, and Newton's
 * method with a search along the line on |F|^2 leads from anywhere to the path of solutions sigma -> 0, which is followed:
 * sigma is lowered where F is below it, and raised where the search fails. Unlike interior points the iterates do not stick to the
 * boundary, and a good start saves most of the path. One linear system per step,
 *
 *     (1 - P' + delta + P' u' G) dz = -F
 *
 * where delta, for redundant contacts, is taken out again by refinement; through the bodies it stays, as the reciprocal of the
 * largest stiffness, and the steps are inexact. Pyramids, polygons, and discs with `extra`, have no such
 * cone: for them F = (z_n - max(z_n - w_n, 0), z_t - P_r(z_t - w_t)) with the projection on a section of the size
 * r = mu (max(z_n - w_n, 0) + extra), both smoothed. Fails in a local minimum of |F|, at the limit, and where no
 * solution exists. */
#include "cp/large.h"

#include "cp/smoothing.h"

#include <math.h>
#include <string.h>

/* Intervals and balls by the smoothed max(t, 0). Polygons r S = {x: n_i . x <= r a}, a = cos(pi / k), by a barrier,
 *
 *     p = argmin |x - d|^2 / 2 - sigma^2 sum log(r a - n_i . x),
 *
 * the point of the central path that belongs to d: two equations, whose derivatives follow from those of their solution. The
 * barrier's slacks are of size sigma^2, so that sigma must be well above the square root of the rounding errors. */

double smooth_plus(double t, double sigma) {
  const double root = sqrt(t * t + 4 * sigma * sigma);
  return t > 0 ? 0.5 * (t + root) : root > 0 ? 2 * sigma * sigma / (root - t) : 0;
}

double smooth_plus_slope(double t, double sigma) {
  const double root = sqrt(t * t + 4 * sigma * sigma);
  return root > 0 ? 0.5 * (1 + t / root) : 0.5;
}

double smooth_box(double t, double lower, double upper, double sigma, double *slope) {
  double value = t;
  *slope = 1;
  if (isfinite(lower)) {
    value = lower + smooth_plus(t - lower, sigma);
    *slope = smooth_plus_slope(t - lower, sigma);
  }
  if (isfinite(upper)) {
    value -= smooth_plus(t - upper, sigma);
    *slope -= smooth_plus_slope(t - upper, sigma);
  }
  return value;
}

void smooth_cone(const double *d, int rows, double sigma, double *p, double *slope) {
  double length = 0, n[SMOOTH_ROWS] = {0};
  for (int i = 1; i < rows; i++) length += d[i] * d[i];
  length = sqrt(length);
  for (int i = 1; i < rows && length > 0; i++) n[i] = d[i] / length;
  const double low = d[0] - length, high = d[0] + length, f = smooth_plus(low, sigma), g = smooth_plus(high, sigma);
  p[0] = 0.5 * (f + g);
  for (int i = 1; i < rows; i++) p[i] = 0.5 * (g - f) * n[i];
  if (!slope) return;
  const double df = smooth_plus_slope(low, sigma), dg = smooth_plus_slope(high, sigma);
  const double b = 0.5 * (dg + df), c = 0.5 * (dg - df);
  const double a = length > 1e-12 * (sigma + fabs(d[0])) ? 0.5 * (g - f) / length : df;
  slope[0] = b;
  for (int i = 1; i < rows; i++) {
    slope[i] = slope[i * rows] = c * n[i];
    for (int j = 1; j < rows; j++) slope[i * rows + j] = (i == j ? a : 0) + (b - a) * n[i] * n[j];
  }
}

/* On [-r, r], odd in t; `by_radius` is the derivative by r. */
static double interval(double t, double r, double sigma, double *slope, double *by_radius) {
  *by_radius = smooth_plus_slope(t + r, sigma) + smooth_plus_slope(t - r, sigma) - 1;
  return smooth_box(t, -r, r, sigma, slope);
}

static void project_cube(const double *d, int rows, double r, double sigma, double *p, double *slope,
                         double *by_radius) {
  for (int i = 0; i < rows; i++) {
    double own, by;
    p[i] = interval(d[i], r, sigma, &own, &by);
    if (by_radius) by_radius[i] = by;
    for (int j = 0; slope && j < rows; j++) slope[i * rows + j] = i == j ? own : 0;
  }
}

static void project_ball(const double *d, int rows, double r, double sigma, double *p, double *slope,
                         double *by_radius) {
  double length = 0, own, by;
  for (int i = 0; i < rows; i++) length += d[i] * d[i];
  length = sqrt(length);
  const double reach = interval(length, r, sigma, &own, &by);
  const double ratio = length > 1e-12 * (sigma + r) ? reach / length : own;
  for (int i = 0; i < rows; i++) {
    p[i] = ratio * d[i];
    const double n = length > 0 ? d[i] / length : 0;
    if (by_radius) by_radius[i] = by * n;
    for (int j = 0; slope && j < rows; j++)
      slope[i * rows + j] = (i == j ? ratio : 0) + (length > 0 ? (own - ratio) * n * d[j] / length : 0);
  }
}

typedef struct polygon {
  const double *corners; /* [k + 1] pairs, on the unit circle */
  int k;
  double apothem;     /* of the one with these corners */
  double r, strength; /* sigma^2 */
} polygon;

static polygon polygon_of(const double *corners, int k, double r, double sigma) {
  const double m[2] = {(corners[0] + corners[2]) / 2, (corners[1] + corners[3]) / 2};
  return (polygon){corners, k, sqrt(m[0] * m[0] + m[1] * m[1]), r, sigma * sigma};
}

static void normal_of(const polygon *g, int edge, double *n) {
  const double *a = g->corners + (size_t)2 * (size_t)edge, half = 0.5 / g->apothem;
  n[0] = half * (a[0] + a[2]);
  n[1] = half * (a[1] + a[3]);
}

static double norm2(const double *x) { return sqrt(x[0] * x[0] + x[1] * x[1]); }

/* Gradient and matrix of the function at x, and the derivative of the gradient by r; false outside. With m the middle of an
 * edge, the distance from it is (r m^2 - m x) / |m|: the lengths |m| cancel. */
static bool barrier_at(const polygon *g, const double *d, const double *x, double *gradient, double *H, double *by_r) {
  double force[2] = {0, 0}, stiffness[3] = {0, 0, 0}, by[2] = {0, 0};
  for (int e = 0; e < g->k; e++) {
    const double *a = g->corners + (size_t)2 * (size_t)e;
    const double m[2] = {(a[0] + a[2]) / 2, (a[1] + a[3]) / 2}, square = m[0] * m[0] + m[1] * m[1];
    const double slack = g->r * square - m[0] * x[0] - m[1] * x[1];
    if (!(slack > 0)) return false;
    const double inverse = 1 / slack, f[2] = {inverse * m[0], inverse * m[1]};
    for (int i = 0; i < 2; i++) {
      force[i] += f[i];
      by[i] += square * inverse * f[i];
    }
    stiffness[0] += f[0] * f[0];
    stiffness[1] += f[0] * f[1];
    stiffness[2] += f[1] * f[1];
  }
  for (int i = 0; i < 2; i++) {
    gradient[i] = x[i] - d[i] + g->strength * force[i];
    by_r[i] = -g->strength * by[i];
    H[3 * i] = 1 + g->strength * stiffness[2 * i];
  }
  H[1] = H[2] = g->strength * stiffness[1];
  return true;
}

static void solve_two(const double *H, const double *b, double *x) {
  const double determinant = H[0] * H[3] - H[1] * H[2];
  const double first = (b[0] * H[3] - b[1] * H[1]) / determinant;
  x[1] = (b[1] * H[0] - b[0] * H[2]) / determinant;
  x[0] = first;
}

/* Near the solution: the edge that d is nearest to, and the one beside it, as if either were the only one. */
static void guess(const polygon *g, const double *d, double *x) {
  double n[2], best[2] = {1, 0}, out = -HUGE_VAL;
  for (int e = 0; e < g->k; e++) {
    normal_of(g, e, n);
    if (n[0] * d[0] + n[1] * d[1] <= out) continue;
    out = n[0] * d[0] + n[1] * d[1];
    best[0] = n[0];
    best[1] = n[1];
  }
  const double a = g->apothem, sigma = sqrt(g->strength), cosine = 2 * a * a - 1, sine = 2 * a * sqrt(1 - a * a);
  const double along = best[0] * d[1] - best[1] * d[0];
  const double level = fmax(g->r * a - smooth_plus(g->r * a - out, sigma), 0), end = (g->r * a - cosine * level) / sine;
  const double beside = copysign(fmax(end - smooth_plus(end - fabs(along), sigma), 0), along);
  x[0] = best[0] * level - best[1] * beside;
  x[1] = best[1] * level + best[0] * beside;
}

/* Newton's method with steps that stay inside and lower the gradient, as far as rounding errors of the slacks allow: these are
 * multiplied by the matrix. */
static void project_polygon(const polygon *g, const double *d, double *p, double *slope, double *by_radius) {
  enum { STEPS = 60 };
  static const double rounding = 0x1p-51, shortest = 1e-12;
  double x[2], gradient[2], H[4], by_r[2], step[2], trial[2], other[2], matrix[4], by[2];
  guess(g, d, x);
  if (!barrier_at(g, d, x, gradient, H, by_r)) {
    x[0] = x[1] = 0;
    (void)barrier_at(g, d, x, gradient, H, by_r);
  }
  for (int k = 0; k < STEPS; k++) {
    const double size = norm2(gradient);
    if (size <= rounding * (norm2(d) + (H[0] + H[3]) * g->r)) break;
    solve_two(H, gradient, step);
    bool moved = false;
    for (double length = 1; length > shortest && !moved; length *= 0.5) {
      for (int i = 0; i < 2; i++) trial[i] = x[i] - length * step[i];
      moved = barrier_at(g, d, trial, other, matrix, by) && norm2(other) < size;
    }
    if (!moved) break;
    for (int i = 0; i < 2; i++) {
      x[i] = trial[i];
      gradient[i] = other[i];
      by_r[i] = by[i];
    }
    for (int i = 0; i < 4; i++) H[i] = matrix[i];
  }
  p[0] = x[0];
  p[1] = x[1];
  if (by_radius) {
    solve_two(H, by_r, by_radius);
    by_radius[0] = -by_radius[0];
    by_radius[1] = -by_radius[1];
  }
  if (!slope) return;
  const double determinant = H[0] * H[3] - H[1] * H[2];
  slope[0] = H[3] / determinant;
  slope[3] = H[0] / determinant;
  slope[1] = slope[2] = -H[1] / determinant;
}

void smooth_section(const ss_block *block, const double *corners, const double *d, double r, double sigma, double *p,
                    double *slope, double *by_radius) {
  const int rows = block->size - 1;
  if (rows == 1 || block->cone == SS_CONE_PYRAMID) {
    project_cube(d, rows, r, sigma, p, slope, by_radius);
  } else if (block->cone == SS_CONE_QUADRATIC) {
    project_ball(d, rows, r, sigma, p, slope, by_radius);
  } else {
    const polygon g = polygon_of(corners, block->directions, r, sigma);
    project_polygon(&g, d, p, slope, by_radius);
  }
}

enum { ROWS = SMOOTH_ROWS, SQUARE = ROWS * ROWS };
static const double on_path = 0.1 /* |F| over sigma */;
/* Through bodies: delta over sigma, its bounds, and the error of a step over |F|. */

typedef enum smooth_kind { SMOOTH_FREE, SMOOTH_BOX, SMOOTH_CONE, SMOOTH_SECTION } smooth_kind;

typedef struct smooth_node {
  smooth_kind kind;
  int first, size, rows; /* rows < size: friction without mu, the others are zero */
  double mu, lower, upper;
  const ss_block *block;
  const double *corners; /* of a polygon */
} smooth_node;

typedef struct smoothing {
  large *l;
  node_system system; /* left: P' u', own: 1 - P' + delta */
  smooth_node *set;   /* [nodes] */
  double sigma, damping;
  double *x, *w, *F;                /* [n] the present point */
  double *candidate, *cw, *cF;      /* [n] */
  double *dx, *rest, *image, *zero; /* [n] */
  double *known;                    /* [n] the last point of the path */
  double *frozen,
      *shift;    /* [nodes] the shift, or the size of the section, of a convex problem; NULL: the present one */
  int steps;     /* of the last correction */
  bool polygons; /* there are some: sigma stays above the root of the rounding errors */
  bool stopped;  /* by the caller */
} smoothing;

static smooth_node describe(const ss_block *b, int first, int size) {
  smooth_node s = {.kind = SMOOTH_BOX, .first = first, .size = size, .rows = 1, .lower = 0, .upper = HUGE_VAL};
  if (b->kind == SS_BLOCK_FREE) s.kind = SMOOTH_FREE;
  if (b->kind == SS_BLOCK_BOX) {
    s.lower = b->lower;
    s.upper = b->upper;
  }
  if (b->kind == SS_BLOCK_FRICTION && b->mu > 0) {
    const bool round = b->cone == SS_CONE_QUADRATIC || size == 2;
    s.kind = round && b->extra == 0 ? SMOOTH_CONE : SMOOTH_SECTION;
    s.rows = size;
    s.mu = b->mu;
    s.block = b;
  }
  return s;
}

static double slip(const smoothing *k, const smooth_node *s, const double *w) {
  double sum = k->sigma * k->sigma;
  for (int i = 1; i < s->rows; i++) sum += w[s->first + i] * w[s->first + i];
  return sqrt(sum);
}

static void argument(const smoothing *k, const smooth_node *s, const double *x, const double *w, double *d) {
  const int f = s->first;
  const double shift = k->shift ? k->shift[s - k->set] : slip(k, s, w) - k->sigma;
  d[0] = s->mu * x[f] - w[f] / s->mu - shift;
  for (int i = 1; i < s->rows; i++) d[i] = x[f + i] - w[f + i];
}

/* z_n and the size of the set of z_t, mu (z_n + extra); slope: of z_n by x_n - w_n. */
static double section(const smoothing *k, const smooth_node *s, const double *x, const double *w, double *normal,
                      double *slope) {
  const double t = x[s->first] - w[s->first];
  *normal = smooth_plus(t, k->sigma);
  *slope = smooth_plus_slope(t, k->sigma);
  return k->shift ? k->shift[s - k->set] : s->mu * (*normal + s->block->extra);
}

/* F at x, w; its square. */
static double evaluate(const smoothing *k, const double *x, const double *w, double *F) {
  double sum = 0;
  for (int p = 0; p < k->l->G.nodes; p++) {
    const smooth_node *s = &k->set[p];
    const int f = s->first;
    double d[ROWS], q[ROWS], slope;
    if (s->kind == SMOOTH_FREE) {
      F[f] = w[f];
    } else if (s->kind == SMOOTH_BOX) {
      F[f] = x[f] - smooth_box(x[f] - w[f], s->lower, s->upper, k->sigma, &slope);
    } else if (s->kind == SMOOTH_SECTION) {
      const double r = section(k, s, x, w, &q[0], &slope);
      for (int i = 1; i < s->rows; i++) d[i] = x[f + i] - w[f + i];
      smooth_section(s->block, s->corners, d + 1, r, k->sigma, q + 1, NULL, NULL);
      for (int i = 0; i < s->rows; i++) F[f + i] = x[f + i] - q[i];
    } else {
      argument(k, s, x, w, d);
      smooth_cone(d, s->rows, k->sigma, q, NULL);
      F[f] = s->mu * x[f] - q[0];
      for (int i = 1; i < s->rows; i++) F[f + i] = x[f + i] - q[i];
    }
    for (int i = s->rows; i < s->size; i++) F[f + i] = x[f + i];
    for (int i = f; i < f + s->size; i++) sum += F[i] * F[i];
  }
  return sum;
}

static void linearise_section(const smoothing *k, const smooth_node *s, double *left, double *own) {
  const int n = s->size, t = n - 1;
  double d[ROWS], q[ROWS], slope[SQUARE], by_radius[ROWS], normal, by_normal;
  const double r = section(k, s, k->x, k->w, &normal, &by_normal);
  for (int i = 0; i < t; i++) d[i] = k->x[s->first + 1 + i] - k->w[s->first + 1 + i];
  smooth_section(s->block, s->corners, d, r, k->sigma, q, slope, by_radius);
  left[0] = by_normal;
  own[0] = 1 - by_normal + k->damping;
  for (int i = 0; i < t; i++) {
    double *left_row = left + (size_t)(i + 1) * (size_t)n, *own_row = own + (size_t)(i + 1) * (size_t)n;
    left_row[0] = k->shift ? 0 : s->mu * by_normal * by_radius[i];
    own_row[0] = -left_row[0];
    for (int j = 0; j < t; j++) {
      left_row[j + 1] = slope[i * t + j];
      own_row[j + 1] = (i == j) * (1 + k->damping) - slope[i * t + j];
    }
  }
}

/* P' u' and 1 - P' + delta of one node; the columns of the latter in z, of the former in w. */
static void linearise(const smoothing *k, const smooth_node *s, double *left, double *own) {
  const int n = s->size;
  memset(left, 0, sizeof *left * (size_t)(n * n));
  memset(own, 0, sizeof *own * (size_t)(n * n));
  for (int i = s->rows; i < n; i++) own[i * (n + 1)] = 1;
  if (s->kind == SMOOTH_FREE) {
    left[0] = 1;
    own[0] = k->damping;
  } else if (s->kind == SMOOTH_BOX) {
    double slope;
    (void)smooth_box(k->x[s->first] - k->w[s->first], s->lower, s->upper, k->sigma, &slope);
    left[0] = slope;
    own[0] = 1 - slope + k->damping;
  } else if (s->kind == SMOOTH_SECTION) {
    linearise_section(k, s, left, own);
  } else {
    double d[ROWS], q[ROWS], slope[SQUARE];
    argument(k, s, k->x, k->w, d);
    smooth_cone(d, n, k->sigma, q, slope);
    const double length = slip(k, s, k->w);
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const double turn = j ? (k->shift ? 0 : k->w[s->first + j] / length) : 1 / s->mu; /* of u_n by w_j */
        left[i * n + j] = slope[i * n] * turn + (j ? slope[i * n + j] : 0);
        own[i * n + j] = ((i == j) * (1 + k->damping) - slope[i * n + j]) * (j ? 1 : s->mu);
      }
  }
}

static bool factor(smoothing *k) {
  for (int p = 0; p < k->l->G.nodes; p++)
    linearise(k, &k->set[p], k->system.left + (size_t)p * SQUARE, k->system.own + (size_t)p * SQUARE);
  return node_system_factor(&k->system);
}

/* rest = -F - (1 - P' + P' u' G) dx, without the damping. */
static void remainder_of(smoothing *k) {
  nodes_apply(&k->l->G, k->zero, k->dx, k->image);
  for (int p = 0; p < k->l->G.nodes; p++) {
    const smooth_node *s = &k->set[p];
    const double *left = k->system.left + (size_t)p * SQUARE, *own = k->system.own + (size_t)p * SQUARE;
    for (int i = 0; i < s->size; i++) {
      double sum = -k->F[s->first + i];
      for (int j = 0; j < s->size; j++) {
        const double unit = s->kind == SMOOTH_CONE && j == 0 ? s->mu : 1;
        const double clean = own[i * s->size + j] - (i == j && i < s->rows ? k->damping * unit : 0);
        sum -= clean * k->dx[s->first + j] + left[i * s->size + j] * k->image[s->first + j];
      }
      k->rest[s->first + i] = sum;
    }
  }
}

static bool solve(smoothing *k) {
  enum { PASSES = 3 };
  const int n = k->l->cp.n;
  memset(k->dx, 0, sizeof(double) * (size_t)n);
  bool finite = true;
  for (int pass = 0; pass < PASSES && finite; pass++) {
    remainder_of(k);
    finite = node_system_solve(&k->system, k->rest, k->image);
    for (int i = 0; i < n; i++) k->dx[i] += k->image[i];
  }
  return finite;
}

static void swap(double **a, double **b) {
  double *keep = *a;
  *a = *b;
  *b = keep;
}

/* Along dx to an |F|^2 below `bound`; false where there is none. */
static bool search_line(smoothing *k, double bound, double *square, double *length) {
  static const double descent = 1e-3, shortest = 1e-3;
  const int n = k->l->cp.n;
  for (*length = 1; *length > shortest; *length *= 0.5) {
    for (int i = 0; i < n; i++) k->candidate[i] = k->x[i] + *length * k->dx[i];
    nodes_apply(&k->l->G, k->l->g, k->candidate, k->cw);
    const double now = evaluate(k, k->candidate, k->cw, k->cF);
    if (!(now <= (1 - 2 * descent * *length) * bound)) continue;
    *square = now;
    swap(&k->x, &k->candidate);
    swap(&k->w, &k->cw);
    swap(&k->F, &k->cF);
    return true;
  }
  return false;
}

/* The residual of the point; it stays in l->x where it is the best so far. */
static double keep(smoothing *k) {
  const double residual = large_judge(k->l, k->x, k->cw);
  if (residual < k->l->residual) {
    k->l->residual = residual;
    memcpy(k->l->x, k->x, sizeof(double) * (size_t)k->l->cp.n);
  }
  return residual;
}

static double largest(const double *F, int n) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(F[i]));
  return most;
}

static ss_status prepare(smoothing *k, large *l, double most, ss_cp_workspace *w, bool *affordable, ss_error *error) {
  const size_t n = (size_t)l->cp.n, nodes = (size_t)l->G.nodes;
  *k = (smoothing){.l = l, .set = SCRATCH(w, smooth_node, nodes)};
  int *size = SCRATCH(w, int, nodes);
  double *memory = SCRATCH(w, double, 11 * n + nodes);
  if (!k->set || !size || !memory) return out_of_memory(error);
  double **const vectors[] = {&k->x,  &k->w,    &k->F,     &k->candidate, &k->cw,    &k->cF,
                              &k->dx, &k->rest, &k->image, &k->zero,      &k->known, &k->frozen};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = memory + i * n;
  memset(k->zero, 0, sizeof(double) * n);
  const ss_block **const block = large_nodes(l, size, w);
  if (!block) return out_of_memory(error);
  for (size_t p = 0; p < nodes; p++) {
    smooth_node *s = &k->set[p];
    *s = describe(block[p], l->G.first[p], size[p]);
    const bool is_polygon = s->kind == SMOOTH_SECTION && s->block->cone == SS_CONE_POLYHEDRAL;
    if (is_polygon) s->corners = scratch_directions(w, s->block->directions);
    if (is_polygon && !s->corners) return out_of_memory(error);
    k->polygons |= is_polygon;
  }
  return node_system_create(&k->system, l, most, w, affordable, error);
}

static bool goes_on(smoothing *k) {
  const ss_cp_options *o = k->l->options;
  k->stopped = k->stopped || (o && o->stop && o->stop(o->stop_user));
  return !k->stopped;
}

/* Newton steps at the present sigma until |F| is well below it, at most `most`; false where they lead nowhere. |F| need only
 * be below the largest one of the last steps (Grippo, Lampariello & Lucidi 1986): else a handful of contacts that must change their
 * states would hold up thousands of others. */
static bool correct(smoothing *k, int most, int limit) {
  static const double far = 0.05;
  enum { SHORT = 3, MEMORY = 5 };
  large *l = k->l;
  double square = evaluate(k, k->x, k->w, k->F), last[MEMORY], bound, length;
  for (int i = 0, slow = 0; i <= most && slow < SHORT && l->iterations < limit && goes_on(k); i++) {
    if (largest(k->F, l->cp.n) <= on_path * k->sigma || l->residual <= l->goal) {
      k->steps = i;
      return true;
    }
    l->iterations++;
    l->spent += k->system.lu.operations;
    bound = 0;
    last[i % MEMORY] = square;
    for (int j = 0; j <= i && j < MEMORY; j++) bound = fmax(bound, last[j]);
    if (!factor(k) || !solve(k) || !search_line(k, bound, &square, &length)) return false;
    slow += length < far;
    if (!k->shift) (void)keep(k);
  }
  return false;
}

static void freeze(smoothing *k, int p) {
  const smooth_node *s = &k->set[p];
  double normal, slope;
  if (s->kind == SMOOTH_CONE) k->frozen[p] = slip(k, s, k->w) - k->sigma;
  if (s->kind == SMOOTH_SECTION) k->frozen[p] = section(k, s, k->x, k->w, &normal, &slope);
}

/* Where Newton steps end in a minimum of |F|: the fixed point iteration on the shift, which solves a convex problem at a time. */
static bool correct_frozen(smoothing *k, int limit) {
  enum { ROUNDS = 15, STEPS = 6, CONTINUE = 10 };
  for (int round = 0; round < ROUNDS && k->l->iterations < limit && !k->stopped; round++) {
    for (int p = 0; p < k->l->G.nodes; p++) freeze(k, p);
    k->shift = k->frozen;
    (void)correct(k, STEPS, limit);
    k->shift = NULL;
    if (correct(k, CONTINUE, limit)) return true;
  }
  return false;
}

/* From the point `start`. */
static void follow(smoothing *k, const double *start, int limit) {
  static const double slowest = 0.8, fastest = 1e-3, first = 0.3;
  enum { STEPS = 10, EASY = 3, HARD = 6 };
  large *l = k->l;
  const double least = k->polygons ? 1e-7 : 1e-13;
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  memcpy(k->x, start, bytes);
  nodes_apply(&l->G, l->g, k->x, k->w);
  while (!correct(k, 2 * STEPS, limit)) {
    k->sigma *= 10;
    if (k->sigma > 1e3) return;
  }
  double ratio = first, reached = k->sigma;
  memcpy(k->known, k->x, bytes);
  while (l->residual > l->goal && l->iterations < limit && reached > least && !k->stopped) {
    k->sigma = fmin(ratio, slowest) * reached;
    if (correct(k, STEPS, limit) || (ratio > slowest && correct_frozen(k, limit))) {
      reached = k->sigma;
      memcpy(k->known, k->x, bytes);
      ratio = ratio > slowest    ? first
              : k->steps <= EASY ? fmax(ratio * ratio, fastest)
              : k->steps > HARD  ? sqrt(ratio)
                                 : ratio;
    } else {
      if (ratio > slowest) return;
      ratio = sqrt(ratio);
      memcpy(k->x, k->known, bytes);
      nodes_apply(&l->G, l->g, k->x, k->w);
    }
  }
}

/* The second attempt is for light bodies between heavy ones: what tells their masses from nothing is as small as the ratio of
 * the masses, and must not be damped. */
static const double dampings[] = {1e-6, 1e-10};
enum { HARD_ROWS = 600 };

ss_status large_smoothing(large *l, double sigma, int limit, double most, ss_cp_workspace *w, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  smoothing k;
  enum { FEWEST = 8 }; /* steps worth beginning */
  const double work = l->options ? l->options->work : 0;
  bool affordable = true;
  ss_status status = prepare(&k, l, work > 0 ? fmin(most, work / FEWEST) : most, w, &affordable, error);
  double *start = SCRATCH(w, double, l->cp.n);
  if (!start && !status) status = out_of_memory(error);
  if (!status && affordable && work > 0) limit = (int)fmin(limit, work / k.system.lu.operations);
  if (!status && affordable) {
    memcpy(start, l->x, sizeof *start * (size_t)l->cp.n);
    const int attempts = l->cp.n <= HARD_ROWS ? 2 : 1, before = l->iterations;
    for (int a = 0; a < attempts && !status && l->residual > l->goal; a++) {
      k.sigma = sigma;
      k.damping = dampings[a];
      k.stopped = false;
      follow(&k, start, before + (a + 1) * limit);
      if (k.stopped) status = ss_fail(error, SS_ERROR_STOPPED, "stopped");
    }
    l->residual = large_judge(l, l->x, l->w);
  }
  scratch_release(w, mark);
  return status;
}
