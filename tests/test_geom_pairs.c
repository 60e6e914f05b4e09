/* One conformance suite for every pair of shapes in the table. */
#include "geom_support.h"

#include <stdlib.h>

typedef struct setting {
  const ss_pair *pair;
  ss_shape a, b;
  ss_pose pa, pb;
} setting;

typedef void (*check)(const setting *s);

/* An ellipse is infinite across the plane of its scene, xz: the other shape stays in that plane. */
static bool planar(const setting *s) { return s->a.type == SS_SHAPE_ELLIPSE || s->b.type == SS_SHAPE_ELLIPSE; }

static void flatten(setting *s) {
  s->pa.position.y = s->pb.position.y = 0;
  s->pa.orientation = quat_exp(v3(0, uniform(-3, 3), 0));
  s->pb.orientation = quat_exp(v3(0, uniform(-3, 3), 0));
}

/* Random shapes in random places, near each other; every other one in a far corner of the world. */
static setting random_setting(const ss_pair *pair, ss_shape_type a, ss_shape_type b, double distance) {
  setting s = {.pair = pair, .a = random_shape(a), .b = random_shape(b), .pa = random_pose(0), .pb = random_pose(1)};
  s.pa.position = v3_add(s.pb.position, random_vector(distance));
  if (planar(&s)) flatten(&s);
  return s;
}

static void for_every_pair(int repetitions, double distance, check function) {
  for (int a = 0; a < SS_SHAPE_TYPES; a++)
    for (int b = a; b < SS_SHAPE_TYPES; b++) {
      bool swapped;
      const ss_pair *pair = ss_pair_find((ss_shape_type)a, (ss_shape_type)b, &swapped);
      if (a == SS_SHAPE_CONVEX && b == SS_SHAPE_ELLIPSE) continue; /* planar scenes have prisms only */
      if (b == SS_SHAPE_HEIGHT_FIELD || (a == SS_SHAPE_ELLIPSE && b == SS_SHAPE_MESH)) continue; /* test_geom_mesh */
      const bool curved =
          b >= SS_SHAPE_ELLIPSOID || a == SS_SHAPE_CONVEX || b == SS_SHAPE_CONVEX; /* these take longer */
      for (int i = 0; pair && i < (curved ? repetitions / 3 : repetitions); i++) {
        const setting s = random_setting(pair, (ss_shape_type)a, (ss_shape_type)b, distance);
        function(&s);
      }
    }
}

static int collide(const setting *s, double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  const int n = s->pair->collide(&s->a, &s->pa, &s->b, &s->pb, reach, out);
  assert_in_range(n, 0, SS_PAIR_CONTACTS);
  return n;
}

static const ss_contact_point *closest(const ss_contact_point *contacts, int n) {
  const ss_contact_point *best = NULL;
  for (int i = 0; i < n; i++)
    if (!best || contacts[i].gap < best->gap) best = &contacts[i];
  return best;
}

/* ---- the table ---- */

static void test_table(void **unused) {
  (void)unused;
  for (int a = 0; a < SS_SHAPE_TYPES; a++)
    for (int b = 0; b < SS_SHAPE_TYPES; b++) {
      bool swapped, back;
      const ss_pair *pair = ss_pair_find((ss_shape_type)a, (ss_shape_type)b, &swapped);
      assert_ptr_equal(pair, ss_pair_find((ss_shape_type)b, (ss_shape_type)a, &back));
      assert_int_equal(swapped, a > b);
      assert_int_equal(back, b > a);
      const int fixed =
          (a >= SS_SHAPE_MESH || a == SS_SHAPE_HALF_SPACE) + (b >= SS_SHAPE_MESH || b == SS_SHAPE_HALF_SPACE);
      const bool never = (a == SS_SHAPE_POINT && b == SS_SHAPE_POINT) || fixed == 2;
      assert_int_equal(pair == NULL, never);
    }
}

/* ---- distances ---- */

static int separated, overlapping;

/* Alternating projections: an upper bound that comes down to the distance. */
static double projected_distance(const setting *s) {
  ss_vec3 x = s->pa.position, y = x;
  double distance = INFINITY;
  for (int i = 0; i < 20000; i++) {
    y = project(&s->b, &s->pb, x);
    x = project(&s->a, &s->pa, y);
    const double next = v3_norm(v3_sub(x, y));
    if (i > 100 && distance - next < 1e-15) return next;
    distance = next;
  }
  return distance;
}

/* Primal and dual certificate: the contact points belong to the shapes, so the distance is at most the gap; the shapes
 * lie in slabs that are the gap apart, so it is at least the gap. */
static void check_distance(const setting *s) {
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  const int n = collide(s, INFINITY, contacts);
  const ss_contact_point *best = closest(contacts, n);
  const double distance = projected_distance(s);
  for (int i = 0; i < n; i++) {
    const ss_contact_point *c = &contacts[i];
    assert_near(v3_norm(c->normal), 1, 1e-14);
    assert_near3(v3_sub(c->point_a, c->point_b), v3_scale(c->gap, c->normal), 1e-13);
  }
  assert_non_null(best);
  if (best->gap <= 0) {
    assert_true(distance < 0.01); /* projections may come together slowly */
    overlapping++;
    return;
  }
  separated++;
  assert_near(slab_distance(&s->a, &s->pa, &s->b, &s->pb, best->normal), best->gap, 2e-14);
  for (int i = 0; i < n; i++) { /* the other features are distances of points of the shapes too */
    assert_true(contacts[i].gap > 0);
    assert_near3(project(&s->a, &s->pa, contacts[i].point_a), contacts[i].point_a, 2e-9);
    assert_near3(project(&s->b, &s->pb, contacts[i].point_b), contacts[i].point_b, 2e-9);
  }
  assert_near3(project(&s->a, &s->pa, best->point_a), best->point_a, 1e-13);
  assert_near3(project(&s->b, &s->pb, best->point_b), best->point_b, 1e-13);
  assert_true(distance >= best->gap - 1e-13 && distance < best->gap + 0.01);
  assert_int_equal(collide(s, best->gap * 0.999, contacts), 0);
}

static void test_distance(void **unused) {
  (void)unused;
  for_every_pair(300, 3, check_distance);
  assert_true(separated > 500 && overlapping > 500);
}

/* A point of the inside, seen from the pose's origin. */
static ss_vec3 inner_point(const ss_shape *s, const ss_pose *p) {
  const ss_vec3 x = v3_sub(project(s, p, v3_add(p->position, random_vector(2))), p->position);
  if (s->type == SS_SHAPE_HALF_SPACE) return v3_axpy(x, -0.01, quat_rotate(p->orientation, v3(0, 0, 1)));
  return v3_scale(uniform(0, 0.95), x);
}

/* Shapes that share a point in the inside of both must have a contact with a negative gap. */
static void check_overlap(const setting *given) {
  setting s = *given;
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  const ss_vec3 common = v3_add(s.pb.position, inner_point(&s.b, &s.pb));
  s.pa.position = v3_sub(common, inner_point(&s.a, &s.pa));
  if (planar(&s)) s.pa.position.y = s.pb.position.y = 0; /* shapes are symmetric to the plane */
  const int n = collide(&s, 0, contacts);
  const ss_contact_point *best = closest(contacts, n);
  assert_non_null(best);
  assert_true(best->gap < 0);
  for (int i = 0; i < n; i++) { /* unit normals, and points that are the gap apart along them, however deep */
    const ss_contact_point *c = &contacts[i];
    assert_near(v3_norm(c->normal), 1, 1e-9);
    assert_near(v3_dot(c->normal, v3_sub(c->point_a, c->point_b)), c->gap, 1e-9);
  }
}

static void test_overlap(void **unused) {
  (void)unused;
  for_every_pair(2000, 1, check_overlap);
}

/* Shapes apart are pushed together along their connection, and a little further: no contact may be much deeper, and
 * one must be closed. Along an edge or at a corner there are shorter ways out than back. */
static void check_shallow(const setting *given) {
  setting s = *given;
  const double depth = 1e-4;
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  const ss_contact_point *best = closest(contacts, collide(&s, INFINITY, contacts));
  if (best->gap < 0.01) return;
  const ss_vec3 n = best->normal;
  s.pa.position = v3_axpy(s.pa.position, -(best->gap + depth), n);
  best = closest(contacts, collide(&s, 0, contacts));
  if (!best && (s.a.type == SS_SHAPE_CONVEX || s.b.type == SS_SHAPE_CONVEX || s.b.mesh))
    return; /* slipped past a sharp corner */
  assert_non_null(best);
  assert_true(best->gap < 0);
  assert_true(best->gap > -(s.b.mesh ? 2 : 1.2) * depth); /* sharp edges of a mesh are taken one by one */
  assert_true(v3_dot(best->normal, n) > -1e-9);
}

static void test_shallow(void **unused) {
  (void)unused;
  for_every_pair(500, 3, check_shallow);
}

/* ---- features ---- */

static void check_features(const setting *s) {
  ss_contact_point contacts[SS_PAIR_CONTACTS], again;
  const int n = collide(s, 1, contacts);
  for (int i = 0; i < n; i++) {
    memset(&again, 0, sizeof again);
    s->pair->gap(&s->a, &s->pa, &s->b, &s->pb, contacts[i].feature, &again);
    assert_true(contacts[i].gap == again.gap);
    assert_memory_equal(&contacts[i].normal, &again.normal, sizeof again.normal);
    assert_memory_equal(&contacts[i].point_a, &again.point_a, sizeof again.point_a);
    assert_memory_equal(&contacts[i].point_b, &again.point_b, sizeof again.point_b);
    assert_int_equal(contacts[i].feature, again.feature);
    assert_false(again.left);
    assert_true(s->b.mesh || contacts[i].feature < 1u << 24); /* contact keys have room for so much */
    for (int j = 0; j < i; j++) assert_true(contacts[j].feature != contacts[i].feature);
  }
}

static void test_features(void **unused) {
  (void)unused;
  for_every_pair(500, 2.5, check_features);
}

/* Rate of the gap: normal times relative velocity of the material points (the contact Jacobian), against the difference
 * quotient. Distance functions have jumps of the second derivative where the closest feature changes; a quotient across
 * one of those says nothing, and is recognised by disagreeing with the one over half the time. */
static int rates, skipped;

static double gap_after(const setting *s, uint32_t feature, const ss_vec3 twist[4], double time) {
  const ss_pose pa = moved(s->pa, twist[0], twist[1], time), pb = moved(s->pb, twist[2], twist[3], time);
  ss_contact_point c;
  s->pair->gap(&s->a, &pa, &s->b, &pb, feature, &c);
  return c.gap;
}

static bool rate_matches(const setting *s, const ss_contact_point *c) {
  ss_vec3 twist[4] = {random_vector(1), random_vector(1), random_vector(1), random_vector(1)};
  for (int i = 0; planar(s) && i < 4; i++) twist[i] = i % 2 ? v3(0, twist[i].y, 0) : v3(twist[i].x, 0, twist[i].z);
  const ss_vec3 va = v3_add(twist[0], v3_cross(twist[1], v3_sub(c->point_a, s->pa.position)));
  const ss_vec3 vb = v3_add(twist[2], v3_cross(twist[3], v3_sub(c->point_b, s->pb.position)));
  const double rate = v3_dot(c->normal, v3_sub(va, vb)), h = 1e-4;
  double quotient[2];
  for (int i = 0; i < 2; i++) {
    const double t = i ? h / 2 : h;
    quotient[i] = (gap_after(s, c->feature, twist, t) - gap_after(s, c->feature, twist, -t)) / (2 * t);
  }
  if (fabs(quotient[0] - quotient[1]) > 1e-5) return false;
  assert_near((4 * quotient[1] - quotient[0]) / 3, rate, 1e-5);
  return true;
}

/* Edges that cross nearly in parallel, of boxes, or edges, lines and rims that cross a rim: their rate is right where they lie on a face
 * (test_geom_resting). */
static bool is_crossing(const setting *s, const ss_contact_point *c) {
  const uint32_t k = c->feature & 0x3ff;
  if (s->b.mesh) return c->feature >> 30 == 1 && (k == 0x3ff || (s->a.type == SS_SHAPE_CYLINDER && k > 0));
  if (s->b.type == SS_SHAPE_CYLINDER &&
      (s->a.type == SS_SHAPE_BOX || s->a.type == SS_SHAPE_CONVEX || s->a.type == SS_SHAPE_CAPSULE))
    return c->feature >> 20 == 4 || c->feature >> 20 == 5;
  if (s->a.type == SS_SHAPE_CYLINDER && s->b.type == SS_SHAPE_CYLINDER)
    return c->feature >> 8 == 2 || c->feature >> 8 == 3;
  return s->a.type == SS_SHAPE_BOX && s->b.type == SS_SHAPE_BOX && c->feature >> 16 >= 3;
}

static void check_rates(const setting *s) {
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  const int n = collide(s, 1, contacts);
  for (int i = 0; i < n; i++) {
    if (is_crossing(s, &contacts[i])) continue;
    if (rate_matches(s, &contacts[i]))
      rates++;
    else
      skipped++;
  }
}

static void test_rates(void **unused) {
  (void)unused;
  rates = skipped = 0;
  for_every_pair(1000, 2, check_rates);
  assert_true(rates > 5000);
  assert_true(skipped < rates / 50);
}

/* ---- symmetries ---- */

static int by_feature(const void *left, const void *right) {
  const ss_contact_point *a = left, *b = right;
  return (a->feature > b->feature) - (a->feature < b->feature);
}

static void check_rotation(const setting *s) {
  ss_contact_point here[SS_PAIR_CONTACTS], there[SS_PAIR_CONTACTS];
  const ss_pose world = random_pose(2);
  setting turned = *s;
  turned.pa = pose_compose(&world, &s->pa);
  turned.pb = pose_compose(&world, &s->pb);
  const int n = collide(s, 0.5, here);
  assert_int_equal(n, collide(&turned, 0.5, there));
  qsort(here, (size_t)n, sizeof *here, by_feature);
  qsort(there, (size_t)n, sizeof *there, by_feature);
  for (int i = 0; i < n; i++) {
    assert_int_equal(here[i].feature, there[i].feature);
    assert_near(there[i].gap, here[i].gap, 1e-12);
    if (s->b.mesh && (here[i].feature & 0x3ff) == 0x3ff) continue; /* deep inside there may be two nearest places */
    assert_near3(there[i].normal, quat_rotate(world.orientation, here[i].normal), 1e-10);
    assert_near3(there[i].point_a, pose_point(&world, here[i].point_a), 1e-10);
    assert_near3(there[i].point_b, pose_point(&world, here[i].point_b), 1e-10);
  }
}

static void test_rotation(void **unused) {
  (void)unused;
  for_every_pair(1000, 2, check_rotation);
}

/* Shapes of the same kind: the order does not matter. */
static void check_exchange(const setting *s) {
  if (s->a.type != s->b.type) return;
  ss_contact_point ab[SS_PAIR_CONTACTS], ba[SS_PAIR_CONTACTS];
  const setting exchanged = {s->pair, s->b, s->a, s->pb, s->pa};
  const ss_contact_point *one = closest(ab, collide(s, 0.5, ab)), *other = closest(ba, collide(&exchanged, 0.5, ba));
  assert_int_equal(one == NULL, other == NULL);
  if (!one) return;
  assert_near(one->gap, other->gap, 1e-12);
  assert_near3(one->normal, v3_neg(other->normal), 1e-10);
}

static void test_exchange(void **unused) {
  (void)unused;
  for_every_pair(1000, 2, check_exchange);
}

/* Coordinates that a double holds exactly, a million sizes away: the same gaps. */
static void check_far_away(const setting *given) {
  setting near = *given, far;
  for (int i = 0; i < 2; i++) {
    ss_vec3 *p = i ? &near.pb.position : &near.pa.position;
    *p = v3(round(p->x * 1024) / 1024, round(p->y * 1024) / 1024, round(p->z * 1024) / 1024);
  }
  far = near;
  const ss_vec3 shift = v3(0x1p20, -0x1p21, 0x1p22);
  far.pa.position = v3_add(near.pa.position, shift);
  far.pb.position = v3_add(near.pb.position, shift);
  ss_contact_point here[SS_PAIR_CONTACTS], there[SS_PAIR_CONTACTS];
  const int n = collide(&near, 0.5, here);
  assert_int_equal(n, collide(&far, 0.5, there));
  for (int i = 0; i < n; i++) {
    assert_near(there[i].gap, here[i].gap, 1e-15);
    assert_near3(v3_sub(there[i].point_a, shift), here[i].point_a, 2e-9);
  }
}

static void test_far_away(void **unused) {
  (void)unused;
  for_every_pair(300, 2, check_far_away);
}

/* ---- degenerate configurations ---- */

static void assert_sound(const setting *s) {
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  const int n = collide(s, INFINITY, contacts);
  assert_true(n > 0);
  for (int i = 0; i < n; i++) {
    assert_true(isfinite(contacts[i].gap));
    assert_true(v3_finite(contacts[i].point_a) && v3_finite(contacts[i].point_b));
    assert_near(v3_norm(contacts[i].normal), 1, 1e-12);
  }
}

static void check_degenerate(const setting *given) {
  setting s = *given;
  const ss_vec3 steps[] = {{0, 0, 0},         {s.a.half.x, 0, 0},        {0, s.b.half.y, 0},
                           {1e-17, 0, 0},     {0, 1e-200, 1e-200},       {0, 0, 5e-324},
                           {1e150, 1e150, 0}, {-1e300, 1e10, 3},         s.b.half,
                           v3_neg(s.a.half),  v3_add(s.a.half, s.b.half)};
  const ss_quat turns[] = {{1, 0, 0, 0}, {0.5, 0.5, 0.5, 0.5}, {0, 1, 0, 0}, {0.8, 0.6, 0, 0}, {0.8, 0, 0, -0.6}};
  s.pb = pose_identity();
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
    for (size_t j = 0; j < sizeof turns / sizeof *turns; j++) {
      s.pa = (ss_pose){steps[i], turns[j]};
      assert_sound(&s);
      s.b = s.a.type == s.b.type ? s.a : s.b; /* equal shapes on the same spot */
      assert_sound(&s);
      s.b = given->b;
    }
}

static void test_degenerate(void **unused) {
  (void)unused;
  for_every_pair(20, 1, check_degenerate);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table),      cmocka_unit_test(test_distance), cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_shallow),    cmocka_unit_test(test_features), cmocka_unit_test(test_rates),
      cmocka_unit_test(test_rotation),   cmocka_unit_test(test_exchange), cmocka_unit_test(test_far_away),
      cmocka_unit_test(test_degenerate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
