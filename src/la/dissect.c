/* Nested dissection (George 1973) without coordinates: breadth-first levels from a node far away, the lightest level near the
 * middle is the separator, which is eliminated after both halves. In a packing of n bodies separators have n^(2/3)
 * nodes, in a bed n^(1/2). No attempt is made to smooth them; dense graphs get a poor order. */
#include "la/dissect.h"

enum { LEAF = 12 };

typedef struct dissection {
  const ss_graph *g;
  int *owner; /* [n] range that a node belongs to; ranges are numbered as they are made */
  int *level; /* [n] */
  int *queue; /* [n] */
  int *stack; /* [n] ranges that wait: begin of each in `nodes`, by pairs */
  int *nodes; /* [n] becomes the order: every range stands together */
  int ranges;
} dissection;

/* Breadth first inside one range from `root`; the nodes found are in the queue, the number of levels in *levels. */
static int spread(dissection *d, int root, int range, int *levels) {
  int count = 0;
  d->queue[count++] = root;
  d->level[root] = 0;
  d->owner[root] = -range - 2; /* visited */
  for (int k = 0; k < count; k++) {
    const int i = d->queue[k];
    for (int e = d->g->start[i]; e < d->g->start[i + 1]; e++) {
      const int j = d->g->col[e];
      if (d->owner[j] != range) continue;
      d->owner[j] = -range - 2;
      d->level[j] = d->level[i] + 1;
      d->queue[count++] = j;
    }
  }
  *levels = d->level[d->queue[count - 1]] + 1;
  for (int k = 0; k < count; k++) d->owner[d->queue[k]] = range;
  return count;
}

/* The level whose removal leaves halves that are not too different, with few nodes. The queue is sorted by level. */
static int choose_level(const dissection *d, int count, int levels) {
  int best = levels / 2, fewest = count + 1;
  for (int k = 0, level = 0; k < count; level++) {
    int end = k;
    while (end < count && d->level[d->queue[end]] == level) end++;
    const int before = k, after = count - end;
    if (before > count / 4 && after > count / 4 && end - k < fewest) {
      fewest = end - k;
      best = level;
    }
    k = end;
  }
  return best;
}

/* Splits nodes[begin .. end): those below the separator, those above, the separator. Returns the ends of the first two. */
static void split(dissection *d, int begin, int end, int *first, int *second) {
  const int range = d->owner[d->nodes[begin]];
  int levels, count = spread(d, d->nodes[begin], range, &levels);
  if (count < end - begin) { /* not connected: the component first, then the rest */
    const int own = ++d->ranges;
    for (int k = 0; k < count; k++) d->owner[d->queue[k]] = own;
    int rest = count;
    for (int k = begin; k < end; k++)
      if (d->owner[d->nodes[k]] != own) d->queue[rest++] = d->nodes[k];
    for (int k = begin; k < end; k++) d->nodes[k] = d->queue[k - begin];
    *first = begin + count;
    *second = end;
    return;
  }
  for (int tries = 0; tries < 2; tries++) count = spread(d, d->queue[count - 1], range, &levels); /* from far away */
  const int middle = choose_level(d, count, levels);
  const int low = ++d->ranges, high = ++d->ranges, wall = ++d->ranges;
  int at = begin;
  for (int pass = 0; pass < 3; pass++) {
    for (int k = 0; k < count; k++) {
      const int i = d->queue[k], side = d->level[i] < middle ? 0 : d->level[i] > middle ? 1 : 2;
      if (side != pass) continue;
      d->nodes[at++] = i;
    }
    if (pass == 0) *first = at;
    if (pass == 1) *second = at;
  }
  for (int k = begin; k < end; k++) d->owner[d->nodes[k]] = k < *first ? low : k < *second ? high : wall;
}

void ss_dissect(const ss_graph *graph, int *order, int *memory) {
  const int n = graph->n;
  dissection d = {graph, memory, memory + n, memory + 2 * n, memory + 3 * n, order, 0};
  for (int i = 0; i < n; i++) {
    order[i] = i;
    d.owner[i] = 0;
  }
  /* Ranges that wait, by pairs. Each is larger than a leaf, so that there is room for them; both parts of a split are
   * smaller than the whole. */
  int waiting = 0;
  if (n > LEAF) {
    d.stack[waiting++] = 0;
    d.stack[waiting++] = n;
  }
  while (waiting) {
    const int end = d.stack[--waiting], begin = d.stack[--waiting];
    int first = end, second = end;
    split(&d, begin, end, &first, &second);
    if (first - begin > LEAF) {
      d.stack[waiting++] = begin;
      d.stack[waiting++] = first;
    }
    if (second - first > LEAF) {
      d.stack[waiting++] = first;
      d.stack[waiting++] = second;
    }
  }
}

int ss_components(const ss_graph *graph, int *part, int *queue) {
  int parts = 0;
  for (int i = 0; i < graph->n; i++) part[i] = -1;
  for (int root = 0; root < graph->n; root++) {
    if (part[root] >= 0) continue;
    int count = 0;
    queue[count++] = root;
    part[root] = parts;
    for (int k = 0; k < count; k++)
      for (int e = graph->start[queue[k]]; e < graph->start[queue[k] + 1]; e++) {
        const int j = graph->col[e];
        if (part[j] >= 0) continue;
        part[j] = parts;
        queue[count++] = j;
      }
    parts++;
  }
  return parts;
}
