/* Runs the command line from tests: exit codes, stdout, stderr, JSON. */
#ifndef TESTS_CLI_RUNNER_H
#define TESTS_CLI_RUNNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[1024]; /* of this test's own files; the working directory of every command */

typedef struct outcome {
  int code;
  char *out, *err;
} outcome;

static inline char *read_text(const char *path) {
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  (void)fread(text, 1, (1 << 20) - 1, stream);
  (void)fclose(stream);
  return text;
}

static inline void write_text(const char *name, const char *text) {
  FILE *stream = fopen(name, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(text, 1, strlen(text), stream), strlen(text));
  assert_int_equal(fclose(stream), 0);
}

static const char *before = ""; /* shell commands that prepare the next run */

static inline outcome run(const char *arguments) {
  char command[4096];
  (void)snprintf(command, sizeof command, "%s %s/stickslip %s >out 2>err", before, BINARY_DIR, arguments);
  const int status = system(command); // NOLINT(cert-env33-c)
  assert_true(WIFEXITED(status));
  return (outcome){WEXITSTATUS(status), read_text("out"), read_text("err")};
}

/* Runs, checks the exit code, and that stderr contains `expected` (NULL: is empty). Returns stdout, to be freed. */
static inline char *expect(const char *arguments, int code, const char *expected) {
  const outcome o = run(arguments);
  if (o.code != code) print_error("stickslip %s: exit code %d\n%s%s", arguments, o.code, o.out, o.err);
  assert_int_equal(o.code, code);
  if (!expected)
    assert_string_equal(o.err, "");
  else if (!strstr(o.err, expected))
    fail_msg("stickslip %s: '%s' is not in: %s", arguments, expected, o.err);
  free(o.err);
  return o.out;
}

static inline void refuse(const char *arguments, const char *expected) {
  char *out = expect(arguments, 2, expected);
  assert_string_equal(out, "");
  free(out);
}

static inline json_t *expect_json(const char *arguments, int code, const char *expected) {
  char *out = expect(arguments, code, expected);
  json_error_t error;
  json_t *root = json_loads(out, 0, &error);
  if (!root) fail_msg("stickslip %s: not JSON: %s", arguments, error.text);
  free(out);
  return root;
}

static inline double number(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  if (!json_is_number(value)) fail_msg("'%s' is not a number", key);
  return json_number_value(value);
}

static inline bool exists(const char *path) { return access(path, F_OK) == 0; }

/* Set-up and tear-down of a group of tests. */

static inline int enter_empty_directory(void) {
  (void)snprintf(directory, sizeof directory, BINARY_DIR "/test-cli-XXXXXX");
  return !mkdtemp(directory) || chdir(directory) ? -1 : 0;
}

static inline int remove_directory(void **state) {
  (void)state;
  char command[2048];
  (void)snprintf(command, sizeof command, "rm -r '%s'", directory);
  return chdir("/") || system(command); // NOLINT(cert-env33-c)
}

#endif
