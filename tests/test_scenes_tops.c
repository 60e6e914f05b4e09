/* Tops on a plane against Newton and Euler's equations, written here on their own and integrated by Runge and Kutta.
 *
 * In the body's frame: e is the vertical, w the angular velocity, v the velocity of the mass centre, r the vector from the
 * contact point to the mass centre. An ellipsoid with semi-axes^2 = S and centre (0, 0, h) has r = S e/sqrt(e.S e) - h e_z.
 *
 *   e' = -w x e,   m (v' + w x v) = F - m g e,   I w' + w x I w = -r x F - M e
 *
 * Rolling: v = w x r, which leaves a linear system for w'. Sliding: F = N (e - mu u/s), M = N mu q^2 (w.e)/s with the slip
 * u = v - w x r, the contact's drilling arm q = torsion/mu and s^2 = u.u + (q w.e)^2; N from e.u = 0. */
#include "scene_runner.h"

typedef struct top {
  double mass, gravity, offset;
  ss_vec3 square;  /* S */
  ss_mat3 inertia; /* about the mass centre */
  bool rolls;
  double mu, arm;
} top;

typedef struct motion {
  ss_vec3 e, w, v;
} motion;

static motion motion_axpy(motion a, double s, motion b) {
  return (motion){v3_axpy(a.e, s, b.e), v3_axpy(a.w, s, b.w), v3_axpy(a.v, s, b.v)};
}

static ss_vec3 times(ss_vec3 a, ss_vec3 b) { return v3(a.x * b.x, a.y * b.y, a.z * b.z); }

/* Cramer's rule. */
static ss_vec3 solve3(const ss_mat3 *a, ss_vec3 b) {
  const ss_vec3 x = mat3_column(a, 0), y = mat3_column(a, 1), z = mat3_column(a, 2);
  const double det = v3_dot(x, v3_cross(y, z));
  return v3(v3_dot(b, v3_cross(y, z)) / det, v3_dot(x, v3_cross(b, z)) / det, v3_dot(x, v3_cross(y, b)) / det);
}

static ss_vec3 arm_of(const top *t, ss_vec3 e) {
  const ss_vec3 se = times(t->square, e);
  return v3_sub(v3_scale(1 / sqrt(v3_dot(e, se)), se), v3(0, 0, t->offset));
}

/* d/dt of it, for e' given. */
static ss_vec3 arm_rate(const top *t, ss_vec3 e, ss_vec3 e_rate) {
  const ss_vec3 se = times(t->square, e), sde = times(t->square, e_rate);
  const double w = sqrt(v3_dot(e, se));
  return v3_axpy(v3_scale(1 / w, sde), -v3_dot(e, sde) / (w * w * w), se);
}

/* I w' + m r x (w' x r) = -w x I w - m r x (w x r' + w x (w x r) + g e) */
static motion rolling(const top *t, motion y) {
  motion d = {.e = v3_cross(y.e, y.w)};
  const ss_vec3 r = arm_of(t, y.e), rate = arm_rate(t, y.e, d.e);
  ss_mat3 a = t->inertia;
  const double x[3] = {r.x, r.y, r.z};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) a.m[i][j] += t->mass * ((i == j ? v3_dot(r, r) : 0) - x[i] * x[j]);
  const ss_vec3 push = v3_axpy(v3_add(v3_cross(y.w, rate), v3_cross(y.w, v3_cross(y.w, r))), t->gravity, y.e);
  const ss_vec3 gyro = v3_cross(y.w, mat3_mul(&t->inertia, y.w));
  d.w = solve3(&a, v3_neg(v3_axpy(gyro, t->mass, v3_cross(r, push))));
  return d;
}

static motion sliding(const top *t, motion y) {
  motion d = {.e = v3_cross(y.e, y.w)};
  const ss_vec3 r = arm_of(t, y.e), rate = arm_rate(t, y.e, d.e), slip = v3_sub(y.v, v3_cross(y.w, r));
  const double drill = t->arm * v3_dot(y.w, y.e), speed = sqrt(v3_dot(slip, slip) + drill * drill);
  const ss_vec3 force = v3_axpy(y.e, -t->mu / speed, slip); /* per N */
  const double moment = t->mu * t->arm * drill / speed;
  const ss_vec3 turn = solve3(&t->inertia, v3_neg(v3_axpy(v3_cross(r, force), moment, y.e)));
  const ss_vec3 free_turn = solve3(&t->inertia, v3_neg(v3_cross(y.w, mat3_mul(&t->inertia, y.w))));
  const ss_vec3 free_v = v3_neg(v3_axpy(v3_cross(y.w, y.v), t->gravity, y.e));
  const ss_vec3 free_slip = v3_sub(v3_sub(free_v, v3_cross(free_turn, r)), v3_cross(y.w, rate));
  const double approach = v3_dot(d.e, slip) + v3_dot(y.e, free_slip);
  const double n = -approach / v3_dot(y.e, v3_sub(v3_scale(1 / t->mass, force), v3_cross(turn, r)));
  d.w = v3_axpy(free_turn, n, turn);
  d.v = v3_axpy(free_v, n / t->mass, force);
  return d;
}

static motion rate_of(const top *t, motion y) { return t->rolls ? rolling(t, y) : sliding(t, y); }

static motion runge_kutta(const top *t, motion y, double h) {
  const motion a = rate_of(t, y), b = rate_of(t, motion_axpy(y, h / 2, a)), c = rate_of(t, motion_axpy(y, h / 2, b)),
               d = rate_of(t, motion_axpy(y, h, c));
  return motion_axpy(motion_axpy(motion_axpy(motion_axpy(y, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
}

/* The run's motion in the body's frame. */
static motion seen(const run *r) {
  const ss_motion m = ss_sim_motion(r->sim, 0);
  const ss_quat back = quat_conjugate(m.pose.orientation);
  return (motion){quat_rotate(back, v3(0, 0, 1)), quat_rotate(back, m.angular_velocity), quat_rotate(back, m.velocity)};
}

static motion integrate(const top *t, motion y, double duration, int steps) {
  for (int i = 0; i < steps; i++) y = runge_kutta(t, y, duration / steps);
  return y;
}

/* How far the vertical is from the reference's at the end, in the body's frame. */
static double attitude_error(const char *scene, const change *c, const top *t, int steps, double *spin_error) {
  run r;
  run_open(&r, scene, c);
  const motion reference = integrate(t, seen(&r), c->duration, steps);
  run_finish(&r);
  const motion end = seen(&r);
  if (spin_error) *spin_error = fabs(v3_dot(end.w, end.e) - v3_dot(reference.w, reference.e));
  run_close(&r);
  return run_distance(end.e, reference.e);
}

static void check_order(const double *error, int n, double lowest, const char *what) {
  for (int k = 1; k < n; k++) {
    const double order = log2(error[k - 1] / error[k]);
    if (!(order > lowest)) print_error("%s: errors %g, %g: order %.2f\n", what, error[k - 1], error[k], order);
    assert_true(order > lowest);
  }
}

/* ---- the rattleback ---- */

static const top rattleback = {.mass = 1,
                               .gravity = 9.81,
                               .offset = 0.01,
                               .square = {0.04, 0.0009, 0.0004},
                               .inertia = {{{2e-4, -2e-5, 0}, {-2e-5, 16e-4, 0}, {0, 0, 17e-4}}},
                               .rolls = true};

static void test_rattleback_converges(void **unused) {
  (void)unused;
  double error[3], spin[3];
  for (int k = 0; k < 3; k++) {
    const change c = {.step = ldexp(1, -11 - k), .duration = 2};
    error[k] = attitude_error("rattleback", &c, &rattleback, 8000, &spin[k]);
  }
  check_order(error, 3, 1.8, "rattleback, attitude");
  check_below(error[2], 1e-4, "rattleback, attitude");
  check_below(spin[2], 1e-3, "rattleback, spin");
}

static double spin_of(motion y) { return v3_dot(y.w, y.e); }

/* The spin changes its sign where the rolling equations say so; in the stable sense it does not. */
static void test_rattleback_reverses(void **unused) {
  (void)unused;
  const change c = {.step = 0x1p-12, .duration = 5};
  run r;
  run_open(&r, "rattleback", &c);
  motion y = seen(&r);
  double ours = 0, reference = 0;
  const double h = 1e-4;
  for (int i = 0; reference == 0 && i < 50000; i++) {
    const double before = spin_of(y);
    y = runge_kutta(&rattleback, y, h);
    if (spin_of(y) > 0) reference = (i + before / (before - spin_of(y))) * h;
  }
  while (ours == 0 && !ss_sim_done(r.sim)) {
    const double before = spin_of(seen(&r)), t = ss_sim_state(r.sim)->t;
    run_step(&r);
    const double after = spin_of(seen(&r));
    if (after > 0) ours = t + 0x1p-12 * before / (before - after);
  }
  check_near(reference, 2.76298, 1e-5, "rattleback, reversal by the rolling equations");
  check_near(ours, reference, 2e-3, "rattleback, reversal");
  while (!ss_sim_done(r.sim)) run_step(&r);
  run_check(&r);
  assert_true(spin_of(seen(&r)) > 4);
  run_close(&r);

  const change stable = {.step = 0x1p-10, .duration = 3, .set = {"spin=5"}};
  run_open(&r, "rattleback", &stable);
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    assert_true(spin_of(seen(&r)) > 4);
  }
  run_close(&r);
}

/* The mirror image of the body and of its motion: every position is the mirror image too. */
static void test_rattleback_mirrored(void **unused) {
  (void)unused;
  char *text = NULL, *other = NULL;
  FILE *file = fopen(SOURCE_DIR "/scenes/rattleback.yaml", "r");
  assert_non_null(file);
  text = calloc(1, 8192);
  other = calloc(1, 8192);
  assert_true(text && other);
  assert_true(fread(text, 1, 8000, file) > 0);
  (void)fclose(file);
  char *sign = strstr(text, "-0.00002");
  assert_non_null(sign);
  (void)snprintf(other, 8192, "%.*s+%s", (int)(sign - text), text, sign + 1);
  run r, s;
  const change c = {.step = 0x1p-10, .duration = 0.5}, mirrored = {.step = 0x1p-10, .duration = 0.5, .set = {"spin=5"}};
  run_parse(&r, text, &c);
  run_parse(&s, other, &mirrored);
  run_finish(&r);
  run_finish(&s);
  const ss_vec3 p = run_position(&r, 0), q = run_position(&s, 0);
  check_below(run_distance(p, v3(q.x, -q.y, q.z)), 1e-9, "rattleback, mirror image");
  run_close(&r);
  run_close(&s);
  free(text);
  free(other);
}

/* ---- the tippe top ---- */

static const double pi = 3.14159265358979323846;

static top tippe_top(void) {
  return (top){.mass = 0.006,
               .gravity = 9.82,
               .offset = 0.003,
               .square = {0.015 * 0.015, 0.015 * 0.015, 0.015 * 0.015},
               .inertia = {{{8e-7, 0, 0}, {0, 8e-7, 0}, {0, 0, 7e-7}}},
               .mu = 0.3,
               .arm = 3 * pi / 16 * 0.0005};
}

/* Up to the contact of the stem, the sliding equations. */
static void test_tippe_top_converges(void **unused) {
  (void)unused;
  const top t = tippe_top();
  double error[3], spin[3];
  for (int k = 0; k < 3; k++) {
    const change c = {.step = ldexp(1, -10 - k), .duration = 1};
    error[k] = attitude_error("tippe-top", &c, &t, 8000, &spin[k]);
  }
  check_order(error, 3, 1.8, "tippe top, attitude");
  check_below(error[2], 2e-3, "tippe top, attitude");
  check_below(spin[2], 0.1, "tippe top, spin");
}

static void test_tippe_top_turns_over(void **unused) {
  (void)unused;
  /* the stem touches where cos theta = -(R1 - R2)/(a2 - a1) */
  const top t = tippe_top();
  const double touch = -(0.015 - 0.005) / (0.016 - 0.003);
  run r;
  const change c = {.step = 0x1p-11};
  run_open(&r, "tippe-top", &c);
  motion y = seen(&r);
  double when = 0;
  for (int i = 0; when == 0 && i < 20000; i++) {
    const double before = y.e.z - touch;
    y = runge_kutta(&t, y, 1e-4);
    if (y.e.z < touch) when = 1e-4 * (i + before / (before - (y.e.z - touch)));
  }
  run_finish(&r);
  assert_int_equal(r.n_collisions, 1);
  check_near(r.collision_time[0], when, 5e-4, "tippe top, contact of the stem");
  const ss_vec3 end = run_position(&r, 0);
  assert_true(seen(&r).e.z < -0.98);
  check_near(end.z, 0.005 - 0.016 * seen(&r).e.z, 1e-5, "tippe top, on its stem");
  run_close(&r);
}

/* Without drilling friction, L.c of a ball with an axis of symmetry is constant under any force at its contact point, where
 * c = -r (Jellett): whether it slides, rolls, or changes from one to the other. */
static void test_jellett(void **unused) {
  (void)unused;
  const top t = tippe_top();
  double drift[2];
  for (int k = 0; k < 2; k++) {
    const change c = {.step = ldexp(1, -12 - k), .duration = 0.5, .set = {"eps=0", "theta0=0.5"}};
    run r;
    run_open(&r, "tippe-top", &c);
    double first = 0, worst = 0;
    for (int i = 0;; i++) {
      const motion y = seen(&r);
      const double jellett = v3_dot(mat3_mul(&t.inertia, y.w), arm_of(&t, y.e));
      if (i == 0) first = jellett;
      worst = fmax(worst, fabs(jellett / first - 1));
      if (ss_sim_done(r.sim)) break;
      run_step(&r);
    }
    run_check(&r);
    drift[k] = worst;
    run_close(&r);
  }
  check_below(drift[1], 1e-5, "Jellett's invariant");
  assert_true(drift[0] > 3 * drift[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rattleback_converges), cmocka_unit_test(test_rattleback_reverses),
      cmocka_unit_test(test_rattleback_mirrored),  cmocka_unit_test(test_tippe_top_converges),
      cmocka_unit_test(test_tippe_top_turns_over), cmocka_unit_test(test_jellett),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
