/* From a scene to a model: the pieces, which compile.c calls in this order. */
#ifndef SS_COMPILE_COMPILE_H
#define SS_COMPILE_COMPILE_H

#include "model/joint.h"

ss_status ss_compile_bodies(ss_model *model, const ss_scene *scene, ss_error *error);
ss_status ss_compile_laws(ss_model *model, const ss_scene *scene, const ss_body_names *names, ss_error *error);
ss_status ss_compile_joints(ss_model *model, const ss_scene *scene, ss_error *error);
ss_status ss_compile_compliance(ss_model *model, const ss_scene *scene, ss_error *error);
ss_status ss_compile_forces(ss_model *model, const ss_scene *scene, ss_error *error);
ss_status ss_compile_signals(ss_model *model, const ss_scene *scene, ss_error *error); /* after joints and forces */

/* Index of the scene's material with this name, -1 if there is none. */
int ss_find_material(const ss_scene *scene, const char *name);

#endif
