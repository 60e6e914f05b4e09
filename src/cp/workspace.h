/* Memory of the complementarity solvers: a stack of bytes that grows on demand and is reused by the next solve. */
#ifndef SS_CP_WORKSPACE_H
#define SS_CP_WORKSPACE_H

#include "core/threads.h"

#include <stickslip/cp.h>

typedef struct scratch_chunk {
  struct scratch_chunk *next;
  size_t size;   /* bytes of memory */
  double *bytes; /* 64-byte aligned start */
} scratch_chunk;

/* Unit vectors at the angles 2 pi i / k, i = 0 .. k (the last one repeats the first), as pairs (x, y). */
typedef struct direction_table {
  struct direction_table *next;
  int k;
  double d[]; /* 2 (k + 1) numbers */
} direction_table;

struct ss_cp_workspace {
  scratch_chunk *first, *current;
  size_t used; /* bytes of the current chunk */
  direction_table *tables;
  long growths;        /* allocations so far, for the test that repeated solves make none */
  ss_threads *threads; /* that a solver may share its work with; NULL: none */
};

typedef struct scratch_mark {
  scratch_chunk *current;
  size_t used;
} scratch_mark;

void *scratch_grow(ss_cp_workspace *w, size_t size);

/* `size` bytes, not zeroed, 64-byte aligned, valid until the mark below them is released. NULL: out of memory. */
static inline void *scratch_take(ss_cp_workspace *w, size_t size) {
  size = (size + 63) & ~(size_t)63;
  if (size > w->current->size - w->used) return scratch_grow(w, size);
  void *memory = (char *)w->current->bytes + w->used;
  w->used += size;
  return memory;
}

#define SCRATCH(w, type, count) ((type *)scratch_take((w), sizeof(type) * (size_t)(count)))

static inline scratch_mark scratch_now(const ss_cp_workspace *w) { return (scratch_mark){w->current, w->used}; }
static inline void scratch_release(ss_cp_workspace *w, scratch_mark mark) {
  w->current = mark.current;
  w->used = mark.used;
}

/* The corners of the regular polygon, kept for the workspace's lifetime. NULL: out of memory. */
const double *scratch_directions(ss_cp_workspace *w, int k);

static inline ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

#endif
