/* From a scene to a model: the parts in order, then the checks that need the whole at t = 0. */
#include "compile/compile.h"
#include "compile/fingerprint.h"
#include "contact/contact.h"
#include "core/words.h"

#include <stdio.h>
#include <string.h>

static double length_of_joints_and_forces(const ss_model *model) {
  double length = 0;
  for (int i = 0; i < model->n_joints; i++) {
    const ss_joint *joint = &model->joints[i];
    length = fmax(length, fmax(v3_norm(joint->anchor[0]), joint->body[1] < 0 ? 0 : v3_norm(joint->anchor[1])));
    if (joint->type == SS_JOINT_DISTANCE || joint->type == SS_JOINT_ROLLING) length = fmax(length, joint->length);
  }
  for (int i = 0; i < model->n_forces; i++)
    if (model->forces[i].type != SS_FORCE_APPLIED && !model->forces[i].joint && model->forces[i].stiffness > 0)
      length = fmax(length, model->forces[i].rest_length);
  return length;
}

/* Typical length: tolerances for "touching" and "holds at the start" are relative to it. Sizes of shapes, joints and
 * springs; where nothing has a size, how far apart the bodies are, or how far out. */
static double typical_length(const ss_model *model) {
  double length = length_of_joints_and_forces(model);
  for (int i = 0; i < model->n_shapes; i++)
    if (isfinite(model->shapes[i].reach) && !model->shapes[i].mesh) length = fmax(length, model->shapes[i].reach);
  for (int i = 1; length == 0 && i < model->n_bodies; i++)
    length = v3_norm(v3_sub(model->bodies[i].pose.position, model->bodies[0].pose.position));
  if (length == 0 && model->n_bodies > 0) length = v3_norm(model->bodies[0].pose.position);
  return length > 0 ? length : 1;
}

static ss_status copy_scene_texts(ss_model *model, const ss_scene *scene, ss_error *error) {
  model->scene_name = ss_arena_strdup(model->arena, scene->name ? scene->name : "");
  model->source = ss_arena_strdup(model->arena, scene->source ? scene->source : "");
  model->file = ss_arena_strdup(model->arena, scene->file);
  model->text = ss_arena_strdup(model->arena, scene->text);
  model->parameters = ss_hash_start;
  for (int i = 0; i < scene->n_parameters; i++) {
    const ss_parameter *p = &scene->parameters[i];
    model->parameters = ss_hash_bytes(model->parameters, p->name, strlen(p->name) + 1);
    model->parameters = ss_hash_bytes(model->parameters, &p->value, sizeof p->value);
  }
  model->simulation = scene->simulation;
  model->simulation.scheme = ss_arena_strdup(model->arena, scene->simulation.scheme);
  model->simulation.solver = ss_arena_strdup(model->arena, scene->simulation.solver);
  if (!model->scene_name || !model->source || (scene->file && !model->file) || (scene->text && !model->text) ||
      !model->simulation.scheme || !model->simulation.solver)
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  model->planar = scene->planar;
  model->gravity = scene->gravity;
  model->plane_normal = scene->planar == SS_PLANAR_XY   ? v3(0, 0, 1)
                        : scene->planar == SS_PLANAR_XZ ? v3(0, 1, 0)
                                                        : v3(1, 0, 0);
  return SS_OK;
}

static ss_status compile_names(ss_model *model, const ss_scene *scene, ss_body_names *names, ss_error *error) {
  const ss_status status = ss_sort_body_names(scene, model->arena, names, error);
  const int again = status == SS_OK ? ss_repeated_body_name(names) : 0;
  if (again == 0) return status;
  const ss_body_def *def = &scene->bodies[names->items[again].index];
  return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "the name '%s' is taken", def->name);
}

static ss_status compile(ss_model *model, const ss_scene *scene, ss_error *error) {
  ss_body_names names;
  ss_status status = copy_scene_texts(model, scene, error);
  if (status == SS_OK) status = compile_names(model, scene, &names, error);
  if (status == SS_OK) status = ss_compile_bodies(model, scene, error);
  if (status == SS_OK) status = ss_compile_laws(model, scene, &names, error);
  if (status == SS_OK) status = ss_compile_compliance(model, scene, error);
  if (status == SS_OK) status = ss_compile_joints(model, scene, error);
  if (status == SS_OK) status = ss_compile_forces(model, scene, error);
  if (status == SS_OK) status = ss_compile_signals(model, scene, error);
  if (status != SS_OK) return status;
  model->length = typical_length(model);
  return ss_check_overlap(model, scene, error);
}

ss_status ss_model_create(const ss_scene *scene, ss_model **out, ss_error *error) {
  *out = NULL;
  if (!scene) return ss_fail(error, SS_ERROR_INPUT, "there is no scene to compile: was it loaded?");
  ss_model *model = ss_model_blank(error);
  if (!model) return SS_ERROR_MEMORY;
  const ss_status status = compile(model, scene, error);
  if (status == SS_OK)
    *out = model;
  else
    ss_model_destroy(model);
  return status;
}
