/* The families of shapes that touch meshes. Features of a mesh's edge or corner count where their normal is one that the
 * convex surface has there: round shapes meet each edge in one place; polyhedra lie on several at once, so that their normals
 * have some slack. Gaps are signed, by the side on which the mesh is solid. */
#include "geom/mesh_guest.h"

#include "geom/cylinder.h"
#include "geom/ellipsoid.h"

static const double exact = 1e-9;      /* sine: slack of the normals of round shapes, which fit one edge only */
static const double flat = 0.02;       /* sine: of polyhedra, which lie on several edges and corners at once */
static const double parallel = 0.02;   /* sine: edges that do not cross */
static const double standing = 0.3;    /* sine of a cylinder's tilt */
static const double shallow = 1e-6;    /* of the size: what is deeper looks for the shortest way out */
static const double deep = 0.05;       /* of the size: edges that have passed each other further do not count */
static const double within = 1 - 1e-9; /* of a guest's own half length: its end is a point of its own */
static const double until = 1 + 1e-9;  /* of edges that cross in an end */
/* Of the mesh's edge: where a border goes straight on its vertices are no corners, so its edges have their ends. */
static const double to_its_end = 1 + SS_EDGE_ENDS;

static int none(const ss_guest *g) {
  (void)g;
  return 0;
}
static int one(const ss_guest *g) {
  (void)g;
  return 1;
}

static ss_vec3 from_guest(const ss_guest *g, ss_vec3 p) { return v3_add(g->center, quat_rotate(g->turn, p)); }
static ss_vec3 to_guest(const ss_guest *g, ss_vec3 p) {
  return quat_rotate(quat_conjugate(g->turn), v3_sub(p, g->center));
}

/* The guest's point x has the mesh's point `foot` next to it; its surface is the radius nearer. */
static void fill_round(double radius, ss_vec3 x, ss_vec3 foot, ss_vec3 fallback, ss_contact_point *out) {
  const double distance = length_and_direction(v3_sub(x, foot), fallback, &out->normal);
  if (distance <= 1e-12 * v3_norm(x)) out->normal = fallback; /* rounding is no direction */
  out->gap = distance - radius;
  out->point_b = foot;
  out->point_a = v3_axpy(foot, out->gap, out->normal);
}

static ss_vec3 left_normal(const struct ss_mesh *mesh, int edge) {
  return mesh->facet[mesh->triangle[mesh->edge[edge].left].facet].normal;
}

static ss_segment edge_in_guest(const ss_guest *g, const struct ss_mesh *mesh, int edge) {
  ss_segment e = mesh_edge_segment(mesh, edge);
  e.center = to_guest(g, e.center);
  e.axis = quat_rotate(quat_conjugate(g->turn), e.axis);
  return e;
}

/* ---- spheres, points; the ends of a capsule ---- */

static bool center_point(const ss_guest *g, int k, ss_vec3 normal, ss_vec3 *out) {
  (void)k, (void)normal;
  *out = g->center;
  return true;
}

static bool round_edge(const ss_guest *g, const struct ss_mesh *mesh, int edge, ss_vec3 x, ss_contact_point *out) {
  const ss_segment e = mesh_edge_segment(mesh, edge);
  const double t = segment_closest(&e, x);
  fill_round(g->radius, x, segment_point(&e, t), left_normal(mesh, edge), out);
  const bool beside = fabs(t) < e.half || fabs(v3_dot(out->normal, e.axis)) <= exact;
  return beside && ss_mesh_edge_admits(mesh, edge, out->normal, exact);
}

static bool sphere_edge(const ss_guest *g, const struct ss_mesh *mesh, int edge, int k, ss_contact_point *out) {
  (void)k;
  return round_edge(g, mesh, edge, g->center, out);
}

static bool sphere_vertex(const ss_guest *g, const struct ss_mesh *mesh, int vertex, int k, ss_contact_point *out) {
  (void)k;
  fill_round(g->radius, g->center, mesh->vertex[vertex], v3(0, 0, 1), out);
  return ss_mesh_vertex_admits(mesh, vertex, out->normal, exact);
}

static const ss_guest_kind sphere_kind = {.n_points = one,
                                          .point = center_point,
                                          .n_edges = one,
                                          .edge = sphere_edge,
                                          .n_faces = one,
                                          .vertex = sphere_vertex};

/* ---- capsules: the axis with a radius ---- */

static ss_segment capsule_segment(const ss_guest *g) {
  return (ss_segment){g->center, quat_rotate(g->turn, v3(1, 0, 0)), g->shape->half.x};
}

static int capsule_points(const ss_guest *g) { return g->shape->half.x > 0 ? 2 : 1; }
static int capsule_edges(const ss_guest *g) { return g->shape->half.x > 0 ? 3 : 1; }

static bool capsule_point(const ss_guest *g, int k, ss_vec3 normal, ss_vec3 *out) {
  (void)normal;
  const ss_segment axis = capsule_segment(g);
  *out = segment_point(&axis, k ? axis.half : -axis.half);
  return true;
}

/* 0, 1: an end; 2: the axis crosses the edge. */
static bool capsule_edge(const ss_guest *g, const struct ss_mesh *mesh, int edge, int k, ss_contact_point *out) {
  const ss_segment axis = capsule_segment(g), e = mesh_edge_segment(mesh, edge);
  if (k < 2) return round_edge(g, mesh, edge, segment_point(&axis, k ? axis.half : -axis.half), out);
  double s, t;
  ss_vec3 unused;
  const bool crosses = segment_perpendicular(&axis, &e, &s, &t, &unused) && fabs(s) < axis.half * within &&
                       fabs(t) <= e.half * to_its_end;
  if (!crosses) segments_closest(&axis, &e, &s, &t);
  fill_round(g->radius, segment_point(&axis, s), segment_point(&e, t), left_normal(mesh, edge), out);
  const bool beside = crosses || (fabs(s) < axis.half * within && fabs(t) < e.half);
  return beside && segments_cross(&axis, &e) && ss_mesh_edge_admits(mesh, edge, out->normal, flat);
}

static bool capsule_vertex(const ss_guest *g, const struct ss_mesh *mesh, int vertex, int k, ss_contact_point *out) {
  (void)k;
  const ss_segment axis = capsule_segment(g);
  const ss_vec3 x = segment_point(&axis, segment_closest(&axis, mesh->vertex[vertex]));
  fill_round(g->radius, x, mesh->vertex[vertex], v3(0, 0, 1), out);
  return ss_mesh_vertex_admits(mesh, vertex, out->normal, exact);
}

static double capsule_distance(const ss_guest *g, ss_vec3 y, ss_vec3 *n) {
  const ss_vec3 foot = v3(clamp(y.x, g->shape->half.x), 0, 0);
  return length_and_direction(v3_sub(y, foot), v3(0, 0, 1), n) - g->radius;
}

static bool capsule_is_pierced(const ss_guest *g, const ss_segment *e, double *middle) {
  const ss_segment axis = {{0, 0, 0}, {1, 0, 0}, g->shape->half.x};
  double s;
  ss_vec3 n;
  segments_closest(&axis, e, &s, middle);
  return capsule_distance(g, segment_point(e, *middle), &n) < 0;
}

static const ss_guest_kind capsule_kind = {.n_points = capsule_points,
                                           .point = capsule_point,
                                           .n_edges = capsule_edges,
                                           .edge = capsule_edge,
                                           .n_faces = one,
                                           .vertex = capsule_vertex,
                                           .distance = capsule_distance,
                                           .pierced = capsule_is_pierced,
                                           .has_line = true,
                                           .crossing = 2};

/* ---- boxes and convex hulls ---- */

static int hull_points(const ss_guest *g) { return g->hull->n_vertices; }
static int hull_edges(const ss_guest *g) { return g->hull->n_edges; }
static int hull_faces(const ss_guest *g) { return g->hull->n_faces + 1; }

static bool hull_point(const ss_guest *g, int k, ss_vec3 normal, ss_vec3 *out) {
  (void)normal;
  *out = k < g->n_prepared ? g->point[k] : from_guest(g, g->hull->vertex[k]);
  return true;
}

static bool hull_is_pierced(const ss_guest *g, const ss_segment *e, double *middle) {
  return ss_hull_meets(g->hull, e, middle);
}

static bool cylinder_is_pierced(const ss_guest *g, const ss_segment *e, double *middle) {
  ss_vec3 n, foot;
  *middle = ss_cylinder_segment(cylinder_of(g->shape), e);
  return ss_cylinder_distance(cylinder_of(g->shape), segment_point(e, *middle), &n, &foot) < 0;
}

static bool ellipsoid_is_pierced(const ss_guest *g, const ss_segment *e, double *middle) {
  ss_vec3 n, foot;
  *middle = ss_ellipsoid_segment(g->shape->half, e);
  return ss_ellipsoid_distance(g->shape->half, segment_point(e, *middle), &n, &foot) < 0;
}

static bool passes_through(const ss_guest *g, const struct ss_mesh *mesh, int edge) {
  const ss_segment e = edge_in_guest(g, mesh, edge);
  double middle;
  return g->kind->pierced(g, &e, &middle);
}

/* Edges that have passed each other touch only if the mesh's edge is in the shape, and not far: lines cross anywhere. */
static bool crosses_inside(const ss_guest *g, const struct ss_mesh *mesh, int edge, const ss_contact_point *c) {
  return c->gap >= -g->margin || (c->gap >= -deep * g->size && passes_through(g, mesh, edge));
}

/* May a contact at the hull's edge have this normal (in the hull's frame, out of it)? */
static bool hull_edge_admits(const struct ss_hull *hull, int edge, ss_vec3 axis, ss_vec3 out) {
  const ss_vec3 left = hull->face[hull->edge[edge].left].normal, right = hull->face[hull->edge[edge].right].normal;
  ss_vec3 into_left = v3_cross(left, axis), into_right = v3_cross(right, axis);
  if (v3_dot(into_left, right) > 0) into_left = v3_neg(into_left); /* each face is below the other's plane */
  if (v3_dot(into_right, left) > 0) into_right = v3_neg(into_right);
  return v3_dot(out, into_left) <= flat && v3_dot(out, into_right) <= flat && v3_dot(out, v3_add(left, right)) > 0;
}

static bool hull_at_edge(const ss_guest *g, const struct ss_mesh *mesh, int edge, int k, ss_contact_point *out) {
  const ss_segment own = hull_edge(g->hull, k), e = mesh_edge_segment(mesh, edge);
  const ss_segment a = {from_guest(g, own.center), quat_rotate(g->turn, own.axis), own.half};
  const ss_hull_edge *faces = &g->hull->edge[k];
  const ss_vec3 own_outward = v3_add(g->hull->face[faces->left].normal, g->hull->face[faces->right].normal);
  const ss_mesh_edge *sides = &mesh->edge[edge];
  ss_vec3 outward = left_normal(mesh, edge);
  if (sides->right >= 0) outward = v3_add(outward, mesh->facet[mesh->triangle[sides->right].facet].normal);
  double s, t;
  double d = ss_edge_distance(&a, &e, v3_sub(outward, quat_rotate(g->turn, own_outward)), &out->normal, &s, &t);
  /* what is shallower may cross in an end; a search asks whether it passes through when all else is right */
  const bool apart = !g->searches && d < -shallow * g->size && !passes_through(g, mesh, edge);
  if (apart) d = edges_apart(d, &out->normal);
  out->gap = d;
  out->point_b = segment_point(&e, t);
  out->point_a = v3_axpy(out->point_b, d, out->normal);
  const bool crossed = fabs(v3_dot(out->normal, a.axis)) < 1e-6 && fabs(v3_dot(out->normal, e.axis)) < 1e-6;
  return !apart && v3_norm(v3_cross(a.axis, e.axis)) > parallel && crossed && fabs(s) < a.half * until &&
         fabs(t) < e.half * until && crosses_inside(g, mesh, edge, out) &&
         ss_mesh_edge_admits(mesh, edge, out->normal, flat) &&
         hull_edge_admits(g->hull, k, own.axis, quat_rotate(quat_conjugate(g->turn), v3_neg(out->normal)));
}

/* The corner at y (in the hull's frame) counts for face k where it is over it and may touch it; deep inside, for the nearest
 * face. */
static bool hull_vertex_counts(const ss_guest *g, const struct ss_mesh *mesh, int vertex, ss_vec3 y, int k) {
  const double own = hull_height(g->hull, k, y);
  double highest = own;
  for (int i = 0; i < g->hull->n_faces; i++) highest = fmax(highest, hull_height(g->hull, i, y));
  if (own < -shallow * g->size) return own >= highest * (1 + 1e-9);
  const ss_vec3 normal = v3_neg(quat_rotate(g->turn, g->hull->face[k].normal));
  return (highest <= g->margin || own >= -g->margin) && ss_mesh_vertex_admits(mesh, vertex, normal, flat);
}

/* Face k; one more, for the edges and corners of the hull: the distance from it. */
static bool hull_at_vertex(const ss_guest *g, const struct ss_mesh *mesh, int vertex, int k, ss_contact_point *out) {
  const ss_vec3 y = to_guest(g, mesh->vertex[vertex]);
  const bool over = k < g->hull->n_faces && ss_hull_over(g->hull, k, y, g->margin);
  ss_vec3 n, foot;
  if (over)
    n = g->hull->face[k].normal, out->gap = hull_height(g->hull, k, y);
  else
    out->gap = ss_hull_distance(g->hull, y, &n, &foot);
  out->normal = v3_neg(quat_rotate(g->turn, n));
  out->point_b = mesh->vertex[vertex];
  out->point_a = v3_axpy(out->point_b, out->gap, out->normal);
  if (k == g->hull->n_faces) return out->gap > g->margin && ss_mesh_vertex_admits(mesh, vertex, out->normal, exact);
  return over && hull_vertex_counts(g, mesh, vertex, y, k);
}

static double hull_distance(const ss_guest *g, ss_vec3 y, ss_vec3 *n) {
  ss_vec3 foot;
  return ss_hull_distance(g->hull, y, n, &foot);
}

static const ss_guest_kind hull_kind = {.n_points = hull_points,
                                        .point = hull_point,
                                        .n_edges = hull_edges,
                                        .edge = hull_at_edge,
                                        .n_faces = hull_faces,
                                        .vertex = hull_at_vertex,
                                        .distance = hull_distance,
                                        .pierced = hull_is_pierced};

/* ---- ellipsoids, ellipses ---- */

static bool ellipsoid_point(const ss_guest *g, int k, ss_vec3 normal, ss_vec3 *out) {
  (void)k;
  const ss_vec3 down = quat_rotate(quat_conjugate(g->turn), v3_neg(normal));
  *out = from_guest(g, ss_ellipsoid_support(g->shape->half, down));
  return g->shape->type == SS_SHAPE_ELLIPSOID || ellipse_contains(g->shape->half, down);
}

/* The mesh's point y (in the guest's frame): n points out of the guest there. */
static void fill_point(const ss_guest *g, ss_vec3 y, double distance, ss_vec3 n, ss_contact_point *out) {
  out->gap = distance;
  out->normal = v3_neg(quat_rotate(g->turn, n));
  out->point_b = from_guest(g, y);
  out->point_a = v3_axpy(out->point_b, distance, out->normal);
}

static bool ellipsoid_edge(const ss_guest *g, const struct ss_mesh *mesh, int edge, int k, ss_contact_point *out) {
  (void)k;
  const ss_segment e = edge_in_guest(g, mesh, edge);
  const double s = ss_ellipsoid_segment(g->shape->half, &e);
  const ss_vec3 y = segment_point(&e, s);
  ss_vec3 n, foot;
  const double distance = ss_ellipsoid_distance(g->shape->half, y, &n, &foot);
  fill_point(g, y, distance, n, out);
  if (g->shape->type == SS_SHAPE_ELLIPSE && ellipse_contains(g->shape->half, e.axis)) return false;
  return fabs(v3_dot(n, e.axis)) < 1e-6 && /* not beyond its end; inside the distance has kinks */
         ss_mesh_edge_admits(mesh, edge, out->normal, exact);
}

static bool ellipsoid_vertex(const ss_guest *g, const struct ss_mesh *mesh, int vertex, int k, ss_contact_point *out) {
  (void)k;
  const ss_vec3 y = to_guest(g, mesh->vertex[vertex]);
  ss_vec3 n, foot;
  const double distance = ss_ellipsoid_distance(g->shape->half, y, &n, &foot);
  fill_point(g, y, distance, n, out);
  return g->shape->type == SS_SHAPE_ELLIPSOID && ss_mesh_vertex_admits(mesh, vertex, out->normal, exact);
}

static double ellipsoid_distance(const ss_guest *g, ss_vec3 y, ss_vec3 *n) {
  ss_vec3 foot;
  return ss_ellipsoid_distance(g->shape->half, y, n, &foot);
}

static const ss_guest_kind ellipsoid_kind = {.n_points = one,
                                             .first_fixed = 1,
                                             .point = ellipsoid_point,
                                             .n_edges = one,
                                             .edge = ellipsoid_edge,
                                             .n_faces = one,
                                             .vertex = ellipsoid_vertex,
                                             .distance = ellipsoid_distance,
                                             .pierced = ellipsoid_is_pierced};
static const ss_guest_kind ellipse_kind = {.n_points = one,
                                           .first_fixed = 1,
                                           .point = ellipsoid_point,
                                           .n_edges = one,
                                           .edge = ellipsoid_edge,
                                           .n_faces = none,
                                           .vertex = ellipsoid_vertex,
                                           .distance = ellipsoid_distance,
                                           .pierced = ellipsoid_is_pierced};

/* ---- cylinders: the lowest point of each rim, points fixed on the rims while it stands ---- */

static int cylinder_points(const ss_guest *g) {
  (void)g;
  return 2 + 2 * SS_RIM_POINTS;
}

static bool cylinder_point(const ss_guest *g, int k, ss_vec3 normal, ss_vec3 *out) {
  const ss_cylinder c = cylinder_of(g->shape);
  const int end = k < 2 ? k : (k - 2) / SS_RIM_POINTS;
  const ss_vec3 down = quat_rotate(quat_conjugate(g->turn), v3_neg(normal));
  *out = from_guest(g, k < 2 ? ss_disc_support(c, end, down) : ss_rim_point(c, end, (k - 2) % SS_RIM_POINTS));
  return k < 2 || ((down.x > 0) == end && hypot(down.y, down.z) <= standing);
}

static int cylinder_edges(const ss_guest *g) {
  (void)g;
  return 8;
}

static int cylinder_surfaces(const ss_guest *g) {
  (void)g;
  return SS_CYLINDER_SIDE + 2;
}

/* The mesh's point y over a surface of the cylinder, whose height there does not end at the rim; or, over none, its distance. */
static bool over_surface(const ss_guest *g, ss_vec3 y, int surface, ss_contact_point *out) {
  const ss_cylinder c = cylinder_of(g->shape);
  ss_vec3 n, foot;
  const bool none = surface > SS_CYLINDER_SIDE, over = !none && ss_cylinder_over(c, y, surface, g->margin);
  const double distance = over ? ss_cylinder_height(c, y, surface, &n, &foot) : ss_cylinder_distance(c, y, &n, &foot);
  fill_point(g, y, distance, n, out);
  return over || none;
}

/* An edge over the side, where the common perpendicular with the axis is between the ends of both. */
static bool edge_over_side(const ss_guest *g, const ss_segment *e, ss_contact_point *out) {
  const ss_cylinder c = cylinder_of(g->shape);
  const ss_segment axis = {v3(0, 0, 0), v3(1, 0, 0), c.half};
  double t, x;
  ss_vec3 n;
  return segments_cross(e, &axis) && segment_perpendicular(e, &axis, &t, &x, &n) && fabs(t) <= e->half * to_its_end &&
         fabs(x) <= c.half + g->margin && over_surface(g, segment_point(e, t), SS_CYLINDER_SIDE, out);
}

/* Where an edge along the side crosses the plane of an end. */
static bool edge_at_end(const ss_guest *g, const ss_segment *e, int end, ss_contact_point *out) {
  const ss_cylinder c = cylinder_of(g->shape);
  const bool along = hypot(e->axis.y, e->axis.z) < flat;
  const double t = along ? ((end ? c.half : -c.half) - e->center.x) / e->axis.x : 0;
  return over_surface(g, segment_point(e, clamp(t, e->half)), SS_CYLINDER_SIDE, out) && along &&
         segment_contains(e, t, -g->margin / 2);
}

/* Where the edge crosses the rim of an end that it lies on, nearly: its height over the end. Through a coin the other end is not far. */
static bool cylinder_chord(const ss_guest *g, const struct ss_mesh *mesh, int edge, const ss_segment *e, int k,
                           ss_contact_point *out) {
  const ss_cylinder c = cylinder_of(g->shape);
  const double side = k & 2 ? 1 : -1;
  double t;
  const bool near = ss_cylinder_chord(c, e, k & 1, -g->margin, &t), crosses = near && fabs(t) < e->half * to_its_end;
  const ss_vec3 y = segment_point(e, clamp(t, e->half));
  if (!near) return over_surface(g, y, SS_CYLINDER_SIDE + 1, out), false;
  fill_point(g, y, side * y.x - c.half, v3(side, 0, 0), out);
  return crosses && side * y.x >= 0 && fabs(e->axis.x) < flat && crosses_inside(g, mesh, edge, out) &&
         ss_mesh_edge_admits(mesh, edge, out->normal, flat);
}

/* Beside a rim: the edge's line, or its closest point where that of the line is beyond its end. */
static bool edge_beside(const ss_guest *g, const ss_segment *e, ss_contact_point *out) {
  ss_vec3 n, foot;
  const double distance = ss_cylinder_line(cylinder_of(g->shape), e->center, e->axis, &n, &foot);
  const double t = v3_dot(e->axis, v3_sub(foot, e->center));
  if (fabs(t) <= e->half * to_its_end) {
    const bool along_end = hypot(n.y, n.z) < 1e-9; /* where the line goes on to the rim the edge may not */
    if (along_end) return over_surface(g, segment_point(e, t), n.x > 0, out);
    fill_point(g, v3_axpy(foot, distance, n), distance, n, out);
    return true;
  }
  if (!g->searches)
    (void)over_surface(g, segment_point(e, ss_cylinder_segment(cylinder_of(g->shape), e)), SS_CYLINDER_SIDE + 1, out);
  return false;
}

/* 0: over the side; 1 to 4: chords; 5, 6: along the side, at the ends; 7: beside a rim. */
static bool cylinder_edge(const ss_guest *g, const struct ss_mesh *mesh, int edge, int k, ss_contact_point *out) {
  const ss_segment e = edge_in_guest(g, mesh, edge);
  if (k > 0 && k < 5) return cylinder_chord(g, mesh, edge, &e, k - 1, out);
  bool valid = false;
  if (k == 0) valid = edge_over_side(g, &e, out) && out->gap >= -shallow * g->size;
  if (k == 5 || k == 6) valid = edge_at_end(g, &e, k - 5, out);
  if (k == 7 || (k == 0 && !valid)) valid = edge_beside(g, &e, out) && k == 7;
  const double slack = k == 7 && fabs(out->gap) <= g->margin ? exact : flat; /* on a rim any normal is as near */
  return valid && crosses_inside(g, mesh, edge, out) && ss_mesh_edge_admits(mesh, edge, out->normal, slack);
}

static bool cylinder_vertex(const ss_guest *g, const struct ss_mesh *mesh, int vertex, int k, ss_contact_point *out) {
  const bool over = over_surface(g, to_guest(g, mesh->vertex[vertex]), k, out);
  if (out->gap < -shallow * g->size && k <= SS_CYLINDER_SIDE) return false; /* the distance knows the shortest way */
  return over && ss_mesh_vertex_admits(mesh, vertex, out->normal, k <= SS_CYLINDER_SIDE ? flat : exact);
}

static double cylinder_distance(const ss_guest *g, ss_vec3 y, ss_vec3 *n) {
  ss_vec3 foot;
  return ss_cylinder_distance(cylinder_of(g->shape), y, n, &foot);
}

static const ss_guest_kind cylinder_kind = {.n_points = cylinder_points,
                                            .first_fixed = 2,
                                            .point = cylinder_point,
                                            .n_edges = cylinder_edges,
                                            .edge = cylinder_edge,
                                            .n_faces = cylinder_surfaces,
                                            .vertex = cylinder_vertex,
                                            .distance = cylinder_distance,
                                            .pierced = cylinder_is_pierced,
                                            .has_line = true,
                                            .round_face = SS_CYLINDER_SIDE};

/* ---- */

static const ss_guest_kind *const kinds[SS_SHAPE_TYPES] = {
    [SS_SHAPE_POINT] = &sphere_kind,    [SS_SHAPE_SPHERE] = &sphere_kind,     [SS_SHAPE_BOX] = &hull_kind,
    [SS_SHAPE_CONVEX] = &hull_kind,     [SS_SHAPE_CAPSULE] = &capsule_kind,   [SS_SHAPE_ELLIPSOID] = &ellipsoid_kind,
    [SS_SHAPE_ELLIPSE] = &ellipse_kind, [SS_SHAPE_CYLINDER] = &cylinder_kind,
};

static double contact_of_point(const ss_guest *g, ss_vec3 y, ss_contact_point *out) {
  ss_vec3 n;
  const double distance = g->kind->distance(g, y, &n);
  fill_point(g, y, distance, n, out);
  return distance;
}

double ss_guest_distance(const ss_guest *g, ss_vec3 p, ss_contact_point *out) {
  return contact_of_point(g, to_guest(g, p), out);
}

bool ss_guest_pierced(const ss_guest *g, const struct ss_mesh *mesh, int edge, ss_contact_point *out) {
  const ss_segment e = edge_in_guest(g, mesh, edge);
  double middle;
  const bool pierced = g->kind->pierced(g, &e, &middle);
  (void)contact_of_point(g, segment_point(&e, middle), out);
  return pierced;
}

bool ss_guest_line_crosses(const ss_guest *g, const struct ss_mesh *mesh, int edge, int k) {
  if (!g->kind->has_line || k != g->kind->crossing) return false;
  const ss_vec3 line = quat_axis_x(g->turn);
  return v3_norm(v3_cross(line, mesh_edge_segment(mesh, edge).axis)) > SS_ACROSS;
}

void ss_guest_make(const ss_shape *shape, const ss_pose *pose, const struct ss_mesh *mesh, const ss_pose *mesh_pose,
                   ss_guest *g) {
  g->shape = shape;
  g->kind = kinds[shape->type];
  g->hull = g->kind == &hull_kind ? ss_hull_of(shape, &g->room) : NULL;
  g->center = pose_local(mesh_pose, pose->position);
  g->turn = quat_multiply(quat_conjugate(mesh_pose->orientation), pose->orientation);
  g->radius = g->kind == &sphere_kind || g->kind == &capsule_kind ? shape->radius : 0;
  g->size = fmin(shape->reach, mesh->size / 2);
  g->n_prepared = 0;
  g->searches = false;
  g->beyond = 0.01 * g->size;
  g->margin = g->size > 0 ? 1e-9 * g->size : 1e-12 * mesh->size; /* a point has no size */
}

static ss_vec3 extent_of(const ss_guest *g) {
  const ss_shape *shape = g->shape;
  const double r = shape->radius, x = shape->half.x;
  ss_vec3 most = v3(0, 0, 0);
  for (int i = 0; g->hull && i < g->hull->n_vertices; i++) {
    const ss_vec3 v = g->hull->vertex[i];
    most = v3(fmax(most.x, fabs(v.x)), fmax(most.y, fabs(v.y)), fmax(most.z, fabs(v.z)));
  }
  if (g->hull) return most;
  if (shape->type == SS_SHAPE_CYLINDER) return v3(x, r, r);
  if (shape->type == SS_SHAPE_CAPSULE) return v3(x + r, r, r);
  if (shape->type == SS_SHAPE_ELLIPSOID) return shape->half;
  if (shape->type == SS_SHAPE_ELLIPSE) return v3(INFINITY, INFINITY, INFINITY);
  return v3(r, r, r);
}

bool ss_guest_is_far(const ss_guest *g, ss_vec3 p, double radius, double reach) {
  const ss_vec3 y = mat3_tmul(&g->axes, v3_sub(p, g->center));
  const double x[3] = {fabs(y.x) - g->extent.x, fabs(y.y) - g->extent.y, fabs(y.z) - g->extent.z};
  double square = 0;
  for (int i = 0; i < 3; i++) square += x[i] > 0 ? x[i] * x[i] : 0;
  const double most = radius + reach;
  return square > most * most * (1 + 1e-9);
}

bool ss_guest_is_above(const ss_guest *g, ss_vec3 normal, double center, double reach) {
  const ss_vec3 n = mat3_tmul(&g->axes, normal);
  const double down = fabs(n.x) * g->extent.x + fabs(n.y) * g->extent.y + fabs(n.z) * g->extent.z;
  return center - down * (1 + 1e-9) > reach;
}

/* The distance d is convex along the segment: with its values at the ends and in the middle, on the half next to a it is above
 * the line through those at b and in the middle, and the other way round. */
bool ss_guest_passes(const ss_guest *g, ss_vec3 a, ss_vec3 b, double reach) {
  if (g->kind != &ellipsoid_kind && g->kind != &cylinder_kind) return false;
  const ss_vec3 from = to_guest(g, a), to = to_guest(g, b);
  ss_vec3 n;
  const double middle = g->kind->distance(g, v3_scale(0.5, v3_add(from, to)), &n);
  if (!(middle > reach)) return false;
  const double ends = fmax(g->kind->distance(g, from, &n), g->kind->distance(g, to, &n));
  return middle - fmax(ends - middle, 0) > reach + g->margin;
}

void ss_guest_prepare(ss_guest *g) {
  const ss_pose pose = {g->center, g->turn};
  ss_shape_bounds(g->shape, &pose, &g->low, &g->high);
  g->axes = quat_matrix(g->turn);
  g->extent = extent_of(g);
  g->searches = true;
  g->n_prepared = g->hull ? g->hull->n_vertices : 0;
  for (int i = 0; i < g->n_prepared; i++) g->point[i] = from_guest(g, g->hull->vertex[i]);
}
