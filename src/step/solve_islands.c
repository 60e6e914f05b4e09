/* Contacts that no chain of bodies connects are problems of their own: the islands of the step's problem.
 *
 * The impulses of the last part are judged first, from J and A alone: after a collision only the island that it reaches has
 * another solution, and in a heap at rest none has. What they solve costs no matrix and no solver. The matrices of the other
 * islands are assembled one by one, each by one thread. Each answer is judged by itself, in the units of the whole problem. Fixed bodies and the
 * world connect nothing. Mechanisms are left whole (their joints' rows are one block), and so are problems too small to gain. */
#include "core/sets.h"
#include "step/step.h"

#include "cp/workspace.h"

#include <string.h>

/* rows: from which an island's matrix is listed; up to which an island is always solved, which is more exact; from which it is a crowd */
enum { LARGE = 200, FEW = 64, CROWD = 1000 };

/* Numbers the islands in the order of their first blocks; returns how many there are. */
static int number_islands(const ss_sim *sim, ss_islands *s) {
  const ss_problem *p = &sim->trial.problem;
  int *parent = s->body, *number = s->body + sim->model->n_bodies, count = 0;
  for (int k = 0; k < sim->model->n_bodies; k++) parent[k] = k, number[k] = -1;
  for (int i = 0; i < p->n_blocks; i++) { /* the rows of a block are those of one contact */
    const ss_row *row = &p->rows[p->blocks[i].first];
    const int a = row->body[0], b = row->body[1];
    if (a >= 0 && b >= 0) ss_set_join(parent, a, b);
  }
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_row *row = &p->rows[p->blocks[b].first];
    const int body = row->body[0] >= 0 ? row->body[0] : row->body[1];
    const int root = body >= 0 ? ss_set_of(parent, body) : -1;
    s->island[b] = root >= 0 && number[root] >= 0 ? number[root] : count++;
    if (root >= 0) number[root] = s->island[b];
  }
  return count;
}

static ss_status reserve(ss_sim *sim, ss_error *error) {
  const int blocks = sim->trial.problem.n_blocks;
  ss_islands *s = &sim->solver.islands;
  SS_TRY(SS_GROW(s->body, s->body_capacity, 2 * sim->model->n_bodies, error));
  SS_TRY(SS_GROW(s->island, s->block_capacity[0], blocks, error));
  SS_TRY(SS_GROW(s->residual, s->block_capacity[1], blocks, error));
  SS_TRY(SS_GROW(s->work, s->block_capacity[2], 3 * blocks, error));
  SS_TRY(SS_GROW(s->order, s->block_capacity[3], 2 * blocks + 1, error));
  SS_TRY(SS_GROW(s->rests, s->block_capacity[4], blocks, error));
  return SS_GROW(s->part, s->block_capacity[5], blocks, error);
}

static ss_status reserve_work(const ss_problem *p, ss_island_work *w, ss_error *error) {
  SS_TRY(SS_GROW(w->blocks, w->block_capacity, p->n_blocks, error));
  SS_TRY(SS_GROW(w->row, w->row_capacity[0], 3 * p->n + 1, error));
  return SS_GROW(w->g, w->row_capacity[1], 4 * p->n, error);
}

ss_status ss_find_islands(ss_sim *sim, ss_error *error) {
  if (sim->solver.islands.count > 0) return SS_OK;
  SS_TRY(reserve(sim, error));
  sim->solver.islands.count = number_islands(sim, &sim->solver.islands);
  return SS_OK;
}

int ss_island_of(const ss_sim *sim, int body) {
  int *parent = sim->solver.islands.body;
  return parent[sim->model->n_bodies + ss_set_of(parent, body)];
}

/* Island k's rows and blocks; s->row: which row of the problem each is, then which of the island's rows a row of the problem is. */
static void gather(const ss_problem *p, const ss_islands *all, int k, ss_island_work *s, ss_cp *out) {
  const int *start = all->order + p->n_blocks;
  int n = 0, blocks = 0, *local = s->row + p->n;
  double *z = s->g + p->n, *w = z + p->n, *weight = w + p->n;
  for (int at = start[k]; at < start[k + 1]; at++) {
    const ss_block *block = &p->blocks[all->order[at]];
    s->blocks[blocks] = *block;
    s->blocks[blocks++].first = n;
    for (int i = block->first; i < block->first + block->size; i++, n++) {
      s->row[n] = i;
      local[i] = n;
      s->g[n] = p->g[i];
      z[n] = p->z[i];
      w[n] = p->slack[i];
      weight[n] = p->weight[i];
    }
  }
  *out = (ss_cp){.n = n, .n_blocks = blocks, .g = s->g, .blocks = s->blocks, .compliance = weight};
}

/* Its matrix in natural units: dense, or listed where it is large. */
static ss_status assemble(const ss_sim *sim, ss_island_work *s, ss_cp *island, ss_error *error) {
  const ss_problem *p = &sim->trial.problem;
  const int n = island->n, *local = s->row + p->n;
  const bool listed = n >= LARGE;
  int *start = s->row + (ptrdiff_t)2 * p->n, entries = 0;
  for (int i = 0; i < n; i++) {
    start[i] = entries;
    entries += ss_rows_of(sim, s->row[i], NULL, NULL);
  }
  start[n] = entries;
  const int room = listed ? entries : entries + n * n; /* a dense one is spread behind its list */
  SS_TRY(SS_GROW(s->G, s->G_capacity[0], room, error));
  SS_TRY(SS_GROW(s->col, s->G_capacity[1], entries, error));
  double *dense = s->G + entries;
  if (!listed) memset(dense, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int i = 0; i < n; i++) {
    const double own = p->scale[s->row[i]];
    (void)ss_rows_of(sim, s->row[i], s->col + start[i], s->G + start[i]);
    for (int e = start[i]; e < start[i + 1]; e++) {
      s->G[e] *= own * p->scale[s->col[e]];
      s->col[e] = local[s->col[e]]; /* ascending, as the rows of an island keep their order */
      if (!listed) dense[(size_t)i * (size_t)n + (size_t)s->col[e]] = s->G[e];
    }
  }
  s->matrix = (ss_sparse){n, n, start, s->col, s->G};
  if (listed)
    island->sparse = &s->matrix;
  else
    island->G = dense;
  return SS_OK;
}

void ss_islands_free(ss_islands *s) {
  ss_free(s->body);
  ss_free(s->island);
  ss_free(s->order);
  ss_free(s->rests);
  ss_free(s->work);
  ss_free(s->part);
  ss_free(s->residual);
  for (int k = 0; k < s->n_workers; k++) {
    ss_island_work *w = &s->workers[k];
    ss_cp_workspace_destroy(w->cp);
    ss_factors_free(&w->factors);
    ss_free(w->blocks);
    ss_free(w->row);
    ss_free(w->g);
    ss_free(w->G);
    ss_free(w->col);
  }
  ss_free(s->workers);
}

/* A place to work for each thread. */
ss_status ss_islands_prepare(ss_sim *sim, ss_error *error) {
  ss_islands *s = &sim->solver.islands;
  const int n = ss_threads_count(sim->threads);
  if (n <= s->n_workers) return SS_OK;
  ss_island_work *more = ss_realloc(s->workers, sizeof *more * (size_t)n);
  if (!more) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  s->workers = more;
  while (s->n_workers < n) {
    s->workers[s->n_workers] = (ss_island_work){.failed = -1};
    SS_TRY(ss_cp_workspace_create(&s->workers[s->n_workers].cp, error));
    s->n_workers++;
  }
  return SS_OK;
}

ss_status ss_sim_use_threads(ss_sim *sim, int threads, ss_error *error) {
  if (threads < 1) return ss_fail(error, SS_ERROR_INPUT, "a simulation needs at least one thread, not %d", threads);
  ss_threads *pool;
  SS_TRY(ss_threads_create(sim->system ? 1 : threads, &pool, error)); /* a system's functions have one memory */
  ss_threads_destroy(sim->threads);
  sim->threads = pool;
  sim->solver.cp->threads = pool;
  return ss_islands_prepare(sim, error);
}

/* ---- what the guess solves already ---- */

static void leave_slacks(const void *user, const double *z, double *w) {
  (void)user;
  (void)z;
  (void)w;
}

/* The residual of the guess in one block, whose slacks are known. */
static void judge_block(ss_sim *sim, int b) {
  const ss_problem *p = &sim->trial.problem;
  const ss_cp own = {.n_blocks = 1, .blocks = &p->blocks[b], .g = p->g, .apply = leave_slacks};
  sim->solver.islands.part[b] = ss_cp_judge(&own, p->z, p->slack);
}

/* The residual of the guess in each island; none of an impact, which starts from nothing. Small islands that move are solved anyhow. */
static void judge_guess(ss_sim *sim) {
  const ss_problem *p = &sim->trial.problem;
  const ss_islands *s = &sim->solver.islands;
  double *largest = s->work + 2 * (ptrdiff_t)p->n_blocks;
  for (int k = 0; k < s->count; k++) s->residual[k] = p->h > 0 ? 0 : HUGE_VAL, largest[k] = 0;
  if (!(p->h > 0)) return;
  ss_each(sim, p->n_blocks, judge_block);
  const int *start = s->order + p->n_blocks;
  for (int b = 0; b < p->n_blocks; b++) {
    const int k = s->island[b], first = p->blocks[b].first;
    if (!(s->part[b] <= s->residual[k])) s->residual[k] = s->part[b]; /* NaN stays */
    for (int i = first; i < first + p->blocks[b].size; i++) largest[k] = fmax(largest[k], fabs(p->g[i]));
  }
  for (int k = 0; k < s->count; k++) {
    int rows = 0;
    for (int at = start[k]; at < start[k + 1] && rows <= FEW; at++) rows += p->blocks[s->order[at]].size;
    s->residual[k] = rows > FEW || s->rests[k] ? s->residual[k] / (1 + largest[k]) : HUGE_VAL;
  }
}

static void leave_at_rest(ss_sim *sim, int b) {
  ss_problem *p = &sim->trial.problem;
  for (int i = p->blocks[b].first; i < p->blocks[b].first + p->blocks[b].size; i++)
    if (sim->solver.islands.rests[sim->solver.islands.island[b]]) p->slack[i] = 0;
}

/* ---- the others ---- */

/* One island, in natural units, from the problem's z, which its answer replaces. */
static ss_status solve_island(ss_sim *sim, int k, const ss_cp_options *options, ss_island_work *s, ss_error *error) {
  ss_problem *p = &sim->trial.problem;
  ss_cp island;
  gather(p, &sim->solver.islands, k, s, &island);
  double *z = s->g + p->n, *w = z + p->n;
  ss_cp_result own = {0};
  /* Of a crowd most operations are those of factors in dense panels, which take a small part of the time of others and grow with the
   * square of its size. */
  const double cheap = fmax(1, island.n / (double)CROWD);
  ss_cp_options mine = *options;
  mine.total *= cheap;
  ss_status status = assemble(sim, s, &island, error);
  if (status == SS_OK) status = ss_add_factors(sim, &s->factors, s->row, &island, error);
  if (status == SS_OK) status = ss_cp_solve(&island, &mine, ss_has_guess(z, island.n), z, s->cp, &own, error);
  if (status != SS_OK) return status;
  s->iterations += own.iterations;
  s->fallbacks += own.fallbacks;
  s->operations += (long long)(own.operations / cheap);
  sim->solver.islands.residual[k] = ss_cp_judge(&island, z, w);
  if (own.iterations > 1 && ss_judges_selection(sim))
    s->uneven = fmax(s->uneven, ss_cp_judge_selection(&island, z, s->cp));
  for (int i = 0; i < island.n; i++) {
    p->z[s->row[i]] = z[i];
    p->slack[s->row[i]] = w[i];
  }
  return SS_OK;
}

typedef struct island_job {
  ss_sim *sim;
  const ss_cp_options *options;
  int shared; /* the island that has been solved by itself; -1: none */
} island_job;

static void solve_some(void *user, int worker, int from, int to) {
  const island_job *job = user;
  const ss_islands *s = &job->sim->solver.islands;
  ss_island_work *w = &s->workers[worker];
  for (int k = from; k < to && w->failed < 0; k++) {
    if (k == job->shared || s->residual[k] <= job->options->tolerance) continue;
    w->status = solve_island(job->sim, k, job->options, w, &w->error);
    if (w->status != SS_OK) w->failed = k;
  }
}

/* An island to be solved by itself: the only one, or one that is larger than all others together, with enough rows for threads to share its
 * solver's loops; -1: none. */
static int find_shared(const ss_sim *sim, double tolerance) {
  enum { WORTH_IT = 600 };
  const ss_islands *s = &sim->solver.islands;
  const int *start = s->order + sim->trial.problem.n_blocks;
  int largest = -1, blocks = 0, all = 0, rows = 0;
  for (int k = 0; k < s->count; k++) {
    if (s->residual[k] <= tolerance) continue;
    const int own = start[k + 1] - start[k];
    all += own;
    if (own <= blocks) continue;
    blocks = own;
    largest = k;
  }
  for (int at = largest < 0 ? 0 : start[largest]; largest >= 0 && at < start[largest + 1]; at++)
    rows += sim->trial.problem.blocks[s->order[at]].size;
  return blocks == all || (2 * blocks > all && rows >= WORTH_IT) ? largest : -1;
}

ss_status ss_solve_islands(ss_sim *sim, const ss_cp_options *options, ss_cp_result *result, double *residual,
                           double *uneven, ss_error *error) {
  const ss_problem *p = &sim->trial.problem;
  ss_islands *s = &sim->solver.islands;
  ss_sets_sort(p->n_blocks, s->island, s->count, s->order + p->n_blocks, s->order);
  judge_guess(sim);
  for (int k = 0; k < s->count; k++) s->rests[k] = s->rests[k] && s->residual[k] <= options->tolerance;
  ss_each(sim, p->n_blocks, leave_at_rest);
  for (int k = 0; k < s->n_workers; k++) {
    ss_island_work *w = &s->workers[k];
    const ss_status status = reserve_work(p, w, error);
    if (status != SS_OK) return status;
    w->iterations = w->fallbacks = 0;
    w->operations = 0;
    w->uneven = 0;
    w->failed = -1;
  }
  island_job job = {sim, options, find_shared(sim, options->tolerance)};
  if (job.shared >= 0) {
    ss_island_work *w = &s->workers[0];
    w->cp->threads = sim->threads;
    const ss_status status = solve_island(sim, job.shared, options, w, error);
    w->cp->threads = NULL;
    if (status != SS_OK) return status;
  }
  ss_threads_for(sim->threads, s->count, 1, solve_some, &job);
  const ss_island_work *first = NULL; /* of those that failed, the one of the first island */
  for (int k = 0; k < s->n_workers; k++) {
    const ss_island_work *w = &s->workers[k];
    result->iterations += w->iterations;
    result->fallbacks += w->fallbacks;
    result->operations += (double)w->operations; /* whole numbers: the same sum for any number of threads */
    *uneven = fmax(*uneven, w->uneven);
    if (w->failed >= 0 && (!first || w->failed < first->failed)) first = w;
  }
  if (first) {
    if (error) *error = first->error;
    return first->status;
  }
  *residual = 0;
  for (int k = 0; k < s->count && !isnan(*residual); k++)
    if (!(s->residual[k] <= *residual)) *residual = s->residual[k];
  return SS_OK;
}
