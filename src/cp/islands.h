/* Contacts that hang together through bodies, as problems of their own. */
#ifndef SS_CP_ISLANDS_H
#define SS_CP_ISLANDS_H

#include "cp/workspace.h"

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

ss_status islands_find(islands *s, const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w, ss_error *error);
void islands_sort(islands *s); /* the nodes by islands, which are numbered by their first row */

/* Island k with its part of z; larger ones keep their part of the problem's factors beside the matrix. */
ss_status island_create(island *i, const islands *s, int k, const ss_cp *problem, const ss_sparse *G, const double *z,
                        ss_cp_workspace *w, ss_error *error);

/* Whether the velocities of the bodies determine w. */
static inline bool operator_has_bodies(const ss_cp_operator *o) { return o && !o->R.start && !o->whole.start; }

#endif
