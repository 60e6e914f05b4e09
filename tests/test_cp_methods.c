/* Principal pivoting and the globalised Newton methods on what their theory covers. */
#include "cp_suite.h"

/* w = G z + g with G = A^T A + (skew part), of the given rank, and a planted solution; every third row is a box, every
 * fifth one free where `mixed` says so. */
static owned_cp planted(random_source *r, int n, int rank, bool mixed) {
  owned_cp p = owned_create(n, n);
  double *A = numbers(rank * n), *S = numbers(rank * rank), *z = numbers(n);
  for (int i = 0; i < rank * n; i++) A[i] = random_between(r, -1, 1);
  for (int i = 0; i < rank; i++)
    for (int j = 0; j < rank; j++) {
      S[i * rank + j] += i == j;
      const double x = random_between(r, -0.5, 0.5); /* skew: B^T (1 + S) B is still positive semi-definite */
      S[i * rank + j] += x;
      S[j * rank + i] -= x;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int a = 0; a < rank; a++)
        for (int b = 0; b < rank; b++) p.G[i * n + j] += A[a * n + i] * S[a * rank + b] * A[b * n + j];
  for (int i = 0; i < n; i++) {
    const double x = random_between(r, 0.1, 1), slack = random_between(r, 0.1, 1);
    const int state = random_below(r, 3);
    ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = 1};
    z[i] = state ? x : 0;
    double w = state ? 0 : slack;
    if (mixed && i % 5 == 4) {
      block.kind = SS_BLOCK_FREE;
      z[i] = x - 0.5;
      w = 0;
    } else if (mixed && i % 3 == 2) {
      block = (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -x, .upper = x};
      z[i] = state == 0 ? -x : state == 1 ? x : 0.3 * x;
      w = state == 0 ? slack : state == 1 ? -slack : 0;
    }
    add_block(&p, block);
    p.g[i] = w;
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) p.g[i] -= p.G[i * n + j] * z[j];
  free(A);
  free(S);
  free(z);
  return p;
}

static void monotone(const char *solver, bool mixed, uint64_t seed) {
  random_source random = {seed};
  int unsolved = 0;
  for (int trial = 0; trial < 200; trial++) {
    const int n = 1 + random_below(&random, 24);
    owned_cp p = planted(&random, n, 1 + random_below(&random, n), mixed);
    unsolved += fails(&p, solver, false, solver, trial);
    owned_free(&p);
  }
  assert_int_equal(unsolved, 0);
}

static void keller_solves_semidefinite(void **state) {
  (void)state;
  monotone("keller", false, 1);
  monotone("keller", true, 2);
}

static void fischer_solves_semidefinite(void **state) {
  (void)state;
  monotone("fischer-burmeister", false, 3);
  monotone("fischer-burmeister", true, 4);
}

/* G = A^T A with A v = 0 for some v > 0, and g . v < 0: no z >= 0 has G z + g >= 0. A ray for every one. */
static void keller_proves_infeasibility(void **state) {
  (void)state;
  random_source random = {5};
  for (int trial = 0; trial < 200; trial++) {
    const int n = 2 + random_below(&random, 12), rank = 1 + random_below(&random, n - 1);
    owned_cp p = make_lcp(n, NULL, NULL);
    double *A = numbers(rank * n), *v = numbers(n), product = 0;
    for (int i = 0; i < n; i++) v[i] = random_between(&random, 0.2, 1);
    for (int k = 0; k < rank; k++) {
      double along = 0, size = 0;
      for (int i = 0; i < n; i++) {
        A[k * n + i] = random_between(&random, -1, 1);
        along += A[k * n + i] * v[i];
        size += v[i] * v[i];
      }
      for (int i = 0; i < n; i++) A[k * n + i] -= along / size * v[i];
    }
    for (int i = 0; i < n; i++) {
      p.g[i] = random_between(&random, -1, 1);
      product += p.g[i] * v[i];
      for (int j = 0; j < n; j++)
        for (int k = 0; k < rank; k++) p.G[i * n + j] += A[k * n + i] * A[k * n + j];
    }
    if (product > -0.1) p.g[0] -= (product + 0.1) / v[0];
    assert_int_equal(solve_with(&p, "keller", false, workspace).outcome, SS_RAY);
    ss_cp_diagnosis d;
    assert_int_equal(ss_cp_diagnose(&p.cp, 1e-10, 1, workspace, &d, NULL), SS_OK);
    assert_true(d.solutions == SS_SET_NONE && d.ray); /* Lemke's ray is the proof, nothing was enumerated */
    assert_int_equal(d.found, -1);
    free(A);
    free(v);
    owned_free(&p);
  }
}

/* Newton's method, not descent: few steps from far away, and from a wrong start. */
static void newton_is_fast(void **state) {
  (void)state;
  random_source random = {6};
  for (int trial = 0; trial < 100; trial++) {
    owned_cp p = planted(&random, 20, 20, trial % 2);
    for (int i = 0; i < 20; i++) p.G[21 * i] += 1;
    for (int i = 0; i < 20; i++) p.z[i] = random_between(&random, -100, 100);
    const ss_cp_result r = solve_with(&p, "fischer-burmeister", true, workspace);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_true(r.iterations <= 30);
    owned_free(&p);
  }
}

/* Every cone, from a wrong start. */
static void alart_curnier_from_afar(void **state) {
  (void)state;
  random_source random = {7};
  const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  int unsolved = 0;
  for (int trial = 0; trial < 150; trial++) {
    owned_cp p = random_mechanics(&random, (mechanics_spec){.dofs = 60,
                                                            .joints = 3,
                                                            .limits = 2,
                                                            .contacts = 4,
                                                            .size = 2 + trial % 2,
                                                            .cone = cones[trial % 3],
                                                            .directions = 8});
    for (int b = 0; b < p.cp.n_blocks; b++) p.blocks[b].mu = fmin(p.blocks[b].mu, 0.4);
    for (int i = 0; i < p.cp.n; i++) p.z[i] = random_between(&random, -1, 1);
    unsolved += fails(&p, "alart-curnier", true, "alart-curnier", trial);
    owned_free(&p);
  }
  assert_int_equal(unsolved, 0);
}

static void friction_is_not_admitted(void **state) {
  (void)state;
  owned_cp p = owned_create(2, 1);
  p.G[0] = p.G[3] = 1;
  p.g[0] = -1;
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.5});
  assert_int_equal(solve_with(&p, "keller", false, workspace).outcome, SS_NOT_ADMITTED);
  assert_int_equal(solve_with(&p, "fischer-burmeister", false, workspace).outcome, SS_NOT_ADMITTED);
  p.blocks[0].mu = 0;
  assert_int_equal(solve_with(&p, "keller", false, workspace).outcome, SS_SOLVED);
  assert_int_equal(solve_with(&p, "fischer-burmeister", false, workspace).outcome, SS_SOLVED);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(keller_solves_semidefinite),  cmocka_unit_test(fischer_solves_semidefinite),
      cmocka_unit_test(keller_proves_infeasibility), cmocka_unit_test(newton_is_fast),
      cmocka_unit_test(alart_curnier_from_afar),     cmocka_unit_test(friction_is_not_admitted),
  };
  return CP_SUITE("cp_methods", tests);
}
