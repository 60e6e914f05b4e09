/* How contacts give: the section `compliance`, and the one of a material. */
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

/* Two numbers (normal, tangential), or a matrix as a list of rows. */
static ss_status read_matrix(ss_reader *reader, const ss_yaml *node, const double **numbers, int *count) {
  const ss_compliance_def *c = &reader->scene->compliance;
  SS_TRY(ss_expect_list(reader, node, "two numbers (normal, tangential) or of rows of a matrix"));
  const bool matrix = node->count > 0 && node->items[0].value->kind == SS_YAML_LIST;
  const int elements = reader->scene->planar == SS_SPATIAL ? c->elements * c->elements : c->elements;
  const int size = elements * (reader->scene->planar == SS_SPATIAL ? 3 : 2);
  if (node->count != (matrix ? size : 2))
    return SS_READ_FAIL(reader, node, "'%s' must be two numbers (normal, tangential) or a matrix of %d rows, not %d",
                        reader->key, size, node->count);
  double *out = SS_ARENA_ARRAY(reader->scene->arena, double, matrix ? (size_t)size *(size_t)size : 2);
  if (!out) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    if (matrix)
      SS_TRY(ss_read_numbers(reader, item, size, out + (ptrdiff_t)i * size));
    else
      SS_TRY(ss_read_nonnegative(reader, item, &out[i]));
  }
  *numbers = out;
  *count = matrix ? size * size : 2;
  return SS_OK;
}

static ss_status read_stiffness(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  return read_matrix(reader, node, &c->stiffness, &c->n_stiffness);
}

static ss_status read_rayleigh(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  c->law = SS_DAMPING_RAYLEIGH;
  return ss_read_numbers(reader, node, 2, c->rayleigh);
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

static ss_status read_damping(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_compliance_def *c = object;
  int value = 0;
  if (node->kind == SS_YAML_SCALAR) return ss_read_word(reader, node, &ss_words_damping, &value);
  if (node->kind == SS_YAML_MAP) return ss_read_section(reader, node, &ss_section_damping, -1, NULL, c);
  c->law = SS_DAMPING_GIVEN;
  return read_matrix(reader, node, &c->damping, &c->n_damping);
}

static const ss_key compliance_keys[] = {
    {"young", ss_read_positive, offsetof(ss_compliance_def, elastic.young), false, 0},
    {"poisson", read_poisson, offsetof(ss_compliance_def, elastic.poisson), false, 0},
    {"elements", read_elements, offsetof(ss_compliance_def, elements), false, 0},
    {"spacing", ss_read_positive, offsetof(ss_compliance_def, spacing), false, 0},
    {"stiffness", read_stiffness, 0, false, 0},
    {"damping", read_damping, 0, false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_compliance = {"compliance", compliance_keys};

ss_status ss_read_compliance(ss_reader *reader, const ss_yaml *node, void *scene) {
  ss_compliance_def *c = &((ss_scene *)scene)->compliance;
  *c = (ss_compliance_def){.given = true, .elements = 1, .spacing = NAN, .mark = node->mark};
  SS_TRY(ss_read_section(reader, node, &ss_section_compliance, -1, NULL, c));
  if (isnan(c->spacing)) {
    if (!c->n_stiffness || c->elements > 1) return SS_READ_FAIL(reader, node, "the compliance lacks the key 'spacing'");
    c->spacing = 1; /* a single element with a given stiffness has no extent */
  }
  if (c->n_stiffness && c->elastic.young > 0)
    return SS_READ_FAIL(reader, ss_yaml_get(node, "young"), "give either 'young' or 'stiffness', not both");
  return SS_OK;
}

static const ss_key elastic_keys[] = {
    {"young", ss_read_positive, offsetof(ss_elastic, young), true, 0},
    {"poisson", read_poisson, offsetof(ss_elastic, poisson), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_elastic = {"elastic", elastic_keys};

ss_status ss_read_elastic(ss_reader *reader, const ss_yaml *node, void *elastic) {
  return ss_read_section(reader, node, &ss_section_elastic, -1, NULL, elastic);
}
