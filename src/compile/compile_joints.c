/* Joints: place and numbers, the equations that matter, and whether they hold at t = 0. */
#include "core/words.h"
#include "compile/compile_joint.h"

#include <stdio.h>
#include <string.h>

/* Equations whose gradient vanishes for every motion the freedoms allow (out of the plane, say) are left out: looked at
 * in the start position and in two others, turned and moved in every free coordinate. */
static void find_rows(ss_model *model, ss_joint *joint) {
  joint->row_mask = 0;
  for (int trial = 0; trial < 3; trial++) {
    ss_pose pose[2];
    for (int side = 0; side < 2; side++) {
      pose[side] = joint_start_pose(model, joint->body[side]);
      if (joint->body[side] < 0) continue;
      const ss_body *body = &model->bodies[joint->body[side]];
      double c[6] = {0};
      for (int i = 0; i < body->n; i++) c[body->coordinate[i]] = trial * (0.1 + 0.07 * i + 0.03 * side);
      pose[side].position = v3_axpy(pose[side].position, joint->length > 0 ? joint->length : 1, v3(c[0], c[1], c[2]));
      pose[side].orientation = quat_multiply(pose[side].orientation, quat_exp(v3(c[3], c[4], c[5])));
    }
    ss_row rows[SS_JOINT_ROWS];
    memset(rows, 0, sizeof rows);
    const int n = ss_joint_evaluate(model, joint, &pose[0], &pose[1], NULL, NULL, rows);
    for (int i = 0; i < n; i++)
      for (int side = 0; side < 2; side++) {
        const int count = joint->body[side] < 0 ? 0 : model->bodies[joint->body[side]].n;
        for (int k = 0; k < count; k++)
          if (fabs(rows[i].j[side][k]) > 1e-12) joint->row_mask |= 1u << i;
      }
  }
  for (int i = 0; i < SS_JOINT_ROWS; i++) joint->n_rows += joint->row_mask >> i & 1u;
}

static ss_status check_holds(const ss_model *model, const ss_joint *joint, const ss_joint_def *def,
                             const ss_scene *scene, ss_error *error) {
  const ss_pose a = joint_start_pose(model, joint->body[0]), b = joint_start_pose(model, joint->body[1]);
  double residual[SS_JOINT_ROWS], worst = 0;
  const int n = ss_joint_evaluate(model, joint, &a, &b, NULL, residual, NULL);
  for (int i = 0; i < n; i++)
    if (!(fabs(residual[i]) <= worst)) worst = fabs(residual[i]);
  const double scale = 1 + joint->length + v3_norm(joint->anchor[0]) + v3_norm(joint->anchor[1]);
  if (worst <= 1e-6 * scale) return SS_OK;
  return ss_fail_place(
      error, SS_ERROR_INPUT, scene->file, def->mark,
      "joint '%s' (%s) does not hold at the start: it is off by %g; check anchors, length and positions", joint->name,
      ss_table_joints()[joint->type].name, worst);
}

static ss_status compile_joint(ss_model *model, const ss_scene *scene, int index, ss_error *error) {
  const ss_joint_def *def = &scene->joints[index];
  ss_joint *joint = &model->joints[index];
  char number[32];
  (void)snprintf(number, sizeof number, "joint %d", index + 1);
  joint->name = ss_arena_strdup(model->arena, def->name ? def->name : number);
  if (!joint->name) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  joint->type = def->type;
  for (int side = 0; side < 2; side++) {
    joint->body[side] = def->body[side];
    if (def->body[side] < SS_WORLD || def->body[side] >= model->n_bodies)
      return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "joint '%s' names a body that does not exist",
                           joint->name);
  }
  if (def->body[0] == def->body[1])
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "joint '%s' connects a body with itself",
                         joint->name);
  ss_status status = joint_place(model, joint, def, scene, error);
  if (status == SS_OK) status = joint_numbers(model, joint, def, scene, error);
  if (status != SS_OK) return status;
  const bool one_sided = joint->type == SS_JOINT_DISTANCE && joint->has_limits; /* a cable has no equation */
  if (!one_sided) find_rows(model, joint);
  if (joint->n_rows == 0 && !joint->has_limits && !joint->has_motor)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "joint '%s' constrains nothing: the coordinates it would hold are locked by freedom",
                         joint->name);
  joint->first_row = model->n_joint_rows;
  model->n_joint_rows += joint->n_rows;
  return one_sided ? SS_OK : check_holds(model, joint, def, scene, error);
}

ss_status ss_compile_joints(ss_model *model, const ss_scene *scene, ss_error *error) {
  model->n_joints = scene->n_joints;
  model->joints = SS_ARENA_ARRAY(model->arena, ss_joint, scene->n_joints);
  if (!model->joints) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_joints; i++) {
    const ss_status status = compile_joint(model, scene, i, error);
    if (status != SS_OK) return status;
  }
  return SS_OK;
}
