/* A mechanism with a known solution for every joint type; order two where the motion is smooth. */
#include "scene_runner.h"

#define G 9.81
static const double pi = 3.14159265358979323846;

/* Error of a run at its end. */
typedef double (*error_function)(const run *r);

/* Observed order over halvings of the step from `coarsest`: all ratios within the band. */
static void check_order(const char *scene, double coarsest, error_function error, double tolerance) {
  enum { HALVINGS = 5 };
  double last = 0;
  for (int k = 0; k <= HALVINGS; k++) {
    run r;
    run_open(&r, scene, &(change){.step = ldexp(coarsest, -k)});
    run_finish(&r);
    const double now = error(&r);
    run_close(&r);
    if (k > 0) {
      const double order = log2(last / now);
      if (!(order > 1.9 && order < 2.1)) print_error("%s: order %.3f (%.3e, %.3e)\n", scene, order, last, now);
      assert_true(order > 1.9 && order < 2.1);
    }
    last = now;
  }
  check_below(last, tolerance, scene);
}

/* ---- rolling ---- */

static double disc_error(const run *r) {
  const double R = 1, rad = 0.3, lean = 20 * pi / 180, m = 2, A = m * rad * rad / 4, C = m * rad * rad / 2;
  const double W = sqrt(m * G * rad * tan(lean) / (C * R / rad + A * sin(lean) + m * rad * R));
  const double t = ss_sim_state(r->sim)->t;
  return run_distance(run_position(r, 0), v3(R * cos(W * t), R * sin(W * t), rad * cos(lean)));
}

static void disc_rolls_in_a_circle(void **state) {
  (void)state;
  check_order("rolling-disc", ldexp(1, -6), disc_error, 1e-5);
}

/* The centre obeys c'' = (2/7) W z x c': a circle of radius v / (2/7 W). */
static double turntable_error(const run *r) {
  const double rate = 2. / 7 * 3, radius = 0.4 / rate, t = ss_sim_state(r->sim)->t;
  return run_distance(run_position(r, 1), v3(radius * sin(rate * t), radius * (1 - cos(rate * t)), 0.1));
}

static void ball_circles_on_the_turntable(void **state) {
  (void)state;
  check_order("ball-on-turntable", ldexp(1, -5), turntable_error, 1e-4);
}

/* Down an incline: a wheel in the plane, and the same wheel in space on a plane carried by a falling body. */
static void wheel_rolls_down_an_incline(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "planar: xy\n"
            "parameters: {b: 20 deg}\n"
            "bodies: [{name: wheel, mass: 3, inertia: 0.03, position: [-0.2*sin(b), 0.2*cos(b)]}]\n"
            "joints: [{type: rolling, between: [world, wheel], radius: 0.2, normal: [-sin(b), cos(b)]}]\n"
            "simulation: {step: 0.01, duration: 2}\n",
            NULL);
  run_finish(&r);
  const double b = 20 * pi / 180, a = -G * sin(b) / (1 + 0.03 / (3 * 0.04)), s = a * 4 / 2;
  check_near(run_position(&r, 0).x, -0.2 * sin(b) + s * cos(b), 1e-12, "x");
  check_near(run_position(&r, 0).y, 0.2 * cos(b) + s * sin(b), 1e-12, "y");
  check_near(run_turn(&r, 0).z, -2 * a / 0.2, 1e-11, "rate");
  check_below(fabs(ss_sim_report(r.sim)->energy.remainder), 1e-12, "remainder");
  run_close(&r);
}

/* A plank that may slide without friction, a wheel that rolls on it, a force on the plank: two known accelerations. */
static void wheel_rolls_on_a_moving_plank(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "planar: xy\n"
            "bodies:\n"
            "  - {name: plank, mass: 2, inertia: 1, freedom: [x]}\n"
            "  - {name: wheel, mass: 3, inertia: 0.06, position: [0, 0.3]}\n"
            "joints: [{type: rolling, between: [plank, wheel], radius: 0.2, normal: [0, 1], offset: 0.1}]\n"
            "forces: [{type: applied, on: plank, force: [5, 0]}]\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  run_finish(&r);
  /* wheel: m a2 = f, I alpha = f r, a1 = a2 + alpha r; plank: M a1 = F - f */
  const double f = 5 / (2 * (1 / 3. + 0.04 / 0.06) + 1), a2 = f / 3, a1 = (5 - f) / 2;
  check_near(run_position(&r, 0).x, a1 / 2, 1e-12, "plank");
  check_near(run_position(&r, 1).x, a2 / 2, 1e-12, "wheel");
  check_near(run_turn(&r, 1).z, f * 0.2 / 0.06, 1e-11, "rate");
  run_close(&r);
}

/* ---- knife edge ---- */

static double skate_error(const run *r) {
  const double a = G / 2, w = 2, t = ss_sim_state(r->sim)->t, scale = a / (2 * w * w);
  return run_distance(run_position(r, 0), v3(scale * sin(w * t) * sin(w * t), scale * (w * t - sin(2 * w * t) / 2), 0));
}

static void skate_drifts_across_the_slope(void **state) {
  (void)state;
  check_order("knife-edge", ldexp(1, -5), skate_error, 1e-5);
}

/* ---- couplings ---- */

static void nut_runs_down_the_screw(void **state) {
  (void)state;
  run r;
  run_open(&r, "screw", NULL);
  run_finish(&r);
  const double ratio = 2 * pi / 0.05, a = -2 * G / (2 + 1e-3 * ratio * ratio);
  check_near(run_position(&r, 0).z, a * 2, 1e-11, "height");
  check_near(run_turn(&r, 0).z, ratio * a * 2, 1e-9, "rate");
  check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-12, "drift over 44 turns");
  run_close(&r);
}

static double planet_error(const run *r) {
  const double s = 0.2, p = 0.1, R = s + p, t = ss_sim_state(r->sim)->t;
  const double a = 0.5 / (0.05 + R * R + 0.01 * (1 + s / p) * (1 + s / p)), angle = a * t * t / 2;
  return run_distance(run_position(r, 1), v3(R * cos(angle), R * sin(angle), 0));
}

static void planet_runs_round_the_sun(void **state) {
  (void)state;
  check_order("planetary-gear", ldexp(1, -6), planet_error, 1e-5);
}

/* Wheels on axles at rest, spur and bevel: accelerations in the ratio of the gear, inertias reduced by its square. */
static void gears_divide_the_torque(void **state) {
  (void)state;
  const char *joints[] = {"radii: [0.3, 0.1], axis: z", "ratio: 1/3, axis: z", "ratio: -1/3, axes: [z, x]"};
  for (int k = 0; k < 3; k++) {
    char text[900];
    const bool bevel = k == 2;
    (void)snprintf(
        text, sizeof text,
        "bodies:\n"
        "  - {name: big, mass: 1, inertia: [0.2, 0.2, 0.2], freedom: [rx, ry, rz]}\n"
        "  - {name: small, mass: 1, inertia: [0.1, 0.1, 0.1], freedom: [rx, ry, rz], position: [0.4, 0, 0]}\n"
        "joints:\n"
        "  - {type: revolute, between: [world, big], at: [0, 0, 0], axis: z}\n"
        "  - {type: revolute, between: [world, small], at: [0.4, 0, 0], axis: %s}\n"
        "  - {type: gear, between: [big, small], %s}\n"
        "forces: [{type: applied, on: big, torque: [0, 0, 4]}]\n"
        "simulation: {step: 0.01, duration: 3}\n",
        bevel ? "x" : "z", joints[k]);
    run r;
    run_parse(&r, text, NULL);
    run_finish(&r);
    const double a = 4 / (0.2 + 0.1 * 9), sign = bevel ? 1 : -1;
    check_near(run_turn(&r, 0).z, 3 * a, 1e-10, "big");
    check_near(bevel ? run_turn(&r, 1).x : run_turn(&r, 1).z, sign * 9 * a, 1e-10, "small");
    check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-12, "drift over many turns");
    run_close(&r);
  }
}

/* ---- springs ---- */

/* x'' = -2 z w x' - w^2 x for a flywheel on a torsional spring, wound up by more than a full turn, and a weight on a spring in a
 * slider: order two, and a ledger without a remainder of order one. */
static double swing(double t, double w, double z, double x0) {
  const double wd = w * sqrt(1 - z * z);
  return x0 * exp(-z * w * t) * (cos(wd * t) + z * w / wd * sin(wd * t));
}

static void springs_in_joints_swing(void **state) {
  (void)state;
  double last[2] = {0};
  for (int k = 0; k < 4; k++) {
    run r;
    run_parse(&r,
              "parameters: {k: 8, d: 0.1}\n"
              "bodies:\n"
              "  - {name: wheel, mass: 1, inertia: [0.5, 0.5, 0.5], position: [1, 0, 0]}\n"
              "  - {name: weight, mass: 2, inertia: [1, 1, 1], position: [0, 0, 0]}\n"
              "joints:\n"
              "  - {type: revolute, between: [world, wheel], at: [1, 0, 0], axis: [0, 0, 1],\n"
              "     spring: {stiffness: k, damping: d, rest: 9}}\n"
              "  - {type: prismatic, between: [world, weight], axis: [0, 0, 1], spring: {stiffness: 50, damping: 1}}\n"
              "simulation: {step: 0.01, duration: 2}\n",
              &(change){.step = ldexp(0.02, -k)});
    run_finish(&r);
    const double w1 = sqrt(8 / 0.5), w2 = sqrt(50 / 2.), sag = 2 * G / 50;
    const double angle = 9 + swing(2, w1, 0.1 / (2 * 0.5 * w1), -9), z = -sag + swing(2, w2, 1 / (4 * w2), sag);
    const ss_quat q = ss_sim_motion(r.sim, 0).pose.orientation;
    const double turn = 2 * atan2(q.z, q.w),
                 error[2] = {fabs(remainder(turn - angle, 2 * pi)), fabs(run_position(&r, 1).z - z)};
    for (int i = 0; k > 0 && i < 2; i++) check_near(log2(last[i] / error[i]), 2, 0.1, "order");
    last[0] = error[0], last[1] = error[1];
    const ss_energy *e = &ss_sim_report(r.sim)->energy;
    check_near(e->initial, 0.5 * 8 * 81, 1e-9, "energy of the springs");
    check_below(fabs(e->remainder), 0.01 * e->initial * ldexp(1, -2 * k), "remainder");
    run_close(&r);
  }
}

/* Far too stiff for the step it holds the arm like a weld. */
static void stiff_spring_holds(void **state) {
  (void)state;
  static const char *const schemes[] = {"trapezoidal", "moreau", "anitescu-potra-stiff"};
  for (int k = 0; k < 3; k++) {
    run r;
    run_parse(&r,
              "planar: xy\n"
              "bodies: [{name: arm, mass: 1, inertia: 1/12, position: [0.5, 0]}]\n"
              "joints: [{type: revolute, between: [world, arm], at: [0, 0], spring: {stiffness: 1e9, damping: 1e7}}]\n"
              "simulation: {step: 0.01, duration: 1}\n",
              &(change){.scheme = schemes[k]});
    run_finish(&r);
    check_near(run_position(&r, 0).y, -0.5 * 0.5 * G / 1e9, 1e-9, "sag");
    run_close(&r);
  }
}

/* ---- pairs ---- */

/* The rates of the two shafts are in the ratio of Cardan at every step, and the energy stays; the last run is that of the
 * first step with joints that hold. */
static void cardan_shafts_have_their_rates(void **state) {
  (void)state;
  const double b = 40 * pi / 180;
  double last = 0;
  for (int k = 0; k <= 4; k++) {
    run r;
    const bool held = k == 4;
    run_open(&r, "universal-shafts", &(change){.step = ldexp(1, -8 - (held ? 0 : k)), .unstabilized = !held});
    double worst = 0;
    while (!ss_sim_done(r.sim)) {
      run_step(&r);
      const ss_quat q = ss_sim_motion(r.sim, 0).pose.orientation;
      const double angle = 2 * atan2(q.x, q.w);
      const ss_vec3 w2 = run_turn(&r, 1);
      const double second = w2.x * cos(b) + w2.y * sin(b);
      const double s = sin(b) * cos(angle), expected = run_turn(&r, 0).x * cos(b) / (1 - s * s);
      worst = fmax(worst, fabs(second - expected));
    }
    run_check(&r);
    check_below(fabs(ss_sim_report(r.sim)->energy.remainder), 1e-12, "energy");
    run_close(&r);
    if (k > 0 && !held) check_near(log2(last / worst), 2, 0.1, "order of the ratio");
    if (held) check_below(worst, 1e-9, "ratio of shafts whose joint holds");
    last = worst;
  }
}

static double bead_error(const run *r) {
  const double t = ss_sim_state(r->sim)->t, radius = 0.2 * cosh(2 * t);
  return run_distance(run_position(r, 1), v3(radius * cos(2 * t), radius * sin(2 * t), 0));
}

static void bead_is_thrown_outwards(void **state) {
  (void)state;
  check_order("bead-on-rod", ldexp(1, -5), bead_error, 1e-5);
}

static void sleeve_slides_and_spins(void **state) {
  (void)state;
  run r;
  run_open(&r, "sleeve", NULL);
  run_finish(&r);
  const double tilt = pi / 6, s = G * sin(tilt) / 2;
  check_below(run_distance(run_position(&r, 0), v3(s * cos(tilt), 0, -s * sin(tilt))), 1e-12, "position");
  check_below(run_distance(run_turn(&r, 0), v3(7 * cos(tilt), 0, -7 * sin(tilt))), 1e-11, "spin");
  run_close(&r);
}

static void puck_flies_a_parabola(void **state) {
  (void)state;
  run r;
  run_open(&r, "puck", NULL);
  run_finish(&r);
  const double tilt = 25 * pi / 180, s = G * sin(tilt) / 2;
  check_below(run_distance(run_position(&r, 0), v3(s * cos(tilt), 1, -s * sin(tilt))), 1e-12, "position");
  check_below(run_distance(run_turn(&r, 0), v3(6 * sin(tilt), 0, 6 * cos(tilt))), 1e-11, "spin");
  run_close(&r);
}

/* ---- closed loops and redundancy ---- */

/* The table of the benchmark, where it is at hand: columns t x y vx vy of the point (0, 1) of the first crank. */
static FILE *benchmark_table(void) {
  const char *directory = getenv("STICKSLIP_DATA");
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/mechanisms/A02_fourbar_N2_B0.txt",
                 directory ? directory : SOURCE_DIR "/../shared/data");
  return fopen(path, "r");
}

static void four_bar_follows_the_benchmark(void **state) {
  (void)state;
  FILE *table = benchmark_table();
  if (!table) {
    print_message("no table of benchmark A02; set STICKSLIP_DATA\n");
    skip();
  }
  double t[128], x[128], y[128], error[2] = {0};
  int n = 0;
  char line[256];
  while (n < 128 && fgets(line, sizeof line, table))
    if (sscanf(line, "%lf %lf %lf", &t[n], &x[n], &y[n]) == 3) n++;
  (void)fclose(table);
  assert_true(n > 90);
  for (int k = 0; k < 2; k++) {
    run r;
    run_open(&r, "four-bar", &(change){.step = k ? 0.0005 : 0.001});
    for (int i = 1; i < n; i++) {
      while (ss_sim_state(r.sim)->t < t[i] - 1e-9) run_step(&r);
      const ss_pose crank = ss_sim_motion(r.sim, 0).pose;
      const ss_vec3 tip = pose_point(&crank, v3(0.5, 0, 0));
      error[k] = fmax(error[k], run_distance(tip, v3(x[i], y[i], 0)));
    }
    run_check(&r);
    check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-13, "drift");
    run_close(&r);
  }
  check_below(error[1], 2e-4, "distance from the table");
  assert_true(log2(error[0] / error[1]) > 1.9); /* the projection loses a little energy, of higher order */
}

/* The planar mechanism as a spatial one: hinges with parallel axes hold each other. Same motion, redundant equations. */
static void redundant_joints_change_nothing(void **state) {
  (void)state;
  const char *body =
      "  - {name: a, mass: 1, inertia: [0.01, 0.1, 0.1], position: [0, 0.5, 0], orientation: {axis: z, angle: "
      "90 deg}, velocity: [0.5, 0, 0], angular_velocity: [0, 0, -1]}\n"
      "  - {name: b, mass: 1, inertia: [0.01, 0.1, 0.1], position: [0.5, 1, 0], velocity: [1, 0, 0]}\n"
      "  - {name: c, mass: 1, inertia: [0.01, 0.1, 0.1], position: [1, 0.5, 0], orientation: {axis: z, "
      "angle: 90 deg}, velocity: [0.5, 0, 0], angular_velocity: [0, 0, -1]}\n";
  ss_vec3 end[2];
  for (int planar = 0; planar < 2; planar++) {
    char text[3000];
    (void)snprintf(text, sizeof text,
                   "%s"
                   "gravity: [0, -9.81, 0]\n"
                   "bodies:\n%s"
                   "joints:\n"
                   "  - {type: revolute, between: [world, a], at: [0, 0, 0], axis: z}\n"
                   "  - {type: revolute, between: [a, b], at: [0, 1, 0], axis: z}\n"
                   "  - {type: revolute, between: [b, c], at: [1, 1, 0], axis: z}\n"
                   "  - {type: revolute, between: [world, c], at: [1, 0, 0], axis: z}\n"
                   "simulation: {step: 0.001, duration: 0.7, stabilization: projection}\n",
                   planar ? "planar: xy\n" : "", body);
    run r;
    run_parse(&r, text, NULL);
    const int rows = ss_model_joint_rows(r.model), rank = ss_sim_joint_rank(r.sim);
    assert_int_equal(ss_model_coordinates(r.model) - rank, 1);
    assert_int_equal(rows - rank, planar ? 0 : 3);
    run_finish(&r);
    check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-13, "drift");
    end[planar] = run_position(&r, 1);
    run_close(&r);
  }
  check_below(run_distance(end[0], end[1]), 1e-10, "spatial and planar");
}

/* 20 equations for 18 coordinates, and it moves: redundant equations must neither lock it nor be lost, also where it
 * folds flat and other equations become the redundant ones. */
static void bennett_linkage_moves(void **state) {
  (void)state;
  ss_vec3 end[3];
  for (int k = 0; k < 3; k++) {
    run r;
    run_open(&r, "bennett-linkage", &(change){.step = ldexp(1, -7 - 2 * k)});
    assert_int_equal(ss_model_joint_rows(r.model), 20);
    assert_int_equal(ss_sim_joint_rank(r.sim), 17);
    run_finish(&r);
    check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-9, "drift");
    check_below(fabs(ss_sim_report(r.sim)->energy.stabilization), k ? 1e-4 : 1e-3, "energy of the projection");
    end[k] = run_position(&r, 1);
    run_close(&r);
  }
  check_below(run_distance(end[0], end[1]), 5e-5, "converges");
  check_below(run_distance(end[1], end[2]), 5e-6, "converges");
}

/* Each of the two hinges carries half of the weight, and the couple of the overhang by forces +-m g x / d. */
static void redundant_hinges_share_the_load(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_open(&r, "door", NULL);
  run_finish(&r);
  assert_int_equal(ss_model_joint_rows(r.model), 10);
  assert_int_equal(ss_sim_joint_rank(r.sim), 5);
  double z[10];
  run_require(ss_sim_joint_impulses(r.sim, z, &error), &error, "impulses");
  const double h = ldexp(1, -7), weight = 20 * G * h;
  check_near(z[2], z[7], 1e-12 * weight, "vertical forces"); /* on the world: downwards */
  check_near(fabs(z[2] + z[7]), weight, 1e-12 * weight, "weight");
  check_near(z[0] + z[5], 0, 1e-12 * weight, "horizontal forces");
  run_close(&r);
}

/* ---- joints beside redundant contacts ---- */

typedef struct watched {
  ss_cp_workspace *workspace;
  double residual, uneven; /* the worst */
  int problems, most_rows;
} watched;

static ss_status watch_selection(void *user, const ss_sim *sim, const ss_cp *problem, const double *z,
                                 ss_error *error) {
  (void)sim;
  (void)error;
  watched *w = user;
  w->residual = fmax(w->residual, ss_cp_judge(problem, z, NULL));
  w->uneven = fmax(w->uneven, ss_cp_judge_selection(problem, z, w->workspace));
  w->problems++;
  if (problem->n > w->most_rows) w->most_rows = problem->n;
  return SS_OK;
}

/* Three planks in a row, hinged to each other, lie on the floor with four corners each: of 36 impulses of contacts and 10 of joints the
 * motion determines 18. Joints are eliminated before the contacts' problem is solved, and share the load all the same as if
 * all of it were one problem. Pushed along they slide, and turn a little. */
static void joints_share_with_redundant_contacts(void **state) {
  (void)state;
  const struct {
    const char *cone;
    double speed;
  } cases[] = {{"quadratic", 0}, {"polyhedral", 0}, {"pyramid", 0}, {"quadratic", 0.5}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char scene[2000];
    (void)snprintf(scene, sizeof scene,
                   "materials: [{name: default, friction: 0.4, restitution: 0}]\n"
                   "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                   "contacts: [{between: [a, b], collide: false}, {between: [b, c], collide: false}]\n"
                   "bodies:\n"
                   "  - {name: a, mass: 2, position: [-1, 0, 0.1], velocity: [%g, %g, 0],"
                   " shapes: [{type: box, size: [0.9, 0.4, 0.2]}]}\n"
                   "  - {name: b, mass: 1, position: [0, 0, 0.1], velocity: [%g, %g, 0],"
                   " shapes: [{type: box, size: [0.9, 0.5, 0.2]}]}\n"
                   "  - {name: c, mass: 3, position: [1, 0.05, 0.1], velocity: [%g, %g, 0],"
                   " shapes: [{type: box, size: [0.9, 0.3, 0.2]}]}\n"
                   "joints:\n"
                   "  - {type: revolute, between: [a, b], at: [-0.5, 0, 0.12], axis: [0, 1, 0]}\n"
                   "  - {type: revolute, between: [b, c], at: [0.5, 0.1, 0.08], axis: [0, 1, 0]}\n"
                   "simulation: {scheme: moreau, step: 0.01, duration: 0.05, friction: {cone: %s}}\n",
                   cases[k].speed, cases[k].speed / 3, cases[k].speed, cases[k].speed / 3, cases[k].speed,
                   cases[k].speed / 3, cases[k].cone);
    run r;
    ss_error error = {0};
    watched w = {0};
    run_require(ss_cp_workspace_create(&w.workspace, &error), &error, "workspace");
    run_parse(&r, scene, NULL);
    const ss_observer watch = {.user = &w, .step = run_ignore_step, .problem = watch_selection};
    run_require(ss_sim_observe(r.sim, &watch, &error), &error, "observe");
    run_finish(&r);
    assert_int_equal(w.problems, 5);
    assert_int_equal(w.most_rows, 46);
    check_below(w.residual, 1e-9, cases[k].cone);
    check_below(w.uneven, 1e-7, cases[k].cone);
    assert_int_equal(ss_sim_report(r.sim)->solves.fallbacks, 0); /* nothing needed the whole problem */
    run_close(&r);
    ss_cp_workspace_destroy(w.workspace);
  }
}

/* A gripper: two pads on prismatic joints, each pressed by a motor, hold a bar by four corners each. Grip forces of 40 N on each side carry 6 N
 * and a couple, because the bar is held at one end. */
static void grips_share_the_load(void **state) {
  (void)state;
  static const char *const cones[] = {"quadratic", "polyhedral", "pyramid"};
  for (size_t k = 0; k < 3; k++) {
    char scene[2000];
    (void)snprintf(
        scene, sizeof scene,
        "materials: [{name: default, friction: 0.6, restitution: 0}]\n"
        "bodies:\n"
        "  - {name: left, mass: 0.3, position: [0, -0.05, 0], shapes: [{type: box, size: [0.04, 0.02, 0.03]}]}\n"
        "  - {name: right, mass: 0.3, position: [0, 0.05, 0], shapes: [{type: box, size: [0.04, 0.02, 0.03]}]}\n"
        "  - {name: bar, mass: 0.6, position: [0.04, 0, 0], shapes: [{type: box, size: [0.2, 0.08, 0.05]}]}\n"
        "joints:\n"
        "  - {type: prismatic, between: [world, left], at: [0, -0.05, 0], axis: [0, 1, 0]}\n"
        "  - {type: prismatic, between: [world, right], at: [0, 0.05, 0], axis: [0, 1, 0]}\n"
        "forces:\n"
        "  - {type: applied, on: left, force: [0, 40, 0]}\n"
        "  - {type: applied, on: right, force: [0, -40, 0]}\n"
        "simulation: {scheme: moreau, step: 0.005, duration: 0.05, friction: {cone: %s}}\n",
        cones[k]);
    run r;
    ss_error error = {0};
    watched w = {0};
    run_require(ss_cp_workspace_create(&w.workspace, &error), &error, "workspace");
    run_parse(&r, scene, NULL);
    const ss_observer watch = {.user = &w, .step = run_ignore_step, .problem = watch_selection};
    run_require(ss_sim_observe(r.sim, &watch, &error), &error, "observe");
    run_finish(&r);
    assert_int_equal(w.problems, 10);
    check_below(w.residual, 1e-9, cones[k]);
    check_below(w.uneven, 1e-7, cones[k]);
    run_close(&r);
    ss_cp_workspace_destroy(w.workspace);
  }
}

/* A folding ruler that has come to rest on the floor: the impulses of the last step solve many a next one, which takes five
 * iterations otherwise. */
static void ruler_at_rest_is_judged_only(void **state) {
  enum { STEPS = 100 };
  (void)state;
  run r;
  run_parse(&r,
            "bodies:\n"
            "  - {name: a, mass: 1, position: [0, 0, 0.1], shapes: [{type: box, size: [0.8, 0.2, 0.2]}]}\n"
            "  - {name: b, mass: 2, position: [1, 0, 0.1], shapes: [{type: box, size: [0.8, 0.2, 0.2]}]}\n"
            "  - {name: c, mass: 1, position: [2, 0, 0.1], shapes: [{type: box, size: [0.8, 0.2, 0.2]}]}\n"
            "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
            "materials: [{name: default, friction: 0.5, restitution: 0}]\n"
            "joints:\n"
            "  - {type: revolute, between: [a, b], at: [0.5, 0, 0.1], axis: [0, 1, 0]}\n"
            "  - {type: revolute, between: [b, c], at: [1.5, 0, 0.1], axis: [0, 1, 0]}\n"
            "simulation: {scheme: moreau, step: 0.01, duration: 10}\n",
            NULL);
  for (int i = 0; i < STEPS; i++) run_step(&r);
  const long before = ss_sim_report(r.sim)->solves.iterations;
  for (int i = 0; i < STEPS; i++) run_step(&r);
  check_below((double)(ss_sim_report(r.sim)->solves.iterations - before), 4 * STEPS, "iterations at rest");
  check_near(run_position(&r, 1).z, 0.1, 1e-12, "height");
  check_below(v3_norm(run_velocity(&r, 1)), 1e-12, "speed");
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(disc_rolls_in_a_circle),
      cmocka_unit_test(ball_circles_on_the_turntable),
      cmocka_unit_test(wheel_rolls_down_an_incline),
      cmocka_unit_test(wheel_rolls_on_a_moving_plank),
      cmocka_unit_test(skate_drifts_across_the_slope),
      cmocka_unit_test(nut_runs_down_the_screw),
      cmocka_unit_test(planet_runs_round_the_sun),
      cmocka_unit_test(gears_divide_the_torque),
      cmocka_unit_test(springs_in_joints_swing),
      cmocka_unit_test(stiff_spring_holds),
      cmocka_unit_test(cardan_shafts_have_their_rates),
      cmocka_unit_test(bead_is_thrown_outwards),
      cmocka_unit_test(sleeve_slides_and_spins),
      cmocka_unit_test(puck_flies_a_parabola),
      cmocka_unit_test(four_bar_follows_the_benchmark),
      cmocka_unit_test(redundant_joints_change_nothing),
      cmocka_unit_test(bennett_linkage_moves),
      cmocka_unit_test(redundant_hinges_share_the_load),
      cmocka_unit_test(joints_share_with_redundant_contacts),
      cmocka_unit_test(grips_share_the_load),
      cmocka_unit_test(ruler_at_rest_is_judged_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
