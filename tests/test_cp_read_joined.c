/* Contacts with equations beside them (joints, multipliers) and rolling friction in global form, as FCLIB, as a listing and as
 * text of Siconos: the slacks of a random z are those that the parts of the file say, and the problem is solved. */
#include "cp_problems.h"
#include "fclib_writer.h"

#include <string.h>
#include <unistd.h>

enum { V = 7, JOINTS = 2, CONTACTS = 2, MOST = 40 };

static char path[256];

typedef struct parts {
  int d, rows, joints;
  double M[V * V], H[V * 5 * CONTACTS], N[V * JOINTS], f[V], w[5 * CONTACTS], b[JOINTS], mu[CONTACTS],
      rolling[CONTACTS];
} parts;

static parts random_parts(int d, int joints, unsigned seed) {
  parts p = {.d = d, .rows = d * CONTACTS, .joints = joints, .mu = {0.3, 0.7}, .rolling = {0.1, 0.2}};
  random_source random = {seed};
  for (int i = 0; i < V; i++) {
    p.f[i] = random_between(&random, -1, 1);
    p.M[V * i + i] = random_between(&random, 1, 3);
    if (i) p.M[V * i + i - 1] = p.M[V * (i - 1) + i] = 0.25;
    for (int j = 0; j < p.rows; j++) p.H[p.rows * i + j] = random_between(&random, -1, 1);
    for (int j = 0; j < joints; j++) p.N[joints * i + j] = random_between(&random, -1, 1);
  }
  for (int j = 0; j < p.rows; j++) p.w[j] = j % d ? random_between(&random, -1, 1) : 3;
  return p;
}

/* The slack of every row of z = (v, l, r), r with d rows per contact. */
static void slacks(const parts *p, const double *v, const double *l, const double *r, double *out) {
  for (int i = 0; i < V; i++) {
    out[i] = -p->f[i];
    for (int j = 0; j < V; j++) out[i] += p->M[V * i + j] * v[j];
    for (int j = 0; j < p->joints; j++) out[i] -= p->N[p->joints * i + j] * l[j];
    for (int j = 0; j < p->rows; j++) out[i] -= p->H[p->rows * i + j] * r[j];
  }
  for (int j = 0; j < p->joints; j++) {
    out[V + j] = p->b[j];
    for (int i = 0; i < V; i++) out[V + j] += p->N[p->joints * i + j] * v[i];
  }
  for (int j = 0; j < p->rows; j++) {
    out[V + p->joints + j] = p->w[j];
    for (int i = 0; i < V; i++) out[V + p->joints + j] += p->H[p->rows * i + j] * v[i];
  }
}

static void check_file(const parts *p) {
  ss_cp_file file;
  ss_error error = {0};
  if (ss_cp_read(path, &file, &error)) fail_msg("%s", error.message);
  const int first = V + p->joints, per = p->d == 5 ? 6 : p->d;
  assert_int_equal(file.problem.n, first + per * CONTACTS);
  double z[MOST] = {0}, w[MOST], r[MOST] = {0}, expected[MOST];
  random_source random = {5};
  for (int i = 0; i < first; i++) z[i] = random_between(&random, -1, 1);
  for (int c = 0; c < CONTACTS; c++)
    for (int k = 0; k < p->d; k++) {
      const int at = first + per * c + k + (k >= 3);
      z[at] = r[p->d * c + k] = random_between(&random, 0, 1);
      if (p->d == 5) z[first + per * c + 3] = z[first + per * c]; /* the copy of the normal impulse */
    }
  (void)ss_cp_judge(&file.problem, z, w);
  slacks(p, z, z + V, r, expected);
  for (int i = 0; i < first; i++) assert_true(fabs(w[i] - expected[i]) <= 1e-14);
  for (int c = 0; c < CONTACTS; c++) {
    for (int k = 0; k < p->d; k++)
      assert_true(fabs(w[first + per * c + k + (k >= 3)] - expected[first + p->d * c + k]) <= 1e-14);
    if (p->d == 5) assert_true(fabs(w[first + per * c + 3]) <= 1e-14);
  }
  for (int b = 1; b < file.problem.n_blocks; b++)
    assert_true(file.problem.blocks[b].mu == (p->d < 5 ? p->mu[b - 1]
                                              : b % 2  ? p->mu[(b - 1) / 2]
                                                       : p->rolling[(b - 1) / 2]));
  ss_cp_workspace *workspace = new_workspace();
  ss_cp_result result;
  const ss_cp_options options = ss_cp_options_default();
  assert_int_equal(ss_cp_solve(&file.problem, &options, false, z, workspace, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_SOLVED);
  ss_cp_workspace_destroy(workspace);
  ss_cp_file_release(&file);
}

static void vector(hid_t file, const char *group, const char *name, const double *x, int count) {
  char full[128];
  (void)snprintf(full, sizeof full, "%s/vectors/%s", group, name);
  put(file, full, H5T_NATIVE_DOUBLE, x, (size_t)count);
}

static void matrix_of(hid_t file, const char *group, const char *name, int rows, int cols, const double *a, int form) {
  char full[128];
  (void)snprintf(full, sizeof full, "%s/%s", group, name);
  put_dense(file, full, rows, cols, a, form);
}

static hid_t begin(const char *group, int d) {
  char full[128];
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  put_group(file, group);
  (void)snprintf(full, sizeof full, "%s/spacedim", group);
  put(file, full, H5T_NATIVE_INT, &d, 1);
  (void)snprintf(full, sizeof full, "%s/vectors", group);
  put_group(file, full);
  return file;
}

static void global_fclib(void **state) {
  (void)state;
  for (int k = 0; k < 12; k++) {
    const int d = (const int[]){2, 3, 5}[k % 3], joints = k / 6 * JOINTS, form = -(k / 3 % 3);
    const parts p = random_parts(d, joints, (unsigned)k + 1);
    const char *group = d == 5 ? "/fclib_global_rolling" : "/fclib_global";
    const hid_t file = begin(group, d);
    matrix_of(file, group, "M", V, V, p.M, form);
    matrix_of(file, group, "H", V, p.rows, p.H, form);
    if (joints) matrix_of(file, group, "G", V, joints, p.N, form);
    if (joints) vector(file, group, "b", p.b, joints);
    vector(file, group, "f", p.f, V);
    vector(file, group, "w", p.w, p.rows);
    vector(file, group, "mu", p.mu, CONTACTS);
    if (d == 5) vector(file, group, "mu_r", p.rolling, CONTACTS);
    (void)H5Fclose(file);
    check_file(&p);
  }
}

static void list(FILE *file, const char *name, int rows, int cols, const double *a) {
  (void)fprintf(file, cols ? "matrix %s %d %d %d\n" : "vector %s %d\n", name, rows, cols, rows * cols);
  for (int i = 0; i < rows * (cols ? cols : 1); i++) {
    if (cols) (void)fprintf(file, "%d %d ", i / cols, i % cols);
    (void)fprintf(file, "%.17g\n", a[i]);
  }
}

static void global_listing(void **state) {
  (void)state;
  for (int d = 3; d <= 5; d += 2) {
    const parts p = random_parts(d, JOINTS, 3);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fprintf(file, "problem fclib_global%s spacedim %d contacts 2\n", d == 5 ? "_rolling" : "", d);
    list(file, "M", V, V, p.M);
    list(file, "H", V, p.rows, p.H);
    list(file, "G", V, JOINTS, p.N);
    list(file, "f", V, 0, p.f);
    list(file, "w", p.rows, 0, p.w);
    list(file, "b", JOINTS, 0, p.b);
    list(file, "mu", CONTACTS, 0, p.mu);
    list(file, "mu_r", CONTACTS, 0, p.rolling);
    assert_int_equal(fclose(file), 0);
    check_file(&p);
  }
}

static void columns(FILE *file, int rows, int cols, const double *a) {
  (void)fprintf(file, "0\n%d\n%d\n%d %d\n", rows, cols, rows, cols);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++) (void)fprintf(file, "%.17g\n", a[cols * i + j]);
}

static void write_numbers(FILE *file, int count, const double *a) {
  for (int i = 0; i < count; i++) (void)fprintf(file, "%.17g\n", a[i]);
}

static void rolling_text(void **state) {
  (void)state;
  const parts p = random_parts(5, 0, 9);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fprintf(file, "5\n%d\n", CONTACTS);
  columns(file, V, V, p.M);
  columns(file, V, p.rows, p.H);
  write_numbers(file, V, p.f);
  write_numbers(file, p.rows, p.w);
  write_numbers(file, CONTACTS, p.mu);
  write_numbers(file, CONTACTS, p.rolling);
  assert_int_equal(fclose(file), 0);
  check_file(&p);
}

/* As many velocities as contact rows, and H sparse: not to be taken for the local form. */
static void square_text(void **state) {
  (void)state;
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  (void)fputs("2\n1\n0\n2\n2\n2 2\n2\n0\n0\n4\n2\n2\n2\n1\nCSparse Version 3\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n"
              "    0 0 : 1\n    1 1 : 1\n-2 1\n0 0\n0.5\n",
              file);
  assert_int_equal(fclose(file), 0);
  ss_cp_file read;
  assert_int_equal(ss_cp_read(path, &read, NULL), SS_OK);
  assert_string_equal(read.kind, "global-friction");
  assert_int_equal(read.problem.n, 4);
  ss_cp_file_release(&read);
}

/* V^T r + R l + s = 0,  u = W r + V l + q. */
static void local_with_equations(void **state) {
  (void)state;
  static const double W[] = {2, 0.25, 0, 0.25, 3, 0.5, 0, 0.5, 2}, across[] = {1, 0.5, -2, 0.25, 0.125, 1};
  static const double R[] = {-2, 0.5, 0.5, -3}, q[] = {-1, 0.5, 0.25}, s[] = {0.5, -0.25}, mu[] = {0.5};
  for (int form = -2; form <= 0; form++) {
    const hid_t file = begin("/fclib_local", 3);
    matrix_of(file, "/fclib_local", "W", 3, 3, W, form);
    matrix_of(file, "/fclib_local", "V", 3, 2, across, form);
    matrix_of(file, "/fclib_local", "R", 2, 2, R, form);
    vector(file, "/fclib_local", "q", q, 3);
    vector(file, "/fclib_local", "s", s, 2);
    vector(file, "/fclib_local", "mu", mu, 1);
    (void)H5Fclose(file);
    ss_cp_file read;
    assert_int_equal(ss_cp_read(path, &read, NULL), SS_OK);
    assert_int_equal(read.problem.n, 5);
    const double z[] = {1, 2, 4, 8, 16};
    double w[5];
    (void)ss_cp_judge(&read.problem, z, w);
    for (int k = 0; k < 2; k++) {
      double sum = s[k] + R[2 * k] * z[0] + R[2 * k + 1] * z[1];
      for (int i = 0; i < 3; i++) sum += across[2 * i + k] * z[2 + i];
      assert_true(fabs(w[k] - sum) <= 1e-14);
    }
    for (int i = 0; i < 3; i++) {
      double sum = q[i] + across[2 * i] * z[0] + across[2 * i + 1] * z[1];
      for (int j = 0; j < 3; j++) sum += W[3 * i + j] * z[2 + j];
      assert_true(fabs(w[2 + i] - sum) <= 1e-14);
    }
    ss_cp_file_release(&read);
  }
}

static void says_what_is_missing(void **state) {
  (void)state;
  const parts p = random_parts(5, 0, 1);
  const hid_t file = begin("/fclib_global_rolling", 5);
  matrix_of(file, "/fclib_global_rolling", "M", V, V, p.M, -1);
  matrix_of(file, "/fclib_global_rolling", "H", V, p.rows, p.H, -1);
  vector(file, "/fclib_global_rolling", "f", p.f, V);
  vector(file, "/fclib_global_rolling", "w", p.w, p.rows - 1);
  (void)H5Fclose(file);
  ss_cp_file read;
  ss_error error = {0};
  assert_int_equal(ss_cp_read(path, &read, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "/fclib_global_rolling/vectors/w has 9 numbers, expected 10"));
}

int main(void) {
  (void)snprintf(path, sizeof path, "%s/read_joined_%d.tmp", BINARY_DIR, (int)getpid());
  const struct CMUnitTest tests[] = {cmocka_unit_test(global_fclib),         cmocka_unit_test(global_listing),
                                     cmocka_unit_test(rolling_text),         cmocka_unit_test(square_text),
                                     cmocka_unit_test(local_with_equations), cmocka_unit_test(says_what_is_missing)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)unlink(path);
  return failed;
}
