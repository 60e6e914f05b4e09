/* Block LU on a fixed symmetric pattern. The rows of a joint are one node; a node's rows have the same columns, so that each is a
 * dense panel: its own block, and what it has in common with the nodes that are eliminated later. Nodes are eliminated one after the
 * other, and what is left of the later ones is updated block by block.
 *
 * No pivoting for stability is needed where the symmetric part is positive definite; a pivot at rounding level marks a redundant row,
 * whose Schur complement is zero as a whole when the matrix is symmetric. Where it is not (gyroscopic terms on redundant
 * joints) the caller sees the residual. */
#include "la/sparse_lu.h"

#include "core/wide.h"
#include "la/rows.h"

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

/* ---- from the eliminated graph to the panels ---- */

static void sort_places(int *a, int n) {
  for (int k = 1; k < n; k++) {
    const int item = a[k];
    int place = k;
    for (; place > 0 && a[place - 1] > item; place--) a[place] = a[place - 1];
    a[place] = item;
  }
}

/* Later neighbours of a node by their place in the sequence, and where their columns start; returns the room its panels need. */
static bool make_node(ss_lu *lu, const graph *g, const int *step_of, int step, size_t *room) {
  const node *from = &g->nodes[g->sequence[step]];
  ss_lu_node *to = &lu->nodes[step];
  to->body[0] = from->body[0];
  to->body[1] = from->body[1];
  to->first = from->first;
  to->size = from->size;
  to->n_near = from->degree;
  to->near = SS_ARENA_ARRAY(lu->arena, int, 2 * from->degree + 1);
  to->target = SS_ARENA_ARRAY(lu->arena, int, from->degree * from->degree + 1);
  if (!to->near || !to->target) return false;
  to->column = to->near + from->degree;
  for (int i = 0; i < from->degree; i++) to->near[i] = step_of[from->near[i]];
  sort_places(to->near, to->n_near);
  for (int i = 0; i < to->n_near; i++) {
    to->column[i] = to->width;
    to->width += g->nodes[g->sequence[to->near[i]]].size;
  }
  *room += (size_t)to->size * (size_t)(to->size + 2 * to->width);
  return *room < (size_t)1 << 30;
}

/* target[i][j]: the column at which near node j starts in the panel of near node i. */
static void find_targets(ss_lu *lu, ss_lu_node *s) {
  for (int i = 0; i < s->n_near; i++) {
    const ss_lu_node *a = &lu->nodes[s->near[i]];
    for (int j = i + 1, k = 0; j < s->n_near; j++) {
      while (a->near[k] != s->near[j]) k++;
      s->target[i * s->n_near + j] = a->column[k];
    }
  }
}

static bool make_panels(ss_lu *lu, const graph *g) {
  int *step_of = SS_ARENA_ARRAY(g->arena, int, g->n + 1);
  lu->n_nodes = g->n;
  lu->nodes = SS_ARENA_ARRAY(lu->arena, ss_lu_node, g->n + 1);
  lu->inverse = SS_ARENA_ARRAY(lu->arena, double, lu->n + 1);
  lu->work = SS_ARENA_ARRAY(lu->arena, double, lu->n + 1);
  lu->order = SS_ARENA_ARRAY(lu->arena, int, lu->n + 1);
  if (!step_of || !lu->nodes || !lu->order || !lu->inverse || !lu->work) return false;
  for (int s = 0; s < g->n; s++) step_of[g->sequence[s]] = s;
  size_t room = 0;
  for (int s = 0; s < g->n; s++)
    if (!make_node(lu, g, step_of, s, &room)) return false;
  lu->numbers = SS_ARENA_ARRAY(lu->arena, double, room + 1);
  if (!lu->numbers) return false;
  lu->room = room;
  double *next = lu->numbers;
  for (int s = 0, place = 0; s < g->n; s++) {
    ss_lu_node *to = &lu->nodes[s];
    to->place = place;
    for (int r = 0; r < to->size; r++) lu->order[place++] = to->first + r;
    to->panel = next;
    next += (ptrdiff_t)to->size * (to->size + to->width);
    to->lower = next;
    next += (ptrdiff_t)to->size * to->width;
  }
  for (int s = 0; s < g->n; s++) find_targets(lu, &lu->nodes[s]);
  return true;
}

ss_status ss_lu_analyse(ss_lu *lu, int n, const ss_lu_row *rows, ss_error *error) {
  if (lu->arena && lu->n == n && memcmp(lu->rows, rows, sizeof *rows * (size_t)n) == 0) return SS_OK;
  ss_lu_free(lu);
  graph g = {.arena = ss_arena_create()};
  lu->arena = ss_arena_create();
  lu->n = n;
  lu->rows = lu->arena ? SS_ARENA_ARRAY(lu->arena, ss_lu_row, n) : NULL;
  const bool done = g.arena && lu->rows && make_graph(&g, n, rows) && eliminate(&g) && make_panels(lu, &g);
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

void ss_lu_clear(ss_lu *lu) { memset(lu->numbers, 0, sizeof(double) * lu->room); }

double *ss_lu_entry(const ss_lu *lu, int i, int j) {
  const ss_lu_node *at[2] = {NULL, NULL};
  for (int s = 0; s < lu->n_nodes; s++)
    for (int k = 0; k < 2; k++)
      if ((k ? j : i) >= lu->nodes[s].first && (k ? j : i) < lu->nodes[s].first + lu->nodes[s].size)
        at[k] = &lu->nodes[s];
  if (!at[0] || !at[1]) return NULL;
  const int r = i - at[0]->first, c = j - at[1]->first;
  if (at[0] == at[1]) return at[0]->panel + (ptrdiff_t)r * (at[0]->size + at[0]->width) + c;
  const bool above = at[0] < at[1];
  const ss_lu_node *s = at[above ? 0 : 1];
  const int later = (int)(at[above ? 1 : 0] - lu->nodes);
  for (int k = 0; k < s->n_near; k++)
    if (s->near[k] == later)
      return above ? s->panel + (ptrdiff_t)r * (s->size + s->width) + s->size + s->column[k] + c
                   : s->lower + (ptrdiff_t)c * s->width + s->column[k] + r;
  return NULL;
}

/* ---- numbers ---- */

/* target -= factor source */
static inline void subtract(double *restrict target, const double *restrict source, double factor, int n) {
  for (int c = 0; c < n; c++) target[c] -= factor * source[c];
}

/* Factors of a node's own block, L with ones on its diagonal; the rest of the panel with them; the lower one. d: the diagonal as it
 * was given. Returns the rank. */
static int factor_panel(ss_lu *lu, ss_lu_node *s, const double *d, double tolerance) {
  const int stride = s->size + s->width;
  double *inverse = lu->inverse + s->place;
  int rank = 0;
  for (int r = 0; r < s->size; r++) {
    double *row = s->panel + (ptrdiff_t)r * stride;
    for (int k = 0; k < r; k++) {
      row[k] *= inverse[k];
      subtract(row + k + 1, s->panel + (ptrdiff_t)k * stride + k + 1, row[k], stride - k - 1);
    }
    const bool good = fabs(row[r]) > tolerance * fabs(d[r]);
    inverse[r] = good ? 1 / row[r] : 0;
    if (good) lu->smallest = fmin(lu->smallest, fabs(row[r] / d[r]));
    rank += good;
  }
  for (int r = 0; r < s->size; r++) {
    double *lower = s->lower + (ptrdiff_t)r * s->width;
    const double *upper = s->panel + (ptrdiff_t)r * stride + s->size;
    for (int k = 0; k < r && !lu->symmetric; k++)
      subtract(lower, s->lower + (ptrdiff_t)k * s->width, s->panel[(ptrdiff_t)k * stride + r], s->width);
    for (int c = 0; c < s->width; c++) lower[c] = (lu->symmetric ? upper[c] : lower[c]) * inverse[r];
  }
  return rank;
}

/* block [rows][columns] -= L^T U, L [size][..], U [size][..]. Sums stay in registers: the blocks are small. */
static inline void subtract_product(double *block, int stride, const double *L, int l_stride, const double *U,
                                    int u_stride, int size, int rows, int columns) {
  for (int i = 0; i < rows; i++)
    for (int k = 0; k < columns; k++) {
      double sum = block[(ptrdiff_t)i * stride + k];
      for (int r = 0; r < size; r++) sum -= L[(ptrdiff_t)r * l_stride + i] * U[(ptrdiff_t)r * u_stride + k];
      block[(ptrdiff_t)i * stride + k] = sum;
    }
}

/* Compilers unroll what they know the size of: hinges in the plane have two rows, ball joints three, hinges five. */
static void update(double *block, int stride, const double *L, int l_stride, const double *U, int u_stride, int size,
                   int rows, int columns) {
  const int same = rows == size && columns == size ? size : 0;
  if (same == 2)
    subtract_product(block, stride, L, l_stride, U, u_stride, 2, 2, 2);
  else if (same == 3)
    subtract_product(block, stride, L, l_stride, U, u_stride, 3, 3, 3);
  else if (same == 5)
    subtract_product(block, stride, L, l_stride, U, u_stride, 5, 5, 5);
  else
    subtract_product(block, stride, L, l_stride, U, u_stride, size, rows, columns);
}

/* What is left of the nodes that follow. */
static void update_later(ss_lu *lu, const ss_lu_node *s) {
  const int stride = s->size + s->width;
  const double *U = s->panel + s->size, *L = s->lower;
  for (int i = 0; i < s->n_near; i++) {
    ss_lu_node *a = &lu->nodes[s->near[i]];
    const int own = a->size + a->width, at = s->column[i];
    update(a->panel, own, L + at, s->width, U + at, stride, s->size, a->size, a->size);
    for (int j = i + 1; j < s->n_near; j++) {
      const int size = lu->nodes[s->near[j]].size, to = s->target[i * s->n_near + j], from = s->column[j];
      update(a->panel + a->size + to, own, L + at, s->width, U + from, stride, s->size, a->size, size);
      if (!lu->symmetric) update(a->lower + to, a->width, U + at, stride, L + from, s->width, s->size, a->size, size);
    }
  }
}

int ss_lu_factor(ss_lu *lu, double tolerance) {
  int rank = 0;
  lu->smallest = HUGE_VAL;
  for (int k = 0; k < lu->n_nodes; k++) {
    const ss_lu_node *s = &lu->nodes[k];
    for (int r = 0; r < s->size; r++) lu->work[s->place + r] = s->panel[(ptrdiff_t)r * (s->size + s->width + 1)];
  }
  for (int k = 0; k < lu->n_nodes; k++) {
    rank += factor_panel(lu, &lu->nodes[k], lu->work + lu->nodes[k].place, tolerance);
    update_later(lu, &lu->nodes[k]);
  }
  return rank;
}

/* x of `columns` rows -= L^T own, L [size][stride] */
static inline void subtract_lower(double *x, const double *L, int stride, const double *own, int size, int columns) {
  for (int c = 0; c < columns; c++) {
    double sum = x[c];
    for (int r = 0; r < size; r++) sum -= L[(ptrdiff_t)r * stride + c] * own[r];
    x[c] = sum;
  }
}

/* Lines of U, [size][stride] in as many columns, times x are taken from own. */
static inline void subtract_upper(double *own, const double *U, int stride, const double *x, int size, int columns) {
  for (int r = 0; r < size; r++) {
    double sum = own[r];
    for (int c = 0; c < columns; c++) sum -= U[(ptrdiff_t)r * stride + c] * x[c];
    own[r] = sum;
  }
}

static inline void forward(const ss_lu *lu, const ss_lu_node *s, int size, double *x) {
  const int stride = size + s->width;
  double *own = x + s->place;
  for (int r = 1; r < size; r++) {
    const double *row = s->panel + (ptrdiff_t)r * stride;
    double sum = own[r];
    for (int k = 0; k < r; k++) sum -= row[k] * own[k];
    own[r] = sum;
  }
  for (int i = 0; i < s->n_near; i++) {
    const ss_lu_node *a = &lu->nodes[s->near[i]];
    if (a->size == size)
      subtract_lower(x + a->place, s->lower + s->column[i], s->width, own, size, size);
    else
      subtract_lower(x + a->place, s->lower + s->column[i], s->width, own, size, a->size);
  }
}

static inline void backward(const ss_lu *lu, const ss_lu_node *s, int size, double *x) {
  const int stride = size + s->width;
  double *own = x + s->place;
  const double *inverse = lu->inverse + s->place;
  for (int i = 0; i < s->n_near; i++) {
    const ss_lu_node *a = &lu->nodes[s->near[i]];
    const double *U = s->panel + size + s->column[i];
    if (a->size == size)
      subtract_upper(own, U, stride, x + a->place, size, size);
    else
      subtract_upper(own, U, stride, x + a->place, size, a->size);
  }
  for (int r = size - 1; r >= 0; r--) {
    const double *row = s->panel + (ptrdiff_t)r * stride;
    double sum = own[r];
    for (int k = r + 1; k < size; k++) sum -= row[k] * own[k];
    own[r] = sum * inverse[r];
  }
}

void ss_lu_solve(const ss_lu *lu, const double *b, double *out) {
  double *x = lu->work;
  for (int i = 0; i < lu->n; i++) x[i] = b[lu->order[i]];
  for (int k = 0; k < lu->n_nodes; k++) {
    const ss_lu_node *s = &lu->nodes[k];
    if (s->size == 2)
      forward(lu, s, 2, x);
    else if (s->size == 3)
      forward(lu, s, 3, x);
    else if (s->size == 5)
      forward(lu, s, 5, x);
    else
      forward(lu, s, s->size, x);
  }
  for (int k = lu->n_nodes - 1; k >= 0; k--) {
    const ss_lu_node *s = &lu->nodes[k];
    if (s->size == 2)
      backward(lu, s, 2, x);
    else if (s->size == 3)
      backward(lu, s, 3, x);
    else if (s->size == 5)
      backward(lu, s, 5, x);
    else
      backward(lu, s, s->size, x);
  }
  for (int i = 0; i < lu->n; i++) out[lu->order[i]] = x[i];
}

/* The same as `forward` for rows of m numbers. */
WIDE static void forward_columns(const ss_lu *lu, const ss_lu_node *s, int m, double *x) {
  double *own = x + (ptrdiff_t)m * s->place;
  for (int r = 1; r < s->size; r++)
    row_add_rows(own + (ptrdiff_t)m * r, -1, own, m, s->panel + (ptrdiff_t)r * (s->size + s->width), 1, r, m);
  for (int i = 0; i < s->n_near; i++) {
    const ss_lu_node *a = &lu->nodes[s->near[i]];
    for (int c = 0; c < a->size; c++)
      row_add_rows(x + (ptrdiff_t)m * (a->place + c), -1, own, m, s->lower + s->column[i] + c, s->width, s->size, m);
  }
}

WIDE static void backward_columns(const ss_lu *lu, const ss_lu_node *s, int m, double *x) {
  for (int r = s->size - 1; r >= 0; r--) {
    const double *row = s->panel + (ptrdiff_t)r * (s->size + s->width);
    double *own = x + (ptrdiff_t)m * (s->place + r);
    row_add_rows(own, -1, own + m, m, row + r + 1, 1, s->size - r - 1, m);
    for (int i = 0; i < s->n_near; i++) {
      const ss_lu_node *a = &lu->nodes[s->near[i]];
      row_add_rows(own, -1, x + (ptrdiff_t)m * a->place, m, row + s->size + s->column[i], 1, a->size, m);
    }
    for (int c = 0; c < m; c++) own[c] *= lu->inverse[s->place + r];
  }
}

void ss_lu_solve_columns(const ss_lu *lu, int columns, double *b, double *work) {
  const size_t m = (size_t)columns;
  for (int k = 0; k < lu->n_nodes; k++)
    memcpy(work + m * (size_t)lu->nodes[k].place, b + m * (size_t)lu->nodes[k].first,
           sizeof(double) * m * (size_t)lu->nodes[k].size);
  for (int k = 0; k < lu->n_nodes; k++) forward_columns(lu, &lu->nodes[k], columns, work);
  for (int k = lu->n_nodes - 1; k >= 0; k--) backward_columns(lu, &lu->nodes[k], columns, work);
  for (int k = 0; k < lu->n_nodes; k++)
    memcpy(b + m * (size_t)lu->nodes[k].first, work + m * (size_t)lu->nodes[k].place,
           sizeof(double) * m * (size_t)lu->nodes[k].size);
}
