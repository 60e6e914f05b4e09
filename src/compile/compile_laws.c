/* Materials and what happens between them. */
#include "compile/compile.h"
#include "core/words.h"

#include <string.h>

int ss_find_material(const ss_scene *scene, const char *name) {
  for (int i = 0; i < scene->n_materials; i++)
    if (strcmp(scene->materials[i].name, name) == 0) return i;
  return -1;
}

/* A planar contact feels the one tangent and the moment about the plane's normal. */
static ss_status check_generators(const ss_scene *scene, const ss_contact_def *def, ss_error *error) {
  for (int i = 0; i < def->n_generators; i++) {
    const double *d = def->generators[i];
    double size = 0;
    for (int k = 0; k < SS_GENERATOR; k++) {
      if (!isfinite(d[k]))
        return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "generator %d is not finite", i + 1);
      if (scene->planar != SS_SPATIAL && k != 0 && k != 4 && d[k] != 0)
        return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark,
                             "generator %d: planar scenes have d1 and roll2 only", i + 1);
      size = fmax(size, fabs(d[k]));
    }
    if (size == 0) return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "generator %d is zero", i + 1);
  }
  return SS_OK;
}

/* Numbers that are zero in all generators have no row. */
static const ss_friction_table *make_table(ss_arena *arena, const ss_contact_def *def) {
  ss_friction_table *table = SS_ARENA_ARRAY(arena, ss_friction_table, 1);
  double *corners = SS_ARENA_ARRAY(arena, double, (size_t)def->n_generators *SS_GENERATOR);
  if (!table || !corners) return NULL;
  *table = (ss_friction_table){.n = def->n_generators, .corners = corners};
  for (int k = 0; k < SS_GENERATOR; k++) {
    double size = 0;
    for (int i = 0; i < table->n; i++) size = fmax(size, fabs(def->generators[i][k]));
    if (size == 0) continue;
    table->axis[table->n_rows] = k;
    table->size[table->n_rows++] = size;
  }
  for (int i = 0; i < table->n; i++)
    for (int k = 0; k < table->n_rows; k++)
      corners[i * table->n_rows + k] = def->generators[i][table->axis[k]] / table->size[k];
  return table;
}

ss_status ss_compile_laws(ss_model *model, const ss_scene *scene, const ss_body_names *names, ss_error *error) {
  model->n_materials = scene->n_materials;
  model->materials = SS_ARENA_ARRAY(model->arena, ss_material_def, scene->n_materials);
  model->n_overrides = scene->n_contacts;
  model->overrides = SS_ARENA_ARRAY(model->arena, ss_law_override, scene->n_contacts);
  if (!model->materials || !model->overrides) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_materials; i++) {
    model->materials[i] = scene->materials[i];
    model->materials[i].name = ss_arena_strdup(model->arena, scene->materials[i].name);
    if (!model->materials[i].name) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    model->restitution_anywhere |= scene->materials[i].restitution > 0;
    model->friction_anywhere |= scene->materials[i].friction > 0;
    model->moments_anywhere |= scene->materials[i].torsion > 0 || scene->materials[i].rolling > 0;
  }
  for (int i = 0; i < scene->n_contacts; i++) {
    const ss_contact_def *def = &scene->contacts[i];
    ss_law_override *override = &model->overrides[i];
    *override = (ss_law_override){.collide = def->collide,
                                  .has_axis = def->has_axis,
                                  .friction = def->friction,
                                  .restitution = def->restitution,
                                  .across = def->friction_across,
                                  .torsion = def->torsion,
                                  .rolling = def->rolling,
                                  .axis = def->axis,
                                  .has_restitution_law = def->has_restitution_law,
                                  .restitution_law = def->restitution_law,
                                  .has_polygon = def->has_polygon,
                                  .polygon = def->polygon};
    for (int side = 0; side < 2; side++) {
      override->body[side] = ss_find_body_name(names, def->between[side]);
      override->material[side] = override->body[side] == SS_ANY_BODY ? ss_find_material(scene, def->between[side]) : -1;
      if (override->body[side] == SS_ANY_BODY && override->material[side] < 0)
        return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "no body or material is named '%s'",
                             def->between[side]);
    }
    if (def->n_generators > 0) {
      const ss_status status = check_generators(scene, def, error);
      if (status != SS_OK) return status;
      override->generators = make_table(model->arena, def);
      if (!override->generators) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
      model->friction_anywhere = true;
      for (int k = 0; k < override->generators->n_rows; k++)
        model->moments_anywhere |= override->generators->axis[k] >= 2;
    }
    model->restitution_anywhere |= def->restitution > 0;
    model->friction_anywhere |= def->friction > 0;
    model->newton_anywhere |= def->has_restitution_law && def->restitution_law == SS_RESTITUTION_NEWTON;
    model->moments_anywhere |= def->torsion > 0 || def->rolling > 0;
  }
  return SS_OK;
}
