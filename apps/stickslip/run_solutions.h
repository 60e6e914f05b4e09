/* `stickslip run --all-solutions`: every step's problem is solved for all its solutions, by enumeration. */
#ifndef RUN_SOLUTIONS_H
#define RUN_SOLUTIONS_H

#include "json.h"
#include "session.h"

enum { BRANCHES_KEPT = 64 };

/* One contact in one solution: its impulse along the normal and the friction directions, and its velocity. */
typedef struct branch_contact {
  const char *kind; /* open, sticks, slides */
  double impulse[6], velocity[6];
  int size;
} branch_contact;

typedef struct branch {
  branch_contact *contacts;
  bool applied; /* the one that the run went on with */
} branch;

typedef struct solution_study {
  ss_cp_workspace *workspace;
  double tolerance;
  long problems;       /* enumerated */
  long not_enumerated; /* not enumerated */
  long several;        /* with more than one motion */
  int most;            /* motions of one problem */
  double t;            /* of the first problem with several */
  int (*between)[2];   /* its contacts' bodies */
  int n_contacts, n_branches;
  branch branches[BRANCHES_KEPT]; /* its motions */
} solution_study;

ss_status solutions_start(solution_study *study, ss_sim *sim, ss_error *error); /* attaches an observer */
void solutions_release(solution_study *study);                                  /* a zeroed one may be released */

void solutions_print_text(const solution_study *study, const ss_model *model);
json_t *solutions_json(const solution_study *study, const ss_model *model);

#endif
