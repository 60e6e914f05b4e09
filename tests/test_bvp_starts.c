/* How thoroughly boundary-value problems are looked at: guesses that say nothing, several solutions, what is told where
 * nothing is found, and the budget. */
#include "bvp_runner.h"

/* From rest, the other way and a hundred times too fast: the first disc touches nothing there. */
static void bad_guesses(void **state) {
  (void)state;
  static const char *const guesses[] = {"guess=0", "guess=-1", "guess=100"};
  double first[3] = {0};
  for (int i = 0; i < 3; i++) {
    ss_scene *scene = load("bvp-three-pucks", &guesses[i], 1);
    ss_bvp_result *r = solve(scene, &guesses[i], 1);
    if (r->n_solutions == 0) fail_msg("%s: %s", guesses[i], r->reason);
    for (int k = 0; k < 3; k++) {
      if (i == 0) first[k] = r->solutions[0].unknown[k];
      check_near(r->solutions[0].unknown[k], first[k], 1e-8, guesses[i]);
    }
    assert_true(r->solutions[0].residual <= 1e-8);
    assert_true(r->starts == 8 && r->samples == 57);
    ss_bvp_result_destroy(r);
    ss_scene_destroy(scene);
  }
}

/* With and without a bounce. Free flight is known: x = vx T, y = vy T and vy, z = z0 + vz T - g T^2 / 2. */
static void both_motions(void **state) {
  (void)state;
  static const char *const guesses[] = {"guess=1", "guess=-20"};
  for (int i = 0; i < 2; i++) {
    ss_scene *scene = load("bvp-soft-bounce", &guesses[i], 1);
    ss_bvp_result *r = solve(scene, &guesses[i], 1);
    assert_true(r->n_solutions >= 2);
    bool flies = false, bounces = false;
    for (int k = 0; k < r->n_solutions; k++) {
      const double *u = r->solutions[k].unknown;
      if (u[2] > 0) { /* theta = 1/2: exact for a parabola */
        check_near(u[0], 0.5 / 0.6, 1e-7, "vx");
        check_near(u[1], 0.2 / 0.7, 1e-7, "vy");
        check_near(u[2], (0.25 - 0.3 + 9.81 * 0.36 / 2) / (0.6 - 0.01), 1e-7, "vz");
        flies = true;
      } else {
        assert_true(u[2] < -1 && u[0] > 1);
        bounces = true;
      }
    }
    assert_true(flies && bounces);
    ss_bvp_result_destroy(r);
    ss_scene_destroy(scene);
  }
}

/* What was seen of a condition is told as what was seen. */
static void reasons_say_how_far_they_go(void **state) {
  (void)state;
  static const char apart[] = "planar: xy\ngravity: [0, 0]\n"
                              "bodies:\n"
                              "  - {name: a, mass: 1, inertia: 1, position: [0, 0], velocity: [1, 0]}\n"
                              "  - {name: b, mass: 1, inertia: 1, position: [5, 0]}\n"
                              "boundary: {unknown: [a.vx], conditions: [final(b.x) = 6]}\n"
                              "simulation: {scheme: moreau, step: 0.05, duration: 1}\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  run_require(ss_scene_parse(apart, sizeof apart - 1, "apart", NULL, 0, &scene, &error), &error, "parse");
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 0);
  assert_non_null(strstr(r->reason, "no solution from"));
  assert_non_null(strstr(r->reason, "the same in all of them"));
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

static void the_time_is_up(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-three-pucks", NULL, 0);
  scene->boundary.seconds = 1e-9;
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 0);
  assert_true(r->out_of_time && r->starts <= 1 && r->simulations < 12);
  assert_non_null(strstr(r->reason, "the time was up"));
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_guesses),
      cmocka_unit_test(both_motions),
      cmocka_unit_test(reasons_say_how_far_they_go),
      cmocka_unit_test(the_time_is_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
