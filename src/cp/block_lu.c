/* Supernodal left-looking LU in an order of nested dissection.
 *
 * Columns with the same rows below them are gathered to supernodes, whose parts of the factors are dense panels, and nearly all
 * arithmetic is products of panels:
 *
 *     D_s, L_s, U_s of the matrix  -=  L_d U_d  over the supernodes d before s with rows among its columns,
 *     D_s = P^-1 L U,   L_s := L_s U^-1,   U_s := L^-1 P U_s.
 *
 * A chain of columns becomes one supernode even where that stores some zeros; wide ones are cut, so that panels stay in the cache.
 * Threads share subtrees of the elimination tree, and the panels of the supernodes above them, piece by piece. Every number is made by
 * the same operations in the same order, whoever does so.
 *
 * Rows are exchanged inside diagonal blocks only; a pivot at rounding level is replaced by a small one. Callers add enough to the
 * diagonal for that to be harmless, and refine. */
#include "cp/block_lu.h"

#include "core/wide.h"
#include "la/dissect.h"
#include "la/rows.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum {
  MOST_WIDTH = 48,       /* of a supernode */
  TILE = 96,             /* rows of a panel that are updated together */
  LANES = 8,             /* numbers of a vector */
  HALF = MOST_WIDTH / 2, /* rows of a diagonal block that are updated together */
  GROUPS = 16,           /* of subtrees: each takes at most such a part of the work */
  WORTH_IT = 500000,     /* operations of a factorisation that threads share, */
  WORTH_A_LEVEL = 10000, /* and numbers of a level that they share in a solution */
};

/* ---- pattern ---- */

static void sort(int *a, int n) {
  for (int gap = n / 2; gap > 0; gap = gap == 2 ? 1 : (int)(gap / 2.2))
    for (int k = gap; k < n; k++) {
      const int item = a[k];
      int p = k;
      for (; p >= gap && a[p - gap] > item; p -= gap) a[p] = a[p - gap];
      a[p] = item;
    }
}

/* First index of list[from] .. list[to - 1], which ascend, that is not less than the item. */
static int find(const int *list, int from, int to, int item) {
  while (from < to) {
    const int middle = from + (to - from) / 2;
    if (list[middle] < item)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/* The upper rows of the factors by nodes. */
typedef struct symbolic {
  int *start, *upper; /* [nodes + 1]; places after, ascending */
  int *child, *sibling, *mark;
  size_t capacity;
} symbolic;

/* Columns of row i of U: those of the matrix, and those of the rows whose first column is i. */
static int merge_row(const block_lu *lu, const symbolic *s, int i, int *out) {
  int count = 0;
  const int node = lu->order[i];
  s->mark[i] = i;
  for (int e = lu->start[node]; e < lu->start[node + 1]; e++) {
    const int j = lu->place[lu->col[e]];
    if (j <= i || s->mark[j] == i) continue;
    s->mark[j] = i;
    out[count++] = j;
  }
  for (int c = s->child[i]; c >= 0; c = s->sibling[c])
    for (int e = s->start[c]; e < s->start[c + 1]; e++) {
      const int j = s->upper[e];
      if (s->mark[j] == i) continue;
      s->mark[j] = i;
      out[count++] = j;
    }
  sort(out, count);
  return count;
}

/* Doubles the list of columns; the old one stays in the scratch memory below. */
static bool make_room(symbolic *s, size_t used, size_t more, ss_cp_workspace *w) {
  if (used + more <= s->capacity) return true;
  const size_t capacity = 2 * (used + more);
  int *grown = SCRATCH(w, int, capacity);
  if (!grown) return false;
  if (used) memcpy(grown, s->upper, sizeof(int) * used);
  s->upper = grown;
  s->capacity = capacity;
  return true;
}

static ss_status make_upper(block_lu *lu, symbolic *s, double most, ss_cp_workspace *w, bool *affordable,
                            ss_error *error) {
  const size_t n = (size_t)lu->nodes;
  *s = (symbolic){.start = SCRATCH(w, int, 4 * n + 1)};
  if (!s->start) return out_of_memory(error);
  s->child = s->start + n + 1;
  s->sibling = s->child + n;
  s->mark = s->sibling + n;
  for (size_t i = 0; i < n; i++) s->child[i] = s->mark[i] = -1;
  size_t used = 0;
  lu->operations = 0;
  for (int i = 0; i < lu->nodes; i++) {
    if (!make_room(s, used, n, w)) return out_of_memory(error);
    s->start[i] = (int)used;
    int *row = s->upper + used;
    const int count = merge_row(lu, s, i, row);
    double width = 0;
    for (int k = 0; k < count; k++) width += lu->size[row[k]];
    lu->operations += 2 * lu->size[i] * width * width;
    lu->solution += 4 * lu->size[i] * width;
    used += (size_t)count;
    *affordable = lu->operations <= most && used < INT_MAX;
    if (!*affordable) return SS_OK;
    if (count == 0) continue;
    s->sibling[i] = s->child[row[0]];
    s->child[row[0]] = i;
  }
  s->start[lu->nodes] = (int)used;
  return SS_OK;
}

/* Copies the pattern, sorted and with the diagonal. */
static ss_status copy_pattern(block_lu *lu, const int *size, const int *start, const int *col, ss_cp_workspace *w,
                              ss_error *error) {
  const int nodes = lu->nodes;
  lu->start = SCRATCH(w, int, nodes + 1);
  lu->col = SCRATCH(w, int, start[nodes] + nodes);
  lu->at = SCRATCH(w, size_t, start[nodes] + nodes);
  if (!lu->start || !lu->col || !lu->at) return out_of_memory(error);
  int count = 0;
  for (int i = 0; i < nodes; i++) {
    lu->start[i] = count;
    lu->col[count++] = i;
    for (int e = start[i]; e < start[i + 1]; e++)
      if (col[e] != i) lu->col[count++] = col[e];
    sort(lu->col + lu->start[i], count - lu->start[i]);
    for (int e = lu->start[i]; e < count; e++) {
      lu->at[e] = lu->numbers;
      lu->numbers += (size_t)size[i] * (size_t)size[lu->col[e]];
    }
  }
  lu->start[nodes] = count;
  return SS_OK;
}

/* ---- supernodes ---- */

/* Whether the node at place j joins the supernode of `nodes` nodes and `width` columns that ends before it: it is what they are
 * eliminated into, and the zeros that are stored then are few. */
static bool joins(const block_lu *lu, const symbolic *s, int j, int nodes, int width) {
  enum { FEW = 6, PART = 4 }; /* nodes; of the rows */
  const int i = j - 1, own = s->start[j] - s->start[i], next = s->start[j + 1] - s->start[j];
  if (own == 0 || s->upper[s->start[i]] != j || width + lu->size[j] > MOST_WIDTH) return false;
  const int zeros = nodes * (next - (own - 1));
  return zeros <= FEW || PART * zeros <= next + nodes;
}

/* Cuts the nodes into supernodes: end[k], the place behind each; returns how many. */
static int gather_nodes(const block_lu *lu, const symbolic *s, int *end) {
  int count = 0;
  for (int i = 0, nodes = 0, width = 0; i < lu->nodes; i++) {
    if (i > 0 && !joins(lu, s, i, nodes, width)) {
      end[count++] = i;
      nodes = width = 0;
    }
    nodes++;
    width += lu->size[i];
  }
  if (lu->nodes) end[count++] = lu->nodes;
  return count;
}

/* Rows and panels. Strides are odd multiples of a vector: powers of two would share few lines of the cache. */
static ss_status make_panels(block_lu *lu, const symbolic *s, const int *end, int *of_row, ss_cp_workspace *w,
                             ss_error *error) {
  size_t rows = 0, numbers = LANES;
  for (int k = 0; k < lu->supers; k++) {
    supernode *p = &lu->super[k];
    const int begin = k ? end[k - 1] : 0, last = end[k] - 1;
    *p = (supernode){.first = lu->first[begin], .width = lu->first[end[k]] - lu->first[begin]};
    for (int e = s->start[last]; e < s->start[last + 1]; e++) p->rows += lu->size[s->upper[e]];
    p->stride = (((p->rows + LANES - 1) / LANES) | 1) * LANES;
    for (int i = 0; i < p->width; i++) of_row[p->first + i] = k;
    rows += (size_t)p->rows;
    numbers += (size_t)p->width * (size_t)(p->width + 2 * p->stride) + LANES;
  }
  int *row = SCRATCH(w, int, rows + 1), *pivot = SCRATCH(w, int, 2 * (size_t)lu->n + 1);
  double *panel = SCRATCH(w, double, numbers);
  if (!row || !pivot || !panel) return out_of_memory(error);
  for (int k = 0; k < lu->supers; k++) {
    supernode *p = &lu->super[k];
    p->row = row;
    for (int e = s->start[end[k] - 1]; e < s->start[end[k]]; e++)
      for (int i = lu->first[s->upper[e]]; i < lu->first[s->upper[e] + 1]; i++) *row++ = i;
    p->pivot = pivot + p->first;
    p->end = p->pivot + lu->n;
    for (int j = k ? end[k - 1] : 0; j < end[k]; j++)
      for (int i = lu->first[j]; i < lu->first[j + 1]; i++) p->end[i - p->first] = lu->first[j + 1] - p->first;
    p->l = panel;
    p->u = p->l + p->width * p->stride;
    p->d = p->u + p->width * p->stride;
    panel = p->d + (ptrdiff_t)(p->width * p->width + LANES - 1) / LANES * LANES;
  }
  return SS_OK;
}

/* Counts the updates of each supernode, or lists them. */
static int list_updates(block_lu *lu, const int *of_row, const int *place, bool list) {
  int count = 0;
  for (int k = 0; k < lu->supers; k++) {
    supernode *d = &lu->super[k];
    d->update_first = count; /* those before have counted theirs */
    count += d->updates;
    if (list) d->updates = 0;
  }
  for (int pass = 0; pass < 2; pass++)
    for (int k = 0; k < lu->supers; k++) {
      const supernode *d = &lu->super[k];
      for (int i = 0, end = 0; i < d->rows && (place[k] < 0) == (pass > 0); i = end) {
        supernode *s = &lu->super[of_row[d->row[i]]];
        while (end < d->rows && d->row[end] < s->first + s->width) end++;
        if (list) lu->update[s->update_first + s->updates] = (supernode_update){k, i, end};
        s->updates++;
        if (list && !pass) s->from_subtrees++;
      }
    }
  return count;
}

static ss_status make_updates(block_lu *lu, const int *of_row, const int *place, ss_cp_workspace *w, ss_error *error) {
  (void)list_updates(lu, of_row, place, false);
  int count = 0;
  for (int k = 0; k < lu->supers; k++) count += lu->super[k].updates;
  lu->update = SCRATCH(w, supernode_update, count + 1);
  if (!lu->update) return out_of_memory(error);
  (void)list_updates(lu, of_row, place, true);
  return SS_OK;
}

/* Where the blocks of the matrix go, by supernodes. */
static ss_status make_entries(block_lu *lu, const int *of_row, ss_cp_workspace *w, ss_error *error) {
  const int count = lu->start[lu->nodes];
  lu->entry = SCRATCH(w, block_entry, count + 1);
  lu->a = SCRATCH(w, double, lu->numbers + 1);
  if (!lu->entry || !lu->a) return out_of_memory(error);
  int *next = lu->schedule.by_level; /* for now: entries of each supernode */
  memset(next, 0, sizeof(int) * (size_t)lu->supers);
  for (int pass = 0; pass < 2; pass++) {
    for (int k = 0, sum = 0; pass && k < lu->supers; k++) {
      lu->super[k].entry_first = sum;
      sum += next[k];
      next[k] = lu->super[k].entry_first;
    }
    for (int i = 0; i < lu->nodes; i++)
      for (int e = lu->start[i]; e < lu->start[i + 1]; e++) {
        const int p = lu->place[i], q = lu->place[lu->col[e]], early = p < q ? p : q, late = p < q ? q : p;
        const int k = of_row[lu->first[early]];
        if (!pass) {
          next[k]++;
          continue;
        }
        const supernode *s = &lu->super[k];
        block_entry *to = &lu->entry[next[k]++];
        *to = (block_entry){.from = lu->a + lu->at[e], .rows = lu->size[p], .cols = lu->size[q]};
        const int down = lu->first[p] - s->first, right = lu->first[q] - s->first;
        if (of_row[lu->first[late]] == k) {
          to->down = s->width;
          to->right = 1;
          to->to = s->d + (ptrdiff_t)down * s->width + right;
        } else if (p < q) {
          to->down = s->stride;
          to->right = 1;
          to->to = s->u + down * s->stride + find(s->row, 0, s->rows, lu->first[q]);
        } else {
          to->down = 1;
          to->right = s->stride;
          to->to = s->l + right * s->stride + find(s->row, 0, s->rows, lu->first[p]);
        }
      }
  }
  return SS_OK;
}

/* ---- who does what ---- */

static double numbers_of(const supernode *s) { return (double)s->width * (s->width + 2 * s->rows); }

/* The group of each supernode, numbered from 0 on; -1 - level of those above the subtrees. A small matrix is one group. */
static void cut_tree(lu_schedule *c, const block_lu *lu, const int *of_row, double *load, int *place) {
  double all = 0, own = 0;
  for (int k = 0; k < lu->supers; k++) load[k] = place[k] = 0;
  for (int k = 0; k < lu->supers; k++) {
    const supernode *s = &lu->super[k];
    load[k] += numbers_of(s);
    all += numbers_of(s);
    if (s->rows) load[of_row[s->row[0]]] += load[k];
  }
  const double most = lu->operations > WORTH_IT ? all / GROUPS : all;
  for (int k = 0; k < lu->supers; k++) {
    const supernode *s = &lu->super[k];
    if (load[k] <= most) continue;
    const int level = -(place[k] = place[k] < 0 ? place[k] : -1), parent = s->rows ? of_row[s->row[0]] : -1;
    if (level > c->levels) c->levels = level;
    if (parent >= 0 && place[parent] > -level - 1) place[parent] = -level - 1;
  }
  for (int k = lu->supers - 1; k >= 0; k--) {
    const supernode *s = &lu->super[k];
    const int parent = s->rows ? place[of_row[s->row[0]]] : -1;
    if (place[k] < 0) continue;
    if (parent < 0 && (c->groups == 0 || own + load[k] > most)) {
      c->groups++;
      own = 0;
    }
    if (parent < 0) own += load[k];
    place[k] = parent >= 0 ? parent : c->groups - 1;
  }
}

/* Lists of supernodes, ascending, by a number from 0 on; who has a negative one is left out. */
static void sort_by(const int *number, int supers, int count, int *start, int *list) {
  memset(start, 0, sizeof(int) * ((size_t)count + 1));
  for (int k = 0; k < supers; k++)
    if (number[k] >= 0) start[number[k] + 1]++;
  for (int l = 0; l < count; l++) start[l + 1] += start[l];
  for (int k = 0; k < supers; k++)
    if (number[k] >= 0) list[start[number[k]]++] = k;
  for (int l = count; l > 0; l--) start[l] = start[l - 1];
  start[0] = 0;
}

/* Counts the pieces of all levels, or lists them. */
static int list_pieces(lu_schedule *c, const block_lu *lu, lu_piece *piece) {
  int count = 0;
  for (int l = 0; l < c->levels; l++)
    for (int below = 0; below < 2; below++) {
      const int size = below ? TILE : HALF;
      *(below ? &c->below[l] : &c->diagonal[l]) = count;
      for (int m = c->level_start[l]; m < c->level_start[l + 1]; m++) {
        const supernode *s = &lu->super[c->by_level[m]];
        const int rows = below ? s->rows : s->width;
        for (int i = 0; i < rows; i += size, count++)
          if (piece) piece[count] = (lu_piece){c->by_level[m], i, i + size < rows ? i + size : rows};
      }
    }
  c->diagonal[c->levels] = count;
  return count;
}

static ss_status make_schedule(block_lu *lu, const int *of_row, int *place, ss_cp_workspace *w, ss_error *error) {
  lu_schedule *c = &lu->schedule;
  const size_t levels = (size_t)c->levels;
  c->group_start = SCRATCH(w, int, c->groups + 1);
  c->by_group = SCRATCH(w, int, lu->supers + 1);
  c->level_start = SCRATCH(w, int, 3 * levels + 2);
  c->worth_it = SCRATCH(w, bool, levels + 1);
  c->load = SCRATCH(w, double, levels ? (size_t)c->groups *(size_t)lu->n : 1);
  if (!c->group_start || !c->by_group || !c->level_start || !c->worth_it || !c->load) return out_of_memory(error);
  c->diagonal = c->level_start + levels + 1;
  c->below = c->diagonal + levels + 1;
  sort_by(place, lu->supers, c->groups, c->group_start, c->by_group);
  for (int k = 0; k < lu->supers; k++) {
    supernode *s = &lu->super[k];
    while (s->inside < s->rows && place[of_row[s->row[s->inside]]] >= 0) s->inside++;
  }
  for (int k = 0; k < lu->supers; k++) place[k] = -1 - place[k];
  sort_by(place, lu->supers, c->levels, c->level_start, c->by_level);
  c->piece = SCRATCH(w, lu_piece, list_pieces(c, lu, NULL) + 1);
  if (!c->piece) return out_of_memory(error);
  (void)list_pieces(c, lu, c->piece);
  for (int l = 0; l < c->levels; l++) {
    double sum = 0;
    for (int m = c->level_start[l]; m < c->level_start[l + 1]; m++) {
      supernode *s = &lu->super[c->by_level[m]];
      sum += (double)s->width * s->rows;
      s->y = SCRATCH(w, double, s->rows + LANES);
      if (!s->y) return out_of_memory(error);
    }
    c->worth_it[l] = sum > WORTH_A_LEVEL;
  }
  return SS_OK;
}

static ss_status make_supernodes(block_lu *lu, const symbolic *s, ss_cp_workspace *w, ss_error *error) {
  int *end = SCRATCH(w, int, lu->nodes + 1), *of_row = SCRATCH(w, int, lu->n + 1);
  if (!end || !of_row) return out_of_memory(error);
  lu->supers = gather_nodes(lu, s, end);
  lu->super = SCRATCH(w, supernode, lu->supers + 1);
  lu->schedule.by_level = SCRATCH(w, int, lu->supers + 1);
  if (!lu->super || !lu->schedule.by_level) return out_of_memory(error);
  double *load = SCRATCH(w, double, lu->supers + 1);
  int *place = SCRATCH(w, int, lu->supers + 1);
  ss_status status = make_panels(lu, s, end, of_row, w, error);
  if (status) return status;
  if (!load || !place) return out_of_memory(error);
  cut_tree(&lu->schedule, lu, of_row, load, place);
  status = make_updates(lu, of_row, place, w, error);
  if (!status) status = make_entries(lu, of_row, w, error);
  if (!status) status = make_schedule(lu, of_row, place, w, error);
  return status;
}

/* What a thread needs: products of a factorisation, the gathered part of x of a solution. */
static size_t room_of(const block_lu *lu) {
  size_t most = (size_t)(MOST_WIDTH * TILE);
  for (int k = 0; k < lu->supers; k++)
    if ((size_t)lu->super[k].rows > most) most = (size_t)lu->super[k].rows;
  return (most + LANES - 1) / LANES * LANES;
}

ss_status block_lu_analyse(block_lu *lu, int nodes, const int *size, const int *start, const int *col, double most,
                           ss_cp_workspace *w, bool *affordable, ss_error *error) {
  const size_t n = (size_t)nodes;
  *lu = (block_lu){.nodes = nodes, .order = SCRATCH(w, int, 4 * n + 1)};
  int *memory = SCRATCH(w, int, 4 * n);
  if (!lu->order || !memory) return out_of_memory(error);
  lu->place = lu->order + n;
  lu->size = lu->place + n;
  lu->first = lu->size + n;
  ss_dissect(&(ss_graph){nodes, start, col}, lu->order, memory);
  for (int i = 0; i < nodes; i++) {
    lu->place[lu->order[i]] = i;
    lu->size[i] = size[lu->order[i]];
    lu->first[i] = lu->n;
    lu->n += lu->size[i];
  }
  lu->first[nodes] = lu->n;
  symbolic s;
  ss_status status = copy_pattern(lu, size, start, col, w, error);
  if (!status) status = make_upper(lu, &s, most, w, affordable, error);
  if (status || !*affordable) return status;
  status = make_supernodes(lu, &s, w, error);
  if (status) return status;
  lu->threads = lu->operations > WORTH_IT ? w->threads : NULL;
  lu->row = SCRATCH(w, double, lu->n + LANES);
  lu->room = SCRATCH(w, double, room_of(lu) * (size_t)ss_threads_count(lu->threads));
  return lu->row && lu->room ? SS_OK : out_of_memory(error);
}

void block_lu_clear(block_lu *lu) { memset(lu->a, 0, sizeof(double) * lu->numbers); }

double *block_lu_entry(const block_lu *lu, int i, int j) {
  return lu->a + lu->at[find(lu->col, lu->start[i], lu->start[i + 1], j)];
}

/* ---- numbers ---- */

/* LU of a diagonal block, in place; rows are exchanged up to the end of their node. */
WIDE static void factor_block(double *a, int n, const int *end, int *pivot) {
  static const double least = 1e-14; /* the matrix is scaled to unit size */
  for (int c = 0; c < n; c++) {
    int best = c;
    for (int i = c + 1; i < end[c]; i++)
      if (fabs(a[i * n + c]) > fabs(a[best * n + c])) best = i;
    pivot[c] = best;
    for (int j = 0; best != c && j < n; j++) {
      const double keep = a[c * n + j];
      a[c * n + j] = a[best * n + j];
      a[best * n + j] = keep;
    }
    if (fabs(a[c * n + c]) < least) a[c * n + c] = a[c * n + c] < 0 ? -least : least;
    for (int i = c + 1; i < n; i++) {
      const double f = a[i * n + c] /= a[c * n + c];
      if (f != 0) row_subtract(a + (ptrdiff_t)i * n, a + (ptrdiff_t)c * n, f, c + 1, n);
    }
  }
}

/* sum_r of LANES columns of V, for r rows of S: C_r = sum over m of S_mr V_m. */
static inline void product_rows(const double *S, const double *V, int rows, int inner, ptrdiff_t stride, double *C) {
  ss_eight sum[6] = {{0}};
  for (int m = 0; m < inner; m++, S += stride, V += stride) {
    const ss_eight v = *(const ss_eight *)V;
    for (int r = 0; r < rows; r++) sum[r] += v * S[r];
  }
  for (int r = 0; r < rows; r++) *(ss_eight *)(C + (ptrdiff_t)r * TILE) = sum[r];
}

/* C = S^T V, rows x cols and TILE apart, S and V with `inner` rows; some columns more than there are, up to full vectors. */
static inline void product(const double *S, int rows, const double *V, int cols, int inner, ptrdiff_t stride,
                           double *C) {
  for (int j = 0; j < cols; j += LANES) {
    int i = 0;
    for (; i + 6 <= rows; i += 6) product_rows(S + i, V + j, 6, inner, stride, C + i * TILE + j);
    for (; i + 3 <= rows; i += 3) product_rows(S + i, V + j, 3, inner, stride, C + i * TILE + j);
    for (; i < rows; i++) product_rows(S + i, V + j, 1, inner, stride, C + i * TILE + j);
  }
}

/* Row `row[i] - first` and column to[j] of the target, less C_ij. */
static inline void subtract(const double *C, const int *row, int first, int rows, const int *to, int cols,
                            double *target, ptrdiff_t stride) {
  const bool together = to[cols - 1] - to[0] == cols - 1;
  for (int i = 0; i < rows; i++, C += TILE) {
    double *restrict line = target + (row[i] - first) * stride;
    if (together)
      for (int j = 0; j < cols; j++) line[to[0] + j] -= C[j];
    else
      for (int j = 0; j < cols; j++) line[to[j]] -= C[j];
  }
}

static void load(const block_lu *lu, supernode *s) {
  const int k = (int)(s - lu->super), end = k + 1 < lu->supers ? s[1].entry_first : lu->start[lu->nodes];
  memset(s->l, 0, sizeof(double) * (size_t)(2 * s->width * s->stride + s->width * s->width));
  for (int e = s->entry_first; e < end; e++) {
    const block_entry *b = &lu->entry[e];
    for (int i = 0; i < b->rows; i++)
      for (int j = 0; j < b->cols; j++) b->to[i * b->down + j * b->right] = b->from[i * b->cols + j];
  }
}

/* Rows from .. to - 1 of the diagonal block, updated. */
WIDEST static void update_diagonal(const block_lu *lu, const supernode *s, int from, int to, double *C) {
  int place[MOST_WIDTH];
  for (int k = s->update_first; k < s->update_first + s->updates; k++) {
    const supernode_update *p = &lu->update[k];
    const supernode *d = &lu->super[p->from];
    const int first = find(d->row, p->first, p->end, s->first + from), end = find(d->row, first, p->end, s->first + to);
    const int *row = d->row + p->first, count = p->end - p->first;
    if (first == end) continue;
    for (int j = 0; j < count; j++) place[j] = row[j] - s->first;
    product(d->l + first, end - first, d->u + p->first, count, d->width, d->stride, C);
    subtract(C, d->row + first, s->first, end - first, place, count, s->d, s->width);
  }
}

static void factor_diagonal(supernode *s) {
  factor_block(s->d, s->width, s->end, s->pivot);
  double finite = 0;
  for (int i = 0; i < s->width * s->width; i++) finite += 0 * s->d[i];
  s->finite = finite == 0;
}

/* Columns from .. to - 1 of U_s := L^-1 P U_s. */
static inline void divide_upper(const supernode *s, int from, int to) {
  const int n = s->width;
  for (int c = 0; c < n; c++)
    for (int j = from; s->pivot[c] != c && j < to; j++) {
      double *a = s->u + c * s->stride + j, *b = s->u + s->pivot[c] * s->stride + j;
      const double keep = *a;
      *a = *b;
      *b = keep;
    }
  for (int j = from; j < to; j += LANES)
    for (int i = 1; i < n; i++) {
      ss_eight *x = (ss_eight *)(s->u + i * s->stride + j);
      ss_eight sum = *x;
      for (int k = 0; k < i; k++) sum -= *(const ss_eight *)(s->u + k * s->stride + j) * s->d[i * n + k];
      *x = sum;
    }
}

/* Rows from .. to - 1 of L_s := L_s U^-1. */
static inline void divide_lower(const supernode *s, int from, int to) {
  const int n = s->width;
  for (int j = from; j < to; j += LANES)
    for (int i = 0; i < n; i++) {
      ss_eight *x = (ss_eight *)(s->l + i * s->stride + j);
      ss_eight sum = *x;
      for (int k = 0; k < i; k++) sum -= *(const ss_eight *)(s->l + k * s->stride + j) * s->d[k * n + i];
      *x = sum / s->d[i * n + i];
    }
}

/* Rows from .. to - 1 of L and columns of U, at most TILE of them, updated. */
WIDEST static void update_below(const block_lu *lu, const supernode *s, int from, int to, double *C) {
  int place[TILE];
  for (int k = s->update_first; k < s->update_first + s->updates; k++) {
    const supernode_update *p = &lu->update[k];
    const supernode *d = &lu->super[p->from];
    const int first = find(d->row, p->end, d->rows, s->row[from]),
              end = find(d->row, first, d->rows, s->row[to - 1] + 1);
    if (first == end) continue;
    for (int i = first, at = from; i < end; i++) {
      while (s->row[at] < d->row[i]) at++;
      place[i - first] = at;
    }
    const int *col = d->row + p->first, cols = p->end - p->first;
    product(d->u + p->first, cols, d->l + first, end - first, d->width, d->stride, C);
    subtract(C, col, s->first, cols, place, end - first, s->l, s->stride);
    product(d->l + p->first, cols, d->u + first, end - first, d->width, d->stride, C);
    subtract(C, col, s->first, cols, place, end - first, s->u, s->stride);
  }
}

WIDEST static void divide(const supernode *s, int from, int to) {
  divide_upper(s, from, to);
  divide_lower(s, from, to);
}

static void factor_supernode(const block_lu *lu, supernode *s, double *C) {
  load(lu, s);
  update_diagonal(lu, s, 0, s->width, C);
  factor_diagonal(s);
  for (int from = 0; from < s->rows; from += TILE) {
    const int to = from + TILE < s->rows ? from + TILE : s->rows;
    update_below(lu, s, from, to, C);
    divide(s, from, to);
  }
}

typedef struct lu_job {
  const block_lu *lu;
  size_t room;
  int level;
} lu_job;

static double *room_of_worker(const lu_job *job, int worker) { return job->lu->room + (size_t)worker * job->room; }

/* The subtrees; and the matrix into the panels above them. */
static void factor_groups(void *user, int worker, int from, int to) {
  const lu_job *job = user;
  const block_lu *lu = job->lu;
  const lu_schedule *c = &lu->schedule;
  for (int t = from; t < to; t++)
    if (t >= c->groups)
      load(lu, &lu->super[c->by_level[t - c->groups]]);
    else
      for (int m = c->group_start[t]; m < c->group_start[t + 1]; m++)
        factor_supernode(lu, &lu->super[c->by_group[m]], room_of_worker(job, worker));
}

static void update_pieces(void *user, int worker, int from, int to) {
  const lu_job *job = user;
  const lu_schedule *c = &job->lu->schedule;
  for (int m = c->diagonal[job->level] + from; m < c->diagonal[job->level] + to; m++) {
    const lu_piece *p = &c->piece[m];
    if (m < c->below[job->level])
      update_diagonal(job->lu, &job->lu->super[p->super], p->first, p->end, room_of_worker(job, worker));
    else
      update_below(job->lu, &job->lu->super[p->super], p->first, p->end, room_of_worker(job, worker));
  }
}

static void factor_diagonals(void *user, int worker, int from, int to) {
  (void)worker;
  const lu_job *job = user;
  const int *list = job->lu->schedule.by_level + job->lu->schedule.level_start[job->level];
  for (int m = from; m < to; m++) factor_diagonal(&job->lu->super[list[m]]);
}

static void divide_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  const lu_job *job = user;
  const lu_piece *p = job->lu->schedule.piece + job->lu->schedule.below[job->level];
  for (int m = from; m < to; m++) divide(&job->lu->super[p[m].super], p[m].first, p[m].end);
}

bool block_lu_factor(block_lu *lu) {
  lu_job job = {lu, room_of(lu), 0};
  const lu_schedule *c = &lu->schedule;
  bool finite = true;
  if (lu->threads) {
    ss_threads_for(lu->threads, c->groups + c->level_start[c->levels], 1, factor_groups, &job);
    for (; job.level < c->levels; job.level++) {
      const int l = job.level;
      ss_threads_for(lu->threads, c->diagonal[l + 1] - c->diagonal[l], 1, update_pieces, &job);
      ss_threads_for(lu->threads, c->level_start[l + 1] - c->level_start[l], 1, factor_diagonals, &job);
      ss_threads_for(lu->threads, c->diagonal[l + 1] - c->below[l], 1, divide_pieces, &job);
    }
  } else {
    for (int k = 0; k < lu->supers; k++) factor_supernode(lu, &lu->super[k], lu->room); /* better for the cache */
  }
  for (int k = 0; k < lu->supers; k++) finite = finite && lu->super[k].finite;
  return finite;
}

int block_lu_sign(const block_lu *lu) {
  int sign = 1;
  for (int s = 0; s < lu->supers; s++)
    for (int k = 0, n = lu->super[s].width; k < n; k++) {
      if (lu->super[s].pivot[k] != k) sign = -sign;
      if (lu->super[s].d[k * (n + 1)] < 0) sign = -sign;
    }
  return sign;
}

/* y = L x for rows of L, by columns, which is the way through the memory; with some rows more than there are, up to full vectors. */
WIDEST static void multiply_rows(const double *l, ptrdiff_t stride, const double *x, int inner, int rows, double *y) {
  int m = inner % 4;
  for (int j = 0; j < rows; j += LANES) {
    ss_eight sum = {0};
    for (int c = 0; c < m; c++) sum += *(const ss_eight *)(l + c * stride + j) * x[c];
    *(ss_eight *)(y + j) = sum;
  }
  for (; m < inner; m += 4) {
    const double *a = l + m * stride, *b = a + stride, *c = b + stride, *d = c + stride;
    for (int j = 0; j < rows; j += LANES) {
      ss_eight sum = *(ss_eight *)(y + j);
      sum += *(const ss_eight *)(a + j) * x[m];
      sum += *(const ss_eight *)(b + j) * x[m + 1];
      sum += *(const ss_eight *)(c + j) * x[m + 2];
      sum += *(const ss_eight *)(d + j) * x[m + 3];
      *(ss_eight *)(y + j) = sum;
    }
  }
}

/* What a supernode of a subtree makes of its part of x: taken from x in the subtree, and from `load` above it. */
static void spread_lower(const supernode *s, double *x, double *load, double *y) {
  multiply_rows(s->l, s->stride, x + s->first, s->width, s->rows, y);
  for (int i = 0; i < s->inside; i++) x[s->row[i]] -= y[i];
  for (int i = s->inside; i < s->rows; i++) load[s->row[i]] -= y[i];
}

/* The part of x of a supernode above the subtrees, less what all before it have made of theirs. */
static void gather_lower(const block_lu *lu, const supernode *s, double *x) {
  double *own = x + s->first;
  for (int g = 0; g < lu->schedule.groups; g++) {
    const double *load = lu->schedule.load + (size_t)g * (size_t)lu->n + s->first;
    for (int i = 0; i < s->width; i++) own[i] += load[i];
  }
  for (int k = s->update_first + s->from_subtrees; k < s->update_first + s->updates; k++) {
    const supernode_update *p = &lu->update[k];
    const supernode *d = &lu->super[p->from];
    for (int i = p->first; i < p->end; i++) x[d->row[i]] -= d->y[i];
  }
}

/* Divided by L. */
WIDE static void solve_lower(const supernode *s, double *x) {
  double *own = x + s->first;
  for (int c = 0; c < s->width; c++) {
    const double keep = own[c];
    own[c] = own[s->pivot[c]];
    own[s->pivot[c]] = keep;
  }
  for (int i = 1; i < s->width; i++) own[i] -= row_dot(s->d + (ptrdiff_t)i * s->width, own, i);
}

static inline double sum_of(ss_eight v) { return ((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])); }

/* Rows from .. to - 1 less what those after it make of theirs, two at a time. Behind its rows a panel has zeros. */
WIDEST static void gather_upper(const supernode *s, int from, int to, double *x, double *after) {
  const int n = (s->rows + LANES - 1) / LANES * LANES;
  for (int i = 0; i < s->rows; i++) after[i] = x[s->row[i]];
  for (int i = s->rows; i < n; i++) after[i] = 0;
  x += s->first;
  int i = from;
  for (; i + 2 <= to; i += 2) {
    const double *a = s->u + i * s->stride, *b = a + s->stride;
    ss_eight sum = {0}, next = {0};
    for (int j = 0; j < n; j += LANES) {
      const ss_eight v = *(const ss_eight *)(after + j);
      sum += *(const ss_eight *)(a + j) * v;
      next += *(const ss_eight *)(b + j) * v;
    }
    x[i] -= sum_of(sum);
    x[i + 1] -= sum_of(next);
  }
  if (i < to) {
    const double *a = s->u + i * s->stride;
    ss_eight sum = {0};
    for (int j = 0; j < n; j += LANES) sum += *(const ss_eight *)(a + j) * *(const ss_eight *)(after + j);
    x[i] -= sum_of(sum);
  }
}

/* Divided by U. */
WIDE static void solve_upper(const supernode *s, double *x) {
  double *own = x + s->first;
  const int n = s->width;
  for (int i = n - 1; i >= 0; i--) {
    own[i] -= row_dot(s->d + (ptrdiff_t)i * n + i + 1, own + i + 1, n - 1 - i);
    own[i] /= s->d[i * (n + 1)];
  }
}

static void lower_groups(void *user, int worker, int from, int to) {
  const lu_job *job = user;
  const block_lu *lu = job->lu;
  const lu_schedule *c = &lu->schedule;
  for (int g = from; g < to; g++) {
    double *load = c->load + (c->levels ? (size_t)g * (size_t)lu->n : 0);
    for (int m = 0; m < c->level_start[c->levels]; m++) {
      const supernode *s = &lu->super[c->by_level[m]];
      memset(load + s->first, 0, sizeof *load * (size_t)s->width);
    }
    for (int m = c->group_start[g]; m < c->group_start[g + 1]; m++) {
      const supernode *s = &lu->super[c->by_group[m]];
      solve_lower(s, lu->row);
      spread_lower(s, lu->row, load, room_of_worker(job, worker));
    }
  }
}

static void lower_pieces(void *user, int worker, int from, int to) {
  (void)worker;
  const lu_job *job = user;
  const lu_piece *p = job->lu->schedule.piece + job->lu->schedule.below[job->level];
  for (int m = from; m < to; m++) {
    const supernode *s = &job->lu->super[p[m].super];
    multiply_rows(s->l + p[m].first, s->stride, job->lu->row + s->first, s->width, p[m].end - p[m].first,
                  s->y + p[m].first);
  }
}

static void upper_pieces(void *user, int worker, int from, int to) {
  const lu_job *job = user;
  const block_lu *lu = job->lu;
  const lu_piece *p = lu->schedule.piece + lu->schedule.diagonal[job->level];
  for (int m = from; m < to; m++)
    gather_upper(&lu->super[p[m].super], p[m].first, p[m].end, lu->row, room_of_worker(job, worker));
}

static void upper_groups(void *user, int worker, int from, int to) {
  const lu_job *job = user;
  const block_lu *lu = job->lu;
  const lu_schedule *c = &lu->schedule;
  for (int m = c->group_start[to] - 1; m >= c->group_start[from]; m--) {
    const supernode *s = &lu->super[c->by_group[m]];
    gather_upper(s, 0, s->width, lu->row, room_of_worker(job, worker));
    solve_upper(s, lu->row);
  }
}

static void solve_places(const block_lu *lu) {
  lu_job job = {lu, room_of(lu), 0};
  const lu_schedule *c = &lu->schedule;
  ss_threads_for(lu->threads, c->groups, 1, lower_groups, &job);
  for (; job.level < c->levels; job.level++) {
    const int l = job.level;
    for (int m = c->level_start[l]; m < c->level_start[l + 1]; m++) {
      const supernode *s = &lu->super[c->by_level[m]];
      gather_lower(lu, s, lu->row);
      solve_lower(s, lu->row);
    }
    ss_threads_for(c->worth_it[l] ? lu->threads : NULL, c->diagonal[l + 1] - c->below[l], 1, lower_pieces, &job);
  }
  while (job.level-- > 0) {
    const int l = job.level;
    ss_threads_for(c->worth_it[l] ? lu->threads : NULL, c->below[l] - c->diagonal[l], 1, upper_pieces, &job);
    for (int m = c->level_start[l]; m < c->level_start[l + 1]; m++) solve_upper(&lu->super[c->by_level[m]], lu->row);
  }
  ss_threads_for(lu->threads, c->groups, 1, upper_groups, &job);
}

void block_lu_solve(block_lu *lu, const double *b, double *x) {
  for (int node = 0, at = 0; node < lu->nodes; node++) {
    const int p = lu->place[node];
    for (int k = 0; k < lu->size[p]; k++) lu->row[lu->first[p] + k] = b[at++];
  }
  solve_places(lu);
  for (int node = 0, at = 0; node < lu->nodes; node++) {
    const int p = lu->place[node];
    for (int k = 0; k < lu->size[p]; k++) x[at++] = lu->row[lu->first[p] + k];
  }
}
