/* Friction sets given by their corners. */
#ifndef SS_CP_GENERATED_H
#define SS_CP_GENERATED_H

#include "cp/workspace.h"

bool has_generated(const ss_cp *problem);

/* Like ss_cp_solve, for problems that have such a set. */
ss_status solve_generated(const ss_cp *problem, const ss_cp_options *options, bool warm, double *z, ss_cp_workspace *w,
                          ss_cp_result *result, ss_error *error);

#endif
