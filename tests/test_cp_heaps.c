/* Random packings: "auto" where sweeps alone get stuck, and the smoothing Newton method by itself. */
#include "cp_problems.h"

#include "../bench/heap.h"

static ss_cp_result solve_heap(heap_spec spec, const char *solver) {
  packing p;
  ss_cp_workspace *w = new_workspace();
  assert_true(heap_create(&p, &spec));
  const ss_cp_options options = {.solver = solver, .tolerance = 1e-8};
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
  assert_true(result.outcome != SS_SOLVED || ss_cp_judge(&p.cp, p.z, NULL) <= 1e-8);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
  return result;
}

static heap_spec spec_of(int spheres, double mu, double shaking, double spread, uint64_t seed) {
  return (heap_spec){.spheres = spheres,
                     .slenderness = 1,
                     .spread = spread,
                     .density = 1,
                     .skin = 0.02,
                     .mu = mu,
                     .shaking = shaking,
                     .seed = seed};
}

static void smoothing_alone(void **state) {
  (void)state;
  assert_int_equal(solve_heap(spec_of(40, 0.4, 0, 1.2, 1), "smoothing").outcome, SS_SOLVED);
  assert_int_equal(solve_heap(spec_of(40, 0.4, 0.5, 1.2, 2), "smoothing").outcome, SS_SOLVED);
  assert_int_equal(solve_heap(spec_of(40, 1, 1, 1.2, 1), "smoothing").outcome, SS_SOLVED);
}

/* Accelerated sweeps stop in these, patches go on. */
static void stuck_places(void **state) {
  (void)state;
  const heap_spec specs[] = {spec_of(100, 0.4, 0.5, 1.2, 2), spec_of(100, 1, 1, 1.2, 1), spec_of(100, 0.8, 5, 1.2, 1)};
  for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
    assert_int_equal(solve_heap(specs[k], "nsgs-accelerated").outcome, SS_LIMIT);
    assert_int_equal(solve_heap(specs[k], "large").outcome, SS_SOLVED);
  }
}

static void at_rest(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++)
    assert_int_equal(solve_heap(spec_of(120, 0.3 + 0.2 * (double)seed, 0, 1 + (double)seed, seed), "auto").outcome,
                     SS_SOLVED);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(smoothing_alone), cmocka_unit_test(stuck_places),
                                     cmocka_unit_test(at_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
