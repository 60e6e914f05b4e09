/* VTK files: arrays have the lengths that the headers say, cells refer to points, points are where the bodies are. */
#include "scene_runner.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[1024];

static char *read_file(const char *name) {
  char path[2048];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "rb");
  if (!f) fail_msg("%s is not there", name);
  char *text = calloc(1, 1 << 20);
  assert_non_null(text);
  (void)fread(text, 1, (1 << 20) - 1, f);
  (void)fclose(f);
  return text;
}

static long header(const char *text, const char *key) {
  const char *at = strstr(text, key);
  assert_non_null(at);
  return strtol(at + strlen(key) + 2, NULL, 10);
}

/* The numbers of the n-th array of this name. */
static long array(const char *text, const char *name, int nth, double *out, long most) {
  char wanted[64];
  (void)snprintf(wanted, sizeof wanted, "Name=\"%s\"", name);
  const char *at = text;
  for (int i = 0; i <= nth; i++) {
    at = strstr(at, wanted);
    if (!at) fail_msg("no array %s", name);
    at = strchr(at, '>') + 1;
  }
  long n = 0;
  for (;;) {
    char *end;
    const double value = strtod(at, &end);
    if (end == at) return n;
    assert_true(n < most);
    out[n++] = value;
    at = end;
  }
}

enum { MOST = 100000 };
static double numbers[MOST], offsets[MOST];

static void check_cells(const char *text, int nth, long cells, long points) {
  const long n = array(text, "connectivity", nth, numbers, MOST);
  for (long i = 0; i < n; i++) assert_true(numbers[i] >= 0 && numbers[i] < (double)points);
  assert_int_equal(array(text, "offsets", nth, offsets, MOST), cells);
  for (long i = 1; i < cells; i++) assert_true(offsets[i] > offsets[i - 1]);
  assert_true(cells == 0 ? n == 0 : offsets[cells - 1] == (double)n);
}

static void record(const char *scene_text, const char *result) {
  ss_error error = {0};
  ss_scene *scene;
  ss_model *model;
  ss_sim *sim;
  ss_recorder *recorder;
  run_require(ss_scene_parse(scene_text, strlen(scene_text), "scene", NULL, 0, &scene, &error), &error, "parse");
  run_require(ss_model_create(scene, &model, &error), &error, "compile");
  run_require(ss_sim_create(model, &scene->simulation, &sim, &error), &error, "create");
  run_require(ss_recorder_open_hdf5(result, sim, 1, &recorder, &error), &error, "open");
  const ss_observer observer = ss_recorder_observer(recorder);
  run_require(ss_sim_observe(sim, &observer, &error), &error, "observe");
  while (!ss_sim_done(sim)) run_require(ss_sim_step(sim, &error), &error, "step");
  run_require(ss_recorder_close(recorder, sim, true, &error), &error, "close");
  ss_sim_destroy(sim);
  ss_model_destroy(model);
  ss_scene_destroy(scene);
}

static const char scene[] =
    "materials: [{name: default, friction: 0.3}]\n"
    "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
    "bodies:\n"
    "  - {name: ball, mass: 1, position: [1, 2, 0.5], velocity: [3, 0, 0], angular_velocity: [0, 0, 2],\n"
    "     shapes: [{type: sphere, radius: 0.5}]}\n"
    "  - {name: stick, mass: 1, position: [-1, 0, 2], shapes: [{type: capsule, radius: 0.1, length: 1},\n"
    "     {type: box, size: [1, 2, 3], position: [0, 0, 5]}]}\n"
    "  - {name: dot, mass: 1, freedom: [z], position: [5, 5, 5], shapes: [{type: point}]}\n"
    "simulation: {scheme: moreau, step: 0.01, duration: 0.1}\n";

static void test_frames_are_polydata(void **state) {
  (void)state;
  char result[2048], pvd[2048];
  (void)snprintf(result, sizeof result, "%s/r.h5", folder);
  (void)snprintf(pvd, sizeof pvd, "%s/r.pvd", folder);
  record(scene, result);
  ss_error error = {0};
  run_require(ss_export_vtk(result, pvd, 4, &error), &error, "export");
  char *collection = read_file("r.pvd");
  int frames = 0;
  for (const char *at = collection; (at = strstr(at, "part=\"0\"")); at++) frames++;
  assert_int_equal(frames, 4); /* rows 0, 4, 8 and the last, 10 */
  assert_non_null(strstr(collection, "timestep=\"0.10000000000000001\" part=\"0\" file=\"r-000010.vtp\""));
  free(collection);

  char *bodies = read_file("r-000010.vtp");
  const long all = header(bodies, "NumberOfPoints"), points = all - 1; /* and one contact */
  assert_int_equal(array(bodies, "Points", 0, numbers, MOST), 3 * all);
  ss_result *r;
  double x[11], y[11], z[11];
  run_require(ss_result_open(result, &r, &error), &error, "open");
  run_require(ss_result_column(r, "ball.x", x, &error), &error, "column");
  run_require(ss_result_column(r, "ball.y", y, &error), &error, "column");
  run_require(ss_result_column(r, "ball.z", z, &error), &error, "column");
  ss_result_close(r);
  const ss_vec3 center = v3(x[10], y[10], z[10]);
  const ss_vec3 first = v3(numbers[0], numbers[1], numbers[2]);
  assert_true(fabs(v3_norm(v3_sub(first, center)) - 0.5) < 1e-6);
  assert_true(numbers[3 * points - 3] == 5 && fabs(numbers[3 * points - 1] - 5) < 0.1); /* the dot, falling */
  assert_int_equal(array(bodies, "velocity", 0, numbers, MOST), 3 * all);
  const long vertices = header(bodies, "NumberOfVerts"), polygons = header(bodies, "NumberOfPolys");
  assert_int_equal(vertices, 2);
  assert_int_equal(array(bodies, "body", 0, numbers, MOST), vertices + polygons);
  assert_true(numbers[0] == 2 && numbers[1] == -1 && numbers[2] == 0 && numbers[vertices + polygons - 1] == 1);
  check_cells(bodies, 0, vertices, all);
  check_cells(bodies, 1, polygons, points);
  assert_int_equal(array(bodies, "force", 0, numbers, MOST), 3 * all);
  assert_true(numbers[3 * points - 1] == 0); /* bodies have none */
  assert_true(fabs(numbers[3 * points + 2] - 9.81) < 1e-4 &&
              numbers[3 * points] < 0); /* weight and friction on the ball */
  assert_int_equal(array(bodies, "a", 0, numbers, MOST), all);
  assert_true(numbers[0] == -1 && numbers[points] == 0);
  free(bodies);
  char *world = read_file("r-world.vtp");
  assert_int_equal(header(world, "NumberOfPolys"), 1);
  free(world);
}

/* Runs and exports a scene; the text of one of the files, whose name starts with a letter for this scene. */
static char *exported(const char *scene_text, const char *file) {
  char result[2048], pvd[2048];
  ss_error error = {0};
  (void)snprintf(result, sizeof result, "%s/%c.h5", folder, file[0]);
  (void)snprintf(pvd, sizeof pvd, "%s/%c.pvd", folder, file[0]);
  record(scene_text, result);
  run_require(ss_export_vtk(result, pvd, 1, &error), &error, "export");
  return read_file(file);
}

/* Every edge of the triangles is met twice, in opposite directions: a closed surface. Its volume, by the divergence theorem. */
static double closed_volume(const double *p, int points, const double *corner, int triangles) {
  enum { LIMIT = 8 };
  int directed[LIMIT][LIMIT] = {{0}};
  double volume = 0;
  assert_true(points <= LIMIT);
  for (int t = 0; t < 3 * triangles; t += 3) {
    ss_vec3 x[3];
    for (int k = 0; k < 3; k++) {
      const int from = (int)corner[t + k], to = (int)corner[t + (k + 1) % 3];
      assert_true(from < points && to < points);
      directed[from][to]++;
      x[k] = v3(p[3 * from], p[3 * from + 1], p[3 * from + 2]);
    }
    volume += v3_dot(x[0], v3_cross(x[1], x[2])) / 6;
  }
  for (int i = 0; i < points; i++)
    for (int k = 0; k < points; k++) assert_true(directed[i][k] == directed[k][i] && directed[i][k] <= 1);
  return volume;
}

/* A file with one piece of surface: its points and the corners of its triangles. */
static void exported_surface(const char *text, const char *name, int points, double *p, int triangles, double *corner) {
  char *file = exported(text, name);
  assert_int_equal(header(file, "NumberOfPoints"), points);
  assert_int_equal(header(file, "NumberOfPolys"), triangles);
  check_cells(file, 1, triangles, points);
  assert_int_equal(array(file, "Points", 0, p, 3 * points), 3 * points);
  assert_int_equal(array(file, "connectivity", 1, corner, 3 * triangles), 3 * triangles);
  free(file);
}

/* A wedge that falls and spins: eight triangles on six shared corners, closed and outward. */
static void test_convex_is_closed(void **state) {
  (void)state;
  static const char text[] =
      "bodies:\n"
      "  - {name: wedge, mass: 1, position: [3, 0, 4], angular_velocity: [1, 2, 3], shapes: [{type: convex,\n"
      "     position: [0.5, 0, 0], points: [[0, 0, 0], [2, 0, 0], [0, 0, 1], [0, 3, 0], [2, 3, 0], [0, 3, 1]]}]}\n"
      "simulation: {scheme: moreau, step: 0.01, duration: 0.1}\n";
  double p[18], corner[24];
  exported_surface(text, "w-000010.vtp", 6, p, 8, corner);
  const double volume = closed_volume(p, 6, corner, 8);
  assert_true(fabs(volume - 3) < 1e-5); /* written with nine digits */
}

/* A mesh and a height field of the world, placed and turned: a closed tetrahedron of the right volume, and the field's points in
 * their places. */
static void test_world_meshes(void **state) {
  (void)state;
  static const char text[] =
      "world: {shapes: [\n"
      "  {type: mesh, position: [5, 0, 0], orientation: {axis: [1, 2, 3], angle: 0.7}, vertices: [[0, 0, 0], [2, 0, "
      "0],\n"
      "   [0, 3, 0], [0, 0, 4]], triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]]},\n"
      "  {type: height-field, position: [0, 10, 1], orientation: {axis: [0, 0, 1], angle: pi/2}, spacing: [2, 3],\n"
      "   heights: [[0, 1, 2], [3, 4, 5]]}]}\n"
      "bodies: [{name: ball, mass: 1, position: [0, 0, 50], shapes: [{type: sphere, radius: 0.5}]}]\n"
      "simulation: {scheme: moreau, step: 0.01, duration: 0.02}\n";
  double p[30], corner[24];
  exported_surface(text, "m-world.vtp", 10, p, 8, corner);
  assert_true(fabs(closed_volume(p, 4, corner, 4) - 4) < 1e-5);
  double far = 0; /* the edges from the corner at the origin keep their lengths and their corner its place */
  for (int k = 1; k < 4; k++) far += v3_norm(v3_sub(v3(p[3 * k], p[3 * k + 1], p[3 * k + 2]), v3(p[0], p[1], p[2])));
  assert_true(fabs(far - 9) < 1e-5 && fabs(p[0] - 5) < 1e-6 && fabs(p[1]) < 1e-6);
  for (int k = 0; k < 6; k++) { /* turned by a right angle: (x, y) -> (-y, x); the middle is at (0, 10, 1) */
    const double x = 2 * (k % 3 - 1), y = 3 * ((k >= 3) - 0.5), *at = p + 12 + 3 * k;
    assert_true(fabs(at[0] + y) < 1e-6 && fabs(at[1] - 10 - x) < 1e-6 && fabs(at[2] - 1 - k) < 1e-6);
  }
  double area = 0; /* seen from above the field's triangles cover it once, all turned upwards */
  for (int t = 12; t < 24; t += 3) {
    const double *a = p + 3 * (int)corner[t], *b = p + 3 * (int)corner[t + 1], *c = p + 3 * (int)corner[t + 2];
    const double twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    assert_true(twice > 0);
    area += twice / 2;
  }
  assert_true(fabs(area - 12) < 1e-5);
}

static void test_refusals(void **state) {
  (void)state;
  ss_error error = {0};
  assert_int_equal(ss_export_vtk("r.h5", "r.vtk", 1, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, ".pvd"));
  assert_int_not_equal(ss_export_vtk("missing.h5", "r.pvd", 1, &error), SS_OK);
}

static int set_up(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, BINARY_DIR "/test-vtk-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  char command[2048];
  (void)snprintf(command, sizeof command, "rm -r '%s'", folder);
  return system(command); // NOLINT(cert-env33-c)
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_frames_are_polydata),
                                     cmocka_unit_test(test_convex_is_closed), cmocka_unit_test(test_world_meshes),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
