/* What shells and readers get from the tables of the command line: completion, the manual page; and converge --html. */
#include "cli_runner.h"

static const char scene_text[] =
    "name: Falling ball\n"
    "bodies:\n"
    "  - {name: ball, mass: 1, position: [0, 0, 1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {scheme: moreau, step: 2^-6, duration: 0.25}\n";

/* Runs a line of bash with the completion loaded; what it prints is in "completed". */
static char *complete(const char *words) {
  char line[4096];
  (void)snprintf(line, sizeof line,
                 "bash -c 'source <(%s/stickslip completion bash); COMP_WORDS=(%s); "
                 "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _stickslip; printf \"%%s \" \"${COMPREPLY[@]}\"' >completed",
                 BINARY_DIR, words);
  assert_int_equal(system(line), 0); // NOLINT(cert-env33-c)
  return read_text("completed");
}

static void expect_completion(const char *words, const char *expected) {
  char *found = complete(words);
  if (strcmp(found, expected) != 0) fail_msg("'%s' completes to '%s', not to '%s'", words, found, expected);
  free(found);
}

static void test_bash_completion(void **state) {
  (void)state;
  expect_completion("stickslip conv", "converge ");
  expect_completion("stickslip run --sch", "--scheme ");
  expect_completion("stickslip run --scheme trap", "trapezoidal ");
  expect_completion("stickslip list jo", "joints ");
  expect_completion("stickslip check ball.y", "ball.yaml ");
  expect_completion("stickslip completion z", "zsh ");
  expect_completion("stickslip export --to v", "vtk ");
  expect_completion("stickslip run --resume ball.y", "ball.yaml ");
  expect_completion("stickslip run --step x", " "); /* a number: nothing to offer */
}

/* Every option of every command is in both completions and in the manual. */
static void test_tables_are_complete(void **state) {
  (void)state;
  static const char *const options[] = {"--all-solutions", "--reference-scheme", "--log-x", "--html", "--set"};
  char *bash = expect("completion bash", 0, NULL), *zsh = expect("completion zsh", 0, NULL);
  char *manual = expect("man", 0, NULL);
  for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
    assert_non_null(strstr(bash, options[i]));
    assert_non_null(strstr(zsh, options[i]));
    char roff[64] = "";
    for (const char *c = options[i]; *c; c++) {
      const size_t used = strlen(roff);
      (void)snprintf(roff + used, sizeof roff - used, "%s%c", *c == '-' ? "\\" : "", *c);
    }
    if (!strstr(manual, roff)) fail_msg("the manual does not have %s", roff);
  }
  assert_true(strncmp(zsh, "#compdef stickslip\n", 19) == 0);
  assert_true(strncmp(manual, ".TH STICKSLIP 1", 15) == 0);
  assert_non_null(strstr(manual, ".SS \"stickslip converge"));
  free(bash);
  free(zsh);
  free(manual);
  refuse("completion fish", "bash and zsh");
  refuse("completion", "bash|zsh is missing");
}

/* The document is the one that `report` makes of the same study. */
static void test_converge_html(void **state) {
  (void)state;
  char *out = expect("converge ball.yaml --steps 2^-4:2^-6 --json --html direct.html", 0, NULL);
  write_text("study.json", out);
  free(out);
  free(expect("report study.json -o later.html", 0, NULL));
  char *direct = read_text("direct.html"), *later = read_text("later.html");
  assert_string_equal(direct, later);
  assert_non_null(strstr(direct, "<h1>Falling ball</h1>"));
  assert_non_null(strstr(direct, "<td>0.015625</td>"));
  free(direct);
  free(later);
}

static void test_converge_html_is_checked_first(void **state) {
  (void)state;
  refuse("converge ball.yaml --steps 2^-4:2^-6 --html no-such-directory/a.html", "cannot write");
  refuse("converge ball.yaml --steps 1:nonsense --html none.html", "nonsense");
  assert_false(exists("none.html"));
}

static int prepare(void **state) {
  (void)state;
  if (enter_empty_directory()) return -1;
  write_text("ball.yaml", scene_text);
  return 0;
}

static void test_bench(void **state) {
  (void)state;
  json_t *root = expect_json("bench ball.yaml --seconds 0 --json", 0, NULL);
  const json_t *row = json_array_get(json_object_get(root, "scenes"), 0);
  assert_string_equal(json_string_value(json_object_get(row, "scene")), "ball.yaml");
  assert_true(number(row, "steps") == 16 && number(row, "runs") == 1 && number(row, "steps_per_second") > 0);
  assert_true(json_is_true(json_object_get(row, "certified")));
  json_decref(root);
  refuse("bench --step 0.1", "name the scenes");
  refuse("bench missing.yaml", "missing.yaml");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bash_completion),
      cmocka_unit_test(test_tables_are_complete),
      cmocka_unit_test(test_bench),
      cmocka_unit_test(test_converge_html),
      cmocka_unit_test(test_converge_html_is_checked_first),
  };
  return cmocka_run_group_tests(tests, prepare, remove_directory);
}
