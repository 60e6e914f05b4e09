/* Joints. `at` is a point and `axis` a direction in the world's frame at t = 0; with `anchors`, given in each body's
 * own frame, `axis` is in the first body's frame. */
#include "io/scene_reader.h"
#include "model/plane.h"

#include <math.h>

static const ss_word joint_words[] = {
    {"distance", SS_JOINT_DISTANCE, false},
    {"revolute", SS_JOINT_REVOLUTE, false},
    {"spherical", SS_JOINT_SPHERICAL, false},
    {"prismatic", SS_JOINT_PRISMATIC, false},
    {"fixed", SS_JOINT_FIXED, false},
    {"cylindrical", 0, true},
    {"universal", 0, true},
    {"planar", 0, true},
    {"point-on-line", 0, true},
    {"gear", 0, true},
    {"screw", 0, true},
    {"rolling", 0, true},
    {"knife-edge", 0, true},
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

enum {
  DISTANCE = 1 << SS_JOINT_DISTANCE,
  REVOLUTE = 1 << SS_JOINT_REVOLUTE,
  SPHERICAL = 1 << SS_JOINT_SPHERICAL,
  PRISMATIC = 1 << SS_JOINT_PRISMATIC,
  FIXED = 1 << SS_JOINT_FIXED
};

static const ss_key joint_keys[] = {
    {"type", ss_read_type_done, 0, true, 0},
    {"name", ss_read_name, offsetof(ss_joint_def, name), false, 0},
    {"between", ss_read_between, offsetof(ss_joint_def, body), true, 0},
    {"at", read_at, 0, false, REVOLUTE | SPHERICAL | PRISMATIC | FIXED},
    {"anchors", ss_read_anchors, offsetof(ss_joint_def, anchor), false, 0},
    {"axis", read_axis, 0, false, REVOLUTE | PRISMATIC},
    {"length", ss_read_positive, offsetof(ss_joint_def, length), false, DISTANCE},
    {"limits", NULL, 0, false, REVOLUTE | PRISMATIC},
    {"motor", NULL, 0, false, REVOLUTE | PRISMATIC},
    {NULL, NULL, 0, false, 0},
};
const ss_section ss_section_joint = {"joint", joint_keys};

/* A joint has one description of its place. Joints without a point of their own (fixed, prismatic) may leave it out:
 * the origin of the second body then, or of the first where the second is the world. */
static ss_status check_place(ss_reader *reader, const ss_yaml *node, ss_joint_def *joint, const char *type_name) {
  const ss_yaml *anchors = ss_yaml_get(node, "anchors");
  if (joint->has_at && anchors) return SS_READ_FAIL(reader, anchors, "give either 'at' or 'anchors', not both");
  if (joint->has_at || anchors || joint->type == SS_JOINT_DISTANCE) return SS_OK;
  if (joint->type == SS_JOINT_REVOLUTE || joint->type == SS_JOINT_SPHERICAL)
    return SS_READ_FAIL(reader, node, "the %s joint lacks 'at' (or 'anchors')", type_name);
  const int body = joint->body[1] != SS_WORLD ? joint->body[1] : joint->body[0];
  joint->has_at = true;
  joint->at = reader->scene->bodies[body].pose.position;
  return SS_OK;
}

/* Planar scenes: a revolute joint turns about the normal, a prismatic one slides in the plane. */
static ss_status check_axis(ss_reader *reader, const ss_yaml *node, ss_joint_def *joint, const char *type_name) {
  const ss_plane plane = ss_plane_of(reader->scene->planar);
  const bool revolute = joint->type == SS_JOINT_REVOLUTE;
  if (!revolute && joint->type != SS_JOINT_PRISMATIC) return SS_OK;
  if (!joint->has_axis && revolute && plane.normal >= 0) {
    joint->has_axis = true;
    joint->axis = ss_axis_vector(plane.normal);
  }
  if (!joint->has_axis) return SS_READ_FAIL(reader, node, "the %s joint lacks the key 'axis'", type_name);
  if (plane.normal < 0) return SS_OK;
  const double out_of_plane = fabs(v3_get(v3_normalize(joint->axis), plane.normal));
  if (revolute ? out_of_plane < 1 - 1e-12 : out_of_plane > 1e-9)
    return SS_READ_FAIL(reader, ss_yaml_get(node, "axis"), "in a planar scene the axis of a %s joint must lie %s",
                        type_name, revolute ? "along the plane's normal" : "in the plane");
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
    SS_TRY(check_axis(reader, item, &joint, type_name));
    SS_TRY(ss_scene_add_joint(scene, &joint, reader->error));
  }
  return SS_OK;
}
