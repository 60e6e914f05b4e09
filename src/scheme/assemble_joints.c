/* The matrix of joints alone, alpha J A^-1 J^T + R, joint by joint: only those that share a body meet (la/sparse_lu.h). */
#include "scheme/assemble_joints.h"

/* out[i][k] += alpha J_i w_k over one body, rows i of a and k of b, upper: k >= i; n: its coordinates. */
static inline void add_block(const ss_lu_node *a, int side, const ss_lu_node *b, int other, const ss_row *rows,
                             const double *w, double alpha, int n, bool upper, double *out, int stride) {
  const double *first = w + 12 * (size_t)b->first + (ptrdiff_t)6 * other;
  for (int i = 0; i < a->size; i++) {
    const double *j = rows[a->first + i].j[side];
    double *line = out + (ptrdiff_t)i * stride;
    for (int k = upper ? i : 0; k < b->size; k++) line[k] += alpha * ss_short_dot(j, first + (ptrdiff_t)12 * k, n);
  }
}

/* The same with J of b and w of a: what stands below. */
static inline void add_lower(const ss_lu_node *a, int side, const ss_lu_node *b, int other, const ss_row *rows,
                             const double *w, double alpha, int n, double *out, int stride) {
  for (int i = 0; i < a->size; i++) {
    const double *own = w + 12 * (size_t)(a->first + i) + (ptrdiff_t)6 * side;
    double *line = out + (ptrdiff_t)i * stride;
    for (int k = 0; k < b->size; k++) line[k] += alpha * ss_short_dot(rows[b->first + k].j[other], own, n);
  }
}

/* Over a body that both have; n: its coordinates, of which compilers unroll what they know. */
static inline void add_shared(const ss_lu *lu, const ss_lu_node *a, int side, const ss_lu_node *b, int other,
                              int column, const ss_row *rows, const double *w, double alpha, int n) {
  if (a == b) {
    add_block(a, side, a, other, rows, w, alpha, n, lu->symmetric, a->panel, a->size + a->width);
    return;
  }
  add_block(a, side, b, other, rows, w, alpha, n, false, a->panel + a->size + column, a->size + a->width);
  if (!lu->symmetric) add_lower(a, side, b, other, rows, w, alpha, n, a->lower + column, a->width);
}

static void add_pair(const ss_model *model, const ss_lu *lu, const ss_lu_node *a, const ss_lu_node *b, int column,
                     const ss_row *rows, const double *w, double alpha) {
  for (int side = 0; side < 2; side++)
    for (int other = 0; other < 2; other++) {
      if (a->body[side] < 0 || a->body[side] != b->body[other]) continue;
      const int n = model->bodies[a->body[side]].n;
      if (n == 6)
        add_shared(lu, a, side, b, other, column, rows, w, alpha, 6);
      else if (n == 3)
        add_shared(lu, a, side, b, other, column, rows, w, alpha, 3);
      else
        add_shared(lu, a, side, b, other, column, rows, w, alpha, n);
    }
}

void ss_assemble_joints(const ss_model *model, ss_lu *lu, const ss_row *rows, const double *w, double alpha,
                        const double *compliance) {
  ss_lu_clear(lu);
  for (int s = 0; s < lu->n_nodes; s++) {
    const ss_lu_node *a = &lu->nodes[s];
    add_pair(model, lu, a, a, 0, rows, w, alpha);
    for (int k = 0; k < a->n_near; k++) add_pair(model, lu, a, &lu->nodes[a->near[k]], a->column[k], rows, w, alpha);
    for (int r = 1; r < a->size && lu->symmetric; r++)
      for (int k = 0; k < r; k++)
        a->panel[(ptrdiff_t)r * (a->size + a->width) + k] = a->panel[(ptrdiff_t)k * (a->size + a->width) + r];
    for (int r = 0; r < a->size && compliance; r++)
      a->panel[(ptrdiff_t)r * (a->size + a->width + 1)] += compliance[a->first + r];
  }
}
