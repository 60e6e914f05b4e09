/* User-defined systems: joints, forces and their Jacobians, what is refused, recorders, checkpoints. */
#include "system_runner.h"

#include "../examples/double_pendulum.h"

#include <unistd.h>

/* ---- redundant joints, adopted states ---- */

static int rods_twice(void *user, double t, const double *q, double *theta) {
  (void)pendulum_positions_joints(user, t, q, theta);
  theta[2] = 2 * theta[0];
  return 0;
}

static void redundant_joint_changes_nothing(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double q0[4];
  ss_system s = pendulum_in_positions(0.1, gaps, q0);
  static const ss_stabilization ways[2] = {SS_STABILIZATION_NONE, SS_STABILIZATION_PROJECTION};
  for (int k = 0; k < 2; k++) {
    run once, twice;
    s.simulation.stabilization = ways[k];
    s.n_joints = 2;
    s.joints = pendulum_positions_joints;
    system_open(&once, &s);
    s.n_joints = 3;
    s.joint_names = NULL;
    s.joints = rods_twice;
    system_open(&twice, &s);
    assert_int_equal(ss_sim_joint_rank(twice.sim), 2);
    run_finish(&once);
    run_finish(&twice);
    for (int i = 0; i < 4; i++) check_near(system_q(&once)[i], system_q(&twice)[i], 1e-8, "position");
    double impulses[3];
    ss_error error = {0};
    run_require(ss_sim_joint_impulses(twice.sim, impulses, &error), &error, "impulses");
    check_near(impulses[2], 2 * impulses[0], 1e-9, "the smallest impulses share the load");
    run_close(&once);
    run_close(&twice);
  }
}

static void state_is_adopted(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double q0[4];
  const ss_system s = pendulum_in_positions(0.1, gaps, q0), other = pendulum_in_angles(0.1, gaps);
  run a, b, c;
  ss_error error = {0};
  system_open(&a, &s);
  system_open(&b, &s);
  system_open(&c, &other);
  for (int i = 0; i < 100; i++) run_step(&a);
  run_require(ss_sim_adopt(b.sim, a.sim, &error), &error, "adopt");
  assert_true(ss_sim_state(b.sim)->t == ss_sim_state(a.sim)->t);
  assert_memory_equal(system_q(&a), system_q(&b), 4 * sizeof(double));
  assert_int_equal(ss_sim_adopt(c.sim, a.sim, &error), SS_ERROR_INPUT);
  for (int i = 0; i < 100; i++) run_step(&a), run_step(&b);
  for (int i = 0; i < 4; i++) check_near(system_q(&a)[i], system_q(&b)[i], 1e-12, "they go on alike");
  run_close(&a);
  run_close(&b);
  run_close(&c);
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
  s.unchecked_gradients = true;
  ss_error ignored;
  assert_int_equal(system_try(&s, &ignored), SS_OK);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(redundant_joint_changes_nothing),
      cmocka_unit_test(state_is_adopted),
      cmocka_unit_test(jacobians_by_differences),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(failing_functions_leave_the_state),
      cmocka_unit_test(recorded_by_coordinate),
      cmocka_unit_test(resumed_bit_by_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
