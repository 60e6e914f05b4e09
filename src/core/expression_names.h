#ifndef SS_CORE_EXPRESSION_NAMES_H
#define SS_CORE_EXPRESSION_NAMES_H

#include <stdbool.h>

/* Whether the word already means something in expressions (a function, pi, t, a unit), so that no parameter can have it
 * as its name. `e` can be redefined: it is the usual letter of restitution. */
bool ss_expression_reserves(const char *word);

#endif
