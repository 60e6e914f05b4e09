#include "io/text_file.h"

#include "core/arena.h"
#include "core/words.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_BUFFER = 1 << 14 };

static ss_status fail(ss_error *error, ss_status status, const char *path, const char *why) {
  return ss_fail_place(error, status, path, (ss_mark){0, 0}, "cannot read the file: %s", why);
}

/* Pipes have no size, so the buffer grows until the end. */
static ss_status read_all(FILE *file, const char *path, size_t limit, char **text, size_t *length, ss_error *error) {
  size_t room = 0, used = 0;
  for (;;) {
    if (used + 1 >= room) {
      const size_t larger = room ? 2 * room : FIRST_BUFFER;
      char *grown = ss_realloc(*text, larger);
      if (!grown) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
      *text = grown;
      room = larger;
    }
    const size_t got = fread(*text + used, 1, room - used - 1, file);
    used += got;
    if (used > limit)
      return ss_fail_place(error, SS_ERROR_INPUT, path, (ss_mark){0, 0},
                           "cannot read the file: it is larger than %zu MiB", limit >> 20);
    if (got == 0) break;
  }
  if (ferror(file)) return fail(error, SS_ERROR_IO, path, strerror(errno));
  (*text)[used] = '\0';
  *length = used;
  return SS_OK;
}

ss_status ss_text_file_read(const char *path, size_t limit, char **text, size_t *length, ss_error *error) {
  *text = NULL;
  struct stat about;
  if (stat(path, &about) != 0) return fail(error, SS_ERROR_IO, path, strerror(errno));
  if (S_ISDIR(about.st_mode)) return fail(error, SS_ERROR_IO, path, "it is a directory");
  FILE *file = fopen(path, "rb");
  if (!file) return fail(error, SS_ERROR_IO, path, strerror(errno));
  const ss_status status = read_all(file, path, limit, text, length, error);
  (void)fclose(file);
  if (status == SS_OK) return SS_OK;
  ss_free(*text);
  *text = NULL;
  return status;
}
