/* Files of the Siconos numerics component: numbers without any key word, so that the sizes must tell which kind of
 * problem it is. Text after the last expected number is a comment. */
#include "problem_file/global_friction.h"

#include <stdio.h>
#include <string.h>

/*     storage rows cols, then
 *     0 dense    rows cols again, all entries column by column
 *     1 block    blocks, block rows, block columns; cumulative row ends; column ends; f1 f2; f1 row pointers; f2 block
 *                column indices; for each block its running number and its entries column by column
 *     2 sparse   1 (triplets) or 2 (columns), then the text that CSparse prints */

typedef struct block_partition {
  int count;
  int *ends; /* [count] row after the last one of each block */
} block_partition;

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

static ss_status read_matrix(tokens *t, matrix *out, ss_error *error) {
  block_partition parts;
  return read_any(t, out, &parts, error);
}

static ss_status read_block_matrix(tokens *t, matrix *out, block_partition *rows, ss_error *error) {
  *rows = (block_partition){0};
  const ss_status status = read_any(t, out, rows, error);
  if (!status && !rows->ends) return tokens_expected(t, error, "a block matrix");
  return status;
}

static ss_status finish_rows(tokens *t, const matrix *M, const double *q, int n_blocks, ss_cp_file *out,
                             ss_block **blocks, ss_error *error) {
  double *G, *g;
  if (!M->a && M->rows) { /* large: by its rows */
    ss_sparse *rows = SS_ARENA_ARRAY(t->arena, ss_sparse, 1);
    *blocks = SS_ARENA_ARRAY(t->arena, ss_block, n_blocks);
    if (!rows || !*blocks) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
    out->problem = (ss_cp){.n = M->rows, .n_blocks = n_blocks, .g = q, .blocks = *blocks, .sparse = rows};
    return M->rows == M->cols ? matrix_rows(t, M, rows, error) : tokens_fail(t, error, "the matrix is not square");
  }
  const ss_status status = file_problem(t, M->rows, n_blocks, out, &G, &g, blocks, error);
  if (status) return status;
  const size_t n = (size_t)M->rows;
  if (n) memcpy(G, M->a, sizeof *G * n * n);
  if (n) memcpy(g, q, sizeof *g * n);
  return SS_OK;
}

/* n, M, q, and for relays lower and upper bounds. */
static ss_status read_lcp(tokens *t, ss_cp_file *out, ss_error *error) {
  int n;
  matrix M;
  double *q, *lower, *upper;
  ss_block *blocks;
  (void)tokens_integer(t, &n);
  ss_status status = read_matrix(t, &M, error);
  if (status) return status;
  const size_t rows = (size_t)n, left = tokens_numbers_left(t, 3 * rows);
  const bool relay =
      n > 0 && left > rows + 1 && left != 2 * rows; /* q alone, or with a remark or its solution: an LCP */
  status = tokens_vector(t, (size_t)n, &q, error);
  if (!status) status = finish_rows(t, &M, q, relay ? n : n > 0, out, &blocks, error);
  if (status) return status;
  out->kind = relay ? "box-lcp" : "lcp";
  if (!relay) {
    if (n) blocks[0] = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .size = n};
    return SS_OK;
  }
  status = tokens_bounds(t, rows, &lower, error);
  if (!status) status = tokens_bounds(t, rows, &upper, error);
  for (int i = 0; !status && i < n; i++)
    blocks[i] = (ss_block){.kind = SS_BLOCK_BOX, .first = i, .size = 1, .lower = lower[i], .upper = upper[i]};
  return status;
}

/* s1 s2 n m, block ends and flags, M, q; what follows repeats the problem in another form and is not reliable. M has m
 * complementarity rows at its end; the equations before them need not be as many as the n free variables: the smaller
 * number is made up for by variables that occur nowhere, or by equations 0 = 0. */
static ss_status read_mixed(tokens *t, ss_cp_file *out, ss_error *error) {
  int skip, n = 0, m = 0;
  matrix M;
  double *q, *G, *g;
  ss_block *blocks;
  for (int i = 0; i < 2; i++) (void)tokens_integer(t, &skip);
  (void)(tokens_integer(t, &n) && tokens_integer(t, &m));
  for (int i = 0; i < 5; i++) (void)tokens_integer(t, &skip);
  ss_status status = read_matrix(t, &M, error);
  if (!status) status = tokens_vector(t, (size_t)M.rows, &q, error);
  if (status) return status;
  if (!M.a) return tokens_fail(t, error, "too large for a mixed problem");
  const int equations = M.rows - m;
  if (M.cols != n + m || equations < 0)
    return tokens_fail(t, error, "the matrix does not fit the numbers of variables");
  const int n_free = n > equations ? n : equations, size = n_free + m;
  status = file_problem(t, size, (n_free > 0) + (m > 0), out, &G, &g, &blocks, error);
  if (status) return status;
  for (int i = 0; i < M.rows; i++) {
    const size_t row = (size_t)(i < equations ? i : n_free + i - equations);
    g[row] = q[i];
    for (int j = 0; j < M.cols; j++)
      G[row * (size_t)size + (size_t)(j < n ? j : n_free + j - n)] = M.a[(size_t)i * (size_t)M.cols + (size_t)j];
  }
  if (n_free) blocks[0] = (ss_block){.kind = SS_BLOCK_FREE, .size = n_free};
  if (m) blocks[n_free > 0] = (ss_block){.kind = SS_BLOCK_NONNEGATIVE, .first = n_free, .size = m};
  out->kind = "mixed-lcp";
  return SS_OK;
}

/* "2 ROWS COLUMNS ORIGIN CSparse ...": another matrix in sparse form. */
static bool sparse_matrix_follows(const tokens *t) {
  tokens copy = *t;
  int number;
  for (int k = 0; k < 4; k++)
    if (!tokens_integer(&copy, &number)) return false;
  return tokens_word(&copy, "CSparse");
}

/* d, contacts, W, q, mu;  or  d, contacts, M, H, f, b, mu;  with rolling friction (d = 5) a second mu. */
static ss_status read_contacts(tokens *t, ss_cp_file *out, ss_error *error) {
  int d, contacts;
  matrix M, H;
  double *q, *b, *mu, *rolling = NULL;
  (void)(tokens_integer(t, &d) && tokens_integer(t, &contacts));
  ss_status status = read_matrix(t, &M, error);
  if (status) return status;
  const size_t rows = (size_t)d * (size_t)contacts;
  const size_t most = rows + (size_t)(d == 5 ? 2 : 1) * (size_t)contacts + 1; /* numbers after W in the local form */
  const bool local = (size_t)M.rows == rows && !sparse_matrix_follows(t) && tokens_numbers_left(t, most + 1) <= most;
  if (!local) status = read_matrix(t, &H, error);
  if (!status) status = tokens_vector(t, (size_t)M.rows, &q, error);
  if (!status && !local) status = tokens_vector(t, rows, &b, error);
  if (!status) status = tokens_coefficients(t, (size_t)contacts, &mu, error);
  if (!status && d == 5) status = tokens_coefficients(t, (size_t)contacts, &rolling, error);
  if (status) return status;
  if (local && d == 5) return file_rolling(t, contacts, &M, q, mu, rolling, out, error);
  if (local) return file_friction(t, d, contacts, &M, q, mu, out, error);
  const global_contacts parts = {
      .d = d, .contacts = contacts, .M = &M, .H = &H, .f = q, .w = b, .mu = mu, .mu_rolling = rolling};
  return file_global_friction(t, &parts, out, error);
}

/* Block matrix, q, then the type of each block row: 2 free, 0 nonnegative, 4 friction with its mu. */
static ss_status read_mechanical(tokens *t, ss_cp_file *out, ss_error *error) {
  matrix M;
  block_partition parts;
  double *q;
  ss_block *blocks;
  ss_status status = read_block_matrix(t, &M, &parts, error);
  if (!status) status = tokens_vector(t, (size_t)M.rows, &q, error);
  if (!status) status = finish_rows(t, &M, q, parts.count, out, &blocks, error);
  if (status) return status;
  int first = 0;
  for (int b = 0; b < parts.count; b++) {
    int type = -1;
    ss_block *block = &blocks[b];
    *block = (ss_block){.first = first, .size = parts.ends[b] - first, .cone = SS_CONE_QUADRATIC};
    first = parts.ends[b];
    if (!tokens_integer(t, &type)) return tokens_expected(t, error, "the type of a block");
    if (type != 0 && type != 2 && type != 4)
      return ss_fail(error, SS_ERROR_UNSUPPORTED, "blocks of type %d in a mechanical problem", type);
    block->kind = type == 0 ? SS_BLOCK_NONNEGATIVE : type == 2 ? SS_BLOCK_FREE : SS_BLOCK_FRICTION;
    if (type == 4 && !tokens_coefficient(t, &block->mu))
      return tokens_expected(t, error, "a friction coefficient, not negative");
  }
  out->kind = "mechanical";
  return SS_OK;
}

enum { HEAD = 9 };

static bool looks_mixed(const int *h, int count) {
  return count == HEAD && h[0] <= 1 && h[1] <= 1 && h[4] == 0 && h[5] == h[2] && h[6] == h[2] + h[3] && h[7] == 0 &&
         h[8] == 1;
}
static bool looks_lcp(const int *h, int count) { return count >= 4 && h[1] <= 2 && h[2] == h[0] && h[3] == h[0]; }
static bool looks_contacts(const int *h, int count) {
  return count >= 5 && (h[0] == 2 || h[0] == 3 || h[0] == 5) && h[2] <= 2 && h[3] == h[4];
}
static bool looks_mechanical(const int *h, int count) {
  return count >= 6 && h[0] == 1 && h[1] == h[2] && h[4] == h[5];
}

ss_status read_siconos(tokens *t, ss_cp_file *out, ss_error *error) {
  tokens ahead = *t;
  int head[HEAD] = {0}, count = 0;
  while (count < HEAD && tokens_integer(&ahead, &head[count])) count++;
  if (looks_mixed(head, count)) return read_mixed(t, out, error);
  const bool sparse_contacts = count == 6 && tokens_word(&ahead, "CSparse"); /* an LCP has one number less before it */
  if (looks_lcp(head, count) && !sparse_contacts) return read_lcp(t, out, error);
  if (looks_contacts(head, count)) return read_contacts(t, out, error);
  if (looks_mechanical(head, count)) return read_mechanical(t, out, error);
  if (count < HEAD && !tokens_end(&ahead)) *t = ahead; /* where the sizes end */
  return tokens_expected(t, error, "a problem file of a known format (docs/problem-format.md)");
}
