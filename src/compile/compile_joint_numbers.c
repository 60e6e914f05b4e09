/* The numbers of a joint and whether they make sense: lengths, radii, pitch, limits, motors. */
#include "core/words.h"
#include "compile/compile_joint.h"

static const double full_turn = 6.28318530717958647692;

typedef struct setting {
  ss_model *model;
  ss_joint *joint;
  const ss_joint_def *def;
  const ss_scene *scene;
  ss_pose pose[2];
  ss_error *error;
} setting;

#define REFUSE(s, ...) ss_fail_place((s)->error, SS_ERROR_INPUT, (s)->scene->file, (s)->def->mark, __VA_ARGS__)

static double anchor_distance(const setting *s) {
  return v3_norm(v3_sub(pose_point(&s->pose[0], s->joint->anchor[0]), pose_point(&s->pose[1], s->joint->anchor[1])));
}

static ss_status distance_numbers(setting *s) {
  const double now = anchor_distance(s);
  s->joint->length = isnan(s->def->length) ? now : s->def->length;
  if (s->def->has_limits) {
    if (!isnan(s->def->length)) return REFUSE(s, "a distance joint has either a length or limits of its length");
    if (!(s->def->limits[1] > 0)) return REFUSE(s, "the upper limit of a distance must be positive");
    return now > 0 ? SS_OK : REFUSE(s, "a distance joint needs two points that are apart at the start");
  }
  if (!(s->joint->length > 0) || !(now > 0))
    return REFUSE(s, "a distance joint needs two points that are apart and a positive length; use a spherical joint");
  return SS_OK;
}

static ss_status gear_numbers(setting *s) {
  const ss_joint_def *def = s->def;
  ss_joint *joint = s->joint;
  if (isnan(def->ratio) == isnan(def->radii[0])) return REFUSE(s, "a gear needs either radii or a ratio");
  if (!isnan(def->ratio)) {
    if (def->ratio == 0 || !isfinite(def->ratio)) return REFUSE(s, "the ratio of a gear must not be zero");
    joint->weight[0] = 1;
    joint->weight[1] = def->ratio;
    return SS_OK;
  }
  const double sum = def->radii[0] + def->radii[1];
  if (def->radii[0] == 0 || def->radii[1] == 0 || !(sum > 0))
    return REFUSE(s,
                  "the radii of a gear must not be zero and their sum must be positive: give the smaller one a minus "
                  "sign where the wheels mesh inside");
  const ss_vec3 d = v3_sub(pose_point(&s->pose[1], joint->anchor[1]), pose_point(&s->pose[0], joint->anchor[0]));
  const ss_vec3 axis = quat_rotate(joint->start[0], v3(1, 0, 0));
  const double apart = v3_norm(v3_axpy(d, -v3_dot(d, axis), axis));
  if (fabs(apart - sum) > 1e-6 * sum)
    return REFUSE(s, "the wheels of gear '%s' do not mesh: their centres are %g apart, their radii add up to %g",
                  joint->name, apart, sum);
  joint->weight[0] = def->radii[0];
  joint->weight[1] = def->radii[1];
  joint->weight[2] = sum;
  return SS_OK;
}

static ss_status type_numbers(setting *s) {
  ss_joint *joint = s->joint;
  switch (joint->type) {
  case SS_JOINT_DISTANCE:
    return distance_numbers(s);
  case SS_JOINT_GEAR:
    return gear_numbers(s);
  case SS_JOINT_SCREW:
    joint->pitch = s->def->pitch / full_turn;
    return isfinite(s->def->pitch) && s->def->pitch != 0 ? SS_OK : REFUSE(s, "a screw needs a pitch that is not zero");
  case SS_JOINT_ROLLING:
    joint->length = s->def->radius;
    joint->ball = !s->def->has_axis && s->model->planar == SS_SPATIAL;
    return s->def->radius > 0 && isfinite(s->def->radius) ? SS_OK
                                                          : REFUSE(s, "a rolling joint needs a positive radius");
  case SS_JOINT_UNIVERSAL: {
    const double cosine = v3_dot(quat_rotate(joint->start[0], v3(1, 0, 0)), quat_rotate(joint->start[1], v3(1, 0, 0)));
    return fabs(cosine) <= 1e-6 ? SS_OK : REFUSE(s, "the axes of a universal joint must be perpendicular");
  }
  case SS_JOINT_KNIFE_EDGE: {
    const ss_vec3 n = quat_rotate(joint->start[0], v3(1, 0, 0)), blade = quat_rotate(joint->start[1], v3(1, 0, 0));
    return v3_norm(v3_cross(n, blade)) > 1e-6 ? SS_OK : REFUSE(s, "the blade must not stand along the plane's normal");
  }
  default:
    return SS_OK;
  }
}

/* Left sides of the coupled joints at the start, where they hold by definition. */
static void find_origin(setting *s) {
  ss_joint *joint = s->joint;
  for (int k = 0; k < joint->n_angles && joint->type == SS_JOINT_GEAR; k++) {
    const double angle = ss_joint_angle(s->model, joint, k, &s->pose[0], &s->pose[1], 0, NULL);
    joint->origin += (k == 2 ? -joint->weight[2] : joint->weight[k]) * angle;
  }
  if (joint->type == SS_JOINT_SCREW)
    joint->origin = ss_joint_coordinate(s->model, joint, SS_ACTION_LIMITS, &s->pose[0], &s->pose[1], 0, NULL);
}

static ss_status limits_and_motor(setting *s) {
  const ss_joint_def *def = s->def;
  ss_joint *joint = s->joint;
  if (def->has_limits) {
    const double now = ss_joint_coordinate(s->model, joint, SS_ACTION_LIMITS, &s->pose[0], &s->pose[1], 0, NULL);
    const double slack = 1e-6 * (1 + fabs(now));
    joint->limits[0] = def->limits[0];
    joint->limits[1] = def->limits[1];
    if (!(def->limits[0] < def->limits[1])) return REFUSE(s, "the lower limit must be below the upper one");
    if (!(now >= def->limits[0] - slack) || !(now <= def->limits[1] + slack))
      return REFUSE(s, "joint '%s' starts outside its limits: %g is not between %g and %g", joint->name, now,
                    def->limits[0], def->limits[1]);
    s->model->n_limits++;
  }
  joint->has_motor = def->has_motor;
  if (!def->has_motor) return SS_OK;
  joint->motor_speed = def->motor_speed;
  joint->motor_effort = def->motor_effort;
  if (!ss_expression_copy(def->motor_speed_at, s->model->arena, &joint->motor_speed_at) ||
      !ss_expression_copy(def->motor_effort_at, s->model->arena, &joint->motor_effort_at))
    return ss_fail(s->error, SS_ERROR_MEMORY, "out of memory");
  if (!isfinite(def->motor_speed) || !(def->motor_effort >= 0) || !isfinite(def->motor_effort))
    return REFUSE(s, "a motor needs a speed and a torque or force that is not negative");
  joint->motor = s->model->n_motors++;
  return SS_OK;
}

ss_status joint_numbers(ss_model *model, ss_joint *joint, const ss_joint_def *def, const ss_scene *scene,
                        ss_error *error) {
  const ss_pose a = joint_start_pose(model, joint->body[0]), b = joint_start_pose(model, joint->body[1]);
  setting s = {model, joint, def, scene, {a, b}, error};
  joint->has_limits = def->has_limits;
  ss_status status = type_numbers(&s);
  if (status != SS_OK) return status;
  joint->n_angles = ss_joint_angle_count(joint);
  joint->first_angle = model->n_angles;
  model->n_angles += joint->n_angles;
  find_origin(&s);
  return limits_and_motor(&s);
}
