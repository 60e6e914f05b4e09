/* The theta rule: orders of convergence against independent integrations, forces of statically indeterminate systems, and
 * the solver for large problems against the one with the whole matrix. */
#include "scene_runner.h"

#include "step/step.h"

/* ---- statically indeterminate ---- */

enum { MOST_LEGS = 6 };

/* The forces of equal springs under a rigid body: N = a + b x + c y with the load's sum and moments. */
static void elastic_distribution(const double (*leg)[2], int n, double weight, const double at[2], double *force) {
  double m[3][4] = {{0}};
  for (int i = 0; i < n; i++) {
    const double f[3] = {1, leg[i][0], leg[i][1]};
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) m[r][c] += f[r] * f[c];
  }
  const double load[3] = {weight, weight * at[0], weight * at[1]};
  bool used[3] = {true, true, true};
  for (int r = 0; r < 3; r++) m[r][3] = load[r], used[r] = m[r][r] > 1e-12; /* planar: no second direction */
  for (int c = 0; c < 3; c++)
    for (int r = 0; used[c] && r < 3; r++) {
      if (r == c || !used[r]) continue;
      const double factor = m[r][c] / m[c][c];
      for (int j = 0; j < 4; j++) m[r][j] -= factor * m[c][j];
    }
  double a[3];
  for (int r = 0; r < 3; r++) a[r] = used[r] ? m[r][3] / m[r][r] : 0;
  for (int i = 0; i < n; i++) force[i] = a[0] + a[1] * leg[i][0] + a[2] * leg[i][1];
}

static void check_legs(const char *scene, const char *stiffness, const double (*leg)[2], int n, double weight,
                       const double at[2]) {
  run r;
  double expected[MOST_LEGS];
  ss_contact_report contacts[MOST_LEGS];
  run_open(&r, scene, &(change){.set = {stiffness}});
  run_finish(&r);
  elastic_distribution(leg, n, weight, at, expected);
  assert_int_equal(ss_sim_contacts(r.sim, contacts, MOST_LEGS), n);
  for (int i = 0; i < n; i++) {
    int nearest = 0;
    for (int k = 1; k < n; k++)
      if (fabs(contacts[i].point.x - leg[k][0]) + fabs(contacts[i].point.y - leg[k][1]) <
          fabs(contacts[i].point.x - leg[nearest][0]) + fabs(contacts[i].point.y - leg[nearest][1]))
        nearest = k;
    ss_element_report e;
    assert_int_equal(ss_sim_elements(r.sim, i, &e, 1), 1);
    check_near(e.force[0], expected[nearest], 2e-4 * weight, scene);
  }
  run_close(&r);
}

static void tables_and_beams(void **state) {
  (void)state;
  static const double four[][2] = {{0.5, 0.3}, {-0.5, 0.3}, {-0.5, -0.3}, {0.5, -0.3}, {0.1, 0.05}};
  static const double six[][2] = {{-1.5, 0}, {-0.8, 0}, {-0.1, 0}, {0.3, 0}, {0.9, 0}, {1.5, 0}};
  static const double at[2] = {0.12, -0.05}, middle[2] = {0.2, 0};
  static const char *const stiffness[] = {"k=1e5", "k=1e6", "k=1e7"}; /* the limit is reached at once */
  for (int i = 0; i < 3; i++) {
    check_legs("table-four-legs", stiffness[i], four, 4, 98.1, at);
    check_legs("table-five-legs", stiffness[i], four, 5, 98.1, at);
    check_legs("beam-six-supports", stiffness[i], six, 6, 490.5, middle);
  }
}

/* ---- at rest without gravity ---- */

/* What is held by forces that cancel moves by rounding alone: the outer iteration must see that as converged. */
static void grip_in_free_fall(void **state) {
  (void)state;
  static const char *const elements[] = {"n=1", "n=3"};
  const double young = 2e6, nu = 0.45, spacing = 10.35e-3, pull = 4.905;
  const double stiffness = sqrt(acos(-1)) * young * spacing / ((1 + nu) * (2 - nu));
  for (int i = 0; i < 2; i++) {
    run falling, heavy;
    run_open(&falling, "gripper", &(change){.set = {elements[i]}});
    run_finish(&falling);
    run_open(&heavy, "gripper", &(change){.set = {elements[i], "g=1e-3"}});
    run_finish(&heavy);
    const ss_solves *a = &ss_sim_report(falling.sim)->solves, *b = &ss_sim_report(heavy.sim)->solves;
    assert_int_equal(a->unconverged, 0);
    assert_true((double)a->outer < 1.2 * (double)b->outer);
    if (i == 0) check_near(run_position(&falling, 2).z, -pull / (2 * stiffness), 1e-10, "yields");
    run_close(&falling);
    run_close(&heavy);
  }
}

/* ---- orders of convergence ---- */

/* A mass on a spring that swings in the plane, far from any contact. */
static const char swing[] =
    "parameters: {th: 0}\ngravity: [0, 0, -9.81]\n"
    "bodies: [{name: bob, mass: 1, freedom: [x, z], position: [1.2, 0, 0], velocity: [0, 0, 1]}]\n"
    "forces: [{type: spring-damper, between: [world, bob], anchors: [[0, 0, 0], [0, 0, 0]], stiffness: 40, "
    "rest_length: 1, damping: 0.3}]\n"
    "compliance: {stiffness: [1, 1]}\n"
    "simulation: {scheme: compliant-theta, theta: th, step: 0.01, duration: 1}\n";

typedef struct planar_state {
  double x, z, u, w;
} planar_state;

static planar_state swing_rate(planar_state s) {
  const double length = hypot(s.x, s.z), rate = (s.x * s.u + s.z * s.w) / length;
  const double pull = (40 * (length - 1) + 0.3 * rate) / length;
  return (planar_state){s.u, s.w, -pull * s.x, -pull * s.z - 9.81};
}

static planar_state add(planar_state a, double h, planar_state b) {
  return (planar_state){a.x + h * b.x, a.z + h * b.z, a.u + h * b.u, a.w + h * b.w};
}

static planar_state swing_exact(void) { /* Runge-Kutta, 1e-4 */
  planar_state s = {1.2, 0, 0, 1};
  const double h = 1e-4;
  for (int i = 0; i < 10000; i++) {
    const planar_state a = swing_rate(s), b = swing_rate(add(s, h / 2, a)), c = swing_rate(add(s, h / 2, b)),
                       d = swing_rate(add(s, h, c));
    s = add(add(add(add(s, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  }
  return s;
}

static void orders_of_smooth_motion(void **state) {
  (void)state;
  const planar_state exact = swing_exact();
  static const char *const theta[] = {"th=0", "th=0.5", "th=1"};
  static const double order[] = {1, 2, 1};
  for (int k = 0; k < 3; k++) {
    double error[2];
    for (int i = 0; i < 2; i++) {
      run r;
      run_parse(&r, swing, &(change){.step = i ? 0.0025 : 0.005, .set = {theta[k]}});
      run_finish(&r);
      assert_int_equal(ss_sim_report(r.sim)->solves.unconverged, 0);
      const ss_vec3 p = run_position(&r, 0);
      error[i] = hypot(p.x - exact.x, p.z - exact.z);
      run_close(&r);
    }
    const double observed = log2(error[0] / error[1]);
    print_message("%s: error %.2e, order %.3f\n", theta[k], error[1], observed);
    check_near(observed, order[k], 0.1, theta[k]);
  }
}

/* A mass that falls on a spring and a damper: in contact m z'' = -m g - k z - c z', until that force would pull. */
static const char bounce[] =
    "parameters: {th: 0}\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies: [{name: ball, mass: 1, freedom: [z], position: [0, 0, 0.05], shapes: [{type: point}]}]\n"
    "compliance: {stiffness: [1000, 1000], damping: [5, 5]}\n"
    "simulation: {scheme: compliant-theta, theta: th, step: 0.01, duration: 0.15}\n";

static double bounce_exact(void) {
  double z = 0.05, w = 0;
  const double h = 1e-6;
  for (int i = 0; i < 150000; i++) { /* midpoint rule */
    double force = z < 0 ? fmax(0, -1000 * z - 5 * w) : 0;
    const double zm = z + h / 2 * w, wm = w + h / 2 * (force - 9.81);
    force = zm < 0 ? fmax(0, -1000 * zm - 5 * wm) : 0;
    z += h * wm;
    w += h * (force - 9.81);
  }
  return z;
}

static void orders_of_contact(void **state) {
  (void)state;
  const double exact = bounce_exact();
  static const char *const theta[] = {"th=0", "th=0.5", "th=1"};
  for (int k = 0; k < 3; k++) {
    double error[4];
    for (int i = 0; i < 4; i++) {
      run r;
      run_parse(&r, bounce, &(change){.step = 1e-3 / (1 << (2 * i)), .set = {theta[k]}});
      run_finish(&r);
      check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-12, "deformed surfaces do not overlap");
      error[i] = fabs(run_position(&r, 0).z - exact);
      run_close(&r);
    }
    const double observed = log2(error[0] / error[3]) / 6;
    print_message("%s: error %.2e -> %.2e, mean order %.2f\n", theta[k], error[0], error[3], observed);
    assert_true(observed > 0.8);
  }
}

/* ---- two ways to solve ---- */

static const char three_balls[] =
    "parameters: {v: 0.1}\nmaterials: [{name: default, friction: 0.3}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies:\n"
    "  - {name: a, mass: 0.1, position: [0, 0, 0.05], velocity: [v, 0, -0.01], shapes: [{type: sphere, radius: "
    "0.05}]}\n"
    "  - {name: b, mass: 0.1, position: [0.09999, 0, 0.05], angular_velocity: [0, 3, 0], shapes: [{type: sphere, "
    "radius: "
    "0.05}]}\n"
    "joints: [{type: distance, between: [a, world], anchors: [[0, 0, 0], [0, 1, 0.05]]}]\n"
    "compliance: {young: 1e8, poisson: 0.3, elements: 5, spacing: 5e-5}\n"
    "simulation: {scheme: compliant, step: 1e-4, duration: 0.01, friction: {cone: quadratic}}\n";

static void structure_and_matrix_agree(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_QUADRATIC, SS_CONE_PYRAMID, SS_CONE_POLYHEDRAL};
  for (int k = 0; k < 3; k++) {
    run r;
    run_parse(&r, three_balls, NULL);
    for (int i = 0; i < 40; i++) run_step(&r);
    ss_sim *sim = r.sim;
    ss_error error = {0};
    bool certified = false;
    double *z = calloc(4000, sizeof *z);
    sim->options.cone = cones[k];
    run_require(ss_narrow_phase(sim, sim->step.h, &error), &error, "contacts");
    ss_active_set(sim);
    ss_forces(sim, sim->step.h);
    run_require(ss_rows_step(sim, sim->step.h, &error), &error, "rows");
    const int n = sim->trial.problem.n;
    assert_int_equal(n, 3 * 75 + 1);
    assert_true(ss_patch_is_large(sim));
    run_require(ss_patch_solve(sim, 1, &certified, &error), &error, "structure");
    assert_true(certified);
    memcpy(z, sim->trial.problem.z, sizeof *z * (size_t)n);
    memset(sim->trial.problem.z, 0, sizeof *z * (size_t)n);
    run_require(ss_discretise(sim, 1, &error), &error, "matrix");
    run_require(ss_solve(sim, &error), &error, "solve");
    assert_true(sim->trial.certified);
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(z[i]));
    for (int i = 0; i < n; i++) check_near(z[i], sim->trial.problem.z[i], 1e-5 * largest, "impulse");
    free(z);
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_and_beams),           cmocka_unit_test(grip_in_free_fall),
      cmocka_unit_test(orders_of_smooth_motion),    cmocka_unit_test(orders_of_contact),
      cmocka_unit_test(structure_and_matrix_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
