/* JSON output: numbers that round-trip, no NaN, text that is always valid. */
#ifndef JSON_H
#define JSON_H

#include "cli.h"

#include <jansson.h>

json_t *json_number(double value);   /* null where it is not finite: JSON has no NaN */
json_t *json_text(const char *text); /* null for NULL; bytes that are not UTF-8 become '?' */
json_t *json_vector(ss_vec3 v);      /* [x, y, z] */
json_t *json_quaternion(ss_quat q);  /* [w, x, y, z] */
json_t *json_numbers(const double *values, int n);

/* Prints and releases; NULL stands for an object that ran out of memory. Returns an exit code. */
int json_print(json_t *root);

#endif
