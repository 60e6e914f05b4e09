/* What is remembered, told and reported of contacts: the memory from step to step, impulses of a step, limits of joints, deformations of
 * patches, overlaps at the start. Contacts are put together by hand where that says more. */
#include "contact/contact.h"
#include "scene_runner.h"

enum { ROOM = 16 };

static const char *const three_balls =
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [0, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
    "  - {name: b, mass: 1, position: [2, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
    "  - {name: c, mass: 1, position: [4, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
    "simulation: {step: 0.01, duration: 1}\n";

static void open_balls(run *r) {
  ss_error error = {0};
  run_parse(r, three_balls, NULL);
  ss_trial *t = &r->sim->trial;
  run_require(ss_grow((void **)&t->contacts, &t->contact_capacity, ROOM, sizeof *t->contacts, &error), &error, "room");
  t->n_contacts = 0;
}

static ss_contact *add(ss_sim *sim, uint64_t key) {
  static const ss_law law = {.collide = true};
  ss_contact *c = &sim->trial.contacts[sim->trial.n_contacts++];
  assert_true(sim->trial.n_contacts <= ROOM);
  *c = (ss_contact){.key = key, .body = {0, 1}, .law = &law, .row = -1, .at = {.normal = {-1, 0, 0}}};
  return c;
}

static void store(ss_sim *sim) {
  ss_error error = {0};
  run_require(ss_touch_store(sim, &error), &error, "store");
}

static void check_vector(ss_vec3 a, ss_vec3 b, const char *what) { check_near(v3_norm(v3_sub(a, b)), 0, 1e-15, what); }

/* ---- memory ---- */

static void test_memory_gives_back_what_it_got(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  static const uint64_t keys[] = {70, 20, 90, 10, 50};
  for (int i = 0; i < 5; i++) {
    ss_contact *c = add(sim, keys[i]);
    const double x = (double)keys[i];
    c->closed = true;
    c->hits = i, c->hops = 2 * i + 1, c->face = 3 + i;
    c->stuck = i % 2;
    c->held = (unsigned)i;
    c->pressed = v3(x, x + 1, x + 2), c->force = v3(x + 3, x + 4, x + 5), c->twisted = v3(x + 6, x + 7, x + 8);
    c->turn = v3(x + 9, x + 10, x + 11);
    c->load = x + 12, c->ratio = x + 13, c->when = x + 14, c->grip = x + 15;
    c->moment_ratio[SS_MOTION_SPIN] = x + 16, c->moment_ratio[SS_MOTION_ROLL] = x + 17;
  }
  store(sim);
  assert_int_equal(sim->state.n_touch, 5);
  for (int i = 1; i < 5; i++) assert_true(sim->state.touch[i - 1].key < sim->state.touch[i].key);
  for (int i = 0; i < 5; i++) {
    ss_contact c = {.key = keys[i]};
    const double x = (double)keys[i];
    ss_contact_remember(sim, &c);
    assert_true(c.closed && c.pressed_before && !c.met);
    assert_int_equal(c.hits, i);
    assert_int_equal(c.hops, 2 * i + 1);
    assert_int_equal(c.last_face, 3 + i);
    assert_int_equal(c.was_stuck, i % 2);
    assert_int_equal(c.was_held, i);
    check_vector(c.pressed, v3(x, x + 1, x + 2), "impulse");
    check_vector(c.force, v3(x + 3, x + 4, x + 5), "force");
    check_vector(c.twisted, v3(x + 6, x + 7, x + 8), "moment");
    check_vector(c.turn, v3(x + 9, x + 10, x + 11), "turn");
    check_near(c.last_load, x + 12, 0, "load");
    check_near(c.last_ratio, x + 13, 0, "ratio");
    check_near(c.last_when, x + 14, 0, "when");
    check_near(c.grip, x + 15, 0, "grip");
    check_near(c.last_moment_ratio[SS_MOTION_SPIN], x + 16, 0, "spin");
    check_near(c.last_moment_ratio[SS_MOTION_ROLL], x + 17, 0, "rolling");
  }
  ss_contact other = {.key = 60};
  ss_contact_remember(sim, &other);
  assert_true(!other.closed && other.hits == 0);
  run_close(&r);
}

/* What is kept: closed ones, and those that collided in this step; what counts as pressed before: closed, with an impulse, and a load or
 * an impact. */
static void test_what_is_remembered(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  for (int k = 0; k < 64; k++) {
    sim->trial.n_contacts = 0;
    ss_contact *c = add(sim, 7);
    c->closed = k & 1;
    c->hits = k & 2 ? 1 : 0;
    c->hops = k & 4 ? 1 : 0;
    c->pressed = k & 8 ? v3(0, 0, -1) : v3(0, 0, 0);
    c->load = k & 16 ? 1 : 0;
    c->when = k & 32 ? NAN : 1;
    c->force = v3(1, 2, 3);
    store(sim);
    assert_int_equal(sim->state.n_touch, (k & 7) != 0);
    ss_contact found = {.key = 7};
    ss_contact_remember(sim, &found);
    assert_int_equal(found.pressed_before, (k & 1) && (k & 8) && (k & 48));
    assert_int_equal(found.closed, k & 1);
    check_near(v3_norm(found.force), k & 1 ? sqrt(14) : 0, 1e-15, "force");
    assert_false(found.met);
  }
  /* met: an impulse, and neither closed nor collided (a crowd's) */
  for (int k = 0; k < 16; k++) {
    sim->trial.n_contacts = 0;
    ss_contact *c = add(sim, 7);
    c->closed = true;
    c->pressed = v3(0, k & 8 ? 0 : 2, 0);
    store(sim);
    ss_touch *touch = &sim->state.touch[0];
    touch->closed = k & 1, touch->hits = k & 2, touch->hops = k & 4;
    ss_contact found = {.key = 7};
    ss_contact_remember(sim, &found);
    assert_int_equal(found.met, k == 0);
  }
  run_close(&r);
}

/* ---- impulses of a step ---- */

static int reports(const ss_sim *sim, ss_contact_report out[ROOM]) { return ss_sim_contacts(sim, out, ROOM); }

static void test_impulses_of_a_step_add_up(void **state) {
  (void)state;
  ss_error error = {0};
  ss_contact_report out[ROOM];
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  ss_deal_begin(sim);
  static const uint64_t keys[] = {30, 10, 20};
  for (int i = 0; i < 3; i++) {
    ss_contact *c = add(sim, keys[i]);
    c->row = i, c->active = true;
    c->pressed = v3(i + 1, 0, 0);
    c->at.gap = (double)keys[i];
    c->at.point_a = v3(1, 0, 0), c->at.point_b = v3(3, 0, 4);
    c->mu = 0.25;
    c->stuck = true;
  }
  ss_contact *limit = add(sim, 40); /* a joint's limit is not told */
  limit->row = 3, limit->limit = limit->active = true, limit->pressed = v3(1, 0, 0);
  ss_contact *none = add(sim, 50); /* nor one without an impulse */
  none->row = 4;
  ss_contact *watched = add(sim, 60); /* nor one without a row */
  watched->pressed = v3(1, 0, 0);
  run_require(ss_deal(sim, 0.5, &error), &error, "deal"); /* half of the part */
  assert_int_equal(sim->dealt.n, 3);
  ss_deal_more(sim, 10, v3(0, 1, 0));
  ss_deal_more(sim, 99, v3(0, 1, 0)); /* not dealt */
  run_require(ss_deal_also(sim, &sim->trial.contacts[2], v3(0, 0, 2), &error), &error, "also");
  watched->pressed = v3(0, 0, 0);
  run_require(ss_deal_also(sim, watched, v3(0, 0, 5), &error), &error, "also");
  assert_int_equal(sim->dealt.n, 4);
  for (int i = 0; i < 3; i++) sim->trial.contacts[i].at.gap += 100;
  sim->trial.contacts[0].row = -1;
  run_require(ss_deal(sim, 1, &error), &error, "deal");
  assert_int_equal(sim->dealt.n, 4); /* of the same contacts */
  sim->trial.contacts[1].active = false;
  ss_deal_end(sim);
  /* 30 and 20 are there; then, in the order of their keys, what is gone: 10, 60 */
  assert_int_equal(reports(sim, out), 4);
  static const double x[] = {0.5, 4.5, 3, 0}, y[] = {0, 0, 1, 0}, z[] = {0, 2, 0, 5};
  for (int i = 0; i < 4; i++) check_vector(out[i].impulse, v3(x[i], y[i], z[i]), "impulse");
  check_near(out[0].gap, 130, 0, "gap of 30");
  check_near(out[1].gap, 120, 0, "gap of 20");
  check_near(out[2].gap, 110, 0, "gap of 10: the latest");
  check_vector(out[0].point, v3(2, 0, 2), "between the points");
  check_vector(out[0].normal, v3(-1, 0, 0), "normal");
  check_near(out[0].friction, 0.25, 0, "friction");
  assert_true(out[0].stuck && !out[3].stuck && out[0].body[0] == 0 && out[0].body[1] == 1);
  check_vector(out[0].tangent, v3(0, 0, 0), "no patch");
  for (int capacity = 0; capacity < 4; capacity++) {
    memset(out, 0, sizeof out);
    assert_int_equal(ss_sim_contacts(sim, out, capacity), 4);
    for (int i = 0; i < 4; i++) assert_int_equal(v3_norm(out[i].impulse) > 0, i < capacity);
  }
  ss_deal_begin(sim); /* within the next step: what the contacts say themselves */
  sim->trial.contacts[0].pressed = v3(7, 0, 0);
  assert_int_equal(reports(sim, out), 2);
  check_vector(out[0].impulse, v3(7, 0, 0), "within a step");
  run_close(&r);
}

/* ---- limits of joints ---- */

static ss_pose moved(const ss_sim *sim, int body, double time) {
  ss_pose p = ss_pose_of(sim->state.q, body);
  ss_vec3 linear, angular;
  if (body < 0) return p;
  ss_twist_of(sim->model, sim->state.v, body, &linear, &angular);
  p.position = v3_axpy(p.position, time, linear);
  p.orientation = quat_multiply(p.orientation, quat_exp(v3_scale(time, angular)));
  return p;
}

/* The two ends of a range: the gaps add up to it, rows are their derivatives, rates follow from them. */
static void test_limits(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_parse(&r,
            "gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: post, mass: 1, inertia: [1, 1, 1]}\n"
            "  - {name: a, mass: 1, inertia: [1, 2, 3], position: [1, 0, 0], velocity: [0, 0.4, 0.7], "
            "angular_velocity: [0, 0, 0.4]}\n"
            "  - {name: b, mass: 1, inertia: [1, 2, 3], position: [3, 0, 0], velocity: [0, 0, 0.5]}\n"
            "joints:\n"
            "  - {type: spherical, between: [world, post], at: [0, 0, 0]}\n"
            "  - {type: cylindrical, between: [world, a], at: [0, 0, 0], axis: [0, 0, 1], limits: [-0.5, 1]}\n"
            "  - {type: prismatic, between: [world, b], at: [3, 0, 0], axis: [0, 0, 1], limits: [-0.25, 2]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  ss_sim *sim = r.sim;
  sim->trial.n_contacts = 0;
  sim->state.q[7 * 2 + 2] = 0.125; /* b is up by so much */
  run_require(ss_limits_append(sim, &error), &error, "limits");
  assert_int_equal(sim->trial.n_contacts, 4);
  const ss_contact *c = sim->trial.contacts;
  for (int i = 0; i < 4; i++) {
    assert_true(c[i].limit && !c[i].pair && c[i].row == -1);
    check_vector(c[i].at.normal, v3(1, 0, 0), "the coordinate");
    assert_int_equal(c[i].joint, 1 + i / 2);
    assert_int_equal(c[i].upper, i % 2);
    for (int k = 0; k < i; k++) assert_true(c[k].key != c[i].key);
    const double sign = i % 2 ? -1 : 1;
    check_near(fabs(c[i].rate), i < 2 ? fabs(c[0].rate) : 0.5, 1e-12, "rate");
    assert_true(c[i].rate * sign * (i < 2 ? c[0].rate : c[2].rate) > 0);
    /* the row is the gap's derivative: positions moved along the velocities */
    const ss_pose a = ss_pose_of(sim->state.q, c[i].body[0]), b = ss_pose_of(sim->state.q, c[i].body[1]);
    const ss_row row = ss_limit_row(r.model, &c[i], &a, &b);
    check_near(ss_row_dot(r.model, &row, sim->state.v), c[i].rate, 1e-12, "row");
    const double step = 1e-6;
    const ss_pose next_a = moved(sim, c[i].body[0], step), next_b = moved(sim, c[i].body[1], step);
    check_near((ss_limit_gap(r.model, &c[i], &next_a, &next_b) - c[i].at.gap) / step, c[i].rate, 1e-6, "derivative");
  }
  check_near(c[2].at.gap, fabs(0.125 + 0.25), 1e-12, "lower");
  check_near(c[3].at.gap, fabs(2 - 0.125), 1e-12, "upper");
  check_near(c[0].at.gap + c[1].at.gap, 1.5, 1e-12, "range");
  run_close(&r);
}

/* More of them than anything else. */
static void test_many_limits(void **state) {
  (void)state;
  enum { JOINTS = 40 };
  char text[16384];
  int used = snprintf(text, sizeof text, "bodies:\n");
  for (int i = 0; i < JOINTS; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b%d, mass: 1, inertia: [1, 1, 1], position: [%d, 0, 0]}\n", i, i);
  used += snprintf(text + used, sizeof text - (size_t)used, "joints:\n");
  for (int i = 0; i < JOINTS; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {type: prismatic, between: [world, b%d], axis: [0, 0, 1], limits: [-0.01, 1]}\n", i);
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 0.2}\n");
  run r;
  run_parse(&r, text, NULL);
  while (!ss_sim_done(r.sim)) run_step(&r);
  for (int i = 0; i < JOINTS; i++) check_near(run_position(&r, i).z, -0.01, 1e-9, "at its end");
  run_close(&r);
}

/* ---- patches ---- */

/* A patch lives while it is closed, or its shapes overlap; not where the contact is not held, or rigid. */
static void test_which_patches_live(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  ss_patch patch = {.n_elements = 1, .n_directions = 3, .n = 3};
  bool swapped;
  for (int k = 0; k < 8; k++) {
    ss_contact *c = add(sim, 1);
    c->pair = ss_pair_find(SS_SHAPE_SPHERE, SS_SHAPE_SPHERE, &swapped);
    c->shape[1] = 1;
    c->patch = &patch;
    c->active = k & 1, c->closed = k & 2;
    sim->state.q[7] = k & 4 ? 1.001 : 0.999; /* where b is: apart, or not */
    assert_int_equal(ss_patch_lives(sim, c), (k & 1) && ((k & 2) || !(k & 4)));
    c->patch = NULL;
    assert_false(ss_patch_lives(sim, c));
    sim->trial.n_contacts = 0;
  }
  run_close(&r);
}

/* Two patches between the same bodies, one the other way round: elements are counted on over both. */
static void test_elements_are_counted_over_patches(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  ss_patch two = {.n_elements = 4, .n_directions = 3, .n = 12}, one = {.n_elements = 1, .n_directions = 3, .n = 3};
  ss_patch *const patches[] = {&two, &one, &one, &one, &one};
  static const int bodies[][2] = {{0, 1}, {1, 0}, {0, 2}, {0, 1}, {0, 1}};
  for (int i = 0; i < 5; i++) {
    ss_contact *c = add(sim, (uint64_t)i);
    c->patch = patches[i];
    c->body[0] = bodies[i][0], c->body[1] = bodies[i][1];
    c->active = c->closed = i != 3; /* which does not live */
    c->memory = 100 * i;
  }
  add(sim, 9)->active = true; /* rigid */
  double sign = 0;
  for (int k = 0; k < 12; k++) {
    assert_int_equal(ss_patch_find_deformation(sim, 0, 1, k / 3, k % 3, &sign), k);
    assert_true(sign == 1);
    /* seen from the other body: mirrored along the rows of 2 x 2 elements, the last direction turned */
    assert_int_equal(ss_patch_find_deformation(sim, 1, 0, k / 3, k % 3, &sign), (k / 3 ^ 1) * 3 + k % 3);
    assert_true(sign == (k % 3 == 2 ? -1 : 1));
  }
  assert_int_equal(ss_patch_find_deformation(sim, 0, 1, 4, 1, &sign), 101);
  assert_int_equal(ss_patch_find_deformation(sim, 0, 1, 5, 2, &sign), 402);
  assert_int_equal(ss_patch_find_deformation(sim, 0, 1, 6, 0, &sign), -1);
  assert_int_equal(ss_patch_find_deformation(sim, 0, 2, 0, 1, &sign), 201);
  assert_int_equal(ss_patch_find_deformation(sim, 2, 0, 0, 1, &sign), 201);
  assert_int_equal(ss_patch_find_deformation(sim, 0, 2, 1, 1, &sign), -1);
  assert_int_equal(ss_patch_find_deformation(sim, 1, 2, 0, 0, &sign), -1);
  run_close(&r);
}

/* Forces, slip and state of elements from the solution of a part, by hand. */
static void test_what_elements_report(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  ss_sim *sim = r.sim;
  double place[] = {-1, 2, 3, -4, 5, 6, 7, 8}, friction[] = {0.5, 0.5, 0.5, 0.5}, slack[16] = {0}, memory[24] = {0};
  ss_patch patch = {.n_elements = 4, .n_directions = 3, .n = 12, .place = place, .friction = friction};
  double *const kept_slack = sim->trial.problem.slack, *const kept_memory = sim->trial.patch_end;
  sim->trial.problem.slack = slack;
  sim->trial.patch_end = memory;
  sim->trial.problem.h = 0.25;
  sim->step.h = 0.5;
  sim->part.speed_bound = 10;
  const double still = 1e-8 + 2e-14 * r.model->length;
  check_near(ss_patch_still(sim), still, 1e-20, "still");
  add(sim, 1)->active = true; /* a gap of a system: no pair, so it is not listed */
  ss_contact *c = add(sim, 2);
  bool swapped;
  c->pair = ss_pair_find(SS_SHAPE_SPHERE, SS_SHAPE_SPHERE, &swapped);
  c->active = true, c->patch = &patch, c->row = 0, c->n_rows = 3, c->mu = 100;
  for (int k = 0; k < 12; k++) memory[k] = k;                      /* deformations */
  for (int e = 0; e < 4; e++) memory[12 + 3 * e] = e == 3 ? 0 : 1; /* normal impulses: forces of 4 */
  memory[12 + 1] = 0.28, memory[12 + 2] = 0.4;                     /* hypot 0.488 of 0.5: below 0.98 of the limit */
  memory[15 + 1] = 0.3, memory[15 + 2] = 0.4;                      /* at the limit */
  slack[1] = 0.7 * still, slack[2] = -0.7 * still;
  slack[7] = 0.8 * still, slack[8] = 0.8 * still; /* element 2 slips */
  ss_element_report out[4];
  assert_int_equal(ss_sim_elements(sim, 0, out, 4), 4);
  static const bool stuck[] = {true, false, false, false};
  for (int e = 0; e < 4; e++) {
    check_near(out[e].place[0], place[2 * e], 0, "place");
    check_near(out[e].place[1], place[2 * e + 1], 0, "place");
    for (int k = 0; k < 3; k++) {
      check_near(out[e].deformation[k], 3 * e + k, 0, "deformation");
      check_near(out[e].force[k], memory[12 + 3 * e + k] / 0.25, 1e-15, "force");
      if (k > 0) check_near(out[e].slip[k - 1], slack[3 * e + k], 0, "slip");
    }
    assert_int_equal(out[e].closed, e != 3);
    assert_int_equal(out[e].stuck, stuck[e]);
  }
  patch.friction = NULL; /* then the pair's */
  assert_int_equal(ss_sim_elements(sim, 0, out, 2), 4);
  assert_true(out[0].stuck && out[1].stuck);
  assert_int_equal(ss_sim_elements(sim, 1, out, 4), 0);
  c->row = -1;
  assert_int_equal(ss_sim_elements(sim, 0, out, 4), 0);
  sim->trial.problem.slack = kept_slack;
  sim->trial.patch_end = kept_memory;
  run_close(&r);
}

/* Of a standing cylinder the points that are fixed on its rim are kept, and the lowest one, which runs around, is not; where it stands on
 * its rim, or only few points hold it, the lowest one is what carries. */
static int points_of_cylinder(double tilt, double height, int *touching) {
  ss_error error = {0};
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "materials: [{name: default, friction: 0.3}]\n"
                 "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                 "bodies:\n"
                 "  - {name: b, density: 500, position: [0, 0, %.17g], orientation: {axis: [1, 0, 0], angle: %.17g},\n"
                 "     shapes: [{type: cylinder, radius: 0.1, length: 0.2, axis: z}]}\n"
                 "compliance: {young: 1e8, poisson: 0.3, elements: 1, spacing: 1e-3}\n"
                 "simulation: {scheme: compliant, step: 1e-3, duration: 1, friction: {cone: quadratic}}\n",
                 height, tilt);
  run r;
  run_parse(&r, text, NULL);
  ss_sim *sim = r.sim;
  sim->part.speed_bound = 1;
  run_require(ss_broad_phase(sim, 1e-3, &error), &error, "broad phase");
  run_require(ss_narrow_phase(sim, 1e-3, &error), &error, "narrow phase");
  *touching = 0;
  for (int i = 0; i < sim->trial.n_contacts; i++) *touching += sim->trial.contacts[i].at.gap <= 0;
  const int n = sim->trial.n_contacts;
  run_close(&r);
  return n;
}

static void test_points_that_travel(void **state) {
  (void)state;
  int touching;
  const int flat = points_of_cylinder(1e-9, 0.1 - 1e-6, &touching);
  assert_int_equal(flat, 8);
  assert_int_equal(touching, 8);
  const int above = points_of_cylinder(1e-9, 0.1 + 1e-6, &touching); /* none touches: none is left out */
  assert_int_equal(touching, 0);
  assert_int_equal(above, 9);
  (void)points_of_cylinder(0.3, 0.1 * cos(0.3) + 0.1 * sin(0.3) - 1e-6, &touching); /* on its rim */
  assert_true(touching >= 1);
}

/* ---- at the start ---- */

static ss_status compile(const char *format, double x, const char *rest) {
  char text[2048];
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  int used = snprintf(text, sizeof text, format, x);
  (void)snprintf(text + used, sizeof text - (size_t)used, "%s", rest);
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, text);
  const ss_status status = ss_model_create(scene, &model, &error);
  if (status == SS_OK) ss_model_destroy(model);
  ss_scene_destroy(scene);
  return status;
}

/* A thousandth of the smaller shape may overlap; where surfaces give, a quarter of it. */
static void test_overlaps_at_the_start(void **state) {
  (void)state;
  static const char *const balls =
      "bodies:\n"
      "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 2}]}\n"
      "  - {name: b, mass: 1, position: [%.17g, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n";
  static const char *const floor =
      "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
      "bodies:\n"
      "  - {name: a, mass: 1, position: [0, 0, %.17g], shapes: [{type: sphere, radius: 0.5}]}\n";
  static const char *const rigid = "simulation: {step: 0.01, duration: 1}\n";
  static const char *const soft =
      "compliance: {young: 1e6, poisson: 0.3, elements: 1, spacing: 1e-2}\n"
      "simulation: {scheme: compliant, step: 0.01, duration: 1, friction: {cone: quadratic}}\n";
  assert_int_equal(compile(balls, 2.5 - 0.99 * 0.5e-3, rigid), SS_OK);
  assert_int_equal(compile(balls, 2.5 - 1.01 * 0.5e-3, rigid), SS_ERROR_INPUT);
  assert_int_equal(compile(balls, 2.5 - 0.99 * 0.125, soft), SS_OK);
  assert_int_equal(compile(balls, 2.5 - 1.01 * 0.125, soft), SS_ERROR_INPUT);
  assert_int_equal(compile(floor, 0.5 - 0.99 * 0.5e-3, rigid), SS_OK);
  assert_int_equal(compile(floor, 0.5 - 1.01 * 0.5e-3, rigid), SS_ERROR_INPUT);
}

/* Meshes are counted from the end of the shapes, for which there is little room; keys are unlike all others. */
static void test_keys_of_meshes(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "world:\n"
            "  shapes:\n"
            "    - {type: height-field, heights: [[0, 0], [0, 0]], spacing: [1, 1]}\n"
            "    - {type: height-field, heights: [[0, 0], [0, 0]], spacing: [1, 1], position: [5, 0, 0]}\n"
            "bodies:\n"
            "  - {name: a, mass: 1, position: [0, 0, 2], shapes: [{type: sphere, radius: 0.5}, {type: sphere, radius: "
            "0.4}]}\n"
            "  - {name: b, mass: 1, position: [0, 0, 5], shapes: [{type: sphere, radius: 0.5}, {type: sphere, radius: "
            "0.4}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  const int n = r.model->n_shapes;
  assert_int_equal(n, 6);
  for (int i = 0; i < 4; i++)
    for (int j = 4; j < 6; j++) {
      ss_candidate c;
      assert_true(ss_candidate_make(r.model, i, j, &c));
      assert_int_equal(c.key >> 62, 1);
      assert_int_equal(c.key >> 44 & 0x3ffff, i);
      assert_int_equal(c.key >> 32 & 0xfff, 5 - j);
      assert_true(ss_contact_key(&c, 0xffffffff) == (c.key | 0xffffffff));
    }
  run_close(&r);
}

/* Keys tell shapes, features and limits apart. */
static void test_keys(void **state) {
  (void)state;
  run r;
  open_balls(&r);
  uint64_t keys[9];
  int n = 0;
  for (int i = 0; i < 3; i++)
    for (int j = i + 1; j < 3; j++) {
      ss_candidate c;
      assert_true(ss_candidate_make(r.model, i, j, &c));
      assert_false(ss_candidate_make(r.model, i, i, &c)); /* of one body */
      for (uint32_t feature = 0; feature < 3; feature++) keys[n++] = ss_contact_key(&c, feature * 0x7fffff);
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) assert_true(keys[i] != keys[j]);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_memory_gives_back_what_it_got),
      cmocka_unit_test(test_what_is_remembered),
      cmocka_unit_test(test_impulses_of_a_step_add_up),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_many_limits),
      cmocka_unit_test(test_which_patches_live),
      cmocka_unit_test(test_keys_of_meshes),
      cmocka_unit_test(test_elements_are_counted_over_patches),
      cmocka_unit_test(test_what_elements_report),
      cmocka_unit_test(test_points_that_travel),
      cmocka_unit_test(test_overlaps_at_the_start),
      cmocka_unit_test(test_keys),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
