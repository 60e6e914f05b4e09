/* The auditor: its depths against sampled directions, and whether it notices contacts that the search loses. */
#include "scene_runner.h"

#include "audit/audit.h"
#include "sim/sim.h"
#include "step/step.h"

/* ---- depths ---- */

static uint64_t seed = 1;
static double random_number(double low, double high) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (high - low) * (double)(seed >> 11) / 9007199254740992.0;
}

static ss_shape random_shape(int kind) {
  static const ss_shape_type types[] = {SS_SHAPE_SPHERE, SS_SHAPE_BOX, SS_SHAPE_CAPSULE, SS_SHAPE_CYLINDER,
                                        SS_SHAPE_ELLIPSOID};
  ss_shape s = {.type = types[kind], .body = -1, .radius = random_number(0.1, 1)};
  s.half = v3(random_number(0.1, 1), random_number(0.1, 1), random_number(0.1, 1));
  s.reach = v3_norm(s.half) + s.radius;
  const ss_quat q = {random_number(-1, 1), random_number(-1, 1), random_number(-1, 1), random_number(-1, 1)};
  s.local = (ss_pose){v3(0, 0, 0), quat_normalize(q)};
  return s;
}

/* Overlap of the two along a direction: no depth is larger. */
static double overlap_along(const ss_probe *a, const ss_probe *b, ss_vec3 d) {
  const ss_vec3 p = ss_probe_support(a, v3_neg(d)), q = ss_probe_support(b, d);
  return a->radius + b->radius - v3_dot(d, v3_sub(p, q));
}

/* The least overlap along many directions, then along ever nearer ones. */
static double slow_depth(const ss_probe *a, const ss_probe *b) {
  double least = HUGE_VAL;
  ss_vec3 best = {1, 0, 0};
  for (int i = 0; i < 6000; i++) {
    const double reach = i < 2000 ? 1 : pow(0.5, (i - 2000) / 200.);
    const ss_vec3 d = v3_normalize(v3(random_number(-1, 1), random_number(-1, 1), random_number(-1, 1)));
    const ss_vec3 u = i < 2000 ? d : v3_normalize(v3_axpy(best, reach, d));
    const double depth = overlap_along(a, b, u);
    if (depth < least) least = depth, best = u;
  }
  return least;
}

static void test_depths(void **state) {
  (void)state;
  int overlaps = 0;
  for (int trial = 0; trial < 300; trial++) {
    ss_shape shape[2] = {random_shape(trial % 5), random_shape(trial / 5 % 5)};
    shape[0].local.position = v3(random_number(-1, 1), random_number(-1, 1), random_number(-1, 1));
    const ss_probe a = ss_probe_at(&shape[0], NULL), b = ss_probe_at(&shape[1], NULL);
    ss_vec3 axis = {0, 0, 0};
    const double depth = ss_convex_overlap(&a, &b, v3(0, 0, 0), 1e-6, &axis), slow = slow_depth(&a, &b);
    if (depth > fmax(slow, 0) * (1 + 1e-9) + 1e-9 || depth < fmax(0, 0.97 * slow - 1e-5))
      fail_msg("trial %d: types %d and %d: depth %g, by sampling %g", trial, shape[0].type, shape[1].type, depth, slow);
    overlaps += depth > 0;
    if (depth == 0) /* the direction that it remembers parts them */
      assert_true(overlap_along(&a, &b, axis) <= 1e-6);
  }
  assert_true(overlaps > 60 && overlaps < 290);
}

/* ---- lost contacts ---- */

static const char *const shapes[] = {
    "{type: sphere, radius: 0.1}",
    "{type: box, size: [0.2, 0.3, 0.2]}",
    "{type: capsule, radius: 0.1, length: 0.2, axis: y}",
    "{type: cylinder, radius: 0.1, length: 0.2, axis: z}",
    "{type: ellipsoid, semi_axes: [0.2, 0.15, 0.1]}",
    "{type: convex, points: [[-0.1, -0.1, -0.1], [0.1, -0.1, -0.1], [0, 0.2, -0.1], [0, 0, 0.1]]}",
};
static const char *const floors[] = {
    "{type: half-space, normal: [0, 0, 1], offset: 0}",
    "{type: box, size: [4, 4, 1], position: [0, 0, -0.5]}",
    "{type: cylinder, radius: 2, length: 1, axis: z, position: [0, 0, -0.5]}",
    "{type: mesh, vertices: [[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]], triangles: [[0, 1, 2], [0, 2, 3]]}",
    "{type: height-field, heights: [[0, 0, 0], [0, 0, 0], [0, 0, 0]], spacing: 2}",
};

static ss_certificate drop(const char *shape, const char *floor, const char *contacts, bool lose) {
  char text[2048];
  (void)snprintf(text, sizeof text,
                 "world: {shapes: [%s]}\n%s"
                 "bodies: [{name: a, mass: 1, position: [0.05, 0.07, 0.12], shapes: [%s]}]\n"
                 "simulation: {scheme: moreau, step: 0.01, duration: 0.25}\n",
                 floor, contacts, shape);
  ss_error error = {0};
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  run_require(ss_scene_parse(text, strlen(text), "drop.yaml", NULL, 0, &scene, &error), &error, text);
  run_require(ss_model_create(scene, &model, &error), &error, text);
  run_require(ss_sim_create(model, NULL, &sim, &error), &error, text);
  static const int both[2] = {0, 1};
  if (lose) sim->search.blind = both;
  while (!ss_sim_done(sim)) run_require(ss_sim_step(sim, &error), &error, text);
  const ss_certificate certificate = ss_sim_report(sim)->certificate;
  assert_true(ss_sim_report(sim)->audits >= 2);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return certificate;
}

static void test_lost_contacts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    for (size_t k = 0; k < sizeof floors / sizeof *floors; k++) {
      const ss_certificate lost = drop(shapes[i], floors[k], "", true);
      if (lost.sound || !(lost.doubts[SS_DOUBT_OVERLAP] > 0.02))
        fail_msg("%s falls through %s unnoticed", shapes[i], floors[k]);
      const ss_certificate kept = drop(shapes[i], floors[k], "", false);
      if (!kept.sound) fail_msg("%s on %s: overlap %g", shapes[i], floors[k], kept.doubts[SS_DOUBT_OVERLAP]);
    }
  }
}

/* What is not meant to touch may overlap. */
static void test_exempt(void **state) {
  (void)state;
  const ss_certificate c = drop(shapes[1], floors[1], "contacts: [{between: [world, a], collide: false}]\n", false);
  assert_true(c.sound);
}

/* ---- which steps are audited ---- */

static bool every_fifth(void *user, const ss_sim *sim) {
  (void)user;
  return ss_sim_state(sim)->step % 5 == 0;
}

/* *steps: until the scene sleeps, the first step asleep included; the rest has been looked at. */
static long audits_of(const char *name, bool recorded, long *steps) {
  run r;
  ss_error error = {0};
  run_open(&r, name, NULL);
  ss_sim *sim = r.sim;
  const ss_observer frames = {.keeps = every_fifth};
  if (recorded) run_require(ss_sim_observe(sim, &frames, &error), &error, name);
  for (*steps = 0; !ss_sim_done(sim) && sim->crowd.slept == 0; ++*steps) {
    const long before = ss_sim_report(sim)->audits;
    run_require(ss_sim_step(sim, &error), &error, name);
    const long now = ss_sim_report(sim)->audits;
    if (recorded && (*steps + 1) % 5 == 0) assert_int_equal(now, before + 1);
    if (ss_sim_done(sim)) assert_int_equal(now, before + 1);
  }
  const ss_report *report = ss_sim_report(sim);
  const long audits = report->audits;
  const ss_audit_account *work = &report->audit_work;
  assert_true(work->audits > 0 && work->steps > 0);
  if (!recorded && work->audits > 0.05 * work->steps + 2 * work->last) /* first and last are always due */
    fail_msg("%s: audits are to take %g of %g", name, work->audits, work->steps);
  run_close(&r);
  return audits;
}

/* As many as take a share of the run, by counts; what is recorded is audited whatever it takes. */
static void test_share(void **state) {
  (void)state;
  long steps;
  long audits = audits_of("bvp-compliant-ball", false, &steps); /* steps of less than half a microsecond */
  assert_in_range(audits, steps / 20, steps / 2);
  audits = audits_of("bvp-compliant-ball", true, &steps);
  assert_in_range(audits, steps / 5, steps / 2);
  audits = audits_of("mesh-stairs", false, &steps); /* triangles: audits of 5 microseconds */
  assert_in_range(audits, steps / 50, steps / 2);
  audits = audits_of("card-house", false, &steps); /* large problems */
  assert_int_equal(audits, steps);
}

/* ---- passing through within a step ---- */

static ss_quat random_turn(double most) {
  return quat_exp(v3(random_number(-most, most), random_number(-most, most), random_number(-most, most)));
}

/* A shape goes past a plate, or through it, whatever moves or turns; the plate and what is on either side of it are known here. */
static void test_ways(void **state) {
  (void)state;
  ss_shape plate = {.type = SS_SHAPE_BOX, .body = -1, .half = {4, 4, 0.005}, .local = pose_identity()};
  plate.reach = v3_norm(plate.half);
  for (int trial = 0; trial < 2000; trial++) {
    const ss_shape shape = random_shape(trial % 5);
    const ss_shape *const both[2] = {trial % 2 ? &plate : &shape, trial % 2 ? &shape : &plate};
    const bool through = trial / 2 % 2;
    const double high = shape.reach * random_number(1.1, 4) + 0.01, low = shape.reach * random_number(1.1, 4) + 0.01;
    const double side = random_number(-1, 1);
    const ss_pose way[2] = {{v3(side, random_number(-1, 1), high), random_turn(2)},
                            {v3(random_number(-1, 1), side, through ? -low : low), random_turn(2)}};
    /* all of it is seen from elsewhere, and the plate moves, too */
    const ss_pose seen[2] = {{v3(1, 2, 3), random_turn(2)}, {v3(random_number(0, 9), 2, 3), random_turn(0.5)}};
    ss_pose places[2][2];
    for (int k = 0; k < 2; k++) {
      const ss_pose fixed = pose_identity();
      const ss_pose turned = {seen[k].position,
                              k ? quat_multiply(seen[1].orientation, seen[0].orientation) : seen[0].orientation};
      places[trial % 2 ? 0 : 1][k] = pose_compose(&turned, &fixed);
      places[trial % 2 ? 1 : 0][k] = pose_compose(&turned, &way[k]);
    }
    const ss_pose ends[2][2] = {{places[0][0], places[0][1]}, {places[1][0], places[1][1]}};
    const double found = ss_convex_passage(both, ends, v3(0, 0, 0));
    if ((found > 0) != through) fail_msg("trial %d: type %d, through %d, found %g", trial, shape.type, through, found);
  }
}

/* Past the end of a plate, and onto it with a tilt: not through. */
static void test_other_ways(void **state) {
  (void)state;
  const ss_shape plate = {
      .type = SS_SHAPE_BOX, .body = -1, .half = {1, 1, 0.005}, .reach = 1.5, .local = pose_identity()};
  const ss_shape ball = {.type = SS_SHAPE_SPHERE, .body = -1, .radius = 0.1, .reach = 0.1};
  const ss_shape coin = {.type = SS_SHAPE_CYLINDER, .body = -1, .radius = 0.5, .half = {0.02, 0, 0}, .reach = 0.51};
  const ss_shape *const with_ball[2] = {&ball, &plate}, *const with_coin[2] = {&coin, &plate};
  const ss_quat level = quat_exp(v3(0, 1.57079632679489661923, 0));
  const ss_pose still = pose_identity(), above = {v3(0.8, 0, 0.3), quat_identity()};
  const ss_pose beside = {v3(1.5, 0, -0.05), quat_identity()},
                tilted = {v3(0, 0, 0.4), quat_multiply(quat_exp(v3(0, 0.1, 0)), level)};
  const ss_pose flat = {v3(0, 0, 0.025), level};
  const ss_pose past[2][2] = {{above, beside}, {still, still}}, lands[2][2] = {{tilted, flat}, {still, still}};
  assert_true(ss_convex_passage(with_ball, past, v3(0, 0, 0)) == 0);
  assert_true(ss_convex_passage(with_coin, lands, v3(0, 0, 0)) == 0);
}

/* Bullets whose contact the search loses are on the other side of a thin thing after one step. */
static void test_bullets(void **state) {
  (void)state;
  static const char *const thin[] = {
      "{type: box, size: [4, 4, 0.01]}",
      "{type: cylinder, radius: 2, length: 0.01, axis: z}",
      "{type: ellipsoid, semi_axes: [2, 2, 0.01]}",
      "{type: mesh, vertices: [[-2, -2, 0], [2, -2, 0], [2, 2, 0], [-2, 2, 0]], triangles: [[0, 1, 2], [0, 2, 3]]}",
      "{type: height-field, heights: [[0, 0, 0], [0, 0, 0], [0, 0, 0]], spacing: 2}",
  };
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (size_t k = 0; k < sizeof thin / sizeof *thin; k++)
      for (int lose = i == 0 ? 0 : 1; lose < 2; lose++) { /* a ball does not pass by itself */
        char text[2048];
        (void)snprintf(
            text, sizeof text,
            "world: {shapes: [%s]}\n"
            "bodies: [{name: a, mass: 1, position: [0.05, 0.07, 0.5], velocity: [3, 0, -100], shapes: [%s]}]\n"
            "simulation: {scheme: moreau, step: 0.01, duration: 0.03}\n",
            thin[k], shapes[i]);
        run r;
        static const int both[2] = {0, 1};
        run_parse(&r, text, NULL);
        if (lose) r.sim->search.blind = both;
        run_finish(&r);
        const ss_certificate c = ss_sim_report(r.sim)->certificate;
        if (c.sound == (lose == 1)) fail_msg("%s and %s: overlap %g", shapes[i], thin[k], c.doubts[SS_DOUBT_OVERLAP]);
        run_close(&r);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_depths), cmocka_unit_test(test_lost_contacts),
                                     cmocka_unit_test(test_exempt), cmocka_unit_test(test_share),
                                     cmocka_unit_test(test_ways),   cmocka_unit_test(test_other_ways),
                                     cmocka_unit_test(test_bullets)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
