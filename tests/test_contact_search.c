/* The search for contacts against what is known without it: bounds of distances and speeds, pairs whose boxes meet, pairs that are set
 * aside, features that come back, joined bodies that touch. */
#include "contact/contact.h"
#include "scene_runner.h"
#include "step/step.h"

/* ---- capsules around shapes ---- */

static ss_shape box_of(double x, double y, double z) {
  return (ss_shape){
      .type = SS_SHAPE_BOX, .half = {x, y, z}, .reach = sqrt(x * x + y * y + z * z), .local = pose_identity()};
}

static ss_shape long_one(ss_shape_type type, double radius, double half) {
  return (ss_shape){.type = type,
                    .radius = radius,
                    .half = {half, 0, 0},
                    .reach = type == SS_SHAPE_CAPSULE ? radius + half : hypot(radius, half),
                    .local = pose_identity()};
}

static ss_shape ball(double radius) {
  return (ss_shape){.type = SS_SHAPE_SPHERE, .radius = radius, .reach = radius, .local = pose_identity()};
}

/* The bound and the question agree: apart by a little less than the bound, not by a little more. */
static void check_bound(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double expected) {
  check_near(ss_shapes_distance(a, pa, b, pb), expected, 1e-9, "bound");
  check_near(ss_shapes_distance(b, pb, a, pa), expected, 1e-9, "bound, exchanged");
  assert_true(ss_shapes_are_apart(a, pa, b, pb, expected - 1e-6));
  assert_false(ss_shapes_are_apart(a, pa, b, pb, expected + 1e-6));
}

/* Boxes face each other with edges along their longest side: there the capsules around them touch the boxes, and the bound is the
 * distance. `along`: the longest side of the one box, the other's; both turned so that it lies along the world's x. */
static void test_the_bound_is_the_distance_where_edges_face(void **state) {
  (void)state;
  static const double sides[3][3] = {{0.7, 0.3, 0.4}, {0.3, 0.7, 0.4}, {0.3, 0.4, 0.7}};
  const ss_quat lie[3] = {quat_identity(), quat_exp(v3(0, 0, -acos(0))), quat_exp(v3(0, acos(0), 0))};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      const ss_shape a = box_of(sides[i][0], sides[i][1], sides[i][2]),
                     b = box_of(sides[j][0], sides[j][1], sides[j][2]);
      const ss_pose pa = {v3(0, 0, 0), lie[i]}, pb = {v3(0.2, 1.5, 2), lie[j]};
      check_bound(&a, &pa, &b, &pb, 2.5 - 0.5 - 0.5);
      const ss_pose beyond = {v3(1.4 + 3, 0, 4), lie[j]}; /* ends of axes */
      check_bound(&a, &pa, &b, &beyond, 5 - 0.5 - 0.5);
      const ss_shape round = ball(0.25), rod = long_one(SS_SHAPE_CAPSULE, 0.25, 0.5);
      check_bound(&a, &pa, &round, &pb, 2.5 - 0.5 - 0.25);
      const ss_pose level = {pb.position, quat_identity()};
      check_bound(&a, &pa, &rod, &level, 2.5 - 0.5 - 0.25);
    }
}

static void test_the_bound_is_the_distance_of_round_ones(void **state) {
  (void)state;
  const ss_quat across = quat_exp(v3(0, 0, acos(0)));
  const ss_pose here = pose_identity(), above = {v3(0.1, 0.2, 3), across}, aside = {v3(4, 0, 0), across};
  const ss_shape rod = long_one(SS_SHAPE_CAPSULE, 0.25, 1), can = long_one(SS_SHAPE_CYLINDER, 0.5, 1),
                 small = ball(0.75);
  check_bound(&rod, &here, &rod, &above, 3 - 0.5); /* crossed axes */
  check_bound(&can, &here, &rod, &above, 3 - 0.75);
  check_bound(&can, &here, &can, &above, 3 - 1);
  check_bound(&rod, &here, &rod, &aside, 3 - 0.5); /* an end against the middle */
  check_bound(&small, &here, &rod, &aside, 4 - 1);
  check_bound(&small, &here, &small, &aside, 4 - 1.5);
  const ss_pose near = {v3(0, 0, 0.6), across};
  assert_true(ss_shapes_distance(&can, &here, &rod, &near) == 0);
  assert_false(ss_shapes_are_apart(&can, &here, &rod, &near, 0));
  const ss_shape floor = {.type = SS_SHAPE_HALF_SPACE, .reach = INFINITY}; /* no capsule goes around it */
  assert_true(ss_shapes_distance(&small, &above, &floor, &here) == 0);
  assert_false(ss_shapes_are_apart(&floor, &here, &small, &above, 0));
}

/* ---- speeds ---- */

static const char *const two_bodies = "gravity: [0, 0, 0]\n"
                                      "bodies:\n"
                                      "  - {name: a, mass: 1, inertia: [1, 2, 3], position: [-3, 0, 0], velocity: [1, "
                                      "2, 3], angular_velocity: [0.5, 0.5, 0.5],\n"
                                      "     shapes: [{type: box, size: [2, 4, 4]}]}\n"
                                      "  - {name: b, mass: 1, inertia: [1, 2, 3], position: [3, 0, 0], velocity: [-2, "
                                      "2, -1], angular_velocity: [0, 0, 2],\n"
                                      "     shapes: [{type: sphere, radius: 0.5}]}\n"
                                      "simulation: {step: 0.01, duration: 0.02}\n";

/* |v_a - v_b| + |w_a| R_a + |w_b| R_b; the world does not move. */
static void test_approach_speed(void **state) {
  (void)state;
  run r;
  run_parse(&r, two_bodies, NULL);
  const double *v = r.sim->state.v;
  const double turn_a = sqrt(0.75) * 3, turn_b = 2 * 0.5;
  check_near(ss_approach_speed(r.model, (int[2]){0, 1}, v), 5 + turn_a + turn_b, 1e-12, "both");
  check_near(ss_approach_speed(r.model, (int[2]){1, 0}, v), 5 + turn_a + turn_b, 1e-12, "exchanged");
  check_near(ss_approach_speed(r.model, (int[2]){0, -1}, v), sqrt(14) + turn_a, 1e-12, "a and the world");
  check_near(ss_approach_speed(r.model, (int[2]){-1, 1}, v), 3 + turn_b, 1e-12, "the world and b");
  check_near(ss_body_speed(r.model, 0, v), sqrt(14) + turn_a, 1e-12, "a");
  check_near(ss_body_speed(r.model, 1, v), 3 + turn_b, 1e-12, "b");
  assert_true(ss_body_speed(r.model, -1, v) == 0);
  check_near(ss_largest_speed_of_bodies(r.sim, v), sqrt(14) + turn_a, 1e-12, "largest");
  run_close(&r);
}

/* ---- pairs whose boxes meet ---- */

/* A box around a sphere, grown by the way it can go and by half of what is looked at besides. */
static bool balls_meet(const ss_sim *sim, int i, int j, double radius, double way) {
  const ss_model *model = sim->model;
  const double reach = 2 * (radius + way + SS_NEAR / 2 * model->length);
  const ss_vec3 d = v3_sub(ss_pose_of(sim->state.q, i).position, ss_pose_of(sim->state.q, j).position);
  return fabs(d.x) <= reach && fabs(d.y) <= reach && fabs(d.z) <= reach;
}

static void parse_balls(run *r, int n, double spread, double radius) {
  static char text[1 << 16];
  uint64_t seed = 5;
  int used = snprintf(text, sizeof text, "gravity: [0, 0, 0]\nbodies:\n");
  for (int i = 0; i < n; i++) {                        /* on a jittered grid, so that none overlap at the start */
    const double x = i % 4, y = i / 4 % 4, z = i / 16; // NOLINT(bugprone-integer-division)
    used += snprintf(
        text + used, sizeof text - (size_t)used,
        "  - {name: b%d, mass: 1, position: [%.17g, %.17g, %.17g], shapes: [{type: sphere, radius: %g}]}\n", i,
        x + spread * random_next(&seed), y + spread * random_next(&seed), z + spread * random_next(&seed), radius);
  }
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 1}\n");
  run_parse(r, text, NULL);
}

static bool is_listed(const ss_candidates *list, int i, int j) {
  for (int k = 0; k < list->n; k++)
    if (list->items[k].shape[0] == i && list->items[k].shape[1] == j) return true;
  return false;
}

/* Every pair that may meet is listed, none that cannot even with the headroom, each once, in the order of the shapes. */
static void check_list(const ss_sim *sim, int n, double radius, double way, double headroom) {
  const ss_candidates *list = ss_near_pairs(sim);
  int surely = 0, perhaps = 0;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      const bool must = balls_meet(sim, i, j, radius, way), may = balls_meet(sim, i, j, radius, way + headroom);
      surely += must, perhaps += may;
      if (must) assert_true(is_listed(list, i, j));
      if (!may) assert_false(is_listed(list, i, j));
    }
  assert_in_range(list->n, surely, perhaps);
  assert_true(surely > 10 && perhaps < n * (n - 1) / 2);
  for (int k = 1; k < list->n; k++) {
    const int *before = list->items[k - 1].shape, *after = list->items[k].shape;
    assert_true(before[0] < after[0] || (before[0] == after[0] && before[1] < after[1]));
  }
}

static void test_near_pairs(void **state) {
  (void)state;
  static const double radius = 0.2, h = 0.01, speed = 12, rounding = 0.25 / 256; /* of half of a reach below 1/2 */
  ss_error error = {0};
  for (int n = 40; n <= 64; n += 24) { /* few: boxes of each pair; many: sorted */
    run r;
    parse_balls(&r, n, 0.5, radius);
    ss_sim *sim = r.sim;
    sim->part.speed_bound = speed;
    sim->search.listed_for = 0;
    run_require(ss_broad_phase(sim, h, &error), &error, "broad phase");
    assert_int_equal(sim->search.few_pairs, n == 40);
    check_list(sim, n, radius, h * speed, (n == 40 ? 0 : 0.2 * h * speed) + rounding);
    /* boxes that tell how far shapes are apart without what they were grown by */
    const double *b = sim->search.bounds;
    check_near(b[3] - b[0] - 2 * sim->search.grown[0], 2 * radius, 1e-12, "grown");
    const double way = h * speed + SS_NEAR / 2 * r.model->length;
    if (n == 40) assert_true(sim->search.grown[0] >= way && sim->search.grown[0] <= way + rounding);
    if (n == 40) check_near(sim->search.grown[1], SS_NEAR / 2 * r.model->length, 1e-15, "at rest");
    if (n > 40) { /* inside of what was listed for the list is kept, outside it is made again */
      sim->search.near.n = 0;
      run_require(ss_broad_phase(sim, 1.18 * h, &error), &error, "broad phase");
      assert_int_equal(sim->search.near.n, 0);
      run_require(ss_broad_phase(sim, 1.22 * h, &error), &error, "broad phase");
      check_list(sim, n, radius, 1.22 * h * speed, 1.22 * 0.2 * h * speed + rounding);
    }
    run_close(&r);
  }
}

/* Boxes that change along one axis alone, at one end alone. */
static void test_a_list_covers_what_lies_inside(void **state) {
  (void)state;
  ss_error error = {0};
  run r;
  parse_balls(&r, 64, 0.5, 0.2);
  ss_sim *sim = r.sim;
  sim->part.speed_bound = 1;
  for (int k = 0; k < 3; k++)
    for (int side = -1; side <= 1; side++) {
      sim->search.listed_for = 0;
      run_require(ss_broad_phase(sim, 0.01, &error), &error, "broad phase");
      sim->search.near.n = 0;
      double *x = &sim->state.q[7 * 63 + k];
      const double old = *x;
      *x += side * 0.0021; /* headroom: 0.002 */
      run_require(ss_broad_phase(sim, 0.01, &error), &error, "broad phase");
      assert_int_equal(sim->search.near.n > 0, side != 0);
      *x = old;
    }
  run_close(&r);
}

/* ---- pairs that are set aside ---- */

/* Boxes on a line, all with the speed 1 but the last one, which is fast and far away: the largest speed says nothing about the others.
 * Neighbours come nearer by nothing; `gap` is between them. */
static void parse_row(run *r, double gap) {
  static char text[4096];
  int used = snprintf(text, sizeof text, "gravity: [0, 0, 0]\nbodies:\n");
  for (int i = 0; i < 5; i++)
    used +=
        snprintf(text + used, sizeof text - (size_t)used,
                 "  - {name: b%d, mass: 1, position: [%.17g, 0, 0], velocity: [0, 0, %d], shapes: [{type: box, size: "
                 "[0.2, 0.4, 0.3]}]}\n",
                 i, i < 4 ? i * (0.2 + gap) : 50., i < 4 ? 1 : 100);
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 0.02}\n");
  run_parse(r, text, NULL);
}

static void search_contacts(run *r, double h) {
  ss_error error = {0};
  r->sim->part.speed_bound = 1.5 * ss_largest_speed_of_bodies(r->sim, r->sim->state.v);
  r->sim->search.listed_for = 0;
  r->sim->search.looks_at_all = false;
  r->sim->search.found.n_pairs = 0;
  run_require(ss_broad_phase(r->sim, h, &error), &error, "broad phase");
  run_require(ss_narrow_phase(r->sim, h, &error), &error, "narrow phase");
}

static void test_pairs_are_set_aside_by_their_own_speed(void **state) {
  (void)state;
  static const double h = 0.01, gap = 0.05;
  run r;
  parse_row(&r, gap);
  ss_sim *sim = r.sim;
  search_contacts(&r, h);
  const double near = SS_NEAR * r.model->length;
  const double reach = 2 * h * 150 + near; /* rounded up to the next of 256 steps of a power of two */
  check_near(sim->search.found.reach, ceil(128 * reach) / 128, 1e-9, "reach");
  assert_int_equal(sim->search.found.n_pairs, 6); /* of the four on the line */
  assert_int_equal(sim->trial.n_contacts, 0);
  for (int k = 0; k < 6; k++) {
    const ss_found_pair *pair = &sim->search.found.pairs[k];
    const int apart = pair->shape[1] - pair->shape[0];
    check_near(pair->aside, apart * (0.2 + gap) - 0.2, 1e-9, "distance of a pair that is set aside");
  }
  /* solved without any change of velocity they do not meet; with one that closes the gap they do */
  const double closing = gap / h;
  const int n = r.model->n_v;
  for (int i = 0; i < n; i++) sim->trial.delta[i] = 0;
  sim->trial.asked.gamma = 0.5;
  assert_false(ss_aside_may_meet(sim, h));
  sim->trial.delta[r.model->bodies[1].first] = 0.999 * closing;
  assert_false(ss_aside_may_meet(sim, h));
  sim->trial.asked.gamma = 1; /* then the path ends with twice the change */
  assert_true(ss_aside_may_meet(sim, h));
  assert_true(sim->search.looks_at_all);
  assert_int_equal(sim->search.found.n_pairs, 0);
  search_contacts(&r, h);
  sim->trial.asked.gamma = 0.5;
  sim->trial.delta[r.model->bodies[1].first] = 1.001 * closing;
  assert_true(ss_aside_may_meet(sim, h));
  /* and now all are looked at */
  ss_error error = {0};
  run_require(ss_narrow_phase(sim, h, &error), &error, "narrow phase");
  assert_true(sim->trial.n_contacts >= 3 * 4);
  for (int k = 0; k < 6; k++) assert_true(sim->search.found.pairs[k].aside == 0);
  run_close(&r);
}

/* 1.5 times the speed and what the acceleration adds, over the step, and what is looked at in any case. */
static void test_how_far_a_pair_must_be_to_be_set_aside(void **state) {
  (void)state;
  static const double h = 0.01, speed = 3, acceleration = 40;
  run r;
  for (int k = 0; k < 2; k++) {
    parse_row(&r, 0.05);
    ss_sim *sim = r.sim;
    const double reach = h * (1.5 * speed + 2 * h * acceleration) + SS_NEAR * r.model->length;
    sim->state.v[r.model->bodies[0].first] = speed;
    sim->state.q[0] = -reach + 0.05 + (k == 0 ? -1e-9 : 1e-9);
    sim->step.acceleration = acceleration;
    search_contacts(&r, h);
    assert_int_equal(sim->search.found.pairs[0].shape[1], 1);
    assert_int_equal(sim->search.found.pairs[0].aside > 0, k == 0);
    run_close(&r);
  }
}

/* Rods side by side, along a diagonal: their boxes meet, and what keeps them apart is the distance of their axes. */
static void test_rods_are_set_aside_by_their_axes(void **state) {
  (void)state;
  static char text[4096];
  int used = snprintf(text, sizeof text, "gravity: [0, 0, 0]\nbodies:\n");
  for (int i = 0; i < 5; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b%d, mass: 1, position: [%g, %g, 0], velocity: [0, 0, %d], orientation: {axis: [0, 0, "
                     "1], angle: 45 deg}, shapes: [{type: capsule, radius: 0.1, length: 4, axis: x}]}\n",
                     i, i < 4 ? 0.3 * i : 50., i < 4 ? -0.3 * i : 0., i < 4 ? 1 : 100);
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 0.02}\n");
  run r;
  run_parse(&r, text, NULL);
  search_contacts(&r, 0.01);
  ss_sim *sim = r.sim;
  assert_int_equal(sim->search.found.n_pairs, 6);
  assert_int_equal(sim->trial.n_contacts, 0);
  for (int k = 0; k < 6; k++) {
    const ss_found_pair *pair = &sim->search.found.pairs[k];
    const int apart = pair->shape[1] - pair->shape[0];
    check_near(pair->aside, apart * 0.3 * sqrt(2) - 0.2, 1e-9, "distance");
  }
  run_close(&r);
}

static int times_looked;

static int count_looks(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                       ss_contact_point *out) {
  (void)a, (void)pa, (void)b, (void)pb, (void)reach, (void)out;
  times_looked++;
  return 0;
}

/* Two boxes whose own boxes meet: features are looked for only where the capsules around them are not apart. */
static void test_features_are_not_looked_for_in_vain(void **state) {
  (void)state;
  static const ss_pair counting = {.collide = count_looks};
  ss_error error = {0};
  run r;
  run_parse(&r,
            "gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, position: [0, 0, 0], shapes: [{type: box, size: [2, 0.2, 0.2]}]}\n"
            "  - {name: b, mass: 1, position: [0, 0, 1], shapes: [{type: box, size: [2, 0.2, 0.2]}]}\n"
            "simulation: {step: 0.01, duration: 0.02}\n",
            NULL);
  ss_sim *sim = r.sim;
  sim->search.all.items[0].pair = &counting;
  const double apart = 1 - 0.2 * sqrt(2), near = SS_NEAR * r.model->length;
  for (int k = 0; k < 2; k++) {
    times_looked = 0;
    sim->part.speed_bound = ((apart + (k == 0 ? -2. / 512 : 1e-6)) - near) / (2 * 0.01); /* rounded up */
    sim->search.found.n_pairs = 0;
    run_require(ss_broad_phase(sim, 0.01, &error), &error, "broad phase");
    run_require(ss_narrow_phase(sim, 0.01, &error), &error, "narrow phase");
    assert_int_equal(times_looked, k);
    run_require(ss_narrow_phase(sim, 0.01, &error), &error, "narrow phase"); /* it is known */
    assert_int_equal(times_looked, k);
  }
  run_close(&r);
}

/* ---- features that are there only at the end of the part ---- */

static const char *const two_boxes =
    "gravity: [0, 0, 0]\n"
    "bodies:\n"
    "  - {name: low, mass: 1, position: [0, 0, 0], shapes: [{type: box, size: [2, 2, 1]}]}\n"
    "  - {name: high, mass: 1, position: [0.1, 0.2, 1.01], velocity: [0, 0, -3], shapes: [{type: box, size: [1, 1, "
    "1]}]}\n"
    "simulation: {step: 0.01, duration: 0.02}\n";

static void test_features_that_were_lost_come_back(void **state) {
  (void)state;
  static const int blind[2] = {1, 0};
  ss_error error = {0};
  double q_end[14];
  int added = -1;
  run r;
  run_parse(&r, two_boxes, NULL);
  ss_sim *sim = r.sim;
  memcpy(q_end, sim->state.q, sizeof q_end);
  q_end[7 + 2] = 0.99; /* 1 cm deep at the end, 1 cm apart at the start */
  search_contacts(&r, 0.01);
  const int n = sim->trial.n_contacts;
  assert_true(n >= 4);
  run_require(ss_add_features(sim, q_end, 1e-3, &added, &error), &error, "add"); /* all are there already */
  assert_int_equal(added, 0);
  assert_int_equal(sim->trial.n_contacts, n);
  sim->search.blind = blind;
  for (int k = 0; k < 3; k++) {
    search_contacts(&r, 0.01);
    assert_int_equal(sim->trial.n_contacts, 0);
    const double deep = k == 1 ? 0.011 : 1e-3; /* k = 1: not so deep */
    if (k == 2) sim->search.found.reach = 0.009;
    run_require(ss_add_features(sim, q_end, deep, &added, &error), &error, "add");
    assert_int_equal(added, k == 0 ? 4 : 0);
    assert_int_equal(sim->trial.n_contacts, added);
    assert_int_equal(sim->crowd.overlooked, k == 2); /* too far away at the start, and deep */
    for (int i = 0; i < added; i++) {
      const ss_contact *c = &sim->trial.contacts[i];
      check_near(c->at.gap, 0.01, 1e-12, "gap at the start");
      check_near(fabs(c->at.normal.z), 1, 1e-12, "normal");
      check_near(c->rate, -3, 1e-12, "rate");
      const ss_vec3 d = v3_sub(c->at.point_a, v3(0.1, 0.2, c->at.point_a.z));
      check_near(fabs(d.x), 0.5, 1e-12, "corner");
      check_near(fabs(d.y), 0.5, 1e-12, "corner");
      for (int j = 0; j < i; j++) assert_true(sim->trial.contacts[j].key != c->key);
    }
  }
  static const double share = 2e-4; /* of the smaller shape, which may be left for the next step */
  for (int k = 0; k < 2; k++) {
    search_contacts(&r, 0.01);
    sim->search.found.reach = 0.009;
    q_end[7 + 2] = 1 - (k ? 1.05 : 0.95) * share * sqrt(0.75);
    run_require(ss_add_features(sim, q_end, 1e-6, &added, &error), &error, "add");
    assert_true(added == 0 && sim->crowd.overlooked == k);
  }
  run_close(&r);
}

/* A ball has one feature, which is always there: nothing comes back, on whichever side of the pair it is. */
static void test_balls_have_no_more_features(void **state) {
  (void)state;
  static const int blind[2] = {1, 0};
  static const char *const shapes[] = {"box, size: [2, 2, 1]", "capsule, radius: 0.5, length: 2",
                                       "sphere, radius: 0.5"};
  ss_error error = {0};
  for (int k = 0; k < 9; k++) {
    char text[1024];
    (void)snprintf(text, sizeof text,
                   "gravity: [0, 0, 0]\n"
                   "bodies:\n"
                   "  - {name: low, mass: 1, shapes: [{type: %s}]}\n"
                   "  - {name: high, mass: 1, position: [0, 0, 1.01], shapes: [{type: %s}]}\n"
                   "simulation: {step: 0.01, duration: 0.02}\n",
                   shapes[k % 3], k / 3 == 0 ? "box, size: [1, 1, 1]" : shapes[k / 3]);
    run r;
    double q_end[14];
    int added = -1;
    run_parse(&r, text, NULL);
    ss_sim *sim = r.sim;
    memcpy(q_end, sim->state.q, sizeof q_end);
    q_end[7 + 2] = 0.99;
    sim->search.blind = blind;
    search_contacts(&r, 0.01);
    sim->search.found.reach = 0.1;
    assert_int_equal(sim->trial.n_contacts, 0);
    run_require(ss_add_features(sim, q_end, 1e-3, &added, &error), &error, "add");
    assert_int_equal(added > 0, k % 3 != 2 && k / 3 != 2);
    assert_int_equal(sim->trial.n_contacts, added);
    run_close(&r);
  }
}

/* ---- at the start ---- */

static bool joined_touch(const char *joint, double between, int bodies[2]) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  - {name: other, mass: 1, position: [0, 0, 5], shapes: [{type: sphere, radius: 0.5}]}\n"
                 "  - {name: more, mass: 1, position: [0, 0, 6], shapes: [{type: sphere, radius: 0.5}]}\n"
                 "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}\n"
                 "  - {name: b, mass: 1, position: [%.17g, 0, 0], shapes: [{type: sphere, radius: 0.5}]}\n"
                 "world: {shapes: [{type: sphere, radius: 0.5, position: [0, 1, 0]}]}\n"
                 "joints: [{type: %s}]\n"
                 "simulation: {step: 0.01, duration: 0.02}\n",
                 1 + between, joint);
  run r;
  run_parse(&r, text, NULL);
  const bool touch = ss_model_joined_touch(r.model, bodies);
  run_close(&r);
  return touch;
}

/* Bodies that touch, some of them joined: only those that the joint holds together are named. */
static void test_joined_bodies_that_touch(void **state) {
  (void)state;
  static const char *const hold[] = {"revolute, between: [a, b], at: [0.5, 0, 0], axis: [0, 1, 0]",
                                     "spherical, between: [a, b], at: [0.5, 0, 0]",
                                     "fixed, between: [b, a]",
                                     "cylindrical, between: [a, b], at: [0.5, 0, 0], axis: [0, 1, 0]",
                                     "prismatic, between: [a, b], at: [0.5, 0, 0], axis: [0, 1, 0]",
                                     "universal, between: [a, b], at: [0.5, 0, 0], axes: [[0, 1, 0], [0, 0, 1]]",
                                     "screw, between: [b, a], at: [0.5, 0, 0], axis: [0, 1, 0], pitch: 0.1"};
  static const char *const free[] = {"point-on-line, between: [a, b], at: [0.5, 0, 0], axis: [0, 1, 0]",
                                     "revolute, between: [a, world], at: [0, 0.5, 0], axis: [0, 0, 1]",
                                     "fixed, between: [world, a]", "fixed, between: [other, a]",
                                     "fixed, between: [b, more]"};
  int bodies[2];
  for (size_t k = 0; k < sizeof hold / sizeof *hold; k++) {
    bodies[0] = bodies[1] = -1;
    assert_true(joined_touch(hold[k], 0, bodies));
    assert_int_equal(bodies[0] + bodies[1], 5);
    assert_int_equal(bodies[0] * bodies[1], 6);
    assert_false(joined_touch(hold[k], 1e-4, bodies));
  }
  for (size_t k = 0; k < sizeof free / sizeof *free; k++) assert_false(joined_touch(free[k], 0, bodies));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_bound_is_the_distance_where_edges_face),
      cmocka_unit_test(test_the_bound_is_the_distance_of_round_ones),
      cmocka_unit_test(test_approach_speed),
      cmocka_unit_test(test_near_pairs),
      cmocka_unit_test(test_a_list_covers_what_lies_inside),
      cmocka_unit_test(test_pairs_are_set_aside_by_their_own_speed),
      cmocka_unit_test(test_how_far_a_pair_must_be_to_be_set_aside),
      cmocka_unit_test(test_rods_are_set_aside_by_their_axes),
      cmocka_unit_test(test_features_are_not_looked_for_in_vain),
      cmocka_unit_test(test_features_that_were_lost_come_back),
      cmocka_unit_test(test_balls_have_no_more_features),
      cmocka_unit_test(test_joined_bodies_that_touch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
