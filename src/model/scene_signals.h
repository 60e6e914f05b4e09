/* Inputs, outputs and the variables of expressions, in a scene. */
#ifndef SS_MODEL_SCENE_SIGNALS_H
#define SS_MODEL_SCENE_SIGNALS_H

#include "core/expression_names.h"

#include <stickslip/scene.h>

/* What an expression of a scene may name. Joints may be named before they are added: their names are listed apart. */
typedef struct ss_signal_scope {
  ss_scene *scene;
  const char *const *joint_names; /* [n_joints] NULL: "joint N" */
  int n_joints;
  bool output; /* forces of joints and contacts too */
  ss_mark mark;
} ss_signal_scope;

/* For ss_expression_scope.variable; user is an ss_signal_scope. */
ss_status ss_find_variable(void *user, const char *at, ss_variable_found *found, ss_error *error);
/* The same for constants: fails where an input or the state is used. user is the ss_scene. */
ss_status ss_refuse_variable(void *user, const char *at, ss_variable_found *found, ss_error *error);

/* Why no input can have this name; NULL: it can. */
const char *ss_input_name_refused(const ss_scene *scene, const char *name);
ss_status ss_scene_add_output_def(ss_scene *scene, const ss_output_def *output, ss_error *error);

#endif
