/* Long paths of Lemke's method, and its rays as proofs: LCPs of some hundred rows on which the usual covering vector takes more
 * pivots than there are to spend; LCPs without a solution, where the ladder must stop at the proof; and LCPs with one that
 * look as if they had none. */
#include "cp_suite.h"

static ss_cp_result solve(owned_cp *p) { return solve_with(p, "auto", false, workspace); }

/* M = [0 A; B^T 0], q = -1 with costs A, B > 0: equilibria of a game of two players. */
static owned_cp game(int n, unsigned seed) {
  owned_cp p = make_lcp(n, NULL, NULL);
  random_source random = {seed};
  const int half = n / 2;
  for (int i = 0; i < half; i++)
    for (int j = half; j < n; j++) {
      p.G[i * n + j] = random_between(&random, 0.5, 1.5);
      p.G[j * n + i] = random_between(&random, 0.5, 1.5);
    }
  for (int i = 0; i < n; i++) p.g[i] = -1;
  return p;
}

static void games(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 6; seed++) {
    owned_cp p = game(160, seed);
    assert_int_equal(solve(&p).outcome, SS_SOLVED);
    assert_int_equal(solve_with(&p, "lemke-restarted", false, workspace).outcome, SS_SOLVED);
    owned_free(&p);
  }
}

/* P-matrices: Murty's lower triangle, a chain, and a ring on which Newton's method goes round. */
static void long_paths(void **state) {
  (void)state;
  enum { N = 201 };
  for (int kind = 0; kind < 3; kind++) {
    owned_cp p = make_lcp(N, NULL, NULL);
    for (int i = 0; i < N; i++) {
      p.G[i * N + i] = 1;
      p.g[i] = -1;
      for (int j = 0; j < i && kind == 0; j++) p.G[i * N + j] = 2;
      if (kind) p.G[i * N + (i + N - 1) % N] = i || kind == 2 ? (kind == 1 ? 1.5 : 2) : 0;
    }
    const ss_cp_result r = solve(&p);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_true(r.iterations < 30 * N);
    owned_free(&p);
  }
}

/* M = B B^T with y . B = 0 for a y >= 0, and q . y = -1: y is the proof. */
static owned_cp without_solution(int n, unsigned seed) {
  owned_cp p = make_lcp(n, NULL, NULL);
  random_source random = {seed};
  const int rank = n / 2;
  double *B = numbers(n * rank), *y = numbers(n), yy = 0, qy = 0;
  for (int i = 0; i < n; i++) {
    y[i] = random_unit(&random) < 0.6 ? random_unit(&random) : 0;
    yy += y[i] * y[i];
    p.g[i] = random_between(&random, -1, 1);
    qy += p.g[i] * y[i];
    for (int k = 0; k < rank; k++) B[i * rank + k] = random_between(&random, -1, 1);
  }
  for (int k = 0; k < rank; k++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += y[i] * B[i * rank + k];
    for (int i = 0; i < n; i++) B[i * rank + k] -= y[i] * sum / yy;
  }
  for (int i = 0; i < n; i++) {
    p.g[i] -= y[i] * (qy + 1) / yy;
    for (int j = 0; j < n; j++)
      for (int k = 0; k < rank; k++) p.G[i * n + j] += B[i * rank + k] * B[j * rank + k];
  }
  free(B);
  free(y);
  return p;
}

static void rays_are_proofs(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 8; seed++)
    for (int n = 8; n <= 128; n *= 4) {
      owned_cp p = without_solution(n, seed);
      const ss_cp_result r = solve(&p);
      assert_int_equal(r.outcome, SS_RAY);
      assert_true(r.no_solution);
      assert_true(r.iterations < 20 * n); /* nothing else was tried */
      owned_free(&p);
    }
}

/* Solutions far out, as tiny entries ask for, and rays that prove nothing. */
static void no_false_proofs(void **state) {
  (void)state;
  for (int e = 0; e <= 14; e++) {
    const double m = pow(10, -e);
    owned_cp p = make_lcp(2, (double[]){m, 0, 0, m}, (double[]){-1, -1});
    const ss_cp_result r = solve_with(&p, "lemke", false, workspace);
    assert_false(r.no_solution);
    owned_free(&p);
  }
  for (unsigned seed = 1; seed <= 40; seed++) { /* any matrix, a planted solution */
    enum { N = 20 };
    owned_cp p = make_lcp(N, NULL, NULL);
    random_source random = {seed};
    for (int i = 0; i < N * N; i++) p.G[i] = random_between(&random, -1, 1);
    double z[N];
    for (int i = 0; i < N; i++) z[i] = random_unit(&random) < 0.5 ? random_unit(&random) : 0;
    for (int i = 0; i < N; i++) {
      p.g[i] = z[i] > 0 ? 0 : random_unit(&random);
      for (int j = 0; j < N; j++) p.g[i] -= p.G[i * N + j] * z[j];
    }
    assert_false(solve(&p).no_solution);
    owned_free(&p);
  }
}

/* Contacts with friction on bodies with `dofs` directions to move in. The last one presses against what the others leave open: its
 * normal is minus a sum of theirs, and all of them ask for a speed of `closing` at least. */
static owned_cp squeezed(int contacts, ss_cone cone, double closing, unsigned seed) {
  enum { DOFS = 6 };
  const int n = 3 * contacts;
  owned_cp p = owned_create(n, contacts);
  random_source random = {seed};
  double *J = numbers(n * DOFS), W[DOFS], v[DOFS];
  for (int k = 0; k < DOFS; k++) {
    W[k] = 0.1 + random_unit(&random);
    v[k] = random_between(&random, -1, 1);
  }
  for (int i = 0; i < n * DOFS; i++) J[i] = random_between(&random, -1, 1);
  for (int k = 0; k < DOFS; k++) J[(n - 3) * DOFS + k] = 0;
  for (int c = 0; c + 1 < contacts; c++) {
    const double weight = random_unit(&random);
    for (int k = 0; k < DOFS; k++) J[(n - 3) * DOFS + k] -= weight * J[3 * c * DOFS + k];
  }
  set_mechanics(&p, J, W, v, DOFS);
  for (int c = 0; c < contacts; c++) {
    const int directions = 4 + 2 * random_below(&random, 3);
    const double mu = random_between(&random, 0, 2);
    add_block(&p, (ss_block){SS_BLOCK_FRICTION, .size = 3, .cone = cone, .directions = directions, .mu = mu});
    p.g[3 * c] -= closing;
  }
  free(J);
  return p;
}

static const ss_cone cones[] = {SS_CONE_QUADRATIC, SS_CONE_POLYHEDRAL};

static void friction_without_solution(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 10; seed++)
    for (int contacts = 2; contacts <= 18; contacts += 4) {
      owned_cp p = squeezed(contacts, cones[seed % 2], 0.1, seed);
      const ss_cp_result r = solve(&p);
      assert_int_equal(r.outcome, SS_RAY);
      assert_true(r.no_solution);
      ss_cp_diagnosis d;
      assert_int_equal(ss_cp_diagnose(&p.cp, 1e-10, 0, workspace, &d, NULL), SS_OK);
      assert_int_equal(d.solutions, SS_SET_NONE);
      owned_free(&p);
    }
}

/* Where nothing is asked for, every such problem has a solution: its right side is a motion. */
static void friction_with_solution(void **state) {
  (void)state;
  for (unsigned seed = 1; seed <= 60; seed++)
    for (int contacts = 2; contacts <= 14; contacts += 4) {
      owned_cp p = squeezed(contacts, cones[seed % 2], 0, seed);
      assert_false(solve_with(&p, "lemke", false, workspace).no_solution);
      assert_int_equal(solve(&p).outcome, SS_SOLVED);
      owned_free(&p);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(games),
                                     cmocka_unit_test(long_paths),
                                     cmocka_unit_test(rays_are_proofs),
                                     cmocka_unit_test(no_false_proofs),
                                     cmocka_unit_test(friction_without_solution),
                                     cmocka_unit_test(friction_with_solution)};
  return CP_SUITE("paths and rays", tests);
}
