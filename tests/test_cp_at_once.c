/* What "auto" solves before it climbs its ladder: contacts that separate, that feel no other one, that carry a body evenly; plain
 * rows by principal pivots. */
#include "cp_problems.h"
#include "cp_random.h"

#include <float.h>

enum { FEET = 4, BRICK_ROWS = 3 * FEET, BRICKS = 2, ROWS = BRICKS * BRICK_ROWS };

typedef struct bricks {
  double G[ROWS * ROWS], g[ROWS], z[ROWS];
  ss_block blocks[BRICKS * FEET];
  ss_cp cp;
} bricks;

/* Velocity of foot i along axis k (normal z, tangents x and y) by the motion along and about all axes. */
static void motion(const double *half, int i, int k, double *j) {
  const double r[3] = {i % 2 ? half[0] : -half[0], i / 2 ? half[1] : -half[1], -half[2]};
  static const int axes[3] = {2, 0, 1};
  const int a = axes[k], b = (a + 1) % 3, c = (a + 2) % 3;
  for (int l = 0; l < 6; l++) j[l] = l == a;
  j[3 + b] = r[c]; /* (omega x r)_a = omega_b r_c - omega_c r_b */
  j[3 + c] = -r[b];
}

/* Bricks of different masses, each on its four feet, falling onto the ground and pushed sideways. */
static void make_bricks(bricks *p, ss_cone cone, double size, double push) {
  static const double half[3] = {0.5, 0.3, 0.2};
  double inertia[6] = {1, 1, 1};
  for (int k = 0; k < 3; k++)
    inertia[3 + k] =
        (half[(k + 1) % 3] * half[(k + 1) % 3] + half[(k + 2) % 3] * half[(k + 2) % 3]) / 3; /* for mass one */
  *p = (bricks){.cp = {.n = ROWS, .n_blocks = BRICKS * FEET}};
  for (int r = 0; r < ROWS; r++)
    for (int s = 0; s < ROWS; s++) {
      if (r / BRICK_ROWS != s / BRICK_ROWS) continue;
      double a[6], b[6];
      motion(half, r % BRICK_ROWS / 3, r % 3, a);
      motion(half, s % BRICK_ROWS / 3, s % 3, b);
      for (int l = 0; l < 6; l++) p->G[r * ROWS + s] += a[l] * b[l] / inertia[l] / (r < BRICK_ROWS ? 1 : 7);
    }
  for (int i = 0; i < ROWS; i++) p->g[i] = size * (i % 3 == 0 ? -1 : i % 3 == 1 ? push : 0);
  for (int b = 0; b < BRICKS * FEET; b++)
    p->blocks[b] = (ss_block){SS_BLOCK_FRICTION, .first = 3 * b, .size = 3, .cone = cone, .directions = 8, .mu = 0.3};
  p->cp.G = p->G;
  p->cp.g = p->g;
  p->cp.blocks = p->blocks;
}

static ss_cp_result solve(const ss_cp *cp, double *z, ss_cp_workspace *w) {
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_result result;
  assert_int_equal(ss_cp_solve(cp, &options, false, z, w, &result, NULL), SS_OK);
  assert_int_equal(result.outcome, SS_SOLVED);
  assert_true(result.residual == ss_cp_judge(cp, z, NULL));
  return result;
}

/* The second one is seven times as heavy; tiny numbers are solved as well as others. */
static void even_loads(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  for (int k = 0; k < 3; k++) {
    bricks p;
    make_bricks(&p, cones[k], 1, 0);
    assert_int_equal(solve(&p.cp, p.z, w).iterations, 1);
    for (int i = 0; i < ROWS; i++) assert_true(fabs(p.z[i] - (i % 3 ? 0 : i < BRICK_ROWS ? 0.25 : 1.75)) <= 1e-14);
    make_bricks(&p, cones[k], 1e-13, 0);
    (void)solve(&p.cp, p.z, w);
    double sum = 0;
    for (int i = 0; i < BRICK_ROWS; i += 3) sum += p.z[i];
    assert_true(fabs(sum - 1e-13) <= 1e-20);
    make_bricks(&p, cones[k], 1, 2); /* slides, and presses unevenly */
    assert_true(solve(&p.cp, p.z, w).residual <= 1e-12);
  }
  ss_cp_workspace_destroy(w);
}

/* A plate on many feet, of which those at the rim have larger diagonals, and whose speeds have rounding errors: all carry the same. */
static void many_feet(void **state) {
  (void)state;
  enum { SIDE = 4, COUNT = SIDE * SIDE };
  ss_cp_workspace *w = new_workspace();
  random_source r = {3};
  owned_cp p = owned_create(3 * COUNT, COUNT);
  for (int i = 0; i < COUNT; i++) {
    const double x = i % SIDE - 1.5, y = (double)(i - i % SIDE) / SIDE - 1.5;
    for (int j = 0; j < COUNT; j++) {
      const double u = j % SIDE - 1.5, v = (double)(j - j % SIDE) / SIDE - 1.5;
      p.G[3 * i * p.cp.n + 3 * j] = 1 + x * u + y * v; /* it may tip over, and does not turn about its normal */
      for (int t = 1; t < 3; t++) p.G[(3 * i + t) * p.cp.n + 3 * j + t] = 1;
    }
    p.g[3 * i] = -0.1 * (1 + 1e-16 * random_between(&r, -4, 4));
    for (int t = 1; t < 3; t++) p.g[3 * i + t] = 1e-17 * random_between(&r, -1, 1);
    add_block(&p, (ss_block){SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_QUADRATIC, .mu = 0.4});
  }
  assert_int_equal(solve(&p.cp, p.z, w).iterations, 1);
  for (int i = 0; i < 3 * COUNT; i++) assert_true(fabs(p.z[i] - (i % 3 ? 0 : 0.1 / COUNT)) <= 1e-15);
  owned_free(&p);
  ss_cp_workspace_destroy(w);
}

/* Balls on the ground: one solution for each contact, sticking, sliding or open. */
static void separate_contacts(void **state) {
  (void)state;
  enum { CONTACTS = 6, N = 3 * CONTACTS };
  ss_cp_workspace *w = new_workspace();
  random_source r = {17};
  for (int k = 0; k < 300; k++) {
    double G[N * N] = {0}, g[N], z[N];
    ss_block blocks[CONTACTS];
    for (int c = 0; c < CONTACTS; c++) {
      const double mass = random_between(&r, 0.1, 10);
      blocks[c] = (ss_block){SS_BLOCK_FRICTION, .first = 3 * c, .size = 3, .directions = 4 + 2 * (c % 3), .mu = 0.5};
      blocks[c].cone = k % 2 ? SS_CONE_QUADRATIC : SS_CONE_POLYHEDRAL;
      for (int i = 3 * c; i < 3 * c + 3; i++) {
        G[i * (N + 1)] = (i % 3 ? 3.5 : 1) / mass;
        g[i] = random_between(&r, -1, i % 3 ? 1 : 0.5);
      }
    }
    const ss_cp cp = {.n = N, .n_blocks = CONTACTS, .G = G, .g = g, .blocks = blocks};
    const ss_cp_result result = solve(&cp, z, w);
    assert_true(result.iterations <= 1);
    assert_true(result.residual <= 1e-13);
  }
  ss_cp_workspace_destroy(w);
}

/* Contacts that separate, with numbers whose sum is not finite although they are. */
static void huge_numbers(void **state) {
  (void)state;
  ss_cp_workspace *w = new_workspace();
  const double G[9] = {DBL_MAX, DBL_MAX, 0, DBL_MAX, DBL_MAX, 0, 0, 0, DBL_MAX}, g[3] = {1, 0, 0};
  const ss_block block = {SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_QUADRATIC, .mu = 0.5};
  const ss_cp cp = {.n = 3, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  double z[3];
  assert_true(solve(&cp, z, w).residual == 0);
  ss_cp_workspace_destroy(w);
}

/* A string over an obstacle that it touches everywhere: every row is exchanged once. */
static void every_row_is_exchanged(void **state) {
  (void)state;
  enum { MOST = 30 };
  ss_cp_workspace *w = new_workspace();
  for (int n = 2; n <= MOST; n++) {
    double G[MOST * MOST] = {0}, g[MOST], z[MOST];
    for (int i = 0; i < n; i++) {
      G[i * (n + 1)] = 2;
      if (i > 0) G[i * n + i - 1] = -1;
      if (i + 1 < n) G[i * n + i + 1] = -1;
      g[i] = -1 - 0.01 * i;
    }
    const ss_block rows = {SS_BLOCK_NONNEGATIVE, .size = n};
    const ss_cp cp = {.n = n, .n_blocks = 1, .G = G, .g = g, .blocks = &rows};
    const ss_cp_result result = solve(&cp, z, w);
    assert_int_equal(result.iterations, n);
    assert_true(result.residual <= 1e-13);
  }
  ss_cp_workspace_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(even_loads), cmocka_unit_test(many_feet),
                                     cmocka_unit_test(separate_contacts), cmocka_unit_test(huge_numbers),
                                     cmocka_unit_test(every_row_is_exchanged)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
