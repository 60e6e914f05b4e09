/* stickslip solve: what is known about the set of solutions. */
#ifndef STICKSLIP_SOLVE_DIAGNOSIS_H
#define STICKSLIP_SOLVE_DIAGNOSIS_H

#include "json.h"

#include <stickslip/cp.h>

/* Problems that are diagnosed without being asked: it costs less than starting the program. */
bool diagnosis_is_cheap(const ss_cp *problem);

json_t *diagnosis_json(const ss_cp_diagnosis *d);
void print_diagnosis(const char *path, const ss_cp_diagnosis *d);

/* The states of rows and contacts in a solution; w is G z + g. */
json_t *states_json(const ss_cp *problem, const double *z, const double *w);
void print_states(const ss_cp *problem, const double *z, const double *w);

#endif
