/* Parameters: named constants of a scene. They are evaluated in the order of the file, so that one may use those before
 * it; settings ("name=value", --set) replace the value of declared ones. */
#include "core/expression_names.h"
#include "io/scene_reader.h"

#include <string.h>

static bool is_identifier(const char *name) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  if (!name[0] || !strchr(letters, name[0])) return false;
  return name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")] == '\0';
}

static ss_status check_parameter_name(ss_reader *reader, const ss_yaml *key) {
  const ss_printable_text shown = ss_printable(key->text);
  if (!is_identifier(key->text))
    return SS_READ_FAIL(reader, key, "the parameter name '%s' must consist of letters, digits and '_'", shown.text);
  if (ss_expression_reserves(key->text))
    return SS_READ_FAIL(reader, key, "'%s' has a meaning in expressions: name the parameter differently", shown.text);
  return SS_OK;
}

const char *ss_setting_for(const ss_reader *reader, const char *name) {
  const size_t length = strlen(name);
  for (int i = reader->n_settings - 1; i >= 0; i--)
    if (strncmp(reader->settings[i], name, length) == 0 && reader->settings[i][length] == '=')
      return reader->settings[i] + length + 1;
  return NULL;
}

ss_status ss_apply_setting(ss_reader *reader, const char *name, const char *text, double *value) {
  ss_error inner = {0};
  const ss_status status = ss_expression_constant(text, reader->parameters, reader->n_parameters, value, &inner);
  if (status == SS_OK) return SS_OK;
  return ss_fail_place(reader->error, status, reader->file, (ss_mark){0, 0}, "setting '%s=%s': %.300s",
                       ss_printable(name).text, ss_printable(text).text, inner.message);
}

static ss_status check_settings(ss_reader *reader) {
  const ss_mark nowhere = {0, 0};
  for (int i = 0; i < reader->n_settings; i++) {
    const char *setting = reader->settings[i], *equals = strchr(setting, '=');
    const ss_printable_text shown = ss_printable(setting);
    if (!equals || equals == setting)
      return ss_fail_place(reader->error, SS_ERROR_INPUT, reader->file, nowhere, "setting '%s': expected name=value",
                           shown.text);
    bool declared = false;
    ss_word_list all = {0};
    for (int k = 0; k < reader->n_parameters; k++) {
      const char *name = reader->parameters[k].name;
      declared = declared || (strlen(name) == (size_t)(equals - setting) && strncmp(name, setting, strlen(name)) == 0);
      ss_word_list_add(&all, name);
    }
    const ss_yaml *inputs = reader->root ? ss_yaml_get(reader->root, "inputs") : NULL;
    for (int k = 0; inputs && inputs->kind == SS_YAML_MAP && k < inputs->count; k++) {
      const char *name = inputs->items[k].key->text;
      declared = declared || (strlen(name) == (size_t)(equals - setting) && strncmp(name, setting, strlen(name)) == 0);
      ss_word_list_add(&all, name);
    }
    if (declared) continue;
    return ss_fail_place(reader->error, SS_ERROR_INPUT, reader->file, nowhere,
                         "setting '%s': the scene declares no such parameter (%s%s)", shown.text,
                         all.used > 0 ? "declared: " : "none are declared", all.text);
  }
  return SS_OK;
}

/* The scene remembers them for programs that let one change them. */
static ss_status keep(ss_reader *reader) {
  ss_scene *scene = reader->scene;
  scene->parameters = SS_ARENA_ARRAY(scene->arena, ss_parameter, reader->n_parameters);
  if (!scene->parameters) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < reader->n_parameters; i++) {
    const char *name = ss_arena_strdup(scene->arena, reader->parameters[i].name);
    if (!name) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
    scene->parameters[scene->n_parameters++] = (ss_parameter){name, reader->parameters[i].value};
  }
  return SS_OK;
}

/* The first parameter from the i-th on whose name stands in the text; NULL: none. */
static const char *used_too_early(const ss_yaml *map, int i, const char *text) {
  static const char word_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
  for (int k = i; k < map->count; k++) {
    const char *name = map->items[k].key->text;
    for (const char *at = text; *at;) {
      const size_t length = strspn(at, word_characters);
      if (length > 0 && length == strlen(name) && strncmp(at, name, length) == 0) return name;
      at += length > 0 ? length : 1;
    }
  }
  return NULL;
}

#define TOO_EARLY "parameter '%s' uses '%s', which is %s: a parameter may use those before it"

/* Fails where the value of the i-th parameter, or its setting, uses one that is not known there. */
static ss_status check_order(ss_reader *reader, const ss_yaml *map, int i, const char *setting) {
  const ss_yaml *value = map->items[i].value;
  const char *name = map->items[i].key->text, *text = setting ? setting : value->text;
  const char *used = setting || value->kind == SS_YAML_SCALAR ? used_too_early(map, i, text) : NULL;
  if (!used) return SS_OK;
  const char *where = strcmp(used, name) == 0 ? "itself" : "declared after it";
  if (!setting) return SS_READ_FAIL(reader, value, TOO_EARLY, ss_printable(name).text, ss_printable(used).text, where);
  return ss_fail_place(reader->error, SS_ERROR_INPUT, reader->file, (ss_mark){0, 0}, "setting '%s=%s': " TOO_EARLY,
                       ss_printable(name).text, ss_printable(setting).text, ss_printable(name).text,
                       ss_printable(used).text, where);
}

ss_status ss_read_parameters(ss_reader *reader, const ss_yaml *node) {
  if (!node) return check_settings(reader);
  reader->key = "parameters";
  SS_TRY(ss_expect_map(reader, node, "names and numbers"));
  reader->parameters = SS_ARENA_ARRAY(reader->scratch, ss_parameter, node->count);
  if (!reader->parameters) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *key = node->items[i].key;
    SS_TRY(check_parameter_name(reader, key));
    reader->key = key->text;
    double value = 0;
    const ss_status status = ss_read_number(reader, node->items[i].value, &value);
    if (status == SS_ERROR_INPUT) SS_TRY(check_order(reader, node, i, NULL));
    SS_TRY(status);
    const char *setting = ss_setting_for(reader, key->text);
    const ss_status set = setting ? ss_apply_setting(reader, key->text, setting, &value) : SS_OK;
    if (set == SS_ERROR_INPUT) SS_TRY(check_order(reader, node, i, setting));
    SS_TRY(set);
    reader->parameters[reader->n_parameters++] = (ss_parameter){key->text, value};
  }
  SS_TRY(keep(reader));
  return check_settings(reader);
}
