#ifndef SS_CP_AT_ONCE_H
#define SS_CP_AT_ONCE_H

#include <stickslip/cp.h>

/* "auto" from nothing, before everything else: true where z solves the problem to rounding errors; z and *result are spoiled
 * otherwise. */
bool solve_at_once(const ss_cp *problem, const ss_cp_options *options, double *z, ss_cp_workspace *workspace,
                   ss_cp_result *result);

#endif
