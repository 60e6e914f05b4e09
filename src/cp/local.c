/* One contact, solved exactly: the building block of the Gauss-Seidel methods.
 *
 *     w = W z + q,  0 <= z_n perp w_n >= 0,  z_t maximises -w_t . z_t over mu (z_n + e) S
 *
 * The cases are tried in the order open, sticking, sliding. Sliding on the disc: with d the direction of z_t and t
 * perpendicular to it, z_n = N / D, D = W_nn + mu W_nt d, N = -(q_n + mu e W_nt d), and w_t must be parallel to d:
 *
 *     f(d) = t . [ W_tn N + mu W_tt d (N + e D) + q_t D ] = 0,    N + e D = e W_nn - q_n does not depend on d,
 *
 * a trigonometric polynomial of degree two in the angle of d (a quartic, as in Bonnefon & Daviet 2011). Newton's method
 * from the last direction finds the root nearly always; where it does not, the circle is searched for sign changes.
 * Polygons and pyramids go through the states of the active set. Fails where W is not positive definite enough for any
 * case to hold. */
#include "cp/local.h"

#include "cp/reduce.h"

#include <math.h>

/* z = -W^-1 q for size 2 or 3; false where W is singular. */
static bool solve_small(const double *W, const double *q, int size, double *z) {
  if (size == 2) {
    const double det = W[0] * W[3] - W[1] * W[2];
    if (fabs(det) <= 1e-14 * fabs(W[0] * W[3])) return false;
    z[0] = (W[1] * q[1] - W[3] * q[0]) / det;
    z[1] = (W[2] * q[0] - W[0] * q[1]) / det;
    return true;
  }
  const double a = W[4] * W[8] - W[5] * W[7], b = W[5] * W[6] - W[3] * W[8], c = W[3] * W[7] - W[4] * W[6];
  const double det = W[0] * a + W[1] * b + W[2] * c;
  if (fabs(det) <= 1e-14 * fabs(W[0] * W[4] * W[8])) return false;
  z[0] = -(a * q[0] + (W[2] * W[7] - W[1] * W[8]) * q[1] + (W[1] * W[5] - W[2] * W[4]) * q[2]) / det;
  z[1] = -(b * q[0] + (W[0] * W[8] - W[2] * W[6]) * q[1] + (W[2] * W[3] - W[0] * W[5]) * q[2]) / det;
  z[2] = -(c * q[0] + (W[1] * W[6] - W[0] * W[7]) * q[1] + (W[0] * W[4] - W[1] * W[3]) * q[2]) / det;
  return true;
}

/* One axis: open with friction from `extra`, sticking, sliding either way. */
static bool interval(const ss_block *block, const double *W, const double *q, double *z) {
  const double mu = block->mu, e = block->extra;
  double s[2];
  if (solve_small(W, q, 2, s) && s[0] >= 0 && fabs(s[1]) <= mu * (s[0] + e)) {
    z[0] = s[0];
    z[1] = s[1];
    return true;
  }
  for (int k = 0; k < 2; k++) {
    const double a = k ? -mu : mu, D = W[0] + a * W[1];
    const double zn = -(q[0] + a * e * W[1]) / D, zt = a * (zn + e);
    if (!(D > 0) || !(zn >= 0) || (W[2] * zn + W[3] * zt + q[1]) * a > 0) continue;
    z[0] = zn;
    z[1] = zt;
    return true;
  }
  const double t = W[3] > 0 ? -q[1] / W[3] : 0, r = mu * e, zt = t > r ? r : t < -r ? -r : t;
  if (!(W[1] * zt + q[0] >= 0)) return false;
  z[0] = 0;
  z[1] = zt;
  return true;
}

typedef struct circle {
  const double *W, *q;
  double mu, e;
  bool open; /* z_n = 0: N and D are 0 and 1 */
} circle;

/* N and D at direction d. */
static void normal_part(const circle *c, const double *d, double *N, double *D) {
  const double across = c->mu * (c->W[1] * d[0] + c->W[2] * d[1]);
  *N = c->open ? 0 : -(c->q[0] + c->e * across);
  *D = c->open ? 1 : c->W[0] + across;
}

/* f and its derivative by the angle of d; also w_t D . d, which must not be positive. */
static double parallel(const circle *c, const double *d, double *derivative, double *along) {
  const double *W = c->W, t[2] = {-d[1], d[0]};
  double N, D;
  normal_part(c, d, &N, &D);
  const double load = c->mu * (N + c->e * D);
  const double v[2] = {W[3] * N + load * (W[4] * d[0] + W[5] * d[1]) + c->q[1] * D,
                       W[6] * N + load * (W[7] * d[0] + W[8] * d[1]) + c->q[2] * D};
  const double turn = c->open ? 0 : c->mu * (W[1] * t[0] + W[2] * t[1]), dN = -c->e * turn;
  const double dv[2] = {W[3] * dN + load * (W[4] * t[0] + W[5] * t[1]) + c->q[1] * turn,
                        W[6] * dN + load * (W[7] * t[0] + W[8] * t[1]) + c->q[2] * turn};
  *along = d[0] * v[0] + d[1] * v[1];
  *derivative = t[0] * dv[0] + t[1] * dv[1] - *along;
  return t[0] * v[0] + t[1] * v[1];
}

static void turn_to(double *d, double x, double y) {
  const double norm = sqrt(x * x + y * y);
  d[0] = x / norm;
  d[1] = y / norm;
}

static void turn_by(double *d, double angle) { turn_to(d, d[0] - angle * d[1], d[1] + angle * d[0]); }

/* Whether w_t is against d, or as good as nothing (on the edge between sticking and sliding), with z_n >= 0. */
static bool brakes(const circle *c, const double *d) {
  static const double parallel_enough = 1e-10, nothing = 1e-14;
  double N, D, derivative, along;
  normal_part(c, d, &N, &D);
  const double f = parallel(c, d, &derivative, &along), load = c->mu * (N + c->e * D);
  const double noise = nothing * (load * (c->W[4] + c->W[8]) + D * (fabs(c->q[1]) + fabs(c->q[2])));
  return along <= noise && fabs(f) <= fmax(parallel_enough * fabs(along), noise) && D > 0 && N >= 0;
}

/* Newton's method on the circle; true where it ends in a direction that brakes with z_n >= 0. A direction that accelerates is
 * near the wrong root, most likely: at first it is replaced by that against the velocity it makes (`guess`). */
static bool newton_direction(const circle *c, double *d, bool guess) {
  static const double nearly = 1e-8, superlinear = 1e-3;
  double derivative, along, previous = HUGE_VAL;
  for (int i = 0; i < 30; i++) {
    const double f = parallel(c, d, &derivative, &along);
    if (guess && along > 0 && i < 4) {
      turn_to(d, -along * d[0] + f * d[1], -along * d[1] - f * d[0]);
      continue;
    }
    double step = derivative != 0 ? -f / derivative : 0;
    if (!(fabs(step) < 0.5)) step = step > 0 ? 0.5 : -0.5;
    turn_by(d, step);
    const double size = fabs(step); /* the error that is left is of the size of its square */
    if (size < 1e-15 || (size < 1e-9 && size >= previous) || (size < nearly && size <= superlinear * previous)) break;
    previous = size;
  }
  return brakes(c, d);
}

/* Starts from every sign change of f on a fine circle. */
static bool search_direction(const circle *c, double *d) {
  enum { STEPS = 48 };
  static const double turn[2] = {0.9914448613738104, 0.1305261922200516}; /* cos and sin of 2 pi / STEPS */
  double derivative, along, x[2] = {1, 0};
  double last = parallel(c, x, &derivative, &along);
  for (int k = 1; k <= STEPS; k++) {
    const double y[2] = {turn[0] * x[0] - turn[1] * x[1], turn[1] * x[0] + turn[0] * x[1]};
    const double f = parallel(c, y, &derivative, &along);
    if ((f > 0) != (last > 0)) {
      turn_to(d, x[0] + y[0], x[1] + y[1]);
      if (newton_direction(c, d, false)) return true;
    }
    last = f;
    x[0] = y[0];
    x[1] = y[1];
  }
  return false;
}

/* Whether w_t is so small beside what it is made of that its direction means nothing. */
static bool on_the_edge(const circle *c, const double *d) {
  double derivative, along;
  const double f = parallel(c, d, &derivative, &along);
  return !(along <= 0 && fabs(f) <= 1e-10 * fabs(along));
}

static bool same(const double *a, const double *b) {
  static const double rounding = 1e-12;
  double change = 0, size = 0;
  for (int i = 0; i < 3; i++) {
    change = fmax(change, fabs(a[i] - b[i]));
    size = fmax(size, fabs(a[i]));
  }
  return change <= rounding * size;
}

static bool disc_slides(const circle *c, double *z) {
  const double *W = c->W;
  double d[2] = {z[1], z[2]};
  if (z[1] == 0 && z[2] == 0) { /* no last direction: against the velocity without friction */
    const double zn = c->open ? 0 : fmax(-c->q[0] / W[0], 0);
    d[0] = -(c->q[1] + W[3] * zn);
    d[1] = -(c->q[2] + W[6] * zn);
  }
  if (d[0] == 0 && d[1] == 0) d[0] = 1;
  turn_to(d, d[0], d[1]);
  if (!newton_direction(c, d, true) && !search_direction(c, d)) return false;
  double N, D;
  normal_part(c, d, &N, &D);
  const double zn = N / D, load = c->mu * (zn + c->e);
  if (c->open && W[1] * load * d[0] + W[2] * load * d[1] + c->q[0] < 0) return false;
  const double x[3] = {zn, load * d[0], load * d[1]};
  if (on_the_edge(c, d) && same(x, z)) return true; /* its rounding errors would add up from sweep to sweep */
  for (int i = 0; i < 3; i++) z[i] = x[i];
  return true;
}

static bool disc(const ss_block *block, const double *W, const double *q, double *z) {
  double s[3];
  const double mu = block->mu;
  if (solve_small(W, q, 3, s) && s[0] >= 0) {
    const double r = mu * (s[0] + block->extra);
    if (s[1] * s[1] + s[2] * s[2] <= r * r) {
      for (int i = 0; i < 3; i++) z[i] = s[i];
      return true;
    }
  }
  circle c = {W, q, mu, block->extra, false};
  if (disc_slides(&c, z)) return true;
  if (!(block->extra > 0)) return false;
  const double T[4] = {W[4], W[5], W[7], W[8]}; /* open, with friction from `extra` */
  const double r = mu * block->extra;
  if (solve_small(T, q + 1, 2, s) && s[0] * s[0] + s[1] * s[1] <= r * r && W[1] * s[0] + W[2] * s[1] + q[0] >= 0) {
    z[0] = 0;
    z[1] = s[0];
    z[2] = s[1];
    return true;
  }
  c.open = true;
  return disc_slides(&c, z);
}

/* One block as a problem of its own, for the active-set method. */
typedef struct single {
  ss_block block;
  ss_cp cp;
  site where;
  active_set set;
  double rho[SS_FRICTION_ROWS], w[SS_FRICTION_ROWS], numbers[SS_FRICTION_ROWS * (SS_FRICTION_ROWS + 3)];
  unknown unknowns[SS_FRICTION_ROWS];
  system_column columns[SS_FRICTION_ROWS];
  int places[2 * SS_FRICTION_ROWS];
  double best, chosen[SS_FRICTION_ROWS]; /* lowest residual so far, and where */
} single;

static void single_create(single *one, const site *s, const double *W, const double *q) {
  enum { MOST = SS_FRICTION_ROWS };
  one->block = *s->block;
  one->block.first = 0;
  one->cp = (ss_cp){.n = one->block.size, .n_blocks = 1, .G = W, .g = q, .blocks = &one->block};
  one->where = *s;
  one->where.block = &one->block;
  one->where.row = 0;
  one->set = (active_set){.problem = &one->cp,
                          .n_sites = 1,
                          .sites = &one->where,
                          .rho = one->rho,
                          .u = one->unknowns,
                          .columns = one->columns,
                          .A = one->numbers,
                          .y = one->numbers + (ptrdiff_t)MOST * (MOST + 1),
                          .w = one->numbers + (ptrdiff_t)MOST * (MOST + 2),
                          .row = one->places,
                          .col = one->places + MOST};
  one->best = HUGE_VAL;
  for (int i = 0; i < one->block.size; i++) {
    const double d = W[i * (one->block.size + 1)];
    one->rho[i] = d > 0 ? 1 / d : 1;
  }
  equal_tangents(&one->block, one->rho);
}

static void single_keep(single *one, const double *x) {
  const double residual = ss_cp_judge(&one->cp, x, NULL);
  if (!(residual < one->best)) return;
  one->best = residual;
  for (int i = 0; i < one->block.size; i++) one->chosen[i] = x[i];
}

/* Steps of the active-set method from x, until the residual is `enough`. */
static void single_newton(single *one, double *x, int steps, double enough) {
  for (int k = 0; k < steps && one->best > enough; k++) {
    active_apply(&one->cp, x, one->w);
    (void)active_set_guess(&one->set, x, one->w);
    if (!active_set_solve(&one->set, x, one->w)) return;
    single_keep(one, x);
  }
}

/* Every state in turn: polygons and pyramids. */
static void single_enumerate(single *one, double *x, double enough) {
  for (int state = site_first_state(&one->where); state < site_end_state(&one->where) && one->best > enough; state++) {
    one->where.state = state;
    for (int i = 0; i < one->block.size; i++) x[i] = 0;
    active_apply(&one->cp, x, one->w);
    if (active_set_solve(&one->set, x, one->w)) single_keep(one, x);
  }
}

/* A ball has no states to try: friction grows from nothing, and the solution is followed. */
static void single_grow(single *one, double *x, double enough) {
  enum { STAGES = 32 };
  const double mu = one->block.mu;
  for (int i = 0; i < one->block.size; i++) x[i] = 0;
  for (int k = 1; k <= STAGES; k++) {
    one->block.mu = mu * k / STAGES;
    one->best = HUGE_VAL;
    single_newton(one, x, 12, enough);
    for (int i = 0; i < one->block.size && one->best < HUGE_VAL; i++) x[i] = one->chosen[i];
  }
}

/* ---- polygons ---- */

/* The block's solution with z_t = mu (z_n + e) m + s t for given m and t, w_n = 0 and, where t is not NULL, t . w_t = 0. Also w_t.
 * Returns false where z_n is negative or the equations are singular. */
static bool slide_along(const ss_block *block, const double *W, const double *q, const double *m, const double *t,
                        double *z, double *s, double *wt) {
  const double mu = block->mu, e = block->extra;
  const double across = mu * (W[1] * m[0] + W[2] * m[1]), a = W[0] + across, f = -(q[0] + e * across);
  const double Wm[2] = {mu * (W[4] * m[0] + W[5] * m[1]), mu * (W[7] * m[0] + W[8] * m[1])};
  *s = 0;
  if (t) {
    const double b = W[1] * t[0] + W[2] * t[1], tm = t[0] * Wm[0] + t[1] * Wm[1];
    const double c = W[3] * t[0] + W[6] * t[1] + tm, h = -(q[1] * t[0] + q[2] * t[1] + e * tm);
    const double d = t[0] * (W[4] * t[0] + W[5] * t[1]) + t[1] * (W[7] * t[0] + W[8] * t[1]);
    const double det = a * d - b * c;
    if (!(det > 0)) return false;
    z[0] = (f * d - b * h) / det;
    *s = (a * h - c * f) / det;
  } else {
    if (!(a > 0)) return false;
    z[0] = f / a;
  }
  if (!(z[0] >= 0)) return false;
  const double load = z[0] + e;
  for (int i = 0; i < 2; i++) {
    z[1 + i] = mu * load * m[i] + (t ? *s * t[i] : 0);
    wt[i] = W[3 * i + 3] * z[0] + load * Wm[i] + q[1 + i];
    if (t) wt[i] += *s * (W[3 * i + 4] * t[0] + W[3 * i + 5] * t[1]);
  }
  return true;
}

/* Whether the contact slides at corner i, where no direction of the polygon brakes better, or on the edge that follows it. */
static bool slides_at(const site *s, const double *W, const double *q, int i, double noise, double *z) {
  const int k = s->block->directions;
  const double *p = s->corners + (size_t)2 * (size_t)i, *next = p + 2, *last = i > 0 ? p - 2 : p + (size_t)2 * (k - 1);
  const double t[2] = {next[0] - p[0], next[1] - p[1]}, u[2] = {last[0] - p[0], last[1] - p[1]};
  double wt[2], x;
  if (slide_along(s->block, W, q, p, NULL, z, &x, wt) && wt[0] * t[0] + wt[1] * t[1] >= -noise &&
      wt[0] * u[0] + wt[1] * u[1] >= -noise)
    return true;
  const double m[2] = {(p[0] + next[0]) / 2, (p[1] + next[1]) / 2};
  return slide_along(s->block, W, q, m, t, z, &x, wt) && 2 * fabs(x) <= s->block->mu * (z[0] + s->block->extra) &&
         wt[0] * m[0] + wt[1] * m[1] <= noise;
}

/* All corners and edges, from the one next to the last impulse on. */
static bool slides_on_polygon(const site *s, const double *W, const double *q, double *z) {
  const int k = s->block->directions;
  const double noise = 1e-14 * (fabs(q[1]) + fabs(q[2])), d[2] = {z[1], z[2]}; /* of w_t; z is as large as q / W */
  double x[3];
  int first = 0;
  for (int i = 1; i < k; i++)
    if (s->corners[2 * i] * d[0] + s->corners[2 * i + 1] * d[1] >
        s->corners[2 * first] * d[0] + s->corners[2 * first + 1] * d[1])
      first = i;
  for (int n = 0; n < k; n++) {
    const int i = (first + (n % 2 ? k - (n + 1) / 2 : n / 2)) % k;
    if (!slides_at(s, W, q, i, noise, x)) continue;
    for (int j = 0; j < 3; j++) z[j] = x[j];
    return true;
  }
  return false;
}

/* Whether a contact with a polygon sticks: the most frequent state, and easily checked. */
static bool sticks_on_polygon(const site *s, const double *W, const double *q, double *z) {
  const ss_block *block = s->block;
  double x[3];
  if (!solve_small(W, q, 3, x) || !(x[0] > 0)) return false;
  const double r = block->mu * (x[0] + block->extra), *c = s->corners;
  for (int i = 0; i < block->directions;
       i++, c += 2) { /* beyond an edge? its outward normal is the sum of its corners */
    const double m[2] = {c[0] + c[2], c[1] + c[3]};
    if (m[0] * x[1] + m[1] * x[2] > r * (m[0] * c[0] + m[1] * c[1])) return false;
  }
  for (int i = 0; i < 3; i++) z[i] = x[i];
  return true;
}

/* Polygons, pyramids and balls: the state that the natural map suggests, else all of them. */
static bool by_states(const site *s, const double *W, const double *q, double *z) {
  if (s->block->size == 3 && s->block->cone == SS_CONE_POLYHEDRAL &&
      (sticks_on_polygon(s, W, q, z) || slides_on_polygon(s, W, q, z)))
    return true;
  single one;
  single_create(&one, s, W, q);
  double x[SS_FRICTION_ROWS], scale = 0;
  for (int i = 0; i < one.block.size; i++) {
    x[i] = z[i];
    scale = fmax(scale, fabs(q[i]));
  }
  const bool ball = one.block.cone == SS_CONE_QUADRATIC;
  const double enough = 1e-13 * scale / (1 + scale);
  single_newton(&one, x, ball ? 15 : 4, enough);
  if (!ball)
    single_enumerate(&one, x, enough);
  else if (!(one.best < 1e-6))
    single_grow(&one, x, enough);
  if (!(one.best < 1e-6)) return false;
  for (int i = 0; i < one.block.size; i++) z[i] = one.chosen[i];
  return true;
}

bool local_friction(const site *s, const double *W, const double *q, double *z) {
  const ss_block *block = s->block;
  if (q[0] >= 0 && block->extra == 0) {
    for (int i = 0; i < block->size; i++) z[i] = 0;
    return true;
  }
  if (!(W[0] > 0)) return false;
  if (block->mu == 0) {
    for (int i = 1; i < block->size; i++) z[i] = 0;
    z[0] = q[0] < 0 ? -q[0] / W[0] : 0;
    return true;
  }
  if (block->size == 2) return interval(block, W, q, z);
  return block->cone == SS_CONE_QUADRATIC && block->size == 3 ? disc(block, W, q, z) : by_states(s, W, q, z);
}
