/* The connected parts of the graph that G has between its nodes, and the problem of each. Their order, and the units of the whole
 * right side that they are measured in, depend on the problem alone. */

#include "core/sets.h"
#include "la/dense.h"
#include "cp/solver.h"
#include "cp/storage.h"

#include <math.h>
#include <string.h>

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

typedef struct island {
  ss_cp cp;
  ss_sparse G;
  ss_block *blocks;
  double *g, *z, *value;
  int *start, *col;
  ss_cp_operator factors;
} island;

/* Nodes with their rows, from the blocks. */
static void list_nodes(islands *s, const ss_cp *problem, int *node_of_row) {
  for (int b = 0; b < problem->n_blocks; b++) {
    const ss_block *block = &problem->blocks[b];
    const int step = block->kind == SS_BLOCK_FRICTION ? block->size : 1;
    for (int i = block->first; i < block->first + block->size; i += step) {
      s->first[s->nodes] = i;
      s->block[s->nodes] = b;
      for (int k = i; k < i + step; k++) node_of_row[k] = s->nodes;
      s->nodes++;
    }
  }
  s->first[s->nodes] = problem->n;
}

/* Trees grow together wherever G has an entry, on either side of the diagonal; their roots are their first nodes. */
static ss_status find_islands(islands *s, const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w,
                              ss_error *error) {
  const size_t n = (size_t)problem->n;
  *s = (islands){.n = problem->n, .first = SCRATCH(w, int, 6 * n + 2)};
  int *node_of_row = SCRATCH(w, int, 2 * n), *parent = node_of_row + n;
  if (!s->first || !node_of_row) return out_of_memory(error);
  s->block = s->first + n + 1;
  s->part = s->block + n;
  s->members = s->part + n;
  s->row = s->members + n;
  s->start = s->row + n;
  list_nodes(s, problem, node_of_row);
  for (int r = 0; r < s->nodes; r++) parent[r] = r;
  for (int i = 0; i < problem->n; i++)
    for (int e = G->start[i]; e < G->start[i + 1]; e++) ss_set_join(parent, node_of_row[i], node_of_row[G->col[e]]);
  for (int r = 0; r < s->nodes; r++) s->part[r] = parent[r] == r ? s->count++ : s->part[ss_set_of(parent, r)];
  return SS_OK;
}

/* The factors of an island: its rows of J, and the bodies that they touch. */
static ss_status island_factors(island *i, const islands *s, int k, const ss_cp_operator *o, ss_cp_workspace *w,
                                ss_error *error) {
  int entries = 0, rows = 0, bodies = 0, columns = 0, at = 0;
  for (int m = s->start[k]; m < s->start[k + 1]; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) {
      entries += o->J.start[r + 1] - o->J.start[r];
      rows++;
    }
  int *start = SCRATCH(w, int, rows + 1), *col = SCRATCH(w, int, entries), *body = SCRATCH(w, int, o->J.cols);
  int *number = SCRATCH(w, int, 2 * (size_t)o->n_bodies + 1), *first = number + o->n_bodies;
  double *value = SCRATCH(w, double, entries), *A = SCRATCH(w, double, o->J.cols *SS_CP_BODY_ROWS);
  if (!start || !col || !body || !number || !value || !A) return out_of_memory(error);
  for (int b = 0; b < o->n_bodies; b++) {
    number[b] = 0;
    for (int c = o->first[b]; c < o->first[b + 1]; c++) body[c] = b;
  }
  for (int m = s->start[k]; m < s->start[k + 1]; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++)
      for (int e = o->J.start[r]; e < o->J.start[r + 1]; e++) number[body[o->J.col[e]]] = 1;
  double *to = A;
  const double *from = o->A;
  for (int b = 0; b < o->n_bodies; b++) {
    const int size = o->first[b + 1] - o->first[b];
    if (number[b]) {
      memcpy(to, from, sizeof(double) * (size_t)(size * size));
      to += (ptrdiff_t)size * size;
      first[bodies] = columns;
      number[b] = bodies++;
      columns += size;
    }
    from += (ptrdiff_t)size * size;
  }
  first[bodies] = columns;
  rows = 0;
  for (int m = s->start[k]; m < s->start[k + 1]; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) {
      start[rows++] = at;
      for (int e = o->J.start[r]; e < o->J.start[r + 1]; e++, at++) {
        const int b = body[o->J.col[e]];
        col[at] = first[number[b]] + o->J.col[e] - o->first[b];
        value[at] = o->J.value[e];
      }
    }
  start[rows] = at;
  i->factors = (ss_cp_operator){.J = {rows, columns, start, col, value}, .n_bodies = bodies, .first = first, .A = A};
  i->cp.factors = &i->factors;
  return SS_OK;
}

static ss_status create_island(island *i, const islands *s, int k, const ss_cp *problem, const ss_sparse *G,
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
  if (rows <= MODERATE_ROWS || !operator_has_bodies(problem->factors)) return SS_OK;
  if (!problem->sparse && !problem->G) i->cp.sparse = NULL; /* given like the whole */
  return island_factors(i, s, k, problem->factors, w, error);
}

/* Contacts that hang together through no body are problems of their own, solved one by one by "auto".
 *
 * Each is measured in units of the whole right side, and its tolerance is such that the whole meets its own: the judge divides by one
 * plus the largest entry of g, which is at most 2 in these units. Results do not depend on the order of the islands. */

/* Solves island k and copies its z. */
static ss_status solve_island(const islands *s, int k, const ss_cp *problem, const ss_sparse *G,
                              const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                              ss_cp_result *result, ss_error *error) {
  const scratch_mark mark = scratch_now(w);
  island i;
  ss_cp_result own = {0};
  ss_status status = create_island(&i, s, k, problem, G, z, w, error);
  if (!status) status = ss_cp_solve(&i.cp, options, warm, i.z, w, &own, error);
  for (int m = s->start[k]; m < s->start[k + 1] && !status; m++)
    for (int r = s->first[s->members[m]]; r < s->first[s->members[m] + 1]; r++) z[r] = i.z[s->row[r]] * s->amplitude;
  result->iterations += own.iterations;
  result->operations += own.operations;
  result->no_solution = result->no_solution || own.no_solution;
  if (own.outcome != SS_SOLVED) result->outcome = own.outcome;
  scratch_release(w, mark);
  return status;
}

static ss_status solve_parts(const ss_cp *problem, const ss_cp_options *options, bool warm, int least, double *z,
                             ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  static const double rounding = 0.99;
  ss_cp_options own = *options;
  own.solver = "auto";
  ss_sparse G;
  islands s = {0};
  result->outcome = SS_NOT_ADMITTED;
  ss_status status = storage_rows(problem, workspace, &G, error);
  if (!status) status = find_islands(&s, problem, &G, workspace, error);
  if (status || s.count < least) return status;
  ss_sets_sort(s.nodes, s.part, s.count, s.start, s.members);
  double largest = 0;
  for (int i = 0; i < problem->n; i++) largest = fmax(largest, fabs(problem->g[i]));
  s.amplitude = 1 / inverse_power(largest);
  own.tolerance *= fmin(1, rounding * (1 + largest) / (s.amplitude + largest));
  result->outcome = SS_SOLVED;
  for (int k = 0; k < s.count && !status; k++)
    status = solve_island(&s, k, problem, &G, &own, warm, z, workspace, result, error);
  return status;
}

ss_status solve_islands(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                        ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve_parts(problem, options, warm, 2, z, workspace, result, error);
}

ss_status solve_large(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                      ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error) {
  return solve_parts(problem, options, warm, 1, z, workspace, result, error);
}
