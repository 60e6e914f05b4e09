/* inputs: and outputs:, and the expressions that may use them. */
#include "io/scene_reader.h"

#include <string.h>

ss_status ss_read_inputs(ss_reader *reader, const ss_yaml *node, void *scene) {
  reader->key = "inputs";
  SS_TRY(ss_expect_map(reader, node, "names and numbers"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *key = node->items[i].key;
    double value = 0;
    reader->key = key->text;
    SS_TRY(ss_read_number(reader, node->items[i].value, &value));
    const char *setting = ss_setting_for(reader, key->text);
    if (setting) SS_TRY(ss_apply_setting(reader, key->text, setting, &value));
    const char *refused = ss_input_name_refused(scene, key->text);
    if (refused) return SS_READ_FAIL(reader, key, "the input name '%s' %s", ss_printable(key->text).text, refused);
    SS_TRY(ss_scene_add_input(scene, key->text, value, reader->error));
  }
  return SS_OK;
}

/* The names of all joints, before they are read: a motor may depend on a joint that comes later. */
static ss_status list_joints(ss_reader *reader) {
  const ss_yaml *joints = reader->root ? ss_yaml_get(reader->root, "joints") : NULL;
  const int n = joints && joints->kind == SS_YAML_LIST ? joints->count : 0;
  reader->joint_names = SS_ARENA_ARRAY(reader->scratch, const char *, n + 1);
  if (!reader->joint_names) return ss_fail(reader->error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < n; i++) {
    const ss_yaml *item = joints->items[i].value;
    const ss_yaml *name = item->kind == SS_YAML_MAP ? ss_yaml_get(item, "name") : NULL;
    if (name && name->kind == SS_YAML_SCALAR) reader->joint_names[i] = name->text;
  }
  reader->n_joints = n;
  return SS_OK;
}

ss_status ss_read_signal(ss_reader *reader, const ss_yaml *node, bool output, const ss_expression **out) {
  if (node->kind != SS_YAML_SCALAR)
    return SS_READ_FAIL(reader, node, "'%s' must be a number or an expression, not %s", reader->key,
                        ss_yaml_kind_name(node));
  if (!reader->joint_names) SS_TRY(list_joints(reader));
  ss_signal_scope signals = {reader->scene, reader->joint_names, reader->n_joints, output, node->mark};
  const ss_expression_scope scope = {reader->parameters, reader->n_parameters, true, ss_find_variable, &signals};
  const ss_status status = ss_expression_parse_in(node->text, &scope, reader->scene->arena, out, reader->error);
  return ss_place_expression_error(reader, node, status);
}

static ss_status read_value(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_output_def *output = object;
  output->text = node->text;
  return ss_read_signal(reader, node, true, &output->value);
}

static const ss_key output_keys[] = {
    {"name", ss_read_name, offsetof(ss_output_def, name), true, 0},
    {"value", read_value, 0, true, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_output = {"output", output_keys};

ss_status ss_read_outputs(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "outputs, each with a name and a value"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    ss_output_def output = {.mark = item->mark};
    SS_TRY(ss_read_section(reader, item, &ss_section_output, -1, NULL, &output));
    const ss_status status = ss_scene_add_output_def(scene, &output, reader->error);
    if (status == SS_ERROR_INPUT)
      return SS_READ_FAIL(reader, ss_yaml_get(item, "name"), "the output '%s' is defined twice",
                          ss_printable(output.name).text);
    SS_TRY(status);
  }
  return SS_OK;
}
