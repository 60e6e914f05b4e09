/* A suite of tests that solve problems: one workspace for all of them, and the count of what was not solved. */
#ifndef CP_SUITE_H
#define CP_SUITE_H

#include "cp_problems.h"

static ss_cp_workspace *workspace;

static inline int open_workspace(void **state) {
  (void)state;
  return ss_cp_workspace_create(&workspace, NULL);
}

static inline int close_workspace(void **state) {
  (void)state;
  ss_cp_workspace_destroy(workspace);
  return 0;
}

#define CP_SUITE(name, tests) cmocka_run_group_tests_name(name, tests, open_workspace, close_workspace)

/* Solves; 1 and a message where that fails. */
static inline int fails(const owned_cp *p, const char *solver, bool warm, const char *what, int trial) {
  const ss_cp_result r = solve_with(p, solver, warm, workspace);
  if (r.outcome == SS_SOLVED && r.residual <= ss_cp_options_default().tolerance) return 0;
  print_error("%s %d: %s by %s, residual %g, %d iterations, %d rows\n", what, trial, ss_outcome_name(r.outcome),
              r.solver, r.residual, r.iterations, p->cp.n);
  return 1;
}

/* Random mechanics, with up to `extra` normal impulse carried over: every problem is solved, and again from its own
 * solution. */
static inline void solve_random(mechanics_spec s, double extra, const char *what, uint64_t seed) {
  random_source random = {seed};
  int unsolved = 0;
  for (int trial = 0; trial < 200; trial++) {
    owned_cp p = random_mechanics(&random, s);
    for (int b = 0; b < p.cp.n_blocks; b++)
      if (p.blocks[b].kind == SS_BLOCK_FRICTION) p.blocks[b].extra = extra * random_unit(&random);
    assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
    unsolved += fails(&p, "auto", false, what, trial);
    unsolved += fails(&p, "auto", true, what, trial);
    owned_free(&p);
  }
  assert_int_equal(unsolved, 0);
}

#endif
