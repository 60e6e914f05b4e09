/* What a scene may say about patches beyond stiffness: matrices that are refused, friction per element, deformations at the
 * start (BVP (12)) and at the end (BVP (13)). */
#include "bvp_runner.h"
#include "scene_runner.h"

static void check_refused(const char *text, const char *expected) {
  ss_error error = {0};
  ss_scene *scene = NULL;
  ss_model *model = NULL;
  ss_status status = ss_scene_parse(text, strlen(text), "text", NULL, 0, &scene, &error);
  if (status == SS_OK) status = ss_model_create(scene, &model, &error);
  assert_int_equal(status, SS_ERROR_INPUT);
  if (!strstr(error.message, expected)) fail_msg("'%s' does not contain '%s'", error.message, expected);
  assert_true(error.line > 0);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
}

static const char ground[] =
    "planar: xy\nparameters: {y: 0.1}\nmaterials: [{name: default, friction: 0.3}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 1], offset: 0}]}\n"
    "bodies: [{name: b, mass: 1, freedom: [x, y], position: [0, y], shapes: [{type: sphere, radius: 0.1}]}]\n"
    "simulation: {scheme: compliant-theta, theta: 0, step: 1e-3, duration: 1, friction: {cone: quadratic}}\n";

static char *with(const char *more, char text[2048]) {
  (void)snprintf(text, 2048, "%s%s", ground, more);
  return text;
}

/* BVP condition (D): K is positive definite. hK + C may be so all the same, and the run would fail somewhere. */
static void matrices_are_checked(void **state) {
  (void)state;
  char text[2048];
  check_refused(with("compliance: {stiffness: [[2e4, 3e4], [3e4, 1e4]], damping: [[40, 0], [0, 40]]}\n", text),
                "'stiffness' is not positive definite: its smallest eigenvalue is -15413.8");
  check_refused(with("compliance: {stiffness: [[1, 1], [1, 1]]}\n", text), "not positive definite");
  check_refused(with("compliance: {stiffness: [0, 1e4]}\n", text), "must be positive");
  check_refused(with("compliance: {stiffness: [[2e4, 1], [-1, 1e4]]}\n", text), "must be symmetric");
  check_refused(with("compliance: {stiffness: [1e4, 1e4], damping: [[40, 50], [50, 40]]}\n", text),
                "'damping' is not positive semidefinite: its smallest eigenvalue is -10");
  check_refused(with("compliance: {stiffness: [1e4, 1e4], damping: {rayleigh: [-1, 0]}}\n", text),
                "'rayleigh' must not be negative, but is [-1, 0]");
  check_refused(with("compliance: {stiffness: [1e4, 1e4], friction: [0.1, 0.2]}\n", text), "a list of 1 numbers");
  check_refused(with("compliance: {stiffness: [1e4, 1e4], delta: [0]}\n", text), "'delta' must be 2 numbers");
}

/* Nothing bears a ball on a floor that gives too much: it falls through, and no problem of a step can tell. */
static void what_is_pressed_in_is_told(void **state) {
  (void)state;
  static const struct {
    const char *young;
    bool sound;
  } floors[] = {{"1e6", true}, {"1e5", true}, {"1", false}, {"1e-20", false}};
  for (int i = 0; i < 4; i++) {
    char text[2048], more[128];
    run r;
    (void)snprintf(more, sizeof more, "compliance: {young: %s, spacing: 0.01}\n", floors[i].young);
    run_parse(&r, with(more, text), NULL);
    while (!ss_sim_done(r.sim)) run_step(&r);
    const ss_certificate *c = &ss_sim_report(r.sim)->certificate;
    assert_true(c->certified);
    assert_int_equal(c->sound, floors[i].sound);
    assert_true((c->doubts[SS_DOUBT_PRESSED_IN] > 0.1) == !floors[i].sound);
    assert_true((run_position(&r, 0).y > 0) == floors[i].sound);
    run_close(&r);
  }
}

/* A body on two elements is pulled: each bears half of the weight, its own coefficient limits its friction. */
static void friction_per_element(void **state) {
  (void)state;
  static const char pulled[] =
      "compliance: {stiffness: [1e5, 1e5], damping: [200, 200], elements: 2, spacing: 1e-7, friction: [a, b]}\n"
      "forces: [{type: applied, on: b, force: [5, 0]}]\n";
  static const struct {
    const char *a, *b;
    double mean;
  } cases[] = {{"a=0.2", "b=0.6", 0.4}, {"a=0.45", "b=0", 0.225}, {"a=0", "b=0", 0}, {"a=0.6", "b=0.5", 0.55}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    run r;
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s", ground, pulled);
    char *parameters = strstr(text, "{y: 0.1}");
    char full[2200];
    (void)snprintf(full, sizeof full, "%.*s{y: 0.1, a: 0, b: 0}%s", (int)(parameters - text), text, parameters + 8);
    run_parse(&r, full, &(change){.set = {cases[i].a, cases[i].b}});
    run_finish(&r);
    const double expected = fmax(0, 5 - cases[i].mean * 9.81);
    check_near(run_velocity(&r, 0).x, expected, 2e-3 * 5, cases[i].a);
    run_close(&r);
  }
}

/* What overlaps at t = 0 is pressed in: at the static depth it stays, and energy is counted from there. */
static void begins_pressed_in(void **state) {
  (void)state;
  static const char springs[] = "compliance: {stiffness: [1e4, 5e3], damping: [0.5, 0.5]}\n";
  char text[2048];
  run r;
  run_parse(&r, with(springs, text), &(change){.set = {"y=0.1-9.81e-4"}});
  run_finish(&r);
  check_near(run_position(&r, 0).y, 0.1 - 9.81e-4, 1e-15, "rests");
  check_near(ss_sim_report(r.sim)->energy.initial, 9.81 * (0.1 - 9.81e-4) + 9.81 * 9.81 / 2e4, 1e-14, "energy");
  run_close(&r);

  /* five millimetres: refused for rigid schemes, and where it is no longer small beside the body */
  ss_error error = {0};
  run_parse(&r, with(springs, text), &(change){.set = {"y=0.095"}});
  check_near(ss_sim_report(r.sim)->energy.initial, 9.81 * 0.095, 1e-14, "before the first step");
  run_finish(&r);
  assert_true(ss_sim_report(r.sim)->certificate.energy_created == 0);
  ss_simulation rigid = r.scene->simulation;
  ss_sim *sim = NULL;
  rigid.scheme = "moreau";
  assert_int_equal(ss_sim_create(r.model, &rigid, &sim, &error), SS_ERROR_INPUT);
  run_close(&r);
  static const char deep[] = "compliance: {stiffness: [1e4, 5e3]}\nstart: []\n";
  char *far = with(deep, text);
  memcpy(strstr(far, "{y: 0.1}"), "{y: .05}", 8);
  check_refused(far, "overlap by 0.05");
}

/* Given deformations must leave no overlap, BVP (12). */
static void given_deformations(void **state) {
  (void)state;
  char text[2048];
  run r;
  ss_error error = {0};
  run_parse(&r, with("compliance: {stiffness: [1e4, 5e3], damping: [40, 40], delta: [4e-4, 0]}\n", text),
            &(change){.set = {"y=0.1-9.81e-4"}});
  assert_int_equal(ss_sim_step(r.sim, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "overlap by 0.000581"));
  run_close(&r);
  /* a sheared spring that sticks brings the body to where it is not sheared any more */
  run_parse(&r, with("compliance: {stiffness: [1e4, 5e3], damping: [40, 40], delta: [9.81e-4, 2e-4]}\n", text),
            &(change){.set = {"y=0.1-9.81e-4"}});
  run_finish(&r);
  check_near(run_position(&r, 0).x, 2e-4, 1e-9, "unsheared");
  run_close(&r);
}

/* The velocity for which the shear at the end is as wanted: a linear oscillator y = x - shear, solved by hand. */
static double wanted_velocity(double T) {
  const double shear = 1e-4, wanted = 3e-4, decay = 2, rate = sqrt(400 - decay * decay);
  const double end = -wanted / exp(-decay * T);
  return rate / sin(rate * T) * (end + shear * cos(rate * T)) + decay * shear;
}

static void final_deformations(void **state) {
  (void)state;
  double error[2];
  for (int i = 0; i < 2; i++) {
    ss_scene *scene = load("bvp-pressed-block", NULL, 0);
    ss_bvp_result *result = NULL;
    ss_simulation options = scene->simulation;
    ss_error failure = {0};
    if (i == 1) options.step /= 2, scene->boundary.exact_sensitivities = true;
    run_require(ss_bvp_solve(scene, &options, NULL, 0, &result, &failure), &failure, "bvp");
    assert_true(result->n_solutions > 0);
    error[i] = result->solutions[0].unknown[0] - wanted_velocity(0.3);
    ss_bvp_result_destroy(result);
    ss_scene_destroy(scene);
  }
  assert_true(fabs(error[0]) < 1e-2 * wanted_velocity(0.3));
  check_near(2 * error[1] - error[0], 0, 1e-4 * wanted_velocity(0.3), "extrapolated to h = 0");
}

/* K(q): ground that becomes stiffer lifts what lies on it, by the work (m g)^2 / 2 (1/K0 - 1/K1). */
static void stiffness_of_the_place(void **state) {
  (void)state;
  run r;
  ss_error error = {0};
  run_open(&r, "soft-to-hard-ground", NULL);
  run_finish(&r);
  check_near(run_position(&r, 0).y, 0.1 - 9.81 / 2e4, 1e-6, "depth");
  const double work = 9.81 * 9.81 / 2 * (1e-4 - 0.5e-4);
  check_near(ss_sim_report(r.sim)->energy.work, work, 0.01 * work, "work");
  assert_true(fabs(ss_sim_report(r.sim)->energy.remainder) < 1e-3 * work);
  run_close(&r);
  char text[2048]; /* it must stay positive */
  run_parse(&r, with("compliance: {stiffness: [1e4, 1e4], damping: [40, 40], stiffness_factor: 1 - 20*t}\n", text),
            NULL);
  ss_status status = SS_OK;
  while (status == SS_OK && !ss_sim_done(r.sim)) status = ss_sim_step(r.sim, &error);
  assert_int_equal(status, SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "must be positive"));
  run_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(matrices_are_checked),   cmocka_unit_test(what_is_pressed_in_is_told),
      cmocka_unit_test(friction_per_element),   cmocka_unit_test(begins_pressed_in),
      cmocka_unit_test(given_deformations),     cmocka_unit_test(final_deformations),
      cmocka_unit_test(stiffness_of_the_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
