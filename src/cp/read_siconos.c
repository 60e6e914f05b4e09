/* Files of the Siconos numerics component: numbers without any key word, so that the sizes must tell which kind of
 * problem it is. Text after the last expected number is a comment. */
#include "cp/joined.h"
#include "cp/read_matrix.h"

#include <string.h>

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
