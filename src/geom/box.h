/* Corners, edges and faces of a box in its own frame.
 *
 *   corner  bits 0, 1, 2: on the +x, +y, +z side
 *   edge    4 k + bits: along axis k; bit 0 and 1: on the + side of the axes k + 1 and k + 2 (modulo 3)
 *   face    2 k + side: normal along axis k, side 1: + */
#ifndef SS_GEOM_BOX_H
#define SS_GEOM_BOX_H

#include "geom/segment.h"

/* s times the k-th unit vector */
static inline ss_vec3 axis_vector(int k, double s) { return v3(k == 0 ? s : 0, k == 1 ? s : 0, k == 2 ? s : 0); }

static inline double sign_of(uint32_t bit) { return bit ? 1 : -1; }

static inline ss_vec3 box_corner(ss_vec3 half, uint32_t corner) {
  return v3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y, corner & 4 ? half.z : -half.z);
}

static inline ss_vec3 box_face_normal(uint32_t face) { return axis_vector((int)(face / 2), sign_of(face & 1)); }

/* The face whose outward normal is closest to n. */
static inline uint32_t box_face_towards(ss_vec3 n) {
  const double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
  const uint32_t k = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  return 2 * k + (v3_get(n, (int)k) >= 0);
}

/* Sum of the outward normals of the two faces that meet in the edge. */
static inline ss_vec3 box_edge_outward(uint32_t edge) {
  const int k = (int)(edge / 4);
  return v3_add(axis_vector((k + 1) % 3, sign_of(edge & 1)), axis_vector((k + 2) % 3, sign_of(edge & 2)));
}

static inline ss_segment box_edge(ss_vec3 half, uint32_t edge) {
  const int k = (int)(edge / 4);
  const ss_vec3 outward = box_edge_outward(edge);
  return (ss_segment){v3(outward.x * half.x, outward.y * half.y, outward.z * half.z), axis_vector(k, 1),
                      v3_get(half, k)};
}

/* Does direction n point out of the box at this corner (edge): is it in the cone of the outward normals there, but for
 * `slack` (a sine)? */
static inline bool box_corner_faces(uint32_t corner, ss_vec3 n, double slack) {
  return sign_of(corner & 1) * n.x >= -slack && sign_of(corner & 2) * n.y >= -slack &&
         sign_of(corner & 4) * n.z >= -slack;
}
static inline bool box_edge_faces(uint32_t edge, ss_vec3 n, double slack) {
  const int k = (int)(edge / 4);
  return sign_of(edge & 1) * v3_get(n, (k + 1) % 3) >= -slack && sign_of(edge & 2) * v3_get(n, (k + 2) % 3) >= -slack;
}

static inline ss_vec3 box_clamp(ss_vec3 half, ss_vec3 p) {
  return v3(clamp(p.x, half.x), clamp(p.y, half.y), clamp(p.z, half.z));
}

/* Does the segment pass through the box? Its part between each pair of opposite faces, one pair after the other. */
static inline bool box_meets(ss_vec3 half, const ss_segment *segment) {
  double from = -segment->half, to = segment->half;
  for (int k = 0; k < 3; k++) {
    const double c = v3_get(segment->center, k), u = v3_get(segment->axis, k), h = v3_get(half, k);
    if (fabs(u) < 1e-300) {
      if (fabs(c) > h) return false;
      continue;
    }
    const double s = (-h - c) / u, t = (h - c) / u;
    from = fmax(from, fmin(s, t));
    to = fmin(to, fmax(s, t));
  }
  return from <= to;
}

#endif
