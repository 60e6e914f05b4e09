#include "json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

json_t *json_text(const char *text) {
  if (!text) return json_null();
  json_t *value = json_string(text);
  if (value) return value;
  char *copy = malloc(strlen(text) + 1);
  if (!copy) return NULL;
  for (size_t i = 0; i <= strlen(text); i++) copy[i] = (char)((unsigned char)text[i] < 128 ? text[i] : '?');
  value = json_string(copy);
  free(copy);
  return value;
}

json_t *json_numbers(const double *values, int n) {
  json_t *array = json_array();
  for (int i = 0; array && i < n; i++) {
    if (json_array_append_new(array, json_number(values[i]))) {
      json_decref(array);
      return NULL;
    }
  }
  return array;
}

json_t *json_vector(ss_vec3 v) { return json_numbers((const double[]){v.x, v.y, v.z}, 3); }

json_t *json_quaternion(ss_quat q) { return json_numbers((const double[]){q.w, q.x, q.y, q.z}, 4); }

int json_print(json_t *root) {
  if (!root) return usage_error("out of memory");
  const int failed = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  json_decref(root);
  if (failed || putchar('\n') == EOF) return usage_error("cannot write to standard output");
  return EXIT_DONE;
}
