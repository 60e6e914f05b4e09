/* Complementarity problems for the tests: random mechanics with planted masses, and helpers. */
#ifndef CP_PROBLEMS_H
#define CP_PROBLEMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stddef.h>
#include <cmocka.h>

#include <stickslip/cp.h>

#include <math.h>
#include <stdio.h>
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

/* A problem that owns its arrays. */
typedef struct owned_cp {
  ss_cp cp;
  double *G, *g, *z;
  ss_block *blocks;
} owned_cp;

static inline owned_cp owned_create(int n, int max_blocks) {
  owned_cp p = {.cp = {.n = n}};
  p.G = calloc((size_t)n * (size_t)n + 1, sizeof(double));
  p.g = calloc((size_t)n + 1, sizeof(double));
  p.z = calloc((size_t)n + 1, sizeof(double));
  p.blocks = calloc((size_t)max_blocks + 1, sizeof(ss_block));
  assert_true(p.G && p.g && p.z && p.blocks);
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
  double *J = calloc((size_t)(n * s.dofs) + 1, sizeof(double)), *W = calloc((size_t)s.dofs + 1, sizeof(double));
  double *v = calloc((size_t)s.dofs + 1, sizeof(double));
  assert_true(J && W && v);
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
  assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
  return p;
}

/* A box of unit mass on the plane z = 0 with `points` contacts spread over its base, thrown with velocity v (6). */
static inline owned_cp box_on_plane(random_source *r, int points, ss_cone cone, int directions, double mu) {
  owned_cp p = owned_create(3 * points, points);
  double *J = calloc((size_t)(18 * points), sizeof(double)), v[6];
  const double W[6] = {1, 1, 1, 6, 6, 6};
  assert_non_null(J);
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
  assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
  return p;
}

static inline ss_cp_workspace *new_workspace(void) {
  ss_cp_workspace *w = NULL;
  assert_int_equal(ss_cp_workspace_create(&w, NULL), SS_OK);
  return w;
}

static inline ss_cp_result solve_with(const owned_cp *p, const char *solver, bool warm, ss_cp_workspace *w) {
  ss_cp_options options = ss_cp_options_default();
  options.solver = solver;
  ss_cp_result result;
  ss_error error;
  const ss_status status = ss_cp_solve(&p->cp, &options, warm, p->z, w, &result, &error);
  assert_int_equal(status, SS_OK);
  return result;
}

#endif
