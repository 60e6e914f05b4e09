#include "cp/workspace.h"

#include "core/arena.h"

#include <math.h>

enum { FIRST_CHUNK = 1 << 16, ALIGNMENT = 64 };

static scratch_chunk *chunk_create(size_t size) {
  if (size > SIZE_MAX / 2) return NULL;
  scratch_chunk *chunk = ss_alloc(sizeof(scratch_chunk) + size + ALIGNMENT);
  if (!chunk) return NULL;
  const uintptr_t start = ((uintptr_t)(chunk + 1) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  chunk->bytes = (double *)start; // NOLINT(performance-no-int-to-ptr)
  chunk->size = size;
  return chunk;
}

ss_status ss_cp_workspace_create(ss_cp_workspace **out, ss_error *error) {
  *out = NULL;
  ss_cp_workspace *w = ss_alloc(sizeof *w);
  if (!w) return out_of_memory(error);
  w->first = w->current = chunk_create(FIRST_CHUNK);
  if (!w->first) {
    ss_free(w);
    return out_of_memory(error);
  }
  *out = w;
  return SS_OK;
}

void ss_cp_workspace_destroy(ss_cp_workspace *workspace) {
  if (!workspace) return;
  for (scratch_chunk *chunk = workspace->first; chunk;) {
    scratch_chunk *next = chunk->next;
    ss_free(chunk);
    chunk = next;
  }
  for (direction_table *table = workspace->tables; table;) {
    direction_table *next = table->next;
    ss_free(table);
    table = next;
  }
  ss_free(workspace);
}

/* Moves on to the next chunk that is large enough. The same sequence of requests walks the same chunks, so a repeated
 * solve never comes to the allocation. */
void *scratch_grow(ss_cp_workspace *w, size_t size) {
  scratch_chunk *chunk = w->current->next;
  while (chunk && chunk->size < size) chunk = chunk->next;
  if (!chunk) {
    size_t total = 0;
    scratch_chunk *last = w->current;
    for (scratch_chunk *c = w->first; c; c = c->next) {
      total += c->size;
      last = c;
    }
    chunk = chunk_create(size > total ? size : total);
    if (!chunk) return NULL;
    last->next = chunk;
    w->growths++;
  }
  w->current = chunk;
  w->used = size;
  return chunk->bytes;
}

const double *scratch_directions(ss_cp_workspace *w, int k) {
  for (const direction_table *table = w->tables; table; table = table->next)
    if (table->k == k) return table->d;
  direction_table *table = ss_alloc(sizeof *table + sizeof(double) * 2 * ((size_t)k + 1));
  if (!table) return NULL;
  const double turn = 8 * atan(1.0) / k;
  for (int i = 0; i <= k; i++) {
    table->d[2 * i] = cos(turn * (i % k));
    table->d[2 * i + 1] = sin(turn * (i % k));
    if (k % 4 == 0 && (i % k) % (k / 4) == 0) { /* exact on the axes */
      table->d[2 * i] = round(table->d[2 * i]);
      table->d[2 * i + 1] = round(table->d[2 * i + 1]);
    }
  }
  table->k = k;
  table->next = w->tables;
  w->tables = table;
  w->growths++;
  return table->d;
}
