/* Sweep and prune: pairs of boxes that meet, among many. Boxes are [n][6]: low x y z, high x y z. */
#ifndef SS_CONTACT_SWEEP_AND_PRUNE_H
#define SS_CONTACT_SWEEP_AND_PRUNE_H

#include <stdbool.h>

/* The axis along which the boxes' lower ends scatter most; the present one unless another is clearly better. */
int ss_sweep_axis(const double *boxes, int n, int present);

/* Sorts the numbers of the boxes in order[n] by their lower ends along the axis; scratch[n] is working space. Equal ones keep
 * their order. n log n, and linear where few are out of place. */
void ss_sweep_sort(const double *boxes, int axis, int n, int *order, int *scratch);

/* The pairs, one after the other: start from {boxes, order, n, axis}. */
typedef struct ss_sweep {
  const double *boxes;
  const int *order; /* sorted along the axis */
  int n, axis;
  int at, other; /* where in `order` it is */
} ss_sweep;
bool ss_sweep_next(ss_sweep *sweep, int *i, int *j);

#endif
