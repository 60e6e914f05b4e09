/* Farkas' lemma: where v >= 0, M^T v <= 0 and q . v < 0, every x >= 0 has v . (M x + q) <= q . v < 0, so that M x + q >= 0 is
 * impossible. The ray on which Lemke's method ends is such a v where M is copositive-plus (Cottle, Pang & Stone, theorem
 * 4.4.12); for other M it may be or not, so it is checked.
 *
 * With friction of any kind the same holds for v on the normal rows of the contacts, whatever w_t is: for every z of the product C
 * of their cones v . (G z + g) = (G^T v) . z + g . v, negative where -G^T v is in the dual of C, (G^T v)_n + mu |(G^T v)_t| <= 0. Where G is
 * symmetric and positive semi-definite that means G v = 0, friction does not matter, and such a v is the ray of the problem without it.
 *
 * Every sum is compared with the sum of the absolute values of its terms: in whatever units rows and columns are, what passes
 * is zero up to rounding. A matrix that is singular up to rounding may have a solution beyond 1e10 all the same. */
#include "cp/infeasible.h"

#include "cp/dense.h"
#include "cp/lemke.h"

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

/* The problem of the normal rows alone, row[i] the i-th of them, in units in which its diagonal is of size one: z = scale x. */
static void pose_normals(const ss_cp *problem, const int *row, const double *scale, lcp *l) {
  const size_t n = (size_t)problem->n;
  double largest = 0;
  for (int i = 0; i < l->n; i++) {
    for (int j = 0; j < l->n; j++)
      l->M[(size_t)i * (size_t)l->n + (size_t)j] =
          scale[i] * scale[j] * problem->G[(size_t)row[i] * n + (size_t)row[j]];
    l->q[i] = scale[i] * problem->g[row[i]];
    largest = fmax(largest, fabs(l->q[i]));
  }
  const double amplitude = inverse_power(largest);
  for (int i = 0; i < l->n; i++) l->q[i] *= amplitude;
}

/* Whether (G^T v)_n + mu |(G^T v)_t| <= 0 for every contact; v by the normal rows. */
static bool no_impulse_helps(const ss_cp *problem, const int *row, int count, const double *v) {
  static const double rounding = 1e-12;
  const size_t n = (size_t)problem->n;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const bool contact = block->kind == SS_BLOCK_FRICTION;
    double square = 0, terms = 0, normal = 0;
    for (int k = block->first; k < block->first + block->size; k++) {
      double sum = 0, size = 0;
      for (int i = 0; i < count; i++) {
        const double part = problem->G[(size_t)row[i] * n + (size_t)k] * v[i];
        sum += part;
        size += fabs(part);
      }
      const bool tangent = contact && k > block->first;
      if (!tangent && !(sum <= rounding * size)) return false;
      if (!tangent) normal = sum;
      square += tangent ? sum * sum : 0;
      terms += tangent ? block->mu * size : size;
    }
    if (contact && !(normal + block->mu * sqrt(square) <= rounding * terms)) return false;
  }
  return true;
}

/* How many normal rows there are, into `row`; 0 where there are other blocks than contacts. */
static int list_normals(const ss_cp *problem, int *row) {
  int count = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind != SS_BLOCK_FRICTION && block->kind != SS_BLOCK_NONNEGATIVE) return 0;
    if (block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_PYRAMID && block->size > 2) return 0;
    if (block->extra > 0) return 0;
    const int rows = block->kind == SS_BLOCK_FRICTION ? 1 : block->size;
    for (int i = 0; i < rows; i++) row[count++] = block->first + i;
  }
  return count;
}

ss_status contacts_infeasible(const ss_cp *problem, ss_cp_workspace *w, bool *proved, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *proved = false;
  int *row = SCRATCH(w, int, n);
  if (!row) return out_of_memory(error);
  const int count = list_normals(problem, row), limit = 100 + 12 * count;
  if (count == 0) return SS_OK;
  lcp l = {.n = count, .M = SCRATCH(w, double, (size_t)count *(size_t)count), .amplitude = 1};
  double *x = SCRATCH(w, double, 4 * (size_t)count);
  if (!l.M || !x) return out_of_memory(error);
  l.q = x + count;
  double *ray = l.q + count, *scale = ray + count;
  for (int i = 0; i < count; i++) {
    const double d = problem->G[(size_t)row[i] * (n + 1)];
    scale[i] = d > 0 ? ldexp(1, -ilogb(d) / 2) : 1;
  }
  pose_normals(problem, row, scale, &l);
  ss_outcome outcome;
  int pivots;
  const ss_status status = lemke(&l, NULL, limit, x, ray, w, &outcome, &pivots, error);
  if (status || outcome != SS_RAY || !lcp_infeasible(&l, ray)) return status;
  for (int i = 0; i < count; i++) ray[i] = fmax(ray[i], 0) * scale[i];
  *proved = no_impulse_helps(problem, row, count, ray);
  return SS_OK;
}
