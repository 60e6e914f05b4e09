/* The judge: says from a problem's data alone how far a z is from solving it. Shares no code with the solvers.
 *
 * Natural residual, MATH section 5: w = G z + g, and per block |w| (free), |min(z, w)| (nonnegative), |z - clamp(z -
 * w)| (box), |min(z_n, w_n)| and |z_t - P(z_t - w_t)| (friction), where P is the projection on mu (max(z_n, 0) + extra) S. All of
 * them vanish together exactly at the solutions. The largest is divided by 1 + max |g|. */
#include "cp/judge.h"

#include "core/arena.h"
#include "core/wide.h"
#include "la/sparse.h"

#include <math.h>
#include <string.h>

/* What the judge knows of friction sets S = conv(0, d_1 .. d_m): nearest point, support, gauge.
 *
 * The nearest point is that of least norm in the hull of the corners seen from p (Wolfe 1976): an affinely independent set of corners, the
 * corral, is kept whose affine hull has its point of least norm inside; while a corner lies below the plane through that point, it is
 * added, and corners with a weight below zero are dropped. Finite, and exact up to rounding: the affine problem is solved by orthonormal
 * edges. */

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

/* p becomes the nearest point of r S. */
static void project_generated(const ss_block *block, double *p, double r) {
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

/* The largest s . p over S. */
static double support_generated(const ss_block *block, const double *p) {
  const int n = block->size - 1;
  double largest = 0;
  for (int i = 0; i < block->directions; i++) largest = fmax(largest, dot(block->generators + i * n, p, n));
  return largest;
}

/* The least r with p in r S: planes that separate p from r S raise r until there is none. */
static double gauge_generated(const ss_block *block, const double *p) {
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

static double larger(double a, double b) { return a > b ? a : b; }

static const double pi = 3.14159265358979323846;

/* Tangential rows of a friction block. */
static int tangents(const ss_block *block) { return block->size - 1; }

static double norm(const double *p, int n) {
  if (n == 1) return fabs(p[0]);
  double squares = 0, sum = 0;
  for (int i = 0; i < n; i++) squares += p[i] * p[i];
  if (squares > 1e-280 && squares < 1e280) return sqrt(squares);
  for (int i = 0; i < n; i++) sum = hypot(sum, p[i]); /* where the squares leave the range of numbers */
  return sum;
}

static double clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

/* Nearest point of a polygon's edge to p, where that lies beyond it: corners at radius r, (c, s) the direction of its middle,
 * `half` of it seen from the centre. */
static void project_edge(double *p, double r, double c, double s, double cos_half, double sin_half) {
  const double out = c * p[0] + s * p[1], apothem = r * cos_half, reach = r * sin_half;
  if (out <= apothem) return;
  const double along = clamp(c * p[1] - s * p[0], -reach, reach);
  p[0] = c * apothem - s * along;
  p[1] = s * apothem + c * along;
}

/* Squares and octagons are symmetric about the axes, the octagon about the diagonal as well: p is folded to the first edge and back. */
static void project_folded(double *p, double r, int k) {
  static const double diagonal = 0.70710678118654752440, c = 0.92387953251128675613, s = 0.38268343236508977173;
  double x[2] = {fabs(p[0]), fabs(p[1])};
  const bool swap = k == 8 && x[1] > x[0];
  double q[2] = {x[swap], x[!swap]};
  if (k == 4)
    project_edge(q, r, diagonal, diagonal, diagonal, diagonal);
  else
    project_edge(q, r, c, s, c, s);
  p[0] = copysign(q[swap], p[0]);
  p[1] = copysign(q[!swap], p[1]);
}

/* Nearest point of the regular k-gon with corners at radius r, the first on the x axis. By symmetry it lies on the edge
 * of the sector that holds p; in that edge's frame it is a clamp. */
static void project_polygon(double *p, double r, int k) {
  if (r == 0) {
    p[0] = p[1] = 0;
    return;
  }
  if (4 * (p[0] * p[0] + p[1] * p[1]) <= r * r) return; /* within the circle that even a triangle holds */
  if (k == 4 || k == 8) {
    project_folded(p, r, k);
    return;
  }
  const double half = pi / k, middle = (2 * floor(atan2(p[1], p[0]) / (2 * half)) + 1) * half;
  project_edge(p, r, cos(middle), sin(middle), cos(half), sin(half));
}

/* Whether S is an interval or a cube. */
static bool has_axes(const ss_block *block) {
  return block->cone == SS_CONE_PYRAMID || (tangents(block) == 1 && block->cone != SS_CONE_GENERATED);
}

/* Projection of p on the scaled section r S of a friction block. */
static void project(const ss_block *block, double *p, double r) {
  const int n = tangents(block);
  if (has_axes(block)) {
    for (int i = 0; i < n; i++) p[i] = clamp(p[i], -r, r);
  } else if (block->cone == SS_CONE_QUADRATIC) {
    const double length = norm(p, n);
    for (int i = 0; length > r && i < n; i++) p[i] = p[i] / length * r;
  } else if (block->cone == SS_CONE_GENERATED) {
    project_generated(block, p, r);
  } else {
    project_polygon(p, r, block->directions);
  }
}

/* max of s . p over the section S. */
double friction_support(const ss_block *block, const double *p) {
  const int n = tangents(block);
  if (block->cone == SS_CONE_GENERATED) return support_generated(block, p);
  if (has_axes(block)) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(p[i]);
    return sum;
  }
  if (block->cone == SS_CONE_QUADRATIC) return norm(p, n);
  const double turn = 2 * pi / block->directions, angle = atan2(p[1], p[0]);
  return norm(p, n) * cos(angle - turn * round(angle / turn));
}

double ss_cp_friction_gauge(const ss_block *block, const double *zt) {
  const int n = tangents(block);
  if (block->cone == SS_CONE_GENERATED) return gauge_generated(block, zt);
  if (has_axes(block)) {
    double largest = 0;
    for (int i = 0; i < n; i++) largest = larger(largest, fabs(zt[i]));
    return largest;
  }
  if (block->cone == SS_CONE_QUADRATIC) return norm(zt, n);
  const double half = pi / block->directions, angle = atan2(zt[1], zt[0]) / (2 * half);
  return norm(zt, n) * cos((angle - floor(angle) - 0.5) * 2 * half) / cos(half);
}

/* Size of the set of friction impulses. */
static double radius(const ss_block *block, double zn) { return block->mu * (larger(zn, 0) + block->extra); }

/* |z_t - P(x)|, P the projection on the set of size r; x is overwritten. */
static double off_projection(const ss_block *block, const double *zt, double *x, double r) {
  project(block, x, r);
  for (int i = 0; i < tangents(block); i++) x[i] = zt[i] - x[i];
  return norm(x, tangents(block));
}

/* z, w: of the block's own rows. */
static double friction_residual(const ss_block *block, const double *z, const double *w) {
  const double normal = fabs(z[0] < w[0] ? z[0] : w[0]), r = radius(block, z[0]);
  if (r == 0) return larger(normal, norm(z + 1, tangents(block))); /* the set is the origin */
  double x[SS_FRICTION_ROWS] = {0};
  for (int i = 0; i < tangents(block); i++) x[i] = z[1 + i] - w[1 + i];
  return larger(normal, off_projection(block, z + 1, x, r));
}

/* The same for `size` rows of any block. */
static double block_residual(const ss_block *block, int size, const double *z, const double *w) {
  if (block->kind == SS_BLOCK_FRICTION) return friction_residual(block, z, w);
  double worst = 0;
  for (int i = 0; i < size; i++) {
    double r = fabs(w[i]);
    if (block->kind == SS_BLOCK_NONNEGATIVE) r = fabs(z[i] < w[i] ? z[i] : w[i]);
    if (block->kind == SS_BLOCK_BOX) r = fabs(z[i] - clamp(z[i] - w[i], block->lower, block->upper));
    if (r > worst) worst = r;
  }
  return worst;
}

enum { LONG_ROW = 32 };

/* Long rows in several sums, because each addition waits for the last. */
static inline double dense_row(const double *row, const double *z, int n) {
  double sum[4] = {0};
  int j = 0;
  for (; n >= LONG_ROW && j + 4 <= n; j += 4)
    for (int k = 0; k < 4; k++) sum[k] += row[j + k] * z[j + k];
  for (; j < n; j++) sum[0] += row[j] * z[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

WIDE static void wide_slacks(const ss_cp *problem, const double *z, double *w) {
  const int n = problem->n;
  for (int i = 0; i < n; i++) w[i] = problem->g[i] + dense_row(problem->G + (size_t)i * (size_t)n, z, n);
}

/* w = G z + g: short rows three by three, the rows of most contacts, for the same reason. */
static void dense_slacks(const ss_cp *problem, const double *z, double *w) {
  const int n = problem->n;
  if (n >= LONG_ROW) {
    wide_slacks(problem, z, w);
    return;
  }
  int i = 0;
  for (const double *row = problem->G; i + 3 <= n; i += 3, row += (size_t)3 * (size_t)n) {
    const double *second = row + n, *third = second + n;
    double a = 0, b = 0, c = 0;
    for (int j = 0; j < n; j++) {
      a += row[j] * z[j];
      b += second[j] * z[j];
      c += third[j] * z[j];
    }
    w[i] = problem->g[i] + a;
    w[i + 1] = problem->g[i + 1] + b;
    w[i + 2] = problem->g[i + 2] + c;
  }
  for (; i < n; i++) w[i] = problem->g[i] + dense_row(problem->G + (size_t)i * (size_t)n, z, n);
}

static double sparse_row(const ss_sparse *m, int i, const double *z) {
  double sum = 0;
  for (int k = m->start[i]; k < m->start[i + 1]; k++) sum += m->value[k] * z[m->col[k]];
  return sum;
}

/* x = A^-1 x for one block, by Gaussian elimination with row exchanges. */
static void solve_body(const double *A, int n, double *x) {
  double a[SS_CP_BODY_ROWS][SS_CP_BODY_ROWS];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) a[i][j] = A[i * n + j];
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < n; i++)
      if (fabs(a[i][c]) > fabs(a[best][c])) best = i;
    for (int j = 0; j < n; j++) {
      const double keep = a[c][j];
      a[c][j] = a[best][j];
      a[best][j] = keep;
    }
    const double keep = x[c];
    x[c] = x[best];
    x[best] = keep;
    for (int i = c + 1; i < n; i++) {
      const double f = a[i][c] / a[c][c];
      for (int j = c; j < n; j++) a[i][j] -= f * a[c][j];
      x[i] -= f * x[c];
    }
  }
  for (int i = n - 1; i >= 0; i--) {
    for (int j = i + 1; j < n; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
}

/* The largest part of `missing` = J^T z - A v. */
static double find_missing(const ss_cp_operator *o, const double *z, const double *v, double *missing) {
  double worst = 0;
  for (int i = 0; i < o->whole.rows; i++) missing[i] = -sparse_row(&o->whole, i, v);
  for (int i = 0; i < o->J.rows; i++)
    for (int k = o->J.start[i]; k < o->J.start[i + 1]; k++) missing[o->J.col[k]] += o->J.value[k] * z[i];
  for (int i = 0; i < o->whole.rows; i++) worst = larger(worst, fabs(missing[i]));
  return worst;
}

/* v = A^-1 J^T z by A's factors and one step of refinement; what A v still lacks is returned, by multiplication: nothing
 * depends on how good the factors are. */
static double solve_whole(const ss_cp_operator *o, const double *z, double *v) {
  const int m = o->whole.rows;
  ss_sparse_factors *f;
  double *missing = ss_alloc(sizeof *missing * ((size_t)m + 1)), worst = HUGE_VAL;
  if (!ss_sparse_factor(&o->whole, &f, NULL) && missing) {
    for (int pass = 0; pass < 2; pass++) {
      (void)find_missing(o, z, v, missing);
      ss_sparse_solve(f, missing, 1);
      for (int i = 0; i < m; i++) v[i] += missing[i];
    }
    worst = find_missing(o, z, v, missing);
  }
  ss_sparse_free(f);
  ss_free(missing);
  return worst;
}

/* v = A^-1 J^T z, the velocities that z makes; returns what is missing in A v = J^T z. */
static double velocities(const ss_cp_operator *o, const double *z, double *v) {
  if (o->whole.start) return solve_whole(o, z, v);
  for (int i = 0; i < o->J.rows; i++)
    for (int k = o->J.start[i]; k < o->J.start[i + 1]; k++) v[o->J.col[k]] += o->J.value[k] * z[i];
  const double *A = o->A;
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b];
    solve_body(A, size, v + o->first[b]);
    A += (ptrdiff_t)size * size;
  }
  return 0;
}

/* (G z + g)_i; v are the velocities of an operator. */
static double slack(const ss_cp *problem, const double *z, const double *v, int i) {
  double sum = problem->g[i];
  if (problem->sparse) return sum + sparse_row(problem->sparse, i, z);
  if (problem->factors && !problem->G) {
    if (problem->factors->R.start) sum += sparse_row(&problem->factors->R, i, z);
    return sum + sparse_row(&problem->factors->J, i, v);
  }
  return sum + dense_row(problem->G + (size_t)i * (size_t)problem->n, z, problem->n);
}

/* w = G z + g for some rows, unless that has been done before; returns false where a number is not finite. */
static bool apply(const ss_cp *problem, const double *z, const double *v, int first, int end, bool done, double *w) {
  double finite = 0; /* stays 0 while all numbers are finite */
  for (int i = first; i < end; i++) {
    if (!done) w[i - first] = slack(problem, z, v, i);
    finite += 0 * w[i - first] + 0 * z[i];
  }
  return finite == 0;
}

static double judge(const ss_cp *problem, const double *z, const double *v, double *w) {
  enum { WINDOW = 256 };
  double window[WINDOW], *all = w ? w : problem->n <= WINDOW ? window : NULL, worst = 0, largest = 0;
  const bool dense = problem->G && all;
  if (dense) dense_slacks(problem, z, all);
  for (int i = 0; i < problem->n; i++) largest = larger(largest, fabs(problem->g[i]));
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int end = block->first + block->size;
    for (int row = block->first, size; row < end;
         row += size) { /* long blocks in pieces; only row-wise kinds are long */
      size = end - row < WINDOW ? end - row : WINDOW;
      double *piece = all ? all + row : window;
      if (!apply(problem, z, v, row, row + size, dense || problem->apply, piece)) return HUGE_VAL;
      worst = larger(worst, block_residual(block, size, z + row, piece));
    }
  }
  return worst / (1 + largest);
}

double judge_zero(const ss_cp *problem) {
  static const double zero[SS_FRICTION_ROWS] = {0};
  double worst = 0, largest = 0, finite = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const double *w = problem->g + block->first;
    if (block->kind == SS_BLOCK_FRICTION && block->extra == 0) {
      if (w[0] < 0) worst = larger(worst, -w[0]); /* z_t = 0 is all that there is to choose from */
      continue;
    }
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = 0; i < block->size; i += together) worst = larger(worst, block_residual(block, together, zero, w + i));
  }
  for (int i = 0; i < problem->n; i++) finite += 0 * problem->g[i];
  for (int i = 0; i < problem->n && worst > 0; i++) largest = larger(largest, fabs(problem->g[i]));
  return finite == 0 ? worst / (1 + largest) : HUGE_VAL;
}

double ss_cp_judge(const ss_cp *problem, const double *z, double *w) {
  if (problem->apply) problem->apply(problem->user, z, w);
  if (!problem->factors || problem->sparse || problem->G) return judge(problem, z, NULL, w);
  double *v = ss_alloc(sizeof *v * ((size_t)problem->factors->J.cols + 1));
  if (!v) return HUGE_VAL; /* what cannot be judged is not accepted */
  const double missing = velocities(problem->factors, z, v), residual = judge(problem, z, v, w);
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = larger(largest, fabs(problem->g[i]));
  ss_free(v);
  return larger(residual, missing / (1 + largest));
}

void ss_cp_friction_defects(const ss_cp *problem, const double *z, const double *w, double *cone, double *dissipation) {
  *cone = *dissipation = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind != SS_BLOCK_FRICTION) continue;
    const double r = radius(block, z[block->first]);
    const double *zt = z + block->first + 1, *wt = w + block->first + 1;
    double x[SS_FRICTION_ROWS] = {0}, chosen = 0;
    for (int i = 0; i < tangents(block); i++) {
      x[i] = -wt[i];
      chosen += wt[i] * zt[i];
    }
    *dissipation = larger(*dissipation, r * friction_support(block, x) + chosen);
    for (int i = 0; i < tangents(block); i++) x[i] = zt[i];
    *cone = larger(*cone, off_projection(block, zt, x, r));
  }
}

/* The judge of proofs: whether y shows that a problem has no solution. Shares no code with the solvers.
 *
 * With c = G^T y every z has y . (G z + g) = c . z + g . y. If the largest value of that over the z that the blocks allow is
 * negative, while their w all have y . w >= 0, no z and w belong to each other. Block by block the largest value of c . z is
 *
 *     free            0 where c = 0, else infinite
 *     nonnegative     0 where c <= 0
 *     box             c times the bound that c points to, if there is one
 *     friction        mu extra S*(c_t) where c_n + mu S*(c_t) <= 0, S* the support function of the set S
 *
 * Every sum is compared with the sum of the absolute values of its terms: what passes is zero up to rounding. */

static const double rounding = 1e-12, clearly = 1e-8;

/* c = G^T y and the sizes of its terms; an operator's columns are asked for one by one. */
static void columns(const ss_cp *problem, const double *y, double *c, double *terms, double *z, double *w) {
  const int n = problem->n;
  for (int j = 0; j < n; j++) c[j] = terms[j] = z[j] = 0;
  for (int i = 0; i < n && problem->sparse; i++)
    for (int k = problem->sparse->start[i]; k < problem->sparse->start[i + 1]; k++) {
      const double part = problem->sparse->value[k] * y[i];
      c[problem->sparse->col[k]] += part;
      terms[problem->sparse->col[k]] += fabs(part);
    }
  for (int i = 0; i < n && problem->G; i++)
    for (int j = 0; j < n && y[i] != 0; j++) {
      const double part = problem->G[(size_t)i * (size_t)n + (size_t)j] * y[i];
      c[j] += part;
      terms[j] += fabs(part);
    }
  for (int j = 0; j < n && !problem->sparse && !problem->G; j++) {
    z[j] = 1;
    (void)ss_cp_judge(problem, z, w);
    z[j] = 0;
    for (int i = 0; i < n; i++) {
      const double part = (w[i] - problem->g[i]) * y[i];
      c[j] += part;
      terms[j] += (fabs(w[i]) + fabs(problem->g[i])) * fabs(y[i]);
    }
  }
}

/* Whether y . w >= 0 for all w that a row allows, where w is bounded from below, from above, or is 0. */
static bool sign_fits(double y, bool below, bool above) {
  return below || above ? y == 0 || (y > 0 ? !above : !below) : true;
}

/* The largest c x for lower <= x <= upper; HUGE_VAL: there is none. */
static double largest_on(double c, double terms, double lower, double upper) {
  const double bound = c > 0 ? upper : lower;
  if (fabs(c) <= rounding * terms) return isfinite(bound) ? fmax(c * bound, 0) : 0;
  return isfinite(bound) ? c * bound : HUGE_VAL;
}

static double largest_friction(const ss_block *block, const double *y, const double *c, const double *terms) {
  double size = terms[0];
  if (!(y[0] >= 0)) return HUGE_VAL;
  for (int i = 1; i < block->size; i++) {
    if (y[i] != 0) return HUGE_VAL; /* tangential slacks may have any sign */
    size += block->mu * terms[i];
  }
  const double reach = block->mu > 0 ? block->mu * friction_support(block, c + 1) : 0;
  return c[0] + reach <= rounding * size ? block->extra * reach : HUGE_VAL;
}

/* The largest c . z over one block, HUGE_VAL where it is not bounded or y does not fit its w. */
static double largest_of(const ss_block *block, const double *y, const double *c, const double *terms) {
  if (block->kind == SS_BLOCK_FRICTION) return largest_friction(block, y, c, terms);
  double lower = -HUGE_VAL, upper = HUGE_VAL, sum = 0;
  if (block->kind == SS_BLOCK_NONNEGATIVE) lower = 0;
  if (block->kind == SS_BLOCK_BOX) {
    lower = block->lower;
    upper = block->upper;
  }
  for (int i = 0; i < block->size; i++) {
    if (!sign_fits(y[i], isfinite(lower), isfinite(upper))) return HUGE_VAL;
    sum += largest_on(c[i], terms[i], lower, upper);
  }
  return sum;
}

double judge_ray(const ss_cp *problem, const double *y, double *memory) {
  const size_t n = (size_t)problem->n;
  double *c = memory, *terms = c + n, sum = 0, size = 0;
  columns(problem, y, c, terms, terms + n, terms + 2 * n);
  for (size_t i = 0; i < n; i++) {
    sum += problem->g[i] * y[i];
    size += fabs(problem->g[i] * y[i]);
  }
  for (int b = 0; b < problem->n_blocks; b++) {
    const int first = problem->blocks[b].first;
    const double most = largest_of(&problem->blocks[b], y + first, c + first, terms + first);
    sum += most;
    size += fabs(most);
  }
  return sum < -clearly * size && size < HUGE_VAL ? -sum / size : 0;
}

double ss_cp_judge_ray(const ss_cp *problem, const double *y) {
  double *memory = problem->apply ? NULL : ss_alloc(sizeof *memory * (4 * (size_t)problem->n + 1));
  if (!memory) return 0; /* what cannot be judged is not accepted */
  const double margin = judge_ray(problem, y, memory);
  ss_free(memory);
  return margin;
}
