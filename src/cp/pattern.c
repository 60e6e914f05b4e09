/* Contacts of a pile meet in G only where they share a body: most of G is zero. Elimination in an order that keeps
 * neighbours together fills in only between the first entry of a row and its diagonal (the envelope); independent piles
 * do not see each other at all. */
#include "cp/pattern.h"

#include <math.h>

/* The groups in the order of the rows; returns how many. */
static int list_groups(const ss_cp *problem, int *group, int *first, int *size) {
  int n = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += together, n++) {
      first[n] = i;
      size[n] = together;
      for (int k = 0; k < together; k++) group[i + k] = n;
    }
  }
  return n;
}

/* Marks what a row of G meets, in both directions. */
static void mark_row(const ss_cp *problem, const int *group, int row, int n, char *meets) {
  const double *line = problem->G + (size_t)row * (size_t)problem->n;
  const size_t own = (size_t)group[row];
  for (int j = 0; j < problem->n; j++)
    if (line[j] != 0) meets[own * (size_t)n + (size_t)group[j]] = meets[(size_t)group[j] * (size_t)n + own] = 1;
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
  int *temporary = SCRATCH(w, int, 4 * rows);
  char *meets = SCRATCH(w, char, rows *rows + rows);
  if (!kept || !temporary || !meets) return out_of_memory(error);
  int *group = temporary, *first = group + rows, *size = first + rows, *order = size + rows;
  *out = (pattern){.place = kept, .row = kept + rows, .size = kept + 2 * rows, .least = kept + 3 * rows};
  out->start = kept + 4 * rows;
  const int n = out->n = list_groups(problem, group, first, size);
  char *done = meets + (size_t)n * (size_t)n;
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) meets[i] = 0;
  for (int b = 0; b < n; b++) meets[(size_t)b * ((size_t)n + 1)] = 1;
  for (int i = 0; i < problem->n; i++) mark_row(problem, group, i, n, meets);
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

bool envelope_factor(double *A, int n, const int *first, const int *last) {
  const size_t stride = (size_t)n;
  for (int k = 0; k < n; k++) {
    const double *restrict pivot_row = A + (size_t)k * stride;
    const double inverse = 1 / pivot_row[k];
    const int end = last[k];
    if (!isfinite(inverse)) return false;
    for (int i = k + 1; i <= end; i++) {
      double *restrict target = A + (size_t)i * stride;
      if (first[i] > k || target[k] == 0) continue;
      const double l = target[k] * inverse;
      target[k] = l;
      for (int j = k + 1; j <= end; j++) target[j] -= l * pivot_row[j];
    }
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
