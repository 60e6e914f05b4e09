/* Volumes and moments of shapes against integrals, and compounds against wholes. */
#include "geom_support.h"

static const double pi = 3.14159265358979323846;

/* R diag(moments) R^T, entry by entry with the columns of R. */
static void assert_principal(const ss_mass_properties *p, ss_quat q, ss_vec3 moments) {
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  const ss_vec3 axes[3] = {quat_rotate(q, v3(1, 0, 0)), quat_rotate(q, v3(0, 1, 0)), quat_rotate(q, v3(0, 0, 1))};
  for (int k = 0; k < 6; k++) {
    double sum = 0;
    for (int i = 0; i < 3; i++) sum += v3_get(moments, i) * v3_get(axes[i], row[k]) * v3_get(axes[i], column[k]);
    assert_near(p->inertia[k], sum, 1e-13 * (moments.x + moments.y + moments.z));
  }
}

/* A body of revolution about x, slice by slice. The square of the radius is a polynomial of degree two in each of the
 * three parts of a capsule, so the integrands have degree four at most: Gauss with three points is exact. */
static void integrate_slices(double radius, double half, double *volume, double *along, double *across) {
  static const double node[3] = {-0.774596669241483377, 0, 0.774596669241483377};
  static const double weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
  const double limits[4] = {-half - radius, -half, half, half + radius};
  *volume = *along = *across = 0;
  for (int part = 0; part < 3; part++)
    for (int i = 0; i < 3; i++) {
      const double scale = (limits[part + 1] - limits[part]) / 2;
      const double x = (limits[part + 1] + limits[part]) / 2 + scale * node[i], w = scale * weight[i];
      const double beyond = fabs(x) > half ? fabs(x) - half : 0, square = radius * radius - beyond * beyond;
      *volume += w * pi * square;
      *along += w * pi * square * square / 2;
      *across += w * pi * (square * square / 4 + square * x * x);
    }
}

static void test_round(void **unused) {
  (void)unused;
  for (int i = 0; i < 100; i++) {
    ss_shape_def d = shape_definition(i % 2 ? SS_SHAPE_CAPSULE : SS_SHAPE_SPHERE);
    d.pose = random_pose(2);
    d.radius = uniform(0.1, 2);
    d.length = i % 10 == 1 ? 0 : uniform(0, 3);
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    double volume, along, across;
    integrate_slices(d.radius, i % 2 ? d.length / 2 : 0, &volume, &along, &across);
    assert_near(p.volume, volume, 1e-13 * volume);
    assert_near(v3_norm(v3_sub(p.centroid, d.pose.position)), 0, 0);
    assert_principal(&p, d.pose.orientation, v3(along, across, across));
  }
}

/* Second moments from the integrals of x^2, y^2, z^2. */
static ss_vec3 principal(const double square[3]) {
  return v3(square[1] + square[2], square[0] + square[2], square[0] + square[1]);
}

/* Ellipsoids slice by slice: ellipses whose axes are those in the middle times sqrt(1 - u^2). Gauss with three points is exact. */
static void test_ellipsoids(void **unused) {
  (void)unused;
  static const double node[3] = {-0.774596669241483377, 0, 0.774596669241483377};
  static const double weight[3] = {5.0 / 9, 8.0 / 9, 5.0 / 9};
  for (int i = 0; i < 50; i++) {
    ss_shape_def d = shape_definition(SS_SHAPE_ELLIPSOID);
    const double a = uniform(0.1, 2), b = uniform(0.1, 2), c = uniform(0.1, 2);
    d.pose = random_pose(2);
    d.semi_axes = v3(a, b, c);
    double volume = 0, square[3] = {0};
    for (int k = 0; k < 3; k++) {
      const double u = node[k], left = 1 - u * u, slice = a * weight[k] * pi * b * c * left;
      volume += slice;
      square[0] += slice * a * a * u * u;
      square[1] += slice * b * b * left / 4;
      square[2] += slice * c * c * left / 4;
    }
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    assert_near(p.volume, volume, 1e-13 * volume);
    assert_near(v3_norm(v3_sub(p.centroid, d.pose.position)), 0, 0);
    assert_principal(&p, d.pose.orientation, principal(square));
  }
}

/* Discs of depth 1 across their plane, whichever that is; cylinders: round ones of their own depth. */
static void test_discs(void **unused) {
  (void)unused;
  for (int i = 0; i < 60; i++) {
    const double a = uniform(0.1, 2), b = uniform(0.1, 2), length = uniform(0.1, 3);
    const int plane = i % 3, next = (plane + 1) % 3, last = (plane + 2) % 3;
    ss_shape_def d = shape_definition(i % 2 ? SS_SHAPE_ELLIPSE : SS_SHAPE_CYLINDER);
    double semi[3] = {0}, square[3];
    semi[next] = a, semi[last] = b;
    d.semi_axes = v3(semi[0], semi[1], semi[2]);
    d.radius = a, d.length = length;
    d.pose = random_pose(2);
    const bool round = i % 2 == 0;
    const int along = round ? 0 : plane, one = round ? 1 : next, other = round ? 2 : last;
    const double deep = round ? length : 1, second = round ? a : b, volume = pi * a * second * deep;
    square[along] = volume * deep * deep / 12;
    square[one] = volume * a * a / 4;
    square[other] = volume * second * second / 4;
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    assert_near(p.volume, volume, 1e-13 * volume);
    assert_principal(&p, d.pose.orientation, principal(square));
  }
}

static void test_box(void **unused) {
  (void)unused;
  for (int i = 0; i < 100; i++) {
    ss_shape_def d = shape_definition(SS_SHAPE_BOX);
    d.pose = random_pose(2);
    d.size = v3(uniform(0.1, 2), uniform(0.1, 2), uniform(0.1, 2));
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    const double x = d.size.x, y = d.size.y, z = d.size.z, volume = x * y * z;
    assert_near(p.volume, volume, 1e-14 * volume);
    assert_principal(&p, d.pose.orientation,
                     v3(volume * (y * y + z * z) / 12, volume * (x * x + z * z) / 12, volume * (x * x + y * y) / 12));
  }
}

/* The whole tensor, by throwing points: catches axes and signs that the formulas above might share. */
static void test_monte_carlo(void **unused) {
  (void)unused;
  const ss_shape_type types[] = {SS_SHAPE_SPHERE, SS_SHAPE_BOX, SS_SHAPE_CAPSULE, SS_SHAPE_CYLINDER, SS_SHAPE_CONVEX};
  const ss_vec3 wedge[6] = {{0, 0, 0}, {1, 0.2, 0}, {0.1, 0.9, -0.1}, {0.2, 0.1, 1}, {0.3, 0.3, 0.3}, {0.8, 0.7, 0.6}};
  for (int k = 0; k < 5; k++) {
    ss_shape_def d = shape_definition(types[k]);
    if (types[k] == SS_SHAPE_CONVEX) d.points = wedge, d.n_points = 6; /* one of them is inside */
    d.pose = random_pose(1);
    d.radius = 0.4;
    d.length = 1.5;
    d.size = v3(0.5, 1, 2);
    d.axis = random_direction();
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    enum { SAMPLES = 400000 };
    const double side = shape.reach;
    double sum[7] = {0};
    for (int i = 0; i < SAMPLES; i++) {
      const ss_vec3 r = random_vector(side), x = v3_add(p.centroid, r);
      if (v3_norm(v3_sub(project(&shape, &shape.local, x), x)) > 1e-12) continue;
      const double terms[7] = {
          1, r.y * r.y + r.z * r.z, r.x * r.x + r.z * r.z, r.x * r.x + r.y * r.y, -r.x * r.y, -r.x * r.z, -r.y * r.z};
      for (int j = 0; j < 7; j++) sum[j] += terms[j] * 8 * side * side * side / SAMPLES;
    }
    assert_near(sum[0], p.volume, 0.02 * p.volume);
    for (int j = 0; j < 6; j++) assert_near(sum[j + 1], p.inertia[j], 0.02 * p.volume);
  }
}

/* The hull of a box's corners, and of some points on its surface, is the box. */
static void test_hull_of_box(void **unused) {
  (void)unused;
  ss_shape_def box = shape_definition(SS_SHAPE_BOX), hull = shape_definition(SS_SHAPE_CONVEX);
  box.size = v3(0.7, 1.1, 0.4);
  ss_vec3 points[30];
  for (int i = 0; i < 30; i++) {
    const ss_vec3 r = random_vector(0.5);
    const double corner[3] = {i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5};
    const double x[3] = {i < 8 ? corner[0] : r.x, i < 8 ? corner[1] : r.y, i < 8 ? corner[2] : i & 1 ? 0.5 : r.z};
    points[i] = v3(x[0] * box.size.x, x[1] * box.size.y, x[2] * box.size.z);
  }
  hull.points = points;
  hull.n_points = 30;
  box.pose = hull.pose = random_pose(1);
  const ss_shape a = compiled(&box), b = compiled(&hull);
  assert_int_equal(b.hull->n_vertices, 8);
  assert_int_equal(b.hull->n_faces, 6);
  assert_int_equal(b.hull->n_edges, 12);
  const ss_mass_properties p = ss_shape_mass(&a), q = ss_shape_mass(&b);
  assert_near(q.volume, p.volume, 1e-14);
  assert_near3(q.centroid, p.centroid, 1e-14);
  for (int j = 0; j < 6; j++) assert_near(q.inertia[j], p.inertia[j], 1e-14);
}

/* Two halves of a box, by the parallel-axis theorem, are the box. */
static void test_parallel_axis(void **unused) {
  (void)unused;
  ss_shape_def whole = shape_definition(SS_SHAPE_BOX), half = whole;
  whole.pose = random_pose(1);
  whole.size = v3(1.2, 0.7, 0.4);
  half.size = v3(0.6, 0.7, 0.4);
  const ss_shape shape = compiled(&whole);
  const ss_mass_properties p = ss_shape_mass(&shape);
  double volume = 0, inertia[6] = {0};
  for (int i = -1; i <= 1; i += 2) {
    half.pose = (ss_pose){pose_point(&whole.pose, v3(0.3 * i, 0, 0)), whole.pose.orientation};
    const ss_shape part = compiled(&half);
    const ss_mass_properties h = ss_shape_mass(&part);
    const ss_vec3 r = v3_sub(h.centroid, p.centroid);
    const double shift[6] = {
        r.y * r.y + r.z * r.z, r.x * r.x + r.z * r.z, r.x * r.x + r.y * r.y, -r.x * r.y, -r.x * r.z, -r.y * r.z};
    volume += h.volume;
    for (int j = 0; j < 6; j++) inertia[j] += h.inertia[j] + h.volume * shift[j];
  }
  assert_near(volume, p.volume, 1e-15);
  for (int j = 0; j < 6; j++) assert_near(inertia[j], p.inertia[j], 1e-15);
}

/* The whole tensor of tetrahedra: the integral of r_i r_j about the centroid is V/20 times the sum over the corners. */
static void test_tetrahedra(void **unused) {
  (void)unused;
  for (int k = 0; k < 20; k++) {
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    ss_vec3 corner[4], centroid = v3(0, 0, 0);
    for (int i = 0; i < 4; i++) {
      corner[i] = v3_axpy(random_vector(0.5), 1, v3(i == 1, i == 2, i == 3));
      centroid = v3_axpy(centroid, 0.25, corner[i]);
    }
    const ss_vec3 u = v3_sub(corner[1], corner[0]), v = v3_sub(corner[2], corner[0]), w = v3_sub(corner[3], corner[0]);
    const double volume = fabs(v3_dot(u, v3_cross(v, w))) / 6;
    if (volume < 0.01) continue;
    d.points = corner;
    d.n_points = 4;
    if (k % 2) d.pose = random_pose(1);
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    double expected[6] = {0};
    for (int i = 0; i < 4; i++) {
      const ss_vec3 r = quat_rotate(d.pose.orientation, v3_sub(corner[i], centroid));
      const double terms[6] = {
          r.y * r.y + r.z * r.z, r.x * r.x + r.z * r.z, r.x * r.x + r.y * r.y, -r.x * r.y, -r.x * r.z, -r.y * r.z};
      for (int j = 0; j < 6; j++) expected[j] += volume / 20 * terms[j];
    }
    assert_near(p.volume, volume, 1e-14);
    assert_near3(p.centroid, pose_point(&d.pose, centroid), 1e-14);
    for (int j = 0; j < 6; j++) assert_near(p.inertia[j], expected[j], 1e-14);
  }
}

static void test_nothing(void **unused) {
  (void)unused;
  const ss_shape_type types[] = {SS_SHAPE_POINT, SS_SHAPE_HALF_SPACE};
  for (int k = 0; k < 2; k++) {
    ss_shape_def d = shape_definition(types[k]);
    d.pose = random_pose(1);
    const ss_shape shape = compiled(&d);
    const ss_mass_properties p = ss_shape_mass(&shape);
    assert_true(p.volume == 0);
    for (int j = 0; j < 6; j++) assert_true(p.inertia[j] == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round),   cmocka_unit_test(test_ellipsoids),  cmocka_unit_test(test_discs),
      cmocka_unit_test(test_box),     cmocka_unit_test(test_monte_carlo), cmocka_unit_test(test_parallel_axis),
      cmocka_unit_test(test_nothing), cmocka_unit_test(test_hull_of_box), cmocka_unit_test(test_tetrahedra),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
