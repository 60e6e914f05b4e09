/* Cholesky's factorisation and the inverse by it, by blocks; eigenvalues by Householder reduction to tridiagonal form and the QL
 * method with implicit shifts (Wilkinson & Reinsch, Handbook II/2 and II/3). */
#include "la/dense.h"

#include "core/wide.h"
#include "la/product.h"
#include "la/rows.h"

#include <math.h>
#include <stddef.h>

#define AT(m, i, j) ((m)[(size_t)(i) * (size_t)n + (size_t)(j)])

enum { BLOCK = 24 }; /* rows that are eliminated one by one */

static inline int block_end(int first, int n) { return first + BLOCK < n ? first + BLOCK : n; }

static ss_view view(const double *a, int n, int i, int j) { return (ss_view){&AT(a, i, j), (size_t)n, 1}; }
static ss_view transposed(const double *a, int n, int i, int j) { return (ss_view){&AT(a, i, j), 1, (size_t)n}; }

/* L in the lower triangle, L L^T = a. Pivots must be larger than `least` times what stood there; diagonal: where that is found. */
static bool cholesky(double *a, int n, double least, const double *diagonal) {
  for (int first = 0; first < n; first = block_end(first, n)) {
    const int end = block_end(first, n);
    for (int j = first; j < end; j++)
      for (int i = j; i < n; i++) {
        double sum = AT(a, i, j);
        const double *x = &AT(a, i, 0), *y = &AT(a, j, 0);
        for (int k = first; k < j; k++) sum -= x[k] * y[k];
        if (i > j) {
          AT(a, i, j) = sum / AT(a, j, j);
        } else {
          if (!(sum > (least > 0 ? least * AT(diagonal, j, j) : 0)) || !isfinite(sum)) return false;
          AT(a, j, j) = sqrt(sum);
        }
      }
    for (int from = end; from < n; from = block_end(from, n)) /* of the rest, what is not above the diagonal's blocks */
      ss_add_product(&AT(a, from, from), n, -1, view(a, n, from, first), transposed(a, n, from, first), n - from,
                     end - first, block_end(from, n) - from);
  }
  return true;
}

bool ss_positive_definite(const double *A, int n, double least, double *scratch) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) AT(scratch, i, j) = (AT(A, i, j) + AT(A, j, i)) / 2;
  return cholesky(scratch, n, least, A);
}

/* The triangle L^-T of a diagonal block of L, with zeros below. */
static void invert_block(const double *a, int n, int first, int size, double *inverse) {
  for (int j = 0; j < size; j++) {
    double *u = inverse + (size_t)j * BLOCK;
    for (int i = 0; i < size; i++) {
      const double *l = &AT(a, first + i, first);
      double sum = i == j;
      for (int k = j; k < i; k++) sum -= l[k] * u[k];
      u[i] = i < j ? 0 : sum / l[i];
    }
  }
}

static void set_zero(double *a, int n, int rows, int columns) {
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) AT(a, i, j) = 0;
}

/* U = L^-T into the blocks above the diagonal ones, which stay L's: U_JI = -(sum over J <= K < I of U_JK L_IK^T) U_II. */
static void invert_triangle(double *a, int n) {
  double own[BLOCK * BLOCK], product[BLOCK * BLOCK];
  const ss_view triangle = {own, BLOCK, 1};
  for (int first = 0; first < n; first = block_end(first, n)) {
    const int size = block_end(first, n) - first;
    for (int from = 0; from < first; from = block_end(from, n)) {
      const int end = block_end(from, n), rows = end - from;
      for (int i = 0; i < BLOCK * BLOCK; i++) product[i] = 0;
      invert_block(a, n, from, rows, own);
      ss_add_product(product, BLOCK, -1, triangle, transposed(a, n, first, from), rows, rows, size);
      ss_add_product(product, BLOCK, -1, view(a, n, from, end), transposed(a, n, first, end), rows, first - end, size);
      invert_block(a, n, first, size, own);
      set_zero(&AT(a, from, first), n, rows, size);
      ss_add_product(&AT(a, from, first), n, 1, (ss_view){product, BLOCK, 1}, triangle, rows, size, size);
    }
  }
}

/* a^-1 = U U^T below the diagonal, then above. Blocks of rows need those of U to the right of their diagonal block alone. */
static void multiply_triangles(double *a, int n) {
  double own[BLOCK * BLOCK];
  const ss_view triangle = {own, BLOCK, 1};
  for (int first = 0; first < n; first = block_end(first, n)) {
    const int end = block_end(first, n), size = end - first;
    invert_block(a, n, first, size, own);
    set_zero(&AT(a, first, 0), n, size, end);
    ss_add_product(&AT(a, first, first), n, 1, triangle, (ss_view){own, 1, BLOCK}, size, size, size);
    ss_add_product(&AT(a, first, first), n, 1, view(a, n, first, end), transposed(a, n, first, end), size, n - end,
                   size);
    ss_add_product(&AT(a, first, 0), n, 1, triangle, transposed(a, n, 0, first), size, size, first);
    ss_add_product(&AT(a, first, 0), n, 1, view(a, n, first, end), transposed(a, n, 0, end), size, n - end, first);
  }
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) AT(a, i, j) = AT(a, j, i);
}

bool ss_spd_inverse(double *A, int n) {
  if (!cholesky(A, n, 0, A)) return false;
  invert_triangle(A, n);
  multiply_triangles(A, n);
  return true;
}

/* ---- eigenvalues. Until the end the eigenvectors are rows here: V(k, j) is v[j][k], so that inner loops run along rows. ---- */

#define V(m, i, j) AT(m, j, i)

/* target += f source */
WIDE static void add_row(double *restrict target, const double *restrict source, double f, int n) {
  for (int k = 0; k < n; k++) target[k] += f * source[k];
}

WIDE static void rotate(double *restrict x, double *restrict y, double c, double s, int n) {
  for (int k = 0; k < n; k++) {
    const double t = y[k];
    y[k] = s * x[k] + c * t;
    x[k] = c * x[k] - s * t;
  }
}

/* Applies the Householder reflection of column i to v and accumulates; d and e as in the Handbook's tred2. */
static void reduce(double *v, int n, double *d, double *e) {
  for (int j = 0; j < n; j++) d[j] = V(v, n - 1, j);
  for (int i = n - 1; i > 0; i--) {
    double scale = 0, h = 0;
    for (int k = 0; k < i; k++) scale += fabs(d[k]);
    if (scale == 0) {
      e[i] = d[i - 1];
      for (int j = 0; j < i; j++) {
        d[j] = V(v, i - 1, j);
        V(v, i, j) = V(v, j, i) = 0;
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
      V(v, j, i) = f;
      const double *row = &V(v, j, j);
      e[j] += row[0] * f + ss_dot(row + 1, d + j + 1, i - j - 1);
      add_row(e + j + 1, row + 1, f, i - j - 1);
    }
    f = 0;
    for (int j = 0; j < i; j++) {
      e[j] /= h;
      f += e[j] * d[j];
    }
    for (int j = 0; j < i; j++) e[j] -= f / (h + h) * d[j];
    for (int j = 0; j < i; j++) {
      f = d[j], g = e[j];
      add_row(&V(v, j, j), e + j, -f, i - j);
      add_row(&V(v, j, j), d + j, -g, i - j);
      d[j] = V(v, i - 1, j);
      V(v, i, j) = 0;
    }
    d[i] = h;
  }
}

static void accumulate(double *v, int n, double *d, double *e) {
  for (int i = 0; i < n - 1; i++) {
    V(v, n - 1, i) = V(v, i, i);
    V(v, i, i) = 1;
    const double h = d[i + 1];
    if (h != 0) {
      for (int k = 0; k <= i; k++) d[k] = V(v, k, i + 1) / h;
      for (int j = 0; j <= i; j++) {
        const double g = ss_dot(&V(v, 0, i + 1), &V(v, 0, j), i + 1);
        add_row(&V(v, 0, j), d, -g, i + 1);
      }
    }
    for (int k = 0; k <= i; k++) V(v, k, i + 1) = 0;
  }
  for (int j = 0; j < n; j++) {
    d[j] = V(v, n - 1, j);
    V(v, n - 1, j) = 0;
  }
  V(v, n - 1, n - 1) = 1;
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
    rotate(&V(v, 0, i), &V(v, 0, i + 1), c, s, n);
  }
  p = -s * s2 * c3 * el1 * e[l] / dl1;
  e[l] = s * p;
  d[l] = c * p;
}

bool ss_symmetric_eigen(const double *a, int n, double *v, double *values, double *off) {
  if (n == 0) return true;
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
  bool finite = true;
  for (int i = 0; i < n; i++) {
    finite &= isfinite(d[i]);
    for (int j = 0; j < i; j++) {
      const double keep = AT(v, i, j);
      AT(v, i, j) = AT(v, j, i);
      AT(v, j, i) = keep;
    }
  }
  return finite;
}
