/* One proximal step by Newton's method, in whatever coordinates (velocity_space.h). */
#ifndef SS_CP_COMPLIANT_H
#define SS_CP_COMPLIANT_H

#include "cp/response.h"
#include "cp/velocity_space.h"

/* Coulomb's, or that of the cone with De Saxce's shift frozen. */
typedef enum contact_law { COULOMB, CONE } contact_law;

typedef struct prox_point {
  double *y, *F; /* [m] F(y) = 0 is looked for */
  response z;
  double norm, merit; /* |F|; what descends: |F|, or the convex function whose gradient F is */
} prox_point;

typedef struct proximal proximal;

/* The equations of a step, in the coordinates of `user`. */
typedef struct prox_equations {
  void (*evaluate)(void *user, contact_law law, prox_point *p);  /* everything at p->y */
  void (*freeze)(void *user, const double *y);                   /* De Saxce's shift, as it is there */
  bool (*newton)(void *user, const prox_point *p, double *step); /* F' step = -F; false: no step */
  int halvings;                                                  /* of a Newton step with Coulomb's law */
} prox_equations;

struct proximal {
  const prox_equations *equations;
  void *user;
  int m;
  bool cones; /* the cone's law is there for all blocks */
  prox_point now, trial;
  double *step; /* [m] */
  int newtons, limit;
  const ss_cp_options *caller; /* who may want to stop; NULL: nobody */
  bool stopped;                /* and has wanted to */
};

/* Whether another Newton step may be taken: asks the caller, too. */
bool proximal_goes_on(proximal *p);

/* From p->now, where everything is evaluated with Coulomb's law, until |F| is at most the goal; where Newton's method does not descend
 * and `shifted` says so, once with the shift frozen. Returns whether it was reached. */
bool proximal_solve(proximal *p, double goal, bool shifted);

/* The problem with compliance, w = (G + eps C) z + g - eps C a, as equations for the velocities that its impulses make. */

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
