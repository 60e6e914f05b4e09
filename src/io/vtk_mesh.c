#include "io/vtk_mesh.h"

#include "core/arena.h"

#include <math.h>
#include <string.h>

enum { AROUND = 24, RINGS = 12 }; /* of what is round */

static void add_point(ss_mesh *m, ss_vec3 p) {
  if (m->n_points == m->point_capacity) {
    const int capacity = m->point_capacity ? 2 * m->point_capacity : 256;
    ss_vec3 *grown = ss_realloc(m->points, sizeof *grown * (size_t)capacity);
    if (!grown) {
      m->out_of_memory = true;
      return;
    }
    m->points = grown;
    m->point_capacity = capacity;
  }
  m->points[m->n_points++] = p;
}

static void add_polygon(ss_mesh *m, const int *corners, int n) {
  if (m->n_numbers + n + 1 > m->number_capacity) {
    const int capacity = 2 * m->number_capacity + 1024;
    int *grown = ss_realloc(m->polygons, sizeof *grown * (size_t)capacity);
    if (!grown) {
      m->out_of_memory = true;
      return;
    }
    m->polygons = grown;
    m->number_capacity = capacity;
  }
  m->polygons[m->n_numbers++] = n;
  for (int i = 0; i < n; i++) m->polygons[m->n_numbers++] = corners[i];
  m->n_polygons++;
}

typedef struct ring {
  double x, radius;
} ring;

/* Rings of AROUND points each about x; the first and the last close the surface where they have no radius. */
static void add_rings(ss_mesh *m, const ss_pose *pose, const ring *rings, int n, ss_vec3 scale) {
  const int first = m->n_points;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < AROUND; k++) {
      const double angle = 2 * acos(-1) * k / AROUND;
      const ss_vec3 p =
          v3(rings[i].x * scale.x, rings[i].radius * cos(angle) * scale.y, rings[i].radius * sin(angle) * scale.z);
      add_point(m, pose_point(pose, p));
    }
  for (int i = 0; i + 1 < n; i++)
    for (int k = 0; k < AROUND; k++) {
      const int next = (k + 1) % AROUND, a = first + i * AROUND;
      add_polygon(m, (const int[]){a + k, a + next, a + AROUND + next, a + AROUND + k}, 4);
    }
}

static void add_round(ss_mesh *m, const ss_pose *pose, double radius, double length, ss_vec3 scale) {
  ring rings[2 * RINGS + 2];
  int n = 0;
  for (int half = 0; half < 2; half++)
    for (int i = 0; i <= RINGS; i++) {
      const double angle = acos(-1) / 2 * (half ? i : i - RINGS) / RINGS; /* from pole to equator, and on */
      rings[n++] = (ring){radius * sin(angle) + (half ? length / 2 : -length / 2), radius * cos(angle)};
    }
  add_rings(m, pose, rings, n, scale);
}

static void add_box(ss_mesh *m, const ss_pose *pose, ss_vec3 size) {
  static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  const int first = m->n_points;
  for (int i = 0; i < 8; i++)
    add_point(m, pose_point(pose, v3((i & 1 ? 0.5 : -0.5) * size.x, (i & 2 ? 0.5 : -0.5) * size.y,
                                     (i & 4 ? 0.5 : -0.5) * size.z)));
  for (int i = 0; i < 6; i++) {
    int corners[4];
    for (int k = 0; k < 4; k++) corners[k] = first + faces[i][k];
    add_polygon(m, corners, 4);
  }
}

static void add_plane(ss_mesh *m, const ss_pose *pose, double reach) {
  const int first = m->n_points;
  for (int i = 0; i < 4; i++)
    add_point(m, pose_point(pose, v3((i == 1 || i == 2 ? 1 : -1) * reach, (i > 1 ? 1 : -1) * reach, 0)));
  add_polygon(m, (const int[]){first, first + 1, first + 2, first + 3}, 4);
}

static void numbers(const json_t *array, double *out, size_t n) {
  for (size_t i = 0; i < n; i++) out[i] = json_number_value(json_array_get(array, i));
}

/* The point's number among those from `first` on; corners that triangles share are one point, so that the surface is closed. */
static int shared_point(ss_mesh *m, int first, ss_vec3 p) {
  for (int i = first; i < m->n_points; i++)
    if (m->points[i].x == p.x && m->points[i].y == p.y && m->points[i].z == p.z) return i;
  add_point(m, p);
  return m->n_points - 1;
}

/* Corners, three by three. */
static bool add_triangles(ss_mesh *m, const ss_pose *pose, const json_t *corners) {
  const int first = m->n_points;
  const size_t n = json_array_size(corners);
  for (size_t i = 0; i + 3 <= n; i += 3) {
    int corner[3];
    for (size_t k = 0; k < 3; k++) {
      double p[3];
      numbers(json_array_get(corners, i + k), p, 3);
      corner[k] = shared_point(m, first, pose_point(pose, v3(p[0], p[1], p[2])));
    }
    add_polygon(m, corner, 3);
  }
  return n > 0 && n % 3 == 0;
}

/* Vertices as numbers in a row, faces as numbers of vertices, three by three. */
static bool add_faces(ss_mesh *m, const ss_pose *pose, const json_t *vertices, const json_t *faces) {
  const int first = m->n_points;
  const size_t n = json_array_size(vertices) / 3, triangles = json_array_size(faces) / 3;
  for (size_t i = 0; i < n; i++) {
    double p[3];
    for (size_t k = 0; k < 3; k++) p[k] = json_number_value(json_array_get(vertices, 3 * i + k));
    add_point(m, pose_point(pose, v3(p[0], p[1], p[2])));
  }
  for (size_t i = 0; i < triangles; i++) {
    int corner[3];
    for (size_t k = 0; k < 3; k++) {
      const json_int_t number = json_integer_value(json_array_get(faces, 3 * i + k));
      if (number < 0 || (size_t)number >= n) return false;
      corner[k] = first + (int)number;
    }
    add_polygon(m, corner, 3);
  }
  return triangles > 0;
}

bool ss_mesh_add_shape(ss_mesh *m, const json_t *shape, double reach) {
  const char *type = json_string_value(json_object_get(shape, "type"));
  double p[3], q[4], size[3];
  numbers(json_object_get(shape, "position"), p, 3);
  numbers(json_object_get(shape, "orientation"), q, 4);
  numbers(json_object_get(shape, "size"), size, 3);
  const ss_pose pose = {v3(p[0], p[1], p[2]), {q[0], q[1], q[2], q[3]}};
  const double radius = json_number_value(json_object_get(shape, "radius"));
  const double length = json_number_value(json_object_get(shape, "length"));
  const ss_vec3 one = v3(1, 1, 1);
  if (!type) return false;
  if (strcmp(type, "sphere") == 0)
    add_round(m, &pose, radius, 0, one);
  else if (strcmp(type, "capsule") == 0)
    add_round(m, &pose, radius, length, one);
  else if (strcmp(type, "ellipsoid") == 0 || strcmp(type, "ellipse") == 0)
    add_round(m, &pose, 0.5, 0, v3(size[0], size[1], size[2]));
  else if (strcmp(type, "cylinder") == 0)
    add_rings(m, &pose, (const ring[]){{-length / 2, 0}, {-length / 2, radius}, {length / 2, radius}, {length / 2, 0}},
              4, one);
  else if (strcmp(type, "box") == 0)
    add_box(m, &pose, v3(size[0], size[1], size[2]));
  else if (strcmp(type, "convex") == 0)
    return add_triangles(m, &pose, json_object_get(shape, "triangles"));
  else if (strcmp(type, "mesh") == 0 || strcmp(type, "height-field") == 0)
    return add_faces(m, &pose, json_object_get(shape, "vertices"), json_object_get(shape, "faces"));
  else if (strcmp(type, "half-space") == 0)
    add_plane(m, &pose, reach);
  else if (strcmp(type, "point") == 0)
    add_point(m, pose.position);
  else
    return false;
  return true;
}

void ss_mesh_release(ss_mesh *m) {
  ss_free(m->points);
  ss_free(m->polygons);
  *m = (ss_mesh){0};
}
