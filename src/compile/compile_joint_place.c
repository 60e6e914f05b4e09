/* Where a joint is: anchors and frames in both bodies, from what the scene says about points and directions. */
#include "core/words.h"
#include "compile/compile_joint.h"

ss_pose joint_start_pose(const ss_model *model, int body) {
  return body < 0 ? pose_identity() : model->bodies[body].pose;
}

/* Orientation with the given perpendicular unit vectors as its first and second axis. */
static ss_quat frame_of(ss_vec3 x, ss_vec3 y) {
  const ss_vec3 z = v3_cross(x, y);
  const double trace = x.x + y.y + z.z;
  ss_quat q; /* the largest component first, so that no division is by a small number */
  if (trace > 0)
    q = (ss_quat){1 + trace, y.z - z.y, z.x - x.z, x.y - y.x};
  else if (x.x >= y.y && x.x >= z.z)
    q = (ss_quat){y.z - z.y, 1 + x.x - y.y - z.z, y.x + x.y, z.x + x.z};
  else if (y.y >= z.z)
    q = (ss_quat){z.x - x.z, y.x + x.y, 1 - x.x + y.y - z.z, z.y + y.z};
  else
    q = (ss_quat){x.y - y.x, z.x + x.z, z.y + y.z, 1 - x.x - y.y + z.z};
  return quat_normalize(q);
}

/* Orientation whose x axis is the given unit vector. In planar scenes one of the others is the plane's normal, so that
 * equations out of the plane fall away as a whole. */
static ss_quat frame_along(const ss_model *model, ss_vec3 axis) {
  if (model->planar != SS_SPATIAL) {
    const ss_vec3 y = v3_cross(model->plane_normal, axis);
    if (v3_norm(y) > 0.5) return frame_of(axis, v3_normalize(y));
  }
  const ss_vec3 cross = v3_cross(v3(1, 0, 0), axis);
  const double s = v3_norm(cross);
  if (s == 0) return axis.x > 0 ? quat_identity() : (ss_quat){0, 0, 0, 1};
  return quat_exp(v3_scale(atan2(s, axis.x) / s, cross));
}

/* The directions that a type is built on: which the scene must give, and whose frame they are in where there is no
 * `at`. The x axes of the joint frames follow them. */
typedef struct direction {
  const char *key;
  bool given;
  ss_vec3 value;
  int owner; /* body[owner]'s frame */
} direction;

static ss_status world_direction(const ss_model *model, const ss_joint_def *def, const direction *d,
                                 const ss_scene *scene, ss_vec3 *world, ss_error *error) {
  if (!d->given)
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "a %s joint needs '%s'",
                         ss_table_joints()[def->type].name, d->key);
  if (!(v3_norm(d->value) > 0) || !v3_finite(d->value))
    return ss_fail_place(error, SS_ERROR_INPUT, scene->file, def->mark, "the joint's %s must not be zero", d->key);
  const ss_vec3 unit = v3_normalize(d->value);
  const ss_pose pose = joint_start_pose(model, def->body[d->owner]);
  *world = def->has_at || def->world_directions ? unit : quat_rotate(pose.orientation, unit);
  return SS_OK;
}

/* One direction per side. */
static void choose_directions(const ss_model *model, const ss_joint_def *def, direction out[2]) {
  const bool flat = model->planar != SS_SPATIAL;
  const ss_vec3 out_of_plane = flat ? model->plane_normal : v3(0, 0, 0);
  direction axis = {"axis", def->has_axis, def->axis, 0};
  direction normal = {"normal", def->has_normal, def->normal, 0};
  const bool turns = def->type == SS_JOINT_REVOLUTE || def->type == SS_JOINT_GEAR || def->type == SS_JOINT_ROLLING;
  if (flat && turns && !def->has_axis) axis.given = true, axis.value = out_of_plane;
  if (flat && def->type == SS_JOINT_KNIFE_EDGE && !def->has_normal) normal.given = true, normal.value = out_of_plane;
  switch (def->type) {
  case SS_JOINT_DISTANCE:
  case SS_JOINT_SPHERICAL:
  case SS_JOINT_FIXED:
    out[0] = out[1] = (direction){"axis", true, {1, 0, 0}, 0};
    return;
  case SS_JOINT_UNIVERSAL:
    out[0] = (direction){"axes", def->has_axes, def->axes[0], 0};
    out[1] = (direction){"axes", def->has_axes, def->axes[1], 1};
    return;
  case SS_JOINT_GEAR:
    if (isnan(def->ratio) || !def->has_axes) {
      out[0] = out[1] = axis;
      return;
    }
    out[0] = (direction){"axes", true, def->axes[0], 0};
    out[1] = (direction){"axes", true, def->axes[1], 1};
    return;
  case SS_JOINT_PLANAR:
    out[0] = out[1] = normal;
    return;
  case SS_JOINT_ROLLING:
    axis.owner = 1;
    if (!axis.given) axis = (direction){"axis", true, {1, 0, 0}, 1}; /* a ball has no axle */
    out[0] = normal;
    out[1] = axis;
    return;
  case SS_JOINT_KNIFE_EDGE:
    out[0] = normal;
    out[1] = (direction){"blade", def->has_blade, def->blade, 1};
    return;
  default:
    out[0] = out[1] = axis;
  }
}

/* Anchor of one side in the body's own frame. */
static ss_vec3 own_anchor(const ss_joint_def *def, int side) {
  if (def->type != SS_JOINT_ROLLING) return def->anchor[side];
  return side == 1 ? def->center : v3_scale(def->offset, v3_normalize(def->normal));
}

ss_status joint_place(ss_model *model, ss_joint *joint, const ss_joint_def *def, const ss_scene *scene,
                      ss_error *error) {
  direction directions[2];
  choose_directions(model, def, directions);
  ss_vec3 world[2];
  for (int side = 0; side < 2; side++) {
    const ss_status status = world_direction(model, def, &directions[side], scene, &world[side], error);
    if (status != SS_OK) return status;
  }
  for (int side = 0; side < 2; side++) {
    const ss_pose pose = joint_start_pose(model, def->body[side]);
    const ss_vec3 com = def->body[side] < 0 ? v3(0, 0, 0) : model->bodies[def->body[side]].com;
    joint->anchor[side] = def->has_at ? pose_local(&pose, def->at) : v3_sub(own_anchor(def, side), com);
    joint->start[side] = frame_along(model, world[side]);
    joint->frame[side] = quat_multiply(quat_conjugate(pose.orientation), joint->start[side]);
  }
  return SS_OK;
}
