/* What an interactive program does to a running simulation: put bodies elsewhere, and go on after the model has changed. */
#include "step/step.h"

#include <string.h>

/* ---- another simulation's state ---- */

static bool same_coordinates(const ss_model *a, const ss_model *b) {
  if (!a->system != !b->system || a->n_bodies != b->n_bodies || a->n_v != b->n_v ||
      a->n_joint_rows != b->n_joint_rows || a->n_angles != b->n_angles)
    return false;
  for (int k = 0; k < a->n_bodies; k++) {
    const ss_body *x = &a->bodies[k], *y = &b->bodies[k];
    if (x->n != y->n || memcmp(x->coordinate, y->coordinate, sizeof *x->coordinate * (size_t)x->n) != 0) return false;
  }
  return true;
}

/* The body's frame is where it was; its centre of mass may lie elsewhere in it now. */
static void place_body(ss_sim *sim, int index, const ss_motion *motion) {
  const ss_body *body = &sim->model->bodies[index];
  const ss_quat turn = motion->pose.orientation;
  const ss_vec3 arm = quat_rotate(turn, body->com);
  ss_store_pose(sim->state.q, index, (ss_pose){v3_add(motion->pose.position, arm), turn});
  const ss_vec3 linear = v3_add(motion->velocity, v3_cross(motion->angular_velocity, arm));
  const ss_vec3 angular = quat_rotate(quat_conjugate(turn), motion->angular_velocity);
  for (int i = 0; i < body->n; i++) {
    const int c = body->coordinate[i];
    sim->state.v[body->first + i] = c < 3 ? v3_get(linear, c) : v3_get(angular, c - 3);
  }
}

static double worst_residual(const ss_sim *sim) {
  double worst = 0;
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, sim->joints.residuals, NULL, NULL);
  for (int i = 0; i < sim->model->n_joint_rows; i++) worst = fmax(worst, fabs(sim->joints.residuals[i]));
  return worst;
}

/* As well as they held in the other simulation, up to a millionth of the typical length. */
static ss_status check_place(ss_sim *sim, const ss_sim *from, ss_error *error) {
  const double tolerance = 1e-6 * sim->model->length;
  if (!(worst_residual(sim) <= from->report.certificate.joint_drift + tolerance))
    return ss_fail(error, SS_ERROR_INPUT, "the joints would not hold where the bodies are");
  double depth = 0;
  sim->part.speed_bound = 0;
  SS_TRY(sim->mechanics->find_contacts(sim, 0, error));
  for (int i = 0; i < sim->trial.n_contacts; i++) depth = fmax(depth, -sim->trial.contacts[i].at.gap);
  sim->trial.n_contacts = sim->trial.n_active = 0;
  if (depth <= from->report.certificate.penetration + tolerance) return SS_OK;
  return ss_fail(error, SS_ERROR_INPUT, "bodies would overlap where they are");
}

/* What the steps before have left behind belongs to another motion. */
static void begin_anew(ss_sim *sim) {
  ss_automatic_start(sim);
  sim->state.n_touch = sim->state.n_patch = 0;
  sim->crowd.asleep = 0;
  sim->trial.n_contacts = sim->trial.n_active = 0; /* the next step finds its own */
  ss_deal_begin(sim);
  ss_observe_start(sim);
}

ss_status ss_sim_adopt(ss_sim *sim, const ss_sim *from, ss_error *error) {
  const ss_model *model = sim->model;
  if (!same_coordinates(model, from->model))
    return ss_fail(error, SS_ERROR_INPUT, "the bodies, their coordinates or the joints are others");
  SS_TRY(ss_deal_keep(sim, error));
  const double t = sim->state.t;
  ss_place_copy(sim, &sim->saved.state, &sim->state);
  sim->state.t = from->state.t;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_motion motion = ss_sim_motion(from, k);
    place_body(sim, k, &motion);
  }
  if (model->system) ss_place_copy(sim, &sim->state, &from->state);
  if (model->n_angles) memcpy(sim->state.angle, from->state.angle, sizeof(double) * (size_t)model->n_angles);
  ss_status status = check_place(sim, from, error);
  if (status == SS_OK) status = ss_basis_select(sim, error);
  if (status == SS_OK) status = ss_refused(sim, error);
  if (status != SS_OK) {
    ss_place_copy(sim, &sim->state, &sim->saved.state);
    sim->state.t = t;
    return status;
  }
  for (int i = 0; i < from->model->n_inputs; i++) {
    const int input = ss_model_find_input(model, from->model->inputs[i].name);
    if (input >= 0) sim->inputs.value[input] = from->inputs.value[i];
  }
  sim->state.step = (long)floor(sim->state.t / sim->options.step * (1 + 1e-12));
  begin_anew(sim);
  sim->report = (ss_report){.certificate.certified = true};
  ss_ledger_start(sim);
  return SS_OK;
}

/* ---- bodies put elsewhere ---- */

static const char *const axis_names[3] = {"x", "y", "z"};

/* Whether the pose differs from the present one by more than the body's coordinates can do. */
static ss_status check_freedom(const ss_sim *sim, int index, const ss_motion *motion, ss_error *error) {
  const ss_model *model = sim->model;
  const ss_body *body = &model->bodies[index];
  const ss_motion now = ss_sim_motion(sim, index);
  const ss_quat turn = motion->pose.orientation;
  const double norm = sqrt(turn.w * turn.w + turn.x * turn.x + turn.y * turn.y + turn.z * turn.z);
  if (!v3_finite(motion->pose.position) || !v3_finite(motion->velocity) || !v3_finite(motion->angular_velocity) ||
      !(fabs(norm - 1) < 1e-6))
    return ss_fail(error, SS_ERROR_INPUT, "place: '%s' needs finite numbers and a unit quaternion", body->name);
  const ss_quat relative = quat_multiply(quat_conjugate(now.pose.orientation), turn);
  const double turned[3] = {relative.x, relative.y, relative.z};
  for (int i = 0; i < 3; i++) {
    const double moved = v3_get(v3_sub(motion->pose.position, now.pose.position), i);
    const bool frame_turns = body->turns && v3_norm(body->com) > 0; /* its origin moves with the turn */
    if (body->slot[i] < 0 && !frame_turns && fabs(moved) > 1e-9 * model->length)
      return ss_fail(error, SS_ERROR_INPUT, "place: '%s' cannot move along %s", body->name, axis_names[i]);
    const bool alone = !body->turns || model->planar != SS_SPATIAL; /* else turns about locked axes may be combined */
    if (body->slot[3 + i] < 0 && alone && fabs(turned[i]) > 1e-9)
      return ss_fail(error, SS_ERROR_INPUT, "place: '%s' cannot turn about its %s axis", body->name, axis_names[i]);
  }
  return SS_OK;
}

/* The velocities that the body has now are those that were asked for. */
static ss_status check_velocity(const ss_sim *sim, int index, const ss_motion *motion, ss_error *error) {
  const ss_motion now = ss_sim_motion(sim, index);
  const double off = v3_norm(v3_sub(now.velocity, motion->velocity)) +
                     v3_norm(v3_sub(now.angular_velocity, motion->angular_velocity)) * sim->model->length;
  const double size = v3_norm(motion->velocity) + v3_norm(motion->angular_velocity) * sim->model->length;
  if (off <= 1e-9 * size) return SS_OK;
  return ss_fail(error, SS_ERROR_INPUT, "place: '%s' cannot have this velocity: it lacks the coordinates for it",
                 sim->model->bodies[index].name);
}

static ss_status place_all(ss_sim *sim, int n, const int *bodies, const ss_motion *motions, ss_error *error) {
  for (int i = 0; i < n; i++) {
    ss_motion motion = motions[i];
    SS_TRY(check_freedom(sim, bodies[i], &motion, error));
    motion.pose.orientation = quat_normalize(motion.pose.orientation);
    place_body(sim, bodies[i], &motion);
    SS_TRY(check_velocity(sim, bodies[i], &motion, error));
  }
  ss_angles_start(sim);
  SS_TRY(check_place(sim, sim, error));
  return ss_basis_select(sim, error);
}

ss_status ss_sim_place(ss_sim *sim, int n, const int *bodies, const ss_motion *motions, ss_error *error) {
  for (int i = 0; i < n; i++)
    if (bodies[i] < 0 || bodies[i] >= sim->model->n_bodies)
      return ss_fail(error, SS_ERROR_INPUT, "place: there is no body %d", bodies[i]);
  SS_TRY(ss_deal_keep(sim, error));
  ss_place_copy(sim, &sim->saved.state, &sim->state);
  const ss_status status = place_all(sim, n, bodies, motions, error);
  if (status != SS_OK) {
    ss_place_copy(sim, &sim->state, &sim->saved.state);
    return status;
  }
  begin_anew(sim);
  ss_clear_impulses(sim);
  ss_ledger_moved(sim);
  return SS_OK;
}
