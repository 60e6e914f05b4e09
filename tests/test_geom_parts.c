/* The parts that pairs of shapes are made of, each against a closed form or a slow search: roots of slopes, maxima of slabs, segments,
 * points and lines beside cylinders, minima on rims, hulls. How many evaluations the iterations take is counted, too. */
#include "geom/cylinder.h"
#include "geom/ellipsoid.h"
#include "geom/slab.h"
#include "geom_support.h"

static int evaluations;

/* ---- roots ---- */

typedef struct curve {
  int kind;
  double at, steep;
} curve;

static double slope_of(const void *context, double s) {
  const curve *c = context;
  const double x = s - c->at;
  evaluations++;
  switch (c->kind) {
  case 0:
    return c->steep * x;
  case 1:
    return x * x * x + 1e-3 * x;
  case 2:
    return tanh(c->steep * x);
  case 3:
    return x < 0 ? x : c->steep * x;
  default:
    return x < 0 ? -1 : 1; /* jumps */
  }
}

static void test_rising_root(void **state) {
  (void)state;
  int most = 0;
  for (int trial = 0; trial < 600; trial++) {
    const curve c = {trial % 5, uniform(-1, 1), pow(10, uniform(-2, 2))};
    const double low = uniform(-3, -1.1), high = uniform(1.1, 3), start = uniform(low, high);
    evaluations = 0;
    const double root = ss_rising_root(slope_of, &c, low, high, start);
    assert_near(root, c.at, c.kind == 1 ? 1e-10 : 1e-13);
    static const int enough[] = {8, 70, 20, 85, 70};
    assert_true(evaluations <= enough[c.kind]);

    if (evaluations > most) most = evaluations;
    /* the ends, where it does not pass zero */
    assert_near(ss_rising_root(slope_of, &c, 1.1, 3, uniform(1.1, 3)), 1.1, 0);
    assert_near(ss_rising_root(slope_of, &c, -3, -1.1, uniform(-3, -1.1)), -1.1, 0);
    evaluations = 0;
    if (c.kind < 4) assert_near(ss_rising_root(slope_of, &c, low, high, c.at), c.at, 0); /* there already */
    if (c.kind < 4) assert_int_equal(evaluations, 1);
    assert_near(ss_rising_root(slope_of, &c, 0.5, 0.5, 0.5), 0.5, 0);
  }
  assert_true(most > 10);
}

/* ---- slabs ---- */

typedef struct bodies {
  ss_vec3 between, half; /* an ellipsoid with these semi-axes about the origin, and a point */
  double radius;
} bodies;

/* n.d - sqrt(n.S n) - r |n| */
static double slabs_of(const void *context, ss_vec3 n, ss_vec3 *gradient, ss_mat3 *bend) {
  const bodies *b = context;
  const double x[3] = {n.x, n.y, n.z}, a[3] = {b->half.x, b->half.y, b->half.z};
  double square = 0, stretched[3], out[9];
  for (int i = 0; i < 3; i++) stretched[i] = a[i] * a[i] * x[i], square += stretched[i] * x[i];
  const double width = sqrt(square), norm = v3_norm(n);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      out[3 * i + j] = ((i == j ? a[i] * a[i] : 0) - stretched[i] * stretched[j] / square) / width +
                       b->radius * ((i == j) - x[i] * x[j] / (norm * norm)) / norm;
  *bend = (ss_mat3){{{out[0], out[1], out[2]}, {out[3], out[4], out[5]}, {out[6], out[7], out[8]}}};
  *gradient = v3_sub(
      b->between, v3_axpy(v3(stretched[0] / width, stretched[1] / width, stretched[2] / width), b->radius / norm, n));
  evaluations++;
  return v3_dot(n, b->between) - width - b->radius * norm;
}

static void test_slabs(void **state) {
  (void)state;
  int total = 0;
  for (int trial = 0; trial < 300; trial++) {
    const double radius = uniform(0.1, 1);
    bodies b = {v3_scale(uniform(2.2, 5), random_direction()), v3(uniform(0.1, 1), uniform(0.1, 1), uniform(0.1, 1)),
                radius};
    if (trial % 3 == 0) b.half = v3(radius, radius, radius); /* two balls: known */
    ss_vec3 n = v3_normalize(v3_add(b.between, random_vector(1))), gradient;
    ss_mat3 bend;
    evaluations = 0;
    const double s = ss_slab_maximum(slabs_of, &b, &n);
    assert_true(evaluations <= 40);
    total += evaluations;
    assert_near(v3_norm(n), 1, 1e-14);
    assert_near(slabs_of(&b, n, &gradient, &bend), s, 1e-14);
    if (trial % 3 == 0) assert_near(s, v3_norm(b.between) - 2 * radius, 1e-13);
    if (trial % 3 == 0) assert_near3(n, v3_normalize(b.between), 1e-13);
    assert_near(v3_norm(v3_axpy(gradient, -v3_dot(gradient, n), n)), 0, 1e-12 * v3_norm(b.between)); /* stationary */
    for (int k = 0; k < 20; k++) /* apart: the largest of all */
      assert_true(slabs_of(&b, random_direction(), &gradient, &bend) <= s + 1e-14);
  }
  assert_true(total <= 300 * 12);
}

/* ---- segments ---- */

static void test_segments(void **state) {
  (void)state;
  for (int trial = 0; trial < 400; trial++) {
    ss_segment a = {random_vector(1), random_direction(), uniform(0, 1)},
               b = {random_vector(1), random_direction(), uniform(0, 1)};
    if (trial % 5 == 0) b.axis = a.axis;
    double s, t, least = INFINITY;
    segments_closest(&a, &b, &s, &t);
    assert_true(fabs(s) <= a.half && fabs(t) <= b.half);
    const double found = v3_norm(v3_sub(segment_point(&a, s), segment_point(&b, t)));
    for (int i = 0; i <= 400; i++) { /* along a; on b the closest point is known */
      const ss_vec3 p = segment_point(&a, a.half * (i / 200. - 1));
      const double along = fmax(-b.half, fmin(b.half, v3_dot(v3_sub(p, b.center), b.axis)));
      least = fmin(least, v3_norm(v3_sub(p, segment_point(&b, along))));
    }
    assert_true(found <= least + 1e-13 && found >= least - 0.005 * a.half - 1e-13);
    /* signed: crossing lines by their heights along `outward`, otherwise the distance */
    const ss_vec3 outward = random_direction();
    ss_vec3 n;
    const double d = ss_edge_distance(&a, &b, outward, &n, &s, &t);
    const ss_vec3 apart = v3_sub(segment_point(&a, s), segment_point(&b, t));
    assert_near(v3_norm(n), 1, 1e-13);
    assert_near(fabs(d), found, 1e-12);
    assert_near3(v3_scale(d, n), apart, 1e-12);
    const bool inside = trial % 5 && fabs(s) < a.half - 1e-9 && fabs(t) < b.half - 1e-9;
    if (inside) assert_true(v3_dot(n, outward) >= 0);
    if (!inside) assert_true(d >= 0);
  }
}

/* ---- cylinders ---- */

static double clamped(double x, double limit) { return fmax(-limit, fmin(limit, x)); }

static void test_points_beside_cylinders(void **state) {
  (void)state;
  for (int trial = 0; trial < 2000; trial++) {
    const ss_cylinder c = {uniform(0.2, 1), uniform(0.2, 1)};
    const ss_vec3 p = random_vector(1.6);
    ss_vec3 normal, surface, foot;
    const double d = ss_cylinder_distance(c, p, &normal, &surface);
    const double rho = hypot(p.y, p.z), reach = fmin(rho, c.radius) / rho;
    const ss_vec3 nearest = v3(clamped(p.x, c.half), p.y * reach, p.z * reach);
    const double out = v3_norm(v3_sub(p, nearest)), in = fmax(fabs(p.x) - c.half, rho - c.radius);
    assert_near(d, out > 0 ? out : in, 1e-14);
    if (out > 0) assert_near3(surface, nearest, 1e-14);
    assert_near3(v3_axpy(surface, d, normal), p, 1e-14);
    assert_near(v3_norm(normal), 1, 1e-14);
    for (int k = 0; k < 3; k++) {
      const double margin = uniform(-0.1, 0.1), beyond = (k == 1 ? p.x : -p.x) - c.half;
      const bool over = k == 2 ? fabs(p.x) - c.half <= margin : rho - c.radius <= margin && beyond > -2 * c.half;
      assert_int_equal(ss_cylinder_over(c, p, k, margin), over);
      assert_near(ss_cylinder_height(c, p, k, &normal, &foot), k == 2 ? rho - c.radius : beyond, 1e-14);
      assert_near3(v3_axpy(foot, k == 2 ? rho - c.radius : beyond, normal), p, 1e-14);
    }
    const ss_vec3 n = random_direction(), far = ss_cylinder_support(c, n);
    assert_near(v3_dot(far, n), c.half * fabs(n.x) + c.radius * hypot(n.y, n.z), 1e-13);
    for (int end = 0; end < 2; end++) {
      const ss_vec3 disc = ss_disc_support(c, end, n);
      assert_near(v3_dot(disc, n), (end ? 1 : -1) * c.half * n.x + c.radius * hypot(n.y, n.z), 1e-13);
      assert_near(disc.x, end ? c.half : -c.half, 0);
      assert_near3(ss_disc_support(c, end, v3(1, 1e-14, 0)), v3(end ? c.half : -c.half, c.radius, 0), 1e-15);
      assert_near3(ss_disc_support(c, end, v3(1, 0, 1e-9)), v3(end ? c.half : -c.half, 0, c.radius), 1e-9);
      for (int k = 0; k < SS_RIM_POINTS; k++) {
        const double angle = k * acos(-1) / 4;
        assert_near3(ss_rim_point(c, end, k), v3(disc.x, c.radius * cos(angle), c.radius * sin(angle)), 1e-15);
      }
    }
  }
}

/* The largest separation across a line: over all directions at right angles to it. */
static double separation(ss_cylinder c, ss_vec3 p, ss_vec3 u, double angle, ss_vec3 *n) {
  const ss_vec3 e = v3_perpendicular(u), f = v3_cross(u, e);
  *n = v3_add(v3_scale(cos(angle), e), v3_scale(sin(angle), f));
  return v3_dot(*n, p) - c.half * fabs(n->x) - c.radius * hypot(n->y, n->z);
}

static void test_lines_beside_cylinders(void **state) {
  (void)state;
  enum { STEPS = 720 };
  const double pi = acos(-1);
  for (int trial = 0; trial < 400; trial++) {
    const ss_cylinder c = {uniform(0.2, 1), uniform(0.2, 1)};
    ss_vec3 u = random_direction(), normal, foot, n;
    if (trial % 8 == 0) u = v3(trial % 16 ? 1 : -1, 0, 0);
    if (trial % 8 == 1) u = v3_normalize(v3(0, u.y, u.z));
    const ss_vec3 p = random_vector(1.5);
    double best = 0, most = -INFINITY;
    for (int i = 0; i < STEPS; i++) {
      const double s = separation(c, p, u, 2 * pi * i / STEPS, &n);
      if (s > most) most = s, best = 2 * pi * i / STEPS;
    }
    double low = best - 2 * pi / STEPS, high = best + 2 * pi / STEPS;
    for (int k = 0; k < 100; k++) {
      const double one = low + (high - low) / 3, two = high - (high - low) / 3;
      if (separation(c, p, u, one, &n) < separation(c, p, u, two, &n))
        low = one;
      else
        high = two;
    }
    most = separation(c, p, u, low, &n);
    const double d = ss_cylinder_line(c, p, u, &normal, &foot);
    assert_near(d, most, 1e-9);
    assert_near(v3_dot(normal, u), 0, 1e-12);
    assert_near(v3_norm(normal), 1, 1e-12);
    assert_near(v3_dot(normal, p) - c.half * fabs(normal.x) - c.radius * hypot(normal.y, normal.z), d, 1e-9);
    assert_near(v3_dot(normal, v3_sub(p, foot)), d, 1e-9); /* a point of the cylinder that is the furthest along it */
    assert_true(fabs(foot.x) <= c.half + 1e-12 && hypot(foot.y, foot.z) <= c.radius + 1e-12);
  }
}

static void test_segments_beside_cylinders(void **state) {
  (void)state;
  for (int trial = 0; trial < 400; trial++) {
    const ss_cylinder c = {uniform(0.2, 1), uniform(0.2, 1)};
    const ss_segment e = {random_vector(1.5), random_direction(), uniform(0.1, 2)};
    ss_vec3 normal, surface;
    const double s = ss_cylinder_segment(c, &e),
                 found = ss_cylinder_distance(c, segment_point(&e, s), &normal, &surface);
    assert_true(fabs(s) <= e.half);
    double least = INFINITY;
    for (int i = 0; i <= 400; i++)
      least = fmin(least, ss_cylinder_distance(c, segment_point(&e, e.half * (i / 200. - 1)), &normal, &surface));
    assert_true(found <= least + 1e-12);
    /* where its line is at the radius */
    for (int k = 0; k < 2; k++) {
      const double margin = uniform(0, 0.1);
      double t;
      const bool valid = ss_cylinder_chord(c, &e, k, margin, &t);
      const ss_vec3 p = segment_point(&e, t);
      const double middle = -(e.center.y * e.axis.y + e.center.z * e.axis.z) / (1 - e.axis.x * e.axis.x);
      const double nearest = hypot(segment_point(&e, middle).y, segment_point(&e, middle).z);
      const bool steep = e.axis.x * e.axis.x >= 0.5;
      if (valid) assert_near(hypot(p.y, p.z), c.radius, 1e-12);
      if (valid) assert_true(k == 0 ? t < middle : t > middle);
      const double half_chord = sqrt(fmax(c.radius * c.radius - nearest * nearest, 0) / (1 - e.axis.x * e.axis.x));
      const double expected = middle + (k ? half_chord : -half_chord);
      assert_int_equal(valid, !steep && nearest < c.radius && fabs(expected) < e.half - margin);
    }
  }
}

static ss_vec3 away_from(const void *context, ss_vec3 p) {
  evaluations++;
  return v3_sub(p, *(const ss_vec3 *)context);
}

/* The point of a rim that is nearest to another: known. */
static void test_minima_on_rims(void **state) {
  (void)state;
  for (int trial = 0; trial < 200; trial++) {
    const ss_cylinder c = {uniform(0.2, 1), uniform(0.2, 1)};
    const ss_pose pose = random_pose(1);
    const int end = trial % 2;
    const ss_vec3 other = random_vector(2), local = pose_local(&pose, other);
    const double rho = hypot(local.y, local.z);
    if (rho < 0.05) continue;
    ss_vec3 found;
    evaluations = 0;
    assert_true(ss_rim_minimum(c, end, pose.position, pose.orientation, away_from, &other, &found));
    assert_true(evaluations < 80);
    const ss_vec3 expected = v3(end ? c.half : -c.half, c.radius * local.y / rho, c.radius * local.z / rho);
    assert_near3(pose_local(&pose, found), expected, 1e-9);
  }
}

/* x.Ax/2 about a point, in the directions of a frame. */
typedef struct bowl {
  ss_pose pose;
  ss_vec3 steep;
} bowl;

static ss_vec3 steepest(const void *context, ss_vec3 p) {
  const bowl *b = context;
  const ss_vec3 x = pose_local(&b->pose, p);
  return quat_rotate(b->pose.orientation, v3(b->steep.x * x.x, b->steep.y * x.y, b->steep.z * x.z));
}

static double height_in(const bowl *b, ss_vec3 p) {
  const ss_vec3 x = pose_local(&b->pose, p);
  return (b->steep.x * x.x * x.x + b->steep.y * x.y * x.y + b->steep.z * x.z * x.z) / 2;
}

/* Where a convex function has several minima on the rim: the one that is the disc's, by a look at all of the rim. */
static void test_minima_of_bowls(void **state) {
  (void)state;
  int several = 0;
  for (int trial = 0; trial < 600; trial++) {
    const ss_cylinder c = {uniform(0.2, 1), uniform(0.5, 1)};
    const bowl b = {random_pose(1), v3(uniform(0.1, 1), uniform(0.1, 1), pow(10, uniform(0, 2)))};
    ss_vec3 found;
    const bool sound = ss_rim_minimum(c, 1, v3(0, 0, 0), quat_identity(), steepest, &b, &found);
    double least = INFINITY;
    int minima = 0;
    enum { ALL = 2000 };
    double heights[ALL];
    for (int i = 0; i < ALL; i++) {
      const double angle = i * 2 * 3.14159265358979323846 / ALL;
      heights[i] = height_in(&b, v3(c.half, c.radius * cos(angle), c.radius * sin(angle)));
      least = fmin(least, heights[i]);
    }
    for (int i = 0; i < ALL; i++)
      minima += heights[i] < heights[(i + 1) % ALL] && heights[i] < heights[(i + ALL - 1) % ALL];
    const ss_vec3 down = steepest(&b, found);
    if (!sound || down.y * found.y + down.z * found.z > 0) continue; /* the disc's is inside */
    several += minima > 1;
    assert_true(height_in(&b, found) <= least + 1e-9);
  }
  assert_true(several > 20);
}

/* ---- boxes seen as hulls ---- */

static void test_hulls(void **state) {
  (void)state;
  for (int trial = 0; trial < 500; trial++) {
    const ss_shape box = random_shape(SS_SHAPE_BOX);
    const ss_vec3 half = box.half, p = random_vector(1.5);
    ss_hull_room room;
    const struct ss_hull *hull = ss_hull_of(&box, &room);
    ss_vec3 normal, surface;
    const double d = ss_hull_distance(hull, p, &normal, &surface);
    const ss_vec3 nearest = v3(clamped(p.x, half.x), clamped(p.y, half.y), clamped(p.z, half.z));
    const double out = v3_norm(v3_sub(p, nearest));
    const double in = fmax(fmax(fabs(p.x) - half.x, fabs(p.y) - half.y), fabs(p.z) - half.z);
    assert_near(d, out > 0 ? out : in, 1e-13);
    assert_near3(v3_axpy(surface, d, normal), p, 1e-12);
    if (out > 0) assert_near3(surface, nearest, 1e-12);
    /* segments: what is inside is between two parameters, by slabs */
    const ss_segment e = {random_vector(1.5), random_direction(), uniform(0.1, 2)};
    const double c[3] = {e.center.x, e.center.y, e.center.z}, u[3] = {e.axis.x, e.axis.y, e.axis.z};
    const double size[3] = {half.x, half.y, half.z};
    double from = -e.half, to = e.half, middle;
    for (int k = 0; k < 3; k++) {
      const double one = (-size[k] - c[k]) / u[k], two = (size[k] - c[k]) / u[k];
      from = fmax(from, fmin(one, two)), to = fmin(to, fmax(one, two));
    }
    if (fabs(from - to) < 1e-6) continue;
    assert_int_equal(ss_hull_meets(hull, &e, &middle), from < to);
    if (from < to) assert_near(middle, (from + to) / 2, 1e-12);
    for (int f = 0; f < hull->n_faces; f++) {
      const double margin = uniform(-0.1, 0.1), height = hull_height(hull, f, p);
      const ss_vec3 n = hull->face[f].normal;
      const double beside =
          fmax(fmax(fabs(n.x) > 0.5 ? -1 : fabs(p.x) - half.x, fabs(n.y) > 0.5 ? -1 : fabs(p.y) - half.y),
               fabs(n.z) > 0.5 ? -1 : fabs(p.z) - half.z);
      assert_near(height, v3_dot(n, p) - fabs(v3_dot(n, half)), 1e-14);
      if (beside > -1) assert_int_equal(ss_hull_over(hull, f, p, margin), beside <= margin);
    }
  }
}

/* ---- meshes ---- */

enum { CELLS = 32 };

static const struct ss_mesh *grid_of_triangles(double wide, double deep, ss_vec3 at) {
  static double heights[(CELLS + 1) * (CELLS + 1)];
  for (int i = 0; i < (CELLS + 1) * (CELLS + 1); i++) heights[i] = 0.3 * uniform(-1, 1) + at.z;
  ss_shape_def d = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  d.heights = heights, d.rows = d.columns = CELLS + 1;
  d.spacing = v3(wide, deep, 0);
  return compiled(&d).mesh;
}

static void count_triangle(void *context, int triangle) { ((int *)context)[triangle]++; }

static bool box_meets_triangle_box(const struct ss_mesh *m, int triangle, ss_vec3 low, ss_vec3 high) {
  ss_vec3 a = m->vertex[m->triangle[triangle].corner[0]], b = a;
  for (int k = 1; k < 3; k++) {
    const ss_vec3 p = m->vertex[m->triangle[triangle].corner[k]];
    a = v3(fmin(a.x, p.x), fmin(a.y, p.y), fmin(a.z, p.z)), b = v3(fmax(b.x, p.x), fmax(b.y, p.y), fmax(b.z, p.z));
  }
  return a.x <= high.x && low.x <= b.x && a.y <= high.y && low.y <= b.y && a.z <= high.z && low.z <= b.z;
}

/* Every triangle is in one leaf, boxes hold what is in them, small boxes find the triangles that they meet, and leaves are small: a few
 * cells, wherever the mesh is and whatever its proportions. */
static void test_trees_of_boxes(void **state) {
  (void)state;
  static int seen[2 * CELLS * CELLS];
  for (int trial = 0; trial < 4; trial++) {
    const double wide = trial == 1 ? 3 : 1, deep = trial == 2 ? 3 : 1;
    const struct ss_mesh *m = grid_of_triangles(wide, deep, v3(0, 0, trial == 3 ? 50 : 0));
    memset(seen, 0, sizeof seen);
    double extent = 0;
    int leaves = 0;
    for (int i = 0; i < m->n_nodes; i++) {
      const ss_mesh_node *node = &m->node[i];
      for (int k = 0; k < node->count; k++) seen[m->order[node->first + k]]++;
      for (int k = 0; k < (node->count ? 0 : 2); k++) {
        const ss_mesh_node *child = &m->node[node->child[k]];
        assert_true(child->low.x >= node->low.x && child->low.y >= node->low.y && child->low.z >= node->low.z);
        assert_true(child->high.x <= node->high.x && child->high.y <= node->high.y && child->high.z <= node->high.z);
      }
      if (node->count == 0) continue;
      assert_in_range(node->count, 2, 4);
      leaves++;
      extent += (node->high.x - node->low.x) / wide + (node->high.y - node->low.y) / deep;
    }
    for (int i = 0; i < m->n_triangles; i++) assert_int_equal(seen[i], 1);
    assert_int_equal(m->n_nodes, 2 * leaves - 1);
    assert_true(extent / leaves < 6.5); /* cells, along x and y together; of a leaf of any four triangles about 40 */
    for (int k = 0; k < 20; k++) {
      const ss_vec3 low =
          v3(uniform(-17, 16) * wide, uniform(-17, 16) * deep, uniform(-0.3, 0.2) + (trial == 3 ? 50 : 0));
      const ss_vec3 high = v3_add(low, v3(uniform(0, 2), uniform(0, 2), uniform(0, 0.2)));
      memset(seen, 0, sizeof seen);
      ss_mesh_visit(m, low, high, count_triangle, seen);
      int visited = 0, needed = 0;
      for (int i = 0; i < m->n_triangles; i++) {
        const bool meets = box_meets_triangle_box(m, i, low, high);
        assert_true(seen[i] <= 1 && (seen[i] == 1 || !meets));
        visited += seen[i], needed += meets;
      }
      assert_true(visited <= 4 * needed + 40);
    }
  }
}

/* A staircase of two steps, closed: its edges are sharp or hollow, as is known, and corners are touched where sharp edges meet. */
static void test_edges_of_a_staircase(void **state) {
  (void)state;
  /* the profile in x and z, counterclockwise seen along -y; extruded from y = 0 to y = 1 */
  static const double x[] = {0, 2, 2, 1, 1, 0}, z[] = {0, 0, 1, 1, 2, 2};
  static const int caps[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 3, 4}, {0, 4, 5}};
  ss_vec3 points[12];
  int triangles[20][3], n = 0;
  for (int i = 0; i < 6; i++) points[i] = v3(x[i], 0, z[i]), points[6 + i] = v3(x[i], 1, z[i]);
  for (int i = 0; i < 6; i++) {
    const int j = (i + 1) % 6;
    const int one[3] = {i, i + 6, j}, two[3] = {j, i + 6, j + 6};
    memcpy(triangles[n++], one, sizeof one), memcpy(triangles[n++], two, sizeof two);
  }
  for (int i = 0; i < 4; i++) {
    const int front[3] = {caps[i][0], caps[i][1], caps[i][2]},
              back[3] = {6 + caps[i][0], 6 + caps[i][2], 6 + caps[i][1]};
    memcpy(triangles[n++], front, sizeof front), memcpy(triangles[n++], back, sizeof back);
  }
  ss_shape_def d = shape_definition(SS_SHAPE_MESH);
  d.points = points, d.n_points = 12, d.triangles = triangles[0], d.n_triangles = n;
  const struct ss_mesh *m = compiled(&d).mesh;
  assert_true(m->solid);
  assert_int_equal(m->n_facets, 8);
  assert_int_equal(m->n_triangles, 20);
  assert_int_equal(m->n_edges, 30);
  assert_near(m->size, 3, 1e-15);
  int sharp = 0, hollow = 0;
  for (int i = 0; i < m->n_edges; i++) {
    const ss_mesh_edge *e = &m->edge[i];
    const ss_vec3 a = m->vertex[e->from], b = m->vertex[e->to];
    const bool corner =
        fabs(a.x - 1) < 1e-12 && fabs(b.x - 1) < 1e-12 && fabs(a.z - 1) < 1e-12 && fabs(b.z - 1) < 1e-12;
    const bool flat = m->triangle[e->left].facet == m->triangle[e->right].facet;
    assert_int_equal(e->hollow, corner);
    assert_int_equal(e->sharp, !corner && !flat);
    sharp += e->sharp, hollow += e->hollow;
    /* contacts at a sharp edge: normals between those of its sides */
    const ss_vec3 l = m->facet[m->triangle[e->left].facet].normal, r = m->facet[m->triangle[e->right].facet].normal;
    if (!e->sharp) continue;
    assert_true(ss_mesh_edge_admits(m, i, v3_normalize(v3_add(l, r)), 0));
    assert_true(ss_mesh_edge_admits(m, i, l, 1e-9) && ss_mesh_edge_admits(m, i, r, 1e-9));
    assert_false(ss_mesh_edge_admits(m, i, v3_neg(v3_normalize(v3_add(l, r))), 0));
    assert_false(ss_mesh_edge_admits(m, i, v3_normalize(v3_axpy(l, -0.3, r)), 0.02));
    assert_false(ss_mesh_edge_admits(m, i, v3_normalize(v3_axpy(r, -0.3, l)), 0.02));
    assert_true(ss_mesh_edge_admits(m, i, v3_normalize(v3_axpy(r, -0.01, l)), 0.02));
  }
  assert_int_equal(hollow, 1);
  assert_int_equal(sharp, 5 + 12);
  for (int v = 0; v < 12; v++) {
    const ss_vec3 p = m->vertex[v], side = v3(0, p.y > 0.5 ? 1 : -1, 0);
    const bool inner = fabs(p.x - 1) < 1e-12 && fabs(p.z - 1) < 1e-12;
    const int edges = m->first_end[v + 1] - m->first_end[v];
    assert_true(edges >= 3);
    for (int k = m->first_end[v]; k < m->first_end[v + 1]; k++) { /* the other ends of edges that exist */
      bool exists = false;
      for (int i = 0; i < m->n_edges; i++)
        exists |= (m->edge[i].from == v && m->edge[i].to == m->end[k]) ||
                  (m->edge[i].to == v && m->edge[i].from == m->end[k]);
      assert_true(exists);
    }
    assert_true(v3_dot(m->outward[v], side) > 0);
    if (!inner) assert_true(m->owner[v] >= 0);
    /* a normal along the mean of the faces is admitted where it is a corner; into the solid it is not */
    if (!inner) assert_true(ss_mesh_vertex_admits(m, v, v3_normalize(m->outward[v]), 0.02));
    assert_false(ss_mesh_vertex_admits(m, v, v3_neg(v3_normalize(m->outward[v])), 0.02));
  }
  /* signed distances: the union of two boxes */
  for (int trial = 0; trial < 1000; trial++) {
    const double more = trial % 2; /* or in its inside, near the hollow edge as well as elsewhere */
    const ss_vec3 p = v3(uniform(-more, 1 + 2 * more), uniform(-more, 1 + more), uniform(-more, 1 + 2 * more));
    ss_vec3 normal, surface;
    const double found = ss_mesh_distance(m, p, HUGE_VAL, &normal, &surface);
    double out = HUGE_VAL;
    for (int k = 0; k < 2; k++) {
      const ss_vec3 half = k ? v3(0.5, 0.5, 1) : v3(1, 0.5, 0.5), q = v3_sub(p, k ? v3(0.5, 0.5, 1) : v3(1, 0.5, 0.5));
      out = fmin(out, v3_norm(v3_sub(q, v3(clamped(q.x, half.x), clamped(q.y, half.y), clamped(q.z, half.z)))));
    }
    if (out > 0) assert_near(found, out, 1e-12);
    if (out == 0) assert_true(found <= 0);
    assert_near3(v3_axpy(surface, found, normal), p, 1e-12);
    if (out > 0) assert_true(isinf(ss_mesh_distance(m, p, 0.9 * out, &normal, &surface)));
    if (out > 0) assert_near(ss_mesh_distance(m, p, 1.1 * out, &normal, &surface), out, 1e-12);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rising_root),
      cmocka_unit_test(test_slabs),
      cmocka_unit_test(test_segments),
      cmocka_unit_test(test_points_beside_cylinders),
      cmocka_unit_test(test_lines_beside_cylinders),
      cmocka_unit_test(test_segments_beside_cylinders),
      cmocka_unit_test(test_minima_on_rims),
      cmocka_unit_test(test_minima_of_bowls),
      cmocka_unit_test(test_hulls),
      cmocka_unit_test(test_trees_of_boxes),
      cmocka_unit_test(test_edges_of_a_staircase),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
