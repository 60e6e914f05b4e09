/* Farkas' lemma: where v >= 0, M^T v <= 0 and q . v < 0, every x >= 0 has v . (M x + q) <= q . v < 0, so that M x + q >= 0 is
 * impossible. The ray on which Lemke's method ends is such a v where M is copositive-plus (Cottle, Pang & Stone, theorem
 * 4.4.12); for other M it may be or not, so it is checked.
 *
 * Every sum is compared with the sum of the absolute values of its terms: in whatever units rows and columns are, what passes
 * is zero up to rounding. A matrix that is singular up to rounding may have a solution beyond 1e10 all the same. */
#include "cp/infeasible.h"

#include <math.h>

bool lcp_infeasible(const lcp *l, const double *v) {
  static const double rounding = 1e-12, clearly = 1e-8;
  double product = 0, size = 0, largest = 0;
  for (int i = 0; i < l->n; i++) largest = fmax(largest, fabs(v[i]));
  for (int i = 0; i < l->n; i++) {
    if (!(v[i] >= -rounding * largest)) return false;
    const double part = l->q[i] * fmax(v[i], 0);
    product += part;
    size += fabs(part);
  }
  if (!(product < -clearly * size)) return false;
  for (int j = 0; j < l->n; j++) {
    double sum = 0, terms = 0;
    for (int i = 0; i < l->n; i++) {
      const double part = l->M[(size_t)i * (size_t)l->n + (size_t)j] * fmax(v[i], 0);
      sum += part;
      terms += fabs(part);
    }
    if (!(sum <= rounding * terms)) return false;
  }
  return true;
}
