/* The operations of "auto": counted, and bounded by the caller. */
#include "cp_suite.h"

#include "cp_random.h"

static ss_cp_result solve_within(const ss_cp *problem, double total, double *z) {
  ss_cp_options options = ss_cp_options_default();
  ss_cp_result result;
  options.total = total;
  assert_int_equal(ss_cp_solve(problem, &options, false, z, workspace, &result, NULL), SS_OK);
  return result;
}

/* A bimatrix game is hard enough: no method but pivots solves it, after others. */
static void test_total(void **state) {
  (void)state;
  random_source random = {5};
  for (int k = 0; k < 5; k++) {
    owned_cp p = lcp_bimatrix(&random, 120);
    double *z = numbers(p.cp.n);
    const double n = p.cp.n;
    const ss_cp_result all = solve_within(&p.cp, 0, z), little = solve_within(&p.cp, n * n * n, z);
    const ss_cp_result much = solve_within(&p.cp, 1e3 * all.operations, z);
    assert_true(all.operations > n * n);
    assert_true(little.operations <= 8 * n * n * n); /* a method looks at its work between steps, not within one */
    assert_int_equal(much.outcome, all.outcome);
    assert_true(much.operations == all.operations);
    free(z);
    owned_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_total)};
  return CP_SUITE("work", tests);
}
