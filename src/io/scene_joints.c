/* Joints. `at` is a point of the joint in the world's frame at t = 0, and directions are in that frame too; with
 * `anchors`, given in each body's own frame, directions are in the frame of the body they belong to (docs/joints.md). */
#include "io/scene_reader.h"
#include "model/plane.h"

#include <math.h>

static const ss_word joint_words[] = {
    {"distance", SS_JOINT_DISTANCE, false},
    {"revolute", SS_JOINT_REVOLUTE, false},
    {"spherical", SS_JOINT_SPHERICAL, false},
    {"prismatic", SS_JOINT_PRISMATIC, false},
    {"fixed", SS_JOINT_FIXED, false},
    {"cylindrical", SS_JOINT_CYLINDRICAL, false},
    {"universal", SS_JOINT_UNIVERSAL, false},
    {"planar", SS_JOINT_PLANAR, false},
    {"point-on-line", SS_JOINT_POINT_ON_LINE, false},
    {"gear", SS_JOINT_GEAR, false},
    {"screw", SS_JOINT_SCREW, false},
    {"rolling", SS_JOINT_ROLLING, false},
    {"knife-edge", SS_JOINT_KNIFE_EDGE, false},
    {NULL, 0, false},
};
const ss_words ss_words_joint = {"joint_type", joint_words};

static ss_status read_at(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_at = true;
  return ss_read_vector(reader, node, &joint->at);
}

static ss_status read_axis(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_axis = true;
  return ss_read_direction(reader, node, &joint->axis);
}

static ss_status read_axes(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  SS_TRY(ss_expect_list(reader, node, "two directions, one per body"));
  if (node->count != 2)
    return SS_READ_FAIL(reader, node, "'axes' must be a list of two directions, one per body, not %d", node->count);
  joint->has_axes = true;
  for (int i = 0; i < 2; i++) SS_TRY(ss_read_direction(reader, node->items[i].value, &joint->axes[i]));
  return SS_OK;
}

static ss_status read_normal(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_normal = true;
  return ss_read_direction(reader, node, &joint->normal);
}

static ss_status read_blade(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_blade = true;
  return ss_read_direction(reader, node, &joint->blade);
}

static ss_status read_radii(ss_reader *reader, const ss_yaml *node, void *two_numbers) {
  return ss_read_numbers(reader, node, 2, two_numbers);
}

static ss_status read_limits(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_limits = true;
  SS_TRY(ss_read_numbers(reader, node, 2, joint->limits));
  for (int i = 0; i < 2 && joint->type == SS_JOINT_REVOLUTE; i++)
    SS_TRY(ss_read_angle(reader, node->items[i].value, &joint->limits[i]));
  if (joint->limits[0] < joint->limits[1]) return SS_OK;
  return SS_READ_FAIL(reader, node, "the lower limit must be below the upper one, but they are %g and %g",
                      joint->limits[0], joint->limits[1]);
}

enum {
  DISTANCE = 1 << SS_JOINT_DISTANCE,
  REVOLUTE = 1 << SS_JOINT_REVOLUTE,
  SPHERICAL = 1 << SS_JOINT_SPHERICAL,
  PRISMATIC = 1 << SS_JOINT_PRISMATIC,
  FIXED = 1 << SS_JOINT_FIXED,
  CYLINDRICAL = 1 << SS_JOINT_CYLINDRICAL,
  UNIVERSAL = 1 << SS_JOINT_UNIVERSAL,
  PLANAR = 1 << SS_JOINT_PLANAR,
  POINT_ON_LINE = 1 << SS_JOINT_POINT_ON_LINE,
  GEAR = 1 << SS_JOINT_GEAR,
  SCREW = 1 << SS_JOINT_SCREW,
  ROLLING = 1 << SS_JOINT_ROLLING,
  KNIFE_EDGE = 1 << SS_JOINT_KNIFE_EDGE,
  ALL = (1 << SS_JOINT_TYPES) - 1,
  ROTARY = REVOLUTE | SCREW,         /* driven by a torque */
  SLIDING = PRISMATIC | CYLINDRICAL, /* driven by a force */
};

/* ---- motor ---- */

/* A number, or a function of t, inputs and the state in the scene's memory. */
static ss_status read_speed(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  SS_TRY(ss_read_signal(reader, node, false, &joint->motor_speed_at));
  if (!ss_expression_is_constant(joint->motor_speed_at)) return SS_OK;
  joint->motor_speed_at = NULL;
  return ss_read_number(reader, node, &joint->motor_speed);
}

static ss_status read_effort(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  SS_TRY(ss_read_signal(reader, node, false, &joint->motor_effort_at));
  if (!ss_expression_is_constant(joint->motor_effort_at)) return SS_OK;
  joint->motor_effort_at = NULL;
  return ss_read_nonnegative(reader, node, &joint->motor_effort);
}

static const ss_key motor_keys[] = {
    {"speed", read_speed, 0, true, 0},
    {"torque", read_effort, 0, true, ROTARY},
    {"force", read_effort, 0, true, SLIDING},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_motor = {"motor", motor_keys};

static ss_status read_motor(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_motor = true;
  return ss_read_section(reader, node, &ss_section_motor, (int)joint->type, ss_table_joints()[joint->type].name, joint);
}

/* ---- spring ---- */

static const ss_key spring_keys[] = {
    {"stiffness", ss_read_nonnegative, offsetof(ss_joint_def, spring_stiffness), true, 0},
    {"damping", ss_read_nonnegative, offsetof(ss_joint_def, spring_damping), false, 0},
    {"rest", ss_read_number, offsetof(ss_joint_def, spring_rest), false, 0},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_spring = {"spring", spring_keys};

static ss_status read_spring(ss_reader *reader, const ss_yaml *node, void *object) {
  ss_joint_def *joint = object;
  joint->has_spring = true;
  return ss_read_section(reader, node, &ss_section_spring, -1, NULL, joint);
}

/* ---- the section ---- */

static const ss_key joint_keys[] = {
    {"type", ss_read_type_done, 0, true, 0},
    {"name", ss_read_name, offsetof(ss_joint_def, name), false, 0},
    {"between", ss_read_between, offsetof(ss_joint_def, body), true, 0},
    {"at", read_at, 0, false, ALL & ~(DISTANCE | GEAR | ROLLING)},
    {"anchors", ss_read_anchors, offsetof(ss_joint_def, anchor), false, ALL & ~ROLLING},
    {"axis", read_axis, 0, false, REVOLUTE | PRISMATIC | CYLINDRICAL | SCREW | POINT_ON_LINE | GEAR | ROLLING},
    {"axes", read_axes, 0, false, UNIVERSAL | GEAR},
    {"normal", read_normal, 0, false, PLANAR | ROLLING | KNIFE_EDGE},
    {"blade", read_blade, 0, false, KNIFE_EDGE},
    {"length", ss_read_positive, offsetof(ss_joint_def, length), false, DISTANCE},
    {"radii", read_radii, offsetof(ss_joint_def, radii), false, GEAR},
    {"ratio", ss_read_number, offsetof(ss_joint_def, ratio), false, GEAR},
    {"pitch", ss_read_number, offsetof(ss_joint_def, pitch), true, SCREW},
    {"radius", ss_read_positive, offsetof(ss_joint_def, radius), true, ROLLING},
    {"offset", ss_read_number, offsetof(ss_joint_def, offset), false, ROLLING},
    {"center", ss_read_vector, offsetof(ss_joint_def, center), false, ROLLING},
    {"limits", read_limits, 0, false, DISTANCE | REVOLUTE | PRISMATIC | CYLINDRICAL | SCREW},
    {"motor", read_motor, 0, false, ROTARY | SLIDING},
    {"spring", read_spring, 0, false, REVOLUTE | PRISMATIC},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_joint = {"joint", joint_keys};

/* A joint has one description of its place. Joints without a point of their own may leave it out: the origin of the
 * second body then, or of the first where the second is the world. */
static ss_status check_place(ss_reader *reader, const ss_yaml *node, ss_joint_def *joint, const char *type_name) {
  const ss_yaml *anchors = ss_yaml_get(node, "anchors");
  const unsigned bit = 1u << joint->type;
  if (joint->has_at && anchors) return SS_READ_FAIL(reader, anchors, "give either 'at' or 'anchors', not both");
  joint->world_directions = !anchors && joint->type != SS_JOINT_ROLLING;
  if (joint->has_at || anchors || (bit & (DISTANCE | GEAR | ROLLING))) return SS_OK;
  if (bit & (REVOLUTE | SPHERICAL | CYLINDRICAL | UNIVERSAL | SCREW))
    return SS_READ_FAIL(reader, node, "the %s joint lacks 'at' (or 'anchors')", type_name);
  const int body = joint->body[1] != SS_WORLD ? joint->body[1] : joint->body[0];
  joint->has_at = true;
  joint->at = reader->scene->bodies[body].pose.position;
  return SS_OK;
}

/* Directions that a type must have, and where they lie in a planar scene. */
typedef struct direction_rule {
  unsigned types;
  const char *key;
  size_t value, given; /* offsets of the fields */
  bool along_normal;   /* of the plane, and implied by it; else in the plane */
} direction_rule;

#define DIRECTION(field) #field, offsetof(ss_joint_def, field), offsetof(ss_joint_def, has_##field)

static const direction_rule rules[] = {
    {REVOLUTE | ROLLING, DIRECTION(axis), true},
    {PRISMATIC | CYLINDRICAL | SCREW | POINT_ON_LINE, DIRECTION(axis), false},
    {PLANAR | ROLLING, DIRECTION(normal), false},
    {KNIFE_EDGE, DIRECTION(normal), true},
    {KNIFE_EDGE, DIRECTION(blade), false},
};

static ss_status check_direction(ss_reader *reader, const ss_yaml *node, const direction_rule *rule,
                                 ss_joint_def *joint, const char *type_name) {
  const ss_plane plane = ss_plane_of(reader->scene->planar);
  ss_vec3 *value = (ss_vec3 *)((char *)joint + rule->value);
  bool *given = (bool *)((char *)joint + rule->given);
  if (!*given && plane.normal >= 0 && rule->along_normal) {
    *given = true;
    *value = ss_axis_vector(plane.normal);
  }
  if (!*given && joint->type == SS_JOINT_ROLLING && rule->along_normal) return SS_OK; /* a ball has no axle */
  if (!*given) return SS_READ_FAIL(reader, node, "the %s joint lacks the key '%s'", type_name, rule->key);
  if (plane.normal < 0) return SS_OK;
  const double out_of_plane = fabs(v3_get(v3_normalize(*value), plane.normal));
  if (rule->along_normal ? out_of_plane < 1 - 1e-12 : out_of_plane > 1e-9)
    return SS_READ_FAIL(reader, ss_yaml_get(node, rule->key), "in a planar scene the %s of a %s joint must lie %s",
                        rule->key, type_name, rule->along_normal ? "along the plane's normal" : "in the plane");
  return SS_OK;
}

static ss_status check_directions(ss_reader *reader, const ss_yaml *node, ss_joint_def *joint, const char *type_name) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (rules[i].types >> joint->type & 1) SS_TRY(check_direction(reader, node, &rules[i], joint, type_name));
  return SS_OK;
}

/* What a type needs besides: one of two keys. */
static ss_status check_choices(ss_reader *reader, const ss_yaml *node, const ss_joint_def *joint) {
  if (joint->type == SS_JOINT_UNIVERSAL && !joint->has_axes)
    return SS_READ_FAIL(reader, node, "the universal joint lacks the key 'axes'");
  if (joint->type == SS_JOINT_DISTANCE && joint->has_limits && !isnan(joint->length))
    return SS_READ_FAIL(reader, ss_yaml_get(node, "limits"), "give either 'length' or 'limits', not both");
  if (joint->type != SS_JOINT_GEAR) return SS_OK;
  const ss_yaml *radii = ss_yaml_get(node, "radii"), *ratio = ss_yaml_get(node, "ratio"),
                *axis = ss_yaml_get(node, "axis"), *axes = ss_yaml_get(node, "axes");
  if (!radii == !ratio) return SS_READ_FAIL(reader, node, "the gear joint needs either 'radii' or 'ratio'");
  if (axis && axes) return SS_READ_FAIL(reader, axes, "give either 'axis' or 'axes', not both");
  if (radii && axes) return SS_READ_FAIL(reader, axes, "a gear with radii has one 'axis': both wheels turn about it");
  if (!axis && !axes && reader->scene->planar == SS_SPATIAL)
    return SS_READ_FAIL(reader, node, "the gear joint lacks the key 'axis'%s", ratio ? " (or 'axes')" : "");
  return SS_OK;
}

ss_status ss_read_joints(ss_reader *reader, const ss_yaml *node, void *scene) {
  SS_TRY(ss_expect_list(reader, node, "joints"));
  for (int i = 0; i < node->count; i++) {
    const ss_yaml *item = node->items[i].value;
    int type = 0;
    const char *type_name = NULL;
    SS_TRY(ss_read_type(reader, item, &ss_section_joint, &ss_words_joint, &type, &type_name));
    ss_joint_def joint = ss_joint_default((ss_joint_type)type, SS_WORLD, SS_WORLD);
    joint.mark = item->mark;
    SS_TRY(ss_read_section(reader, item, &ss_section_joint, type, type_name, &joint));
    SS_TRY(check_place(reader, item, &joint, type_name));
    SS_TRY(check_directions(reader, item, &joint, type_name));
    SS_TRY(check_choices(reader, item, &joint));
    SS_TRY(ss_scene_add_joint(scene, &joint, reader->error));
  }
  return SS_OK;
}
