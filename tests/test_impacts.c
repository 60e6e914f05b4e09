/* Impacts against hand calculation: restitution, friction, several bodies at once; energy is never created. */
#include "scene_runner.h"

static const ss_restitution laws[] = {SS_RESTITUTION_POISSON, SS_RESTITUTION_NEWTON};

static void no_energy_from_nothing(const run *r) {
  const ss_report *report = ss_sim_report(r->sim);
  const double scale = fabs(report->energy.initial) + report->energy.kinetic;
  check_below(report->certificate.energy_created, 1e-11 * scale, "energy created");
}

/* ---- two balls ---- */

static const char two_balls[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {m1: 1, m2: 1, v1: 1, v2: 0, e: 1, gap: 1}\n"
    "materials: [{name: default, friction: 0.4, restitution: e}]\n"
    "bodies:\n"
    "  - {name: a, mass: m1, position: [0, 0, 0], velocity: [v1, 0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b, mass: m2, position: [0.2 + gap, 0, 0], velocity: [v2, 0, 0], shapes: [{type: sphere, radius: "
    "0.1}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.25, duration: 3}\n";

static void two_balls_meet_head_on(void **state) {
  (void)state;
  static const struct {
    const char *m1, *m2, *e;
    double masses[2], restitution;
  } rows[] = {{"m1=1", "m2=1", "e=1", {1, 1}, 1},           {"m1=1", "m2=1", "e=0", {1, 1}, 0},
              {"m1=2", "m2=3", "e=0.5", {2, 3}, 0.5},       {"m1=1e-9", "m2=1e9", "e=0.9", {1e-9, 1e9}, 0.9},
              {"m1=1e9", "m2=1e-9", "e=1", {1e9, 1e-9}, 1}, {"m1=1e-6", "m2=1", "e=0", {1e-6, 1}, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int law = 0; law < 2; law++)
      for (const ss_table_row *scheme = ss_table_schemes(); scheme->name; scheme++) {
        if (!scheme_is_rigid(scheme->name)) continue;
        if (strncmp(scheme->name, "stewart-trinkle", 15) == 0 && rows[i].restitution == 0)
          continue; /* two steps for one */
        run r;
        run_parse(&r, two_balls,
                  &(change){.scheme = scheme->name,
                            .restitution = laws[law],
                            .set = {rows[i].m1, rows[i].m2, rows[i].e, "v1=3", "v2=-1"}});
        run_finish(&r);
        assert_int_equal(r.n_collisions, 1);
        check_near(r.collision_time[0], 0.25, 1e-12, "time of the collision");
        const double *m = rows[i].masses, mean = (3 * m[0] - m[1]) / (m[0] + m[1]), e = rows[i].restitution;
        check_near(run_velocity(&r, 0).x, mean - e * m[1] / (m[0] + m[1]) * 4, 1e-12, "velocity of a");
        check_near(run_velocity(&r, 1).x, mean + e * m[0] / (m[0] + m[1]) * 4, 1e-12, "velocity of b");
        no_energy_from_nothing(&r);
        run_close(&r);
      }
}

/* ---- rows of balls ---- */

static const char cradle[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {e: 1, mu: 0, space: 0}\n"
    "materials: [{name: default, friction: mu, restitution: e}]\n"
    "bodies:\n"
    "  - {name: b0, mass: 1, position: [-1, 0, 0], velocity: [1, 0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b1, mass: 1, position: [0, 0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b2, mass: 1, position: [0.2 + space, 0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b3, mass: 1, position: [0.4 + 2*space, 0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: b4, mass: 1, position: [0.6 + 3*space, 0, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.1, duration: 4}\n";

/* With gaps the impulse goes through the row ball by ball, each collision on its own. */
static void cradle_with_gaps_passes_the_speed_on(void **state) {
  (void)state;
  const char *const spaces[] = {"space=1e-3", "space=1e-6", "space=1e-8"};
  for (int i = 0; i < 3; i++)
    for (int law = 0; law < 2; law++) {
      run r;
      run_parse(&r, cradle, &(change){.restitution = laws[law], .set = {"e=1", spaces[i]}});
      run_finish(&r);
      for (int k = 0; k < 5; k++) check_near(run_velocity(&r, k).x, k == 4, 1e-9, "velocity in the cradle");
      no_energy_from_nothing(&r);
      run_close(&r);
    }
}

/* Touching balls are one impact: momentum and, with e = 1 and no friction, energy are kept, and nobody goes through. */
static void touching_cradle_keeps_momentum_and_energy(void **state) {
  (void)state;
  const char *const restitutions[] = {"e=1", "e=0.6", "e=0"}, *const frictions[] = {"mu=0", "mu=0.3"};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++)
      for (int law = 0; law < 2; law++) {
        run r;
        run_parse(&r, cradle, &(change){.restitution = laws[law], .set = {restitutions[i], frictions[k]}});
        run_finish(&r);
        double momentum = 0, energy = 0;
        for (int b = 0; b < 5; b++) {
          momentum += run_velocity(&r, b).x;
          energy += run_velocity(&r, b).x * run_velocity(&r, b).x / 2;
          if (b > 0) assert_true(run_velocity(&r, b).x >= run_velocity(&r, b - 1).x - 1e-12);
        }
        check_near(momentum, 1, 1e-12, "momentum of the cradle");
        if (i == 0) check_near(energy, 0.5, 1e-12, "energy of the cradle");
        no_energy_from_nothing(&r);
        run_close(&r);
      }
}

/* ---- oblique impact of a ball on the floor ---- */

static const char oblique[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {e: 0.5, mu: 0.3, vx: 3, vy: 0, wy: 0}\n"
    "materials: [{name: default, friction: mu, restitution: e}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: ball, mass: 2, position: [0, 0, 0.6], velocity: [vx, vy, -1], angular_velocity: [0, wy, 0],\n"
    "     shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.3, duration: 1.5}\n";

/* Coulomb's law for the whole impact: a ball that slides through it loses mu (1 + e) |v_n|; one that does not comes off
 * with a contact point at rest, 5/7 of the speed. */
static void oblique_impact_obeys_coulomb(void **state) {
  (void)state;
  const char *const restitutions[] = {"e=0", "e=0.5", "e=1"};
  const double e[] = {0, 0.5, 1};
  const char *const frictions[] = {"mu=0", "mu=1e-9", "mu=0.05", "mu=0.3", "mu=10", "mu=1e6"};
  const double mu[] = {0, 1e-9, 0.05, 0.3, 10, 1e6};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 6; k++)
      for (int law = 0; law < 2; law++)
        for (int heading = 0; heading < 4; heading++) {
          run r;
          char vx[48], vy[48];
          const double angle = 0.7 * heading;
          (void)snprintf(vx, sizeof vx, "vx=%.17g", 3 * cos(angle));
          (void)snprintf(vy, sizeof vy, "vy=%.17g", 3 * sin(angle));
          run_parse(&r, oblique, &(change){.restitution = laws[law], .set = {restitutions[i], frictions[k], vx, vy}});
          run_finish(&r);
          const ss_vec3 v = run_velocity(&r, 0), forward = v3(cos(angle), sin(angle), 0);
          const double lost = fmin(mu[k] * (1 + e[i]), 3 * 2. / 7);
          check_near(v.z, e[i], 1e-12, "rebound");
          check_near(v3_dot(v, forward), 3 - lost, 1e-10, "speed along the floor");
          check_near(v3_norm(v3_cross(v3(v.x, v.y, 0), forward)), 0, 1e-10, "speed across");
          /* v + 2/5 r w x n is not touched by friction at the contact */
          const ss_vec3 turn = run_turn(&r, 0);
          check_near(0.1 * v3_norm(turn), 2.5 * lost, 1e-9, "spin");
          no_energy_from_nothing(&r);
          run_close(&r);
        }
}

/* A ball with much spin and little speed: friction throws it forward, and energy still goes down. */
static void spinning_ball_is_thrown_forward(void **state) {
  (void)state;
  for (int law = 0; law < 2; law++) {
    run r;
    run_parse(&r, oblique, &(change){.restitution = laws[law], .set = {"e=0.8", "mu=0.2", "vx=0", "wy=500"}});
    run_finish(&r);
    check_near(run_velocity(&r, 0).x, 0.2 * 1.8, 1e-12, "speed forward");
    no_energy_from_nothing(&r);
    assert_true(ss_sim_report(r.sim)->energy.friction_loss > 0);
    run_close(&r);
  }
}

/* ---- boxes ---- */

static const char box_drop[] = "parameters: {e: 0.5, mu: 0.5, height: 1, roll: 0, pitch: 0, spin: 0}\n"
                               "materials: [{name: default, friction: mu, restitution: e}]\n"
                               "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                               "bodies:\n"
                               "  - name: box\n"
                               "    mass: 1.5\n"
                               "    position: [0, 0, height]\n"
                               "    orientation: {rpy: [roll, pitch, 0]}\n"
                               "    angular_velocity: [0, 0, spin]\n"
                               "    shapes: [{type: box, size: [0.4, 0.3, 0.2]}]\n"
                               "simulation: {scheme: trapezoidal, step: 0.005, duration: 4}\n";

static void flat_box_bounces_without_turning(void **state) {
  (void)state;
  const char *const restitutions[] = {"e=0", "e=0.5", "e=0.9", "e=1"};
  const double e[] = {0, 0.5, 0.9, 1};
  for (int i = 0; i < 4; i++)
    for (int law = 0; law < 2; law++) {
      run r;
      run_parse(&r, box_drop, &(change){.restitution = laws[law], .duration = 0.8, .set = {restitutions[i]}});
      run_finish(&r);
      const double fall = sqrt(2 * 0.9 / 9.81), t = 0.8 - fall;
      const double height = e[i] > 0 ? e[i] * 9.81 * fall * t - 9.81 / 2 * t * t : 0;
      if (height >= 0) check_near(run_position(&r, 0).z, 0.1 + height, 1e-10, "height of the box");
      check_below(v3_norm(run_turn(&r, 0)), 1e-10, "spin of the box");
      check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-12, "penetration");
      no_energy_from_nothing(&r);
      run_close(&r);
    }
}

/* On an edge, on a corner, anyhow: it ends at rest on a face, and never gains energy. */
static void tilted_box_comes_to_rest(void **state) {
  (void)state;
  const char *const restitutions[] = {"e=0", "e=0.5", "e=0.8"};
  const char *const rolls[] = {"roll=30 deg", "roll=0.7", "roll=1e-7", "roll=-2.1"}, *const pitches[] = {
                                                                                         "pitch=0", "pitch=0.5",
                                                                                         "pitch=3e-8", "pitch=1.1"};
  const char *const schemes[] = {"trapezoidal", "moreau", "anitescu-potra"};
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 4; k++)
      for (int s = 0; s < 3; s++) {
        run r;
        run_parse(
            &r, box_drop,
            &(change){.scheme = schemes[s], .set = {restitutions[i], rolls[k], pitches[k], "height=0.6", "spin=1"}});
        run_finish(&r);
        const ss_certificate *c = &ss_sim_report(r.sim)->certificate;
        if (c->energy_created > 1e-9) print_error("%s %s %s\n", schemes[s], restitutions[i], rolls[k]);
        check_below(c->energy_created, 1e-9, "energy created");
        check_below(c->penetration, 1e-3, "penetration");
        const double z = run_position(&r, 0).z;
        if (i < 2) {
          const double *w = ss_sim_weighted_velocity(r.sim); /* the natural one goes on as +c, -c where alpha = 1/2 */
          check_below(v3_norm(v3(w[0], w[1], w[2])), 1e-3, "speed at the end");
          if (fabs(z - 0.1) > 1e-3 && fabs(z - 0.15) > 1e-3 && fabs(z - 0.2) > 1e-3)
            print_error("%s %s %s: z = %.17g\n", schemes[s], restitutions[i], rolls[k], z);
          assert_true(fabs(z - 0.1) < 1e-3 || fabs(z - 0.15) < 1e-3 || fabs(z - 0.2) < 1e-3);
        }
        run_close(&r);
      }
}

/* ---- many bounces ---- */

static const char between_walls[] =
    "gravity: [0, 0, 0]\n"
    "parameters: {v: 1, e: 1}\n"
    "materials: [{name: default, friction: 0, restitution: e}]\n"
    "world:\n"
    "  shapes:\n"
    "    - {type: half-space, normal: [1, 0, 0], offset: 0}\n"
    "    - {type: half-space, normal: [-1, 0, 0], offset: -1}\n"
    "bodies:\n"
    "  - {name: ball, mass: 1, position: [0.5, 0, 0], velocity: [v, 0.1, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.1, duration: 1}\n";

static void ball_flies_between_walls(void **state) {
  (void)state;
  const char *const speeds[] = {"v=1", "v=37", "v=1000", "v=4000"};
  const double v[] = {1, 37, 1000, 4000};
  for (int i = 0; i < 4; i++)
    for (int law = 0; law < 2; law++) {
      run r;
      run_parse(&r, between_walls, &(change){.restitution = laws[law], .set = {speeds[i]}});
      run_finish(&r);
      const double way = fmod(0.4 + v[i], 1.6); /* from the left stop: there and back */
      check_near(run_position(&r, 0).x, 0.1 + (way < 0.8 ? way : 1.6 - way), 1e-12 * v[i] * v[i] + 1e-12, "x");
      check_near(fabs(run_velocity(&r, 0).x), v[i], 1e-10 * v[i], "speed");
      assert_int_equal(ss_sim_report(r.sim)->events[SS_COLLISION], (long)floor((0.4 + v[i]) / 0.8));
      no_energy_from_nothing(&r);
      run_close(&r);
    }
}

static void elastic_ball_bounces_a_thousand_times(void **state) {
  (void)state;
  run r;
  run_open(&r, "bouncing-ball", &(change){.duration = 905, .set = {"e=1"}});
  run_finish(&r);
  const ss_report *report = ss_sim_report(r.sim);
  assert_true(report->events[SS_COLLISION] > 1000);
  check_near(report->energy.final, report->energy.initial, 1e-10, "energy after a thousand bounces");
  run_close(&r);
}

/* ---- wedged bodies ---- */

/* A ball in a rough corner can be under any stress between floor and wall, without moving. It must not be returned by the
 * impacts of other bodies. */
static const char wedge[] =
    "planar: xy\n"
    "parameters: {e: 0.5, mu: 1, x: 0.15}\n"
    "materials: [{name: default, friction: mu, restitution: e}]\n"
    "world:\n"
    "  shapes:\n"
    "    - {type: half-space, normal: [1, 0, 0], offset: 0}\n"
    "    - {type: half-space, normal: [0, 1, 0], offset: 0}\n"
    "bodies:\n"
    "  - {name: wedged, mass: 1, position: [0.1, 0.1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: falling, mass: 1, position: [x, 1], velocity: [0.3, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
    "  - {name: bouncing, mass: 1, position: [2, 0.3], shapes: [{type: box, size: [0.2, 0.3, 0.2]}], orientation: "
    "0.3}\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 3}\n";

static void wedged_ball_returns_nothing_but_its_impact(void **state) {
  (void)state;
  const char *const frictions[] = {"mu=0.5", "mu=1", "mu=3"}, *const restitutions[] = {"e=0.3", "e=0.9"};
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name && scheme_is_rigid(scheme->name); scheme++)
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 2; k++) {
        run r;
        run_parse(&r, wedge, &(change){.scheme = scheme->name, .set = {frictions[i], restitutions[k]}});
        double largest = 0;
        while (!ss_sim_done(r.sim)) {
          run_step(&r);
          ss_contact_report contacts[16];
          const int n = ss_sim_contacts(r.sim, contacts, 16);
          for (int c = 0; c < n && c < 16; c++) largest = fmax(largest, v3_norm(contacts[c].impulse));
        }
        run_check(&r);
        if (largest > 30) print_error("%s %s %s: %g\n", scheme->name, frictions[i], restitutions[k], largest);
        check_below(largest, 30, "impulse");
        no_energy_from_nothing(&r);
        run_close(&r);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_balls_meet_head_on),
      cmocka_unit_test(cradle_with_gaps_passes_the_speed_on),
      cmocka_unit_test(touching_cradle_keeps_momentum_and_energy),
      cmocka_unit_test(oblique_impact_obeys_coulomb),
      cmocka_unit_test(spinning_ball_is_thrown_forward),
      cmocka_unit_test(flat_box_bounces_without_turning),
      cmocka_unit_test(tilted_box_comes_to_rest),
      cmocka_unit_test(ball_flies_between_walls),
      cmocka_unit_test(elastic_ball_bounces_a_thousand_times),
      cmocka_unit_test(wedged_ball_returns_nothing_but_its_impact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
