/* Which rows of a complementarity problem meet in G, and an order in which elimination stays sparse. */
#ifndef SS_CP_PATTERN_H
#define SS_CP_PATTERN_H

#include "cp/workspace.h"

/* Rows stand in groups: a friction block is one, every other row is one of its own. Groups have places in the order. */
typedef struct pattern {
  int n;      /* groups */
  int *place; /* [rows] of the row's group */
  int *row;   /* [n] first row of the group at a place */
  int *size;  /* [n] its number of rows */
  int *start; /* [n + 1] where the list of a place begins in `meets` */
  int *meets; /* places at which G has an entry there or at the transposed place, itself included; unsorted */
  int *least; /* [n] the first of them */
} pattern;

/* Orders the groups breadth first (Cuthill & McKee 1969), so that those that meet stand near each other and independent
 * parts of the problem one after the other. */
ss_status pattern_create(const ss_cp *problem, ss_cp_workspace *w, pattern *out, ss_error *error);

/* w = G z + g; this and the next need G dense */
void pattern_apply(const pattern *p, const ss_cp *problem, const double *z, double *w);

/* The sum of the absolute values of the terms of w in this row. */
double pattern_magnitude(const pattern *p, const ss_cp *problem, int row, const double *z);

#endif
