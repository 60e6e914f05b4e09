/* Studies: sampling against the properties that define it, minimisation against known minima, and every key of the study
 * file through the command line. */
#include "cli_runner.h"

#include "study/sampling.h"
#include "study/study.h"

#include <math.h>

/* ---- sampling ---- */

/* Latin hypercube: every stratum once in every dimension. Sobol: the same for powers of two, and in the first two dimensions
 * every elementary rectangle of area 2^-m has one of 2^m points. */
static void test_samples_are_stratified(void **state) {
  (void)state;
  for (int n = 1; n <= 1000; n += 37)
    for (int d = 0; d < 3; d++) {
      bool seen[1000] = {false};
      for (int k = 0; k < n; k++) {
        const double x = ss_sampling_coordinate(SS_SAMPLE_LATIN, 5, k, n, d);
        assert_true(x >= 0 && x < 1);
        const int stratum = (int)(x * n);
        assert_false(seen[stratum]);
        seen[stratum] = true;
      }
    }
  for (int d = 0; d < SS_SOBOL_DIMENSIONS; d++) {
    bool seen[256] = {false};
    for (int k = 0; k < 256; k++) {
      const int stratum = (int)(256 * ss_sampling_coordinate(SS_SAMPLE_SOBOL, 9, k, 256, d));
      assert_false(seen[stratum]);
      seen[stratum] = true;
    }
  }
  for (int a = 0; a <= 8; a++) {
    bool seen[256] = {false};
    for (int k = 0; k < 256; k++) {
      const int i = (int)((1 << a) * ss_sampling_coordinate(SS_SAMPLE_SOBOL, 3, k, 256, 0));
      const int j = (int)((256 >> a) * ss_sampling_coordinate(SS_SAMPLE_SOBOL, 3, k, 256, 1));
      assert_false(seen[i * (256 >> a) + j]);
      seen[i * (256 >> a) + j] = true;
    }
  }
}

/* The integral of prod (1 + (x_d - 1/2)) over 21 dimensions is 1: Sobol points are nearer to it than random ones. */
static void test_sobol_integrates_better(void **state) {
  (void)state;
  double error[2] = {0, 0};
  for (int seed = 0; seed < 10; seed++)
    for (int how = 0; how < 2; how++) {
      double sum = 0;
      for (int k = 0; k < 1024; k++) {
        double product = 1;
        for (int d = 0; d < SS_SOBOL_DIMENSIONS; d++)
          product *= 0.5 + ss_sampling_coordinate(how ? SS_SAMPLE_SOBOL : SS_SAMPLE_RANDOM, (uint64_t)seed, k, 1024, d);
        sum += product / 1024;
      }
      error[how] += (sum - 1) * (sum - 1);
    }
  assert_true(error[1] < error[0] / 4);
}

static void test_normal_distribution(void **state) {
  (void)state;
  assert_true(fabs(ss_normal_quantile(0.975) - 1.959963984540054) < 1e-14);
  assert_true(fabs(ss_normal_quantile(1e-10) + 6.361340902404056) < 1e-12);
  for (double p = 1e-6; p < 1; p += 0.0173) {
    assert_true(fabs(ss_normal_distribution(ss_normal_quantile(p)) - p) < 1e-15 + 1e-14 * p);
    assert_true(fabs(ss_normal_quantile(p) + ss_normal_quantile(1 - p)) < 1e-9);
  }
  double mean = 0, square = 0;
  enum { N = 20000 };
  for (int i = 0; i < N; i++) {
    const double z = ss_sampling_normal(1, (uint64_t)i, 0);
    mean += z / N;
    square += z * z / N;
  }
  assert_true(fabs(mean) < 4 / sqrt(N));
  assert_true(fabs(square - 1) < 4 * sqrt(2. / N));
}

/* ---- minimisation ---- */

static bool rosenbrock(void *user, const double *x, double *value) {
  ++*(int *)user;
  *value = 100 * (x[1] - x[0] * x[0]) * (x[1] - x[0] * x[0]) + (1 - x[0]) * (1 - x[0]);
  return true;
}

static bool edge(void *user, const double *x, double *value) {
  (void)user;
  *value = x[0] < 0.2 ? (double)INFINITY : fabs(x[0] - 1) + fabs(x[1] + 3) + 0.1 * (x[2] - 0.5) * (x[2] - 0.5);
  return true;
}

static void test_minima_are_found(void **state) {
  (void)state;
  int calls = 0;
  double x[3] = {-1.2, 1, 0};
  const double low[3] = {-2, -2, 0}, high[3] = {2, 3, 1};
  ss_minimum m = {.x = x};
  assert_true(ss_nelder_mead(2, low, high, 1e-8, 2000, rosenbrock, &calls, &m));
  assert_true(fabs(x[0] - 1) < 1e-5 && fabs(x[1] - 1) < 1e-5 && m.evaluations == calls && calls < 2000);
  /* A kink, a wall of failures, a minimum beyond the box. */
  x[0] = 0;
  x[1] = 1;
  assert_true(ss_nelder_mead(3, low, high, 1e-7, 3000, edge, NULL, &m));
  assert_true(fabs(x[0] - 1) < 1e-4 && x[1] == -2 && fabs(x[2] - 0.5) < 1e-2);
}

/* ---- the study file ---- */

static const char ball[] = "parameters: {v: 2, a: 1, w: 0, g: 10, m: 1}\n"
                           "planar: xy\n"
                           "gravity: [0, -g]\n"
                           "bodies:\n"
                           "  - {name: ball, mass: m, freedom: [x, y], velocity: [v*cos(a), v*sin(a)],\n"
                           "     shapes: [{type: sphere, radius: 0.1}]}\n"
                           "simulation: {scheme: trapezoidal, step: 0.01, duration: 0.5}\n";

static void test_samples_of_a_study(void **state) {
  (void)state;
  write_text("ball.yaml", ball);
  write_text("heavy.yaml", "parameters: {v: 1, a: 0, g: 1}\n"
                           "planar: xy\n"
                           "gravity: [0, -g]\n"
                           "bodies: [{name: other, mass: 1, freedom: [x, y], position: [1, 1]},\n"
                           "         {name: ball, mass: 2, freedom: [x, y], velocity: [v, 0]}]\n"
                           "simulation: {scheme: trapezoidal, step: 0.01, duration: 0.5}\n");
  write_text("normal.yaml",
             "scene: [ball.yaml, heavy.yaml]\n"
             "vary: {v: {mean: 3, deviation: 0.5, from: 2.5}, a: {mean: 1, deviation: 0.1, scale: log}}\n"
             "depend: {g: 2*v + a}\n"
             "scheme: [moreau, trapezoidal]\n"
             "sample: {latin: 50, seed: 4, each: scheme}\n"
             "observe: [start(ball.vx), {name: fall, value: \"ball.vy - start(ball.vy) + 0.5*g\"}, g, cost.steps]\n");
  json_t *root = expect_json("sweep normal.yaml --json", 0, NULL);
  const json_t *runs = json_object_get(root, "runs");
  assert_int_equal(json_array_size(runs), 200);
  double mean = 0;
  for (size_t i = 0; i < 200; i++) {
    const json_t *run = json_array_get(runs, i), *p = json_object_get(run, "point"),
                 *o = json_object_get(run, "observed");
    const double v = number(p, "v"), a = number(p, "a");
    const bool first = strcmp(json_string_value(json_object_get(p, "scene")), "ball.yaml") == 0;
    assert_true(first == (i < 100));
    assert_true(v >= 2.5);
    assert_true(fabs(number(o, "start(ball.vx)") - (first ? v * cos(a) : v)) < 1e-12);
    assert_true(fabs(number(o, "fall")) < 1e-9);
    assert_true(fabs(number(o, "g") - (2 * v + a)) < 1e-12);
    assert_true(number(o, "cost.steps") == 50);
    /* the same samples for every scene and scheme */
    const json_t *same = json_object_get(json_array_get(runs, i % 50), "point");
    assert_true(number(same, "v") == v && number(same, "a") == a);
    mean += log(a) / 200;
  }
  assert_true(fabs(mean) < 0.01); /* a Latin hypercube's mean is near to the distribution's */
  json_decref(root);
}

static void test_repeats_have_noise(void **state) {
  (void)state;
  write_text("noise.yaml", "scene: ball.yaml\n"
                           "vary: {v: [1, 2]}\n"
                           "repeat: {count: 200, seed: 3, noise: {ball.y: 0.5, ball.vx: 0.25}}\n"
                           "observe: [start(ball.y), start(ball.vx)]\n");
  json_t *root = expect_json("sweep noise.yaml --json", 0, NULL);
  const json_t *runs = json_object_get(root, "runs");
  assert_int_equal(json_array_size(runs), 400);
  double mean = 0, square = 0, speed = 0;
  for (size_t i = 0; i < 400; i++) {
    const json_t *run = json_array_get(runs, i), *o = json_object_get(run, "observed");
    assert_true(number(json_object_get(run, "point"), "repeat") == (double)(i % 200));
    const double y = number(o, "start(ball.y)"), v = number(json_object_get(run, "point"), "v");
    mean += y / 400;
    square += y * y / 400;
    speed += pow(number(o, "start(ball.vx)") - v * cos(1), 2) / 400;
  }
  assert_true(fabs(mean) < 0.5 / 20 * 3);
  assert_true(fabs(sqrt(square) - 0.5) < 0.06);
  assert_true(fabs(sqrt(speed) - 0.25) < 0.03);
  json_decref(root);
}

/* How far a ball flies in half a second of no gravity along x: largest at angle 0; with a penalty in between. */
static void test_designs_are_found(void **state) {
  (void)state;
  write_text(
      "design.yaml",
      "scene: ball.yaml\n"
      "vary: {v: [1, 2]}\n"
      "minimize: {value: (ball.x - 0.3)^2 + (ball.y + 1)^2, over: {a: {from: -3, to: 3}, g: {from: 0, to: 30}},\n"
      "           starts: 2, evaluations: 400, tolerance: 1e-9}\n"
      "observe: [ball.x, ball.y]\n");
  json_t *root = expect_json("sweep design.yaml --json", 0, NULL);
  const json_t *runs = json_object_get(root, "runs");
  assert_int_equal(json_array_size(runs), 4);
  for (size_t i = 0; i < 4; i++) {
    const json_t *o = json_object_get(json_array_get(runs, i), "observed");
    assert_true(number(o, "objective") < 1e-12);
    assert_true(fabs(number(o, "ball.x") - 0.3) < 1e-6 && fabs(number(o, "ball.y") + 1) < 1e-6);
    const double v = i < 2 ? 1 : 2;
    assert_true(fabs(v * cos(number(o, "a")) * 0.5 - 0.3) < 1e-6);
    assert_true(number(o, "evaluations") > 10);
  }
  json_decref(root);
}

static void test_kinds_of_run(void **state) {
  (void)state;
  char text[2000];
  (void)snprintf(text, sizeof text,
                 "scene: %s/scenes/bvp-puck.yaml\nrun: bvp\nscheme: [trapezoidal]\n"
                 "observe: [bvp.solutions, bvp.residual, bvp.simulations, certificate.certified]\n",
                 SOURCE_DIR);
  write_text("boundary.yaml", text);
  json_t *root = expect_json("sweep boundary.yaml --json", 0, NULL);
  const json_t *o = json_object_get(json_array_get(json_object_get(root, "runs"), 0), "observed");
  assert_true(number(o, "bvp.solutions") >= 1 && number(o, "bvp.residual") < 1e-6);
  json_decref(root);
  write_text(
      "order.yaml",
      "scene: ball.yaml\nrun: converge\nsteps: [0.05, 0.025, 0.0125]\nvary: {g: [5, 10]}\n"
      "scheme: [trapezoidal, stewart-trinkle]\nobserve: [converge.order, converge.position_error, cost.steps]\n");
  root = expect_json("sweep order.yaml --json", 0, NULL);
  o = json_object_get(json_array_get(json_object_get(root, "runs"), 1), "observed"); /* first order */
  assert_true(fabs(number(o, "converge.order") - 1) < 0.2);
  /* error g T h (1 - 1/16)/2 of the height */
  assert_true(fabs(number(o, "converge.position_error") - 5 * 0.5 * 0.0125 / 2 * 15 / 16) < 1e-9);
  assert_true(number(o, "cost.steps") == 40);
  json_decref(root);
}

/* Inputs vary like parameters; outputs and joints are observed. */
static void test_inputs_and_outputs(void **state) {
  (void)state;
  write_text("driven.yaml",
             "inputs: {push: 0}\n"
             "outputs: [{name: double way, value: 2*cart.x}]\n"
             "planar: xy\n"
             "bodies: [{name: cart, mass: 2, inertia: 1}]\n"
             "joints: [{name: rail, type: prismatic, between: [world, cart], at: [0, 0], axis: [1, 0]}]\n"
             "forces: [{type: applied, on: cart, force: [push, 2*9.81]}]\n"
             "simulation: {scheme: trapezoidal, step: 0.01, duration: 1}\n");
  write_text("drive.yaml",
             "scene: driven.yaml\nvary: {push: [1, 4]}\n"
             "observe: [{name: w, value: outputs.double way}, {name: p, value: rail.position}, max(rail.speed)]\n");
  json_t *root = expect_json("sweep drive.yaml --json", 0, NULL);
  for (size_t i = 0; i < 2; i++) {
    const json_t *o = json_object_get(json_array_get(json_object_get(root, "runs"), i), "observed");
    const double a = i ? 2 : 0.5;
    assert_true(fabs(number(o, "w") - a) < 1e-12 && fabs(number(o, "p") - a / 2) < 1e-12);
    assert_true(fabs(number(o, "max(rail.speed)") - a) < 1e-12);
  }
  json_decref(root);
}

/* What is kept: results of every n-th, states of all, scenes of failures that do the same again, noise included. */
static void test_runs_are_kept(void **state) {
  (void)state;
  write_text("keep.yaml", "scene: ball.yaml\nvary: {m: [1, 2, -1]}\nrepeat: {count: 2, seed: 1, noise: {ball.x: 0.1}}\n"
                          "keep: {every: 3, state: true, failures: scene}\nobserve: [ball.x]\n");
  free(expect("sweep keep.yaml --keep kept --csv keep.csv", 1, "its scene is kept/run-000004.yaml"));
  assert_int_equal(access("kept/run-000000.h5", R_OK), 0);
  assert_int_equal(access("kept/run-000003.h5", R_OK), 0);
  assert_int_not_equal(access("kept/run-000001.h5", R_OK), 0);
  assert_int_equal(access("kept/run-000002.state", R_OK), 0);
  write_text("limit.yaml", "scene: ball.yaml\nvary: {v: [1]}\nstep: 1e-6\nduration: 60\ntime_limit: 0.1\n"
                           "repeat: {count: 1, seed: 8, noise: {ball.x: 0.1, ball.vy: 1}}\nobserve: [ball.x]\n");
  free(expect("sweep limit.yaml --csv -", 1, "the time limit of 0.1 s was reached"));
  char *scene = read_text("limit-runs/run-000000.yaml");
  assert_non_null(strstr(scene, "start:"));
  free(scene);
  write_text("same.yaml", "scene: ball.yaml\nvary: {v: [1]}\nduration: 0.2\n"
                          "repeat: {count: 1, seed: 8, noise: {ball.x: 0.1, ball.vy: 1}}\nobserve: [ball.x, ball.y]\n");
  json_t *study = expect_json("sweep same.yaml --json", 0, NULL);
  json_t *run = expect_json("run limit-runs/run-000000.yaml --step 0.01 --duration 0.2 --json", 0, NULL);
  const json_t *o = json_object_get(json_array_get(json_object_get(study, "runs"), 0), "observed");
  const json_t *body = json_object_get(json_object_get(json_object_get(run, "final"), "bodies"), "ball");
  assert_true(number(o, "ball.x") == json_number_value(json_array_get(json_object_get(body, "position"), 0)));
  assert_true(number(o, "ball.y") == json_number_value(json_array_get(json_object_get(body, "position"), 1)));
  json_decref(study);
  json_decref(run);
}

static void test_mistakes_have_places(void **state) {
  (void)state;
  static const struct {
    const char *text, *message;
  } cases[] = {
      {"scene: ball.yaml\nvary: {v: {mean: 1}}\nobserve: ball.x\n",
       "wrong.yaml:2:11: a normal distribution needs both"},
      {"scene: ball.yaml\nvary: {v: {mean: 1, deviation: -1}}\nobserve: ball.x\n", "wrong.yaml:2:32: "},
      {"scene: ball.yaml\nvary: {v: {mean: 1, deviation: 1}}\nobserve: ball.x\n",
       "wrong.yaml:2:11: 'v' has a normal distribution, which needs sample"},
      {"scene: ball.yaml\nvary: {v: {from: 1, to: 2}}\nobserve: ball.x\n", "wrong.yaml:2:11: the range of 'v'"},
      {"scene: ball.yaml\nvary: {v: [1, fast]}\nobserve: ball.x\n", "wrong.yaml:2:15: unknown name 'fast'"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\nduration: long\nobserve: ball.x\n",
       "wrong.yaml:3:11: unknown name 'long'"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\nsolver: fast\nobserve: ball.x\n",
       "wrong.yaml:3:9: unknown solver 'fast' (one of auto, active-set"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\nsample: {seed: 2}\nobserve: ball.x\n",
       "wrong.yaml:3:9: 'sample' needs one"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\nsample: {random: 2, sobol: 2, seed: 2}\nobserve: ball.x\n",
       "wrong.yaml:3:9: "},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\nsample: {random: 2, seed: 2, each: [u]}\nobserve: ball.x\n",
       "wrong.yaml:3:37: 'u' does not vary"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\nsample: {random: 2, seed: 2, each: v}\nobserve: ball.x\n",
       "wrong.yaml:3:9: nothing is sampled"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\ndepend: {g: 2*u}\nobserve: ball.x\n", "wrong.yaml:3:15: "},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\ndepend: {v: 2*g}\nobserve: ball.x\n",
       "wrong.yaml:3:10: 'v' varies already"},
      {"scene: ball.yaml\nvary: {v: [1, 2]}\ndepend: {u: 2*g}\nobserve: ball.x\n", "wrong.yaml:3:10: 'u' cannot vary"},
      {"scene: ball.yaml\nrepeat: {count: 2, seed: 1, noise: {ball.vq: 1}}\nobserve: ball.x\n",
       "wrong.yaml:2:37: there is no"},
      {"scene: ball.yaml\nrepeat: {count: 0, seed: 1, noise: {ball.x: 1}}\nobserve: ball.x\n", "wrong.yaml:2:17: "},
      {"scene: ball.yaml\nminimize: {value: ball.q, over: {a: {from: 0, to: 1}}}\nobserve: ball.x\n",
       "wrong.yaml:2:19: "},
      {"scene: ball.yaml\nminimize: {value: ball.x, over: {a: [1, 2]}}\nobserve: ball.x\n",
       "wrong.yaml:2:37: 'a' must be a range"},
      {"scene: ball.yaml\nrun: bvp\nvary: {v: [1]}\nobserve: ball.x\n", "wrong.yaml:1:8: run: bvp needs a scene"},
      {"scene: ball.yaml\nrun: converge\nvary: {v: [1]}\nobserve: ball.x\n", "run: converge needs 'steps'"},
      {"scene: ball.yaml\nrun: converge\nsteps: [1, 2]\nvary: {v: [1]}\nobserve: ball.x\n",
       "wrong.yaml:3:12: 'steps' must get"},
      {"scene: ball.yaml\nsteps: [1, 2]\nvary: {v: [1]}\nobserve: ball.x\n",
       "wrong.yaml:2:8: 'steps' belongs to run: converge"},
      {"scene: ball.yaml\nvary: {v: [1]}\nobserve: bvp.residual\n",
       "wrong.yaml:3:10: 'bvp.residual' has a quantity that only"},
      {"scene: ball.yaml\nrun: sweep\nvary: {v: [1]}\nobserve: ball.x\n", "wrong.yaml:2:6: "},
      {"scene: [ball.yaml, heavy.yaml]\nvary: {m: [1]}\nobserve: ball.x\n",
       "wrong.yaml:2:8: 'm' cannot vary: the scene 'heavy.yaml'"},
      {"scene: [ball.yaml, heavy.yaml]\nvary: {v: [1]}\nobserve: other.x\n", "wrong.yaml:3:10: there is no quantity"},
      {"scene: ball.yaml\nvary: {v: {min: 1, max: 2}}\nobserve: ball.x\n",
       "wrong.yaml:2:12: unknown key 'min': write 'from'"},
      {"scene: ball.yaml\nvary: {v: [missing]}\nobserve: ball.x\n", "wrong.yaml:2:12: unknown name 'missing'"},
      {"scene: ball.yaml\nvary: {v: [1]}\nkeep: {failures: all}\nobserve: ball.x\n", "wrong.yaml:3:18: "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    write_text("wrong.yaml", cases[i].text);
    refuse("sweep wrong.yaml", cases[i].message);
  }
  refuse("sweep normal.yaml --retry", "--retry needs --resume");
}

static int set_up(void **state) {
  (void)state;
  return enter_empty_directory();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_samples_are_stratified), cmocka_unit_test(test_sobol_integrates_better),
      cmocka_unit_test(test_normal_distribution),    cmocka_unit_test(test_minima_are_found),
      cmocka_unit_test(test_samples_of_a_study),     cmocka_unit_test(test_repeats_have_noise),
      cmocka_unit_test(test_designs_are_found),      cmocka_unit_test(test_kinds_of_run),
      cmocka_unit_test(test_runs_are_kept),          cmocka_unit_test(test_inputs_and_outputs),
      cmocka_unit_test(test_mistakes_have_places),
  };
  return cmocka_run_group_tests(tests, set_up, remove_directory);
}
