/* One random scene, run and looked at from outside: what every run must satisfy, whatever the scene.
 *
 *   failed       no certified solution: a message, and the state before the step
 *   certificate  certified, with a residual above the limit
 *   energy       created beyond what the ledger says of impacts, and not a discretisation error that falls with the step
 *   penetration  although positions are projected
 *   momentum     what bodies have gained is not what gravity and the recorded impulses of the world have given
 *   units, turned, mirrored   the transformed scene does not move like the transform of the scene
 *   slow         far more than a step of such a scene takes */
#ifndef TESTS_TRIAL_H
#define TESTS_TRIAL_H

#include "model/model.h"
#include "random_scenes.h"

#include <stdlib.h>
#include <time.h>

typedef enum trial_kind {
  TRIAL_FINE,
  TRIAL_REJECTED, /* the generator has drawn something that is refused */
  TRIAL_FAILED,
  TRIAL_CERTIFICATE,
  TRIAL_ENERGY,
  TRIAL_PENETRATION,
  TRIAL_MOMENTUM,
  TRIAL_UNITS,
  TRIAL_TURNED,
  TRIAL_MIRRORED,
  TRIAL_SLOW,
  TRIAL_KINDS
} trial_kind;

static inline const char *trial_name(trial_kind kind) {
  static const char *const names[TRIAL_KINDS] = {"fine",   "rejected",    "failed",   "certificate",
                                                 "energy", "penetration", "momentum", "units",
                                                 "turned", "mirrored",    "slow"};
  return names[kind];
}

typedef struct trial {
  trial_kind kind; /* the first thing that is wrong */
  double size;     /* how wrong */
  double seconds;  /* processor time of the plain run */
  char message[512];
} trial;

typedef struct trial_run {
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  int collisions;
} trial_run;

static inline void trial_close(trial_run *r) {
  ss_sim_destroy(r->sim);
  ss_model_destroy(r->model);
  ss_scene_destroy(r->scene);
  *r = (trial_run){0};
}

static inline void trial_event(void *user, const ss_sim *sim, const ss_event *event) {
  (void)sim;
  if (event->kind == SS_COLLISION || event->kind == SS_LIMIT_HIT) ((trial_run *)user)->collisions++;
}

static inline ss_status trial_step(void *user, const ss_sim *sim, ss_error *error) {
  (void)user, (void)sim, (void)error;
  return SS_OK;
}

/* finer: the step is divided by this. */
static inline ss_status trial_open(trial_run *r, const random_scene *s, const transform *more, double finer,
                                   ss_error *error) {
  *r = (trial_run){0};
  ss_status status = ss_scene_parse(s->text, strlen(s->text), "random", NULL, 0, &r->scene, error);
  if (status != SS_OK) return status;
  transform_scene(&s->how, r->scene);
  if (more) transform_scene(more, r->scene);
  r->scene->simulation.step /= finer;
  status = ss_model_create(r->scene, &r->model, error);
  if (status == SS_OK) status = ss_sim_create(r->model, &r->scene->simulation, &r->sim, error);
  const ss_observer observer = {.user = r, .step = trial_step, .event = trial_event};
  return status == SS_OK ? ss_sim_observe(r->sim, &observer, error) : status;
}

static inline ss_vec3 trial_momentum(const trial_run *r) {
  double sum[3] = {0};
  for (int i = 0; i < r->model->n_bodies; i++) { /* velocities of centres of mass; locked coordinates are none */
    const ss_body *body = &r->model->bodies[i];
    for (int k = 0; k < body->n; k++)
      if (body->coordinate[k] < 3) sum[body->coordinate[k]] += body->mass * ss_sim_state(r->sim)->v[body->first + k];
  }
  return v3(sum[0], sum[1], sum[2]);
}

static inline double trial_mass(const trial_run *r) {
  double sum = 0;
  for (int i = 0; i < ss_model_bodies(r->model); i++) sum += ss_model_body_mass(r->model, i);
  return sum;
}

/* What the contacts with the world have given to the bodies in the last step. */
static inline ss_vec3 trial_impulse(const trial_run *r, double *size) {
  ss_contact_report contacts[256];
  const int found = ss_sim_contacts(r->sim, contacts, 256), n = found < 256 ? found : 256;
  ss_vec3 sum = {0, 0, 0};
  for (int i = 0; i < n; i++) {
    const bool first = contacts[i].body[1] == SS_WORLD, second = contacts[i].body[0] == SS_WORLD;
    if (first) sum = v3_add(sum, contacts[i].impulse);
    if (second) sum = v3_sub(sum, contacts[i].impulse);
    *size += v3_norm(contacts[i].impulse);
  }
  return sum;
}

/* The part of the created energy that is no impact's, over what moves; with the given step. */
static inline double trial_created(const ss_report *report, double scale) {
  const double created = report->certificate.energy_created;
  return fmax(created - report->created_by_impacts, 0) / scale;
}

/* Steps to the end; the largest momentum defect of a step, relative; the largest energy that moved. */
static inline ss_status trial_finish(trial_run *r, double *defect, double *energy, ss_error *error) {
  const double mass = trial_mass(r), step = r->scene->simulation.step;
  *defect = *energy = 0;
  while (!ss_sim_done(r->sim)) {
    const ss_vec3 before = trial_momentum(r);
    const ss_energy *e = &ss_sim_report(r->sim)->energy;
    *energy = fmax(*energy, e->kinetic + fabs(e->elastic));
    const double t = ss_sim_state(r->sim)->t;
    const ss_status status = ss_sim_step(r->sim, error);
    if (status != SS_OK) return status;
    double size = mass * v3_norm(r->scene->gravity) * step + v3_norm(before);
    const ss_vec3 given = v3_axpy(trial_impulse(r, &size), mass * (ss_sim_state(r->sim)->t - t), r->scene->gravity);
    *defect = fmax(*defect, v3_norm(v3_sub(v3_sub(trial_momentum(r), before), given)) / size);
  }
  return SS_OK;
}

/* Largest difference of the two runs up to the given number of collisions. */
static inline double trial_difference(const random_scene *s, const transform *t, int collisions, ss_error *error) {
  trial_run plain, changed;
  double worst = 0, way = 0, speed = 0, spin = 0;
  ss_status status = trial_open(&plain, s, NULL, 1, error);
  const ss_status other = trial_open(&changed, s, t, 1, error);
  if (status == SS_OK) status = other;
  const double first = status == SS_OK ? v3_norm(plain.scene->gravity) * plain.scene->simulation.step : 0;
  speed = first; /* what rests is compared with what gravity would give it in a step */
  if (status == SS_OK) spin = first / plain.model->length;
  while (status == SS_OK && !ss_sim_done(plain.sim) && !ss_sim_done(changed.sim)) {
    status = ss_sim_step(plain.sim, error);
    if (status == SS_OK) status = ss_sim_step(changed.sim, error);
    if (status != SS_OK || plain.collisions > collisions || changed.collisions > collisions) break;
    for (int i = 0; i < ss_model_bodies(plain.model); i++) {
      const ss_motion a = ss_sim_motion(plain.sim, i), b = ss_sim_motion(changed.sim, i);
      way = fmax(way, v3_norm(a.pose.position));
      speed = fmax(speed, v3_norm(a.velocity));
      spin = fmax(spin, v3_norm(a.angular_velocity));
      const ss_vec3 velocity = v3_scale(t->length / t->time, transform_direction(t, a.velocity));
      const ss_vec3 turning = v3_scale(1 / t->time, transform_axial(t, a.angular_velocity));
      worst = fmax(worst, v3_norm(v3_sub(transform_place(t, a.pose.position), b.pose.position)) / t->length / way);
      worst = fmax(worst, v3_norm(v3_sub(velocity, b.velocity)) * t->time / t->length / speed);
      worst = fmax(worst, v3_norm(v3_sub(turning, b.angular_velocity)) * t->time / spin);
    }
  }
  trial_close(&plain);
  trial_close(&changed);
  return worst;
}

static inline bool trial_note(trial *out, trial_kind kind, double size) {
  if (out->kind != TRIAL_FINE) return false;
  out->kind = kind;
  out->size = size;
  return true;
}

static inline void trial_compare(const random_scene *s, trial *out) {
  static const double tolerance = 1e-6;
  ss_error error = {0};
  transform t = transform_none();
  if (s->driven) return;
  t.length = 0x1p6, t.mass = 0x1p-8, t.time = 0x1p4;
  const double units = trial_difference(s, &t, 3, &error);
  if (units > 1e-9) (void)trial_note(out, TRIAL_UNITS, units);
  if (!s->round) return;
  t = transform_none();
  t.turn = s->planar ? quat_exp(v3(0, 0, 0.83)) : quat_exp(v3(0.5, -1.1, 0.83));
  const double turned = trial_difference(s, &t, 3, &error);
  if (turned > tolerance) (void)trial_note(out, TRIAL_TURNED, turned);
  t = transform_none();
  t.mirror = true;
  const double mirrored = trial_difference(s, &t, 3, &error);
  if (mirrored > tolerance) (void)trial_note(out, TRIAL_MIRRORED, mirrored);
}

/* Energy that is created must be a discretisation error: small, and a good deal smaller with a quarter of the step. */
static inline void trial_energy(const random_scene *s, const trial_run *r, double energy, trial *out) {
  const double created = trial_created(ss_sim_report(r->sim), energy);
  if (!(created > 1e-9)) return;
  trial_run finer;
  ss_error error = {0};
  double defect, scale, less = created;
  if (trial_open(&finer, s, NULL, 4, &error) == SS_OK && trial_finish(&finer, &defect, &scale, &error) == SS_OK)
    less = trial_created(ss_sim_report(finer.sim), scale);
  trial_close(&finer);
  if (less > 0.6 * created && created > 1e-4) (void)trial_note(out, TRIAL_ENERGY, created);
}

static inline void trial_do(const random_scene *s, bool compare, trial *out) {
  trial_run r;
  ss_error error = {0};
  double defect, energy;
  *out = (trial){0};
  const clock_t start = clock();
  ss_status status = trial_open(&r, s, NULL, 1, &error);
  if (status != SS_OK) {
    (void)trial_note(out, TRIAL_REJECTED, 0);
  } else {
    status = trial_finish(&r, &defect, &energy, &error);
    const ss_report *report = ss_sim_report(r.sim);
    out->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (status != SS_OK) (void)trial_note(out, TRIAL_FAILED, 0);
    if (status == SS_OK && (!report->certificate.certified || !(report->certificate.complementarity <= 1e-8)))
      (void)trial_note(out, TRIAL_CERTIFICATE, report->certificate.complementarity);
    if (status == SS_OK) trial_energy(s, &r, energy, out);
    const double depth = report->certificate.penetration / s->how.length;
    if (strcmp(s->stabilization, "projection") == 0 && depth > 1e-4) (void)trial_note(out, TRIAL_PENETRATION, depth);
    if (status == SS_OK && !s->attached && !s->driven && defect > 1e-7) (void)trial_note(out, TRIAL_MOMENTUM, defect);
    if (status == SS_OK && out->seconds > 0.02 * (double)ss_sim_state(r.sim)->step)
      (void)trial_note(out, TRIAL_SLOW, out->seconds);
  }
  (void)snprintf(out->message, sizeof out->message, "%s", error.message);
  trial_close(&r);
  if (compare && out->kind == TRIAL_FINE) trial_compare(s, out);
}

#endif
