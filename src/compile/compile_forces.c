/* Force elements: anchors in centre-of-mass frames, rest lengths. */
#include "core/words.h"
#include "compile/compile.h"

static const ss_table_row table[] = {
    {"spring", "linear spring between two points"},
    {"damper", "linear damper between two points"},
    {"spring-damper", "both in parallel"},
    {"applied", "force and torque given as functions of time"},
    {NULL, NULL},
};
_Static_assert(sizeof table / sizeof *table == SS_FORCE_TYPES + 1, "one row per force type");

const ss_table_row *ss_table_forces(void) { return table; }

static ss_status compile_force(ss_model *model, const ss_scene *scene, int index, ss_error *error) {
  const ss_force_def *def = &scene->forces[index];
  ss_force *force = &model->forces[index];
  const int sides = def->type == SS_FORCE_APPLIED ? 1 : 2;
  force->type = def->type;
  force->jacobian = def->jacobian;
  force->stiffness = def->type == SS_FORCE_DAMPER ? 0 : def->stiffness;
  force->damping = def->type == SS_FORCE_SPRING ? 0 : def->damping;
  ss_vec3 point[2] = {{0}};
  for (int side = 0; side < sides; side++) {
    const int body = force->body[side] = def->body[side];
    if (body < SS_WORLD || body >= model->n_bodies || (sides == 1 && body == SS_WORLD))
      return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "the force names a body that does not exist");
    const ss_pose pose = body < 0 ? pose_identity() : model->bodies[body].pose;
    force->anchor[side] = body < 0 ? def->anchor[side] : v3_sub(def->anchor[side], model->bodies[body].com);
    point[side] = pose_point(&pose, force->anchor[side]);
  }
  for (int i = 0; i < 3; i++) {
    if (!ss_expression_copy(def->force[i], model->arena, &force->force[i]) ||
        !ss_expression_copy(def->torque[i], model->arena, &force->torque[i]))
      return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  if (def->type == SS_FORCE_APPLIED) return SS_OK;
  if (def->body[0] == def->body[1])
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "the force connects a body with itself");
  const double length = v3_norm(v3_sub(point[0], point[1]));
  if (!(length > 0))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                         "the two ends of the %s coincide at the start, so that it has no direction",
                         table[def->type].name);
  force->rest_length = isnan(def->rest_length) ? length : def->rest_length;
  return SS_OK;
}

/* Springs of joints follow those of the scene's list. */
static ss_status compile_joint_spring(ss_model *model, const ss_scene *scene, int index, ss_error *error) {
  const ss_joint_def *def = &scene->joints[index];
  const ss_joint *joint = &model->joints[index];
  const bool good = def->spring_stiffness >= 0 && isfinite(def->spring_stiffness) && def->spring_damping >= 0 &&
                    isfinite(def->spring_damping) && !isinf(def->spring_rest);
  if (!good || (def->type != SS_JOINT_REVOLUTE && def->type != SS_JOINT_PRISMATIC))
    return ss_fail_place(
        error, SS_ERROR_INPUT, scene->file, def->mark,
        "a spring in a joint needs a revolute or prismatic joint, and a stiffness and a damping that are "
        "not negative");
  const ss_pose a = joint->body[0] < 0 ? pose_identity() : model->bodies[joint->body[0]].pose;
  const ss_pose b = joint->body[1] < 0 ? pose_identity() : model->bodies[joint->body[1]].pose;
  const double start = ss_joint_coordinate(model, joint, SS_ACTION_LIMITS, &a, &b, 0, NULL);
  model->forces[model->n_forces++] = (ss_force){.type = SS_FORCE_SPRING_DAMPER,
                                                .body = {joint->body[0], joint->body[1]},
                                                .joint = joint,
                                                .stiffness = def->spring_stiffness,
                                                .damping = def->spring_damping,
                                                .jacobian = SS_JACOBIAN_RANK_ONE,
                                                .rest_length = isnan(def->spring_rest) ? start : def->spring_rest};
  return SS_OK;
}

ss_status ss_compile_forces(ss_model *model, const ss_scene *scene, ss_error *error) {
  int springs = 0;
  for (int i = 0; i < scene->n_joints; i++) springs += scene->joints[i].has_spring;
  model->n_forces = scene->n_forces;
  model->forces = SS_ARENA_ARRAY(model->arena, ss_force, scene->n_forces + springs);
  if (!model->forces) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_forces; i++) {
    const ss_status status = compile_force(model, scene, i, error);
    if (status != SS_OK) return status;
  }
  for (int i = 0; i < scene->n_joints; i++) {
    const ss_status status = scene->joints[i].has_spring ? compile_joint_spring(model, scene, i, error) : SS_OK;
    if (status != SS_OK) return status;
  }
  return SS_OK;
}
