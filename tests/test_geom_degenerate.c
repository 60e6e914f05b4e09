/* Every pair of shapes in degenerate positions: one above the other, faces, axes and edges parallel or crossed at right angles,
 * centres and rims aligned, all of it exactly or but for offsets and tilts from 1e-15 to 1e-3.
 *
 * What is reported is judged by certificates that need no search. The points of a contact that is not closed belong to the
 * shapes, so their distance is at most the gap; the shapes are in slabs across the normal that are the least gap apart, so it is no
 * less. A contact that is closed must follow the shapes when they are moved along the normal. What the two faces have in common
 * must be spanned by the contacts, or the upper shape tips over. And they must stay where they are when the last digits change. */
#include "geom_reference.h"

#include <stdlib.h>

typedef struct setting {
  const solid *upper, *lower;
  ss_pose pu, pl; /* in the frame, in which z is up */
  ss_pose frame;
  bool exchanged; /* shapes of the same kind: give the upper one second */
  double gap, tilt, reach;
} setting;

static long tried, failed;

static void complain(const setting *s, const char *what, double value, double expected) {
  if (++failed > 20) return;
  print_error("%s on %s: %s is %.10g, not %.10g\n  sizes %g on %g, at (%.17g, %.17g, %.17g), gap %g, tilt %g%s\n"
              "  turned by (%.17g, %.17g, %.17g, %.17g), (%.17g, %.17g, %.17g, %.17g)\n",
              s->upper->name, s->lower->name, what, value, expected, s->upper->size, s->lower->size, s->pu.position.x,
              s->pu.position.y, s->pu.position.z, s->gap, s->tilt, s->exchanged ? ", exchanged" : "",
              s->pu.orientation.w, s->pu.orientation.x, s->pu.orientation.y, s->pu.orientation.z, s->pl.orientation.w,
              s->pl.orientation.x, s->pl.orientation.y, s->pl.orientation.z);
}

/* Normals point from the lower shape to the upper one, whichever the pair's order is; everything in the frame. */
static void flip(ss_contact_point *c) {
  const ss_vec3 swap = c->point_a;
  c->point_a = c->point_b;
  c->point_b = swap;
  c->normal = v3_neg(c->normal);
}

static void to_frame(const setting *s, bool swapped, ss_contact_point *c) {
  if (swapped) flip(c);
  c->normal = quat_rotate(quat_conjugate(s->frame.orientation), c->normal);
  c->point_a = pose_local(&s->frame, c->point_a);
  c->point_b = pose_local(&s->frame, c->point_b);
}

static const ss_pair *pair_of(const setting *s, bool *swapped) {
  const ss_pair *pair = ss_pair_find(s->upper->shape.type, s->lower->shape.type, swapped);
  if (s->exchanged && s->upper->shape.type == s->lower->shape.type) *swapped = !*swapped;
  return pair;
}

static int contacts_of(const setting *s, ss_contact_point out[SS_PAIR_CONTACTS]) {
  bool swapped;
  const ss_pair *pair = pair_of(s, &swapped);
  const ss_pose pu = pose_compose(&s->frame, &s->pu), pl = pose_compose(&s->frame, &s->pl);
  const int n = swapped ? pair->collide(&s->lower->shape, &pl, &s->upper->shape, &pu, s->reach, out)
                        : pair->collide(&s->upper->shape, &pu, &s->lower->shape, &pl, s->reach, out);
  for (int i = 0; i < n; i++) to_frame(s, swapped, &out[i]);
  return n;
}

/* The gap of a known feature with the upper shape raised along n. */
static double gap_raised(const setting *s, uint32_t feature, ss_vec3 n, double by) {
  bool swapped;
  const ss_pair *pair = pair_of(s, &swapped);
  const ss_pose raised = {v3_axpy(s->pu.position, by, n), s->pu.orientation};
  const ss_pose pu = pose_compose(&s->frame, &raised), pl = pose_compose(&s->frame, &s->pl);
  ss_contact_point c;
  if (swapped)
    pair->gap(&s->lower->shape, &pl, &s->upper->shape, &pu, feature, &c);
  else
    pair->gap(&s->upper->shape, &pu, &s->lower->shape, &pl, feature, &c);
  return c.gap;
}

static double slabs(const setting *s, ss_vec3 n) {
  return -solid_support(s->upper, &s->pu, v3_neg(n)) - solid_support(s->lower, &s->pl, n);
}

static bool check_sound(const setting *s, const ss_contact_point *c, double tolerance) {
  const double off = v3_norm(v3_sub(v3_sub(c->point_a, c->point_b), v3_scale(c->gap, c->normal)));
  if (!(off <= tolerance)) return complain(s, "distance of the points", off, 0), false;
  if (!(fabs(v3_norm(c->normal) - 1) < 1e-12)) return complain(s, "length of the normal", v3_norm(c->normal), 1), false;
  if (c->gap < 0) return true; /* the points are within the other shape */
  const double a = solid_outside(s->upper, &s->pu, c->point_a), b = solid_outside(s->lower, &s->pl, c->point_b);
  if (!(a <= tolerance)) return complain(s, "upper point off the shape", a, 0), false;
  if (!(b <= tolerance)) return complain(s, "lower point off the shape", b, 0), false;
  return true;
}

/* Whether a closed contact opens and closes with the shapes. */
static bool follows(const setting *s, const ss_contact_point *c, double h) {
  return fabs(gap_raised(s, c->feature, c->normal, h) - c->gap - h) < 1e-2 * h &&
         fabs(gap_raised(s, c->feature, c->normal, -h) - c->gap + h) < 1e-2 * h;
}

static outline common_part(const setting *s, double dx, double dy, double thick) {
  const double tilt = 8 * s->tilt + 1e-9;
  const ss_pose moved = {v3_add(s->pu.position, v3(dx, dy, 0)), s->pu.orientation};
  const outline upper = solid_face(s->upper, &moved, -1, tilt), lower = solid_face(s->lower, &s->pl, 1, tilt);
  const outline a = outline_grown(&upper, thick), b = outline_grown(&lower, thick);
  return outline_common(a, &b);
}

/* Do they touch by no more than their borders? Then a push to the side ends the contact, and whether it holds is anyone's guess. */
static bool is_marginal(const setting *s, double size) {
  for (int k = 0; k < 8; k++)
    if (common_part(s, 1e-3 * size * cos(k * 0.7853981633974483), 1e-3 * size * sin(k * 0.7853981633974483),
                    1e-6 * size)
            .n == 0)
      return true;
  return false;
}

/* Contacts must span what the faces have in common, but for the arcs between the points of a rim. */
static bool check_span(const setting *s, const ss_contact_point *c, int n) {
  const double size = fmin(s->upper->size, s->lower->size), largest = fmax(s->upper->size, s->lower->size);
  const double thick = 1e-6 * size;
  const outline common = common_part(s, 0, 0, thick);
  double arc = 0;
  if (s->upper->disc > 0) arc = 0.08 * s->upper->disc;
  if (s->lower->disc > 0) arc = fmin(arc > 0 ? arc : (double)INFINITY, 0.08 * s->lower->disc);
  bool counts[SS_PAIR_CONTACTS];
  for (int i = 0; i < n; i++)
    counts[i] = c[i].gap <= s->gap + 20 * s->tilt * largest + 1e-9 * size && follows(s, &c[i], 1e-7 * size);
  for (int k = 0; common.n > 0 && k < 24; k++) {
    const double ux = cos(k * 0.2617993877991494), uy = sin(k * 0.2617993877991494);
    const double most = outline_support(&common, ux, uy);
    double reached = -INFINITY;
    for (int i = 0; i < n; i++)
      if (counts[i]) reached = fmax(reached, ux * c[i].point_b.x + uy * c[i].point_b.y);
    if (!(reached >= most - arc - 40 * thick - 20 * s->tilt * largest))
      return complain(s, "span of the contacts", reached, most), false;
  }
  return true;
}

/* The least gap is the distance of the shapes, and closed contacts push along a direction in which they are not much deeper. */
static bool check_least(const setting *s, const ss_contact_point *c, int n, double tolerance) {
  const double largest = fmax(s->upper->size, s->lower->size), z = slabs(s, v3(0, 0, 1));
  double least = INFINITY;
  for (int i = 0; i < n; i++) least = fmin(least, c[i].gap);
  double bound = z; /* the widest slab is no wider than they are apart */
  for (int i = 0; i < n; i++) {
    const double own = slabs(s, c[i].normal);
    bound = fmax(bound, own);
    if (c[i].gap <= tolerance && !(own >= c[i].gap - 1e-2 * largest))
      return complain(s, "slab of a closed contact", own, c[i].gap), false;
  }
  if (!(least <= bound + tolerance + (2 * s->tilt + 2e-8) * largest))
    return complain(s, "least gap, by the widest slab,", least, bound), false;
  if (!(least >= z - tolerance - 4 * s->tilt * largest)) return complain(s, "least gap", least, z), false;
  return true;
}

static bool is_near(const ss_contact_point *list, int n, ss_vec3 place, double near) {
  for (int i = 0; i < n; i++)
    if (v3_norm(v3_sub(list[i].point_b, place)) <= near) return true;
  return false;
}

/* Is each contact of c that touches among those of d, or one next to it, instead of which it may be taken? */
static bool all_among(const ss_contact_point *c, int n, const ss_contact_point *d, int m, double low, double size) {
  for (int i = 0; i < n; i++) {
    bool found = c[i].gap > low || is_near(d, m, c[i].point_b, 1e-7 * size);
    for (int k = 0; k < m && !found; k++)
      found = v3_norm(v3_sub(d[k].point_b, c[i].point_b)) <= 2e-3 * size && is_near(c, n, d[k].point_b, 1e-7 * size);
    if (!found) return false;
  }
  return true;
}

/* What touches touches in the same places when the last digits change, or what is at rest would have other forces in each step. */
static bool check_steady(const setting *s, const ss_contact_point *c, int n) {
  const double size = fmin(s->upper->size, s->lower->size);
  const double low = s->gap + 1e-9 * size + 2 * s->tilt * size, rounding = 2e-16 * fmax(s->upper->size, s->lower->size);
  setting other = *s;
  other.pu = moved(s->pu, random_direction(), random_direction(), rounding);
  ss_contact_point d[SS_PAIR_CONTACTS];
  const int m = contacts_of(&other, d);
  if (!all_among(c, n, d, m, low, size)) return complain(s, "contacts that stay after rounding", m, n), false;
  if (!all_among(d, m, c, n, low, size)) return complain(s, "contacts before rounding", n, m), false;
  return true;
}

static void check(const setting *s) {
  const double size = fmin(s->upper->size, s->lower->size), largest = fmax(s->upper->size, s->lower->size);
  const double tolerance = 1e-8 * size + 1e-14 * largest, off = largest > 10 * size ? 1e-8 * largest : tolerance;
  ss_contact_point c[SS_PAIR_CONTACTS];
  const int n = contacts_of(s, c);
  const bool marginal = is_marginal(s, size);
  tried++;
  if (n == 0 && !marginal) complain(s, "number of contacts", 0, 1);
  if (n == 0) return; /* apart, to the side */
  for (int i = 0; i < n; i++)
    if (!check_sound(s, &c[i], off)) return;
  if (!check_least(s, c, n, tolerance) || marginal || !check_span(s, c, n)) return;
  /* below zero it is at a tolerance, which rounding decides on; a rim's lowest point goes wherever the last digits tilt its axis */
  if (s->gap >= 0 && !(s->upper->disc > 0) && !(s->lower->disc > 0)) (void)check_steady(s, c, n);
}

/* ---- positions ---- */

enum { TURNS = 5, PLACES = 6, TILTS = 6 };
static const double tilts[TILTS] = {0, 1e-15, 1e-12, 9e-10, 1e-6, 1e-3};

/* The axis that points up; the last one is turned by half a right angle about it. */
static ss_quat turned(int k) {
  static const double right = 1.57079632679489661923;
  if (k == 1) return quat_exp(v3(0, right, 0));
  if (k == 2) return quat_exp(v3(right, 0, 0));
  if (k == 3) return quat_exp(v3(0, 0, right));
  if (k == 4) return quat_multiply(quat_exp(v3(0, 0, right / 2)), quat_exp(v3(0, right, 0)));
  return quat_identity();
}

/* The other way round about one of the three axes, or not. */
static ss_quat half_turn(void) {
  static const ss_quat turns[4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  return turns[(int)uniform(0, 3.99)];
}

static double extent(const solid *s, const ss_pose *p, ss_vec3 n) {
  return solid_support(s, p, n) - v3_dot(n, p->position);
}

/* Above the lower one's middle, with sides aligned within or side by side, or half way out; `off` beside that. */
static void place(setting *s, int where, double off) {
  const bool flat = s->lower->flat > 0;
  const ss_vec3 x = v3(1, 0, 0), y = v3(0, 1, 0);
  const double ux = extent(s->upper, &s->pu, x), uy = extent(s->upper, &s->pu, y);
  const double lx = flat ? 1 : extent(s->lower, &s->pl, x), ly = flat ? 1 : extent(s->lower, &s->pl, y);
  const double at[PLACES][2] = {{0, 0},  {lx - ux, 0},         {lx - ux, uy - ly},
                                {lx, 0}, {0.5 * lx, 0.5 * ly}, {lx, 0.5 * ly}};
  s->pu.position = v3(at[where][0] + off, at[where][1], 0);
  s->pu.position.z = s->gap + solid_support(s->lower, &s->pl, v3(0, 0, 1)) + extent(s->upper, &s->pu, v3(0, 0, -1));
}

/* Every stride-th of all positions. */
static void try_all(const solid *upper, const solid *lower, int stride) {
  static const double gaps[] = {0, 1e-7, -1e-9};
  const double size = fmin(upper->size, lower->size), largest = fmax(upper->size, lower->size);
  if (largest > 10 * size) stride *= 4;
  enum { KINDS = 5 }; /* three tilts, two offsets */
  const int turns_below = lower->flat > 0 ? 1 : TURNS - 1, all = TURNS * turns_below * PLACES * KINDS * TILTS * 3;
  for (int i = (int)uniform(0, stride - 0.01); i < all; i += stride) {
    int rest = i;
    const int g = rest % 3, t = (rest /= 3) % TILTS, kind = (rest /= TILTS) % KINDS, where = (rest /= KINDS) % PLACES;
    const int below = (rest /= PLACES) % turns_below, above = rest / turns_below;
    setting s = {.upper = upper, .lower = lower, .frame = pose_identity(), .exchanged = uniform(0, 1) < 0.5};
    if (uniform(0, 1) < 0.5) s.frame = random_pose(1);
    s.gap = gaps[g] * size;
    s.tilt = kind < 3 ? tilts[t] : 0;
    if (s.tilt * largest > 2e-3 * size) continue; /* no part of the one's face is near the other */
    const ss_vec3 about = v3(kind == 0 ? s.tilt : 0, kind == 1 ? s.tilt : 0, kind == 2 ? s.tilt : 0);
    s.pl.orientation = lower->flat > 0 ? turned(below) : quat_multiply(turned(below), half_turn());
    s.pu.orientation = quat_multiply(quat_exp(about), quat_multiply(turned(above), half_turn()));
    place(&s, where, kind == 3 ? tilts[t] : kind == 4 ? -tilts[t] : 0);
    s.reach = fmax(s.gap, 0) + 40 * s.tilt * largest + 1e-2 * size;
    check(&s);
  }
}

static int stride = 23;
static const char *only[2]; /* upper, lower */

static void try_pairs(const solid *solids, int n) {
  for (int u = 0; u < n; u++)
    for (int l = 0; l < n; l++) {
      bool swapped;
      if (solids[u].flat > 0 || solids[u].shape.mesh) continue;
      if (solids[u].size < 0.1 && solids[l].size < 0.1) continue; /* likewise the large ones */
      if (!ss_pair_find(solids[u].shape.type, solids[l].shape.type, &swapped)) continue;
      if ((only[0] && strcmp(only[0], solids[u].name) != 0) || (only[1] && strcmp(only[1], solids[l].name) != 0))
        continue;
      const long before = failed;
      try_all(&solids[u], &solids[l], stride);
      if (failed > before)
        print_error("%s %d on %s %d: %ld failed\n", solids[u].name, u, solids[l].name, l, failed - before);
    }
  print_message("%ld positions\n", tried);
  assert_int_equal(failed, 0);
}

static void test_all(void **unused) {
  (void)unused;
  const solid solids[] = {solid_round(SS_SHAPE_POINT, 0),
                          solid_round(SS_SHAPE_SPHERE, 0.5),
                          solid_half_space(),
                          solid_box(1, 1, 1),
                          solid_box(1.5, 0.8, 0.3),
                          solid_prism(6, 0.5, 1),
                          solid_prism(3, 0.9, 0.4),
                          solid_capsule(0.25, 1),
                          solid_capsule(0.1, 2),
                          solid_cylinder(0.5, 1),
                          solid_cylinder(0.15, 0.04),
                          solid_cylinder(0.1, 1),
                          solid_ellipsoid(0.5, 0.5, 0.5),
                          solid_ellipsoid(0.6, 0.4, 0.3),
                          solid_mesh(solid_box(1, 1, 1)),
                          solid_mesh(solid_prism(6, 0.5, 1)),
                          solid_height_field(),
                          solid_box(0.02, 0.03, 0.01),
                          solid_prism(5, 0.01, 0.02),
                          solid_capsule(0.004, 0.02),
                          solid_cylinder(0.006, 0.01),
                          solid_mesh(solid_box(0.02, 0.03, 0.01))};
  try_pairs(solids, sizeof solids / sizeof *solids);
}

/* A capsule in the inside of a box or a hull, along one of its faces: the way out is through that face, by the depth of the axis and
 * the radius. */
static void test_deep_capsules(void **unused) {
  (void)unused;
  const solid solids[] = {solid_box(1, 1, 1), solid_prism(6, 0.5, 1), solid_prism(3, 0.9, 0.4)};
  const solid capsule = solid_capsule(0.25, 0.3);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 40; k++) {
      setting s = {.upper = &capsule, .lower = &solids[i], .frame = random_pose(1), .reach = 0};
      const double depth = uniform(0.001, 0.1);
      s.pl = pose_identity();
      s.pu = (ss_pose){v3(uniform(-0.05, 0.05), uniform(-0.05, 0.05), 0), quat_exp(v3(0, 0, uniform(-3, 3)))};
      s.pu.position.z = (i == 2 ? 0.2 : 0.5) - depth;
      ss_contact_point c[SS_PAIR_CONTACTS];
      const int n = contacts_of(&s, c);
      double least = INFINITY;
      for (int j = 0; j < n; j++) {
        least = fmin(least, c[j].gap);
        if (c[j].gap < -0.25) assert_near3(c[j].normal, v3(0, 0, 1), 1e-9);
      }
      assert_near(least, -(depth + 0.25), 1e-9);
    }
}

/* A small cylinder across the end of a large one: its middle is on the border, and the normal of the rim errs by what the large one makes
 * a gap of. Nothing is deep in anything. */
static void test_a_small_cylinder_at_an_end(void **unused) {
  (void)unused;
  static const double out[] = {0, 1e-15, 1e-12, -1e-12, 1e-10, -1e-10, 4e-10, -4e-10},
                      gaps[] = {0, 8e-12, 8e-10, 4e-9, 8e-8};
  const solid small = solid_cylinder(0.006, 0.01), large = solid_cylinder(0.1, 1);
  for (int i = 0; i < 80; i++) {
    setting s = {.upper = &small, .lower = &large, .frame = pose_identity(), .exchanged = i % 2, .reach = 1e-4};
    s.gap = gaps[i / 2 % 5];
    s.pl = pose_identity();
    s.pu = (ss_pose){v3(0.5 + out[i / 10], 0, 0.106 + s.gap), quat_exp(v3(0, 0, 1.57079632679489661923))};
    ss_contact_point c[SS_PAIR_CONTACTS];
    const int n = contacts_of(&s, c);
    assert_true(n > 0);
    for (int k = 0; k < n; k++) assert_true(c[k].gap >= s.gap - 1e-14 && c[k].normal.z > 0.99);
  }
}

/* A small polyhedron on the end of a large cylinder, not quite level: it is no deeper than its lowest corner, wherever the lines of its edges
 * reach the rim. */
static void test_small_on_a_large_end(void **unused) {
  (void)unused;
  const solid small[] = {solid_prism(3, 2e-4, 1e-4), solid_box(2e-4, 3e-4, 1e-4)}, large = solid_cylinder(0.1, 0.2);
  for (int i = 0; i < 400; i++) {
    setting s = {.upper = &small[i % 2], .lower = &large, .frame = pose_identity(), .reach = 1e-7};
    const double tilt = pow(10, uniform(-13, -8.5)), yaw = uniform(-3, 3);
    s.pl.orientation = turned(1); /* upright */
    s.pu.orientation =
        quat_multiply(quat_exp(v3_scale(tilt, v3(cos(yaw), sin(yaw), 0))), quat_exp(v3(0, 0, uniform(-3, 3))));
    s.pu.position = v3(uniform(-0.05, 0.05), uniform(-0.05, 0.05), 0);
    s.pu.position.z = 0.1 + extent(s.upper, &s.pu, v3(0, 0, -1));
    ss_contact_point c[SS_PAIR_CONTACTS];
    const int n = contacts_of(&s, c);
    assert_true(n >= 3);
    for (int k = 0; k < n; k++) assert_true(c[k].gap > -1e-15);
  }
}

/* Where lines that nearly lie on each other, or points that touch, have no direction of their own. */
static void test_no_direction(void **unused) {
  (void)unused;
  static const double r = 0.70710678118654752440;
  const solid coin = solid_cylinder(0.15, 0.04), prism = solid_prism(6, 0.5, 1), small = solid_prism(5, 0.01, 0.02);
  const solid pin = solid_cylinder(0.006, 0.01), mesh = solid_mesh(solid_box(1, 1, 1));
  const solid drum = solid_cylinder(0.5, 1),
              nut = solid_mesh(solid_prism(6, 0.5, 1)); /* the rim passes through corners */
  const ss_quat upright = {r, 0, r, 0}, on_side = {r, r, 0, 0};
  setting all[] = {{.upper = &coin, .lower = &prism, .gap = 1.5e-8, .tilt = 1e-6},
                   {.upper = &prism, .lower = &small, .tilt = 9e-10},
                   {.upper = &prism, .lower = &small, .gap = -1.4e-11, .tilt = 3e-10},
                   {.upper = &pin, .lower = &mesh},
                   {.upper = &drum, .lower = &nut, .gap = -7.07107e-10, .tilt = 1e-12}};
  all[0].pu = (ss_pose){v3(0, 0, 0.65 + 0.02e-6 + 1.5e-8), quat_exp(v3(0, 1e-6, 0))};
  all[0].pl.orientation = upright;
  for (int i = 1; i < 3; i++) {
    all[i].pu = (ss_pose){v3(0, 0, 0.51 + 0.5 * all[i].tilt + all[i].gap),
                          quat_multiply(quat_exp(v3(0, all[i].tilt, 0)), upright)};
    all[i].pl.orientation = quat_identity();
  }
  all[3].pu = (ss_pose){v3(0.495, 0, 0.506), on_side};
  all[3].pl.orientation = on_side;
  all[4].pu = (ss_pose){v3(0.5, 0, 1 + all[4].gap), quat_multiply(quat_exp(v3(0, 1e-12, 0)), (ss_quat){0, r, 0, -r})};
  all[4].pl.orientation = (ss_quat){0, 0, 0, 1};
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 40; k++) {
      setting s = all[i];
      s.frame = k ? random_pose(1) : pose_identity();
      s.exchanged = k % 2;
      s.reach = fmax(s.gap, 0) + 40 * s.tilt + 1e-2 * fmin(s.upper->size, s.lower->size);
      check(&s);
    }
  assert_int_equal(failed, 0);
}

/* Arguments: of how many positions one is tried, the upper and the lower shape. */
int main(int argc, char **argv) {
  if (argc > 1) stride = atoi(argv[1]);
  for (int i = 0; i < 2 && i + 2 < argc; i++) only[i] = argv[i + 2];
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_all), cmocka_unit_test(test_deep_capsules),
                                     cmocka_unit_test(test_a_small_cylinder_at_an_end),
                                     cmocka_unit_test(test_no_direction), cmocka_unit_test(test_small_on_a_large_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
