/* Random complementarity problems of every class, many of them with a solution that is planted: z and w are chosen
 * complementary, g = w - G z. A seed is a problem, for ever. */
#ifndef CP_RANDOM_H
#define CP_RANDOM_H

#include "cp_generators.h"

typedef enum existence { HAS_SOLUTION, HAS_NONE, HAS_PERHAPS } existence;

typedef struct random_class {
  const char *name;
  owned_cp (*make)(random_source *r, int n); /* about n rows */
  existence solutions;
  int least, most; /* n */
} random_class;

static inline bool chance(random_source *r, double p) { return random_unit(r) < p; }

/* ---- planting ---- */

static inline void plant_friction(random_source *r, const ss_block *b, double *z, double *w) {
  const int state = b->mu == 0 ? random_below(r, 2) : random_below(r, 3), t = b->size - 1; /* open, sticks, slides */
  z[0] = state ? random_between(r, 0.1, 1) : 0;
  w[0] = state ? 0 : random_between(r, 0, 1);
  const double radius = b->mu * (z[0] + b->extra), speed = random_between(r, 0, 1);
  const bool round = b->cone == SS_CONE_QUADRATIC && b->size > 2,
             corners = b->cone == SS_CONE_POLYHEDRAL && b->size > 2;
  double d[SS_FRICTION_ROWS], length = 0;
  for (int i = 0; i < t; i++) d[i] = random_between(r, -1, 1);
  for (int i = 0; i < t; i++) length = hypot(length, d[i]);
  if (corners) {
    const double angle = 8 * atan(1.0) / b->directions * random_below(r, b->directions);
    d[0] = cos(angle);
    d[1] = sin(angle);
    length = 1;
  }
  for (int i = 0; i < t; i++) {
    const double unit = round || corners ? d[i] / length : d[i] < 0 ? -1 : 1;
    z[1 + i] = radius * (state == 1 ? random_between(r, -0.4, 0.4) : unit);
    w[1 + i] = state == 1 && b->mu > 0 ? 0 : -speed * unit;
    if (b->mu == 0) w[1 + i] = random_between(r, -1, 1);
    if (state == 0 && b->extra == 0) {
      z[1 + i] = 0;
      w[1 + i] = random_between(r, -1, 1);
    }
  }
}

static inline void plant_row(random_source *r, const ss_block *b, double degenerate, double *z, double *w) {
  const double value = chance(r, degenerate) ? 0 : random_between(r, 0, 1);
  const int state = random_below(r, 3);
  *z = *w = 0;
  if (b->kind == SS_BLOCK_FREE) *z = random_between(r, -1, 1);
  if (b->kind == SS_BLOCK_NONNEGATIVE) *(state % 2 ? z : w) = value;
  if (b->kind != SS_BLOCK_BOX) return;
  const double low = b->lower > -HUGE_VAL ? b->lower : b->upper < HUGE_VAL ? b->upper - 1 : -1;
  const double high = b->upper < HUGE_VAL ? b->upper : low + 1;
  *z = random_between(r, low, high);
  if (state == 0 && b->lower > -HUGE_VAL) {
    *z = b->lower;
    *w = value;
  } else if (state == 2 && b->upper < HUGE_VAL) {
    *z = b->upper;
    *w = -value;
  }
}

/* Sets g so that there is a solution; a share of the rows is degenerate: z = w = 0. */
static inline void plant(random_source *r, owned_cp *p, double degenerate) {
  const int n = p->cp.n;
  double *z = numbers(n), *w = numbers(n);
  for (int b = 0; b < p->cp.n_blocks; b++) {
    const ss_block *block = &p->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION) plant_friction(r, block, z + block->first, w + block->first);
    for (int i = block->first; block->kind != SS_BLOCK_FRICTION && i < block->first + block->size; i++)
      plant_row(r, block, degenerate, &z[i], &w[i]);
  }
  for (int i = 0; i < n; i++) {
    p->g[i] = w[i];
    for (int j = 0; j < n; j++) p->g[i] -= p->G[i * n + j] * z[j];
  }
  free(z);
  free(w);
}

/* ---- matrices ---- */

/* Adds s A A^T, A n x rank with a share of zeros. */
static inline void add_square(random_source *r, owned_cp *p, int rank, double s) {
  const int n = p->cp.n;
  double *A = numbers(n * rank);
  for (int i = 0; i < n * rank; i++) A[i] = chance(r, 0.3) ? 0 : random_between(r, -1, 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < rank; k++) p->G[i * n + j] += s * A[i * rank + k] * A[j * rank + k];
  free(A);
}

static inline void add_skew(random_source *r, owned_cp *p, double s) {
  const int n = p->cp.n;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      const double x = s * random_between(r, -1, 1);
      p->G[i * n + j] += x;
      p->G[j * n + i] -= x;
    }
}

/* D G D, D g and the bounds likewise: other units for every row. Cones keep their shape. */
static inline void rescale(random_source *r, owned_cp *p, double decades) {
  const int n = p->cp.n;
  double *d = numbers(n);
  for (int b = 0; b < p->cp.n_blocks; b++) {
    ss_block *block = &p->blocks[b];
    double common = 1;
    for (int i = 0; i < block->size; i++) {
      if (i == 0 || block->kind != SS_BLOCK_FRICTION) common = pow(10, random_between(r, -decades, decades));
      d[block->first + i] = common;
    }
    block->lower /= common;
    block->upper /= common;
    block->extra /= common;
  }
  for (int i = 0; i < n; i++) {
    p->g[i] *= d[i];
    for (int j = 0; j < n; j++) p->G[i * n + j] *= d[i] * d[j];
  }
  free(d);
}

/* ---- LCPs ---- */

static inline owned_cp lcp_definite(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  add_square(r, &p, n, 1);
  for (int i = 0; i < n; i++) p.G[i * n + i] += 0.01;
  if (chance(r, 0.5)) add_skew(r, &p, 1);
  for (int i = 0; i < n; i++) p.g[i] = random_between(r, -1, 1);
  return p;
}

static inline owned_cp lcp_singular(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  add_square(r, &p, 1 + random_below(r, n), 1);
  if (chance(r, 0.3)) add_skew(r, &p, 1);
  plant(r, &p, 0.2);
  return p;
}

static inline owned_cp lcp_skew(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  add_skew(r, &p, 1);
  for (int i = 0; i < n; i++)
    if (chance(r, 0.3)) p.G[i * n + i] = random_unit(r);
  plant(r, &p, 0.2);
  return p;
}

/* Triangular with a positive diagonal: P, as ill conditioned as it likes to be. */
static inline owned_cp lcp_triangular(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) p.G[i * n + j] = i == j ? random_between(r, 0.5, 1.5) : random_between(r, -2, 2);
  for (int i = 0; i < n; i++) p.g[i] = random_between(r, -1, 1);
  return p;
}

/* Diagonally dominant, other signs and sizes: P. */
static inline owned_cp lcp_dominant(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++) {
    double sum = 0.01;
    for (int j = 0; j < n; j++)
      if (j != i) sum += fabs(p.G[i * n + j] = random_between(r, -1, 1));
    p.G[i * n + i] = sum;
    p.g[i] = random_between(r, -1, 1);
  }
  rescale(r, &p, 1);
  return p;
}

/* Z-matrix with a feasible g: a least element solves. */
static inline owned_cp lcp_z(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) p.G[i * n + j] = i == j ? random_between(r, 0, n) : -random_unit(r);
  plant(r, &p, 0.2);
  return p;
}

/* Laplacian of a random graph: singular K-matrix. */
static inline owned_cp lcp_laplacian(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      const double x = chance(r, 3.0 / n) ? random_unit(r) : 0;
      p.G[i * n + j] = p.G[j * n + i] = -x;
      p.G[i * n + i] += x;
      p.G[j * n + j] += x;
    }
  plant(r, &p, 0.3);
  return p;
}

/* Semi-definite plus positive entries: strictly copositive, every g has a solution. */
static inline owned_cp lcp_copositive(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  add_square(r, &p, 1 + random_below(r, n), 1);
  for (int i = 0; i < n * n; i++) p.G[i] += random_between(r, 0.01, 2);
  for (int i = 0; i < n; i++) p.g[i] = random_between(r, -1, 1);
  return p;
}

/* Nonnegative with zeros on the diagonal: copositive and no more. */
static inline owned_cp lcp_nonnegative(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) p.G[i * n + j] = chance(r, 0.5) ? 0 : random_unit(r);
  plant(r, &p, 0);
  return p;
}

/* Equilibria of a game of two with costs A and B: M = [0 A; B^T 0], q = -1. */
static inline owned_cp lcp_bimatrix(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  const int m = 1 + random_below(r, n - 1);
  const bool whole = chance(r, 0.5); /* small integers: degenerate */
  for (int i = 0; i < n; i++) {
    p.g[i] = -1;
    for (int j = 0; j < n; j++)
      if ((i < m) != (j < m)) p.G[i * n + j] = whole ? 1 + random_below(r, 4) : random_between(r, 0.1, 2);
  }
  return p;
}

/* Conditions of min x H x / 2 + c x, A x >= b, x >= 0, with constraints that repeat each other. */
static inline owned_cp lcp_quadratic(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  const int m = 1 + random_below(r, n - 1);
  const double keep = chance(r, 0.3) ? 0 : 1; /* linear programs too */
  add_square(r, &p, 1 + random_below(r, n), keep);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i >= m || j >= m) p.G[i * n + j] = 0;
  for (int i = m; i < n; i++)
    for (int j = 0; j < m; j++) {
      const bool again = i > m && (i - m) % 3 == 2;
      const double a = again ? p.G[(i - 1) * n + j] * (i % 2 ? 1 : 2) : chance(r, 0.5) ? 0 : random_between(r, -1, 1);
      p.G[i * n + j] = a;
      p.G[j * n + i] = -a;
    }
  plant(r, &p, 0.3);
  for (int i = m + 2; i < n; i++) /* what is repeated has the same bound */
    if ((i - m) % 3 == 2) p.g[i] = p.g[i - 1] * (i % 2 ? 1 : 2);
  return p;
}

/* v >= 0 with M^T v <= 0 and q . v < 0: none. */
static inline owned_cp lcp_infeasible(random_source *r, int n) {
  owned_cp p = lcp_singular(r, n);
  double *v = numbers(n), squares = 0, product = 0;
  for (int i = 0; i < n; i++) v[i] = chance(r, 0.5) ? random_unit(r) : 0;
  v[0] = 1;
  for (int i = 0; i < n; i++) squares += v[i] * v[i];
  memset(p.G, 0, sizeof(double) * (size_t)n * (size_t)n);
  add_square(r, &p, n, 1);
  for (int side = 0; side < 2; side++) /* (1 - v v^T / v v) G (..): semi-definite, G v = 0 */
    for (int i = 0; i < n; i++) {
      double sum = 0;
      for (int j = 0; j < n; j++) sum += v[j] * (side ? p.G[i * n + j] : p.G[j * n + i]);
      for (int j = 0; j < n; j++) *(side ? &p.G[i * n + j] : &p.G[j * n + i]) -= sum * v[j] / squares;
    }
  for (int i = 0; i < n; i++) product += v[i] * p.g[i];
  for (int i = 0; i < n; i++) p.g[i] -= (product + 1) * v[i] / squares;
  free(v);
  return p;
}

/* Anything: compared with the enumeration. */
static inline owned_cp lcp_any(random_source *r, int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n * n; i++) p.G[i] = random_below(r, 7) - 3;
  for (int i = 0; i < n; i++) p.g[i] = random_below(r, 7) - 4;
  return p;
}

/* ---- mixed and box ---- */

static inline owned_cp mixed_singular(random_source *r, int n) {
  owned_cp p = owned_create(n, 2);
  const int m = 1 + random_below(r, n - 1);
  add_square(r, &p, 1 + random_below(r, n), 1);
  if (chance(r, 0.3)) add_skew(r, &p, 1);
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = m});
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n - m});
  plant(r, &p, 0.2);
  return p;
}

/* [M -J^T; J 0]: velocities free, contacts without a diagonal; some of the equations too. */
static inline owned_cp mixed_saddle(random_source *r, int n) {
  owned_cp p = owned_create(n, 3);
  const int m = 1 + random_below(r, n - 1), equations = random_below(r, n - m) / 2;
  add_square(r, &p, chance(r, 0.5) ? n : 1 + n / 2, 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (i >= m || j >= m) p.G[i * n + j] = 0;
  for (int i = m; i < n; i++)
    for (int j = 0; j < m; j++) {
      const double a = chance(r, 0.5) ? 0 : random_between(r, -1, 1);
      p.G[i * n + j] = a;
      p.G[j * n + i] = -a;
    }
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = m + equations});
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n - m - equations});
  plant(r, &p, 0.2);
  return p;
}

static inline owned_cp box_any(random_source *r, int n) {
  owned_cp p = owned_create(n, n);
  add_square(r, &p, chance(r, 0.5) ? n : 1 + random_below(r, n), 1);
  if (chance(r, 0.3)) add_skew(r, &p, 1);
  const bool relay = chance(r, 0.3);
  for (int i = 0; i < n; i++) {
    ss_block b = {.kind = SS_BLOCK_BOX, .size = 1, .lower = -1, .upper = 1};
    if (!relay) {
      b.lower = chance(r, 0.3) ? -HUGE_VAL : random_between(r, -2, 0);
      b.upper = chance(r, 0.3) ? HUGE_VAL : chance(r, 0.1) && b.lower > -HUGE_VAL ? b.lower : random_between(r, 0, 2);
    }
    add_block(&p, b);
  }
  plant(r, &p, 0.2);
  return p;
}

/* ---- friction ---- */

typedef struct friction_kind {
  int size;
  ss_cone cone;
  int directions;
} friction_kind;
static const friction_kind friction_kinds[] = {
    {2, SS_CONE_QUADRATIC, 4},   {3, SS_CONE_QUADRATIC, 4}, {3, SS_CONE_PYRAMID, 4}, {3, SS_CONE_POLYHEDRAL, 4},
    {3, SS_CONE_POLYHEDRAL, 10}, {4, SS_CONE_QUADRATIC, 4}, {5, SS_CONE_PYRAMID, 4}, {6, SS_CONE_QUADRATIC, 4},
};

static inline double random_mu(random_source *r) {
  const int kind = random_below(r, 10);
  return kind == 0 ? 0 : kind == 1 ? 10 : kind < 4 ? random_between(r, 0, 0.1) : random_between(r, 0.1, 1.2);
}

/* Bodies with 6 directions each, joints, limits and contacts between two of them or with the ground; some contacts nearly repeat
 * others. */
static inline owned_cp friction_scene(random_source *r, int n, double spread, double extra, bool repeated) {
  const friction_kind kind = friction_kinds[random_below(r, 8)];
  const bool mixed = chance(r, 0.2); /* several kinds of cone together */
  const int joints = chance(r, 0.5) ? 0 : random_below(r, n / 3 + 1),
            limits = chance(r, 0.7) ? 0 : random_below(r, n / 4 + 1);
  owned_cp p = owned_create(n, n);
  int row = joints + limits;
  if (joints) add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = joints});
  if (limits) add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = limits});
  const double mu = random_mu(r);
  const bool same = chance(r, 0.5);
  while (row < n) {
    const friction_kind k = mixed ? friction_kinds[random_below(r, 8)] : kind;
    ss_block b = {.kind = SS_BLOCK_FRICTION, .size = k.size, .cone = k.cone, .directions = k.directions};
    b.mu = same ? mu : random_mu(r);
    b.extra = chance(r, 0.5) ? extra * random_unit(r) : 0;
    if (row + b.size > n) b = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n - row};
    add_block(&p, b);
    row += b.size;
  }
  const int bodies = 1 + random_below(r, 1 + n / 4), dofs = 6 * bodies;
  double *J = numbers(n * dofs), *W = numbers(dofs), *v = numbers(dofs);
  for (int k = 0; k < dofs; k++) {
    W[k] = k % 6 ? W[k - 1] : pow(10, random_between(r, -spread, spread));
    v[k] = random_between(r, -1, 1);
  }
  for (int b = 0; b < p.cp.n_blocks; b++) {
    const ss_block *block = &p.blocks[b];
    int one = random_below(r, bodies), two = random_below(r, bodies + 1);
    const bool again = repeated && b > 0 && block->size == p.blocks[b - 1].size && chance(r, 0.6);
    const double shift = chance(r, 0.3) ? 0 : pow(10, random_between(r, -12, -1));
    for (int i = block->first; i < block->first + block->size; i++) {
      if (block->kind != SS_BLOCK_FRICTION) {
        one = random_below(r, bodies);
        two = random_below(r, bodies + 1);
      }
      for (int k = 0; k < 6; k++) {
        J[i * dofs + 6 * one + k] = random_between(r, -1, 1);
        if (two < bodies && two != one) J[i * dofs + 6 * two + k] = random_between(r, -1, 1);
      }
      for (int k = 0; again && k < dofs; k++)
        J[i * dofs + k] =
            J[(i - block->size) * dofs + k] + (J[i * dofs + k] != 0 ? shift * random_between(r, -1, 1) : 0);
    }
  }
  set_mechanics(&p, J, W, v, dofs);
  free(J);
  free(W);
  free(v);
  return p;
}

static inline owned_cp friction_plain(random_source *r, int n) { return friction_scene(r, n, 0.5, 0, false); }
static inline owned_cp friction_repeated(random_source *r, int n) { return friction_scene(r, n, 0.5, 0, true); }
static inline owned_cp friction_masses(random_source *r, int n) { return friction_scene(r, n, 3, 0, false); }
static inline owned_cp friction_extra(random_source *r, int n) { return friction_scene(r, n, 0.5, 1, true); }
static inline owned_cp friction_planted(random_source *r, int n) {
  owned_cp p = friction_scene(r, n, 0.5, chance(r, 0.5), true);
  plant(r, &p, 0.2);
  return p;
}

/* Other units: z in units of a, w in units of b. */
static inline void change_units(owned_cp *p, double a, double b) {
  const int n = p->cp.n;
  for (int i = 0; i < n; i++) p->g[i] /= b;
  for (int i = 0; i < n * n; i++) p->G[i] *= a / b;
  for (int k = 0; k < p->cp.n_blocks; k++) {
    p->blocks[k].lower /= a;
    p->blocks[k].upper /= a;
    p->blocks[k].extra /= a;
  }
}
static inline owned_cp units_friction(random_source *r, int n) {
  owned_cp p = friction_plain(r, n);
  change_units(&p, pow(10, random_between(r, -6, 6)), pow(10, random_between(r, -6, 6)));
  return p;
}
static inline owned_cp units_lcp(random_source *r, int n) {
  owned_cp p = chance(r, 0.5) ? lcp_singular(r, n) : box_any(r, n);
  change_units(&p, pow(10, random_between(r, -12, 12)), pow(10, random_between(r, -12, 12)));
  return p;
}
static inline owned_cp units_rows(random_source *r, int n) {
  owned_cp p = chance(r, 0.5) ? lcp_definite(r, n) : mixed_singular(r, n);
  rescale(r, &p, 3);
  return p;
}

/* Cubes on top of each other, four contacts in every face, thrown a little askew. */
static inline owned_cp spatial_stack(random_source *r, int n) {
  const int high = n / 12 > 0 ? n / 12 : 1, rows = 12 * high, dofs = 6 * high, law = random_below(r, 4);
  const friction_kind kind = friction_kinds[1 + random_below(r, 4)];
  const double ratio = pow(10, random_between(r, 0, 8)), mu = random_between(r, 0.1, 1),
               askew = chance(r, 0.5) ? 0 : 0.1;
  owned_cp p = owned_create(rows, 4 * high);
  double *J = numbers(rows * dofs), *W = numbers(dofs), *v = numbers(dofs);
  for (int i = 0; i < high; i++) {
    const double up = high > 1 ? i / (high - 1.0) : 0;
    const double power = law == 0 ? i % 2 : law == 1 ? up : law == 2 ? 1 - up : random_unit(r), m = pow(ratio, power);
    for (int k = 0; k < 6; k++) {
      W[6 * i + k] = (k < 3 ? 1 : 6) / m;
      v[6 * i + k] = askew * random_between(r, -1, 1) - (k == 2 ? 0.1 : 0);
    }
    for (int c = 0; c < 4; c++) {
      const double x = c % 2 - 0.5, y = c > 1 ? 0.5 : -0.5;
      for (int side = 0; side < 2; side++) {
        const int body = i - side;
        if (body < 0) continue;
        const double z = side ? 0.5 : -0.5, s = side ? -1 : 1;
        const double lines[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
        for (int a = 0; a < 3; a++)
          for (int k = 0; k < 6; k++) J[(12 * i + 3 * c + a) * dofs + 6 * body + k] = s * lines[a][k];
      }
      add_block(
          &p,
          (ss_block){.kind = SS_BLOCK_FRICTION, .size = 3, .cone = kind.cone, .directions = kind.directions, .mu = mu});
    }
  }
  set_mechanics(&p, J, W, v, dofs);
  free(J);
  free(W);
  free(v);
  return p;
}

/* The same problem with its velocities as free rows: [M -J^T; J 0] (v, z) + (M v_0.., 0). */
static inline owned_cp saddle_friction(random_source *r, int n) {
  const int dofs = 6 * (1 + n / 24), contacts = n / 6 > 0 ? n / 6 : 1, rows = dofs + 3 * contacts;
  const friction_kind kind = friction_kinds[1 + random_below(r, 4)];
  owned_cp p = owned_create(rows, 1 + contacts);
  double *v = numbers(dofs);
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = dofs});
  for (int k = 0; k < dofs; k++) {
    p.G[k * rows + k] = pow(10, random_between(r, -1, 1));
    p.g[k] = p.G[k * rows + k] * random_between(r, -1, 1);
  }
  for (int c = 0; c < contacts; c++) {
    const int one = random_below(r, dofs / 6), two = random_below(r, dofs / 6 + 1);
    for (int a = 0; a < 3; a++)
      for (int k = 0; k < 6; k++) {
        const int row = dofs + 3 * c + a;
        p.G[row * rows + 6 * one + k] = random_between(r, -1, 1);
        p.G[(6 * one + k) * rows + row] = -p.G[row * rows + 6 * one + k];
        if (two == one || two >= dofs / 6) continue;
        p.G[row * rows + 6 * two + k] = random_between(r, -1, 1);
        p.G[(6 * two + k) * rows + row] = -p.G[row * rows + 6 * two + k];
      }
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION,
                             .size = 3,
                             .cone = kind.cone,
                             .directions = kind.directions,
                             .mu = random_mu(r)});
  }
  free(v);
  return p;
}

static const random_class random_classes[] = {
    {"lcp-definite", lcp_definite, HAS_SOLUTION, 3, 200},
    {"lcp-singular", lcp_singular, HAS_SOLUTION, 3, 300},
    {"lcp-skew", lcp_skew, HAS_SOLUTION, 3, 200},
    {"lcp-triangular", lcp_triangular, HAS_SOLUTION, 3, 40},
    {"lcp-dominant", lcp_dominant, HAS_SOLUTION, 3, 300},
    {"lcp-z", lcp_z, HAS_SOLUTION, 3, 200},
    {"lcp-laplacian", lcp_laplacian, HAS_SOLUTION, 3, 200},
    {"lcp-copositive", lcp_copositive, HAS_SOLUTION, 3, 100},
    {"lcp-nonnegative", lcp_nonnegative, HAS_SOLUTION, 3, 10},
    {"lcp-bimatrix", lcp_bimatrix, HAS_SOLUTION, 3, 60},
    {"lcp-quadratic", lcp_quadratic, HAS_SOLUTION, 3, 200},
    {"lcp-infeasible", lcp_infeasible, HAS_NONE, 3, 100},
    {"lcp-any", lcp_any, HAS_PERHAPS, 2, 8},
    {"mixed-singular", mixed_singular, HAS_SOLUTION, 3, 200},
    {"mixed-saddle", mixed_saddle, HAS_SOLUTION, 3, 200},
    {"box", box_any, HAS_SOLUTION, 3, 200},
    {"friction", friction_plain, HAS_SOLUTION, 6, 300},
    {"friction-repeated", friction_repeated, HAS_SOLUTION, 6, 300},
    {"friction-masses", friction_masses, HAS_SOLUTION, 6, 200},
    {"friction-extra", friction_extra, HAS_SOLUTION, 6, 200},
    {"friction-planted", friction_planted, HAS_SOLUTION, 6, 200},
    {"stack", spatial_stack, HAS_SOLUTION, 12, 300},
    {"saddle-friction", saddle_friction, HAS_SOLUTION, 12, 300},
    {"units-friction", units_friction, HAS_SOLUTION, 6, 100},
    {"units-lcp", units_lcp, HAS_SOLUTION, 3, 100},
    {"units-rows", units_rows, HAS_SOLUTION, 3, 100},
};
enum { RANDOM_CLASSES = sizeof random_classes / sizeof *random_classes };

/* Number `seed` of a class; small ones are more frequent. */
static inline owned_cp random_problem(const random_class *c, uint64_t seed) {
  random_source r = {seed * 0x2545f4914f6cdd1du + 1};
  const double u = random_unit(&r);
  return c->make(&r, c->least + (int)((c->most - c->least + 1) * u * u));
}

/* What rounding z to double numbers does to w at most, in the judge's measure: no z can be much better. */
static inline double attainable(const owned_cp *p) {
  const int n = p->cp.n;
  double worst = 0, g = 0;
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < n; j++) sum += fabs(p->G[i * n + j] * p->z[j]);
    worst = fmax(worst, sum);
    g = fmax(g, fabs(p->g[i]));
  }
  return 0x1p-52 * worst / (1 + g);
}

#endif
