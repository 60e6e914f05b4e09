/* Patches: where sweeps get stuck, they do so in few places, contacts that go round between states for ever.
 *
 * The worst node and its neighbourhood of some dozen nodes are a problem of their own with everything else fixed, small enough for
 * the slow and sure methods (smoothing.c, interior.c). It is solved exactly, then the next worst place; sweeps spread
 * what has changed. One round costs no more than some sweeps, whatever the size of the whole. Fails where a patch has no solution for the
 * present surroundings: it is left as it is, for the sweeps to move the surroundings. */
#include "cp/large.h"

#include <math.h>
#include <string.h>

typedef struct patch {
  int count; /* nodes */
  int *node; /* [count] ascending */
  int rows;
  int *start, *col; /* matrix by rows */
  double *value, *g, *z;
  ss_block *blocks;
} patch;

typedef struct patches {
  large *l;
  int *local;    /* [nodes] number in the patch, -1: outside */
  bool *done;    /* [nodes] in this round */
  int *queue;    /* [nodes] */
  double *error; /* [nodes] */
} patches;

static const ss_block *block_of(const large *l, int r) {
  return l->site[r] < 0 ? NULL : l->set.sites[l->site[r]].block;
}

/* Natural residual of one node, as the judge measures it (discs; the others by rows). */
static double node_error(const large *l, int r, const double *w) {
  const ss_block *b = block_of(l, r);
  const int f = l->G.first[r];
  const double *x = l->x + f;
  w += f;
  if (!b) return fabs(w[0]);
  if (b->kind == SS_BLOCK_BOX) return fabs(x[0] - fmin(fmax(x[0] - w[0], b->lower), b->upper));
  double error = fabs(fmin(x[0], w[0])), length = 0;
  if (b->kind != SS_BLOCK_FRICTION) return error;
  for (int i = 1; i < b->size; i++) length += (x[i] - w[i]) * (x[i] - w[i]);
  const double radius = b->mu * fmax(x[0], 0), share = sqrt(length) > radius ? radius / sqrt(length) : 1;
  for (int i = 1; i < b->size; i++) error = fmax(error, fabs(x[i] - share * (x[i] - w[i])));
  return error;
}

/* Breadth first around the seed. */
static void gather(const patches *s, int seed, int most, patch *p) {
  const node_matrix *G = &s->l->G;
  p->count = 0;
  s->queue[p->count++] = seed;
  s->local[seed] = 0;
  for (int k = 0; k < p->count && p->count < most; k++)
    for (int e = G->start[s->queue[k]]; e < G->start[s->queue[k] + 1] && p->count < most; e++) {
      if (s->local[G->col[e]] >= 0) continue;
      s->local[G->col[e]] = 0;
      s->queue[p->count++] = G->col[e];
    }
  memcpy(p->node, s->queue, sizeof(int) * (size_t)p->count);
  for (int gap = p->count / 2; gap > 0; gap /= 2)
    for (int k = gap; k < p->count; k++) {
      const int item = p->node[k];
      int at = k;
      for (; at >= gap && p->node[at - gap] > item; at -= gap) p->node[at] = p->node[at - gap];
      p->node[at] = item;
    }
  for (int k = 0; k < p->count; k++) s->local[p->node[k]] = k;
}

/* The problem of the patch: w = G_pp z + (w - G_pp x), with x and w as they are. */
static ss_status pose(const patches *s, patch *p, ss_cp_workspace *w, ss_error *error) {
  const large *l = s->l;
  const node_matrix *G = &l->G;
  size_t entries = 0;
  p->rows = 0;
  for (int k = 0; k < p->count; k++) {
    const int r = p->node[k], rows = G->first[r + 1] - G->first[r];
    p->rows += rows;
    for (int e = G->start[r]; e < G->start[r + 1]; e++)
      if (s->local[G->col[e]] >= 0) entries += (size_t)(rows * (G->first[G->col[e] + 1] - G->first[G->col[e]]));
  }
  p->start = SCRATCH(w, int, p->rows + 1);
  p->col = SCRATCH(w, int, entries);
  p->value = SCRATCH(w, double, entries);
  p->g = SCRATCH(w, double, 2 * p->rows);
  p->blocks = SCRATCH(w, ss_block, p->count);
  int *first = SCRATCH(w, int, p->count);
  if (!p->start || !p->col || !p->value || !p->g || !p->blocks || !first) return out_of_memory(error);
  p->z = p->g + p->rows;
  for (int k = 0, row = 0; k < p->count; row += G->first[p->node[k] + 1] - G->first[p->node[k]], k++) first[k] = row;
  int at = 0;
  for (int k = 0; k < p->count; k++) {
    const int r = p->node[k], rows = G->first[r + 1] - G->first[r];
    const ss_block *b = block_of(l, r);
    p->blocks[k] = b ? *b : (ss_block){.kind = SS_BLOCK_FREE};
    p->blocks[k].first = first[k];
    p->blocks[k].size = rows;
    for (int i = 0; i < rows; i++) {
      const int row = first[k] + i;
      p->start[row] = at;
      p->g[row] = l->w[G->first[r] + i];
      p->z[row] = l->x[G->first[r] + i];
      for (int e = G->start[r]; e < G->start[r + 1]; e++) {
        const int c = G->col[e], cols = G->first[c + 1] - G->first[c];
        if (s->local[c] < 0) continue;
        for (int j = 0; j < cols; j++) {
          p->col[at] = first[s->local[c]] + j;
          p->value[at] = G->value[G->at[e] + (size_t)(i * cols + j)];
          p->g[row] -= p->value[at++] * l->x[G->first[c] + j];
        }
      }
    }
  }
  p->start[p->rows] = at;
  return SS_OK;
}

/* Solves the patch; *solved says whether its z may be taken. */
static ss_status settle(patch *p, large *whole, ss_cp_workspace *w, bool *solved, ss_error *error) {
  const ss_sparse G = {p->rows, p->rows, p->start, p->col, p->value};
  const ss_cp cp = {.n = p->rows, .n_blocks = p->count, .g = p->g, .blocks = p->blocks, .sparse = &G};
  large l;
  bool admitted;
  ss_status status = large_create(&l, &cp, &G, whole->goal, w, &admitted, error);
  *solved = false;
  if (status || !admitted) return status;
  large_start(&l, p->z);
  const double start = fmin(1, l.residual);
  status = large_smoothing(&l, start, 150, HUGE_VAL, w, error);
  if (!status && l.residual > l.goal) {
    large_start(&l, NULL);
    status = large_smoothing(&l, 1, 150, HUGE_VAL, w, error);
  }
  whole->iterations += l.iterations;
  whole->spent += l.spent;
  *solved = !status && l.residual <= l.goal;
  if (*solved) large_finish(&l, p->z);
  return status;
}

/* x of the patch, and w of it and of what it touches. */
static void take(const patches *s, const patch *p) {
  large *l = s->l;
  const node_matrix *G = &l->G;
  int row = 0;
  for (int k = 0; k < p->count; k++)
    for (int i = G->first[p->node[k]]; i < G->first[p->node[k] + 1]; i++) l->x[i] = p->z[row++];
  for (int k = 0; k < p->count; k++)
    for (int e = G->start[p->node[k]]; e < G->start[p->node[k] + 1]; e++) {
      const int c = G->col[e];
      nodes_row(G, c, l->g, l->x, l->w + G->first[c]);
      s->error[c] = node_error(l, c, l->w);
    }
}

static ss_status repair(patches *s, int seed, int size, ss_cp_workspace *w, int *repaired, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  patch p = {.node = SCRATCH(w, int, size)};
  bool solved = false;
  if (!p.node) return out_of_memory(error);
  gather(s, seed, size, &p);
  ss_status status = pose(s, &p, w, error);
  if (!status) status = settle(&p, s->l, w, &solved, error);
  for (int k = 0; k < p.count; k++) s->local[p.node[k]] = -1;
  s->done[seed] = true;
  for (int k = 0; k < p.count && k < size / 2; k++) s->done[s->queue[k]] = true; /* the inner half */
  if (solved) take(s, &p);
  *repaired += solved;
  scratch_release(w, mark);
  return status;
}

ss_status large_patches(large *l, int size, int most, ss_cp_workspace *w, int *repaired, ss_error *error) {
  static const double share = 0.1; /* of the largest error, from which on a node is worth a patch */
  enum {
    FAILURES = 6,
    TENTH = 10
  }; /* patches without a solution cost most, and where there are many the sweeps must go on first */
  const scratch_mark mark = scratch_now(w);
  const int nodes = l->G.nodes;
  patches s = {.l = l, .local = SCRATCH(w, int, 2 * (size_t)nodes), .error = SCRATCH(w, double, nodes)};
  s.done = SCRATCH(w, bool, nodes);
  if (!s.local || !s.error || !s.done) return out_of_memory(error);
  s.queue = s.local + nodes;
  double worst = 0;
  for (int r = 0; r < nodes; r++) {
    s.local[r] = -1;
    s.done[r] = false;
    s.error[r] = node_error(l, r, l->w);
    worst = fmax(worst, s.error[r]);
  }
  ss_status status = SS_OK;
  *repaired = 0;
  for (int k = 0; k < most && k - *repaired < FAILURES + most / TENTH && !status && !large_spent(l); k++) {
    int seed = -1;
    for (int r = 0; r < nodes; r++)
      if (!s.done[r] && s.error[r] > share * worst && (seed < 0 || s.error[r] > s.error[seed])) seed = r;
    if (seed < 0) break;
    status = large_goes_on(l, error);
    if (!status) status = repair(&s, seed, size < nodes ? size : nodes, w, repaired, error);
  }
  if (!status) l->residual = large_judge(l, l->x, l->w);
  scratch_release(w, mark);
  return status;
}
