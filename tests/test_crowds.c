/* Many bodies that collide: steps with dozens of impacts take few problems, and what physics keeps is kept. */
#include "scene_runner.h"

enum { TEXT = 16384 };

static void add(char *text, const char *format, ...) {
  const size_t at = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(text + at, TEXT - at, format, arguments);
  va_end(arguments);
  assert_true(n > 0 && at + (size_t)n < TEXT);
}

/* Place number i on a grid of places, k to a line. */
static double column(int i, int k) { return i % k; }
static double line(int i, int k) { return (i - i % k) / k; } /* NOLINT(bugprone-integer-division): exact */

static void begin(char *text, const char *gravity, const char *restitution, double friction) {
  text[0] = 0;
  add(text, "gravity: %s\nmaterials: [{name: default, friction: %g, restitution: %s}]\n", gravity, friction,
      restitution);
}

static void add_bin(char *text, double width) {
  add(text,
      "world:\n  shapes:\n    - {type: half-space, normal: [0, 0, 1], offset: 0}\n"
      "    - {type: half-space, normal: [1, 0, 0], offset: 0}\n    - {type: half-space, normal: [-1, 0, 0], offset: "
      "%g}\n"
      "    - {type: half-space, normal: [0, 1, 0], offset: 0}\n    - {type: half-space, normal: [0, -1, 0], offset: "
      "%g}\n",
      -width, -width);
}

static void add_end(char *text, double step, double duration) {
  add(text, "simulation: {scheme: trapezoidal, step: %g, duration: %g, friction: {cone: quadratic}}\n", step, duration);
}

/* Balls dropped into a bin, until they lie: every collision located would take about a hundred problems per step. */
static void balls_settle_in_a_bin(void **state) {
  (void)state;
  static const char *const restitutions[] = {"0", "0.5"};
  for (size_t k = 0; k < 2; k++) {
    char text[TEXT];
    uint64_t seed = 7;
    run r;
    begin(text, "[0, 0, -9.81]", restitutions[k], 0.4);
    add_bin(text, 0.33);
    add(text, "bodies:\n");
    for (int i = 0; i < 18; i++)
      add(text, "  - {name: b%d, mass: 1, position: [%.6f, %.6f, %.6f], shapes: [{type: sphere, radius: 0.05}]}\n", i,
          0.055 + 0.11 * column(i, 3) + 0.004 * random_next(&seed),
          0.055 + 0.11 * line(i % 9, 3) + 0.004 * random_next(&seed), 0.06 + 0.105 * line(i, 9));
    add_end(text, 0.004, 0.6);
    run_parse(&r, text, NULL);
    double energy = ss_sim_report(r.sim)->energy.initial;
    while (!ss_sim_done(r.sim)) {
      run_step(&r);
      const ss_energy *e = &ss_sim_report(r.sim)->energy;
      check_below(e->final, energy + 1e-12 * e->initial, "energy after a step");
      energy = e->final;
    }
    run_check(&r);
    const ss_report *report = ss_sim_report(r.sim);
    check_below((double)report->solves.count / (double)ss_sim_state(r.sim)->step, 20, "problems per step");
    check_below(report->certificate.penetration, 9.81 * 0.004 * 0.004, "penetration");
    check_near(report->created_by_impacts, 0, 1e-12, "energy created by impacts");
    run_close(&r);
  }
}

static ss_status watch_symmetry(void *user, const ss_sim *sim, const ss_cp *problem, const double *z, ss_error *error) {
  (void)sim;
  (void)z;
  (void)error;
  double *worst = user;
  for (int i = 0; i < problem->n && problem->G; i++)
    for (int j = 0; j < i; j++) {
      const size_t n = (size_t)problem->n, row = (size_t)i, column = (size_t)j;
      *worst = fmax(*worst, fabs(problem->G[row * n + column] - problem->G[column * n + row]));
    }
  return SS_OK;
}

static ss_status watch_nothing(void *user, const ss_sim *sim, ss_error *error) {
  (void)user;
  (void)sim;
  (void)error;
  return SS_OK;
}

/* The gyroscopic torque of a ball vanishes, whatever the scheme's Jacobian: contacts see masses, and G is symmetric. */
static void spinning_balls_meet_as_masses(void **state) {
  (void)state;
  static const char *const schemes[] = {"anitescu-potra", "trapezoidal"};
  for (size_t k = 0; k < 2; k++) {
    char text[TEXT];
    run r;
    begin(text, "[0, 0, -9.81]", "0", 0.4);
    add_bin(text, 0.36);
    add(text, "bodies:\n");
    for (int i = 0; i < 18; i++)
      add(text,
          "  - {name: b%d, mass: 1, position: [%g, %g, %g], angular_velocity: [9, 4, 7], shapes: [{type: sphere, "
          "radius: "
          "0.05}]}\n",
          i, 0.06 + 0.12 * column(i, 3), 0.06 + 0.12 * line(i % 9, 3), 0.065 + 0.125 * line(i, 9));
    add(text, "simulation: {scheme: %s, step: 0.005, duration: 0.1, friction: {cone: quadratic}}\n", schemes[k]);
    run_parse(&r, text, NULL);
    double worst = 0;
    ss_error error = {0};
    const ss_observer watch = {.user = &worst, .step = watch_nothing, .problem = watch_symmetry};
    assert_int_equal(ss_sim_observe(r.sim, &watch, &error), SS_OK);
    while (!ss_sim_done(r.sim)) run_step(&r);
    assert_true(ss_sim_report(r.sim)->contacts_maximum >= 9);
    check_below(worst, 1e-12, "asymmetry of G");
    run_close(&r);
  }
}

/* Balls with friction that fly into each other in empty space. */
static void a_swarm_keeps_its_momentum(void **state) {
  (void)state;
  enum { BALLS = 27 };
  const double radius = 0.1, mass = 2, inertia = 0.4 * mass * radius * radius;
  char text[TEXT];
  uint64_t seed = 3;
  run r;
  begin(text, "[0, 0, 0]", "0.6", 0.3);
  add(text, "bodies:\n");
  for (int i = 0; i < BALLS; i++) {
    const double x = 0.5 * (column(i, 3) - 1), y = 0.5 * (line(i % 9, 3) - 1), z = 0.5 * (line(i, 9) - 1);
    add(text,
        "  - {name: b%d, mass: %g, inertia: [%g, %g, %g], position: [%g, %g, %g], velocity: [%.6f, %.6f, %.6f], "
        "shapes: [{type: sphere, radius: %g}]}\n",
        i, mass, inertia, inertia, inertia, x, y, z, 0.3 + random_next(&seed) - 2 * x, random_next(&seed) - 2 * y,
        random_next(&seed) - 2 * z, radius);
  }
  add_end(text, 0.02, 1);
  run_parse(&r, text, NULL);
  ss_vec3 linear[2], angular[2];
  for (int k = 0; k < 2; k++) {
    linear[k] = angular[k] = v3(0, 0, 0);
    for (int i = 0; i < BALLS; i++) {
      const ss_vec3 p = v3_scale(mass, run_velocity(&r, i));
      linear[k] = v3_add(linear[k], p);
      angular[k] = v3_add(angular[k], v3_axpy(v3_cross(run_position(&r, i), p), inertia, run_turn(&r, i)));
    }
    while (k == 0 && !ss_sim_done(r.sim)) run_step(&r);
  }
  run_check(&r);
  assert_true(ss_sim_report(r.sim)->solves.impacts > 20);
  check_below(run_distance(linear[0], linear[1]), 1e-11, "change of momentum");
  check_below(run_distance(angular[0], angular[1]), 1e-10, "change of angular momentum");
  run_close(&r);
}

/* Fifteen balls without friction, hit by a sixteenth: with restitution 1 no energy is lost, however many touch at once. */
static void a_break_keeps_its_energy(void **state) {
  (void)state;
  char text[TEXT];
  run r;
  begin(text, "[0, 0, -9.81]", "1", 0);
  add_bin(text, 1);
  add(text, "bodies:\n  - {name: cue, mass: 0.17, position: [0.1, 0.5003, 0.03], velocity: [4, 0, 0], "
            "shapes: [{type: sphere, radius: 0.03}]}\n");
  for (int row = 0, i = 0; row < 5; row++)
    for (int k = 0; k <= row; k++, i++)
      add(text, "  - {name: b%d, mass: 0.17, position: [%.9f, %.9f, 0.03], shapes: [{type: sphere, radius: 0.03}]}\n",
          i, 0.5 + row * sqrt(3) * 0.0301, 0.5 + (2 * k - row) * 0.0301);
  add_end(text, 0.004, 0.4);
  run_parse(&r, text, NULL);
  while (!ss_sim_done(r.sim)) run_step(&r);
  run_check(&r);
  const ss_energy *e = &ss_sim_report(r.sim)->energy;
  assert_true(ss_sim_report(r.sim)->solves.impacts > 20);
  check_near(e->final, e->initial, 1e-11 * e->initial, "energy after the break");
  run_close(&r);
}

/* Boxes at rest beside balls that bounce: the balls' impacts are none of the boxes' business. */
static void what_rests_elsewhere_stays(void **state) {
  (void)state;
  enum { BOXES = 6, BALLS = 9 };
  char text[TEXT];
  uint64_t seed = 5;
  run r;
  begin(text, "[0, 0, -9.81]", "0.7", 0.4);
  add_bin(text, 3);
  add(text, "bodies:\n");
  for (int i = 0; i < BOXES; i++)
    add(text, "  - {name: box%d, mass: 1, position: [%g, 2, %g], shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}\n", i,
        1 + 0.5 * column(i, 2), 0.1 + 0.2 * line(i, 2));
  for (int i = 0; i < BALLS; i++)
    add(text, "  - {name: ball%d, mass: 1, position: [%.6f, %.6f, %.6f], shapes: [{type: sphere, radius: 0.05}]}\n", i,
        0.5 + 0.12 * column(i, 3) + 0.01 * random_next(&seed), 0.5 + 0.12 * line(i, 3) + 0.01 * random_next(&seed),
        0.2 + 0.02 * i);
  add_end(text, 0.004, 1.2);
  run_parse(&r, text, NULL);
  while (!ss_sim_done(r.sim)) run_step(&r);
  run_check(&r);
  assert_true(ss_sim_report(r.sim)->solves.impacts > 20);
  for (int i = 0; i < BOXES; i++) {
    const ss_vec3 start = v3(1 + 0.5 * column(i, 2), 2, 0.1 + 0.2 * line(i, 2));
    check_below(run_distance(run_position(&r, i), start), 1e-9, "way of a box at rest");
    check_below(v3_norm(run_velocity(&r, i)), 1e-7, "speed of a box at rest");
  }
  run_close(&r);
}

/* Boxes dropped on each other. With alpha = 1/2 what the impacts leave would swing for ever, and every step be a problem of
 * its own. */
static void a_tower_comes_to_rest(void **state) {
  (void)state;
  enum { BOXES = 6, STEPS = 120, LAST = 10 };
  char text[TEXT];
  run r;
  begin(text, "[0, 0, -9.81]", "0.3", 0.5);
  add(text, "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n");
  for (int i = 0; i < BOXES; i++)
    add(text, "  - {name: b%d, density: 1000, position: [%g, 0, %g], shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}\n",
        i, 0.003 * (column(i, 3) - 1), 0.1 + 0.205 * i);
  add_end(text, 0.01, 0.01 * STEPS);
  run_parse(&r, text, NULL);
  double energy = ss_sim_report(r.sim)->energy.initial;
  ss_solves before = {0};
  while (!ss_sim_done(r.sim)) {
    if (ss_sim_state(r.sim)->step == STEPS - LAST) before = ss_sim_report(r.sim)->solves;
    run_step(&r);
    const ss_energy *e = &ss_sim_report(r.sim)->energy;
    check_below(e->final, energy + 1e-12 * e->initial, "energy after a step");
    energy = e->final;
  }
  run_check(&r);
  const ss_report *report = ss_sim_report(r.sim);
  check_below(report->energy.kinetic, 1e-12 * report->energy.initial, "kinetic energy");
  assert_int_equal(report->solves.count - before.count, 0); /* it sleeps */
  assert_true(report->solves.calmed > 0);
  run_close(&r);
}

/* Dominoes that knock each other over and slide down on each other: what bounces more slowly than the step resolves rests. */
static void dominoes_take_few_problems(void **state) {
  (void)state;
  enum { DOMINOES = 12, STEPS = 300 };
  char text[TEXT];
  run r;
  begin(text, "[0, 0, -9.81]", "0.3", 0.4);
  add(text, "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n"
            "  - {name: ball, mass: 0.2, position: [-0.1, 0, 0.17], velocity: [1.5, 0, 0], "
            "shapes: [{type: sphere, radius: 0.03}]}\n");
  for (int i = 0; i < DOMINOES; i++)
    add(text, "  - {name: b%d, mass: 0.3, position: [%g, 0, 0.1], shapes: [{type: box, size: [0.02, 0.1, 0.2]}]}\n", i,
        0.08 * i);
  add_end(text, 0.002, 0.002 * STEPS);
  run_parse(&r, text, NULL);
  while (!ss_sim_done(r.sim)) run_step(&r);
  run_check(&r);
  const ss_report *report = ss_sim_report(r.sim);
  check_below((double)report->solves.count / STEPS, 6.5, "problems per step");
  check_below(report->certificate.penetration, 1e-4, "penetration");
  check_near(report->created_by_impacts, 0, 1e-12, "energy created by impacts");
  assert_true(run_position(&r, 2).z < 0.08); /* the second one lies */
  run_close(&r);
}

/* A blow on a wall: 565 contacts at once, which only solvers that know the bodies get through. */
static void a_ball_falls_on_a_wall(void **state) {
  (void)state;
  enum { LINES = 10, COLUMNS = 6 };
  char text[TEXT];
  run r;
  begin(text, "[0, 0, -9.81]", "0.5", 0.5);
  add(text, "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n"
            "  - {name: ball, density: 1000, position: [0.52, 0.01, 1.1002], velocity: [0, 0, -2.4], "
            "shapes: [{type: sphere, radius: 0.1}]}\n");
  for (int k = 0; k < LINES; k++)
    for (int i = 0; i < COLUMNS - k % 2; i++)
      add(text,
          "  - {name: r%dc%d, density: 1000, position: [%g, 0, %g], shapes: [{type: box, size: [0.2, 0.1, 0.1]}]}\n", k,
          i, 0.2 * i + 0.1 * (k % 2), 0.05 + 0.1 * k);
  add(text, "simulation: {scheme: anitescu-potra, step: 0.01, duration: 0.01, friction: {cone: polyhedral, "
            "directions: 4}}\n");
  run_parse(&r, text, NULL);
  run_step(&r);
  run_check(&r);
  assert_true(ss_sim_report(r.sim)->events[SS_COLLISION] > 0);
  run_close(&r);
}

/* What rests is at rest: after the first steps a wall has the same problem in every one of them, which the impulses before
 * solve; nothing is solved, nothing moves by the last bit, nothing is told. A ball that falls on it wakes it. */
static void a_wall_at_rest_is_not_solved_again(void **state) {
  (void)state;
  enum { LINES = 5, COLUMNS = 6, FIRST = 10, LAST = 90 };
  static const char *const schemes[] = {"trapezoidal", "moreau"};
  for (size_t scheme = 0; scheme < 2; scheme++) {
    char text[TEXT];
    run r;
    begin(text, "[0, 0, -9.81]", "0", 0.5);
    add(text, "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n"
              "  - {name: ball, density: 1000, position: [0.5, 0, 2.1], shapes: [{type: sphere, radius: 0.1}]}\n");
    for (int k = 0; k < LINES; k++)
      for (int i = 0; i < COLUMNS - k; i++)
        add(text,
            "  - {name: r%dc%d, density: 1000, position: [%g, 0, %g], shapes: [{type: box, size: [0.2, 0.1, 0.1]}]}\n",
            k, i, 0.202 * i + 0.101 * k, 0.05 + 0.1 * k);
    add(text, "simulation: {scheme: %s, step: 2^-8, duration: 1, sleep: false, friction: {cone: quadratic}}\n",
        schemes[scheme]);
    run_parse(&r, text, NULL);
    for (int k = 0; k < FIRST; k++) run_step(&r);
    const ss_report before = *ss_sim_report(r.sim);
    const ss_vec3 top = run_position(&r, 20);
    for (int k = FIRST; k < LAST; k++) run_step(&r);
    const ss_report *after = ss_sim_report(r.sim);
    assert_int_equal(after->solves.count - before.solves.count, LAST - FIRST);
    assert_int_equal(after->solves.iterations, before.solves.iterations);
    for (int kind = 0; kind < SS_EVENT_KINDS; kind++) assert_int_equal(after->events[kind], before.events[kind]);
    check_near(run_distance(top, run_position(&r, 20)), 0, 0, "way of a brick");
    while (after->events[SS_COLLISION] == before.events[SS_COLLISION] && !ss_sim_done(r.sim)) run_step(&r);
    const double fall = sqrt(2 * 1.5 / 9.81); /* from 2.0 to 0.5 */
    check_near(ss_sim_state(r.sim)->t, fall + 1. / 256, 1. / 256, "time of the collision");
    run_step(&r);
    assert_true(after->solves.iterations > before.solves.iterations);
    run_check(&r);
    run_close(&r);
  }
}

/* Whether two simulations are in the same state, to the last bit: positions, velocities, and the forces of all contacts. */
static void check_same(const ss_sim *a, const ss_sim *b) {
  enum { MOST = 512 };
  static ss_contact_report contacts[2][MOST];
  const int bodies = ss_model_bodies(ss_sim_model(a)), n = ss_sim_contacts(a, contacts[0], MOST);
  for (int i = 0; i < bodies; i++) {
    const ss_motion x = ss_sim_motion(a, i), y = ss_sim_motion(b, i);
    assert_memory_equal(&x, &y, sizeof x);
  }
  assert_int_equal(ss_sim_contacts(b, contacts[1], MOST), n);
  assert_true(n <= MOST);
  for (int i = 0; i < n; i++) {
    assert_memory_equal(&contacts[0][i].impulse, &contacts[1][i].impulse, sizeof contacts[0][i].impulse);
    assert_true(contacts[0][i].stuck == contacts[1][i].stuck && contacts[0][i].gap == contacts[1][i].gap);
  }
}

/* A scene at rest sleeps: its steps cost no problem, and it is where it would be without. It wakes for a shove and goes on from there to
 * the last bit as it would have; so does a run that is resumed while it sleeps. 0.003: sizes of steps differ by rounding. */
static void a_scene_at_rest_sleeps(void **state) {
  (void)state;
  enum { LINES = 4, FIRST = 12, ASLEEP = 60, LAST = 100, TOP = 9 };
  char text[2][TEXT];
  run sleeps, wakes, resumed;
  ss_error error = {0};
  for (int k = 0; k < 2; k++) {
    begin(text[k], "[0, 0, -9.81]", "0", 0.5);
    add(text[k], "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n");
    for (int i = 0; i < LINES * LINES; i++)
      if (i % LINES < LINES - i / LINES)
        add(text[k],
            "  - {name: b%d, density: 1000, position: [%g, 0, %g], shapes: [{type: box, size: [0.2, 0.1, 0.1]}]}\n", i,
            0.202 * column(i, LINES) + 0.101 * line(i, LINES), 0.05 + 0.1 * line(i, LINES));
    add(text[k],
        "simulation: {scheme: trapezoidal, step: 0.003, duration: 1, sleep: %s, friction: {cone: quadratic}}\n",
        k == 0 ? "true" : "false");
  }
  run_parse(&sleeps, text[0], NULL);
  run_parse(&wakes, text[1], NULL);
  for (int k = 0; k < ASLEEP; k++) {
    const long solves = ss_sim_report(sleeps.sim)->solves.count;
    run_step(&sleeps);
    run_step(&wakes);
    if (k >= FIRST) assert_int_equal(ss_sim_report(sleeps.sim)->solves.count, solves);
    check_same(sleeps.sim, wakes.sim);
  }
  assert_int_equal(ss_sim_report(wakes.sim)->solves.count, ASLEEP);
  void *bytes;
  size_t size;
  assert_int_equal(ss_checkpoint_save(sleeps.sim, &bytes, &size, &error), SS_OK);
  run_parse(&resumed, text[0], NULL);
  assert_int_equal(ss_checkpoint_load(resumed.sim, bytes, size, &error), SS_OK);
  ss_checkpoint_free(bytes);
  run *const all[] = {&sleeps, &wakes, &resumed};
  for (int k = ASLEEP; k < LAST; k++) {
    for (int i = 0; i < 3; i++) {
      if (k >= ASLEEP + 10 && k < ASLEEP + 15)
        assert_int_equal(ss_sim_apply(all[i]->sim, TOP, v3(60, 0, 0), v3(0, 0, 0), &error), SS_OK);
      run_step(all[i]);
    }
    check_same(sleeps.sim, wakes.sim);
    check_same(sleeps.sim, resumed.sim);
  }
  assert_true(run_position(&sleeps, TOP).x > 0.303 + 1e-4);
  run_check(&sleeps);
  run_check(&wakes);
  run_close(&sleeps);
  run_close(&wakes);
  run_close(&resumed);
}

/* Balls thrown into a bin so densely that nothing is located: one problem per step, or few, no overlap, and no energy from nowhere. */
static void a_dense_crowd_takes_a_problem_per_step(void **state) {
  (void)state;
  enum { SIDE = 4, STEPS = 90 };
  static const char *const restitutions[] = {"0", "0.5"};
  for (size_t e = 0; e < 2; e++) {
    char text[TEXT];
    uint64_t seed = 11;
    run r;
    begin(text, "[0, 0, -9.81]", restitutions[e], 0.3);
    add_bin(text, 0.92);
    add(text, "bodies:\n");
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
      add(text,
          "  - {name: b%d, mass: 1, position: [%.4f, %.4f, %.4f], velocity: [0, 0, -2], shapes: [{type: sphere, "
          "radius: 0.1}]}\n",
          i, 0.115 + 0.23 * column(i, SIDE) + 0.01 * random_next(&seed),
          0.115 + 0.23 * column((int)line(i, SIDE), SIDE) + 0.01 * random_next(&seed),
          0.13 + 0.22 * line(i, SIDE * SIDE));
    add(text,
        "simulation: {scheme: trapezoidal, step: 2^-8, duration: %d*2^-8, residual: 1e-6, friction: {cone: "
        "quadratic}}\n",
        STEPS);
    run_parse(&r, text, NULL);
    double energy = ss_sim_report(r.sim)->energy.initial;
    while (!ss_sim_done(r.sim)) {
      run_step(&r);
      const ss_energy *now = &ss_sim_report(r.sim)->energy;
      check_below(now->final, energy + 1e-6 * now->initial, "energy after a step");
      energy = now->final;
    }
    run_check(&r);
    const ss_report *report = ss_sim_report(r.sim);
    check_below((double)report->solves.count / STEPS, 3, "problems per step");
    check_below(report->certificate.penetration, 1e-4 * 0.1, "penetration");
    assert_true(report->contacts_maximum > 64 && report->events[SS_COLLISION] > 100);
    run_close(&r);
  }
}

/* Boxes turn, so that other corners and edges meet at the end of a step than at its start: these are found, too, and the ledger says
 * where all energy went. */
static void a_dense_crowd_of_boxes_is_sound(void **state) {
  (void)state;
  enum { SIDE = 3, STEPS = 40 };
  char text[TEXT];
  uint64_t seed = 5;
  run r;
  begin(text, "[0, 0, -9.81]", "0.4", 0.4);
  add_bin(text, 0.9);
  add(text, "bodies:\n");
  for (int i = 0; i < SIDE * SIDE * SIDE; i++)
    add(text,
        "  - {name: b%d, density: 1000, position: [%.3f, %.3f, %.3f], velocity: [0, 0, -3], angular_velocity: [%.3f, "
        "%.3f, 1], "
        "shapes: [{type: box, size: [0.2, 0.14, 0.1]}]}\n",
        i, 0.16 + 0.28 * column(i, SIDE), 0.16 + 0.28 * column((int)line(i, SIDE), SIDE),
        0.16 + 0.27 * line(i, SIDE * SIDE), 8 * random_next(&seed), 8 * random_next(&seed));
  add(text,
      "simulation: {scheme: trapezoidal, step: 2^-8, duration: %d*2^-8, residual: 1e-6, friction: {cone: quadratic}}\n",
      STEPS);
  run_parse(&r, text, NULL);
  while (!ss_sim_done(r.sim)) run_step(&r);
  run_check(&r);
  const ss_report *report = ss_sim_report(r.sim);
  assert_true(report->certificate.sound);
  check_below(report->certificate.penetration, 0.01 * 0.1, "penetration");
  check_near(report->energy.remainder, 0, 1e-4 * report->energy.initial, "remainder"); /* gyroscopic forces in flight */
  /* clusters have problems of their own: what counts is all of their rows */
  const double rows = 3 * report->contacts_mean * STEPS; /* of one problem of the scene per step */
  check_below((double)report->solves.rows / rows, 10, "problems per step");
  run_close(&r);
}

static bool after_some(void *user) {
  int *left = user;
  return --*left < 0;
}

/* A step that is stopped has not happened. */
static void a_step_can_be_stopped(void **state) {
  (void)state;
  char text[TEXT];
  run r, other;
  begin(text, "[0, 0, -9.81]", "0.3", 0.5);
  add_bin(text, 1);
  add(text, "bodies:\n");
  for (int i = 0; i < 4; i++)
    add(text, "  - {name: b%d, mass: 1, position: [%g, 0.5, %g], shapes: [{type: sphere, radius: 0.1}]}\n", i,
        0.5 + 0.02 * i, 0.101 + 0.21 * i);
  add_end(text, 0.01, 0.5);
  run_parse(&r, text, NULL);
  run_parse(&other, text, NULL);
  int stopped = 0;
  while (!ss_sim_done(r.sim)) {
    const double t = ss_sim_state(r.sim)->t;
    int left = (int)(ss_sim_state(r.sim)->step % 5);
    ss_error error = {0};
    ss_sim_stop_when(r.sim, after_some, &left);
    const ss_status status = ss_sim_step(r.sim, &error);
    ss_sim_stop_when(r.sim, NULL, NULL);
    run_step(&other);
    if (status == SS_OK) continue;
    assert_int_equal(status, SS_ERROR_STOPPED);
    assert_true(ss_sim_state(r.sim)->t == t && ss_sim_report(r.sim)->certificate.certified);
    stopped++;
    run_step(&r);
  }
  assert_true(stopped > 5);
  for (int i = 0; i < 4; i++) check_near(run_distance(run_position(&r, i), run_position(&other, i)), 0, 0, "place");
  run_close(&r);
  run_close(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(balls_settle_in_a_bin),          cmocka_unit_test(spinning_balls_meet_as_masses),
      cmocka_unit_test(a_swarm_keeps_its_momentum),     cmocka_unit_test(a_break_keeps_its_energy),
      cmocka_unit_test(what_rests_elsewhere_stays),     cmocka_unit_test(a_tower_comes_to_rest),
      cmocka_unit_test(dominoes_take_few_problems),     cmocka_unit_test(a_ball_falls_on_a_wall),
      cmocka_unit_test(a_step_can_be_stopped),          cmocka_unit_test(a_wall_at_rest_is_not_solved_again),
      cmocka_unit_test(a_scene_at_rest_sleeps),         cmocka_unit_test(a_dense_crowd_takes_a_problem_per_step),
      cmocka_unit_test(a_dense_crowd_of_boxes_is_sound)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
