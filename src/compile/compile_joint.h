/* Pieces of the joint compiler. */
#ifndef SS_COMPILE_COMPILE_JOINT_H
#define SS_COMPILE_COMPILE_JOINT_H

#include "compile/compile.h"

ss_pose joint_start_pose(const ss_model *model, int body);

/* anchor, frame, start */
ss_status joint_place(ss_model *model, ss_joint *joint, const ss_joint_def *def, const ss_scene *scene,
                      ss_error *error);

/* The numbers of the type: lengths, radii, pitch, limits, motors; and the angles it counts. */
ss_status joint_numbers(ss_model *model, ss_joint *joint, const ss_joint_def *def, const ss_scene *scene,
                        ss_error *error);

#endif
