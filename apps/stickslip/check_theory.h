/* How `stickslip check` tells what the theory promises of a scene at t = 0. */
#ifndef CHECK_THEORY_H
#define CHECK_THEORY_H

#include "json.h"
#include "session.h"

void theory_print_text(const session *s, const ss_theory *theory);
json_t *theory_json(const session *s, const ss_theory *theory); /* keys of the command's object */

#endif
