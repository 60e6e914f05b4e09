/* How contacts give: what a pair says goes before its materials, these before the scene; the scene's section fills what
 * is left out. */
#include "core/words.h"
#include "la/dense.h"
#include "compile/compile.h"

#include <string.h>

static bool copy_numbers(ss_arena *arena, const double **numbers, int count) {
  if (count == 0) return true;
  double *copy = SS_ARENA_ARRAY(arena, double, count);
  if (copy) memcpy(copy, *numbers, sizeof(double) * (size_t)count);
  *numbers = copy;
  return copy != NULL;
}

/* The pair's definition completed by the scene's. Moduli and stiffness exclude each other: the pair's choice counts. */
static ss_compliance_def complete(const ss_compliance_def *pair, const ss_compliance_def *scene) {
  ss_compliance_def c = *scene;
  c.given = true;
  c.mark = pair->mark;
  if (pair->elements > 0) c.elements = pair->elements;
  if (pair->spacing > 0) c.spacing = pair->spacing;
  if (pair->elastic.young > 0 || pair->n_stiffness) {
    c.elastic = pair->elastic;
    c.stiffness = pair->stiffness;
    c.n_stiffness = pair->n_stiffness;
  }
  if (pair->has_damping) {
    c.law = pair->law;
    c.damping = pair->damping;
    c.n_damping = pair->n_damping;
    memcpy(c.rayleigh, pair->rayleigh, sizeof c.rayleigh);
  }
  if (pair->has_influence) c.influence = pair->influence;
  if (pair->thickness > 0) c.thickness = pair->thickness;
  if (pair->datum > 0) c.datum = pair->datum;
  if (pair->has_coupling) c.has_coupling = true, c.coupling = pair->coupling;
  if (pair->has_transport) c.transport = pair->transport;
  if (pair->stiffness_factor) c.stiffness_factor = pair->stiffness_factor;
  if (pair->damping_factor) c.damping_factor = pair->damping_factor;
  if (pair->n_friction) c.friction = pair->friction, c.n_friction = pair->n_friction;
  if (pair->n_delta) c.delta = pair->delta, c.n_delta = pair->n_delta;
  return c;
}

/* A matrix that is given must be symmetric and positive definite (BVP condition (D)); C may be semidefinite. */
static ss_status check_definite(const ss_scene *scene, const ss_compliance_def *c, const char *name,
                                const double *numbers, int n, bool strictly, ss_error *error) {
  const size_t square = (size_t)n * (size_t)n;
  double *work = ss_alloc(sizeof(double) * (2 * square + 2 * (size_t)n));
  if (!work) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  double *vectors = work + square, *values = vectors + square, *scratch = values + n;
  double size = 0, smallest = HUGE_VAL, asymmetry = 0;
  memcpy(work, numbers, sizeof(double) * square);
  for (size_t i = 0; i < square; i++) {
    size = fmax(size, fabs(numbers[i]));
    asymmetry = fmax(asymmetry, fabs(numbers[i] - numbers[i % (size_t)n * (size_t)n + i / (size_t)n]));
  }
  const bool found = ss_symmetric_eigen(work, n, vectors, values, scratch);
  for (int i = 0; found && i < n; i++) smallest = fmin(smallest, values[i]);
  ss_free(work);
  if (asymmetry > 1e-9 * size)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, c->mark, "compliance: '%s' must be symmetric", name);
  if (!found || (strictly ? !(smallest > 1e-14 * size) : !(smallest >= -1e-12 * size)))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, c->mark,
                         "compliance: '%s' is not positive %s: its smallest eigenvalue is %g", name,
                         strictly ? "definite" : "semidefinite", smallest);
  return SS_OK;
}

static ss_status check(const ss_model *model, const ss_scene *scene, const ss_compliance_def *c, ss_error *error) {
  const int size = model->planar == SS_SPATIAL ? 3 * c->elements * c->elements : 2 * c->elements;
  if (c->elements < 1 || !(c->spacing >= 0))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, c->mark,
                         "compliance needs elements >= 1 and a positive spacing");
  if (!(c->spacing > 0) && (c->elements > 1 || c->elastic.young > 0))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, c->mark, "the compliance lacks the key 'spacing'");
  const struct {
    const char *name;
    const double *numbers;
    int count, expected;
    bool definite;
  } given[] = {{"stiffness", c->stiffness, c->n_stiffness, size * size, true},
               {"damping", c->damping, c->n_damping, size * size, false},
               {"friction", c->friction, c->n_friction, size / (model->planar == SS_SPATIAL ? 3 : 2), false},
               {"delta", c->delta, c->n_delta, size, false}};
  for (int i = 0; i < 4; i++) {
    if (given[i].count == 0 || (i < 2 && given[i].count == 2)) continue;
    if (given[i].count != given[i].expected)
      return ss_fail_place(error, SS_ERROR_INPUT, scene->file, c->mark,
                           "compliance: the scene's '%s' is for another number of elements: expected %d numbers",
                           given[i].name, given[i].expected);
    const ss_status status =
        i < 2 ? check_definite(scene, c, given[i].name, given[i].numbers, size, given[i].definite, error) : SS_OK;
    if (status != SS_OK) return status;
  }
  if (c->n_stiffness == 2 && !(c->stiffness[0] > 0 && c->stiffness[1] > 0))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, c->mark, "compliance: 'stiffness' must be positive");
  return SS_OK;
}

static ss_status compile(ss_model *model, const ss_scene *scene, ss_compliance_law *law, ss_error *error) {
  if (law->def.elements == 0) law->def.elements = 1;
  if (!copy_numbers(model->arena, &law->def.stiffness, law->def.n_stiffness) ||
      !copy_numbers(model->arena, &law->def.damping, law->def.n_damping) ||
      !copy_numbers(model->arena, &law->def.friction, law->def.n_friction) ||
      !copy_numbers(model->arena, &law->def.delta, law->def.n_delta) ||
      !ss_expression_copy(law->def.stiffness_factor, model->arena, &law->def.stiffness_factor) ||
      !ss_expression_copy(law->def.damping_factor, model->arena, &law->def.damping_factor))
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  return check(model, scene, &law->def, error);
}

bool ss_scene_is_compliant(const ss_scene *scene) {
  bool yes = scene->compliance.given;
  for (int i = 0; i < scene->n_materials; i++) {
    const ss_surface *surface = &scene->materials[i].compliance;
    yes = yes || surface->elastic.young > 0 || surface->stiffness[0] > 0;
  }
  for (int i = 0; i < scene->n_contacts; i++) yes = yes || scene->contacts[i].compliance;
  return yes;
}

static void note_surface(ss_model *model, ss_elastic elastic, double stiffness) {
  int kind;
  const double c = ss_surface_compliance(elastic, stiffness, &kind);
  if (c > 0 && (model->stiffest[kind] == 0 || c < model->stiffest[kind])) model->stiffest[kind] = c;
}

/* The units in which compliances weigh redundant impulses. */
static void find_stiffest(ss_model *model, const ss_scene *scene) {
  for (int i = 0; i < scene->n_materials; i++)
    note_surface(model, scene->materials[i].compliance.elastic, scene->materials[i].compliance.stiffness[0]);
  for (int i = 0; i < scene->n_contacts; i++) {
    const ss_compliance_def *pair = scene->contacts[i].compliance;
    if (pair) note_surface(model, pair->elastic, pair->n_stiffness > 0 ? pair->stiffness[0] : 0);
  }
}

ss_status ss_compile_compliance(ss_model *model, const ss_scene *scene, ss_error *error) {
  model->compliance.def = scene->compliance;
  model->compliant = ss_scene_is_compliant(scene);
  find_stiffest(model, scene);
  ss_status status = compile(model, scene, &model->compliance, error);
  for (int i = 0; i < scene->n_contacts && status == SS_OK; i++) {
    const ss_compliance_def *pair = scene->contacts[i].compliance;
    if (!pair) continue;
    ss_compliance_law *law = SS_ARENA_ARRAY(model->arena, ss_compliance_law, 1);
    if (!law) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    *law = (ss_compliance_law){.def = complete(pair, &scene->compliance),
                               .own_stiffness = pair->elastic.young > 0 || pair->n_stiffness > 0,
                               .own_damping = pair->has_damping};
    model->overrides[i].compliance = law;
    status = compile(model, scene, law, error);
  }
  return status;
}
