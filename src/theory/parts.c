/* Parts of the contact graph: sets of rows that meet in G, by union of rows with the roots' paths halved. G is block
 * diagonal in them, so that each can be examined alone. */
#include "theory/parts.h"

#include "core/arena.h"

static int root_of(int *parent, int i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

/* The smaller row becomes the root: parts are numbered by their first rows. */
static void unite(int *parent, int i, int j) {
  const int a = root_of(parent, i), b = root_of(parent, j);
  if (a < b)
    parent[b] = a;
  else
    parent[a] = b;
}

static void unite_rows(const ss_cp *problem, int *parent) {
  const int n = problem->n;
  const ss_sparse *s = problem->sparse;
  for (int i = 0; i < n; i++) parent[i] = i;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    for (int i = 1; block->kind != SS_BLOCK_FREE && i < block->size; i++) unite(parent, block->first, block->first + i);
  }
  for (int i = 0; s && i < n; i++)
    for (int k = s->start[i]; k < s->start[i + 1]; k++)
      if (s->value[k] != 0) unite(parent, i, s->col[k]);
  for (int i = 0; !s && i < n; i++)
    for (int j = 0; j < i; j++)
      if (problem->G[(size_t)i * (size_t)n + (size_t)j] != 0) unite(parent, i, j);
}

/* Numbers the parts and sorts the rows by them; `part` has the parents and receives the parts. */
static void sort_rows(ss_parts *p, int *part) {
  const int n = p->problem->n;
  for (int i = 0; i < n; i++) {
    const int root = root_of(part, i);
    p->local[i] = root == i ? p->count++ : p->local[root]; /* the root comes first */
  }
  for (int i = 0; i < n; i++) part[i] = p->local[i];
  for (int k = 0; k <= p->count; k++) p->start[k] = 0;
  for (int i = 0; i < n; i++) p->local[i] = p->start[part[i] + 1]++;
  for (int k = 0; k < p->count; k++) p->start[k + 1] += p->start[k];
  for (int i = 0; i < n; i++) p->row[p->start[part[i]] + p->local[i]] = i;
}

ss_status ss_parts_find(const ss_cp *problem, ss_arena *arena, ss_parts *out, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *out = (ss_parts){.problem = problem,
                    .start = SS_ARENA_ARRAY(arena, int, n + 2),
                    .row = SS_ARENA_ARRAY(arena, int, n + 1),
                    .block = SS_ARENA_ARRAY(arena, int, n + 1),
                    .local = SS_ARENA_ARRAY(arena, int, n + 1),
                    .list = SS_ARENA_ARRAY(arena, ss_block, problem->n_blocks + 1)};
  int *part = SS_ARENA_ARRAY(arena, int, n + 1);
  if (!out->start || !out->row || !out->block || !out->local || !out->list || !part)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int b = 0; b < problem->n_blocks; b++)
    for (int i = 0; i < problem->blocks[b].size; i++) out->block[problem->blocks[b].first + i] = b;
  unite_rows(problem, part);
  sort_rows(out, part);
  return SS_OK;
}

static const ss_block *block_of(const ss_parts *p, int k) { return &p->problem->blocks[p->block[p->row[k]]]; }

int ss_parts_free_rows(const ss_parts *p, int part) {
  int count = 0;
  for (int k = p->start[part]; k < p->start[part + 1] && block_of(p, k)->kind == SS_BLOCK_FREE; k++) count++;
  return count;
}

int ss_parts_contacts(const ss_parts *p, int part) {
  int count = 0;
  for (int k = p->start[part] + ss_parts_free_rows(p, part); k < p->start[part + 1]; k += block_of(p, k)->size) count++;
  return count;
}

static void fill_matrix(const ss_parts *p, int part, int n, double *G) {
  const ss_cp *problem = p->problem;
  const int *row = p->row + p->start[part];
  for (int i = 0; i < n; i++) {
    double *line = G + (size_t)i * (size_t)n;
    const ss_sparse *s = problem->sparse;
    for (int k = s ? s->start[row[i]] : 0; s && k < s->start[row[i] + 1]; k++)
      if (s->value[k] != 0) line[p->local[s->col[k]]] = s->value[k];
    for (int j = 0; !s && j < n; j++) line[j] = problem->G[(size_t)row[i] * (size_t)problem->n + (size_t)row[j]];
  }
}

ss_status ss_parts_pose(const ss_parts *p, int part, ss_arena *arena, ss_cp *out, ss_error *error) {
  const int n = p->start[part + 1] - p->start[part], n_free = ss_parts_free_rows(p, part);
  double *G = SS_ARENA_ARRAY(arena, double, (size_t)n *(size_t)n + 1);
  if (!G) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  fill_matrix(p, part, n, G);
  int count = 0;
  if (n_free) p->list[count++] = (ss_block){.kind = SS_BLOCK_FREE, .size = n_free};
  for (int i = n_free; i < n; i += p->list[count - 1].size) {
    p->list[count] = *block_of(p, p->start[part] + i);
    p->list[count++].first = i;
  }
  *out = (ss_cp){.n = n, .n_blocks = count, .G = G, .blocks = p->list};
  return SS_OK;
}

double ss_parts_entry(const ss_cp *problem, int i, int j) {
  const ss_sparse *s = problem->sparse;
  if (!s) return problem->G[(size_t)i * (size_t)problem->n + (size_t)j];
  for (int k = s->start[i]; k < s->start[i + 1]; k++)
    if (s->col[k] == j) return s->value[k];
  return 0;
}
