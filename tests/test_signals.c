/* Inputs and outputs: expressions of the state against recurrences written down here and against the same law driven from
 * outside; forces of motors and contacts against statics; bodies put elsewhere; what is refused, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <stickslip/stickslip.h>
#include <string.h>
#include <unistd.h>

typedef struct run {
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
} run;

static const double pi = 3.14159265358979323846;

#define near(found, expected, tolerance)                                                                               \
  do {                                                                                                                 \
    const double found_ = (found), expected_ = (expected);                                                             \
    if (!(fabs(found_ - expected_) <= (tolerance))) fail_msg("%s is %.17g, not %.17g", #found, found_, expected_);     \
  } while (0)

static run start(const char *text) {
  run r = {0};
  ss_error error = {0};
  if (ss_scene_parse(text, strlen(text), "test", NULL, 0, &r.scene, &error) ||
      ss_model_create(r.scene, &r.model, &error) || ss_sim_create(r.model, NULL, &r.sim, &error))
    fail_msg("%d:%d: %s", error.line, error.column, error.message);
  return r;
}

static void stop(run *r) {
  ss_sim_destroy(r->sim);
  ss_model_destroy(r->model);
  ss_scene_destroy(r->scene);
}

static void steps(ss_sim *sim, int n) {
  ss_error error = {0};
  for (int i = 0; i < n; i++)
    if (ss_sim_step(sim, &error)) fail_msg("%s", error.message);
}

static double output(const run *r, const char *name) {
  double value = 0;
  ss_error error = {0};
  if (ss_sim_output_named(r->sim, name, &value, &error)) fail_msg("%s", error.message);
  return value;
}

#define CART(force, step)                                                                                              \
  "planar: xy\n"                                                                                                       \
  "inputs: {u: 0}\n"                                                                                                   \
  "bodies: [{name: my-cart, mass: 2, freedom: [x], position: [1, 0], velocity: [0.5, 0]}]\n"                           \
  "forces: [{type: applied, on: my-cart, force: [" force ", 0]}]\n"                                                    \
  "outputs: [{name: x, value: my-cart.x}, {name: power, value: my-cart.vx*u}]\n"                                       \
  "simulation: {scheme: stewart-trinkle, step: " step ", duration: 100}\n"

/* v+ = v + h f(x, v)/m, x+ = x + h v+ */
static void state_is_that_of_the_steps_start(void **state) {
  (void)state;
  run r = start(CART("-3*my-cart.x - 0.5*my-cart.vx", "0.25"));
  double x = 1, v = 0.5;
  for (int i = 0; i < 40; i++) {
    v += 0.25 * (-3 * x - 0.5 * v) / 2;
    x += 0.25 * v;
    steps(r.sim, 1);
    near(ss_sim_state(r.sim)->q[0], x, 1e-13);
    near(output(&r, "x"), x, 1e-13);
  }
  stop(&r);
}

/* An arm that a servo turns against a wall; the same law as an expression and from outside, collisions and all. */
#define ARM(torque)                                                                                                    \
  "planar: xy\n"                                                                                                       \
  "inputs: {u: 0, target: 2}\n"                                                                                        \
  "materials: [{name: default, friction: 0.3, restitution: 0.5}]\n"                                                    \
  "world: {shapes: [{type: half-space, normal: [1, 0], offset: -0.3}]}\n"                                              \
  "bodies: [{name: arm, mass: 1, position: [0.5, 0], shapes: [{type: capsule, radius: 0.05, length: 0.9, axis: "       \
  "x}]}]\n"                                                                                                            \
  "joints: [{name: elbow, type: revolute, between: [world, arm], at: [0, 0]}]\n"                                       \
  "forces: [{type: applied, on: arm, torque: " torque "}]\n"                                                           \
  "outputs: [{name: angle, value: elbow.position}]\n"                                                                  \
  "simulation: {scheme: trapezoidal, step: 0.01, duration: 10}\n"

static void servo_inside_and_outside(void **state) {
  (void)state;
  run inside = start(ARM("40*(target*sin(3*t) - elbow.position) - 4*elbow.speed + 5*cos(arm.x)"));
  run outside = start(ARM("u"));
  for (int i = 0; i < 1000; i++) {
    const double x = ss_sim_motion(outside.sim, 0).pose.position.x, t = ss_sim_state(outside.sim)->t;
    const double u = 40 * (2 * sin(3 * t) - ss_sim_joint_position(outside.sim, 0)) -
                     4 * ss_sim_joint_speed(outside.sim, 0) + 5 * cos(x);
    assert_int_equal(ss_sim_set_input(outside.sim, 0, u, NULL), SS_OK);
    steps(inside.sim, 1);
    steps(outside.sim, 1);
    for (int k = 0; k < 7; k++) assert_true(ss_sim_state(inside.sim)->q[k] == ss_sim_state(outside.sim)->q[k]);
  }
  assert_true(ss_sim_report(inside.sim)->events[SS_COLLISION] > 0);
  stop(&inside);
  stop(&outside);
}

/* A rod upright on a cart: unstable without feedback. */
static void inverted_pendulum(void **state) {
  (void)state;
  static const char text[] =
      "planar: xy\n"
      "inputs: {push: 0}\n"
      "bodies:\n"
      "  - {name: cart, mass: 1, freedom: [x], position: [0, 0]}\n"
      "  - {name: rod, mass: 0.1, inertia: 0.00833, position: [0.5*sin(0.04), 0.5*cos(0.04)], orientation: -0.04}\n"
      "joints: [{name: pin, type: revolute, between: [cart, rod], anchors: [[0, 0], [0, -0.5]]}]\n"
      "forces: [{type: applied, on: cart, force: [push, 0]}]\n"
      "simulation: {scheme: trapezoidal, step: 0.005, duration: 10}\n";
  run held = start(text), fallen = start(text);
  double worst = 0;
  while (!ss_sim_done(held.sim)) {
    const ss_motion cart = ss_sim_motion(held.sim, 0);
    const double lean = -(ss_sim_joint_position(held.sim, 0) - 0.04), rate = -ss_sim_joint_speed(held.sim, 0);
    const double push = 40 * lean + 8 * rate + 2 * cart.pose.position.x + 3 * cart.velocity.x;
    assert_int_equal(ss_sim_set_input_named(held.sim, "push", push, NULL), SS_OK);
    steps(held.sim, 1);
    steps(fallen.sim, 1);
    worst = fmax(worst, fabs(lean));
  }
  assert_true(worst < 0.2);
  assert_true(fabs(ss_sim_joint_speed(held.sim, 0)) < 1e-3);
  assert_true(fabs(ss_sim_motion(fallen.sim, 1).pose.position.y) < 0.49 ||
              ss_sim_motion(fallen.sim, 1).pose.position.y < 0);
  stop(&held);
  stop(&fallen);
}

/* A weight on a motor that holds it; a box at rest on an incline of 20 degrees; a motor that turns on and on. */
static void forces_at_rest(void **state) {
  (void)state;
  run lift = start(
      "planar: xy\n"
      "inputs: {most: 30}\n"
      "bodies: [{name: load, mass: 2, freedom: [y], position: [0, 1]}]\n"
      "joints: [{name: rail, type: prismatic, between: [world, load], axis: [0, 1], motor: {speed: 0, force: most}}]\n"
      "outputs: [{name: f, value: rail.force}, {name: y, value: rail.position}, {name: v, value: rail.speed}]\n"
      "simulation: {scheme: stewart-trinkle, step: 0.01, duration: 10}\n");
  assert_true(output(&lift, "f") == 0); /* nothing has happened yet */
  steps(lift.sim, 10);
  near(output(&lift, "f"), 2 * 9.81, 1e-10);
  near(output(&lift, "y"), 0, 1e-12);
  assert_int_equal(ss_sim_set_input_named(lift.sim, "most", 10, NULL), SS_OK); /* too weak: it falls */
  steps(lift.sim, 10);
  near(output(&lift, "f"), 10, 1e-10);
  near(output(&lift, "v"), -(9.81 - 5) * 0.1, 1e-10);
  assert_int_equal(ss_sim_set_input_named(lift.sim, "most", -1, NULL), SS_OK);
  stop(&lift);

  run incline =
      start("planar: xy\n"
            "gravity: [9.81*sin(20 deg), -9.81*cos(20 deg), 0]\n"
            "materials: [{name: default, friction: 0.8}]\n"
            "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
            "bodies: [{name: box, mass: 3, position: [0, 0.1], shapes: [{type: box, size: [0.4, 0.2, 0.2]}]}]\n"
            "outputs: [{name: n, value: \"contact(world, box).normal\"}, {name: s, value: \"contact( box, world "
            ").tangent\"}]\n"
            "simulation: {scheme: stewart-trinkle, step: 0.01, duration: 1}\n");
  steps(incline.sim, 20);
  near(output(&incline, "n"), 3 * 9.81 * cos(pi / 9), 1e-8);
  near(output(&incline, "s"), 3 * 9.81 * sin(pi / 9), 1e-8);
  stop(&incline);

  run wheel = start(
      "planar: xy\n"
      "bodies: [{name: wheel, mass: 1, inertia: 1, position: [0, 0]}]\n"
      "joints: [{name: axle, type: revolute, between: [world, wheel], at: [0, 0], motor: {speed: 4, torque: 1e3}}]\n"
      "outputs: [{name: turn, value: axle.position}]\n"
      "simulation: {scheme: stewart-trinkle, step: 0.1, duration: 10}\n");
  steps(wheel.sim, 100);
  near(output(&wheel, "turn"), 4 * 10, 1e-9);
  ss_joint_report report;
  assert_int_equal(ss_sim_joints(wheel.sim, &report, 1, NULL), SS_OK);
  near(report.reaction.y, -9.81, 1e-9); /* on the world: the weight */
  near(report.speed, 4, 1e-12);
  stop(&wheel);
}

static void forces_of_one_step(void **state) {
  (void)state;
  run r = start("gravity: [0, 0, 0]\n"
                "bodies: [{name: a, mass: 2, inertia: [1, 2, 3], center_of_mass: [0.5, 0, 0]}, {name: b, mass: 1, "
                "inertia: [1, 1, 1], position: [3, 0, 0]}]\n"
                "simulation: {scheme: stewart-trinkle, step: 0.1, duration: 10}\n");
  const ss_vec3 none = {0, 0, 0};
  assert_int_equal(ss_sim_apply(r.sim, 0, (ss_vec3){0, 4, 0}, none, NULL), SS_OK);
  assert_int_equal(ss_sim_apply(r.sim, 1, (ss_vec3){1, 0, 0}, (ss_vec3){0, 0, 3}, NULL), SS_OK);
  assert_int_equal(ss_sim_apply(r.sim, 1, (ss_vec3){1, 0, 0}, none, NULL), SS_OK); /* they add up */
  steps(r.sim, 1);
  const double *v = ss_sim_state(r.sim)->v;
  near(v[1], 0.2, 1e-12);                /* of the centre of mass */
  near(v[5], -0.5 * 4 * 0.1 / 3, 1e-12); /* the force acts at the frame's origin */
  near(v[6], 0.2, 1e-12);
  near(v[11], 0.3, 1e-12);
  const double spin = v[11];
  steps(r.sim, 5);
  near(ss_sim_state(r.sim)->v[11], spin, 1e-12); /* one step only */
  near(ss_sim_report(r.sim)->energy.remainder, 0, 1e-3);
  assert_int_equal(ss_sim_apply(r.sim, 2, none, none, NULL), SS_ERROR_INPUT);
  assert_int_equal(ss_sim_apply(r.sim, 0, (ss_vec3){NAN, 0, 0}, none, NULL), SS_ERROR_INPUT);
  stop(&r);
}

static void bodies_put_elsewhere(void **state) {
  (void)state;
  run r = start("planar: xy\n"
                "world: {shapes: [{type: half-space, normal: [0, 1], offset: -2}]}\n"
                "bodies:\n"
                "  - {name: bob, mass: 1, inertia: 0.1, position: [1, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
                "  - {name: ball, mass: 2, position: [3, 0], shapes: [{type: sphere, radius: 0.1}]}\n"
                "joints: [{name: pin, type: revolute, between: [world, bob], at: [0, 0]}]\n"
                "simulation: {scheme: stewart-trinkle, step: 0.01, duration: 10}\n");
  steps(r.sim, 50);
  const int bob = 0, ball = 1, both[2] = {0, 1};
  ss_motion m = ss_sim_motion(r.sim, ball), was = m;
  m.pose.position = (ss_vec3){2, 5, 0};
  m.velocity = (ss_vec3){1, 0, 0};
  const double t = ss_sim_state(r.sim)->t;
  assert_int_equal(ss_sim_place(r.sim, 1, &ball, &m, NULL), SS_OK);
  assert_true(ss_sim_motion(r.sim, ball).pose.position.y == 5 && ss_sim_state(r.sim)->t == t);
  const ss_energy *e = &ss_sim_report(r.sim)->energy; /* the hand's work is booked */
  near(e->final, e->initial + e->work - e->friction_loss - e->impact_loss + e->stabilization + e->remainder, 1e-9);
  near(e->work, 2 * 9.81 * (5 - was.pose.position.y) + 1 - was.velocity.y * was.velocity.y, 1e-9);
  ss_error error = {0};
  const struct {
    int body;
    ss_vec3 position, velocity;
    const char *says;
  } bad[] = {{bob, {1, 1, 0}, {0, 0, 0}, "joints would not hold"},
             {ball, {2, -2.05, 0}, {0, 0, 0}, "overlap"},
             {ball, {2, 5, 1}, {0, 0, 0}, "cannot move along z"},
             {ball, {2, 5, 0}, {0, 0, 1}, "cannot have this velocity"},
             {ball, {NAN, 5, 0}, {0, 0, 0}, "finite"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    double before[14];
    memcpy(before, ss_sim_state(r.sim)->q, sizeof before);
    ss_motion motion = {{bad[i].position, {1, 0, 0, 0}}, bad[i].velocity, {0, 0, 0}};
    assert_int_equal(ss_sim_place(r.sim, 1, &bad[i].body, &motion, &error), SS_ERROR_INPUT);
    if (!strstr(error.message, bad[i].says)) fail_msg("%s", error.message);
    assert_memory_equal(before, ss_sim_state(r.sim)->q, sizeof before);
  }
  /* The pendulum turned by a quarter, where its joint holds; both at once. */
  const ss_motion moved[2] = {{{{0, 1, 0}, {sqrt(0.5), 0, 0, sqrt(0.5)}}, {0, 0, 0}, {0, 0, 0}},
                              {{{2, 3, 0}, {1, 0, 0, 0}}, {0, 0, 0}, {0, 0, 0}}};
  if (ss_sim_place(r.sim, 2, both, moved, &error)) fail_msg("%s", error.message);
  near(ss_sim_joint_position(r.sim, 0), pi / 2, 1e-9);
  steps(r.sim, 10);
  stop(&r);
}

/* A saved run goes on with its inputs. */
static void checkpoints_contain_inputs(void **state) {
  (void)state;
  char path[] = "/tmp/stickslip-signals-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  (void)close(file);
  run a = start(CART("u*my-cart.x", "0.1")), b = start(CART("u*my-cart.x", "0.1"));
  assert_int_equal(ss_sim_set_input_named(a.sim, "u", -2.5, NULL), SS_OK);
  steps(a.sim, 7);
  assert_int_equal(ss_sim_apply(a.sim, 0, (ss_vec3){5, 0, 0}, (ss_vec3){0, 0, 0}, NULL), SS_OK);
  assert_int_equal(ss_checkpoint_write(a.sim, path, NULL), SS_OK);
  assert_int_equal(ss_checkpoint_read(b.sim, path, NULL), SS_OK);
  assert_true(ss_sim_input(b.sim, 0) == -2.5);
  steps(a.sim, 20);
  steps(b.sim, 20);
  assert_memory_equal(ss_sim_state(a.sim)->q, ss_sim_state(b.sim)->q, 7 * sizeof(double));
  assert_true(output(&a, "power") == output(&b, "power"));
  (void)unlink(path);
  void *bytes = NULL; /* in memory */
  size_t size = 0;
  assert_int_equal(ss_checkpoint_save(a.sim, &bytes, &size, NULL), SS_OK);
  steps(a.sim, 9);
  assert_int_equal(ss_checkpoint_load(b.sim, bytes, size, NULL), SS_OK);
  steps(b.sim, 9);
  assert_memory_equal(ss_sim_state(a.sim)->q, ss_sim_state(b.sim)->q, 7 * sizeof(double));
  ((char *)bytes)[size / 2] ^= 1;
  assert_int_equal(ss_checkpoint_load(b.sim, bytes, size, NULL), SS_ERROR_INPUT);
  ss_checkpoint_free(bytes);
  stop(&a);
  stop(&b);
}

static void options_by_text(void **state) {
  (void)state;
  ss_simulation o = ss_simulation_default();
  ss_error error = {0};
  static const char good[] = "{\"step\": 2^-3, \"friction\": {\"cone\": \"quadratic\"}, \"solver\": \"auto\"}";
  assert_int_equal(ss_simulation_override(&o, good, strlen(good), &error), SS_OK);
  assert_true(o.step == 0.125 && o.cone == SS_CONE_QUADRATIC);
  static const char *const bad[] = {"{steps: 1}",     "{step: -1}", "[1]", "{step: 1, tolerance: 1}",
                                    "{scheme: eulr}", "{"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const ss_simulation before = o;
    assert_int_equal(ss_simulation_override(&o, bad[i], strlen(bad[i]), &error), SS_ERROR_INPUT);
    assert_memory_equal(&o, &before, sizeof o);
  }
}

static void not_finite_is_refused(void **state) {
  (void)state;
  run r = start(CART("'if(my-cart.x > 1.2, log(-1), 1)'", "0.1"));
  ss_error error = {0};
  ss_status status = SS_OK;
  while (!status && !ss_sim_done(r.sim)) status = ss_sim_step(r.sim, &error);
  assert_int_equal(status, SS_ERROR_CALLBACK);
  assert_non_null(strstr(error.message, "the force on 'my-cart' is not finite"));
  assert_true(ss_sim_state(r.sim)->q[0] > 1.2 && isfinite(ss_sim_state(r.sim)->v[0]));
  assert_int_equal(ss_sim_set_input(r.sim, 0, INFINITY, NULL), SS_ERROR_INPUT);
  assert_int_equal(ss_sim_set_input_named(r.sim, "v", 0, &error), SS_ERROR_INPUT);
  assert_true(isnan(ss_sim_output(r.sim, 7)));
  stop(&r);
}

/* Rates of growth and limits of steps for one spring and damper, in closed form. */
static void feedback_and_the_step(void **state) {
  (void)state;
  ss_feedback f;
  run r = start(CART("-8*my-cart.x", "0.1")); /* k/m = 4: h < 2/omega = 1 */
  assert_int_equal(ss_sim_feedback(r.sim, &f, NULL), SS_OK);
  near(f.step, 1, 1e-6);
  stop(&r);
  r = start(CART("-8*my-cart.x - 3*my-cart.vx", "0.1")); /* 4 h^2 + 3 h = 4 */
  assert_int_equal(ss_sim_feedback(r.sim, &f, NULL), SS_OK);
  near(f.step, (-3 + sqrt(73)) / 8, 1e-6);
  stop(&r);
  r = start(ARM("-10*elbow.position - 0.02*elbow.speed")); /* about the pin: with the joint */
  assert_int_equal(ss_sim_feedback(r.sim, &f, NULL), SS_OK);
  const double before = ss_sim_joint_speed(r.sim, 0);
  assert_int_equal(ss_sim_apply(r.sim, 0, (ss_vec3){0, 9.81, 0}, (ss_vec3){0, 0, 1}, NULL), SS_OK);
  steps(r.sim, 1); /* a unit torque for a step tells the inertia about the pin */
  const double per_torque = (ss_sim_joint_speed(r.sim, 0) - before) / 0.01;
  near(f.growth, (0.5 * 0.01 * 10 - 0.02) * per_torque, 1e-3 * per_torque);
  stop(&r);
  r = start(CART("5*cos(t)", "0.1"));
  assert_int_equal(ss_sim_feedback(r.sim, &f, NULL), SS_OK);
  assert_true(isinf(f.step) && f.growth < 0);
  stop(&r);
}

/* ---- in C ---- */

static void scenes_in_c(void **state) {
  (void)state;
  ss_scene *scene = NULL;
  ss_error error = {0};
  assert_int_equal(ss_scene_create(&scene, &error), SS_OK);
  scene->gravity = (ss_vec3){0, 0, 0};
  scene->simulation.step = 0.1;
  scene->simulation.scheme = "stewart-trinkle";
  ss_body_def body = ss_body_default("a");
  body.mass = 1;
  body.has_inertia = true;
  for (int i = 0; i < 3; i++) body.inertia[i] = 1;
  assert_int_equal(ss_scene_add_body(scene, &body, &error), SS_OK);
  assert_int_equal(ss_scene_add_input(scene, "push", 2, &error), SS_OK);
  assert_int_equal(ss_scene_add_input(scene, "push", 2, &error), SS_ERROR_INPUT);
  assert_int_equal(ss_scene_add_input(scene, "sin", 2, &error), SS_ERROR_INPUT);
  ss_force_def force = ss_force_default(SS_FORCE_APPLIED);
  force.body[0] = 0;
  assert_int_equal(ss_scene_expression(scene, "push - a.vx", &force.force[0], &error), SS_OK);
  assert_int_equal(ss_scene_add_force(scene, &force, &error), SS_OK);
  assert_int_equal(ss_scene_add_output(scene, "twice", "2*a.x", &error), SS_OK);
  assert_int_equal(ss_scene_add_output(scene, "twice", "a.x", &error), SS_ERROR_INPUT);
  assert_int_equal(ss_scene_add_output(scene, "b", "b.x", &error), SS_ERROR_INPUT);
  run r = {.scene = scene};
  assert_int_equal(ss_scene_write(scene, stdout, &error), SS_ERROR_UNSUPPORTED); /* forces are written by hand */
  scene->n_forces = 0;
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_int_equal(ss_scene_write(scene, stream, &error), SS_OK);
  assert_int_equal(fclose(stream), 0);
  ss_scene *again = NULL;
  if (ss_scene_parse(text, size, "written", NULL, 0, &again, &error)) fail_msg("%s\n%s", error.message, text);
  assert_true(again->n_inputs == 1 && again->inputs[0].value == 2 && again->n_outputs == 1);
  assert_string_equal(again->outputs[0].text, "2*a.x");
  ss_scene_destroy(again);
  free(text);
  scene->n_forces = 1;
  assert_int_equal(ss_model_create(scene, &r.model, &error), SS_OK);
  assert_int_equal(ss_sim_create(r.model, NULL, &r.sim, &error), SS_OK);
  steps(r.sim, 2);
  near(output(&r, "twice"), 2 * (0.1 * 0.2 + 0.1 * (0.2 + 0.1 * 1.8)), 1e-12);
  stop(&r);
}

/* ---- what is refused, and where ---- */

static void refusals(void **state) {
  (void)state;
  static const struct {
    const char *inputs, *force, *outputs;
    int line;
    const char *says;
  } cases[] = {
      {"{u: 0}", "a.q", "[]", 4, "the body 'a' has no 'q'"},
      {"{u: 0}", "aa.x", "[]", 4, "no body or joint is named 'aa'"},
      {"{u: 0}", "hinge.speet", "[]", 4, "the joint 'hinge' has no 'speet'"},
      {"{u: 0}", "hinge.force", "[]", 4, "only be used in outputs"},
      {"{u: 0}", "'contact(a, world).normal'", "[]", 4, "only be used in outputs"},
      {"{u: 0}", "v", "[]", 4, "unknown name 'v'"},
      {"{u: 0}", "ball.position", "[]", 4, "revolute, prismatic"},
      {"{u: 0}", "u", "[{name: o, value: hinge.force}]", 5, "has no motor"},
      {"{u: 0}", "u", "[{name: o, value: 'contact(a, c).normal'}]", 5, "no body is named 'c'"},
      {"{u: 0}", "u", "[{name: o, value: 'contact(a, world).up'}]", 5, ".normal or .tangent"},
      {"{u: 0}", "u", "[{name: o, value: u}, {name: o, value: u}]", 5, "defined twice"},
      {"{u: 0}", "u", "[{name: o}]", 5, "value"},
      {"{u: 0}", "u", "[{name: t, value: u}]", 5, "results have a column of that name"},
      {"{u: 0}", "u", "[{name: a.x, value: u}]", 5, "results have a column of that name"},
      {"{u: 0}", "u", "[{name: hinge.speed, value: u}]", 5, "results have a column of that name"},
      {"{u: 0}", "u", "[{name: energy.total, value: u}]", 5, "results have a column of that name"},
      {"{u: 0}", "a", "[]", 4, "'a' is a body: write a.x"},
      {"{u: 0}", "2*hinge", "[]", 4, "'hinge' is a joint: write hinge.position"},
      {"{u: a.x}", "u", "[]", 1, "'a.x' is part of the state"},
      {"{u: t}", "u", "[]", 1, "'t' (time)"},
      {"{t: 1}", "1", "[]", 1, "has a meaning"},
      {"{k: 1}", "1", "[]", 1, "is the name of a parameter"},
      {"{u: .inf}", "1", "[]", 1, ""},
      {"[1]", "1", "[]", 1, "mapping"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1200];
    (void)snprintf(text, sizeof text,
                   "inputs: %s\n"
                   "parameters: {k: 2}\n"
                   "bodies: [{name: a, mass: 1, inertia: [1, 1, 1]}, {name: b, mass: 1, inertia: [1, 1, 1], position: "
                   "[1, 0, 0]}]\n"
                   "forces: [{type: applied, on: a, force: [%s, 0, 0]}]\n"
                   "outputs: %s\n"
                   "joints: [{name: hinge, type: revolute, between: [world, a], at: [0, 0, 0], axis: z}, {name: ball, "
                   "type: spherical, between: [world, b], at: [1, 0, 0]}]\n"
                   "simulation: {scheme: stewart-trinkle, step: 0.1, duration: 1}\n",
                   cases[i].inputs, cases[i].force, cases[i].outputs);
    ss_scene *scene = NULL;
    ss_model *model = NULL;
    ss_error error = {0};
    ss_status status = ss_scene_parse(text, strlen(text), "test", NULL, 0, &scene, &error);
    if (!status) status = ss_model_create(scene, &model, &error);
    if (status != SS_ERROR_INPUT || error.line != cases[i].line || !strstr(error.message, cases[i].says))
      fail_msg("case %zu: %d at line %d: %s", i, (int)status, error.line, error.message);
    ss_scene_destroy(scene);
  }
  /* An input where a constant is wanted. */
  static const char text[] =
      "inputs: {m: 1}\nbodies: [{name: a, mass: m}]\nsimulation: {scheme: stewart-trinkle, step: 1, duration: 1}\n";
  ss_scene *scene = NULL;
  ss_error error = {0};
  assert_int_equal(ss_scene_parse(text, strlen(text), "test", NULL, 0, &scene, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "'m' is an input"));
  assert_int_equal(error.column, 26);
}

/* What is asked by a number that nothing has, and options that nobody could have meant. */
static void numbers_that_nothing_has(void **state) {
  (void)state;
  run r = start(ARM("u"));
  const ss_model *model = ss_sim_model(r.sim);
  static const int none[] = {-3, 1 << 20, INT_MAX, INT_MIN};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
    const int k = none[i];
    assert_null(ss_model_joint_name(model, k));
    assert_null(ss_model_input_name(model, k));
    assert_null(ss_model_output_name(model, k));
    assert_null(ss_model_joint_row_name(model, k));
    assert_null(ss_event_name((ss_event_kind)k));
    assert_null(ss_stage_name((ss_stage)k));
    assert_true(isnan(ss_model_input_default(model, k)) && isnan(ss_model_body_mass(model, k)));
    assert_true(!ss_model_joint_has_motor(model, k) && !ss_model_joint_has_position(model, k));
    assert_true(isnan(ss_sim_input(r.sim, k)) && isnan(ss_sim_output(r.sim, k)));
    assert_true(isnan(ss_sim_joint_position(r.sim, k)) && isnan(ss_sim_joint_force(r.sim, k)));
    assert_int_equal(ss_sim_set_input(r.sim, k, 1, NULL), SS_ERROR_INPUT);
    assert_int_equal(ss_sim_apply(r.sim, k, (ss_vec3){1, 0, 0}, (ss_vec3){0}, NULL), SS_ERROR_INPUT);
    if (k > 0) assert_null(ss_model_body_name(model, k));
  }
  const ss_observer nobody = {0};
  ss_error error = {0};
  assert_int_equal(ss_sim_observe(r.sim, &nobody, &error), SS_OK);
  assert_int_equal(ss_sim_step(r.sim, &error), SS_OK); /* functions that are NULL are not called */
  ss_simulation options = *ss_model_simulation(model);
  options.solver = "none";
  ss_sim *other = NULL;
  assert_int_equal(ss_sim_create(model, &options, &other, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "no solver is named 'none'"));
  stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_that_nothing_has),
      cmocka_unit_test(state_is_that_of_the_steps_start),
      cmocka_unit_test(servo_inside_and_outside),
      cmocka_unit_test(inverted_pendulum),
      cmocka_unit_test(forces_at_rest),
      cmocka_unit_test(forces_of_one_step),
      cmocka_unit_test(bodies_put_elsewhere),
      cmocka_unit_test(checkpoints_contain_inputs),
      cmocka_unit_test(options_by_text),
      cmocka_unit_test(not_finite_is_refused),
      cmocka_unit_test(feedback_and_the_step),
      cmocka_unit_test(scenes_in_c),
      cmocka_unit_test(refusals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
