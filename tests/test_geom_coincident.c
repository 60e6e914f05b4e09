/* Every pair of shapes with a special point of the one exactly on a special point of the other: centres, corners, middles of edges and faces,
 * ends of axes, points of rims, with axes aligned exactly. There differences vanish that are directions elsewhere. What is reported must
 * be finite, with unit normals and points that are the gap apart; and as the distance of two shapes changes by no more than they move,
 * it must be next to what is reported when everything moves by a little.
 *
 * And pairs that are deep in each other, anywhere: some contact must tell a way out nearly as short as that through the best face or end. */
#include "geom_support.h"

#include <stdlib.h>

enum { MOST_POINTS = 64 };

/* In the shape's frame. */
typedef struct special {
  ss_vec3 point[MOST_POINTS];
  int n;
} special;

static void add(special *s, ss_vec3 p) {
  if (s->n < MOST_POINTS) s->point[s->n++] = p;
}

static void add_corners(special *s, const ss_vec3 *vertex, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) add(s, v3_scale(0.5, v3_add(vertex[i], vertex[j]))); /* middles of edges, and others */
}

static special special_points(const ss_shape *shape) {
  special s = {.n = 0};
  const ss_vec3 h = shape->half;
  const double r = shape->radius;
  add(&s, v3(0, 0, 0));
  if (shape->hull) add_corners(&s, shape->hull->vertex, shape->hull->n_vertices);
  if (shape->mesh) add_corners(&s, shape->mesh->vertex, shape->mesh->n_vertices);
  if (shape->type == SS_SHAPE_BOX || shape->type == SS_SHAPE_ELLIPSOID)
    for (int x = -1; x <= 1; x++)
      for (int y = -1; y <= 1; y++)
        for (int z = -1; z <= 1; z++)
          if (shape->type == SS_SHAPE_BOX || abs(x) + abs(y) + abs(z) == 1) add(&s, v3(x * h.x, y * h.y, z * h.z));
  if (shape->type == SS_SHAPE_CYLINDER || shape->type == SS_SHAPE_CAPSULE)
    for (int x = -1; x <= 1; x++)
      for (int k = 0; k < 3; k++) add(&s, v3(x * h.x, k == 1 ? r : 0, k == 2 ? -r : 0));
  if (shape->type == SS_SHAPE_CAPSULE) add(&s, v3(h.x + r, 0, 0));
  if (shape->type == SS_SHAPE_SPHERE) add(&s, v3(0, 0, r));
  return s;
}

typedef struct couple {
  const ss_pair *pair;
  ss_shape a, b;
  ss_pose pa, pb;
} couple;

typedef void (*check)(const couple *c, bool apart);

static int collide(const couple *c, double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  return c->pair->collide(&c->a, &c->pa, &c->b, &c->pb, reach, out);
}

static double least_of(const ss_contact_point *c, int n) {
  double least = INFINITY;
  for (int i = 0; i < n; i++) least = fmin(least, c[i].gap);
  return least;
}

static long tried, failed;
static int trials = 6;

static void complain(const couple *c, const char *what, double value, double expected) {
  if (++failed > 20) return;
  print_error(
      "shapes %d and %d: %s is %.10g, not %.10g\n  at (%.17g, %.17g, %.17g), turned by (%.17g, %.17g, %.17g, %.17g)\n",
      (int)c->a.type, (int)c->b.type, what, value, expected, c->pa.position.x, c->pa.position.y, c->pa.position.z,
      c->pa.orientation.w, c->pa.orientation.x, c->pa.orientation.y, c->pa.orientation.z);
}

/* Finite, with unit normals, and points that are the gap apart. */
static bool is_sound(const couple *c, const ss_contact_point *contact) {
  const double off =
      v3_norm(v3_sub(v3_sub(contact->point_a, contact->point_b), v3_scale(contact->gap, contact->normal)));
  if (!(fabs(v3_norm(contact->normal) - 1) < 1e-12))
    complain(c, "length of a normal", v3_norm(contact->normal), 1);
  else if (!(off < 1e-9))
    complain(c, "distance of the points", off, 0);
  else
    return true;
  return false;
}

/* The order of the types in which the table has them; ellipses are in planar scenes, see test_geom_solids. */
static bool is_looked_at(ss_shape_type a, ss_shape_type b, const ss_pair **pair) {
  bool swapped;
  *pair = ss_pair_find(a, b, &swapped);
  return *pair && !swapped && a != SS_SHAPE_ELLIPSE && b != SS_SHAPE_ELLIPSE && b != SS_SHAPE_HEIGHT_FIELD;
}

static const ss_quat turns[] = {{1, 0, 0, 0},          {0.5, 0.5, 0.5, 0.5}, {0, 1, 0, 0},     {0, 0, 1, 0},
                                {0.5, -0.5, 0.5, 0.5}, {0.8, 0.6, 0, 0},     {0.8, 0, 0, -0.6}};
enum { TURNS = sizeof turns / sizeof *turns };

static void look_at(const couple *c) {
  const double reach = 0.2, little = 1e-7;
  ss_contact_point here[SS_PAIR_CONTACTS], there[SS_PAIR_CONTACTS];
  const int n = collide(c, reach, here);
  tried++;
  for (int i = 0; i < n; i++)
    if (!is_sound(c, &here[i])) return;
  couple next = *c;
  next.pa = moved(c->pa, random_direction(), random_direction(), little);
  const int m = collide(&next, reach, there);
  for (int i = 0; i < m; i++)
    if (!is_sound(&next, &there[i])) return;
  const double one = least_of(here, n), other = least_of(there, m);
  if (least_of(there, collide(&next, 0, there)) < -1e-3) return; /* of a mesh only asked for what is closed */
  if (!(fmin(one, other) > -1e-3) || !(fmax(one, other) < 0.9 * reach)) return; /* deep: there are several ways out */
  if (!(fabs(one - other) < 10 * little)) complain(c, "least gap", one, other);
}

static void test_coincident_points(void **unused) {
  (void)unused;
  const ss_pair *pair;
  for (int a = 0; a < SS_SHAPE_TYPES; a++)
    for (int b = 0; b < SS_SHAPE_TYPES; b++)
      for (int trial = 0; trial < trials && is_looked_at((ss_shape_type)a, (ss_shape_type)b, &pair); trial++) {
        couple c = {pair, random_shape((ss_shape_type)a), random_shape((ss_shape_type)b), pose_identity(),
                    pose_identity()};
        const special pa = special_points(&c.a), pb = special_points(&c.b);
        for (int k = 0; k < 100; k++) {
          const int i = (int)uniform(0, pa.n - 0.01), j = (int)uniform(0, pb.n - 0.01);
          c.pa.orientation = turns[k % TURNS];
          c.pa.position = v3_sub(pb.point[j], quat_rotate(c.pa.orientation, pa.point[i]));
          look_at(&c);
        }
      }
  print_message("%ld positions\n", tried);
  assert_int_equal(failed, 0);
}

/* Of its faces and ends, in the world. */
static int flat_normals(const ss_shape *s, const ss_pose *p, ss_vec3 out[MOST_POINTS]) {
  int n = 0;
  for (int i = 0; s->type == SS_SHAPE_BOX && i < 6; i++) out[n++] = axis_vector(i / 2, i % 2 ? 1 : -1);
  for (int i = 0; s->type == SS_SHAPE_CYLINDER && i < 2; i++) out[n++] = axis_vector(0, i % 2 ? 1 : -1);
  for (int i = 0; s->hull && i < s->hull->n_faces; i++) out[n++] = s->hull->face[i].normal;
  for (int i = 0; i < n; i++) out[i] = quat_rotate(p->orientation, out[i]);
  return n;
}

/* The least depth along the normal of a face or an end, as a negative number. */
static double best_flat_slab(const couple *c, ss_vec3 *best_normal) {
  ss_vec3 normals[MOST_POINTS];
  double best = -INFINITY;
  for (int side = 0; side < 2; side++) {
    const int n = flat_normals(side ? &c->b : &c->a, side ? &c->pb : &c->pa, normals);
    for (int i = 0; i < n; i++) {
      const ss_vec3 towards_a = side ? normals[i] : v3_neg(normals[i]);
      const double slab = slab_distance(&c->a, &c->pa, &c->b, &c->pb, towards_a);
      if (slab > best) best = slab, *best_normal = towards_a;
    }
  }
  return best;
}

/* Some contact's normal separates the shapes nearly as well as the best face or end does, and its gap says so, but for what is tolerated
 * of a closed contact. */
static void test_ways_out(void **unused) {
  (void)unused;
  static const ss_shape_type solids[] = {SS_SHAPE_BOX, SS_SHAPE_CONVEX, SS_SHAPE_CAPSULE, SS_SHAPE_CYLINDER,
                                         SS_SHAPE_ELLIPSOID};
  enum { SOLIDS = sizeof solids / sizeof *solids };
  int looked_at = 0;
  failed = 0;
  for (int i = 0; i < SOLIDS; i++)
    for (int j = 0; j < SOLIDS; j++) {
      bool swapped;
      const ss_pair *pair = ss_pair_find(solids[i], solids[j], &swapped);
      for (int trial = 0; trial < 100 * trials && !swapped; trial++) {
        couple c = {pair, random_shape(solids[i]), random_shape(solids[j]), random_pose(1), random_pose(0)};
        const double depth = uniform(0.001, 0.2);
        ss_vec3 out;
        for (int k = 0; k < 5; k++) { /* along the way out, which may change */
          const double by = best_flat_slab(&c, &out);
          if (isfinite(by)) c.pa.position = v3_axpy(c.pa.position, -(by + depth), out);
        }
        const double flat = best_flat_slab(&c, &out);
        ss_contact_point contacts[SS_PAIR_CONTACTS];
        const int n = collide(&c, 0, contacts);
        double best = -INFINITY, off = INFINITY;
        for (int k = 0; k < n; k++) {
          const double own = slab_distance(&c.a, &c.pa, &c.b, &c.pb, contacts[k].normal);
          best = fmax(best, own);
          if (own >= 1.5 * flat) off = fmin(off, contacts[k].gap - own);
        }
        if (!(flat > -0.2) || n == 0) continue;
        looked_at++;
        if (!(best >= 1.5 * flat))
          complain(&c, "way out", best, flat);
        else if (!(off < 0.02 * fmin(c.a.reach, c.b.reach)))
          complain(&c, "depth short of the way out", off, 0);
      }
    }
  assert_int_equal(failed, 0);
  assert_true(looked_at > 1000);
}

/* Argument: more trials. */
int main(int argc, char **argv) {
  if (argc > 1) trials = (int)strtol(argv[1], NULL, 10);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_coincident_points), cmocka_unit_test(test_ways_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
