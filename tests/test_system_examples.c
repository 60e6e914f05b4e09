/* The example systems: orders, agreement with the same mechanism as a scene, and with results of others. */
#include "system_runner.h"

#include "../examples/double_pendulum.h"
#include "../examples/slider_crank.h"
#include "../examples/woodpecker.h"

/* ---- the double pendulum with a wall ---- */

/* At t = 2.5, from an event-driven integration to 1e-11 (LIT section 10.1). */
static const double pendulum_end[4] = {0.02194625756, -0.99975915189, 0.02385130951, -1.99975733727};

static void bobs(const run *r, double x[4]) {
  const double *q = system_q(r);
  memcpy(x, q, sizeof(double) * (ss_model_coordinates(r->model) == 4 ? 4 : 2));
  if (ss_model_coordinates(r->model) == 4) return;
  const double a = q[0], b = q[1];
  x[0] = sin(a), x[1] = -cos(a), x[2] = x[0] + sin(b), x[3] = x[1] - cos(b);
}

static double distance4(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < 4; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sqrt(sum);
}

static double pendulum_error(ss_system system, double step) {
  run r;
  double x[4];
  system.simulation.step = step;
  system_open(&r, &system);
  run_finish(&r);
  bobs(&r, x);
  assert_int_equal(r.n_collisions, 5);
  check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-12, "penetration");
  run_close(&r);
  return distance4(x, pendulum_end);
}

/* Mean order over the steps 2^-from ... 2^-to. */
static double order(ss_system system, int from, int to) {
  return log2(pendulum_error(system, ldexp(1, -from)) / pendulum_error(system, ldexp(1, -to))) / (to - from);
}

static void order_of_the_trapezoidal_method(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double q0[4];
  ss_system angles = pendulum_in_angles(0.1, gaps), positions = pendulum_in_positions(0.1, gaps, q0);
  check_near(order(angles, 7, 11), 1, 0.05, "order, mass that depends on q at the start (LIT Theorem 3.3)");
  check_near(order(positions, 5, 11), 2, 0.05, "order, constant mass");
  angles.mass_at_midpoint = true;
  check_near(order(angles, 5, 11), 2, 0.1, "order, mass at the midpoint");
}

/* Errors follow the tolerance, which falls by 100 (above 1e-4 the largest step decides). */
static void automatic_steps(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double error[3];
  ss_system system = pendulum_in_angles(0.1, gaps);
  system.mass_at_midpoint = true;
  for (int k = 0; k < 3; k++) {
    system.simulation.tolerance = pow(10, -4 - k);
    error[k] = pendulum_error(system, 0x1p-9);
    check_below(error[k], 3 * system.simulation.tolerance, "error with automatic steps");
  }
  check_below(error[2], error[0] / 30, "a smaller tolerance, a smaller error");
}

static void other_schemes_are_of_first_order(void **state) {
  (void)state;
  const ss_table_row *table = ss_table_schemes();
  ss_gap_def gaps[2];
  ss_system system = pendulum_in_angles(0.1, gaps);
  system.simulation.has_events = true;
  system.simulation.events = SS_EVENT_COLLISION;
  for (int i = 0; table[i].name && scheme_is_rigid(table[i].name); i++) {
    system.simulation.scheme = table[i].name;
    if (strcmp(table[i].name, "trapezoidal") == 0) continue;
    check_near(order(system, 9, 12), 1, 0.16, table[i].name);
  }
}

/* In positions it is the same discrete problem as the scene's: only the gradients of joints and gaps are differences. */
static void positions_move_like_the_scene(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double q0[4], x[4];
  const ss_system system = pendulum_in_positions(0.1, gaps, q0);
  run scene, own;
  run_open(&scene, "double-pendulum-wall", NULL);
  system_open(&own, &system);
  run_finish(&scene);
  run_finish(&own);
  const ss_vec3 a = run_position(&scene, 0), b = run_position(&scene, 1);
  bobs(&own, x);
  check_below(distance4(x, (const double[4]){a.x, a.y, b.x, b.y}), 1e-9, "final positions");
  assert_int_equal(own.n_collisions, scene.n_collisions);
  for (int i = 0; i < own.n_collisions; i++)
    check_near(own.collision_time[i], scene.collision_time[i], 1e-9, "collision");
  const ss_energy *e = &ss_sim_report(own.sim)->energy, *f = &ss_sim_report(scene.sim)->energy;
  check_near(e->impact_loss, f->impact_loss, 1e-8, "impact loss");
  check_near(e->remainder, f->remainder, 1e-8, "remainder");
  run_close(&scene);
  run_close(&own);
}

static void stabilization_holds_the_rods(void **state) {
  (void)state;
  ss_gap_def gaps[2];
  double q0[4];
  ss_system system = pendulum_in_positions(0.1, gaps, q0);
  static const ss_stabilization ways[3] = {SS_STABILIZATION_NONE, SS_STABILIZATION_ANITESCU_HART,
                                           SS_STABILIZATION_PROJECTION};
  double drift[3];
  for (int i = 0; i < 3; i++) {
    run r;
    system.simulation.stabilization = ways[i];
    system.simulation.step = 0x1p-7;
    system_open(&r, &system);
    run_finish(&r);
    drift[i] = ss_sim_report(r.sim)->certificate.joint_drift;
    double residuals[2];
    ss_sim_joint_residuals(r.sim, residuals);
    check_below(fmax(fabs(residuals[0]), fabs(residuals[1])), drift[i], "final residuals");
    assert_int_equal(ss_sim_joint_rank(r.sim), 2);
    run_close(&r);
  }
  check_below(drift[1], drift[0] / 4, "drift with anitescu-hart");
  check_below(drift[2], 1e-12, "drift with projection");
}

/* ---- the woodpecker toy ---- */

typedef struct beak {
  double t, y; /* of the last hit */
  double period, drop;
  double y_rate, phi_rate; /* where phi_S passes its published starting value downwards */
  double phi;
  int n;
} beak;

static void note_beak(void *user, const ss_sim *sim, const ss_event *event) {
  beak *b = user;
  if (event->kind != SS_COLLISION || event->body[0] != 0) return;
  const double y = ss_sim_state(sim)->q[0];
  b->period = event->t - b->t;
  b->drop = b->y - y;
  b->t = event->t;
  b->y = y;
  b->n++;
}

static ss_status note_angle(void *user, const ss_sim *sim, ss_error *error) {
  (void)error;
  beak *b = user;
  const ss_state *s = ss_sim_state(sim);
  if (b->phi > -0.2788 && s->q[2] <= -0.2788) b->y_rate = s->v[0], b->phi_rate = s->v[2];
  b->phi = s->q[2];
  return SS_OK;
}

static beak peck(const char *scheme, double step, double duration) {
  ss_gap_def gaps[3];
  ss_system system = woodpecker_system(&woodpecker_of_glocker, gaps);
  system.simulation.scheme = scheme;
  system.simulation.step = step;
  system.simulation.duration = duration;
  beak b = {0};
  run r;
  ss_error error = {0};
  system_open(&r, &system);
  const ss_observer observer = {.user = &b, .step = note_angle, .event = note_beak};
  run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  run_finish(&r);
  const ss_report *report = ss_sim_report(r.sim);
  assert_true(report->events[SS_STICK] > 0 && report->events[SS_SLIP] > 0 && report->events[SS_TAKE_OFF] > 0);
  check_below(report->certificate.penetration, 1e-6, "penetration (8.8e-7 at the published start)");
  check_below(report->certificate.energy_created, 1e-12, "energy created");
  run_close(&r);
  return b;
}

/* The published start lies on the periodic motion: after many periods it comes by there again. Period and drop are those
 * of an independent Moreau time-stepping with h = 2e-5 (0.1460 s, 19.5 mm), and do not depend on scheme and step. */
static void woodpecker_pecks_periodically(void **state) {
  (void)state;
  const beak settled = peck("trapezoidal", 1e-4, 6);
  assert_int_equal(settled.n, 41);
  check_near(settled.period, 0.1460, 1e-4, "period");
  check_near(settled.drop, 0.01945, 5e-5, "drop per period");
  check_near(settled.y_rate, -0.3411, 0.002, "dy/dt where the published start is");
  check_near(settled.phi_rate, -7.4583, 0.01, "dphi_S/dt where the published start is");
  const beak coarse = peck("trapezoidal", 1e-4, 1), fine = peck("trapezoidal", 2e-5, 1);
  check_near(coarse.t, fine.t, 1e-4, "last peck with a smaller step");
  check_near(coarse.y, fine.y, 1e-4, "height with a smaller step");
  static const char *const others[] = {"moreau", "anitescu-potra", "anitescu-potra-stiff", "gavrea"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const beak b = peck(others[i], 4e-5, 0.8);
    check_near(b.period, fine.period, 1e-3, others[i]);
    check_near(b.drop, fine.drop, 5e-4, others[i]);
  }
}

/* The woodpecker in other coordinates, q = S p: nothing may depend on the choice. */
static const double S[9] = {0.02, -0.01, 0.005, 0.3, 0.9, -0.4, -0.6, 0.2, 1.1};

static void to_q(const double *p, double *q) {
  for (int i = 0; i < 3; i++) q[i] = S[3 * i] * p[0] + S[3 * i + 1] * p[1] + S[3 * i + 2] * p[2];
}

/* rows S */
static void turn_rows(const double *rows, int n, double *out) {
  for (int r = 0; r < n; r++)
    for (int j = 0; j < 3; j++)
      for (int i = 0; i < 3; i++) out[3 * r + j] += rows[3 * r + i] * S[3 * i + j];
}

static int turned_mass(void *user, double t, const double *p, double *M) {
  double q[3], own[9] = {0}, half[9] = {0}, across[9];
  to_q(p, q);
  (void)woodpecker_mass(user, t, q, own);
  turn_rows(own, 3, half);
  for (int i = 0; i < 9; i++) across[i] = half[3 * (i % 3) + i / 3];
  turn_rows(across, 3, M);
  return 0;
}

static int turned_force(void *user, double t, const double *p, const double *v, double *k) {
  double q[3], own[3] = {0};
  to_q(p, q);
  (void)woodpecker_force(user, t, q, v, own);
  turn_rows(own, 1, k);
  return 0;
}

static int turned_gap(void *user, double t, const double *p, double *phi) {
  double q[3];
  to_q(p, q);
  return woodpecker_gap(user, t, q, phi);
}

static int turned_friction(void *user, double t, const double *p, double *D, double *u) {
  double q[3], own[9] = {0};
  to_q(p, q);
  (void)woodpecker_friction(user, t, q, own, u);
  turn_rows(own, 3, D);
  return 0;
}

static int turned_potential(void *user, double t, const double *p, double *energy) {
  double q[3];
  to_q(p, q);
  return woodpecker_potential(user, t, q, energy);
}

/* p with S p = q, by Cramer's rule. */
static void from_q(const double *q, double *p) {
  const ss_vec3 a = {S[0], S[3], S[6]}, b = {S[1], S[4], S[7]}, c = {S[2], S[5], S[8]}, x = {q[0], q[1], q[2]};
  const double det = v3_dot(a, v3_cross(b, c));
  p[0] = v3_dot(x, v3_cross(b, c)) / det;
  p[1] = v3_dot(a, v3_cross(x, c)) / det;
  p[2] = v3_dot(a, v3_cross(b, x)) / det;
}

static void coordinates_do_not_matter(void **state) {
  (void)state;
  ss_gap_def gaps[3];
  double p0[3], u0[3], q[3];
  ss_system system = woodpecker_system(&woodpecker_of_glocker, gaps);
  run own, turned;
  system.simulation.duration = 0.3;
  system_open(&own, &system);
  from_q(system.q0, p0);
  from_q(system.v0, u0);
  system.q0 = p0;
  system.v0 = u0;
  system.scale = NULL;
  system.mass = turned_mass;
  system.force = turned_force;
  system.gap = turned_gap;
  system.gap_gradients = NULL;
  system.friction = turned_friction;
  system.potential = turned_potential;
  system_open(&turned, &system);
  run_finish(&own);
  run_finish(&turned);
  to_q(system_q(&turned), q);
  for (int i = 0; i < 3; i++) check_near(q[i], system_q(&own)[i], 1e-8, "coordinate");
  for (int k = 0; k < SS_EVENT_KINDS; k++)
    assert_int_equal(ss_sim_report(own.sim)->events[k], ss_sim_report(turned.sim)->events[k]);
  check_near(ss_sim_report(own.sim)->energy.friction_loss, ss_sim_report(turned.sim)->energy.friction_loss, 1e-10,
             "friction loss");
  run_close(&own);
  run_close(&turned);
}

/* ---- the slider-crank with clearance ---- */

/* Accelerations of the free chain, without this library: M a = k by Cramer's rule. */
static void chain_rates(const double y[6], double rates[6]) {
  double M[9] = {0}, k[3] = {0};
  slider_crank data = slider_crank_of_flores;
  (void)slider_crank_mass(&data, 0, y, M);
  (void)slider_crank_force(&data, 0, y, y + 3, k);
  const double det = M[0] * M[4] - M[1] * M[1];
  memcpy(rates, y + 3, 3 * sizeof(double));
  rates[3] = (M[4] * k[0] - M[1] * k[1]) / det;
  rates[4] = (M[0] * k[1] - M[1] * k[0]) / det;
  rates[5] = 0;
}

static void runge_kutta(double y[6], double h) {
  double k[4][6], z[6];
  for (int s = 0; s < 4; s++) {
    const double c = s == 0 ? 0 : s == 3 ? 1 : 0.5;
    for (int i = 0; i < 6; i++) z[i] = y[i] + (s ? c * h * k[s - 1][i] : 0);
    chain_rates(z, k[s]);
  }
  for (int i = 0; i < 6; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

static void open_slider_crank(run *r, double step, double duration) {
  ss_gap_def gaps[4];
  ss_system system = slider_crank_system(&slider_crank_of_flores, gaps);
  system.simulation.step = step;
  system.simulation.duration = duration;
  system_open(r, &system);
}

static void slider_crank_flies_and_hits(void **state) {
  (void)state;
  double y[6] = {0, 0, 0, 150, -75, 0}, error[2];
  for (int i = 0; i < 2500; i++) runge_kutta(y, 1e-6);
  for (int k = 0; k < 2; k++) {
    run r;
    open_slider_crank(&r, k ? 2.5e-5 : 5e-5, 2.5e-3);
    run_finish(&r);
    assert_int_equal(r.n_collisions, 0);
    error[k] = fabs(system_q(&r)[0] - y[0]) + fabs(system_q(&r)[1] - y[1]);
    run_close(&r);
  }
  check_below(error[1], 1e-5, "angles before the first hit");
  check_near(log2(error[0] / error[1]), 2, 0.1, "order before the first hit");
}

/* The same mechanism as a scene: bodies and joints instead of angles. */
static void slider_crank_moves_like_the_scene(void **state) {
  (void)state;
  run own, scene;
  open_slider_crank(&own, 1e-5, 0.02);
  run_open(&scene, "slider-crank", &(change){.step = 1e-5, .duration = 0.02});
  run_finish(&own);
  run_finish(&scene);
  const double *q = system_q(&own);
  const ss_vec3 slider = run_position(&scene, 2);
  check_near(slider.x, 0.153 * cos(q[0]) + 0.306 * cos(q[1]), 2e-5, "slider");
  check_near(run_turn(&scene, 0).z, system_v(&own)[0], 0.02, "speed of the crank");
  assert_true(own.n_collisions > 10);
  for (int i = 0; i < 6; i++) check_near(own.collision_time[i], scene.collision_time[i], 1e-7, "collision");
  run_close(&own);
  run_close(&scene);
}

/* The Siconos reference has h = 1e-4 and is of first order: up to the first hit it gains 0.9 % of energy, over the run
 * 14 %, so that it can be followed for the first half turn only. */
static void slider_crank_near_siconos(void **state) {
  (void)state;
  const char *data = getenv("STICKSLIP_DATA");
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/siconos_ref_trajectories/SliderCrankMoreauJeanCombinedProjectionOSI.ref",
                 data ? data : SOURCE_DIR "/../shared/data");
  FILE *file = fopen(path, "r");
  if (!file) {
    print_message("no reference trajectory at %s\n", path);
    skip();
  }
  run r;
  int rows = 0, columns = 0;
  open_slider_crank(&r, 1e-4, 0.03);
  assert_int_equal(fscanf(file, "%d %d", &rows, &columns), 2);
  double worst = 0;
  for (int i = 0; i <= 300; i++) {
    double row[64] = {0};
    for (int k = 0; k < columns; k++) assert_int_equal(fscanf(file, "%lf", &row[k]), 1);
    worst = fmax(worst, fabs(row[1] - system_q(&r)[0] / 6.283185307179586));
    check_below(-fmin(fmin(row[13], row[14]), fmin(row[15], row[16])), 1e-9, "the reference's gaps");
    if (i < 300) run_step(&r);
  }
  (void)fclose(file);
  check_below(worst, 0.007, "turns of the crank");
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_of_the_trapezoidal_method),   cmocka_unit_test(automatic_steps),
      cmocka_unit_test(other_schemes_are_of_first_order),  cmocka_unit_test(positions_move_like_the_scene),
      cmocka_unit_test(stabilization_holds_the_rods),      cmocka_unit_test(woodpecker_pecks_periodically),
      cmocka_unit_test(coordinates_do_not_matter),         cmocka_unit_test(slider_crank_flies_and_hits),
      cmocka_unit_test(slider_crank_moves_like_the_scene), cmocka_unit_test(slider_crank_near_siconos),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
