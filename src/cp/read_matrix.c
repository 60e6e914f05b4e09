/*     storage rows cols, then
 *     0 dense    rows cols again, all entries column by column
 *     1 block    blocks, block rows, block columns; cumulative row ends; column ends; f1 f2; f1 row pointers; f2 block
 *                column indices; for each block its running number and its entries column by column
 *     2 sparse   1 (triplets) or 2 (columns), then the text that CSparse prints */
#include "cp/read_matrix.h"

#include <stdio.h>
#include <string.h>

static ss_status read_columns(tokens *t, matrix *m, int row, int rows, int col, int cols, ss_error *error) {
  for (int j = col; j < col + cols; j++)
    for (int i = row; i < row + rows; i++) {
      double x;
      if (!tokens_number(t, &x) || !matrix_add(m, i, j, x)) return tokens_expected(t, error, "a matrix entry");
    }
  return SS_OK;
}

static ss_status read_dense(tokens *t, matrix *m, ss_error *error) {
  int rows, cols;
  if (!tokens_integer(t, &rows) || !tokens_integer(t, &cols) || rows != m->rows || cols != m->cols)
    return tokens_expected(t, error, "the size of the dense matrix again");
  const ss_status status = matrix_create(t, rows, cols, m, error);
  if (status) return status;
  return read_columns(t, m, 0, rows, 0, cols, error);
}

static ss_status read_integers(tokens *t, int count, int *values, int largest, ss_error *error) {
  for (int i = 0; i < count; i++)
    if (!tokens_integer(t, &values[i]) || values[i] > largest)
      return tokens_expected(t, error, "an index of the block matrix");
  return SS_OK;
}

static bool increasing(const int *ends, int count, int last) {
  for (int i = 0; i < count; i++)
    if (ends[i] <= (i ? ends[i - 1] : 0)) return false;
  return count == 0 ? last == 0 : ends[count - 1] == last;
}

/* Room for the entries of all blocks; the pointers are those of the file and may be wrong. */
static ss_status create_for_blocks(tokens *t, matrix *m, int rows, const int *start, const int *row_ends,
                                   const int *column, const int *col_ends, ss_error *error) {
  size_t entries = 0;
  for (int r = 0, k = 0; r < rows; r++)
    for (; k < start[r + 1]; k++) {
      const int c = column[k], high = row_ends[r] - (r ? row_ends[r - 1] : 0);
      entries += (size_t)high * (size_t)(col_ends[c] - (c ? col_ends[c - 1] : 0));
    }
  return matrix_create_entries(t, m->rows, m->cols, entries, m, error);
}

static ss_status read_blocks(tokens *t, matrix *m, block_partition *parts, ss_error *error) {
  int blocks, rows, cols, pointers, indices;
  if (!tokens_integer(t, &blocks) || !tokens_integer(t, &rows) || !tokens_integer(t, &cols) || rows > m->rows ||
      cols > m->cols)
    return tokens_expected(t, error, "the numbers of blocks, block rows and block columns");
  int *row_ends = SS_ARENA_ARRAY(t->arena, int, rows + 1), *col_ends = SS_ARENA_ARRAY(t->arena, int, cols + 1);
  if (!row_ends || !col_ends) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_status status = read_integers(t, rows, row_ends, m->rows, error);
  if (!status) status = read_integers(t, cols, col_ends, m->cols, error);
  if (status) return status;
  if (!increasing(row_ends, rows, m->rows) || !increasing(col_ends, cols, m->cols))
    return tokens_fail(t, error, "the block rows and columns do not add up");
  if (!tokens_integer(t, &pointers) || !tokens_integer(t, &indices) || pointers != rows + 1 || indices != blocks)
    return tokens_expected(t, error, "the numbers of row pointers and of indices");
  int *start = SS_ARENA_ARRAY(t->arena, int, pointers), *column = SS_ARENA_ARRAY(t->arena, int, indices);
  if (!start || !column) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  status = read_integers(t, pointers, start, blocks, error);
  if (!status) status = read_integers(t, indices, column, cols - 1, error);
  if (!status) status = create_for_blocks(t, m, rows, start, row_ends, column, col_ends, error);
  for (int r = 0, k = 0; r < rows && !status; r++)
    for (; k < start[r + 1] && !status; k++) {
      int number;
      if (!tokens_integer(t, &number) || number != k) return tokens_expected(t, error, "the number of a block");
      const int top = r ? row_ends[r - 1] : 0, c = column[k], left = c ? col_ends[c - 1] : 0;
      status = read_columns(t, m, top, row_ends[r] - top, left, col_ends[c] - left, error);
    }
  *parts = (block_partition){rows, row_ends};
  return status;
}

/* "triplet: R-by-C, nzmax: A nnz: B" or "R-by-C, nzmax: A nnz: B, 1-norm: N": the number after nnz:. */
static bool read_nonzeros(tokens *t, int *count) {
  char token[64];
  while (tokens_peek(t, token, sizeof token)) {
    const bool found = tokens_word(t, "nnz:");
    if (!found) (void)tokens_word(t, token);
    if (found) return tokens_peek(t, token, sizeof token) && sscanf(token, "%d", count) == 1;
  }
  return false;
}

static ss_status read_entry(tokens *t, matrix *m, int i, int j, ss_error *error) {
  double x;
  if (i >= m->rows || j >= m->cols || !tokens_word(t, ":") || !tokens_number(t, &x) || !matrix_add(m, i, j, x))
    return tokens_expected(t, error, "a sparse entry");
  return SS_OK;
}

static ss_status read_sparse(tokens *t, matrix *m, ss_error *error) {
  int origin, count = 0, i, j = 0;
  if (!tokens_integer(t, &origin) || (origin != 1 && origin != 2) || !tokens_word(t, "CSparse"))
    return tokens_expected(t, error, "a sparse matrix as CSparse prints it");
  tokens_skip_line(t);
  if (!read_nonzeros(t, &count)) return tokens_expected(t, error, "the number of nonzeros");
  tokens_skip_line(t);
  if (count < 0 || (size_t)count > strlen(t->at)) return tokens_fail(t, error, "there are fewer entries than nonzeros");
  ss_status status = matrix_create_entries(t, m->rows, m->cols, (size_t)count, m, error);
  for (int k = 0; k < count && !status; k++) {
    while (origin == 2 && tokens_word(t, "col")) {
      if (!tokens_integer(t, &j)) return tokens_expected(t, error, "a column number");
      tokens_skip_line(t);
    }
    if (!tokens_integer(t, &i) || (origin == 1 && !tokens_integer(t, &j)))
      return tokens_expected(t, error, "the indices of a sparse entry");
    status = read_entry(t, m, i, j, error);
  }
  while (!status && origin == 2 && tokens_word(t, "col")) tokens_skip_line(t); /* empty columns at the end */
  return status;
}

static ss_status read_any(tokens *t, matrix *out, block_partition *parts, ss_error *error) {
  int storage, rows, cols;
  if (!tokens_integer(t, &storage) || storage > 2 || !tokens_integer(t, &rows) || !tokens_integer(t, &cols))
    return tokens_expected(t, error, "storage, rows and columns of a matrix");
  *out = (matrix){.rows = rows, .cols = cols};
  if (storage == 0) return read_dense(t, out, error);
  return storage == 1 ? read_blocks(t, out, parts, error) : read_sparse(t, out, error);
}

ss_status read_matrix(tokens *t, matrix *out, ss_error *error) {
  block_partition parts;
  return read_any(t, out, &parts, error);
}

ss_status read_block_matrix(tokens *t, matrix *out, block_partition *rows, ss_error *error) {
  *rows = (block_partition){0};
  const ss_status status = read_any(t, out, rows, error);
  if (!status && !rows->ends) return tokens_expected(t, error, "a block matrix");
  return status;
}
