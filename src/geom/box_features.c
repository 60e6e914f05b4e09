/* Gaps of the features of two boxes, in b's frame. Each is smooth near contact, and its rate is the relative velocity
 * of the two material points along the normal:
 *
 *   corner over a face     gap = n . (x - p), n fixed in the face's body
 *   edges                  gap = w . (c_a - c_b) / |w|, w = u_a x u_b: the change of w does not count, as the
 *                          connection of the feet is parallel to w
 *   crossing over a face   gap = n . (x_a - x_b) where the edges cross as seen along n. The crossing slides along the
 *                          edges as they move, so the rate is that of the material points exactly where the edges are
 *                          parallel to the face, and up to (slope of the edge) x (speed of sliding) elsewhere. No
 *                          feature of two edges does better but their perpendicular: |grad gap| = 1 determines it. */
#include "geom/box_features.h"

enum { CORNER_A, CORNER_B, EDGES, CROSSING_A, CROSSING_B };

/* A sine: edges at less than this to each other, as seen along the face, cross where the last digits say, and that place jumps from
 * step to step. The polygon of contacts without it is narrower by a quarter of this times the edge. */
static const double lost = 3e-8;

/* 20 bits: kind, face, and the two corners or edges. */
static uint32_t encode(uint32_t kind, uint32_t face, uint32_t a, uint32_t b) {
  return kind << 16 | face << 12 | a << 4 | b;
}

ss_boxes ss_boxes_make(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb) {
  /* equal orientations give the identity without rounding */
  const ss_quat turn = quat_multiply(quat_conjugate(pb->orientation), pa->orientation);
  const double size = fmin(a->reach, b->reach);
  return (ss_boxes){pose_local(pb, pa->position), quat_matrix(turn), a->half, b->half, size, 1e-9 * size};
}

ss_segment ss_boxes_edge_a(const ss_boxes *boxes, uint32_t edge) {
  const ss_segment own = box_edge(boxes->half_a, edge);
  return (ss_segment){v3_add(boxes->center, mat3_mul(&boxes->axes, own.center)),
                      mat3_column(&boxes->axes, (int)(edge / 4)), own.half};
}

double ss_boxes_separation(const ss_boxes *boxes, ss_vec3 n) {
  const ss_vec3 in_a = mat3_tmul(&boxes->axes, n), ha = boxes->half_a, hb = boxes->half_b;
  return v3_dot(n, boxes->center) - (fabs(in_a.x) * ha.x + fabs(in_a.y) * ha.y + fabs(in_a.z) * ha.z) -
         (fabs(n.x) * hb.x + fabs(n.y) * hb.y + fabs(n.z) * hb.z);
}

/* The separating axis theorem: faces, then pairs of edges. */
static bool boxes_apart(const ss_boxes *boxes) {
  for (int i = 0; i < 15; i++) {
    ss_vec3 n = i < 3 ? axis_vector(i, 1) : mat3_column(&boxes->axes, i % 3);
    if (i >= 6) n = v3_cross(n, axis_vector(i / 3 - 2, 1));
    if (v3_dot(n, boxes->center) < 0) n = v3_neg(n);
    if (ss_boxes_separation(boxes, n) > 0) return true;
  }
  return false;
}

/* Distance of the point p from the box in its own frame, by way of one face: the height over its plane where p is over
 * (or under) the face, the distance from the box elsewhere, and where the boxes are apart with p below all of this one. */
static double distance_by_face(const ss_boxes *boxes, ss_vec3 half, ss_vec3 p, uint32_t face, ss_vec3 *n,
                               ss_vec3 *surface, bool *usable) {
  const double tolerance = boxes->tolerance;
  const int k = (int)(face / 2), i = (k + 1) % 3, j = (k + 2) % 3;
  const double height = sign_of(face & 1) * v3_get(p, k) - v3_get(half, k);
  const bool over = fabs(v3_get(p, i)) <= v3_get(half, i) + tolerance &&
                    fabs(v3_get(p, j)) <= v3_get(half, j) + tolerance &&
                    (height >= -2 * v3_get(half, k) || !boxes_apart(boxes));
  *usable = over || height >= 0;
  *n = box_face_normal(face);
  if (over) {
    *surface = v3_axpy(p, -height, *n);
    return height;
  }
  *surface = box_clamp(half, p);
  return length_and_direction(v3_sub(p, *surface), *n, n);
}

bool ss_boxes_corner_on_b(const ss_boxes *boxes, uint32_t corner_a, uint32_t face_b, ss_contact_point *out) {
  bool usable;
  out->point_a = boxes_corner_a(boxes, corner_a);
  out->gap = distance_by_face(boxes, boxes->half_b, out->point_a, face_b, &out->normal, &out->point_b, &usable);
  out->feature = encode(CORNER_A, face_b, corner_a, 0);
  return usable;
}

bool ss_boxes_corner_on_a(const ss_boxes *boxes, uint32_t corner_b, uint32_t face_a, ss_contact_point *out) {
  bool usable;
  ss_vec3 n, surface;
  out->point_b = box_corner(boxes->half_b, corner_b);
  const ss_vec3 local = mat3_tmul(&boxes->axes, v3_sub(out->point_b, boxes->center));
  out->gap = distance_by_face(boxes, boxes->half_a, local, face_a, &n, &surface, &usable);
  out->normal = v3_neg(mat3_mul(&boxes->axes, n));
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  out->feature = encode(CORNER_B, face_a, 0, corner_b);
  return usable;
}

static bool meets_a(const ss_boxes *boxes, const ss_segment *b) {
  const ss_vec3 center = mat3_tmul(&boxes->axes, v3_sub(b->center, boxes->center));
  return box_meets(boxes->half_a, &(ss_segment){center, mat3_tmul(&boxes->axes, b->axis), b->half});
}

void ss_boxes_edges(const ss_boxes *boxes, uint32_t edge_a, uint32_t edge_b, ss_contact_point *out) {
  const ss_segment a = ss_boxes_edge_a(boxes, edge_a), b = box_edge(boxes->half_b, edge_b);
  const ss_vec3 outward = v3_sub(box_edge_outward(edge_b), mat3_mul(&boxes->axes, box_edge_outward(edge_a)));
  double s, t;
  out->gap = ss_edge_distance(&a, &b, outward, &out->normal, &s, &t);
  if (out->gap < -boxes->tolerance && !box_meets(boxes->half_b, &a) && !meets_a(boxes, &b) && boxes_apart(boxes))
    out->gap = edges_apart(out->gap, &out->normal);
  out->point_a = segment_point(&a, s);
  out->point_b = segment_point(&b, t);
  out->feature = encode(EDGES, 0, edge_a, edge_b);
}

bool ss_boxes_crossing(const ss_boxes *boxes, uint32_t edge_a, uint32_t edge_b, bool face_of_a, uint32_t face,
                       double margin, ss_contact_point *out) {
  const ss_segment a = ss_boxes_edge_a(boxes, edge_a), b = box_edge(boxes->half_b, edge_b);
  const ss_vec3 own = box_face_normal(face), n = face_of_a ? v3_neg(mat3_mul(&boxes->axes, own)) : own;
  /* r + s ua - t ub = height n, times ub x n and ua x n */
  const ss_vec3 r = v3_sub(a.center, b.center);
  const double area = v3_dot(n, v3_cross(a.axis, b.axis));
  const double s = v3_dot(r, v3_cross(n, b.axis)), t = v3_dot(r, v3_cross(n, a.axis));
  const bool crosses =
      fabs(s) <= (a.half - margin) * fabs(area) && fabs(t) <= (b.half - margin) * fabs(area) && fabs(area) > lost;
  const double unit = area != 0 ? 1 / area : 0;
  out->point_a = segment_point(&a, clamp(s * unit, a.half));
  out->gap = v3_dot(n, v3_sub(out->point_a, segment_point(&b, clamp(t * unit, b.half))));
  out->normal = n;
  out->point_b = v3_axpy(out->point_a, -out->gap, n);
  out->feature = encode(face_of_a ? CROSSING_A : CROSSING_B, face, edge_a, edge_b);
  return crosses;
}

void ss_boxes_feature(const ss_boxes *boxes, uint32_t feature, ss_contact_point *out) {
  const uint32_t kind = feature >> 16, face = feature >> 12 & 7, a = feature >> 4 & 15, b = feature & 15;
  switch (kind) {
  case CORNER_A:
    (void)ss_boxes_corner_on_b(boxes, a, face, out);
    break;
  case CORNER_B:
    (void)ss_boxes_corner_on_a(boxes, b, face, out);
    break;
  case EDGES:
    ss_boxes_edges(boxes, a, b, out);
    break;
  default:
    (void)ss_boxes_crossing(boxes, a, b, kind == CROSSING_A, face, 0, out);
  }
}

void ss_boxes_to_world(ss_contact_point *contact, const ss_pose *pb) {
  contact->normal = quat_rotate(pb->orientation, contact->normal);
  contact->point_a = pose_point(pb, contact->point_a);
  contact->point_b = pose_point(pb, contact->point_b);
}
