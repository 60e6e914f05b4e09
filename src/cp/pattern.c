/* Contacts of a pile meet in G only where they share a body: most of G is zero. Elimination in an order that keeps
 * neighbours together fills in only between the first entry of a row and its diagonal (the envelope); independent piles
 * do not see each other at all. */
#include "cp/pattern.h"

#include <math.h>

/* The groups in the order of the rows; returns how many. */
static int list_groups(const ss_cp *problem, int *first, int *size) {
  int n = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += together, n++) {
      first[n] = i;
      size[n] = together;
    }
  }
  return n;
}

static bool any_entry(const double *line, int size) {
  for (int k = 0; k < size; k++)
    if (line[k] != 0) return true;
  return false;
}

/* Marks the groups that meet in G, in either direction. */
static void mark_meetings(const ss_cp *problem, const int *first, const int *size, int n, char *meets) {
  for (int g = 0; g < n; g++) {
    char *own = meets + (size_t)g * (size_t)n;
    for (int i = first[g]; i < first[g] + size[g]; i++) {
      const double *line = problem->G + (size_t)i * (size_t)problem->n;
      for (int h = 0; h < n; h++)
        if (!own[h] && any_entry(line + first[h], size[h])) own[h] = 1;
    }
  }
  for (int g = 0; g < n; g++)
    for (int h = 0; h < g; h++) {
      char *a = &meets[(size_t)g * (size_t)n + (size_t)h], *b = &meets[(size_t)h * (size_t)n + (size_t)g];
      *a = *b = *a || *b;
    }
}

/* Appends what can be reached from `start` to order[0 .. count - 1], level by level; returns the new count. */
static int spread(const char *meets, int n, int start, int *order, int count, char *done) {
  order[count] = start;
  done[start] = 1;
  int end = count + 1;
  for (int k = count; k < end; k++) {
    const char *line = meets + (size_t)order[k] * (size_t)n;
    for (int b = 0; b < n; b++)
      if (line[b] && !done[b]) {
        done[b] = 1;
        order[end++] = b;
      }
  }
  return end;
}

/* Each part begins at what was farthest from its first group. */
static void find_order(const char *meets, int n, int *order, char *done) {
  for (int b = 0; b < n; b++) done[b] = 0;
  for (int count = 0, start = 0; count < n; start++) {
    if (done[start]) continue;
    const int end = spread(meets, n, start, order, count, done), far = order[end - 1];
    for (int k = count; k < end; k++) done[order[k]] = 0;
    count = spread(meets, n, far, order, count, done);
  }
}

static int count_meetings(const char *meets, int n) {
  int count = 0;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) count += meets[i];
  return count;
}

static void list_meetings(pattern *p, const char *meets, const int *order) {
  const int n = p->n;
  int count = 0;
  for (int k = 0; k < n; k++) {
    const char *line = meets + (size_t)order[k] * (size_t)n;
    p->start[k] = count;
    p->least[k] = k;
    for (int l = 0; l < n; l++) {
      if (!line[order[l]]) continue;
      if (l < p->least[k]) p->least[k] = l;
      p->meets[count++] = l;
    }
  }
  p->start[n] = count;
}

ss_status pattern_create(const ss_cp *problem, ss_cp_workspace *w, pattern *out, ss_error *error) {
  const size_t rows = (size_t)problem->n;
  int *kept = SCRATCH(w, int, 5 * rows + 1);
  int *temporary = SCRATCH(w, int, 3 * rows);
  char *meets = SCRATCH(w, char, rows *rows + rows);
  if (!kept || !temporary || !meets) return out_of_memory(error);
  int *first = temporary, *size = first + rows, *order = size + rows;
  *out = (pattern){.place = kept, .row = kept + rows, .size = kept + 2 * rows, .least = kept + 3 * rows};
  out->start = kept + 4 * rows;
  const int n = out->n = list_groups(problem, first, size);
  char *done = meets + (size_t)n * (size_t)n;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) meets[i] = 0;
  for (int b = 0; b < n; b++) meets[(size_t)b * ((size_t)n + 1)] = 1;
  mark_meetings(problem, first, size, n, meets);
  out->meets = SCRATCH(w, int, count_meetings(meets, n));
  if (!out->meets) return out_of_memory(error);
  find_order(meets, n, order, done);
  for (int k = 0; k < n; k++) {
    out->row[k] = first[order[k]];
    out->size[k] = size[order[k]];
    for (int i = 0; i < out->size[k]; i++) out->place[out->row[k] + i] = k;
  }
  list_meetings(out, meets, order);
  return SS_OK;
}

void pattern_apply(const pattern *p, const ss_cp *problem, const double *z, double *w) {
  for (int i = 0; i < problem->n; i++) {
    const double *line = problem->G + (size_t)i * (size_t)problem->n;
    const int k = p->place[i];
    double sum = problem->g[i];
    for (int e = p->start[k]; e < p->start[k + 1]; e++) {
      const int first = p->row[p->meets[e]], end = first + p->size[p->meets[e]];
      for (int j = first; j < end; j++) sum += line[j] * z[j];
    }
    w[i] = sum;
  }
}

double pattern_magnitude(const pattern *p, const ss_cp *problem, int row, const double *z) {
  const double *line = problem->G + (size_t)row * (size_t)problem->n;
  const int k = p->place[row];
  double sum = fabs(problem->g[row]);
  for (int e = p->start[k]; e < p->start[k + 1]; e++) {
    const int first = p->row[p->meets[e]], end = first + p->size[p->meets[e]];
    for (int j = first; j < end; j++) sum += fabs(line[j] * z[j]);
  }
  return sum;
}

enum { PANEL = 4 }; /* pivots that are eliminated together: one pass over the rows below instead of four */

/* The pivots k .. k + width - 1 among themselves, and their inverses. */
static bool factor_panel(double *A, size_t stride, int k, int width, const int *first, int end, double *inverse) {
  for (int m = 0; m < width; m++) {
    const double *restrict pivot = A + (size_t)(k + m) * stride;
    inverse[m] = 1 / pivot[k + m];
    if (!isfinite(inverse[m])) return false;
    for (int i = k + m + 1; i < k + width; i++) {
      double *restrict target = A + (size_t)i * stride;
      if (first[i] > k + m || target[k + m] == 0) continue;
      const double l = target[k + m] *= inverse[m];
      for (int j = k + m + 1; j <= end; j++) target[j] -= l * pivot[j];
    }
  }
  return true;
}

/* Takes the pivots of a panel out of a row below it. */
static void eliminate(const double *rows, size_t stride, int k, int width, int from, int end, const double *inverse,
                      double *restrict target) {
  double l[PANEL] = {0};
  bool any = false;
  for (int m = from > k ? from - k : 0; m < width; m++) {
    double value = target[k + m];
    for (int q = 0; q < m; q++) value -= l[q] * rows[(size_t)q * stride + (size_t)(k + m)];
    target[k + m] = l[m] = value * inverse[m];
    any |= l[m] != 0;
  }
  if (!any) return;
  const double *restrict a = rows, *restrict b = a + stride, *restrict c = b + stride, *restrict d = c + stride;
  if (width == PANEL)
    for (int j = k + PANEL; j <= end; j++) target[j] -= l[0] * a[j] + l[1] * b[j] + l[2] * c[j] + l[3] * d[j];
  else
    for (int m = 0; m < width; m++)
      for (int j = k + width; l[m] != 0 && j <= end; j++) target[j] -= l[m] * rows[(size_t)m * stride + (size_t)j];
}

bool envelope_factor(double *A, int n, const int *first, const int *last) {
  const size_t stride = (size_t)n;
  for (int k = 0, width; k < n; k += width) {
    double inverse[PANEL];
    const int end = last[k];
    for (width = 1; width < PANEL && k + width < n && last[k + width] == end;) width++;
    double *rows = A + (size_t)k * stride;
    if (!factor_panel(A, stride, k, width, first, end, inverse)) return false;
    for (int i = k + width; i <= end; i++)
      if (first[i] < k + width) eliminate(rows, stride, k, width, first[i], end, inverse, A + (size_t)i * stride);
  }
  return true;
}

void envelope_solve(const double *A, int n, const int *first, const int *last, double *x) {
  for (int i = 0; i < n; i++) {
    const double *row = A + (size_t)i * (size_t)n;
    double sum = x[i];
    for (int j = first[i]; j < i; j++) sum -= row[j] * x[j];
    x[i] = sum;
  }
  for (int i = n - 1; i >= 0; i--) {
    const double *row = A + (size_t)i * (size_t)n;
    double sum = x[i];
    for (int j = i + 1; j <= last[i]; j++) sum -= row[j] * x[j];
    x[i] = sum / row[i];
  }
}
