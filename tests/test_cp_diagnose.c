/* Classes of matrices and statements about the set of solutions, against definitions, famous matrices and brute force. */
#include "cp_suite.h"

static ss_cp_diagnosis diagnose(const owned_cp *p) {
  ss_cp_diagnosis d;
  ss_error error;
  assert_int_equal(ss_cp_diagnose(&p->cp, 1e-10, 0, workspace, &d, &error), SS_OK);
  return d;
}

static ss_cp_diagnosis diagnose_lcp(int n, const double *M, const double *q) {
  owned_cp p = make_lcp(n, M, q);
  const ss_cp_diagnosis d = diagnose(&p);
  owned_free(&p);
  return d;
}

static double determinant(const double *M, int n, const int *set, int k) { /* by Laplace's expansion */
  if (k == 0) return 1;
  double sum = 0;
  for (int j = 0; j < k; j++) {
    int rest[8], m = 0;
    double minor[64];
    for (int i = 0; i < k; i++)
      if (i != j) rest[m++] = set[i];
    for (int a = 0; a < k - 1; a++)
      for (int b = 0; b < k - 1; b++) minor[a * 8 + b] = M[set[a + 1] * n + rest[b]];
    static const int first[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    sum += (j % 2 ? -1 : 1) * M[set[0] * n + set[j]] * determinant(minor, 8, first, k - 1);
  }
  return sum;
}

static int members(int set, int *list) {
  int k = 0;
  for (int i = 0; i < 8; i++)
    if (set >> i & 1) list[k++] = i;
  return k;
}

static void p_by_its_minors(void **state) {
  (void)state;
  random_source random = {3};
  int yes = 0, no = 0;
  for (int trial = 0; trial < 400; trial++) {
    enum { n = 5 };
    double M[n * n], q[n] = {-1, -1, -1, -1, -1}, smallest = HUGE_VAL;
    for (int i = 0; i < n * n; i++) M[i] = random_between(&random, -1, 1) + (i % (n + 1) ? 0 : trial % 5 * 0.5);
    for (int set = 1; set < 1 << n; set++) {
      int list[8];
      const int k = members(set, list);
      smallest = fmin(smallest, determinant(M, n, list, k));
    }
    if (fabs(smallest) < 1e-6) continue;
    const ss_cp_diagnosis d = diagnose_lcp(n, M, q);
    assert_int_equal(d.p, smallest > 0 ? SS_YES : SS_NO);
    if (smallest > 0) assert_int_equal(d.solutions, SS_SET_ONE);
    *(smallest > 0 ? &yes : &no) += 1;
  }
  assert_true(yes > 20 && no > 20);
}

/* Horn's matrix is copositive, but no sum of a semi-definite and a nonnegative one. */
static void horn(void **state) {
  (void)state;
  double H[25], q[5] = {-1, -1, -1, -1, -1};
  for (int shift = -1; shift <= 1; shift++) {
    for (int i = 0; i < 5; i++)
      for (int j = 0; j < 5; j++) H[i * 5 + j] = (i - j + 5) % 5 == 1 || (i - j + 5) % 5 == 4 ? -1 : 1;
    for (int i = 0; i < 5; i++) H[6 * i] += 0.01 * shift;
    const ss_cp_diagnosis d = diagnose_lcp(5, H, q);
    assert_int_equal(d.symmetric, SS_YES);
    assert_int_equal(d.positive_semidefinite, SS_NO);
    assert_int_equal(d.copositive, shift < 0 ? SS_NO : SS_YES);
    assert_int_equal(d.strictly_copositive, shift > 0 ? SS_YES : SS_NO);
  }
}

/* A vector found by chance that spoils copositivity must not be there where the answer is yes, and the smallest value on
 * a fine grid must not be clearly positive where it is no. */
static void copositive_by_sampling(void **state) {
  (void)state;
  random_source random = {5};
  int yes = 0, no = 0;
  for (int trial = 0; trial < 200; trial++) {
    enum { n = 4, GRID = 24 };
    double M[n * n], q[n] = {0}, smallest = HUGE_VAL;
    for (int i = 0; i < n * n; i++) M[i] = random_between(&random, -1, 1) + (i % (n + 1) ? 0 : 1.3);
    for (int a = 0; a <= GRID; a++)
      for (int b = 0; a + b <= GRID; b++)
        for (int c = 0; a + b + c <= GRID; c++) {
          const double x[n] = {a, b, c, GRID - a - b - c};
          double sum = 0;
          for (int i = 0; i < n * n; i++) sum += M[i] * x[i / n] * x[i % n];
          smallest = fmin(smallest, sum / (GRID * GRID));
        }
    const ss_cp_diagnosis d = diagnose_lcp(n, M, q);
    if (smallest < -1e-9) assert_int_equal(d.copositive, SS_NO);
    if (smallest > 0.01) assert_int_equal(d.strictly_copositive, SS_YES);
    yes += d.copositive == SS_YES;
    no += d.copositive == SS_NO;
  }
  assert_true(yes > 20 && no > 20);
}

static void definiteness(void **state) {
  (void)state;
  const double q[2] = {-1, -1};
  ss_cp_diagnosis d = diagnose_lcp(2, (double[]){2, 1, 1, 2}, q);
  assert_true(d.positive_definite == SS_YES && d.positive_semidefinite == SS_YES && d.symmetric == SS_YES);
  d = diagnose_lcp(2, (double[]){1e8, 1, 1, 1e-8}, q); /* singular, badly scaled */
  assert_true(d.positive_definite == SS_NO && d.positive_semidefinite == SS_YES);
  d = diagnose_lcp(2, (double[]){0, 1, -1, 0}, q); /* skew */
  assert_true(d.positive_definite == SS_NO && d.positive_semidefinite == SS_YES && d.symmetric == SS_NO);
  d = diagnose_lcp(2, (double[]){1, 2, 2, 1}, q);
  assert_true(d.positive_definite == SS_NO && d.positive_semidefinite == SS_NO && d.copositive == SS_YES);
  assert_int_equal(d.solutions, SS_SET_SEVERAL);
  assert_int_equal(d.found, 3);
  assert_true(!d.continuum && !d.same_w);
}

static void none(void **state) {
  (void)state;
  ss_cp_diagnosis d = diagnose_lcp(2, (double[]){0, 0, 0, 0}, (double[]){-1, 1});
  assert_int_equal(d.solutions, SS_SET_NONE);
  assert_true(d.ray);
  assert_non_null(strstr(d.reason, "ray"));
  /* feasible, but without solution: copositive and not plus, the ray proves nothing, the enumeration does */
  d = diagnose_lcp(2, (double[]){0, 1, 0, 0}, (double[]){-1, 0.5});
  assert_int_equal(d.solutions, SS_SET_NONE);
  assert_true(d.ray && d.copositive == SS_YES);
  assert_non_null(strstr(d.reason, "combinations"));
  /* a box under two equal rods: the free rows ask for two different velocities */
  owned_cp p = owned_create(3, 2);
  memcpy(p.G, (double[]){1, 1, 0, 1, 1, 0, 0, 0, 1}, 9 * sizeof(double));
  memcpy(p.g, (double[]){1, 2, -1}, 3 * sizeof(double));
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = 2});
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1});
  d = diagnose(&p);
  assert_int_equal(d.solutions, SS_SET_NONE);
  assert_non_null(strstr(d.reason, "free rows"));
  p.g[1] = 1; /* now they agree: their forces are not determined, the motion is */
  d = diagnose(&p);
  assert_int_equal(d.solutions, SS_SET_SEVERAL);
  assert_true(d.continuum && d.same_w && d.found == 1);
  owned_free(&p);
}

/* Four legs of a table: the impulses are not determined, the motion is. */
static void table(void **state) {
  (void)state;
  owned_cp p = owned_create(4, 1);
  const double W[3] = {1, 3, 3}, v[3] = {-1, 0, 0};
  const double J[12] = {1, 1, 1, 1, 1, -1, 1, -1, 1, 1, -1, -1};
  set_mechanics(&p, J, W, v, 3);
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 4});
  const ss_cp_diagnosis d = diagnose(&p);
  assert_int_equal(d.solutions, SS_SET_SEVERAL);
  assert_true(d.continuum && d.same_w && d.found >= 2);
  assert_true(d.symmetric == SS_YES && d.positive_semidefinite == SS_YES && d.positive_definite == SS_NO);
  owned_free(&p);
}

/* Every complementary set of a small LCP by Cramer's rule: how many give a solution. -1: some minor vanishes. */
static int count_solutions(const double *M, const double *q, int n) {
  int count = 0;
  for (int set = 0; set < 1 << n; set++) {
    int list[8];
    const int k = members(set, list);
    const double det = determinant(M, n, list, k);
    if (fabs(det) < 1e-9) return -1;
    double x[8] = {0};
    bool good = true;
    for (int c = 0; c < k; c++) {
      double copy[64];
      memcpy(copy, M, sizeof(double) * (size_t)(n * n));
      for (int i = 0; i < k; i++) copy[list[i] * n + list[c]] = -q[list[i]];
      x[list[c]] = determinant(copy, n, list, k) / det;
      if (fabs(x[list[c]]) < 1e-9) return -1;
      good = good && x[list[c]] > 0;
    }
    for (int i = 0; i < n; i++) {
      double y = q[i];
      for (int j = 0; j < n; j++) y += M[i * n + j] * x[j];
      if (!(set >> i & 1) && fabs(y) < 1e-9) return -1;
      good = good && (set >> i & 1 || y > 0);
    }
    count += good;
  }
  return count;
}

static void counts_by_brute_force(void **state) {
  (void)state;
  random_source random = {8};
  int seen[3] = {0}, rays = 0;
  for (int trial = 0; trial < 1000; trial++) {
    const int n = 1 + random_below(&random, 4);
    double M[16], q[4];
    for (int i = 0; i < n * n; i++) M[i] = random_between(&random, -1, 1) + (i % (n + 1) ? 0 : 0.3);
    for (int i = 0; i < n; i++) q[i] = random_between(&random, -1, 0.5);
    const int count = count_solutions(M, q, n);
    if (count < 0) continue;
    const ss_cp_diagnosis d = diagnose_lcp(n, M, q);
    assert_int_equal(d.found, count);
    assert_int_equal(d.solutions, count == 0 ? SS_SET_NONE : count == 1 ? SS_SET_ONE : SS_SET_SEVERAL);
    assert_false(d.continuum);
    seen[count > 1 ? 2 : count]++;
    rays += d.ray && count > 0; /* rays that prove nothing */
  }
  assert_true(seen[0] > 20 && seen[1] > 20 && seen[2] > 20 && rays > 5);
}

/* Painleve's rod: three solutions of one contact, and what it does in each of them. */
static void states(void **state) {
  (void)state;
  owned_cp p = owned_create(2, 1);
  memcpy(p.G, (double[]){1, 2, 2, 5}, 4 * sizeof(double));
  memcpy(p.g, (double[]){0.3, 1.5}, 2 * sizeof(double));
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.8});
  const ss_cp_diagnosis d = diagnose(&p);
  assert_int_equal(d.solutions, SS_SET_SEVERAL);
  assert_true(d.found == 3 && !d.same_w && !d.continuum);
  assert_int_equal(d.copositive, SS_YES); /* G is positive definite */
  const double z[3][2] = {{0, 0}, {1.5, -0.9}, {0.5, -0.4}};
  const ss_cp_state expected[3] = {SS_STATE_OPEN, SS_STATE_STICKS, SS_STATE_SLIDES};
  for (int k = 0; k < 3; k++) {
    double w[2];
    ss_cp_state found[2];
    assert_true(ss_cp_judge(&p.cp, z[k], w) < 1e-14);
    assert_int_equal(ss_cp_states(&p.cp, z[k], w, found), 1);
    assert_int_equal(found[0], expected[k]);
  }
  owned_free(&p);
  p = owned_create(3, 2);
  for (int i = 0; i < 3; i++) p.G[4 * i] = 1;
  memcpy(p.g, (double[]){-1, 1, 5}, 3 * sizeof(double));
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 2});
  add_block(&p, (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -1, .upper = 1});
  assert_int_equal(solve_with(&p, "auto", false, workspace).outcome, SS_SOLVED);
  double w[3];
  ss_cp_state found[3];
  (void)ss_cp_judge(&p.cp, p.z, w);
  assert_int_equal(ss_cp_states(&p.cp, p.z, w, found), 3);
  assert_true(found[0] == SS_STATE_ACTIVE && found[1] == SS_STATE_OPEN && found[2] == SS_STATE_LOWER);
  owned_free(&p);
}

/* Contacts that are nearly wedged: impulses of 6e7 balance a load of one, and their last digit is above the tolerance. */
static void as_close_as_numbers_are(void **state) {
  (void)state;
  enum { CONTACTS = 4 };
  static const double directions[CONTACTS][CONTACTS] = {{1, 1, -1, -1}, {1, -1, 1, -1}, {1, -1, -1, 1}, {1, 1, 1, 1}};
  static const double eigenvalues[CONTACTS] = {1.1, 2.3, 3.7, 1e-8};
  owned_cp p = owned_create(3 * CONTACTS, CONTACTS);
  for (int k = 0; k < CONTACTS; k++) {
    for (int l = 0; l < CONTACTS; l++)
      for (int e = 0; e < CONTACTS; e++)
        p.G[(size_t)(3 * k) * 3 * CONTACTS + (size_t)(3 * l)] +=
            eigenvalues[e] * directions[e][k] * directions[e][l] / 4;
    for (int i = 3 * k + 1; i < 3 * k + 3; i++) p.G[(size_t)i * (3 * CONTACTS + 1)] = 1;
    p.g[3 * k] = -0.5 - 0.07 * k;
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 3, .mu = 0.5, .cone = SS_CONE_QUADRATIC});
  }
  const ss_cp_result result = solve_with(&p, "auto", false, workspace);
  assert_int_equal(result.outcome, SS_STALLED);
  assert_true(result.residual < 1e-7);
  assert_non_null(strstr(diagnose(&p).reason, "rounding errors"));
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(p_by_its_minors),
      cmocka_unit_test(horn),
      cmocka_unit_test(copositive_by_sampling),
      cmocka_unit_test(definiteness),
      cmocka_unit_test(none),
      cmocka_unit_test(table),
      cmocka_unit_test(states),
      cmocka_unit_test(counts_by_brute_force),
      cmocka_unit_test(as_close_as_numbers_are),
  };
  return CP_SUITE("cp_diagnose", tests);
}
