/* One scene of wide range (wide_scenes.h), run and classified.
 *
 *   sound      the duration was reached, certified, without doubts, and looking from outside says the same
 *   doubtful   the duration was reached, certified, with doubts; the message lists their codes
 *   failed     exit code 1: no certified step, with a message
 *   refused    exit code 2: the scene is refused, with a message
 *   wrong      called sound, but a number is not finite, a body is below the floor, or there is more energy than can be
 *   hangs, crashed */
#ifndef TESTS_WIDE_TRIAL_H
#define TESTS_WIDE_TRIAL_H

#include "model/model.h"
#include "wide_scenes.h"

#include <stickslip/stickslip.h>

#include <time.h>

typedef enum wide_kind {
  WIDE_SOUND,
  WIDE_DOUBTFUL,
  WIDE_FAILED,
  WIDE_REFUSED,
  WIDE_WRONG,
  WIDE_HANGS,
  WIDE_CRASHED,
  WIDE_KINDS
} wide_kind;

static inline const char *wide_name(wide_kind kind) {
  static const char *const names[WIDE_KINDS] = {"sound", "doubtful", "failed", "refused", "wrong", "hangs", "crashed"};
  return names[kind];
}

typedef struct wide_trial {
  wide_kind kind;
  double seconds; /* processor time */
  char message[512];
} wide_trial;

/* What a look from outside has against the end of a run; NULL: nothing. */
static inline const char *wide_objection(const wide_scene *w, const ss_sim *sim) {
  const ss_model *model = ss_sim_model(sim);
  const ss_energy *e = &ss_sim_report(sim)->energy;
  const int up = w->s.planar ? 1 : 2;
  double energy = 0, potential = 0;
  for (int i = 0; i < ss_model_bodies(model); i++) {
    const ss_motion m = ss_sim_motion(sim, i);
    const ss_vec3 arm = quat_rotate(m.pose.orientation, model->bodies[i].com); /* of the centre of mass */
    const ss_vec3 v = v3_add(m.velocity, v3_cross(m.angular_velocity, arm));
    const double height = v3_get(v3_add(m.pose.position, arm), up), mass = ss_model_body_mass(model, i);
    if (!v3_finite(m.pose.position) || !v3_finite(m.velocity) || !v3_finite(m.angular_velocity)) return "not finite";
    if (w->floor && height < -2.5 * w->size) return "below the floor";
    energy += mass * v3_dot(v, v) / 2 + mass * w->gravity * height;
    potential += mass * w->gravity * w->size * (0.8 + 1.3 * i);
    potential += 1e-30 * mass * w->size * w->size / (w->duration * w->duration); /* rounding */
  }
  const double scale =
      potential + fabs(e->initial) + fabs(e->work) + fmax(e->friction_loss, 0) + fmax(e->damping_loss, 0);
  return energy > e->initial + fmax(e->work, 0) + 0.1 * scale ? "more energy than can be" : NULL;
}

static inline void wide_run(const wide_scene *w, wide_trial *out) {
  ss_error error = {0};
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  const clock_t start = clock();
  ss_status status = ss_scene_parse(w->s.text, strlen(w->s.text), "wide", NULL, 0, &scene, &error);
  if (status == SS_OK) status = ss_model_create(scene, &model, &error);
  if (status == SS_OK) status = ss_sim_create(model, NULL, &sim, &error);
  out->kind = WIDE_REFUSED;
  while (status == SS_OK && !ss_sim_done(sim)) {
    status = ss_sim_step(sim, &error);
    out->kind = WIDE_FAILED;
  }
  out->seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  (void)snprintf(out->message, sizeof out->message, "%.500s", error.message);
  if (status == SS_OK) {
    const ss_certificate *c = &ss_sim_report(sim)->certificate;
    const char *objection = wide_objection(w, sim);
    out->kind = !c->sound ? WIDE_DOUBTFUL : objection ? WIDE_WRONG : WIDE_SOUND;
    out->message[0] = '\0';
    for (int i = 0; i < SS_DOUBTS; i++)
      if (c->doubts[i] != 0)
        (void)snprintf(out->message + strlen(out->message), sizeof out->message - strlen(out->message), "%s %.2g ",
                       ss_table_doubts()[i].code, c->doubts[i]);
    if (c->sound && objection) (void)snprintf(out->message, sizeof out->message, "%s", objection);
  } else if (!error.message[0]) {
    out->kind = WIDE_WRONG; /* whatever goes wrong has a message */
    (void)snprintf(out->message, sizeof out->message, "no message");
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
}

#endif
