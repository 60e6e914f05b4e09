/* What "auto" does with large sparse problems, and the methods on it as solvers of their own.
 *
 * Contacts that are not connected through any body are problems of their own (islands), solved one by one; small ones by
 * the ordinary ladder. One island: accelerated sweeps (relax.c) from the given start, then Newton steps if the factorisation
 * is affordable; then rounds of plain sweeps and of patches, the places where the sweeps go round for ever (patches.c); last,
 * where a factorisation of the whole is possible, the smoothing method and interior points. Facets: sweeps and Newton
 * steps only. Results do not depend on the order of the islands. Needs rows with a positive diagonal: saddle-point
 * problems (velocities as free rows) are not admitted. */
#include "cp/dense.h"
#include "cp/large.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include "la/dissect.h"

#include <math.h>
#include <string.h>

enum {
  LARGE_ROWS = 200,
  ISLAND_ROWS = 100,
  FIRST_SWEEPS = 400,
  MORE_SWEEPS = 1500,
  PLAIN_ROUNDS = 3,
  PLAIN_SWEEPS = 200,
  INTERIOR_STEPS = 100,
  SMOOTHING_STEPS = 150,
  NEWTON_STEPS = 20,
  PATH_ROWS = 600
};
static const double dense_share = 0.35;  /* of entries not zero, from which a matrix is not worth being called sparse */
static const double newton_below = 1e-3; /* residual from which the states are worth a factorisation */
static const double least_operations = 2e8, sweeps_worth = 400;
static const double few_places = 1e-4; /* residual below which patches come before many sweeps */
static const double last_operations = 1e9;
static const double last_resort = 3; /* times as much for a factorisation, where nothing else has helped */

bool large_wanted(const ss_cp *problem) {
  if (problem->n < LARGE_ROWS) return false;
  if (!problem->G) return true;
  const size_t count = (size_t)problem->n * (size_t)problem->n;
  size_t nonzeros = 0;
  for (size_t i = 0; i < count; i++) nonzeros += problem->G[i] != 0;
  return (double)nonzeros < dense_share * (double)count;
}

/* ---- one island ---- */

/* Operations that a factorisation may take: as many as some hundred sweeps. */
static double affordable(const large *l) {
  const double sweep = 4.0 * (double)l->G.at[l->G.start[l->G.nodes] - 1];
  return fmax(least_operations, sweeps_worth * sweep);
}

static ss_status newton(large *l, ss_cp_workspace *w, ss_error *error) {
  bool tried;
  if (l->residual <= l->goal || l->residual > newton_below) return SS_OK;
  return large_newton(l, NEWTON_STEPS, affordable(l), w, &tried, error);
}

/* Its sets must be cones or boxes that it can project on. */
static bool admits_round_sets(const ss_cp *problem) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const bool round_set = block->cone == SS_CONE_QUADRATIC || block->size == 2;
    if (block->kind == SS_BLOCK_FRICTION && (!round_set || block->extra > 0)) return false;
  }
  return true;
}

/* Rounds of sweeps and patches. Plain sweeps come to where only few places go round for ever, patches end that; the sweeps
 * become more, and where that does not help the patches larger. */
static ss_status patch_up(large *l, ss_cp_workspace *w, ss_error *error) {
  enum {
    ROUNDS = 20,
    FEW_SWEEPS = 30,
    SWEEPS = 500,
    MOST_SWEEPS = 4000,
    ACCELERATED = 80,
    SMALLEST = 60,
    LARGEST = 400,
    FEWEST = 6
  };
  const scratch_mark mark = scratch_now(w);
  const size_t bytes = sizeof(double) * (size_t)l->cp.n;
  double *best = SCRATCH(w, double, l->cp.n), lowest = l->residual;
  if (!best) return out_of_memory(error);
  memcpy(best, l->x, bytes);
  ss_status status = SS_OK;
  for (int k = 0, vain = 0, size = SMALLEST, sweeps = l->residual < few_places ? FEW_SWEEPS : SWEEPS;
       k < ROUNDS && !status && lowest > l->goal; k++) {
    int repaired = 0, most = l->G.nodes / (2 * size);
    const double before = lowest;
    status = large_relax(l, false, sweeps, w, error);
    if (!status) status = large_relax(l, true, ACCELERATED, w, error);
    if (!status) status = newton(l, w, error);
    if (l->residual < lowest) {
      lowest = l->residual;
      memcpy(best, l->x, bytes);
    }
    if (lowest < 0.5 * before)
      vain = 0;
    else
      vain++;
    if (vain) sweeps = sweeps < MOST_SWEEPS / 3 ? 3 * sweeps : MOST_SWEEPS;
    if (vain > 1 && size < LARGEST) size += size / 2;
    if (!status && lowest > l->goal)
      status = large_patches(l, size, most < FEWEST ? FEWEST : most, w, &repaired, error);
    if (l->residual < lowest) {
      lowest = l->residual;
      memcpy(best, l->x, bytes);
    }
  }
  memcpy(l->x, best, bytes);
  l->residual = large_judge(l, l->x, l->w);
  scratch_release(w, mark);
  return status;
}

/* Problems so small that a factorisation costs as little as some sweeps: towers, chains and light bodies between heavy
 * ones, on which sweeps do not converge. What is left is for the ladder. */
static ss_status follow_paths(large *l, ss_cp_workspace *w, ss_error *error) {
  ss_status status = large_smoothing(l, fmin(1, 10 * l->residual), SMOOTHING_STEPS, affordable(l), w, error);
  if (!status && l->residual > l->goal) status = large_interior(l, INTERIOR_STEPS, affordable(l), w, error);
  return status;
}

/* With discs. */
static ss_status take_turns_round(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  ss_status status = large_relax(l, true, FIRST_SWEEPS, w, error);
  if (!status) status = newton(l, w, error);
  if (!status && l->residual > l->goal && l->cp.n <= PATH_ROWS) status = follow_paths(l, w, error);
  if (!status && l->residual > l->goal && l->cp.n > PATH_ROWS) status = patch_up(l, w, error);
  const double most = fmax(last_resort * affordable(l), last_operations);
  if (!status && l->residual > l->goal)
    status = large_smoothing(l, fmin(1, 10 * l->residual), SMOOTHING_STEPS, most, w, error);
  if (!status && l->residual > l->goal) status = large_interior(l, INTERIOR_STEPS / 2, most, w, error);
  return status;
}

/* With facets: no patches, no interior points. */
static ss_status take_turns_facets(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  ss_status status = large_relax(l, true, FIRST_SWEEPS, w, error);
  if (!status) status = newton(l, w, error);
  for (int k = 1; k <= PLAIN_ROUNDS && !status && l->residual > l->goal; k++) {
    status = large_relax(l, false, k * PLAIN_SWEEPS, w, error);
    if (!status) status = large_relax(l, true, FIRST_SWEEPS, w, error);
    if (!status) status = newton(l, w, error);
  }
  return status;
}

static ss_status take_turns(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  return admits_round_sets(&l->cp) ? take_turns_round(l, z, w, error) : take_turns_facets(l, z, w, error);
}

/* Runs `method` on the whole problem, without looking for islands. */
typedef ss_status large_method(large *l, const double *z, ss_cp_workspace *w, ss_error *error);

static large_method plain;

static ss_status run(const ss_cp *problem, const ss_cp_options *options, large_method *method, bool warm, double *z,
                     ss_cp_workspace *w, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  ss_sparse G;
  large l;
  bool admitted = true;
  ss_status status = storage_rows(problem, w, &G, error);
  if (!status) status = large_create(&l, problem, &G, options->tolerance, w, &admitted, error);
  result->outcome = SS_NOT_ADMITTED;
  if (!status && admitted) {
    l.limit = options->iteration_limit;
    l.factor = method == plain ? options->relaxation : 0;
    l.order = method == plain ? options->order : SS_ORDER_GIVEN;
    status = method(&l, warm ? z : NULL, w, error);
    result->iterations = l.iterations;
    result->outcome = l.residual <= l.goal ? SS_SOLVED : l.stalled ? SS_STALLED : SS_LIMIT;
    large_finish(&l, z);
  }
  scratch_release(w, mark);
  return status;
}

static ss_status accelerated(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_relax(l, true, l->limit > 0 ? l->limit : MORE_SWEEPS, w, error);
}

static ss_status plain(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_relax(l, false, l->limit > 0 ? l->limit : 10000, w, error);
}

static ss_status newton_alone(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  bool tried;
  large_start(l, z);
  const ss_status status = z ? SS_OK : large_relax(l, false, 10, w, error);
  return status ? status : large_newton(l, l->limit > 0 ? l->limit : 50, HUGE_VAL, w, &tried, error);
}

static ss_status admm(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_admm(l, l->limit > 0 ? l->limit : 3000, HUGE_VAL, w, error);
}

static ss_status interior(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_interior(l, l->limit > 0 ? l->limit : INTERIOR_STEPS, HUGE_VAL, w, error);
}

static ss_status smoothing(large *l, const double *z, ss_cp_workspace *w, ss_error *error) {
  large_start(l, z);
  return large_smoothing(l, z ? fmin(1, 3 * l->residual) : 1, l->limit > 0 ? l->limit : 200, HUGE_VAL, w, error);
}

ss_status solve_smoothing(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                          ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, smoothing, warm, z, workspace, result, error);
}

ss_status solve_nsgs_sparse(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                            ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, plain, warm, z, workspace, result, error);
}

ss_status solve_nsgs_accelerated(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                 ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, accelerated, warm, z, workspace, result, error);
}

ss_status solve_newton_sparse(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                              ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return run(problem, options, newton_alone, warm, z, workspace, result, error);
}

ss_status solve_admm(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                     ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  result->outcome = SS_NOT_ADMITTED;
  return admits_round_sets(problem) ? run(problem, options, admm, warm, z, workspace, result, error) : SS_OK;
}

ss_status solve_interior_point(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                               ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  result->outcome = SS_NOT_ADMITTED;
  return admits_round_sets(problem) ? run(problem, options, interior, warm, z, workspace, result, error) : SS_OK;
}

/* ---- islands ---- */

typedef struct islands {
  int n, nodes, count;
  int *first;       /* [nodes + 1] rows of a node */
  int *block;       /* [nodes] block that it belongs to */
  int *part;        /* [nodes] its island */
  int *members;     /* [nodes] nodes by islands */
  int *start;       /* [count + 1] */
  int *row;         /* [n] row of the original in its island */
  double amplitude; /* of the whole right side, a power of two: islands are solved in units of it */
} islands;

/* The graph of the nodes, from that of the rows. */
static ss_status find_islands(islands *s, const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w,
                              ss_error *error) {
  const size_t n = (size_t)problem->n;
  *s = (islands){.n = problem->n, .first = SCRATCH(w, int, 6 * n + 2)};
  int *part_of_row = SCRATCH(w, int, 2 * n), *col = SCRATCH(w, int, G->start[n] + 2 * n), *start;
  if (!s->first || !part_of_row || !col) return out_of_memory(error);
  s->block = s->first + n + 1;
  s->part = s->block + n;
  s->members = s->part + n;
  s->row = s->members + n;
  s->start = s->row + n;
  start = SCRATCH(w, int, n + 1);
  if (!start) return out_of_memory(error);
  int at = 0;
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int step = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += step) {
      s->first[s->nodes] = i;
      s->block[s->nodes++] = b;
      for (int k = i; k < i + step; k++) { /* rows of a node hang together */
        start[k] = at;
        for (int e = G->start[k]; e < G->start[k + 1]; e++) col[at++] = G->col[e];
        if (k + 1 < i + step) col[at++] = k + 1;
        if (k > i) col[at++] = k - 1;
      }
    }
  }
  s->first[s->nodes] = problem->n;
  start[n] = at;
  s->count = ss_components(&(ss_graph){problem->n, start, col}, part_of_row, part_of_row + n);
  for (int r = 0; r < s->nodes; r++) s->part[r] = part_of_row[s->first[r]];
  return SS_OK;
}

/* Sorts the nodes by islands; islands are numbered by their first row. */
static void sort_islands(islands *s) {
  memset(s->start, 0, sizeof(int) * ((size_t)s->count + 1));
  for (int r = 0; r < s->nodes; r++) s->start[s->part[r] + 1]++;
  for (int k = 0; k < s->count; k++) s->start[k + 1] += s->start[k];
  for (int r = 0; r < s->nodes; r++) s->members[s->start[s->part[r]]++] = r;
  for (int k = s->count; k > 0; k--) s->start[k] = s->start[k - 1];
  s->start[0] = 0;
}

typedef struct island {
  ss_cp cp;
  ss_sparse G;
  ss_block *blocks;
  double *g, *z, *value;
  int *start, *col;
} island;

static ss_status island_create(island *i, const islands *s, int k, const ss_cp *problem, const ss_sparse *G,
                               const double *z, ss_cp_workspace *w, ss_error *error) {
  int rows = 0;
  size_t entries = 0;
  for (int m = s->start[k]; m < s->start[k + 1]; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) {
      s->row[r] = rows++;
      entries += (size_t)(G->start[r + 1] - G->start[r]);
    }
  const int nodes = s->start[k + 1] - s->start[k];
  *i = (island){.blocks = SCRATCH(w, ss_block, nodes), .g = SCRATCH(w, double, 2 * (size_t)rows)};
  i->value = SCRATCH(w, double, entries);
  i->col = SCRATCH(w, int, entries);
  i->start = SCRATCH(w, int, rows + 1);
  if (!i->blocks || !i->g || !i->value || !i->col || !i->start) return out_of_memory(error);
  i->z = i->g + rows;
  int at = 0, row = 0;
  for (int m = 0; m < nodes; m++) {
    const int node = s->members[s->start[k] + m];
    i->blocks[m] = problem->blocks[s->block[node]];
    i->blocks[m].first = row;
    i->blocks[m].size = s->first[node + 1] - s->first[node];
    i->blocks[m].extra /= s->amplitude;
    i->blocks[m].lower /= s->amplitude;
    i->blocks[m].upper /= s->amplitude;
    for (int r = s->first[node]; r < s->first[node + 1]; r++, row++) {
      i->start[row] = at;
      i->g[row] = problem->g[r] / s->amplitude;
      i->z[row] = z[r] / s->amplitude;
      for (int e = G->start[r]; e < G->start[r + 1]; e++, at++) {
        i->col[at] = s->row[G->col[e]]; /* ascending, as the rows of an island keep their order */
        i->value[at] = G->value[e];
      }
    }
  }
  i->start[rows] = at;
  i->G = (ss_sparse){rows, rows, i->start, i->col, i->value};
  i->cp = (ss_cp){.n = rows, .n_blocks = nodes, .g = i->g, .blocks = i->blocks, .sparse = &i->G};
  return SS_OK;
}

/* Solves island k and copies its z. */
static ss_status solve_island(const islands *s, int k, const ss_cp *problem, const ss_sparse *G,
                              const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                              ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  island i;
  ss_cp_result own = {0};
  ss_status status = island_create(&i, s, k, problem, G, z, w, error);
  if (!status && i.cp.n > ISLAND_ROWS)
    status = run(&i.cp, options, take_turns, warm, i.z, w, &own, error);
  else if (!status)
    status = ss_cp_solve(&i.cp, options, warm, i.z, w, &own, error);
  for (int m = s->start[k]; m < s->start[k + 1] && !status; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) z[r] = i.z[s->row[r]] * s->amplitude;
  result->iterations += own.iterations;
  if (own.outcome != SS_SOLVED) result->outcome = own.outcome;
  scratch_release(w, mark);
  return status;
}

ss_status solve_large(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(workspace);
  ss_cp_options own = *options;
  own.solver = "auto";
  ss_sparse G;
  islands s = {0};
  ss_status status = storage_rows(problem, workspace, &G, error);
  if (!status) status = find_islands(&s, problem, &G, workspace, error);
  if (!status) sort_islands(&s);
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(problem->g[i]));
  s.amplitude = 1 / inverse_power(largest);
  result->outcome = SS_SOLVED;
  for (int k = 0; k < s.count && !status; k++)
    status = solve_island(&s, k, problem, &G, &own, warm, z, workspace, result, error);
  scratch_release(workspace, mark);
  return status;
}
