/* What shapes are made of points: hulls and meshes are the same wherever they are and however their points are given; ellipses are the same
 * in every plane. */
#include "geom_support.h"

#include "geom/cylinder.h"
#include "geom/ellipsoid.h"

static const double pi = 3.14159265358979323846;

/* ---- hulls ---- */

/* Thin plates far from the origin: their own size is what counts. */
static void test_hulls_anywhere(void **unused) {
  (void)unused;
  static const double thick[] = {1, 1e-3, 1e-6}, far[] = {0, 1, 1e3};
  for (int k = 0; k < 27; k++) {
    const ss_vec3 at = v3_scale(far[k / 9], v3(1, -2, 3));
    ss_vec3 points[12];
    for (int i = 0; i < 6; i++)
      for (int top = 0; top < 2; top++)
        points[2 * i + top] = v3_add(at, v3(cos(i * pi / 3), sin(i * pi / 3), top ? thick[k % 3] : 0));
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    d.points = points, d.n_points = 12;
    const ss_shape shape = compiled(&d);
    const double height = thick[k % 3], area = 1.5 * sqrt(3);
    assert_int_equal(shape.hull->n_vertices, 12);
    assert_int_equal(shape.hull->n_faces, 8);
    assert_int_equal(shape.hull->n_edges, 18);
    assert_near(shape.hull->volume, area * height, 1e-9);
    assert_near3(shape.local.position, v3_add(at, v3(0, 0, height / 2)), 1e-9);
    assert_near(shape.reach, hypot(1, height / 2), 1e-9);
    for (int f = 0; f < 8; f++) {
      const ss_vec3 n = shape.hull->face[f].normal;
      const bool flat = fabs(n.z) > 0.5;
      assert_near(fabs(n.z), flat ? 1 : 0, 1e-6);
      assert_int_equal(shape.hull->face[f].count, flat ? 6 : 4);
    }
  }
}

/* The furthest points of a ball along the axes, and then those furthest outside: no direction is left out. */
static void test_few_corners_of_a_ball(void **unused) {
  (void)unused;
  enum { POINTS = 3000 };
  static ss_vec3 points[POINTS];
  for (int i = 0; i < POINTS; i++) points[i] = random_direction();
  static const int corners[] = {16, 64, 200};
  for (int k = 0; k < 3; k++) {
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    d.points = points, d.n_points = POINTS, d.corners = corners[k];
    const ss_shape shape = compiled(&d);
    assert_true(shape.hull->n_vertices <= corners[k] && shape.hull->n_vertices >= corners[k] - 3);
    double least = INFINITY;
    for (int i = 0; i < 2000; i++) least = fmin(least, support(&shape, &shape.local, random_direction()));
    static const double expected[] = {0.75, 0.93, 0.97};
    assert_true(least > expected[k]);
  }
}

/* A spindle, whose furthest points along the axes are its two tips, wherever it points to. */
static void test_few_corners_of_a_spindle(void **unused) {
  (void)unused;
  enum { RING = 300 };
  static ss_vec3 points[RING + 2];
  for (int trial = 0; trial < 20; trial++) {
    const ss_quat turn = random_rotation();
    const ss_vec3 at = random_vector(3);
    for (int i = 0; i < RING + 2; i++) {
      const ss_vec3 ring = v3(0, 1e-3 * cos(i * 2 * pi / RING), 1e-3 * sin(i * 2 * pi / RING));
      points[(i + 7 * trial) % (RING + 2)] =
          v3_add(at, quat_rotate(turn, i < RING ? ring : v3(i == RING ? 1 : -1, 0, 0)));
    }
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    d.points = points, d.n_points = RING + 2, d.corners = 20;
    const ss_shape shape = compiled(&d);
    const ss_pose *p = &shape.local;
    const ss_vec3 along = quat_rotate(turn, v3(1, 0, 0));
    assert_near(support(&shape, p, along) - v3_dot(along, at), 1, 1e-9);
    assert_near(support(&shape, p, v3_neg(along)) + v3_dot(along, at), 1, 1e-9);
    for (int i = 0; i < 40; i++) {
      const ss_vec3 side = quat_rotate(turn, v3(0, cos(i), sin(i)));
      const double wide = support(&shape, p, side) - v3_dot(side, at);
      assert_true(wide > 0.7e-3 && wide <= 1e-3 + 1e-12);
    }
  }
}

/* A box with points on its edges and faces, in any order: none of them is a corner. */
static void test_points_on_edges(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 40; trial++) {
    ss_vec3 points[27];
    int n = 0;
    const ss_vec3 half = v3(uniform(0.2, 1), uniform(0.2, 1), uniform(0.2, 1));
    for (int x = -1; x <= 1; x++)
      for (int y = -1; y <= 1; y++)
        for (int z = -1; z <= 1; z++) points[n++] = v3(x * half.x, y * half.y, z * half.z);
    for (int i = n - 1; i > 0; i--) {
      const int k = (int)uniform(0, i + 0.99);
      const ss_vec3 swap = points[i];
      points[i] = points[k];
      points[k] = swap;
    }
    const ss_pose pose = trial % 2 ? random_pose(1) : pose_identity();
    for (int i = 0; i < n; i++) points[i] = pose_point(&pose, points[i]);
    ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
    d.points = points, d.n_points = n;
    const ss_shape shape = compiled(&d);
    assert_int_equal(shape.hull->n_vertices, 8);
    assert_int_equal(shape.hull->n_edges, 12);
    assert_int_equal(shape.hull->n_faces, 6);
    assert_near(shape.hull->volume, 8 * half.x * half.y * half.z, 1e-12);
  }
}

/* Each of its numbers. */
static void test_points_that_are_not_finite(void **unused) {
  (void)unused;
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) {
      ss_vec3 points[8];
      memcpy(points, cube_points, sizeof points);
      (k == 0 ? &points[i].x : k == 1 ? &points[i].y : &points[i].z)[0] = k == 1 ? INFINITY : NAN;
      ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
      d.points = points;
      ss_shape shape;
      ss_error error = {0};
      assert_int_equal(ss_shape_compile(geom_arena(), &d, &shape, &error), SS_ERROR_INPUT);
      assert_non_null(strstr(error.message, "finite"));
    }
}

/* ---- meshes ---- */

/* The hull's triangles, with corners of their own or shared ones. */
static ss_shape mesh_of(const struct ss_hull *hull, bool soup, int turn) {
  ss_vec3 points[3 * 64];
  int triangles[3 * 64], n = 0;
  for (int f = 0; f < hull->n_faces; f++)
    for (int k = 1; k + 1 < hull->face[f].count; k++) {
      const int *loop = hull->loop + hull->face[f].first, corner[] = {loop[0], loop[k], loop[k + 1]};
      for (int i = 0; i < 3; i++, n++) {
        const int j = corner[(i + turn) % 3];
        points[n] = hull->vertex[j];
        triangles[n] = soup ? n : j;
        if (soup && points[n].x == 0) points[n].x = n % 2 ? 0.0 : -0.0; /* the same place */
      }
    }
  ss_shape_def d = shape_definition(SS_SHAPE_MESH);
  d.points = soup ? points : hull->vertex;
  d.n_points = soup ? n : hull->n_vertices;
  d.triangles = triangles, d.n_triangles = n / 3;
  return compiled(&d);
}

/* Closed surfaces of triangles: Euler's formula, facets and edges of the hull, whoever owns the corners. */
static void test_meshes_of_hulls(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 60; trial++) {
    const ss_shape shape =
        trial < 3 ? compiled(&(ss_shape_def){
                        .type = SS_SHAPE_CONVEX, .pose = pose_identity(), .points = cube_points, .n_points = 8})
                  : random_shape(SS_SHAPE_CONVEX);
    const struct ss_hull *hull = shape.hull;
    for (int soup = 0; soup < 2; soup++) {
      const ss_shape surface = mesh_of(hull, soup, trial % 3);
      const struct ss_mesh *mesh = surface.mesh;
      assert_int_equal(mesh->n_vertices, hull->n_vertices);
      assert_int_equal(mesh->n_facets, hull->n_faces);
      assert_int_equal(mesh->n_vertices - mesh->n_edges + mesh->n_triangles, 2);
      assert_true(mesh->solid);
      ss_vec3 low = hull->vertex[0], high = low;
      for (int v = 0; v < hull->n_vertices; v++) {
        const ss_vec3 p = hull->vertex[v];
        low = v3(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
        high = v3(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
      }
      assert_near(mesh->size, v3_norm(v3_sub(high, low)), 1e-14);
      int sharp = 0;
      for (int e = 0; e < mesh->n_edges; e++) {
        const ss_mesh_edge *edge = &mesh->edge[e];
        sharp += edge->sharp;
        assert_true(!edge->hollow && edge->right >= 0 && edge->left != edge->right);
        assert_int_equal(edge->sharp, mesh->triangle[edge->left].facet != mesh->triangle[edge->right].facet);
      }
      assert_int_equal(sharp, hull->n_edges);
      for (int v = 0; v < mesh->n_vertices; v++) {
        assert_true(mesh->owner[v] >= 0);
        const int *corner = mesh->triangle[mesh->owner[v]].corner;
        assert_true(corner[0] == v || corner[1] == v || corner[2] == v);
        int degree = 0;
        for (int e = 0; e < mesh->n_edges; e++) degree += mesh->edge[e].from == v || mesh->edge[e].to == v;
        assert_int_equal(mesh->first_end[v + 1] - mesh->first_end[v], degree);
      }
      /* distances are the hull's */
      for (int i = 0; i < 20; i++) {
        const ss_vec3 p = random_vector(1.5);
        ss_vec3 n, m, foot, at;
        const double distance = ss_hull_distance(hull, p, &n, &foot);
        assert_near(ss_mesh_distance(mesh, p, INFINITY, &m, &at), distance, 1e-9);
        if (distance > 1e-6) assert_near3(m, n, 1e-6);
      }
    }
  }
}

/* A strip of triangles that is plane but for a little less than what is allowed: its plane is that of the largest triangle. */
static void test_facets_have_the_plane_of_the_largest_triangle(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 50; trial++) {
    enum { STEPS = 6 };
    ss_vec3 points[2 * (STEPS + 1)];
    int triangles[6 * STEPS], n = 0;
    double x = 0;
    for (int i = 0; i <= STEPS; i++) {
      for (int side = 0; side < 2; side++) points[2 * i + side] = v3(x, side, uniform(-1e-9, 1e-9));
      x += uniform(0.01, 1);
    }
    for (int i = 0; i < STEPS; i++) {
      const int corner[] = {2 * i, 2 * i + 2, 2 * i + 1, 2 * i + 1, 2 * i + 2, 2 * i + 3};
      for (int k = 0; k < 6; k++) triangles[n++] = corner[k];
    }
    ss_shape_def d = shape_definition(SS_SHAPE_MESH);
    d.points = points, d.n_points = 2 * (STEPS + 1), d.triangles = triangles, d.n_triangles = n / 3;
    const ss_shape shape = compiled(&d);
    const struct ss_mesh *mesh = shape.mesh;
    assert_int_equal(mesh->n_facets, 1);
    assert_false(mesh->solid);
    ss_vec3 largest = v3(0, 0, 0);
    for (int t = 0; t < mesh->n_triangles; t++) {
      const int *c = mesh->triangle[t].corner;
      const ss_vec3 area =
          v3_cross(v3_sub(mesh->vertex[c[1]], mesh->vertex[c[0]]), v3_sub(mesh->vertex[c[2]], mesh->vertex[c[0]]));
      if (v3_norm(area) > v3_norm(largest) * (1 + 1e-12)) largest = area;
    }
    assert_near3(mesh->facet[0].normal, v3_normalize(largest), 1e-12);
  }
}

/* A sheet of squares: of its border the corners are touched on their own, not what lies on a straight side or inside. */
static void test_corners_of_a_sheet(void **unused) {
  (void)unused;
  static const double heights[20] = {0};
  ss_shape_def d = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  d.heights = heights, d.rows = 4, d.columns = 5, d.spacing = v3(1, 2, 0);
  const ss_shape shape = compiled(&d);
  const struct ss_mesh *mesh = shape.mesh;
  assert_int_equal(mesh->n_vertices, 20);
  double reach = 0;
  for (int v = 0; v < 20; v++) reach = fmax(reach, v3_norm(mesh->vertex[v]));
  int owned = 0;
  for (int v = 0; v < 20; v++) {
    owned += mesh->owner[v] >= 0;
    assert_int_equal(mesh->owner[v] >= 0, v3_norm(mesh->vertex[v]) > reach * (1 - 1e-9));
  }
  assert_int_equal(owned, 4);
}

/* The boxes of a tree are those of its triangles' places, not of their numbers, and small. */
static void test_trees_in_any_order(void **unused) {
  (void)unused;
  enum { N = 17, TRIANGLES = 2 * (N - 1) * (N - 1) };
  static ss_vec3 points[N * N];
  static int ordered[3 * TRIANGLES], shuffled[3 * TRIANGLES];
  int n = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) points[N * i + j] = v3(i + uniform(-0.2, 0.2), j + uniform(-0.2, 0.2), uniform(0, 3));
  for (int i = 0; i + 1 < N; i++)
    for (int j = 0; j + 1 < N; j++) {
      const int a = N * i + j, corner[] = {a, a + N, a + 1, a + 1, a + N, a + N + 1};
      for (int k = 0; k < 6; k++) ordered[n++] = corner[k];
    }
  double first = 0;
  for (int trial = 0; trial < 4; trial++) {
    static const int steps[] = {1, 5, 77, 509};
    for (int i = 0; i < TRIANGLES; i++)
      for (int k = 0; k < 3; k++) shuffled[3 * i + k] = ordered[3 * (steps[trial] * i % TRIANGLES) + k];
    ss_shape_def d = shape_definition(SS_SHAPE_MESH);
    d.points = points, d.n_points = N * N, d.triangles = shuffled, d.n_triangles = TRIANGLES;
    const ss_shape shape = compiled(&d);
    double sum = 0;
    int leaves = 0, seen = 0;
    for (int i = 0; i < shape.mesh->n_nodes; i++) {
      const ss_mesh_node *node = &shape.mesh->node[i];
      sum += v3_norm(v3_sub(node->high, node->low));
      leaves += node->count > 0, seen += node->count;
    }
    if (trial == 0) first = sum;
    assert_int_equal(seen, TRIANGLES);
    assert_near(sum, first, 1e-9 * first);
    assert_int_equal(leaves, 128);
    assert_true(sum / shape.mesh->n_nodes < 6.5); /* four triangles to a leaf: 2 by 2 by 3, and 24 by 3 at the root */
  }
}

/* ---- floors ---- */

static int on_floor(const ss_shape *upper, const ss_pose *pu, const ss_shape *floor, const ss_pose *pf, double reach,
                    bool exchange, ss_contact_point *c) {
  bool swapped;
  const ss_pair *pair = ss_pair_find(upper->type, floor->type, &swapped);
  if (upper->type == floor->type) swapped = exchange;
  const int n = swapped ? pair->collide(floor, pf, upper, pu, reach, c) : pair->collide(upper, pu, floor, pf, reach, c);
  for (int i = 0; i < n && swapped; i++) {
    const ss_vec3 a = c[i].point_a;
    c[i].point_a = c[i].point_b, c[i].point_b = a, c[i].normal = v3_neg(c[i].normal);
  }
  return n;
}

static bool has(const ss_contact_point *list, int n, const ss_contact_point *c) {
  for (int i = 0; i < n; i++)
    if (v3_norm(v3_sub(list[i].point_a, c->point_a)) < 1e-8 && v3_norm(v3_sub(list[i].point_b, c->point_b)) < 1e-8 &&
        v3_norm(v3_sub(list[i].normal, c->normal)) < 1e-8 && fabs(list[i].gap - c->gap) < 1e-8)
      return true;
  return false;
}

static ss_shape wide_hull(void) {
  ss_vec3 points[8];
  for (int i = 0; i < 8; i++) points[i] = v3(8 * cube_points[i].x, 8 * cube_points[i].y, 2 * cube_points[i].z);
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = points;
  return compiled(&d);
}

static ss_shape wide_field(void) {
  static const double zeros[81] = {0};
  ss_shape_def d = shape_definition(SS_SHAPE_HEIGHT_FIELD);
  d.heights = zeros, d.rows = d.columns = 9, d.spacing = v3(1, 1, 0);
  return compiled(&d);
}

/* The middle of a plane mesh, of a wide box and of a hull like it is a half-space to whatever touches it: the same points, normals and
 * gaps. Pressed in, those that touch. */
static void test_wide_floors_are_half_spaces(void **unused) {
  (void)unused;
  static const ss_shape_type types[] = {SS_SHAPE_POINT,   SS_SHAPE_SPHERE,   SS_SHAPE_BOX,      SS_SHAPE_CONVEX,
                                        SS_SHAPE_CAPSULE, SS_SHAPE_CYLINDER, SS_SHAPE_ELLIPSOID};
  const ss_shape_def plane = shape_definition(SS_SHAPE_HALF_SPACE);
  const ss_shape half_space = compiled(&plane), box = box_shape(8, 8, 2), hull = wide_hull(), field = wide_field();
  const ss_shape mesh = mesh_of_hull(hull.hull);
  const ss_shape *const floors[] = {&field, &mesh, &box, &hull};
  const ss_pose below = {v3(0, 0, -1), quat_identity()};
  int touching = 0, failed = 0;
  for (int trial = 0; trial < 2800; trial++) {
    const ss_shape shape = random_shape(types[trial % 7]), *floor = floors[trial / 7 % 4];
    const ss_pose frame = random_pose(3);
    ss_pose own = {v3(uniform(-1, 1), uniform(-1, 1), 0), random_rotation()};
    if (trial % 3 == 0) { /* it stands or lies, or nearly */
      static const double right = 1.57079632679489661923;
      const double tilt = trial % 2 ? 0 : pow(10, uniform(-6, -1));
      const ss_quat up = trial % 4 < 2 ? quat_exp(v3(0, right, 0)) : quat_identity();
      own.orientation = quat_multiply(quat_exp(v3(tilt, 0, 0)), quat_multiply(quat_exp(v3(0, 0, uniform(-3, 3))), up));
    }
    const double gap = trial % 5 == 0 ? -1e-6 : uniform(0, 0.02), reach = uniform(0.02, 0.1);
    own.position.z = gap + support(&shape, &own, v3(0, 0, -1));
    const ss_pose pu = pose_compose(&frame, &own);
    const ss_pose pf = pose_compose(&frame, floor == &field ? &field.local : &below);
    const ss_pose ph = pose_compose(&frame, &half_space.local);
    ss_contact_point there[SS_PAIR_CONTACTS], expected[SS_PAIR_CONTACTS];
    const int n = on_floor(&shape, &pu, &half_space, &ph, reach, false, expected);
    const int m = on_floor(&shape, &pu, floor, &pf, reach, trial / 28 % 2, there);
    bool same = m <= n;
    for (int i = 0; i < n && same; i++) same = (gap < 0 && expected[i].gap > 0) || has(there, m, &expected[i]);
    for (int i = 0; i < m && same; i++) same = has(expected, n, &there[i]);
    if (!same && ++failed < 20)
      print_error("trial %d, shape %d on %d, gap %g: %d contacts, not %d\n", trial, shape.type, floor->type, gap, m, n);
    touching += n > 0;
  }
  assert_int_equal(failed, 0);
  assert_true(touching > 2000);
}

/* ---- ellipses ---- */

/* Axes x, y, z become y, z, x. */
static ss_vec3 cycled(ss_vec3 v) { return v3(v.z, v.x, v.y); }

static ss_pose cycled_pose(ss_pose p) {
  const ss_vec3 axis = cycled(v3(p.orientation.x, p.orientation.y, p.orientation.z));
  return (ss_pose){cycled(p.position), {p.orientation.w, axis.x, axis.y, axis.z}};
}

/* A random polygon in the plane xz, and the same at other y. */
static ss_shape random_prism(void) {
  ss_vec3 points[14];
  for (int i = 0; i < 7; i++) {
    const double angle = uniform(0, 2 * pi);
    points[2 * i] = v3(0.5 * cos(angle), -0.5, 0.8 * sin(angle));
    points[2 * i + 1] = v3_add(points[2 * i], v3(0, 1, 0));
  }
  ss_shape_def d = shape_definition(SS_SHAPE_CONVEX);
  d.points = points, d.n_points = 14;
  return compiled(&d);
}

/* An ellipse in the plane across an axis, and what else there is in a planar scene: the same gap in every plane. Across its plane an ellipse
 * has no end. */
static void test_ellipses_in_every_plane(void **unused) {
  (void)unused;
  static const ss_shape_type types[] = {SS_SHAPE_POINT,   SS_SHAPE_SPHERE,   SS_SHAPE_HALF_SPACE,
                                        SS_SHAPE_BOX,     SS_SHAPE_CONVEX,   SS_SHAPE_CAPSULE,
                                        SS_SHAPE_ELLIPSE, SS_SHAPE_CYLINDER, SS_SHAPE_MESH};
  int touching = 0;
  for (int trial = 0; trial < 900; trial++) {
    const ss_shape_type type = types[trial % 9];
    ss_shape ellipse = random_shape(SS_SHAPE_ELLIPSE), other = random_shape(type); /* in the plane xz */
    if (type == SS_SHAPE_CONVEX || type == SS_SHAPE_MESH) other = random_prism();  /* as planar scenes have them */
    if (type == SS_SHAPE_MESH) other = mesh_of_hull(other.hull);
    ss_pose pe = {v3(uniform(-1, 1), 0, uniform(-1, 1)), quat_exp(v3(0, uniform(-3, 3), 0))};
    ss_pose po = {v3(uniform(-1, 1), 0, uniform(-1, 1)), quat_exp(v3(0, uniform(-3, 3), 0))};
    if (type == SS_SHAPE_HALF_SPACE) po = (ss_pose){v3(0, 0, -1), quat_exp(v3(0, uniform(-0.5, 0.5), 0))};
    ss_shape mine = other; /* the other shape as it is, in a pose that cycles the axes */
    double first = 0;
    int count = 0;
    bool swapped;
    const ss_pair *pair = ss_pair_find(ellipse.type, other.type, &swapped);
    assert_non_null(pair);
    const ss_quat cycle = quat_normalize((ss_quat){1, 1, 1, 1}); /* x to y, y to z, z to x */
    ss_pose turned = po;
    for (int plane = 0; plane < 3; plane++) {
      const ss_pose pm = type == SS_SHAPE_ELLIPSE ? po : turned;
      ss_contact_point c[SS_PAIR_CONTACTS];
      const int n =
          swapped ? pair->collide(&mine, &pm, &ellipse, &pe, 1, c) : pair->collide(&ellipse, &pe, &mine, &pm, 1, c);
      double least = INFINITY;
      for (int i = 0; i < n; i++) {
        least = fmin(least, c[i].gap);
        assert_near(v3_get(c[i].normal, (plane + 1) % 3), 0, 1e-9); /* in the plane */
      }
      if (plane == 0) first = least, count = n, touching += n > 0;
      assert_int_equal(n, count);
      if (n) assert_near(least, first, 1e-9);
      pe = cycled_pose(pe), po = cycled_pose(po);
      turned = (ss_pose){cycled(turned.position), quat_multiply(cycle, turned.orientation)};
      ellipse.half = cycled(ellipse.half);
      if (type == SS_SHAPE_ELLIPSE) mine.half = cycled(mine.half);
    }
  }
  assert_true(touching > 300);
}

/* Two positive numbers and a zero, in any order. */
static void test_which_ellipses_there_are(void **unused) {
  (void)unused;
  static const double numbers[] = {0, 1, -1, 2, (double)NAN, (double)INFINITY};
  for (int k = 0; k < 216; k++) {
    const double x[] = {numbers[k % 6], numbers[k / 6 % 6], numbers[k / 36]};
    int zero = 0, good = 0;
    for (int i = 0; i < 3; i++) zero += x[i] == 0, good += x[i] == 1 || x[i] == 2;
    ss_shape_def d = shape_definition(SS_SHAPE_ELLIPSE);
    d.semi_axes = v3(x[0], x[1], x[2]);
    ss_shape shape;
    ss_error error = {0};
    assert_int_equal(ss_shape_compile(geom_arena(), &d, &shape, &error),
                     zero == 1 && good == 2 ? SS_OK : SS_ERROR_INPUT);
  }
}

/* Points on the axis of a cylinder: the side is as near all around, and one unit normal is as good as another. */
static void test_points_on_axes(void **unused) {
  (void)unused;
  const ss_cylinder c = {.radius = 0.5, .half = 2};
  for (int i = -3; i <= 3; i++) {
    ss_vec3 n, foot;
    const ss_vec3 p = v3(0.9 * i, 0, 0);
    const double distance = ss_cylinder_distance(c, p, &n, &foot);
    assert_near(distance, fmax(fabs(p.x) - 2, -0.5), 1e-12);
    assert_near(v3_norm(n), 1, 1e-12);
    assert_near3(v3_axpy(foot, distance, n), p, 1e-12);
    assert_near(fmax(fabs(foot.x) - 2, hypot(foot.y, foot.z) - 0.5), 0, 1e-12);
    assert_near(ss_cylinder_height(c, p, SS_CYLINDER_SIDE, &n, &foot), -0.5, 1e-12);
    assert_near(v3_norm(n), 1, 1e-12);
    assert_near3(v3_axpy(foot, -0.5, n), p, 1e-12);
  }
}

/* The distance of a point does not depend on where it is across the plane. */
static void test_points_beside_ellipses(void **unused) {
  (void)unused;
  for (int trial = 0; trial < 300; trial++) {
    const double a = uniform(0.1, 2), b = uniform(0.1, 2), x = uniform(-2, 2), y = uniform(-2, 2);
    ss_vec3 half = v3(a, b, 0), in = v3(x, y, 0), n, foot;
    const double distance = ss_ellipsoid_distance(half, in, &n, &foot);
    assert_near(foot.x * foot.x / (a * a) + foot.y * foot.y / (b * b), 1, 1e-9);
    assert_near3(in, v3_axpy(foot, distance, n), 1e-9);
    assert_near(n.x * foot.y / (b * b), n.y * foot.x / (a * a), 1e-9 / fmin(a, b) / fmin(a, b));
    assert_int_equal(distance < 0, x * x / (a * a) + y * y / (b * b) < 1);
    ss_vec3 beside = v3(x, y, uniform(-3, 3)), m = n, at = foot;
    for (int plane = 0; plane < 3; plane++) {
      ss_vec3 normal, surface;
      assert_near(ss_ellipsoid_distance(half, beside, &normal, &surface), distance, 1e-12);
      assert_near3(normal, m, 1e-12);
      for (int k = 0; k < 3; k++) /* beside it, at the same place across the plane */
        assert_near(v3_get(surface, k), v3_get(half, k) == 0 ? v3_get(beside, k) : v3_get(at, k), 1e-12);
      half = cycled(half), beside = cycled(beside), m = cycled(m), at = cycled(at);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hulls_anywhere),
      cmocka_unit_test(test_few_corners_of_a_ball),
      cmocka_unit_test(test_few_corners_of_a_spindle),
      cmocka_unit_test(test_points_on_edges),
      cmocka_unit_test(test_points_that_are_not_finite),
      cmocka_unit_test(test_meshes_of_hulls),
      cmocka_unit_test(test_facets_have_the_plane_of_the_largest_triangle),
      cmocka_unit_test(test_trees_in_any_order),
      cmocka_unit_test(test_corners_of_a_sheet),
      cmocka_unit_test(test_wide_floors_are_half_spaces),
      cmocka_unit_test(test_ellipses_in_every_plane),
      cmocka_unit_test(test_points_beside_ellipses),
      cmocka_unit_test(test_which_ellipses_there_are),
      cmocka_unit_test(test_points_on_axes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
