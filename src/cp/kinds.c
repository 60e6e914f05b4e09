/* What kinds of blocks a problem has. */
#include "cp/reduce.h"
#include "cp/solver.h"

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

bool has_spatial_friction(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind == SS_BLOCK_FRICTION && problem->blocks[b].size > 2) return true;
  return false;
}

bool only_free(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind != SS_BLOCK_FREE) return false;
  return true;
}

bool some_free(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (block_is_free(&problem->blocks[b])) return true;
  return false;
}
