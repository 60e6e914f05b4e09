/* Studies, boundary-value problems and convergence on MPI ranks: the same bytes as on threads, also after kills. Skipped
 * where there is no mpirun or the program was built without MPI. */
#include "cli_runner.h"

#include <sys/stat.h>

enum { SKIPPED = 77 };

static const char launcher[] = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                               "OMPI_MCA_rmaps_base_oversubscribe=1 ASAN_OPTIONS=detect_leaks=0 mpirun -n ";

static bool same_files(const char *a, const char *b) {
  struct stat first, second;
  if (stat(a, &first) || stat(b, &second) || first.st_size != second.st_size || first.st_size == 0) return false;
  char *x = read_text(a), *y = read_text(b);
  const bool same = memcmp(x, y, (size_t)first.st_size < (1 << 20) ? (size_t)first.st_size : (1 << 20)) == 0;
  free(x);
  free(y);
  return same;
}

static void on_ranks(int n) {
  static char text[sizeof launcher + 8];
  (void)snprintf(text, sizeof text, "%s%d", launcher, n);
  before = n ? text : "";
}

static void run_quietly(const char *arguments, int code) {
  const outcome o = run(arguments);
  if (o.code != code) print_error("%s stickslip %s: exit code %d\n%s%s", before, arguments, o.code, o.out, o.err);
  assert_int_equal(o.code, code);
  free(o.out);
  free(o.err);
}

static void write_study(void) {
  write_text("block.yaml", "parameters: {mu: 0.3, v: 2, m: 1}\n"
                           "planar: xy\n"
                           "materials: [{name: default, friction: mu}]\n"
                           "world: {shapes: [{type: half-space, normal: [0, 1, 0], offset: 0}]}\n"
                           "bodies:\n"
                           "  - {name: block, mass: m, freedom: [x, y], velocity: [v, 0], shapes: [{type: point}]}\n"
                           "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, events: [stick-slip]}\n");
  write_text("study.yaml", "scene: block.yaml\n"
                           "vary: {mu: {from: 0.1, to: 1}, v: {mean: 2, deviation: 1}, m: {from: -0.1, to: 1}}\n"
                           "sample: {latin: 600, seed: 5}\n"
                           "scheme: [moreau, trapezoidal]\n"
                           "observe: [block.x, energy.friction_loss, max(block.vx)]\n");
}

/* Some runs fail: masses below zero. */
static void test_ranks_change_nothing(void **state) {
  (void)state;
  write_study();
  on_ranks(0);
  run_quietly("sweep study.yaml --threads 1 -o a.h5 --csv a.csv", 1);
  assert_true(same_files("a.csv", "a.csv"));
  run_quietly("sweep study.yaml --threads 4 -o b.h5 --csv b.csv", 1);
  assert_true(same_files("a.csv", "b.csv") && same_files("a.h5", "b.h5"));
  static const struct {
    int ranks;
    const char *arguments;
  } cases[] = {{1, "sweep study.yaml -o b.h5 --csv b.csv"},
               {2, "sweep study.yaml -o b.h5 --csv b.csv"},
               {2, "sweep study.yaml -o b.h5 --csv b.csv --threads 2"},
               {4, "sweep study.yaml -o b.h5 --csv b.csv"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    on_ranks(cases[i].ranks);
    (void)remove("b.csv");
    (void)remove("b.h5");
    run_quietly(cases[i].arguments, 1);
    assert_true(same_files("a.csv", "b.csv") && same_files("a.h5", "b.h5"));
  }
}

/* One of two ranks is killed, three times; the journals of both are taken up, also by another number of ranks. */
static void test_killed_ranks_go_on(void **state) {
  (void)state;
  write_text("longer.yaml", "scene: block.yaml\n"
                            "vary: {mu: {from: 0.1, to: 1}, v: {mean: 2, deviation: 1}}\n"
                            "sample: {random: 1500, seed: 5}\n"
                            "step: 0.002\n"
                            "observe: [block.x, energy.friction_loss]\n");
  on_ranks(0);
  run_quietly("sweep longer.yaml -o a.h5 --csv a.csv", 0);
  char command[2000];
  int killed = 0;
  for (int kill = 0; kill < 3; kill++) {
    (void)snprintf(
        command, sizeof command,
        "%s2 %s/stickslip sweep longer.yaml -o b.h5 --csv b.csv --resume journal >out 2>err & job=$!; have=$(cat "
        "journal* "
        "2>/dev/null | wc -l); for i in $(seq 400); do [ $(cat journal* 2>/dev/null | wc -l) -gt $((have + 9)) ] && "
        "break; sleep 0.02; done; "
        "for c in $(cat /proc/$job/task/*/children); do kill -9 $c; break; done; wait $job",
        launcher, BINARY_DIR);
    (void)!system(command); // NOLINT(cert-env33-c)
    char *told = read_text("err");
    killed += strstr(told, "signal 9") != NULL;
    free(told);
  }
  assert_true(killed > 0);
  char *journal = read_text("journal");
  assert_non_null(strstr(journal, "\"run\":"));
  free(journal);
  on_ranks(4);
  run_quietly("sweep longer.yaml -o b.h5 --csv b.csv --resume journal", 0);
  assert_true(same_files("a.csv", "b.csv") && same_files("a.h5", "b.h5"));
  /* once more: nothing is left to do */
  on_ranks(0);
  run_quietly("sweep longer.yaml -o b.h5 --csv b.csv --resume journal", 0);
  assert_true(same_files("a.csv", "b.csv") && same_files("a.h5", "b.h5"));
}

/* JSON but for what the clock says. */
static json_t *without_times(const char *arguments) {
  json_t *root = expect_json(arguments, 0, NULL);
  (void)json_object_del(root, "wall_seconds");
  (void)json_object_del(json_object_get(root, "reference"), "seconds");
  const char *const lists[] = {"rows", "schemes"};
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < json_array_size(json_object_get(root, lists[k])); i++) {
      json_t *item = json_array_get(json_object_get(root, lists[k]), i), *rows = json_object_get(item, "rows");
      (void)json_object_del(item, "seconds");
      for (size_t j = 0; j < json_array_size(rows); j++) (void)json_object_del(json_array_get(rows, j), "seconds");
    }
  return root;
}

static void test_starts_and_rows_on_ranks(void **state) {
  (void)state;
  char commands[2][400];
  (void)snprintf(commands[0], sizeof commands[0], "bvp %s/scenes/bvp-throw.yaml --starts 5 --json", SOURCE_DIR);
  (void)snprintf(commands[1], sizeof commands[1],
                 "converge %s/scenes/double-pendulum-wall.yaml --steps 2^-5:2^-7 --schemes trapezoidal,moreau --json",
                 SOURCE_DIR);
  for (int i = 0; i < 2; i++) {
    on_ranks(0);
    json_t *one = without_times(commands[i]);
    on_ranks(3);
    json_t *three = without_times(commands[i]);
    assert_true(json_equal(one, three));
    json_decref(one);
    json_decref(three);
  }
}

static void test_mistakes_are_told_once(void **state) {
  (void)state;
  write_text("wrong.yaml", "scene: block.yaml\nvary: {nu: [1]}\nobserve: block.x\n");
  on_ranks(3);
  const outcome o = run("sweep wrong.yaml");
  assert_int_equal(o.code, 2);
  const char *first = strstr(o.err, "wrong.yaml:2:8: 'nu' cannot vary");
  assert_non_null(first);
  assert_null(strstr(first + 1, "wrong.yaml:2:8"));
  free(o.out);
  free(o.err);
}

static int set_up(void **state) {
  (void)state;
  return enter_empty_directory();
}

int main(void) {
  if (system("command -v mpirun >/dev/null 2>&1") != 0) return SKIPPED;                 // NOLINT(cert-env33-c)
  if (system(BINARY_DIR "/stickslip --version | grep -q without") == 0) return SKIPPED; // NOLINT(cert-env33-c)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ranks_change_nothing),
      cmocka_unit_test(test_killed_ranks_go_on),
      cmocka_unit_test(test_starts_and_rows_on_ranks),
      cmocka_unit_test(test_mistakes_are_told_once),
  };
  return cmocka_run_group_tests(tests, set_up, remove_directory);
}
