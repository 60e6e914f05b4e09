/* Convergence: the Painleve rod, ST's falling rod and four balls, and every scheme on the same scenes. */
#include "scene_runner.h"

/* States at the end of every step: positions and orientations, then velocities. */
typedef struct trajectory {
  int n, n_q, n_v;
  double h;
  double *q, *v;
  double variation, penetration;
  long collisions, take_offs;
} trajectory;

static void record(trajectory *t, const char *scene, const change *c) {
  run r;
  run_open(&r, scene, c);
  const ss_state *state = ss_sim_state(r.sim);
  const size_t steps = (size_t)ss_sim_steps_total(r.sim);
  *t = (trajectory){.n_q = 7 * ss_model_bodies(r.model), .n_v = ss_model_coordinates(r.model), .h = c->step};
  t->q = calloc(steps * (size_t)t->n_q, sizeof(double));
  t->v = calloc(steps * (size_t)t->n_v, sizeof(double));
  assert_true(t->q && t->v);
  while (!ss_sim_done(r.sim)) {
    run_step(&r);
    memcpy(t->q + (size_t)t->n * (size_t)t->n_q, state->q, sizeof(double) * (size_t)t->n_q);
    memcpy(t->v + (size_t)t->n * (size_t)t->n_v, state->v, sizeof(double) * (size_t)t->n_v);
    t->n++;
  }
  run_check(&r);
  const ss_report *report = ss_sim_report(r.sim);
  t->variation = report->velocity_variation;
  t->penetration = report->certificate.penetration;
  t->collisions = report->events[SS_COLLISION];
  t->take_offs = report->events[SS_TAKE_OFF];
  run_close(&r);
}

static void release(trajectory *t) {
  free(t->q);
  free(t->v);
}

/* ST Table 1: largest position error over time, and the velocity error in L1. `first` to `last`: which velocities. */
static void compare(const trajectory *t, const trajectory *reference, int first, int last, double *position,
                    double *velocity) {
  const int stride = (int)lround(t->h / reference->h);
  *position = *velocity = 0;
  for (int i = 0; i < t->n; i++) {
    const int k = (i + 1) * stride - 1 < reference->n ? (i + 1) * stride - 1 : reference->n - 1;
    const double *q = t->q + (size_t)i * (size_t)t->n_q, *q_ref = reference->q + (size_t)k * (size_t)t->n_q;
    const double *v = t->v + (size_t)i * (size_t)t->n_v, *v_ref = reference->v + (size_t)k * (size_t)t->n_v;
    for (int j = 0; j < t->n_q; j++)
      if (j % 7 < 3) *position = fmax(*position, fabs(q[j] - q_ref[j]));
    for (int j = first; j < last; j++) *velocity += t->h * fabs(v[j] - v_ref[j]);
  }
}

/* ---- four balls ---- */

enum { BALL_STEPS = 5 };

static void four_balls_converge_to_first_order(void **state) {
  (void)state;
  trajectory reference;
  double position[BALL_STEPS], velocity[BALL_STEPS], h = 0.02, variation = 0;
  record(&reference, "four-balls", &(change){.step = 0.02 / 256});
  print_message("  h         velocity error   position error   velocity variation\n");
  for (int i = 0; i < BALL_STEPS; i++, h /= 2) {
    trajectory t;
    record(&t, "four-balls", &(change){.step = h});
    compare(&t, &reference, 0, t.n_v, &position[i], &velocity[i]);
    print_message("  %-9g %.4f           %.4f           %.3f\n", h, velocity[i], position[i], t.variation);
    check_below(t.penetration, 0.1 * h, "penetration");
    check_below(t.variation, 1.1 * reference.variation, "velocity variation");
    if (i > 0) {
      check_below(position[i], position[i - 1] / 1.5, "position error, halved step");
      check_below(velocity[i], velocity[i - 1] / 1.5, "velocity error, halved step");
    }
    variation = t.variation;
    release(&t);
  }
  check_near(log2(position[0] / position[BALL_STEPS - 1]) / (BALL_STEPS - 1), 1, 0.15, "order of the positions");
  check_near(log2(velocity[0] / velocity[BALL_STEPS - 1]) / (BALL_STEPS - 1), 1, 0.15, "order of the velocities");
  check_near(variation, reference.variation, 0.05 * reference.variation, "velocity variation");
  release(&reference);
}

/* Collisions located or stepped over, two ways of discretising: one limit. */
static void four_balls_agree_under_all_schemes(void **state) {
  (void)state;
  trajectory reference;
  record(&reference, "four-balls", &(change){.scheme = "trapezoidal", .step = 0.02 / 512});
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++) {
    if (!scheme_is_rigid(row->name)) continue;
    double position[2], velocity[2];
    for (int i = 0; i < 2; i++) {
      trajectory t;
      record(&t, "four-balls", &(change){.scheme = row->name, .step = 0.02 / (i ? 64 : 2)});
      compare(&t, &reference, 0, t.n_v, &position[i], &velocity[i]);
      check_below(t.penetration, 1e-4, "penetration");
      release(&t);
    }
    print_message("  %-22s %.4f -> %.4f   %.4f -> %.4f\n", row->name, position[0], position[1], velocity[0],
                  velocity[1]);
    check_below(position[1], position[0] / 8, "position error, 1/32 of the step");
    check_below(velocity[1], velocity[0] / 8, "velocity error, 1/32 of the step");
  }
  release(&reference);
}

/* ---- falling rod ---- */

/* Sign changes of a velocity's increments beyond a threshold: chattering has many, whatever the step. */
static int reversals(const trajectory *t, int coordinate, double threshold) {
  int count = 0;
  double last = 0;
  for (int i = 1; i < t->n; i++) {
    const double jump = t->v[(size_t)i * (size_t)t->n_v + (size_t)coordinate] -
                        t->v[(size_t)(i - 1) * (size_t)t->n_v + (size_t)coordinate];
    if (fabs(jump) < threshold) continue;
    count += jump * last < 0;
    last = jump;
  }
  return count;
}

static void falling_rod_lands_without_chatter(void **state) {
  (void)state;
  trajectory reference;
  record(&reference, "falling-rod", &(change){.step = 0.04 / 512});
  double h = 0.04, position = 0, vertical[5], turning[5], unused;
  print_message("  h         vertical velocity   angular velocity   position   variation\n");
  for (int i = 0; i < 5; i++, h /= 2) {
    trajectory t;
    record(&t, "falling-rod", &(change){.step = h});
    compare(&t, &reference, 1, 2, &position, &vertical[i]);
    compare(&t, &reference, 2, 3, &unused, &turning[i]);
    print_message("  %-9g %.4f              %.4f             %.4f     %.3f\n", h, vertical[i], turning[i], position,
                  t.variation);
    assert_int_equal(t.collisions, 2); /* one end, then the other */
    assert_true(t.take_offs <= 1);
    assert_true(reversals(&t, 1, 0.5) <= 4 && reversals(&t, 2, 0.5) <= 4);
    check_below(t.variation, 1.15 * reference.variation, "velocity variation");
    const double *v = t.v + (size_t)(t.n - 1) * (size_t)t.n_v;
    for (int k = 0; k < 3; k++) check_near(v[k], 0, 1e-12, "velocity at rest");
    release(&t);
  }
  check_near(log2(vertical[0] / vertical[4]) / 4, 1, 0.25, "order of the vertical velocity");
  check_near(log2(turning[0] / turning[4]) / 4, 1, 0.25, "order of the angular velocity");
  release(&reference);
}

/* ---- Painleve rod ---- */

static ss_vec3 tip_velocity(const run *r) {
  const ss_motion m = ss_sim_motion(r->sim, 0);
  return v3_add(m.velocity, v3_cross(m.angular_velocity, quat_rotate(m.pose.orientation, v3(-0.5, 0, 0))));
}

/* The tip jams at once: impulse (0.4, 0.3) in the limit, reached in the first step, and the tip rests from then on. */
static void painleve_rod_jams(void **state) {
  (void)state;
  const char *const schemes[] = {"stewart-trinkle", "anitescu-potra", "anitescu-potra-stiff", "moreau", "gavrea"};
  for (int s = 0; s < 5; s++)
    for (int power = 8; power <= 14; power += 2) {
      run r;
      const double h = ldexp(1, -power);
      run_open(&r, "painleve-rod", &(change){.scheme = schemes[s], .step = h, .alpha = 1, .gamma = 0.5});
      run_step(&r);
      const ss_vec3 v = run_velocity(&r, 0);
      check_near(v.x + 1, 0.4, 4 * h, "impulse along the table");
      check_near(v.y + 9.81 * h, 0.3, 9 * h, "impulse upwards");
      ss_contact_report contact[2];
      assert_int_equal(ss_sim_contacts(r.sim, contact, 2), 1);
      check_near(contact[0].impulse.x, v.x + 1, 1e-14, "reported impulse along the table");
      check_near(contact[0].impulse.y, v.y + 9.81 * h, 1e-14, "reported impulse upwards");
      while (!ss_sim_done(r.sim)) {
        run_step(&r);
        check_below(v3_norm(tip_velocity(&r)), 2 * h, "velocity of the tip");
      }
      run_check(&r);
      check_near(run_position(&r, 0).x - 0.5 * cos(2 * asin(ss_sim_motion(r.sim, 0).pose.orientation.z)), 0, 2 * h,
                 "place of the tip");
      check_below(ss_sim_report(r.sim)->certificate.energy_created, 0, "energy created");
      run_close(&r);
    }
}

/* ---- every scheme on every scene ---- */

static void all_schemes_run_all_scenes(void **state) {
  (void)state;
  const char *const scenes[] = {"block-on-incline", "bouncing-ball",    "double-pendulum-wall", "falling-rod",
                                "four-balls",       "painleve-rod",     "single-joint",         "sphere-slide-to-roll",
                                "stick-slip-block", "torque-free-body", "two-carts-damper",     "two-carts-spring"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    for (const ss_table_row *row = ss_table_schemes(); row->name; row++) {
      if (!scheme_is_rigid(row->name)) continue;
      run r;
      const bool carts = strncmp(scenes[i], "two-carts", 9) == 0;
      /* schemes with explicit forces need a step below the stiffness' */
      run_open(&r, scenes[i], &(change){.scheme = row->name, .step = carts ? 1e-4 : 0, .duration = carts ? 0.5 : 0});
      run_finish(&r);
      const ss_certificate *c = &ss_sim_report(r.sim)->certificate;
      check_below(c->complementarity, 1e-9, "complementarity");
      check_below(c->penetration, 1e-3, "penetration");
      run_close(&r);
    }
}

static void all_schemes_converge_on_the_double_pendulum(void **state) {
  (void)state;
  const double exact[4] = {0.02194625756, -0.99975915189, 0.02385130951, -1.99975733727};
  for (const ss_table_row *row = ss_table_schemes(); row->name; row++) {
    if (!scheme_is_rigid(row->name)) continue;
    const bool midpoint = strcmp(row->name, "trapezoidal") == 0; /* the only one with joints linearised there */
    double error[3];
    for (int i = 0; i < 3; i++) {
      run r;
      run_open(&r, "double-pendulum-wall", &(change){.scheme = row->name, .step = ldexp(1, -7 - 2 * i)});
      run_finish(&r);
      const ss_vec3 a = run_position(&r, 0), b = run_position(&r, 1);
      error[i] = sqrt((a.x - exact[0]) * (a.x - exact[0]) + (a.y - exact[1]) * (a.y - exact[1]) +
                      (b.x - exact[2]) * (b.x - exact[2]) + (b.y - exact[3]) * (b.y - exact[3]));
      run_close(&r);
    }
    print_message("  %-24s %.3e %.3e %.3e\n", row->name, error[0], error[1], error[2]);
    check_near(log2(error[1] / error[2]) / 2, midpoint ? 2 : 1, 0.15, "order");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(four_balls_converge_to_first_order),
      cmocka_unit_test(four_balls_agree_under_all_schemes),
      cmocka_unit_test(falling_rod_lands_without_chatter),
      cmocka_unit_test(painleve_rod_jams),
      cmocka_unit_test(all_schemes_run_all_scenes),
      cmocka_unit_test(all_schemes_converge_on_the_double_pendulum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
