/* Parameter studies: what they observe against formulas, independence of the number of threads, failures, messages. */
#include "cli_runner.h"

#include <math.h>

static const char block[] =
    "parameters: {mu: 0.3, v: 2, m: 1}\n"
    "planar: xy\n"
    "gravity: [0, -10]\n"
    "materials: [{name: default, friction: mu}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1, 0], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: the-block, mass: m, freedom: [x, y], velocity: [v, 0], shapes: [{type: point}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 2, events: [stick-slip]}\n";

/* The way of a sliding block, v^2/(2 mu g), the heat, m v^2/2, and things over time. */
static void test_observations_are_right(void **state) {
  (void)state;
  write_text("block.yaml", block);
  write_text("study.yaml", "name: Brakes\n"
                           "scene: block.yaml\n"
                           "vary: {mu: [0.2, 0.4], v: {from: 1, to: 3, count: 3}}\n"
                           "observe:\n"
                           "  - the-block.x\n"
                           "  - {name: heat, value: energy.friction_loss/m}\n"
                           "  - {name: difference, value: the-block.x - v^2/(2*mu*10)}\n"
                           "  - max(the-block.vx)\n"
                           "  - {name: least, value: min(the-block.vx) + 0*t}\n"
                           "  - mean(the-block.vx)\n"
                           "  - {name: larger, value: \"max(the-block.x, 100)\"}\n"
                           "  - {name: nothing, value: 1/(the-block.x - the-block.x)}\n");
  json_t *root = expect_json("sweep study.yaml --json", 0, NULL);
  assert_string_equal(json_string_value(json_object_get(root, "study")), "Brakes");
  const json_t *runs = json_object_get(root, "runs");
  assert_int_equal(json_array_size(runs), 6);
  for (size_t i = 0; i < 6; i++) {
    const json_t *run = json_array_get(runs, i), *o = json_object_get(run, "observed");
    const double mu = i < 3 ? 0.2 : 0.4, v = 1 + (double)(i % 3), way = v * v / (20 * mu);
    assert_true(fabs(number(json_object_get(run, "point"), "mu") - mu) < 1e-15);
    assert_true(fabs(number(json_object_get(run, "point"), "v") - v) < 1e-15);
    assert_true(fabs(number(o, "the-block.x") - way) < 1e-9);
    assert_true(fabs(number(o, "difference")) < 1e-9);
    assert_true(fabs(number(o, "heat") - v * v / 2) < 1e-9);
    assert_true(number(o, "max(the-block.vx)") == v);
    assert_true(fabs(number(o, "least")) < 1e-12);
    assert_true(fabs(number(o, "mean(the-block.vx)") - way / 2) <
                1e-2 * way); /* over 2 seconds, by the trapezoidal rule */
    assert_true(number(o, "larger") == 100);
    assert_true(json_is_null(json_object_get(o, "nothing")));
    assert_true(json_is_true(json_object_get(run, "certified")));
  }
  json_decref(root);
}

static void test_threads_change_nothing(void **state) {
  (void)state;
  write_text("random.yaml", "scene: block.yaml\n"
                            "vary: {mu: {from: 0.1, to: 1}, v: {from: 0.01, to: 10, scale: log}, m: [1, 2, 3]}\n"
                            "sample: {random: 40, seed: 5}\n"
                            "scheme: [moreau, trapezoidal]\n"
                            "step: 0.02\n"
                            "observe: [the-block.x, energy.friction_loss, events.stick]\n");
  char *one = expect("sweep random.yaml --threads 1 --csv -", 0, NULL);
  for (int threads = 2; threads <= 5; threads++) {
    char arguments[64];
    (void)snprintf(arguments, sizeof arguments, "sweep random.yaml --threads %d --csv -", threads);
    char *several = expect(arguments, 0, NULL);
    assert_string_equal(several, one);
    free(several);
  }
  assert_non_null(strstr(
      one, "run,mu,v,m,scheme,the-block.x,energy.friction_loss,events.stick,certified,verdict,error,reproduce\n"));
  assert_non_null(strstr(one, ",moreau,"));
  assert_non_null(strstr(one, ",trapezoidal,"));
  int lines = 0;
  for (const char *c = one; *c; c++) lines += *c == '\n';
  assert_int_equal(lines, 41);
  free(one);
}

/* Runs that a value makes impossible are named with their reason; the others are done. */
static void test_failures_are_listed(void **state) {
  (void)state;
  write_text("failing.yaml", "scene: block.yaml\n"
                             "vary: {m: [1, -1, 2]}\n"
                             "duration: 0.1\n"
                             "observe: the-block.x\n");
  char *out = expect("sweep failing.yaml --html failing.html --csv failing.csv", 1,
                     "run 1 (m = -1) failed: block.yaml:7:29: 'mass' must be positive");
  assert_non_null(strstr(out, "1 failed"));
  assert_non_null(strstr(out, "refused"));
  char *html = read_text("failing.html"), *csv = read_text("failing.csv");
  assert_non_null(strstr(html, "<svg"));
  assert_non_null(strstr(html, "must be positive"));
  assert_null(strstr(html, "<script"));
  assert_non_null(strstr(csv, "1,-1,,0,refused,\"block.yaml:7:29: "));
  assert_non_null(strstr(csv, ",failing-runs/run-000001.yaml\n"));
  refuse("run failing-runs/run-000001.yaml", "run-000001.yaml:8:29: 'mass' must be positive"); /* it reproduces */
  free(out);
  free(html);
  free(csv);
}

static void test_resume_repeats_nothing(void **state) {
  (void)state;
  char *whole = expect("sweep study.yaml --csv -", 0, NULL);
  char *first = expect("sweep study.yaml --csv - --resume runs", 0, NULL);
  assert_string_equal(first, whole);
  /* Another value shows that it is read; a line that was cut short is done again. */
  char *journal = read_text("runs");
  char *lines[2] = {strchr(journal, '\n') + 1, NULL};
  lines[1] = strchr(lines[0], '\n') + 1;
  FILE *stream = fopen("runs", "wb");
  assert_non_null(stream);
  (void)fprintf(stream,
                "%.*s{\"run\":3,\"verdict\":\"certified\",\"observed\":[77,0,0,0,0,0,0,null]}\n{\"run\":4,\"cert",
                (int)(lines[0] - journal), journal);
  assert_int_equal(fclose(stream), 0);
  char *again = expect("sweep study.yaml --csv - --resume runs --threads 1", 0, NULL);
  assert_non_null(strstr(again, "3,0.40000000000000002,1,77,"));
  char *kept = read_text("runs");
  assert_null(strstr(kept, "cert{"));
  int n = 0;
  for (const char *c = kept; *c; c++) n += *c == '\n';
  assert_int_equal(n, 7);
  refuse("sweep failing.yaml --resume runs", "not runs of this study");
  free(whole);
  free(first);
  free(journal);
  free(again);
  free(kept);
}

static void test_mistakes_have_places(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"scene: block.yaml\nvery: {mu: [1]}\nobserve: the-block.x\n", "wrong.yaml:2:1: "},
      {"scene: block.yaml\nvary: {nu: [1]}\nobserve: the-block.x\n", "wrong.yaml:2:8: 'nu' cannot vary"},
      {"scene: block.yaml\nvary: {mu: []}\nobserve: the-block.x\n", "wrong.yaml:2:12: 'mu' has no values"},
      {"scene: block.yaml\nvary: {mu: {from: 1, to: 2}}\nobserve: the-block.x\n",
       "wrong.yaml:2:12: the range of 'mu' needs a count"},
      {"scene: block.yaml\nvary: {mu: {from: 1, to: 2, count: 1.5}}\nobserve: x\n", "wrong.yaml:2:36: 'count' must be"},
      {"scene: block.yaml\nvary: {mu: {from: 1, to: 2, step: 1}}\nobserve: x\n", "wrong.yaml:2:29: "},
      {"scene: block.yaml\nvary: {mu: {from: 0, to: 2, count: 3, scale: log}}\nobserve: x\n", "must be positive"},
      {"scene: block.yaml\nvary: {mu: [1]}\nobserve: [1 + the-blok.x]\n", "wrong.yaml:3:"},
      {"scene: block.yaml\nvary: {mu: [1]}\nobserve: [2*energy.works]\n",
       "3:13: there is no quantity 'energy.works'; did "
       "you mean 'energy.work'?"},
      {"scene: block.yaml\nvary: {mu: [1]}\nobserve: [the-block.x +]\n", "wrong.yaml:3:"},
      {"scene: block.yaml\nvary: {mu: [1]}\n", "observe"},
      {"scene: block.yaml\nobserve: the-block.x\n", "nothing varies"},
      {"scene: block.yaml\nvary: {mu: [1]}\nscheme: [moreau, moro]\nobserve: x\n",
       "wrong.yaml:3:18: unknown scheme 'moro'"},
      {"scene: block.yaml\nvary: {mu: [1]}\nsample: {random: 3}\nobserve: x\n", "seed"},
      {"scene: block.yaml\nvary: {mu: [1]}\nobserve: [the-block.x, the-block.x]\n", "observed twice"},
      {"scene: missing.yaml\nvary: {mu: [1]}\nobserve: x\n", "wrong.yaml:1:8: 'missing.yaml': cannot read the file"},
      {"vary: {mu: [1]}\nobserve: x\n", "scene"},
      {"bodies: []\n", "this is a scene, not a study; stickslip run"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text("wrong.yaml", cases[i].text);
    refuse("sweep wrong.yaml", cases[i].message);
  }
  refuse("run study.yaml", "this is a study, not a scene; stickslip sweep");
  refuse("sweep", "STUDY is missing");
  refuse("sweep nothing.yaml", "nothing.yaml");
  refuse("sweep study.yaml --threads 0", "--threads");
  refuse("sweep study.yaml --csv no/where.csv", "cannot write 'no/where.csv'");
}

static int set_up(void **state) {
  (void)state;
  return enter_empty_directory();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_observations_are_right), cmocka_unit_test(test_threads_change_nothing),
      cmocka_unit_test(test_failures_are_listed),    cmocka_unit_test(test_resume_repeats_nothing),
      cmocka_unit_test(test_mistakes_have_places),
  };
  return cmocka_run_group_tests(tests, set_up, remove_directory);
}
