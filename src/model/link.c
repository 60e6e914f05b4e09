/* Springs and dampers between two points, or in a joint: length (a joint's angle or displacement), its rate and its gradient. */
#include "model/link.h"

static ss_link joint_link(const ss_model *model, const ss_force *force, const double *q, const double *angle,
                          const double *v) {
  const ss_joint *joint = force->joint;
  const ss_pose a = ss_pose_of(q, joint->body[0]), b = ss_pose_of(q, joint->body[1]);
  const double near = angle && joint->n_angles ? angle[joint->first_angle] : force->rest_length;
  ss_link link = {0};
  link.length = ss_joint_coordinate(model, joint, SS_ACTION_LIMITS, &a, &b, near, &link.row);
  if (v) link.rate = ss_row_dot(model, &link.row, v);
  return link;
}

ss_link ss_link_at(const ss_model *model, const ss_force *force, const double *q, const double *angle,
                   const double *v) {
  if (force->joint) return joint_link(model, force, q, angle, v);
  const ss_pose a = ss_pose_of(q, force->body[0]), b = ss_pose_of(q, force->body[1]);
  const ss_vec3 pa = pose_point(&a, force->anchor[0]), pb = pose_point(&b, force->anchor[1]);
  const ss_vec3 d = v3_sub(pa, pb);
  ss_link link = {.length = v3_norm(d)};
  /* A link of length zero has no direction: it pulls nowhere until it has one. */
  const ss_vec3 direction = link.length > 0 ? v3_scale(1 / link.length, d) : v3(0, 0, 0);
  link.row = ss_row_points(model, force->body[0], &a, pa, force->body[1], &b, pb, direction);
  if (v) link.rate = ss_row_dot(model, &link.row, v);
  return link;
}

double ss_elastic_energy(const ss_model *model, const double *q, const double *angle) {
  double sum = 0;
  for (int k = 0; k < model->n_forces; k++) {
    const ss_force *force = &model->forces[k];
    if (force->type == SS_FORCE_APPLIED || force->stiffness == 0) continue;
    const double stretch = ss_link_at(model, force, q, angle, NULL).length - force->rest_length;
    sum += 0.5 * force->stiffness * stretch * stretch;
  }
  return sum;
}
