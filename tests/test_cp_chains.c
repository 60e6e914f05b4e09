/* Sparse problems that hang together along one chain of rows: nothing that looks like islands where the pattern is not symmetric,
 * and an outcome, not an error, where a large one with free rows has no solution. */
#include "cp_problems.h"

enum { ROWS = 3100 };

typedef struct chain {
  ss_cp cp;
  ss_sparse G;
  ss_block blocks[2];
  int start[ROWS + 1], col[3 * ROWS];
  double value[3 * ROWS], g[ROWS];
} chain;

/* Entries below, on and above the diagonal; the last row is free. */
static void make_chain(chain *c, double below, double diagonal, double above) {
  int at = 0;
  for (int i = 0; i < ROWS; i++) {
    c->start[i] = at;
    for (int j = i - 1; j <= i + 1; j++) {
      const double value = j < i ? below : j == i ? diagonal : above;
      if (j < 0 || j == ROWS || value == 0) continue;
      c->col[at] = j;
      c->value[at++] = value;
    }
    c->g[i] = 1;
  }
  c->start[ROWS] = at;
  c->blocks[0] = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = ROWS - 1};
  c->blocks[1] = (ss_block){.kind = SS_BLOCK_FREE, .first = ROWS - 1, .size = 1};
  c->G = (ss_sparse){ROWS, ROWS, c->start, c->col, c->value};
  c->cp = (ss_cp){.n = ROWS, .n_blocks = 2, .g = c->g, .blocks = c->blocks, .sparse = &c->G};
  assert_int_equal(ss_cp_validate(&c->cp, NULL), SS_OK);
}

static ss_cp_result solve(const ss_cp *problem, double *z) {
  ss_cp_workspace *w = new_workspace();
  ss_cp_result result;
  ss_cp_options options = ss_cp_options_default();
  assert_int_equal(ss_cp_solve(problem, &options, false, z, w, &result, NULL), SS_OK);
  ss_cp_workspace_destroy(w);
  return result;
}

/* z_i = 0 where the row before pushes, else -g: by substitution from the first row on. */
static void one_sided(void **state) {
  (void)state;
  static chain c;
  static double z[ROWS];
  make_chain(&c, 1.5, 1, 0);
  for (int i = 0; i < ROWS; i++) c.g[i] = -1;
  assert_int_equal(solve(&c.cp, z).outcome, SS_SOLVED);
  double last = 0;
  for (int i = 0; i < ROWS; i++) {
    const double pushed = 1 - 1.5 * last;
    last = pushed > 0 || i == ROWS - 1 ? pushed : 0;
    assert_true(fabs(z[i] - last) <= 1e-8);
  }
}

/* w_0 + w_1 = -2 - z_2 / 10 < 0. */
static void contradiction(void **state) {
  (void)state;
  static chain c;
  static double z[ROWS];
  make_chain(&c, -0.1, 1, -0.1);
  c.value[1] = c.value[2] = -1;
  c.g[0] = c.g[1] = -1;
  const ss_cp_result result = solve(&c.cp, z);
  assert_true(result.outcome != SS_SOLVED && result.residual > 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_sided), cmocka_unit_test(contradiction)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
