/* Angles of joints, counted beyond a full turn, and the coordinates that limits and motors act on.
 *
 * The angle of a rotation q = (w, v) about x is that of its twist, 2 atan2(v_x, w); for a hinge that holds it is the
 * hinge's angle, and off the hinge it stays smooth. Its rate is g . omega with omega in the turned frame and
 *
 *     g = (w^2 x + w (x x v) + v_x v) / (w^2 + v_x^2)
 *
 * q tells an angle up to full turns; the state remembers which, and after each part of a step the new angle is the one
 * nearest to old angle + time * rate. */
#include "model/joint.h"

static const double full_turn = 6.28318530717958647692;

static double nearest(double angle, double near) { return angle + full_turn * round((near - angle) / full_turn); }

typedef struct twist {
  double angle;
  ss_vec3 rate; /* gradient, in the turned frame */
} twist;

static twist twist_of(ss_quat q) {
  const ss_vec3 v = v3(q.x, q.y, q.z);
  const double size = q.w * q.w + q.x * q.x;
  if (!(size > 1e-24)) return (twist){0, v3(1, 0, 0)}; /* upside down: the twist is undefined there */
  ss_vec3 g = v3_add(v3(q.w * q.w, 0, 0), v3_scale(q.x, v));
  g = v3_axpy(g, q.w, v3(0, -q.z, q.y));
  return (twist){2 * atan2(q.x, q.w), v3_scale(1 / size, g)};
}

/* Angle of b relative to a about the common axis. */
static double hinge_angle(const ss_model *model, const ss_joint *joint, const ss_pose *a, const ss_pose *b,
                          ss_row *row) {
  const ss_quat frame_a = quat_multiply(a->orientation, joint->frame[0]);
  const ss_quat frame_b = quat_multiply(b->orientation, joint->frame[1]);
  const twist t = twist_of(quat_multiply(quat_conjugate(frame_a), frame_b));
  if (row)
    *row = ss_row_turn(model, joint->body[0], a->orientation, joint->body[1], b->orientation,
                       v3_neg(quat_rotate(frame_b, t.rate)));
  return t.angle;
}

/* Angle of one body about its axis in space. */
static double wheel_angle(const ss_model *model, const ss_joint *joint, int side, const ss_pose *pose, ss_row *row) {
  const ss_quat frame = quat_multiply(pose->orientation, joint->frame[side]);
  const twist t = twist_of(quat_multiply(quat_conjugate(joint->start[side]), frame));
  if (row) {
    *row = (ss_row){.body = {joint->body[0], joint->body[1]}};
    ss_row_set(model, row, side, joint->body[side], pose->orientation, v3(0, 0, 0), quat_rotate(frame, t.rate));
  }
  return t.angle;
}

/* Direction of the line from a's centre to b's, seen along the axis. */
static double line_angle(const ss_model *model, const ss_joint *joint, const ss_pose *a, const ss_pose *b,
                         ss_row *row) {
  const ss_mat3 frame = quat_matrix(joint->start[0]);
  const ss_vec3 pa = pose_point(a, joint->anchor[0]), pb = pose_point(b, joint->anchor[1]);
  const ss_vec3 d = v3_sub(pb, pa);
  const double y = v3_dot(d, mat3_column(&frame, 1)), z = v3_dot(d, mat3_column(&frame, 2));
  if (row) {
    const double square = y * y + z * z;
    const ss_vec3 across =
        v3_sub(v3_scale(y, mat3_column(&frame, 2)), v3_scale(z, mat3_column(&frame, 1))); /* x cross d */
    *row = ss_row_points(model, joint->body[0], a, pa, joint->body[1], b, pb,
                         v3_scale(square > 0 ? -1 / square : 0, across));
  }
  return atan2(z, y);
}

int ss_joint_angle_count(const ss_joint *joint) {
  switch (joint->type) {
  case SS_JOINT_REVOLUTE:
  case SS_JOINT_SCREW:
    return 1;
  case SS_JOINT_GEAR:
    return joint->weight[2] != 0 ? 3 : 2;
  default:
    return 0;
  }
}

double ss_joint_angle(const ss_model *model, const ss_joint *joint, int which, const ss_pose *a, const ss_pose *b,
                      double near, ss_row *row) {
  double angle;
  if (joint->type != SS_JOINT_GEAR)
    angle = hinge_angle(model, joint, a, b, row);
  else if (which < 2)
    angle = wheel_angle(model, joint, which, which == 0 ? a : b, row);
  else
    angle = line_angle(model, joint, a, b, row);
  return nearest(angle, near);
}

static double displacement(const ss_model *model, const ss_joint *joint, const ss_pose *a, const ss_pose *b,
                           ss_row *row) {
  const ss_vec3 axis = quat_rotate(quat_multiply(a->orientation, joint->frame[0]), v3(1, 0, 0));
  const ss_vec3 pa = pose_point(a, joint->anchor[0]), pb = pose_point(b, joint->anchor[1]);
  if (row) *row = ss_row_points(model, joint->body[0], a, pb, joint->body[1], b, pb, v3_neg(axis));
  return v3_dot(v3_sub(pb, pa), axis);
}

static double distance(const ss_model *model, const ss_joint *joint, const ss_pose *a, const ss_pose *b, ss_row *row) {
  const ss_vec3 pa = pose_point(a, joint->anchor[0]), pb = pose_point(b, joint->anchor[1]);
  const ss_vec3 d = v3_sub(pa, pb);
  const double length = v3_norm(d);
  if (row)
    *row = ss_row_points(model, joint->body[0], a, pa, joint->body[1], b, pb,
                         length > 0 ? v3_scale(1 / length, d) : v3(0, 0, 0));
  return length;
}

static bool acts_on_angle(const ss_joint *joint, ss_joint_action action) {
  return joint->type == SS_JOINT_REVOLUTE || (joint->type == SS_JOINT_SCREW && action == SS_ACTION_MOTOR);
}

double ss_joint_coordinate(const ss_model *model, const ss_joint *joint, ss_joint_action action, const ss_pose *a,
                           const ss_pose *b, double near, ss_row *row) {
  if (joint->type == SS_JOINT_DISTANCE) return distance(model, joint, a, b, row);
  if (!acts_on_angle(joint, action)) return displacement(model, joint, a, b, row);
  return nearest(hinge_angle(model, joint, a, b, row), near);
}

bool ss_joint_has_coordinate(const ss_joint *joint) {
  const unsigned types = 1u << SS_JOINT_REVOLUTE | 1u << SS_JOINT_PRISMATIC | 1u << SS_JOINT_CYLINDRICAL |
                         1u << SS_JOINT_SCREW | 1u << SS_JOINT_DISTANCE;
  return types >> joint->type & 1;
}

double ss_joint_coordinate_speed(const ss_model *model, const ss_joint *joint, const double *q, const double *v) {
  const ss_pose a = ss_pose_of(q, joint->body[0]), b = ss_pose_of(q, joint->body[1]);
  const ss_vec3 point = pose_point(&b, joint->anchor[1]);
  const bool angle = acts_on_angle(joint, SS_ACTION_LIMITS);
  double sum = 0;
  for (int side = 0; side < 2; side++) {
    ss_vec3 linear, angular;
    ss_twist_of(model, v, joint->body[side], &linear, &angular);
    const double turn = v3_norm(angular);
    const double arm =
        side == 0 ? v3_norm(v3_sub(point, a.position)) + v3_norm(joint->anchor[0]) : v3_norm(joint->anchor[1]);
    sum += angle ? turn : v3_norm(linear) + turn * arm;
  }
  return sum;
}

void ss_joint_angles_follow(const ss_model *model, const double *q, const double *q_new, const double *v, double tau,
                            double *angle) {
  for (int k = 0; k < model->n_joints; k++) {
    const ss_joint *joint = &model->joints[k];
    if (joint->n_angles == 0) continue;
    const ss_pose a = ss_pose_of(q, joint->body[0]), b = ss_pose_of(q, joint->body[1]);
    const ss_pose a_new = ss_pose_of(q_new, joint->body[0]), b_new = ss_pose_of(q_new, joint->body[1]);
    for (int i = 0; i < joint->n_angles; i++) {
      double *value = &angle[joint->first_angle + i];
      ss_row row;
      (void)ss_joint_angle(model, joint, i, &a, &b, *value, &row);
      *value = ss_joint_angle(model, joint, i, &a_new, &b_new, *value + tau * ss_row_dot(model, &row, v), NULL);
    }
  }
}
