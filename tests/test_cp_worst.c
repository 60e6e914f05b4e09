/* The worst cases: every one ends, and is solved or refused with the right word. */
#include "cp_suite.h"
#include "cp_worst.h"

/* A tolerance that double precision can meet: the impulses of a stack with mass ratio 1e6 are 1e7 times the speeds, and
 * their last digit moves a light body by 1e-10. */
static const double tolerance = 1e-9;

static void the_ladder_solves_them(void **state) {
  (void)state;
  int failed = 0;
  ss_cp_options options = ss_cp_options_default();
  options.tolerance = tolerance;
  for (int k = 0; k < WORST_CASES; k++) {
    const worst_case *c = &worst_cases[k];
    owned_cp p = c->make(c->size);
    ss_cp_result r;
    assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &r, NULL), SS_OK);
    assert_true(r.residual == ss_cp_judge(&p.cp, p.z, NULL));
    const bool good = c->solvable ? r.outcome == SS_SOLVED && r.residual <= tolerance : r.outcome == SS_RAY;
    if (!good)
      print_error("%s %d (%d rows): %s by %s, residual %g\n", c->name, c->size, p.cp.n, ss_outcome_name(r.outcome),
                  r.solver, r.residual);
    failed += !good;
    owned_free(&p);
  }
  assert_int_equal(failed, 0);
}

/* The exponential methods meet their limit, or the solution; and they say which. */
static void pivoting_ends(void **state) {
  (void)state;
  static const char *const names[] = {"lemke", "lemke-restarted", "keller", "fischer-burmeister"};
  for (int n = 4; n <= 20; n += 4)
    for (int family = 0; family < 3; family++)
      for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        owned_cp p = family == 0 ? worst_murty(n) : family == 1 ? worst_fathi(n) : worst_csizmadia(n);
        const ss_cp_result r = solve_with(&p, names[k], false, workspace);
        assert_true(r.outcome == SS_SOLVED || r.outcome == SS_LIMIT || r.outcome == SS_STALLED);
        if (n <= 8) assert_int_equal(r.outcome, SS_SOLVED);
        owned_free(&p);
      }
}

/* 2^n pivots of Lemke's method: the family is the right one, and scaling has not made it another. */
static void murty_is_exponential(void **state) {
  (void)state;
  for (int n = 3; n <= 10; n++) {
    owned_cp p = worst_murty(n);
    const ss_cp_result r = solve_with(&p, "lemke", false, workspace);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_int_equal(r.iterations, 1 << n);
    for (int i = 0; i < n; i++) assert_true(fabs(p.z[i] - (i == n - 1 ? ldexp(1, n) : 0)) < 1e-9);
    owned_free(&p);
  }
}

/* Optimum of Beale's program and of its dual, by hand. */
static void beale_by_hand(void **state) {
  (void)state;
  static const char *const names[] = {"auto", "lemke", "keller", "fischer-burmeister"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    owned_cp p = worst_beale(7);
    assert_int_equal(solve_with(&p, names[k], false, workspace).outcome, SS_SOLVED);
    double cost = 0;
    for (int j = 0; j < 4; j++) cost += p.g[j] * p.z[j];
    assert_true(fabs(cost + 1.25) < 1e-9);
    owned_free(&p);
  }
}

/* The diagnosis of what has no solution, or many. */
static void diagnosed(void **state) {
  (void)state;
  ss_cp_diagnosis d;
  owned_cp p = worst_nothing(12);
  assert_int_equal(ss_cp_diagnose(&p.cp, 1e-10, 0, workspace, &d, NULL), SS_OK);
  assert_int_equal(d.solutions, SS_SET_NONE);
  owned_free(&p);
  p = worst_equal(12);
  assert_int_equal(ss_cp_diagnose(&p.cp, 1e-10, 0, workspace, &d, NULL), SS_OK);
  assert_true(d.solutions == SS_SET_SEVERAL && d.continuum && d.same_w);
  owned_free(&p);
  p = worst_murty(12);
  assert_int_equal(ss_cp_diagnose(&p.cp, 1e-10, 0, workspace, &d, NULL), SS_OK);
  assert_true(d.p == SS_YES && d.solutions == SS_SET_ONE);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_ladder_solves_them), cmocka_unit_test(pivoting_ends), cmocka_unit_test(murty_is_exponential),
      cmocka_unit_test(beale_by_hand),          cmocka_unit_test(diagnosed),
  };
  return CP_SUITE("cp_worst", tests);
}
