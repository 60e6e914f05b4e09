/* Signed distance of a point y from an ellipsoid with semi-axes a.
 *
 * The foot x satisfies y - x = t (x_i/a_i^2), so x_i = a_i^2 y_i/(t + a_i^2) where t is the largest root of
 *
 *   G(t) = sum (a_i y_i/(t + a_i^2))^2 - 1 = 0.
 *
 * G falls and is convex right of its last pole; at t0 = max a_i (|y_i| - a_i) one term is 1, so that Newton's method goes
 * up from t0 to the root without overshooting, in a few steps since G(t0) <= 2. The distance is t |y_i/(t + a_i^2)|: as
 * accurate as t, which is accurate to rounding of a^2 near the surface.
 *
 * Inside, with y in the symmetry plane across the shortest axis and near the centre, there is no root: the foot leaves that
 * plane, to either side. Deep inside the distance has kinks there, as every distance has. */
#include "geom/ellipsoid.h"

enum { MOST_STEPS = 100 };

typedef struct axes {
  double a[3], y[3];
} axes;

static double value(const axes *e, double t, double *slope) {
  double sum = -1;
  *slope = 0;
  for (int i = 0; i < 3; i++) {
    if (e->a[i] == 0 || e->y[i] == 0) continue;
    const double pole = t + e->a[i] * e->a[i], term = e->a[i] * e->y[i] / pole;
    sum += term * term;
    *slope -= 2 * term * term / pole;
  }
  return sum;
}

/* The root, or minus the square of the shortest semi-axis (*shortest: its number, else -1). */
static double largest_root(const axes *e, int *shortest) {
  double t = -INFINITY, slope;
  int least = -1;
  *shortest = -1;
  for (int i = 0; i < 3; i++) {
    if (e->a[i] == 0) continue;
    t = fmax(t, e->a[i] * (fabs(e->y[i]) - e->a[i]));
    if (least < 0 || e->a[i] < e->a[least]) least = i;
  }
  const double pole = e->a[least] * e->a[least];
  axes rest = *e;
  if (t + pole <= 1e-15 * pole) { /* on the pole, whose own term counts as nothing, at the root too */
    for (int i = 0; i < 3; i++)
      if (e->a[i] * e->a[i] <= pole * (1 + 1e-15)) rest.y[i] = 0;
    t = -pole;
    if (value(&rest, t, &slope) <= 0) {
      *shortest = least;
      return t;
    }
  }
  for (int k = 0; k < MOST_STEPS; k++) {
    const double g = value(&rest, t, &slope), next = t - g / slope;
    if (!(g > 0) || !(next > t)) break;
    t = next;
  }
  return t;
}

ss_vec3 ss_ellipsoid_support(ss_vec3 half, ss_vec3 n) {
  const ss_vec3 stretched = v3(half.x * n.x, half.y * n.y, half.z * n.z);
  const double width = v3_norm(stretched);
  if (!(width > 0)) return v3(0, 0, 0);
  return v3(half.x * stretched.x / width, half.y * stretched.y / width, half.z * stretched.z / width);
}

double ss_ellipsoid_distance(ss_vec3 half, ss_vec3 p, ss_vec3 *normal, ss_vec3 *surface) {
  const axes e = {{half.x, half.y, half.z}, {p.x, p.y, p.z}};
  int shortest;
  const double t = largest_root(&e, &shortest);
  double w[3], rest = 1; /* w: (y - x)/t, the normal but for its length */
  for (int i = 0; i < 3; i++) {
    const double a = e.a[i], pole = t + a * a;
    w[i] = a == 0 || i == shortest || e.y[i] == 0 || !(fabs(pole) > 0) ? 0 : e.y[i] / pole;
    rest -= a * w[i] * a * w[i];
  }
  if (shortest >= 0) w[shortest] = copysign(sqrt(fmax(rest, 0)) / e.a[shortest], e.y[shortest]);
  const double length = length_and_direction(v3(w[0], w[1], w[2]), v3(1, 0, 0), normal);
  *surface = v3(e.a[0] == 0 ? p.x : e.a[0] * e.a[0] * w[0], e.a[1] == 0 ? p.y : e.a[1] * e.a[1] * w[1],
                e.a[2] == 0 ? p.z : e.a[2] * e.a[2] * w[2]);
  return t * length;
}

typedef struct slope_context {
  ss_vec3 half;
  const ss_segment *segment;
} slope_context;

/* d/ds of the distance along the segment. */
static double slope_at(const void *context, double s) {
  const slope_context *c = context;
  ss_vec3 n, foot;
  (void)ss_ellipsoid_distance(c->half, segment_point(c->segment, s), &n, &foot);
  return v3_dot(n, c->segment->axis);
}

double ss_ellipsoid_segment(ss_vec3 half, const ss_segment *segment) {
  const slope_context c = {half, segment};
  return ss_rising_root(slope_at, &c, -segment->half, segment->half, segment_closest(segment, v3(0, 0, 0)));
}
