/* The judge: says from a problem's data alone how far a z is from solving it. Shares no code with the solvers.
 *
 * Natural residual, MATH section 5: w = G z + g, and per block |w| (free), |min(z, w)| (nonnegative), |z - clamp(z -
 * w)| (box), |min(z_n, w_n)| and |z_t - P(z_t - w_t)| (friction), where P is the projection on mu (max(z_n, 0) + extra) S. All of
 * them vanish together exactly at the solutions. The largest is divided by 1 + max |g|. */
#include <stickslip/cp.h>

#include <math.h>

static double larger(double a, double b) { return a > b ? a : b; }

static const double pi = 3.14159265358979323846;

/* Tangential rows of a friction block. */
static int tangents(const ss_block *block) { return block->size - 1; }

static double norm(const double *p, int n) {
  double sum = fabs(p[0]);
  for (int i = 1; i < n; i++) sum = hypot(sum, p[i]);
  return sum;
}

static double clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

/* Nearest point of the regular k-gon with corners at radius r, the first on the x axis. By symmetry it lies on the edge
 * of the sector that holds p; in that edge's frame it is a clamp. */
static void project_polygon(double *p, double r, int k) {
  const double half = pi / k;
  const double middle = (2 * floor(atan2(p[1], p[0]) / (2 * half)) + 1) * half;
  const double c = cos(middle), s = sin(middle);
  const double out = c * p[0] + s * p[1], apothem = r * cos(half), reach = r * sin(half);
  if (out <= apothem) return;
  const double along = clamp(c * p[1] - s * p[0], -reach, reach);
  p[0] = c * apothem - s * along;
  p[1] = s * apothem + c * along;
}

/* Projection of p on the scaled section r S of a friction block. */
static void project(const ss_block *block, double *p, double r) {
  const int n = tangents(block);
  if (n == 1 || block->cone == SS_CONE_PYRAMID) {
    for (int i = 0; i < n; i++) p[i] = clamp(p[i], -r, r);
  } else if (block->cone == SS_CONE_QUADRATIC) {
    const double length = norm(p, n);
    for (int i = 0; length > r && i < n; i++) p[i] = p[i] / length * r;
  } else {
    project_polygon(p, r, block->directions);
  }
}

/* max of s . p over the section S. */
static double support(const ss_block *block, const double *p) {
  const int n = tangents(block);
  if (n == 1 || block->cone == SS_CONE_PYRAMID) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += fabs(p[i]);
    return sum;
  }
  if (block->cone == SS_CONE_QUADRATIC) return norm(p, n);
  const double turn = 2 * pi / block->directions, angle = atan2(p[1], p[0]);
  return norm(p, n) * cos(angle - turn * round(angle / turn));
}

/* Size of the set of friction impulses. */
static double radius(const ss_block *block, double zn) { return block->mu * (larger(zn, 0) + block->extra); }

/* |z_t - P(x)|, P the projection on the set of size r; x is overwritten. */
static double off_projection(const ss_block *block, const double *zt, double *x, double r) {
  project(block, x, r);
  for (int i = 0; i < tangents(block); i++) x[i] = zt[i] - x[i];
  return norm(x, tangents(block));
}

static double friction_residual(const ss_block *block, const double *z, const double *w) {
  const double zn = z[block->first], wn = w[block->first];
  const double *zt = z + block->first + 1, *wt = w + block->first + 1;
  double x[SS_FRICTION_ROWS] = {0};
  for (int i = 0; i < tangents(block); i++) x[i] = zt[i] - wt[i];
  return larger(fabs(zn < wn ? zn : wn), off_projection(block, zt, x, radius(block, zn)));
}

static double block_residual(const ss_block *block, const double *z, const double *w) {
  if (block->kind == SS_BLOCK_FRICTION) return friction_residual(block, z, w);
  double worst = 0;
  for (int i = block->first; i < block->first + block->size; i++) {
    double r = fabs(w[i]);
    if (block->kind == SS_BLOCK_NONNEGATIVE) r = fabs(z[i] < w[i] ? z[i] : w[i]);
    if (block->kind == SS_BLOCK_BOX) r = fabs(z[i] - clamp(z[i] - w[i], block->lower, block->upper));
    if (r > worst) worst = r;
  }
  return worst;
}

/* w = G z + g for some rows; returns false where a number is not finite. Operators have been applied before. */
static bool apply(const ss_cp *problem, const double *z, int first, int end, double *w) {
  const int n = problem->n;
  double finite = 0; /* stays 0 while all numbers are finite */
  for (int i = first; i < end && problem->apply; i++) finite += 0 * w[i - first] + 0 * z[i];
  for (int i = first; i < end && !problem->apply; i++) {
    const double *row = problem->G + (size_t)i * (size_t)n;
    double sum = problem->g[i];
    for (int j = 0; j < n; j++) sum += row[j] * z[j];
    w[i - first] = sum;
    finite += 0 * sum + 0 * z[i];
  }
  return finite == 0;
}

double ss_cp_judge(const ss_cp *problem, const double *z, double *w) {
  enum { WINDOW = 256 };
  double window[WINDOW], worst = 0, largest = 0;
  for (int i = 0; i < problem->n; i++) largest = larger(largest, fabs(problem->g[i]));
  if (problem->apply) problem->apply(problem->user, z, w);
  for (int b = 0; b < problem->n_blocks; b++) {
    ss_block part = problem->blocks[b];
    const int end = part.first + part.size;
    for (int row = part.first; row < end; row += part.size) { /* long blocks in pieces; only row-wise kinds are long */
      part.first = 0;
      part.size = end - row < WINDOW ? end - row : WINDOW;
      double *piece = w ? w + row : window;
      if (!apply(problem, z, row, row + part.size, piece)) return HUGE_VAL;
      worst = larger(worst, block_residual(&part, z + row, piece));
    }
  }
  return worst / (1 + largest);
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
    *dissipation = larger(*dissipation, r * support(block, x) + chosen);
    for (int i = 0; i < tangents(block); i++) x[i] = zt[i];
    *cone = larger(*cone, off_projection(block, zt, x, r));
  }
}
