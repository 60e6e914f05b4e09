/* Joints: scalar equations Theta(q) = 0 and their gradients nu, as rows of the step's problem. Pfaffian joints have
 * rows without an equation: their residual is zero. */
#ifndef SS_MODEL_JOINT_H
#define SS_MODEL_JOINT_H

#include "model/model.h"
#include "model/row.h"

/* Residuals and rows of one joint at the given poses. Either output may be NULL. All SS_JOINT_ROWS equations of the
 * type are written, masked ones too; returns how many the type has. `angle` has the joint's own n_angles numbers near
 * which angles are counted; NULL: near zero. */
int ss_joint_evaluate(const ss_model *model, const ss_joint *joint, const ss_pose *pose_a, const ss_pose *pose_b,
                      const double *angle, double residual[SS_JOINT_ROWS], ss_row rows[SS_JOINT_ROWS]);

/* All kept equations of all joints at configuration q, in order. Either output may be NULL. `angle` is the state's;
 * rows do not depend on it. */
void ss_joints_evaluate(const ss_model *model, const double *q, const double *angle, double *residuals, ss_row *rows);

/* Bit i: equation i of the type is Pfaffian, a velocity that vanishes without a position that does. */
unsigned ss_joint_pfaffian(ss_joint_type type);

/* How many angles the state must count for this joint. */
int ss_joint_angle_count(const ss_joint *joint);

/* Angle number `which` of the joint, the one nearest to `near` of those that differ by full turns; row (may be NULL)
 * receives its gradient. */
double ss_joint_angle(const ss_model *model, const ss_joint *joint, int which, const ss_pose *pose_a,
                      const ss_pose *pose_b, double near, ss_row *row);

/* What limits and motors act on: an angle or a displacement of b relative to a, or a distance. */
typedef enum ss_joint_action { SS_ACTION_LIMITS, SS_ACTION_MOTOR } ss_joint_action;
double ss_joint_coordinate(const ss_model *model, const ss_joint *joint, ss_joint_action action, const ss_pose *pose_a,
                           const ss_pose *pose_b, double near, ss_row *row);

/* Whether the joint has one: revolute, prismatic, cylindrical, screw, distance. */
bool ss_joint_has_coordinate(const ss_joint *joint);

/* No point of the second body, and no angle between the two, moves faster in that coordinate with velocities v. */
double ss_joint_coordinate_speed(const ss_model *model, const ss_joint *joint, const double *q, const double *v);

/* The state's angles after the bodies have moved from q to q_new in time tau with the mean velocities v. */
void ss_joint_angles_follow(const ss_model *model, const double *q, const double *q_new, const double *v, double tau,
                            double *angle);

#endif
