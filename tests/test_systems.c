/* User-defined systems: moving constraints, friction, ledger, what is refused, recorders, checkpoints. */
#include "system_runner.h"

#include "../examples/double_pendulum.h"

#include <unistd.h>

static const double G = 9.81;

/* ---- a small system to be changed by tests: n unit masses ---- */

static int unit_mass(void *user, double t, const double *q, double *M) {
  (void)t, (void)q;
  const int n = *(const int *)user;
  for (int i = 0; i < n; i++) M[i * n + i] = 1;
  return 0;
}

static ss_system unit_system(int *n, const double *q0, const double *v0) {
  ss_system s = ss_system_default();
  s.user = n;
  s.n = *n;
  s.q0 = q0;
  s.v0 = v0;
  s.mass = unit_mass;
  s.constant_mass = true;
  s.simulation.scheme = "trapezoidal";
  s.simulation.step = 0x1p-8;
  s.simulation.duration = 1;
  s.simulation.has_events = true;
  s.simulation.events = SS_EVENT_COLLISION | SS_EVENT_STICK_SLIP | SS_EVENT_TAKE_OFF;
  return s;
}

static int weight(void *user, double t, const double *q, const double *v, double *k) {
  (void)t, (void)q, (void)v;
  k[*(const int *)user - 1] = -G;
  return 0;
}

static int height_potential(void *user, double t, const double *q, double *energy) {
  (void)t;
  *energy = G * q[*(const int *)user - 1];
  return 0;
}

typedef struct times {
  double t[SS_EVENT_KINDS];
} times;

static void note_time(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  times *all = user;
  if (all->t[event->kind] == 0) all->t[event->kind] = event->t;
}

static void watch(run *r, times *all) {
  ss_error error = {0};
  *all = (times){0};
  const ss_observer observer = {.user = all, .step = run_ignore_step, .event = note_time};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
}

static void check_ledger(const run *r, double tolerance) {
  check_below(fabs(ss_sim_report(r->sim)->energy.remainder), tolerance, "remainder of the ledger");
}

/* ---- constraints that move by themselves ---- */

static int table_gap(void *user, double t, const double *q, double *phi) {
  (void)user;
  phi[0] = q[0] - 0.05 * sin(20 * t); /* a w^2 = 20 > g */
  return 0;
}

/* A mass on a table that shakes leaves it where the table falls faster. */
static void shaken_table_lets_go(void **state) {
  (void)state;
  int n = 1;
  const double q0[1] = {0}, v0[1] = {1};
  const ss_gap_def gap = {.name = "table"};
  ss_system s = unit_system(&n, q0, v0);
  s.force = weight;
  s.potential = height_potential;
  s.n_gaps = 1;
  s.gaps = &gap;
  s.gap = table_gap;
  s.length = 0.05;
  const double leaves = asin(G / 20) / 20;
  double error[2];
  for (int k = 0; k < 2; k++) {
    run r;
    times all;
    s.simulation.step = k ? 0x1p-11 : 0x1p-9;
    s.simulation.duration = leaves + 0.05;
    system_open(&r, &s);
    watch(&r, &all);
    run_finish(&r);
    const double left = 0.05, y = 0.05 * sin(20 * leaves) + cos(20 * leaves) * left - G * left * left / 2;
    error[k] = fabs(system_q(&r)[0] - y);
    check_near(all.t[SS_TAKE_OFF], leaves, 2 * s.simulation.step, "take-off");
    check_below(fabs(ss_sim_report(r.sim)->energy.remainder), 1e-3 * s.simulation.step, "remainder");
    run_close(&r);
  }
  check_below(error[1], 1.5e-6, "height after the take-off");
  check_below(error[1], error[0] / 8, "it converges with order two");
}

static int driven_joint(void *user, double t, const double *q, double *theta) {
  (void)user;
  theta[0] = q[0] - sin(t);
  return 0;
}

static int sled_rows(void *user, double t, const double *q, double *A, double *b) {
  (void)user, (void)t;
  A[1] = 1; /* q1' + q0 q2' = 1/2 */
  A[2] = q[0];
  b[0] = 0.5;
  return 0;
}

/* q0 is driven, a Pfaffian row ties q1 and q2 to it; without a potential all forces are work. */
static void driven_joint_and_pfaffian_row(void **state) {
  (void)state;
  int n = 3;
  const double q0[3] = {0, 0, 0}, v0[3] = {1, 0.5, 0};
  double error[2];
  ss_system s = unit_system(&n, q0, v0);
  s.force = weight; /* on q2 */
  s.n_joints = s.n_pfaffian = 1;
  s.joints = driven_joint;
  s.pfaffian = sled_rows;
  for (int k = 0; k < 2; k++) {
    run r;
    s.simulation.step = k ? 0x1p-9 : 0x1p-7;
    system_open(&r, &s);
    run_finish(&r);
    error[k] = fabs(system_q(&r)[0] - sin(1));
    const double *v = system_v(&r), *q = system_q(&r);
    check_below(fabs(v[1] + q[0] * v[2] - 0.5), 4 * s.simulation.step, "Pfaffian row at the end");
    check_ledger(&r, 1e-4);
    check_near(ss_sim_report(r.sim)->energy.work,
               ss_sim_report(r.sim)->energy.final - ss_sim_report(r.sim)->energy.initial, 1e-4, "work");
    assert_int_equal(ss_sim_joint_rank(r.sim), 2);
    check_below(ss_sim_joint_velocity_residual(r.sim), 5 * s.simulation.step, "velocities");
    run_close(&r);
  }
  check_near(log2(error[0] / error[1]) / 2, 2, 0.1, "order of the driven joint");
}

/* ---- friction ---- */

static int floor_gap(void *user, double t, const double *q, double *phi) {
  (void)t;
  phi[0] = q[*(const int *)user - 1];
  return 0;
}

static int spring_and_weight(void *user, double t, const double *q, const double *v, double *k) {
  (void)user, (void)t, (void)v;
  k[0] = -100 * q[0];
  k[1] = -G;
  return 0;
}

static int spring_potential(void *user, double t, const double *q, double *energy) {
  (void)user, (void)t;
  *energy = 50 * q[0] * q[0] + G * q[1];
  return 0;
}

static int belt_friction(void *user, double t, const double *q, double *D, double *u) {
  (void)user, (void)t, (void)q;
  D[0] = 1;
  u[0] = -0.2; /* the belt's speed */
  return 0;
}

/* A block on a belt, held by a spring: dragged along, stuck, torn off. */
static void block_on_a_belt(void **state) {
  (void)state;
  int n = 2;
  const double q0[2] = {0, 0};
  const double w = 10, xs = 0.3 * G / 100, belt = 0.2;
  const double sticks = asin(belt / (xs * w)) / w, x1 = xs * (1 - cos(w * sticks)), slips = sticks + (xs - x1) / belt;
  const ss_gap_def gap = {.name = "belt", .directions = 1, .friction = 0.3};
  ss_system s = unit_system(&n, q0, NULL);
  s.force = spring_and_weight;
  s.potential = spring_potential;
  s.n_gaps = 1;
  s.gaps = &gap;
  s.gap = floor_gap;
  s.friction = belt_friction;
  s.simulation.duration = slips + 0.1;
  double error[2];
  for (int k = 0; k < 2; k++) {
    run r;
    times all;
    s.simulation.step = k ? 0x1p-10 : 0x1p-8;
    system_open(&r, &s);
    watch(&r, &all);
    run_finish(&r);
    check_near(all.t[SS_STICK], sticks, s.simulation.step, "sticks");
    check_near(all.t[SS_SLIP], slips, 1.1 * s.simulation.step, "slips");
    error[k] = fabs(system_q(&r)[0] - (xs + belt / w * sin(w * 0.1)));
    assert_true(ss_sim_report(r.sim)->energy.friction_loss > 0);
    check_below(fabs(ss_sim_report(r.sim)->energy.remainder), 1e-3 * s.simulation.step, "remainder");
    run_close(&r);
  }
  check_below(error[1], 2e-6, "place after all that");
  check_below(error[1], error[0] / 6, "it converges");
}

static int plane_friction(void *user, double t, const double *q, double *D, double *u) {
  (void)user, (void)t, (void)q, (void)u;
  D[0] = 1;
  D[4] = 1;
  return 0;
}

/* Two friction directions: a puck comes to rest on its straight way, with the round cone and the polygon. */
static void puck_slides_straight(void **state) {
  (void)state;
  int n = 3;
  const double q0[3] = {0, 0, 0}, v0[3] = {1.2, -0.9, 0};
  const double way = 1.5 * 1.5 / (2 * 0.25 * G);
  const ss_gap_def gap = {.directions = 2, .friction = 0.25};
  ss_system s = unit_system(&n, q0, v0);
  s.force = weight;
  s.potential = height_potential;
  s.n_gaps = 1;
  s.gaps = &gap;
  s.gap = floor_gap;
  s.friction = plane_friction;
  for (int cone = 0; cone < 2; cone++) {
    run r;
    s.simulation.cone = cone ? SS_CONE_QUADRATIC : SS_CONE_POLYHEDRAL;
    system_open(&r, &s);
    run_finish(&r);
    check_near(system_q(&r)[0], 0.8 * way, 1e-9, "x");
    check_near(system_q(&r)[1], -0.6 * way, 1e-9, "y");
    check_near(ss_sim_report(r.sim)->energy.friction_loss, 1.5 * 1.5 / 2, 1e-9, "all energy is lost to friction");
    check_ledger(&r, 1e-9);
    ss_contact_report contact;
    assert_int_equal(ss_sim_contacts(r.sim, &contact, 1), 1);
    assert_true(contact.stuck);
    check_near(contact.impulse.x, G * s.simulation.step, 1e-9, "normal impulse");
    assert_string_equal(ss_model_body_name(r.model, contact.body[0]), "gap 1");
    run_close(&r);
  }
}

/* ---- restitution ---- */

static void ball_bounces(void **state) {
  (void)state;
  int n = 1;
  const double q0[1] = {1};
  const double hit = sqrt(2 / G), e = 0.5;
  ss_gap_def gap = {.restitution = e};
  ss_system s = unit_system(&n, q0, NULL);
  s.force = weight;
  s.potential = height_potential;
  s.n_gaps = 1;
  s.gaps = &gap;
  s.gap = floor_gap;
  s.simulation.duration = 2;
  for (int law = 0; law < 2; law++) {
    run r;
    s.simulation.restitution = law ? SS_RESTITUTION_NEWTON : SS_RESTITUTION_POISSON;
    system_open(&r, &s);
    run_finish(&r);
    check_near(r.collision_time[0], hit, 1e-10, "first hit");
    check_near(r.collision_time[1], hit * (1 + 2 * e), 1e-9, "second hit");
    check_near(r.collision_time[2], hit * (1 + 2 * e + 2 * e * e), 1e-9, "third hit");
    check_below(fabs(system_q(&r)[0]), 1e-9, "at rest in the end");
    check_near(ss_sim_report(r.sim)->energy.impact_loss, G, 1e-9, "everything is lost in impacts");
    run_close(&r);
  }
}

/* ---- forces ---- */

static int damped(void *user, double t, const double *q, const double *v, double *k) {
  (void)user;
  k[0] = -1e4 * q[0] - 300 * v[0] + 5 * cos(3 * t);
  return 0;
}

static int damped_jacobian(void *user, double t, const double *q, const double *v, double *Kq, double *Kv) {
  (void)user, (void)t, (void)q, (void)v;
  Kq[0] = -1e4;
  Kv[0] = -300;
  return 0;
}

static int elastic_potential(void *user, double t, const double *q, double *energy) {
  (void)user, (void)t;
  *energy = 5e3 * q[0] * q[0];
  return 0;
}

static int damped_power(void *user, double t, const double *q, const double *v, double *applied, double *lost) {
  (void)user, (void)q;
  *applied = 5 * cos(3 * t) * v[0];
  *lost = 300 * v[0] * v[0];
  return 0;
}

/* A stiff damped oscillator: given and differenced Jacobians do the same; the ledger knows work and damping. */
static void jacobians_by_differences(void **state) {
  (void)state;
  int n = 1;
  const double q0[1] = {0.01};
  double end[2];
  ss_system s = unit_system(&n, q0, NULL);
  s.force = damped;
  s.potential = elastic_potential;
  s.power = damped_power;
  s.simulation.step = 0x1p-12;
  for (int k = 0; k < 2; k++) {
    run r;
    s.force_jacobian = k ? damped_jacobian : NULL;
    system_open(&r, &s);
    run_finish(&r);
    end[k] = system_q(&r)[0];
    const ss_energy *e = &ss_sim_report(r.sim)->energy;
    check_near(e->damping_loss, 0.5 + e->work - e->final, 1e-4, "what the damper takes");
    check_ledger(&r, 1e-4);
    run_close(&r);
  }
  check_near(end[0], end[1], 1e-12, "difference of the Jacobians");
  const double a = 1e4 - 9, b = 900; /* steady answer to 5 cos 3t */
  check_near(end[0], 5 * (a * cos(3) + b * sin(3)) / (a * a + b * b), 1e-8, "steady state");
}

/* ---- what is refused ---- */

static int sick_countdown; /* calls that are good; then what happens */
static int sick_answer;

static int sick_force(void *user, double t, const double *q, const double *v, double *k) {
  if (sick_countdown-- > 0 || sick_answer == 0) return weight(user, t, q, v, k);
  if (sick_answer > 0) return sick_answer;
  k[0] = (double)NAN;
  return 0;
}

static void failing_functions_leave_the_state(void **state) {
  (void)state;
  int n = 1;
  const double q0[1] = {1};
  ss_system s = unit_system(&n, q0, NULL);
  s.force = sick_force;
  for (int nan = 0; nan < 2; nan++) {
    run r;
    ss_error error = {0};
    sick_answer = 0;
    system_open(&r, &s);
    run_step(&r);
    const double t = ss_sim_state(r.sim)->t, q = system_q(&r)[0], v = system_v(&r)[0];
    sick_answer = nan ? -1 : 7;
    sick_countdown = nan ? 3 : 1;
    assert_int_equal(ss_sim_step(r.sim, &error), SS_ERROR_CALLBACK);
    assert_non_null(strstr(error.message, "'force'"));
    assert_non_null(strstr(error.message, nan ? "NaN" : "returned 7"));
    assert_true(ss_sim_state(r.sim)->t == t && system_q(&r)[0] == q && system_v(&r)[0] == v);
    sick_answer = 0; /* cured */
    while (!ss_sim_done(r.sim)) run_step(&r);
    check_near(system_q(&r)[0], 1 - G / 2, 1e-12, "it goes on");
    run_close(&r);
  }
}

static int wrong_gradients(void *user, double t, const double *q, double *normal, double *rate) {
  (void)pendulum_angles_gap_gradients(user, t, q, normal, rate);
  normal[2] = -normal[2];
  return 0;
}

static int wrong_jacobian(void *user, double t, const double *q, const double *v, double *Kq, double *Kv) {
  (void)damped_jacobian(user, t, q, v, Kq, Kv);
  Kv[0] = 300;
  return 0;
}

static int lopsided_mass(void *user, double t, const double *q, double *M) {
  (void)pendulum_angles_mass(user, t, q, M);
  M[1] += 0.1;
  return 0;
}

static int flat_mass(void *user, double t, const double *q, double *M) {
  (void)user, (void)t, (void)q;
  for (int i = 0; i < 4; i++) M[i] = 1;
  return 0;
}

static void mistakes_are_named(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double q0[4];
  const ss_system good = pendulum_in_angles(0.1, gaps);
  ss_system s = good;
  s.gap_gradients = wrong_gradients;
  check_refused(&s, SS_ERROR_INPUT, "gap_gradients: row 2, column 1 is");
  s = good;
  s.mass = lopsided_mass;
  check_refused(&s, SS_ERROR_INPUT, "mass is not symmetric at the start: entries (2, 1) and (1, 2)");
  s = good;
  s.mass = flat_mass;
  check_refused(&s, SS_ERROR_INPUT, "mass is not positive definite");
  s = good;
  s.mass = NULL;
  check_refused(&s, SS_ERROR_INPUT, "'mass'");
  s = good;
  s.gap = NULL;
  check_refused(&s, SS_ERROR_INPUT, "a system with gaps needs the function 'gap'");
  s = good;
  s.simulation.scheme = "compliant";
  check_refused(&s, SS_ERROR_UNSUPPORTED, "patches between the surfaces of bodies");
  s = good;
  s.simulation.scheme = "none";
  check_refused(&s, SS_ERROR_INPUT, "no scheme is named 'none'");
  static const char *const twice[2] = {"theta", "theta"};
  s = good;
  s.names = twice;
  check_refused(&s, SS_ERROR_INPUT, "two coordinates are named 'theta'");
  s = good;
  gaps[1].friction = 0.5;
  check_refused(&s, SS_ERROR_INPUT, "gap 2: friction needs one or two directions");
  s = pendulum_in_positions(0.1, gaps, q0);
  q0[0] += 0.01;
  check_refused(&s, SS_ERROR_INPUT, "'rod1' does not hold at the start");
  q0[0] = -0.5;
  s.n_joints = 0;
  check_refused(&s, SS_ERROR_INPUT, "'bob1' overlaps at the start by 0.5");
  q0[0] = (double)NAN;
  check_refused(&s, SS_ERROR_INPUT, "q0[0] must be finite");

  int n = 1;
  const double start[1] = {0.01};
  s = unit_system(&n, start, NULL);
  s.force = damped;
  s.force_jacobian = wrong_jacobian;
  check_refused(&s, SS_ERROR_INPUT, "force_jacobian, Kv: row 1, column 1 is 300");
  s.approximate_jacobian = true;
  ss_error error;
  assert_int_equal(system_try(&s, &error), SS_OK);
}

/* ---- files ---- */

static void recorded_by_coordinate(void **state) {
  (void)state;
  char csv[64], h5[64], exported[64], line[256];
  (void)snprintf(csv, sizeof csv, "/tmp/stickslip-system-%d.csv", (int)getpid());
  (void)snprintf(h5, sizeof h5, "/tmp/stickslip-system-%d.h5", (int)getpid());
  (void)snprintf(exported, sizeof exported, "/tmp/stickslip-system-%d-2.csv", (int)getpid());
  ss_gap_def gaps[2];
  ss_system s = pendulum_in_angles(0.1, gaps);
  s.simulation.step = 0x1p-6;
  run r;
  ss_error error = {0};
  ss_recorder *recorders[2];
  system_open(&r, &s);
  run_require(ss_recorder_open_csv(csv, r.sim, 1, &recorders[0], &error), &error, "csv");
  run_require(ss_recorder_open_hdf5(h5, r.sim, 1, &recorders[1], &error), &error, "hdf5");
  for (int i = 0; i < 2; i++) {
    const ss_observer observer = ss_recorder_observer(recorders[i]);
    run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  }
  run_finish(&r);
  for (int i = 0; i < 2; i++) run_require(ss_recorder_close(recorders[i], r.sim, true, &error), &error, "close");
  run_require(ss_export_csv(h5, exported, &error), &error, "export");

  ss_result *result = NULL;
  run_require(ss_result_open(h5, &result, &error), &error, "open");
  assert_int_equal(ss_result_rows(result), 161);
  double q[161], v[161];
  run_require(ss_result_column(result, "theta2.q", q, &error), &error, "theta2.q");
  run_require(ss_result_column(result, "theta1.v", v, &error), &error, "theta1.v");
  assert_true(q[160] == system_q(&r)[1] && v[160] == system_v(&r)[0] && q[0] == pendulum_start[1]);
  assert_int_equal(ss_result_column(result, "theta3.q", q, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "COORDINATE one of theta1, theta2"));
  ss_result_close(result);

  FILE *files[2] = {fopen(csv, "r"), fopen(exported, "r")};
  char lines[2][256];
  for (int row = 0; row < 162; row++) {
    for (int i = 0; i < 2; i++) assert_non_null(fgets(lines[i], sizeof lines[i], files[i]));
    assert_string_equal(lines[0], lines[1]);
    if (row == 0) assert_string_equal(lines[0], "t,theta1.q,theta1.v,theta2.q,theta2.v\n");
  }
  assert_null(fgets(line, sizeof line, files[0]));
  for (int i = 0; i < 2; i++) (void)fclose(files[i]);
  (void)unlink(csv), (void)unlink(h5), (void)unlink(exported);
  run_close(&r);
}

static void resumed_bit_by_bit(void **state) {
  (void)state;
  char path[64];
  (void)snprintf(path, sizeof path, "/tmp/stickslip-system-%d.checkpoint", (int)getpid());
  ss_gap_def gaps[2];
  ss_system s = pendulum_in_angles(0.1, gaps);
  s.simulation.step = 0x1p-7;
  run a, b;
  ss_error error = {0};
  system_open(&a, &s);
  system_open(&b, &s);
  for (int i = 0; i < 150; i++) run_step(&a);
  run_require(ss_checkpoint_write(a.sim, path, &error), &error, "write");
  run_require(ss_checkpoint_read(b.sim, path, &error), &error, "read");
  run_finish(&a);
  run_finish(&b);
  assert_memory_equal(system_q(&a), system_q(&b), 2 * sizeof(double));
  assert_memory_equal(system_v(&a), system_v(&b), 2 * sizeof(double));
  (void)unlink(path);
  run_close(&a);
  run_close(&b);
}

static int floor_friction(void *user, double t, const double *q, double *D, double *u) {
  (void)user, (void)t, (void)q, (void)u;
  D[0] = 1;
  return 0;
}

/* Results do not depend on the units: lengths by 1000, times by 1/100. */
static int scaled_force(void *user, double t, const double *q, const double *v, double *k) {
  (void)user, (void)t, (void)q, (void)v;
  k[1] = -G * 1e3 / 1e4;
  return 0;
}

static void units_do_not_matter(void **state) {
  (void)state;
  int n = 2;
  const ss_gap_def gap = {.directions = 1, .friction = 0.2, .restitution = 0.6};
  double end[2][2];
  for (int k = 0; k < 2; k++) {
    const double length = k ? 1e3 : 1, time = k ? 100 : 1;
    const double q0[2] = {0, 0.1 * length}, v0[2] = {0.7 * length / time, 0}, scale[2] = {length, length};
    ss_system s = unit_system(&n, q0, v0);
    s.force = k ? scaled_force : weight;
    s.scale = scale;
    s.length = length;
    s.n_gaps = 1;
    s.gaps = &gap;
    s.gap = floor_gap;
    s.friction = floor_friction;
    s.simulation.step = 0x1p-7 * time;
    s.simulation.duration = time;
    run r;
    system_open(&r, &s);
    run_finish(&r);
    for (int i = 0; i < 2; i++) end[k][i] = system_q(&r)[i] / length;
    run_close(&r);
  }
  check_near(end[0][0], end[1][0], 1e-9, "x");
  check_near(end[0][1], end[1][1], 1e-9, "y");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shaken_table_lets_go),   cmocka_unit_test(driven_joint_and_pfaffian_row),
      cmocka_unit_test(block_on_a_belt),        cmocka_unit_test(puck_slides_straight),
      cmocka_unit_test(ball_bounces),           cmocka_unit_test(jacobians_by_differences),
      cmocka_unit_test(mistakes_are_named),     cmocka_unit_test(failing_functions_leave_the_state),
      cmocka_unit_test(recorded_by_coordinate), cmocka_unit_test(resumed_bit_by_bit),
      cmocka_unit_test(units_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
