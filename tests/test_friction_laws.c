/* Friction laws in motion: the quadratic cone does not know directions, the pyramid and the polygon do not either where
 * their axis is the slip; paths that bend converge with second order. */
#include "scene_runner.h"

#define G 9.81

static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};

/* ---- a box pushed in any direction ---- */

static const char pushed_box[] =
    "parameters: {push: 5, heading: 0, yaw: 0, mu: 0.4}\n"
    "materials: [{name: default, friction: mu, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: box, mass: 1, position: [0, 0, 0.05], orientation: {axis: z, angle: yaw}, shapes: [{type: box, size: "
    "[0.4, 0.4, 0.1]}]}\n"
    "forces: [{type: applied, on: box, force: [push*cos(heading), push*sin(heading), 0], at: [0, 0, -0.05]}]\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, residual: 1e-9}\n";

/* How far the box goes along the push within a second; it must not go elsewhere, nor turn. */
static double pushed_way(double push, double heading, double yaw, ss_cone cone) {
  run r;
  char settings[3][64];
  (void)snprintf(settings[0], sizeof settings[0], "push=%.17g", push);
  (void)snprintf(settings[1], sizeof settings[1], "heading=%.17g", heading);
  (void)snprintf(settings[2], sizeof settings[2], "yaw=%.17g", yaw);
  run_parse(&r, pushed_box, &(change){.cone = cone, .set = {settings[0], settings[1], settings[2]}});
  run_finish(&r);
  const ss_vec3 moved = v3_sub(run_position(&r, 0), v3(0, 0, 0.05)), along = v3(cos(heading), sin(heading), 0);
  const double way = v3_dot(moved, along);
  check_below(v3_norm(v3_axpy(moved, -way, along)), 1e-9, "way off the line of the push");
  check_below(v3_norm(run_turn(&r, 0)), 1e-9, "turn of the box");
  check_below(ss_sim_report(r.sim)->certificate.complementarity, 1e-9, "complementarity");
  run_close(&r);
  return way;
}

static void push_at_45_degrees_is_a_push_along_an_axis(void **state) {
  (void)state;
  const double eighth = atan(1);
  uint64_t seed = 5;
  for (int c = 0; c < 3; c++) {
    check_near(pushed_way(5, 0, 0, cones[c]), (5 - 0.4 * G) / 2, 1e-9, "push along x");
    for (int i = 0; i < 6; i++) {
      const double heading = i < 2 ? eighth * (2 * i + 1) : 4 * random_next(&seed);
      const double yaw = i < 4 ? 0 : 4 * random_next(&seed);
      check_near(pushed_way(5, heading, yaw, cones[c]), (5 - 0.4 * G) / 2, 1e-9, "push in any direction");
      check_near(pushed_way(0.4 * G - 1e-4, heading, yaw, cones[c]), 0, 1e-11, "push below the limit");
    }
  }
}

/* ---- a block on an incline that faces anywhere ---- */

static double slide(ss_cone cone, double mu, double angle, double heading, double yaw) {
  run r = {0};
  ss_error error = {0};
  char settings[2][64];
  (void)snprintf(settings[0], sizeof settings[0], "mu=%.17g", mu);
  (void)snprintf(settings[1], sizeof settings[1], "angle=%.17g", angle);
  const char *const set[] = {settings[0], settings[1]};
  run_require(ss_scene_load(SOURCE_DIR "/scenes/block-on-incline.yaml", set, 2, &r.scene, &error), &error, "incline");
  const ss_quat turn = quat_exp(v3(0, 0, heading));
  ss_body_def *block = &r.scene->bodies[0];
  r.scene->world_shapes[0].normal = quat_rotate(turn, r.scene->world_shapes[0].normal);
  block->pose.position = quat_rotate(turn, block->pose.position);
  block->pose.orientation = quat_multiply(turn, quat_multiply(block->pose.orientation, quat_exp(v3(0, 0, yaw))));
  r.scene->simulation.residual = 1e-9;
  run_compile(&r, &(change){.cone = cone, .step = 0.01, .duration = 2});
  const ss_vec3 start = run_position(&r, 0);
  run_finish(&r);
  const ss_vec3 moved = v3_sub(run_position(&r, 0), start);
  const ss_vec3 downhill = quat_rotate(turn, v3(cos(angle), 0, -sin(angle)));
  const double way = v3_dot(moved, downhill);
  check_below(v3_norm(v3_axpy(moved, -way, downhill)), 1e-9, "motion off the line of fall");
  run_close(&r);
  return way;
}

static void incline_may_face_anywhere(void **state) {
  (void)state;
  uint64_t seed = 11;
  for (int i = 0; i < 12; i++) {
    const double mu = 0.6 + 0.5 * random_next(&seed), heading = 4 * random_next(&seed), yaw = 4 * random_next(&seed);
    const double steep = atan(mu) + 0.05, flat = atan(mu) - 1e-6;
    for (int c = 1; c < 3; c++) {
      check_near(slide(cones[c], mu, steep, heading, yaw), 2 * G * (sin(steep) - mu * cos(steep)), 1e-9, "way");
      check_near(slide(cones[c], mu, flat, heading, yaw), 0, 1e-10, "way below the friction angle");
    }
  }
}

/* ---- a curved path ---- */

typedef struct planar_state {
  double x, y, vx, vy;
} planar_state;

typedef struct ellipse {
  double mu[2];         /* along the axes */
  double heading, spin; /* of the first axis in the world, at t = 0 and per time */
} ellipse;

/* Coulomb friction that maximises dissipation over the ellipse: f = -E^2 u / |E u| with E = diag(mu). */
static planar_state slope(const ellipse *e, double t, planar_state s) {
  const double c = cos(e->heading + e->spin * t), n = sin(e->heading + e->spin * t);
  const double a = e->mu[0] * (c * s.vx + n * s.vy), b = e->mu[1] * (c * s.vy - n * s.vx), size = hypot(a, b);
  const double fa = -G * e->mu[0] * a / size, fb = -G * e->mu[1] * b / size;
  return (planar_state){s.vx, s.vy, 6 * cos(2 * t) + c * fa - n * fb, 6 * sin(2 * t) + n * fa + c * fb};
}

static planar_state shifted(planar_state s, double h, planar_state d) {
  return (planar_state){s.x + h * d.x, s.y + h * d.y, s.vx + h * d.vx, s.vy + h * d.vy};
}

/* The classical Runge-Kutta method with steps so small that its error does not count. */
static planar_state integrate(const ellipse *e, planar_state s, double duration) {
  enum { STEPS = 20000 };
  const double h = duration / STEPS;
  for (int i = 0; i < STEPS; i++) {
    const double t = i * h;
    const planar_state a = slope(e, t, s), b = slope(e, t + h / 2, shifted(s, h / 2, a));
    const planar_state c = slope(e, t + h / 2, shifted(s, h / 2, b)), d = slope(e, t + h, shifted(s, h, c));
    s = shifted(shifted(shifted(shifted(s, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  }
  return s;
}

static double path_error(const char *scene, const change *c, planar_state exact, double *velocity_error) {
  run r;
  run_open(&r, scene, c);
  run_finish(&r);
  const ss_vec3 p = run_position(&r, 0), v = run_velocity(&r, 0);
  *velocity_error = hypot(v.x - exact.vx, v.y - exact.vy);
  check_below(fabs(p.z), 1e-13, "height");
  run_close(&r);
  return hypot(p.x - exact.x, p.y - exact.y);
}

/* Observed orders of position and velocity over the steps 2^-first .. 2^-last. */
static void check_orders(const char *scene, change c, planar_state exact, int first, int last, double expected) {
  double before = NAN, velocity_before = NAN;
  for (int k = first; k <= last; k++) {
    double velocity;
    c.step = ldexp(1, -k);
    const double error = path_error(scene, &c, exact, &velocity);
    const double order = log2(before / error), velocity_order = log2(velocity_before / velocity);
    before = error;
    velocity_before = velocity;
    if (k == first) continue;
    if (fabs(order - expected) > 0.1 || fabs(velocity_order - expected) > 0.15)
      print_error("%s, %s, 2^-%d: orders %g, %g\n", scene, c.scheme, k, order, velocity_order);
    assert_true(fabs(order - expected) <= 0.1);
    assert_true(fabs(velocity_order - expected) <= 0.15);
  }
}

static void curved_slip_converges(void **state) {
  (void)state;
  const planar_state exact = integrate(&(ellipse){{0.3, 0.3}, 0, 0}, (planar_state){0, 0, 0, -2}, 3);
  check_orders("rotating-force", (change){.scheme = "trapezoidal"}, exact, 5, 10, 2);
  check_orders("rotating-force", (change){.scheme = "moreau"}, exact, 5, 10, 1);
  /* the polygon's corner follows the slip to the middle of the step */
  check_orders("rotating-force", (change){.scheme = "trapezoidal", .directions = 4}, exact, 6, 10, 2);
  check_orders("rotating-force", (change){.scheme = "trapezoidal", .directions = 16}, exact, 6, 10, 2);
}

/* ---- anisotropic friction ---- */

static void skate_converges(void **state) {
  (void)state;
  const planar_state exact = integrate(&(ellipse){{0.05, 0.6}, 0, 1}, (planar_state){0, 0, 0, -2}, 2.5);
  check_orders("skate", (change){.scheme = "trapezoidal"}, exact, 6, 11, 2);
  const planar_state still = integrate(&(ellipse){{0.3, 0.1}, 0, 0}, (planar_state){0, 0, 0, -2}, 2.5);
  const change fixed = {.scheme = "trapezoidal", .set = {"along=0.3", "across=0.1", "spin=0"}};
  check_orders("skate", fixed, still, 6, 11, 2);
}

/* A block on a slope whose grain runs at an angle to the line of fall: it holds as long as gravity's pull lies inside the
 * ellipse; a disc of friction across the grain alone holds it in one direction only. */
static const char grain[] =
    "parameters: {along: 0.3, across: 0.6, heading: 0, pull: 3}\n"
    "contacts: [{between: [floor, block], friction: along, friction_across: across, axis: [cos(heading), sin(heading), "
    "0]}]\n"
    "materials: [{name: floor}, {name: block}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0, material: floor}]}\n"
    "bodies:\n"
    "  - {name: body, mass: 1, freedom: [x, y, z], position: [0, 0, 0], shapes: [{type: point, material: block}]}\n"
    "forces: [{type: applied, on: body, force: [pull, 0, 0]}]\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, friction: {cone: quadratic}, residual: 1e-9}\n";

static ss_vec3 pulled(double heading, double pull, const char *along, ss_cone cone) {
  run r;
  char settings[2][64];
  (void)snprintf(settings[0], sizeof settings[0], "heading=%.17g", heading);
  (void)snprintf(settings[1], sizeof settings[1], "pull=%.17g", pull);
  run_parse(&r, grain, &(change){.cone = cone, .set = {settings[0], settings[1], along}});
  run_finish(&r);
  const ss_vec3 position = run_position(&r, 0);
  run_close(&r);
  return position;
}

static void grain_holds_inside_the_ellipse(void **state) {
  (void)state;
  for (int i = 0; i < 12; i++) {
    const double heading = 0.5 * i;
    const double radius = G / hypot(cos(heading) / 0.3, sin(heading) / 0.6); /* of the ellipse along the pull */
    for (int c = 0; c < 3; c += 2) { /* a polygon has a corner along the pull, the square does not fill the ellipse */
      check_below(v3_norm(pulled(heading, 0.999 * radius, "along=0.3", cones[c])), 1e-9, "way inside");
      assert_true(v3_norm(pulled(heading, 1.001 * radius, "along=0.3", cones[c])) > 1e-4);
    }
  }
  /* no friction along the grain: the body slides along it and stays on the line */
  const ss_vec3 p = pulled(0.3, 3, "along=0", SS_CONE_QUADRATIC);
  check_near(v3_dot(p, v3(cos(0.3), sin(0.3), 0)), 1.5 * cos(0.3), 1e-9, "way along the grain");
  check_near(v3_dot(p, v3(-sin(0.3), cos(0.3), 0)), 0, 1e-9, "way across the grain");
}

/* ---- rolling resistance ---- */

static void wheel_rolls_to_a_stop(void **state) {
  (void)state;
  const double deceleration = G * 0.005 / 0.1 / 1.5;
  for (int k = 4; k <= 8; k++) {
    run r;
    run_open(&r, "rolling-resistance", &(change){.step = ldexp(1, -k)});
    run_finish(&r);
    check_near(run_position(&r, 0).x, 1 / (2 * deceleration), 1e-9, "way to the stop");
    check_below(v3_norm(run_velocity(&r, 0)) + v3_norm(run_turn(&r, 0)), 1e-9, "speed at the end");
    run_close(&r);
  }
  const char *const schemes[] = {"moreau", "stewart-trinkle", "anitescu-potra"};
  for (int s = 0; s < 3; s++) {
    run r;
    run_open(&r, "rolling-resistance", &(change){.scheme = schemes[s], .step = ldexp(1, -8)});
    run_finish(&r);
    check_near(run_position(&r, 0).x, 1 / (2 * deceleration), 0.01, "way to the stop, first order");
    check_below(v3_norm(run_velocity(&r, 0)), 1e-9, "speed at the end");
    run_close(&r);
  }
}

/* The same in space, in any direction: a sphere has 2/5 in place of 1/2. */
static const char rolling_ball[] = "parameters: {heading: 0}\n"
                                   "materials: [{name: default, friction: 0.5, rolling: 0.005, torsion: 0.003}]\n"
                                   "world: {shapes: [{type: half-space, normal: z, offset: 0}]}\n"
                                   "bodies: [{name: ball, mass: 3, position: [0, 0, 0.1], velocity: [cos(heading), "
                                   "sin(heading), 0], angular_velocity: "
                                   "[-10*sin(heading), 10*cos(heading), 0], shapes: [{type: sphere, radius: 0.1}]}]\n"
                                   "simulation: {scheme: trapezoidal, step: 0.01, duration: 4, events: [collision, "
                                   "stick-slip, take-off], residual: 1e-9,\n"
                                   "  friction: {cone: ellipsoid}}\n";

static double rolled_way(double heading, ss_cone cone, ss_vec3 *off) {
  run r;
  char setting[64];
  (void)snprintf(setting, sizeof setting, "heading=%.17g", heading);
  run_parse(&r, rolling_ball, &(change){.cone = cone, .set = {setting}});
  run_finish(&r);
  const ss_vec3 along = v3(cos(heading), sin(heading), 0), moved = v3_sub(run_position(&r, 0), v3(0, 0, 0.1));
  const double way = v3_dot(moved, along);
  *off = v3_axpy(moved, -way, along);
  check_below(v3_norm(run_velocity(&r, 0)) + 0.1 * v3_norm(run_turn(&r, 0)), 1e-8, "speed at the end");
  run_close(&r);
  return way;
}

static void ball_rolls_to_a_stop(void **state) {
  (void)state;
  const double deceleration = G * 0.005 / 0.1 / 1.4;
  ss_vec3 off;
  check_near(rolled_way(0, SS_CONE_PYRAMID, &off), 1 / (2 * deceleration), 1e-8, "way to the stop, pyramid");
  check_below(v3_norm(off), 1e-9, "way aside, pyramid");
  /* in the ellipsoid, the friction force that slows the centre takes its share of the moment: the ball creeps */
  const double straight = rolled_way(0, SS_CONE_QUADRATIC, &off);
  assert_true(straight > 1 / (2 * deceleration) && straight < 1.1 / (2 * deceleration));
  for (int i = 1; i < 8; i++) {
    check_near(rolled_way(0.7 * i, SS_CONE_QUADRATIC, &off), straight, 1e-6, "way in any direction");
    check_below(v3_norm(off), 1e-6, "way aside");
  }
}

/* ---- torsion ---- */

typedef struct spinning {
  double x, v, angle, spin;
} spinning;

/* Force and torque from the ellipsoid by maximum dissipation, at the normal force m g = G. */
static spinning spin_slope(spinning s) {
  const double mu = 0.3, torsion = 0.02, inertia = 0.01, size = hypot(mu * s.v, torsion * s.spin);
  return (spinning){s.v, -G * mu * mu * s.v / size, s.spin, -G * torsion * torsion * s.spin / size / inertia};
}

static spinning spin_shifted(spinning s, double h, spinning d) {
  return (spinning){s.x + h * d.x, s.v + h * d.v, s.angle + h * d.angle, s.spin + h * d.spin};
}

static spinning spin_integrate(spinning s, double duration) {
  enum { STEPS = 20000 };
  const double h = duration / STEPS;
  for (int i = 0; i < STEPS; i++) {
    const spinning a = spin_slope(s), b = spin_slope(spin_shifted(s, h / 2, a));
    const spinning c = spin_slope(spin_shifted(s, h / 2, b)), d = spin_slope(spin_shifted(s, h, c));
    s = spin_shifted(spin_shifted(spin_shifted(spin_shifted(s, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  }
  return s;
}

static void soft_finger_converges(void **state) {
  (void)state;
  const spinning exact = spin_integrate((spinning){0, 1, 0, 20}, 0.25); /* still in motion */
  double before = NAN;
  for (int k = 6; k <= 10; k++) {
    run r;
    run_open(&r, "soft-finger", &(change){.step = ldexp(1, -k), .duration = 0.25});
    run_finish(&r);
    const double error = hypot(hypot(run_position(&r, 0).x - exact.x, run_velocity(&r, 0).x - exact.v),
                               0.1 * (run_turn(&r, 0).z - exact.spin));
    if (k > 6 && fabs(log2(before / error) - 2) > 0.1) print_error("2^-%d: order %g\n", k, log2(before / error));
    if (k > 6) assert_true(fabs(log2(before / error) - 2) <= 0.1);
    before = error;
    run_close(&r);
  }
  run r; /* and it comes to rest */
  run_open(&r, "soft-finger", &(change){.duration = 2});
  run_finish(&r);
  check_below(v3_norm(run_velocity(&r, 0)) + v3_norm(run_turn(&r, 0)), 1e-9, "speed at the end");
  run_close(&r);
}

/* Without slip the torque is torsion m g, under every cone. */
static void torsion_alone(void **state) {
  (void)state;
  for (int c = 0; c < 3; c++) {
    run r;
    run_open(&r, "soft-finger", &(change){.cone = cones[c], .duration = 0.25, .set = {"v=0"}});
    run_finish(&r);
    check_near(run_turn(&r, 0).z, 20 - 0.25 * 0.02 * G / 0.01, 1e-9, "spin");
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(push_at_45_degrees_is_a_push_along_an_axis),
      cmocka_unit_test(incline_may_face_anywhere),
      cmocka_unit_test(curved_slip_converges),
      cmocka_unit_test(skate_converges),
      cmocka_unit_test(grain_holds_inside_the_ellipse),
      cmocka_unit_test(wheel_rolls_to_a_stop),
      cmocka_unit_test(ball_rolls_to_a_stop),
      cmocka_unit_test(soft_finger_converges),
      cmocka_unit_test(torsion_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
