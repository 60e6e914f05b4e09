/* Problems that are hard for some method: exponential families, cycles, zero blocks, redundant contacts and joints, light
 * bodies between heavy ones. A table for the tests and for the benchmark that compares the solvers. */
#ifndef CP_WORST_H
#define CP_WORST_H

#include "cp_generators.h"

static inline double lower_two(int i, int j) { return i == j ? 1 : i > j ? 2 : 0; }

/* Murty 1978: Lemke's method with the covering vector 1 takes 2^n - 1 pivots. P-matrix; z = (0, .., 0, 2^n). */
static inline owned_cp worst_murty(int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++) {
    p.g[i] = -(ldexp(1, n + 1) - ldexp(1, i + 1));
    for (int j = 0; j < n; j++) p.G[i * n + j] = lower_two(j, i);
  }
  return p;
}

/* Fathi 1979: the same for positive definite matrices, L L^T. z = (1, 0, .., 0). */
static inline owned_cp worst_fathi(int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++) {
    p.g[i] = -1;
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) p.G[i * n + j] += lower_two(i, k) * lower_two(j, k);
  }
  return p;
}

/* Csizmadia: a P-matrix whose handicap grows exponentially. z = (1, 0, 1, 0, ..). */
static inline owned_cp worst_csizmadia(int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++) {
    p.g[i] = i % 2;
    for (int j = 0; j < n; j++) {
      p.G[i * n + j] = i == j ? 1 : i > j ? -1 : 0;
      p.g[i] -= p.G[i * n + j] * (j % 2 == 0);
    }
  }
  return p;
}

/* Ben Gharbia & Gilbert 2012: the active-set method runs in circles from z = (-1, 0, .., 0). z = 0. */
static inline owned_cp worst_circulant(int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++) {
    p.G[i * n + i] = 1;
    p.G[i * n + (i + n - 1) % n] = 2;
    p.g[i] = 1;
  }
  return p;
}

/* Murty 1988, 4.8: Bard's pivoting runs in circles. z = 1/3 each for n = 3. */
static inline owned_cp worst_bard(int n) {
  owned_cp p = worst_circulant(n);
  for (int i = 0; i < n; i++) p.g[i] = -1;
  return p;
}

/* Beale 1955: the linear program on which the simplex method cycles, with its dual: nothing but zero blocks and A. */
static inline owned_cp worst_beale(int size) {
  (void)size;
  enum { X = 4, Y = 3, N = X + Y };
  const double A[Y][X] = {{-0.25, 8, 1, -9}, {-0.5, 12, 0.5, -3}, {0, 0, -1, 0}}, b[Y] = {0, 0, -1};
  const double c[X] = {-0.75, 20, -0.5, 6};
  owned_cp p = make_lcp(N, NULL, NULL);
  for (int j = 0; j < X; j++) p.g[j] = c[j];
  for (int i = 0; i < Y; i++) {
    p.g[X + i] = -b[i];
    for (int j = 0; j < X; j++) {
      p.G[(X + i) * N + j] = A[i][j];
      p.G[j * N + X + i] = -A[i][j];
    }
  }
  return p;
}

/* A zero matrix: solved by 0 for g >= 0, else by nothing. */
static inline owned_cp worst_zero(int n) {
  owned_cp p = make_lcp(n, NULL, NULL);
  for (int i = 0; i < n; i++) p.g[i] = i % 3;
  return p;
}
static inline owned_cp worst_nothing(int n) {
  owned_cp p = worst_zero(n);
  p.g[n / 2] = -1;
  return p;
}

/* `points` equal contacts under one body: every row the same. */
static inline owned_cp worst_equal(int points) {
  owned_cp p = make_lcp(points, NULL, NULL);
  for (int i = 0; i < points * points; i++) p.G[i] = 1;
  for (int i = 0; i < points; i++) p.g[i] = -1;
  return p;
}

/* A unit cube on `points` contacts in a square grid, thrown askew. */
static inline owned_cp grid_box(int points, ss_cone cone) {
  const int side = (int)(sqrt(points) + 0.5);
  const double W[6] = {1, 1, 1, 6, 6, 6}, v[6] = {0.7, -0.2, -1, 0.3, -0.5, 0.9};
  owned_cp p = owned_create(3 * points, points);
  double *J = numbers(18 * points);
  for (int i = 0; i < points; i++) {
    const double x = i % side / (side - 1.0) - 0.5, y = (double)(i / side) / (side - 1.0) - 0.5, z = -0.5;
    const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
    memcpy(J + (size_t)i * 18, rows, sizeof rows);
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 3, .cone = cone, .directions = 8, .mu = 0.6});
  }
  set_mechanics(&p, J, W, v, 6);
  free(J);
  return p;
}
static inline owned_cp worst_box_disc(int points) { return grid_box(points, SS_CONE_QUADRATIC); }
static inline owned_cp worst_box_polygon(int points) { return grid_box(points, SS_CONE_POLYHEDRAL); }
static inline owned_cp worst_box_pyramid(int points) { return grid_box(points, SS_CONE_PYRAMID); }

/* Planar boxes on top of each other, two contacts in every joint face; `mass` of the box number i. */
static inline owned_cp stack(int high, double (*mass)(int i, int high)) {
  const int dofs = 3 * high, rows = 4 * high;
  owned_cp p = owned_create(rows, 2 * high);
  double *J = numbers(rows * dofs), *W = numbers(dofs), *v = numbers(dofs);
  for (int i = 0; i < high; i++) {
    const double m = mass(i, high);
    W[3 * i] = W[3 * i + 1] = 1 / m;
    W[3 * i + 2] = 6 / m;
    v[3 * i] = 0.01 * (i % 3 - 1);
    v[3 * i + 1] = -0.1; /* a step of gravity */
    for (int k = 0; k < 2; k++) {
      const double x = k - 0.5;
      double *normal = J + (size_t)(4 * i + 2 * k) * (size_t)dofs, *tangent = normal + dofs;
      const double above[2][3] = {{0, 1, x}, {1, 0, 0.5}}, below[2][3] = {{0, -1, -x}, {-1, 0, 0.5}};
      for (int c = 0; c < 3; c++) {
        normal[3 * i + c] = above[0][c];
        tangent[3 * i + c] = above[1][c];
        if (i > 0) normal[3 * (i - 1) + c] = below[0][c];
        if (i > 0) tangent[3 * (i - 1) + c] = below[1][c];
      }
      add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.5});
    }
  }
  set_mechanics(&p, J, W, v, dofs);
  free(J);
  free(W);
  free(v);
  return p;
}
static inline double mass_alternates(int i, int high) { return high && i % 2 ? 1e6 : 1; }
static inline double mass_grows(int i, int high) { return pow(1e6, i / (high - 1.0)); }
static inline double mass_falls(int i, int high) { return pow(1e6, 1 - i / (high - 1.0)); }
static inline double mass_random(int i, int high) {
  random_source r = {(uint64_t)(100 * high + i)};
  return pow(1e6, random_unit(&r));
}
static inline owned_cp worst_stack_alternating(int high) { return stack(high, mass_alternates); }
static inline owned_cp worst_stack_heavy_top(int high) { return stack(high, mass_grows); }
static inline owned_cp worst_stack_light_top(int high) { return stack(high, mass_falls); }
static inline owned_cp worst_stack_random(int high) { return stack(high, mass_random); }

/* `links` planar links in a straight line, pinned to each other and to the ground at both ends; every tenth one also by
 * a bar to the ground along the line. Closed loops: the forces along the line are not determined. Three links rest on
 * the ground. */
static inline owned_cp worst_chain(int links) {
  const int joints = links + 1, bars = links / 10, contacts = 3, dofs = 3 * links;
  const int free_rows = 2 * joints + bars, rows = free_rows + 2 * contacts;
  random_source random = {5};
  owned_cp p = owned_create(rows, 1 + contacts);
  double *J = numbers(rows * dofs), *W = numbers(dofs), *v = numbers(dofs);
  for (int k = 0; k < dofs; k++) {
    W[k] = k % 3 == 2 ? 12 : 1;
    v[k] = random_between(&random, -1, 1);
  }
  for (int j = 0; j < joints; j++)
    for (int side = 0; side < 2; side++) {
      const int body = j - 1 + side;
      if (body < 0 || body >= links) continue;
      const double sign = side ? 1 : -1, arm = side ? -0.5 : 0.5;
      J[(size_t)(2 * j) * (size_t)dofs + (size_t)(3 * body)] = sign;
      J[(size_t)(2 * j + 1) * (size_t)dofs + (size_t)(3 * body + 1)] = sign;
      J[(size_t)(2 * j + 1) * (size_t)dofs + (size_t)(3 * body + 2)] = sign * arm;
    }
  for (int k = 0; k < bars; k++) J[(size_t)(2 * joints + k) * (size_t)dofs + (size_t)(30 * k)] = 1;
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = free_rows});
  for (int k = 0; k < contacts; k++) {
    double *row = J + (size_t)(free_rows + 2 * k) * (size_t)dofs + (size_t)(3 * (links * (k + 1) / (contacts + 1)));
    row[1] = 1;
    row[dofs] = 1;
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.5});
  }
  set_mechanics(&p, J, W, v, dofs);
  free(J);
  free(W);
  free(v);
  return p;
}

typedef struct worst_case {
  const char *name;
  owned_cp (*make)(int size);
  int size;
  bool solvable;
} worst_case;

static const worst_case worst_cases[] = {
    {"murty", worst_murty, 10, true},
    {"murty", worst_murty, 20, true},
    {"murty", worst_murty, 100, true},
    {"fathi", worst_fathi, 10, true},
    {"fathi", worst_fathi, 20, true},
    {"fathi", worst_fathi, 150, true},
    {"csizmadia", worst_csizmadia, 20, true},
    {"csizmadia", worst_csizmadia, 100, true},
    {"circulant", worst_circulant, 7, true},
    {"circulant", worst_circulant, 21, true},
    {"bard", worst_bard, 3, true},
    {"bard", worst_bard, 21, true},
    {"bard", worst_bard, 101, true},
    {"beale", worst_beale, 7, true},
    {"zero", worst_zero, 12, true},
    {"nothing", worst_nothing, 12, false},
    {"equal-rows", worst_equal, 12, true},
    {"equal-rows", worst_equal, 100, true},
    {"box-disc", worst_box_disc, 4, true},
    {"box-disc", worst_box_disc, 16, true},
    {"box-disc", worst_box_disc, 100, true},
    {"box-polygon", worst_box_polygon, 4, true},
    {"box-polygon", worst_box_polygon, 16, true},
    {"box-polygon", worst_box_polygon, 100, true},
    {"box-pyramid", worst_box_pyramid, 4, true},
    {"box-pyramid", worst_box_pyramid, 16, true},
    {"box-pyramid", worst_box_pyramid, 100, true},
    {"stack-alternating", worst_stack_alternating, 16, true},
    {"stack-alternating", worst_stack_alternating, 50, true},
    {"stack-heavy-top", worst_stack_heavy_top, 16, true},
    {"stack-heavy-top", worst_stack_heavy_top, 50, true},
    {"stack-light-top", worst_stack_light_top, 50, true},
    {"stack-random", worst_stack_random, 50, true},
    {"chain-with-loops", worst_chain, 100, true},
};
enum { WORST_CASES = sizeof worst_cases / sizeof *worst_cases };

#endif
