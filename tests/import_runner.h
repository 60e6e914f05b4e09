/* Models of others, written by tests: imported, passed through a scene file, and moved. */
#ifndef TESTS_IMPORT_RUNNER_H
#define TESTS_IMPORT_RUNNER_H

#include "scene_runner.h"

#include <unistd.h>

static char remarks[8192];

static inline void listen(void *user, const char *remark) {
  (void)user;
  const size_t used = strlen(remarks);
  (void)snprintf(remarks + used, sizeof remarks - used, "%s\n", remark);
}

static char path[1024];

static inline const char *write_model(const char *text) {
  (void)snprintf(path, sizeof path, BINARY_DIR "/test-import-%ld.xml", (long)getpid());
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
  return path;
}

static inline ss_scene *import_text(const char *text, bool fixed_base) {
  ss_scene *scene = NULL;
  ss_error error = {0};
  remarks[0] = '\0';
  if (ss_import_model(write_model(text), fixed_base, listen, NULL, &scene, &error))
    fail_msg("%d:%d: %s", error.line, error.column, error.message);
  (void)unlink(path);
  return scene;
}

/* Writes the scene and reads it back, as the command does. */
static inline ss_scene *through_a_file(ss_scene *scene) {
  char *text = NULL;
  size_t size = 0;
  ss_error error = {0};
  FILE *f = open_memstream(&text, &size);
  assert_non_null(f);
  run_require(ss_scene_write(scene, f, &error), &error, "write");
  assert_int_equal(fclose(f), 0);
  ss_scene *again = NULL;
  run_require(ss_scene_parse(text, size, "written", NULL, 0, &again, &error), &error, "parse");
  ss_scene_destroy(scene);
  free(text);
  return again;
}

static inline ss_sim *simulate(ss_scene *scene, ss_model **model, double duration) {
  ss_error error = {0};
  ss_sim *sim = NULL;
  scene->simulation.duration = duration;
  run_require(ss_model_create(scene, model, &error), &error, "compile");
  run_require(ss_sim_create(*model, &scene->simulation, &sim, &error), &error, "create");
  while (!ss_sim_done(sim)) run_require(ss_sim_step(sim, &error), &error, "step");
  return sim;
}

#endif
