/* Over-relaxation and the order of the contacts: other ways to the same solution, dense and sparse, for every cone. */
#include "cp_problems.h"

#include "../bench/packing.h"
#include "cp/gauss_seidel.h"
#include "cp/storage.h"

/* w is unique where G is positive semi-definite and friction moderate: a heap at rest. */
static void same_solution(void **state) {
  (void)state;
  static const struct {
    const char *solver;
    double relaxation;
    ss_cp_order order;
  } ways[] = {{"nsgs-sparse", 1, SS_ORDER_GIVEN},
              {"nsgs-sparse", 1.3, SS_ORDER_GIVEN},
              {"nsgs-sparse", 0.8, SS_ORDER_BREADTH},
              {"nsgs-sparse", 1, SS_ORDER_SHUFFLED},
              {"nsgs", 1, SS_ORDER_GIVEN},
              {"nsgs", 1.3, SS_ORDER_BREADTH},
              {"nsgs", 0.8, SS_ORDER_SHUFFLED}};
  static const ss_cone cones[] = {SS_CONE_QUADRATIC, SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID};
  ss_cp_workspace *w = new_workspace();
  for (int c = 0; c < 3; c++) {
    packing p;
    assert_true(packing_create(&p, 3, 3, 2, cones[c], 4, 0.3, 0));
    const int n = p.cp.n;
    double *first = calloc(2 * (size_t)n, sizeof *first);
    assert_non_null(first);
    int different = 0, iterations = 0;
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
      const ss_cp_options options = {
          .solver = ways[k].solver, .tolerance = 1e-9, .relaxation = ways[k].relaxation, .order = ways[k].order};
      ss_cp_result result;
      assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
      assert_int_equal(result.outcome, SS_SOLVED);
      assert_true(ss_cp_judge(&p.cp, p.z, first + (k ? n : 0)) <= 1e-9);
      for (int i = 0; i < n && k; i++) assert_true(fabs(first[i] - first[n + i]) <= 1e-6);
      different += k && result.iterations != iterations;
      iterations = result.iterations;
    }
    assert_true(different > 0); /* the options do something */
    free(first);
    packing_free(&p);
  }
  ss_cp_workspace_destroy(w);
}

static void orders(void **state) {
  (void)state;
  /* 0 - 2 - 4 - 1, 3 alone */
  static const int start[] = {0, 1, 2, 4, 4, 6}, col[] = {2, 4, 0, 4, 1, 2}, breadth[] = {0, 2, 4, 1, 3};
  const ss_graph graph = {5, start, col};
  int order[5], count[5] = {0};
  bool seen[5];
  order_nodes(&graph, SS_ORDER_BREADTH, order, seen);
  assert_memory_equal(order, breadth, sizeof order);
  order_nodes(&graph, SS_ORDER_SHUFFLED, order, seen);
  for (int k = 0; k < 5; k++) count[order[k]]++;
  for (int k = 0; k < 5; k++) assert_int_equal(count[k], 1);
}

static void stays_in_the_set(void **state) {
  (void)state;
  random_source random = {11};
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  for (int trial = 0; trial < 3000; trial++) {
    const ss_block block = {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = cones[trial % 3], .directions = 6, .mu = 0.5};
    double z[2][3];
    for (int k = 0; k < 2; k++) { /* in the disc inside all of the sets */
      const double angle = random_between(&random, 0, 6.283), r = random_between(&random, 0, 0.43);
      z[k][0] = random_between(&random, 0, 1);
      z[k][1] = r * z[k][0] * cos(angle);
      z[k][2] = r * z[k][0] * sin(angle);
    }
    over_relax(&block, random_between(&random, 0.1, 1.9), z[0], z[1]);
    const double radius = 0.5 * z[1][0] * (1 + 1e-14), length = hypot(z[1][1], z[1][2]);
    assert_true(z[1][0] >= 0);
    if (block.cone == SS_CONE_PYRAMID)
      assert_true(fabs(z[1][1]) <= radius && fabs(z[1][2]) <= radius);
    else
      assert_true(length <= radius);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_solution), cmocka_unit_test(orders),
                                     cmocka_unit_test(stays_in_the_set)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
