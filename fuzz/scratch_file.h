/* Bytes as a file, for readers that take a path. */
#ifndef FUZZ_SCRATCH_FILE_H
#define FUZZ_SCRATCH_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *scratch_path(const char *name) {
  static char path[128];
  (void)snprintf(path, sizeof path, "/dev/shm/stickslip-%s-%ld", name, (long)getpid());
  return path;
}

static inline void scratch_write(const char *path, const uint8_t *data, size_t size) {
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file)) abort();
}

#endif
