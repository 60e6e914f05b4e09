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

typedef struct loaded_rows {
  int row, size;
} loaded_rows;

typedef struct weak {
  const ss_cp *problem;
  const site *sites;
  int n_sites;
  double *z;
  loaded_rows *loaded; /* of the sites with z other than 0, in the order in which they came */
  int n_loaded;
  bool *listed; /* [n_sites] */
  bool coupled; /* the impulse of one has been felt by another one */
} weak;

/* q = g + G z without the block's own part, which needs W. The products of a block are summed before they are added to q: each
 * addition waits for the last. */
static void row_values(weak *k, const site *s, double *W, double *q) {
  const size_t n = (size_t)k->problem->n;
  const int size = s->block->size;
  const double *G = k->problem->G + (size_t)s->row * n;
  for (int i = 0; i < size; i++) {
    q[i] = k->problem->g[s->row + i];
    for (int j = 0; j < size; j++) W[i * size + j] = G[(size_t)i * n + (size_t)(s->row + j)];
  }
  for (int l = 0; l < k->n_loaded; l++) {
    const loaded_rows other = k->loaded[l];
    if (other.row == s->row) continue;
    const double *p = G + other.row, *z = k->z + other.row;
    for (int i = 0; i < size; i++, p += n) {
      double sum = p[0] * z[0] + p[1] * z[1]; /* friction blocks have two rows at least */
      if (other.size > 2) sum += p[2] * z[2];
      for (int j = 3; j < other.size; j++) sum += p[j] * z[j];
      q[i] += sum;
      k->coupled = k->coupled || sum != 0;
    }
  }
}

static double larger(double a, double b) { return a > b ? a : b; }

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
    for (int i = 0; i < size; i++) largest = larger(largest, fabs(W[i * (size + 1)] * (z[i] - old[i])));
    if (k->listed[b] || z[0] == 0) continue;
    k->listed[b] = true;
    k->loaded[k->n_loaded++] = (loaded_rows){s->row, size};
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
  k.loaded = SCRATCH(workspace, loaded_rows, problem->n);
  k.listed = SCRATCH(workspace, bool, problem->n);
  if (!sites || !k.loaded || !k.listed) return out_of_memory(error);
  k.sites = sites;
  k.n_sites = active_list_sites(problem, workspace, sites);
  if (k.n_sites < 0) return out_of_memory(error);
  double largest = 0, last = HUGE_VAL, residual = HUGE_VAL;
  for (int i = 0; i < problem->n; i++) {
    z[i] = 0;
    largest = fmax(largest, fabs(problem->g[i]));
  }
  for (int b = 0; b < k.n_sites; b++) k.listed[b] = false;
  for (int s = 0; s < MOST_SWEEPS && last > settled * largest && residual > settled; s++) {
    const double change = sweep_once(&k);
    result->iterations = s + 1;
    if (change > contraction * last && change > 10 * settled * largest) return SS_OK; /* not weak */
    last = change;
    if (s == 0 && !k.coupled) residual = ss_cp_judge(problem, z, NULL); /* each for itself, as it seems */
  }
  result->residual = residual <= settled ? residual : ss_cp_judge(problem, z, NULL);
  result->outcome = result->residual <= options->tolerance ? SS_SOLVED : SS_LIMIT;
  return SS_OK;
}
