/* Stabilisation: drift with and without, order of accuracy, the ledger; the sparse solver behind long chains. */
#include "scene_runner.h"

#include "la/sparse_lu.h"

#define G 9.81

/* A chain of n links of unit length in the plane, released from the horizontal. */
static void open_chain(run *r, int n, ss_stabilization stabilization, const change *c) {
  ss_error error = {0};
  *r = (run){0};
  run_require(ss_scene_create(&r->scene, &error), &error, "scene");
  ss_scene_set_planar(r->scene, SS_PLANAR_XY);
  for (int i = 0; i < n; i++) {
    char name[16];
    (void)snprintf(name, sizeof name, "link%d", i);
    ss_body_def body = ss_body_default(name);
    body.mass = 1;
    body.has_inertia = true;
    body.inertia[2] = 1. / 12;
    body.pose.position = v3(i + 0.5, 0, 0);
    run_require(ss_scene_add_body(r->scene, &body, &error), &error, "body");
    ss_joint_def joint = ss_joint_default(SS_JOINT_REVOLUTE, i - 1, i);
    joint.has_at = true;
    joint.at = v3(i, 0, 0);
    run_require(ss_scene_add_joint(r->scene, &joint, &error), &error, "joint");
  }
  r->scene->simulation.stabilization = stabilization;
  run_compile(r, c);
}

/* ./build/stickslip on the same chain takes 100,000 steps in the same way; here a part of that. */
static void long_chain_does_not_drift(void **state) {
  (void)state;
  run r;
  open_chain(&r, 100, SS_STABILIZATION_PROJECTION, &(change){.step = 0.005, .duration = 10});
  run_finish(&r);
  const ss_report *report = ss_sim_report(r.sim);
  check_below(report->certificate.joint_drift, 1e-11, "drift");
  check_below(ss_sim_joint_velocity_residual(r.sim), 1e-10, "drift of velocities");
  check_below(fabs(report->energy.remainder), 1e-8 * 100 * 100 * G, "remainder");
  assert_true(report->solves.fallbacks == 0);
  run_close(&r);
}

static void without_it_the_chain_drifts(void **state) {
  (void)state;
  run r;
  open_chain(&r, 20, SS_STABILIZATION_NONE, &(change){.step = 0.005, .duration = 5});
  run_finish(&r);
  const ss_report *report = ss_sim_report(r.sim);
  assert_true(report->certificate.joint_drift > 1e-6);
  assert_true(report->energy.stabilization == 0);
  run_close(&r);
}

/* Joints hold to 1e-10 and the energy stays, though the links turn by half a radian per step. */
static void exact_chain_keeps_joints_and_energy(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    run r;
    open_chain(&r, 20, SS_STABILIZATION_EXACT,
               &(change){.step = 1. / 240, .duration = 10, .scheme = k ? "moreau" : NULL});
    run_finish(&r);
    const ss_report *report = ss_sim_report(r.sim);
    check_below(report->certificate.joint_drift, 1e-10, "drift");
    check_below(ss_sim_joint_velocity_residual(r.sim), 1e-8, "drift of velocities");
    if (!k) check_below(fabs(report->energy.final - report->energy.initial), 1e-6 * 20 * G * 10, "energy");
    run_check(&r);
    run_close(&r);
  }
}

/* A chain that flies freely: no external force but gravity, so that its centre of mass flies a parabola and its angular momentum
 * about it stays, corrected or not. */
static void exact_keeps_momentum(void **state) {
  (void)state;
  static const char text[] =
      "bodies:\n"
      "  - {name: a, mass: 1, inertia: [0.01, 0.03, 0.02], position: [0, 0, 0], velocity: [1, 2, 3], angular_velocity: "
      "[0, 9, 0]}\n"
      "  - {name: b, mass: 2, inertia: [0.02, 0.03, 0.04], position: [0.4, 0, 0], velocity: [1, 2, 3]}\n"
      "  - {name: c, mass: 0.5, inertia: [0.01, 0.01, 0.02], position: [0.8, 0, 0], velocity: [1, 2, 3]}\n"
      "joints:\n"
      "  - {type: spherical, between: [a, b], at: [0, 0, 0]}\n"
      "  - {type: universal, between: [b, c], at: [0.6, 0, 0], axes: [[0, 1, 0], [0, 0, 1]]}\n"
      "simulation: {step: 0.01, duration: 2}\n";
  static const double mass[3] = {1, 2, 0.5};
  run r;
  run_parse(&r, text, NULL);
  ss_vec3 start[2] = {{0}};
  for (int pass = 0; pass < 2; pass++) {
    ss_vec3 p = {0}, x = {0};
    for (int k = 0; k < 3; k++) {
      p = v3_axpy(p, mass[k], run_velocity(&r, k));
      x = v3_axpy(x, mass[k], run_position(&r, k));
    }
    if (!pass) {
      start[0] = p, start[1] = x;
      run_finish(&r);
      continue;
    }
    check_near(p.x, start[0].x, 1e-11, "momentum");
    check_near(p.y, start[0].y, 1e-11, "momentum");
    check_near(p.z, start[0].z - 3.5 * G * 2, 1e-10, "momentum");
    check_near(x.x, start[1].x + 2 * start[0].x, 1e-10, "centre of mass");
    check_near(x.z, start[1].z + 2 * start[0].z - 3.5 * G * 2, 1e-10, "centre of mass");
  }
  check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-10, "drift");
  run_close(&r);
}

/* A pendulum over many periods: the drift of `none` grows, those of the others stay, all have their order. */
static double pendulum_drift(ss_stabilization stabilization, const char *scheme, double step, double duration,
                             double *position) {
  run r;
  open_chain(&r, 1, stabilization, &(change){.scheme = scheme, .step = step, .duration = duration});
  run_finish(&r);
  const double drift = ss_sim_report(r.sim)->certificate.joint_drift;
  *position = run_position(&r, 0).x;
  run_close(&r);
  return drift;
}

static void drift_stays_bounded(void **state) {
  (void)state;
  const char *const schemes[] = {"trapezoidal", "anitescu-potra", "moreau"};
  for (int k = 0; k < 3; k++) {
    double x;
    const double none = pendulum_drift(SS_STABILIZATION_NONE, schemes[k], 0.01, 100, &x);
    const double projection = pendulum_drift(SS_STABILIZATION_PROJECTION, schemes[k], 0.01, 100, &x);
    assert_true(none > 1e-5 && projection < 1e-12);
    if (k == 2) continue; /* see the refusal below */
    const double hart = pendulum_drift(SS_STABILIZATION_ANITESCU_HART, schemes[k], 0.01, 100, &x);
    const double longer = pendulum_drift(SS_STABILIZATION_ANITESCU_HART, schemes[k], 0.01, 200, &x);
    print_message("  %-16s none %.1e  anitescu-hart %.1e  projection %.1e\n", schemes[k], none, hart, projection);
    assert_true(hart < none / 4 && longer < 1.2 * hart + 1e-12);
  }
}

/* Terms of third order, which the corrections add, have died down at these steps. */
static void order_two_is_kept(void **state) {
  (void)state;
  const ss_stabilization kinds[] = {SS_STABILIZATION_NONE, SS_STABILIZATION_ANITESCU_HART, SS_STABILIZATION_PROJECTION,
                                    SS_STABILIZATION_EXACT};
  double exact;
  (void)pendulum_drift(SS_STABILIZATION_PROJECTION, "trapezoidal", ldexp(1, -16), 2, &exact);
  for (int k = 0; k < 4; k++) {
    double last = 0;
    for (int i = 0; i < 3; i++) {
      double x;
      (void)pendulum_drift(kinds[k], "trapezoidal", ldexp(1, -11 - i), 2, &x);
      const double error = fabs(x - exact);
      if (i > 0) check_near(log2(last / error), 2.05, 0.15, "order");
      last = error;
    }
  }
}

/* Where constraints do not act on the velocity that moves the positions, Anitescu-Hart would create energy. */
static void anitescu_hart_is_refused_where_it_does_not_fit(void **state) {
  (void)state;
  run r;
  ss_sim *sim = NULL;
  ss_error error = {0};
  open_chain(&r, 1, SS_STABILIZATION_NONE, NULL);
  ss_simulation options = r.scene->simulation;
  options.scheme = "moreau";
  options.stabilization = SS_STABILIZATION_ANITESCU_HART;
  assert_int_equal(ss_sim_create(r.model, &options, &sim, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "use projection"));
  run_close(&r);
}

/* A ball without restitution falls; collisions are not located. Pushed out of the floor with the trapezoidal scheme it would
 * jump higher than it fell from: refused. The schemes of first order bring it to rest. */
static void anitescu_hart_makes_no_ball_jump(void **state) {
  (void)state;
  const char *text =
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies: [{name: ball, mass: 2, position: [0, 0, 1.3034], shapes: [{type: sphere, radius: 0.3}]}]\n"
      "simulation: {scheme: anitescu-potra, step: 0.01, duration: 2, events: [],\n"
      "  stabilization: anitescu-hart}\n";
  run r;
  run_parse(&r, text, NULL);
  run_finish(&r);
  check_near(run_position(&r, 0).z, 0.3, 1e-12, "rests");
  assert_true(ss_sim_report(r.sim)->certificate.energy_created == 0);
  ss_sim *sim = NULL;
  ss_error error = {0};
  ss_simulation options = r.scene->simulation;
  options.scheme = "trapezoidal";
  assert_int_equal(ss_sim_create(r.model, &options, &sim, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "[collision]"));
  options.events = SS_EVENT_COLLISION;
  assert_int_equal(ss_sim_create(r.model, &options, &sim, &error), SS_OK);
  ss_sim_destroy(sim);
  run_close(&r);
}

/* A tumbling box lands with a corner, collisions are not located: projection brings it to rest. The corner's gap ends above zero,
 * and once the box fell on for ever, with 15 m/s, at a place that did not change. */
static void projection_lands_boxes(void **state) {
  (void)state;
  const char *text =
      "materials: [{name: default, friction: 1}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies: [{name: box, density: 1000, position: [0, 0, 0.8], orientation: [0.94, -0.29, 0.01, -0.15],\n"
      "  angular_velocity: [-2.6, -2.8, 1.4], shapes: [{type: box, size: [0.58, 0.24, 0.3]}]}]\n"
      "simulation: {step: 0.02, duration: 3, events: [], stabilization: projection}\n";
  const char *const schemes[] = {"trapezoidal", "moreau", "anitescu-potra"};
  for (int k = 0; k < 3; k++) {
    run r;
    run_parse(&r, text, &(change){.scheme = schemes[k]});
    run_finish(&r);
    const ss_energy *e = &ss_sim_report(r.sim)->energy;
    assert_true(e->kinetic <
                1e-3 * e->initial); /* a spin that sticks on the mean may remain: friction is not projected */
    assert_true(ss_sim_report(r.sim)->certificate.energy_created < 1e-9 * e->initial);
    check_near(run_position(&r, 0).z, 0.12, 2e-3, "lies on its widest face");
    run_close(&r);
  }
}

/* A ball starts slightly inside the floor: each kind brings it out, and says what energy that took. */
static void penetration_is_removed(void **state) {
  (void)state;
  const char *text =
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies: [{name: ball, mass: 2, position: [0, 0, 0.09995], shapes: [{type: sphere, radius: 0.1}]}]\n"
      "simulation: {step: 0.01, duration: 0.5, stabilization: %s}\n";
  const char *const kinds[] = {"none", "anitescu-hart", "projection"};
  for (int k = 0; k < 3; k++) {
    char filled[600];
    (void)snprintf(filled, sizeof filled, text, kinds[k]);
    run r;
    run_parse(&r, filled, NULL);
    run_finish(&r);
    const ss_energy *e = &ss_sim_report(r.sim)->energy;
    if (k == 0) {
      check_near(run_position(&r, 0).z, 0.09995, 1e-12, "stays");
      assert_true(e->stabilization == 0);
    } else {
      check_near(run_position(&r, 0).z, 0.1, 1e-12, "height");
      assert_true(e->stabilization > 0.9 * 2 * G * 5e-5); /* at least the lift */
    }
    check_below(fabs(e->remainder), 1e-12, "remainder");
    run_close(&r);
  }
}

/* The double pendulum with its wall under all kinds: the same collisions, a ledger that adds up. */
static void collisions_with_stabilisation(void **state) {
  (void)state;
  for (int kind = 0; kind < 4; kind++) {
    run r;
    ss_error error = {0};
    r = (run){0};
    run_require(ss_scene_load(SOURCE_DIR "/scenes/double-pendulum-wall.yaml", NULL, 0, &r.scene, &error), &error,
                "load");
    r.scene->simulation.stabilization = (ss_stabilization)kind;
    run_compile(&r, NULL);
    run_finish(&r);
    assert_int_equal(r.n_collisions, 5);
    const double times[] = {0.545229943827, 0.707571786029, 1.284071674388, 2.096669998041, 2.130553544348};
    for (int i = 0; i < 5; i++) check_near(r.collision_time[i], times[i], 1e-4, "collision");
    if (kind == SS_STABILIZATION_PROJECTION) check_below(ss_sim_report(r.sim)->certificate.joint_drift, 1e-12, "drift");
    run_close(&r);
  }
}

/* ---- the sparse factorisation ---- */

/* Random matrices on random mechanisms (a body-row incidence), against their product with the solution. */
static void sparse_lu_solves(void **state) {
  (void)state;
  uint64_t seed = 9;
  ss_lu lu = {0};
  ss_error error = {0};
  for (int trial = 0; trial < 60; trial++) {
    enum { MOST = 40 };
    const int bodies = 3 + trial % 12, n = 4 + trial % (MOST - 4);
    ss_lu_row rows[MOST];
    double J[MOST][2], A[MOST][MOST] = {{0}}, b[MOST], x[MOST];
    for (int i = 0; i < n; i++)
      for (int side = 0; side < 2; side++) {
        rows[i].body[side] = (int)floor((random_next(&seed) + 1) / 2 * (bodies + 1)) - 1;
        if (side == 1 && rows[i].body[1] == rows[i].body[0]) rows[i].body[1] = -1;
        J[i][side] = random_next(&seed);
      }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        for (int s = 0; s < 2; s++)
          for (int o = 0; o < 2; o++)
            if (rows[i].body[s] >= 0 && rows[i].body[s] == rows[j].body[o]) A[i][j] += J[i][s] * J[j][o];
        if (i == j) A[i][j] += 0.5;
      }
    for (int i = 0; i < n; i++) b[i] = random_next(&seed);
    run_require(ss_lu_analyse(&lu, n, rows, &error), &error, "analyse");
    ss_lu_clear(&lu);
    lu.symmetric = trial % 2 && trial < 30;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        double *entry = ss_lu_entry(&lu, i, j);
        if (!lu.symmetric && i > j && A[i][j] != 0) A[i][j] *= 0.9;
        if (entry) *entry = A[i][j];
        assert_true(entry || A[i][j] == 0);
      }
    assert_int_equal(ss_lu_factor(&lu, 1e-12), n);
    ss_lu_solve(&lu, b, x);
    for (int i = 0; i < n; i++) {
      double sum = -b[i];
      for (int j = 0; j < n; j++) sum += A[i][j] * x[j];
      check_below(fabs(sum), 1e-12, "residual");
    }
    enum { COLUMNS = 3 };
    double many[MOST * COLUMNS], work[MOST * COLUMNS]; /* multiples of the same right side */
    for (int i = 0; i < n * COLUMNS; i++) many[i] = (1 + i % COLUMNS) * b[i / COLUMNS];
    ss_lu_solve_columns(&lu, COLUMNS, many, work);
    for (int i = 0; i < n * COLUMNS; i++) check_near(many[i], (1 + i % COLUMNS) * x[i / COLUMNS], 1e-12, "columns");
  }
  ss_lu_free(&lu);
}

/* A tripod of seven bodies, 30 joint rows, drops on its feet, hits limits and slides: joints that are eliminated first ("auto") and the
 * whole problem (a solver by its name) give the same motion. */
static void eliminated_joints_change_nothing(void **state) {
  (void)state;
  char text[4096];
  int used =
      snprintf(text, sizeof text,
               "materials: [{name: default, friction: 0.4}]\n"
               "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
               "bodies:\n"
               "  - {name: hub, mass: 3, inertia: [0.02, 0.03, 0.04], position: [0, 0, 0.5], velocity: [1, 0, 0]}\n");
  for (int i = 0; i < 3; i++) {
    const double c = cos(2 * i), s = sin(2 * i);
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: thigh%d, mass: 1, inertia: [0.01, 0.01, 0.005], position: [%.9f, %.9f, 0.4]}\n"
                     "  - {name: calf%d, mass: 0.5, inertia: [0.004, 0.004, 0.001], position: [%.9f, %.9f, 0.15],\n"
                     "     shapes: [{type: sphere, radius: 0.03, position: [0, 0, -0.1]}]}\n",
                     i, 0.2 * c, 0.2 * s, i, 0.3 * c, 0.3 * s);
  }
  used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
  for (int i = 0; i < 3; i++) {
    const double c = cos(2 * i), s = sin(2 * i);
    used +=
        snprintf(text + used, sizeof text - (size_t)used,
                 "  - {type: revolute, between: [hub, thigh%d], at: [%.9f, %.9f, 0.5], axis: [%.9f, %.9f, 0], limits: "
                 "[-0.2, 0.3]}\n"
                 "  - {type: revolute, between: [thigh%d, calf%d], at: [%.9f, %.9f, 0.3], axis: [%.9f, %.9f, 0], "
                 "limits: [-0.1, 0.2]}\n",
                 i, 0.1 * c, 0.1 * s, -s, c, i, i, 0.25 * c, 0.25 * s, -s, c);
  }
  (void)snprintf(text + used, sizeof text - (size_t)used,
                 "simulation: {step: 0.002, duration: 0.4, residual: 1e-12}\n");
  static const char *const schemes[] = {"trapezoidal", "moreau", "stewart-trinkle"};
  for (int k = 0; k < 3; k++) {
    run whole, eliminated;
    run_parse(&eliminated, text, &(change){.scheme = schemes[k]});
    ss_error error = {0};
    whole = (run){0};
    run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &whole.scene, &error), &error, "scene");
    whole.scene->simulation.solver = "lemke";
    run_compile(&whole, &(change){.scheme = schemes[k]});
    run_finish(&whole);
    run_finish(&eliminated);
    run_check(&eliminated);
    for (int i = 0; i < 7; i++)
      check_below(run_distance(run_position(&whole, i), run_position(&eliminated, i)), 1e-8, schemes[k]);
    assert_true(ss_sim_report(eliminated.sim)->contacts_maximum >= 3);
    run_close(&whole);
    run_close(&eliminated);
  }
}

/* A chain of n joints: no more than a constant number of entries per row. */
static void sparse_lu_keeps_chains_sparse(void **state) {
  (void)state;
  enum { N = 300 };
  static ss_lu_row rows[2 * N];
  ss_error error = {0};
  ss_lu lu = {0};
  for (int i = 0; i < 2 * N; i++) rows[i] = (ss_lu_row){{i / 2 - 1, i / 2}};
  run_require(ss_lu_analyse(&lu, 2 * N, rows, &error), &error, "analyse");
  assert_true(lu.room <= 12 * 2 * N);
  ss_lu_free(&lu);
}

/* A ball that falls slantwise on a rough floor: the blow takes mu times its normal impulse from the speed along the floor,
 * v - mu (u + g t), and sliding the rest. At position level the fall ends in two steps, one before and one after the
 * projection. */
static void projection_leaves_the_friction_of_a_blow(void **state) {
  (void)state;
  static const char text[] =
      "materials: [{name: default, friction: 0.25}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
      "bodies: [{name: puck, mass: 1, freedom: [x, z], position: [0, 0, 0.5], velocity: [3, 0, -1], shapes: [{type: "
      "point}]}]\n"
      "simulation: {scheme: stewart-trinkle, step: 0.001, duration: 0.5, stabilization: projection}\n";
  static const char *const schemes[] = {"stewart-trinkle", "stewart-trinkle-implicit", "anitescu-potra", "moreau"};
  for (int k = 0; k < 4; k++) {
    run r;
    run_parse(&r, text, &(change){.scheme = schemes[k]});
    run_finish(&r);
    const double fall = (sqrt(1 + 2 * 9.81 * 0.5) - 1) / 9.81, blow = 1 + 9.81 * fall;
    check_near(run_velocity(&r, 0).x, 3 - 0.25 * (blow + 9.81 * (0.5 - fall)), 0.01, schemes[k]);
    run_close(&r);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(long_chain_does_not_drift),
      cmocka_unit_test(without_it_the_chain_drifts),
      cmocka_unit_test(drift_stays_bounded),
      cmocka_unit_test(exact_chain_keeps_joints_and_energy),
      cmocka_unit_test(exact_keeps_momentum),
      cmocka_unit_test(order_two_is_kept),
      cmocka_unit_test(anitescu_hart_is_refused_where_it_does_not_fit),
      cmocka_unit_test(anitescu_hart_makes_no_ball_jump),
      cmocka_unit_test(projection_lands_boxes),
      cmocka_unit_test(projection_leaves_the_friction_of_a_blow),
      cmocka_unit_test(penetration_is_removed),
      cmocka_unit_test(collisions_with_stabilisation),
      cmocka_unit_test(sparse_lu_solves),
      cmocka_unit_test(eliminated_joints_change_nothing),
      cmocka_unit_test(sparse_lu_keeps_chains_sparse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
