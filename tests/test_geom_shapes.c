/* Shape definitions: what they compile to, what they are refused for, and bounds. */
#include "geom_support.h"

static void test_names(void **unused) {
  (void)unused;
  const char *expected[] = {"point",     "sphere",  "half-space", "box",  "convex",      "capsule",
                            "ellipsoid", "ellipse", "cylinder",   "mesh", "height-field"};
  const ss_table_row *rows = ss_table_shapes();
  for (int i = 0; i < SS_SHAPE_TYPES; i++) {
    assert_string_equal(rows[i].name, expected[i]);
    assert_true(strlen(rows[i].summary) > 0);
  }
  assert_null(rows[SS_SHAPE_TYPES].name);
}

static void refused(const ss_shape_def *given, const char *word) {
  ss_shape_def d = *given;
  d.mark = (ss_mark){12, 7};
  ss_shape shape;
  ss_error error;
  assert_int_equal(ss_shape_compile(geom_arena(), &d, &shape, &error), SS_ERROR_INPUT);
  assert_int_equal(ss_shape_compile(geom_arena(), &d, &shape, NULL), SS_ERROR_INPUT);
  assert_int_equal(error.line, 12);
  assert_int_equal(error.column, 7);
  assert_non_null(strstr(error.message, word));
  assert_non_null(strstr(error.message, "must be"));
}

static void refuse_meshes(void) {
  static const int triangles[3] = {0, 1, 2};
  const double bad[] = {0, -1, (double)NAN, (double)INFINITY};
  for (int i = 0; i < 4; i++) {
    ss_shape_def field = shape_definition(SS_SHAPE_HEIGHT_FIELD);
    field.spacing.x = bad[i];
    refused(&field, "spacing");
    field.spacing = v3(1, bad[i], 0);
    refused(&field, "spacing");
  }
  ss_shape_def mesh = shape_definition(SS_SHAPE_MESH), field = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  mesh.n_triangles = 1;
  refused(&mesh, "triangles"); /* there are none */
  mesh.triangles = triangles;
  mesh.n_triangles = 0;
  refused(&mesh, "triangles");
  mesh.n_triangles = 1;
  mesh.n_points = 2;
  refused(&mesh, "vertices");
  mesh.points = NULL;
  mesh.n_points = 3;
  refused(&mesh, "vertices");
  field.rows = 1;
  refused(&field, "heights");
  field.rows = 2;
  field.columns = 1;
  refused(&field, "heights");
  field.columns = 3;
  field.heights = NULL;
  refused(&field, "heights");
}

static void test_refusals(void **unused) {
  (void)unused;
  const double bad[] = {0, -1, (double)NAN, (double)INFINITY};
  for (int i = 0; i < 4; i++) {
    ss_shape_def sphere = shape_definition(SS_SHAPE_SPHERE), capsule = shape_definition(SS_SHAPE_CAPSULE);
    ss_shape_def box = shape_definition(SS_SHAPE_BOX);
    sphere.radius = capsule.radius = bad[i];
    refused(&sphere, "radius");
    refused(&capsule, "radius");
    box.size.y = bad[i];
    refused(&box, "size");
    capsule = shape_definition(SS_SHAPE_CAPSULE);
    capsule.length = bad[i];
    if (i > 0) refused(&capsule, "length");
    if (i < 2) continue;
    ss_shape_def plane = shape_definition(SS_SHAPE_HALF_SPACE), point = shape_definition(SS_SHAPE_POINT);
    plane.offset = bad[i];
    refused(&plane, "offset");
    plane = shape_definition(SS_SHAPE_HALF_SPACE);
    plane.normal.x = bad[i];
    refused(&plane, "normal");
    point.pose.position.z = bad[i];
    refused(&point, "position");
    point = shape_definition(SS_SHAPE_POINT);
    point.pose.orientation.x = bad[i];
    refused(&point, "orientation");
  }
  ss_shape_def flat = shape_definition(SS_SHAPE_CONVEX), cylinder = shape_definition(SS_SHAPE_CYLINDER);
  flat.n_points = 4; /* one side of the cube */
  refused(&flat, "points");
  flat.n_points = 3;
  refused(&flat, "points");
  cylinder.length = 0;
  refused(&cylinder, "length");
  refuse_meshes();
  ss_shape_def plane = shape_definition(SS_SHAPE_HALF_SPACE), capsule = shape_definition(SS_SHAPE_CAPSULE);
  plane.normal = capsule.axis = v3(0, 0, 0);
  refused(&plane, "normal");
  refused(&capsule, "axis");
  capsule = shape_definition(SS_SHAPE_CAPSULE);
  capsule.pose.orientation = (ss_quat){0, 0, 0, 0};
  refused(&capsule, "orientation");
  plane.type = SS_SHAPE_TYPES;
  refused(&plane, "type");
}

static void refused_with(const ss_shape_def *d, const char *words) {
  ss_shape shape;
  ss_error error = {0};
  assert_int_equal(ss_shape_compile(geom_arena(), d, &shape, &error), SS_ERROR_INPUT);
  if (!strstr(error.message, words)) print_error("%s\n", error.message);
  assert_non_null(strstr(error.message, words));
}

/* Where the message says which of many numbers is wrong, and what the most are. */
static void test_refusals_of_large_ones(void **unused) {
  (void)unused;
  ss_vec3 ball[240], plane[240];
  for (int i = 0; i < 240; i++) {
    const double z = (i + 0.5) / 120 - 1, angle = 2.4 * i;
    ball[i] = v3(sqrt(1 - z * z) * cos(angle), sqrt(1 - z * z) * sin(angle), z);
    plane[i] = v3(ball[i].x, ball[i].y, 0);
  }
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = ball;
  d.n_points = 240;
  refused_with(&d, "the hull of these 240 points has more than 200 corners");
  d.n_points = 201;
  refused_with(&d, "the hull of these 201 points has more than 200 corners");
  d.n_points = 200;
  ss_shape whole = compiled(&d);
  assert_int_equal(whole.hull->n_vertices, 200);
  d.n_points = 240;
  static const int wrong[] = {7, 201, -1, 1}, right[] = {8, 64, 200};
  for (int i = 0; i < 4; i++) {
    d.corners = wrong[i];
    refused_with(&d, "8 to 200");
  }
  for (int i = 0; i < 3; i++) {
    d.corners = right[i];
    const ss_shape shape = compiled(&d);
    assert_true(shape.hull->n_vertices <= right[i] && shape.hull->n_vertices >= right[i] / 2);
    assert_true(shape.reach > 0.9 && shape.reach < 1.2);
  }
  d.corners = 0;
  d.points = plane;
  refused_with(&d, "points that do not lie in one plane");
  static const int corner[][3] = {{0, 1, 8}, {0, -1, 2}, {8, 0, 1}};
  for (int i = 0; i < 3; i++) {
    ss_shape_def mesh = shape_definition(SS_SHAPE_MESH);
    const int triangles[6] = {0, 2, 1, corner[i][0], corner[i][1], corner[i][2]};
    char words[100];
    (void)snprintf(words, sizeof words, "triangle 1 (from 0) has corner %d, but the vertices are 0 to 7",
                   i == 1 ? -1 : 8);
    mesh.triangles = triangles;
    mesh.n_triangles = 2;
    refused_with(&mesh, words);
    mesh.n_triangles = 1;
    (void)compiled(&mesh);
  }
  ss_shape_def field = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  field.rows = field.columns = 1 << 12;
  refused_with(&field, "4096 x 4096 heights are too many");
  for (int i = 0; i < 9; i++) {
    ss_shape_def egg = shape_definition(SS_SHAPE_ELLIPSOID);
    double *axis = i % 3 == 0 ? &egg.semi_axes.x : i % 3 == 1 ? &egg.semi_axes.y : &egg.semi_axes.z;
    *axis = i < 3 ? 0 : i < 6 ? -1 : (double)NAN;
    refused(&egg, "semi_axes");
  }
}

/* How far the surface x.A x = 1 (A diagonal, in the shape's frame) lies below the plane through its point p with normal m, at the
 * offset r in it. */
static double falls_away(const double a[3], ss_vec3 p, ss_vec3 m, ss_vec3 r) {
  const double x[3] = {p.x + r.x, p.y + r.y, p.z + r.z}, n[3] = {m.x, m.y, m.z};
  double two = 0, one = 0, zero = -1; /* (x - t n).A (x - t n) = 1 */
  for (int i = 0; i < 3; i++) two += a[i] * n[i] * n[i], one -= 2 * a[i] * x[i] * n[i], zero += a[i] * x[i] * x[i];
  return 2 * zero / (-one + sqrt(one * one - 4 * two * zero));
}

/* Second fundamental forms: the surface itself at a small offset. */
static void test_curvatures(void **unused) {
  (void)unused;
  static const double size = 1e-4;
  for (int trial = 0; trial < 200; trial++) {
    const ss_pose pose = random_pose(1);
    const ss_vec3 radii = v3(uniform(0.5, 2), uniform(0.5, 2), uniform(0.5, 2));
    const double radius = uniform(0.5, 2);
    const ss_vec3 any = random_direction(), side = v3_normalize(v3(0, any.y, any.z));
    ss_shape_def d = shape_definition(SS_SHAPE_ELLIPSOID);
    d.semi_axes = radii, d.radius = radius;
    for (int kind = 0; kind < 6; kind++) {
      static const ss_shape_type types[] = {SS_SHAPE_ELLIPSOID, SS_SHAPE_SPHERE,   SS_SHAPE_CAPSULE,
                                            SS_SHAPE_CAPSULE,   SS_SHAPE_CYLINDER, SS_SHAPE_CYLINDER};
      d.type = types[kind];
      const ss_shape shape = compiled(&d);
      const double round = 1 / (radius * radius); /* kinds 3 and 5 are met at their ends */
      double a[3] = {round, round, round};
      if (kind == 0) a[0] = 1 / (radii.x * radii.x), a[1] = 1 / (radii.y * radii.y), a[2] = 1 / (radii.z * radii.z);
      if (kind == 2 || kind == 4) a[0] = 0;
      const ss_vec3 m = kind == 2 || kind == 4 ? side : any;
      const ss_vec3 b = v3(m.x * (a[0] > 0 ? 1 / a[0] : 0), m.y / a[1], m.z / a[2]); /* the point with this normal */
      const ss_vec3 p = v3_scale(1 / sqrt(v3_dot(m, b)), b);
      const ss_vec3 r = v3_scale(size, v3_normalize(v3_cross(m, random_direction())));
      const double expected = kind == 5 ? 0 : 2 * falls_away(a, p, m, r);
      const double found =
          ss_shape_curvature(&shape, &pose, quat_rotate(pose.orientation, m), quat_rotate(pose.orientation, r));
      assert_near(found / (size * size), expected / (size * size), 1e-2);
    }
    const ss_shape box = random_shape(SS_SHAPE_BOX);
    assert_true(ss_shape_curvature(&box, &pose, any, v3_cross(any, side)) == 0);
  }
}

/* The plane normal . x = offset of the shape's frame, moved by the shape's pose. */
static void test_half_space(void **unused) {
  (void)unused;
  for (int i = 0; i < 200; i++) {
    ss_shape_def d = shape_definition(SS_SHAPE_HALF_SPACE);
    const ss_vec3 n = random_direction();
    d.normal = v3_scale(uniform(1e-3, 1e3), n);
    d.offset = uniform(-2, 2);
    d.pose = random_pose(1);
    d.pose.orientation = (ss_quat){2 * d.pose.orientation.w, 2 * d.pose.orientation.x, 2 * d.pose.orientation.y,
                                   2 * d.pose.orientation.z};
    const ss_shape shape = compiled(&d);
    const ss_pose pose = {d.pose.position, quat_normalize(d.pose.orientation)};
    assert_near3(quat_rotate(shape.local.orientation, v3(0, 0, 1)), quat_rotate(pose.orientation, n), 1e-14);
    assert_near3(shape.local.position, pose_point(&pose, v3_scale(d.offset, n)), 1e-14);
    assert_true(isinf(shape.reach));
  }
}

/* Axes of the frame come out exactly, for normals and for capsules. */
static void test_exact_axes(void **unused) {
  (void)unused;
  for (int i = 0; i < 6; i++) {
    const double s = i % 2 ? 3 : -3;
    const ss_vec3 axis = v3(i / 2 == 0 ? s : 0, i / 2 == 1 ? s : 0, i / 2 == 2 ? s : 0);
    ss_shape_def plane = shape_definition(SS_SHAPE_HALF_SPACE), capsule = shape_definition(SS_SHAPE_CAPSULE);
    plane.normal = capsule.axis = axis;
    const ss_shape p = compiled(&plane), c = compiled(&capsule);
    assert_near3(quat_rotate(p.local.orientation, v3(0, 0, 3)), axis, 0);
    assert_near3(quat_rotate(c.local.orientation, v3(3, 0, 0)), axis, 0);
  }
  for (int i = 0; i < 200; i++) {
    ss_shape_def capsule = shape_definition(SS_SHAPE_CAPSULE);
    capsule.pose = random_pose(1);
    const ss_vec3 axis = random_direction();
    capsule.axis = v3_scale(1e-200, axis);
    const ss_shape c = compiled(&capsule);
    assert_near3(quat_rotate(c.local.orientation, v3(1, 0, 0)), quat_rotate(capsule.pose.orientation, axis), 1e-14);
  }
}

/* Bounds are the support functions along the world's axes; the bounding sphere holds the shape. */
static void test_bounds(void **unused) {
  (void)unused;
  for (int type = 0; type < SS_SHAPE_TYPES; type++)
    for (int i = 0; i < 100; i++) {
      const ss_shape shape = random_shape((ss_shape_type)type);
      const ss_pose pose = random_pose(3);
      ss_vec3 low, high;
      ss_shape_bounds(&shape, &pose, &low, &high);
      if (type == SS_SHAPE_HALF_SPACE) {
        assert_true(isinf(low.x) && isinf(low.y) && isinf(low.z) && low.x < 0 && isinf(high.x) && high.z > 0);
        continue;
      }
      for (int k = 0; k < 3; k++) {
        const ss_vec3 e = v3(k == 0, k == 1, k == 2);
        const double above = v3_get(high, k) - support(&shape, &pose, e);
        const double below = -support(&shape, &pose, v3_neg(e)) - v3_get(low, k);
        assert_true(above >= -1e-14 && below >= -1e-14);
        if (!shape.mesh) assert_true(above <= 1e-14 && below <= 1e-14); /* meshes: of their own box */
      }
      const ss_vec3 n = random_direction();
      assert_true(support(&shape, &pose, n) <= v3_dot(n, pose.position) + shape.reach + 1e-14);
    }
}

/* Points that are given twice, exactly or but for rounding, are one corner. */
static void test_hull_of_doubles(void **state) {
  (void)state;
  static const double apart[] = {0, 2e-16, 1e-14, 1e-12, 1e-11};
  for (size_t k = 0; k < sizeof apart / sizeof *apart; k++) {
    const double e = apart[k];
    const ss_vec3 points[] = {{0, 0, 0}, {1, 0, 0},      {0, 1, 0}, {0, 0, 1}, {0, 0, 1 + e},
                              {0, e, 1}, {1 + e, -e, e}, {e, e, 0}, {e, 1, e}, {-e, 0, -e}};
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    d.points = points;
    d.n_points = sizeof points / sizeof *points;
    const ss_shape shape = compiled(&d);
    assert_int_equal(shape.hull->n_vertices, 4);
    assert_int_equal(shape.hull->n_faces, 4);
    assert_near(shape.hull->volume, 1.0 / 6, 1e-10);
  }
}

/* A hull of few corners of many keeps the furthest points along the axes: its box is that of all of them. */
static void test_few_corners(void **unused) {
  (void)unused;
  enum { POINTS = 400 };
  static ss_vec3 points[POINTS];
  for (int trial = 0; trial < 40; trial++) {
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    for (int i = 0; i < POINTS; i++) points[i] = v3_scale(uniform(0.2, 1), random_direction());
    d.points = points;
    d.n_points = POINTS;
    d.corners = 12;
    const ss_shape shape = compiled(&d);
    assert_true(shape.hull->n_vertices <= 12);
    for (int k = 0; k < 6; k++) {
      const ss_vec3 e =
          v3(k / 2 == 0 ? 1 - k % 2 * 2 : 0, k / 2 == 1 ? 1 - k % 2 * 2 : 0, k / 2 == 2 ? 1 - k % 2 * 2 : 0);
      double furthest = -INFINITY;
      for (int i = 0; i < POINTS; i++) furthest = fmax(furthest, v3_dot(e, points[i]));
      assert_near(support(&shape, &shape.local, e), furthest, 1e-12);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hull_of_doubles), cmocka_unit_test(test_names),
      cmocka_unit_test(test_refusals),        cmocka_unit_test(test_refusals_of_large_ones),
      cmocka_unit_test(test_curvatures),      cmocka_unit_test(test_half_space),
      cmocka_unit_test(test_exact_axes),      cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_few_corners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
