/* Triangle meshes and height fields: an oriented surface with the solid behind it, immovable.
 *
 * Triangles that share a side and lie in one plane, but for 1e-7 of the mesh's size, form a facet; contacts are with facets,
 * so that a floor of many triangles is one plane to whatever slides over it. Sides between two facets are edges: sharp where
 * the surface is convex there, or ends. Only sharp edges, and corners where they meet, are touched on their own.
 *
 * The triangles are found by a tree of boxes; nothing is allocated after the mesh has been built. */
#ifndef SS_GEOM_MESH_H
#define SS_GEOM_MESH_H

#include "geom/pairs.h"

enum { SS_MOST_MESH_TRIANGLES = 600000 }; /* an edge's number has 20 bits in a contact's feature */

typedef struct ss_triangle {
  int corner[3]; /* counterclockwise from outside */
  int edge[3];   /* edge[i]: from corner[i] to corner[i + 1] */
  int facet;
} ss_triangle;

typedef struct ss_facet {
  ss_vec3 normal; /* unit, outward */
  ss_vec3 origin; /* a point of the plane */
} ss_facet;

typedef struct ss_mesh_edge {
  int from, to;
  int left, right; /* triangles; left has from -> to counterclockwise; right -1: the surface ends here */
  bool sharp;      /* convex, or an end of the surface */
  bool hollow;     /* concave */
} ss_mesh_edge;

/* A box around triangles, or around two other boxes. */
typedef struct ss_mesh_node {
  ss_vec3 low, high;
  int first, count; /* leaf: order[first] ... order[first + count - 1]; count 0: none */
  int child[2];
} ss_mesh_node;

struct ss_mesh {
  const ss_vec3 *vertex;
  const ss_vec3 *outward; /* of a vertex: sum of normals weighted with angles; zero where the surface ends there */
  const ss_triangle *triangle;
  const ss_facet *facet;
  const ss_mesh_edge *edge;
  const int *owner; /* of a vertex: the triangle that reports it; -1: not touched on its own */
  const int
      *first_end; /* of a vertex: end[first_end[v]] ... end[first_end[v + 1] - 1] are the other ends of its edges */
  const int *end;
  const ss_mesh_node *node;
  const int *order;
  int n_vertices, n_triangles, n_facets, n_edges, n_nodes;
  double size; /* diagonal of the bounding box */
  bool solid;  /* closed, or a height field: whatever is behind it is inside */
};

typedef enum ss_mesh_status {
  SS_MESH_OK,
  SS_MESH_MEMORY,
  SS_MESH_EMPTY,    /* no triangle has an area */
  SS_MESH_TWISTED,  /* two triangles that share a side are wound in opposite senses: numbers in `where` */
  SS_MESH_TOO_LARGE /* where[0]: number of triangles */
} ss_mesh_status;

/* Corners that coincide are made one; triangles without area are left out. */
ss_mesh_status ss_mesh_build(ss_arena *arena, const ss_vec3 *points, int n_points, const int *triangles,
                             int n_triangles, struct ss_mesh **out, int where[2]);

/* Calls the function with every triangle whose box meets the given one. */
typedef void (*ss_mesh_visitor)(void *context, int triangle);
void ss_mesh_visit(const struct ss_mesh *mesh, ss_vec3 low, ss_vec3 high, ss_mesh_visitor visitor, void *context);

/* Height of a point over a facet's plane. */
static inline double facet_height(const struct ss_mesh *mesh, int facet, ss_vec3 p) {
  return v3_dot(mesh->facet[facet].normal, v3_sub(p, mesh->facet[facet].origin));
}

/* Is the point, seen along the normal, over the triangle / the facet, but for `margin`? At hollow edges it may be further out
 * by `beyond`: what is pressed into a corner, and a little behind one of its sides, is still held by the other. */
bool ss_triangle_over(const struct ss_mesh *mesh, int triangle, ss_vec3 p, double margin, double beyond);
bool ss_facet_over(const struct ss_mesh *mesh, int facet, ss_vec3 p, double margin, double beyond);

/* Signed distance of p from the surface, its closest point there, and the outward normal: p = surface + distance normal.
 * Negative: p is behind the surface. */
double ss_mesh_distance(const struct ss_mesh *mesh, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface);

/* May a contact at the edge / the vertex have this normal? It does where the surface is no higher than the plane through it
 * across the normal, but for `slack` (a sine). */
bool ss_mesh_edge_admits(const struct ss_mesh *mesh, int edge, ss_vec3 normal, double slack);
bool ss_mesh_vertex_admits(const struct ss_mesh *mesh, int vertex, ss_vec3 normal, double slack);

static inline ss_segment mesh_edge_segment(const struct ss_mesh *mesh, int edge) {
  const ss_vec3 a = mesh->vertex[mesh->edge[edge].from], b = mesh->vertex[mesh->edge[edge].to];
  ss_vec3 axis;
  const double length = length_and_direction(v3_sub(b, a), v3(1, 0, 0), &axis);
  return (ss_segment){v3_scale(0.5, v3_add(a, b)), axis, length / 2};
}

#endif
