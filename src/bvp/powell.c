/* Powell's hybrid method and Levenberg-Marquardt, from cminpack; the only file that knows it.
 *
 * Jacobians are forward differences of whole simulations, which are exact to rounding, about 1e-14, so that a relative
 * increment of 1e-7 is near the best; or, where asked for, they are carried along the run (jacobian.c). The map is piecewise smooth only (a bounce more or less, stick or slip): both
 * methods stop at a jump, which is why several starts are tried. */
#include "bvp/bvp.h"

#include <cminpack.h>

#include <math.h>
#include <string.h>

static const double increment = 1e-14, step_bound = 1;
enum { RUNS_PER_UNKNOWN = 60 };

static int square(void *user, int n, const double *u, double *f, int flag) {
  (void)n;
  (void)flag;
  ss_shooting *s = user;
  (void)ss_shoot(s, u, f);
  return s->status == SS_OK && !s->out_of_time ? 0 : -1;
}

static int rectangular(void *user, int m, int n, const double *u, double *f, int flag) {
  (void)m;
  return square(user, n, u, f, flag);
}

/* Row-major to cminpack's columns. */
static int derivatives(ss_shooting *s, const double *u, double *columns, int stride) {
  const int m = s->m, n = s->n;
  double *rows = ss_alloc(sizeof(double) * ((size_t)m * (size_t)n + (size_t)m));
  if (!rows) {
    s->status = ss_fail(&s->error, SS_ERROR_MEMORY, "out of memory");
    return -1;
  }
  double *f = rows + (ptrdiff_t)m * n;
  if (!ss_shoot_jacobian(s, u, rows) && s->status == SS_OK && ss_shoot(s, u, f))
    (void)ss_shoot_differences(s, u, f, rows);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) columns[i + (ptrdiff_t)j * stride] = rows[(ptrdiff_t)i * n + j];
  ss_free(rows);
  return s->status == SS_OK && !s->out_of_time ? 0 : -1;
}

static int square_exact(void *user, int n, const double *u, double *f, double *jacobian, int stride, int flag) {
  return flag == 2 ? derivatives(user, u, jacobian, stride) : square(user, n, u, f, flag);
}

static int rectangular_exact(void *user, int m, int n, const double *u, double *f, double *jacobian, int stride,
                             int flag) {
  return flag == 2 ? derivatives(user, u, jacobian, stride) : rectangular(user, m, n, u, f, flag);
}

size_t ss_powell_scratch(int n, int m) {
  const size_t un = (size_t)n, um = (size_t)m;
  return um + um * un + un * (un + 1) / 2 + 8 * un + 2 * um;
}

bool ss_powell(ss_shooting *s, double tolerance, double *u, double *scratch) {
  const int n = s->n, m = s->m, limit = RUNS_PER_UNKNOWN * (n + 1);
  double *f = scratch, *jacobian = f + m, *r = jacobian + (ptrdiff_t)m * n, *qtf = r + (ptrdiff_t)n * (n + 1) / 2;
  double *diag = qtf + n, *wa1 = diag + n, *wa2 = wa1 + n, *wa3 = wa2 + n, *wa4 = wa3 + n;
  int calls = 0, jacobians = 0, pivots[256];
  const bool exact = s->boundary->exact_sensitivities;
  s->method = m == n ? "powell" : "levenberg-marquardt";
  if (m == n && exact) {
    (void)hybrj(square_exact, s, n, u, f, jacobian, n, 1e-15, limit, diag, 1, step_bound, 0, &calls, &jacobians, r,
                n * (n + 1) / 2, qtf, wa1, wa2, wa3, wa4);
  } else if (m == n) {
    (void)hybrd(square, s, n, u, f, 1e-15, limit, n - 1, n - 1, increment, diag, 1, step_bound, 0, &calls, jacobian, n,
                r, n * (n + 1) / 2, qtf, wa1, wa2, wa3, wa4);
  } else if (n > (int)(sizeof pivots / sizeof *pivots)) {
    return false;
  } else if (exact) {
    (void)lmder(rectangular_exact, s, m, n, u, f, jacobian, m, 1e-15, 1e-15, 0, limit, diag, 1, step_bound, 0, &calls,
                &jacobians, pivots, qtf, wa1, wa2, wa3, wa4);
  } else {
    (void)lmdif(rectangular, s, m, n, u, f, 1e-15, 1e-15, 0, limit, increment, diag, 1, step_bound, 0, &calls, jacobian,
                m, pivots, qtf, wa1, wa2, wa3, wa4);
  }
  return s->status == SS_OK && ss_largest(f, m) <= tolerance;
}
