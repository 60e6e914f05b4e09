/* Gauss-Seidel sweeps and Newton steps on one problem, in turn. */
#ifndef SS_CP_MIXED_H
#define SS_CP_MIXED_H

#include "cp/sweep.h"

typedef struct mixed {
  sweeper s;
  active_set a;
  int n;
  double *w, *x, *trial, *candidate, *best; /* [n]; x is the present point */
  double tolerance;
  int first_sweeps; /* before the first Newton step of a cold start; grows by half from turn to turn */
  int sweeps, newtons;
  bool
      patient; /* Newton steps that fail are damped; not in the first attempt of a cold start, when sweeps are better */
} mixed;

ss_status mixed_create(mixed *m, const ss_cp *cp, ss_cp_workspace *w, ss_error *error);

/* `count` sweeps from m->x; returns the residual. */
double mixed_sweep(mixed *m, int count);

/* Sweeps and Newton steps until m->tolerance or `limit` of them (over the lifetime of m); a warm start begins with Newton
 * steps. The best of all points visited ends in m->x; returns its residual. */
double mixed_take_turns(mixed *m, int limit, bool warm);

#endif
