/* Points and convex polyhedra. */
#include "geom/hull.h"

/* The box's topology: corners, edges and faces numbered as in box.h. */
static const int box_loop[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
static const ss_hull_edge box_edges[12] = {
    {0, 1, 2, 4}, {2, 3, 3, 4}, {4, 5, 2, 5}, {6, 7, 3, 5}, {0, 2, 0, 4}, {4, 6, 0, 5},
    {1, 3, 1, 4}, {5, 7, 1, 5}, {0, 4, 0, 2}, {1, 5, 1, 2}, {2, 6, 0, 3}, {3, 7, 1, 3},
};

const struct ss_hull *ss_hull_of(const ss_shape *shape, ss_hull_room *room) {
  if (shape->hull) return shape->hull;
  if (shape->type == SS_SHAPE_CAPSULE) {
    static const ss_hull_edge axis = {0, 1, -1, -1};
    for (int i = 0; i < 2; i++) room->vertex[i] = v3(i ? shape->half.x : -shape->half.x, 0, 0);
    room->hull = (struct ss_hull){.vertex = room->vertex, .edge = &axis, .n_vertices = 2, .n_edges = 1};
    return &room->hull;
  }
  for (uint32_t i = 0; i < 8; i++) room->vertex[i] = box_corner(shape->half, i);
  for (uint32_t i = 0; i < 6; i++)
    room->face[i] = (ss_hull_face){box_face_normal(i), v3_get(shape->half, (int)(i / 2)), 4 * (int)i, 4};
  room->hull = (struct ss_hull){room->vertex, room->face, box_edges, box_loop, 8, 6, 12, 0, {0}};
  return &room->hull;
}

bool ss_hull_over(const struct ss_hull *hull, int face, ss_vec3 p, double margin) {
  const ss_hull_face *f = &hull->face[face];
  const int *loop = hull->loop + f->first;
  for (int i = 0; i < f->count; i++) {
    const ss_vec3 a = hull->vertex[loop[i]], b = hull->vertex[loop[(i + 1) % f->count]];
    const ss_vec3 side = v3_sub(b, a);
    /* n x side points into the face */
    if (v3_dot(v3_cross(f->normal, side), v3_sub(p, a)) < -margin * v3_norm(side)) return false;
  }
  return true;
}

bool ss_hull_passed_through(const struct ss_hull *hull, ss_vec3 p, double depth, double margin, double size) {
  const double tolerance = depth < 1e-6 * size ? fmax(2 * depth, margin) : margin;
  for (int i = 0; i < hull->n_faces; i++)
    if (hull_height(hull, i, p) > tolerance) return true;
  return false;
}

bool ss_hull_meets(const struct ss_hull *hull, const ss_segment *segment, double *middle) {
  double low = -segment->half, high = segment->half;
  bool beside = false;
  for (int f = 0; f < hull->n_faces && low < high; f++) {
    const double height = hull_height(hull, f, segment->center), slope = v3_dot(hull->face[f].normal, segment->axis);
    if (slope > 0)
      high = fmin(high, -height / slope);
    else if (slope < 0)
      low = fmax(low, -height / slope);
    else
      beside |= height > 0;
  }
  *middle = clamp((low + high) / 2, segment->half);
  return low < high && !beside;
}

/* The closest point of the face's border. */
static double border_distance(const struct ss_hull *hull, int face, ss_vec3 p, ss_vec3 *closest) {
  const ss_hull_face *f = &hull->face[face];
  const int *loop = hull->loop + f->first;
  double best = INFINITY;
  for (int i = 0; i < f->count; i++) {
    const ss_vec3 a = hull->vertex[loop[i]], b = hull->vertex[loop[(i + 1) % f->count]];
    const ss_vec3 side = v3_sub(b, a), arm = v3_sub(p, a);
    const double square = v3_dot(side, side), along = square > 0 ? v3_dot(side, arm) / square : 0;
    const double s = along > 0 ? along : 0;
    const ss_vec3 foot = s >= 1 ? b : v3_axpy(a, s, side);
    ss_vec3 unit;
    const double distance = length_and_direction(v3_sub(p, foot), v3(0, 0, 1), &unit);
    if (distance < best) best = distance, *closest = foot;
  }
  return best;
}

/* On an edge or a corner but for rounding, which is no direction: between the normals of the faces that meet there. */
static ss_vec3 normal_between(const struct ss_hull *hull, ss_vec3 p) {
  const double near = 1e-9 * v3_norm(p);
  ss_vec3 sum = v3(0, 0, 0), normal;
  for (int i = 0; i < hull->n_faces; i++)
    if (hull_height(hull, i, p) > -near) sum = v3_add(sum, hull->face[i].normal);
  (void)length_and_direction(sum, v3(0, 0, 1), &normal);
  return normal;
}

double ss_hull_distance(const struct ss_hull *hull, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface) {
  if (hull->n_faces == 0) { /* an axis */
    const ss_segment axis = hull_edge(hull, 0);
    *surface = segment_point(&axis, segment_closest(&axis, p));
    return length_and_direction(v3_sub(p, *surface), v3(0, 0, 1), normal);
  }
  int highest = 0;
  double height = -INFINITY, least = INFINITY;
  for (int i = 0; i < hull->n_faces; i++) {
    const double h = hull_height(hull, i, p);
    if (h > height) height = h, highest = i;
    if (h <= 0) continue;
    if (ss_hull_over(hull, i, p, 0)) { /* its foot is the closest point: nothing of the solid is above the plane */
      *normal = hull->face[i].normal;
      *surface = v3_axpy(p, -h, *normal);
      return h;
    }
    ss_vec3 foot;
    const double distance = border_distance(hull, i, p, &foot);
    if (distance < least) least = distance, *surface = foot;
  }
  if (height > 0) {
    const double distance = length_and_direction(v3_sub(p, *surface), hull->face[highest].normal, normal);
    if (distance <= 1e-12 * v3_norm(p)) *normal = normal_between(hull, p);
    return distance;
  }
  *normal = hull->face[highest].normal;
  *surface = v3_axpy(p, -height, *normal);
  return height;
}
