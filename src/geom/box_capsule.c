/* A box and a capsule: the capsule's axis against the box, in the box's frame, less the radius.
 *
 *   END     an end of the axis and the box: signed distance (sphere_box.c)
 *   CORNER  a corner of the box and the axis: distance
 *   EDGE    an edge of the box and the axis: signed distance along their common perpendicular, negative only where the
 *           axis passes through the box
 *   FACE    a face of the box and the end of the axis that is lowest over it, for an axis in the box
 *
 * As long as the axis is outside the box each of these is a distance between points of the two shapes, so none of them
 * can be negative in an admissible configuration, and the smallest is the distance of the shapes. A capsule that lies
 * on a face has both ends, or an end and the edge it hangs over, or two edges as contacts. Corners and edges are
 * reported where the box faces the capsule (but for a slack, so that a resting capsule keeps its contacts while it
 * rocks) and the feet are inside.
 *
 * An axis inside the box (deeper than the radius) has no unique way out: the face or edge with the shortest one decides, and features with
 * another direction are left out. */
#include "geom/pairs.h"

enum { END = 0, CORNER = 2, EDGE = 10, FACE = 22, FEATURES = 28 };

static const double slack = 0.35;  /* sine: about 20 degrees */
static const double similar = 0.9; /* cosine: about 25 degrees */
static const double margin = 1e-9; /* of a half length: feet nearer to the ends than this belong to the ends */

/* A feature of the axis: n from the box to the axis, foot + distance n is the point of the axis. Box frame. */
typedef struct axis_feature {
  double distance;
  ss_vec3 n, foot;
  bool inside; /* feet inside the edge and the axis */
  bool across; /* an edge that the axis crosses */
} axis_feature;

static ss_segment axis_in_box(const ss_pose *box, const ss_shape *capsule, const ss_pose *pose) {
  const ss_quat turn = quat_multiply(quat_conjugate(box->orientation), pose->orientation);
  return (ss_segment){pose_local(box, pose->position), quat_axis_x(turn), capsule->half.x};
}

/* Does the axis cross the edge? */
static bool is_across(const ss_segment *axis, uint32_t edge) {
  const int k = (int)((edge - EDGE) / 4);
  return hypot(v3_get(axis->axis, (k + 1) % 3), v3_get(axis->axis, (k + 2) % 3)) > SS_ACROSS;
}

static axis_feature feature_of_axis(const ss_segment *axis, ss_vec3 half, uint32_t feature) {
  axis_feature f = {.inside = true};
  double s, t;
  if (feature < CORNER) {
    f.distance = box_distance(half, segment_point(axis, sign_of(feature) * axis->half), &f.n, &f.foot);
  } else if (feature < EDGE) {
    f.foot = box_corner(half, feature - CORNER);
    s = segment_closest(axis, f.foot);
    f.inside = fabs(s) < (1 - margin) * axis->half;
    f.distance = length_and_direction(v3_sub(segment_point(axis, s), f.foot), v3(0, 0, 1), &f.n);
  } else if (feature >= FACE) {
    f.n = box_face_normal(feature - FACE);
    const ss_vec3 lowest = segment_point(axis, v3_dot(f.n, axis->axis) > 0 ? -axis->half : axis->half);
    f.distance = v3_dot(f.n, lowest) - v3_get(half, (int)(feature - FACE) / 2);
    f.foot = v3_axpy(lowest, -f.distance, f.n);
  } else {
    const ss_segment edge = box_edge(half, feature - EDGE);
    f.distance = ss_edge_distance(axis, &edge, box_edge_outward(feature - EDGE), &f.n, &s, &t);
    if (f.distance < 0 && !box_meets(half, axis)) f.distance = edges_apart(f.distance, &f.n);
    f.across = is_across(axis, feature);
    const double end = f.across ? -SS_EDGE_ENDS : margin;
    f.inside = fabs(s) < (f.across ? 1 : 1 - margin) * axis->half && fabs(t) <= (1 - end) * edge.half;
    f.foot = segment_point(&edge, t);
  }
  return f;
}

static void contact_of_feature(const axis_feature *f, const ss_pose *box, double radius, uint32_t feature,
                               ss_contact_point *out) {
  out->gap = f->distance - radius;
  out->normal = quat_rotate(box->orientation, v3_neg(f->n));
  out->point_a = pose_point(box, f->foot);
  out->point_b = pose_point(box, v3_axpy(f->foot, out->gap, f->n));
  out->feature = feature;
}

static void box_capsule_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb,
                            uint32_t feature, ss_contact_point *out) {
  const ss_segment axis = axis_in_box(pa, b, pb);
  const axis_feature f = feature_of_axis(&axis, a->half, feature);
  contact_of_feature(&f, pa, b->radius, feature, out);
  out->left = !f.inside;
}

static bool box_faces(uint32_t feature, ss_vec3 n, double within) {
  if (feature < CORNER) return true;
  return feature < EDGE ? box_corner_faces(feature - CORNER, n, within) : box_edge_faces(feature - EDGE, n, within);
}

/* The feature with the shortest way out for an axis inside the box; NULL: it is outside. Where the edge faces along n,
 * its distance is the separation along n. */
static const axis_feature *way_out(axis_feature all[FEATURES], const ss_segment *axis, ss_vec3 half) {
  if (!box_meets(half, axis)) return NULL;
  const axis_feature *best = &all[FACE];
  for (uint32_t i = FACE; i < FEATURES; i++) {
    all[i] = feature_of_axis(axis, half, i);
    if (all[i].distance > best->distance) best = &all[i];
  }
  for (uint32_t i = EDGE; i < FACE; i++)
    if (all[i].inside && all[i].distance < 0 && all[i].distance > best->distance && box_faces(i, all[i].n, 0))
      best = &all[i];
  return best;
}

/* Cheap test that sorts out most edges. */
static bool may_count(const ss_segment *axis, ss_vec3 half, uint32_t feature) {
  if (feature < EDGE) return true;
  const ss_segment edge = box_edge(half, feature - EDGE);
  double s, t;
  ss_vec3 n;
  return segments_cross(axis, &edge) && segment_perpendicular(axis, &edge, &s, &t, &n) &&
         segment_contains(axis, s, 0) && segment_contains(&edge, t, -SS_EDGE_ENDS * edge.half);
}

/* An end of the axis over a face has the face's normal. */
static bool is_line_end(const void *context, uint32_t feature) {
  static const double upright = 1e-12;
  const axis_feature *all = context;
  const ss_vec3 n = all[feature].n;
  if (feature >= CORNER) return feature >= EDGE && all[feature].across;
  return (fabs(n.x) < upright) + (fabs(n.y) < upright) + (fabs(n.z) < upright) == 2;
}
static bool is_spare(const void *context, uint32_t feature) { return feature < EDGE && !is_line_end(context, feature); }

static int box_capsule_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                               ss_contact_point out[SS_PAIR_CONTACTS]) {
  const ss_segment axis = axis_in_box(pa, b, pb);
  ss_vec3 n, foot;
  if (box_distance(a->half, axis.center, &n, &foot) - b->reach > reach) return 0;
  axis_feature all[FEATURES];
  for (uint32_t i = 0; i < FACE; i++)
    all[i] = may_count(&axis, a->half, i) ? feature_of_axis(&axis, a->half, i) : (axis_feature){.inside = false};
  const axis_feature *deep = way_out(all, &axis, a->half);
  int count = 0;
  double least = INFINITY;
  ss_contact_point contact;
  for (uint32_t i = 0; i < FACE; i++) {
    if (i == 1 && axis.half == 0) continue; /* a capsule without length has one end */
    const bool sound =
        deep ? (i < CORNER || i >= EDGE) && v3_dot(all[i].n, deep->n) > similar : i < CORNER || all[i].distance > 0;
    if (!sound || !all[i].inside || !box_faces(i, all[i].n, slack)) continue;
    contact_of_feature(&all[i], pa, b->radius, i, &contact);
    least = fmin(least, all[i].distance);
    count = contact_add(out, count, &contact, reach);
  }
  if (deep &&
      least > deep->distance +
                  margin * a->reach) { /* the lowest end has a shorter way, which the rest of the axis has not */
    contact_of_feature(deep, pa, b->radius, (uint32_t)(deep - all), &contact);
    count = contact_add(out, count, &contact, reach);
  }
  return ss_contacts_without_spare(out, count, is_line_end, is_spare, all, fmin(a->reach, b->reach));
}

const ss_pair ss_pair_box_capsule = {box_capsule_collide, box_capsule_gap};
