/* Matrices in the text form of Siconos: dense, block and sparse. */
#ifndef SS_CP_READ_MATRIX_H
#define SS_CP_READ_MATRIX_H

#include "cp/tokens.h"

typedef struct block_partition {
  int count;
  int *ends; /* [count] row after the last one of each block */
} block_partition;

ss_status read_matrix(tokens *t, matrix *out, ss_error *error);
ss_status read_block_matrix(tokens *t, matrix *out, block_partition *rows, ss_error *error); /* storage 1 only */

#endif
