/* The judge: says from a problem's data alone how far a z is from solving it. Shares no code with the solvers.
 *
 * Natural residual, MATH section 5: w = G z + g, and per block |w| (free), |min(z, w)| (nonnegative), |z - clamp(z -
 * w)| (box), |min(z_n, w_n)| and |z_t - P(z_t - w_t)| (friction), where P is the projection on mu (max(z_n, 0) + extra) S. All of
 * them vanish together exactly at the solutions. The largest is divided by 1 + max |g|. */
#include <stickslip/cp.h>

#include <math.h>

typedef struct point {
  double x, y;
} point;

static const double pi = 3.14159265358979323846;

/* Nearest point of the regular k-gon with corners at radius r, the first on the x axis. By symmetry it lies on the edge
 * of the sector that holds p; in that edge's frame it is a clamp. */
static point project_polygon(point p, double r, int k) {
  const double half = pi / k;
  const double middle = (2 * floor(atan2(p.y, p.x) / (2 * half)) + 1) * half;
  const double c = cos(middle), s = sin(middle);
  const double out = c * p.x + s * p.y, apothem = r * cos(half);
  if (out <= apothem) return p;
  const double reach = r * sin(half);
  const double along = fmin(fmax(c * p.y - s * p.x, -reach), reach);
  return (point){c * apothem - s * along, s * apothem + c * along};
}

static point project_disc(point p, double r) {
  const double norm = hypot(p.x, p.y);
  return norm <= r ? p : (point){p.x / norm * r, p.y / norm * r};
}

static double clamp(double x, double lower, double upper) { return x < lower ? lower : x > upper ? upper : x; }

/* Projection on the scaled section r S of a friction block. */
static point project(const ss_block *block, point p, double r) {
  if (block->size == 2) return (point){clamp(p.x, -r, r), 0};
  if (block->cone == SS_CONE_PYRAMID) return (point){clamp(p.x, -r, r), clamp(p.y, -r, r)};
  return block->cone == SS_CONE_QUADRATIC ? project_disc(p, r) : project_polygon(p, r, block->directions);
}

/* max of s . p over the section S. */
static double support(const ss_block *block, point p) {
  if (block->size == 2) return fabs(p.x);
  if (block->cone == SS_CONE_PYRAMID) return fabs(p.x) + fabs(p.y);
  const double norm = hypot(p.x, p.y);
  if (block->cone == SS_CONE_QUADRATIC) return norm;
  const double turn = 2 * pi / block->directions, angle = atan2(p.y, p.x);
  return norm * cos(angle - turn * round(angle / turn));
}

/* Size of the set of friction impulses. */
static double radius(const ss_block *block, double zn) { return block->mu * (fmax(zn, 0) + block->extra); }

static point tangential(const ss_block *block, const double *v) {
  return (point){v[block->first + 1], block->size == 3 ? v[block->first + 2] : 0};
}

static double friction_residual(const ss_block *block, const double *z, const double *w) {
  const double zn = z[block->first], wn = w[block->first];
  const point zt = tangential(block, z), wt = tangential(block, w);
  const point p = project(block, (point){zt.x - wt.x, zt.y - wt.y}, radius(block, zn));
  const double t = block->size == 2 ? fabs(zt.x - p.x) : hypot(zt.x - p.x, zt.y - p.y);
  return fmax(fabs(zn < wn ? zn : wn), t);
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
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(problem->g[i]));
  if (problem->apply) problem->apply(problem->user, z, w);
  for (int b = 0; b < problem->n_blocks; b++) {
    ss_block part = problem->blocks[b];
    const int end = part.first + part.size;
    for (int row = part.first; row < end; row += part.size) { /* long blocks in pieces; only row-wise kinds are long */
      part.first = 0;
      part.size = end - row < WINDOW ? end - row : WINDOW;
      double *piece = w ? w + row : window;
      if (!apply(problem, z, row, row + part.size, piece)) return HUGE_VAL;
      worst = fmax(worst, block_residual(&part, z + row, piece));
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
    const point zt = tangential(block, z), wt = tangential(block, w), p = project(block, zt, r);
    *cone = fmax(*cone, hypot(zt.x - p.x, zt.y - p.y));
    const double best = r * support(block, (point){-wt.x, -wt.y});
    *dissipation = fmax(*dissipation, best + wt.x * zt.x + wt.y * zt.y);
  }
}
