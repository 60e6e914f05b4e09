/* Sets of numbers that grow together: what hangs together in a scene, a mechanism, a problem. */
#ifndef SS_CORE_SETS_H
#define SS_CORE_SETS_H

#include <string.h>

/* The first number of the set that k is in; on the way to it the tree becomes flatter. At the beginning parent[k] = k. */
static inline int ss_set_of(int *parent, int k) {
  while (parent[k] != k) k = parent[k] = parent[parent[k]];
  return k;
}

static inline void ss_set_join(int *parent, int a, int b) {
  const int p = ss_set_of(parent, a), q = ss_set_of(parent, b);
  parent[p > q ? p : q] = p > q ? q : p;
}

/* The n members by the numbers of their sets, 0 .. count - 1, in order; start [count + 1]: where each set starts. */
static inline void ss_sets_sort(int n, const int *set, int count, int *start, int *members) {
  memset(start, 0, sizeof *start * ((size_t)count + 1));
  for (int i = 0; i < n; i++) start[set[i] + 1]++;
  for (int k = 0; k < count; k++) start[k + 1] += start[k];
  for (int i = 0; i < n; i++) members[start[set[i]]++] = i;
  for (int k = count; k > 0; k--) start[k] = start[k - 1];
  start[0] = 0;
}

#endif
