/* Springs, dampers and applied forces. Components of applied forces may depend on t, inputs and the state. */
#include "io/scene_reader.h"
#include "model/plane.h"

static const ss_word force_words[] = {
    {"spring", SS_FORCE_SPRING, false},
    {"damper", SS_FORCE_DAMPER, false},
    {"spring-damper", SS_FORCE_SPRING_DAMPER, false},
    {"applied", SS_FORCE_APPLIED, false},
    {NULL, 0, false},
};
const ss_words ss_words_force = {"force_type", force_words};

static const ss_word jacobian_words[] = {
    {"rank-one", SS_JACOBIAN_RANK_ONE, false},
    {"exact", SS_JACOBIAN_EXACT, false},
    {NULL, 0, false},
};
const ss_words ss_words_jacobian = {"jacobian", jacobian_words};

static ss_status read_jacobian(ss_reader *reader, const ss_yaml *node, void *jacobian) {
  int value = 0;
  SS_TRY(ss_read_word(reader, node, &ss_words_jacobian, &value));
  *(ss_jacobian *)jacobian = (ss_jacobian)value;
  return SS_OK;
}

static ss_status read_on(ss_reader *reader, const ss_yaml *node, void *index) {
  SS_TRY(ss_read_body(reader, node, index));
  if (*(const int *)index == SS_WORLD) return SS_READ_FAIL(reader, node, "a force on the world moves nothing");
  return SS_OK;
}

/* Zero becomes NULL. */
static ss_status read_expression(ss_reader *reader, const ss_yaml *node, const ss_expression **out) {
  SS_TRY(ss_read_signal(reader, node, false, out));
  if (ss_expression_is_constant(*out) && ss_expression_value(*out, 0) == 0) *out = NULL;
  return SS_OK;
}

static ss_status read_force(ss_reader *reader, const ss_yaml *node, void *three_expressions) {
  const ss_expression **components = three_expressions;
  int axes[3];
  SS_TRY(ss_expect_vector(reader, node, axes));
  for (int i = 0; i < node->count; i++) SS_TRY(read_expression(reader, node->items[i].value, &components[axes[i]]));
  return SS_OK;
}

static ss_status read_torque(ss_reader *reader, const ss_yaml *node, void *three_expressions) {
  const ss_expression **components = three_expressions;
  const int normal = ss_plane_of(reader->scene->planar).normal;
  if (normal >= 0 && node->kind == SS_YAML_SCALAR) return read_expression(reader, node, &components[normal]);
  if (node->kind != SS_YAML_LIST || node->count != 3)
    return SS_READ_FAIL(reader, node, "'torque' must be a list of 3 numbers or expressions%s",
                        normal >= 0 ? ", or one of them" : "");
  return read_force(reader, node, three_expressions);
}

enum {
  SPRING = 1 << SS_FORCE_SPRING | 1 << SS_FORCE_SPRING_DAMPER,
  DAMPER = 1 << SS_FORCE_DAMPER | 1 << SS_FORCE_SPRING_DAMPER,
  PAIR = SPRING | DAMPER,
  APPLIED = 1 << SS_FORCE_APPLIED
};

static const ss_key force_keys[] = {
    {"type", ss_read_type_done, 0, true, 0},
    {"name", ss_read_name, offsetof(ss_force_def, name), false, 0},
    {"between", ss_read_between, offsetof(ss_force_def, body), true, PAIR},
    {"anchors", ss_read_anchors, offsetof(ss_force_def, anchor), false, PAIR},
    {"stiffness", ss_read_nonnegative, offsetof(ss_force_def, stiffness), true, SPRING},
    {"rest_length", ss_read_nonnegative, offsetof(ss_force_def, rest_length), false, SPRING},
    {"damping", ss_read_nonnegative, offsetof(ss_force_def, damping), true, DAMPER},
    {"jacobian", read_jacobian, offsetof(ss_force_def, jacobian), false, PAIR},
    {"on", read_on, offsetof(ss_force_def, body), true, APPLIED},
    {"force", read_force, offsetof(ss_force_def, force), false, APPLIED},
    {"torque", read_torque, offsetof(ss_force_def, torque), false, APPLIED},
    {"at", ss_read_vector, offsetof(ss_force_def, anchor), false, APPLIED},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_force = {"force", force_keys};

ss_status ss_read_forces(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "forces"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    int type = 0;
    const char *type_name = NULL;
    SS_TRY(ss_read_type(reader, item, &ss_section_force, &ss_words_force, &type, &type_name));
    ss_force_def force = ss_force_default((ss_force_type)type);
    force.mark = item->mark;
    SS_TRY(ss_read_section(reader, item, &ss_section_force, type, type_name, &force));
    if (type == SS_FORCE_APPLIED && !ss_yaml_get(item, "force") && !ss_yaml_get(item, "torque"))
      return SS_READ_FAIL(reader, item, "the applied force lacks 'force' or 'torque'");
    SS_TRY(ss_scene_add_force(scene, &force, reader->error));
  }
  return SS_OK;
}
