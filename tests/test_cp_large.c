/* Sparse problems and operators: the same judgement in every form, files bit by bit, packings solved, islands apart. */
#include "cp_problems.h"

#include "../bench/packing.h"
#include "cp/block_lu.h"
#include "cp/local.h"
#include "cp/storage.h"
#include "la/dissect.h"

#include <unistd.h>

static packing small_packing(ss_cone cone, double shaking) {
  packing p;
  assert_true(packing_create(&p, 4, 4, 4, cone, 4, 0.4, shaking));
  return p;
}

/* The packing moves when it is returned. */
static void attach(packing *p) { p->cp.factors = &p->factors; }

static void forms_agree(void **state) {
  (void)state;
  packing p = small_packing(SS_CONE_QUADRATIC, 0.3);
  attach(&p);
  ss_cp_workspace *w = new_workspace();
  assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
  ss_cp dense, sparse = p.cp;
  ss_sparse G;
  assert_int_equal(storage_dense(&p.cp, w, &dense, NULL), SS_OK);
  assert_int_equal(storage_rows(&p.cp, w, &G, NULL), SS_OK);
  sparse.factors = NULL;
  sparse.sparse = &G;
  assert_int_equal(ss_cp_validate(&sparse, NULL), SS_OK);
  /* G_ij = J_i A^-1 J_j^T, here with A diagonal */
  const int n = p.cp.n;
  for (int trial = 0; trial < 2000; trial++) {
    const int i = (trial * 7919) % n, j = trial % 3 ? (i / 3 * 3 + trial % 11) % n : (trial * 104729) % n;
    double sum = 0;
    for (int a = p.start[i]; a < p.start[i + 1]; a++)
      for (int b = p.start[j]; b < p.start[j + 1]; b++)
        if (p.col[a] == p.col[b]) sum += p.J[a] * p.J[b] / p.A[36 * (p.col[a] / 6) + 7 * (p.col[a] % 6)];
    assert_true(fabs(sum - dense.G[(size_t)i * (size_t)n + (size_t)j]) <= 1e-14);
  }
  random_source random = {5};
  double *z = calloc(4 * (size_t)n, sizeof *z), *slack = z + n;
  assert_non_null(z);
  for (int i = 0; i < n; i++) z[i] = random_between(&random, -1, 1);
  const double r[3] = {ss_cp_judge(&p.cp, z, slack), ss_cp_judge(&sparse, z, slack + n),
                       ss_cp_judge(&dense, z, slack + 2 * n)};
  assert_true(r[0] > 0.1 && fabs(r[0] - r[2]) <= 1e-14 && fabs(r[1] - r[2]) <= 1e-14);
  for (int i = 0; i < n; i++) assert_true(fabs(slack[i] - slack[2 * n + i]) <= 1e-13);
  free(z);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
}

static char path[256];

static void check_round_trip(const ss_cp *problem) {
  ss_cp_file file;
  assert_int_equal(ss_cp_write(problem, path, NULL), SS_OK);
  assert_int_equal(ss_cp_read(path, &file, NULL), SS_OK);
  const ss_sparse *a = problem->sparse ? problem->sparse : &problem->factors->J;
  const ss_sparse *b = problem->sparse ? file.problem.sparse : &file.problem.factors->J;
  assert_int_equal(b->start[b->rows], a->start[a->rows]);
  assert_memory_equal(a->start, b->start, sizeof(int) * ((size_t)a->rows + 1));
  assert_memory_equal(a->col, b->col, sizeof(int) * (size_t)a->start[a->rows]);
  assert_memory_equal(a->value, b->value, sizeof(double) * (size_t)a->start[a->rows]);
  assert_memory_equal(problem->g, file.problem.g, sizeof(double) * (size_t)problem->n);
  if (problem->factors) {
    const ss_cp_operator *o = problem->factors, *q = file.problem.factors;
    assert_int_equal(q->n_bodies, o->n_bodies);
    assert_memory_equal(q->A, o->A, sizeof(double) * 36 * (size_t)o->n_bodies);
    assert_int_equal(q->R.start != NULL, o->R.start != NULL);
    if (o->R.start) assert_memory_equal(q->R.value, o->R.value, sizeof(double) * (size_t)o->R.start[o->R.rows]);
  }
  ss_cp_file_release(&file);
}

static void round_trip(void **state) {
  (void)state;
  packing p = small_packing(SS_CONE_POLYHEDRAL, 0.3);
  attach(&p);
  ss_cp_workspace *w = new_workspace();
  ss_sparse G;
  assert_int_equal(storage_rows(&p.cp, w, &G, NULL), SS_OK);
  ss_cp sparse = p.cp;
  sparse.factors = NULL;
  sparse.sparse = &G;
  check_round_trip(&sparse);
  check_round_trip(&p.cp);
  p.factors.R = G; /* any matrix of the size will do */
  check_round_trip(&p.cp);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
}

static void damaged_files(void **state) {
  (void)state;
  static const char *const texts[] = {
      "stickslip-problem 1 rows 2 blocks 1 nonnegative 2 sparse 2 0 0 1 1 2 1 g 1 1",             /* column 2 of 2 */
      "stickslip-problem 1 rows 2 blocks 1 nonnegative 2 sparse 2 1 1 1 0 0 1 g 1 1",             /* rows descend */
      "stickslip-problem 1 rows 2 blocks 1 nonnegative 2 sparse 2 0 0 1 0 0 1 g 1 1",             /* twice */
      "stickslip-problem 1 rows 2 blocks 1 nonnegative 2 sparse 9999999 0 0 1 g 1 1",             /* not so many */
      "stickslip-problem 1 rows 1 blocks 1 nonnegative 1 factors 1 1 0 J 1 0 0 1 g 1",            /* singular */
      "stickslip-problem 1 rows 1 blocks 1 nonnegative 1 factors 1 13 0 J 1 0 0 1 g 1",           /* too large */
      "stickslip-problem 1 rows 1 blocks 1 nonnegative 1 factors 1 1 1 J 1 0 1 1 g 1",            /* no such body */
      "stickslip-problem 1 rows 1 blocks 1 nonnegative 1 factors 1 1 1 J 1 0 0 1 R 1 0 0 nan g 1" /* not finite */
  };
  for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(texts[k], file) >= 0);
    assert_int_equal(fclose(file), 0);
    ss_cp_file out;
    ss_error error = {0};
    assert_int_equal(ss_cp_read(path, &out, &error), SS_ERROR_INPUT);
    assert_true(error.message[0] != 0);
  }
}

static ss_cp_result solve(const ss_cp *problem, const char *solver, double tolerance, double *z, ss_cp_workspace *w) {
  const ss_cp_options options = {.solver = solver, .tolerance = tolerance};
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(problem, &options, false, z, w, &result, NULL), SS_OK);
  return result;
}

static void packings_solved(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  static const double shaking[] = {0, 0.3};
  for (int k = 0; k < 4; k++) {
    packing p = small_packing(k % 2 ? SS_CONE_POLYHEDRAL : SS_CONE_QUADRATIC, shaking[k / 2]);
    attach(&p);
    const ss_cp_result r = solve(&p.cp, "auto", 1e-8, p.z, w);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-8);
    packing_free(&p);
  }
  ss_cp_workspace_destroy(w);
}

/* Every solver that takes operators solves one of them; those that need G dense say so where it is too large. */
static void named_solvers(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  packing p = small_packing(SS_CONE_QUADRATIC, 0.3);
  attach(&p);
  static const char *const names[] = {"large", "nsgs-sparse", "nsgs-accelerated", "admm", "interior-point"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    const ss_cp_result r = solve(&p.cp, names[k], 1e-8, p.z, w);
    if (r.outcome != SS_SOLVED) print_message("%s: %s, %g\n", names[k], ss_outcome_name(r.outcome), r.residual);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-8);
  }
  packing_free(&p);
  assert_true(packing_create(&p, 6, 6, 6, SS_CONE_QUADRATIC, 0, 0.4, 0.3));
  assert_true(p.cp.n > SS_CP_DENSE_ROWS);
  assert_int_equal(solve(&p.cp, "nsgs", 1e-8, p.z, w).outcome, SS_NOT_ADMITTED);
  packing_free(&p);
  ss_cp_workspace_destroy(w);
}

/* Two packings in one problem, their contacts in turn: z of each is what it is alone, whichever comes first. */
static void islands_apart(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  packing p[2];
  assert_true(packing_create(&p[0], 4, 4, 3, SS_CONE_QUADRATIC, 0, 0.3, 0.2));
  assert_true(packing_create(&p[1], 3, 4, 4, SS_CONE_QUADRATIC, 0, 0.3, 0.5));
  const int n = p[0].cp.n + p[1].cp.n, blocks = n / 3;
  ss_sparse G[2];
  for (int k = 0; k < 2; k++) assert_int_equal(storage_rows(&p[k].cp, w, &G[k], NULL), SS_OK);
  double *z[2], *g = calloc((size_t)n, sizeof *g), *value;
  int *start = calloc((size_t)n + 1, sizeof *start), *col, *at[2],
      total = G[0].start[p[0].cp.n] + G[1].start[p[1].cp.n];
  ss_block *all = calloc((size_t)blocks, sizeof *all);
  col = calloc((size_t)total, sizeof *col);
  value = calloc((size_t)total, sizeof *value);
  assert_true(g && start && col && value && all);
  for (int k = 0; k < 2; k++) {
    z[k] = calloc((size_t)n, sizeof **z);
    at[k] = calloc((size_t)p[k].contacts, sizeof **at);
    assert_true(z[k] && at[k]);
  }
  for (int order = 0; order < 2; order++) {
    int next[2] = {0, 0}, row = 0, entry = 0;
    for (int b = 0; b < blocks; b++) { /* alternately, as long as both last */
      const int k = (b % 2) ^ order, from = next[k] < p[k].contacts ? k : 1 - k;
      at[from][next[from]++] = b;
      all[b] = p[0].blocks[0];
      all[b].first = 3 * b;
    }
    for (int b = 0; b < blocks; b++)
      for (int k = 0; k < 2; k++)
        for (int c = 0; c < p[k].contacts; c++) {
          if (at[k][c] != b) continue;
          for (int i = 3 * c; i < 3 * c + 3; i++) {
            start[row] = entry;
            g[row++] = p[k].g[i];
            for (int e = G[k].start[i]; e < G[k].start[i + 1]; e++) {
              col[entry] = 3 * at[k][G[k].col[e] / 3] + G[k].col[e] % 3;
              value[entry++] = G[k].value[e];
            }
          }
        }
    start[row] = entry;
    const ss_sparse both = {n, n, start, col, value};
    const ss_cp cp = {.n = n, .n_blocks = blocks, .g = g, .blocks = all, .sparse = &both};
    assert_int_equal(ss_cp_validate(&cp, NULL), SS_OK);
    assert_int_equal(solve(&cp, "auto", 1e-9, z[order], w).outcome, SS_SOLVED);
    if (order == 0) continue;
    for (int k = 0; k < 2; k++)
      for (int c = 0; c < p[k].contacts; c++) {
        const int here = at[k][c], m = here % 2 ? here - 1 : here + 1; /* where it stood in the other order */
        const bool paired = m < blocks && here < 2 * (p[0].contacts < p[1].contacts ? p[0].contacts : p[1].contacts);
        if (paired) assert_memory_equal(z[1] + 3 * (size_t)here, z[0] + 3 * (size_t)m, 3 * sizeof(double));
      }
  }
  for (int k = 0; k < 2; k++) {
    free(z[k]);
    free(at[k]);
    packing_free(&p[k]);
  }
  free(g);
  free(start);
  free(col);
  free(value);
  free(all);
  ss_cp_workspace_destroy(w);
}

/* A second solve of the same size takes no new memory. */
static void memory_reused(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  packing p = small_packing(SS_CONE_QUADRATIC, 0.3);
  attach(&p);
  (void)solve(&p.cp, "auto", 1e-8, p.z, w);
  const long growths = w->growths;
  (void)solve(&p.cp, "auto", 1e-8, p.z, w);
  assert_int_equal(w->growths, growths);
  packing_free(&p);
  ss_cp_workspace_destroy(w);
}

/* A square grid of blocks of different sizes, not symmetric: A x = b to rounding, and the same bytes for 1, 2 and 4 threads. */
static void check_factorisation(int side, int least) {
  const int nodes = side * side, most = nodes * 6; /* rows */
  random_source random = {17};
  int *size = calloc(7 * (size_t)nodes + 1, sizeof *size), *start = size + nodes, *col = start + nodes + 1, count = 0;
  double *x = calloc(4 * (size_t)most, sizeof *x), *b = x + most, *y = b + most, *first = y + most;
  assert_true(size && x);
  for (int i = 0; i < nodes; i++) {
    size[i] = least + i % 4;
    start[i] = count;
    for (int j = i - side; j <= i + side; j++)
      if (j >= 0 && j < nodes && abs(i % side - j % side) + abs(i / side - j / side) <= 1) col[count++] = j;
  }
  start[nodes] = count;
  for (int threads = 1; threads <= 4; threads *= 2) {
    ss_cp_workspace *w = new_workspace();
    block_lu lu;
    bool affordable;
    random.state = 17;
    assert_int_equal(ss_threads_create(threads, &w->threads, NULL), SS_OK);
    assert_int_equal(block_lu_analyse(&lu, nodes, size, start, col, 10, w, &affordable, NULL), SS_OK);
    assert_false(affordable);
    assert_int_equal(block_lu_analyse(&lu, nodes, size, start, col, HUGE_VAL, w, &affordable, NULL), SS_OK);
    assert_true(affordable);
    assert_true((lu.schedule.levels > 0) == (side > 9)); /* the larger one is shared */
    block_lu_clear(&lu);
    for (int i = 0; i < lu.n; i++) x[i] = random_between(&random, -1, 1);
    for (int i = 0, row = 0; i < nodes; row += size[i++]) {
      for (int r = 0; r < size[i]; r++) b[row + r] = 0;
      for (int e = start[i]; e < start[i + 1]; e++) {
        double *to = block_lu_entry(&lu, i, col[e]);
        int column = 0;
        for (int j = 0; j < col[e]; j++) column += size[j];
        for (int r = 0; r < size[i]; r++)
          for (int c = 0; c < size[col[e]]; c++) {
            const double value = random_between(&random, -1, 1) + (i == col[e] && r == c ? 8 : 0);
            to[r * size[col[e]] + c] = value;
            b[row + r] += value * x[column + c];
          }
      }
    }
    assert_true(block_lu_factor(&lu));
    block_lu_solve(&lu, b, y);
    for (int i = 0; i < lu.n; i++) assert_true(fabs(x[i] - y[i]) <= 1e-12);
    if (threads == 1) memcpy(first, y, sizeof *y * (size_t)lu.n);
    assert_memory_equal(first, y, sizeof *y * (size_t)lu.n);
    ss_threads_destroy(w->threads);
    ss_cp_workspace_destroy(w);
  }
  free(size);
  free(x);
}

static void factorisation(void **state) {
  (void)state;
  check_factorisation(9, 1);
  check_factorisation(30, 3);
}

static void elimination_orders(void **state) {
  (void)state;
  enum { SIDE = 9, NODES = SIDE * SIDE };
  int start[NODES + 1], col[5 * NODES], order[NODES], memory[4 * NODES], seen[NODES] = {0}, count = 0;
  for (int i = 0; i < NODES; i++) {
    start[i] = count;
    for (int j = 0; j < NODES; j++)
      if (abs(i % SIDE - j % SIDE) + abs(i / SIDE - j / SIDE) <= 1) col[count++] = j;
  }
  start[NODES] = count;
  ss_dissect(&(ss_graph){NODES, start, col}, order, memory);
  for (int i = 0; i < NODES; i++) seen[order[i]]++;
  for (int i = 0; i < NODES; i++) assert_int_equal(seen[i], 1);
}

/* Methods that share their loops give the same bytes for any number of threads. */
static void threads_share_methods(void **state) {
  (void)state;
  static const char *const methods[] = {"nsgs-accelerated", "admm", "interior-point", "large"};
  for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
    packing p[3];
    for (int k = 0; k < 3; k++) {
      assert_true(packing_create(&p[k], 9, 9, 6, SS_CONE_QUADRATIC, 4, 0.4, 0.3));
      attach(&p[k]);
      ss_cp_workspace *w = new_workspace();
      ss_cp_result result;
      const ss_cp_options options = {.solver = methods[m], .tolerance = 1e-4, .iteration_limit = 60};
      assert_int_equal(ss_threads_create(1 << k, &w->threads, NULL), SS_OK);
      assert_int_equal(ss_cp_solve(&p[k].cp, &options, false, p[k].z, w, &result, NULL), SS_OK);
      assert_true(result.residual < 0.1); /* there is something to compare */
      assert_memory_equal(p[0].z, p[k].z, sizeof(double) * (size_t)p[k].cp.n);
      ss_threads_destroy(w->threads);
      ss_cp_workspace_destroy(w);
    }
    for (int k = 0; k < 3; k++) packing_free(&p[k]);
  }
}

/* An LCP of n rows by entries: at most MOST per row. */
enum { MOST = 24 };
typedef struct listed_lcp {
  int n, *start, *col;
  double *value, *g, *z;
  ss_sparse rows;
  ss_block block;
  ss_cp cp;
} listed_lcp;

static void listed_create(listed_lcp *p, int n) {
  *p = (listed_lcp){.n = n, .block = {.kind = SS_BLOCK_NONNEGATIVE, .size = n}};
  p->start = calloc((size_t)n + 1, sizeof *p->start);
  p->col = calloc((size_t)n * MOST, sizeof *p->col);
  p->value = calloc((size_t)n * MOST, sizeof *p->value);
  p->g = calloc(2 * (size_t)n, sizeof *p->g);
  assert_true(p->start && p->col && p->value && p->g);
  p->z = p->g + n;
  p->rows = (ss_sparse){n, n, p->start, p->col, p->value};
  p->cp = (ss_cp){.n = n, .n_blocks = 1, .g = p->g, .blocks = &p->block, .sparse = &p->rows};
}

static void listed_free(listed_lcp *p) {
  free(p->start);
  free(p->col);
  free(p->value);
  free(p->g);
}

/* Row i gets an entry in column j, after those before. */
static void list_entry(listed_lcp *p, int i, int j, double x) {
  p->start[i + 1] = i && !p->start[i + 1] ? p->start[i] : p->start[i + 1];
  p->col[p->start[i + 1]] = j;
  p->value[p->start[i + 1]++] = x;
}

static ss_cp_result solve_listed(listed_lcp *p) {
  ss_cp_workspace *w = new_workspace();
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result result;
  assert_int_equal(ss_cp_validate(&p->cp, NULL), SS_OK);
  assert_int_equal(ss_cp_solve(&p->cp, &options, false, p->z, w, &result, NULL), SS_OK);
  ss_cp_workspace_destroy(w);
  return result;
}

/* A string above an obstacle: sweeps take as many as its points squared, and find the contact last. */
static void string_above_obstacle(void **state) {
  (void)state;
  enum { N = 4000, ITERATIONS = 3000 };
  listed_lcp p;
  listed_create(&p, N);
  double height[N + 2];
  for (int i = 0; i < N + 2; i++) {
    const double x = (double)i / (N + 1);
    height[i] = 0.2 - 4 * (x - 0.4) * (x - 0.4) + 0.05 * sin(20 * x);
  }
  for (int i = 0; i < N; i++) {
    if (i > 0) list_entry(&p, i, i - 1, -1);
    list_entry(&p, i, i, 2);
    if (i + 1 < N) list_entry(&p, i, i + 1, -1);
    p.g[i] = 2 * height[i + 1] - (i > 0 ? height[i] : 0) - (i + 1 < N ? height[i + 2] : 0);
  }
  const ss_cp_result result = solve_listed(&p);
  assert_int_equal(result.outcome, SS_SOLVED);
  assert_true(result.iterations < ITERATIONS);
  listed_free(&p);
}

/* Nearly skew and without any order: sweeps diverge and factors fill up, but pivots are few. */
static void skew_and_unordered(void **state) {
  (void)state;
  enum { N = 1000, LINKS = 3, ITERATIONS = 10 * N };
  static double M[N][N];
  random_source random = {29};
  for (int i = 0; i < N; i++) {
    M[i][i] = 0.1;
    for (int k = 0; k < LINKS; k++) {
      const int j = random_below(&random, N);
      if (j == i || M[i][j] != 0) continue;
      M[i][j] = random_between(&random, -1, 1);
      M[j][i] = -M[i][j];
    }
  }
  listed_lcp p;
  listed_create(&p, N);
  for (int i = 0; i < N; i++) p.z[i] = fmax(0, random_between(&random, -1, 1));
  for (int i = 0; i < N; i++) {
    p.g[i] = p.z[i] > 0 ? 0 : random_between(&random, 0, 1);
    for (int j = 0; j < N; j++) {
      if (M[i][j] == 0) continue;
      list_entry(&p, i, j, M[i][j]);
      p.g[i] -= M[i][j] * p.z[j];
    }
  }
  const ss_cp_result result = solve_listed(&p);
  assert_int_equal(result.outcome, SS_SOLVED);
  assert_true(result.iterations < ITERATIONS);
  listed_free(&p);
}

int main(void) {
  (void)snprintf(path, sizeof path, "%s/test_cp_large_%d.problem", BINARY_DIR, (int)getpid());
  const struct CMUnitTest tests[] = {cmocka_unit_test(forms_agree),           cmocka_unit_test(round_trip),
                                     cmocka_unit_test(damaged_files),         cmocka_unit_test(factorisation),
                                     cmocka_unit_test(elimination_orders),    cmocka_unit_test(threads_share_methods),
                                     cmocka_unit_test(string_above_obstacle), cmocka_unit_test(skew_and_unordered),
                                     cmocka_unit_test(packings_solved),       cmocka_unit_test(named_solvers),
                                     cmocka_unit_test(islands_apart),         cmocka_unit_test(memory_reused)};
  const int failed = cmocka_run_group_tests(tests, NULL, NULL);
  (void)unlink(path);
  return failed;
}
