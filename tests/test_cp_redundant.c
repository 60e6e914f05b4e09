/* Redundant contacts: the factors of a matrix that lacks rank, the two laws of contact with their derivatives, and the solver
 * that is built on them. */
#include "cp_suite.h"

#include "cp/range_system.h"
#include "cp/storage.h"
#include "cp/response.h"

static double entry(const range *r, int i, int j) {
  const int first = r->first[i] > r->first[j] ? r->first[i] : r->first[j];
  const int end = r->end[i] < r->end[j] ? r->end[i] : r->end[j];
  double sum = 0;
  for (int k = first; k < end; k++) sum += r->L[i * r->stride + k] * r->U[j * r->stride + k];
  return sum;
}

static void expect_product_of(const ss_cp *cp, const double *G, int rank) {
  const scratch_mark mark = scratch_now(workspace);
  pattern order;
  range r;
  bool admitted;
  assert_int_equal(pattern_create(cp, workspace, &order, NULL), SS_OK);
  assert_int_equal(range_create(cp, &order, cp->n, workspace, &r, &admitted, NULL), SS_OK);
  assert_true(admitted);
  assert_int_equal(r.rank, rank);
  for (int i = 0; i < cp->n; i++)
    for (int j = 0; j < cp->n; j++) assert_true(fabs(entry(&r, i, j) - G[i * cp->n + j]) < 1e-9);
  assert_int_equal(range_create(cp, &order, rank - 1, workspace, &r, &admitted, NULL), SS_OK); /* too many */
  assert_false(admitted);
  scratch_release(workspace, mark);
}

/* Dense and sparse. */
static void expect_product(const owned_cp *p, int rank) {
  const scratch_mark mark = scratch_now(workspace);
  ss_sparse rows;
  ss_cp sparse = p->cp;
  assert_int_equal(storage_rows(&p->cp, workspace, &rows, NULL), SS_OK);
  sparse.G = NULL;
  sparse.sparse = &rows;
  expect_product_of(&p->cp, p->G, rank);
  expect_product_of(&sparse, p->G, rank);
  scratch_release(workspace, mark);
}

/* G = L U^T with as many columns as there are directions to move in, for J J^T and for J A^-1 J^T with A = 1 + skew. */
static void factors(void **state) {
  (void)state;
  random_source random = {21};
  for (int trial = 0; trial < 50; trial++) {
    owned_cp p = random_mechanics(&random, (mechanics_spec){.dofs = 6, .contacts = 7, .size = 3});
    expect_product(&p, 6);
    const int n = p.cp.n;
    double *half = numbers(n * n);
    memcpy(half, p.G, sizeof *half * (size_t)(n * n));
    for (int i = 0; i < n; i++) /* G + e G (a b^T - b a^T) G, a and b the first two axes: same range, not symmetric */
      for (int j = 0; j < n; j++) p.G[i * n + j] += 1e-2 * (half[i * n] * half[n + j] - half[i * n + 1] * half[j]);
    expect_product(&p, 6);
    free(half);
    owned_free(&p);
  }
}

static void indefinite_matrices_are_refused(void **state) {
  (void)state;
  const double M[9] = {1, 2, 0, 2, 1, 0, 0, 0, 1}, q[3] = {-1, -1, -1};
  owned_cp p = make_lcp(3, M, q);
  assert_int_equal(solve_with(&p, "proximal-newton", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&p);
}

/* One contact, with the arrays that a response needs. */
typedef struct contact {
  ss_block block;
  ss_cp cp;
  double G[SS_FRICTION_ROWS * SS_FRICTION_ROWS], g[SS_FRICTION_ROWS], none[SS_FRICTION_ROWS], z[SS_FRICTION_ROWS];
  double D[SS_FRICTION_ROWS][SS_FRICTION_ROWS];
  active_set set;
  response out;
} contact;

static void contact_create(contact *c, ss_block block) {
  *c = (contact){.block = block};
  for (int i = 0; i < block.size; i++) c->G[i * (block.size + 1)] = 1;
  c->cp = (ss_cp){.n = block.size, .n_blocks = 1, .G = c->G, .g = c->g, .blocks = &c->block};
  assert_int_equal(active_set_create_bare(&c->cp, NULL, workspace, &c->set, NULL), SS_OK);
  c->out = (response){c->z, c->D};
}

static void respond(contact *c, bool coulomb, const double *x) {
  if (coulomb)
    respond_by_coulomb(&c->set, x, c->none, &c->out);
  else
    respond_by_cone(&c->set, x, &c->out);
}

static const ss_block cones[] = {
    {.kind = SS_BLOCK_FRICTION, .size = 2, .cone = SS_CONE_QUADRATIC},
    {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_QUADRATIC},
    {.kind = SS_BLOCK_FRICTION, .size = 4, .cone = SS_CONE_QUADRATIC},
    {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_PYRAMID},
    {.kind = SS_BLOCK_FRICTION, .size = 4, .cone = SS_CONE_PYRAMID},
    {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 4},
    {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 6},
    {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 12},
};
enum { CONES = sizeof cones / sizeof *cones };

/* A point of the cone, by the judge's projection: with w = -x_t the friction that maximises dissipation. */
static double cone_distance(const contact *c, const double *z) {
  double cone, dissipation, w[SS_FRICTION_ROWS] = {0};
  ss_cp_friction_defects(&c->cp, z, w, &cone, &dissipation);
  return fmax(cone, -z[0]);
}

/* Moreau: z is the projection of x on a cone exactly where z lies in it, z (x - z) = 0 and v (x - z) <= 0 for all v in it. */
static void projections(void **state) {
  (void)state;
  random_source random = {22};
  for (int k = 0; k < CONES; k++)
    for (int trial = 0; trial < 500; trial++) {
      const scratch_mark mark = scratch_now(workspace);
      contact c;
      ss_block block = cones[k];
      block.mu = random_between(&random, 0.05, 2);
      contact_create(&c, block);
      double x[SS_FRICTION_ROWS], v[SS_FRICTION_ROWS], rest[SS_FRICTION_ROWS], product = 0;
      for (int i = 0; i < block.size; i++) x[i] = random_between(&random, -1, 1);
      respond(&c, false, x);
      assert_true(cone_distance(&c, c.z) < 1e-14);
      for (int i = 0; i < block.size; i++) {
        rest[i] = x[i] - c.z[i];
        product += c.z[i] * rest[i];
      }
      assert_true(fabs(product) < 1e-14);
      for (int other = 0; other < 20; other++) { /* points of the cone: what Coulomb's law makes of any */
        for (int i = 0; i < block.size; i++) v[i] = random_between(&random, -2, 2);
        respond(&c, true, v);
        product = 0;
        for (int i = 0; i < block.size; i++) product += c.z[i] * rest[i];
        assert_true(product < 1e-14);
      }
      scratch_release(workspace, mark);
    }
}

/* Derivatives against difference quotients; where the two sides differ there is a kink. */
static void derivatives(void **state) {
  (void)state;
  const double h = 1e-6;
  random_source random = {23};
  int compared = 0, total = 0;
  for (int k = 0; k < CONES; k++)
    for (int trial = 0; trial < 200; trial++) {
      const scratch_mark mark = scratch_now(workspace);
      contact c;
      ss_block block = cones[k];
      block.mu = random_between(&random, 0.05, 2);
      contact_create(&c, block);
      const bool coulomb = trial % 2;
      double x[SS_FRICTION_ROWS], D[SS_FRICTION_ROWS][SS_FRICTION_ROWS], z[SS_FRICTION_ROWS], up[SS_FRICTION_ROWS];
      for (int i = 0; i < block.size; i++) x[i] = random_between(&random, -1, 1);
      respond(&c, coulomb, x);
      memcpy(D, c.D, sizeof D);
      memcpy(z, c.z, sizeof z);
      for (int j = 0; j < block.size; j++, total++) {
        x[j] += h;
        respond(&c, coulomb, x);
        memcpy(up, c.z, sizeof up);
        x[j] -= 2 * h;
        respond(&c, coulomb, x);
        x[j] += h;
        double kink = 0;
        for (int i = 0; i < block.size; i++) kink = fmax(kink, fabs(up[i] + c.z[i] - 2 * z[i]) / h);
        if (kink > 1e-3) continue;
        compared++;
        for (int i = 0; i < block.size; i++) assert_true(fabs((up[i] - c.z[i]) / (2 * h) - D[i][j]) < 1e-3);
      }
      scratch_release(workspace, mark);
    }
  assert_true(compared > 0.99 * total);
}

/* A box on 4 to 100 points, thrown at any speed with any friction: nearly all are solved to the last digits in few steps,
 * whatever the number of points, and stay solved; the ladder solves all of them. */
static void boxes_on_many_points(void **state) {
  (void)state;
  static const int points[] = {4, 16, 100};
  static const struct {
    ss_cone cone;
    int directions;
  } kinds[] = {{SS_CONE_QUADRATIC, 8}, {SS_CONE_POLYHEDRAL, 4}, {SS_CONE_POLYHEDRAL, 8}, {SS_CONE_PYRAMID, 8}};
  enum { TRIALS = 10 };
  random_source random = {24};
  int unsolved = 0, iterations = 0, again = 0;
  for (int count = 0; count < 3; count++)
    for (int kind = 0; kind < 4; kind++)
      for (int trial = 0; trial < TRIALS; trial++) {
        const double mu = random_between(&random, 0, 0.8);
        owned_cp p = box_on_plane(&random, points[count], kinds[kind].cone, kinds[kind].directions, mu);
        const ss_cp_result first = solve_with(&p, "proximal-newton", false, workspace);
        iterations += first.iterations;
        if (first.outcome == SS_SOLVED) {
          assert_true(first.residual <= 1e-12);
          again += solve_with(&p, "proximal-newton", true, workspace).iterations;
        } else {
          unsolved++;
        }
        unsolved += 10 * fails(&p, "auto", false, "box", trial);
        owned_free(&p);
      }
  assert_true(unsolved <= 2);
  assert_true(iterations <= 26 * 3 * 4 * TRIALS);
  assert_true(again <= 15 * 3 * 4 * TRIALS); /* less from the solution */
}

/* Contacts that separate are solved by nothing. */
static void separating(void **state) {
  (void)state;
  random_source random = {25};
  owned_cp p = box_on_plane(&random, 16, SS_CONE_QUADRATIC, 8, 0.5);
  for (int i = 0; i < p.cp.n; i += 3) p.g[i] = fabs(p.g[i]);
  const ss_cp_result r = solve_with(&p, "auto", false, workspace);
  assert_true(r.outcome == SS_SOLVED && r.iterations == 0 && r.residual == 0);
  for (int i = 0; i < p.cp.n; i++) assert_true(p.z[i] == 0);
  owned_free(&p);
}

/* Boxes side by side, each on four points: g is an eigenvector of G, and no solver has to run. One box that is pushed is left to them. */
static void equal_boxes(void **state) {
  (void)state;
  enum { BOXES = 5, POINTS = 4, ROWS = 3 * POINTS };
  owned_cp p = owned_create(BOXES * ROWS, BOXES * POINTS);
  for (int c = 0; c < BOXES * POINTS; c++)
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION,
                             .first = 3 * c,
                             .size = 3,
                             .cone = SS_CONE_POLYHEDRAL,
                             .directions = 4,
                             .mu = 0.5});
  for (int b = 0; b < BOXES; b++)
    for (int i = 0; i < ROWS; i++) {
      const int row = b * ROWS + i;
      for (int j = 0; j < ROWS; j++) {
        const double side = i / 3 % 2 == j / 3 % 2 ? 1 : -1; /* it tips over */
        p.G[row * p.cp.n + b * ROWS + j] = i % 3 == j % 3 ? (i % 3 == 0 ? 1 + side : 1) : 0;
      }
      p.g[row] = i % 3 == 0 ? -1 : 0;
    }
  ss_cp_result r = solve_with(&p, "auto", false, workspace);
  assert_true(r.outcome == SS_SOLVED && r.iterations <= 1 && r.fallbacks == 0 && r.residual <= 1e-16);
  for (int i = 0; i < ROWS; i += 3) p.g[i + 1] = 2;
  r = solve_with(&p, "auto", false, workspace);
  assert_true(r.outcome == SS_SOLVED && r.iterations > 0);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_boxes),
      cmocka_unit_test(factors),
      cmocka_unit_test(indefinite_matrices_are_refused),
      cmocka_unit_test(projections),
      cmocka_unit_test(derivatives),
      cmocka_unit_test(separating),
      cmocka_unit_test(boxes_on_many_points),
  };
  return CP_SUITE("cp_redundant", tests);
}
