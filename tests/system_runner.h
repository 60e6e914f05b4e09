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

/* ---- a small system to be changed by tests: n unit masses ---- */

static const double G = 9.81;

static inline int unit_mass(void *user, double t, const double *q, double *M) {
  (void)t, (void)q;
  const int n = *(const int *)user;
  for (int i = 0; i < n; i++) M[i * n + i] = 1;
  return 0;
}

static inline ss_system unit_system(int *n, const double *q0, const double *v0) {
  ss_system s = ss_system_default();
  s.user = n;
  s.n = *n;
  s.q0 = q0;
  s.v0 = v0;
  s.mass = unit_mass;
  s.constant_mass = true;
  s.simulation.scheme = "trapezoidal";
  s.simulation.step = 0x1p-8;
  s.simulation.duration = 1;
  s.simulation.has_events = true;
  s.simulation.events = SS_EVENT_COLLISION | SS_EVENT_STICK_SLIP | SS_EVENT_TAKE_OFF;
  return s;
}

static inline int weight(void *user, double t, const double *q, const double *v, double *k) {
  (void)t, (void)q, (void)v;
  k[*(const int *)user - 1] = -G;
  return 0;
}

static inline int height_potential(void *user, double t, const double *q, double *energy) {
  (void)t;
  *energy = G * q[*(const int *)user - 1];
  return 0;
}

typedef struct times {
  double t[SS_EVENT_KINDS];
} times;

static inline void note_time(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  times *all = user;
  if (all->t[event->kind] == 0) all->t[event->kind] = event->t;
}

static inline void watch(run *r, times *all) {
  ss_error error = {0};
  *all = (times){0};
  const ss_observer observer = {.user = all, .step = run_ignore_step, .event = note_time};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
}

static inline void check_ledger(const run *r, double tolerance) {
  check_below(fabs(ss_sim_report(r->sim)->energy.remainder), tolerance, "remainder of the ledger");
}

#endif
