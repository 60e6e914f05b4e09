/* The judge: says from a problem's data alone how far a z is from solving it. Shares no code with the solvers.
 *
 * Natural residual, MATH section 5: w = G z + g, and per block |w| (free), |min(z, w)| (nonnegative), |z - clamp(z -
 * w)| (box), |min(z_n, w_n)| and |z_t - P(z_t - w_t)| (friction), where P is the projection on mu (max(z_n, 0) + extra) S. All of
 * them vanish together exactly at the solutions. The largest is divided by 1 + max |g|. */
#include "cp/judge_inside.h"

#include "core/arena.h"
#include "core/wide.h"
#include "la/sparse_factors.h"

#include <math.h>

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
  ss_sparse_factors f;
  double *missing = ss_alloc(sizeof *missing * ((size_t)m + 1)), worst = HUGE_VAL;
  if (!ss_sparse_factors_create(&f, &o->whole, NULL) && missing) {
    for (int pass = 0; pass < 2; pass++) {
      (void)find_missing(o, z, v, missing);
      ss_sparse_factors_solve(&f, missing);
      for (int i = 0; i < m; i++) v[i] += missing[i];
    }
    worst = find_missing(o, z, v, missing);
  }
  ss_sparse_factors_release(&f);
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
