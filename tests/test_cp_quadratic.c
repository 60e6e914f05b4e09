/* The quadratic cone: sticking, sliding, redundant contacts, joints, mixed masses, and impulses carried over. */
#include "cp_suite.h"

static void random_problems(mechanics_spec s, double extra, const char *what, uint64_t seed) {
  s.cone = SS_CONE_QUADRATIC;
  s.size = 3;
  solve_random(s, extra, what, seed);
}

static void one_contact(void **state) {
  (void)state;
  random_problems((mechanics_spec){.dofs = 6, .contacts = 1}, 0, "one contact", 1);
  random_problems((mechanics_spec){.dofs = 6, .contacts = 1}, 1, "one contact with extra", 2);
}

static void several(void **state) {
  (void)state;
  random_problems((mechanics_spec){.dofs = 12, .joints = 3, .contacts = 3}, 0, "three contacts", 3);
  random_problems((mechanics_spec){.dofs = 12, .joints = 3, .redundant_joints = 2, .limits = 2, .contacts = 4}, 0.5,
                  "joints, limits, extra", 4);
  random_problems((mechanics_spec){.dofs = 30, .contacts = 12}, 0, "twelve contacts", 5);
}

static void hyperstatic(void **state) {
  (void)state;
  random_problems((mechanics_spec){.dofs = 6, .contacts = 6}, 0, "hyperstatic", 6);
}

static void mixed_masses(void **state) {
  (void)state;
  random_problems((mechanics_spec){.dofs = 9, .joints = 2, .contacts = 2, .mass_spread = 3}, 0, "mixed masses", 7);
}

static void boxes(void **state) {
  (void)state;
  random_source random = {8};
  int unsolved = 0;
  for (int trial = 0; trial < 100; trial++) {
    owned_cp p = box_on_plane(&random, 4 + trial % 13, SS_CONE_QUADRATIC, 0, 0.4 * (trial % 5));
    unsolved += fails(&p, "auto", false, "box", trial);
    owned_free(&p);
  }
  assert_int_equal(unsolved, 0);
}

/* A polygon with many corners is close to the disc: the impulses agree to the order of the polygon's defect. */
static void limit_of_polygons(void **state) {
  (void)state;
  random_source random = {10};
  for (int trial = 0; trial < 50; trial++) {
    owned_cp p = random_mechanics(&random, (mechanics_spec){.dofs = 6, .contacts = 1, .size = 3, .directions = 64});
    double polygon[3];
    p.blocks[0].mu *= 0.15; /* small enough for a unique solution */
    assert_int_equal(solve_with(&p, "lemke", false, workspace).outcome, SS_SOLVED);
    memcpy(polygon, p.z, sizeof polygon);
    p.blocks[0].cone = SS_CONE_QUADRATIC;
    assert_int_equal(solve_with(&p, "auto", false, workspace).outcome, SS_SOLVED);
    const double defect = 0.05 * (1 + fabs(polygon[0]) * (1 + p.blocks[0].mu));
    for (int i = 0; i < 3; i++) assert_true(fabs(polygon[i] - p.z[i]) <= defect);
    owned_free(&p);
  }
}

/* Every solver that admits the cone, on problems that all of them should solve. */
static void sweeps_alone(void **state) {
  (void)state;
  random_source random = {12};
  for (int trial = 0; trial < 50; trial++) {
    mechanics_spec s = {.dofs = 12, .joints = 2, .contacts = 2, .size = 3, .directions = 8};
    s.cone = (ss_cone)(trial % 3);
    owned_cp p = random_mechanics(&random, s);
    for (int i = 0; i < p.cp.n; i++) p.G[i * (p.cp.n + 1)] += 1; /* well conditioned: linear convergence is fast */
    assert_int_equal(solve_with(&p, "nsgs", false, workspace).outcome, SS_SOLVED);
    assert_int_equal(solve_with(&p, "nsgs-newton", false, workspace).outcome, SS_SOLVED);
    const ss_outcome expected = s.cone == SS_CONE_QUADRATIC ? SS_NOT_ADMITTED : SS_SOLVED;
    for (int b = 0; b < p.cp.n_blocks; b++)
      if (p.blocks[b].kind == SS_BLOCK_FRICTION) p.blocks[b].mu += 0.1;
    assert_int_equal(solve_with(&p, "lemke", false, workspace).outcome, expected);
    owned_free(&p);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_contact),  cmocka_unit_test(several),           cmocka_unit_test(hyperstatic),
      cmocka_unit_test(boxes),        cmocka_unit_test(limit_of_polygons), cmocka_unit_test(mixed_masses),
      cmocka_unit_test(sweeps_alone),
  };
  return CP_SUITE("cp_quadratic", tests);
}
