/* What small problems are solved by: single contacts, a few of them together, z = 0, triangular matrices. Judged from the data,
 * and against other solvers. */
#include "cp_problems.h"
#include "cp_random.h"

#include "cp/judge.h"
#include "cp/local.h"
#include "cp/solver.h"

static const int polygons[] = {4, 6, 8, 16};

static ss_block random_block(random_source *r, int k) {
  const bool disc = k % 5 == 4;
  return (ss_block){SS_BLOCK_FRICTION,
                    .size = 3,
                    .cone = disc ? SS_CONE_QUADRATIC : SS_CONE_POLYHEDRAL,
                    .directions = disc ? 8 : polygons[k % 5],
                    .mu = random_between(r, 0, k % 7 ? 1 : 3),
                    .extra = k % 11 ? 0 : random_between(r, 0, 1)};
}

static void random_definite(random_source *r, double *W) {
  double A[3][6];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 6; j++) A[i][j] = random_between(r, -1, 1);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      W[3 * i + j] = 0;
      for (int l = 0; l < 6; l++) W[3 * i + j] += A[i][l] * A[j][l];
    }
}

/* Solves one contact from a random impulse; returns the residual. */
static double solve_alone(random_source *r, const ss_cp *cp, ss_cp_workspace *w) {
  double z[3];
  site s;
  for (int i = 0; i < 3; i++) z[i] = chance(r, 0.5) ? 0 : random_between(r, -1, 1);
  assert_int_equal(active_list_sites(cp, w, &s), 1);
  assert_true(local_friction(&s, cp->G, cp->g, z));
  return ss_cp_judge(cp, z, NULL);
}

static void single_contacts(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  random_source r = {4711};
  for (int k = 0; k < 40000; k++) {
    double W[9], q[3];
    const ss_block block = random_block(&r, k);
    const ss_cp cp = {.n = 3, .n_blocks = 1, .G = W, .g = q, .blocks = &block};
    random_definite(&r, W);
    for (int i = 0; i < 3; i++) q[i] = random_between(&r, -1, i ? 1 : 0.2);
    assert_true(solve_alone(&r, &cp, w) <= 1e-12);
  }
  ss_cp_workspace_destroy(w);
}

/* w = 0 with z_t on the boundary of its set: sticking and sliding are the same. */
static void contacts_about_to_slide(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  random_source r = {815};
  for (int k = 0; k < 10000; k++) {
    double W[9], q[3];
    ss_block block = random_block(&r, k);
    block.extra = 0;
    block.mu = fmin(block.mu, 1) + 0.01;
    const ss_cp cp = {.n = 3, .n_blocks = 1, .G = W, .g = q, .blocks = &block};
    const double corner = 8 * atan(1.0) / block.directions;
    const double angle = block.cone == SS_CONE_QUADRATIC ? random_between(&r, 0, 6) : corner * random_below(&r, 4);
    const double z[3] = {1, block.mu * cos(angle), block.mu * sin(angle)};
    random_definite(&r, W);
    for (int i = 0; i < 3; i++) q[i] = -(W[3 * i] * z[0] + W[3 * i + 1] * z[1] + W[3 * i + 2] * z[2]);
    assert_true(solve_alone(&r, &cp, w) <= 1e-12);
  }
  ss_cp_workspace_destroy(w);
}

enum { CONTACTS = 8, ROWS = 3 * CONTACTS };

/* Contacts of balls: J^T J with six columns per ball, in a chain. */
static void make_chain(random_source *r, ss_cone cone, double *G, double *g, ss_block *blocks) {
  enum { COLUMNS = 6 * (CONTACTS + 1) };
  double J[ROWS][COLUMNS] = {{0}};
  for (int i = 0; i < ROWS; i++) {
    for (int j = 0; j < 12; j++) J[i][6 * (i / 3) + j] = random_between(r, -1, 1);
    g[i] = i % 3 ? random_between(r, -0.5, 0.5) : random_between(r, -1, 0.1);
  }
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < ROWS; j++) {
      G[i * ROWS + j] = 0;
      for (int l = 0; l < COLUMNS; l++) G[i * ROWS + j] += J[i][l] * J[j][l];
    }
  for (int c = 0; c < CONTACTS; c++)
    blocks[c] = (ss_block){SS_BLOCK_FRICTION, .first = 3 * c, .size = 3, .cone = cone, .directions = 8, .mu = 0.4};
}

static void few_contacts(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  random_source r = {99};
  const ss_cp_options options = ss_cp_options_default();
  for (int k = 0; k < 60; k++) {
    double G[ROWS * ROWS], g[ROWS], z[ROWS], other[ROWS];
    ss_block blocks[CONTACTS];
    make_chain(&r, k % 2 ? SS_CONE_QUADRATIC : SS_CONE_POLYHEDRAL, G, g, blocks);
    const ss_cp cp = {.n = ROWS, .n_blocks = CONTACTS, .G = G, .g = g, .blocks = blocks};
    ss_cp_result result = {0};
    assert_int_equal(solve_few_contacts(&cp, &options, false, z, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    assert_true(result.residual <= 1e-13);
    assert_true(result.residual == ss_cp_judge(&cp, z, NULL));
    ss_cp_options named = options;
    named.solver = "interior-point";
    assert_int_equal(ss_cp_solve(&cp, &named, false, other, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    for (int i = 0; i < ROWS; i++) assert_true(fabs(z[i] - other[i]) <= 1e-6);
  }
  ss_cp_workspace_destroy(w);
}

static void free_rows_are_not_admitted(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  const double G[1] = {1}, g[1] = {-1};
  const ss_block block = {SS_BLOCK_FREE, .size = 1};
  const ss_cp cp = {.n = 1, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  const ss_cp_options options = ss_cp_options_default();
  double z[1];
  ss_cp_result result = {0};
  assert_int_equal(solve_few_contacts(&cp, &options, false, z, w, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_NOT_ADMITTED);
  ss_cp_workspace_destroy(w);
}

static void zero_is_judged_alike(void **state) {
  (void)state;
  for (int c = 0; c < RANDOM_CLASSES; c++)
    for (int seed = 0; seed < 20; seed++) {
      random_source r = {(uint64_t)seed + 1};
      owned_cp p = random_classes[c].make(&r, 12);
      for (int i = 0; i < p.cp.n; i++) p.z[i] = 0;
      assert_true(judge_zero(&p.cp) == ss_cp_judge(&p.cp, p.z, NULL));
      owned_free(&p);
    }
}

/* z = 0 would do, but for a number that is not finite. */
static void nothing_is_solved_with_infinite_numbers(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  const double G[9] = {1, 0, 0, 0, 1, HUGE_VAL, 0, 0, 1}, g[3] = {1, 0, 0};
  const ss_block friction = {SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_QUADRATIC, .mu = 0.5};
  const ss_block rows = {SS_BLOCK_NONNEGATIVE, .size = 3};
  const ss_cp_options options = ss_cp_options_default();
  for (int k = 0; k < 2; k++) {
    const ss_cp cp = {.n = 3, .n_blocks = 1, .G = G, .g = g, .blocks = k ? &rows : &friction};
    double z[3] = {1, 1, 1};
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&cp, &options, false, z, w, &result, NULL), SS_OK);
    assert_int_not_equal(result.outcome, SS_SOLVED);
  }
  ss_cp_workspace_destroy(w);
}

static void triangular_matrices(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  random_source r = {5};
  const ss_cp_options options = ss_cp_options_default();
  for (int k = 0; k < 200; k++) {
    double G[36], g[6], z[6];
    for (int i = 0; i < 36; i++) {
      const int below = i / 6 - i % 6;
      G[i] = below == 0 ? random_between(&r, 0.1, 1) : (k % 2 ? below > 0 : below < 0) ? random_between(&r, -2, 2) : 0;
    }
    for (int i = 0; i < 6; i++) g[i] = random_between(&r, -1, 0.5);
    const ss_block rows = {SS_BLOCK_NONNEGATIVE, .size = 6};
    const ss_cp cp = {.n = 6, .n_blocks = 1, .G = G, .g = g, .blocks = &rows};
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&cp, &options, false, z, w, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    assert_int_equal(result.iterations, 0); /* no pivots */
    assert_true(ss_cp_judge(&cp, z, NULL) <= 1e-12);
  }
  ss_cp_workspace_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(single_contacts),      cmocka_unit_test(contacts_about_to_slide),
      cmocka_unit_test(few_contacts),         cmocka_unit_test(free_rows_are_not_admitted),
      cmocka_unit_test(zero_is_judged_alike), cmocka_unit_test(nothing_is_solved_with_infinite_numbers),
      cmocka_unit_test(triangular_matrices),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
