/* Which solution of a redundant problem is returned: the limit of vanishing compliance. */
#include "cp_problems.h"
#include "scene_runner.h"

enum { MOST_FEET = 9, MOST_ROWS = 3 * MOST_FEET };

typedef struct feet {
  int n;
  double x[MOST_FEET], y[MOST_FEET];
  double load, at_x, at_y; /* impulse that presses the plate down, and where */
} feet;

static feet random_feet(random_source *r, int n) {
  feet f = {.n = n, .load = random_between(r, 0.5, 2)};
  for (int i = 0; i < n; i++) {
    f.x[i] = random_between(r, -1, 1);
    f.y[i] = random_between(r, -1, 1);
  }
  for (int i = 0; i < 3; i++) { /* above the feet */
    f.at_x += f.x[i] / 3;
    f.at_y += f.y[i] / 3;
  }
  return f;
}

/* Solves a symmetric 3 x 3 system by Cramer's rule. */
static double determinant(const double a[3][3]) {
  return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
         a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
}

static void solve3(const double a[3][3], const double b[3], double x[3]) {
  for (int k = 0; k < 3; k++) {
    double m[3][3];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) m[i][j] = j == k ? b[i] : a[i][j];
    x[k] = determinant((const double(*)[3])m) / determinant(a);
  }
}

/* The engineer's formula: F_i = c + a x_i + b y_i in balance with the load; feet that would be pulled are left out. */
static void share_load(const feet *f, double *force) {
  bool out[MOST_FEET] = {false};
  for (bool again = true; again;) {
    double a[3][3] = {{0}}, s[3];
    const double b[3] = {f->load, f->load * f->at_x, f->load * f->at_y};
    for (int i = 0; i < f->n; i++) {
      const double row[3] = {1, f->x[i], f->y[i]};
      for (int k = 0; k < 3 && !out[i]; k++)
        for (int l = 0; l < 3; l++) a[k][l] += row[k] * row[l];
    }
    solve3((const double(*)[3])a, b, s);
    again = false;
    for (int i = 0; i < f->n; i++) {
      force[i] = out[i] ? 0 : s[0] + s[1] * f->x[i] + s[2] * f->y[i];
      if (force[i] >= 0) continue;
      out[i] = again = true;
    }
  }
}

/* A plate of mass 1 and inertia 0.1 on its feet, `rows` per foot, in this order. */
static owned_cp make_plate(const feet *f, int rows, ss_cone cone, const int *order) {
  const int n = f->n * rows;
  owned_cp p = owned_create(n, rows == 1 ? 1 : f->n);
  double J[MOST_ROWS][6] = {{0}};
  p.cp.n_blocks = rows == 1 ? 1 : f->n;
  if (rows == 1) p.blocks[0] = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n};
  for (int k = 0; k < f->n; k++) {
    const double x = f->x[order[k]], y = f->y[order[k]];
    double(*own)[6] = &J[k * rows];
    own[0][2] = 1, own[0][3] = y, own[0][4] = -x;
    if (rows == 1) continue;
    own[1][0] = 1, own[1][5] = -y;
    own[2][1] = 1, own[2][5] = x;
    p.blocks[k] = (ss_block){
        .kind = SS_BLOCK_FRICTION, .first = k * rows, .size = rows, .cone = cone, .directions = 8, .mu = 0.5};
  }
  const double mass[6] = {1, 1, 1, 0.1, 0.1, 0.1}, push[6] = {0, 0, -f->load, -f->load * f->at_y, f->load * f->at_x, 0};
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 6; c++) {
      p.g[i] += J[i][c] * push[c] / mass[c];
      for (int j = 0; j < n; j++) p.G[i * n + j] += J[i][c] * J[j][c] / mass[c];
    }
  return p;
}

static void compare(const feet *f, int rows, const int *order, const double *z, const double *force) {
  for (int k = 0; k < f->n; k++) {
    check_near(z[k * rows], force[order[k]], 5e-8 * f->load, "load of a foot");
    for (int i = 1; i < rows; i++) check_near(z[k * rows + i], 0, 5e-8 * f->load, "friction of a foot");
  }
}

static void feet_share_the_load(void **state) {
  (void)state;
  static const ss_cone cones[] = {SS_CONE_POLYHEDRAL, SS_CONE_PYRAMID, SS_CONE_QUADRATIC};
  ss_cp_workspace *w = new_workspace();
  random_source r = {3};
  for (int trial = 0; trial < 60; trial++) {
    const feet f = random_feet(&r, 3 + random_below(&r, MOST_FEET - 2));
    double force[MOST_FEET];
    int order[MOST_FEET];
    share_load(&f, force);
    for (int i = 0; i < f.n; i++) order[i] = i;
    for (int variant = 0; variant < 4; variant++) { /* as it is, and in other orders */
      const int rows = variant % 2 ? 3 : 1;
      owned_cp p = make_plate(&f, rows, cones[trial % 3], order);
      assert_int_equal(solve_with(&p, "auto", false, w).outcome, SS_SOLVED);
      compare(&f, rows, order, p.z, force);
      for (int i = 0; i < p.cp.n; i++) p.z[i] = random_between(&r, -1, 1); /* warm, from anything */
      assert_int_equal(solve_with(&p, "auto", true, w).outcome, SS_SOLVED);
      compare(&f, rows, order, p.z, force);
      owned_free(&p);
      for (int i = f.n - 1; i > 0; i--) {
        const int j = random_below(&r, i + 1), keep = order[i];
        order[i] = order[j];
        order[j] = keep;
      }
    }
  }
  ss_cp_workspace_destroy(w);
}

/* Feet of unequal compliance: sum C F^2 is least. Two feet under the load share it as 1 / C. */
static void soft_feet_carry_less(void **state) {
  (void)state;
  const double G[] = {1, 1, 1, 1}, g[] = {-1, -1}, compliance[] = {1, 3};
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = 2};
  const ss_cp cp = {.n = 2, .n_blocks = 1, .G = G, .g = g, .blocks = &block, .compliance = compliance};
  const ss_cp_options options = ss_cp_options_default();
  ss_cp_workspace *w = new_workspace();
  ss_cp_result result;
  double z[2];
  assert_int_equal(ss_cp_solve(&cp, &options, false, z, w, &result, NULL), SS_OK);
  assert_true(result.selected);
  check_near(z[0], 0.75, 1e-9, "the stiff one");
  check_near(z[1], 0.25, 1e-9, "the soft one");
  ss_cp_workspace_destroy(w);
}

/* ---- scenes ---- */

static const char *const schemes[] = {"stewart-trinkle", "anitescu-potra", "moreau", "trapezoidal"};
enum { SCHEMES = sizeof schemes / sizeof *schemes, TEXT = 2000 };

static void box_on_four_corners(void **state) {
  (void)state;
  static const char *const cones[] = {"quadratic", "pyramid", "polyhedral"};
  for (int s = 0; s < SCHEMES; s++)
    for (int c = 0; c < 3; c++)
      for (int turn = 0; turn < 3; turn++) {
        char text[TEXT];
        run r;
        ss_contact_report contacts[8];
        (void)snprintf(
            text, sizeof text,
            "materials: [{name: default, friction: 0.4}]\n"
            "world: {shapes: [{type: half-space, normal: [0, 0, 1], offset: 0}]}\n"
            "bodies: [{name: box, mass: 1, position: [0.3, -0.2, 0.1], orientation: {axis: [0, 0, 1], angle: %g}, "
            "shapes: [{type: box, size: [0.4, 0.3, 0.2]}]}]\n"
            "simulation: {scheme: %s, step: 0.005, duration: 0.05, friction: {cone: %s}}\n",
            0.37 * turn, schemes[s], cones[c]);
        run_parse(&r, text, NULL);
        run_finish(&r);
        assert_int_equal(ss_sim_contacts(r.sim, contacts, 8), 4);
        for (int k = 0; k < 4; k++)
          check_near(v3_norm(contacts[k].impulse), 0.005 * 9.81 / 4, 1e-9 * 0.005 * 9.81, "impulse of a corner");
        run_close(&r);
      }
}

static void capsule_stays_in_the_grip(void **state) {
  (void)state;
  for (int s = 0; s < SCHEMES; s++) {
    char text[TEXT];
    run r;
    (void)snprintf(
        text, sizeof text,
        "materials: [{name: default, friction: 0.7, restitution: 0}]\n"
        "bodies:\n"
        "  - {name: capsule, mass: 0.045, position: [0,0,0.1], shapes: [{type: capsule, radius: 0.004, length: 0.06, "
        "axis: y}]}\n"
        "  - {name: left, mass: 0.1, freedom: [x], position: [-0.014,0,0.1], shapes: [{type: box, size: "
        "[0.02,0.02,0.02]}]}\n"
        "  - {name: right, mass: 0.1, freedom: [x], position: [0.014,0,0.1], shapes: [{type: box, size: "
        "[0.02,0.02,0.02]}]}\n"
        "forces:\n"
        "  - {type: applied, on: left, force: [12, 0, 0]}\n"
        "  - {type: applied, on: right, force: [-12, 0, 0]}\n"
        "simulation: {scheme: %s, step: 0.002, duration: 1, friction: {cone: quadratic}}\n",
        schemes[s]);
    run_parse(&r, text, NULL);
    run_finish(&r);
    check_below(v3_norm(v3_sub(run_position(&r, 0), v3(0, 0, 0.1))), 1e-9, "way of the capsule");
    run_close(&r);
  }
}

static void check_between(double x, double low, double high) { assert_true(x >= low && x <= high); }

/* The judge of the selection: even impulses pass, uneven ones that solve the problem as well do not; a compliance that explains them
 * makes them right; what the states determine is never doubted. */
static void uneven_impulses_are_seen(void **state) {
  (void)state;
  const double G[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, g[3] = {-1, -1, -1}, single[1] = {2};
  const double even[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, uneven[3] = {0.5, 0.3, 0.2}, soft[3] = {2, 10.0 / 3, 5};
  const ss_block block = {.kind = SS_BLOCK_NONNEGATIVE, .size = 3}, one = {.kind = SS_BLOCK_NONNEGATIVE, .size = 1};
  ss_cp problem = {.n = 3, .n_blocks = 1, .G = G, .g = g, .blocks = &block};
  ss_cp_workspace *w = NULL;
  assert_int_equal(ss_cp_workspace_create(&w, NULL), SS_OK);
  assert_true(ss_cp_judge(&problem, even, NULL) < 1e-15 && ss_cp_judge(&problem, uneven, NULL) < 1e-15);
  check_between(ss_cp_judge_selection(&problem, even, w), 0, 1e-12);
  check_between(ss_cp_judge_selection(&problem, uneven, w), 0.3, 0.4); /* its part beside (1, 1, 1), over its length */
  problem.compliance = soft;
  check_between(ss_cp_judge_selection(&problem, uneven, w), 0, 1e-12);
  const ss_cp determined = {.n = 1, .n_blocks = 1, .G = single, .g = g, .blocks = &one};
  check_between(ss_cp_judge_selection(&determined, (const double[]){0.5}, w), 0, 0);
  ss_cp_workspace_destroy(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(uneven_impulses_are_seen), cmocka_unit_test(feet_share_the_load),
                                     cmocka_unit_test(soft_feet_carry_less), cmocka_unit_test(box_on_four_corners),
                                     cmocka_unit_test(capsule_stays_in_the_grip)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
