/* Overlap of two convex shapes A and B: is the origin inside the Minkowski difference D = A - B, and how far from its surface?
 *
 * GJK (Gilbert, Johnson, Keerthi 1988) on the cores: simplices of points of D approach its point v nearest to the origin. A
 * direction d with d.w >= m for the support w of D in -d proves a distance of m. |v| is a distance from above. So
 *
 *     depth <= r - m  for every direction tried      (r: both radii)
 *     depth >= r - |v|
 *
 * and the search ends when the first is within the tolerance, or both agree. Where the cores themselves overlap, EPA (van den
 * Bergen 2001) grows a polytope inside D around the origin; the distance of its nearest face is a depth from below. What is
 * reported is always from below: two shapes that only touch are never called overlapping, but for rounding.
 *
 * It fails, with a depth that is too small, where D is flat or rounding stops the polytope; never with one that is too large. */
#include "audit/audit.h"

#include "geom/hull.h"

static double sign(double x) { return x < 0 ? -1 : 1; }

static ss_vec3 local_support(const ss_shape *s, ss_vec3 d) {
  switch (s->type) {
  case SS_SHAPE_BOX:
    return v3(sign(d.x) * s->half.x, sign(d.y) * s->half.y, sign(d.z) * s->half.z);
  case SS_SHAPE_CAPSULE:
    return v3(sign(d.x) * s->half.x, 0, 0);
  case SS_SHAPE_CYLINDER: {
    const double across = sqrt(d.y * d.y + d.z * d.z), scale = across > 0 ? s->radius / across : 0;
    return v3(sign(d.x) * s->half.x, scale * d.y, scale * d.z);
  }
  case SS_SHAPE_ELLIPSOID:
  case SS_SHAPE_ELLIPSE: {
    const ss_vec3 stretched = v3(s->half.x * d.x, s->half.y * d.y, s->half.z * d.z);
    const double norm = v3_norm(stretched), scale = norm > 0 ? 1 / norm : 0;
    return v3(scale * s->half.x * stretched.x, scale * s->half.y * stretched.y, scale * s->half.z * stretched.z);
  }
  case SS_SHAPE_CONVEX: {
    int best = 0;
    double most = -HUGE_VAL;
    for (int i = 0; i < s->hull->n_vertices; i++) {
      const double reach = v3_dot(s->hull->vertex[i], d);
      if (reach > most) most = reach, best = i;
    }
    return s->hull->vertex[best];
  }
  default:
    return v3(0, 0, 0);
  }
}

ss_vec3 ss_probe_support(const ss_probe *p, ss_vec3 d) {
  const ss_vec3 own = v3_add(p->center, mat3_mul(&p->turn, local_support(p->shape, mat3_tmul(&p->turn, d))));
  return v3_dot(p->sweep, d) > 0 ? v3_add(own, p->sweep) : own;
}

ss_pose ss_probe_pose(const ss_shape *shape, const double *q) {
  const ss_pose body = ss_pose_of(q, shape->body);
  return shape->body < 0 ? shape->local : pose_compose(&body, &shape->local);
}

ss_probe ss_probe_at(const ss_shape *shape, const double *q) {
  const ss_pose pose = ss_probe_pose(shape, q);
  return ss_probe_make(shape, &pose);
}

ss_probe ss_probe_make(const ss_shape *shape, const ss_pose *pose) {
  ss_probe p = {.shape = shape, .center = pose->position, .turn = quat_matrix(pose->orientation)};
  if (shape->type == SS_SHAPE_SPHERE || shape->type == SS_SHAPE_CAPSULE) p.radius = shape->radius;
  const double reach = shape->reach;
  if (shape->mesh || shape->type == SS_SHAPE_HALF_SPACE) { /* of the surface's own frame, a sphere will do */
    p.low = v3_sub(p.center, v3(reach, reach, reach));
    p.high = v3_add(p.center, v3(reach, reach, reach));
    return p;
  }
  const ss_vec3 round = v3(p.radius, p.radius, p.radius);
  p.high = v3_add(round, v3(ss_probe_support(&p, v3(1, 0, 0)).x, ss_probe_support(&p, v3(0, 1, 0)).y,
                            ss_probe_support(&p, v3(0, 0, 1)).z));
  if (!shape->hull) { /* symmetric */
    p.low = v3_sub(v3_scale(2, p.center), p.high);
    return p;
  }
  p.low = v3_sub(v3(ss_probe_support(&p, v3(-1, 0, 0)).x, ss_probe_support(&p, v3(0, -1, 0)).y,
                    ss_probe_support(&p, v3(0, 0, -1)).z),
                 round);
  return p;
}

double ss_half_space_overlap(const ss_probe *half_space, const ss_probe *other) {
  const ss_vec3 normal = mat3_column(&half_space->turn, 2);
  const ss_vec3 lowest = ss_probe_support(other, v3_neg(normal));
  return other->radius - v3_dot(normal, v3_sub(lowest, half_space->center));
}

/* ---- the Minkowski difference ---- */

typedef struct difference {
  const ss_probe *a, *b;
  ss_vec3 normal; /* planar: D is a prism of this axis; else zero */
  double length;  /* half of its length */
} difference;

/* Farthest point of D in a direction. */
static ss_vec3 support(const difference *d, ss_vec3 direction) {
  const double across = v3_dot(d->normal, direction);
  const ss_vec3 u = v3_axpy(direction, -across, d->normal);
  const ss_vec3 w = v3_sub(ss_probe_support(d->a, u), ss_probe_support(d->b, v3_neg(u)));
  return v3_axpy(w, sign(across) * d->length - v3_dot(w, d->normal), d->normal);
}

/* ---- simplices ---- */

typedef struct simplex {
  int n;
  ss_vec3 w[4];
} simplex;

static ss_vec3 nearest_on_segment(simplex *s) {
  const ss_vec3 a = s->w[0], side = v3_sub(s->w[1], a);
  const double length = v3_dot(side, side), t = length > 0 ? -v3_dot(a, side) / length : 0;
  if (t <= 0) {
    s->n = 1;
    return a;
  }
  if (t >= 1) {
    s->n = 1;
    return s->w[0] = s->w[1];
  }
  return v3_axpy(a, t, side);
}

/* The best of some simplices of two corners. */
static ss_vec3 nearest_of_sides(simplex *s) {
  simplex best = {0};
  ss_vec3 nearest = {0};
  double least = HUGE_VAL;
  for (int i = 0; i < 3; i++) {
    simplex side = {2, {s->w[i], s->w[(i + 1) % 3]}};
    const ss_vec3 p = nearest_on_segment(&side);
    if (v3_dot(p, p) < least) least = v3_dot(p, p), nearest = p, best = side;
  }
  *s = best;
  return nearest;
}

static ss_vec3 nearest_on_triangle(simplex *s) {
  const ss_vec3 a = s->w[0], b = s->w[1], c = s->w[2], n = v3_cross(v3_sub(b, a), v3_sub(c, a));
  const double area = v3_dot(n, n);
  const bool inside =
      area > 0 && v3_dot(v3_cross(a, b), n) >= 0 && v3_dot(v3_cross(b, c), n) >= 0 && v3_dot(v3_cross(c, a), n) >= 0;
  return inside ? v3_scale(v3_dot(a, n) / area, n) : nearest_of_sides(s);
}

/* n stays 4 where the origin is inside. */
static ss_vec3 nearest_on_tetrahedron(simplex *s) {
  static const int face[4][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}};
  simplex best = *s;
  ss_vec3 nearest = v3(0, 0, 0);
  double least = HUGE_VAL;
  for (int i = 0; i < 4; i++) {
    simplex t = {3, {s->w[face[i][0]], s->w[face[i][1]], s->w[face[i][2]]}};
    const ss_vec3 n = v3_cross(v3_sub(t.w[1], t.w[0]), v3_sub(t.w[2], t.w[0]));
    const double other = v3_dot(n, v3_sub(s->w[face[i][3]], t.w[0])), origin = -v3_dot(n, t.w[0]);
    if (other * origin > 0) continue; /* on the inner side */
    const ss_vec3 p = nearest_on_triangle(&t);
    if (v3_dot(p, p) < least) least = v3_dot(p, p), nearest = p, best = t;
  }
  *s = best;
  return nearest;
}

static ss_vec3 nearest_to_origin(simplex *s) {
  switch (s->n) {
  case 1:
    return s->w[0];
  case 2:
    return nearest_on_segment(s);
  case 3:
    return nearest_on_triangle(s);
  default:
    return nearest_on_tetrahedron(s);
  }
}

/* ---- the polytope of EPA ---- */

enum { MOST_ROUNDS = 60, MOST_VERTICES = MOST_ROUNDS + 4, MOST_FACES = 2 * MOST_VERTICES };

typedef struct face {
  int corner[3];
  ss_vec3 normal; /* outward */
  double distance;
} face;

typedef struct polytope {
  ss_vec3 vertex[MOST_VERTICES];
  face face[MOST_FACES];
  int n_vertices, n_faces;
} polytope;

static bool add_face(polytope *p, int a, int b, int c) {
  if (p->n_faces == MOST_FACES) return false;
  const ss_vec3 n = v3_cross(v3_sub(p->vertex[b], p->vertex[a]), v3_sub(p->vertex[c], p->vertex[a]));
  const double area = v3_norm(n);
  face *f = &p->face[p->n_faces++];
  *f = (face){{a, b, c}, v3(0, 0, 0), HUGE_VAL}; /* without area: nothing is seen from it, nothing nearest */
  if (!(area > 0)) return true;
  f->normal = v3_scale(1 / area, n);
  f->distance = v3_dot(f->normal, p->vertex[a]);
  return true;
}

/* A tetrahedron around the origin, or with it on its surface; false: D is flat there. */
static bool start_polytope(polytope *p, const difference *d, simplex *s, double size) {
  static const double flat = 1e-9;
  static const ss_vec3 axes[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  for (int i = 0; i < 6 && s->n < 2; i++) {
    s->w[1] = support(d, axes[i]);
    if (v3_norm(v3_sub(s->w[1], s->w[0])) > flat * size) s->n = 2;
  }
  for (int i = 0; i < 6 && s->n == 2; i++) {
    const ss_vec3 side = v3_sub(s->w[1], s->w[0]), u = v3_cross(side, axes[i]);
    s->w[2] = support(d, u);
    if (v3_norm(v3_cross(side, v3_sub(s->w[2], s->w[0]))) > flat * size * v3_norm(side)) s->n = 3;
  }
  for (int i = 0; i < 2 && s->n == 3; i++) {
    const ss_vec3 n = v3_normalize(v3_cross(v3_sub(s->w[1], s->w[0]), v3_sub(s->w[2], s->w[0])));
    s->w[3] = support(d, i ? v3_neg(n) : n);
    if (fabs(v3_dot(n, v3_sub(s->w[3], s->w[0]))) > flat * size) s->n = 4;
  }
  if (s->n < 4) return false;
  const ss_vec3 n = v3_cross(v3_sub(s->w[1], s->w[0]), v3_sub(s->w[2], s->w[0]));
  if (v3_dot(n, v3_sub(s->w[3], s->w[0])) > 0) { /* corner 3 is behind the face of the others */
    const ss_vec3 swap = s->w[1];
    s->w[1] = s->w[2];
    s->w[2] = swap;
  }
  *p = (polytope){.n_vertices = 4};
  for (int i = 0; i < 4; i++) p->vertex[i] = s->w[i];
  return add_face(p, 0, 1, 2) && add_face(p, 0, 3, 1) && add_face(p, 1, 3, 2) && add_face(p, 2, 3, 0);
}

/* Adds a vertex: the faces that it sees give way to those through it and the border of them. */
static bool grow(polytope *p, ss_vec3 w) {
  int edge[MOST_FACES][2], n = 0;
  if (p->n_vertices == MOST_VERTICES) return false;
  for (int i = 0; i < p->n_faces;) {
    const face f = p->face[i];
    if (!(v3_dot(f.normal, v3_sub(w, p->vertex[f.corner[0]])) > 0)) {
      i++;
      continue;
    }
    for (int k = 0; k < 3; k++) { /* a side between two such faces is none of the border */
      const int from = f.corner[k], to = f.corner[(k + 1) % 3];
      int twin = 0;
      while (twin < n && !(edge[twin][0] == to && edge[twin][1] == from)) twin++;
      if (twin < n) {
        n--;
        edge[twin][0] = edge[n][0], edge[twin][1] = edge[n][1];
      } else if (n < MOST_FACES) {
        edge[n][0] = from, edge[n][1] = to;
        n++;
      } else {
        return false;
      }
    }
    p->face[i] = p->face[--p->n_faces];
  }
  p->vertex[p->n_vertices] = w;
  for (int i = 0; i < n; i++)
    if (!add_face(p, edge[i][0], edge[i][1], p->n_vertices)) return false;
  p->n_vertices++;
  return n > 0;
}

/* Distance of the origin from the surface of D, from below; *axis: the way out. */
static double expand(const difference *d, simplex *s, double radii, double tolerance, double size, ss_vec3 *axis) {
  static const double accuracy = 1e-3;
  polytope p;
  double depth = 0;
  if (!start_polytope(&p, d, s, size)) return 0;
  for (int round = 0; round < MOST_ROUNDS; round++) {
    const face *nearest = &p.face[0];
    for (int i = 1; i < p.n_faces; i++)
      if (p.face[i].distance < nearest->distance) nearest = &p.face[i];
    if (!(nearest->distance < HUGE_VAL)) return depth;
    const ss_vec3 n = nearest->normal, w = support(d, n);
    const double most = v3_dot(n, w);
    depth = fmax(depth, nearest->distance);
    *axis = v3_neg(n);
    if (radii + most <= tolerance || most - nearest->distance <= accuracy * (radii + most) || !grow(&p, w)) break;
  }
  return depth;
}

double ss_convex_overlap(const ss_probe *a, const ss_probe *b, ss_vec3 normal, double tolerance, ss_vec3 *axis) {
  enum { MOST_STEPS = 64 };
  const double radii = a->radius + b->radius,
               size = a->shape->reach + b->shape->reach + v3_norm(a->sweep) + v3_norm(b->sweep);
  const difference d = {a, b, normal, 4 * size};
  if (v3_dot(*axis, *axis) > 0) {
    const double apart = v3_dot(*axis, support(&d, v3_neg(*axis)));
    if (radii - apart <= tolerance) return 0;
  }
  ss_vec3 v = v3_sub(a->center, b->center);
  v = v3_axpy(v, -v3_dot(v, normal), normal);
  simplex s = {0};
  for (int step = 0; step < MOST_STEPS; step++) {
    const double length = v3_norm(v);
    const ss_vec3 u =
        length > 0 ? v3_scale(1 / length, v) : v3_perpendicular(v3_norm(normal) > 0 ? normal : v3(1, 0, 0));
    const ss_vec3 w = support(&d, v3_neg(u));
    const double apart = v3_dot(u, w);
    if (radii - apart <= tolerance) {
      *axis = u;
      return 0;
    }
    if (s.n > 0 && length - apart <= 1e-3 * tolerance) break; /* both bounds agree */
    s.w[s.n++] = w;
    v = nearest_to_origin(&s);
    if (s.n == 4 || v3_norm(v) <= 1e-12 * size) { /* the cores overlap */
      const double depth = radii + expand(&d, &s, radii, tolerance, size, axis);
      return depth > tolerance ? depth : 0;
    }
  }
  const double depth = radii - v3_norm(v);
  return depth > tolerance ? depth : 0;
}
