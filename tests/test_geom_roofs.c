/* Two planes of a mesh that meet in a ridge or a valley, from nearly one plane (1e-7 of the size) to steep ones, under every convex shape: the
 * distance is that of the widest slab across the normals that the ridge has, or of the nearer plane of the valley. */
#include "geom_support.h"

/* z = -slope |y| (a valley: slope < 0), as far as 20 to all sides; the ridge goes through the origin along x, at no corner of the mesh. */
static ss_shape roof(double slope, bool turned) {
  const ss_vec3 points[6] = {{-20, -20, -20 * slope}, {-20, 0, 0}, {-20, 20, -20 * slope},
                             {17, -20, -20 * slope},  {17, 0, 0},  {17, 20, -20 * slope}};
  const int triangles[2][12] = {{0, 3, 4, 0, 4, 1, 1, 4, 5, 1, 5, 2}, {5, 2, 1, 5, 1, 4, 4, 1, 0, 4, 0, 3}};
  ss_shape_def d = shape_definition(SS_SHAPE_MESH);
  d.points = points, d.n_points = 6, d.triangles = triangles[turned], d.n_triangles = 4;
  return compiled(&d);
}

/* A part of a ball with many corners. */
static ss_shape many_corners(void) {
  ss_vec3 points[120];
  for (int i = 0; i < 120; i++) points[i] = v3_scale(0.4, random_direction());
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = points, d.n_points = 120;
  for (int i = 0; i < 120; i++) points[i] = v3_scale(0.4 / v3_norm(points[i]), points[i]);
  return compiled(&d);
}

/* Of the shape and everything below the plane through the ridge with the normal at this angle. */
static double slab_at(const ss_shape *s, const ss_pose *p, double angle) {
  return -support(s, p, v3(0, -sin(angle), -cos(angle)));
}

/* The distance: along the arc of normals slabs that are apart have one maximum. */
static double distance_from_roof(const ss_shape *s, const ss_pose *p, double slope) {
  const double most = atan(slope);
  if (slope < 0) return fmin(slab_at(s, p, most), slab_at(s, p, -most));
  static const double golden = 0.61803398874989485;
  double low = -most, high = most;
  for (int k = 0; k < 90; k++) {
    const double left = high - golden * (high - low), right = low + golden * (high - low);
    if (slab_at(s, p, left) > slab_at(s, p, right))
      high = right;
    else
      low = left;
  }
  return fmax(slab_at(s, p, (low + high) / 2), fmax(slab_at(s, p, most), slab_at(s, p, -most)));
}

static void test_roofs(void **unused) {
  (void)unused;
  static const ss_shape_type guests[] = {SS_SHAPE_POINT,   SS_SHAPE_SPHERE,    SS_SHAPE_BOX,     SS_SHAPE_CONVEX,
                                         SS_SHAPE_CAPSULE, SS_SHAPE_ELLIPSOID, SS_SHAPE_CYLINDER};
  enum { GUESTS = sizeof guests / sizeof *guests, TRIALS = 3000 };
  int failed = 0, ridges = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    const double slope = (trial % 3 ? 1 : -1) * pow(10, uniform(-6, 0.2));
    const ss_shape ground = roof(slope, trial % 2),
                   guest = trial % 50 == 3 ? many_corners() : random_shape(guests[trial % GUESTS]);
    ss_pose p = random_pose(0);
    if (trial % 5 == 0) p.orientation = quat_exp(v3(0, 0, trial % 2 * 1.57079632679489661923)); /* aligned */
    p.position = v3(uniform(-1, 1), trial % 4 ? uniform(-1, 1) * fmin(1, fabs(slope)) : 0, 0);
    const double gap = trial % 4 == 1 ? 1e-4 : uniform(0.001, 0.15);
    for (int k = 0; k < 20; k++) p.position.z += gap - distance_from_roof(&guest, &p, slope);
    const double distance = distance_from_roof(&guest, &p, slope);
    const ss_pose frame = random_pose(1), at = pose_compose(&frame, &p);
    bool swapped;
    ss_contact_point c[SS_PAIR_CONTACTS];
    const int n = ss_pair_find(guest.type, SS_SHAPE_MESH, &swapped)->collide(&guest, &at, &ground, &frame, 0.2, c);
    double least = INFINITY;
    for (int i = 0; i < n; i++) {
      least = fmin(least, c[i].gap);
      const ss_vec3 up = quat_rotate(quat_conjugate(frame.orientation), c[i].normal);
      ridges += fabs(up.y) < 0.99 * sin(atan(fabs(slope)));
    }
    if (!(fabs(least - distance) <= 1e-9) && ++failed <= 20)
      print_error("shape %d over a slope of %g: gap %.12g, not %.12g\n", (int)guest.type, slope, least, distance);
  }
  assert_int_equal(failed, 0);
  assert_true(ridges > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_roofs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
