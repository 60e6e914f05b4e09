/* Operators whose A is a sparse matrix and not blocks: masses with springs between them, masses with joints. */
#include "cp_suite.h"

#include "cp/storage.h"
#include "la/sparse.h"

#include <stdio.h>
#include <unistd.h>

/* Entries come row by row; `row` begins the next one. */
typedef struct built {
  ss_sparse m;
  int *start, *col, count;
  double *value;
} built;

static built build(int rows, int cols, int room) {
  built b = {.start = calloc((size_t)rows + 1, sizeof(int)), .col = calloc((size_t)room + 1, sizeof(int))};
  b.value = numbers(room);
  if (!b.start || !b.col) abort();
  b.m = (ss_sparse){rows, cols, b.start, b.col, b.value};
  return b;
}
static void put(built *b, int row, int col, double x) {
  b->col[b->count] = col;
  b->value[b->count++] = x;
  b->start[row + 1] = b->count;
}
static void finish(built *b) {
  for (int i = 0; i < b->m.rows; i++)
    if (b->start[i + 1] < b->start[i]) b->start[i + 1] = b->start[i];
}
static void drop(built *b) {
  free(b->start);
  free(b->col);
  free(b->value);
}

static void factors_of(const built *b, double most) {
  const int n = b->m.rows;
  random_source source = {5};
  ss_sparse_factors *f;
  assert_int_equal(ss_sparse_factor(&b->m, &f, NULL), SS_OK);
  double *x = numbers(n), *y = numbers(n);
  for (int i = 0; i < n; i++) x[i] = y[i] = random_between(&source, -1, 1);
  ss_sparse_solve(f, y, 1);
  for (int i = 0; i < n; i++) assert_true(fabs(sparse_dot(&b->m, i, y) - x[i]) <= most);
  ss_sparse_free(f);
  free(x);
  free(y);
}

static built random_matrix(int n, double share, double diagonal, uint64_t seed) {
  random_source source = {seed};
  built b = build(n, n, n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (j == (i + 7) % n || random_unit(&source) < share)
        put(&b, i, j, j == i ? diagonal : random_between(&source, -1, 1) * pow(10, random_below(&source, 3)));
  finish(&b);
  return b;
}

/* Nothing, little or much on the diagonal; entries of very different size. */
static void pivots_are_found(void **state) {
  (void)state;
  for (int k = 0; k < 3; k++) {
    built b = random_matrix(60 + 40 * k, 0.03, k == 0 ? 0 : pow(10, 3 * k - 5), (uint64_t)k);
    factors_of(&b, 1e-8);
    drop(&b);
  }
}

static void singular_is_said(void **state) {
  (void)state;
  built b = build(3, 3, 9);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) put(&b, i, j, 3 * i + j);
  finish(&b);
  ss_sparse_factors *f;
  ss_error error = {0};
  assert_int_equal(ss_sparse_factor(&b.m, &f, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "singular"));
  assert_null(f);
  drop(&b);
}

/* Masses in a row on the floor, pushed aside, each with a contact of three rows; A from the test. */
typedef struct row_of_masses {
  ss_cp cp;
  ss_cp_operator o;
  built A, J;
  ss_block *blocks;
  double *g;
} row_of_masses;

static row_of_masses place(int masses, int m, built A) {
  random_source source = {11};
  row_of_masses r = {.A = A, .J = build(3 * masses, m, 3 * masses), .g = numbers(3 * masses)};
  r.blocks = calloc((size_t)masses, sizeof *r.blocks);
  for (int k = 0; k < masses; k++) {
    r.blocks[k] =
        (ss_block){.kind = SS_BLOCK_FRICTION, .first = 3 * k, .size = 3, .cone = SS_CONE_QUADRATIC, .mu = 0.4};
    for (int i = 0; i < 3; i++) {
      put(&r.J, 3 * k + i, 3 * k + i, 1);
      r.g[3 * k + i] = i ? random_between(&source, -0.5, 0.5) : random_between(&source, -1, 0.2);
    }
  }
  finish(&r.J);
  return r;
}
static void point(row_of_masses *r) { /* the pointers of what has got its place */
  r->o = (ss_cp_operator){.J = r->J.m, .whole = r->A.m};
  r->cp = (ss_cp){.n = r->J.m.rows, .n_blocks = r->J.m.rows / 3, .g = r->g, .blocks = r->blocks, .factors = &r->o};
}
static void remove_masses(row_of_masses *r) {
  drop(&r->A);
  drop(&r->J);
  free(r->blocks);
  free(r->g);
}

/* 1 + h^2 k on the diagonal, -h^2 k between neighbours in each direction, and a skew part (gyroscopic). */
static built springs(int masses) {
  const int m = 3 * masses;
  built A = build(m, m, 4 * m);
  for (int i = 0; i < m; i++) {
    if (i >= 3) put(&A, i, i - 3, -0.8);
    if (i % 3 == 2) put(&A, i, i - 1, -0.3);
    put(&A, i, i, 1 + 0.8 * ((i >= 3) + (i + 3 < m)));
    if (i % 3 == 1) put(&A, i, i + 1, 0.3);
    if (i + 3 < m) put(&A, i, i + 3, -0.8);
  }
  finish(&A);
  return A;
}

static double solve_operator(const ss_cp *cp, double *z, const char *solver) {
  ss_cp_options options = ss_cp_options_default();
  ss_cp_result r;
  options.solver = solver;
  assert_int_equal(ss_cp_validate(cp, NULL), SS_OK);
  assert_int_equal(ss_cp_solve(cp, &options, false, z, workspace, &r, NULL), SS_OK);
  assert_int_equal(r.outcome, SS_SOLVED);
  assert_true(r.residual == ss_cp_judge(cp, z, NULL));
  return r.residual;
}

/* Against the matrix itself, each column by dense elimination. */
static void springs_between_masses(void **state) {
  (void)state;
  enum { MASSES = 20, N = 3 * MASSES };
  row_of_masses r = place(MASSES, N, springs(MASSES));
  point(&r);
  ss_cp dense;
  double z[N] = {0}, other[N] = {0}, A[N][N] = {{0}};
  assert_true(solve_operator(&r.cp, z, "auto") < 1e-10);
  assert_int_equal(storage_dense(&r.cp, workspace, &dense, NULL), SS_OK);
  for (int i = 0; i < N; i++)
    for (int k = r.A.start[i]; k < r.A.start[i + 1]; k++) A[i][r.A.col[k]] = r.A.value[k];
  for (int j = 0; j < N; j++) /* A G = 1, because J is the identity */
    for (int i = 0; i < N; i++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += A[i][k] * dense.G[k * N + j];
      assert_true(fabs(sum - (i == j)) < 1e-13);
    }
  assert_true(solve_operator(&dense, other, "alart-curnier") < 1e-10);
  for (int i = 0; i < N; i++) assert_true(fabs(z[i] - other[i]) < 1e-8);
  remove_masses(&r);
}

/* Masses of 2 with rods between neighbours along the row: [M K^T; K 0]. */
static built rods(int masses) {
  const int n = 3 * masses, count = masses - 1;
  built A = build(n + count, n + count, n + 4 * count);
  for (int i = 0; i < n; i++) {
    put(&A, i, i, 2);
    if (i % 3 == 1 && i / 3 > 0) put(&A, i, n + i / 3 - 1, 1);
    if (i % 3 == 1 && i / 3 < count) put(&A, i, n + i / 3, -1);
  }
  for (int k = 0; k < count; k++) {
    put(&A, n + k, 3 * k + 1, -1);
    put(&A, n + k, 3 * k + 4, 1);
  }
  finish(&A);
  return A;
}

/* The same with the multipliers as free rows of a problem with blocks. */
static void joints_between_masses(void **state) {
  (void)state;
  enum { MASSES = 30, N = 3 * MASSES, RODS = MASSES - 1, M = N + RODS };
  row_of_masses r = place(MASSES, M, rods(MASSES));
  point(&r);
  double z[N] = {0}, other[RODS + N] = {0};
  assert_true(solve_operator(&r.cp, z, "auto") < 1e-10);
  double *G = numbers((RODS + N) * (RODS + N)), g[RODS + N] = {0};
  ss_block blocks[MASSES + 1] = {{.kind = SS_BLOCK_FREE, .size = RODS}};
  enum { ALL = RODS + N };
  for (int k = 0; k < RODS; k++) {
    G[k * ALL + k] = 1;
    if (k > 0) G[k * ALL + k - 1] = -0.5;
    if (k + 1 < RODS) G[k * ALL + k + 1] = -0.5;
    for (int end = 0; end < 2; end++) {
      const int row = RODS + 3 * (k + end) + 1;
      G[k * ALL + row] = G[row * ALL + k] = end ? 0.5 : -0.5;
    }
  }
  for (int i = 0; i < N; i++) {
    G[(RODS + i) * (ALL + 1)] = 0.5;
    g[RODS + i] = r.g[i];
  }
  for (int b = 0; b < MASSES; b++) {
    blocks[b + 1] = r.blocks[b];
    blocks[b + 1].first += RODS;
  }
  const ss_cp free_rows = {.n = ALL, .n_blocks = MASSES + 1, .G = G, .g = g, .blocks = blocks};
  assert_true(solve_operator(&free_rows, other, "auto") < 1e-10);
  for (int i = 0; i < N; i++) assert_true(fabs(z[i] - other[RODS + i]) < 1e-7);
  free(G);
  remove_masses(&r);
}

/* More rows than a dense matrix may have. */
static void many_masses(void **state) {
  (void)state;
  enum { MASSES = SS_CP_DENSE_ROWS / 3 + 50 };
  for (int k = 0; k < 2; k++) {
    row_of_masses r = place(MASSES, k ? 4 * MASSES - 1 : 3 * MASSES, k ? rods(MASSES) : springs(MASSES));
    point(&r);
    double *z = numbers(3 * MASSES);
    assert_true(solve_operator(&r.cp, z, "auto") < 1e-10);
    free(z);
    remove_masses(&r);
  }
}

static void written_and_read(void **state) {
  (void)state;
  enum { MASSES = 3, N = 3 * MASSES };
  row_of_masses r = place(MASSES, N, springs(MASSES));
  point(&r);
  char path[] = "whole-XXXXXX";
  const int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  (void)close(descriptor);
  ss_cp_file file = {0};
  assert_int_equal(ss_cp_write(&r.cp, path, NULL), SS_OK);
  assert_int_equal(ss_cp_read(path, &file, NULL), SS_OK);
  (void)remove(path);
  const ss_sparse *A = &file.problem.factors->whole;
  assert_int_equal(A->rows, N);
  assert_int_equal(A->start[N], r.A.count);
  assert_memory_equal(A->col, r.A.col, sizeof(int) * (size_t)r.A.count);
  assert_memory_equal(A->value, r.A.value, sizeof(double) * (size_t)r.A.count);
  ss_cp_file_release(&file);
  remove_masses(&r);
}

static void bad_ones_are_refused(void **state) {
  (void)state;
  row_of_masses r = place(2, 6, springs(2));
  point(&r);
  ss_error error = {0};
  r.A.value[0] = NAN;
  assert_int_equal(ss_cp_validate(&r.cp, &error), SS_ERROR_INPUT);
  double z[6] = {0};
  ss_cp_result result;
  const ss_cp_options options = ss_cp_options_default();
  assert_int_equal(ss_cp_solve(&r.cp, &options, false, z, workspace, &result, &error), SS_OK);
  assert_int_not_equal(result.outcome, SS_SOLVED);
  for (int k = 0; k < r.A.count; k++) r.A.value[k] = 0;
  assert_int_equal(ss_cp_validate(&r.cp, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "singular"));
  remove_masses(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pivots_are_found),
      cmocka_unit_test(singular_is_said),
      cmocka_unit_test(springs_between_masses),
      cmocka_unit_test(joints_between_masses),
      cmocka_unit_test(many_masses),
      cmocka_unit_test(written_and_read),
      cmocka_unit_test(bad_ones_are_refused),
  };
  return CP_SUITE("cp_whole", tests);
}
