/* Files of complementarity problems: the first bytes decide the format. Problems are written in the project's own one. */
#include "problem_file/tokens.h"

#include "cp/storage.h"
#include "io/output_file.h"
#include "io/text_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* The project's own format (docs/problem-format.md), and plain LCPs: "n, M row by row, q" after a comment. */

static const char *const cones[] = {"polyhedral", "pyramid", "quadratic", "generated"};

static ss_status read_block(tokens *t, ss_block *block, ss_error *error) {
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

static ss_status read_own(tokens *t, ss_cp_file *out, ss_error *error) {
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

static ss_status read_plain_lcp(tokens *t, ss_cp_file *out, ss_error *error) {
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

static void write_block(FILE *file, const ss_block *block) {
  switch (block->kind) {
  case SS_BLOCK_FREE:
    fprintf(file, "free %d\n", block->size);
    break;
  case SS_BLOCK_NONNEGATIVE:
    fprintf(file, "nonnegative %d\n", block->size);
    break;
  case SS_BLOCK_BOX:
    fprintf(file, "box %a %a\n", block->lower, block->upper);
    break;
  case SS_BLOCK_FRICTION:
    fprintf(file, "friction %d %s %d %a %a", block->size, cones[block->cone], block->directions, block->mu,
            block->extra);
    for (int i = 0; block->cone == SS_CONE_GENERATED && i < block->directions * (block->size - 1); i++)
      fprintf(file, " %a", block->generators[i]);
    fputc('\n', file);
    break;
  }
}

static void write_row(FILE *file, const double *row, int n) {
  for (int j = 0; j < n; j++) fprintf(file, "%a%c", row[j], j + 1 < n ? ' ' : '\n');
}

static void write_sparse(FILE *file, const char *name, const ss_sparse *m) {
  fprintf(file, "%s %d\n", name, m->start[m->rows]);
  for (int i = 0; i < m->rows; i++)
    for (int k = m->start[i]; k < m->start[i + 1]; k++) fprintf(file, "%d %d %a\n", i, m->col[k], m->value[k]);
}

static void write_bodies(FILE *file, const ss_cp_operator *o) {
  fprintf(file, "factors %d\n", o->n_bodies);
  const double *A = o->A;
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b];
    fprintf(file, "%d ", size);
    write_row(file, A, size * size);
    A += (ptrdiff_t)size * size;
  }
}

static void write_operator(FILE *file, const ss_cp_operator *o) {
  if (o->whole.start) fprintf(file, "whole %d ", o->whole.rows);
  if (o->whole.start) write_sparse(file, "A", &o->whole);
  if (!o->whole.start) write_bodies(file, o);
  write_sparse(file, "J", &o->J);
  if (o->R.start) write_sparse(file, "R", &o->R);
}

static void write_matrix(FILE *file, const ss_cp *problem) {
  if (problem->sparse) {
    write_sparse(file, "sparse", problem->sparse);
  } else if (problem->factors) {
    write_operator(file, problem->factors);
  } else {
    fprintf(file, "G\n");
    for (int i = 0; i < problem->n; i++) write_row(file, problem->G + (size_t)i * (size_t)problem->n, problem->n);
  }
}

static void write_problem(FILE *file, const ss_cp *problem) {
  fprintf(file, "stickslip-problem 1\nrows %d\nblocks %d\n", problem->n, problem->n_blocks);
  for (int b = 0; b < problem->n_blocks; b++) write_block(file, &problem->blocks[b]);
  write_matrix(file, problem);
  fprintf(file, "g\n");
  write_row(file, problem->g, problem->n);
}

ss_status ss_cp_write(const ss_cp *problem, const char *path, ss_error *error) {
  ss_output_file output;
  ss_status status = ss_output_file_create(&output, path, error);
  if (status) return status;
  FILE *file = fopen(output.working, "w");
  if (file) write_problem(file, problem);
  const bool failed = !file || ferror(file);
  if ((file && fclose(file)) || failed)
    status = ss_fail(error, SS_ERROR_IO, "cannot write '%s': %s", path, strerror(errno));
  if (!status) status = ss_output_file_publish(&output, error);
  if (status) ss_output_file_discard(&output);
  ss_output_file_release(&output);
  return status;
}

enum { SS_CP_FILE_LIMIT = 1 << 30 }; /* bytes; a dense matrix of SS_CP_DENSE_ROWS has some 200 MB */

void ss_cp_file_release(ss_cp_file *file) {
  ss_arena_destroy(file->memory);
  *file = (ss_cp_file){0};
}

static const char signature[] = "\211HDF\r\n\032\n";

/* Whether nothing follows but n, M, q and, as it may be, the number of known solutions and these. */
static bool is_plain_lcp(tokens t) {
  int n, known;
  double x;
  if (!tokens_integer(&t, &n) || n == 0) return false;
  for (long long k = 0; k < (long long)n * (n + 1); k++)
    if (!tokens_number(&t, &x)) return false;
  if (tokens_end(&t)) return true;
  if (!tokens_integer(&t, &known)) return false;
  for (long long k = 0; k < (long long)known * n; k++)
    if (!tokens_number(&t, &x)) return false;
  return tokens_end(&t);
}

static ss_status read_format(tokens *t, ss_cp_file *out, ss_error *error) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (strncmp(t->at, byte_order_mark, 3) == 0) t->at += 3;
  char first[64] = "";
  const bool commented = *t->at == '#';
  (void)tokens_peek(t, first, sizeof first);
  if (strcmp(first, "stickslip-problem") == 0) return read_own(t, out, error);
  if (strcmp(first, "problem") == 0) return read_listing(t, out, error);
  if (commented) return read_plain_lcp(t, out, error);
  tokens again = *t;
  const ss_status status = read_siconos(t, out, error);
  return status == SS_ERROR_INPUT && is_plain_lcp(again) ? read_plain_lcp(&again, out, error) : status;
}

static ss_status read_text(const char *path, ss_cp_file *out, ss_error *error) {
  char *text = NULL;
  size_t length = 0;
  ss_status status = ss_text_file_read(path, SS_CP_FILE_LIMIT, &text, &length, error);
  if (status) return status;
  tokens t = {.path = path, .text = text, .at = text, .arena = out->memory};
  if (length >= 8 && memcmp(text, signature, 8) == 0)
    status = ss_fail(error, SS_ERROR_UNSUPPORTED, "HDF5 files cannot be read from a pipe");
  else if (strlen(text) < length)
    status = ss_fail(error, SS_ERROR_INPUT, "not a problem file of a known format: it holds bytes that are not text");
  else
    status = read_format(&t, out, error);
  ss_free(text);
  return status;
}

/* Pipes are not opened: what is read from them is gone. */
static bool is_hdf5(const char *path) {
  struct stat about;
  if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  char start[8] = "";
  const bool same = fread(start, 1, 8, file) == 8 && memcmp(start, signature, 8) == 0;
  (void)fclose(file);
  return same;
}

ss_status ss_cp_read(const char *path, ss_cp_file *out, ss_error *error) {
  *out = (ss_cp_file){.kind = "general", .memory = ss_arena_create()};
  if (!out->memory) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  ss_status status = is_hdf5(path) ? read_fclib(path, out->memory, out, error) : read_text(path, out, error);
  if (!status) status = ss_cp_validate(&out->problem, error);
  if (status) {
    ss_cp_file_release(out);
    if (error && !error->file[0]) (void)snprintf(error->file, sizeof error->file, "%s", path);
  }
  return status;
}
