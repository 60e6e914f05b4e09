/* What touches a mesh: a convex shape, seen from the mesh's frame, by its points over a facet, and by what it does at a sharp
 * edge and at a corner of the mesh. One row of functions per family of shapes. */
#ifndef SS_GEOM_MESH_GUEST_H
#define SS_GEOM_MESH_GUEST_H

#include "geom/hull.h"
#include "geom/mesh.h"

typedef struct ss_guest {
  const ss_shape *shape;
  const struct ss_guest_kind *kind;
  const struct ss_hull *hull; /* box, convex; else NULL */
  ss_hull_room room;
  ss_vec3 center;
  ss_quat turn;      /* from the guest's frame to the mesh's */
  double radius;     /* around points: sphere, capsule */
  ss_vec3 low, high; /* bounds in the mesh's frame; after ss_guest_prepare */
  ss_mat3 axes;      /* of the guest's frame in the mesh's, as columns; after ss_guest_prepare */
  ss_vec3 extent;    /* bounds in the guest's own frame: |x| <= extent.x and so on; likewise */
  ss_vec3 point[SS_MOST_HULL_POINTS];
  bool searches;               /* after ss_guest_prepare */
  int n_prepared;              /* hulls: so many points are there in the mesh's frame; 0 before ss_guest_prepare */
  double size, margin, beyond; /* beyond: ss_triangle_over's */
} ss_guest;

/* Contacts are in the mesh's frame; a is the guest, b the mesh. The functions return whether the points belong to both
 * shapes; the contact is filled in anyway, unless the guest searches. */
typedef struct ss_guest_kind {
  /* Points that may touch a facet with this normal are numbered 0 to n_points - 1; point: false where k is none of them. */
  int (*n_points)(const ss_guest *guest);
  int first_fixed; /* points from this one on are fixed in the shape, whatever the normal */
  bool (*point)(const ss_guest *guest, int k, ss_vec3 normal, ss_vec3 *out);
  int (*n_edges)(const ss_guest *guest);
  bool (*edge)(const ss_guest *guest, const struct ss_mesh *mesh, int edge, int k, ss_contact_point *out);
  int (*n_faces)(const ss_guest *guest);
  bool (*vertex)(const ss_guest *guest, const struct ss_mesh *mesh, int vertex, int k, ss_contact_point *out);
  /* Signed distance of a point in the shape's frame, with the outward normal; NULL: not needed. */
  double (*distance)(const ss_guest *guest, ss_vec3 point, ss_vec3 *normal);
  /* Whether a segment in the shape's frame passes through it, and where; NULL likewise. */
  bool (*pierced)(const ss_guest *guest, const ss_segment *segment, double *middle);
  /* Shapes that lie on a facet along a line: in which feature it crosses an edge, from which face on they are round; points 0 and 1 are
   * its own ends. */
  bool has_line;
  int crossing, round_face;
} ss_guest_kind;

/* Is feature k of the mesh's edge an end of the line along which the shape lies on a facet? */
bool ss_guest_line_crosses(const ss_guest *guest, const struct ss_mesh *mesh, int edge, int k);

/* What a search over many triangles needs, and a single feature does not. */
void ss_guest_prepare(ss_guest *guest);

/* Cheap questions: most of a fine mesh needs no other. Is the ball about p (in the mesh's frame) further than `reach` from the
 * guest's own bounds? Does the guest stay above the plane that its centre is so far above, by `reach`? Is the segment further than
 * `reach` from a shape whose closest point on it takes an iteration? */
bool ss_guest_is_far(const ss_guest *guest, ss_vec3 p, double radius, double reach);
bool ss_guest_is_above(const ss_guest *guest, ss_vec3 normal, double center, double reach);
bool ss_guest_passes(const ss_guest *guest, ss_vec3 a, ss_vec3 b, double reach);

/* For shapes that overlap: signed distance of the mesh's point from the shape, whether an edge of the mesh passes through it,
 * and the contacts that they make. Not for spheres, whose other features see everything. */
double ss_guest_distance(const ss_guest *guest, ss_vec3 point, ss_contact_point *out);
bool ss_guest_pierced(const ss_guest *guest, const struct ss_mesh *mesh, int edge, ss_contact_point *out);

void ss_guest_make(const ss_shape *shape, const ss_pose *pose, const struct ss_mesh *mesh, const ss_pose *mesh_pose,
                   ss_guest *guest);

#endif
