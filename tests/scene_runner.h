/* Runs scenes through the public interface: load, compile, step, and what every run must satisfy. */
#ifndef TESTS_SCENE_RUNNER_H
#define TESTS_SCENE_RUNNER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stickslip/stickslip.h>

#include "core/math3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What to change in a scene before it runs; zero or NULL keeps the scene's own. */
typedef struct change {
  const char *scheme;
  double step, duration;
  double tolerance; /* automatic step size */
  ss_estimate estimate;
  double alpha, gamma; /* with scheme gavrea */
  int directions;      /* of the polyhedral cone, which it chooses */
  ss_cone cone;
  ss_restitution restitution;
  bool unstabilized;  /* stabilization: none */
  const char *set[6]; /* name=value */
} change;

typedef struct run {
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  double collision_time[64]; /* the first ones */
  int n_collisions;
} run;

static inline void run_require(ss_status status, const ss_error *error, const char *what) {
  if (status != SS_OK)
    print_error("%s: status %d, %s:%d:%d: %s\n", what, status, error->file, error->line, error->column, error->message);
  assert_int_equal(status, SS_OK);
}

static inline void run_note_event(void *user, const ss_sim *sim, const ss_event *event) {
  run *r = user;
  (void)sim;
  if (event->kind == SS_COLLISION && r->n_collisions < (int)(sizeof r->collision_time / sizeof *r->collision_time))
    r->collision_time[r->n_collisions++] = event->t;
}

static inline ss_status run_ignore_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

/* Compliant schemes run only where the scene says how contacts give. They are the last rows of the table. */
static inline bool scheme_is_rigid(const char *name) { return !ss_scheme_is_compliant(name); }

/* Model and sim from r->scene. */
static inline void run_compile(run *r, const change *c) {
  ss_error error = {0};
  ss_simulation options = r->scene->simulation;
  if (c && c->scheme) options.scheme = c->scheme;
  if (c && c->step > 0) options.step = c->step;
  if (c && c->tolerance > 0) options.tolerance = c->tolerance, options.largest_step = options.duration / 64;
  if (c && c->estimate) options.estimate = c->estimate;
  if (c && c->duration > 0) options.duration = c->duration;
  if (c && c->alpha > 0) options.alpha = c->alpha, options.gamma = c->gamma;
  if (c && c->directions) options.directions = c->directions, options.cone = SS_CONE_POLYHEDRAL;
  if (c && c->cone) options.cone = c->cone;
  if (c && c->restitution) options.restitution = c->restitution;
  if (c && c->unstabilized) options.stabilization = SS_STABILIZATION_NONE;
  run_require(ss_model_create(r->scene, &r->model, &error), &error, "compile");
  run_require(ss_sim_create(r->model, &options, &r->sim, &error), &error, "create");
  const ss_observer observer = {.user = r, .step = run_ignore_step, .event = run_note_event};
  run_require(ss_sim_observe(r->sim, &observer, &error), &error, "observe");
}

static inline int run_count_settings(const change *c) {
  int n = 0;
  while (c && n < (int)(sizeof c->set / sizeof *c->set) && c->set[n]) n++;
  return n;
}

/* A scene of scenes/, by the file's name without extension. */
static inline void run_open(run *r, const char *name, const change *c) {
  char path[1024];
  ss_error error = {0};
  *r = (run){0};
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", SOURCE_DIR, name);
  run_require(ss_scene_load(path, c ? c->set : NULL, run_count_settings(c), &r->scene, &error), &error, name);
  run_compile(r, c);
}

/* A scene given as YAML text. */
static inline void run_parse(run *r, const char *text, const change *c) {
  ss_error error = {0};
  *r = (run){0};
  const ss_status status =
      ss_scene_parse(text, strlen(text), "text", c ? c->set : NULL, run_count_settings(c), &r->scene, &error);
  run_require(status, &error, text);
  run_compile(r, c);
}

static inline void run_close(run *r) {
  ss_sim_destroy(r->sim);
  ss_model_destroy(r->model);
  ss_scene_destroy(r->scene);
  r->sim = NULL, r->model = NULL, r->scene = NULL;
}

static inline void run_step(run *r) {
  ss_error error = {0};
  run_require(ss_sim_step(r->sim, &error), &error, "step");
}

static inline ss_vec3 run_position(const run *r, int body) { return ss_sim_motion(r->sim, body).pose.position; }
static inline ss_vec3 run_velocity(const run *r, int body) { return ss_sim_motion(r->sim, body).velocity; }
static inline ss_vec3 run_turn(const run *r, int body) { return ss_sim_motion(r->sim, body).angular_velocity; }

static inline double run_distance(ss_vec3 a, ss_vec3 b) { return v3_norm(v3_sub(a, b)); }

/* Fails with both numbers where |a - b| > tolerance or either is not a number. */
static inline void check_near(double a, double b, double tolerance, const char *what) {
  if (!(fabs(a - b) <= tolerance)) print_error("%s: %.17g instead of %.17g, off by %.3g\n", what, a, b, fabs(a - b));
  assert_true(fabs(a - b) <= tolerance);
}

static inline void check_below(double a, double bound, const char *what) {
  if (!(a <= bound)) print_error("%s: %.17g exceeds %.3g\n", what, a, bound);
  assert_true(a <= bound);
}

/* Every run, whatever the scene: certified, finite, and a ledger that adds up. */
static inline void run_check(const run *r) {
  const ss_report *report = ss_sim_report(r->sim);
  const ss_energy *e = &report->energy;
  const ss_state *state = ss_sim_state(r->sim);
  assert_true(report->certificate.certified);
  check_below(report->certificate.complementarity, ss_sim_options(r->sim)->residual, "complementarity");
  for (int i = 0; i < 7 * ss_model_bodies(r->model); i++) assert_true(isfinite(state->q[i]));
  for (int i = 0; i < ss_model_coordinates(r->model); i++) assert_true(isfinite(state->v[i]));
  const double losses = e->friction_loss + e->impact_loss + e->damping_loss;
  const double scale = fabs(e->initial) + fabs(e->final) + fabs(e->work) + fabs(e->friction_loss) +
                       fabs(e->impact_loss) + fabs(e->damping_loss) + fabs(e->stabilization) + fabs(e->remainder);
  check_near(e->final, e->initial + e->work - losses + e->stabilization + e->remainder, 1e-14 * scale, "energy ledger");
  check_near(e->final, e->kinetic + e->potential + e->elastic, 1e-14 * scale, "parts of the energy");
}

/* Steps to the end of the duration and checks. */
static inline void run_finish(run *r) {
  while (!ss_sim_done(r->sim)) run_step(r);
  run_check(r);
}

/* Deterministic random numbers in (-1, 1). */
static inline double random_next(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*seed ^ (*seed >> 31)) * 0x1p-63;
}

/* A unit quaternion, uniformly distributed. */
static inline ss_quat random_rotation(uint64_t *seed) {
  for (;;) {
    const ss_quat q = {random_next(seed), random_next(seed), random_next(seed), random_next(seed)};
    const double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (square > 0.01 && square < 1) return quat_normalize(q);
  }
}

#endif
