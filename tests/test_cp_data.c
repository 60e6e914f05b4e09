/* Problems of other programs, from ../shared/data or $STICKSLIP_DATA: every one is solved by the ladder, with a residual
 * at rounding level; where a reference is listed, it is met. Skipped where the data are not there. */
#include "cp_suite.h"

#include <dirent.h>
#include <sys/stat.h>

static char root[1024];

static bool ends_with(const char *text, const char *end) {
  const size_t a = strlen(text), b = strlen(end);
  return a >= b && strcmp(text + a - b, end) == 0;
}

/* Largest residual divided by the size of g: independent of the units, as the judge's is not. */
static double relative_residual(const ss_cp *cp, const double *z) {
  double largest = 0;
  for (int i = 0; i < cp->n; i++) largest = fmax(largest, fabs(cp->g[i]));
  const double residual = ss_cp_judge(cp, z, NULL) * (1 + largest);
  return largest > 0 ? residual / largest : residual;
}

static int solve_file(const char *path) {
  ss_cp_file file;
  ss_error error;
  const ss_status status = ss_cp_read(path, &file, &error);
  if (status) print_error("%s: %s\n", path, error.message);
  assert_int_equal(status, SS_OK);
  double *z = calloc((size_t)file.problem.n + 1, sizeof *z);
  assert_non_null(z);
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result r;
  assert_int_equal(ss_cp_solve(&file.problem, &options, false, z, workspace, &r, &error), SS_OK);
  const double relative = relative_residual(&file.problem, z);
  const bool good = r.outcome == SS_SOLVED && r.residual <= 1e-10 && relative <= 1e-7;
  if (!good)
    print_error("%s: %s by %s, residual %g (relative %g)\n", path, ss_outcome_name(r.outcome), r.solver, r.residual,
                relative);
  free(z);
  ss_cp_file_release(&file);
  return !good;
}

/* Solves all files of a folder with one of the endings, except those that hold `excluded`. */
static void solve_folder(const char *name, const char *ending, const char *excluded) {
  char folder[1200], path[1600];
  (void)snprintf(folder, sizeof folder, "%s/%s", root, name);
  DIR *dir = opendir(folder);
  if (!dir) {
    print_message("%s is not there: skipped\n", folder);
    skip();
  }
  int count = 0, failed = 0;
  for (const struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
    if (!ends_with(entry->d_name, ending) || (excluded && strstr(entry->d_name, excluded))) continue;
    (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    count++;
    failed += solve_file(path);
  }
  closedir(dir);
  assert_true(count > 0);
  assert_int_equal(failed, 0);
}

static void siconos_lcp(void **state) {
  (void)state;
  solve_folder("siconos_lcp", ".dat", NULL);
}
static void siconos_mlcp(void **state) {
  (void)state;
  solve_folder("siconos_mlcp", ".dat", "Rectangular");
}
static void siconos_relay(void **state) {
  (void)state;
  solve_folder("siconos_relay", ".dat", NULL);
}
static void siconos_friction(void **state) {
  (void)state;
  solve_folder("siconos_fc", ".dat", NULL);
}
static void siconos_global(void **state) {
  (void)state;
  solve_folder("siconos_gfc", ".dat", NULL);
}
static void siconos_mechanical(void **state) {
  (void)state;
  solve_folder("siconos_gmp", ".dat", NULL);
}
static void fclib(void **state) {
  (void)state;
  solve_folder("fclib_hdf5", ".hdf5", NULL);
}
static void contactbench(void **state) {
  (void)state;
  solve_folder("contactbench", ".txt", NULL);
}

/* |z - P(z - w)|, P the projection on the disc of radius r. */
static double off_disc(const double *z, const double *w, double r) {
  double x = z[0] - w[0], y = z[1] - w[1];
  const double length = hypot(x, y), shrink = length > r ? r / length : 1;
  x = z[0] - x * shrink;
  y = z[1] - y * shrink;
  return hypot(x, y);
}

/* Rolling friction, judged on the five rows per contact that the file has, read here once more. */
static void rolling_file(const char *name) {
  char path[1600];
  (void)snprintf(path, sizeof path, "%s/siconos_rolling/%s", root, name);
  FILE *text = fopen(path, "r");
  if (!text) skip();
  int d, contacts, storage, rows, cols;
  assert_int_equal(fscanf(text, "%d %d %d %d %d %*d %*d", &d, &contacts, &storage, &rows, &cols), 5);
  assert_true(d == 5 && storage == 0 && rows == 5 * contacts && cols == rows && rows <= 70);
  static double W[70 * 70];
  double q[70], mu[28], z[84], r[70], u[70];
  for (int i = 0; i < rows * rows; i++) assert_int_equal(fscanf(text, "%lf", &W[i]), 1); /* by columns */
  for (int i = 0; i < rows; i++) assert_int_equal(fscanf(text, "%lf", &q[i]), 1);
  for (int i = 0; i < 2 * contacts; i++) assert_int_equal(fscanf(text, "%lf", &mu[i]), 1);
  fclose(text);
  ss_cp_file file;
  assert_int_equal(ss_cp_read(path, &file, NULL), SS_OK);
  assert_string_equal(file.kind, "rolling-friction");
  assert_int_equal(file.problem.n, 6 * contacts);
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&file.problem, &options, false, z, workspace, &result, NULL), SS_OK);
  ss_cp_file_release(&file);
  double worst = 0, largest = 0;
  for (int i = 0; i < rows; i++) r[i] = z[i / 5 * 6 + i % 5 + (i % 5 >= 3)];
  for (int i = 0; i < rows; i++) {
    u[i] = q[i];
    for (int j = 0; j < rows; j++) u[i] += W[j * rows + i] * r[j];
    largest = fmax(largest, fabs(q[i]));
  }
  for (int c = 0; c < contacts; c++) {
    const double *rc = r + (size_t)5 * (size_t)c, *uc = u + (size_t)5 * (size_t)c, normal = fmax(rc[0], 0);
    worst = fmax(worst, fabs(fmin(rc[0], uc[0])));
    worst = fmax(worst, off_disc(rc + 1, uc + 1, mu[c] * normal));
    worst = fmax(worst, off_disc(rc + 3, uc + 3, mu[contacts + c] * normal));
  }
  if (worst > 1e-9 * largest) print_error("%s: residual %g, |q| %g\n", name, worst, largest);
  assert_true(worst <= 1e-9 * largest);
}

static void siconos_rolling(void **state) {
  (void)state;
  rolling_file("RFC3D_cube_1.dat");
  rolling_file("RFC3D_sphere_1.dat");
  rolling_file("rockfall_14_25792.dat");
}

/* Three equations in two unknowns, read as they are stored: u - v = 0 and -u - v + 1 = 0 leave u = v = 1/2, where the
 * third row is w = 2 beside v > 0. There is no solution, and that is what is said. */
static void siconos_rectangular(void **state) {
  (void)state;
  char path[1600];
  ss_cp_file file;
  struct stat info;
  (void)snprintf(path, sizeof path, "%s/siconos_mlcp/Rectangular_mlcp.dat", root);
  if (stat(path, &info)) skip();
  assert_int_equal(ss_cp_read(path, &file, NULL), SS_OK);
  ss_cp_diagnosis d;
  assert_int_equal(ss_cp_diagnose(&file.problem, 1e-10, 0, workspace, &d, NULL), SS_OK);
  assert_int_equal(d.solutions, SS_SET_NONE);
  ss_cp_file_release(&file);
}

/* The text conversions are the same problems as the HDF5 files: bit by bit. */
static void text_equals_hdf5(void **state) {
  (void)state;
  static const char *const names[] = {"Box_Stacks-i0122-82-5", "LMGC_100_PR_PerioBox-i00361-60-03000"};
  for (int k = 0; k < 2; k++) {
    char path[1600];
    ss_cp_file a, b;
    (void)snprintf(path, sizeof path, "%s/fclib_hdf5/%s.hdf5", root, names[k]);
    struct stat info;
    if (stat(path, &info)) skip();
    assert_int_equal(ss_cp_read(path, &a, NULL), SS_OK);
    (void)snprintf(path, sizeof path, "%s/fclib_hdf5/%s.txt", root, names[k]);
    assert_int_equal(ss_cp_read(path, &b, NULL), SS_OK);
    assert_int_equal(a.problem.n, b.problem.n);
    const size_t n = (size_t)a.problem.n;
    for (size_t i = 0; i < n * n; i++)
      assert_true(fabs(a.problem.G[i] - b.problem.G[i]) <= 1e-15 * fabs(a.problem.G[i]));
    for (size_t i = 0; i < n; i++) assert_true(a.problem.g[i] == b.problem.g[i]);
    ss_cp_file_release(&a);
    ss_cp_file_release(&b);
  }
}

typedef struct listed {
  int n, count;
  double z[8][32];
} listed;

static void remember(void *user, const double *z) {
  listed *l = user;
  if (l->count < 8) memcpy(l->z[l->count++], z, sizeof(double) * (size_t)l->n);
}

static bool near(const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    if (fabs(a[i] - b[i]) > 1e-7 * (1 + fabs(b[i]))) return false;
  return true;
}

/* The solutions listed in lcp_literature: the ladder finds one of them, or another of a continuum; where there is only
 * one, it is that; and the enumeration finds every isolated one. */
static void literature_file(const char *path) {
  ss_cp_file file;
  assert_int_equal(ss_cp_read(path, &file, NULL), SS_OK);
  const int n = file.problem.n;
  assert_true(n <= 32);
  double z[32] = {0}, known[32];
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result r;
  assert_int_equal(ss_cp_solve(&file.problem, &options, false, z, workspace, &r, NULL), SS_OK);
  FILE *text = fopen(path, "r");
  assert_non_null(text);
  char line[4096];
  double skipped;
  int solutions = -1;
  while (fgets(line, sizeof line, text) && line[0] == '#') {}
  for (int i = 0; i < n * n + n; i++) assert_int_equal(fscanf(text, "%lf", &skipped), 1);
  assert_int_equal(fscanf(text, "%d", &solutions), 1);
  assert_int_equal(r.outcome == SS_SOLVED, solutions > 0);
  if (solutions == 0) assert_int_equal(r.outcome, SS_RAY);
  for (int k = 0; k < solutions; k++) {
    for (int i = 0; i < n; i++) assert_int_equal(fscanf(text, "%lf", &known[i]), 1);
    assert_true(ss_cp_judge(&file.problem, known, NULL) < 1e-9);
    if (solutions == 1) assert_true(near(z, known, n));
  }
  fclose(text);
  if (solutions == 1) {
    listed l = {.n = n};
    int count = 0;
    assert_int_equal(ss_cp_all_solutions(&file.problem, 1e-10, workspace, remember, &l, &count, NULL), SS_OK);
    assert_int_equal(count, 1);
    assert_true(near(l.z[0], known, n));
  }
  ss_cp_file_release(&file);
}

static void literature(void **state) {
  (void)state;
  static const char *const names[] = {
      "dart_lemke_4d",       "handbook_10_2_1", "handbook_10_2_2",   "handbook_10_2_3", "handbook_10_2_9_l1",
      "handbook_10_2_9_l16", "kostreva_1",      "mcp_dirkse_ferris", "murty_ex_2_11",   "murty_ex_2_8"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    char path[1600];
    struct stat info;
    (void)snprintf(path, sizeof path, "%s/lcp_literature/%s.lcp", root, names[k]);
    if (stat(path, &info)) skip();
    print_message("%s\n", names[k]);
    literature_file(path);
  }
}

static int set_up(void **state) {
  const char *given = getenv("STICKSLIP_DATA");
  (void)snprintf(root, sizeof root, "%s", given ? given : SOURCE_DIR "/../shared/data");
  return open_workspace(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(literature),         cmocka_unit_test(siconos_lcp),
      cmocka_unit_test(siconos_mlcp),       cmocka_unit_test(siconos_relay),
      cmocka_unit_test(siconos_friction),   cmocka_unit_test(siconos_global),
      cmocka_unit_test(siconos_mechanical), cmocka_unit_test(fclib),
      cmocka_unit_test(siconos_rolling),    cmocka_unit_test(siconos_rectangular),
      cmocka_unit_test(contactbench),       cmocka_unit_test(text_equals_hdf5),
  };
  return cmocka_run_group_tests_name("cp_data", tests, set_up, close_workspace);
}
