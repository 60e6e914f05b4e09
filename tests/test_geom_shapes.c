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
      cmocka_unit_test(test_hull_of_doubles), cmocka_unit_test(test_names),      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_half_space),      cmocka_unit_test(test_exact_axes), cmocka_unit_test(test_bounds),
      cmocka_unit_test(test_few_corners),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
