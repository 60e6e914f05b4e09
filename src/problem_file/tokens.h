/* White-space separated tokens of a problem file. */
#ifndef SS_TOKENS_H
#define SS_TOKENS_H

#include "core/arena.h"

#include <stickslip/cp.h>

typedef struct tokens {
  const char *path;
  const char *text; /* NULL: the file is not one of text, and has no lines */
  const char *at;   /* next character */
  ss_arena *arena;  /* for what is read */
  const char *last; /* the token that was read last; NULL: none */
  bool refused;     /* the last attempt found something else: the next token is to blame, not the last one */
} tokens;

/* "path:line:column: what" and "path:line:column: expected what, found ...", with the place of the token to blame. */
ss_status tokens_fail(tokens *t, ss_error *error, const char *what);
ss_status tokens_expected(tokens *t, ss_error *error, const char *what);
bool tokens_peek(tokens *t, char *token, size_t size); /* false at the end; does not advance */
bool tokens_word(tokens *t, const char *word);         /* true, and advances, where the next token is this one */
bool tokens_number(tokens *t, double *x);              /* finite */
bool tokens_bound(tokens *t, double *x);               /* infinite too, not NaN */
bool tokens_coefficient(tokens *t, double *x);         /* finite, not negative */
bool tokens_end(tokens *t);                            /* nothing follows */
bool tokens_integer(tokens *t, int *x);                /* 0 .. 10^7 */
void tokens_skip_line(tokens *t);
size_t tokens_numbers_left(const tokens *t, size_t enough); /* how many numbers follow, counted up to `enough` */

/* `n` numbers from the arena, or an error. */
ss_status tokens_vector(tokens *t, size_t n, double **out, ss_error *error);
ss_status tokens_coefficients(tokens *t, size_t n, double **out, ss_error *error);
ss_status tokens_bounds(tokens *t, size_t n, double **out, ss_error *error);

/* A matrix: dense and row-major, or by its entries where it is too large for that (global_friction.c). */
typedef struct matrix {
  int rows, cols;
  double *a;  /* NULL: by its entries */
  int *i, *j; /* [count] equal places add up */
  double *x;
  size_t count, capacity;
} matrix;

ss_status matrix_create(tokens *t, int rows, int cols, matrix *out, ss_error *error); /* dense, zeros */
/* Dense where it is small, otherwise with room for so many entries. */
ss_status matrix_create_entries(tokens *t, int rows, int cols, size_t entries, matrix *out, ss_error *error);
bool matrix_add(matrix *m, int i, int j, double x);                                 /* false: outside, or no room */
ss_status matrix_rows(tokens *t, const matrix *m, ss_sparse *out, ss_error *error); /* of one by its entries */

/* Builds the problem: all arrays zero, blocks to be filled in. */
ss_status file_problem(tokens *t, int n, int n_blocks, ss_cp_file *out, double **G, double **g, ss_block **blocks,
                       ss_error *error);

/* Friction contacts of dimension d with w = W r + q; with equations beside them: global_friction.h. */
ss_status file_friction(tokens *t, int d, int contacts, const matrix *W, const double *q, const double *mu,
                        ss_cp_file *out, ss_error *error);
void friction_blocks(ss_block *blocks, int first, int d, int contacts, const double *mu);

/* The formats; each one has its file. */
ss_status read_siconos(tokens *t, ss_cp_file *out, ss_error *error);
ss_status read_listing(tokens *t, ss_cp_file *out, ss_error *error);
ss_status read_fclib(const char *path, ss_arena *arena, ss_cp_file *out, ss_error *error);

#endif
