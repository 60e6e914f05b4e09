/* All solutions of a small problem, and what they have in common. */
#ifndef SS_CP_ENUMERATE_H
#define SS_CP_ENUMERATE_H

#include "cp/workspace.h"

enum { ENUMERATION_LARGEST = 1 << 20 /* combinations of states */ };

typedef struct enumeration {
  double combinations; /* of the states of all contacts; infinite for discs */
  int count;           /* solutions found; of a continuum only some */
  int undecided;       /* singular combinations that may hold solutions which were not found */
  bool continuum;      /* some solution is not isolated */
  bool same_w;         /* all solutions found have the same w */
} enumeration;

/* Above `most` combinations nothing is tried: the caller compares. `found` may be NULL. */
ss_status enumerate_solutions(const ss_cp *problem, double tolerance, double most, ss_cp_workspace *w,
                              ss_cp_found found, void *user, enumeration *out, ss_error *error);

#endif
