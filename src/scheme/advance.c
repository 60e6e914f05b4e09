/* From multipliers to the end of the step: v+ = v + A^-1 (kt + J^T z), q+ = q (+) h [(1-gamma) v + gamma v+].
 *
 * Inside the step, at tau = fraction h, the trajectory is v(tau) = v + fraction (v+ - v) and the position that the same
 * update formula gives for a step of size tau: for gamma = 1/2 this is the cubic Hermite interpolant of LIT section 6.
 */
#include "scheme/scheme.h"

#include <string.h>

ss_pose ss_advance_body(const ss_sim *sim, int index, const double *delta, double tau, double fraction) {
  if (index < 0) return pose_identity();
  const ss_body *body = &sim->model->bodies[index];
  ss_pose pose = ss_pose_of(sim->state.q, index);
  const double gamma = sim->trial.touched[index] ? sim->trial.asked.gamma : sim->chosen.gamma;
  double c[6] = {0};
  for (int i = 0; i < body->n; i++) {
    const double change = delta ? gamma * fraction * delta[body->first + i] : 0;
    c[body->coordinate[i]] = tau * (sim->state.v[body->first + i] + change);
  }
  pose.position = v3_add(pose.position, v3(c[0], c[1], c[2]));
  if (body->turns && (c[3] != 0 || c[4] != 0 || c[5] != 0)) /* what does not turn keeps its last bit */
    pose.orientation = quat_normalize(quat_multiply(pose.orientation, quat_exp(v3(c[3], c[4], c[5]))));
  return pose;
}

void ss_store_pose(double *q, int body, ss_pose pose) {
  double *p = q + 7 * (size_t)body;
  p[0] = pose.position.x, p[1] = pose.position.y, p[2] = pose.position.z;
  p[3] = pose.orientation.w, p[4] = pose.orientation.x, p[5] = pose.orientation.y, p[6] = pose.orientation.z;
}

typedef struct path_job {
  const ss_sim *sim;
  const double *delta;
  double tau, fraction, *q;
} path_job;

static void advance_some(void *user, int worker, int from, int to) {
  (void)worker;
  const path_job *job = user;
  for (int k = from; k < to; k++)
    ss_store_pose(job->q, k, ss_advance_body(job->sim, k, job->delta, job->tau, job->fraction));
}

void ss_advance_bodies(const ss_sim *sim, const double *delta, double tau, double fraction, double *q) {
  enum { BODIES_AT_A_TIME = 128 };
  path_job job = {sim, delta, tau, fraction, q};
  ss_threads_for(sim->threads, sim->model->n_bodies, BODIES_AT_A_TIME, advance_some, &job);
}

/* Velocity along the step's path q (+) tau [v + gamma fraction delta]: its derivative, not v + fraction delta, which is
 * the same for gamma = 1/2 only. */
void ss_path_velocity_of_bodies(ss_sim *sim, const ss_contact *c, double fraction) {
  for (int side = 0; side < 2; side++) {
    if (c->body[side] < 0) continue;
    const ss_body *body = &sim->model->bodies[c->body[side]];
    for (int i = body->first; i < body->first + body->n; i++)
      sim->scratch.v[i] = sim->state.v[i] + 2 * sim->trial.asked.gamma * fraction * sim->trial.delta[i];
  }
}

static void add_coupled(ss_sim *sim, const double *w, double z) {
  for (int k = 0; k < sim->model->n_bodies; k++) {
    const int offset = sim->trial.coupling.offset[k];
    const ss_body *body = &sim->model->bodies[k];
    for (int i = 0; offset >= 0 && i < body->n; i++) sim->trial.delta[body->first + i] += z * w[offset + i];
  }
}

/* delta = A^-1 (kt + J^T z) */
void ss_velocity_change(ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  if (sim->system) {
    ss_dense_velocity_change(sim);
    return;
  }
  const ss_coupling *c = &sim->trial.coupling;
  memcpy(sim->trial.delta, sim->trial.dv_free, sizeof(double) * (size_t)sim->model->n_v);
  if (!c->active) {
    ss_rows_spread(sim, p->z, sim->trial.delta);
    return;
  }
  for (int i = 0; i < p->n; i++) {
    if (p->z[i] == 0) continue;
    for (int side = 0; side < 2; side++) {
      if (p->rows[i].body[side] < 0 || c->offset[p->rows[i].body[side]] >= 0) continue;
      const ss_body *body = &sim->model->bodies[p->rows[i].body[side]];
      ss_short_add(sim->trial.delta + body->first, p->z[i], p->w + 12 * (size_t)i + 6 * side, body->n);
    }
    add_coupled(sim, c->w + (size_t)i * (size_t)c->n, p->z[i]);
  }
}

void ss_advance(ss_sim *sim, double h) {
  ss_velocity_change(sim);
  for (int k = 0; k < sim->model->n_bodies && !sim->system; k++) {
    const ss_body *body = &sim->model->bodies[k];
    for (int i = body->first; i < body->first + body->n && sim->trial.rests[k]; i++)
      sim->trial.delta[i] = -sim->state.v[i];
  }
  if (sim->scheme->compliant) ss_patch_advance(sim, h);
  for (int i = 0; i < sim->model->n_v; i++) sim->trial.v_end[i] = sim->state.v[i] + sim->trial.delta[i];
  sim->mechanics->advance(sim, sim->trial.delta, h, 1, sim->trial.q_end);
}
