/* Complementarity problems for the tests, the benchmarks and the fuzzer: random mechanics with planted masses. Needs no
 * test framework; out of memory aborts. */
#ifndef CP_GENERATORS_H
#define CP_GENERATORS_H

#include <stickslip/cp.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct random_source {
  uint64_t state;
} random_source;

static inline double random_unit(random_source *r) { /* [0, 1), splitmix64 */
  uint64_t x = r->state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}
static inline double random_between(random_source *r, double a, double b) { return a + (b - a) * random_unit(r); }
static inline int random_below(random_source *r, int n) { return (int)(random_unit(r) * n); }

static inline double *numbers(int count) { /* zeros */
  double *x = calloc((size_t)count + 1, sizeof *x);
  if (!x) abort();
  return x;
}

/* A problem that owns its arrays. */
typedef struct owned_cp {
  ss_cp cp;
  double *G, *g, *z;
  ss_block *blocks;
} owned_cp;

static inline owned_cp owned_create(int n, int max_blocks) {
  owned_cp p = {.cp = {.n = n}};
  p.G = numbers(n * n);
  p.g = numbers(n);
  p.z = numbers(n);
  p.blocks = calloc((size_t)max_blocks + 1, sizeof(ss_block));
  if (!p.blocks) abort();
  p.cp.G = p.G;
  p.cp.g = p.g;
  p.cp.blocks = p.blocks;
  return p;
}

static inline void owned_free(owned_cp *p) {
  free(p->G);
  free(p->g);
  free(p->z);
  free(p->blocks);
}

static inline void add_block(owned_cp *p, ss_block block) {
  const int k = p->cp.n_blocks++;
  p->blocks[k] = block;
  p->blocks[k].first = k ? p->blocks[k - 1].first + p->blocks[k - 1].size : 0;
}

/* Standard LCP from row-major M and q. */
static inline owned_cp make_lcp(int n, const double *M, const double *q) {
  owned_cp p = owned_create(n, 1);
  if (M) memcpy(p.G, M, sizeof(double) * (size_t)(n * n));
  if (q) memcpy(p.g, q, sizeof(double) * (size_t)n);
  if (n) add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n});
  return p;
}

/* G = J W J^T, g = J v: J is n x dofs, W a diagonal of inverse masses. g in the range of J makes friction problems
 * solvable whatever mu is. */
static inline void set_mechanics(owned_cp *p, const double *J, const double *W, const double *v, int dofs) {
  const int n = p->cp.n;
  for (int i = 0; i < n; i++) {
    p->g[i] = 0;
    for (int k = 0; k < dofs; k++) p->g[i] += J[i * dofs + k] * v[k];
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < dofs; k++) sum += J[i * dofs + k] * W[k] * J[j * dofs + k];
      p->G[i * n + j] = sum;
    }
  }
}

typedef struct mechanics_spec {
  int dofs, joints, redundant_joints, limits, contacts, size; /* size 2 or 3 per contact */
  ss_cone cone;
  int directions;
  double mass_spread; /* masses 10^-spread .. 10^spread */
} mechanics_spec;

static inline owned_cp random_mechanics(random_source *r, mechanics_spec s) {
  const int free_rows = s.joints + s.redundant_joints, n = free_rows + s.limits + s.contacts * s.size;
  owned_cp p = owned_create(n, n);
  double *J = numbers(n * s.dofs), *W = numbers(s.dofs), *v = numbers(s.dofs);
  for (int k = 0; k < s.dofs; k++) {
    W[k] = pow(10, random_between(r, -s.mass_spread, s.mass_spread));
    v[k] = random_between(r, -1, 1);
  }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < s.dofs; k++) J[i * s.dofs + k] = random_unit(r) < 0.5 ? 0 : random_between(r, -1, 1);
  for (int i = s.joints; i < free_rows; i++) /* sums of other joints: closed loops */
    for (int k = 0; k < s.dofs; k++)
      J[i * s.dofs + k] = J[((i * 7) % s.joints) * s.dofs + k] - J[((i * 3 + 1) % s.joints) * s.dofs + k];
  set_mechanics(&p, J, W, v, s.dofs);
  if (free_rows) add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = free_rows});
  if (s.limits) add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = s.limits});
  for (int c = 0; c < s.contacts; c++)
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION,
                             .size = s.size,
                             .cone = s.cone,
                             .directions = s.directions,
                             .mu = random_unit(r) < 0.1 ? 0 : random_between(r, 0, 2)});
  free(J);
  free(W);
  free(v);
  return p;
}

/* A box of unit mass on the plane z = 0 with `points` contacts spread over its base, thrown with velocity v (6). */
static inline owned_cp box_on_plane(random_source *r, int points, ss_cone cone, int directions, double mu) {
  owned_cp p = owned_create(3 * points, points);
  double *J = numbers(18 * points), v[6];
  const double W[6] = {1, 1, 1, 6, 6, 6};
  for (int k = 0; k < 6; k++) v[k] = random_between(r, -1, 1);
  v[2] = -fabs(v[2]);
  for (int i = 0; i < points; i++) {
    const double x = points == 4 ? (i & 1) - 0.5 : random_between(r, -0.5, 0.5);
    const double y = points == 4 ? (i >> 1) - 0.5 : random_between(r, -0.5, 0.5), z = -0.5;
    const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
    memcpy(J + (size_t)i * 18, rows, sizeof rows);
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 3, .cone = cone, .directions = directions, .mu = mu});
  }
  set_mechanics(&p, J, W, v, 6);
  free(J);
  return p;
}

#endif
