/* Over-relaxation: the step of a block is made longer by a factor below 2 (Jourdan, Alart & Jean 1998), or shorter. What
 * leaves the set is brought back: the normal part to 0, the tangential part along its direction (discs) or to the bounds
 * (boxes, pyramids). Polygons take the plain step where the longer one leaves the disc inside them.
 *
 * Orders: as given; breadth first, so that neighbours follow one another; shuffled (always alike), which prefers no
 * direction. */
#include "cp/ordering.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

static void breadth_first(const ss_graph *graph, int *order, bool *seen) {
  int count = 0;
  memset(seen, 0, sizeof *seen * (size_t)graph->n);
  for (int seed = 0; seed < graph->n; seed++) {
    if (seen[seed]) continue;
    seen[seed] = true;
    order[count] = seed;
    for (int next = count++; next < count; next++)
      for (int e = graph->start[order[next]]; e < graph->start[order[next] + 1]; e++) {
        if (seen[graph->col[e]]) continue;
        seen[graph->col[e]] = true;
        order[count++] = graph->col[e];
      }
  }
}

static void shuffle(int *order, int n) {
  uint64_t state = 1;
  for (int k = n - 1; k > 0; k--) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const int other = (int)((state >> 33) % (uint64_t)(k + 1)), item = order[k];
    order[k] = order[other];
    order[other] = item;
  }
}

void order_nodes(const ss_graph *graph, ss_cp_order kind, int *order, bool *seen) {
  for (int k = 0; k < graph->n; k++) order[k] = k;
  if (kind == SS_ORDER_BREADTH) breadth_first(graph, order, seen);
  if (kind == SS_ORDER_SHUFFLED) shuffle(order, graph->n);
}

static double clamp(double x, double lower, double upper) { return fmin(fmax(x, lower), upper); }

void over_relax(const ss_block *block, double factor, const double *old, double *z) {
  const bool friction = block->kind == SS_BLOCK_FRICTION;
  const int size = friction ? block->size : 1;
  double plain[SS_FRICTION_ROWS], length = 0;
  for (int i = 0; i < size; i++) {
    plain[i] = z[i];
    z[i] = old[i] + factor * (z[i] - old[i]);
    if (i) length += z[i] * z[i];
  }
  if (block->kind == SS_BLOCK_BOX) z[0] = clamp(z[0], block->lower, block->upper);
  if (block->kind == SS_BLOCK_NONNEGATIVE || friction) z[0] = fmax(z[0], 0);
  if (!friction) return;
  const double radius = block->mu * (z[0] + block->extra);
  const bool disc = block->cone == SS_CONE_QUADRATIC, polygon = block->cone == SS_CONE_POLYHEDRAL && size > 2;
  const double inside = polygon ? radius * cos(acos(-1.0) / block->directions) : radius;
  if (polygon && length > inside * inside) memcpy(z, plain, sizeof *z * (size_t)size);
  for (int i = 1; i < size && !polygon; i++)
    z[i] = disc && length > radius * radius ? z[i] * radius / sqrt(length) : clamp(z[i], -radius, radius);
}
