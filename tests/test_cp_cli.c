/* stickslip solve: output, JSON, exit codes. */
#include "cp_problems.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char problem_path[256], broken_path[256], output[65536];

static int run_solve(const char *arguments) {
  char command[1024];
  (void)snprintf(command, sizeof command, "%s/stickslip solve %s 2>&1", BINARY_DIR, arguments);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  const size_t length = fread(output, 1, sizeof output - 1, pipe);
  output[length] = '\0';
  const int status = pclose(pipe);
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static int run_on(const char *path, const char *options) {
  char arguments[512];
  (void)snprintf(arguments, sizeof arguments, "%s %s", path, options);
  return run_solve(arguments);
}

static json_t *first_line(void) {
  char *end = strchr(output, '\n');
  assert_non_null(end);
  json_t *object = json_loadb(output, (size_t)(end - output), 0, NULL);
  assert_non_null(object);
  return object;
}

static void json_has_the_contract(void **state) {
  (void)state;
  assert_int_equal(run_on(problem_path, "--json"), 0);
  json_t *o = first_line();
  assert_string_equal(json_string_value(json_object_get(o, "file")), problem_path);
  assert_string_equal(json_string_value(json_object_get(o, "kind")), "general");
  assert_int_equal(json_integer_value(json_object_get(o, "n")), 2);
  assert_string_equal(json_string_value(json_object_get(o, "solver")), "auto");
  assert_string_equal(json_string_value(json_object_get(o, "status")), "solved");
  assert_true(json_number_value(json_object_get(o, "residual")) < 1e-14);
  assert_true(json_is_integer(json_object_get(o, "iterations")));
  assert_true(json_number_value(json_object_get(o, "seconds")) > 0);
  assert_int_equal(json_array_size(json_object_get(o, "z")), 2);
  json_decref(o);
}

static void all_solutions(void **state) {
  (void)state;
  assert_int_equal(run_on(problem_path, "--all-solutions --json"), 0);
  json_t *o = first_line();
  assert_int_equal(json_integer_value(json_object_get(o, "count")), 3);
  assert_int_equal(json_array_size(json_object_get(o, "solutions")), 3);
  const json_t *states = json_object_get(o, "states");
  assert_int_equal(json_array_size(states), 3);
  unsigned seen = 0; /* each contact state once */
  for (size_t k = 0; k < 3; k++) {
    const char *name = json_string_value(json_array_get(json_array_get(states, k), 0));
    assert_non_null(name);
    seen |= strcmp(name, "open") == 0 ? 1u : strcmp(name, "sticks") == 0 ? 2u : strcmp(name, "slides") == 0 ? 4u : 0u;
  }
  assert_int_equal(seen, 7);
  json_decref(o);
}

/* With all solutions the object has the keys of every result besides. */
static void all_solutions_and_the_contract(void **state) {
  (void)state;
  static const char *const keys[] = {"file",       "kind",    "n", "solver",    "status", "residual",
                                     "iterations", "seconds", "z", "solutions", "states", "count"};
  assert_int_equal(run_on(problem_path, "--all-solutions --json"), 0);
  json_t *o = first_line();
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) assert_non_null(json_object_get(o, keys[k]));
  json_decref(o);
  assert_int_equal(run_on(problem_path, "--all-solutions --all-solvers"), 0);
  assert_non_null(strstr(output, "3 solutions"));
  assert_non_null(strstr(output, "lemke"));
}

/* z1 + z2 = 1: two corners are listed, and that there is more. */
static void a_continuum_is_not_two_solutions(void **state) {
  (void)state;
  char path[300];
  (void)snprintf(path, sizeof path, "%s.continuum", problem_path);
  owned_cp p = make_lcp(2, (double[]){1, 1, 1, 1}, (double[]){-1, -1});
  assert_int_equal(ss_cp_write(&p.cp, path, NULL), SS_OK);
  owned_free(&p);
  assert_int_equal(run_on(path, "--all-solutions"), 0);
  assert_non_null(strstr(output, "2 solutions, not isolated"));
  assert_int_equal(remove(path), 0);
}

static void a_person_reads_names_and_the_answer(void **state) {
  (void)state;
  assert_int_equal(run_on(problem_path, ""), 0);
  assert_non_null(strstr(output, "residual"));
  assert_non_null(strstr(output, "  z = "));
}

static void diagnosis(void **state) {
  (void)state;
  assert_int_equal(run_on(problem_path, "--json"), 0); /* small: without being asked */
  json_t *o = first_line();
  const json_t *d = json_object_get(o, "diagnosis");
  assert_string_equal(json_string_value(json_object_get(d, "solutions")), "several");
  assert_true(json_is_true(json_object_get(d, "positive_definite")));
  assert_true(json_is_false(json_object_get(d, "p_matrix")));
  assert_true(json_is_true(json_object_get(d, "copositive")));
  assert_int_equal(json_integer_value(json_object_get(d, "found")), 3);
  json_decref(o);
  assert_int_equal(run_on(problem_path, "--diagnose"), 0);
  assert_non_null(strstr(output, "solutions: several"));
}

static void all_solvers(void **state) {
  (void)state;
  assert_int_equal(run_on(problem_path, "--all-solvers --json"), 0);
  int lines = 0, solvers = 0;
  for (const char *c = output; *c; c++) lines += *c == '\n';
  for (const ss_cp_solver_info *s = ss_cp_solvers(); s->name; s++) solvers++;
  assert_int_equal(lines, solvers);
  assert_int_equal(run_on(problem_path, "--solver lemke"), 0);
  assert_non_null(strstr(output, "lemke"));
}

static void options_that_make_no_sense(void **state) {
  (void)state;
  assert_int_equal(run_on(problem_path, "--tolerance -1"), 2); /* nothing would be a solution */
  assert_int_equal(run_on(problem_path, "--tolerance 0"), 2);
  assert_non_null(strstr(output, "--tolerance must be positive"));
  assert_int_equal(run_on(problem_path, "--iterations 4294967297"), 2);
  assert_non_null(strstr(output, "--iterations must be at most"));
  assert_int_equal(run_on(problem_path, "--solver lemke --all-solvers"), 2);
  assert_non_null(strstr(output, "exclude"));
}

static void from_a_pipe(void **state) {
  (void)state;
  char arguments[512];
  (void)snprintf(arguments, sizeof arguments, "/dev/stdin --json < /dev/null; cat %s | %s/stickslip solve /dev/stdin",
                 problem_path, BINARY_DIR);
  assert_int_equal(run_solve(arguments), 0);
  assert_non_null(strstr(output, "solved"));
}

/* Each result is there as soon as it is known: the second problem is a pipe that nobody has written to yet. */
static void results_can_be_followed(void **state) {
  (void)state;
  char pipe_path[300], command[1024];
  (void)snprintf(pipe_path, sizeof pipe_path, "%s.pipe", problem_path);
  assert_int_equal(mkfifo(pipe_path, 0600), 0);
  (void)snprintf(command, sizeof command, "%s/stickslip solve %s %s --json 2>/dev/null", BINARY_DIR, problem_path,
                 pipe_path);
  FILE *results = popen(command, "r");
  assert_non_null(results);
  (void)alarm(30); /* instead of waiting for ever */
  assert_non_null(fgets(output, sizeof output, results));
  json_decref(first_line());
  const int end = open(pipe_path, O_WRONLY);
  assert_true(end >= 0);
  assert_int_equal(close(end), 0);
  const int status = pclose(results);
  (void)alarm(0);
  assert_int_equal(remove(pipe_path), 0);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2); /* empty is no problem file */
}

static void too_many_combinations_names_the_file(void **state) {
  (void)state;
  enum { N = 40 };
  double G[N * N] = {0}, g[N];
  for (int i = 0; i < N; i++) {
    G[i * N + i] = 1;
    g[i] = -1;
  }
  owned_cp p = make_lcp(N, G, g);
  assert_int_equal(ss_cp_write(&p.cp, broken_path, NULL), SS_OK);
  owned_free(&p);
  assert_int_equal(run_on(broken_path, "--all-solutions"), 2);
  char expected[512];
  (void)snprintf(expected, sizeof expected, "%s: too large", broken_path);
  assert_non_null(strstr(output, expected));
}

static void exit_codes(void **state) {
  (void)state;
  assert_int_equal(run_solve(""), 2);
  assert_int_equal(run_on(broken_path, ""), 2);
  assert_int_equal(run_on("/nowhere/at/all", ""), 2);
  assert_int_equal(run_on(problem_path, "--solver magic"), 2);
  assert_non_null(strstr(output, "magic"));
  owned_cp p = make_lcp(2, (double[]){0, 0, 0, 0}, (double[]){-1, 1}); /* has no solution */
  assert_int_equal(ss_cp_write(&p.cp, broken_path, NULL), SS_OK);
  owned_free(&p);
  assert_int_equal(run_on(broken_path, "--json"), 1);
  json_t *o = first_line();
  assert_string_equal(json_string_value(json_object_get(o, "status")), "ray");
  assert_string_equal(json_string_value(json_object_get(json_object_get(o, "diagnosis"), "solutions")), "none");
  json_decref(o);
}

static int set_up(void **state) {
  (void)state;
  (void)snprintf(problem_path, sizeof problem_path, "%s/cp_cli_%ld.problem", BINARY_DIR, (long)getpid());
  (void)snprintf(broken_path, sizeof broken_path, "%s/cp_cli_broken_%ld.problem", BINARY_DIR, (long)getpid());
  owned_cp p = owned_create(2, 1); /* Painleve: three solutions */
  memcpy(p.G, (double[]){1, 2, 2, 5}, 4 * sizeof(double));
  memcpy(p.g, (double[]){0.3, 1.5}, 2 * sizeof(double));
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.8});
  const ss_status status = ss_cp_write(&p.cp, problem_path, NULL);
  owned_free(&p);
  FILE *file = fopen(broken_path, "w");
  if (status || !file) return -1;
  (void)fputs("stickslip-problem 1\nrows two\n", file);
  return fclose(file);
}

static int tear_down(void **state) {
  (void)state;
  return remove(problem_path) || remove(broken_path) ? -1 : 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(json_has_the_contract),
      cmocka_unit_test(all_solutions),
      cmocka_unit_test(diagnosis),
      cmocka_unit_test(all_solvers),
      cmocka_unit_test(all_solutions_and_the_contract),
      cmocka_unit_test(a_continuum_is_not_two_solutions),
      cmocka_unit_test(a_person_reads_names_and_the_answer),
      cmocka_unit_test(options_that_make_no_sense),
      cmocka_unit_test(from_a_pipe),
      cmocka_unit_test(exit_codes),
      cmocka_unit_test(results_can_be_followed),
      cmocka_unit_test(too_many_combinations_names_the_file),
  };
  return cmocka_run_group_tests_name("cp_cli", tests, set_up, tear_down);
}
