/* Joints that couple angles, counted beyond full turns (joint_angle.c):
 *
 *   screw   cylindrical, and s - pitch theta - origin           s: displacement, theta: angle of b relative to a
 *   gear    w_a theta_a + w_b theta_b - w_c phi - origin        theta: angles of the wheels about their axes in space
 *
 * A gear with pitch radii has w_a = r_a, w_b = r_b, w_c = r_a + r_b, and phi is the direction of the line of centres:
 * the two wheels have one velocity at the pitch point, also where a carrier moves the centres. A negative radius meshes
 * inside. A gear with a ratio has w = 1, ratio, 0: axes at rest in any directions. */
#include "model/joint_view.h"

void joint_screw(joint_view *v) {
  joint_cylindrical(v);
  const ss_joint *joint = v->joint;
  ss_row turn, slide;
  const double theta = view_angle(v, 0, &turn);
  const ss_vec3 axis = mat3_column(&v->frame[0], 0);
  const double s = v3_dot(v3_sub(v->point[1], v->point[0]), axis);
  slide = ss_row_points(v->model, joint->body[0], v->pose[0], v->point[1], joint->body[1], v->pose[1], v->point[1],
                        v3_neg(axis));
  for (int side = 0; side < 2; side++) {
    const int n = joint->body[side] < 0 ? 0 : v->model->bodies[joint->body[side]].n;
    for (int i = 0; i < n; i++) slide.j[side][i] -= joint->pitch * turn.j[side][i];
  }
  add_row(v, s - joint->pitch * theta - joint->origin, &slide);
}

void joint_gear(joint_view *v) {
  const ss_joint *joint = v->joint;
  ss_row sum = {.body = {joint->body[0], joint->body[1]}};
  double value = -joint->origin;
  for (int k = 0; k < joint->n_angles; k++) {
    const double weight = k == 2 ? -joint->weight[2] : joint->weight[k];
    ss_row row;
    value += weight * view_angle(v, k, &row);
    for (int side = 0; side < 2; side++) {
      const int n = joint->body[side] < 0 ? 0 : v->model->bodies[joint->body[side]].n;
      for (int i = 0; i < n; i++) sum.j[side][i] += weight * row.j[side][i];
    }
  }
  add_row(v, value, &sum);
}
