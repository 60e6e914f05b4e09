/* What the commands write: never over what they read, never two things into one file, nothing half-done under its name. */
#include "cli_runner.h"

#include <math.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

static const char scene_text[] =
    "name: Falling ball\n"
    "bodies:\n"
    "  - {name: ball, mass: 1, position: [0, 0, 1], shapes: [{type: sphere, radius: 0.1}]}\n"
    "simulation: {scheme: moreau, step: 2^-6, duration: 0.25}\n";

static void expect_file(const char *path, const char *text) {
  char *found = read_text(path);
  assert_string_equal(found, text);
  free(found);
}

static void test_inputs_are_kept(void **state) {
  (void)state;
  static const char *const lines[] = {"run ball.yaml -o ball.yaml",
                                      "run ball.yaml --csv ./ball.yaml",
                                      "run ball.yaml --html ball.yaml",
                                      "run ball.yaml --checkpoint ball.yaml",
                                      "run ball.yaml --dump-problem link.yaml",
                                      "run link.yaml -o ball.yaml",
                                      "view ball.yaml -o ball.yaml",
                                      "converge ball.yaml --steps 2^-4:2^-5 --html ball.yaml"};
  assert_int_equal(symlink("ball.yaml", "link.yaml"), 0);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    refuse(lines[i], "is read, and would be overwritten");
    expect_file("ball.yaml", scene_text);
  }
  assert_int_equal(remove("link.yaml"), 0);
  free(expect("run ball.yaml -o ball.h5", 0, NULL));
  refuse("export ball.h5 --to csv -o ball.h5", "is read, and would be overwritten");
  refuse("report ball.h5 -o ball.h5", "is read, and would be overwritten");
  free(expect("export ball.h5 --to csv", 0, NULL)); /* still a result */
}

/* Outputs and joints are the same numbers in JSON, CSV, HDF5 and what is exported from it. */
static void test_signals_are_recorded(void **state) {
  (void)state;
  static const char text[] =
      "planar: xy\n"
      "inputs: {lift: 4}\n"
      "bodies: [{name: arm, mass: 1, inertia: 1, position: [1, 0]}]\n"
      "joints: [{name: pin, type: revolute, between: [world, arm], at: [0, 0], motor: {speed: 1, torque: lift}}]\n"
      "outputs: [{name: height, value: arm.y}, {name: 'a, \"b\"', value: 2*pin.force}]\n"
      "simulation: {scheme: moreau, step: 0.01, duration: 0.1}\n";
  write_text("arm.yaml", text);
  json_t *json = expect_json("run arm.yaml --json --set lift=5 -o arm.h5 --csv arm.csv", 0, NULL);
  const double height = number(json_object_get(json, "outputs"), "height");
  const json_t *pin = json_object_get(json_object_get(json_object_get(json, "final"), "joints"), "pin");
  assert_true(number(pin, "force") == 5); /* too weak for the arm: acts in full */
  free(expect("export arm.h5 --to csv -o again.csv", 0, NULL));
  char *csv = read_text("arm.csv"), *again = read_text("again.csv");
  assert_string_equal(csv, again);
  assert_non_null(strstr(csv, ",height,\"a, \"\"b\"\"\",pin.position,pin.speed,pin.force,pin.fx,"));
  const char *last = strrchr(csv, ',');
  for (int i = 0; i < 10; i++) { /* back to the output: 9 numbers of the joint come after the second one */
    do last--;
    while (*last != ',');
  }
  assert_true(strtod(last + 1, NULL) == height);
  free(csv);
  free(again);
  json_decref(json);
  free(expect("plot arm.h5 --y height --y pin.position --y pin.fy -o arm.svg", 0, NULL));
  refuse("plot arm.h5 --y pin.fq -o arm.svg", "JOINT.position");
  refuse("run arm.yaml --set raise=5", "declared: lift");
}

/* Divisions by zero are no numbers: nothing is written where there is none. */
static void test_outputs_without_a_value(void **state) {
  (void)state;
  write_text("quotient.yaml",
             "bodies: [{name: a, mass: 1, freedom: [x, z], position: [0, 0, 0], velocity: [1, 0, 0]}]\n"
             "outputs: [{name: q, value: 1/a.x}, {name: r, value: 1/(t - 0.2)}]\n"
             "simulation: {step: 0.1, duration: 0.2}\n");
  json_t *json =
      expect_json("run quotient.yaml --json -o quotient.h5 --csv quotient.csv --html quotient.html", 0, NULL);
  assert_true(fabs(number(json_object_get(json, "outputs"), "q") - 5) < 1e-9);
  assert_true(json_is_null(json_object_get(json_object_get(json, "outputs"), "r")));
  json_decref(json);
  free(expect("export quotient.h5 --to csv -o again.csv", 0, NULL));
  char *csv = read_text("quotient.csv"), *again = read_text("again.csv");
  assert_string_equal(csv, again);
  assert_null(strstr(csv, "inf"));
  assert_null(strstr(csv, "nan"));
  assert_non_null(strstr(csv, ",,-5\n")); /* at t = 0 */
  assert_string_equal(csv + strlen(csv) - 2, ",\n");
  free(csv);
  free(again);
  char *out = expect("run quotient.yaml", 0, NULL);
  assert_non_null(strstr(out, "r has no value"));
  free(out);
}

static void test_two_outputs_are_two_files(void **state) {
  (void)state;
  refuse("run ball.yaml -o x.h5 --csv x.h5", "'x.h5' is named for two outputs");
  refuse("run ball.yaml -o x.csv", "-o writes HDF5, but 'x.csv' looks like CSV: --csv x.csv writes that");
  refuse("run ball.yaml --csv x.html", "--csv writes CSV, but 'x.html' looks like a page");
  refuse("run ball.yaml -o x.h5 --csv ./x.h5", "'./x.h5' is named for two outputs");
  assert_int_not_equal(access("x.h5", F_OK), 0);
  refuse("run ball.yaml --csv -", "'-' is not the name of an output here");
  free(expect("run ball.yaml --checkpoint x.state", 0, NULL));
  free(expect("run ball.yaml --duration 0.5 --resume x.state --checkpoint x.state", 0, NULL)); /* goes on in place */
  refuse("run ball.yaml --duration 0.25 --resume x.state", "is at t = 0.5, beyond the duration 0.25");
  free(expect("run ball.yaml --duration 0.5 --resume x.state", 0, NULL)); /* is done */
  free(expect("run ball.yaml --csv /dev/null --html /dev/null", 0, NULL));
}

/* Links lead to where the output goes; names that can be no file's are refused before anything is computed. */
static void test_names_of_outputs(void **state) {
  (void)state;
  assert_int_equal(mkdir("disk", 0777), 0);
  assert_int_equal(symlink("disk/second", "first"), 0);
  assert_int_equal(symlink("third.csv", "disk/second"), 0);
  assert_int_equal(symlink("round", "round"), 0);
  for (int again = 0; again < 2; again++) { /* to nothing yet, then to a file */
    struct stat is;
    free(expect("run ball.yaml --csv first", 0, NULL));
    assert_int_equal(lstat("first", &is), 0);
    assert_true(S_ISLNK(is.st_mode));
    assert_int_equal(lstat("disk/third.csv", &is), 0);
    assert_true(S_ISREG(is.st_mode));
  }
  refuse("run ball.yaml -o round", "cannot write 'round'");
  refuse("run ball.yaml -o ''", "cannot write ''");
  refuse("view ball.yaml -o ''", "cannot write ''");
}

/* A limit on the size of files stands for a full disk. */
#define BOX "<collision><geometry><box size='1 1 1'/></geometry></collision>"

static void test_nothing_half_done(void **state) {
  (void)state;
  free(expect("run ball.yaml -o ball.h5", 0, NULL));
  static const struct {
    const char *line, *path;
  } outputs[] = {{"plot ball.h5 --y ball.z -o kept.svg", "kept.svg"},
                 {"export ball.h5 --to csv -o kept.csv", "kept.csv"},
                 {"export ball.h5 --to vtk -o kept.pvd", "kept.pvd"},
                 {"converge ball.yaml --steps 2^-4:2^-6 --html kept.html", "kept.html"},
                 {"report ball.h5 -o kept.html", "kept.html"},
                 {"import robot.urdf -o kept.yaml", "kept.yaml"}};
  write_text(
      "robot.urdf",
      "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>"
      "</inertial><collision><geometry><sphere radius='0.1'/></geometry></collision>" BOX BOX BOX BOX BOX BOX BOX BOX
      "</link></robot>");
  for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
    write_text(outputs[i].path, "kept");
    before = "ulimit -f 1;";
    free(expect(outputs[i].line, 2, "cannot write"));
    before = "";
    expect_file(outputs[i].path, "kept");
    assert_int_equal(remove(outputs[i].path), 0);
  }
}

/* What --dump-problem writes is read by solve, also where nothing touches. */
static void test_dumped_problems(void **state) {
  (void)state;
  write_text("chain.yaml", "name: Chain\nplanar: xy\nbodies:\n"
                           "  - {name: a, mass: 1, freedom: [x, y], position: [1, 0]}\njoints:\n"
                           "  - {type: distance, between: [world, a], length: 1}\n"
                           "simulation: {scheme: trapezoidal, step: 2^-6, duration: 0.25}\n");
  free(expect("run chain.yaml --dump-problem chain.cp", 0, "the last complementarity problem is in 'chain.cp'"));
  json_t *solved = expect_json("solve chain.cp --json", 0, NULL);
  assert_true(number(solved, "n") == 1);
  json_decref(solved);
  free(expect("run ball.yaml --dump-problem ball.cp", 0, "ball.cp")); /* in free fall */
  solved = expect_json("solve ball.cp --json", 0, NULL);
  assert_true(number(solved, "n") == 0);
  json_decref(solved);
}

/* Many patches: by entries, not as a square of mostly zeros. */
static void test_dumped_patches(void **state) {
  (void)state;
  char bodies[4096] = "";
  for (int i = 0; i < 12; i++) {
    const size_t used = strlen(bodies);
    (void)snprintf(bodies + used, sizeof bodies - used,
                   "  - {name: b%d, mass: 0.1, position: [%d, 0, 0.05], shapes: [{type: sphere, radius: 0.05}]}\n", i,
                   i);
  }
  char text[8192];
  (void)snprintf(text, sizeof text,
                 "name: Patches\nmaterials: [{name: default, friction: 0.3}]\n"
                 "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\nbodies:\n%s"
                 "compliance: {young: 1e7, poisson: 0.3, elements: 3, spacing: 1e-3}\n"
                 "simulation: {scheme: compliant, step: 1e-4, duration: 1e-3, friction: {cone: quadratic}}\n",
                 bodies);
  write_text("patches.yaml", text);
  free(expect("run patches.yaml --dump-problem patches.cp", 0, "patches.cp"));
  char *written = read_text("patches.cp");
  assert_non_null(strstr(written, "\nsparse "));
  free(written);
  json_t *solved = expect_json("solve patches.cp --json", 0, NULL);
  assert_true(number(solved, "n") == 12 * 27);
  json_decref(solved);
}

/* A terminal that is closed ends a run in good order, like Ctrl-C. */
static void test_hangup(void **state) {
  (void)state;
  char program[512];
  (void)snprintf(program, sizeof program, "%s/stickslip", BINARY_DIR);
  const pid_t child = fork();
  if (child == 0) {
    const int null = open("/dev/null", O_WRONLY);
    (void)dup2(null, 1);
    (void)dup2(null, 2);
    (void)execl(program, program, "run", "ball.yaml", "--duration", "1e6", "-o", "cut.h5", (char *)NULL);
    _exit(127);
  }
  const struct timespec moment = {0, 10000000};
  bool started = false; /* its file is being written */
  while (!started) {
    (void)nanosleep(&moment, NULL);
    assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (const struct dirent *e = readdir(folder); e; e = readdir(folder))
      started = started || strncmp(e->d_name, "cut.h5.", 7) == 0;
    (void)closedir(folder);
  }
  for (int i = 0; i < 10; i++) (void)nanosleep(&moment, NULL); /* signals are caught right after */
  assert_int_equal(kill(child, SIGHUP), 0);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 128 + SIGHUP);
  assert_int_equal(access("cut.h5", F_OK), 0);
}

static int prepare(void **state) {
  (void)state;
  if (enter_empty_directory()) return -1;
  write_text("ball.yaml", scene_text);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_inputs_are_kept),         cmocka_unit_test(test_signals_are_recorded),
      cmocka_unit_test(test_outputs_without_a_value), cmocka_unit_test(test_two_outputs_are_two_files),
      cmocka_unit_test(test_nothing_half_done),       cmocka_unit_test(test_dumped_problems),
      cmocka_unit_test(test_dumped_patches),          cmocka_unit_test(test_hangup),
      cmocka_unit_test(test_names_of_outputs),
  };
  return cmocka_run_group_tests(tests, prepare, remove_directory);
}
