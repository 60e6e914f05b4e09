/* Points and cylinders. */
#include "geom/cylinder.h"
#include "geom/ellipsoid.h"

static double end_of(ss_cylinder c, int end) { return end ? c.half : -c.half; }

ss_vec3 ss_rim_point(ss_cylinder c, int end, int k) {
  static const double r = 0.70710678118654752440;
  static const double turn[SS_RIM_POINTS][2] = {{1, 0}, {r, r}, {0, 1}, {-r, r}, {-1, 0}, {-r, -r}, {0, -1}, {r, -r}};
  return v3(end_of(c, end), c.radius * turn[k][0], c.radius * turn[k][1]);
}

double ss_cylinder_distance(ss_cylinder c, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface) {
  ss_vec3 out; /* away from the axis */
  const double rho = length_and_direction(v3(0, p.y, p.z), v3(0, 1, 0), &out), side = p.x < 0 ? -1 : 1;
  const double beyond = fabs(p.x) - c.half, outside = rho - c.radius;
  if (beyond > 0 && outside > 0) {
    *surface = v3_axpy(v3(side * c.half, 0, 0), c.radius, out);
    return length_and_direction(v3_axpy(v3(side * beyond, 0, 0), outside, out), out, normal);
  }
  if (beyond > outside) {
    *normal = v3(side, 0, 0);
    *surface = v3(side * c.half, p.y, p.z);
    return beyond;
  }
  *normal = out;
  *surface = v3_axpy(v3(p.x, 0, 0), c.radius, out);
  return outside;
}

bool ss_cylinder_over(ss_cylinder c, ss_vec3 p, int surface, double margin) {
  if (surface == SS_CYLINDER_SIDE) return fabs(p.x) <= c.half + margin;
  return hypot(p.y, p.z) <= c.radius + margin && (surface ? p.x : -p.x) > -c.half;
}

double ss_cylinder_height(ss_cylinder c, ss_vec3 p, int surface, ss_vec3 *normal, ss_vec3 *foot) {
  if (surface == SS_CYLINDER_SIDE) {
    const double rho = length_and_direction(v3(0, p.y, p.z), v3(0, 1, 0), normal);
    *foot = v3_axpy(v3(p.x, 0, 0), c.radius, *normal);
    return rho - c.radius;
  }
  *normal = v3(surface ? 1 : -1, 0, 0);
  *foot = v3(surface ? c.half : -c.half, p.y, p.z);
  return (surface ? p.x : -p.x) - c.half;
}

typedef struct slope_context {
  ss_cylinder cylinder;
  const ss_segment *segment;
} slope_context;

static double slope_at(const void *context, double s) {
  const slope_context *c = context;
  ss_vec3 n, foot;
  (void)ss_cylinder_distance(c->cylinder, segment_point(c->segment, s), &n, &foot);
  return v3_dot(n, c->segment->axis);
}

double ss_cylinder_segment(ss_cylinder c, const ss_segment *segment) {
  const slope_context context = {c, segment};
  return ss_rising_root(slope_at, &context, -segment->half, segment->half, segment_closest(segment, v3(0, 0, 0)));
}

bool ss_cylinder_chord(ss_cylinder c, const ss_segment *e, int k, double margin, double *t) {
  const double square = e->axis.y * e->axis.y + e->axis.z * e->axis.z;
  const double half_b = e->center.y * e->axis.y + e->center.z * e->axis.z;
  const double offset = e->center.y * e->center.y + e->center.z * e->center.z - c.radius * c.radius;
  const double root = half_b * half_b - square * offset;
  *t = 0;
  if (!(root > 0) || !(square > 0.5)) return false;
  *t = (-half_b + (k ? sqrt(root) : -sqrt(root))) / square;
  return fabs(*t) < e->half - margin;
}

ss_vec3 ss_disc_support(ss_cylinder c, int end, ss_vec3 n) {
  ss_vec3 out = v3(0, 1, 0);
  if (hypot(n.y, n.z) > 1e-12 * v3_norm(n)) (void)length_and_direction(v3(0, n.y, n.z), out, &out);
  return v3_axpy(v3(end_of(c, end), 0, 0), c.radius, out);
}

ss_vec3 ss_cylinder_support(ss_cylinder c, ss_vec3 n) { return ss_disc_support(c, n.x >= 0, n); }

/* Largest separation of the point (x, y) and the half ellipse x >= 0 with semi-axes a, b, for x < 0:
 * x cos + y sin - sqrt(a^2 cos^2 + b^2 sin^2) by Newton's method from *angle. False: no maximum with cos > 0 near. */
static bool under_half_ellipse(double a, double b, double x, double y, double *angle, double *value) {
  for (int k = 0; k < 50; k++) {
    const double c = cos(*angle), s = sin(*angle), width = sqrt(a * a * c * c + b * b * s * s);
    const double turn = (b * b - a * a) * s * c / width; /* d width/d angle */
    const double bend = ((b * b - a * a) * (c * c - s * s) - turn * turn) / width;
    const double slope = y * c - x * s - turn, second = -x * c - y * s - bend;
    *value = x * c + y * s - width;
    if (!(second < 0) || !(c > 0)) return false;
    const double step = -slope / second;
    *angle += clamp(step, 0.3);
    if (fabs(step) < 1e-15) return c > 0;
  }
  return false;
}

/* Seen along u the cylinder is a rectangle with two half ellipses: the axis has the half length L = half sin, the discs
 * the semi-axes R cos along it and R across. Beside the rectangle the side's generator is the closest, beyond it the rim. */
double ss_cylinder_line(ss_cylinder c, ss_vec3 p, ss_vec3 u, ss_vec3 *normal, ss_vec3 *foot) {
  const double cosine = fabs(u.x), sine = hypot(u.y, u.z);
  if (sine < 1e-8) { /* parallel to the axis */
    const double rho = length_and_direction(v3(0, p.y, p.z), v3(0, 1, 0), normal);
    *foot = v3_axpy(v3(clamp(p.x, c.half), 0, 0), c.radius, *normal);
    return rho - c.radius;
  }
  const ss_vec3 along = v3_scale(1 / sine, v3_axpy(v3(1, 0, 0), -u.x, u)), across = v3_cross(u, along);
  const double x = v3_dot(p, along), y = v3_dot(p, across), end = x < 0 ? -1 : 1, beyond = fabs(x) - c.half * sine;
  const double beside = fabs(y) - c.radius, a = fmax(c.radius * cosine, 1e-14 * c.radius);
  ss_vec3 flat = v3(1, 0, 0), unused;
  double distance = -INFINITY;
  if (beyond > 0 || beside < 0) {
    distance = ss_ellipsoid_distance(v3(a, c.radius, 0), v3(fmax(beyond, 0), y, 0), &flat, &unused);
    double angle = atan2(flat.y, fmax(flat.x, 1e-3));
    if (beyond < 0 && under_half_ellipse(a, c.radius, beyond, y, &angle, &distance))
      flat = v3(cos(angle), sin(angle), 0);
    else if (beyond < 0)
      distance = -INFINITY;
  }
  if (beyond <= 0 && beside > distance) {
    *normal = v3_scale(y < 0 ? -1 : 1, across);
    *foot = v3_axpy(v3(x / sine, 0, 0), c.radius, *normal);
    return beside;
  }
  *normal = v3_add(v3_scale(end * flat.x, along), v3_scale(flat.y, across));
  *foot = ss_disc_support(c, end > 0, *normal);
  if (hypot(normal->y, normal->z) < 1e-9) { /* along the end: the middle of the chord stands for all of it */
    const double s = -(p.y * u.y + p.z * u.z) / (sine * sine);
    *foot = v3(end * c.half, p.y + s * u.y, p.z + s * u.z);
  }
  return distance;
}

/* ---- rims ---- */

typedef struct rim_context {
  ss_vec3 center, u, v;
  double radius;
  ss_gradient gradient;
  const void *context;
} rim_context;

static ss_vec3 rim_towards(const rim_context *r, double c, double s) {
  return v3_add(r->center, v3_add(v3_scale(r->radius * c, r->u), v3_scale(r->radius * s, r->v)));
}

static ss_vec3 rim_at(const rim_context *r, double angle) { return rim_towards(r, cos(angle), sin(angle)); }

static double slope_towards(const rim_context *r, double c, double s) {
  const ss_vec3 g = r->gradient(r->context, rim_towards(r, c, s));
  return c * v3_dot(g, r->v) - s * v3_dot(g, r->u);
}

static double rim_slope(const void *context, double angle) { return slope_towards(context, cos(angle), sin(angle)); }

/* Outwards the function falls: no point of the disc is lower. */
static double outward(const rim_context *r, double angle) {
  const ss_vec3 g = r->gradient(r->context, rim_at(r, angle));
  return cos(angle) * v3_dot(g, r->u) + sin(angle) * v3_dot(g, r->v);
}

/* A convex function may have several minima on a circle; the one at which it falls outwards is the disc's, and there is
 * only one such. If there is none the disc's is inside, and the minimum with the least rise stands for it. */
bool ss_rim_minimum(ss_cylinder c, int end, ss_vec3 center, ss_quat turn, ss_gradient gradient, const void *context,
                    ss_vec3 *point) {
  enum { ARCS = 16 };
  static const double pi = 3.14159265358979323846;
  static const double eighths[] = {0, 0.38268343236508977173, 0.70710678118654752440, 0.92387953251128675613,
                                   1}; /* sines */
  const rim_context r = {v3_add(center, quat_rotate(turn, v3(end_of(c, end), 0, 0))),
                         quat_rotate(turn, v3(0, 1, 0)),
                         quat_rotate(turn, v3(0, 0, 1)),
                         c.radius,
                         gradient,
                         context};
  double best = 0, least = INFINITY, slope[ARCS + 1];
  for (int i = 0; i < ARCS / 4; i++) {
    const double x = eighths[4 - i], y = eighths[i];
    slope[i] = slope_towards(&r, x, y);
    slope[i + 4] = slope_towards(&r, -y, x);
    slope[i + 8] = slope_towards(&r, -x, -y);
    slope[i + 12] = slope_towards(&r, y, -x);
  }
  slope[ARCS] = slope[0];
  for (int i = 0; i < ARCS; i++) {
    if (!(slope[i] <= 0 && slope[i + 1] > 0)) continue;
    const double low = 2 * pi * i / ARCS, high = 2 * pi * (i + 1) / ARCS;
    const double angle = ss_rising_root(rim_slope, &r, low, high, (low + high) / 2), rise = outward(&r, angle);
    if (rise < least) least = rise, best = angle;
  }
  *point = rim_at(&r, best);
  return fabs(rim_slope(&r, best)) < 1e-6;
}
