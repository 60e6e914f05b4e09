/* A solid can be described in several ways: a box turned by a right angle with its sides exchanged, a cylinder turned end to end, a hull or a mesh
 * with its corners in another order. Contacts are those of the solid, not of its description. */
#include "geom_support.h"

enum { POINTS = 12 };

typedef struct definition {
  ss_shape_def d;
  ss_vec3 points[POINTS];
} definition;

static definition random_definition(ss_shape_type type) {
  definition x = {.d = shape_definition(type)};
  x.d.radius = uniform(0.1, 0.6);
  x.d.length = uniform(0.2, 2);
  x.d.size = v3(uniform(0.2, 2), uniform(0.2, 2), uniform(0.2, 2));
  if (type == SS_SHAPE_ELLIPSOID) x.d.semi_axes = v3_scale(0.5, x.d.size);
  const bool prism = uniform(0, 1) < 0.5;
  x.d.n_points = POINTS;
  for (int i = 0; i < POINTS; i++)
    x.points[i] = prism ? v3(0.6 * cos((i - i % 2) / 2.0 * 1.04719755119659774615),
                             0.6 * sin((i - i % 2) / 2.0 * 1.04719755119659774615), i % 2 - 0.5)
                        : v3_scale(uniform(0.6, 1), random_direction());
  return x;
}

/* The hull as a mesh; the triangles from number `first` on, their corners from `turn` on. */
static ss_shape mesh_from(const struct ss_hull *hull, int first, int turn) {
  int corners[3 * 64], n = 0, triangles[3 * 64];
  for (int f = 0; f < hull->n_faces; f++)
    for (int k = 1; k + 1 < hull->face[f].count; k++) {
      const int *loop = hull->loop + hull->face[f].first;
      corners[3 * n] = loop[0], corners[3 * n + 1] = loop[k], corners[3 * n++ + 2] = loop[k + 1];
    }
  for (int i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) triangles[3 * i + k] = corners[3 * ((i + first) % n) + (k + turn) % 3];
  ss_shape_def d = shape_definition(SS_SHAPE_MESH);
  d.points = hull->vertex, d.n_points = hull->n_vertices, d.triangles = triangles, d.n_triangles = n;
  return compiled(&d);
}

/* The same solid in the way number k: with k = 0 as it is defined. *own: its pose in the frame of k = 0. */
static ss_shape describe(const definition *x, int k, ss_pose *own) {
  static const double right = 1.57079632679489661923;
  ss_shape_def d = x->d;
  *own = pose_identity();
  if (d.type == SS_SHAPE_CONVEX || d.type == SS_SHAPE_MESH) {
    ss_vec3 points[POINTS];
    static const int step[] = {1, 5, 7, 11};
    const bool mesh = d.type == SS_SHAPE_MESH;
    for (int i = 0; i < POINTS; i++) points[i] = x->points[(step[k] * i + k) % POINTS];
    d.points = points;
    d.type = SS_SHAPE_CONVEX;
    const ss_shape hull = compiled(&d);
    own->position = hull.local.position;
    return mesh ? mesh_from(hull.hull, 5 * k, k % 3) : hull;
  }
  const ss_shape shape = compiled(&d);
  if (k > 0)
    own->orientation = quat_exp(k == 1 ? v3(2 * right, 0, 0) : k == 2 ? v3(0, 2 * right, 0) : v3(0, 0, 2 * right));
  if (d.type == SS_SHAPE_BOX && k > 0) { /* sides exchanged */
    d.size = k == 1   ? v3(d.size.x, d.size.z, d.size.y)
             : k == 2 ? v3(d.size.z, d.size.y, d.size.x)
                      : v3(d.size.y, d.size.x, d.size.z);
    own->orientation = quat_exp(k == 1 ? v3(right, 0, 0) : k == 2 ? v3(0, right, 0) : v3(0, 0, right));
    return compiled(&d);
  }
  return shape;
}

static int contacts_of(const ss_pair *pair, bool swapped, const definition *a, const ss_pose *pa, int ka,
                       const definition *b, const ss_pose *pb, int kb, double reach, ss_contact_point *c) {
  ss_pose own_a, own_b;
  const ss_shape sa = describe(a, ka, &own_a), sb = describe(b, kb, &own_b);
  const ss_pose qa = pose_compose(pa, &own_a), qb = pose_compose(pb, &own_b);
  return swapped ? pair->collide(&sb, &qb, &sa, &qa, reach, c) : pair->collide(&sa, &qa, &sb, &qb, reach, c);
}

static bool has(const ss_contact_point *list, int n, const ss_contact_point *c) {
  for (int i = 0; i < n; i++)
    if (v3_norm(v3_sub(list[i].point_a, c->point_a)) < 1e-6 && v3_norm(v3_sub(list[i].point_b, c->point_b)) < 1e-6 &&
        v3_norm(v3_sub(list[i].normal, c->normal)) < 1e-6 && fabs(list[i].gap - c->gap) < 1e-7)
      return true;
  return false;
}

static double least_of(const ss_contact_point *c, int n) {
  double least = INFINITY;
  for (int i = 0; i < n; i++) least = fmin(least, c[i].gap);
  return least;
}

static void test_descriptions(void **unused) {
  (void)unused;
  int touching = 0, different = 0;
  for (int a = SS_SHAPE_POINT; a < SS_SHAPE_TYPES; a++)
    for (int b = a; b < SS_SHAPE_TYPES; b++) {
      bool swapped;
      const ss_pair *pair = ss_pair_find((ss_shape_type)a, (ss_shape_type)b, &swapped);
      if (!pair || a == SS_SHAPE_HALF_SPACE || b == SS_SHAPE_HALF_SPACE || a == SS_SHAPE_ELLIPSE ||
          b == SS_SHAPE_ELLIPSE || b == SS_SHAPE_HEIGHT_FIELD)
        continue;
      int here = 0;
      for (int trial = 0; trial < 60; trial++) {
        const definition x = random_definition((ss_shape_type)a), y = random_definition((ss_shape_type)b);
        const double far = trial % 3 ? 1.2 : 0.6;
        const ss_pose pa = random_pose(far), pb = random_pose(0);
        const double reach = 0.5;
        ss_contact_point first[SS_PAIR_CONTACTS], c[SS_PAIR_CONTACTS];
        const int n = contacts_of(pair, swapped, &x, &pa, 0, &y, &pb, 0, reach, first);
        touching += n > 0;
        for (int i = 0; i < n && b == SS_SHAPE_MESH; i++) { /* none is there twice */
          assert_false(has(first, i, &first[i]));
        }
        for (int k = 1; k < 4; k++)
          for (int side = 0; side < 2; side++) {
            const int m = contacts_of(pair, swapped, &x, &pa, side ? 0 : k, &y, &pb, side ? k : 0, reach, c);
            if (least_of(first, n) < -0.1) continue; /* deep: there are several ways out */
            bool same = fabs(least_of(c, m) - least_of(first, n)) < 1e-7 || (n == 0 && m == 0);
            if (least_of(first, n) > 0) { /* apart: the same points */
              same = same && n == m;
              for (int i = 0; i < n && same; i++) same = has(c, m, &first[i]);
            }
            different += !same, here += !same;
          }
      }
      if (here) print_error("%d on %d: %d differ\n", a, b, here);
    }
  assert_int_equal(different, 0);
  assert_true(touching > 1500);
}

/* Of more contacts than there is room for the same one gives way, in whatever order they come; no two are as low. */
static void test_the_order_of_contacts(void **unused) {
  (void)unused;
  enum { ALL = SS_PAIR_CONTACTS + 1 };
  for (int trial = 0; trial < 60; trial++) {
    const ss_vec3 up = random_direction(), u = v3_perpendicular(up), v = v3_cross(up, u);
    ss_contact_point all[ALL];
    for (int i = 0; i < ALL; i++) {
      const double x = uniform(-1, 1), y = uniform(-1, 1), gap = uniform(0, trial % 3 ? 0.01 : 0.3);
      const ss_vec3 n = i % 7 == 3 && trial % 2 ? u : up;
      const ss_vec3 p = v3_add(v3_scale(x, u), v3_scale(y, v));
      all[i] = (ss_contact_point){
          .gap = gap, .normal = n, .point_b = p, .point_a = v3_axpy(p, gap, n), .feature = (uint32_t)i};
    }
    int gone = -1;
    for (int turn = 0; turn < ALL; turn += 3) {
      ss_contact_point out[SS_PAIR_CONTACTS];
      bool there[ALL] = {false};
      const int step = turn % 2 ? ALL - 1 : 1; /* forwards or backwards */
      for (int i = 0; i < SS_PAIR_CONTACTS; i++) out[i] = all[(turn + step * i) % ALL];
      ss_contacts_replace(out, &all[(turn + step * SS_PAIR_CONTACTS) % ALL]);
      for (int i = 0; i < SS_PAIR_CONTACTS; i++) there[out[i].feature] = true;
      int missing = -1;
      for (int i = 0; i < ALL; i++)
        if (!there[i]) missing = i;
      assert_true(missing >= 0);
      if (gone < 0) gone = missing;
      assert_int_equal(missing, gone);
    }
  }
}

/* A capsule without length is a sphere, whatever it touches: one contact where the sphere has one, with the same gap and normal. */
static void test_capsules_without_length(void **unused) {
  (void)unused;
  int touching = 0;
  for (int type = SS_SHAPE_POINT; type < SS_SHAPE_TYPES; type++)
    for (int trial = 0; trial < 200; trial++) {
      bool of_ball, of_capsule;
      const ss_pair *ball_pair = ss_pair_find(SS_SHAPE_SPHERE, (ss_shape_type)type, &of_ball),
                    *capsule_pair = ss_pair_find(SS_SHAPE_CAPSULE, (ss_shape_type)type, &of_capsule);
      if (type == SS_SHAPE_ELLIPSE || type == SS_SHAPE_HEIGHT_FIELD) continue; /* planar; a mesh */
      ss_shape_def d = shape_definition(SS_SHAPE_SPHERE);
      d.radius = uniform(0.1, 0.6);
      const ss_shape ball = compiled(&d), capsule = capsule_shape(d.radius, 0),
                     other = random_shape((ss_shape_type)type);
      const ss_pose p = random_pose(1.2), po = random_pose(0);
      ss_contact_point one[SS_PAIR_CONTACTS], c[SS_PAIR_CONTACTS];
      const int n = of_ball ? ball_pair->collide(&other, &po, &ball, &p, 0.3, one)
                            : ball_pair->collide(&ball, &p, &other, &po, 0.3, one);
      const int m = of_capsule ? capsule_pair->collide(&other, &po, &capsule, &p, 0.3, c)
                               : capsule_pair->collide(&capsule, &p, &other, &po, 0.3, c);
      if (least_of(one, n) < -d.radius || least_of(c, m) < -d.radius) continue; /* its centre is inside */
      const bool shared =
          type != SS_SHAPE_CONVEX && type != SS_SHAPE_MESH; /* others may see an edge beside their faces */
      if (shared) assert_int_equal(n, m);
      if (n == 0) continue;
      assert_near(least_of(c, m), least_of(one, n), 1e-12);
      touching++;
      for (int i = 0; i < m; i++)
        for (int k = 0; k < i; k++)
          assert_true(v3_norm(v3_sub(c[i].point_b, c[k].point_b)) > 1e-9 ||
                      v3_dot(c[i].normal, c[k].normal) < 1 - 1e-9);
    }
  assert_true(touching > 300);
}

/* ---- what is followed ---- */

/* The widest slab between two boxes: their faces, and pairs of their edges. */
static double widest_slab(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb) {
  double widest = -INFINITY;
  for (int i = 0; i < 15; i++) {
    const ss_vec3 in_a = quat_rotate(pa->orientation, axis_vector(i < 6 ? i % 3 : i / 3 - 2, 1));
    const ss_vec3 in_b = quat_rotate(pb->orientation, axis_vector(i % 3, 1));
    const ss_vec3 n = i < 3 ? in_a : i < 6 ? in_b : v3_cross(in_a, in_b);
    if (v3_norm(n) < 1e-9) continue;
    const ss_vec3 unit = v3_normalize(n);
    widest = fmax(widest, fmax(slab_distance(a, pa, b, pb, unit), slab_distance(a, pa, b, pb, v3_neg(unit))));
  }
  return widest;
}

static ss_shape as_hull(const ss_shape *box) {
  ss_vec3 corners[8];
  for (uint32_t i = 0; i < 8; i++) corners[i] = box_corner(box->half, i);
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = corners;
  return compiled(&d);
}

/* A corner or a pair of edges that is followed wherever the boxes go: where these are apart, it is no nearer than they are. The boxes as such,
 * and as hulls of their corners. */
static void test_boxes_that_have_gone_apart(void **unused) {
  (void)unused;
  enum { LAST = 2 }; /* corners and edges; behind them edges of boxes that cross on a face, slabs of hulls */
  int tried = 0;
  for (int trial = 0; trial < 12000; trial++) {
    const ss_shape box_a = random_shape(SS_SHAPE_BOX), box_b = random_shape(SS_SHAPE_BOX);
    const ss_shape a = trial % 3 == 2 ? as_hull(&box_a) : box_a, b = trial % 3 ? as_hull(&box_b) : box_b;
    const ss_pose pa = random_pose(0.8), pb = random_pose(0), gone = random_pose(2.5);
    const double apart = widest_slab(&box_a, &gone, &box_b, &pb);
    ss_contact_point c[SS_PAIR_CONTACTS], now;
    bool swapped;
    const ss_pair *pair = ss_pair_find(a.type, b.type, &swapped);
    const int n = apart > 1e-3 ? pair->collide(&a, &pa, &b, &pb, 0.5, c) : 0;
    for (int i = 0; i < n; i++) {
      if (c[i].feature >> (trial % 3 ? 20 : 16) > LAST) continue;
      pair->gap(&a, &gone, &b, &pb, c[i].feature, &now);
      assert_true(now.gap >= apart - 1e-9);
      assert_near3(v3_sub(now.point_a, now.point_b), v3_scale(now.gap, now.normal), 1e-9);
      tried++;
    }
  }
  assert_true(tried > 10000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_descriptions), cmocka_unit_test(test_the_order_of_contacts),
                                     cmocka_unit_test(test_capsules_without_length),
                                     cmocka_unit_test(test_boxes_that_have_gone_apart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
