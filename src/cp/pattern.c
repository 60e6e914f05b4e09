/* Contacts of a pile meet in G only where they share a body: most of G is zero. Elimination in an order that keeps
 * neighbours together fills in only between the first entry of a row and its diagonal (the envelope); independent piles
 * do not see each other at all. */
#include "cp/pattern.h"

#include "core/wide.h"

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

static void mark_sparse(const ss_sparse *G, const int *first, const int *size, const int *group, int n, char *meets) {
  for (int g = 0; g < n; g++)
    for (int k = G->start[first[g]]; k < G->start[first[g] + size[g]]; k++)
      if (G->value[k] != 0) meets[(size_t)g * (size_t)n + (size_t)group[G->col[k]]] = 1;
}

/* The sum of the sizes of some rows, column by column. */
WIDE static void add_sizes(const double *rows, int count, int n, double *restrict sum) {
  for (int j = 0; j < n; j++) sum[j] = 0;
  for (int i = 0; i < count; i++, rows += n)
    for (int j = 0; j < n; j++) sum[j] += fabs(rows[j]);
}

/* Marks the groups that meet in G, in either direction. `group`: [rows] that of each; sum: [rows] scratch. */
static void mark_meetings(const ss_cp *problem, const int *first, const int *size, const int *group, int n, double *sum,
                          char *meets) {
  if (problem->sparse) mark_sparse(problem->sparse, first, size, group, n, meets);
  for (int g = 0; g < n && problem->G; g++) {
    char *own = meets + (size_t)g * (size_t)n;
    add_sizes(problem->G + (size_t)first[g] * (size_t)problem->n, size[g], problem->n, sum);
    for (int h = 0; h < n; h++)
      if (any_entry(sum + first[h], size[h])) own[h] = 1;
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
  double *sum = SCRATCH(w, double, rows);
  if (!kept || !temporary || !sum) return out_of_memory(error);
  int *first = temporary, *size = first + rows, *order = size + rows;
  *out = (pattern){.place = kept, .row = kept + rows, .size = kept + 2 * rows, .least = kept + 3 * rows};
  out->start = kept + 4 * rows;
  const int n = out->n = list_groups(problem, first, size);
  char *meets = SCRATCH(w, char, (size_t)n *(size_t)n + (size_t)n), *done = meets + (size_t)n * (size_t)n;
  if (!meets) return out_of_memory(error);
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) meets[i] = 0;
  for (int b = 0; b < n; b++) meets[(size_t)b * ((size_t)n + 1)] = 1;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < size[k]; i++) out->place[first[k] + i] = k; /* the group, for now */
  mark_meetings(problem, first, size, out->place, n, sum, meets);
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
