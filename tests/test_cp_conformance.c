/* Every solver of the table on every kind of problem: what it admits and what is well conditioned it solves, and it tells
 * the truth about the rest. */
#include "cp_suite.h"

/* Kinds of problems; with many more degrees of freedom than rows G is positive definite and well conditioned. */
static const mechanics_spec kinds[] = {
    {.dofs = 40, .limits = 6},
    {.dofs = 40, .joints = 5},
    {.dofs = 40, .joints = 4, .limits = 5},
    {.dofs = 60, .contacts = 4, .size = 2, .directions = 4},
    {.dofs = 60, .contacts = 3, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 8},
    {.dofs = 60, .contacts = 3, .size = 3, .cone = SS_CONE_PYRAMID, .directions = 8},
    {.dofs = 60, .contacts = 3, .size = 3, .cone = SS_CONE_QUADRATIC, .directions = 8},
    {.dofs = 60, .joints = 4, .limits = 2, .contacts = 2, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 6},
    {.dofs = 60, .joints = 4, .limits = 2, .contacts = 2, .size = 3, .cone = SS_CONE_QUADRATIC, .directions = 6},
};
enum { KINDS = sizeof kinds / sizeof *kinds, TRIALS = 20 };

static owned_cp easy_problem(random_source *r, mechanics_spec spec) {
  owned_cp p = random_mechanics(r, spec);
  for (int b = 0; b < p.cp.n_blocks; b++) p.blocks[b].mu = fmin(p.blocks[b].mu, 0.4);
  return p;
}

static void expect_solved(const owned_cp *p, const double *exact, const ss_cp_result *result, const char *solver,
                          int kind) {
  if (result->outcome == SS_NOT_ADMITTED) return;
  if (result->outcome != SS_SOLVED)
    print_error("%s, kind %d: %s, residual %g\n", solver, kind, ss_outcome_name(result->outcome), result->residual);
  assert_int_equal(result->outcome, SS_SOLVED);
  for (int i = 0; i < p->cp.n; i++) assert_true(fabs(p->z[i] - exact[i]) <= 1e-6 * (1 + fabs(exact[i])));
}

/* The active-set method is a local one: from zero it may fail, from the solution it may not. */
static void well_conditioned_problems(void **state) {
  (void)state;
  random_source r = {11};
  double exact[64];
  for (int kind = 0; kind < KINDS; kind++)
    for (int trial = 0; trial < TRIALS; trial++) {
      owned_cp p = easy_problem(&r, kinds[kind]);
      assert_int_equal(solve_with(&p, "auto", false, workspace).outcome, SS_SOLVED);
      memcpy(exact, p.z, sizeof(double) * (size_t)p.cp.n);
      for (const ss_cp_solver_info *s = ss_cp_solvers(); s->name; s++) {
        memcpy(p.z, exact, sizeof(double) * (size_t)p.cp.n);
        ss_cp_result result = solve_with(&p, s->name, true, workspace);
        expect_solved(&p, exact, &result, s->name, kind);
        result = solve_with(&p, s->name, false, workspace);
        if (strcmp(s->name, "active-set") != 0) expect_solved(&p, exact, &result, s->name, kind);
      }
      owned_free(&p);
    }
}

/* No kind of problem is left to one solver alone. */
static void every_kind_has_two_solvers(void **state) {
  (void)state;
  random_source r = {12};
  for (int kind = 0; kind < KINDS; kind++) {
    owned_cp p = easy_problem(&r, kinds[kind]);
    int admitted = 0;
    for (const ss_cp_solver_info *s = ss_cp_solvers(); s->name; s++)
      admitted += solve_with(&p, s->name, false, workspace).outcome != SS_NOT_ADMITTED;
    assert_true(admitted >= 3); /* auto is one of them */
    owned_free(&p);
  }
}

/* Redundant contacts, large friction: a solver may fail, but its z is finite, the residual is the judge's, "solved" is
 * within the tolerance, and the problem is not touched. */
static void nobody_lies(void **state) {
  (void)state;
  random_source r = {13};
  const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  for (int trial = 0; trial < 30; trial++) {
    owned_cp p = box_on_plane(&r, 2 + trial % 4, cones[trial % 3], 8, random_between(&r, 0, 3));
    const size_t n = (size_t)p.cp.n;
    double *copy = malloc(sizeof(double) * (n * n + n));
    assert_non_null(copy);
    memcpy(copy, p.G, sizeof(double) * n * n);
    memcpy(copy + n * n, p.g, sizeof(double) * n);
    for (const ss_cp_solver_info *s = ss_cp_solvers(); s->name; s++) {
      const ss_cp_result result = solve_with(&p, s->name, false, workspace);
      assert_memory_equal(copy, p.G, sizeof(double) * n * n);
      assert_memory_equal(copy + n * n, p.g, sizeof(double) * n);
      if (result.outcome == SS_NOT_ADMITTED) continue;
      for (size_t i = 0; i < n; i++) assert_true(isfinite(p.z[i]));
      const double residual = ss_cp_judge(&p.cp, p.z, NULL);
      assert_true(result.residual == residual);
      if (result.outcome == SS_SOLVED) assert_true(residual <= ss_cp_options_default().tolerance);
    }
    free(copy);
    owned_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(well_conditioned_problems),
      cmocka_unit_test(every_kind_has_two_solvers),
      cmocka_unit_test(nobody_lies),
  };
  return CP_SUITE("cp_conformance", tests);
}
