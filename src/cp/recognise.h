/* Friction contacts and boxes in a plain (mixed) LCP. */
#ifndef SS_CP_RECOGNISE_H
#define SS_CP_RECOGNISE_H

#include "cp/storage.h"

/* Rows that belong together: beta_j >= 0 along `count` directions, and the multiplier lambda of what they may add up to. */
typedef struct gathering {
  int lambda;       /* row of the multiplier */
  int normal;       /* row of the normal impulse; -1: none */
  int first, count; /* its directions: recognition.direction[first .. first + count - 1], by ascending angle */
  double mu, room;  /* sum of beta <= mu z_normal + room, after scaling (below) */
  bool kept_zero;   /* mu = 0: nothing but beta = 0 is possible */
} gathering;

/* Direction j, at the angle 2 pi j / count, has row_scale (its row) = cos t1 + sin t2, col_scale (its column) likewise; both
 * scales are 1 for the first. */
typedef struct recognition {
  ss_sparse rows, cols; /* the matrix and its transpose */
  int count;
  gathering *found;              /* ascending by lambda */
  int *direction;                /* [n] rows */
  double *row_scale, *col_scale; /* [n] of direction[k] */
  int *owner;                    /* [n] the gathering whose direction or lambda a row is; -1 */
} recognition;

/* The direction next to a right angle from the first one, of k. */
static inline int quarter(int k) { return (k + 2) / 4; }

/* Finds what it can; nothing (count = 0) at the price of a look at the diagonal where no row can be a lambda. */
ss_status recognise(const ss_cp *problem, ss_cp_workspace *w, recognition *out, ss_error *error);

#endif
