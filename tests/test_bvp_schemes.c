/* One boundary-value problem under the rigid schemes: solved by all of them where positions hold and bodies come to rest,
 * and where they do not, the reason says so. */
#include "bvp_runner.h"

/* As scenes/bvp-align.yaml, with larger steps. */
static const char align[] =
    "planar: xy\ngravity: [0, 0]\n"
    "materials: [{name: default, friction: 0.3}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
    "bodies: [{name: part, mass: 0.5, position: [0, 0.15], orientation: 20 deg, velocity: [1, 0], "
    "shapes: [{type: box, size: [0.3, 0.1]}]}]\n"
    "forces: [{type: applied, on: part, force: [0, -10]}]\n"
    "simulation: {scheme: %s, step: 0.01, duration: 1%s}\n"
    "boundary: {unknown: [part.vx], starts: 2, conditions: [final(part.x) = 0.25, "
    "final(part.angle) = 0, final(part.vx) = 0, final(part.w) = 0]}\n";

static ss_scene *parse(const char *scheme, const char *more) {
  char text[1024];
  ss_scene *scene = NULL;
  ss_error error = {0};
  (void)snprintf(text, sizeof text, align, scheme, more);
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  return scene;
}

static void every_rigid_scheme_aligns(void **state) {
  (void)state;
  static const char *const schemes[] = {
      "stewart-trinkle", "stewart-trinkle-implicit", "anitescu-potra", "anitescu-potra-stiff", "moreau", "trapezoidal"};
  for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
    const bool mean = strcmp(schemes[i], "trapezoidal") == 0;
    ss_scene *scene = parse(schemes[i], mean ? ", stabilization: projection, events: [collision, stick-slip, take-off]"
                                             : ", stabilization: projection");
    ss_bvp_result *r = solve(scene, NULL, 0);
    print_message("%s: %d, residual %.1e\n", schemes[i], r->n_solutions, r->best.residual);
    assert_true(r->n_solutions >= 1);
    const ss_motion end = reproduce(scene, r->solutions[0].unknown);
    check_near(end.pose.position.x, 0.25, 1e-8, "goal");
    check_near(quat_log(end.pose.orientation).z, 0, 1e-8, "aligned");
    check_near(v3_norm(end.velocity), 0, 1e-8, "at rest");
    check_near(r->solutions[0].unknown[0], 1.6248, 0.05, "all schemes approximate the same motion");
    ss_bvp_result_destroy(r);
    ss_scene_destroy(scene);
  }
}

static void the_reason_names_what_is_in_the_way(void **state) {
  (void)state;
  static const char *const schemes[2] = {"moreau", "trapezoidal"};
  static const char *const words[2] = {"stabilization: projection", "events: [collision, stick-slip, take-off]"};
  for (int i = 0; i < 2; i++) {
    ss_scene *scene = parse(schemes[i], "");
    ss_bvp_result *r = solve(scene, NULL, 0);
    assert_int_equal(r->n_solutions, 0);
    print_message("%s: %s\n", schemes[i], r->reason);
    assert_non_null(strstr(r->reason, words[i]));
    ss_bvp_result_destroy(r);
    ss_scene_destroy(scene);
  }
}

/* Advice that would not help is not given: friction stops the puck, whatever the scheme. */
static void no_advice_where_physics_is_in_the_way(void **state) {
  (void)state;
  ss_scene *scene = load("bvp-puck-none", NULL, 0);
  ss_bvp_result *r = solve(scene, NULL, 0);
  assert_int_equal(r->n_solutions, 0);
  assert_null(strstr(r->reason, "projection"));
  ss_bvp_result_destroy(r);
  ss_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_rigid_scheme_aligns),
      cmocka_unit_test(the_reason_names_what_is_in_the_way),
      cmocka_unit_test(no_advice_where_physics_is_in_the_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
