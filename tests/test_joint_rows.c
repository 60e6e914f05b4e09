/* Every joint type: its rows are the gradients of its equations, by difference quotients at random positions; Pfaffian
 * rows are the velocities they claim to be; coordinates of limits and motors and counted angles have their gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "model/joint.h"

#include <math.h>
#include <stdio.h>

typedef struct setup {
  ss_scene *scene;
  ss_model *model;
} setup;

static double uniform(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

static ss_vec3 random_vector(uint64_t *seed) {
  const double x = uniform(seed), y = uniform(seed), z = uniform(seed);
  return v3(x, y, z);
}

static void require(ss_status status, const ss_error *error) {
  if (status != SS_OK) print_error("%s\n", error->message);
  assert_int_equal(status, SS_OK);
}

static ss_body_def body_at(const char *name, ss_vec3 position, ss_quat orientation) {
  ss_body_def body = ss_body_default(name);
  body.mass = 1;
  body.has_inertia = true;
  body.inertia[0] = 1, body.inertia[1] = 2, body.inertia[2] = 2.5;
  body.has_center_of_mass = true;
  body.center_of_mass = v3(0.1, -0.2, 0.3);
  body.pose = (ss_pose){position, orientation};
  return body;
}

/* A joint of the type between two bodies that fulfil it; first_is_world: between the world and a body. */
static ss_joint_def sample_joint(ss_joint_type type, bool first_is_world, int variant) {
  ss_joint_def def = ss_joint_default(type, first_is_world ? SS_WORLD : 0, first_is_world ? 0 : 1);
  def.has_at = type != SS_JOINT_DISTANCE && type != SS_JOINT_GEAR && type != SS_JOINT_ROLLING;
  def.at = v3(0.3, 0.2, -0.4);
  def.has_axis = !(type == SS_JOINT_ROLLING && variant == 1);
  def.axis = v3(1, 2, -0.5);
  def.has_axes = type == SS_JOINT_UNIVERSAL || (type == SS_JOINT_GEAR && variant == 1);
  def.axes[0] = v3(1, 1, 0);
  def.axes[1] = v3(-1, 1, 0.5);
  def.has_normal = true;
  def.normal = v3(0.2, -0.1, 1);
  def.has_blade = true;
  def.blade = v3(1, 0.3, 0.1);
  def.pitch = 0.7;
  def.anchor[0] = v3(0.1, 0.5, 0.2);
  def.anchor[1] = v3(-0.3, 0.4, 0.1);
  if (type == SS_JOINT_UNIVERSAL) def.axes[1] = v3(-1, 1, 0.5);
  if (type == SS_JOINT_GEAR && variant == 1) def.ratio = -1.7;
  return def;
}

/* Distance of the centres seen along the axis, split into two radii; or the height of the wheel above its plane. */
static void fit(ss_joint_def *def, const ss_body_def bodies[2]) {
  const ss_pose a = def->body[0] < 0 ? pose_identity() : bodies[def->body[0]].pose, b = bodies[def->body[1]].pose;
  if (def->type == SS_JOINT_GEAR && isnan(def->ratio)) {
    const ss_vec3 axis = quat_rotate(a.orientation, v3_normalize(def->axis));
    const ss_vec3 d = v3_sub(pose_point(&b, def->anchor[1]), pose_point(&a, def->anchor[0]));
    const double apart = v3_norm(v3_axpy(d, -v3_dot(d, axis), axis));
    def->radii[0] = 1.4 * apart;
    def->radii[1] = -0.4 * apart;
  }
  if (def->type == SS_JOINT_ROLLING) {
    const ss_vec3 n = quat_rotate(a.orientation, v3_normalize(def->normal));
    const ss_vec3 u = quat_rotate(b.orientation, v3_normalize(def->axis));
    const double s = def->has_axis ? v3_norm(v3_axpy(n, -v3_dot(n, u), u)) : 1;
    def->radius = 0.6;
    def->center = v3(0.2, 0.1, -0.3);
    def->offset = v3_dot(n, v3_sub(pose_point(&b, def->center), a.position)) - def->radius * s;
  }
}

static setup open_joint(ss_joint_type type, bool first_is_world, int variant) {
  setup s = {0};
  ss_error error = {0};
  require(ss_scene_create(&s.scene, &error), &error);
  const ss_body_def bodies[2] = {body_at("one", v3(0.5, -0.2, 0.1), quat_exp(v3(0.3, 0.5, -0.2))),
                                 body_at("two", v3(-0.4, 0.9, 0.7), quat_exp(v3(-0.6, 0.1, 0.4)))};
  for (int i = 0; i < 2; i++) require(ss_scene_add_body(s.scene, &bodies[i], &error), &error);
  ss_joint_def def = sample_joint(type, first_is_world, variant);
  fit(&def, bodies);
  const bool hinge = type == SS_JOINT_REVOLUTE || type == SS_JOINT_PRISMATIC || type == SS_JOINT_CYLINDRICAL ||
                     type == SS_JOINT_SCREW || (type == SS_JOINT_DISTANCE && variant == 1);
  def.has_limits = hinge;
  def.limits[0] = -10;
  def.limits[1] = 10;
  require(ss_scene_add_joint(s.scene, &def, &error), &error);
  require(ss_model_create(s.scene, &s.model, &error), &error);
  return s;
}

static void close_joint(setup *s) {
  ss_model_destroy(s->model);
  ss_scene_destroy(s->scene);
}

/* The pose after moving for a time with a body's velocity coordinates. */
static ss_pose moved(const ss_pose *pose, const double *v, double time) {
  return (ss_pose){v3_axpy(pose->position, time, v3(v[0], v[1], v[2])),
                   quat_multiply(pose->orientation, quat_exp(v3_scale(time, v3(v[3], v[4], v[5]))))};
}

typedef struct trial {
  ss_pose pose[2];
  double v[12];
} trial;

static trial random_trial(const setup *s, uint64_t *seed) {
  trial t;
  const ss_joint *joint = &s->model->joints[0];
  for (int i = 0; i < 12; i++) t.v[i] = uniform(seed);
  for (int side = 0; side < 2; side++) {
    t.pose[side] = pose_identity();
    if (joint->body[side] < 0) continue;
    t.pose[side] = s->model->bodies[joint->body[side]].pose;
    t.pose[side].position = v3_axpy(t.pose[side].position, 0.3, random_vector(seed));
    t.pose[side].orientation = quat_multiply(t.pose[side].orientation, quat_exp(random_vector(seed)));
  }
  return t;
}

static void displaced(const setup *s, const trial *t, double time, ss_pose out[2]) {
  const ss_joint *joint = &s->model->joints[0];
  for (int side = 0; side < 2; side++)
    out[side] = joint->body[side] < 0 ? t->pose[side] : moved(&t->pose[side], t->v + 6 * joint->body[side], time);
}

static void check_close(double value, double expected, double tolerance, const char *what, ss_joint_type type) {
  if (fabs(value - expected) <= tolerance) return;
  print_error("%s of %s: %.15g, expected %.15g\n", what, ss_table_joints()[type].name, value, expected);
  fail();
}

static const double step = 1e-5;

static void check_rows(const setup *s, const trial *t) {
  const ss_joint *joint = &s->model->joints[0];
  double before[SS_JOINT_ROWS], after[SS_JOINT_ROWS];
  ss_row rows[SS_JOINT_ROWS];
  ss_pose p[2];
  double angle[3];
  for (int i = 0; i < joint->n_angles; i++)
    angle[i] = ss_joint_angle(s->model, joint, i, &t->pose[0], &t->pose[1], 0, NULL);
  const int n = ss_joint_evaluate(s->model, joint, &t->pose[0], &t->pose[1], angle, NULL, rows);
  displaced(s, t, -step, p);
  (void)ss_joint_evaluate(s->model, joint, &p[0], &p[1], angle, before, NULL);
  displaced(s, t, step, p);
  (void)ss_joint_evaluate(s->model, joint, &p[0], &p[1], angle, after, NULL);
  for (int i = 0; i < n; i++) {
    const double rate = ss_row_dot(s->model, &rows[i], t->v);
    if (ss_joint_pfaffian(joint->type) >> i & 1)
      assert_true(before[i] == 0 && after[i] == 0);
    else
      check_close(rate, (after[i] - before[i]) / (2 * step), 2e-8, "row", joint->type);
  }
}

static void rows_are_gradients(void **state) {
  (void)state;
  uint64_t seed = 7;
  for (int type = 0; type < SS_JOINT_TYPES; type++)
    for (int variant = 0; variant < 4; variant++) {
      if (type == SS_JOINT_DISTANCE && variant % 2 == 1) continue; /* a cable has no equation */
      setup s = open_joint((ss_joint_type)type, variant >= 2, variant % 2);
      for (int k = 0; k < 50; k++) {
        const trial t = random_trial(&s, &seed);
        check_rows(&s, &t);
      }
      close_joint(&s);
    }
}

static void coordinates_have_their_gradients(void **state) {
  (void)state;
  static const ss_joint_type types[] = {SS_JOINT_REVOLUTE, SS_JOINT_PRISMATIC, SS_JOINT_CYLINDRICAL, SS_JOINT_SCREW,
                                        SS_JOINT_DISTANCE};
  uint64_t seed = 11;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    for (int action = 0; action < 2; action++) {
      if (types[i] == SS_JOINT_DISTANCE && action == SS_ACTION_MOTOR) continue;
      setup s = open_joint(types[i], false, 1);
      const ss_joint *joint = &s.model->joints[0];
      for (int k = 0; k < 50; k++) {
        const trial t = random_trial(&s, &seed);
        ss_row row;
        ss_pose p[2];
        const double near =
            ss_joint_coordinate(s.model, joint, (ss_joint_action)action, &t.pose[0], &t.pose[1], 0, &row);
        displaced(&s, &t, step, p);
        const double after = ss_joint_coordinate(s.model, joint, (ss_joint_action)action, &p[0], &p[1], near, NULL);
        displaced(&s, &t, -step, p);
        const double before = ss_joint_coordinate(s.model, joint, (ss_joint_action)action, &p[0], &p[1], near, NULL);
        check_close(ss_row_dot(s.model, &row, t.v), (after - before) / (2 * step), 2e-8, "coordinate", types[i]);
      }
      close_joint(&s);
    }
}

static ss_vec3 velocity_at(const ss_pose *pose, const double *v, ss_vec3 point) {
  const ss_vec3 turn = quat_rotate(pose->orientation, v3(v[3], v[4], v[5]));
  return v3_add(v3(v[0], v[1], v[2]), v3_cross(turn, v3_sub(point, pose->position)));
}

/* The lowest point of the rim found by search, and the sliding velocity there, which both tangential rows span. */
static void rolling_rows_are_slip(void **state) {
  (void)state;
  uint64_t seed = 3;
  setup s = open_joint(SS_JOINT_ROLLING, false, 0);
  const ss_joint *joint = &s.model->joints[0];
  for (int k = 0; k < 20; k++) {
    const trial t = random_trial(&s, &seed);
    const ss_vec3 n = quat_rotate(quat_multiply(t.pose[0].orientation, joint->frame[0]), v3(1, 0, 0));
    const ss_mat3 wheel = quat_matrix(quat_multiply(t.pose[1].orientation, joint->frame[1]));
    const ss_vec3 center = pose_point(&t.pose[1], joint->anchor[1]);
    const double at = atan2(-v3_dot(n, mat3_column(&wheel, 2)), -v3_dot(n, mat3_column(&wheel, 1)));
    const ss_vec3 rim =
        v3_add(v3_axpy(center, 0.6 * cos(at), mat3_column(&wheel, 1)), v3_scale(0.6 * sin(at), mat3_column(&wheel, 2)));
    const ss_vec3 slip = v3_sub(velocity_at(&t.pose[1], t.v + 6, rim), velocity_at(&t.pose[0], t.v, rim));
    ss_row rows[SS_JOINT_ROWS];
    double residual[SS_JOINT_ROWS];
    assert_int_equal(ss_joint_evaluate(s.model, joint, &t.pose[0], &t.pose[1], NULL, residual, rows), 3);
    const double r0 = ss_row_dot(s.model, &rows[0], t.v), r1 = ss_row_dot(s.model, &rows[1], t.v),
                 r2 = ss_row_dot(s.model, &rows[2], t.v);
    const ss_vec3 plane = pose_point(&t.pose[0], joint->anchor[0]);
    check_close(residual[0], v3_dot(n, v3_sub(rim, plane)), 1e-13, "height", joint->type);
    check_close(r0, v3_dot(slip, n), 1e-12, "normal row", joint->type);
    check_close(r0 * r0 + r1 * r1 + r2 * r2, v3_dot(slip, slip), 1e-12, "slip", joint->type);
  }
  close_joint(&s);
}

static void knife_edge_row_is_speed_across_the_blade(void **state) {
  (void)state;
  uint64_t seed = 5;
  setup s = open_joint(SS_JOINT_KNIFE_EDGE, false, 0);
  const ss_joint *joint = &s.model->joints[0];
  for (int k = 0; k < 20; k++) {
    const trial t = random_trial(&s, &seed);
    const ss_vec3 n = quat_rotate(quat_multiply(t.pose[0].orientation, joint->frame[0]), v3(1, 0, 0));
    const ss_vec3 blade = quat_rotate(quat_multiply(t.pose[1].orientation, joint->frame[1]), v3(1, 0, 0));
    const ss_vec3 point = pose_point(&t.pose[1], joint->anchor[1]);
    const ss_vec3 slip = v3_sub(velocity_at(&t.pose[1], t.v + 6, point), velocity_at(&t.pose[0], t.v, point));
    const ss_vec3 glide = v3_normalize(v3_axpy(blade, -v3_dot(blade, n), n)); /* the blade's trace in the plane */
    const double up = v3_dot(slip, n), along = v3_dot(slip, glide);
    ss_row rows[SS_JOINT_ROWS];
    assert_int_equal(ss_joint_evaluate(s.model, joint, &t.pose[0], &t.pose[1], NULL, NULL, rows), 1);
    const double across = ss_row_dot(s.model, &rows[0], t.v);
    check_close(across * across, v3_dot(slip, slip) - up * up - along * along, 1e-12, "row", joint->type);
  }
  close_joint(&s);
}

/* Turning on and on, the counted angle grows without end, however large the turn per step. */
static void angles_count_beyond_full_turns(void **state) {
  (void)state;
  setup s = open_joint(SS_JOINT_REVOLUTE, true, 0);
  const ss_joint *joint = &s.model->joints[0];
  for (double turn = 0.5; turn < 30; turn *= 3) {
    double angle = 0, q[14] = {0}, q_new[14] = {0}, v[12] = {0};
    const ss_vec3 axis = v3_normalize(v3(1, 2, -0.5)); /* of the joint, in the world */
    ss_pose pose = s.model->bodies[0].pose;
    const ss_vec3 local = quat_rotate(quat_conjugate(pose.orientation), axis);
    v[3] = local.x, v[4] = local.y, v[5] = local.z;
    for (int k = 1; k <= 40; k++) {
      const ss_pose next = {pose.position, quat_multiply(pose.orientation, quat_exp(v3_scale(turn, local)))};
      const double from[7] = {pose.position.x,    pose.position.y,    pose.position.z,   pose.orientation.w,
                              pose.orientation.x, pose.orientation.y, pose.orientation.z};
      const double to[7] = {next.position.x,    next.position.y,    next.position.z,   next.orientation.w,
                            next.orientation.x, next.orientation.y, next.orientation.z};
      for (int i = 0; i < 7; i++) q[i] = from[i], q_new[i] = to[i];
      ss_joint_angles_follow(s.model, q, q_new, v, turn, &angle);
      check_close(angle, k * turn, 1e-9, "angle", joint->type);
      pose = next;
    }
  }
  close_joint(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_gradients),
      cmocka_unit_test(coordinates_have_their_gradients),
      cmocka_unit_test(rolling_rows_are_slip),
      cmocka_unit_test(knife_edge_row_is_speed_across_the_blade),
      cmocka_unit_test(angles_count_beyond_full_turns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
