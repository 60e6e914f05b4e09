#include "cp/large.h"

#include "cp/block_lu.h"
#include "cp/dense.h"
#include "cp/reduce.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

static int count_nodes(const ss_cp *problem) {
  int nodes = 0;
  for (int b = 0; b < problem->n_blocks; b++)
    nodes += problem->blocks[b].kind == SS_BLOCK_FRICTION ? 1 : problem->blocks[b].size;
  return nodes;
}

/* Returns the common size, or 0. */
static int list_nodes(const ss_cp *problem, int *first, int *node_of) {
  int nodes = 0, common = -1;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int step = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    if (common >= 0 && step != common) common = 0;
    if (common < 0) common = step;
    for (int i = block->first; i < block->first + block->size; i += step) {
      first[nodes] = i;
      for (int k = 0; k < step; k++) node_of[i + k] = nodes;
      nodes++;
    }
  }
  first[nodes] = problem->n;
  return common > 0 ? common : 0;
}

/* Marks the nodes that the node r meets in its rows and, so that the pattern is symmetric whatever G is, in its columns,
 * itself among them; returns how many, unsorted in `found`. G[1] is the transpose of G[0]. */
static int meet(const ss_sparse G[2], const int *first, const int *node_of, int r, int *mark, int *found) {
  int count = 0;
  mark[r] = r;
  found[count++] = r;
  for (int side = 0; side < 2; side++)
    for (int i = first[r]; i < first[r + 1]; i++)
      for (int k = G[side].start[i]; k < G[side].start[i + 1]; k++) {
        const int c = node_of[G[side].col[k]];
        if (mark[c] == r) continue;
        mark[c] = r;
        found[count++] = c;
      }
  return count;
}

static void sort(int *a, int n) { /* nearly sorted already */
  for (int k = 1; k < n; k++) {
    const int item = a[k];
    int place = k;
    for (; place > 0 && a[place - 1] > item; place--) a[place] = a[place - 1];
    a[place] = item;
  }
}

typedef struct layout {
  int *first, *start, *col, *diagonal, *node_of, *mark, *found;
  size_t *at;
  double *value;
} layout;

/* Pattern first, numbers after: columns ascend because the nodes do. */
static ss_status make_pattern(const ss_sparse G[2], int nodes, layout *l, ss_cp_workspace *w, ss_error *error) {
  size_t blocks = 0, numbers = 0;
  for (int r = 0; r < nodes; r++) l->mark[r] = -1;
  for (int r = 0; r < nodes; r++) blocks += (size_t)meet(G, l->first, l->node_of, r, l->mark, l->found);
  l->col = SCRATCH(w, int, blocks);
  l->at = SCRATCH(w, size_t, blocks);
  if (!l->col || !l->at) return out_of_memory(error);
  for (int r = 0; r < nodes; r++) l->mark[r] = -1;
  int k = 0;
  for (int r = 0; r < nodes; r++) {
    l->start[r] = k;
    const int count = meet(G, l->first, l->node_of, r, l->mark, l->found);
    sort(l->found, count);
    for (int e = 0; e < count; e++, k++) {
      const int c = l->found[e];
      l->col[k] = c;
      l->at[k] = numbers;
      if (c == r) l->diagonal[r] = k;
      numbers += (size_t)(l->first[r + 1] - l->first[r]) * (size_t)(l->first[c + 1] - l->first[c]);
    }
  }
  l->start[nodes] = k;
  l->value = SCRATCH(w, double, numbers);
  if (!l->value) return out_of_memory(error);
  memset(l->value, 0, sizeof(double) * numbers);
  return SS_OK;
}

static void fill(const ss_sparse *G, int nodes, const double *scale, layout *l) {
  for (int r = 0; r < nodes; r++) {
    for (int k = l->start[r]; k < l->start[r + 1]; k++) l->mark[l->col[k]] = k;
    for (int i = l->first[r]; i < l->first[r + 1]; i++)
      for (int k = G->start[i]; k < G->start[i + 1]; k++) {
        const int j = G->col[k], c = l->node_of[j], width = l->first[c + 1] - l->first[c];
        double *to = l->value + l->at[l->mark[c]] + (ptrdiff_t)(i - l->first[r]) * width + (j - l->first[c]);
        *to = scale ? scale[i] * G->value[k] * scale[j] : G->value[k];
      }
  }
}

ss_status nodes_create(const ss_cp *problem, const ss_sparse *G, const double *scale, ss_cp_workspace *w,
                       node_matrix *out, ss_error *error) {
  const int nodes = count_nodes(problem);
  layout l = {.first = SCRATCH(w, int, 5 * (size_t)nodes + 2), .node_of = SCRATCH(w, int, problem->n)};
  if (!l.first || !l.node_of) return out_of_memory(error);
  l.start = l.first + nodes + 1;
  l.diagonal = l.start + nodes + 1;
  l.mark = l.diagonal + nodes;
  l.found = l.mark + nodes;
  const int common = list_nodes(problem, l.first, l.node_of);
  ss_sparse both[2] = {*G};
  ss_status status = sparse_transpose(G, w, &both[1], error);
  if (!status) status = make_pattern(both, nodes, &l, w, error);
  if (status) return status;
  fill(G, nodes, scale, &l);
  *out = (node_matrix){problem->n, nodes, common, l.first, l.start, l.col, l.at, l.value, l.diagonal, l.node_of};
  return SS_OK;
}

/* All nodes of three rows: the blocks of a row stand one after the other. */
static void row_of_threes(const node_matrix *m, int node, const double *z, double *q) {
  const double *a = m->value + m->at[m->start[node]];
  double x = q[0], y = q[1], t = q[2];
  for (int k = m->start[node]; k < m->start[node + 1]; k++, a += 9) {
    const double *p = z + (ptrdiff_t)3 * m->col[k];
    x += a[0] * p[0] + a[1] * p[1] + a[2] * p[2];
    y += a[3] * p[0] + a[4] * p[1] + a[5] * p[2];
    t += a[6] * p[0] + a[7] * p[1] + a[8] * p[2];
  }
  q[0] = x;
  q[1] = y;
  q[2] = t;
}

void nodes_row(const node_matrix *m, int node, const double *g, const double *z, double *q) {
  const int rows = m->first[node + 1] - m->first[node];
  for (int i = 0; i < rows; i++) q[i] = g[m->first[node] + i];
  if (m->sizes == 3) {
    row_of_threes(m, node, z, q);
    return;
  }
  for (int k = m->start[node]; k < m->start[node + 1]; k++) {
    const double *a = m->value + m->at[k], *p = z + m->first[m->col[k]];
    const int cols = m->first[m->col[k] + 1] - m->first[m->col[k]];
    for (int i = 0; i < rows; i++)
      for (int j = 0; j < cols; j++) q[i] += *a++ * p[j];
  }
}

void nodes_apply(const node_matrix *m, const double *g, const double *z, double *w) {
  for (int r = 0; r < m->nodes; r++) nodes_row(m, r, g, z, w + m->first[r]);
}

static void apply(const void *user, const double *x, double *w) {
  const large *l = user;
  nodes_apply(&l->G, l->g, x, w);
}

double large_judge(large *l, const double *x, double *w) { return ss_cp_judge(&l->cp, x, w); }

/* One scale per node, from the mean of its diagonal: sets keep their shape and mu its value. */
static bool choose_scales(large *l, const ss_sparse *G) {
  const ss_cp *problem = l->original;
  for (int i = 0; i < problem->n; i++) {
    l->diagonal[i] = 0;
    for (int k = G->start[i]; k < G->start[i + 1]; k++)
      if (G->col[k] == i) l->diagonal[i] = G->value[k];
    if (!(l->diagonal[i] > 0)) return false;
  }
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int together = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += together) {
      double sum = 0;
      for (int k = 0; k < together; k++) sum += l->diagonal[i + k];
      const double s = inverse_root_power(sum / together);
      for (int k = 0; k < together; k++) {
        l->scale[i + k] = s;
        l->diagonal[i + k] *= s * s;
      }
    }
  }
  return true;
}

static void scale_right_side(large *l, ss_block *blocks) {
  double largest = 0;
  for (int i = 0; i < l->cp.n; i++) {
    l->g[i] = l->scale[i] * l->original->g[i];
    largest = fmax(largest, fabs(l->g[i]));
  }
  l->amplitude = 1 / inverse_power(largest);
  for (int i = 0; i < l->cp.n; i++) l->g[i] /= l->amplitude;
  for (int b = 0; b < l->cp.n_blocks; b++) {
    blocks[b] = l->original->blocks[b];
    const double unit = l->scale[blocks[b].first] * l->amplitude;
    blocks[b].lower /= unit;
    blocks[b].upper /= unit;
    blocks[b].extra /= unit;
  }
}

/* Residuals are weighed in the scaled problem. The goal is such that the original one is met as well: its residual is at
 * most unit (1 + |scaled g|) / (1 + |g|) times as large, and the half of that for what rounding adds. */
static double scaled_goal(const large *l, double tolerance) {
  double largest = 0, scaled = 0, unit = 0;
  for (int i = 0; i < l->cp.n; i++) {
    largest = fmax(largest, fabs(l->original->g[i]));
    scaled = fmax(scaled, fabs(l->g[i]));
    unit = fmax(unit, fmax(l->scale[i], 1 / l->scale[i]) * l->amplitude);
  }
  return fmax(0.5 * tolerance * fmin(1, (1 + largest) / (unit * (1 + scaled))), 1e-15);
}

static void match_sites(large *l) {
  int next = 0;
  for (int r = 0; r < l->G.nodes; r++) {
    const bool known = next < l->set.n_sites && l->set.sites[next].row == l->G.first[r];
    l->site[r] = known ? next++ : -1;
  }
}

ss_status large_create(large *l, const ss_cp *problem, const ss_sparse *G, double tolerance, ss_cp_workspace *w,
                       bool *admitted, ss_error *error) {
  const size_t n = (size_t)problem->n;
  *l = (large){.original = problem, .cp = {.n = problem->n, .n_blocks = problem->n_blocks}};
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks);
  l->g = SCRATCH(w, double, 5 * n);
  l->site = SCRATCH(w, int, n);
  if (!blocks || !l->g || !l->site) return out_of_memory(error);
  l->scale = l->g + n;
  l->diagonal = l->scale + n;
  l->x = l->diagonal + n;
  l->w = l->x + n;
  *admitted = choose_scales(l, G);
  if (!*admitted) return SS_OK;
  ss_status status = nodes_create(problem, G, l->scale, w, &l->G, error);
  if (status) return status;
  scale_right_side(l, blocks);
  l->cp.g = l->g;
  l->cp.blocks = blocks;
  l->cp.apply = apply;
  l->cp.user = l;
  l->goal = scaled_goal(l, tolerance);
  l->tolerance = tolerance;
  status = active_set_create_bare(&l->cp, l->diagonal, w, &l->set, error);
  if (!status) match_sites(l);
  return status;
}

const ss_block **large_nodes(const large *l, int *size, ss_cp_workspace *w) {
  const ss_block **const block = SCRATCH(w, const ss_block *, l->G.nodes);
  for (int p = 0, b = 0; block && p < l->G.nodes; p++) {
    size[p] = l->G.first[p + 1] - l->G.first[p];
    while (l->G.first[p] >= l->cp.blocks[b].first + l->cp.blocks[b].size) b++;
    block[p] = &l->cp.blocks[b];
  }
  return block;
}

void large_start(large *l, const double *z) {
  for (int i = 0; i < l->cp.n; i++) l->x[i] = z ? z[i] / (l->scale[i] * l->amplitude) : 0;
  l->residual = large_judge(l, l->x, l->w);
}

void large_finish(const large *l, double *z) {
  for (int i = 0; i < l->cp.n; i++) z[i] = l->x[i] * l->scale[i] * l->amplitude;
}

bool large_done(large *l, double *z) {
  static const double worth = 100, safely = 0.9; /* of the tolerance: above it a look is in vain; below it is enough */
  if (l->residual <= l->goal) return true;
  if (l->residual > worth * l->tolerance) return false;
  large_finish(l, z);
  if (!(ss_cp_judge(l->original, z, NULL) <= safely * l->tolerance)) return false;
  l->goal = l->residual;
  return true;
}

double large_sweep_operations(const large *l) { return 4.0 * (double)l->G.at[l->G.start[l->G.nodes] - 1]; }

bool large_spent(const large *l) {
  if (l->limit > 0 && l->iterations >= l->limit) return true;
  return l->options && l->options->work > 0 && l->spent > l->options->work;
}

ss_status large_goes_on(const large *l, ss_error *error) {
  const ss_cp_options *o = l->options;
  return o && o->stop && o->stop(o->stop_user) ? ss_fail(error, SS_ERROR_STOPPED, "stopped") : SS_OK;
}

/* (own + left G) dx = b by a sparse factorisation of the contacts' blocks. */

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

/* Primal-dual active sets (active.c) with a sparse factorisation.
 *
 * The states that z and w suggest give one linear system K y = r, K = C^T G B + D, of the size of the closed contacts (two
 * per sliding disc). Redundant contacts make it singular but consistent: K + delta 1 is factored, and steps of
 * refinement on the true residual take delta out again (a proximal point method; what K does not determine stays
 * where it was). A step that does not lower the residual is halved, then tried with more damping. Fails where the
 * states cycle; the caller sweeps on. */

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
static void group_unknowns(newton *k) {
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
  group_unknowns(k);
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
