/* Weak solutions (BVP Definition 2): the integrals of computed trajectories go to zero with the step. */
#include "scene_runner.h"

#include <stickslip/weak.h>

static ss_weak_residuals measure(const char *text, double step, const char *scheme) {
  run r = {0};
  ss_error error = {0};
  ss_weak *weak = NULL;
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &r.scene, &error), &error, "parse");
  r.scene->simulation.step = step;
  r.scene->simulation.scheme = scheme;
  run_compile(&r, NULL);
  run_require(ss_weak_create(r.sim, &weak, &error), &error, "weak");
  run_finish(&r);
  const ss_weak_residuals residuals = ss_weak_measure(weak);
  ss_weak_destroy(weak);
  run_close(&r);
  return residuals;
}

/* A spinning ball that is dropped sideways on a table and slides, on 3 x 3 elements, held by a spring and pushed. */
static const char ball[] =
    "materials: [{name: default, friction: 0.2}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies: [{name: ball, mass: 0.1, position: [0, 0, 0.0501], velocity: [0.3, 0.1, -0.05], angular_velocity: [2, 0, "
    "1], shapes: [{type: sphere, radius: 0.05}]}]\n"
    "forces: [{type: spring, between: [world, ball], anchors: [[0.2, 0, 0.3], [0, 0, 0]], stiffness: 2, rest_length: "
    "0.2}, {type: applied, on: ball, force: [0.02*sin(20*t), 0, 0]}]\n"
    "compliance: {young: 1e6, spacing: 1e-3, elements: 3, damping: {rayleigh: [0, 2e-3]}}\n"
    "simulation: {scheme: compliant-theta, theta: 0, step: 1e-3, duration: 0.08, friction: {cone: quadratic}}\n";

static void integrals_vanish_with_the_step(void **state) {
  (void)state;
  static const char *const schemes[] = {"compliant", "compliant-theta"};
  for (int k = 0; k < 2; k++) {
    const ss_weak_residuals coarse = measure(ball, 2.5e-4, schemes[k]), fine = measure(ball, 6.25e-5, schemes[k]);
    print_message("%s: momentum %.1e %.1e, compliance %.1e %.1e, normal %.1e %.1e, friction %.1e %.1e\n", schemes[k],
                  coarse.momentum, fine.momentum, coarse.compliance, fine.compliance, coarse.complementarity,
                  fine.complementarity, coarse.friction, fine.friction);
    check_below(fine.momentum, coarse.momentum / 3, "momentum");
    check_below(fine.kinematics, coarse.kinematics / 3, "kinematics");
    check_below(fine.compliance, coarse.compliance / 3, "compliance");
    if (k == 1) { /* at velocity level, rolling carries elements away from their gaps: docs/boundary-problems.md */
      check_below(fine.gap, coarse.gap / 2.5, "gap");
      check_below(fine.complementarity, coarse.complementarity / 2.5, "complementarity");
    }
    check_below(fine.friction, coarse.friction / 2.5, "friction");
    check_below(fine.cone, 1e-12, "cone");
    check_below(fine.friction_tested, fine.friction + 1e-15, "the worst test function is the worst");
  }
}

/* Free flight is integrated exactly but for the position, whose error is h g T / 2 for the implicit rule. */
static void free_flight(void **state) {
  (void)state;
  static const char text[] = "bodies: [{name: a, mass: 2, freedom: [z], position: [0, 0, 100]}]\n"
                             "compliance: {young: 1e6, spacing: 1e-3}\n"
                             "simulation: {scheme: compliant, step: 0.01, duration: 1}\n";
  const ss_weak_residuals r = measure(text, 0.01, "compliant");
  check_below(r.momentum, 1e-12, "momentum");
  check_near(r.kinematics, 0.01 * 9.81 / 2, 1e-10, "position");
}

static void refused_without_patches(void **state) {
  (void)state;
  run r;
  ss_weak *weak = NULL;
  ss_error error = {0};
  run_open(&r, "bouncing-ball", NULL);
  assert_int_equal(ss_weak_create(r.sim, &weak, &error), SS_ERROR_UNSUPPORTED);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(integrals_vanish_with_the_step), cmocka_unit_test(free_flight),
                                     cmocka_unit_test(refused_without_patches)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
