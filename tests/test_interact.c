/* A hand on a running simulation: ss_sim_pull against the closed form and the ledger; ss_sim_adopt after a change of
 * parameters; snapshots that do not grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <stickslip/stickslip.h>
#include <string.h>

typedef struct run {
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
} run;

static run start(const char *text, const char *setting) {
  run r = {0};
  ss_error error = {0};
  if (ss_scene_parse(text, strlen(text), "test", &setting, setting ? 1 : 0, &r.scene, &error) ||
      ss_model_create(r.scene, &r.model, &error) || ss_sim_create(r.model, NULL, &r.sim, &error))
    fail_msg("%s", error.message);
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

static const char free_body[] = "gravity: [0, 0, 0]\n"
                                "bodies:\n"
                                "  - {name: a, mass: 2, position: [0, 0, 0], inertia: [1, 1, 1, 0, 0, 0],\n"
                                "     shapes: [{type: sphere, radius: 0.1}]}\n"
                                "simulation: {scheme: trapezoidal, step: 2^-12, duration: 10}\n";

/* m x'' = k (1 - x) - d x' from rest, at the centre of mass: x = 1 - e^(-a t) (cos w t + a/w sin w t). */
static void test_pull_is_a_damped_spring(void **state) {
  (void)state;
  run r = start(free_body, NULL);
  const ss_pull pull = {.body = 0, .target = {1, 0, 0}, .stiffness = 8, .damping = 2};
  assert_int_equal(ss_sim_pull(r.sim, &pull, NULL), SS_OK);
  steps(r.sim, 4096);
  const double a = 2 / (2 * 2.0), w = sqrt(8 / 2.0 - a * a), t = 1;
  const double exact = 1 - exp(-a * t) * (cos(w * t) + a / w * sin(w * t));
  const ss_motion motion = ss_sim_motion(r.sim, 0);
  assert_true(fabs(motion.pose.position.x - exact) < 1e-3); /* explicit: first order in h */
  assert_true(fabs(motion.pose.position.y) < 1e-15);
  const ss_energy *e = &ss_sim_report(r.sim)->energy;
  assert_true(e->work > 0.1);
  assert_true(fabs(e->remainder) < 1e-12);
  assert_true(fabs(e->final - e->work) < 1e-12); /* all there is came through the hand */
  stop(&r);
}

/* Off centre it turns the body; letting go leaves momentum as it is. */
static void test_pull_turns_and_lets_go(void **state) {
  (void)state;
  run r = start(free_body, NULL);
  const ss_pull pull = {.body = 0, .point = {0, 0.1, 0}, .target = {1, 0.1, 0}, .stiffness = 8};
  assert_int_equal(ss_sim_pull(r.sim, &pull, NULL), SS_OK);
  steps(r.sim, 100);
  const ss_motion pulled = ss_sim_motion(r.sim, 0);
  assert_true(pulled.angular_velocity.z < 0 && pulled.velocity.x > 0);
  assert_int_equal(ss_sim_pull(r.sim, NULL, NULL), SS_OK);
  const double work = ss_sim_report(r.sim)->energy.work;
  steps(r.sim, 100);
  const ss_motion gone = ss_sim_motion(r.sim, 0);
  assert_true(fabs(gone.velocity.x - pulled.velocity.x) < 1e-14);
  assert_true(fabs(gone.angular_velocity.z - pulled.angular_velocity.z) < 1e-14);
  assert_true(ss_sim_report(r.sim)->energy.work == work);
  stop(&r);
}

static void test_pull_refuses_nonsense(void **state) {
  (void)state;
  run r = start(free_body, NULL);
  const ss_pull wrong[] = {
      {.body = 1}, {.body = -1}, {.target = {NAN, 0, 0}}, {.stiffness = -1}, {.damping = INFINITY}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(ss_sim_pull(r.sim, &wrong[i], NULL), SS_ERROR_INPUT);
  steps(r.sim, 1);
  assert_true(ss_sim_motion(r.sim, 0).velocity.x == 0);
  stop(&r);
}

/* Mistakes at the start: an error that was not looked at, options that were not filled in. */
static void test_starts_refuse_nonsense(void **state) {
  (void)state;
  run r = start(free_body, NULL);
  ss_error error = {0};
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  assert_int_equal(ss_model_create(NULL, &model, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "no scene"));
  assert_int_equal(ss_sim_create(NULL, NULL, &sim, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "no model"));
  const ss_simulation empty = {0};
  assert_int_equal(ss_sim_create(r.model, &empty, &sim, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "ss_model_simulation"));
  assert_true(!model && !sim);
  stop(&r);
}

static const char pendulum[] = "parameters: {L: 1, g: 9.81, r: 0.1}\n"
                               "planar: xy\n"
                               "gravity: [0, -g]\n"
                               "world: {shapes: [{type: half-space, normal: [0, 1, 0], offset: -1.2}]}\n"
                               "bodies:\n"
                               "  - {name: bob, mass: 1, freedom: [x, y], position: [L, 0],\n"
                               "     shapes: [{type: sphere, radius: r}]}\n"
                               "joints: [{type: distance, between: [world, bob], length: L}]\n"
                               "simulation: {scheme: trapezoidal, step: 2^-8, duration: 10}\n";

static void test_adopt_goes_on_where_it_can(void **state) {
  (void)state;
  run old = start(pendulum, NULL), lighter = start(pendulum, "g=1");
  assert_int_equal(old.scene->n_parameters, 3);
  assert_string_equal(lighter.scene->parameters[1].name, "g");
  assert_true(lighter.scene->parameters[1].value == 1);
  steps(old.sim, 50);
  ss_error error = {0};
  if (ss_sim_adopt(lighter.sim, old.sim, &error)) fail_msg("%s", error.message);
  const ss_motion a = ss_sim_motion(old.sim, 0), b = ss_sim_motion(lighter.sim, 0);
  assert_true(ss_sim_state(lighter.sim)->t == ss_sim_state(old.sim)->t);
  assert_true(fabs(a.pose.position.x - b.pose.position.x) < 1e-15 && fabs(a.velocity.y - b.velocity.y) < 1e-15);
  steps(lighter.sim, 50);
  assert_true(ss_sim_report(lighter.sim)->certificate.certified);
  assert_true(fabs(ss_sim_report(lighter.sim)->energy.remainder) < 1e-4);
  stop(&old);
  stop(&lighter);
}

static void test_adopt_refuses_what_would_not_hold(void **state) {
  (void)state;
  run old = start(pendulum, NULL);
  steps(old.sim, 140); /* near the lowest point */
  assert_true(ss_sim_motion(old.sim, 0).pose.position.y < -0.95);
  const struct { const char *setting, *message; } cases[] = {{"L=1.05", "joints would not hold"}, {"r=0.5", "overlap"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run other = start(pendulum, cases[i].setting);
    const double before = ss_sim_motion(other.sim, 0).pose.position.x;
    ss_error error = {0};
    assert_int_equal(ss_sim_adopt(other.sim, old.sim, &error), SS_ERROR_INPUT);
    if (!strstr(error.message, cases[i].message)) fail_msg("%s", error.message);
    assert_true(ss_sim_motion(other.sim, 0).pose.position.x == before);
    assert_true(ss_sim_state(other.sim)->t == 0);
    steps(other.sim, 3);
    stop(&other);
  }
  run body = start(free_body, NULL);
  assert_int_equal(ss_sim_adopt(body.sim, old.sim, NULL), SS_ERROR_INPUT);
  stop(&body);
  stop(&old);
}

/* Contact memory is forgotten as a whole: the patches' too. */
static void test_adopt_forgets_patches(void **state) {
  (void)state;
  static const char ball[] = "parameters: {load: 1e-6}\n"
                             "materials: [{name: default, friction: 0}]\n"
                             "gravity: [0, 0, 0]\n"
                             "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
                             "bodies: [{name: ball, mass: 0.1, freedom: [z], position: [0, 0, 0.01],\n"
                             "          shapes: [{type: sphere, radius: 0.01}]}]\n"
                             "forces: [{type: applied, on: ball, force: [0, 0, -load]}]\n"
                             "compliance: {young: 1e9, poisson: 0.3, elements: 3, spacing: 1e-5}\n"
                             "simulation: {scheme: compliant-theta, step: 1e-5, duration: 1}\n";
  run old = start(ball, NULL), other = start(ball, "load=2e-6");
  steps(old.sim, 5);
  steps(other.sim, 5);
  assert_true(ss_sim_state(other.sim)->n_patch > 0);
  ss_error error = {0};
  if (ss_sim_adopt(other.sim, old.sim, &error)) fail_msg("%s", error.message);
  assert_int_equal(ss_sim_state(other.sim)->n_touch, 0);
  assert_int_equal(ss_sim_state(other.sim)->n_patch, 0);
  steps(other.sim, 5);
  assert_true(ss_sim_report(other.sim)->certificate.certified);
  stop(&old);
  stop(&other);
}

/* The data are those of the present frame alone, each time. */
static void test_snapshots_hold_one_frame(void **state) {
  (void)state;
  run r = start(pendulum, NULL);
  ss_snapshot *snapshot = NULL;
  ss_error error = {0};
  const ss_status status = ss_snapshot_open(r.sim, &snapshot, &error);
  if (status == SS_ERROR_UNSUPPORTED) {
    stop(&r);
    print_message("built without the viewer: %s\n", error.message);
    skip();
  }
  assert_int_equal(status, SS_OK);
  size_t largest = 0;
  for (int i = 0; i < 20; i++) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(ss_snapshot_data(snapshot, stream, &error), SS_OK);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(strstr(text, "\"layout\":\"live\""));
    assert_non_null(strstr(text, "\"frames\":{\"count\":1,"));
    assert_non_null(strstr(text, "\"model\":null"));
    largest = size > largest ? size : largest;
    free(text);
    steps(r.sim, 20);
  }
  assert_true(largest < 4000);
  ss_snapshot_close(snapshot);
  stop(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pull_is_a_damped_spring),    cmocka_unit_test(test_pull_turns_and_lets_go),
      cmocka_unit_test(test_pull_refuses_nonsense),      cmocka_unit_test(test_starts_refuse_nonsense),
      cmocka_unit_test(test_adopt_goes_on_where_it_can), cmocka_unit_test(test_adopt_refuses_what_would_not_hold),
      cmocka_unit_test(test_adopt_forgets_patches),      cmocka_unit_test(test_snapshots_hold_one_frame),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
