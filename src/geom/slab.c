/* Maxima of the separation of slabs: Newton's method on the unit sphere, damped.
 *
 * Where the bodies are apart and s > 0 at the start, the maximum reached is the largest: s is concave and homogeneous. Of
 * bodies that overlap it is the one next to the start, unique as long as the depth is small against the radii of curvature. */
#include "geom/slab.h"

/* Newton's step in the tangent plane of the sphere: (E^T bend E + s) x = E^T gradient, E two tangents. Along an
 * eigenvector with a negative eigenvalue (deeper than curved: no maximum near) the step goes uphill all the same. */
static ss_vec3 newton_step(ss_vec3 n, double s, ss_vec3 gradient, const ss_mat3 *bend) {
  const ss_vec3 u = v3_perpendicular(n), v = v3_cross(n, u);
  const double uu = v3_dot(u, mat3_mul(bend, u)) + s, vv = v3_dot(v, mat3_mul(bend, v)) + s;
  const double uv = v3_dot(u, mat3_mul(bend, v)), angle = 0.5 * atan2(2 * uv, uu - vv);
  const double c = cos(angle), t = sin(angle), least = 1e-9 * (fabs(uu) + fabs(vv));
  const ss_vec3 axis[2] = {v3_axpy(v3_scale(c, u), t, v), v3_axpy(v3_scale(c, v), -t, u)};
  const double eigen[2] = {c * c * uu + 2 * c * t * uv + t * t * vv, t * t * uu - 2 * c * t * uv + c * c * vv};
  ss_vec3 step = v3(0, 0, 0);
  for (int k = 0; k < 2; k++)
    step = v3_axpy(step, v3_dot(axis[k], gradient) / fmax(fmax(fabs(eigen[k]), least), 1e-300), axis[k]);
  return step;
}

double ss_slab_maximum(ss_slabs slabs, const void *context, ss_vec3 *normal) {
  ss_vec3 n = *normal, gradient, next_gradient;
  ss_mat3 bend, next_bend;
  double s = slabs(context, n, &gradient, &bend);
  for (int k = 0; k < 50; k++) {
    ss_vec3 step = newton_step(n, s, gradient, &bend);
    const double length = v3_norm(step);
    if (!(length > 1e-16)) break;
    if (length > 0.5) step = v3_scale(0.5 / length, step);
    bool better = false;
    for (int halving = 0; halving < 30 && !better; halving++) {
      const ss_vec3 next = v3_normalize(v3_add(n, step));
      const double value = slabs(context, next, &next_gradient, &next_bend);
      better = value > s || (length < 1e-6 && halving == 0); /* the last steps gain less than rounding */
      if (better) n = next, s = value, gradient = next_gradient, bend = next_bend;
      step = v3_scale(0.5, step);
    }
    if (!better || length < 1e-12) break;
  }
  *normal = n;
  return s;
}
