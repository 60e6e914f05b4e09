/* (own + left G) dx = b by a sparse factorisation of the contacts' blocks. */
#include "cp/node_system.h"

ss_status node_system_create(node_system *s, const large *l, double most, ss_cp_workspace *w, bool *affordable,
                             ss_error *error) {
  const size_t nodes = (size_t)l->G.nodes;
  *s = (node_system){.l = l, .left = SCRATCH(w, double, 2 * SYSTEM_SQUARE * nodes)};
  int *size = SCRATCH(w, int, nodes);
  if (!s->left || !size) return out_of_memory(error);
  s->own = s->left + SYSTEM_SQUARE * nodes;
  for (size_t p = 0; p < nodes; p++) size[p] = l->G.first[p + 1] - l->G.first[p];
  return block_lu_analyse(&s->lu, l->G.nodes, size, l->G.start, l->G.col, most, w, affordable, error);
}

/* to = own [p = c] + left G_pc */
static void assemble_block(const node_system *s, int p, int e, double *to) {
  const node_matrix *G = &s->l->G;
  const int c = G->col[e], rows = G->first[p + 1] - G->first[p], cols = G->first[c + 1] - G->first[c];
  const double *a = G->value + G->at[e], *left = s->left + (size_t)p * SYSTEM_SQUARE;
  const double *own = s->own + (size_t)p * SYSTEM_SQUARE;
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < cols; j++) {
      double sum = p == c ? own[i * rows + j] : 0;
      for (int m = 0; m < rows; m++) sum += left[i * rows + m] * a[m * cols + j];
      to[i * cols + j] = sum;
    }
}

bool node_system_factor(node_system *s) {
  const node_matrix *G = &s->l->G;
  block_lu_clear(&s->lu);
  for (int p = 0; p < G->nodes; p++)
    for (int e = G->start[p]; e < G->start[p + 1]; e++) assemble_block(s, p, e, block_lu_entry(&s->lu, p, G->col[e]));
  return block_lu_factor(&s->lu);
}

bool node_system_solve(node_system *s, const double *b, double *dx) {
  block_lu_solve(&s->lu, b, dx);
  double finite = 0;
  for (int i = 0; i < s->l->cp.n; i++) finite += 0 * dx[i];
  return finite == 0;
}
