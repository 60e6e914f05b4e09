#include "la/dense.h"

#include <math.h>
#include <stddef.h>

static double *row_of(double *a, int columns, int i) { return a + (ptrdiff_t)i * columns; }

/* Reflects rows k.. so that column k vanishes below row k; the reflector is kept in that column until it is applied. */
static void reflect(double *a, int rows, int columns, int k) {
  double norm = 0;
  for (int i = k; i < rows; i++) norm = hypot(norm, row_of(a, columns, i)[k]);
  if (norm == 0) return;
  double *top = row_of(a, columns, k);
  const double end = top[k] > 0 ? -norm : norm, first = top[k] - end;
  const double factor = -1 / (end * first); /* 2 / |reflector|^2 */
  top[k] = first;
  for (int j = k + 1; j < columns; j++) {
    double sum = 0;
    for (int i = k; i < rows; i++) sum += row_of(a, columns, i)[k] * row_of(a, columns, i)[j];
    for (int i = k; i < rows; i++) row_of(a, columns, i)[j] -= factor * sum * row_of(a, columns, i)[k];
  }
  top[k] = end;
  for (int i = k + 1; i < rows; i++) row_of(a, columns, i)[k] = 0;
}

void ss_triangularise(double *a, int rows, int columns, int pivots) {
  for (int k = 0; k < pivots && k < rows; k++) reflect(a, rows, columns, k);
}

bool ss_back_substitute(const double *a, int columns, int n, double smallest, const double *b, double *x) {
  double largest = 0;
  bool determined = true;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[(ptrdiff_t)i * columns + i]));
  for (int i = n - 1; i >= 0; i--) {
    const double *line = a + (ptrdiff_t)i * columns;
    double sum = b[i];
    for (int j = i + 1; j < n; j++) sum -= line[j] * x[j];
    const bool good = fabs(line[i]) > smallest * largest;
    x[i] = good ? sum / line[i] : 0;
    determined &= good;
  }
  return determined;
}
