/* The fixed point of BVP (27), u = u - B^-1 F(u), with Anderson acceleration.
 *
 * With the residuals r_k = -B^-1 F(u_k) of the last few iterates, the next one is u + r - (dU + dR) c, where c minimises
 * |r - dR c| over the differences dU, dR of neighbours (normal equations with a little regularisation; the window is
 * short). The plain step is contracting under (28); the acceleration makes it a quasi-Newton method and converges in
 * many cases in which the plain one would not. It fails by wandering off: then it stops, and Powell's method follows. */
#include "bvp/bvp.h"

#include "la/dense.h"
#include "la/rows.h"

#include <math.h>
#include <string.h>

enum { WINDOW = 5 };

size_t ss_fixed_point_scratch(int n) {
  return (size_t)n * (2 * WINDOW + 6) + 3 * (size_t)WINDOW * WINDOW + 2 * (size_t)WINDOW;
}

typedef struct history {
  int n, count;                    /* count: differences kept, at most WINDOW */
  double *du, *dr;                 /* [WINDOW][n] */
  double *normal, *inverse, *copy; /* [WINDOW][WINDOW] */
  double *right, *factor;          /* [WINDOW] */
} history;

static void remember(history *h, const double *u, const double *r, const double *u_old, const double *r_old) {
  if (h->count == WINDOW) {
    memmove(h->du, h->du + h->n, sizeof(double) * (size_t)(h->n * (WINDOW - 1)));
    memmove(h->dr, h->dr + h->n, sizeof(double) * (size_t)(h->n * (WINDOW - 1)));
    h->count--;
  }
  double *du = h->du + (ptrdiff_t)h->count * h->n, *dr = h->dr + (ptrdiff_t)h->count * h->n;
  for (int i = 0; i < h->n; i++) {
    du[i] = u[i] - u_old[i];
    dr[i] = r[i] - r_old[i];
  }
  h->count++;
}

/* next = u + r - (dU + dR) c */
static void accelerate(history *h, const double *u, const double *r, double *next) {
  const int n = h->n, k = h->count;
  for (int i = 0; i < n; i++) next[i] = u[i] + r[i];
  if (k == 0) return;
  double largest = 0;
  for (int a = 0; a < k; a++) {
    for (int b = 0; b < k; b++) h->normal[a * k + b] = dot(h->dr + (ptrdiff_t)a * n, h->dr + (ptrdiff_t)b * n, n);
    h->right[a] = dot(h->dr + (ptrdiff_t)a * n, r, n);
    largest = fmax(largest, h->normal[a * k + a]);
  }
  for (int a = 0; a < k; a++) h->normal[a * k + a] += 1e-14 * largest;
  memcpy(h->copy, h->normal, sizeof(double) * (size_t)(k * k));
  if (!(largest > 0) || !ss_dense_inverse(h->copy, k, h->inverse)) return;
  for (int a = 0; a < k; a++) h->factor[a] = dot(h->inverse + (ptrdiff_t)a * k, h->right, k);
  for (int a = 0; a < k; a++)
    for (int i = 0; i < n; i++) next[i] -= h->factor[a] * (h->du[a * n + i] + h->dr[a * n + i]);
}

bool ss_fixed_point(ss_shooting *s, const double *binverse, double tolerance, int limit, double *u, double *scratch) {
  const int n = s->n;
  double *f = scratch, *r = f + n, *u_old = r + n, *r_old = u_old + n, *next = r_old + n;
  history h = {.n = n, .du = next + n};
  h.dr = h.du + (ptrdiff_t)WINDOW * n;
  h.normal = h.dr + (ptrdiff_t)WINDOW * n;
  h.inverse = h.normal + WINDOW * WINDOW;
  h.copy = h.inverse + WINDOW * WINDOW;
  h.right = h.copy + WINDOW * WINDOW;
  h.factor = h.right + WINDOW;
  double first = 0, last = INFINITY;
  s->method = "fixed-point";
  for (int k = 0; k < limit; k++) {
    if (!ss_shoot(s, u, f)) return false;
    const double residual = ss_largest(f, n);
    if (residual <= tolerance) return true;
    if (k == 0) first = residual;
    if (residual > 1e3 * first) return false;
    for (int i = 0; i < n; i++) r[i] = -dot(binverse + (ptrdiff_t)i * n, f, n);
    if (k > 0) remember(&h, u, r, u_old, r_old);
    if (residual > 10 * last) h.count = 0; /* a jump: what was learnt belongs to another piece of the map */
    last = residual;
    memcpy(u_old, u, sizeof(double) * (size_t)n);
    memcpy(r_old, r, sizeof(double) * (size_t)n);
    accelerate(&h, u, r, next);
    memcpy(u, next, sizeof(double) * (size_t)n);
  }
  return false;
}
