/* The mechanics of bodies: poses of seven numbers, shapes that touch, joints between two of them. */
#include "step/step.h"

static void begin_step(ss_sim *sim) { sim->step.acceleration = v3_norm(sim->model->gravity); }

static ss_status find_contacts(ss_sim *sim, double h, ss_error *error) {
  const ss_status status = ss_broad_phase(sim, h, error);
  return status == SS_OK ? ss_narrow_phase(sim, h, error) : status;
}

static void joints(const ss_sim *sim, double t, const double *q, double *residuals, ss_row *rows, double *drive) {
  (void)t;
  ss_joints_evaluate(sim->model, q, sim->state.angle, residuals, rows);
  for (int i = 0; drive && i < sim->model->n_joint_rows; i++) drive[i] = 0;
}

static void shift(const ss_sim *sim, const double *twist, double *q) {
  const ss_model *model = sim->model;
  for (int k = 0; k < model->n_bodies; k++) {
    ss_pose pose = ss_pose_of(sim->state.q, k);
    ss_vec3 linear, angular;
    ss_twist_of(model, twist, k, &linear, &angular);
    pose.position = v3_add(pose.position, linear);
    if (model->bodies[k].turns) pose.orientation = quat_normalize(quat_multiply(pose.orientation, quat_exp(angular)));
    ss_store_pose(q, k, pose);
  }
}

static void place(const ss_sim *sim, const ss_contact *c, double t, const double *q, ss_contact_place *out) {
  (void)t;
  for (int side = 0; side < 2; side++) out->pose[side] = ss_pose_of(q, c->body[side]);
  ss_contact_at(sim->model, c, &out->pose[0], &out->pose[1], &out->at);
  out->drive = v3(0, 0, 0);
}

static void place_on_path(const ss_sim *sim, const ss_contact *c, const double *delta, double tau, double fraction,
                          ss_contact_place *out) {
  for (int side = 0; side < 2; side++) out->pose[side] = ss_advance_body(sim, c->body[side], delta, tau, fraction);
  ss_contact_at(sim->model, c, &out->pose[0], &out->pose[1], &out->at);
  out->drive = v3(0, 0, 0);
}

static ss_row row(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, ss_vec3 direction) {
  if (c->limit) return ss_limit_row(sim->model, c, &at->pose[0], &at->pose[1]);
  return ss_row_points(sim->model, c->body[0], &at->pose[0], at->at.point_a, c->body[1], &at->pose[1], at->at.point_b,
                       direction);
}

static ss_vec3 velocity(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  return ss_contact_velocity(sim->model, c, &at->at, &at->pose[0], &at->pose[1], v);
}

static double rate(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at, const double *v) {
  return ss_contact_rate(sim->model, c, &at->at, &at->pose[0], &at->pose[1], v);
}

static double depth(const ss_sim *sim, const ss_contact *c, const ss_contact_place *at) {
  return ss_contact_depth(sim->model, c, &at->pose[0], &at->pose[1]);
}

const ss_mechanics ss_body_mechanics = {
    .begin_step = begin_step,
    .find_contacts = find_contacts,
    .forces = ss_forces,
    .forces_none = ss_forces_none,
    .joints = joints,
    .advance = ss_advance_bodies,
    .shift = shift,
    .place = place,
    .place_on_path = place_on_path,
    .row = row,
    .velocity = velocity,
    .rate = rate,
    .depth = depth,
    .path_velocity = ss_path_velocity_of_bodies,
    .closing_speed = ss_closing_speed_of_bodies,
    .largest_speed = ss_largest_speed_of_bodies,
    .kinetic_energy = ss_kinetic_energy_of_bodies,
    .potential_energy = ss_potential_energy_of_bodies,
    .force_work = ss_force_work,
};
