#include "la/lu.h"

#include <math.h>
#include <stddef.h>

static void swap_rows(double *a, int n, int i, int j) {
  for (int k = 0; k < n && i != j; k++) {
    const double keep = a[i * n + k];
    a[i * n + k] = a[j * n + k];
    a[j * n + k] = keep;
  }
}

static void subtract_row(double *a, int n, int from, int row, double factor) {
  for (int k = 0; k < n; k++) a[row * n + k] -= factor * a[from * n + k];
}

bool ss_invert(double *a, int n, double *inverse) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) inverse[i * n + j] = i == j;
  for (int c = 0; c < n; c++) {
    int pivot = c;
    for (int i = c + 1; i < n; i++)
      if (fabs(a[i * n + c]) > fabs(a[pivot * n + c])) pivot = i;
    if (!(fabs(a[pivot * n + c]) > 0)) return false;
    swap_rows(a, n, c, pivot);
    swap_rows(inverse, n, c, pivot);
    const double scale = 1 / a[c * n + c];
    for (int k = 0; k < n; k++) {
      a[c * n + k] *= scale;
      inverse[c * n + k] *= scale;
    }
    for (int i = 0; i < n; i++) {
      const double factor = a[i * n + c];
      if (i == c || factor == 0) continue;
      subtract_row(a, n, c, i, factor);
      subtract_row(inverse, n, c, i, factor);
    }
  }
  return true;
}

bool ss_positive_definite(const double *a, int n, double least, double *scratch) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double s = (a[i * n + j] + a[j * n + i]) / 2;
      for (int k = 0; k < j; k++) s -= scratch[i * n + k] * scratch[j * n + k];
      if (i == j && !(s > least * a[i * n + i])) return false;
      scratch[i * n + j] = i == j ? sqrt(s) : s / scratch[j * n + j];
    }
  return true;
}
