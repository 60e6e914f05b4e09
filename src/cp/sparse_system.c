/* The impulses of a sparse matrix in place of velocities: y = z, w = G y, and the system 1 + stiffness D G by blocks of contacts. */
#include "cp/velocity_space.h"

#include "cp/block_lu.h"
#include "cp/large.h"

#include <string.h>

typedef struct sparse_system {
  node_matrix G;
  block_lu lu;
  double *none, *right; /* [n] zeros; scratch */
} sparse_system;

static void sparse_slack(const void *user, const double *y, double *w) {
  const sparse_system *s = user;
  nodes_apply(&s->G, s->none, y, w);
}

static void sparse_load(const void *user, const double *z, double *F) {
  const sparse_system *s = user;
  memcpy(F, z, sizeof *F * (size_t)s->G.n);
}

static void sparse_balance(const void *user, const double *y, const double *z, double *F) {
  const sparse_system *s = user;
  for (int i = 0; i < s->G.n; i++) F[i] = y[i] - z[i];
}

static bool sparse_factor(void *user, const double (*D)[SS_FRICTION_ROWS], double stiffness) {
  sparse_system *s = user;
  const node_matrix *G = &s->G;
  block_lu_clear(&s->lu);
  for (int p = 0; p < G->nodes; p++)
    for (int e = G->start[p]; e < G->start[p + 1]; e++) {
      const int first = G->first[p], rows = G->first[p + 1] - first, q = G->col[e],
                cols = G->first[q + 1] - G->first[q];
      const double *block = G->value + G->at[e];
      double *to = block_lu_entry(&s->lu, p, q);
      for (int i = 0; i < rows; i++)
        for (int c = 0; c < cols; c++) {
          double sum = 0;
          for (int j = 0; j < rows; j++) sum += D[first + i][j] * block[j * cols + c];
          to[i * cols + c] = stiffness * sum + (p == q && i == c);
        }
    }
  return block_lu_factor(&s->lu);
}

static void sparse_solve(void *user, double *x) {
  sparse_system *s = user;
  memcpy(s->right, x, sizeof *x * (size_t)s->G.n);
  block_lu_solve(&s->lu, s->right, x);
}

static int sparse_sign(const void *user) { return block_lu_sign(&((const sparse_system *)user)->lu); }

ss_status sparse_system_create(const ss_cp *problem, const ss_sparse *matrix, const double *scale, double most,
                               ss_cp_workspace *w, velocity_space *out, bool *admitted, ss_error *error) {
  sparse_system *s = SCRATCH(w, sparse_system, 1);
  *admitted = false;
  if (!s) return out_of_memory(error);
  *s = (sparse_system){.none = SCRATCH(w, double, 2 * (size_t)problem->n)};
  if (!s->none) return out_of_memory(error);
  s->right = s->none + problem->n;
  memset(s->none, 0, sizeof(double) * (size_t)problem->n);
  ss_status status = nodes_create(problem, matrix, scale, w, &s->G, error);
  int *size = status ? NULL : SCRATCH(w, int, s->G.nodes + 1);
  if (status) return status;
  if (!size) return out_of_memory(error);
  for (int p = 0; p < s->G.nodes; p++) size[p] = s->G.first[p + 1] - s->G.first[p];
  status = block_lu_analyse(&s->lu, s->G.nodes, size, s->G.start, s->G.col, BLOCK_SPEED * most, w, admitted, error);
  *out = (velocity_space){.m = problem->n,
                          .operations = s->lu.operations / BLOCK_SPEED,
                          .assembly = (double)SS_FRICTION_ROWS * matrix->start[problem->n],
                          .solution = s->lu.solution,
                          .user = s,
                          .slack = sparse_slack,
                          .collect = sparse_balance,
                          .load = sparse_load,
                          .factor = sparse_factor,
                          .solve = sparse_solve,
                          .sign = sparse_sign};
  return status;
}
