/* Contacts that hardly feel each other: sweeps end at rounding level, against the solution of another solver; contacts that
 * do are left to others. */
#include "cp_problems.h"

#include "cp/solver.h"

enum { CONTACTS = 40, ROWS = 3 * CONTACTS };

typedef struct weak_problem {
  double G[ROWS * ROWS], g[ROWS], z[ROWS], other[ROWS];
  ss_block blocks[CONTACTS];
  ss_cp cp;
} weak_problem;

/* Each contact meets the next two with `coupling` of its own size; they slide, stick and separate in turn. */
static void make(weak_problem *p, ss_cone cone, double coupling) {
  *p = (weak_problem){.cp = {.n = ROWS, .n_blocks = CONTACTS}};
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROWS; j++) {
      const int apart = abs(i / 3 - j / 3);
      const double own = i == j ? 2 + i % 3 : 0.3, meets = apart <= 2 ? coupling * (i % 3 == j % 3 ? 1 : 0.5) : 0;
      p->G[i * ROWS + j] = apart ? meets : own;
    }
  for (int c = 0; c < CONTACTS; c++) {
    p->blocks[c] = (ss_block){SS_BLOCK_FRICTION, .first = 3 * c, .size = 3, .cone = cone, .directions = 8, .mu = 0.4};
    p->g[3 * c] = c % 3 == 2 ? 0.5 : -1 - 0.01 * c;
    p->g[3 * c + 1] = c % 3 == 0 ? 2 : 0.1;
    p->g[3 * c + 2] = 0.05 * c;
  }
  p->cp.G = p->G;
  p->cp.g = p->g;
  p->cp.blocks = p->blocks;
}

static void solved_by_sweeps(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_QUADRATIC, SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID};
  ss_cp_workspace *w = new_workspace();
  weak_problem p;
  for (int c = 0; c < 3; c++) {
    make(&p, cones[c], 0.02);
    ss_cp_options options = ss_cp_options_default();
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
    assert_string_equal(result.solver, "nsgs");
    assert_int_equal(result.fallbacks, 0);
    assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-14);
    options.solver = "nsgs-newton";
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.other, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    for (int i = 0; i < ROWS; i++) assert_true(fabs(p.z[i] - p.other[i]) <= 1e-9);
  }
  ss_cp_workspace_destroy(w);
}

static void coupled_contacts_are_left_to_others(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  weak_problem p;
  make(&p, SS_CONE_QUADRATIC, 0.45);
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result result = {.residual = -1};
  assert_int_equal(solve_weakly_coupled(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_NOT_ADMITTED);
  assert_true(result.iterations < 10);
  p.blocks[3].kind = SS_BLOCK_FREE; /* rows of their own are not for it */
  assert_int_equal(solve_weakly_coupled(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_NOT_ADMITTED);
  ss_cp_workspace_destroy(w);
}

/* Two of three contacts separate, the others feel each other too much for sweeps alone: Newton steps on what is left. Where all of
 * them are pressed the system would be that of all contacts, and it is left to others. */
static void few_of_many_have_impulses(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_QUADRATIC, SS_CONE_POLYHEDRAL};
  ss_cp_workspace *w = new_workspace();
  weak_problem p;
  for (int c = 0; c < 2; c++) {
    make(&p, cones[c], 0.25);
    for (int k = 0; k < CONTACTS; k++) p.g[3 * k] = k % 6 < 4 ? 3 : -1 - 0.01 * k;
    ss_cp_options options = ss_cp_options_default();
    ss_cp_result result = {.residual = -1};
    assert_int_equal(solve_few_loaded(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-13);
    options.solver = "range-newton";
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.other, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    for (int i = 0; i < ROWS; i++) assert_true(fabs(p.z[i] - p.other[i]) <= 1e-9);
    for (int k = 0; k < CONTACTS; k++) {
      p.g[3 * k] = -3;
      p.g[3 * k + 1] = p.g[3 * k + 2] = 0.1;
    }
    assert_int_equal(solve_few_loaded(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_NOT_ADMITTED);
    assert_true(result.iterations < 5);
  }
  ss_cp_workspace_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(solved_by_sweeps),
                                     cmocka_unit_test(coupled_contacts_are_left_to_others),
                                     cmocka_unit_test(few_of_many_have_impulses)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
