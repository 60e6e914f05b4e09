/* Reading a problem: the first bytes decide the format. */
#include "cp/tokens.h"

#include "io/text_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { SS_CP_FILE_LIMIT = 1 << 30 }; /* bytes; a dense matrix of SS_CP_DENSE_ROWS has some 200 MB */

void ss_cp_file_release(ss_cp_file *file) {
  ss_arena_destroy(file->memory);
  *file = (ss_cp_file){0};
}

static const char signature[] = "\211HDF\r\n\032\n";

/* Whether nothing follows but n, M, q and, as it may be, the number of known solutions and these. */
static bool is_plain_lcp(tokens t) {
  int n, known;
  double x;
  if (!tokens_integer(&t, &n) || n == 0) return false;
  for (long long k = 0; k < (long long)n * (n + 1); k++)
    if (!tokens_number(&t, &x)) return false;
  if (tokens_end(&t)) return true;
  if (!tokens_integer(&t, &known)) return false;
  for (long long k = 0; k < (long long)known * n; k++)
    if (!tokens_number(&t, &x)) return false;
  return tokens_end(&t);
}

static ss_status read_format(tokens *t, ss_cp_file *out, ss_error *error) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (strncmp(t->at, byte_order_mark, 3) == 0) t->at += 3;
  char first[64] = "";
  const bool commented = *t->at == '#';
  (void)tokens_peek(t, first, sizeof first);
  if (strcmp(first, "stickslip-problem") == 0) return read_own(t, out, error);
  if (strcmp(first, "problem") == 0) return read_listing(t, out, error);
  if (commented) return read_plain_lcp(t, out, error);
  tokens again = *t;
  const ss_status status = read_siconos(t, out, error);
  return status == SS_ERROR_INPUT && is_plain_lcp(again) ? read_plain_lcp(&again, out, error) : status;
}

static ss_status read_text(const char *path, ss_cp_file *out, ss_error *error) {
  char *text = NULL;
  size_t length = 0;
  ss_status status = ss_text_file_read(path, SS_CP_FILE_LIMIT, &text, &length, error);
  if (status) return status;
  tokens t = {.path = path, .text = text, .at = text, .arena = out->memory};
  if (length >= 8 && memcmp(text, signature, 8) == 0)
    status = ss_fail(error, SS_ERROR_UNSUPPORTED, "HDF5 files cannot be read from a pipe");
  else if (strlen(text) < length)
    status = ss_fail(error, SS_ERROR_INPUT, "not a problem file of a known format: it holds bytes that are not text");
  else
    status = read_format(&t, out, error);
  ss_free(text);
  return status;
}

/* Pipes are not opened: what is read from them is gone. */
static bool is_hdf5(const char *path) {
  struct stat about;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
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
