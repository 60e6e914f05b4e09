/* The curve of smoothed problems: its law of contact with derivatives, and the solver that follows it. */
#include "cp_suite.h"

#include "cp_random.h"

#include "cp/smooth_response.h"

typedef struct cone_case {
  ss_cone cone;
  int directions, size;
} cone_case;

static const cone_case cones[] = {{SS_CONE_POLYHEDRAL, 4, 3}, {SS_CONE_POLYHEDRAL, 8, 3}, {SS_CONE_PYRAMID, 4, 3},
                                  {SS_CONE_QUADRATIC, 8, 3},  {SS_CONE_QUADRATIC, 8, 2},  {SS_CONE_QUADRATIC, 8, 5}};
enum { CONES = sizeof cones / sizeof *cones };

/* One contact and its smoothed law. */
static void respond(const ss_block *block, const double *x, double sigma, double *z, double (*D)[SS_FRICTION_ROWS]) {
  const scratch_mark mark = scratch_now(workspace);
  double G[SS_FRICTION_ROWS * SS_FRICTION_ROWS] = {0}, g[SS_FRICTION_ROWS] = {0};
  for (int i = 0; i < block->size; i++) G[i * (block->size + 1)] = 1;
  const ss_cp cp = {.n = block->size, .n_blocks = 1, .G = G, .g = g, .blocks = block};
  active_set set;
  assert_int_equal(active_set_create_bare(&cp, NULL, workspace, &set, NULL), SS_OK);
  respond_smoothly(&set, x, sigma, &(response){z, D});
  scratch_release(workspace, mark);
}

static void derivatives_are_those_of_the_law(void **state) {
  (void)state;
  random_source random = {5};
  for (int trial = 0; trial < 40 * CONES; trial++) {
    const cone_case *c = &cones[trial % CONES];
    const ss_block block = {.kind = SS_BLOCK_FRICTION,
                            .size = c->size,
                            .cone = c->cone,
                            .directions = c->directions,
                            .mu = random_between(&random, 0.05, 2),
                            .extra = trial % 2 ? 0.3 : 0};
    const double sigma = 0.2, h = 1e-5;
    double x[SS_FRICTION_ROWS], z[SS_FRICTION_ROWS], up[SS_FRICTION_ROWS], down[SS_FRICTION_ROWS];
    double D[SS_FRICTION_ROWS][SS_FRICTION_ROWS], other[SS_FRICTION_ROWS][SS_FRICTION_ROWS];
    for (int i = 0; i < c->size; i++) x[i] = random_between(&random, -2, 2);
    respond(&block, x, sigma, z, D);
    for (int j = 0; j < c->size; j++) {
      const double at = x[j];
      x[j] = at + h;
      respond(&block, x, sigma, up, other);
      x[j] = at - h;
      respond(&block, x, sigma, down, other);
      x[j] = at;
      for (int i = 0; i < c->size; i++) assert_true(fabs((up[i] - down[i]) / (2 * h) - D[i][j]) < 1e-6);
    }
  }
}

/* For sigma -> 0 it is the law itself. */
static void the_limit_is_the_law(void **state) {
  (void)state;
  random_source random = {6};
  for (int trial = 0; trial < 40 * CONES; trial++) {
    const cone_case *c = &cones[trial % CONES];
    const ss_block block = {.kind = SS_BLOCK_FRICTION,
                            .size = c->size,
                            .cone = c->cone,
                            .directions = c->directions,
                            .mu = random_between(&random, 0.05, 2)};
    double x[SS_FRICTION_ROWS], z[SS_FRICTION_ROWS], w[SS_FRICTION_ROWS], G[SS_FRICTION_ROWS * SS_FRICTION_ROWS] = {0};
    double D[SS_FRICTION_ROWS][SS_FRICTION_ROWS];
    for (int i = 0; i < c->size; i++) x[i] = random_between(&random, -2, 2);
    respond(&block, x, 1e-6, z, D);
    for (int i = 0; i < c->size; i++) w[i] = z[i] - x[i]; /* a matrix of zeros, and g = w */
    const ss_cp cp = {.n = c->size, .n_blocks = 1, .G = G, .g = w, .blocks = &block};
    assert_true(ss_cp_judge(&cp, z, NULL) < 1e-5);
  }
}

/* Many contacts on bodies that can hardly move, masses from 1e-2 to 1e2: by this solver alone, from nothing. */
static void solves_alone(void **state) {
  (void)state;
  random_source random = {7};
  int unsolved = 0;
  for (int trial = 0; trial < 12; trial++) {
    const cone_case *c = &cones[trial % 4];
    owned_cp p = random_mechanics(&random, (mechanics_spec){.dofs = 12,
                                                            .contacts = 20,
                                                            .size = c->size,
                                                            .cone = c->cone,
                                                            .directions = c->directions,
                                                            .mass_spread = trial % 3});
    unsolved += fails(&p, "continuation", false, "mechanics", trial);
    owned_free(&p);
  }
  assert_int_equal(unsolved, 0);
}

static void indefinite_matrices_are_refused(void **state) {
  (void)state;
  const double M[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1}, q[3] = {-1, -1, -1};
  owned_cp p = make_lcp(3, M, q);
  assert_int_equal(solve_with(&p, "continuation", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&p);
}

/* The iteration limit of the caller holds, up to the proximal steps of one attempt and the polish. */
static void the_limit_holds(void **state) {
  (void)state;
  random_source random = {8};
  owned_cp p =
      random_mechanics(&random, (mechanics_spec){.dofs = 12, .contacts = 20, .size = 3, .cone = SS_CONE_QUADRATIC});
  ss_cp_options options = ss_cp_options_default();
  ss_cp_result r;
  options.solver = "continuation";
  options.iteration_limit = 3;
  assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &r, NULL), SS_OK);
  assert_int_equal(r.outcome, SS_LIMIT);
  assert_true(r.iterations <= 3 + 3);
  owned_free(&p);
}

/* Contacts with normal impulses carried over, which all other rungs leave at residuals of 1e-10 to 1e-2 after some seconds. */
static void solves_what_others_give_up(void **state) {
  (void)state;
  for (int k = 0; k < RANDOM_CLASSES; k++) {
    if (strcmp(random_classes[k].name, "friction-extra") != 0) continue;
    owned_cp p = random_problem(&random_classes[k], 32);
    assert_int_equal(fails(&p, "auto", false, "friction-extra", 32), 0);
    owned_free(&p);
  }
}

enum { SIDE = 8, DISCS = SIDE * SIDE, MOST_TOUCHES = 4 * DISCS };

/* The rows of a contact: normal d, tangent across it, lever arms of length one half. */
static void touch(double (*J)[3 * DISCS], int a, int b, double dx, double dy) {
  const double length = hypot(dx, dy), n[2] = {dx / length, dy / length}, t[2] = {-n[1], n[0]};
  for (int k = 0; k < 2; k++) {
    J[0][3 * a + k] = n[k];
    J[1][3 * a + k] = t[k];
    if (b >= 0) J[0][3 * b + k] = -n[k];
    if (b >= 0) J[1][3 * b + k] = -t[k];
  }
  J[1][3 * a + 2] = -0.5;
  if (b >= 0) J[1][3 * b + 2] = -0.5;
}

/* Discs of one size on the floor in rows, as dense as they can be, shaken. */
static owned_cp shaken_discs(int seed) {
  static double J[2 * MOST_TOUCHES][3 * DISCS];
  memset(J, 0, sizeof J);
  random_source r = {(uint64_t)seed};
  double x[DISCS], y[DISCS], v[3 * DISCS];
  int touches = 0;
  for (int i = 0; i < DISCS; i++) {
    const int row = i / SIDE;
    x[i] = i % SIDE + 0.5 * (row % 2) + random_between(&r, -0.02, 0.02);
    y[i] = 0.5 + 0.866 * row + random_between(&r, -0.01, 0.01);
    if (i < SIDE) touch(J + 2 * touches++, i, -1, 0, 1);
    for (int j = 0; j < i; j++)
      if (hypot(x[i] - x[j], y[i] - y[j]) < 1.05) touch(J + 2 * touches++, i, j, x[i] - x[j], y[i] - y[j]);
  }
  for (int k = 0; k < 3 * DISCS; k++) v[k] = random_between(&r, -0.5, 0.5);
  const double mu = random_between(&r, 0.2, 0.8);
  const int n = 2 * touches;
  owned_cp p = owned_create(n, touches);
  for (int c = 0; c < touches; c++) add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = mu});
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3 * DISCS; k++) {
      p.g[i] += J[i][k] * v[k];
      for (int j = 0; j < n; j++) p.G[i * n + j] += J[i][k] * J[j][k] * (k % 3 == 2 ? 8 : 1);
    }
  return p;
}

/* What sweeps and Newton steps leave is for the curve before it is for thousands of pivots. */
static void discs_in_the_plane(void **state) {
  (void)state;
  enum { ITERATIONS = 4000 };
  for (int seed = 9; seed <= 11; seed++) {
    owned_cp p = shaken_discs(seed);
    const ss_cp_options options = ss_cp_options_default();
    ss_cp_result result;
    assert_int_equal(ss_cp_solve(&p.cp, &options, false, p.z, workspace, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    assert_true(result.iterations < ITERATIONS);
    owned_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_are_those_of_the_law),
      cmocka_unit_test(the_limit_is_the_law),
      cmocka_unit_test(solves_alone),
      cmocka_unit_test(indefinite_matrices_are_refused),
      cmocka_unit_test(the_limit_holds),
      cmocka_unit_test(solves_what_others_give_up),
      cmocka_unit_test(discs_in_the_plane),
  };
  return CP_SUITE("continuation", tests);
}
