/* Inputs, outputs and the expressions that depend on the state. */
#include "core/words.h"
#include "compile/compile.h"

#include <stdio.h>
#include <string.h>

static ss_status out_of_memory(ss_error *error) { return ss_fail(error, SS_ERROR_MEMORY, "out of memory"); }

static ss_status check_variable(const ss_model *model, const ss_scene *scene, const ss_variable *v, ss_error *error) {
  if (v->kind < SS_VARIABLE_JOINT_POSITION || v->kind > SS_VARIABLE_JOINT_FORCE) return SS_OK;
  const ss_joint *joint = &model->joints[v->index[0]];
  if (!ss_joint_has_coordinate(joint))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, v->mark,
                         "the joint '%s' is %s: revolute, prismatic, cylindrical, screw and distance joints have a "
                         "position and a speed",
                         joint->name, ss_table_joints()[joint->type].name);
  if (v->kind == SS_VARIABLE_JOINT_FORCE && !joint->has_motor)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, v->mark,
                         "the joint '%s' has no motor: there is no force along its free direction", joint->name);
  return SS_OK;
}

/* The expression's number among the held ones; -1: it does not depend on the state. */
static int hold(ss_model *model, const ss_expression *expression, const char *what, ss_mark mark, bool effort) {
  if (!expression || !(ss_expression_uses(expression) & SS_USES_STATE)) return -1;
  model->held[model->n_held] = (ss_held){expression, what, mark, effort};
  return model->n_held++;
}

/* "the force on 'arm'" */
static const char *describe(ss_model *model, const char *what, const char *name) {
  char text[200];
  (void)snprintf(text, sizeof text, "the %s '%s'", what, ss_printable(name).text);
  return ss_arena_strdup(model->arena, text);
}

static ss_status hold_all(ss_model *model, const ss_scene *scene, ss_error *error) {
  model->held = SS_ARENA_ARRAY(model->arena, ss_held, 6 * model->n_forces + 2 * model->n_joints + 1);
  if (!model->held) return out_of_memory(error);
  for (int k = 0; k < model->n_forces; k++) {
    ss_force *force = &model->forces[k];
    if (force->type != SS_FORCE_APPLIED) continue;
    const char *name = model->bodies[force->body[0]].name;
    const char *what[2] = {describe(model, "force on", name), describe(model, "torque on", name)};
    if (!what[0] || !what[1]) return out_of_memory(error);
    for (int i = 0; i < 6; i++)
      force->held[i] =
          hold(model, i < 3 ? force->force[i] : force->torque[i - 3], what[i / 3], scene->forces[k].mark, false);
  }
  for (int k = 0; k < model->n_joints; k++) {
    ss_joint *joint = &model->joints[k];
    if (!joint->has_motor) continue;
    const char *speed = describe(model, "speed of the motor of", joint->name);
    const char *effort = describe(model, "torque or force of the motor of", joint->name);
    if (!speed || !effort) return out_of_memory(error);
    joint->motor_held[0] = hold(model, joint->motor_speed_at, speed, scene->joints[k].mark, false);
    joint->motor_held[1] = hold(model, joint->motor_effort_at, effort, scene->joints[k].mark, true);
  }
  return SS_OK;
}

/* Whether the name is that of a column which results have anyway: t, BODY.x, energy.total, JOINT.position. */
static bool is_column(const ss_model *model, const char *name) {
  static const char *const of_bodies[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                          "vx", "vy", "vz", "wx", "wy", "wz", NULL};
  static const char *const of_joints[] = {"position", "speed", "force", "fx", "fy", "fz", "mx", "my", "mz", NULL};
  const char *dot = strrchr(name, '.');
  if (!dot) return strcmp(name, "t") == 0;
  const size_t length = (size_t)(dot - name);
  if (length == 6 && strncmp(name, "energy", 6) == 0) return true;
  for (int k = 0; of_bodies[k]; k++)
    for (int i = 0; i < model->n_bodies && strcmp(of_bodies[k], dot + 1) == 0; i++)
      if (strlen(model->bodies[i].name) == length && strncmp(model->bodies[i].name, name, length) == 0) return true;
  for (int k = 0; of_joints[k]; k++)
    for (int i = 0; i < model->n_joints && strcmp(of_joints[k], dot + 1) == 0; i++)
      if (strlen(model->joints[i].name) == length && strncmp(model->joints[i].name, name, length) == 0) return true;
  return false;
}

static ss_status copy_outputs(ss_model *model, const ss_scene *scene, ss_error *error) {
  model->outputs = SS_ARENA_ARRAY(model->arena, ss_output, scene->n_outputs + 1);
  if (!model->outputs) return out_of_memory(error);
  for (int i = 0; i < scene->n_outputs; i++) {
    ss_output *output = &model->outputs[i];
    if (is_column(model, scene->outputs[i].name))
      return ss_fail_place(error, SS_ERROR_INPUT, scene->file, scene->outputs[i].mark,
                           "the output cannot be named '%s': results have a column of that name",
                           ss_printable(scene->outputs[i].name).text);
    output->name = ss_arena_strdup(model->arena, scene->outputs[i].name);
    if (!output->name || !ss_expression_copy(scene->outputs[i].value, model->arena, &output->value))
      return out_of_memory(error);
  }
  model->n_outputs = scene->n_outputs;
  return SS_OK;
}

ss_status ss_compile_signals(ss_model *model, const ss_scene *scene, ss_error *error) {
  model->inputs = SS_ARENA_ARRAY(model->arena, ss_parameter, scene->n_inputs + 1);
  model->variables = SS_ARENA_ARRAY(model->arena, ss_variable, scene->n_variables + 1);
  if (!model->inputs || !model->variables) return out_of_memory(error);
  for (int i = 0; i < scene->n_inputs; i++) {
    model->inputs[i] = (ss_parameter){ss_arena_strdup(model->arena, scene->inputs[i].name), scene->inputs[i].value};
    if (!model->inputs[i].name) return out_of_memory(error);
  }
  model->n_inputs = scene->n_inputs;
  for (int i = 0; i < scene->n_variables; i++) {
    SS_TRY(check_variable(model, scene, &scene->variables[i], error));
    model->variables[i] = scene->variables[i];
  }
  model->n_variables = scene->n_variables;
  SS_TRY(copy_outputs(model, scene, error));
  return hold_all(model, scene, error);
}
