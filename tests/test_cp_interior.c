/* The interior-point solver: the algebra of its cones, and its answers where they are unique or others find none. */
#include "cp_problems.h"

#include "../bench/packing.h"
#include "cp/barrier.h"

static void inside(random_source *r, int rows, double *u) {
  double tail = 0;
  for (int i = 1; i < rows; i++) {
    u[i] = random_between(r, -1, 1);
    tail += u[i] * u[i];
  }
  u[0] = sqrt(tail) + pow(10, random_between(r, -5, 1));
}

static double determinant(const double *u, int rows) {
  double tail = 0;
  for (int i = 1; i < rows; i++) tail += u[i] * u[i];
  return u[0] * u[0] - tail;
}

/* W W w = z, W w = lambda, and a step ends on the edge of one of the two cones. */
static void scaling(void **state) {
  (void)state;
  random_source r = {3};
  for (int trial = 0; trial < 2000; trial++) {
    const int rows = 1 + trial % BARRIER_ROWS;
    double z[BARRIER_ROWS], w[BARRIER_ROWS], u[BARRIER_ROWS], q[BARRIER_ROWS], dy[BARRIER_ROWS], dz[BARRIER_ROWS],
        dw[BARRIER_ROWS], bound[2];
    const ss_block block = {.kind = SS_BLOCK_FRICTION, .size = rows, .cone = SS_CONE_QUADRATIC, .mu = 1};
    barrier b = barrier_create(&block, 0, rows, bound);
    inside(&r, rows, z);
    inside(&r, rows, w);
    barrier_scale(&b, z, w);
    memcpy(u, w, sizeof u);
    barrier_multiply(&b, u);
    for (int i = 0; i < rows; i++) assert_true(fabs(u[i] - b.lambda[i]) <= 1e-12 * (1 + fabs(u[0])));
    barrier_multiply(&b, u);
    for (int i = 0; i < rows; i++) assert_true(fabs(u[i] - z[i]) <= 1e-7 * (1 + z[0]));
    barrier_right_side(&b, z, 0, NULL, q);
    for (int i = 0; i < rows; i++) dy[i] = random_between(&r, -1, 1) * b.lambda[0];
    barrier_step(&b, z, q, dy, dz, dw, bound);
    const double share = barrier_reach(&b, z, w, dz, dw, bound, 1);
    if (share > 1e6) continue;
    assert_true(fabs(barrier_reach(&b, z, w, dz, dw, bound, 0.5) - 2 * share) <= 1e-9 * share);
    double size[2] = {0, 0};
    for (int i = 0; i < rows; i++) {
      z[i] += share * dz[i];
      w[i] += share * dw[i];
      size[0] += z[i] * z[i] + share * share * dz[i] * dz[i];
      size[1] += w[i] * w[i] + share * share * dw[i] * dw[i];
    }
    const double at[2] = {determinant(z, rows) / size[0], determinant(w, rows) / size[1]};
    assert_true(fmin(at[0], at[1]) >= -1e-9 && fmin(at[0], at[1]) <= 1e-9);
  }
}

/* Boxes of every kind and nonnegative rows over a positive definite matrix: one z, which pivoting finds as well. */
static void boxes(void **state) {
  (void)state;
  enum { N = 24 };
  ss_cp_workspace *workspace = new_workspace();
  random_source r = {11};
  for (int trial = 0; trial < 20; trial++) {
    owned_cp p = owned_create(N, N);
    double J[N * N], W[N], v[N], z[N];
    for (int i = 0; i < N * N; i++) J[i] = random_between(&r, -1, 1) + (i % (N + 1) == 0 ? 3 : 0);
    for (int i = 0; i < N; i++) {
      W[i] = random_between(&r, 0.5, 2);
      v[i] = random_between(&r, -2, 2);
      ss_block block = {.kind = SS_BLOCK_BOX, .size = 1, .lower = -0.1 * (i % 3), .upper = 0.2 * random_unit(&r)};
      if (i % 7 == 1) block.lower = block.upper;
      if (i % 6 == 0) block.lower = -HUGE_VAL;
      if (i % 4 == 0) block.upper = HUGE_VAL;
      if (i % 5 == 0) block = (ss_block){.kind = i % 2 ? SS_BLOCK_FREE : SS_BLOCK_NONNEGATIVE, .size = 1};
      add_block(&p, block);
    }
    set_mechanics(&p, J, W, v, N);
    assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
    assert_int_equal(solve_with(&p, "keller", false, workspace).outcome, SS_SOLVED);
    memcpy(z, p.z, sizeof z);
    const ss_cp_result result = solve_with(&p, "interior-point", false, workspace);
    assert_int_equal(result.outcome, SS_SOLVED);
    for (int i = 0; i < N; i++) assert_true(fabs(p.z[i] - z[i]) <= 1e-8);
    owned_free(&p);
  }
  ss_cp_workspace_destroy(workspace);
}

/* Joints, limits and contacts, planar and in space, some of them without friction; more rows than degrees of freedom. The path of some has
 * folds. */
static void mechanics(void **state) {
  (void)state;
  ss_cp_workspace *workspace = new_workspace();
  random_source r = {29};
  enum { TRIALS = 300 };
  for (int trial = 0; trial < TRIALS; trial++) {
    const mechanics_spec spec = {.dofs = 18,
                                 .joints = 3,
                                 .limits = 3,
                                 .contacts = trial % 3 ? 6 : 9,
                                 .size = 2 + trial % 2,
                                 .cone = SS_CONE_QUADRATIC,
                                 .mass_spread = 0.5};
    owned_cp p = random_mechanics(&r, spec);
    assert_int_equal(solve_with(&p, "interior-point", false, workspace).outcome, SS_SOLVED);
    owned_free(&p);
  }
  ss_cp_workspace_destroy(workspace);
}

/* Shaken as strongly as gravity, more than twice as many rows as degrees of freedom. */
static void shaken_packing(void **state) {
  (void)state;
  ss_cp_workspace *workspace = new_workspace();
  packing p;
  assert_true(packing_create(&p, 3, 3, 6, SS_CONE_QUADRATIC, 0, 0.4, 1));
  const ss_cp_options options = {.solver = "interior-point", .tolerance = 1e-8};
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_SOLVED);
  assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-8);
  packing_free(&p);
  ss_cp_workspace_destroy(workspace);
}

static void refusals(void **state) {
  (void)state;
  ss_cp_workspace *workspace = new_workspace();
  random_source r = {7};
  owned_cp facets = box_on_plane(&r, 4, SS_CONE_POLYHEDRAL, 4, 0.5);
  assert_int_equal(solve_with(&facets, "interior-point", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&facets);
  /* not positive semi-definite, and without a solution: w_1 = z_1 - 3 z_2 - 1, w_2 = -3 z_1 + z_2 - 1 */
  const double M[4] = {1, -3, -3, 1}, q[2] = {-1, -1};
  owned_cp indefinite = make_lcp(2, M, q);
  assert_int_equal(solve_with(&indefinite, "interior-point", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&indefinite);
  ss_cp_workspace_destroy(workspace);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scaling), cmocka_unit_test(boxes), cmocka_unit_test(mechanics),
                                     cmocka_unit_test(shaken_packing), cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
