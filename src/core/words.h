/* Words in messages: text from outside made printable, near misses, lists of what is allowed, places. */
#ifndef SS_CORE_WORDS_H
#define SS_CORE_WORDS_H

#include <stickslip/base.h>

/* A copy of text that is safe to print: control characters become '?', what is long is cut between characters. Use it
 * inside the call that formats the message: ss_printable(name).text */
typedef struct ss_printable_text {
  char text[72];
} ss_printable_text;
ss_printable_text ss_printable(const char *text);

/* "a" or "an", as the word wants it. */
const char *ss_article(const char *word);

/* The candidate that a mistyped word probably meant: start from {.word = word}, offer all candidates, look at best. */
typedef struct ss_nearest {
  const char *word;
  const char *best; /* NULL: none is near */
  int distance;
} ss_nearest;
void ss_nearest_offer(ss_nearest *nearest, const char *candidate);

/* "a, b, c", cut with "..." where it gets too long for a message; start from {0}. */
typedef struct ss_word_list {
  char text[300];
  size_t used;
  bool full;
} ss_word_list;
void ss_word_list_add(ss_word_list *list, const char *word);

/* Hands a failure on to the caller. */
#define SS_TRY(call)                                                                                                   \
  do {                                                                                                                 \
    const ss_status status_ = (call);                                                                                  \
    if (status_ != SS_OK) return status_;                                                                              \
  } while (0)

/* ss_fail with a place; file may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ss_status
ss_fail_place(ss_error *error, ss_status status, const char *file, ss_mark mark, const char *format, ...);

#endif
