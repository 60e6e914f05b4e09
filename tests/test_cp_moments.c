/* Friction blocks with more than two tangential rows: torsion and rolling resistance, as a cube or as a ball. */
#include "cp_suite.h"

static void one_contact(void **state) {
  (void)state;
  for (int size = 4; size <= SS_FRICTION_ROWS; size++)
    for (int cone = SS_CONE_PYRAMID; cone <= SS_CONE_QUADRATIC; cone++) {
      solve_random((mechanics_spec){.dofs = 9, .contacts = 1, .cone = (ss_cone)cone, .size = size}, 0, "one contact",
                   1);
      solve_random((mechanics_spec){.dofs = 9, .contacts = 1, .cone = (ss_cone)cone, .size = size}, 1,
                   "one contact with extra", 2);
    }
}

static void several_contacts(void **state) {
  (void)state;
  for (int size = 4; size <= SS_FRICTION_ROWS; size++)
    for (int cone = SS_CONE_PYRAMID; cone <= SS_CONE_QUADRATIC; cone++)
      solve_random((mechanics_spec){.dofs = 30, .joints = 3, .contacts = 4, .cone = (ss_cone)cone, .size = size}, 0,
                   "several", 3);
}

/* A cylinder between the floor and a ball that falls on it, with torsion of no strength: an impact in which the friction of the
 * two contacts nearly repeats itself. Sweeps and Newton's method creep along a valley; the ladder must not end there. */
static void nearly_repeated_contacts(void **state) {
  (void)state;
  const double G[64] = {0.136835,    -0.0603097,   0.000587001, 0,           -0.0540578,  -0.0603809,   0.00281272,
                        0,           -0.0603097,   0.079454,    0.00136252,  4.37025e-05, 0.0602562,    0.0794483,
                        -0.00342194, 4.37025e-05,  0.000587001, 0.00136252,  0.219429,    0.00449009,   -0.00058648,
                        0.000559212, 0.028638,     0.00449009,  0,           4.37025e-05, 0.00449009,   0.000210936,
                        0,           -0.000208543, -0.00447682, 0.000210936, -0.0540578,  0.0602562,    -0.00058648,
                        0,           0.136665,     0.0603273,   -0.00281022, 0,           -0.0603809,   0.0794483,
                        0.000559212, -0.000208543, 0.0603273,   0.0799128,   0.00649969,  -0.000208543, 0.00281272,
                        -0.00342194, 0.028638,     -0.00447682, -0.00281022, 0.00649969,  0.21914,      -0.00447682,
                        0,           4.37025e-05,  0.00449009,  0.000210936, 0,           -0.000208543, -0.00447682,
                        0.000210936};
  const double g[8] = {0.0233635, 0.124517, 0, -0.000106549, -2.47687, 0.122891, 0, -0.000106549};
  owned_cp p = owned_create(8, 2);
  memcpy(p.G, G, sizeof G);
  memcpy(p.g, g, sizeof g);
  for (int b = 0; b < 2; b++)
    add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 4, .cone = SS_CONE_QUADRATIC, .mu = 1});
  assert_int_equal(fails(&p, "auto", false, "nearly repeated contacts", 0), 0);
  owned_free(&p);
}

/* A ball by hand: unit matrix, so that z = (-g_n, P(-g_t)). */
static void ball_by_hand(void **state) {
  (void)state;
  owned_cp p = owned_create(4, 1);
  const double g[4] = {-1, 2, -3, 6};
  for (int i = 0; i < 4; i++) p.G[5 * i] = 1, p.g[i] = g[i];
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 4, .cone = SS_CONE_QUADRATIC, .mu = 0.7});
  const ss_cp_result r = solve_with(&p, "auto", false, workspace);
  assert_int_equal(r.outcome, SS_SOLVED);
  const double expected[4] = {1, -0.2, 0.3, -0.6};
  for (int i = 0; i < 4; i++) assert_true(fabs(p.z[i] - expected[i]) < 1e-12);
  double w[4], cone, dissipation;
  (void)ss_cp_judge(&p.cp, p.z, w);
  ss_cp_friction_defects(&p.cp, p.z, w, &cone, &dissipation);
  assert_true(cone < 1e-12 && fabs(dissipation) < 1e-11);
  const double wrong[4] = {1, -0.7, 0, 0};
  assert_true(ss_cp_judge(&p.cp, wrong, w) > 0.01);
  ss_cp_friction_defects(&p.cp, wrong, w, &cone, &dissipation);
  assert_true(cone < 1e-12 && dissipation > 1);
  p.blocks[0].cone = SS_CONE_POLYHEDRAL; /* a polygon has two rows */
  p.blocks[0].directions = 8;
  assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_ERROR_INPUT);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_contact),
      cmocka_unit_test(several_contacts),
      cmocka_unit_test(nearly_repeated_contacts),
      cmocka_unit_test(ball_by_hand),
  };
  return CP_SUITE("cp_moments", tests);
}
