/* Motion on meshes and height fields. */
#include "scene_runner.h"

/* ---- a floor of many triangles is a plane ---- */

typedef struct text {
  char chars[60000];
  size_t used;
} text;

static void put(text *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int n = vsnprintf(t->chars + t->used, sizeof t->chars - t->used, format, arguments);
  va_end(arguments);
  t->used += (size_t)n;
  assert_true(t->used < sizeof t->chars);
}

enum { CELLS = 12 };

/* A square of 6 x 6 in the plane z = 0, its corners shaken, its diagonals at random. */
static void put_floor(text *t) {
  uint64_t seed = 5;
  put(t, "{type: mesh, vertices: [");
  for (int i = 0; i <= CELLS; i++)
    for (int j = 0; j <= CELLS; j++) {
      const double x = 0.1 * random_next(&seed), y = 0.1 * random_next(&seed);
      put(t, "[%.17g, %.17g, 0], ", 0.5 * j - 3 + (j % CELLS ? x : 0), 0.5 * i - 3 + (i % CELLS ? y : 0));
    }
  put(t, "], triangles: [");
  for (int i = 0; i < CELLS; i++)
    for (int j = 0; j < CELLS; j++) {
      const int a = i * (CELLS + 1) + j, b = a + 1, c = a + CELLS + 1, d = c + 1;
      if (random_next(&seed) > 0)
        put(t, "[%d, %d, %d], [%d, %d, %d], ", a, b, d, a, d, c);
      else
        put(t, "[%d, %d, %d], [%d, %d, %d], ", a, b, c, b, d, c);
    }
  put(t, "]}");
}

static void put_field(text *t) {
  put(t, "{type: height-field, spacing: [0.5, 0.75], heights: [");
  for (int i = 0; i < 9; i++) {
    put(t, "[");
    for (int j = 0; j < 13; j++) put(t, "0, ");
    put(t, "], ");
  }
  put(t, "]}");
}

static void slide(run *r, int floor, const char *shape, double height) {
  static text t;
  t.used = 0;
  put(&t, "gravity: [1.5, 0.7, -9]\nmaterials: [{name: default, friction: 0.3}]\nworld: {shapes: [");
  if (floor == 0) put(&t, "{type: half-space, normal: [0, 0, 1]}");
  if (floor == 1) put_floor(&t);
  if (floor == 2) put_field(&t);
  put(&t,
      "]}\nbodies: [{name: a, density: 1, position: [-1.5, -1, %.17g], velocity: [2, 0.7, 0], angular_velocity: [0, 0, "
      "2], "
      "shapes: [%s]}]\nsimulation: {step: 2^-8, duration: 1, friction: {cone: quadratic}}\n",
      height, shape);
  run_parse(r, t.chars, NULL);
  run_finish(r);
}

/* Cylinders that stand are left out: how their weight is shared among the points of the rim is not determined, and with it
 * their friction. */
static void floor_of_triangles(void **state) {
  (void)state;
  static const struct {
    const char *shape;
    double height;
  } sliders[] = {
      {"{type: point}, {type: sphere, radius: 0.2, position: [0, 0, 0.2]}", 0},
      {"{type: sphere, radius: 0.2}", 0.2},
      {"{type: box, size: [0.3, 0.4, 0.2]}", 0.1},
      {"{type: capsule, radius: 0.1, length: 0.5}", 0.1},
      {"{type: cylinder, radius: 0.1, length: 0.5}", 0.1},
      {"{type: ellipsoid, semi_axes: [0.2, 0.15, 0.1]}", 0.1},
      {"{type: convex, points: [[0, 0, 0], [0.3, 0, 0], [0.3, 0.3, 0], [0, 0.3, 0], [0.1, 0.1, 0.3]]}", 0},
  };
  for (size_t i = 0; i < sizeof sliders / sizeof *sliders; i++)
    for (int floor = 1; floor <= 2; floor++) {
      run plane, mesh;
      slide(&plane, 0, sliders[i].shape, sliders[i].height);
      slide(&mesh, floor, sliders[i].shape, sliders[i].height);
      const ss_motion a = ss_sim_motion(plane.sim, 0), b = ss_sim_motion(mesh.sim, 0);
      check_below(run_distance(a.pose.position, b.pose.position), 1e-12, sliders[i].shape);
      check_below(run_distance(a.velocity, b.velocity), 1e-12, sliders[i].shape);
      check_below(run_distance(a.angular_velocity, b.angular_velocity), 1e-11, sliders[i].shape);
      check_below(1, fabs(b.pose.position.x + 1.5), "it has gone over several triangles");
      run_close(&plane);
      run_close(&mesh);
    }
}

/* ---- order two ---- */

/* A ball that rolls down a slope under a force along it: 5/7 (g sin a + cos 3t), from rest. */
static double incline_error(double step) {
  static const char scene[] =
      "parameters: {a: 20 deg}\nmaterials: [{name: default, friction: 2}]\n"
      "world: {shapes: [{type: height-field, spacing: 0.3, orientation: {axis: y, angle: a}, heights: ["
      "[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0, 0, "
      "0, 0, 0, "
      "0]]}]}\n"
      "bodies: [{name: ball, mass: 1, position: [-1.7*cos(a) + 0.1*sin(a), 0.02, 1.7*sin(a) + 0.1*cos(a)], "
      "shapes: [{type: sphere, radius: 0.1}]}]\n"
      "forces: [{type: applied, on: ball, force: [cos(3*t)*cos(a), 0, -cos(3*t)*sin(a)]}]\n"
      "simulation: {scheme: trapezoidal, step: 0.1, duration: 1}\n";
  run r;
  run_parse(&r, scene, &(change){.step = step});
  run_finish(&r);
  const double angle = 20 * acos(-1) / 180, t = 1;
  const double way = 5.0 / 7 * (9.81 * sin(angle) * t * t / 2 + (1 - cos(3 * t)) / 9);
  const ss_vec3 start = v3(-1.7 * cos(angle) + 0.1 * sin(angle), 0.02, 1.7 * sin(angle) + 0.1 * cos(angle));
  const ss_vec3 end = v3_axpy(start, way, v3(cos(angle), 0, -sin(angle)));
  const double error = run_distance(run_position(&r, 0), end);
  run_close(&r);
  return error;
}

static void second_order_on_an_incline(void **state) {
  (void)state;
  const double coarse = incline_error(0x1p-5), fine = incline_error(0x1p-7);
  check_near(log2(coarse / fine) / 2, 2, 0.05, "order");
  check_below(fine, 1e-4, "error");
}

/* ---- corners, walls, edges ---- */

/* The inside corner of a floor and a wall, pushed into by a box: both hold it, though it has drifted into one of them. */
static void box_in_a_corner(void **state) {
  (void)state;
  static const char scene[] =
      "gravity: [4, 0, -9]\nmaterials: [{name: default, friction: 0.1}]\n"
      "world: {shapes: [{type: mesh, vertices: [[-2, -1, 0], [1, -1, 0], [1, 1, 0], [-2, 1, 0], [1, -1, 2], [1, 1, "
      "2]], "
      "triangles: [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]}]}\n"
      "bodies: [{name: box, mass: 1, position: [-0.5, 0, 0.2], velocity: [1, 0, 0], angular_velocity: [0, 0, 0.3],\n"
      "  shapes: [{type: box, size: [0.3, 0.4, 0.4]}]}]\n"
      "simulation: {scheme: trapezoidal, step: 2^-7, duration: 2}\n";
  run r;
  run_parse(&r, scene, NULL);
  run_finish(&r);
  check_near(run_position(&r, 0).x, 0.85, 1e-5, "at the wall");
  check_near(run_position(&r, 0).z, 0.2, 1e-5, "on the floor");
  check_below(v3_norm(run_velocity(&r, 0)), 1e-5, "at rest");
  check_below(ss_sim_report(r.sim)->certificate.penetration, 1e-5, "penetration");
  run_close(&r);
}

/* A sheet with two sides is a solid, however thin: what lies on it is not taken to be under it. */
static void thin_plate(void **state) {
  (void)state;
  static const char scene[] =
      "parameters: {d: 1e-4}\nmaterials: [{name: default, friction: 0.5}]\n"
      "world: {shapes: [{type: mesh, vertices: [[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, -d], [1, -1, "
      "-d], "
      "[1, 1, -d], [-1, 1, -d]], triangles: [[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6], [0, 4, 5], [0, 5, 1], [1, 5, "
      "6], "
      "[1, 6, 2], [2, 6, 7], [2, 7, 3], [3, 7, 4], [3, 4, 0]]}]}\n"
      "bodies:\n"
      "  - {name: over, mass: 1, position: [0, 0, 0.2], shapes: [{type: box, size: [0.5, 0.5, 0.4]}]}\n"
      "  - {name: ball, mass: 1, position: [0.6, 0.6, 0.3], shapes: [{type: sphere, radius: 0.2}]}\n"
      "  - {name: rim, mass: 1, position: [-1, 0, 0.1], shapes: [{type: box, size: [0.3, 0.2, 0.2], position: [0.05, "
      "0, 0]}]}\n"
      "  - {name: under, mass: 1, position: [0, 0, -0.6], velocity: [0, 0, 4], shapes: [{type: sphere, radius: 0.2}]}\n"
      "simulation: {scheme: trapezoidal, step: 2^-8, duration: 0.5}\n";
  run r;
  run_parse(&r, scene, NULL);
  run_finish(&r);
  check_near(run_position(&r, 0).z, 0.2, 1e-9, "the box stays");
  check_near(run_position(&r, 1).z, 0.2, 1e-9, "the ball has landed");
  check_near(run_position(&r, 2).z, 0.1, 1e-9, "what stands over the rim stays");
  check_below(run_position(&r, 3).z, -0.2, "what comes from below is thrown back");
  run_close(&r);
}

/* ---- a planar scene's terrain ---- */

static double polyline(const char *plane, const char *terrain, const char *shape, ss_vec3 *end) {
  char scene[2000];
  (void)snprintf(scene, sizeof scene,
                 "planar: %s\nmaterials: [{name: default, friction: 0.4}]\nworld: {shapes: [%s]}\n"
                 "bodies: [{name: a, mass: 1, position: [-1, 0.8], velocity: [1, 0], shapes: [%s]}]\n"
                 "simulation: {scheme: trapezoidal, step: 2^-8, duration: 1.2}\n",
                 plane, terrain, shape);
  run r;
  run_parse(&r, scene, NULL);
  run_finish(&r);
  *end = run_position(&r, 0);
  const double depth = ss_sim_report(r.sim)->certificate.penetration;
  run_close(&r);
  return depth;
}

static void planar_terrain(void **state) {
  (void)state;
  static const char *const shapes[] = {"{type: sphere, radius: 0.2}", "{type: box, size: [0.4, 0.3]}",
                                       "{type: ellipse, semi_axes: [0.2, 0.15]}",
                                       "{type: convex, points: [[-0.2, -0.1], [0.2, -0.1], [0, 0.2]]}"};
  static const char level[] = "{type: height-field, spacing: 0.5, heights: [0, 0, 0, 0, 0, 0, 0, 0, 0]}";
  static const char valley[] = "{type: height-field, spacing: 0.5, heights: [1, 0.7, 0.3, 0.1, 0, 0.05, 0.2, 0.6, 1]}";
  for (int i = 0; i < 4; i++) {
    ss_vec3 on_plane, on_line, low, turned;
    (void)polyline("xy", "{type: half-space, normal: [0, 1, 0]}", shapes[i], &on_plane);
    (void)polyline("xy", level, shapes[i], &on_line);
    check_below(run_distance(on_plane, on_line), 1e-9, shapes[i]);
    const double depth = polyline("xy", valley, shapes[i], &low);
    check_below(depth, 1e-3, "penetration");
    check_below(fabs(low.x), 2, "in the valley");
    (void)polyline("yz", valley, shapes[i], &turned);
    check_below(run_distance(v3(low.z, low.x, low.y), turned), 1e-6, "the same in another plane");
  }
}

/* ---- refusals ---- */

static void refused(const char *shapes, bool world, const char *message) {
  char scene[1000];
  ss_error error = {0};
  ss_scene *read = NULL;
  ss_model *model = NULL;
  (void)snprintf(scene, sizeof scene,
                 "world: {shapes: [%s]}\nbodies: [{name: a, mass: 1, freedom: [x], shapes: [%s]}]\n"
                 "simulation: {step: 0.1, duration: 1}\n",
                 world ? shapes : "", world ? "" : shapes);
  run_require(ss_scene_parse(scene, strlen(scene), "text", NULL, 0, &read, &error), &error, scene);
  assert_int_equal(ss_model_create(read, &model, &error), SS_ERROR_INPUT);
  if (!strstr(error.message, message)) print_error("%s\n", error.message);
  assert_non_null(strstr(error.message, message));
  assert_int_equal(error.line, world ? 1 : 2);
  ss_scene_destroy(read);
}

/* Where a border or an edge goes straight on its vertices are no corners: what is thrown at one bounces as beside it. */
static void straight_borders(void **state) {
  (void)state;
  static const char *const thrown[] = {"sphere, radius: 0.1", "ellipsoid, semi_axes: [0.1, 0.09, 0.08]",
                                       "capsule, radius: 0.05, length: 0.1, axis: x",
                                       "cylinder, radius: 0.1, length: 0.1, axis: z"};
  static const char *const surfaces[] = {
      "{type: height-field, spacing: [0.5, 0.5], heights: [[0, 0, 0], [0, 0, 0], [0, 0, 0]]}",
      "{type: mesh, vertices: [[-0.5,-0.5,0],[0.5,-0.5,0],[0.5,0,0],[0.5,0.5,0],[-0.5,0.5,0],[-0.5,-0.5,-1],"
      "[0.5,-0.5,-1],[0.5,0.5,-1],[-0.5,0.5,-1]], triangles: [[0,1,2],[0,2,4],[4,2,3],[5,7,6],[5,8,7],[0,5,6],[0,6,1],"
      "[1,6,2],[2,6,7],[2,7,3],[3,7,8],[3,8,4],[4,8,5],[4,5,0]]}"};
  static const double places[] = {0, 1e-15, 1e-9, 0.01};
  for (size_t k = 0; k < sizeof thrown / sizeof *thrown; k++)
    for (size_t m = 0; m < sizeof surfaces / sizeof *surfaces; m++) {
      double speed = 0;
      for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        char scene[2000];
        run r;
        (void)snprintf(scene, sizeof scene,
                       "gravity: [0, 0, 0]\nmaterials: [{name: default, restitution: 1}]\nworld: {shapes: [%s]}\n"
                       "bodies: [{name: a, mass: 1, inertia: [1, 1, 1], position: [0.54, %.17g, 0.2], "
                       "velocity: [-0.4, 0, -1], shapes: [{type: %s}]}]\n"
                       "simulation: {step: 0.01, duration: 0.25}\n",
                       surfaces[m], places[i], thrown[k]);
        run_parse(&r, scene, NULL);
        run_finish(&r);
        const ss_motion motion = ss_sim_motion(r.sim, 0);
        if (i == 0) speed = motion.velocity.z;
        if (!(motion.velocity.z > -0.9) || fabs(motion.velocity.z - speed) > 1e-6)
          fail_msg("%s on %zu at %g: %.9g, not %.9g", thrown[k], m, places[i], motion.velocity.z, speed);
        run_close(&r);
      }
    }
}

static void refusals(void **state) {
  (void)state;
  static const char triangle[] = "{type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0]], triangles: [[0, 1, 2]]}";
  refused(triangle, false, "belong to the world");
  refused("{type: height-field, spacing: 1, heights: [[0, 0], [0, 0]]}", false, "belong to the world");
  refused("{type: height-field, spacing: 1, heights: [[0, 0]]}", true, "two rows");
  refused("{type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [2, 0, 0]], triangles: [[0, 1, 2]]}", true, "with an area");
  refused("{type: mesh, vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], triangles: [[0, 1, 2], [0, 1, 3]]}",
          true, "triangles 0 and 1 (from 0) share a side");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(floor_of_triangles), cmocka_unit_test(second_order_on_an_incline),
      cmocka_unit_test(box_in_a_corner),    cmocka_unit_test(thin_plate),
      cmocka_unit_test(planar_terrain),     cmocka_unit_test(refusals),
      cmocka_unit_test(straight_borders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
