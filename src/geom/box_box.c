/* Two boxes.
 *
 * Problem: all contact points of two convex polyhedra that touch in a corner, an edge or a face, with gaps that can be
 * followed through a step. Everything happens in b's frame.
 *
 * Features, and their gaps (in box_features.c):
 *
 *   CORNER_A, CORNER_B  corner of one box over a face of the other: height over the face's plane; beside the face, the
 *                       distance from the box
 *   EDGES               an edge of each: signed distance along the common perpendicular
 *   CROSSING_A, _B      an edge of each that cross nearly in parallel while two faces lie on each other: height over
 *                       the plane of a's (b's) face. The common perpendicular of such edges is at the mercy of the
 *                       last digits; the face's normal is not.
 *
 * Method. Boxes that touch have a common separating plane, and all contacts have its normal n*. It is found among the
 * 15 axes of the separating axis theorem and the direction of the closest corner (for boxes apart, corner to corner or
 * corner to edge): the one with the largest separation. For boxes apart that separation is their distance (duality).
 * Then every feature is reported whose normal is near n* and whose points belong to the boxes: if n* separates, so does
 * the feature, since (p_a - p_b) . n* = gap (normal . n*). A face on a face has the corners of the common polygon: the
 * corners of one over the other and the crossings of edges.
 *
 * Fails for: boxes whose overlap is not small against their size. There is no right answer then; the axes are tried in
 * the order of their separation until one gives a contact that is closed. */
#include "geom/box_features.h"

static const double slack = 0.35;   /* sine: a feature faces n* if no normal of it is turned away by more, 20 degrees */
static const double similar = 0.9;  /* cosine: normals near n*, within 25 degrees */
static const double flat = 0.995;   /* cosine: within 0.1, a common perpendicular is as good as the face's normal */
static const double parallel = 0.2; /* sine: edges that are nearly parallel */
static const double level = 0.02;   /* sine: an edge that lies on a face */
static const double on_face = 1e-5; /* of the size: a face's separation that is as good as the largest */

/* ---- separating axes ---- */

enum { FACES = 6, AXES = 16 };

typedef struct axis {
  ss_vec3 n; /* unit, from b to a */
  double separation;
} axis;

static axis make_axis(const ss_boxes *boxes, ss_vec3 n) {
  if (v3_dot(n, boxes->center) < 0) n = v3_neg(n);
  return (axis){n, ss_boxes_separation(boxes, n)};
}

/* Direction from b to a at the corner of either that is closest to the other box; zero where one is inside. */
static ss_vec3 closest_corner(const ss_boxes *boxes) {
  ss_vec3 best = v3(0, 0, 0);
  double least = INFINITY;
  for (uint32_t corner = 0; corner < 8; corner++) {
    const ss_vec3 pa = boxes_corner_a(boxes, corner), pb = box_corner(boxes->half_b, corner);
    const ss_vec3 local = mat3_tmul(&boxes->axes, v3_sub(pb, boxes->center));
    const ss_vec3 apart[2] = {v3_sub(pa, box_clamp(boxes->half_b, pa)),
                              mat3_mul(&boxes->axes, v3_sub(box_clamp(boxes->half_a, local), local))};
    for (int i = 0; i < 2; i++) {
      const double square = v3_dot(apart[i], apart[i]);
      if (square < least) least = square, best = apart[i];
    }
  }
  return best;
}

/* Faces of b, faces of a, pairs of edges, closest corner. Returns how many; 0: one of them separates by more than
 * `reach`. */
static int separating_axes(const ss_boxes *boxes, double reach, axis axes[AXES]) {
  int n = 0;
  double largest = -INFINITY;
  for (; n < FACES; n++) {
    axes[n] = make_axis(boxes, n < 3 ? axis_vector(n, 1) : mat3_column(&boxes->axes, n - 3));
    if (axes[n].separation > largest) largest = axes[n].separation;
  }
  for (int i = 0; i < 9 && largest <= reach; i++) {
    const ss_vec3 cross = v3_cross(mat3_column(&boxes->axes, i / 3), axis_vector(i % 3, 1));
    const double square = v3_dot(cross, cross);
    if (square <= 1e-14) continue;
    axes[n] = make_axis(boxes, v3_scale(1 / sqrt(square), cross));
    if (axes[n].separation > largest) largest = axes[n].separation;
    n++;
  }
  ss_vec3 unit;
  if (largest > 0 && largest <= reach &&
      length_and_direction(closest_corner(boxes), v3(0, 0, 0), &unit) > boxes->tolerance) {
    axes[n] = make_axis(boxes, unit);
    if (axes[n].separation > largest) largest = axes[n].separation;
    n++;
  }
  return largest <= reach ? n : 0;
}

/* ---- contacts for one choice of the normal ---- */

typedef struct collector {
  const ss_boxes *boxes;
  double reach;
  ss_vec3 n, n_in_a;   /* n*; the same in a's frame */
  uint32_t face[2];    /* of a towards b and of b towards a */
  bool resting;        /* n* is as good as a face's normal, the reference */
  ss_vec3 reference;   /* that normal */
  bool reference_is_a; /* whose face it is */
  ss_contact_point *out;
  int count;
} collector;

static void collect(collector *c, const ss_contact_point *contact) {
  c->count = contact_add(c->out, c->count, contact, c->reach);
}

/* Is there a contact already between these two points? Corner on corner is seen from both sides. */
static bool seen(const collector *c, const ss_contact_point *contact) {
  const double near = 4 * c->boxes->tolerance;
  for (int i = 0; i < c->count; i++)
    if (v3_norm(v3_sub(c->out[i].point_a, contact->point_a)) <= near &&
        v3_norm(v3_sub(c->out[i].point_b, contact->point_b)) <= near)
      return true;
  return false;
}

static void collect_corners(collector *c, bool of_a) {
  const ss_vec3 towards_other = of_a ? v3_neg(c->n_in_a) : c->n;
  for (uint32_t corner = 0; corner < 8; corner++) {
    ss_contact_point contact;
    if (!box_corner_faces(corner, towards_other, slack)) continue;
    const bool usable = of_a ? ss_boxes_corner_on_b(c->boxes, corner, c->face[1], &contact)
                             : ss_boxes_corner_on_a(c->boxes, corner, c->face[0], &contact);
    if (!usable || v3_dot(contact.normal, c->n) < similar) continue;
    if (of_a || !seen(c, &contact)) collect(c, &contact);
  }
}

/* An edge of either box that faces the other. */
typedef struct facing_edge {
  uint32_t edge;
  ss_segment line;
} facing_edge;

/* Edges that cross nearly in parallel while one of them lies on the reference face, so that their common perpendicular
 * is not upright or is at the mercy of the last digits. */
static bool crossing_in_parallel(const collector *c, const ss_segment *a, const ss_segment *b, ss_vec3 cross) {
  const double sine = v3_norm(cross), upright = fabs(v3_dot(cross, c->reference));
  return c->resting && sine < parallel && (sine < 1e-6 || upright < flat * sine) &&
         fabs(v3_dot(c->reference_is_a ? b->axis : a->axis, c->reference)) < level;
}

/* A pair of edges whose feet are inside both: along their perpendicular, or along the face's normal. */
static void collect_edge_pair(collector *c, const facing_edge *a, const facing_edge *b) {
  const double margin = c->boxes->tolerance;
  const ss_vec3 cross = v3_cross(a->line.axis, b->line.axis);
  double s, t;
  ss_vec3 w;
  ss_contact_point contact;
  if (crossing_in_parallel(c, &a->line, &b->line, cross)) {
    const ss_vec3 own = c->reference_is_a ? v3_neg(mat3_tmul(&c->boxes->axes, c->reference)) : c->reference;
    const uint32_t face = box_face_towards(own);
    if (ss_boxes_crossing(c->boxes, a->edge, b->edge, c->reference_is_a, face, margin, &contact)) collect(c, &contact);
    return;
  }
  if (!segment_perpendicular(&a->line, &b->line, &s, &t, &w)) return;
  if (!segment_contains(&a->line, s, margin) || !segment_contains(&b->line, t, margin)) return;
  ss_boxes_edges(c->boxes, a->edge, b->edge, &contact);
  if (v3_dot(contact.normal, c->n) >= similar) collect(c, &contact);
}

static void collect_edges(collector *c) {
  facing_edge a[12], b[12];
  int n_a = 0, n_b = 0;
  const ss_vec3 down = v3_neg(c->n_in_a);
  for (uint32_t edge = 0; edge < 12; edge++) { /* n* is nearly perpendicular to the edges of a contact */
    const int k = (int)(edge / 4);
    if (box_edge_faces(edge, down, slack) && fabs(v3_get(down, k)) <= 0.5)
      a[n_a++] = (facing_edge){edge, ss_boxes_edge_a(c->boxes, edge)};
    if (box_edge_faces(edge, c->n, slack) && fabs(v3_get(c->n, k)) <= 0.5)
      b[n_b++] = (facing_edge){edge, box_edge(c->boxes->half_b, edge)};
  }
  for (int i = 0; i < n_a; i++)
    for (int j = 0; j < n_b; j++) collect_edge_pair(c, &a[i], &b[j]);
}

static int contacts_along(const ss_boxes *boxes, const axis axes[AXES], int chosen, double reach,
                          ss_contact_point out[SS_PAIR_CONTACTS]) {
  collector c = {.boxes = boxes, .reach = reach, .n = axes[chosen].n, .out = out};
  int face = 0; /* b's faces first: a's must be better by more than rounding */
  for (int i = 1; i < FACES; i++)
    if (axes[i].separation > axes[face].separation + boxes->tolerance) face = i;
  c.n_in_a = mat3_tmul(&boxes->axes, c.n);
  c.resting =
      v3_dot(axes[face].n, c.n) >= flat || axes[face].separation >= axes[chosen].separation - on_face * boxes->size;
  c.reference = axes[face].n;
  c.reference_is_a = face >= 3;
  c.face[0] = box_face_towards(v3_neg(c.n_in_a));
  c.face[1] = box_face_towards(c.n);
  collect_corners(&c, true);
  collect_corners(&c, false);
  collect_edges(&c);
  return c.count;
}

/* ---- the pair ---- */

static int box_box_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                           ss_contact_point out[SS_PAIR_CONTACTS]) {
  if (v3_norm(v3_sub(pa->position, pb->position)) - (a->reach + b->reach) > reach) return 0;
  const ss_boxes boxes = ss_boxes_make(a, pa, b, pb);
  axis axes[AXES];
  const int n_axes = separating_axes(&boxes, reach, axes);
  const double wide =
      fmax(reach, boxes.tolerance); /* boxes that touch: gaps of their axis and of its contacts differ by rounding */
  uint32_t tried = 0;
  int count = 0, kept = 0;
  for (int attempt = 0; attempt < n_axes; attempt++) {
    int best = -1;
    for (int i = 0; i < n_axes; i++)
      if (!(tried >> i & 1) && (best < 0 || axes[i].separation > axes[best].separation)) best = i;
    count = contacts_along(&boxes, axes, best, wide, out);
    bool enough = axes[best].separation > 0;
    for (int i = 0; i < count; i++) enough |= out[i].gap <= boxes.tolerance; /* zero but for rounding */
    if (enough) break;
    tried |= 1u << best;
  }
  for (int i = 0; i < count; i++) {
    if (out[i].gap > reach) continue;
    ss_boxes_to_world(&out[i], pb);
    out[kept++] = out[i];
  }
  return kept;
}

static void box_box_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                        ss_contact_point *out) {
  const ss_boxes boxes = ss_boxes_make(a, pa, b, pb);
  ss_boxes_feature(&boxes, feature, out);
  ss_boxes_to_world(out, pb);
}

const ss_pair ss_pair_box_box = {box_box_collide, box_box_gap};
