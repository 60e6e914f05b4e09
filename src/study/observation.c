/* Observations: expressions of named quantities.
 *
 *     block.x      max(ball.z) - 1      energy.friction_loss/energy.initial      2*atan2(rod.qz, rod.qw)
 *
 * Expressions know single names only, so each quantity is replaced by a name of the same length (places in messages stay
 * right) whose value is put in at the end. max, min and mean of one quantity alone mean: over the run;
 * start(Q) is its value at the start. */
#include "study/study.h"

#include "core/words.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MEASURES = 676 };

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* "max(" quantity ")": the whole length, or 0. */
static size_t match_over_time(const ss_scene *scene, const char *text, ss_measure *out) {
  static const struct {
    const char *name;
    ss_over_time how;
  } words[] = {{"max", SS_LARGEST}, {"min", SS_SMALLEST}, {"mean", SS_MEAN}, {"start", SS_AT_THE_START}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t at = strlen(words[i].name);
    if (strncmp(text, words[i].name, at) != 0 || is_word(text[at])) continue;
    at += strspn(text + at, " ");
    if (text[at++] != '(') return 0;
    at += strspn(text + at, " ");
    const size_t length = ss_observable_match(scene, text + at, &out->quantity);
    if (!length) return 0;
    at += length;
    at += strspn(text + at, " ");
    if (text[at] != ')') return 0; /* max(a.x, 0): of two numbers */
    out->how = words[i].how;
    return at + 1;
  }
  return 0;
}

static size_t match(const ss_scene *scene, const char *text, ss_measure *out) {
  *out = (ss_measure){.how = SS_AT_THE_END};
  const size_t length = match_over_time(scene, text, out);
  return length ? length : ss_observable_match(scene, text, &out->quantity);
}

/* A name of the same length that no parameter has. */
static void stand_in(char *text, size_t length, int index) {
  memset(text, '_', length);
  text[1] = (char)('a' + index / 26);
  text[2] = (char)('a' + index % 26);
}

/* name.name, where no quantity starts: a mistake that the parser of expressions could not explain. */
static ss_status check_unknown(const ss_scene *scene, const char *text, size_t at, ss_error *error) {
  size_t end = at;
  while (is_word(text[end])) end++;
  const bool number = text[at] >= '0' && text[at] <= '9';
  if (number || text[end] != '.' || !is_word(text[end + 1])) return SS_OK;
  for (end++; is_word(text[end]); end++) {}
  char word[72], near[128];
  (void)snprintf(word, sizeof word, "%.*s", (int)(end - at < 70 ? end - at : 70), text + at);
  if (error) error->column = (int)at + 1;
  const ss_mark place = {0, (int)at + 1};
  if (ss_observable_nearest(scene, text + at, end - at, near, sizeof near))
    return ss_fail_place(error, SS_ERROR_INPUT, NULL, place, "there is no quantity '%s'; did you mean '%s'?",
                         ss_printable(word).text, near);
  return ss_fail_place(
      error, SS_ERROR_INPUT, NULL, place,
      "there is no quantity '%s' (BODY.x, y, z, qw, qx, qy, qz, vx, vy, vz, wx, wy, wz; JOINT.position, "
      "speed, force; outputs.NAME; energy, certificate, events, contacts, solves: see docs/studies.md)",
      ss_printable(word).text);
}

static ss_status find_measures(ss_observation *o, char *text, const ss_scene *scene, ss_arena *arena, ss_error *error) {
  for (size_t at = 0; text[at];) {
    ss_measure measure;
    const size_t length = match(scene, text + at, &measure);
    if (length) {
      if (o->n_measures == MOST_MEASURES) return ss_fail(error, SS_ERROR_INPUT, "too many quantities");
      stand_in(text + at, length, o->n_measures);
      char *name = ss_arena_alloc(arena, length + 1);
      if (!name) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
      memcpy(name, text + at, length);
      measure.stand_in = name;
      o->measures[o->n_measures++] = measure;
      at += length;
      continue;
    }
    if (!is_word(text[at])) {
      at++;
      continue;
    }
    SS_TRY(check_unknown(scene, text, at, error));
    while (is_word(text[at]) || (text[at] == '.' && is_word(text[at + 1]))) at++;
  }
  return SS_OK;
}

ss_status ss_observation_parse(const char *name, const char *text, const ss_scene *scene, ss_arena *arena,
                               ss_observation *out, ss_error *error) {
  char *copy = ss_arena_strdup(arena, text);
  *out = (ss_observation){.name = ss_arena_strdup(arena, name),
                          .text = copy,
                          .measures = SS_ARENA_ARRAY(arena, ss_measure, strlen(text) / 3 + 1)};
  if (!out->name || !copy || !out->measures) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  SS_TRY(find_measures(out, copy, scene, arena, error));
  double *ones = SS_ARENA_ARRAY(arena, double, out->n_measures + 1), value;
  if (!ones) return ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  for (int i = 0; i < out->n_measures; i++) ones[i] = 1;
  return ss_observation_value(out, scene, ones, 1, &value, error);
}

/* Constants that are not finite are refused by the parser; here they are no mistake but a value that there is not. */
static bool is_only_infinite(const ss_observation *o, const ss_parameter *names, int n, ss_arena *arena) {
  const size_t size = strlen(o->text) + 8;
  char *text = ss_arena_alloc(arena, size);
  const ss_expression *expression = NULL;
  if (text) (void)snprintf(text, size, "(%s)+0*t", o->text); /* no constant any more */
  return text && ss_expression_parse(text, names, n, true, arena, &expression, NULL) == SS_OK;
}

ss_status ss_observation_value(const ss_observation *o, const ss_scene *scene, const double *measured, double t,
                               double *value, ss_error *error) {
  *value = NAN;
  ss_arena *arena = ss_arena_create();
  ss_parameter *names = arena ? SS_ARENA_ARRAY(arena, ss_parameter, o->n_measures + scene->n_parameters + 1) : NULL;
  const ss_expression *expression = NULL;
  ss_status status = names ? SS_OK : ss_fail(error, SS_ERROR_MEMORY, "out of memory");
  int n = 0;
  for (int i = 0; names && i < o->n_measures; i++) names[n++] = (ss_parameter){o->measures[i].stand_in, measured[i]};
  for (int i = 0; names && i < scene->n_parameters; i++) names[n++] = scene->parameters[i];
  if (!status) status = ss_expression_parse(o->text, names, n, true, arena, &expression, error);
  if (!status) {
    const double result = ss_expression_value(expression, t);
    if (isfinite(result)) *value = result;
  } else if (status == SS_ERROR_INPUT && is_only_infinite(o, names, n, arena)) {
    status = SS_OK;
  }
  ss_arena_destroy(arena);
  return status;
}
