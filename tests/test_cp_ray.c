/* Proofs that there is no solution: they are found where bodies are asked for what they cannot do, with every cone and every form of
 * the matrix; the judge's word is compared with the definition, by allowed z at random; and no y passes where there is a solution. */
#include "cp_random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static ss_cp_workspace *workspace;

static int set_up(void **state) {
  (void)state;
  return ss_cp_workspace_create(&workspace, NULL);
}

static int tear_down(void **state) {
  (void)state;
  ss_cp_workspace_destroy(workspace);
  return 0;
}

enum { BODIES = 2, COORDINATES = 6 * BODIES };

/* Contacts in opposite pairs on the two bodies, at random places: what the two of a pair ask for together is `squeeze` less than
 * nothing. In front, for some, joints that hold some coordinates. */
static owned_cp squeezed(random_source *r, int pairs, int joints, ss_cone cone, double squeeze, double *J) {
  const int n = joints + 6 * pairs;
  owned_cp p = owned_create(n, 1 + 2 * pairs);
  double v[COORDINATES];
  for (int k = 0; k < COORDINATES; k++) v[k] = random_between(r, -1, 1);
  if (joints) add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = joints});
  for (int k = 0; k < joints; k++) J[k * COORDINATES + random_below(r, COORDINATES)] = 1;
  for (int c = 0; c < 2 * pairs; c++) {
    add_block(
        &p, (ss_block){
                .kind = SS_BLOCK_FRICTION, .size = 3, .cone = cone, .directions = 6, .mu = random_between(r, 0, 1.5)});
    for (int i = 0; i < 3; i++) {
      double *row = J + (joints + 3 * c + i) * COORDINATES;
      for (int k = 0; k < COORDINATES; k++) row[k] = c % 2 ? -row[k - 3 * COORDINATES] : random_between(r, -1, 1);
    }
  }
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      for (int k = 0; k < COORDINATES; k++)
        p.G[i * n + j] += J[i * COORDINATES + k] * J[j * COORDINATES + k] / (1 + k % 3);
    for (int k = 0; k < COORDINATES; k++) p.g[i] += J[i * COORDINATES + k] * v[k];
    if (i >= joints && (i - joints) % 3 == 0) p.g[i] -= squeeze;
  }
  return p;
}

/* A z that the blocks allow. */
static void allowed(random_source *r, const ss_cp *cp, double *z) {
  for (int b = 0; b < cp->n_blocks; b++) {
    const ss_block *block = &cp->blocks[b];
    double w[SS_FRICTION_ROWS];
    if (block->kind == SS_BLOCK_FRICTION)
      plant_friction(r, block, z + block->first, w);
    else
      for (int i = 0; i < block->size; i++) plant_row(r, block, 0.1, z + block->first + i, w);
  }
}

static void check_by_definition(random_source *r, const owned_cp *p, const double *y) {
  const int n = p->cp.n;
  double *z = numbers(n), *w = numbers(n);
  for (int k = 0; k < 50; k++) {
    allowed(r, &p->cp, z);
    const double stretch = pow(10, random_between(r, -3, 3));
    for (int i = 0; i < n; i++) z[i] *= stretch;
    (void)ss_cp_judge(&p->cp, z, w);
    double sum = 0, terms = 0;
    for (int i = 0; i < n; i++) {
      sum += y[i] * w[i];
      terms += fabs(y[i] * w[i]);
    }
    assert_true(sum < 1e-9 * terms);
  }
  free(z);
  free(w);
}

/* The same problem by its nonzeros. */
static double judge_sparse(const owned_cp *p, const double *y) {
  const int n = p->cp.n;
  int *start = calloc((size_t)n + 1, sizeof *start), *col = calloc((size_t)(n * n) + 1, sizeof *col);
  assert_true(start && col);
  for (int i = 0; i < n; i++) {
    start[i + 1] = (i + 1) * n;
    for (int j = 0; j < n; j++) col[i * n + j] = j;
  }
  const ss_sparse rows = {.rows = n, .cols = n, .start = start, .col = col, .value = p->G};
  ss_cp sparse = p->cp;
  sparse.G = NULL;
  sparse.sparse = &rows;
  const double margin = ss_cp_judge_ray(&sparse, y);
  free(start);
  free(col);
  return margin;
}

static void squeezed_bodies(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  random_source r = {7};
  for (int k = 0; k < 60; k++) {
    const int pairs = 1 + k % 5, joints = k % 4;
    double J[(6 * 5 + 3) * COORDINATES] = {0}, y[6 * 5 + 3], margin;
    owned_cp p = squeezed(&r, pairs, joints, cones[k % 3], 0.1, J);
    assert_int_equal(ss_cp_find_ray(&p.cp, workspace, y, &margin, NULL), SS_OK);
    assert_true(margin > 1e-3);
    assert_true(fabs(judge_sparse(&p, y) - margin) < 1e-12);
    check_by_definition(&r, &p, y);
    const ss_cp_options options = ss_cp_options_default();
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &result, NULL), SS_OK);
    assert_true(result.outcome == SS_RAY && result.no_solution); /* and not after all methods have been tried */
    assert_true(result.iterations < 3000);
    owned_free(&p);
  }
}

static void passes_nowhere_else(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  random_source r = {11};
  for (int k = 0; k < 60; k++) {
    double J[(6 * 5 + 3) * COORDINATES] = {0}, y[6 * 5 + 3] = {0}, margin;
    owned_cp p = squeezed(&r, 1 + k % 5, k % 4, cones[k % 3], 0.1, J);
    const int n = p.cp.n;
    assert_int_equal(ss_cp_find_ray(&p.cp, workspace, y, &margin, NULL), SS_OK);
    for (int c = k % 4; c < n; c += 3) p.g[c] += 0.2; /* now there is room */
    assert_true(ss_cp_judge_ray(&p.cp, y) == 0);
    assert_int_equal(ss_cp_find_ray(&p.cp, workspace, y, &margin, NULL), SS_OK);
    assert_true(margin == 0);
    for (int t = 0; t < 20; t++) {
      for (int i = 0; i < n; i++) y[i] = random_between(&r, -0.2, 1);
      assert_true(ss_cp_judge_ray(&p.cp, y) == 0);
    }
    owned_free(&p);
  }
}

/* Rows with bounds: a motor that is too weak for what a stop asks for. */
static void bounds_take_part(void **state) {
  (void)state;
  owned_cp p = owned_create(2, 2);
  memcpy(p.G, (double[]){1, 1, 1, 0}, 4 * sizeof(double)); /* the second row's w = z_1 - 3: z_1 would have to be 3 */
  memcpy(p.g, (double[]){0, -3}, 2 * sizeof(double));
  add_block(&p, (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -2, .upper = 2});
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1});
  assert_true(fabs(ss_cp_judge_ray(&p.cp, (double[]){0, 1}) - 0.2) < 1e-12); /* (2 - 3) / (2 + 3) */
  assert_true(ss_cp_judge_ray(&p.cp, (double[]){0, -1}) == 0);
  assert_true(ss_cp_judge_ray(&p.cp, (double[]){0.1, 1}) == 0); /* its own w may have any sign */
  p.blocks[0].upper = 3;
  assert_true(ss_cp_judge_ray(&p.cp, (double[]){0, 1}) == 0);
  p.blocks[0].upper = HUGE_VAL;
  assert_true(ss_cp_judge_ray(&p.cp, (double[]){0, 1}) == 0);
  owned_free(&p);
}

/* Equations of which the last is the sum of the others, with another right side, beside `rows` diodes or motors: a network with two sources
 * at one place. */
static owned_cp contradictory(random_source *r, int equations, int rows) {
  const int n = equations + rows, last = equations - 1;
  owned_cp p = owned_create(n, 1 + rows);
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = equations});
  for (int k = 0; k < rows; k++)
    add_block(&p, k % 2 ? (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -1, .upper = 1}
                        : (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1});
  for (int i = 0; i < n; i++) {
    p.g[i] = random_between(r, -1, 1);
    for (int j = 0; j < n && i < last; j++) p.G[i * n + j] = random_between(r, -1, 1);
    for (int j = 0; j < last && i > last; j++) p.G[i * n + j] = -p.G[j * n + i];
  }
  p.g[last] = 0.5;
  for (int i = 0; i < last; i++) p.g[last] += p.g[i];
  for (int j = 0; j < n; j++)
    for (int i = 0; i < last; i++) p.G[last * n + j] += p.G[i * n + j];
  return p;
}

static void equations_contradict(void **state) {
  (void)state;
  enum { EQUATIONS = 8, ROWS = 6 };
  random_source r = {17};
  for (int k = 0; k < 40; k++) {
    double y[EQUATIONS + ROWS] = {0}, margin;
    owned_cp p = contradictory(&r, 1 + k % EQUATIONS, k % ROWS);
    assert_int_equal(ss_cp_find_ray(&p.cp, workspace, y, &margin, NULL), SS_OK);
    assert_true(margin > 1e-3);
    const ss_cp_options options = ss_cp_options_default();
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &result, NULL), SS_OK);
    assert_true(result.outcome == SS_RAY && result.no_solution);
    p.g[k % EQUATIONS] -= 0.5; /* the last one: now it is their sum */
    assert_int_equal(ss_cp_find_ray(&p.cp, workspace, y, &margin, NULL), SS_OK);
    assert_true(k % ROWS || margin == 0); /* what the others ask for may still be too much */
    owned_free(&p);
  }
}

/* Columns of an operator are asked for one by one. */
static void operators(void **state) {
  (void)state;
  const int start[] = {0, 1, 2}, col[] = {0, 0}, first[] = {0, 1};
  const double values[] = {1, -1}, A[] = {4};
  const ss_cp_operator o = {
      .J = {.rows = 2, .cols = 1, .start = start, .col = col, .value = values}, .n_bodies = 1, .first = first, .A = A};
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = 2};
  double g[] = {-2, 1}, y[2], margin;
  const ss_cp cp = {.n = 2, .n_blocks = 1, .g = g, .blocks = &block, .factors = &o};
  assert_int_equal(ss_cp_find_ray(&cp, workspace, y, &margin, NULL), SS_OK);
  assert_true(fabs(margin - 1.0 / 3) < 1e-12 && fabs(y[0] - y[1]) < 1e-12 && y[0] > 0);
  g[1] = 3;
  assert_true(ss_cp_judge_ray(&cp, y) == 0);
}

/* Every class of random problems: a proof where there is none, and none where a solution was planted. */
static void random_problems(void **state) {
  (void)state;
  enum { SEEDS = 12, MOST_ROWS = 60 };
  for (int k = 0; k < RANDOM_CLASSES; k++) {
    random_class c = random_classes[k];
    if (c.most > MOST_ROWS) c.most = MOST_ROWS;
    for (int seed = 0; seed < SEEDS && c.solutions != HAS_PERHAPS; seed++) {
      owned_cp p = random_problem(&c, seed);
      double *y = numbers(p.cp.n), margin;
      assert_int_equal(ss_cp_find_ray(&p.cp, workspace, y, &margin, NULL), SS_OK);
      if (c.solutions == HAS_NONE ? margin <= 0 : margin != 0) fail_msg("%s %d: margin %g", c.name, seed, margin);
      free(y);
      owned_free(&p);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(squeezed_bodies),      cmocka_unit_test(passes_nowhere_else), cmocka_unit_test(bounds_take_part),
      cmocka_unit_test(equations_contradict), cmocka_unit_test(operators),           cmocka_unit_test(random_problems),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
