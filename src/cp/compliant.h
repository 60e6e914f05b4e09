/* The problem with compliance, w = (G + eps C) z + g - eps C a, as equations for the velocities that its impulses make. */
#ifndef SS_CP_COMPLIANT_H
#define SS_CP_COMPLIANT_H

#include "cp/proximal.h"
#include "cp/velocity_space.h"

typedef struct compliant {
  const ss_cp *original;
  ss_cp dense;      /* the original, where it is given by rows alone */
  ss_cp cp;         /* scaled: diagonal and right side of size one; dense, or without a matrix */
  double *scale;    /* [n] powers of two, one per node: z = scale amplitude (scaled z) */
  double amplitude; /* of the right side */
  double *c;        /* [n] compliance */
  double *R;        /* [n] of the operator's own, on top of eps c; NULL: none */
  double soft;      /* eps at which the problem is soft: the largest G_ii / c_i */
  double typical;   /* their geometric mean */
  double eps;
  double *a, *slack; /* [n] anchor, and G a + g */
  node_list nodes;
  velocity_space space;
  active_set set; /* the sites, for the response */
  proximal step;  /* in y: A y = J^T (z - a) */
  double *w, *x, *change, *shift, *none, *z;
  double (*D)[SS_FRICTION_ROWS]; /* [n] derivative of the law by the slack, without 1 / eps */
} compliant;

/* Not admitted where a factorisation would take more than `most` operations, or G is not a matrix of contacts. */
ss_status compliant_create(compliant *k, const ss_cp *problem, double most, ss_cp_workspace *w, bool *admitted,
                           ss_error *error);

void compliant_anchor_zero(compliant *k); /* a = 0 */
double compliant_anchor(
    compliant *k,
    const double *z); /* a = z, of the scaled problem; returns the residual there, the larger of both problems */
void compliant_start(const compliant *k, const double *z); /* k->z from z of the original problem */
void compliant_finish(const compliant *k, const double *x, double *z);
double compliant_rounding(const compliant *k); /* what rounding errors leave of |F| */

/* Evaluates at k->step.now.y. */
void compliant_evaluate(compliant *k);

/* y from the equations linearised at z, a point of any origin: right at once where its states are. */
bool compliant_linearise(compliant *k, const double *z);

/* Newton steps from k->step.now.y to |F| <= goal. */
bool compliant_newton(compliant *k, double goal, bool shifted);

#endif
