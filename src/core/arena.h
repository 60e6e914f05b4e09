/* Arena: many small allocations with one end of life. Blocks are never moved; everything is zeroed. */
#ifndef SS_CORE_ARENA_H
#define SS_CORE_ARENA_H

#include <stickslip/base.h>

#include <stddef.h>

typedef struct ss_arena ss_arena;

ss_arena *ss_arena_create(void); /* NULL: out of memory */
void ss_arena_destroy(ss_arena *arena);
void *ss_arena_alloc(ss_arena *arena, size_t size); /* 64-byte aligned for sizes >= 64; NULL: out of memory */
char *ss_arena_strdup(ss_arena *arena, const char *text);

/* Array of `count` elements of a type. */
#define SS_ARENA_ARRAY(arena, type, count) ((type *)ss_arena_alloc((arena), sizeof(type) * (size_t)(count)))

/* Several of them: SS_ROOM(pointer, count) each. */
typedef struct ss_room {
  void *array; /* the address of the pointer */
  size_t count, size;
} ss_room;
#define SS_ROOM(array, count)                                                                                          \
  { &(array), (size_t)(count), sizeof *(array) }
ss_status ss_arena_arrays(ss_arena *arena, const ss_room *rooms, size_t n, ss_error *error);

/* All memory of the library comes from these; a test wraps calloc and realloc to make the n-th one fail. */
void *ss_alloc(size_t size); /* zeroed */
void *ss_realloc(void *memory, size_t size);
void ss_free(void *memory);

/* Grows an array to hold at least `needed` elements; keeps its contents. */
ss_status ss_grow(void **array, int *capacity, int needed, size_t element, ss_error *error);
#define SS_GROW(array, capacity, needed, error)                                                                        \
  ss_grow((void **)&(array), &(capacity), (needed), sizeof *(array), (error))

#endif
