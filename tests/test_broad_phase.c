/* Pairs of boxes that meet, against all pairs; and what comes of them when many bodies are loaded. */
#include "contact/sweep_and_prune.h"
#include "cp_generators.h"
#include "scene_runner.h"

enum { BOXES = 300 };

static void random_boxes(random_source r, double boxes[BOXES][6]) {
  for (int i = 0; i < BOXES; i++)
    for (int k = 0; k < 3; k++) {
      const double middle = random_between(&r, -1, 1), half = random_between(&r, 0, 0.2);
      boxes[i][k] = i % 50 == 7 ? -HUGE_VAL : middle - half; /* some have no end, as half-spaces */
      boxes[i][3 + k] = i % 50 == 7 ? HUGE_VAL : middle + half;
    }
}

static bool meet(const double a[6], const double b[6]) {
  for (int k = 0; k < 3; k++)
    if (a[k] > b[3 + k] || b[k] > a[3 + k]) return false;
  return true;
}

static void test_pairs_are_those_that_meet(void **state) {
  (void)state;
  static double boxes[BOXES][6];
  static bool found[BOXES][BOXES];
  int order[2 * BOXES];
  for (int i = 0; i < BOXES; i++) order[i] = i;
  for (int trial = 0; trial < 6; trial++) { /* the order of the trial before is where the next one starts */
    memset(found, 0, sizeof found);
    random_boxes((random_source){1 + (uint64_t)trial}, boxes);
    const int n = trial == 5 ? 1 : BOXES, axis = trial % 3;
    if (n == 1) order[0] = 0;
    ss_sweep_sort(boxes[0], axis, n, order, order + BOXES);
    for (int k = 1; k < n; k++) assert_true(boxes[order[k - 1]][axis] <= boxes[order[k]][axis]);
    ss_sweep sweep = {boxes[0], order, n, axis, 0, 0};
    for (int i, j; ss_sweep_next(&sweep, &i, &j);) {
      assert_false(found[i][j]);
      found[i][j] = found[j][i] = true;
    }
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) assert_int_equal(found[i][j], i != j && meet(boxes[i], boxes[j]));
  }
}

/* Equal ones keep their order, so that lists do not depend on how they were found. */
static void test_sorting_is_stable(void **state) {
  (void)state;
  static double boxes[BOXES][6];
  int order[2 * BOXES];
  for (int i = 0; i < BOXES; i++) {
    order[i] = i;
    boxes[i][1] = (i * 7) % 5;
  }
  ss_sweep_sort(boxes[0], 1, BOXES, order, order + BOXES);
  for (int k = 1; k < BOXES; k++) {
    const double left = boxes[order[k - 1]][1], right = boxes[order[k]][1];
    assert_true(left < right || (left == right && order[k - 1] < order[k]));
  }
}

static void test_axis_is_the_longest(void **state) {
  (void)state;
  static double boxes[BOXES][6];
  for (int long_one = 0; long_one < 3; long_one++) {
    random_boxes((random_source){3}, boxes);
    for (int i = 0; i < BOXES; i++) boxes[i][long_one] *= 10;
    for (int present = 0; present < 3; present++) assert_int_equal(ss_sweep_axis(boxes[0], BOXES, present), long_one);
  }
}

/* Another axis is taken where boxes are scattered along it more than twice as far, wherever they are; what has no end does not count. */
static void test_axis_does_not_change_for_little(void **state) {
  (void)state;
  enum { N = 5 };
  static const double places[N] = {0, 1, -1, 3, 0.5}, shifts[] = {0, 1000, -50};
  for (int other = 1; other < 3; other++)
    for (int s = 0; s < 3; s++)
      for (int far = 0; far < 2; far++) {
        double boxes[N + 1][6];
        for (int i = 0; i < N; i++)
          for (int k = 0; k < 3; k++) {
            const double width = k == 0 ? 1 : k == other ? (far ? 2.01 : 1.99) : 0.5;
            boxes[i][k] = width * places[(i + k) % N] + (k == s ? shifts[s] : shifts[2 - s]);
            boxes[i][3 + k] = boxes[i][k] + 7 * (i + k); /* only where they begin counts */
          }
        for (int k = 0; k < 6; k++) boxes[N][k] = k < 3 ? -HUGE_VAL : HUGE_VAL;
        boxes[N][other] = 0; /* bounded on one side */
        assert_int_equal(ss_sweep_axis(boxes[0], N + 1, 0), far ? other : 0);
        assert_int_equal(ss_sweep_axis(boxes[0], N + 1, other), other);
        assert_int_equal(ss_sweep_axis(boxes[0], N + 1, 3 - other), other);
      }
}

/* A box without an end along one axis alone says nothing about the others either. */
static void test_axis_without_boxes_that_have_no_end(void **state) {
  (void)state;
  for (int endless = 0; endless < 3; endless++)
    for (int far = 0; far < 3; far++) {
      double boxes[4][6] = {{0}};
      for (int i = 0; i < 3; i++) boxes[i][far] = 10 * i;
      for (int k = 0; k < 3; k++) boxes[3][k] = k == endless ? -HUGE_VAL : k == far ? 0 : 1e6;
      assert_int_equal(ss_sweep_axis(boxes[0], 4, (far + 1) % 3), far);
    }
}

/* A grid of balls; two pairs overlap, and the message names the one whose bodies come first. */
static void test_overlap_of_the_first_pair_is_told(void **state) {
  (void)state;
  enum { N = 400 };
  static char text[1 << 16];
  int used = snprintf(text, sizeof text, "bodies:\n");
  for (int i = 0; i < N; i++) {
    const double shift = i == 90 ? -0.95 : i == 377 ? 0.6 : 0; /* 90 into 89, 377 into 378 */
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b%d, mass: 1, position: [%g, %d, 0], shapes: [{type: sphere, radius: 0.4}]}\n", i,
                     i % 20 + shift, i / 20);
  }
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {step: 0.01, duration: 1}\n");
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  run_require(ss_scene_parse(text, strlen(text), "grid.yaml", NULL, 0, &scene, &error), &error, "parse");
  assert_int_equal(ss_model_create(scene, &model, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "'b89' and 'b90' overlap by 0.75"));
  assert_int_equal(error.line, 91);
  ss_scene_destroy(scene);
}

static void test_a_name_given_twice_is_refused(void **state) {
  (void)state;
  static const char *const names[] = {"c", "a", "b", "a"};
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  run_require(ss_scene_create(&scene, &error), &error, "create");
  for (int i = 0; i < 4; i++) {
    ss_body_def body = ss_body_default(names[i]);
    body.mass = 1;
    body.freedom = SS_X;
    run_require(ss_scene_add_body(scene, &body, &error), &error, "add");
  }
  assert_int_equal(ss_model_create(scene, &model, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "the name 'a' is taken"));
  ss_scene_destroy(scene);
}

/* Two boxes at rest that a force drives together within one step, while another body is so fast that the largest speed does not
 * tell: they are set aside at first, and looked at when the step has shown where they go. */
static void test_pairs_set_aside_are_found_again(void **state) {
  (void)state;
  static const char text[] =
      "gravity: [0, 0, 0]\n"
      "bodies:\n"
      "  - {name: left, mass: 1, position: [-0.3, 0, 0], shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}\n"
      "  - {name: right, mass: 1, position: [0.3, 0, 0], shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}\n"
      "  - {name: fast, mass: 1, position: [0, 50, 0], velocity: [0, 400, 0], shapes: [{type: box, size: [0.2, 0.2, "
      "0.2]}]}\n"
      "  - {name: idle, mass: 1, position: [0, -50, 0], shapes: [{type: box, size: [0.2, 0.2, 0.2]}]}\n"
      "forces:\n"
      "  - {type: applied, on: left, force: [8000, 0, 0]}\n"
      "  - {type: applied, on: right, force: [-8000, 0, 0]}\n"
      "simulation: {scheme: trapezoidal, step: 0.01, duration: 0.02}\n";
  run r;
  run_parse(&r, text, NULL);
  run_step(&r);
  assert_true(r.n_collisions > 0);
  check_near(r.collision_time[0], sqrt(2 * 0.2 / 8000), 1e-9, "collision");
  check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-9, "penetration");
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pairs_are_those_that_meet),
      cmocka_unit_test(test_sorting_is_stable),
      cmocka_unit_test(test_axis_is_the_longest),
      cmocka_unit_test(test_axis_does_not_change_for_little),
      cmocka_unit_test(test_axis_without_boxes_that_have_no_end),
      cmocka_unit_test(test_overlap_of_the_first_pair_is_told),
      cmocka_unit_test(test_a_name_given_twice_is_refused),
      cmocka_unit_test(test_pairs_set_aside_are_found_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
