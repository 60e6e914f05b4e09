#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Names of files and what stands in them may contain control characters, which a terminal must not see. */
static void make_printable(char *text) {
  for (unsigned char *c = (unsigned char *)text; *c; c++) {
    if ((*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7F) *c = '?';
    if (*c == 0xC2 && c[1] >= 0x80 && c[1] < 0xA0) c[0] = c[1] = '?'; /* U+0080 .. U+009F */
  }
}

int report_error(const ss_error *given) {
  ss_error copy = *given;
  const ss_error *error = &copy;
  make_printable(copy.file);
  make_printable(copy.message);
  if (error->file[0] && error->line > 0)
    (void)fprintf(stderr, "%s:%d:%d: %s\n", error->file, error->line, error->column, error->message);
  else if (error->file[0])
    (void)fprintf(stderr, "%s: %s\n", error->file, error->message);
  else
    (void)fprintf(stderr, "stickslip: %s\n", error->message);
  return error->status == SS_ERROR_UNCERTIFIED ? EXIT_FAILED : EXIT_USAGE;
}

int usage_error(const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  make_printable(text);
  (void)fprintf(stderr, "stickslip: %s\n", text);
  return EXIT_USAGE;
}

enum { WORD_LIMIT = 40 };

/* Levenshtein distance; words longer than WORD_LIMIT count as far away. */
static int edit_distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n > WORD_LIMIT || m > WORD_LIMIT) return WORD_LIMIT;
  int row[WORD_LIMIT + 1];
  for (size_t j = 0; j <= m; j++) row[j] = (int)j;
  for (size_t i = 1; i <= n; i++) {
    int diagonal = row[0];
    row[0] = (int)i;
    for (size_t j = 1; j <= m; j++) {
      int best = diagonal + (a[i - 1] != b[j - 1]);
      if (row[j] + 1 < best) best = row[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      diagonal = row[j];
      row[j] = best;
    }
  }
  return row[m];
}

const char *nearest_name(const char *word, const void *table, size_t stride) {
  const char *nearest = NULL;
  int best = 3; /* further away than two typing errors is another word */
  for (const char *row = table;; row += stride) {
    const char *name;
    memcpy(&name, row, sizeof name);
    if (!name) return nearest;
    const bool abbreviated = strlen(word) >= 3 && strncmp(name, word, strlen(word)) == 0;
    const int distance = abbreviated ? 0 : edit_distance(word, name);
    if (distance < best && distance < (int)strlen(name)) {
      best = distance;
      nearest = name;
    }
  }
}

double wall_clock(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
