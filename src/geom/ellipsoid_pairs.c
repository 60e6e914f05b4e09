/* Ellipsoids (and ellipses of planar scenes) against spheres, capsules, boxes and convex polyhedra.
 *
 * The gap is the least signed distance d(y) of the other shape's points y from the ellipsoid, less its radius. d is convex, so
 * that a point at which it cannot be lessened within the other shape is the one: a sphere's centre, a point of a
 * capsule's axis, of an edge, or of a face. Over a face with normal m it is the point above or below the ellipsoid's support
 * point along -m, if that is over the face; then the gap is that of the face's plane. Being strictly convex an ellipsoid
 * touches in one point, feature 0, whose gap is continuously differentiable and analytic while it stays on one edge or face.
 *
 * Shapes that overlap deeply have no unique way out: the face with the shortest one decides unless an edge's plane has the
 * polyhedron on its far side and is shorter still. */
#include "geom/ellipsoid.h"
#include "geom/hull.h"

static const double deep = 0.01; /* of the ellipsoid's size */

/* Infinite across its plane. */
static bool is_ellipse(ss_vec3 half) { return half.x == 0 || half.y == 0 || half.z == 0; }

/* A contact seen from the ellipsoid's frame: y of the other shape at distance d along n from the ellipsoid. */
static void contact_from_inside(const ss_pose *ellipsoid, double distance, double radius, ss_vec3 n, ss_vec3 foot,
                                ss_contact_point *out) {
  out->gap = distance - radius;
  out->normal = quat_rotate(ellipsoid->orientation, n);
  out->point_b = pose_point(ellipsoid, foot);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  out->feature = 0;
}

static void sphere_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                       ss_contact_point *out) {
  (void)feature;
  ss_vec3 n, foot;
  const double distance = ss_ellipsoid_distance(b->half, pose_local(pb, pa->position), &n, &foot);
  contact_from_inside(pb, distance, a->radius, n, foot, out);
}

static int sphere_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                          ss_contact_point out[SS_PAIR_CONTACTS]) {
  sphere_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_sphere_ellipsoid = {sphere_collide, sphere_gap};

/* Is the segment's point s, which has the normal n, stationary? Not so in the kinks of the distance, deep inside. */
static bool stationary(const ss_segment *segment, double s, ss_vec3 n) {
  return fabs(s) == segment->half || fabs(v3_dot(n, segment->axis)) < 1e-6;
}

/* For a segment deep inside: the ellipsoid's axis along which the way out is shortest. */
static double shortest_way(ss_vec3 half, const ss_segment *segment, ss_vec3 *n, ss_vec3 *foot) {
  double best = -INFINITY;
  for (int i = 0; i < 6; i++) {
    const int k = i / 2;
    const ss_vec3 m = axis_vector(k, sign_of(i & 1));
    const ss_vec3 y = segment_point(segment, v3_dot(m, segment->axis) > 0 ? -segment->half : segment->half);
    const double distance = v3_dot(m, y) - v3_get(half, k);
    if (v3_get(half, k) == 0 || !(distance > best)) continue;
    best = distance, *n = m, *foot = v3_axpy(y, -distance, m);
  }
  return best;
}

static void capsule_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                        ss_contact_point *out) {
  (void)feature;
  const ss_quat turn = quat_multiply(quat_conjugate(pb->orientation), pa->orientation);
  const ss_segment axis = {pose_local(pb, pa->position), quat_axis_x(turn), a->half.x};
  ss_vec3 n, foot;
  const double s = ss_ellipsoid_segment(b->half, &axis);
  double distance = ss_ellipsoid_distance(b->half, segment_point(&axis, s), &n, &foot);
  if (!stationary(&axis, s, n)) distance = shortest_way(b->half, &axis, &n, &foot);
  contact_from_inside(pb, distance, a->radius, n, foot, out);
}

static bool far_apart(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach) {
  return !is_ellipse(b->half) && v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach;
}

static int capsule_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                           ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (far_apart(a, pa, b, pb, reach)) return 0;
  capsule_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_capsule_ellipsoid = {capsule_collide, capsule_gap};

/* ---- polyhedra ---- */

/* The ellipsoid seen from the polyhedron: its centre, and the rotation into its frame. */
typedef struct placed {
  ss_vec3 half, center;
  ss_quat turn;
} placed;

/* Gap over one face and the ellipsoid's lowest point there. */
static double face_gap(const struct ss_hull *hull, int face, const placed *e, ss_vec3 *lowest) {
  const ss_vec3 down = quat_rotate(quat_conjugate(e->turn), v3_neg(hull->face[face].normal));
  *lowest = e->center;
  if (is_ellipse(e->half) && !ellipse_contains(e->half, down)) return -INFINITY; /* infinite across its plane */
  *lowest = v3_add(e->center, quat_rotate(e->turn, ss_ellipsoid_support(e->half, down)));
  return hull_height(hull, face, *lowest);
}

/* The face whose slab separates best. */
static int best_face(const struct ss_hull *hull, const placed *e, double *gap, ss_vec3 *lowest) {
  int best = -1;
  for (int i = 0; i < hull->n_faces; i++) {
    ss_vec3 point;
    const double g = face_gap(hull, i, e, &point);
    if (best < 0 || g > *gap) best = i, *gap = g, *lowest = point;
  }
  return best;
}

typedef struct edge_contact {
  double distance;
  ss_vec3 n, foot; /* from the ellipsoid to the edge, in its frame */
  bool sound;      /* the edge's point is stationary */
} edge_contact;

static edge_contact closest_edge(const struct ss_hull *hull, const placed *e) {
  const ss_quat back = quat_conjugate(e->turn);
  edge_contact best = {.distance = INFINITY};
  for (int i = 0; i < hull->n_edges; i++) {
    ss_segment edge = hull_edge(hull, i);
    edge.center = quat_rotate(back, v3_sub(edge.center, e->center));
    edge.axis = quat_rotate(back, edge.axis);
    if (ellipse_contains(e->half, edge.axis)) continue; /* its ends belong to edges across the plane */
    ss_vec3 n, x;
    if (ss_ellipsoid_distance(e->half, edge.center, &n, &x) - edge.half > best.distance) continue;
    const double s = ss_ellipsoid_segment(e->half, &edge);
    const double distance = ss_ellipsoid_distance(e->half, segment_point(&edge, s), &n, &x);
    if (!(distance < best.distance)) continue;
    best = (edge_contact){distance, n, x, stationary(&edge, s, n)};
  }
  return best;
}

/* Does the plane through the edge's point across n have the whole polyhedron on its far side? */
static bool supports(const struct ss_hull *hull, const placed *e, const edge_contact *c) {
  const ss_vec3 n = quat_rotate(e->turn, c->n);
  const ss_vec3 y = v3_add(e->center, quat_rotate(e->turn, v3_axpy(c->foot, c->distance, c->n)));
  double size = 0;
  for (int i = 0; i < 3; i++) size = fmax(size, v3_get(e->half, i));
  for (int i = 0; i < hull->n_vertices; i++)
    if (v3_dot(n, v3_sub(hull->vertex[i], y)) < -1e-7 * (size + fabs(c->distance))) return false;
  return true;
}

static void hull_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                     ss_contact_point *out) {
  (void)feature;
  ss_hull_room room;
  const struct ss_hull *hull = ss_hull_of(a, &room);
  const placed e = {b->half, pose_local(pa, pb->position),
                    quat_multiply(quat_conjugate(pa->orientation), pb->orientation)};
  ss_vec3 lowest;
  const int face = best_face(hull, &e, &out->gap, &lowest);
  if (out->gap < -deep * b->reach ||
      !ss_hull_over(hull, face, lowest, 0)) { /* far under a face may be beside the solid */
    const edge_contact c = closest_edge(hull, &e);
    if (c.distance > out->gap && c.sound && supports(hull, &e, &c)) {
      contact_from_inside(pb, c.distance, 0, c.n, c.foot, out);
      return;
    }
  }
  out->normal = v3_neg(quat_rotate(pa->orientation, hull->face[face].normal));
  out->point_b = pose_point(pa, lowest);
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  out->feature = 0;
}

static int hull_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                        ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (far_apart(a, pa, b, pb, reach)) return 0;
  hull_gap(a, pa, b, pb, 0, out);
  return out->gap <= reach;
}

const ss_pair ss_pair_hull_ellipsoid = {hull_collide, hull_gap};
