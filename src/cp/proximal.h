/* One proximal step by Newton's method, in whatever coordinates (velocity_space.h). */
#ifndef SS_CP_PROXIMAL_H
#define SS_CP_PROXIMAL_H

#include "cp/response.h"

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
};

/* Memory for m unknowns and n rows. */
bool proximal_create(proximal *p, int m, int n, ss_cp_workspace *w);

void proximal_exchange(proximal *p); /* now and trial */

/* From p->now, where everything is evaluated with Coulomb's law, until |F| is at most the goal; where Newton's method does not descend
 * and `shifted` says so, once with the shift frozen. Returns whether it was reached. */
bool proximal_solve(proximal *p, double goal, bool shifted);

#endif
