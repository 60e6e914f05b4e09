#include "cp/large.h"

#include "cp/block_lu.h"
#include "la/dense.h"
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

typedef struct apply_job {
  const large *l;
  const double *x;
  double *w;
} apply_job;

static void apply_some(void *user, int worker, int from, int to) {
  (void)worker;
  const apply_job *job = user;
  const node_matrix *G = &job->l->G;
  for (int r = from; r < to; r++) nodes_row(G, r, job->l->g, job->x, job->w + G->first[r]);
}

static void apply(const void *user, const double *x, double *w) {
  enum { AT_A_TIME = 256 };
  const large *l = user;
  apply_job job = {l, x, w};
  ss_threads_for(l->threads, l->G.nodes, AT_A_TIME, apply_some, &job);
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
  *l = (large){.original = problem, .cp = {.n = problem->n, .n_blocks = problem->n_blocks}, .threads = w->threads};
  ss_block *blocks = SCRATCH(w, ss_block, problem->n_blocks);
  l->g = SCRATCH(w, double, 6 * n);
  l->site = SCRATCH(w, int, n);
  if (!blocks || !l->g || !l->site) return out_of_memory(error);
  l->scale = l->g + n;
  l->diagonal = l->scale + n;
  l->x = l->diagonal + n;
  l->w = l->x + n;
  l->best = l->w + n;
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

void large_start(large *l, const double *z) {
  for (int i = 0; i < l->cp.n; i++) l->x[i] = z ? z[i] / (l->scale[i] * l->amplitude) : 0;
  l->lowest = l->residual = large_judge(l, l->x, l->w);
  memcpy(l->best, l->x, sizeof(double) * (size_t)l->cp.n);
}

void large_finish(const large *l, double *z) {
  for (int i = 0; i < l->cp.n; i++) z[i] = l->best[i] * l->scale[i] * l->amplitude;
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
