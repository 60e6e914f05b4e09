/* A sound file with damage from the fuzzer: each four bytes of the input change one byte of it, and what is left over cuts
 * its end off. */
#ifndef FUZZ_DAMAGED_FILE_H
#define FUZZ_DAMAGED_FILE_H

#include "scratch_file.h"

#include <string.h>

typedef struct whole_file {
  uint8_t *bytes;
  size_t size;
} whole_file;

static inline whole_file whole_read(const char *path) {
  whole_file w = {malloc(1 << 20), 0};
  FILE *file = fopen(path, "rb");
  if (!w.bytes || !file) abort();
  w.size = fread(w.bytes, 1, 1 << 20, file);
  (void)fclose(file);
  return w;
}

/* The damaged copy, to be freed, and its size. */
static inline uint8_t *damage(const whole_file *w, const uint8_t *data, size_t n, size_t *size) {
  uint8_t *bytes = malloc(w->size);
  if (!bytes) abort();
  memcpy(bytes, w->bytes, w->size);
  for (size_t i = 0; i + 4 <= n; i += 4) {
    const size_t at = (size_t)data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16;
    bytes[at % w->size] = data[i + 3];
  }
  *size = n % 4 == 3 ? (data[n - 1] | (size_t)data[n - 2] << 8) % w->size : w->size;
  return bytes;
}

#endif
