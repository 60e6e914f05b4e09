/* The table of shapes: what each one needs from its definition, its mass, its bounds. */
#include "geom/hull.h"
#include "geom/mesh.h"
#include "geom/shape_compile.h"

static const double pi = 3.14159265358979323846;

/* ---- compiling ---- */

static const char *shape_name(ss_shape_type type);

ss_status ss_shape_reject(ss_error *error, const ss_shape_def *d, const char *key, const char *expected) {
  const ss_status status = ss_fail(error, SS_ERROR_INPUT, "%s: %s must be %s", shape_name(d->type), key, expected);
  if (error) {
    error->line = d->mark.line;
    error->column = d->mark.column;
  }
  return status;
}

static bool positive(double x) { return isfinite(x) && x > 0; }

/* Unit vector along v; false where there is none. */
static bool direction(ss_vec3 v, ss_vec3 *unit) {
  if (!v3_finite(v)) return false;
  return length_and_direction(v, v3(0, 0, 0), unit) > 0;
}

/* A rotation that takes z to the unit vector n: first exactly to the coordinate axis nearest to n, then by at most
 * 55 degrees to n itself. Axis-parallel normals come out without any rounding. */
static ss_quat rotation_z_to(ss_vec3 n) {
  static const ss_quat to_axis[3][2] = {{{0.5, 0.5, 0.5, 0.5}, {0.5, 0.5, -0.5, -0.5}},
                                        {{0.5, -0.5, -0.5, -0.5}, {0.5, 0.5, 0.5, -0.5}},
                                        {{1, 0, 0, 0}, {0, 1, 0, 0}}};
  const int k = fabs(n.x) > fabs(n.y) ? (fabs(n.x) > fabs(n.z) ? 0 : 2) : fabs(n.y) > fabs(n.z) ? 1 : 2;
  const double sign = v3_get(n, k) < 0 ? -1 : 1;
  const ss_vec3 axis = v3(k == 0 ? sign : 0, k == 1 ? sign : 0, k == 2 ? sign : 0);
  const ss_vec3 c = v3_cross(axis, n);
  const ss_quat rest = quat_normalize((ss_quat){1 + v3_dot(axis, n), c.x, c.y, c.z});
  return quat_multiply(rest, to_axis[k][sign < 0]);
}

static ss_status compile_point(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  (void)d, (void)error;
  out->reach = 0;
  return SS_OK;
}

static ss_status compile_sphere(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  if (!positive(d->radius)) return ss_shape_reject(error, d, "radius", "a positive number");
  out->radius = d->radius;
  out->reach = d->radius;
  return SS_OK;
}

static ss_status compile_half_space(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  ss_vec3 n;
  if (!direction(d->normal, &n)) return ss_shape_reject(error, d, "normal", "three finite numbers, not all zero");
  if (!isfinite(d->offset)) return ss_shape_reject(error, d, "offset", "a finite number");
  const ss_pose plane = {v3_scale(d->offset, n), rotation_z_to(n)};
  out->local = pose_compose(&out->local, &plane);
  out->reach = INFINITY;
  return SS_OK;
}

static ss_status compile_box(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  if (!(positive(d->size.x) && positive(d->size.y) && positive(d->size.z)))
    return ss_shape_reject(error, d, "size", "three positive numbers (full edge lengths)");
  out->half = v3_scale(0.5, d->size);
  out->reach = v3_norm(out->half);
  return SS_OK;
}

static ss_status compile_capsule(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  ss_vec3 axis;
  if (!positive(d->radius)) return ss_shape_reject(error, d, "radius", "a positive number");
  if (!(isfinite(d->length) && d->length >= 0))
    return ss_shape_reject(error, d, "length", "zero or a positive number (the distance of the end centres)");
  if (!direction(d->axis, &axis)) return ss_shape_reject(error, d, "axis", "three finite numbers, not all zero");
  static const ss_quat x_to_z = {0.5, -0.5, -0.5, -0.5};
  out->local.orientation = quat_multiply(out->local.orientation, quat_multiply(rotation_z_to(axis), x_to_z));
  out->radius = d->radius;
  out->half = v3(0.5 * d->length, 0, 0);
  out->reach = out->half.x + d->radius;
  return SS_OK;
}

/* As a capsule, but flat ends. */
static ss_status compile_cylinder(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  if (!positive(d->length)) return ss_shape_reject(error, d, "length", "a positive number (the distance of the ends)");
  const ss_status status = compile_capsule(arena, d, out, error);
  out->reach = hypot(out->half.x, out->radius);
  return status;
}

static ss_status compile_ellipsoid(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  const ss_vec3 a = d->semi_axes;
  if (!(positive(a.x) && positive(a.y) && positive(a.z)))
    return ss_shape_reject(error, d, "semi_axes", "three positive numbers");
  out->half = a;
  out->reach = fmax(fmax(a.x, a.y), a.z);
  return SS_OK;
}

static ss_status compile_ellipse(ss_arena *arena, const ss_shape_def *d, ss_shape *out, ss_error *error) {
  (void)arena;
  const double a[3] = {d->semi_axes.x, d->semi_axes.y, d->semi_axes.z};
  int zero = 0, good = 0;
  for (int i = 0; i < 3; i++) zero += a[i] == 0, good += positive(a[i]);
  if (zero != 1 || good != 2) return ss_shape_reject(error, d, "semi_axes", "two positive numbers");
  out->half = d->semi_axes;
  out->reach = fmax(fmax(a[0], a[1]), a[2]);
  return SS_OK;
}

/* ---- mass: volume and principal moments (density 1) about the local axes ---- */

static double mass_none(const ss_shape *s, ss_vec3 *moments) {
  (void)s;
  *moments = v3(0, 0, 0);
  return 0;
}

static double mass_sphere(const ss_shape *s, ss_vec3 *moments) {
  const double volume = 4 * pi / 3 * s->radius * s->radius * s->radius;
  const double moment = 0.4 * volume * s->radius * s->radius;
  *moments = v3(moment, moment, moment);
  return volume;
}

static double mass_box(const ss_shape *s, ss_vec3 *moments) {
  const double xx = s->half.x * s->half.x, yy = s->half.y * s->half.y, zz = s->half.z * s->half.z;
  const double volume = 8 * s->half.x * s->half.y * s->half.z;
  *moments = v3(volume / 3 * (yy + zz), volume / 3 * (xx + zz), volume / 3 * (xx + yy));
  return volume;
}

/* A cylinder and two half balls; the centroid of a half ball is 3 r / 8 from its flat side. */
static double mass_capsule(const ss_shape *s, ss_vec3 *moments) {
  const double r = s->radius, length = 2 * s->half.x;
  const double cylinder = pi * r * r * length, ball = 4 * pi / 3 * r * r * r;
  const double along = cylinder * r * r / 2 + ball * 0.4 * r * r;
  const double across =
      cylinder * (length * length / 12 + r * r / 4) + ball * (0.4 * r * r + length * length / 4 + 3 * length * r / 8);
  *moments = v3(along, across, across);
  return cylinder + ball;
}

static double mass_convex(const ss_shape *s, ss_vec3 *moments) {
  *moments = v3(s->hull->inertia[0], s->hull->inertia[1], s->hull->inertia[2]); /* products: see ss_shape_mass */
  return s->hull->volume;
}

static double mass_cylinder(const ss_shape *s, ss_vec3 *moments) {
  const double rr = s->radius * s->radius, length = 2 * s->half.x, volume = pi * rr * length;
  const double across = volume * (length * length / 12 + rr / 4);
  *moments = v3(volume * rr / 2, across, across);
  return volume;
}

static double mass_ellipsoid(const ss_shape *s, ss_vec3 *moments) {
  const double xx = s->half.x * s->half.x, yy = s->half.y * s->half.y, zz = s->half.z * s->half.z;
  const double volume = 4 * pi / 3 * s->half.x * s->half.y * s->half.z;
  *moments = v3(volume / 5 * (yy + zz), volume / 5 * (xx + zz), volume / 5 * (xx + yy));
  return volume;
}

/* Depth 1 across the plane, along the axis whose semi-axis is 0. */
static double mass_ellipse(const ss_shape *s, ss_vec3 *moments) {
  const double across[3] = {s->half.x == 0, s->half.y == 0, s->half.z == 0};
  const double volume =
      pi * (across[0] + s->half.x) * (across[1] + s->half.y) * (across[2] + s->half.z); /* the 0 counts as 1 */
  const double xx = across[0] / 12 + s->half.x * s->half.x / 4, yy = across[1] / 12 + s->half.y * s->half.y / 4,
               zz = across[2] / 12 + s->half.z * s->half.z / 4;
  *moments = v3(volume * (yy + zz), volume * (xx + zz), volume * (xx + yy));
  return volume;
}

/* ---- bounds: half extents of the axis-aligned box about the shape's origin ---- */

static ss_vec3 extent_round(const ss_shape *s, const ss_pose *pose) {
  (void)pose;
  return v3(s->radius, s->radius, s->radius);
}

static ss_vec3 extent_half_space(const ss_shape *s, const ss_pose *pose) {
  (void)s, (void)pose;
  return v3(INFINITY, INFINITY, INFINITY);
}

static ss_vec3 extent_box(const ss_shape *s, const ss_pose *pose) {
  const ss_mat3 r = quat_matrix(pose->orientation);
  double e[3];
  for (int i = 0; i < 3; i++)
    e[i] = fabs(r.m[i][0]) * s->half.x + fabs(r.m[i][1]) * s->half.y + fabs(r.m[i][2]) * s->half.z;
  return v3(e[0], e[1], e[2]);
}

static ss_vec3 extent_capsule(const ss_shape *s, const ss_pose *pose) {
  const ss_vec3 axis = quat_axis_x(pose->orientation);
  return v3(s->half.x * fabs(axis.x) + s->radius, s->half.x * fabs(axis.y) + s->radius,
            s->half.x * fabs(axis.z) + s->radius);
}

static ss_vec3 extent_cylinder(const ss_shape *s, const ss_pose *pose) {
  const ss_vec3 axis = quat_axis_x(pose->orientation);
  double e[3];
  for (int i = 0; i < 3; i++) {
    const double a = v3_get(axis, i);
    e[i] = s->half.x * fabs(a) + s->radius * sqrt(fmax(1 - a * a, 0));
  }
  return v3(e[0], e[1], e[2]);
}

static ss_vec3 extent_ellipsoid(const ss_shape *s, const ss_pose *pose) {
  const ss_mat3 r = quat_matrix(pose->orientation);
  double e[3];
  for (int i = 0; i < 3; i++) e[i] = v3_norm(v3(r.m[i][0] * s->half.x, r.m[i][1] * s->half.y, r.m[i][2] * s->half.z));
  return v3(e[0], e[1], e[2]);
}

/* ---- the table ---- */

static const ss_table_row names[SS_SHAPE_TYPES + 1] = {
    [SS_SHAPE_POINT] = {"point", "a point without extent; touches everything but points"},
    [SS_SHAPE_SPHERE] = {"sphere", "ball: radius"},
    [SS_SHAPE_HALF_SPACE] = {"half-space", "solid below a plane: normal (outwards), offset"},
    [SS_SHAPE_BOX] = {"box", "cuboid: size (three full edge lengths)"},
    [SS_SHAPE_CONVEX] = {"convex", "convex hull: points, or file (OBJ, STL); at most 200 corners"},
    [SS_SHAPE_CAPSULE] = {"capsule", "cylinder with round ends: radius, length (of the straight part), axis"},
    [SS_SHAPE_ELLIPSOID] = {"ellipsoid", "semi_axes (three)"},
    [SS_SHAPE_ELLIPSE] = {"ellipse", "planar scenes: semi_axes (two)"},
    [SS_SHAPE_CYLINDER] = {"cylinder", "radius, length, axis"},
    [SS_SHAPE_MESH] = {"mesh", "world only, solid behind its triangles: vertices and triangles, or file (OBJ, STL)"},
    [SS_SHAPE_HEIGHT_FIELD] = {"height-field", "world only, solid below: heights (rows) or file, size or spacing"},
    {NULL, NULL}};

static const struct shape_kind {
  ss_status (*compile)(ss_arena *arena, const ss_shape_def *definition, ss_shape *out, ss_error *error);
  double (*mass)(const ss_shape *shape, ss_vec3 *moments);
  ss_vec3 (*extent)(const ss_shape *shape, const ss_pose *pose); /* hulls, meshes: none, they are not symmetric */
} kinds[SS_SHAPE_TYPES] = {[SS_SHAPE_POINT] = {compile_point, mass_none, extent_round},
                           [SS_SHAPE_SPHERE] = {compile_sphere, mass_sphere, extent_round},
                           [SS_SHAPE_HALF_SPACE] = {compile_half_space, mass_none, extent_half_space},
                           [SS_SHAPE_BOX] = {compile_box, mass_box, extent_box},
                           [SS_SHAPE_CONVEX] = {ss_compile_convex, mass_convex, NULL},
                           [SS_SHAPE_CAPSULE] = {compile_capsule, mass_capsule, extent_capsule},
                           [SS_SHAPE_ELLIPSOID] = {compile_ellipsoid, mass_ellipsoid, extent_ellipsoid},
                           [SS_SHAPE_ELLIPSE] = {compile_ellipse, mass_ellipse, extent_ellipsoid},
                           [SS_SHAPE_CYLINDER] = {compile_cylinder, mass_cylinder, extent_cylinder},
                           [SS_SHAPE_MESH] = {ss_compile_mesh, mass_none, NULL},
                           [SS_SHAPE_HEIGHT_FIELD] = {ss_compile_height_field, mass_none, NULL}};

const ss_table_row *ss_table_shapes(void) { return names; }

static bool known(ss_shape_type type) { return (unsigned)type < SS_SHAPE_TYPES; }

static const char *shape_name(ss_shape_type type) { return known(type) ? names[type].name : "shape"; }

ss_status ss_shape_compile(ss_arena *arena, const ss_shape_def *definition, ss_shape *out, ss_error *error) {
  const ss_quat q = definition->pose.orientation;
  const double square = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!known(definition->type)) return ss_shape_reject(error, definition, "type", "one of the table of shapes");
  if (!v3_finite(definition->pose.position))
    return ss_shape_reject(error, definition, "position", "three finite numbers");
  if (!(isfinite(square) && square > 0))
    return ss_shape_reject(error, definition, "orientation", "a finite quaternion, not all zero");
  *out = (ss_shape){.type = definition->type, .body = SS_WORLD, .local = definition->pose};
  if (square != 1) out->local.orientation = quat_normalize(q);
  return kinds[definition->type].compile(arena, definition, out, error);
}

ss_mass_properties ss_shape_mass(const ss_shape *shape) {
  ss_vec3 moments;
  ss_mass_properties p = {.centroid = shape->local.position};
  p.volume = kinds[shape->type].mass(shape, &moments);
  if (p.volume == 0) p.centroid = v3(0, 0, 0);
  /* R I R^T; I is diagonal but for hulls */
  const ss_mat3 r = quat_matrix(shape->local.orientation);
  static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (int k = 0; k < 6; k++) {
    const double *a = r.m[row[k]], *b = r.m[column[k]];
    p.inertia[k] = a[0] * moments.x * b[0] + a[1] * moments.y * b[1] + a[2] * moments.z * b[2];
    for (int m = 3; shape->hull && m < 6; m++)
      p.inertia[k] += shape->hull->inertia[m] * (a[row[m]] * b[column[m]] + a[column[m]] * b[row[m]]);
  }
  return p;
}

static void bounds_of_points(const ss_vec3 *points, int n, const ss_pose *pose, ss_vec3 *low, ss_vec3 *high) {
  *low = *high = pose_point(pose, points[0]);
  for (int i = 1; i < n; i++) {
    const ss_vec3 v = pose_point(pose, points[i]);
    *low = v3(fmin(low->x, v.x), fmin(low->y, v.y), fmin(low->z, v.z));
    *high = v3(fmax(high->x, v.x), fmax(high->y, v.y), fmax(high->z, v.z));
  }
}

void ss_shape_bounds(const ss_shape *shape, const ss_pose *pose, ss_vec3 *low, ss_vec3 *high) {
  if (shape->hull) {
    bounds_of_points(shape->hull->vertex, shape->hull->n_vertices, pose, low, high);
    return;
  }
  if (shape->mesh) { /* of the box around it, not of all its corners */
    const ss_vec3 l = shape->mesh->node[0].low, h = shape->mesh->node[0].high;
    ss_vec3 corner[8];
    for (int i = 0; i < 8; i++) corner[i] = v3(i & 1 ? h.x : l.x, i & 2 ? h.y : l.y, i & 4 ? h.z : l.z);
    bounds_of_points(corner, 8, pose, low, high);
    return;
  }
  const ss_vec3 extent = kinds[shape->type].extent(shape, pose);
  *low = v3_sub(pose->position, extent);
  *high = v3_add(pose->position, extent);
}
