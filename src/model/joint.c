/* The table of joints, and the evaluation of all of them. The equations are in joint_pairs.c, joint_coupled.c and
 * joint_pfaffian.c; docs/joints.md lists them with the scene's keys. */
#include "model/joint_view.h"

typedef struct joint_type {
  joint_equations *evaluate;
  unsigned frames;   /* bits of the equations that use the joint frames */
  unsigned pfaffian; /* bits of the equations that have no position */
} joint_type;

enum { ALL = ~0 };

static const joint_type types[SS_JOINT_TYPES] = {
    [SS_JOINT_DISTANCE] = {joint_distance, 0, 0},
    [SS_JOINT_REVOLUTE] = {joint_revolute, 0x18, 0},
    [SS_JOINT_SPHERICAL] = {joint_spherical, 0, 0},
    [SS_JOINT_PRISMATIC] = {joint_prismatic, ALL, 0},
    [SS_JOINT_FIXED] = {joint_fixed, 0x38, 0},
    [SS_JOINT_CYLINDRICAL] = {joint_cylindrical, ALL, 0},
    [SS_JOINT_UNIVERSAL] = {joint_universal, 0x8, 0},
    [SS_JOINT_PLANAR] = {joint_planar, ALL, 0},
    [SS_JOINT_POINT_ON_LINE] = {joint_point_on_line, ALL, 0},
    [SS_JOINT_GEAR] = {joint_gear, 0, 0},
    [SS_JOINT_SCREW] = {joint_screw, ALL, 0},
    [SS_JOINT_ROLLING] = {joint_rolling, ALL, 6},
    [SS_JOINT_KNIFE_EDGE] = {joint_knife_edge, ALL, 1},
};

static const ss_table_row table[] = {
    {"distance", "two points keep their distance: a massless rod; with limits a cable or a strut"},
    {"revolute", "a hinge: common point and axis"},
    {"spherical", "a ball joint: common point"},
    {"prismatic", "a slider: motion along one axis, no turning"},
    {"fixed", "no relative motion"},
    {"cylindrical", "a sleeve: sliding along an axis and turning about it"},
    {"universal", "a Cardan joint: common point, two axes that stay perpendicular"},
    {"planar", "a face on a face: sliding in a plane and turning about its normal"},
    {"point-on-line", "a bead on a straight wire"},
    {"gear", "two wheels that mesh, with pitch radii or a ratio"},
    {"screw", "a sleeve whose displacement follows its angle"},
    {"rolling", "a wheel, disc or ball that rolls on a plane without slipping (Pfaffian)"},
    {"knife-edge", "a skate: no velocity across its blade (Pfaffian)"},
    {NULL, NULL},
};
_Static_assert(sizeof table / sizeof *table == SS_JOINT_TYPES + 1, "one row per joint type");

const ss_table_row *ss_table_joints(void) { return table; }

unsigned ss_joint_pfaffian(ss_joint_type type) { return types[type].pfaffian; }

static int evaluate(joint_view *view) {
  const ss_joint *joint = view->joint;
  for (int side = 0; side < 2; side++) {
    const ss_quat orientation = view->pose[side]->orientation;
    if (view->rows) {
      view->turn[side] = quat_matrix(orientation);
      view->point[side] = v3_add(view->pose[side]->position, mat3_mul(&view->turn[side], joint->anchor[side]));
    } else {
      view->point[side] = pose_point(view->pose[side], joint->anchor[side]);
    }
    if (types[joint->type].frames & view->mask)
      view->frame[side] = quat_matrix(quat_multiply(orientation, joint->frame[side]));
  }
  types[joint->type].evaluate(view);
  return view->n;
}

int ss_joint_evaluate(const ss_model *model, const ss_joint *joint, const ss_pose *pose_a, const ss_pose *pose_b,
                      const double *angle, double residual[SS_JOINT_ROWS], ss_row rows[SS_JOINT_ROWS]) {
  joint_view view = {.model = model,
                     .joint = joint,
                     .pose = {pose_a, pose_b},
                     .angle = angle,
                     .mask = ~0u,
                     .residual = residual,
                     .rows = rows};
  return evaluate(&view);
}

void ss_joints_evaluate(const ss_model *model, const double *q, const double *angle, double *residuals, ss_row *rows) {
  for (int k = 0; k < model->n_joints; k++) {
    const ss_joint *joint = &model->joints[k];
    if (joint->n_rows == 0) continue;
    const ss_pose a = ss_pose_of(q, joint->body[0]), b = ss_pose_of(q, joint->body[1]);
    const bool in_place = joint->row_mask == (1u << joint->n_rows) - 1; /* none is left out before the last one kept */
    double r[SS_JOINT_ROWS];
    ss_row w[SS_JOINT_ROWS];
    joint_view view; /* its matrices are filled in as far as they are needed */
    view.model = model;
    view.joint = joint;
    view.pose[0] = &a;
    view.pose[1] = &b;
    view.angle = angle ? angle + joint->first_angle : NULL;
    view.mask = joint->row_mask;
    view.residual = !residuals ? NULL : in_place ? residuals + joint->first_row : r;
    view.rows = !rows ? NULL : in_place ? rows + joint->first_row : w;
    view.n = 0;
    const int n = evaluate(&view);
    for (int i = 0, kept = joint->first_row; i < n && !in_place; i++) {
      if (!(joint->row_mask & 1u << i)) continue;
      if (residuals) residuals[kept] = r[i];
      if (rows) rows[kept] = w[i];
      kept++;
    }
  }
}
