/* Lines that lie on lines: capsules, cylinders, and edges of boxes, hulls and meshes, parallel to each other. What the two lines have in
 * common must be spanned by the contacts, with the gap and the normal that are known. */
#include "geom_support.h"

/* A shape that touches what is above it, or below it, along a line on the x axis of its frame, as far as `half` to both sides. */
typedef struct bar {
  const char *name;
  ss_shape shape;
  ss_pose pose; /* of the shape in a frame in whose origin the line lies; the rest of it is below */
  double half;
  bool sharp;
} bar;

static const double quarter = 0.78539816339744830962;

static ss_shape prism_along_x(double radius, double length) {
  ss_vec3 points[6];
  for (int i = 0; i < 6; i++) {
    const double angle = 2 * quarter + (i / 2) * 8 * quarter / 3; // NOLINT(bugprone-integer-division): one corner is up
    points[i] = v3(i % 2 ? length / 2 : -length / 2, radius * cos(angle), radius * sin(angle));
  }
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = points, d.n_points = 6;
  return compiled(&d);
}

static bar make_bar(int kind, double length) {
  const double radius = 0.3;
  ss_shape_def d = shape_definition(kind == 0 ? SS_SHAPE_CAPSULE : kind == 1 ? SS_SHAPE_CYLINDER : SS_SHAPE_BOX);
  d.radius = radius, d.length = length, d.size = v3(length, radius, radius);
  bar b = {.pose = {v3(0, 0, -radius), quat_identity()}, .half = length / 2, .sharp = kind >= 2};
  static const char *const names[] = {"capsule", "cylinder", "box", "hull", "mesh"};
  b.name = names[kind];
  if (kind < 3) {
    b.shape = compiled(&d);
    if (kind == 2) b.pose = (ss_pose){v3(0, 0, -radius / sqrt(2)), quat_exp(v3(quarter, 0, 0))};
    return b;
  }
  b.shape = prism_along_x(radius, length);
  b.pose.position = b.shape.local.position;
  b.pose.position.z -= radius;
  b.shape.local = pose_identity();
  if (kind == 4) b.shape = mesh_of_hull(b.shape.hull);
  return b;
}

typedef struct span {
  double least, low, high; /* gap; of the contacts with this gap, along x */
  int n;
} span;

static span look(const bar *upper, const bar *lower, double along, double gap, bool exchange) {
  const ss_pose frame = random_pose(2);
  const ss_pose turned = {v3(along, 0, gap), quat_exp(v3(4 * quarter, 0, 0))}; /* upside down */
  const ss_pose in_frame = pose_compose(&turned, &upper->pose);
  const ss_pose pu = pose_compose(&frame, &in_frame), pl = pose_compose(&frame, &lower->pose);
  bool swapped;
  const ss_pair *pair = ss_pair_find(upper->shape.type, lower->shape.type, &swapped);
  if (exchange && upper->shape.type == lower->shape.type) swapped = !swapped;
  ss_contact_point c[SS_PAIR_CONTACTS];
  const int n = swapped ? pair->collide(&lower->shape, &pl, &upper->shape, &pu, 0.01, c)
                        : pair->collide(&upper->shape, &pu, &lower->shape, &pl, 0.01, c);
  span s = {INFINITY, INFINITY, -INFINITY, n};
  for (int i = 0; i < n; i++) s.least = fmin(s.least, c[i].gap);
  for (int i = 0; i < n; i++) {
    if (c[i].gap > s.least + 1e-9) continue;
    const ss_vec3 up = quat_rotate(quat_conjugate(frame.orientation), v3_scale(swapped ? -1 : 1, c[i].normal));
    const ss_vec3 a = pose_local(&frame, c[i].point_a), b = pose_local(&frame, c[i].point_b);
    assert_near3(v3_sub(a, b), v3_scale(swapped ? -c[i].gap : c[i].gap, up), 1e-9);
    if (!(upper->sharp && lower->sharp)) {
      assert_near3(up, v3(0, 0, 1), 1e-7);
      assert_near3(v3(0, a.y, b.y), v3(0, 0, 0), 1e-6);
    }
    s.low = fmin(s.low, a.x), s.high = fmax(s.high, a.x);
    for (int k = 0; k < i; k++) { /* none is there twice */
      assert_true(c[k].feature != c[i].feature);
      assert_true(v3_norm(v3_sub(c[k].point_a, c[i].point_a)) > 1e-9 || v3_dot(c[k].normal, c[i].normal) < 1 - 1e-9);
    }
  }
  return s;
}

static void test_lines_are_spanned(void **unused) {
  (void)unused;
  static const double lengths[] = {0.25, 1, 1.75};
  static const double gaps[] = {0, 1e-3, -1e-9, -1e-6};
  int failed = 0, tried = 0;
  for (int u = 0; u < 4; u++)
    for (int l = 0; l < 5; l++)
      for (int k = 0; k < 9; k++) {
        const bar upper = make_bar(u, lengths[k % 3]), lower = make_bar(l, lengths[k / 3]);
        const double out = upper.half + lower.half, in = lower.half - upper.half;
        const double places[] = {0, 0.3 * in, in, -in, in + 0.1, 0.5 * (in + out), 0.9 * out, -0.9 * out};
        for (int p = 0; p < 8; p++)
          for (int g = 0; g < 4; g++) {
            const double x = places[p], low = fmax(-lower.half, x - upper.half),
                         high = fmin(lower.half, x + upper.half);
            if (high - low < 1e-3) continue;
            if (upper.sharp && lower.sharp && gaps[g] <= 0) continue; /* the way out of each other is to the side */
            const span s = look(&upper, &lower, x, gaps[g], (p + g) % 2);
            tried++;
            const bool sound = fabs(s.least - gaps[g]) <= 1e-9 && s.low <= low + 1e-6 && s.high >= high - 1e-6 &&
                               s.low >= low - 1e-6 && s.high <= high + 1e-6;
            if (!sound && ++failed <= 40)
              print_error("%s (%g) on %s (%g) at %g, gap %g: %d contacts, gap %g, from %g to %g, not %g to %g\n",
                          upper.name, 2 * upper.half, lower.name, 2 * lower.half, x, gaps[g], s.n, s.least, s.low,
                          s.high, low, high);
          }
      }
  print_message("%d positions\n", tried);
  assert_int_equal(failed, 0);
}

/* A line on a face that ends at the face's border, at any angle to it: whether the end is over the face or beside it by a little, it is
 * pushed upright, or it would roll away. */
static void test_ends_at_borders(void **unused) {
  (void)unused;
  static const double beyond[] = {0, 1e-15, 1e-13, 1e-11, 1e-10, 4.4e-10, 1e-9, 3e-9, 1e-8, 1e-7, 1e-6};
  static const double wide = 0.1, top = 0.05;
  const ss_vec3 trapezium[8] = {{-1, -1, -top}, {1, -1, -top}, {-1, 1 - wide, -top}, {1, 1 + wide, -top},
                                {-1, -1, top},  {1, -1, top},  {-1, 1 - wide, top},  {1, 1 + wide, top}};
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = trapezium, d.n_points = 8;
  const ss_shape hull = compiled(&d), mesh = mesh_of_hull(hull.hull), box = box_shape(2, 2, 2 * top);
  for (int kind = 0; kind < 6; kind++)
    for (int i = 0; i < 220; i++) {
      const ss_shape *lower = kind % 3 == 0 ? &box : kind % 3 == 1 ? &hull : &mesh;
      const double yaw = uniform(-0.4, 0.4), at = uniform(-0.3, 0.3), out = (i % 2 ? -1 : 1) * beyond[i / 2 % 11],
                   half = 0.2;
      const double y = (lower == &box ? 1 : 1 + wide * at) + out - half * cos(yaw);
      ss_shape_def line = shape_definition(kind < 3 ? SS_SHAPE_CAPSULE : SS_SHAPE_CYLINDER);
      line.radius = 0.1, line.length = 2 * half;
      const ss_shape upper = compiled(&line);
      const ss_vec3 centroid = lower == &box ? v3(0, 0, 0) : hull.local.position; /* of the corners as given */
      const ss_pose frame = i < 4 ? pose_identity() : random_pose(1), pl = {centroid, quat_identity()},
                    pu = {v3(at + half * sin(yaw), y, top + 0.1), quat_exp(v3(0, 0, 2 * quarter + yaw))};
      const ss_pose wu = pose_compose(&frame, &pu), wl = pose_compose(&frame, &pl);
      bool swapped;
      const ss_pair *pair = ss_pair_find(upper.type, lower->type, &swapped);
      ss_contact_point c[SS_PAIR_CONTACTS];
      const int n =
          swapped ? pair->collide(lower, &wl, &upper, &wu, 1e-3, c) : pair->collide(&upper, &wu, lower, &wl, 1e-3, c);
      int ends = 0;
      for (int k = 0; k < n; k++) {
        if (c[k].gap > 1e-9) continue;
        const ss_vec3 up = quat_rotate(quat_conjugate(frame.orientation), c[k].normal),
                      p = pose_local(&frame, c[k].point_b);
        ends += fabs(p.x - at) < 1e-5;
        assert_near(hypot(up.x, up.y), 0, 1e-12);
      }
      assert_true(ends >= 1);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines_are_spanned), cmocka_unit_test(test_ends_at_borders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
