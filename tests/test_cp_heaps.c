/* Random packings: "auto" where sweeps alone get stuck, and the methods that go on from there by themselves. */
#include "cp_problems.h"

#include "../bench/heap.h"
#include "cp/large.h"
#include "cp/storage.h"

static ss_cp_result solve_heap(heap_spec spec, const char *solver) {
  packing p;
  ss_cp_workspace *w = new_workspace();
  assert_true(heap_create(&p, &spec));
  const ss_cp_options options = {.solver = solver, .tolerance = 1e-8};
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
  assert_true(result.outcome != SS_SOLVED || ss_cp_judge(&p.cp, p.z, NULL) <= 1e-8);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
  return result;
}

static heap_spec spec_of(int spheres, double mu, double shaking, double spread, uint64_t seed) {
  return (heap_spec){.spheres = spheres,
                     .slenderness = 1,
                     .spread = spread,
                     .density = 1,
                     .skin = 0.02,
                     .mu = mu,
                     .shaking = shaking,
                     .seed = seed};
}

/* Tangents of contacts without friction are left out, in every form of the matrix, and carry nothing. */
static void tangents_without_friction(void **state) {
  (void)state;
  for (int form = 0; form < 3; form++) { /* factors; a matrix; both */
    const heap_spec spec = spec_of(90, 0, 0, 1.2, 61);
    packing p;
    ss_sparse G;
    ss_cp_workspace *w = new_workspace(), *rows = new_workspace();
    ss_cp_result result;
    const ss_cp_options options = {.solver = "auto", .tolerance = 1e-8};
    assert_true(heap_create(&p, &spec));
    assert_int_equal(storage_rows(&p.cp, rows, &G, NULL), SS_OK);
    if (form > 0) p.cp.sparse = &G;
    if (form == 1) p.cp.factors = NULL;
    for (int i = 0; i < p.cp.n; i++) p.z[i] = 1;
    for (int warm = 0; warm < 2; warm++) {
      assert_int_equal(ss_cp_solve(&p.cp, &options, warm, p.z, w, &result, NULL), SS_OK);
      assert_int_equal(result.outcome, SS_SOLVED);
      assert_true(ss_cp_judge(&p.cp, p.z, NULL) <= 1e-8);
      for (int i = 0; i < p.cp.n; i++) assert_true(i % 3 == 0 || p.z[i] == 0);
    }
    ss_cp_workspace_destroy(w);
    ss_cp_workspace_destroy(rows);
    packing_free(&p);
  }
}

static void interior_points_alone(void **state) {
  (void)state;
  assert_int_equal(solve_heap(spec_of(40, 0.4, 0, 1.2, 1), "interior-point").outcome, SS_SOLVED);
  assert_int_equal(solve_heap(spec_of(40, 0.4, 0.5, 1.2, 2), "interior-point").outcome, SS_SOLVED);
  assert_int_equal(solve_heap(spec_of(40, 1, 1, 1.2, 1), "interior-point").outcome, SS_SOLVED);
}

/* Accelerated sweeps stagnate in these. */
static void stuck_places(void **state) {
  (void)state;
  const heap_spec specs[] = {spec_of(100, 0.4, 0.5, 1.2, 2), spec_of(100, 1, 1, 1.2, 1), spec_of(100, 0.8, 5, 1.2, 1)};
  for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
    assert_int_equal(solve_heap(specs[k], "large").outcome, SS_SOLVED);
  }
}

/* A short run among other methods on a small heap: solved, or given up half-way. */
static void sweeps_that_go_round_end_early(void **state) {
  (void)state;
  enum { LIMIT = 60, POLISHING = 3 };
  int given_up = 0, solved = 0;
  for (uint64_t seed = 1; seed <= 8; seed++) {
    packing p;
    ss_cp_workspace *w = new_workspace();
    const heap_spec spec = spec_of(14, 0.6, seed % 2 ? 2 : 0, 1.2, seed);
    assert_true(heap_create(&p, &spec));
    assert_true(p.cp.n <= 240);
    const ss_cp_options options = {.solver = "nsgs-accelerated", .tolerance = 1e-8, .iteration_limit = LIMIT};
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
    if (result.outcome == SS_SOLVED)
      solved++;
    else if (result.iterations <= LIMIT / 2 + POLISHING)
      given_up++;
    ss_cp_workspace_destroy(w);
    packing_free(&p);
  }
  assert_true(solved >= 3 && given_up >= 2);
}

static void mixed_heaps(void **state) {
  (void)state;
  const heap_spec specs[] = {spec_of(120, 0.4, 0.5, 1.2, 2), spec_of(120, 0.3, 0, 3, 1), spec_of(120, 1, 1, 1.2, 1)};
  for (size_t k = 0; k < sizeof specs / sizeof *specs; k++)
    assert_int_equal(solve_heap(specs[k], "large").outcome, SS_SOLVED);
}

/* Sweeps get stuck in these. */
static void shaken_as_strongly_as_gravity(void **state) {
  (void)state;
  const uint64_t seeds[] = {2, 5, 9};
  for (size_t k = 0; k < sizeof seeds / sizeof *seeds; k++)
    assert_int_equal(solve_heap(spec_of(150, 0.4, 1, 1.2, seeds[k]), "large").outcome, SS_SOLVED);
}

/* Coordinates of the bodies, v = T v' with T unit lower triangular, in which masses are no longer diagonal: A' = T^T A T, J' = J T. */
static void turn_coordinates(packing *p) {
  enum { BODY = 6 };
  static const double off = 0.3;
  for (int b = 0; b < p->spheres; b++) {
    double *A = p->A + (ptrdiff_t)b * BODY * BODY;
    for (int i = 0; i < BODY; i++) /* T = 1 + off e_{j+1} e_j^T: columns, then rows */
      for (int j = 0; j + 1 < BODY; j++) A[i * BODY + j] += off * A[i * BODY + j + 1];
    for (int i = 0; i + 1 < BODY; i++)
      for (int j = 0; j < BODY; j++) A[i * BODY + j] += off * A[(i + 1) * BODY + j];
  }
  for (int k = 0; k < p->start[p->cp.n]; k += BODY) /* six numbers for each body that a row touches */
    for (int j = 0; j + 1 < BODY; j++) p->J[k + j] += off * p->J[k + j + 1];
}

/* Sweeps through the velocities of the bodies do not depend on their coordinates. */
static void sweeps_in_other_coordinates(void **state) {
  (void)state;
  enum { SWEEPS = 14 };
  const heap_spec spec = spec_of(60, 0.4, 0.5, 1.2, 2);
  const ss_cp_options options = {.solver = "nsgs-accelerated", .tolerance = 1e-14, .iteration_limit = SWEEPS};
  ss_cp_workspace *w = new_workspace();
  packing p[2];
  for (int k = 0; k < 2; k++) {
    ss_cp_result result;
    assert_true(heap_create(&p[k], &spec));
    if (k) turn_coordinates(&p[k]);
    assert_int_equal(ss_cp_solve(&p[k].cp, &options, false, p[k].z, w, &result, NULL), SS_OK);
    assert_int_equal(result.iterations, SWEEPS);
  }
  for (int i = 0; i < p[0].cp.n; i++) assert_true(fabs(p[0].z[i] - p[1].z[i]) <= 1e-8);
  ss_cp_workspace_destroy(w);
  for (int k = 0; k < 2; k++) packing_free(&p[k]);
}

static void limits_are_kept(void **state) {
  (void)state;
  enum { LIMIT = 80 }; /* sweeps of this heap end after some fifty */
  packing p;
  const heap_spec spec = spec_of(60, 0.4, 0.5, 1.2, 2);
  ss_cp_workspace *w = new_workspace();
  assert_true(heap_create(&p, &spec));
  const ss_cp_options options = {.solver = "nsgs-accelerated", .tolerance = 1e-14, .iteration_limit = LIMIT};
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
  assert_in_range(result.iterations, 1, LIMIT);
  ss_cp_workspace_destroy(w);
  packing_free(&p);
}

/* Two heaps beside each other, and bodies that touch nothing between them: the islands keep their own factors. */
static void islands_keep_their_bodies(void **state) {
  (void)state;
  enum { COPIES = 2, BODY = 6 };
  packing p;
  const heap_spec spec = spec_of(60, 0.4, 0.5, 1.2, 2);
  assert_true(heap_create(&p, &spec));
  const int n = p.cp.n, entries = p.start[n], bodies = p.spheres + 1; /* one idle body after each heap */
  int *start = calloc((size_t)(COPIES * n) + 1, sizeof *start), *col = calloc((size_t)(COPIES * entries), sizeof *col);
  int *first = calloc((size_t)(COPIES * bodies) + 1, sizeof *first);
  double *value = calloc((size_t)(COPIES * entries), sizeof *value), *g = calloc((size_t)(COPIES * n), sizeof *g);
  double *A = calloc((size_t)(COPIES * bodies * BODY * BODY), sizeof *A), *z = calloc((size_t)(COPIES * n), sizeof *z);
  ss_block *blocks = calloc((size_t)(COPIES * p.contacts), sizeof *blocks);
  for (int c = 0; c < COPIES; c++) {
    for (int i = 0; i < n; i++) {
      start[c * n + i] = c * entries + p.start[i];
      g[c * n + i] = p.g[i];
    }
    for (int e = 0; e < entries; e++) {
      col[c * entries + e] = p.col[e] + c * BODY * bodies;
      value[c * entries + e] = p.J[e];
    }
    for (int k = 0; k < p.contacts; k++) {
      blocks[c * p.contacts + k] = p.blocks[k];
      blocks[c * p.contacts + k].first += c * n;
    }
    double *to = A + (ptrdiff_t)c * bodies * BODY * BODY;
    memcpy(to, p.A, sizeof *A * (size_t)(p.spheres * BODY * BODY));
    for (int k = 0; k < BODY; k++) to[p.spheres * BODY * BODY + k * (BODY + 1)] = 1;
  }
  start[COPIES * n] = COPIES * entries;
  for (int b = 0; b <= COPIES * bodies; b++) first[b] = BODY * b;
  const ss_cp_operator factors = {.J = {COPIES * n, COPIES * bodies * BODY, start, col, value},
                                  .n_bodies = COPIES * bodies,
                                  .first = first,
                                  .A = A};
  const ss_cp cp = {.n = COPIES * n, .n_blocks = COPIES * p.contacts, .g = g, .blocks = blocks, .factors = &factors};
  const ss_cp_options options = {.solver = "large", .tolerance = 1e-8};
  ss_cp_workspace *w = new_workspace();
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(&cp, &options, false, z, w, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_SOLVED);
  assert_memory_equal(z, z + n, sizeof *z * (size_t)n); /* the same problem has the same answer */
  ss_cp_workspace_destroy(w);
  void *const all[] = {start, col, first, value, g, A, z, blocks};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  packing_free(&p);
}

/* Each island has a tolerance of its own; where they all meet theirs, the whole meets its. */
static void islands_meet_the_tolerance_of_the_whole(void **state) {
  (void)state;
  static const double amplitude = 2000; /* the right side is much larger than the 1 that the judge adds to it */
  for (uint64_t seed = 7; seed <= 8; seed++)
    for (double tolerance = 1e-3; tolerance > 1e-5; tolerance /= 2) {
      packing p;
      const heap_spec spec = spec_of(70, 0.4, 1, 1.2, seed);
      const ss_cp_options options = {.solver = "large", .tolerance = tolerance};
      ss_cp_workspace *w = new_workspace();
      ss_cp_result result;
      assert_true(heap_create(&p, &spec));
      for (int i = 0; i < p.cp.n; i++) p.g[i] *= amplitude;
      assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, w, &result, NULL), SS_OK);
      assert_int_equal(result.outcome, SS_SOLVED);
      ss_cp_workspace_destroy(w);
      packing_free(&p);
    }
}

static void at_rest(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 4; seed++)
    assert_int_equal(solve_heap(spec_of(60, 0.3 + 0.2 * (double)seed, 0, 1 + (double)seed, seed), "auto").outcome,
                     SS_SOLVED);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tangents_without_friction),
                                     cmocka_unit_test(interior_points_alone),
                                     cmocka_unit_test(stuck_places),
                                     cmocka_unit_test(sweeps_that_go_round_end_early),
                                     cmocka_unit_test(mixed_heaps),
                                     cmocka_unit_test(limits_are_kept),
                                     cmocka_unit_test(shaken_as_strongly_as_gravity),
                                     cmocka_unit_test(sweeps_in_other_coordinates),
                                     cmocka_unit_test(islands_keep_their_bodies),
                                     cmocka_unit_test(islands_meet_the_tolerance_of_the_whole),
                                     cmocka_unit_test(at_rest)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
