/* Arithmetic expressions: recursive descent to a postfix program, evaluated on a fixed stack.
 *
 *     comparison = sum [("<" | "<=" | ">" | ">=" | "==" | "!=") sum]
 *     sum        = product {("+" | "-") product}
 *     product    = signed {("*" | "/") signed}
 *     signed     = ("+" | "-") signed | power
 *     power      = unit ["^" signed]
 *     unit       = primary ["deg" | "rad"]
 *     primary    = number | name | variable | name "(" comparison {"," comparison} ")" | "(" comparison ")"
 *
 * Depth of nesting and of the evaluation stack are limited while parsing, so that no text can overflow either one. The
 * unit binds tighter than every operator; `360/8 deg` is refused because readers disagree about it. */
#include <stickslip/expression.h>

#include "core/arena.h"
#include "core/expression_names.h"
#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STACK = 64, NESTING = 48, NUMBER_LENGTH = 100, LOCAL_PROGRAM = 48 };

#define PI 3.14159265358979323846

typedef enum opcode { PUSH_NUMBER, PUSH_TIME, PUSH_VARIABLE, APPLY_ONE, APPLY_TWO, SELECT } opcode;

typedef struct instruction {
  opcode code;
  union {
    double number;
    int index; /* of the variable */
    double (*one)(double);
    double (*two)(double, double);
  } u;
} instruction;

struct ss_expression {
  const instruction *program;
  int count;
  unsigned uses; /* SS_USES_... */
};

/* ---- functions and operators ---- */

static double negate(double a) { return -a; }
static double from_degrees(double a) { return a * PI / 180; }
static double sign(double a) { return (double)((a > 0) - (a < 0)); }
static double add(double a, double b) { return a + b; }
static double subtract(double a, double b) { return a - b; }
static double multiply(double a, double b) { return a * b; }
static double divide(double a, double b) { return a / b; }
static double less(double a, double b) { return a < b; }
static double less_or_equal(double a, double b) { return a <= b; }
static double greater(double a, double b) { return a > b; }
static double greater_or_equal(double a, double b) { return a >= b; }
static double equal(double a, double b) { return a == b; }
static double not_equal(double a, double b) { return a != b; }

typedef struct function {
  const char *name;
  int arity; /* 3: if */
  double (*one)(double);
  double (*two)(double, double);
} function;

static const function functions[] = {
    {"sin", 1, sin, NULL},   {"cos", 1, cos, NULL},     {"tan", 1, tan, NULL},     {"asin", 1, asin, NULL},
    {"acos", 1, acos, NULL}, {"atan", 1, atan, NULL},   {"sinh", 1, sinh, NULL},   {"cosh", 1, cosh, NULL},
    {"tanh", 1, tanh, NULL}, {"exp", 1, exp, NULL},     {"log", 1, log, NULL},     {"log10", 1, log10, NULL},
    {"sqrt", 1, sqrt, NULL}, {"abs", 1, fabs, NULL},    {"floor", 1, floor, NULL}, {"ceil", 1, ceil, NULL},
    {"sign", 1, sign, NULL}, {"atan2", 2, NULL, atan2}, {"min", 2, NULL, fmin},    {"max", 2, NULL, fmax},
    {"pow", 2, NULL, pow},   {"hypot", 2, NULL, hypot}, {"if", 3, NULL, NULL},
};
enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

bool ss_expression_reserves(const char *word) {
  static const char *const others[] = {"t", "pi", "deg", "rad"};
  for (int i = 0; i < N_FUNCTIONS; i++)
    if (strcmp(functions[i].name, word) == 0) return true;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (strcmp(others[i], word) == 0) return true;
  return false;
}

/* Longer spellings first: "<=" before "<". */
static const struct {
  const char *text;
  double (*apply)(double, double);
} comparisons[] = {{"<=", less_or_equal}, {">=", greater_or_equal}, {"==", equal}, {"!=", not_equal}, {"<", less},
                   {">", greater}};
enum { N_COMPARISONS = sizeof comparisons / sizeof comparisons[0] };

/* ---- evaluation ---- */

double ss_expression_evaluate(const ss_expression *expression, double t, ss_variable_reader *variable,
                              const void *user) {
  double stack[STACK];
  int top = 0; /* numbers on the stack; the parser has proven that it stays within [0, STACK] */
  for (int i = 0; i < expression->count; i++) {
    const instruction *step = &expression->program[i];
    switch (step->code) {
    case PUSH_NUMBER:
      stack[top++] = step->u.number;
      break;
    case PUSH_TIME:
      stack[top++] = t;
      break;
    case PUSH_VARIABLE:
      stack[top++] = variable ? variable(user, step->u.index) : (double)NAN;
      break;
    case APPLY_ONE:
      stack[top - 1] = step->u.one(stack[top - 1]);
      break;
    case APPLY_TWO:
      top--;
      stack[top - 1] = step->u.two(stack[top - 1], stack[top]);
      break;
    case SELECT:
      top -= 2;
      stack[top - 1] = stack[top - 1] != 0 ? stack[top] : stack[top + 1];
      break;
    }
  }
  return stack[0];
}

/* Which function it is: its address is another one in every run. */
static int function_number(double (*one)(double), double (*two)(double, double)) {
  static double (*const unary[])(double) = {negate, from_degrees};
  static double (*const binary[])(double, double) = {add, subtract, multiply, divide, pow};
  for (int i = 0; i < N_FUNCTIONS; i++)
    if ((one && functions[i].one == one) || (two && functions[i].two == two)) return i;
  for (int i = 0; i < N_COMPARISONS; i++)
    if (two && comparisons[i].apply == two) return 100 + i;
  for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
    if (one && unary[i] == one) return 200 + (int)i;
  for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
    if (two && binary[i] == two) return 300 + (int)i;
  return -1;
}

uint64_t ss_expression_hash(const ss_expression *expression) {
  uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, by words */
  for (int i = 0; i < expression->count; i++) {
    const instruction *step = &expression->program[i];
    uint64_t word = 0;
    if (step->code == PUSH_NUMBER) memcpy(&word, &step->u.number, sizeof step->u.number);
    if (step->code == PUSH_VARIABLE) word = (uint64_t)step->u.index;
    if (step->code == APPLY_ONE) word = (uint64_t)function_number(step->u.one, NULL);
    if (step->code == APPLY_TWO) word = (uint64_t)function_number(NULL, step->u.two);
    hash = (hash ^ (uint64_t)step->code) * 0x100000001b3u;
    for (int k = 0; k < 64; k += 8) hash = (hash ^ (word >> k & 0xff)) * 0x100000001b3u;
  }
  return hash;
}

double ss_expression_value(const ss_expression *expression, double t) {
  return ss_expression_evaluate(expression, t, NULL, NULL);
}

bool ss_expression_is_constant(const ss_expression *expression) { return expression->uses == 0; }
unsigned ss_expression_uses(const ss_expression *expression) { return expression->uses; }

/* ---- parsing ---- */

typedef struct parser {
  const char *text, *at;
  ss_expression_scope scope;
  unsigned uses;        /* SS_USES_...: what was met */
  instruction *program; /* room for strlen(text) + 1: no instruction comes from less than one character */
  int count, stack, nesting;
  const char *unit; /* where the operand just parsed ended with a unit; NULL: it did not */
  ss_error *error;
} parser;

#define FAIL(p, where, ...)                                                                                            \
  ss_fail_place((p)->error, SS_ERROR_INPUT, NULL, (ss_mark){0, (int)((where) - (p)->text) + 1}, __VA_ARGS__)

static ss_status parse_comparison(parser *p);

static ss_status emit(parser *p, instruction step, int stack_change) {
  p->program[p->count++] = step;
  p->stack += stack_change;
  if (p->stack > STACK) return FAIL(p, p->at, "the expression is nested too deeply");
  return SS_OK;
}

static ss_status emit_number(parser *p, double value) {
  return emit(p, (instruction){PUSH_NUMBER, {.number = value}}, 1);
}

static ss_status emit_one(parser *p, double (*apply)(double)) {
  return emit(p, (instruction){APPLY_ONE, {.one = apply}}, 0);
}

static ss_status emit_two(parser *p, double (*apply)(double, double)) {
  return emit(p, (instruction){APPLY_TWO, {.two = apply}}, -1);
}

static void skip_blanks(parser *p) {
  while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n' || *p->at == '\r') p->at++;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* Consumes the symbol if it comes next. */
static bool accept(parser *p, const char *symbol) {
  skip_blanks(p);
  const size_t n = strlen(symbol);
  if (strncmp(p->at, symbol, n) != 0) return false;
  p->at += n;
  return true;
}

static size_t name_length(const char *at) {
  size_t n = 0;
  if (is_letter(at[0]))
    while (is_letter(at[n]) || is_digit(at[n])) n++;
  return n;
}

static bool name_is(const char *at, size_t length, const char *name) {
  return strlen(name) == length && memcmp(at, name, length) == 0;
}

/* strtod reads the decimal point of the process's locale; texts here always have '.'. */
static double number_value(char *token) {
  char *end, sample[8];
  const double value = strtod(token, &end);
  if (*end != '.' || snprintf(sample, sizeof sample, "%.1f", 0.5) != 3) return value;
  *end = sample[1];
  return strtod(token, NULL);
}

static ss_status parse_number(parser *p) {
  const char *start = p->at, *c = start;
  int digits = 0;
  for (; is_digit(*c); c++) digits++;
  if (*c == '.')
    for (c++; is_digit(*c); c++) digits++;
  if (digits == 0) return FAIL(p, start, "expected a finite number, not '%s'", ss_printable(start).text);
  if (*c == 'e' || *c == 'E') {
    const char *exponent = c + 1 + (c[1] == '+' || c[1] == '-');
    if (is_digit(*exponent))
      for (c = exponent; is_digit(*c);) c++;
  }
  char token[NUMBER_LENGTH + 1];
  const size_t length = (size_t)(c - start);
  if (length > NUMBER_LENGTH) return FAIL(p, start, "a number of more than %d characters", NUMBER_LENGTH);
  memcpy(token, start, length);
  token[length] = '\0';
  const double value = number_value(token);
  if (!isfinite(value)) return FAIL(p, start, "the number %s is too large", ss_printable(token).text);
  p->at = c;
  return emit_number(p, value);
}

static ss_status fail_unknown(const parser *p, const char *start, size_t length, bool called) {
  char name[64];
  const size_t kept = length < sizeof name ? length : sizeof name - 1;
  memcpy(name, start, kept);
  name[kept] = '\0';
  if (!called && start[length] == '.' && is_letter(start[length + 1]))
    return FAIL(p, start, "'%.*s' is part of the state, which only " SS_WHERE_STATE " can use",
                (int)(length + 1 + name_length(start + length + 1)), start);
  if (strcmp(name, "t") == 0) return FAIL(p, start, "'t' (time) can only be used in " SS_WHERE_STATE);
  static const char *const infinite[] = {"nan", "NaN", "NAN", "inf", "Inf", "INF", "infinity", "Infinity"};
  for (size_t i = 0; i < sizeof infinite / sizeof infinite[0]; i++)
    if (strcmp(name, infinite[i]) == 0) return FAIL(p, start, "expected a finite number, not '%s'", name);
  ss_nearest nearest = {.word = name};
  ss_word_list known = {0};
  for (int i = 0; i < N_FUNCTIONS; i++) {
    if (!called && strcmp(functions[i].name, name) == 0)
      return FAIL(p, start, "'%s' is a function: write %s(...)", name, name);
    if (called) ss_nearest_offer(&nearest, functions[i].name);
    if (called) ss_word_list_add(&known, functions[i].name);
  }
  if (called && nearest.best) return FAIL(p, start, "unknown function '%s'; did you mean '%s'?", name, nearest.best);
  if (called) return FAIL(p, start, "unknown function '%s' (functions: %s)", name, known.text);
  for (int i = 0; i < p->scope.n_parameters; i++) {
    ss_nearest_offer(&nearest, p->scope.parameters[i].name);
    ss_word_list_add(&known, p->scope.parameters[i].name);
  }
  if (nearest.best) return FAIL(p, start, "unknown name '%s'; did you mean '%s'?", name, nearest.best);
  if (p->scope.n_parameters == 0) return FAIL(p, start, "unknown name '%s' (no parameters are declared)", name);
  return FAIL(p, start, "unknown name '%s' (declared parameters: %s)", name, known.text);
}

static ss_status parse_variable(parser *p, const char *start, size_t length) {
  for (int i = p->scope.n_parameters - 1; i >= 0; i--)
    if (name_is(start, length, p->scope.parameters[i].name)) return emit_number(p, p->scope.parameters[i].value);
  if (p->scope.time && name_is(start, length, "t")) {
    p->uses |= SS_USES_TIME;
    return emit(p, (instruction){PUSH_TIME, {.number = 0}}, 1);
  }
  if (name_is(start, length, "pi")) return emit_number(p, PI);
  if (name_is(start, length, "e")) return emit_number(p, 2.71828182845904523536);
  return fail_unknown(p, start, length, false);
}

static ss_status parse_call(parser *p, const char *start, size_t length) {
  const function *f = NULL;
  for (int i = 0; i < N_FUNCTIONS && !f; i++)
    if (name_is(start, length, functions[i].name)) f = &functions[i];
  if (!f) return fail_unknown(p, start, length, true);
  const char *open = p->at - 1;
  int arguments = 0;
  if (!accept(p, ")")) {
    bool more = true;
    for (; more && arguments < f->arity; arguments++) {
      SS_TRY(parse_comparison(p));
      more = accept(p, ",");
    }
    if (!more && !accept(p, ")")) return FAIL(p, open, "missing ')' for this '('");
    if (more) arguments++;
  }
  if (arguments != f->arity)
    return FAIL(p, start, "%s() takes %d argument%s, not %s", f->name, f->arity, f->arity == 1 ? "" : "s",
                arguments < f->arity ? "fewer" : "more");
  if (f->one) return emit_one(p, f->one);
  if (f->two) return emit_two(p, f->two);
  return emit(p, (instruction){SELECT, {.number = 0}}, -2);
}

/* Variables come first: their names may contain blanks, signs and digits. */
static ss_status parse_primary(parser *p) {
  skip_blanks(p);
  const char *start = p->at;
  if (p->scope.variable) {
    ss_variable_found found = {0};
    const ss_status status = p->scope.variable(p->scope.user, start, &found, p->error);
    if (status != SS_OK) { /* its place is where it starts */
      if (p->error) p->error->column = (int)(start - p->text) + 1;
      return status;
    }
    if (found.length) {
      p->at += found.length;
      p->uses |= found.uses;
      return emit(p, (instruction){PUSH_VARIABLE, {.index = found.index}}, 1);
    }
  }
  if (is_digit(*start) || *start == '.') return parse_number(p);
  const size_t length = name_length(start);
  if (length > 0) {
    p->at += length;
    if (accept(p, "(")) return parse_call(p, start, length);
    return parse_variable(p, start, length);
  }
  if (accept(p, "(")) {
    SS_TRY(parse_comparison(p));
    if (!accept(p, ")")) return FAIL(p, start, "missing ')' for this '('");
    return SS_OK;
  }
  if (*start == '\0') return FAIL(p, start, "the expression ends where a number, a name or '(' is expected");
  const bool power = *start == '*' && start > p->text && start[-1] == '*';
  return FAIL(p, start, "expected a number, a name or '(', not '%s'%s", ss_printable(start).text,
              power ? ": powers are written a^b" : "");
}

static ss_status parse_unit(parser *p) {
  SS_TRY(parse_primary(p));
  skip_blanks(p);
  p->unit = NULL;
  const size_t length = name_length(p->at);
  if (!name_is(p->at, length, "deg") && !name_is(p->at, length, "rad")) return SS_OK;
  p->unit = p->at;
  p->at += length;
  if (*p->unit == 'r') return SS_OK;
  return emit_one(p, from_degrees);
}

static ss_status fail_if_ambiguous(const parser *p, const char *operation) {
  if (!p->unit) return SS_OK;
  return FAIL(p, p->unit, "ambiguous unit after '%s': write (a%sb) %.3s or a%s(b %.3s)", operation, operation, p->unit,
              operation, p->unit);
}

static ss_status parse_signed(parser *p) {
  if (++p->nesting > NESTING) return FAIL(p, p->at, "the expression is nested too deeply");
  if (accept(p, "-")) {
    SS_TRY(parse_signed(p));
    SS_TRY(emit_one(p, negate));
  } else if (accept(p, "+")) {
    SS_TRY(parse_signed(p));
  } else {
    SS_TRY(parse_unit(p));
    if (accept(p, "^")) {
      SS_TRY(parse_signed(p));
      SS_TRY(fail_if_ambiguous(p, "^"));
      SS_TRY(emit_two(p, pow));
    }
  }
  p->nesting--;
  return SS_OK;
}

static ss_status parse_product(parser *p) {
  SS_TRY(parse_signed(p));
  for (;;) {
    if (accept(p, "*")) {
      SS_TRY(parse_signed(p));
      SS_TRY(emit_two(p, multiply));
    } else if (accept(p, "/")) {
      SS_TRY(parse_signed(p));
      SS_TRY(fail_if_ambiguous(p, "/"));
      SS_TRY(emit_two(p, divide));
    } else {
      return SS_OK;
    }
  }
}

static ss_status parse_sum(parser *p) {
  SS_TRY(parse_product(p));
  for (;;) {
    const bool plus = accept(p, "+");
    if (!plus && !accept(p, "-")) return SS_OK;
    SS_TRY(parse_product(p));
    SS_TRY(emit_two(p, plus ? add : subtract));
  }
}

static ss_status parse_comparison(parser *p) {
  SS_TRY(parse_sum(p));
  p->unit = NULL; /* inside parentheses a unit is not ambiguous */
  for (int i = 0; i < N_COMPARISONS; i++)
    if (accept(p, comparisons[i].text)) {
      SS_TRY(parse_sum(p));
      p->unit = NULL;
      return emit_two(p, comparisons[i].apply);
    }
  return SS_OK;
}

/* What follows an expression: degrees and units as people write them get a hint. */
static ss_status fail_rest(const parser *p) {
  const ss_printable_text rest = ss_printable(p->at);
  if (strncmp(p->at, "degree", 6) == 0 || strncmp(p->at, "\xc2\xb0", 2) == 0)
    return FAIL(p, p->at, "unexpected '%s' after the expression: degrees are written 'deg'", rest.text);
  if (is_letter(*p->at))
    return FAIL(p, p->at,
                "unexpected '%s' after the expression: products are written with '*', and the only unit is 'deg'",
                rest.text);
  if (*p->at == ',' && is_digit(p->at[1]))
    return FAIL(p, p->at, "unexpected '%s' after the expression: decimals are written with '.'", rest.text);
  return FAIL(p, p->at, "unexpected '%s' after the expression", rest.text);
}

static ss_status parse_all(parser *p) {
  skip_blanks(p);
  if (*p->at == '\0') return FAIL(p, p->text, "expected a number or an expression, but there is nothing");
  SS_TRY(parse_comparison(p));
  skip_blanks(p);
  if (*p->at == ')') return FAIL(p, p->at, "')' without '('");
  if (*p->at != '\0') return fail_rest(p);
  if (p->uses) return SS_OK;
  const ss_expression whole = {p->program, p->count, 0};
  const double value = ss_expression_value(&whole, 0);
  if (!isfinite(value)) return FAIL(p, p->text, "the value of '%s' is not finite", ss_printable(p->text).text);
  p->program[0] = (instruction){PUSH_NUMBER, {.number = value}};
  p->count = 1;
  return SS_OK;
}

ss_status ss_expression_parse_in(const char *text, const ss_expression_scope *scope, struct ss_arena *arena,
                                 const ss_expression **out, ss_error *error) {
  *out = NULL;
  ss_expression *expression = SS_ARENA_ARRAY(arena, ss_expression, 1);
  instruction *program = SS_ARENA_ARRAY(arena, instruction, strlen(text) + 1);
  if (!expression || !program) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  parser p = {.text = text, .at = text, .scope = *scope, .program = program, .error = error};
  SS_TRY(parse_all(&p));
  *expression = (ss_expression){program, p.count, p.uses};
  *out = expression;
  return SS_OK;
}

ss_status ss_expression_parse(const char *text, const ss_parameter *parameters, int n_parameters, bool time,
                              struct ss_arena *arena, const ss_expression **out, ss_error *error) {
  const ss_expression_scope scope = {.parameters = parameters, .n_parameters = n_parameters, .time = time};
  return ss_expression_parse_in(text, &scope, arena, out, error);
}

ss_status ss_expression_constant_in(const char *text, const ss_expression_scope *scope, double *value,
                                    ss_error *error) {
  instruction local[LOCAL_PROGRAM]; /* scenes have many short constants: no allocation for those */
  const size_t room = strlen(text) + 1;
  instruction *program = room <= LOCAL_PROGRAM ? local : ss_alloc(room * sizeof *program);
  if (!program) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  parser p = {.text = text, .at = text, .scope = *scope, .program = program, .error = error};
  const ss_status status = parse_all(&p);
  if (status == SS_OK) *value = program[0].u.number;
  if (program != local) ss_free(program);
  return status;
}

ss_status ss_expression_constant(const char *text, const ss_parameter *parameters, int n_parameters, double *value,
                                 ss_error *error) {
  const ss_expression_scope scope = {.parameters = parameters, .n_parameters = n_parameters};
  return ss_expression_constant_in(text, &scope, value, error);
}

bool ss_expression_copy(const ss_expression *expression, ss_arena *arena, const ss_expression **out) {
  *out = NULL;
  if (!expression) return true;
  ss_expression *copy = SS_ARENA_ARRAY(arena, ss_expression, 1);
  instruction *program = SS_ARENA_ARRAY(arena, instruction, expression->count);
  if (!copy || !program) return false;
  memcpy(program, expression->program, sizeof *program * (size_t)expression->count);
  *copy = (ss_expression){program, expression->count, expression->uses};
  *out = copy;
  return true;
}
