/* The blocks' laws as an interior-point method sees them: pairs of inner coordinates x, s >= 0 in symmetric cones with x o s = 0, and linear
 * equations between them and the rows' impulses z and slacks w. */
#ifndef SS_CP_BARRIER_H
#define SS_CP_BARRIER_H

#include "cp/workspace.h"

enum { BARRIER_ROWS = SS_FRICTION_ROWS, MOST_DIRECTIONS = 64, BARRIER_INNER = MOST_DIRECTIONS + 2 };

/* One node (velocity_space.h). Its inner coordinates are `pairs` numbers each of x and s, then one pair of second-order cones |t| <= n of
 * `rows` rows, where rows > 0:
 *
 *     normal impulse   z_n = offset + sign x,  s = sign w_n; nonnegative rows, boxes with one bound, contacts
 *     group            `per` directions with x = beta and a multiplier with x = lambda,
 *                      z = offset + sum beta_j d_j,  s_j = d_j . w + lambda,  s = mu x_n + room - sum beta; a polygon, one axis of a
 *                      pyramid, a box with two bounds
 *     disc             the cone, with De Saxce's shift: x = (mu z_n, z_t),  s = (w_n / mu + |w_t|, w_t); no normal impulse of its own
 *     disc with extra  x = (mu (z_n + extra), z_t),  s = (lambda, w_t), beside the normal impulse */
typedef struct barrier {
  enum { BARRIER_FREE, BARRIER_FIXED, BARRIER_PAIRS, BARRIER_CONE, BARRIER_DISC } kind;
  int first, size;      /* rows of the node */
  int at, count;        /* where its inner coordinates begin; how many */
  int pairs, rows;      /* of them */
  bool normal;          /* the first pair is a normal impulse */
  int groups, per;      /* groups, and directions of each */
  const double *corner; /* of a polygon; else directions go along the axes */
  double mu, room;      /* what the partners of a multiplier may add up to */
  double sign, offset;
  double stiffness;               /* of a free row */
  double *scale, *lambda;         /* [count] W of pairs, the square root of x / s; W s = W^-1 x = lambda */
  double beta, v[BARRIER_ROWS];   /* W = beta (2 v v^T - J) of the cone (Nesterov and Todd) */
  double d[BARRIER_ROWS], by_gap; /* of De Saxce's shift: derivatives by w_t and by the gap */
} barrier;

/* `corners`: directions of a polyhedral block. at, scale, lambda and stiffness are the caller's to set. */
barrier barrier_create(const ss_block *block, int first, int size, const double *corners);
int barrier_degree(const barrier *b); /* how many products make the gap */

/* All vectors below are of the node alone: x, s, f, r of its inner coordinates, z and w of its rows. */
void barrier_start(const barrier *b, double *x, double *s);
/* From any z and w, moved inside by `near`. */
void barrier_start_near(const barrier *b, double near, const double *z, const double *w, double *x, double *s);
void barrier_impulses(const barrier *b, const double *x, double offset,
                      double *z); /* offset 1: of a point; 0: of a step */
double barrier_gap(const barrier *b, const double *x, const double *s);

/* The scaling, De Saxce's shift blurred by the gap, and r, by which the linear equations are missed. */
void barrier_linearise(barrier *b, const double *x, const double *s, const double *w, double gap, double *r);
void barrier_divide(const barrier *b, double *x); /* x = W^-1 x */

/* f of W^-2 dx + ds = f, for products of the size `target`; predicted: W^-1 dx of the predictor, whose second-order part is taken out;
 * NULL: none. */
void barrier_right_side(const barrier *b, double target, const double *predicted, double *f);
/* dx for a change dw of the slacks; NULL stands for zeros. */
void barrier_solve(const barrier *b, const double *f, const double *r, const double *dw, double *dx);
/* ds = f - W^-2 dx */
void barrier_slack_step(const barrier *b, const double *f, const double *dx, double *ds);
/* How often `times` this step can be gone until the edge. */
double barrier_reach(const barrier *b, const double *x, const double *s, const double *dx, const double *ds,
                     double times);

#endif
