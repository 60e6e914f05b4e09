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
