/* The command line on a user-defined system in a shared library, the woodpecker of examples/libraries. */
#include "cli_runner.h"

#include <math.h>

#define TOY BINARY_DIR "/woodpecker.so"

static void runs_and_records(void **state) {
  (void)state;
  json_t *root = expect_json("run " TOY " --duration 0.3 -o toy.h5 --csv toy.csv --json", 0, NULL);
  const json_t *phi = json_object_get(json_object_get(json_object_get(root, "final"), "coordinates"), "phi_S");
  assert_true(isfinite(number(phi, "q")) && isfinite(number(phi, "v")));
  assert_true(json_is_true(json_object_get(json_object_get(root, "certificate"), "certified")));
  const json_t *events = json_object_get(root, "events");
  assert_true(number(events, "collisions") >= 10 && number(events, "stick_slip") >= 4);
  const json_t *between = json_object_get(json_array_get(json_object_get(events, "list"), 0), "between");
  assert_string_equal(json_string_value(json_array_get(between, 0)), "lower edge");
  json_decref(root);
  free(expect("plot toy.h5 --x phi_S.q --y phi_S.v -o orbit.svg", 0, NULL));
  assert_true(exists("orbit.svg"));
  refuse("plot toy.h5 --y phi.q -o other.svg", "COORDINATE one of y, phi_M, phi_S");
  char *csv = read_text("toy.csv"), *out = expect("run " TOY " --duration 0.3", 0, NULL);
  assert_memory_equal(csv, "t,y.q,y.v,phi_M.q", 17);
  assert_non_null(strstr(out, "coordinate"));
  assert_non_null(strstr(out, "CERTIFIED"));
  free(csv);
  free(out);
}

static void parameters_and_studies(void **state) {
  (void)state;
  json_t *root = expect_json("run " TOY " --duration 0.3 --set friction=0 --set c_phi=0.0056/2 --json", 0, NULL);
  assert_true(number(json_object_get(root, "energy"), "friction_loss") == 0);
  json_decref(root);
  refuse("run " TOY " --set mu=1", "no parameter 'mu'");
  refuse("run " TOY " --set friction", "--set needs name=value, not 'friction'");
  root = expect_json("converge " TOY " --duration 0.07 --steps 2^-11:2^-13 --json", 0, NULL);
  const json_t *rows = json_object_get(root, "rows");
  assert_true(fabs(number(json_array_get(rows, 2), "order") - 2) < 0.1);
  json_decref(root);
  root = expect_json("check " TOY " --json", 0, NULL);
  assert_true(number(root, "degrees_of_freedom") == 3);
  json_decref(root);
}

static void what_cannot_be(void **state) {
  (void)state;
  refuse("run ./none.so", "cannot load './none.so'");
  refuse("run none.so", "cannot load 'none.so'");
  refuse("bvp " TOY, "this command needs a scene");
  refuse("view " TOY " -o toy.html", "this command needs a scene");
  refuse("run " TOY " --html toy.html", "a page shows bodies");
  refuse("run " TOY " --scheme compliant", "which a system does not have");
  assert_false(exists("toy.html"));
}

static int enter(void **state) {
  (void)state;
  return enter_empty_directory();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(runs_and_records),
      cmocka_unit_test(parameters_and_studies),
      cmocka_unit_test(what_cannot_be),
  };
  return cmocka_run_group_tests(tests, enter, remove_directory);
}
