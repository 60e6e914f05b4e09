/* What the theory says of scenes, against what can be known by hand: when a wedge holds itself, which joints are
 * redundant, when a sliding rod can jam, and how large a step may be. */
#include "scene_runner.h"

static void open_theory(run *r, ss_theory *t, const char *scene, const char *text, const change *c) {
  ss_error error = {0};
  if (scene)
    run_open(r, scene, c);
  else
    run_parse(r, text, c);
  run_require(ss_sim_theory(r->sim, t, &error), &error, "theory");
}

static void close_theory(run *r, ss_theory *t) {
  ss_theory_release(t);
  run_close(r);
}

/* ---- pointedness ---- */

static const char *setting(char *text, size_t size, const char *name, double value) {
  (void)snprintf(text, size, "%s=%.17g", name, value);
  return text;
}

static ss_vec3 balance_sum(const ss_theory *t) {
  ss_vec3 sum = {0, 0, 0};
  for (int i = 0; i < t->n_contacts; i++) sum = v3_add(sum, t->contacts[i].self_balancing);
  return sum;
}

/* Two walls that lean outwards by `lean` hold a block where the friction cones see each other: lean <= atan(mu). Beyond,
 * both can push upwards at the edge of their cones at best: |n1 c1 + n2 c2| = c sin(lean - atan(mu)) sqrt(1 + mu^2). */
static void wedge(double mu, double lean) {
  run r;
  ss_theory t;
  char a[64], b[64];
  open_theory(&r, &t, "wedge", NULL, &(change){.set = {setting(a, 64, "mu", mu), setting(b, 64, "lean", lean)}});
  assert_int_equal(t.n_contacts, 2);
  assert_int_equal(t.reduced_pointed, lean > atan(mu));
  assert_int_equal(t.total_pointed, t.reduced_pointed);
  if (t.reduced_pointed) {
    const double exact = 1 / (sin(lean - atan(mu)) * sqrt(1 + mu * mu));
    check_near(t.reduced_constant, fmax(exact, 1), 1e-9 * exact, "constant of the cone");
    check_below(v3_norm(t.contacts[0].self_balancing), 0, "no balance in a pointed cone");
  } else {
    assert_true(t.reduced_constant == HUGE_VAL);
    const double size = v3_norm(t.contacts[0].self_balancing);
    assert_true(size > 0.1);
    check_below(v3_norm(balance_sum(&t)), 1e-7 * size, "sum of the self-balancing forces");
    for (int i = 0; i < 2; i++) { /* each within its cone */
      const ss_theory_contact *c = &t.contacts[i];
      const double normal = v3_dot(c->normal, c->self_balancing);
      const double tangential = v3_norm(v3_axpy(c->self_balancing, -normal, c->normal));
      check_below(tangential, mu * normal * (1 + 1e-12) + 1e-12, "friction in the balance");
    }
  }
  close_theory(&r, &t);
}

static void wedge_is_pointed_beyond_the_friction_angle(void **state) {
  (void)state;
  const double frictions[] = {0, 0.1, 0.3, 1, 3};
  for (int i = 0; i < 5; i++) {
    const double angle = atan(frictions[i]);
    const double leans[] = {0.5 * angle, angle - 1e-3, angle + 1e-3, angle + 0.1, 0.9 * (2 * atan(1)) + 0.1 * angle};
    for (int k = frictions[i] > 0 ? 0 : 2; k < 5; k++) wedge(frictions[i], leans[k]);
  }
  wedge(0.3, 0);
}

/* A wedged block is a case for the solver too: it holds, and what the contacts carry is certified. */
static void wedge_holds(void **state) {
  (void)state;
  run r;
  run_open(&r, "wedge", NULL);
  run_finish(&r);
  check_below(v3_norm(run_position(&r, 0)), 1e-9, "way of the wedged block");
  run_close(&r);
}

/* Spheres held from many sides in space, with all three cones: a cube of six walls is not pointed, three walls of a corner
 * are, as long as friction is small. */
static const char corner[] =
    "parameters: {mu: 0.2, other: 0}\n"
    "materials: [{name: default, friction: mu}]\n"
    "world: {shapes: [{type: half-space, normal: x, offset: -1}, {type: half-space, normal: y, offset: -1}, {type: "
    "half-space, normal: z, offset: -1}, {type: half-space, normal: [-1, 0, 0], offset: -1 - other}]}\n"
    "bodies: [{name: ball, mass: 1, position: [0, 0, 0], shapes: [{type: sphere, radius: 1}]}]\n"
    "simulation: {step: 0.01, duration: 1, scheme: trapezoidal}\n";

static void corner_is_pointed(void **state) {
  (void)state;
  const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  for (int c = 0; c < 3; c++) {
    run r;
    ss_theory t;
    open_theory(&r, &t, NULL, corner, &(change){.cone = cones[c], .set = {"other=1"}});
    assert_int_equal(t.n_contacts, 3);
    assert_true(t.reduced_pointed);
    assert_true(t.reduced_constant >= 1 && t.reduced_constant < 10);
    close_theory(&r, &t);
    open_theory(&r, &t, NULL, corner, &(change){.cone = cones[c], .set = {"other=1", "mu=0"}});
    check_near(t.reduced_constant, sqrt(3), 1e-9, "constant of a frictionless corner");
    close_theory(&r, &t);
    open_theory(&r, &t, NULL, corner, &(change){.cone = cones[c], .set = {"other=0"}});
    assert_int_equal(t.n_contacts, 4);
    assert_false(t.reduced_pointed);
    check_below(v3_norm(balance_sum(&t)), 1e-6, "sum of the self-balancing forces");
    close_theory(&r, &t);
  }
}

/* ---- joints ---- */

static const char two_rods[] =
    "planar: xy\n"
    "materials: [{name: default, friction: 0}]\n"
    "parameters: {apart: 0}\n"
    "world: {shapes: [{type: half-space, normal: [1, 0], offset: 0}]}\n"
    "bodies: [{name: bob, mass: 2, freedom: [x, y], position: [0, 0], shapes: [{type: point}]}]\n"
    "joints:\n"
    "  - {name: left, type: distance, between: [world, bob], anchors: [[-1, 0], [0, 0]]}\n"
    "  - {name: right, type: distance, between: [world, bob], anchors: [[cos(apart), sin(apart)], [0, 0]]}\n"
    "simulation: {step: 0.01, duration: 1}\n";

/* Two rods along one line hold the bob twice; they also hold it against the wall. */
static void redundant_joints_are_not_pointed(void **state) {
  (void)state;
  run r;
  ss_theory t;
  open_theory(&r, &t, NULL, two_rods, NULL);
  assert_int_equal(t.joint_rows, 2);
  assert_int_equal(t.joint_rank, 1);
  assert_false(t.total_pointed);
  assert_false(t.reduced_pointed); /* the wall's normal lies in the range of the joints */
  close_theory(&r, &t);

  open_theory(&r, &t, NULL, two_rods, &(change){.set = {"apart=0.5"}});
  assert_int_equal(t.joint_rank, 2);
  assert_false(t.reduced_pointed); /* no freedom is left */
  const ss_vec3 force = t.contacts[0].self_balancing;
  assert_true(v3_norm(force) > 0.1);
  /* the wall pushes along the first rod, which takes it all; the second one stands aside */
  check_near(fabs(t.joint_stress[0]), force.x, 1e-6 * force.x, "stress of the rod behind the wall");
  check_near(t.joint_stress[1], 0, 1e-6 * force.x, "stress of the other rod");
  close_theory(&r, &t);
}

static void independent_joints_are_pointed(void **state) {
  (void)state;
  run r;
  ss_theory t;
  open_theory(&r, &t, "double-pendulum-wall", NULL, NULL);
  assert_true(t.total_pointed);
  assert_true(t.total_constant >= 1 && isfinite(t.total_constant));
  close_theory(&r, &t);
}

/* ---- Painleve ---- */

/* A slender rod of length l at the angle theta to the floor: normal velocity per normal impulse while the tip slides so
 * that friction pushes it down is 1/m [1 + 3 cos(theta) (cos(theta) - mu sin(theta))]. */
static void rod_can_jam_above_the_critical_friction(void **state) {
  (void)state;
  for (int i = 1; i < 18; i++)
    for (int k = 0; k <= 8; k++) {
      run r;
      ss_theory t;
      char a[64], b[64];
      const double theta = i * atan(1) / 9, mu = k / 2.0;
      const double critical = (1 + 3 * cos(theta) * cos(theta)) / (3 * fabs(sin(theta) * cos(theta)));
      open_theory(&r, &t, "painleve-rod", NULL,
                  &(change){.set = {setting(a, 64, "theta", theta), setting(b, 64, "mu", mu)}});
      assert_int_equal(t.n_contacts, 1);
      if (mu > 0) check_near(t.contacts[0].critical_friction, critical, 1e-9 * critical, "critical friction");
      check_near(t.contacts[0].sliding_response, 1 - mu / critical, 1e-9 * (1 + mu / critical), "response");
      close_theory(&r, &t);
    }
}

/* ---- the system matrix ---- */

static void step_may_be_too_large(void **state) {
  (void)state;
  run r;
  ss_theory t;
  open_theory(&r, &t, "torque-free-body", NULL, NULL);
  assert_true(t.definite);
  const double most = t.definite_step;
  assert_true(most > 0.1 && isfinite(most));
  close_theory(&r, &t);
  open_theory(&r, &t, "torque-free-body", NULL, &(change){.step = 1.01 * most, .duration = 10});
  assert_false(t.definite);
  check_near(t.definite_step, most, 1e-9, "largest step");
  close_theory(&r, &t);
  open_theory(&r, &t, "two-carts-spring", NULL, NULL); /* rank-one Jacobians: every step */
  assert_true(t.definite && t.definite_step == HUGE_VAL);
  close_theory(&r, &t);
}

/* Asking changes nothing. */
static void examination_leaves_the_state_alone(void **state) {
  (void)state;
  run a, b;
  ss_theory t;
  ss_error error = {0};
  run_open(&a, "bounce-and-roll", NULL);
  run_open(&b, "bounce-and-roll", NULL);
  while (!ss_sim_done(a.sim)) {
    run_require(ss_sim_theory(a.sim, &t, &error), &error, "theory");
    ss_theory_release(&t);
    run_step(&a);
    run_step(&b);
    assert_memory_equal(ss_sim_state(a.sim)->q, ss_sim_state(b.sim)->q, 7 * sizeof(double));
    assert_memory_equal(ss_sim_state(a.sim)->v, ss_sim_state(b.sim)->v, 3 * sizeof(double));
  }
  run_close(&a);
  run_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wedge_is_pointed_beyond_the_friction_angle),
      cmocka_unit_test(wedge_holds),
      cmocka_unit_test(corner_is_pointed),
      cmocka_unit_test(redundant_joints_are_not_pointed),
      cmocka_unit_test(independent_joints_are_pointed),
      cmocka_unit_test(rod_can_jam_above_the_critical_friction),
      cmocka_unit_test(step_may_be_too_large),
      cmocka_unit_test(examination_leaves_the_state_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
