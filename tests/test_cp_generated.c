/* Friction sets given by their corners, held against the sets that have names: the same polygon or cube, listed corner by corner. */
#include "cp_suite.h"

enum { MOST_CORNERS = 64 };

/* The corners of a block's own set, for a polygon or a cube. */
static int corners_of(const ss_block *block, double *out) {
  const int n = block->size - 1;
  if (n == 2 && block->cone == SS_CONE_POLYHEDRAL) {
    for (int i = 0; i < block->directions; i++) {
      out[2 * i] = cos(8 * atan(1) * i / block->directions);
      out[2 * i + 1] = sin(8 * atan(1) * i / block->directions);
    }
    return block->directions;
  }
  for (int i = 0; i < 1 << n; i++)
    for (int k = 0; k < n; k++) out[i * n + k] = i >> k & 1 ? 1 : -1;
  return 1 << n;
}

/* The same problem with corners; `lists` has room for those of all blocks. */
static ss_cp with_corners(const owned_cp *p, ss_block *blocks, double (*lists)[MOST_CORNERS * 5]) {
  ss_cp out = p->cp;
  for (int b = 0; b < out.n_blocks; b++) {
    blocks[b] = p->blocks[b];
    if (blocks[b].kind != SS_BLOCK_FRICTION) continue;
    blocks[b].directions = corners_of(&p->blocks[b], lists[b]);
    blocks[b].generators = lists[b];
    blocks[b].cone = SS_CONE_GENERATED;
  }
  out.blocks = blocks;
  return out;
}

static const mechanics_spec specs[] = {
    {.dofs = 9, .contacts = 1, .cone = SS_CONE_POLYHEDRAL, .directions = 8, .size = 3},
    {.dofs = 9, .contacts = 2, .cone = SS_CONE_POLYHEDRAL, .directions = 6, .size = 3},
    {.dofs = 20, .joints = 2, .contacts = 4, .cone = SS_CONE_POLYHEDRAL, .directions = 8, .size = 3},
    {.dofs = 20, .limits = 2, .contacts = 3, .cone = SS_CONE_PYRAMID, .size = 2},
    {.dofs = 12, .contacts = 2, .cone = SS_CONE_PYRAMID, .size = 4},
    {.dofs = 12, .contacts = 1, .cone = SS_CONE_PYRAMID, .size = 6},
};
enum { SPECS = sizeof specs / sizeof *specs, TRIALS = 20 };

/* At any z both problems have the same residual, the same defects, and the same gauge. */
static void the_judge_agrees(void **state) {
  (void)state;
  random_source r = {11};
  for (int s = 0; s < SPECS; s++)
    for (int trial = 0; trial < TRIALS; trial++) {
      owned_cp p = random_mechanics(&r, specs[s]);
      ss_block blocks[64];
      double lists[64][MOST_CORNERS * 5], w[64], defect[4];
      const ss_cp q = with_corners(&p, blocks, lists);
      assert_int_equal(ss_cp_validate(&q, NULL), SS_OK);
      for (int i = 0; i < q.n; i++) p.z[i] = random_between(&r, -1, 2) * (trial % 3 == 0 ? 0.1 : 1);
      assert_true(fabs(ss_cp_judge(&q, p.z, w) - ss_cp_judge(&p.cp, p.z, NULL)) < 1e-13);
      ss_cp_friction_defects(&p.cp, p.z, w, &defect[0], &defect[1]);
      ss_cp_friction_defects(&q, p.z, w, &defect[2], &defect[3]);
      assert_true(fabs(defect[0] - defect[2]) < 1e-13 && fabs(defect[1] - defect[3]) < 1e-12);
      for (int b = 0; b < q.n_blocks; b++) {
        const double *zt = p.z + blocks[b].first + 1;
        if (blocks[b].kind != SS_BLOCK_FRICTION) continue;
        const double a = ss_cp_friction_gauge(&p.blocks[b], zt), c = ss_cp_friction_gauge(&blocks[b], zt);
        assert_true(fabs(a - c) < 1e-12 * (1 + a));
      }
      owned_free(&p);
    }
}

/* ... and the same solution, which has the same w where z is not unique. */
static void solutions_agree(void **state) {
  (void)state;
  random_source r = {12};
  for (int s = 0; s < SPECS; s++)
    for (int trial = 0; trial < TRIALS; trial++) {
      owned_cp p = random_mechanics(&r, specs[s]);
      ss_block blocks[64];
      double lists[64][MOST_CORNERS * 5], z[64], w[2][64];
      if (trial % 4 == 3)
        for (int b = 0; b < p.cp.n_blocks; b++)
          if (p.blocks[b].kind == SS_BLOCK_FRICTION) p.blocks[b].extra = random_unit(&r);
      const ss_cp q = with_corners(&p, blocks, lists);
      assert_int_equal(fails(&p, "auto", false, "named", trial), 0);
      ss_cp_result result;
      const ss_cp_options options = ss_cp_options_default();
      assert_int_equal(ss_cp_solve(&q, &options, false, z, workspace, &result, NULL), SS_OK);
      assert_int_equal(result.outcome, SS_SOLVED);
      assert_true(ss_cp_judge(&q, z, w[0]) <= 1e-11);
      (void)ss_cp_judge(&p.cp, p.z, w[1]);
      for (int i = 0; i < q.n; i++) assert_true(fabs(w[0][i] - w[1][i]) < 1e-7);
      owned_free(&p);
    }
}

/* A body on more points than it needs: the load is shared as by the named set, and lemke alone finds a solution as well. */
static void the_load_is_shared(void **state) {
  (void)state;
  random_source r = {13};
  for (int points = 4; points <= 8; points += 2) {
    owned_cp p = box_on_plane(&r, points, SS_CONE_POLYHEDRAL, 8, 0.5);
    ss_block blocks[64];
    double lists[64][MOST_CORNERS * 5], z[64];
    const ss_cp q = with_corners(&p, blocks, lists);
    assert_int_equal(fails(&p, "auto", false, "named", points), 0);
    ss_cp_result result;
    ss_cp_options options = ss_cp_options_default();
    assert_int_equal(ss_cp_solve(&q, &options, false, z, workspace, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    assert_true(result.selected);
    for (int i = 0; i < q.n; i++) assert_true(fabs(z[i] - p.z[i]) < 1e-8);
    options.solver = "lemke";
    assert_int_equal(ss_cp_solve(&q, &options, false, z, workspace, &result, NULL), SS_OK);
    assert_int_equal(result.outcome, SS_SOLVED);
    owned_free(&p);
  }
}

/* By hand: unit matrix, so that z = (-g_n, P(-g_t)); a set that is no hull of opposite pairs: force only against slip along -x. */
static void one_sided(void **state) {
  (void)state;
  static const double corners[] = {1, 0, 0, 1, 0, -1};
  for (int side = -1; side <= 1; side += 2) {
    owned_cp p = owned_create(3, 1);
    for (int i = 0; i < 3; i++) p.G[4 * i] = 1;
    p.g[0] = -2;
    p.g[1] = -side * 3.;
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION,
                             .size = 3,
                             .cone = SS_CONE_GENERATED,
                             .directions = 3,
                             .mu = 0.5,
                             .generators = corners});
    assert_int_equal(fails(&p, "auto", false, "one-sided", side), 0);
    const double expected[] = {2, side > 0 ? 1 : 0, 0};
    for (int i = 0; i < 3; i++) assert_true(fabs(p.z[i] - expected[i]) < 1e-12);
    owned_free(&p);
  }
}

/* Written to a file and read again: the same numbers. Bad ones are refused. */
static void files_and_checks(void **state) {
  (void)state;
  static const double corners[] = {1, 0.25, -1, -0.25, 0, 1. / 3, 0, -1. / 3};
  owned_cp p = owned_create(3, 1);
  for (int i = 0; i < 3; i++) p.G[4 * i] = 1;
  p.g[0] = -1;
  p.g[2] = 0.1;
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION,
                           .size = 3,
                           .cone = SS_CONE_GENERATED,
                           .directions = 4,
                           .mu = 0.5,
                           .generators = corners});
  ss_cp_file file = {0};
  assert_int_equal(ss_cp_write(&p.cp, "generated.cp", NULL), SS_OK);
  assert_int_equal(ss_cp_read("generated.cp", &file, NULL), SS_OK);
  assert_int_equal(file.problem.blocks[0].cone, SS_CONE_GENERATED);
  assert_memory_equal(file.problem.blocks[0].generators, corners, sizeof corners);
  ss_cp_file_release(&file);
  assert_int_equal(remove("generated.cp"), 0);
  int count;
  assert_int_equal(ss_cp_all_solutions(&p.cp, 1e-9, workspace, NULL, NULL, &count, NULL), SS_ERROR_UNSUPPORTED);
  p.blocks[0].generators = NULL;
  assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_ERROR_INPUT);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_judge_agrees), cmocka_unit_test(solutions_agree),  cmocka_unit_test(the_load_is_shared),
      cmocka_unit_test(one_sided),        cmocka_unit_test(files_and_checks),
  };
  return CP_SUITE("cp_generated", tests);
}
