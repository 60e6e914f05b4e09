/* Problems in units in which the judge's tolerance means nothing. */
#ifndef SS_CP_UNITS_H
#define SS_CP_UNITS_H

#include "cp/workspace.h"

/* z in units of `z`, w in units of `w`: powers of two. */
typedef struct cp_units {
  double z, w;
} cp_units;

/* Units in which g and the diagonal of G are of size one; false where those that are given are as good. */
bool units_needed(const ss_cp *problem, cp_units *out);

/* The same problem in other units. */
ss_status units_change(const ss_cp *problem, cp_units u, ss_cp_workspace *w, ss_cp *out, ss_error *error);

#endif
