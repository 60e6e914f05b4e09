/* Results of many bodies: they share their datasets (recorder_bodies.h), and are read back as those of a few. */
#include "scene_runner.h"

#include <unistd.h>

enum { APART = 256, TOGETHER = 300, STEPS = 230 }; /* more rows than a block of so many bodies has */

static char path[1024];

static void fly(int bodies, int steps, ss_motion *motion) {
  static char text[1 << 17];
  int used = snprintf(text, sizeof text, "gravity: [0, 0, -1]\nbodies:\n");
  for (int i = 0; i < bodies; i++)
    used += snprintf(text + used, sizeof text - (size_t)used,
                     "  - {name: b%d, mass: 1, inertia: [1, 2, 3], position: [%d, 0, %d], velocity: [0, %g, 0],"
                     " angular_velocity: [%g, 1, 0.5]}\n",
                     i, i, 2 * i, 0.1 * i, 0.01 * i);
  (void)snprintf(text + used, sizeof text - (size_t)used, "simulation: {scheme: moreau, step: 0.01, duration: %g}\n",
                 0.01 * steps);
  run r;
  ss_error error = {0};
  ss_recorder *recorder;
  run_parse(&r, text, NULL);
  run_require(ss_recorder_open_hdf5(path, r.sim, 1, &recorder, &error), &error, "open");
  const ss_observer observer = ss_recorder_observer(recorder);
  run_require(ss_sim_observe(r.sim, &observer, &error), &error, "observe");
  for (int row = 0; row <= steps; row++) {
    for (int i = 0; i < bodies; i++) motion[row * bodies + i] = ss_sim_motion(r.sim, i);
    if (row < steps) run_step(&r);
  }
  run_require(ss_recorder_close(recorder, r.sim, true, &error), &error, "close");
  run_close(&r);
}

static void numbers_of(const ss_motion *m, double out[13]) {
  const ss_vec3 x = m->pose.position, v = m->velocity, w = m->angular_velocity;
  const ss_quat q = m->pose.orientation;
  memcpy(out, (double[13]){x.x, x.y, x.z, q.w, q.x, q.y, q.z, v.x, v.y, v.z, w.x, w.y, w.z}, 13 * sizeof *out);
}

/* Every column of some bodies in every row. */
static void compare_columns(int bodies, int steps, const ss_motion *motion) {
  static const char *const names[] = {"x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"};
  const int some[] = {0, 71, 200, bodies - 1};
  ss_result *result;
  ss_error error = {0};
  run_require(ss_result_open(path, &result, &error), &error, "open");
  assert_int_equal(ss_result_rows(result), steps + 1);
  for (int k = 0; k < 4 * 13; k++) {
    char name[32];
    double values[STEPS + 1], expected[13];
    (void)snprintf(name, sizeof name, "b%d.%s", some[k / 13], names[k % 13]);
    run_require(ss_result_column(result, name, values, &error), &error, name);
    for (int row = 0; row <= steps; row++) {
      numbers_of(&motion[row * bodies + some[k / 13]], expected);
      assert_true(values[row] == expected[k % 13]);
    }
  }
  ss_result_close(result);
}

/* All bodies in every row, as they are read a block at a time. */
static void compare_table(int bodies, int steps, const ss_motion *motion) {
  char csv[1100], *line = NULL;
  size_t size = 0;
  ss_error error = {0};
  (void)snprintf(csv, sizeof csv, "%s.csv", path);
  run_require(ss_export_csv(path, csv, &error), &error, "export");
  FILE *f = fopen(csv, "r");
  assert_non_null(f);
  assert_true(getline(&line, &size, f) > 0);
  for (int row = 0; row <= steps; row++) {
    assert_true(getline(&line, &size, f) > 0);
    char *at = line;
    (void)strtod(at, &at); /* the time */
    for (int body = 0; body < bodies; body++) {
      double expected[13];
      numbers_of(&motion[row * bodies + body], expected);
      for (int k = 0; k < 13; k++) assert_true(*at == ',' && strtod(at + 1, &at) == expected[k]);
    }
  }
  free(line);
  (void)fclose(f);
  (void)unlink(csv);
}

static void test_both_layouts(void **state) {
  (void)state;
  static const int bodies[] = {APART, TOGETHER}, steps[] = {20, STEPS};
  for (int k = 0; k < 2; k++) {
    ss_motion *motion = calloc((size_t)bodies[k] * (STEPS + 1), sizeof *motion);
    assert_non_null(motion);
    fly(bodies[k], steps[k], motion);
    compare_columns(bodies[k], steps[k], motion);
    compare_table(bodies[k], steps[k], motion);
    free(motion);
  }
}

static int set_up(void **state) {
  (void)state;
  return snprintf(path, sizeof path, BINARY_DIR "/test-many-%ld.h5", (long)getpid()) < 0;
}

static int tear_down(void **state) {
  (void)state;
  return unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_layouts)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
