/* Blows that a law or a scheme takes in its own way, and says so: through touching balls, and at position level on bodies that rest. */
#include "scene_runner.h"

static const char cradle[] =
    "planar: xy\n"
    "gravity: [0, 0]\n"
    "parameters: {gap: 0, e: 1}\n"
    "materials: [{name: default, friction: 0, restitution: e}]\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [-0.5, 0], velocity: [1, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b, mass: 1, position: [0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: c, mass: 1, position: [0.2 + gap, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {step: 0.01, duration: 0.5}\n";

/* Touching balls leave together, balls a hair apart one after the other; the first is counted, and nothing without restitution. */
static void touching_balls(void **state) {
  (void)state;
  const struct {
    const char *gap, *e;
    long passed_on;
    double last;
  } cases[] = {{"gap=0", "e=1", 1, 2. / 3}, {"gap=1e-9", "e=1", 0, 1}, {"gap=0", "e=0", 0, 1. / 3}};
  for (int i = 0; i < 3; i++) {
    run r;
    run_parse(&r, cradle, &(change){.set = {cases[i].gap, cases[i].e}});
    run_finish(&r);
    assert_int_equal(ss_sim_report(r.sim)->solves.passed_on, cases[i].passed_on);
    check_near(run_velocity(&r, 2).x, cases[i].last, 1e-9, "speed of the last ball");
    run_close(&r);
  }
}

static const char resting[] =
    "parameters: {mu: 0.3}\n"
    "materials: [{name: default, friction: mu, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [0, 0, 0.2], angular_velocity: [2, 0, 1], velocity: [0, -0.4, 0],\n"
    "     shapes: [{type: sphere, radius: 0.2}]}\n"
    "  - {name: d, mass: 1.5, position: [-0.34, -0.25, 0.4], velocity: [1.5, 0.9, -1], angular_velocity: [0, 5, 0],\n"
    "     shapes: [{type: sphere, radius: 0.22}]}\n"
    "simulation: {scheme: trapezoidal, step: 2^-10, duration: 0.3%s}\n";

static ss_vec3 end_of(const char *events, const char *scheme, int k, const char *set, long *split) {
  char text[1024];
  (void)snprintf(text, sizeof text, resting, events);
  run r;
  run_parse(&r, text, &(change){.scheme = scheme, .step = ldexp(1, -k), .set = {set}});
  run_finish(&r);
  *split = ss_sim_report(r.sim)->solves.split_blows;
  const ss_vec3 end = run_position(&r, 0);
  run_close(&r);
  return end;
}

/* With friction and without locating the collision, stewart-trinkle levels off away from the others' limit, and its blow is counted; where
 * the collision is located, it comes near them. */
static void blows_at_position_level(void **state) {
  (void)state;
  long split;
  const char *const located = ", events: [collision]";
  const ss_vec3 limit = end_of(located, "trapezoidal", 13, "mu=0.3", &split);
  assert_int_equal(split, 0);
  const double far[] = {v3_norm(v3_sub(end_of("", "stewart-trinkle", 13, "mu=0.3", &split), limit)),
                        v3_norm(v3_sub(end_of("", "stewart-trinkle", 16, "mu=0.3", &split), limit))};
  assert_int_equal(split, 1);
  const double near = v3_norm(v3_sub(end_of(located, "stewart-trinkle", 16, "mu=0.3", &split), limit));
  assert_int_equal(split, 0);
  assert_true(far[1] > 0.5 * far[0] && far[1] > 2e-5 && near < far[1] / 5);
  (void)end_of("", "stewart-trinkle", 8, "mu=0", &split);
  assert_int_equal(split, 0);
  (void)end_of("", "moreau", 8, "mu=0.3", &split);
  assert_int_equal(split, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(touching_balls),
      cmocka_unit_test(blows_at_position_level),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
