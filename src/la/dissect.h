/* Order of elimination for a sparse symmetric pattern: nested dissection. */
#ifndef SS_LA_DISSECT_H
#define SS_LA_DISSECT_H

/* A graph by adjacency: neighbours of i are col[start[i]] .. col[start[i + 1] - 1]; i itself may be among them. */
typedef struct ss_graph {
  int n;
  const int *start, *col;
} ss_graph;

/* order[k]: the node that is eliminated as the k-th. memory: 4 n integers of scratch. */
void ss_dissect(const ss_graph *graph, int *order, int *memory);

/* Numbers the connected components: part[i] from 0 on, in the order of their lowest node; returns how many. queue: n integers. */
int ss_components(const ss_graph *graph, int *part, int *queue);

#endif
