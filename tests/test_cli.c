/* End-to-end tests of the command line: exit codes, what is on stdout and on stderr, files that appear. */
#include "cli_runner.h"

#include <dirent.h>
#include <hdf5.h>
#include <math.h>
#include <sys/stat.h>

static const char scene_text[] =
    "name: Ball on a floor\n"
    "parameters: {v: 1}\n"
    "materials: [{name: default, friction: 0.3, restitution: 0.5}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - name: \"odd, \\\"name\\\"/1 %\"\n"
    "    mass: 2\n"
    "    position: [0, 0, 1]\n"
    "    velocity: [v, 0, 0]\n"
    "    shapes: [{type: sphere, radius: 0.1}]\n"
    "  - {name: bob, mass: 1, position: [5, 0, 9], shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {scheme: trapezoidal, step: 2^-6, duration: 1}\n";

/* The force is infinite from t = 0.5 on: no step can be certified there. */
static const char failing_text[] =
    "name: Fails\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: a, mass: 1, position: [0, 0, 0.1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "forces:\n"
    "  - {type: applied, on: a, force: [\"1e300^(1 + sign(t - 0.5))\", 0, 0]}\n"
    "simulation: {scheme: moreau, step: 2^-4, duration: 1}\n";

/* ---- the command line itself ---- */

static void test_help_and_version(void **state) {
  (void)state;
  static const char *const commands[] = {"run", "converge", "sweep", "check", "solve", "export", "list"};
  char *out = expect("--help", 0, NULL);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    assert_non_null(strstr(out, commands[i]));
    char arguments[64], usage[64];
    (void)snprintf(arguments, sizeof arguments, "%s --help", commands[i]);
    (void)snprintf(usage, sizeof usage, "usage: stickslip %s", commands[i]);
    char *help = expect(arguments, 0, NULL);
    assert_non_null(strstr(help, usage));
    assert_non_null(strstr(help, "examples:"));
    (void)snprintf(arguments, sizeof arguments, "help %s", commands[i]);
    char *same = expect(arguments, 0, NULL);
    assert_string_equal(same, help);
    free(same);
    free(help);
  }
  free(out);
  refuse("help chek", "unknown command 'chek'; did you mean 'check'?");
  refuse("view ball.yaml --port 8000", "--port belongs to --live");
  out = expect("--version", 0, NULL);
  assert_true(strncmp(out, "stickslip ", 10) == 0);
  free(out);
}

static void test_usage_errors(void **state) {
  (void)state;
  refuse("", "usage: stickslip");
  refuse("rnu ball.yaml", "did you mean 'run'");
  refuse("frobnicate", "unknown command 'frobnicate'");
  refuse("run", "SCENE is missing");
  refuse("run ball.yaml --stp 1", "did you mean --step");
  refuse("run ball.yaml --step", "--step needs a value");
  refuse("run ball.yaml --step 2^", "--step");
  refuse("run ball.yaml --step -1", "must be positive");
  refuse("run ball.yaml --json=1", "takes no value");
  refuse("run ball.yaml --events -3", "whole number");
  refuse("run ball.yaml --events collision,takeoff", "'takeoff' is neither a whole number nor a kind of event");
  refuse("converge ball.yaml --steps 2^-5 --events 3", "kind of event");
  refuse("run ball.yaml second.yaml", "unexpected argument");
  refuse("run ball.yaml --scheme trapezoidl", "did you mean 'trapezoidal'");
  refuse("run ball.yaml --solver nonsense", "unknown solver 'nonsense'");
  refuse("run ball.yaml --alpha 0.5", "gavrea");
  refuse("run ball.yaml --scheme gavrea",
         "gavrea needs --alpha and --gamma: the scene, of scheme trapezoidal, has none");
  refuse("run ball.yaml --scheme gavrea --alpha 1", "gavrea needs --alpha and --gamma");
  refuse("converge ball.yaml --steps 2^-5 --schemes gavrea", "gavrea needs --alpha and --gamma");
  refuse("run ball.yaml --resume absent", "absent");
  refuse("run ball.yaml --resume ball.yaml", "not a checkpoint");
  refuse("run ball.yaml --checkpoint nowhere/a", "nowhere/a");
  refuse("run ball.yaml --threads 0", "--threads must be at least 1");
  refuse("converge ball.yaml", "--steps is missing");
  refuse("converge ball.yaml --steps 2^-5:0.03", "halving");
  refuse("converge ball.yaml --steps 2^-5:2^-6 --reference 1", "coarser");
  refuse("converge ball.yaml --steps 2^-5 --schemes nonsense", "unknown scheme");
  refuse("list nonsense", "unknown table");
  refuse("export a.h5 --to vtk", "-o RESULT.pvd");
  refuse("export a.h5", "--to is missing");
}

static void test_bad_scenes(void **state) {
  (void)state;
  refuse("run absent.yaml", "absent.yaml");
  refuse("check absent.yaml", "absent.yaml");
  refuse("run ball.yaml --set undeclared=1", "undeclared");
  refuse("run ball.yaml --set v", "v");
  write_text("broken.yaml",
             "name: Broken\nbodies:\n  - {name: a, mass: -1}\nsimulation: {scheme: moreau, step: 0.1, duration: 1}\n");
  refuse("run broken.yaml", "broken.yaml:3:");
  refuse("check broken.yaml --json", "broken.yaml:3:");
  refuse("converge broken.yaml --steps 0.1", "broken.yaml:3:");
}

/* ---- run ---- */

static void check_run_object(const json_t *root) {
  static const char *const certificate[] = {"complementarity", "penetration",   "joint_drift", "cone",
                                            "dissipation",     "energy_created"};
  static const char *const energy[] = {"initial",     "final",        "work",     "friction_loss",
                                       "impact_loss", "damping_loss", "remainder"};
  assert_string_equal(json_string_value(json_object_get(root, "scene")), "Ball on a floor");
  assert_string_equal(json_string_value(json_object_get(root, "scheme")), "trapezoidal");
  assert_true(json_is_string(json_object_get(root, "solver")));
  assert_true(number(root, "step") == 1.0 / 64);
  assert_true(number(root, "duration") == 1);
  assert_true(json_is_integer(json_object_get(root, "steps")));
  assert_true(number(root, "steps") == 64);
  assert_true(number(root, "wall_seconds") >= 0);
  for (size_t i = 0; i < sizeof certificate / sizeof certificate[0]; i++)
    (void)number(json_object_get(root, "certificate"), certificate[i]);
  assert_true(json_is_true(json_object_get(json_object_get(root, "certificate"), "certified")));
  for (size_t i = 0; i < sizeof energy / sizeof energy[0]; i++)
    (void)number(json_object_get(root, "energy"), energy[i]);
  assert_true(number(json_object_get(root, "contacts"), "maximum") == 1); /* though it bounces: the impact counts */
  (void)number(json_object_get(root, "contacts"), "mean");
  static const char *const solves[] = {"count", "iterations", "fallbacks", "seconds"};
  for (size_t i = 0; i < sizeof solves / sizeof solves[0]; i++)
    (void)number(json_object_get(root, "solves"), solves[i]);
}

static void test_run_json(void **state) {
  (void)state;
  json_t *root = expect_json("run ball.yaml --json", 0, NULL);
  check_run_object(root);
  const json_t *bodies = json_object_get(json_object_get(root, "final"), "bodies");
  const json_t *ball = json_object_get(bodies, "odd, \"name\"/1 %");
  assert_int_equal(json_array_size(json_object_get(ball, "position")), 3);
  assert_int_equal(json_array_size(json_object_get(ball, "orientation")), 4);
  assert_int_equal(json_array_size(json_object_get(ball, "velocity")), 3);
  assert_int_equal(json_array_size(json_object_get(ball, "angular_velocity")), 3);
  assert_true(number(json_object_get(root, "final"), "t") == 1);
  /* bob falls freely: z = 9 - g / 2 */
  const json_t *bob = json_object_get(json_object_get(bodies, "bob"), "position");
  assert_true(fabs(json_number_value(json_array_get(bob, 2)) - (9 - 9.81 / 2)) < 1e-9);
  const json_t *events = json_object_get(root, "events");
  assert_true(number(events, "collisions") >= 1);
  const json_t *first = json_array_get(json_object_get(events, "list"), 0);
  assert_string_equal(json_string_value(json_object_get(first, "kind")), "collision");
  assert_int_equal(json_array_size(json_object_get(first, "between")), 2);
  assert_true(fabs(number(first, "t") - sqrt(2 * 0.9 / 9.81)) < 1e-6);
  json_decref(root);
}

static void test_run_options(void **state) {
  (void)state;
  json_t *root = expect_json("run ball.yaml --json --step 2^-4 --duration=0.25 --set v=3*2 --events 0", 0, NULL);
  assert_true(number(root, "step") == 0.0625);
  assert_true(number(root, "steps") == 4);
  assert_int_equal(json_array_size(json_object_get(json_object_get(root, "events"), "list")), 0);
  const json_t *ball = json_object_get(json_object_get(json_object_get(root, "final"), "bodies"), "odd, \"name\"/1 %");
  assert_true(json_number_value(json_array_get(json_object_get(ball, "velocity"), 0)) == 6);
  json_decref(root);
}

static double time_of_first_event(const char *arguments) {
  json_t *root = expect_json(arguments, 0, NULL);
  const json_t *list = json_object_get(json_object_get(root, "events"), "list");
  assert_int_equal(json_array_size(list), 1);
  const double t = number(json_array_get(list, 0), "t");
  json_decref(root);
  return t;
}

/* Which events are located: the ball hits the floor at a time of its own, or with the step in which it does. */
static void test_run_locates(void **state) {
  (void)state;
  const double hit = sqrt(2 * 0.9 / 9.81);
  assert_true(fabs(time_of_first_event("run ball.yaml --json --events 1 --events collision,take-off") - hit) < 1e-6);
  const double whole = time_of_first_event("run ball.yaml --json --step 2^-6 --events none --events 1") * 64;
  assert_true(whole == floor(whole) && fabs(whole / 64 - hit) <= 0x1p-6);
}

/* A spring too stiff for the step of an explicit scheme; and a scene that creates nothing. */
static void test_run_warns_of_energy(void **state) {
  (void)state;
  write_text("stiff.yaml", "planar: xy\ngravity: [0, 0, 0]\n"
                           "bodies: [{name: m, mass: 1, freedom: [x], position: [1.1, 0]}]\n"
                           "forces: [{type: spring, between: [world, m], stiffness: 1e4, rest_length: 1}]\n"
                           "simulation: {scheme: anitescu-potra, step: 0.025, duration: 1}\n");
  char *out = expect("run stiff.yaml", 0, NULL);
  assert_non_null(strstr(out, "energy from nowhere"));
  free(out);
  out = expect("run ball.yaml", 0, NULL);
  assert_null(strstr(out, "energy from nowhere"));
  free(out);
}

static int count_files(void) {
  DIR *here = opendir(".");
  assert_non_null(here);
  int n = 0;
  while (readdir(here)) n++;
  (void)closedir(here);
  return n;
}

static void test_run_text_writes_nothing(void **state) {
  (void)state;
  const int files = count_files();
  char *out = expect("run ball.yaml", 0, NULL);
  assert_non_null(strstr(out, "CERTIFIED"));
  assert_null(strstr(out, "DOUBTFUL"));
  assert_null(strstr(out, "nan"));
  free(out);
  assert_int_equal(count_files(), files);
}

static void test_unwritable_outputs(void **state) {
  (void)state;
  refuse("run ball.yaml -o absent/a.h5", "cannot write 'absent/a.h5'");
  refuse("run ball.yaml --csv absent/a.csv", "cannot write 'absent/a.csv'");
  refuse("run ball.yaml --dump-problem absent/a.cp", "cannot write 'absent/a.cp'");
  refuse("run ball.yaml -o .", "cannot write '.'");
  write_text("kept.h5", "older result");
  refuse("run ball.yaml -o kept.h5 --csv absent/a.csv", "absent/a.csv");
  char *kept = read_text("kept.h5");
  assert_string_equal(kept, "older result");
  free(kept);
  refuse("run ball.yaml -o /dev/null", "not a regular file");
  if (exists("/dev/full")) free(expect("run ball.yaml --csv /dev/full", 2, "/dev/full"));
}

/* A limit on the size of files stands for a full disk. */
static void test_full_disk(void **state) {
  (void)state;
  before = "trap '' XFSZ; ulimit -f 64;";
  free(expect("run ball.yaml --step 2^-13 -o full.h5", 2, "cannot write 'full.h5'"));
  free(expect("run ball.yaml --step 2^-13 --csv full.csv", 2, "cannot write 'full.csv'"));
  before = "";
  assert_false(exists("full.h5"));
  assert_false(exists("full.csv"));
}

static void test_failed_run(void **state) {
  (void)state;
  write_text("fails.yaml", failing_text);
  json_t *root = expect_json("run fails.yaml --json -o fails.h5", 1, "fails-failed.cp");
  assert_true(json_is_false(json_object_get(root, "complete")));
  assert_true(json_is_string(json_object_get(root, "error")));
  assert_true(json_is_false(json_object_get(json_object_get(root, "certificate"), "certified")));
  const double t = number(json_object_get(root, "final"), "t");
  assert_true(t > 0 && t < 1);
  json_decref(root);
  assert_true(exists("fails-failed.cp"));
  const hid_t file = H5Fopen("fails.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  const hid_t attribute = H5Aopen(file, "complete", H5P_DEFAULT);
  long complete = -1;
  assert_true(H5Aread(attribute, H5T_NATIVE_LONG, &complete) >= 0);
  assert_int_equal(complete, 0);
  (void)H5Aclose(attribute);
  (void)H5Fclose(file);
  char *out = expect("run fails.yaml --dump-problem named.cp", 1, "named.cp");
  assert_non_null(strstr(out, "DOUBTFUL"));
  assert_null(strstr(out, "CERTIFIED"));
  free(out);
  assert_true(exists("named.cp"));
}

/* ---- results ---- */

static void read_column(hid_t file, const char *path, int rank, const hsize_t size[2], double *values) {
  const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
  if (dataset < 0) fail_msg("no dataset %s", path);
  const hid_t space = H5Dget_space(dataset);
  hsize_t found[2] = {0, 0};
  assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
  (void)H5Sget_simple_extent_dims(space, found, NULL);
  assert_int_equal(found[0], size[0]);
  if (rank == 2) assert_int_equal(found[1], size[1]);
  assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  (void)H5Sclose(space);
  (void)H5Dclose(dataset);
}

static void test_hdf5_result(void **state) {
  (void)state;
  enum { ROWS = 1025 }; /* more than one block of the recorder */
  free(expect("run ball.yaml --step 2^-10 -o ball.h5", 0, NULL));
  const hid_t file = H5Fopen("ball.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  assert_true(file >= 0);
  static double t[ROWS], position[ROWS][3], orientation[ROWS][4], energy[ROWS];
  read_column(file, "/time", 1, (hsize_t[2]){ROWS, 0}, t);
  read_column(file, "/bodies/bob/position", 2, (hsize_t[2]){ROWS, 3}, position[0]);
  read_column(file, "/bodies/odd, \"name\"%2F1 %25/orientation", 2, (hsize_t[2]){ROWS, 4}, orientation[0]);
  read_column(file, "/energy/total", 1, (hsize_t[2]){ROWS, 0}, energy);
  for (int i = 0; i < ROWS; i++) {
    assert_true(t[i] == i / 1024.0);
    assert_true(fabs(position[i][2] - (9 - 9.81 / 2 * t[i] * t[i])) < 1e-9);
    assert_true(isfinite(orientation[i][0]) && isfinite(energy[i]));
  }
  assert_true(H5Lexists(file, "scene", H5P_DEFAULT) > 0);
  assert_true(H5Lexists(file, "events/t", H5P_DEFAULT) > 0);
  assert_true(H5Aexists_by_name(file, "certificate", "complementarity", H5P_DEFAULT) > 0);
  (void)H5Fclose(file);
}

static int count_lines(const char *text) {
  int lines = 0;
  for (; *text; text++) lines += *text == '\n';
  return lines;
}

static void test_csv_and_export(void **state) {
  (void)state;
  free(expect("run ball.yaml -o small.h5 --csv small.csv", 0, NULL));
  char *recorded = read_text("small.csv");
  assert_int_equal(count_lines(recorded), 1 + 65);
  assert_true(strncmp(recorded, "t,\"odd, \"\"name\"\"/1 %.x\",", 24) == 0);
  assert_non_null(strstr(recorded, ",bob.x,bob.y,bob.z,bob.qw,"));
  free(expect("export small.h5 --to csv -o exported.csv", 0, NULL));
  char *exported = read_text("exported.csv");
  assert_string_equal(recorded, exported);
  char *streamed = expect("export small.h5 --to csv", 0, NULL);
  assert_string_equal(recorded, streamed);
  free(recorded);
  free(exported);
  free(streamed);
  refuse("export absent.h5 --to csv", "absent.h5");
  refuse("export ball.yaml --to csv", "not a stickslip result");
  refuse("export small.h5 --to csv -o absent/a.csv", "cannot write 'absent/a.csv'");
}

static void test_every(void **state) {
  (void)state;
  free(expect("run ball.yaml --csv sparse.csv --every 10", 0, NULL));
  char *recorded = read_text("sparse.csv");
  assert_int_equal(count_lines(recorded), 1 + 7 + 1); /* steps 0 10 20 30 40 50 60 and the last, 64 */
  free(recorded);
  refuse("run ball.yaml --every 0", "--every must be at least 1");
}

/* ---- converge, check, list ---- */

static void test_converge(void **state) {
  (void)state;
  json_t *root = expect_json("converge ball.yaml --steps 2^-4:2^-7 --json --duration 0.4", 0, NULL);
  const json_t *rows = json_object_get(root, "rows");
  assert_int_equal(json_array_size(rows), 4);
  static const char *const numbers[] = {"h",
                                        "position_error",
                                        "velocity_error",
                                        "velocity_error_l1",
                                        "position_error_max",
                                        "velocity_variation",
                                        "weighted_variation",
                                        "complementarity",
                                        "penetration",
                                        "energy_created",
                                        "collisions",
                                        "seconds"};
  for (size_t i = 0; i < 4; i++) {
    const json_t *row = json_array_get(rows, i);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) (void)number(row, numbers[k]);
    assert_true(number(row, "h") == ldexp(1, -4 - (int)i));
    assert_true(json_is_true(json_object_get(row, "certified")));
    assert_true(json_is_array(json_object_get(row, "joint_errors")));
    assert_true(number(row, "position_error_max") >= number(row, "position_error"));
  }
  assert_true(json_is_null(json_object_get(json_array_get(rows, 0), "order")));
  json_decref(root);
  root = expect_json("converge ball.yaml --steps 0.1,0.05 --schemes trapezoidal,moreau --json", 0, NULL);
  assert_int_equal(json_array_size(json_object_get(root, "schemes")), 2);
  assert_true(json_equal(json_object_get(root, "rows"),
                         json_object_get(json_array_get(json_object_get(root, "schemes"), 0), "rows")));
  json_decref(root);
  char *out = expect("converge ball.yaml --steps 2^-4:2^-6", 0, NULL);
  assert_int_equal(count_lines(out), 2 + 3 + 3 + 2); /* head, table head, rows, promises */
  free(out);
}

static void test_check(void **state) {
  (void)state;
  json_t *root = expect_json("check " SOURCE_DIR "/scenes/double-pendulum-wall.yaml --json", 0, NULL);
  assert_int_equal(json_array_size(json_object_get(root, "bodies")), 2);
  assert_true(number(root, "coordinates") == 4);
  assert_true(number(root, "joint_rows") == 2);
  assert_true(number(root, "degrees_of_freedom") == 2);
  assert_true(number(root, "redundant_constraints") == 0);
  assert_true(number(json_object_get(root, "consistency"), "joint_residual") < 1e-9);
  assert_true(number(json_object_get(root, "consistency"), "joint_velocity_residual") < 1e-9);
  json_decref(root);
  root = expect_json("check " SOURCE_DIR "/scenes/block-on-incline.yaml --json", 0, NULL);
  assert_int_equal(json_array_size(json_object_get(root, "contacts")), 4);
  json_decref(root);
  char *out = expect("check ball.yaml", 0, NULL);
  assert_non_null(strstr(out, "degrees of freedom      12"));
  free(out);
}

static void test_list(void **state) {
  (void)state;
  static const char *const tables[][2] = {{"schemes", "trapezoidal"}, {"solvers", "lemke"}, {"joints", "revolute"},
                                          {"forces", "spring"},       {"shapes", "sphere"}, {"laws", "poisson"}};
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    char arguments[64];
    (void)snprintf(arguments, sizeof arguments, "list %s", tables[i][0]);
    char *out = expect(arguments, 0, NULL);
    assert_non_null(strstr(out, tables[i][1]));
    free(out);
  }
  json_t *root = expect_json("list --json", 0, NULL);
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    const json_t *first = json_array_get(json_object_get(root, tables[i][0]), 0);
    assert_true(json_is_string(json_object_get(first, "name")));
    assert_true(json_is_string(json_object_get(first, "summary")));
  }
  json_decref(root);
}

/* ---- set-up ---- */

static int enter_directory(void **state) {
  (void)state;
  if (enter_empty_directory()) return -1;
  write_text("ball.yaml", scene_text);
  (void)H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_help_and_version),
      cmocka_unit_test(test_usage_errors),
      cmocka_unit_test(test_bad_scenes),
      cmocka_unit_test(test_run_json),
      cmocka_unit_test(test_run_options),
      cmocka_unit_test(test_run_locates),
      cmocka_unit_test(test_run_warns_of_energy),
      cmocka_unit_test(test_run_text_writes_nothing),
      cmocka_unit_test(test_unwritable_outputs),
      cmocka_unit_test(test_full_disk),
      cmocka_unit_test(test_failed_run),
      cmocka_unit_test(test_hdf5_result),
      cmocka_unit_test(test_csv_and_export),
      cmocka_unit_test(test_every),
      cmocka_unit_test(test_converge),
      cmocka_unit_test(test_check),
      cmocka_unit_test(test_list),
  };
  return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}
