#ifndef SS_CP_WEDGED_H
#define SS_CP_WEDGED_H

#include "cp/range_system.h"
#include "cp/reduce.h"

/* The search for impulses in balance, in the range of G. */
typedef struct wedges {
  subproblem sub;
  const ss_cp *cp; /* the one of sub */
  range_system system;
  active_set set;
  double eps;
  double *anchor, *slack, *best, *drift; /* [n] the impulses; those before a step; scratch */
  double *w, *x, *change, *shift, *none; /* [n] none: zeros */
  double *last_x;                        /* [n] the impulses before eps fell */
  double *y, *trial;                     /* [rank] */
  double (*E)[SS_FRICTION_ROWS];         /* [n] inverse of the barrier's second derivative */
  int newtons;                           /* steps so far */
  int limit;                             /* of them; 0: none */
  const ss_cp_options *caller;           /* who may want to stop; NULL: nobody */
  bool stopped;                          /* and has wanted to */
} wedges;

/* Not admitted where the symmetric part of G is not positive semi-definite. */
ss_status wedges_create(wedges *d, const ss_cp *problem, ss_cp_workspace *w, bool *admitted, ss_error *error);

/* Impulses inside the cones that are in balance among themselves, into d->anchor; the largest normal one is about one. Sites that are not
 * wedged have none, and the state SITE_OPEN. False: nothing is wedged. d->newtons counts the steps. */
bool find_self_stress(wedges *d);

/* The impulses of the wedged contacts, zero elsewhere, that move the bodies as z does, in the proportions that the stress
 * suggests; z is zero but in wedged contacts. After find_self_stress, before anything else is done with d. */
void share_among_wedged(wedges *d, const double *z, double *out);

/* Whether these impulses of the wedged contacts are inside their cones. */
bool stress_is_inside(const wedges *d, const double *z);

#endif
