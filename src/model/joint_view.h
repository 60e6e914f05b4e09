/* What the equations of a joint are written in: the world-frame geometry of its two sides, and where they go. */
#ifndef SS_MODEL_JOINT_VIEW_H
#define SS_MODEL_JOINT_VIEW_H

#include "model/joint.h"

typedef struct joint_view {
  const ss_model *model;
  const ss_joint *joint;
  const ss_pose *pose[2];
  ss_vec3 point[2];    /* anchors, world */
  ss_mat3 frame[2];    /* joint frames, world; columns are the axes */
  ss_mat3 turn[2];     /* of the bodies, where rows are wanted */
  const double *angle; /* near which angles are counted; NULL: zero */
  unsigned mask;       /* equations that are wanted */
  double *residual;
  ss_row *rows;
  int n;
} joint_view;

static inline double view_angle(const joint_view *v, int which, ss_row *row) {
  const double near = v->angle ? v->angle[which] : 0;
  return ss_joint_angle(v->model, v->joint, which, v->pose[0], v->pose[1], near, row);
}

/* direction . (velocity of a's point_a - velocity of b's point_b) */
static inline void add_points(joint_view *v, double residual, ss_vec3 direction, ss_vec3 point_a, ss_vec3 point_b) {
  const int k = v->n++;
  if (!(v->mask >> k & 1)) return;
  if (v->residual) v->residual[k] = residual;
  if (v->rows)
    v->rows[k] = ss_row_points(v->model, v->joint->body[0], v->pose[0], point_a, v->joint->body[1], v->pose[1], point_b,
                               direction);
}

static inline void add_row(joint_view *v, double residual, const ss_row *row) {
  const int k = v->n++;
  if (!(v->mask >> k & 1)) return;
  if (v->residual) v->residual[k] = residual;
  if (v->rows) v->rows[k] = *row;
}

/* u_a . w_b = 0 for axes u of frame a and w of frame b: d(u_a . w_b)/dt = (u_a x w_b) . (omega_a - omega_b). */
static inline void add_perpendicular(joint_view *v, int axis_a, int axis_b) {
  const ss_vec3 u = mat3_column(&v->frame[0], axis_a), w = mat3_column(&v->frame[1], axis_b);
  const int k = v->n++;
  if (!(v->mask >> k & 1)) return;
  if (v->residual) v->residual[k] = v3_dot(u, w);
  if (!v->rows) return;
  const ss_vec3 moment = v3_cross(u, w), none = {0, 0, 0};
  for (int side = 0; side < 2; side++)
    ss_row_set_local(v->model, &v->rows[k], side, v->joint->body[side], none,
                     mat3_tmul(&v->turn[side], side ? v3_neg(moment) : moment));
}

/* Component i of a's anchor less that of b's. In a body's own frame the anchor stays, and the world's axis is a row of its turn. */
static inline void add_component(joint_view *v, int i, double residual) {
  const int k = v->n++;
  if (!(v->mask >> k & 1)) return;
  if (v->residual) v->residual[k] = residual;
  for (int side = 0; v->rows && side < 2; side++) {
    const double sign = side ? -1 : 1, *axis = v->turn[side].m[i];
    const ss_vec3 moment = v3_cross(v->joint->anchor[side], v3(sign * axis[0], sign * axis[1], sign * axis[2]));
    ss_row_set_local(v->model, &v->rows[k], side, v->joint->body[side],
                     v3(i == 0 ? sign : 0, i == 1 ? sign : 0, i == 2 ? sign : 0), moment);
  }
}

typedef void joint_equations(joint_view *view);
joint_equations joint_distance, joint_spherical, joint_revolute, joint_prismatic, joint_fixed, joint_cylindrical,
    joint_universal, joint_planar, joint_point_on_line; /* joint_pairs.c */
joint_equations joint_gear, joint_screw;                /* joint_coupled.c */
joint_equations joint_rolling, joint_knife_edge;        /* joint_pfaffian.c */

#endif
