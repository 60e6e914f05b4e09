/* Named matrices and vectors as plain text:
 *
 *     problem KIND spacedim D contacts N
 *     matrix NAME rows cols nonzeros     followed by lines "i j x", counted from 0
 *     vector NAME length                 followed by the numbers
 *
 * KIND fclib_local: W, q, mu, and V, R, s where there are equations. fclib_global: M, H, f, w, mu with M v = H r + G l + f,
 * u = H^T v + w, and G, b where there are joints, G^T v + b = 0. fclib_global_rolling: mu_r besides. contactbench_ncp: G, g,
 * mu, the normal last in each contact. Other names are read and not used. */
#include "problem_file/global_friction.h"

#include <string.h>

enum { MOST = 16 };

typedef struct named {
  char name[32];
  matrix m; /* vectors have one column */
} named;

typedef struct listing {
  char kind[64];
  int d, contacts, count;
  named items[MOST];
} listing;

static const matrix *find(const listing *l, const char *name) {
  for (int i = 0; i < l->count; i++)
    if (strcmp(l->items[i].name, name) == 0) return &l->items[i].m;
  return NULL;
}

static ss_status read_item(tokens *t, named *item, bool sparse, ss_error *error) {
  int rows, cols = 1, nonzeros, i, j = 0;
  if (!tokens_peek(t, item->name, sizeof item->name) || !tokens_word(t, item->name) || !tokens_integer(t, &rows) ||
      (sparse && !tokens_integer(t, &cols)))
    return tokens_expected(t, error, "a name and a size");
  const bool friction = strcmp(item->name, "mu") == 0 || strcmp(item->name, "mu_r") == 0;
  nonzeros = rows;
  if (sparse && !tokens_integer(t, &nonzeros)) return tokens_expected(t, error, "the number of nonzeros");
  const ss_status status = matrix_create(t, rows, cols, &item->m, error);
  for (int k = 0; !status && k < nonzeros; k++) {
    double x;
    i = k;
    if (sparse && !(tokens_integer(t, &i) && tokens_integer(t, &j) && i < rows && j < cols))
      return tokens_expected(t, error, "the indices of an entry");
    if (!(friction ? tokens_coefficient : tokens_number)(t, &x))
      return tokens_expected(t, error, friction ? "a friction coefficient, not negative" : "a number");
    item->m.a[(size_t)i * (size_t)cols + (size_t)j] += x;
  }
  return status;
}

static ss_status check_head(tokens *t, const listing *l, ss_error *error) {
  static const char *const kinds[] = {"fclib_local", "fclib_global", "contactbench_ncp", "fclib_global_rolling"};
  bool known = false;
  for (int k = 0; k < 4; k++) known = known || strcmp(l->kind, kinds[k]) == 0;
  if (!known)
    return tokens_fail(t, error,
                       "the kind of a problem is fclib_local, fclib_global, fclib_global_rolling or contactbench_ncp");
  if (strcmp(l->kind, kinds[3]) == 0)
    return l->d == 5 ? SS_OK : tokens_fail(t, error, "spacedim must be 5 with rolling friction");
  return l->d == 2 || l->d == 3 ? SS_OK : tokens_fail(t, error, "spacedim must be 2 or 3");
}

static ss_status read_items(tokens *t, listing *l, ss_error *error) {
  if (!tokens_word(t, "problem") || !tokens_peek(t, l->kind, sizeof l->kind) || !tokens_word(t, l->kind) ||
      !tokens_word(t, "spacedim") || !tokens_integer(t, &l->d) || !tokens_word(t, "contacts") ||
      !tokens_integer(t, &l->contacts))
    return tokens_expected(t, error, "problem KIND spacedim D contacts N");
  ss_status status = check_head(t, l, error);
  while (!status) {
    const bool sparse = tokens_word(t, "matrix");
    if (!sparse && !tokens_word(t, "vector"))
      return tokens_end(t) ? SS_OK : tokens_expected(t, error, "matrix NAME ROWS COLUMNS NONZEROS or vector NAME ROWS");
    if (l->count == MOST) return tokens_fail(t, error, "too many matrices and vectors");
    status = read_item(t, &l->items[l->count++], sparse, error);
  }
  return status;
}

/* Moves the normal, the last row of each contact, to the front. */
static ss_status normal_first(tokens *t, const matrix *G, const matrix *g, int d, matrix *W, matrix *q,
                              ss_error *error) {
  ss_status status = matrix_create(t, G->rows, G->cols, W, error);
  if (!status) status = matrix_create(t, g->rows, 1, q, error);
  for (int i = 0; !status && i < G->rows; i++) {
    const int from = i % d == 0 ? i + d - 1 : i - 1;
    q->a[i] = g->a[from];
    for (int j = 0; j < G->cols; j++) {
      const int other = j % d == 0 ? j + d - 1 : j - 1;
      W->a[(size_t)i * (size_t)G->cols + (size_t)j] = G->a[(size_t)from * (size_t)G->cols + (size_t)other];
    }
  }
  return status;
}

static ss_status local_form(tokens *t, const listing *l, ss_cp_file *out, ss_error *error) {
  const bool last = strcmp(l->kind, "contactbench_ncp") == 0;
  const matrix *W = find(l, last ? "G" : "W"), *q = find(l, last ? "g" : "q"), *mu = find(l, "mu");
  if (!W || !q || !mu || q->rows != W->rows || mu->rows != l->contacts || W->rows != l->d * l->contacts ||
      W->cols != W->rows)
    return tokens_fail(t, error, "the matrix, the vector or mu is missing or has another size");
  const matrix *V = find(l, "V"), *R = find(l, "R"), *s = find(l, "s");
  if (!last && (V || R)) {
    if (!V || !R || !s || s->rows != R->rows) return tokens_fail(t, error, "V, R or s is missing or has another size");
    const mixed_contacts parts = {
        .d = l->d, .contacts = l->contacts, .W = W, .V = V, .R = R, .q = q->a, .s = s->a, .mu = mu->a};
    return file_mixed_friction(t, &parts, out, error);
  }
  matrix own_W, own_q;
  const ss_status status = last ? normal_first(t, W, q, l->d, &own_W, &own_q, error) : SS_OK;
  if (status) return status;
  return file_friction(t, l->d, l->contacts, last ? &own_W : W, last ? own_q.a : q->a, mu->a, out, error);
}

static ss_status global_form(tokens *t, const listing *l, ss_cp_file *out, ss_error *error) {
  const matrix *M = find(l, "M"), *H = find(l, "H"), *f = find(l, "f"), *w = find(l, "w"), *mu = find(l, "mu");
  const matrix *N = find(l, "G"), *b = find(l, "b"), *rolling = find(l, "mu_r");
  if (!M || !H || !f || !w || !mu || f->rows != M->rows || w->rows != H->cols || mu->rows != l->contacts)
    return tokens_fail(t, error, "M, H, f, w or mu is missing or has another size");
  if (N && (!b || b->rows != N->cols)) return tokens_fail(t, error, "b is missing or has another size than G");
  if (l->d == 5 && (!rolling || rolling->rows != l->contacts))
    return tokens_fail(t, error, "mu_r is missing or has another size");
  const global_contacts parts = {.d = l->d,
                                 .contacts = l->contacts,
                                 .M = M,
                                 .H = H,
                                 .N = N,
                                 .f = f->a,
                                 .w = w->a,
                                 .b = b ? b->a : NULL,
                                 .mu = mu->a,
                                 .mu_rolling = rolling ? rolling->a : NULL};
  return file_global_friction(t, &parts, out, error);
}

ss_status read_listing(tokens *t, ss_cp_file *out, ss_error *error) {
  listing *l = SS_ARENA_ARRAY(t->arena, listing, 1);
  if (!l) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  const ss_status status = read_items(t, l, error);
  if (status) return status;
  return strncmp(l->kind, "fclib_global", strlen("fclib_global")) == 0 ? global_form(t, l, out, error)
                                                                       : local_form(t, l, out, error);
}
