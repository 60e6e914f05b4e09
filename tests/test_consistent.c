/* Velocities made consistent with joints and pressing contacts (event/consistent.c): what is left respects every row, what was taken is
 * what the constraints' forces can do, and nothing else is touched. */
#include "scene_runner.h"
#include "step/step.h"

/* A double pendulum and a body that nothing holds. */
static const char *const pendulum = "gravity: [0, 0, -10]\n"
                                    "bodies:\n"
                                    "  - {name: upper, mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}\n"
                                    "  - {name: free, mass: 1, inertia: [1, 1, 1], position: [9, 0, 0]}\n"
                                    "  - {name: lower, mass: 1, inertia: [0.3, 0.2, 0.1], position: [1, 0, -0.5]}\n"
                                    "joints:\n"
                                    "  - {type: spherical, between: [world, upper], at: [0, 0, 0]}\n"
                                    "  - {type: revolute, between: [upper, lower], at: [1, 0, 0], axis: [0, 1, 0]}\n"
                                    "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n";

static double times_mass(const ss_model *model, const double *a, const double *b) {
  double sum = 0;
  for (int k = 0; k < model->n_bodies; k++) {
    ss_vec3 linear[2], angular[2];
    ss_twist_of(model, a, k, &linear[0], &angular[0]);
    ss_twist_of(model, b, k, &linear[1], &angular[1]);
    sum += model->bodies[k].mass * v3_dot(linear[0], linear[1]) +
           v3_dot(angular[0], mat3_mul(&model->bodies[k].inertia, angular[1]));
  }
  return sum;
}

static double worst_joint(ss_sim *sim, const double *v) {
  double worst = 0;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, sim->basis.rows, NULL);
  for (int i = 0; i < sim->basis.n; i++)
    worst = fmax(worst, fabs(ss_row_dot(sim->model, &sim->basis.rows[sim->basis.row[i]], v)));
  return worst;
}

static void test_joints(void **state) {
  (void)state;
  enum { N = 18 };
  run r;
  run_parse(&r, pendulum, NULL);
  run_step(&r);
  ss_sim *sim = r.sim;
  assert_true(ss_velocities_alternate(sim));
  assert_int_equal(sim->basis.n, 8);
  assert_int_equal(r.model->n_v, N);
  double v[N], out[N], taken[N], again[N];
  uint64_t seed = 3;
  for (int trial = 0; trial < 20; trial++) {
    for (int i = 0; i < N; i++) v[i] = 2 * random_next(&seed) - 1;
    ss_consistent_velocity(sim, sim->state.t, sim->state.q, v, out);
    assert_true(worst_joint(sim, v) > 0.1);
    check_below(worst_joint(sim, out), 1e-12, "rows");
    for (int i = 0; i < N; i++) taken[i] = v[i] - out[i];
    check_near(times_mass(r.model, taken, out), 0, 1e-12, "the nearest one");
    for (int i = r.model->bodies[1].first; i < r.model->bodies[1].first + 6; i++) assert_true(taken[i] == 0);
    ss_consistent_velocity(sim, sim->state.t, sim->state.q, out, again);
    for (int i = 0; i < N; i++) check_near(again[i], out[i], 1e-12, "once is enough");
  }
  /* the state itself: impulses of the joints and energy are booked */
  memcpy(sim->state.v, v, sizeof v);
  double impulse[16];
  const double before = times_mass(r.model, v, v) / 2, booked = sim->report.energy.stabilization;
  memcpy(impulse, sim->joints.impulse, sizeof(double) * 8);
  ss_make_consistent(sim);
  for (int i = 0; i < N; i++) check_near(sim->state.v[i], out[i], 1e-12, "state");
  check_near(sim->report.energy.stabilization - booked, times_mass(r.model, out, out) / 2 - before, 1e-12, "energy");
  double work = 0; /* of the impulses: times the mean velocity along the rows, which is half of that before */
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, NULL, sim->basis.rows, NULL);
  for (int i = 0; i < 8; i++)
    work += (sim->joints.impulse[sim->basis.row[i]] - impulse[sim->basis.row[i]]) *
            ss_row_dot(r.model, &sim->basis.rows[sim->basis.row[i]], v) / 2;
  check_near(work, times_mass(r.model, out, out) / 2 - before, 1e-12, "work of the impulses");
  run_close(&r);
}

/* A block on a joint's slide that presses on the floor and slides: what is taken is along the contact's force, friction included, and the
 * normal velocity vanishes. */
static void test_pressing_contact(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, -10]\n"
            "materials: [{name: default, friction: 0.4}]\n"
            "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
            "bodies:\n"
            "  - {name: ball, mass: 2, position: [0, 0, 0.5], velocity: [3, 0, 0], freedom: [x, y, z], shapes: [{type: "
            "sphere, radius: 0.5}]}\n"
            "  - {name: rod, mass: 1, inertia: [1, 1, 1], position: [5, 0, 5]}\n"
            "joints: [{type: spherical, between: [world, rod], at: [5, 0, 6]}]\n"
            "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n",
            NULL);
  run_step(&r);
  ss_sim *sim = r.sim;
  const int first = r.model->bodies[0].first;
  const double impulse = 2 * 10 * 0.01;
  ss_contact_report before, after;
  assert_int_equal(ss_sim_contacts(sim, &before, 1), 1);
  check_near(before.impulse.z, impulse, 1e-9, "weight");
  check_near(before.impulse.x, -0.4 * impulse, 1e-9, "friction");
  static const double up = 0.25;
  const double speed = sim->state.v[first];
  sim->state.v[first + 2] = up; /* as an alternating velocity would be */
  ss_make_consistent(sim);
  check_near(sim->state.v[first + 2], 0, 1e-12, "normal velocity");
  check_near(sim->state.v[first] - speed, 0.4 * up, 1e-9, "friction gives back");
  check_near(sim->state.v[first + 1], 0, 1e-12, "across");
  assert_int_equal(ss_sim_contacts(sim, &after, 1), 1);
  check_near(after.impulse.z - before.impulse.z, -2 * up, 1e-9, "impulse");
  check_near(after.impulse.x - before.impulse.x, 0.4 * 2 * up, 1e-9, "of friction");
  run_close(&r);
}

/* Four feet repeat each other: what each would take is not known, and nothing is taken. */
static void test_feet_that_repeat_each_other(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, -10]\n"
            "materials: [{name: default, friction: 0}]\n"
            "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
            "bodies:\n"
            "  - {name: table, mass: 2, position: [0, 0, 0.5], shapes: [{type: box, size: [1, 1, 1]}]}\n"
            "  - {name: rod, mass: 1, inertia: [1, 1, 1], position: [5, 0, 5]}\n"
            "joints: [{type: spherical, between: [world, rod], at: [5, 0, 6]}]\n"
            "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n",
            NULL);
  run_step(&r);
  double *v = r.sim->state.v, out[12];
  int pressing = 0;
  for (int i = 0; i < r.sim->trial.n_contacts; i++) pressing += r.sim->trial.contacts[i].impulse[0] > 0;
  assert_int_equal(pressing, 4);
  for (int i = 0; i < 12; i++) v[i] = 1 + i;
  ss_consistent_velocity(r.sim, r.sim->state.t, r.sim->state.q, v, out);
  for (int i = 0; i < 12; i++) assert_true(out[i] == 1 + i);
  ss_make_consistent(r.sim);
  for (int i = 0; i < 12; i++) assert_true(v[i] == 1 + i);
  run_close(&r);
}

/* Only for schemes that pose rows at the middle, and few rows of joints, of bodies. */
static void test_when(void **state) {
  (void)state;
  run r;
  run_parse(&r, pendulum, NULL);
  ss_scheme scheme = *r.sim->scheme;
  r.sim->scheme = &scheme;
  const int n = r.sim->basis.n;
  static const int counts[] = {0, 1, 40, 41};
  for (int k = 0; k < 8; k++) {
    r.sim->basis.n = counts[k % 4];
    scheme.rows_at_midpoint = k < 4;
    assert_int_equal(ss_velocities_alternate(r.sim), k == 1 || k == 2);
  }
  r.sim->basis.n = n;
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_joints), cmocka_unit_test(test_pressing_contact),
                                     cmocka_unit_test(test_when), cmocka_unit_test(test_feet_that_repeat_each_other)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
