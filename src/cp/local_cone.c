/* One contact with the associated law: z minimises z W z / 2 + q z over the Coulomb cone |z_t| <= mu z_n (disc). W must
 * be symmetric positive definite; then there is exactly one solution.
 *
 * Open where q lies in the dual cone, sticking where -W^-1 q lies in the cone, else on its boundary, z = a (1, mu d)
 * with a = N / D, N = -(q_n + mu q_t d), D = (1, mu d) W (1, mu d), and the rest r = W z + q perpendicular to the
 * circle: f = t . r_t = 0, t perpendicular to d. Newton's method on the angle, downhill where that is not convex. */
#include "cp/local.h"

#include <math.h>

static bool sticks(const double *W, const double *q, double mu, double *z) {
  const double a = W[4] * W[8] - W[5] * W[7], b = W[5] * W[6] - W[3] * W[8], c = W[3] * W[7] - W[4] * W[6];
  const double det = W[0] * a + W[1] * b + W[2] * c;
  z[0] = -(a * q[0] + (W[2] * W[7] - W[1] * W[8]) * q[1] + (W[1] * W[5] - W[2] * W[4]) * q[2]) / det;
  z[1] = -(b * q[0] + (W[0] * W[8] - W[2] * W[6]) * q[1] + (W[2] * W[3] - W[0] * W[5]) * q[2]) / det;
  z[2] = -(c * q[0] + (W[1] * W[6] - W[0] * W[7]) * q[1] + (W[0] * W[4] - W[1] * W[3]) * q[2]) / det;
  return det > 0 && z[0] >= 0 && z[1] * z[1] + z[2] * z[2] <= mu * mu * z[0] * z[0];
}

/* f and its derivative by the angle of d; *a: the normal impulse. */
static double turning(const double *W, const double *q, double mu, const double *d, double *a, double *derivative) {
  const double t[2] = {-d[1], d[0]};
  const double Wd[2] = {W[4] * d[0] + W[5] * d[1], W[7] * d[0] + W[8] * d[1]};
  const double Wt[2] = {W[4] * t[0] + W[5] * t[1], W[7] * t[0] + W[8] * t[1]};
  const double N = -(q[0] + mu * (q[1] * d[0] + q[2] * d[1])), dN = -mu * (q[1] * t[0] + q[2] * t[1]);
  const double D = W[0] + 2 * mu * (W[1] * d[0] + W[2] * d[1]) + mu * mu * (d[0] * Wd[0] + d[1] * Wd[1]);
  const double dD = 2 * mu * (W[1] * t[0] + W[2] * t[1]) + 2 * mu * mu * (t[0] * Wd[0] + t[1] * Wd[1]);
  *a = N / D;
  const double da = (dN - *a * dD) / D, r[2] = {W[3] * *a + mu * *a * Wd[0] + q[1], W[6] * *a + mu * *a * Wd[1] + q[2]};
  const double dr[2] = {(W[3] + mu * Wd[0]) * da + mu * *a * Wt[0], (W[6] + mu * Wd[1]) * da + mu * *a * Wt[1]};
  *derivative = t[0] * dr[0] + t[1] * dr[1] - d[0] * r[0] - d[1] * r[1];
  return t[0] * r[0] + t[1] * r[1];
}

void local_cone(double mu, const double *W, const double *q, double *z) {
  enum { STEPS = 25 };
  const double pull = hypot(q[1], q[2]);
  double s[3];
  const bool open = q[0] >= mu * pull;
  const bool stuck = !open && sticks(W, q, mu, s);
  if (open || stuck) {
    for (int i = 0; i < 3; i++) z[i] = open ? 0 : s[i];
    return;
  }
  double d[2] = {-q[1], -q[2]}, norm = pull, a, derivative;
  if (!(norm > 0)) {
    d[0] = norm = 1;
    d[1] = 0;
  }
  d[0] /= norm;
  d[1] /= norm;
  for (int k = 0; k < STEPS; k++) {
    const double f = turning(W, q, mu, d, &a, &derivative);
    double step = derivative > 0 ? -f / derivative : f > 0 ? -0.3 : 0.3;
    step = fmin(fmax(step, -0.5), 0.5);
    const double x = d[0] - step * d[1], y = d[1] + step * d[0];
    norm = hypot(x, y);
    d[0] = x / norm;
    d[1] = y / norm;
    if (fabs(step) < 1e-15) break;
  }
  (void)turning(W, q, mu, d, &a, &derivative);
  a = fmax(a, 0);
  z[0] = a;
  z[1] = mu * a * d[0];
  z[2] = mu * a * d[1];
}
