/* Joint limits as contacts: each end of a range is a gap that must not become negative, without friction and with
 * restitution zero. From here on limits are located, hit, held and left like any other contact. */
#include "contact/contact.h"

static double sign_of(const ss_contact *c) { return c->upper ? -1 : 1; }

double ss_limit_gap(const ss_model *model, const ss_contact *c, const ss_pose *a, const ss_pose *b) {
  const ss_joint *joint = &model->joints[c->joint];
  const double value = ss_joint_coordinate(model, joint, SS_ACTION_LIMITS, a, b, c->near, NULL);
  return sign_of(c) * (value - joint->limits[c->upper]);
}

ss_row ss_limit_row(const ss_model *model, const ss_contact *c, const ss_pose *a, const ss_pose *b) {
  ss_row row;
  (void)ss_joint_coordinate(model, &model->joints[c->joint], SS_ACTION_LIMITS, a, b, c->near, &row);
  for (int side = 0; c->upper && side < 2; side++)
    for (int i = 0; i < (row.body[side] < 0 ? 0 : model->bodies[row.body[side]].n); i++)
      row.j[side][i] = -row.j[side][i];
  return row;
}

double ss_limit_speed(const ss_sim *sim, const ss_contact *c, const double *v_end) {
  const ss_joint *joint = &sim->model->joints[c->joint];
  const double start = ss_joint_coordinate_speed(sim->model, joint, sim->state.q, sim->state.v);
  return 2 * fmax(start, ss_joint_coordinate_speed(sim->model, joint, sim->trial.q_end, v_end));
}

static const ss_law no_friction = {.collide = true};

/* One end of a joint's range; its coordinate and the rate of that are known. */
static void add_limit(ss_sim *sim, int joint_index, bool upper, double near, double value, double rate) {
  const ss_joint *joint = &sim->model->joints[joint_index];
  ss_contact *c = &sim->trial.contacts[sim->trial.n_contacts++];
  *c = (ss_contact){.key = UINT64_C(1) << 63 | (uint64_t)joint_index << 1 | upper,
                    .shape = {-1, -1},
                    .body = {joint->body[0], joint->body[1]},
                    .law = &no_friction,
                    .limit = true,
                    .joint = joint_index,
                    .upper = upper,
                    .near = near,
                    .at = {.normal = {1, 0, 0}}, /* stands for the coordinate in the contact memory */
                    .row = -1};
  c->at.gap = sign_of(c) * (value - joint->limits[upper]);
  c->rate = sign_of(c) * rate;
  ss_contact_remember(sim, c);
}

ss_status ss_limits_append(ss_sim *sim, ss_error *error) {
  const ss_model *model = sim->model;
  const ss_status status = ss_grow((void **)&sim->trial.contacts, &sim->trial.contact_capacity,
                                   sim->trial.n_contacts + 2 * model->n_limits, sizeof *sim->trial.contacts, error);
  for (int k = 0; k < model->n_joints && status == SS_OK; k++) {
    const ss_joint *joint = &model->joints[k];
    if (!joint->has_limits) continue;
    const ss_pose a = ss_pose_of(sim->state.q, joint->body[0]), b = ss_pose_of(sim->state.q, joint->body[1]);
    const double near = joint->n_angles ? sim->state.angle[joint->first_angle] : 0;
    ss_row row;
    const double value = ss_joint_coordinate(model, joint, SS_ACTION_LIMITS, &a, &b, near, &row);
    const double rate = ss_row_dot(model, &row, sim->state.v);
    for (int upper = 0; upper < 2; upper++) add_limit(sim, k, upper, near, value, rate);
  }
  return status;
}
