/* One climb: the best z so far, and the attempts of single methods at a better one. ss_cp_solve (solve.c) asks what to try next, lets
 * the method solve, and hands its z to the judge: between it and a method there is nothing. */
#ifndef SS_CP_CLIMB_H
#define SS_CP_CLIMB_H

#include "cp/solver.h"

typedef struct solver_row {
  const char *name;
  cp_solve_function *solve;
} solver_row;

/* By name; NULL: there is none. *any_form: it takes sparse matrices and operators as they are; the others get them dense, if
 * they are not too large (solvers.c). */
const solver_row *find_solver(const char *name, bool *any_form);

/* Below this residual what is missing is a matter of rounding errors and of contacts that nearly repeat each other. */
static const double nearly_solved = 1e-6;
static const double polish_below = 1e-2; /* residuals above say that the active set is wrong */

/* A caller with such a tolerance wants an answer soon, not its last digits. */
static inline bool is_coarse(const ss_cp_options *options) { return options->tolerance > nearly_solved; }

/* Few digits are wanted of more than a few contacts: no factorisations unless sweeps fail, no selection. */
static inline bool is_rough(const ss_cp *problem, const ss_cp_options *options) {
  enum { FEW_ROWS = 64 };
  return is_coarse(options) && problem->n > FEW_ROWS;
}

/* What one method may do, and where it starts. */
typedef struct attempt {
  const solver_row *row; /* NULL: nothing more is to be tried */
  int limit;             /* iterations; 0: its own choice */
  double work;           /* operations; 0: its own choice */
  const double *from;    /* NULL: from nothing */
  ss_cp_options options; /* with what is left of the work */
  ss_cp_result result;
} attempt;

/* Where the strategy is (strategy.c). */
typedef struct rounds {
  bool begun;
  int round, k;             /* the row of its table in hand */
  double work;              /* operations of a row that takes turns */
  unsigned traits;          /* what the problem is like */
  int variables;            /* of the LCP that it would make */
  unsigned long unfinished; /* rows that ended for want of work, a bit each */
  ss_outcome first;         /* reason of a failure */
  bool refines;             /* the attempt in hand: what is solved, beside the table */
  ss_cp dense, listed;      /* other forms of the matrix */
  ss_sparse rows;
} rounds;

typedef struct climb {
  const ss_cp *given;   /* the problem, */
  const ss_cp *problem; /* and in the form that is worked on */
  const ss_cp_options *options;
  ss_cp_workspace *workspace;
  bool automatic, warm;
  const double *start; /* z at the beginning */
  double *z;           /* the best so far: the caller's array */
  double *trial;
  ss_cp_result *result;
  attempt now;
  int way; /* of posing it anew (solve.c) */
  rounds rounds;
} climb;

/* Before and after c->now.row solves from c->trial: what it may do; its z judged, polished, and kept where it is better (climb.c). */
ss_status attempt_begin(climb *c, ss_error *error);
ss_status attempt_end(climb *c, ss_error *error);

/* Whether there is nothing to look for, which becomes the outcome then. A proof is rounding where some z is nearly a solution. */
bool proved_impossible(climb *c);

/* Operations that a method may take at first: as many as some hundred sweeps (strategy.c). */
double first_work(const ss_cp *problem);

/* c->now: what the strategy tries next, after the attempt in hand; c->problem in any form (strategy.c). */
ss_status strategy_next(climb *c, ss_error *error);

#endif
