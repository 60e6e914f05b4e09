/* How contacts give: the section `compliance` of the scene and of a pair, and the one of a material. */
#include "io/scene_reader.h"

#include <math.h>
#include <string.h>

enum { MOST_ELEMENTS = 64 };

static ss_status read_poisson(ss_reader *reader, const ss_yaml *node, void *number) {
  double value = 0;
  SS_TRY(ss_read_number(reader, node, &value));
  if (!(value > -1 && value <= 0.5))
    return SS_READ_FAIL(reader, node, "'poisson' must be above -1 and at most 0.5, not %g", value);
  *(double *)number = value;
  return SS_OK;
}

static ss_status read_elements(ss_reader *reader, const ss_yaml *node, void *elements) {
  double value = 0;
  SS_TRY(ss_read_number(reader, node, &value));
  if (!(value >= 1 && value <= MOST_ELEMENTS) || fmod(value, 1) != 0)
    return SS_READ_FAIL(reader, node, "'elements' must be a whole number from 1 to %d, not %g", MOST_ELEMENTS, value);
  *(int *)elements = (int)value;
  return SS_OK;
}

/* Two numbers, normal and tangential. */
static ss_status read_two(ss_reader *reader, const ss_yaml *node,
                          ss_status (*read)(ss_reader *, const ss_yaml *, void *), double out[2]) {
  SS_TRY(ss_expect_list(reader, node, "two numbers (normal, tangential)"));
  if (node->count != 2)
    return SS_READ_FAIL(reader, node, "'%s' must be two numbers (normal, tangential), not %d", reader->key,
                        node->count);
  for (int i = 0; i < 2; i++) SS_TRY(read(reader, node->items[i].value, &out[i]));
  return SS_OK;
}

static int directions_of(const ss_scene *scene) { return scene->planar == SS_SPATIAL ? 3 : 2; }

/* Rows and columns of a patch's matrix; elements that a pair does not give are the scene's. */
static int matrix_size(const ss_scene *scene, const ss_compliance_def *c) {
  int side = c->elements > 0 ? c->elements : scene->compliance.elements;
  if (side == 0) side = 1;
  return directions_of(scene) * (scene->planar == SS_SPATIAL ? side * side : side);
}

/* Two numbers (normal, tangential), or a matrix as a list of rows. */
static ss_status read_matrix(ss_reader *reader, const ss_yaml *node, const ss_compliance_def *c, const double **numbers,
                             int *count) {
  SS_TRY(ss_expect_list(reader, node, "two numbers (normal, tangential) or of rows of a matrix"));
  const bool matrix = node->count > 0 && node->items[0].value->kind == SS_YAML_LIST;
  const int size = matrix_size(reader->scene, c);
  if (node->count != (matrix ? size : 2))
    return SS_READ_FAIL(reader, node, "'%s' must be two numbers (normal, tangential) or a matrix of %d rows, not %d",
                        reader->key, size, node->count);
  double *out = SS_ARENA_ARRAY(reader->scene->arena, double, matrix ? (size_t)size *(size_t)size : 2);
  if (!out) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  if (!matrix) SS_TRY(read_two(reader, node, ss_read_nonnegative, out));
  for (int i = 0; matrix && i < size; i++)
    SS_TRY(ss_read_numbers(reader, node->items[i].value, size, out + (ptrdiff_t)i * size));
  *numbers = out;
  *count = matrix ? size * size : 2;
  return SS_OK;
}

static ss_status read_stiffness(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  return read_matrix(reader, node, c, &c->stiffness, &c->n_stiffness);
}

static ss_status read_rayleigh(ss_reader *reader, const ss_yaml *node, void *factors) {
  const double *c = factors;
  SS_TRY(ss_read_numbers(reader, node, 2, factors));
  if (c[0] >= 0 && c[1] >= 0) return SS_OK;
  return SS_READ_FAIL(reader, node, "'rayleigh' must not be negative, but is [%g, %g]: it would give energy", c[0],
                      c[1]);
}

static const ss_key damping_keys[] = {
    {"rayleigh", read_rayleigh, 0, true, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_damping = {"damping", damping_keys};

static const ss_word damping_words[] = {
    {"critical", SS_DAMPING_CRITICAL, false},
    {NULL, 0, false},
};
const ss_words ss_words_damping = {"damping_law", damping_words};

/* A law by name or by its factors; a list is left to the caller. */
static ss_status read_damping_law(ss_reader *reader, const ss_yaml *node, ss_damping *law, double factors[2]) {
  int value = SS_DAMPING_CRITICAL;
  if (node->kind == SS_YAML_SCALAR) SS_TRY(ss_read_word(reader, node, &ss_words_damping, &value));
  if (node->kind == SS_YAML_MAP) {
    SS_TRY(ss_read_section(reader, node, &ss_section_damping, -1, NULL, factors));
    value = SS_DAMPING_RAYLEIGH;
  }
  *law = node->kind == SS_YAML_LIST ? SS_DAMPING_GIVEN : (ss_damping)value;
  return SS_OK;
}

static ss_status read_damping(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  c->has_damping = true;
  SS_TRY(read_damping_law(reader, node, &c->law, c->rayleigh));
  return c->law == SS_DAMPING_GIVEN ? read_matrix(reader, node, c, &c->damping, &c->n_damping) : SS_OK;
}

/* One coefficient per element. */
static ss_status read_friction(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  const int count = matrix_size(reader->scene, c) / directions_of(reader->scene);
  SS_TRY(ss_expect_list(reader, node, "coefficients of friction, one per element"));
  if (node->count != count)
    return SS_READ_FAIL(reader, node, "'friction' must be a list of %d numbers, one per element, not %d", count,
                        node->count);
  double *out = SS_ARENA_ARRAY(reader->scene->arena, double, count);
  if (!out) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < count; i++) SS_TRY(ss_read_nonnegative(reader, node->items[i].value, &out[i]));
  c->friction = out;
  c->n_friction = count;
  return SS_OK;
}

/* (n, t, o) for all elements, or a list of them, one per element. */
static ss_status read_delta(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  const int size = matrix_size(reader->scene, c), d = directions_of(reader->scene);
  SS_TRY(ss_expect_list(reader, node, "deformations (normal, tangential), of all elements or of each"));
  const bool each = node->count > 0 && node->items[0].value->kind == SS_YAML_LIST;
  if (node->count != (each ? size / d : d))
    return SS_READ_FAIL(reader, node, "'delta' must be %d numbers, or a list of them for each of %d elements, not %d",
                        d, size / d, node->count);
  double *out = SS_ARENA_ARRAY(reader->scene->arena, double, size);
  if (!out) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int e = 0; e < size / d; e++)
    SS_TRY(ss_read_numbers(reader, each ? node->items[e].value : node, d, out + (ptrdiff_t)e * d));
  c->delta = out;
  c->n_delta = size;
  return SS_OK;
}

static const ss_word influence_words[] = {
    {"half-space", SS_INFLUENCE_HALF_SPACE, false},
    {"cells", SS_INFLUENCE_CELLS, false},
    {"half-plane", SS_INFLUENCE_HALF_PLANE, false},
    {NULL, 0, false},
};
const ss_words ss_words_influence = {"influence", influence_words};

static ss_status read_influence(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_influence, &value));
  if (value == SS_INFLUENCE_HALF_PLANE && reader->scene->planar == SS_SPATIAL)
    return SS_READ_FAIL(reader, node, "'half-plane' is for planar scenes");
  c->influence = (ss_influence)value;
  c->has_influence = true;
  return SS_OK;
}

static ss_status read_coupling(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  c->has_coupling = true;
  return ss_read_boolean(reader, node, &c->coupling);
}

static ss_status read_transport(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  c->has_transport = true;
  return ss_read_boolean(reader, node, &c->transport);
}

static ss_status read_factor(ss_reader *reader, const ss_yaml *node, void *expression) {
  return ss_read_signal(reader, node, false, expression);
}

static const ss_key compliance_keys[] = {
    {"young", ss_read_positive, offsetof(ss_compliance_def, elastic.young), false, 0},
    {"poisson", read_poisson, offsetof(ss_compliance_def, elastic.poisson), false, 0},
    {"elements", read_elements, offsetof(ss_compliance_def, elements), false, 0},
    {"spacing", ss_read_positive, offsetof(ss_compliance_def, spacing), false, 0},
    {"influence", read_influence, 0, false, 0},
    {"thickness", ss_read_positive, offsetof(ss_compliance_def, thickness), false, 0},
    {"datum", ss_read_positive, offsetof(ss_compliance_def, datum), false, 0},
    {"coupling", read_coupling, 0, false, 0},
    {"transport", read_transport, 0, false, 0},
    {"stiffness", read_stiffness, 0, false, 0},
    {"damping", read_damping, 0, false, 0},
    {"stiffness_factor", read_factor, offsetof(ss_compliance_def, stiffness_factor), false, 0},
    {"damping_factor", read_factor, offsetof(ss_compliance_def, damping_factor), false, 0},
    {"friction", read_friction, 0, false, 0},
    {"delta", read_delta, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_compliance = {"compliance", compliance_keys};

static ss_status read_compliance(ss_reader *reader, const ss_yaml *node, ss_compliance_def *c) {
  *c = (ss_compliance_def){.given = true, .mark = node->mark};
  SS_TRY(ss_read_section(reader, node, &ss_section_compliance, -1, NULL, c));
  if (c->n_stiffness && c->elastic.young > 0)
    return SS_READ_FAIL(reader, ss_yaml_get(node, "young"), "give either 'young' or 'stiffness', not both");
  const ss_yaml *poisson = ss_yaml_get(node, "poisson");
  if (poisson && !(c->elastic.young > 0)) return SS_READ_FAIL(reader, poisson, "'poisson' needs 'young'");
  return SS_OK;
}

ss_status ss_read_compliance(ss_reader *reader, const ss_yaml *node, void *scene) {
  ss_compliance_def *c = &((ss_scene *)scene)->compliance;
  SS_TRY(read_compliance(reader, node, c));
  if (c->elements == 0) c->elements = 1;
  /* a single element with a given stiffness has no extent */
  if (!(c->spacing > 0) && (c->elements > 1 || c->elastic.young > 0))
    return SS_READ_FAIL(reader, node, "the compliance lacks the key 'spacing'");
  return SS_OK;
}

ss_status ss_read_pair_compliance(ss_reader *reader, const ss_yaml *node, void *pointer) {
  ss_compliance_def *c = SS_ARENA_ARRAY(reader->scene->arena, ss_compliance_def, 1);
  if (!c) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  SS_TRY(read_compliance(reader, node, c));
  if (node->count == 0) return SS_READ_FAIL(reader, node, "the compliance says nothing");
  *(const ss_compliance_def **)pointer = c;
  return SS_OK;
}

/* ---- materials ---- */

static ss_status read_springs(ss_reader *reader, const ss_yaml *node, void *object) {
  return read_two(reader, node, ss_read_positive, ((ss_surface *)object)->stiffness);
}

static ss_status read_dampers(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_surface *surface = object;
  surface->has_damping = true;
  SS_TRY(read_damping_law(reader, node, &surface->law, surface->damping));
  return surface->law == SS_DAMPING_GIVEN ? read_two(reader, node, ss_read_nonnegative, surface->damping) : SS_OK;
}

static const ss_key elastic_keys[] = {
    {"young", ss_read_positive, offsetof(ss_surface, elastic.young), false, 0},
    {"poisson", read_poisson, offsetof(ss_surface, elastic.poisson), false, 0},
    {"stiffness", read_springs, 0, false, 0},
    {"damping", read_dampers, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_elastic = {"elastic", elastic_keys};

ss_status ss_read_elastic(ss_reader *reader, const ss_yaml *node, void *object) {
  const ss_surface *surface = object;
  SS_TRY(ss_read_section(reader, node, &ss_section_elastic, -1, NULL, object));
  const bool springs = surface->stiffness[0] > 0, half_space = surface->elastic.young > 0;
  if (springs && half_space)
    return SS_READ_FAIL(reader, ss_yaml_get(node, "young"), "give either 'young' or 'stiffness', not both");
  if (!springs && !half_space)
    return SS_READ_FAIL(reader, node, "a material's compliance lacks the key 'young' (or 'stiffness')");
  const ss_yaml *poisson = ss_yaml_get(node, "poisson");
  if (poisson && springs) return SS_READ_FAIL(reader, poisson, "'poisson' needs 'young'");
  return SS_OK;
}
