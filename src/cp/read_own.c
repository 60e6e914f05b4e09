/* The project's own format (docs/problem-format.md), and plain LCPs: "n, M row by row, q" after a comment. */
#include "cp/storage.h"
#include "cp/tokens.h"

#include <limits.h>
#include <string.h>

static ss_status read_block(tokens *t, ss_block *block, ss_error *error) {
  static const char *const cones[] = {"polyhedral", "pyramid", "quadratic", "generated"};
  const bool is_free = tokens_word(t, "free");
  if (is_free || tokens_word(t, "nonnegative")) {
    block->kind = is_free ? SS_BLOCK_FREE : SS_BLOCK_NONNEGATIVE;
    return tokens_integer(t, &block->size) ? SS_OK : tokens_expected(t, error, "the size of the block");
  }
  block->kind = SS_BLOCK_BOX;
  block->size = 1;
  if (tokens_word(t, "box")) {
    if (tokens_bound(t, &block->lower) && tokens_bound(t, &block->upper)) return SS_OK;
    return tokens_expected(t, error, "box LOWER UPPER");
  }
  block->kind = SS_BLOCK_FRICTION;
  if (!tokens_word(t, "friction")) return tokens_expected(t, error, "free, nonnegative, box or friction");
  bool good = tokens_integer(t, &block->size), named = false;
  for (int c = 0; c < 4 && !named; c++) {
    named = tokens_word(t, cones[c]);
    if (named) block->cone = (ss_cone)c;
  }
  good = good && named && tokens_integer(t, &block->directions) && tokens_number(t, &block->mu) &&
         tokens_number(t, &block->extra);
  if (!good) return tokens_expected(t, error, "friction SIZE CONE DIRECTIONS MU EXTRA");
  if (block->cone != SS_CONE_GENERATED) return SS_OK;
  if (block->size < 2 || block->size > SS_FRICTION_ROWS || block->directions < 1 || block->directions > SHRT_MAX)
    return tokens_expected(t, error, "2 to 6 rows and at least one corner");
  double *corners;
  const ss_status status = tokens_vector(t, (size_t)block->directions * (size_t)(block->size - 1), &corners, error);
  block->generators = corners;
  return status;
}

/* The entries "i j x" of a matrix, ascending by rows and by columns. */
static ss_status read_entries(tokens *t, int rows, int cols, ss_sparse *out, ss_error *error) {
  int count;
  if (!tokens_integer(t, &count) || (size_t)count > strlen(t->at) / 6) /* "0 0 1 " and so on */
    return tokens_expected(t, error, "the number of entries, and the entries");
  int *start = SS_ARENA_ARRAY(t->arena, int, rows + 1), *col = SS_ARENA_ARRAY(t->arena, int, count + 1);
  double *value = SS_ARENA_ARRAY(t->arena, double, count + 1);
  if (!start || !col || !value) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  int row = 0;
  for (int k = 0; k < count; k++) {
    int i;
    if (!tokens_integer(t, &i) || !tokens_integer(t, &col[k]) || !tokens_number(t, &value[k]))
      return tokens_expected(t, error, "row, column and value of an entry");
    if (i < row) return tokens_fail(t, error, "the rows of the entries must ascend");
    if (i >= rows || col[k] >= cols) return tokens_fail(t, error, "the entry is outside the matrix");
    if (k > start[row] && i == row && col[k] <= col[k - 1])
      return tokens_fail(t, error, "the columns of a row must ascend");
    while (row < i) start[++row] = k;
  }
  while (row < rows) start[++row] = count;
  *out = (ss_sparse){rows, cols, start, col, value};
  return SS_OK;
}

/* J and R by their entries; J has m columns. */
static ss_status read_rows(tokens *t, int n, int m, ss_cp_operator *o, ss_error *error) {
  if (!tokens_word(t, "J")) return tokens_expected(t, error, "J");
  const ss_status status = read_entries(t, n, m, &o->J, error);
  return !status && tokens_word(t, "R") ? read_entries(t, n, n, &o->R, error) : status;
}

/* whole M; A by its entries, J and R. */
static ss_status read_whole(tokens *t, int n, ss_cp *problem, ss_error *error) {
  int m;
  ss_cp_operator *o = SS_ARENA_ARRAY(t->arena, ss_cp_operator, 1);
  if (!o) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (!tokens_integer(t, &m) || m < 0 || (size_t)m > strlen(t->at))
    return tokens_expected(t, error, "the rows of A, and A");
  if (!tokens_word(t, "A")) return tokens_expected(t, error, "A");
  *o = (ss_cp_operator){0};
  problem->factors = o;
  const ss_status status = read_entries(t, m, m, &o->whole, error);
  return status ? status : read_rows(t, n, m, o, error);
}

/* factors BODIES; per body its size and its block of A; J and R. */
static ss_status read_operator(tokens *t, int n, ss_cp *problem, ss_error *error) {
  int bodies;
  ss_cp_operator *o = SS_ARENA_ARRAY(t->arena, ss_cp_operator, 1);
  const size_t left = strlen(t->at) / 2; /* no more numbers can follow */
  if (!tokens_integer(t, &bodies) || (size_t)bodies > left)
    return tokens_expected(t, error, "the number of bodies, and the bodies");
  int *first = SS_ARENA_ARRAY(t->arena, int, bodies + 1);
  double *A = SS_ARENA_ARRAY(t->arena, double, left + 1), *at = A;
  if (!o || !first || !A) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int b = 0; b < bodies; b++) {
    int size;
    if (!tokens_integer(t, &size) || size < 1 || size > SS_CP_BODY_ROWS)
      return tokens_expected(t, error, "the size of a body's block, 1 to 12");
    first[b + 1] = first[b] + size;
    for (int k = 0; k < size * size; k++)
      if (at > A + left || !tokens_number(t, at++)) return tokens_expected(t, error, "a number of A");
  }
  *o = (ss_cp_operator){.n_bodies = bodies, .first = first, .A = A};
  problem->factors = o;
  return read_rows(t, n, first[bodies], o, error);
}

static ss_status read_form(tokens *t, int n, ss_cp *problem, ss_error *error) {
  if (tokens_word(t, "factors")) return read_operator(t, n, problem, error);
  if (tokens_word(t, "whole")) return read_whole(t, n, problem, error);
  if (tokens_word(t, "sparse")) {
    ss_sparse *G = SS_ARENA_ARRAY(t->arena, ss_sparse, 1);
    problem->sparse = G;
    return G ? read_entries(t, n, n, G, error) : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  double *G;
  if (!tokens_word(t, "G")) return tokens_expected(t, error, "G, sparse, factors or whole");
  const ss_status status = tokens_vector(t, (size_t)n * (size_t)n, &G, error);
  problem->G = G;
  return status;
}

/* A failure that was found in what has just been read. */
static ss_status place_failure(tokens *t, ss_status status, ss_error *error) {
  if (!status || !error) return status;
  char message[sizeof error->message];
  memcpy(message, error->message, sizeof message);
  return tokens_fail(t, error, message);
}

ss_status read_own(tokens *t, ss_cp_file *out, ss_error *error) {
  int version, n, n_blocks;
  if (!tokens_word(t, "stickslip-problem") || !tokens_integer(t, &version) || version != 1)
    return tokens_expected(t, error, "stickslip-problem 1");
  if (!tokens_word(t, "rows") || !tokens_integer(t, &n)) return tokens_expected(t, error, "rows N");
  if (!tokens_word(t, "blocks") || !tokens_integer(t, &n_blocks) || n_blocks > n)
    return tokens_expected(t, error, "blocks N, at most one per row");
  ss_block *blocks = SS_ARENA_ARRAY(t->arena, ss_block, n_blocks);
  if (!blocks) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_status status = SS_OK;
  int row = 0;
  for (int b = 0; b < n_blocks && !status; b++) {
    status = read_block(t, &blocks[b], error);
    blocks[b].first = row;
    if (!status) status = place_failure(t, cp_check_block(&blocks[b], b, row, n, error), error);
    row += blocks[b].size;
  }
  if (status) return status;
  if (row < n) return tokens_fail(t, error, "the blocks cover fewer rows than the problem has");
  double *g;
  out->problem = (ss_cp){.n = n, .n_blocks = n_blocks, .blocks = blocks};
  status = read_form(t, n, &out->problem, error);
  if (status) return status;
  if (!tokens_word(t, "g")) return tokens_expected(t, error, "g");
  status = tokens_vector(t, (size_t)n, &g, error);
  out->problem.g = g;
  if (!status && !tokens_end(t)) status = tokens_expected(t, error, "the end of the file");
  return status;
}

ss_status read_plain_lcp(tokens *t, ss_cp_file *out, ss_error *error) {
  int n;
  double *G, *g;
  if (!tokens_integer(t, &n)) return tokens_expected(t, error, "the number of rows");
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
