/* Importers: one mechanism written as URDF, as MJCF and by hand moves in one way; masses against the library's own;
 * what cannot be represented is refused or said. */
#include "import_runner.h"

#include "model/model.h"

#include <math.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static void refuse_text(const char *text, const char *message, int line) {
  ss_scene *scene = NULL;
  ss_error error = {0};
  assert_int_not_equal(ss_import_model(write_model(text), false, listen, NULL, &scene, &error), SS_OK);
  (void)unlink(path);
  assert_null(scene);
  if (!strstr(error.message, message)) fail_msg("'%s' is not in: %s", message, error.message);
  assert_int_equal(error.line, line);
}

/* Two arms that swing about axes which are not parallel, the second hinge turned by its frame; a tool that is welded on. */
static const char urdf[] =
    "<robot name=\"arm\">\n"
    " <link name=\"base\"/>\n"
    " <link name=\"upper\"><inertial><origin xyz=\"0.2 0 -0.3\" rpy=\"0 0 0.5\"/><mass value=\"2\"/>\n"
    "  <inertia ixx=\"0.05\" iyy=\"0.06\" izz=\"0.04\" ixy=\"0.01\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n"
    " <link name=\"lower\"><inertial><origin xyz=\"0 0 -0.25\"/><mass value=\"1\"/>\n"
    "  <inertia ixx=\"0.02\" iyy=\"0.02\" izz=\"0.005\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n"
    " <link name=\"tool\"><inertial><mass value=\"0.5\"/>\n"
    "  <inertia ixx=\"0.001\" iyy=\"0.002\" izz=\"0.003\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n"
    " <joint name=\"weld\" type=\"fixed\"><parent link=\"lower\"/><child link=\"tool\"/>\n"
    "  <origin xyz=\"0.1 0 -0.5\" rpy=\"0.3 0 0\"/></joint>\n"
    " <joint name=\"elbow\" type=\"continuous\"><parent link=\"upper\"/><child link=\"lower\"/>\n"
    "  <origin xyz=\"0.4 0 -0.6\" rpy=\"0.2 -0.4 0.9\"/><axis xyz=\"0 1 0\"/></joint>\n"
    " <joint name=\"shoulder\" type=\"revolute\"><parent link=\"base\"/><child link=\"upper\"/>\n"
    "  <origin xyz=\"0 0 1\"/><axis xyz=\"0 1 0\"/><limit lower=\"-2\" upper=\"2\" effort=\"1\" "
    "velocity=\"1\"/></joint>\n"
    "</robot>\n";

/* The same in MJCF: degrees, quaternions, fixed axes of Euler angles, the weld as a body without a joint. */
static const char mjcf[] =
    "<mujoco model=\"arm\"><compiler eulerseq=\"XYZ\"/>\n"
    " <default><joint type=\"hinge\" axis=\"0 1 0\"/><default class=\"loose\"><joint "
    "limited=\"false\"/></default></default>\n"
    " <worldbody><body name=\"base\">\n"
    "  <body name=\"upper\" pos=\"0 0 1\"><joint name=\"shoulder\" range=\"-114.59155902616465 114.59155902616465\"/>\n"
    "   <inertial pos=\"0.2 0 -0.3\" euler=\"0 0 28.64788975654116\" mass=\"2\" fullinertia=\"0.05 0.06 0.04 0.01 0 "
    "0\"/>\n"
    "   <body name=\"lower\" pos=\"0.4 0 -0.6\" euler=\"11.459155902616465 -22.91831180523293 51.56620156177409\">\n"
    "    <joint name=\"elbow\" class=\"loose\" range=\"-1 1\"/>\n"
    "    <inertial pos=\"0 0 -0.25\" mass=\"1\" diaginertia=\"0.02 0.02 0.005\"/>\n"
    "    <body name=\"tool\" pos=\"0.1 0 -0.5\" axisangle=\"1 0 0 17.188733853924695\">\n"
    "     <inertial pos=\"0 0 0\" mass=\"0.5\" diaginertia=\"0.001 0.002 0.003\"/></body>\n"
    "   </body></body></body></worldbody></mujoco>\n";

static void test_both_formats_move_alike(void **state) {
  (void)state;
  ss_scene *scenes[2] = {through_a_file(import_text(urdf, false)), through_a_file(import_text(mjcf, false))};
  ss_model *models[2];
  ss_sim *sims[2];
  for (int k = 0; k < 2; k++) {
    assert_int_equal(scenes[k]->n_bodies, 2);
    assert_int_equal(scenes[k]->n_joints, 2);
    sims[k] = simulate(scenes[k], &models[k], 0.5);
    assert_true(ss_sim_report(sims[k])->certificate.certified);
    assert_true(fabs(ss_sim_report(sims[k])->energy.remainder) < 0.05 * ss_sim_report(sims[k])->energy.kinetic);
  }
  double moved = 0;
  for (int body = 0; body < 2; body++) {
    const ss_motion a = ss_sim_motion(sims[0], body), b = ss_sim_motion(sims[1], body);
    assert_string_equal(ss_model_body_name(models[0], body), ss_model_body_name(models[1], body));
    assert_true(v3_norm(v3_sub(a.pose.position, b.pose.position)) < 1e-9);
    assert_true(v3_norm(v3_sub(a.velocity, b.velocity)) < 1e-9);
    assert_true(v3_norm(v3_sub(a.angular_velocity, b.angular_velocity)) < 1e-9);
    moved += v3_norm(a.velocity);
  }
  assert_true(moved > 0.5);
  for (int k = 0; k < 2; k++) {
    ss_sim_destroy(sims[k]);
    ss_model_destroy(models[k]);
    ss_scene_destroy(scenes[k]);
  }
}

/* Hinge at the origin, centre of mass below: theta'' = -m g l sin(theta)/I about the hinge, here at 90 degrees. */
static void test_a_pendulum_falls_as_it_must(void **state) {
  (void)state;
  ss_scene *scene =
      import_text("<robot name=\"p\"><link name=\"world\"/>\n"
                  "<link name=\"bob\"><inertial><origin xyz=\"0.7 0 0\"/><mass value=\"3\"/>"
                  "<inertia ixx=\"0.1\" iyy=\"0.2\" izz=\"0.25\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial></link>\n"
                  "<joint name=\"j\" type=\"continuous\"><parent link=\"world\"/><child link=\"bob\"/>"
                  "<axis xyz=\"0 1 0\"/></joint></robot>\n",
                  false);
  ss_model *model;
  scene->simulation.step = 1e-5;
  ss_sim *sim = simulate(scene, &model, 1e-3);
  const double rate = ss_sim_motion(sim, 0).angular_velocity.y;
  assert_true(fabs(rate - 1e-3 * 3 * 9.81 * 0.7 / (0.2 + 3 * 0.49)) < 1e-6 * rate);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
}

/* Geoms give masses: the same solids by the library, from density. */
static void test_masses_of_geoms(void **state) {
  (void)state;
  static const struct {
    const char *geom, *shape;
  } solids[] = {
      {"type=\"sphere\" size=\"0.3\"", "{type: sphere, radius: 0.3}"},
      {"type=\"box\" size=\"0.1 0.2 0.3\"", "{type: box, size: [0.2, 0.4, 0.6]}"},
      {"type=\"ellipsoid\" size=\"0.1 0.2 0.3\"", "{type: ellipsoid, semi_axes: [0.1, 0.2, 0.3]}"},
      {"type=\"capsule\" size=\"0.1 0.25\"", "{type: capsule, radius: 0.1, length: 0.5, axis: z}"},
      {"type=\"capsule\" size=\"0.1\" fromto=\"-0.25 0 0 0.25 0 0\"",
       "{type: capsule, radius: 0.1, length: 0.5, axis: x}"},
      {"type=\"cylinder\" size=\"0.1 0.25\"", "{type: cylinder, radius: 0.1, length: 0.5, axis: z}"},
      {"type=\"capsule\" size=\"0.1 0.25\" euler=\"90 0 0\"", "{type: capsule, radius: 0.1, length: 0.5, axis: y}"},
  };
  for (size_t k = 0; k < sizeof solids / sizeof *solids; k++) {
    char text[512];
    ss_error error = {0};
    (void)snprintf(text, sizeof text,
                   "<mujoco><worldbody><body name=\"b\"><freejoint/><geom %s/></body></worldbody></mujoco>",
                   solids[k].geom);
    ss_scene *scene = through_a_file(import_text(text, false)), *own = NULL;
    (void)snprintf(text, sizeof text,
                   "bodies: [{name: b, density: 1000, shapes: [%s]}]\n"
                   "simulation: {step: 0.1, duration: 1}\n",
                   solids[k].shape);
    run_require(ss_scene_parse(text, strlen(text), "own", NULL, 0, &own, &error), &error, "parse");
    ss_model *a, *b;
    run_require(ss_model_create(scene, &a, &error), &error, "compile");
    run_require(ss_model_create(own, &b, &error), &error, "compile");
    const double mass = b->bodies[0].mass;
    assert_true(fabs(a->bodies[0].mass - mass) < 1e-12 * mass);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        if (!(fabs(a->bodies[0].inertia.m[i][j] - b->bodies[0].inertia.m[i][j]) < 1e-12 * mass))
          fail_msg("%s: inertia %d %d is %g, not %g", solids[k].geom, i, j, a->bodies[0].inertia.m[i][j],
                   b->bodies[0].inertia.m[i][j]);
    ss_model_destroy(a);
    ss_model_destroy(b);
    ss_scene_destroy(scene);
    ss_scene_destroy(own);
  }
}

/* Several joints of a body are one joint; loops, exclusions, limits, what is left out. */
static void test_joints_and_remarks(void **state) {
  (void)state;
  ss_scene *scene = import_text(
      "<mujoco><option timestep=\"0.005\" gravity=\"0 0 -1\"/><worldbody><geom type=\"plane\" size=\"1 1 1\" pos=\"0 0 "
      "-3\"/>\n"
      " <body name=\"a\"><joint type=\"slide\" axis=\"1 0 0\"/><joint type=\"slide\" axis=\"0 0 1\"/><joint axis=\"0 1 "
      "0\" damping=\"1\"/>\n"
      "  <geom size=\"0.1\"/>\n"
      "  <body name=\"b\" pos=\"0 0 -1\"><joint type=\"ball\"/><geom size=\"0.1\" friction=\"0.3\"/>\n"
      "   <body name=\"c\" pos=\"0 0 -1\"><joint axis=\"1 0 0\" range=\"-45 30\"/><geom size=\"0.05\" "
      "type=\"cylinder\" fromto=\"0 0 0 1 0 0\"/></body>\n"
      "  </body></body>\n"
      " <body name=\"d\" pos=\"2 0 0\"><joint type=\"slide\" axis=\"0 1 0\"/><joint type=\"slide\" axis=\"0 0 "
      "-1\"/><geom size=\"0.1\"/></body>\n"
      "</worldbody><equality><connect body1=\"c\" anchor=\"0 0 0\"/></equality>\n"
      "<contact><exclude body1=\"a\" body2=\"d\"/></contact><actuator><motor joint=\"x\"/></actuator></mujoco>",
      false);
  assert_int_equal(scene->n_bodies, 4);
  assert_int_equal(scene->n_joints, 4);
  assert_int_equal(scene->joints[0].type, SS_JOINT_PLANAR);
  assert_int_equal(scene->joints[1].type, SS_JOINT_SPHERICAL);
  assert_int_equal(scene->joints[2].type, SS_JOINT_REVOLUTE);
  assert_true(fabs(scene->joints[2].limits[0] + acos(-1) / 4) < 1e-12);
  assert_int_equal(scene->joints[3].type, SS_JOINT_SPHERICAL);
  assert_int_equal(scene->joints[3].body[0], SS_WORLD);
  assert_int_equal(scene->bodies[3].freedom, SS_Y | SS_Z);
  assert_int_equal(scene->n_world_shapes, 1);
  assert_true(fabs(scene->world_shapes[0].offset + 3) < 1e-15);
  assert_true(scene->gravity.z == -1 && scene->simulation.step == 0.005);
  assert_int_equal(scene->n_contacts, 3); /* a - b and b - c are neighbours; a - d are excluded */
  for (const char *const *r =
           (const char *const[]){"damping of a joint: left out", "<actuator>: left out", "geometric mean", NULL};
       *r; r++)
    if (!strstr(remarks, *r)) fail_msg("'%s' is not in: %s", *r, remarks);
  ss_scene_destroy(through_a_file(scene));
}

/* A walker whose legs stand beside the plane in which it moves, with another part in the world. */
static ss_scene *import_walker(const char *more) {
  char text[2048];
  (void)snprintf(
      text, sizeof text,
      "<mujoco><option timestep=\"0.001\"/><worldbody><geom type=\"plane\" size=\"1 1 1\" friction=\"0.1\"/>\n"
      " <body name=\"torso\" pos=\"0 0 1.02\"><joint type=\"slide\" axis=\"1 0 0\"/>"
      "<joint type=\"slide\" axis=\"0 0 1\"/><joint axis=\"0 1 0\"/><geom size=\"0.2\"/>\n"
      "  <body name=\"left\" pos=\"0 0.1 -0.2\"><joint axis=\"0 1 0\" range=\"-60 90\"/>"
      "<geom type=\"capsule\" fromto=\"0 0 0 -0.3 0 -0.7\" size=\"0.05\" friction=\"0.1\"/></body>\n"
      "  <body name=\"right\" pos=\"0 -0.1 -0.2\"><joint axis=\"0 -1 0\"/>"
      "<geom type=\"capsule\" fromto=\"0 0 0 0.2 0 -0.7\" size=\"0.05\" friction=\"0.1\"/></body>\n"
      " </body>%s</worldbody></mujoco>",
      more);
  return import_text(text, false);
}

/* A robot that cannot leave a plane becomes a planar scene, and moves as it did in space, through impacts and sliding; what can leave it
 * stays spatial. */
static void test_planar_robots(void **state) {
  (void)state;
  static const char free_ball[] = "<body name=\"ball\" pos=\"9 9 9\"><freejoint/><geom size=\"0.1\"/></body>";
  static const char ramp[] = "<geom type=\"plane\" size=\"1 1 1\" pos=\"0 0 -1\" euler=\"10 0 0\"/>";
  static const char across[] = "<body name=\"arm\" pos=\"9 0 1\"><joint axis=\"1 0 0\"/><geom size=\"0.1\"/></body>";
  ss_scene *scenes[] = {import_walker(""), import_walker(free_ball), import_walker(ramp), import_walker(across)};
  for (int k = 0; k < 4; k++) assert_int_equal(scenes[k]->planar, k == 0 ? SS_PLANAR_XZ : SS_SPATIAL);
  assert_int_equal(scenes[0]->n_joints, 2); /* the planar joint holds nothing */
  assert_int_equal(scenes[1]->n_joints, 3);
  ss_model *model[2];
  ss_sim *sim[2];
  for (int k = 0; k < 2; k++) {
    scenes[k] = through_a_file(scenes[k]);
    scenes[k]->simulation.stabilization = SS_STABILIZATION_NONE; /* which joints of the world take part in otherwise */
    sim[k] = simulate(scenes[k], &model[k], 0.3);
    assert_true(ss_sim_report(sim[k])->certificate.certified);
    assert_true(ss_sim_report(sim[k])->energy.impact_loss > 1 && ss_sim_report(sim[k])->energy.friction_loss > 0.1);
  }
  assert_int_equal(model[0]->n_v, 9);
  const double *q[2] = {ss_sim_state(sim[0])->q, ss_sim_state(sim[1])->q};
  const double beside[3] = {0, 0.1, -0.1}; /* in space; in the plane the shapes are */
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 7; i++) {
      const double other = q[1][7 * b + i] - (i == 1 ? beside[b] : 0);
      if (!(fabs(q[0][7 * b + i] - other) < 1e-7)) fail_msg("body %d: %d: %g, %g", b, i, q[0][7 * b + i], other);
    }
  for (int k = 0; k < 2; k++) {
    ss_sim_destroy(sim[k]);
    ss_model_destroy(model[k]);
  }
  for (int k = 0; k < 4; k++) ss_scene_destroy(scenes[k]);
}

/* Parts that touch side by side do not overlap where they move past each other. */
static void test_side_by_side(void **state) {
  (void)state;
  ss_scene *scene = through_a_file(
      import_text("<mujoco><worldbody><geom type=\"box\" size=\"0.1 0.1 0.1\"/>\n"
                  " <body name=\"arm\" pos=\"0 0.15 0\"><joint axis=\"0 1 0\"/>"
                  "<geom type=\"cylinder\" fromto=\"0 0 0 0 0 -1\" size=\"0.05\"/></body></worldbody></mujoco>",
                  false));
  assert_int_equal(scene->planar, SS_PLANAR_XZ);
  ss_model *model;
  ss_sim *sim = simulate(scene, &model, 0.1);
  assert_true(ss_sim_report(sim)->certificate.sound);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  scene = import_text("<mujoco><worldbody><geom size=\"0.1\"/>\n"
                      " <body name=\"arm\" pos=\"0 0.1 0.5\"><joint axis=\"0 1 0\" pos=\"0.5 0 0\"/>"
                      "<geom size=\"0.1\"/></body></worldbody></mujoco>",
                      false);
  assert_int_equal(scene->planar, SS_SPATIAL); /* the spheres would meet obliquely */
  ss_scene_destroy(scene);
}

static void test_refusals(void **state) {
  (void)state;
  refuse_text("<robot>\n<link", "not valid XML", 2);
  refuse_text("<!DOCTYPE robot [<!ENTITY x SYSTEM \"/etc/passwd\">]>\n<robot name=\"&x;\"/>", "document type", 1);
  refuse_text("<html/>", "expected <robot>", 1);
  refuse_text("<robot>\n<link name=\"a\"/><link name=\"a\"/></robot>", "two links 'a'", 2);
  refuse_text(
      "<robot><link name=\"a\"/>\n<joint type=\"fixed\"><parent link=\"a\"/><child link=\"b\"/></joint></robot>",
      "there is no link 'b'", 2);
  refuse_text("<robot><link name=\"a\"/>\n<link name=\"b\"/>\n<joint type=\"continuous\"><parent link=\"a\"/>"
              "<child link=\"b\"/></joint></robot>",
              "'b' can move but has no mass", 2);
  refuse_text("<robot><link name=\"a\"/>\n<link name=\"b\"/>\n<joint type=\"hinged\"><parent link=\"a\"/>"
              "<child link=\"b\"/></joint></robot>",
              "unknown type of joint 'hinged'", 3);
  refuse_text("<robot><link name=\"a\">\n<inertial><mass value=\"heavy\"/></inertial></link></robot>",
              "expected 1 number", 2);
  refuse_text(
      "<mujoco><worldbody>\n<body name=\"m\"><freejoint/><geom type=\"mesh\" mesh=\"x\"/></body></worldbody></mujoco>",
      "would come from a mesh", 2);
  refuse_text("<mujoco><include file=\"nowhere.xml\"/></mujoco>", "cannot read", 0);
  refuse_text("<mujoco><worldbody><geom size=\"1\"/></worldbody></mujoco>", "nothing moves", 0);
}

/* Robots of others, where they are: each is imported or refused with a reason; what is imported takes a step. */
static void test_robots(void **state) {
  (void)state;
  static const char *const robots[] = {"robots_urdf/drake/Acrobot.urdf",
                                       "robots_urdf/example-robot-data/anymal_b.urdf",
                                       "robots_urdf/bullet3/quadruped.urdf",
                                       "robots_urdf/models_tri/ur3e_cylinders_collision.urdf",
                                       "robots_mjcf/dm_control/cheetah.xml",
                                       "robots_mjcf/gymnasium/hopper.xml",
                                       "robots_mjcf/menagerie/unitree_go1/go1.xml",
                                       "robots_mjcf/mujoco/rotations.xml"};
  const char *data = getenv("STICKSLIP_DATA");
  char folder[1024];
  (void)snprintf(folder, sizeof folder, "%s", data ? data : SOURCE_DIR "/../shared/data");
  struct stat there;
  if (stat(folder, &there)) {
    print_message("no data in %s\n", folder);
    skip();
  }
  for (size_t k = 0; k < sizeof robots / sizeof *robots; k++) {
    char file[2048];
    ss_error error = {0};
    ss_scene *scene = NULL;
    (void)snprintf(file, sizeof file, "%s/%s", folder, robots[k]);
    if (ss_import_model(file, false, NULL, NULL, &scene, &error)) fail_msg("%s: %s", robots[k], error.message);
    scene = through_a_file(scene);
    ss_model *model;
    ss_sim *sim = simulate(scene, &model, 10 * scene->simulation.step);
    assert_true(ss_sim_report(sim)->certificate.certified);
    ss_sim_destroy(sim);
    ss_model_destroy(model);
    ss_scene_destroy(scene);
  }
}

/* ---- depth ---- */

enum { LINKS = 6000 };

static void write_chain(FILE *f) {
  (void)fputs("<robot name=\"chain\">\n", f);
  for (int i = LINKS - 1; i >= 0; i--) /* the last one first: no order is required */
    (void)fprintf(f,
                  "<link name=\"l%d\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" "
                  "ixz=\"0\" iyz=\"0\"/></inertial></link>\n",
                  i);
  for (int i = 1; i < LINKS; i++)
    (void)fprintf(
        f,
        "<joint name=\"j%d\" type=\"fixed\"><parent link=\"l%d\"/><child link=\"l%d\"/><origin xyz=\"1 0 0\"/>"
        "</joint>\n",
        i, i - 1, i);
  (void)fputs("</robot>\n", f);
}

static void *import_chain(void *user) {
  ss_scene *scene = NULL;
  ss_error error = {0};
  (void)ss_import_model(user, false, NULL, NULL, &scene, &error);
  return scene;
}

/* The depth of a tree is not that of the stack. The chain is one body, whose centre is in the middle. */
static void test_long_chain(void **state) {
  (void)state;
  FILE *f = fopen("long-chain.urdf", "w");
  assert_non_null(f);
  write_chain(f);
  assert_int_equal(fclose(f), 0);
  pthread_attr_t attributes;
  pthread_t thread;
  void *result = NULL;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, 512 << 10), 0);
  char name[] = "long-chain.urdf";
  assert_int_equal(pthread_create(&thread, &attributes, import_chain, name), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  (void)pthread_attr_destroy(&attributes);
  (void)unlink("long-chain.urdf");
  assert_non_null(result);
  ss_scene *scene = result;
  assert_int_equal(scene->n_bodies, 1);
  assert_true(scene->bodies[0].mass == LINKS);
  assert_true(fabs(scene->bodies[0].center_of_mass.x - 0.5 * (LINKS - 1)) < 1e-6);
  ss_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_both_formats_move_alike),
      cmocka_unit_test(test_a_pendulum_falls_as_it_must),
      cmocka_unit_test(test_masses_of_geoms),
      cmocka_unit_test(test_joints_and_remarks),
      cmocka_unit_test(test_planar_robots),
      cmocka_unit_test(test_side_by_side),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_robots),
      cmocka_unit_test(test_long_chain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
