/* Scenes whose solution is known by hand: bouncing ball, block on an incline, sphere that slides and rolls, free body,
 * chain. */
#include "scene_runner.h"

#define G 9.81

/* ---- bouncing ball ---- */

/* Opens the scene turned by `turn` as a whole: floor, gravity and start. */
static void open_turned_ball(run *r, ss_quat turn, const change *c) {
  ss_error error = {0};
  *r = (run){0};
  run_require(ss_scene_load(SOURCE_DIR "/scenes/bouncing-ball.yaml", c->set, run_count_settings(c), &r->scene, &error),
              &error, "bouncing-ball");
  r->scene->gravity = quat_rotate(turn, r->scene->gravity);
  r->scene->world_shapes[0].normal = quat_rotate(turn, r->scene->world_shapes[0].normal);
  r->scene->bodies[0].pose.position = quat_rotate(turn, r->scene->bodies[0].pose.position);
  run_compile(r, c);
}

/* Largest height of the parabola through three heights at times 0, h, 2 h. */
static double apex_of(const double z[3], double h) {
  const double a = (z[0] - 2 * z[1] + z[2]) / (2 * h * h), b = (z[2] - z[0]) / (2 * h); /* about the middle */
  return z[1] - b * b / (4 * a);
}

static void check_ball(ss_quat turn, double e, double h) {
  run r;
  char setting[64];
  (void)snprintf(setting, sizeof setting, "e=%.17g", e);
  open_turned_ball(&r, turn, &(change){.step = h, .duration = 5, .set = {setting}});
  const ss_vec3 up = quat_rotate(turn, v3(0, 0, 1));
  const double fall = sqrt(2 / G), end = e < 1 ? fall * (1 + e) / (1 - e) : HUGE_VAL;
  double z[3] = {0};
  int flight = 0, since = 0, apexes = 0; /* since: heights of this flight in z */
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    const ss_vec3 position = run_position(&r, 0), velocity = run_velocity(&r, 0);
    const double height = v3_dot(up, position) - 0.1, speed = v3_dot(up, velocity);
    if (r.n_collisions != flight) flight = r.n_collisions, since = 0;
    z[0] = z[1], z[1] = z[2], z[2] = height;
    since++;
    check_below(run_distance(position, v3_scale(v3_dot(up, position), up)), 1e-13, "sideways");
    if (ss_sim_state(r.sim)->t > end + h) {
      check_near(height, 0, 1e-13, "height at rest");
      check_near(speed, 0, 1e-13, "speed at rest");
    } else if (ss_sim_state(r.sim)->t < 0.9 * end) { /* not yet the last of the accumulating bounces */
      check_near(height + speed * speed / (2 * G), pow(e, 2 * flight), 1e-10, "apex by energy");
      if (since >= 3 && !ss_sim_done(r.sim)) /* the last step may be a short one */
        check_near(apex_of(z, h), pow(e, 2 * flight), 1e-10, "apex by parabola");
      apexes += since == 3;
    }
  }
  run_check(&r);
  assert_true(apexes >= (h > 0.1 ? 0 : e > 0.6 && h <= 0.01 ? 5 : 1));
  const ss_certificate *certificate = &ss_sim_report(r.sim)->certificate;
  check_below(certificate->penetration, 1e-14, "penetration");
  check_below(certificate->energy_created, 1e-12, "energy created");
  check_below(fabs(ss_sim_report(r.sim)->energy.remainder), 1e-12, "remainder");
  run_close(&r);
}

static void bouncing_ball_rises_to_the_right_heights(void **state) {
  (void)state;
  const double restitutions[] = {0.8, 0.5, 0.95, 0, 1}, steps[] = {0.01, 0.003, 0.05, 1. / 3};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 4; k++) check_ball(quat_identity(), restitutions[i], steps[k]);
}

static void bouncing_ball_bounces_in_any_direction(void **state) {
  (void)state;
  uint64_t seed = 1;
  const double s = sqrt(0.5);
  const ss_quat turns[] = {{0, 1, 0, 0},  {s, s, 0, 0},  {s, 0, s, 0},
                           {s, -s, 0, 0}, {s, 0, -s, 0}, {0.5, 0.5, 0.5, 0.5}};
  for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) check_ball(quat_normalize(turns[i]), 0.8, 0.01);
  for (int i = 0; i < 20; i++) check_ball(random_rotation(&seed), 0.8, 0.01);
}

/* ---- block on an incline ---- */

typedef struct incline {
  double mu, angle, mass;
  double heading; /* the slope's direction, about the vertical */
  double yaw;     /* the block's own turn on the slope */
  int directions;
  const char *scheme;
  double h;
} incline;

/* How far the block has moved after 10 s, downhill; checks that it has not gone elsewhere. */
static double slide(const incline *s) {
  run r = {0};
  ss_error error = {0};
  char mu[64], angle[64];
  (void)snprintf(mu, sizeof mu, "mu=%.17g", s->mu);
  (void)snprintf(angle, sizeof angle, "angle=%.17g", s->angle);
  const char *const settings[] = {mu, angle};
  run_require(ss_scene_load(SOURCE_DIR "/scenes/block-on-incline.yaml", settings, 2, &r.scene, &error), &error, mu);
  const ss_quat turn = quat_exp(v3(0, 0, s->heading));
  ss_body_def *block = &r.scene->bodies[0];
  r.scene->world_shapes[0].normal = quat_rotate(turn, r.scene->world_shapes[0].normal);
  block->mass = s->mass;
  block->pose.position = quat_rotate(turn, block->pose.position);
  block->pose.orientation = quat_multiply(turn, quat_multiply(block->pose.orientation, quat_exp(v3(0, 0, s->yaw))));
  run_compile(&r, &(change){.scheme = s->scheme, .step = s->h, .directions = s->directions});
  const ss_motion start = ss_sim_motion(r.sim, 0);
  run_finish(&r);
  const ss_motion end = ss_sim_motion(r.sim, 0);
  const ss_vec3 moved = v3_sub(end.pose.position, start.pose.position);
  const ss_vec3 downhill = quat_rotate(turn, v3(cos(s->angle), 0, -sin(s->angle)));
  const double way = v3_dot(moved, downhill);
  check_below(v3_norm(v3_axpy(moved, -way, downhill)), 1e-12 + 1e-9 * fabs(way), "motion off the line of fall");
  const ss_vec3 turned = quat_log(quat_multiply(quat_conjugate(start.pose.orientation), end.pose.orientation));
  check_below(v3_norm(turned), 1e-12 + 1e-9 * fabs(way), "turn of the block");
  check_below(ss_sim_report(r.sim)->certificate.energy_created, 1e-12 * s->mass, "energy created");
  assert_int_equal(r.n_collisions, 0);
  run_close(&r);
  return way;
}

static void block_below_the_friction_angle_stays(void **state) {
  (void)state;
  const double margins[] = {1e-3, 1e-6, 1e-9, 0.2};
  for (int i = 0; i < 4; i++) {
    const incline s = {0.5, atan(0.5) - margins[i], 2, 0, 0, 8, "trapezoidal", 0.01};
    check_below(fabs(slide(&s)), 1e-12, "way below the friction angle");
  }
}

static double sliding_distance(const incline *s) { return G / 2 * (sin(s->angle) - s->mu * cos(s->angle)) * 100; }

static void block_above_the_friction_angle_slides(void **state) {
  (void)state;
  const double margins[] = {1e-3, 1e-6, 0.05, 0.5};
  for (int i = 0; i < 4; i++) {
    const incline s = {0.5, atan(0.5) + margins[i], 2, 0, 0, 8, "trapezoidal", 0.01};
    check_near(slide(&s), sliding_distance(&s), 1e-8, "sliding distance");
  }
}

/* A polygon of friction directions must not make the slope's or the block's direction matter. */
static void incline_may_face_anywhere(void **state) {
  (void)state;
  uint64_t seed = 7;
  const int directions[] = {4, 8, 16};
  for (int i = 0; i < 24; i++) {
    const double mu = 0.6 + 0.55 * random_next(&seed);
    incline s = {mu,
                 atan(mu) - 1e-4,
                 pow(10, 4 * random_next(&seed)),
                 4 * random_next(&seed),
                 i < 3 ? 0 : 4 * random_next(&seed),
                 directions[i % 3],
                 "trapezoidal",
                 0.01};
    check_below(fabs(slide(&s)), 1e-12, "way below the friction angle");
    s.angle = atan(mu) + 0.01;
    check_near(slide(&s), sliding_distance(&s), 1e-8, "sliding distance");
  }
}

/* First-order schemes slide at the right acceleration too; their way is off by a h t / 2. */
static void incline_under_all_schemes(void **state) {
  (void)state;
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++) {
    if (!scheme_is_rigid(row->name)) continue;
    incline s = {0.5, atan(0.5) - 1e-3, 2, 0.3, 0.2, 8, row->name, 0.01};
    check_below(fabs(slide(&s)), 1e-12, "way below the friction angle");
    s.angle = atan(0.5) + 0.05;
    const double exact = sliding_distance(&s);
    check_near(slide(&s), exact, exact * s.h / 10 + 1e-8, "sliding distance");
  }
}

/* ---- sphere ---- */

static void sphere_rolls_with_five_sevenths(void **state) {
  (void)state;
  const char *const schemes[] = {"moreau", "stewart-trinkle", "anitescu-potra", "anitescu-potra-stiff"};
  const double steps[] = {0.002, 0.01, 0.0007};
  uint64_t seed = 3;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++) {
      run r = {0};
      ss_error error = {0};
      run_require(ss_scene_load(SOURCE_DIR "/scenes/sphere-slide-to-roll.yaml", NULL, 0, &r.scene, &error), &error, "");
      const double heading = 4 * random_next(&seed);
      const ss_vec3 forward = v3(cos(heading), sin(heading), 0);
      r.scene->bodies[0].velocity = v3_scale(2, forward);
      run_compile(&r, &(change){.scheme = schemes[i], .step = steps[k], .directions = 4 << k});
      double rolls = 0;
      while (!ss_sim_done(r.sim)) {
        run_step(&r);
        const ss_vec3 slip = v3_add(run_velocity(&r, 0), v3_cross(run_turn(&r, 0), v3(0, 0, -0.1)));
        if (rolls == 0 && v3_norm(slip) < 1e-9) rolls = ss_sim_state(r.sim)->t;
      }
      run_check(&r);
      check_near(rolls, 2. * 2 / (7 * 0.3 * G), 1.001 * steps[k], "time at which it rolls");
      check_below(run_distance(run_velocity(&r, 0), v3_scale(10. / 7, forward)), 1e-12, "rolling velocity");
      const ss_energy *e = &ss_sim_report(r.sim)->energy;
      check_near(e->friction_loss, 4. / 7, 1e-12, "friction loss");
      run_close(&r);
    }
}

/* With alpha = 1/2 the weighted velocity is the one that converges. */
static void sphere_rolls_under_trapezoidal(void **state) {
  (void)state;
  for (double h = 0.01; h > 0.001; h /= 2) {
    run r;
    run_open(&r, "sphere-slide-to-roll", &(change){.scheme = "trapezoidal", .step = h});
    run_finish(&r);
    const double *w = ss_sim_weighted_velocity(r.sim);
    check_near(w[0], 10. / 7, 1e-12, "weighted rolling velocity");
    const double t = 2. * 2 / (7 * 0.3 * G), exact = 2 * t - 0.3 * G * t * t / 2 + 10. / 7 * (1 - t);
    check_below(fabs(run_position(&r, 0).x - exact), h * h, "way");
    run_close(&r);
  }
}

/* ---- free body ---- */

typedef struct top {
  ss_quat orientation;
  ss_vec3 turn; /* body frame */
} top;

static top top_rate(top x) {
  const ss_vec3 w = x.turn;
  const ss_quat half = quat_multiply(x.orientation, (ss_quat){0, w.x / 2, w.y / 2, w.z / 2});
  return (top){half, v3((2. - 3.) / 1. * w.y * w.z, (3. - 1.) / 2. * w.z * w.x, (1. - 2.) / 3. * w.x * w.y)};
}

static top top_add(top x, double s, top d) {
  const ss_quat a = x.orientation, b = d.orientation;
  return (top){{a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z}, v3_axpy(x.turn, s, d.turn)};
}

/* Euler's equations for moments 1, 2, 3 by the classical Runge-Kutta method. */
static top integrate_top(double duration, int steps) {
  top x = {quat_identity(), v3(0.1, 2, 0.1)};
  const double h = duration / steps;
  for (int i = 0; i < steps; i++) {
    const top k1 = top_rate(x), k2 = top_rate(top_add(x, h / 2, k1)), k3 = top_rate(top_add(x, h / 2, k2)),
              k4 = top_rate(top_add(x, h, k3));
    x = top_add(top_add(top_add(top_add(x, h / 6, k1), h / 3, k2), h / 3, k3), h / 6, k4);
  }
  x.orientation = quat_normalize(x.orientation);
  return x;
}

static void free_body_turns_to_second_order(void **state) {
  (void)state;
  const top exact = integrate_top(8, 100000), check = integrate_top(8, 50000);
  check_below(v3_norm(quat_log(quat_multiply(quat_conjugate(exact.orientation), check.orientation))), 1e-11, "oracle");
  double previous = 0, previous_energy = 0, previous_momentum = 0;
  for (int power = 5; power <= 10; power++) {
    run r;
    const double h = ldexp(1, -power);
    run_open(&r, "torque-free-body", &(change){.step = h});
    double energy = 0, momentum = 0; /* largest drifts */
    const ss_vec3 inertia = v3(1, 2, 3);
    const ss_vec3 start = v3(0.1, 4, 0.3);
    while (!ss_sim_done(r.sim)) {
      run_step(&r);
      const ss_motion m = ss_sim_motion(r.sim, 0);
      const ss_vec3 w = quat_rotate(quat_conjugate(m.pose.orientation), m.angular_velocity);
      const ss_vec3 l = quat_rotate(m.pose.orientation, v3(inertia.x * w.x, inertia.y * w.y, inertia.z * w.z));
      momentum = fmax(momentum, run_distance(l, start));
      energy = fmax(energy, fabs(ss_sim_report(r.sim)->energy.final - ss_sim_report(r.sim)->energy.initial));
    }
    run_check(&r);
    const ss_quat end = ss_sim_motion(r.sim, 0).pose.orientation;
    const double error = v3_norm(quat_log(quat_multiply(quat_conjugate(exact.orientation), end)));
    print_message("h 2^-%d: orientation %.3e, energy %.3e, angular momentum %.3e\n", power, error, energy, momentum);
    if (power > 6) {
      check_near(log2(previous / error), 2, 0.15, "order of the orientation");
      check_near(log2(previous_energy / energy), 2, 0.15, "order of the energy's drift");
      check_near(log2(previous_momentum / momentum), 2, 0.15, "order of the angular momentum's drift");
    }
    previous = error, previous_energy = energy, previous_momentum = momentum;
    run_close(&r);
  }
}

/* ---- chain ---- */

static void chain_keeps_its_joints_and_its_energy(void **state) {
  (void)state;
  double previous = 0;
  for (double h = 0.004; h > 0.0009; h /= 2) {
    run r;
    run_open(&r, "pendulum-chain", &(change){.step = h, .duration = 0.5});
    assert_int_equal(ss_model_joint_rows(r.model), 40);
    assert_int_equal(ss_sim_joint_rank(r.sim), 40);
    run_finish(&r);
    const ss_report *report = ss_sim_report(r.sim);
    check_below(fabs(report->energy.remainder), 1e-11, "energy drift");
    if (previous > 0) check_near(log2(previous / report->certificate.joint_drift), 2, 0.2, "order of the joint drift");
    previous = report->certificate.joint_drift;
    run_close(&r);
  }
  run r;
  run_open(&r, "pendulum-chain", NULL);
  run_finish(&r);
  check_below(fabs(ss_sim_report(r.sim)->energy.remainder), 1e-10, "energy drift in 2 s");
  check_below(ss_sim_report(r.sim)->certificate.joint_drift, 5e-4, "joint drift in 2 s");
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bouncing_ball_rises_to_the_right_heights),
      cmocka_unit_test(bouncing_ball_bounces_in_any_direction),
      cmocka_unit_test(block_below_the_friction_angle_stays),
      cmocka_unit_test(block_above_the_friction_angle_slides),
      cmocka_unit_test(incline_may_face_anywhere),
      cmocka_unit_test(incline_under_all_schemes),
      cmocka_unit_test(sphere_rolls_with_five_sevenths),
      cmocka_unit_test(sphere_rolls_under_trapezoidal),
      cmocka_unit_test(free_body_turns_to_second_order),
      cmocka_unit_test(chain_keeps_its_joints_and_its_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
