/* Friction problems from random mechanics: every cone, with joints, redundant joints, limits and redundant contacts. */
#include "cp_suite.h"

#include "cp/workspace.h"

static void planar(void **state) {
  (void)state;
  solve_random((mechanics_spec){.dofs = 6, .contacts = 2, .size = 2}, 0, "planar", 1);
  solve_random((mechanics_spec){.dofs = 6, .joints = 2, .contacts = 3, .size = 2}, 0, "planar jointed", 2);
  solve_random((mechanics_spec){.dofs = 9, .joints = 4, .redundant_joints = 2, .limits = 3, .contacts = 4, .size = 2},
               0, "planar redundant", 3);
  solve_random((mechanics_spec){.dofs = 3, .contacts = 8, .size = 2}, 0, "planar hyperstatic", 4);
}

static void spatial(void **state) {
  (void)state;
  for (int k = 4; k <= 16; k *= 2) {
    mechanics_spec s = {.dofs = 12, .joints = 3, .contacts = 3, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = k};
    solve_random(s, 0, "polyhedral", (uint64_t)k);
    s.contacts = 8;
    s.redundant_joints = 3;
    solve_random(s, 0, "polyhedral redundant", (uint64_t)(100 + k));
  }
  solve_random((mechanics_spec){.dofs = 12, .joints = 3, .contacts = 5, .size = 3, .cone = SS_CONE_PYRAMID}, 0,
               "pyramid", 7);
}

static void mixed_masses(void **state) {
  (void)state;
  mechanics_spec s = {.dofs = 9, .joints = 2, .limits = 1, .contacts = 3, .size = 2, .mass_spread = 3};
  solve_random(s, 0, "masses 1e-3 .. 1e3, planar", 21);
  s.size = 3;
  s.directions = 8;
  solve_random(s, 0, "masses 1e-3 .. 1e3, polyhedral", 22);
}

static void boxes_on_planes(void **state) {
  (void)state;
  random_source random = {9};
  int unsolved = 0;
  const double mus[] = {0, 0.1, 0.5, 1, 2};
  for (int points = 4; points <= 16; points += 4)
    for (int m = 0; m < 5; m++)
      for (int k = 4; k <= 16; k *= 2) {
        owned_cp p = box_on_plane(&random, points, SS_CONE_POLYHEDRAL, k, mus[m]);
        unsolved += fails(&p, "auto", false, "box polyhedral", points);
        for (int b = 0; b < p.cp.n_blocks; b++) p.blocks[b].cone = SS_CONE_PYRAMID;
        unsolved += fails(&p, "auto", false, "box pyramid", points);
        owned_free(&p);
      }
  assert_int_equal(unsolved, 0);
}

/* The set of friction impulses need not vanish with the normal impulse: `extra` comes from the compression phase. */
static void extra_impulse(void **state) {
  (void)state;
  random_source random = {13};
  int unsolved = 0;
  for (int trial = 0; trial < 200; trial++) {
    mechanics_spec s = {.dofs = 9, .joints = 2, .contacts = 3, .size = 2 + trial % 2, .directions = 8};
    s.cone = trial % 4 < 2 ? SS_CONE_POLYHEDRAL : SS_CONE_PYRAMID;
    owned_cp p = random_mechanics(&random, s);
    for (int b = 1; b < p.cp.n_blocks; b++) p.blocks[b].extra = trial % 3 ? random_unit(&random) : 0;
    unsolved += fails(&p, "auto", false, "extra", trial);
    unsolved += fails(&p, "auto", true, "extra warm", trial);
    owned_free(&p);
  }
  assert_int_equal(unsolved, 0);
  /* an open contact brakes with the impulse of the compression */
  owned_cp p = owned_create(2, 1);
  p.G[0] = p.G[3] = 1;
  p.g[0] = 1;
  p.g[1] = 3;
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.5, .extra = 2});
  for (const char *const *solver = (const char *const[]){"lemke", "active-set", "enumeration", NULL}; *solver;
       solver++) {
    p.z[0] = p.z[1] = 0;
    assert_int_equal(solve_with(&p, *solver, false, workspace).outcome, SS_SOLVED);
    assert_true(p.z[0] == 0 && fabs(p.z[1] + 1) < 1e-15);
  }
  owned_free(&p);
}

typedef struct found_list {
  int count;
  double z[8][2];
} found_list;

static void remember(void *user, const double *z) {
  found_list *list = user;
  assert_true(list->count < 8);
  memcpy(list->z[list->count++], z, 2 * sizeof *z);
}

/* A Painleve problem: a - mu b < 0, the contact may open, slide or stick. */
static void painleve(void **state) {
  (void)state;
  owned_cp p = owned_create(2, 1);
  const double G[4] = {1, 2, 2, 5}, g[2] = {0.3, 1.5};
  memcpy(p.G, G, sizeof G);
  memcpy(p.g, g, sizeof g);
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.8});
  found_list list = {0};
  int count = 0;
  assert_int_equal(ss_cp_all_solutions(&p.cp, 1e-12, workspace, remember, &list, &count, NULL), SS_OK);
  assert_int_equal(count, 3);
  assert_int_equal(list.count, 3);
  const double expected[3][2] = {{0, 0}, {0.5, -0.4}, {1.5, -0.9}};
  for (int e = 0; e < 3; e++) {
    int matches = 0;
    for (int i = 0; i < 3; i++)
      matches += fabs(list.z[i][0] - expected[e][0]) < 1e-12 && fabs(list.z[i][1] - expected[e][1]) < 1e-12;
    assert_int_equal(matches, 1);
  }
  p.g[0] = -0.3; /* the opposite sign: one solution, which is the sticking one (impact without collision) */
  p.g[1] = 0.1;
  count = list.count = 0;
  assert_int_equal(ss_cp_all_solutions(&p.cp, 1e-12, workspace, remember, &list, &count, NULL), SS_OK);
  assert_int_equal(count, 1);
  assert_int_equal(solve_with(&p, "auto", false, workspace).outcome, SS_SOLVED);
  owned_free(&p);
}

static void enumeration_has_a_limit(void **state) {
  (void)state;
  random_source random = {1};
  owned_cp p = box_on_plane(&random, 16, SS_CONE_POLYHEDRAL, 8, 1);
  int count;
  ss_error error;
  assert_int_equal(ss_cp_all_solutions(&p.cp, 1e-12, workspace, remember, NULL, &count, &error), SS_ERROR_UNSUPPORTED);
  assert_int_equal(solve_with(&p, "enumeration", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&p);
}

/* A closed chain of 100 joints, one of them redundant, and one contact. */
static void long_chain(void **state) {
  (void)state;
  enum { JOINTS = 100, DOFS = 101, N = JOINTS + 3 };
  static double J[N * DOFS], W[DOFS], v[DOFS];
  random_source random = {17};
  for (int k = 0; k < DOFS; k++) {
    W[k] = random_between(&random, 0.5, 2);
    v[k] = random_between(&random, -1, 1);
  }
  for (int i = 0; i < JOINTS; i++) {
    J[i * DOFS + i] = 1;
    J[i * DOFS + i + 1] = -1;
  }
  J[JOINTS * DOFS] = 1; /* closes the loop: the sum of the others */
  J[JOINTS * DOFS + DOFS - 1] = -1;
  J[(JOINTS + 1) * DOFS + 50] = 1;
  J[(JOINTS + 2) * DOFS + 20] = 1;
  for (int sign = -1; sign <= 1; sign += 2) {
    owned_cp p = owned_create(N, 2);
    set_mechanics(&p, J, W, v, DOFS);
    p.g[JOINTS + 1] += sign * 3;
    add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = JOINTS + 1});
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 2, .mu = 0.3});
    const ss_cp_result r = solve_with(&p, "auto", false, workspace);
    assert_int_equal(r.outcome, SS_SOLVED);
    assert_true(r.residual < 1e-12);
    assert_true((p.z[JOINTS + 1] > 0) == (sign < 0));
    assert_int_equal(solve_with(&p, "auto", true, workspace).outcome, SS_SOLVED);
    owned_free(&p);
  }
}

static void repeated_solves_allocate_nothing(void **state) {
  (void)state;
  ss_cp_workspace *own = new_workspace();
  random_source random = {2};
  owned_cp big = box_on_plane(&random, 16, SS_CONE_POLYHEDRAL, 16, 0.7);
  owned_cp small = random_mechanics(&random, (mechanics_spec){.dofs = 6, .joints = 2, .contacts = 2, .size = 2});
  const char *const names[] = {"auto", "active-set", "lemke", "proximal-newton"};
  long growths = 0;
  for (int round = 0; round < 3; round++) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      (void)solve_with(&big, names[i], round % 2, own);
      (void)solve_with(&small, names[i], round % 2, own);
    }
    if (round == 1) growths = own->growths;
  }
  assert_true(growths > 0);
  assert_int_equal(own->growths, growths);
  owned_free(&big);
  owned_free(&small);
  ss_cp_workspace_destroy(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(planar),
      cmocka_unit_test(spatial),
      cmocka_unit_test(mixed_masses),
      cmocka_unit_test(boxes_on_planes),
      cmocka_unit_test(extra_impulse),
      cmocka_unit_test(painleve),
      cmocka_unit_test(long_chain),
      cmocka_unit_test(enumeration_has_a_limit),
      cmocka_unit_test(repeated_solves_allocate_nothing),
  };
  return CP_SUITE("cp_friction", tests);
}
