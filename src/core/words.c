#include "core/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_continuation(char c) { return ((unsigned char)c & 0xC0) == 0x80; }

ss_printable_text ss_printable(const char *text) {
  ss_printable_text out;
  const size_t room = sizeof out.text - sizeof "...";
  size_t n = strlen(text);
  const bool cut = n > room;
  if (cut)
    for (n = room; n > 0 && is_continuation(text[n]);) n--;
  for (size_t i = 0; i < n; i++) {
    const unsigned char c = (unsigned char)text[i];
    out.text[i] = text[i];
    if (c < 0x20 || c == 0x7F) out.text[i] = '?';
    /* U+0080 .. U+009F: the other control characters, as C2 80 .. C2 9F */
    if (c == 0xC2 && i + 1 < n && (unsigned char)text[i + 1] < 0xA0) {
      out.text[i] = out.text[i + 1] = '?';
      i++;
    }
  }
  memcpy(out.text + n, cut ? "..." : "", cut ? sizeof "..." : 1);
  return out;
}

const char *ss_article(const char *word) { return word[0] && strchr("aeio", word[0]) ? "an" : "a"; }

enum { LONGEST = 32 }; /* words of scenes are shorter; names above are not compared */

static int smaller(int a, int b) { return a < b ? a : b; }

/* Edits (insert, delete, replace, exchange neighbours) that turn a into b. */
static int edit_distance(const char *a, int n, const char *b, int m) {
  int d[LONGEST + 1][LONGEST + 1];
  for (int i = 0; i <= n; i++) d[i][0] = i;
  for (int j = 0; j <= m; j++) d[0][j] = j;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      d[i][j] = smaller(smaller(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[n][m];
}

void ss_nearest_offer(ss_nearest *nearest, const char *candidate) {
  const size_t n = strlen(nearest->word), m = strlen(candidate);
  if (n > LONGEST || m > LONGEST || m < 2) return; /* every letter is near to a one-letter name: no help */
  const int distance = edit_distance(nearest->word, (int)n, candidate, (int)m);
  const int allowed = n <= 3 ? 1 : (int)(n + 2) / 3;
  if (distance > allowed || (nearest->best && distance >= nearest->distance)) return;
  nearest->best = candidate;
  nearest->distance = distance;
}

void ss_word_list_add(ss_word_list *list, const char *word) {
  if (list->full) return;
  const ss_printable_text shown = ss_printable(word);
  const char *separator = list->used ? ", " : "";
  const size_t room = sizeof list->text - list->used - sizeof ", ...";
  if (strlen(separator) + strlen(shown.text) > room) {
    list->full = true;
    list->used += (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, "%s...", separator);
    return;
  }
  list->used +=
      (size_t)snprintf(list->text + list->used, sizeof list->text - list->used, "%s%s", separator, shown.text);
}

ss_status ss_fail_place(ss_error *error, ss_status status, const char *file, ss_mark mark, const char *format, ...) {
  if (!error) return status;
  char message[sizeof error->message];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  (void)ss_fail(error, status, "%s", message);
  error->line = mark.line;
  error->column = mark.column;
  if (file) (void)snprintf(error->file, sizeof error->file, "%s", file);
  return status;
}
