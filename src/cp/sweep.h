#ifndef SS_CP_SWEEP_H
#define SS_CP_SWEEP_H

#include "cp/active.h"

/* What a Gauss-Seidel sweep needs of a problem: its rows without their zeros. */
typedef struct sweeper {
  const ss_cp *problem;
  active_set *set; /* for the sites */
  int *start;      /* [n + 1] */
  int *col;        /* [nonzeros] */
  double *value;   /* [nonzeros] */
  double factor;   /* of over-relaxation */
  int *order;      /* [n_sites] NULL: as they are */
} sweeper;

ss_status sweeper_create(active_set *set, ss_cp_workspace *w, sweeper *out, ss_error *error);

/* The order of the sites (ordering.h); SS_ORDER_GIVEN needs no memory. */
ss_status sweeper_order(sweeper *s, ss_cp_order kind, ss_cp_workspace *w, ss_error *error);

/* One pass over all blocks, each solved exactly for the others fixed; forwards or backwards. */
void sweep(const sweeper *s, double *z, bool backwards);

/* w = G z + g. */
void sweeper_apply(const sweeper *s, const double *z, double *w);

#endif
