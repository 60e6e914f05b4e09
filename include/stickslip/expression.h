/* Arithmetic expressions: constants of scenes; forces, motors and outputs as functions of time, inputs and state.
 *
 *     30 deg      2^-5      sin(pi/3)      mu*2      8*cos(t)      if(t < 1, 5, 0)      grip - 10*hand.vx
 *
 * + - * / ^ (right-associative, binds tighter than unary minus on its left), parentheses, comparisons (1 or 0), the
 * constants pi and e (a parameter named e comes first), the postfix units deg and rad (after a divisor or an exponent
 * only in parentheses: 360/8 deg is refused as ambiguous), and the functions sin cos tan asin acos atan atan2 sinh cosh
 * tanh exp log log10 sqrt abs floor ceil sign min max pow hypot if. Evaluation allocates nothing and is thread-safe. */
#ifndef STICKSLIP_EXPRESSION_H
#define STICKSLIP_EXPRESSION_H

#include <stickslip/base.h>

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_parameter {
  const char *name;
  double value;
} ss_parameter;

typedef struct ss_expression ss_expression;

struct ss_arena;

/* Parses text; names are looked up among the parameters (their values are taken now) and, where time is true, `t` is
 * the variable. The expression lives in the arena. error->column is the place in the text, counted from 1. */
ss_status ss_expression_parse(const char *text, const ss_parameter *parameters, int n_parameters, bool time,
                              struct ss_arena *arena, const ss_expression **out, ss_error *error);
double ss_expression_value(const ss_expression *expression, double t);

/* What an expression depends on. Those with variables (inputs, state) come from ss_scene_expression and scene files; the
 * reader is asked for the value of each, ss_expression_value is NAN for them. */
enum { SS_USES_TIME = 1, SS_USES_INPUTS = 2, SS_USES_STATE = 4 };
unsigned ss_expression_uses(const ss_expression *expression);
typedef double ss_variable_reader(const void *user, int index);
double ss_expression_evaluate(const ss_expression *expression, double t, ss_variable_reader *variable,
                              const void *user);
/* A copy that lives in another arena; *out is NULL where expression is. False: out of memory. */
bool ss_expression_copy(const ss_expression *expression, struct ss_arena *arena, const ss_expression **out);
bool ss_expression_is_constant(const ss_expression *expression);
/* Equal for equal programs, in every run. */
uint64_t ss_expression_hash(const ss_expression *expression);

/* Parse and evaluate in one go, for constants. The value is checked to be finite. */
ss_status ss_expression_constant(const char *text, const ss_parameter *parameters, int n_parameters, double *value,
                                 ss_error *error);

#ifdef __cplusplus
}
#endif

#endif
