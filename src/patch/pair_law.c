/* The law of a contact's patch: made for a pair of materials when they first touch, then found again.
 *
 * What the pair itself says goes before the surfaces of its materials, and these before the scene. Moduli of the scene or
 * of the pair belong to one elastic body on a rigid one: to the body that can move; two that both can share them (then
 * normal and tangential deformations do not couple). */
#include "core/words.h"
#include "patch/patch.h"

#include <stdio.h>

typedef struct ss_patch_entry {
  const ss_compliance_law *law;
  int material[2];
  int mover; /* 0: a can move, b cannot; 1: the other way round; 2: both can */
  bool turned;
  ss_patch *patch;
  struct ss_patch_entry *next;
} ss_patch_entry;

static bool same(const ss_patch_entry *a, const ss_patch_entry *b) {
  return a->law == b->law && a->material[0] == b->material[0] && a->material[1] == b->material[1] &&
         a->mover == b->mover && a->turned == b->turned;
}

static void share_moduli(ss_elastic elastic, int mover, ss_surface side[2]) {
  const ss_elastic half = {2 * elastic.young, elastic.poisson};
  if (mover != 1) side[0].elastic = mover == 2 ? half : elastic;
  if (mover != 0) side[1].elastic = mover == 2 ? half : elastic;
}

static ss_status make(const ss_model *model, ss_arena *arena, ss_patch_entry *e, ss_error *error) {
  ss_surface side[2] = {model->materials[e->material[0]].compliance, model->materials[e->material[1]].compliance};
  const bool own = e->law->own_stiffness || !(ss_surface_gives(&side[0]) || ss_surface_gives(&side[1]));
  if (own) {
    side[0] = side[1] = (ss_surface){0};
    if (e->law->def.elastic.young > 0) share_moduli(e->law->def.elastic, e->mover, side);
  }
  if (e->law->own_damping) side[0].has_damping = side[1].has_damping = false;
  const ss_status status =
      ss_patch_create(&e->law->def, side, e->turned, model->planar == SS_SPATIAL ? 3 : 2, arena, &e->patch, error);
  if (status != SS_ERROR_INPUT || !error) return status;
  char reason[sizeof error->message];
  (void)snprintf(reason, sizeof reason, "%s", error->message);
  const ss_material_def *a = &model->materials[e->material[0]], *b = &model->materials[e->material[1]];
  const ss_mark mark = e->law->def.given ? e->law->def.mark : a->mark;
  return ss_fail_place(error, status, model->file, mark, "materials '%s' and '%s': %s", a->name, b->name, reason);
}

ss_status ss_patch_find_law(ss_sim *sim, ss_contact *c, ss_error *error) {
  const ss_model *model = sim->model;
  if (ss_polygon_of(sim, c->law) == SS_POLYGON_FIXED)
    return ss_fail(error, SS_ERROR_UNSUPPORTED, "%s: 'polygon: fixed' is for rigid contacts", sim->scheme->name);
  if (c->law->generators || c->law->anisotropic || c->law->torsion > 0 || c->law->rolling > 0)
    return ss_fail(error, SS_ERROR_UNSUPPORTED,
                   "%s: patches have isotropic friction, and torsion and rolling resistance of their own making",
                   sim->scheme->name);
  const ss_patch_entry wanted = {
      .law = c->law->compliance,
      .material = {model->shapes[c->shape[0]].material, model->shapes[c->shape[1]].material},
      .mover = c->body[0] < 0   ? 1
               : c->body[1] < 0 ? 0
                                : 2,
      .turned = c->law->compliance_side != 0,
  };
  ss_patch_entry *found = sim->patches;
  while (found && !same(found, &wanted)) found = found->next;
  if (!found) {
    found = SS_ARENA_ARRAY(sim->arena, ss_patch_entry, 1);
    if (!found) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    *found = wanted;
    const ss_status status = make(model, sim->arena, found, error);
    if (status != SS_OK) return status;
    found->next = sim->patches;
    sim->patches = found;
  }
  c->patch = found->patch;
  for (int e = 0; c->patch->friction && e < c->patch->n_elements; e++)
    c->mu = fmax(e > 0 ? c->mu : 0, c->patch->friction[e]);
  return SS_OK;
}
