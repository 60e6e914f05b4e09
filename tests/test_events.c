/* Beginnings and ends of spin and rolling and the start of slip on several feet as located events, and motors whose speed depends on time. */
#include "scene_runner.h"

static const double G = 9.81;

typedef struct last_event {
  ss_event_kind kind;
  double t;
  int n;
} last_event;

static void note(void *user, const ss_sim *sim, const ss_event *event) {
  last_event *e = user;
  (void)sim;
  if (event->kind != e->kind) return;
  e->t = event->t;
  e->n++;
}

static last_event watch(run *r, ss_event_kind kind) {
  last_event e = {.kind = kind};
  ss_error error = {0};
  const ss_observer observer = {.user = &e, .step = run_ignore_step, .event = note};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
  while (!ss_sim_done(r->sim)) run_step(r);
  return e;
}

/* A wheel rolls to a stop at t = v (1 + I/(m r^2)) r / (g delta), whatever the step. */
static void rolling_ends(void **state) {
  (void)state;
  for (int k = 5; k <= 8; k++) {
    run r;
    run_open(&r, "rolling-resistance", &(change){.step = ldexp(1, -k)});
    const last_event e = watch(&r, SS_ROLL_END);
    assert_int_equal(e.n, 1);
    assert_int_equal(ss_sim_report(r.sim)->events[SS_ROLL_END], 1);
    check_near(e.t, 1.5 / (G * 0.05), 1e-11, "end of rolling");
    run_close(&r);
  }
}

static const char spinning[] =
    "parameters: {torsion: 0.02, spin: 20}\n"
    "materials: [{name: default, friction: 0.3, torsion: torsion}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies: [{name: top, mass: 1, inertia: [0.01, 0.01, 0.01], freedom: [x, y, z, rz], position: [0, 0, 0],\n"
    "          angular_velocity: [0, 0, spin], shapes: [{type: point}]}]\n"
    "simulation: {step: 2^-7, duration: 2, friction: {cone: ellipsoid}, events: [collision, stick-slip, take-off]}\n";

/* A top on a soft tip stops spinning at t = I w / (torsion m g), in either sense. */
static void spin_ends(void **state) {
  (void)state;
  const char *const spins[] = {"spin=20", "spin=-20", "spin=33"};
  const double exact[] = {20, 20, 33};
  for (int i = 0; i < 3; i++) {
    run r;
    run_parse(&r, spinning, &(change){.set = {spins[i]}});
    const last_event e = watch(&r, SS_SPIN_END);
    assert_int_equal(e.n, 1);
    check_near(e.t, exact[i] * 0.01 / (0.02 * G), 1e-10, "end of spin");
    run_close(&r);
  }
}

/* Slip and spin end together, the spin a little earlier; what is left of it beside the constraint afterwards is no spin that ends. */
static void spin_ends_once(void **state) {
  (void)state;
  static const char driven[] =
      "materials: [{name: default, friction: 0.5, torsion: 0.03}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies: [{name: disc, mass: 1, inertia: [0.02, 0.02, 0.02], freedom: [x, y, z, rz], position: [0, 0, 0],\n"
      "          velocity: [0.3, 0.1, 0], angular_velocity: [0, 0, -3], shapes: [{type: point}]}]\n"
      "forces: [{type: applied, on: disc, force: [2*sin(3*t), 1, 0], torque: [0, 0, 0.1*cos(2*t)]}]\n"
      "simulation: {step: 0.02, duration: 0.3, friction: {cone: ellipsoid}, events: [collision, stick-slip, "
      "take-off]}\n";
  for (int k = 0; k < 3; k++) {
    run r;
    run_parse(&r, driven, &(change){.step = ldexp(0.02, -k)});
    const last_event e = watch(&r, SS_SPIN_END);
    assert_int_equal(e.n, 1);
    check_near(e.t, 0.1807121802906558, 2e-4, "end of spin"); /* event-driven integration, 1e-10 */
    run_close(&r);
  }
}

static const char twisted[] =
    "parameters: {mu: 0.4, r: 0.05, a: 0, b: 0.3, m: 1.5}\n"
    "materials: [{name: default, friction: mu, torsion: r}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies: [{name: disc, mass: m, inertia: [0.02, 0.02, 0.03], freedom: [x, y, z, rz], position: [0, 0, 0],\n"
    "          shapes: [{type: point}]}]\n"
    "forces: [{type: applied, on: disc, force: [a*t, 0, 0], torque: [0, 0, b*t]}]\n"
    "simulation: {step: 2^-7, duration: 3, friction: {cone: ellipsoid}, events: [collision, stick-slip, take-off]}\n";

static const char rolled[] =
    "parameters: {b: 0.5, rho: 0.02, m: 2, R: 0.1, w: 0.7}\n"
    "materials: [{name: default, friction: 0.8, rolling: rho}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies: [{name: ball, mass: m, position: [0, 0, R], shapes: [{type: sphere, radius: R}]}]\n"
    "forces: [{type: applied, on: ball, torque: [b*t*cos(w), b*t*sin(w), 0]}]\n"
    "simulation: {step: 2^-7, duration: 1, friction: {cone: pyramid}, events: [collision, stick-slip, take-off]}\n";

static void replace(char *text, size_t size, const char *source, const char *from, const char *to) {
  const char *at = strstr(source, from);
  assert_non_null(at);
  (void)snprintf(text, size, "%.*s%s%s", (int)(at - source), source, to, at + strlen(from));
}

/* Runs with steps h, h/2, ...: one event of the kind, at `when`, and errors of the angle at the end that fall by four. */
static void breaks_away(const char *text, const char *set, const char *other, ss_event_kind kind, double when,
                        long stick_slip) {
  double angle[5];
  for (int k = 0; k < 5; k++) {
    run r;
    run_parse(&r, text, &(change){.step = ldexp(1, -6 - k), .set = {set, other}});
    const last_event e = watch(&r, kind);
    const long *count = ss_sim_report(r.sim)->events;
    assert_int_equal(e.n, 1);
    check_near(e.t, when, 1e-7, "break-away");
    assert_int_equal(count[SS_STICK], 0);
    assert_int_equal(count[SS_SLIP], stick_slip);
    const double *q = ss_sim_state(r.sim)->q;
    angle[k] = 2 * asin(sqrt(q[4] * q[4] + q[5] * q[5] + q[6] * q[6]));
    run_close(&r);
  }
  for (int k = 2; k < 5; k++) {
    const double ratio = (angle[k - 2] - angle[k - 1]) / (angle[k - 1] - angle[k]);
    check_near(ratio, 4, 0.15, "ratio of errors");
  }
}

/* A disc on a soft finger starts to spin where its load reaches the limit: (a t/(mu m g))^2 + (b t/(r m g))^2 = 1. A weak pull makes it
 * slip from then on, slowly, once. With a limit of its own for the moment the pull has no part in it. */
static void spin_begins(void **state) {
  (void)state;
  char text[1024];
  breaks_away(twisted, "a=0", NULL, SS_SPIN_BEGIN, 0.05 * 1.5 * G / 0.3, 0);
  breaks_away(twisted, "a=0", "b=-0.37", SS_SPIN_BEGIN, 0.05 * 1.5 * G / 0.37, 0);
  breaks_away(twisted, "a=1e-6", NULL, SS_SPIN_BEGIN, 0.05 * 1.5 * G / 0.3, 1);
  breaks_away(twisted, "a=3", NULL, SS_SPIN_BEGIN, G / hypot(3 / (0.4 * 1.5), 0.3 / (0.05 * 1.5)), 1);
  replace(text, sizeof text, twisted, "ellipsoid", "pyramid");
  breaks_away(text, "a=0", NULL, SS_SPIN_BEGIN, 0.05 * 1.5 * G / 0.3, 0);
  breaks_away(text, "a=1", NULL, SS_SPIN_BEGIN, 0.05 * 1.5 * G / 0.3, 0);
}

/* A ball starts to roll where the torque on it reaches rho m g, about any axis, whether or not sliding has the same limit. */
static void rolling_begins(void **state) {
  (void)state;
  char text[1024];
  breaks_away(rolled, "w=pi/2", NULL, SS_ROLL_BEGIN, 0.02 * 2 * G / 0.5, 0);
  breaks_away(rolled, "w=0.7", NULL, SS_ROLL_BEGIN, 0.02 * 2 * G / 0.5, 0);
  breaks_away(rolled, "w=-2", "b=0.61", SS_ROLL_BEGIN, 0.02 * 2 * G / 0.61, 0);
  replace(text, sizeof text, rolled, "pyramid", "quadratic");
  breaks_away(text, "w=0.7", NULL, SS_ROLL_BEGIN, 0.02 * 2 * G / 0.5, 1);
}

static const char driven[] =
    "planar: xy\n"
    "gravity: [0, 0]\n"
    "parameters: {torque: 100}\n"
    "bodies: [{name: arm, mass: 1, inertia: 1/12, position: [0.5, 0]}]\n"
    "joints: [{type: revolute, between: [world, arm], at: [0, 0], motor: {speed: 2*sin(3*t), torque: torque}}]\n"
    "simulation: {step: 2^-8, duration: 2, stabilization: none}\n";

/* A motor that is strong enough follows 2 sin 3t; its work is the kinetic energy. */
static void motor_follows_its_speed(void **state) {
  (void)state;
  run r;
  run_parse(&r, driven, NULL);
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    check_near(run_turn(&r, 0).z, 2 * sin(3 * ss_sim_state(r.sim)->t), 1e-11, "speed");
  }
  const double angle = 2. / 3 * (1 - cos(6)), kinetic = 2 * sin(6) * 2 * sin(6) / 6;
  check_near(run_position(&r, 0).y, 0.5 * sin(angle), 1e-4, "angle");
  check_near(ss_sim_report(r.sim)->energy.work, kinetic, 1e-4, "work of the motor");
  run_close(&r);
  run_parse(&r, driven, &(change){.set = {"torque=0.1"}}); /* too weak: it falls behind, and acts in full */
  for (int k = 0; k < 32; k++) run_step(&r);
  check_near(run_turn(&r, 0).z, 0.1 * 3 * 32 * ldexp(1, -8), 1e-3, "speed of a weak motor");
  run_close(&r);
}

static const char shaken[] =
    "parameters: {tilt: 0.6}\n"
    "gravity: [0, -9.81*sin(tilt), -9.81*cos(tilt)]\n"
    "materials: [{name: default, friction: 0.37}]\n"
    "world: {shapes: [{type: half-space, normal: [0, sin(tilt), cos(tilt)], offset: 0}]}\n"
    "bodies: [{name: box, mass: 1.7, position: [0, 0.1*sin(tilt), 0.1*cos(tilt)], orientation: {rpy: [-tilt, 0, 0]},\n"
    "          shapes: [{type: box, size: [0.3, 0.3, 0.2]}]}]\n"
    "forces: [{type: applied, on: box, force: [11*sin(2.3*t + 0.4), 0, 0]}]\n"
    "simulation: {step: 2^-6, duration: 2, friction: {cone: quadratic}, events: [collision, stick-slip, take-off]}\n";

/* Four feet let go where the force on the box reaches mu m g, however they share it: for the second time at the angle
 * pi + asin(mu m g / 11) of the force. */
static void feet_let_go_together(void **state) {
  (void)state;
  const double exact = (acos(-1) + asin(0.37 * 1.7 * G / 11) - 0.4) / 2.3;
  for (int k = 5; k <= 9; k++) {
    run r;
    run_parse(&r, shaken, &(change){.step = ldexp(1, -k)});
    const last_event e = watch(&r, SS_SLIP);
    check_near(e.t, exact, ldexp(1, -2 * k), "start of slip");
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rolling_ends),         cmocka_unit_test(spin_ends),
      cmocka_unit_test(spin_ends_once),       cmocka_unit_test(spin_begins),
      cmocka_unit_test(rolling_begins),       cmocka_unit_test(motor_follows_its_speed),
      cmocka_unit_test(feet_let_go_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
