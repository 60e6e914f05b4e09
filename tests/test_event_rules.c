/* The rules by which contacts are held, collide, land, count as a crowd and are let go: the tables at the heads of
 * src/event/active_set.c, crowd.c, transition.c, each at its borders. Contacts are put together by hand. */
#include "scene_runner.h"
#include "step/step.h"

static const double h = 0.01, gravity = 10; /* h g = 0.1 */
enum { ROOM = 80 };

/* Three balls in free flight, in a simulation that has not stepped yet. */
static void open_balls(run *r) {
  run_parse(r,
            "gravity: [0, 0, -10]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, position: [0, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: b, mass: 2, position: [2, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: c, mass: 3, position: [4, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  ss_error error = {0};
  ss_sim *sim = r->sim;
  run_require(
      ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity, ROOM, sizeof *sim->trial.contacts, &error),
      &error, "room");
  sim->step.h = h;
  sim->step.acceleration = gravity;
  sim->part.speed_bound = 1;
  sim->trial.n_contacts = 0;
  sim->trial.asked.alpha = sim->part.asked.alpha = 0.5;
}

static ss_contact *add(ss_sim *sim, double gap, double rate) {
  static const ss_law law = {.collide = true};
  ss_contact *c = &sim->trial.contacts[sim->trial.n_contacts++];
  assert_true(sim->trial.n_contacts <= ROOM);
  *c = (ss_contact){.body = {0, 1}, .law = &law, .rate = rate, .row = -1, .at = {.gap = gap, .normal = {-1, 0, 0}}};
  return c;
}

static void add_closed(ss_sim *sim, int n) {
  for (int i = 0; i < n; i++) add(sim, 0, 0)->closed = true;
}

/* ---- which contacts are held ---- */

typedef struct held {
  double gap, rate; /* in units of the tolerances */
  bool closed;
  int hits, hops;
  bool active, touching, collides;
} held;

static void check_held(ss_sim *sim, const held *list, int n, double gap_unit, double rate_unit) {
  for (int i = 0; i < n; i++) {
    const int others = sim->trial.n_contacts;
    ss_contact *c = add(sim, list[i].gap * gap_unit, list[i].rate * rate_unit);
    c->closed = list[i].closed, c->hits = list[i].hits, c->hops = list[i].hops;
    ss_active_set(sim);
    check_near(sim->part.speed_tolerance, 1e-9 * h * gravity + 1e-12, 1e-25, "speed tolerance");
    if (c->active != list[i].active || c->touching != list[i].touching || sim->part.impact != list[i].collides)
      print_error("row %d: active %d, touching %d, collides %d\n", i, c->active, c->touching, sim->part.impact);
    assert_true(c->active == list[i].active && c->touching == list[i].touching && sim->part.impact == list[i].collides);
    assert_int_equal(sim->trial.n_active, others + c->active);
    assert_int_equal(sim->crowd.settling, !sim->part.impact);
    c->limit = true; /* not counted as a contact */
    ss_active_set(sim);
    assert_int_equal(sim->trial.n_active, others);
    sim->trial.n_contacts = others;
  }
}

static void test_active_set(void **state) {
  (void)state;
  static const held first[] = {
      {0.99, -1.01, false, 0, 0, true, true, true},    {0.99, -0.99, false, 0, 0, true, true, false},
      {0.99, 0.99, false, 0, 0, true, true, false},    {0.99, 1.01, false, 0, 0, false, true, false},
      {1.01, -1.01, false, 0, 0, false, false, false}, {1.01, 0, false, 0, 0, false, false, false},
      {-5, -1.01, false, 0, 0, true, true, true},      {-5, 1.01, false, 0, 0, false, true, false},
      {0.99, -9, true, 0, 0, true, true, false},       {0.99, 9, true, 0, 0, true, true, false},
      {9, 9, true, 0, 0, true, false, false},          {9, 9, false, 0, 2, true, false, false},
      {9, 9, false, 0, 1, false, false, false},        {9, 9, false, 9, 1, false, false, false}};
  static const held again[] = {
      {0.99, -1.01, false, 1, 0, true, true, true},  {0.99, -0.99, false, 1, 0, true, true, false},
      {0.99, 0.99, false, 1, 0, true, true, false},  {0.99, 1.01, false, 1, 0, false, true, false},
      {0.99, -1.01, false, 0, 1, true, true, true},  {0.99, -0.99, false, 0, 1, true, true, false},
      {0.99, 1.01, false, 0, 1, false, true, false}, {0.99, 1.01, false, 0, 2, true, true, false},
      {0.99, -1.01, false, 0, 2, true, true, true}};
  run r;
  open_balls(&r);
  const double gap = ss_touch_gap(r.sim);
  check_near(gap, 1e-10 * r.model->length, 0, "gap");
  check_held(r.sim, first, sizeof first / sizeof *first, gap, 1e-9 * h * gravity + 1e-12);
  check_held(r.sim, again, sizeof again / sizeof *again, gap, 1e-3 * h * gravity);
  run_close(&r);
}

static void check_all_held(ss_sim *sim, bool all) {
  sim->trial.n_contacts = 0;
  add(sim, 0, -1), add(sim, 1, 1), add(sim, 0, 1);
  ss_active_set(sim);
  assert_int_equal(sim->part.impact, !all);
  assert_int_equal(sim->trial.n_active, all ? 3 : 1);
}

/* Schemes that do not locate collisions, compliant ones, and the rest of a step that had too many parts. */
static void test_all_contacts_are_held(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  ss_scheme scheme = *sim->scheme;
  sim->scheme = &scheme;
  check_all_held(sim, false);
  sim->step.exhausted = true;
  check_all_held(sim, true);
  sim->step.exhausted = false;
  scheme.compliant = true;
  check_all_held(sim, true);
  scheme.compliant = false;
  for (int k = 0; k < 4; k++) {
    scheme.position_level = k & 1, sim->chosen.located = k & 2 ? SS_EVENT_COLLISION : 0;
    check_all_held(sim, k == 1);
  }
  run_close(&r);
}

/* ---- landings ---- */

/* g h/2, less where contacts bounce; for at least 16 contacts that are closed or have collided. */
static void test_landings(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  for (int n = 15; n <= 16; n++)
    for (int kind = 0; kind < 3; kind++) {
      sim->trial.n_contacts = 0;
      for (int i = 0; i < n; i++) {
        ss_contact *c = add(sim, 0, 0);
        c->closed = kind == 0 || (kind == 2 && i % 2);
        c->hits = kind == 1 || (kind == 2 && i % 2 == 0);
      }
      add(sim, 0, 0);
      ss_landing_begin(sim);
      check_near(sim->crowd.landing_speed, n == 16 ? h * gravity / 2 : 0, 1e-15, "landing");
    }
  const double speed = sim->crowd.landing_speed;
  static const double e[] = {0, 0.5, 0.6, 0.8, 1, 1.1}, share[] = {1, 1, 2. / 3, 0.25, 0, 0};
  for (int i = 0; i < 6; i++) {
    ss_contact *c = add(sim, 0, 0);
    c->restitution = e[i];
    check_near(ss_landing_speed(sim, c), share[i] * speed, 1e-15, "of this contact");
    assert_true(ss_lands_gently(sim, c, -0.999 * share[i] * speed));
    assert_false(ss_lands_gently(sim, c, -1.001 * share[i] * speed - 1e-12));
    c->hits = SS_MOST_BOUNCES - 1;
    check_near(ss_landing_speed(sim, c), share[i] * speed, 1e-15, "of one that has bounced");
    c->hits = SS_MOST_BOUNCES;
    check_near(ss_landing_speed(sim, c), e[i] >= 1 ? speed : share[i] * speed, 1e-15, "of one that has bounced enough");
  }
  sim->options.tolerance = 1e-3; /* these want every collision located */
  ss_landing_begin(sim);
  assert_true(sim->crowd.landing_speed == 0);
  sim->options.tolerance = 0;
  sim->chosen.located = 0;
  ss_landing_begin(sim);
  assert_true(sim->crowd.landing_speed == 0);
  assert_false(ss_lands_gently(sim, &sim->trial.contacts[0], 0));
  run_close(&r);
}

/* Closed contacts of a crowd that approach at the start of a step. */
static void test_settling(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  add_closed(sim, 16);
  ss_landing_begin(sim);
  for (int k = 0; k < 16; k++) {
    ss_contact *c = add(sim, 0, k & 1 ? -1.01e-3 * h * gravity : -0.99e-3 * h * gravity);
    c->closed = true;
    c->restitution = k & 2 ? 0.9 : 1;
    sim->step.starts = k & 4;
    sim->crowd.landing_speed = k & 8 ? 0.1 : 0;
    assert_int_equal(ss_settles(sim, c), k == 15);
    ss_active_set(sim);
    assert_int_equal(sim->part.impact, (k & 7) == 7); /* which begins with the landings anew */
    assert_true(sim->crowd.settling);
    c->at.gap = 1e-3; /* closed, and apart */
    ss_active_set(sim);
    assert_false(sim->part.impact);
    sim->trial.n_contacts--;
  }
  run_close(&r);
}

/* In a crowd contacts collide across small gaps, a 16th of the way at the landing speed. */
static void test_collisions_across_small_gaps(void **state) {
  (void)state;
  static const held list[] = {
      {0.99, -1.01, false, 0, 0, true, true, true},    {1.01, -1.01, false, 0, 0, false, false, false},
      {0.99, -0.99, false, 0, 0, false, false, false}, {0.99, 1.01, false, 0, 0, false, false, false},
      {0, -1.01, false, 0, 0, true, true, true},       {0, -0.99, false, 0, 0, true, true, false},
      {0, 0.99, false, 0, 0, true, true, false},       {0, 1.01, false, 0, 0, false, true, false}};
  run r;
  open_balls(&r);
  add_closed(r.sim, 16);
  check_held(r.sim, list, sizeof list / sizeof *list, h * h * gravity / 2 / 16, h * gravity / 2);
  run_close(&r);
}

/* ---- dense crowds ---- */

/* A contact that strikes within the step, between bodies of its own unless `same`. */
static ss_contact *add_striking(ss_sim *sim, int pair) {
  ss_contact *c = add(sim, 1e-3, -0.2);
  c->body[0] = 2 * pair, c->body[1] = 2 * pair + 1;
  return c;
}

static bool dense(ss_sim *sim, int closed, int striking) {
  sim->trial.n_contacts = 0;
  add_closed(sim, closed);
  for (int i = 0; i < striking; i++) add_striking(sim, i);
  return ss_crowd_is_dense(sim, h);
}

static void test_dense_crowds(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  assert_true(dense(sim, 64, 0));
  assert_false(dense(sim, 63, 0));
  assert_true(dense(sim, 63, 1));
  assert_true(dense(sim, 8, 8));
  assert_false(dense(sim, 7, 8));
  assert_false(dense(sim, 9, 7));
  assert_false(dense(sim, 30, 7));
  assert_true(dense(sim, 30, 8));
  sim->trial.contacts[34].restitution = 1;
  assert_false(ss_crowd_is_dense(sim, h));
  sim->trial.contacts[34].restitution = 0.99;
  assert_true(ss_crowd_is_dense(sim, h));
  sim->trial.contacts[0].restitution = 1; /* it does not collide */
  assert_true(ss_crowd_is_dense(sim, h));
  sim->trial.contacts[34].limit = true;
  assert_false(ss_crowd_is_dense(sim, h));
  assert_true(dense(sim, 30, 8)); /* contacts of the same two bodies are one collision */
  sim->trial.contacts[34].body[0] = sim->trial.contacts[33].body[0];
  assert_true(ss_crowd_is_dense(sim, h));
  sim->trial.contacts[34].body[1] = sim->trial.contacts[33].body[1];
  assert_false(ss_crowd_is_dense(sim, h));
  /* what has collided counts where it is, what lands gently counts as busy only */
  assert_true(dense(sim, 8, 8));
  sim->trial.contacts[8].rate = 1, sim->trial.contacts[8].hits = 1;
  assert_true(ss_crowd_is_dense(sim, h));
  sim->trial.contacts[8].rate = -0.0501, sim->trial.contacts[8].hits = 0;
  sim->trial.contacts[8].at.gap = 1e-4;
  assert_true(ss_crowd_is_dense(sim, h));
  sim->trial.contacts[8].rate = -0.0499;
  assert_false(ss_crowd_is_dense(sim, h));
  add_striking(sim, 40);
  assert_true(ss_crowd_is_dense(sim, h));
  run_close(&r);
}

/* Only where nothing asks for located collisions, and the scheme can. */
static void test_who_may_be_dense(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  ss_scheme scheme = *sim->scheme;
  sim->scheme = &scheme;
  sim->options.has_events = false;
  sim->chosen.located = SS_EVENT_COLLISION;
  assert_true(dense(sim, 64, 0));
  sim->options.has_events = true;
  assert_false(dense(sim, 64, 0));
  sim->options.has_events = false;
  sim->chosen.located = 0;
  assert_false(dense(sim, 64, 0));
  sim->chosen.located = SS_EVENT_COLLISION;
  sim->options.tolerance = 1e-3;
  assert_false(dense(sim, 64, 0));
  sim->options.tolerance = 0;
  scheme.position_level = true;
  assert_false(dense(sim, 64, 0));
  scheme.position_level = false;
  scheme.compliant = true;
  assert_false(dense(sim, 64, 0));
  scheme.compliant = false;
  sim->step.exhausted = true;
  assert_false(dense(sim, 64, 0));
  sim->step.exhausted = false;
  assert_true(dense(sim, 64, 0));
  run_close(&r);
}

static bool collides_alone(ss_sim *sim, double gap, double rate, bool closed) {
  sim->trial.n_contacts = 0;
  add(sim, 1, 1);
  add(sim, gap, rate)->closed = closed;
  return ss_crowd_collides(sim, h);
}

/* Where it touches: faster than gently; else: across gap = h (v + g h). */
static void test_what_closes_in_a_crowd(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  const double gentle = 1e-3 * h * gravity, way = h * (0.3 + h * gravity);
  assert_true(collides_alone(sim, 0, -1.01 * gentle, false));
  assert_false(collides_alone(sim, 0, -0.99 * gentle, false));
  assert_false(collides_alone(sim, 0, -1.01 * gentle, true));
  assert_true(collides_alone(sim, 0.99 * way, -0.3, false));
  assert_false(collides_alone(sim, 1.01 * way, -0.3, false));
  assert_false(collides_alone(sim, 0.99 * way, -0.3, true));
  assert_true(collides_alone(sim, 0.99 * h * h * gravity / 2, h * gravity / 2, false));
  assert_false(collides_alone(sim, 1.01 * h * h * gravity / 2, h * gravity / 2, false));
  run_close(&r);
}

/* Held is what may close within h at the speed of either body alone or both, and what gravity adds; bounces are returned where gravity
 * does not take them back at once. */
static void test_what_a_dense_part_holds(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  static const struct {
    double a, b; /* speeds of the two bodies along x; the normal is from b to a, -x */
    double closing;
  } moves[] = {{3, 0, 3}, {0, -4, 4}, {3, -4, 7}, {-3, -4, 4}, {3, 4, 3}, {-1, 1, -1}};
  for (int k = 0; k < 6; k++)
    for (int far = 0; far < 2; far++) {
      sim->state.v[r.model->bodies[0].first] = moves[k].a;
      sim->state.v[r.model->bodies[1].first] = moves[k].b;
      sim->trial.n_contacts = sim->trial.n_active = 0;
      const double reach = h * (moves[k].closing + 2 * h * gravity) + ss_touch_gap(sim);
      ss_contact *c = add(sim, reach + (far ? 1e-9 : -1e-9), moves[k].b - moves[k].a);
      c->lands = true;
      ss_crowd_begin(sim, h);
      assert_int_equal(c->active, !far);
      assert_int_equal(sim->trial.n_active, !far);
      assert_false(c->lands);
      assert_true(sim->crowd.dense && sim->part.asked.alpha == 1 && sim->part.asked.gamma == 1);
      ss_crowd_begin(sim, h); /* held already */
      assert_int_equal(sim->trial.n_active, !far);
    }
  const double back = h * gravity; /* what gravity takes back */
  static const struct {
    double gap, speed; /* in units of the way, of what gravity takes back */
    bool closed, returned;
  } bounces[] = {{0.99, 1.01, false, true}, {1.01, 1.01, false, false}, {0.99, 0.99, false, false},
                 {0.99, 1.01, true, false}, {0, 1.01, false, true},     {0, -1.01, false, false}};
  for (int k = 0; k < 6; k++) {
    const double e = 0.4, speed = bounces[k].speed * back / e;
    sim->trial.n_contacts = 0;
    ss_contact *c = add(sim, bounces[k].gap * h * speed, -speed);
    c->closed = bounces[k].closed, c->restitution = e;
    ss_crowd_begin(sim, h);
    assert_true(c->bounce == (bounces[k].returned ? e : 0));
  }
  run_close(&r);
}

/* Many boxes at rest on the floor make the crowd; far above it three balls in a row, in free fall: the first strikes the second, which
 * then strikes the third within the same step, though nothing said so at its start. */
static void parse_row_of_balls(run *r, double restitution) {
  static char text[1 << 14];
  int used = snprintf(text, sizeof text,
                      "materials: [{name: default, friction: 0.3}, {name: ball, friction: 0, restitution: %g}]\n"
                      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                      "bodies:\n",
                      restitution);
  for (int i = 0; i < 3; i++)
    used +=
        snprintf(text + used, sizeof text - (size_t)used,
                 "  - {name: ball%d, mass: 1, position: [%g, 0, 100], velocity: [%d, 0, 0], shapes: [{type: sphere, "
                 "radius: 0.5, material: ball}]}\n",
                 i,
                 i == 0   ? -1.25
                 : i == 1 ? 0
                          : 1.02,
                 i == 0 ? 10 : 0);
  for (int i = 0; i < 17; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: box%d, mass: 1, position: [%d, 0, 0.5], shapes: [{type: box, size: [1, 1, 1]}]}\n", i,
                     2 * i);
  (void)snprintf(text + used, sizeof text - (size_t)used,
                 "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n");
  run_parse(r, text, NULL);
}

static void test_blows_that_go_on_within_a_dense_step(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    run r;
    parse_row_of_balls(&r, 0.5 * k);
    r.sim->chosen.divides = false; /* all boxes below belong to the crowd */
    for (int step = 0; step < 6; step++) {
      run_step(&r);
      double momentum = 0, energy = 0;
      for (int i = 0; i < 3; i++) {
        momentum += run_velocity(&r, i).x;
        energy += run_velocity(&r, i).x * run_velocity(&r, i).x;
        if (i > 0) assert_true(run_position(&r, i).x - run_position(&r, i - 1).x >= 1 - 1e-9);
      }
      check_near(momentum, 10, 1e-8, "momentum");
      /* gaps of 0.05 and 0.02 are closed within the step: v0 - v1 = 5 (with e = 1/2: -5), v1 - v2 = 2, and the momentum is 10 */
      static const double first[2][3] = {{22. / 3, 7. / 3, 1. / 3}, {2. / 3, 17. / 3, 11. / 3}};
      for (int i = 0; i < 3 && step == 2; i++)
        check_near(run_velocity(&r, i).x, first[k][i], 1e-6, "in the step of the blow");
      assert_true(energy <= 100 * (1 + 1e-9));
      /* contacts that have given something and go on approaching are remembered, but for those that bounce */
      for (int i = 0; i < r.sim->trial.n_contacts && step == 2; i++) {
        const ss_contact *c = &r.sim->trial.contacts[i];
        const bool first_two = c->body[0] + c->body[1] == 1 && c->body[0] >= 0 && c->body[1] >= 0;
        const bool last_two = c->body[0] + c->body[1] == 3 && c->body[0] >= 1 && c->body[1] >= 1;
        assert_int_equal(c->hops, (first_two && k == 0) || last_two);
        assert_int_equal(c->closed, !first_two && !last_two);
      }
    }
    if (k == 0) /* plastic: all three go on together */
      for (int i = 0; i < 3; i++) check_near(run_velocity(&r, i).x, 10. / 3, 1e-6, "together");
    run_close(&r);
  }
}

/* ---- blows that are passed on ---- */

/* Balls of radius 1/2, or cubes, on the x axis; how many impacts of the first 0.1 s went on through bodies that only touched. */
static int passed_on_of(const char *shape, double restitution, int n, const double *x, const double *v, bool wall) {
  char text[2048];
  int used = snprintf(
      text, sizeof text, "gravity: [0, 0, 0]\nmaterials: [{name: default, friction: 0, restitution: %g}]\n%sbodies:\n",
      restitution, wall ? "world: {shapes: [{type: half-space, normal: [-1, 0, 0], offset: -0.5}]}\n" : "");
  for (int i = 0; i < n; i++)
    used += snprintf(
        text + used, sizeof text - (size_t)used,
        "  - {name: b%d, mass: 1, position: [%.17g, 0, 0], velocity: [%g, 0, 0], freedom: [x], shapes: [%s]}\n", i,
        x[i], v[i], shape);
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.1, duration: 1}\n");
  run r;
  run_parse(&r, text, NULL);
  run_step(&r);
  const int count = (int)r.sim->report.solves.passed_on;
  assert_true(r.sim->report.solves.impacts > 0);
  run_close(&r);
  return count;
}

static int passed_on(double restitution, int n, const double *x, const double *v, bool wall) {
  return passed_on_of("{type: sphere, radius: 0.5}", restitution, n, x, v, wall);
}

static void test_blows_that_are_passed_on(void **state) {
  (void)state;
  const double row[] = {-1.1, 0, 1}, fast[] = {2, 0, 0}, apart[] = {-1.1, 0, 1.5};
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  for (int k = 0; k < 6; k++) { /* whatever the bodies' numbers */
    double x[5], v[5];
    for (int i = 0; i < 3; i++) x[orders[k][i]] = row[i], v[orders[k][i]] = fast[i];
    assert_int_equal(passed_on(0.5, 3, x, v, false), 1);
    x[orders[k][2]] = 1.5; /* they do not touch, but two others do, elsewhere */
    for (int i = 3; i < 5; i++) x[i] = 7 + i, v[i] = 0;
    assert_int_equal(passed_on(0.5, 5, x, v, false), 0);
  }
  assert_int_equal(passed_on(0, 3, row, fast, false), 0);     /* nothing would have been returned */
  assert_int_equal(passed_on(0.5, 3, apart, fast, false), 0); /* they do not touch */
  assert_int_equal(passed_on(0.5, 2, row, fast, false), 0);   /* nobody to pass it on to */
  assert_int_equal(passed_on(0.5, 2, row, fast, true), 0);    /* the wall is no body, whichever of a pair it is */
  assert_int_equal(passed_on_of("{type: box, size: [1, 1, 1]}", 0.5, 2, row, fast, true), 0);
  const double other[] = {-1.1, 0, 1, 10, 11}, turned[] = {2, 0, 0, 0, 0};
  assert_int_equal(passed_on(0.5, 5, other, turned, false), 1); /* two that only touch each other, elsewhere */
  const double pulled[] = {-1.1, 0, 1}, leaves[] = {2, 0, 1};   /* the third leaves: the blow does not reach it */
  assert_int_equal(passed_on(0.5, 3, pulled, leaves, false), 0);
}

/* ---- rest ---- */

static void test_who_is_stopped(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  double *speed = &sim->state.v[r.model->bodies[1].first];
  *speed = 0.99 * h * gravity / 16;
  ss_find_idle(sim);
  assert_true(ss_is_idle(sim, 1));
  *speed = -1.01 * h * gravity / 16;
  ss_find_idle(sim);
  assert_false(ss_is_idle(sim, 1));
  assert_true(ss_is_idle(sim, -1));
  for (int k = 0; k < 16; k++) {
    sim->crowd.landing_speed = k & 1 ? 0 : 0.1;
    sim->crowd.calm_fails = k & 2;
    sim->trial.asked.alpha = k & 4 ? 1 : 0.5;
    sim->chosen.located = k & 8 ? SS_EVENTS_ALL : SS_EVENT_COLLISION;
    assert_int_equal(ss_calms(sim), k == 0);
  }
  run_close(&r);
}

/* ---- where a force reaches its limit ---- */

static void test_crossing(void **state) {
  (void)state;
  /* mean 2 around t = 1, mean 3 around t = 1.5: 2 per unit of time; the part is 0.4 long, its middle at 1.5 */
  check_near(ss_crossing(2, 1, 3, 1.5, 3.2, 0.4), 0.3, 1e-15, "behind the middle");
  check_near(ss_crossing(2, 1, 3, 1.5, 2.8, 0.4), 0.1, 1e-15, "before it");
  check_near(ss_crossing(2, 1, 3, 1.5, 3.39, 0.4), 0.395, 1e-14, "near the end");
  check_near(ss_crossing(2, 1, 3, 1.5, 2.61, 0.4), 0.005, 1e-14, "near the start");
  assert_true(ss_crossing(2, 1, 3, 1.5, 3.41, 0.4) == 0.4);
  assert_true(ss_crossing(2, 1, 3, 1.5, 2.59, 0.4) == 0.4);
  assert_true(ss_crossing(2, NAN, 3, 1.5, 3.2, 0.4) == 0.4);
  check_near(ss_crossing(3, 1, 2, 1.5, 1.8, 0.4), 0.3, 1e-15, "falling");
}

/* ---- how often a gap is looked at ---- */

/* A ball that falls on the floor: its gap is a parabola, which the cubic is, too: the end, the middle, two brackets, the root. A ball past a ball: more, but few. */
static void test_a_collision_takes_few_looks(void **state) {
  (void)state;
  for (int k = 0; k < 20; k++) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "gravity: [0, 0, -10]\n"
                   "world: {shapes: [{type: %s}]}\n"
                   "bodies: [{name: a, mass: 2, position: [%g, 0, 0.52], velocity: [0, 0, -5], shapes: [{type: sphere, "
                   "radius: 0.5}]}]\n"
                   "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, events: [collision]}\n",
                   k < 10 ? "half-space, normal: [0, 0, 1], offset: 0"
                          : "sphere, radius: 0.25, position: [0, 0, -0.25]",
                   k < 10 ? 0 : 0.02 * (k - 9));
    run r;
    run_parse(&r, text, NULL);
    const double x = k < 10 ? 0 : 0.02 * (k - 9);
    const double height = k < 10 ? 0.02 : 0.52 + 0.25 - sqrt(0.75 * 0.75 - x * x);
    r.sim->state.v[r.model->bodies[0].first + 2] = -5 - 0.3 * (k % 10);
    const double v = 5 + 0.3 * (k % 10);
    run_step(&r);
    assert_int_equal(r.n_collisions, 1);
    check_near(r.collision_time[0], 2 * height / (v + sqrt(v * v + 20 * height)), 1e-12, "collision");
    assert_true(r.sim->step.looks <= (k < 10 ? 10 : 20));
    run_close(&r);
  }
}

/* ---- how many trials it takes ---- */

typedef struct told {
  double t;
  int n;
  ss_event_kind kind;
} told;

static void note(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  told *w = user;
  if (event->kind != w->kind) return;
  w->t = event->t;
  w->n++;
}

static ss_status every_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

/* A ball that cannot turn slides to rest on the floor: v = v0 - mu g t, linear, so that the secant finds its end with one trial more. */
static long solves_to_stop(const char *scheme, double v, told *w) {
  char text[1024];
  (void)snprintf(
      text, sizeof text,
      "gravity: [0, 0, -10]\n"
      "materials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies: [{name: a, mass: 2, position: [0, 0, 0.5], velocity: [%.17g, 0, 0], freedom: [x, y, z], shapes: [{type: "
      "sphere, radius: 0.5}]}]\n"
      "simulation: {scheme: %s, step: 0.01, duration: 0.1, events: [collision, stick-slip]}\n",
      v, scheme);
  run r;
  ss_error error = {0};
  run_parse(&r, text, NULL);
  *w = (told){.kind = SS_STICK};
  run_require(ss_sim_observe(r.sim, &(ss_observer){.user = w, .step = every_step, .event = note}, &error), &error,
              "observe");
  for (int step = 0; step < 10; step++) run_step(&r);
  const double slid = run_position(&r, 0).x;
  check_near(run_velocity(&r, 0).x, 0, 1e-12, "at rest");
  if (strcmp(scheme, "trapezoidal") == 0) check_near(slid, v * v / 10, 1e-12, "slid");
  const long count = r.sim->report.solves.count;
  run_close(&r);
  return count;
}

static void test_an_arrest_takes_few_trials(void **state) {
  (void)state;
  static const char *const schemes[] = {"trapezoidal", "anitescu-potra"};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 10; i++) {
      const double v = 0.1 + 0.01 * (i + 0.3); /* stops after 0.0206 to 0.0386 s */
      told w;
      const long count = solves_to_stop(schemes[k], v, &w);
      assert_int_equal(w.n, 1);
      check_near(w.t, v / 5, 1e-9, "when it stops");
      /* a part for each step and one more, halves until a trial falls short of the end, and the secant */
      const double share = fmod(v / 5, 0.01) / 0.01;
      const int halves = (int)floor(-log2(share)) + 1;
      if (k == 1) assert_int_equal(count, 10 + 1 + halves + 1);
      assert_true(count <= 26);
    }
}

/* ---- trials that fail ---- */

static ss_status (*solve)(ss_sim *sim, ss_asked asked, ss_error *error);
static struct {
  int calls, fails_at;
  bool with_error;
} trials;

/* The scheme's own trial; one of them has no certified solution, or fails. */
static ss_status try_or_fail(ss_sim *sim, ss_asked asked, ss_error *error) {
  const bool fails = ++trials.calls == trials.fails_at;
  if (fails && trials.with_error) return ss_fail(error, SS_ERROR_MEMORY, "trial %d", trials.calls);
  const ss_status status = solve(sim, asked, error);
  if (fails) sim->trial.certified = false;
  return status;
}

/* One step, in which the n-th trial fails. */
static ss_status step_with_failure(const char *text, int steps, int n, bool with_error, run *r) {
  ss_error error = {0};
  run_parse(r, text, NULL);
  for (int i = 1; i < steps; i++) run_step(r);
  solve = r->sim->chosen.attempt;
  r->sim->chosen.attempt = try_or_fail;
  trials.calls = 0, trials.fails_at = n, trials.with_error = with_error;
  const ss_status status = ss_sim_step(r->sim, &error);
  if (status != SS_OK) assert_non_null(strstr(error.message, "trial "));
  return status;
}

typedef struct failing {
  const char *text;
  int steps;     /* the last one has the event */
  double x, v;   /* of the first body along x after it */
  int least;     /* trials */
  double within; /* of x */
} failing;

#define FLOOR                                                                                                          \
  "gravity: [0, 0, -10]\n"                                                                                             \
  "materials: [{name: default, friction: 0.5}]\n"                                                                      \
  "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"

static const failing failings[] = {
    {FLOOR "bodies: [{name: a, mass: 2, position: [0, 0, 0.5], velocity: [0.113, 0, 0], freedom: [x, y, z], shapes: "
           "[{type: sphere, "
           "radius: 0.5}]}]\n"
           "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, events: [stick-slip]}\n",
     3, 0.113 * 0.113 / 10, 0, 4, 1e-9}, /* slides to rest */
    {FLOOR
     "bodies: [{name: a, mass: 2, position: [0, 0, 0.5], freedom: [x, y, z], shapes: [{type: sphere, radius: 0.5}]}]\n"
     "forces: [{type: applied, on: a, force: ['400*t', 0, 0]}]\n"
     "simulation: {scheme: trapezoidal, step: 0.01, duration: 1, events: [stick-slip, take-off]}\n",
     3, 100. / 3 * 125e-9, 100 * 25e-6, 1, 1e-5}, /* begins to slip at 0.025 */
    {"gravity: [10, 0, 0]\n"
     "materials: [{name: default, friction: 0, restitution: 1}]\n"
     "world: {shapes: [{type: half-space, normal: [-1, 0, 0], offset: -0.003125}]}\n"
     "bodies: [{name: a, mass: 2, freedom: [x, y, z], shapes: [{type: point}]}]\n"
     "simulation: {scheme: trapezoidal, step: 0.02, duration: 1, events: [collision, stick-slip]}\n",
     2, 0.003125 - 0.25 * 0.015 + 5 * 0.015 * 0.015, -0.25 + 10 * 0.015, 2, 1e-9}, /* strikes a wall after 0.025 */
};

/* An error is handed on whichever trial it meets; without a certified solution nothing is accepted, and the way goes on without it. */
static void test_trials_that_fail(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof failings / sizeof *failings; k++) {
    const failing *f = &failings[k];
    run r;
    assert_int_equal(step_with_failure(f->text, f->steps, 0, false, &r), SS_OK);
    const int calls = trials.calls;
    assert_true(calls >= f->least);
    check_near(run_position(&r, 0).x, f->x, f->within, "place");
    check_near(run_velocity(&r, 0).x, f->v, 1e-9, "speed");
    run_close(&r);
    for (int n = 1; n <= calls; n++) {
      assert_int_equal(step_with_failure(f->text, f->steps, n, true, &r), SS_ERROR_MEMORY);
      assert_int_equal(trials.calls, n);
      run_close(&r);
      assert_int_equal(step_with_failure(f->text, f->steps, n, false, &r), SS_OK);
      const bool refines = k == 2 && n == 2; /* a collision: its part as it was will do */
      assert_int_equal(r.sim->report.solves.cuts, !refines);
      check_near(run_position(&r, 0).x, f->x, f->within, "place");
      check_near(run_velocity(&r, 0).x, f->v, 1e-9, "speed");
      assert_int_equal(r.sim->n_kept, 0);
      run_close(&r);
    }
  }
}

static const ss_contact_motion motions[] = {SS_MOTION_SLIP, SS_MOTION_SLIP, SS_MOTION_SLIP,
                                            SS_MOTION_SPIN, SS_MOTION_ROLL, SS_MOTION_ROLL};

/* A contact that presses, with friction against slip, spin and rolling. */
static ss_contact *add_with_moments(ss_sim *sim) {
  ss_contact *c = add(sim, 0, 0);
  c->row = 0, c->n_rows = 6, c->n_forces = 3;
  for (int k = 0; k < 6; k++) c->motion[k] = motions[k];
  c->mu = 0.5;
  c->impulse[0] = 2;
  c->pressed_before = c->closed = true;
  return c;
}

enum { SPINS = 1 << SS_MOTION_SPIN, ROLLS = 1 << SS_MOTION_ROLL };

/* Which motions are held: those below 1e-9 of the speeds of the scene; where forces and moments have one limit together and
 * something moves, below 1e-9 of that. */
static void test_which_motions_are_held(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  for (int box = 0; box < 2; box++) {
    sim->options.cone = box ? SS_CONE_PYRAMID : SS_CONE_QUADRATIC;
    ss_contact *c = add_with_moments(sim);
    c->ratio = 0.7;
    c->impulse[3] = 0.3, c->impulse[4] = -0.2, c->impulse[5] = 0.4;
    const double still = 1e-9;
    const double all[] = {0, 0, 0, 0, 0, 0}, spin[] = {0, 0, 0, 1e-3, 0, 0},
                 slow[] = {0, 0.7 * still, 0, 0, 0.7 * still, 0.7 * still};
    const double beside[] = {0, 0, 0.99e-9, 1, 1.01e-9, 0};
    ss_note_held(sim, c, all);
    assert_true(c->stuck && c->held == (SPINS | ROLLS));
    check_near(c->moment_ratio[SS_MOTION_SPIN], box ? 0.3 : 0.7, 1e-15, "of spin");
    check_near(c->moment_ratio[SS_MOTION_ROLL], box ? 0.4 : 0.7, 1e-15, "of rolling");
    ss_note_held(sim, c, spin);
    assert_true(c->stuck && c->held == ROLLS);
    ss_note_held(sim, c, slow);
    assert_true(c->stuck == box && c->held == (box ? SPINS | ROLLS : SPINS));
    ss_note_held(sim, c, beside);
    assert_true(c->stuck && c->held == 0);
    c->blur = 1e-5; /* what the residual leaves open, where something was held */
    const double blurred[] = {0, 0, 0, 0, 0.99e-5, 0}, beyond[] = {0, 0, 0, 0, 1.01e-5, 0};
    ss_note_held(sim, c, blurred);
    assert_true(c->held == (box ? SPINS : SPINS | ROLLS));
    c->was_held = SPINS;
    ss_note_held(sim, c, blurred);
    assert_true(c->held == (SPINS | ROLLS));
    ss_note_held(sim, c, beyond);
    assert_true(c->held == SPINS);
    c->blur = 0;
    c->impulse[0] = 0; /* nothing presses: what was held stays so */
    c->was_stuck = true, c->was_held = SPINS;
    ss_note_held(sim, c, all);
    assert_true(c->stuck && c->held == SPINS);
    c->was_stuck = false, c->was_held = ROLLS;
    ss_note_held(sim, c, all);
    assert_true(!c->stuck && c->held == ROLLS);
    c->was_held = 0;
    ss_note_held(sim, c, all);
    assert_true(c->held == 0);
    c->impulse[0] = 2;
    c->n_forces = 1, c->n_rows = 2, c->motion[1] = SS_MOTION_SPIN; /* no friction against slip */
    c->stuck = true;
    ss_note_held(sim, c, all);
    assert_true(c->stuck && c->held == SPINS);
    sim->trial.n_contacts = 0;
  }
  run_close(&r);
}

static void test_moments_let_go(void **state) {
  (void)state;
  ss_contact c = {.was_held = SPINS | ROLLS, .held = SPINS | ROLLS, .moment_ratio = {9, 0.5, 0.6}};
  assert_false(ss_moments_let_go(&c, HUGE_VAL));
  assert_false(ss_moments_let_go(&c, 0.61));
  assert_true(ss_moments_let_go(&c, 0.6));
  c.was_held = SPINS;
  assert_false(ss_moments_let_go(&c, 0.6));
  assert_true(ss_moments_let_go(&c, 0.5));
  c.was_held = c.held = ROLLS;
  assert_false(ss_moments_let_go(&c, 0.61));
  assert_true(ss_moments_let_go(&c, 0.6));
  c.held = SPINS;
  assert_true(ss_moments_let_go(&c, HUGE_VAL));
  c.was_held = 1U << SS_MOTION_SLIP, c.held = 0; /* not a moment's */
  assert_false(ss_moments_let_go(&c, HUGE_VAL));
}

/* Box: the first of slip, spin and rolling that is held and rises to its limit; otherwise all of them at once. */
static void test_moments_foreseen(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  ss_contact *c = add_with_moments(sim);
  const double part = 0.4;
  c->last_when = 1, c->when = 1.5;      /* rises by 2 (now - before) per unit of time, 0.2 behind the start */
  c->last_ratio = 0.9, c->ratio = 0.95; /* 1 after 0.5 */
  c->last_moment_ratio[SS_MOTION_SPIN] = 0.8, c->moment_ratio[SS_MOTION_SPIN] = 0.98;
  c->last_moment_ratio[SS_MOTION_ROLL] = 0.5, c->moment_ratio[SS_MOTION_ROLL] = 0.9;
  const double slip = 0.2 + 0.05 / 0.1, spin = 0.2 + 0.02 / 0.36, roll = 0.2 + 0.1 / 0.8;
  assert_true(slip > part && spin < roll && roll < part);
  c->was_stuck = c->stuck = true;
  c->was_held = c->held = SPINS | ROLLS;
  sim->options.cone = SS_CONE_PYRAMID;
  check_near(ss_moments_foreseen(sim, c, part), spin, 1e-12, "spin");
  c->held = ROLLS;
  check_near(ss_moments_foreseen(sim, c, part), roll, 1e-12, "rolling");
  c->held = SPINS | ROLLS, c->was_held = ROLLS;
  check_near(ss_moments_foreseen(sim, c, part), roll, 1e-12, "rolling, held before");
  c->moment_ratio[SS_MOTION_ROLL] = 0.4; /* falls */
  assert_true(ss_moments_foreseen(sim, c, part) == part);
  c->ratio = 0.99; /* 1 after 0.2 + 0.01/0.18 */
  check_near(ss_moments_foreseen(sim, c, part), 0.2 + 0.01 / 0.18, 1e-12, "slip");
  c->n_forces = 2; /* in a plane */
  check_near(ss_moments_foreseen(sim, c, part), 0.2 + 0.01 / 0.18, 1e-12, "slip in a plane");
  for (int k = 0; k < 3; k++) {
    c->was_stuck = k != 0, c->stuck = k != 1, c->n_forces = k == 2 ? 1 : 3;
    assert_true(ss_moments_foreseen(sim, c, part) == part);
  }
  c->was_stuck = c->stuck = true, c->n_forces = 3;
  c->ratio = 0.8; /* falls */
  assert_true(ss_moments_foreseen(sim, c, part) == part);
  sim->options.cone = SS_CONE_QUADRATIC;
  c->ratio = 0.99;
  assert_true(ss_moments_foreseen(sim, c, part) == part); /* not all were held */
  c->was_held = SPINS | ROLLS;
  check_near(ss_moments_foreseen(sim, c, part), 0.2 + 0.01 / 0.18, 1e-12, "all at once");
  c->held = SPINS;
  assert_true(ss_moments_foreseen(sim, c, part) == part);
  c->held = SPINS | ROLLS;
  c->stuck = false;
  assert_true(ss_moments_foreseen(sim, c, part) == part);
  c->n_forces = 1;
  check_near(ss_moments_foreseen(sim, c, part), 0.2 + 0.01 / 0.18, 1e-12, "no friction against slip");
  c->ratio = 0.8;
  assert_true(ss_moments_foreseen(sim, c, part) == part);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_active_set),
      cmocka_unit_test(test_all_contacts_are_held),
      cmocka_unit_test(test_landings),
      cmocka_unit_test(test_settling),
      cmocka_unit_test(test_collisions_across_small_gaps),
      cmocka_unit_test(test_dense_crowds),
      cmocka_unit_test(test_who_may_be_dense),
      cmocka_unit_test(test_what_closes_in_a_crowd),
      cmocka_unit_test(test_what_a_dense_part_holds),
      cmocka_unit_test(test_blows_that_go_on_within_a_dense_step),
      cmocka_unit_test(test_blows_that_are_passed_on),
      cmocka_unit_test(test_who_is_stopped),
      cmocka_unit_test(test_crossing),
      cmocka_unit_test(test_a_collision_takes_few_looks),
      cmocka_unit_test(test_an_arrest_takes_few_trials),
      cmocka_unit_test(test_trials_that_fail),
      cmocka_unit_test(test_which_motions_are_held),
      cmocka_unit_test(test_moments_let_go),
      cmocka_unit_test(test_moments_foreseen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
