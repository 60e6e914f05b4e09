/* The equations of an active set, solved with the least change of z.
 *
 * Redundant contacts leave the impulses undetermined: the system A y = -r is singular, but consistent where the states are
 * right. Elimination with pivots picks one of its solutions, another one after the slightest change, and a resting pile
 * never comes to rest. Instead
 *
 *     y <- y - (A + eps 1)^-1 (A y + r),
 *
 * the proximal point method, whose limit is the solution nearest to the start (exactly for symmetric A, closely
 * otherwise); eigenvalues of size lambda converge by eps / (eps + lambda) per step. A + eps 1 needs no pivoting where
 * the symmetric part of A is not negative, and is factored in its envelope (pattern.c). r is taken from the problem's
 * data in every step, so that what has converged is exact up to rounding.
 *
 * Fails, and says so, where the equations are inconsistent or A is far from positive; then active.c eliminates. */
#include "cp/active.h"

#include <math.h>

static const double shift = 0x1p-27;
static const double epsilon = 0x1p-52;

/* Sorts the unknowns by the place of their group: order[k] stands at place k, those of a group from begin[group] on. */
static void sort_unknowns(const active_set *a, int m, int *order, int *begin) {
  const pattern *p = &a->pattern;
  for (int g = 0; g <= p->n; g++) begin[g] = 0;
  for (int k = 0; k < m; k++) begin[p->place[a->u[k].first]]++;
  for (int g = 0, sum = 0; g <= p->n; g++) {
    sum += begin[g];
    begin[g] = sum;
  }
  for (int k = m - 1; k >= 0; k--) order[--begin[p->place[a->u[k].first]]] = k;
}

static double coupling(const ss_cp *problem, const unknown *u, const unknown *v) {
  const size_t n = (size_t)problem->n;
  const double *G = problem->G + (size_t)u->first * n + (size_t)v->first;
  double total = 0;
  for (int i = 0; i < u->size; i++, G += n) {
    if (u->c[i] == 0) continue;
    double sum = G[0] * v->b[0];
    for (int l = 1; l < v->size; l++) sum += G[l] * v->b[l];
    total += u->c[i] * sum;
  }
  return u->scale * v->scale * total;
}

/* Where rows and columns of the envelope start and end. */
static void bound_rows(const active_set *a, int m, const int *begin, int *first, int *last) {
  const pattern *p = &a->pattern;
  for (int g = 0; g < p->n; g++)
    for (int i = begin[g]; i < begin[g + 1]; i++) first[i] = begin[p->least[g]];
  for (int i = 0; i < m; i++) last[i] = i;
  for (int i = 0; i < m; i++)
    if (last[first[i]] < i) last[first[i]] = i;
  for (int i = 1; i < m; i++)
    if (last[i] < last[i - 1]) last[i] = last[i - 1];
}

/* The scaled matrix with its shift. */
static void assemble(active_set *a, int m, const int *order, const int *begin, const int *first, const int *last) {
  const pattern *p = &a->pattern;
  for (int i = 0; i < m; i++) {
    const unknown *u = &a->u[order[i]];
    const int g = p->place[u->first];
    double *row = a->A + (size_t)i * (size_t)m;
    for (int j = first[i]; j <= last[i]; j++) row[j] = 0;
    for (int e = p->start[g]; e < p->start[g + 1]; e++)
      for (int j = begin[p->meets[e]]; j < begin[p->meets[e] + 1]; j++)
        row[j] = coupling(a->problem, u, &a->u[order[j]]);
    row[i] += u->scale * u->scale * u->diagonal + shift + a->damping;
  }
}

/* What the equations lack at z, in the order of elimination; returns the largest. */
static double defects(active_set *a, int m, const int *order, const double *total, const double *z, double *r) {
  pattern_apply(&a->pattern, a->problem, z, a->w);
  double largest = 0, finite = 0;
  for (int k = 0; k < m; k++) {
    const unknown *u = &a->u[order[k]];
    double sum = u->diagonal * total[k] - u->value;
    for (int i = 0; i < u->size; i++) sum += u->c[i] * a->w[u->first + i];
    r[k] = u->scale * sum;
    finite += 0 * r[k];
    largest = fmax(largest, fabs(r[k]));
  }
  return finite == 0 ? largest : HUGE_VAL;
}

static double magnitude(const double *x, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i]));
  return largest;
}

static void take_step(const active_set *a, int m, const int *order, const double *r, double *total, double *z) {
  for (int k = 0; k < m; k++) {
    const unknown *u = &a->u[order[k]];
    const double y = -u->scale * r[k];
    total[k] += y;
    for (int i = 0; i < u->size; i++) z[u->first + i] += u->b[i] * y;
  }
}

static void solve_filtered(active_set *a, int m, double *r) {
  double *t = a->filter;
  for (int k = 0; k < m; k++) t[k] = r[k];
  envelope_solve(a->A, m, a->col, a->last, t);
  if (a->damping > 0) {
    for (int k = 0; k < m; k++) r[k] = t[k];
    return;
  }
  for (int k = 0; k < m; k++) r[k] -= shift * t[k];
  envelope_solve(a->A, m, a->col, a->last, r);
}

bool active_set_approach(active_set *a, int m, double *z) {
  enum { STEPS = 6 };
  static const double enough = 1e-11, rough = 0.5, slow = 0.3;
  const int n = a->problem->n;
  int *order = a->row, *first = a->col, *last = a->last;
  double *total = a->y, *r = a->r;
  sort_unknowns(a, m, order, a->begin);
  bound_rows(a, m, a->begin, first, last);
  assemble(a, m, order, a->begin, first, last);
  if (!envelope_factor(a->A, m, first, last)) return false;
  for (int k = 0; k < m; k++) total[k] = 0;
  const double size = magnitude(a->problem->g, n);
  double start = 0, before = HUGE_VAL, now = 0;
  for (int step = 0; step <= STEPS; step++, before = now) {
    now = defects(a, m, order, total, z, r);
    if (step == 0) start = now;
    const double rounding = epsilon * (size + magnitude(z, n));
    if (now <= rounding) return true;
    if (step > 0 && a->damping > 0) return now < HUGE_VAL;
    if (step == STEPS || !(now < slow * before)) {
      a->loose = now > enough * start && now > 64 * rounding;
      return now <= rough * start;
    }
    solve_filtered(a, m, r);
    take_step(a, m, order, r, total, z);
  }
  return false;
}
