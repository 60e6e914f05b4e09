/* What can be asked of a simulation, and who may watch it. */
#include "sim/sim.h"

#include <math.h>

bool ss_sim_done(const ss_sim *sim) {
  if (sim->options.tolerance > 0) return sim->state.t >= sim->options.duration * (1 - 1e-12);
  return sim->state.step >= sim->steps_total;
}

double ss_sim_step_size(const ss_sim *sim) {
  return sim->options.tolerance > 0 && sim->control.size[0] > 0 ? sim->control.size[0] : sim->options.step;
}

double ss_sim_step_start(const ss_sim *sim) { return sim->saved.state.t; }

long ss_sim_steps_total(const ss_sim *sim) { return sim->steps_total; }
const ss_model *ss_sim_model(const ss_sim *sim) { return sim->model; }
const ss_simulation *ss_sim_options(const ss_sim *sim) { return &sim->options; }
const ss_state *ss_sim_state(const ss_sim *sim) { return &sim->state; }
const double *ss_sim_weighted_velocity(const ss_sim *sim) { return sim->observed.weighted; }
const ss_report *ss_sim_report(const ss_sim *sim) { return &sim->report; }

ss_motion ss_sim_motion(const ss_sim *sim, int index) {
  if (index < 0 || index >= sim->model->n_bodies) return (ss_motion){.pose = pose_identity()}; /* the world's */
  const ss_body *body = &sim->model->bodies[index];
  const ss_pose pose = ss_pose_of(sim->state.q, index);
  const ss_vec3 arm = quat_rotate(pose.orientation, body->com);
  ss_vec3 linear, angular;
  ss_twist_of(sim->model, sim->state.v, index, &linear, &angular);
  const ss_vec3 turn = quat_rotate(pose.orientation, angular);
  return (ss_motion){{v3_sub(pose.position, arm), pose.orientation}, v3_sub(linear, v3_cross(turn, arm)), turn};
}

void ss_sim_joint_residuals(const ss_sim *sim, double *residuals) {
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, residuals, NULL, NULL);
}

const char *ss_stage_name(ss_stage stage) {
  static const char *const names[SS_STAGES] = {
      [SS_STAGE_SEARCH] = "search",   [SS_STAGE_ROWS] = "rows",     [SS_STAGE_SOLVE] = "solve",
      [SS_STAGE_ADVANCE] = "advance", [SS_STAGE_EVENTS] = "events", [SS_STAGE_OBSERVE] = "observe",
      [SS_STAGE_AUDIT] = "audit"};
  return (unsigned)stage < SS_STAGES ? names[stage] : NULL;
}

void ss_sim_stop_when(ss_sim *sim, bool (*stop)(void *user), void *user) {
  sim->watch.stop = stop;
  sim->watch.stop_user = user;
}

void ss_sim_time_stages(ss_sim *sim, bool on) { sim->clock.on = on; }
const double *ss_sim_stage_seconds(const ss_sim *sim) { return sim->clock.on ? sim->clock.seconds : NULL; }

ss_status ss_sim_observe(ss_sim *sim, const ss_observer *observer, ss_error *error) {
  const int most = (int)(sizeof sim->watch.observers / sizeof *sim->watch.observers);
  if (sim->watch.n_observers == most)
    return ss_fail(error, SS_ERROR_INPUT, "at most %d observers can watch a simulation", most);
  sim->watch.observers[sim->watch.n_observers++] = *observer;
  return SS_OK;
}

typedef struct each_job {
  ss_sim *sim;
  void (*each)(ss_sim *sim, int i);
} each_job;

static void do_some(void *user, int worker, int from, int to) {
  (void)worker;
  const each_job *job = user;
  for (int i = from; i < to; i++) job->each(job->sim, i);
}

void ss_each(ss_sim *sim, int n, void (*each)(ss_sim *sim, int i)) {
  enum { AT_A_TIME = 128 };
  each_job job = {sim, each};
  ss_threads_for(sim->threads, n, AT_A_TIME, do_some, &job);
}
