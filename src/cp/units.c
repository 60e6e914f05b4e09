/* The natural residual min(z, w) is an absolute number, divided by 1 + |g|: with speeds of 1e-12, or impulses that are so small
 * beside the speeds (micrograms), any z passes for a solution. Such problems are solved in units in which both are of size one, z = a z', w = b w':
 *
 *     w' = (a / b) G z' + g / b,   bounds and extra divided by a.
 *
 * a and b are powers of two, which rounds nothing. Large numbers do no harm and stay as they are. Operators stay as they are too:
 * they are large, and their masses those of many bodies. */
#include "cp/units.h"

#include "cp/dense.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

static const double smallest_usual = 0x1p-17;

static double diagonal(const ss_cp *problem, int i) {
  if (problem->G) return problem->G[(size_t)i * ((size_t)problem->n + 1)];
  return sparse_diagonal(problem->sparse, i);
}

/* e with 2^(e - 1) <= x < 2^e, for x > 0. */
static int exponent_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52) - 1022;
  if (exponent == -1022) (void)frexp(x, &exponent); /* smaller than normal numbers are */
  return exponent;
}

bool units_needed(const ss_cp *problem, cp_units *out) {
  if (!problem->G && !problem->sparse) return false;
  double largest = 0;
  int64_t exponents = 0;
  int count = 0;
  for (int i = 0; i < problem->n; i++) {
    const double d = diagonal(problem, i), size = fabs(problem->g[i]);
    largest = size > largest ? size : largest;
    if (!(d > 0)) continue;
    exponents += exponent_of(d);
    count++;
  }
  if (largest == 0 || count == 0) return false;
  out->w = 1 / inverse_power(largest);
  out->z = out->w / ldexp(1, (int)round((double)exponents / count));
  const double factor = out->z / out->w;
  if (!(out->z > 0 && factor > 0 && isfinite(out->z) && isfinite(factor))) return false;
  return (out->w < out->z ? out->w : out->z) < smallest_usual * (1 + largest);
}

ss_status units_change(const ss_cp *problem, cp_units u, ss_cp_workspace *w, ss_cp *out, ss_error *error) {
  const size_t n = (size_t)problem->n, count = problem->G ? n * n : (size_t)problem->sparse->start[n];
  double *value = SCRATCH(w, double, count), *g = SCRATCH(w, double, n);
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks);
  ss_sparse *sparse = SCRATCH(w, ss_sparse, 1);
  if (!value || !g || !blocks || !sparse) return out_of_memory(error);
  const double *from = problem->G ? problem->G : problem->sparse->value;
  const double factor = u.z / u.w;
  for (size_t i = 0; i < count; i++) value[i] = factor * from[i];
  for (size_t i = 0; i < n; i++) g[i] = problem->g[i] / u.w;
  for (int b = 0; b < problem->n_blocks; b++) {
    blocks[b] = problem->blocks[b];
    blocks[b].lower /= u.z;
    blocks[b].upper /= u.z;
    blocks[b].extra /= u.z;
  }
  double *offset = problem->compliance_offset ? SCRATCH(w, double, n) : NULL;
  if (problem->compliance_offset && !offset) return out_of_memory(error);
  for (size_t i = 0; i < n && offset; i++) offset[i] = problem->compliance_offset[i] / u.z;
  *out = *problem;
  out->compliance_offset = offset;
  out->g = g;
  out->blocks = blocks;
  if (problem->G) {
    out->G = value;
  } else {
    *sparse = *problem->sparse;
    sparse->value = value;
    out->sparse = sparse;
  }
  return SS_OK;
}
