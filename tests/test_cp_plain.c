/* Friction contacts in plain LCPs: found in every order of the rows, solved as contacts, judged as the LCP that was given;
 * and not found where a number does not fit. */
#include "plain_lcp.h"

#include "cp/recognise.h"
#include "cp/solver.h"

static recognition found_in(const ss_cp *cp) {
  recognition r;
  assert_int_equal(recognise(cp, workspace, &r, NULL), SS_OK);
  return r;
}

static int count_found(const recognition *r) {
  int count = 0;
  for (int c = 0; c < r->count; c++) count += r->found[c].count > 0;
  return count;
}

static int found_count(const ss_cp *cp) {
  const scratch_mark mark = scratch_now(workspace);
  const recognition r = found_in(cp);
  scratch_release(workspace, mark);
  return count_found(&r);
}

/* The directions of a gathering: the right rows, around in one sense or the other. */
static void check_directions(const recognition *r, const gathering *f, const plain_rows *rows, int c, int k) {
  int at[MOST_DIRECTIONS];
  for (int j = 0; j < k; j++) {
    at[j] = -1;
    for (int l = 0; l < k; l++)
      if (rows->direction[c * k + l] == r->direction[f->first + j]) at[j] = l;
    assert_true(at[j] >= 0);
  }
  const int step = (at[1] - at[0] + k) % k;
  if (k > 2) assert_true(step == 1 || step == k - 1);
  for (int j = 0; j < k; j++) assert_int_equal(at[j], (at[0] + j * step) % k);
}

static void check_found(const pile *p, const plain_rows *rows, const owned_cp *lcp) {
  const scratch_mark mark = scratch_now(workspace);
  const recognition r = found_in(&lcp->cp);
  assert_int_equal(count_found(&r), p->contacts);
  for (int c = 0; c < p->contacts; c++) {
    const gathering *f = NULL;
    for (int i = 0; i < r.count; i++)
      if (r.found[i].lambda == rows->lambda[c]) f = &r.found[i];
    assert_non_null(f);
    assert_int_equal(f->normal, rows->normal[c]);
    assert_int_equal(f->count, p->directions);
    assert_true(fabs(f->mu - p->mu[c]) <= 1e-15);
    check_directions(&r, f, rows, c, p->directions);
  }
  scratch_release(workspace, mark);
}

static void solve_plain(const owned_cp *lcp, bool warm) {
  const ss_cp_result r = solve_with(lcp, "auto", warm, workspace);
  assert_int_equal(r.outcome, SS_SOLVED);
  assert_true(r.residual <= ss_cp_options_default().tolerance);
  if (warm || lcp->cp.n > TINY_LCP_ROWS)
    assert_string_equal(r.solver, "friction-form");
  else
    assert_int_equal(solve_with(lcp, "friction-form", false, workspace).outcome, SS_SOLVED);
}

static void test_every_order_is_recognised_and_solved(void **state) {
  (void)state;
  static const int sizes[][2] = {{1, 1}, {1, 4}, {2, 4}, {3, 8}, {8, 4}}, directions[] = {2, 4, 6, 8, 10, 16};
  random_source random = {1};
  for (int s = 0; s < 5; s++)
    for (int d = 0; d < 6; d++) {
      pile p = random_pile(&random, sizes[s][0], sizes[s][1], directions[d]);
      for (int variant = 0; variant < 2 * N_ORDERS; variant++) {
        written w = write_plain(&random, &p, (plain_order)(variant / 2), variant % 2);
        check_found(&p, &w.rows, &w.lcp);
        solve_plain(&w.lcp, false);
        solve_plain(&w.lcp, true);
        written_free(&w);
      }
      pile_free(&p);
    }
}

/* 200 contacts, 2000 rows. */
static void test_large_piles(void **state) {
  (void)state;
  random_source random = {2};
  for (int mixed = 0; mixed < 2; mixed++) {
    pile p = random_pile(&random, 25, 8, 8);
    written w = write_plain(&random, &p, mixed ? GROUPED : BY_CONTACT, mixed);
    solve_plain(&w.lcp, false);
    written_free(&w);
    pile_free(&p);
  }
}

/* The same problem with its matrix by rows. */
typedef struct sparse_copy {
  ss_sparse rows;
  ss_cp cp;
  int *start, *col;
  double *value;
} sparse_copy;

static void make_sparse(const ss_cp *cp, sparse_copy *out) {
  const int n = cp->n;
  *out = (sparse_copy){.cp = *cp, .start = integers(n + 1), .col = integers(n * n), .value = numbers(n * n)};
  int used = 0;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      if (cp->G[i * n + j] == 0) continue;
      out->col[used] = j;
      out->value[used++] = cp->G[i * n + j];
    }
    out->start[i + 1] = used;
  }
  out->rows = (ss_sparse){n, n, out->start, out->col, out->value};
  out->cp.G = NULL;
  out->cp.sparse = &out->rows;
}

static void free_sparse(sparse_copy *s) {
  free(s->start);
  free(s->col);
  free(s->value);
}

static void test_sparse_matrices(void **state) {
  (void)state;
  random_source random = {3};
  for (int k = 4; k <= 10; k += 2)
    for (int variant = 0; variant < 2 * N_ORDERS; variant++) {
      pile p = random_pile(&random, 4, 5, k);
      written w = write_plain(&random, &p, (plain_order)(variant / 2), variant % 2);
      sparse_copy sparse;
      make_sparse(&w.lcp.cp, &sparse);
      assert_int_equal(found_count(&sparse.cp), p.contacts);
      const ss_cp_options options = ss_cp_options_default();
      ss_cp_result r;
      assert_int_equal(ss_cp_solve(&sparse.cp, &options, false, w.lcp.z, workspace, &r, NULL), SS_OK);
      assert_int_equal(r.outcome, SS_SOLVED);
      assert_string_equal(r.solver, "friction-form");
      assert_true(ss_cp_judge(&w.lcp.cp, w.lcp.z, NULL) <= options.tolerance);
      free_sparse(&sparse);
      written_free(&w);
      pile_free(&p);
    }
}

/* ---- damage ---- */

/* One entry changed a little: the contact it belongs to is not recognised, and what is called solved is solved. */
static void check_damage(const owned_cp *lcp, double *entry, double change, int expected) {
  const double kept = *entry;
  *entry += change;
  assert_int_equal(found_count(&lcp->cp), expected);
  const ss_cp_result r = solve_with(lcp, "auto", false, workspace);
  assert_true(r.outcome != SS_SOLVED || r.residual <= ss_cp_options_default().tolerance);
  *entry = kept;
}

static void test_damaged_contacts_are_not_recognised(void **state) {
  (void)state;
  random_source random = {4};
  for (int k = 2; k <= 8; k += 2)
    for (int order = 0; order < N_ORDERS; order++) {
      pile p = random_pile(&random, 2, 3, k);
      written w = write_plain(&random, &p, (plain_order)order, false);
      const int n = w.lcp.cp.n, c = random_below(&random, p.contacts), other = (c + 1) % p.contacts;
      const int l = w.rows.lambda[c], a = w.rows.direction[c * k + random_below(&random, k)], all = p.contacts;
      check_damage(&w.lcp, &w.lcp.G[l * n + l], 1e-6, all - 1);                    /* lambda on its diagonal */
      check_damage(&w.lcp, &w.lcp.G[l * n + w.rows.normal[other]], 0.1, all - 1);  /* a second normal */
      check_damage(&w.lcp, &w.lcp.G[w.rows.normal[c] * n + l], -p.mu[c], all - 1); /* the associated law */
      check_damage(&w.lcp, &w.lcp.G[a * n + w.rows.normal[other]], 1e-3, all - 1); /* a direction's row */
      check_damage(&w.lcp, &w.lcp.G[w.rows.normal[other] * n + a], 1e-3, all - 1); /* a direction's column */
      check_damage(&w.lcp, &w.lcp.G[a * n + a], 1e-3, all - 1);                    /* both */
      check_damage(&w.lcp, &w.lcp.g[a], 1e-3, all - 1);
      check_damage(&w.lcp, &w.lcp.g[l], -0.01, all - 1); /* less than nothing to share */
      check_damage(&w.lcp, &w.lcp.G[a * n + l], -w.lcp.G[a * n + l], all - 1);
      assert_int_equal(found_count(&w.lcp.cp), all);
      written_free(&w);
      pile_free(&p);
    }
}

/* Random numbers in all places where no contact is: P-matrices, and matrices whose diagonal has zeros. */
static void test_ordinary_problems_have_no_contacts(void **state) {
  (void)state;
  random_source random = {5};
  for (int trial = 0; trial < 50; trial++) {
    const int n = 13 + random_below(&random, 20);
    owned_cp lcp = make_lcp(n, NULL, NULL);
    for (int i = 0; i < n; i++) {
      lcp.g[i] = random_between(&random, -1, 1);
      for (int j = 0; j < n; j++) lcp.G[i * n + j] = random_between(&random, -1, 1) + (i == j && trial % 2) * n;
      if (trial % 2 == 0) lcp.G[i * n + i] = 0;
    }
    assert_int_equal(found_count(&lcp.cp), 0);
    assert_int_equal(solve_with(&lcp, "friction-form", false, workspace).outcome, SS_NOT_ADMITTED);
    owned_free(&lcp);
  }
}

typedef enum matrix_class { SEMIDEFINITE, SKEW_TOO, Z_MATRIX, COPOSITIVE, LINEAR_PROGRAM, N_CLASSES } matrix_class;

static double class_entry(random_source *r, matrix_class m, int n, int i, int j) {
  if (m == Z_MATRIX) return i == j ? n : -random_unit(r);
  if (m == COPOSITIVE) return random_unit(r) + 0.1 * (i == j);
  return (i < n / 2) != (j < n / 2) && m == LINEAR_PROGRAM ? random_between(r, -1, 1) : 0;
}

/* M of some class, and q such that there is a solution. */
static owned_cp random_of_class(random_source *r, matrix_class m, int n) {
  owned_cp lcp = make_lcp(n, NULL, NULL);
  double *B = numbers(n * n), *z = numbers(n);
  for (int k = 0; k < n * n; k++) B[k] = random_between(r, -1, 1);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      double low_rank = 0;
      for (int k = 0; k < n / 3; k++) low_rank += B[i * n + k] * B[j * n + k];
      const bool monotone = m == SEMIDEFINITE || m == SKEW_TOO;
      const double skew = m == SKEW_TOO && i != j ? random_between(r, -3, 3) : 0;
      lcp.G[i * n + j] = monotone ? low_rank + skew : class_entry(r, m, n, i, j);
      lcp.G[j * n + i] = monotone ? low_rank - skew : class_entry(r, m, n, j, i);
      if (m == LINEAR_PROGRAM) lcp.G[j * n + i] = -lcp.G[i * n + j];
    }
  for (int i = 0; i < n; i++) z[i] = i % 2 ? random_unit(r) : 0;
  for (int i = 0; i < n; i++) {
    lcp.g[i] = i % 2 ? 0 : random_unit(r);
    for (int j = 0; j < n; j++) lcp.g[i] -= lcp.G[i * n + j] * z[j];
    if (m == COPOSITIVE) lcp.g[i] = -random_unit(r);
  }
  free(B);
  free(z);
  return lcp;
}

static void test_ordinary_problems_are_solved(void **state) {
  (void)state;
  random_source random = {10};
  int unsolved = 0;
  for (int m = 0; m < N_CLASSES; m++)
    for (int n = 40; n <= 160; n += 60) {
      owned_cp lcp = random_of_class(&random, (matrix_class)m, n);
      unsolved += fails(&lcp, "auto", false, "class", m);
      unsolved += fails(&lcp, "lemke", false, "class", m);
      owned_free(&lcp);
    }
  assert_int_equal(unsolved, 0);
}

/* ---- other forms ---- */

/* Contacts without friction have a lambda without normal: their directions stay at zero. */
static void test_contacts_without_friction(void **state) {
  (void)state;
  random_source random = {6};
  pile p = random_pile(&random, 3, 4, 4);
  for (int c = 0; c < p.contacts; c += 2) p.mu[c] = 0;
  for (int order = 0; order < N_ORDERS; order++) {
    written w = write_plain(&random, &p, (plain_order)order, false);
    assert_int_equal(found_count(&w.lcp.cp), p.contacts);
    solve_plain(&w.lcp, false);
    for (int c = 0; c < p.contacts; c += 2)
      for (int j = 0; j < 4; j++) assert_true(w.lcp.z[w.rows.direction[c * 4 + j]] == 0);
    written_free(&w);
  }
  pile_free(&p);
}

/* min x^T Q x / 2 + b x, 0 <= x <= 1: x and the multipliers of the upper bounds. */
static void test_boxes(void **state) {
  (void)state;
  random_source random = {7};
  enum { N = 12 };
  owned_cp lcp = make_lcp(2 * N, NULL, NULL);
  double A[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] = random_between(&random, -1, 1);
  for (int i = 0; i < N; i++) {
    lcp.g[i] = random_between(&random, -5, 1);
    lcp.g[N + i] = 1;
    lcp.G[i * 2 * N + N + i] = 1;
    lcp.G[(N + i) * 2 * N + i] = -1;
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++) lcp.G[i * 2 * N + j] += A[i][k] * A[j][k];
  }
  assert_int_equal(found_count(&lcp.cp), N);
  solve_plain(&lcp, false);
  int upper = 0;
  for (int i = 0; i < N; i++) upper += lcp.z[N + i] > 0;
  assert_true(upper > 0 && upper < N);
  owned_free(&lcp);
}

/* Two axes on one normal, each with a lambda and a mu of its own: a pyramid with a rectangle for its base. Three directions and a
 * lambda more on the same normal are no block of ours. */
static void test_pyramids(void **state) {
  (void)state;
  random_source random = {8};
  enum { K = 3 };
  const int n = 7 * K;
  owned_cp lcp = make_lcp(n, NULL, NULL);
  double *J = numbers(n * DOFS), W[DOFS] = {1, 1, 1, 6, 6, 6}, v[DOFS] = {0.3, 0.1, -1, 0.2, -0.1, 0.3};
  for (int c = 0; c < K; c++)
    for (int l = 0; l < DOFS; l++) {
      J[(7 * c) * DOFS + l] = random_between(&random, -1, 1) + (l == 2) * 2;
      J[(7 * c + 1) * DOFS + l] = random_between(&random, -1, 1);
      J[(7 * c + 2) * DOFS + l] = -J[(7 * c + 1) * DOFS + l];
      J[(7 * c + 4) * DOFS + l] = random_between(&random, -1, 1);
      J[(7 * c + 5) * DOFS + l] = -J[(7 * c + 4) * DOFS + l];
    }
  set_mechanics(&lcp, J, W, v, DOFS);
  for (int c = 0; c < K; c++)
    for (int axis = 0; axis < 2; axis++) {
      const int first = 7 * c + 1 + 3 * axis, lambda = first + 2;
      lcp.G[lambda * n + 7 * c] = axis ? 0.7 : 0.4;
      for (int i = first; i < lambda; i++) {
        lcp.G[lambda * n + i] = -1;
        lcp.G[i * n + lambda] = 1;
      }
    }
  assert_int_equal(found_count(&lcp.cp), 2 * K);
  solve_plain(&lcp, false);
  free(J);
  owned_free(&lcp);
}

/* A second solve of the same size takes what the first one left. */
static void test_no_memory_in_the_second_solve(void **state) {
  (void)state;
  random_source random = {9};
  pile p = random_pile(&random, 3, 4, 8);
  written w = write_plain(&random, &p, GROUPED, false);
  ss_cp_workspace *own = new_workspace();
  (void)solve_with(&w.lcp, "auto", false, own);
  const long growths = own->growths;
  (void)solve_with(&w.lcp, "auto", false, own);
  assert_int_equal(own->growths, growths);
  ss_cp_workspace_destroy(own);
  written_free(&w);
  pile_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_order_is_recognised_and_solved),
      cmocka_unit_test(test_large_piles),
      cmocka_unit_test(test_sparse_matrices),
      cmocka_unit_test(test_damaged_contacts_are_not_recognised),
      cmocka_unit_test(test_ordinary_problems_have_no_contacts),
      cmocka_unit_test(test_ordinary_problems_are_solved),
      cmocka_unit_test(test_contacts_without_friction),
      cmocka_unit_test(test_boxes),
      cmocka_unit_test(test_pyramids),
      cmocka_unit_test(test_no_memory_in_the_second_solve),
  };
  return CP_SUITE("plain LCPs", tests);
}
