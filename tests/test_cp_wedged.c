/* Contacts that can be pressed against each other as strongly as one likes: the impulses in balance, and the solver that takes
 * such contacts for joints. */
#include "cp_suite.h"

#include "cp/response.h"
#include "cp/wedged.h"

typedef struct cone_case {
  ss_cone cone;
  int directions;
} cone_case;

static const cone_case cones[] = {
    {SS_CONE_POLYHEDRAL, 4}, {SS_CONE_POLYHEDRAL, 8}, {SS_CONE_PYRAMID, 4}, {SS_CONE_QUADRATIC, 8}};
enum { CONES = sizeof cones / sizeof *cones, DOFS = 6 };

typedef struct box_of_balls {
  int side; /* side x side balls of radius 1/2 on the ground */
  double position[36][3];
  double *J;
  int dofs, rows;
} box_of_balls;

/* The rows of one contact of ball a with ball b, or with what does not move (b < 0), whose normal points to a. */
static void touch(box_of_balls *box, int a, int b, const double *normal) {
  const double axis[3] = {fabs(normal[0]) < 0.6, fabs(normal[0]) >= 0.6, 0}, *n = normal;
  double frame[3][3] = {
      {n[0], n[1], n[2]},
      {n[1] * axis[2] - n[2] * axis[1], n[2] * axis[0] - n[0] * axis[2], n[0] * axis[1] - n[1] * axis[0]}};
  const double *t = frame[1], length = sqrt(t[0] * t[0] + t[1] * t[1] + t[2] * t[2]);
  for (int i = 0; i < 3; i++) frame[1][i] /= length;
  for (int i = 0; i < 3; i++) frame[2][i] = n[(i + 1) % 3] * t[(i + 2) % 3] - n[(i + 2) % 3] * t[(i + 1) % 3];
  for (int row = 0; row < 3; row++, box->rows++) {
    const double *d = frame[row];
    for (int which = 0; which < 2; which++) {
      const int body = which ? b : a;
      if (body < 0) continue;
      double *J = box->J + box->rows * box->dofs + DOFS * body;
      for (int i = 0; i < 3; i++) {
        J[i] = which ? -d[i] : d[i];
        J[3 + i] = -0.5 * (n[(i + 1) % 3] * d[(i + 2) % 3] - n[(i + 2) % 3] * d[(i + 1) % 3]); /* the arm is -+ n / 2 */
      }
    }
  }
}

static void touch_walls(box_of_balls *box, int ball, bool walls) {
  const int x = ball / box->side, y = ball % box->side, last = box->side - 1;
  touch(box, ball, -1, (const double[]){0, 0, 1});
  if (walls && x == 0) touch(box, ball, -1, (const double[]){1, 0, 0});
  if (walls && x == last) touch(box, ball, -1, (const double[]){-1, 0, 0});
  if (walls && y == 0) touch(box, ball, -1, (const double[]){0, 1, 0});
  if (walls && y == last) touch(box, ball, -1, (const double[]){0, -1, 0});
}

static void touch_neighbour(box_of_balls *box, int ball, int other) {
  double n[3], length = 0;
  for (int i = 0; i < 3; i++) {
    n[i] = box->position[ball][i] - box->position[other][i];
    length += n[i] * n[i];
  }
  for (int i = 0; i < 3; i++) n[i] /= sqrt(length);
  touch(box, ball, other, n);
}

/* Balls on the ground, each of which touches its neighbours and the walls beside it, slightly out of line, struck at random. */
static owned_cp struck_balls(random_source *random, int side, bool walls, const cone_case *c, double mu) {
  const int balls = side * side, contacts = balls + (walls ? 4 * side : 0) + 2 * side * (side - 1);
  box_of_balls box = {.side = side, .J = numbers(3 * contacts * DOFS * balls), .dofs = DOFS * balls};
  double *W = numbers(box.dofs), *v = numbers(box.dofs);
  owned_cp p = owned_create(3 * contacts, contacts);
  for (int k = 0; k < balls; k++)
    for (int i = 0; i < 3; i++)
      box.position[k][i] = (i == 0 ? k / side : i == 1 ? k % side : 0) + random_between(random, -1e-3, 1e-3);
  for (int k = 0; k < balls; k++) {
    touch_walls(&box, k, walls);
    if (k / side > 0) touch_neighbour(&box, k, k - side);
    if (k % side > 0) touch_neighbour(&box, k, k - 1);
  }
  assert_int_equal(box.rows, 3 * contacts);
  for (int k = 0; k < box.dofs; k++) {
    W[k] = k % DOFS < 3 ? 1 : 10;
    v[k] = random_between(random, -1, 1);
  }
  set_mechanics(&p, box.J, W, v, box.dofs);
  for (int k = 0; k < contacts; k++)
    add_block(&p,
              (ss_block){.kind = SS_BLOCK_FRICTION, .size = 3, .cone = c->cone, .directions = c->directions, .mu = mu});
  free(box.J);
  free(W);
  free(v);
  return p;
}

/* How far z is from the cones: their law leaves inside what is inside. */
static double outside(wedges *d, const double *z) {
  double most = 0;
  response projected = {d->change, d->E};
  respond_by_cone(&d->set, z, &projected);
  for (int i = 0; i < d->cp->n; i++) most = fmax(most, fabs(projected.z[i] - z[i]));
  return most;
}

/* Impulses of size one in the cones that move nothing; none where there are no walls. */
static void stress_is_in_balance(void **state) {
  (void)state;
  random_source random = {11};
  for (int trial = 0; trial < 2 * CONES; trial++) {
    const bool walls = trial % 2;
    owned_cp p = struck_balls(&random, 3, walls, &cones[trial / 2], 0.6);
    const scratch_mark mark = scratch_now(workspace);
    wedges d;
    bool admitted;
    assert_int_equal(wedges_create(&d, &p.cp, workspace, &admitted, NULL), SS_OK);
    assert_true(admitted);
    assert_int_equal(find_self_stress(&d), walls);
    if (walls) {
      double largest = 0, moved = 0;
      for (int k = 0; k < d.set.n_sites; k++) {
        const double normal = d.anchor[d.set.sites[k].row];
        assert_true(d.set.sites[k].state == SITE_OPEN ? normal == 0 : normal > 1e-6);
      }
      for (int i = 0; i < d.cp->n; i++) {
        double sum = 0;
        for (int j = 0; j < d.cp->n; j++) sum += d.cp->G[i * d.cp->n + j] * d.anchor[j];
        moved = fmax(moved, fabs(sum));
        largest = fmax(largest, d.anchor[i]);
      }
      assert_true(largest > 0.1);
      assert_true(moved < 1e-12);
      assert_true(outside(&d, d.anchor) < 1e-14);
    }
    scratch_release(workspace, mark);
    owned_free(&p);
  }
}

/* All but one, whose balls are not quite wedged: impulses of 1e6 leave a residual of 2e-10. */
static void struck_balls_are_solved(void **state) {
  (void)state;
  random_source random = {12};
  int unsolved = 0, alone = 0;
  for (int trial = 0; trial < 3 * CONES; trial++) {
    owned_cp p = struck_balls(&random, 4, true, &cones[trial % CONES], random_between(&random, 0.3, 1.5));
    alone += solve_with(&p, "wedged", false, workspace).outcome == SS_SOLVED;
    unsolved += fails(&p, "auto", false, "struck balls", trial);
    owned_free(&p);
  }
  assert_true(unsolved <= 1);
  assert_true(alone >= 3 * CONES - 1);
}

/* A ball between four smooth walls, on a rough floor: the walls hold it, but have no tangential impulse. */
static void smooth_walls_are_wedged_too(void **state) {
  (void)state;
  random_source random = {14};
  for (int trial = 0; trial < CONES; trial++) {
    owned_cp p = struck_balls(&random, 1, true, &cones[trial], 0.7);
    for (int b = 1; b < p.cp.n_blocks; b++) p.blocks[b].mu = 0;
    assert_int_equal(solve_with(&p, "wedged", false, workspace).outcome, SS_SOLVED);
    owned_free(&p);
  }
}

/* Nothing that could be pressed: rows with two bounds. */
static void bounded_rows_are_not_wedged(void **state) {
  (void)state;
  owned_cp p = owned_create(3, 3);
  for (int i = 0; i < 3; i++) {
    p.G[4 * i] = 1;
    p.g[i] = i - 1;
    add_block(&p, (ss_block){.kind = SS_BLOCK_BOX, .size = 1, .lower = -1, .upper = 1});
  }
  assert_int_equal(solve_with(&p, "wedged", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&p);
}

static void loose_balls_are_not_wedged(void **state) {
  (void)state;
  random_source random = {13};
  owned_cp p = struck_balls(&random, 4, false, &cones[1], 0.5);
  assert_int_equal(solve_with(&p, "wedged", false, workspace).outcome, SS_NOT_ADMITTED);
  owned_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stress_is_in_balance),        cmocka_unit_test(struck_balls_are_solved),
      cmocka_unit_test(smooth_walls_are_wedged_too), cmocka_unit_test(bounded_rows_are_not_wedged),
      cmocka_unit_test(loose_balls_are_not_wedged),
  };
  return CP_SUITE("wedged", tests);
}
