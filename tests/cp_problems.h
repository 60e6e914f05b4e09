/* Generated problems and what the tests of the complementarity part do with them. */
#ifndef CP_PROBLEMS_H
#define CP_PROBLEMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cp_generators.h"

#include <stdio.h>

static inline ss_cp_workspace *new_workspace(void) {
  ss_cp_workspace *w = NULL;
  assert_int_equal(ss_cp_workspace_create(&w, NULL), SS_OK);
  return w;
}

static inline ss_cp_result solve_with(const owned_cp *p, const char *solver, bool warm, ss_cp_workspace *w) {
  ss_cp_options options = ss_cp_options_default();
  options.solver = solver;
  ss_cp_result result;
  ss_error error;
  assert_int_equal(ss_cp_solve(&p->cp, &options, warm, p->z, w, &result, &error), SS_OK);
  assert_true(result.outcome == SS_NOT_ADMITTED || result.residual == ss_cp_judge(&p->cp, p->z, NULL));
  return result;
}

#endif
