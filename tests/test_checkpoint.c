/* A run that is saved, stopped and taken up again ends bit by bit where an uninterrupted one does. */
#include "scene_runner.h"

#include <unistd.h>

static const char *const file = BINARY_DIR "/test_checkpoint.state";

/* Everything a user can read off a run. */
static void check_identical(const run *a, const run *b) {
  const ss_state *s = ss_sim_state(a->sim), *t = ss_sim_state(b->sim);
  const size_t nq = 7 * sizeof(double) * (size_t)ss_model_bodies(a->model);
  const size_t nv = sizeof(double) * (size_t)ss_model_coordinates(a->model);
  assert_true(s->t == t->t && s->step == t->step && s->n_touch == t->n_touch && s->n_patch == t->n_patch);
  if (s->n_patch) assert_memory_equal(s->patch, t->patch, sizeof(double) * (size_t)s->n_patch);
  assert_memory_equal(s->q, t->q, nq);
  assert_memory_equal(s->v, t->v, nv);
  assert_memory_equal(ss_sim_weighted_velocity(a->sim), ss_sim_weighted_velocity(b->sim), nv);
  const ss_report *r = ss_sim_report(a->sim), *u = ss_sim_report(b->sim);
  assert_memory_equal(&r->energy, &u->energy, sizeof r->energy);
  assert_true(r->certificate.complementarity == u->certificate.complementarity);
  assert_true(r->certificate.energy_created == u->certificate.energy_created);
  assert_memory_equal(r->events, u->events, sizeof r->events);
  assert_true(r->velocity_variation == u->velocity_variation && r->weighted_variation == u->weighted_variation);
}

static void resumes_bit_by_bit(void **state) {
  (void)state;
  const char *const scenes[] = {"double-pendulum-wall", "four-balls",      "falling-rod",     "block-on-incline",
                                "bouncing-ball",        "rolling-ellipse", "table-five-legs", "beam-six-supports",
                                "slider-crank",         "bennett-linkage", "two-carts-spring"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    run whole, first, second;
    ss_error error = {0};
    run_open(&whole, scenes[i], NULL);
    run_open(&first, scenes[i], NULL);
    run_open(&second, scenes[i], NULL);
    for (int k = 0; k < 70; k++) run_step(&first);
    run_require(ss_checkpoint_write(first.sim, file, &error), &error, "write");
    run_require(ss_checkpoint_read(second.sim, file, &error), &error, "read");
    for (int k = 0; k < 110; k++) run_step(&whole);
    for (int k = 0; k < 40; k++) run_step(&second);
    check_identical(&whole, &second);
    run_close(&whole);
    run_close(&first);
    run_close(&second);
  }
  (void)unlink(file);
}

/* A run that was cut short after whole steps goes on as the longer one, also where the end in the file, 0.23, and 23 steps of
 * 0.01 are not the same number. */
static void resumes_after_a_shorter_duration(void **state) {
  (void)state;
  static const char *const scenes[] = {"four-balls", "bouncing-ball", "bvp-compliant-ball"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    for (int k = 21; k < 31; k++) {
      run whole, first, second;
      ss_error error = {0};
      char end[32];
      (void)snprintf(end, sizeof end, "0.%d", k);
      run_open(&whole, scenes[i], &(change){.step = 0.01, .duration = 0.4});
      run_open(&first, scenes[i], &(change){.step = 0.01, .duration = strtod(end, NULL)});
      run_open(&second, scenes[i], &(change){.step = 0.01, .duration = 0.4});
      run_finish(&first);
      run_require(ss_checkpoint_write(first.sim, file, &error), &error, "write");
      run_require(ss_checkpoint_read(second.sim, file, &error), &error, "read");
      run_finish(&whole);
      run_finish(&second);
      check_identical(&whole, &second);
      run_close(&whole);
      run_close(&first);
      run_close(&second);
    }
  (void)unlink(file);
}

/* A run that stopped between two grid points goes on to the next one. */
static void resumes_inside_a_step(void **state) {
  (void)state;
  run first, second;
  ss_error error = {0};
  run_open(&first, "bouncing-ball", &(change){.step = 0.01, .duration = 0.255});
  while (!ss_sim_done(first.sim)) run_step(&first);
  run_require(ss_checkpoint_write(first.sim, file, &error), &error, "write");
  run_open(&second, "bouncing-ball", &(change){.step = 0.01, .duration = 0.4});
  run_require(ss_checkpoint_read(second.sim, file, &error), &error, "read");
  run_step(&second);
  assert_true(fabs(ss_sim_state(second.sim)->t - 0.26) < 1e-15);
  while (!ss_sim_done(second.sim)) run_step(&second);
  assert_true(fabs(ss_sim_motion(second.sim, 0).pose.position.z - (1.1 - 9.81 / 2 * 0.16)) < 1e-13);
  run_close(&first);
  run_close(&second);
  (void)unlink(file);
}

/* An impact at the start of a step asks what the part before it did: of a pendulum that comes to rest at its wall. */
static void resumes_between_bounces(void **state) {
  (void)state;
  const change slow = {.step = 1. / 1024, .duration = 20};
  run whole;
  ss_error error = {0};
  run_open(&whole, "double-pendulum-wall", &slow);
  while (ss_sim_state(whole.sim)->step < 19400) run_step(&whole);
  for (int k = 0; k < 30; k++) { /* the bounces are 28 steps apart */
    run rest;
    run_open(&rest, "double-pendulum-wall", &slow);
    run_require(ss_checkpoint_write(whole.sim, file, &error), &error, "write");
    run_require(ss_checkpoint_read(rest.sim, file, &error), &error, "read");
    run_step(&rest);
    run_step(&whole);
    check_identical(&whole, &rest);
    run_close(&rest);
  }
  run_close(&whole);
  (void)unlink(file);
}

static void refuse(ss_sim *sim, const char *bytes, size_t size, const char *what) {
  FILE *stream = fopen(file, "wb");
  assert_non_null(stream);
  assert_int_equal(fwrite(bytes, 1, size, stream), size);
  assert_int_equal(fclose(stream), 0);
  ss_error error = {0};
  assert_int_equal(ss_checkpoint_read(sim, file, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, what));
}

static void refuses_damage_and_strangers(void **state) {
  (void)state;
  run a, b;
  ss_error error = {0};
  run_open(&a, "double-pendulum-wall", NULL);
  run_open(&b, "single-joint", NULL);
  for (int k = 0; k < 10; k++) run_step(&a);
  run_require(ss_checkpoint_write(a.sim, file, &error), &error, "write");
  static char bytes[65536];
  FILE *stream = fopen(file, "rb");
  assert_non_null(stream);
  const size_t size = fread(bytes, 1, sizeof bytes, stream);
  (void)fclose(stream);
  assert_in_range(size, 100, sizeof bytes - 1);
  assert_int_equal(ss_checkpoint_read(b.sim, file, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "is of another run"));
  for (size_t cut = 0; cut < size; cut += 37) refuse(a.sim, bytes, cut, "damaged");
  for (size_t at = 0; at < size; at += 29) {
    bytes[at] ^= 0x10;
    refuse(a.sim, bytes, size, "damaged");
    bytes[at] ^= 0x10;
  }
  run_close(&a);
  run_close(&b);
  (void)unlink(file);
}

/* ---- what belongs to what ---- */

static const char parts_text[] =
    "parameters: {density: 1000, mu: 0.5, r: 0.1, g: 9.81, x: 0, f: 1, k: 10, l: 1, dt: 0.001, same: 1}\n"
    "gravity: [0, 0, -g]\n"
    "materials: [{name: default, friction: mu}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1]}]}\n"
    "bodies:\n"
    "  - {name: ball, density: density, position: [x, 0, 0.5], shapes: [{type: sphere, radius: r}]}\n"
    "  - {name: bob, mass: 1, position: [3, 0, 2], shapes: [{type: sphere, radius: 0.1}]}\n"
    "joints: [{type: spherical, between: [world, bob], at: [3, 0, 2 + l]}]\n"
    "forces:\n"
    "  - {type: applied, on: ball, force: [f*cos(t), 0, 0]}\n"
    "  - {type: spring, between: [world, ball], anchors: [[0, 0, 3], [0, 0, 0]], stiffness: k, rest_length: 1}\n"
    "simulation: {step: dt, duration: 1}\n";

static ss_status read_with(const char *text, const char *setting, ss_error *error) {
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_sim *sim = NULL;
  const char *const settings[] = {setting};
  run_require(ss_scene_parse(text, strlen(text), "parts", settings, setting != NULL, &scene, error), error, "parse");
  run_require(ss_model_create(scene, &model, error), error, "compile");
  run_require(ss_sim_create(model, &scene->simulation, &sim, error), error, "create");
  const ss_status status =
      access(file, R_OK) ? ss_checkpoint_write(sim, file, error) : ss_checkpoint_read(sim, file, error);
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
  return status;
}

/* A checkpoint of another scene is refused, whatever is different, and the message says what. */
static void says_what_differs(void **state) {
  (void)state;
  static const struct {
    const char *setting, *part;
  } changes[] = {{"density=999", "masses and inertias"},
                 {"mu=0.4", "materials"},
                 {"r=0.11", "geometry"},
                 {"g=9.8", "gravity"},
                 {"x=0.1", "poses"},
                 {"f=2", "forces"},
                 {"k=11", "forces"},
                 {"l=2", "joints"},
                 {"dt=0.002", "scheme, step"},
                 {"same=2", "parameters"}};
  ss_error error = {0};
  (void)unlink(file);
  run_require(read_with(parts_text, NULL, &error), &error, "write");
  run_require(read_with(parts_text, NULL, &error), &error, "read");
  run_require(read_with(parts_text, "mu=0.5", &error), &error, "read with the same value");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    assert_int_equal(read_with(parts_text, changes[i].setting, &error), SS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "another run"));
    if (!strstr(error.message, changes[i].part)) fail_msg("%s: %s", changes[i].setting, error.message);
  }
  char other[sizeof parts_text + 16];
  (void)snprintf(other, sizeof other, "%s# new\n", parts_text);
  assert_int_equal(read_with(other, NULL, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "which differs in the text of the scene"));
  (void)unlink(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(resumes_bit_by_bit),
      cmocka_unit_test(resumes_between_bounces),
      cmocka_unit_test(resumes_after_a_shorter_duration),
      cmocka_unit_test(resumes_inside_a_step),
      cmocka_unit_test(refuses_damage_and_strangers),
      cmocka_unit_test(says_what_differs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
