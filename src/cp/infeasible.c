/* Farkas' lemma: where v >= 0, M^T v <= 0 and q . v < 0, every x >= 0 has v . (M x + q) <= q . v < 0, so that M x + q >= 0 is
 * impossible. The ray on which Lemke's method ends is such a v where M is copositive-plus (Cottle, Pang & Stone, theorem
 * 4.4.12); for other M it may be or not, so the judge is asked. */
#include "cp/infeasible.h"

#include "cp/judge_inside.h"

#include <math.h>

bool lcp_infeasible(const lcp *l, double *v, ss_cp_workspace *w) {
  static const double rounding = 1e-12;
  const ss_block rows = {.kind = SS_BLOCK_NONNEGATIVE, .size = l->n};
  const ss_cp posed = {.n = l->n, .n_blocks = 1, .G = l->M, .g = l->q, .blocks = &rows};
  double largest = 0;
  for (int i = 0; i < l->n; i++) largest = fmax(largest, fabs(v[i]));
  for (int i = 0; i < l->n; i++) {
    if (!(v[i] >= -rounding * largest)) return false;
    v[i] = fmax(v[i], 0);
  }
  const scratch_mark mark = scratch_now(w);
  double *memory = SCRATCH(w, double, 4 * (size_t)l->n);
  const bool proof = memory && judge_ray(&posed, v, memory) > 0;
  scratch_release(w, mark);
  return proof;
}
