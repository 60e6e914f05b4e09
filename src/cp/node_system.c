/* (own + left G) dx = b by a sparse factorisation, or, where that costs too much, by GMRES with incomplete factors. With
 * G = J A^-1 J^T and the velocities du = A^-1 J^T dx of the bodies,
 *
 *     (A + J^T D J) du = J^T r,   dx = r - D J du,   D = own^-1 left,   r = own^-1 b,                              (1)
 *
 * fewer unknowns, and a mass matrix with springs, for which incomplete factors are good (those of the system itself are not:
 * contacts are redundant). An error e in (1) is one of left J A^-1 e in the system. Needs a regular `own`. Fails where a block is
 * singular; where GMRES comes to its limit the step is less exact than asked for. */
#include "cp/node_system.h"

#include "cp/islands.h"

#include "la/factor.h"

#include <math.h>
#include <string.h>

enum { KRYLOV_STEPS = KRYLOV };

static ss_status create_bodies(node_system *s, ss_cp_workspace *w, bool *admitted, ss_error *error) {
  const size_t n = (size_t)s->l->cp.n;
  const ss_status status = body_space_create(&s->bodies, s->l, w, admitted, error);
  if (status || !*admitted) return status;
  s->through_bodies = true;
  s->inverse = SCRATCH(w, double, SYSTEM_SQUARE *(size_t)s->l->G.nodes);
  s->D = (double(*)[SS_FRICTION_ROWS])SCRATCH(w, double, n *SS_FRICTION_ROWS);
  s->right = SCRATCH(w, double, 2 * (size_t)s->bodies.m);
  s->r = SCRATCH(w, double, 2 * n);
  if (!s->inverse || !s->D || !s->right || !s->r || !block_ilu_create(&s->ilu, &s->bodies.H, w) ||
      !krylov_create(&s->krylov, s->bodies.m, w))
    return out_of_memory(error);
  s->u = s->right + s->bodies.m;
  s->v = s->r + n;
  return SS_OK;
}

ss_status node_system_create(node_system *s, const large *l, double most, ss_cp_workspace *w, bool *affordable,
                             ss_error *error) {
  const size_t nodes = (size_t)l->G.nodes;
  *s = (node_system){.l = l, .left = SCRATCH(w, double, 2 * SYSTEM_SQUARE * nodes)};
  int *size = SCRATCH(w, int, nodes);
  if (!s->left || !size) return out_of_memory(error);
  s->own = s->left + SYSTEM_SQUARE * nodes;
  for (size_t p = 0; p < nodes; p++) size[p] = l->G.first[p + 1] - l->G.first[p];
  const ss_status status = block_lu_analyse(&s->lu, l->G.nodes, size, l->G.start, l->G.col, most, w, affordable, error);
  return status || *affordable ? status : create_bodies(s, w, affordable, error);
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

/* own^-1 and D */
static bool eliminate_nodes(node_system *s) {
  const node_matrix *G = &s->l->G;
  for (int p = 0; p < G->nodes; p++) {
    const int f = G->first[p], rows = G->first[p + 1] - f;
    double lu[SYSTEM_SQUARE], *inverse = s->inverse + (size_t)p * SYSTEM_SQUARE;
    const double *left = s->left + (size_t)p * SYSTEM_SQUARE;
    int pivot[SS_FRICTION_ROWS];
    memcpy(lu, s->own + (size_t)p * SYSTEM_SQUARE, sizeof *lu * (size_t)(rows * rows));
    if (!ss_dense_factor(lu, rows, pivot)) return false;
    for (int i = 0; i < rows * rows; i++) inverse[i] = i % (rows + 1) == 0;
    ss_dense_solve(lu, rows, pivot, inverse, rows);
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < rows; j++) {
        double sum = 0;
        for (int m = 0; m < rows; m++) sum += inverse[i * rows + m] * left[m * rows + j];
        s->D[f + i][j] = sum;
      }
  }
  return true;
}

bool node_system_factor(node_system *s) {
  const node_matrix *G = &s->l->G;
  if (s->through_bodies) {
    if (!eliminate_nodes(s)) return false;
    body_space_assemble(&s->bodies, 1, (const double(*)[SS_FRICTION_ROWS])s->D);
    return block_ilu_factor(&s->ilu);
  }
  block_lu_clear(&s->lu);
  for (int p = 0; p < G->nodes; p++)
    for (int e = G->start[p]; e < G->start[p + 1]; e++) assemble_block(s, p, e, block_lu_entry(&s->lu, p, G->col[e]));
  return block_lu_factor(&s->lu);
}

static double length(const double *a, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * a[i];
  return sqrt(sum);
}

/* (1) */
static void solve_through_bodies(node_system *s, const double *b, double goal, double *dx) {
  static const double least_exact = 0.5;
  const node_matrix *G = &s->l->G;
  for (int p = 0; p < G->nodes; p++) {
    const int f = G->first[p], rows = G->first[p + 1] - f;
    const double *inverse = s->inverse + (size_t)p * SYSTEM_SQUARE;
    for (int i = 0; i < rows; i++) {
      s->r[f + i] = 0;
      for (int j = 0; j < rows; j++) s->r[f + i] += inverse[i * rows + j] * b[f + j];
    }
  }
  body_space_collect(&s->bodies, NULL, s->r, s->right);
  for (int i = 0; i < s->bodies.m; i++) s->right[i] = -s->right[i];
  const double share = goal / fmax(length(s->right, s->bodies.m), 1e-300);
  (void)krylov_solve(&s->krylov, &s->bodies.H, &s->ilu, s->right, fmin(share, least_exact), KRYLOV_STEPS, s->u);
  body_space_slack(&s->bodies, s->u, s->v);
  for (int p = 0; p < G->nodes; p++) {
    const int f = G->first[p], rows = G->first[p + 1] - f;
    for (int i = 0; i < rows; i++) {
      dx[f + i] = s->r[f + i];
      for (int j = 0; j < rows; j++) dx[f + i] -= s->D[f + i][j] * (s->v[f + j] - s->l->g[f + j]);
    }
  }
}

bool node_system_solve(node_system *s, const double *b, double goal, double *dx) {
  if (s->through_bodies)
    solve_through_bodies(s, b, goal, dx);
  else
    block_lu_solve(&s->lu, b, dx);
  double finite = 0;
  for (int i = 0; i < s->l->cp.n; i++) finite += 0 * dx[i];
  return finite == 0;
}
