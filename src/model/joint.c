/* The joints. Each is a list of scalar equations Theta(q) = 0 with gradients nu (MATH section 1, LIT section 4):
 *
 *   distance    |p_a - p_b| - length
 *   spherical   p_a - p_b                                     3 equations, world axes
 *   revolute    spherical, and axis_a . y_b, axis_a . z_b     the axis stays the axis
 *   prismatic   (p_a - p_b) . y_b, . z_b, and no turning      sliding along x_b
 *   fixed       spherical, and no turning
 *
 * where p are the anchors, x y z the axes of the joint frame in each body. "No turning" is x_a . y_b, y_a . z_b,
 * z_a . x_b: sines of small angles, regular near alignment. Rates: d(u_a . w_b)/dt = (u_a x w_b) . (omega_a - omega_b).
 */
#include "model/joint.h"

typedef struct joint_view {
  const ss_model *model;
  const ss_joint *joint;
  const ss_pose *pose[2];
  ss_vec3 point[2]; /* anchors, world */
  ss_mat3 frame[2]; /* joint frames, world; columns are the axes */
  double *residual;
  ss_row *rows;
  int n;
} joint_view;

static void add_point(joint_view *v, double residual, ss_vec3 direction, ss_vec3 point_b) {
  const int k = v->n++;
  if (v->residual) v->residual[k] = residual;
  if (v->rows)
    v->rows[k] = ss_row_points(v->model, v->joint->body[0], v->pose[0], v->point[0], v->joint->body[1], v->pose[1],
                               point_b, direction);
}

/* u_a . w_b = 0 for axes u of frame a and w of frame b. */
static void add_perpendicular(joint_view *v, int axis_a, int axis_b) {
  const ss_vec3 u = mat3_column(&v->frame[0], axis_a), w = mat3_column(&v->frame[1], axis_b);
  const int k = v->n++;
  if (v->residual) v->residual[k] = v3_dot(u, w);
  if (v->rows)
    v->rows[k] = ss_row_turn(v->model, v->joint->body[0], v->pose[0]->orientation, v->joint->body[1],
                             v->pose[1]->orientation, v3_cross(u, w));
}

static void add_coincident(joint_view *v) {
  const ss_vec3 d = v3_sub(v->point[0], v->point[1]);
  add_point(v, d.x, v3(1, 0, 0), v->point[1]);
  add_point(v, d.y, v3(0, 1, 0), v->point[1]);
  add_point(v, d.z, v3(0, 0, 1), v->point[1]);
}

static void add_no_turning(joint_view *v) {
  add_perpendicular(v, 0, 1);
  add_perpendicular(v, 1, 2);
  add_perpendicular(v, 2, 0);
}

static void distance(joint_view *v) {
  const ss_vec3 d = v3_sub(v->point[0], v->point[1]);
  const double length = v3_norm(d);
  add_point(v, length - v->joint->length, v3_scale(1 / length, d), v->point[1]);
}

static void spherical(joint_view *v) { add_coincident(v); }

static void revolute(joint_view *v) {
  add_coincident(v);
  add_perpendicular(v, 0, 1);
  add_perpendicular(v, 0, 2);
}

/* The guide is fixed in b, so its normals turn with b: b's row is taken at the place of a's anchor. */
static void prismatic(joint_view *v) {
  const ss_vec3 d = v3_sub(v->point[0], v->point[1]);
  for (int axis = 1; axis <= 2; axis++) {
    const ss_vec3 normal = mat3_column(&v->frame[1], axis);
    add_point(v, v3_dot(d, normal), normal, v->point[0]);
  }
  add_no_turning(v);
}

static void fixed(joint_view *v) {
  add_coincident(v);
  add_no_turning(v);
}

typedef struct joint_type {
  void (*evaluate)(joint_view *view);
  bool uses_frames;
} joint_type;

static const joint_type types[SS_JOINT_TYPES] = {
    [SS_JOINT_DISTANCE] = {distance, false},   [SS_JOINT_REVOLUTE] = {revolute, true},
    [SS_JOINT_SPHERICAL] = {spherical, false}, [SS_JOINT_PRISMATIC] = {prismatic, true},
    [SS_JOINT_FIXED] = {fixed, true},
};

static const ss_table_row table[] = {
    {"distance", "two points keep their distance: a massless rod"},
    {"revolute", "a hinge: common point and axis"},
    {"spherical", "a ball joint: common point"},
    {"prismatic", "a slider: motion along one axis, no turning"},
    {"fixed", "no relative motion"},
    {NULL, NULL},
};
_Static_assert(sizeof table / sizeof *table == SS_JOINT_TYPES + 1, "one row per joint type");

const ss_table_row *ss_table_joints(void) { return table; }

int ss_joint_evaluate(const ss_model *model, const ss_joint *joint, const ss_pose *pose_a, const ss_pose *pose_b,
                      double residual[SS_JOINT_ROWS], ss_row rows[SS_JOINT_ROWS]) {
  joint_view view = {.model = model, .joint = joint, .pose = {pose_a, pose_b}, .residual = residual, .rows = rows};
  for (int side = 0; side < 2; side++) {
    view.point[side] = pose_point(view.pose[side], joint->anchor[side]);
    if (types[joint->type].uses_frames)
      view.frame[side] = quat_matrix(quat_multiply(view.pose[side]->orientation, joint->frame[side]));
  }
  types[joint->type].evaluate(&view);
  return view.n;
}

void ss_joints_evaluate(const ss_model *model, const double *q, double *residuals, ss_row *rows) {
  for (int k = 0; k < model->n_joints; k++) {
    const ss_joint *joint = &model->joints[k];
    const ss_pose a = ss_pose_of(q, joint->body[0]), b = ss_pose_of(q, joint->body[1]);
    double r[SS_JOINT_ROWS];
    ss_row w[SS_JOINT_ROWS];
    const int n = ss_joint_evaluate(model, joint, &a, &b, residuals ? r : NULL, rows ? w : NULL);
    for (int i = 0, kept = joint->first_row; i < n; i++) {
      if (!(joint->row_mask & 1u << i)) continue;
      if (residuals) residuals[kept] = r[i];
      if (rows) rows[kept] = w[i];
      kept++;
    }
  }
}
