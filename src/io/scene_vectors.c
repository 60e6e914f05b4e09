/* Vectors and orientations, with the short forms of planar scenes. */
#include "io/scene_reader.h"
#include "model/plane.h"

#include <math.h>
#include <string.h>

static ss_plane plane_of(const ss_reader *reader) { return ss_plane_of(reader->scene->planar); }

static bool is_planar(const ss_reader *reader) { return reader->scene->planar != SS_SPATIAL; }

static void set_component(ss_vec3 *v, int axis, double value) {
  double *const components[3] = {&v->x, &v->y, &v->z};
  *components[axis] = value;
}

/* " (...)" where an expression has been cut into entries by its own commas: one of them has an open parenthesis. */
static const char *cut_by_commas(const ss_yaml *list) {
  for (int i = 0; i < list->count; i++) {
    const ss_yaml *item = list->items[i].value;
    int open = 0;
    for (const char *c = item->kind == SS_YAML_SCALAR && !item->quoted ? item->text : ""; *c; c++)
      open += (*c == '(') - (*c == ')');
    if (open != 0) return " (an expression that contains a comma must be quoted: \"if(t < 1, 5, 0)\")";
  }
  return "";
}

ss_status ss_read_numbers(ss_reader *reader, const ss_yaml *node, int count, double *numbers) {
  SS_TRY(ss_expect_list(reader, node, "numbers"));
  if (node->count != count)
    return SS_READ_FAIL(reader, node, "'%s' must be a list of %d numbers, not %d%s", reader->key, count, node->count,
                        cut_by_commas(node));
  for (int i = 0; i < count; i++) SS_TRY(ss_read_number(reader, node->items[i].value, &numbers[i]));
  return SS_OK;
}

ss_status ss_expect_vector(ss_reader *reader, const ss_yaml *node, int axes[3]) {
  const char *what = is_planar(reader) ? "2 or 3 numbers" : "3 numbers";
  SS_TRY(ss_expect_list(reader, node, what));
  const bool in_plane = is_planar(reader) && node->count == 2;
  if (node->count != 3 && !in_plane)
    return SS_READ_FAIL(reader, node, "'%s' must be a list of %s, not %d%s", reader->key, what, node->count,
                        cut_by_commas(node));
  const ss_plane plane = plane_of(reader);
  for (int i = 0; i < node->count; i++) axes[i] = in_plane ? plane.axes[i] : i;
  return SS_OK;
}

ss_status ss_read_vector(ss_reader *reader, const ss_yaml *node, void *vec3) {
  int axes[3];
  ss_vec3 v = {0, 0, 0};
  SS_TRY(ss_expect_vector(reader, node, axes));
  for (int i = 0; i < node->count; i++) {
    double value;
    SS_TRY(ss_read_number(reader, node->items[i].value, &value));
    set_component(&v, axes[i], value);
  }
  *(ss_vec3 *)vec3 = v;
  return SS_OK;
}

static const ss_word axis_words[] = {{"x", 0, false}, {"y", 1, false}, {"z", 2, false}, {NULL, 0, false}};
const ss_words ss_words_axis = {"axis", axis_words};

ss_status ss_read_direction(ss_reader *reader, const ss_yaml *node, void *vec3) {
  if (node->kind == SS_YAML_SCALAR) {
    int axis = 0;
    SS_TRY(ss_read_word(reader, node, &ss_words_axis, &axis));
    *(ss_vec3 *)vec3 = ss_axis_vector(axis);
    return SS_OK;
  }
  SS_TRY(ss_read_vector(reader, node, vec3));
  const double length = v3_norm(*(const ss_vec3 *)vec3);
  if (length > 1e-100 && length < 1e100) return SS_OK; /* what can be squared and divided by */
  return SS_READ_FAIL(reader, node, "'%s' must be a direction of nonzero (and finite) length, not %g", reader->key,
                      length);
}

ss_status ss_read_anchors(ss_reader *reader, const ss_yaml *node, void *two_vec3) {
  SS_TRY(ss_expect_list(reader, node, "two points"));
  if (node->count != 2)
    return SS_READ_FAIL(reader, node, "'%s' must be a list of two points, one per body, not %d", reader->key,
                        node->count);
  for (int i = 0; i < 2; i++) SS_TRY(ss_read_vector(reader, node->items[i].value, (ss_vec3 *)two_vec3 + i));
  return SS_OK;
}

ss_status ss_read_angular_velocity(ss_reader *reader, const ss_yaml *node, void *vec3) {
  if (is_planar(reader) && node->kind == SS_YAML_SCALAR) {
    double value;
    SS_TRY(ss_read_number(reader, node, &value));
    *(ss_vec3 *)vec3 = v3_scale(value, ss_axis_vector(plane_of(reader).normal));
    return SS_OK;
  }
  double v[3];
  if (node->kind == SS_YAML_SCALAR)
    return SS_READ_FAIL(reader, node, "'%s' must be a list of 3 numbers: a single one is for planar scenes",
                        reader->key);
  SS_TRY(ss_read_numbers(reader, node, 3, v));
  *(ss_vec3 *)vec3 = v3(v[0], v[1], v[2]);
  return SS_OK;
}

/* ---- angles ---- */

ss_status ss_read_angle(ss_reader *reader, const ss_yaml *node, void *number) {
  static const double full_turn = 6.2831853071795865;
  SS_TRY(ss_read_number(reader, node, number));
  const bool bare = node->text[strspn(node->text, " +-.0123456789eE")] == '\0';
  if (!bare || fabs(*(const double *)number) <= full_turn * (1 + 1e-9)) return SS_OK;
  const ss_printable_text shown = ss_printable(node->text);
  return SS_READ_FAIL(reader, node, "'%s' is %s radians, more than a full turn: write %s deg, or %s rad", reader->key,
                      shown.text, shown.text, shown.text);
}

/* ---- orientation ---- */

typedef struct orientation_def {
  ss_vec3 axis;
  double angle;
  double rpy[3];
} orientation_def;

static ss_status read_rpy(ss_reader *reader, const ss_yaml *node, void *three) {
  double *angles = three;
  SS_TRY(ss_read_numbers(reader, node, 3, angles));
  for (int i = 0; i < 3; i++) SS_TRY(ss_read_angle(reader, node->items[i].value, &angles[i]));
  return SS_OK;
}

static const ss_key orientation_keys[] = {
    {"axis", ss_read_direction, offsetof(orientation_def, axis), false, 0},
    {"angle", ss_read_angle, offsetof(orientation_def, angle), false, 0},
    {"rpy", read_rpy, offsetof(orientation_def, rpy), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_orientation = {"orientation", orientation_keys};

static ss_quat rotation_about(ss_vec3 unit_axis, double angle) {
  const double s = sin(angle / 2);
  return (ss_quat){cos(angle / 2), s * unit_axis.x, s * unit_axis.y, s * unit_axis.z};
}

static ss_status read_orientation_map(ss_reader *reader, const ss_yaml *node, ss_quat *q) {
  orientation_def def = {0};
  SS_TRY(ss_read_section(reader, node, &ss_section_orientation, -1, NULL, &def));
  const bool axis = ss_yaml_get(node, "axis"), angle = ss_yaml_get(node, "angle"), rpy = ss_yaml_get(node, "rpy");
  if (rpy == axis || axis != angle)
    return SS_READ_FAIL(reader, node, "'%s' must have either 'axis' and 'angle', or 'rpy'", reader->key);
  if (axis) {
    *q = rotation_about(v3_normalize(def.axis), def.angle);
    return SS_OK;
  }
  /* fixed axes: roll about x first, then pitch about y, then yaw about z */
  const ss_quat roll = rotation_about(v3(1, 0, 0), def.rpy[0]);
  const ss_quat pitch = rotation_about(v3(0, 1, 0), def.rpy[1]);
  const ss_quat yaw = rotation_about(v3(0, 0, 1), def.rpy[2]);
  *q = quat_multiply(yaw, quat_multiply(pitch, roll));
  return SS_OK;
}

static ss_status read_quaternion(ss_reader *reader, const ss_yaml *node, ss_quat *q) {
  double c[4];
  if (node->count != 4)
    return SS_READ_FAIL(reader, node, "'%s' as a list must be a quaternion [w, x, y, z], not %d numbers", reader->key,
                        node->count);
  SS_TRY(ss_read_numbers(reader, node, 4, c));
  const double largest = fmax(fmax(fabs(c[0]), fabs(c[1])), fmax(fabs(c[2]), fabs(c[3])));
  if (largest == 0) return SS_READ_FAIL(reader, node, "'%s' must not be the zero quaternion", reader->key);
  *q = quat_normalize((ss_quat){c[0] / largest, c[1] / largest, c[2] / largest, c[3] / largest});
  return SS_OK;
}

ss_status ss_read_orientation(ss_reader *reader, const ss_yaml *node, void *quat) {
  ss_quat *q = quat;
  if (node->kind == SS_YAML_MAP) return read_orientation_map(reader, node, q);
  if (node->kind == SS_YAML_LIST) return read_quaternion(reader, node, q);
  if (!is_planar(reader))
    return SS_READ_FAIL(reader, node,
                        "'%s' must be [w, x, y, z], {axis: .., angle: ..} or {rpy: [..]}: a single angle is for planar "
                        "scenes",
                        reader->key);
  double angle;
  SS_TRY(ss_read_angle(reader, node, &angle));
  *q = rotation_about(ss_axis_vector(plane_of(reader).normal), angle);
  return SS_OK;
}
