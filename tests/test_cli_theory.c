/* The command line on what the theory says of a scene: check, run --all-solutions, converge. */
#include "cli_runner.h"

#include <math.h>

#define SCENE(name) SOURCE_DIR "/scenes/" name ".yaml"

static const json_t *at(const json_t *object, const char *a, const char *b) {
  return json_object_get(json_object_get(object, a), b);
}

/* ---- check ---- */

static void check_finds_the_wedge(void **state) {
  (void)state;
  json_t *root = expect_json("check " SCENE("wedge") " --json", 0, NULL);
  const json_t *cone = json_object_get(root, "friction_cone");
  assert_true(json_is_false(at(cone, "reduced", "pointed")));
  assert_true(json_is_null(at(cone, "reduced", "constant")));
  const json_t *forces = json_object_get(cone, "self_balancing");
  assert_int_equal(json_array_size(forces), 2);
  double sum[3] = {0};
  for (size_t i = 0; i < 2; i++)
    for (size_t k = 0; k < 3; k++)
      sum[k] += json_number_value(json_array_get(json_object_get(json_array_get(forces, i), "force"), k));
  assert_true(fabs(sum[0]) + fabs(sum[1]) + fabs(sum[2]) < 1e-6);
  json_decref(root);
  root = expect_json("check " SCENE("wedge") " --set lean=0.5 --json", 0, NULL);
  cone = json_object_get(root, "friction_cone");
  assert_true(json_is_true(at(cone, "total", "pointed")));
  assert_true(number(json_object_get(cone, "reduced"), "constant") > 1);
  assert_int_equal(json_array_size(json_object_get(cone, "self_balancing")), 0);
  assert_true(json_is_true(at(root, "system_matrix", "positive_definite")));
  json_decref(root);
  char *out = expect("check " SCENE("wedge"), 0, NULL);
  assert_non_null(strstr(out, "NOT POINTED"));
  assert_non_null(strstr(out, "forces that balance each other"));
  free(out);
}

static void check_finds_the_paradox(void **state) {
  (void)state;
  json_t *root = expect_json("check " SCENE("painleve-rod") " --json", 0, NULL);
  const json_t *contact = json_array_get(json_object_get(root, "painleve"), 0);
  assert_true(json_is_true(json_object_get(contact, "paradox")));
  assert_true(fabs(number(contact, "critical_friction") - 4. / 3) < 1e-9);
  json_decref(root);
  char *out = expect("check " SCENE("painleve-rod") " --set mu=1.3", 0, NULL);
  assert_non_null(strstr(out, "Painleve's paradox      no contact"));
  free(out);
}

static int enter_directory(void **state) {
  (void)state;
  return enter_empty_directory();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(check_finds_the_wedge),
      cmocka_unit_test(check_finds_the_paradox),
  };
  return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}
