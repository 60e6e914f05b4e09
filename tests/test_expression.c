/* Expressions: values, precedence, units, and messages with the right column. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <stickslip/expression.h>

#include "core/arena.h"
#include "core/expression_names.h"

#define PI 3.14159265358979323846

static const ss_parameter parameters[] = {{"L", 2}, {"mu", 0.25}, {"deg_like", 7}};
enum { N_PARAMETERS = sizeof parameters / sizeof parameters[0] };

static const struct {
  const char *text;
  double value;
} values[] = {
    {"1", 1},
    {"-1.5e-3", -1.5e-3},
    {".5", 0.5},
    {"5.", 5},
    {"1E+2", 100},
    {" 2 ", 2},
    {"1+2*3", 7},
    {"(1+2)*3", 9},
    {"10-4-3", 3},
    {"16/4/2", 2},
    {"2^-5", 0.03125},
    {"2^3^2", 512},
    {"-2^2", -4},
    {"(-2)^2", 4},
    {"2^-2^2", 0.0625},
    {"--3", 3},
    {"+-+3", -3},
    {"2*-3", -6},
    {"30 deg", PI / 6},
    {"180deg", PI},
    {"-90 deg", -PI / 2},
    {"2 rad", 2},
    {"(360/8) deg", PI / 4},
    {"2*30 deg", PI / 3},
    {"sin(30 deg)*2/1", 1},
    {"1/(30 deg)", 6 / PI},
    {"pi", PI},
    {"e", 2.71828182845904523536},
    {"L*sin(pi/3)", 1.7320508075688772},
    {"mu*2", 0.5},
    {"deg_like", 7},
    {"1 < 2", 1},
    {"2 <= 1", 0},
    {"2 >= 2", 1},
    {"2 > 2", 0},
    {"2 == 2", 1},
    {"2 != 2", 0},
    {"1 + 1 < 3 * 1", 1},
    {"if(1 < 2, 5, 1/0)", 5},
    {"if(0, 5, 6)", 6},
    {"min(1, 2) + max(1, 2)", 3},
    {"pow(2, 10)", 1024},
    {"hypot(3, 4)", 5},
    {"atan2(1, -1)", 3 * PI / 4},
    {"atan(1)", PI / 4},
    {"asin(1)", PI / 2},
    {"acos(0)", PI / 2},
    {"tan(0)", 0},
    {"cos(0)", 1},
    {"sinh(0) + cosh(0) + tanh(0)", 1},
    {"exp(log(5))", 5},
    {"log10(1000)", 3},
    {"sqrt(16)", 4},
    {"abs(-3)", 3},
    {"floor(-1.5)", -2},
    {"ceil(-1.5)", -1},
    {"sign(-7) + sign(0) + sign(3)", 0},
    {"((((((((((1))))))))))", 1},
};

static void constants_have_their_values(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    double value = NAN;
    ss_error error = {0};
    const ss_status status = ss_expression_constant(values[i].text, parameters, N_PARAMETERS, &value, &error);
    if (status != SS_OK) fail_msg("%s: %s", values[i].text, error.message);
    if (!(fabs(value - values[i].value) <= 4e-16 * fabs(values[i].value)))
      fail_msg("%s is %.17g, not %.17g", values[i].text, value, values[i].value);
  }
}

static const struct {
  const char *text;
  int column;
  const char *message;
} errors[] = {
    {"", 1, "nothing"},
    {"   ", 1, "nothing"},
    {"foo", 1, "unknown name 'foo' (declared parameters: L, mu, deg_like)"},
    {"1 + foo", 5, "unknown name 'foo'"},
    {"t", 1, "'t' (time) can only be used in applied forces"},
    {"sin", 1, "'sin' is a function"},
    {"sqt(2)", 1, "unknown function 'sqt'; did you mean 'sqrt'?"},
    {"frobnicate(2)", 1, "unknown function 'frobnicate' (functions: sin"},
    {"(1", 1, "missing ')'"},
    {"1)", 2, "')' without '('"},
    {"sin(1", 4, "missing ')'"},
    {"atan2(1", 6, "missing ')'"},
    {"atan2(1)", 1, "takes 2 arguments, not fewer"},
    {"sin()", 1, "takes 1 argument, not fewer"},
    {"sin(1, 2)", 1, "takes 1 argument, not more"},
    {"if(1, 2)", 1, "takes 3 arguments"},
    {"1 2", 3, "unexpected '2' after the expression"},
    {"2 pi", 3, "unexpected 'pi' after the expression: products are written with '*'"},
    {"1,5", 2, "unexpected ',5' after the expression: decimals are written with '.'"},
    {"30 degrees", 4, "unexpected 'degrees' after the expression: degrees are written 'deg'"},
    {"2**3", 3, "expected a number, a name or '(', not '*3': powers are written a^b"},
    {"1_000", 2, "unexpected '_000'"},
    {"0x10", 2, "unexpected 'x10'"},
    {"1e", 2, "unexpected 'e'"},
    {"1..2", 3, "unexpected '.2'"},
    {"1 < 2 < 3", 7, "unexpected '< 3'"},
    {"1 +", 4, "ends where a number"},
    {"* 2", 1, "expected a number"},
    {"2 ** 3", 4, "expected a number"},
    {"30 degrees", 4, "unexpected 'degrees'"},
    {"360/8 deg", 7, "ambiguous unit"},
    {"2^3 deg", 5, "ambiguous unit"},
    {"30 deg deg", 8, "unexpected 'deg'"},
    {"1/0", 1, "not finite"},
    {"sqrt(-1)", 1, "not finite"},
    {"log(0)", 1, "not finite"},
    {"1e999", 1, "too large"},
    {"10^400", 1, "not finite"},
    {"nan", 1, "expected a finite number, not 'nan'"},
    {".nan", 1, "expected a finite number"},
    {"-.inf", 2, "expected a finite number"},
    {"inf", 1, "expected a finite number"},
    {"$", 1, "expected a number"},
    {"\"1\"", 1, "expected a number"},
    {"\x1b[31m", 1, "not '?[31m'"},
};

static void errors_have_a_column_and_say_what_is_wrong(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++) {
    double value = 0;
    ss_error error = {0};
    const ss_status status = ss_expression_constant(errors[i].text, parameters, N_PARAMETERS, &value, &error);
    if (status != SS_ERROR_INPUT) fail_msg("'%s' was accepted as %g", errors[i].text, value);
    if (error.column != errors[i].column || !strstr(error.message, errors[i].message))
      fail_msg("'%s': column %d, \"%s\"; expected column %d, \"%s\"", errors[i].text, error.column, error.message,
               errors[i].column, errors[i].message);
  }
}

static void without_parameters_the_message_says_so(void **state) {
  (void)state;
  double value;
  ss_error error = {0};
  assert_int_equal(ss_expression_constant("L", NULL, 0, &value, &error), SS_ERROR_INPUT);
  assert_non_null(strstr(error.message, "no parameters are declared"));
  assert_int_equal(ss_expression_constant("L", NULL, 0, &value, NULL), SS_ERROR_INPUT); /* no error wanted */
}

static void functions_of_time(void **state) {
  (void)state;
  ss_arena *arena = ss_arena_create();
  const ss_expression *f = NULL;
  ss_error error = {0};
  assert_int_equal(ss_expression_parse("8*cos(t) + L", parameters, N_PARAMETERS, true, arena, &f, &error), SS_OK);
  assert_false(ss_expression_is_constant(f));
  assert_true(ss_expression_value(f, 0) == 10);
  assert_true(ss_expression_value(f, 1) == 8 * cos(1) + 2);
  assert_int_equal(ss_expression_parse("if(t < 1, 5, 0)", NULL, 0, true, arena, &f, &error), SS_OK);
  assert_true(ss_expression_value(f, 0.999) == 5 && ss_expression_value(f, 1) == 0);
  assert_int_equal(ss_expression_parse("3*L", parameters, N_PARAMETERS, true, arena, &f, &error), SS_OK);
  assert_true(ss_expression_is_constant(f) && ss_expression_value(f, 17) == 6);
  assert_int_equal(ss_expression_parse("1/0", NULL, 0, true, arena, &f, &error), SS_ERROR_INPUT);
  assert_null(f);
  assert_int_equal(ss_expression_parse("t", NULL, 0, false, arena, &f, &error), SS_ERROR_INPUT);
  ss_arena_destroy(arena);
}

/* Texts that nest without end must fail by a message, not by the C stack or the evaluation stack. */
static void nesting_is_limited(void **state) {
  (void)state;
  static const char *const openers[] = {"(", "-", "sin(", "2^", "1+(", "1<1+1*1^(", "if(1,2,"};
  char text[60001];
  for (size_t i = 0; i < sizeof openers / sizeof openers[0]; i++) {
    const size_t n = strlen(openers[i]), count = (sizeof text - 2) / n;
    for (size_t k = 0; k < count; k++) memcpy(text + k * n, openers[i], n);
    strcpy(text + count * n, "1");
    double value;
    ss_error error = {0};
    assert_int_equal(ss_expression_constant(text, NULL, 0, &value, &error), SS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "nested too deeply"));
  }
  size_t at = 0; /* long but flat is fine */
  while (at + 3 < sizeof text) at += (size_t)sprintf(text + at, "1+");
  strcpy(text + at, "1");
  double value = 0;
  assert_int_equal(ss_expression_constant(text, NULL, 0, &value, NULL), SS_OK);
  assert_true(value == (double)(at / 2 + 1));
}

static void reserved_words(void **state) {
  (void)state;
  assert_true(ss_expression_reserves("t") && ss_expression_reserves("pi") && ss_expression_reserves("sin"));
  assert_false(ss_expression_reserves("e") || ss_expression_reserves("mu"));
  const ss_parameter e = {"e", 0.5};
  double value = 0;
  assert_int_equal(ss_expression_constant("e", &e, 1, &value, NULL), SS_OK);
  assert_true(value == 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constants_have_their_values),
      cmocka_unit_test(errors_have_a_column_and_say_what_is_wrong),
      cmocka_unit_test(without_parameters_the_message_says_so),
      cmocka_unit_test(functions_of_time),
      cmocka_unit_test(nesting_is_limited),
      cmocka_unit_test(reserved_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
