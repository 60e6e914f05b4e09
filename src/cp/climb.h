/* One run of the strategy: the best z so far, and the attempts of single solvers at a better one. */
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

typedef struct climb {
  const ss_cp *problem;
  const ss_cp_options *options;
  ss_cp_workspace *workspace;
  const double *start; /* z at the beginning */
  double *z;           /* the best so far: the caller's array */
  double *trial;
  ss_cp_result *result;
} climb;

/* What one solver may do, and where it starts. */
typedef struct attempt {
  int limit;          /* iterations; 0: its own choice */
  double work;        /* operations; 0: its own choice */
  const double *from; /* NULL: from nothing */
} attempt;

/* Runs one solver; judges and polishes; keeps what is better (climb.c). */
ss_status try_row(climb *c, const solver_row *row, attempt a, ss_outcome *outcome, ss_error *error);

/* After work on another form of the matrix, whose sums have other rounding errors. */
void judge_as_given(climb *c, const ss_cp *given);

/* Whether there is nothing to look for, which becomes the outcome then. A proof is rounding where some z is nearly a solution. */
bool proved_impossible(climb *c);

/* Operations that a method may take at first: as many as some hundred sweeps (strategy.c). */
double first_work(const ss_cp *problem);

/* The rows one after the other until the tolerance is reached; c->problem in any form (strategy.c). */
ss_status run_strategy(climb *c, bool warm, ss_error *error);

#endif
