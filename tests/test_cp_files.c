/* Problem files: what is written is read back bit by bit; every format in a small example; damaged files are refused
 * without a crash. */
#include "cp_problems.h"

#include <unistd.h>

static char path[256];

static void write_file(const char *text, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static ss_status read_text(const char *text, ss_cp_file *out, ss_error *error) {
  write_file(text, strlen(text));
  return ss_cp_read(path, out, error);
}

static void round_trip(void **state) {
  (void)state;
  random_source random = {4};
  owned_cp p = random_mechanics(
      &random,
      (mechanics_spec){
          .dofs = 9, .joints = 2, .limits = 1, .contacts = 2, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 8});
  p.blocks[1] = (ss_block){.kind = SS_BLOCK_BOX, .first = 2, .size = 1, .lower = -HUGE_VAL, .upper = 0.1};
  p.blocks[2].extra = 0.3;
  p.blocks[3].cone = SS_CONE_QUADRATIC;
  p.g[0] = 0x1.fffffffffffffp-1022;
  assert_int_equal(ss_cp_write(&p.cp, path, NULL), SS_OK);
  ss_cp_file file;
  assert_int_equal(ss_cp_read(path, &file, NULL), SS_OK);
  assert_string_equal(file.kind, "general");
  assert_int_equal(file.problem.n, p.cp.n);
  assert_int_equal(file.problem.n_blocks, p.cp.n_blocks);
  assert_memory_equal(file.problem.G, p.G, sizeof(double) * (size_t)(p.cp.n * p.cp.n));
  assert_memory_equal(file.problem.g, p.g, sizeof(double) * (size_t)p.cp.n);
  for (int b = 0; b < p.cp.n_blocks; b++) {
    const ss_block *x = &p.blocks[b], *y = &file.problem.blocks[b];
    assert_true(x->kind == y->kind && x->first == y->first && x->size == y->size && x->lower == y->lower &&
                x->upper == y->upper && x->mu == y->mu && x->extra == y->extra);
    if (x->kind == SS_BLOCK_FRICTION) assert_true(x->cone == y->cone && x->directions == y->directions);
  }
  ss_cp_file_release(&file);
  owned_free(&p);
  assert_int_equal(ss_cp_write(&p.cp, "/nowhere/at/all", NULL), SS_ERROR_IO);
  assert_int_equal(ss_cp_read("/nowhere/at/all", &file, NULL), SS_ERROR_IO);
}

/* One small file of each format. */
static const char *const examples[] = {
    "stickslip-problem 1\nrows 2\nblocks 1\nnonnegative 2\nG\n2 1\n1 2\ng\n-5 -6\n",
    "# comment\n2\n2 1\n1 2\n-5 -6\n1\n1.5 2\n",
    "2\n0\n2\n2\n2 2\n2 1 1 2\n-5 -6\nremark\n",
    "2\n0\n2\n2\n2 2\n1 0 0 1\n-0.5 0.5\n-1 -1\n1 1\n",
    "1\n1\n1\n1\n0 1 2\n0 1\n0\n2\n2\n2 2\n1 0 -1 1\n-1 1\n",
    "3\n1\n0\n3\n3\n3 3\n15 -1 -2 -1 14 1 -2 1 16\n-1 2 3\n0.1\n",
    "2\n1\n2\n2\n2\n1\nCSparse Version 3\ntriplet: 2-by-2, nzmax: 2 nnz: 2\n 0 0 : 2\n 1 1 : 3\n-1 1\n0.5\n",
    "2\n1\n2\n2\n2\n2\nCSparse Version 3\n2-by-2, nzmax: 2 nnz: 2, 1-norm: 3\n col 0 : locations 0 to 0\n 0 : 2\n"
    " col 1 : locations 1 to 1\n 1 : 3\n-1 1\n0.5\n",
    "3\n1\n0\n3\n3\n3 3\n1 0 0 0 1 0 0 0 1\n0\n3\n3\n3 3\n1 0 0 0 1 0 0 0 1\n-1 2 3\n0 0 0\n0.1\n0\n",
    "1\n3\n3\n1\n1\n1\n3\n3\n2\n1\n0 1\n0\n0\n2 0 0 0 2 0 0 0 2\n-1 1 1\n4\n0.1\n",
    "problem fclib_local spacedim 2 contacts 1\nmatrix W 2 2 2\n0 0 2\n1 1 3\nvector q 2\n-1\n1\nvector mu 1\n0.5\n",
    "problem fclib_global spacedim 2 contacts 1\nmatrix M 2 2 2\n0 0 2\n1 1 2\nmatrix H 2 2 2\n0 0 1\n1 1 1\n"
    "vector f 2\n-1 1\nvector w 2\n0 0\nvector mu 1\n0.5\n",
    "problem contactbench_ncp spacedim 3 contacts 1\nmatrix G 3 3 3\n0 0 2\n1 1 3\n2 2 5\nvector g 3\n1 1 -1\n"
    "vector mu 1\n0.5\n",
    /* more equations than free variables: u - v = 0 twice, w = u + v - 1; and fewer: w = v + u2 - 1, u1 = v */
    "1\n0\n1\n1\n0 1 2\n0 1\n0\n3\n2\n3 2\n1 2 1 -1 -2 1\n0 0 -1\n",
    "1\n0\n2\n1\n0 2 3\n0 1\n0\n2\n3\n2 3\n1 0 0 1 -1 1\n0 -1\n",
    /* rolling friction: unit matrix, rolls and slides */
    "5\n1\n0\n5\n5\n5 5\n1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1 0 0 0 0 0 1\n-2 3 4 0.6 0.8\n0.5\n0.05\n",
};
enum { EXAMPLES = sizeof examples / sizeof *examples };

static void every_format(void **state) {
  (void)state;
  static const char *const kinds[EXAMPLES] = {"general",         "lcp",        "lcp",       "box-lcp",
                                              "mixed-lcp",       "friction",   "friction",  "friction",
                                              "global-friction", "mechanical", "friction",  "global-friction",
                                              "friction",        "mixed-lcp",  "mixed-lcp", "rolling-friction"};
  ss_cp_workspace *w = new_workspace();
  for (int k = 0; k < EXAMPLES; k++) {
    ss_cp_file file;
    ss_error error;
    const ss_status status = read_text(examples[k], &file, &error);
    if (status) print_error("example %d: %s\n", k, error.message);
    assert_int_equal(status, SS_OK);
    assert_string_equal(file.kind, kinds[k]);
    double z[8];
    ss_cp_result r;
    const ss_cp_options options = ss_cp_options_default();
    assert_int_equal(ss_cp_solve(&file.problem, &options, false, z, w, &r, &error), SS_OK);
    assert_int_equal(r.outcome, SS_SOLVED);
    if (k < 3) assert_true(fabs(z[0] - 4.0 / 3) < 1e-14 && fabs(z[1] - 7.0 / 3) < 1e-14);
    if (k == 13) assert_true(file.problem.n == 3 && fabs(z[0] - 0.5) < 1e-14 && fabs(z[2] - 0.5) < 1e-14);
    if (k == 14) assert_true(file.problem.n == 3 && fabs(z[0] - z[2]) < 1e-14 && z[2] >= 0);
    if (k == 15)
      for (int i = 0; i < 6; i++) assert_true(fabs(z[i] - (double[]){2, -0.6, -0.8, 2, -0.06, -0.08}[i]) < 1e-14);
    if (k == 12) assert_true(file.problem.G[0] == 5 && file.problem.g[0] == -1 && file.problem.G[8] == 3);
    ss_cp_file_release(&file);
  }
  ss_cp_workspace_destroy(w);
}

/* A plain LCP needs no comment in front where its numbers leave no doubt, alone or with known solutions behind them. */
static void without_comment(void **state) {
  (void)state;
  static const char *const texts[] = {"2\n2 1\n1 2\n-5 -6\n", "2\n2 1\n1 2\n-5 -6\n1\n1.3 2.3\n"};
  for (int k = 0; k < 2; k++) {
    ss_cp_file file;
    ss_error error;
    assert_int_equal(read_text(texts[k], &file, &error), SS_OK);
    assert_string_equal(file.kind, "lcp");
    assert_true(file.problem.n == 2 && file.problem.G[1] == 1 && file.problem.g[1] == -6);
    ss_cp_file_release(&file);
  }
  ss_cp_file file;
  ss_error error;
  assert_int_equal(read_text("2\n2 1\n1 2\n-5 -6\n7\n", &file, &error), SS_ERROR_INPUT);
}

static void wrong_files(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "",
      "hello",
      "stickslip-problem 2\n",
      "stickslip-problem 1\nrows 2\nblocks 1\nnonnegative 3\n",
      "stickslip-problem 1\nrows 1\nblocks 1\nnonnegative 1\nG\nnan\ng\n1\n",
      "stickslip-problem 1\nrows 9999999\nblocks 1\nfree 9999999\nG\n1\n",
      "stickslip-problem 1\nrows 1\nblocks 1\nfriction 1 quadratic 0 0.5 0\nG\n1\ng\n1\n",
      "2\n0\n2\n2\n2 2\n2 1 1\n",
      "3\n1\n0\n3\n3\n3 3\n15 -1 -2 -1 14 1 -2 1 16\n-1 2 3\n-0.1\n",
      "problem fclib_local spacedim 3 contacts 1\nmatrix W 2 2 1\n5 5 1\n",
      "problem fclib_local spacedim 3 contacts 1\nvector q 3\n1 2 3\n",
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    ss_cp_file file;
    ss_error error;
    assert_int_equal(read_text(wrong[k], &file, &error), SS_ERROR_INPUT);
    assert_true(strlen(error.message) > 3 && strlen(error.file) > 0);
    assert_null(file.memory);
  }
}

/* The message names the token to blame and its place: the next one where something else was expected, the last one where
 * its value is wrong. */
static void places(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line, column;
    const char *message;
  } wrong[] = {
      {"", 1, 1, "expected a problem file of a known format (docs/problem-format.md), but the file ends"},
      {"2\n0 2 hello", 2, 5, "expected a problem file of a known format (docs/problem-format.md), found 'hello'"},
      {"stickslip-problem 1\nrows two\n", 2, 6, "expected rows N, found 'two'"},
      {"stickslip-problem 1\nrows 2\nblocks 3\n", 3, 8, "expected blocks N, at most one per row, found '3'"},
      {"stickslip-problem 1\nrows 2\nblocks 1\nnonnegative 3\n", 4, 13, NULL},
      {"stickslip-problem 1\nrows 2\nblocks 1\nnonnegative 1\nG\n", 4, 13,
       "the blocks cover fewer rows than the problem has"},
      {"stickslip-problem 1\nrows 1\nblocks 1\nbox 2 1\nG\n", 4, 7, NULL},
      {"stickslip-problem 1\nrows 1\nblocks 1\nbox nan 1\n", 4, 5, "expected box LOWER UPPER, found 'nan'"},
      {"stickslip-problem 1\nrows 1\nblocks 1\nfree 1\nG\n  1e400\ng\n1\n", 6, 3,
       "expected a finite number, found '1e400'"},
      {"stickslip-problem 1\nrows 1\nblocks 1\nfree 1\nG\n1\ng\n", 8, 1, "expected a finite number, but the file ends"},
      {"stickslip-problem 1\nrows 1\nblocks 1\nfree 1\nG\n1\ng\n1 2\n", 8, 3,
       "expected the end of the file, found '2'"},
      {"stickslip-problem 1\nrows 2\nblocks 1\nfree 2\nsparse 2\n0 1 1\n0 0 1\ng\n1 1\n", 7, 5,
       "the columns of a row must ascend"},
      {"stickslip-problem 1\nrows 2\nblocks 1\nfree 2\nsparse 2\n0 0 1\n1 2 1\ng\n1 1\n", 7, 5,
       "the entry is outside the matrix"},
      {"2\n0\n2\n2\n2 2\n2 1 x\n", 6, 5, "expected a matrix entry, found 'x'"},
      {"2\n0\n2\n2\n2 3\n2 1\n", 5, 3, "expected the size of the dense matrix again, found '3'"},
      {"2\n0\n2\n2\n2 2\n1 0 0 1\n-1 1\n-1 -1\n1\n", 10, 1,
       "expected a bound, but the file ends"}, /* a relay cut off */
      {"2\n1\n0\n2\n2\n2 2\n1 0 0 1\n-1 0\n-0.5\n", 9, 1,
       "expected a friction coefficient, not negative, found '-0.5'"},
      {"problem fclib_local spacedim 2 contacts 1\nvector mu 1\n-0.5\n", 3, 1,
       "expected a friction coefficient, not negative, found '-0.5'"},
      {"# LCP\n1\n1.5D\n-1\n", 3, 1, "expected a finite number, found '1.5D'"},
      {"problem fclib spacedim 2 contacts 1\n", 1, 35,
       "the kind of a problem is fclib_local, fclib_global, fclib_global_rolling or contactbench_ncp"},
      {"problem fclib_local spacedim 4 contacts 1\n", 1, 41, "spacedim must be 2 or 3"},
      {"problem fclib_local spacedim 2 contacts 1\nvektor q 2\n", 2, 1,
       "expected matrix NAME ROWS COLUMNS NONZEROS or vector NAME ROWS, found 'vektor'"},
      {"problem fclib_local spacedim 2 contacts 1\nmatrix W 2 2 1\n0 5 1\n", 3, 3,
       "expected the indices of an entry, found '5'"},
  };
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    ss_cp_file file;
    ss_error error = {0};
    assert_int_equal(read_text(wrong[k].text, &file, &error), SS_ERROR_INPUT);
    if (wrong[k].message) assert_string_equal(error.message, wrong[k].message);
    assert_string_equal(error.file, path);
    assert_int_equal(error.line, wrong[k].line);
    assert_int_equal(error.column, wrong[k].column);
  }
  ss_cp_file file;
  ss_error error = {0};
  write_file("PK\3\4\0\0", 6);
  assert_int_equal(ss_cp_read(path, &file, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "bytes that are not text"));
  assert_int_equal(read_text("# LCP\n1\n2.5D-01\n-1d0\n", &file, NULL), SS_OK); /* from Fortran */
  assert_true(file.problem.G[0] == 0.25 && file.problem.g[0] == -1);
  ss_cp_file_release(&file);
  assert_int_equal(read_text("\xef\xbb\xbf# LCP\r\n1\r\n2\r\n-1\r\n", &file, NULL), SS_OK); /* from another system */
  ss_cp_file_release(&file);
}

/* Every prefix of every example, and random changes of single bytes: an error or a problem, never a crash. */
static void damaged_files(void **state) {
  (void)state;
  random_source random = {6};
  for (int k = 0; k < EXAMPLES; k++) {
    const size_t length = strlen(examples[k]);
    for (size_t cut = 0; cut < length; cut++) {
      ss_cp_file file;
      write_file(examples[k], cut);
      if (ss_cp_read(path, &file, NULL) == SS_OK) assert_int_equal(ss_cp_validate(&file.problem, NULL), SS_OK);
      ss_cp_file_release(&file);
    }
    for (int trial = 0; trial < 200; trial++) {
      char copy[512];
      ss_cp_file file;
      memcpy(copy, examples[k], length);
      copy[random_below(&random, (int)length)] = "0123456789 -.\n:#ax"[random_below(&random, 18)];
      write_file(copy, length);
      if (ss_cp_read(path, &file, NULL) == SS_OK) assert_int_equal(ss_cp_validate(&file.problem, NULL), SS_OK);
      ss_cp_file_release(&file);
    }
  }
}

static int set_up(void **state) {
  (void)state;
  (void)snprintf(path, sizeof path, "%s/cp_files_%ld.problem", BINARY_DIR, (long)getpid());
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  return remove(path) ? -1 : 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_trip),  cmocka_unit_test(every_format), cmocka_unit_test(without_comment),
      cmocka_unit_test(wrong_files), cmocka_unit_test(places),       cmocka_unit_test(damaged_files),
  };
  return cmocka_run_group_tests_name("cp_files", tests, set_up, tear_down);
}
