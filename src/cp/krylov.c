/* GMRES (Saad & Schultz 1986), preconditioned from the right, so that it sees the true residual. Fails by its limit: the x
 * that it has is the best one of its subspace all the same. */
#include "cp/bodies.h"

#include "la/rows.h"

#include <math.h>
#include <string.h>

bool krylov_create(krylov *k, int m, ss_cp_workspace *w) {
  *k =
      (krylov){.m = m, .basis = SCRATCH(w, double, (size_t)m *(KRYLOV + 1)), .work = SCRATCH(w, double, 2 * (size_t)m)};
  k->h = SCRATCH(w, double, KRYLOV *(KRYLOV + 1));
  return k->basis && k->work && k->h;
}

static void add(double *restrict a, double f, const double *restrict b, int n) {
  for (int i = 0; i < n; i++) a[i] += f * b[i];
}

/* Makes v orthogonal to the first `count` vectors of the basis, twice where much was taken away; h: the components. */
static double orthogonalise(const krylov *k, int count, double *v, double *h) {
  double before = sqrt(row_dot(v, v, k->m)), norm = before;
  memset(h, 0, sizeof(double) * (size_t)count);
  for (int pass = 0; pass < 2 && (pass == 0 || norm < 0.5 * before); pass++) {
    for (int j = 0; j < count; j++) {
      const double *q = k->basis + (size_t)j * (size_t)k->m, f = row_dot(q, v, k->m);
      h[j] += f;
      add(v, -f, q, k->m);
    }
    before = norm;
    norm = sqrt(row_dot(v, v, k->m));
  }
  return norm;
}

/* The rotations of the earlier columns on h, and the one that makes h[j + 1] zero. */
static void rotate(double *h, double *c, double *s, double *rest, int j, double below) {
  for (int i = 0; i < j; i++) {
    const double a = c[i] * h[i] + s[i] * h[i + 1];
    h[i + 1] = c[i] * h[i + 1] - s[i] * h[i];
    h[i] = a;
  }
  const double r = hypot(h[j], below);
  c[j] = r > 0 ? h[j] / r : 1;
  s[j] = r > 0 ? below / r : 0;
  h[j] = r;
  rest[j + 1] = -s[j] * rest[j];
  rest[j] *= c[j];
}

/* One cycle from the residual r; adds to x. Returns its steps. */
static int cycle(krylov *k, const body_matrix *H, const block_ilu *ilu, const double *r, double norm, double goal,
                 int limit, double *x) {
  double(*h)[KRYLOV + 1] = (double(*)[KRYLOV + 1]) k->h, c[KRYLOV], s[KRYLOV], rest[KRYLOV + 1] = {norm}, y[KRYLOV];
  const size_t m = (size_t)k->m;
  int steps = 0;
  for (int i = 0; i < k->m; i++) k->basis[i] = r[i] / norm;
  for (bool full = false; steps < limit && steps < KRYLOV && fabs(rest[steps]) > goal && !full; steps++) {
    double *v = k->basis + (size_t)(steps + 1) * m;
    block_ilu_solve(ilu, k->basis + (size_t)steps * m, k->work);
    body_matrix_apply(H, k->work, v);
    const double left = orthogonalise(k, steps + 1, v, h[steps]);
    full = !(left > 1e-14 * norm);
    for (int i = 0; i < k->m && !full; i++) v[i] /= left;
    rotate(h[steps], c, s, rest, steps, left);
  }
  for (int i = steps - 1; i >= 0; i--) {
    y[i] = rest[i];
    for (int j = i + 1; j < steps; j++) y[i] -= h[j][i] * y[j];
    y[i] = h[i][i] != 0 ? y[i] / h[i][i] : 0;
  }
  memset(k->work, 0, sizeof(double) * m);
  for (int j = 0; j < steps; j++) add(k->work, y[j], k->basis + (size_t)j * m, k->m);
  block_ilu_solve(ilu, k->work, k->work + m);
  add(x, 1, k->work + m, k->m);
  return steps;
}

int krylov_solve(krylov *k, const body_matrix *H, const block_ilu *ilu, const double *b, double tolerance, int limit,
                 double *x) {
  const int m = k->m;
  double *r = k->work + m;
  const double goal = tolerance * sqrt(row_dot(b, b, m));
  int steps = 0;
  memset(x, 0, sizeof(double) * (size_t)m);
  memcpy(r, b, sizeof(double) * (size_t)m);
  for (double norm = sqrt(row_dot(b, b, m)); norm > goal && steps < limit;) {
    const int taken = cycle(k, H, ilu, r, norm, goal, limit - steps, x);
    if (taken == 0) break;
    steps += taken;
    body_matrix_apply(H, x, r);
    for (int i = 0; i < m; i++) r[i] = b[i] - r[i];
    norm = sqrt(row_dot(r, r, m));
  }
  return steps;
}
