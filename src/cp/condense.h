/* Free rows that are eliminated from a sparse problem before it is solved. */
#ifndef SS_CP_CONDENSE_H
#define SS_CP_CONDENSE_H

#include "cp/workspace.h"

typedef struct condensed {
  ss_cp cp;     /* what remains, sparse */
  ss_sparse G;  /* its matrix */
  int n;        /* rows of the given problem */
  int *place;   /* [n] row in what remains; -1 - (row within its group) for those that are eliminated */
  int *group;   /* [n] group of an eliminated row */
  int *first;   /* [groups + 1] members of group k: member[first[k]] .. */
  int *member;  /* [eliminated] */
  int *touched; /* rows that remain and that the group meets: touches[touched[k]] .. */
  int *touches;
  size_t *at; /* [groups] X_k = A_kk^-1 [A_kc g_k] in x: a line of touched numbers and one for g per member */
  double *x;
} condensed;

/* Velocities as free rows, in groups that are coupled with each other (the masses of one body): eliminated where rows that remain
 * have nothing on their diagonal, which the solvers of large problems need. *worth is false, and nothing else set, where there is
 * nothing to be done, or the groups are too large. */
ss_status condense(const ss_cp *problem, const ss_sparse *G, ss_cp_workspace *w, condensed *out, bool *worth,
                   ss_error *error);

/* z of the given problem from that of what remains. */
void condensed_recover(const condensed *c, const double *rest, double *z);

#endif
