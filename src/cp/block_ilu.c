/* Incomplete LU of a matrix of dense blocks: Gauss' elimination that drops what falls outside the pattern (Meijerink & van
 * der Vorst 1977). For A + rho J^T D J, a mass matrix with springs, it makes Krylov methods converge in a few dozen steps.
 * Fails where a diagonal block becomes singular. */
#include "cp/bodies.h"

#include "la/factor.h"

#include <math.h>
#include <string.h>

bool block_ilu_create(block_ilu *ilu, const body_matrix *H, ss_cp_workspace *w) {
  *ilu = (block_ilu){.H = H, .value = SCRATCH(w, double, H->numbers)};
  return ilu->value != NULL;
}

/* c -= a b, a: rows x inner, b: inner x cols */
static inline void subtract(double *restrict c, const double *restrict a, const double *restrict b, int rows, int inner,
                            int cols) {
  for (int j = 0; j < cols; j++)
    for (int k = 0; k < inner; k++) {
      const double f = b[j * inner + k];
      for (int i = 0; i < rows; i++) c[j * rows + i] -= a[k * rows + i] * f;
    }
}

static void subtract_product(double *c, const double *a, const double *b, int rows, int inner, int cols) {
  if (rows == 6 && inner == 6 && cols == 6)
    subtract(c, a, b, 6, 6, 6);
  else if (rows == 3 && inner == 3 && cols == 3)
    subtract(c, a, b, 3, 3, 3);
  else
    subtract(c, a, b, rows, inner, cols);
}

/* y -= a x, a: rows x cols */
static inline void subtract_image(double *restrict y, const double *restrict a, const double *restrict x, int rows,
                                  int cols) {
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) y[i] -= a[j * rows + i] * x[j];
}

static void subtract_vector(double *y, const double *a, const double *x, int rows, int cols) {
  if (rows == 6 && cols == 6)
    subtract_image(y, a, x, 6, 6);
  else
    subtract_image(y, a, x, rows, cols);
}

static bool invert(double *a, int n) {
  double lu[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS];
  int pivot[SS_CP_BODY_ROWS];
  memcpy(lu, a, sizeof(double) * (size_t)(n * n));
  if (!ss_dense_factor(lu, n, pivot)) return false;
  for (int i = 0; i < n * n; i++) a[i] = i % (n + 1) == 0;
  ss_dense_solve(lu, n, pivot, a, n);
  for (int i = 0; i < n * n; i++)
    if (!isfinite(a[i])) return false;
  return true;
}

/* Row i becomes its part of L and U: L_ik = H_ik U_kk^-1, then H_ij -= L_ik U_kj for those j of row k that row i has. */
static bool eliminate(block_ilu *ilu, int i) {
  const body_matrix *H = ilu->H;
  const int rows = H->first[i + 1] - H->first[i];
  for (int e = H->start[i]; H->col[e] < i; e++) {
    const int k = H->col[e], inner = H->first[k + 1] - H->first[k];
    double *own = ilu->value + H->at[e], product[SS_CP_BODY_ROWS * SS_CP_BODY_ROWS] = {0};
    subtract_product(product, own, ilu->value + H->at[H->diagonal[k]], rows, inner, inner);
    for (int n = 0; n < rows * inner; n++) own[n] = -product[n];
    for (int f = H->diagonal[k] + 1, to = e + 1; f < H->start[k + 1] && to < H->start[i + 1]; f++) {
      while (to < H->start[i + 1] && H->col[to] < H->col[f]) to++;
      if (to == H->start[i + 1] || H->col[to] != H->col[f]) continue;
      const int c = H->col[f];
      subtract_product(ilu->value + H->at[to], own, ilu->value + H->at[f], rows, inner, H->first[c + 1] - H->first[c]);
    }
  }
  return invert(ilu->value + H->at[H->diagonal[i]], rows);
}

bool block_ilu_factor(block_ilu *ilu) {
  memcpy(ilu->value, ilu->H->value, sizeof(double) * ilu->H->numbers);
  for (int i = 0; i < ilu->H->bodies; i++)
    if (!eliminate(ilu, i)) return false;
  return true;
}

void block_ilu_solve(const block_ilu *ilu, const double *b, double *x) {
  const body_matrix *H = ilu->H;
  memcpy(x, b, sizeof(double) * (size_t)H->first[H->bodies]);
  for (int i = 0; i < H->bodies; i++)
    for (int e = H->start[i]; e < H->diagonal[i]; e++) {
      const int k = H->col[e];
      subtract_vector(x + H->first[i], ilu->value + H->at[e], x + H->first[k], H->first[i + 1] - H->first[i],
                      H->first[k + 1] - H->first[k]);
    }
  for (int i = H->bodies - 1; i >= 0; i--) {
    const int rows = H->first[i + 1] - H->first[i];
    double *own = x + H->first[i], y[SS_CP_BODY_ROWS] = {0};
    for (int e = H->diagonal[i] + 1; e < H->start[i + 1]; e++) {
      const int k = H->col[e];
      subtract_vector(own, ilu->value + H->at[e], x + H->first[k], rows, H->first[k + 1] - H->first[k]);
    }
    subtract_vector(y, ilu->value + H->at[H->diagonal[i]], own, rows, rows);
    for (int n = 0; n < rows; n++) own[n] = -y[n];
  }
}
