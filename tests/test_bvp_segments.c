/* Multiple shooting: motions that single shots lose, and the same answers where they do not. */
#include "bvp_runner.h"

static void check_upright(const ss_scene *scene, const char *const *settings, int n, const double *unknown) {
  ss_error error = {0};
  run r = {0};
  run_require(ss_bvp_write_scene(scene, NULL, settings, n, unknown, "test_bvp_upright.yaml", &error), &error, "write");
  run_require(ss_scene_load("test_bvp_upright.yaml", NULL, 0, &r.scene, &error), &error, "load");
  run_compile(&r, NULL);
  run_finish(&r);
  for (int body = 0; body < 2; body++)
    check_near(quat_log(ss_sim_motion(r.sim, body).pose.orientation).z, 0, 1e-8, "upright");
  run_close(&r);
  assert_int_equal(remove("test_bvp_upright.yaml"), 0);
}

/* Two rods that balance: single shots find nothing, segments do; other starts too. */
static void segments_hold_an_unstable_motion(void **state) {
  (void)state;
  static const char *const single[] = {"parts=1"};
  ss_scene *scene = load("bvp-balance", single, 1);
  scene->boundary.starts = 1; /* samples would come near */
  ss_bvp_result *r = solve(scene, single, 1);
  assert_int_equal(r->n_solutions, 0);
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
  static const char *const settings[][3] = {{"a=5*pi/180", "b=25*pi/180", "parts=8"},
                                            {"a=-5*pi/180", "b=-25*pi/180", "parts=8"},
                                            {"a=-20*pi/180", "b=12*pi/180", "parts=8"}};
  double spin[2] = {0};
  for (int k = 0; k < 3; k++) {
    scene = load("bvp-balance", settings[k], 3);
    r = solve(scene, settings[k], 3);
    assert_true(r->n_solutions >= 1);
    check_below(r->solutions[0].residual, 1e-8, "conditions");
    check_upright(scene, settings[k], 3, r->solutions[0].unknown);
    if (k < 2) spin[k] = r->solutions[0].unknown[0];
    ss_bvp_result_destroy(r);
    ss_scene_destroy(scene);
  }
  check_near(spin[0], -spin[1], 1e-6, "mirrored");
}

/* Free rotation of a rigid body: spatial rotations at the knots, against the solution by single shots. */
static void segments_and_single_shots_agree(void **state) {
  (void)state;
  static const char text[] =
      "bodies:\n  - {name: top, mass: 1, inertia: [1, 1.2, 1.4], position: [0, 0, 1], angular_velocity: [1, 0.5, 0]}\n"
      "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n"
      "boundary: {unknown: [top.vx, top.vy, top.vz, top.wx, top.wy, top.wz], segments: %d, starts: 1, conditions: "
      "[final(top.x) = 2, final(top.y) = 1, final(top.z) = 3, final(top.rx) = 1, final(top.ry) = 0, final(top.rz) = "
      "1.2]}\n";
  double found[2][6];
  for (int k = 0; k < 2; k++) {
    char scene_text[1024];
    ss_scene *scene = NULL;
    ss_error error = {0};
    (void)snprintf(scene_text, sizeof scene_text, text, k == 0 ? 1 : 4);
    run_require(ss_scene_parse(scene_text, strlen(scene_text), "text", NULL, 0, &scene, &error), &error, "parse");
    ss_bvp_result *r = solve(scene, NULL, 0);
    assert_int_equal(r->n_solutions, 1);
    memcpy(found[k], r->solutions[0].unknown, sizeof found[k]);
    ss_bvp_result_destroy(r);
    ss_scene_destroy(scene);
  }
  for (int i = 0; i < 6; i++) check_near(found[0][i], found[1][i], 1e-7, "velocity");
}

/* A compliant ball that rests on its patch at the knots: deformations are part of the state there. */
static void segments_carry_deformations(void **state) {
  (void)state;
  static const char text[] =
      "planar: xy\nmaterials: [{name: default, friction: 0.3}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
      "bodies: [{name: ball, mass: 0.1, position: [0, 0.05], velocity: [1, 0], shapes: [{type: sphere, radius: "
      "0.05}]}]\n"
      "compliance: {young: 1e7, spacing: 1e-3, elements: 3}\n"
      "simulation: {scheme: compliant-theta, theta: 0, step: 1e-3, duration: 0.2}\n"
      "boundary: {unknown: [ball.vx], segments: 4, starts: 2, conditions: [final(ball.x) = 0.15]}\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 1);
  assert_string_equal(r->solutions[0].method, "multiple-shooting");
  check_near(reproduce(scene, r->solutions[0].unknown).pose.position.x, 0.15, 1e-8, "place");
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(segments_hold_an_unstable_motion),
      cmocka_unit_test(segments_and_single_shots_agree),
      cmocka_unit_test(segments_carry_deformations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
