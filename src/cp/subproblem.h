#ifndef SS_CP_SUBPROBLEM_H
#define SS_CP_SUBPROBLEM_H

#include "cp/reduce.h"

/* A problem whose free rows have been eliminated, scaled so that its matrix and right side are of order one. */
typedef struct subproblem {
  reduction r;
  ss_cp cp;
  ss_sparse sparse; /* matrix of a cp that is not dense; cp points to it, so that this stays where it was created */
  double *scale;    /* [cp.n] second scaling, on top of the reduction's */
  double *total;    /* [cp.n] z of the original row = total * z of this problem */
  double amplitude; /* of the right side */
} subproblem;

/* A sparse matrix stays sparse, but may not have free rows. */
ss_status subproblem_create(const ss_cp *problem, double rank_tolerance, ss_cp_workspace *w, subproblem *out,
                            ss_error *error);

/* The original z from the subproblem's, and the subproblem's starting guess from the original z. */
ss_status subproblem_recover(const subproblem *s, const double *x, double *z, ss_cp_workspace *w, ss_error *error);
void subproblem_start(const subproblem *s, const double *z, double *x);

#endif
