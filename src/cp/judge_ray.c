/* The judge of proofs: whether y shows that a problem has no solution. Shares no code with the solvers.
 *
 * With c = G^T y every z has y . (G z + g) = c . z + g . y. If the largest value of that over the z that the blocks allow is
 * negative, while their w all have y . w >= 0, no z and w belong to each other. Block by block the largest value of c . z is
 *
 *     free            0 where c = 0, else infinite
 *     nonnegative     0 where c <= 0
 *     box             c times the bound that c points to, if there is one
 *     friction        mu extra S*(c_t) where c_n + mu S*(c_t) <= 0, S* the support function of the set S
 *
 * Every sum is compared with the sum of the absolute values of its terms: what passes is zero up to rounding. */
#include "cp/judge_inside.h"

#include "core/arena.h"

#include <math.h>

static const double rounding = 1e-12, clearly = 1e-8;

/* c = G^T y and the sizes of its terms; an operator's columns are asked for one by one. */
static void columns(const ss_cp *problem, const double *y, double *c, double *terms, double *z, double *w) {
  const int n = problem->n;
  for (int j = 0; j < n; j++) c[j] = terms[j] = z[j] = 0;
  for (int i = 0; i < n && problem->sparse; i++)
    for (int k = problem->sparse->start[i]; k < problem->sparse->start[i + 1]; k++) {
      const double part = problem->sparse->value[k] * y[i];
      c[problem->sparse->col[k]] += part;
      terms[problem->sparse->col[k]] += fabs(part);
    }
  for (int i = 0; i < n && problem->G; i++)
    for (int j = 0; j < n && y[i] != 0; j++) {
      const double part = problem->G[(size_t)i * (size_t)n + (size_t)j] * y[i];
      c[j] += part;
      terms[j] += fabs(part);
    }
  for (int j = 0; j < n && !problem->sparse && !problem->G; j++) {
    z[j] = 1;
    (void)ss_cp_judge(problem, z, w);
    z[j] = 0;
    for (int i = 0; i < n; i++) {
      const double part = (w[i] - problem->g[i]) * y[i];
      c[j] += part;
      terms[j] += (fabs(w[i]) + fabs(problem->g[i])) * fabs(y[i]);
    }
  }
}

/* Whether y . w >= 0 for all w that a row allows, where w is bounded from below, from above, or is 0. */
static bool sign_fits(double y, bool below, bool above) {
  return below || above ? y == 0 || (y > 0 ? !above : !below) : true;
}

/* The largest c x for lower <= x <= upper; HUGE_VAL: there is none. */
static double largest_on(double c, double terms, double lower, double upper) {
  const double bound = c > 0 ? upper : lower;
  if (fabs(c) <= rounding * terms) return isfinite(bound) ? fmax(c * bound, 0) : 0;
  return isfinite(bound) ? c * bound : HUGE_VAL;
}

static double largest_friction(const ss_block *block, const double *y, const double *c, const double *terms) {
  double size = terms[0];
  if (!(y[0] >= 0)) return HUGE_VAL;
  for (int i = 1; i < block->size; i++) {
    if (y[i] != 0) return HUGE_VAL; /* tangential slacks may have any sign */
    size += block->mu * terms[i];
  }
  const double reach = block->mu > 0 ? block->mu * friction_support(block, c + 1) : 0;
  return c[0] + reach <= rounding * size ? block->extra * reach : HUGE_VAL;
}

/* The largest c . z over one block, HUGE_VAL where it is not bounded or y does not fit its w. */
static double largest_of(const ss_block *block, const double *y, const double *c, const double *terms) {
  if (block->kind == SS_BLOCK_FRICTION) return largest_friction(block, y, c, terms);
  double lower = -HUGE_VAL, upper = HUGE_VAL, sum = 0;
  if (block->kind == SS_BLOCK_NONNEGATIVE) lower = 0;
  if (block->kind == SS_BLOCK_BOX) {
    lower = block->lower;
    upper = block->upper;
  }
  for (int i = 0; i < block->size; i++) {
    if (!sign_fits(y[i], isfinite(lower), isfinite(upper))) return HUGE_VAL;
    sum += largest_on(c[i], terms[i], lower, upper);
  }
  return sum;
}

double judge_ray(const ss_cp *problem, const double *y, double *memory) {
  const size_t n = (size_t)problem->n;
  double *c = memory, *terms = c + n, sum = 0, size = 0;
  columns(problem, y, c, terms, terms + n, terms + 2 * n);
  for (size_t i = 0; i < n; i++) {
    sum += problem->g[i] * y[i];
    size += fabs(problem->g[i] * y[i]);
  }
  for (int b = 0; b < problem->n_blocks; b++) {
    const int first = problem->blocks[b].first;
    const double most = largest_of(&problem->blocks[b], y + first, c + first, terms + first);
    sum += most;
    size += fabs(most);
  }
  return sum < -clearly * size && size < HUGE_VAL ? -sum / size : 0;
}

double ss_cp_judge_ray(const ss_cp *problem, const double *y) {
  double *memory = problem->apply ? NULL : ss_alloc(sizeof *memory * (4 * (size_t)problem->n + 1));
  if (!memory) return 0; /* what cannot be judged is not accepted */
  const double margin = judge_ray(problem, y, memory);
  ss_free(memory);
  return margin;
}
