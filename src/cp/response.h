#ifndef SS_CP_RESPONSE_H
#define SS_CP_RESPONSE_H

#include "cp/active.h"

/* The projection P of x on the set R S of friction impulses as a slip state has it (active.h): its value, its derivative by
 * x (n x n) and by R. */
typedef struct projection {
  double P[SS_FRICTION_ROWS], by_x[SS_FRICTION_ROWS][SS_FRICTION_ROWS], by_R[SS_FRICTION_ROWS];
} projection;

projection project_on_set(const site *s, int slip, const double *x, double R);

/* The impulses that a law assigns to x = z - rho w, block by block, and their derivative: row i of D holds the derivatives of
 * z_i by the x of its block, in order. */
typedef struct response {
  double *z;                     /* [n] */
  double (*D)[SS_FRICTION_ROWS]; /* [n] */
} response;

/* Coulomb's law: z_n = max(x_n, 0), z_t the projection of x_t on mu (z_n + extra) S. `none` are n zeros. */
void respond_by_coulomb(active_set *set, const double *x, const double *none, response *out);

/* The associated law: the projection of x on the cone, the gradient of a convex function. Not where `extra` is positive. */
void respond_by_cone(const active_set *set, const double *x, response *out);
void respond_by_cone_at(const active_set *set, int site, const double *x, response *out); /* the rows of one site */
bool cones_admitted(const ss_cp *problem);

/* What makes the associated law that of Coulomb (De Saxce): on the normal row of a contact mu max -w_t s over S, else 0. */
void cone_shift(const active_set *set, const double *w, double *shift);
double cone_shift_at(const active_set *set, int site, const double *w); /* on the first row of one site */

#endif
