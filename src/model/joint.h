/* Joints: scalar equations Theta(q) = 0 and their gradients nu, as rows of the step's problem. */
#ifndef SS_MODEL_JOINT_H
#define SS_MODEL_JOINT_H

#include "model/model.h"
#include "model/row.h"

/* Residuals and rows of one joint at the given poses. Either output may be NULL. All SS_JOINT_ROWS equations of the
 * type are written, masked ones too; returns how many the type has. */
int ss_joint_evaluate(const ss_model *model, const ss_joint *joint, const ss_pose *pose_a, const ss_pose *pose_b,
                      double residual[SS_JOINT_ROWS], ss_row rows[SS_JOINT_ROWS]);

/* All kept equations of all joints at configuration q, in order. Either output may be NULL. */
void ss_joints_evaluate(const ss_model *model, const double *q, double *residuals, ss_row *rows);

#endif
