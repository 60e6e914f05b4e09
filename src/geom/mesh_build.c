/* From triangles to a mesh: corners welded, sides paired, planes found, edges and corners judged, a tree of boxes around it all.
 *
 * Everything is sorting and one walk over the triangles: O(n log n). A side that more than two triangles share counts as an
 * end of the surface for each of them. */
#include "geom/mesh.h"

#include <stdlib.h>
#include <string.h>

static const double plane_tolerance = 1e-7; /* of the size: triangles of one facet */
static const double thin = 1e-10;           /* of the size: altitude of a triangle that counts as none */
static const double bend = 1e-9;            /* sine of the angle below which an edge is not sharp */

typedef struct half_edge {
  int low, high, triangle, side;
  bool forward; /* from low to high */
} half_edge;

typedef struct ranked {
  double value;
  int triangle;
} ranked;

typedef struct coded {
  uint64_t code;
  int triangle;
} coded;

typedef struct builder {
  ss_arena *arena, *scratch;
  struct ss_mesh *mesh;
  ss_vec3 *vertex, *outward;
  ss_triangle *triangle;
  ss_facet *facet;
  ss_mesh_edge *edge;
  int *owner, *first_end, *end, *order;
  ss_mesh_node *node;
  int *original; /* number of a triangle as given */
  ss_vec3 low, high;
  int *where;
} builder;

/* ---- corners ---- */

typedef struct numbered {
  ss_vec3 p;
  int index;
} numbered;

static int by_place(const void *left, const void *right) {
  const numbered *a = left, *b = right;
  if (a->p.x != b->p.x) return a->p.x < b->p.x ? -1 : 1;
  if (a->p.y != b->p.y) return a->p.y < b->p.y ? -1 : 1;
  if (a->p.z != b->p.z) return a->p.z < b->p.z ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

/* number[i]: of the vertex at point i. Vertices are in the order of the first point at each place. */
static bool weld(builder *b, const ss_vec3 *points, int n, int *number) {
  numbered *sorted = SS_ARENA_ARRAY(b->scratch, numbered, n);
  if (!sorted) return false;
  for (int i = 0; i < n; i++) sorted[i] = (numbered){points[i], i};
  qsort(sorted, (size_t)n, sizeof *sorted, by_place);
  for (int i = 0, first = 0; i < n; i++) {
    if (i > 0 && (sorted[i].p.x != sorted[first].p.x || sorted[i].p.y != sorted[first].p.y ||
                  sorted[i].p.z != sorted[first].p.z))
      first = i;
    number[sorted[i].index] = sorted[first].index;
  }
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (number[i] == i) b->vertex[count++] = points[i];
    number[i] = number[i] == i ? count - 1 : number[number[i]]; /* the first at a place has the least index */
  }
  b->mesh->n_vertices = count;
  return true;
}

static ss_vec3 area_vector(const builder *b, const int corner[3]) {
  const ss_vec3 a = b->vertex[corner[0]];
  return v3_cross(v3_sub(b->vertex[corner[1]], a), v3_sub(b->vertex[corner[2]], a));
}

static bool has_area(const builder *b, const int corner[3]) {
  double longest = 0;
  for (int i = 0; i < 3; i++)
    longest = fmax(longest, v3_norm(v3_sub(b->vertex[corner[i]], b->vertex[corner[(i + 1) % 3]])));
  return v3_norm(area_vector(b, corner)) > thin * b->mesh->size * longest;
}

static void keep_triangles(builder *b, const int *number, const int *triangles, int n) {
  for (int i = 0; i < n; i++) {
    ss_triangle t = {.facet = -1};
    for (int k = 0; k < 3; k++) t.corner[k] = number[triangles[3 * i + k]];
    if (!has_area(b, t.corner)) continue;
    b->original[b->mesh->n_triangles] = i;
    b->triangle[b->mesh->n_triangles++] = t;
  }
}

/* ---- edges ---- */

static int by_ends(const void *left, const void *right) {
  const half_edge *a = left, *b = right;
  if (a->low != b->low) return a->low < b->low ? -1 : 1;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static void add_edge(builder *b, const half_edge *left, const half_edge *right) {
  ss_mesh_edge *e = &b->edge[b->mesh->n_edges];
  *e = (ss_mesh_edge){left->forward ? left->low : left->high,
                      left->forward ? left->high : left->low,
                      left->triangle,
                      right ? right->triangle : -1,
                      false,
                      false};
  b->triangle[left->triangle].edge[left->side] = b->mesh->n_edges;
  if (right) b->triangle[right->triangle].edge[right->side] = b->mesh->n_edges;
  b->mesh->n_edges++;
}

static ss_mesh_status find_edges(builder *b) {
  const int n = 3 * b->mesh->n_triangles;
  half_edge *half = SS_ARENA_ARRAY(b->scratch, half_edge, n);
  if (!half) return SS_MESH_MEMORY;
  for (int i = 0; i < n; i++) {
    const int *corner = b->triangle[i / 3].corner;
    const int from = corner[i % 3], to = corner[(i + 1) % 3];
    half[i] = (half_edge){from < to ? from : to, from < to ? to : from, i / 3, i % 3, from < to};
  }
  qsort(half, (size_t)n, sizeof *half, by_ends);
  for (int i = 0, next; i < n; i = next) {
    for (next = i + 1; next < n && half[next].low == half[i].low && half[next].high == half[i].high;) next++;
    if (next - i == 2 && half[i].forward != half[i + 1].forward) {
      add_edge(b, &half[i], &half[i + 1]);
      continue;
    }
    if (next - i == 2) {
      b->where[0] = b->original[half[i].triangle], b->where[1] = b->original[half[i + 1].triangle];
      return SS_MESH_TWISTED;
    }
    for (int k = i; k < next; k++) add_edge(b, &half[k], NULL);
  }
  return SS_MESH_OK;
}

/* ---- facets ---- */

static int by_value_down(const void *left, const void *right) {
  const ranked *a = left, *b = right;
  if (a->value != b->value) return a->value > b->value ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

static bool fits(const builder *b, const ss_triangle *t, const ss_facet *facet) {
  if (!(v3_dot(facet->normal, area_vector(b, t->corner)) > 0)) return false;
  for (int k = 0; k < 3; k++)
    if (fabs(v3_dot(facet->normal, v3_sub(b->vertex[t->corner[k]], facet->origin))) > plane_tolerance * b->mesh->size)
      return false;
  return true;
}

/* From the largest triangle that has no facet yet, over all sides to triangles of the same plane. */
static void grow_facet(builder *b, int seed, int *stack) {
  const int facet = b->mesh->n_facets++;
  const int *corner = b->triangle[seed].corner;
  b->facet[facet] = (ss_facet){v3_normalize(area_vector(b, corner)), b->vertex[corner[0]]};
  int depth = 0;
  stack[depth++] = seed;
  b->triangle[seed].facet = facet;
  while (depth > 0) {
    const int at = stack[--depth];
    for (int k = 0; k < 3; k++) {
      const ss_mesh_edge *e = &b->edge[b->triangle[at].edge[k]];
      const int other = e->left == at ? e->right : e->left;
      if (other < 0 || b->triangle[other].facet >= 0 || !fits(b, &b->triangle[other], &b->facet[facet])) continue;
      b->triangle[other].facet = facet;
      stack[depth++] = other;
    }
  }
}

static bool find_facets(builder *b) {
  const int n = b->mesh->n_triangles;
  ranked *rank = SS_ARENA_ARRAY(b->scratch, ranked, n);
  int *stack = SS_ARENA_ARRAY(b->scratch, int, n);
  if (!rank || !stack) return false;
  for (int i = 0; i < n; i++) rank[i] = (ranked){v3_norm(area_vector(b, b->triangle[i].corner)), i};
  qsort(rank, (size_t)n, sizeof *rank, by_value_down);
  for (int i = 0; i < n; i++)
    if (b->triangle[rank[i].triangle].facet < 0) grow_facet(b, rank[i].triangle, stack);
  return true;
}

/* ---- what is sharp ---- */

static ss_vec3 normal_of(const builder *b, int triangle) { return b->facet[b->triangle[triangle].facet].normal; }

static void judge_edges(builder *b) {
  for (int i = 0; i < b->mesh->n_edges; i++) {
    ss_mesh_edge *e = &b->edge[i];
    if (e->right < 0) {
      e->sharp = true;
      continue;
    }
    const ss_vec3 u = v3_normalize(v3_sub(b->vertex[e->to], b->vertex[e->from]));
    const ss_vec3 into_right = v3_cross(u, normal_of(b, e->right));
    const double rise = v3_dot(normal_of(b, e->left), into_right); /* of the right triangle over the left one's plane */
    const bool flat = b->triangle[e->left].facet == b->triangle[e->right].facet;
    e->sharp = !flat && rise < -bend;
    e->hollow = !flat && rise > bend;
  }
}

static void list_ends(builder *b) {
  const struct ss_mesh *m = b->mesh;
  for (int i = 0; i < m->n_edges; i++) b->first_end[b->edge[i].from + 1]++, b->first_end[b->edge[i].to + 1]++;
  for (int v = 0; v < m->n_vertices; v++) b->first_end[v + 1] += b->first_end[v];
  int *fill = b->owner; /* not needed yet: how many of each vertex are there */
  for (int v = 0; v < m->n_vertices; v++) fill[v] = b->first_end[v];
  for (int i = 0; i < m->n_edges; i++) {
    b->end[fill[b->edge[i].from]++] = b->edge[i].to;
    b->end[fill[b->edge[i].to]++] = b->edge[i].from;
  }
}

/* A corner is touched on its own where sharp edges meet, unless they are two that go straight on. */
static bool judge_vertices(builder *b) {
  const struct ss_mesh *m = b->mesh;
  int *count = SS_ARENA_ARRAY(b->scratch, int, m->n_vertices);
  ss_vec3 *first = SS_ARENA_ARRAY(b->scratch, ss_vec3, m->n_vertices);
  bool *straight = SS_ARENA_ARRAY(b->scratch, bool, m->n_vertices);
  if (!count || !first || !straight) return false;
  for (int v = 0; v < m->n_vertices; v++) b->owner[v] = -1;
  for (int i = 0; i < m->n_edges; i++)
    for (int side = 0; b->edge[i].sharp && side < 2; side++) {
      const int v = side ? b->edge[i].to : b->edge[i].from, other = side ? b->edge[i].from : b->edge[i].to;
      const ss_vec3 direction = v3_normalize(v3_sub(b->vertex[other], b->vertex[v]));
      if (count[v] == 0) first[v] = direction;
      if (count[v] == 1) straight[v] = v3_norm(v3_add(direction, first[v])) < 1e-5;
      count[v]++;
    }
  for (int i = m->n_triangles - 1; i >= 0; i--)
    for (int k = 0; k < 3; k++) {
      const int v = b->triangle[i].corner[k];
      if (count[v] > 2 || (count[v] == 2 && !straight[v])) b->owner[v] = i;
    }
  return true;
}

static void sum_normals(builder *b) {
  const struct ss_mesh *m = b->mesh;
  for (int i = 0; i < m->n_triangles; i++)
    for (int k = 0; k < 3; k++) {
      const int *corner = b->triangle[i].corner;
      const ss_vec3 at = b->vertex[corner[k]];
      const ss_vec3 u = v3_sub(b->vertex[corner[(k + 1) % 3]], at), w = v3_sub(b->vertex[corner[(k + 2) % 3]], at);
      const double angle = atan2(v3_norm(v3_cross(u, w)), v3_dot(u, w));
      b->outward[corner[k]] = v3_axpy(b->outward[corner[k]], angle, normal_of(b, i));
    }
  for (int i = 0; i < m->n_edges; i++)
    if (b->edge[i].right < 0) b->outward[b->edge[i].from] = b->outward[b->edge[i].to] = v3(0, 0, 0);
}

/* ---- the tree: triangles along a space-filling curve, halved again and again ---- */

enum { LEAF = 4, BITS = 21 };

static int by_code(const void *left, const void *right) {
  const coded *a = left, *b = right;
  if (a->code != b->code) return a->code < b->code ? -1 : 1;
  return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

/* Bits of the three coordinates in turn (Morton). */
static uint64_t code_of(const builder *b, const ss_triangle *t) {
  uint64_t code = 0, cell[3];
  for (int i = 0; i < 3; i++) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += v3_get(b->vertex[t->corner[k]], i) - v3_get(b->low, i);
    cell[i] = (uint64_t)(sum / 3 / b->mesh->size * ((1 << BITS) - 1));
  }
  for (int bit = BITS - 1; bit >= 0; bit--)
    for (int i = 0; i < 3; i++) code = code << 1 | (cell[i] >> bit & 1);
  return code;
}

static void grow_box(ss_vec3 *low, ss_vec3 *high, ss_vec3 p) {
  *low = v3(fmin(low->x, p.x), fmin(low->y, p.y), fmin(low->z, p.z));
  *high = v3(fmax(high->x, p.x), fmax(high->y, p.y), fmax(high->z, p.z));
}

static void box_of(const builder *b, ss_mesh_node *node) {
  node->low = node->high = b->vertex[b->triangle[b->order[node->first]].corner[0]];
  for (int i = 0; i < node->count; i++)
    for (int k = 0; k < 3; k++)
      grow_box(&node->low, &node->high, b->vertex[b->triangle[b->order[node->first + i]].corner[k]]);
}

static bool grow_tree(builder *b) {
  struct ss_mesh *m = b->mesh;
  coded *sorted = SS_ARENA_ARRAY(b->scratch, coded, m->n_triangles);
  if (!sorted) return false;
  for (int i = 0; i < m->n_triangles; i++) sorted[i] = (coded){code_of(b, &b->triangle[i]), i};
  qsort(sorted, (size_t)m->n_triangles, sizeof *sorted, by_code);
  for (int i = 0; i < m->n_triangles; i++) b->order[i] = sorted[i].triangle;
  b->node[0] = (ss_mesh_node){.first = 0, .count = m->n_triangles};
  m->n_nodes = 1;
  for (int i = 0; i < m->n_nodes; i++) { /* nodes are appended while they are gone through */
    ss_mesh_node *node = &b->node[i];
    box_of(b, node);
    if (node->count <= LEAF) continue;
    const int half = node->count / 2;
    b->node[m->n_nodes] = (ss_mesh_node){.first = node->first, .count = half};
    b->node[m->n_nodes + 1] = (ss_mesh_node){.first = node->first + half, .count = node->count - half};
    node->child[0] = m->n_nodes, node->child[1] = m->n_nodes + 1;
    node->count = 0;
    m->n_nodes += 2;
  }
  return true;
}

/* ---- all together ---- */

static bool reserve(builder *b, int n_points, int n_triangles) {
  struct ss_mesh *m = SS_ARENA_ARRAY(b->arena, struct ss_mesh, 1);
  const size_t t = (size_t)n_triangles, p = (size_t)n_points;
  b->mesh = m;
  b->vertex = SS_ARENA_ARRAY(b->arena, ss_vec3, p);
  b->outward = SS_ARENA_ARRAY(b->arena, ss_vec3, p);
  b->triangle = SS_ARENA_ARRAY(b->arena, ss_triangle, t);
  b->facet = SS_ARENA_ARRAY(b->arena, ss_facet, t);
  b->edge = SS_ARENA_ARRAY(b->arena, ss_mesh_edge, 3 * t);
  b->owner = SS_ARENA_ARRAY(b->arena, int, p);
  b->first_end = SS_ARENA_ARRAY(b->arena, int, p + 1);
  b->end = SS_ARENA_ARRAY(b->arena, int, 6 * t);
  b->order = SS_ARENA_ARRAY(b->arena, int, t);
  b->node = SS_ARENA_ARRAY(b->arena, ss_mesh_node, t + 1); /* leaves have two triangles or more, or there is one node */
  b->original = SS_ARENA_ARRAY(b->scratch, int, t);
  return m && b->vertex && b->outward && b->triangle && b->facet && b->edge && b->owner && b->first_end && b->end &&
         b->order && b->node && b->original;
}

static ss_mesh_status build(builder *b, const ss_vec3 *points, int n_points, const int *triangles, int n_triangles) {
  int *number = SS_ARENA_ARRAY(b->scratch, int, n_points);
  if (!number || !reserve(b, n_points, n_triangles)) return SS_MESH_MEMORY;
  b->low = b->high = points[0];
  for (int i = 1; i < n_points; i++) grow_box(&b->low, &b->high, points[i]);
  b->mesh->size = v3_norm(v3_sub(b->high, b->low));
  if (!weld(b, points, n_points, number)) return SS_MESH_MEMORY;
  keep_triangles(b, number, triangles, n_triangles);
  if (b->mesh->n_triangles == 0) return SS_MESH_EMPTY;
  const ss_mesh_status status = find_edges(b);
  if (status != SS_MESH_OK) return status;
  if (!find_facets(b)) return SS_MESH_MEMORY;
  judge_edges(b);
  list_ends(b);
  sum_normals(b);
  return judge_vertices(b) && grow_tree(b) ? SS_MESH_OK : SS_MESH_MEMORY;
}

ss_mesh_status ss_mesh_build(ss_arena *arena, const ss_vec3 *points, int n_points, const int *triangles,
                             int n_triangles, struct ss_mesh **out, int where[2]) {
  where[0] = n_triangles, where[1] = 0;
  if (n_triangles < 1 || n_points < 3) return SS_MESH_EMPTY;
  if (n_triangles > SS_MOST_MESH_TRIANGLES) return SS_MESH_TOO_LARGE;
  builder b = {.arena = arena, .scratch = ss_arena_create(), .where = where};
  if (!b.scratch) return SS_MESH_MEMORY;
  ss_mesh_status status = build(&b, points, n_points, triangles, n_triangles);
  if (status == SS_MESH_OK && b.mesh->n_edges >= 1 << 20) status = SS_MESH_TOO_LARGE;
  if (status == SS_MESH_OK) {
    struct ss_mesh *m = b.mesh;
    m->vertex = b.vertex, m->outward = b.outward, m->triangle = b.triangle, m->facet = b.facet, m->edge = b.edge;
    m->solid = true;
    for (int i = 0; i < m->n_edges; i++) m->solid &= b.edge[i].right >= 0;
    m->owner = b.owner, m->first_end = b.first_end, m->end = b.end, m->order = b.order, m->node = b.node;
    *out = m;
  }
  ss_arena_destroy(b.scratch);
  return status;
}
