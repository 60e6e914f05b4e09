/* Good scenes: every key arrives in its field. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stickslip/io.h>

#define PI 3.14159265358979323846

static ss_scene *parse_with(const char *text, const char *const *settings, int n_settings) {
  ss_scene *scene = NULL;
  ss_error error = {0};
  if (ss_scene_parse(text, strlen(text), "scene.yaml", settings, n_settings, &scene, &error) != SS_OK)
    fail_msg("%d:%d: %s", error.line, error.column, error.message);
  return scene;
}

static ss_scene *parse(const char *text) { return parse_with(text, NULL, 0); }

static void assert_near(double value, double expected) {
  if (!(fabs(value - expected) <= 1e-14 * (1 + fabs(expected)))) fail_msg("%.17g is not %.17g", value, expected);
}

static void assert_vec(ss_vec3 v, double x, double y, double z) {
  assert_near(v.x, x);
  assert_near(v.y, y);
  assert_near(v.z, z);
}

static void assert_quat(ss_quat q, double w, double x, double y, double z) {
  assert_near(q.w, w);
  assert_vec((ss_vec3){q.x, q.y, q.z}, x, y, z);
}

/* The sample of the scene contract, without the keys that this version refuses. */
static const char sample[] =
    "name: Double pendulum with a wall\n"
    "source: LIT section 10.1\n"
    "planar: xy\n"
    "gravity: [0, -9.81, 0]\n"
    "parameters: {L: 1}\n"
    "materials:\n"
    "  - {name: default, friction: 0, restitution: 0.1}\n"
    "contacts:\n"
    "  - {between: [bob1, rod], collide: false}\n"
    "world:\n"
    "  shapes: [{type: half-space, normal: [1, 0, 0], offset: 0}]\n"
    "bodies:\n"
    "  - {name: bob1, mass: 1, freedom: [x, y], position: [L*sin(pi/3), -L*cos(pi/3)], shapes: [{type: point}]}\n"
    "  - name: rod\n"
    "    mass: 1\n"
    "    inertia: 0.002\n"
    "    position: [0, 1, 0]\n"
    "    orientation: 30 deg\n"
    "    velocity: [0, 0, 0]\n"
    "    angular_velocity: [0, 0, 4]\n"
    "    shapes: [{type: capsule, radius: 0.05, length: 1, axis: x, material: default}]\n"
    "joints:\n"
    "  - {type: distance, between: [world, bob1], anchors: [[0, 0, 0], [0, 0, 0]], length: L}\n"
    "  - {type: revolute, between: [bob1, rod], at: [0, 0, 0], axis: [0, 0, 1]}\n"
    "forces:\n"
    "  - {type: spring, between: [world, bob1], anchors: [[1, 0], [0, 0]], stiffness: 100, rest_length: 0.2}\n"
    "  - {type: damper, between: [bob1, rod], damping: 1e3}\n"
    "  - {type: applied, on: rod, force: [8*cos(t), 0, 0], at: [0, 0, 0]}\n"
    "simulation:\n"
    "  scheme: trapezoidal\n"
    "  step: 2^-5\n"
    "  duration: 2.5\n"
    "  friction: {cone: polyhedral, directions: 8}\n"
    "  restitution: poisson\n"
    "  events: [collision]\n"
    "  stabilization: none\n"
    "  solver: auto\n";

static void check_sample_bodies(const ss_scene *scene) {
  assert_int_equal(scene->n_bodies, 2);
  const ss_body_def *bob = &scene->bodies[0], *rod = &scene->bodies[1];
  assert_string_equal(bob->name, "bob1");
  assert_int_equal(bob->freedom, SS_X | SS_Y);
  assert_vec(bob->pose.position, sin(PI / 3), -cos(PI / 3), 0);
  assert_int_equal(bob->n_shapes, 1);
  assert_int_equal(bob->shapes[0].type, SS_SHAPE_POINT);
  assert_int_equal(bob->mark.line, 13);
  assert_int_equal(bob->mark.column, 5);
  assert_true(rod->mass == 1 && isnan(rod->density) && rod->has_inertia && rod->inertia[2] == 0.002);
  assert_int_equal(rod->freedom, SS_X | SS_Y | SS_RZ);
  assert_vec(rod->pose.position, 0, 1, 0);
  assert_quat(rod->pose.orientation, cos(PI / 12), 0, 0, sin(PI / 12));
  assert_vec(rod->angular_velocity, 0, 0, 4);
  assert_int_equal(rod->shapes[0].type, SS_SHAPE_CAPSULE);
  assert_true(rod->shapes[0].radius == 0.05 && rod->shapes[0].length == 1);
  assert_vec(rod->shapes[0].axis, 1, 0, 0);
  assert_string_equal(rod->shapes[0].material, "default");
}

static void check_sample_links(const ss_scene *scene) {
  assert_int_equal(scene->n_joints, 2);
  assert_int_equal(scene->joints[0].type, SS_JOINT_DISTANCE);
  assert_int_equal(scene->joints[0].body[0], SS_WORLD);
  assert_int_equal(scene->joints[0].body[1], 0);
  assert_true(scene->joints[0].length == 1 && !scene->joints[0].has_at);
  assert_true(scene->joints[1].has_at && scene->joints[1].has_axis);
  assert_int_equal(scene->n_forces, 3);
  assert_int_equal(scene->forces[0].type, SS_FORCE_SPRING);
  assert_vec(scene->forces[0].anchor[0], 1, 0, 0);
  assert_true(scene->forces[0].stiffness == 100 && scene->forces[0].rest_length == 0.2);
  assert_int_equal(scene->forces[0].jacobian, SS_JACOBIAN_DEFAULT);
  assert_true(scene->forces[1].damping == 1000);
  assert_int_equal(scene->forces[2].body[0], 1);
  assert_near(ss_expression_value(scene->forces[2].force[0], 2), 8 * cos(2));
  assert_null(scene->forces[2].force[1]);
}

static void the_sample_of_the_contract(void **state) {
  (void)state;
  ss_scene *scene = parse(sample);
  assert_string_equal(scene->file, "scene.yaml");
  assert_string_equal(scene->text, sample);
  assert_string_equal(scene->name, "Double pendulum with a wall");
  assert_string_equal(scene->source, "LIT section 10.1");
  assert_int_equal(scene->planar, SS_PLANAR_XY);
  assert_vec(scene->gravity, 0, -9.81, 0);
  assert_int_equal(scene->n_materials, 1);
  assert_true(scene->materials[0].restitution == 0.1);
  assert_int_equal(scene->n_contacts, 1);
  assert_string_equal(scene->contacts[0].between[1], "rod");
  assert_false(scene->contacts[0].collide);
  assert_true(isnan(scene->contacts[0].friction) && isnan(scene->contacts[0].restitution));
  assert_int_equal(scene->n_world_shapes, 1);
  assert_vec(scene->world_shapes[0].normal, 1, 0, 0);
  check_sample_bodies(scene);
  check_sample_links(scene);
  const ss_simulation *s = &scene->simulation;
  assert_string_equal(s->scheme, "trapezoidal");
  assert_true(s->step == 0.03125 && s->duration == 2.5 && s->cone == SS_CONE_POLYHEDRAL && s->directions == 8);
  assert_true(s->restitution == SS_RESTITUTION_POISSON && s->has_events && s->events == SS_EVENT_COLLISION);
  assert_string_equal(s->solver, "auto");
  ss_scene_destroy(scene);
}

static const char spatial[] =
    "materials: [{name: ice, friction: 0.02}, {name: steel, restitution: 1}]\n"
    "contacts:\n"
    "  - {between: [ice, steel], friction: 0.1, restitution: 0.5}\n"
    "  - {between: [world, a], collide: true}\n"
    "world:\n"
    "  shapes:\n"
    "    - {type: half-space, normal: z, offset: 1, position: [5, 6, 2], material: ice}\n"
    "    - {type: half-space, normal: [0, 0, 2], orientation: {axis: x, angle: 90 deg}, position: [0, 3, 0]}\n"
    "bodies:\n"
    "  - name: a\n"
    "    density: 7800\n"
    "    center_of_mass: [0.1, 0.2, 0.3]\n"
    "    inertia: [1, 2, 3, 0.1, 0.2, 0.3]\n"
    "    position: [1, 2, 3]\n"
    "    orientation: [0, 0, 3, 4]\n"
    "    velocity: [4, 5, 6]\n"
    "    angular_velocity: [7, 8, 9]\n"
    "    shapes:\n"
    "      - {type: box, size: [1, 2, 3], position: [0, 0, 1], orientation: {rpy: [90 deg, 0, 90 deg]}, material: "
    "steel}\n"
    "      - {type: sphere, radius: 0.5}\n"
    "      - {type: capsule, radius: 0.5, length: 2, axis: [0, 1, 1]}\n"
    "  - {name: b, mass: 2, inertia: [1, 1, 1], orientation: {axis: [0, 0, 2], angle: pi/2}}\n"
    "joints:\n"
    "  - {type: spherical, name: ball, between: [a, b], anchors: [[1, 2, 3], [4, 5, 6]]}\n"
    "  - {type: prismatic, between: [b, world], axis: x}\n"
    "  - {type: fixed, between: [world, a]}\n"
    "  - {type: distance, between: [a, b]}\n"
    "forces:\n"
    "  - {type: spring-damper, name: strut, between: [a, b], stiffness: 5, damping: 6, jacobian: exact}\n"
    "  - {type: applied, on: b, torque: [0, t, 1], at: [1, 0, 0]}\n"
    "simulation: {scheme: gavrea, alpha: 1/2, gamma: 0, step: 1e-3, duration: 1, friction: {cone: pyramid},\n"
    "             restitution: newton, events: [], residual: 1e-10}\n";

static void check_spatial_bodies(const ss_scene *scene) {
  const ss_body_def *a = &scene->bodies[0], *b = &scene->bodies[1];
  assert_true(isnan(a->mass) && a->density == 7800 && a->has_center_of_mass && a->has_inertia);
  assert_vec(a->center_of_mass, 0.1, 0.2, 0.3);
  for (int i = 0; i < 3; i++) assert_true(a->inertia[i] == i + 1 && fabs(a->inertia[i + 3] - (i + 1) / 10.0) < 1e-16);
  assert_quat(a->pose.orientation, 0, 0, 0.6, 0.8);
  assert_vec(a->velocity, 4, 5, 6);
  assert_vec(a->angular_velocity, 7, 8, 9);
  assert_int_equal(a->freedom, SS_ALL);
  assert_int_equal(a->n_shapes, 3);
  assert_vec(a->shapes[0].size, 1, 2, 3);
  assert_vec(a->shapes[0].pose.position, 0, 0, 1);
  assert_quat(a->shapes[0].pose.orientation, 0.5, 0.5, 0.5, 0.5); /* yaw after roll: x to y, y to z, z to x */
  assert_string_equal(a->shapes[0].material, "steel");
  assert_true(a->shapes[1].radius == 0.5 && !a->shapes[1].material);
  assert_vec(a->shapes[2].axis, 0, 1, 1);
  assert_true(b->inertia[2] == 1 && b->inertia[3] == 0);
  assert_quat(b->pose.orientation, sqrt(0.5), 0, 0, sqrt(0.5));
}

static void every_field_of_a_spatial_scene(void **state) {
  (void)state;
  ss_scene *scene = parse(spatial);
  assert_vec(scene->gravity, 0, 0, -9.81);
  assert_null(scene->name);
  assert_int_equal(scene->n_materials, 3); /* the default is always there, first */
  assert_string_equal(scene->materials[0].name, "default");
  assert_true(scene->materials[1].friction == 0.02 && scene->materials[2].restitution == 1);
  assert_true(scene->contacts[0].collide && scene->contacts[0].friction == 0.1 &&
              scene->contacts[0].restitution == 0.5);
  assert_vec(scene->world_shapes[0].normal, 0, 0, 1); /* the pose went into the offset */
  assert_near(scene->world_shapes[0].offset, 3);
  assert_vec(scene->world_shapes[1].normal, 0, -1, 0);
  assert_near(scene->world_shapes[1].offset, -3);
  check_spatial_bodies(scene);
  assert_string_equal(scene->joints[0].name, "ball");
  assert_vec(scene->joints[0].anchor[1], 4, 5, 6);
  assert_true(scene->joints[1].has_at && scene->joints[1].body[1] == SS_WORLD);
  assert_vec(scene->joints[1].axis, 1, 0, 0);
  assert_true(scene->joints[2].has_at);
  assert_vec(scene->joints[2].at, 1, 2, 3);
  assert_true(isnan(scene->joints[3].length));
  assert_string_equal(scene->forces[0].name, "strut");
  assert_true(scene->forces[0].stiffness == 5 && scene->forces[0].damping == 6 && isnan(scene->forces[0].rest_length));
  assert_int_equal(scene->forces[0].jacobian, SS_JACOBIAN_EXACT);
  assert_near(ss_expression_value(scene->forces[1].torque[1], 3), 3);
  assert_vec(scene->forces[1].anchor[0], 1, 0, 0);
  const ss_simulation *s = &scene->simulation;
  assert_string_equal(s->scheme, "gavrea");
  assert_true(s->alpha == 0.5 && s->gamma == 0 && s->cone == SS_CONE_PYRAMID && s->residual == 1e-10);
  assert_true(s->restitution == SS_RESTITUTION_NEWTON && s->has_events && s->events == 0);
  ss_scene_destroy(scene);
}

static void planes_have_their_axes(void **state) {
  (void)state;
  static const struct {
    const char *plane;
    unsigned freedom;
    ss_vec3 first, second, normal;
  } planes[] = {{"xy", SS_X | SS_Y | SS_RZ, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                {"xz", SS_X | SS_Z | SS_RY, {1, 0, 0}, {0, 0, 1}, {0, 1, 0}},
                {"yz", SS_Y | SS_Z | SS_RX, {0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
  for (int i = 0; i < 3; i++) {
    char text[600];
    (void)snprintf(text, sizeof text,
                   "planar: %s\n"
                   "bodies: [{name: a, mass: 1, inertia: 1, position: [2, 3], velocity: [4, 5], orientation: 90 deg,\n"
                   "          angular_velocity: 6, shapes: [{type: box, size: [7, 8]}]}]\n"
                   "joints: [{type: revolute, between: [a, world], at: [0, 0]}]\n"
                   "forces: [{type: applied, on: a, force: [1, 0], torque: 2*t}]\n"
                   "simulation: {step: 0.1, duration: 1}\n",
                   planes[i].plane);
    ss_scene *scene = parse(text);
    const ss_vec3 p = planes[i].first, q = planes[i].second, n = planes[i].normal;
    const ss_body_def *a = &scene->bodies[0];
    assert_vec(scene->gravity, -9.81 * q.x, -9.81 * q.y, -9.81 * q.z);
    assert_int_equal(a->freedom, planes[i].freedom);
    assert_vec(a->pose.position, 2 * p.x + 3 * q.x, 2 * p.y + 3 * q.y, 2 * p.z + 3 * q.z);
    assert_vec(a->velocity, 4 * p.x + 5 * q.x, 4 * p.y + 5 * q.y, 4 * p.z + 5 * q.z);
    assert_vec(a->angular_velocity, 6 * n.x, 6 * n.y, 6 * n.z);
    const double s = sqrt(0.5);
    assert_quat(a->pose.orientation, s, s * n.x, s * n.y, s * n.z);
    assert_vec(a->shapes[0].size, 7 * p.x + 8 * q.x + n.x, 7 * p.y + 8 * q.y + n.y, 7 * p.z + 8 * q.z + n.z);
    assert_vec(scene->joints[0].axis, n.x, n.y, n.z);
    const ss_expression *const *torque = scene->forces[0].torque;
    assert_true((torque[0] != NULL) == (n.x != 0) && (torque[1] != NULL) == (n.y != 0));
    assert_string_equal(scene->simulation.scheme, "trapezoidal");
    assert_false(scene->simulation.has_events);
    ss_scene_destroy(scene);
  }
}

#define TAIL "\nbodies: [{name: a, mass: m, inertia: [1, 1, 1]}]\nsimulation: {step: 0.1, duration: T}\n"

static void parameters_in_order_and_overridden(void **state) {
  (void)state;
  const char *text = "parameters: {L: 2, m: L^2, e: 0.5, T: m*e}" TAIL;
  ss_scene *scene = parse(text);
  assert_true(scene->bodies[0].mass == 4 && scene->simulation.duration == 2);
  ss_scene_destroy(scene);
  const char *const settings[] = {"L=10", "e = 1", "L=2^-1", "e=1/4"};
  ss_error error = {0};
  assert_int_equal(ss_scene_parse(text, strlen(text), "s", settings, 2, &scene, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "setting 'e = 1'"));
  const char *const good[] = {settings[0], settings[2], settings[3]};
  scene = parse_with(text, good, 3); /* the later one of two counts */
  assert_true(scene->bodies[0].mass == 0.25 && scene->simulation.duration == 0.0625);
  ss_scene_destroy(scene);
}

static void json_aliases_and_marks_are_yaml(void **state) {
  (void)state;
  ss_scene *scene = parse("{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": [1, 1, 1]}],\n"
                          " \"simulation\": {\"step\": \"2^-3\", \"duration\": 1.0e0}}");
  assert_true(scene->simulation.step == 0.125);
  ss_scene_destroy(scene);
  scene = parse("\xEF\xBB\xBF---\r\nbodies:\r\n  - {name: a, mass: 1, inertia: &i [1, 2, 3]}\r\n"
                "  - {name: 'b\xC3\xA4r', mass: 1, inertia: *i}\r\nsimulation: {step: 1, duration: 1}\r\n...\r\n");
  assert_true(scene->bodies[1].inertia[2] == 3);
  assert_string_equal(scene->bodies[1].name, "b\xC3\xA4r");
  assert_int_equal(ss_scene_find_body(scene, "b\xC3\xA4r"), 1);
  assert_int_equal(ss_scene_find_body(scene, "world"), SS_WORLD);
  assert_int_equal(ss_scene_find_body(scene, "c"), -2);
  ss_scene_destroy(scene);
}

/* Scenes built in C: growth, copies, the default material, the mask of the plane. */
static void scenes_built_by_hand(void **state) {
  (void)state;
  ss_scene *scene = NULL;
  assert_int_equal(ss_scene_create(&scene, NULL), SS_OK);
  ss_scene_set_planar(scene, SS_PLANAR_XZ);
  assert_vec(scene->gravity, 0, 0, -9.81);
  char name[16];
  for (int i = 0; i < 1000; i++) {
    (void)snprintf(name, sizeof name, "body%d", i);
    ss_body_def body = ss_body_default(name);
    ss_shape_def shape = ss_shape_default(SS_SHAPE_SPHERE);
    shape.radius = i;
    shape.material = name;
    body.shapes = &shape;
    body.n_shapes = 1;
    assert_int_equal(ss_scene_add_body(scene, &body, NULL), SS_OK);
  }
  assert_int_equal(scene->n_bodies, 1000);
  assert_int_equal(ss_scene_find_body(scene, "body777"), 777);
  assert_string_equal(scene->bodies[777].shapes[0].material, "body777");
  assert_true(scene->bodies[777].shapes[0].radius == 777);
  assert_int_equal(scene->bodies[777].freedom, SS_X | SS_Z | SS_RY);
  assert_int_equal(ss_scene_add_material(scene, &(ss_material_def){.name = "default", .friction = 1}, NULL), SS_OK);
  assert_int_equal(scene->n_materials, 1);
  assert_true(scene->materials[0].friction == 1);
  assert_int_equal(ss_scene_add_material(scene, &(ss_material_def){.name = "ice"}, NULL), SS_OK);
  assert_int_equal(ss_scene_add_material(scene, &(ss_material_def){.name = "ice"}, NULL), SS_ERROR_INPUT);
  const ss_body_def world = ss_body_default("world"), nameless = ss_body_default(NULL);
  assert_int_equal(ss_scene_add_body(scene, &world, NULL), SS_ERROR_INPUT);
  assert_int_equal(ss_scene_add_body(scene, &nameless, NULL), SS_ERROR_INPUT);
  assert_int_equal(scene->n_bodies, 1000);
  ss_scene_destroy(scene);
  ss_scene_destroy(NULL);
}

static void files(void **state) {
  (void)state;
  const char *path = BINARY_DIR "/test_scene_load.yaml";
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(sample, file) >= 0 && fclose(file) == 0);
  ss_scene *scene = NULL;
  ss_error error = {0};
  assert_int_equal(ss_scene_load(path, NULL, 0, &scene, &error), SS_OK);
  assert_string_equal(scene->file, path);
  assert_string_equal(scene->text, sample);
  ss_scene_destroy(scene);
  assert_int_equal(remove(path), 0);
  assert_int_equal(ss_scene_load(path, NULL, 0, &scene, &error), SS_ERROR_IO);
  assert_null(scene);
  assert_string_equal(error.file, path);
  assert_non_null(strstr(error.message, "No such file"));
  assert_int_equal(ss_scene_load(BINARY_DIR, NULL, 0, &scene, &error), SS_ERROR_IO);
  assert_non_null(strstr(error.message, "directory"));
  assert_int_equal(ss_scene_load("/dev/zero", NULL, 0, &scene, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "larger than 64 MiB"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sample_of_the_contract),
      cmocka_unit_test(every_field_of_a_spatial_scene),
      cmocka_unit_test(planes_have_their_axes),
      cmocka_unit_test(parameters_in_order_and_overridden),
      cmocka_unit_test(json_aliases_and_marks_are_yaml),
      cmocka_unit_test(scenes_built_by_hand),
      cmocka_unit_test(files),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
