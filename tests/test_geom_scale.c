/* Shapes know no unit of length: everything larger or smaller by a power of two has the same contacts, larger or smaller by as much, to the
 * last bit but for the radius of a search. */
#include "geom_support.h"

enum { POINTS = 12 };

/* A definition that can be made in any size. */
typedef struct definition {
  ss_shape_def d;
  ss_vec3 points[POINTS];
} definition;

static double eighths(double low, double high) { return floor(8 * uniform(low, high)) / 8; }

/* aligned: all sizes are multiples of 1/8, so that sides of two shapes may lie in one plane. */
static definition random_definition(ss_shape_type type, bool aligned) {
  double (*some)(double, double) = aligned ? eighths : uniform;
  definition x = {.d = shape_definition(type)};
  x.d.radius = some(0.125, 0.75);
  x.d.length = some(0.25, 2);
  x.d.size = v3(some(0.25, 2), some(0.25, 2), some(0.25, 2));
  if (type == SS_SHAPE_ELLIPSOID) x.d.semi_axes = v3_scale(0.5, x.d.size);
  const bool prism = uniform(0, 1) < 0.5;
  x.d.n_points = aligned ? 8 : POINTS;
  for (int i = 0; i < POINTS; i++)
    x.points[i] =
        aligned
            ? (i < 8 ? v3(x.d.size.x * cube_points[i].x, x.d.size.y * cube_points[i].y, x.d.size.z * cube_points[i].z)
                     : v3(0, 0, 0))
        : prism ? v3(0.6 * cos((i - i % 2) / 2.0 * 1.04719755119659774615),
                     0.6 * sin((i - i % 2) / 2.0 * 1.04719755119659774615), i % 2 - 0.5)
                : v3_scale(uniform(0.6, 1), random_direction());
  return x;
}

static ss_shape make(const definition *x, double scale) {
  ss_shape_def d = x->d;
  ss_vec3 points[POINTS];
  const ss_shape_type type = d.type;
  for (int i = 0; i < d.n_points; i++) points[i] = v3_scale(scale, x->points[i]);
  d.points = points;
  d.radius *= scale, d.length *= scale;
  d.size = v3_scale(scale, d.size), d.semi_axes = v3_scale(scale, d.semi_axes);
  if (type == SS_SHAPE_MESH) d.type = SS_SHAPE_CONVEX;
  const ss_shape shape = compiled(&d);
  return type == SS_SHAPE_MESH ? mesh_of_hull(shape.hull) : shape;
}

static ss_quat right_angles(void) {
  static const double right = 1.57079632679489661923;
  const ss_quat a = quat_exp(v3(right * floor(uniform(0, 4)), 0, 0)),
                b = quat_exp(v3(0, right * floor(uniform(0, 4)), 0));
  return quat_multiply(a, b);
}

static int collide(const ss_pair *pair, const definition *a, ss_pose pa, const definition *b, ss_pose pb, double reach,
                   double scale, ss_contact_point *out) {
  const ss_shape sa = make(a, scale), sb = make(b, scale);
  pa.position = v3_scale(scale, pa.position), pb.position = v3_scale(scale, pb.position);
  return pair->collide(&sa, &pa, &sb, &pb, scale * reach, out);
}

/* A known feature of shapes that have moved on. */
static ss_contact_point follow(const ss_pair *pair, const definition *a, ss_pose pa, const definition *b, ss_pose pb,
                               uint32_t feature, double scale) {
  const ss_shape sa = make(a, scale), sb = make(b, scale);
  ss_contact_point c;
  pa.position = v3_scale(scale, pa.position);
  pb.position = v3_scale(scale, v3_add(pb.position, v3(0.1, -0.05, 0.02)));
  pb.orientation = quat_multiply(pb.orientation, quat_exp(v3(0.1, 0.2, -0.1)));
  pair->gap(&sa, &pa, &sb, &pb, feature, &c);
  return c;
}

static void check_same(const ss_contact_point *c, const ss_contact_point *first, double scale) {
  const double tolerance = 1e-13;
  assert_int_equal(c->feature, first->feature);
  assert_near(c->gap / scale, first->gap, tolerance);
  assert_near3(c->normal, first->normal, tolerance);
  assert_near3(v3_scale(1 / scale, c->point_a), first->point_a, tolerance);
  assert_near3(v3_scale(1 / scale, c->point_b), first->point_b, tolerance);
}

static void test_scale(void **unused) {
  (void)unused;
  static const double scales[] = {0x1p-10, 0x1p10};
  int touching = 0, different = 0;
  for (int a = SS_SHAPE_POINT; a < SS_SHAPE_TYPES; a++)
    for (int b = a; b < SS_SHAPE_TYPES; b++) {
      bool swapped;
      const ss_pair *pair = ss_pair_find((ss_shape_type)a, (ss_shape_type)b, &swapped);
      if (!pair || a == SS_SHAPE_ELLIPSE || b == SS_SHAPE_ELLIPSE || b == SS_SHAPE_HEIGHT_FIELD) continue;
      for (int trial = 0; trial < 160; trial++) {
        const bool aligned = trial % 2;
        const definition x = random_definition((ss_shape_type)a, aligned),
                         y = random_definition((ss_shape_type)b, aligned);
        const double far = trial % 3 ? 1.5 : 0.75;
        ss_pose pa = {v3(0, 0, 0), aligned ? right_angles() : random_rotation()};
        ss_pose pb = {v3(uniform(-far, far), uniform(-far, far), uniform(-far, far)),
                      aligned ? right_angles() : random_rotation()};
        if (aligned) pb.position = v3(eighths(-far, far), eighths(-far, far), eighths(-far, far));
        if (trial % 4 == 3)
          pb.orientation = quat_multiply(pb.orientation, quat_exp(v3(0, 0, pow(10, uniform(-9, -2)))));
        const double reach = trial % 5 ? 0.3 : 0;
        ss_contact_point first[SS_PAIR_CONTACTS], c[SS_PAIR_CONTACTS];
        const int n = collide(pair, &x, pa, &y, pb, reach, 1, first);
        touching += n > 0;
        for (int k = 0; k < 2; k++) {
          const int m = collide(pair, &x, pa, &y, pb, reach, scales[k], c);
          if (m != n && ++different < 20)
            print_error("%d on %d, trial %d, scale %g: %d contacts, not %d\n", a, b, trial, scales[k], m, n);
          for (int i = 0; i < n && m == n; i++) check_same(&c[i], &first[i], scales[k]);
          for (int i = trial % 2; i < n; i += 4) {
            const ss_contact_point there = follow(pair, &x, pa, &y, pb, first[i].feature, 1);
            const ss_contact_point now = follow(pair, &x, pa, &y, pb, first[i].feature, scales[k]);
            check_same(&now, &there, scales[k]);
          }
        }
      }
    }
  assert_int_equal(different, 0);
  assert_true(touching > 500);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_scale)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
