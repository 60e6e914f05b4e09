/* Boxes are sorted along one axis; each is compared with those that start before it ends. */
#include "contact/sweep_and_prune.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

int ss_sweep_axis(const double *boxes, int n, int present) {
  double mean[3] = {0}, scatter[3] = {0};
  int finite = 0;
  for (int i = 0; i < n; i++) {
    const double *b = boxes + 6 * (size_t)i;
    if (!isfinite(b[0] + b[1] + b[2])) continue;
    finite++;
    for (int k = 0; k < 3; k++) {
      const double d = b[k] - mean[k];
      mean[k] += d / finite;
      scatter[k] += d * (b[k] - mean[k]);
    }
  }
  int best = present;
  for (int k = 0; k < 3; k++)
    if (scatter[k] > 4 * scatter[present] && scatter[k] > scatter[best]) best = k;
  return best;
}

/* Merges the sorted order[0..middle) and order[middle..n). */
static void merge(const double *low, int *order, int middle, int n, int *scratch) {
  memcpy(scratch, order, sizeof *order * (size_t)middle);
  int left = 0, right = middle, out = 0;
  while (left < middle && right < n) {
    const bool take_right = low[6 * (size_t)order[right]] < low[6 * (size_t)scratch[left]];
    order[out++] = take_right ? order[right++] : scratch[left++];
  }
  memcpy(order + out, scratch + left, sizeof *order * (size_t)(middle - left));
}

void ss_sweep_sort(const double *boxes, int axis, int n, int *order, int *scratch) {
  const double *low = boxes + axis;
  for (int width = 1; width<n; width = width> n / 2 ? n : 2 * width)
    for (int start = 0; start < n - width; start += 2 * width) {
      int *part = order + start;
      const int length = n - start - width < width ? n - start : 2 * width;
      if (low[6 * (size_t)part[width]] < low[6 * (size_t)part[width - 1]]) merge(low, part, width, length, scratch);
    }
}

bool ss_sweep_next(ss_sweep *s, int *i, int *j) {
  const int x = s->axis, y = (x + 1) % 3, z = (x + 2) % 3;
  for (; s->at < s->n; s->at++, s->other = 0) {
    const double *a = s->boxes + 6 * (size_t)s->order[s->at];
    if (s->other <= s->at) s->other = s->at + 1;
    while (s->other < s->n) {
      const int other = s->order[s->other++];
      const double *b = s->boxes + 6 * (size_t)other;
      if (b[x] > a[3 + x]) break;
      if (b[y] > a[3 + y] || b[3 + y] < a[y] || b[z] > a[3 + z] || b[3 + z] < a[z]) continue;
      *i = s->order[s->at];
      *j = other;
      return true;
    }
  }
  return false;
}
