/* What a complementarity solver looks like to the table in solvers.c. */
#ifndef SS_CP_SOLVER_H
#define SS_CP_SOLVER_H

#include "cp/workspace.h"

/* Like ss_cp_solve, but sets only outcome and iterations: the caller judges z. A solver that has asked the judge about this
 * very z sets the residual as well; the caller sets it to -1 before. What a solver takes from the workspace, its caller
 * releases. */
typedef ss_status cp_solve_function(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z,
                                    ss_cp_workspace *workspace, ss_cp_result *result, ss_error *error);

bool is_determined(const ss_cp *problem, const double *z, ss_cp_workspace *w); /* selection.c */
/* The limit of vanishing compliance from a solution z; false, with z as it was, where that is not found at once. */
bool select_directly(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *w,
                     ss_cp_result *result);
/* Whether the rigid solution z, w has the states of the compliant one ze, we, or is on their edges: then it is their limit. */
bool states_are_kept(const ss_cp *problem, const double *ze, const double *we, const double *z, const double *w,
                     double eps);
ss_status select_solution(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *w,
                          ss_cp_result *result, ss_error *error);
cp_solve_function solve_proximal_newton; /* proximal_newton.c */
cp_solve_function solve_active_set;      /* active.c */
cp_solve_function solve_lemke;           /* pivoting.c */
cp_solve_function solve_keller;
cp_solve_function solve_lemke_restarted;
cp_solve_function solve_fischer_burmeister; /* equations.c */
cp_solve_function solve_alart_curnier;
cp_solve_function solve_nsgs_newton; /* gauss_seidel.c */
cp_solve_function solve_nsgs;
cp_solve_function solve_few_contacts; /* gauss_seidel.c */
cp_solve_function solve_enumeration;  /* diagnose.c */
cp_solve_function solve_refuted;      /* infeasibility.c: a proof that there is no solution, else not admitted */

/* These take matrices of every form. The first four pose the problem anew and solve that by "auto"; not admitted where there is
 * nothing to do. */
cp_solve_function solve_friction_form; /* friction_form.c */
cp_solve_function solve_without_free;  /* reformulation.c: velocities eliminated */
cp_solve_function solve_combined;      /* reformulation.c: with a diagonal for rows that have none */
cp_solve_function solve_frictionless;  /* reformulation.c: without the tangents of contacts that have no friction */
cp_solve_function solve_islands;       /* islands.c: contacts that hang together through no body, one by one */
cp_solve_function solve_large;         /* the same where there is only one island as well */

cp_solve_function solve_nsgs_sparse; /* large_solve.c */
cp_solve_function solve_nsgs_accelerated;
cp_solve_function solve_admm;
cp_solve_function solve_interior_point;
cp_solve_function solve_wedged; /* wedged.c: contacts that are wedged taken for joints, else not admitted */

/* "auto" from nothing, before everything else: true where z solves the problem to rounding errors; z and *result are spoiled
 * otherwise. */
bool solve_at_once(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *workspace,
                   ss_cp_result *result);

/* Friction sets given by their corners (generated.c). */
bool has_generated(const ss_cp *problem);

/* Like ss_cp_solve, for problems that have such a set. */
ss_status solve_generated(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                          ss_cp_result *result, ss_error *error);

enum { MODERATE_ROWS = 900 }; /* up to which sparse problems are made dense at once */
enum { TINY_LCP_ROWS = 40 };
bool is_tiny_lcp(const ss_cp *problem); /* nonnegative rows only, and few of them */

/* What kinds of blocks there are (problem.c). */
bool has_friction(const ss_cp *problem); /* a friction block with mu > 0 */
bool has_disc(const ss_cp *problem);     /* a friction block with the quadratic cone and two tangential rows or more */
bool some_free(const ss_cp *problem);
bool is_large_and_sparse(const ss_cp *problem); /* sweeps cost little beside a factorisation */

/* Problems in units in which the judge's tolerance means nothing (problem.c). */
/* z in units of `z`, w in units of `w`: powers of two. */
typedef struct cp_units {
  double z, w;
} cp_units;

/* Units in which g and the diagonal of G are of size one; false where those that are given are as good. */
bool units_needed(const ss_cp *problem, cp_units *out);

/* The same problem in other units. */
ss_status units_change(const ss_cp *problem, cp_units u, ss_cp_workspace *w, ss_cp *out, ss_error *error);

#endif
