/* Limits and motors: hit when they should be, held, left again; order two through the hit; work in the ledger. */
#include "scene_runner.h"

#define G 9.81
static const double pi = 3.14159265358979323846;

typedef struct hits {
  double t[16];
  int n;
} hits;

static void note_limit(void *user, const ss_sim *sim, const ss_event *event) {
  hits *h = user;
  (void)sim;
  if (event->kind == SS_LIMIT_HIT && h->n < 16) h->t[h->n++] = event->t;
}

static void watch(run *r, hits *h) {
  ss_error error = {0};
  *h = (hits){0};
  const ss_observer observer = {.user = h, .step = run_ignore_step, .event = note_limit};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
}

/* ---- revolute ---- */

/* Time for the rod to fall from the horizontal by `angle`: integral of d(theta) / sqrt(3 g/L sin(theta)), with
 * theta = x^2 to take the singularity out, by Simpson's rule. */
static double fall_time(double angle) {
  enum { N = 2000 };
  const double top = sqrt(angle), step = top / N;
  double sum = 0;
  for (int i = 0; i <= N; i++) {
    const double x = i * step, f = i == 0 ? 2 / sqrt(3 * G) : 2 * x / sqrt(3 * G * sin(x * x));
    sum += f * (i == 0 || i == N ? 1 : i % 2 ? 4 : 2);
  }
  return sum * step / 3;
}

static void rod_falls_against_its_stop(void **state) {
  (void)state;
  const double exact = fall_time(pi / 3);
  double last = 0;
  for (int k = 0; k <= 5; k++) {
    run r;
    hits h;
    run_open(&r, "pendulum-stop", &(change){.step = ldexp(1, -5 - k)});
    watch(&r, &h);
    run_finish(&r);
    assert_int_equal(h.n, 1);
    const ss_quat q = ss_sim_motion(r.sim, 0).pose.orientation;
    check_near(2 * atan2(q.z, q.w), -pi / 3, 1e-9, "rests at the stop");
    check_near(run_turn(&r, 0).z, 0, 1e-12, "at rest");
    const double error = fabs(h.t[0] - exact);
    if (k > 0) check_near(log2(last / error), 2, 0.1, "order of the time of the hit");
    last = error;
    run_close(&r);
  }
  check_below(last, 1e-5, "time of the hit");
}

static void limits_count_beyond_full_turns(void **state) {
  (void)state;
  const char *const schemes[] = {"trapezoidal", "moreau", "anitescu-potra", "stewart-trinkle"};
  for (int k = 0; k < 4; k++) {
    run r;
    hits h;
    run_open(&r, "spinning-limit", &(change){.scheme = schemes[k]});
    watch(&r, &h);
    run_finish(&r);
    assert_int_equal(h.n, 1);
    check_near(h.t[0], 3 * pi / 10, k < 3 ? 1e-12 : 0.01, "time of the hit");
    const ss_quat q = ss_sim_motion(r.sim, 0).pose.orientation;
    check_near(fabs(q.z), 1, 1e-9, "half a turn beyond a full one"); /* angle 3 pi */
    check_near(run_turn(&r, 0).z, 0, 1e-12, "at rest");
    run_close(&r);
  }
}

/* A pendulum hits its stop, is pulled away by a force that grows, hits the other one. */
static void limit_is_left_again(void **state) {
  (void)state;
  run r;
  hits h;
  run_parse(&r,
            "planar: xy\n"
            "gravity: [0, 0]\n"
            "bodies: [{name: rod, mass: 1, inertia: 0.5, freedom: [rz]}]\n"
            "joints: [{type: revolute, between: [world, rod], at: [0, 0], limits: [-0.5, 1]}]\n"
            "forces: [{type: applied, on: rod, torque: t - 2}]\n"
            "simulation: {step: 0.01, duration: 6}\n",
            NULL);
  watch(&r, &h);
  run_finish(&r);
  /* angle = t^3/3 - 2 t^2 reaches -1/2 at 0.5229..; leaves at t = 2; then (t - 2)^3/3 - 1/2 reaches 1 at 2 + 4.5^(1/3) */
  assert_int_equal(h.n, 2);
  double t = 0.5;
  for (int i = 0; i < 50; i++) t -= (t * t * t / 3 - 2 * t * t + 0.5) / (t * t - 4 * t);
  check_near(h.t[0], t, 1e-4, "first hit");
  check_near(h.t[1], 2 + cbrt(4.5), 1e-4, "second hit");
  assert_int_equal((int)ss_sim_report(r.sim)->events[SS_TAKE_OFF], 1);
  run_close(&r);
}

/* ---- displacements and distances ---- */

static void slider_falls_on_its_limit(void **state) {
  (void)state;
  const char *const types[] = {"prismatic", "cylindrical"};
  for (int k = 0; k < 2; k++) {
    char text[600];
    (void)snprintf(text, sizeof text,
                   "bodies: [{name: a, mass: 2, inertia: [1, 1, 1]}]\n"
                   "joints: [{type: %s, between: [world, a], at: [0, 0, 0], axis: [0, 0, 1], limits: [-1.5, 0]}]\n"
                   "simulation: {step: 0.013, duration: 1}\n",
                   types[k]);
    run r;
    hits h;
    run_parse(&r, text, NULL);
    watch(&r, &h);
    run_finish(&r);
    assert_int_equal(h.n, 1);
    check_near(h.t[0], sqrt(3 / G), 1e-12, "time of the hit");
    check_near(run_position(&r, 0).z, -1.5, 1e-12, "rests at the limit");
    check_near(ss_sim_report(r.sim)->energy.impact_loss, 2 * G * 1.5, 1e-10, "energy of the hit");
    run_close(&r);
  }
}

/* Free fall until the cable is taut; then a pendulum with the energy that the tangential speed has. */
static void cable_catches_the_weight(void **state) {
  (void)state;
  const double y = -0.8, fall = sqrt(2 * 0.7 / G), speed = sqrt(2 * G * 0.7) * 0.6; /* tangential part: x/L of it */
  double last = 0;
  for (int k = 0; k <= 4; k++) {
    run r;
    hits h;
    run_open(&r, "cable", &(change){.step = ldexp(1, -6 - k), .duration = 1});
    watch(&r, &h);
    run_finish(&r);
    assert_int_equal(h.n, 1);
    check_near(h.t[0], fall, 1e-10, "time at which it is taut");
    const ss_vec3 p = run_position(&r, 0), v = run_velocity(&r, 0);
    const double error = fabs(v3_dot(v, v) / 2 + G * p.y - speed * speed / 2 - G * y) + fabs(v3_norm(p) - 1);
    if (k > 0) check_near(log2(last / error), 2, 0.15, "order of length and energy");
    last = error;
    run_close(&r);
  }
}

/* ---- motors ---- */

static void motor_lifts_the_load(void **state) {
  (void)state;
  run r;
  run_open(&r, "hoist", NULL);
  const double a = 30 / 2. - G, reached = 1.5 / a;
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    const double t = ss_sim_state(r.sim)->t;
    if (t < reached) check_near(run_velocity(&r, 0).z, a * t, 1e-12, "accelerates");
    if (t > reached + 0.01) check_near(run_velocity(&r, 0).z, 1.5, 1e-12, "keeps its speed");
  }
  run_check(&r);
  const double height = run_position(&r, 0).z, exact = 1.5 * (1 - reached) + a * reached * reached / 2;
  check_near(height, exact, 1e-4, "height");
  check_near(ss_sim_report(r.sim)->energy.work, 2 * G * height + 1.5 * 1.5, 1e-10, "work of the motor");
  run_close(&r);
}

/* Too weak for its load the motor slips: the load sinks with g - F/m. */
static void weak_motor_gives_way(void **state) {
  (void)state;
  run r;
  run_open(&r, "hoist", &(change){.set = {"F=10"}});
  run_finish(&r);
  check_near(run_position(&r, 0).z, (5 - G) / 2, 1e-12, "sinks");
  run_close(&r);
}

/* A wheel is spun up, and a screw is driven against a limit. */
static void motors_turn(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: wheel, mass: 1, inertia: [0.3, 0.3, 0.5]}\n"
            "  - {name: nut, mass: 2, inertia: [0.1, 0.1, 0.1], position: [2, 0, 0]}\n"
            "joints:\n"
            "  - {type: revolute, between: [world, wheel], at: [0, 0, 0], axis: z, motor: {speed: -3, torque: 2}}\n"
            "  - {type: screw, between: [world, nut], at: [2, 0, 0], axis: z, pitch: 0.5, limits: [-1, 0.25],\n"
            "     motor: {speed: 10, torque: 4}}\n"
            "simulation: {step: 0.01, duration: 1.5}\n",
            NULL);
  run_step(&r);
  check_near(run_turn(&r, 0).z, -0.01 * 2 / 0.5, 1e-13, "acceleration");
  const double ratio = 0.5 / (2 * pi);
  check_near(run_turn(&r, 1).z, 0.01 * 4 / (0.1 + 2 * ratio * ratio), 1e-12, "acceleration of the screw");
  run_finish(&r);
  check_near(run_turn(&r, 0).z, -3, 1e-12, "speed");
  check_near(run_position(&r, 1).z, 0.25, 1e-12, "at the limit");
  check_near(run_turn(&r, 1).z, 0, 1e-12, "held");
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rod_falls_against_its_stop), cmocka_unit_test(limits_count_beyond_full_turns),
      cmocka_unit_test(limit_is_left_again),        cmocka_unit_test(slider_falls_on_its_limit),
      cmocka_unit_test(cable_catches_the_weight),   cmocka_unit_test(motor_lifts_the_load),
      cmocka_unit_test(weak_motor_gives_way),       cmocka_unit_test(motors_turn),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
