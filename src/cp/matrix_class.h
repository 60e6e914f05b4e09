/* To which classes a small dense matrix belongs: what existence and uniqueness of complementarity problems hang on. */
#ifndef SS_CP_MATRIX_CLASS_H
#define SS_CP_MATRIX_CLASS_H

#include "cp/workspace.h"

enum { CLASS_LARGEST = 20 /* rows, for the tests whose cost is exponential */ };

/* M is n x n, row-major, with entries of order one; every answer allows for rounding. */
ss_answer matrix_symmetric(const double *M, int n);

/* x^T M x > 0, >= 0 for x != 0. A matrix that is singular within rounding is semi-definite, not definite. */
ss_status matrix_definite(const double *M, int n, ss_cp_workspace *w, ss_answer *definite, ss_answer *semidefinite,
                          ss_error *error);

/* All principal minors are positive. Unknown above CLASS_LARGEST rows. */
ss_status matrix_p(const double *M, int n, ss_cp_workspace *w, ss_answer *p, ss_error *error);

/* x^T M x >= 0, > 0 for x >= 0, x != 0. Unknown above CLASS_LARGEST rows, unless two rows say no. */
ss_status matrix_copositive(const double *M, int n, ss_cp_workspace *w, ss_answer *copositive, ss_answer *strictly,
                            ss_error *error);

#endif
