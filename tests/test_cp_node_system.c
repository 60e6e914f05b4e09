/* The linear systems of Newton's method on large problems: through the bodies and by a factorisation they have the same solution, and
 * the smoothing method comes to the same end with either. */
#include "cp_problems.h"

#include "cp/large.h"
#include "cp/storage.h"

#include "../bench/heap.h"

typedef struct posed {
  packing p;
  ss_cp_workspace *w;
  ss_sparse G;
  large l;
} posed;

static void pose(posed *s, double density, double shaking) {
  const heap_spec spec = {.spheres = 60,
                          .slenderness = 1,
                          .spread = 1.5,
                          .density = density,
                          .skin = 0.02,
                          .mu = 0.4,
                          .shaking = shaking,
                          .seed = 3};
  bool admitted = false;
  s->w = new_workspace();
  assert_true(heap_create(&s->p, &spec));
  assert_int_equal(storage_rows(&s->p.cp, s->w, &s->G, NULL), SS_OK);
  assert_int_equal(large_create(&s->l, &s->p.cp, &s->G, 1e-8, s->w, &admitted, NULL), SS_OK);
  assert_true(admitted);
  large_start(&s->l, NULL);
}

static void destroy(posed *s) {
  ss_cp_workspace_destroy(s->w);
  packing_free(&s->p);
}

/* Random blocks, `own` well away from singular ones. */
static void fill(node_system *s, packing *random) {
  for (int p = 0; p < s->l->G.nodes; p++) {
    const int rows = s->l->G.first[p + 1] - s->l->G.first[p];
    for (int i = 0; i < rows * rows; i++) {
      const size_t at = (size_t)(p * SYSTEM_SQUARE + i);
      const double d = i % (rows + 1) == 0;
      s->left[at] = d + 0.3 * (packing_random(random) - 0.5);
      s->own[at] = 0.5 * d + 0.2 * (packing_random(random) - 0.5);
    }
  }
}

/* The equations hold, put together from the definition. */
static void the_equations_hold(void **state) {
  (void)state;
  posed s;
  pose(&s, 30, 0);
  const int n = s.l.cp.n;
  double *b = calloc((size_t)n, sizeof *b), *x = calloc((size_t)n, sizeof *b), *zero = calloc((size_t)n, sizeof *b),
         *w = calloc((size_t)n, sizeof *b);
  node_system system;
  bool affordable = false;
  assert_int_equal(node_system_create(&system, &s.l, HUGE_VAL, s.w, &affordable, NULL), SS_OK);
  assert_true(affordable);
  fill(&system, &s.p);
  for (int i = 0; i < n; i++) b[i] = packing_random(&s.p) - 0.5;
  assert_true(node_system_factor(&system));
  assert_true(node_system_solve(&system, b, x));
  nodes_apply(&s.l.G, zero, x, w);
  for (int p = 0; p < s.l.G.nodes; p++) {
    const int f = s.l.G.first[p], rows = s.l.G.first[p + 1] - f;
    for (int i = 0; i < rows; i++) {
      double sum = 0;
      for (int j = 0; j < rows; j++) {
        const size_t at = (size_t)(p * SYSTEM_SQUARE + i * rows + j);
        sum += system.own[at] * x[f + j] + system.left[at] * w[f + j];
      }
      assert_true(fabs(sum - b[f + i]) <= 1e-9);
    }
  }
  free(b);
  free(x);
  free(zero);
  free(w);
  destroy(&s);
}

static void not_where_it_costs_too_much(void **state) {
  (void)state;
  posed s;
  pose(&s, 1, 0);
  ss_cp sparse = s.p.cp;
  sparse.factors = NULL;
  sparse.sparse = &s.G;
  s.l.original = &sparse;
  node_system system;
  bool affordable = true;
  assert_int_equal(node_system_create(&system, &s.l, 0, s.w, &affordable, NULL), SS_OK);
  assert_false(affordable);
  destroy(&s);
}

static void smoothing_solves_heaps(void **state) {
  (void)state;
  const double loads[][2] = {{1, 0}, {100, 0}, {1, 1}, {30, 0.5}};
  for (size_t k = 0; k < sizeof loads / sizeof *loads; k++) {
    posed s;
    pose(&s, loads[k][0], loads[k][1]);
    assert_int_equal(large_smoothing(&s.l, 1, 200, HUGE_VAL, s.w, NULL), SS_OK);
    assert_true(s.l.residual <= s.l.goal);
    large_finish(&s.l, s.p.z);
    assert_true(ss_cp_judge(&s.p.cp, s.p.z, NULL) <= 1e-8);
    destroy(&s);
  }
}

/* A point between the goal, which is on the safe side, and the tolerance is a solution all the same; one beyond is not. */
static void done_by_the_original_problem(void **state) {
  (void)state;
  posed s;
  pose(&s, 1, 0);
  double *z = calloc((size_t)s.l.cp.n, sizeof *z);
  assert_false(large_done(&s.l, z));
  assert_int_equal(large_smoothing(&s.l, 1, 200, HUGE_VAL, s.w, NULL), SS_OK);
  s.l.goal = 1e-30;
  assert_true(large_done(&s.l, z));
  assert_true(s.l.residual <= s.l.goal);
  s.l.x[0] += 1e-6;
  s.l.residual = large_judge(&s.l, s.l.x, s.l.w);
  assert_false(large_done(&s.l, z));
  free(z);
  destroy(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_equations_hold), cmocka_unit_test(not_where_it_costs_too_much),
      cmocka_unit_test(smoothing_solves_heaps), cmocka_unit_test(done_by_the_original_problem)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
