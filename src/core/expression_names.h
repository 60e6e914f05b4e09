/* Names in expressions: which words are taken, and how a variable is found. */
#ifndef SS_CORE_EXPRESSION_NAMES_H
#define SS_CORE_EXPRESSION_NAMES_H

#include <stickslip/expression.h>

/* Whether the word already means something in expressions (a function, pi, t, a unit), so that no parameter can have it
 * as its name. `e` can be redefined: it is the usual letter of restitution. */
bool ss_expression_reserves(const char *word);

#define SS_WHERE_STATE "applied forces and torques, motors and outputs"

typedef struct ss_variable_found {
  size_t length; /* of its name; 0: no variable starts there */
  int index;     /* what evaluation hands to the reader of variables */
  unsigned uses; /* SS_USES_INPUTS or SS_USES_STATE */
} ss_variable_found;

/* What the names of an expression may mean: parameters (numbers now), t, variables. */
typedef struct ss_expression_scope {
  const ss_parameter *parameters;
  int n_parameters;
  bool time;
  /* Looks for a variable that starts at `at`; may fail where one starts that cannot be used. NULL: there are none. */
  ss_status (*variable)(void *user, const char *at, ss_variable_found *found, ss_error *error);
  void *user;
} ss_expression_scope;

ss_status ss_expression_parse_in(const char *text, const ss_expression_scope *scope, struct ss_arena *arena,
                                 const ss_expression **out, ss_error *error);
/* Without time; `variable` may only fail. */
ss_status ss_expression_constant_in(const char *text, const ss_expression_scope *scope, double *value, ss_error *error);

#endif
