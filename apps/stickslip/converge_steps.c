#include "converge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_LIMIT = 64 };

static ss_status parse_step(const char *text, size_t length, double *step, ss_error *error) {
  char copy[128];
  if (length == 0 || length >= sizeof copy) return ss_fail(error, SS_ERROR_INPUT, "--steps: expected a number");
  memcpy(copy, text, length);
  copy[length] = '\0';
  ss_error inner = {0};
  if (ss_expression_constant(copy, NULL, 0, step, &inner))
    return ss_fail(error, SS_ERROR_INPUT, "--steps '%s': %s", copy, inner.message);
  if (!(*step > 0)) return ss_fail(error, SS_ERROR_INPUT, "--steps: a step must be positive, got %g", *step);
  return SS_OK;
}

static ss_status parse_range(const char *text, const char *colon, double *steps, int *n, ss_error *error) {
  double first, last;
  if (parse_step(text, (size_t)(colon - text), &first, error)) return SS_ERROR_INPUT;
  if (parse_step(colon + 1, strlen(colon + 1), &last, error)) return SS_ERROR_INPUT;
  const double halvings = log2(first / last);
  if (halvings < -1e-9 || fabs(halvings - round(halvings)) > 1e-9)
    return ss_fail(error, SS_ERROR_INPUT, "--steps %s: the last step is not reached by halving the first", text);
  if (halvings >= STEPS_LIMIT) return ss_fail(error, SS_ERROR_INPUT, "--steps %s: too many steps", text);
  *n = (int)round(halvings) + 1;
  for (int i = 0; i < *n; i++) steps[i] = ldexp(first, -i);
  return SS_OK;
}

static ss_status parse_list(const char *text, double *steps, int *n, ss_error *error) {
  for (const char *item = text;; item++) {
    const size_t length = strcspn(item, ",");
    if (*n == STEPS_LIMIT) return ss_fail(error, SS_ERROR_INPUT, "--steps: too many steps");
    if (parse_step(item, length, &steps[*n], error)) return SS_ERROR_INPUT;
    ++*n;
    item += length;
    if (!*item) return SS_OK;
  }
}

ss_status steps_parse(const char *text, double **steps, int *n, ss_error *error) {
  *n = 0;
  *steps = calloc(STEPS_LIMIT, sizeof **steps);
  if (!*steps) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const char *colon = strchr(text, ':');
  return colon ? parse_range(text, colon, *steps, n, error) : parse_list(text, *steps, n, error);
}
