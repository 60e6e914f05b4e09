/* What the files of multiple shooting share. */
#ifndef SS_BVP_MULTIPLE_H
#define SS_BVP_MULTIPLE_H

#include "bvp/bvp.h"
#include "bvp/knot.h"

typedef struct trajectory {
  double *u;      /* [n] */
  ss_state *knot; /* [segments] where each begins; the first is the scene's own */
  ss_state *end;  /* [segments] where each ends */
  double *f;      /* [m] conditions */
  double measure; /* sum of squares of f and of all mismatches */
  double worst;   /* largest of them */
} trajectory;

typedef struct multiple {
  ss_shooting *s;
  ss_arena *arena;
  ss_model *model; /* of the scene as it was given: all but the first segment run on it */
  ss_sim *sim;
  int segments;
  long *first; /* [segments + 1] step at which each begins */
  trajectory now, trial;
  ss_state moved, moved_end; /* for differences */
} multiple;

/* What Newton's method knows at an iterate: derivatives of the segments. */
typedef struct derivatives {
  double **map; /* [segments + 1] map[k]: A_(k-1), outputs x inputs; the last one's outputs are the conditions */
} derivatives;

/* A step: increments of u and of each knot. */
typedef struct increments {
  double *u;  /* [n] */
  double **x; /* [segments] x[k], k >= 1 */
} increments;

/* Notes a status that is more than a run that failed; whether it is bad. */
bool multiple_failed(multiple *w, ss_status status);
bool multiple_no_memory(multiple *w);

/* Runs segment k from the knot (k = 0: from u); leaves its end, and for the last one the conditions. */
bool multiple_fly(multiple *w, int k, const double *u, const ss_state *knot, ss_state *end, double *f);

/* States in between to begin with (multiple_guess.c): those of a run with u, as far as it gets, or states on the way to a
 * position that meets the conditions. */
bool multiple_guess_by_run(multiple *w);
bool multiple_guess_between(multiple *w);

/* Derivatives and the linear system (multiple_linear.c). The Newton step of trajectory t may be asked for with derivatives
 * that belong to another. */
int multiple_outputs(const multiple *w, int k); /* coordinates of knot k, or conditions */
bool multiple_differentiate(multiple *w, ss_arena *arena, derivatives *d);
bool multiple_solve_linear(multiple *w, const derivatives *d, const trajectory *t, ss_arena *arena, increments *out);

#endif
