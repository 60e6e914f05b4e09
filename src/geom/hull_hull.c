/* Convex polyhedra with each other, with half-spaces, spheres and capsules. A capsule is an edge with a radius.
 *
 *   VERTEX_A, _B  a vertex of one and a face of the other: height over its plane where it is over the face, but for a
 *                 tolerance; elsewhere, or where no face is given, the signed distance from the polyhedron
 *   EDGES         an edge of each: signed distance along their common perpendicular, where its feet are between the ends
 *   SLAB_A, _B    a face of one and the lowest vertex of the other, for polyhedra that overlap deeply
 *
 * Apart, each is the distance of two points of the shapes, and the least is the distance. Reported are the features whose
 * normal is near that of the best separating slab among the normals of faces and features. A face on a face has the corners of
 * the common polygon; those where edges cross by less than a degree are left to the vertices near by. */
#include "geom/hull.h"

enum { VERTEX_A, VERTEX_B, EDGES, SLAB_A, SLAB_B, NO_FACE = 0x3ff };
static const double similar = 0.9;    /* cosine */
static const double parallel = 0.02;  /* sine */
static const double margin = 1e-9;    /* of the size */
static const double tolerated = 0.02; /* of the size: a closed contact's normal separates the shapes but for this */

/* Both in b's frame. */
typedef struct couple {
  const struct ss_hull *a, *b;
  ss_vec3 center; /* of a */
  ss_quat turn;   /* from a's frame */
  double radius, size;
} couple;

static couple couple_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                          ss_hull_room room[2]) {
  return (couple){ss_hull_of(a, &room[0]),
                  ss_hull_of(b, &room[1]),
                  pose_local(pb, pa->position),
                  quat_multiply(quat_conjugate(pb->orientation), pa->orientation),
                  b->radius,
                  fmin(a->reach, b->reach)};
}

static uint32_t encode(uint32_t kind, int i, int j) { return kind << 20 | (uint32_t)i << 10 | (uint32_t)j; }

static ss_vec3 from_a(const couple *c, ss_vec3 p) { return v3_add(c->center, quat_rotate(c->turn, p)); }
static ss_vec3 to_a(const couple *c, ss_vec3 p) { return quat_rotate(quat_conjugate(c->turn), v3_sub(p, c->center)); }

static ss_segment edge_of_a(const couple *c, int i) {
  ss_segment e = hull_edge(c->a, i);
  e.center = from_a(c, e.center);
  e.axis = quat_rotate(c->turn, e.axis);
  return e;
}

/* Out of the solid at an edge. */
static ss_vec3 outward(const struct ss_hull *hull, int edge) {
  const ss_hull_edge *e = &hull->edge[edge];
  if (hull->n_faces == 0) return v3(0, 0, 0);
  return v3_add(hull->face[e->left].normal, hull->face[e->right].normal);
}

/* b's point is foot, the distance is d along n; b's surface is the radius further on. */
static void fill(const couple *c, double d, ss_vec3 n, ss_vec3 foot_b, ss_contact_point *out) {
  out->gap = d - c->radius;
  out->normal = n;
  out->point_b = v3_axpy(foot_b, c->radius, n);
  out->point_a = v3_axpy(out->point_b, out->gap, n);
}

static ss_vec3 lowest_over(const struct ss_hull *of, ss_vec3 n) {
  const ss_vec3 *lowest = of->vertex;
  for (const ss_vec3 *v = of->vertex; v < of->vertex + of->n_vertices; v++)
    if (v3_dot(n, *v) < v3_dot(n, *lowest)) lowest = v;
  return *lowest;
}

/* A face and the other's lowest vertex over it; returns their distance, without the radius. */
static double slab(const couple *c, bool of_a, int face, ss_contact_point *out) {
  if (of_a) { /* b's lowest vertex over a face of a */
    const ss_vec3 n = quat_rotate(c->turn, c->a->face[face].normal);
    const ss_vec3 v = lowest_over(c->b, n);
    const double d = hull_height(c->a, face, to_a(c, v));
    fill(c, d, v3_neg(n), v, out);
    return d;
  }
  const ss_vec3 n = c->b->face[face].normal;
  const ss_vec3 p = from_a(c, lowest_over(c->a, quat_rotate(quat_conjugate(c->turn), n)));
  const double d = hull_height(c->b, face, p);
  fill(c, d, n, v3_axpy(p, -d, n), out);
  return d;
}

/* Do the points belong to the shapes? GRAZING: edges that are nearly parallel; the direction of their common perpendicular is
 * that of a small difference, not to be used for faces that lie on each other. ASKEW: a vertex beside a face, over an
 * edge or a vertex, which edges that cross there know better: what is between points that touch is no direction. BORDER: edges that cross in an end of one of them, but for the tolerance. */
typedef enum validity { OUTSIDE, GRAZING, ASKEW, BORDER, SOUND } validity;

/* Distance of p by way of a face: the height over its plane where p is over the face, or under it but not on the other side
 * of the solid. OUTSIDE: p is neither over or under the face, nor above its plane. */
static double distance_by_face(const struct ss_hull *hull, double size, ss_vec3 p, int face, ss_vec3 *n, ss_vec3 *foot,
                               validity *valid) {
  const double tolerance = margin * size;
  *valid = SOUND;
  if (face < hull->n_faces) {
    const double height = hull_height(hull, face, p);
    if (ss_hull_over(hull, face, p, tolerance) &&
        (height >= 0 || !ss_hull_passed_through(hull, p, -height, tolerance, size))) {
      *n = hull->face[face].normal;
      *foot = v3_axpy(p, -height, *n);
      return height;
    }
    *valid = height < 0 ? OUTSIDE : ASKEW;
  }
  return ss_hull_distance(hull, p, n, foot);
}

/* Does one of the edges pass through the other's solid? A capsule's axis is none. */
static bool edges_meet(const couple *c, const ss_segment *a, const ss_segment *b) {
  const ss_segment seen = {to_a(c, b->center), quat_rotate(quat_conjugate(c->turn), b->axis), b->half};
  double middle;
  return (c->b->n_faces > 0 && ss_hull_meets(c->b, a, &middle)) || ss_hull_meets(c->a, &seen, &middle);
}

static validity feature_contact(const couple *c, uint32_t feature, ss_contact_point *out) {
  const int i = (int)(feature >> 10 & 0x3ff), j = (int)(feature & 0x3ff);
  ss_vec3 n, foot;
  double d, s, t;
  validity valid = SOUND;
  switch (feature >> 20) {
  case VERTEX_A:
    d = distance_by_face(c->b, c->size, from_a(c, c->a->vertex[i]), j, &n, &foot, &valid);
    fill(c, d, n, foot, out);
    break;
  case VERTEX_B:
    d = distance_by_face(c->a, c->size, to_a(c, c->b->vertex[i]), j, &n, &foot, &valid);
    fill(c, d, v3_neg(quat_rotate(c->turn, n)), c->b->vertex[i], out);
    break;
  case EDGES: {
    const ss_segment a = edge_of_a(c, i), b = hull_edge(c->b, j);
    const ss_vec3 away = v3_sub(outward(c->b, j), quat_rotate(c->turn, outward(c->a, i)));
    d = ss_edge_distance(&a, &b, away, &n, &s, &t);
    if (d < -margin * c->size && !edges_meet(c, &a, &b)) d = edges_apart(d, &n);
    bool meet = segment_contains(&a, s, -margin * a.half) && segment_contains(&b, t, -margin * b.half);
    const bool border = !segment_contains(&a, s, margin * a.half) || !segment_contains(&b, t, margin * b.half);
    if (border) meet &= fabs(v3_dot(n, a.axis)) < 1e-6 && fabs(v3_dot(n, b.axis)) < 1e-6; /* not two ends */
    if (c->b->n_faces == 0) /* a capsule's end is VERTEX_B */
      meet &= segments_cross(&a, &b) && segment_contains(&b, t, margin * b.half);
    if (border) valid = BORDER;
    if (v3_norm(v3_cross(a.axis, b.axis)) <= parallel) valid = GRAZING;
    if (!meet) valid = OUTSIDE;
    fill(c, d, n, segment_point(&b, t), out);
    break;
  }
  default:
    (void)slab(c, feature >> 20 == SLAB_A, i, out);
  }
  out->feature = feature;
  return valid;
}

/* Distance of the slabs of the two polyhedra (without radius) across n. */
static double separation(const couple *c, ss_vec3 n) {
  const ss_vec3 in_a = quat_rotate(quat_conjugate(c->turn), n);
  const ss_vec3 low = lowest_over(c->a, in_a), high = lowest_over(c->b, v3_neg(n));
  return v3_dot(n, c->center) + v3_dot(in_a, low) - v3_dot(n, high);
}

typedef struct search {
  ss_vec3 n;
  double separation;
  uint32_t feature; /* that has n */
  uint32_t flat;    /* slab to fall back on */
} search;

static void consider(const couple *c, uint32_t feature, search *s) {
  ss_contact_point contact;
  if (feature_contact(c, feature, &contact) == OUTSIDE) return;
  const double d = contact.gap + c->radius;
  if (!(d > s->separation)) return; /* no slab is wider than two points are apart */
  const double value = separation(c, contact.normal);
  if (value > s->separation) s->n = contact.normal, s->separation = value, s->feature = feature;
}

static search best_normal(const couple *c) {
  search s = {v3(0, 0, 1), -INFINITY, SLAB_A << 20, SLAB_A << 20};
  ss_contact_point contact;
  for (int of_a = 0; of_a < 2; of_a++)
    for (int i = 0; i < (of_a ? c->a : c->b)->n_faces; i++) {
      const double d = slab(c, of_a, i, &contact);
      if (d <= s.separation) continue;
      const uint32_t feature = encode(of_a ? SLAB_A : SLAB_B, i, 0);
      s = (search){contact.normal, d, feature, feature};
    }
  for (int i = 0; i < c->a->n_vertices; i++) consider(c, encode(VERTEX_A, i, NO_FACE), &s);
  for (int j = 0; j < c->b->n_vertices; j++) consider(c, encode(VERTEX_B, j, NO_FACE), &s);
  for (int i = 0; i < c->a->n_edges; i++)
    for (int j = 0; j < c->b->n_edges; j++) consider(c, encode(EDGES, i, j), &s);
  return s;
}

static int face_towards(const struct ss_hull *hull, ss_vec3 n) {
  int best = NO_FACE;
  for (int i = 0; i < hull->n_faces; i++)
    if (best == NO_FACE || v3_dot(hull->face[i].normal, n) > v3_dot(hull->face[best].normal, n)) best = i;
  return best;
}

typedef struct collector {
  const couple *c;
  ss_vec3 n;
  double reach;
  ss_contact_point *out;
  int count;
  double least; /* distance, without the radius */
} collector;

/* Of the line along which a capsule lies on a face. */
static bool is_line_end(const void *context, uint32_t feature) {
  const couple *c = context;
  const int i = (int)(feature >> 10 & 0x3ff), j = (int)(feature & 0x3ff);
  if (feature >> 20 == VERTEX_B)
    return j < c->a->n_faces && ss_hull_over(c->a, j, to_a(c, c->b->vertex[i]), margin * c->size);
  if (feature >> 20 != EDGES) return false;
  const ss_segment a = edge_of_a(c, i), b = hull_edge(c->b, j);
  return v3_norm(v3_cross(a.axis, b.axis)) > SS_ACROSS;
}

static bool is_spare(const void *context, uint32_t feature) {
  return feature >> 20 == VERTEX_A || (feature >> 20 == VERTEX_B && !is_line_end(context, feature));
}

static void collect(collector *k, uint32_t feature, validity wanted) {
  ss_contact_point contact;
  if (feature_contact(k->c, feature, &contact) != wanted || v3_dot(contact.normal, k->n) < similar) return;
  const double d = contact.gap + k->c->radius;
  if (contact.gap <= margin * k->c->size && separation(k->c, contact.normal) < d - tolerated * k->c->size) return;
  for (int i = 0; i < k->count; i++) { /* a vertex on a vertex or an edge is seen from both sides */
    if (v3_norm(v3_sub(k->out[i].point_a, contact.point_a)) <= 4 * margin * k->c->size &&
        v3_norm(v3_sub(k->out[i].point_b, contact.point_b)) <= 4 * margin * k->c->size &&
        contact.gap > k->out[i].gap - 1e-14 * k->c->size)
      return;
  }
  k->least = fmin(k->least, d);
  k->count = contact_add(k->out, k->count, &contact, k->reach);
}

/* None of the contacts is as near as the shapes are, or closed where they overlap: nearly parallel edges that cross, or deep. */
static void collect_missing(collector *k, const search *s) {
  const double tolerance = margin * k->c->size;
  if (k->least <= fmax(s->separation, 0) + tolerance) return;
  const bool by_feature = s->separation > 0 || s->feature >> 20 == EDGES;
  ss_contact_point contact;
  (void)feature_contact(k->c, by_feature ? s->feature : s->flat, &contact);
  const int n_a = k->c->a->n_vertices, n_b = k->c->b->n_vertices;
  /* a vertex on a vertex, where there is no direction; but it must separate like any closed contact's */
  for (int i = 0; i < n_a + n_b && s->separation > -tolerance; i++) {
    ss_contact_point other;
    (void)feature_contact(k->c, i < n_a ? encode(VERTEX_A, i, NO_FACE) : encode(VERTEX_B, i - n_a, NO_FACE), &other);
    if (other.gap < contact.gap - tolerance && separation(k->c, other.normal) > -tolerated * k->c->size)
      contact = other;
  }
  k->count = contact_add(k->out, k->count, &contact, k->reach);
}

static void to_world(const ss_pose *pb, ss_contact_point *c) {
  c->normal = quat_rotate(pb->orientation, c->normal);
  c->point_a = pose_point(pb, c->point_a);
  c->point_b = pose_point(pb, c->point_b);
}

static int hulls_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                         ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  ss_hull_room room[2];
  const couple c = couple_make(a, pa, b, pb, room);
  const search s = best_normal(&c);
  if (s.separation - c.radius > reach) return 0;
  collector k = {&c, s.n, reach, out, 0, INFINITY};
  const int face_a = face_towards(c.a, v3_neg(quat_rotate(quat_conjugate(c.turn), s.n)));
  const int face_b = face_towards(c.b, s.n);
  const bool capsule = c.b->n_faces == 0; /* corners last: they are those that can be done without */
  for (int i = 0; !capsule && i < c.a->n_vertices; i++) collect(&k, encode(VERTEX_A, i, face_b), SOUND);
  for (int j = 0; j < c.b->n_vertices; j++) collect(&k, encode(VERTEX_B, j, face_a), SOUND);
  for (validity wanted = SOUND; wanted >= BORDER; wanted--)
    for (int i = 0; i < c.a->n_edges; i++)
      for (int j = 0; j < c.b->n_edges; j++) collect(&k, encode(EDGES, i, j), wanted);
  for (int i = 0; i < c.a->n_vertices; i++) collect(&k, encode(VERTEX_A, i, face_b), capsule ? SOUND : ASKEW);
  for (int j = 0; j < c.b->n_vertices; j++) collect(&k, encode(VERTEX_B, j, face_a), ASKEW);
  if (capsule) k.count = ss_contacts_without_spare(out, k.count, is_line_end, is_spare, &c, c.size);
  collect_missing(&k, &s);
  for (int i = 0; i < k.count; i++) to_world(pb, &out[i]);
  return k.count;
}

static void hulls_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                      ss_contact_point *out) {
  ss_hull_room room[2];
  const couple c = couple_make(a, pa, b, pb, room);
  out->left = feature_contact(&c, feature, out) == OUTSIDE;
  to_world(pb, out);
}

const ss_pair ss_pair_hull_hull = {hulls_collide, hulls_gap};

/* ---- a sphere or a point, a half-space ---- */

static void sphere_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                       ss_contact_point *out) {
  ss_hull_room room;
  ss_vec3 n, foot;
  const double d = ss_hull_distance(ss_hull_of(b, &room), pose_local(pb, pa->position), &n, &foot);
  out->gap = d - a->radius;
  out->normal = quat_rotate(pb->orientation, n);
  out->point_b = pose_point(pb, foot);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  out->feature = feature;
}

static int sphere_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                          ss_contact_point out[SS_PAIR_CONTACTS]) {
  sphere_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_sphere_hull = {sphere_collide, sphere_gap};

static void plane_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                      ss_contact_point *out) {
  (void)a;
  const ss_vec3 n = quat_axis_z(pa->orientation), arm = quat_rotate(pb->orientation, b->hull->vertex[feature]);
  out->gap = v3_dot(n, v3_sub(pb->position, pa->position)) + v3_dot(n, arm);
  out->normal = v3_neg(n);
  out->point_b = v3_add(pb->position, arm);
  out->point_a = v3_axpy(out->point_b, -out->gap, n);
  out->feature = feature;
}

static int plane_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                         ss_contact_point out[SS_PAIR_CONTACTS]) {
  int count = 0;
  for (int i = 0; i < b->hull->n_vertices; i++) {
    ss_contact_point contact;
    plane_gap(a, pa, b, pb, (uint32_t)i, &contact);
    count = contact_add(out, count, &contact, reach);
  }
  return count;
}

const ss_pair ss_pair_half_space_hull = {plane_collide, plane_gap};
