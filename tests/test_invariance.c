/* The same scene turned, moved, mirrored, in other units, or with all its parts listed in reverse gives the same motion. */
#include "scene_runner.h"
#include "scene_transform.h"

typedef struct scene_case {
  const char *name;
  double duration;
  double step; /* 0: the scene's own */
  const char *scheme;
  ss_cone cone;
} scene_case;

static void reverse(void *list, int n, size_t size) {
  char *x = list;
  for (int i = 0; i < n / 2; i++)
    for (size_t k = 0; k < size; k++) {
      char *a = x + (size_t)i * size + k, *b = x + (size_t)(n - 1 - i) * size + k;
      const char swap = *a;
      *a = *b;
      *b = swap;
    }
}

/* Bodies, shapes, joints and forces from the last to the first. */
static void list_in_reverse(ss_scene *scene) {
  const int n = scene->n_bodies;
  reverse(scene->bodies, n, sizeof *scene->bodies);
  reverse(scene->world_shapes, scene->n_world_shapes, sizeof *scene->world_shapes);
  reverse(scene->joints, scene->n_joints, sizeof *scene->joints);
  reverse(scene->forces, scene->n_forces, sizeof *scene->forces);
  for (int i = 0; i < n; i++)
    reverse(transform_writable(scene->bodies[i].shapes), scene->bodies[i].n_shapes, sizeof *scene->bodies[i].shapes);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < scene->n_joints; i++)
      if (scene->joints[i].body[k] != SS_WORLD) scene->joints[i].body[k] = n - 1 - scene->joints[i].body[k];
    for (int i = 0; i < scene->n_forces; i++)
      if (scene->forces[i].body[k] != SS_WORLD) scene->forces[i].body[k] = n - 1 - scene->forces[i].body[k];
  }
}

static void start(run *r, const scene_case *c, const transform *t, bool reversed) {
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
  if (reversed) list_in_reverse(r->scene);
  run_compile(r, NULL);
}

/* Largest difference between the transformed run and the transform of the plain one, relative to the sizes in it. */
static double difference(const scene_case *c, const transform *t, bool reversed) {
  run plain, changed;
  const transform identity = transform_none();
  start(&plain, c, &identity, false);
  start(&changed, c, t, reversed);
  const int n = ss_model_bodies(plain.model);
  /* what rests is compared with what gravity would give it in a step */
  double worst = 0, way = 0, speed = v3_norm(plain.scene->gravity) * plain.scene->simulation.step, spin = speed;
  while (!ss_sim_done(plain.sim)) {
    assert_false(ss_sim_done(changed.sim));
    run_step(&plain);
    run_step(&changed);
    for (int i = 0; i < n; i++) {
      const ss_motion a = ss_sim_motion(plain.sim, i), b = ss_sim_motion(changed.sim, reversed ? n - 1 - i : i);
      way = fmax(way, v3_norm(a.pose.position));
      speed = fmax(speed, v3_norm(a.velocity));
      spin = fmax(spin, v3_norm(a.angular_velocity));
      const ss_quat turned = quat_multiply(t->turn, transform_mirrored(t, a.pose.orientation));
      const double position = run_distance(transform_place(t, a.pose.position), b.pose.position) / t->length;
      const double angle = v3_norm(quat_log(quat_multiply(quat_conjugate(turned), b.pose.orientation)));
      const ss_vec3 velocity = v3_scale(t->length / t->time, transform_direction(t, a.velocity));
      const ss_vec3 turning = v3_scale(1 / t->time, transform_axial(t, a.angular_velocity));
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

static void require_same(const scene_case *c, const transform *t, bool reversed, const char *what) {
  const double tolerance = c->cone == SS_CONE_QUADRATIC ? 1e-7 : 1e-9;
  const double d = difference(c, t, reversed);
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
      transform t = transform_none();
      t.turn = random_rotation(&seed);
      require_same(&spatial[i], &t, false, "turned");
    }
  for (int i = 0; i < COUNT(planar); i++)
    for (int k = 0; k < 4; k++) {
      transform t = transform_none();
      t.turn = quat_exp(v3(0, 0, 3 * random_next(&seed)));
      require_same(&planar[i], &t, false, "turned in its plane");
    }
}

static const scene_case listed[] = {
    {"newtons-cradle", 1, 0, NULL, SS_CONE_POLYHEDRAL},  {"four-balls", 1, 0.005, "trapezoidal", SS_CONE_PYRAMID},
    {"rocking-block", 1, 0, NULL, SS_CONE_POLYHEDRAL},   {"slider-crank", 0.5, 0, NULL, SS_CONE_POLYHEDRAL},
    {"hanging-chain", 0.3, 0, NULL, SS_CONE_POLYHEDRAL}, {"dominoes", 0.15, 0, NULL, SS_CONE_POLYHEDRAL},
    {"pendulum-stop", 2, 0, NULL, SS_CONE_POLYHEDRAL},   {"rolling-balls", 0.5, 0, NULL, SS_CONE_POLYHEDRAL},
    {"impacting-stick", 1, 0, NULL, SS_CONE_POLYHEDRAL}, {"pendulum-slides-off", 1, 0, NULL, SS_CONE_POLYHEDRAL},
    {"gripper", 0.2, 0, NULL, SS_CONE_POLYHEDRAL},
};

static void scenes_listed_in_reverse(void **state) {
  (void)state;
  const transform t = transform_none();
  for (int i = 0; i < COUNT(listed); i++) require_same(&listed[i], &t, true, "listed in reverse");
  for (int i = 0; i < COUNT(spatial); i++) require_same(&spatial[i], &t, true, "listed in reverse");
  for (int i = 0; i < COUNT(planar); i++) require_same(&planar[i], &t, true, "listed in reverse");
}

static void moved_scenes(void **state) {
  (void)state;
  for (int i = 0; i < COUNT(spatial) + COUNT(planar); i++) {
    const bool flat = i >= COUNT(spatial);
    transform t = transform_none();
    t.shift = v3(13.7, -29.1, flat ? 0 : 5.3);
    require_same(flat ? &planar[i - COUNT(spatial)] : &spatial[i], &t, false, "moved");
  }
}

static void mirrored_scenes(void **state) {
  (void)state;
  for (int i = 0; i < COUNT(spatial) + COUNT(planar); i++) {
    transform t = transform_none();
    t.mirror = true;
    require_same(i < COUNT(spatial) ? &spatial[i] : &planar[i - COUNT(spatial)], &t, false, "mirrored");
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
      transform t = transform_none();
      char what[64];
      t.length = units[k][0], t.mass = units[k][1], t.time = units[k][2];
      (void)snprintf(what, sizeof what, "length x %g, mass x %g, time x %g", t.length, t.mass, t.time);
      require_same(i < COUNT(spatial) ? &spatial[i] : &planar[i - COUNT(spatial)], &t, false, what);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turned_scenes),   cmocka_unit_test(scenes_listed_in_reverse), cmocka_unit_test(moved_scenes),
      cmocka_unit_test(mirrored_scenes), cmocka_unit_test(scenes_in_other_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
