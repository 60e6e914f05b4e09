/* Two cylinders.
 *
 *   SIDES   the closest points of the two axes, between their ends: distance less the radii; beyond an end, the distance of a
 *           point of a's side
 *   RIM     the point of an end's rim that is lowest over a surface of the other cylinder, an end or the side
 *   POINT   a point fixed on a rim, over an end of the other cylinder; these hold a stack of cylinders
 *   CROSS   where the rim of an end that lies on another end crosses its rim
 *   CHORD   where the lowest generating line of a cylinder that lies on an end crosses its rim
 *   RIMS    a rim of each: largest separation of the slabs that enclose the two discs
 *   SLAB    an end and the other cylinder's lowest point over it, for cylinders that overlap deeply
 *
 * A point over a surface, but for a tolerance, has its height over that surface and the surface's normal, however near it is to
 * the rim: the rims of two equal coins that lie on each other are on both surfaces at once, and the signed distance from the
 * solid would not see the one sink into the other. Beside the surface it is the distance from the solid.
 *
 * Apart, each is the distance of two points of the shapes, and the least is the distance. Reported are the features whose normal is
 * near that of the best separating slab. Together they span what two surfaces have in common: discs that lie on each other the
 * lens between their rims, a side on a side or on an end a segment. */
#include "geom/cylinder.h"
#include "geom/slab.h"

enum { SIDES, POINT, CROSS, CHORD, RIM, RIMS, SLAB };
static const double similar = 0.9;  /* cosine */
static const double standing = 0.3; /* sine of an end's tilt up to which the points of its rim count */
static const double level = 0.02;   /* sine: ends, lines and ends that lie on each other */
static const double margin = 1e-9;  /* of the size */

/* One of the cylinders seen from the other one's frame. */
typedef struct view {
  ss_cylinder mine, other;
  ss_vec3 center; /* of mine */
  ss_quat turn;   /* from my frame */
} view;

/* Features that are searched for, as the search for the best normal has found them. */
typedef struct found {
  bool rim_valid[4], rims_valid[4];
  ss_contact_point rim[4];  /* whose + 2 end, over the other's side */
  ss_contact_point rims[4]; /* end of a + 2 end of b */
} found;

/* Contacts are in b's frame. */
typedef struct couple {
  view view[2];         /* a seen by b, b seen by a */
  double size, largest; /* of the smaller one and of the larger one */
  const found *found;   /* NULL: not yet */
} couple;

static couple couple_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb) {
  const ss_cylinder ca = cylinder_of(a), cb = cylinder_of(b);
  const ss_quat turn = quat_multiply(quat_conjugate(pb->orientation), pa->orientation);
  return (couple){
      {{ca, cb, pose_local(pb, pa->position), turn}, {cb, ca, pose_local(pa, pb->position), quat_conjugate(turn)}},
      fmin(a->reach, b->reach),
      fmax(a->reach, b->reach),
      NULL};
}

/* Features: kind, whose it is, which of its ends, which surface of the other cylinder (one of its ends or the side), and a number. */
static uint32_t encode(uint32_t kind, int whose, int end, int surface, int k) {
  return kind << 8 | (uint32_t)(whose << 7 | end << 6 | surface << 4 | k);
}

static double side_of(int end) { return end ? 1 : -1; }

static ss_vec3 seen(const view *v, ss_vec3 p) { return v3_add(v->center, quat_rotate(v->turn, p)); }

/* The other cylinder's point is foot, mine is d further along n; all in the other's frame. */
static void fill(const couple *c, int whose, double d, ss_vec3 n, ss_vec3 foot, ss_contact_point *out) {
  const ss_vec3 p = v3_axpy(foot, d, n);
  const view *b = &c->view[0]; /* whose frames are a's and b's */
  out->gap = d;
  out->normal = whose ? v3_neg(quat_rotate(b->turn, n)) : n;
  out->point_a = whose ? seen(b, foot) : p;
  out->point_b = whose ? seen(b, p) : foot;
}

/* A point of mine over a surface of the other, or its distance; `slack`: how far beside the surface is over it still. */
static bool fill_point(const couple *c, int whose, ss_vec3 p, int surface, double slack, ss_contact_point *out) {
  ss_vec3 n, foot;
  const bool over = ss_cylinder_over(c->view[whose].other, p, surface, slack);
  const double d = over ? ss_cylinder_height(c->view[whose].other, p, surface, &n, &foot)
                        : ss_cylinder_distance(c->view[whose].other, p, &n, &foot);
  fill(c, whose, d, n, foot, out);
  return over;
}

static bool sides(const couple *c, ss_contact_point *out) {
  const view *v = &c->view[0];
  const ss_segment a = {v->center, quat_axis_x(v->turn), v->mine.half}, b = {v3(0, 0, 0), v3(1, 0, 0), v->other.half};
  ss_vec3 w;
  double s, t;
  const bool inside =
      segment_perpendicular(&a, &b, &s, &t, &w) && segment_contains(&a, s, 0) && segment_contains(&b, t, 0);
  segments_closest(&a, &b, &s, &t);
  ss_vec3 fallback;
  (void)length_and_direction(v3_cross(a.axis, b.axis), v3(0, 0, 1), &fallback);
  contact_of_spheres(segment_point(&a, s), v->mine.radius, segment_point(&b, t), v->other.radius, v3(0, 0, 0), fallback,
                     SIDES, out);
  if (inside) return segments_cross(&a, &b);
  /* beyond an end: the point on a's side from which b's axis is seen */
  const ss_vec3 x = segment_point(&a, s), across = v3_axpy(out->normal, -v3_dot(out->normal, a.axis), a.axis);
  ss_vec3 away;
  (void)length_and_direction(across, fallback, &away);
  (void)fill_point(c, 0, v3_axpy(x, -v->mine.radius, away), SS_CYLINDER_SIDE, -INFINITY, out);
  return false;
}

/* Away from the axis. */
static ss_vec3 gradient_of_side(const void *context, ss_vec3 p) {
  ss_vec3 out;
  (void)context;
  (void)length_and_direction(v3(0, p.y, p.z), v3(0, 1, 0), &out);
  return out;
}

static bool rim(const couple *c, int whose, int end, int surface, ss_contact_point *out) {
  const view *v = &c->view[whose];
  ss_vec3 p;
  bool sound = true;
  if (surface == SS_CYLINDER_SIDE)
    sound = ss_rim_minimum(v->mine, end, v->center, v->turn, gradient_of_side, NULL, &p);
  else
    p = seen(v, ss_disc_support(v->mine, end, quat_rotate(quat_conjugate(v->turn), v3(-side_of(surface), 0, 0))));
  return fill_point(c, whose, p, surface, margin * c->size, out) && sound;
}

/* On my rim where it is as far from the other's axis as the other's rim; k: on which side of the centres' line. Newton's method
 * from where two circles in one plane cross. */
static bool cross(const couple *c, int end, int surface, int k, ss_contact_point *out) {
  const view *v = &c->view[0];
  const double r = v->mine.radius, other = v->other.radius;
  const ss_vec3 m = seen(v, v3(side_of(end) * v->mine.half, 0, 0)), axis = quat_axis_x(v->turn);
  ss_vec3 u, across;
  const double apart = length_and_direction(v3(0, m.y, m.z), v3(0, 1, 0), &across);
  (void)length_and_direction(v3_axpy(across, -v3_dot(across, axis), axis), v3_perpendicular(axis), &u);
  const ss_vec3 w = v3_cross(axis, u);
  const double cosine = (other * other - apart * apart - r * r) / (2 * apart * r);
  bool valid = apart > margin * c->size && fabs(cosine) < 1;
  double angle = valid ? (k ? acos(cosine) : -acos(cosine)) : 0;
  ss_vec3 p = v3_axpy(m, r, u);
  for (int i = 0; i < 20 && valid; i++) {
    const ss_vec3 arm = v3_add(v3_scale(cos(angle), u), v3_scale(sin(angle), w)), along = v3_cross(axis, arm);
    p = v3_axpy(m, r, arm);
    const double slope = 2 * r * (p.y * along.y + p.z * along.z), f = p.y * p.y + p.z * p.z - other * other;
    const double step = f / slope;
    if (!isfinite(step) || fabs(step) > 1) valid = false;
    if (!valid || fabs(step) < 1e-15) break;
    angle -= step;
  }
  return fill_point(c, 0, p, surface, valid ? margin * c->size : (double)-INFINITY, out) && valid;
}

/* My generating line that is lowest over the other's end, where it crosses the rim. */
static bool chord(const couple *c, int whose, int surface, int k, ss_contact_point *out) {
  const view *v = &c->view[whose];
  const ss_vec3 down = quat_rotate(quat_conjugate(v->turn), v3(-side_of(surface), 0, 0));
  ss_vec3 low;
  (void)length_and_direction(v3(0, down.y, down.z), v3(0, 1, 0), &low);
  const ss_segment line = {seen(v, v3_scale(v->mine.radius, low)), quat_axis_x(v->turn), v->mine.half};
  double t;
  const bool valid = ss_cylinder_chord(v->other, &line, k, margin / 2 * c->size, &t);
  const ss_vec3 p = segment_point(&line, clamp(t, line.half));
  return fill_point(c, whose, p, surface, valid ? margin * c->size : (double)-INFINITY, out) && valid;
}

/* Minus the two discs' support functions: across the axis a, R sqrt(|n|^2 - (a.n)^2). */
typedef struct discs {
  ss_vec3 r, axis[2];
  double radius[2];
} discs;

static double disc_slabs(const void *context, ss_vec3 n, ss_vec3 *gradient, ss_mat3 *bend) {
  const discs *d = context;
  double s = v3_dot(n, d->r);
  *gradient = d->r;
  *bend = (ss_mat3){0};
  for (int k = 0; k < 2; k++) {
    const ss_vec3 a = d->axis[k], m = v3_axpy(n, -v3_dot(a, n), a);
    const double width = fmax(v3_norm(m), 1e-12), x[3] = {m.x, m.y, m.z}, axis[3] = {a.x, a.y, a.z};
    s -= d->radius[k] * width;
    *gradient = v3_axpy(*gradient, -d->radius[k] / width, m);
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        bend->m[i][j] += d->radius[k] / width * ((i == j) - axis[i] * axis[j] - x[i] * x[j] / (width * width));
  }
  return s;
}

/* An end, and the other cylinder's lowest point over it. */
static void slab(const couple *c, int whose, int end, ss_contact_point *out) {
  const view *v = &c->view[whose ^ 1]; /* the one over it, seen from it */
  const ss_vec3 n = v3(side_of(end), 0, 0);
  const ss_vec3 p = seen(v, ss_cylinder_support(v->mine, quat_rotate(quat_conjugate(v->turn), v3_neg(n))));
  const double d = side_of(end) * p.x - v->other.half;
  fill(c, whose ^ 1, d, n, v3_axpy(p, -d, n), out);
}

enum { WHOLE = -1 };

/* How far along n a reaches down and b up: as a whole, or by one of its ends. */
static double lowest(const couple *c, ss_vec3 n, int end) {
  const view *v = &c->view[0];
  const ss_vec3 down = quat_rotate(quat_conjugate(v->turn), v3_neg(n));
  const ss_vec3 p = end == WHOLE ? ss_cylinder_support(v->mine, down) : ss_disc_support(v->mine, end, down);
  return v3_dot(n, v->center) - v3_dot(down, p);
}

static double highest(const couple *c, ss_vec3 n, int end) {
  const ss_cylinder b = c->view[0].other;
  return v3_dot(n, end == WHOLE ? ss_cylinder_support(b, n) : ss_disc_support(b, end, n));
}

/* Distance of the slabs across n, which points from b to a. */
static double separation(const couple *c, ss_vec3 n) { return lowest(c, n, WHOLE) - highest(c, n, WHOLE); }

typedef struct search {
  ss_vec3 n, start; /* start: for Newton's method, of any feature */
  double separation, from_start;
  uint32_t feature; /* that has n */
  uint32_t flat;    /* slab to fall back on */
  double reach;     /* ends that are known to be farther from what they are compared with are passed over */
  bool passed_over;
} search;

/* Whether ends of a and b, or one of them and the other cylinder, are farther from each other than is looked for: apart by so much across
 * the best normal so far, or along one of the axes. */
static bool is_far(const couple *c, int end_a, int end_b, search *s) {
  const ss_vec3 axis = quat_axis_x(c->view[0].turn);
  const ss_vec3 normals[] = {s->n, axis, v3_neg(axis), v3(1, 0, 0), v3(-1, 0, 0)};
  bool far = false;
  for (int k = 0; k < 5 && !far; k++) far = lowest(c, normals[k], end_a) - highest(c, normals[k], end_b) > s->reach;
  s->passed_over |= far;
  return far;
}

static void consider(const couple *c, const ss_contact_point *contact, bool valid, uint32_t feature, search *s) {
  const double value = separation(c, contact->normal), least = 1e-15 * c->size;
  if (value > s->from_start + least) s->from_start = value, s->start = contact->normal;
  if (valid && value > s->separation + least) s->separation = value, s->n = contact->normal, s->feature = feature;
}

/* The best separating normal of ends and sides. */
static search first_normal(const couple *c, double reach, found *f) {
  search s = {.n = {0, 0, 1}, .start = {0, 0, 1}, .separation = -INFINITY, .from_start = -INFINITY, .reach = reach};
  ss_contact_point contact;
  for (int k = 0; k < 4; k++) {
    slab(c, k & 1, k >> 1, &contact);
    consider(c, &contact, true, encode(SLAB, k & 1, k >> 1, 0, 0), &s);
  }
  s.flat = s.feature;
  const bool beside = sides(c, &contact);
  consider(c, &contact, beside, encode(SIDES, 0, 0, 0, 0), &s);
  for (int k = 0; k < 4; k++) {
    f->rim_valid[k] = false;
    f->rim[k] = (ss_contact_point){.gap = INFINITY};
    if (is_far(c, k & 1 ? WHOLE : k >> 1, k & 1 ? k >> 1 : WHOLE, &s)) continue;
    f->rim_valid[k] = rim(c, k & 1, k >> 1, SS_CYLINDER_SIDE, &f->rim[k]);
    consider(c, &f->rim[k], f->rim_valid[k], encode(RIM, k & 1, k >> 1, SS_CYLINDER_SIDE, 0), &s);
  }
  return s;
}

static ss_vec3 project_on_disc(ss_cylinder c, int end, ss_vec3 p) {
  const double rho = hypot(p.y, p.z), shrink = rho > c.radius ? c.radius / rho : 1;
  return v3(side_of(end) * c.half, shrink * p.y, shrink * p.z);
}

/* Where the search for the best slab of two discs starts: the direction of points that some alternating projections bring near each other. */
static ss_vec3 between_discs(const couple *c, int end_a, int end_b, ss_vec3 otherwise) {
  const view *v = &c->view[0];
  ss_vec3 p = v->center, q = p, n;
  for (int i = 0; i < 10; i++) {
    q = project_on_disc(v->other, end_b, p);
    p = seen(v, project_on_disc(v->mine, end_a, quat_rotate(quat_conjugate(v->turn), v3_sub(q, v->center))));
  }
  (void)length_and_direction(v3_sub(p, q), otherwise, &n);
  return separation(c, n) > separation(c, otherwise) ? n : otherwise;
}

/* Along a disc's axis its support function has a kink, where Newton's method is blind: a step along which the separation grows. */
static ss_vec3 leave_kink(const discs *d, ss_vec3 n) {
  const double least = fmin(v3_norm(v3_cross(d->axis[0], n)), v3_norm(v3_cross(d->axis[1], n)));
  ss_vec3 gradient, uphill;
  ss_mat3 bend;
  const double s = disc_slabs(d, n, &gradient, &bend);
  if (least > 1e-3 || !(length_and_direction(v3_axpy(gradient, -v3_dot(gradient, n), n), v3(0, 0, 0), &uphill) > 0))
    return n;
  for (double step = 0.5; step > 1e-9; step /= 2) {
    const ss_vec3 next = v3_normalize(v3_axpy(n, step, uphill));
    if (disc_slabs(d, next, &gradient, &bend) > s) return next;
  }
  return n;
}

static double separation_of(const discs *d, ss_vec3 n) {
  double s = v3_dot(n, d->r);
  for (int k = 0; k < 2; k++) s -= d->radius[k] * v3_norm(v3_axpy(n, -v3_dot(d->axis[k], n), d->axis[k]));
  return s;
}

/* Whether the largest separation of discs that are apart is across one of them, n along its axis: the support function of a disc has a
 * kink there, which no Newton step finds, of slope R in all directions; what is left of the gradient must not be steeper. Of axes
 * that are parallel, to what counts as along an end, both discs have it. */
static bool is_across_end(const discs *d, int k, ss_vec3 n) {
  static const double parallel = 1e-6;
  const ss_vec3 a = d->axis[k ^ 1], m = v3_axpy(n, -v3_dot(a, n), a);
  const double width = v3_norm(m), other = d->radius[k ^ 1];
  const ss_vec3 left = width < parallel ? d->r : v3_axpy(d->r, -other / width, m);
  const double steep = v3_norm(v3_axpy(left, -v3_dot(left, n), n));
  return v3_dot(n, d->r) > other * width && steep < (d->radius[k] + (width < parallel ? other : 0)) * (1 - parallel);
}

static bool rims(const couple *c, int end_a, int end_b, ss_vec3 start, ss_contact_point *out) {
  const view *v = &c->view[0];
  const ss_vec3 axis = quat_axis_x(v->turn);
  const discs d = {
      v3_sub(v3_axpy(v->center, side_of(end_a) * v->mine.half, axis), v3(side_of(end_b) * v->other.half, 0, 0)),
      {axis, v3(1, 0, 0)},
      {v->mine.radius, v->other.radius}};
  for (int k = 0; k < 4; k++) {
    const ss_vec3 across = v3_scale(side_of(k >> 1), d.axis[k & 1]);
    if (!is_across_end(&d, k & 1, across)) continue;
    fill(c, 0, separation_of(&d, across), across, ss_disc_support(v->other, end_b, across), out);
    return false;
  }
  ss_vec3 n = leave_kink(&d, between_discs(c, end_a, end_b, start)), gradient;
  ss_mat3 bend;
  const double gap = ss_slab_maximum(disc_slabs, &d, &n);
  (void)disc_slabs(&d, n, &gradient, &bend);
  const ss_vec3 slope = v3_axpy(gradient, -v3_dot(gradient, n), n);
  fill(c, 0, gap, n, ss_disc_support(v->other, end_b, n), out);
  const double towards_a = side_of(end_b) * n.x, towards_b = -side_of(end_a) * v3_dot(axis, n);
  return v3_norm(slope) < 1e-9 * c->size && towards_a > -1e-8 && towards_b > -1e-8 && towards_a < 1 - 1e-9 &&
         towards_b < 1 - 1e-9;
}

static bool take(const ss_contact_point *contacts, const bool *valid, int k, ss_contact_point *out) {
  *out = contacts[k];
  return valid[k];
}

/* Returns whether the points belong to the surfaces. */
static bool feature_contact(const couple *c, uint32_t feature, ss_contact_point *out) {
  const int whose = (int)(feature >> 7 & 1), end = (int)(feature >> 6 & 1), surface = (int)(feature >> 4 & 3);
  const int k = (int)(feature & 15);
  bool valid = true;
  found again;
  switch (feature >> 8) {
  case SIDES:
    valid = sides(c, out);
    break;
  case POINT:
    valid = fill_point(c, whose, seen(&c->view[whose], ss_rim_point(c->view[whose].mine, end, k)), surface,
                       margin * c->size, out);
    break;
  case CROSS:
    valid = cross(c, end, surface, k, out);
    break;
  case CHORD:
    valid = chord(c, whose, surface, k, out);
    break;
  case RIM:
    valid = c->found && surface == SS_CYLINDER_SIDE ? take(c->found->rim, c->found->rim_valid, whose + 2 * end, out)
                                                    : rim(c, whose, end, surface, out);
    break;
  case RIMS:
    valid = c->found ? take(c->found->rims, c->found->rims_valid, end + 2 * surface, out)
                     : rims(c, end, surface, first_normal(c, INFINITY, &again).start, out);
    break;
  default:
    slab(c, whose, end, out);
  }
  out->feature = feature;
  return valid;
}

/* ---- all of them ---- */

static search best_normal(const couple *c, double reach, found *f) {
  search s = first_normal(c, reach, f);
  const ss_vec3 start = s.start;
  for (int k = 0; k < 4; k++) {
    f->rims_valid[k] = false;
    f->rims[k] = (ss_contact_point){.gap = INFINITY};
    if (is_far(c, k & 1, k >> 1, &s)) continue;
    f->rims_valid[k] = rims(c, k & 1, k >> 1, start, &f->rims[k]);
    if (f->rims_valid[k]) consider(c, &f->rims[k], true, encode(RIMS, 0, k & 1, k >> 1, 0), &s);
  }
  return s;
}

typedef struct collector {
  const couple *c;
  ss_vec3 n;
  bool level; /* an end lies on an end */
  double reach, least;
  ss_contact_point *out;
  int count;
} collector;

/* Whether the feature counts; it may be there already. */
static bool collect(collector *k, uint32_t feature) {
  ss_contact_point contact;
  if (!feature_contact(k->c, feature, &contact) || v3_dot(contact.normal, k->n) < similar) return false;
  const bool spare =
      feature >> 8 == POINT || feature >> 8 == CROSS; /* the points of two rims may be close to each other */
  const double near = (spare ? 1e-3 : margin) * k->c->size, lower = (spare ? 1e-9 : 1e-14) * k->c->size;
  for (int i = 0; i < k->count; i++)
    if (v3_norm(v3_sub(k->out[i].point_a, contact.point_a)) <= near &&
        v3_norm(v3_sub(k->out[i].point_b, contact.point_b)) <= near && contact.gap > k->out[i].gap - lower)
      return true;
  k->least = fmin(k->least, contact.gap);
  k->count = contact_add(k->out, k->count, &contact, k->reach);
  return true;
}

/* One end on another. A rim whose points are all over the other end encloses all that the two have in common. */
static void collect_ends(collector *k, const int end[2]) {
  bool all = false;
  for (int whose = 0; whose < 2 && !all; whose++) {
    all = true;
    for (int i = 0; i < SS_RIM_POINTS; i++) all &= collect(k, encode(POINT, whose, end[whose], end[whose ^ 1], i));
  }
  for (int i = 0; i < 2 && k->level; i++) (void)collect(k, encode(CROSS, 0, end[0], end[1], i));
}

static void collect_all(collector *k) {
  const ss_vec3 axis[2] = {quat_axis_x(k->c->view[0].turn), v3(1, 0, 0)};
  const double rise[2] = {v3_dot(axis[0], k->n), k->n.x}, most = sqrt(1 - similar * similar);
  const int end[2] = {rise[0]<0, rise[1]> 0}; /* the ones that face each other */
  const bool stands = v3_norm(v3_cross(axis[0], k->n)) < standing && v3_norm(v3_cross(axis[1], k->n)) < standing;
  k->level = stands && v3_norm(v3_cross(axis[0], axis[1])) < level;
  (void)collect(k, encode(SIDES, 0, 0, 0, 0));
  if (stands) collect_ends(k, end);
  for (int whose = 0; whose < 2; whose++)
    for (int i = 0; i < 2 && fabs(rise[whose]) < level && fabs(rise[whose ^ 1]) > similar; i++)
      (void)collect(k, encode(CHORD, whose, 0, end[whose ^ 1], i));
  for (int i = 0; i < 4; i++) /* whose, which end */
    if (fabs(rise[(i & 1) ^ 1]) > similar) (void)collect(k, encode(RIM, i & 1, i >> 1, end[(i & 1) ^ 1], 0));
  for (int i = 0; i < 4; i++)
    if (fabs(rise[(i & 1) ^ 1]) < most) (void)collect(k, encode(RIM, i & 1, i >> 1, SS_CYLINDER_SIDE, 0));
  for (int i = 0; i < 4 && !k->level; i++) (void)collect(k, encode(RIMS, 0, i & 1, i >> 1, 0));
}

/* Whether one of the contacts is as near as the shapes are, or closed where they overlap. At a border a normal errs by some 1e-9, and
 * separates less than its contact's gap by as much of the larger one. Of two ends that lie on each other the search need not know the best
 * normal, which differs from theirs by less than they are tilted, but the contacts are all there. */
static bool is_complete(const collector *k, const search *s) {
  const double tolerance = 10 * margin * k->c->largest;
  return k->least <= fmax(s->separation, 0) + tolerance || (k->level && s->separation > -tolerance && k->count > 0);
}

static void collect_missing(collector *k, const search *s) {
  const double tolerance = 10 * margin * k->c->largest;
  ss_contact_point contact;
  (void)feature_contact(k->c, s->feature, &contact);
  if (s->separation <= 0 && fabs(contact.gap - s->separation) > tolerance)
    (void)feature_contact(k->c, s->flat, &contact);
  k->count = contact_add(k->out, k->count, &contact, k->reach);
}

static void to_world(const ss_pose *pb, ss_contact_point *c) {
  c->normal = quat_rotate(pb->orientation, c->normal);
  c->point_a = pose_point(pb, c->point_a);
  c->point_b = pose_point(pb, c->point_b);
}

static int cylinders_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                             ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  couple c = couple_make(a, pa, b, pb);
  collector k;
  search s;
  for (int all = 0; all < 2; all++) { /* all features, where those near enough do not tell how near the shapes are */
    found there;
    c.found = NULL;
    s = best_normal(&c, all ? (double)INFINITY : reach, &there);
    if (s.separation > reach) return 0;
    c.found = &there;
    k = (collector){&c, s.n, false, reach, INFINITY, out, 0};
    if (s.separation > -0.1 * c.size) collect_all(&k); /* deeper no other feature makes sense */
    if (is_complete(&k, &s)) break;
    if (!s.passed_over) {
      collect_missing(&k, &s);
      break;
    }
  }
  for (int i = 0; i < k.count; i++) to_world(pb, &out[i]);
  return k.count;
}

static void cylinders_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                          ss_contact_point *out) {
  const couple c = couple_make(a, pa, b, pb);
  (void)feature_contact(&c, feature, out);
  to_world(pb, out);
}

const ss_pair ss_pair_cylinder_cylinder = {cylinders_collide, cylinders_gap};
