/* Primal-dual active sets (active.c) with a sparse factorisation.
 *
 * The states that z and w suggest give one linear system K y = r, K = C^T G B + D, of the size of the closed contacts (two
 * per sliding disc). Redundant contacts make it singular but consistent: K + delta 1 is factored, and steps of
 * refinement on the true residual take delta out again (a proximal point method; what K does not determine stays
 * where it was). A step that does not lower the residual is halved, then tried with more damping. Fails where the
 * states cycle; the caller sweeps on. */
#include "cp/block_lu.h"
#include "cp/large.h"

#include <math.h>
#include <string.h>

enum { HALVINGS = 4, REFINEMENTS = 3 };
static const double least_damping = 1e-9, most_damping = 1e-2;

typedef struct newton {
  large *l;
  block_lu lu;
  int m;                     /* unknowns */
  int nodes;                 /* that have any */
  int *number;               /* [G.nodes] of a node among them, -1: none */
  int *node;                 /* [nodes] */
  int *first;                /* [nodes + 1] first unknown */
  int *size;                 /* [nodes] */
  int *start, *col;          /* their graph */
  double *y, *r, *total;     /* [m] */
  double *z, *w, *candidate; /* [n] */
} newton;

/* Groups the unknowns by nodes, in which they stand together. */
static void list_nodes(newton *k) {
  const large *l = k->l;
  k->nodes = 0;
  for (int r = 0; r < l->G.nodes; r++) k->number[r] = -1;
  for (int u = 0; u < k->m; u++) {
    const int r = l->G.node_of[l->set.u[u].first];
    if (k->number[r] < 0) {
      k->number[r] = k->nodes;
      k->node[k->nodes] = r;
      k->size[k->nodes] = 0;
      k->first[k->nodes++] = u;
    }
    k->size[k->number[r]]++;
  }
  k->first[k->nodes] = k->m;
  int at = 0;
  for (int i = 0; i < k->nodes; i++) {
    k->start[i] = at;
    for (int e = l->G.start[k->node[i]]; e < l->G.start[k->node[i] + 1]; e++)
      if (k->number[l->G.col[e]] >= 0) k->col[at++] = k->number[l->G.col[e]];
  }
  k->start[k->nodes] = at;
}

/* Entry of unknowns p of node r and q of node c, whose block is a. */
static double entry(const large *l, const unknown *p, int r, const unknown *q, int c, const double *a) {
  const int cols = l->G.first[c + 1] - l->G.first[c], down = p->first - l->G.first[r], right = q->first - l->G.first[c];
  double sum = 0;
  for (int i = 0; i < p->size; i++) {
    if (p->c[i] == 0) continue;
    double row = 0;
    for (int j = 0; j < q->size; j++) row += a[(down + i) * cols + right + j] * q->b[j];
    sum += p->c[i] * row;
  }
  return p->scale * q->scale * sum;
}

static void assemble(newton *k, double damping) {
  const large *l = k->l;
  const unknown *u = l->set.u;
  block_lu_clear(&k->lu);
  for (int i = 0; i < k->nodes; i++) {
    const int r = k->node[i];
    for (int e = l->G.start[r]; e < l->G.start[r + 1]; e++) {
      const int c = l->G.col[e], j = k->number[c];
      if (j < 0) continue;
      double *to = block_lu_entry(&k->lu, i, j);
      for (int p = 0; p < k->size[i]; p++)
        for (int q = 0; q < k->size[j]; q++)
          to[p * k->size[j] + q] = entry(l, &u[k->first[i] + p], r, &u[k->first[j] + q], c, l->G.value + l->G.at[e]);
      for (int p = 0; i == j && p < k->size[i]; p++) {
        const unknown *own = &u[k->first[i] + p];
        to[p * (k->size[i] + 1)] += own->scale * own->scale * own->diagonal + damping;
      }
    }
  }
}

/* r = scale (value - c . w - diagonal y), w = G z + g. */
static void remainder_of(newton *k) {
  const large *l = k->l;
  nodes_apply(&l->G, l->g, k->z, k->w);
  for (int i = 0; i < k->m; i++) {
    const unknown *u = &l->set.u[i];
    double sum = u->value - u->diagonal * k->total[i];
    for (int j = 0; j < u->size; j++) sum -= u->c[j] * k->w[u->first + j];
    k->r[i] = u->scale * sum;
  }
}

/* From the reference in k->z to the solution of the equations, also in k->z. */
static bool solve(newton *k) {
  if (!block_lu_factor(&k->lu)) return false;
  memset(k->total, 0, sizeof(double) * (size_t)k->m);
  for (int pass = 0; pass < REFINEMENTS; pass++) {
    remainder_of(k);
    block_lu_solve(&k->lu, k->r, k->y);
    double finite = 0;
    for (int i = 0; i < k->m; i++) {
      const unknown *u = &k->l->set.u[i];
      const double y = u->scale * k->y[i];
      finite += 0 * y;
      k->total[i] += y;
      for (int j = 0; j < u->size; j++) k->z[u->first + j] += u->b[j] * y;
    }
    if (finite != 0) return false;
  }
  return true;
}

/* Towards k->z from l->x; true where a point with a lower residual was found and taken. */
static bool search_line(newton *k) {
  large *l = k->l;
  double length = 1;
  for (int h = 0; h < HALVINGS; h++, length /= 2) {
    for (int i = 0; i < l->cp.n; i++) k->candidate[i] = l->x[i] + length * (k->z[i] - l->x[i]);
    const double residual = large_judge(l, k->candidate, k->w);
    if (!(residual < l->residual)) continue;
    l->residual = residual;
    memcpy(l->x, k->candidate, sizeof(double) * (size_t)l->cp.n);
    memcpy(l->w, k->w, sizeof(double) * (size_t)l->cp.n);
    return true;
  }
  return false;
}

static bool newton_create(newton *k, large *l, ss_cp_workspace *w) {
  const size_t n = (size_t)l->cp.n, nodes = (size_t)l->G.nodes;
  *k = (newton){.l = l,
                .number = SCRATCH(w, int, 5 * nodes + 2),
                .col = SCRATCH(w, int, l->G.start[nodes]),
                .y = SCRATCH(w, double, 6 * n)};
  if (!k->number || !k->col || !k->y) return false;
  k->node = k->number + nodes;
  k->first = k->node + nodes;
  k->size = k->first + nodes + 1;
  k->start = k->size + nodes;
  k->r = k->y + n;
  k->total = k->r + n;
  k->z = k->total + n;
  k->w = k->z + n;
  k->candidate = k->w + n;
  return true;
}

/* One step with the present states, damped more and more until it helps. */
static ss_status step(newton *k, double most, double *damping, ss_cp_workspace *w, bool *tried, bool *improved,
                      ss_error *error) {
  large *l = k->l;
  const scratch_mark mark = scratch_now(w);
  (void)active_set_guess(&l->set, l->x, l->w);
  memcpy(k->z, l->x, sizeof(double) * (size_t)l->cp.n);
  k->m = active_set_unknowns(&l->set, k->z);
  list_nodes(k);
  const ss_status status = block_lu_analyse(&k->lu, k->nodes, k->size, k->start, k->col, most, w, tried, error);
  *improved = false;
  while (!status && *tried && !*improved) {
    l->iterations++;
    l->spent += k->lu.operations;
    assemble(k, *damping);
    memcpy(k->z, l->x, sizeof(double) * (size_t)l->cp.n);
    (void)active_set_unknowns(&l->set, k->z);
    *improved = solve(k) && search_line(k);
    if (!*improved && *damping >= most_damping) break;
    *damping = *improved ? fmax(*damping / 10, least_damping) : *damping * 100;
  }
  scratch_release(w, mark);
  return status;
}

ss_status large_newton(large *l, int limit, double most, ss_cp_workspace *w, bool *tried, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  newton k;
  double damping = least_damping;
  if (!newton_create(&k, l, w)) return out_of_memory(error);
  ss_status status = SS_OK;
  bool improved = true;
  *tried = true;
  for (int i = 0; i < limit && improved && *tried && !status && l->residual > l->goal && !large_spent(l); i++) {
    const double before = l->residual;
    status = step(&k, most, &damping, w, tried, &improved, error);
    if (l->residual > 0.9 * before && i > 2) break;
  }
  if (*tried == false && l->iterations > 0) *tried = improved;
  scratch_release(w, mark);
  return status;
}
