/* Names of variables in the expressions of a scene: inputs, BODY.x, JOINT.position, contact(A, B).normal.
 *
 * Names of bodies and joints may contain anything, so a variable is recognised by comparing the text with all names: the
 * longest one that is followed by a dot and a known word counts. */
#include "model/scene_signals.h"

#include "core/arena.h"
#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const body_words[] = {"x", "y", "z", "vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const joint_words[] = {"position", "speed", "force"};
static const char *const contact_words[] = {"normal", "tangent"};
enum { BODY_WORDS = 9, JOINT_WORDS = 3, CONTACT_WORDS = 2 };

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

static size_t word_length(const char *at) {
  size_t n = 0;
  if (is_letter(at[0]))
    while (is_word(at[n])) n++;
  return n;
}

/* Length of "NAME.word" where the text starts so; *which is the word's number. */
static size_t match(const char *at, const char *name, const char *const *words, int n_words, int *which) {
  const size_t length = strlen(name);
  if (strncmp(at, name, length) != 0 || at[length] != '.') return 0;
  const size_t word = word_length(at + length + 1);
  for (*which = 0; *which < n_words; ++*which)
    if (strlen(words[*which]) == word && strncmp(at + length + 1, words[*which], word) == 0) return length + 1 + word;
  return 0;
}

/* ---- the table of variables ---- */

enum { FIRST_ROOM = 8 };

/* The variable's number in the scene's table, which gets a new one where it is not yet there; -1: out of memory. */
static int number_of(ss_scene *scene, const ss_variable *variable) {
  for (int i = 0; i < scene->n_variables; i++) {
    const ss_variable *v = &scene->variables[i];
    if (v->kind == variable->kind && v->index[0] == variable->index[0] && v->index[1] == variable->index[1]) return i;
  }
  const int n = scene->n_variables;
  if (n == 0 || (n >= FIRST_ROOM && (n & (n - 1)) == 0)) {
    ss_variable *grown = SS_ARENA_ARRAY(scene->arena, ss_variable, n == 0 ? FIRST_ROOM : 2 * n);
    if (!grown) return -1;
    if (n > 0) memcpy(grown, scene->variables, sizeof *grown * (size_t)n);
    scene->variables = grown;
  }
  scene->variables[n] = *variable;
  return scene->n_variables++;
}

static ss_status use(const ss_signal_scope *scope, ss_variable variable, size_t length, ss_variable_found *found,
                     ss_error *error) {
  variable.mark = scope->mark;
  found->length = length;
  found->uses = variable.kind == SS_VARIABLE_INPUT ? SS_USES_INPUTS : SS_USES_STATE;
  found->index = number_of(scope->scene, &variable);
  return found->index >= 0 ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
}

/* ---- contact(A, B).normal ---- */

/* The body whose name is the whole of the text between `from` and `to`, blanks apart; -2: none. */
static int body_between(const ss_scene *scene, const char *from, const char *to) {
  while (from < to && *from == ' ') from++;
  while (to > from && to[-1] == ' ') to--;
  const size_t length = (size_t)(to - from);
  if (length == 5 && strncmp(from, "world", 5) == 0) return SS_WORLD;
  for (int i = 0; i < scene->n_bodies; i++)
    if (strlen(scene->bodies[i].name) == length && strncmp(scene->bodies[i].name, from, length) == 0) return i;
  return -2;
}

static ss_status find_contact(const ss_signal_scope *scope, const char *at, size_t open, ss_variable_found *found,
                              ss_error *error) {
  const char *first = at + open + 1, *comma = strchr(first, ','), *close = strchr(first, ')');
  if (!comma || !close || comma > close)
    return ss_fail(error, SS_ERROR_INPUT, "expected contact(A, B) with the names of two bodies: missing ')'");
  const int a = body_between(scope->scene, first, comma), b = body_between(scope->scene, comma + 1, close);
  if (a < SS_WORLD || b < SS_WORLD) {
    const char *from = a < SS_WORLD ? first : comma + 1, *to = a < SS_WORLD ? comma : close;
    char name[64];
    from += strspn(from, " ");
    (void)snprintf(name, sizeof name, "%.*s", (int)(to - from < 60 ? to - from : 60), from);
    ss_nearest nearest = {.word = name};
    for (int i = 0; i < scope->scene->n_bodies; i++) ss_nearest_offer(&nearest, scope->scene->bodies[i].name);
    return ss_fail(error, SS_ERROR_INPUT, "contact: no body is named '%s'%s%s%s", ss_printable(name).text,
                   nearest.best ? "; did you mean '" : "", nearest.best ? ss_printable(nearest.best).text : "",
                   nearest.best ? "'?" : "");
  }
  if (a == b) return ss_fail(error, SS_ERROR_INPUT, "contact needs two different bodies");
  const size_t word = close[1] == '.' ? word_length(close + 2) : 0;
  int which = 0;
  while (which < CONTACT_WORDS &&
         (strlen(contact_words[which]) != word || strncmp(close + 2, contact_words[which], word) != 0))
    which++;
  if (which == CONTACT_WORDS) return ss_fail(error, SS_ERROR_INPUT, "expected contact(A, B).normal or .tangent");
  if (!scope->output) return ss_fail(error, SS_ERROR_INPUT, "forces of contacts can only be used in outputs");
  const ss_variable variable = {
      which == 0 ? SS_VARIABLE_CONTACT_NORMAL : SS_VARIABLE_CONTACT_TANGENT, {a < b ? a : b, a < b ? b : a}, {0, 0}};
  return use(scope, variable, (size_t)(close + 2 - at) + word, found, error);
}

/* ---- bodies and joints ---- */

static const char *joint_name(const ss_signal_scope *scope, int i, char number[32]) {
  if (scope->joint_names[i]) return scope->joint_names[i];
  (void)snprintf(number, 32, "joint %d", i + 1);
  return number;
}

/* A word alone may be a body or a joint, of which a number is wanted. */
static ss_status explain_word(const ss_signal_scope *scope, const char *name, ss_error *error) {
  const ss_scene *scene = scope->scene;
  char number[32];
  for (int i = 0; i < scene->n_parameters; i++)
    if (strcmp(scene->parameters[i].name, name) == 0) return SS_OK;
  for (int i = 0; i < scene->n_bodies; i++)
    if (strcmp(scene->bodies[i].name, name) == 0)
      return ss_fail(error, SS_ERROR_INPUT, "'%s' is a body: write %s.x or another of x y z vx vy vz wx wy wz", name,
                     name);
  for (int i = 0; i < scope->n_joints; i++)
    if (strcmp(joint_name(scope, i, number), name) == 0)
      return ss_fail(error, SS_ERROR_INPUT, "'%s' is a joint: write %s.position or %s.speed", name, name, name);
  if (strcmp(name, "time") == 0) return ss_fail(error, SS_ERROR_INPUT, "unknown name 'time': time is 't'");
  ss_nearest nearest = {.word = name};
  for (int i = 0; i < scene->n_parameters; i++) ss_nearest_offer(&nearest, scene->parameters[i].name);
  for (int i = 0; i < scene->n_inputs; i++) ss_nearest_offer(&nearest, scene->inputs[i].name);
  return nearest.best ? ss_fail(error, SS_ERROR_INPUT, "unknown name '%s'; did you mean '%s'?", name, nearest.best)
                      : SS_OK;
}

/* "word" or "word.word" that is nothing known: what it may have meant. */
static ss_status explain(const ss_signal_scope *scope, const char *at, ss_error *error) {
  const size_t first = word_length(at);
  const size_t second = first && at[first] == '.' ? word_length(at + first + 1) : 0;
  char name[64], word[64], number[32];
  (void)snprintf(name, sizeof name, "%.*s", (int)(first < 60 ? first : 60), at);
  if (second == 0) {
    const bool word_of_expressions = first == 0 || strcmp(name, "e") == 0 || ss_expression_reserves(name) ||
                                     at[first + strspn(at + first, " ")] == '(';
    return word_of_expressions ? SS_OK : explain_word(scope, name, error);
  }
  (void)snprintf(word, sizeof word, "%.*s", (int)(second < 60 ? second : 60), at + first + 1);
  ss_nearest nearest = {.word = name};
  for (int i = 0; i < scope->scene->n_bodies; i++) {
    if (strcmp(scope->scene->bodies[i].name, name) == 0)
      return ss_fail(error, SS_ERROR_INPUT, "the body '%s' has no '%s': there are x y z vx vy vz wx wy wz", name, word);
    ss_nearest_offer(&nearest, scope->scene->bodies[i].name);
  }
  for (int i = 0; i < scope->n_joints; i++) {
    if (strcmp(joint_name(scope, i, number), name) == 0)
      return ss_fail(error, SS_ERROR_INPUT, "the joint '%s' has no '%s': there are position, speed%s", name, word,
                     scope->output ? ", force" : "");
    if (scope->joint_names[i]) ss_nearest_offer(&nearest, scope->joint_names[i]);
  }
  if (nearest.best)
    return ss_fail(error, SS_ERROR_INPUT, "no body or joint is named '%s'; did you mean '%s'?", name,
                   ss_printable(nearest.best).text);
  return ss_fail(error, SS_ERROR_INPUT, "no body or joint is named '%s'", name);
}

static ss_status find_joint(const ss_signal_scope *scope, const char *at, size_t longest, ss_variable_found *found,
                            ss_error *error) {
  char number[32];
  int joint = -1, word = 0;
  bool twice = false;
  for (int i = 0; i < scope->n_joints; i++) {
    int which = 0;
    const size_t length = match(at, joint_name(scope, i, number), joint_words, JOINT_WORDS, &which);
    if (length < longest || length == 0) continue;
    twice = length == longest && joint >= 0;
    longest = length;
    joint = i;
    word = which;
  }
  if (joint < 0) return SS_OK;
  if (twice) return ss_fail(error, SS_ERROR_INPUT, "several joints have this name");
  if (word == 2 && !scope->output)
    return ss_fail(error, SS_ERROR_INPUT, "forces of joints can only be used in outputs");
  return use(scope, (ss_variable){(ss_variable_kind)(SS_VARIABLE_JOINT_POSITION + word), {joint, 0}, {0, 0}}, longest,
             found, error);
}

ss_status ss_find_variable(void *user, const char *at, ss_variable_found *found, ss_error *error) {
  const ss_signal_scope *scope = user;
  const ss_scene *scene = scope->scene;
  const size_t word = word_length(at);
  if (word == 7 && strncmp(at, "contact", 7) == 0 && at[7 + strspn(at + 7, " ")] == '(')
    return find_contact(scope, at, 7 + strspn(at + 7, " "), found, error);
  size_t longest = 0;
  ss_variable body = {SS_VARIABLE_BODY, {0, 0}, {0, 0}};
  for (int i = 0; i < scene->n_bodies; i++) {
    int which = 0;
    const size_t length = match(at, scene->bodies[i].name, body_words, BODY_WORDS, &which);
    if (length <= longest) continue;
    longest = length;
    body.index[0] = i;
    body.index[1] = which;
  }
  SS_TRY(find_joint(scope, at, longest, found, error));
  if (found->length) return SS_OK;
  if (longest) return use(scope, body, longest, found, error);
  for (int i = 0; i < scene->n_inputs; i++)
    if (strlen(scene->inputs[i].name) == word && strncmp(at, scene->inputs[i].name, word) == 0 && at[word] != '.')
      return use(scope, (ss_variable){SS_VARIABLE_INPUT, {i, 0}, {0, 0}}, word, found, error);
  return explain(scope, at, error);
}

ss_status ss_refuse_variable(void *user, const char *at, ss_variable_found *found, ss_error *error) {
  const ss_scene *scene = user;
  (void)found;
  const size_t word = word_length(at);
  for (int i = 0; scene && word && i < scene->n_inputs; i++) /* studies are read without a scene */
    if (strlen(scene->inputs[i].name) == word && strncmp(at, scene->inputs[i].name, word) == 0)
      return ss_fail(error, SS_ERROR_INPUT, "'%s' is an input, which only " SS_WHERE_STATE " can use",
                     scene->inputs[i].name);
  return SS_OK; /* BODY.x: the parser says so */
}

/* ---- inputs and outputs ---- */

const char *ss_input_name_refused(const ss_scene *scene, const char *name) {
  if (word_length(name) == 0 || name[word_length(name)] != '\0') return "must consist of letters, digits and '_'";
  if (ss_expression_reserves(name) || strcmp(name, "contact") == 0) return "has a meaning in expressions";
  for (int i = 0; i < scene->n_parameters; i++)
    if (strcmp(scene->parameters[i].name, name) == 0) return "is the name of a parameter already";
  for (int i = 0; i < scene->n_inputs; i++)
    if (strcmp(scene->inputs[i].name, name) == 0) return "is the name of an input already";
  return NULL;
}

ss_status ss_scene_add_input(ss_scene *scene, const char *name, double value, ss_error *error) {
  const char *refused = ss_input_name_refused(scene, name);
  if (refused) return ss_fail(error, SS_ERROR_INPUT, "the input name '%s' %s", ss_printable(name).text, refused);
  if (!isfinite(value)) return ss_fail(error, SS_ERROR_INPUT, "the input '%s' must be finite", name);
  ss_parameter *grown = SS_ARENA_ARRAY(scene->arena, ss_parameter, scene->n_inputs + 1); /* there are few */
  const char *copy = ss_arena_strdup(scene->arena, name);
  if (!grown || !copy) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (scene->n_inputs) memcpy(grown, scene->inputs, sizeof *grown * (size_t)scene->n_inputs);
  scene->inputs = grown;
  scene->inputs[scene->n_inputs++] = (ss_parameter){copy, value};
  return SS_OK;
}

ss_status ss_scene_add_output_def(ss_scene *scene, const ss_output_def *output, ss_error *error) {
  for (int i = 0; i < scene->n_outputs; i++)
    if (strcmp(scene->outputs[i].name, output->name) == 0)
      return ss_fail(error, SS_ERROR_INPUT, "the output '%s' is defined twice", ss_printable(output->name).text);
  ss_output_def *grown = SS_ARENA_ARRAY(scene->arena, ss_output_def, scene->n_outputs + 1);
  const char *copy = ss_arena_strdup(scene->arena, output->name);
  const char *text = ss_arena_strdup(scene->arena, output->text);
  if (!grown || !copy || !text) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  if (scene->n_outputs) memcpy(grown, scene->outputs, sizeof *grown * (size_t)scene->n_outputs);
  scene->outputs = grown;
  scene->outputs[scene->n_outputs++] = (ss_output_def){copy, text, output->value, output->mark};
  return SS_OK;
}

static ss_status parse(ss_scene *scene, const char *text, bool output, const ss_expression **out, ss_error *error) {
  const char **names = SS_ARENA_ARRAY(scene->arena, const char *, scene->n_joints + 1);
  if (!names) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < scene->n_joints; i++) names[i] = scene->joints[i].name;
  ss_signal_scope signals = {scene, names, scene->n_joints, output, {0, 0}};
  const ss_expression_scope scope = {scene->parameters, scene->n_parameters, true, ss_find_variable, &signals};
  return ss_expression_parse_in(text, &scope, scene->arena, out, error);
}

ss_status ss_scene_expression(ss_scene *scene, const char *text, const ss_expression **out, ss_error *error) {
  return parse(scene, text, false, out, error);
}

ss_status ss_scene_add_output(ss_scene *scene, const char *name, const char *text, ss_error *error) {
  ss_output_def output = {.name = name, .text = text};
  if (!name || !name[0]) return ss_fail(error, SS_ERROR_INPUT, "an output needs a name");
  SS_TRY(parse(scene, text, true, &output.value, error));
  return ss_scene_add_output_def(scene, &output, error);
}
