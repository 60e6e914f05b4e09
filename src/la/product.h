/* Products of dense matrices, which large factorisations consist of. Nothing is allocated. */
#ifndef SS_LA_PRODUCT_H
#define SS_LA_PRODUCT_H

#include <stddef.h>

/* A matrix somewhere in an array: entry (i, j) is at[i * down + j * along]. */
typedef struct ss_view {
  const double *at;
  size_t down, along;
} ss_view;

/* C += factor A B: A has `rows`, B `columns`, C (apart from A and B, its rows `stride` apart) both. The order of the sums depends
 * on the sizes alone, and no operation is fused: the bits are the same on every processor. */
void ss_add_product(double *C, int stride, double factor, ss_view A, ss_view B, int rows, int inner, int columns);

#endif
