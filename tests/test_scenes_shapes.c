/* Cylinders and ellipsoids in motion: they rest, roll, tip and hang together as the analytic solutions say. */
#include "scene_runner.h"

static const double g = 9.81;

/* Everything that should rest does, after a fall from a hair's breadth. */
static void check_rests(const char *text, int bodies, double tolerance) {
  run r;
  run_parse(&r, text, NULL);
  ss_vec3 start[8];
  for (int i = 0; i < bodies; i++) start[i] = run_position(&r, i);
  run_finish(&r);
  for (int i = 0; i < bodies; i++) {
    check_below(run_distance(run_position(&r, i), start[i]), tolerance, "it stays where it was put");
    check_below(v3_norm(run_velocity(&r, i)), 1e-9, "at rest");
    check_below(v3_norm(run_turn(&r, i)), 1e-8, "at rest");
  }
  check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-9, "penetration");
  run_close(&r);
}

static void test_cylinders_rest(void **state) {
  (void)state;
  const char *const floors[] = {
      "materials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n",
      "materials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: box, size: [3, 3, 1], position: [0, 0, -0.5]}]}\n",
      "materials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: cylinder, radius: 2, length: 1, axis: z, position: [0, 0, -0.5]}]}\n",
  };
  const char *const bodies[] = {
      /* stands; lies, held by friction; a stack of two, the upper one beside the axis; a box on top */
      "bodies: [{name: a, mass: 1, position: [0.1, 0.2, 0.5], shapes: [{type: cylinder, radius: 0.3, length: 1, axis: "
      "z}]}]\n",
      "bodies: [{name: a, mass: 1, position: [0.1, 0.2, 0.3], orientation: {axis: [0, 0, 1], angle: 0.7},"
      " shapes: [{type: cylinder, radius: 0.3, length: 1}]}]\n",
      "bodies:\n"
      "  - {name: a, mass: 1, position: [0.1, 0.2, 0.5], shapes: [{type: cylinder, radius: 0.3, length: 1, axis: z}]}\n"
      "  - {name: b, mass: 2, position: [0.2, 0.1, 1.25], orientation: {axis: [0, 0, 1], angle: 0.3},"
      " shapes: [{type: cylinder, radius: 0.4, length: 0.5, axis: z}]}\n",
      "bodies:\n"
      "  - {name: a, mass: 1, position: [0.1, 0.2, 0.5], shapes: [{type: cylinder, radius: 0.3, length: 1, axis: z}]}\n"
      "  - {name: b, mass: 2, position: [0.15, 0.1, 1.1], orientation: {axis: [0, 0, 1], angle: 0.3},"
      " shapes: [{type: box, size: [2, 0.3, 0.2]}]}\n",
  };
  char text[2000];
  for (int f = 0; f < 3; f++)
    for (int b = 0; b < 4; b++) {
      (void)snprintf(text, sizeof text, "%s%ssimulation: {scheme: trapezoidal, step: 2^-7, duration: 0.5}\n", floors[f],
                     bodies[b]);
      check_rests(text, b < 2 ? 1 : 2, 1e-6);
    }
}

/* Prisms and tetrahedra on the floor, on each other, on a box, under a cylinder; the same polygon in a planar scene. */
static void test_convex_rests(void **state) {
  (void)state;
  check_rests(
      "materials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
      "bodies:\n"
      "  - {name: prism, density: 1000, position: [0, 0, 0.1], shapes: [{type: convex, points: [[-0.3, -0.2, -0.1], "
      "[0.3, -0.2, -0.1], [0, 0.3, -0.1], [-0.3, -0.2, 0.1], [0.3, -0.2, 0.1], [0, 0.3, 0.1]]}]}\n"
      "  - {name: tetrahedron, density: 1000, position: [0, 0, 0.2], shapes: [{type: convex, points: [[-0.1, -0.1, 0], "
      "[0.15, -0.1, 0], [0, 0.12, 0], [0, 0, 0.2]]}]}\n"
      "  - {name: box, density: 500, position: [1, 0, 0.1], shapes: [{type: box, size: [0.4, 0.4, 0.2]}]}\n"
      "  - {name: prism2, density: 1000, position: [1, 0, 0.3], orientation: {axis: z, angle: 0.5}, shapes: [{type: "
      "convex, points: [[-0.3, -0.2, -0.1], [0.3, -0.2, -0.1], [0, 0.3, -0.1], [-0.3, -0.2, 0.1], [0.3, -0.2, 0.1], "
      "[0, 0.3, 0.1]]}]}\n"
      "  - {name: cylinder, density: 1000, position: [1, -0.05, 0.5], shapes: [{type: cylinder, radius: 0.12, length: "
      "0.2, axis: z}]}\n"
      "simulation: {scheme: trapezoidal, step: 2^-7, duration: 0.25}\n",
      5, 1e-9);
  check_rests(
      "planar: xy\n"
      "materials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: convex, points: [[-2, 0], [2, 0], [0, -1]]}]}\n"
      "bodies:\n"
      "  - {name: triangle, density: 10, position: [0, 0], shapes: [{type: convex, points: [[-0.5, 0], [0.5, 0], "
      "[0.1, 0.6]]}]}\n"
      "  - {name: ellipse, density: 10, position: [1, 0.2], shapes: [{type: ellipse, semi_axes: [0.3, 0.2]}]}\n"
      "simulation: {scheme: trapezoidal, step: 2^-7, duration: 0.25}\n",
      2, 1e-9);
}

/* A cylinder on a plane that leans by the angle: rolls with a = (2/3) g sin where friction holds it. */
static void test_cylinder_rolls(void **state) {
  (void)state;
  const char *text = "materials: [{name: default, friction: 0.6}]\n"
                     "parameters: {tilt: 0.3}\n"
                     "world: {shapes: [{type: %s, orientation: {axis: [0, 1, 0], angle: tilt}, position: %s}]}\n"
                     "bodies: [{name: a, mass: 2, position: [0.2*sin(tilt), 0, 0.2*cos(tilt)], orientation: {axis: [0, "
                     "0, 1], angle: pi/2}, shapes: [{type: cylinder, radius: 0.2, length: 0.6}]}]\n"
                     "simulation: {scheme: trapezoidal, step: 2^-8, duration: 1}\n";
  const char *const floors[][2] = {
      {"half-space, normal: [0, 0, 1]", "[0, 0, 0]"},
      {"box, size: [9, 9, 1]", "[-0.5*sin(tilt), 0, -0.5*cos(tilt)]"},
  };
  for (int i = 0; i < 2; i++) {
    char filled[1500];
    run r;
    (void)snprintf(filled, sizeof filled, text, floors[i][0], floors[i][1]);
    run_parse(&r, filled, NULL);
    run_finish(&r);
    const double way = g * sin(0.3) / 3;
    const ss_vec3 p = run_position(&r, 0);
    check_near(p.x, 0.2 * sin(0.3) + way * cos(0.3), 1e-6, "rolls down, x");
    check_near(p.z, 0.2 * cos(0.3) - way * sin(0.3), 1e-6, "rolls down, z");
    check_near(p.y, 0, 1e-9, "rolls down, y");
    run_close(&r);
  }
}

/* A cylinder stands on a plane that leans by atan(q); it tips where q exceeds diameter/length, in every direction but for
 * the angle between two of the points that hold it: 8 of them, cos(pi/8) = 0.924. */
static void test_cylinder_tips(void **state) {
  (void)state;
  for (int turned = 0; turned < 4; turned++)
    for (int tips = 0; tips < 2; tips++) {
      const double q = tips ? 0.4 * 1.03 : 0.4 * 0.9, way = turned * 0.21;
      char text[1200];
      (void)snprintf(
          text, sizeof text,
          "materials: [{name: default, friction: 2}]\ngravity: [%.17g, %.17g, %.17g]\n"
          "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
          "bodies: [{name: a, mass: 1, position: [0, 0, 0.5], shapes: [{type: cylinder, radius: 0.2, length: "
          "1, axis: z}]}]\n"
          "simulation: {scheme: trapezoidal, step: 2^-7, duration: 1}\n",
          g * q * cos(way), g * q * sin(way), -g);
      run r;
      run_parse(&r, text, NULL);
      run_finish(&r);
      const double fallen = 0.5 - run_position(&r, 0).z;
      if (tips != (fabs(fallen) > 0.01)) print_error("q %g, direction %g: height lost %g\n", q, way, fallen);
      assert_int_equal(tips, fabs(fallen) > 0.01);
      run_close(&r);
    }
}

/* A disc that rolls in a circle, leaning: scenes/rolling-disc.yaml with a thin cylinder and friction instead of the joint. */
static void test_disc_rolls_in_a_circle(void **state) {
  (void)state;
  double error[2];
  for (int k = 0; k < 2; k++) {
    run disc, joint;
    const char *text =
        "parameters: {r: 0.3, R: 1, lean: 20 deg, m: 2, g: 9.81, A: m*r^2/4, C: m*r^2/2,\n"
        "             W: sqrt(m*g*r*tan(lean)/(C*R/r + A*sin(lean) + m*r*R))}\n"
        "materials: [{name: default, friction: 2}]\n"
        "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
        "bodies:\n"
        "  - {name: disc, mass: m, inertia: [C, A, A], position: [R, 0, r*cos(lean)],\n"
        "     orientation: {axis: [0, 1, 0], angle: -lean}, velocity: [0, W*R, 0],\n"
        "     angular_velocity: [-W*(R/r + sin(lean))*cos(lean), 0, W - W*(R/r + sin(lean))*sin(lean)],\n"
        "     shapes: [{type: cylinder, radius: r, length: 0.02, axis: x, position: [0.01, 0, 0]}]}\n"
        "simulation: {scheme: trapezoidal, step: 2^-7, duration: 1}\n";
    const change c = {.step = ldexp(1, -8 - k), .duration = 1};
    run_parse(&disc, text, &c);
    run_open(&joint, "rolling-disc", &c);
    const double radius = hypot(run_position(&joint, 0).x, run_position(&joint, 0).y);
    run_finish(&disc);
    const ss_vec3 p = run_position(&disc, 0);
    const double m = 2, r = 0.3, lean = 20 * atan(1) / 45;
    const double speed = sqrt(m * g * r * tan(lean) / (m * r * r / 2 / r + m * r * r / 4 * sin(lean) + m * r));
    error[k] = run_distance(p, v3(radius * cos(speed), radius * sin(speed), r * cos(lean)));
    run_close(&disc);
    run_close(&joint);
  }
  check_below(error[1], 2e-4, "disc in a circle");
  check_near(log2(error[0] / error[1]), 2, 0.3, "order");
}

/* An ellipsoid on an ellipsoid: the same as spheres where their axes are equal, and in free fall no force at all. */
static void test_ellipsoids_are_spheres(void **state) {
  (void)state;
  const char *text = "materials: [{name: default, friction: 0.3, restitution: 0.4}]\n"
                     "world: {shapes: [{type: %s, position: [0, 0, 0]}]}\n"
                     "bodies: [{name: a, mass: 1, inertia: [0.01, 0.01, 0.01], position: [0.05, 0.02, 1.2],\n"
                     "  orientation: {axis: [1, 2, 3], angle: 0.4}, shapes: [{type: %s}]}]\n"
                     "simulation: {scheme: trapezoidal, step: 2^-8, duration: 0.6}\n";
  const char *const shapes[][2] = {
      {"sphere, radius: 0.5", "sphere, radius: 0.3"},
      {"ellipsoid, semi_axes: [0.5, 0.5, 0.5]", "ellipsoid, semi_axes: [0.3, 0.3, 0.3]"},
      {"sphere, radius: 0.5", "ellipsoid, semi_axes: [0.3, 0.3, 0.3]"},
      {"capsule, radius: 0.5, length: 1e-12", "ellipsoid, semi_axes: [0.3, 0.3, 0.3]"},
  };
  ss_vec3 end[4];
  for (int i = 0; i < 4; i++) {
    char filled[1200];
    run r;
    (void)snprintf(filled, sizeof filled, text, shapes[i][0], shapes[i][1]);
    run_parse(&r, filled, NULL);
    run_finish(&r);
    assert_true(r.n_collisions > 0);
    end[i] = run_position(&r, 0);
    check_below(run_distance(end[i], end[0]), 1e-9, "ellipsoids that are spheres");
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cylinders_rest),         cmocka_unit_test(test_convex_rests),
      cmocka_unit_test(test_cylinder_rolls),         cmocka_unit_test(test_cylinder_tips),
      cmocka_unit_test(test_disc_rolls_in_a_circle), cmocka_unit_test(test_ellipsoids_are_spheres),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
