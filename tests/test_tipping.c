/* A cylinder that stands tips where its weight leaves its base: a force F at the height of its centre of mass, half its length,
 * tips it if F l/2 > m g R, whatever the direction of F against the points of the rim that hold it. */
#include "scene_runner.h"

static const double radius = 0.5, length = 1.0, mass = 2.0, g = 9.81, degree = 0.017453292519943295;

/* Angle of the axis with the vertical at the end, in degrees. */
static double tilt_after(const char *floor, const char *scheme, double direction, double share) {
  char text[2000];
  const double force = share * mass * g * radius / (length / 2);
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, %.17g]\n"
                 "materials: [{name: default, friction: 2}]\n"
                 "world: {shapes: [%s]}\n"
                 "bodies: [{name: a, mass: %g, position: [0, 0, %g],"
                 " shapes: [{type: cylinder, radius: %g, length: %g, axis: z}]}]\n"
                 "forces: [{type: applied, on: a, force: [%.17g, %.17g, 0]}]\n"
                 "simulation: {scheme: %s, step: 0.01, duration: 1.5}\n",
                 -g, floor, mass, length / 2, radius, length, force * cos(direction * degree),
                 force * sin(direction * degree), scheme);
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  const ss_vec3 axis = quat_rotate(ss_sim_motion(r.sim, 0).pose.orientation, v3(0, 0, 1));
  run_close(&r);
  return acos(fmin(axis.z, 1)) / degree;
}

/* Less than one percent below and above; a step or two on fixed points of the rim may tilt it by a hundredth of a degree before
 * its lowest point takes over. */
static void check_tipping(const char *floor, const char *scheme, double direction) {
  const double holds = tilt_after(floor, scheme, direction, 0.99), tips = tilt_after(floor, scheme, direction, 1.01);
  if (!(holds < 0.05) || !(tips > 5))
    fail_msg("%s, %s, %g degrees: tilts by %g below and %g above the force that tips", floor, scheme, direction, holds,
             tips);
}

static void test_cylinder_tips(void **state) {
  (void)state;
  static const char *const floors[] = {"{type: half-space, normal: [0, 0, 1]}",
                                       "{type: box, size: [4, 4, 1], position: [0, 0, -0.5]}",
                                       "{type: cylinder, radius: 3, length: 1, axis: z, position: [0, 0, -0.5]}"};
  static const double directions[] = {0, 5, 11.25, 22.5, 31, 67.5, 101, 157.5, 198, 260, 337.5};
  for (size_t i = 0; i < sizeof floors / sizeof *floors; i++)
    for (size_t k = 0; k < sizeof directions / sizeof *directions; k++)
      check_tipping(floors[i], "anitescu-potra", directions[k]);
}

static void test_schemes(void **state) {
  (void)state;
  static const char *const schemes[] = {"stewart-trinkle", "moreau", "trapezoidal"};
  for (int i = 0; i < 3; i++) {
    check_tipping("{type: half-space, normal: [0, 0, 1]}", schemes[i], 22.5);
    check_tipping("{type: half-space, normal: [0, 0, 1]}", schemes[i], 37);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cylinder_tips),
      cmocka_unit_test(test_schemes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
