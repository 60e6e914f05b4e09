/* The judge against hand-made solutions and non-solutions, and the checks of a problem. */
#include "cp_problems.h"

static owned_cp one_contact(ss_cone cone, int directions, double mu, double gn, double g1, double g2) {
  owned_cp p = owned_create(3, 1);
  for (int i = 0; i < 3; i++) p.G[4 * i] = 1;
  p.g[0] = gn;
  p.g[1] = g1;
  p.g[2] = g2;
  add_block(&p, (ss_block){.kind = SS_BLOCK_FRICTION, .size = 3, .cone = cone, .directions = directions, .mu = mu});
  return p;
}

static double judged(owned_cp *p, double a, double b, double c) {
  const double z[3] = {a, b, c};
  const double r = ss_cp_judge(&p->cp, z, NULL);
  double w[3];
  assert_true(r == ss_cp_judge(&p->cp, z, w));
  owned_free(p);
  return r;
}

static void accepts_solutions(void **state) {
  (void)state;
  owned_cp p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 0.1, 0.2);
  assert_true(judged(&p, 1, -0.1, -0.2) < 1e-15); /* sticks */
  p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 3, 4);
  assert_true(judged(&p, 1, -0.3, -0.4) < 1e-15); /* slides */
  p = one_contact(SS_CONE_PYRAMID, 0, 0.5, -1, 3, 0.25);
  assert_true(judged(&p, 1, -0.5, -0.25) < 1e-15); /* slides along one axis only */
  p = one_contact(SS_CONE_POLYHEDRAL, 4, 0.5, -1, 3, 1);
  assert_true(judged(&p, 1, -0.5, 0) < 1e-15); /* corner */
  p = one_contact(SS_CONE_POLYHEDRAL, 4, 0.5, -1, 1, 1);
  assert_true(judged(&p, 1, -0.25, -0.25) < 1e-15); /* edge */
  p = one_contact(SS_CONE_POLYHEDRAL, 8, 0.5, 1, 1, 1);
  assert_true(judged(&p, 0, 0, 0) == 0); /* open */
}

/* The point of the k-gon with corners at radius one that is nearest to p, from all of its edges. */
static void nearest_of_polygon(int k, const double *p, double *q) {
  const double turn = 8 * atan(1.0) / k;
  double best = HUGE_VAL;
  bool inside = true;
  for (int i = 0; i < k; i++) {
    const double a[2] = {cos(turn * i), sin(turn * i)}, b[2] = {cos(turn * (i + 1)), sin(turn * (i + 1))};
    const double d[2] = {b[0] - a[0], b[1] - a[1]}, at = (p[0] - a[0]) * d[0] + (p[1] - a[1]) * d[1];
    const double t = fmin(fmax(at / (d[0] * d[0] + d[1] * d[1]), 0), 1), x = a[0] + t * d[0], y = a[1] + t * d[1];
    inside = inside && d[0] * (p[1] - a[1]) - d[1] * (p[0] - a[0]) >= 0;
    if (hypot(p[0] - x, p[1] - y) >= best) continue;
    best = hypot(p[0] - x, p[1] - y);
    q[0] = x;
    q[1] = y;
  }
  for (int i = 0; i < 2 && inside; i++) q[i] = p[i];
}

static void projects_on_polygons(void **state) {
  (void)state;
  static const int sizes[] = {4, 6, 8, 12};
  for (int s = 0; s < 4; s++)
    for (int i = 0; i < 40; i++)
      for (int j = 0; j < 40; j++) {
        const double x[2] = {0.1 * (i - 20) + 0.003, 0.1 * (j - 20)}, zt[2] = {0.3, -0.2};
        double q[2] = {0};
        nearest_of_polygon(sizes[s], x, q);
        owned_cp cp = one_contact(SS_CONE_POLYHEDRAL, sizes[s], 1, -1, -x[0], -x[1]); /* z_t - w_t = x */
        const double off = hypot(zt[0] - q[0], zt[1] - q[1]), largest = fmax(1, fmax(fabs(x[0]), fabs(x[1])));
        assert_true(fabs(judged(&cp, 1, zt[0], zt[1]) - off / (1 + largest)) <= 1e-14);
      }
}

static void rejects_others(void **state) {
  (void)state;
  owned_cp p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 3, 4);
  assert_true(judged(&p, 1, -0.5, 0) > 0.01); /* on the cone, wrong direction */
  p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 3, 4);
  assert_true(judged(&p, 1, 0.3, 0.4) > 0.01); /* drives instead of brakes */
  p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 0, 0);
  assert_true(judged(&p, 0.5, 0, 0) > 0.1); /* penetrates */
  p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, 1, 0, 0);
  assert_true(judged(&p, 0.5, 0, 0) > 0.1); /* pushes at a distance */
  p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 0, 0);
  assert_true(judged(&p, (double)NAN, 0, 0) == HUGE_VAL);
  p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, (double)NAN, 0, 0);
  assert_true(judged(&p, 0, 0, 0) == HUGE_VAL);
}

static void rows_and_boxes(void **state) {
  (void)state;
  owned_cp p = owned_create(4, 3);
  for (int i = 0; i < 4; i++) p.G[5 * i] = 2;
  add_block(&p, (ss_block){.kind = SS_BLOCK_FREE, .size = 1});
  add_block(&p, (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = 2});
  add_block(&p, (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -1, .upper = 1});
  const double g[4] = {2, -2, 2, 8}, z[4] = {-1, 1, 0, -1};
  memcpy(p.g, g, sizeof g);
  assert_int_equal(ss_cp_validate(&p.cp, NULL), SS_OK);
  assert_true(ss_cp_judge(&p.cp, z, NULL) == 0);
  for (int i = 0; i < 4; i++) { /* any change of any number is seen */
    double other[4];
    memcpy(other, z, sizeof z);
    other[i] += 0.09;
    assert_true(ss_cp_judge(&p.cp, other, NULL) > 0.009);
  }
  owned_free(&p);
}

static void defects(void **state) {
  (void)state;
  owned_cp p = one_contact(SS_CONE_QUADRATIC, 0, 0.5, -1, 3, 4);
  double cone, dissipation;
  ss_cp_friction_defects(&p.cp, (double[]){1, -0.3, -0.4}, (double[]){0, 3, 4}, &cone, &dissipation);
  assert_true(cone < 1e-15 && dissipation < 1e-15);
  ss_cp_friction_defects(&p.cp, (double[]){1, 0, 0}, (double[]){0, 3, 4}, &cone, &dissipation);
  assert_true(cone == 0 && fabs(dissipation - 2.5) < 1e-15);
  ss_cp_friction_defects(&p.cp, (double[]){1, -0.6, -0.8}, (double[]){0, 3, 4}, &cone, &dissipation);
  assert_true(fabs(cone - 0.5) < 1e-15);
  owned_free(&p);
  p = one_contact(SS_CONE_POLYHEDRAL, 4, 1, -1, 3, 4);
  ss_cp_friction_defects(&p.cp, (double[]){1, 0, 0}, (double[]){0, 1, 2}, &cone, &dissipation);
  assert_true(fabs(dissipation - 2) < 1e-15);
  ss_cp_friction_defects(&p.cp, (double[]){1, 1, 1}, (double[]){0, 0, 0}, &cone, &dissipation);
  assert_true(fabs(cone - sqrt(0.5)) < 1e-15);
  owned_free(&p);
}

static void validation(void **state) {
  (void)state;
  owned_cp p = one_contact(SS_CONE_POLYHEDRAL, 8, 0.5, -1, 0, 0);
  const ss_block good = p.blocks[0];
  ss_error error;
  assert_int_equal(ss_cp_validate(&p.cp, &error), SS_OK);
  const ss_block bad[] = {
      {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 7, .mu = 1},
      {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_POLYHEDRAL, .directions = 2, .mu = 1},
      {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_PYRAMID, .mu = -1},
      {.kind = SS_BLOCK_FRICTION, .size = 3, .cone = SS_CONE_PYRAMID, .mu = (double)NAN},
      {.kind = SS_BLOCK_FRICTION, .first = 1, .size = 2, .cone = SS_CONE_PYRAMID, .mu = 1},
      {.kind = SS_BLOCK_FREE, .size = 4},
      {.kind = SS_BLOCK_FREE, .size = 2},
      {.kind = SS_BLOCK_BOX, .size = 3, .lower = 0, .upper = 1},
      {.kind = (ss_block_kind)9, .size = 3},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    p.blocks[0] = bad[i];
    assert_int_equal(ss_cp_validate(&p.cp, &error), SS_ERROR_INPUT);
  }
  p.blocks[0] = good;
  p.G[5] = HUGE_VAL;
  assert_int_equal(ss_cp_validate(&p.cp, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "G[1, 2]"));
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accepts_solutions), cmocka_unit_test(projects_on_polygons),
      cmocka_unit_test(rejects_others),    cmocka_unit_test(rows_and_boxes),
      cmocka_unit_test(defects),           cmocka_unit_test(validation),
  };
  return cmocka_run_group_tests_name("cp_judge", tests, NULL, NULL);
}
