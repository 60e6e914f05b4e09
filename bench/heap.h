/* Random sphere packings as complementarity problems: soft spheres of several sizes settle in a box under gravity, those
 * that touch or nearly touch are in contact, one time step follows.
 *
 * The spheres start at random places, overlapping, and descend (FIRE: Bitzek et al. 2006) to a minimum of
 *
 *     sum k overlap^2 / 2 + sum m g z
 *
 * so that the contacts carry the weight with small overlaps: six or more per sphere, disordered, hyperstatic near the
 * bottom. Lengths are in units of the largest radius, velocities in units of gravity times step, and
 *
 *     g = J (v + gravity step) + e (J v)_n where spheres approach + rate gap_n
 *
 * with v random of size `shaking`, e the restitution and rate = 1 / step in these units. Overlaps are gap < 0. The top is open, so that spheres can give way upwards: without
 * friction every such problem has a solution. With a rate and much friction some have none (wedged spheres). */
#ifndef HEAP_H
#define HEAP_H

#include "packing.h"

typedef struct heap_spec {
  int spheres;
  double slenderness; /* height over width of the box */
  double spread;      /* largest over smallest radius */
  double density;     /* largest over smallest density */
  double skin;        /* gap up to which spheres are in contact */
  double mu;
  int facets;  /* 0: discs */
  double tilt; /* of gravity, degrees, towards x: a chute */
  double shaking, restitution, rate;
  uint64_t seed;
} heap_spec;

typedef struct settling {
  packing *p;
  double *v, *f, *m, *x0; /* [3 spheres], [3 spheres], [spheres], [3 spheres] places when the pairs were found */
  int (*near_by)[2];      /* [pairs] */
  int pairs, capacity;
  int *head, *next; /* lists of cells */
  int cells[3];
  double height;
} settling;

static inline int heap_cell(const settling *s, const double *x) {
  int at = 0;
  for (int c = 2; c >= 0; c--) {
    const int k = (int)(x[c] / 2.2);
    at = at * s->cells[c] + (k < 0 ? 0 : k >= s->cells[c] ? s->cells[c] - 1 : k);
  }
  return at;
}

static inline double heap_distance(const packing *p, int a, int b, double *d) {
  for (int c = 0; c < 3; c++) d[c] = p->x[3 * b + c] - p->x[3 * a + c];
  return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Pairs with gaps below `reach`. */
static inline bool heap_pairs(settling *s, double reach) {
  packing *p = s->p;
  const int all = s->cells[0] * s->cells[1] * s->cells[2];
  for (int k = 0; k < all; k++) s->head[k] = -1;
  s->pairs = 0;
  for (int a = 0; a < p->spheres; a++) {
    const double *x = p->x + 3 * (ptrdiff_t)a;
    for (int k = 0; k < 27; k++) {
      const int step[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
      const double y[3] = {x[0] + 2.2 * step[0], x[1] + 2.2 * step[1], x[2] + 2.2 * step[2]};
      bool inside = true;
      for (int c = 0; c < 3; c++) {
        const int at = (int)floor(x[c] / 2.2), to = (int)floor(y[c] / 2.2);
        inside = inside && (to == at || (to >= 0 && to < s->cells[c] && at >= 0 && at < s->cells[c]));
      }
      if (!inside) continue;
      for (int b = s->head[heap_cell(s, y)]; b >= 0; b = s->next[b]) {
        double d[3];
        if (heap_distance(p, a, b, d) > p->r[a] + p->r[b] + reach) continue;
        if (s->pairs == s->capacity) {
          s->capacity = s->capacity ? 2 * s->capacity : 4096;
          void *grown = realloc(s->near_by, sizeof *s->near_by * (size_t)s->capacity);
          if (!grown) return false;
          s->near_by = grown;
        }
        s->near_by[s->pairs][0] = b;
        s->near_by[s->pairs++][1] = a;
      }
    }
    const int cell = heap_cell(s, x);
    s->next[a] = s->head[cell];
    s->head[cell] = a;
  }
  memcpy(s->x0, p->x, sizeof(double) * 3 * (size_t)p->spheres);
  return true;
}

static inline void heap_forces(settling *s, double stiffness) {
  const packing *p = s->p;
  for (int a = 0; a < p->spheres; a++) {
    for (int c = 0; c < 3; c++) {
      const double low = p->r[a] - p->x[3 * a + c], high = p->x[3 * a + c] + p->r[a] - p->box[c];
      s->f[3 * a + c] = (c == 2 ? -s->m[a] : 0) + (low > 0 ? stiffness * low : 0) - (high > 0 ? stiffness * high : 0);
    }
  }
  for (int k = 0; k < s->pairs; k++) {
    const int a = s->near_by[k][0], b = s->near_by[k][1];
    double d[3];
    const double distance = heap_distance(p, a, b, d), overlap = p->r[a] + p->r[b] - distance;
    if (overlap <= 0 || distance == 0) continue;
    for (int c = 0; c < 3; c++) {
      const double f = stiffness * overlap * d[c] / distance;
      s->f[3 * a + c] -= f;
      s->f[3 * b + c] += f;
    }
  }
}

/* FIRE, with all masses alike. */
static inline bool heap_settle(settling *s, int steps, double stiffness) {
  const int n = 3 * s->p->spheres;
  const double most = 0.5 / sqrt(stiffness);
  double dt = 0.1 * most, mix = 0.1;
  int positive = 0;
  for (int k = 0; k < steps; k++) {
    double far = 0;
    for (int i = 0; i < n; i++) far = fmax(far, fabs(s->p->x[i] - s->x0[i]));
    if (k == 0 || far > 0.05)
      if (!heap_pairs(s, 0.2)) return false;
    heap_forces(s, stiffness);
    double power = 0, ff = 0, vv = 0;
    for (int i = 0; i < n; i++) {
      power += s->f[i] * s->v[i];
      ff += s->f[i] * s->f[i];
      vv += s->v[i] * s->v[i];
    }
    if (power > 0) {
      const double turn = mix * sqrt(vv / (ff + 1e-300));
      for (int i = 0; i < n; i++) s->v[i] = (1 - mix) * s->v[i] + turn * s->f[i];
      if (++positive > 5) {
        dt = fmin(1.1 * dt, most);
        mix *= 0.99;
      }
    } else {
      positive = 0;
      dt = fmax(0.5 * dt, 0.02 * most);
      mix = 0.1;
      for (int i = 0; i < n; i++) s->v[i] = 0;
    }
    for (int i = 0; i < n; i++) {
      s->v[i] += dt * s->f[i];
      s->p->x[i] += fmax(fmin(dt * s->v[i], 0.04), -0.04);
    }
  }
  return true;
}

static inline bool heap_touch(packing *p, settling *s, double skin) {
  for (int a = 0; a < p->spheres; a++)
    for (int w = 0; w < 5; w++) {
      const int axis = w / 2;
      const double gap = (w % 2 ? p->box[axis] - p->x[3 * a + axis] : p->x[3 * a + axis]) - p->r[a];
      double n[3] = {0};
      n[axis] = w % 2 ? 1 : -1;
      if (gap < skin && !packing_add(p, a, -1 - w, n, gap)) return false;
    }
  if (!heap_pairs(s, skin)) return false;
  for (int k = 0; k < s->pairs; k++) {
    const int a = s->near_by[k][0], b = s->near_by[k][1];
    double d[3];
    const double distance = heap_distance(p, a, b, d);
    const double n[3] = {d[0] / distance, d[1] / distance, d[2] / distance};
    if (!packing_add(p, a, b, n, distance - p->r[a] - p->r[b])) return false;
  }
  return true;
}

static inline bool heap_place(packing *p, const heap_spec *spec) {
  enum { STEPS = 2000 };
  static const double share = 0.62, stiffness = 2000; /* of the volume; weight of a sphere over its overlap */
  const size_t n = (size_t)spec->spheres;
  p->x = calloc(3 * n, sizeof(double));
  p->r = calloc(n, sizeof(double));
  settling s = {.p = p, .v = calloc(10 * n, sizeof(double)), .next = calloc(n, sizeof(int))};
  if (!p->x || !p->r || !s.v || !s.next) {
    free(s.v);
    free(s.next);
    return false;
  }
  s.f = s.v + 3 * n;
  s.x0 = s.f + 3 * n;
  s.m = s.x0 + 3 * n;
  double volume = 0;
  p->spheres = spec->spheres;
  for (size_t a = 0; a < n; a++) {
    p->r[a] = pow(spec->spread, -packing_random(p));
    s.m[a] = p->r[a] * p->r[a] * p->r[a];
    volume += 4.18879 * s.m[a] / share;
  }
  const double width = cbrt(volume / spec->slenderness);
  p->box[0] = p->box[1] = width;
  p->box[2] = HUGE_VAL;
  for (size_t a = 0; a < n; a++)
    for (int c = 0; c < 3; c++)
      p->x[3 * a + (size_t)c] = packing_random(p) * (c < 2 ? width : spec->slenderness * width);
  s.cells[0] = s.cells[1] = (int)(width / 2.2) + 1;
  s.cells[2] = (int)(2 * spec->slenderness * width / 2.2) + 2;
  s.head = calloc((size_t)(s.cells[0] * s.cells[1] * s.cells[2]), sizeof(int));
  const bool made =
      s.head && heap_settle(&s, STEPS, 100) && heap_settle(&s, STEPS, stiffness) && heap_touch(p, &s, spec->skin);
  free(s.v);
  free(s.next);
  free(s.head);
  free(s.near_by);
  return made;
}

static inline void heap_load(packing *p, const heap_spec *spec) {
  for (int a = 0; a < p->spheres; a++) {
    const double heavy = pow(spec->density, packing_random(p));
    for (int k = 0; k < 36; k++) p->A[36 * (size_t)a + (size_t)k] *= heavy;
  }
  for (int i = 0; i < 6 * p->spheres; i++) p->v[i] = spec->shaking * (2 * packing_random(p) - 1);
  const double angle = spec->tilt * acos(-1) / 180, along = sin(angle), down = -cos(angle);
  for (int row = 0; row < p->cp.n; row++) {
    double before = 0, fall = 0;
    for (int k = p->start[row]; k < p->start[row + 1]; k++) {
      before += p->J[k] * p->v[p->col[k]];
      fall += p->col[k] % 6 == 2 ? down * p->J[k] : p->col[k] % 6 == 0 ? along * p->J[k] : 0;
    }
    p->g[row] = before + fall;
    if (row % 3) continue;
    p->g[row] += spec->restitution * fmin(before, 0) + spec->rate * p->gap[row / 3];
  }
}

/* false: out of memory. The problem refers to p, which must not be moved. */
static inline bool heap_create(packing *p, const heap_spec *spec) {
  *p = (packing){.random = spec->seed + 1000 * (uint64_t)spec->spheres};
  const ss_cone cone = spec->facets > 0 ? SS_CONE_POLYHEDRAL : SS_CONE_QUADRATIC;
  const bool made = heap_place(p, spec) && packing_rows(p, cone, spec->facets, spec->mu, 0);
  if (made)
    heap_load(p, spec);
  else
    packing_free(p);
  return made;
}

#endif
