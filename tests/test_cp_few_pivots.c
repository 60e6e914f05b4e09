/* A few contacts from nothing: pivots where there are few directions, Newton steps and sweeps in one go where there are discs, and the
 * single contact that sweeps are made of. */
#include "cp_problems.h"

#include "cp/local.h"
#include "cp/solver.h"

enum { MOST = 10, ROWS = 3 * MOST, MOTIONS = 6 };

typedef struct few_problem {
  double G[ROWS * ROWS], g[ROWS], z[ROWS];
  ss_block blocks[MOST];
  ss_cp cp;
} few_problem;

/* Contacts in random directions on one body, G = J J^T and a little more, most of them pressed. */
static void make(few_problem *p, int contacts, int size, ss_cone cone, int directions, unsigned seed) {
  double J[ROWS][MOTIONS];
  random_source r = {seed};
  const int n = contacts * size;
  *p = (few_problem){.cp = {.n = n, .n_blocks = contacts}};
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < MOTIONS; k++) J[i][k] = random_between(&r, -0.5, 0.5);
    p->g[i] = random_between(&r, -0.5, 0.5) - (i % size == 0 ? 0.4 : 0);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = i == j ? 0.01 : 0;
      for (int k = 0; k < MOTIONS; k++) sum += J[i][k] * J[j][k];
      p->G[i * n + j] = sum;
    }
  for (int c = 0; c < contacts; c++)
    p->blocks[c] = (ss_block){.kind = SS_BLOCK_FRICTION,
                              .first = c * size,
                              .size = size,
                              .cone = cone,
                              .directions = directions,
                              .mu = 0.1 + 0.2 * (seed % 5)};
  p->cp.G = p->G;
  p->cp.g = p->g;
  p->cp.blocks = p->blocks;
}

static ss_cp_result pivot(few_problem *p, ss_cp_workspace *w) {
  const ss_cp_options options = {.solver = "lemke", .tolerance = 1e-10};
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&p->cp, &options, false, p->z, w, &result, NULL), SS_OK);
  return result;
}

static void pivots_solve_few_directions(void **state) {
  (void)state;
  static const struct {
    int contacts, size, directions;
  } cases[] = {{1, 3, 4}, {2, 3, 4}, {4, 3, 4}, {6, 3, 4}, {2, 3, 8},
               {3, 3, 8}, {4, 3, 8}, {3, 3, 5}, {3, 2, 0}, {10, 2, 0}};
  ss_cp_workspace *w = new_workspace();
  few_problem p;
  int solved = 0, count = 0;
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
    for (unsigned seed = 0; seed < 20; seed++, count++) {
      make(&p, cases[k].contacts, cases[k].size, SS_CONE_POLYHEDRAL, cases[k].directions, seed);
      const ss_cp_result result = pivot(&p, w);
      assert_true(result.residual == ss_cp_judge(&p.cp, p.z, NULL));
      solved += result.residual <= 1e-12;
    }
  assert_int_equal(solved, count);
  ss_cp_workspace_destroy(w);
}

/* Whatever the states: two contacts with directions by pivots or some Newton steps; discs by one rung, Newton steps and sweeps in
 * turn. */
static void few_contacts_take_few_rungs(void **state) {
  (void)state;
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_workspace *w = new_workspace();
  few_problem p;
  ss_cp_result result;
  int fallbacks = 0;
  for (unsigned seed = 100; seed < 140; seed++) {
    make(&p, 2, 3, SS_CONE_POLYHEDRAL, 4, seed);
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
    assert_true(result.residual <= 1e-12 && result.fallbacks <= 1);
    make(&p, 2, 3, SS_CONE_QUADRATIC, 8, seed);
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
    assert_true(result.residual <= 1e-9);
    fallbacks += result.fallbacks;
  }
  assert_int_equal(fallbacks, 0);
  ss_cp_workspace_destroy(w);
}

/* Discs with and without `extra`, sticking, sliding and open. */
static void single_discs_are_exact(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  few_problem p;
  site s;
  for (unsigned seed = 0; seed < 2000; seed++) {
    make(&p, 1, 3, SS_CONE_QUADRATIC, 8, seed);
    if (seed % 3 == 0) p.blocks[0].extra = 0.2;
    assert_true(active_describe(&p.blocks[0], 0, w, &s));
    assert_true(local_friction(&s, p.G, p.g, p.z));
    assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-14);
  }
  ss_cp_workspace_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pivots_solve_few_directions),
                                     cmocka_unit_test(few_contacts_take_few_rungs),
                                     cmocka_unit_test(single_discs_are_exact)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
