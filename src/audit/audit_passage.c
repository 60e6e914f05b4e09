/* What passes through something within one step: it is apart at both ends, on either side, and no overlap tells of it.
 *
 * The way of one shape is looked at in the frame of the other, the larger one, from the positions at the step's start and
 * end: straight, in pieces within which neither turns by more than `piece`. A convex shape that moves straight on sweeps a convex
 * one, so the overlap of the swept shape with the other is one question to GJK and EPA (audit_convex.c). On a way through, the
 * middles meet: there the depth is half of both widths. A way around (over an edge, a rebound) is the chord of a path that stays
 * on one side of a plane, and so does the chord.
 *
 * Seen are ways of more than both widths only; turns beyond half a revolution within a step look like shorter ones. */
#include "audit/audit.h"

#include "geom/hull.h"

static const double piece = 0.1;    /* radians */
static const double halfway = 0.45; /* of both widths; half of them but for shapes that are not symmetric */
enum { MOST_PIECES = 32 };

static double hull_width(const struct ss_hull *hull) {
  double least = HUGE_VAL;
  for (int i = 0; i < hull->n_faces; i++) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int k = 0; k < hull->n_vertices; k++) {
      const double x = v3_dot(hull->face[i].normal, hull->vertex[k]);
      low = fmin(low, x);
      high = fmax(high, x);
    }
    least = fmin(least, high - low);
  }
  return least;
}

double ss_shape_width(const ss_shape *s) {
  switch (s->type) {
  case SS_SHAPE_SPHERE:
  case SS_SHAPE_CAPSULE:
    return 2 * s->radius;
  case SS_SHAPE_BOX:
  case SS_SHAPE_ELLIPSOID:
    return 2 * fmin(s->half.x, fmin(s->half.y, s->half.z));
  case SS_SHAPE_CYLINDER:
    return 2 * fmin(s->half.x, s->radius);
  case SS_SHAPE_CONVEX:
    return hull_width(s->hull);
  default:
    return 0;
  }
}

static ss_pose pose_relative(const ss_pose *frame, const ss_pose *pose) {
  return (ss_pose){pose_local(frame, pose->position),
                   quat_multiply(quat_conjugate(frame->orientation), pose->orientation)};
}

static ss_quat between(ss_quat a, ss_quat b, double share) {
  const ss_quat turn = quat_multiply(quat_conjugate(a), b);
  return quat_multiply(a, quat_exp(v3_scale(share, quat_log(turn))));
}

static ss_pose at(const ss_pose ends[2], double share) {
  return (ss_pose){v3_axpy(v3_scale(1 - share, ends[0].position), share, ends[1].position),
                   between(ends[0].orientation, ends[1].orientation, share)};
}

static double turned(const ss_pose ends[2]) {
  return v3_norm(quat_log(quat_multiply(quat_conjugate(ends[0].orientation), ends[1].orientation)));
}

/* No less than turned(): an angle is 4 asin(chord/2), with the chord of its quaternions. */
static double turned_at_most(const ss_pose ends[2]) {
  const ss_quat a = ends[0].orientation, b = ends[1].orientation;
  const double w = b.w - a.w, x = b.x - a.x, y = b.y - a.y, z = b.z - a.z, square = w * w + x * x + y * y + z * z;
  return square < 1 ? 2.1 * sqrt(square) : turned(ends);
}

bool ss_may_pass(const ss_shape *shape, double width, const ss_pose ends[2]) {
  const double way = v3_norm(v3_sub(ends[1].position, ends[0].position));
  return way + turned_at_most(ends) * shape->reach > width && way + turned(ends) * shape->reach > width;
}

double ss_convex_passage(const ss_shape *const shapes[2], const ss_pose ends[2][2], ss_vec3 normal) {
  const int f = shapes[0]->reach > shapes[1]->reach ? 0 : 1, m = 1 - f; /* whose frame, and who moves in it */
  const double widths = ss_shape_width(shapes[0]) + ss_shape_width(shapes[1]), wanted = halfway * widths;
  const int n = 1 + (int)fmin(fmax(turned(ends[0]), turned(ends[1])) / piece, MOST_PIECES - 1);
  const ss_pose start = pose_relative(&ends[f][0], &ends[m][0]), end = pose_relative(&ends[f][1], &ends[m][1]);
  if (!(v3_norm(v3_sub(end.position, start.position)) > widths)) return 0;
  const ss_pose home = pose_identity();
  const ss_probe fixed = ss_probe_make(shapes[f], &home);
  const double tolerance = fmax(wanted, 1e-9 * (shapes[0]->reach + shapes[1]->reach));
  double deepest = 0;
  for (int i = 0; i < n; i++) {
    const ss_pose fa = at(ends[f], (double)i / n), fb = at(ends[f], (i + 1.0) / n), ma = at(ends[m], (double)i / n),
                  mb = at(ends[m], (i + 1.0) / n);
    const ss_pose from = pose_relative(&fa, &ma), to = pose_relative(&fb, &mb);
    const ss_vec3 across = quat_rotate(quat_conjugate(fa.orientation), normal);
    double depth = HUGE_VAL; /* turned as at the start of the piece and as at its end: what lands flat was tilted */
    for (int k = 0; k < 2 && depth > 0; k++) {
      const ss_pose turned_so = {from.position, k ? to.orientation : from.orientation};
      ss_probe moving = ss_probe_make(shapes[m], &turned_so);
      moving.sweep = v3_sub(to.position, from.position);
      ss_vec3 axis = {0, 0, 0};
      depth = fmin(depth, ss_convex_overlap(&moving, &fixed, across, tolerance, &axis));
    }
    deepest = fmax(deepest, depth);
  }
  return deepest > 0 && widths > 0 ? widths : deepest;
}
