/* A polyhedron (box, convex hull) and a cylinder. In the cylinder's frame d is the signed distance from the cylinder.
 *
 *   VERTEX      a vertex: d there
 *   EDGE        an edge: signed distance of its line where the closest point is between its ends, else of its closest point
 *   RIM         the point of an end's disc that is lowest over a face: its height, beside the face its distance from the hull
 *   POINT       a point fixed on a rim, over a face: likewise; these hold a cylinder that stands
 *   CHORD       where an edge that lies on an end crosses its rim: height of that point over the end. It slides along the
 *               edge, so its rate is that of the material points where the edge is parallel to the end, nearly so near it
 *
 *   SLAB        an end against the lowest vertex over it, or (FLAT) a face against the lowest point of an end over it, for
 *               shapes that overlap deeply
 *
 * Apart, each is the distance of two points of the shapes, and the least of VERTEX, EDGE and RIM is the distance. Features are
 * reported whose normal is near that of the best separating slab among the normals of faces, ends and these features;
 * of shapes that overlap deeply the one with the shortest way out decides. */
#include "geom/cylinder.h"
#include "geom/hull.h"

enum { VERTEX, EDGE, RIM, POINT, CHORD, SLAB, FLAT };
static const double similar = 0.9;  /* cosine */
static const double standing = 0.3; /* sine */
static const double level = 0.02;   /* sine: an edge that lies on an end */
static const double margin = 1e-9;  /* of a half length */
static const double deep = 0.05;    /* of the size: points further under a face may be out of the hull again */

/* The hull in its frame, the cylinder placed there. */
typedef struct scene {
  const struct ss_hull *hull;
  ss_cylinder c;
  ss_vec3 center;
  ss_quat turn; /* from the cylinder's frame to the hull's */
  double size;
} scene;

static uint32_t encode(uint32_t kind, int index, int end, int k) {
  return kind << 20 | (uint32_t)index << 8 | (uint32_t)end << 4 | (uint32_t)k;
}

static scene scene_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                        ss_hull_room *room) {
  return (scene){ss_hull_of(a, room), cylinder_of(b), pose_local(pa, pb->position),
                 quat_multiply(quat_conjugate(pa->orientation), pb->orientation), fmin(a->reach, b->reach)};
}

static ss_vec3 to_cylinder(const scene *s, ss_vec3 p) {
  return quat_rotate(quat_conjugate(s->turn), v3_sub(p, s->center));
}
static ss_vec3 from_cylinder(const scene *s, ss_vec3 p) { return v3_add(s->center, quat_rotate(s->turn, p)); }

/* Contact of the hull's point y (cylinder frame) with the cylinder; everything is given back in the hull's frame. */
static void contact_of_point(const scene *s, ss_vec3 y, ss_contact_point *out) {
  ss_vec3 n, foot;
  out->gap = ss_cylinder_distance(s->c, y, &n, &foot);
  out->normal = quat_rotate(s->turn, n);
  out->point_b = from_cylinder(s, foot);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
}

/* Contact of the cylinder's point p (hull frame) with a face's plane. */
static void contact_of_height(const scene *s, ss_vec3 p, int face, ss_contact_point *out) {
  out->gap = hull_height(s->hull, face, p);
  out->normal = v3_neg(s->hull->face[face].normal);
  out->point_b = p;
  out->point_a = v3_axpy(p, out->gap, out->normal);
}

/* The same, where the point is over the face; elsewhere its distance from the hull. */
static bool contact_by_face(const scene *s, ss_vec3 p, int face, ss_contact_point *out) {
  contact_of_height(s, p, face, out);
  const bool over = ss_hull_over(s->hull, face, p, margin * s->size);
  if (over && out->gap > -deep * s->size) return true;
  ss_vec3 n, foot;
  const double distance = ss_hull_distance(s->hull, p, &n, &foot);
  if (over && distance < margin * s->size) return true;
  out->gap = distance;
  out->normal = v3_neg(n);
  out->point_a = foot;
  return over;
}

static ss_segment edge_seen(const scene *s, int edge) {
  ss_segment e = hull_edge(s->hull, edge);
  e.center = to_cylinder(s, e.center);
  e.axis = quat_rotate(quat_conjugate(s->turn), e.axis);
  return e;
}

/* Of the hull, over an end, in the cylinder's frame. */
static ss_vec3 lowest_vertex(const scene *s, double side) {
  ss_vec3 lowest = v3(0, 0, 0);
  for (int i = 0; i < s->hull->n_vertices; i++) {
    const ss_vec3 y = to_cylinder(s, s->hull->vertex[i]);
    if (i == 0 || side * y.x < side * lowest.x) lowest = y;
  }
  return lowest;
}

/* Of an end's disc over a face, in the hull's frame. */
static ss_vec3 lowest_of_end(const scene *s, int face, int end) {
  const ss_vec3 down = quat_rotate(quat_conjugate(s->turn), v3_neg(s->hull->face[face].normal));
  return from_cylinder(s, ss_disc_support(s->c, end, down));
}

/* Returns whether the feature's points belong to the shapes; the contact is filled in anyway. */
static bool feature_contact(const scene *s, uint32_t feature, ss_contact_point *out) {
  const int index = (int)(feature >> 8 & 0xfff), end = (int)(feature >> 4 & 15), k = (int)(feature & 15);
  bool valid = true;
  switch (feature >> 20) {
  case VERTEX:
    contact_of_point(s, to_cylinder(s, s->hull->vertex[index]), out);
    break;
  case EDGE: {
    const ss_segment e = edge_seen(s, index);
    ss_vec3 n, foot;
    out->gap = ss_cylinder_line(s->c, e.center, e.axis, &n, &foot);
    const double t = v3_dot(e.axis, v3_sub(foot, e.center));
    valid = segment_contains(&e, t, margin * e.half);
    out->normal = quat_rotate(s->turn, n);
    out->point_b = from_cylinder(s, foot);
    out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
    if (!valid) contact_of_point(s, segment_point(&e, ss_cylinder_segment(s->c, &e)), out);
    break;
  }
  case RIM:
    valid = contact_by_face(s, lowest_of_end(s, index, end), index, out);
    break;
  case POINT:
    valid = contact_by_face(s, from_cylinder(s, ss_rim_point(s->c, end, k)), index, out);
    break;
  case CHORD: {
    const ss_segment e = edge_seen(s, index);
    double t;
    valid = ss_cylinder_chord(s->c, &e, k, margin / 2 * s->size, &t);
    const ss_vec3 y = segment_point(&e, clamp(t, e.half));
    const double side = end ? 1 : -1;
    out->gap = side * y.x - s->c.half;
    out->normal = quat_rotate(s->turn, v3(side, 0, 0));
    out->point_a = from_cylinder(s, y);
    out->point_b = v3_axpy(out->point_a, -out->gap, out->normal);
    if (!valid) contact_of_point(s, y, out);
    break;
  }
  case FLAT:
    contact_of_height(s, lowest_of_end(s, index, end), index, out);
    break;
  default: {
    const double side = end ? 1 : -1;
    const ss_vec3 y = lowest_vertex(s, side);
    out->gap = side * y.x - s->c.half;
    out->normal = quat_rotate(s->turn, v3(side, 0, 0));
    out->point_a = from_cylinder(s, y);
    out->point_b = v3_axpy(out->point_a, -out->gap, out->normal);
  }
  }
  out->feature = feature;
  return valid;
}

/* ---- the normal ---- */

/* Distance of the slabs across the unit vector n, which points from the cylinder to the hull. */
static double separation(const scene *s, ss_vec3 n) {
  double lowest = INFINITY;
  for (int i = 0; i < s->hull->n_vertices; i++) lowest = fmin(lowest, v3_dot(n, v3_sub(s->hull->vertex[i], s->center)));
  const ss_vec3 own = quat_rotate(quat_conjugate(s->turn), n);
  return lowest - v3_dot(own, ss_cylinder_support(s->c, own));
}

typedef struct choice {
  ss_vec3 n;
  double separation;
  uint32_t feature;
} choice;

/* `expected`: the separation across n if the feature's own points are the furthest ones along it. */
static void consider(const scene *s, ss_vec3 n, double expected, uint32_t feature, choice *best) {
  const double value = separation(s, n);
  if (value > best->separation && value > expected - margin * s->size - 1e-14 * fabs(value))
    *best = (choice){n, value, feature};
}

/* A vertex at y under a rim, where the distance has a kink: normals between those of the end and the side. */
static void consider_rim(const scene *s, ss_vec3 y, uint32_t feature, choice *best) {
  ss_vec3 out;
  (void)length_and_direction(v3(0, y.y, y.z), v3(0, 1, 0), &out);
  for (int k = 1; k <= 3; k++) {
    const ss_vec3 n = v3_normalize(v3_axpy(v3((y.x < 0 ? -1 : 1) * (4 - k), 0, 0), k, out));
    consider(s, quat_rotate(s->turn, n), -INFINITY, feature, best);
  }
}

/* Faces and ends first: `flat` is the best of them. */
static choice best_normal(const scene *s, choice *flat) {
  choice best = {v3(0, 0, 1), -INFINITY, 0};
  ss_contact_point c;
  for (int i = 0; i < s->hull->n_faces; i++) {
    const ss_vec3 n = v3_neg(s->hull->face[i].normal);
    const int end = quat_rotate(quat_conjugate(s->turn), n).x > 0;
    consider(s, n, -INFINITY, encode(FLAT, i, end, 0), &best);
  }
  for (int end = 0; end < 2; end++)
    consider(s, quat_rotate(s->turn, v3(end ? 1 : -1, 0, 0)), -INFINITY, encode(SLAB, 0, end, 0), &best);
  *flat = best;
  for (int i = 0; i < s->hull->n_edges; i++)
    if (feature_contact(s, encode(EDGE, i, 0, 0), &c) && c.gap > best.separation)
      consider(s, c.normal, c.gap, c.feature, &best);
  for (int i = 0; i < s->hull->n_vertices; i++) {
    if (!feature_contact(s, encode(VERTEX, i, 0, 0), &c) || c.gap <= best.separation) continue;
    consider(s, c.normal, c.gap, c.feature, &best);
    if (c.gap < 0) consider_rim(s, to_cylinder(s, s->hull->vertex[i]), c.feature, &best);
  }
  return best;
}

/* ---- contacts ---- */

typedef struct collector {
  const scene *s;
  ss_vec3 n;
  double reach;
  ss_contact_point *out;
  int count;
} collector;

static void collect(collector *c, uint32_t feature) {
  ss_contact_point contact;
  if (!feature_contact(c->s, feature, &contact) || v3_dot(contact.normal, c->n) < similar) return;
  for (int i = 0; i < c->count; i++) /* an edge's end or a rim's point that is there already */
    if (v3_norm(v3_sub(c->out[i].point_a, contact.point_a)) <= margin * c->s->size &&
        v3_norm(v3_sub(c->out[i].point_b, contact.point_b)) <= margin * c->s->size &&
        contact.gap > c->out[i].gap - 1e-14 * c->s->size)
      return;
  c->count = contact_add(c->out, c->count, &contact, c->reach);
}

static void collect_all(collector *c) {
  const scene *s = c->s;
  const ss_vec3 axis = quat_rotate(s->turn, v3(1, 0, 0));
  const bool stands = v3_norm(v3_cross(axis, c->n)) < standing;
  const int end = v3_dot(axis, c->n) > 0; /* the one that faces the hull */
  for (int i = 0; i < s->hull->n_vertices; i++) collect(c, encode(VERTEX, i, 0, 0));
  for (int i = 0; i < s->hull->n_faces; i++) {
    if (-v3_dot(s->hull->face[i].normal, c->n) < similar) continue;
    for (int e = 0; e < 2; e++) collect(c, encode(RIM, i, e, 0));
    for (int k = 0; stands && k < SS_RIM_POINTS; k++) collect(c, encode(POINT, i, end, k));
  }
  for (int i = 0; i < s->hull->n_edges; i++) {
    const double slope = v3_dot(hull_edge(s->hull, i).axis, axis);
    for (int k = 0; stands && fabs(slope) < level && k < 2; k++) collect(c, encode(CHORD, i, end, k));
    collect(c, encode(EDGE, i, 0, 0));
  }
}

static void to_world(const ss_pose *pa, ss_contact_point *c) {
  c->normal = quat_rotate(pa->orientation, c->normal);
  c->point_a = pose_point(pa, c->point_a);
  c->point_b = pose_point(pa, c->point_b);
}

static int hull_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                        ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  ss_hull_room room;
  const scene s = scene_make(a, pa, b, pb, &room);
  choice flat;
  const choice best = best_normal(&s, &flat);
  if (best.separation > reach) return 0;
  collector c = {&s, best.n, reach, out, 0};
  collect_all(&c);
  bool closed = best.separation > 0;
  for (int i = 0; i < c.count; i++) closed |= out[i].gap <= margin * s.size;
  if (!closed) { /* deep, or a vertex under a rim: the feature of the chosen normal, or the slab of the best face or end */
    ss_contact_point contact;
    (void)feature_contact(&s, best.feature, &contact);
    if (contact.gap > 0) (void)feature_contact(&s, flat.feature, &contact);
    c.count = contact_add(out, c.count, &contact, reach);
  }
  for (int i = 0; i < c.count; i++) to_world(pa, &out[i]);
  return c.count;
}

static void hull_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                     ss_contact_point *out) {
  ss_hull_room room;
  const scene s = scene_make(a, pa, b, pb, &room);
  (void)feature_contact(&s, feature, out);
  to_world(pa, out);
}

const ss_pair ss_pair_hull_cylinder = {hull_collide, hull_gap};
