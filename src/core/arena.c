#include "core/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *ss_alloc(size_t size) { return calloc(1, size ? size : 1); }

void *ss_realloc(void *memory, size_t size) { return realloc(memory, size ? size : 1); }

void ss_free(void *memory) { free(memory); }

typedef struct chunk {
  struct chunk *next;
  size_t used, size;
} chunk;

struct ss_arena {
  chunk *chunks; /* newest first */
};

enum { CHUNK_SIZE = 16384, ALIGNMENT = 64 };

ss_arena *ss_arena_create(void) { return ss_alloc(sizeof(ss_arena)); }

void ss_arena_destroy(ss_arena *arena) {
  if (!arena) return;
  for (chunk *c = arena->chunks; c;) {
    chunk *next = c->next;
    ss_free(c);
    c = next;
  }
  ss_free(arena);
}

static void *chunk_take(chunk *c, size_t size) {
  const size_t alignment = size >= ALIGNMENT ? ALIGNMENT : 16;
  const uintptr_t base = (uintptr_t)(c + 1);
  const uintptr_t start = (base + c->used + alignment - 1) & ~(uintptr_t)(alignment - 1);
  const size_t used = (size_t)(start - base) + size;
  if (used > c->size) return NULL;
  c->used = used;
  return (void *)start; // NOLINT(performance-no-int-to-ptr)
}

void *ss_arena_alloc(ss_arena *arena, size_t size) {
  if (size == 0) size = 1;
  void *memory = arena->chunks ? chunk_take(arena->chunks, size) : NULL;
  if (memory) return memory;
  const size_t payload = size + ALIGNMENT > CHUNK_SIZE ? size + ALIGNMENT : CHUNK_SIZE;
  if (payload < size) return NULL;
  chunk *c = ss_alloc(sizeof(chunk) + payload);
  if (!c) return NULL;
  c->size = payload;
  c->next = arena->chunks;
  arena->chunks = c;
  return chunk_take(c, size);
}

char *ss_arena_strdup(ss_arena *arena, const char *text) {
  if (!text) return NULL;
  const size_t size = strlen(text) + 1;
  char *copy = ss_arena_alloc(arena, size);
  if (copy) memcpy(copy, text, size);
  return copy;
}

ss_status ss_grow(void **array, int *capacity, int needed, size_t element, ss_error *error) {
  if (needed <= *capacity) return SS_OK;
  const int larger = needed < 16 ? 16 : needed + needed / 2;
  void *memory = ss_realloc(*array, element * (size_t)larger);
  if (!memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *array = memory;
  *capacity = larger;
  return SS_OK;
}

ss_status ss_arena_arrays(ss_arena *arena, const ss_room *rooms, size_t n, ss_error *error) {
  for (size_t i = 0; i < n; i++) {
    void *memory = ss_arena_alloc(arena, rooms[i].size * rooms[i].count);
    if (!memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    memcpy(rooms[i].array, &memory, sizeof memory);
  }
  return SS_OK;
}
