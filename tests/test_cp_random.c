/* Random problems of every class of cp_random.h: those that have a solution are solved, those that have none are refused with
 * a ray. bench/random_problems.c runs more and larger ones. */
#include "cp_suite.h"
#include "cp_random.h"

static const double tolerance = 1e-9;

static bool enumerated(const owned_cp *p) {
  ss_cp_diagnosis d;
  assert_int_equal(ss_cp_diagnose(&p->cp, tolerance, 0, workspace, &d, NULL), SS_OK);
  return d.solutions != SS_SET_NONE && d.solutions != SS_SET_UNKNOWN;
}

static bool right(const owned_cp *p, existence e, const ss_cp_result *r) {
  const bool solved = r->outcome == SS_SOLVED && r->residual <= tolerance;
  if (e == HAS_NONE) return r->outcome == SS_RAY;
  if (solved || (e == HAS_PERHAPS && !enumerated(p))) return true;
  return r->outcome == SS_STALLED && r->residual <= attainable(p);
}

static void every_class(void **state) {
  (void)state;
  enum { SEEDS = 20, ROWS = 60 };
  int failed = 0;
  ss_cp_options options = ss_cp_options_default();
  options.tolerance = tolerance;
  for (int k = 0; k < RANDOM_CLASSES; k++) {
    random_class c = random_classes[k];
    if (c.most > ROWS) c.most = ROWS;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
      owned_cp p = random_problem(&c, seed);
      ss_cp_result r;
      assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
      assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &r, NULL), SS_OK);
      assert_true(r.residual == ss_cp_judge(&p.cp, p.z, NULL));
      if (!right(&p, c.solutions, &r)) {
        print_error("%s %d (%d rows): %s by %s, residual %g\n", c.name, (int)seed, p.cp.n, ss_outcome_name(r.outcome),
                    r.solver, r.residual);
        failed++;
      }
      owned_free(&p);
    }
  }
  assert_int_equal(failed, 0);
}

/* A game of two without zero blocks' help: Lemke's first path ends at once on a ray, the way back finds the equilibrium. */
static void games(void **state) {
  (void)state;
  random_source r = {11};
  for (int trial = 0; trial < 50; trial++) {
    owned_cp p = lcp_bimatrix(&r, 3 + trial % 30);
    const ss_cp_result solved = solve_with(&p, "lemke", false, workspace);
    assert_int_equal(solved.outcome, SS_SOLVED);
    owned_free(&p);
  }
}

/* The same problem in other units has the same solution, to as many digits; z = 0 is none of them, however small its residual is
 * where the bounds are narrow. */
static void tiny_units(void **state) {
  (void)state;
  const double G[4] = {2, 1, 1, 2}, g[2] = {-3, -3}; /* z = (1, 1) */
  for (int boxes = 0; boxes < 2; boxes++)
    for (int a = -12; a <= 12; a += 4)
      for (int b = -12; b <= 12; b += 4) {
        owned_cp p = owned_create(2, 2);
        memcpy(p.G, G, sizeof G);
        memcpy(p.g, g, sizeof g);
        for (int k = 0; k < 2; k++)
          add_block(&p, boxes ? (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -2, .upper = 2}
                              : (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1});
        change_units(&p, pow(10, a), pow(10, b));
        const ss_cp_result r = solve_with(&p, "auto", false, workspace);
        assert_int_equal(r.outcome, SS_SOLVED);
        for (int i = 0; i < 2; i++) assert_true(fabs(p.z[i] * pow(10, a) - 1) < 1e-9);
        owned_free(&p);
      }
}

/* Numbers that are none, and what grows beyond all bounds: no claim of success, nothing that is not finite is returned. */
static void not_a_number(void **state) {
  (void)state;
  static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL, 1e308};
  random_source r = {5};
  const ss_cp_options options = ss_cp_options_default();
  for (int k = 0; k < RANDOM_CLASSES; k++)
    for (size_t b = 0; b < sizeof bad / sizeof *bad; b++) {
      random_class c = random_classes[k];
      if (c.most > 12) c.most = 12;
      owned_cp p = random_problem(&c, 3);
      const int at = random_below(&r, p.cp.n * (p.cp.n + 1));
      *(at < p.cp.n ? &p.g[at] : &p.G[at - p.cp.n]) = bad[b];
      ss_cp_result result;
      assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &result, NULL), SS_OK);
      for (int i = 0; i < p.cp.n; i++) assert_true(isfinite(p.z[i]));
      if (!isfinite(bad[b])) assert_true(result.outcome != SS_SOLVED);
      if (result.outcome == SS_SOLVED) assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= options.tolerance);
      owned_free(&p);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_class), cmocka_unit_test(games),
                                     cmocka_unit_test(tiny_units), cmocka_unit_test(not_a_number)};
  return CP_SUITE("cp_random", tests);
}
