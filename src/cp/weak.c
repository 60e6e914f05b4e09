/* Gauss-Seidel sweeps for contacts that hardly feel each other: balls side by side on the ground, separate bodies.
 *
 *     z_b = the exact solution of block b (local.c) for the others fixed, block after block
 *
 * from z = 0, on the data as they are: nothing is scaled, copied or factored. Each sweep must shrink the change of the last
 * by `contraction`, else it is given up, mostly after the second, which costs less than a look at the matrix by the solvers
 * that follow on the ladder. Columns of z that are zero are not read. Rows of their own (bounds, limits) are not for it. */
#include "cp/solver.h"

#include "cp/active.h"
#include "cp/local.h"

#include <math.h>

enum { MOST_SWEEPS = 40 };
static const double contraction = 0.2, settled = 1e-15;

typedef struct weak {
  const ss_cp *problem;
  const site *sites;
  int n_sites;
  double *z;
  int *loaded, n_loaded; /* sites with z other than 0, in the order in which they came */
  bool *listed;          /* [n_sites] */
} weak;

/* q = g + G z without the block's own part, which needs W. */
static void row_values(const weak *k, const site *s, double *W, double *q) {
  const size_t n = (size_t)k->problem->n;
  const int size = s->block->size;
  for (int i = 0; i < size; i++) {
    const double *row = k->problem->G + (size_t)(s->row + i) * n;
    double sum = k->problem->g[s->row + i];
    for (int l = 0; l < k->n_loaded; l++) {
      const site *other = &k->sites[k->loaded[l]];
      if (other == s) continue;
      for (int j = other->row; j < other->row + other->block->size; j++) sum += row[j] * k->z[j];
    }
    q[i] = sum;
    for (int j = 0; j < size; j++) W[i * size + j] = row[s->row + j];
  }
}

/* One sweep; returns the largest change, as a velocity. */
static double sweep_once(weak *k) {
  double W[SS_FRICTION_ROWS * SS_FRICTION_ROWS], q[SS_FRICTION_ROWS], old[SS_FRICTION_ROWS], largest = 0;
  for (int b = 0; b < k->n_sites; b++) {
    const site *s = &k->sites[b];
    const int size = s->block->size;
    double *z = k->z + s->row;
    row_values(k, s, W, q);
    for (int i = 0; i < size; i++) old[i] = z[i];
    if (!local_friction(s, W, q, z)) return HUGE_VAL;
    for (int i = 0; i < size; i++) largest = fmax(largest, fabs(W[i * (size + 1)] * (z[i] - old[i])));
    if (k->listed[b] || z[0] == 0) continue;
    k->listed[b] = true;
    k->loaded[k->n_loaded++] = b;
  }
  return largest;
}

static bool only_friction(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++)
    if (problem->blocks[b].kind != SS_BLOCK_FRICTION || problem->blocks[b].extra > 0) return false;
  return true;
}

ss_status solve_weakly_coupled(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                               ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  (void)warm;
  result->outcome = SS_NOT_ADMITTED;
  if (!only_friction(problem)) return SS_OK;
  weak k = {.problem = problem, .z = z};
  site *sites = SCRATCH(workspace, site, problem->n);
  k.loaded = SCRATCH(workspace, int, problem->n);
  k.listed = SCRATCH(workspace, bool, problem->n);
  if (!sites || !k.loaded || !k.listed) return out_of_memory(error);
  k.sites = sites;
  k.n_sites = active_list_sites(problem, workspace, sites);
  if (k.n_sites < 0) return out_of_memory(error);
  double largest = 0, last = HUGE_VAL;
  for (int i = 0; i < problem->n; i++) {
    z[i] = 0;
    largest = fmax(largest, fabs(problem->g[i]));
  }
  for (int b = 0; b < k.n_sites; b++) k.listed[b] = false;
  for (int s = 0; s < MOST_SWEEPS && last > settled * largest; s++) {
    const double change = sweep_once(&k);
    result->iterations = s + 1;
    if (change > contraction * last && change > 10 * settled * largest) return SS_OK; /* not weak */
    last = change;
  }
  result->residual = ss_cp_judge(problem, z, NULL);
  result->outcome = result->residual <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return SS_OK;
}
