/* The schema for editors and the loader know the same keys, the same words and the same required keys. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "io/scene_reader.h"

static const ss_section *const sections[] = {
    &ss_section_scene,           &ss_section_material,   &ss_section_contact,     &ss_section_world,
    &ss_section_shape,           &ss_section_body,       &ss_section_joint,       &ss_section_motor,
    &ss_section_spring,          &ss_section_force,      &ss_section_orientation, &ss_section_friction,
    &ss_section_simulation,      &ss_section_compliance, &ss_section_damping,     &ss_section_boundary,
    &ss_section_continuation,    &ss_section_start,      &ss_section_elastic,     &ss_section_output,
    &ss_section_contact_friction};
static const ss_words *const word_tables[] = {
    &ss_words_planar,      &ss_words_freedom,   &ss_words_axis,          &ss_words_shape,
    &ss_words_joint,       &ss_words_force,     &ss_words_jacobian,      &ss_words_cone,
    &ss_words_restitution, &ss_words_event,     &ss_words_stabilization, &ss_words_estimate,
    &ss_words_damping,     &ss_words_influence, &ss_words_sensitivities, &ss_words_polygon};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int load_schema(void **state) {
  json_error_t error;
  json_t *schema = json_load_file(SOURCE_DIR "/schema/scene.schema.json", JSON_REJECT_DUPLICATES, &error);
  if (!schema) print_error("%s:%d:%d: %s\n", error.source, error.line, error.column, error.text);
  *state = schema;
  return schema ? 0 : -1;
}

static int free_schema(void **state) {
  json_decref(*state);
  return 0;
}

static json_t *definition(void **state, const char *name) {
  json_t *found = json_object_get(json_object_get(*state, "$defs"), name);
  if (!found) fail_msg("the schema has no definition of '%s'", name);
  return found;
}

static bool array_has(const json_t *array, const char *word) {
  size_t i;
  json_t *item;
  json_array_foreach(array, i, item) if (strcmp(json_string_value(item), word) == 0) return true;
  return false;
}

static const ss_key *find_key(const ss_section *section, const char *name) {
  for (const ss_key *key = section->keys; key->name; key++)
    if (strcmp(key->name, name) == 0) return key;
  return NULL;
}

static void keys_are_the_same(void **state) {
  for (size_t i = 0; i < COUNT(sections); i++) {
    const char *section = sections[i]->name;
    json_t *schema = definition(state, section), *properties = json_object_get(schema, "properties");
    assert_true(json_is_false(json_object_get(schema, "additionalProperties")));
    for (const ss_key *key = sections[i]->keys; key->name; key++)
      if (!json_object_get(properties, key->name)) fail_msg("%s: the schema lacks '%s'", section, key->name);
    const char *name;
    json_t *value;
    json_object_foreach(properties, name, value) if (!find_key(sections[i], name))
        fail_msg("%s: the loader lacks '%s'", section, name);
  }
}

static void no_section_is_forgotten(void **state) {
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(*state, "$defs"), name, value) {
    bool known = !json_object_get(value, "properties");
    for (size_t i = 0; i < COUNT(sections); i++) known = known || strcmp(sections[i]->name, name) == 0;
    if (!known) fail_msg("the loader has no section '%s'", name);
  }
}

/* Keys that only some types require are in the schema's if-then rules, which the rows of test_scene_errors cover. */
static void required_keys_are_the_same(void **state) {
  for (size_t i = 0; i < COUNT(sections); i++) {
    const json_t *required = json_object_get(definition(state, sections[i]->name), "required");
    for (const ss_key *key = sections[i]->keys; key->name; key++)
      if (array_has(required, key->name) != (key->required && !key->types))
        fail_msg("%s: '%s' is required by one of schema and loader only", sections[i]->name, key->name);
  }
}

static void words_are_the_same(void **state) {
  for (size_t i = 0; i < COUNT(word_tables); i++) {
    const json_t *words = json_object_get(definition(state, word_tables[i]->name), "enum");
    size_t count = 0;
    for (const ss_word *word = word_tables[i]->rows; word->name; word++, count++)
      if (!array_has(words, word->name)) fail_msg("%s: the schema lacks '%s'", word_tables[i]->name, word->name);
    assert_int_equal(json_array_size(words), count);
  }
}

static void schemes_are_the_same(void **state) {
  const json_t *words = json_object_get(definition(state, "scheme"), "enum");
  size_t count = 0;
  for (const ss_table_row *scheme = ss_table_schemes(); scheme->name; scheme++, count++)
    if (!array_has(words, scheme->name)) fail_msg("the schema lacks the scheme '%s'", scheme->name);
  for (const ss_word *later = ss_words_later_scheme.rows; later->name; later++) {
    assert_true(array_has(words, later->name));
    bool available = false;
    for (const ss_table_row *scheme = ss_table_schemes(); scheme->name; scheme++)
      available = available || strcmp(scheme->name, later->name) == 0;
    count += !available;
  }
  assert_int_equal(json_array_size(words), count);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keys_are_the_same),          cmocka_unit_test(no_section_is_forgotten),
      cmocka_unit_test(required_keys_are_the_same), cmocka_unit_test(words_are_the_same),
      cmocka_unit_test(schemes_are_the_same),
  };
  return cmocka_run_group_tests(tests, load_schema, free_schema);
}
