/* One shot: velocities in, residuals of the conditions out. Every shot compiles the scene anew, so that nothing of the
 * last one is left; a shot that the simulation cannot certify counts as a very bad one. */
#include "bvp/bvp.h"

#include "core/math3.h"
#include "step/step.h"

#include <stdio.h>
#include <float.h>
#include <string.h>

static const double failed_residual = 1e6;

double ss_largest(const double *x, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) {
    if (!isfinite(x[i])) return INFINITY;
    largest = fmax(largest, fabs(x[i]));
  }
  return largest;
}

static double *velocity_of(ss_body_def *body, int coordinate) {
  ss_vec3 *v = coordinate < SS_SPIN ? &body->velocity : &body->angular_velocity;
  const int axis = (coordinate - SS_VELOCITY) % 3;
  return axis == 0 ? &v->x : axis == 1 ? &v->y : &v->z;
}

void ss_bvp_apply(ss_scene *scene, const double *unknown) {
  for (int i = 0; i < scene->boundary.n_unknown; i++) {
    const ss_quantity *q = &scene->boundary.unknown[i];
    *velocity_of(&scene->bodies[q->body], q->coordinate) = unknown[i];
  }
}

void ss_quantity_name(const ss_scene *scene, const ss_quantity *q, char *text, size_t size) {
  static const char *const names[SS_COORDINATES] = {"x",  "y",  "z",  "rx", "ry", "rz", "vx", "vy",
                                                    "vz", "wx", "wy", "wz", "n",  "t",  "o"};
  if (q->coordinate >= SS_DEFORMATION) {
    (void)snprintf(text, size, "delta(%s, %s, %d).%s", q->body < 0 ? "world" : scene->bodies[q->body].name,
                   q->other < 0 ? "world" : scene->bodies[q->other].name, q->element + 1, names[q->coordinate]);
    return;
  }
  (void)snprintf(text, size, "%s.%s", scene->bodies[q->body].name, names[q->coordinate]);
}

ss_status ss_shooting_create(const ss_scene *scene, const ss_simulation *options, ss_arena *arena, ss_shooting **out,
                             ss_error *error) {
  ss_shooting *s = SS_ARENA_ARRAY(arena, ss_shooting, 1);
  ss_body_def *bodies = SS_ARENA_ARRAY(arena, ss_body_def, scene->n_bodies);
  if (!s || !bodies) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  s->scene = *scene;
  memcpy(bodies, scene->bodies, sizeof *bodies * (size_t)scene->n_bodies);
  s->scene.bodies = bodies;
  s->options = options ? *options : scene->simulation;
  s->boundary = &s->scene.boundary;
  s->n = s->boundary->n_unknown;
  s->m = s->boundary->n_conditions;
  s->best_residual = INFINITY;
  s->best_u = SS_ARENA_ARRAY(arena, double, s->n);
  s->best_f = SS_ARENA_ARRAY(arena, double, s->m);
  s->low = SS_ARENA_ARRAY(arena, double, s->m);
  s->high = SS_ARENA_ARRAY(arena, double, s->m);
  s->deadline = INFINITY;
  for (int i = 0; s->low && s->high && i < s->m; i++) s->low[i] = INFINITY, s->high[i] = -INFINITY;
  if (!s->best_u || !s->best_f || !s->low || !s->high) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *out = s;
  return SS_OK;
}

void ss_shooting_start(const ss_shooting *s, double *u) {
  for (int i = 0; i < s->n; i++) {
    const ss_quantity *q = &s->boundary->unknown[i];
    u[i] = *velocity_of(&s->scene.bodies[q->body], q->coordinate);
  }
}

static double final_value(const ss_sim *sim, const ss_quantity *q) {
  if (q->coordinate >= SS_DEFORMATION) {
    double sign = 1;
    const int at = ss_patch_find_deformation(sim, q->body, q->other, q->element, q->coordinate - SS_DEFORMATION, &sign);
    return at < 0 ? 0 : sign * sim->trial.patch_end[at];
  }
  const ss_motion motion = ss_sim_motion(sim, q->body);
  const int axis = q->coordinate % 3;
  switch (q->coordinate - axis) {
  case SS_POSITION:
    return v3_get(motion.pose.position, axis);
  case SS_ROTATION:
    return v3_get(quat_log(motion.pose.orientation), axis);
  case SS_VELOCITY:
    return v3_get(motion.velocity, axis);
  default:
    return v3_get(motion.angular_velocity, axis);
  }
}

void ss_shooting_conditions(const ss_shooting *s, const ss_sim *sim, double *f) {
  for (int i = 0; i < s->m; i++) {
    const ss_condition_def *c = &s->boundary->conditions[i];
    f[i] = -c->value;
    double terms = fabs(c->value);
    for (int k = 0; k < c->n; k++) {
      const ss_quantity *q = &c->quantities[k];
      const double value = q->final ? final_value(sim, q) : *velocity_of(&s->scene.bodies[q->body], q->coordinate);
      f[i] += c->factors[k] * value;
      terms += fabs(c->factors[k] * value);
    }
    /* A sum of huge terms may vanish by rounding: it meets a condition no better than its rounding allows. */
    const double rounding = DBL_EPSILON * terms;
    if (rounding > s->boundary->tolerance && fabs(f[i]) < rounding) f[i] = copysign(rounding, f[i]);
  }
}

typedef struct norms {
  double state, change;
} norms;

/* |x| and |x+ - x| over positions, orientations, velocities and deformations (of patches that live on). */
static void measure_psi(ss_shooting *s, const ss_sim *sim, double *q, double *v) {
  const ss_state *now = ss_sim_state(sim);
  const int nq = 7 * ss_model_bodies(ss_sim_model(sim)), nv = ss_model_coordinates(ss_sim_model(sim));
  norms x = {0};
  for (int i = 0; i < nq; i++) x.state += q[i] * q[i], x.change += (now->q[i] - q[i]) * (now->q[i] - q[i]);
  for (int i = 0; i < nv; i++) x.state += v[i] * v[i], x.change += (now->v[i] - v[i]) * (now->v[i] - v[i]);
  s->psi = fmax(s->psi, sqrt(x.change) / (s->options.step * (1 + sqrt(x.state))));
  memcpy(q, now->q, sizeof(double) * (size_t)nq);
  memcpy(v, now->v, sizeof(double) * (size_t)nv);
}

static ss_status run(ss_shooting *s, ss_sim *sim, ss_error *error) {
  const ss_model *model = ss_sim_model(sim);
  const int nq = 7 * ss_model_bodies(model), nv = ss_model_coordinates(model);
  double *q = NULL;
  if (s->measure) {
    q = ss_alloc(sizeof(double) * (size_t)(nq + nv));
    if (!q) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    memcpy(q, ss_sim_state(sim)->q, sizeof(double) * (size_t)nq);
    memcpy(q + nq, ss_sim_state(sim)->v, sizeof(double) * (size_t)nv);
  }
  ss_status status = SS_OK;
  while (status == SS_OK && !ss_sim_done(sim)) {
    status = ss_sim_step(sim, error);
    if (status == SS_OK && s->measure) measure_psi(s, sim, q, q + nq);
  }
  ss_free(q);
  return status;
}

static void note_scheme(ss_shooting *s, const ss_sim *sim) {
  const ss_report *report = ss_sim_report(sim);
  const bool corrected = s->options.stabilization == SS_STABILIZATION_PROJECTION ||
                         s->options.stabilization == SS_STABILIZATION_ANITESCU_HART;
  s->shot = (ss_shot_report){
      .touched = report->contacts_maximum > 0,
      .velocity_level = !sim->scheme->compliant && !sim->scheme->position_level && !corrected,
      .mean_velocities = !sim->scheme->compliant && sim->chosen.alpha < 1,
      .arrests = ss_locates(sim, SS_EVENT_STICK_SLIP),
      .penetration = report->certificate.penetration,
  };
}

static void keep_best(ss_shooting *s, const double *u, const double *f) {
  const double residual = ss_largest(f, s->m);
  for (int i = 0; i < s->m; i++) s->low[i] = fmin(s->low[i], f[i]), s->high[i] = fmax(s->high[i], f[i]);
  if (!(residual < s->best_residual)) return;
  s->best_residual = residual;
  s->best_method = s->method;
  memcpy(s->best_u, u, sizeof(double) * (size_t)s->n);
  memcpy(s->best_f, f, sizeof(double) * (size_t)s->m);
}

bool ss_shooting_out_of_time(ss_shooting *s) {
  s->out_of_time = s->out_of_time || ss_seconds() > s->deadline;
  return s->out_of_time;
}

bool ss_shoot(ss_shooting *s, const double *u, double *f) {
  for (int i = 0; i < s->m; i++) f[i] = failed_residual;
  if (ss_shooting_out_of_time(s) || !isfinite(ss_largest(u, s->n))) return false;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  ss_bvp_apply(&s->scene, u);
  s->simulations++;
  s->psi = 0;
  ss_status status = ss_model_create(&s->scene, &model, &s->error);
  if (status == SS_OK) status = ss_sim_create(model, &s->options, &sim, &s->error);
  if (status == SS_OK) s->tear = fmax(s->tear, ss_sim_joint_velocity_residual(sim));
  if (status == SS_OK) status = run(s, sim, &s->error);
  if (status == SS_OK) {
    ss_shooting_conditions(s, sim, f);
    keep_best(s, u, f);
    if (s->measure) note_scheme(s, sim);
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  if (status != SS_OK && status != SS_ERROR_UNCERTIFIED) s->status = status;
  return status == SS_OK;
}

bool ss_shoot_differences(ss_shooting *s, const double *u, const double *f, double *jacobian) {
  double *moved = ss_alloc(sizeof(double) * ((size_t)s->n + (size_t)s->m)), *g = moved ? moved + s->n : NULL;
  bool good = moved;
  if (!moved) s->status = ss_fail(&s->error, SS_ERROR_MEMORY, "out of memory");
  for (int j = 0; j < s->n && good; j++) {
    const double step = 1e-6 * (1 + fabs(u[j]));
    memcpy(moved, u, sizeof(double) * (size_t)s->n);
    moved[j] += step;
    good = ss_shoot(s, moved, g);
    for (int i = 0; i < s->m && good; i++) jacobian[i * s->n + j] = (g[i] - f[i]) / step;
  }
  ss_free(moved);
  return good;
}
