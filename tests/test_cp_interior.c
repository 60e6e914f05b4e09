/* The interior-point solver: the algebra of its cones, and its answers where they are unique or others find none. */
#include "cp_problems.h"

#include "../bench/packing.h"
#include "cp/barrier.h"
#include "cp/solver.h"

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

/* A law with its inner point inside and slacks anywhere. */
typedef struct point {
  barrier b;
  double scale[BARRIER_INNER], lambda[BARRIER_INNER], x[BARRIER_INNER], s[BARRIER_INNER], w[BARRIER_ROWS],
      r[BARRIER_INNER], gap;
} point;

static void make_point(random_source *r, const ss_block *block, ss_cp_workspace *w, point *p) {
  const bool polygon = block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_POLYHEDRAL && block->size > 2;
  p->b = barrier_create(block, 0, block->size, polygon ? scratch_directions(w, block->directions) : NULL);
  p->b.scale = p->scale;
  p->b.lambda = p->lambda;
  p->b.stiffness = 0.5;
  for (int i = 0; i < p->b.pairs; i++) {
    p->x[i] = pow(10, random_between(r, -3, 1));
    p->s[i] = pow(10, random_between(r, -3, 1));
  }
  inside(r, p->b.rows, p->x + p->b.pairs);
  inside(r, p->b.rows, p->s + p->b.pairs);
  if (p->b.pairs + p->b.rows == 0) p->x[0] = p->s[0] = 0;
  for (int i = 0; i < block->size; i++) p->w[i] = random_between(r, -1, 1);
  p->gap = random_between(r, 0, 0.5);
  barrier_linearise(&p->b, p->x, p->s, p->w, p->gap, p->r);
}

static ss_block block_of(random_source *r, int trial) {
  ss_block block = {
      .kind = SS_BLOCK_FRICTION, .size = 2 + trial % 5, .cone = SS_CONE_QUADRATIC, .mu = random_between(r, 0.1, 2)};
  if (trial % 7 == 1) block.cone = SS_CONE_PYRAMID;
  if (trial % 7 == 2)
    block = (ss_block){
        .kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .mu = 0.4, .directions = 4 + 2 * (trial % 4)};
  if (trial % 7 == 3)
    block = (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -1, .upper = trial % 2 ? 2 : HUGE_VAL};
  if (trial % 7 == 4) block = (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -HUGE_VAL, .upper = 2};
  if (trial % 7 == 5) block = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 1};
  if (block.kind == SS_BLOCK_FRICTION && trial % 3 == 0) block.extra = 0.3;
  return block;
}

/* A Newton step to products of `target` makes the equations linear in it hold: r falls with a full step, and the products become
 * what was asked but for the square of the step. Without De Saxce's shift both are exact. */
static void newton_steps(void **state) {
  (void)state;
  random_source r = {3};
  ss_cp_workspace *w = new_workspace();
  for (int trial = 0; trial < 4000; trial++) {
    static const double tiny = 1e-5;
    const ss_block block = block_of(&r, trial);
    const double target = random_between(&r, 0, 0.1);
    point p, q;
    double f[BARRIER_INNER], dw[BARRIER_ROWS], dx[BARRIER_INNER], ds[BARRIER_INNER], left[BARRIER_INNER];
    make_point(&r, &block, w, &p);
    const int n = p.b.count;
    for (int i = 0; i < block.size; i++) dw[i] = random_between(&r, -0.1, 0.1);
    barrier_right_side(&p.b, target, NULL, f);
    barrier_solve(&p.b, f, p.r, dw, dx);
    barrier_slack_step(&p.b, f, dx, ds);
    q = p; /* a small part of the step: what is left of r is the rest, but for its square */
    q.b.scale = q.scale;
    q.b.lambda = q.lambda;
    for (int i = 0; i < n; i++) {
      q.x[i] += tiny * dx[i];
      q.s[i] += tiny * ds[i];
    }
    for (int i = 0; i < block.size; i++) q.w[i] += tiny * dw[i];
    barrier_linearise(&q.b, q.x, q.s, q.w, p.gap, left);
    for (int i = 0; i < n; i++) assert_true(fabs(left[i] - (1 - tiny) * p.r[i]) <= 1e-8);
    for (int i = 0; i < p.b.pairs; i++) {
      const double product = p.x[i] * p.s[i], change = p.x[i] * ds[i] + p.s[i] * dx[i];
      assert_true(fabs(product + change - target) <= 1e-9 * (1 + fabs(p.x[i] * ds[i]) + fabs(p.s[i] * dx[i])));
    }
    const double share = barrier_reach(&p.b, p.x, p.s, dx, ds, 1);
    if (share > 1e6) continue;
    assert_true(fabs(barrier_reach(&p.b, p.x, p.s, dx, ds, 0.5) - 2 * share) <= 1e-9 * share);
    double least = HUGE_VAL; /* at the edge something is zero, and nothing negative */
    for (int i = 0; i < p.b.pairs; i++)
      least = fmin(least, fmin((p.x[i] + share * dx[i]) / (p.x[i] + share * fabs(dx[i])),
                               (p.s[i] + share * ds[i]) / (p.s[i] + share * fabs(ds[i]))));
    for (int side = 0; side < 2 && p.b.rows; side++) {
      double cone[BARRIER_ROWS], size = 0;
      for (int i = 0; i < p.b.rows; i++) {
        const int k = p.b.pairs + i;
        cone[i] = side ? p.s[k] + share * ds[k] : p.x[k] + share * dx[k];
        const double part = side ? fabs(p.s[k]) + share * fabs(ds[k]) : fabs(p.x[k]) + share * fabs(dx[k]);
        size += part * part;
      }
      least = fmin(least, determinant(cone, p.b.rows) / size);
    }
    assert_true(least >= -1e-9 && least <= 1e-9);
  }
  ss_cp_workspace_destroy(w);
}

/* W^-1 twice takes x to s, where they are a cone's pair. */
static void scaling(void **state) {
  (void)state;
  random_source r = {3};
  ss_cp_workspace *w = new_workspace();
  for (int trial = 0; trial < 2000; trial++) {
    const ss_block block = block_of(&r, trial);
    point p;
    make_point(&r, &block, w, &p);
    barrier_divide(&p.b, p.x);
    for (int i = 0; i < p.b.count; i++) assert_true(fabs(p.x[i] - p.lambda[i]) <= 1e-6 * (1 + fabs(p.x[i])));
    barrier_divide(&p.b, p.x);
    for (int i = 0; i < p.b.count; i++)
      assert_true(fabs(p.x[i] - p.s[i]) <= 1e-5 * (1 + p.s[p.b.pairs < p.b.count ? p.b.pairs : i]));
  }
  ss_cp_workspace_destroy(w);
}

/* The middle is inside; near any z a start is inside, and has that z where z is inside itself. */
static void starts_are_inside(void **state) {
  (void)state;
  static const double near = 1e-2;
  random_source r = {5};
  ss_cp_workspace *w = new_workspace();
  for (int trial = 0; trial < 4000; trial++) {
    const ss_block block = block_of(&r, trial);
    point p;
    make_point(&r, &block, w, &p);
    double z[BARRIER_ROWS], got[BARRIER_ROWS], zero[BARRIER_INNER] = {0};
    for (int k = 0; k < 2; k++) {
      for (int i = 0; i < block.size; i++) z[i] = random_between(&r, -1, 1) * (i ? 0.05 : 1);
      if (block.kind == SS_BLOCK_FRICTION) z[0] = 1 + fabs(z[0]);
      if (k)
        barrier_start_near(&p.b, near, z, p.w, p.x, p.s);
      else
        barrier_start(&p.b, p.x, p.s);
      assert_true(barrier_reach(&p.b, p.x, p.s, zero, zero, 1) == HUGE_VAL);
      for (int i = 0; i < p.b.pairs; i++) assert_true(p.x[i] > 0 && p.s[i] > 0);
      if (p.b.rows)
        assert_true(determinant(p.x + p.b.pairs, p.b.rows) > 0 && determinant(p.s + p.b.pairs, p.b.rows) > 0);
      barrier_impulses(&p.b, p.x, 1, got);
      for (int i = 0; k && i < block.size && block.kind == SS_BLOCK_FRICTION; i++)
        assert_true(fabs(got[i] - z[i]) <= 2 * near / fmin(block.mu, 1));
    }
  }
  ss_cp_workspace_destroy(w);
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
  static const ss_cone cones[] = {SS_CONE_QUADRATIC, SS_CONE_PYRAMID, SS_CONE_POLYHEDRAL};
  for (int trial = 0; trial < TRIALS; trial++) {
    const mechanics_spec spec = {.dofs = 18,
                                 .joints = 3,
                                 .limits = 3,
                                 .contacts = trial % 3 ? 6 : 9,
                                 .size = 2 + trial % 2,
                                 .cone = cones[trial % 5 < 3 ? 0 : trial % 5 - 2],
                                 .directions = 8,
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
  const double corners[4] = {1, 0, -1, 0}, G[4] = {1, 0, 0, 1}, g[2] = {-1, 1};
  const ss_block block = {.kind = SS_BLOCK_FRICTION,
                          .size = 2,
                          .cone = SS_CONE_GENERATED,
                          .mu = 0.5,
                          .directions = 2,
                          .generators = corners};
  const ss_cp generated = {.n = 2, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  const ss_cp_options options = {.solver = "interior-point", .tolerance = 1e-8};
  double z[2];
  ss_cp_result result = {0};
  assert_int_equal(solve_interior_point(&generated, &options, false, z, workspace, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_NOT_ADMITTED);
  /* not positive semi-definite, and without a solution: w_1 = z_1 - 3 z_2 - 1, w_2 = -3 z_1 + z_2 - 1 */
  const double M[4] = {1, -3, -3, 1}, q[2] = {-1, -1};
  owned_cp indefinite = make_lcp(2, M, q);
  assert_int_equal(solve_with(&indefinite, "interior-point", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&indefinite);
  ss_cp_workspace_destroy(workspace);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(scaling),           cmocka_unit_test(newton_steps),
                                     cmocka_unit_test(starts_are_inside), cmocka_unit_test(boxes),
                                     cmocka_unit_test(mechanics),         cmocka_unit_test(shaken_packing),
                                     cmocka_unit_test(refusals)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
