/* Shapes that lie on each other: the contact points must span the common area, with exact gaps, whatever the yaw. */
#include "geom_support.h"

#include "geom/pairs.h"

#include <stdlib.h>

enum { MOST = SS_PAIR_CONTACTS };

typedef struct point2 {
  double x, y;
} point2;

static double turn(point2 o, point2 a, point2 b) { return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x); }

static int by_place(const void *left, const void *right) {
  const point2 *a = left, *b = right;
  return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->y > b->y) - (a->y < b->y);
}

/* Area of the convex hull: lower and upper chain of the sorted points. */
static double hull_area(point2 *p, int n) {
  double twice = 0;
  qsort(p, (size_t)n, sizeof *p, by_place);
  for (int chain = -1; chain <= 1; chain += 2) {
    point2 hull[MOST];
    int m = 0;
    for (int i = 0; i < n; i++) {
      while (m >= 2 && chain * turn(hull[m - 2], hull[m - 1], p[i]) >= 0) m--;
      hull[m++] = p[i];
    }
    for (int i = 1; i < m; i++) twice -= chain * (hull[i - 1].x * hull[i].y - hull[i - 1].y * hull[i].x);
  }
  return twice / 2;
}

/* Area of a rectangle (half sizes, centre, yaw) within |x| <= hx, |y| <= hy: Sutherland and Hodgman. */
static double common_area(double ax, double ay, point2 center, double yaw, double hx, double hy) {
  point2 p[MOST], q[MOST];
  int n = 4;
  for (int i = 0; i < 4; i++) {
    const double x = i == 1 || i == 2 ? ax : -ax, y = i >= 2 ? ay : -ay;
    p[i] = (point2){center.x + cos(yaw) * x - sin(yaw) * y, center.y + sin(yaw) * x + cos(yaw) * y};
  }
  for (int side = 0; side < 4; side++) {
    int m = 0;
    for (int i = 0; i < n; i++) {
      const point2 a = p[i], b = p[(i + 1) % n];
      const double limit = side < 2 ? hx : hy, sign = side & 1 ? 1 : -1;
      const double da = limit - sign * (side < 2 ? a.x : a.y), db = limit - sign * (side < 2 ? b.x : b.y);
      if (da >= 0) q[m++] = a;
      if (da * db < 0) q[m++] = (point2){a.x + da / (da - db) * (b.x - a.x), a.y + da / (da - db) * (b.y - a.y)};
    }
    memcpy(p, q, sizeof p);
    n = m;
  }
  double twice = 0;
  for (int i = 0; i < n; i++) twice += p[i].x * p[(i + 1) % n].y - p[i].y * p[(i + 1) % n].x;
  return twice / 2;
}

static const ss_pair *pair_of(const ss_shape *a, const ss_shape *b) {
  bool swapped;
  const ss_pair *pair = ss_pair_find(a->type, b->type, &swapped);
  assert_non_null(pair);
  assert_false(swapped);
  return pair;
}

/* Contacts of shapes placed in a frame that is itself anywhere; points and normals in that frame's coordinates. */
static int contacts_in(const ss_pose *frame, const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                       ss_contact_point out[SS_PAIR_CONTACTS]) {
  const ss_pose wa = pose_compose(frame, pa), wb = pose_compose(frame, pb);
  const int n = pair_of(a, b)->collide(a, &wa, b, &wb, 0.01, out);
  for (int i = 0; i < n; i++) {
    out[i].normal = quat_rotate(quat_conjugate(frame->orientation), out[i].normal);
    out[i].point_a = pose_local(frame, out[i].point_a);
    out[i].point_b = pose_local(frame, out[i].point_b);
  }
  return n;
}

static ss_quat yawed(double yaw) { return quat_exp(v3(0, 0, yaw)); }

static const double yaws[] = {0,
                              1e-15,
                              1e-12,
                              1e-9,
                              2e-9,
                              1e-8,
                              1e-7,
                              2e-7,
                              1e-6,
                              1e-5,
                              1e-4,
                              1e-3,
                              0.01,
                              0.05,
                              0.2,
                              0.5,
                              0.785398163397448309616,
                              1.2,
                              1.570796326794896619,
                              -1e-8,
                              -0.3};
enum { YAWS = sizeof yaws / sizeof *yaws };

/* ---- box on box ---- */

static void lay_box(const ss_shape *a, const ss_shape *b, point2 place, double yaw, double gap, double tilt) {
  const ss_pose frames[2] = {pose_identity(), random_pose(1)};
  for (int f = 0; f < 2; f++) {
    const ss_pose pb = pose_identity();
    const ss_quat rocked = quat_multiply(quat_exp(v3_scale(tilt, v3(0.8, 0.6, 0))), yawed(yaw));
    const ss_pose pa = {v3(place.x, place.y, a->half.z + b->half.z + gap), rocked};
    ss_contact_point c[SS_PAIR_CONTACTS];
    point2 p[SS_PAIR_CONTACTS];
    const int n = contacts_in(&frames[f], a, &pa, b, &pb, c);
    int touching = 0;
    for (int i = 0; i < n; i++) {
      if (tilt == 0 && gap > 0 && c[i].normal.z < 1 - 1e-9) { /* a corner beside the face, still above it */
        assert_true(c[i].gap > gap && c[i].normal.z > 0.9);
        continue;
      }
      assert_near(c[i].gap, gap, 2e-15 + 1e-9 * fmax(gap, 0) + 4 * tilt);
      assert_true(c[i].normal.z > (tilt == 0 ? 1 - (gap > 0 ? 1e-9 : 1e-13) : c[i].gap <= 0 ? 0.994 : 0.9));
      p[touching++] = (point2){c[i].point_b.x, c[i].point_b.y};
    }
    const double area = common_area(a->half.x, a->half.y, place, yaw, b->half.x, b->half.y);
    assert_near(hull_area(p, touching), area, 1e-7 + 4 * tilt);
    assert_true(touching <= 8 || gap > 1e-9 || tilt > 0);
  }
}

static void test_box_on_box(void **unused) {
  (void)unused;
  const double gaps[] = {0, 1e-12, -1e-9, -1e-4, 1e-3};
  for (int i = 0; i < YAWS; i++)
    for (size_t j = 0; j < sizeof gaps / sizeof *gaps; j++) {
      const ss_shape cube = box_shape(1, 1, 1), small = box_shape(0.5, 0.25, 0.3), plank = box_shape(4, 0.3, 0.2);
      const point2 places[] = {{0, 0}, {0.25, 0}, {0.125, -0.375}, {-0.3, 0.2}, {0, 0.1234567}};
      for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
        lay_box(&cube, &cube, places[k], yaws[i], gaps[j], 0);
        lay_box(&small, &cube, places[k], yaws[i], gaps[j], 0);
        lay_box(&cube, &small, places[k], yaws[i], gaps[j], 0);
        lay_box(&plank, &cube, places[k], yaws[i], gaps[j], 0);
        lay_box(&plank, &plank, places[k], yaws[i], gaps[j], 0);
      }
    }
}

/* The same while it rocks a little: contacts stay and their normals stay upright. */
static void test_box_rocking(void **unused) {
  (void)unused;
  const double tilts[] = {1e-14, 1e-12, 1e-9, 1e-7, 1e-6};
  for (int i = 0; i < YAWS; i++)
    for (size_t j = 0; j < sizeof tilts / sizeof *tilts; j++) {
      const ss_shape cube = box_shape(1, 1, 1), other = box_shape(1.5, 0.7, 0.5);
      lay_box(&cube, &cube, (point2){0, 0}, yaws[i], 0, tilts[j]);
      lay_box(&cube, &other, (point2){0.1, 0.2}, yaws[i], -1e-6, tilts[j]);
    }
}

/* A box slides over another and off its edge: contacts are lost only with the common area. */
static void test_box_sliding(void **unused) {
  (void)unused;
  const ss_shape a = box_shape(0.6, 0.6, 0.2), b = box_shape(1, 1, 1);
  for (int i = 0; i < 1600; i++) {
    const double x = i * 0.0005;
    lay_box(&a, &b, (point2){x < 0.79 ? x : 0.79, 0.3 * x}, 0.3 * x, -1e-10, 0);
  }
}

/* Edges that cross nearly in parallel: the gap's rate may differ from that of the material points only by the slope of
 * the edges, times the speed at which their crossing slides. */
static void test_crossing_rate(void **unused) {
  (void)unused;
  const ss_shape box = box_shape(1, 1, 1);
  const double yaw = 0.02, h = 1e-7;
  int crossings = 0;
  for (int i = 0; i < 100; i++) {
    const ss_vec3 rock = v3(uniform(-0.01, 0.01), uniform(-0.01, 0.01), 0);
    const ss_pose pb = pose_identity(), pa = {v3(0.01, 0.02, 1), quat_multiply(quat_exp(rock), yawed(yaw))};
    const ss_vec3 velocity = random_vector(1), spin = random_vector(1);
    ss_contact_point c[SS_PAIR_CONTACTS], after, before;
    const int n = pair_of(&box, &box)->collide(&box, &pa, &box, &pb, 0.1, c);
    for (int k = 0; k < n; k++) {
      if (c[k].feature >> 16 < 3) continue;
      crossings++;
      const ss_pose late = moved(pa, velocity, spin, h), early = moved(pa, velocity, spin, -h);
      pair_of(&box, &box)->gap(&box, &late, &box, &pb, c[k].feature, &after);
      pair_of(&box, &box)->gap(&box, &early, &box, &pb, c[k].feature, &before);
      const ss_vec3 material = v3_add(velocity, v3_cross(spin, v3_sub(c[k].point_a, pa.position)));
      const ss_vec3 observed = v3_scale(1 / (2 * h), v3_sub(after.point_a, before.point_a));
      const double sliding = v3_norm(v3_sub(observed, material)), slope = 2 * v3_norm(rock);
      assert_near((after.gap - before.gap) / (2 * h), v3_dot(c[k].normal, material), slope * sliding + 1e-6);
    }
  }
  assert_true(crossings > 50);
}

/* ---- capsules ---- */

static void span(const ss_contact_point *c, int n, ss_vec3 axis, double *low, double *high) {
  *low = INFINITY, *high = -INFINITY;
  for (int i = 0; i < n; i++) {
    *low = fmin(*low, v3_dot(axis, c[i].point_b));
    *high = fmax(*high, v3_dot(axis, c[i].point_b));
  }
}

/* A capsule along a line through (0, y) with direction yaw on a box: the part of its axis over the face. */
static void test_capsule_on_box(void **unused) {
  (void)unused;
  const ss_shape box = box_shape(2, 1, 0.5);
  const double lengths[] = {0.5, 1.5, 6}, offsets[] = {0, 0.25, -0.4};
  for (int i = 0; i < YAWS; i++)
    for (int j = 0; j < 9; j++) {
      const ss_shape capsule = capsule_shape(0.1, lengths[j % 3]);
      const double y = offsets[j / 3], half = lengths[j % 3] / 2;
      const ss_vec3 axis = v3(cos(yaws[i]), sin(yaws[i]), 0);
      double low = -half, high = half;
      for (int k = 0; k < 2; k++) {
        const double c = k ? y : 0, u = k ? axis.y : axis.x, limit = k ? 0.5 : 1;
        if (fabs(u) < 1e-14) continue;
        low = fmax(low, (-copysign(limit, u) - c) / u);
        high = fmin(high, (copysign(limit, u) - c) / u);
      }
      const ss_pose frame = random_pose(1), pb = {v3(0, y, 0.25 + 0.1 - 1e-10), yawed(yaws[i])}, pa = pose_identity();
      ss_contact_point c[SS_PAIR_CONTACTS];
      const int n = contacts_in(&frame, &box, &pa, &capsule, &pb, c);
      double from, to;
      int touching = 0;
      for (int k = 0; k < n; k++) {
        if (c[k].gap > 0) continue; /* an end that hangs over */
        assert_near(c[k].gap, -1e-10, 1e-14);
        assert_near(c[k].normal.z, -1, 1e-12);
        c[touching++] = c[k];
      }
      assert_true(touching >= 2);
      span(c, touching, axis, &from, &to);
      assert_near(from - axis.y * y, low, 1e-8);
      assert_near(to - axis.y * y, high, 1e-8);
    }
}

/* Parallel capsules touch at the ends of their overlap, crossed ones in one point. */
static void test_capsule_on_capsule(void **unused) {
  (void)unused;
  const double shifts[] = {0, 0.3, -0.9, 1.2};
  for (int i = 0; i < YAWS; i++)
    for (int j = 0; j < 4; j++) {
      const ss_shape a = capsule_shape(0.1, 1), b = capsule_shape(0.2, 2);
      const ss_pose frame = random_pose(1), pb = pose_identity(), pa = {v3(shifts[j], 0, 0.3), yawed(yaws[i])};
      ss_contact_point c[SS_PAIR_CONTACTS];
      const int n = contacts_in(&frame, &a, &pa, &b, &pb, c);
      double from, to;
      span(c, n, v3(1, 0, 0), &from, &to);
      if (fabs(yaws[i]) <= 1e-3) {
        assert_true(n == 2 || n == 3);
        assert_near(from, fmax(shifts[j] - 0.5, -1), 1e-3);
        assert_near(to, fmin(shifts[j] + 0.5, 1), 1e-3);
      } else if (fabs(shifts[j]) < 1 && fabs(yaws[i]) >= 0.2) {
        assert_near(c[0].point_b.x, shifts[j], 1e-12);
        assert_near(c[0].gap, 0, 1e-15);
        for (int k = 1; k < n; k++) assert_true(c[k].gap > 1e-4);
      }
      for (int k = 0; k < n && fabs(yaws[i]) < 1e-8; k++) assert_near(c[k].gap, 0, 1e-15);
    }
}

/* ---- on the ground ---- */

static void test_on_half_space(void **unused) {
  (void)unused;
  ss_shape_def d = shape_definition(SS_SHAPE_HALF_SPACE);
  d.normal = v3(0, 2, 0);
  d.offset = 0.25;
  const ss_shape ground = compiled(&d), box = box_shape(1, 0.5, 2), capsule = capsule_shape(0.125, 3);
  ss_contact_point c[SS_PAIR_CONTACTS];
  const ss_pose on = {v3(3, 0.5, -7), quat_identity()};
  assert_int_equal(pair_of(&ground, &box)->collide(&ground, &ground.local, &box, &on, 1e-9, c), 4);
  for (int i = 0; i < 4; i++) {
    assert_true(c[i].gap == 0 && c[i].normal.x == 0 && c[i].normal.y == -1 && c[i].normal.z == 0);
    assert_true(c[i].point_b.y == 0.25 && fabs(c[i].point_b.x - 3) == 0.5 && fabs(c[i].point_b.z + 7) == 1);
  }
  const ss_pose lying = {v3(3, 0.375, -7), quat_identity()};
  assert_int_equal(pair_of(&ground, &capsule)->collide(&ground, &ground.local, &capsule, &lying, 1e-9, c), 2);
  assert_true(c[0].gap == 0 && c[1].gap == 0 && c[0].point_b.x == 1.5 && c[1].point_b.x == 4.5);
}

/* ---- more touching points than a pair has room for ---- */

enum { SIDES = 100 };

static ss_shape prism(int sides, double radius, double half) {
  ss_vec3 points[2 * SIDES];
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  for (int i = 0; i < 2 * sides; i++) {
    const double angle = 2 * 3.14159265358979323846 * (i / 2) / sides;
    points[i] = v3(radius * cos(angle), radius * sin(angle), i % 2 ? half : -half);
  }
  d.points = points;
  d.n_points = 2 * sides;
  return compiled(&d);
}

/* Area of the touching points as seen from above; their gaps and normals are right. */
static double support_area(const ss_shape *upper, const ss_pose *pu, const ss_shape *lower, const ss_pose *pl) {
  bool swapped;
  const ss_pair *pair = ss_pair_find(upper->type, lower->type, &swapped);
  ss_contact_point c[SS_PAIR_CONTACTS];
  point2 p[SS_PAIR_CONTACTS];
  const int n = swapped ? pair->collide(lower, pl, upper, pu, 1e-3, c) : pair->collide(upper, pu, lower, pl, 1e-3, c);
  int touching = 0;
  for (int i = 0; i < n; i++) {
    if (c[i].gap > 1e-9) continue;
    assert_near(c[i].gap, 0, 1e-12);
    assert_near(c[i].normal.z, swapped ? -1 : 1, 1e-9);
    p[touching++] = (point2){c[i].point_b.x, c[i].point_b.y};
  }
  return hull_area(p, touching);
}

static void test_many_corners(void **unused) {
  (void)unused;
  const ss_shape plane =
      compiled(&(ss_shape_def){.type = SS_SHAPE_HALF_SPACE, .pose = pose_identity(), .normal = {0, 0, 1}});
  const ss_shape slab = box_shape(4, 4, 2), lower = prism(SIDES, 1, 1);
  const double heights[9] = {0};
  ss_shape_def d = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  d.heights = heights;
  d.rows = d.columns = 3;
  const ss_shape field = compiled(&d);
  const struct {
    const ss_shape *shape;
    double top;
  } below[] = {{&plane, 0}, {&slab, 1}, {&lower, 1}, {&field, 0}};
  const int sides[] = {12, 24, 40, SIDES};
  for (int i = 0; i < 4; i++)
    for (size_t j = 0; j < sizeof below / sizeof *below; j++)
      for (int k = 0; k < 3; k++) {
        const ss_shape upper = prism(sides[i], 0.5, 0.25);
        const ss_pose place = pose_identity(), on = {v3(0.1 * k, 0, below[j].top + 0.25), yawed(0.3 * k)};
        const double area = sides[i] * 0.125 * sin(2 * 3.14159265358979323846 / sides[i]);
        const double found = support_area(&upper, &on, below[j].shape, &place);
        assert_true(found <= area * (1 + 1e-9) && found >= (sides[i] <= SS_PAIR_CONTACTS ? 1 - 1e-9 : 0.94) * area);
      }
}

/* A box on a field of equal peaks, hollow between them: those below its rim must be among the contacts. */
static void test_many_peaks(void **unused) {
  (void)unused;
  enum { PEAKS = 12, GRID = 2 * PEAKS + 1 };
  double heights[GRID * GRID];
  for (int i = 0; i < GRID * GRID; i++) heights[i] = i / GRID % 2 && i % GRID % 2 ? 0 : -0.1;
  ss_shape_def d = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  d.heights = heights;
  d.rows = d.columns = GRID;
  d.spacing = v3(0.1, 0.1, 0);
  const ss_shape field = compiled(&d),
                 box = box_shape(2.05, 2.05, 0.5); /* peaks at +-0.1 ... +-1.1: ten by ten below */
  const ss_pose place = pose_identity(), on = {v3(0, 0, 0.25), quat_identity()};
  assert_true(support_area(&box, &on, &field, &place) >= 0.9 * 1.8 * 1.8);
}

/* Contacts of other normals, and the deepest one, stay whatever there is besides; the others span what they can. */
static void test_contacts_replaced(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 50; trial++) {
    const ss_vec3 center = random_vector(3);
    const ss_quat turn = random_rotation();
    const int deepest = (int)uniform(0, 199.9), walls = 4;
    ss_contact_point kept[SS_PAIR_CONTACTS];
    int n = 0;
    for (int i = 0; i < 200 + walls; i++) {
      const bool wall = trial % 2 ? i < walls : i >= 200;
      const int k = trial % 2 ? i - walls : i;
      const double angle = 2.399963229728653 * k, radius = k % 3 ? 1 : uniform(0, 1); /* a rim, and some inside */
      const ss_vec3 place = wall ? v3(0.9, 0.01 * i, 0) : v3(radius * cos(angle), radius * sin(angle), 0);
      const ss_vec3 normal = wall ? v3(1, 0, 0) : v3(0, 0, 1);
      const ss_contact_point c = {.gap = !wall && k == deepest ? -0.01 : 0,
                                  .normal = quat_rotate(turn, normal),
                                  .point_b = v3_add(center, quat_rotate(turn, place)),
                                  .feature = wall ? 1000 : (uint32_t)k};
      n = contact_add(kept, n, &c, 0);
    }
    assert_int_equal(n, SS_PAIR_CONTACTS);
    point2 p[SS_PAIR_CONTACTS];
    int sides = 0, on_floor = 0;
    bool has_deepest = false;
    for (int i = 0; i < n; i++) {
      has_deepest |= kept[i].feature == (uint32_t)deepest;
      if (kept[i].feature == 1000) {
        sides++;
        continue;
      }
      const ss_vec3 local = quat_rotate(quat_conjugate(turn), v3_sub(kept[i].point_b, center));
      p[on_floor++] = (point2){local.x, local.y};
    }
    assert_true(has_deepest);
    assert_int_equal(sides, walls);
    assert_true(hull_area(p, on_floor) > 0.93 * 3.14159265358979);
  }
}

/* Rounding decides whether boxes that touch are apart; a search without reach must not take them for deep in each other. */
static void test_touching_without_reach(void **unused) {
  (void)unused;
  const ss_shape a = box_shape(0.8, 0.6, 0.4), b = box_shape(0.3, 0.6, 0.4);
  const ss_quat upright = quat_exp(v3(0, 1.57079632679489661923, 0));
  for (int i = 0; i < 20000; i++) {
    const ss_pose pa = {v3(0, 0, 0.5 * (1 + uniform(-3e-16, 3e-16))), yawed(uniform(-3, 3))};
    const ss_pose pb = {v3(0, 0, 0.15 * (1 + uniform(-3e-16, 3e-16))), quat_multiply(yawed(uniform(-3, 3)), upright)};
    ss_contact_point c[SS_PAIR_CONTACTS];
    const bool swap = i % 2;
    const int n =
        swap ? pair_of(&b, &a)->collide(&b, &pb, &a, &pa, 0, c) : pair_of(&a, &b)->collide(&a, &pa, &b, &pb, 0, c);
    for (int k = 0; k < n; k++) {
      assert_near(c[k].gap, 0, 1e-15);
      assert_near(c[k].normal.z, swap ? -1 : 1, 1e-9);
    }
  }
}

/* ---- edges and corners of meshes ---- */

static ss_shape mesh_shape(const ss_vec3 *points, int n_points, const int *triangles, int n_triangles) {
  ss_shape_def d = shape_definition(SS_SHAPE_MESH);
  d.points = points;
  d.n_points = n_points;
  d.triangles = triangles;
  d.n_triangles = n_triangles;
  return compiled(&d);
}

/* The contact with the least gap. */
static ss_contact_point nearest_on(const ss_shape *upper, const ss_pose *pose, const ss_shape *mesh) {
  ss_contact_point c[SS_PAIR_CONTACTS];
  const int n = pair_of(upper, mesh)->collide(upper, pose, mesh, &mesh->local, 0.01, c);
  assert_true(n > 0);
  int best = 0;
  for (int i = 1; i < n; i++)
    if (c[i].gap < c[best].gap) best = i;
  return c[best];
}

/* Anywhere along the ridge of a roof, whose middle is not the mesh's: a box across touches it, and so does a capsule. */
static void test_ridge(void **unused) {
  (void)unused;
  const ss_shape capsule = capsule_shape(0.1, 1);
  for (int mirrored = 0; mirrored < 2; mirrored++)
    for (int end = 0; end < 3; end++) {
      const double sign = mirrored ? -1 : 1, low = -3 + end, high = 1 + 3 * end;
      const ss_vec3 points[] = {{sign * low, 0, 0},     {sign * high, 0, 0},    {sign * low, 1, -0.5},
                                {sign * high, 1, -0.5}, {sign * low, -1, -0.5}, {sign * high, -1, -0.5}};
      const int left[] = {0, 1, 3, 0, 3, 2, 0, 4, 5, 0, 5, 1}, right[] = {0, 3, 1, 0, 2, 3, 0, 5, 4, 0, 1, 5};
      const ss_shape roof = mesh_shape(points, 6, mirrored ? right : left, 4);
      for (double x = low + 0.2; x < high - 0.1; x += 0.3) {
        const ss_shape box = box_shape(0.2, 0.5, 0.2);
        const ss_pose on = {v3(sign * x, 0.1, 0.1), yawed(0.3)}, across = {v3(sign * x, 0.1, 0.1), yawed(1.4)};
        const ss_contact_point of_box = nearest_on(&box, &on, &roof), of_capsule = nearest_on(&capsule, &across, &roof);
        assert_near(of_box.gap, 0, 1e-12);
        assert_near(of_box.normal.z, 1, 1e-9);
        assert_near(of_capsule.gap, 0, 1e-12);
        assert_near3(of_capsule.point_b, v3(of_capsule.point_b.x, 0, 0), 1e-12);
      }
    }
}

/* The tip of a single triangle under the face of a box. */
static void test_tip(void **unused) {
  (void)unused;
  const ss_vec3 points[] = {{0, 0, 0}, {-1, 0.5, -0.5}, {-1, -0.5, -0.5}};
  const int triangle[] = {0, 1, 2};
  const ss_shape tip = mesh_shape(points, 3, triangle, 1), box = box_shape(2, 2, 1);
  for (int i = 0; i < YAWS; i++) {
    const ss_pose on = {v3(0.3, 0.2, 0.5 - 1e-4), yawed(yaws[i])};
    const ss_contact_point c = nearest_on(&box, &on, &tip);
    assert_near(c.gap, -1e-4, 1e-12);
    assert_near(c.normal.z, 1, 1e-9);
    assert_near3(c.point_b, v3(0, 0, 0), 1e-9);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_box_on_box),
      cmocka_unit_test(test_box_rocking),
      cmocka_unit_test(test_box_sliding),
      cmocka_unit_test(test_crossing_rate),
      cmocka_unit_test(test_capsule_on_box),
      cmocka_unit_test(test_capsule_on_capsule),
      cmocka_unit_test(test_on_half_space),
      cmocka_unit_test(test_many_corners),
      cmocka_unit_test(test_many_peaks),
      cmocka_unit_test(test_contacts_replaced),
      cmocka_unit_test(test_touching_without_reach),
      cmocka_unit_test(test_ridge),
      cmocka_unit_test(test_tip),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
