/* Questions to a mesh: which triangles are near, how far is a point. */
#include "geom/mesh.h"

enum { STACK = 64 }; /* the tree is balanced: its depth is the logarithm of the number of triangles */

static bool boxes_meet(const ss_mesh_node *n, ss_vec3 low, ss_vec3 high) {
  return n->low.x <= high.x && n->high.x >= low.x && n->low.y <= high.y && n->high.y >= low.y && n->low.z <= high.z &&
         n->high.z >= low.z;
}

void ss_mesh_visit(const struct ss_mesh *mesh, ss_vec3 low, ss_vec3 high, ss_mesh_visitor visitor, void *context) {
  int stack[STACK], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const ss_mesh_node *node = &mesh->node[stack[--depth]];
    if (!boxes_meet(node, low, high)) continue;
    for (int i = 0; i < node->count; i++) visitor(context, mesh->order[node->first + i]);
    if (node->count == 0) {
      stack[depth++] = node->child[1];
      stack[depth++] = node->child[0];
    }
  }
}

/* ---- over a facet ---- */

bool ss_triangle_over(const struct ss_mesh *mesh, int triangle, ss_vec3 p, double margin, double beyond) {
  const ss_triangle *t = &mesh->triangle[triangle];
  const ss_vec3 n = mesh->facet[t->facet].normal;
  for (int i = 0; i < 3; i++) {
    const ss_vec3 a = mesh->vertex[t->corner[i]], side = v3_sub(mesh->vertex[t->corner[(i + 1) % 3]], a);
    const double allowed = mesh->edge[t->edge[i]].hollow ? margin + beyond : margin;
    if (v3_dot(v3_cross(n, side), v3_sub(p, a)) < -allowed * v3_norm(side)) return false;
  }
  return true;
}

typedef struct over_search {
  const struct ss_mesh *mesh;
  int facet;
  ss_vec3 p;
  double margin, beyond;
  bool found;
} over_search;

static void over_visitor(void *context, int triangle) {
  over_search *s = context;
  if (!s->found && s->mesh->triangle[triangle].facet == s->facet)
    s->found = ss_triangle_over(s->mesh, triangle, s->p, s->margin, s->beyond);
}

bool ss_facet_over(const struct ss_mesh *mesh, int facet, ss_vec3 p, double margin, double beyond) {
  over_search s = {mesh, facet, p, margin, beyond, false};
  const ss_vec3 foot = v3_axpy(p, -facet_height(mesh, facet, p), mesh->facet[facet].normal);
  const double wide = 2 * (margin + beyond) + 2e-7 * mesh->size; /* a facet's triangles are in its plane but for that */
  const ss_vec3 grow = v3(wide, wide, wide);
  ss_mesh_visit(mesh, v3_sub(foot, grow), v3_add(foot, grow), over_visitor, &s);
  return s.found;
}

/* ---- the closest point ---- */

typedef struct nearest {
  double square; /* of the distance */
  ss_vec3 foot;
  int triangle;
  int edge, vertex; /* where the foot is on one; else -1 */
} nearest;

static double box_square(const ss_mesh_node *n, ss_vec3 p) {
  double sum = 0;
  for (int i = 0; i < 3; i++) {
    const double x = v3_get(p, i), low = v3_get(n->low, i) - x, high = x - v3_get(n->high, i);
    const double d = low > high ? low : high;
    if (d > 0) sum += d * d;
  }
  return sum;
}

static void offer(nearest *best, ss_vec3 p, ss_vec3 foot, int triangle, int edge, int vertex) {
  const ss_vec3 d = v3_sub(p, foot);
  const double square = v3_dot(d, d);
  if (square < best->square) *best = (nearest){square, foot, triangle, edge, vertex};
}

static void nearest_of_triangle(const struct ss_mesh *mesh, int triangle, ss_vec3 p, nearest *best) {
  const ss_triangle *t = &mesh->triangle[triangle];
  if (ss_triangle_over(mesh, triangle, p, 0, 0)) {
    const double h = facet_height(mesh, t->facet, p);
    offer(best, p, v3_axpy(p, -h, mesh->facet[t->facet].normal), triangle, -1, -1);
    return;
  }
  for (int i = 0; i < 3; i++) {
    const ss_vec3 a = mesh->vertex[t->corner[i]], side = v3_sub(mesh->vertex[t->corner[(i + 1) % 3]], a);
    const double along = v3_dot(side, v3_sub(p, a)) / v3_dot(side, side);
    if (along <= 0)
      offer(best, p, a, triangle, -1, t->corner[i]);
    else if (along < 1) /* its other end is the next side's first */
      offer(best, p, v3_axpy(a, along, side), triangle, t->edge[i], -1);
  }
}

static nearest find_nearest(const struct ss_mesh *mesh, ss_vec3 p) {
  nearest best = {.square = INFINITY, .edge = -1, .vertex = -1};
  int stack[STACK], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const ss_mesh_node *node = &mesh->node[stack[--depth]];
    if (box_square(node, p) >= best.square) continue;
    for (int i = 0; i < node->count; i++) nearest_of_triangle(mesh, mesh->order[node->first + i], p, &best);
    if (node->count == 0) { /* the nearer box first */
      const int first = box_square(&mesh->node[node->child[1]], p) < box_square(&mesh->node[node->child[0]], p);
      stack[depth++] = node->child[!first];
      stack[depth++] = node->child[first];
    }
  }
  return best;
}

/* A vector that points out of the solid at an edge; zero where the surface ends. */
static ss_vec3 edge_outward(const struct ss_mesh *mesh, int edge) {
  const ss_mesh_edge *e = &mesh->edge[edge];
  if (e->right < 0) return v3(0, 0, 0);
  return v3_add(mesh->facet[mesh->triangle[e->left].facet].normal, mesh->facet[mesh->triangle[e->right].facet].normal);
}

double ss_mesh_distance(const struct ss_mesh *mesh, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface) {
  const nearest best = find_nearest(mesh, p);
  *surface = best.foot;
  const ss_facet *facet = &mesh->facet[mesh->triangle[best.triangle].facet];
  if (best.edge < 0 && best.vertex < 0) {
    *normal = facet->normal;
    return facet_height(mesh, mesh->triangle[best.triangle].facet, p);
  }
  const ss_vec3 outward = best.vertex >= 0 ? mesh->outward[best.vertex] : edge_outward(mesh, best.edge);
  const double distance = length_and_direction(v3_sub(p, best.foot), facet->normal, normal);
  if (v3_dot(outward, v3_sub(p, best.foot)) >= 0) return distance;
  *normal = v3_neg(*normal);
  return -distance;
}

/* ---- normals of edges and corners ---- */

bool ss_mesh_edge_admits(const struct ss_mesh *mesh, int edge, ss_vec3 normal, double slack) {
  const ss_mesh_edge *e = &mesh->edge[edge];
  const ss_vec3 u = v3_normalize(v3_sub(mesh->vertex[e->to], mesh->vertex[e->from]));
  const ss_vec3 left = mesh->facet[mesh->triangle[e->left].facet].normal;
  if (v3_dot(normal, v3_cross(left, u)) > slack) return false; /* left x u points into the left triangle */
  if (e->right < 0) return true;
  const ss_vec3 right = mesh->facet[mesh->triangle[e->right].facet].normal;
  return v3_dot(normal, v3_cross(u, right)) <= slack && v3_dot(normal, v3_add(left, right)) > 0;
}

bool ss_mesh_vertex_admits(const struct ss_mesh *mesh, int vertex, ss_vec3 normal, double slack) {
  for (int i = mesh->first_end[vertex]; i < mesh->first_end[vertex + 1]; i++) {
    const ss_vec3 arm = v3_sub(mesh->vertex[mesh->end[i]], mesh->vertex[vertex]);
    if (v3_dot(normal, arm) > slack * v3_norm(arm)) return false;
  }
  return true;
}
