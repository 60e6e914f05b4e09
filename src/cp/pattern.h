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

/* LU factors without pivoting, in place, of a matrix whose pattern is symmetric: row and column i start at first[i], and
 * no row beyond last[i] reaches back to column i; `last` does not fall. Row i must be zero up to last[i] where the matrix has no entry. Returns
 * false where a pivot is zero or not finite. */
bool envelope_factor(double *A, int n, const int *first, const int *last);

/* x from A x = x with those factors. */
void envelope_solve(const double *A, int n, const int *first, const int *last, double *x);

#endif
