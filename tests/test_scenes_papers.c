/* The papers' examples with the papers' own numbers: the double pendulum of LIT Table 10.1, MDI sections 9.1 and 9.2,
 * the two carts of LIT section 10.2. */
#include "scene_runner.h"

/* ---- LIT section 10.1 ---- */

enum { ROWS = 7 };

/* LIT Table 10.1: E_h, |E_1h|, |E_2h| for h = 2^-5 .. 2^-11; Theta is the squared distance minus one. */
static const double table_10_1[ROWS][3] = {
    {2.38e-3, 1.27e-3, 3.18e-3}, {6.14e-4, 3.14e-4, 8.29e-4}, {1.54e-4, 7.82e-5, 2.14e-4}, {3.95e-5, 1.95e-5, 5.48e-5},
    {1.01e-5, 4.88e-6, 1.37e-5}, {2.42e-6, 1.22e-6, 3.44e-6}, {6.15e-7, 3.05e-7, 8.60e-7},
};

/* The exact solution, from an event-driven integration to 1e-11. */
static const double exact_end[4] = {0.02194625756, -0.99975915189, 0.02385130951, -1.99975733727};
static const double exact_collisions[5] = {0.545229943827, 0.707571786029, 1.284071674388, 2.096669998041,
                                           2.130553544348};

static void double_pendulum_reproduces_table_10_1(void **state) {
  (void)state;
  double previous = 0;
  for (int i = 0; i < ROWS; i++) {
    run r;
    const double h = ldexp(1, -5 - i);
    run_open(&r, "double-pendulum-wall", &(change){.step = h});
    run_finish(&r);
    const ss_vec3 a = run_position(&r, 0), b = run_position(&r, 1);
    const double d[4] = {a.x - exact_end[0], a.y - exact_end[1], b.x - exact_end[2], b.y - exact_end[3]};
    const double error = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
    check_near(error, table_10_1[i][0], 0.05 * table_10_1[i][0], "E_h");
    double residual[2];
    ss_sim_joint_residuals(r.sim, residual);
    for (int k = 0; k < 2; k++) {
      const double theta = residual[k] * (2 + residual[k]); /* (1 + residual)^2 - 1 */
      check_near(fabs(theta), table_10_1[i][1 + k], 0.01 * table_10_1[i][1 + k], k ? "E_2h" : "E_1h");
    }
    assert_int_equal(r.n_collisions, 5);
    for (int k = 0; k < 5; k++) check_near(r.collision_time[k], exact_collisions[k], 4 * h * h, "collision time");
    if (i > 0) check_near(log2(previous / error), 2, 0.06, "order");
    previous = error;
    check_below(ss_sim_report(r.sim)->certificate.penetration, 0, "penetration");
    run_close(&r);
  }
}

/* ---- MDI section 9.1 ---- */

static void single_joint_alternates_exactly(void **state) {
  (void)state;
  const char *const eps[] = {"eps=2^-10", "eps=1", "eps=-3", "eps=2^-40"};
  for (size_t i = 0; i < sizeof eps / sizeof *eps; i++)
    for (int power = 3; power <= 9; power += 2) {
      run r;
      const double h = ldexp(1, -power);
      run_open(&r, "single-joint", &(change){.step = h, .set = {eps[i]}});
      const double start = ss_sim_state(r.sim)->v[0];
      double sign = 1;
      while (!ss_sim_done(r.sim)) {
        run_step(&r);
        sign = -sign;
        assert_true(ss_sim_state(r.sim)->v[0] == sign * start);
        assert_true(ss_sim_weighted_velocity(r.sim)[0] == 0);
        assert_true(ss_sim_state(r.sim)->q[0] == 0);
      }
      assert_true(ss_sim_report(r.sim)->velocity_variation == 2 * fabs(start) / h);
      assert_true(ss_sim_report(r.sim)->weighted_variation == fabs(start)); /* from the start's eps to zero, once */
      run_check(&r);
      run_close(&r);
    }
}

/* ---- MDI section 9.2 ---- */

static const double slips[][2] = {/* the exact solution slips here and sticks elsewhere */
                                  {0, 0.338608184672},
                                  {2.946346791224, 3.532834608887},
                                  {6.087939444814, 6.674427262477},
                                  {9.229532098403, 9.816019916067}};

static bool sticks(double from, double to, double before, double after) {
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
    if (from < slips[i][1] + after && to > slips[i][0] - before) return false;
  return true;
}

/* Figure 9.1: in stick the weighted velocity is zero and the natural one goes on as +c, -c, +c. The oscillation needs
 * friction too, so that towards the end of a stick phase every other step slips a little: a step must stick exactly
 * where the friction that this needs, |2 v/h + f|, is within mu g. */
static void stick_slip_block_sticks_and_slips(void **state) {
  (void)state;
  run r;
  const double h = 0.01, limit = 0.8 * 9.81;
  run_open(&r, "stick-slip-block", NULL);
  int stuck_steps = 0;
  double v = 0, t = 0, amplitude = 0;
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    const double now = ss_sim_state(r.sim)->t, vx = ss_sim_state(r.sim)->v[0];
    const double weighted = ss_sim_weighted_velocity(r.sim)[0];
    const double needed = 2 * v / h + 4 * (cos(t) + cos(now));
    if (sticks(t, now, 0.2, 1.5 * h)) assert_true(fabs(needed) <= limit);
    if (fabs(needed) <= limit) {
      stuck_steps++;
      check_below(fabs(weighted), 1e-15, "weighted velocity in stick");
      check_near(vx, -v, 1e-15, "natural velocity in stick");
      amplitude = fmax(amplitude, fabs(vx));
    } else {
      check_near(vx, v + h * (4 * (cos(t) + cos(now)) - copysign(limit, needed)), 1e-14, "velocity in slip");
    }
    v = vx, t = now;
  }
  run_check(&r);
  assert_true(stuck_steps > 700);
  assert_true(amplitude > 1e-4 && amplitude < 8 * h); /* it oscillates, by no more than the force's impulse */
  run_close(&r);
}

static void stick_slip_block_ends_at_the_exact_place(void **state) {
  (void)state;
  for (int i = 0; i <= 6; i++) {
    run r;
    const double h = 0.02 / (1 << i);
    run_open(&r, "stick-slip-block", &(change){.step = h});
    run_finish(&r);
    check_near(run_position(&r, 0).x, 2.99130283311503, h * h, "x(10)");
    run_close(&r);
  }
}

/* ---- LIT section 10.2 ---- */

typedef struct carts {
  double distance, offset; /* largest |x2 - x1 - 5| and |x1 - 0.2| */
  double energy;           /* largest total energy */
  int n;
  double left[8192], right[8192];
} carts;

static void follow_carts(carts *c, const char *scene, const char *scheme, double h, const char *setting,
                         double restitution) {
  ss_error error = {0};
  char path[1024];
  run r = {0};
  *c = (carts){0};
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", SOURCE_DIR, scene);
  run_require(ss_scene_load(path, &setting, setting != NULL, &r.scene, &error), &error, scene);
  for (int i = 0; i < r.scene->n_materials; i++)
    if (strcmp(r.scene->materials[i].name, "stopper") == 0) r.scene->materials[i].restitution = restitution;
  run_compile(&r, &(change){.scheme = scheme, .step = h});
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    const double left = run_position(&r, 0).x, right = run_position(&r, 1).x;
    c->distance = fmax(c->distance, fabs(right - left - 5));
    c->offset = fmax(c->offset, fabs(left - 0.2));
    c->energy = fmax(c->energy, ss_sim_report(r.sim)->energy.final);
    check_below(-left, 1e-15, "depth in the stopper");
    if (c->n < 8192) c->left[c->n] = left, c->right[c->n] = right, c->n++;
  }
  run_check(&r);
  const double initial = ss_sim_report(r.sim)->energy.initial;
  check_below(c->energy, initial, "energy of the carts");
  check_below(ss_sim_report(r.sim)->certificate.energy_created, 1e-10 * initial, "energy created");
  run_close(&r);
}

static double largest_difference(const double *a, const double *b, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) largest = fmax(largest, fabs(a[i] - b[i]));
  return largest;
}

/* Figure 4: distance and whole trajectory go to those of the link like 1/damping, with restitution, for every scheme that
 * takes forces implicitly (a damper too stiff for the step to resolve is a link in impacts too). */
static void stiff_damper_becomes_a_link(void **state) {
  (void)state;
  const char *const schemes[] = {"trapezoidal", "anitescu-potra-stiff", "moreau"};
  const char *const damping[] = {"delta=1e3", "delta=1e4", "delta=1e6", "delta=1e8"};
  const double inverse[] = {1e-3, 1e-4, 1e-6, 1e-8};
  for (int s = 0; s < 3; s++) {
    carts link, c;
    follow_carts(&link, "two-carts-damper-rigid", schemes[s], 0.01, NULL, 0.3);
    check_below(link.distance, 1e-12, "distance with the link");
    for (int i = 0; i < 4; i++) {
      follow_carts(&c, "two-carts-damper", schemes[s], 0.01, damping[i], 0.3);
      check_below(c.distance, 2 * inverse[i], "distance between the carts");
      check_below(largest_difference(c.left, link.left, link.n), 25 * inverse[i], "left cart");
      check_below(largest_difference(c.right, link.right, link.n), 25 * inverse[i], "right cart");
    }
  }
}

/* Figure 5. */
static void stiff_spring_becomes_a_link(void **state) {
  (void)state;
  static const struct {
    const char *gamma;
    double offset, right; /* bounds: |x1 - 0.2| goes like 3 gamma^-1/2, then like 1/gamma */
  } row[] = {{"gamma=1e2", 0.2, 0.2},   {"gamma=1e4", 0.035, 0.01}, {"gamma=1e6", 0.0035, 1e-3},
             {"gamma=1e8", 4e-4, 1e-5}, {"gamma=1e10", 3e-5, 1e-7}, {"gamma=1e12", 3e-7, 1e-9}};
  carts link;
  follow_carts(&link, "two-carts-spring-rigid", "trapezoidal", 0.01, NULL, 0.3);
  check_below(link.offset, 1e-14, "offset with the link");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    carts c;
    follow_carts(&c, "two-carts-spring", "trapezoidal", 0.01, row[i].gamma, 0.3);
    check_below(c.offset, row[i].offset, "distance from the equilibrium");
    check_below(largest_difference(c.right, link.right, link.n), row[i].right, "right cart against that with the link");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_pendulum_reproduces_table_10_1),
      cmocka_unit_test(single_joint_alternates_exactly),
      cmocka_unit_test(stick_slip_block_sticks_and_slips),
      cmocka_unit_test(stick_slip_block_ends_at_the_exact_place),
      cmocka_unit_test(stiff_damper_becomes_a_link),
      cmocka_unit_test(stiff_spring_becomes_a_link),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
