/* Large files: matrices that are read by their entries give the same problem as the one that was written. */
#include "cp_problems.h"
#include "fclib_writer.h"

#include "../bench/heap.h"
#include "cp/storage.h"

#include <unistd.h>

static char path[256];

static packing heap(void) { /* 1,300 rows: more than what is read dense */
  packing p;
  const heap_spec spec = {.spheres = 140,
                          .slenderness = 1,
                          .spread = 1.5,
                          .density = 2,
                          .skin = 0.02,
                          .mu = 0.4,
                          .shaking = 0.3,
                          .seed = 7};
  assert_true(heap_create(&p, &spec));
  assert_true(p.cp.n > 1024);
  return p;
}

/* form: 0 triplets (backwards), -2 compressed rows. */
static void put_matrix(hid_t file, const char *group, const ss_sparse *a, int form) {
  char name[128];
  const int count = a->start[a->rows], nz = form == 0 ? count : form;
  int *i = calloc((size_t)count, sizeof *i), *j = calloc((size_t)count, sizeof *j);
  double *x = calloc((size_t)count, sizeof *x);
  assert_true(i && j && x);
  for (int r = 0; r < a->rows; r++)
    for (int k = a->start[r]; k < a->start[r + 1]; k++) {
      const int to = form == 0 ? count - 1 - k : k;
      i[to] = form == 0 ? r : a->col[k];
      j[to] = a->col[k];
      x[to] = a->value[k];
    }
  put_group(file, group);
  const struct {
    const char *name;
    const int *data;
    size_t count;
  } parts[] = {{"m", &a->rows, 1},
               {"n", &a->cols, 1},
               {"nz", &nz, 1},
               {"i", i, (size_t)count},
               {"p", form == 0 ? j : a->start, form == 0 ? (size_t)count : (size_t)a->rows + 1}};
  for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
    (void)snprintf(name, sizeof name, "%s/%s", group, parts[k].name);
    put(file, name, H5T_NATIVE_INT, parts[k].data, parts[k].count);
  }
  (void)snprintf(name, sizeof name, "%s/x", group);
  put(file, name, H5T_NATIVE_DOUBLE, x, (size_t)count);
  free(i);
  free(j);
  free(x);
}

/* z, w and the residual of the problem that was read are those of the one that was written. */
static void compare(const packing *p, const char *file_name) {
  ss_cp_file file;
  ss_error error = {0};
  const ss_status status = ss_cp_read(file_name, &file, &error);
  if (status) print_message("%s\n", error.message);
  assert_int_equal(status, SS_OK);
  const int n = p->cp.n;
  assert_int_equal(file.problem.n, n);
  assert_null(file.problem.G);
  double *z = calloc(3 * (size_t)n, sizeof *z);
  assert_non_null(z);
  random_source random = {3};
  for (int i = 0; i < n; i++) z[i] = random_between(&random, -1, 1);
  const double a = ss_cp_judge(&p->cp, z, z + n), b = ss_cp_judge(&file.problem, z, z + 2 * n);
  assert_true(fabs(a - b) <= 1e-12);
  for (int i = 0; i < n; i++) assert_true(fabs(z[n + i] - z[2 * n + i]) <= 1e-11);
  free(z);
  ss_cp_file_release(&file);
}

static void put_vectors(hid_t file, const char *group, const packing *p, const char *name) {
  char full[128];
  double *mu = calloc((size_t)p->contacts, sizeof *mu);
  assert_non_null(mu);
  for (int c = 0; c < p->contacts; c++) mu[c] = p->blocks[c].mu;
  const int three = 3;
  (void)snprintf(full, sizeof full, "%s/spacedim", group);
  put(file, full, H5T_NATIVE_INT, &three, 1);
  (void)snprintf(full, sizeof full, "%s/vectors", group);
  put_group(file, full);
  (void)snprintf(full, sizeof full, "%s/vectors/mu", group);
  put(file, full, H5T_NATIVE_DOUBLE, mu, (size_t)p->contacts);
  (void)snprintf(full, sizeof full, "%s/vectors/%s", group, name);
  put(file, full, H5T_NATIVE_DOUBLE, p->g, (size_t)p->cp.n);
  free(mu);
}

/* A heap and the rows of its matrix, which live in *w. */
static void heap_with_matrix(packing *p, ss_cp_workspace **w, ss_sparse *G) {
  *p = heap();
  p->cp.factors = &p->factors;
  *w = new_workspace();
  assert_int_equal(storage_rows(&p->cp, *w, G, NULL), SS_OK);
}

static void local_fclib(void **state) {
  (void)state;
  packing p;
  ss_cp_workspace *w;
  ss_sparse G;
  heap_with_matrix(&p, &w, &G);
  for (int form = -2; form <= 0; form += 2) {
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_group(file, "/fclib_local");
    put_matrix(file, "/fclib_local/W", &G, form);
    put_vectors(file, "/fclib_local", &p, "q");
    (void)H5Fclose(file);
    compare(&p, path);
  }
  ss_cp_workspace_destroy(w);
  packing_free(&p);
}

/* M v = f + H r, w = H^T v + b with f = 0: bodies with their velocities in reverse order, then with a stiff chain through all of them. */
static void global_fclib(void **state) {
  (void)state;
  for (int chained = 0; chained < 2; chained++) {
    packing p = heap();
    p.cp.factors = &p.factors;
    ss_cp_workspace *w = new_workspace();
    const int m = 6 * p.spheres;
    int *start = calloc((size_t)m + 1, sizeof *start), *col = calloc(3 * (size_t)m, sizeof *col), at = 0;
    double *value = calloc(3 * (size_t)m, sizeof *value), *f = calloc((size_t)m, sizeof *f);
    assert_true(start && col && value && f);
    for (int i = 0; i < m; i++) { /* velocity i of the file is number m - 1 - i of the packing */
      const int own = m - 1 - i;
      start[i] = at;
      for (int j = i - 6; j <= i + 6; j += 6) {
        if (j < 0 || j >= m || (j != i && !chained)) continue;
        col[at] = j;
        value[at++] = j == i ? p.A[36 * (own / 6) + 7 * (own % 6)] + (chained ? 2 : 0) : -1;
      }
    }
    start[m] = at;
    for (int k = 0; k < p.start[p.cp.n]; k++) p.col[k] = m - 1 - p.col[k]; /* descending now: only for the transpose */
    ss_sparse H;
    assert_int_equal(sparse_transpose(&p.factors.J, w, &H, NULL), SS_OK);
    const ss_sparse M = {m, m, start, col, value};
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    put_group(file, "/fclib_global");
    put_matrix(file, "/fclib_global/M", &M, 0);
    put_matrix(file, "/fclib_global/H", &H, -2);
    put_vectors(file, "/fclib_global", &p, "w");
    put(file, "/fclib_global/vectors/f", H5T_NATIVE_DOUBLE, f, (size_t)m);
    (void)H5Fclose(file);
    for (int k = 0; k < p.start[p.cp.n]; k++) p.col[k] = m - 1 - p.col[k];
    if (!chained) {
      compare(&p, path);
    } else { /* w = H^T v + b where M v = H r: r random, v by conjugate gradients */
      ss_cp_file read;
      assert_int_equal(ss_cp_read(path, &read, NULL), SS_OK);
      const int n = p.cp.n;
      double *z = calloc(2 * (size_t)n + 4 * (size_t)m, sizeof *z);
      assert_non_null(z);
      double *slack = z + n, *v = slack + n, *r = v + m, *d = r + m, *q = d + m, rr = 0;
      random_source random = {3};
      for (int i = 0; i < n; i++) z[i] = random_between(&random, -1, 1);
      (void)ss_cp_judge(&read.problem, z, slack);
      for (int i = 0; i < m; i++) {
        for (int k = H.start[i]; k < H.start[i + 1]; k++) r[i] += H.value[k] * z[H.col[k]];
        d[i] = r[i];
        rr += r[i] * r[i];
      }
      for (int pass = 0; pass < 2000 && rr > 1e-28; pass++) {
        double dq = 0, next = 0;
        for (int i = 0; i < m; i++) {
          q[i] = 0;
          for (int k = start[i]; k < start[i + 1]; k++) q[i] += value[k] * d[col[k]];
          dq += d[i] * q[i];
        }
        for (int i = 0; i < m; i++) {
          v[i] += rr / dq * d[i];
          r[i] -= rr / dq * q[i];
          next += r[i] * r[i];
        }
        for (int i = 0; i < m; i++) d[i] = r[i] + next / rr * d[i];
        rr = next;
      }
      for (int i = 0; i < m; i++)
        for (int k = H.start[i]; k < H.start[i + 1]; k++) slack[H.col[k]] -= H.value[k] * v[i];
      for (int i = 0; i < n; i++) assert_true(fabs(slack[i] - p.g[i]) <= 1e-10);
      free(z);
      ss_cp_file_release(&read);
    }
    free(start);
    free(col);
    free(value);
    free(f);
    ss_cp_workspace_destroy(w);
    packing_free(&p);
  }
}

/* The text form of Siconos, sparse by columns; the matrix is symmetric. */
static void siconos_text(void **state) {
  (void)state;
  packing p;
  ss_cp_workspace *w;
  ss_sparse G;
  heap_with_matrix(&p, &w, &G);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  const int n = p.cp.n;
  (void)fprintf(file, "3\n%d\n2\n%d\n%d\n2\nCSparse Version 3\n%d-by-%d, nzmax: %d nnz: %d, 1-norm: 1\n", p.contacts, n,
                n, n, n, G.start[n], G.start[n]);
  for (int j = 0; j < n; j++) {
    (void)fprintf(file, "    col %d : locations %d to %d\n", j, G.start[j], G.start[j + 1] - 1);
    for (int k = G.start[j]; k < G.start[j + 1]; k++) (void)fprintf(file, "      %d : %.17g\n", G.col[k], G.value[k]);
  }
  for (int i = 0; i < n; i++) (void)fprintf(file, "%.17g\n", p.g[i]);
  for (int c = 0; c < p.contacts; c++) (void)fprintf(file, "%.17g\n", p.blocks[c].mu);
  assert_int_equal(fclose(file), 0);
  compare(&p, path);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
}

int main(void) {
  (void)snprintf(path, sizeof path, "%s/read_sparse_%d.tmp", BINARY_DIR, (int)getpid());
  const struct CMUnitTest tests[] = {cmocka_unit_test(local_fclib), cmocka_unit_test(global_fclib),
                                     cmocka_unit_test(siconos_text)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)unlink(path);
  return failed;
}
