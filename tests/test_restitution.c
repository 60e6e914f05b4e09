/* Laws of restitution where several contacts act at once: published and hand-made values; and the energy that a law creates
 * is reported to the last digit. */
#include "scene_runner.h"

#define G 9.81

static const ss_restitution laws[] = {SS_RESTITUTION_POISSON, SS_RESTITUTION_NEWTON};

/* ---- Newton's cradle ---- */

/* Ball 5 swings up as high as ball 1 started, and back; the others hang still. */
static void cradle_hands_the_swing_on(void **state) {
  (void)state;
  for (int law = 0; law < 2; law++) {
    run r;
    run_open(&r, "newtons-cradle", &(change){.restitution = laws[law], .duration = 1});
    const double start = run_position(&r, 0).y;
    double highest[5] = {-1, -1, -1, -1, -1};
    while (!ss_sim_done(r.sim)) {
      run_step(&r);
      if (r.n_collisions == 4) /* the first swing of the last ball */
        for (int k = 0; k < 5; k++) highest[k] = fmax(highest[k], run_position(&r, k).y);
    }
    run_check(&r);
    check_near(highest[4], start, 1e-5, "height of the last ball");
    for (int k = 0; k < 4; k++) check_near(highest[k], -0.2, 1e-5, "height of a ball that stays");
    check_below(ss_sim_report(r.sim)->certificate.energy_created, 1e-12, "energy created");
    run_close(&r);
  }
}

/* Balls that touch collide at once. In the compression all n of them get the speed v/n, by impulses (n - k)/n in contact k;
 * returned e times they leave balls 2 to n with (1 + e) v/n. Newton's law asks for the same. */
static void touching_balls_move_on_together(void **state) {
  (void)state;
  const char *const values[] = {"e=0", "e=0.3", "e=0.8", "e=1"};
  const double restitutions[] = {0, 0.3, 0.8, 1};
  for (int law = 0; law < 2; law++)
    for (int i = 0; i < 4; i++) {
      run r;
      const change c = {.restitution = laws[law], .step = ldexp(1, -14), .set = {values[i], "gap=0"}};
      run_open(&r, "newtons-cradle", &c);
      double before = 0;
      while (r.n_collisions == 0) {
        before = run_velocity(&r, 0).x;
        run_step(&r);
      }
      const double e = restitutions[i];
      check_near(run_velocity(&r, 0).x, before * (1 - 4 * e) / 5, 1e-3 * before, "speed of the ball that came");
      for (int k = 1; k < 5; k++)
        check_near(run_velocity(&r, k).x, before * (1 + e) / 5, 1e-3 * before, "speed of the others");
      run_close(&r);
    }
}

/* ---- one ball into two that touch ---- */

static const char break_shot[] =
    "planar: xy\n"
    "gravity: [0, 0]\n"
    "parameters: {e: 1}\n"
    "materials: [{name: default, friction: 0, restitution: e}]\n"
    "bodies:\n"
    "  - {name: cue, mass: 1, freedom: [x, y], position: [-2, 0], velocity: [1, 0], shapes: [{type: sphere, radius: "
    "1}]}\n"
    "  - {name: up, mass: 1, freedom: [x, y], position: [1, 1], shapes: [{type: sphere, radius: 1}]}\n"
    "  - {name: down, mass: 1, freedom: [x, y], position: [1, -1], shapes: [{type: sphere, radius: 1}]}\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 2}\n";

/* The lines of impact lie 30 degrees off the way: each target gets (1 + e) cos(30) / (1 + 2 cos^2(30)) of the speed. */
static void break_shot_is_symmetric(void **state) {
  (void)state;
  const char *const values[] = {"e=0", "e=0.5", "e=1"};
  for (int law = 0; law < 2; law++)
    for (int i = 0; i < 3; i++) {
      run r;
      run_parse(&r, break_shot, &(change){.restitution = laws[law], .set = {values[i]}});
      run_finish(&r);
      const double e = i / 2.0, cosine = sqrt(3) / 2, speed = (1 + e) * cosine / (1 + 2 * cosine * cosine);
      check_near(run_velocity(&r, 0).x, 1 - 2 * speed * cosine, 1e-12, "cue ball");
      for (int k = 1; k < 3; k++) {
        check_near(run_velocity(&r, k).x, speed * cosine, 1e-12, "target, along");
        check_near(run_velocity(&r, k).y, (k == 1 ? 1 : -1) * speed / 2, 1e-12, "target, across");
      }
      check_near(r.collision_time[0], 3 - sqrt(3), 1e-12, "time of the shot");
      run_close(&r);
    }
}

/* ---- rocking block ---- */

enum { IMPACTS = 8 };

/* Time from the largest tilt to the impact, R the half diagonal: (4/3) R tilt'' = -g sin(alpha - tilt). Substituting
 * tilt = largest (1 - u^2) takes the singularity at rest away. */
static double fall_time(double largest, double alpha, double radius) {
  enum { INTERVALS = 2000 };
  double sum = 0;
  for (int i = 0; i <= INTERVALS; i++) {
    const double u = (i + 1e-9) / (INTERVALS + 2e-9), tilt = largest * (1 - u * u);
    const double rate = sqrt(1.5 * G / radius * (cos(alpha - largest) - cos(alpha - tilt)));
    const double weight = i == 0 || i == INTERVALS ? 1 : i % 2 ? 4 : 2;
    sum += weight * 2 * largest * u / rate;
  }
  return sum / 3 / INTERVALS;
}

static void block_rocks_as_housner_says(void **state) {
  (void)state;
  const double alpha = atan(0.2), radius = hypot(0.1, 0.5), ratio = 1 - 1.5 * sin(alpha) * sin(alpha);
  const double floor = 100 * G * 0.5, tilt = 5 * atan(1) / 45;
  for (int law = 0; law < 2; law++) {
    run r;
    run_open(&r, "rocking-block", &(change){.restitution = laws[law], .step = ldexp(1, -10)});
    const double start = ss_sim_report(r.sim)->energy.initial - floor;
    check_near(start, 100 * G * radius * (cos(alpha - tilt) - cos(alpha)), 1e-9, "energy at the start");
    int impacts = 0;
    while (!ss_sim_done(r.sim) && r.n_collisions < IMPACTS) {
      run_step(&r);
      if (r.n_collisions == impacts) continue;
      impacts = r.n_collisions;
      const double left = (ss_sim_report(r.sim)->energy.final - floor) / start;
      check_near(left, pow(ratio, 2 * impacts), 2e-4 * pow(ratio, 2 * impacts), "energy after the impact");
    }
    assert_int_equal(impacts, IMPACTS);
    double t = 0;
    for (int k = 0; k < IMPACTS; k++) {
      const double top = 100 * G * radius * cos(alpha) + start * pow(ratio, 2 * k);
      const double largest = alpha - acos(top / (100 * G * radius));
      t += (k ? 2 : 1) * fall_time(largest, alpha, radius);
      check_near(r.collision_time[k], t, 2e-4 * t, "time of the impact");
    }
    check_below(ss_sim_report(r.sim)->certificate.energy_created, 1e-6, "energy created");
    run_close(&r);
  }
}

/* ---- energy ---- */

typedef struct kinetic_watch {
  double created; /* sum over the events */
  int n;
} kinetic_watch;

static void watch_event(void *user, const ss_sim *sim, const ss_event *event) {
  kinetic_watch *w = user;
  (void)sim;
  if (event->kind != SS_COLLISION) return;
  w->created += event->energy_created;
  w->n++;
}

static const char oblique_rod[] =
    "planar: xy\n"
    "gravity: [0, 0]\n"
    "parameters: {e: 0.9, mu: 1, theta: 1, vx: 0}\n"
    "materials: [{name: default, friction: mu, restitution: e}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
    "bodies: [{name: rod, mass: 1, inertia: 1/12, position: [cos(theta)/2, sin(theta)/2 + 0.001], orientation: theta, "
    "velocity: [vx, -1], shapes: [{type: point, position: [-1/2, 0]}]}]\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 0.01}\n";

/* Kinetic energy gained by the impact of an oblique rod; what the event and the certificate say must agree with it. */
static double gained(ss_restitution law, double theta, double vx) {
  run r;
  ss_error error = {0};
  kinetic_watch w = {0};
  char settings[2][64];
  (void)snprintf(settings[0], sizeof settings[0], "theta=%.17g", theta);
  (void)snprintf(settings[1], sizeof settings[1], "vx=%.17g", vx);
  run_parse(&r, oblique_rod, &(change){.restitution = law, .set = {settings[0], settings[1]}});
  const ss_observer observer = {.user = &w, .step = run_ignore_step, .event = watch_event};
  run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  run_finish(&r);
  const ss_report *report = ss_sim_report(r.sim);
  const double gain = report->energy.final - report->energy.initial;
  assert_int_equal(w.n, 1);
  check_near(w.created, fmax(gain, 0), 1e-14 * (1 + vx * vx), "energy created in the event");
  check_near(report->certificate.energy_created, fmax(gain, 0), 1e-14 * (1 + vx * vx), "energy in the certificate");
  check_near(gain, -report->energy.impact_loss - report->energy.friction_loss, 1e-14 * (1 + vx * vx), "ledger");
  run_close(&r);
  return gain;
}

/* Newton's law with friction can create energy (Kane 1984); Poisson's cannot for a single contact that slides one way. */
static void created_energy_is_reported(void **state) {
  (void)state;
  int created[2] = {0};
  for (int law = 0; law < 2; law++)
    for (int i = 1; i < 30; i++)
      for (int k = -10; k <= 10; k++) created[law] += gained(laws[law], i * atan(1) / 15, 0.3 * k) > 1e-9;
  assert_int_equal(created[0], 0);
  assert_true(created[1] > 0);
}

/* Laws by pair: a ball that falls into a corner, Newton on one wall, Poisson on the other. The walls are perpendicular and
 * frictionless, so that each takes its own part of the velocity. */
static const char two_laws[] =
    "planar: xy\n"
    "gravity: [0, 0]\n"
    "materials: [{name: default}, {name: left, restitution: 0.5}, {name: floor, restitution: 0.25}]\n"
    "contacts:\n"
    "  - {between: [left, default], restitution_law: newton}\n"
    "  - {between: [floor, default], restitution_law: poisson}\n"
    "world: {shapes: [{type: half-space, normal: [1, 0], offset: 0, material: left}, {type: half-space, normal: [0, "
    "1], "
    "offset: 0, material: floor}]}\n"
    "bodies: [{name: ball, mass: 1, freedom: [x, y], position: [1, 1], velocity: [-2, -2], shapes: [{type: point}]}]\n"
    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n";

static void laws_by_pair(void **state) {
  (void)state;
  run r;
  run_parse(&r, two_laws, NULL);
  assert_true(r.scene->contacts[0].has_restitution_law &&
              r.scene->contacts[0].restitution_law == SS_RESTITUTION_NEWTON);
  run_finish(&r);
  check_near(run_velocity(&r, 0).x, 1, 1e-12, "speed off the wall");
  check_near(run_velocity(&r, 0).y, 0.5, 1e-12, "speed off the floor");
  run_close(&r);
  /* the same rod as above: the pair's law decides, not the simulation's */
  char text[2048];
  (void)snprintf(text, sizeof text, "%scontacts: [{between: [rod, world], restitution_law: newton}]\n", oblique_rod);
  double energy[2];
  for (int k = 0; k < 2; k++) {
    run_parse(&r, k ? text : oblique_rod,
              &(change){.restitution = k ? SS_RESTITUTION_POISSON : SS_RESTITUTION_NEWTON, .set = {"vx=1"}});
    run_finish(&r);
    energy[k] = ss_sim_report(r.sim)->energy.final;
    run_close(&r);
  }
  check_near(energy[0], energy[1], 1e-14, "energy under Newton's law");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(cradle_hands_the_swing_on),  cmocka_unit_test(touching_balls_move_on_together),
      cmocka_unit_test(break_shot_is_symmetric),    cmocka_unit_test(block_rocks_as_housner_says),
      cmocka_unit_test(created_energy_is_reported), cmocka_unit_test(laws_by_pair),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
