/* Parts of the contact code by themselves: points that travel, elements of patches, what rests, searches that repeat. Contacts and pairs are
 * put together by hand, so that every answer is known. */
#include "contact/contact.h"
#include "scene_runner.h"

enum { ROOM = 16 };

static void open_scene(run *r, const char *text) {
  ss_error error = {0};
  run_parse(r, text, NULL);
  ss_trial *t = &r->sim->trial;
  run_require(ss_grow((void **)&t->contacts, &t->contact_capacity, ROOM, sizeof *t->contacts, &error), &error, "room");
  t->n_contacts = 0;
}

static const char *const balls = "gravity: [0, 0, 0]\n"
                                 "bodies:\n"
                                 "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}\n"
                                 "  - {name: b, mass: 1, position: [3, 0, 0], shapes: [{type: sphere, radius: 0.25}]}\n"
                                 "  - {name: c, mass: 1, position: [6, 0, 0], shapes: [{type: sphere, radius: 1}]}\n"
                                 "simulation: {step: 0.01, duration: 1}\n";

static ss_contact *add(ss_sim *sim, int a, int b) {
  static const ss_law law = {.collide = true};
  ss_contact *c = &sim->trial.contacts[sim->trial.n_contacts++];
  assert_true(sim->trial.n_contacts <= ROOM);
  *c = (ss_contact){.key = (uint64_t)sim->trial.n_contacts,
                    .shape = {a, b},
                    .body = {a, b},
                    .law = &law,
                    .row = -1,
                    .at = {.normal = {0, 0, 1}},
                    .direction = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
  return c;
}

/* ---- points that travel ---- */

/* How far the contact points go over a and over b where b is turned about x and about y, per radian. */
static struct { double over_a[2], over_b[2]; } travels;

static void turned_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                       ss_contact_point *out) {
  (void)a, (void)b, (void)feature;
  const ss_vec3 angle = {2 * pb->orientation.x, 2 * pb->orientation.y, 2 * pb->orientation.z};
  const ss_vec3 on_a = v3(travels.over_a[0] * angle.x, travels.over_a[1] * angle.y, 0);
  const ss_vec3 on_b = v3(0, travels.over_b[0] * angle.x, travels.over_b[1] * angle.y);
  const ss_vec3 place_a = v3_add(on_a, v3(0.3, 0.1, 0.2)), place_b = v3_add(on_b, v3(-0.2, 0.4, 0.1));
  *out = (ss_contact_point){.point_a = v3_add(pa->position, quat_rotate(pa->orientation, place_a)),
                            .point_b = v3_add(pb->position, quat_rotate(pb->orientation, place_b)),
                            .normal = {0, 0, 1}};
}

static ss_contact *add_turning(ss_sim *sim, int a, int b, bool touches) {
  static const ss_pair pair = {.gap = turned_gap};
  ss_contact *c = add(sim, a, b);
  c->pair = &pair;
  c->at.point_a = v3_add(run_position(&(run){.sim = sim}, a), v3(0.3, 0.1, 0.2));
  c->at.point_b = v3_add(run_position(&(run){.sim = sim}, b), v3(-0.2, 0.4, 0.1));
  c->at.gap = touches ? -1e-9 : 1e-9;
  return c;
}

/* A contact travels that goes over both bodies, for a turn about either tangent, by more than four times the smaller shape's reach. */
static void test_which_points_travel(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  static const double limit = 4 * 0.25;
  for (int k = 0; k < 16; k++)
    for (int order = 0; order < 2; order++) {
      const double near = 0.99 * limit, far = 1.01 * limit;
      travels.over_a[0] = k & 1 ? far : near, travels.over_b[0] = k & 2 ? far : near;
      travels.over_a[1] = k & 4 ? far : near, travels.over_b[1] = k & 8 ? far : near;
      sim->trial.n_contacts = 0;
      for (int i = 0; i < 4; i++) (void)add_turning(sim, order, 1 - order, true);
      ss_patch_drop_travelling(sim);
      const bool travel = (k & 3) == 3 || (k & 12) == 12;
      assert_int_equal(sim->trial.n_contacts, travel ? 0 : 4);
    }
  run_close(&r);
}

/* They are left out where three other points of the same two shapes touch or are closed; others are kept, in their order. */
static void test_which_points_are_left_out(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  for (int k = 0; k < 2; k++) travels.over_a[k] = travels.over_b[k] = 5;
  for (int touching = 0; touching <= 5; touching++)
    for (int closed = 0; closed < 2; closed++)
      for (int first = 0; first < 2; first++) { /* which pair comes first */
        sim->trial.n_contacts = 0;
        for (int pair = 0; pair < 2; pair++)
          for (int i = 0; i < (pair == first ? 5 : 3); i++) {
            ss_contact *c = add_turning(sim, pair, 2, pair != first || (!closed && i < touching));
            if (pair == first) c->closed = closed && i < touching;
          }
        const double near = 1;
        travels.over_a[0] = near; /* about y alone */
        ss_patch_drop_travelling(sim);
        int left[2] = {0};
        uint64_t before = 0;
        for (int i = 0; i < sim->trial.n_contacts; i++) {
          left[sim->trial.contacts[i].shape[0]]++;
          assert_true(sim->trial.contacts[i].key > before);
          before = sim->trial.contacts[i].key;
        }
        /* of five: with t that touch a touching one has t - 1 others, one that does not has t */
        static const int expected[] = {5, 5, 5, 3, 0, 0};
        assert_int_equal(left[first], expected[touching]);
        assert_int_equal(left[1 - first], 3); /* two others each */
        travels.over_a[0] = 5;
      }
  run_close(&r);
}

/* ---- elements of patches ---- */

/* Two balls: the gap at an element is the contact's and r^2/2 (1/R_a + 1/R_b), r along the two tangents. */
static void test_gaps_of_elements(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  double place[] = {0.01, 0, 0, 0.02, -0.03, 0.04, 0, 0}, memory[] = {1, 9, 9, -0.5, 9, 9, -0.001, 9, 9, 3, 9, 9};
  ss_patch patch = {.n_elements = 4, .n_directions = 3, .n = 12, .place = place};
  ss_contact *c = add(sim, 0, 1);
  c->patch = &patch;
  c->direction[1] = v3_normalize(v3(1, 2, 0)), c->direction[2] = v3_cross(v3(0, 0, 1), c->direction[1]);
  c->at.gap = -1e-3;
  double overlap = -INFINITY;
  double *const kept = sim->trial.patch_end;
  sim->trial.patch_end = memory;
  for (int e = 0; e < 4; e++) {
    const ss_vec3 shift = ss_element_shift(c, e);
    check_near(v3_dot(shift, c->direction[1]), place[2 * e], 1e-16, "along the first tangent");
    check_near(v3_dot(shift, c->direction[2]), place[2 * e + 1], 1e-16, "along the second");
    const double rr = place[2 * e] * place[2 * e] + place[2 * e + 1] * place[2 * e + 1];
    const double gap = -1e-3 + rr / 2 * (1 / 0.5 + 1 / 0.25);
    check_near(ss_element_gap(sim, c, &c->at, e), gap, 1e-15, "gap");
    overlap = fmax(overlap, -gap - memory[3 * e]);
  }
  check_near(ss_patch_overlap(sim, c, &c->at), overlap, 1e-15, "overlap");
  patch.n_elements = 1; /* then it is the contact's point, wherever it lies */
  check_near(ss_element_gap(sim, c, &c->at, 0), -1e-3, 0, "one element");
  sim->trial.patch_end = kept;
  run_close(&r);
}

/* d.Kd/2, of the patches that live. */
static void test_energy_of_patches(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  double K[] = {4, 1, 0, 1, 5, 2, 0, 2, 6}, memory[18] = {1, -2, 3, 7, 7, 7, 2, 0, -1, 7, 7, 7, 1, 1, 1};
  ss_patch patch = {.n_elements = 1, .n_directions = 3, .n = 3, .K = K};
  const double first = (4 - 2 * 2 + 20 - 24 + 54) / 2., second = (16 + 6) / 2.;
  check_near(ss_patch_stored(&patch, memory), first, 1e-14, "energy");
  double *const kept = sim->trial.patch_end;
  sim->trial.patch_end = memory;
  for (int i = 0; i < 3; i++) {
    ss_contact *c = add(sim, 0, 1);
    c->patch = &patch, c->memory = 6 * i, c->closed = true, c->active = i < 2; /* the last one does not live */
  }
  check_near(ss_patches_energy(sim), first + second, 1e-14, "of all");
  sim->trial.patch_end = kept;
  run_close(&r);
}

/* A ball pressed into another: at first its elements give by what they overlap; where the scene says by how much they do, that is taken,
 * and must suffice. */
static void parse_pressed(run *r, double depth, const char *delta) {
  char text[1024];
  (void)snprintf(text, sizeof text,
                 "gravity: [0, 0, 0]\n"
                 "bodies:\n"
                 "  - {name: a, mass: 1, shapes: [{type: sphere, radius: 0.5}]}\n"
                 "  - {name: b, mass: 1, position: [0, 0, %.17g], shapes: [{type: sphere, radius: 0.25}]}\n"
                 "compliance: {young: 1e6, poisson: 0.3, elements: 2, spacing: 0.01%s}\n"
                 "simulation: {scheme: compliant, step: 0.001, duration: 1, friction: {cone: quadratic}}\n",
                 0.75 - depth, delta);
  run_parse(r, text, NULL);
}

static ss_status look(run *r, ss_error *error) {
  r->sim->part.speed_bound = 1;
  r->sim->search.found.n_pairs = 0;
  run_require(ss_broad_phase(r->sim, 1e-3, error), error, "broad phase");
  return ss_narrow_phase(r->sim, 1e-3, error);
}

static void test_deformations_at_first(void **state) {
  (void)state;
  ss_error error = {0};
  run r;
  const double depth = 1e-3, fall = 2 * 0.005 * 0.005 / 2 * (1 / 0.5 + 1 / 0.25); /* elements at (+-0.005, +-0.005) */
  for (int later = 0; later < 2; later++) {
    parse_pressed(&r, depth, "");
    r.sim->state.t = later;
    run_require(look(&r, &error), &error, "narrow phase");
    assert_int_equal(r.sim->trial.n_contacts, 1);
    const ss_contact *c = r.sim->trial.contacts;
    assert_int_equal(c->patch->n, 12);
    assert_int_equal(c->pressed_in, !later);
    for (int k = 0; k < 24; k++) {
      const double expected = k < 12 && k % 3 == 0 ? depth - fall : 0;
      check_near(ss_patch_start(r.sim, c)[k], expected, 1e-12, "deformation");
      check_near(ss_patch_end(r.sim, c)[k], expected, 1e-12, "deformation at the end");
    }
    run_close(&r);
  }
  static const char *const given = ", delta: [[9e-4, 0, 0], [9e-4, 1e-4, 0], [9e-4, 0, 2e-4], [9.5e-4, 0, 0]]";
  for (int k = 0; k < 3; k++) { /* it suffices, does not, does not matter later on */
    parse_pressed(&r, 9e-4 + fall + (k == 0 ? -1e-6 : 1e-6), given);
    r.sim->state.t = k == 2;
    const ss_status status = look(&r, &error);
    assert_int_equal(status, k == 1 ? SS_ERROR_INPUT : SS_OK);
    if (k == 1) assert_non_null(strstr(error.message, "surfaces of 'a' and 'b' overlap by 1e-06 at t = 0"));
    static const double first[] = {9e-4, 0, 0, 9e-4, 1e-4, 0, 9e-4, 0, 2e-4, 9.5e-4, 0, 0};
    for (int i = 0; i < 12 && k == 0; i++)
      check_near(ss_patch_start(r.sim, r.sim->trial.contacts)[i], first[i], 1e-18, "given");
    for (int i = 0; i < 4 && k == 2; i++)
      check_near(ss_patch_start(r.sim, r.sim->trial.contacts)[3 * i], 9e-4 + 1e-6, 1e-12, "overlap");
    run_close(&r);
  }
}

/* A patch keeps its frame from step to step, turned with the normal; where its tangent has become the normal it begins anew. */
static void test_frames_of_patches(void **state) {
  (void)state;
  ss_error error = {0};
  run r;
  parse_pressed(&r, 1e-3, "");
  run_step(&r);
  ss_sim *sim = r.sim;
  assert_int_equal(sim->state.n_touch, 1);
  ss_touch *touch = &sim->state.touch[0];
  for (int k = 0; k < 24; k++) {
    const double angle = 0.26179938779914943654 * k, lift = k % 3 ? 0.3 : 0;
    touch->tangent[0] = cos(angle), touch->tangent[1] = sin(angle), touch->tangent[2] = lift;
    run_require(look(&r, &error), &error, "narrow phase");
    const ss_contact *c = sim->trial.contacts;
    check_near(fabs(c->direction[0].z), 1, 1e-9, "normal");
    check_near(v3_norm(v3_sub(c->direction[1], v3(cos(angle), sin(angle), 0))), 0, 1e-9, "tangent");
    check_near(v3_norm(v3_sub(c->direction[2], v3_cross(c->direction[0], c->direction[1]))), 0, 1e-15,
               "second tangent");
  }
  for (int k = 0; k < 2; k++) { /* nearly along the normal; not of a patch */
    touch->tangent[0] = k ? 1 : 0.5e-3, touch->tangent[1] = 0, touch->tangent[2] = 1;
    const int patch = touch->patch;
    if (k) touch->patch = -1, touch->n_patch = 0;
    run_require(look(&r, &error), &error, "narrow phase");
    const ss_contact *c = sim->trial.contacts;
    check_near(v3_norm(v3_sub(c->direction[1], v3_normalize(v3_perpendicular(c->at.normal)))), 0, 1e-12, "anew");
    touch->patch = patch;
  }
  run_close(&r);
}

/* ---- what rests ---- */

/* Bodies that rest over a whole step: the contact's memory says so, and in the next whole step everything remembered is kept. */
static void test_what_rests_is_remembered(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  ss_error error = {0};
  for (int k = 0; k < 16; k++)
    for (int way = 0; way < 4; way++) { /* the first body that moves is asked */
      static const int bodies[4][2] = {{1, 0}, {-1, 1}, {1, -1}, {0, 1}};
      sim->trial.n_contacts = 0;
      ss_contact *c = add(sim, bodies[way][0], bodies[way][1]);
      c->closed = true;
      c->row = k & 1 ? 0 : -1;
      c->limit = k & 2;
      sim->step.h = 0.01, sim->part.asked.h = k & 4 ? 0.01 : 0.005;
      sim->trial.rests[way == 3] = false, sim->trial.rests[way != 3] = k & 8;
      run_require(ss_touch_store(sim, &error), &error, "store");
      assert_int_equal(sim->state.touch[0].rests, k == 13);
    }
  run_close(&r);
}

static void test_what_rests_keeps_its_memory(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  ss_problem *p = &sim->trial.problem;
  double z[] = {9, 1, 2, 3}, scale[] = {1, 4, 1, 1};
  double *const kept_z = p->z, *const kept_scale = p->scale;
  const double kept_h = p->h;
  p->z = z, p->scale = scale, p->blur = 3, p->unit = 0.5;
  sim->step.h = 0.01, sim->state.t = 2;
  for (int k = 0; k < 16; k++)
    for (int way = 0; way < 4; way++) { /* the first body that moves is asked */
      static const int bodies[4][2] = {{1, 0}, {-1, 1}, {1, -1}, {0, 1}};
      sim->trial.n_contacts = 0;
      ss_contact *c = add(sim, bodies[way][0], bodies[way][1]);
      c->row = k & 1 ? way % 2 : -1, c->n_rows = 3;
      c->rested = k & 2;
      p->h = k & 4 ? 0.01 : 0.005;
      sim->trial.rests[way == 3] = false, sim->trial.rests[way != 3] = k & 8;
      c->was_stuck = true, c->was_held = 5, c->last_face = 7, c->last_load = 11, c->last_ratio = 0.25;
      c->last_moment_ratio[SS_MOTION_SPIN] = 0.5, c->last_moment_ratio[SS_MOTION_ROLL] = 0.75;
      c->opens = true;
      assert_int_equal(ss_touch_keeps(sim, c), k == 15);
      if (k != 15) continue;
      for (int i = 0; i < 3; i++) check_near(c->impulse[i], z[c->row + i], 0, "impulse");
      check_near(c->impulse[3], 0, 0, "no more than its rows");
      assert_true(c->stuck && c->held == 5 && c->face == 7 && c->load == 11 && c->ratio == 0.25 && !c->opens);
      assert_true(c->moment_ratio[SS_MOTION_SPIN] == 0.5 && c->moment_ratio[SS_MOTION_ROLL] == 0.75);
      check_near(c->when, 2.005, 1e-15, "the part's middle");
      check_near(c->blur, 3 * 0.5 / scale[c->row], 1e-15, "blur");
    }
  p->z = kept_z, p->scale = kept_scale, p->h = kept_h;
  run_close(&r);
}

/* ---- impulses of a step ---- */

/* Dealt in several parts, in any order and not by all of them: impulses add up, and the rest is the latest. */
static void test_the_latest_part_is_told(void **state) {
  (void)state;
  run r;
  open_scene(&r, balls);
  ss_sim *sim = r.sim;
  ss_error error = {0};
  uint64_t seed = 5;
  for (int trial = 0; trial < 40; trial++) {
    double sum[4] = {0}, latest[4] = {0};
    sim->trial.n_contacts = 0;
    for (int i = 0; i < 4; i++) add(sim, 0, 1)->key = (uint64_t)((7 * i + trial) % 4 + 1);
    ss_deal_begin(sim);
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < 4; i++) {
        ss_contact *c = &sim->trial.contacts[i];
        const bool deals = random_next(&seed) > 0 || round == 0;
        c->row = deals ? i : -1, c->active = true;
        c->pressed = v3(round + 1, i, 0);
        c->at.gap = 10 * round + i;
        if (!deals) continue;
        sum[i] += round + 1, latest[i] = c->at.gap;
      }
      run_require(ss_deal(sim, 1, &error), &error, "deal");
    }
    for (int i = 0; i < 4; i++) sim->trial.contacts[i].active = false; /* so that all are told as they were dealt */
    ss_deal_end(sim);
    ss_contact_report out[4];
    assert_int_equal(ss_sim_contacts(sim, out, 4), 4);
    for (int i = 0; i < 4; i++) {
      const int place = (int)sim->trial.contacts[i].key - 1; /* in the order of their keys */
      check_near(out[place].impulse.x, sum[i], 1e-12, "sum");
      check_near(out[place].gap, latest[i], 0, "the latest");
    }
  }
  run_close(&r);
}

/* ---- depths ---- */

/* Apart: by the feature alone, however far; overlapping: by all features of the pair. */
static void test_depth_of_contacts(void **state) {
  (void)state;
  run r;
  run_parse(&r,
            "gravity: [0, 0, 0]\n"
            "bodies:\n"
            "  - {name: a, mass: 1, shapes: [{type: box, size: [2, 2, 2]}]}\n"
            "  - {name: b, mass: 1, position: [0, 0, 5], shapes: [{type: sphere, radius: 0.5}]}\n"
            "  - {name: c, mass: 1, position: [9, 0, 5], shapes: [{type: box, size: [2, 2, 2]}]}\n"
            "simulation: {step: 0.01, duration: 1}\n",
            NULL);
  const ss_pose here = pose_identity();
  bool swapped;
  ss_contact c = {.pair = ss_pair_find(SS_SHAPE_SPHERE, SS_SHAPE_BOX, &swapped)};
  c.shape[!swapped] = c.body[!swapped] = 0, c.shape[swapped] = c.body[swapped] = 1;
  if (swapped) c.shape[0] = c.body[0] = 0, c.shape[1] = c.body[1] = 1;
  static const double gaps[] = {3, 0.7, 1e-3, 0, -1e-3, -0.2};
  for (int k = 0; k < 6; k++) {
    const ss_pose above = {v3(0.3, 0.2, 1.5 + gaps[k]), quat_identity()};
    const bool first = c.shape[0] == 0;
    check_near(ss_contact_depth(r.model, &c, first ? &here : &above, first ? &above : &here), -gaps[k], 1e-12, "ball");
  }
  /* a corner of the one box over a face of the other, which has turned by a quarter: another corner is the deepest now */
  ss_contact_point points[SS_PAIR_CONTACTS];
  c = (ss_contact){.pair = ss_pair_find(SS_SHAPE_BOX, SS_SHAPE_BOX, &swapped), .shape = {2, 0}, .body = {2, 0}};
  const ss_pose upright = {v3(0, 0, 2), quat_exp(v3(0.2, 0.1, 0))};
  const int n = c.pair->collide(&r.model->shapes[2], &upright, &r.model->shapes[0], &here, 0.1, points);
  double depth = 0;
  for (int i = 0; i < n; i++) depth = fmax(depth, -points[i].gap);
  assert_true(n > 0 && depth > 0.1);
  for (int i = 0; i < n; i++) {
    c.at = points[i];
    check_near(ss_contact_depth(r.model, &c, &upright, &here), points[i].gap >= 0 ? -points[i].gap : depth, 1e-12,
               "box");
  }
  run_close(&r);
}

/* Of many balls that overlap the first two of the scene are named, wherever they are; first: the one from which on they overlap. */
static void test_the_first_overlap_is_named(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (int trial = 0; trial < 24; trial++) {
    char text[2048];
    const int first = trial % 3;
    int used = snprintf(text, sizeof text, "bodies:\n");
    for (int i = 0; i < 6; i++)
      used += snprintf(text + used, sizeof text - (size_t)used,
                       "  - {name: n%d, mass: 1, position: [%g, %g, %g], shapes: [{type: sphere, radius: 0.5}]}\n", i,
                       20 + 0.1 * random_next(&seed) + (i < first ? 5 * i + 5 : 0), 0.1 * random_next(&seed),
                       0.1 * random_next(&seed));
    (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 1}\n");
    ss_scene *scene;
    ss_model *model;
    ss_error error = {0};
    char names[64];
    run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, text);
    assert_int_equal(ss_model_create(scene, &model, &error), SS_ERROR_INPUT);
    (void)snprintf(names, sizeof names, "'n%d' and 'n%d' overlap by ", first, first + 1);
    if (!strstr(error.message, names)) print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, names));
    const ss_vec3 a = scene->bodies[first].pose.position, b = scene->bodies[first + 1].pose.position;
    check_near(atof(strstr(error.message, "overlap by ") + 11), 1 - run_distance(a, b), 1e-5, "depth");
    ss_scene_destroy(scene);
  }
}

/* ---- searches that repeat ---- */

/* Many balls: what has been found is taken again only for the same places, reach and pairs. A list that was made for a larger way has more
 * pairs than one that is made anew. */
static void test_what_was_found_is_found_again(void **state) {
  (void)state;
  static char text[1 << 14];
  ss_error error = {0};
  int used = snprintf(text, sizeof text, "gravity: [0, 0, 0]\nbodies:\n");
  for (int i = 0; i < 64; i++) // NOLINTNEXTLINE(bugprone-integer-division)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b%d, mass: 1, position: [%.17g, %.17g, 0], shapes: [{type: sphere, radius: 0.2}]}\n",
                     i, 0.5 * (i % 8) + 0.001 * i, 0.5 * (i / 8)); // NOLINT(bugprone-integer-division)
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 1}\n");
  run r;
  run_parse(&r, text, NULL);
  ss_sim *sim = r.sim;
  sim->part.speed_bound = 1;
  run_require(ss_broad_phase(sim, 0.5, &error), &error, "broad phase");
  const int wide = sim->search.near.n;
  run_require(ss_broad_phase(sim, 0.4, &error), &error, "broad phase"); /* inside the list */
  assert_int_equal(sim->search.near.n, wide);
  run_require(ss_narrow_phase(sim, 0.1, &error), &error, "narrow phase");
  const int n = sim->trial.n_contacts;
  assert_true(n > 100 && n < wide);
  run_require(ss_broad_phase(sim, 0.1, &error), &error, "broad phase");
  assert_true(sim->search.near.n < wide);
  for (int again = 0; again < 2; again++) {
    const long looks = (long)sim->step.looks;
    run_require(ss_narrow_phase(sim, 0.1, &error), &error, "narrow phase");
    assert_int_equal(sim->trial.n_contacts, n);
    for (int i = 0; i < n; i++) {
      const ss_contact *c = &sim->trial.contacts[i];
      const double between = run_distance(run_position(&r, c->body[0]), run_position(&r, c->body[1]));
      check_near(c->at.gap, between - 0.4, 1e-12, "gap");
    }
    assert_int_equal((long)sim->step.looks - looks, again ? 0 : sim->search.near.n);
  }
  /* another place, another reach */
  sim->state.q[0] -= 1e-3;
  run_require(ss_narrow_phase(sim, 0.1, &error), &error, "narrow phase");
  check_near(
      sim->trial.contacts[0].at.gap,
      run_distance(run_position(&r, sim->trial.contacts[0].body[0]), run_position(&r, sim->trial.contacts[0].body[1])) -
          0.4,
      1e-12, "gap of what has moved");
  run_require(ss_narrow_phase(sim, 0.01, &error), &error, "narrow phase");
  assert_true(sim->trial.n_contacts < n);
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_which_points_travel),        cmocka_unit_test(test_which_points_are_left_out),
      cmocka_unit_test(test_gaps_of_elements),           cmocka_unit_test(test_energy_of_patches),
      cmocka_unit_test(test_deformations_at_first),      cmocka_unit_test(test_frames_of_patches),
      cmocka_unit_test(test_what_rests_is_remembered),   cmocka_unit_test(test_what_rests_keeps_its_memory),
      cmocka_unit_test(test_the_latest_part_is_told),    cmocka_unit_test(test_depth_of_contacts),
      cmocka_unit_test(test_the_first_overlap_is_named), cmocka_unit_test(test_what_was_found_is_found_again)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
