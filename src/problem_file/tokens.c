#include "problem_file/tokens.h"

#include "core/words.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int largest_count = 10000000;
static const size_t largest_matrix = (size_t)1 << 28; /* entries: 2 GiB */

void tokens_skip_line(tokens *t) {
  while (*t->at && *t->at != '\n') t->at++;
}

/* Blanks and comments, which run from # to the end of the line. */
static void skip_blanks(tokens *t) {
  for (;;) {
    while (isspace((unsigned char)*t->at)) t->at++;
    if (*t->at != '#') return;
    tokens_skip_line(t);
  }
}

static const char *token_end(const char *c) {
  while (*c && !isspace((unsigned char)*c)) c++;
  return c;
}

/* The token to blame; it is empty at the end of the file. */
static const char *blamed(tokens *t) {
  if (!t->refused && t->last) return t->last;
  skip_blanks(t);
  return t->at;
}

static ss_mark place(const tokens *t, const char *where) {
  if (!t->text) return (ss_mark){0, 0};
  ss_mark mark = {1, 1};
  for (const char *c = t->text; c < where; c++) {
    mark.line += *c == '\n';
    mark.column = *c == '\n' ? 1 : mark.column + 1;
  }
  return mark;
}

ss_status tokens_fail(tokens *t, ss_error *error, const char *what) {
  return ss_fail_place(error, SS_ERROR_INPUT, t->path, place(t, blamed(t)), "%s", what);
}

ss_status tokens_expected(tokens *t, ss_error *error, const char *what) {
  enum { SHOWN = 40 };
  const char *token = blamed(t);
  const int length = (int)(token_end(token) - token < SHOWN ? token_end(token) - token : SHOWN);
  char shown[SHOWN + 1];
  for (int i = 0; i < length; i++) shown[i] = (char)(isprint((unsigned char)token[i]) ? token[i] : '?');
  shown[length] = '\0';
  const ss_mark mark = place(t, token);
  if (!length) return ss_fail_place(error, SS_ERROR_INPUT, t->path, mark, "expected %s, but the file ends", what);
  return ss_fail_place(error, SS_ERROR_INPUT, t->path, mark, "expected %s, found '%s'", what, shown);
}

bool tokens_peek(tokens *t, char *token, size_t size) {
  skip_blanks(t);
  const size_t length = (size_t)(token_end(t->at) - t->at);
  t->refused = !length || length >= size;
  if (t->refused) return false;
  memcpy(token, t->at, length);
  token[length] = '\0';
  return true;
}

static void take(tokens *t, const char *end) {
  t->last = t->at;
  t->at = end;
  t->refused = false;
}

bool tokens_word(tokens *t, const char *word) {
  char token[64];
  t->refused = !tokens_peek(t, token, sizeof token) || strcmp(token, word) != 0;
  if (t->refused) return false;
  take(t, t->at + strlen(word));
  return true;
}

bool tokens_end(tokens *t) {
  skip_blanks(t);
  t->refused = *t->at != '\0';
  return !t->refused;
}

/* strtod, and numbers as Fortran writes them: 1.5D+00. */
static const char *convert(const char *token, double *x) {
  enum { LONGEST = 64 };
  char copy[LONGEST], *end;
  *x = strtod(token, &end);
  const size_t length = (size_t)(token_end(token) - token);
  if (end == token || (*end != 'D' && *end != 'd') || length >= LONGEST) return end;
  memcpy(copy, token, length);
  copy[length] = '\0';
  copy[end - token] = 'e';
  *x = strtod(copy, &end);
  return token + (end - copy);
}

/* The number at t->at and its end; NULL: there is none. */
static const char *scan_number(tokens *t, double *x) {
  skip_blanks(t);
  errno = 0;
  const char *end = convert(t->at, x);
  const bool overflow = errno == ERANGE && fabs(*x) == HUGE_VAL;
  t->refused = end == t->at || end != token_end(t->at) || overflow || isnan(*x);
  return t->refused ? NULL : end;
}

bool tokens_bound(tokens *t, double *x) {
  const char *end = scan_number(t, x);
  if (end) take(t, end);
  return end != NULL;
}

bool tokens_number(tokens *t, double *x) {
  const char *end = scan_number(t, x);
  t->refused = !end || !isfinite(*x);
  if (!t->refused) take(t, end);
  return !t->refused;
}

bool tokens_integer(tokens *t, int *x) {
  double value;
  const char *end = scan_number(t, &value);
  t->refused = !end || value != floor(value) || value < 0 || value > largest_count;
  if (t->refused) return false;
  take(t, end);
  *x = (int)value;
  return true;
}

size_t tokens_numbers_left(const tokens *t, size_t enough) {
  tokens copy = *t;
  size_t count = 0;
  double x;
  while (count < enough && tokens_bound(&copy, &x)) count++;
  return count;
}

typedef bool number_reader(tokens *t, double *x);

static ss_status read_array(tokens *t, size_t n, number_reader *read, const char *what, double **out, ss_error *error) {
  if (n > largest_matrix) return tokens_fail(t, error, "too large");
  *out = SS_ARENA_ARRAY(t->arena, double, n);
  if (!*out) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; i < n; i++)
    if (!read(t, &(*out)[i])) return tokens_expected(t, error, what);
  return SS_OK;
}

ss_status tokens_vector(tokens *t, size_t n, double **out, ss_error *error) {
  return read_array(t, n, tokens_number, "a finite number", out, error);
}

bool tokens_coefficient(tokens *t, double *x) {
  const char *end = scan_number(t, x);
  t->refused = !end || !isfinite(*x) || *x < 0;
  if (!t->refused) take(t, end);
  return !t->refused;
}

ss_status tokens_coefficients(tokens *t, size_t n, double **out, ss_error *error) {
  return read_array(t, n, tokens_coefficient, "a friction coefficient, not negative", out, error);
}

ss_status tokens_bounds(tokens *t, size_t n, double **out, ss_error *error) {
  return read_array(t, n, tokens_bound, "a bound", out, error);
}

ss_status matrix_create(tokens *t, int rows, int cols, matrix *out, ss_error *error) {
  const size_t count = (size_t)rows * (size_t)cols;
  *out = (matrix){.rows = rows, .cols = cols};
  if (count > largest_matrix) return tokens_fail(t, error, "the matrix is too large");
  out->a = SS_ARENA_ARRAY(t->arena, double, count);
  return out->a ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

ss_status matrix_create_entries(tokens *t, int rows, int cols, size_t entries, matrix *out, ss_error *error) {
  static const size_t dense = (size_t)1 << 20, most = (size_t)1 << 28;
  if ((size_t)rows * (size_t)cols <= dense) return matrix_create(t, rows, cols, out, error);
  if (entries > most) return tokens_fail(t, error, "the matrix is too large");
  *out = (matrix){.rows = rows,
                  .cols = cols,
                  .i = SS_ARENA_ARRAY(t->arena, int, entries + 1),
                  .j = SS_ARENA_ARRAY(t->arena, int, entries + 1),
                  .x = SS_ARENA_ARRAY(t->arena, double, entries + 1),
                  .capacity = entries};
  return out->i && out->j && out->x ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

bool matrix_add(matrix *m, int i, int j, double x) {
  if (i < 0 || i >= m->rows || j < 0 || j >= m->cols) return false;
  if (m->a) {
    m->a[(size_t)i * (size_t)m->cols + (size_t)j] += x;
    return true;
  }
  if (m->count == m->capacity) return false;
  m->i[m->count] = i;
  m->j[m->count] = j;
  m->x[m->count++] = x;
  return true;
}

/* order: the entries sorted by key, equal ones in the order they had in `from` (NULL: their own). */
static void sort_entries(const int *key, int keys, const int *from, int count, int *at, int *order) {
  memset(at, 0, sizeof *at * ((size_t)keys + 1));
  for (int k = 0; k < count; k++) at[key[k] + 1]++;
  for (int k = 0; k < keys; k++) at[k + 1] += at[k];
  for (int k = 0; k < count; k++) {
    const int e = from ? from[k] : k;
    order[at[key[e]]++] = e;
  }
}

ss_status matrix_rows(tokens *t, const matrix *m, ss_sparse *out, ss_error *error) {
  const int count = (int)m->count, most = m->rows > m->cols ? m->rows : m->cols;
  int *start = SS_ARENA_ARRAY(t->arena, int, m->rows + 1), *col = SS_ARENA_ARRAY(t->arena, int, count + 1);
  double *value = SS_ARENA_ARRAY(t->arena, double, count + 1);
  int *work = ss_alloc(sizeof(int) * (2 * (size_t)count + (size_t)most + 2));
  if (!start || !col || !value || !work) {
    ss_free(work);
    return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  }
  int *by_column = work, *by_row = work + count, *at = by_row + count;
  sort_entries(m->j, m->cols, NULL, count, at, by_column);
  sort_entries(m->i, m->rows, by_column, count, at, by_row);
  int used = 0;
  for (int k = 0, row = 0; k < count; k++) {
    const int e = by_row[k];
    while (row < m->i[e]) start[++row] = used;
    if (used > start[row] && col[used - 1] == m->j[e]) {
      value[used - 1] += m->x[e];
    } else {
      col[used] = m->j[e];
      value[used++] = m->x[e];
    }
  }
  const int last = count ? m->i[by_row[count - 1]] : 0;
  for (int row = last; row < m->rows; row++) start[row + 1] = used;
  ss_free(work);
  *out = (ss_sparse){m->rows, m->cols, start, col, value};
  return SS_OK;
}

ss_status file_problem(tokens *t, int n, int n_blocks, ss_cp_file *out, double **G, double **g, ss_block **blocks,
                       ss_error *error) {
  matrix M;
  const ss_status status = matrix_create(t, n, n, &M, error);
  if (status) return status;
  *G = M.a;
  *g = SS_ARENA_ARRAY(t->arena, double, n);
  *blocks = SS_ARENA_ARRAY(t->arena, ss_block, n_blocks);
  if (!*g || !*blocks) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  out->problem = (ss_cp){.n = n, .n_blocks = n_blocks, .G = *G, .g = *g, .blocks = *blocks};
  return SS_OK;
}

void friction_blocks(ss_block *blocks, int first, int d, int contacts, const double *mu) {
  for (int c = 0; c < contacts; c++)
    blocks[c] = (ss_block){
        .kind = SS_BLOCK_FRICTION, .first = first + d * c, .size = d, .cone = SS_CONE_QUADRATIC, .mu = mu[c]};
}

static ss_status sparse_friction(tokens *t, int d, int contacts, const matrix *W, const double *q, const double *mu,
                                 ss_cp_file *out, ss_error *error) {
  ss_sparse *G = SS_ARENA_ARRAY(t->arena, ss_sparse, 1);
  ss_block *blocks = SS_ARENA_ARRAY(t->arena, ss_block, contacts);
  if (!G || !blocks) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  out->kind = "friction";
  out->problem = (ss_cp){.n = W->rows, .n_blocks = contacts, .g = q, .blocks = blocks, .sparse = G};
  friction_blocks(blocks, 0, d, contacts, mu);
  return matrix_rows(t, W, G, error);
}

ss_status file_friction(tokens *t, int d, int contacts, const matrix *W, const double *q, const double *mu,
                        ss_cp_file *out, ss_error *error) {
  if (d != 2 && d != 3) return ss_fail(error, SS_ERROR_UNSUPPORTED, "contacts of dimension %d in this form", d);
  if (W->rows != d * contacts || W->cols != W->rows)
    return tokens_fail(t, error, "the matrix does not fit the contacts");
  double *G, *g;
  ss_block *blocks;
  if (!W->a) return sparse_friction(t, d, contacts, W, q, mu, out, error);
  const ss_status status = file_problem(t, W->rows, contacts, out, &G, &g, &blocks, error);
  if (status) return status;
  out->kind = "friction";
  const size_t n = (size_t)W->rows;
  if (n) memcpy(G, W->a, sizeof *G * n * n);
  if (n) memcpy(g, q, sizeof *g * n);
  friction_blocks(blocks, 0, d, contacts, mu);
  return SS_OK;
}
