/* The two ways to keep the basis of an LCP, a tableau and LU factors, tell the same along any path of pivots, and Lemke's and
 * Keller's methods solve problems that are large enough for the second. */
#include "cp/pivoting.h"
#include "cp_suite.h"

enum { N = 30 };

typedef struct lcp_data {
  lcp l;
  double M[N * N], q[N], cover[N];
} lcp_data;

static void fill(lcp_data *d, uint64_t seed) {
  random_source source = {seed};
  for (int i = 0; i < N * N; i++) d->M[i] = random_between(&source, -1, 1);
  for (int i = 0; i < N; i++) d->M[i * (N + 1)] += 3;
  for (int i = 0; i < N; i++) d->q[i] = random_between(&source, -1, 1);
  for (int i = 0; i < N; i++) d->cover[i] = random_between(&source, 1, 2);
  d->l = (lcp){.n = N, .M = d->M, .q = d->q, .amplitude = 1};
}

static void nearly_equal(double a, double b) { assert_true(fabs(a - b) <= 1e-9 * (1 + fabs(a))); }

/* The basic variables with their values and entries, whatever row they stand in. */
static void compare(const pivots *a, const pivots *b) {
  for (int v = 0; v <= 2 * N; v++) {
    assert_int_equal(a->place[v] >= 0, b->place[v] >= 0);
    if (a->place[v] < 0) continue;
    assert_int_equal(a->basic[a->place[v]], v);
    assert_int_equal(b->basic[b->place[v]], v);
    nearly_equal(a->value[a->place[v]], b->value[b->place[v]]);
    nearly_equal(a->column[a->place[v]], b->column[b->place[v]]);
  }
}

/* The largest error of y = M x + d x0 + q with what is not basic at zero. */
static double error_of(const pivots *p, const lcp_data *d) {
  double part[2 * N + 1] = {0}, worst = 0;
  for (int i = 0; i < N; i++) part[p->basic[i]] = p->value[i];
  for (int i = 0; i < N; i++) {
    double sum = d->q[i] + d->cover[i] * part[2 * N] - part[i];
    for (int j = 0; j < N; j++) sum += d->M[i * N + j] * part[N + j];
    worst = fmax(worst, fabs(sum));
  }
  return worst;
}

static void same_path(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 20; seed++) {
    lcp_data d;
    fill(&d, seed);
    pivots *a, *b;
    const scratch_mark mark = scratch_now(workspace);
    assert_int_equal(tableau_create(&d.l, d.cover, workspace, &a, NULL), SS_OK);
    assert_int_equal(basis_create(&d.l, d.cover, workspace, &b, NULL), SS_OK);
    random_source source = {seed};
    for (int k = 0; k < 200; k++) {
      int v = random_below(&source, 2 * N + 1), leaves = -1;
      while (a->place[v] >= 0) v = (v + 1) % (2 * N + 1);
      assert_true(pivots_enter(a, v) && pivots_enter(b, v));
      compare(a, b);
      for (int i = random_below(&source, N), count = 0; count < N && leaves < 0; count++, i = (i + 1) % N)
        if (fabs(a->column[i]) > 0.2) leaves = a->basic[i];
      assert_true(leaves >= 0);
      if (pivots_exchange(a, a->place[leaves])) pivots_refresh(a);
      if (pivots_exchange(b, b->place[leaves]) || k % 50 == 49) pivots_refresh(b);
    }
    assert_true(error_of(b, &d) < 1e-11);
    scratch_release(workspace, mark);
  }
}

/* A basis that cannot be inverted becomes one that can. */
static void singular(void **state) {
  (void)state;
  lcp_data d;
  fill(&d, 3);
  for (int i = 0; i < N; i++) d.M[i * N + 5] = 2 * d.M[i * N + 2] - d.M[i * N + 7];
  pivots *p;
  assert_int_equal(basis_create(&d.l, d.cover, workspace, &p, NULL), SS_OK);
  for (int j = 0; j < 10; j++) {
    p->place[N + j] = j;
    p->place[j] = -1;
  }
  pivots_refresh(p);
  int basic = 0;
  for (int v = 0; v <= 2 * N; v++) basic += p->place[v] >= 0;
  assert_int_equal(basic, N);
  assert_true(error_of(p, &d) < 1e-11);
  assert_true(p->place[N + 2] < 0 || p->place[N + 5] < 0 || p->place[N + 7] < 0);
}

/* Positive semi-definite with a planted solution, a part of it degenerate. */
static owned_cp planted(int n, int rank, uint64_t seed) {
  random_source source = {seed};
  double *A = numbers(n * rank), *M = numbers(n * n), *q = numbers(n), *z = numbers(n);
  for (int i = 0; i < n * rank; i++) A[i] = random_between(&source, -1, 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      if (j < i)
        M[i * n + j] = -M[j * n + i]; /* the skew part */
      else
        M[i * n + j] = j > i ? random_between(&source, -0.3, 0.3) : 0;
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < rank; k++) M[i * n + j] += A[i * rank + k] * A[j * rank + k] / rank;
  for (int i = 0; i < n; i++) z[i] = fmax(0, random_between(&source, -1, 1));
  for (int i = 0; i < n; i++) {
    q[i] = i % 4 && !(z[i] > 0) ? random_between(&source, 0, 1) : 0;
    for (int j = 0; j < n; j++) q[i] -= M[i * n + j] * z[j];
  }
  owned_cp p = make_lcp(n, M, q);
  free(A);
  free(M);
  free(q);
  free(z);
  return p;
}

static void solved(void **state) {
  (void)state;
  static const char *const solvers[] = {"lemke", "lemke-restarted", "keller"};
  for (int k = 0; k < 3; k++)
    for (uint64_t seed = 1; seed <= 3; seed++) {
      owned_cp p = planted(100 + 60 * k, 50, seed);
      const ss_cp_result r = solve_with(&p, solvers[k], false, workspace);
      assert_int_equal(r.outcome, SS_SOLVED);
      assert_true(r.residual <= 1e-10);
      owned_free(&p);
    }
}

/* No z at all satisfies the inequalities: the last row says sum of z <= -1. */
static void none(void **state) {
  (void)state;
  enum { n = 120 };
  owned_cp p = planted(n, 50, 7);
  for (int j = 0; j < n; j++) p.G[(n - 1) * n + j] = -1;
  p.g[n - 1] = -1;
  for (int j = 0; j < n; j++) p.G[j * n + n - 1] = j < n - 1;
  const ss_cp_result r = solve_with(&p, "lemke", false, workspace);
  assert_int_equal(r.outcome, SS_RAY);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(same_path), cmocka_unit_test(singular), cmocka_unit_test(solved),
                                     cmocka_unit_test(none)};
  return CP_SUITE("cp_pivots", tests);
}
