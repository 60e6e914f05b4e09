/* Up-looking LU on a fixed symmetric pattern: row i is scattered into a dense vector, the rows before it are eliminated
 * in order, and it is gathered back. No pivoting for stability is needed where the symmetric part is positive
 * definite; a pivot at rounding level marks a redundant row, whose Schur complement is zero as a whole when the matrix is
 * symmetric. Where it is not (gyroscopic terms on redundant joints) the caller sees the residual. */
#include "la/sparse_lu.h"

#include <math.h>
#include <string.h>

/* ---- analysis: rows of one joint are one node ---- */

typedef struct node {
  int body[2];
  int first, size; /* its rows */
  int *near;       /* neighbours not yet eliminated; after its elimination: those at that moment */
  int degree, room;
  bool done;
} node;

typedef struct graph {
  ss_arena *arena; /* scratch */
  node *nodes;
  int n;
  int *sequence; /* nodes in the order of elimination */
  int *mark;
} graph;

static bool add_neighbour(graph *g, node *a, int b) {
  for (int i = 0; i < a->degree; i++)
    if (a->near[i] == b) return true;
  if (a->degree == a->room) {
    const int room = a->room ? 2 * a->room : 8;
    int *grown = SS_ARENA_ARRAY(g->arena, int, room);
    if (!grown) return false;
    if (a->degree) memcpy(grown, a->near, sizeof(int) * (size_t)a->degree);
    a->near = grown;
    a->room = room;
  }
  a->near[a->degree++] = b;
  return true;
}

static bool make_graph(graph *g, int n, const ss_lu_row *rows) {
  int bodies = 0;
  g->nodes = SS_ARENA_ARRAY(g->arena, node, n);
  g->sequence = SS_ARENA_ARRAY(g->arena, int, n);
  if (!g->nodes || !g->sequence) return false;
  for (int i = 0; i < n; i++) {
    const bool same = i > 0 && memcmp(rows[i].body, rows[i - 1].body, sizeof rows[i].body) == 0;
    if (!same) g->nodes[g->n++] = (node){.body = {rows[i].body[0], rows[i].body[1]}, .first = i};
    g->nodes[g->n - 1].size++;
    for (int side = 0; side < 2; side++)
      if (rows[i].body[side] >= bodies) bodies = rows[i].body[side] + 1;
  }
  /* Lists of the nodes at each body: last[b] and, from node side to node side, previous. */
  int *last = SS_ARENA_ARRAY(g->arena, int, bodies + 1), *previous = SS_ARENA_ARRAY(g->arena, int, 2 * g->n + 1);
  if (!last || !previous) return false;
  for (int b = 0; b < bodies; b++) last[b] = -1;
  for (int k = 0; k < g->n; k++)
    for (int side = 0; side < 2; side++) {
      const int body = g->nodes[k].body[side];
      if (body < 0) continue;
      for (int other = last[body]; other >= 0; other = previous[other]) {
        if (other / 2 == k) continue;
        if (!add_neighbour(g, &g->nodes[k], other / 2) || !add_neighbour(g, &g->nodes[other / 2], k)) return false;
      }
      previous[2 * k + side] = last[body];
      last[body] = 2 * k + side;
    }
  return true;
}

static int choose(const graph *g) {
  int best = -1;
  for (int k = 0; k < g->n; k++)
    if (!g->nodes[k].done && (best < 0 || g->nodes[k].degree < g->nodes[best].degree)) best = k;
  return best;
}

static void remove_neighbour(node *a, int b) {
  for (int i = 0; i < a->degree; i++)
    if (a->near[i] == b) a->near[i--] = a->near[--a->degree];
}

/* Eliminates in order of degree; neighbours of an eliminated node become neighbours of each other. */
static bool eliminate(graph *g) {
  for (int step = 0; step < g->n; step++) {
    const int k = choose(g);
    node *pivot = &g->nodes[k];
    g->sequence[step] = k;
    pivot->done = true;
    for (int i = 0; i < pivot->degree; i++) {
      remove_neighbour(&g->nodes[pivot->near[i]], k);
      for (int j = 0; j < pivot->degree; j++)
        if (i != j && !add_neighbour(g, &g->nodes[pivot->near[i]], pivot->near[j])) return false;
    }
  }
  return true;
}

/* ---- from the eliminated graph to the pattern of rows ---- */

static void sort_places(int *a, int n) {
  for (int k = 1; k < n; k++) {
    const int item = a[k];
    int place = k;
    for (; place > 0 && a[place - 1] > item; place--) a[place] = a[place - 1];
    a[place] = item;
  }
}

static bool make_pattern(ss_lu *lu, const graph *g) {
  const int n = lu->n;
  int *place_of_node = SS_ARENA_ARRAY(g->arena, int, g->n + 1), *count = SS_ARENA_ARRAY(g->arena, int, n + 1);
  lu->order = SS_ARENA_ARRAY(lu->arena, int, n);
  lu->upper_start = SS_ARENA_ARRAY(lu->arena, int, n + 1);
  lu->lower_start = SS_ARENA_ARRAY(lu->arena, int, n + 1);
  if (!place_of_node || !count || !lu->order || !lu->upper_start || !lu->lower_start) return false;
  size_t total = 0;
  for (int s = 0, place = 0; s < g->n; s++) {
    const node *a = &g->nodes[g->sequence[s]];
    place_of_node[g->sequence[s]] = place;
    int later = 0;
    for (int i = 0; i < a->degree; i++) later += g->nodes[a->near[i]].size;
    for (int i = 0; i < a->size; i++) {
      lu->order[place++] = a->first + i;
      total += (size_t)(a->size - 1 - i + later);
    }
  }
  if (total > 1u << 30) return false;
  lu->upper = SS_ARENA_ARRAY(lu->arena, int, total + 1);
  lu->lower = SS_ARENA_ARRAY(lu->arena, int, total + 1);
  lu->u = SS_ARENA_ARRAY(lu->arena, double, total + 1);
  lu->l = SS_ARENA_ARRAY(lu->arena, double, total + 1);
  lu->d = SS_ARENA_ARRAY(lu->arena, double, n);
  lu->work = SS_ARENA_ARRAY(lu->arena, double, n);
  if (!lu->upper || !lu->lower || !lu->u || !lu->l || !lu->d || !lu->work) return false;
  int fill = 0;
  for (int s = 0; s < g->n; s++) {
    const node *a = &g->nodes[g->sequence[s]];
    const int first = place_of_node[g->sequence[s]];
    for (int i = 0; i < a->size; i++) {
      const int place = first + i;
      lu->upper_start[place] = fill;
      for (int j = i + 1; j < a->size; j++) lu->upper[fill++] = first + j;
      for (int k = 0; k < a->degree; k++)
        for (int j = 0; j < g->nodes[a->near[k]].size; j++) lu->upper[fill++] = place_of_node[a->near[k]] + j;
      sort_places(lu->upper + lu->upper_start[place], fill - lu->upper_start[place]);
      for (int k = lu->upper_start[place]; k < fill; k++) count[lu->upper[k]]++;
    }
  }
  lu->upper_start[n] = fill;
  for (int i = 0; i < n; i++) lu->lower_start[i + 1] = lu->lower_start[i] + count[i];
  memset(count, 0, sizeof(int) * (size_t)n);
  for (int i = 0; i < n; i++)
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++) {
      const int j = lu->upper[k];
      lu->lower[lu->lower_start[j] + count[j]++] = i; /* ascending, as i is */
    }
  return true;
}

ss_status ss_lu_analyse(ss_lu *lu, int n, const ss_lu_row *rows, ss_error *error) {
  if (lu->arena && lu->n == n && memcmp(lu->rows, rows, sizeof *rows * (size_t)n) == 0) return SS_OK;
  ss_lu_free(lu);
  graph g = {.arena = ss_arena_create()};
  lu->arena = ss_arena_create();
  lu->n = n;
  lu->rows = lu->arena ? SS_ARENA_ARRAY(lu->arena, ss_lu_row, n) : NULL;
  const bool done = g.arena && lu->rows && make_graph(&g, n, rows) && eliminate(&g) && make_pattern(lu, &g);
  if (done) memcpy(lu->rows, rows, sizeof *rows * (size_t)n);
  ss_arena_destroy(g.arena);
  if (done) return SS_OK;
  ss_lu_free(lu);
  return ss_fail(error, SS_ERROR_MEMORY, "out of memory: the pattern of %d joint equations", n);
}

void ss_lu_free(ss_lu *lu) {
  ss_arena_destroy(lu->arena);
  *lu = (ss_lu){0};
}

/* ---- numbers ---- */

int ss_lu_factor(ss_lu *lu, double tolerance) {
  double *x = lu->work;
  int rank = 0;
  lu->smallest = HUGE_VAL;
  for (int i = 0; i < lu->n; i++) {
    const int l0 = lu->lower_start[i], l1 = lu->lower_start[i + 1], u0 = lu->upper_start[i],
              u1 = lu->upper_start[i + 1];
    const double diagonal = lu->d[i];
    for (int k = l0; k < l1; k++) x[lu->lower[k]] = lu->l[k];
    for (int k = u0; k < u1; k++) x[lu->upper[k]] = lu->u[k];
    x[i] = diagonal;
    for (int k = l0; k < l1; k++) {
      const int j = lu->lower[k];
      const double factor = lu->d[j] != 0 ? x[j] / lu->d[j] : 0;
      lu->l[k] = factor;
      x[j] = 0;
      if (factor == 0) continue;
      for (int m = lu->upper_start[j]; m < lu->upper_start[j + 1]; m++) x[lu->upper[m]] -= factor * lu->u[m];
    }
    for (int k = u0; k < u1; k++) {
      lu->u[k] = x[lu->upper[k]];
      x[lu->upper[k]] = 0;
    }
    const bool good = fabs(x[i]) > tolerance * fabs(diagonal);
    lu->d[i] = good ? x[i] : 0;
    if (good) lu->smallest = fmin(lu->smallest, fabs(x[i] / diagonal));
    rank += good;
    x[i] = 0;
  }
  return rank;
}

void ss_lu_solve(const ss_lu *lu, const double *b, double *out) {
  double *x = lu->work;
  for (int i = 0; i < lu->n; i++) {
    double sum = b[lu->order[i]];
    for (int k = lu->lower_start[i]; k < lu->lower_start[i + 1]; k++) sum -= lu->l[k] * x[lu->lower[k]];
    x[i] = lu->d[i] != 0 ? sum : 0;
  }
  for (int i = lu->n - 1; i >= 0; i--) {
    double sum = x[i];
    for (int k = lu->upper_start[i]; k < lu->upper_start[i + 1]; k++) sum -= lu->u[k] * x[lu->upper[k]];
    x[i] = lu->d[i] != 0 ? sum / lu->d[i] : 0;
  }
  for (int i = 0; i < lu->n; i++) {
    out[lu->order[i]] = x[i];
    x[i] = 0;
  }
}
