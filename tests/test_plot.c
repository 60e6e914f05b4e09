/* `stickslip plot` and `stickslip view` from the outside: files that appear, their content, messages, exit codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int command(const char *arguments) {
  char line[4096];
  (void)snprintf(line, sizeof line, "%s/stickslip %s >out 2>err", BINARY_DIR, arguments);
  const int status = system(line); // NOLINT(cert-env33-c)
  assert_true(WIFEXITED(status));
  return WEXITSTATUS(status);
}

static char *read_text(const char *path) {
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  enum { SIZE = 1 << 22 };
  char *text = calloc(1, SIZE);
  assert_non_null(text);
  assert_true(fread(text, 1, SIZE - 1, stream) > 0);
  (void)fclose(stream);
  return text;
}

static bool contains(const char *path, const char *part) {
  char *text = read_text(path);
  const bool found = strstr(text, part) != NULL;
  free(text);
  return found;
}

static int count(const char *path, const char *part) {
  char *text = read_text(path);
  int n = 0;
  for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) n++;
  free(text);
  return n;
}

static bool exists(const char *path) { return access(path, F_OK) == 0; }

static void expect_message(const char *arguments, const char *message) {
  assert_int_equal(command(arguments), 2);
  if (!contains("err", message)) fail_msg("'%s' does not say '%s'", arguments, message);
}

static void time_series(void **state) {
  (void)state;
  assert_int_equal(command("plot r.h5 --y ball.z --y ball.vz --title 'Up & down' -o a.svg"), 0);
  assert_true(contains("a.svg", "<svg xmlns"));
  assert_true(contains("a.svg", "Up &amp; down"));
  assert_true(contains("a.svg", ">ball.z<"));
  assert_true(contains("a.svg", ">ball.vz<"));
  assert_int_equal(count("a.svg", "stroke-linejoin"), 2); /* one line per series */
  assert_true(contains("a.svg", ">0.0<"));                /* a round tick */
}

static void several_results_and_phase_plots(void **state) {
  (void)state;
  assert_int_equal(command("plot r.h5 s.h5 --x ball.z --y ball.vz"), 0);
  assert_true(contains("out", "r: ball.vz"));
  assert_true(contains("out", "s: ball.vz"));
  assert_true(contains("out", ">ball.z<"));
}

static void logarithmic_axes(void **state) {
  (void)state;
  assert_int_equal(command("plot r.h5 --y energy.kinetic --log -o b.svg"), 0);
  assert_true(contains("b.svg", ">energy.kinetic<"));
  expect_message("plot r.h5 --y energy.elastic --log -o none.svg", "nothing to draw");
  assert_false(exists("none.svg"));
}

static void convergence_studies(void **state) {
  (void)state;
  FILE *study = fopen("study.json", "wb");
  assert_non_null(study);
  (void)fputs("{\"schemes\": [{\"scheme\": \"moreau\", \"rows\": [{\"h\": 0.1, \"position_error\": 1e-2},"
              "{\"h\": 0.05, \"position_error\": 2.5e-3}, {\"h\": 0.025, \"position_error\": null}]}]}",
              study);
  assert_int_equal(fclose(study), 0);
  assert_int_equal(command("plot study.json -o c.svg"), 0);
  assert_true(contains("c.svg", "order 2"));
  assert_int_equal(count("c.svg", "<circle"), 2); /* the missing error is left out */
  expect_message("plot study.json --y error -o none.svg", "position_error");
  expect_message("plot study.json r.h5 -o none.svg", "do not go into one plot");
}

static void mistakes_are_explained(void **state) {
  (void)state;
  expect_message("plot r.h5", "--y is missing");
  expect_message("plot r.h5 --y bell.x", "BODY one of ball");
  expect_message("plot r.h5 --y energy.heat", "kinetic");
  expect_message("plot no-such-file.h5 --y t", "No such file");
  expect_message("plot r.h5 --y ball.x -o a.png", "SVG");
  expect_message("plot scene.yaml --y ball.x", "not a stickslip result");
  expect_message("plot r.h5 --y ball.x -o no-such-directory/a.svg", "cannot write");
}

static void reports_of_studies(void **state) {
  (void)state;
  FILE *study = fopen("study2.json", "wb");
  assert_non_null(study);
  (void)fputs(
      "{\"scene\": \"A <b>\", \"reference\": {\"scheme\": \"moreau\", \"step\": 1e-3}, \"schemes\": [{\"scheme\": "
      "\"moreau\", \"rows\": [{\"h\": 0.1, \"position_error\": 1e-2, \"velocity_error\": 1e-1, \"certified\": true},"
      "{\"h\": 0.05, \"position_error\": 2.5e-3, \"velocity_error\": 5e-2, \"certified\": false}]}]}",
      study);
  assert_int_equal(fclose(study), 0);
  assert_int_equal(command("report study2.json -o orders.html"), 0);
  assert_true(contains("orders.html", "A &lt;b&gt;"));
  assert_true(contains("orders.html", "<svg"));
  assert_true(contains("orders.html", "<td>2.500e-03</td>"));
  assert_true(contains("orders.html", "<td class=\"bad\">no</td>"));
  expect_message("report scene.yaml -o none.html", "not a stickslip result");
  assert_false(exists("none.html"));
}

/* Pages need the viewer in the build; without it the message says how to get it. */
static void pages(void **state) {
  (void)state;
  if (command("view scene.yaml") != 0) {
    assert_true(contains("err", "npm"));
    skip();
  }
  assert_true(contains("scene.html", "id=\"stickslip-data\">{\"format\""));
  assert_true(contains("out", "scene.html"));
  assert_int_equal(command("view r.h5 -o r.html"), 0);
  assert_true(contains("r.html", "\"contacts\":{"));
  assert_int_equal(command("report r.h5"), 0);
  assert_true(contains("r-report.html", "\"layout\":\"report\""));
  expect_message("view r.h5 --step 0.1", "is a result");
  expect_message("view no-such-file.yaml", "no-such-file.yaml");
  assert_int_equal(command("run scene.yaml --html run.html"), 0);
  assert_true(contains("run.html", "stickslip-data"));
}

int main(void) {
  static char directory[1024], line[1200];
  (void)snprintf(directory, sizeof directory, "%s/test_plot-XXXXXX", BINARY_DIR);
  if (!mkdtemp(directory) || chdir(directory)) return 1;
  FILE *scene = fopen("scene.yaml", "wb");
  if (!scene) return 1;
  (void)fputs("name: Ball\nworld: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
              "materials: [{name: default, friction: 0.3, restitution: 0.5}]\n"
              "bodies: [{name: ball, mass: 1, position: [0, 0, 1], shapes: [{type: sphere, radius: 0.1}]}]\n"
              "simulation: {scheme: trapezoidal, step: 2^-6, duration: 1}\n",
              scene);
  if (fclose(scene) || command("run scene.yaml -o r.h5") || command("run scene.yaml --step 2^-5 -o s.h5")) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(time_series),
      cmocka_unit_test(several_results_and_phase_plots),
      cmocka_unit_test(logarithmic_axes),
      cmocka_unit_test(convergence_studies),
      cmocka_unit_test(pages),
      cmocka_unit_test(mistakes_are_explained),
      cmocka_unit_test(reports_of_studies),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)snprintf(line, sizeof line, "rm -rf '%s'", directory);
  return system(line) == 0 ? failed : 1; // NOLINT(cert-env33-c)
}
