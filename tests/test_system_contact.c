/* Gaps of user-defined systems: constraints that move, friction, restitution, ledger, against exact solutions. */
#include "system_runner.h"

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

/* Every scheme brings it to rest; how far it gets is a matter of the step. */
static void puck_under_every_scheme(void **state) {
  (void)state;
  int n = 3;
  const double q0[3] = {0, 0, 0}, v0[3] = {1.2, -0.9, 0}, way = 1.5 * 1.5 / (2 * 0.25 * G);
  const ss_gap_def gap = {.directions = 2, .friction = 0.25};
  ss_system s = unit_system(&n, q0, v0);
  s.force = weight;
  s.potential = height_potential;
  s.n_gaps = 1;
  s.gaps = &gap;
  s.gap = floor_gap;
  s.friction = plane_friction;
  for (const ss_table_row *row = ss_table_schemes(); row->name && scheme_is_rigid(row->name); row++)
    for (int located = 0; located < 2; located++) {
      run r;
      s.simulation.scheme = row->name;
      s.simulation.has_events = located;
      system_open(&r, &s);
      run_finish(&r);
      check_near(system_q(&r)[0], 0.8 * way, 1.5 * s.simulation.step, row->name);
      check_near(system_q(&r)[1], -0.6 * way, 1.5 * s.simulation.step, row->name);
      check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-12, "penetration");
      check_below(ss_sim_report(r.sim)->certificate.energy_created, 1e-12, "energy created");
      run_close(&r);
    }
}

/* A row twice as long: friction is twice as strong along it. */
static int uneven_friction(void *user, double t, const double *q, double *D, double *u) {
  (void)user, (void)t, (void)q, (void)u;
  D[0] = 1;
  D[4] = 2;
  return 0;
}

static void anisotropic_friction(void **state) {
  (void)state;
  int n = 3;
  const double q0[3] = {0, 0, 0};
  const ss_gap_def gap = {.directions = 2, .friction = 0.25};
  for (int axis = 0; axis < 2; axis++) {
    const double v0[3] = {axis == 0 ? 1.5 : 0, axis == 1 ? 1.5 : 0, 0};
    ss_system s = unit_system(&n, q0, v0);
    s.force = weight;
    s.n_gaps = 1;
    s.gaps = &gap;
    s.gap = floor_gap;
    s.friction = uneven_friction;
    run r;
    system_open(&r, &s);
    run_finish(&r);
    check_near(system_q(&r)[axis], 1.5 * 1.5 / (2 * (axis + 1) * 0.25 * G), 1e-9, "way along an axis");
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

static int paddle_gap(void *user, double t, const double *q, double *phi) {
  (void)user;
  phi[0] = q[0] - 3 * t;
  return 0;
}

/* A paddle of speed 3 hits a resting unit mass: v = (1 + e) 3, and the ledger knows who did the work. */
static void paddle_hits(void **state) {
  (void)state;
  int n = 1;
  const double q0[1] = {0.75}, e = 0.5;
  const ss_gap_def gap = {.restitution = e};
  ss_system s = unit_system(&n, q0, NULL);
  s.n_gaps = 1;
  s.gaps = &gap;
  s.gap = paddle_gap;
  for (int law = 0; law < 2; law++) {
    run r;
    s.simulation.restitution = law ? SS_RESTITUTION_NEWTON : SS_RESTITUTION_POISSON;
    system_open(&r, &s);
    run_finish(&r);
    check_near(r.collision_time[0], 0.25, 1e-12, "hit");
    check_near(system_v(&r)[0], 3 * (1 + e), 1e-10, "velocity after it");
    const ss_energy *energy = &ss_sim_report(r.sim)->energy;
    check_near(energy->work, 3 * 3 * (1 + e), 1e-9, "work of the paddle: impulse times its speed");
    check_near(energy->impact_loss, 3 * 3 * (1 - e * e) / 2, 1e-9, "loss, in the paddle's frame");
    check_ledger(&r, 1e-9);
    run_close(&r);
  }
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
      cmocka_unit_test(shaken_table_lets_go),
      cmocka_unit_test(driven_joint_and_pfaffian_row),
      cmocka_unit_test(block_on_a_belt),
      cmocka_unit_test(puck_slides_straight),
      cmocka_unit_test(puck_under_every_scheme),
      cmocka_unit_test(anisotropic_friction),
      cmocka_unit_test(ball_bounces),
      cmocka_unit_test(paddle_hits),
      cmocka_unit_test(units_do_not_matter),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
