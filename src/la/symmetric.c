/* Inverse by Cholesky's factorisation; eigenvalues by Householder reduction to tridiagonal form and the QL method with
 * implicit shifts (Wilkinson & Reinsch, Handbook II/2 and II/3). Sizes here are those of contact patches: up to a few
 * hundred, once per run. */
#include "la/symmetric.h"

#include <math.h>
#include <stddef.h>

#define AT(m, i, j) ((m)[(size_t)(i) * (size_t)n + (size_t)(j)])

/* L in the lower triangle, L L^T = a. */
static bool factor(double *a, int n) {
  for (int j = 0; j < n; j++) {
    for (int i = j; i < n; i++) {
      double sum = AT(a, i, j);
      const double *x = &AT(a, i, 0), *y = &AT(a, j, 0);
      for (int k = 0; k < j; k++) sum -= x[k] * y[k];
      if (i > j) {
        AT(a, i, j) = sum / AT(a, j, j);
      } else {
        if (!(sum > 0) || !isfinite(sum)) return false;
        AT(a, j, j) = sqrt(sum);
      }
    }
  }
  return true;
}

bool ss_spd_invert(double *a, int n) {
  if (!factor(a, n)) return false;
  for (int j = 0; j < n; j++) { /* L^-1 into the upper triangle, transposed: U(j, i) = L^-1(i, j), j <= i */
    AT(a, j, j) = 1 / AT(a, j, j);
    for (int i = j + 1; i < n; i++) {
      double sum = 0;
      const double *l = &AT(a, i, 0), *u = &AT(a, j, 0);
      for (int k = j; k < i; k++) sum -= l[k] * u[k];
      AT(a, j, i) = sum / AT(a, i, i);
    }
  }
  for (int i = 0; i < n; i++) /* a^-1 = L^-T L^-1 = U U^T */
    for (int j = 0; j <= i; j++) {
      double sum = 0;
      const double *x = &AT(a, i, 0), *y = &AT(a, j, 0);
      for (int k = i; k < n; k++) sum += x[k] * y[k];
      AT(a, i, j) = sum; /* below the diagonal nothing is read any more; the diagonal is read up to row i */
    }
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) AT(a, i, j) = AT(a, j, i);
  return true;
}

/* Applies the Householder reflection of column i to v and accumulates; d and e as in the Handbook's tred2. */
static void reduce(double *v, int n, double *d, double *e) {
  for (int j = 0; j < n; j++) d[j] = AT(v, n - 1, j);
  for (int i = n - 1; i > 0; i--) {
    double scale = 0, h = 0;
    for (int k = 0; k < i; k++) scale += fabs(d[k]);
    if (scale == 0) {
      e[i] = d[i - 1];
      for (int j = 0; j < i; j++) {
        d[j] = AT(v, i - 1, j);
        AT(v, i, j) = AT(v, j, i) = 0;
      }
      d[i] = 0;
      continue;
    }
    for (int k = 0; k < i; k++) {
      d[k] /= scale;
      h += d[k] * d[k];
    }
    double f = d[i - 1], g = f > 0 ? -sqrt(h) : sqrt(h);
    e[i] = scale * g;
    h -= f * g;
    d[i - 1] = f - g;
    for (int j = 0; j < i; j++) e[j] = 0;
    for (int j = 0; j < i; j++) {
      f = d[j];
      AT(v, j, i) = f;
      g = e[j] + AT(v, j, j) * f;
      for (int k = j + 1; k < i; k++) {
        g += AT(v, k, j) * d[k];
        e[k] += AT(v, k, j) * f;
      }
      e[j] = g;
    }
    f = 0;
    for (int j = 0; j < i; j++) {
      e[j] /= h;
      f += e[j] * d[j];
    }
    for (int j = 0; j < i; j++) e[j] -= f / (h + h) * d[j];
    for (int j = 0; j < i; j++) {
      f = d[j], g = e[j];
      for (int k = j; k < i; k++) AT(v, k, j) -= f * e[k] + g * d[k];
      d[j] = AT(v, i - 1, j);
      AT(v, i, j) = 0;
    }
    d[i] = h;
  }
}

static void accumulate(double *v, int n, double *d, double *e) {
  for (int i = 0; i < n - 1; i++) {
    AT(v, n - 1, i) = AT(v, i, i);
    AT(v, i, i) = 1;
    const double h = d[i + 1];
    if (h != 0) {
      for (int k = 0; k <= i; k++) d[k] = AT(v, k, i + 1) / h;
      for (int j = 0; j <= i; j++) {
        double g = 0;
        for (int k = 0; k <= i; k++) g += AT(v, k, i + 1) * AT(v, k, j);
        for (int k = 0; k <= i; k++) AT(v, k, j) -= g * d[k];
      }
    }
    for (int k = 0; k <= i; k++) AT(v, k, i + 1) = 0;
  }
  for (int j = 0; j < n; j++) {
    d[j] = AT(v, n - 1, j);
    AT(v, n - 1, j) = 0;
  }
  AT(v, n - 1, n - 1) = 1;
  e[0] = 0;
}

/* One implicit QL sweep on rows l .. m. */
static void sweep(double *v, int n, double *d, double *e, int l, int m, double *shift) {
  const double g = d[l], p0 = (d[l + 1] - g) / (2 * e[l]), r0 = copysign(hypot(p0, 1), p0);
  d[l] = e[l] / (p0 + r0);
  d[l + 1] = e[l] * (p0 + r0);
  const double dl1 = d[l + 1], h0 = g - d[l], el1 = e[l + 1];
  for (int i = l + 2; i < n; i++) d[i] -= h0;
  *shift += h0;
  double p = d[m], c = 1, c2 = 1, c3 = 1, s = 0, s2 = 0;
  for (int i = m - 1; i >= l; i--) {
    c3 = c2, c2 = c, s2 = s;
    const double gi = c * e[i], hi = c * p, r = hypot(p, e[i]);
    e[i + 1] = s * r;
    s = e[i] / r;
    c = p / r;
    p = c * d[i] - s * gi;
    d[i + 1] = hi + s * (c * gi + s * d[i]);
    for (int k = 0; k < n; k++) {
      const double t = AT(v, k, i + 1);
      AT(v, k, i + 1) = s * AT(v, k, i) + c * t;
      AT(v, k, i) = c * AT(v, k, i) - s * t;
    }
  }
  p = -s * s2 * c3 * el1 * e[l] / dl1;
  e[l] = s * p;
  d[l] = c * p;
}

bool ss_symmetric_eigen(const double *a, int n, double *v, double *values, double *off) {
  double *d = values, *e = off;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) v[i] = a[i];
  reduce(v, n, d, e);
  accumulate(v, n, d, e);
  for (int i = 1; i < n; i++) e[i - 1] = e[i];
  e[n - 1] = 0;
  double shift = 0, largest = 0;
  for (int l = 0; l < n; l++) {
    largest = fmax(largest, fabs(d[l]) + fabs(e[l]));
    int m = l;
    while (m < n - 1 && fabs(e[m]) > 0x1p-52 * largest) m++;
    for (int sweeps = 0; m > l && fabs(e[l]) > 0x1p-52 * largest; sweeps++) {
      if (sweeps == 60) return false;
      sweep(v, n, d, e, l, m, &shift);
    }
    d[l] += shift;
    e[l] = 0;
  }
  return true;
}
