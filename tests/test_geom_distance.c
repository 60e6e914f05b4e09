/* Gaps of convex pairs against distances from elsewhere: the algorithm of Gilbert, Johnson and Keerthi, written on the shapes'
 * support points alone. Its upper and lower bounds meet, so it knows when it is right. */
#include "contact/contact.h"
#include "geom_support.h"

static const ss_shape_type convex[] = {SS_SHAPE_POINT,   SS_SHAPE_SPHERE,    SS_SHAPE_BOX,     SS_SHAPE_CONVEX,
                                       SS_SHAPE_CAPSULE, SS_SHAPE_ELLIPSOID, SS_SHAPE_CYLINDER};
enum { CONVEX = sizeof convex / sizeof *convex };

/* ---- the distance ---- */

/* Spheres and capsules are a core and a radius. */
static double radius_about_core(const ss_shape *s) { return s->type == SS_SHAPE_CYLINDER ? 0 : s->radius; }

/* The furthest point of the core along n. */
static ss_vec3 furthest(const ss_shape *s, const ss_pose *p, ss_vec3 n) {
  const ss_vec3 d = quat_rotate(quat_conjugate(p->orientation), n), h = s->half;
  ss_vec3 x = v3(0, 0, 0);
  if (s->type == SS_SHAPE_BOX || s->type == SS_SHAPE_CAPSULE || s->type == SS_SHAPE_CYLINDER)
    x = v3(copysign(h.x, d.x), copysign(h.y, d.y), copysign(h.z, d.z));
  if (s->type == SS_SHAPE_CYLINDER && hypot(d.y, d.z) > 0) {
    x.y = s->radius * d.y / hypot(d.y, d.z);
    x.z = s->radius * d.z / hypot(d.y, d.z);
  }
  if (s->type == SS_SHAPE_ELLIPSOID) {
    const double width = v3_norm(v3(h.x * d.x, h.y * d.y, h.z * d.z));
    x = v3(h.x * h.x * d.x / width, h.y * h.y * d.y / width, h.z * h.z * d.z / width);
  }
  if (s->type == SS_SHAPE_CONVEX)
    for (int i = 0; i < s->hull->n_vertices; i++)
      if (i == 0 || v3_dot(d, s->hull->vertex[i]) > v3_dot(d, x)) x = s->hull->vertex[i];
  return pose_point(p, x);
}

/* Weights of the point nearest to the origin in the affine hull of k points; false: they are degenerate. */
static bool affine_weights(const ss_vec3 *w, int k, double weight[4]) {
  const ss_vec3 r = v3_neg(w[0]), u = k > 1 ? v3_sub(w[1], w[0]) : r, v = k > 2 ? v3_sub(w[2], w[0]) : r;
  double size = 1;
  if (k == 2) {
    size = v3_dot(u, u);
    weight[1] = v3_dot(r, u);
  } else if (k == 3) {
    const ss_vec3 n = v3_cross(u, v);
    size = v3_dot(n, n);
    weight[1] = v3_dot(v3_cross(r, v), n);
    weight[2] = v3_dot(v3_cross(u, r), n);
  } else if (k == 4) {
    const ss_vec3 t = v3_sub(w[3], w[0]);
    size = v3_dot(u, v3_cross(v, t));
    weight[1] = v3_dot(r, v3_cross(v, t));
    weight[2] = v3_dot(u, v3_cross(r, t));
    weight[3] = v3_dot(u, v3_cross(v, r));
  }
  if (!(fabs(size) > 1e-30)) return false;
  weight[0] = 1;
  for (int i = 1; i < k; i++) weight[0] -= weight[i] /= size;
  return true;
}

/* The point of the simplex nearest to the origin, among all its faces; the simplex shrinks to the face it is in. */
static ss_vec3 nearest(ss_vec3 w[4], int *n) {
  ss_vec3 best = w[0];
  double least = INFINITY;
  int chosen = 1, kept = 0;
  for (int subset = 1; subset < 1 << *n; subset++) {
    ss_vec3 corner[4], x = v3(0, 0, 0);
    double weight[4] = {1, 0, 0, 0};
    int k = 0;
    for (int i = 0; i < *n; i++)
      if (subset >> i & 1) corner[k++] = w[i];
    bool inside = affine_weights(corner, k, weight);
    for (int i = 0; i < k && inside; i++) {
      inside = weight[i] >= 0;
      x = v3_axpy(x, weight[i], corner[i]);
    }
    if (inside && v3_norm(x) < least) least = v3_norm(x), best = x, chosen = subset;
  }
  for (int i = 0; i < *n; i++)
    if (chosen >> i & 1) w[kept++] = w[i];
  *n = kept;
  return best;
}

typedef struct couple {
  const ss_pair *pair;
  ss_shape a, b;
  ss_pose pa, pb;
} couple;

/* The distance; INFINITY: cores that overlap, or bounds that do not meet. */
static double distance_of(const couple *c) {
  ss_vec3 w[4], v = v3_sub(furthest(&c->a, &c->pa, v3(1, 0, 0)), furthest(&c->b, &c->pb, v3(-1, 0, 0)));
  double low = -INFINITY;
  int n = 1;
  w[0] = v;
  for (int k = 0; k < 300 && n < 4; k++) {
    const double high = v3_norm(v);
    if (!(high > 1e-12)) break;
    const ss_vec3 u = v3_scale(-1 / high, v);
    w[n] = v3_sub(furthest(&c->a, &c->pa, u), furthest(&c->b, &c->pb, v3_neg(u)));
    low = fmax(low, -v3_dot(u, w[n++]));
    if (high - low < 1e-10) return high - radius_about_core(&c->a) - radius_about_core(&c->b);
    v = nearest(w, &n);
  }
  return INFINITY;
}

/* ---- random couples ---- */

/* Anywhere; every third couple turned about one axis only, as in planar scenes, another third aligned in one plane. */
static couple random_couple(const ss_pair *pair, ss_shape_type a, ss_shape_type b, int number) {
  couple c = {.pair = pair, .a = random_shape(a), .b = random_shape(b), .pa = random_pose(0), .pb = random_pose(1)};
  c.pa.position = v3_add(c.pb.position, random_vector(2));
  if (number % 3 == 0) return c;
  c.pb.orientation = quat_identity();
  c.pa.orientation = quat_exp(v3(0, 0, number % 3 == 1 ? uniform(-3, 3) : number % 2 * 1.57079632679489661923));
  if (number % 3 == 2) c.pa.position.z = c.pb.position.z;
  return c;
}

static int collide(const couple *c, double reach, ss_contact_point out[SS_PAIR_CONTACTS]) {
  return c->pair->collide(&c->a, &c->pa, &c->b, &c->pb, reach, out);
}

static const ss_contact_point *nearest_contact(const ss_contact_point *contacts, int n) {
  const ss_contact_point *best = contacts;
  for (int i = 1; i < n; i++)
    if (contacts[i].gap < best->gap) best = &contacts[i];
  return best;
}

static void complain(const couple *c, double gap, double distance, uint32_t feature) {
  print_error("shapes %d and %d: gap %.12g of feature %x, distance %.12g\n", (int)c->a.type, (int)c->b.type, gap,
              (unsigned)feature, distance);
  fail();
}

typedef int (*check)(couple *c, int number);

/* Each pair must have been looked at in at least a third of the cases. */
static void for_every_pair(int repetitions, check function) {
  for (int i = 0; i < CONVEX; i++)
    for (int j = 0; j < CONVEX; j++) {
      bool swapped;
      const ss_pair *pair = ss_pair_find(convex[i], convex[j], &swapped);
      if (!pair || swapped) continue;
      int done = 0;
      for (int k = 0; k < repetitions; k++) {
        couple c = random_couple(pair, convex[i], convex[j], k);
        done += function(&c, k);
      }
      assert_true(3 * done > repetitions);
    }
}

/* ---- what is reported ---- */

/* Every other couple is brought together until it nearly touches: then the nearest features are edges, not corners. */
static int check_smallest(couple *c, int number) {
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  double distance = distance_of(c);
  if (isfinite(distance) && distance > 0.02 && number % 2) {
    const int n = collide(c, INFINITY, contacts);
    assert_true(n > 0);
    c->pa.position = v3_axpy(c->pa.position, -0.999 * distance, nearest_contact(contacts, n)->normal);
    distance = distance_of(c);
  }
  if (!isfinite(distance) || distance < 1e-6) return 0;
  const int n = collide(c, INFINITY, contacts);
  const ss_contact_point *best = nearest_contact(contacts, n);
  if (n == 0 || fabs(best->gap - distance) > 1e-8)
    complain(c, n ? best->gap : (double)NAN, distance, n ? best->feature : 0);
  return 1;
}

static void test_smallest_gap(void **unused) {
  (void)unused;
  for_every_pair(1500, check_smallest);
}

/* ---- what is followed ---- */

/* A feature that is followed while the shapes move, by up to their size, is a distance of two of their points as long as
 * they are apart: it may be further than the closest ones, never nearer. */
static int check_followed(couple *c, int number) {
  ss_contact_point contacts[SS_PAIR_CONTACTS];
  const double size = number % 2 ? 0.6 : 0.1;
  if (!(distance_of(c) > 1e-3) || !isfinite(distance_of(c))) return 0;
  const int n = collide(c, 0.3, contacts);
  c->pa = moved(c->pa, random_vector(size), random_vector(size), 1);
  const double distance = distance_of(c);
  if (!isfinite(distance) || distance < 1e-6) return 0;
  for (int i = 0; i < n; i++) {
    ss_contact_point later;
    c->pair->gap(&c->a, &c->pa, &c->b, &c->pb, contacts[i].feature, &later);
    if (later.gap < distance - 1e-8) complain(c, later.gap, distance, contacts[i].feature);
  }
  return 1;
}

/* On the surface of a convex body as a mesh likewise. */
static void test_followed_on_meshes(void **unused) {
  (void)unused;
  int followed = 0;
  for (int i = 0; i < CONVEX; i++)
    for (int trial = 0; trial < 1500; trial++) {
      bool swapped;
      couple c = random_couple(NULL, convex[i], SS_SHAPE_CONVEX, trial);
      const ss_pair *pair = ss_pair_find(convex[i], SS_SHAPE_MESH, &swapped);
      const ss_shape mesh = mesh_of_hull(c.b.hull);
      const double size = trial % 2 ? 0.6 : 0.1;
      ss_contact_point contacts[SS_PAIR_CONTACTS];
      if (!(distance_of(&c) > 1e-3) || !isfinite(distance_of(&c))) continue;
      const int n = pair->collide(&c.a, &c.pa, &mesh, &c.pb, 0.3, contacts);
      c.pa = moved(c.pa, random_vector(size), random_vector(size), 1);
      const double distance = distance_of(&c);
      if (!isfinite(distance) || distance < 1e-6) continue;
      for (int k = 0; k < n; k++, followed++) {
        ss_contact_point later;
        pair->gap(&c.a, &c.pa, &mesh, &c.pb, contacts[k].feature, &later);
        if (later.gap < distance - 1e-8) complain(&c, later.gap, distance, contacts[k].feature);
        assert_near3(v3_sub(later.point_a, later.point_b), v3_scale(later.gap, later.normal), 1e-9);
      }
    }
  assert_true(followed > 1000);
}

static void test_followed_gaps(void **unused) {
  (void)unused;
  for_every_pair(1500, check_followed);
}

/* A capsule beside a box's edge, turned about it until the edge's outward direction is no help any more: the way round the
 * edge, in a plane. */
static void test_around_an_edge(void **unused) {
  (void)unused;
  bool swapped;
  const ss_pair *pair = ss_pair_find(SS_SHAPE_BOX, SS_SHAPE_CAPSULE, &swapped);
  couple c = {pair, box_shape(1, 1, 1), capsule_shape(0.01, 0.1), pose_identity(), pose_identity()};
  enum { EDGE_Z = 10 + 8 + 3 }; /* the one at (0.5, 0.5) */
  for (int i = 1; i < 100; i++) {
    const double angle =
        -1.57079632679489661923 + i * 0.01 * 4.71238898038468985769; /* all around but the solid's quarter */
    const ss_vec3 away = v3(cos(angle), sin(angle), 0);
    c.pb = (ss_pose){v3_add(v3(0.5, 0.5, 0), v3_scale(0.2, away)), quat_exp(v3(0, 0, angle + 1.57079632679489661923))};
    ss_contact_point contact;
    pair->gap(&c.a, &c.pa, &c.b, &c.pb, EDGE_Z, &contact);
    if (!isfinite(distance_of(&c)) || distance_of(&c) <= 0) continue; /* an end is in the box */
    assert_near(contact.gap, 0.19, 1e-12);
    assert_near3(contact.normal, v3_neg(away), 1e-12);
  }
}

/* What the narrow phase leaves out by a look at capsules around two shapes is indeed so far apart; and much is left out. */
static void test_apart_by_capsules(void **state) {
  (void)state;
  enum { TRIALS = 200 };
  int said = 0, far = 0;
  for (int i = 0; i < CONVEX; i++)
    for (int j = 0; j < CONVEX; j++)
      for (int k = 0; k < TRIALS; k++) {
        couple c = {NULL, random_shape(convex[i]), random_shape(convex[j]), random_pose(2), random_pose(2)};
        const double limit = uniform(0, 0.5), distance = distance_of(&c);
        if (!isfinite(distance)) continue;
        const bool apart = ss_shapes_are_apart(&c.a, &c.pa, &c.b, &c.pb, limit);
        if (apart) assert_true(distance > limit);
        said += apart;
        far += distance > limit;
      }
  assert_true(said > far / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_smallest_gap),       cmocka_unit_test(test_followed_gaps),
      cmocka_unit_test(test_followed_on_meshes), cmocka_unit_test(test_around_an_edge),
      cmocka_unit_test(test_apart_by_capsules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
