/* Contacts that no chain of bodies connects are problems of their own: the islands of the step's problem.
 *
 * After a collision only the island that it reaches has another solution; the others' guess from the forces before is right,
 * and is confirmed at the price of one look at a small matrix. Fixed bodies and the world connect nothing. Mechanisms are
 * left whole (their joints' rows are one block), and so are problems too small to gain. The answer is judged as a whole. */
#include "step/workspace.h"

#include <string.h>

enum { SMALLEST = 24, LARGE = 200 }; /* rows: worth dividing; from which an island's matrix is listed */

static int root_of(int *parent, int k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

/* Numbers the islands in the order of their first blocks; returns how many there are. */
static int number_islands(const ss_sim *sim, ss_islands *s) {
  const ss_problem *p = &sim->problem;
  int *parent = s->body, *number = s->body + sim->model->n_bodies, count = 0;
  for (int k = 0; k < sim->model->n_bodies; k++) parent[k] = k, number[k] = -1;
  for (int i = 0; i < p->n; i++) {
    const int a = p->rows[i].body[0], b = p->rows[i].body[1];
    if (a >= 0 && b >= 0) parent[root_of(parent, a)] = root_of(parent, b);
  }
  for (int b = 0; b < p->n_blocks; b++) {
    const ss_row *row = &p->rows[p->blocks[b].first];
    const int body = row->body[0] >= 0 ? row->body[0] : row->body[1];
    const int root = body >= 0 ? root_of(parent, body) : -1;
    s->island[b] = root >= 0 && number[root] >= 0 ? number[root] : count++;
    if (root >= 0) number[root] = s->island[b];
  }
  return count;
}

static ss_status reserve(ss_sim *sim, ss_error *error) {
  const ss_problem *p = &sim->problem;
  ss_islands *s = &sim->islands;
  ss_status status = ss_grow((void **)&s->body, &s->body_capacity, 2 * sim->model->n_bodies, sizeof *s->body, error);
  if (status == SS_OK)
    status = ss_grow((void **)&s->island, &s->block_capacity[0], p->n_blocks, sizeof *s->island, error);
  if (status == SS_OK)
    status = ss_grow((void **)&s->blocks, &s->block_capacity[1], p->n_blocks, sizeof *s->blocks, error);
  if (status == SS_OK)
    status = ss_grow((void **)&s->work, &s->block_capacity[2], 2 * p->n_blocks, sizeof *s->work, error);
  if (status == SS_OK) status = ss_grow((void **)&s->row, &s->row_capacity[0], 3 * p->n + 1, sizeof *s->row, error);
  if (status == SS_OK) status = ss_grow((void **)&s->g, &s->row_capacity[1], 2 * p->n, sizeof *s->g, error);
  return status;
}

ss_status ss_find_islands(ss_sim *sim, int *count, ss_error *error) {
  const ss_status status = reserve(sim, error);
  *count = status == SS_OK ? number_islands(sim, &sim->islands) : 0;
  return status;
}

/* Island k's rows and blocks; s->row: which row of the problem each is, then which of the island's rows a row of the problem is. */
static int gather(const ss_problem *p, ss_islands *s, int k, ss_cp *out) {
  int n = 0, blocks = 0, *local = s->row + p->n;
  for (int b = 0; b < p->n_blocks; b++) {
    if (s->island[b] != k) continue;
    s->blocks[blocks] = p->blocks[b];
    s->blocks[blocks++].first = n;
    for (int i = p->blocks[b].first; i < p->blocks[b].first + p->blocks[b].size; i++) {
      s->row[n] = i;
      local[i] = n;
      s->g[n] = p->g[i];
      s->g[p->n + n++] = p->z[i];
    }
  }
  *out = (ss_cp){.n = n, .n_blocks = blocks, .g = s->g, .blocks = s->blocks};
  return n;
}

/* Its matrix: dense, or listed like the problem's where it is large. */
static ss_status fill(const ss_problem *p, ss_islands *s, ss_cp *island, ss_error *error) {
  const int n = island->n, *local = s->row + p->n;
  const bool listed = p->large && n >= LARGE;
  int entries = 0;
  for (int i = 0; i < n && listed; i++) entries += p->listed.start[s->row[i] + 1] - p->listed.start[s->row[i]];
  if (!listed) entries = n * n;
  ss_status status = ss_grow((void **)&s->G, &s->G_capacity[0], entries, sizeof *s->G, error);
  if (status == SS_OK && listed) status = ss_grow((void **)&s->col, &s->G_capacity[1], entries, sizeof *s->col, error);
  if (status != SS_OK) return status;
  if (!listed) memset(s->G, 0, sizeof(double) * (size_t)entries);
  int *start = s->row + (ptrdiff_t)2 * p->n, at = 0;
  for (int i = 0; i < n; i++) {
    double *line = s->G + (size_t)i * (size_t)n;
    const int r = s->row[i];
    if (listed) start[i] = at;
    for (int k = p->large ? p->listed.start[r] : 0; p->large && k < p->listed.start[r + 1]; k++) {
      if (listed) {
        s->col[at] = local[p->listed.col[k]]; /* ascending, as the rows of an island keep their order */
        s->G[at++] = p->listed.value[k];
      } else {
        line[local[p->listed.col[k]]] = p->listed.value[k];
      }
    }
    for (int j = 0; j < n && !p->large; j++) line[j] = p->G[(size_t)r * (size_t)p->n + (size_t)s->row[j]];
  }
  if (listed) {
    start[n] = at;
    s->matrix = (ss_sparse){n, n, start, s->col, s->G};
    island->sparse = &s->matrix;
  } else {
    island->G = s->G;
  }
  return SS_OK;
}

void ss_islands_free(ss_islands *s) {
  ss_free(s->body);
  ss_free(s->island);
  ss_free(s->blocks);
  ss_free(s->work);
  ss_free(s->row);
  ss_free(s->g);
  ss_free(s->G);
  ss_free(s->col);
}

ss_status ss_solve_islands(ss_sim *sim, const ss_cp_options *options, ss_cp_result *result, bool *done,
                           ss_error *error) {
  ss_problem *p = &sim->problem;
  ss_islands *s = &sim->islands;
  *done = false;
  if (p->n < SMALLEST || p->first_contact > 0 || p->n_free > 0 || !sim->automatic || sim->system ||
      sim->coupling.active || sim->scheme->compliant || sim->iteration_limit > 0)
    return SS_OK;
  int count;
  ss_status status = ss_find_islands(sim, &count, error);
  if (count < 2) return status;
  *done = true;
  for (int k = 0; k < count && status == SS_OK; k++) {
    ss_cp island;
    ss_cp_result own = {0};
    const int n = gather(p, s, k, &island);
    status = fill(p, s, &island, error);
    double *z = s->g + p->n;
    if (status == SS_OK) status = ss_solve_rows(sim, &island, s->row, options, z, &own, error);
    for (int i = 0; i < n && status == SS_OK; i++) p->z[s->row[i]] = z[i];
    result->iterations += own.iterations;
    result->fallbacks += own.fallbacks;
  }
  return status;
}
