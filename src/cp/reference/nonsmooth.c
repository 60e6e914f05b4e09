/* Globalised nonsmooth Newton method (De Luca, Facchinei & Kanzow 1996).
 *
 *     F(z, G z + g) = 0,  V = A + B G an element of the generalised Jacobian,  theta = |F|^2 / 2
 *
 * In turn the directions  -V^-1 F  (Newton),  -(V^T V + m 1)^-1 V^T F  (Levenberg-Marquardt, m = |F|: short and safe where
 * V is nearly singular) and  -V^T F  (steepest descent)  are tried with a line search on theta; the first that lowers it
 * far enough is taken. A Newton step may rise above the last theta, not above the largest of the last few.
 *
 * Where theta is continuously differentiable (Fischer-Burmeister) V^T F is its gradient and every limit point is
 * stationary; for positive semi-definite problems a stationary point is a solution. Otherwise the method may stop at a
 * point where theta has a kink or a minimum above zero: it says so (stalled). */
#include "cp/reference/nonsmooth.h"

#include "la/dense.h"

#include <math.h>

enum { MEMORY = 5 };
static const double rank_tolerance = 1e-13, armijo = 1e-4, rounding_level = 1e-15;

typedef struct search {
  const ss_cp *cp;
  nonsmooth_map *map;
  void *user;
  int n;
  double *V, *system;                    /* n x n; n x (n + 1) */
  double *z, *w, *d, *trial, *gradient;  /* [n] */
  nonsmooth_row *rows;                   /* [n] at z, or at the last point tried */
  int *row, *col;                        /* [n] */
  double theta, reference, last[MEMORY]; /* merit at z; what a Newton step may not exceed; its history */
} search;

static ss_status search_create(search *s, ss_cp_workspace *w, ss_error *error) {
  const size_t n = (size_t)s->cp->n;
  s->n = s->cp->n;
  s->V = SCRATCH(w, double, n *(2 * n + 1));
  double *vectors = SCRATCH(w, double, 4 * n);
  s->rows = SCRATCH(w, nonsmooth_row, n);
  s->row = SCRATCH(w, int, 2 * n);
  if (!s->V || !vectors || !s->rows || !s->row) return out_of_memory(error);
  s->system = s->V + n * n;
  s->w = vectors;
  s->d = vectors + n;
  s->trial = vectors + 2 * n;
  s->gradient = vectors + 3 * n;
  s->col = s->row + n;
  return SS_OK;
}

static double evaluate(search *s, const double *z) {
  const int n = s->n;
  for (int i = 0; i < n; i++) {
    const double *row = s->cp->G + (size_t)i * (size_t)n;
    double sum = s->cp->g[i];
    for (int j = 0; j < n; j++) sum += row[j] * z[j];
    s->w[i] = sum;
  }
  s->map(s->user, s->cp, z, s->w, s->rows);
  double theta = 0;
  for (int i = 0; i < n; i++) theta += s->rows[i].F * s->rows[i].F / 2;
  return theta;
}

/* V and V^T F at the rows' point. */
static void linearise(search *s) {
  const int n = s->n;
  for (int j = 0; j < n; j++) s->gradient[j] = 0;
  for (int i = 0; i < n; i++) {
    const nonsmooth_row *r = &s->rows[i];
    double *v = s->V + (size_t)i * (size_t)n;
    for (int j = 0; j < n; j++) v[j] = 0;
    for (int k = 0; k < r->size; k++) {
      const double *G = s->cp->G + (size_t)(r->first + k) * (size_t)n;
      for (int j = 0; j < n && r->b[k] != 0; j++) v[j] += r->b[k] * G[j];
      v[r->first + k] += r->a[k];
    }
    for (int j = 0; j < n; j++) s->gradient[j] += v[j] * r->F;
  }
}

/* Solves s->system, n x (n + 1) with the right side last; false where it is singular. */
static bool solve_system(search *s) {
  const int n = s->n, stride = n + 1;
  if (dense_eliminate(s->system, n, stride, stride, n, rank_tolerance, s->row, s->col) < n) return false;
  for (int i = 0; i < n; i++) s->trial[i] = s->system[(size_t)i * (size_t)stride + (size_t)n];
  dense_back(s->system, stride, n, s->trial);
  for (int i = 0; i < n; i++) s->d[s->col[i]] = s->trial[i];
  return true;
}

static bool newton_direction(search *s) {
  const size_t n = (size_t)s->n;
  for (size_t i = 0; i < n; i++) {
    double *line = s->system + i * (n + 1);
    for (size_t j = 0; j < n; j++) line[j] = s->V[i * n + j];
    line[n] = -s->rows[i].F;
  }
  return solve_system(s);
}

static bool damped_direction(search *s) {
  const size_t n = (size_t)s->n;
  for (size_t i = 0; i < n * (n + 1); i++) s->system[i] = 0;
  for (size_t k = 0; k < n; k++) {
    const double *v = s->V + k * n;
    for (size_t i = 0; i < n; i++) {
      double *line = s->system + i * (n + 1);
      for (size_t j = 0; j < n && v[i] != 0; j++) line[j] += v[i] * v[j];
    }
  }
  const double damping = fmin(sqrt(2 * s->theta), 1) + 1e-14;
  for (size_t i = 0; i < n; i++) {
    s->system[i * (n + 2)] += damping;
    s->system[i * (n + 1) + n] = -s->gradient[i];
  }
  return solve_system(s);
}

static bool descent_direction(search *s) {
  for (int i = 0; i < s->n; i++) s->d[i] = -s->gradient[i];
  return true;
}

/* Goes along s->d until theta is below `bound` by a part of what the slope promises. Moves z there and returns true. */
static bool search_line(search *s, double bound, int halvings) {
  double slope = 0;
  for (int i = 0; i < s->n; i++) slope += s->gradient[i] * s->d[i];
  if (!(slope < 0)) return false;
  double length = 1;
  for (int k = 0; k < halvings; k++, length /= 2) {
    for (int i = 0; i < s->n; i++) s->trial[i] = s->z[i] + length * s->d[i];
    const double theta = evaluate(s, s->trial);
    if (!(theta <= bound + armijo * length * slope) || theta == s->theta) continue;
    for (int i = 0; i < s->n; i++) s->z[i] = s->trial[i];
    s->theta = theta;
    return true;
  }
  (void)evaluate(s, s->z); /* the rows are those of z again */
  return false;
}

static bool step(search *s) {
  linearise(s);
  if (newton_direction(s) && search_line(s, s->reference, 10)) return true;
  if (damped_direction(s) && search_line(s, s->theta, 20)) return true;
  return descent_direction(s) && search_line(s, s->theta, 40);
}

ss_status nonsmooth_newton(const ss_cp *cp, nonsmooth_map *map, void *user, int limit, double *z, ss_cp_workspace *w,
                           ss_outcome *outcome, int *iterations, ss_error *error) {
  search s = {.cp = cp, .map = map, .user = user, .z = z};
  const scratch_mark mark = scratch_now(w);
  const ss_status status = search_create(&s, w, error);
  if (status) return status;
  s.theta = evaluate(&s, z);
  for (int k = 0; k < MEMORY; k++) s.last[k] = s.theta;
  const double enough = s.n * rounding_level * rounding_level;
  *outcome = s.theta <= enough ? SS_SOLVED : SS_LIMIT;
  for (*iterations = 0; *iterations < limit && *outcome == SS_LIMIT; ++*iterations) {
    s.reference = s.theta;
    for (int k = 0; k < MEMORY; k++) s.reference = fmax(s.reference, s.last[k]);
    if (!step(&s)) *outcome = SS_STALLED;
    s.last[*iterations % MEMORY] = s.theta;
    if (s.theta <= enough) *outcome = SS_SOLVED;
  }
  scratch_release(w, mark);
  return SS_OK;
}
