/* Checks and names of a complementarity problem. */
#include "cp/storage.h"

#include "la/dense.h"
#include "cp/reduce.h"
#include "cp/solver.h"

#include <stickslip/cp.h>

#include <limits.h>
#include <math.h>
#include <string.h>

const char *ss_outcome_name(ss_outcome outcome) {
  static const char *const names[] = {"solved", "limit", "ray", "stalled", "not-admitted"};
  return (int)outcome >= 0 && (int)outcome <= SS_NOT_ADMITTED ? names[outcome] : "unknown";
}

ss_cp_options ss_cp_options_default(void) { return (ss_cp_options){.solver = "auto", .tolerance = 1e-10}; }

static ss_status check_friction(const ss_block *block, int b, ss_error *error) {
  const int most = block->cone == SS_CONE_POLYHEDRAL ? 3 : SS_FRICTION_ROWS;
  if (block->size < 2 || block->size > most)
    return ss_fail(error, SS_ERROR_INPUT, "block %d: this friction block has 2 to %d rows, not %d", b, most,
                   block->size);
  if (!(block->mu >= 0) || !isfinite(block->mu))
    return ss_fail(error, SS_ERROR_INPUT, "block %d: the friction coefficient must be finite and not negative", b);
  if (!(block->extra >= 0) || !isfinite(block->extra))
    return ss_fail(error, SS_ERROR_INPUT, "block %d: the extra normal impulse must be finite and not negative", b);
  if ((int)block->cone < 0 || block->cone > SS_CONE_GENERATED)
    return ss_fail(error, SS_ERROR_INPUT, "block %d: unknown cone", b);
  if (block->size == 3 && block->cone == SS_CONE_POLYHEDRAL &&
      (block->directions < 4 || block->directions % 2 || block->directions > SHRT_MAX))
    return ss_fail(error, SS_ERROR_INPUT, "block %d: directions must be even and at least 4, not %d", b,
                   block->directions);
  if (block->cone != SS_CONE_GENERATED) return SS_OK;
  if (block->directions < 1 || block->directions > SHRT_MAX || !block->generators)
    return ss_fail(error, SS_ERROR_INPUT, "block %d: a generated set has at least one corner", b);
  for (int i = 0; i < block->directions * (block->size - 1); i++)
    if (!isfinite(block->generators[i])) return ss_fail(error, SS_ERROR_INPUT, "block %d: a corner is not finite", b);
  return SS_OK;
}

ss_status cp_check_block(const ss_block *block, int b, int first, int n, ss_error *error) {
  if ((int)block->kind < 0 || block->kind > SS_BLOCK_FRICTION)
    return ss_fail(error, SS_ERROR_INPUT, "block %d: unknown kind", b);
  if (block->first != first || block->size < 1 || block->size > n - first)
    return ss_fail(error, SS_ERROR_INPUT, "block %d: rows %d + %d, expected to start at row %d of %d", b, block->first,
                   block->size, first, n);
  if (block->kind == SS_BLOCK_BOX &&
      (block->size != 1 || !(block->lower <= block->upper) || block->lower == HUGE_VAL || block->upper == -HUGE_VAL))
    return ss_fail(error, SS_ERROR_INPUT, "block %d: a box has one row and lower <= upper", b);
  return block->kind == SS_BLOCK_FRICTION ? check_friction(block, b, error) : SS_OK;
}

ss_status ss_cp_validate(const ss_cp *problem, ss_error *error) {
  const int n = problem->n;
  if (n < 0 || problem->n_blocks < 0) return ss_fail(error, SS_ERROR_INPUT, "negative size");
  const int forms = (problem->G != NULL) + (problem->sparse != NULL) + (problem->factors != NULL);
  if ((n && (!forms || !problem->g)) || (problem->n_blocks && !problem->blocks))
    return ss_fail(error, SS_ERROR_INPUT, "missing array");
  if (forms > 1) return ss_fail(error, SS_ERROR_INPUT, "the matrix is given in more than one form");
  int first = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_status status = cp_check_block(&problem->blocks[b], b, first, n, error);
    if (status) return status;
    first += problem->blocks[b].size;
  }
  if (first != n) return ss_fail(error, SS_ERROR_INPUT, "the blocks cover %d of %d rows", first, n);
  if (problem->sparse) {
    const ss_status status = storage_check(problem->sparse, n, n, "G", error);
    if (status) return status;
  }
  if (problem->factors) {
    const ss_status status = storage_check_operator(problem->factors, n, error);
    if (status) return status;
  }
  for (int i = 0; i < n; i++) {
    if (!isfinite(problem->g[i])) return ss_fail(error, SS_ERROR_INPUT, "g[%d] is not finite", i);
    for (int j = 0; j < n && problem->G; j++)
      if (!isfinite(problem->G[(size_t)i * (size_t)n + (size_t)j]))
        return ss_fail(error, SS_ERROR_INPUT, "G[%d, %d] is not finite", i, j);
  }
  return SS_OK;
}

/* Names for what a solution says: the states of rows and contacts, and the words of the diagnosis. */

const char *ss_cp_state_name(ss_cp_state state) {
  static const char *const names[] = {"open", "active", "lower", "between", "upper", "sticks", "slides"};
  return (int)state >= 0 && state <= SS_STATE_SLIDES ? names[state] : "unknown";
}

const char *ss_answer_name(ss_answer answer) { return answer == SS_YES ? "yes" : answer == SS_NO ? "no" : "unknown"; }

const char *ss_solution_set_name(ss_solution_set set) {
  static const char *const names[] = {"unknown", "none", "at-least-one", "one", "several"};
  return (int)set >= 0 && set <= SS_SET_SEVERAL ? names[set] : "unknown";
}

static ss_cp_state friction_state(const ss_block *block, const double *z, const double *w, double still) {
  if (!(z[0] + block->extra > 0)) return SS_STATE_OPEN;
  for (int i = 1; i < block->size; i++)
    if (fabs(w[i]) > still) return SS_STATE_SLIDES;
  return SS_STATE_STICKS;
}

int ss_cp_states(const ss_cp *problem, const double *z, const double *w, ss_cp_state *states) {
  double largest = 0;
  int count = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fmax(fabs(w[i]), fabs(problem->g[i])));
  const double still = 1e-9 * largest;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int i = block->first;
    if (block->kind == SS_BLOCK_FRICTION)
      states[count++] = friction_state(block, z + i, w + i, still);
    else if (block->kind == SS_BLOCK_BOX)
      states[count++] = z[i] <= block->lower   ? SS_STATE_LOWER
                        : z[i] >= block->upper ? SS_STATE_UPPER
                                               : SS_STATE_BETWEEN;
    for (int k = i; block->kind == SS_BLOCK_NONNEGATIVE && k < i + block->size; k++)
      states[count++] = z[k] > 0 ? SS_STATE_ACTIVE : SS_STATE_OPEN;
  }
  return count;
}

/* What kinds of blocks a problem has. */

bool has_friction(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind == SS_BLOCK_FRICTION && problem->blocks[b].mu > 0) return true;
  return false;
}

bool has_disc(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    if (block->kind == SS_BLOCK_FRICTION && block->cone == SS_CONE_QUADRATIC && block->size > 2 && block->mu > 0)
      return true;
  }
  return false;
}

bool some_free(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (block_is_free(&problem->blocks[b])) return true;
  return false;
}

bool is_large_and_sparse(const ss_cp *problem) {
  enum { LARGE_ROWS = 200 };
  static const double dense_share = 0.35; /* of entries not zero */
  if (problem->n < LARGE_ROWS) return false;
  if (problem->factors || (problem->sparse && (has_friction(problem) || problem->n > SS_CP_DENSE_ROWS))) return true;
  const size_t count = (size_t)problem->n * (size_t)problem->n;
  size_t nonzeros = problem->sparse ? (size_t)problem->sparse->start[problem->n] : 0;
  for (size_t i = 0; problem->G && i < count; i++) nonzeros += problem->G[i] != 0;
  return (double)nonzeros < dense_share * (double)count;
}

/* The natural residual min(z, w) is an absolute number, divided by 1 + |g|: with speeds of 1e-12, or impulses that are so small
 * beside the speeds (micrograms), any z passes for a solution. Such problems are solved in units in which both are of size one, z = a z', w = b w':
 *
 *     w' = (a / b) G z' + g / b,   bounds and extra divided by a.
 *
 * a and b are powers of two, which rounds nothing. Large numbers do no harm and stay as they are. Operators stay as they are too:
 * they are large, and their masses those of many bodies. */

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
