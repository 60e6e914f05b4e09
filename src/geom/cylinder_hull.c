/* A polyhedron (box, convex hull) or a capsule, and a cylinder. A capsule is an edge with a radius.
 *
 *   VERTEX      a vertex over a surface of the cylinder, an end or the side: its height; over none: its distance
 *   EDGE        an edge over the side: distance of the axis along their common perpendicular, less the radius; beside a rim:
 *               signed distance of the edge's line, where the closest point is between its ends, else of its closest point
 *   RIM         the point of an end's disc that is lowest over a face: its height, beside the face its distance from the hull
 *   POINT       a point fixed on a rim, over a face: likewise; these hold a cylinder that stands
 *   CHORD       where an edge that lies on an end crosses its rim: height of that point over the end. It slides along the
 *               edge, so its rate is that of the material points where the edge is parallel to the end, nearly so near it
 *   CUT         where an edge that lies along the side crosses the plane of an end: height over the side, likewise
 *
 *   SLAB        an end against the lowest vertex over it, or (FLAT) a face against the lowest point of an end over it, for
 *               shapes that overlap deeply
 *
 * A point over a surface has its height over that surface, however near the rim it is (cylinder_cylinder.c says why).
 *
 * Apart, each is the distance of two points of the shapes, and the least of VERTEX, EDGE and RIM is the distance. Features are
 * reported whose normal is near that of the best separating slab among the normals of faces, ends and these features;
 * of shapes that overlap deeply the one with the shortest way out decides. */
#include "geom/cylinder.h"
#include "geom/hull.h"

enum { VERTEX, EDGE, RIM, POINT, CHORD, CUT, SLAB, FLAT };
enum { NO_SURFACE = SS_CYLINDER_SIDE + 1 };
static const double similar = 0.9;    /* cosine */
static const double standing = 0.3;   /* sine */
static const double level = 0.02;     /* sine: an edge that lies on an end, or along the side */
static const double tolerated = 0.02; /* of the size: a closed contact's normal separates the shapes but for this */
static const double margin = 1e-9;    /* of a half length */

/* The hull in its frame, the cylinder placed there. */
typedef struct scene {
  const struct ss_hull *hull;
  ss_cylinder c;
  ss_vec3 center;
  ss_quat turn; /* from the cylinder's frame to the hull's */
  double radius, size;
} scene;

static uint32_t encode(uint32_t kind, int index, int end, int k) {
  return kind << 20 | (uint32_t)index << 8 | (uint32_t)end << 4 | (uint32_t)k;
}

static scene scene_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                        ss_hull_room *room) {
  return (scene){ss_hull_of(a, room),
                 cylinder_of(b),
                 pose_local(pa, pb->position),
                 quat_multiply(quat_conjugate(pa->orientation), pb->orientation),
                 a->radius,
                 fmin(a->reach, b->reach)};
}

static ss_vec3 to_cylinder(const scene *s, ss_vec3 p) {
  return quat_rotate(quat_conjugate(s->turn), v3_sub(p, s->center));
}
static ss_vec3 from_cylinder(const scene *s, ss_vec3 p) { return v3_add(s->center, quat_rotate(s->turn, p)); }

/* The cylinder's point is foot, the hull's without its radius d further along n (cylinder frame); everything is given back in the
 * hull's frame. */
static void fill_point(const scene *s, double d, ss_vec3 n, ss_vec3 foot, ss_contact_point *out) {
  out->gap = d - s->radius;
  out->normal = quat_rotate(s->turn, n);
  out->point_b = from_cylinder(s, foot);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
}

/* How high a vertex is above the rim's point p along the ends of a chord: the end's normal and the side's. */
typedef struct chord_height {
  double end, side;
} chord_height;

static double height_at(chord_height h, double part) { return (1 - part) * h.end + part * h.side; }

static chord_height lowest_at(const scene *s, ss_vec3 p, ss_vec3 end, ss_vec3 side, double part) {
  chord_height lowest = {0, 0};
  for (int i = 0; i < s->hull->n_vertices; i++) {
    const ss_vec3 arm = v3_sub(to_cylinder(s, s->hull->vertex[i]), p);
    const chord_height h = {v3_dot(end, arm), v3_dot(side, arm)};
    if (i == 0 || height_at(h, part) < height_at(lowest, part)) lowest = h;
  }
  return lowest;
}

/* Of the normals of the rim's point next to y the one that separates best: the lowest vertex' height over the point is concave along the
 * chord between those of the end and the side. Where two lines cross, of which one is lowest at each end, another may be lower. */
static ss_vec3 rim_normal(const scene *s, ss_vec3 y) {
  const ss_vec3 end = v3(y.x < 0 ? -1 : 1, 0, 0);
  ss_vec3 side;
  (void)length_and_direction(v3(0, y.y, y.z), v3(0, 1, 0), &side);
  const ss_vec3 p = v3_axpy(v3_scale(s->c.half, end), s->c.radius, side);
  chord_height low = lowest_at(s, p, end, side, 0), high = lowest_at(s, p, end, side, 1);
  if (low.side <= low.end) return end;
  if (high.side >= high.end) return side;
  double part = 0;
  for (int k = 0; k < s->hull->n_vertices; k++) {
    const double fall = high.end - high.side;
    part = (high.end - low.end) / (low.side - low.end + fall);
    const chord_height next = lowest_at(s, p, end, side, part);
    if (!(height_at(next, part) < height_at(low, part) - 1e-15 * s->size)) break;
    if (next.side > next.end)
      low = next;
    else
      high = next;
  }
  return v3_normalize(v3_axpy(v3_scale(1 - part, end), part, side));
}

/* A point of the hull over a surface, or by its distance; on a rim, but for rounding, which is no direction. */
static bool contact_of_point(const scene *s, ss_vec3 y, int surface, ss_contact_point *out) {
  ss_vec3 n, foot;
  const bool over = surface != NO_SURFACE && ss_cylinder_over(s->c, y, surface, margin * s->size);
  const double d = over ? ss_cylinder_height(s->c, y, surface, &n, &foot) : ss_cylinder_distance(s->c, y, &n, &foot);
  if (!over && fabs(d) <= 1e-12 * s->size) n = rim_normal(s, y);
  fill_point(s, d, n, foot, out);
  return over || surface == NO_SURFACE;
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
  if (over && (out->gap >= 0 || !ss_hull_passed_through(s->hull, p, -out->gap, margin * s->size, s->size))) return true;
  ss_vec3 n, foot;
  out->gap = ss_hull_distance(s->hull, p, &n, &foot);
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

/* Is an edge parallel to the axis, nearly? */
static bool lies_along(const scene *s, int edge) {
  const ss_vec3 axis = edge_seen(s, edge).axis;
  return hypot(axis.y, axis.z) < level;
}

/* Of the hull, over an end, in the cylinder's frame. */
static ss_vec3 lowest_vertex(const scene *s, double side) {
  ss_vec3 lowest = to_cylinder(s, s->hull->vertex[0]);
  for (int i = 1; i < s->hull->n_vertices; i++) {
    const ss_vec3 y = to_cylinder(s, s->hull->vertex[i]);
    if (side * y.x < side * lowest.x) lowest = y;
  }
  return lowest;
}

/* Of an end's disc over a face, in the hull's frame. */
static ss_vec3 lowest_of_end(const scene *s, int face, int end) {
  const ss_vec3 down = quat_rotate(quat_conjugate(s->turn), v3_neg(s->hull->face[face].normal));
  return from_cylinder(s, ss_disc_support(s->c, end, down));
}

/* Does an edge cross the lines of the side? */
static bool is_across(const ss_segment *e) { return hypot(e->axis.y, e->axis.z) > SS_ACROSS; }

/* An edge over the side, where the feet of the common perpendicular with the axis are inside both. */
static bool edge_over_side(const scene *s, const ss_segment *e, ss_contact_point *out) {
  const ss_segment axis = {v3(0, 0, 0), v3(1, 0, 0), s->c.half};
  const double inside = is_across(e) ? -SS_EDGE_ENDS * e->half : margin / 2 * s->size;
  double t, x;
  ss_vec3 n, foot;
  if (!segments_cross(e, &axis) || !segment_perpendicular(e, &axis, &t, &x, &n) || !segment_contains(e, t, inside) ||
      fabs(x) > s->c.half + margin * s->size)
    return false;
  const double d = ss_cylinder_height(s->c, segment_point(e, t), SS_CYLINDER_SIDE, &n, &foot);
  fill_point(s, d, n, foot, out);
  return true;
}

static bool edge_beside(const scene *s, const ss_segment *e, ss_contact_point *out) {
  ss_vec3 n, foot;
  const double d = ss_cylinder_line(s->c, e->center, e->axis, &n, &foot), t = v3_dot(e->axis, v3_sub(foot, e->center));
  if (segment_contains(e, t, margin * e->half)) {
    const bool along_end = hypot(n.y, n.z) < 1e-9; /* where the line goes on to the rim the edge may not */
    if (along_end) return contact_of_point(s, segment_point(e, t), n.x > 0, out);
    const ss_segment axis = {v3(0, 0, 0), v3(1, 0, 0), s->c.half};
    return fill_point(s, d, n, foot, out), segments_cross(e, &axis);
  }
  (void)contact_of_point(s, segment_point(e, ss_cylinder_segment(s->c, e)), NO_SURFACE, out);
  return false;
}

/* A point that slides along an edge, where it is on both shapes. */
static bool edge_at(const scene *s, const ss_segment *e, double t, bool valid, int surface, ss_contact_point *out) {
  const ss_vec3 y = segment_point(e, clamp(t, e->half));
  return contact_of_point(s, y, valid ? surface : NO_SURFACE, out) && valid;
}

static bool cut(const scene *s, const ss_segment *e, int end, ss_contact_point *out) {
  const bool along = fabs(e->axis.x) > 0.5;
  const double t = along ? ((end ? s->c.half : -s->c.half) - e->center.x) / e->axis.x : 0;
  return edge_at(s, e, t, along && segment_contains(e, t, margin / 2 * s->size), SS_CYLINDER_SIDE, out);
}

static bool chord(const scene *s, const ss_segment *e, int end, int k, ss_contact_point *out) {
  double t;
  const bool crosses = ss_cylinder_chord(s->c, e, k, margin / 2 * s->size, &t);
  return edge_at(s, e, t, crosses, end, out);
}

/* Returns whether the feature's points belong to the shapes; the contact is filled in anyway. */
static bool feature_contact(const scene *s, uint32_t feature, ss_contact_point *out) {
  const int index = (int)(feature >> 8 & 0xfff), end = (int)(feature >> 4 & 15), k = (int)(feature & 15);
  const uint32_t kind = feature >> 20;
  const double side = end ? 1 : -1;
  const ss_segment e = kind == EDGE || kind == CHORD || kind == CUT ? edge_seen(s, index) : (ss_segment){0};
  bool valid = true;
  out->feature = feature;
  switch (kind) {
  case VERTEX:
    return contact_of_point(s, to_cylinder(s, s->hull->vertex[index]), end, out);
  case EDGE:
    if (end != SS_CYLINDER_SIDE) return edge_beside(s, &e, out);
    valid = edge_over_side(s, &e, out);
    if (!valid) (void)edge_beside(s, &e, out);
    return valid;
  case RIM:
    return contact_by_face(s, lowest_of_end(s, index, end), index, out);
  case POINT:
    return contact_by_face(s, from_cylinder(s, ss_rim_point(s->c, end, k)), index, out);
  case CHORD:
    return chord(s, &e, end, k, out);
  case CUT:
    return cut(s, &e, end, out);
  case FLAT:
    contact_of_height(s, lowest_of_end(s, index, end), index, out);
    return true;
  default: {
    const ss_vec3 y = lowest_vertex(s, side), n = v3(side, 0, 0);
    const double d = side * y.x - s->c.half;
    fill_point(s, d, n, v3_axpy(y, -d, n), out);
    return true;
  }
  }
}

/* ---- the normal ---- */

/* Distance of the slabs across the unit vector n, which points from the cylinder to the hull, without its radius. */
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

static void consider(const scene *s, ss_vec3 n, uint32_t feature, choice *best) {
  const double value = separation(s, n);
  if (value > best->separation) *best = (choice){n, value, feature};
}

/* No slab is wider than two points of the shapes are apart. */
static void consider_feature(const scene *s, uint32_t feature, choice *best) {
  ss_contact_point c;
  if (feature_contact(s, feature, &c) && c.gap + s->radius > best->separation) consider(s, c.normal, feature, best);
}

/* Faces and ends first: `flat` is the best of them. */
static choice best_normal(const scene *s, choice *flat) {
  choice best = {v3(0, 0, 1), -INFINITY, 0};
  for (int i = 0; i < s->hull->n_faces; i++) {
    const ss_vec3 n = v3_neg(s->hull->face[i].normal);
    const int end = quat_rotate(quat_conjugate(s->turn), n).x > 0;
    consider(s, n, encode(FLAT, i, end, 0), &best);
  }
  for (int end = 0; end < 2; end++)
    consider(s, quat_rotate(s->turn, v3(end ? 1 : -1, 0, 0)), encode(SLAB, 0, end, 0), &best);
  *flat = best;
  for (int i = 0; i < s->hull->n_edges; i++) {
    consider_feature(s, encode(EDGE, i, SS_CYLINDER_SIDE, 0), &best);
    consider_feature(s, encode(EDGE, i, NO_SURFACE, 0), &best);
    for (int end = 0; lies_along(s, i) && end < 2; end++) consider_feature(s, encode(CUT, i, end, 0), &best);
  }
  for (int i = 0; i < s->hull->n_vertices; i++) {
    const uint32_t feature = encode(VERTEX, i, NO_SURFACE, 0);
    ss_contact_point c;
    consider_feature(s, encode(VERTEX, i, SS_CYLINDER_SIDE, 0), &best);
    consider_feature(s, feature, &best);
    (void)feature_contact(s, feature, &c);
    if (c.gap + s->radius < 0)
      consider(s, quat_rotate(s->turn, rim_normal(s, to_cylinder(s, s->hull->vertex[i]))), feature, &best);
  }
  return best;
}

/* ---- contacts ---- */

typedef struct collector {
  const scene *s;
  ss_vec3 n;
  double reach, least; /* least: distance without the radius */
  ss_contact_point *out;
  int count;
} collector;

static bool is_line_end(const void *context, uint32_t feature) {
  const scene *s = context;
  if (feature >> 20 != EDGE) return feature >> 20 == RIM;
  const ss_segment e = edge_seen(s, (int)(feature >> 8 & 0xfff));
  return (feature >> 4 & 15) == SS_CYLINDER_SIDE && is_across(&e);
}
static bool is_spare(const void *context, uint32_t feature) {
  (void)context;
  return feature >> 20 == VERTEX && (feature >> 4 & 15) == SS_CYLINDER_SIDE;
}

static void collect(collector *c, uint32_t feature) {
  ss_contact_point contact;
  if (!feature_contact(c->s, feature, &contact) || v3_dot(contact.normal, c->n) < similar) return;
  if (contact.gap <= margin * c->s->size &&
      separation(c->s, contact.normal) < contact.gap + c->s->radius - tolerated * c->s->size)
    return;
  /* an edge's end or a rim's point that is there already, or another one close to it where an edge touches a rim */
  const uint32_t kind = feature >> 20;
  const bool spare = kind == POINT || kind == CHORD || kind == CUT || (feature >> 4 & 15) == NO_SURFACE;
  const double near = (spare ? 1e-3 : margin) * c->s->size, lower = (spare ? margin : 1e-14) * c->s->size;
  for (int i = 0; i < c->count; i++)
    if (v3_norm(v3_sub(c->out[i].point_a, contact.point_a)) <= near &&
        v3_norm(v3_sub(c->out[i].point_b, contact.point_b)) <= near && contact.gap > c->out[i].gap - lower)
      return;
  c->least = fmin(c->least, contact.gap + c->s->radius);
  c->count = contact_add(c->out, c->count, &contact, c->reach);
}

/* Vertices and edges over the cylinder's surfaces that face the hull, then those beside them. */
static void collect_all(collector *c) {
  const scene *s = c->s;
  const ss_vec3 axis = quat_rotate(s->turn, v3(1, 0, 0));
  const double rise = v3_dot(axis, c->n);
  const bool stands = v3_norm(v3_cross(axis, c->n)) < standing, lies = fabs(rise) < sqrt(1 - similar * similar);
  const int end = rise > 0; /* the one that faces the hull */
  for (int i = 0; fabs(rise) > similar && i < s->hull->n_vertices; i++) collect(c, encode(VERTEX, i, end, 0));
  for (int i = 0; i < s->hull->n_faces; i++) {
    if (-v3_dot(s->hull->face[i].normal, c->n) < similar) continue;
    for (int k = 0; stands && k < SS_RIM_POINTS; k++) collect(c, encode(POINT, i, end, k));
    for (int e = 0; e < 2; e++) collect(c, encode(RIM, i, e, 0));
  }
  for (int i = 0; i < s->hull->n_edges; i++) {
    const double slope = fabs(v3_dot(hull_edge(s->hull, i).axis, axis));
    for (int k = 0; stands && slope < level && k < 2; k++) collect(c, encode(CHORD, i, end, k));
    for (int e = 0; lies && lies_along(s, i) && e < 2; e++) collect(c, encode(CUT, i, e, 0));
    if (lies) collect(c, encode(EDGE, i, SS_CYLINDER_SIDE, 0));
  }
  for (int i = 0; lies && i < s->hull->n_vertices; i++) collect(c, encode(VERTEX, i, SS_CYLINDER_SIDE, 0));
  for (int i = 0; i < s->hull->n_vertices; i++) collect(c, encode(VERTEX, i, NO_SURFACE, 0));
  for (int i = 0; i < s->hull->n_edges; i++) collect(c, encode(EDGE, i, NO_SURFACE, 0));
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
  if (best.separation - s.radius > reach) return 0;
  collector c = {&s, best.n, reach, INFINITY, out, 0};
  collect_all(&c);
  c.count = ss_contacts_without_spare(out, c.count, is_line_end, is_spare, &s, s.size);
  const double tolerance = margin * s.size;
  const bool apart = best.separation > -1e-6 * s.size && isfinite(c.least);
  if (!apart &&
      c.least > tolerance) { /* deep, or a vertex under a rim: the feature of the chosen normal, or the best slab */
    ss_contact_point contact;
    (void)feature_contact(&s, best.feature, &contact);
    const bool closed = contact.gap + s.radius <= fmin(best.separation + tolerated * s.size, 0);
    if (!closed) (void)feature_contact(&s, flat.feature, &contact);
    /* lines that nearly lie on each other: the way out through a face is no measure of what their normals err by */
    if (closed || c.count == 0 || flat.separation > 10 * best.separation)
      c.count = contact_add(out, c.count, &contact, reach);
  }
  for (int i = 0; i < c.count; i++) to_world(pa, &out[i]);
  return c.count;
}

static void hull_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                     ss_contact_point *out) {
  ss_hull_room room;
  const scene s = scene_make(a, pa, b, pb, &room);
  out->left = !feature_contact(&s, feature, out);
  to_world(pa, out);
}

const ss_pair ss_pair_hull_cylinder = {hull_collide, hull_gap};
