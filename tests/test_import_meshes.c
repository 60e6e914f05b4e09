/* Meshes and height fields of URDF and MJCF: which shapes they become, and where something that falls on them comes to rest. */
#include "import_runner.h"

static const double radius = 0.1;

/* A cube of edge 2 with one corner at the origin, faces outwards. */
static const char cube[] = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\nv 0 2 2\n"
                           "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";

/* A step: z = 0 for x < 0, z = 0.5 for 0 < x; open below. The riser is between. */
static const char stairs[] = "v -2 -1 0\nv 0 -1 0\nv 0 1 0\nv -2 1 0\nv 0 -1 0.5\nv 0 1 0.5\nv 2 -1 0.5\nv 2 1 0.5\n"
                             "f 1 2 3 4\nf 2 5 6 3\nf 5 7 8 6\n";

static void write_mesh(char *name, size_t size, const char *text) {
  (void)snprintf(name, size, BINARY_DIR "/test-import-mesh-%ld.obj", (long)getpid());
  FILE *f = fopen(name, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  assert_int_equal(fclose(f), 0);
}

/* Where the bodies are after a while. */
static void fall(ss_scene *scene, ss_vec3 *rests) {
  ss_model *model;
  scene->simulation.step = 1. / 256;
  ss_sim *sim = simulate(scene, &model, 1.5);
  assert_true(ss_sim_report(sim)->certificate.certified);
  for (int i = 0; i < ss_model_bodies(model); i++) {
    rests[i] = ss_sim_motion(sim, i).pose.position;
    assert_true(v3_norm(ss_sim_motion(sim, i).velocity) < 1e-6);
  }
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
}

static void assert_place(double value, double expected) {
  if (!(fabs(value - expected) < 1e-6)) fail_msg("%.12g is not %.12g", value, expected);
}

/* ---- height fields ---- */

/* Rows come from the largest y on, heights between any two numbers are brought to 0 .. size: a plateau for y > 0.5, another for
 * y < -0.5, and a ridge along the side x = 1 that tells the sides apart. */
static void test_height_field(void **state) {
  (void)state;
  ss_scene *scene = through_a_file(import_text(
      "<mujoco><asset><hfield name=\"ground\" nrow=\"4\" ncol=\"5\" size=\"1 1.5 0.4 0.1\"\n"
      " elevation=\"7 7 7 7 9  7 7 7 7 9  5 5 5 5 9  5 5 5 5 9\"/></asset>\n"
      "<worldbody><geom type=\"hfield\" hfield=\"ground\" pos=\"0.25 0 1\"/>\n"
      "<body name=\"up\" pos=\"0 1 1.5\"><freejoint/><geom type=\"sphere\" size=\"0.1\" mass=\"1\"/></body>\n"
      "<body name=\"down\" pos=\"0 -1 1.3\"><freejoint/><geom type=\"sphere\" size=\"0.1\" mass=\"1\"/></body>\n"
      "</worldbody></mujoco>\n",
      false));
  assert_int_equal(scene->n_world_shapes, 1);
  const ss_shape_def *field = &scene->world_shapes[0];
  assert_int_equal(field->type, SS_SHAPE_HEIGHT_FIELD);
  assert_int_equal(field->rows, 4);
  assert_int_equal(field->columns, 5);
  assert_place(field->spacing.x, 0.5);
  assert_place(field->spacing.y, 1);
  assert_place(field->heights[0], 0);    /* the row with the least y comes first */
  assert_place(field->heights[15], 0.2); /* 7 of 5 .. 9, and 0.4 in all */
  assert_place(field->heights[4], 0.4);
  ss_vec3 rests[2];
  fall(scene, rests);
  assert_place(rests[0].z, 1 + 0.2 + radius);
  assert_place(rests[1].z, 1 + radius);
}

static void test_height_fields_that_are_not_read(void **state) {
  (void)state;
  static const char *const fields[] = {"file=\"x.png\"", "nrow=\"2\" ncol=\"2\" size=\"1 1 1 1\" elevation=\"1 2 3\"",
                                       "nrow=\"1\" ncol=\"4\" size=\"1 1 1 1\" elevation=\"1 2 3 4\"",
                                       "nrow=\"2\" ncol=\"2\" size=\"0 1 1 1\" elevation=\"1 2 3 4\""};
  for (int k = 0; k < 4; k++) {
    char text[1000];
    (void)snprintf(
        text, sizeof text,
        "<mujoco><asset><hfield name=\"ground\" %s/></asset><worldbody><geom type=\"hfield\" hfield=\"ground\"/>"
        "<body><freejoint/><geom size=\"0.1\" mass=\"1\"/></body></worldbody></mujoco>",
        fields[k]);
    ss_scene *scene = import_text(text, false);
    assert_int_equal(scene->n_world_shapes, 0);
    assert_non_null(strstr(remarks, "height field 'ground': only those with"));
    ss_scene_destroy(scene);
  }
}

/* ---- meshes of bodies ---- */

/* The hull of the scaled cube, 1 x 2 x 0.5, that falls on a plane: its origin, a corner, comes down to 0 where the frame is
 * upright, its furthest corner to 0 where the geom is upside down. */
static void check_brick(ss_scene *scene, const char *remark, double height) {
  assert_non_null(strstr(remarks, remark));
  scene = through_a_file(scene);
  assert_int_equal(scene->n_bodies, 1);
  assert_int_equal(scene->bodies[0].n_shapes, 1);
  const ss_shape_def *hull = &scene->bodies[0].shapes[0];
  assert_int_equal(hull->type, SS_SHAPE_CONVEX);
  assert_int_equal(hull->n_points, 8);
  ss_vec3 low = hull->points[0], high = low, rest;
  for (int k = 0; k < 8; k++)
    for (int i = 0; i < 3; i++) {
      const double x = v3_get(hull->points[k], i);
      if (x < v3_get(low, i)) *(i == 0 ? &low.x : i == 1 ? &low.y : &low.z) = x;
      if (x > v3_get(high, i)) *(i == 0 ? &high.x : i == 1 ? &high.y : &high.z) = x;
    }
  assert_place(high.x - low.x, 1);
  assert_place(high.y - low.y, 2);
  assert_place(high.z - low.z, 0.5);
  fall(scene, &rest);
  assert_place(rest.z, height);
}

static void test_mesh_of_a_body(void **state) {
  (void)state;
  char name[600], text[3000];
  write_mesh(name, sizeof name, cube);
  for (int flipped = 0; flipped < 2; flipped++) {
    const double height =
        flipped ? 0.75 : 0.25; /* of the centre of mass, at z = 0.25 in the link's frame; 0.5 above the mesh's end */
    (void)snprintf(
        text, sizeof text,
        "<robot name=\"r\"><link name=\"world\"><collision><origin xyz=\"0 0 -0.5\"/><geometry><box size=\"9 9 1\"/>"
        "</geometry></collision></link>\n"
        "<link name=\"brick\"><inertial><origin xyz=\"0.5 1 0.25\"/><mass value=\"2\"/>"
        "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\n"
        "<collision><origin xyz=\"0 %d 0\" rpy=\"%.17g 0 0\"/><geometry>"
        "<mesh filename=\"%s%s\" scale=\"0.5 1 0.25\"/></geometry></collision></link>\n"
        "<joint name=\"j\" type=\"floating\"><parent link=\"world\"/><child link=\"brick\"/>"
        "<origin xyz=\"0 0 1\"/></joint></robot>\n",
        flipped ? 2 : 0, flipped ? 3.14159265358979323846 : 0, flipped ? "" : "file://", name);
    check_brick(import_text(text, false), "convex hull", height - 0.25);
  }
  (void)snprintf(
      text, sizeof text,
      "<mujoco><compiler meshdir=\"%s\"/><asset><mesh name=\"m\" file=\"%s\" scale=\"0.5 1 0.25\"/></asset>\n"
      "<worldbody><geom type=\"plane\" size=\"5 5 1\"/><body name=\"brick\" pos=\"0 0 1\"><freejoint/>"
      "<inertial pos=\"0.5 1 0.25\" mass=\"2\" diaginertia=\"1 1 1\"/><geom type=\"mesh\" mesh=\"m\"/></body>"
      "</worldbody></mujoco>\n",
      BINARY_DIR, strrchr(name, '/') + 1);
  check_brick(import_text(text, false), "convex hull", 0);
  check_brick(
      import_text("<mujoco><asset><mesh name=\"m\" scale=\"0.5 1 0.25\" vertex=\"0 0 0 2 0 0 2 2 0 0 2 0 0 0 2 2 0 2"
                  " 2 2 2 0 2 2 1 1 1\"/></asset>\n"
                  "<worldbody><geom type=\"plane\" size=\"5 5 1\"/><body name=\"brick\" pos=\"0 0 1\"><freejoint/>"
                  "<inertial pos=\"0.5 1 0.25\" mass=\"2\" diaginertia=\"1 1 1\"/><geom type=\"mesh\" mesh=\"m\"/>"
                  "</body></worldbody></mujoco>\n",
                  false),
      "convex hull", 0);
  (void)unlink(name);
}

/* ---- meshes of the world ---- */

/* What does not move keeps its mesh, hollows and all; a mirror must not turn it inside out. */
static void test_mesh_of_the_world(void **state) {
  (void)state;
  char name[600], text[3000];
  write_mesh(name, sizeof name, stairs);
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    (void)snprintf(text, sizeof text,
                   "<robot name=\"r\"><link name=\"world\"><collision><origin xyz=\"0 0 2\"/><geometry>"
                   "<mesh filename=\"package://robot/%s\" scale=\"%d 1 1\"/></geometry></collision></link>\n"
                   "<link name=\"ball\"><inertial><mass value=\"2\"/>"
                   "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\n"
                   "<collision><geometry><sphere radius=\"0.1\"/></geometry></collision></link>\n"
                   "<joint name=\"j\" type=\"floating\"><parent link=\"world\"/><child link=\"ball\"/>"
                   "<origin xyz=\"-1 0.3 2.8\"/></joint></robot>\n",
                   strrchr(name, '/') + 1, mirrored ? -1 : 1);
    ss_scene *scene = through_a_file(import_text(text, false));
    assert_int_equal(scene->n_world_shapes, 1);
    assert_int_equal(scene->world_shapes[0].type, SS_SHAPE_MESH);
    ss_vec3 rest;
    fall(scene, &rest);
    assert_place(rest.z, 2 + (mirrored ? 0.5 : 0) + radius); /* the hull would hold it between the two */
    assert_place(rest.x, -1);
  }
  (void)unlink(name);
}

/* The model's body touches nothing, and these remarks say why. */
static void expect_no_shape(const char *model, const char *why, const char *also) {
  ss_scene *scene = import_text(model, false);
  assert_int_equal(scene->bodies[0].n_shapes, 0);
  assert_non_null(strstr(remarks, why));
  assert_non_null(strstr(remarks, also));
  ss_scene_destroy(scene);
}

static void test_meshes_that_are_not_there(void **state) {
  (void)state;
  expect_no_shape("<robot name=\"r\"><link name=\"world\"/>\n"
                  "<link name=\"a\"><inertial><mass value=\"2\"/>"
                  "<inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>\n"
                  "<collision><geometry><mesh filename=\"package://no/where.stl\"/></geometry></collision>"
                  "</link><joint name=\"j\" type=\"floating\"><parent link=\"world\"/><child link=\"a\"/>"
                  "</joint></robot>\n",
                  "there is no such file", "it touches nothing");
  expect_no_shape(
      "<mujoco><asset><mesh name=\"m\" vertex=\"0 0 0 1 0 0 0 1 0 1 1 0\"/></asset><worldbody><body><freejoint/>"
      "<inertial pos=\"0 0 0\" mass=\"2\" diaginertia=\"1 1 1\"/><geom type=\"mesh\" mesh=\"m\"/>"
      "<geom type=\"mesh\" mesh=\"other\"/></body></worldbody></mujoco>",
      "mesh without a volume", "there is no such asset");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_height_field),
      cmocka_unit_test(test_height_fields_that_are_not_read),
      cmocka_unit_test(test_mesh_of_a_body),
      cmocka_unit_test(test_mesh_of_the_world),
      cmocka_unit_test(test_meshes_that_are_not_there),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
