#ifndef SS_CP_RANGE_H
#define SS_CP_RANGE_H

#include "cp/pattern.h"

/* G = L U^T, L and U with as many columns as the rank of G; U = L where G is symmetric. Row i of both is zero outside its
 * columns first[i] .. end[i] - 1. */
typedef struct range {
  int n, rank, stride;
  double *L, *U; /* [n][stride], of which the columns below the rank count */
  int *first, *end;
} range;

/* Columns come in the order of the pattern's places where the pivots are good. *admitted is false where the symmetric part
 * of G is not positive semi-definite, or the rank above `most`. G should be scaled to a diagonal of order one. */
ss_status range_create(const ss_cp *problem, const pattern *order, int most, ss_cp_workspace *w, range *out,
                       bool *admitted, ss_error *error);

void range_apply(const range *r, const double *g, const double *y, double *w); /* w = L y + g */
void range_collect(const range *r, const double *z, double *y);                /* y = U^T z */

#endif
