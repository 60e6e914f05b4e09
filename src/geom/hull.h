/* Convex polyhedra in their own frame: boxes and convex hulls seen alike, and a capsule's axis: two vertices, one edge, no face. */
#ifndef SS_GEOM_HULL_H
#define SS_GEOM_HULL_H

#include "geom/pairs.h"

enum { SS_MOST_HULL_POINTS = 200 };

typedef struct ss_hull_face {
  ss_vec3 normal;   /* unit, outward */
  double offset;    /* the solid is below normal . x = offset */
  int first, count; /* its corners, counterclockwise from outside: loop[first] ... loop[first + count - 1] */
} ss_hull_face;

typedef struct ss_hull_edge {
  int from, to;    /* vertices */
  int left, right; /* the two faces */
} ss_hull_edge;

struct ss_hull {
  const ss_vec3 *vertex;
  const ss_hull_face *face;
  const ss_hull_edge *edge;
  const int *loop;
  int n_vertices, n_faces, n_edges;
  double volume, inertia[6]; /* density 1, about the origin, which is the centroid */
};

/* Room for a box or an axis seen as a hull. */
typedef struct ss_hull_room {
  struct ss_hull hull;
  ss_vec3 vertex[8];
  ss_hull_face face[6];
} ss_hull_room;

/* The shape's own hull, or the box's or axis' in `room`. */
const struct ss_hull *ss_hull_of(const ss_shape *shape, ss_hull_room *room);

static inline ss_segment hull_edge(const struct ss_hull *hull, int edge) {
  const ss_vec3 a = hull->vertex[hull->edge[edge].from], b = hull->vertex[hull->edge[edge].to];
  ss_vec3 axis;
  const double length = length_and_direction(v3_sub(b, a), v3(1, 0, 0), &axis);
  return (ss_segment){v3_scale(0.5, v3_add(a, b)), axis, length / 2};
}

/* Height of a point over a face's plane. */
static inline double hull_height(const struct ss_hull *hull, int face, ss_vec3 p) {
  return v3_dot(hull->face[face].normal, p) - hull->face[face].offset;
}

/* Is the point, seen along the face's normal, inside the face but for `margin`? */
bool ss_hull_over(const struct ss_hull *hull, int face, ss_vec3 p, double margin);

/* Is p, which is so deep under a face, out of the solid again, where an edge is sharp? Not by as little as it is deep: two wedges that lie
 * flush on each other have no other contacts. From 1e-6 of the size on no more than the margin counts. */
bool ss_hull_passed_through(const struct ss_hull *hull, ss_vec3 p, double depth, double margin, double size);

/* Does the segment (in the hull's frame) pass through the hull? *middle of what is inside, or of what is left of it. */
bool ss_hull_meets(const struct ss_hull *hull, const ss_segment *segment, double *middle);

/* Signed distance of p from the surface, the closest surface point and the outward normal there; inside, the nearest
 * face counts. Continuously differentiable outside. */
double ss_hull_distance(const struct ss_hull *hull, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface);

#endif
