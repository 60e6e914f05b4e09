/* Runs user-defined systems through the public interface. */
#ifndef TESTS_SYSTEM_RUNNER_H
#define TESTS_SYSTEM_RUNNER_H

#include "scene_runner.h"

static inline void system_open(run *r, const ss_system *system) {
  ss_error error = {0};
  *r = (run){0};
  run_require(ss_model_create_system(system, &r->model, &error), &error, "compile");
  run_require(ss_sim_create(r->model, NULL, &r->sim, &error), &error, "create");
  const ss_observer observer = {.user = r, .step = run_ignore_step, .event = run_note_event};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
}

static inline const double *system_q(const run *r) { return ss_sim_state(r->sim)->q; }
static inline const double *system_v(const run *r) { return ss_sim_state(r->sim)->v; }

/* What compiling and creating say; the message is in error. */
static inline ss_status system_try(const ss_system *system, ss_error *error) {
  run r = {0};
  *error = (ss_error){0};
  ss_status status = ss_model_create_system(system, &r.model, error);
  if (status == SS_OK) status = ss_sim_create(r.model, NULL, &r.sim, error);
  run_close(&r);
  return status;
}

static inline void check_refused(const ss_system *system, ss_status expected, const char *words) {
  ss_error error;
  const ss_status status = system_try(system, &error);
  if (status != expected || !strstr(error.message, words))
    print_error("status %d: '%s' instead of '%s'\n", status, error.message, words);
  assert_int_equal(status, expected);
  assert_non_null(strstr(error.message, words));
}

#endif
