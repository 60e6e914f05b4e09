/* Events by themselves, against closed forms: bounces that accumulate, blows with friction, paths, what is idle, blows that are split. */
#include "scene_runner.h"
#include "step/step.h"

static const double h = 0.01, gravity = 10;

/* ---- speeds ---- */

/* A speed that is no number is larger than all others, wherever it is; so is that of a body which turns without end. */
static void test_speeds_without_end(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "bodies:\n"
            "  - {name: a, mass: 1, inertia: [1, 1, 1], position: [0, 0, 0], shapes: [{type: sphere, radius: 2}]}\n"
            "  - {name: b, mass: 1, inertia: [1, 1, 1], position: [9, 0, 0], shapes: [{type: point}]}\n"
            "simulation: {scheme: moreau, step: 0.01, duration: 1}\n",
            NULL);
  for (int i = 0; i < 12; i++) {
    double v[12] = {0};
    v[i] = 3;
    check_near(ss_largest_speed_of_bodies(r.sim, v), i < 3 ? 3 : i < 6 ? 6 : i < 9 ? 3 : 0, 1e-14, "speed");
    v[i] = NAN;
    assert_false(isfinite(ss_largest_speed_of_bodies(r.sim, v)));
    v[i] = INFINITY;
    assert_false(isfinite(ss_largest_speed_of_bodies(r.sim, v)));
  }
  run_close(&r);
}

/* ---- bounces that accumulate ---- */

/* A point falls on the floor at the speed v; up: acceleration by a force against gravity. How often it collides before it rests. */
static int bounces(double e, double v, double up, const char *law) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, -10]\n"
                 "materials: [{name: default, friction: 0, restitution: %.17g}]\n"
                 "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                 "bodies: [{name: a, mass: 2, velocity: [0, 0, %.17g], freedom: [z], shapes: [{type: point}]}]\n"
                 "forces: [{type: applied, on: a, force: [0, 0, %.17g]}]\n"
                 "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, restitution: %s, events: [collision]}\n",
                 e, -v, 2 * up, law);
  run r;
  run_parse(&r, text, NULL);
  for (int step = 0; step < 8; step++) run_step(&r);
  check_near(run_velocity(&r, 0).z, 0, 1e-12, "at rest");
  check_near(run_position(&r, 0).z, 0, 1e-12, "on the floor");
  const int n = (int)r.sim->report.events[SS_COLLISION];
  const ss_energy *energy = &ss_sim_report(r.sim)->energy;
  check_near(energy->impact_loss, v * v, 1e-3 * v * v, "all of its energy");
  run_close(&r);
  return n;
}

/* It rests at the first collision at which all later bounces together would take less than a 32nd of the step: v < g h (1-e)/(64 e). */
static void test_bounces_end_in_rest(void **state) {
  (void)state;
  static const double all_e[] = {0.3, 0.5, 0.8, 0.9};
  for (int i = 0; i < 4; i++) {
    const double e = all_e[i], last = gravity * h * (1 - e) / (64 * e);
    for (int n = 1; n <= 4; n++) {
      assert_int_equal(bounces(e, 1.01 * last / pow(e, n - 1), 0, "poisson"), n + 1);
      assert_int_equal(bounces(e, 0.99 * last / pow(e, n - 1), 0, "poisson"), n);
      assert_int_equal(bounces(e, 0.99 * last / pow(e, n - 1), 0, "newton"), n);
    }
  }
  assert_int_equal(bounces(0, 0.3, 0, "poisson"), 1);
}

/* After sixteen bounces in a step it rests if the later ones all end within the step; after four a force that holds it up counts as
 * gravity. */
static void test_many_bounces_end_sooner(void **state) {
  (void)state;
  const double e = 0.95, last = gravity * h * (1 - e) / (64 * e);
  assert_int_equal(bounces(e, 31 * last, 0, "poisson"), 17);
  /* as many, and what is left is longer than the step, by less than half */
  assert_true(bounces(0.965, 0.95 * gravity * h / 24, 0, "poisson") > 20);
  const double light = 0.1 * gravity * h * (1 - 0.8) / (64 * 0.8); /* nine tenths of its weight are held */
  /* 31 light 0.8^k is below 10 light from the seventh on */
  assert_int_equal(bounces(0.8, 31 * light, 0.9 * gravity, "poisson"), 7);
}

/* ---- blows with friction ---- */

/* A ball that cannot turn strikes the floor obliquely: m (1+e) v_n, of which friction takes mu at most; losses are what is missing of each
 * direction's energy. */
static void test_oblique_blows(void **state) {
  (void)state;
  static const double all_e[] = {0, 0.5, 1}, all_mu[] = {0, 0.1, 2};
  for (int k = 0; k < 18; k++) {
    const double e = all_e[k % 3], mu = all_mu[k / 3 % 3], mass = 2, in = 3, along = 1.5;
    const bool newton = k >= 9;
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "gravity: [0, 0, 0]\n"
                   "materials: [{name: default, friction: %g, restitution: %g}]\n"
                   "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                   "bodies: [{name: a, mass: %g, position: [0, 0, 0.515], velocity: [%g, 0, -%g], freedom: [x, y, z],\n"
                   "  shapes: [{type: sphere, radius: 0.5}]}]\n"
                   "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, restitution: %s, friction: {cone: "
                   "quadratic}, events: [collision]}\n",
                   mu, e, mass, along, in, newton ? "newton" : "poisson");
    run r;
    run_parse(&r, text, NULL);
    run_step(&r);
    const double left = fmax(along - mu * (1 + e) * in, 0), out = e * in;
    check_near(run_velocity(&r, 0).z, out, 1e-9, "normal");
    check_near(run_velocity(&r, 0).x, left, 1e-9, "tangential");
    check_near(run_position(&r, 0).x, 0.005 * (along + left), 1e-9, "place");
    check_near(run_position(&r, 0).z, 0.5 + 0.005 * out, 1e-9, "height");
    const ss_energy *energy = &ss_sim_report(r.sim)->energy;
    check_near(energy->friction_loss, mass / 2 * (along * along - left * left), 1e-8, "friction");
    check_near(energy->impact_loss, mass / 2 * (in * in - out * out), 1e-8, "impact");
    check_near(energy->work, 0, 1e-12, "work");
    assert_int_equal(r.n_collisions, 1);
    assert_int_equal(r.sim->trial.contacts[0].hits, 1);
    assert_int_equal(r.sim->trial.contacts[0].hops, e == 0);
    check_near(r.collision_time[0], 0.005, 1e-12, "when");
    ss_contact_report report;
    assert_int_equal(ss_sim_contacts(r.sim, &report, 1), 1);
    check_near(report.impulse.z * (report.body[0] == 0 ? 1 : -1), mass * (1 + e) * in, 1e-8, "impulse");
    check_near(fabs(report.impulse.x), mass * (along - left), 1e-8, "impulse of friction");
    run_close(&r);
  }
}

/* ---- along a part ---- */

/* The path is q (+) tau [v + gamma f delta] with f = tau/h: its velocity is the derivative of the places on it. */
static void test_velocity_along_the_path(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, velocity: [1, 2, 3], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: b, mass: 1, position: [2, 0, 0], velocity: [-1, 4, 2], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: c, mass: 1, position: [4, 0, 0], velocity: [3, 1, 1], shapes: [{type: sphere, radius: 0.5}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  ss_sim *sim = r.sim;
  static const double gammas[] = {0.5, 0.75, 1};
  for (int i = 0; i < 3; i++) sim->trial.touched[i] = true;
  bool swapped;
  ss_contact c = {.pair = ss_pair_find(SS_SHAPE_SPHERE, SS_SHAPE_SPHERE, &swapped), .shape = {1, 2}, .body = {1, 2}};
  double delta[18];
  for (int i = 0; i < 18; i++) sim->trial.delta[i] = delta[i] = i % 6 < 3 ? 0.1 * (i + 1) * (i % 2 ? -1 : 1) : 0;
  for (int k = 0; k < 3; k++)
    for (int i = 1; i <= 4; i++) {
      const double fraction = i / 4., tau = fraction * h, small = 1e-5;
      sim->trial.asked.gamma = gammas[k];
      for (int n = 0; n < 18; n++) sim->scratch.v[n] = 99;
      sim->mechanics->path_velocity(sim, &c, fraction);
      ss_contact_place before, after;
      sim->mechanics->place_on_path(sim, &c, sim->trial.delta, tau - small * h, fraction - small, &before);
      sim->mechanics->place_on_path(sim, &c, sim->trial.delta, tau + small * h, fraction + small, &after);
      for (int side = 0; side < 2; side++) {
        const ss_vec3 way = v3_sub(after.pose[side].position, before.pose[side].position);
        const double *v = sim->scratch.v + r.model->bodies[1 + side].first;
        check_near(v[0], way.x / (2 * small * h), 1e-6, "x");
        check_near(v[1], way.y / (2 * small * h), 1e-6, "y");
        check_near(v[2], way.z / (2 * small * h), 1e-6, "z");
      }
      assert_true(sim->scratch.v[0] == 99); /* of another body */
      c.body[0] = -1;
      for (int n = 0; n < 18; n++) sim->scratch.v[n] = 99;
      sim->mechanics->path_velocity(sim, &c, fraction);
      assert_true(sim->scratch.v[r.model->bodies[1].first] == 99 && sim->scratch.v[r.model->bodies[2].first] != 99);
      c.body[0] = 1;
    }
  run_close(&r);
}

/* Where a part ends in an arrest velocities become consistent with the joints; not at other ends, nor before the part's end. */
static void test_what_happens_at_an_arrest(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++) {
    run r;
    run_parse(&r,
              "gravity: [0, 0, -10]\n"
              "bodies:\n"
              "  - {name: arm, mass: 2, inertia: [0.1, 0.2, 0.3], position: [0.5, 0, 0]}\n"
              "joints:\n"
              "  - {type: spherical, between: [world, arm], at: [0, 0, 0]}\n"
              "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n",
              NULL);
    run_step(&r);
    ss_sim *sim = r.sim;
    const int first = r.model->bodies[0].first;
    for (int i = 0; i < 3; i++) sim->state.v[first + i] += 0.1 * (i + 1);
    sim->part.asked.h = 0.01;
    sim->part.end = k & 1 ? 0.01 : 0.005;
    sim->part.ends = k & 2 ? SS_ENDS_ARREST : SS_ENDS_RELEASE;
    ss_events_happen(sim);
    const ss_vec3 arm = v3_sub(v3(0, 0, 0), run_position(&r, 0)); /* the joint does not move */
    const ss_vec3 there = v3_add(run_velocity(&r, 0), v3_cross(run_turn(&r, 0), arm));
    if (k == 3)
      check_near(v3_norm(there), 0, 1e-12, "at the joint");
    else
      check_near(v3_norm(there), 0.1 * sqrt(14), 1e-3, "at the joint");
    run_close(&r);
  }
}

/* ---- what a dense part holds ---- */

/* Against the world what counts is the one body's speed along the normal, whatever its direction, and the gap's rate. */
static void test_what_is_held_against_the_world(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, -10]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: b, mass: 1, position: [2, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  ss_sim *sim = r.sim;
  ss_error error = {0};
  static const ss_law law = {.collide = true};
  run_require(
      ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity, 1, sizeof *sim->trial.contacts, &error),
      &error, "room");
  sim->step.h = h, sim->step.acceleration = gravity;
  for (int k = 0; k < 24; k++) {
    const int axis = k % 3, side = k / 3 % 2, far = k / 6 % 2;
    const double sign = k / 12 ? 1 : -1, speed = 3;
    ss_contact *c = sim->trial.contacts;
    sim->trial.n_contacts = 1, sim->trial.n_active = 0;
    *c = (ss_contact){.law = &law, .row = -1, .body = {side ? -1 : 1, side ? 1 : -1}};
    c->at.normal = v3(axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0); /* from b to a */
    double *v = sim->state.v + r.model->bodies[1].first;
    for (int i = 0; i < 3; i++) v[i] = i == axis ? speed * sign * (side ? 1 : -1) : 0; /* towards the world */
    const double reach = h * (speed + 2 * h * gravity) + ss_touch_gap(sim);
    c->rate = 0, c->at.gap = reach + (far ? 1e-9 : -1e-9);
    ss_crowd_begin(sim, h);
    assert_int_equal(c->active, !far);
    for (int i = 0; i < 3; i++) v[i] = -v[i]; /* away from it: what is left is gravity */
    c->active = false;
    c->at.gap = h * 2 * h * gravity + ss_touch_gap(sim) + (far ? 1e-9 : -1e-9);
    ss_crowd_begin(sim, h);
    assert_int_equal(c->active, !far);
  }
  run_close(&r);
}

/* The part's trials, replaced: which of them are certified, how fast the first body is at their ends, which ball is in the first one. */
static struct {
  int calls;
  bool certified[8];
  double speed[8];
  int touched[8];
} part;

static ss_status try_part(ss_sim *sim, ss_asked asked, ss_error *error) {
  (void)error;
  check_near(asked.h, h, 0, "the whole step");
  const int n = part.calls++;
  sim->trial.certified = part.certified[n];
  memcpy(sim->trial.q_end, sim->state.q, sizeof(double) * (size_t)sim->model->n_q);
  sim->trial.v_end[sim->model->bodies[0].first] = part.speed[n];
  const int ball = part.touched[n];
  if (ball) sim->trial.q_end[7 * (ptrdiff_t)ball] = sim->trial.q_end[0] + 0.99;
  return SS_OK;
}

static void run_part(run *r, int calls, bool certified, int unreturned) {
  ss_sim *sim = r->sim;
  ss_error error = {0};
  const long before = (long)sim->report.solves.unreturned;
  part.calls = 0;
  sim->part.asked.h = h;
  run_require(ss_crowd_part(sim, &error), &error, "part");
  assert_int_equal(part.calls, calls);
  assert_int_equal(sim->trial.certified, certified);
  assert_int_equal((long)sim->report.solves.unreturned - before, unreturned);
}

/* A whole step at once: solved again without restitution where that gives energy or has no solution, and with the contacts that turn out
 * to close. */
static void test_a_whole_step_at_once(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, velocity: [2, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: b, mass: 1, position: [3, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: c, mass: 1, position: [6, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: d, mass: 1, position: [9, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  ss_sim *sim = r.sim;
  ss_error error = {0};
  bool swapped;
  static const ss_law law = {.collide = true};
  run_require(
      ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity, 4, sizeof *sim->trial.contacts, &error),
      &error, "room");
  sim->step.h = h, sim->step.acceleration = gravity, sim->chosen.attempt = try_part;
  for (int i = 0; i < r.model->n_v; i++) sim->trial.dv_free[i] = 0;
  for (int kind = 0; kind < 9; kind++) {
    sim->trial.n_contacts = 3;
    for (int i = 0; i < 3; i++)
      sim->trial.contacts[i] = (ss_contact){.law = &law,
                                            .key = (uint64_t)i,
                                            .pair = ss_pair_find(SS_SHAPE_SPHERE, SS_SHAPE_SPHERE, &swapped),
                                            .shape = {0, i + 1},
                                            .body = {0, i + 1},
                                            .row = -1};
    ss_contact *c = sim->trial.contacts;
    for (int i = 0; i < 8; i++) part.certified[i] = true, part.speed[i] = 2, part.touched[i] = 0;
    const int which = kind % 3;
    c[which].row = 0, c[which].active = true;
    if (kind < 3) { /* faster than without contacts */
      part.speed[0] = 2.001;
      run_part(&r, 1, true, 0); /* nothing is returned */
      c[which].bounce = 0.5;
      run_part(&r, 2, true, 1);
      assert_true(c[which].bounce == 0);
      c[which].bounce = 0.5, c[which].row = -1; /* not in the problem */
      run_part(&r, 1, true, 0);
      c[which].row = 0, part.speed[0] = 2;
      run_part(&r, 1, true, 0);
      assert_true(c[which].bounce == 0.5);
    } else if (kind < 6) { /* no solution */
      part.certified[0] = false;
      run_part(&r, 1, false, 0);
      c[which].bounce = 0.5;
      run_part(&r, 2, true, 1);
    } else { /* others are in the first one at the end */
      const int other = (which + 1) % 3;
      part.touched[0] = other + 1;
      run_part(&r, 2, true, 0);
      for (int i = 0; i < 3; i++) assert_int_equal(c[i].active, i == which || i == other);
      part.touched[0] = which + 1; /* it is held already */
      run_part(&r, 1, true, 0);
      for (int i = 0; i < 3; i++) c[i].active = false;
      for (int i = 0; i < 3; i++) part.touched[i] = i + 1;
      run_part(&r, 4, true, 0);
    }
  }
  run_close(&r);
}

/* ---- what is idle ---- */

/* In a crowd, a contact of shapes whose bodies are both slower than g h/16; the world is. */
static void test_idle_contacts(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, -10]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: b, mass: 1, position: [2, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  ss_sim *sim = r.sim;
  ss_error error = {0};
  static const ss_law law = {.collide = true};
  static const ss_pair pair = {0};
  run_require(
      ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity, 20, sizeof *sim->trial.contacts, &error),
      &error, "room");
  sim->step.h = h, sim->step.acceleration = gravity, sim->part.speed_bound = 1;
  for (int k = 0; k < 32; k++)
    for (int side = -1; side < 2; side++) { /* the world is on no side, the first, the second */
      const int crowd = k & 1 ? 16 : 15;
      sim->trial.n_contacts = crowd + 1;
      for (int i = 0; i <= crowd; i++) {
        ss_contact *c = &sim->trial.contacts[i];
        *c = (ss_contact){.law = &law, .row = -1, .closed = i < crowd, .body = {0, 1}, .pair = k & 2 ? &pair : NULL};
        if (side >= 0) c->body[side] = -1;
      }
      sim->state.v[r.model->bodies[0].first] = (k & 4 ? 1.01 : 0.99) * h * gravity / 16;
      sim->state.v[r.model->bodies[1].first] = (k & 8 ? -1.01 : -0.99) * h * gravity / 16;
      ss_active_set(sim);
      const bool slow = (side == 0 || !(k & 4)) && (side == 1 || !(k & 8));
      for (int i = 0; i <= crowd; i++) assert_int_equal(sim->trial.contacts[i].idle, (k & 3) == 3 && slow);
    }
  run_close(&r);
}

/* ---- blows that are passed on ---- */

/* Five balls in a row, touching; the first strikes the second. It is passed on where a contact next to the blow could return it. */
static void test_blows_that_are_returned(void **state) {
  (void)state;
  for (int k = 0; k < 16; k++) {
    char text[2048];
    int used = snprintf(text, sizeof text,
                        "gravity: [0, 0, 0]\nmaterials: [{name: default, friction: 0, restitution: 0}]\n"
                        "contacts: [{between: [b0, b1], restitution: 0.5}");
    for (int i = 1; i < 4; i++)
      used += snprintf(text + used, sizeof text - (size_t)used, ", {between: [b%d, b%d], restitution: %g}", i, i + 1,
                       k >> i & 1 ? 0.5 : 0);
    used += snprintf(text + used, sizeof text - (size_t)used, "]\nbodies:\n");
    for (int n = 0; n < 5; n++) {
      const int i = k & 1 ? 4 - n : n; /* either way round */
      used += snprintf(text + used, sizeof text - (size_t)used,
                       "  - {name: b%d, mass: 1, position: [%g, 0, 0], velocity: [%d, 0, 0], freedom: [x], shapes: "
                       "[{type: sphere, radius: 0.5}]}\n",
                       i, i ? i : -0.1, i ? 0 : 20);
    }
    (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 1}\n");
    run r;
    run_parse(&r, text, NULL);
    run_step(&r);
    assert_int_equal(r.sim->report.solves.impacts, 1);
    assert_int_equal(r.sim->report.solves.passed_on, k >> 1 & 1);
    double momentum = 0;
    for (int i = 0; i < 5; i++) momentum += run_velocity(&r, i).x;
    check_near(momentum, 20, 1e-9, "momentum");
    run_close(&r);
  }
}

/* ---- blows that are split ---- */

/* A ball lies on the floor, another falls on it; far away a third one lies on the floor. Position level: the blow is dealt out in two
 * steps, and friction with it, wherever it acts on the ball in the middle. */
static int split(const char *scheme, double floor, double balls, const char *events, bool lies) {
  char text[2048];
  (void)snprintf(
      text, sizeof text,
      "gravity: [0, 0, -10]\n"
      "materials: [{name: default, friction: 0}, {name: floor, friction: %g}, {name: ball, friction: 0.0}]\n"
      "contacts: [{between: [low, high], friction: %g}, {between: [low, world], friction: %g},\n"
      "  {between: [other, world], friction: 0.5}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies:\n"
      "  - {name: other, mass: 1, position: [9, 0, 0.5], shapes: [{type: sphere, radius: 0.5}]}\n"
      "  - {name: low, mass: 1, position: [0, 0, %g], shapes: [{type: sphere, radius: 0.5}]}\n"
      "  - {name: high, mass: 1, position: [0, 0, 1.53], velocity: [0, 0, -1], shapes: [{type: sphere, radius: 0.5}]}\n"
      "simulation: {scheme: %s, step: 0.01, duration: 1%s}\n",
      floor, balls, floor, lies ? 0.5 : 0.52, scheme, events);
  run r;
  run_parse(&r, text, NULL);
  for (int step = 0; step < 6; step++) run_step(&r);
  assert_true(r.sim->report.events[SS_COLLISION] >= 1);
  const int n = (int)r.sim->report.solves.split_blows;
  run_close(&r);
  return n;
}

static void test_blows_that_are_split(void **state) {
  (void)state;
  for (int k = 0; k < 4; k++)
    assert_int_equal(split("stewart-trinkle", k & 1 ? 0.5 : 0, k & 2 ? 0.5 : 0, "", true) > 0, k > 0);
  assert_int_equal(split("stewart-trinkle", 0.5, 0.5, "", true), 1);
  assert_int_equal(split("stewart-trinkle", 0.5, 0.5, ", events: [collision]", true), 0); /* an impact: at once */
  assert_int_equal(split("trapezoidal", 0.5, 0.5, "", true), 0);
}

/* ---- rest ---- */

enum { BOXES = 16, POINTS = 8 };

/* Points and boxes that lie side by side, held by friction against a gravity that is not upright. */
static void open_boxes(run *r) {
  static char text[1 << 13];
  int used = snprintf(text, sizeof text,
                      "gravity: [1, 0, -10]\n"
                      "materials: [{name: default, friction: 0.5}]\n"
                      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                      "bodies:\n");
  for (int i = 0; i < POINTS; i++)
    used +=
        snprintf(text + used, sizeof text - (size_t)used,
                 "  - {name: p%d, mass: 1, position: [%d, 0, 0], freedom: [x, y, z], shapes: [{type: point}]}\n", i, i);
  for (int i = POINTS; i < BOXES; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b%d, mass: 2, position: [%d, 0, 0.1], shapes: [{type: box, size: [0.4, 0.4, 0.2]}]}\n",
                     i, i);
  (void)snprintf(text + used, sizeof text - (size_t)used,
                 "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, sleep: false, friction: {cone: "
                 "quadratic}}\n");
  run_parse(r, text, NULL);
  r->sim->chosen.divides = false; /* the islands of one problem, not clusters that take their steps apart */
  for (int step = 0; step < 3; step++) run_step(r);
}

/* What is slower than g h/16 is stopped, moving by v h/2, where that takes energy: where the force that holds it is against its velocity. Else
 * in the next step, when its velocity has the other sign. What is faster goes on alternating. Then nothing changes any more, to the last bit. */
static void test_what_rests_in_a_crowd(void **state) {
  (void)state;
  const double idle = sqrt(101) * h / 16;
  run r;
  open_boxes(&r);
  double first[BOXES], before[BOXES], x[BOXES];
  for (int i = 0; i < BOXES; i++) {
    first[i] = (i & 1 ? -1 : 1) * (i & 2 ? 1.01 : i & 1 ? 0.7 : 0.99) * idle;
    before[i] = run_position(&r, i).x;
    check_near(v3_norm(run_velocity(&r, i)), 0, 1e-12, "at rest at first");
    r.sim->state.v[r.model->bodies[i].first] = first[i];
  }
  double energy = INFINITY;
  for (int step = 0; step < 6; step++) {
    run_step(&r);
    double now = 0;
    for (int i = 0; i < BOXES; i++) {
      const bool fast = i & 2, stops = !fast && step >= (i & 1);
      const double alternates = step & 1 ? first[i] : -first[i], way = stops ? fabs(first[i]) * h / 2 : 0;
      check_near(run_velocity(&r, i).x, stops ? 0 : alternates, 1e-11, "velocity");
      check_near(run_position(&r, i).x, before[i] + way, 1e-13, "place");
      check_near(run_position(&r, i).z, i < POINTS ? 0 : 0.1, 1e-12, "height");
      if (step == 5 && !fast) assert_true(run_velocity(&r, i).x == 0 && run_position(&r, i).x == x[i]);
      x[i] = run_position(&r, i).x;
      now += run_velocity(&r, i).x * run_velocity(&r, i).x;
    }
    assert_true(now <= energy * (1 + 1e-9));
    energy = now;
  }
  run_close(&r);
}

/* Where what was known of the forces says that stopping takes energy, and what is found says that it gives: nothing is stopped. */
static void test_stopping_that_would_give_energy(void **state) {
  (void)state;
  const double slow = 0.7 * sqrt(101) * h / 16;
  for (int wrong = 0; wrong < BOXES; wrong += 5)
    for (int k = 0; k < 2; k++) {
      run r;
      open_boxes(&r);
      ss_state *s = &r.sim->state;
      for (int i = 0; i < BOXES; i++) s->v[r.model->bodies[i].first] = i == wrong ? -slow : slow;
      for (int i = 0; i < s->n_touch && k == 1; i++)
        if ((s->touch[i].key >> 44 & 0xff) == (uint64_t)wrong || (s->touch[i].key >> 24 & 0xff) == (uint64_t)wrong)
          s->touch[i].impulse[0] = -s->touch[i].impulse[0], s->touch[i].force[0] = -s->touch[i].force[0];
      run_step(&r);
      for (int i = 0; i < BOXES; i++)
        check_near(run_velocity(&r, i).x, i == wrong ? slow : k ? -slow : 0, 1e-11, "velocity");
      run_close(&r);
    }
}

/* An island rests whose bodies hardly move and would hardly change with the forces before; not one of which a contact lands, is apart or is
 * pushed back. */
static void test_islands_that_rest(void **state) {
  (void)state;
  run r;
  open_boxes(&r);
  ss_sim *sim = r.sim;
  const ss_problem *p = &sim->trial.problem;
  const ss_islands *s = &sim->solver.islands;
  const int n = r.model->n_v;
  const double open = 16 * sim->options.residual * sqrt(101) * h;
  ss_landing_begin(sim);
  assert_int_equal(s->count, BOXES);
  for (int kind = -1; kind < 9; kind++)
    for (int i = 0; i < sim->trial.n_contacts; i += kind < 0 ? 100 : 3) {
      ss_contact *c = &sim->trial.contacts[i];
      const ss_contact kept = *c;
      const int body = c->body[0] >= 0 ? c->body[0] : c->body[1], own = s->island[c->block];
      for (int k = 0; k < n; k++) sim->scratch.v[k] = -sim->trial.dv_free[k];
      memset(sim->state.v, 0, sizeof(double) * (size_t)n);
      memset(sim->trial.rests, 0, sizeof(bool) * (size_t)r.model->n_bodies);
      const int first = r.model->bodies[body].first;
      if (kind == 0) c->lands = true;
      if (kind == 1) c->at.gap = 1.01 * ss_touch_gap(sim), c->idle = false;
      if (kind == 2) c->at.gap = 0.99 * ss_touch_gap(sim);
      if (kind == 3) p->pushed[c->row] = 1;
      if (kind == 4) sim->state.v[first] = 1.01 * open;
      if (kind == 5) sim->state.v[first] = 0.99 * open;
      if (kind == 6) sim->scratch.v[first] += 1.01 * open;
      if (kind == 7) sim->scratch.v[first] += 0.99 * open;
      if (kind == 8) c->row = -1, c->lands = true; /* not in the problem */
      ss_rest_begin(sim);
      const bool rests = kind < 0 || kind == 2 || kind == 5 || kind == 7 || kind == 8;
      for (int k = 0; k < s->count; k++) assert_int_equal(s->rests[k], rests || k != own);
      if (kind == 7) /* what the forces before leave open is the new slack */
        check_near(hypot(p->slack[kept.row + 1], p->slack[kept.row + 2]) / open, p->alpha * 0.99, 1e-3, "slack");
      ss_rest_end(sim);
      for (int b = 0; b < BOXES; b++) assert_int_equal(sim->trial.rests[b], rests || b != body);
      *c = kept;
      p->pushed[c->row] = 0;
    }
  run_close(&r);
}

/* ---- what is told of spin and rolling ---- */

static double energy_told;
static int ends_told[2];

static void note_end(void *user, const ss_sim *sim, const ss_event *event) {
  (void)user, (void)sim;
  energy_told += fabs(event->energy_created);
  ends_told[0] += event->kind == SS_SPIN_END, ends_told[1] += event->kind == SS_ROLL_END;
}

static ss_status no_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

static void test_ends_are_told(void **state) {
  (void)state;
  run r;
  open_boxes(&r);
  ss_sim *sim = r.sim;
  ss_error error = {0};
  run_require(ss_sim_observe(sim, &(ss_observer){.step = no_step, .event = note_end}, &error), &error, "observe");
  ends_told[0] = ends_told[1] = 0, energy_told = 0;
  const int n = sim->trial.n_contacts;
  for (int i = 0; i < n; i++) sim->trial.contacts[i].spin_ends = i % 2, sim->trial.contacts[i].roll_ends = i % 3 == 0;
  sim->part.asked.h = sim->part.end = h;
  sim->part.ends = 0;
  ss_events_happen(sim);
  assert_int_equal(ends_told[0], n / 2);
  assert_int_equal(ends_told[1], (n + 2) / 3);
  assert_true(energy_told == 0);
  run_close(&r);
}

/* ---- trials that are not accepted ---- */

static void open_body(run *r, const char *shape) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, -10]\n"
                 "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}, {type: box, size: [9, 9, 9], "
                 "position: [0, 0, -90]}]}\n"
                 "bodies: [{name: a, mass: 2, position: [0, 0, 2], shapes: [{type: %s}]}]\n"
                 "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, events: []}\n",
                 shape);
  run_parse(r, text, NULL);
  ss_sim *sim = r->sim;
  ss_error error = {0};
  run_require(
      ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity, 4, sizeof *sim->trial.contacts, &error),
      &error, "room");
  bool swapped;
  const ss_pair *pair = ss_pair_find(r->model->shapes[0].type, SS_SHAPE_HALF_SPACE, &swapped);
  assert_int_equal(r->model->shapes[1].type, SS_SHAPE_HALF_SPACE);
  sim->trial.n_contacts = 1;
  sim->trial.contacts[0] = (ss_contact){.pair = pair,
                                        .shape = {swapped, !swapped},
                                        .body = {swapped ? -1 : 0, swapped ? 0 : -1},
                                        .row = 0,
                                        .active = true,
                                        .at = {.normal = {0, 0, swapped ? -1 : 1}}};
  sim->step.h = h;
  sim->part = (ss_part){.asked.h = h, .speed_bound = 100};
  sim->trial.certified = true, sim->trial.asked.h = h;
  memcpy(sim->trial.q_end, sim->state.q, sizeof(double) * (size_t)r->model->n_q);
  memset(sim->trial.v_end, 0, sizeof(double) * (size_t)r->model->n_v);
}

/* Whether the solved part would be cut in halves: the body being `depth` in the floor at its end, and turning by `turn`. */
static bool is_cut(run *r, double depth, double turn) {
  ss_sim *sim = r->sim;
  ss_error error = {0};
  sim->trial.q_end[2] = (r->model->shapes[0].type == SS_SHAPE_BOX ? 0.5 : r->model->shapes[0].radius) - depth;
  sim->trial.v_end[r->model->bodies[0].first + 4] = turn / h;
  sim->part.asked.h = h;
  const long cuts = (long)sim->report.solves.cuts;
  const int tried = sim->part.cuts;
  run_require(ss_locate_events(sim, &error), &error, "events");
  const bool cut = sim->report.solves.cuts > cuts;
  check_near(sim->part.asked.h, cut ? h / 2 : h, 0, "size of the part");
  assert_int_equal(sim->part.cuts, tried + cut);
  if (cut) assert_true(sim->part.again);
  sim->part.cuts = tried;
  return cut;
}

/* A contact that ends deeper than it started by more than a hundredth of the smaller shape, in parts in which something moves by a tenth of
 * it; or whose bodies turn by more than one radian, unless they are round. */
static void test_parts_in_which_bodies_sink(void **state) {
  (void)state;
  static const char *const shapes[] = {"box, size: [1, 1, 1]", "sphere, radius: 0.5",
                                       "capsule, radius: 0.5, length: 1"};
  for (int kind = 0; kind < 3; kind++) {
    run r;
    open_body(&r, shapes[kind]);
    ss_sim *sim = r.sim;
    ss_contact *c = sim->trial.contacts;
    const double size = r.model->shapes[0].reach;
    if (kind < 2) {
      assert_true(is_cut(&r, 1.01e-2 * size, 0));
      assert_false(is_cut(&r, 0.99e-2 * size, 0));
      c->at.gap = -0.1;
      assert_true(is_cut(&r, 0.1 + 1.01e-2 * size, 0));
      assert_false(is_cut(&r, 0.1 + 0.99e-2 * size, 0));
      c->at.gap = 0.1; /* above it at the start: that is no excuse */
      assert_true(is_cut(&r, 1.01e-2 * size, 0));
      c->at.gap = 0;
      sim->part.speed_bound = 0.99 * 0.1 * size / h;
      assert_false(is_cut(&r, 1.01e-2 * size, 0));
      sim->part.speed_bound = 1.01 * 0.1 * size / h;
      assert_true(is_cut(&r, 1.01e-2 * size, 0));
      for (int k = 0; k < 3; k++) { /* without rows, no pair of shapes, or one that gives */
        const ss_contact kept = *c;
        ss_patch patch;
        if (k == 0) c->row = -1;
        if (k == 1) c->pair = NULL;
        if (k == 2) c->patch = &patch;
        assert_false(is_cut(&r, 1.01e-2 * size, 0));
        *c = kept;
      }
      sim->part.cuts = 7;
      assert_true(is_cut(&r, 1.01e-2 * size, 0));
      sim->part.cuts = 8; /* often enough */
      assert_false(is_cut(&r, 1.01e-2 * size, 0));
      sim->crowd.dense = sim->crowd.overlooked = true;
      assert_false(is_cut(&r, 0, 0));
      sim->part.cuts = 0;
      assert_true(is_cut(&r, 0, 0));
      sim->crowd.overlooked = false;
      assert_false(is_cut(&r, 0, 0));
      sim->crowd.dense = false;
    }
    sim->part.speed_bound = 1e9;
    assert_int_equal(is_cut(&r, 0, 1.01), kind != 1);
    assert_int_equal(is_cut(&r, 0, -1.01), kind != 1);
    assert_false(is_cut(&r, 0, 0.99));
    c->row = -1;
    assert_false(is_cut(&r, 0, 1.01));
    run_close(&r);
  }
}

/* What is not certified is cut up to ten times. A body faster than was assumed: the part is looked at again with more. */
static void test_trials_that_are_not_accepted(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  open_body(&r, "sphere, radius: 0.5");
  ss_sim *sim = r.sim;
  sim->trial.n_contacts = 0;
  for (int k = 0; k < 12; k++) {
    sim->part.cuts = k, sim->part.asked.h = h, sim->trial.certified = false;
    const ss_status status = ss_locate_events(sim, &error);
    assert_int_equal(status, k < 10 ? SS_OK : SS_ERROR_UNCERTIFIED);
    assert_int_equal(sim->part.cuts, k + 1);
    check_near(sim->part.asked.h, h / 2, 0, "half of it");
    if (k >= 10) assert_non_null(strstr(error.message, "no certified step at t = 0, even with h = 0.005"));
  }
  assert_null(strstr(error.message, "finite"));
  sim->step.not_finite = true;
  assert_int_equal(ss_locate_events(sim, &error), SS_ERROR_UNCERTIFIED);
  assert_non_null(strstr(error.message, "velocities are not finite"));
  for (int k = 0; k < 2; k++) {
    sim->part = (ss_part){.asked.h = h, .speed_bound = k ? 2.99 : 3.01};
    sim->trial.certified = true;
    sim->trial.v_end[r.model->bodies[0].first] = 3;
    run_require(ss_locate_events(sim, &error), &error, "events");
    assert_int_equal(sim->part.again, k);
    check_near(sim->part.speed_bound, k ? 4.5 : 3.01, 1e-12, "bound");
    check_near(sim->part.end, h, 0, "the whole part");
    assert_true(sim->part.ends == 0 && sim->part.hit == -1);
  }
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_speeds_without_end),
                                     cmocka_unit_test(test_bounces_end_in_rest),
                                     cmocka_unit_test(test_many_bounces_end_sooner),
                                     cmocka_unit_test(test_oblique_blows),
                                     cmocka_unit_test(test_velocity_along_the_path),
                                     cmocka_unit_test(test_what_happens_at_an_arrest),
                                     cmocka_unit_test(test_what_is_held_against_the_world),
                                     cmocka_unit_test(test_a_whole_step_at_once),
                                     cmocka_unit_test(test_ends_are_told),
                                     cmocka_unit_test(test_idle_contacts),
                                     cmocka_unit_test(test_what_rests_in_a_crowd),
                                     cmocka_unit_test(test_stopping_that_would_give_energy),
                                     cmocka_unit_test(test_islands_that_rest),
                                     cmocka_unit_test(test_parts_in_which_bodies_sink),
                                     cmocka_unit_test(test_trials_that_are_not_accepted),
                                     cmocka_unit_test(test_blows_that_are_split),
                                     cmocka_unit_test(test_blows_that_are_returned)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
