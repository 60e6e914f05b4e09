/* Reading a problem: the first bytes decide the format. */
#include "cp/tokens.h"

#include "io/text_file.h"

#include <stdio.h>
#include <string.h>

void ss_cp_file_release(ss_cp_file *file) {
  ss_arena_destroy(file->memory);
  *file = (ss_cp_file){0};
}

static ss_status read_text(const char *path, ss_cp_file *out, ss_error *error) {
  char *text = NULL;
  size_t length = 0;
  ss_status status = ss_text_file_read(path, &text, &length, error);
  if (status) return status;
  tokens t = {path, text, text, out->memory};
  char first[64] = "";
  const bool commented = *text == '#';
  (void)tokens_peek(&t, first, sizeof first);
  if (strcmp(first, "stickslip-problem") == 0)
    status = read_own(&t, out, error);
  else if (strcmp(first, "problem") == 0)
    status = read_listing(&t, out, error);
  else if (commented)
    status = read_plain_lcp(&t, out, error);
  else
    status = read_siconos(&t, out, error);
  ss_free(text);
  return status;
}

static bool is_hdf5(const char *path) {
  static const char signature[] = "\211HDF\r\n\032\n";
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  char start[8] = "";
  const bool same = fread(start, 1, 8, file) == 8 && memcmp(start, signature, 8) == 0;
  (void)fclose(file);
  return same;
}

ss_status ss_cp_read(const char *path, ss_cp_file *out, ss_error *error) {
  *out = (ss_cp_file){.kind = "general", .memory = ss_arena_create()};
  if (!out->memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_status status = is_hdf5(path) ? read_fclib(path, out->memory, out, error) : read_text(path, out, error);
  if (!status) status = ss_cp_validate(&out->problem, error);
  if (status) {
    ss_cp_file_release(out);
    if (error && !error->file[0]) (void)snprintf(error->file, sizeof error->file, "%s", path);
  }
  return status;
}
