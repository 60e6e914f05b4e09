/* What can be asked of a compiled model: the law between two shapes, names and numbers. */
#include "model/joint.h"

#include <math.h>
#include <string.h>

ss_model *ss_model_blank(ss_error *error) {
  ss_arena *arena = ss_arena_create();
  ss_model *model = arena ? SS_ARENA_ARRAY(arena, ss_model, 1) : NULL;
  if (model)
    model->arena = arena;
  else {
    ss_arena_destroy(arena);
    (void)ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  return model;
}

void ss_model_destroy(ss_model *model) {
  if (model && model->system && model->system->def.release) model->system->def.release(model->system->def.user);
  if (model) ss_arena_destroy(model->arena);
}

int ss_model_bodies(const ss_model *model) { return model->n_bodies; }
int ss_model_coordinates(const ss_model *model) { return model->n_v; }
int ss_model_joint_rows(const ss_model *model) { return model->n_joint_rows; }

static bool within(int index, int n) { return index >= 0 && index < n; }

double ss_model_body_mass(const ss_model *model, int body) {
  return within(body, model->n_bodies) ? model->bodies[body].mass : (double)NAN;
}
const char *ss_model_scene_name(const ss_model *model) { return model->scene_name; }
const ss_simulation *ss_model_simulation(const ss_model *model) { return &model->simulation; }
const char *ss_model_scene_text(const ss_model *model) { return model->text; }

const char *ss_model_body_name(const ss_model *model, int body) {
  if (body < 0) return "world";
  if (model->system) return body < model->system->def.n_gaps ? model->system->def.gaps[body].name : NULL;
  return body < model->n_bodies ? model->bodies[body].name : NULL;
}

const char *ss_model_joint_row_name(const ss_model *model, int row) {
  if (!within(row, model->n_joint_rows)) return NULL;
  if (model->system) return model->system->row_names[row];
  for (int i = 0; i < model->n_joints; i++)
    if (row < model->joints[i].first_row + model->joints[i].n_rows) return model->joints[i].name;
  return "";
}

const char *ss_model_coordinate_name(const ss_model *model, int coordinate) {
  return model->system ? model->system->def.names[coordinate] : NULL;
}

/* ---- inputs, outputs, joints, bodies by name ---- */

int ss_model_inputs(const ss_model *model) { return model->n_inputs; }
const char *ss_model_input_name(const ss_model *model, int input) {
  return within(input, model->n_inputs) ? model->inputs[input].name : NULL;
}
double ss_model_input_default(const ss_model *model, int input) {
  return within(input, model->n_inputs) ? model->inputs[input].value : (double)NAN;
}
int ss_model_outputs(const ss_model *model) { return model->n_outputs; }
const char *ss_model_output_name(const ss_model *model, int output) {
  return within(output, model->n_outputs) ? model->outputs[output].name : NULL;
}
int ss_model_joints(const ss_model *model) { return model->n_joints; }
const char *ss_model_joint_name(const ss_model *model, int joint) {
  return within(joint, model->n_joints) ? model->joints[joint].name : NULL;
}
bool ss_model_joint_has_position(const ss_model *model, int joint) {
  return within(joint, model->n_joints) && ss_joint_has_coordinate(&model->joints[joint]);
}
bool ss_model_joint_has_motor(const ss_model *model, int joint) {
  return within(joint, model->n_joints) && model->joints[joint].has_motor;
}

int ss_model_find_input(const ss_model *model, const char *name) {
  for (int i = 0; i < model->n_inputs; i++)
    if (strcmp(model->inputs[i].name, name) == 0) return i;
  return -1;
}

int ss_model_find_output(const ss_model *model, const char *name) {
  for (int i = 0; i < model->n_outputs; i++)
    if (strcmp(model->outputs[i].name, name) == 0) return i;
  return -1;
}

int ss_model_find_joint(const ss_model *model, const char *name) {
  for (int i = 0; i < model->n_joints; i++)
    if (strcmp(model->joints[i].name, name) == 0) return i;
  return -1;
}

int ss_model_find_body(const ss_model *model, const char *name) {
  if (strcmp(name, "world") == 0) return SS_WORLD;
  for (int i = 0; i < model->n_bodies; i++)
    if (strcmp(model->bodies[i].name, name) == 0) return i;
  return -2;
}

/* ---- the law between two shapes ---- */

/* The largest force, or moment where there is no force. */
static double table_scale(const ss_friction_table *table) {
  double forces = 0, moments = 0;
  for (int k = 0; k < table->n_rows; k++) {
    double *largest = table->axis[k] < 2 ? &forces : &moments;
    *largest = fmax(*largest, table->size[k]);
  }
  return forces > 0 ? forces : moments;
}

static bool side_matches(const ss_law_override *override, int side, const ss_shape *shape) {
  return override->material[side] >= 0 ? override->material[side] == shape->material
                                       : override->body[side] == shape->body;
}

/* `first`: which shape is the first of `between`. */
static void apply_override(ss_law *law, const ss_law_override *o, int first) {
  law->collide = o->collide;
  if (!isnan(o->friction)) {
    law->friction = o->friction;
    law->anisotropic = o->has_axis && !isnan(o->across);
    law->generators = NULL;
  }
  if (o->generators) {
    law->generators = o->generators;
    law->friction = law->torsion = law->rolling = 0;
    law->anisotropic = law->has_axis = false;
  }
  if (o->has_axis) {
    law->has_axis = true;
    if (!isnan(o->across)) law->across = o->across;
    law->axis = o->axis;
    law->frame = first;
  }
  if (!isnan(o->restitution)) law->restitution = o->restitution;
  if (o->has_restitution_law) {
    law->has_restitution_law = true;
    law->restitution_law = o->restitution_law;
  }
  if (o->has_polygon) {
    law->has_polygon = true;
    law->polygon = o->polygon;
  }
  if (!isnan(o->torsion)) law->torsion = o->torsion;
  if (!isnan(o->rolling)) law->rolling = o->rolling;
  if (o->compliance) {
    law->compliance = o->compliance;
    law->compliance_side = first;
  }
}

double ss_surface_compliance(ss_elastic elastic, double stiffness, int *kind) {
  *kind = stiffness > 0 ? 0 : 1;
  if (stiffness > 0) return 1 / stiffness;
  return elastic.young > 0 ? (1 - elastic.poisson * elastic.poisson) / elastic.young : 0;
}

/* In units of the stiffest surface of its kind: a stiffness and a modulus cannot be compared. */
static double surface_softness(const ss_model *model, ss_elastic elastic, double stiffness) {
  int kind;
  const double c = ss_surface_compliance(elastic, stiffness, &kind);
  return c > 0 && model->stiffest[kind] > 0 ? c / model->stiffest[kind] : 0;
}

/* What the pair says of itself, else the sum of its surfaces; 1 where nobody says anything. */
static double softness_of(const ss_model *model, const ss_law *law, const ss_surface *a, const ss_surface *b) {
  const ss_compliance_law *pair = law->compliance;
  const double sum =
      surface_softness(model, a->elastic, a->stiffness[0]) + surface_softness(model, b->elastic, b->stiffness[0]);
  const double own = pair->own_stiffness ? surface_softness(model, pair->def.elastic,
                                                            pair->def.n_stiffness > 0 ? pair->def.stiffness[0] : 0)
                                         : 0;
  return own > 0 ? own : sum > 0 ? sum : 1;
}

ss_law ss_model_law(const ss_model *model, const ss_shape *a, const ss_shape *b) {
  const ss_material_def *ma = &model->materials[a->material], *mb = &model->materials[b->material];
  ss_law law = {.collide = true,
                .friction = a->material == b->material ? ma->friction : sqrt(ma->friction * mb->friction),
                .restitution = fmax(ma->restitution, mb->restitution),
                .torsion = fmax(ma->torsion, mb->torsion),
                .rolling = fmax(ma->rolling, mb->rolling),
                .compliance = &model->compliance};
  for (int i = 0; i < model->n_overrides; i++) {
    const ss_law_override *o = &model->overrides[i];
    const bool straight = side_matches(o, 0, a) && side_matches(o, 1, b);
    if (straight || (side_matches(o, 0, b) && side_matches(o, 1, a))) apply_override(&law, o, straight ? 0 : 1);
  }
  law.mu = law.anisotropic ? fmax(law.friction, law.across) : law.friction;
  if (law.mu == 0) law.mu = fmax(law.torsion, law.rolling);
  if (law.generators) law.mu = table_scale(law.generators);
  law.softness = softness_of(model, &law, &ma->compliance, &mb->compliance);
  return law;
}
