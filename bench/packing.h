/* Sphere packings as complementarity problems: face-centred cubic layers in a box, radii and places perturbed, every pair
 * within a skin in contact, one time step under gravity.
 *
 * Velocities are in units of gravity times step: every sphere has fallen by (0, 0, -1), and `shaking` adds a random
 * velocity of that size to all six components (0: a heap at rest). About a half of the neighbours touch. */
#ifndef PACKING_H
#define PACKING_H

#include <stickslip/cp.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct packing {
  int spheres, contacts, capacity;
  double *x, *r;  /* [spheres][3], [spheres] */
  double box[3];  /* walls at 0 and box; the top is open */
  int (*pair)[2]; /* [contacts] second sphere -1 .. -5: a wall */
  double (*normal)[3], *gap;
  ss_cp cp;
  ss_cp_operator factors;
  ss_block *blocks;
  double *A, *J, *g, *z, *v; /* v: [6 spheres] before the step */
  int *first, *start, *col;
  uint64_t random;
} packing;

static inline double packing_random(packing *p) { /* [0, 1) */
  uint64_t x = p->random += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return (double)((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static inline bool packing_add(packing *p, int a, int b, const double *normal, double gap) {
  if (p->contacts == p->capacity) {
    p->capacity = p->capacity ? 2 * p->capacity : 256;
    void *pair = realloc(p->pair, sizeof *p->pair * (size_t)p->capacity);
    if (pair) p->pair = pair;
    void *n = realloc(p->normal, sizeof *p->normal * (size_t)p->capacity);
    if (n) p->normal = n;
    void *g = realloc(p->gap, sizeof *p->gap * (size_t)p->capacity);
    if (g) p->gap = g;
    if (!pair || !n || !g) return false;
  }
  p->pair[p->contacts][0] = a;
  p->pair[p->contacts][1] = b;
  memcpy(p->normal[p->contacts], normal, 3 * sizeof(double));
  p->gap[p->contacts++] = gap;
  return true;
}

/* nx x ny spheres of radius about 1 in each of nz layers; every other layer stands in the pockets of the one below. */
static inline bool packing_place(packing *p, int nx, int ny, int nz) {
  const double rise = sqrt(2.0);
  p->x = calloc(3 * (size_t)(nx * ny * nz), sizeof(double));
  p->r = calloc((size_t)(nx * ny * nz), sizeof(double));
  if (!p->x || !p->r) return false;
  for (int k = 0; k < nz; k++)
    for (int j = 0; j < ny; j++)
      for (int i = 0; i < nx; i++) {
        const double shift = k % 2;
        double *x = p->x + 3 * (size_t)p->spheres;
        const double place[3] = {1 + 2 * i + shift, 1 + 2 * j + shift, 1 + rise * k};
        for (int c = 0; c < 3; c++) x[c] = place[c] + 0.02 * (packing_random(p) - 0.5);
        p->r[p->spheres++] = 0.98 + 0.02 * packing_random(p);
      }
  p->box[0] = 2 * nx + 1;
  p->box[1] = 2 * ny + 1;
  p->box[2] = HUGE_VAL;
  return true;
}

/* Pairs closer than the skin; a sphere's neighbours have numbers at most two layers away. */
static inline bool packing_touch(packing *p, int layer) {
  static const double skin = 0.08;
  for (int a = 0; a < p->spheres; a++) {
    const double *x = p->x + 3 * (ptrdiff_t)a;
    for (int w = 0; w < 5; w++) {
      const int axis = w / 2;
      const double gap = (w % 2 ? p->box[axis] - x[axis] : x[axis]) - p->r[a];
      double n[3] = {0};
      n[axis] = w % 2 ? 1 : -1; /* towards the wall */
      if (gap < skin && !packing_add(p, a, -1 - w, n, gap)) return false;
    }
    for (int b = a + 1; b < p->spheres && b <= a + 2 * layer; b++) {
      const double *y = p->x + 3 * (ptrdiff_t)b;
      const double d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
      const double distance = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), gap = distance - p->r[a] - p->r[b];
      const double n[3] = {d[0] / distance, d[1] / distance, d[2] / distance};
      if (gap < skin && !packing_add(p, a, b, n, gap)) return false;
    }
  }
  return true;
}

/* Row of J for the relative velocity along d at contact c: second body minus first. */
static inline void packing_row(packing *p, int c, const double *d, int *at) {
  for (int side = 0; side < 2; side++) {
    const int body = p->pair[c][side];
    if (body < 0) continue;
    const double *n = p->normal[c], arm = side ? -p->r[body] : p->r[body], sign = side ? 1 : -1;
    const double turn[3] = {n[1] * d[2] - n[2] * d[1], n[2] * d[0] - n[0] * d[2], n[0] * d[1] - n[1] * d[0]};
    for (int k = 0; k < 6; k++) {
      p->col[*at] = 6 * body + k;
      p->J[(*at)++] = sign * (k < 3 ? d[k] : arm * turn[k - 3]);
    }
  }
}

static inline bool packing_rows(packing *p, ss_cone cone, int directions, double mu, double shaking) {
  const int n = 3 * p->contacts;
  p->blocks = calloc((size_t)p->contacts, sizeof *p->blocks);
  p->A = calloc(36 * (size_t)p->spheres, sizeof(double));
  p->first = calloc((size_t)p->spheres + 1, sizeof(int));
  p->start = calloc((size_t)n + 1, sizeof(int));
  p->col = calloc(12 * (size_t)n, sizeof(int));
  p->J = calloc(12 * (size_t)n, sizeof(double));
  p->g = calloc((size_t)n, sizeof(double));
  p->z = calloc((size_t)n, sizeof(double));
  p->v = calloc(6 * (size_t)p->spheres, sizeof(double));
  if (!p->blocks || !p->A || !p->first || !p->start || !p->col || !p->J || !p->g || !p->z || !p->v) return false;
  for (int a = 0; a < p->spheres; a++) {
    const double mass = p->r[a] * p->r[a] * p->r[a], inertia = 0.4 * mass * p->r[a] * p->r[a];
    for (int k = 0; k < 6; k++) p->A[36 * (size_t)a + (size_t)(7 * k)] = k < 3 ? mass : inertia;
    p->first[a + 1] = 6 * (a + 1);
  }
  for (int i = 0; i < 6 * p->spheres; i++) p->v[i] = shaking * (2 * packing_random(p) - 1);
  int at = 0;
  for (int c = 0; c < p->contacts; c++) {
    const double *m = p->normal[c];
    const int least = fabs(m[0]) < fabs(m[1]) ? (fabs(m[0]) < fabs(m[2]) ? 0 : 2) : (fabs(m[1]) < fabs(m[2]) ? 1 : 2);
    double t[3] = {0}, along = m[least], norm = sqrt(1 - along * along);
    for (int k = 0; k < 3; k++) t[k] = ((k == least) - along * m[k]) / norm;
    const double s[3] = {m[1] * t[2] - m[2] * t[1], m[2] * t[0] - m[0] * t[2], m[0] * t[1] - m[1] * t[0]};
    const double *rows[3] = {m, t, s};
    for (int i = 0; i < 3; i++) {
      const int row = 3 * c + i, begin = at;
      p->start[row] = begin;
      packing_row(p, c, rows[i], &at);
      for (int k = begin; k < at; k++) /* v_free = (0, 0, -1, 0, 0, 0) and the shaking */
        p->g[row] += p->J[k] * ((p->col[k] % 6 == 2 ? -1 : 0) + p->v[p->col[k]]);
    }
    p->blocks[c] = (ss_block){
        .kind = SS_BLOCK_FRICTION, .first = 3 * c, .size = 3, .cone = cone, .directions = directions, .mu = mu};
  }
  p->start[n] = at;
  p->factors = (ss_cp_operator){
      .J = {n, 6 * p->spheres, p->start, p->col, p->J}, .n_bodies = p->spheres, .first = p->first, .A = p->A};
  p->cp = (ss_cp){.n = n, .n_blocks = p->contacts, .g = p->g, .blocks = p->blocks, .factors = &p->factors};
  return true;
}

static inline void packing_free(packing *p) {
  void *all[] = {p->x, p->r, p->pair, p->normal, p->gap,   p->blocks, p->A,
                 p->J, p->g, p->z,    p->v,      p->first, p->start,  p->col};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  *p = (packing){0};
}

/* false: out of memory. The problem refers to p, which must not be moved. */
static inline bool packing_create(packing *p, int nx, int ny, int nz, ss_cone cone, int directions, double mu,
                                  double shaking) {
  *p = (packing){.random = (uint64_t)(nx + 100 * ny + 10000 * nz)};
  const bool made =
      packing_place(p, nx, ny, nz) && packing_touch(p, nx * ny) && packing_rows(p, cone, directions, mu, shaking);
  if (!made) packing_free(p);
  return made;
}

#endif
