/* The product of two rows in four sums, because each addition waits for the last. */
#ifndef SS_LA_ROW_DOT_H
#define SS_LA_ROW_DOT_H

static inline double row_dot(const double *a, const double *b, int n) {
  double sum[4] = {0};
  int j = 0;
  for (; j + 4 <= n; j += 4)
    for (int k = 0; k < 4; k++) sum[k] += a[j + k] * b[j + k];
  for (; j < n; j++) sum[0] += a[j] * b[j];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif
