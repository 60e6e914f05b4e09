/* Minimisation over a box by the simplex method of Nelder and Mead (1965), with the coefficients of Gao and Han (2012) for
 * the dimension, in coordinates of [0, 1]^n; points beyond the box are moved to its face. Values need not be smooth or
 * finite; INFINITY stands for a run that failed. It ends where the simplex is smaller than the tolerance in every
 * coordinate, or after so many evaluations; once it has shrunk it starts again around the best point, until that no longer
 * helps. It finds a local minimum at best: several starts are the caller's affair. */
#include "study/study.h"

#include <math.h>
#include <string.h>

enum { MOST = SS_SOBOL_DIMENSIONS };

typedef struct vertex {
  double x[MOST], value;
} vertex;

typedef struct simplex {
  int n;
  const double *low, *high;
  bool (*f)(void *user, const double *x, double *value);
  void *user;
  long evaluations, most;
  vertex v[MOST + 1]; /* best first */
} simplex;

static bool measure(simplex *s, vertex *v) {
  double x[MOST];
  for (int i = 0; i < s->n; i++) {
    v->x[i] = fmin(fmax(v->x[i], 0), 1);
    x[i] = s->low[i] + v->x[i] * (s->high[i] - s->low[i]);
  }
  s->evaluations++;
  if (!s->f(s->user, x, &v->value)) return false;
  if (isnan(v->value)) v->value = (double)INFINITY;
  return true;
}

static void sort(simplex *s) {
  for (int i = 1; i <= s->n; i++)
    for (int k = i; k > 0 && s->v[k].value < s->v[k - 1].value; k--) {
      const vertex swap = s->v[k];
      s->v[k] = s->v[k - 1];
      s->v[k - 1] = swap;
    }
}

static double size_of(const simplex *s) {
  double size = 0;
  for (int k = 1; k <= s->n; k++)
    for (int i = 0; i < s->n; i++) size = fmax(size, fabs(s->v[k].x[i] - s->v[0].x[i]));
  return size;
}

/* centre + factor (centre - worst) */
static bool move(simplex *s, const double *centre, double factor, vertex *out) {
  for (int i = 0; i < s->n; i++) out->x[i] = centre[i] + factor * (centre[i] - s->v[s->n].x[i]);
  return measure(s, out);
}

static bool shrink(simplex *s, double by) {
  for (int k = 1; k <= s->n; k++) {
    for (int i = 0; i < s->n; i++) s->v[k].x[i] = s->v[0].x[i] + by * (s->v[k].x[i] - s->v[0].x[i]);
    if (!measure(s, &s->v[k])) return false;
  }
  return true;
}

static bool iterate(simplex *s) {
  const int n = s->n;
  const double wide = n > 1 ? 1 + 2. / n : 2, near = n > 1 ? 0.75 - 0.5 / n : 0.5, small = n > 1 ? 1 - 1. / n : 0.5;
  double centre[MOST] = {0};
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) centre[i] += s->v[k].x[i] / n;
  vertex *worst = &s->v[n], reflected, other;
  if (!move(s, centre, 1, &reflected)) return false;
  if (reflected.value < s->v[0].value) {
    if (!move(s, centre, wide, &other)) return false;
    *worst = other.value < reflected.value ? other : reflected;
  } else if (reflected.value < s->v[n - 1].value) {
    *worst = reflected;
  } else {
    const bool outside = reflected.value < worst->value;
    if (!move(s, centre, outside ? near : -near, &other)) return false;
    if (other.value < (outside ? reflected.value : worst->value))
      *worst = other;
    else if (!shrink(s, small))
      return false;
  }
  sort(s);
  return true;
}

/* A simplex around the best point, `size` of the box wide, towards the farther side. */
static bool restart(simplex *s, double size) {
  for (int k = 1; k <= s->n; k++) {
    s->v[k] = s->v[0];
    s->v[k].x[k - 1] += s->v[0].x[k - 1] > 0.5 ? -size : size;
    if (!measure(s, &s->v[k])) return false;
  }
  sort(s);
  return true;
}

bool ss_nelder_mead(int n, const double *low, const double *high, double tolerance, long most,
                    bool (*f)(void *user, const double *x, double *value), void *user, ss_minimum *out) {
  simplex s = {.n = n, .low = low, .high = high, .f = f, .user = user, .most = most};
  for (int i = 0; i < n; i++) s.v[0].x[i] = (out->x[i] - low[i]) / (high[i] - low[i]);
  bool goes_on = measure(&s, &s.v[0]);
  for (double size = 0.25; goes_on && s.evaluations < most; size /= 2) {
    const double before = s.v[0].value;
    goes_on = restart(&s, size);
    while (goes_on && s.evaluations < most && size_of(&s) > tolerance) goes_on = iterate(&s);
    if (size < 0.25 && !(s.v[0].value < before - fabs(before) * tolerance)) break;
  }
  for (int i = 0; i < n; i++) out->x[i] = low[i] + s.v[0].x[i] * (high[i] - low[i]);
  out->value = s.v[0].value;
  out->evaluations = s.evaluations;
  return goes_on;
}
