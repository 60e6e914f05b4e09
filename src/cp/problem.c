/* Checks and names of a complementarity problem. */
#include "cp/storage.h"

#include <limits.h>
#include <math.h>

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
