/* The y by which a problem's inequalities are violated least. */
#ifndef SS_CP_VIOLATION_H
#define SS_CP_VIOLATION_H

#include "cp/workspace.h"

/* y [n] is a proof that a dense problem has no solution, or 0 where its inequalities without friction do not contradict each other, up to
 * rounding: the judge of proofs decides. 0 too where it would take more than SS_CP_DENSE_ROWS rows. */
ss_status least_violation(const ss_cp *problem, ss_cp_workspace *w, double *y, ss_error *error);

#endif
