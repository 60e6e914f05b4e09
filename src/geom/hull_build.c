/* The convex hull of points, its volume and moments.
 *
 * For every ordered pair of points a third one is sought so that all others are on one side of the plane (gift wrapping): O(n^3)
 * at most, for the few dozen points of a part. Points of one plane, but for a tolerance, make one face; its border is found in
 * the plane. Fails for points that lie in a plane. */
#include "geom/hull_build.h"

#include <string.h>

typedef struct builder {
  const ss_vec3 *p;
  int n;
  double tolerance; /* a length */
  ss_hull_face *face;
  int *loop; /* of all faces, one after the other */
  int n_faces, n_loop, face_room, loop_room;
} builder;

static ss_vec3 cross3(ss_vec3 a, ss_vec3 b, ss_vec3 c) { return v3_cross(v3_sub(b, a), v3_sub(c, a)); }

/* The third point of the plane through i and j that has all points below it; -1: there is none. */
static int wrap(const builder *b, int i, int j, ss_vec3 *normal) {
  int k = -1;
  *normal = v3(0, 0, 0);
  for (int m = 0; m < b->n; m++) {
    if (m == i || m == j) continue;
    if (k < 0 || v3_dot(cross3(b->p[i], b->p[j], b->p[k]), v3_sub(b->p[m], b->p[i])) > 0) {
      ss_vec3 across;
      if (length_and_direction(cross3(b->p[i], b->p[j], b->p[m]), v3(0, 0, 0), &across) > b->tolerance * b->tolerance)
        k = m, *normal = across;
    }
  }
  if (k < 0) return -1;
  for (int m = 0; m < b->n; m++)
    if (v3_dot(*normal, v3_sub(b->p[m], b->p[i])) > b->tolerance) return -1;
  return k;
}

/* Is there a face already that has all three? */
static bool known_face(const builder *b, int i, int j, int k) {
  const int corner[3] = {i, j, k};
  for (int f = 0; f < b->n_faces; f++) {
    int on = 0;
    for (int c = 0; c < 3; c++)
      on += v3_dot(b->face[f].normal, b->p[corner[c]]) >= b->face[f].offset - 2 * b->tolerance;
    if (on == 3) return true;
  }
  return false;
}

/* The border of the points on the plane, counterclockwise: from one corner to the next, the one that has none to its right. */
static bool add_face(builder *b, ss_vec3 normal, int first) {
  const double offset = v3_dot(normal, b->p[first]);
  if (b->n_faces == b->face_room) return false;
  ss_hull_face *face = &b->face[b->n_faces];
  *face = (ss_hull_face){normal, offset, b->n_loop, 0};
  int start = -1; /* an extreme point of the plane's points */
  const ss_vec3 u = v3_perpendicular(normal), w = v3_cross(normal, u);
  for (int m = 0; m < b->n; m++) {
    if (v3_dot(normal, b->p[m]) < offset - 2 * b->tolerance) continue;
    const double d = start < 0 ? 1 : v3_dot(u, v3_sub(b->p[m], b->p[start]));
    if (d > b->tolerance || (fabs(d) <= b->tolerance && v3_dot(w, v3_sub(b->p[m], b->p[start])) > 0)) start = m;
  }
  int at = start;
  do {
    if (b->n_loop == b->loop_room || face->count > b->n) return false;
    b->loop[b->n_loop++] = at;
    face->count++;
    int next = -1;
    for (int m = 0; m < b->n; m++) {
      const ss_vec3 arm = v3_sub(b->p[m], b->p[at]);
      if (m == at || v3_dot(normal, b->p[m]) < offset - 2 * b->tolerance || v3_norm(arm) <= b->tolerance) continue;
      if (next < 0) {
        next = m;
        continue;
      }
      const ss_vec3 best = v3_sub(b->p[next], b->p[at]);
      const double turn = v3_dot(normal, v3_cross(best, arm)), width = b->tolerance * v3_norm(best);
      if (turn < -width || (turn <= width && v3_norm(arm) > v3_norm(best))) next = m;
    }
    if (next < 0) return false;
    at = next;
  } while (at != start);
  b->n_faces++;
  return face->count >= 3;
}

/* Edges from the loops: each is met twice, in opposite directions. Returns how many, -1: the loops do not close. */
static int find_edges(const builder *b, ss_hull_edge *edge) {
  int n = 0;
  for (int f = 0; f < b->n_faces; f++)
    for (int k = 0; k < b->face[f].count; k++) {
      const int *loop = b->loop + b->face[f].first;
      const int from = loop[k], to = loop[(k + 1) % b->face[f].count];
      int twin = -1;
      for (int e = 0; e < n && twin < 0; e++)
        if (edge[e].from == to && edge[e].to == from && edge[e].right < 0) twin = e;
      if (twin >= 0)
        edge[twin].right = f;
      else
        edge[n++] = (ss_hull_edge){from, to, f, -1};
    }
  for (int e = 0; e < n; e++)
    if (edge[e].right < 0) return -1;
  return n;
}

typedef struct integrals {
  double volume;
  ss_vec3 first;       /* of x */
  double second[3][3]; /* of x x^T */
} integrals;

/* Sum over the tetrahedra that the faces' triangles make with the origin: of x x^T it is det (s s^T + sum x_i x_i^T)/120. */
static integrals integrate(const struct ss_hull *hull) {
  integrals sum = {0};
  for (int f = 0; f < hull->n_faces; f++)
    for (int k = 1; k + 1 < hull->face[f].count; k++) {
      const int *loop = hull->loop + hull->face[f].first;
      const ss_vec3 x[3] = {hull->vertex[loop[0]], hull->vertex[loop[k]], hull->vertex[loop[k + 1]]};
      const ss_vec3 s = v3_add(x[0], v3_add(x[1], x[2]));
      const double det = v3_dot(x[0], v3_cross(x[1], x[2]));
      sum.volume += det / 6;
      sum.first = v3_axpy(sum.first, det / 24, s);
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          double of_corners = v3_get(s, i) * v3_get(s, j);
          for (int m = 0; m < 3; m++) of_corners += v3_get(x[m], i) * v3_get(x[m], j);
          sum.second[i][j] += det / 120 * of_corners;
        }
    }
  return sum;
}

static void moments_of(struct ss_hull *hull) {
  const integrals of = integrate(hull);
  const double(*m)[3] = of.second;
  const double i[6] = {m[1][1] + m[2][2], m[0][0] + m[2][2], m[0][0] + m[1][1], -m[0][1], -m[0][2], -m[1][2]};
  hull->volume = of.volume;
  memcpy(hull->inertia, i, sizeof i);
}

/* Leaves out points that are no corner of a face. */
static int keep_corners(const builder *b, ss_vec3 *vertex, int *number) {
  int n = 0;
  for (int i = 0; i < b->n; i++) {
    bool used = false;
    for (int k = 0; k < b->n_loop && !used; k++) used = b->loop[k] == i;
    number[i] = n;
    if (used) vertex[n++] = b->p[i];
  }
  for (int k = 0; k < b->n_loop; k++) b->loop[k] = number[b->loop[k]];
  return n;
}

/* The points, seen from the first one, without those that are another one but for the tolerance; returns how many are left. */
static int keep_apart(const ss_vec3 *points, int n, double tolerance, ss_vec3 *out) {
  int kept = 1;
  out[0] = v3(0, 0, 0);
  for (int i = 1; i < n; i++) {
    const ss_vec3 p = v3_sub(points[i], points[0]);
    bool known = false;
    for (int k = 0; k < kept && !known; k++) known = v3_norm(v3_sub(p, out[k])) <= 2 * tolerance;
    if (!known) out[kept++] = p;
  }
  return kept;
}

static ss_hull_status build(ss_arena *arena, const ss_vec3 *points, int n, double size, double tolerance,
                            struct ss_hull **out, ss_vec3 *centroid) {
  builder b = {.n = n, .tolerance = tolerance * size, .face_room = 2 * n + 4, .loop_room = 6 * n + 12};
  struct ss_hull *hull = SS_ARENA_ARRAY(arena, struct ss_hull, 1);
  ss_vec3 *centered = SS_ARENA_ARRAY(arena, ss_vec3, n), *vertex = SS_ARENA_ARRAY(arena, ss_vec3, n);
  ss_hull_edge *edge = SS_ARENA_ARRAY(arena, ss_hull_edge, b.loop_room);
  int *number = SS_ARENA_ARRAY(arena, int, n);
  b.face = SS_ARENA_ARRAY(arena, ss_hull_face, b.face_room);
  b.loop = SS_ARENA_ARRAY(arena, int, b.loop_room);
  if (!hull || !centered || !vertex || !edge || !number || !b.face || !b.loop) return SS_HULL_MEMORY;
  b.n = keep_apart(points, n, b.tolerance, centered);
  b.p = centered;
  for (int i = 0; i < b.n; i++)
    for (int j = 0; j < b.n; j++) {
      ss_vec3 normal;
      const int k = i == j ? -1 : wrap(&b, i, j, &normal);
      if (k < 0 || known_face(&b, i, j, k)) continue;
      if (!add_face(&b, normal, i)) return SS_HULL_FLAT;
    }
  const int n_edges = b.n_faces < 4 ? -1 : find_edges(&b, edge);
  if (n_edges < 0) return SS_HULL_FLAT;
  /* the edges' ends are renumbered with the loops */
  const int n_vertices = keep_corners(&b, vertex, number);
  for (int e = 0; e < n_edges; e++) edge[e].from = number[edge[e].from], edge[e].to = number[edge[e].to];
  *hull = (struct ss_hull){.vertex = vertex,
                           .face = b.face,
                           .edge = edge,
                           .loop = b.loop,
                           .n_vertices = n_vertices,
                           .n_faces = b.n_faces,
                           .n_edges = n_edges};
  const integrals of = integrate(hull);
  if (!(of.volume > 1e-9 * size * size * size)) return SS_HULL_FLAT;
  const ss_vec3 center = v3_scale(1 / of.volume, of.first);
  for (int i = 0; i < n_vertices; i++) vertex[i] = v3_sub(vertex[i], center);
  for (int f = 0; f < b.n_faces; f++) b.face[f].offset = v3_dot(b.face[f].normal, vertex[b.loop[b.face[f].first]]);
  moments_of(hull);
  *centroid = v3_add(points[0], center);
  *out = hull;
  return SS_HULL_OK;
}

ss_hull_status ss_hull_build(ss_arena *arena, const ss_vec3 *points, int n, struct ss_hull **out, ss_vec3 *centroid) {
  static const double tolerances[] = {1e-10, 1e-7, 1e-5}; /* coarser where points of files are in a plane only nearly */
  double size = 0;
  for (int i = 1; i < n; i++) size = fmax(size, v3_norm(v3_sub(points[i], points[0])));
  ss_hull_status status = SS_HULL_FLAT;
  for (int i = 0; i < 3 && status == SS_HULL_FLAT; i++)
    status = build(arena, points, n, size, tolerances[i], out, centroid);
  return status;
}
