/* What an interactive program does to a running simulation: pull a body, and go on after the model has changed. */
#include "step/workspace.h"

#include <string.h>

static bool finite(ss_vec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

ss_status ss_sim_pull(ss_sim *sim, const ss_pull *pull, ss_error *error) {
  if (pull) {
    if (pull->body < 0 || pull->body >= sim->model->n_bodies)
      return ss_fail(error, SS_ERROR_INPUT, "pull: there is no body %d", pull->body);
    if (!finite(pull->point) || !finite(pull->target) || !(pull->stiffness >= 0) || !isfinite(pull->stiffness) ||
        !(pull->damping >= 0) || !isfinite(pull->damping))
      return ss_fail(error, SS_ERROR_INPUT, "pull: points must be finite, stiffness and damping not negative");
    sim->pull = *pull;
  }
  sim->pulled = pull != NULL;
  return SS_OK;
}

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
  sim->mechanics->joints(sim, sim->state.t, sim->state.q, sim->residuals, NULL, NULL);
  for (int i = 0; i < sim->model->n_joint_rows; i++) worst = fmax(worst, fabs(sim->residuals[i]));
  return worst;
}

static ss_status deepest(ss_sim *sim, double *depth, ss_error *error) {
  *depth = 0;
  sim->speed_bound = 0;
  const ss_status status = sim->mechanics->find_contacts(sim, 0, error);
  for (int i = 0; status == SS_OK && i < sim->n_contacts; i++) *depth = fmax(*depth, -sim->contacts[i].at.gap);
  sim->n_contacts = sim->n_active = 0;
  return status;
}

/* As well as they held in the other simulation, up to a millionth of the typical length. */
static ss_status check_place(ss_sim *sim, const ss_sim *from, ss_error *error) {
  const double tolerance = 1e-6 * sim->model->length;
  if (!(worst_residual(sim) <= from->report.certificate.joint_drift + tolerance))
    return ss_fail(error, SS_ERROR_INPUT, "the joints would not hold where the bodies are");
  double depth = 0;
  const ss_status status = deepest(sim, &depth, error);
  if (status == SS_OK && !(depth <= from->report.certificate.penetration + tolerance))
    return ss_fail(error, SS_ERROR_INPUT, "bodies would overlap where they are");
  return status;
}

static void exchange(double *a, double *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const double kept = a[i];
    a[i] = b[i];
    b[i] = kept;
  }
}

/* Swaps the state with the one that a step saves. */
static void exchange_state(ss_sim *sim) {
  exchange(sim->state.q, sim->q_saved, (size_t)sim->model->n_q);
  exchange(sim->state.v, sim->v_saved, (size_t)sim->model->n_v);
  exchange(sim->state.angle, sim->angle_saved, (size_t)sim->model->n_angles);
}

ss_status ss_sim_adopt(ss_sim *sim, const ss_sim *from, ss_error *error) {
  const ss_model *model = sim->model;
  if (!same_coordinates(model, from->model))
    return ss_fail(error, SS_ERROR_INPUT, "the bodies, their coordinates or the joints are others");
  const double t = sim->state.t;
  exchange_state(sim); /* keeps the present one */
  sim->state.t = from->state.t;
  for (int k = 0; k < model->n_bodies; k++) {
    const ss_motion motion = ss_sim_motion(from, k);
    place_body(sim, k, &motion);
  }
  if (model->system) {
    memcpy(sim->state.q, from->state.q, sizeof(double) * (size_t)model->n_q);
    memcpy(sim->state.v, from->state.v, sizeof(double) * (size_t)model->n_v);
  }
  if (model->n_angles) memcpy(sim->state.angle, from->state.angle, sizeof(double) * (size_t)model->n_angles);
  ss_status status = check_place(sim, from, error);
  if (status == SS_OK) status = ss_basis_select(sim, error);
  if (status == SS_OK) status = ss_refused(sim, error);
  if (status != SS_OK) {
    exchange_state(sim);
    sim->state.t = t;
    return status;
  }
  sim->state.step = (long)floor(sim->state.t / sim->options.step * (1 + 1e-12));
  ss_automatic_start(sim);
  sim->state.n_touch = sim->state.n_patch = 0;
  const size_t size = sizeof(double) * (size_t)model->n_v;
  memcpy(sim->weighted, sim->state.v, size);
  memcpy(sim->previous_v, sim->state.v, size);
  memcpy(sim->previous_weighted, sim->state.v, size);
  sim->report = (ss_report){.certificate.certified = true};
  ss_ledger_start(sim);
  return SS_OK;
}
