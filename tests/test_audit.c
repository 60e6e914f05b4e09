/* The auditor: its depths against sampled directions, and whether it notices contacts that the search loses. */
#include "scene_runner.h"

#include "audit/audit.h"
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
    const ss_probe a = ss_probe_at(NULL, &shape[0], NULL), b = ss_probe_at(NULL, &shape[1], NULL);
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
  assert_true(ss_sim_report(sim)->audits >= 12);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_depths), cmocka_unit_test(test_lost_contacts),
                                     cmocka_unit_test(test_exempt)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
