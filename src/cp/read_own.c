/* The project's own format (docs/problem-format.md), and plain LCPs: "n, M row by row, q" after a comment. */
#include "cp/tokens.h"

static ss_status read_block(tokens *t, ss_block *block, ss_error *error) {
  static const char *const cones[] = {"polyhedral", "pyramid", "quadratic"};
  const bool is_free = tokens_word(t, "free");
  if (is_free || tokens_word(t, "nonnegative")) {
    block->kind = is_free ? SS_BLOCK_FREE : SS_BLOCK_NONNEGATIVE;
    return tokens_integer(t, &block->size) ? SS_OK : tokens_fail(t, error, "the size of the block was expected");
  }
  block->kind = SS_BLOCK_BOX;
  block->size = 1;
  if (tokens_word(t, "box")) {
    if (tokens_number(t, &block->lower) && tokens_number(t, &block->upper)) return SS_OK;
    return tokens_fail(t, error, "a box has a lower and an upper bound");
  }
  block->kind = SS_BLOCK_FRICTION;
  if (!tokens_word(t, "friction")) return tokens_fail(t, error, "free, nonnegative, box or friction was expected");
  bool good = tokens_integer(t, &block->size), named = false;
  for (int c = 0; c < 3 && !named; c++) {
    named = tokens_word(t, cones[c]);
    if (named) block->cone = (ss_cone)c;
  }
  good = good && named && tokens_integer(t, &block->directions) && tokens_number(t, &block->mu) &&
         tokens_number(t, &block->extra);
  return good ? SS_OK : tokens_fail(t, error, "a friction block is: friction SIZE CONE DIRECTIONS MU EXTRA");
}

ss_status read_own(tokens *t, ss_cp_file *out, ss_error *error) {
  int version, n, n_blocks;
  if (!tokens_word(t, "stickslip-problem") || !tokens_integer(t, &version) || version != 1)
    return tokens_fail(t, error, "stickslip-problem 1 was expected");
  if (!tokens_word(t, "rows") || !tokens_integer(t, &n)) return tokens_fail(t, error, "rows N was expected");
  if (!tokens_word(t, "blocks") || !tokens_integer(t, &n_blocks) || n_blocks > n)
    return tokens_fail(t, error, "blocks N was expected, at most one per row");
  ss_block *blocks = SS_ARENA_ARRAY(t->arena, ss_block, n_blocks);
  if (!blocks) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_status status = SS_OK;
  int row = 0;
  for (int b = 0; b < n_blocks && !status; b++) {
    status = read_block(t, &blocks[b], error);
    if (!status && blocks[b].size > n - row)
      status = tokens_fail(t, error, "the blocks have more rows than the problem");
    blocks[b].first = row;
    row += blocks[b].size;
  }
  if (status) return status;
  double *G, *g;
  if (!tokens_word(t, "G")) return tokens_fail(t, error, "G was expected");
  status = tokens_vector(t, (size_t)n * (size_t)n, &G, error);
  if (status) return status;
  if (!tokens_word(t, "g")) return tokens_fail(t, error, "g was expected");
  status = tokens_vector(t, (size_t)n, &g, error);
  out->problem = (ss_cp){.n = n, .n_blocks = n_blocks, .G = G, .g = g, .blocks = blocks};
  return status;
}

ss_status read_plain_lcp(tokens *t, ss_cp_file *out, ss_error *error) {
  int n;
  double *G, *g;
  if (!tokens_integer(t, &n)) return tokens_fail(t, error, "the number of rows was expected");
  ss_status status = tokens_vector(t, (size_t)n * (size_t)n, &G, error);
  if (!status) status = tokens_vector(t, (size_t)n, &g, error);
  if (status) return status;
  ss_block *block = SS_ARENA_ARRAY(t->arena, ss_block, 1);
  if (!block) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  *block = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n};
  out->problem = (ss_cp){.n = n, .n_blocks = n > 0, .G = G, .g = g, .blocks = block};
  out->kind = "lcp";
  return SS_OK;
}
