/* Nothing gets through anything: starts at zero gap, hops shorter than a step, fast and thin bodies, many at once. */
#include "scene_runner.h"

static double lowest_gap(run *r, double radius) {
  double lowest = HUGE_VAL;
  while (!ss_sim_done(r->sim)) {
    run_step(r);
    lowest = fmin(lowest, run_position(r, 0).z - radius);
  }
  run_check(r);
  return lowest;
}

static const char ball_on_floor[] = "name: Ball\n"
                                    "parameters: {gap: 0, vz: 0, vx: 0, e: 0, mu: 0}\n"
                                    "materials: [{name: default, friction: mu, restitution: e}]\n"
                                    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                                    "bodies:\n"
                                    "  - {name: ball, mass: 1, position: [0, 0, 0.1 + gap], velocity: [vx, 0, vz], "
                                    "shapes: [{type: sphere, radius: 0.1}]}\n"
                                    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n";

/* A hop from the floor that is over before the step is, under every scheme. */
static void short_hop_comes_down_on_the_floor(void **state) {
  (void)state;
  const char *const speeds[] = {"vz=1e-6", "vz=0.001", "vz=0.03", "vz=0.049", "vz=0.06", "vz=0.099", "vz=0.5"};
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++)
    for (size_t i = 0; scheme_is_rigid(row->name) && i < sizeof speeds / sizeof *speeds; i++)
      for (int k = 0; k < 3; k++) {
        run r;
        const char *const gaps[] = {"gap=0", "gap=1e-17", "gap=-1e-6"};
        run_parse(&r, ball_on_floor, &(change){.scheme = row->name, .set = {speeds[i], gaps[k]}});
        const double lowest = lowest_gap(&r, 0.1);
        if (lowest < (k == 2 ? -1.001e-6 : -1e-13))
          print_error("%s %s %s: %g\n", row->name, speeds[i], gaps[k], lowest);
        check_below(-lowest, k == 2 ? 1.001e-6 : 1e-13, "depth of the ball");
        run_close(&r);
      }
}

/* ---- fast and thin ---- */

/* A ball shot at a plate, both thinner than the way of a step by orders of magnitude. */
static const char shot[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {r: 0.01, v: 1000, thick: 1e-3, e: 0, off: 0}\n"
    "materials: [{name: default, friction: 0, restitution: e}]\n"
    "bodies:\n"
    "  - {name: ball, mass: 1, position: [0, 0, 7.3], velocity: [0, 0, -v], shapes: [{type: sphere, radius: r}]}\n"
    "  - {name: plate, mass: 1e6, position: [off, 0, 0], shapes: [{type: box, size: [1, 1, thick]}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.1, duration: 0.4}\n";

static void shot_does_not_pass_the_plate(void **state) {
  (void)state;
  const char *const radii[] = {"r=0.01", "r=1e-4", "r=1e-6"}, *const thickness[] = {"thick=1e-2", "thick=1e-4",
                                                                                    "thick=1e-6"};
  const char *const speeds[] = {"v=10", "v=1e3", "v=1e5"};
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++) {
        run r;
        run_parse(
            &r, shot,
            &(change){.scheme = scheme->name, .duration = 2, .set = {radii[i], thickness[i], speeds[k], "off=0.2"}});
        run_finish(&r);
        const ss_pose plate = ss_sim_motion(r.sim, 1).pose; /* it turns: it is hit off its centre */
        const double side = pose_local(&plate, run_position(&r, 0)).z;
        if (side < 0) print_error("%s %s %s: ball at %g\n", scheme->name, radii[i], speeds[k], side);
        assert_true(side >= 0);
        assert_true(ss_sim_report(r.sim)->events[SS_COLLISION] >= 1);
        run_close(&r);
      }
}

/* Two small balls that cross within one step. */
static const char crossing[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {v: 100, miss: 0}\n"
    "materials: [{name: default, friction: 0.1, restitution: 1}]\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [-30, 0, 0], velocity: [v, 0, 0], shapes: [{type: sphere, radius: 0.01}]}\n"
    "  - {name: b, mass: 1, position: [0, -30 + miss, 0], velocity: [0, v, 0], shapes: [{type: sphere, radius: "
    "0.01}]}\n"
    "simulation: {scheme: trapezoidal, step: 1, duration: 1}\n";

static void crossing_balls_collide_if_they_meet(void **state) {
  (void)state;
  const char *const misses[] = {"miss=0", "miss=0.02", "miss=0.0282", "miss=0.0284", "miss=0.1"};
  for (int i = 0; i < 5; i++) { /* closest approach miss/sqrt(2) against 0.02 */
    run r;
    run_parse(&r, crossing, &(change){.set = {misses[i]}});
    run_finish(&r);
    assert_int_equal(r.n_collisions, i < 3);
    const double speed = hypot(v3_norm(run_velocity(&r, 0)), v3_norm(run_velocity(&r, 1)));
    check_below(speed, 100 * sqrt(2) * (1 + 1e-12), "speed after the meeting");
    run_close(&r);
  }
}

/* A rod that spins by many turns within a step hits the floor with an end. */
static const char propeller[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {w: 50, v: 1}\n"
    "materials: [{name: default, friction: 0, restitution: 0}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: rod, mass: 1, position: [0, 0, 0.6], velocity: [0, 0, -v], angular_velocity: [0, w, 0],\n"
    "     shapes: [{type: capsule, radius: 0.01, length: 1, axis: x}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.05, duration: 1}\n";

static void propeller_hits_the_floor(void **state) {
  (void)state;
  const char *const spins[] = {"w=1", "w=50", "w=400"}, *const speeds[] = {"v=0.1", "v=1", "v=20"};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      run r;
      run_parse(&r, propeller, &(change){.set = {spins[i], speeds[k]}});
      double lowest = 0;
      while (!ss_sim_done(r.sim)) {
        run_step(&r);
        const ss_motion m = ss_sim_motion(r.sim, 0);
        const double rise = fabs(quat_rotate(m.pose.orientation, v3(0.5, 0, 0)).z);
        lowest = fmin(lowest, m.pose.position.z - rise - 0.01);
      }
      run_check(&r);
      if (lowest < -1e-6) print_error("%s %s: %g\n", spins[i], speeds[k], lowest);
      check_below(-lowest, 1e-6, "depth of the rod");
      check_below(ss_sim_report(r.sim)->certificate.energy_created, 1e-9 * ss_sim_report(r.sim)->energy.initial,
                  "energy created");
      run_close(&r);
    }
}

/* ---- starts ---- */

static void starts_at_and_below_the_surface(void **state) {
  (void)state;
  const char *const gaps[] = {"gap=0", "gap=1e-16", "gap=-1e-16", "gap=1e-9", "gap=-1e-9", "gap=-5e-5"};
  const double depth[] = {1e-14, 1e-14, 1e-14, 1e-14, 1.001e-9, 5.001e-5};
  const char *const speeds[] = {"vz=0", "vz=-1e-12", "vz=-1", "vz=1e-12"}, *const restitutions[] = {"e=0", "e=0.5"};
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 4; k++)
        for (int e = 0; e < 2; e++) {
          run r;
          run_parse(
              &r, ball_on_floor,
              &(change){.scheme = scheme->name, .set = {gaps[i], speeds[k], restitutions[e], "mu=0.3", "vx=0.5"}});
          const double lowest = lowest_gap(&r, 0.1);
          if (-lowest > depth[i]) print_error("%s %s %s %s\n", scheme->name, gaps[i], speeds[k], restitutions[e]);
          check_below(-lowest, depth[i], "depth of the ball");
          /* what a first-order scheme lifts out of an overlap is work that it does, no more */
          check_below(ss_sim_report(r.sim)->certificate.energy_created, i == 5 ? 1e-3 : 1e-8, "energy created");
          run_close(&r);
        }
}

/* ---- several at once ---- */

static const char corner[] = "gravity: [0, 0, 0]\n"
                             "parameters: {e: 1, angle: 45 deg}\n"
                             "materials: [{name: default, friction: 0, restitution: e}]\n"
                             "world:\n"
                             "  shapes:\n"
                             "    - {type: half-space, normal: [1, 0, 0], offset: 0}\n"
                             "    - {type: half-space, normal: [0, 1, 0], offset: 0}\n"
                             "    - {type: half-space, normal: [0, 0, 1], offset: 0}\n"
                             "bodies:\n"
                             "  - {name: ball, mass: 1, position: [1.1, 1.1, 1.1], velocity: [-1, -1, -1], shapes: "
                             "[{type: sphere, radius: 0.1}]}\n"
                             "simulation: {scheme: trapezoidal, step: 0.3, duration: 3}\n";

static void ball_comes_straight_back_out_of_a_corner(void **state) {
  (void)state;
  for (int law = 0; law < 2; law++) {
    run r;
    run_parse(&r, corner, &(change){.restitution = law ? SS_RESTITUTION_NEWTON : SS_RESTITUTION_POISSON});
    run_finish(&r);
    assert_int_equal(r.n_collisions, 3);
    const ss_vec3 v = run_velocity(&r, 0), x = run_position(&r, 0);
    check_below(run_distance(v, v3(1, 1, 1)), 1e-12, "velocity out of the corner");
    check_below(run_distance(x, v3(2.1, 2.1, 2.1)), 1e-12, "place out of the corner");
    run_close(&r);
  }
}

/* A planar box that is so fast that its upper corners are in reach of the floor too still stands on the lower ones. */
static const char fast_slide[] = "planar: xy\n"
                                 "parameters: {v: 0}\n"
                                 "materials: [{name: default, friction: 0, restitution: 0}]\n"
                                 "world: {shapes: [{type: half-space, normal: [0, 1, 0], offset: 0}]}\n"
                                 "bodies:\n"
                                 "  - {name: box, mass: 1, position: [0, 0.1], orientation: pi, velocity: [v, 0], "
                                 "shapes: [{type: box, size: [0.4, 0.2, 0.3]}]}\n"
                                 "simulation: {scheme: moreau, step: 0.01, duration: 1}\n";

static void fast_box_stays_on_the_floor(void **state) {
  (void)state;
  const char *const speeds[] = {"v=0", "v=1", "v=5", "v=10", "v=100"};
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (int i = 0; i < 5; i++) {
      run r;
      run_parse(&r, fast_slide, &(change){.scheme = scheme->name, .set = {speeds[i]}});
      run_finish(&r);
      check_near(run_position(&r, 0).y, 0.1, 1e-12, "height of the box");
      assert_int_equal(r.n_collisions, 0);
      run_close(&r);
    }
}

/* A box that hits a plate with a corner turns by several radians in the rest of the step: it does not tumble through. */
static void test_tumbling(void **state) {
  (void)state;
  static const char *const schemes[] = {"moreau", "trapezoidal", "anitescu-potra"};
  for (int i = 0; i < 120; i++) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "gravity: [0, 0, 0]\n"
                   "world: {shapes: [{type: box, size: [16, 16, 0.1]}]}\n"
                   "bodies: [{name: a, density: 1000, position: [0, 0, 3], velocity: [0, 0, -500],"
                   " orientation: {rpy: [%g, %g, 0]}, shapes: [{type: box, size: [0.3, 0.6, 0.4]}]}]\n"
                   "simulation: {scheme: %s, step: 0.01, duration: 0.05}\n",
                   fmod(0.37 * i, 3), fmod(0.61 * i, 3), schemes[i % 3]);
    run r;
    run_parse(&r, text, NULL);
    run_finish(&r);
    const double z = ss_sim_motion(r.sim, 0).pose.position.z;
    if (!(z > 0)) fail_msg("shot %d: z = %g", i, z);
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(short_hop_comes_down_on_the_floor),        cmocka_unit_test(shot_does_not_pass_the_plate),
      cmocka_unit_test(crossing_balls_collide_if_they_meet),      cmocka_unit_test(propeller_hits_the_floor),
      cmocka_unit_test(starts_at_and_below_the_surface),          cmocka_unit_test(fast_box_stays_on_the_floor),
      cmocka_unit_test(ball_comes_straight_back_out_of_a_corner), cmocka_unit_test(test_tumbling)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
