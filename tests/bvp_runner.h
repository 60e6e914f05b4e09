/* Boundary-value problems for tests: loading, solving, and running what was found. */
#ifndef BVP_RUNNER_H
#define BVP_RUNNER_H

#include "scene_runner.h"

#include <stickslip/bvp.h>

#include <unistd.h>

static inline ss_scene *load(const char *name, const char *const *settings, int n) {
  char path[1024];
  ss_scene *scene = NULL;
  ss_error error = {0};
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", SOURCE_DIR, name);
  run_require(ss_scene_load(path, settings, n, &scene, &error), &error, name);
  return scene;
}

static inline ss_bvp_result *solve(const ss_scene *scene, const char *const *settings, int n) {
  ss_bvp_result *result = NULL;
  ss_error error = {0};
  run_require(ss_bvp_solve(scene, NULL, settings, n, &result, &error), &error, "bvp");
  return result;
}

/* Writes the solution as a scene, runs that, and returns the first body's motion at the end. */
static inline ss_motion reproduce_with(const ss_scene *scene, const ss_simulation *options, const char *const *settings,
                                       int n_settings, const double *unknown) {
  ss_error error = {0};
  run r = {0};
  char path[64]; /* tests run side by side */
  (void)snprintf(path, sizeof path, "bvp_solved_%ld.yaml", (long)getpid());
  run_require(ss_bvp_write_scene(scene, options, settings, n_settings, unknown, path, &error), &error, "write");
  run_require(ss_scene_load(path, NULL, 0, &r.scene, &error), &error, "load");
  run_compile(&r, NULL);
  run_finish(&r);
  const ss_motion motion = ss_sim_motion(r.sim, 0);
  run_close(&r);
  assert_int_equal(remove(path), 0);
  return motion;
}

static inline ss_motion reproduce(const ss_scene *scene, const double *unknown) {
  return reproduce_with(scene, NULL, NULL, 0, unknown);
}

#endif
