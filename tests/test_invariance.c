/* The same scene turned, moved, mirrored, or in other units gives the same motion. */
#include "scene_runner.h"

/* x -> length * (rotation (mirrored x) ) + shift; times and masses are multiplied. */
typedef struct transform {
  ss_quat turn;
  ss_vec3 shift;
  bool mirror; /* x -> -x first */
  double length, mass, time;
} transform;

static transform none(void) { return (transform){quat_identity(), {0, 0, 0}, false, 1, 1, 1}; }

/* Directions, and axes of rotation (which a mirror turns the other way). */
static ss_vec3 direction(const transform *t, ss_vec3 v) {
  return quat_rotate(t->turn, t->mirror ? v3(-v.x, v.y, v.z) : v);
}
static ss_vec3 axial(const transform *t, ss_vec3 v) {
  return quat_rotate(t->turn, t->mirror ? v3(v.x, -v.y, -v.z) : v);
}
static ss_vec3 place(const transform *t, ss_vec3 x) {
  return v3_add(v3_scale(t->length, direction(t, x)), v3_scale(t->length, t->shift));
}
static ss_vec3 local(const transform *t, ss_vec3 x) { /* in a body's frame, which turns with the body */
  return v3_scale(t->length, t->mirror ? v3(-x.x, x.y, x.z) : x);
}
static ss_quat mirrored(const transform *t, ss_quat q) { return t->mirror ? (ss_quat){q.w, q.x, -q.y, -q.z} : q; }

/* Arrays belong to the scene, which is the test's own. */
static void transform_mesh(const transform *t, ss_shape_def *s) {
  ss_vec3 *points = (ss_vec3 *)(uintptr_t)s->points;
  int *triangles = (int *)(uintptr_t)s->triangles;
  double *heights = (double *)(uintptr_t)s->heights;
  for (int i = 0; i < s->n_points; i++) points[i] = local(t, points[i]);
  for (int i = 0; t->mirror && i < s->n_triangles; i++) {
    const int corner = triangles[3 * i];
    triangles[3 * i] = triangles[3 * i + 1], triangles[3 * i + 1] = corner;
  }
  for (int i = 0; i < s->rows * s->columns; i++) heights[i] *= t->length;
  s->spacing = v3_scale(t->length, s->spacing);
}

static void transform_shape(const transform *t, ss_shape_def *s, bool world) {
  const double l = t->length;
  transform_mesh(t, s);
  s->pose.position = world ? place(t, s->pose.position) : local(t, s->pose.position);
  s->pose.orientation = mirrored(t, s->pose.orientation);
  if (world) s->pose.orientation = quat_multiply(t->turn, s->pose.orientation);
  s->radius *= l;
  s->length *= l;
  s->size = v3_scale(l, s->size);
  if (t->mirror) s->axis = v3(-s->axis.x, s->axis.y, s->axis.z);
  if (s->type != SS_SHAPE_HALF_SPACE) return;
  s->pose = pose_identity();
  s->normal = world ? direction(t, s->normal) : t->mirror ? v3(-s->normal.x, s->normal.y, s->normal.z) : s->normal;
  s->offset *= l;
  if (world) s->offset += l * v3_dot(v3_normalize(s->normal), t->shift);
}

static void transform_body(const transform *t, ss_body_def *b) {
  const double l = t->length, inertia = t->mass * l * l;
  b->mass *= t->mass;
  b->density *= t->mass / (l * l * l);
  for (int i = 0; i < 6; i++) b->inertia[i] *= i == 3 || i == 4 ? (t->mirror ? -inertia : inertia) : inertia;
  b->center_of_mass = local(t, b->center_of_mass);
  b->pose.position = place(t, b->pose.position);
  b->pose.orientation = quat_multiply(t->turn, mirrored(t, b->pose.orientation));
  b->velocity = v3_scale(l / t->time, direction(t, b->velocity));
  b->angular_velocity = v3_scale(1 / t->time, axial(t, b->angular_velocity));
  for (int i = 0; i < b->n_shapes; i++) transform_shape(t, (ss_shape_def *)(uintptr_t)&b->shapes[i], false);
}

static void transform_scene(const transform *t, ss_scene *scene) {
  const double l = t->length;
  scene->gravity = v3_scale(l / (t->time * t->time), direction(t, scene->gravity));
  for (int i = 0; i < scene->n_world_shapes; i++) transform_shape(t, &scene->world_shapes[i], true);
  for (int i = 0; i < scene->n_bodies; i++) transform_body(t, &scene->bodies[i]);
  for (int i = 0; i < scene->n_joints; i++) {
    ss_joint_def *j = &scene->joints[i];
    j->at = place(t, j->at);
    if (j->has_axis) j->axis = direction(t, j->axis); /* a sign does not matter */
    for (int k = 0; k < 2; k++) j->anchor[k] = j->body[k] == SS_WORLD ? place(t, j->anchor[k]) : local(t, j->anchor[k]);
    j->length *= l;
  }
  for (int i = 0; i < scene->n_forces; i++) {
    ss_force_def *f = &scene->forces[i];
    for (int k = 0; k < 2; k++) f->anchor[k] = f->body[k] == SS_WORLD ? place(t, f->anchor[k]) : local(t, f->anchor[k]);
    f->stiffness *= t->mass / (t->time * t->time);
    f->damping *= t->mass / t->time;
    f->rest_length *= l;
  }
  scene->simulation.step *= t->time;
  scene->simulation.duration *= t->time;
}

typedef struct scene_case {
  const char *name;
  double duration;
  double step; /* 0: the scene's own */
  const char *scheme;
  ss_cone cone;
} scene_case;

static void start(run *r, const scene_case *c, const transform *t) {
  ss_error error = {0};
  char path[1024];
  *r = (run){0};
  (void)snprintf(path, sizeof path, "%s/scenes/%s.yaml", SOURCE_DIR, c->name);
  run_require(ss_scene_load(path, NULL, 0, &r->scene, &error), &error, c->name);
  if (c->step > 0) r->scene->simulation.step = c->step;
  r->scene->simulation.duration = c->duration;
  if (c->scheme) r->scene->simulation.scheme = c->scheme;
  r->scene->simulation.cone = c->cone;
  transform_scene(t, r->scene);
  run_compile(r, NULL);
}

/* Largest difference between the transformed run and the transform of the plain one, relative to the sizes in it. */
static double difference(const scene_case *c, const transform *t) {
  run plain, changed;
  const transform identity = none();
  start(&plain, c, &identity);
  start(&changed, c, t);
  /* what rests is compared with what gravity would give it in a step */
  double worst = 0, way = 0, speed = v3_norm(plain.scene->gravity) * plain.scene->simulation.step, spin = speed;
  while (!ss_sim_done(plain.sim)) {
    assert_false(ss_sim_done(changed.sim));
    run_step(&plain);
    run_step(&changed);
    for (int i = 0; i < ss_model_bodies(plain.model); i++) {
      const ss_motion a = ss_sim_motion(plain.sim, i), b = ss_sim_motion(changed.sim, i);
      way = fmax(way, v3_norm(a.pose.position));
      speed = fmax(speed, v3_norm(a.velocity));
      spin = fmax(spin, v3_norm(a.angular_velocity));
      const ss_quat turned = quat_multiply(t->turn, mirrored(t, a.pose.orientation));
      const double position = run_distance(place(t, a.pose.position), b.pose.position) / t->length;
      const double angle = v3_norm(quat_log(quat_multiply(quat_conjugate(turned), b.pose.orientation)));
      const ss_vec3 velocity = v3_scale(t->length / t->time, direction(t, a.velocity));
      const ss_vec3 turning = v3_scale(1 / t->time, axial(t, a.angular_velocity));
      worst = fmax(worst, fmax(position / way, angle));
      if (speed > 0) worst = fmax(worst, run_distance(velocity, b.velocity) * t->time / t->length / speed);
      if (spin > 0) worst = fmax(worst, run_distance(turning, b.angular_velocity) * t->time / spin);
    }
  }
  run_check(&plain);
  run_check(&changed);
  assert_int_equal(plain.n_collisions, changed.n_collisions);
  run_close(&plain);
  run_close(&changed);
  return worst;
}

static void require_same(const scene_case *c, const transform *t, const char *what) {
  const double tolerance = c->cone == SS_CONE_QUADRATIC ? 1e-7 : 1e-9;
  const double d = difference(c, t);
  if (!(d <= tolerance)) print_error("%s (%s), %s: differs by %.3g\n", c->name, c->scheme ? c->scheme : "", what, d);
  assert_true(d <= tolerance);
}

/* The four balls roll and are hit: what direction the polygon of a rolling contact has then must come from the problem. Their
 * collisions amplify rounding, and the round cone is solved by iterations. */
static const scene_case spatial[] = {
    {"bouncing-ball", 3, 0, NULL, SS_CONE_POLYHEDRAL},
    {"block-on-incline", 2, 0, NULL, SS_CONE_POLYHEDRAL},
    {"sphere-slide-to-roll", 1, 0, NULL, SS_CONE_POLYHEDRAL},
    {"sphere-slide-to-roll", 1, 0, "trapezoidal", SS_CONE_POLYHEDRAL},
    {"torque-free-body", 4, 0, NULL, SS_CONE_POLYHEDRAL},
    {"four-balls", 1, 0, NULL, SS_CONE_POLYHEDRAL},
    {"four-balls", 1, 0.005, "trapezoidal", SS_CONE_POLYHEDRAL},
    {"four-balls", 1, 0, "moreau", SS_CONE_POLYHEDRAL},
    {"four-balls", 1, 0, NULL, SS_CONE_QUADRATIC},
    {"four-balls", 1, 0.005, "trapezoidal", SS_CONE_QUADRATIC},
    {"four-balls", 1, 0, "moreau", SS_CONE_QUADRATIC},
    {"mesh-stairs", 0.25, 0, NULL, SS_CONE_QUADRATIC},
};

static const scene_case planar[] = {
    {"double-pendulum-wall", 2.5, 0, NULL, SS_CONE_POLYHEDRAL}, {"falling-rod", 1.2, 0, NULL, SS_CONE_POLYHEDRAL},
    {"falling-rod", 1.2, 0, "trapezoidal", SS_CONE_POLYHEDRAL}, {"painleve-rod", 0.06, 0, NULL, SS_CONE_POLYHEDRAL},
    {"pendulum-chain", 0.3, 0.001, NULL, SS_CONE_POLYHEDRAL},   {"two-carts-damper", 1, 0, NULL, SS_CONE_POLYHEDRAL},
    {"two-carts-spring", 1, 0, NULL, SS_CONE_POLYHEDRAL},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

static void turned_scenes(void **state) {
  (void)state;
  uint64_t seed = 11;
  for (int i = 0; i < COUNT(spatial); i++)
    for (int k = 0; k < 4; k++) {
      transform t = none();
      t.turn = random_rotation(&seed);
      require_same(&spatial[i], &t, "turned");
    }
  for (int i = 0; i < COUNT(planar); i++)
    for (int k = 0; k < 4; k++) {
      transform t = none();
      t.turn = quat_exp(v3(0, 0, 3 * random_next(&seed)));
      require_same(&planar[i], &t, "turned in its plane");
    }
}

static void moved_scenes(void **state) {
  (void)state;
  for (int i = 0; i < COUNT(spatial) + COUNT(planar); i++) {
    const bool flat = i >= COUNT(spatial);
    transform t = none();
    t.shift = v3(13.7, -29.1, flat ? 0 : 5.3);
    require_same(flat ? &planar[i - COUNT(spatial)] : &spatial[i], &t, "moved");
  }
}

static void mirrored_scenes(void **state) {
  (void)state;
  for (int i = 0; i < COUNT(spatial) + COUNT(planar); i++) {
    transform t = none();
    t.mirror = true;
    require_same(i < COUNT(spatial) ? &spatial[i] : &planar[i - COUNT(spatial)], &t, "mirrored");
  }
}

static void scenes_in_other_units(void **state) {
  (void)state;
  static const double units[][3] = {/* length, mass, time */
                                    {1000, 1, 1},     {1, 1e-3, 1},     {1, 1, 1e3},       {1000, 1e-3, 10},
                                    {1e-6, 1, 1},     {1, 1e9, 1},      {1e-3, 1e3, 1e-2}, {1e6, 1e-12, 1e-3},
                                    {1e-6, 1e-15, 1}, {1e3, 1e-9, 1e-9}};
  for (int i = 0; i < COUNT(spatial) + COUNT(planar); i++)
    for (int k = 0; k < COUNT(units); k++) {
      transform t = none();
      char what[64];
      t.length = units[k][0], t.mass = units[k][1], t.time = units[k][2];
      (void)snprintf(what, sizeof what, "length x %g, mass x %g, time x %g", t.length, t.mass, t.time);
      require_same(i < COUNT(spatial) ? &spatial[i] : &planar[i - COUNT(spatial)], &t, what);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turned_scenes),
      cmocka_unit_test(moved_scenes),
      cmocka_unit_test(mirrored_scenes),
      cmocka_unit_test(scenes_in_other_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
