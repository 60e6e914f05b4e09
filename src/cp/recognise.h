/* Friction contacts and boxes in a plain (mixed) LCP. */
#ifndef SS_CP_RECOGNISE_H
#define SS_CP_RECOGNISE_H

#include "cp/workspace.h"

enum { MOST_DIRECTIONS = 64 };

/* Rows that belong together: beta_j >= 0 along `count` directions, and the multiplier lambda of what they may add up to. */
typedef struct gathering {
  int lambda;       /* row of the multiplier */
  int normal;       /* row of the normal impulse; -1: none */
  int first, count; /* its directions: recognition.direction[first .. first + count - 1]; 0: it has been given up */
  double mu, room;  /* sum of col_scale^-1 beta <= mu z_normal + room */
  double push;      /* entry of lambda in the row of the first direction */
  bool kept_zero;   /* mu = 0: nothing but beta = 0 is possible; the directions are in no order */
} gathering;

/* Direction j stands at the angle 2 pi j / count: row_scale times its row is cos times the row t1 plus sin times a row t2,
 * col_scale times its column likewise. Both scales are 1 for the first direction, which is t1. */
typedef struct recognition {
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

/* Gives one up: its rows are rows like any others again. */
void recognition_drop(recognition *r, int c);

#endif
