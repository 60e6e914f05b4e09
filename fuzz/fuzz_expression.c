/* Texts as expressions, constant and of time: a finite number, or an error with a place in the text. */
#include "core/arena.h"

#include <stickslip/expression.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const ss_parameter parameters[] = {{"mu", 0.5}, {"L", 2}};
  char *text = malloc(size + 1);
  ss_arena *arena = ss_arena_create();
  if (!text || !arena) abort();
  if (size) memcpy(text, data, size);
  text[size] = '\0';
  const int length = (int)strlen(text);
  ss_error error = {0};
  double value = NAN;
  const ss_status status = ss_expression_constant(text, parameters, 2, &value, &error);
  if (status ? !error.message[0] || error.column < 1 || error.column > length + 1 : !isfinite(value)) abort();
  const ss_expression *expression = NULL;
  if (ss_expression_parse(text, parameters, 2, true, arena, &expression, NULL) == SS_OK) {
    (void)ss_expression_value(expression, 0.25);
    (void)ss_expression_hash(expression);
  }
  ss_arena_destroy(arena);
  free(text);
  return 0;
}
