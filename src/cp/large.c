#include "cp/large.h"

#include "cp/dense.h"
#include "cp/reduce.h"

#include <math.h>

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
