/* Pages: what is in them is what was simulated, whether it comes from the run or from its result. */
#include "scene_runner.h"

#include <jansson.h>

static char directory[1024];

static char *read_all(const char *path) {
  FILE *stream = fopen(path, "rb");
  assert_non_null(stream);
  assert_int_equal(fseek(stream, 0, SEEK_END), 0);
  const long size = ftell(stream);
  rewind(stream);
  char *text = calloc(1, (size_t)size + 1);
  assert_non_null(text);
  assert_int_equal(fread(text, 1, (size_t)size, stream), (size_t)size);
  (void)fclose(stream);
  return text;
}

static json_t *page_data(const char *path) {
  static const char opening[] = "id=\"stickslip-data\">";
  char *text = read_all(path);
  char *start = strstr(text, opening);
  assert_non_null(start);
  start += strlen(opening);
  char *end = strstr(start, "</script>");
  assert_non_null(end);
  json_error_t problem;
  json_t *data = json_loadb(start, (size_t)(end - start), 0, &problem);
  if (!data) fail_msg("%d:%d: %s", problem.line, problem.column, problem.text);
  free(text);
  return data;
}

/* Base64, by the book: an independent reading of what the writer wrote. */
static unsigned char *decode(const json_t *object, const char *key, size_t *size) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *text = json_string_value(json_object_get(object, key));
  assert_non_null(text);
  const size_t length = strlen(text);
  assert_int_equal(length % 4, 0);
  unsigned char *bytes = calloc(1, length + 1);
  assert_non_null(bytes);
  *size = 0;
  unsigned bits = 0;
  int have = 0;
  for (size_t i = 0; i < length && text[i] != '='; i++) {
    const char *digit = strchr(alphabet, text[i]);
    assert_non_null(digit);
    bits = bits << 6 | (unsigned)(digit - alphabet);
    have += 6;
    if (have < 8) continue;
    have -= 8;
    bytes[(*size)++] = (unsigned char)(bits >> have & 255);
  }
  return bytes;
}

static double number_at(const unsigned char *bytes, size_t index, size_t width) {
  uint64_t bits = 0;
  for (size_t i = 0; i < width; i++) bits |= (uint64_t)bytes[index * width + i] << (8 * i);
  if (width == 8) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  const uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return (double)value;
}

/* The motion as an observer sees it, for comparison. */
enum { MOST_ROWS = 4000 };
typedef struct witness {
  int n;
  double t[MOST_ROWS], x[MOST_ROWS];
} witness;

static ss_status watch(void *user, const ss_sim *sim, ss_error *error) {
  witness *w = user;
  (void)error;
  assert_true(w->n < MOST_ROWS);
  w->t[w->n] = ss_sim_state(sim)->t;
  w->x[w->n++] = ss_sim_motion(sim, 0).pose.position.x;
  return SS_OK;
}

/* Simulates with both recorders; false where the library has no viewer. */
static bool record(const char *scene_file, double duration, witness *w, const char *page, const char *result) {
  char path[1200];
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  ss_recorder *recorders[2];
  (void)snprintf(path, sizeof path, "%s/scenes/%s", SOURCE_DIR, scene_file);
  run_require(ss_scene_load(path, NULL, 0, &scene, &error), &error, "load");
  if (duration > 0) scene->simulation.duration = duration;
  run_require(ss_model_create(scene, &model, &error), &error, "compile");
  run_require(ss_sim_create(model, &scene->simulation, &sim, &error), &error, "create");
  ss_sim_time_stages(sim, true);
  const ss_status opened = ss_recorder_open_page(page, sim, &recorders[0], &error);
  if (opened == SS_OK) {
    run_require(ss_recorder_open_hdf5(result, sim, 1, &recorders[1], &error), &error, "open result");
    for (int i = 0; i < 2; i++) {
      const ss_observer observer = ss_recorder_observer(recorders[i]);
      run_require(ss_sim_observe(sim, &observer, &error), &error, "observe");
    }
    const ss_observer observer = {.user = w, .step = watch};
    run_require(ss_sim_observe(sim, &observer, &error), &error, "observe");
    w->n = 0;
    (void)watch(w, sim, &error);
    while (!ss_sim_done(sim)) run_require(ss_sim_step(sim, &error), &error, "step");
    for (int i = 0; i < 2; i++) run_require(ss_recorder_close(recorders[i], sim, true, &error), &error, "close");
  } else {
    assert_int_equal(opened, SS_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "npm"));
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return opened == SS_OK;
}

static void in_directory(char *path, size_t size, const char *name) {
  (void)snprintf(path, size, "%s/%s", directory, name);
}

static witness seen;

static void pages_hold_the_motion(void **state) {
  (void)state;
  char page[1200], result[1200];
  in_directory(page, sizeof page, "a.html");
  in_directory(result, sizeof result, "a.h5");
  if (!record("bouncing-ball.yaml", 0, &seen, page, result)) skip();
  json_t *data = page_data(page);
  const json_t *frames = json_object_get(data, "frames");
  const long every = (long)json_integer_value(json_object_get(frames, "every"));
  const long count = (long)json_integer_value(json_object_get(frames, "count"));
  const size_t bodies = json_array_size(json_object_get(json_object_get(data, "model"), "bodies"));
  size_t time_size, position_size;
  unsigned char *time = decode(frames, "time", &time_size), *position = decode(frames, "position", &position_size);
  assert_int_equal(time_size, 8 * (size_t)count);
  assert_int_equal(position_size, 12 * (size_t)count * bodies);
  for (long i = 0; i < count; i++) {
    const int row = i * every < seen.n ? (int)(i * every) : seen.n - 1;
    assert_true(number_at(time, (size_t)i, 8) == seen.t[row]);
    const double x = number_at(position, (size_t)i * bodies * 3, 4);
    assert_true(fabs(x - seen.x[row]) <= 1e-6 * (1 + fabs(x)));
  }
  assert_true(number_at(time, (size_t)count - 1, 8) == seen.t[seen.n - 1]);
  assert_true(json_is_true(json_object_get(json_object_get(data, "run"), "complete")));
  free(time);
  free(position);
  json_decref(data);
}

/* The page of the result is the page of the run. */
static void results_make_the_same_page(void **state) {
  (void)state;
  static const struct {
    const char *file, *has; /* something that this one has */
    double duration;
  } scenes[] = {{"four-balls.yaml", "contacts", 0},
                {"double-pendulum-wall.yaml", "contacts", 0},
                {"stick-slip-block.yaml", "applied", 0},
                {"cattaneo-mindlin.yaml", "patches", 0.002}};
  static const char *const same[] = {"model",  "run",   "certificate", "frames", "ledger",  "solves", "timings",
                                     "energy", "worst", "contacts",    "events", "applied", "patches"};
  for (size_t s = 0; s < sizeof scenes / sizeof *scenes; s++) {
    char page[1200], result[1200], again[1200];
    in_directory(page, sizeof page, "b.html");
    in_directory(result, sizeof result, "b.h5");
    in_directory(again, sizeof again, "c.html");
    if (!record(scenes[s].file, scenes[s].duration, &seen, page, result)) skip();
    ss_error error = {0};
    run_require(ss_page_from_result(result, again, SS_PAGE_VIEWER, &error), &error, "page from result");
    json_t *a = page_data(page), *b = page_data(again);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
      if (!json_equal(json_object_get(a, same[i]), json_object_get(b, same[i])))
        fail_msg("%s: '%s' differs between the run's page and the result's", scenes[s].file, same[i]);
    const json_t *has = json_object_get(a, scenes[s].has);
    size_t size;
    free(json_is_object(has) ? decode(has, "state", &size) : decode(a, scenes[s].has, &size));
    assert_true(size > 0);
    assert_true(json_is_object(json_object_get(a, "timings")));
    json_decref(a);
    json_decref(b);
  }
}

/* A long run is thinned out, and the page says by how much. */
static void long_runs_are_thinned_out(void **state) {
  (void)state;
  char page[1200];
  in_directory(page, sizeof page, "d.html");
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  ss_recorder *recorder;
  char path[1200];
  (void)snprintf(path, sizeof path, "%s/scenes/bouncing-ball.yaml", SOURCE_DIR);
  run_require(ss_scene_load(path, NULL, 0, &scene, &error), &error, "load");
  scene->simulation.step = scene->simulation.duration / 9000;
  run_require(ss_model_create(scene, &model, &error), &error, "compile");
  run_require(ss_sim_create(model, &scene->simulation, &sim, &error), &error, "create");
  const ss_status opened = ss_recorder_open_page(page, sim, &recorder, &error);
  if (opened == SS_OK) {
    const ss_observer observer = ss_recorder_observer(recorder);
    run_require(ss_sim_observe(sim, &observer, &error), &error, "observe");
    while (!ss_sim_done(sim)) run_require(ss_sim_step(sim, &error), &error, "step");
    run_require(ss_recorder_close(recorder, sim, true, &error), &error, "close");
    json_t *data = page_data(page);
    const json_t *frames = json_object_get(data, "frames");
    const long every = (long)json_integer_value(json_object_get(frames, "every"));
    const long count = (long)json_integer_value(json_object_get(frames, "count"));
    assert_true(every >= 5);
    assert_true(count <= 2001);
    assert_true(labs(count - 9000 / every - 1) <= 1);
    json_decref(data);
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  if (opened != SS_OK) skip();
}

/* Text of a scene cannot end the script element that holds it. */
static void scene_text_cannot_break_out(void **state) {
  (void)state;
  static const char text[] = "name: \"</script><b>bold\"\n"
                             "bodies: [{name: a, mass: 1, freedom: [x, y, z], position: [0, 0, 1]}]\n"
                             "simulation: {scheme: moreau, step: 0.1, duration: 0.2}\n";
  char page[1200];
  in_directory(page, sizeof page, "e.html");
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  ss_recorder *recorder;
  run_require(ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error), &error, "parse");
  run_require(ss_model_create(scene, &model, &error), &error, "compile");
  run_require(ss_sim_create(model, &scene->simulation, &sim, &error), &error, "create");
  const ss_status opened = ss_recorder_open_page(page, sim, &recorder, &error);
  if (opened == SS_OK) {
    run_require(ss_recorder_close(recorder, sim, false, &error), &error, "close");
    json_t *data = page_data(page);
    const json_t *model_data = json_object_get(data, "model");
    assert_string_equal(json_string_value(json_object_get(model_data, "name")), "</script><b>bold");
    assert_string_equal(json_string_value(json_object_get(model_data, "text")), text);
    assert_false(json_is_true(json_object_get(json_object_get(data, "certificate"), "certified")));
    json_decref(data);
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  if (opened != SS_OK) skip();
}

static void what_is_no_result_is_refused(void **state) {
  (void)state;
  char path[1200], page[1200];
  ss_error error = {0};
  (void)snprintf(path, sizeof path, "%s/scenes/bouncing-ball.yaml", SOURCE_DIR);
  in_directory(page, sizeof page, "f.html");
  assert_int_not_equal(ss_page_from_result(path, page, SS_PAGE_VIEWER, &error), SS_OK);
  assert_null(fopen(page, "rb"));
}

static void columns_by_name(void **state) {
  (void)state;
  char page[1200], path[1200];
  in_directory(page, sizeof page, "g.html");
  in_directory(path, sizeof path, "g.h5");
  if (!record("bouncing-ball.yaml", 1, &seen, page, path)) skip();
  ss_error error = {0};
  ss_result *result;
  run_require(ss_result_open(path, &result, &error), &error, "open");
  assert_int_equal(ss_result_rows(result), seen.n);
  double *values = calloc((size_t)seen.n, sizeof *values);
  assert_non_null(values);
  run_require(ss_result_column(result, "t", values, &error), &error, "t");
  for (int i = 0; i < seen.n; i++) assert_true(values[i] == seen.t[i]);
  run_require(ss_result_column(result, "ball.x", values, &error), &error, "ball.x");
  for (int i = 0; i < seen.n; i++) assert_true(values[i] == seen.x[i]);
  run_require(ss_result_column(result, "energy.total", values, &error), &error, "energy.total");
  static const char *const wrong[] = {"ball.q", "bell.x", "energy.heat", "ball", ""};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(ss_result_column(result, wrong[i], values, &error), SS_ERROR_INPUT);
  free(values);
  ss_result_close(result);
}

int main(void) {
  (void)snprintf(directory, sizeof directory, "%s/test_page-XXXXXX", BINARY_DIR);
  if (!mkdtemp(directory)) return 1;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pages_hold_the_motion),        cmocka_unit_test(results_make_the_same_page),
      cmocka_unit_test(long_runs_are_thinned_out),    cmocka_unit_test(scene_text_cannot_break_out),
      cmocka_unit_test(what_is_no_result_is_refused), cmocka_unit_test(columns_by_name),
  };
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[1200];
  (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
  return system(command) == 0 ? failed : 1; // NOLINT(cert-env33-c)
}
