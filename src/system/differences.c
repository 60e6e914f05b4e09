/* Derivatives of a system's functions by differences.
 *
 *     rows of gaps and joints   [8 (f(+d) - f(-d)) - (f(+2d) - f(-2d))] / 12 d, error d^4: with d = 2^-10 of the
 *                               coordinate's scale truncation and rounding are both about 1e-12 of the function
 *     Jacobians of forces       [f(+d) - f(-d)] / 2 d with d = 2^-17: they need not be that good (LIT Theorem 3.4)
 *
 * Four and two calls per coordinate. Moves are such that q + d - q is exactly d. */
#include "system/system.h"

#include <string.h>

/* d near `size` such that x + d - x is d. */
static double exact_move(double x, double size) {
  const volatile double moved = x + size;
  return moved - x;
}

/* A coordinate far from zero is not a large one (an angle after many turns), but must be moved beyond its rounding. */
static double step_of(const ss_system_work *w, int i, double fraction, double x) {
  return exact_move(x, fraction * fmax(w->system->def.scale[i], fraction * fabs(x)));
}

static bool sample(ss_system_work *w, const char *name, ss_system_function function, int n_out, double t,
                   const double *q, double *out) {
  memset(out, 0, sizeof(double) * (size_t)n_out);
  return ss_system_accept(w, name, function(w->system->def.user, t, q, out), t, out, (size_t)n_out);
}

static double five_points(double *const c[4], int row, double d) {
  return (8 * (c[1][row] - c[0][row]) - (c[3][row] - c[2][row])) / (12 * d);
}

void ss_differentiate(ss_system_work *w, const char *name, ss_system_function function, int n_out, double t,
                      const double *q, double *rows, double *rate) {
  static const double factor[4] = {-1, 1, -2, 2};
  const int n = w->system->def.n;
  memset(rows, 0, sizeof(double) * (size_t)n_out * (size_t)n);
  memset(rate, 0, sizeof(double) * (size_t)n_out);
  memcpy(w->moved, q, sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++) {
    const double d = step_of(w, i, 0x1p-10, q[i]);
    for (int k = 0; k < 4; k++) {
      w->moved[i] = q[i] + factor[k] * d;
      if (!sample(w, name, function, n_out, t, w->moved, w->column[k])) return;
    }
    w->moved[i] = q[i];
    for (int row = 0; row < n_out; row++) rows[row * n + i] = five_points(w->column, row, d);
  }
  const double d = exact_move(t, w->time_step / 2);
  for (int k = 0; k < 4; k++)
    if (!sample(w, name, function, n_out, t + factor[k] * d, q, w->column[k])) return;
  for (int row = 0; row < n_out; row++) rate[row] = five_points(w->column, row, d);
}

/* One column of the Jacobian: x is the moved one of q and v. */
static bool force_column(ss_system_work *w, double t, const double *q, const double *v, double *x, double d,
                         double *jacobian, int column) {
  const ss_system *def = &w->system->def;
  const double kept = *x;
  bool good = true;
  for (int k = 0; k < 2 && good; k++) {
    *x = kept + (k ? d : -d);
    memset(w->column[k], 0, sizeof(double) * (size_t)def->n);
    good = ss_system_accept(w, "force", def->force(def->user, t, q, v, w->column[k]), t, w->column[k], (size_t)def->n);
  }
  *x = kept;
  for (int row = 0; row < def->n && good; row++)
    jacobian[row * def->n + column] = (w->column[1][row] - w->column[0][row]) / (2 * d);
  return good;
}

void ss_differentiate_force(ss_system_work *w, double t, const double *q, const double *v, double *kq, double *kv) {
  const int n = w->system->def.n;
  const double *scale = w->system->def.scale;
  memcpy(w->moved, q, sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++)
    if (!force_column(w, t, w->moved, v, &w->moved[i], step_of(w, i, 0x1p-17, q[i]), kq, i)) return;
  memcpy(w->moved, v, sizeof(double) * (size_t)n);
  for (int i = 0; i < n; i++)
    if (!force_column(w, t, q, w->moved, &w->moved[i], exact_move(v[i], 0x1p-17 * fmax(scale[i], fabs(v[i]))), kv, i))
      return;
}
