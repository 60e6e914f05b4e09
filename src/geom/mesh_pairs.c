/* Convex shapes on meshes and height fields.
 *
 *   FACET    a point k of the shape over a facet: its height, where its foot is on the facet; elsewhere its signed distance from
 *            the whole mesh, so that a contact that is followed through a step knows where the facet ends
 *   EDGE     a sharp edge and edge k of the shape, where the surface is convex
 *   CORNER   a corner of sharp edges and face k of the shape
 *   POINT    point k of the shape, or its centre: signed distance from the mesh
 *   SWALLOWED instead of k: any corner or edge, or a part of a triangle, in the inside of the shape, where they overlap and
 *            nothing else is seen
 *
 * A point above a facet counts for it always; a point behind one only where it is behind the mesh altogether, and there is no
 * shorter way out: a wall has a back. Edges where the surface is flat or hollow have no contacts, hence
 * what slides over a floor of many triangles feels the plane alone. */
#include "geom/mesh_guest.h"

enum { FACET, EDGE, CORNER, POINT, CENTER = 0x3ff, SWALLOWED = 0x3ff };

static uint32_t encode(uint32_t kind, int element, int k) { return kind << 30 | (uint32_t)element << 10 | (uint32_t)k; }

static const double shallow = 1e-6; /* of the shape's size */

enum { MOST_POINTS = 256 }; /* of a shape; hulls have 200 corners at most */

/* Signed distances of the shape's points from the mesh, computed once where they are needed. */
typedef struct depth {
  bool known;
  double distance;
} depth;

typedef struct collector {
  const ss_guest *g;
  const struct ss_mesh *mesh;
  double reach;
  double wide; /* reach, and a little more: beyond it nothing counts */
  ss_contact_point *out;
  int count;
  depth depths[MOST_POINTS];
} collector;

static void fill_height(const ss_guest *g, const struct ss_mesh *mesh, int facet, ss_vec3 p, ss_contact_point *out) {
  const double height = facet_height(mesh, facet, p);
  out->normal = mesh->facet[facet].normal;
  out->gap = height - g->radius;
  out->point_a = v3_axpy(p, -g->radius, out->normal);
  out->point_b = v3_axpy(p, -height, out->normal);
}

static void fill_distance(const ss_guest *g, const struct ss_mesh *mesh, ss_vec3 p, double limit,
                          ss_contact_point *out) {
  out->gap = ss_mesh_distance(mesh, p, limit, &out->normal, &out->point_b) - g->radius;
  out->point_a = v3_axpy(p, -g->radius, out->normal);
}

/* The shape's point that is lowest over the facet. */
static ss_vec3 lowest_over(const ss_guest *g, const struct ss_mesh *mesh, int facet) {
  ss_vec3 lowest = g->center;
  for (int k = 0; k < g->kind->n_points(g); k++) {
    ss_vec3 p;
    (void)g->kind->point(g, k, mesh->facet[facet].normal, &p);
    if (k == 0 || facet_height(mesh, facet, p) < facet_height(mesh, facet, lowest)) lowest = p;
  }
  return lowest;
}

/* ---- one feature anywhere ---- */

static void feature_contact(const ss_guest *g, const struct ss_mesh *mesh, uint32_t feature, ss_contact_point *out) {
  const int element = (int)(feature >> 10 & 0xfffff), k = (int)(feature & 0x3ff);
  const bool ball = g->shape->type == SS_SHAPE_SPHERE || g->shape->type == SS_SHAPE_POINT;
  ss_vec3 p;
  switch (feature >> 30) {
  case FACET:
    if (k == SWALLOWED)
      p = lowest_over(g, mesh, element);
    else
      (void)g->kind->point(g, k, mesh->facet[element].normal, &p);
    if (k == SWALLOWED || ss_facet_over(mesh, element, p, g->margin, g->beyond))
      fill_height(g, mesh, element, p, out);
    else
      fill_distance(g, mesh, p, INFINITY, out);
    break;
  case EDGE: /* a ball that leaves its edge is followed over the mesh */
    if (k == SWALLOWED)
      (void)ss_guest_pierced(g, mesh, element, out);
    else if (!g->kind->edge(g, mesh, element, k, out) && ball)
      fill_distance(g, mesh, g->center, INFINITY, out);
    break;
  case CORNER:
    if (k == SWALLOWED)
      (void)ss_guest_distance(g, mesh->vertex[element], out);
    else if (!g->kind->vertex(g, mesh, element, k, out) && ball)
      fill_distance(g, mesh, g->center, INFINITY, out);
    break;
  default:
    if (k == CENTER)
      p = g->center;
    else
      (void)g->kind->point(g, k, v3(0, 0, 1), &p);
    fill_distance(g, mesh, p, INFINITY, out);
  }
  out->feature = feature;
}

/* ---- all features near by ---- */

/* Two points of the shape over one facet: each counts, wherever they are. */
static bool same_facet(uint32_t a, uint32_t b) { return a >> 30 == FACET && a >> 10 == b >> 10; }

/* Of the line along which a cylinder or capsule lies on a facet. */
static bool is_line_end(const void *context, uint32_t feature) {
  const collector *c = context;
  const int element = (int)(feature >> 10 & 0xfffff), k = (int)(feature & 0x3ff);
  if (feature >> 30 == FACET) return c->g->kind->has_line && k < 2;
  return feature >> 30 == EDGE && ss_guest_line_crosses(c->g, c->mesh, element, k);
}

/* The corners under a round side, and a capsule's ends beside a facet. */
static bool is_spare(const void *context, uint32_t feature) {
  const collector *c = context;
  const int k = (int)(feature & 0x3ff);
  return feature >> 30 == CORNER ? k >= c->g->kind->round_face : feature >> 30 == EDGE && k < c->g->kind->crossing;
}

/* A contact that is there already, by its number or its place, is not added again. */
static void collect(collector *c, const ss_contact_point *contact) {
  if (!(contact->gap <= c->reach)) return;
  /* where an edge touches a rim, several of them are close to each other */
  const bool spare = contact->feature >> 30 == EDGE && c->g->shape->type == SS_SHAPE_CYLINDER;
  const double near = spare ? 1e-3 * c->g->size : 4 * c->g->margin, alike = spare ? 1e-4 : 1e-12;
  for (int i = 0; i < c->count; i++) {
    ss_contact_point *o = &c->out[i];
    if (o->feature == contact->feature) return;
    if (same_facet(o->feature, contact->feature)) continue;
    const bool same = v3_norm(v3_sub(o->point_a, contact->point_a)) <= near &&
                      v3_norm(v3_sub(o->point_b, contact->point_b)) <= near &&
                      v3_dot(o->normal, contact->normal) > 1 - alike;
    if (!same || (spare && contact->gap <= o->gap - c->g->margin)) continue;
    const bool end = (o->feature >> 30 == CORNER || is_spare(c, o->feature)) && is_line_end(c, contact->feature);
    if (contact->feature >> 30 == FACET || end) *o = *contact; /* knows the plane, not only the edge */
    return;
  }
  c->count = contact_add(c->out, c->count, contact, c->reach);
}

/* May point k, at p and behind a facet by so much, count for it? Only if there is no shorter way out of the solid: one facet
 * where it is convex; both sides of a hollow edge, which is further away than their planes. What is not deep counts for every
 * facet that it touches: the shortest way out of a border is to the side. */
static bool counts_behind(collector *c, double height, int k, ss_vec3 p) {
  depth *d = &c->depths[k];
  if (height >= -fmax(c->g->margin, shallow * c->g->size)) return true;
  if (!d->known || k < c->g->kind->first_fixed) {
    ss_vec3 normal, foot;
    d->distance = ss_mesh_distance(c->mesh, p, c->g->beyond + c->g->margin - height, &normal, &foot);
    d->known = isfinite(d->distance);
  }
  return d->distance < 0 && height >= d->distance * (1 + 1e-9);
}

/* Does the shape stay above the triangle's plane by so much? Then it is as far from its sides and corners. */
static bool is_above(const collector *c, int triangle, double reach) {
  const int facet = c->mesh->triangle[triangle].facet;
  const double flat = 4e-7 * c->mesh->size; /* triangles are in their facet's plane but for that */
  return ss_guest_is_above(c->g, c->mesh->facet[facet].normal, facet_height(c->mesh, facet, c->g->center),
                           reach + flat);
}

/* At the border of a triangle the shape may go on behind its plane, beside the solid: a box that lies flush on another one is
 * level with its sides. A point counts there only if the shape has none that is much lower. */
static bool counts_at_border(const collector *c, int triangle, double height, ss_vec3 p) {
  static const double flat = 0.02; /* sine */
  const double border = fabs(height) < shallow * c->g->size ? 4 * shallow * c->g->size : c->g->margin;
  if (ss_triangle_over(c->mesh, triangle, p, -border, 0)) return true;
  const int facet = c->mesh->triangle[triangle].facet;
  const ss_vec3 down = v3_sub(lowest_over(c->g, c->mesh, facet), p);
  return v3_dot(down, c->mesh->facet[facet].normal) >= -flat * v3_norm(down) - c->g->margin;
}

static void collect_facet(collector *c, int triangle) {
  const ss_guest *g = c->g;
  const struct ss_mesh *mesh = c->mesh;
  const int facet = mesh->triangle[triangle].facet;
  for (int k = 0; k < g->kind->n_points(g); k++) {
    ss_vec3 p;
    if (!g->kind->point(g, k, mesh->facet[facet].normal, &p)) continue;
    const double height = facet_height(mesh, facet, p);
    if (height - g->radius > c->reach || !ss_triangle_over(mesh, triangle, p, g->margin, g->beyond)) continue;
    if (!counts_behind(c, height, k, p) || !counts_at_border(c, triangle, height, p)) continue;
    ss_contact_point contact = {.feature = encode(FACET, facet, k)};
    fill_height(g, mesh, facet, p, &contact);
    collect(c, &contact);
  }
}

/* May points of the two boxes be within reach of each other? */
static bool boxes_near(ss_vec3 low, ss_vec3 high, ss_vec3 other_low, ss_vec3 other_high, double reach) {
  return low.x - reach <= other_high.x && other_low.x - reach <= high.x && low.y - reach <= other_high.y &&
         other_low.y - reach <= high.y && low.z - reach <= other_high.z && other_low.z - reach <= high.z;
}

static ss_vec3 lower(ss_vec3 a, ss_vec3 b) {
  return v3(a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z);
}
static ss_vec3 upper(ss_vec3 a, ss_vec3 b) {
  return v3(a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z);
}

/* Edges of a hull are many: most of them are nowhere near. */
static bool own_edge_near(const collector *c, int k, ss_vec3 low, ss_vec3 high) {
  if (c->g->n_prepared == 0) return true;
  const ss_vec3 a = c->g->point[c->g->hull->edge[k].from], b = c->g->point[c->g->hull->edge[k].to];
  return boxes_near(lower(a, b), upper(a, b), low, high, c->wide);
}

static void collect_edge(collector *c, int edge) {
  const ss_vec3 a = c->mesh->vertex[c->mesh->edge[edge].from], b = c->mesh->vertex[c->mesh->edge[edge].to];
  const ss_vec3 low = lower(a, b), high = upper(a, b);
  const ss_vec3 middle = v3_scale(0.5, v3_add(a, b));
  if (!boxes_near(c->g->low, c->g->high, low, high, c->wide)) return;
  if (ss_guest_is_far(c->g, middle, v3_norm(v3_sub(b, middle)), c->wide)) return;
  if (ss_guest_passes(c->g, a, b, c->wide)) return;
  for (int k = 0; k < c->g->kind->n_edges(c->g); k++) {
    ss_contact_point contact;
    contact.feature = encode(EDGE, edge, k);
    if (own_edge_near(c, k, low, high) && c->g->kind->edge(c->g, c->mesh, edge, k, &contact)) collect(c, &contact);
  }
}

static void collect_corner(collector *c, int vertex) {
  const ss_vec3 v = c->mesh->vertex[vertex];
  if (!boxes_near(c->g->low, c->g->high, v, v, c->wide) || ss_guest_is_far(c->g, v, 0, c->wide)) return;
  for (int k = 0; k < c->g->kind->n_faces(c->g); k++) {
    ss_contact_point contact;
    contact.feature = encode(CORNER, vertex, k);
    if (c->g->kind->vertex(c->g, c->mesh, vertex, k, &contact)) collect(c, &contact);
  }
}

static void collect_triangle(void *context, int triangle) {
  collector *c = context;
  const ss_triangle *t = &c->mesh->triangle[triangle];
  if (is_above(c, triangle, c->wide)) return;
  collect_facet(c, triangle);
  for (int i = 0; i < 3; i++) {
    const ss_mesh_edge *e = &c->mesh->edge[t->edge[i]];
    if (e->sharp && e->left == triangle) collect_edge(c, t->edge[i]);
    if (c->mesh->owner[t->corner[i]] == triangle) collect_corner(c, t->corner[i]);
  }
}

/* Is p the point of the shape that is furthest against the normal? */
static bool is_lowest(const ss_guest *g, ss_vec3 p, ss_vec3 normal) {
  for (int i = 0; i < g->kind->n_points(g); i++) {
    ss_vec3 other;
    (void)g->kind->point(g, i, normal, &other);
    if (v3_dot(normal, v3_sub(other, p)) < -g->margin) return false;
  }
  return true;
}

/* Where nothing touches yet: corners of a polyhedron that are nearest to an edge or a corner of the mesh, and points that are
 * behind the mesh with no facet over them, the shape's centre among them. An open surface has no inside beyond the shape's own
 * size. */
static void collect_points(collector *c) {
  const ss_guest *g = c->g;
  ss_contact_point contact = {.feature = encode(POINT, 0, CENTER)};
  if (!(c->reach > 0) || isinf(c->reach)) { /* a question about overlap: may be far inside, where no triangle is near */
    fill_distance(g, c->mesh, g->center, INFINITY, &contact);
    const double distance = contact.gap + g->radius;
    if (distance < -g->margin && (distance > -g->size || c->mesh->solid)) collect(c, &contact);
  }
  const double limit = fmax(c->reach, 0.1 * g->size) + g->radius;
  for (int k = g->kind->first_fixed; k < g->kind->n_points(g); k++) {
    ss_vec3 p;
    contact.feature = encode(POINT, 0, k);
    (void)g->kind->point(g, k, v3(0, 0, 1), &p);
    fill_distance(g, c->mesh, p, limit, &contact);
    const double height = contact.gap + g->radius;
    if (height < -g->margin || (height > g->margin && g->hull && is_lowest(g, p, contact.normal))) collect(c, &contact);
  }
}

/* Where the line from the shape's centre, in front of the facet, to its lowest point, behind it, passes the facet's plane the
 * shape has a point; so has the triangle, if it is over it. */
static void collect_pierced(collector *c, int triangle) {
  const int facet = c->mesh->triangle[triangle].facet;
  const double above = facet_height(c->mesh, facet, c->g->center);
  if (!(above > 0)) return;
  const ss_vec3 lowest = lowest_over(c->g, c->mesh, facet);
  const double below = facet_height(c->mesh, facet, lowest);
  if (!(below < -c->g->margin)) return;
  const ss_vec3 p = v3_axpy(c->g->center, above / (above - below), v3_sub(lowest, c->g->center));
  ss_contact_point contact = {.feature = encode(FACET, facet, SWALLOWED)};
  fill_height(c->g, c->mesh, facet, lowest, &contact);
  if (ss_triangle_over(c->mesh, triangle, p, 0, 0)) collect(c, &contact);
}

/* Where nothing touches yet: corners and edges of the mesh that are inside the shape, triangles that it passes through. */
static void collect_swallowed(void *context, int triangle) {
  collector *c = context;
  if (is_above(c, triangle, 0)) return;
  collect_pierced(c, triangle);
  for (int i = 0; i < 3; i++) {
    const int vertex = c->mesh->triangle[triangle].corner[i];
    ss_contact_point contact = {.feature = encode(CORNER, vertex, SWALLOWED)};
    if (!ss_guest_is_far(c->g, c->mesh->vertex[vertex], 0, 0) &&
        ss_guest_distance(c->g, c->mesh->vertex[vertex], &contact) < -c->g->margin)
      collect(c, &contact);
    const int edge = c->mesh->triangle[triangle].edge[i];
    const ss_vec3 a = c->mesh->vertex[c->mesh->edge[edge].from], b = c->mesh->vertex[c->mesh->edge[edge].to];
    const ss_vec3 middle = v3_scale(0.5, v3_add(a, b));
    if (ss_guest_is_far(c->g, middle, v3_norm(v3_sub(b, middle)), 0) || ss_guest_passes(c->g, a, b, 0)) continue;
    contact.feature = encode(EDGE, edge, SWALLOWED);
    if (ss_guest_pierced(c->g, c->mesh, edge, &contact) && contact.gap < -c->g->margin) collect(c, &contact);
  }
}

/* By their numbers: the order of the tree is nobody's business. */
static void sort(ss_contact_point *contacts, int n) {
  for (int i = 1; i < n; i++) {
    const ss_contact_point item = contacts[i];
    int place = i;
    for (; place > 0 && contacts[place - 1].feature > item.feature; place--) contacts[place] = contacts[place - 1];
    contacts[place] = item;
  }
}

static void to_world(const ss_pose *pose, ss_contact_point *c) {
  c->normal = quat_rotate(pose->orientation, c->normal);
  c->point_a = pose_point(pose, c->point_a);
  c->point_b = pose_point(pose, c->point_b);
}

static int mesh_collide(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, double reach,
                        ss_contact_point out[SS_PAIR_CONTACTS]) {
  ss_guest g;
  ss_guest_make(a, pa, b->mesh, pb, &g);
  ss_guest_prepare(&g);
  collector c = {.g = &g, .mesh = b->mesh, .reach = reach, .out = out};
  c.wide = fmax(reach, 0) + g.margin + g.beyond;
  const ss_vec3 grow = v3(c.wide, c.wide, c.wide);
  ss_mesh_visit(b->mesh, v3_sub(g.low, grow), v3_add(g.high, grow), collect_triangle, &c);
  if (g.kind->has_line) c.count = ss_contacts_without_spare(out, c.count, is_line_end, is_spare, &c, g.size);
  bool touches = false;
  for (int i = 0; i < c.count; i++) touches |= out[i].gap <= g.margin;
  if (!touches) {
    collect_points(&c);
    if (g.kind->distance) ss_mesh_visit(b->mesh, g.low, g.high, collect_swallowed, &c);
  }
  sort(out, c.count);
  for (int i = 0; i < c.count; i++) to_world(pb, &out[i]);
  return c.count;
}

static void mesh_gap(const ss_shape *a, const ss_pose *pa, const ss_shape *b, const ss_pose *pb, uint32_t feature,
                     ss_contact_point *out) {
  ss_guest g;
  ss_guest_make(a, pa, b->mesh, pb, &g);
  feature_contact(&g, b->mesh, feature, out);
  to_world(pb, out);
}

const ss_pair ss_pair_convex_mesh = {mesh_collide, mesh_gap};
